//! A script that keeps lines of the user's file at their own numbers, so that a traceback's line is the user's line.

use std::collections::BTreeMap;

/// Lines by their number, from 1; the others are empty.
#[derive(Clone, Debug, Default)]
pub(super) struct Sheet {
    lines: BTreeMap<u32, String>,
}

impl Sheet {
    /// Puts a piece at its line. Its first line loses what stands before the piece; the others lose as many blanks as
    /// `column` says, if they have them. Pieces of one line are joined by a semicolon, in the order given.
    pub fn place(&mut self, line: u32, column: usize, text: &str) {
        for (number, part) in (line..).zip(text.lines()) {
            let part = if number == line { part } else { dedented(part, column) };
            self.join(number, part);
        }
    }

    /// Sets a line as it is.
    pub fn set(&mut self, line: u32, text: &str) {
        self.lines.insert(line, text.to_owned());
    }

    fn join(&mut self, line: u32, part: &str) {
        let there = self.lines.entry(line).or_default();
        if !there.trim().is_empty() && !part.trim().is_empty() {
            there.push_str("; ");
        }
        there.push_str(part.trim_end());
    }

    /// Puts statements before what stands in a line.
    pub fn prefix(&mut self, line: u32, text: &str) {
        let there = self.lines.entry(line).or_default();
        *there = if there.is_empty() { text.to_owned() } else { format!("{text}; {there}") };
    }

    /// Whether a line begins with an import that something may be put before.
    pub fn holds_import(&self, line: u32) -> bool {
        self.lines.get(&line).is_some_and(|text| {
            (text.starts_with("import ") || text.starts_with("from ")) && !text.contains("__future__")
        })
    }

    /// The last free line before a line, if there is one.
    pub fn free_before(&self, line: u32) -> Option<u32> {
        (1..line).rev().find(|number| !self.lines.contains_key(number))
    }

    /// The first line that holds anything.
    pub fn first(&self) -> u32 {
        self.lines.iter().find(|(_, line)| !line.trim().is_empty()).map_or(1, |(number, _)| *number)
    }

    /// The line after the last one.
    pub fn after(&self) -> u32 {
        self.lines.keys().next_back().map_or(1, |last| last + 1)
    }

    /// The text. Comments stand at the top, where no line of the file is in their way, else at the end.
    pub fn render(&self, comments: &[String]) -> String {
        let last = self.after();
        let first = self.lines.keys().next().copied().unwrap_or(1);
        let fits = first as usize > comments.len();
        let mut text = String::new();
        for number in 1..last {
            let comment = if fits { comments.get(number as usize - 1) } else { None };
            if let Some(comment) = comment {
                text.push_str("# ");
                text.push_str(comment);
            } else if let Some(line) = self.lines.get(&number) {
                text.push_str(line);
            }
            text.push('\n');
        }
        if !fits {
            for comment in comments {
                text.push_str("# ");
                text.push_str(comment);
                text.push('\n');
            }
        }
        text
    }
}

/// A line without its first `column` blanks; one with fewer loses what it has.
fn dedented(line: &str, column: usize) -> &str {
    let blanks = line.len() - line.trim_start_matches([' ', '\t']).len();
    line.get(blanks.min(column)..).unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::Sheet;

    #[test]
    fn lines_keep_their_numbers() {
        let mut sheet = Sheet::default();
        sheet.place(5, 4, "def f(x):\n        return x\n");
        sheet.place(3, 0, "import a");
        sheet.place(3, 0, "import b");
        let text = sheet.render(&["one".to_owned(), "two".to_owned()]);
        assert_eq!(text, "# one\n# two\nimport a; import b\n\ndef f(x):\n    return x\n");
    }

    #[test]
    fn comments_make_no_line_move() {
        let mut sheet = Sheet::default();
        sheet.place(1, 0, "import a");
        sheet.place(3, 0, "a.b");
        assert_eq!(sheet.free_before(3), Some(2));
        assert_eq!(sheet.free_before(2), None);
        assert_eq!(sheet.render(&["why".to_owned()]), "import a\n\na.b\n# why\n");
    }
}
