//! Which places of a name use what is sought: no declarations, no code that never runs, and no other function or class of that name.

use crate::others::words;
use crate::uncalled::{Ask, Sought, Uses, Within};
use cudalint_program::Project;
use cudalint_program::ir::{Function, FunctionRole, ModuleId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Functions that are looked at around the places of one name, at most.
const MAX_STEPS: usize = 300_000;

impl<'p> Uses<'p> {
    /// Whether a name stands nowhere but in what it names itself, and in code that never runs. `sought`: the function of that name.
    #[allow(clippy::too_many_arguments)] // One question, asked of two kinds of names.
    pub(crate) fn is_nowhere(
        &self,
        name: &str,
        own: &dyn Fn(&Function) -> bool,
        sought: Option<Sought<'_>>,
        within: Within,
        home: usize,
        ask: &Ask<'_, 'p>,
        calls: u32,
    ) -> bool {
        let places = self.places.get_or_init(|| self.places()).get(name).map_or(&[][..], Vec::as_slice);
        let counts = |index: usize| !matches!(within, Within::File(own) if own != index);
        // Of a name that very many have it would take too long to say whom each place means.
        let steps = places.iter().filter_map(|(index, _)| Some(self.files.get(*index)?.module.functions.len()));
        if steps.sum::<usize>() > MAX_STEPS {
            return false;
        }
        places.iter().filter(|(index, _)| counts(*index)).all(|(index, at)| {
            let (index, at) = (*index, *at);
            let Some(file) = self.files.get(index) else { return false };
            // What nobody builds uses nothing.
            if file.compiled && index != home && (ask.unlisted)().modules.contains(&ModuleId(index as u32)) {
                return true;
            }
            let is_elsewhere = || {
                matches!(within, Within::Library { home, .. } if home != index) && self.hands_on(within, file.path, ask)
            };
            if file.is_no_code(at) || file.instantiates(at) || file.is_dead_at(at, ask.project, index) {
                return true;
            }
            // A message names no class, and where a method is defined, or a pointer is kept, no object is made.
            if sought.is_none() && (file.is_prose(at) || file.makes_no_object(name, at)) {
                return true;
            }
            if file.declares(name, at) {
                return !is_elsewhere();
            }
            // An overload is another function.
            let differs =
                |it: &Sought<'_>, other: &Function| self.overloads.differs(ModuleId(index as u32), other, it.target);
            let own = |other: &Function| own(other) && !sought.is_some_and(|it| differs(&it, other));
            if let Some(Sought { means, target }) = sought {
                let declared = file.module.functions.iter().filter(|it| it.name_span.start as usize == at);
                let declared: Vec<&Function> = declared.collect();
                // What declares another function of the name is no use of this one.
                let is_another = if declared.is_empty() {
                    !means(file.text, at)
                        || file.is_variable(name, at)
                        || !self.overloads.may_mean(ModuleId(index as u32), at, target)
                } else {
                    !declared.iter().any(|it| own(it))
                };
                if is_another {
                    return true;
                }
            }
            // A file that has a function of this name itself means its own, and belongs to another program.
            if self.means_its_own(index, home, name, ask.project) {
                return true;
            }
            // A lambda is made by the function around it.
            let is_around = |it: &&Function| it.parent.is_none() && it.span.range().contains(&at);
            let mut around = file.module.functions.iter().filter(is_around).peekable();
            around.peek().is_some()
                && around.all(|other| {
                    own(other) && !(other.body.is_none() && is_elsewhere())
                        || other.body.is_some() && self.is_idle(index, other, ask, calls)
                })
        })
    }

    /// Whether a source file with what it includes, without the function's own file, defines all free functions of a name that it tells
    /// of.
    fn means_its_own(&self, index: usize, home: usize, name: &str, project: &Project) -> bool {
        let is_source = |at: usize| self.files.get(at).is_some_and(|file| file.compiled);
        let included = &project.includes().reach(index as u32).included;
        if index == home || !is_source(index) || included.has(home as u32) {
            return false;
        }
        let modules = included.iter().map(|other| *other as usize).chain([index]);
        let functions = modules.filter_map(|at| self.files.get(at)).flat_map(|file| file.module.functions.iter());
        let named: Vec<&Function> = functions.filter(|other| other.name == *name).collect();
        let is_defined = |one: &&Function| {
            let same = |other: &&Function| other.body.is_some() && other.param_count == one.param_count;
            one.role == FunctionRole::Free && named.iter().any(same)
        };
        !named.is_empty() && named.iter().all(is_defined)
    }

    /// Whether a function's name stands in another one.
    pub(crate) fn is_used_somewhere(&self, function: &Function) -> bool {
        let places = self.places.get_or_init(|| self.places()).get(&*function.name).map_or(&[][..], Vec::as_slice);
        places.iter().any(|(index, at)| {
            let functions = self.files.get(*index).map(|file| file.module.functions.iter());
            let holds = |other: &Function| other.body.is_some() && other.span.range().contains(at);
            functions.is_some_and(|mut all| all.any(|other| other.name != function.name && holds(other)))
        })
    }

    /// Where the names of functions and classes stand in all files.
    fn places(&self) -> FxHashMap<&'p str, Vec<(usize, usize)>> {
        let mut names: FxHashSet<&str> = FxHashSet::default();
        for module in self.files.iter().map(|file| file.module) {
            names.extend(module.functions.iter().map(|function| &*function.name));
            names.extend(module.records.iter().map(|record| &*record.name));
        }
        let mut places: FxHashMap<&'p str, Vec<(usize, usize)>> = FxHashMap::default();
        for (index, file) in self.files.iter().enumerate() {
            for (at, word) in words(file.text).filter(|(_, word)| names.contains(word)) {
                places.entry(word).or_default().push((index, at));
            }
        }
        places
    }
}
