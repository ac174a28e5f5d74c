//! Calls of functions in sight.

use super::meaning::FUNCTION;
use super::state::{At, Context, Found, Key, Lowerer, Out};
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
        self.out_of_sight(&args_out, "call out of sight", site)
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
        self.out_of_sight(args, "call of unknown value", site)
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
        let instance = self.instance(key)?;
        let mut values: Vec<ExprId> = first.into_iter().collect();
        for (index, param) in instance.params.iter().enumerate() {
            let value = match (args.get(index), &param.ty) {
                (Some(arg), Ty::Reference(target)) => {
                    let target = Arc::clone(target);
                    self.bind_reference(arg, &target, param.is_const_reference)
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
