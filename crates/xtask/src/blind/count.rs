//! Precision by rule, confidence and kind of project, with its interval, from what readers said.

use super::round::{Draw, Drawn};
use std::collections::{BTreeMap, HashMap};

/// What a reader says of a finding.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// What it says happens in some run that it describes.
    Right,
    /// True, and of no use.
    Harmless,
    Wrong,
}

#[derive(Clone, Copy, Default)]
struct Tally {
    right: usize,
    harmless: usize,
    wrong: usize,
}

impl Tally {
    const fn add(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Right => self.right += 1,
            Verdict::Harmless => self.harmless += 1,
            Verdict::Wrong => self.wrong += 1,
        }
    }

    const fn read(self) -> usize {
        self.right + self.harmless + self.wrong
    }

    /// `34 of 40 (85 %, 71 to 93), 2 harmless`; nothing for nothing.
    fn words(self) -> String {
        if self.read() == 0 {
            return String::new();
        }
        let (low, high) = wilson(self.right, self.read());
        let share = 100.0 * self.right as f64 / self.read() as f64;
        let harmless = if self.harmless == 0 { String::new() } else { format!(", {} harmless", self.harmless) };
        format!("{} of {} ({share:.0} %, {low:.0} to {high:.0}){harmless}", self.right, self.read())
    }
}

/// The interval, in percent, that holds the true share in 95 of 100 rounds (Wilson): unlike the plain one it is of use for small
/// counts and for shares near 100 %.
fn wilson(part: usize, all: usize) -> (f64, f64) {
    let (part, all, z) = (part as f64, all as f64, 1.96_f64);
    let middle = part + z * z / 2.0;
    let width = z * (part * (all - part) / all + z * z / 4.0).sqrt();
    let whole = all + z * z;
    (100.0 * ((middle - width) / whole).max(0.0), 100.0 * ((middle + width) / whole).min(1.0))
}

/// Prints the tables of a round, the causes of what is wrong, and the round's row of the record.
pub fn print(round: u32, draw: &Draw, verdicts: &str) -> Result<(), String> {
    let verdicts = parse(verdicts)?;
    let mut tables: [BTreeMap<&str, Tally>; 3] = Default::default();
    let (mut definite, mut likely, mut errors) = (Tally::default(), Tally::default(), Tally::default());
    let mut causes: BTreeMap<&str, usize> = BTreeMap::new();
    for drawn in &draw.drawn {
        let Some((verdict, cause)) = verdicts.get(drawn.fingerprint.as_str()) else {
            return Err(format!("no verdict on {} of {} in {}", drawn.fingerprint, drawn.rule, drawn.project));
        };
        if drawn.is_error_handling() {
            errors.add(*verdict);
        } else if drawn.confidence == "definite" {
            definite.add(*verdict);
        } else {
            likely.add(*verdict);
        }
        let keys = [drawn.rule.as_str(), class(drawn), drawn.kind.name()];
        for (table, key) in tables.iter_mut().zip(keys) {
            // Of error handling the kind of project says little, and it would drown the rest.
            if key != drawn.kind.name() || !drawn.is_error_handling() {
                table.entry(key).or_default().add(*verdict);
            }
        }
        if *verdict == Verdict::Wrong {
            *causes.entry(cause).or_default() += 1;
        }
    }
    for (name, table) in ["rule", "confidence", "kind of project, outside error handling"].iter().zip(&tables) {
        println!("by {name}:");
        for (key, tally) in table {
            println!("  {key}: {}", tally.words());
        }
    }
    let mut causes: Vec<(&str, usize)> = causes.into_iter().collect();
    causes.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    println!("causes of what is wrong:");
    for (cause, count) in causes {
        println!("  {count}  {cause}");
    }
    let share = |part: u64, all: u64| if all == 0 { 0.0 } else { 100.0 * part as f64 / all as f64 };
    println!(
        "| {round} | {}, {} students' | {} + {} | {} | {} | {} | {:.0} % + {:.0} % of {} | {:.0} % of {} |",
        draw.projects,
        draw.students,
        draw.others,
        draw.errors,
        definite.words(),
        likely.words(),
        errors.words(),
        share(draw.with_facts, draw.launches),
        share(draw.first_block, draw.launches),
        draw.launches,
        share(draw.known_accesses, draw.accesses),
        draw.accesses,
    );
    Ok(())
}

fn class(drawn: &Drawn) -> &str {
    if drawn.is_error_handling() { "error handling" } else { &drawn.confidence }
}

/// Verdicts and causes by fingerprint. Empty lines and those that begin with `#` say nothing.
fn parse(text: &str) -> Result<HashMap<&str, (Verdict, &str)>, String> {
    let mut verdicts = HashMap::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (fingerprint, rest) = line.split_once(' ').unwrap_or((line, ""));
        let (word, cause) = rest.split_once(' ').unwrap_or((rest, ""));
        let verdict = match word {
            "right" => Verdict::Right,
            "harmless" => Verdict::Harmless,
            "wrong" if !cause.is_empty() => Verdict::Wrong,
            _ => return Err(format!("a verdict is right, harmless, or wrong with a cause: {line}")),
        };
        if verdicts.insert(fingerprint, (verdict, cause)).is_some() {
            return Err(format!("two verdicts on {fingerprint}"));
        }
    }
    Ok(verdicts)
}
