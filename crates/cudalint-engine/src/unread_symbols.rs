//! Variables of the device to which the host copies, and which no code for the device names: what arrives there is of no use, right or
//! wrong. Where a project has no more than such copies of a variable, a fault of one of them is nobody's.

use crate::others::{holds, words_at};
use cudalint_findings::claim::Difference;
use cudalint_findings::{Finding, Shows};
use cudalint_program::api::ApiId;
use cudalint_program::api::effects::Effect;
use cudalint_program::ir::{ModuleId, Space, Variable};
use cudalint_program::{Name, Project};
use cudalint_syntax::{Language, Region, Span, comments};

/// What a finding on a copy to a variable of the device needs, in words, where nothing reads that variable. To be asked
/// where all files of the project are known.
pub(crate) fn lands_unread(project: &Project, finding: &Finding) -> Option<String> {
    if !matches!(finding.claim.shows, Shows::Memory { difference: Difference::Extent }) {
        return None;
    }
    let declared = finding.related.iter().find_map(|label| {
        let is_it = |id: &ModuleId| **project.path(*id) == *label.place.path;
        let module = project.module(project.modules().find(is_it)?);
        let is_here = |variable: &&Variable| variable.span.range().contains(&label.place.range.start);
        let on_device = |variable: &&Variable| matches!(variable.space, Space::Constant | Space::Device);
        module.globals.iter().filter(on_device).find(is_here)
    })?;
    let name = &declared.name;
    let unread = project.modules().all(|id| !reads(project, id, name));
    unread.then(|| format!("code for the device reads `{name}`, which none in this project names"))
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
        ApiId::named(&call[from..]).is_some_and(|api| {
            let effects = api.effects.iter();
            effects.into_iter().any(|effect| matches!(effect, Effect::CopiesSymbol { to_symbol: true, .. }))
        })
    };
    places.any(|at| !holds(&comments, at) && !is_declared(at) && !is_written(at))
}
