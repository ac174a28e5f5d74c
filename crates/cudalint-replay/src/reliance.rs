//! What the walk of a module goes by: which other modules, and what of the rest of the project.
//!
//! Names lead from one module to another, and only to modules that it sees. So what is found in a module hangs on the modules that it
//! asks for a name of its own, on those that these ask, and so on; and of all others on a few answers alone: whether they have a function,
//! a macro or a variable of a name, and what functions of a name have to do with the GPU. Where all that is as it was before, the walk
//! goes as before. More than is true may be told here, never less.

use crate::host::{ProjectScan, ReplayOptions};
use blake3::{Hash, Hasher};
use cudalint_program::ir::{Module, ModuleId, Space};
use cudalint_program::{Name, Project};
use cudalint_syntax::Language;
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Write as _;

/// What the modules of a project go by, as hashes; none where that is not known.
#[derive(Debug, Default)]
pub struct Reliance(Vec<Option<Hash>>);

/// Steps from module to module that are taken for a whole project, at most.
const MOST_STEPS: usize = 30_000_000;

/// The name that overloaded operators go by here: nobody spells their functions.
const OPERATOR: &str = "operator";

impl Reliance {
    /// Of a project whose modules are kept; else nothing.
    pub fn new(project: &Project, scan: &ProjectScan, options: &ReplayOptions) -> Self {
        let names: Option<Vec<&[Name]>> =
            project.modules().map(|id| project.made_of(id).map(|(_, names)| names)).collect();
        let Some(names) = names else { return Self::default() };
        let around = around(project, scan, *options);
        let asked = Asked::new(project, &names);
        let edges: Vec<Vec<u32>> = project.modules().map(|id| asked.by(id)).collect();
        let mut answers = Answers { project, scan, known: FxHashMap::default() };
        let own: Vec<Hash> = project.modules().zip(&names).map(|(id, names)| answers.of_module(id, names)).collect();
        let mut left = MOST_STEPS;
        let of = |id: ModuleId| {
            let module = project.module(id);
            if module.language != Language::Cuda || project.includes().reach(id.0).crowded {
                return None;
            }
            let all = closure(id.0, &edges, &mut left)?;
            let mut hasher = Hasher::new();
            hasher.update(around.as_bytes());
            for other in all {
                // Of a header with too many includers nobody says who sees it.
                if project.includes().reach(other).crowded {
                    return None;
                }
                hasher.update(&other.to_le_bytes());
                hasher.update(own.get(other as usize)?.as_bytes());
            }
            Some(hasher.finalize())
        };
        Self(project.modules().map(of).collect())
    }

    /// What a module goes by.
    pub(crate) fn of(&self, id: ModuleId) -> Option<Hash> {
        self.0.get(id.index()).copied().flatten()
    }
}

/// What all modules go by: where files stand, what they include, and how they are built.
fn around(project: &Project, scan: &ProjectScan, options: ReplayOptions) -> Hash {
    let mut text = String::new();
    let graph = project.includes();
    for id in project.modules() {
        let includes = &project.module(id).includes;
        let _ = write!(text, "{}\n{} ", project.path(id), graph.is_alone(id.0));
        for include in includes {
            let _ = write!(text, "{} {},", include.target, include.system);
        }
        let _ = writeln!(text, "{:?} {:?}", graph.targets(id.0), graph.lost(id.0));
    }
    let _ = write!(text, "{:?} {options:?} {:?}", project.built(), scan.asks(project));
    blake3::hash(text.as_bytes())
}

/// All that a file leads to, itself among them, in order; `None` where that takes too many steps.
fn closure(from: u32, edges: &[Vec<u32>], left: &mut usize) -> Option<Vec<u32>> {
    let mut seen = vec![false; edges.len()];
    let mut all = vec![from];
    *seen.get_mut(from as usize)? = true;
    let mut next = 0;
    while let Some(file) = all.get(next) {
        next += 1;
        for other in edges.get(*file as usize)? {
            *left = left.checked_sub(1)?;
            let seen = seen.get_mut(*other as usize)?;
            if !std::mem::replace(seen, true) {
                all.push(*other);
            }
        }
    }
    all.sort_unstable();
    Some(all)
}

/// Who asks whom.
struct Asked<'p> {
    project: &'p Project,
    names: &'p [&'p [Name]],
    /// By name, the modules that declare it, or members of a class of that name; in order.
    declared: FxHashMap<&'p str, Vec<u32>>,
    /// Names of functions that some module declares without a body.
    open: FxHashSet<&'p str>,
    /// Names of variables that some module declares as `extern`: the one definition of the project is meant, wherever it stands.
    elsewhere: FxHashSet<&'p str>,
}

impl<'p> Asked<'p> {
    fn new(project: &'p Project, names: &'p [&'p [Name]]) -> Self {
        let mut declared: FxHashMap<&str, Vec<u32>> = FxHashMap::default();
        let (mut open, mut elsewhere) = (FxHashSet::default(), FxHashSet::default());
        for id in project.modules() {
            let mut add = |name: &'p str| {
                let modules = declared.entry(name).or_default();
                if modules.last() != Some(&id.0) {
                    modules.push(id.0);
                }
            };
            let module = project.module(id);
            for function in &module.functions {
                if function.body.is_none() {
                    open.insert(function.name.as_str());
                }
                add(if function.name.starts_with(OPERATOR) { OPERATOR } else { &function.name });
                // A member may be asked for by whoever knows its class.
                if let Some(class) = function.scope.last().filter(|class| project.has_record(class)) {
                    add(class);
                }
            }
            declarations(module, &mut add);
            let outside = module.globals.iter().filter(|global| global.space == Space::Extern);
            elsewhere.extend(outside.map(|global| global.name.as_str()));
        }
        Self { project, names, declared, open, elsewhere }
    }

    /// The modules that a module may ask for one of its names, in order.
    fn by(&self, id: ModuleId) -> Vec<u32> {
        let graph = self.project.includes();
        if graph.is_alone(id.0) {
            return Vec::new();
        }
        let reach = graph.reach(id.0);
        let sees = |other: u32| {
            reach.included.has(other) || reach.context.has(other) || reach.missing && graph.are_neighbours(id.0, other)
        };
        let mut found = FxHashSet::default();
        let operator = Name::from(OPERATOR);
        let own = self.names.get(id.index()).copied().unwrap_or_default();
        for name in own.iter().chain([&operator]) {
            let Some(modules) = self.declared.get(name.as_str()) else { continue };
            let fewer = reach.included.len() + reach.context.len();
            if !reach.missing && fewer < modules.len() {
                let seen = reach.included.iter().chain(reach.context.iter());
                found.extend(seen.copied().filter(|other| modules.binary_search(other).is_ok()));
            } else {
                found.extend(modules.iter().copied().filter(|other| sees(*other)));
            }
            // What is declared in sight may be defined near by.
            if self.open.contains(name.as_str()) {
                found.extend(modules.iter().copied().filter(|other| graph.are_neighbours(id.0, *other)));
            }
            if self.elsewhere.contains(name.as_str()) {
                found.extend(modules);
            }
        }
        found.remove(&id.0);
        let mut found: Vec<u32> = found.into_iter().collect();
        found.sort_unstable();
        found
    }
}

/// Hands over the names of what a module declares beside functions.
fn declarations<'m>(module: &'m Module, add: &mut impl FnMut(&'m str)) {
    for record in &module.records {
        add(&record.name);
        if let Some(of) = &record.specializes {
            add(&of.template);
        }
    }
    for it in &module.aliases {
        add(&it.name);
    }
    for it in &module.namespace_aliases {
        add(&it.name);
    }
    for enumerator in &module.enumerators {
        add(&enumerator.name);
        add(&enumerator.of);
    }
    for it in &module.globals {
        add(&it.name);
    }
    for it in &module.macros {
        add(&it.name);
    }
}

/// What the whole project answers to a name.
struct Answers<'p> {
    project: &'p Project,
    scan: &'p ProjectScan,
    known: FxHashMap<&'p str, Hash>,
}

impl<'p> Answers<'p> {
    /// A module as others see it: what it was made of, and what the project answers to its names.
    fn of_module(&mut self, id: ModuleId, names: &'p [Name]) -> Hash {
        let (project, scan) = (self.project, self.scan);
        let mut hasher = Hasher::new();
        if let Some((made_of, _)) = project.made_of(id) {
            hasher.update(made_of.as_bytes());
        }
        let module = project.module(id);
        let mut text = String::new();
        let _ = write!(text, "{} {} ", project.is_for_hip(id), project.has_lanes_in_step(id));
        for (index, function) in module.functions.iter_enumerated() {
            let _ = write!(text, "{:?}{}", scan.traits.of(id, index), scan.traits.is_mentioned(&function.name));
        }
        for global in &module.globals {
            let _ = write!(text, "{}", !global.name.is_empty() && project.is_symbol_of_host(&global.name));
        }
        hasher.update(text.as_bytes());
        for name in names.iter().map(Name::as_str).chain(["operatornew", "operatornew[]"]) {
            hasher.update(self.of(name).as_bytes());
        }
        hasher.finalize()
    }

    fn of(&mut self, name: &'p str) -> Hash {
        let (project, scan) = (self.project, self.scan);
        *self.known.entry(name).or_insert_with(|| {
            let mut text = String::new();
            for (module, id) in project.functions_named(name) {
                let Some(function) = project.function_at(module, id) else { continue };
                // Arguments that one declaration leaves out may be left out wherever another one is in sight.
                let required = function.params().iter().take_while(|param| param.init.is_none()).count();
                let pack = function.template_params.iter().any(|param| param.pack);
                let of_class = function.scope.last().is_some_and(|class| project.has_record(class));
                let _ = write!(
                    text,
                    "{} {} {} {} {} {required} {pack} {of_class} {:?} {:?} ",
                    module.0,
                    function.body.is_some(),
                    function.damaged,
                    function.param_count,
                    function.variadic,
                    function.scope.segments,
                    scan.traits.of(module, id),
                );
                for (field, _) in &function.member_inits {
                    let _ = write!(text, "{} ", &**field);
                }
            }
            let (globals, macros) = (project.globals_named(name), project.macro_files(name));
            let _ = write!(text, "{globals} {macros:?} {}", project.has_record(name));
            blake3::hash(text.as_bytes())
        })
    }
}
