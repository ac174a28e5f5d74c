//! A diagnosis as text for a terminal of any width.

use super::{Diagnosis, State};
use std::fmt::Write as _;

/// Characters of the column of names.
const NAMES: usize = 17;

impl Diagnosis {
    /// The diagnosis as text: a table by group, what follows from it, and the command.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        let mut group = "";
        for row in &self.rows {
            if row.group != group {
                group = &row.group;
                let _ = writeln!(text, "{}{group}", if text.is_empty() { "" } else { "\n" });
            }
            let state = match row.state {
                State::Ok => "ok",
                State::Missing => "missing",
                State::Broken => "broken",
            };
            let indent = " ".repeat(2 + 9 + NAMES + 2);
            let mut facts = row.detail.split("; ");
            let _ = writeln!(text, "  {state:<9}{:<NAMES$}  {}", row.name, facts.next().unwrap_or_default());
            for fact in facts {
                let _ = writeln!(text, "{indent}{fact}");
            }
            if let Some(remedy) = &row.remedy {
                let _ = writeln!(text, "{indent}→ {remedy}");
            }
        }
        text.push('\n');
        for conclusion in &self.conclusions {
            let _ = writeln!(text, "{conclusion}");
        }
        if let Some(install) = &self.install {
            let _ = write!(text, "\nTo install what is missing:\n\n  {install}\n");
        }
        text
    }
}
