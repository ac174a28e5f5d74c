//! Calls of functions in sight.

use super::meaning::FUNCTION;
use super::state::{At, Context, Found, Key, Lent, Lowerer, Out};
use crate::code::{self, Effect, Expr, ExprId, Intrinsic};
use crate::report::Site;
use cudalint_program::ir::{self, FunctionId, FunctionRole, ModuleId, Path, TemplateArg, Type};
use cudalint_program::types::{Argument, Ty, TypeEnv};
use std::sync::Arc;

impl<'p> Lowerer<'p> {
    /// `callee(args)`.
    pub(super) fn call(&mut self, callee: ir::ExprId, args: &'p [ir::ExprId], site: Site) -> Out {
        match self.node(callee).map(|node| &node.kind) {
            Some(ir::Expr::Name { path, targs }) => self.call_name(callee, path, targs, args, site),
            Some(ir::Expr::Member { base, name, arrow }) => {
                let base = self.object(*base, *arrow);
                let args = self.arguments(args);
                self.method_call(&base, name, *arrow, &args, site)
            }
            _ => {
                let callee = self.expr(callee);
                let args = self.arguments(args);
                self.call_value(&callee, &args, site)
            }
        }
    }

    pub(super) fn arguments(&mut self, args: &'p [ir::ExprId]) -> Vec<Out> {
        args.iter().map(|arg| self.expr(*arg)).collect()
    }

    fn call_name(
        &mut self,
        callee: ir::ExprId,
        path: &'p Path,
        targs: &'p [TemplateArg],
        args: &'p [ir::ExprId],
        site: Site,
    ) -> Out {
        if let [name] = &*path.segments
            && targs.is_empty()
        {
            let value = match self.context.scope.env().get(name) {
                Some(Argument::Type(ty)) if !matches!(ty, Ty::Library(of, _) if &**of == FUNCTION) => {
                    // `T(x)`.
                    let ty = ty.clone();
                    return self.construct_as(&ty, args, site);
                }
                Some(_) => true,
                None => self.is_captured(name) || self.this_type().is_some_and(|own| self.field(&own, name).is_some()),
            };
            if value {
                let callee = self.expr(callee);
                let args = self.arguments(args);
                return self.call_value(&callee, &args, site);
            }
        }
        if args.is_empty()
            && self.site_of(callee) == site
            && path.last().is_some_and(|name| self.project.has_macro(self.context.module, name))
        {
            // A macro that expands to nothing: all of the call is its name.
            return self.unknown(Vec::new(), Effect::None, Ty::Void, site);
        }
        let args_out = self.arguments(args);
        // What belongs to the compiler is its own, whatever a header declares under that name for editors.
        if let [name] = &*path.segments
            && name.starts_with("__")
            && let Some(out) = self.intrinsic_call(name, &args_out, site)
        {
            return out;
        }
        let explicit = self.explicit(targs);
        let owner = self.context.scope.owner(callee);
        if let Some(out) = self.own_method(owner, path, &explicit, &args_out, site) {
            return out;
        }
        if let Some(found) = self.function_for(path, &explicit, &args_out) {
            if let Some(out) = self.invoke(&found, None, &args_out, site) {
                return out;
            }
            // It is this one, and not a library's function of its name.
            let function = self.project.function_at(found.module, found.function);
            let body = function.and_then(|function| function.body.as_ref());
            if body.is_some_and(Vec::is_empty) {
                return self.unknown(Vec::new(), Effect::None, Ty::Void, site);
            }
            if body.is_some() {
                return self.out_of_sight(&args_out, "call out of sight", site);
            }
        }
        if let Some(out) = self.library(path, &explicit, &args_out, site) {
            return out;
        }
        let library = ["cg", "cooperative_groups", "cub", "thrust", "std", "cuda"];
        if args.is_empty() && path.segments.first().is_some_and(|first| library.contains(&first.as_str())) {
            // `cg::plus<int>()`: a functor of a library.
            let ty = self.context.scope.named(path, targs);
            return self.construct_library(&ty, &[], site);
        }
        match self.context.scope.named(path, targs) {
            ty @ Ty::Record(..) => return self.construct_as(&ty, args, site),
            ty if super::types::canonical(ty.clone()) != ty => {
                let ty = super::types::canonical(ty);
                return self.construct_as(&ty, args, site);
            }
            ty @ (Ty::Int { .. } | Ty::Float { .. } | Ty::Bool | Ty::Vector { .. } | Ty::Enum { .. }) => {
                return self.construct_as(&ty, args, site);
            }
            ty @ Ty::Library(..) if super::library_types::is_constructed(&ty) => {
                return self.construct_library(&ty, &args_out, site);
            }
            _ => {}
        }
        // A variable at namespace scope that is called.
        if let Some(entry) = self.project.global(self.context.module, &self.inside(), path)
            && let Some((object, ty, volatile)) = self.global_object(entry)
            && matches!(ty, Ty::Record(..))
        {
            let callee = self.object_place(object, &ty, volatile, site);
            return self.call_value(&callee, &args_out, site);
        }
        if path.last().is_some_and(|name| cudalint_syntax::is_caps(name.as_bytes())) {
            // A macro, as such names go: it may as well return from the function.
            self.gap("macro out of sight");
            let children = args_out.iter().map(|arg| self.escaping(arg)).collect();
            return self.unknown(children, Effect::Anything, Ty::Unknown, site);
        }
        let mut all = args_out;
        if let [name] = &*path.segments
            && self.may_be_member(name)
        {
            let this = self.this_pointer(site);
            all.push(this);
        }
        self.out_of_sight(&all, "call out of sight", site)
    }

    /// Whether a bare name may mean something of the object around: a method out of sight, or a field that is called.
    fn may_be_member(&self, name: &str) -> bool {
        let Some(Ty::Record(entry, _)) = self.this_type() else { return false };
        let Some(record) = self.project.record_at(entry) else { return true };
        let module = self.project.module(entry.module);
        !record.bases.is_empty()
            || record.fields.iter().any(|field| field.name == *name)
            || record.methods.iter().filter_map(|id| module.functions.get(*id)).any(|method| method.name == *name)
    }

    /// A call of a function that nobody can see.
    pub(super) fn out_of_sight(&mut self, args: &[Out], cause: &'static str, site: Site) -> Out {
        self.gap(cause);
        let number = |ty: &Ty| matches!(ty, Ty::Bool | Ty::Int { .. } | Ty::Float { .. } | Ty::Enum { .. });
        let memory = !args.iter().all(|arg| number(&arg.ty));
        let discarded = self.discarded == Some(site);
        if let ([condition], true) = (args, discarded)
            && condition.ty == Ty::Bool
        {
            // An assertion, or what a prover is told.
            let condition = self.load(condition);
            let assumed = self.push(Expr::Intrinsic(Intrinsic::Assume, vec![condition]), code::Ty::Void, site);
            return self.computed(assumed, Ty::Void, site);
        }
        let mut children: Vec<ExprId> = args.iter().map(|arg| self.escaping(arg)).collect();
        if discarded {
            // It has its effect elsewhere: perhaps through references to the numbers that it is given.
            for arg in args.iter().filter(|arg| matches!(arg.at, At::Register { .. }) && number(&arg.ty)) {
                let something = self.unknown(Vec::new(), Effect::None, arg.ty.clone(), site);
                let something = self.load(&something);
                let stored = self.store(arg, something);
                children.extend(self.effect_of(&stored));
            }
        }
        self.unknown(children, Effect::Call { memory, discarded }, Ty::Unknown, site)
    }

    /// What a function gets that nobody can see: it may take the address of what it is given.
    fn escaping(&mut self, arg: &Out) -> ExprId {
        match arg.at {
            At::Register { .. } if !super::convert::is_scalar(&arg.ty) => self.address(arg),
            At::Memory { address, .. } => address,
            _ => self.load(arg),
        }
    }

    /// Calls what an expression is: a function known by name, a lambda, an object with `operator()`.
    pub(super) fn call_value(&mut self, callee: &Out, args: &[Out], site: Site) -> Out {
        match &callee.ty {
            Ty::Library(name, known) if &**name == FUNCTION => {
                if let [module, function, explicit @ ..] = &**known
                    && let (Some(module), Some(function)) = (module.number(), function.number())
                    && let Some(out) = self.call_known(module, function, explicit, args, site)
                {
                    return out;
                }
            }
            Ty::Record(entry, env) => {
                let (entry, env) = (*entry, env.clone());
                if let Some(found) = self.method_of(entry, &env, &"operator()".into(), &[], args)
                    && let Some(out) = self.invoke_method(&found, callee, args, site)
                {
                    return out;
                }
            }
            Ty::Library(name, _) if super::library_types::is_functor(name) => {
                let ty = args.first().map_or(Ty::Unknown, |arg| arg.ty.decayed());
                let name = name.to_string();
                return self.pure(&name, args, ty, site);
            }
            ty => {
                if let Some(closure) = self.closure_of(ty)
                    && let Some(out) = self.call_closure(closure, callee, args, site)
                {
                    return out;
                }
            }
        }
        // An object that is called may hold addresses; a function does not, nor does what was given none.
        let bare = match (&callee.ty, callee.at) {
            (Ty::Pointer(_) | Ty::Function, _) => true,
            (Ty::Library(name, _), _) if &**name == FUNCTION => true,
            (_, At::Register { variable, .. }) => !self.is_given(variable),
            _ => false,
        };
        let all: Vec<Out> = (!bare).then_some(callee).into_iter().chain(args).cloned().collect();
        self.out_of_sight(&all, "call of unknown value", site)
    }

    /// Whether a variable was given a value so far.
    fn is_given(&self, variable: code::VariableId) -> bool {
        variable.0 < self.body.parameters
            || self.body.register_uses.iter().any(|id| {
                matches!(
                    self.kind(*id),
                    Some(Expr::Write(code::Place::Register { variable: of, .. }, _)) if *of == variable
                )
            })
    }

    fn call_known(
        &mut self,
        module: i64,
        function: i64,
        explicit: &[Argument],
        args: &[Out],
        site: Site,
    ) -> Option<Out> {
        let module = ModuleId(u32::try_from(module).ok()?);
        let function = FunctionId(u32::try_from(function).ok()?);
        let found = self.project.function_at(module, function)?;
        found.body.as_ref()?;
        let env = self.bind((module, function), &TypeEnv::default(), explicit, args);
        self.invoke(&Found { module, function, env, record: None }, None, args, site)
    }

    /// Calls a function with its arguments converted.
    pub(super) fn invoke(
        &mut self,
        found: &Found,
        this: Option<(ExprId, Ty)>,
        args: &[Out],
        site: Site,
    ) -> Option<Out> {
        let function = self.project.function_at(found.module, found.function)?;
        if function.variadic || function.template_params.iter().any(|param| param.pack) {
            self.gap("parameter pack");
            return None;
        }
        if matches!(function.role, FunctionRole::Method | FunctionRole::Constructor) && this.is_none() {
            self.gap("method without object");
            return None;
        }
        let by_argument = self.by_argument(found, function, args);
        let key = Key {
            module: found.module,
            function: found.function,
            env: found.env.clone(),
            this: this.as_ref().map(|(_, ty)| ty.clone()),
            closure: None,
            by_argument,
        };
        self.invoke_key(key, this.map(|(address, _)| address), args, site)
    }

    /// Calls an instance.
    pub(super) fn invoke_key(&mut self, key: Key, first: Option<ExprId>, args: &[Out], site: Site) -> Option<Out> {
        let place = (key.module, key.function, key.env.clone());
        let maker = self.project.function_at(key.module, key.function)?.role == FunctionRole::Constructor;
        let made = key.this.clone().filter(|_| maker);
        let instance = self.instance(key)?;
        // What gives a reference back, or makes an object that may hold one.
        let keeps = match made.as_ref().unwrap_or(&instance.returns) {
            Ty::Reference(_) | Ty::Library(..) => true,
            Ty::Record(entry, _) => self.project.record_at(*entry).is_none_or(|record| {
                let module = self.project.module(entry.module);
                let leads = |ty| matches!(module.types.get(ty), Some(Type::Reference(_) | Type::Pointer(_)));
                record.fields.iter().any(|field| leads(field.ty))
            }),
            _ => false,
        };
        let mut values: Vec<ExprId> = first.into_iter().collect();
        for (index, param) in instance.params.iter().enumerate() {
            let value = match (args.get(index), &param.ty) {
                (Some(arg), Ty::Reference(target)) => {
                    let target = Arc::clone(target);
                    let lent = match param.is_const_reference {
                        false => Lent::Changeable,
                        true if keeps => Lent::Kept,
                        true => Lent::ForTheCall,
                    };
                    self.bind_reference(arg, &target, lent)
                }
                (Some(arg), ty) => self.convert(arg, ty),
                (None, ty) => match param.default {
                    Some(default) => self.default_argument(&place, default, ty),
                    None => self.missing(ty, site),
                },
            };
            values.push(value);
        }
        let returns = instance.returns.clone();
        let code_ty = self.ty(&returns);
        let id = self.push(Expr::Call(instance.id, values), code_ty, site);
        Some(match returns {
            Ty::Reference(to) => self.pointed(id, (*to).clone(), false, site),
            ty => self.computed(id, ty, site),
        })
    }

    fn missing(&mut self, ty: &Ty, site: Site) -> ExprId {
        self.gap("argument out of sight");
        let code_ty = self.ty(ty);
        self.push(Expr::Opaque { children: Vec::new(), effect: Effect::None }, code_ty, site)
    }

    fn default_argument(
        &mut self,
        (module, function, env): &(ModuleId, FunctionId, TypeEnv),
        default: ir::ExprId,
        ty: &Ty,
    ) -> ExprId {
        let context = Context::of_function(self.project, (*module, *function), env);
        self.elsewhere(context, |this| {
            let value = this.value_of_type(default, ty.value());
            this.convert(&value, ty)
        })
    }

    /// Types of parameters that only the arguments tell.
    pub(super) fn by_argument(&self, found: &Found, function: &ir::Function, args: &[Out]) -> Vec<(u32, Ty)> {
        let module = self.project.module(found.module);
        let mut by_argument = Vec::new();
        for (index, (local, arg)) in function.params().iter().zip(args).enumerate() {
            if matches!(arg.ty, Ty::Unknown | Ty::Auto | Ty::Void) {
                continue;
            }
            let mut ty = module.types.get(local.ty);
            let mut reference = false;
            let mut pointer = false;
            for _ in 0..6 {
                match ty {
                    Some(Type::Qualified { ty: inner, .. }) => ty = module.types.get(*inner),
                    Some(Type::Reference(inner)) => {
                        reference = true;
                        ty = module.types.get(*inner);
                    }
                    Some(Type::Pointer(inner)) => {
                        pointer = true;
                        ty = module.types.get(*inner);
                    }
                    _ => break,
                }
            }
            let known_function = matches!(&arg.ty, Ty::Library(name, _) if &**name == FUNCTION);
            let open = match ty {
                Some(Type::Auto) => true,
                Some(Type::Function | Type::Unknown) => known_function,
                Some(Type::Named { path, .. }) => {
                    known_function
                        || (super::groups::kind_of(&arg.ty).is_some()
                            && path.last().is_some_and(|name| name == "thread_group"))
                        || matches!(&*path.segments, [name] if found.env.get(name) == Some(&Argument::Unknown))
                }
                _ => false,
            };
            if !open {
                continue;
            }
            let decayed = arg.ty.decayed();
            let ty = if known_function {
                decayed
            } else if reference {
                Ty::Reference(Arc::new(arg.ty.clone()))
            } else if pointer && !matches!(decayed, Ty::Pointer(_)) {
                continue;
            } else {
                decayed
            };
            by_argument.push((index as u32, ty));
        }
        by_argument
    }
}
