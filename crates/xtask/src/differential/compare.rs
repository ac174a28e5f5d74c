//! Findings against records, kernel by kernel and line by line.

use super::run::{Observed, Program, Tool};
use cudalint_findings::Confidence;
use cudalint_verify::tools::sanitizer::{Access, Category, Record};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;

/// A finding in a generated program.
pub struct Claim {
    /// The program.
    pub path: PathBuf,
    /// The rule.
    pub rule: &'static str,
    /// How sure it is; a possible one counts for nothing but the explanation of what is missed.
    pub confidence: Confidence,
    /// Its line, from 1.
    pub line: usize,
    /// Lines of its other places.
    pub related: Vec<usize>,
    /// Whether one of its accesses is atomic.
    pub atomic: bool,
    /// Its sentence.
    pub message: String,
}

/// What a tool can say about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Bounds,
    SharedRace,
    Barrier,
}

impl Class {
    const ALL: [Self; 3] = [Self::Bounds, Self::SharedRace, Self::Barrier];

    const fn words(self) -> &'static str {
        match self {
            Self::Bounds => "out of bounds",
            Self::SharedRace => "shared race",
            Self::Barrier => "divergent barrier",
        }
    }

    const fn tool(self) -> Tool {
        match self {
            Self::Bounds => Tool::Memcheck,
            Self::SharedRace => Tool::Racecheck,
            Self::Barrier => Tool::Synccheck,
        }
    }

    /// Of a rule; none where no tool sees what it speaks of.
    fn of(rule: &str) -> Option<Self> {
        match rule {
            "missing-bounds-guard" | "guard-does-not-cover-access" | "shared-index-out-of-range" | "index-overflow" => {
                Some(Self::Bounds)
            }
            "shared-memory-race" | "shared-memory-race-across-iterations" | "implicit-warp-sync" => {
                Some(Self::SharedRace)
            }
            "barrier-in-divergent-branch" => Some(Self::Barrier),
            _ => None,
        }
    }

    /// Whether a finding of the rule is about a defect of this class, whatever else it may be about.
    fn is_told_by(self, rule: &str) -> bool {
        Self::of(rule) == Some(self)
            || (self == Self::SharedRace && rule == "non-atomic-read-modify-write")
            || (self == Self::Bounds && rule == "dynamic-shared-size-too-small")
    }

    /// Lines of a record of this class.
    fn lines(self, record: &Record) -> Vec<usize> {
        let own = || record.device.iter().filter_map(|frame| frame.line).map(|line| line as usize).collect();
        match (&record.category, self) {
            (Category::InvalidAccess { .. }, Self::Bounds) => own(),
            (Category::Race { accesses }, Self::SharedRace) => {
                accesses.iter().filter_map(|(access, _)| access.frame.line).map(|line| line as usize).collect()
            }
            (Category::Barrier { .. }, Self::Barrier) => own(),
            _ => Vec::new(),
        }
    }
}

/// Whether memcheck reports an access of the kernel of this name and these lines.
pub fn is_faulty(memory: &Observed, name: &str, (first, last): (usize, usize)) -> bool {
    let lines = memory.records.iter().flat_map(|record| Class::Bounds.lines(record));
    lines.into_iter().any(|line| (first..=last).contains(&line)) || has_atomic_fault(memory, name)
}

/// Whether memcheck reports an atomic operation of the kernel: without optimization it stands in a function of the
/// compiler's own, which has no lines, so that only the launch tells whose it is.
fn has_atomic_fault(memory: &Observed, name: &str) -> bool {
    memory.records.iter().any(|record| {
        matches!(record.category, Category::InvalidAccess { access: Access::Atomic, .. })
            && record.device.iter().all(|frame| frame.line.is_none())
            && record.host.iter().any(|frame| frame.function.split('(').next() == Some(name))
    })
}

#[derive(Default)]
struct Counts {
    confirmed: usize,
    absent: usize,
    undecided: usize,
    /// The tool keeps no such record.
    beyond: usize,
}

/// The comparison so far.
#[derive(Default)]
pub struct Tally {
    /// By class and whether definite.
    claims: BTreeMap<(Class, bool), Counts>,
    /// Kernels with records of the class of which only a possible finding speaks.
    weak: BTreeMap<Class, usize>,
    /// Lines of records that some finding of the class is about, and lines that none is.
    found: BTreeMap<Class, usize>,
    missed: BTreeMap<Class, usize>,
    /// The same by kernel: kernels with records of the class, and those of them without any finding of the class.
    kernels: BTreeMap<Class, (usize, usize)>,
    /// Definite findings that were not there.
    wrong: Vec<String>,
    /// Samples of what was missed.
    samples: Vec<String>,
}

/// One sentence on how many findings of each rule there are.
pub fn summary(claims: &[Claim]) -> String {
    let mut rules: BTreeMap<(&str, bool), usize> = BTreeMap::new();
    for claim in claims.iter().filter(|claim| claim.confidence != Confidence::Possible) {
        *rules.entry((claim.rule, claim.confidence == Confidence::Definite)).or_default() += 1;
    }
    let word = |definite| if definite { "definite" } else { "likely" };
    rules
        .iter()
        .map(|((rule, definite), count)| format!("{rule} {count} {}", word(*definite)))
        .collect::<Vec<_>>()
        .join(", ")
}

impl Tally {
    /// Definite findings that the GPU did not show.
    pub fn absent(&self) -> usize {
        self.claims.iter().filter(|((_, definite), _)| *definite).map(|(_, counts)| counts.absent).sum()
    }

    /// How many findings there were and were not, and which were not.
    pub fn short(&self) -> String {
        let sum = |of: fn(&Counts) -> usize| self.claims.values().map(of).sum::<usize>();
        let wrong = self.wrong.iter().fold(String::new(), |all, wrong| format!("{all}\nWRONG {wrong}\n"));
        let (confirmed, absent) = (sum(|counts| counts.confirmed), sum(|counts| counts.absent));
        let open = sum(|counts| counts.undecided + counts.beyond);
        format!("the GPU shows {confirmed}, not {absent}, leaves open {open}{wrong}")
    }

    /// Adds what was compared elsewhere.
    pub fn add(&mut self, other: Self) {
        for (key, counts) in other.claims {
            let own = self.claims.entry(key).or_default();
            own.confirmed += counts.confirmed;
            own.absent += counts.absent;
            own.undecided += counts.undecided;
            own.beyond += counts.beyond;
        }
        for (own, others) in
            [(&mut self.weak, other.weak), (&mut self.found, other.found), (&mut self.missed, other.missed)]
        {
            for (class, count) in others {
                *own.entry(class).or_default() += count;
            }
        }
        for (class, (kernels, silent)) in other.kernels {
            let own = self.kernels.entry(class).or_default();
            own.0 += kernels;
            own.1 += silent;
        }
        self.wrong.extend(other.wrong);
        self.samples.extend(other.samples);
    }

    /// Adds a program: what is told of it, and what was seen.
    pub fn program(&mut self, program: &Program, claims: &[Claim], observed: &[(Tool, Observed)]) {
        let own: Vec<&Claim> = claims.iter().filter(|claim| claim.path == program.path).collect();
        for (number, (name, first, last)) in program.kernels.iter().enumerate() {
            self.kernel(name, (*first, *last), number, &own, observed);
        }
    }

    /// Adds a kernel: its first and last line, its number in its program, the program's findings and what was seen.
    fn kernel(
        &mut self,
        name: &str,
        (first, last): (usize, usize),
        number: usize,
        claims: &[&Claim],
        observed: &[(Tool, Observed)],
    ) {
        let inside = |line: &usize| (first..=last).contains(line);
        for class in Class::ALL {
            let Some((_, seen)) = observed.iter().find(|(tool, _)| *tool == class.tool()) else { continue };
            let records: Vec<BTreeSet<usize>> = seen
                .records
                .iter()
                .map(|record| class.lines(record).into_iter().filter(inside).collect())
                .filter(|lines: &BTreeSet<usize>| !lines.is_empty())
                .collect();
            let own: Vec<&&Claim> =
                claims.iter().filter(|claim| Class::of(claim.rule) == Some(class) && inside(&claim.line)).collect();
            // An access out of bounds ends the kernel: what would come behind it is not reached.
            let cut_short = seen.lost.contains(&number)
                || seen.hung.contains(&number)
                || observed.iter().any(|(tool, seen)| *tool == Tool::Memcheck && is_faulty(seen, name, (first, last)));
            for claim in own.iter().filter(|claim| claim.confidence != Confidence::Possible) {
                let definite = claim.confidence == Confidence::Definite;
                let counts = self.claims.entry((class, definite)).or_default();
                let shown = records.iter().any(|lines| lines.contains(&claim.line))
                    || (class == Class::Bounds && claim.atomic && has_atomic_fault(seen, name));
                if shown {
                    counts.confirmed += 1;
                } else if cut_short {
                    counts.undecided += 1;
                } else if class == Class::SharedRace && claim.atomic {
                    // racecheck has nothing to say of an atomic operation beside a plain access.
                    counts.beyond += 1;
                } else {
                    counts.absent += 1;
                    if definite {
                        let path = claim.path.display();
                        self.wrong.push(format!("{path}:{}: {} in {name}: {}", claim.line, claim.rule, claim.message));
                    }
                }
            }
            let (weak, telling): (Vec<&&Claim>, Vec<&&Claim>) = claims
                .iter()
                .filter(|claim| class.is_told_by(claim.rule) && inside(&claim.line))
                .partition(|claim| claim.confidence == Confidence::Possible);
            let reported: BTreeSet<usize> =
                telling.iter().flat_map(|claim| claim.related.iter().copied().chain([claim.line])).collect();
            let lines: BTreeSet<usize> = records.iter().flatten().copied().collect();
            *self.found.entry(class).or_default() += lines.intersection(&reported).count();
            let missed: Vec<&usize> = lines.difference(&reported).collect();
            *self.missed.entry(class).or_default() += missed.len();
            if !lines.is_empty() {
                let (kernels, silent) = self.kernels.entry(class).or_default();
                *kernels += 1;
                *silent += usize::from(telling.is_empty());
                *self.weak.entry(class).or_default() += usize::from(telling.is_empty() && !weak.is_empty());
            }
            if let Some(line) = missed.first().filter(|_| telling.is_empty() && weak.is_empty()) {
                self.samples.push(format!("{}: {name}, line {line}", class.words()));
            }
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for ((class, definite), counts) in &self.claims {
            let Counts { confirmed, absent, undecided, beyond } = counts;
            let word = if *definite { "definite" } else { "likely" };
            writeln!(
                f,
                "{}, {word}: {confirmed} shown by the GPU, {absent} not, {undecided} where the run ended early, \
                 {beyond} of a kind that the tool does not report",
                class.words()
            )?;
        }
        for class in Class::ALL {
            let (kernels, silent) = self.kernels.get(&class).copied().unwrap_or_default();
            let found = self.found.get(&class).copied().unwrap_or_default();
            let missed = self.missed.get(&class).copied().unwrap_or_default();
            let weak = self.weak.get(&class).copied().unwrap_or_default();
            writeln!(
                f,
                "{}: the GPU shows it in {kernels} kernels, of which {silent} have no finding ({weak} of these a possible \
                 one); {found} lines reported, {missed} not",
                class.words()
            )?;
        }
        for line in &self.wrong {
            writeln!(f, "WRONG {line}")?;
        }
        for line in self.samples.iter().take(60) {
            writeln!(f, "missed {line}")?;
        }
        Ok(())
    }
}
