//! Small Python programs through the front end, the replay and the executor.
#![allow(clippy::unwrap_used, clippy::panic, dead_code)]

use cudalint_program::ir::ModuleId;
use cudalint_program::{Project, ProjectOptions, load_texts};
use cudalint_replay::facts::{Event, EventKind, Extent3, Facts, LaunchFact};
use cudalint_replay::given::Given;
use cudalint_replay::runs::{self, KernelRun};
use cudalint_replay::{ReplayOptions, replay_all};

/// A program with everything that is found out about it.
pub struct Seen {
    pub project: Project,
    pub facts: Vec<Facts>,
    pub runs: Vec<KernelRun>,
}

/// Files of a project.
pub fn files(all: &[(&str, &str)]) -> Seen {
    let project = load_texts(all, &ProjectOptions::default()).unwrap().project;
    let facts = replay_all(&project, &ReplayOptions::default());
    let launches = runs::collect(&project, &facts);
    let runs = project.modules().flat_map(|id| runs::execute(&project, id, &launches[id.index()]).runs).collect();
    Seen { project, facts, runs }
}

/// One file.
pub fn program(text: &str) -> Seen {
    files(&[("a.py", text)])
}

impl Seen {
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.facts.iter().flat_map(|facts| &facts.events)
    }

    pub fn launches(&self) -> Vec<&LaunchFact> {
        self.events()
            .filter_map(|event| match &event.kind {
                EventKind::Launch(fact) => Some(&**fact),
                _ => None,
            })
            .collect()
    }

    /// Each launch as `kernel [grid] [block] (given; …)`.
    pub fn told(&self) -> Vec<String> {
        self.launches()
            .into_iter()
            .map(|fact| {
                let given: Vec<String> = fact.given.iter().map(given).collect();
                format!(
                    "{} [{}] [{}] ({})",
                    fact.kernel_name,
                    extent(&fact.grid),
                    extent(&fact.block),
                    given.join("; ")
                )
            })
            .collect()
    }

    /// What runs saw: `kernel if assumptions: event`.
    pub fn shown(&self) -> Vec<String> {
        use cudalint_replay::runs::report::EventKind as Shown;
        let mut all = Vec::new();
        for run in &self.runs {
            let why = run.assumptions.iter().flat_map(|list| list.iter()).cloned().collect::<Vec<_>>().join("; ");
            for event in &run.report.events {
                let text = |site: runs::report::Site| self.project.text(site.module, site.span);
                let what = match &event.kind {
                    Shown::OutOfBounds { object, access, .. } => {
                        let element = access.offset / i64::from(access.element.max(1));
                        format!("{} leaves {} at {element}", text(access.site), object.name)
                    }
                    Shown::Race { object, .. } => format!("race on {}", object.name),
                    Shown::NegativeIndex { site, index, .. } => format!("{} is at {index}", text(*site)),
                    Shown::DivergentBarrier { .. } => "divergent barrier".to_owned(),
                    Shown::UninitializedRead { object, .. } => format!("nobody wrote {}", object.name),
                    other => format!("{other:?}"),
                };
                all.push(format!("{} if [{why}]: {what}", run.name));
            }
        }
        all
    }

    pub fn module(&self, path: &str) -> ModuleId {
        self.project.modules().find(|id| **self.project.path(*id) == *path).unwrap()
    }
}

fn extent(extent: &Extent3) -> String {
    extent
        .axes
        .iter()
        .map(|axis| match &axis.assumptions {
            Some(list) => format!("{} if {}", axis, list.join("; ")),
            None => axis.to_string(),
        })
        .collect::<Vec<_>>()
        .join(", ")
}

fn given(given: &Given) -> String {
    match given {
        Given::Unknown => "?".to_owned(),
        Given::Int { amount, bytes, .. } => format!("{amount}:{bytes}"),
        Given::Float { value, .. } => format!("{value}f"),
        Given::Null { .. } => "null".to_owned(),
        Given::Pointer { buffer, offset, held } => {
            format!("{}+{} of {}{}", buffer.name, offset, buffer.bytes, if held.is_some() { " held" } else { "" })
        }
        Given::Somewhere => "somewhere".to_owned(),
        Given::Record(_) => "record".to_owned(),
    }
}
