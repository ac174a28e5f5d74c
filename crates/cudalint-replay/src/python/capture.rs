//! What a kernel takes from the scopes around it when it is compiled.

use super::Walker;
use super::value::{Closure, Dtype, Kind, Layout, Lib, Val};
use crate::given::HeldContents;
use crate::quantity::Quantity;
use cudalint_kernel::code::Ty;
use cudalint_kernel::python::Constant;
use cudalint_program::Name;
use cudalint_program::ir::Expr;
use cudalint_program::visit::{Item, walk};
use std::sync::Arc;

/// How deep functions that call functions are followed.
const MAX_DEPTH: u32 = 5;
/// Most elements of a captured array whose values are kept.
const MAX_ELEMENTS: i64 = 4096;

impl Walker<'_> {
    /// Names of the scopes around with their values, sorted.
    pub(super) fn captured_by(&mut self, closure: &Closure) -> Vec<(Name, Constant)> {
        self.captures(closure, 0)
    }

    fn captures(&mut self, closure: &Closure, depth: u32) -> Vec<(Name, Constant)> {
        let Some(function) = self.project.function_at(closure.module, closure.function) else { return Vec::new() };
        let Some(body) = &function.body else { return Vec::new() };
        let module = self.project.module(closure.module);
        let mut names: Vec<Name> = Vec::new();
        walk(module, function, body, |item| {
            if let Item::Expr(id) = item
                && let Some(Expr::Name { path, .. }) = module.exprs.get(id).map(|node| &node.kind)
                && let [name] = path.segments.as_ref()
                && !names.contains(name)
            {
                names.push(name.clone());
            }
            true
        });
        names.sort();
        let mut captured = Vec::new();
        for name in names {
            let value = self.seen_from(closure, &name);
            if let Some(constant) = self.constant(&value, depth) {
                captured.push((name, constant));
            }
        }
        captured
    }

    /// The value of a name as a function sees it.
    pub(super) fn seen_from(&mut self, closure: &Closure, name: &Name) -> Val {
        let mut at = closure.scope;
        for _ in 0..16 {
            let Some(scope) = at.and_then(|at| self.heap.scope(at)) else { break };
            if let Some(index) = scope.names.iter().rposition(|known| known == name)
                && let Some(value) = scope.slots.get(index).filter(|value| !matches!(value.kind, Kind::Unset))
            {
                return value.clone();
            }
            at = scope.parent;
        }
        self.global(closure.module, name)
    }

    fn constant(&mut self, value: &Val, depth: u32) -> Option<Constant> {
        if value.why.is_some() || depth > MAX_DEPTH {
            return None;
        }
        Some(match &value.kind {
            Kind::Int(Quantity::Known(number)) => Constant::Int(*number, Ty::LONG),
            Kind::Bool(Quantity::Known(number)) => Constant::Bool(*number != 0),
            Kind::Float(Some(number)) => Constant::Float(*number, Ty::Float { bytes: 8 }),
            Kind::Number(dtype, inner) => match (dtype, inner.known(), inner.number()) {
                (Dtype::Int { .. }, Some(number), _) => Constant::Int(number, dtype.ty()),
                (Dtype::Bool, Some(number), _) => Constant::Bool(number != 0),
                (Dtype::Float { .. }, _, Some(number)) => Constant::Float(number, dtype.ty()),
                _ => return None,
            },
            Kind::Str(text) => Constant::Str(Arc::from(text.whole.as_deref()?)),
            Kind::None => Constant::None,
            Kind::Tuple(values) => {
                let values: Option<Vec<Constant>> =
                    values.iter().map(|value| self.constant(value, depth + 1)).collect();
                Constant::Tuple(values?)
            }
            Kind::Dtype(dtype) => match dtype {
                Dtype::Unknown | Dtype::Other => return None,
                dtype @ Dtype::Record { .. } => {
                    let record = self.record(*dtype).filter(|record| !record.fields.is_empty());
                    record.map_or_else(|| Constant::Type(dtype.ty()), |record| Constant::Record(Arc::clone(record)))
                }
                dtype => Constant::Type(dtype.ty()),
            },
            Kind::Package(path) => match &**path {
                "builtins.float" => Constant::Type(Ty::Float { bytes: 8 }),
                "builtins.int" => Constant::Type(Ty::LONG),
                _ => Constant::Package(Arc::from(&**path)),
            },
            Kind::Function(closure) => {
                let captured = self.captures(&closure.clone(), depth + 1);
                Constant::Function(closure.module, closure.function, captured)
            }
            Kind::Kernel(kernel) => {
                let captured = self.captures(&kernel.closure.clone(), depth + 1);
                Constant::Function(kernel.closure.module, kernel.closure.function, captured)
            }
            // One of the device is reached where it is.
            Kind::Array(array) if array.lib == Lib::Numpy => {
                let shape: Option<Vec<i64>> = array.shape.as_ref()?.iter().map(|dim| dim.q.known()).collect();
                let shape = shape?;
                let count = shape.iter().try_fold(1_i64, |all, extent| all.checked_mul(*extent))?;
                let whole = array.layout == Layout::C && array.offset.known() == Some(0);
                let held = self.heap.buffer(array.buffer).and_then(|buffer| buffer.held.clone()).filter(|_| whole);
                let values = match held.as_deref().map(|held| &held.contents) {
                    Some(HeldContents::Integers { values, .. }) if values.len() as i64 == count => {
                        values.iter().map(Quantity::known).collect::<Option<Vec<i64>>>()
                    }
                    Some(HeldContents::Filled(0))
                        if count <= MAX_ELEMENTS && matches!(array.dtype, Dtype::Int { .. }) =>
                    {
                        Some(vec![0; usize::try_from(count).ok()?])
                    }
                    _ => None,
                };
                Constant::Array { element: array.dtype.ty(), shape, values: values.map(Arc::from) }
            }
            _ => return None,
        })
    }
}
