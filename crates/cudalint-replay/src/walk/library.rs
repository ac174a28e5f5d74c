//! The C and C++ standard library, as far as it allocates, copies, reads the environment or computes.

use super::{Out, Walker};
use crate::arith;
use crate::facts::{MemorySpace, Origin};
use crate::host::NO_ARGUMENTS;
use crate::memory::{ObjectInfo, Place, root};
use crate::quantity::ClosedOp;
use crate::quantity::{Quantity, assume, union};
use crate::value::{Int, Kind, Ptr, Val};
use cudalint_program::Name;
use cudalint_program::api::ApiId;
use cudalint_program::api::effects::{Arg, Effect, Holds, Size};
use cudalint_program::ir::{BinaryOp, ExprId, Path, TemplateArg};
use cudalint_program::types::{Argument, Container, Ty};

impl<'p> Walker<'p> {
    /// A call of the standard library or of thrust; `None` when the name is not known.
    pub fn library_call(
        &mut self,
        id: ExprId,
        path: &'p Path,
        targs: &'p [TemplateArg],
        args: &'p [ExprId],
    ) -> Option<Out> {
        let last = path.last()?;
        let name = last.as_str();
        let qualified = path.segments.len() > 1;
        if let ("ceil_div", 2, [number, by]) = (name, path.segments.len(), args) {
            return Some(self.rounded_up(*number, *by));
        }
        if qualified && !matches!(path.segments[0].as_str(), "std" | "thrust" | "cub" | "cv") {
            return None;
        }
        let api = ApiId::named(name).filter(|api| !api.is_cuda_host());
        if path.segments.len() > 2 && name == "now" && args.is_empty() {
            self.looks_at_clock(id);
            return Some(Out::unknown());
        }
        if let Some(api) = api {
            if api.is_clock() && !qualified {
                self.looks_at_clock(id);
            }
            if api.ends() {
                self.arguments(args);
                self.ended = true;
                return Some(Out::new(Val::unknown(), Ty::Void));
            }
            if api.reads_number() {
                return Some(self.number_from_text(id, name, args));
            }
            if api.effects.iter().any(|effect| matches!(effect, Effect::Inputs(_))) {
                return Some(self.reads_from_outside(api, args));
            }
            if let ("strlen", [text]) = (name, args) {
                let out = self.eval(*text);
                let length = match &out.val.kind {
                    Kind::Str(text) => Quantity::Known(text.split('\0').next().map_or(0, str::len) as i64),
                    _ => Quantity::Unknown,
                };
                return Some(Out::new(Val::size(length).because(&out.val.why), Ty::SIZE));
            }
            if api.is_pure() {
                // `std::ref` and its kind only name what they are given; interfaces of C know no references.
                if qualified {
                    self.arguments_of(None, args);
                } else {
                    let outs = self.arguments(args);
                    self.handed_to(id, api, name, args, &outs);
                }
                return Some(Out::new(Val::unknown(), Ty::Unknown));
            }
            // Vector types and CUDA's small records, made from numbers; and interfaces of C, which knows no references.
            if !qualified && api.builds_value() {
                let outs = self.arguments(args);
                for out in &outs {
                    self.escape_pointers(&out.val);
                }
                return Some(self.built(api, &outs));
            }
            if !qualified && api.is_plain_c() {
                let outs = self.arguments(args);
                self.handed_to(id, api, name, args, &outs);
                for out in &outs {
                    self.hand_out(out);
                }
                return Some(Out::unknown());
            }
            if let Some(out) = self.host_memory(id, api, name, args) {
                return Some(out);
            }
        }
        match (name, args) {
            ("min" | "max" | "fmin" | "fmax", [a, b]) => {
                let (x, y) = (self.eval(*a), self.eval(*b));
                Some(self.extremum(name.ends_with("min"), &x, &y))
            }
            (
                "ceil" | "ceilf" | "floor" | "floorf" | "trunc" | "truncf" | "round" | "roundf" | "sqrt" | "sqrtf"
                | "abs" | "log2",
                [x],
            ) => {
                let out = self.eval(*x);
                Some(self.float_function(name, &out))
            }
            ("pow" | "powf", [a, b]) => {
                let (x, y) = (self.eval(*a), self.eval(*b));
                let number = |out: &Out| match (&out.val.kind, out.val.known()) {
                    (Kind::Float(value), _) => Some(*value),
                    (_, Some(value)) => Some(value as f64),
                    _ => None,
                };
                let kind = match (number(&x), number(&y)) {
                    (Some(a), Some(b)) => Kind::Float(a.powf(b)),
                    _ => Kind::Unknown,
                };
                let ty = if name == "powf" { Ty::Float { bytes: 4 } } else { Ty::DOUBLE };
                let val = Val { kind, why: union(&x.val.why, &y.val.why) };
                Some(Out::new(arith::convert(&mut self.atoms, &val, &ty), ty))
            }
            ("getenv" | "secure_getenv", [_]) => {
                let text = self.text(args[0]);
                self.eval(args[0]);
                let why = assume(format!("the environment variable {text} is not set"));
                Some(Out::new(Val { kind: Kind::Null, why }, Ty::pointer_to(Ty::CHAR)))
            }
            ("getopt" | "getopt_long" | "getopt_long_only", _) => {
                self.arguments(args);
                let val = Val { kind: Val::int(-1).kind, why: assume(NO_ARGUMENTS) };
                Some(Out::new(val, Ty::INT))
            }
            ("assert" | "__builtin_assume" | "__builtin_expect" | "CUDA_KERNEL_ASSERT", [condition, ..]) => {
                let out = self.eval(*condition);
                if name != "__builtin_expect" {
                    self.assume_passed(*condition);
                }
                Some(out)
            }
            // Who names an object this way hands it on, and reads nothing.
            ("move" | "forward" | "as_const" | "launder", [_]) => self.arguments_of(None, args).pop(),
            // An object that names another, for whoever has a copy of it.
            ("ref" | "cref", [_]) => {
                if let Some(place) = self.arguments_of(None, args).pop().and_then(|out| out.place) {
                    self.escape(&place);
                }
                Some(Out { val: Val::unknown(), ty: Ty::Unknown, place: Some(Place::Unknown) })
            }
            ("raw_pointer_cast" | "device_pointer_cast" | "addressof" | "get_raw_pointer", [_]) => {
                let out = self.arguments_of(None, args).pop()?;
                if name == "addressof" {
                    let place = out.place.clone().unwrap_or(Place::Unknown);
                    return Some(Out::new(self.address(&place, &out.ty), Ty::pointer_to(out.ty)));
                }
                let ty = match (out.ty.value(), out.ty.value().container(), name) {
                    (_, Some((Container::DevicePointer, inner, _)), "raw_pointer_cast" | "get_raw_pointer") => {
                        Ty::pointer_to(inner.clone())
                    }
                    (Ty::Pointer(inner), _, "device_pointer_cast") => Ty::library_of("device_ptr", (**inner).clone()),
                    (other, ..) => other.clone(),
                };
                Some(Out::new(out.val, ty))
            }
            ("swap", [a, b]) => {
                let (x, y) =
                    (self.place(*a, super::places::Access::Address), self.place(*b, super::places::Access::Address));
                let (p, q) = (self.memory.load(&x.0), self.memory.load(&y.0));
                self.memory.store(&x.0, q);
                self.memory.store(&y.0, p);
                Some(Out::new(Val::unknown(), Ty::Void))
            }
            ("make_unique" | "make_shared" | "make_unique_for_overwrite", _) => {
                Some(self.make_smart(id, name, targs, args))
            }
            ("make_pair", [_, _]) => {
                let outs = self.arguments(args);
                let types = outs.iter().map(|out| Argument::Type(out.ty.decayed())).collect();
                let ty = Ty::Library("pair".into(), types);
                Some(self.temporary_of(&ty, |w, place| w.fill_pair(place, &ty, outs)))
            }
            ("dim3", _) => {
                let ty = Ty::vector("dim3");
                Some(self.construct(&ty, args, false))
            }
            ("fscanf" | "scanf" | "sscanf", _) => {
                let outs = self.arguments(args);
                self.converted_from_outside(&outs, args);
                Some(Out::new(Val::unknown(), Ty::INT))
            }
            ("read", [_, to, _]) if !qualified => {
                let outs = self.arguments(args);
                let bytes = outs.get(2).and_then(|out| out.val.quantity().known());
                for (out, expr) in outs.iter().zip(args) {
                    self.stored_by_library(out, *expr, bytes);
                }
                self.read_by_address(outs.get(1)?, *to);
                Some(Out::new(Val::unknown(), Ty::LONG))
            }
            ("imread", _) => {
                self.arguments(args);
                Some(self.image_from_outside())
            }
            // A line of a stream, as long as whoever wrote it made it.
            ("getline", [_, line, ..]) if matches!(self.type_of(*line).container(), Some((Container::String, ..))) => {
                let outs = self.arguments_of(None, args);
                self.forget_references(&outs, args);
                if let Some(place) = outs.get(1).and_then(|out| out.place.clone()) {
                    let (ty, text) = (self.type_of(*line), self.text(*line));
                    self.has_extents_from_outside(&place, &ty, &text);
                }
                outs.into_iter().next().map(|stream| Out { val: Val::unknown(), ..stream })
            }
            (
                "snprintf" | "sprintf" | "fgets" | "gettimeofday" | "read" | "strcpy" | "strncpy" | "strcat"
                | "getline" | "clock_gettime",
                _,
            ) => {
                let outs = self.arguments(args);
                for out in &outs {
                    self.written_by_library(out);
                }
                // A function of the program's own that has the name may take references.
                if !self.project.functions_named(name).is_empty() {
                    self.forget_references(&outs, args);
                }
                Some(Out::new(Val::unknown(), Ty::INT))
            }
            _ if qualified => {
                // Algorithms work on what their iterators lead to, and on what they take by reference.
                let outs = self.arguments_of(None, args);
                if path.segments[0] != "std" {
                    let goes_on = self.runs_algorithm(id, path, args, &outs);
                    if !goes_on {
                        self.may_wait();
                    }
                }
                let keeps = path.segments[0] == "std" || name.starts_with("make_");
                for out in &outs {
                    self.written_by_library(out);
                    if keeps {
                        self.keep(&out.val);
                    }
                }
                self.forget_references(&outs, args);
                Some(Out::unknown())
            }
            _ => None,
        }
    }

    /// What a call is given by its name may be taken by reference, and written.
    fn forget_references(&mut self, outs: &[Out], args: &'p [ExprId]) {
        for (out, expr) in outs.iter().zip(args) {
            if self.is_lvalue(*expr)
                && let Some(place) = &out.place
                && !matches!(out.val.kind, Kind::Ptr(_))
            {
                let place = place.clone();
                self.forget_place(&place);
            }
        }
    }

    /// `cuda::ceil_div(number, by)` of `<cuda/cmath>`: a quotient, rounded up.
    fn rounded_up(&mut self, number: ExprId, by: ExprId) -> Out {
        let (number, by) = (self.eval(number), self.eval(by));
        let one = Out::new(Val::int(1), Ty::INT);
        let rest = self.operate(BinaryOp::Sub, &by, &one);
        let sum = self.operate(BinaryOp::Add, &number, &rest);
        self.operate(BinaryOp::Div, &sum, &by)
    }

    /// Memory of the host: allocated, freed, copied, set; `None` where the call lacks arguments for it.
    fn host_memory(&mut self, id: ExprId, api: ApiId, name: &str, args: &'p [ExprId]) -> Option<Out> {
        // Memory that grows is given back first.
        if let Some(Effect::Allocates { out, size, holds, .. }) = api.effects.first() {
            for old in api.effects.iter().filter_map(freed) {
                let old = self.eval(old.of(args)?);
                self.hand_out(&old);
            }
            let zeroed = *holds == Holds::Zeros;
            let (count, of) = match *size {
                Size::Bytes(count) => (count.of(args)?, None),
                Size::Product(count, of) => (count.of(args)?, Some(of.of(args)?)),
                _ => return None,
            };
            if *out == Arg::RETURNED {
                return Some(self.host_allocation(id, Origin::Call(api, Name::from(name)), count, of, zeroed));
            }
            let target = self.eval(out.of(args)?);
            let block = self.host_allocation(id, Origin::Call(api, Name::from(name)), count, of, zeroed);
            self.write_through(&target, block.val);
            return Some(Out::new(Val::from(Kind::Status), Ty::INT));
        }
        match *api.effects.first()? {
            Effect::Frees(pointer) => {
                let pointer = pointer.of(args)?;
                let out = self.eval(pointer);
                self.free_value(id, name, pointer, &out);
                Some(Out::new(Val::unknown(), Ty::Void))
            }
            Effect::Copies { to, from, size: Size::Bytes(n), .. } => {
                let (dst, src, n) = (to.of(args)?, from.of(args)?, n.of(args)?);
                let (to, from) = (self.eval(dst), self.eval(src));
                self.eval(n);
                self.host_access(id, dst, &to, true);
                self.host_access(id, src, &from, false);
                let mut pointers = Vec::new();
                if let Kind::Ptr(source) = &from.val.kind {
                    self.memory.get(source.obj).pointers(&[], &mut pointers);
                }
                self.memory.escaped.extend(pointers);
                self.contents_change(&to);
                Some(to)
            }
            Effect::Sets { pointer, .. } => {
                let dst = pointer.of(args)?;
                let outs = self.arguments(args);
                self.host_access(id, dst, &outs[0], true);
                self.contents_change(&outs[0]);
                Some(outs[0].clone())
            }
            _ => None,
        }
    }

    fn host_allocation(&mut self, id: ExprId, origin: Origin, n: ExprId, size: Option<ExprId>, zeroed: bool) -> Out {
        let count = self.eval(n);
        let mut bytes = arith::convert(&mut self.atoms, &count.val, &Ty::SIZE);
        if let Some(size) = size {
            let one = self.eval(size);
            let one = arith::convert(&mut self.atoms, &one.val, &Ty::SIZE);
            bytes = arith::binary(&mut self.atoms, BinaryOp::Mul, &bytes, &one);
        }
        let info = ObjectInfo {
            name: Name::from(""),
            site: self.expr_site(id),
            ty: Ty::Void,
            space: MemorySpace::Host,
            origin,
            array: true,
            element: None,
        };
        let first = if zeroed { Val::zeroed() } else { Val::unknown() };
        let object = self.create_object(info, bytes, first);
        let pointer = Kind::Ptr(Ptr { obj: object, path: root(), offset: Quantity::Known(0), array: true });
        Out::new(Val::from(pointer), Ty::pointer_to(Ty::Void))
    }

    fn make_smart(&mut self, id: ExprId, name: &str, targs: &'p [TemplateArg], args: &'p [ExprId]) -> Out {
        let ty = match targs.first() {
            Some(TemplateArg::Type(ty) | TemplateArg::Ambiguous(ty, _)) => self.resolve(*ty),
            _ => Ty::Unknown,
        };
        let outs = self.arguments_of(None, args);
        let (inner, count) = match &ty {
            Ty::Array(inner, _) => ((**inner).clone(), outs.first().map(|out| out.val.clone())),
            other => (other.clone(), None),
        };
        if count.is_none() {
            self.kept_by_object(&inner, args, &outs);
        }
        // The object and its count lie together in memory of an allocator; all others do what `new` does.
        let by_allocator = name == "make_shared" && !self.replaces_new();
        if !by_allocator && !self.comes_from_host_heap(&inner, 0) {
            return Out::new(Val::unknown(), Ty::library_of("unique_ptr", inner));
        }
        let size = self.size_of(&inner);
        let (bytes, why) = match &count {
            Some(count) => (size.times(&count.quantity()), count.why.clone()),
            None => (size.clone(), None),
        };
        let info = ObjectInfo {
            name: Name::from(""),
            site: self.expr_site(id),
            ty: inner.clone(),
            space: MemorySpace::Host,
            origin: Origin::New,
            array: count.is_some(),
            element: size.known(),
        };
        let first = if inner.is_scalar() { Val::zeroed() } else { Val::unknown() };
        let object = self.create_object(info, Val::size(bytes).because(&why), first);
        let pointer = Kind::Ptr(Ptr { obj: object, path: root(), offset: Quantity::Known(0), array: count.is_some() });
        let smart = Ty::library_of("unique_ptr", inner);
        let holder =
            self.create_variable(&Name::from(""), cudalint_syntax::Span::default(), smart.clone(), Val::unknown());
        let place = Place::Cell(holder, root());
        let source = Out::new(Val::from(pointer), smart.pointee().cloned().map_or(Ty::Unknown, Ty::pointer_to));
        self.assign_container(&place, &smart, &source);
        Out { val: self.memory.load(&place), ty: smart, place: Some(place) }
    }

    fn extremum(&mut self, least: bool, x: &Out, y: &Out) -> Out {
        let why = union(&x.val.why, &y.val.why);
        let kind = match (&x.val.kind, &y.val.kind) {
            (Kind::Int(a), Kind::Int(b)) => {
                let op = if least { ClosedOp::Min } else { ClosedOp::Max };
                let (bytes, signed) = (a.bytes.max(b.bytes), a.signed && b.signed);
                Kind::Int(Int { q: self.atoms.closed(op, &a.q, &b.q), bytes, signed })
            }
            (Kind::Float(a), Kind::Float(b)) => Kind::Float(if least { a.min(*b) } else { a.max(*b) }),
            _ => Kind::Unknown,
        };
        Out::new(Val { kind, why }, x.ty.value().clone())
    }

    fn float_function(&mut self, name: &str, out: &Out) -> Out {
        // In C++ there is one for each type.
        let is_single = matches!(out.ty.value(), Ty::Float { bytes: 4 });
        let bytes = if name.ends_with('f') && name != "f" || is_single { 4 } else { 8 };
        let base = name.trim_end_matches('f');
        let apply = |value: f64| match base {
            "ceil" => value.ceil(),
            "loor" | "floor" => value.floor(),
            "trunc" => value.trunc(),
            "round" => value.round(),
            "sqrt" => value.sqrt(),
            "log2" => value.log2(),
            _ => value.abs(),
        };
        let kind = match &out.val.kind {
            Kind::Float(value) => Kind::Float(apply(*value)),
            Kind::Int(Int { q: Quantity::Known(value), .. }) if base == "abs" => {
                return Out::new(Val { kind: Val::int(value.abs()).kind, why: out.val.why.clone() }, out.ty.clone());
            }
            Kind::Int(Int { q: Quantity::Known(value), .. }) => Kind::Float(apply(*value as f64)),
            // An integer is its own ceiling.
            Kind::Int(Int { q, .. }) if matches!(base, "ceil" | "floor" | "trunc" | "round") => {
                Kind::Ratio(q.clone(), 1)
            }
            Kind::Ratio(q, by) if base == "ceil" => {
                let up = q.plus(&Quantity::Known(by - 1));
                Kind::Ratio(self.atoms.closed(ClosedOp::Div, &up, &Quantity::Known(*by)), 1)
            }
            Kind::Ratio(q, by) if matches!(base, "floor" | "trunc") => {
                Kind::Ratio(self.atoms.closed(ClosedOp::Div, q, &Quantity::Known(*by)), 1)
            }
            _ => Kind::Unknown,
        };
        let kind = if let Kind::Ratio(Quantity::Unknown, _) = kind { Kind::Unknown } else { kind };
        let (val, ty) = (Val { kind, why: out.val.why.clone() }, Ty::Float { bytes });
        Out::new(if let Kind::Float(_) = val.kind { arith::convert(&mut self.atoms, &val, &ty) } else { val }, ty)
    }
}

/// What an effect gives back.
fn freed(effect: &Effect) -> Option<Arg> {
    match effect {
        Effect::Frees(pointer) => Some(*pointer),
        _ => None,
    }
}
