//! `docs/guidelines.md`: which rule checks which of NVIDIA's guidelines, and the reverse, with the weaknesses (CWE) that they
//! are about. What a rule checks stands in its declaration, what the guidelines ask for in the table beside this file.

mod declared;
mod table;

pub use declared::{Declared, declared};

use std::fmt::Write as _;
use std::io;
use table::CHAPTERS;

const HEAD: &str = "# Guidelines, rules and weaknesses

Derived from the rules' declarations and `crates/cudalint-pages/src/guidelines/table.rs` by `cargo xtask sync`; do not edit.

The numbers are those of NVIDIA's *CUDA C++ Guidelines for Robust and Safety Critical Programming*, version 3.0.1, and of the checker
Axivion for CUDA, which documents rules of its own beside them (`CUDASecurity`); where a number is not public, a word of the
subject stands for it. What a guideline asks for is told here in other words than its own. Weaknesses are those of the
[Common Weakness Enumeration](https://cwe.mitre.org/).

A guideline that no rule checks has the reason in its last column. cudalint reports what goes wrong, so that it has no rules for
restrictions of the language alone, and none for what every compiler refuses.
";

/// A rule with what it says of itself.
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Its group.
    pub group: &'static str,
    /// What it declares.
    pub declared: Declared,
}

/// The text of `docs/guidelines.md`.
///
/// # Errors
/// When a rule names a guideline that the table does not have.
pub fn page(rules: &[Entry]) -> io::Result<String> {
    let known: Vec<&str> = CHAPTERS.iter().flat_map(|chapter| chapter.guidelines).map(|entry| entry.number).collect();
    for rule in rules {
        if let Some(number) = rule.declared.guidelines.iter().find(|number| !known.contains(&number.as_str())) {
            return Err(io::Error::other(format!("{} names `{number}`, which is no guideline", rule.name)));
        }
    }
    let mut text = String::from(HEAD);
    for chapter in CHAPTERS {
        let _ = writeln!(text, "\n## {}\n", chapter.title);
        text.push_str("| guideline | asks for | rules | CWE | not checked |\n|---|---|---|---|---|\n");
        for guideline in chapter.guidelines {
            let by: Vec<&Entry> = rules
                .iter()
                .filter(|rule| rule.declared.guidelines.iter().any(|number| number == guideline.number))
                .collect();
            let names = listed(by.iter().map(|rule| link(rule)), "no rule");
            let mut numbers: Vec<u32> = by.iter().filter_map(|rule| rule.declared.cwe).collect();
            numbers.sort_unstable();
            numbers.dedup();
            let weaknesses = listed(numbers.into_iter().map(weakness), "none");
            let _ = writeln!(
                text,
                "| {} | {} | {names} | {weaknesses} | {} |",
                guideline.number, guideline.asks, guideline.unseen
            );
        }
    }
    text.push_str("\n## From rules to guidelines\n\n| rule | guidelines | CWE |\n|---|---|---|\n");
    for rule in rules {
        let guidelines = listed(rule.declared.guidelines.iter().cloned(), "none asks for it");
        let cwe = rule.declared.cwe.map_or_else(|| "none".to_owned(), weakness);
        let _ = writeln!(text, "| {} | {guidelines} | {cwe} |", link(rule));
    }
    text.push_str("\n## From weaknesses to rules\n\n| CWE | rules |\n|---|---|\n");
    let mut numbers: Vec<u32> = rules.iter().filter_map(|rule| rule.declared.cwe).collect();
    numbers.sort_unstable();
    numbers.dedup();
    for number in numbers {
        let by = rules.iter().filter(|rule| rule.declared.cwe == Some(number));
        let _ = writeln!(text, "| {} | {} |", weakness(number), listed(by.map(link), "no rule"));
    }
    Ok(text)
}

fn link(rule: &Entry) -> String {
    format!("[{0}](../rules/{1}/{0}.md)", rule.name, rule.group)
}

fn weakness(number: u32) -> String {
    format!("[{number}](https://cwe.mitre.org/data/definitions/{number}.html)")
}

/// All of them, or the words for none.
fn listed(parts: impl Iterator<Item = String>, none: &str) -> String {
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() { none.to_owned() } else { parts.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::{Declared, Entry, page};

    fn entry(name: &str, guidelines: &[&str], cwe: Option<u32>) -> Entry {
        let guidelines = guidelines.iter().map(|&number| number.to_owned()).collect();
        Entry { name: name.to_owned(), group: "correctness", declared: Declared { guidelines, cwe } }
    }

    #[test]
    fn no_cell_is_empty_and_both_ways_agree() {
        let rules = [entry("one", &["CUDA-1.3", "CUDA-1.4"], Some(252)), entry("two", &[], None)];
        let text = page(&rules).unwrap_or_default();
        for row in text.lines().filter(|line| line.starts_with('|')) {
            let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
            assert!(cells.iter().all(|cell| !cell.is_empty()), "{row}");
        }
        let rows = |part: &str| text.lines().filter(|line| line.contains(part)).count();
        // CUDA-1.3 and CUDA-1.4, its own row, and that of its weakness.
        assert_eq!(rows("[one]("), 4);
        assert_eq!(rows("| none asks for it | none |"), 1);
    }

    #[test]
    fn a_guideline_that_does_not_exist_is_named() {
        let error = page(&[entry("one", &["CUDA-9.9"], None)]).map_err(|error| error.to_string());
        assert_eq!(error, Err("one names `CUDA-9.9`, which is no guideline".to_owned()));
    }
}
