//! Launches of the whole project by the kernels that they launch.

use super::extents::Block;
use super::written;
use crate::facts::{Event, EventKind, Facts, KernelWrite, LaunchFact, Site};
use crate::given::Given;
use cudalint_kernel::python::Specialization;
use cudalint_program::Project;
use cudalint_program::ir::FunctionId;
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// What concerns the kernels of one module.
#[derive(Debug, Default)]
pub struct ModuleLaunches<'a> {
    /// Its kernels with a body, in order, each with its launches in the order of their modules and sites, those last that are perhaps not reached or say nothing of arguments.
    pub(super) kernels: Vec<(FunctionId, Vec<Seen<'a>>)>,
    /// Launches in this module whose kernel is not in sight.
    pub(super) unseen: Vec<&'a Event>,
    /// Kernels in Python with the types that they are made for, where no launch says so.
    pub(super) python: Vec<(FunctionId, Arc<Specialization>)>,
    /// What is written of the blocks of kernels that no launch was met of.
    pub(super) written: Vec<(FunctionId, Block)>,
    /// Launches whose memory is copied to the host, by their places: of these is asked what they leave unwritten.
    pub(super) read_back: FxHashSet<Site>,
}

/// A launch that was met.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen<'a> {
    pub event: &'a Event,
    pub fact: &'a LaunchFact,
}

/// Sorts the launches of all modules by the module of their kernels; one entry for each module.
pub fn collect<'a>(project: &Project, facts: &'a [Facts]) -> Vec<ModuleLaunches<'a>> {
    let mut all: Vec<ModuleLaunches<'a>> = project
        .modules()
        .map(|id| {
            let functions = project.module(id).functions.iter().enumerate();
            let kernels = functions
                .filter(|(_, function)| function.space.global && function.body.is_some())
                .map(|(index, _)| (FunctionId(index as u32), Vec::new()))
                .collect();
            let python = facts.get(id.index()).map(|facts| facts.python_kernels.clone()).unwrap_or_default();
            ModuleLaunches { kernels, python, ..ModuleLaunches::default() }
        })
        .collect();
    // A function of Python is a kernel once something has made one of it.
    for fact in facts.iter().flat_map(|facts| &facts.events).filter_map(launch_of) {
        if let (Some((module, kernel)), true) = (fact.kernel, fact.python.is_some())
            && let Some(home) = all.get_mut(module.index())
            && let Err(at) = home.kernels.binary_search_by_key(&kernel, |(id, _)| *id)
        {
            home.kernels.insert(at, (kernel, Vec::new()));
        }
    }
    for (index, facts) in facts.iter().enumerate() {
        for event in &facts.events {
            let Some(fact) = launch_of(event) else { continue };
            let home = fact.kernel.and_then(|(module, kernel)| {
                all.get_mut(module.index())?.kernels.iter_mut().find(|(id, _)| *id == kernel)
            });
            match home {
                Some((_, launches)) => launches.push(Seen { event, fact }),
                None => {
                    if let Some(own) = all.get_mut(index) {
                        own.unseen.push(event);
                    }
                }
            }
        }
    }
    for event in facts.iter().flat_map(|facts| &facts.events) {
        for write in writes_asked_for(event) {
            if let Some(home) = all.get_mut(write.kernel.0.index()) {
                home.read_back.insert(write.site);
            }
        }
    }
    // What is surely come by says more, and so does one of whose arguments something is known.
    let tells_nothing = |fact: &LaunchFact| fact.given.iter().all(|given| matches!(given, Given::Unknown));
    for (_, launches) in all.iter_mut().flat_map(|home| &mut home.kernels) {
        launches.sort_by_key(|seen| (seen.event.perhaps_not_reached, tells_nothing(seen.fact)));
    }
    let unmet = project.modules().zip(&all).flat_map(|(id, home)| {
        let kernels = home.kernels.iter().filter(|(_, seen)| seen.is_empty());
        kernels.map(move |(kernel, _)| (id, *kernel))
    });
    for ((module, kernel), block) in written::blocks(project, &unmet.collect()) {
        if let Some(home) = all.get_mut(module.index()) {
            home.written.push((kernel, block));
        }
    }
    all
}

/// The launches of which an event asks what they have left unwritten: those before a copy to the host, or before another launch.
fn writes_asked_for(event: &Event) -> Vec<&KernelWrite> {
    match &event.kind {
        EventKind::ReadBack(fact) => fact.kernels.iter().collect(),
        EventKind::Launch(fact) => fact.given.iter().flat_map(|given| given.written_by().unwrap_or_default()).collect(),
        _ => Vec::new(),
    }
}

fn launch_of(event: &Event) -> Option<&LaunchFact> {
    match &event.kind {
        EventKind::Launch(fact) => Some(fact),
        _ => None,
    }
}
