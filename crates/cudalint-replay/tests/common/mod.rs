//! Small programs through the front end and the replay.
#![allow(clippy::unwrap_used, clippy::panic, dead_code)]

use cudalint_program::ir::ModuleId;
use cudalint_program::{Project, ProjectOptions, load_texts};
use cudalint_replay::facts::{Event, EventKind, LaunchFact, Pointer};
use cudalint_replay::runs::{Counts, KernelRun, collect, execute};
use cudalint_replay::{ReplayOptions, replay_all};

/// A project of these files.
pub fn project(files: &[(&str, &str)]) -> Project {
    load_texts(files, &ProjectOptions::default()).unwrap().project
}

/// The events of one file.
pub fn events(text: &str) -> Vec<Event> {
    let project = project(&[("a.cu", text)]);
    replay_all(&project, &ReplayOptions::default()).remove(0).events
}

/// The byte counts of all copies, as text with their assumptions.
pub fn copies(events: &[Event]) -> Vec<String> {
    events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::Copy { bytes, .. } => Some(amount(bytes)),
            _ => None,
        })
        .collect()
}

/// An amount with what it rests on.
pub fn amount(amount: &cudalint_replay::facts::Amount) -> String {
    match &amount.assumptions {
        Some(list) => format!("{} if {}", amount, list.join("; ")),
        None => amount.to_string(),
    }
}

/// The sizes of all device allocations, as text.
pub fn allocations(events: &[Event]) -> Vec<String> {
    events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::Allocate { buffer, .. } => Some(amount(&buffer.bytes)),
            _ => None,
        })
        .collect()
}

/// A pointer in short.
pub fn pointer(pointer: &Pointer) -> String {
    match pointer {
        Pointer::Into { buffer, offset } => {
            format!("{:?} {} {}+{}", buffer.space, buffer.name, amount(&buffer.bytes), offset)
        }
        Pointer::Null => "null".into(),
        Pointer::Uninitialized { name, .. } => format!("unset {name}"),
        Pointer::Somewhere { space, .. } => format!("somewhere {space:?}"),
        Pointer::Unknown => "?".into(),
    }
}

/// Source and destination of the copies.
pub fn sides(events: &[Event]) -> Vec<(String, String)> {
    events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::Copy { destination, source, .. } => {
                Some((pointer(&destination.pointer), pointer(&source.pointer)))
            }
            _ => None,
        })
        .collect()
}

/// The launches.
pub fn launches(events: &[Event]) -> Vec<&LaunchFact> {
    events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::Launch(launch) => Some(&**launch),
            _ => None,
        })
        .collect()
}

/// Grid, block and shared bytes of a launch in short.
pub fn config(launch: &LaunchFact) -> String {
    let axes = |extent: &cudalint_replay::facts::Extent3| extent.axes.each_ref().map(amount).join(",");
    format!("<<<{} | {} | {}>>>", axes(&launch.grid), axes(&launch.block), amount(&launch.shared))
}

/// Accesses of the host to device memory.
pub fn host_accesses(events: &[Event]) -> usize {
    events.iter().filter(|event| matches!(event.kind, EventKind::HostAccess { .. })).count()
}

/// The executions of all kernels of one file.
pub fn runs_and_counts(text: &str) -> (Vec<KernelRun>, Counts) {
    let project = project(&[("a.cu", text)]);
    let facts = replay_all(&project, &ReplayOptions::default());
    let launches = collect(&project, &facts);
    let done = execute(&project, ModuleId(0), &launches[0]);
    (done.runs, done.counts)
}

/// The executions alone.
pub fn runs(text: &str) -> Vec<KernelRun> {
    runs_and_counts(text).0
}

/// What a run rests on, as text.
pub fn rests_on(run: &KernelRun) -> String {
    run.assumptions.as_ref().map(|list| list.join("; ")).unwrap_or_default()
}
