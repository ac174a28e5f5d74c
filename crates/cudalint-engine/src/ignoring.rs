//! Writes the comment that keeps a finding quiet, where it will be read as one.

use crate::rule::Rule;
use crate::suppress::{MARK, Suppressions, remarks};
use cudalint_findings::Finding;
use cudalint_program::SourceFile;
use cudalint_syntax::{FileKind, FileText, Language};
use std::ops::Range;
use std::sync::Arc;

/// A change of a text: bytes and what takes their place.
pub type Change = (Range<usize>, String);

/// The change that keeps a finding in a file of this kind quiet: a comment on a line of its own above the statement, a name
/// more in the comment that is there, or one behind the line. None where no comment can stand.
pub fn ignore(rules: &[&Rule], kind: FileKind, text: &str, finding: &Finding, reason: &str) -> Option<Change> {
    let rule = rules.iter().position(|rule| rule.info.name == finding.rule.name)?;
    let place = &finding.place.range;
    let file = read(kind, text)?;
    let around = file.pieces.iter().filter(|piece| piece.stretch.region.span.range().contains(&place.start));
    let piece = around.min_by_key(|piece| piece.stretch.region.span.range().len())?;
    let mark = if piece.stretch.region.language == Language::Python { "#" } else { "//" };
    let name = finding.rule.name;
    let line = line_around(text, place.start);
    let content = text.get(line.clone())?;
    let body = content.trim_end_matches(['\r', '\n']);
    let before = text.get(..line.start)?;
    // Neither between a line and the one that it goes on with, nor behind the mark that it goes on.
    let goes_on = |line: &str| line.trim_end().ends_with('\\');
    let mut changes: Vec<Change> = Vec::new();
    if let Some(at) = brackets(&file, text, rules, before, &line) {
        changes.push((at..at, format!(", {name}")));
    }
    if !goes_on(before.trim_end_matches(['\r', '\n']).rsplit('\n').next().unwrap_or("")) {
        let indent: String = body.chars().take_while(|c| matches!(c, ' ' | '\t')).collect();
        let end = if content.ends_with("\r\n") { "\r\n" } else { "\n" };
        changes.push((line.start..line.start, format!("{indent}{mark} cudalint: ignore[{name}] {reason}{end}")));
    }
    if !goes_on(body) {
        let end = line.start + body.trim_end().len();
        changes.push((end..line.start + body.len(), format!("  {mark} cudalint: ignore[{name}] {reason}")));
    }
    changes.into_iter().find(|change| quiets(rules, kind, text, finding, rule, change))
}

/// The rule, by its place in the table, that a suppression comment names at a byte.
pub(crate) fn named_at(rules: &[&Rule], kind: FileKind, text: &str, at: usize) -> Option<(usize, Range<usize>)> {
    let file = read(kind, text).filter(|_| text.contains(MARK))?;
    let comments = Suppressions::collect(text, &remarks(&file), rules);
    let mut names = comments.comments().iter().flat_map(|comment| &comment.names);
    names.find(|name| name.range.contains(&at)).and_then(|name| Some((name.rule?, name.range.clone())))
}

/// The suppression comments of a text by itself.
pub(crate) fn suppressions(rules: &[&Rule], kind: FileKind, text: &str) -> Option<Suppressions> {
    let file = read(kind, text)?;
    Some(Suppressions::collect(text, &remarks(&file), rules))
}

/// A file by itself, taken apart.
fn read(kind: FileKind, text: &str) -> Option<SourceFile> {
    // The text of a notebook is that of its cells; what it was read from is not here.
    let kind = if kind == FileKind::Notebook { FileKind::Python } else { kind };
    let text = FileText::from_bytes(kind, text.as_bytes().to_vec()).ok()?;
    Some(SourceFile::new(Arc::from(""), &text))
}

/// The line of a byte, with its end.
fn line_around(text: &str, at: usize) -> Range<usize> {
    let start = text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
    let end = text.get(at..).and_then(|rest| rest.find('\n')).map_or(text.len(), |end| at + end + 1);
    start..end
}

/// Where the brackets of a comment directly above a line, or on it, end.
fn brackets(file: &SourceFile, text: &str, rules: &[&Rule], before: &str, line: &Range<usize>) -> Option<usize> {
    let above = line_around(text, before.trim_end_matches(['\r', '\n']).len());
    let comments = Suppressions::collect(text, &remarks(file), rules);
    let near = comments.comments().iter().filter(|comment| {
        !comment.whole_file && (line.contains(&comment.range.start) || above.contains(&comment.range.start))
    });
    near.filter_map(|comment| comment.brackets.as_ref()).map(|inside| inside.end).next_back()
}

/// Whether a comment will be read as one, by whoever reads the changed text, and keeps the finding quiet.
fn quiets(
    rules: &[&Rule],
    kind: FileKind,
    text: &str,
    finding: &Finding,
    rule: usize,
    (range, written): &Change,
) -> bool {
    let Some((before, after)) = text.get(..range.start).zip(text.get(range.end..)) else { return false };
    let changed = [before, written, after].concat();
    let Some(file) = read(kind, &changed) else { return false };
    // In a string, what stands between its parts is no part of the program.
    let new = range.start..range.start + written.len();
    let within = |piece: &&cudalint_program::load::Piece| piece.stretch.region.span.range().contains(&new.start);
    let piece = file.pieces.iter().filter(within).min_by_key(|piece| piece.stretch.region.span.range().len());
    if piece.is_none_or(|piece| piece.stretch.text.get(new.clone()) != changed.get(new.clone())) {
        return false;
    }
    let moved = |at: usize| if at >= range.start { at + written.len() - range.len() } else { at };
    let place = &finding.place.range;
    let mut finding = finding.clone();
    finding.place.range = moved(place.start)..moved(place.end).max(moved(place.start));
    Suppressions::collect(&changed, &remarks(&file), rules).suppresses(rule, &finding)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use cudalint_findings::{Confidence, Place, Shows};

    static RULE: Rule = crate::testing::rule("bad-thing");

    fn ignored(kind: FileKind, text: &str, flagged: &str) -> Option<String> {
        let start = text.find(flagged).unwrap();
        let place = Place { path: "a".into(), range: start..start + flagged.len() };
        let finding = RULE.finding(Confidence::Definite, place, Shows::Nothing, String::new());
        let (range, written) = ignore(&[&RULE], kind, text, &finding, "since")?;
        Some([&text[..range.start], &written, &text[range.end..]].concat())
    }

    #[test]
    fn a_comment_stands_where_it_is_read() {
        let cuda = |text: &str, flagged: &str| ignored(FileKind::Cuda, text, flagged);
        assert_eq!(
            cuda("void f() {\r\n  g(x);\r\n}\r\n", "g(x)").unwrap(),
            "void f() {\r\n  // cudalint: ignore[bad-thing] since\r\n  g(x);\r\n}\r\n"
        );
        assert_eq!(
            cuda("// cudalint: ignore[other] why\ng(x);\n", "g(x)").unwrap(),
            "// cudalint: ignore[other, bad-thing] why\ng(x);\n"
        );
        // Between the lines of a macro no comment can stand, behind the last one it can.
        assert_eq!(
            cuda("#define M \\\n  g(x)\nint a;\n", "g(x)").unwrap(),
            "#define M \\\n  g(x)  // cudalint: ignore[bad-thing] since\nint a;\n"
        );
        assert_eq!(cuda("#define M \\\n  g(x); \\\n  h()\n", "g(x)"), None);
    }

    #[test]
    fn python_and_the_programs_in_its_strings_have_comments_of_their_own() {
        let text = "import cupy\nif a:\n    k = cupy.RawKernel(r'''\nextern \"C\" __global__ void f(int *p) {\n  p[0] = 1;\n}\n''', 'f')\n    g(1)\n";
        let python = |flagged: &str| ignored(FileKind::Python, text, flagged).unwrap();
        assert!(python("g(1)").contains("\n    # cudalint: ignore[bad-thing] since\n    g(1)\n"));
        assert!(python("p[0] = 1").contains("\n  // cudalint: ignore[bad-thing] since\n  p[0] = 1;\n"));
        let one_line = "import cupy\nk = cupy.RawKernel('extern \"C\" __global__ void f(int *p) { p[0] = 1; }', 'f')\n";
        assert_eq!(ignored(FileKind::Python, one_line, "p[0] = 1"), None);
    }
}
