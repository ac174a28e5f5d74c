//! Between functions: who is called, what callees check, what callers check, and the facts that follow.

use super::flow::{CallSite, Callee, Fate};
use super::hidden::HiddenMacros;
use super::known;
use super::solve::{
    self, AGAIN, AGAIN_SOMEWHERE, After, COMPARES, DROPPED_SYNC, DROPS, Effect, HIDDEN, LAST, LAUNCHES, LOOKS_LATER,
    MAY_LOOK, NEXT, PENDING, SEEN_LAST, SYNC, Solved,
};
use super::survey::{FunctionSurvey, ModuleStatus, Survey};
use crate::checkers;
use crate::facts::StatusUse;
use cudalint_program::api::effects::ErrorRole;
use cudalint_program::ir::Type;
use cudalint_program::{Name, Project};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

/// Rounds of the analyses over the call graph: chains of helpers longer than this are taken not to check.
pub(super) const ROUNDS: usize = 6;

/// What callees do for their callers.
const OF_CALLEES: u16 = LAST | SEEN_LAST | SYNC | DROPPED_SYNC | HIDDEN | AGAIN_SOMEWHERE | OF_LATER;

/// What may bring an error to light later on, by whichever caller.
pub(super) const OF_LATER: u16 = AGAIN | LOOKS_LATER | COMPARES | MAY_LOOK;

/// All functions of a project and what is known of their calls.
pub(super) struct Join<'a> {
    pub project: &'a Project,
    pub(super) surveys: &'a [Survey],
    /// All functions: module and place in its survey.
    pub functions: Vec<(usize, usize)>,
    pub(super) by_name: FxHashMap<&'a str, Vec<u32>>,
    pub(super) by_id: FxHashMap<(usize, u32), u32>,
    /// By function and call: the functions in sight that it may reach.
    pub targets: Vec<Vec<Vec<u32>>>,
    /// By function and call: what the call does, where that does not hang on what the functions in sight do.
    fixed: Vec<Vec<Option<Effect>>>,
    /// By function: the calls that reach functions in sight.
    pub(super) open: Vec<Vec<u32>>,
    /// By function: those that it hands out as values.
    pub(super) given: Vec<Vec<u32>>,
    /// By function: effect bits on its callers.
    pub effects: Vec<u16>,
    /// Macros that look at the status in at least one of their definitions, with the modules of those.
    checking_macros: FxHashMap<&'a str, Vec<usize>>,
    hidden: &'a HiddenMacros,
    /// Names of classes.
    pub(super) classes: FxHashSet<&'a str>,
    /// The names of what classes are made from.
    pub(super) bases: FxHashMap<&'a str, Vec<&'a str>>,
    /// By function: what comes after its calls, for what was last said to come after itself.
    solved: RefCell<FxHashMap<usize, (After, Rc<Solved>)>>,
    /// Calls, as function and place there, by what they are given that others than the function know.
    pub(super) users: OnceCell<FxHashMap<&'a str, Vec<(usize, usize)>>>,
}

pub(super) fn join(project: &Project, surveys: &[Survey], hidden: &HiddenMacros) -> Vec<ModuleStatus> {
    let mut join = Join::new(project, surveys, hidden);
    join.resolve();
    join.settle_effects();
    let exits = join.settle_exits();
    let mut modules: Vec<ModuleStatus> = surveys.iter().map(|_| ModuleStatus::default()).collect();
    let has_callers = join.functions_with_callers();
    let (looking, open) = (join.looking_around(&has_callers), join.out_of_programs());
    // Whoever gets a function as a value calls it, and may wait.
    let handed_out = join.names_handed_out();
    for (index, &(module, _)) in join.functions.iter().enumerate() {
        let exit = exits.get(index).copied().unwrap_or_default();
        let around = looking.get(module).into_iter().flatten().flatten();
        let looked_nearby = open.contains(&(index as u32)) && around.into_iter().any(|other| *other != index as u32);
        let is_called =
            has_callers.contains(&(index as u32)) || handed_out.contains(join.function(index).name.as_str());
        if let Some(status) = join.facts(index, exit, is_called, looked_nearby)
            && let Some(slot) = modules.get_mut(module)
        {
            slot.functions.push(status);
        }
    }
    checkers::find(project, surveys, &mut modules);
    offer_wrappers(surveys, &mut modules);
    modules
}

impl<'a> Join<'a> {
    fn new(project: &'a Project, surveys: &'a [Survey], hidden: &'a HiddenMacros) -> Self {
        let mut functions = Vec::new();
        let mut by_name: FxHashMap<&str, Vec<u32>> = FxHashMap::default();
        let mut by_id = FxHashMap::default();
        for (module, survey) in surveys.iter().enumerate() {
            for (place, function) in survey.functions.iter().enumerate() {
                let index = functions.len() as u32;
                functions.push((module, place));
                by_name.entry(function.name.as_str()).or_default().push(index);
                by_id.insert((module, function.id.0), index);
            }
        }
        let mut checking_macros: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
        for (module, survey) in surveys.iter().enumerate() {
            for shape in survey.macros.iter().filter(|shape| shape.looks_at_status) {
                checking_macros.entry(shape.name.as_str()).or_default().push(module);
            }
        }
        let records = project.modules().flat_map(|id| &project.module(id).records);
        let mut bases: FxHashMap<&str, Vec<&str>> = FxHashMap::default();
        for module in project.modules().map(|id| project.module(id)) {
            for record in module.records.iter().filter(|record| !record.bases.is_empty()) {
                let named = record.bases.iter().filter_map(|base| match module.types.get(*base) {
                    Some(Type::Named { path, .. }) => path.last().map(Name::as_str),
                    _ => None,
                });
                bases.entry(record.name.as_str()).or_default().extend(named);
            }
        }
        Self {
            project,
            surveys,
            hidden,
            classes: records.map(|record| record.name.as_str()).collect(),
            bases,
            functions,
            by_name,
            by_id,
            targets: Vec::new(),
            fixed: Vec::new(),
            open: Vec::new(),
            given: Vec::new(),
            effects: Vec::new(),
            checking_macros,
            solved: RefCell::default(),
            users: OnceCell::new(),
        }
    }

    pub fn function(&self, index: usize) -> &'a FunctionSurvey {
        let (module, place) = self.functions[index];
        &self.surveys[module].functions[place]
    }

    /// Whether what one module defines is in sight of another: included, or including it.
    pub(super) fn sees(&self, module: usize, other: usize) -> bool {
        let reach = self.project.includes().reach(module as u32);
        let other_id = other as u32;
        module == other || reach.included.has(other_id) || reach.context.has(other_id)
    }

    pub fn is_checking_macro(&self, module: usize, name: &Name) -> bool {
        self.checking_macros
            .get(name.as_str())
            .is_some_and(|modules| modules.iter().any(|other| self.sees(module, *other)))
    }

    fn is_hidden_macro(&self, module: usize, name: &Name) -> bool {
        self.hidden.defining(name).iter().any(|other| self.sees(module, other.index()))
    }

    fn resolve(&mut self) {
        // The same call stands in a module many times.
        let mut known: FxHashMap<Asked<'_>, Vec<u32>> = FxHashMap::default();
        let mut last = usize::MAX;
        self.targets = (0..self.functions.len())
            .map(|index| {
                let module = self.functions[index].0;
                if std::mem::replace(&mut last, module) != module {
                    known.clear();
                }
                let calls = &self.function(index).flow.calls;
                let targets_of = |site: &'a CallSite| match asked(site) {
                    Some(asked) => known.entry(asked).or_insert_with(|| self.targets_of(module, site)).clone(),
                    None => self.targets_of(module, site),
                };
                calls.iter().map(targets_of).collect()
            })
            .collect();
        self.fixed = (0..self.functions.len())
            .map(|index| (0..self.targets[index].len()).map(|call| self.fixed_effect(index, call)).collect())
            .collect();
        let open = |targets: &Vec<Vec<u32>>| {
            targets.iter().zip(0..).filter(|(targets, _)| !targets.is_empty()).map(|(_, call)| call).collect()
        };
        self.open = self.targets.iter().map(open).collect();
        self.given = self.handed_out();
    }

    /// What becomes of a call's status, before a look at the last error right after it is considered.
    pub fn usage(&self, index: usize, call: usize) -> StatusUse {
        let site = &self.function(index).flow.calls[call];
        let dropped = match site.fate {
            Fate::Dropped => true,
            Fate::Stored(_) => !site.stored_is_read,
            Fate::Voided => return StatusUse::Voided,
            Fate::Returned | Fate::Consumed => false,
            Fate::Argument { call: outer, position } => self.is_ignored(index, outer as usize, position),
        };
        let checked_elsewhere =
            site.expansion.as_ref().is_some_and(|name| self.is_checking_macro(self.functions[index].0, name));
        if dropped && !checked_elsewhere { StatusUse::Dropped } else { StatusUse::Consumed }
    }

    /// Whether every function that a call may reach is in sight and never looks at this parameter.
    fn is_ignored(&self, index: usize, call: usize, position: u32) -> bool {
        let targets = &self.targets[index][call];
        let ignores = |target: &u32| {
            let callee = self.function(*target as usize);
            position < callee.parameters.min(64)
                && !callee.damaged
                && callee.flow.reads_parameters & (1 << position) == 0
        };
        !targets.is_empty() && targets.iter().all(ignores)
    }

    pub fn effect(&self, index: usize, call: usize) -> Effect {
        if let Some(fixed) = self.fixed[index][call] {
            let given = &self.given[index];
            return if given.is_empty() { fixed } else { self.with_callbacks(index, call, fixed, given) };
        }
        let named = self.compares_by_name(index, call);
        let bits = self.targets[index][call].iter().fold(named, |bits, target| bits | self.effects[*target as usize]);
        // What a callee calls out of sight is not known to look next.
        let next = if bits & SEEN_LAST != 0 { NEXT } else { 0 };
        Effect::Sets { bits: bits & OF_CALLEES | next, ends_next: bits & LAUNCHES != 0 }
    }

    /// What a call does, unless it reaches functions in sight.
    fn fixed_effect(&self, index: usize, call: usize) -> Option<Effect> {
        let site = &self.function(index).flow.calls[call];
        let harmless = match &site.callee {
            Callee::Api(api) => {
                let looked_at = self.usage(index, call) == StatusUse::Consumed;
                let returns_earlier = looked_at && known::returns_earlier(api.library);
                let again = if returns_earlier { AGAIN | AGAIN_SOMEWHERE } else { 0 };
                return Some(match api.role {
                    ErrorRole::Clears | ErrorRole::Peeks if looked_at => {
                        Effect::Sets { bits: LAST | SEEN_LAST | NEXT | LOOKS_LATER | again, ends_next: true }
                    }
                    ErrorRole::Clears => Effect::Clears,
                    ErrorRole::Peeks => Effect::None,
                    ErrorRole::Synchronizes | ErrorRole::Settles if looked_at => {
                        Effect::Sets { bits: SYNC | again, ends_next: true }
                    }
                    ErrorRole::Synchronizes if api.library.is_runtime() => Effect::DroppedSync,
                    ErrorRole::Synchronizes => Effect::Sets { bits: DROPPED_SYNC, ends_next: true },
                    ErrorRole::Launches | ErrorRole::Settles | ErrorRole::Plain => {
                        Effect::Sets { bits: again, ends_next: true }
                    }
                });
            }
            Callee::Opaque => return Some(Effect::Sets { bits: LAST | SYNC, ends_next: false }),
            Callee::Macro(name) if self.is_hidden_macro(self.functions[index].0, name) => {
                return Some(Effect::Sets { bits: LAST | SYNC | HIDDEN | LOOKS_LATER, ends_next: false });
            }
            Callee::Macro(_) => return Some(Effect::None),
            _ if !self.targets[index][call].is_empty() => return None,
            Callee::Named { name, scope } => {
                let path: Vec<&str> = scope.iter().chain([name]).map(Name::as_str).collect();
                known::checks_nothing(&path)
            }
            Callee::Method { name, .. } => known::method_checks_nothing(name),
            Callee::Lambda(_) => true,
            Callee::Constructor(_) => false,
        };
        let compares = self.compares_by_name(index, call);
        if harmless || self.is_printed(index, site) {
            let nothing = Effect::None;
            return Some(if compares == 0 { nothing } else { Effect::Sets { bits: compares, ends_next: false } });
        }
        // What is written like a macro and stands right behind a call may look at it.
        let like_macro = matches!(site.callee, Callee::Named { .. }) && known::may_be_checking_macro(&site.name);
        let given_status = |other: &CallSite| {
            matches!(other.callee, Callee::Api(_))
                && matches!(other.fate, Fate::Argument { call: outer, .. } if outer as usize == call)
        };
        let calls = &self.function(index).flow.calls;
        let looks = known::sounds_like_last_error(&site.name) && !calls.iter().any(given_status);
        let next = if like_macro || known::sounds_like_check(&site.name) { NEXT } else { 0 };
        let hidden = if looks { HIDDEN | LOOKS_LATER } else { 0 };
        Some(Effect::Sets { bits: LAST | SYNC | next | hidden | compares, ends_next: false })
    }

    /// The bit for a call by whose name results are compared.
    fn compares_by_name(&self, index: usize, call: usize) -> u16 {
        u16::from(self.function(index).flow.calls[call].compares) * COMPARES
    }

    /// Whether the result goes straight into a call that prints: then the function makes text or numbers.
    fn is_printed(&self, index: usize, site: &CallSite) -> bool {
        let Fate::Argument { call, .. } = site.fate else { return false };
        self.function(index).flow.calls.get(call as usize).is_some_and(|outer| outer.name.contains("print"))
    }

    /// What functions check and launch, callees included.
    fn settle_effects(&mut self) {
        self.effects = self
            .functions
            .iter()
            .map(|&(module, place)| {
                let flow = &self.surveys[module].functions[place].flow;
                let launches = !flow.launches.is_empty()
                    || flow.calls.iter().any(|site| super::build_expr::role_of(site) == Some(ErrorRole::Launches));
                let unread = flow.lost || flow.opaque;
                let hidden = if flow.hidden { LAST | SYNC | HIDDEN | LOOKS_LATER } else { 0 };
                let compares = u16::from(flow.compares) * COMPARES;
                let drops = u16::from(flow.calls.iter().any(may_drop)) * DROPS;
                (u16::from(launches) * LAUNCHES) | (u16::from(unread) * (LAST | SYNC)) | hidden | compares | drops
            })
            .collect();
        let of = |effect: Effect| match effect {
            Effect::Sets { bits, .. } => bits & OF_CALLEES,
            Effect::DroppedSync => DROPPED_SYNC,
            Effect::Clears | Effect::None => 0,
        };
        let fixed: Vec<u16> =
            self.fixed.iter().map(|calls| calls.iter().flatten().fold(0, |bits, effect| bits | of(*effect))).collect();
        for _ in 0..ROUNDS {
            let mut changed = false;
            for (index, fixed) in fixed.iter().enumerate() {
                let mut bits = self.effects[index] | fixed | self.by_callbacks(&self.given[index]);
                for call in &self.open[index] {
                    let call = *call as usize;
                    bits |= of(self.effect(index, call));
                    for target in &self.targets[index][call] {
                        bits |= self.effects[*target as usize] & (LAUNCHES | DROPS);
                    }
                }
                // A dropped wait beside a look at the last error is as good as looked at.
                if bits & (LAST | DROPPED_SYNC) == LAST | DROPPED_SYNC {
                    bits |= SYNC;
                }
                changed |= bits != self.effects[index];
                self.effects[index] = bits;
            }
            if !changed {
                break;
            }
        }
        for _ in 0..ROUNDS {
            let mut changed = false;
            for index in 0..self.functions.len() {
                if self.effects[index] & (LAUNCHES | PENDING) != LAUNCHES {
                    continue;
                }
                let solved = self.solve(index, After::default());
                if self.pending_site(index, &solved).is_some() {
                    self.effects[index] |= PENDING;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
    }

    /// What comes after each call and launch of a function; asked for only once the effects of calls are settled.
    pub fn solve(&self, index: usize, exit: After) -> Rc<Solved> {
        let mut known = self.solved.borrow_mut();
        if let Some((with, solved)) = known.get(&index)
            && *with == exit
        {
            return Rc::clone(solved);
        }
        let effect = |call| self.effect(index, call as usize);
        let solved = Rc::new(solve::checked_after(&self.function(index).flow, &effect, exit));
        known.insert(index, (exit, Rc::clone(&solved)));
        solved
    }

    /// As [`Self::solve`], for the case that functions out of sight check nothing unless their name says so; with the
    /// names of those that this takes for harmless.
    pub fn solve_without_unseen(&self, index: usize, exit: After) -> (Solved, Vec<Name>) {
        let calls = &self.function(index).flow.calls;
        let is_unseen = |call: usize| {
            let site = &calls[call];
            matches!(&site.callee, Callee::Named { .. } | Callee::Method { .. })
                && self.targets[index][call].is_empty()
                && self.fixed[index][call].is_some_and(|effect| effect != Effect::None)
                && !known::sounds_like_check(&site.name)
                && !known::may_be_checking_macro(&site.name)
        };
        let effect = |call: u32| {
            if is_unseen(call as usize) { Effect::None } else { self.effect(index, call as usize) }
        };
        let solved = solve::checked_after(&self.function(index).flow, &effect, exit);
        let mut names: Vec<Name> = Vec::new();
        for call in (0..calls.len()).filter(|call| is_unseen(*call)) {
            if !names.contains(&calls[call].name) {
                names.push(calls[call].name.clone());
            }
        }
        (solved, names)
    }

    /// The last launch (or call that launches) after which no path waits. A wait whose status is dropped is a finding of
    /// its own.
    pub fn pending_site(&self, index: usize, solved: &Solved) -> Option<(cudalint_syntax::Span, After)> {
        let flow = &self.function(index).flow;
        let launches = flow.launches.iter().zip(&solved.launches).map(|(site, after)| (site.span, *after));
        let calls = flow.calls.iter().enumerate().zip(&solved.calls).filter_map(|((call, site), after)| {
            let launches = super::build_expr::role_of(site) == Some(ErrorRole::Launches)
                || self.targets[index][call].iter().any(|target| self.effects[*target as usize] & PENDING != 0);
            launches.then_some((site.span, *after))
        });
        launches
            .chain(calls)
            .filter(|(_, after)| after.may & (SYNC | DROPPED_SYNC) == 0 && after.must != !0)
            .max_by_key(|(span, _)| *span)
    }

    /// Names that functions of the project hand out as values.
    pub(super) fn names_handed_out(&self) -> FxHashSet<&'a str> {
        let functions = self.surveys.iter().flat_map(|survey| &survey.functions);
        functions.flat_map(|function| &function.flow.mentioned).map(Name::as_str).collect()
    }

    pub(super) fn functions_with_callers(&self) -> FxHashSet<u32> {
        self.targets.iter().flatten().flatten().copied().collect()
    }
}

/// Whether the status of a call that a program needs may be dropped.
fn may_drop(site: &CallSite) -> bool {
    site.is_needed_call() && matches!(site.fate, Fate::Dropped | Fate::Stored(_))
}

/// What the functions that a call may reach hang on, besides its module: name, scope, whether it is a method, arguments.
type Asked<'a> = (&'a str, Option<&'a str>, bool, u32);

fn asked(site: &CallSite) -> Option<Asked<'_>> {
    match &site.callee {
        Callee::Named { name, scope } => Some((name, scope.as_ref().map(Name::as_str), false, site.arguments)),
        Callee::Method { name, class } => Some((name, class.as_ref().map(Name::as_str), true, site.arguments)),
        Callee::Api(_) | Callee::Opaque | Callee::Lambda(_) | Callee::Constructor(_) | Callee::Macro(_) => None,
    }
}

/// Leaves each function a macro without defects that takes one call, its own or another of its module. One that is given calls
/// nowhere is made for something else, such as a message that it prints before it frees and gives up.
fn offer_wrappers(surveys: &[Survey], modules: &mut [ModuleStatus]) {
    let given_calls: FxHashSet<&Name> =
        surveys.iter().flat_map(|survey| &survey.used_macros.with_calls).map(|(name, _)| name).collect();
    let mut sound: FxHashSet<Name> = surveys
        .iter()
        .flat_map(|survey| &survey.macros)
        .filter(|shape| shape.looks_at_status && shape.takes_one && given_calls.contains(&shape.name))
        .map(|shape| shape.name.clone())
        .collect();
    for checker in modules.iter().flat_map(|module| &module.checkers).filter(|checker| !checker.defects.is_empty()) {
        sound.remove(&checker.name);
    }
    for module in modules {
        let wrappers = module.functions.iter_mut().map(|function| &mut function.wrapper);
        for wrapper in wrappers {
            if wrapper.as_ref().is_some_and(|name| !sound.contains(name)) {
                *wrapper = None;
            }
        }
        let common = module.functions.iter().find_map(|function| function.wrapper.clone());
        for function in module.functions.iter_mut().filter(|function| function.wrapper.is_none()) {
            function.wrapper.clone_from(&common);
        }
    }
}
