//! Code under a name that nobody defines, in a file that has nothing for a GPU without it. Where that is all that a project has for a GPU,
//! whoever compiles it defines the name. Beside other code for a GPU, and where no text of the project spells the name, it is what is
//! left of another version: nobody's program.

use crate::others::{Other, Others};
use crate::roles::{COMPILED, Role};
use cudalint_findings::{Finding, Place};
use cudalint_program::Project;
use cudalint_program::ir::{LoneBranch, Module, ModuleId};
use cudalint_syntax::Language;

/// Such code of a project.
pub(crate) struct Lone<'p> {
    branches: Vec<(&'p str, &'p LoneBranch)>,
}

impl<'p> Lone<'p> {
    /// That of all files. Without `others` not all of the project is known.
    pub fn of(project: &'p Project, others: Option<&Others<'p>>) -> Self {
        let all = || project.modules().map(|id| (id, &**project.path(id), project.module(id)));
        let mut branches: Vec<(&str, &LoneBranch)> =
            all().flat_map(|(_, path, module)| module.lone.iter().map(move |branch| (path, branch))).collect();
        let Some(texts) = others.filter(|_| !branches.is_empty()).and_then(Others::texts) else {
            return Self { branches: Vec::new() };
        };
        let is_outside = |(id, path, module): (ModuleId, &str, &Module)| {
            let kernels = module.functions.iter().filter(|function| function.space.global && function.body.is_some());
            let inside = |at: u32| module.lone.iter().any(|branch| (branch.span.start..branch.span.end).contains(&at));
            COMPILED.iter().any(|ending| path.ends_with(ending))
                && module.inside.is_none()
                && !project.includes().is_alone(id.index() as u32)
                && kernels.into_iter().any(|kernel| !inside(kernel.span.start))
        };
        if !all().any(is_outside) {
            branches.clear();
        }
        // `-DNAME` is no word.
        let defines = |text: &Other, name: &str| match text.role {
            Role::Quiet => text.text.contains(&format!("define {name}")),
            Role::Build | Role::Script | Role::Document | Role::Foreign => text.text.contains(name),
        };
        let scripts: Vec<&str> = project
            .modules()
            .filter(|id| project.module(*id).language == Language::Python)
            .map(|id| &**project.source(id))
            .collect();
        let is_nobodys = |name: &str| {
            !texts.iter().any(|text| defines(text, name)) && !scripts.iter().any(|text| text.contains(name))
        };
        branches.retain(|(_, branch)| branch.names.iter().any(|name| is_nobodys(name)));
        Self { branches }
    }

    /// What a finding needs to be in the program, in words: a name that nobody defines.
    pub fn needed(&self, finding: &Finding) -> Option<String> {
        if self.branches.is_empty() {
            return None;
        }
        let around = |place: &Place| {
            let mut all = self.branches.iter().filter(|(path, _)| **path == *place.path);
            all.find(|(_, branch)| branch.span.range().contains(&place.range.start))
        };
        let path = finding.witness.iter().flat_map(|witness| &witness.path);
        let mut places = std::iter::once(&finding.place).chain(finding.related.iter().chain(path).map(|it| &it.place));
        let (_, branch) = places.find_map(around)?;
        let names: Vec<String> = branch.names.iter().map(|name| format!("`{name}`")).collect();
        let verb = if names.len() == 1 { "is" } else { "are" };
        Some(format!("{} {verb} defined, which nothing in this project does", names.join(" and ")))
    }
}
