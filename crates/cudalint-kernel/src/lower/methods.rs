//! Methods, operators and conversions of records.

use super::state::{At, Found, Key, Lowerer, Out};
use crate::code::ExprId;
use crate::report::Site;
use cudalint_program::ir::{FunctionId, FunctionRole, ModuleId, Path};
use cudalint_program::types::{Argument, Ty, TypeEnv};
use cudalint_program::{Entry, Name};

/// Deepest chain of bases.
const MAX_BASES: u32 = 8;

impl Lowerer<'_> {
    /// The method of a record, or of its bases, that takes these arguments.
    pub(super) fn method_of(
        &mut self,
        entry: Entry,
        env: &TypeEnv,
        name: &Name,
        explicit: &[Argument],
        args: &[Out],
    ) -> Option<Found> {
        self.method_within(entry, env, name, explicit, args, 0)
    }

    fn method_within(
        &mut self,
        entry: Entry,
        env: &TypeEnv,
        name: &Name,
        explicit: &[Argument],
        args: &[Out],
        nesting: u32,
    ) -> Option<Found> {
        if nesting > MAX_BASES {
            return None;
        }
        let candidates = self.methods_named(entry, name);
        if !candidates.is_empty() {
            let picked = self.pick(&candidates, env, explicit, args);
            let (module, function, env_bound) = match (picked, candidates.as_slice()) {
                (Some(picked), _) => picked,
                // `const` and plain variants of one method.
                (None, several) => {
                    let (module, function) = self.same_signature(several, args.len())?;
                    (module, function, self.bind((module, function), env, explicit, args))
                }
            };
            return Some(Found { module, function, env: env_bound, record: Some((entry, env.clone())) });
        }
        let record = self.project.record_at(entry)?;
        let scope = self.scope_in(entry, env)?;
        for base in &record.bases {
            if let Ty::Record(base, base_env) = scope.resolve(*base)
                && let Some(found) = self.method_within(base, &base_env, name, explicit, args, nesting + 1)
            {
                return Some(found);
            }
        }
        None
    }

    /// Methods of one record with this name that have a body.
    fn methods_named(&self, entry: Entry, name: &Name) -> Vec<(ModuleId, FunctionId)> {
        let Some(record) = self.project.record_at(entry) else { return Vec::new() };
        let module = self.project.module(entry.module);
        let mut declared = false;
        let mut found = Vec::new();
        for id in &record.methods {
            let Some(method) = module.functions.get(*id).filter(|method| method.name == *name) else { continue };
            if method.body.is_some() {
                found.push((entry.module, *id));
            } else {
                declared = true;
            }
        }
        if declared {
            let scope = record.scope.within(record.name.clone());
            let path = scope.within(name.clone());
            for (module, id) in self.project.overloads(entry.module, &scope, &path).iter().copied() {
                let method = self.project.function_at(module, id);
                if method.is_some_and(|method| method.body.is_some() && method.scope == scope)
                    && !found.contains(&(module, id))
                {
                    found.push((module, id));
                }
            }
        }
        found
    }

    /// One of several methods that differ in `const` alone, and do the same: nobody knows here what is `const`. Of `T` and
    /// `T &` it is the one that gives a reference: a read through it gives the same, and a store through the other is lost.
    fn same_signature(&self, candidates: &[(ModuleId, FunctionId)], args: usize) -> Option<(ModuleId, FunctionId)> {
        let function = |it: &(ModuleId, FunctionId)| self.project.function_at(it.0, it.1);
        let fitting: Vec<&(ModuleId, FunctionId)> = candidates
            .iter()
            .filter(|it| function(it).is_some_and(|found| super::overloads::takes(found, args)))
            .collect();
        let (first, rest) = fitting.split_first()?;
        let types = |it: &(ModuleId, FunctionId)| {
            function(it).map(|found| {
                let scope = cudalint_program::Scope::new(self.project, it.0, Some(it.1), &TypeEnv::default());
                let params = found.params().iter();
                params.map(|local| scope.resolve(local.ty)).collect::<Vec<_>>()
            })
        };
        let does = |it: &(ModuleId, FunctionId)| {
            let text = function(it).map(|found| self.project.text(it.0, found.span)).unwrap_or_default();
            let body = text.find('{').and_then(|at| text.get(at..)).unwrap_or(text);
            body.replace("const", "").split_whitespace().collect::<String>()
        };
        let (expected, done) = (types(first), does(first));
        if !rest.iter().all(|it| types(it) == expected && does(it) == done) {
            return None;
        }
        let refers = |it: &&&(ModuleId, FunctionId)| {
            let returned = function(it).and_then(|found| self.project.module(it.0).types.get(found.returns));
            matches!(returned, Some(cudalint_program::ir::Type::Reference(_)))
        };
        fitting.iter().find(refers).or(Some(first)).map(|it| **it)
    }

    /// A call of a method of the record around by its bare name, or of one of its bases; `Record::method(…)`, and a static
    /// method called from another one. `owner` is the record where its name has template arguments.
    pub(super) fn own_method(
        &mut self,
        owner: Option<Ty>,
        path: &Path,
        explicit: &[Argument],
        args: &[Out],
        site: Site,
    ) -> Option<Out> {
        let name = path.last()?;
        let this = self.this_type();
        let bare = path.segments.len() == 1 && matches!(this, Some(Ty::Record(..)));
        let record = if bare { this.clone() } else { owner.or_else(|| self.record_before(path)) };
        let Some(Ty::Record(entry, env)) = record else { return None };
        let found = self.method_of(entry, &env, name, explicit, args)?;
        if !bare {
            match self.project.function_at(found.module, found.function)?.role {
                FunctionRole::StaticMethod => return self.invoke(&found, None, args, site),
                // `Base::method(…)` from a derived class.
                _ if this.is_some() => {}
                _ => return None,
            }
        }
        let pointer = self.this_pointer(site);
        let object = self.deref(&pointer, site);
        self.invoke_method(&found, &object, args, site)
    }

    /// What stands before the last `::`, or, where nothing does, the record of the static method around.
    fn record_before(&self, path: &Path) -> Option<Ty> {
        let owner = match path.segments.split_last()? {
            (_, []) => {
                let function = self.context.function.filter(|function| function.role == FunctionRole::StaticMethod)?;
                Path::single(function.scope.last().cloned()?)
            }
            (_, before) => before.iter().cloned().collect(),
        };
        Some(self.context.scope.named(&owner, &[]))
    }

    /// A record of this name: this one or one of its bases.
    fn base_named(&self, entry: Entry, env: &TypeEnv, name: &str) -> Option<(Entry, TypeEnv)> {
        let mut left = vec![(entry, env.clone())];
        for _ in 0..MAX_BASES {
            let (entry, env) = left.pop()?;
            let record = self.project.record_at(entry)?;
            if *record.name == *name {
                return Some((entry, env));
            }
            let scope = self.scope_in(entry, &env)?;
            left.extend(record.bases.iter().filter_map(|base| match scope.resolve(*base) {
                Ty::Record(base, base_env) => Some((base, base_env)),
                _ => None,
            }));
        }
        None
    }

    /// Calls a method on an object.
    pub(super) fn invoke_method(&mut self, found: &Found, object: &Out, args: &[Out], site: Site) -> Option<Out> {
        let function = self.project.function_at(found.module, found.function)?;
        if function.role == FunctionRole::StaticMethod {
            return self.invoke(found, None, args, site);
        }
        let (entry, env) = found.record.clone()?;
        let owner = Ty::Record(entry, env);
        let offset = self.offset_of_base(&object.ty, &owner).unwrap_or(0);
        let address = self.address(object);
        let address = self.offset(address, offset, site);
        self.invoke(found, Some((address, owner)), args, site)
    }

    /// `object.name(args)`.
    pub(super) fn method_call(&mut self, object: &Out, name: &Name, arrow: bool, args: &[Out], site: Site) -> Out {
        if let Ty::Record(entry, env) = object.ty.clone() {
            if self.field(&object.ty, name).is_some() {
                let callee = self.member(object, name, site);
                return self.call_value(&callee, args, site);
            }
            if let Some((owner, name)) = name.rsplit_once("::") {
                let base = self.base_named(entry, &env, owner.rsplit("::").next().unwrap_or(owner));
                let called = base.and_then(|(base, base_env)| {
                    let found = self.method_of(base, &base_env, &Name::from(name), &[], args)?;
                    self.invoke_method(&found, object, args, site)
                });
                return called.unwrap_or_else(|| {
                    let all: Vec<Out> = std::iter::once(object).chain(args).cloned().collect();
                    self.out_of_sight(&all, "method out of sight", site)
                });
            }
            // What a pointer or reference refers to may be of a derived class.
            let whole = match object.at {
                At::Memory { address, .. } => matches!(
                    self.kind(address),
                    Some(crate::code::Expr::VariableAddress(_) | crate::code::Expr::ObjectAddress(_))
                ),
                At::Register { .. } | At::Value(_) => true,
            };
            let is_virtual =
                (arrow || !whole) && self.project.record_at(entry).is_some_and(|record| record.has_virtual);
            if !is_virtual
                && let Some(found) = self.method_of(entry, &env, name, &[], args)
                && let Some(out) = self.invoke_method(&found, object, args, site)
            {
                return out;
            }
            let mut all = vec![object.clone()];
            all.extend_from_slice(args);
            return self.out_of_sight(&all, if is_virtual { "virtual call" } else { "method out of sight" }, site);
        }
        if name == "operator()" {
            return self.call_value(object, args, site);
        }
        match self.library_method(object, name, args, site) {
            Some(out) => out,
            None => {
                let mut all = vec![object.clone()];
                all.extend_from_slice(args);
                self.out_of_sight(&all, "library method", site)
            }
        }
    }

    /// An operator that the program defines for its own types; the object is the first argument.
    pub(super) fn user_operator(&mut self, name: &str, args: &[Out], site: Site) -> Option<Out> {
        let own = |ty: &Ty| matches!(ty, Ty::Record(..) | Ty::Vector { .. } | Ty::Enum { .. });
        if !args.iter().any(|arg| own(&arg.ty)) {
            return None;
        }
        let (first, rest) = args.split_first()?;
        let name = Name::from(name);
        if let Ty::Record(entry, env) = first.ty.clone()
            && let Some(found) = self.method_of(entry, &env, &name, &[], rest)
            && let Some(out) = self.invoke_method(&found, first, rest, site)
        {
            return Some(out);
        }
        if name == "operator=" {
            return None;
        }
        let found = self.function_for(&Path::single(name), &[], args)?;
        self.invoke(&found, None, args, site)
    }

    /// The value that an object's conversion to a type gives.
    pub(super) fn conversion_operator(&mut self, object: &Out, to: &Ty) -> Option<Out> {
        let wanted = |ty: &Ty| match (ty.decayed(), to) {
            (ty, to) if ty == *to => 3,
            (Ty::Pointer(_), Ty::Pointer(_)) => 2,
            (ty, to) if ty.common(to).is_some() => 1,
            _ => 0,
        };
        let mut best: Option<(u32, Found)> = None;
        for found in self.conversions(object) {
            let function = self.project.function_at(found.module, found.function)?;
            let key = Key {
                module: found.module,
                function: found.function,
                env: found.env.clone(),
                this: found.record.clone().map(|(entry, env)| Ty::Record(entry, env)),
                closure: None,
                by_argument: Vec::new(),
            };
            let _ = function;
            let returns = self.instance(key)?.returns;
            let score = wanted(&returns);
            if score > 0 && best.as_ref().is_none_or(|(other, _)| score > *other) {
                best = Some((score, found));
            }
        }
        let (_, found) = best?;
        self.invoke_method(&found, object, &[], object.site)
    }

    /// An object as the number or address that it can be converted to.
    pub(super) fn scalar_conversion(&mut self, object: &Out) -> Option<Out> {
        let found = self.conversions(object).into_iter().next()?;
        let out = self.invoke_method(&found, object, &[], object.site)?;
        super::convert::is_scalar(&out.ty).then_some(out)
    }

    fn conversions(&self, object: &Out) -> Vec<Found> {
        let mut out = Vec::new();
        let mut left = vec![object.ty.clone()];
        for _ in 0..MAX_BASES {
            let Some(Ty::Record(entry, env)) = left.pop() else { break };
            let Some(record) = self.project.record_at(entry) else { break };
            let module = self.project.module(entry.module);
            for id in &record.methods {
                let Some(method) = module.functions.get(*id) else { continue };
                let conversion = method.role == FunctionRole::Operator && method.name.starts_with("operator ");
                if conversion && method.body.is_some() {
                    let record = Some((entry, env.clone()));
                    out.push(Found { module: entry.module, function: *id, env: env.clone(), record });
                }
            }
            if let Some(scope) = self.scope_in(entry, &env) {
                left.extend(record.bases.iter().map(|base| scope.resolve(*base)));
            }
        }
        out
    }

    /// A class template with specializations has no one definition. Where it is the samples' wrapper around dynamic shared
    /// memory, every one of them gives the same first byte.
    pub(super) fn shared_memory_wrapper(&mut self, out: &Out) -> Option<ExprId> {
        let Ty::Library(name, args) = &out.ty else { return None };
        let owner: Vec<Name> = name.split("::").map(Name::from).collect();
        let path: Path = owner.iter().cloned().chain([Name::from("operator T")]).collect();
        let found = self.project.overloads(self.context.module, &self.inside(), &path);
        let (module, function) = found.iter().copied().find(|(module, id)| {
            self.project.function_at(*module, *id).is_some_and(|function| {
                function.body.is_some()
                    && function.locals.iter().any(|local| local.space == cudalint_program::ir::Space::DynamicShared)
            })
        })?;
        let env = TypeEnv::new(vec![(Name::from("T"), args.first()?.clone())]);
        let this = self.opaque_pointer(Vec::new(), out.site);
        let found = Found { module, function, env, record: None };
        let value = self.invoke(&found, Some((this, Ty::Unknown)), &[], out.site)?;
        Some(self.load(&value))
    }
}
