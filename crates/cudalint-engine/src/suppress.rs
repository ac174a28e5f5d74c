//! Comments that keep findings quiet: `// cudalint: ignore[rule, …] reason` for a statement and
//! `// cudalint: file-ignore[rule, …] reason` for a file (`#` in Python). Every comment names its rules; there is no
//! form that silences all.

use crate::rule::{IgnoreComment, IgnoredName, Rule};
use crate::selectors;
use cudalint_findings::Finding;
use cudalint_program::SourceFile;
use cudalint_program::load::Piece;
use cudalint_syntax::{Language, comments};
use std::ops::Range;

/// The word that marks a comment as ours; a file without it needs no look at its comments.
pub const MARK: &str = "cudalint:";

/// A statement may go on for so many lines before its comment stops reaching.
const MAX_STATEMENT_LINES: usize = 100;

/// The suppressions of one file.
#[derive(Debug, Default)]
pub struct Suppressions {
    comments: Vec<IgnoreComment>,
    /// Beside each comment, the lines that it covers; `None` for the whole file.
    reach: Vec<Option<Reach>>,
    starts: Vec<usize>,
}

/// Lines (from 0) that a comment covers.
#[derive(Clone, Debug)]
struct Reach {
    lines: Range<usize>,
    /// Whether the comment stands behind code: then any line of a finding may carry it.
    trailing: bool,
}

/// A comment of a file.
#[derive(Clone, Debug)]
pub struct Remark<'t> {
    /// Where it stands.
    pub range: Range<usize>,
    /// Whether it is one of Python.
    pub python: bool,
    /// For one of a program in a string: the text that the program is read from, up to the program's end, and where the
    /// program begins.
    pub inside: Option<(&'t str, usize)>,
}

/// The comments of a file, in order.
pub fn remarks(file: &SourceFile) -> Vec<Remark<'_>> {
    let mut remarks: Vec<Remark<'_>> = Vec::new();
    for Piece { stretch, .. } in &file.pieces {
        let (region, text) = (&stretch.region, &stretch.text);
        let end = region.span.end as usize;
        let inside = text.get(..end).filter(|_| stretch.inside).map(|text| (text, region.span.start as usize));
        let python = region.language == Language::Python;
        let found = comments(text, region).into_iter();
        remarks.extend(found.map(|comment| Remark { range: comment.span.range(), python, inside }));
    }
    remarks.sort_by_key(|remark| remark.range.start);
    remarks
}

impl Suppressions {
    /// Reads the suppressions among the comments of a file, which are sorted by their ranges.
    pub fn collect(text: &str, comments: &[Remark<'_>], rules: &[&Rule]) -> Self {
        let mut found = Self::default();
        if !text.contains(MARK) {
            return found;
        }
        found.starts = std::iter::once(0)
            .chain(text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1))
            .collect();
        for comment in comments {
            let range = &comment.range;
            let (text, floor) = comment.inside.unwrap_or((text, 0));
            let Some(parsed) = text.get(range.clone()).and_then(parse) else { continue };
            let names = parsed
                .names
                .into_iter()
                .map(|(name, at)| {
                    let rule = rules.iter().position(|rule| rule.info.name == name);
                    let near = if rule.is_some() {
                        None
                    } else {
                        selectors::nearest(name, rules.iter().map(|rule| rule.info.name)).map(str::to_owned)
                    };
                    let start = range.start + at;
                    IgnoredName {
                        name: name.to_owned(),
                        range: start..start + name.len(),
                        rule,
                        nearest: near,
                        judged: false,
                        used: false,
                    }
                })
                .collect();
            let brackets = parsed.brackets.map(|inside| range.start + inside.start..range.start + inside.end);
            let line_start = found.starts.get(found.line(range.start)).copied().unwrap_or(0).max(floor);
            let alone = text.get(line_start..range.start).is_some_and(|before| before.trim().is_empty())
                && text.get(range.end..).is_none_or(|rest| rest.lines().next().unwrap_or("").trim().is_empty());
            let reach = (!parsed.whole_file).then(|| {
                if alone {
                    let lines = found.next_statement(text, comments, range.end, comment.python);
                    Reach { lines, trailing: false }
                } else {
                    let line = found.line(range.start);
                    Reach { lines: line..line + 1, trailing: true }
                }
            });
            // The quotes on a line of a string have to stay.
            let removal = found.removal(text, range, alone && comment.inside.is_none());
            found.comments.push(IgnoreComment {
                range: range.clone(),
                names,
                brackets,
                whole_file: parsed.whole_file,
                removal,
            });
            found.reach.push(reach);
        }
        found
    }

    /// Whether a comment suppresses a finding of the rule at `index` of the table; the comment is then used.
    pub fn suppresses(&mut self, index: usize, finding: &Finding) -> bool {
        if self.comments.is_empty() {
            return false;
        }
        let first = self.line(finding.place.range.start);
        let last = self.line(finding.place.range.end.saturating_sub(1).max(finding.place.range.start));
        let mut hit = false;
        for (comment, reach) in self.comments.iter_mut().zip(&self.reach) {
            let covers = match reach {
                None => true,
                Some(reach) if reach.trailing => (first..=last).contains(&reach.lines.start),
                Some(reach) => reach.lines.contains(&first),
            };
            if covers {
                for name in comment.names.iter_mut().filter(|name| name.rule == Some(index)) {
                    name.used = true;
                    hit = true;
                }
            }
        }
        hit
    }

    /// Says which named rules ran, so that those which suppressed nothing can be reported.
    pub fn judge(&mut self, ran: impl Fn(usize) -> bool) {
        for name in self.comments.iter_mut().flat_map(|comment| &mut comment.names) {
            name.judged = name.rule.is_some_and(&ran);
        }
    }

    /// The comments, for rules about them.
    pub fn comments(&self) -> &[IgnoreComment] {
        &self.comments
    }

    fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset).saturating_sub(1)
    }

    /// The lines of the first statement that begins below an offset.
    fn next_statement(&self, text: &str, comments: &[Remark<'_>], after: usize, python: bool) -> Range<usize> {
        let mut at = after;
        // The first byte that is neither white space nor comment.
        loop {
            let rest = text.get(at..).unwrap_or("");
            at += rest.len() - rest.trim_start().len();
            match comments.binary_search_by_key(&at, |comment| comment.range.start) {
                Ok(index) => at = comments.get(index).map_or(text.len(), |comment| comment.range.end.max(at + 1)),
                Err(_) => break,
            }
        }
        if at >= text.len() {
            let line = self.line(text.len());
            return line..line;
        }
        let first = self.line(at);
        let end = statement_end(text.as_bytes(), comments, at, python);
        first..(self.line(end) + 1).min(first + MAX_STATEMENT_LINES)
    }

    /// What goes when the comment is deleted: its whole line when it stands alone, else the blanks before it too.
    fn removal(&self, text: &str, range: &Range<usize>, alone: bool) -> Range<usize> {
        let line = self.line(range.start);
        let line_start = self.starts.get(line).copied().unwrap_or(0);
        if alone {
            let end = self.starts.get(self.line(range.end.saturating_sub(1)) + 1).copied().unwrap_or(text.len());
            return line_start..end;
        }
        let before = text.get(line_start..range.start).unwrap_or("");
        line_start + before.trim_end().len()..range.end
    }
}

/// The last byte of the statement at `at`: its `;` or the brace that opens or closes a block, outside of parentheses;
/// in Python and for preprocessor lines, the end of the logical line.
fn statement_end(bytes: &[u8], comments: &[Remark<'_>], at: usize, python: bool) -> usize {
    let directive = !python && bytes.get(at) == Some(&b'#');
    let mut depth = 0_usize;
    let mut quote: Option<u8> = None;
    let mut at = at;
    while let Some(byte) = bytes.get(at) {
        if quote.is_none()
            && let Ok(index) = comments.binary_search_by_key(&at, |comment| comment.range.start)
        {
            at = comments.get(index).map_or(bytes.len(), |comment| comment.range.end.max(at + 1));
            continue;
        }
        match (quote, byte) {
            (_, b'\\') => at += 1,
            (Some(open), close) if open == *close => quote = None,
            (Some(_), b'\n') if !python => quote = None,
            (Some(_), _) => {}
            (None, b'"') => quote = Some(b'"'),
            (None, b'\'') if python || !bytes.get(at.wrapping_sub(1)).is_some_and(u8::is_ascii_alphanumeric) => {
                quote = Some(b'\'');
            }
            (None, b'(' | b'[') => depth += 1,
            (None, b'{') if python => depth += 1,
            (None, b')' | b']') => depth = depth.saturating_sub(1),
            (None, b'}') if python => depth = depth.saturating_sub(1),
            (None, b';' | b'{' | b'}') if !python && !directive && depth == 0 => return at,
            (None, b'\n') if (python || directive) && depth == 0 => return at.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    bytes.len().saturating_sub(1)
}

/// A suppression comment, taken apart; offsets are within the comment.
struct Parsed<'t> {
    names: Vec<(&'t str, usize)>,
    brackets: Option<Range<usize>>,
    whole_file: bool,
}

/// Reads a comment; `None` when it is not addressed to us or is no suppression.
fn parse(comment: &str) -> Option<Parsed<'_>> {
    let body = comment.trim_start_matches(['/', '*', '#', '!', ' ', '\t']);
    let rest = body.strip_prefix(MARK)?.trim_start();
    let (whole_file, rest) = match rest.strip_prefix("file-ignore") {
        Some(rest) => (true, rest),
        None => (false, rest.strip_prefix("ignore")?),
    };
    let rest = rest.trim_start_matches([' ', '\t']);
    let nothing = Parsed { names: Vec::new(), brackets: None, whole_file };
    let Some(inside) = rest.strip_prefix('[') else { return Some(nothing) };
    let Some(close) = inside.find(']') else { return Some(nothing) };
    let start = comment.len() - inside.len();
    let inside = inside.get(..close)?;
    let mut names = Vec::new();
    let mut at = start;
    for part in inside.split(',') {
        let name = part.trim();
        if !name.is_empty() {
            names.push((name, at + (part.len() - part.trim_start().len())));
        }
        at += part.len() + 1;
    }
    Some(Parsed { names, brackets: Some(start..start + close), whole_file })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use cudalint_findings::{Confidence, Place, Shows};

    static RULE: Rule = crate::testing::rule("bad-thing");

    /// Comments as a lexer without strings would find them.
    fn comments(text: &str, mark: &str) -> Vec<Remark<'static>> {
        text.match_indices(mark)
            .map(|(at, _)| Remark {
                range: at..at + text[at..].find('\n').unwrap_or(text.len() - at),
                python: mark == "#",
                inside: None,
            })
            .collect()
    }

    fn suppressed(text: &str, mark: &str, flagged: &str) -> bool {
        let mut found = Suppressions::collect(text, &comments(text, mark), &[&RULE]);
        let start = text.find(flagged).unwrap();
        let place = Place { path: "a.cu".into(), range: start..start + flagged.len() };
        found.suppresses(0, &RULE.finding(Confidence::Definite, place, Shows::Nothing, String::new()))
    }

    #[test]
    fn a_comment_behind_code_covers_its_line() {
        assert!(suppressed("f(x); // cudalint: ignore[bad-thing] known\ng(y);\n", "//", "f(x)"));
        assert!(!suppressed("f(x); // cudalint: ignore[bad-thing]\ng(y);\n", "//", "g(y)"));
        assert!(!suppressed("f(x); // cudalint: ignore[other]\n", "//", "f(x)"));
        assert!(suppressed("f(x,\n  y); // cudalint: ignore[bad-thing]\n", "//", "f(x,\n  y)"));
    }

    #[test]
    fn a_comment_alone_covers_the_next_statement() {
        let text = "// cudalint: ignore[bad-thing] because\n// more words\n\nf(x,\n  g(y));\nh(z);\n";
        assert!(suppressed(text, "//", "f(x"));
        assert!(suppressed(text, "//", "g(y)"));
        assert!(!suppressed(text, "//", "h(z)"));
    }

    #[test]
    fn python_statements_end_with_their_logical_line() {
        let text = "# cudalint: ignore[bad-thing]\nf(x,\n  y)\ng(z)\n";
        assert!(suppressed(text, "#", "y)"));
        assert!(!suppressed(text, "#", "g(z)"));
    }

    #[test]
    fn a_file_comment_covers_the_file() {
        assert!(suppressed("f(x);\ng(y);\n// cudalint: file-ignore[bad-thing]\n", "//", "f(x)"));
    }

    #[test]
    fn a_comment_without_names_suppresses_nothing() {
        assert!(!suppressed("f(x); // cudalint: ignore\n", "//", "f(x)"));
        assert!(!suppressed("f(x); // cudalint: ignore[\n", "//", "f(x)"));
        let text = "f(x); // cudalint: ignore\n";
        let found = Suppressions::collect(text, &comments(text, "//"), &[&RULE]);
        assert!(found.comments()[0].names.is_empty());
    }

    #[test]
    fn names_know_their_places() {
        let text = "f(x); /* cudalint: ignore[ bad-thing,bad-thin ] why */\n";
        let found =
            Suppressions::collect(text, &[Remark { range: 6..text.len() - 1, python: false, inside: None }], &[&RULE]);
        let names = &found.comments()[0].names;
        assert_eq!(&text[names[0].range.clone()], "bad-thing");
        assert_eq!(&text[names[1].range.clone()], "bad-thin");
        assert_eq!(names[1].nearest.as_deref(), Some("bad-thing"));
        assert_eq!(&text[found.comments()[0].brackets.clone().unwrap()], " bad-thing,bad-thin ");
    }
}
