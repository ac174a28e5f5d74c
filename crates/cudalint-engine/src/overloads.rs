//! Which function a call means, by the types that it is written with: the class of the object that a method is called on, and whether the
//! arguments fit the parameters. What is not known leaves every function of the name possible.

use cudalint_program::frameworks::test_at;
use cudalint_program::ir::{Expr, ExprId, Function, FunctionId, FunctionRole, ModuleId, Type};
use cudalint_program::types::{Ty, TypeEnv};
use cudalint_program::{Name, Project, Scope};
use cudalint_syntax::Span;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::sync::OnceLock;

/// How far classes are followed to those that they are made from.
const MAX_BASES: usize = 64;

/// The calls of a project, as written.
pub(crate) struct Overloads<'p> {
    project: &'p Project,
    /// By module: calls by where the callee's name ends.
    calls: Vec<OnceLock<FxHashMap<u32, Spelled>>>,
    /// The names of a class's bases; nothing where one of them is not known.
    bases: OnceLock<FxHashMap<Name, Option<FxHashSet<Name>>>>,
}

/// A call.
#[derive(Clone, Copy)]
struct Spelled {
    call: ExprId,
    callee: ExprId,
}

/// A function among those of its name.
pub(crate) struct Target<'p> {
    module: ModuleId,
    function: &'p Function,
    /// The class that it is a method of.
    class: Option<&'p Name>,
    /// The types of its parameters, as far as somebody has asked.
    params: RefCell<Option<Vec<Ty>>>,
}

impl<'p> Target<'p> {
    pub fn new(module: ModuleId, function: &'p Function) -> Self {
        let is_method = matches!(function.role, FunctionRole::Method | FunctionRole::StaticMethod);
        let class = function.scope.last().filter(|_| is_method);
        Self { module, function, class, params: RefCell::default() }
    }
}

impl<'p> Overloads<'p> {
    pub fn of(project: &'p Project) -> Self {
        let calls = project.modules().map(|_| OnceLock::new()).collect();
        Self { project, calls, bases: OnceLock::new() }
    }

    /// Whether the name at a place of a module's text may mean a function.
    pub fn may_mean(&self, module: ModuleId, at: usize, target: &Target<'_>) -> bool {
        let Some(calls) = self.calls.get(module.index()) else { return true };
        let calls = calls.get_or_init(|| self.calls_of(module));
        let end = (at + target.function.name.len()) as u32;
        let Some(Spelled { call, callee }) = calls.get(&end).copied() else { return true };
        let Some((id, around)) = self.around(module, at) else { return true };
        let scope = Scope::new(self.project, module, Some(id), &TypeEnv::default());
        let exprs = &self.project.module(module).exprs;
        let Some(callee) = exprs.get(callee).map(|node| &node.kind) else { return true };
        let by_object = match (callee, target.class) {
            (Expr::Member { base, arrow, .. }, Some(class)) => self.may_be_of(&scope, *base, *arrow, class),
            // Without an object it is one of the class around, or of one that this is made from.
            (Expr::Name { path, .. }, Some(class)) if path.segments.len() == 1 => self.is_inside(module, around, class),
            _ => true,
        };
        by_object && self.fits(module, &scope, exprs.get(call).map(|node| &node.kind), target)
    }

    fn calls_of(&self, id: ModuleId) -> FxHashMap<u32, Spelled> {
        let module = self.project.module(id);
        let calls = module.exprs.iter_enumerated().filter_map(|(call, node)| {
            let Expr::Call { callee, .. } = &node.kind else { return None };
            let named = module.exprs.get(*callee)?;
            let end = match &named.kind {
                // `copy<float>`
                Expr::Name { targs, .. } if !targs.is_empty() => {
                    let name = self.project.text(id, named.span).split('<').next().unwrap_or("").trim_end();
                    named.span.start + name.len() as u32
                }
                Expr::Name { .. } | Expr::Member { .. } => named.span.end,
                _ => return None,
            };
            (node.expansion.is_none() && named.expansion.is_none()).then_some((end, Spelled { call, callee: *callee }))
        });
        // What is lowered twice may mean two things.
        let mut all: FxHashMap<u32, Spelled> = FxHashMap::default();
        let mut twice: FxHashSet<u32> = FxHashSet::default();
        for (end, spelled) in calls {
            if all.insert(end, spelled).is_some() {
                twice.insert(end);
            }
        }
        all.retain(|end, _| !twice.contains(end));
        all
    }

    /// The innermost function around a place.
    fn around(&self, module: ModuleId, at: usize) -> Option<(FunctionId, &'p Function)> {
        let functions = self.project.module(module).functions.iter_enumerated();
        functions
            .filter(|(_, function)| function.body.is_some() && function.span.range().contains(&at))
            .min_by_key(|(_, function)| function.span.end - function.span.start)
    }

    /// Whether an object may be of a class, or of one that has to do with it.
    fn may_be_of(&self, scope: &Scope<'_>, object: ExprId, arrow: bool, class: &Name) -> bool {
        let ty = scope.type_of(object);
        let ty = if arrow { ty.element().cloned() } else { Some(ty.value().clone()) };
        match ty {
            Some(Ty::Record(entry, _)) => {
                self.project.record_at(entry).is_none_or(|record| self.are_related(plain(&record.name), class))
            }
            // The standard's own classes are none of the project's.
            Some(Ty::Library(name, _)) => !name.starts_with("std::"),
            Some(Ty::Vector { .. } | Ty::Int { .. } | Ty::Float { .. } | Ty::Bool) => false,
            _ => true,
        }
    }

    /// Whether a function is a part of a class, or of one that has to do with it.
    fn is_inside(&self, module: ModuleId, function: &Function, class: &Name) -> bool {
        let mut around = function;
        // A lambda is where it is written.
        while let Some(outer) = around.parent.and_then(|outer| self.project.module(module).functions.get(outer)) {
            around = outer;
        }
        let is_class = |name: &&Name| self.bases().contains_key(plain(name));
        let mut classes = around.scope.segments.iter().filter(is_class);
        let head = self.project.text(module, Span { end: around.name_span.start, ..around.span });
        // What stands in front of a name and is no class in sight may be any class; macros make functions of any.
        let is_open = head.trim_end().ends_with("::") && !around.scope.last().is_some_and(|last| is_class(&last))
            || self.project.text(module, around.name_span) != &*around.name
            || test_at(self.project.text(module, around.span)).is_some();
        is_open || function.damaged || around.damaged || classes.any(|name| self.are_related(plain(name), class))
    }

    /// Whether two classes are one, or one is made from the other, as far as is known.
    fn are_related(&self, one: &str, other: &str) -> bool {
        one == other || self.is_made_from(one, other) || self.is_made_from(other, one)
    }

    /// Whether a class has another among its bases, as far as is known.
    fn is_made_from(&self, class: &str, base: &str) -> bool {
        let (all, mut seen, mut next) = (self.bases(), FxHashSet::default(), vec![Name::from(class)]);
        while let Some(name) = next.pop() {
            if name == *base || seen.len() > MAX_BASES {
                return true;
            }
            // One out of sight may have any.
            let Some(Some(bases)) = all.get(&name) else { return true };
            if seen.insert(name) {
                next.extend(bases.iter().cloned());
            }
        }
        false
    }

    fn bases(&self) -> &FxHashMap<Name, Option<FxHashSet<Name>>> {
        self.bases.get_or_init(|| {
            let mut all: FxHashMap<Name, Option<FxHashSet<Name>>> = FxHashMap::default();
            for module in self.project.modules().map(|id| self.project.module(id)) {
                for record in &module.records {
                    let own = all.entry(Name::from(plain(&record.name))).or_insert_with(|| Some(FxHashSet::default()));
                    for base in &record.bases {
                        match (module.types.get(*base), own.as_mut()) {
                            (Some(Type::Named { path, .. }), Some(own)) if path.last().is_some() => {
                                own.extend(path.last().map(|name| Name::from(plain(name))));
                            }
                            _ => *own = None,
                        }
                    }
                }
            }
            all
        })
    }

    /// Whether a function surely is another one than one of its name: of another class, or with other parameters.
    pub fn differs(&self, module: ModuleId, function: &Function, target: &Target<'_>) -> bool {
        let is_open = |it: &Function| !it.template_params.is_empty() || it.variadic || it.damaged;
        if std::ptr::eq(function, target.function) {
            return false;
        }
        let class = |it: &Function| it.scope.last().map(|name| plain(name).to_owned());
        let is_class = |name: &String| self.bases().contains_key(name.as_str());
        let classes = (class(function).filter(is_class), class(target.function).filter(is_class));
        if matches!(&classes, (Some(own), Some(other)) if !self.are_related(own, other)) {
            return true;
        }
        if is_open(function) || is_open(target.function) {
            return false;
        }
        let (own, other) = (self.params(module, function), self.params(target.module, target.function));
        own.len() != other.len() || own.iter().zip(&other).any(|(own, other)| !converts(own, other))
    }

    /// The types of a function's parameters.
    fn params(&self, module: ModuleId, function: &Function) -> Vec<Ty> {
        let functions = self.project.module(module).functions.iter_enumerated();
        let mut id = functions.filter(|(_, other)| std::ptr::eq(*other, function)).map(|(id, _)| id);
        let scope = Scope::new(self.project, module, id.next(), &TypeEnv::default());
        function.locals.iter().take(function.param_count as usize).map(|param| scope.resolve(param.ty)).collect()
    }

    /// Whether a call's arguments may be converted to a function's parameters.
    fn fits(&self, module: ModuleId, scope: &Scope<'_>, call: Option<&Expr>, target: &Target<'_>) -> bool {
        let Some(Expr::Call { args, .. }) = call else { return true };
        let function = target.function;
        let is_generic = !function.template_params.is_empty();
        if function.variadic || function.damaged || function.template_params.iter().any(|param| param.pack) {
            return true;
        }
        if is_generic {
            // An argument that a macro stands for, or that is unpacked, may be several.
            let exprs = &self.project.module(module).exprs;
            let is_one =
                |arg: &ExprId| exprs.get(*arg).is_some_and(|node| node.expansion.is_none() && is_plain(&node.kind));
            let least = function.params().iter().filter(|param| param.init.is_none()).count();
            let fits = (least..=function.param_count as usize).contains(&args.len());
            return fits || !args.iter().all(is_one);
        }
        if args.len() > function.param_count as usize {
            return true;
        }
        let mut params = target.params.borrow_mut();
        let params = params.get_or_insert_with(|| self.params(target.module, function));
        args.iter().zip(&*params).all(|(arg, param)| {
            let is_constant = self
                .project
                .module(module)
                .exprs
                .get(*arg)
                .is_none_or(|node| matches!(node.kind, Expr::Int { .. } | Expr::Null));
            is_constant || converts(&scope.type_of(*arg), param)
        })
    }
}

/// Whether an expression is surely a single value.
fn is_plain(expr: &Expr) -> bool {
    matches!(expr, Expr::Local(_) | Expr::Name { .. } | Expr::Int { .. } | Expr::Float { .. } | Expr::Str(_))
}

/// A class's name without the arguments of a specialization.
fn plain(name: &str) -> &str {
    name.split('<').next().unwrap_or(name)
}

/// Whether a value of one type may be given for a parameter of another. Where classes have a part in it, that is not asked.
fn converts(from: &Ty, to: &Ty) -> bool {
    let (from, to) = (from.decayed(), to.decayed());
    let is_number = |ty: &Ty| matches!(ty, Ty::Int { .. } | Ty::Float { .. });
    match (&from, &to) {
        (Ty::Pointer(from), Ty::Pointer(to)) => leads_to(from, to),
        (Ty::Pointer(_), to) if is_number(to) => false,
        (from, Ty::Pointer(_)) if is_number(from) => false,
        _ => true,
    }
}

/// Whether a pointer to one type may be given for a pointer to another.
fn leads_to(from: &Ty, to: &Ty) -> bool {
    match (from, to) {
        (Ty::Pointer(from), Ty::Pointer(to)) => leads_to(from, to),
        (Ty::Int { bytes, .. }, Ty::Int { bytes: other, .. }) => bytes == other,
        (Ty::Float { bytes }, Ty::Float { bytes: other }) => bytes == other,
        (Ty::Int { .. }, Ty::Float { .. }) | (Ty::Float { .. }, Ty::Int { .. }) => false,
        (Ty::Int { .. } | Ty::Float { .. }, Ty::Pointer(_)) | (Ty::Pointer(_), Ty::Int { .. } | Ty::Float { .. }) => {
            false
        }
        _ => true,
    }
}
