//! Launches of the whole project by the kernels that they launch.

use crate::facts::{Event, EventKind, Facts, LaunchFact};
use cudalint_program::Project;
use cudalint_program::ir::FunctionId;

/// What concerns the kernels of one module.
#[derive(Debug, Default)]
pub struct ModuleLaunches<'a> {
    /// Its kernels with a body, in order, each with its launches in the order of their modules and sites.
    pub(super) kernels: Vec<(FunctionId, Vec<Seen<'a>>)>,
    /// Launches in this module whose kernel is not in sight.
    pub(super) unseen: Vec<&'a Event>,
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
            ModuleLaunches { kernels, unseen: Vec::new() }
        })
        .collect();
    for (index, facts) in facts.iter().enumerate() {
        for event in &facts.events {
            let EventKind::Launch(fact) = &event.kind else { continue };
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
    all
}
