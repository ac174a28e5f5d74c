//! Calls of the CUDA runtime, driver and libraries: what their effects do to memory.

use super::{Out, Walker};
use crate::facts::{CountShape, EventKind, MemorySpace, Origin, Owner};
use crate::given::Held;
use crate::memory::{Freed, ObjectInfo, root};
use crate::quantity::AtomKind;
use crate::quantity::Quantity;
use crate::value::{Kind, Ptr, Val};
use cudalint_program::Name;
use cudalint_program::api::effects::{Arg, Effect, Returns, Size, Space};
use cudalint_program::api::{ApiId, is_dynamic_shared_attribute};
use cudalint_program::ir::{Expr, ExprId};
use cudalint_program::types::Ty;

/// A call of a function of the catalogue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Called<'a> {
    /// The call.
    pub id: ExprId,
    /// The function.
    pub api: ApiId,
    /// As it is spelled here.
    pub name: &'a str,
}

impl<'p> Walker<'p> {
    /// A call of a CUDA library by name; `None` when the name is not one.
    pub fn api_call(&mut self, id: ExprId, name: &str, args: &'p [ExprId]) -> Option<Out> {
        let api = ApiId::named(name).filter(|api| api.is_cuda_host())?;
        let call = Called { id, api, name };
        self.ordered_by(call, args);
        if !api.effects.iter().any(|effect| self.effect(call, effect, args)) {
            let outs = self.arguments(args);
            self.finds_out(args, &outs);
            if let Some(at) = api.packed_at()
                && let (Some(kernel), Some(list), Some(array)) = (args.first(), args.get(at), outs.get(at))
            {
                self.check_packed((*kernel, *list), array, None);
            }
            if api.returns != Returns::Text {
                // What it is told to call later may give back what it is told to hand over.
                let function = |ty: &Ty| matches!(ty, Ty::Function);
                let calls = outs.iter().any(|out| {
                    matches!(out.val.kind, Kind::Function(..) | Kind::Closure(_))
                        || function(out.ty.value())
                        || out.ty.pointee().is_some_and(function)
                });
                for out in &outs {
                    self.memory.reached_by_device(&out.val, false);
                    self.written_by_library(out);
                    if calls {
                        self.keep(&out.val);
                    }
                }
                self.passes_program_on(call, &outs);
            }
        }
        Some(match api.returns {
            Returns::Text => Out::new(Val::unknown(), Ty::pointer_to(Ty::CHAR)),
            Returns::Nothing => Out::new(Val::unknown(), Ty::Void),
            Returns::Other => Out::unknown(),
            Returns::Status(_) | Returns::StatusByHandle(_) => Out::new(Val::from(Kind::Status), Ty::INT),
        })
    }

    /// Does what an effect says, arguments included; `false` where the call lacks arguments for it, or it says nothing of
    /// memory.
    fn effect(&mut self, call: Called<'_>, effect: &Effect, args: &'p [ExprId]) -> bool {
        let at = |arg: Arg| arg.of(args);
        match *effect {
            Effect::Allocates { space, out, size: Size::Bytes(count), .. } => {
                let (Some(target), Some(count)) = (at(out), at(count)) else { return false };
                self.allocate(call, target, count, memory_space(space));
                for rest in args.iter().filter(|arg| **arg != target && **arg != count) {
                    self.eval(*rest);
                }
            }
            Effect::Allocates { space, out, size: Size::Pitched { width, rows, pitch }, .. } => {
                let (Some(target), Some(pitch)) = (at(out), at(pitch)) else { return false };
                let (Some(width), Some(rows)) = (at(width), at(rows)) else { return false };
                self.allocate_rows(call, target, pitch, [width, rows], memory_space(space));
            }
            Effect::Frees(pointer) => {
                let Some(pointer) = at(pointer) else { return false };
                let out = self.eval(pointer);
                for rest in args.iter().filter(|arg| **arg != pointer) {
                    self.eval(*rest);
                }
                self.frees_early(call, pointer, &out);
                self.free_value(call.id, call.name, pointer, &out);
            }
            Effect::Copies { .. } | Effect::CopiesSymbol { .. } | Effect::CopiesDescribed(..) | Effect::Sets { .. } => {
                return self.copies(call, effect, args);
            }
            Effect::Pins(pointer) => {
                let outs = self.arguments(args);
                if let Some(Kind::Ptr(pointer)) = outs.get(pointer.at()).map(|out| &out.val.kind) {
                    self.move_to(pointer.obj, MemorySpace::Pinned);
                }
            }
            Effect::Maps { out, of } => {
                let outs = self.arguments(args);
                let Some(target) = outs.get(out.at()) else { return true };
                let val = outs.get(of.at()).map_or_else(Val::unknown, |out| out.val.clone());
                self.write_through(target, val);
            }
            Effect::AddressOfSymbol { out, symbol } => {
                let (Some(target), Some(symbol)) = (at(out), at(symbol)) else { return false };
                let target = self.eval(target);
                let (place, ty) = self.symbol(symbol);
                let val = self.address(&place, &ty);
                self.write_through(&target, val);
            }
            Effect::SetsAttribute { kernel, attribute, value } => {
                let (Some(kernel), Some(attribute), Some(value)) = (at(kernel), at(attribute), at(value)) else {
                    return false;
                };
                self.set_attribute(kernel, attribute, value);
            }
            Effect::Creates(_, out) => {
                let Some(target) = at(out) else { return false };
                let made = self.create_handle(call.id, call.api, call.name, target);
                let mut flags = None;
                for (at, rest) in args.iter().enumerate().filter(|(_, arg)| **arg != target) {
                    let rest = self.eval(*rest);
                    if call.api.params.get(at).is_some_and(|param| param.eq_ignore_ascii_case("flags")) {
                        flags = rest.val.known().filter(|_| rest.val.why.is_none());
                    }
                    self.is_read(&rest);
                    if let Some(made) = made {
                        self.made_of(call.api, at, made, &rest);
                    }
                }
                if let Some(made) = made {
                    self.is_born(made, call.api, flags);
                }
            }
            Effect::Destroys(_, handle) => {
                let Some(handle) = at(handle) else { return false };
                self.destroy_handle(call.id, call.name, handle);
            }
            Effect::Compiles(program) => {
                let Some(program) = at(program) else { return false };
                self.compiles(program);
                for rest in args.iter().filter(|arg| **arg != program) {
                    self.eval(*rest);
                }
            }
            Effect::AddsName { program, name } => {
                let (Some(program), Some(name)) = (at(program), at(name)) else { return false };
                self.adds_name(call.id, call.name, program, name);
            }
            Effect::AsksName { program, name } => {
                let (Some(program), Some(name)) = (at(program), at(name)) else { return false };
                self.asks_name(call.id, call.name, program, name);
                for rest in args.iter().filter(|arg| **arg != program && **arg != name) {
                    let rest = self.eval(*rest);
                    self.written_by_library(&rest);
                    self.gives_name(program, &rest);
                }
            }
            Effect::Resets => {
                self.reset_device();
                return false;
            }
            Effect::Captures => {
                self.capturing = true;
                self.leave_trace();
                self.begins_capture(call, args);
                return false;
            }
            Effect::Captured => {
                self.ends_capture();
                return false;
            }
            _ => return false,
        }
        true
    }

    /// A library may write what it is given the address of; it frees nothing and knows no more.
    pub fn written_by_library(&mut self, out: &Out) {
        let mut pointers = Vec::new();
        out.val.pointers(&mut pointers);
        for object in pointers {
            // What is behind a handle is known by other calls.
            let handle = self.memory.get(object).info.origin.api().is_some_and(|api| api.makes_handle());
            if !handle {
                self.memory.forget(object, &root());
            }
        }
        self.is_read(out);
    }

    /// Stores through a pointer argument.
    pub fn write_through(&mut self, target: &Out, val: Val) {
        let ty = target.ty.pointee().cloned().unwrap_or(Ty::Unknown);
        let place = self.pointed_place(&target.val, &ty);
        // `(void**)&p` says nothing of the type that is stored.
        self.memory.store(&place, val);
    }

    /// The variable and static pointee type behind an out-parameter `(void**)&p`.
    pub(super) fn out_pointer(&mut self, expr: ExprId) -> (Out, Ty, String) {
        let out = self.eval(expr);
        let inner = self.without_casts(expr);
        let static_ty = if inner == expr { out.ty.clone() } else { self.type_of(inner) };
        let pointer_ty = static_ty.pointee().cloned().unwrap_or(Ty::Unknown);
        let pointee = pointer_ty.pointee().cloned().unwrap_or(Ty::Unknown);
        let text = match self.kind(inner) {
            Some(Expr::AddressOf(value)) => self.text(*value),
            _ => self.text(inner),
        };
        (out, pointee, text)
    }

    fn allocate(&mut self, call: Called<'_>, target: ExprId, count: ExprId, space: MemorySpace) {
        let receiver = self.out_pointer(target);
        let bytes = self.eval(count);
        let shape = self.shape(count);
        let size = crate::arith::convert(&mut self.atoms, &bytes.val, &Ty::SIZE);
        self.allocated(call, receiver, size, shape, space, &[count]);
    }

    /// Rows that lie a pitch apart which the call chooses: at least as long as a row, and no more is known of it.
    fn allocate_rows(
        &mut self,
        call: Called<'_>,
        target: ExprId,
        pitch: ExprId,
        [width, rows]: [ExprId; 2],
        space: MemorySpace,
    ) {
        let receiver = self.out_pointer(target);
        let (pitch, _, name) = self.out_pointer(pitch);
        self.eval(width);
        let count = self.eval(rows);
        let chosen = if self.dry > 0 { Quantity::Unknown } else { self.atoms.fresh(&name, AtomKind::Opaque) };
        self.write_through(&pitch, Val::size(chosen.clone()));
        let count = crate::arith::convert(&mut self.atoms, &count.val, &Ty::SIZE);
        let size = Val::size(chosen.times(&count.quantity())).because(&count.why);
        // What is written of it is no number of bytes.
        let shape = CountShape { opaque: true, ..self.shape(width) };
        self.allocated(call, receiver, size, shape, space, &[width, rows]);
    }

    fn allocated(
        &mut self,
        call: Called<'_>,
        (out, pointee, text): (Out, Ty, String),
        size: Val,
        count: CountShape,
        space: MemorySpace,
        mentioned: &[ExprId],
    ) {
        let element = self.known_size(&pointee);
        let info = ObjectInfo {
            name: Name::from(text.as_str()),
            site: self.expr_site(call.id),
            ty: pointee.clone(),
            space,
            origin: Origin::Call(call.api, Name::from(call.name)),
            array: true,
            element,
        };
        let object = self.create_object(info, size, Val::unknown());
        self.memory.set_held(object, Some(Held::fresh()));
        let pointer = Kind::Ptr(Ptr { obj: object, path: root(), offset: Quantity::Known(0), array: true });
        self.write_through(&out, Val::from(pointer));
        self.has_made(object);
        if !self.wants(call.id) {
            return;
        }
        let buffer = self.buffer(object);
        let kind =
            EventKind::Allocate { buffer, count, pointer_text: text, element, element_name: self.type_name(&pointee) };
        let span = self.span(call.id);
        self.emit(kind, span, mentioned);
    }

    /// Bytes of a pointee, unless it is `void` or out of sight.
    pub fn known_size(&mut self, ty: &Ty) -> Option<i64> {
        match ty {
            Ty::Void => None,
            other if other.is_unknown() => None,
            other => self.size_of(other).known(),
        }
    }

    /// Memory is given back. What C and C++ free is an event where a function of CUDA has allocated it.
    pub fn free_value(&mut self, id: ExprId, api: &str, expr: ExprId, out: &Out) {
        let of_cuda = |api: ApiId| api.is_cuda_host();
        if let Kind::Ptr(pointer) = &out.val.kind
            && self.memory.get(pointer.obj).bytes.known() == Some(0)
        {
            // For no bytes an allocation may give a null pointer, which can be freed any number of times.
            return;
        }
        let allocated = match &out.val.kind {
            Kind::Ptr(pointer) => self.memory.get(pointer.obj).info.origin.api(),
            _ => None,
        };
        if (ApiId::named(api).is_some_and(of_cuda) || allocated.is_some_and(of_cuda)) && self.wants(id) {
            let argument = self.argument(expr, out);
            let span = self.span(id);
            self.emit(EventKind::Free { api: Name::from(api), argument }, span, &[]);
        }
        if let Kind::Ptr(pointer) = &out.val.kind {
            let whole = self.whole_offset(pointer) == Quantity::Known(0);
            let info = &self.memory.get(pointer.obj).info;
            let freed = Owner::of(&info.origin, info.space).map_or(Some(true), |owner| owner.is_freed_by(api));
            match freed {
                // From its middle it is not freed, if that is where the pointer leads.
                Some(true) if whole => self.memory.get_mut(pointer.obj).freed = Freed::Yes,
                // CUDA refuses what is not its own, and the memory stays.
                Some(false) if ApiId::named(api).is_some_and(of_cuda) => {}
                _ => self.memory.may_be_freed(pointer.obj),
            }
        }
    }

    pub(super) fn move_to(&mut self, object: crate::host::ObjId, space: MemorySpace) {
        let info = self.memory.get(object).info.clone();
        let moved = ObjectInfo {
            name: info.name.clone(),
            site: info.site,
            ty: info.ty.clone(),
            space,
            origin: info.origin.clone(),
            array: info.array,
            element: info.element,
        };
        self.memory.get_mut(object).info = std::rc::Rc::new(moved);
    }

    fn set_attribute(&mut self, kernel: ExprId, attribute: ExprId, value: ExprId) {
        // Of what stands in a macro's body the text is that of the macro's use.
        let name = match self.module().exprs.get(self.without_casts(attribute)).map(|expr| &expr.kind) {
            Some(Expr::Name { path, .. }) => path.last().map_or_else(String::new, ToString::to_string),
            _ => self.text(attribute),
        };
        let out = self.eval(self.without_casts(kernel));
        let value = self.eval(value);
        let last = name.rsplit(|c: char| !c.is_alphanumeric() && c != '_').find(|word| !word.is_empty());
        if !last.is_some_and(is_dynamic_shared_attribute) {
            return;
        }
        self.any_opt_in = true;
        self.leave_trace();
        if let Kind::Function(module, function, _) = &out.val.kind {
            // Another instance of the same template may get another size: the larger counts, an unknown one most.
            let new = match (self.opt_in.get(&(*module, *function)), value.val.known()) {
                (Some(old), Some(new)) => match old.known() {
                    Some(old) => Val::int(old.max(new)),
                    None => Val::unknown(),
                },
                (None, Some(new)) => Val::int(new),
                _ => Val::unknown(),
            };
            self.opt_in.insert((*module, *function), new);
        } else {
            self.unknown_opt_in = true;
        }
    }
}

/// Memory that an allocation of the catalogue gives.
const fn memory_space(space: Space) -> MemorySpace {
    match space {
        Space::Host => MemorySpace::Host,
        Space::Pinned => MemorySpace::Pinned,
        Space::Device => MemorySpace::Device,
        Space::Managed => MemorySpace::Managed,
    }
}
