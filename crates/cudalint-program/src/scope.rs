//! Where an expression or type stands: what is needed to resolve, type, size and evaluate it without running anything.

use crate::constant::Constant;
use crate::crowd::Entry;
use crate::ir::{
    Expr, ExprId, ExprNode, Function, FunctionId, Module, ModuleId, Path, TemplateArg, TemplateParam, Type, TypeId,
    Variable,
};
use crate::marks::mark;
use crate::name::Name;
use crate::project::Project;
use crate::questions::{Budget, Key};
use crate::types::{Argument, Ty, TypeEnv};
use cudalint_numbers::Quantity;
use rustc_hash::FxHasher;
use std::hash::{Hash as _, Hasher as _};
use std::sync::Arc;

/// Who knows what expressions in types mean where the source alone does not say: the walk of host code, whose variables
/// hold values.
pub trait Evaluate {
    /// What an expression stands for, as an extent or a template argument.
    fn value(&self, expr: ExprId) -> Argument;

    /// The type of an expression.
    fn type_of(&self, expr: ExprId) -> Ty;
}

/// A place in a function, or at namespace scope, with what its template parameters stand for.
#[derive(Debug)]
pub struct Scope<'p> {
    project: &'p Project,
    module: ModuleId,
    function: Option<FunctionId>,
    inside: Path,
    env: TypeEnv,
    budget: Budget,
}

impl<'p> Scope<'p> {
    /// A place in a function of a module, or at its namespace scope. Template parameters of the function and of the
    /// record around it that `env` does not bind are unknown, and hide things of the same name elsewhere.
    pub fn new(project: &'p Project, module: ModuleId, function: Option<FunctionId>, env: &TypeEnv) -> Self {
        let found = function.and_then(|function| project.function_at(module, function));
        let inside = found.map(|function| function.scope.clone()).unwrap_or_default();
        let mut missing: Vec<(Name, Argument)> = Vec::new();
        let mut add = |params: &[TemplateParam]| {
            for param in params.iter().filter(|param| env.get(&param.name).is_none()) {
                missing.push((param.name.clone(), Argument::Unknown));
            }
        };
        if let Some(owner) = record_around(project, module, &inside).and_then(|entry| project.record_at(entry)) {
            add(&owner.template_params);
        }
        if let Some(found) = found {
            add(&found.template_params);
        }
        Self { project, module, function, inside, env: env.with(missing), budget: Budget::default() }
    }

    /// The same, where template parameters that `env` does not bind keep their names as types.
    pub fn open(project: &'p Project, module: ModuleId, function: Option<FunctionId>, env: &TypeEnv) -> Self {
        let found = function.and_then(|function| project.function_at(module, function));
        let inside = found.map(|function| function.scope.clone()).unwrap_or_default();
        Self { project, module, function, inside, env: env.clone(), budget: Budget::default() }
    }

    /// A place inside a record or namespace, for the types of fields and bases.
    pub fn inside(project: &'p Project, module: ModuleId, inside: Path, env: &TypeEnv) -> Self {
        Self { project, module, function: None, inside, env: env.clone(), budget: Budget::default() }
    }

    /// What template parameters stand for here.
    pub fn env(&self) -> &TypeEnv {
        &self.env
    }

    fn context(&self) -> Context<'_> {
        self.budget.reset();
        Context {
            project: self.project,
            module: self.module,
            function: self.function,
            inside: &self.inside,
            env: &self.env,
            frame: &[],
            values: None,
            budget: &self.budget,
        }
    }

    fn asking<'a>(&'a self, values: &'a dyn Evaluate) -> Context<'a> {
        Context { values: Some(values), ..self.context() }
    }

    /// A type of the module, resolved.
    pub fn resolve(&self, ty: TypeId) -> Ty {
        self.context().resolve(ty)
    }

    /// The same, with the values that somebody knows.
    pub fn resolve_by(&self, ty: TypeId, values: &dyn Evaluate) -> Ty {
        self.asking(values).resolve(ty)
    }

    /// Template parameters with the arguments that are written for them here; others are not bound.
    pub fn explicit(&self, params: &[TemplateParam], targs: &[TemplateArg], values: &dyn Evaluate) -> TypeEnv {
        self.asking(values).explicit(params, targs)
    }

    /// Binds template parameters of a function that are not bound yet, by the types of a call's arguments and by defaults.
    pub fn complete(&self, module: ModuleId, function: &Function, env: &mut TypeEnv, args: &[Ty]) {
        self.context().complete(module, function, env, args);
    }

    /// The type that a name with template arguments means; a [`Ty::Library`] of that name where nobody declares it.
    pub fn named(&self, path: &Path, args: &[TemplateArg]) -> Ty {
        self.context().named(path, args)
    }

    /// The static type of an expression; [`Ty::Unknown`] where it is out of sight.
    pub fn type_of(&self, expr: ExprId) -> Ty {
        self.context().type_of(expr)
    }

    /// The value of an expression that needs no running program.
    pub fn eval(&self, expr: ExprId) -> Option<i64> {
        self.context().eval(expr)?.as_i64()
    }

    /// The value of an expression that needs no running program, as a fraction.
    pub fn eval_fraction(&self, expr: ExprId) -> Option<f64> {
        Some(self.context().eval(expr)?.as_f64())
    }

    /// The value of an enumerator, with what template parameters stand for here.
    pub fn enumerator(&self, entry: Entry) -> Option<i64> {
        self.context().eval_enumerator(entry)?.as_i64()
    }

    /// The record whose member a name such as `S<T>::size` means.
    pub fn owner(&self, name: ExprId) -> Option<Ty> {
        self.context().owner(name)
    }

    /// Size in bytes of a resolved type.
    pub fn size_of(&self, ty: &Ty) -> Option<i64> {
        self.context().layout(ty).map(|layout| layout.size)
    }

    /// Byte offset of a field of a record, bases included.
    pub fn offset_of(&self, ty: &Ty, field: &str) -> Option<i64> {
        let Ty::Record(entry, env) = ty.value() else { return None };
        self.context().field_offset(*entry, env, field)
    }

    /// Byte offsets of a record's own fields in order, those of its bases excluded.
    pub fn field_offsets(&self, ty: &Ty) -> Option<Vec<i64>> {
        let Ty::Record(entry, env) = ty.value() else { return None };
        self.context().field_offsets(*entry, env)
    }

    /// The type of a field of a record or its bases, or of a lane of a vector.
    pub fn field(&self, of: &Ty, name: &str) -> Option<Ty> {
        let context = self.context();
        match of.value() {
            Ty::Record(entry, env) => {
                let (owner, env, field) = context.field(*entry, env, name)?;
                Some(context.field_type(owner, &env, field))
            }
            _ => Some(context.member(of, name)).filter(|ty| *ty != Ty::Unknown),
        }
    }

    /// The type of a member of a record or vector type.
    pub fn member(&self, of: &Ty, name: &str) -> Ty {
        self.context().member(of, name)
    }

    /// The record, function or other thing that a call of `callee` with `args` means, with what its template
    /// parameters stand for.
    pub fn callee(&self, callee: ExprId, args: &[ExprId]) -> Option<(ModuleId, FunctionId, TypeEnv)> {
        self.context().callee(callee, args)
    }

    /// What the template parameters of a function stand for when it is called or launched from here with these
    /// explicit template arguments and arguments; what cannot be told is unknown.
    pub fn bind(&self, target: (ModuleId, FunctionId), targs: &[TemplateArg], args: &[ExprId]) -> TypeEnv {
        self.context().bind_call(target.0, target.1, targs, args)
    }
}

/// The record that is the innermost scope of `inside`.
pub(crate) fn record_around(project: &Project, module: ModuleId, inside: &Path) -> Option<Entry> {
    inside.last()?;
    project.template(module, &Path::default(), inside)
}

/// A scope while a question is answered.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub project: &'a Project,
    pub module: ModuleId,
    pub function: Option<FunctionId>,
    pub inside: &'a Path,
    pub env: &'a TypeEnv,
    /// Values of the function's parameters while a call is evaluated.
    pub frame: &'a [Option<Constant>],
    /// Who knows more of the values of expressions.
    pub values: Option<&'a dyn Evaluate>,
    pub budget: &'a Budget,
}

impl<'a> Context<'a> {
    pub fn code(&self) -> &'a Module {
        self.project.module(self.module)
    }

    pub fn expr(&self, id: ExprId) -> Option<&'a Expr> {
        self.code().exprs.get(id).map(|node: &ExprNode| &node.kind)
    }

    /// The record whose member a name such as `S<T>::size` means.
    pub fn owner(&self, name: ExprId) -> Option<Ty> {
        let owner = self.code().owners.get(&name)?;
        self.budget.deeper(|| self.resolve(*owner)).filter(|ty| matches!(ty, Ty::Record(..)))
    }

    pub fn code_function(&self) -> Option<&'a Function> {
        self.project.function_at(self.module, self.function?)
    }

    /// The same question at namespace scope of another module.
    pub fn at<'b>(&self, module: ModuleId, inside: &'b Path, env: &'b TypeEnv) -> Context<'b>
    where
        'a: 'b,
    {
        Context {
            project: self.project,
            module,
            function: None,
            inside,
            env,
            frame: &[],
            values: None,
            budget: self.budget,
        }
    }

    pub fn resolve(&self, ty: TypeId) -> Ty {
        let answer = self.budget.deeper(|| match self.key(ty) {
            Some(key) => self.budget.once(key, || self.resolve_inner(ty)),
            None => self.resolve_inner(ty),
        });
        answer.unwrap_or(Ty::Unknown)
    }

    /// What tells the question for a type from others, where the answer is worth to be kept.
    fn key(&self, ty: TypeId) -> Option<Key> {
        if !self.budget.is_long() || self.values.is_some() || !self.frame.is_empty() {
            return None;
        }
        if !matches!(self.code().types.get(ty)?, Type::Named { .. } | Type::Member { .. } | Type::DeclType(_)) {
            return None;
        }
        let mut hasher = FxHasher::default();
        self.inside.hash(&mut hasher);
        Some(Key { module: self.module, function: self.function, inside: hasher.finish(), env: mark(self.env)?, ty })
    }

    fn resolve_inner(&self, ty: TypeId) -> Ty {
        let Some(ty) = self.code().types.get(ty) else { return Ty::Unknown };
        match ty {
            Type::Void => Ty::Void,
            Type::Bool => Ty::Bool,
            Type::Int { bytes, signed } => Ty::Int { bytes: *bytes, signed: *signed },
            Type::Float { bytes } => Ty::Float { bytes: *bytes },
            Type::Vector { name, lane, lanes } => Ty::Vector { name: name.clone(), lane: *lane, lanes: *lanes },
            Type::Pointer(to) => Ty::pointer_to(self.resolve(*to)),
            Type::Reference(to) => Ty::Reference(Arc::new(self.resolve(*to))),
            Type::Array(of, count) => {
                Ty::Array(Arc::new(self.resolve(*of)), count.map_or(Quantity::Unknown, |count| self.extent(count)))
            }
            Type::Qualified { ty, .. } => self.resolve(*ty),
            Type::Named { path, args } => self.named(path, args),
            Type::Member { of, path, args } => match (self.resolve(*of), path.last()) {
                (Ty::Record(entry, env), Some(name)) => {
                    self.member_type(entry, &env, name, args).unwrap_or(Ty::Unknown)
                }
                (owner @ Ty::Library(..), Some(name)) => {
                    owner.library_member(name).unwrap_or_else(|| self.named(path, args))
                }
                (Ty::Library(..), None) => self.named(path, args),
                _ => Ty::Unknown,
            },
            Type::Function => Ty::Function,
            Type::Auto => Ty::Auto,
            Type::DeclType(expr) => match self.values {
                Some(values) => values.type_of(*expr),
                None => self.type_of(*expr),
            },
            Type::Unknown => Ty::Unknown,
        }
    }

    /// How many elements an array has.
    fn extent(&self, count: ExprId) -> Quantity {
        match (self.value(count), self.values) {
            (Argument::Value(Quantity::Known(count)), None) if count < 0 => Quantity::Unknown,
            (Argument::Value(count), _) => count,
            _ => Quantity::Unknown,
        }
    }

    /// What an expression stands for as a template argument.
    pub(crate) fn value(&self, expr: ExprId) -> Argument {
        match self.values {
            Some(values) => values.value(expr),
            None => match self.eval(expr).and_then(Constant::as_i64) {
                Some(value) => Argument::Value(value.into()),
                None => Argument::Unknown,
            },
        }
    }

    /// The type that a name means here.
    pub fn named(&self, path: &Path, args: &[TemplateArg]) -> Ty {
        if let [name] = &*path.segments
            && let Some(argument) = self.env.get(name)
        {
            return match argument {
                Argument::Type(ty) if args.is_empty() => ty.clone(),
                _ => Ty::Unknown,
            };
        }
        // `T::value_type`: nothing is known of it where `T` is unknown or a library's.
        if path.segments.len() > 1 && path.segments.first().is_some_and(|first| self.env.get(first).is_some()) {
            return self.member_of_named(path, args).unwrap_or(Ty::Unknown);
        }
        if let Some(entry) = self.project.alias(self.module, self.inside, path)
            && let Some(alias) = self.project.alias_at(entry)
            && !self.names_itself(entry)
        {
            let around = self.env_around(entry.module, &alias.scope, path);
            let Some(env) = self.bind(entry.module, &alias.scope, &around, &alias.template_params, args) else {
                return Ty::Unknown;
            };
            return self.at(entry.module, &alias.scope, &env).resolve(alias.ty);
        }
        if let Some(ty) = self.record_named(path, args) {
            return ty;
        }
        if let Some(of) = self.project.enum_type(self.module, self.inside, path) {
            return self.enum_of(of);
        }
        if let Some(ty) = self.member_of_named(path, args) {
            return ty;
        }
        let args: Vec<Argument> = args.iter().map(|arg| self.any_argument(arg)).collect();
        let name: Vec<&str> = path.segments.iter().map(Name::as_str).collect();
        Ty::Library(name.join("::").into(), args.into())
    }

    /// `typedef struct X X;`: the alias adds nothing.
    fn names_itself(&self, entry: Entry) -> bool {
        let Some(alias) = self.project.alias_at(entry) else { return false };
        match self.project.module(entry.module).types.get(alias.ty) {
            Some(Type::Named { path, args }) => args.is_empty() && *path.segments == [alias.name.clone()],
            _ => false,
        }
    }

    /// The type of an enum, by one of its enumerators.
    pub fn enum_of(&self, of: Entry) -> Ty {
        let Some(enumerator) = self.project.enumerator_at(of) else { return Ty::Unknown };
        let Some(written) = enumerator.underlying else { return Ty::Enum { of, bytes: 4, signed: true } };
        match self.at(of.module, &enumerator.scope, self.env).resolve(written).integer() {
            Some((bytes, signed)) => Ty::Enum { of, bytes, signed },
            None => Ty::Unknown,
        }
    }

    /// Bindings that code in `scope` of another place sees when it is reached by `path` from here: ours where that scope
    /// is around us, else its record's parameters unknown.
    pub(crate) fn env_around(&self, module: ModuleId, scope: &Path, path: &Path) -> TypeEnv {
        if scope.segments.is_empty() {
            return TypeEnv::default();
        }
        if path.segments.len() == 1 && self.inside.segments.starts_with(&scope.segments) {
            return self.env.clone();
        }
        record_around(self.project, module, scope)
            .and_then(|entry| self.project.record_at(entry))
            .map_or_else(TypeEnv::default, |record| TypeEnv::unbound(&record.template_params))
    }

    /// The field of a record, in the record or its bases, with the record it stands in and that record's bindings.
    pub fn field(&self, entry: Entry, env: &TypeEnv, name: &str) -> Option<(Entry, TypeEnv, &'a Variable)> {
        self.budget.deeper(|| {
            let record = self.project.record_at(entry)?;
            if let Some(field) = record.fields.iter().find(|field| field.name == *name) {
                return Some((entry, env.clone(), field));
            }
            let inside = inner_path(&record.scope, &record.name);
            let here = self.at(entry.module, &inside, env);
            let nameless = record.fields.iter().filter(|field| field.name.is_empty()).map(|field| field.ty);
            for ty in record.bases.iter().copied().chain(nameless) {
                if let Ty::Record(base, base_env) = here.resolve(ty)
                    && let Some(found) = self.project_field(base, &base_env, name)
                {
                    return Some(found);
                }
            }
            None
        })?
    }

    fn project_field(&self, entry: Entry, env: &TypeEnv, name: &str) -> Option<(Entry, TypeEnv, &'a Variable)> {
        let context: Context<'_> = Context { env, ..*self };
        let (entry, env, field) = context.field(entry, env, name)?;
        let record = self.project.record_at(entry)?;
        let field = record.fields.iter().find(|other| other.name == field.name)?;
        Some((entry, env, field))
    }

    /// The function of the project that a call means, with its bindings.
    pub fn callee(&self, callee: ExprId, args: &[ExprId]) -> Option<(ModuleId, FunctionId, TypeEnv)> {
        match self.expr(callee)? {
            Expr::Name { path, targs } => {
                let (module, function) = self.project.function(self.module, self.inside, path, args.len())?;
                Some((module, function, self.bind_call(module, function, targs, args)))
            }
            Expr::Member { base, name, arrow } => {
                let base = self.type_of(*base);
                let object = if *arrow { base.element()?.clone() } else { base.value().clone() };
                let Ty::Record(entry, env) = object else { return None };
                let (module, function) = self.project.method(entry, name, args.len())?;
                let own = self.bind_call(module, function, &[], args);
                Some((module, function, env.with(own.iter().cloned())))
            }
            _ => None,
        }
    }
}

/// The path of what stands inside a record.
pub(crate) fn inner_path(scope: &Path, name: &Name) -> Path {
    scope.within(name.clone())
}
