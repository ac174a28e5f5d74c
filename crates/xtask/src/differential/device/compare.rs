//! Findings in random kernels against what their threads did.

use super::kernels::{ARRAYS, Extents, Program};
use super::log::{Log, Use};
use crate::differential::total::Total;
use cudalint_findings::claim::{Access, AccessFault};
use cudalint_findings::{Confidence, Place, Report, Shows};
use std::collections::{HashMap, HashSet};
use std::fmt;

/// The comparison so far.
#[derive(Default)]
pub struct Tally {
    /// Accesses that findings speak of, and which a thread made.
    agreed: usize,
    /// Arrays that are too short for some thread, and those of them that a finding speaks of.
    short: usize,
    told: usize,
    /// Kernels with features, by name of the feature, in which nothing was told of a short `out`.
    silent: HashMap<&'static str, usize>,
    /// Findings that say what no thread did.
    pub wrong: Vec<String>,
}

impl Total for Tally {
    fn add(&mut self, other: Self) {
        self.agreed += other.agreed;
        self.short += other.short;
        self.told += other.told;
        self.wrong.extend(other.wrong);
        for (feature, count) in other.silent {
            *self.silent.entry(feature).or_default() += count;
        }
    }

    fn wrong(&self) -> usize {
        self.wrong.len()
    }
}

impl Tally {
    /// Adds what was found in one file of the program.
    pub fn compare(&mut self, path: &str, program: &Program, extents: &Extents, log: &Log, report: &Report) {
        let mut told: HashSet<(String, String)> = HashSet::new();
        for finding in report.findings.iter().filter(|finding| finding.confidence != Confidence::Possible) {
            let Some(kernel) = finding.claim.kernel.as_deref() else { continue };
            let Some(array) = finding.claim.object().map(|object| object.name.clone()) else { continue };
            let Some(name) = ARRAYS.into_iter().find(|name| *name == array) else { continue };
            let line = report.sources.start(&finding.place).line;
            let bounds = matches!(
                finding.claim.shows,
                Shows::Access { fault: AccessFault::OutOfBounds | AccessFault::NegativeIndex, .. }
            );
            if bounds && extents.exact {
                self.wrong.push(format!("{path}:{line}: no thread leaves `{array}`: {}", finding.message));
                continue;
            }
            told.extend(bounds.then(|| (kernel.to_owned(), array.clone())));
            for access in finding.claim.accesses() {
                if is_made(kernel, name, extents.of(kernel, name), access, log) {
                    self.agreed += 1;
                } else {
                    let Access { index, extent, .. } = access;
                    let (block, thread) = (access.block[0], access.thread[0]);
                    let what = format!("element {index} of {extent} by thread {thread} of block {block}");
                    self.wrong.push(format!("{path}:{line}: `{array}`: nobody asks for {what}: {}", finding.message));
                }
            }
        }
        for kernel in program.kernels.iter().filter(|_| !extents.exact) {
            for array in ARRAYS {
                let key = (kernel.name.clone(), array.to_owned());
                let asked = log.highest.get(&key).is_some_and(|highest| *highest >= extents.of(&kernel.name, array));
                let is_told = told.contains(&key);
                self.short += usize::from(asked);
                self.told += usize::from(asked && is_told);
                if asked && !is_told && array == ARRAYS[0] {
                    for feature in &kernel.features {
                        *self.silent.entry(feature).or_default() += 1;
                    }
                }
            }
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { agreed, short, told, wrong, .. } = self;
        write!(f, "{agreed} accesses told of are what ran, {} wrong; ", wrong.len())?;
        write!(f, "of {short} arrays that are too short {told} are told of")?;
        let mut silent: Vec<_> = self.silent.iter().collect();
        silent.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), **name));
        let silent: Vec<String> = silent.iter().take(12).map(|(name, count)| format!("{name} {count}")).collect();
        if silent.is_empty() { Ok(()) } else { write!(f, "; features of silent kernels: {}", silent.join(", ")) }
    }
}

/// Whether a thread made this access, to an array of this many elements.
fn is_made(kernel: &str, array: &str, extent: i64, access: &Access<Place>, log: &Log) -> bool {
    let Access { index, block, thread, .. } = access;
    let (kernel, array) = (kernel.to_owned(), array.to_owned());
    access.extent == extent
        && log.uses.contains(&Use { kernel, array, block: block[0], thread: thread[0], index: *index })
}

#[cfg(test)]
mod tests {
    use super::*;
    use cudalint_findings::AccessKind;

    #[test]
    fn an_access_that_no_thread_made_is_seen() {
        let log = Log::read("k0 out 1 3 17\nnot a line of the log\nk0 hashed 0 0 5\n");
        let site = Place { path: "a.cu".into(), range: 0..1 };
        let made = |index, extent, thread| {
            let (block, thread) = ([1, 0, 0], [thread, 0, 0]);
            is_made(
                "k0",
                "out",
                16,
                &Access { kind: AccessKind::Write, index, extent, block, thread, site: site.clone(), function: None },
                &log,
            )
        };
        assert!(made(17, 16, 3));
        assert!(!made(18, 16, 3), "another element");
        assert!(!made(17, 20, 3), "another size");
        assert!(!made(17, 16, 4), "another thread");
    }
}
