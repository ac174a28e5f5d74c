//! Arrays that a kernel makes: in shared memory, of a size that is constant or given by the launch, and its own.

use super::calls::Arguments;
use super::lower::Lowerer;
use super::types::{Fixed, is_integer};
use super::value::{Array, Value};
use super::{Order, Record};
use crate::code::{BinaryOp, Expr, ExprId, Intrinsic, Layout, Leaf, MAX_LEAVES, ObjectSpace, StaticObject, Stmt, Ty};
use crate::report::Site;
use std::sync::Arc;

/// An array that is being made.
struct Made {
    name: Arc<str>,
    element: Ty,
    /// Of records: what an element is.
    record: Option<Arc<Record>>,
    rank: usize,
    /// Where they are constants.
    extents: Option<Vec<i64>>,
    align: u32,
}

impl Lowerer<'_> {
    /// The extents that an array is made with; `None` where they are no constants.
    fn extents(&self, shape: &Value) -> Option<Vec<i64>> {
        match shape {
            Value::Number(id, ty) if is_integer(ty) => Some(vec![self.fold(*id)?]),
            Value::Tuple(all) => all
                .iter()
                .map(|one| match one {
                    Value::Number(id, ty) if is_integer(ty) => self.fold(*id),
                    _ => None,
                })
                .collect(),
            _ => None,
        }
    }

    /// Name of an array that is being made, and its element type with extents.
    fn array_parts(&mut self, arguments: &Arguments) -> Option<Made> {
        let shape = arguments.get(0, "shape")?.clone();
        let element = arguments.get(1, "dtype").and_then(Self::type_of);
        let element = element.unwrap_or(Ty::Opaque { bytes: None });
        let record = match arguments.get(1, "dtype") {
            Some(Value::Fixed(Fixed::Record(record))) => Some(Arc::clone(record)),
            _ => None,
        };
        let rank = match &shape {
            Value::Tuple(all) => all.len(),
            _ => 1,
        };
        let align = match arguments.get(2, "alignment") {
            Some(Value::Number(id, _)) => self.fold(*id).and_then(|align| u32::try_from(align).ok()),
            _ => None,
        };
        let natural = element.bytes().map_or(1, |bytes| bytes.clamp(1, 16).next_power_of_two());
        let natural = record.as_ref().map_or(natural, |record| record.align.max(1));
        let name = self.naming.clone().map_or_else(|| Arc::from(""), |name| Arc::from(name.as_str()));
        let align = align.unwrap_or(natural).max(natural);
        Some(Made { name, element, record, rank, extents: self.extents(&shape), align })
    }

    fn array_value(
        name: Arc<str>,
        (element, record): (Ty, Option<Arc<Record>>),
        data: ExprId,
        shape: Vec<ExprId>,
    ) -> Value {
        Value::Array(Box::new(Array {
            name,
            element,
            record,
            unit: None,
            order: Order::C,
            data,
            shape,
            strides: Vec::new(),
        }))
    }

    fn unknown_extents(&mut self, rank: usize, site: Site) -> Vec<ExprId> {
        (0..rank)
            .map(|axis| {
                let id = self.pure(&format!("extent {axis} {}", site.span.start), Vec::new(), Ty::LONG, site);
                let id = self.settle(id);
                if let Some(Expr::Read(crate::code::Place::Register { variable, .. })) =
                    self.code.exprs.get(id).map(|node| node.kind.clone())
                {
                    self.body.natural.insert(variable);
                }
                id
            })
            .collect()
    }

    /// `cuda.shared.array(shape, dtype)`; with the extent 0 it is the dynamic shared memory, from its first byte.
    pub(super) fn shared_array(&mut self, arguments: &Arguments, site: Site) -> Option<Value> {
        let Made { name, element, record, rank, extents, align } = self.array_parts(arguments)?;
        let dynamic = extents.as_deref() == Some(&[0]);
        let count = extents.as_ref().and_then(|all| all.iter().try_fold(1i64, |all, one| all.checked_mul(*one)));
        let bytes = count
            .zip(element.bytes())
            .and_then(|(count, bytes)| u64::try_from(count).ok()?.checked_mul(u64::from(bytes)))
            .filter(|bytes| *bytes > 0);
        if extents.is_none() {
            self.gap("extent of an array");
            self.body.wants_literals = true;
        }
        let space = if dynamic { ObjectSpace::DynamicShared } else { ObjectSpace::Shared };
        let written = extents.as_deref().unwrap_or_default();
        let data = self.shared_object(&name, (&element, written), bytes, align, space, site);
        let shape = match extents {
            Some(extents) if !dynamic => extents.into_iter().map(|extent| self.long(extent, site)).collect(),
            Some(_) => vec![self.dynamic_extent(&element, site)],
            None => self.unknown_extents(rank, site),
        };
        Some(Self::array_value(name, (element, record), data, shape))
    }

    /// As many elements as the launch's dynamic shared memory has room for.
    fn dynamic_extent(&mut self, element: &Ty, site: Site) -> ExprId {
        let Some(size) = element.bytes().filter(|size| *size > 0) else {
            return self.unknown_extents(1, site).swap_remove(0);
        };
        let bytes = self.push(Expr::Intrinsic(Intrinsic::DynamicSharedBytes, Vec::new()), Ty::LONG, site);
        let size = self.long(i64::from(size), site);
        let count = self.push(Expr::Binary(BinaryOp::Div, bytes, size), Ty::LONG, site);
        self.settle(count)
    }

    fn shared_object(
        &mut self,
        name: &Arc<str>,
        (element, extents): (&Ty, &[i64]),
        bytes: Option<u64>,
        align: u32,
        space: ObjectSpace,
        site: Site,
    ) -> ExprId {
        let object = self.code.objects.next_key();
        self.code.objects.push(StaticObject {
            name: name.to_string(),
            site,
            space,
            bytes,
            element: element.bytes().unwrap_or(1),
            extents: extents.to_vec(),
            align,
            values: None,
        });
        self.push(Expr::ObjectAddress(object), Ty::Pointer, site)
    }

    /// `jit.shared_memory(dtype, size)`; without a size it is the dynamic shared memory.
    pub(super) fn shared_memory(&mut self, arguments: &Arguments, site: Site) -> Option<Value> {
        let element = Self::type_of(arguments.get(0, "dtype")?).unwrap_or(Ty::Opaque { bytes: None });
        let size = arguments.get(1, "size")?.clone();
        let dynamic = matches!(size, Value::None);
        let extent = self.extents(&size).and_then(|all| all.first().copied());
        let bytes = extent
            .zip(element.bytes())
            .and_then(|(count, bytes)| u64::try_from(count).ok()?.checked_mul(u64::from(bytes)));
        let name = self.naming.clone().map_or_else(|| Arc::from(""), |name| Arc::from(name.as_str()));
        let align = element.bytes().unwrap_or(1).clamp(1, 16).next_power_of_two();
        let space = if dynamic { ObjectSpace::DynamicShared } else { ObjectSpace::Shared };
        let data = self.shared_object(&name, (&element, extent.as_slice()), bytes, align, space, site);
        let shape = match extent {
            Some(extent) => vec![self.long(extent, site)],
            None if dynamic => vec![self.dynamic_extent(&element, site)],
            None => self.unknown_extents(1, site),
        };
        Some(Self::array_value(name, (element, None), data, shape))
    }

    /// `cuda.local.array(shape, dtype)`: a variable of the thread, there from the start of the function.
    pub(super) fn local_array(&mut self, arguments: &Arguments, site: Site) -> Option<Value> {
        let Made { name, element, record, rank, extents, align } = self.array_parts(arguments)?;
        let count = extents.as_ref().and_then(|all| all.iter().try_fold(1i64, |all, one| all.checked_mul(*one)));
        let count = count.and_then(|count| u32::try_from(count).ok());
        let bytes = count.zip(element.bytes()).and_then(|(count, bytes)| count.checked_mul(bytes));
        let ty = match (bytes, count) {
            (Some(bytes), Some(count)) => {
                let leaves = if count as usize <= MAX_LEAVES && !matches!(element, Ty::Opaque { .. }) {
                    let size = element.bytes().unwrap_or(1);
                    (0..count).map(|at| Leaf { offset: at * size, ty: element.clone() }).collect()
                } else {
                    Vec::new()
                };
                Ty::Aggregate(Arc::new(Layout { bytes, align, leaves }))
            }
            _ => {
                self.gap("extent of an array");
                self.body.wants_literals = true;
                Ty::Opaque { bytes: None }
            }
        };
        let variable = self.variable(&name, ty, site);
        if let Some(made) = self.body.variables.get_mut(variable) {
            made.in_memory = true;
        }
        let ((), declare) = {
            let (block, ()) = self.in_block(|this| this.emit(Stmt::Declare(variable), site));
            ((), block)
        };
        self.body.entry.extend(declare);
        let data = self.push(Expr::VariableAddress(variable), Ty::Pointer, site);
        let shape = match extents {
            Some(extents) => extents.into_iter().map(|extent| self.long(extent, site)).collect(),
            None => self.unknown_extents(rank, site),
        };
        Some(Self::array_value(name, (element, record), data, shape))
    }
}
