//! Counts of what the files without launches tell.

use super::fault::Class;
use super::look::Told;
use crate::differential::generate::Kernel;
use crate::differential::total::Total;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

/// What becomes of a fault that a kernel's own launch shows.
pub enum Outcome {
    /// The file without the launch tells it.
    Told,
    /// It tells another of the same class in the same kernel.
    OtherPlace,
    /// It tells nothing of the class, for this reason.
    Silent(String),
}

/// What is shown of the findings of a class.
#[derive(Default)]
struct Counts {
    with_what_it_names: usize,
    with_another: usize,
    not: usize,
}

/// Faults of a class in launched kernels.
#[derive(Default)]
struct Faults {
    told: usize,
    elsewhere: usize,
    silent: usize,
}

/// The comparison so far.
#[derive(Default)]
pub struct Tally {
    told: BTreeMap<Class, Counts>,
    /// Of numbers above the least one that a finding names: how many were tried, and how many of them show it.
    larger: (usize, usize),
    faults: BTreeMap<Class, Faults>,
    causes: BTreeMap<(Class, String), (usize, Vec<String>)>,
    wrong: Vec<String>,
}

impl Tally {
    /// A launch shows a finding: the one that it names, or another with the same block.
    pub fn shown(&mut self, told: &Told, named: bool) {
        let counts = self.told.entry(told.fault.class).or_default();
        *(if named { &mut counts.with_what_it_names } else { &mut counts.with_another }) += 1;
    }

    /// A launch with a larger number than the least one was tried.
    pub fn larger(&mut self, shows: bool) {
        self.larger.0 += 1;
        self.larger.1 += usize::from(shows);
    }

    /// No launch shows a finding.
    pub fn not_shown(&mut self, file: &Path, told: &Told) {
        self.told.entry(told.fault.class).or_default().not += 1;
        self.wrong.push(format!("{}:{}: {}: {}", file.display(), told.line, told.rule, told.message));
    }

    /// How much is told, and all that no launch shows.
    pub fn short(&self) -> String {
        let told: usize =
            self.told.values().map(|counts| counts.with_what_it_names + counts.with_another + counts.not).sum();
        let wrong = self.wrong.iter().fold(String::new(), |all, wrong| format!("{all}\nWRONG {wrong}\n"));
        format!("{told} findings, by no launch shown {}{wrong}", self.wrong.len())
    }

    /// The kernel's own launch shows a fault; whether it is one of the first of its cause.
    pub fn launched(&mut self, kernel: &Kernel, told: &Told, outcome: Outcome) -> bool {
        let faults = self.faults.entry(told.fault.class).or_default();
        match outcome {
            Outcome::Told => faults.told += 1,
            Outcome::OtherPlace => faults.elsewhere += 1,
            Outcome::Silent(cause) => {
                faults.silent += 1;
                let (count, samples) = self.causes.entry((told.fault.class, cause)).or_default();
                *count += 1;
                samples.push(format!("{} line {}", kernel.name, told.line));
                return told.fault.by_design().is_none();
            }
        }
        false
    }
}

impl Total for Tally {
    fn add(&mut self, other: Self) {
        for (class, counts) in other.told {
            let own = self.told.entry(class).or_default();
            own.with_what_it_names += counts.with_what_it_names;
            own.with_another += counts.with_another;
            own.not += counts.not;
        }
        self.larger.0 += other.larger.0;
        self.larger.1 += other.larger.1;
        for (class, faults) in other.faults {
            let own = self.faults.entry(class).or_default();
            own.told += faults.told;
            own.elsewhere += faults.elsewhere;
            own.silent += faults.silent;
        }
        for (cause, (count, samples)) in other.causes {
            let (all, kept) = self.causes.entry(cause).or_default();
            *all += count;
            kept.extend(samples);
        }
        self.wrong.extend(other.wrong);
    }

    fn wrong(&self) -> usize {
        self.wrong.len()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (class, Counts { with_what_it_names, with_another, not }) in &self.told {
            write!(
                f,
                "\n{}: told without a launch {}; shown with the least numbers that are named {with_what_it_names}, with others \
                 {with_another}, by no launch {not}",
                class.words(),
                with_what_it_names + with_another + not
            )?;
        }
        write!(f, "\nof {} larger numbers than the least ones {} show it", self.larger.0, self.larger.1)?;
        for (class, Faults { told, elsewhere, silent }) in &self.faults {
            write!(
                f,
                "\n{}: faults that the kernels' own launches show {}; told without one {told}, another place of the kernel \
                 told {elsewhere}, nothing of the kind {silent}",
                class.words(),
                told + elsewhere + silent
            )?;
        }
        let mut causes: Vec<_> = self.causes.iter().collect();
        causes.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
        for ((class, cause), (count, samples)) in causes {
            let samples: Vec<&str> = samples.iter().take(4).map(String::as_str).collect();
            write!(f, "\nsilent, {}: {count}: {cause} ({})", class.words(), samples.join(", "))?;
        }
        for wrong in &self.wrong {
            write!(f, "\nWRONG {wrong}")?;
        }
        Ok(())
    }
}
