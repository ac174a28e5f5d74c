//! Which of several functions of a name a call or a launch means.

use super::calls::Invocation;
use super::{Out, Walker};
use cudalint_program::ir::{
    Expr, ExprId, Function, FunctionId, FunctionRole, Module, ModuleId, Path, TemplateArg, Type, TypeId,
};
use cudalint_program::types::{Ty, TypeEnv};
use cudalint_program::{Name, Scope, accepts};

/// Functions of one name that are looked at, at most.
const MOST_OVERLOADS: usize = 64;

/// How well an argument of just the parameter's type suits.
const EXACT: u32 = 3;

/// A function with what its template parameters stand for.
type Chosen = ((ModuleId, FunctionId), TypeEnv);

impl Walker<'_> {
    /// The one of several kernels of a name that takes arguments of these types: an overload that is no template before one that is,
    /// and a template itself where no specialization is for just these types.
    pub(super) fn overloaded_kernel(&mut self, kernel: ExprId, args: &[Ty]) -> Option<Chosen> {
        let Some(Expr::Name { path, targs }) = self.kind(self.without_casts(kernel)) else { return None };
        if args.contains(&Ty::Unknown) {
            return None;
        }
        let candidates = self.project.overloads(self.module_id(), &self.scope(), path);
        let mut best: Option<(u32, Chosen)> = None;
        let mut several = false;
        for &(module, id) in candidates.iter().take(MOST_OVERLOADS) {
            let Some(function) = self.project.function_at(module, id) else { continue };
            if !function.space.global || function.body.is_none() || !accepts(function, args.len()) {
                continue;
            }
            if leaves_open(self.project.module(module), function, targs) {
                continue;
            }
            let Some((fits, env)) = self.fits(module, id, function, targs, args) else { continue };
            let rank = rank(function, fits);
            match &best {
                Some((known, _)) if *known > rank => {}
                Some((known, _)) if *known == rank => several = true,
                _ => {
                    best = Some((rank, ((module, id), env)));
                    several = false;
                }
            }
        }
        best.filter(|_| !several).map(|(_, chosen)| chosen)
    }

    /// The call of a function whose name several have, where one alone takes arguments of just these types. Conversions are not
    /// compared: what they lead to may hang on classes out of sight.
    pub(super) fn overloaded_call(
        &mut self,
        id: ExprId,
        path: &Path,
        targs: &[TemplateArg],
        args: &[ExprId],
        outs: &[Out],
    ) -> Option<Out> {
        let types: Vec<Ty> = outs.iter().map(|out| out.ty.decayed()).collect();
        if types.is_empty() || types.iter().any(Ty::is_unknown) {
            return None;
        }
        let candidates = self.project.overloads(self.module_id(), &self.scope(), path);
        let mut exact: Vec<(u32, Chosen, bool)> = Vec::new();
        for &(module, id) in candidates.get(..MOST_OVERLOADS).unwrap_or(&candidates) {
            let function = self.project.function_at(module, id)?;
            if function.role != FunctionRole::Free || self.is_own_method(function) || function.is_specialization {
                return None;
            }
            if !function.space.host || !accepts(function, types.len()) {
                continue;
            }
            let Some((fits, env)) = self.fits(module, id, function, targs, &types) else { continue };
            if fits == EXACT * types.len() as u32 {
                exact.push((rank(function, fits), ((module, id), env), function.body.is_some()));
            }
        }
        let best = exact.iter().map(|(rank, ..)| *rank).max()?;
        exact.retain(|(rank, ..)| *rank == best);
        let written = |chosen: &Chosen| self.project.function_at(chosen.0.0, chosen.0.1).map(shape);
        // A definition beside its declaration.
        let bodies = exact.iter().filter(|(.., body)| *body).count();
        let (_, (target, env), _) = exact.iter().find(|(.., body)| *body).filter(|_| bodies == 1)?.clone();
        let own = written(&(target, TypeEnv::default()))?;
        if exact.iter().any(|(_, other, _)| written(other) != Some(own)) {
            return None;
        }
        let args_of_call = outs.to_vec();
        let call = Invocation {
            module: target.0,
            id: target.1,
            env,
            this: None,
            closure: None,
            exprs: args,
            args: args_of_call,
        };
        Some(self.invoke(id, call))
    }

    /// How well arguments suit a function's parameters, and what its template parameters stand for then; nothing where one does not.
    fn fits(
        &mut self,
        module: ModuleId,
        id: FunctionId,
        function: &Function,
        targs: &[TemplateArg],
        args: &[Ty],
    ) -> Option<(u32, TypeEnv)> {
        let mut env = self.explicit_env(module, id, targs);
        Scope::open(self.project, module, None, &env.clone()).complete(module, function, &mut env, args);
        let of = |param: TypeId| self.resolve_in(module, function, &env, param);
        let fit = |(param, arg): (&cudalint_program::ir::Variable, &Ty)| {
            fit(of(param.ty).value(), arg).filter(|fit| *fit == EXACT || !function.is_specialization)
        };
        let fits: Option<u32> = function.params().iter().zip(args).map(fit).sum();
        Some((fits?, env))
    }
}

/// Whether a template has a parameter that neither is written nor has a default nor stands in the type of an argument: nothing says what
/// it is, so that a call means another function of the name.
pub(super) fn leaves_open(module: &Module, function: &Function, targs: &[TemplateArg]) -> bool {
    let unwritten = function.template_params.iter().skip(targs.len());
    let mut open = unwritten.filter(|param| !param.pack && param.default.is_none() && !param.name.is_empty());
    open.any(|param| !function.params().iter().any(|argument| may_name(module, argument.ty, &param.name)))
}

/// Whether a type may name a template parameter.
fn may_name(module: &Module, ty: TypeId, name: &Name) -> bool {
    let mut open = vec![ty];
    let is_literal = |expr: ExprId| matches!(module.exprs.get(expr).map(|node| &node.kind), Some(Expr::Int { .. }));
    while let Some(ty) = open.pop() {
        match module.types.get(ty) {
            Some(Type::Void | Type::Int { .. } | Type::Bool | Type::Float { .. } | Type::Vector { .. }) => {}
            Some(Type::Pointer(to) | Type::Reference(to) | Type::Qualified { ty: to, .. }) => open.push(*to),
            Some(Type::Array(of, extent)) if extent.is_none_or(is_literal) => open.push(*of),
            Some(Type::Named { path, args }) if !path.segments.contains(name) => {
                for arg in args {
                    match arg {
                        TemplateArg::Type(ty) => open.push(*ty),
                        TemplateArg::Value(value) if is_literal(*value) => {}
                        TemplateArg::Value(_) | TemplateArg::Ambiguous(..) => return true,
                    }
                }
            }
            _ => return true,
        }
    }
    false
}

fn rank(function: &Function, fits: u32) -> u32 {
    let template = !function.template_params.is_empty();
    4 * fits + if function.is_specialization { 2 } else { u32::from(!template) }
}

/// What tells a function's declaration from that of another one that takes the same arguments.
fn shape(function: &Function) -> (u32, usize) {
    (function.param_count, function.template_params.len())
}

/// How well an argument suits a parameter; none where it does not at all.
fn fit(param: &Ty, arg: &Ty) -> Option<u32> {
    if param == arg {
        return Some(EXACT);
    }
    let number = |ty: &Ty| matches!(ty, Ty::Bool | Ty::Int { .. } | Ty::Float { .. } | Ty::Enum { .. });
    match (param, arg) {
        // A template's own.
        (Ty::Unknown, _) => Some(1),
        (Ty::Pointer(to), Ty::Pointer(from)) if **to == Ty::Void || **to == Ty::Unknown || **from == Ty::Void => {
            Some(1)
        }
        (param, arg) if number(param) && number(arg) => Some(1),
        _ => None,
    }
}
