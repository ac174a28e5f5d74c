//! Which record a class template means for given arguments: the template itself, or one of its specializations.

use crate::constant::Constant;
use crate::crowd::Entry;
use crate::ir::{Expr, ExprId, Path, Record, Specialization, TemplateArg, TemplateParam, Type, TypeId};
use crate::name::Name;
use crate::scope::{Context, inner_path};
use crate::types::{Argument, Ty, TypeEnv};
use cudalint_numbers::Quantity;

/// Deepest nesting of a pattern that is matched.
const MAX_NESTING: u32 = 12;

/// How a specialization stands to arguments.
enum Match {
    /// They are what it is for.
    Full(TypeEnv),
    /// They fit its pattern.
    Partial(TypeEnv),
    Not,
    /// It cannot be told.
    Open,
}

/// How one argument stands to what is written in its place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fit {
    Yes,
    No,
    Open,
}

impl Context<'_> {
    /// The record that a name with template arguments means; `None` where there is none, or where nobody can tell which of
    /// several definitions is meant.
    pub(crate) fn record_named(&self, path: &Path, args: &[TemplateArg]) -> Option<Ty> {
        let primary = self.project.template(self.module, self.inside, path);
        let record = primary.and_then(|entry| self.project.record_at(entry));
        let special = self.project.specializations(self.module, self.inside, path);
        // Inside a template its own name means the current instance.
        if args.is_empty()
            && let Some(own) = special.iter().find(|entry| self.is_inside(**entry))
        {
            return Some(Ty::Record(*own, self.env.clone()));
        }
        let Some((entry, record)) = primary.zip(record) else {
            if special.is_empty() {
                return None;
            }
            let arguments: Vec<Argument> = args.iter().map(|arg| self.any_argument(arg)).collect();
            return self.chosen(&special, &arguments, None);
        };
        if args.is_empty() && !record.template_params.is_empty() {
            let all_bound = record.template_params.iter().all(|param| self.env.get(&param.name).is_some());
            let within = self.inside.segments.contains(&record.name);
            let own = all_bound && within;
            if !own && !special.is_empty() {
                return None;
            }
            let env = if own { self.env.clone() } else { TypeEnv::unbound(&record.template_params) };
            return Some(Ty::Record(entry, env));
        }
        let around = self.env_around(entry.module, &record.scope, path);
        let Some(env) = self.bind(entry.module, &record.scope, &around, &record.template_params, args) else {
            return Some(Ty::Unknown);
        };
        if special.is_empty() {
            return Some(Ty::Record(entry, env));
        }
        let of_param = |param: &TemplateParam| env.get(&param.name).cloned().unwrap_or(Argument::Unknown);
        let arguments: Vec<Argument> = record.template_params.iter().map(of_param).collect();
        self.chosen(&special, &arguments, Some((entry, env)))
    }

    fn is_inside(&self, entry: Entry) -> bool {
        self.project.record_at(entry).is_some_and(|record| self.inside.segments.contains(&record.name))
    }

    /// The definition for these arguments.
    fn chosen(&self, special: &[Entry], arguments: &[Argument], primary: Option<(Entry, TypeEnv)>) -> Option<Ty> {
        if !arguments.iter().all(is_settled) {
            return None;
        }
        let (mut full, mut partial) = (Vec::new(), Vec::new());
        for &entry in special {
            let Some(record) = self.project.record_at(entry) else { continue };
            let Some(of) = &record.specializes else { continue };
            match self.matches(entry, record, of, arguments) {
                Match::Full(env) => full.push((entry, env)),
                Match::Partial(env) => partial.push((entry, env)),
                Match::Not => {}
                Match::Open => return None,
            }
        }
        match (full.as_slice(), partial.as_slice()) {
            ([(entry, env)], _) | ([], [(entry, env)]) => Some(Ty::Record(*entry, env.clone())),
            ([], []) => primary.map(|(entry, env)| Ty::Record(entry, env)),
            _ => None,
        }
    }

    fn matches(&self, entry: Entry, record: &Record, of: &Specialization, arguments: &[Argument]) -> Match {
        let params = &record.template_params;
        if of.args.len() != arguments.len() || params.iter().any(|param| param.pack) {
            return Match::Open;
        }
        let env = TypeEnv::unbound(params);
        let there = self.at(entry.module, &record.scope, &env);
        let mut bound: Vec<(Name, Argument)> = Vec::new();
        let mut open = false;
        for (written, actual) in of.args.iter().zip(arguments) {
            let fit = match (written, actual) {
                (TemplateArg::Type(ty), Argument::Type(actual)) => there.fits(*ty, actual, params, &mut bound, 0),
                (TemplateArg::Value(value), Argument::Value(actual)) => {
                    there.value_fits(*value, actual, params, &mut bound)
                }
                (TemplateArg::Ambiguous(ty, _), Argument::Type(actual)) => {
                    there.fits(*ty, actual, params, &mut bound, 0)
                }
                (TemplateArg::Ambiguous(_, value), Argument::Value(actual)) => {
                    there.value_fits(*value, actual, params, &mut bound)
                }
                _ => Fit::Open,
            };
            match fit {
                Fit::Yes => {}
                Fit::No => return Match::Not,
                Fit::Open => open = true,
            }
        }
        if open || bound.len() != params.len() {
            return Match::Open;
        }
        let env = TypeEnv::new(bound);
        if params.is_empty() { Match::Full(env) } else { Match::Partial(env) }
    }

    /// Whether a type is what a specialization writes; binds its parameters.
    fn fits(
        &self,
        written: TypeId,
        actual: &Ty,
        params: &[TemplateParam],
        bound: &mut Vec<(Name, Argument)>,
        nesting: u32,
    ) -> Fit {
        if nesting > MAX_NESTING {
            return Fit::Open;
        }
        match self.code().types.get(written) {
            Some(Type::Named { path, args }) => {
                if args.is_empty()
                    && let [name] = &*path.segments
                    && params.iter().any(|param| param.name == *name)
                {
                    return bind(bound, name, Argument::Type(actual.clone()));
                }
                if !args.is_empty() && !params.is_empty() {
                    return Fit::Open;
                }
            }
            Some(Type::Pointer(to)) => {
                return match actual {
                    Ty::Pointer(target) => self.fits(*to, target, params, bound, nesting + 1),
                    _ => Fit::No,
                };
            }
            Some(Type::Reference(to)) => {
                return match actual {
                    Ty::Reference(target) => self.fits(*to, target, params, bound, nesting + 1),
                    _ => Fit::No,
                };
            }
            // `const` is not kept in resolved types.
            Some(Type::Qualified { ty, .. }) => {
                let fit = self.fits(*ty, actual, params, bound, nesting + 1);
                return if fit == Fit::No { Fit::No } else { Fit::Open };
            }
            Some(Type::Array(..) | Type::Member { .. } | Type::DeclType(_) | Type::Function) if !params.is_empty() => {
                return Fit::Open;
            }
            _ => {}
        }
        let ty = self.resolve(written);
        match is_settled(&Argument::Type(ty.clone())) {
            false => Fit::Open,
            true if ty == *actual => Fit::Yes,
            true => Fit::No,
        }
    }

    fn value_fits(
        &self,
        written: ExprId,
        actual: &Quantity,
        params: &[TemplateParam],
        bound: &mut Vec<(Name, Argument)>,
    ) -> Fit {
        if let Some(Expr::Name { path, .. }) = self.expr(written)
            && let [name] = &*path.segments
            && params.iter().any(|param| param.name == *name)
        {
            return bind(bound, name, Argument::Value(actual.clone()));
        }
        match (self.eval(written).and_then(Constant::as_i64), actual.known()) {
            (Some(value), Some(actual)) if value == actual => Fit::Yes,
            (Some(_), Some(_)) => Fit::No,
            _ => Fit::Open,
        }
    }

    /// `Owner::type` where `Owner` is a record, an alias of one, or a template parameter that stands for one.
    pub(crate) fn member_of_named(&self, path: &Path, args: &[TemplateArg]) -> Option<Ty> {
        let (last, owner) = path.segments.split_last()?;
        if owner.is_empty() {
            return None;
        }
        let owner: Path = owner.iter().cloned().collect();
        match self.budget.deeper(|| self.named(&owner, &[]))? {
            Ty::Record(entry, env) => self.member_type(entry, &env, last, args),
            owner @ Ty::Library(..) => owner.library_member(last),
            _ => None,
        }
    }

    /// A type declared in a record or its bases.
    pub(crate) fn member_type(&self, entry: Entry, env: &TypeEnv, name: &Name, args: &[TemplateArg]) -> Option<Ty> {
        let record = self.project.record_at(entry)?;
        let inside = inner_path(&record.scope, &record.name);
        let path = inside.within(name.clone());
        let here = self.at(entry.module, &inside, env);
        if let Some(found) = self.project.alias(entry.module, &inside, &path)
            && let Some(alias) = self.project.alias_at(found).filter(|alias| alias.scope == inside)
        {
            let env = self.bind(entry.module, &inside, env, &alias.template_params, args)?;
            return Some(here.at(found.module, &inside, &env).resolve(alias.ty));
        }
        if let Some(found) = self.project.record(entry.module, &inside, &path)
            && let Some(inner) = self.project.record_at(found).filter(|inner| inner.scope == inside)
        {
            let env = self.bind(entry.module, &inside, env, &inner.template_params, args)?;
            return Some(Ty::Record(found, env));
        }
        if let Some(found) = self.project.enum_type(entry.module, &inside, &path)
            && self.project.enumerator_at(found).is_some_and(|it| it.scope == inside)
        {
            return Some(here.enum_of(found));
        }
        record.bases.iter().find_map(|base| match here.resolve(*base) {
            Ty::Record(base, env) => self.budget.deeper(|| self.member_type(base, &env, name, args))?,
            _ => None,
        })
    }
}

fn bind(bound: &mut Vec<(Name, Argument)>, name: &Name, argument: Argument) -> Fit {
    match bound.iter().find(|(known, _)| known == name) {
        Some((_, known)) if *known == argument => Fit::Yes,
        Some(_) => Fit::No,
        None => {
            bound.push((name.clone(), argument));
            Fit::Yes
        }
    }
}

/// Whether everything about an argument is known, so that it can be compared.
fn is_settled(argument: &Argument) -> bool {
    let mut open = vec![argument.clone()];
    for _ in 0..64 {
        let Some(next) = open.pop() else { return true };
        let ty = match next {
            Argument::Type(ty) => ty,
            Argument::Value(Quantity::Known(_)) | Argument::Function(..) => continue,
            Argument::Value(_) | Argument::Unknown => return false,
        };
        match ty {
            Ty::Pointer(to) | Ty::Reference(to) | Ty::Array(to, Quantity::Known(_)) => {
                open.push(Argument::Type((*to).clone()));
            }
            Ty::Record(_, env) => open.extend(env.iter().map(|(_, argument)| argument.clone())),
            Ty::Library(_, args) => open.extend(args.iter().cloned()),
            Ty::Array(..) | Ty::Auto | Ty::Unknown | Ty::Function => return false,
            Ty::Void | Ty::Bool | Ty::Int { .. } | Ty::Float { .. } | Ty::Vector { .. } | Ty::Enum { .. } => {}
        }
    }
    false
}
