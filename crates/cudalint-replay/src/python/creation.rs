//! Arrays that functions of `NumPy` and `CuPy` make.

use super::Walker;
use super::arrays::Made;
use super::calls::Args;
use super::dtype::{FLOAT, INT};
use super::exprs::range_length;
use super::heap::Obj;
use super::value::{Array, Dim, Dtype, Kind, Layout, Lib, Val};
use crate::facts::MemorySpace;
use crate::given::{Held, HeldContents};
use crate::quantity::{Assumptions, Quantity};
use cudalint_program::ir::ExprId;
use std::rc::Rc;
use std::sync::Arc;

/// Most integers of an array that are kept.
pub(super) const MAX_INTEGERS: i64 = 4096;

impl Walker<'_> {
    /// A function of `numpy` or `cupy` by its name behind the package; `None` for one that is not known.
    pub(super) fn array_function(&mut self, id: ExprId, lib: Lib, name: &str, args: &Args) -> Option<Val> {
        let package = if lib == Lib::Cupy { "cupy" } else { "numpy" };
        let api = format!("{package}.{name}");
        let plain = |w: &mut Self, dtype, shape, held| {
            let why = None;
            w.made(id, lib, &api, dtype, shape, held, &why)
        };
        let fresh = || Some(Held::fresh());
        let zero = || Some(Arc::new(Held { contents: HeldContents::Filled(0), assumptions: None }));
        Some(match name {
            // Its elements are records, which are nothing but their bytes.
            "recarray" | "rec.recarray" | "records.recarray" if args.named("buf").is_none() => {
                let dtype = self.dtype_argument(args.get(1, "dtype"), Dtype::Unknown);
                let shape = args.get(0, "shape").cloned().and_then(|shape| self.shape(&shape));
                plain(self, dtype, shape, fresh())
            }
            "zeros" | "empty" | "ones" => {
                let dtype = self.dtype_argument(args.get(1, "dtype"), FLOAT);
                let shape = args.get(0, "shape").cloned().and_then(|shape| self.shape(&shape));
                let held = match name {
                    "zeros" => zero(),
                    "empty" => fresh(),
                    _ => None,
                };
                let value = plain(self, dtype, shape, held);
                self.ordered(value, args.get(2, "order"))
            }
            "full" => {
                let shape = args.get(0, "shape").cloned().and_then(|shape| self.shape(&shape));
                let fill = args.get(1, "fill_value").cloned();
                let of_fill = fill.as_ref().map_or(Dtype::Unknown, natural);
                let dtype = self.dtype_argument(args.get(2, "dtype"), of_fill);
                let held = if fill.and_then(|fill| fill.number()) == Some(0.0) { zero() } else { None };
                plain(self, dtype, shape, held)
            }
            "zeros_like" | "empty_like" | "ones_like" | "full_like" => {
                let position = if name == "full_like" { 2 } else { 1 };
                let like = args.get(0, "a").cloned().or_else(|| args.named("prototype").cloned())?;
                let Kind::Array(like) = &like.kind else { return self.like_open(id, lib, &api, &like, args, position) };
                let dtype = self.dtype_argument(args.get(position, "dtype"), like.dtype);
                let held = match name {
                    "zeros_like" => zero(),
                    "empty_like" => fresh(),
                    _ => None,
                };
                let like = Rc::clone(like);
                let value = plain(self, dtype, like.shape.clone(), held);
                match (like.layout.clone(), value.kind) {
                    (Layout::C, kind) => Val::from(kind),
                    (Layout::Fortran, Kind::Array(array)) => {
                        Val::array(Array { layout: Layout::Fortran, ..(*array).clone() })
                    }
                    (_, Kind::Array(array)) => Val::array(Array { layout: Layout::Unknown, ..(*array).clone() }),
                    (_, kind) => Val::from(kind),
                }
            }
            "arange" => self.arange(id, lib, &api, args),
            "linspace" | "logspace" | "geomspace" => {
                let count = args.get(2, "num").cloned().unwrap_or_else(|| Val::int(50));
                let dtype = self.dtype_argument(args.named("dtype"), FLOAT);
                let shape = self.shape(&count);
                plain(self, dtype, shape, None)
            }
            "eye" | "identity" => {
                let n = args.get(0, "N").or_else(|| args.named("n")).cloned()?;
                let m = if name == "eye" { args.get(1, "M").cloned() } else { None };
                let m = m.filter(|m| !matches!(m.kind, Kind::None)).unwrap_or_else(|| n.clone());
                let dtype = self.dtype_argument(args.named("dtype"), FLOAT);
                let shape = self.shape(&Val::tuple(vec![n, m]));
                plain(self, dtype, shape, None)
            }
            "array" | "asarray" | "asanyarray" | "ascontiguousarray" | "asfortranarray" | "require" | "copy" => {
                self.array_of(id, lib, &api, name, args)
            }
            "random.rand" | "random.randn" => {
                let shape = self.shape(&Val::tuple(args.positional.clone()));
                if args.positional.is_empty() {
                    return Some(Val::from(Kind::Float(None)));
                }
                let dtype = self.dtype_argument(args.named("dtype"), FLOAT);
                plain(self, dtype, shape, None)
            }
            "random.random" | "random.random_sample" | "random.ranf" | "random.sample" | "random.standard_normal" => {
                self.drawn(id, lib, &api, args, 0, FLOAT)
            }
            "random.uniform" | "random.normal" | "random.lognormal" | "random.beta" | "random.gamma" => {
                self.drawn(id, lib, &api, args, 2, FLOAT)
            }
            "random.exponential" | "random.poisson" => {
                let dtype = if name.ends_with("poisson") { INT } else { FLOAT };
                self.drawn(id, lib, &api, args, 1, dtype)
            }
            "random.randint" | "random.random_integers" => self.drawn(id, lib, &api, args, 2, INT),
            "random.default_rng" | "random.RandomState" => Val::package(&format!("{package}.random.Generator")),
            "random.Generator.random" | "random.Generator.standard_normal" => self.drawn(id, lib, &api, args, 0, FLOAT),
            "random.Generator.uniform" | "random.Generator.normal" => self.drawn(id, lib, &api, args, 2, FLOAT),
            "random.Generator.integers" | "random.Generator.randint" => self.drawn(id, lib, &api, args, 2, INT),
            "random.Generator.rand" | "random.Generator.randn" => {
                let shape = self.shape(&Val::tuple(args.positional.clone()));
                plain(self, FLOAT, shape, None)
            }
            "random.seed" => Val::none(),
            "add" | "subtract" | "multiply" | "maximum" | "minimum" | "power" | "fmax" | "fmin" | "mod" | "abs"
            | "absolute" | "negative" | "square" | "where" | "clip" => {
                args.positional.iter().for_each(|value| self.looked_at(value, id));
                let operands: Vec<Val> = args.positional.iter().take(2).cloned().collect();
                if args.named("out").is_some() || name == "where" || !operands.iter().any(is_array) {
                    return None;
                }
                self.elementwise(&operands, None)
            }
            "sqrt" | "sin" | "cos" | "tan" | "exp" | "log" | "tanh" | "divide" | "true_divide" | "log2" | "log10" => {
                args.positional.iter().for_each(|value| self.looked_at(value, id));
                let operands: Vec<Val> = args.positional.iter().take(2).cloned().collect();
                if args.named("out").is_some() || !operands.iter().any(is_array) {
                    return self.float_function(name, args);
                }
                let result = self.elementwise(&operands, None);
                match result.kind {
                    Kind::Array(array) => Val::array(Array { dtype: array.dtype.divided(), ..(*array).clone() }),
                    kind => Val::from(kind),
                }
            }
            "ceil" | "floor" => {
                let value = args.positional.first()?.clone();
                if is_array(&value) {
                    return Some(self.elementwise(&[value], None));
                }
                // A float: `int(np.ceil(n / 256))` makes it an integer.
                match self.rounded(&value, name == "ceil") {
                    Some(q) => Val { kind: Kind::Ratio(q, 1), why: value.why },
                    None => Val::from(Kind::Float(None)),
                }
            }
            "transpose" => match args.positional.first().map(|value| value.kind.clone()) {
                Some(Kind::Array(array)) if args.positional.len() == 1 => self.transposed(&array, None, id),
                _ => return None,
            },
            "reshape" => match args.positional.first().map(|value| value.kind.clone()) {
                Some(Kind::Array(array)) => {
                    let shape = args.get(1, "shape").cloned().and_then(|shape| self.shape(&shape));
                    self.reshaped(&array, shape, id)
                }
                _ => return None,
            },
            "ravel" => match args.positional.first().map(|value| value.kind.clone()) {
                Some(Kind::Array(array)) => {
                    let size = array.size();
                    self.reshaped(&array, Some(Rc::from(vec![size])), id)
                }
                _ => return None,
            },
            "prod" => {
                let items = args.positional.first().cloned().and_then(|value| self.items(&value))?;
                let mut all = Val::int(1);
                for item in items {
                    all = self.binary(cudalint_program::ir::BinaryOp::Mul, &all, &item, id);
                }
                all
            }
            "dtype" => match args.get(0, "dtype").cloned().and_then(|value| self.dtype_with(&value, args)) {
                Some(dtype) => Val::from(Kind::Dtype(dtype)),
                None => Val::unknown(),
            },
            "frombuffer" => {
                let Kind::Memory(buffer, offset) = args.get(0, "buffer")?.kind.clone() else { return None };
                let dtype = self.dtype_argument(args.get(1, "dtype"), FLOAT);
                let shape = args.get(2, "count").cloned().and_then(|count| self.shape(&count));
                let shape = shape.filter(|shape| shape.iter().all(|dim| dim.q.known() != Some(-1)));
                Val::array(Array { buffer, lib, dtype, shape, layout: Layout::C, offset, view: None })
            }
            "asnumpy" => {
                let value = args.positional.first()?.clone();
                return self.fetched_to_host(&value, id);
            }
            "matmul"
            | "dot"
            | "sum"
            | "mean"
            | "max"
            | "min"
            | "allclose"
            | "array_equal"
            | "all"
            | "any"
            | "std"
            | "testing.assert_allclose"
            | "testing.assert_array_equal"
            | "testing.assert_equal"
            | "argmax"
            | "argmin"
            | "testing.assert_array_almost_equal"
            | "isclose"
            | "cumsum"
            | "sort"
            | "linalg.norm"
            | "median"
            | "count_nonzero"
            | "isnan"
            | "round"
            | "argsort"
            | "unique"
            | "histogram"
            | "bincount"
            | "var"
            | "savetxt"
            | "save"
            | "array2string"
            | "diff"
            | "concatenate"
            | "stack"
            | "vstack"
            | "hstack"
            | "pad"
            | "roll"
            | "outer"
            | "einsum"
            | "tile"
            | "repeat"
            | "cumprod" => {
                // They only read.
                for value in &args.positional {
                    self.looked_at(value, id);
                    if let Some(items) = self.items(value) {
                        for item in &items {
                            self.looked_at(item, id);
                        }
                    }
                }
                if args.named("out").is_some() {
                    return None;
                }
                match name {
                    "matmul" | "dot" => return self.product(id, lib, &api, args),
                    _ if name.starts_with("testing.") => Val::none(),
                    "allclose" | "array_equal" | "all" | "any" => Val::from(Kind::Bool(Quantity::Unknown)),
                    _ => self.result_of(id),
                }
            }
            _ => return None,
        })
    }

    #[allow(clippy::too_many_arguments)] // What an array is made with.
    pub(super) fn made(
        &mut self,
        id: ExprId,
        lib: Lib,
        api: &str,
        dtype: Dtype,
        shape: Option<Rc<[Dim]>>,
        held: Option<Arc<Held>>,
        why: &Assumptions,
    ) -> Val {
        let space = if lib == Lib::Cupy { MemorySpace::Device } else { MemorySpace::Host };
        let site = self.site(id);
        let made = Made { lib, space, api, dtype, shape, layout: Layout::C, held };
        Val::array(self.new_array(made, site)).because(why)
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

    /// `zeros_like(x)` of something that is not known: an array of its size.
    fn like_open(&mut self, id: ExprId, lib: Lib, api: &str, like: &Val, args: &Args, position: usize) -> Option<Val> {
        let Kind::Open(open) = &like.kind else { return None };
        if args.get(position, "dtype").is_none() {
            return Some(self.open_like(&Rc::clone(open)));
        }
        let dtype = self.dtype_argument(args.get(position, "dtype"), Dtype::Unknown);
        Some(self.made(id, lib, api, dtype, None, None, &None))
    }

    /// Random numbers, their shape by position or as `size=`.
    fn drawn(&mut self, id: ExprId, lib: Lib, api: &str, args: &Args, position: usize, dtype: Dtype) -> Val {
        let size = args.get(position, "size").cloned();
        let Some(size) = size.filter(|size| !matches!(size.kind, Kind::None)) else {
            return Val::from(if matches!(dtype, Dtype::Float { .. }) {
                Kind::Float(None)
            } else {
                Kind::Int(Quantity::Unknown)
            });
        };
        let after = args.get(position + 1, "dtype").cloned();
        let dtype = self.dtype_argument(after.as_ref(), dtype);
        let shape = self.shape(&size);
        self.made(id, lib, api, dtype, shape, None, &None)
    }

    fn arange(&mut self, id: ExprId, lib: Lib, api: &str, args: &Args) -> Val {
        let (start, stop, step) = match args.positional.as_slice() {
            [stop] => (Val::int(0), stop.clone(), args.named("step").cloned().unwrap_or_else(|| Val::int(1))),
            [start, stop] => (start.clone(), stop.clone(), args.named("step").cloned().unwrap_or_else(|| Val::int(1))),
            [start, stop, step, ..] => (start.clone(), stop.clone(), step.clone()),
            [] => return Val::unknown(),
        };
        let float = [&start, &stop, &step].into_iter().any(super::ops::is_float);
        let open = [&start, &stop, &step].into_iter().any(|value| matches!(value.kind, Kind::Open(_)));
        let natural = match (float, open) {
            (true, _) => FLOAT,
            (false, false) => INT,
            (false, true) => Dtype::Unknown,
        };
        let dtype = self.dtype_argument(args.get(3, "dtype"), natural);
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
        self.made(id, lib, api, dtype, Some(shape), held, &None)
    }

    fn product(&mut self, id: ExprId, lib: Lib, api: &str, args: &Args) -> Option<Val> {
        let [a, b, ..] = args.positional.as_slice() else { return None };
        let (Kind::Array(a), Kind::Array(b)) = (&a.kind, &b.kind) else { return Some(self.result_of(id)) };
        let dtype = a.dtype.promote(b.dtype);
        let shape = match (a.shape.as_deref(), b.shape.as_deref()) {
            (Some([m, _]), Some([_, n])) => Some(Rc::from(vec![m.clone(), n.clone()])),
            (Some([m, _]), Some([_])) => Some(Rc::from(vec![m.clone()])),
            _ => return Some(self.result_of(id)),
        };
        Some(self.made(id, lib, api, dtype, shape, None, &None))
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
            Dtype::Float { .. } => match value.number() {
                Some(number) => Val::from(Kind::Float(Some(number))),
                None => Val::from(Kind::Float(None)),
            },
            Dtype::Int { .. } | Dtype::Bool => match &value.kind {
                Kind::Ratio(..) | Kind::Float(_) => match self.rounded(value, false) {
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

pub(super) fn is_array(value: &Val) -> bool {
    matches!(value.kind, Kind::Array(_))
}

/// The type that `NumPy` gives a number.
pub(super) fn natural(value: &Val) -> Dtype {
    match &value.kind {
        Kind::Int(_) => INT,
        Kind::Bool(_) => Dtype::Bool,
        Kind::Float(_) | Kind::Ratio(..) => FLOAT,
        Kind::Number(dtype, _) => *dtype,
        _ => Dtype::Unknown,
    }
}

/// The elements of a list object, for those who change it.
pub(super) fn list_of(obj: &mut Obj) -> Option<&mut Vec<Val>> {
    match obj {
        Obj::List(items) => items.as_mut(),
        _ => None,
    }
}
