//! Template arguments: what template parameters stand for, by what is written for them, by what a call is given, and by defaults.

use crate::ir::{Expr, ExprId, Function, FunctionId, Module, ModuleId, Path, TemplateArg, TemplateParam, Type, TypeId};
use crate::scope::Context;
use crate::types::{Argument, Ty, TypeEnv, last_segment};
use cudalint_numbers::Quantity;

impl Context<'_> {
    /// Binds parameters to arguments written here; defaults are read where the parameters are declared. `None` when an
    /// argument is of the wrong kind or there are too many.
    pub(crate) fn bind(
        &self,
        module: ModuleId,
        scope: &Path,
        around: &TypeEnv,
        params: &[TemplateParam],
        args: &[TemplateArg],
    ) -> Option<TypeEnv> {
        let pack = params.iter().any(|param| param.pack);
        if args.len() > params.len() && !pack {
            return None;
        }
        let mut env = around.clone();
        for (index, param) in params.iter().enumerate() {
            let argument = match args.get(index) {
                _ if param.pack => Argument::Unknown,
                Some(arg) => self.argument(param, arg),
                None => match &param.default {
                    Some(default) => self.at(module, scope, &env).argument(param, default),
                    None => Argument::Unknown,
                },
            };
            env.push(param.name.clone(), argument);
        }
        Some(env)
    }

    pub(crate) fn argument(&self, param: &TemplateParam, arg: &TemplateArg) -> Argument {
        match (param.value_type.is_some(), arg) {
            (false, TemplateArg::Type(ty) | TemplateArg::Ambiguous(ty, _)) => match self.resolve(*ty) {
                Ty::Unknown => Argument::Unknown,
                ty => Argument::Type(ty),
            },
            (true, TemplateArg::Value(expr) | TemplateArg::Ambiguous(_, expr)) => self.value(*expr),
            _ => Argument::Unknown,
        }
    }

    pub(crate) fn any_argument(&self, arg: &TemplateArg) -> Argument {
        match arg {
            TemplateArg::Type(ty) => Argument::Type(self.resolve(*ty)),
            TemplateArg::Value(expr) => self.value(*expr),
            TemplateArg::Ambiguous(ty, expr) => match self.value(*expr) {
                Argument::Value(Quantity::Unknown) | Argument::Unknown => Argument::Type(self.resolve(*ty)),
                value => value,
            },
        }
    }

    /// What a function's template parameters stand for at a call from here: explicit arguments, then what the types of
    /// the arguments say, then defaults.
    pub fn bind_call(&self, module: ModuleId, id: FunctionId, targs: &[TemplateArg], args: &[ExprId]) -> TypeEnv {
        let Some(function) = self.project.function_at(module, id) else { return TypeEnv::default() };
        let params = &function.template_params;
        if params.is_empty() {
            return TypeEnv::default();
        }
        let mut env = self.explicit(params, targs);
        let types: Vec<Ty> = args.iter().map(|arg| self.type_of(*arg)).collect();
        self.complete(module, function, &mut env, &types);
        let bound = |param: &TemplateParam| env.get(&param.name).cloned().unwrap_or(Argument::Unknown);
        TypeEnv::new(params.iter().map(|param| (param.name.clone(), bound(param))).collect())
    }

    pub(crate) fn explicit(&self, params: &[TemplateParam], targs: &[TemplateArg]) -> TypeEnv {
        let written = params.iter().zip(targs).take_while(|(param, _)| !param.pack);
        TypeEnv::new(written.map(|(param, arg)| (param.name.clone(), self.argument(param, arg))).collect())
    }

    pub(crate) fn complete(&self, module: ModuleId, function: &Function, env: &mut TypeEnv, args: &[Ty]) {
        for (variable, found) in function.params().iter().zip(args) {
            let module = self.project.module(module);
            // By value an array comes as a pointer, by reference as it is.
            let decayed = found.decayed();
            let by_reference = matches!(module.types.get(variable.ty), Some(Type::Reference(_)));
            let found = if by_reference { found.value() } else { &decayed };
            self.deduce(module, function, variable.ty, found, env, 0);
        }
        for param in &function.template_params {
            if let Some(default) = param.default.as_ref().filter(|_| !param.pack && env.get(&param.name).is_none()) {
                let argument = self.at(module, &function.scope, env).argument(param, default);
                env.push(param.name.clone(), argument);
            }
        }
    }

    /// Binds the type parameters that a function's parameter type names, by the type of what is handed over.
    fn deduce(&self, module: &Module, function: &Function, written: TypeId, found: &Ty, env: &mut TypeEnv, depth: u32) {
        if depth > 8 || matches!(found, Ty::Unknown | Ty::Auto) {
            return;
        }
        match module.types.get(written) {
            Some(Type::Qualified { ty, .. } | Type::Reference(ty)) => {
                self.deduce(module, function, *ty, found, env, depth + 1);
            }
            Some(written @ (Type::Pointer(to) | Type::Array(to, _))) => {
                // `T (&x)[N]`
                if let (Type::Array(_, Some(extent)), Ty::Array(_, count)) = (written, found)
                    && let Some(Expr::Name { path, .. }) = module.exprs.get(*extent).map(|node| &node.kind)
                    && let [name] = &*path.segments
                    && function.template_params.iter().any(|param| param.name == *name && param.value_type.is_some())
                    && env.get(name).is_none()
                {
                    env.push(name.clone(), Argument::Value(count.clone()));
                }
                if let Ty::Pointer(inner) | Ty::Array(inner, _) = found {
                    self.deduce(module, function, *to, inner.value(), env, depth + 1);
                }
            }
            Some(Type::Named { path, args }) => {
                let Some(name) = path.last() else { return };
                let is_param = |param: &TemplateParam| param.name == *name && param.value_type.is_none() && !param.pack;
                if args.is_empty() && path.segments.len() == 1 && function.template_params.iter().any(is_param) {
                    if env.get(name).is_none() {
                        env.push(name.clone(), Argument::Type(found.value().clone()));
                    }
                    return;
                }
                let theirs: Vec<&Argument> = match found {
                    Ty::Record(entry, env)
                        if self.project.record_at(*entry).is_some_and(|record| record.name == *name) =>
                    {
                        env.iter().map(|(_, argument)| argument).collect()
                    }
                    Ty::Library(library, args) if last_segment(library) == name.as_str() => args.iter().collect(),
                    _ => return,
                };
                for (arg, value) in args.iter().zip(theirs) {
                    if let (TemplateArg::Type(ty) | TemplateArg::Ambiguous(ty, _), Argument::Type(found)) = (arg, value)
                    {
                        self.deduce(module, function, *ty, found, env, depth + 1);
                    }
                }
            }
            _ => {}
        }
    }
}
