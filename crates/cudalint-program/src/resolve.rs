//! Lookup of names across the project: functions, kernels, methods, records, aliases, enumerators and globals.

use crate::api::ApiId;
use crate::api::effects::{Effect, Library};
use crate::crowd::{Crowd, Entry, Wanted, is_member, segments};
use crate::ir::{
    Alias, Enumerator, Function, FunctionId, FunctionRole, ModuleId, Path, Record, Space, StmtId, Type, Variable,
};
use crate::name::Name;
use crate::project::Project;
use crate::scope::Scope;
use crate::tables::{CROWDED, Table, TypeName};
use crate::types::{Ty, TypeEnv};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::sync::Arc;

fn of<'t>(table: &'t Table, path: &Path) -> &'t [Entry] {
    path.last().and_then(|name| table.get(name.as_str())).map_or(&[], Vec::as_slice)
}

/// How well `scope` plus the thing's own name answers to `path` used inside `inside`: `None` not at all, more is better.
fn fit(scope: &Path, path: &Path, inside: &Path, needs_scope: bool) -> Option<u32> {
    // Asked of every candidate for every name, so that nothing is collected.
    if let ([], [name]) = (&*scope.segments, &*path.segments)
        && !name.is_empty()
    {
        return Some(1);
    }
    let qualifiers = segments(path).count().checked_sub(1)?;
    let whole = segments(scope).count();
    let rest = whole.checked_sub(qualifiers)?;
    if !segments(scope).skip(rest).zip(segments(path)).all(|(segment, written)| is_named(segment, written)) {
        return None;
    }
    // What is left of the scope must be where the use stands, or be brought in by a `using`.
    let shared = segments(inside).zip(segments(scope)).take_while(|(a, b)| a == b).count();
    if shared >= rest {
        // Inside a template its own name means it, and none of its specializations.
        Some(rest as u32 + 1 + u32::from(qualifiers > 0 && shared == whole))
    } else if needs_scope && qualifiers == 0 {
        None
    } else {
        Some(0)
    }
}

/// Whether a name is that of a function of C which does nothing but to allocate memory: it takes numbers alone.
fn gives_memory_for_numbers(name: &str) -> bool {
    ApiId::named(name).is_some_and(|api| api.library == Library::C && matches!(api.effects, [Effect::Allocates { .. }]))
}

/// Whether a text has a `using` of a namespace, or of a name in it.
fn brings_in(text: &str, scope: &Path, name: &str) -> bool {
    let last = scope.last().map_or("", Name::as_str);
    let mut used = text.split("using ").skip(1).filter_map(|rest| rest.split(';').next());
    used.any(|used| used.trim_end().ends_with(last) || used.trim_end().ends_with(&format!("{last}::{name}")))
}

/// Whether a scope goes by a written name: it is its own, or that of the template that it specializes.
fn is_named(segment: &str, written: &str) -> bool {
    segment.strip_prefix(written).is_some_and(|rest| rest.is_empty() || rest.trim_start().starts_with('<'))
}

impl Project {
    /// The entries of the nearest step that has any: the module itself, what it includes, what includes it, and the
    /// neighbouring files where an include is out of sight. The flag says whether it is the last step.
    fn nearest(&self, from: ModuleId, candidates: &[Entry]) -> (Vec<Entry>, bool) {
        let own: Vec<Entry> = candidates.iter().copied().filter(|entry| entry.module == from).collect();
        if !own.is_empty() || candidates.is_empty() {
            return (own, false);
        }
        let graph = self.includes();
        if graph.is_alone(from.0) {
            return (Vec::new(), false);
        }
        let reach = graph.reach(from.0);
        for set in [&reach.included, &reach.context] {
            let within: Vec<Entry> = candidates.iter().copied().filter(|entry| set.has(entry.module.0)).collect();
            if !within.is_empty() {
                return (within, false);
            }
        }
        // A source out of sight may define the name itself.
        if !reach.missing || reach.lacks_source {
            return (Vec::new(), true);
        }
        // What is out of sight may lead to a neighbour, but not into another program of the same repository.
        let near = |entry: &Entry| !graph.is_alone(entry.module.0) && graph.are_neighbours(from.0, entry.module.0);
        (candidates.iter().copied().filter(near).collect(), true)
    }

    /// The one entry that fits best in the nearest step.
    fn single(
        &self,
        from: ModuleId,
        inside: &Path,
        path: &Path,
        entries: &[Entry],
        scope_of: impl Fn(Entry) -> Option<(Path, bool)>,
    ) -> Option<Entry> {
        if entries.is_empty() {
            return None;
        }
        let fitting: Vec<(Entry, u32)> = entries
            .iter()
            .filter_map(|entry| {
                let (scope, needs_scope) = scope_of(*entry)?;
                Some((*entry, fit(&scope, path, inside, needs_scope)?))
            })
            .collect();
        let plain: Vec<Entry> = fitting.iter().map(|(entry, _)| *entry).collect();
        let (near, _) = self.nearest(from, &plain);
        // They come in the same order.
        let mut near = near.iter().peekable();
        let near: Vec<(Entry, u32)> =
            fitting.into_iter().filter(|(entry, _)| near.next_if(|next| *next == entry).is_some()).collect();
        let best = near.iter().map(|(_, fit)| *fit).max()?;
        let mut left = near.iter().filter(|(_, fit)| *fit == best);
        let (first, _) = left.next()?;
        left.next().is_none().then_some(*first)
    }

    /// `path` with the namespaces that its first segment is another name of; as written where it is none, or where the
    /// aliases in sight disagree.
    fn meant<'p>(&self, from: ModuleId, inside: &Path, path: &'p Path) -> Cow<'p, Path> {
        let mut path = Cow::Borrowed(path);
        // An alias may name another one.
        for _ in 0..4 {
            let (Some(first), true) = (path.segments.first(), path.segments.len() > 1) else { return path };
            let Some(entries) = self.tables.namespace_aliases.get(first.as_str()) else { return path };
            let alias = |entry: &Entry| self.module(entry.module).namespace_aliases.get(entry.index as usize);
            let name = Path::single(first.clone());
            let fits = |entry: &&Entry| alias(entry).is_some_and(|it| fit(&it.scope, &name, inside, false).is_some());
            let fitting: Vec<Entry> = entries.iter().filter(fits).copied().collect();
            let (near, _) = self.nearest(from, &fitting);
            let mut targets = near.iter().filter_map(alias).map(|it| &it.target);
            let Some(target) = targets.next() else { return path };
            if targets.any(|other| other != target) {
                return path;
            }
            path = Cow::Owned(target.segments.iter().chain(&path.segments[1..]).cloned().collect());
        }
        path
    }

    /// A function by its position.
    pub fn function_at(&self, module: ModuleId, function: FunctionId) -> Option<&Function> {
        self.module(module).functions.get(function)
    }

    fn function_entry(&self, entry: Entry) -> Option<&Function> {
        self.function_at(entry.module, FunctionId(entry.index))
    }

    /// The function that a call of `path` with `args` arguments means, when used in module `from` inside the scope
    /// `inside`. A definition is preferred to a declaration. Where several fit, or a specialization exists, there is no
    /// answer.
    pub fn function(&self, from: ModuleId, inside: &Path, path: &Path, args: usize) -> Option<(ModuleId, FunctionId)> {
        self.find_function(from, inside, path, Some(args), Wanted::Any)
    }

    /// The function that `path` means where it is not called: as an argument, or in `&f`.
    pub fn function_named(&self, from: ModuleId, inside: &Path, path: &Path) -> Option<(ModuleId, FunctionId)> {
        self.find_function(from, inside, path, None, Wanted::Any)
    }

    /// The kernel that a launch of `path` means; `args` where they are known.
    pub fn kernel(
        &self,
        from: ModuleId,
        inside: &Path,
        path: &Path,
        args: Option<usize>,
    ) -> Option<(ModuleId, FunctionId)> {
        self.find_function(from, inside, path, args, Wanted::Kernel)
    }

    /// Every function in sight that `path` may mean, whatever its parameters: those of the nearest step.
    pub fn overloads(&self, from: ModuleId, inside: &Path, path: &Path) -> Arc<[(ModuleId, FunctionId)]> {
        let path = &*self.meant(from, inside, path);
        let find = || {
            let entries = self.fitting_functions(from, inside, path, Wanted::Any);
            let plain: Vec<Entry> = entries.iter().map(|(entry, _)| *entry).collect();
            self.nearest(from, &plain).0.into_iter().map(|entry| (entry.module, FunctionId(entry.index))).collect()
        };
        let Some(crowd) = self.crowd(path) else { return find() };
        crowd.overloads((from, inside, path), find)
    }

    fn crowd(&self, path: &Path) -> Option<&Crowd> {
        self.tables.crowds.get(path.last()?.as_str())
    }

    /// Every function of this name in the project, in sight or not.
    pub fn functions_named(&self, name: &str) -> Vec<(ModuleId, FunctionId)> {
        let entries = self.tables.functions.get(name).map_or(&[][..], Vec::as_slice);
        entries.iter().map(|entry| (entry.module, FunctionId(entry.index))).collect()
    }

    /// Whether only one declaration of the project gives this name to a variable at namespace scope.
    pub fn is_only_global(&self, name: &str) -> bool {
        self.tables.globals.get(name).is_some_and(|entries| entries.len() == 1)
    }

    fn fitting_functions(&self, from: ModuleId, inside: &Path, path: &Path, wanted: Wanted) -> Vec<(Entry, u32)> {
        // Numbers bring in no namespace: `malloc(8)` outside of the namespace of another `malloc` means C's.
        let of_c = path.segments.first().filter(|name| path.segments.len() == 1 && gives_memory_for_numbers(name));
        let fitting = |entry: &Entry| {
            let function = self.function_entry(*entry).filter(|function| wanted.accepts(function))?;
            // `void Pool::free(void *p) {}`: that `Pool` is a class may be known in another file alone.
            let of_class =
                || function.scope.last().is_some_and(|class| self.tables.records.contains_key(class.as_str()));
            let fit = fit(&function.scope, path, inside, is_member(function) || of_class())?;
            let is_hidden = fit == 0 && of_c.is_some_and(|name| !self.is_brought_in(from, &function.scope, name));
            (!is_hidden).then_some((*entry, fit))
        };
        match self.crowd(path) {
            Some(crowd) => crowd.candidates(path, inside).iter().filter_map(fitting).collect(),
            None => of(&self.tables.functions, path).iter().filter_map(fitting).collect(),
        }
    }

    /// Whether a module, or what it includes, has a `using` of a namespace or of a name in it.
    fn is_brought_in(&self, from: ModuleId, scope: &Path, name: &str) -> bool {
        let included = self.includes().reach(from.0).included.iter().map(|file| ModuleId(*file));
        included.chain([from]).any(|module| brings_in(self.source(module), scope, name))
    }

    /// Sorts the functions of names that very many have.
    pub(crate) fn sort_crowds(&mut self) {
        let mut crowds = FxHashMap::default();
        for (name, entries) in self.tables.functions.iter().filter(|(_, entries)| entries.len() > CROWDED) {
            let mut crowd = Crowd::default();
            for entry in entries {
                let Some(function) = self.function_entry(*entry) else { continue };
                crowd.add(*entry, function);
            }
            crowds.insert(name.clone(), crowd);
        }
        self.tables.crowds = crowds;
        self.tables.expect_crowds();
    }

    fn find_function(
        &self,
        from: ModuleId,
        inside: &Path,
        path: &Path,
        args: Option<usize>,
        wanted: Wanted,
    ) -> Option<(ModuleId, FunctionId)> {
        let path = &*self.meant(from, inside, path);
        let find = || self.find_fitting(from, &self.fitting_functions(from, inside, path, wanted), args);
        let Some(crowd) = self.crowd(path) else { return find() };
        crowd.function((from, inside, path, args, wanted), find)
    }

    /// The one that is meant of functions that fit by their names.
    fn find_fitting(
        &self,
        from: ModuleId,
        fitting: &[(Entry, u32)],
        args: Option<usize>,
    ) -> Option<(ModuleId, FunctionId)> {
        // Defaults may stand on another declaration of the same function.
        let shape =
            |entry: &Entry| self.function_entry(*entry).map(|function| (function.param_count, function.variadic));
        let accepted: Option<FxHashSet<(u32, bool)>> = args.map(|args| {
            let accepting = |entry: &Entry| self.function_entry(*entry).is_some_and(|function| accepts(function, args));
            fitting.iter().map(|(entry, _)| entry).filter(|entry| accepting(entry)).filter_map(shape).collect()
        });
        let takes = |(entry, _): &&(Entry, u32)| {
            accepted.as_ref().is_none_or(|accepted| shape(entry).is_some_and(|shape| accepted.contains(&shape)))
        };
        let taking: Vec<(Entry, u32)> = fitting.iter().filter(takes).copied().collect();
        let plain: Vec<Entry> = taking.iter().map(|(entry, _)| *entry).collect();
        let (near, last) = self.nearest(from, &plain);
        // They come in the same order.
        let mut left = near.iter().peekable();
        let near: Vec<(Entry, u32)> =
            taking.into_iter().filter(|(entry, _)| left.next_if(|near| *near == entry).is_some()).collect();
        let best = near.iter().map(|(_, fit)| *fit).max()?;
        let near: Vec<Entry> = near.iter().filter(|(_, fit)| *fit == best).map(|(entry, _)| *entry).collect();
        let has_body = |entry: &Entry| self.function_entry(*entry).is_some_and(|function| function.body.is_some());
        if near.iter().any(|entry| self.function_entry(*entry).is_some_and(|function| function.is_specialization)) {
            return None;
        }
        let answer = |entry: Entry| Some((entry.module, FunctionId(entry.index)));
        let defined: Vec<Entry> = near.iter().copied().filter(has_body).collect();
        match defined.as_slice() {
            [one] => {
                let hidden = last && self.function_entry(*one).is_some_and(|function| function.is_static);
                return if hidden { None } else { answer(*one) };
            }
            [] => {}
            [first, rest @ ..] if args.is_some() && rest.iter().all(|other| self.are_twins(*first, *other)) => {
                return answer(*first);
            }
            _ => return None,
        }
        // Declared in sight: its definition stands in a file that includes the declaration, or near by.
        let declared = *near.first()?;
        let declaration = self.function_entry(declared)?;
        if self.includes().is_alone(from.0) {
            return answer(declared);
        }
        let mut elsewhere = plain.iter().copied().filter(|entry| {
            has_body(entry)
                && !self.includes().is_alone(entry.module.0)
                && (self.includes().reach(entry.module.0).included.has(declared.module.0)
                    || self.includes().are_neighbours(from.0, entry.module.0))
                && self.function_entry(*entry).is_some_and(|function| {
                    !function.is_static
                        && function.param_count == declaration.param_count
                        && segments(&function.scope).eq(segments(&declaration.scope))
                })
        });
        match (elsewhere.next(), elsewhere.next()) {
            (Some(one), None) => answer(one),
            _ => answer(declared),
        }
    }

    /// Whether two methods are `T *data()` and `const T *data() const`: the same parameters, and word for word the same body.
    fn are_twins(&self, a: Entry, b: Entry) -> bool {
        let (Some(first), Some(second)) = (self.function_entry(a), self.function_entry(b)) else { return false };
        let method = |function: &Function| matches!(function.role, FunctionRole::Method | FunctionRole::Operator);
        if a.module != b.module || !method(first) || !method(second) || first.param_count != second.param_count {
            return false;
        }
        let plain = first.template_params.is_empty() && second.template_params.is_empty();
        let params = |entry: Entry, function: &Function| -> Vec<(Name, Ty)> {
            let scope = Scope::new(self, entry.module, Some(FunctionId(entry.index)), &TypeEnv::default());
            let params = function.params().iter();
            params.map(|param| (param.name.clone(), scope.resolve(param.ty))).collect()
        };
        let (Some(one), Some(other)) = (&first.body, &second.body) else { return false };
        let text = |id: StmtId| self.module(a.module).stmts.get(id).map(|stmt| self.text(a.module, stmt.span).trim());
        plain
            && one.len() == other.len()
            && one.iter().zip(other).all(|(one, other)| text(*one).is_some() && text(*one) == text(*other))
            && params(a, first) == params(b, second)
            && params(a, first).iter().all(|(_, ty)| *ty != Ty::Unknown)
    }

    /// The method `name` of a record that takes `args` arguments, wherever it is defined; bases are not searched.
    pub fn method(&self, record: Entry, name: &str, args: usize) -> Option<(ModuleId, FunctionId)> {
        let owner = self.record_at(record)?;
        let scope = owner.scope.within(owner.name.clone());
        let path = scope.within(Name::from(name));
        self.find_function(record.module, &scope, &path, Some(args), Wanted::Member)
    }

    /// Whether `&object` of a type means an operator of its class, or of one that this is made from, and not where the object is.
    pub fn overloads_address(&self, ty: &Ty) -> bool {
        const DEEPEST: u32 = 4;
        let Ty::Record(entry, _) = ty.value() else { return false };
        let mut open = vec![(*entry, DEEPEST)];
        while let Some((entry, depth)) = open.pop() {
            let Some(record) = self.record_at(entry) else { continue };
            let module = self.module(entry.module);
            let is_it = |id: &FunctionId| {
                let method = module.functions.get(*id);
                method.is_some_and(|method| method.name == "operator&" && method.param_count == 0)
            };
            if record.methods.iter().any(is_it) {
                return true;
            }
            let Some(depth) = depth.checked_sub(1) else { continue };
            open.extend(record.bases.iter().filter_map(|base| match module.types.get(*base) {
                Some(Type::Named { path, .. }) => Some((self.template(entry.module, &record.scope, path)?, depth)),
                _ => None,
            }));
        }
        false
    }

    /// A record by its position.
    pub fn record_at(&self, entry: Entry) -> Option<&Record> {
        self.module(entry.module).records.get(entry.index as usize)
    }

    /// The defined record that `path` means; none where a specialization may stand in for it.
    pub fn record(&self, from: ModuleId, inside: &Path, path: &Path) -> Option<Entry> {
        let path = &*self.meant(from, inside, path);
        let found = self.template(from, inside, path)?;
        let scope = &self.record_at(found)?.scope;
        let specialized = of(&self.tables.specializations, path).iter().any(|entry| {
            (entry.module == found.module || entry.module == from)
                && self.record_at(*entry).is_some_and(|record| record.scope == *scope)
        });
        (!specialized).then_some(found)
    }

    /// The defined record or class template that `path` means, whatever specializations there are.
    pub fn template(&self, from: ModuleId, inside: &Path, path: &Path) -> Option<Entry> {
        let path = &*self.meant(from, inside, path);
        let scope_of = |entry| {
            let record = self.record_at(entry).filter(|record| record.defined)?;
            Some((record.scope.clone(), false))
        };
        self.answer(TypeName::Template, (from, inside, path), || {
            self.single(from, inside, path, of(&self.tables.records, path), scope_of)
        })
    }

    /// What `find` says of a use, kept where very many things have the name.
    fn answer(
        &self,
        which: TypeName,
        key: (ModuleId, &Path, &Path),
        find: impl FnOnce() -> Option<Entry>,
    ) -> Option<Entry> {
        // Hardly any program has such a name.
        if self.tables.answers.is_empty() {
            return find();
        }
        match key.2.last().and_then(|name| self.tables.answers.get(&(which, name.clone()))) {
            Some(answers) => answers.get(key, find),
            None => find(),
        }
    }

    /// Every specialization in sight of the template that `path` means.
    pub fn specializations(&self, from: ModuleId, inside: &Path, path: &Path) -> Vec<Entry> {
        let path = &*self.meant(from, inside, path);
        let entries = of(&self.tables.specializations, path);
        if entries.is_empty() {
            return Vec::new();
        }
        let graph = self.includes();
        let reach = graph.reach(from.0);
        let in_sight = |module: ModuleId| {
            module == from
                || (!graph.is_alone(from.0)
                    && !graph.is_alone(module.0)
                    && (reach.included.has(module.0)
                        || reach.context.has(module.0)
                        || (reach.missing && graph.are_neighbours(from.0, module.0))))
        };
        let fits = |entry: &Entry| {
            self.record_at(*entry)
                .is_some_and(|record| record.defined && fit(&record.scope, path, inside, false).is_some())
        };
        entries.iter().copied().filter(|entry| in_sight(entry.module)).filter(fits).collect()
    }

    /// An alias by its position.
    pub fn alias_at(&self, entry: Entry) -> Option<&Alias> {
        self.module(entry.module).aliases.get(entry.index as usize)
    }

    /// The `typedef` or `using` that `path` means.
    pub fn alias(&self, from: ModuleId, inside: &Path, path: &Path) -> Option<Entry> {
        let path = &*self.meant(from, inside, path);
        let scope_of = |entry| Some((self.alias_at(entry)?.scope.clone(), false));
        self.answer(TypeName::Alias, (from, inside, path), || {
            self.single(from, inside, path, of(&self.tables.aliases, path), scope_of)
        })
    }

    /// An enumerator by its position.
    pub fn enumerator_at(&self, entry: Entry) -> Option<&Enumerator> {
        self.module(entry.module).enumerators.get(entry.index as usize)
    }

    /// The enumerator that `path` means, with or without its enum's name.
    pub fn enumerator(&self, from: ModuleId, inside: &Path, path: &Path) -> Option<Entry> {
        let path = &*self.meant(from, inside, path);
        let qualifier = path.segments.len().checked_sub(2).and_then(|at| path.segments.get(at));
        self.single(from, inside, path, of(&self.tables.enumerators, path), |entry| {
            let enumerator = self.enumerator_at(entry)?;
            let mut scope = enumerator.scope.clone();
            if qualifier == Some(&enumerator.of) {
                scope = scope.within(enumerator.of.clone());
            }
            Some((scope, false))
        })
    }

    /// An enumerator of the enum that `path` means, to tell that it is an enum and of which type.
    pub fn enum_type(&self, from: ModuleId, inside: &Path, path: &Path) -> Option<Entry> {
        let path = &*self.meant(from, inside, path);
        // One entry for each enumerator: any of them speaks for its enum.
        let mut heads: Vec<Entry> = Vec::new();
        for entry in of(&self.tables.enums, path) {
            let scope = &self.enumerator_at(*entry)?.scope;
            let known = heads.iter().any(|head| {
                head.module == entry.module && self.enumerator_at(*head).is_some_and(|other| other.scope == *scope)
            });
            if !known {
                heads.push(*entry);
            }
        }
        self.single(from, inside, path, &heads, |entry| Some((self.enumerator_at(entry)?.scope.clone(), false)))
    }

    /// A variable at namespace scope by its position.
    pub fn global_at(&self, entry: Entry) -> Option<&Variable> {
        self.module(entry.module).globals.get(entry.index as usize)
    }

    /// The variable at namespace scope, or static member, that `path` means; its definition where there is one.
    pub fn global(&self, from: ModuleId, inside: &Path, path: &Path) -> Option<Entry> {
        let path = &*self.meant(from, inside, path);
        let entries = of(&self.tables.globals, path);
        let scope_of = |entry: Entry| Some((self.global_at(entry)?.scope.clone(), false));
        let is_extern = |entry: &Entry| self.global_at(*entry).is_some_and(|v| v.space == Space::Extern);
        let defined: Vec<Entry> = entries.iter().copied().filter(|entry| !is_extern(entry)).collect();
        if let Some(found) = self.single(from, inside, path, &defined, scope_of) {
            return Some(found);
        }
        let declared: Vec<Entry> = entries.iter().copied().filter(is_extern).collect();
        let (near, last) = self.nearest(from, &declared);
        if near.is_empty() || last {
            return None;
        }
        match defined.as_slice() {
            [one] if !self.includes().is_alone(one.module.0) && !self.includes().is_alone(from.0) => Some(*one),
            _ => near.first().copied(),
        }
    }
}

/// Whether a function can be called with so many arguments, by this declaration of it.
pub fn accepts(function: &Function, args: usize) -> bool {
    let params = function.params();
    let pack = function.template_params.iter().any(|param| param.pack);
    let required = params.iter().take_while(|param| param.init.is_none()).count();
    if pack {
        return args + 1 >= required;
    }
    args >= required && (function.variadic || args <= params.len())
}
