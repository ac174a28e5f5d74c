//! Objects coming into being: initializers, constructors, `new`.

use super::calls::Invocation;
use super::launches::is_launch_config;
use super::{Out, Walker};
use crate::facts::MemorySpace;
use crate::memory::{Key, ObjectInfo, Place, extend, root};
use crate::quantity::{Quantity, union};
use crate::value::{Kind, Ptr, Val};
use cudalint_program::api;
use cudalint_program::ir::{Expr, ExprId, FunctionId, FunctionRole, TypeId};
use cudalint_program::types::{Container, Ty, TypeEnv};
use cudalint_program::{Entry, Name};

/// How deep records hold records whose fields are set one by one.
const MAX_RECORDS: u32 = 16;
/// Fields of one object, those of its parts included, that are set without a step of the budget for each.
const FREE_FIELDS: u32 = 256;
/// Fields of one object that are set at all: of a larger one nothing is known.
const MAX_FIELDS: u32 = 1_024;

impl<'p> Walker<'p> {
    /// A new object's first value.
    pub fn initialize(&mut self, place: &Place, ty: &Ty, init: ExprId) {
        match self.node(init).map(|node| &node.kind) {
            Some(Expr::InitList(items)) => self.initialize_list(place, ty, items),
            Some(Expr::Construct { ty: written, args, braces }) => {
                let written = self.resolve(*written);
                let ty = if written.is_unknown() { ty.clone() } else { written };
                if *braces && matches!(ty.value(), Ty::Array(..)) {
                    self.initialize_list(place, &ty, args);
                } else {
                    self.construct_at(place, &ty, args, *braces);
                }
            }
            Some(Expr::Str(_)) if ty.is_array() => self.forget_place(place),
            _ => {
                let out = self.eval(init);
                if ty.value().container().is_some() {
                    self.assign_container(place, ty, &out);
                } else if let (Ty::Record(entry, _), false) = (ty.value(), self.same_record(ty, &out.ty)) {
                    // A converting constructor.
                    let entry = *entry;
                    if self.constructor(entry, 1).is_some() {
                        self.construct_with(place, ty, &[init], vec![out]);
                    } else {
                        self.hand_out(&out);
                        self.forget_place(place);
                    }
                } else {
                    let cast = self.cast(&out, ty.clone());
                    self.store_result(init, place, ty, cast.val);
                }
            }
        }
    }

    /// `T x[] = { … }` with the number of its elements.
    pub fn counted(&self, ty: Ty, init: Option<ExprId>) -> Ty {
        let (Ty::Array(inner, Quantity::Unknown), Some(init)) = (&ty, init) else { return ty };
        let items = match self.node(init).map(|node| &node.kind) {
            Some(Expr::InitList(items)) => items,
            Some(Expr::Construct { args, braces: true, .. }) => args,
            _ => return ty,
        };
        let kind = |id: &ExprId| self.node(*id).map(|node| &node.kind);
        let plain = !items.iter().any(|item| matches!(kind(item), Some(Expr::Designated { .. })));
        // The braces around inner arrays may be missing.
        let whole = !inner.is_array() || items.iter().all(|item| matches!(kind(item), Some(Expr::InitList(_))));
        if plain && whole && !items.is_empty() {
            Ty::Array(inner.clone(), Quantity::Known(items.len() as i64))
        } else {
            ty
        }
    }

    fn same_record(&self, a: &Ty, b: &Ty) -> bool {
        matches!((a.value(), b.value()), (Ty::Record(a, _), Ty::Record(b, _)) if a == b)
    }

    fn initialize_list(&mut self, place: &Place, ty: &Ty, items: &'p [ExprId]) {
        match (ty.value(), ty.value().container()) {
            (Ty::Array(inner, _), _) => self.initialize_elements(place, inner, items),
            (_, Some((Container::Array, inner, _))) => {
                // The braces of the array inside may be written or not.
                if let [one] = items
                    && let Some(Expr::InitList(inside)) = self.node(*one).map(|node| &node.kind)
                {
                    return self.initialize_elements(place, inner, inside);
                }
                self.initialize_elements(place, inner, items);
            }
            (_, Some(_)) => {
                let outs: Vec<Out> = items.iter().map(|item| self.eval(*item)).collect();
                self.fill_container(place, ty, &outs);
            }
            _ => self.construct_at(place, ty, items, true),
        }
    }

    fn initialize_elements(&mut self, place: &Place, inner: &Ty, items: &'p [ExprId]) {
        self.memory.store(place, Val::zeroed());
        let (Place::Cell(obj, path), Some(size)) = (place, self.size_of(inner).known()) else {
            for item in items {
                let out = self.eval(*item);
                self.hand_out(&out);
            }
            self.forget_place(place);
            return;
        };
        if items.len() > 256 {
            self.forget_place(place);
            return;
        }
        self.strides.insert((*obj, path.clone()), size);
        for (index, item) in items.iter().enumerate() {
            let at = Place::Cell(*obj, extend(path, Key::At(size * index as i64)));
            self.initialize(&at, inner, *item);
        }
    }

    /// What an object without an initializer holds.
    pub fn default_initialize(&mut self, place: &Place, ty: &Ty) {
        match ty {
            Ty::Record(entry, _) => {
                let entry = *entry;
                if let Some((target, id)) = self.constructor(entry, 0) {
                    self.run_constructor(place, ty, target, id, &[], Vec::new(), None);
                } else {
                    self.default_fields(place, ty);
                }
            }
            Ty::Vector { name, .. } if name == "dim3" => self.fill_dim3(place, &[]),
            // A class out of sight has a constructor of its own.
            Ty::Library(..) | Ty::Unknown | Ty::Auto => match ty.container() {
                Some((Container::Array, ..)) => {}
                Some(_) => self.resize_container(place, ty, &Val::size(Quantity::Known(0)), true),
                None => self.memory.store(place, Val::unknown()),
            },
            _ => {}
        }
    }

    /// The fields of a record before its constructor's own work.
    pub fn default_fields(&mut self, place: &Place, ty: &Ty) {
        let Ty::Record(entry, env) = ty.value() else { return };
        let Some(record) = self.project.record_at(*entry) else { return };
        if self.frames.len() > crate::host::MAX_FRAMES + 4 {
            return self.forget_place(place);
        }
        // Records within records may have fields without number; one may even, where its text was read wrongly, hold itself.
        if self.making.depth >= MAX_RECORDS {
            return self.forget_place(place);
        }
        if !record.bases.is_empty() {
            self.forget_place(place);
        }
        self.making.depth += 1;
        for field in &record.fields {
            self.making.fields += 1;
            if self.making.fields > FREE_FIELDS && (self.making.fields > MAX_FIELDS || !self.budget.step()) {
                self.forget_place(place);
                break;
            }
            let needs = field.init.is_some() || {
                let ty = self.resolve_in(entry.module, env, field.ty);
                matches!(ty, Ty::Record(..) | Ty::Library(..) | Ty::Unknown | Ty::Vector { .. })
            };
            if !needs {
                continue;
            }
            let field_ty = self.resolve_in(entry.module, env, field.ty);
            let at = self.field_place(place, &field.name);
            match field.init {
                Some(init) => {
                    self.push_frame(entry.module, None, env.clone(), None);
                    self.initialize(&at, &field_ty, init);
                    self.frames.pop();
                }
                None => self.default_initialize(&at, &field_ty),
            }
        }
        self.making.depth -= 1;
        if self.making.depth == 0 {
            self.making.fields = 0;
        }
    }

    pub(super) fn fill_dim3(&mut self, place: &Place, values: &[Out]) {
        let lane = Ty::UINT;
        for (index, name) in ["x", "y", "z"].into_iter().enumerate() {
            let at = self.field_place(place, &Name::from(name));
            let val = values.get(index).map_or_else(|| Val::typed(Quantity::Known(1), 4, false), |out| out.val.clone());
            self.store(&at, &lane, val);
        }
    }

    /// `T(args)` as a value.
    pub fn construct(&mut self, ty: &Ty, args: &'p [ExprId], braces: bool) -> Out {
        let object =
            self.create_variable(&Name::from(""), cudalint_syntax::Span::default(), ty.value().clone(), Val::unknown());
        let place = Place::Cell(object, root());
        self.construct_at(&place, ty, args, braces);
        Out { val: self.memory.load(&place), ty: ty.value().clone(), place: Some(place) }
    }

    /// An initializer as a value of a type.
    pub fn build(&mut self, ty: &Ty, init: ExprId) -> Out {
        let object =
            self.create_variable(&Name::from(""), cudalint_syntax::Span::default(), ty.value().clone(), Val::unknown());
        let place = Place::Cell(object, root());
        self.initialize(&place, ty, init);
        Out { val: self.memory.load(&place), ty: ty.value().clone(), place: Some(place) }
    }

    /// `T x(args)`.
    pub fn construct_at(&mut self, place: &Place, ty: &Ty, args: &'p [ExprId], braces: bool) {
        match ty.value() {
            container if container.container().is_some() => self.construct_container(place, ty, args, braces),
            Ty::Record(entry, _) => {
                let entry = *entry;
                let Some(record) = self.project.record_at(entry) else { return self.forget_place(place) };
                let has_constructors = record.methods.iter().any(|id| {
                    self.project
                        .function_at(entry.module, *id)
                        .is_some_and(|method| method.role == FunctionRole::Constructor)
                });
                if !has_constructors && (braces || args.is_empty()) && record.bases.is_empty() {
                    self.memory.store(place, Val::zeroed());
                    self.default_fields(place, ty);
                    for (index, arg) in args.iter().enumerate() {
                        if let Some(Expr::Designated { field, value }) = self.node(*arg).map(|node| &node.kind) {
                            let at = self.field_place(place, field);
                            let field_ty = self.field_type(ty, field).unwrap_or(Ty::Unknown);
                            self.initialize(&at, &field_ty, *value);
                        } else if let Some(field) = record.fields.get(index) {
                            let at = self.field_place(place, &field.name);
                            let field_ty = self.field_type(ty, &field.name).unwrap_or(Ty::Unknown);
                            self.initialize(&at, &field_ty, *arg);
                        }
                    }
                    return;
                }
                let outs = self.arguments(args);
                self.construct_with(place, ty, args, outs);
            }
            Ty::Vector { name, lane, lanes } => {
                let outs = self.arguments(args);
                if let [one] = outs.as_slice()
                    && matches!(one.ty.value(), Ty::Vector { .. })
                {
                    return self.memory.store(place, one.val.clone());
                }
                if name == "dim3" {
                    return self.fill_dim3(place, &outs);
                }
                let lane = Ty::of_scalar(*lane);
                for (out, name) in outs.into_iter().zip(["x", "y", "z", "w"]).take(*lanes as usize) {
                    let at = self.field_place(place, &Name::from(name));
                    self.store(&at, &lane, out.val);
                }
            }
            Ty::Library(name, _) if braces && is_launch_config(name) => self.construct_launch_config(place, args),
            // `= {0}`: the fields that are not named are zero, too.
            Ty::Library(name, _)
                if braces && api::is_plain_record(name) && args.iter().all(|arg| self.is_zero(*arg)) =>
            {
                self.memory.store(place, Val::zeroed());
            }
            Ty::Library(..) | Ty::Unknown | Ty::Auto => {
                let outs = self.arguments(args);
                for (out, arg) in outs.iter().zip(args) {
                    self.hand_out(out);
                    if self.is_lvalue(*arg)
                        && let Some(place) = &out.place
                    {
                        let place = place.clone();
                        self.escape(&place);
                        self.forget_place(&place);
                    }
                }
                self.memory.store(place, Val::unknown());
            }
            _ => match args {
                [] => self.memory.store(place, Val::zeroed()),
                [one] => {
                    let out = self.eval(*one);
                    let cast = self.cast(&out, ty.clone());
                    self.store_result(*one, place, ty, cast.val);
                }
                _ => self.forget_place(place),
            },
        }
    }

    fn is_zero(&self, expr: ExprId) -> bool {
        matches!(self.node(expr).map(|node| &node.kind), Some(Expr::Int { value: 0, .. } | Expr::Null))
    }

    fn constructor(&self, entry: Entry, args: usize) -> Option<(cudalint_program::ir::ModuleId, FunctionId)> {
        let record = self.project.record_at(entry)?;
        let found = self.project.method(entry, &record.name, args)?;
        let function = self.project.function_at(found.0, found.1)?;
        (function.role == FunctionRole::Constructor && function.body.is_some()).then_some(found)
    }

    fn construct_with(&mut self, place: &Place, ty: &Ty, exprs: &[ExprId], outs: Vec<Out>) {
        let Ty::Record(entry, _) = ty.value() else { return };
        let entry = *entry;
        // A copy.
        if let [one] = outs.as_slice()
            && self.same_record(ty, &one.ty)
        {
            return self.memory.store(place, one.val.clone());
        }
        if let Some((target, id)) = self.constructor(entry, outs.len()) {
            self.run_constructor(place, ty, target, id, exprs, outs, exprs.first().copied());
            return;
        }
        for out in &outs {
            self.hand_out(out);
        }
        if !outs.is_empty() {
            self.memory.forget_shared();
        }
        self.memory.store(place, Val::unknown());
    }

    #[allow(clippy::too_many_arguments)]
    fn run_constructor(
        &mut self,
        place: &Place,
        ty: &Ty,
        module: cudalint_program::ir::ModuleId,
        id: FunctionId,
        exprs: &[ExprId],
        args: Vec<Out>,
        at: Option<ExprId>,
    ) {
        let env = match ty.value() {
            Ty::Record(_, env) => env.clone(),
            _ => TypeEnv::default(),
        };
        let invocation =
            Invocation { module, id, env, this: Some((place.clone(), ty.clone())), closure: None, exprs, args };
        self.invoke(at.unwrap_or(ExprId(u32::MAX)), invocation);
    }

    /// `new T`, `new T[n]`.
    pub fn new_object(&mut self, id: ExprId, ty: TypeId, count: Option<ExprId>, args: &'p [ExprId]) -> Out {
        let ty = self.resolve(ty);
        let (ty, count) = match (ty, count) {
            // `new T[n]` may carry its count in the type.
            (Ty::Array(inner, count), None) => ((*inner).clone(), Some(Out::new(Val::size(count), Ty::SIZE))),
            (ty, count) => (ty, count.map(|count| self.eval(count))),
        };
        if !self.comes_from_host_heap(&ty, 0) {
            let outs = self.arguments(args);
            for out in &outs {
                self.hand_out(out);
            }
            return Out::new(Val::unknown(), Ty::pointer_to(ty));
        }
        let size = self.size_of(&ty);
        let (bytes, why) = match &count {
            Some(out) => (size.times(&out.val.quantity()), out.val.why.clone()),
            None => (size.clone(), None),
        };
        let array = count.is_some();
        let info = ObjectInfo {
            name: Name::from(""),
            site: self.site(self.span(id)),
            ty: ty.clone(),
            space: MemorySpace::Host,
            api: Name::from("new"),
            array,
            element: size.known(),
        };
        let object = self.create_object(info, Val::size(bytes).because(&union(&why, &None)), Val::unknown());
        let place = Place::Cell(object, root());
        if array {
            for arg in args {
                self.eval(*arg);
            }
        } else if args.is_empty() {
            self.default_initialize(&place, &ty);
        } else {
            self.construct_at(&place, &ty, args, false);
        }
        let pointer = Ptr { obj: object, path: root(), offset: Quantity::Known(0), array };
        Out::new(Val::from(Kind::Ptr(pointer)), Ty::pointer_to(ty))
    }

    /// Whether `new` of the type surely takes host memory: no class of its own, and no base, replaces `operator new`.
    pub fn comes_from_host_heap(&mut self, ty: &Ty, depth: u32) -> bool {
        let Ty::Record(entry, env) = ty.value() else { return !ty.is_unknown() };
        let entry = *entry;
        let Some(record) = self.project.record_at(entry) else { return false };
        let replaced = record.methods.iter().any(|id| {
            self.project.function_at(entry.module, *id).is_some_and(|method| {
                method.name.strip_prefix("operator").is_some_and(|rest| rest.trim_start().starts_with("new"))
            })
        });
        if replaced || !record.defined || depth > 4 {
            return false;
        }
        record.bases.iter().all(|base| {
            let base = self.resolve_in(entry.module, env, *base);
            self.comes_from_host_heap(&base, depth + 1)
        })
    }
}
