//! Events and faults as rules see them.

use super::Walker;
use super::value::{Array, Dim, Dtype, Kind, Val};
use crate::facts::{
    Amount, ArrayShape, Buffer, BufferId, EventKind, MemorySpace, Pointer, PointerArgument, PythonFault,
    PythonFaultKind, Site, Step,
};
use crate::host::ObjId;
use crate::host::steps;
use crate::quantity::{Assumptions, Quantity};
use cudalint_program::Name;
use cudalint_program::ir::{Expr, ExprId};
use cudalint_program::visit::walk_expr;
use std::sync::Arc;

pub(super) fn amount(dim: &Dim) -> Amount {
    Amount { quantity: dim.q.clone(), assumptions: dim.why.clone() }
}

impl Walker<'_> {
    /// Whether another outcome at this place is wanted.
    pub(super) fn wants(&mut self, site: Site) -> bool {
        if self.raised || !self.is_reporting() {
            return false;
        }
        self.log.wants(site)
    }

    pub(super) fn emit(&mut self, kind: EventKind, site: Site, mentioned: &[ExprId]) {
        if self.raised || !self.is_reporting() {
            return;
        }
        let path = self.path(mentioned);
        self.record_event(kind, site, path);
    }

    pub(super) fn fault(&mut self, kind: PythonFaultKind, site: Site, assumptions: Assumptions, mentioned: &[ExprId]) {
        if self.raised || !self.is_reporting() {
            return;
        }
        let Some((module, Some(function))) = self.frame().map(|frame| (frame.module, frame.function)) else { return };
        let function = (module, function);
        let path = self.path(mentioned);
        self.faults.push((site.module, PythonFault { kind, site, function, path, assumptions }));
    }

    /// The way here: the calls from the entry, and what the mentioned variables hold.
    pub(super) fn path(&self, mentioned: &[ExprId]) -> Vec<Step> {
        let mut way = self.calls("a function");
        let (Some(function), module) = (self.function(), self.module()) else { return way };
        let mut named: Vec<(Name, Val, Site)> = Vec::new();
        for expr in mentioned {
            walk_expr(module, *expr, |_, kind| {
                let found = match kind {
                    Expr::Local(local) => function.locals.get(*local).map(|variable| {
                        let site = Site { module: self.module_id(), span: variable.span };
                        (variable.name.clone(), self.local(*local), site)
                    }),
                    Expr::Name { path, .. } => path.last().and_then(|name| self.known_global(name)),
                    _ => None,
                };
                if let Some(found) = found
                    && !named.iter().any(|(name, ..)| *name == found.0)
                {
                    named.push(found);
                }
                named.len() < steps::MAX_DEFINITIONS
            });
        }
        for (name, value, site) in named {
            let Some(number) = value.known() else { continue };
            way.push(steps::holds(site, &name, number, &value.why));
        }
        way
    }

    /// A variable of the module, with where it got its value.
    fn known_global(&self, name: &Name) -> Option<(Name, Val, Site)> {
        let scope = self.modules.get(&self.module_id())?;
        let (value, site) = self.heap.scope(*scope)?.globals.get(name)?;
        Some((name.clone(), value.clone(), (*site)?))
    }

    /// A buffer for rules.
    pub(super) fn buffer_fact(&self, id: ObjId, space: Option<MemorySpace>) -> Option<Buffer> {
        let buffer = self.heap.buffer(id)?;
        let info = &buffer.info;
        let shape = info.shape.as_ref().map(|shape| {
            Arc::new(ArrayShape { extents: shape.iter().map(amount).collect(), dtype: info.dtype.name() })
        });
        Some(Buffer {
            id: BufferId(id.0),
            space: space.unwrap_or(info.space),
            bytes: amount(&info.size()),
            name: buffer.name.clone(),
            site: info.site,
            origin: info.origin.clone(),
            element: buffer.elements().bytes(),
            freed: false,
            array: shape,
        })
    }

    /// An array or memory as a pointer argument.
    pub(super) fn pointer_argument(&self, value: &Val, expr: ExprId) -> PointerArgument {
        let (text, span) = (self.text(expr).to_owned(), self.span(expr));
        let (pointer, element, element_name) = match &value.kind {
            Kind::Array(array) => {
                // What lies in a record may be read as numbers.
                let bytes = array.dtype.bytes().filter(|_| !matches!(array.dtype, Dtype::Record { .. }));
                (self.pointer_to(array.buffer, &array.offset, value), bytes, array.dtype.name())
            }
            Kind::Memory(buffer, offset) => {
                let dtype = self.heap.buffer(*buffer).map_or(Dtype::Unknown, super::heap::Buffer::elements);
                (self.pointer_to(*buffer, offset, value), dtype.bytes(), dtype.name())
            }
            _ => (Pointer::Unknown, None, String::new()),
        };
        PointerArgument { pointer, text, span, element, element_name, array: None }
    }

    fn pointer_to(&self, buffer: ObjId, offset: &Quantity, value: &Val) -> Pointer {
        match self.buffer_fact(buffer, None) {
            Some(buffer) => {
                Pointer::Into { buffer, offset: Amount { quantity: offset.clone(), assumptions: value.why.clone() } }
            }
            None => Pointer::Unknown,
        }
    }

    /// The bytes that an array's elements take.
    pub(super) fn bytes_of(&self, array: &Array) -> Dim {
        let size = array.size();
        match array.dtype.bytes() {
            Some(bytes) => Dim { q: size.q.times(&Quantity::Known(bytes)), why: size.why },
            None => Dim::unknown(),
        }
    }
}
