//! Which function a name means: those of its name that are in sight, and which of them takes the arguments.

use crate::api::ApiId;
use crate::api::effects::{Effect, Library};
use crate::crowd::{Crowd, Entry, Wanted, is_member, segments};
use crate::ir::{Function, FunctionId, FunctionRole, ModuleId, Path, StmtId, Type};
use crate::name::Name;
use crate::project::Project;
use crate::resolve::{fit, of};
use crate::scope::Scope;
use crate::tables::CROWDED;
use crate::types::{Ty, TypeEnv};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

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

impl Project {
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
