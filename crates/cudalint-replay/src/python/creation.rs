//! Arrays that functions of `NumPy` and `CuPy` make.

use super::Walker;
use super::apis::{ApiCall, Done};
use super::builtins::Rounding;
use super::calls::Args;
use super::dtype::{FLOAT, INT};
use super::exprs::range_length;
use super::heap::Obj;
use super::ops::numpy_number;
use super::value::{Array, Dim, Dtype, Kind, Layout, Lib, Val, is_array};
use crate::given::{Held, HeldContents};
use crate::quantity::{Assumptions, Quantity};
use cudalint_program::api::effects::{Arg, Library};
use cudalint_program::api::packages::{Making, MathOp, PythonOp};
use std::rc::Rc;
use std::sync::Arc;

/// Most integers of an array that are kept.
pub(super) const MAX_INTEGERS: i64 = 4096;

impl Walker<'_> {
    /// A function of `NumPy` or `CuPy`, or of numbers.
    pub(super) fn array_op(&mut self, call: &ApiCall<'_>, op: PythonOp) -> Done {
        let (id, args, lib) = (call.id, call.args, Lib::of(call.api.library));
        let first = || args.positional.first().cloned();
        let array = |value: Option<&Val>| match value.map(|value| &value.kind) {
            Some(Kind::Array(array)) => Some(Rc::clone(array)),
            _ => None,
        };
        Done::With(match op {
            PythonOp::ArrayOf(how) => {
                let made = self.array_of(call, lib, how);
                if lib == Lib::Numpy && matches!(how, Making::Copy | Making::Same) {
                    self.note_pack(&made, args);
                }
                Some(made)
            }
            PythonOp::Range => Some(self.arange(call, lib)),
            PythonOp::Spaced(count) => {
                let count = call.get(count).cloned().unwrap_or_else(|| Val::int(50));
                let dtype = self.dtype_argument(args.named("dtype"), FLOAT);
                let shape = self.shape(&count);
                Some(self.made(call, lib, dtype, shape, None, &None))
            }
            PythonOp::Diagonal => {
                let Some(n) = call.parameter("N").cloned() else { return Done::With(None) };
                let m = call.parameter("M").filter(|m| !matches!(m.kind, Kind::None)).cloned();
                let dtype = self.dtype_argument(args.named("dtype"), FLOAT);
                let shape = self.shape(&Val::tuple(vec![n.clone(), m.unwrap_or(n)]));
                Some(self.made(call, lib, dtype, shape, None, &None))
            }
            PythonOp::Draws { size, whole } => Some(self.drawn(call, lib, size, if whole { INT } else { FLOAT })),
            PythonOp::Generator => {
                let package = call.name.split('.').next().unwrap_or_default();
                Some(Val::package(&format!("{package}.random.Generator")))
            }
            PythonOp::Elementwise { float } => {
                args.positional.iter().for_each(|value| self.looked_at(value, id));
                let operands: Vec<Val> = args.positional.iter().take(2).cloned().collect();
                if args.named("out").is_some() || !operands.iter().any(is_array) {
                    return if float { Done::Next } else { Done::With(None) };
                }
                let result = self.elementwise(&operands, None);
                Some(match result.kind {
                    Kind::Array(array) if float => {
                        Val::array(Array { dtype: array.dtype.divided(), ..(*array).clone() })
                    }
                    _ => result,
                })
            }
            PythonOp::Math(op) => self.mathematics(call, op),
            PythonOp::Joins => {
                self.read_by(call);
                args.named("out").is_none().then(|| self.result_of(id))
            }
            PythonOp::Product => {
                self.read_by(call);
                if args.named("out").is_some() { None } else { self.product(call, lib) }
            }
            PythonOp::ProductOfAll => match first().and_then(|value| self.items(&value)) {
                Some(items) => {
                    let mul = cudalint_program::ir::BinaryOp::Mul;
                    Some(items.iter().fold(Val::int(1), |all, item| self.binary(mul, &all, item, id)))
                }
                None => None,
            },
            PythonOp::Transposes => array(args.positional.first().filter(|_| args.positional.len() == 1))
                .map(|array| self.transposed(&array, None, id)),
            PythonOp::Reshapes => array(args.positional.first()).map(|array| {
                let shape = call.parameter("shape").cloned().and_then(|shape| self.shape(&shape));
                self.reshaped(&array, shape, id)
            }),
            PythonOp::Ravels => array(args.positional.first()).map(|array| {
                let size = array.size();
                self.reshaped(&array, Some(Rc::from(vec![size])), id)
            }),
            PythonOp::Dtype => {
                let dtype = call.parameter("dtype").cloned().and_then(|value| self.dtype_with(&value, args));
                Some(dtype.map_or_else(Val::unknown, |dtype| Val::from(Kind::Dtype(dtype))))
            }
            PythonOp::View => match call.parameter("buffer").map(|buffer| buffer.kind.clone()) {
                Some(Kind::Memory(buffer, offset)) => {
                    let dtype = self.dtype_argument(call.parameter("dtype"), FLOAT);
                    let shape = call.parameter("count").cloned().and_then(|count| self.shape(&count));
                    let shape = shape.filter(|shape| shape.iter().all(|dim| dim.q.known() != Some(-1)));
                    Some(Val::array(Array { buffer, lib, dtype, shape, layout: Layout::C, offset, view: None }))
                }
                _ => None,
            },
            PythonOp::Fetches => first().and_then(|value| self.fetched_to_host(&value, id)),
            _ => None,
        })
    }

    /// A function of numbers, called by the host.
    fn mathematics(&mut self, call: &ApiCall<'_>, op: MathOp) -> Option<Val> {
        let value = call.args.positional.first()?.clone();
        let integral = call.api.library == Library::Python;
        match op {
            MathOp::Ceil | MathOp::Floor if !integral && is_array(&value) => Some(self.elementwise(&[value], None)),
            // A float of NumPy: `int(np.ceil(n / 256))` makes it an integer.
            MathOp::Ceil | MathOp::Floor if !integral => Some(match self.rounded(&value, Rounding::of(op)) {
                Some(q) => Val { kind: Kind::Ratio(q, 1), why: value.why },
                None => Val::from(Kind::Float(None)),
            }),
            MathOp::Ceil | MathOp::Floor | MathOp::Trunc if integral => {
                let q = self.rounded(&value, Rounding::of(op)).unwrap_or(Quantity::Unknown);
                Some(Val { kind: Kind::Int(q), why: value.why })
            }
            MathOp::Whole => Some(Val::from(Kind::Int(Quantity::Unknown))),
            _ => {
                let of_floats = |op| matches!(op, PythonOp::Elementwise { float: true });
                (integral || call.api.python_ops().any(of_floats)).then(|| self.float_function(op, call.args)).flatten()
            }
        }
    }

    /// An array with memory of its own where those of its package live.
    pub(super) fn made(
        &mut self,
        call: &ApiCall<'_>,
        lib: Lib,
        dtype: Dtype,
        shape: Option<Rc<[Dim]>>,
        held: Option<Arc<Held>>,
        why: &Assumptions,
    ) -> Val {
        self.fresh_array(call, lib, lib.space(), dtype, shape, Layout::C, held).because(why)
    }

    pub(super) fn ordered(&mut self, value: Val, order: Option<&Val>) -> Val {
        match (order.map(|order| order.str().map(ToOwned::to_owned)), value.kind) {
            (None, kind) => Val { kind, why: value.why },
            (Some(order), Kind::Array(array)) => {
                let layout = match order.as_deref() {
                    Some("C") => Layout::C,
                    Some("F") if array.rank() == Some(1) => Layout::C,
                    Some("F") => Layout::Fortran,
                    _ => Layout::Unknown,
                };
                Val { kind: Kind::Array(Rc::new(Array { layout, ..(*array).clone() })), why: value.why }
            }
            (_, kind) => Val { kind, why: value.why },
        }
    }

    /// Random numbers: their shape is an argument, or each argument is one of its extents.
    fn drawn(&mut self, call: &ApiCall<'_>, lib: Lib, size: Option<Arg>, natural: Dtype) -> Val {
        let size = match size {
            Some(size) => call.get(size).filter(|size| !matches!(size.kind, Kind::None)).cloned(),
            None => (!call.args.positional.is_empty()).then(|| Val::tuple(call.args.positional.clone())),
        };
        let Some(size) = size else {
            return Val::from(if natural == INT { Kind::Int(Quantity::Unknown) } else { Kind::Float(None) });
        };
        let dtype = call.parameter("dtype").or_else(|| call.args.named("dtype"));
        let dtype = self.dtype_argument(dtype, natural);
        let shape = self.shape(&size);
        self.made(call, lib, dtype, shape, None, &None)
    }

    fn arange(&mut self, call: &ApiCall<'_>, lib: Lib) -> Val {
        let args = call.args;
        let (start, stop, step) = match args.positional.as_slice() {
            [stop] => (Val::int(0), stop.clone(), args.named("step").cloned().unwrap_or_else(|| Val::int(1))),
            [start, stop] => (start.clone(), stop.clone(), args.named("step").cloned().unwrap_or_else(|| Val::int(1))),
            [start, stop, step, ..] => (start.clone(), stop.clone(), step.clone()),
            [] => return Val::unknown(),
        };
        let float = [&start, &stop, &step].into_iter().any(super::ops::is_float);
        let open = [&start, &stop, &step].into_iter().any(|value| matches!(value.kind, Kind::Open(_)));
        let natural = match (float, open) {
            // PyCUDA has a default of its own.
            _ if lib == Lib::PyCuda => Dtype::Unknown,
            (true, _) => FLOAT,
            (false, false) => INT,
            (false, true) => Dtype::Unknown,
        };
        let dtype = self.dtype_argument(call.parameter("dtype"), natural);
        let why = [&start, &stop, &step].into_iter().fold(None, |why, value| crate::quantity::union(&why, &value.why));
        let length = match (self.as_int(&start), self.as_int(&stop), step.known()) {
            (Some(from), Some(to), Some(by)) if !float => match (from.known(), to.known()) {
                (Some(from), Some(to)) => range_length(from, to, by).map_or(Quantity::Unknown, Quantity::Known),
                _ if by == 1 => to.minus(&from),
                _ if by > 1 => {
                    let span = to.minus(&from);
                    self.ceil_div(&span, by)
                }
                _ => Quantity::Unknown,
            },
            _ => match (start.number(), stop.number(), step.number()) {
                (Some(from), Some(to), Some(by)) if by > 0.0 => {
                    let count = ((to - from) / by).ceil();
                    // Rounding decides whether the last one is there.
                    let exact = ((to - from) / by - count).abs() < 1e-12 && by.fract() == 0.0;
                    if exact && count < 1e12 { Quantity::Known(count as i64) } else { Quantity::Unknown }
                }
                _ => Quantity::Unknown,
            },
        };
        let held = match (length.known(), start.known(), step.known(), dtype) {
            (Some(count), Some(from), Some(by), Dtype::Int { bytes, .. }) if count <= MAX_INTEGERS => {
                let values = (0..count).map(|i| Quantity::Known(from + i * by)).collect();
                Some(Arc::new(Held { contents: HeldContents::Integers { bytes, values }, assumptions: why.clone() }))
            }
            _ => None,
        };
        let shape: Rc<[Dim]> = Rc::from(vec![Dim { q: length, why: why.clone() }]);
        self.made(call, lib, dtype, Some(shape), held, &None)
    }

    fn product(&mut self, call: &ApiCall<'_>, lib: Lib) -> Option<Val> {
        let [a, b, ..] = call.args.positional.as_slice() else { return None };
        let (Kind::Array(a), Kind::Array(b)) = (&a.kind, &b.kind) else { return Some(self.result_of(call.id)) };
        let dtype = a.dtype.promote(b.dtype);
        let shape = match (a.shape.as_deref(), b.shape.as_deref()) {
            (Some([m, _]), Some([_, n])) => Some(Rc::from(vec![m.clone(), n.clone()])),
            (Some([m, _]), Some([_])) => Some(Rc::from(vec![m.clone()])),
            _ => return Some(self.result_of(call.id)),
        };
        Some(self.made(call, lib, dtype, shape, None, &None))
    }

    /// A shape: a number or a tuple or list of them.
    pub(super) fn shape(&mut self, value: &Val) -> Option<Rc<[Dim]>> {
        if let Kind::Attribute(_) = &value.kind {
            return None;
        }
        if let Some(q) = self.as_int(value).filter(|_| !matches!(value.kind, Kind::Open(_))) {
            return Some(Rc::from(vec![Dim { q, why: value.why.clone() }]));
        }
        if let Kind::Open(open) = &value.kind {
            // It may be a tuple, unless it has been used as a number before.
            if !self.integers.contains(&open.id) {
                return None;
            }
            let q = self.as_int(value)?;
            return Some(Rc::from(vec![Dim { q, why: value.why.clone() }]));
        }
        let items = self.items(value)?;
        let dims: Option<Vec<Dim>> = items
            .iter()
            .map(|item| Some(Dim { q: self.as_int(item)?, why: crate::quantity::union(&item.why, &value.why) }))
            .collect();
        dims.map(Rc::from)
    }

    /// `np.float32(x)`.
    pub(super) fn scalar(&mut self, dtype: Dtype, args: &Args) -> Val {
        let Some(value) = args.positional.first() else {
            return Val::from(Kind::Number(dtype, Rc::new(Val::int(0))));
        };
        if is_array(value) {
            return self.elementwise(std::slice::from_ref(value), Some(dtype));
        }
        // `np.uintp(p)`.
        if matches!((&value.kind, dtype), (Kind::Memory(..), Dtype::Int { bytes: 8, .. })) {
            return value.clone();
        }
        let why = value.why.clone();
        let inner = match dtype {
            Dtype::Float { .. } => {
                let number = value.number();
                return numpy_number(dtype, Kind::Float(number)).because(&why);
            }
            Dtype::Int { .. } | Dtype::Bool => match &value.kind {
                Kind::Ratio(..) | Kind::Float(_) => match self.rounded(value, Rounding::ToZero) {
                    Some(q) => Val::from(Kind::Int(q)),
                    None => Val::unknown(),
                },
                _ => self.as_int(value).map_or_else(Val::unknown, |q| Val::from(Kind::Int(q))),
            },
            _ => Val::unknown(),
        };
        Val { kind: Kind::Number(dtype, Rc::new(inner)), why }
    }
}

/// The elements of a list object, for those who change it.
pub(super) fn list_of(obj: &mut Obj) -> Option<&mut Vec<Val>> {
    match obj {
        Obj::List(items) => items.as_mut(),
        _ => None,
    }
}
