//! Arrays: what slices, transpositions and arithmetic make of them.

use super::Walker;
use super::dtype::STAND_IN_BYTES;
use super::heap::{Buffer, BufferInfo, Obj};
use super::value::{Array, Dim, Dtype, Kind, Layout, Lib, Val};
use crate::facts::{MemorySpace, Origin, Site};
use crate::given::Held;
use crate::host::ObjId;
use crate::quantity::{Assumptions, Quantity, union};
use cudalint_program::ir::{BinaryOp, ExprId};
use std::rc::Rc;
use std::sync::Arc;

/// What a new array is made with.
pub(super) struct Made<'a> {
    pub lib: Lib,
    pub space: MemorySpace,
    pub api: &'a str,
    pub dtype: Dtype,
    pub shape: Option<Rc<[Dim]>>,
    pub layout: Layout,
    pub held: Option<Arc<Held>>,
}

impl Made<'_> {
    /// What Numba makes for a result: on the device, or for who has only arrays of the host, there.
    pub(super) fn result(device: bool, dtype: Dtype, shape: Rc<[Dim]>) -> Self {
        Self {
            lib: if device { Lib::Numba } else { Lib::Numpy },
            space: if device { MemorySpace::Device } else { MemorySpace::Host },
            api: if device { "numba.cuda.device_array" } else { "numpy.empty" },
            dtype,
            shape: Some(shape),
            layout: Layout::C,
            held: Some(Held::fresh()),
        }
    }
}

impl Walker<'_> {
    /// An array with memory of its own.
    pub(super) fn new_array(&mut self, made: Made<'_>, site: Site) -> Array {
        let info = BufferInfo {
            space: made.space,
            site,
            origin: Origin::of_python(made.api),
            dtype: made.dtype,
            shape: made.shape.clone(),
            bytes: None,
        };
        let mut buffer = Buffer::new(info);
        buffer.held = made.held;
        let id = self.heap.add(Obj::Buffer(buffer));
        Array {
            buffer: id,
            lib: made.lib,
            dtype: made.dtype,
            shape: made.shape,
            layout: made.layout,
            offset: Quantity::Known(0),
            view: None,
        }
    }

    /// Memory without a type.
    pub(super) fn new_memory(&mut self, api: &str, space: MemorySpace, bytes: Dim, site: Site) -> ObjId {
        let info = BufferInfo {
            space,
            site,
            origin: Origin::of_python(api),
            dtype: Dtype::Unknown,
            shape: None,
            bytes: Some(bytes),
        };
        let mut buffer = Buffer::new(info);
        buffer.held = Some(Held::fresh());
        self.heap.add(Obj::Buffer(buffer))
    }

    /// Something has written to a buffer: what it holds is not known any more.
    pub(super) fn wrote(&mut self, id: ObjId) {
        self.packs.remove(&id);
        if let Some(buffer) = self.heap.buffer_mut(id) {
            buffer.held = None;
            // What was read before no longer says what it holds.
            buffer.twin = None;
        }
        // Its copies are copies of something else now.
        self.host_changed(id);
    }

    /// What a buffer holds has been fetched, or has gone out of sight.
    pub(super) fn fetched(&mut self, id: ObjId) {
        if let Some(buffer) = self.heap.buffer_mut(id) {
            buffer.fetched = true;
        }
    }

    /// Strides in bytes.
    pub(super) fn strides(&self, array: &Array) -> Option<Vec<Quantity>> {
        let shape = array.shape.as_ref()?;
        let element = Quantity::Known(array.dtype.bytes().unwrap_or(STAND_IN_BYTES));
        let mut strides = vec![Quantity::Unknown; shape.len()];
        let mut next = element;
        match &array.layout {
            Layout::C => {
                for (stride, dim) in strides.iter_mut().zip(shape.iter()).rev() {
                    *stride = next.clone();
                    next = next.times(&dim.q);
                }
            }
            Layout::Fortran => {
                for (stride, dim) in strides.iter_mut().zip(shape.iter()) {
                    *stride = next.clone();
                    next = next.times(&dim.q);
                }
            }
            Layout::Strided(known) => return Some(known.to_vec()),
            Layout::Unknown => return None,
        }
        Some(strides)
    }

    /// `a.T`, `a.transpose(1, 0)`.
    pub(super) fn transposed(&mut self, array: &Rc<Array>, axes: Option<Vec<i64>>, id: ExprId) -> Val {
        let Some(shape) = &array.shape else { return Val::array((**array).clone()) };
        if shape.len() < 2 {
            return Val::array((**array).clone());
        }
        let order: Vec<usize> = match axes {
            Some(axes) => {
                let order: Option<Vec<usize>> =
                    axes.iter().map(|axis| usize::try_from(*axis).ok().filter(|axis| *axis < shape.len())).collect();
                match order.filter(|order| order.len() == shape.len()) {
                    Some(order) => order,
                    None => return Val::unknown(),
                }
            }
            None => (0..shape.len()).rev().collect(),
        };
        let reversed = order.iter().copied().eq((0..shape.len()).rev());
        let new_shape: Vec<Dim> = order.iter().filter_map(|axis| shape.get(*axis).cloned()).collect();
        let layout = match &array.layout {
            Layout::C if reversed => Layout::Fortran,
            Layout::Fortran if reversed => Layout::C,
            Layout::Unknown => Layout::Unknown,
            _ => match self.strides(array) {
                Some(strides) => Layout::Strided(order.iter().filter_map(|axis| strides.get(*axis).cloned()).collect()),
                None => Layout::Unknown,
            },
        };
        let view = if layout == Layout::C { None } else { Some(self.expr_site(id)) };
        Val::array(Array { shape: Some(new_shape.into()), layout, view, ..(**array).clone() })
    }

    /// `a[…]`.
    pub(super) fn view(&mut self, array: &Rc<Array>, indices: &[Val], id: ExprId) -> Val {
        let spread: Vec<Val> = match indices {
            [Val { kind: Kind::Tuple(values), .. }] => values.to_vec(),
            _ => indices.to_vec(),
        };
        if let [Val { kind: Kind::Str(text), .. }] = spread.as_slice()
            && let Some(name) = &text.whole
            && let Some(view) = self.field_view(array, name, id)
        {
            return view;
        }
        let looked = |w: &mut Self| {
            w.looked_at(&Val::from(Kind::Array(Rc::clone(array))), id);
            Val::from(Kind::Number(array.dtype, Rc::new(Val::unknown())))
        };
        let Some(shape) = array.shape.clone() else { return Val::unknown() };
        let basic = spread.iter().all(|index| matches!(index.kind, Kind::Slice(_)) || index.quantity().is_some());
        if !basic || spread.len() > shape.len() {
            self.looked_at(&Val::from(Kind::Array(Rc::clone(array))), id);
            return Val::unknown();
        }
        if spread.len() == shape.len() && spread.iter().all(|index| index.quantity().is_some()) {
            return looked(self);
        }
        let Some(strides) = self.strides(array) else { return Val::unknown() };
        let mut offset = array.offset.clone();
        let (mut dims, mut new_strides) = (Vec::new(), Vec::new());
        for (axis, dim) in shape.iter().enumerate() {
            let stride = strides.get(axis).cloned().unwrap_or(Quantity::Unknown);
            match spread.get(axis).map(|index| &index.kind) {
                None => {
                    dims.push(dim.clone());
                    new_strides.push(stride);
                }
                Some(Kind::Slice(parts)) => {
                    let Some((start, length, step)) = self.slice_of(parts, dim) else {
                        dims.push(Dim::unknown());
                        new_strides.push(Quantity::Unknown);
                        offset = Quantity::Unknown;
                        continue;
                    };
                    offset = offset.plus(&start.times(&stride));
                    dims.push(length);
                    new_strides.push(stride.times(&Quantity::Known(step)));
                }
                Some(_) => {
                    let index = spread.get(axis).and_then(Val::quantity).unwrap_or(Quantity::Unknown);
                    let index = match index.known() {
                        Some(at) if at < 0 => dim.q.plus(&index),
                        _ => index,
                    };
                    offset = offset.plus(&index.times(&stride));
                }
            }
        }
        let contiguous = self.is_contiguous(&dims, &new_strides, array.dtype);
        let layout = match contiguous {
            Some(true) => Layout::C,
            Some(false) => Layout::Strided(new_strides.into()),
            None => Layout::Unknown,
        };
        let view = if matches!(layout, Layout::Strided(_)) { Some(self.expr_site(id)) } else { None };
        Val::array(Array { shape: Some(dims.into()), layout, offset, view, ..(**array).clone() })
    }

    /// Start, length and step of a slice along an axis.
    fn slice_of(&mut self, parts: &[Option<Val>; 3], dim: &Dim) -> Option<(Quantity, Dim, i64)> {
        let part = |at: usize| parts[at].as_ref().filter(|value| !matches!(value.kind, Kind::None));
        let step = match part(2) {
            None => 1,
            Some(step) => step.known()?,
        };
        let why = parts.iter().flatten().fold(dim.why.clone(), |why, part| union(&why, &part.why));
        if step < 0 {
            return match (part(0), part(1), step) {
                (None, None, -1) => Some((dim.q.minus(&Quantity::Known(1)), Dim { q: dim.q.clone(), why }, -1)),
                _ => None,
            };
        }
        let end = |value: Option<&Val>, otherwise: Quantity| -> Option<Quantity> {
            let Some(value) = value else { return Some(otherwise) };
            let q = value.quantity()?;
            match (q.known(), dim.q.known()) {
                (Some(at), Some(all)) if at < 0 => Some(Quantity::Known((all + at).max(0))),
                (Some(at), None) if at < 0 => Some(dim.q.plus(&q)),
                (Some(at), Some(all)) => Some(Quantity::Known(at.min(all))),
                _ => Some(q),
            }
        };
        let start = end(part(0), Quantity::Known(0))?;
        let stop = end(part(1), dim.q.clone())?;
        let span = stop.minus(&start);
        let length = if step == 1 { span } else { self.ceil_div(&span, step) };
        let length = match length.known() {
            Some(value) if value < 0 => Quantity::Known(0),
            _ => length,
        };
        Some((start, Dim { q: length, why }, step))
    }

    fn is_contiguous(&self, dims: &[Dim], strides: &[Quantity], dtype: Dtype) -> Option<bool> {
        let mut next = Quantity::Known(dtype.bytes().unwrap_or(STAND_IN_BYTES));
        for (dim, stride) in dims.iter().zip(strides).rev() {
            if stride.is_unknown() || next.is_unknown() {
                return None;
            }
            // An axis of one element has no stride to speak of.
            if dim.q.known() != Some(1) && !stride.surely_equals(&next) {
                return match stride.constant_difference(&next) {
                    Some(_) => Some(false),
                    None => stride.poly().zip(next.poly()).map(|_| false),
                };
            }
            next = next.times(&dim.q);
        }
        Some(true)
    }

    /// `a.reshape(…)`: the same elements; of a view that does not lie in one piece, a copy.
    pub(super) fn reshaped(&mut self, array: &Rc<Array>, shape: Option<Rc<[Dim]>>, id: ExprId) -> Val {
        if let Some(shape) = &shape {
            self.raised |= is_refused(&array.size(), shape);
        }
        let shape = shape.map(|shape| {
            // `-1` is what is left.
            let rest = |except: usize| {
                shape
                    .iter()
                    .enumerate()
                    .filter(|(at, _)| *at != except)
                    .fold(Quantity::Known(1), |all, (_, dim)| all.times(&dim.q))
            };
            let total = array.size();
            let mut dims: Vec<Dim> = Vec::new();
            for (at, dim) in shape.iter().enumerate() {
                if dim.q.known() == Some(-1) {
                    let others = rest(at);
                    let q = if others.known() == Some(1) { total.q.clone() } else { self.floor_div(&total.q, &others) };
                    dims.push(Dim { q, why: total.why.clone() });
                } else {
                    dims.push(dim.clone());
                }
            }
            Rc::from(dims)
        });
        if array.layout == Layout::C {
            return Val::array(Array { shape, ..(**array).clone() });
        }
        self.copied(array, shape, id)
    }

    /// A copy in one piece.
    pub(super) fn copied(&mut self, array: &Rc<Array>, shape: Option<Rc<[Dim]>>, id: ExprId) -> Val {
        let (space, api, held) = match self.heap.buffer(array.buffer) {
            Some(buffer) => (buffer.info.space, buffer.info.origin.name().to_owned(), buffer.held.clone()),
            None => return Val::unknown(),
        };
        // Of memory that nobody has written a copy holds just as little, but it has been written.
        let whole = array.layout == Layout::C && array.offset == Quantity::Known(0) && array.shape.is_some();
        let held = held.filter(|held| whole && !matches!(held.contents, crate::given::HeldContents::WrittenOnly(_)));
        let space = if space == MemorySpace::Host || array.lib == Lib::Numpy { MemorySpace::Host } else { space };
        let made = Made { lib: array.lib, space, api: &api, dtype: array.dtype, shape, layout: Layout::C, held };
        let site = self.expr_site(id);
        Val::array(self.new_array(made, site))
    }

    /// The array that an operation on each element gives.
    pub(super) fn elementwise(&mut self, operands: &[Val], dtype: Option<Dtype>) -> Val {
        let arrays = super::value::arrays_among(operands.iter());
        let Some(first) = arrays.first() else { return Val::unknown() };
        let strange =
            operands.iter().any(|operand| matches!(operand.kind, Kind::Unknown | Kind::Open(_) | Kind::List(_)));
        let shape = if strange { None } else { broadcast(&arrays) };
        let promoted = arrays.iter().skip(1).fold(first.dtype, |all, array| all.promote(array.dtype));
        let dtype = dtype.unwrap_or(if strange { Dtype::Unknown } else { with_scalars(promoted, operands) });
        let (space, api) = match self.heap.buffer(first.buffer) {
            Some(buffer) => (buffer.info.space, buffer.info.origin.name().to_owned()),
            None => return Val::unknown(),
        };
        let site = self.heap.buffer(first.buffer).map(|buffer| buffer.info.site);
        let Some(site) = site else { return Val::unknown() };
        let layout = if arrays.iter().all(|array| array.layout == Layout::C) { Layout::C } else { Layout::Unknown };
        let why = operands.iter().fold(None, |why, operand| union(&why, &operand.why));
        let lib = first.lib;
        let made = Made { lib, space, api: &api, dtype, shape, layout, held: None };
        Val::array(self.new_array(made, site)).because(&why)
    }

    pub(super) fn array_operation(&mut self, op: BinaryOp, a: &Val, b: &Val) -> Val {
        if op.is_comparison() {
            return self.elementwise(&[a.clone(), b.clone()], Some(Dtype::Bool));
        }
        let result = self.elementwise(&[a.clone(), b.clone()], None);
        match (op, result.kind) {
            (BinaryOp::Div | BinaryOp::TrueDiv, Kind::Array(array)) => {
                let dtype = array.dtype.divided();
                Val { kind: Kind::Array(Rc::new(Array { dtype, ..(*array).clone() })), why: result.why }
            }
            (_, kind) => Val { kind, why: result.why },
        }
    }
}

/// Extents that rest on more.
pub(super) fn resting(shape: &Rc<[Dim]>, why: &Assumptions) -> Rc<[Dim]> {
    if why.is_none() {
        return Rc::clone(shape);
    }
    shape.iter().map(|dim| Dim { q: dim.q.clone(), why: union(&dim.why, why) }).collect()
}

/// The shape of arrays put together; only where all are alike or one is a scalar's.
pub(super) fn broadcast(arrays: &[Rc<Array>]) -> Option<Rc<[Dim]>> {
    let first = arrays.first()?.shape.clone()?;
    let alike = arrays.iter().all(|array| {
        array.shape.as_ref().is_some_and(|shape| {
            shape.len() == first.len() && shape.iter().zip(first.iter()).all(|(a, b)| a.q.surely_equals(&b.q))
        })
    });
    if alike {
        return Some(first);
    }
    // Of several, one that surely is the largest.
    let shapes: Option<Vec<Vec<i64>>> = arrays
        .iter()
        .map(|array| array.shape.as_ref()?.iter().map(|dim| dim.q.known()).collect::<Option<Vec<i64>>>())
        .collect();
    let shapes = shapes?;
    let rank = shapes.iter().map(Vec::len).max()?;
    let mut dims = Vec::new();
    for axis in 0..rank {
        let extents = shapes.iter().filter_map(|shape| {
            let missing = rank - shape.len();
            axis.checked_sub(missing).and_then(|at| shape.get(at)).copied()
        });
        // An axis of one element goes with any other, one of none included.
        let extents: Vec<i64> = extents.collect();
        dims.push(Dim::known(extents.iter().copied().find(|extent| *extent != 1).unwrap_or(1)));
    }
    Some(dims.into())
}

/// Whether elements, so many, surely make no array of a shape: then `NumPy` raises `ValueError`.
fn is_refused(elements: &Dim, shape: &[Dim]) -> bool {
    let known = |dim: &Dim| dim.q.known().filter(|_| dim.why.is_none());
    let (Some(elements), Some(extents)) = (known(elements), shape.iter().map(known).collect::<Option<Vec<i64>>>())
    else {
        return false;
    };
    let open = extents.iter().filter(|extent| **extent == -1).count();
    let product = extents.iter().filter(|extent| **extent != -1).try_fold(1_i64, |all, one| all.checked_mul(*one));
    match (open, product) {
        (_, None) => false,
        (0, Some(product)) => product != elements,
        (1, Some(product)) => product > 0 && elements % product != 0,
        _ => true,
    }
}

/// Python's own numbers bend to the type of the array, but a float makes integers floats.
fn with_scalars(dtype: Dtype, operands: &[Val]) -> Dtype {
    operands.iter().fold(dtype, |dtype, operand| match (&operand.kind, dtype) {
        (Kind::Float(_) | Kind::Ratio(..), Dtype::Int { .. } | Dtype::Bool) => Dtype::Float { bytes: 8 },
        (Kind::Int(_), Dtype::Bool) => Dtype::Int { bytes: 8, signed: true },
        // NumPy 2 promotes by its scalars' types, NumPy 1 by their values.
        (Kind::Number(other, _), _) if dtype.promote(*other) != dtype => Dtype::Unknown,
        _ => dtype,
    })
}
