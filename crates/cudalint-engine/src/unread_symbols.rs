//! Variables of the device to which the host copies, and which no code for the device names: what arrives there is of no use, right or
//! wrong. Where a project has no more than such copies of a variable, a fault of one of them is nobody's.

use crate::others::{holds, words, words_at};
use cudalint_findings::claim::Difference;
use cudalint_findings::{Fault, Finding, Shows};
use cudalint_program::api::ApiId;
use cudalint_program::api::effects::Effect;
use cudalint_program::ir::{ModuleId, Space, Variable};
use cudalint_program::{Name, Project};
use cudalint_syntax::{Language, Region, Span, comments};

/// What a finding on a copy to a variable of the device needs, in words, where nothing reads that variable. To be asked
/// where all files of the project are known.
pub(crate) fn lands_unread(project: &Project, finding: &Finding) -> Option<String> {
    match finding.claim.shows {
        Shows::Memory { difference: Difference::Extent } => {}
        Shows::UnreadStatus { fault: Fault::Status } => return fails_unread(project, finding),
        _ => return None,
    }
    let declared = finding.related.iter().find_map(|label| {
        let is_it = |id: &ModuleId| **project.path(*id) == *label.place.path;
        let module = project.module(project.modules().find(is_it)?);
        let is_here = |variable: &&Variable| variable.span.range().contains(&label.place.range.start);
        let on_device = |variable: &&Variable| matches!(variable.space, Space::Constant | Space::Device);
        module.globals.iter().filter(on_device).find(is_here)
    })?;
    is_unread(project, &declared.name).then(|| needs(&declared.name))
}

/// The same of a finding on calls whose status is lost, where each of them is such a copy.
fn fails_unread(project: &Project, finding: &Finding) -> Option<String> {
    let mut name = None;
    for place in finding.claim.sites.iter().chain([&finding.place]) {
        let id = project.modules().find(|id| **project.path(*id) == *place.path)?;
        let call = project.source(id).get(place.range.clone())?;
        let (api, args) = call.split_once('(')?;
        if !is_copy_to_symbol(api.trim_end()) {
            return None;
        }
        let (_, variable) = words(args).next()?;
        let is_it = |declared: &Variable| {
            declared.name == *variable && matches!(declared.space, Space::Constant | Space::Device)
        };
        let is_declared = project.modules().any(|id| project.module(id).globals.iter().any(is_it));
        let declared = Name::from(variable);
        if !is_declared || !is_unread(project, &declared) {
            return None;
        }
        name = Some(declared);
    }
    name.as_ref().map(needs)
}

fn needs(name: &Name) -> String {
    format!("code for the device reads `{name}`, which none in this project names")
}

fn is_unread(project: &Project, name: &Name) -> bool {
    project.modules().all(|id| !reads(project, id, name))
}

fn is_copy_to_symbol(name: &str) -> bool {
    ApiId::named(name).is_some_and(|api| {
        let mut effects = api.effects.iter();
        effects.any(|effect| matches!(effect, Effect::CopiesSymbol { to_symbol: true, .. }))
    })
}

/// Whether code of a module does more with a variable than to declare it and to copy to it.
fn reads(project: &Project, id: ModuleId, name: &Name) -> bool {
    let text = &**project.source(id);
    let module = project.module(id);
    let mut places = words_at(text, name).peekable();
    if places.peek().is_none() {
        return false;
    }
    if module.language != Language::Cuda || module.inside.is_some() {
        return true;
    }
    let comments = comments(text, &Region { language: module.language, span: Span::new(0, text.len()) });
    let is_declared = |at: usize| {
        let of_name = |variable: &&Variable| variable.name == *name;
        module.globals.iter().filter(of_name).any(|variable| variable.span.range().contains(&at))
    };
    let is_written = |at: usize| {
        let before = text.get(..at).unwrap_or("").trim_end_matches([' ', '&']);
        let call = before.strip_suffix('(').map_or("", str::trim_end);
        let from = call.rfind(|letter: char| !letter.is_alphanumeric() && letter != '_').map_or(0, |at| at + 1);
        is_copy_to_symbol(&call[from..])
    };
    places.any(|at| !holds(&comments, at) && !is_declared(at) && !is_written(at))
}
