//! Long runs of lines that Python's lexer reads again from each of their beginnings: of comments, and of lines that hold a
//! backslash alone. For the parser, blanks stand in the place of what comes after the first of them; nobody reads these
//! bytes.

use crate::python_mask::{line_end, opens_line, string_end};

/// Lines of a run that stay.
const KEPT: usize = 64;

/// The text with long runs cut short, as long as it was; `None` when it has none.
pub(crate) fn respell(bytes: &[u8]) -> Option<Vec<u8>> {
    if !has_run(bytes) {
        return None;
    }
    let mut text = bytes.to_vec();
    let (mut comments, mut breaks) = (0, 0);
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'#' => {
                let end = line_end(bytes, at);
                comments = if opens_line(bytes, at) { comments + 1 } else { 0 };
                if comments > KEPT {
                    text[at..end].fill(b' ');
                }
                breaks = 0;
                at = end;
            }
            b'\\' if bytes.get(at + 1) == Some(&b'\n') => {
                breaks += 1;
                if breaks > KEPT {
                    text[at..at + 2].fill(b' ');
                }
                comments = 0;
                at += 2;
            }
            b' ' | b'\t' | b'\n' | b'\r' => at += 1,
            _ => {
                (comments, breaks) = (0, 0);
                at = if matches!(byte, b'"' | b'\'') { string_end(bytes, at) } else { at + 1 };
            }
        }
    }
    Some(text)
}

/// Whether so many lines in a row begin with `#` or a backslash.
fn has_run(bytes: &[u8]) -> bool {
    let mut run = 0;
    for line in bytes.split(|byte| *byte == b'\n') {
        match line.iter().find(|byte| !matches!(byte, b' ' | b'\t' | b'\r')) {
            Some(b'#' | b'\\') => run += 1,
            Some(_) => run = 0,
            None => {}
        }
        if run > KEPT {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_short_or_stands_in_a_string_stays() {
        let few = "# c\n".repeat(KEPT);
        assert_eq!(respell(few.as_bytes()), None);
        let string = format!("x = '''\n{}'''\n", "# c ''\n".repeat(3 * KEPT));
        assert_eq!(respell(string.as_bytes()).as_deref(), Some(string.as_bytes()));
    }

    fn count(text: &[u8], byte: u8) -> usize {
        memchr::memchr_iter(byte, text).count()
    }

    #[test]
    fn of_long_runs_the_first_lines_stay() {
        let comments = respell("# '\n".repeat(3 * KEPT).as_bytes()).unwrap_or_default();
        assert_eq!(count(&comments, b'#'), KEPT);
        assert_eq!(count(&comments, b'\n'), 3 * KEPT);
        let breaks = format!("x = 1 {}\ny = 2\n", "\\\n".repeat(3 * KEPT));
        let respelled = respell(breaks.as_bytes()).unwrap_or_default();
        assert_eq!(count(&respelled, b'\\'), KEPT);
        assert_eq!(respelled.len(), breaks.len());
        assert!(respelled.ends_with(b" \ny = 2\n"));
    }
}
