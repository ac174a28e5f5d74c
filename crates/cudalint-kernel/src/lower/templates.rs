//! Template parameters: explicit arguments, deduction from the types of arguments, defaults.

use super::state::{Lowerer, Out};
use cudalint_program::ir::{self, Expr, FunctionId, Module, ModuleId, TemplateArg, TemplateParam, Type, TypeId};
use cudalint_program::types::{Argument, Ty, TypeEnv};
use cudalint_program::{Name, Scope};

/// Deepest nesting of a type that is matched.
const MAX_NESTING: u32 = 12;

/// What parameters were found to stand for.
pub(super) type Bindings = Vec<(Name, Argument)>;

impl Lowerer<'_> {
    /// Explicit template arguments, resolved where they are written.
    pub(super) fn explicit(&self, targs: &[TemplateArg]) -> Vec<Argument> {
        targs
            .iter()
            .map(|arg| match arg {
                TemplateArg::Type(ty) => type_argument(self.resolve(*ty)),
                TemplateArg::Value(value) => self.value_argument(*value),
                TemplateArg::Ambiguous(ty, value) => match self.value_argument(*value) {
                    Argument::Unknown => match self.resolve(*ty) {
                        // A name that nobody knows is no type either.
                        Ty::Library(name, args) if args.is_empty() && !name.contains("::") => {
                            type_argument(Ty::Library(name, args))
                        }
                        ty => type_argument(ty),
                    },
                    value => value,
                },
            })
            .collect()
    }

    fn value_argument(&self, value: ir::ExprId) -> Argument {
        if let Some(value) = self.context.scope.eval(value) {
            return Argument::Value(value.into());
        }
        let mut node = self.node(value);
        if let Some(ir::ExprNode { kind: Expr::AddressOf(inner), .. }) = node {
            node = self.node(*inner);
        }
        match node.map(|node| &node.kind) {
            Some(Expr::Name { path, targs }) => {
                if let [name] = &*path.segments
                    && let Some(known) = self.context.scope.env().get(name)
                {
                    return known.clone();
                }
                match self.project.function_named(self.context.module, &self.inside(), path) {
                    Some((module, function)) => Argument::Type(self.function_type(module, function, targs)),
                    None => Argument::Unknown,
                }
            }
            _ => Argument::Unknown,
        }
    }

    /// What a function's template parameters stand for in a call; what cannot be told is unknown.
    pub(super) fn bind(
        &self,
        target: (ModuleId, FunctionId),
        around: &TypeEnv,
        explicit: &[Argument],
        args: &[Out],
    ) -> TypeEnv {
        let Some(function) = self.project.function_at(target.0, target.1) else { return around.clone() };
        if function.template_params.is_empty() {
            return around.clone();
        }
        let module = self.project.module(target.0);
        let params = &function.template_params;
        let mut bound: Bindings = Vec::new();
        for (param, argument) in params.iter().zip(explicit) {
            if param.pack {
                break;
            }
            bound.push((param.name.clone(), argument.clone()));
        }
        let locals = function.params();
        for (local, arg) in locals.iter().zip(args) {
            unify(module, params, local.ty, &arg.ty, &mut bound, 0, |entry| {
                self.project.record_at(entry).map(|record| record.name.clone())
            });
        }
        for param in params {
            if bound.iter().any(|(name, _)| *name == param.name) {
                continue;
            }
            let default = param.default.as_ref().filter(|_| !param.pack).map(|default| {
                let so_far = around.with(bound.iter().cloned());
                let scope = Scope::new(self.project, target.0, Some(target.1), &so_far);
                match default {
                    TemplateArg::Type(ty) => type_argument(super::types::canonical(scope.resolve(*ty))),
                    TemplateArg::Value(value) => {
                        scope.eval(*value).map_or(Argument::Unknown, |value| Argument::Value(value.into()))
                    }
                    TemplateArg::Ambiguous(ty, value) => match scope.eval(*value) {
                        Some(value) => Argument::Value(value.into()),
                        None => type_argument(super::types::canonical(scope.resolve(*ty))),
                    },
                }
            });
            bound.push((param.name.clone(), default.unwrap_or(Argument::Unknown)));
        }
        around.with(bound)
    }
}

fn type_argument(ty: Ty) -> Argument {
    if matches!(ty, Ty::Unknown | Ty::Auto) { Argument::Unknown } else { Argument::Type(ty) }
}

/// Matches a type as a template writes it with the type of an argument.
fn unify(
    module: &Module,
    params: &[TemplateParam],
    written: TypeId,
    actual: &Ty,
    bound: &mut Bindings,
    nesting: u32,
    name_of: impl Fn(cudalint_program::Entry) -> Option<Name> + Copy,
) {
    if nesting > MAX_NESTING || matches!(actual, Ty::Unknown | Ty::Auto) {
        return;
    }
    let Some(ty) = module.types.get(written) else { return };
    match ty {
        Type::Qualified { ty, .. } => unify(module, params, *ty, actual, bound, nesting + 1, name_of),
        Type::Reference(to) => {
            // An array stays an array only behind a reference.
            let mut inner = module.types.get(*to);
            if let Some(Type::Qualified { ty, .. }) = inner {
                inner = module.types.get(*ty);
            }
            match inner {
                Some(Type::Array(of, count)) => {
                    let Ty::Array(element, known) = actual else { return };
                    unify(module, params, *of, element, bound, nesting + 1, name_of);
                    if let (Some(count), Some(known)) = (count, known.known()) {
                        bind_value(module, params, *count, known, bound);
                    }
                }
                _ => unify(module, params, *to, actual, bound, nesting + 1, name_of),
            }
        }
        Type::Pointer(to) | Type::Array(to, _) => {
            if let Ty::Pointer(target) | Ty::Array(target, _) = actual {
                unify(module, params, *to, target, bound, nesting + 1, name_of);
            }
        }
        Type::Named { path, args } => {
            if args.is_empty()
                && let [name] = &*path.segments
                && params.iter().any(|param| param.name == *name && !param.pack)
            {
                if !bound.iter().any(|(known, _)| known == name) {
                    let decayed = if nesting == 0 { actual.decayed() } else { actual.clone() };
                    bound.push((name.clone(), Argument::Type(decayed)));
                }
                return;
            }
            let (env, actual_args): (Option<&TypeEnv>, &[Argument]) = match actual {
                Ty::Record(entry, env) if name_of(*entry).as_ref() == path.last() => (Some(env), &[]),
                Ty::Library(name, actual_args) => {
                    let last = name.rsplit("::").next().unwrap_or(name);
                    if path.last().is_none_or(|own| own.as_str() != last) {
                        return;
                    }
                    (None, actual_args)
                }
                _ => return,
            };
            let given: Vec<Argument> = match env {
                Some(env) => env.iter().map(|(_, argument)| argument.clone()).collect(),
                None => actual_args.to_vec(),
            };
            for (arg, actual) in args.iter().zip(&given) {
                match (arg, actual) {
                    (TemplateArg::Type(ty) | TemplateArg::Ambiguous(ty, _), Argument::Type(actual)) => {
                        unify(module, params, *ty, actual, bound, nesting + 1, name_of);
                    }
                    (TemplateArg::Value(value) | TemplateArg::Ambiguous(_, value), actual) => {
                        if let Some(actual) = actual.number() {
                            bind_value(module, params, *value, actual, bound);
                        }
                    }
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

fn bind_value(module: &Module, params: &[TemplateParam], value: ir::ExprId, actual: i64, bound: &mut Bindings) {
    let Some(Expr::Name { path, .. }) = module.exprs.get(value).map(|node| &node.kind) else { return };
    let [name] = &*path.segments else { return };
    let is_param = params.iter().any(|param| param.name == *name && param.value_type.is_some());
    if is_param && !bound.iter().any(|(known, _)| known == name) {
        bound.push((name.clone(), Argument::Value(actual.into())));
    }
}
