//! Applying edits to a text, and showing what came of it.

use crate::finding::Edit;
use similar::TextDiff;

/// Why edits cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// Two of them change the same bytes.
    #[error("two changes overlap")]
    Overlap,
    /// One of them is not between characters of the text.
    #[error("a change lies outside of the text")]
    Outside,
}

/// A text with edits applied; the paths of the edits are not looked at. Edits that are the same count once. Line breaks that
/// edits bring are written as the text writes its own.
pub fn apply<'e>(text: &str, edits: impl IntoIterator<Item = &'e Edit>) -> Result<String, EditError> {
    let mut edits: Vec<&Edit> = edits.into_iter().collect();
    edits.sort_by_key(|edit| (edit.place.range.start, edit.place.range.end));
    edits.dedup_by(|later, first| later.place.range == first.place.range && later.text == first.text);
    let mut mended = String::with_capacity(text.len());
    let mut at = 0;
    let mut last_start = None;
    for edit in edits {
        let range = &edit.place.range;
        // Two insertions at one place have no order.
        if range.start < at || last_start == Some(range.start) {
            return Err(EditError::Overlap);
        }
        mended.push_str(text.get(at..range.start).ok_or(EditError::Outside)?);
        text.get(range.clone()).ok_or(EditError::Outside)?;
        if is_crlf(text, range.start) {
            mended.push_str(&edit.text.replace("\r\n", "\n").replace('\n', "\r\n"));
        } else {
            mended.push_str(&edit.text);
        }
        at = range.end;
        last_start = Some(range.start);
    }
    mended.push_str(text.get(at..).ok_or(EditError::Outside)?);
    Ok(mended)
}

/// Whether the line around a byte ends with a carriage return and a line feed; of the last line, the one before it.
fn is_crlf(text: &str, at: usize) -> bool {
    let end = text.get(at..).and_then(|rest| rest.find('\n')).map(|length| at + length);
    let end = end.or_else(|| text.get(..at).and_then(|before| before.rfind('\n')));
    end.and_then(|end| text.as_bytes().get(end.checked_sub(1)?)).is_some_and(|byte| *byte == b'\r')
}

/// What changes from one text to the other, as `diff -u` writes it; empty where nothing does.
pub fn unified_diff(path: &str, before: &str, after: &str) -> String {
    if before == after {
        return String::new();
    }
    let path = crate::plain::one_line(path);
    TextDiff::from_lines(before, after)
        .unified_diff()
        .context_radius(3)
        .header(&format!("a/{path}"), &format!("b/{path}"))
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Place;
    use std::ops::Range;

    fn edit(range: Range<usize>, text: &str) -> Edit {
        Edit { place: Place { path: "a.cu".into(), range }, text: text.to_owned() }
    }

    #[test]
    fn edits_are_applied_in_the_order_of_the_text() {
        let edits = [edit(4..5, "2"), edit(0..1, "f"), edit(4..5, "2")];
        assert_eq!(apply("g(1,1)", &edits), Ok("f(1,2)".to_owned()));
        assert_eq!(apply("g(1)", &[edit(0..2, ""), edit(1..3, "")]), Err(EditError::Overlap));
        assert_eq!(apply("g(1)", &[edit(2..2, "a"), edit(2..2, "b")]), Err(EditError::Overlap));
        assert_eq!(apply("é", &[edit(1..2, "")]), Err(EditError::Outside));
        assert_eq!(apply("g", &[edit(5..6, "")]), Err(EditError::Outside));
    }

    #[test]
    fn line_breaks_are_those_of_the_file() {
        assert_eq!(apply("a;\r\nb;\r\n", &[edit(1..2, ";\nc;")]), Ok("a;\r\nc;\r\nb;\r\n".to_owned()));
        assert_eq!(apply("a;\r\nb;", &[edit(5..6, ";\nc;")]), Ok("a;\r\nb;\r\nc;".to_owned()));
        assert_eq!(apply("a;\nb;\n", &[edit(1..2, ";\nc;")]), Ok("a;\nc;\nb;\n".to_owned()));
    }
}
