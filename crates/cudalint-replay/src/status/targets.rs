//! Which functions in sight each call may reach.

use super::flow::{CallSite, Callee};
use super::join::Join;
use super::known;
use cudalint_program::Name;
use cudalint_program::ir::{FunctionRole, ModuleId};

/// Functions that one call may reach, at most: what more of them do together says nothing.
const MOST_TARGETS: usize = 256;

/// Classes that one is made from, at most.
const MOST_BASES: usize = 64;

impl Join<'_> {
    /// The functions that a call may reach: of the same module, else of a file that it includes, else of the nearest
    /// folder.
    pub(super) fn targets_of(&self, module: usize, site: &CallSite) -> Vec<u32> {
        let (name, scope, method) = match &site.callee {
            Callee::Api(_) | Callee::Opaque | Callee::Macro(_) => return Vec::new(),
            Callee::Lambda(function) => return self.by_id.get(&(module, function.0)).copied().into_iter().collect(),
            Callee::Named { scope: Some(scope), .. } if *scope == known::STANDARD => return Vec::new(),
            Callee::Named { name, scope } => (name, scope.as_ref(), false),
            Callee::Method { name, .. } => (name, None, true),
            Callee::Constructor(name) => (name, None, false),
        };
        let constructs = matches!(site.callee, Callee::Constructor(_));
        let fits = |index: &&u32| {
            let function = self.function(**index as usize);
            let kind = match function.role {
                FunctionRole::Constructor => constructs,
                // One that is defined apart from its class, which another file has.
                FunctionRole::Free if constructs => function.scope.as_ref() == Some(name),
                _ if constructs => false,
                FunctionRole::Lambda => false,
                FunctionRole::Destructor => !method && scope.is_some(),
                FunctionRole::Method if !method && scope.is_none() => true,
                // A method of a class that is out of sight, defined in the file of the call, is told from no function of a namespace.
                FunctionRole::Free => {
                    let of_class = |scope: &Name| self.classes.contains(scope.as_str());
                    !method
                        || function.scope.as_ref().is_some_and(of_class)
                        || function.scope.is_some() && self.functions[**index as usize].0 == module
                }
                _ => true,
            };
            let in_scope = scope.is_none_or(|scope| function.scope.as_ref().is_none_or(|own| own == scope));
            kind && in_scope
        };
        let mut all: Vec<u32> = self.by_name.get(name.as_str()).into_iter().flatten().filter(fits).copied().collect();
        if let Callee::Method { class: Some(class), .. } = &site.callee {
            // Of its own class; else of one that it inherits from, or that inherits from it.
            let own = |index: &u32| self.function(*index as usize).scope.as_ref() == Some(class);
            let related = |index: &u32| {
                let scope = self.function(*index as usize).scope.as_ref();
                scope.is_some_and(|scope| self.are_related(scope.as_str(), class.as_str()))
            };
            if all.iter().any(own) {
                all.retain(own);
            } else if all.iter().any(related) {
                all.retain(related);
            }
        }
        if all.is_empty() && !method && self.classes.contains(name.as_str()) {
            // `T(x)` is written like a call.
            let made = |index: &&u32| self.function(**index as usize).role == FunctionRole::Constructor;
            all = self.by_name.get(name.as_str()).into_iter().flatten().filter(made).copied().collect();
            return self.nearest(module, name, all);
        }
        if all.is_empty() || constructs {
            return self.nearest(module, name, all);
        }
        let takes = |index: &u32, fewest: bool| {
            let function = self.function(*index as usize);
            (!fewest || site.arguments >= function.required)
                && (site.arguments <= function.parameters || function.variadic)
        };
        let fitting: Vec<u32> = all.iter().copied().filter(|index| takes(index, true)).collect();
        // Defaults may stand at a declaration elsewhere.
        let fitting =
            if fitting.is_empty() { all.into_iter().filter(|index| takes(index, false)).collect() } else { fitting };
        self.nearest(module, name, fitting)
    }

    /// Whether one of two classes is made from the other, by the names of their bases.
    fn are_related(&self, one: &str, other: &str) -> bool {
        let is_made_from = |class: &str, base: &str| {
            let (mut seen, mut next) = (Vec::new(), vec![class]);
            while let Some(name) = next.pop() {
                if seen.len() > MOST_BASES || name == base {
                    return name == base;
                }
                if !seen.contains(&name) {
                    next.extend(self.bases.get(name).into_iter().flatten());
                    seen.push(name);
                }
            }
            false
        };
        is_made_from(one, other) || is_made_from(other, one)
    }

    /// Those of some functions of a name that are nearest to a module; none where they are too many.
    fn nearest(&self, module: usize, name: &Name, mut all: Vec<u32>) -> Vec<u32> {
        let few = |found: Vec<u32>| if found.len() > MOST_TARGETS { Vec::new() } else { found };
        let here: Vec<u32> = all.iter().copied().filter(|i| self.functions[*i as usize].0 == module).collect();
        // One that runs on both sides is meant before any of another file.
        if !here.is_empty() || self.surveys[module].of_both.contains(name) {
            return few(here);
        }
        let graph = self.project.includes();
        let reach = graph.reach(module as u32);
        for set in [&reach.included, &reach.context] {
            let within = |index: &u32| set.has(self.functions[*index as usize].0 as u32);
            let within: Vec<u32> = all.iter().copied().filter(within).collect();
            if !within.is_empty() {
                return few(within);
            }
        }
        all.retain(|index| !graph.is_alone(self.functions[*index as usize].0 as u32));
        if graph.is_alone(module as u32) {
            return Vec::new();
        }
        // Two files that share a header, or stand near each other, may be one program; others are not.
        all.retain(|index| {
            let other = self.functions[*index as usize].0 as u32;
            graph.are_neighbours(module as u32, other)
                || graph.reach(other).included.iter().any(|file| reach.included.has(*file))
        });
        let own = self.project.path(ModuleId(module as u32));
        let near =
            |index: &u32| common_folders(own, self.project.path(ModuleId(self.functions[*index as usize].0 as u32)));
        let nearest = all.iter().map(near).max().unwrap_or(0);
        few(all.into_iter().filter(|index| near(index) == nearest).collect())
    }
}

/// How many leading folders two paths share.
fn common_folders(a: &str, b: &str) -> usize {
    a.split('/').zip(b.split('/')).take_while(|(a, b)| a == b).count()
}
