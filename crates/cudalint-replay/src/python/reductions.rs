//! Calls of a `ReductionKernel`: what it goes over, what it gives back, how it is launched.
//!
//! The arrays that are not raw are broadcast together; the axes in `axis` (all of them without one) are put together, and what
//! is left of the shape is that of the result (`_get_axis`, `_get_out_shape` of `CuPy`'s `_reduction.pyx`).

use super::Walker;
use super::arrays::broadcast;
use super::calls::Args;
use super::cupy_bodies::{Call, count, placeholders, same};
use super::value::{Array, Dim, Kind, Layout, Lib, Val, arrays_among};
use crate::quantity::Quantity;
use cudalint_program::ir::ExprId;
use cudalint_syntax::{CupyBody, CupyParameter};
use std::rc::Rc;
use std::sync::Arc;

/// Threads of a block (`_default_block_size`).
const THREADS: i64 = 512;
/// Most elements next to each other that one block takes (`_get_block_specs`).
const MOST_IN_A_ROW: i64 = 32;

impl Walker<'_> {
    /// A call; `None` where `CuPy` raises an exception, or it is not known what it does.
    pub(super) fn looked_into_reduction(&mut self, id: ExprId, body: Arc<CupyBody>, args: &Args) -> Option<Call> {
        let parameters = &body.parameters;
        let inputs = parameters.iter().filter(|parameter| !parameter.output).count();
        let given = args.positional.len();
        if given != inputs && given != parameters.len() {
            return None;
        }
        let known = |name: &str| matches!(name, "out" | "axis" | "keepdims" | "stream");
        if args.keywords.iter().any(|(name, _)| !known(name)) {
            return None;
        }
        let mut values = args.with_exprs();
        if let Some(out) = args.given("out") {
            if given != inputs || parameters.len() != inputs + 1 {
                return None;
            }
            values.push((out.clone(), args.expr(usize::MAX, "out")));
        }
        // An array of the host is refused.
        if values.iter().any(|(value, _)| matches!(&value.kind, Kind::Array(array) if array.lib == Lib::Numpy)) {
            return None;
        }
        let own = |(parameter, (value, _)): (&CupyParameter, &(Val, Option<ExprId>))| {
            (!parameter.raw && !parameter.output).then(|| value.clone())
        };
        let own: Vec<Val> = parameters.iter().zip(&values).filter_map(own).collect();
        let strange = own.iter().any(|value| matches!(value.kind, Kind::Unknown | Kind::Open(_)));
        let arrays = arrays_among(own.iter());
        if arrays.is_empty() && !strange {
            return None;
        }
        let shape = if strange { None } else { broadcast(&arrays) };
        let axes = self.reduced_axes(args.named("axis"), shape.as_deref())?;
        let keeps = match args.named("keepdims") {
            None => Some(false),
            Some(keeps) => self.truth(keeps),
        };
        let results: Option<Rc<[Dim]>> = match (&axes, keeps, &shape) {
            // All of them.
            (Axes::All, Some(false), _) => Some(Rc::from(Vec::new())),
            (_, Some(keeps), Some(shape)) => Some(
                shape
                    .iter()
                    .enumerate()
                    .filter_map(|(axis, dim)| match (axes.has(axis), keeps) {
                        (true, true) => Some(Dim::known(1)),
                        (true, false) => None,
                        (false, _) => Some(dim.clone()),
                    })
                    .collect(),
            ),
            _ => None,
        };
        let results = if matches!(axes, Axes::Unknown) { None } else { results };
        let types = placeholders(parameters, &values)?;
        for (parameter, (value, _)) in parameters.iter().zip(&values).filter(|(parameter, _)| parameter.output) {
            let Kind::Array(array) = &value.kind else { continue };
            // An output of another shape is refused.
            if !parameter.raw && array.shape.is_some() && results.is_some() && !same(array, results.as_deref()) {
                return None;
            }
        }
        self.make_outputs(id, &body, &mut values, results.as_ref(), &types)?;
        let raw = parameters.iter().any(|parameter| parameter.raw && !parameter.output);
        let blocks = match &shape {
            _ if matches!(axes, Axes::All) => Some(Quantity::Known(1)),
            // Axes that have to change places are refused where there is a raw array.
            Some(shape) if raw && !axes.leads(shape.len()) => return None,
            Some(shape) => blocks(shape, &axes, &arrays, results.as_deref()).map(Quantity::Known),
            None => None,
        };
        Some(Call { body, values, shape, results, types, blocks, threads: Some(THREADS) })
    }

    /// `axis=`; `None` for one that there is not.
    fn reduced_axes(&mut self, axis: Option<&Val>, shape: Option<&[Dim]>) -> Option<Axes> {
        let items = match axis {
            None => return Some(Axes::All),
            Some(axis) => match &axis.kind {
                Kind::None => return Some(Axes::All),
                Kind::Tuple(_) | Kind::List(_) => self.items(axis),
                _ => Some(vec![axis.clone()]),
            },
        };
        let numbers: Option<Vec<i64>> = items.and_then(|items| items.iter().map(Val::known).collect());
        let (Some(numbers), Some(shape)) = (numbers, shape) else { return Some(Axes::Unknown) };
        let rank = shape.len() as i64;
        let axes: Option<Vec<usize>> = numbers
            .into_iter()
            .map(|axis| {
                usize::try_from(if axis < 0 { axis + rank } else { axis }).ok().filter(|axis| *axis < shape.len())
            })
            .collect();
        let axes = axes?;
        let twice =
            axes.iter().enumerate().any(|(at, axis)| axes.get(..at).is_some_and(|before| before.contains(axis)));
        (!twice).then_some(Axes::These(axes))
    }
}

/// The axes that are put together.
enum Axes {
    All,
    These(Vec<usize>),
    Unknown,
}

impl Axes {
    fn has(&self, axis: usize) -> bool {
        match self {
            Self::All => true,
            Self::These(axes) => axes.contains(&axis),
            Self::Unknown => false,
        }
    }

    /// Whether they are the first ones.
    fn leads(&self, rank: usize) -> bool {
        let first_kept = (0..rank).find(|axis| !self.has(*axis)).unwrap_or(rank);
        (first_kept..rank).all(|axis| !self.has(axis))
    }
}

/// How many blocks there are (`_get_contiguous_size`, `_get_block_specs`).
fn blocks(shape: &[Dim], axes: &Axes, arrays: &[Rc<Array>], results: Option<&[Dim]>) -> Option<i64> {
    if matches!(axes, Axes::Unknown) {
        return None;
    }
    let extents: Vec<i64> = shape.iter().map(|dim| dim.q.known()).collect::<Option<_>>()?;
    let all = count(Some(shape)).q.known()?;
    let out = count(results).q.known().filter(|out| *out > 0)?;
    let plain = |array: &Rc<Array>| array.layout == Layout::C && same(array, Some(shape));
    if !arrays.iter().all(plain) {
        return None;
    }
    let mut in_a_row = 1;
    for axis in (0..extents.len()).rev().filter(|axis| !axes.has(*axis)) {
        let stride: i64 = extents.get(axis + 1..)?.iter().product();
        if stride != in_a_row {
            break;
        }
        in_a_row *= extents.get(axis)?;
    }
    let stride = in_a_row.min(MOST_IN_A_ROW).max(THREADS / (all / out).max(1)).max(1);
    // The power of two at or below it.
    let stride = 1_i64 << stride.ilog2();
    Some((out + stride - 1) / stride)
}
