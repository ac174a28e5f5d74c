//! Objects coming into being: initializers, constructors, `new`.

use super::calls::Invocation;
use super::launches::is_launch_config;
use super::types::{PAIR, pair_of};
use super::{Out, Walker};
use crate::facts::{MemorySpace, Origin};
use crate::host::ObjId;
use crate::memory::{Key, ObjectInfo, Place, root};
use crate::quantity::{Quantity, union};
use crate::value::{Kind, Ptr, Val};
use cudalint_program::api;
use cudalint_program::ir::{Expr, ExprId, FunctionId, FunctionRole, ModuleId, TypeId};
use cudalint_program::types::{Argument, Container, Ty, TypeEnv};
use cudalint_program::{Entry, Name};

/// How deep records hold records whose fields are set one by one.
const MAX_RECORDS: u32 = 16;
/// Fields of one object, those of its parts included, that are set without a step of the budget for each.
const FREE_FIELDS: u32 = 256;
/// Fields of one object that are set at all: of a larger one nothing is known.
const MAX_FIELDS: u32 = 1_024;
/// Constant members that are made of each other, at most.
const MAX_CONSTANTS: u32 = 8;
/// The members of CUDA's vectors.
pub(super) const LANES: [&str; 4] = ["x", "y", "z", "w"];

impl<'p> Walker<'p> {
    /// A new object's first value.
    pub fn initialize(&mut self, place: &Place, ty: &Ty, init: ExprId) {
        if let Ty::Reference(to) = ty {
            return self.bind_at(place, to, init);
        }
        match self.kind(init) {
            Some(Expr::InitList(items)) => self.initialize_list(place, ty, items),
            Some(Expr::Construct { ty: written, args, braces }) => {
                let written = self.resolve(*written);
                // `T x = U(…)`: an object of another class, from which this one is made.
                if self.is_another_class(ty, &written) {
                    let out = self.eval(init);
                    return self.initialize_with(place, ty, init, out);
                }
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
                self.initialize_with(place, ty, init, out);
            }
        }
    }

    /// Whether both are classes whose objects are surely made in different ways.
    fn is_another_class(&self, ty: &Ty, written: &Ty) -> bool {
        match (ty.value().container(), written.value().container()) {
            (Some((one, ..)), Some((other, ..))) => one != other,
            _ => false,
        }
    }

    /// A new object's first value, of an expression whose value is known already.
    pub(super) fn initialize_with(&mut self, place: &Place, ty: &Ty, init: ExprId, out: Out) {
        if let Ty::Reference(to) = ty {
            return self.bind_to(place, to, out.place.unwrap_or(Place::Unknown), &out.ty);
        }
        if ty.value().container().is_some() {
            self.assign_container(place, ty, &out);
        } else if let (Ty::Record(entry, _), false) = (ty.value(), self.same_record(ty, &out.ty)) {
            // A converting constructor.
            if self.constructor(*entry, 1).is_some() {
                self.construct_with(place, ty, &[init], vec![out]);
            } else {
                self.hand_out(&out);
                self.forget_place(place);
            }
        } else {
            let cast = self.cast(&out, ty.clone());
            let val = self.received(init, &out, cast.val, place);
            self.store_result(init, place, ty, val);
        }
    }

    pub(super) fn same_record(&self, a: &Ty, b: &Ty) -> bool {
        let alike = |(a, b): (&(Name, Argument), &(Name, Argument))| {
            a.1 == b.1 || matches!(a.1, Argument::Unknown) || matches!(b.1, Argument::Unknown)
        };
        // `Buffer<float> b(a)` of a `Buffer<char>` is no copy.
        matches!((a.value(), b.value()), (Ty::Record(a, these), Ty::Record(b, those))
            if a == b && these.iter().zip(those.iter()).all(alike))
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
            Ty::Array(..) => self.default_elements(place, ty),
            // A class out of sight has a constructor of its own.
            Ty::Library(..) | Ty::Unknown | Ty::Auto => match ty.container() {
                Some((Container::Array, ..)) => {}
                Some(_) => self.resize_container(place, ty, &Val::size(Quantity::Known(0)), true),
                None => self.memory.store(place, Val::unknown()),
            },
            _ => {}
        }
    }

    /// The fields of a record that nothing but the class itself gives values.
    pub fn default_fields(&mut self, place: &Place, ty: &Ty) {
        self.make_bases(place, ty, Vec::new(), 0);
        self.make_fields(place, ty, &mut |_, _| false);
    }

    /// The fields of a record, one after the other as they are declared: what the class gives one may use those in front of it. `own` makes
    /// those that a constructor or a list in braces gives values, and says which these are. Whether they were made; else the whole
    /// object is forgotten.
    pub(super) fn make_fields(
        &mut self,
        place: &Place,
        ty: &Ty,
        own: &mut dyn FnMut(&mut Self, &'p Name) -> bool,
    ) -> bool {
        let Ty::Record(entry, env) = ty.value() else { return true };
        let Some(record) = self.project.record_at(*entry) else { return true };
        // Records within records may have fields without number; one may even, where its text was read wrongly, hold itself.
        if self.frames.len() > crate::host::MAX_FRAMES + 4 || self.making.depth >= MAX_RECORDS {
            self.forget_place(place);
            return false;
        }
        self.making.depth += 1;
        for field in &record.fields {
            if own(self, &field.name) {
                continue;
            }
            self.making.fields += 1;
            if self.making.fields > FREE_FIELDS && (self.making.fields > MAX_FIELDS || !self.budget.step()) {
                self.forget_place(place);
                break;
            }
            let needs = field.init.is_some() || {
                let ty = self.part_type(*entry, env, field.ty);
                matches!(ty, Ty::Record(..) | Ty::Library(..) | Ty::Unknown | Ty::Vector { .. } | Ty::Array(..))
            };
            if !needs {
                continue;
            }
            let field_ty = self.part_type(*entry, env, field.ty);
            let at = self.field_place(place, &field.name);
            match field.init {
                Some(init) => {
                    self.push_frame(entry.module, None, env.clone(), None);
                    if let Some(frame) = self.frames.last_mut() {
                        frame.this = Some((place.clone(), ty.clone()));
                    }
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
        true
    }

    /// The value of a `const` member that its class gives it, and that no constructor and no list in braces gives another.
    pub(super) fn constant_member(&mut self, object: ObjId, path: &[Key], ty: &Ty) -> Option<Val> {
        let (Key::Field(name), around) = path.split_last()? else { return None };
        let mut holder = self.memory.get(object).info.ty.clone();
        for key in around {
            holder = match key {
                Key::Field(name) => self.field_type(&holder, name)?,
                Key::At(_) => holder.pointee()?.clone(),
            };
        }
        let Ty::Record(entry, env) = holder.value().clone() else { return None };
        let record = self.project.record_at(entry).filter(|record| record.defined)?;
        let (index, field) = record.fields.iter().enumerate().find(|(_, field)| field.name == *name)?;
        // Members are made in their order: a later one has no value yet.
        if self.making.constant.is_some_and(|(of, before)| of == entry && index >= before) {
            return None;
        }
        let init = field.init.filter(|_| self.project.module(entry.module).is_const(field.ty))?;
        // Members of specializations are other ones.
        let constructors = self.project.functions_named(&record.name);
        let sets = |(module, id): &(ModuleId, FunctionId)| {
            let function = self.project.function_at(*module, *id);
            function.is_none_or(|function| function.damaged || function.member_inits.iter().any(|(it, _)| it == name))
        };
        // Plain data may be given all of its values in braces, wherever it is made.
        let is_data = self.is_aggregate(entry) && record.methods.is_empty();
        if is_data || record.is_union || constructors.iter().any(sets) {
            return None;
        }
        if self.making.constants >= MAX_CONSTANTS {
            return None;
        }
        self.making.constants += 1;
        let around_it = self.making.constant.replace((entry, index));
        self.log.muted += 1;
        self.push_frame(entry.module, None, env, None);
        // It may be made of others: `const int ny = nx;`.
        if let Some(frame) = self.frames.last_mut() {
            frame.this = Some((Place::Cell(object, around.into()), holder));
        }
        let val = self.build(ty, init).val;
        self.frames.pop();
        self.log.muted -= 1;
        self.making.constants -= 1;
        self.making.constant = around_it;
        (val.why.is_none() && val.known().is_some()).then_some(val)
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
        self.temporary_of(ty, |w, place| w.construct_at(place, ty, args, braces))
    }

    /// An initializer as a value of a type.
    pub fn build(&mut self, ty: &Ty, init: ExprId) -> Out {
        self.temporary_of(ty, |w, place| w.initialize(place, ty, init))
    }

    /// A value that is made in an object of its own.
    pub(super) fn temporary_of(&mut self, ty: &Ty, make: impl FnOnce(&mut Self, &Place)) -> Out {
        let ty = ty.value().clone();
        let object =
            self.create_variable(&Name::from(""), cudalint_syntax::Span::default(), ty.clone(), Val::unknown());
        let place = Place::Cell(object, root());
        make(self, &place);
        Out { val: self.memory.load(&place), ty, place: Some(place) }
    }

    /// Gives the parts of a `std::pair` their values.
    pub(super) fn fill_pair(&mut self, place: &Place, ty: &Ty, outs: Vec<Out>) {
        for ((part, ty), out) in PAIR.into_iter().zip(pair_of(ty).into_iter().flatten()).zip(outs) {
            let at = self.field_place(place, &Name::from(part));
            let out = self.cast(&out, ty.clone());
            self.store(&at, &ty, out.val);
        }
    }

    /// `T x(args)`.
    pub fn construct_at(&mut self, place: &Place, ty: &Ty, args: &'p [ExprId], braces: bool) {
        match ty.value() {
            container if container.container().is_some() => self.construct_container(place, ty, args, braces),
            Ty::Record(entry, _) => {
                if self.project.record_at(*entry).is_none() {
                    return self.forget_place(place);
                }
                if self.is_aggregate(*entry) && (braces || args.is_empty()) {
                    match self.copies_another(ty, args) {
                        Some(false) => return self.fill(place, ty, args),
                        Some(true) => {}
                        None => {
                            self.fill(place, ty, args);
                            return self.forget_place(place);
                        }
                    }
                }
                let outs = self.arguments_of(None, args);
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
                for (out, name) in outs.into_iter().zip(LANES).take(*lanes as usize) {
                    let at = self.field_place(place, &Name::from(name));
                    self.store(&at, &lane, out.val);
                }
            }
            pair if args.len() == 2 && pair_of(pair).is_some() => {
                let outs = self.arguments(args);
                self.fill_pair(place, pair, outs);
            }
            Ty::Library(name, _) if braces && is_launch_config(name) => self.construct_launch_config(place, args),
            // `= {0}`: the fields that are not named are zero, too.
            Ty::Library(name, _)
                if braces && api::is_plain_record(name) && args.iter().all(|arg| self.is_zero(*arg)) =>
            {
                self.memory.store(place, Val::zeroed());
            }
            Ty::Library(..) | Ty::Unknown | Ty::Auto => {
                let outs = self.arguments_of(None, args);
                self.kept_by_object(ty, args, &outs);
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

    /// Whether a list of one item makes an object the copy of another one (`T a{b}`); nothing where that hangs on code out of sight.
    pub(super) fn copies_another(&mut self, ty: &Ty, items: &[ExprId]) -> Option<bool> {
        let [one] = items else { return Some(false) };
        if self.is_braced(*one) {
            return Some(false);
        }
        let of = self.type_of(*one);
        let is_same = self.same_record(ty, &of) || ty.value().container().is_some() && ty.value() == of.value();
        let is_open = of.value().is_unknown() && matches!(self.kind(*one), Some(Expr::Call { .. }));
        if is_open { None } else { Some(is_same) }
    }

    fn is_zero(&self, expr: ExprId) -> bool {
        matches!(self.kind(expr), Some(Expr::Int { value: 0, .. } | Expr::Null))
    }

    pub(super) fn constructor(&self, entry: Entry, args: usize) -> Option<(ModuleId, FunctionId)> {
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
            let val = match exprs.first() {
                Some(expr) => self.received(*expr, one, one.val.clone(), place),
                None => one.val.clone(),
            };
            return self.memory.store(place, val);
        }
        if let Some((target, id)) = self.constructor(entry, outs.len()) {
            self.run_constructor(place, ty, target, id, exprs, outs, exprs.first().copied());
            return;
        }
        self.kept_by_object(ty, exprs, &outs);
        if !outs.is_empty() {
            self.memory.forget_shared();
        }
        self.memory.store(place, Val::unknown());
    }

    #[allow(clippy::too_many_arguments)]
    pub(super) fn run_constructor(
        &mut self,
        place: &Place,
        ty: &Ty,
        module: ModuleId,
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
            let outs = self.arguments_of(None, args);
            self.kept_by_object(&ty, args, &outs);
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
            origin: Origin::New,
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

    /// Whether the project has an `operator new` of its own for everything: where that takes memory from is its business.
    pub fn replaces_new(&self) -> bool {
        ["operatornew", "operatornew[]"].into_iter().any(|name| {
            self.project.functions_named(name).into_iter().any(|(module, id)| {
                let function = self.project.function_at(module, id);
                function.is_some_and(|function| function.scope.segments.is_empty() && function.param_count == 1)
            })
        })
    }

    /// Whether `new` of the type surely takes host memory: no class of its own, and no base, replaces `operator new`.
    pub fn comes_from_host_heap(&mut self, ty: &Ty, depth: u32) -> bool {
        if depth == 0 && self.replaces_new() {
            return false;
        }
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
            let base = self.part_type(entry, env, *base);
            self.comes_from_host_heap(&base, depth + 1)
        })
    }
}
