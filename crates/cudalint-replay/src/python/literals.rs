//! Arrays made from what there is: nested lists of numbers, and other arrays.

use super::Walker;
use super::apis::ApiCall;
use super::creation::MAX_INTEGERS;
use super::dtype::{FLOAT, INT};
use super::exprs::range_length;
use super::value::{Array, Dim, Dtype, Kind, Layout, Lib, Val};
use crate::given::{Held, HeldContents};
use crate::quantity::Quantity;
use cudalint_program::api::effects::Arg;
use cudalint_program::api::packages::Making;
use std::rc::Rc;
use std::sync::Arc;

/// What nested lists hold.
#[derive(Default)]
struct Literal {
    dtype: Option<Dtype>,
    integers: Option<Vec<Quantity>>,
    strange: bool,
}

impl Walker<'_> {
    /// `array(x)` and what only makes sure that it is one.
    pub(super) fn array_of(&mut self, call: &ApiCall<'_>, lib: Lib, how: Making) -> Val {
        let (id, args) = (call.id, call.args);
        let Some(from) = call.get(Arg(0)).cloned() else { return Val::unknown() };
        let dtype = call.parameter("dtype").cloned();
        let dtype = dtype.as_ref();
        let copies = matches!(how, Making::Copy | Making::Clone);
        match &from.kind {
            Kind::Array(array) => {
                let dtype = self.dtype_argument(dtype, array.dtype);
                let moved = lib == Lib::Cupy && array.lib == Lib::Numpy;
                if lib == Lib::Numpy
                    && array.lib == Lib::Cupy
                    && how != Making::Clone
                    && let Some(expr) = args.exprs.first()
                {
                    self.converted_on_host(id, &from, *expr);
                }
                self.looked_at(&from, id);
                let keeps = !moved && !copies && dtype == array.dtype;
                let array = Rc::clone(array);
                match (how, &array.layout) {
                    (Making::Same, _) | (Making::Rows, Layout::C) if keeps => return from,
                    _ => {}
                }
                let held = self.heap.buffer(array.buffer).and_then(|buffer| buffer.held.clone());
                let held = held.filter(|held| {
                    dtype == array.dtype
                        && array.layout == Layout::C
                        && array.offset == Quantity::Known(0)
                        && !matches!(held.contents, HeldContents::WrittenOnly(_))
                });
                let layout = match (how, &array.layout) {
                    (Making::Rows, _) => Layout::C,
                    (Making::Columns, _) if array.rank() != Some(1) => Layout::Fortran,
                    // `array` keeps the order where it can ('K').
                    (_, Layout::C | Layout::Fortran) => array.layout.clone(),
                    _ => Layout::Unknown,
                };
                let value = self.made(call, lib, dtype, array.shape.clone(), held, &from.why);
                match value.kind {
                    Kind::Array(made) => {
                        Val { kind: Kind::Array(Rc::new(Array { layout, ..(*made).clone() })), why: value.why }
                    }
                    kind => Val::from(kind),
                }
            }
            Kind::List(_) | Kind::Tuple(_) => {
                let mut literal = Literal { integers: Some(Vec::new()), ..Literal::default() };
                let shape = self.literal(&from, 0, &mut literal);
                let natural = if literal.strange { Dtype::Unknown } else { literal.dtype.unwrap_or(FLOAT) };
                let dtype = self.dtype_argument(dtype, natural);
                // A tuple is one record.
                let shape = match dtype {
                    Dtype::Record { .. } | Dtype::Other => self.records_in(&from),
                    _ => shape,
                };
                let held = match (dtype, &literal.integers) {
                    (Dtype::Int { bytes, .. }, Some(values)) if !values.is_empty() => {
                        let values = values.clone();
                        Some(Arc::new(Held { contents: HeldContents::Integers { bytes, values }, assumptions: None }))
                    }
                    _ => None,
                };
                let shape = shape.map(|shape| Rc::from(shape.into_iter().map(Dim::known).collect::<Vec<Dim>>()));
                let value = self.made(call, lib, dtype, shape, held, &from.why);
                self.ordered(value, args.named("order"))
            }
            Kind::Int(_) | Kind::Float(_) | Kind::Bool(_) | Kind::Number(..) => {
                let dtype = self.dtype_argument(dtype, from.natural());
                // What is computed of something out of sight is taken for a number, and may be an array.
                let shape = from.number().is_some().then(|| Rc::from(Vec::new()));
                self.made(call, lib, dtype, shape, None, &from.why)
            }
            Kind::Range(range) => {
                let length = length_of(range);
                let dtype = self.dtype_argument(dtype, INT);
                let shape: Rc<[Dim]> = Rc::from(vec![Dim { q: length, why: from.why.clone() }]);
                self.made(call, lib, dtype, Some(shape), None, &None)
            }
            // A copy of an array-like out of sight: its size keeps its symbol, its type too.
            Kind::Open(open) if matches!(how, Making::Copy | Making::Same) && lib == Lib::Cupy && dtype.is_none() => {
                self.open_like(&Rc::clone(open))
            }
            Kind::Open(_) if !copies && lib == Lib::Numpy && dtype.is_none() => from,
            _ => {
                self.lose(&from);
                let dtype = self.dtype_argument(dtype, Dtype::Unknown);
                self.made(call, lib, dtype, None, None, &None)
            }
        }
    }

    /// The extent of a list of tuples, each of which is a record.
    fn records_in(&mut self, list: &Val) -> Option<Vec<i64>> {
        let items = matches!(list.kind, Kind::List(_)).then(|| self.items(list))??;
        let records = items.iter().all(|item| matches!(item.kind, Kind::Tuple(_)));
        records.then(|| vec![items.len() as i64])
    }

    /// Extents of nested lists of numbers, with their common type.
    fn literal(&mut self, value: &Val, depth: u32, into: &mut Literal) -> Option<Vec<i64>> {
        match &value.kind {
            Kind::List(_) | Kind::Tuple(_) if depth < 8 => {
                let items = self.items(value)?;
                let mut inner: Option<Option<Vec<i64>>> = None;
                for item in &items {
                    let shape = self.literal(item, depth + 1, into);
                    match &inner {
                        None => inner = Some(shape),
                        Some(known) if *known == shape => {}
                        Some(_) => inner = Some(None),
                    }
                }
                let mut shape = vec![items.len() as i64];
                if let Some(inner) = inner {
                    shape.extend(inner?);
                }
                Some(shape)
            }
            Kind::Array(_) => {
                into.strange = true;
                None
            }
            Kind::Unknown | Kind::Unset | Kind::Open(_) => {
                into.strange = true;
                into.integers = None;
                None
            }
            Kind::Range(range) => {
                into.dtype = Some(into.dtype.map_or(INT, |known| known.promote(INT)));
                into.integers = None;
                length_of(range).known().map(|length| vec![length])
            }
            // Text and objects: what NumPy makes of them is not followed.
            kind if !matches!(kind, Kind::Int(_) | Kind::Float(_) | Kind::Bool(_) | Kind::Number(..)) => {
                into.strange = true;
                into.integers = None;
                None
            }
            _ => {
                let dtype = value.natural();
                into.dtype = Some(into.dtype.map_or(dtype, |known| known.promote(dtype)));
                match (value.quantity(), &mut into.integers) {
                    (Some(q), Some(all))
                        if !q.is_unknown() && all.len() < MAX_INTEGERS as usize && value.why.is_none() =>
                    {
                        all.push(q);
                    }
                    _ => into.integers = None,
                }
                Some(Vec::new())
            }
        }
    }
}

/// How many numbers a range has.
fn length_of(range: &[Quantity; 3]) -> Quantity {
    match (range[0].known(), range[1].known(), range[2].known()) {
        (Some(a), Some(b), Some(c)) => range_length(a, b, c).map_or(Quantity::Unknown, Quantity::Known),
        (Some(0), _, Some(1)) => range[1].clone(),
        _ => Quantity::Unknown,
    }
}
