//! The value of an expression that the source alone fixes.

use crate::constant::{Constant, binary, real, unary};
use crate::crowd::Entry;
use crate::ir::{Expr, ExprId, FunctionId, LocalId, ModuleId, Path, Space, Stmt, Type, TypeId, Variable};
use crate::name::Name;
use crate::scope::Context;
use crate::types::{Ty, TypeEnv};
use cudalint_numbers::Integer;

impl Context<'_> {
    pub fn eval(&self, expr: ExprId) -> Option<Constant> {
        self.budget.deeper(|| self.eval_inner(expr))?
    }

    fn eval_inner(&self, id: ExprId) -> Option<Constant> {
        match self.expr(id)? {
            Expr::Int { value, bytes, signed } => Some(Constant::int(i128::from(*value), *bytes, *signed)),
            Expr::Float { value, bytes } => Some(Constant::float(*value, *bytes)),
            Expr::Local(local) => self.eval_local(*local),
            Expr::Name { path, .. } => match self.owner(id) {
                Some(owner) => self.eval_member_of(owner, path.last()?),
                None => self.eval_name(path),
            },
            Expr::Unary(op, value) => unary(*op, self.eval(*value)?),
            Expr::Binary(op, a, b) => binary(*op, self.eval(*a)?, self.eval(*b)?),
            Expr::AndThen(a, b) => Some(Constant::boolean(self.eval(*a)?.truth() && self.eval(*b)?.truth())),
            Expr::OrElse(a, b) => Some(Constant::boolean(self.eval(*a)?.truth() || self.eval(*b)?.truth())),
            Expr::Select(condition, yes, no) => {
                let chosen = if self.eval(*condition)?.truth() { *yes } else { *no };
                let value = self.eval(chosen)?;
                // The other branch decides the type too.
                match self.type_of(*yes).common(&self.type_of(*no)) {
                    Some(ty) => value.cast(&ty),
                    None => Some(value),
                }
            }
            Expr::Cast { ty, value } => self.eval(*value)?.cast(&self.resolve(*ty)),
            Expr::Construct { ty, args, .. } => match args.as_slice() {
                [] => Constant::int(0, 4, true).cast(&self.resolve(*ty)),
                [one] => self.eval(*one)?.cast(&self.resolve(*ty)),
                _ => None,
            },
            Expr::InitList(values) => match values.as_slice() {
                [one] => self.eval(*one),
                _ => None,
            },
            Expr::Comma(values) => self.eval(*values.last()?),
            Expr::SizeOfType(ty) => self.size_constant(&self.resolve(*ty)),
            Expr::SizeOfExpr(value) => self.size_constant(&self.type_of_operand(*value)),
            Expr::Call { callee, args } => self.eval_call(*callee, args),
            Expr::Member { .. } | Expr::Index { .. } => None,
            _ => None,
        }
    }

    fn size_constant(&self, ty: &Ty) -> Option<Constant> {
        Some(Constant::int(i128::from(self.layout(ty)?.size), 8, false))
    }

    /// The type of what stands in `sizeof (…)`: where that is a bare name it may be a type, and `T[4]` an array of it.
    fn type_of_operand(&self, value: ExprId) -> Ty {
        match (self.type_of(value), self.expr(value)) {
            (Ty::Unknown, Some(Expr::Name { path, targs })) => self.named(path, targs),
            (Ty::Unknown, Some(Expr::Index { base, indices })) => match (self.expr(*base), indices.as_slice()) {
                (Some(Expr::Name { path, targs }), [count]) if self.type_of(*base) == Ty::Unknown => {
                    let count = self.eval(*count).and_then(Constant::as_i64).filter(|count| *count >= 0);
                    Ty::Array(self.named(path, targs).into(), count.into())
                }
                _ => Ty::Unknown,
            },
            (ty, _) => ty,
        }
    }

    fn eval_local(&self, local: LocalId) -> Option<Constant> {
        if let Some(value) = self.frame.get(local.index()) {
            return *value;
        }
        let variable = self.code_function()?.locals.get(local)?;
        self.eval_variable(variable)
    }

    /// The value of a variable that nothing can change.
    fn eval_variable(&self, variable: &Variable) -> Option<Constant> {
        let fixed = variable.is_constexpr || self.is_const(variable.ty);
        if !fixed || !matches!(variable.space, Space::Ordinary | Space::Static) {
            return None;
        }
        let value = self.eval(variable.init?)?;
        match self.resolve(variable.ty) {
            Ty::Auto => Some(value),
            ty => value.cast(&ty),
        }
    }

    fn is_const(&self, ty: TypeId) -> bool {
        let mut ty = self.code().types.get(ty);
        let mut found = false;
        for _ in 0..8 {
            match ty {
                Some(Type::Qualified { is_volatile: true, .. }) => return false,
                Some(Type::Qualified { ty: inner, is_const, .. }) => {
                    found |= is_const;
                    ty = self.code().types.get(*inner);
                }
                _ => return found,
            }
        }
        false
    }

    fn eval_name(&self, path: &Path) -> Option<Constant> {
        if let [name] = &*path.segments {
            if name == "warpSize" {
                return Some(Constant::int(32, 4, true));
            }
            if let Some(argument) = self.env.get(name) {
                let value = argument.number()?;
                return Some(Constant::int(i128::from(value), 8, true)).and_then(|value| {
                    match self.type_of_bound(path) {
                        Ty::Unknown | Ty::Auto => Some(value),
                        ty => value.cast(&ty),
                    }
                });
            }
        } else if path.segments.first().is_some_and(|first| self.env.get(first).is_some()) {
            return self.eval_member(path);
        }
        if let Some(entry) = self.project.global(self.module, self.inside, path) {
            let global = self.project.global_at(entry)?;
            let env = self.env_of_scope(entry.module, &global.scope);
            return self.at(entry.module, &global.scope, &env).eval_variable(global);
        }
        match self.project.enumerator(self.module, self.inside, path) {
            Some(entry) => self.eval_enumerator(entry),
            None => self.eval_member(path),
        }
    }

    /// `Owner::NAME`, a constant of a record that an alias or a template parameter stands for.
    fn eval_member(&self, path: &Path) -> Option<Constant> {
        let (name, owner) = path.segments.split_last()?;
        if owner.is_empty() {
            return None;
        }
        let owner: Path = owner.iter().cloned().collect();
        let owner = self.budget.deeper(|| self.named(&owner, &[]))?;
        self.eval_member_of(owner, name)
    }

    /// A constant of a record by its name there.
    fn eval_member_of(&self, owner: Ty, name: &Name) -> Option<Constant> {
        let mut open = vec![owner];
        for _ in 0..16 {
            let Ty::Record(entry, env) = open.pop()? else { continue };
            let record = self.project.record_at(entry)?;
            let inside = crate::scope::inner_path(&record.scope, &record.name);
            let path = inside.within(name.clone());
            let here = self.at(entry.module, &inside, &env);
            if let Some(found) = self.project.enumerator(entry.module, &inside, &path)
                && self.project.enumerator_at(found).is_some_and(|it| it.scope == inside)
            {
                return here.eval_enumerator(found);
            }
            if let Some(found) = self.project.global(entry.module, &inside, &path)
                && let Some(global) = self.project.global_at(found).filter(|it| it.scope == inside)
            {
                return self.at(found.module, &inside, &env).eval_variable(global);
            }
            open.extend(record.bases.iter().map(|base| here.resolve(*base)));
        }
        None
    }

    fn type_of_bound(&self, path: &Path) -> Ty {
        match self.type_of_name_only(path) {
            ty @ (Ty::Int { .. } | Ty::Bool | Ty::Enum { .. }) => ty,
            _ => Ty::Unknown,
        }
    }

    /// Bindings of a record's members seen from outside: its parameters are unknown.
    fn env_of_scope(&self, module: ModuleId, scope: &Path) -> TypeEnv {
        if self.inside.segments.starts_with(&scope.segments) && !scope.segments.is_empty() {
            return self.env.clone();
        }
        crate::scope::record_around(self.project, module, scope)
            .and_then(|entry| self.project.record_at(entry))
            .map_or_else(TypeEnv::default, |record| TypeEnv::unbound(&record.template_params))
    }

    /// The value of an enumerator.
    pub fn eval_enumerator(&self, entry: Entry) -> Option<Constant> {
        let enumerator = self.project.enumerator_at(entry)?;
        let base_index = entry.index.checked_sub(enumerator.offset)?;
        let base = self.project.enumerator_at(Entry { index: base_index, ..entry })?;
        let env = self.env_of_scope(entry.module, &enumerator.scope);
        let here = self.at(entry.module, &enumerator.scope, &env);
        let start = match base.value {
            Some(value) => match here.eval(value)? {
                Constant::Int { value, .. } => value,
                Constant::Float { .. } => return None,
            },
            None => 0,
        };
        let value = start + i128::from(enumerator.offset);
        let ty = Integer::of(value);
        Some(Constant::int(value, ty.bytes, ty.signed))
    }

    fn eval_call(&self, callee: ExprId, args: &[ExprId]) -> Option<Constant> {
        if let Some((module, function, env)) = self.callee(callee, args) {
            return self.eval_function(module, function, &env, args);
        }
        let Expr::Name { path, .. } = self.expr(callee)? else { return None };
        if !self.project.overloads(self.module, self.inside, path).is_empty() {
            return None;
        }
        let values: Vec<Constant> = args.iter().map(|arg| self.eval(*arg)).collect::<Option<_>>()?;
        match (path.last()?.as_str(), values.as_slice()) {
            (name @ ("min" | "max"), [a, b]) => {
                let ty = a.ty().common(&b.ty())?;
                let (a, b) = (a.cast(&ty)?, b.cast(&ty)?);
                let less = match (a, b) {
                    (Constant::Int { value: x, .. }, Constant::Int { value: y, .. }) => x < y,
                    _ => a.as_f64() < b.as_f64(),
                };
                Some(if less == (name == "min") { a } else { b })
            }
            ("ceil" | "ceilf", [a]) => Some(real(a.as_f64().ceil(), *a)),
            ("floor" | "floorf", [a]) => Some(real(a.as_f64().floor(), *a)),
            ("sqrt" | "sqrtf", [a]) if a.as_f64() >= 0.0 => Some(real(a.as_f64().sqrt(), *a)),
            ("abs" | "labs", [Constant::Int { value, bytes, signed }]) => {
                Some(Constant::int(value.abs(), (*bytes).max(4), *signed))
            }
            _ => None,
        }
    }

    /// A function of the project whose body is one `return`.
    fn eval_function(&self, module: ModuleId, id: FunctionId, env: &TypeEnv, args: &[ExprId]) -> Option<Constant> {
        let function = self.project.function_at(module, id)?;
        if function.damaged || function.variadic {
            return None;
        }
        let [only] = function.body.as_ref()?.as_slice() else { return None };
        let Stmt::Return(Some(result)) = &self.project.module(module).stmts.get(*only)?.kind else {
            return None;
        };
        let around = self.env_of_scope(module, &function.scope);
        let env = around.with(env.iter().cloned());
        let declared = Context { function: Some(id), ..self.at(module, &function.scope, &env) };
        let params = function.params();
        let mut frame = Vec::with_capacity(params.len());
        for (index, param) in params.iter().enumerate() {
            let value = match args.get(index) {
                Some(arg) => self.eval(*arg),
                None => declared.eval(param.init?),
            };
            frame.push(value.and_then(|value| match declared.resolve(param.ty) {
                Ty::Auto => Some(value),
                ty => value.cast(&ty),
            }));
        }
        let value = Context { frame: &frame, ..declared }.eval(*result)?;
        match declared.resolve(function.returns) {
            Ty::Auto => Some(value),
            ty => value.cast(&ty),
        }
    }

    fn type_of_name_only(&self, path: &Path) -> Ty {
        match path.last() {
            Some(name) => self.type_of_param(name),
            None => Ty::Unknown,
        }
    }
}
