//! Copies and sets of the CUDA runtime and driver: events for the rules, and what memory holds behind them.

use super::apis::Called;
use super::{Out, Walker};
use crate::arith::convert;
use crate::facts::{CopyKind, EventKind, MemorySpace, Pointer, PointerArgument, ReadBackFact, Rows};
use crate::given::{Held, HeldContents};
use crate::memory::Place;
use crate::quantity::{ClosedOp, Condition, Quantity, union};
use crate::value::{Kind, Val};
use cudalint_program::Name;
use cudalint_program::api::effects::{Arg, Direction, Effect, Size};
use cudalint_program::ir::{Expr, ExprId};
use cudalint_program::types::Ty;
use cudalint_syntax::Span;

/// How much a call moves.
pub(super) struct Moved {
    /// The argument that says it.
    pub count: ExprId,
    /// How many bytes.
    pub bytes: Val,
    /// How they lie, where it is in rows.
    pub rows: Option<Box<Rows>>,
}

/// The arguments of a copy to or from a variable of the device.
#[derive(Clone, Copy)]
struct SymbolCopy {
    symbol: Arg,
    other: Arg,
    bytes: Arg,
    offset: Arg,
    to_symbol: bool,
}

impl<'p> Walker<'p> {
    /// Does what a copy or set says; `false` where the call lacks arguments for it.
    pub(super) fn copies(&mut self, call: Called<'_>, effect: &Effect, args: &'p [ExprId]) -> bool {
        match *effect {
            Effect::Copies { to, from, size, direction } => {
                let (Some(to), Some(from)) = (to.of(args), from.of(args)) else { return false };
                self.copy(call, [to, from], size, direction, args)
            }
            Effect::CopiesSymbol { symbol, other, bytes, offset, to_symbol, .. } => {
                self.copy_symbol(call, SymbolCopy { symbol, other, bytes, offset, to_symbol }, args)
            }
            Effect::Sets { pointer, value, size, unit } => {
                let (Some(pointer), Some(value)) = (pointer.of(args), value.of(args)) else { return false };
                self.set(call, [pointer, value], size, i64::from(unit), args)
            }
            Effect::CopiesDescribed(by, structure) => {
                by.of(args).is_some_and(|by| self.copy_described(call, by, structure))
            }
            _ => false,
        }
    }

    fn copy(
        &mut self,
        call: Called<'_>,
        [dst, src]: [ExprId; 2],
        size: Size,
        direction: Direction,
        args: &'p [ExprId],
    ) -> bool {
        let (to, from) = (self.eval(dst), self.eval(src));
        let Some(moved) = self.moved(size, 1, args) else { return false };
        let kind = match direction {
            Direction::By(kind) => {
                let kind = kind.of(args);
                let value = kind.map(|kind| self.eval(kind).val);
                (value.map_or(CopyKind::Unknown, |value| self::direction(&value)), kind.map(|kind| self.span(kind)))
            }
            Direction::Any => (CopyKind::Default, None),
            Direction::HostToDevice => (CopyKind::HostToDevice, Some(self.span_of_name(call))),
            Direction::DeviceToHost => (CopyKind::DeviceToHost, Some(self.span_of_name(call))),
            Direction::DeviceToDevice => (CopyKind::DeviceToDevice, Some(self.span_of_name(call))),
        };
        self.evaluates_stream(call, args);
        let written = self.held_before(&from);
        self.shown_to_device(&from);
        self.is_read(&from);
        if !self.wants(call.id) {
            self.contents_change(&to);
            return true;
        }
        let sides = [self.argument(dst, &to), self.argument(src, &from)];
        let before = self.held_before(&to);
        let (bytes, in_one_piece) =
            (moved.bytes.clone(), moved.rows.as_ref().is_none_or(|rows| rows.touch(0) && rows.touch(1)));
        if in_one_piece {
            self.reads_back(call, &sides, (&bytes, kind.0), written.as_deref());
        }
        if in_one_piece {
            self.copy_fits(&sides, &bytes);
        }
        self.copied(call, sides, moved, kind, &to);
        self.starts_copy(call, [Some((dst, &to)), Some((src, &from))], (&bytes, in_one_piece), kind.0);
        if in_one_piece {
            self.held_after_copy(before, &to, &from, &bytes);
        } else {
            self.held_after_rows(&to);
        }
        true
    }

    /// Behind a copy the program goes on where it has fitted: one that is larger than memory of the device is refused, and who looks at
    /// statuses stops.
    fn copy_fits(&mut self, sides: &[PointerArgument; 2], bytes: &Val) {
        if !self.is_reporting() || bytes.why.is_some() {
            return;
        }
        for side in sides {
            let Pointer::Into { buffer, offset } = &side.pointer else { continue };
            if buffer.space != MemorySpace::Device || buffer.bytes.assumptions.is_some() {
                continue;
            }
            let end = offset.quantity.plus(&bytes.quantity());
            let size = buffer.bytes.quantity.clone();
            if !end.surely_equals(&size)
                && let Quantity::Symbolic(poly) = self.atoms.closed(ClosedOp::Le, &end, &size)
            {
                self.learn(&[Condition { poly, holds: true }], 0);
            }
        }
    }

    /// A copy to the host reads memory of which it is known who has written in it.
    fn reads_back(
        &mut self,
        call: Called<'_>,
        [to, from]: &[PointerArgument; 2],
        (bytes, kind): (&Val, CopyKind),
        written: Option<&Held>,
    ) {
        let (Some(held), Some(count)) = (written, bytes.known().filter(|count| *count > 0)) else { return };
        let (filled, kernels) = match &held.contents {
            HeldContents::WrittenOnly(filled) => (filled.clone(), Vec::new()),
            HeldContents::WrittenBy(filled, kernels) => (filled.clone(), kernels.clone()),
            _ => return,
        };
        let on_host = matches!(&to.pointer, Pointer::Into { buffer, .. }
            if matches!(buffer.space, MemorySpace::Host | MemorySpace::Pinned));
        let Pointer::Into { buffer, offset } = &from.pointer else { return };
        let (Some(first), true) = (offset.quantity.known(), buffer.space == MemorySpace::Device) else { return };
        if !on_host || !matches!(kind, CopyKind::DeviceToHost | CopyKind::Default) {
            return;
        }
        let rests_on = [&held.assumptions, &bytes.why, &offset.assumptions, &buffer.bytes.assumptions];
        let assumptions = rests_on.into_iter().fold(None, |all, why| union(&all, why));
        let fact = ReadBackFact {
            api: Name::from(call.name),
            argument: from.clone(),
            from: first,
            bytes: count,
            filled,
            kernels,
            assumptions,
            unwritten: Vec::new(),
        };
        let span = self.span(call.id);
        self.emit(EventKind::ReadBack(Box::new(fact)), span, &[]);
    }

    /// The bytes that a call moves, the arguments that say so evaluated; `None` where one is missing.
    fn moved(&mut self, size: Size, unit: i64, args: &'p [ExprId]) -> Option<Moved> {
        match size {
            Size::Bytes(count) => {
                let count = count.of(args)?;
                let out = self.eval(count);
                let mut moved = self.linear(count, &out);
                moved.bytes = Val::size(moved.bytes.quantity().times(&Quantity::Known(unit))).because(&moved.bytes.why);
                Some(moved)
            }
            Size::Rows { width, rows, pitch } => {
                let (count, rows) = (width.of(args)?, rows.of(args)?);
                let pitches = [pitch[0].of(args)?, pitch[1].of(args)?];
                let mut value = |expr: ExprId| {
                    let out = self.eval(expr);
                    convert(&mut self.atoms, &out.val, &Ty::SIZE)
                };
                let (width, height) = (value(count), value(rows));
                let values = pitches.map(&mut value);
                let width = Val::size(width.quantity().times(&Quantity::Known(unit))).because(&width.why);
                let bytes =
                    Val::size(width.quantity().times(&height.quantity())).because(&union(&width.why, &height.why));
                let rows = Rows {
                    width: self.amount(&width),
                    width_span: self.span(count),
                    counts: [self.amount(&height), self.amount(&height)],
                    pitches: values.each_ref().map(|pitch| self.amount(pitch)),
                    pitch_texts: pitches.map(|pitch| self.text(pitch)),
                };
                Some(Moved { count, bytes, rows: Some(Box::new(rows)) })
            }
            _ => None,
        }
    }

    fn linear(&mut self, count: ExprId, out: &Out) -> Moved {
        Moved { count, bytes: convert(&mut self.atoms, &out.val, &Ty::SIZE), rows: None }
    }

    /// Where a call names its function: it says the direction.
    fn span_of_name(&self, call: Called<'_>) -> Span {
        match self.kind(call.id) {
            Some(Expr::Call { callee, .. }) => self.span(*callee),
            _ => self.span(call.id),
        }
    }

    /// Pointers in what is copied can be followed on the other side.
    pub(super) fn shown_to_device(&mut self, from: &Out) {
        let mut shown = Vec::new();
        if let Kind::Ptr(source) = &from.val.kind {
            self.memory.get(source.obj).pointers(&[], &mut shown);
        }
        self.memory.escaped.extend(shown);
    }

    pub(super) fn copied(
        &mut self,
        call: Called<'_>,
        [destination, source]: [PointerArgument; 2],
        moved: Moved,
        (kind, kind_span): (CopyKind, Option<Span>),
        to: &Out,
    ) {
        if let Pointer::Into { buffer, .. } = &source.pointer {
            self.is_read_from(crate::host::ObjId(buffer.id.0));
        }
        let count = self.shape_for(moved.count, &[&destination, &source]);
        let event = EventKind::Copy {
            api: Name::from(call.name),
            destination,
            source,
            bytes: self.amount(&moved.bytes),
            count,
            rows: moved.rows,
            kind,
            kind_span,
            asynchronous: call.api.is_asynchronous(),
        };
        let span = self.span(call.id);
        self.emit(event, span, &[moved.count]);
        self.contents_change(to);
    }

    /// What a pointer leads to gets other contents.
    pub fn contents_change(&mut self, out: &Out) {
        match &out.val.kind {
            Kind::Ptr(pointer) => self.memory.forget(pointer.obj, &pointer.path.clone()),
            Kind::Unknown => self.memory.forget_escaped(),
            _ => {}
        }
    }

    /// A `__device__` variable named as such, by address, or (formerly) by a string.
    pub(super) fn symbol(&mut self, expr: ExprId) -> (Place, Ty) {
        let inner = self.without_casts(expr);
        match self.kind(inner) {
            Some(Expr::AddressOf(value)) => self.place(*value, super::places::Access::Address),
            _ if self.is_lvalue(inner) => {
                let (place, ty) = self.place(inner, super::places::Access::Address);
                match &ty {
                    Ty::Pointer(to) if **to == Ty::Void && !self.is_variable_of_device(&place) => {
                        self.symbol_held(inner)
                    }
                    _ => (place, ty),
                }
            }
            _ => (Place::Unknown, Ty::Unknown),
        }
    }

    /// The variable of the device whose address on the host a `const void *` holds: that is what the runtime itself takes, and a variable
    /// of another type is meant itself (CUDA Runtime API, `cudaGetSymbolAddress`, C++ templates).
    fn symbol_held(&mut self, pointer: ExprId) -> (Place, Ty) {
        let out = self.eval(pointer);
        let held = match &out.val.kind {
            Kind::Ptr(held) if held.path.is_empty() => Some(self.memory.get(held.obj).info.ty.clone()),
            Kind::Ptr(_) => Some(Ty::Unknown),
            _ => None,
        };
        let place = self.pointed_place(&out.val, &Ty::Unknown);
        held.filter(|_| self.is_variable_of_device(&place)).map_or((Place::Unknown, Ty::Unknown), |ty| (place, ty))
    }

    fn is_variable_of_device(&self, place: &Place) -> bool {
        match place {
            Place::Cell(obj, _) => self.memory.get(*obj).info.space != MemorySpace::Host,
            _ => false,
        }
    }

    /// Copies to or from a `__device__` variable.
    fn copy_symbol(&mut self, call: Called<'_>, symbol: SymbolCopy, args: &'p [ExprId]) -> bool {
        let at = |arg: Arg| arg.of(args);
        let (Some(variable), Some(other), Some(n)) = (at(symbol.symbol), at(symbol.other), at(symbol.bytes)) else {
            return false;
        };
        let (place, ty) = self.symbol(variable);
        let address = self.address(&place, &ty);
        let rest = args.get(symbol.offset.at()..).unwrap_or_default();
        let outs = self.arguments(rest);
        let address = match outs.first() {
            Some(offset) => self.advance(&address, &offset.val, &Ty::BYTE),
            None => address,
        };
        let element = match &ty {
            Ty::Array(inner, _) => (**inner).clone(),
            other => other.clone(),
        };
        let symbol_out = Out::new(address, Ty::pointer_to(element.clone()));
        let (out, bytes) = (self.eval(other), self.eval(n));
        let symbol_argument = PointerArgument {
            pointer: match self.pointer(&symbol_out.val) {
                // Only variables of the device are symbols.
                Pointer::Into { buffer, offset } if buffer.space != MemorySpace::Host => {
                    Pointer::Into { buffer, offset }
                }
                _ => Pointer::Unknown,
            },
            text: self.text(variable),
            span: self.span(variable),
            element: self.known_size(&element),
            element_name: self.type_name(&element),
            array: None,
        };
        self.shown_to_device(&out);
        self.is_read(&out);
        let host = self.argument(other, &out);
        let kind = match outs.get(1) {
            Some(kind) => direction(&kind.val),
            None if symbol.to_symbol => CopyKind::HostToDevice,
            None => CopyKind::DeviceToHost,
        };
        let kind_span = rest.get(1).map(|kind| self.span(*kind));
        let (sides, to, from) = if symbol.to_symbol {
            ([symbol_argument, host], symbol_out, Some(out))
        } else {
            ([host, symbol_argument], out, None)
        };
        let moved = self.linear(n, &bytes);
        let (before, length) = (self.held_before(&to), moved.bytes.clone());
        self.copied(call, sides, moved, (kind, kind_span), &to);
        if let Some(from) = from {
            self.held_after_copy(before, &to, &from, &length);
        }
        true
    }

    fn set(&mut self, call: Called<'_>, [p, value]: [ExprId; 2], size: Size, unit: i64, args: &'p [ExprId]) -> bool {
        let (to, what) = (self.eval(p), self.eval(value));
        let Some(moved) = self.moved(size, unit, args) else { return false };
        self.evaluates_stream(call, args);
        if !self.wants(call.id) {
            self.contents_change(&to);
            return true;
        }
        let set_value = match &what.val.kind {
            Kind::Float(_) | Kind::Ratio(..) => {
                let ty = if unit == 4 { Ty::UINT } else { Ty::INT };
                convert(&mut self.atoms, &what.val, &ty)
            }
            _ => what.val.clone(),
        };
        let destination = self.argument(p, &to);
        let count = self.shape_for(moved.count, &[&destination]);
        let in_one_piece = moved.rows.as_ref().is_none_or(|rows| rows.touch(0));
        let event = EventKind::Set {
            api: Name::from(call.name),
            destination,
            value: self.amount(&set_value),
            value_text: self.text(value),
            value_span: self.span(value),
            bytes: self.amount(&moved.bytes),
            count,
            rows: moved.rows,
            unit,
        };
        let span = self.span(call.id);
        self.emit(event, span, &[moved.count]);
        self.starts_copy(call, [Some((p, &to)), None], (&moved.bytes, in_one_piece), CopyKind::Unknown);
        let before = self.held_before(&to);
        self.contents_change(&to);
        if in_one_piece {
            self.held_after_set(before, &to, &what.val, &moved.bytes, unit);
        } else {
            self.held_after_rows(&to);
        }
        true
    }

    /// Rows were written, with gaps between them: what the memory holds is no longer known.
    pub(super) fn held_after_rows(&mut self, to: &Out) {
        if let Kind::Ptr(pointer) = &to.val.kind {
            self.memory.set_held(pointer.obj, None);
        }
    }
}

/// `cudaMemcpyKind` by its value.
pub(super) fn direction(val: &Val) -> CopyKind {
    if val.why.is_some() {
        return CopyKind::Unknown;
    }
    CopyKind::by_number(val.known())
}
