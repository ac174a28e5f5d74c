//! Macro definitions as text: what stands around a place that a finding names, where the macro is used, and under which
//! conditions of the preprocessor it is defined.

use crate::experiment::place::{Source, calls_word};
use cudalint_findings::model::Range;

/// Macros around macros that are followed.
const MAX_LAYERS: usize = 4;

/// A macro's definition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Definition {
    pub name: String,
    /// Names in the conditions around it, innermost first.
    pub conditions: Vec<String>,
}

impl Definition {
    /// The definition whose lines hold a range.
    pub fn around(source: &Source, range: &Range) -> Option<Self> {
        let continued = |line: u32| source.line(line).trim_end().ends_with('\\');
        let mut first = range.start.line;
        while first > 1 && range.start.line - first < 200 && continued(first - 1) {
            first -= 1;
        }
        let mut text = String::new();
        let mut line = first;
        loop {
            let part = source.line(line).trim_end();
            text.push_str(part.strip_suffix('\\').unwrap_or(part));
            text.push(' ');
            if !continued(line) || line - first > 200 {
                break;
            }
            line += 1;
        }
        let rest = text.trim_start().strip_prefix('#')?.trim_start().strip_prefix("define")?.trim_start();
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let name = rest.get(..end).unwrap_or(rest).to_owned();
        Some(Self { name, conditions: conditions(source, first) })
    }

    /// Names by which a use of this macro is written: its own, and those of macros of the source whose bodies use it.
    pub fn names(&self, source: &Source) -> Vec<String> {
        let mut names = vec![self.name.clone()];
        for _ in 0..MAX_LAYERS {
            let before = names.len();
            let mut current = None;
            for (_, line) in source.lines() {
                let trimmed = line.trim_start();
                if let Some(rest) = trimmed.strip_prefix('#').and_then(|rest| rest.trim_start().strip_prefix("define"))
                {
                    let rest = rest.trim_start();
                    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
                    current = Some(rest[..end].to_owned());
                }
                if let Some(name) = &current {
                    let body = trimmed.split_once(name.as_str()).map_or(trimmed, |(_, body)| body);
                    if !names.contains(name) && names.iter().any(|used| calls_word(body, used)) {
                        names.push(name.clone());
                    }
                }
                if !line.trim_end().ends_with('\\') {
                    current = None;
                }
            }
            if names.len() == before {
                break;
            }
        }
        names
    }
}

/// The names in the conditions of the preprocessor around a line, innermost first.
fn conditions(source: &Source, line: u32) -> Vec<String> {
    let mut open: Vec<String> = Vec::new();
    for (number, text) in source.lines() {
        if number >= line {
            break;
        }
        let Some(directive) = text.trim_start().strip_prefix('#').map(str::trim_start) else { continue };
        if directive.starts_with("if") {
            open.push(directive.to_owned());
        } else if directive.starts_with("elif") {
            if let Some(condition) = open.last_mut() {
                condition.push(' ');
                condition.push_str(directive);
            }
        } else if directive.starts_with("endif") {
            open.pop();
        }
    }
    let mut names: Vec<String> = Vec::new();
    for condition in open.iter().rev() {
        for word in condition.split(|c: char| !c.is_alphanumeric() && c != '_') {
            let keyword = matches!(word, "" | "if" | "ifdef" | "ifndef" | "elif" | "elifdef" | "elifndef" | "defined");
            let is_name = word.starts_with(|c: char| c.is_alphabetic() || c == '_');
            if !keyword && is_name && !names.iter().any(|name| name == word) {
                names.push(word.to_owned());
            }
        }
    }
    names
}
