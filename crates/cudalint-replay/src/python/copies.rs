//! Allocations, copies and sets by bytes: events for the rules, and what the memory holds afterwards.

use super::Walker;
use super::emit::amount;
use super::value::{Array, Dim, Dtype, Kind, Layout, Lib, Val};
use super::walker::{Definitions, Variable};
use crate::facts::{CopyKind, CopyProblem, CountShape, EventKind, MemorySpace, PythonFaultKind, Site};
use crate::given::{Held, HeldContents};
use crate::host::ObjId;
use crate::quantity::{Quantity, union};
use cudalint_program::Name;
use cudalint_program::ir::{Expr, ExprId};
use cudalint_program::visit::{Item, walk};
use cudalint_syntax::Span;
use std::rc::Rc;
use std::sync::Arc;

/// How deep definitions of variables are followed.
const MAX_DEFINITIONS: u32 = 6;

/// A copy as a call states it.
pub(super) struct CopyCall<'a> {
    /// The function's name without its package.
    pub api: &'a str,
    pub to: (Val, ExprId),
    pub from: (Val, ExprId),
    pub bytes: Dim,
    /// The argument that says how many bytes; `None` where an array says it: then which one.
    pub size: Result<ExprId, ExprId>,
    pub kind: CopyKind,
    /// Where the direction is written.
    pub kind_span: Option<Span>,
    /// Whether it may return before it is done.
    pub asynchronous: bool,
}

/// A set as a call states it.
pub(super) struct SetCall<'a> {
    /// The function's name without its package.
    pub api: &'a str,
    pub to: (Val, ExprId),
    pub value: (Val, ExprId),
    /// How many elements.
    pub count: Dim,
    /// The argument that says so.
    pub size: ExprId,
    /// Bytes of one element.
    pub unit: i64,
}

/// The last part of a dotted name.
pub(super) fn last_part(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

impl Walker<'_> {
    /// Memory that a call allocates by bytes.
    pub(super) fn allocated(
        &mut self,
        id: ExprId,
        api: &str,
        space: MemorySpace,
        size: &Val,
        expr: Option<ExprId>,
    ) -> Val {
        let bytes = Dim { q: self.as_int(size).unwrap_or(Quantity::Unknown), why: size.why.clone() };
        let site = self.expr_site(id);
        let memory = self.new_memory(api, space, bytes, site);
        if let Some(expr) = expr {
            // `mem_alloc(a.nbytes)`: made for elements of `a`.
            if let Some(dtype) = self.measured(expr)
                && let Some(buffer) = self.heap.buffer_mut(memory)
            {
                buffer.element = dtype;
            }
            if self.wants(site)
                && let Some(buffer) = self.buffer_fact(memory, None)
            {
                let dtype = self.heap.buffer(memory).map_or(Dtype::Unknown, |buffer| buffer.element);
                let event = EventKind::Allocate {
                    buffer,
                    count: self.count_shape(expr),
                    pointer_text: String::new(),
                    element: dtype.bytes(),
                    element_name: dtype.name(),
                };
                self.emit(event, site, &[expr]);
            }
        }
        Val::from(Kind::Memory(memory, Quantity::Known(0)))
    }

    /// The type of the elements of the array whose size in bytes an expression is.
    fn measured(&mut self, expr: ExprId) -> Option<Dtype> {
        let Some(Expr::Member { base, name, .. }) = self.kind(expr) else { return None };
        if name != "nbytes" {
            return None;
        }
        let named = match self.kind(*base)? {
            Expr::Local(local) => self.local(*local),
            Expr::Name { path, .. } => match path.segments.as_ref() {
                [name] => self.bound(name).unwrap_or_else(|| self.lookup(name)),
                _ => return None,
            },
            _ => return None,
        };
        match &named.kind {
            Kind::Array(array) => Some(array.dtype),
            _ => None,
        }
    }

    /// A copy: reported to the rules, and done.
    pub(super) fn copy(&mut self, id: ExprId, call: &CopyCall<'_>) {
        let site = self.expr_site(id);
        if self.wants(site) {
            let count = match call.size {
                Ok(size) => self.count_shape(size),
                Err(array) => CountShape {
                    text: format!("{}.nbytes", self.text(array)),
                    span: self.span(array),
                    opaque: true,
                    ..CountShape::default()
                },
            };
            let event = EventKind::Copy {
                api: Name::from(call.api),
                destination: self.pointer_argument(&call.to.0, call.to.1),
                source: self.pointer_argument(&call.from.0, call.from.1),
                bytes: amount(&call.bytes),
                count,
                rows: None,
                kind: call.kind,
                kind_span: call.kind_span,
                asynchronous: call.asynchronous,
            };
            let mut mentioned = vec![call.to.1, call.from.1];
            mentioned.extend(call.size.ok());
            self.emit(event, site, &mentioned);
        }
        match &call.from.0.kind {
            Kind::Memory(buffer, _) => self.fetched(*buffer),
            Kind::Array(array) if array.lib != Lib::Numpy => self.fetched(array.buffer),
            _ => {}
        }
        self.store(&call.to.0, &call.bytes, Some(&call.from.0));
    }

    /// A set: reported to the rules, and done.
    pub(super) fn set_elements(&mut self, id: ExprId, call: &SetCall<'_>) {
        let site = self.expr_site(id);
        let bytes = Dim { q: call.count.q.times(&Quantity::Known(call.unit)), why: call.count.why.clone() };
        if self.wants(site) {
            let event = EventKind::Set {
                api: Name::from(call.api),
                destination: self.pointer_argument(&call.to.0, call.to.1),
                value: call.value.0.amount(),
                value_text: self.text(call.value.1).to_owned(),
                value_span: self.span(call.value.1),
                bytes: amount(&bytes),
                count: self.count_shape(call.size),
                rows: None,
                unit: call.unit,
            };
            self.emit(event, site, &[call.to.1, call.value.1, call.size]);
        }
        self.store(&call.to.0, &bytes, None);
        // Zero is zero in every byte.
        if call.value.0.known() == Some(0)
            && let Some((buffer, Quantity::Known(0))) = place_of(&call.to.0)
            && let Some(buffer) = self.heap.buffer_mut(buffer)
            && buffer.info.size().q.surely_equals(&bytes.q)
        {
            buffer.held = Some(Arc::new(Held { contents: HeldContents::Filled(0), assumptions: bytes.why }));
        }
    }

    /// What memory holds after bytes have been written to it, from `from` where that is known.
    pub(super) fn store(&mut self, to: &Val, bytes: &Dim, from: Option<&Val>) {
        let Some((id, offset)) = place_of(to) else {
            match &to.kind {
                Kind::Array(array) => self.wrote(array.buffer),
                _ => self.lose(to),
            }
            return;
        };
        let Some(buffer) = self.heap.buffer(id) else { return };
        let old = buffer.held.clone();
        let size = buffer.info.size().q;
        let whole = offset == Quantity::Known(0) && size.surely_equals(&bytes.q);
        let held = if whole {
            from.and_then(|from| self.held_by(from, &bytes.q))
        } else {
            Held::after_write(old.as_deref(), offset.clone(), bytes.q.clone(), &bytes.why)
        };
        let dtype = match from.map(|from| &from.kind) {
            Some(Kind::Array(array)) => array.dtype,
            Some(Kind::Memory(id, _)) => self.heap.buffer(*id).map_or(Dtype::Unknown, super::heap::Buffer::elements),
            _ => Dtype::Unknown,
        };
        self.wrote(id);
        if let Some(buffer) = self.heap.buffer_mut(id) {
            buffer.held = held;
            if buffer.element == Dtype::Unknown && offset == Quantity::Known(0) {
                buffer.element = dtype;
            }
        }
    }

    /// What the first so many bytes behind a value hold, as far as it is known of memory that goes on.
    fn held_by(&self, from: &Val, bytes: &Quantity) -> Option<Arc<Held>> {
        let (id, offset) = place_of(from)?;
        let buffer = self.heap.buffer(id)?;
        let whole = offset == Quantity::Known(0) && buffer.info.size().q.surely_equals(bytes);
        // What nobody has written is copied all the same.
        buffer.held.clone().filter(|held| whole && !matches!(held.contents, HeldContents::WrittenOnly(_)))
    }

    /// `d[…] = x` of an array on the device, where the elements lie in one piece; `false` where nothing is known.
    pub(super) fn store_elements(&mut self, array: &Rc<Array>, indices: &[Val], id: ExprId) -> bool {
        let spread: Vec<Val> = match indices {
            [Val { kind: Kind::Tuple(values), .. }] => values.to_vec(),
            _ => indices.to_vec(),
        };
        let slices = spread.iter().any(|index| matches!(index.kind, Kind::Slice(_)));
        let basic = spread.iter().all(|index| matches!(index.kind, Kind::Slice(_)) || index.quantity().is_some());
        if array.lib == Lib::Numpy || !slices || !basic {
            return false;
        }
        let view = self.view(array, indices, id);
        let Kind::Array(part) = &view.kind else { return false };
        if part.layout != Layout::C {
            return false;
        }
        let bytes = self.bytes_of(part);
        self.store(&view, &bytes, None);
        true
    }

    /// A copy that its package checks first: it raises an exception where types or sizes differ.
    pub(super) fn checked_copy(&mut self, id: ExprId, api: &str, to: (&Val, ExprId), from: (&Val, ExprId)) {
        let (Kind::Array(target), Kind::Array(source)) = (&to.0.kind, &from.0.kind) else { return };
        if self.frames.iter().any(|frame| frame.tries > 0) {
            return;
        }
        let known = |dtype: Dtype| !matches!(dtype, Dtype::Unknown | Dtype::Other | Dtype::Record { .. });
        if !known(target.dtype) || !known(source.dtype) {
            return;
        }
        let (size, count) = (target.size(), source.size());
        let differ = match size.q.constant_difference(&count.q) {
            Some(difference) => difference != 0,
            None => false,
        };
        let (problem, class) = if target.dtype != source.dtype {
            // `PyCUDA` compares sizes first, `CuPy` and Numba types.
            if differ && target.lib == Lib::PyCuda {
                (CopyProblem::Size, "ValueError")
            } else if api == "set" && target.lib == Lib::PyCuda {
                (CopyProblem::ElementType, "ValueError")
            } else {
                (CopyProblem::ElementType, "TypeError")
            }
        } else if differ {
            (CopyProblem::Size, "ValueError")
        } else {
            return;
        };
        // Numba copies nothing where there is nothing.
        if count.q == Quantity::Known(0) {
            return;
        }
        let made = |array: &Array| self.heap.buffer(array.buffer).map(|buffer| buffer.info.site);
        let (Some(to_made), Some(from_made)) = (made(target), made(source)) else { return };
        let (dtypes, sizes) = ((target.dtype.name(), source.dtype.name()), (amount(&size), amount(&count)));
        let why = match problem {
            CopyProblem::Size => union(&size.why, &count.why),
            CopyProblem::ElementType => union(&to.0.why, &from.0.why),
        };
        let kind = PythonFaultKind::CopyRefused {
            api: api.to_owned(),
            destination: self.text(to.1).to_owned(),
            source: self.text(from.1).to_owned(),
            types: dtypes,
            sizes,
            made: (to_made, from_made),
            problem,
            exception: class,
        };
        let site = self.expr_site(id);
        self.fault(kind, site, why, &[to.1, from.1]);
    }

    /// The object that a method is called on, as written.
    pub(super) fn receiver_expr(&self, call: ExprId) -> Option<ExprId> {
        let Some(Expr::Call { callee, .. }) = self.kind(call) else { return None };
        match self.kind(*callee)? {
            Expr::Member { base, .. } => Some(*base),
            _ => None,
        }
    }

    /// The name of the function that a call names, without what stands before it.
    pub(super) fn callee_name(&self, call: ExprId) -> Option<Span> {
        let Some(Expr::Call { callee, .. }) = self.kind(call) else { return None };
        self.last_name(*callee)
    }

    /// The last name of `a.b.c`.
    pub(super) fn last_name(&self, expr: ExprId) -> Option<Span> {
        let span = self.span(expr);
        match self.kind(expr)? {
            Expr::Member { name, .. } => {
                let end = span.end as usize;
                Some(Span::new(end.checked_sub(name.len())?, end))
            }
            Expr::Name { .. } | Expr::Local(_) => Some(span),
            _ => None,
        }
    }

    /// How a count is written, through the definitions of variables.
    pub(super) fn count_shape(&self, expr: ExprId) -> CountShape {
        let mut shape = CountShape { text: self.text(expr).to_owned(), span: self.span(expr), ..CountShape::default() };
        self.read_count(expr, &mut shape, 0);
        shape
    }

    fn read_count(&self, expr: ExprId, shape: &mut CountShape, depth: u32) {
        if depth > MAX_DEFINITIONS {
            shape.opaque = true;
            return;
        }
        match self.kind(expr) {
            Some(Expr::Int { .. }) => {}
            Some(Expr::Binary(_, a, b)) => {
                self.read_count(*a, shape, depth + 1);
                self.read_count(*b, shape, depth + 1);
            }
            Some(Expr::Member { name, .. }) if name == "size" => {}
            // `a.shape[0]`, and a whole shape where it is taken apart.
            Some(Expr::Member { name, .. }) if name == "shape" => {}
            Some(Expr::Index { base, .. }) if matches!(self.kind(*base), Some(Expr::Member { name, .. }) if name == "shape") =>
                {}
            Some(Expr::Call { callee, args }) => {
                let plain = match self.kind(*callee) {
                    Some(Expr::Name { path, .. }) => path.last().is_some_and(|name| name == "int" || name == "len"),
                    Some(Expr::Member { name, .. }) => name == "prod",
                    _ => false,
                };
                match (plain, args.as_slice()) {
                    (true, [one]) if !matches!(self.kind(*callee), Some(Expr::Name { path, .. }) if path.last().is_some_and(|name| name == "len")) =>
                    {
                        self.read_count(*one, shape, depth + 1);
                    }
                    (true, [_]) => {}
                    _ => shape.opaque = true,
                }
            }
            Some(Expr::Local(_) | Expr::Name { .. }) => match (self.definition(expr), self.kind(expr)) {
                (Some(value), _) => self.read_count(value, shape, depth + 1),
                // A number that the caller chooses: what it counts is seen where an array has as many elements.
                (None, Some(Expr::Local(local))) if matches!(self.local(*local).kind, Kind::Open(_)) => {}
                _ => shape.opaque = true,
            },
            // `a.nbytes`, `dtype.itemsize`, and everything that is not followed: perhaps bytes.
            _ => shape.opaque = true,
        }
    }

    /// The one expression that a variable of this function gets its value from.
    pub(super) fn definition(&self, variable: ExprId) -> Option<ExprId> {
        let function = self.function()?;
        let body = function.body.as_ref()?;
        let wanted = self.variable(variable)?;
        if let Variable::Local(local) = wanted
            && local.0 < function.param_count
        {
            return None;
        }
        let at = (self.module_id(), self.frames.last()?.function?);
        let mut definitions = self.definitions.borrow_mut();
        let known = definitions.entry(at).or_insert_with(|| {
            let mut all = Definitions::default();
            walk(self.module(), function, body, |item| {
                let Item::Expr(id) = item else { return true };
                let (target, value) = match self.kind(id) {
                    Some(Expr::Assign { op: None, target, value }) => (*target, Some(*value)),
                    Some(Expr::Assign { target, .. } | Expr::Step { target, .. }) => (*target, None),
                    _ => return true,
                };
                if let Some(variable) = self.variable(target) {
                    // A second one leaves none.
                    all.entry(variable).and_modify(|value| *value = None).or_insert(value);
                }
                true
            });
            all
        });
        known.get(&wanted).copied().flatten()
    }

    fn variable(&self, id: ExprId) -> Option<Variable> {
        match self.kind(id)? {
            Expr::Local(local) => Some(Variable::Local(*local)),
            Expr::Name { path, .. } => Some(Variable::Global(path.segments.clone())),
            _ => None,
        }
    }

    /// Where a block is computed by a division by what stands in the grid's place: the two were probably exchanged.
    pub(super) fn divided_by_grid(&self, grid: ExprId, block: ExprId) -> Option<Site> {
        let (grid, block) = (self.only_element(grid), self.only_element(block));
        let same = |by: ExprId| match (self.kind(by), self.kind(grid)) {
            (Some(Expr::Local(a)), Some(Expr::Local(b))) => a == b,
            (Some(Expr::Name { path: a, .. }), Some(Expr::Name { path: b, .. })) => a.segments == b.segments,
            (Some(Expr::Int { value: a, .. }), Some(Expr::Int { value: b, .. })) => a == b && *a > 1,
            _ => false,
        };
        let value = self.definition(block).map_or(block, |value| self.only_element(value));
        let mut found = None;
        cudalint_program::visit::walk_expr(self.module(), value, |id, kind| {
            use cudalint_program::ir::BinaryOp::{Div, FloorDiv, TrueDiv};
            if let Expr::Binary(Div | FloorDiv | TrueDiv, _, by) = kind
                && same(*by)
            {
                found.get_or_insert(self.expr_site(id));
            }
            found.is_none()
        });
        found.filter(|_| !crate::host::names_agree(self.name_of(grid), self.name_of(block)))
    }

    fn name_of(&self, variable: ExprId) -> &str {
        match self.kind(variable) {
            Some(Expr::Local(local)) => {
                self.function().and_then(|function| function.locals.get(*local)).map_or("", |local| &local.name)
            }
            Some(Expr::Name { path, .. }) => path.last().map_or("", |name| name.as_str()),
            _ => "",
        }
    }

    /// `x` of `(x,)` and `(x, 1, 1)`.
    fn only_element(&self, expr: ExprId) -> ExprId {
        let Some(Expr::Python(python)) = self.kind(expr) else { return expr };
        let cudalint_program::ir::PythonExpr::Tuple(all) = &**python else { return expr };
        let one = |id: &ExprId| matches!(self.kind(*id), Some(Expr::Int { value: 1, .. }));
        match all.split_first() {
            Some((first, rest)) if rest.iter().all(one) => *first,
            _ => expr,
        }
    }

    /// Whether a package hands over an array's own bytes where a kernel takes an address: an array on the host, not of one
    /// element that may be an address itself. `PyCUDA`: `driver.py`, `_build_arg_buf`; `CuPy`: `function.pyx`, `CNumpyArray`.
    pub(super) fn goes_by_value(&self, array: &Array) -> bool {
        let space = self.heap.buffer(array.buffer).map(|buffer| buffer.info.space);
        let address = match array.dtype {
            Dtype::Int { bytes: 8, .. } => array.size().q.known().is_none_or(|count| count == 1),
            Dtype::Unknown | Dtype::Other | Dtype::Record { .. } => true,
            _ => false,
        };
        array.lib == Lib::Numpy && matches!(space, Some(MemorySpace::Host | MemorySpace::Pinned)) && !address
    }

    /// `np.asarray(a)` of an array of `CuPy`, which raises an exception: a `TypeError` about an implicit conversion.
    pub(super) fn converted_on_host(&mut self, id: ExprId, value: &Val, expr: ExprId) {
        let site = self.expr_site(id);
        let caught = self.frames.iter().any(|frame| frame.tries > 0);
        if !caught && self.wants(site) {
            let argument = self.pointer_argument(value, expr);
            self.emit(EventKind::HostAccess { argument, write: false }, site, &[]);
        }
    }
}

/// The memory behind a value, where its bytes lie in one piece.
fn place_of(value: &Val) -> Option<(ObjId, Quantity)> {
    match &value.kind {
        Kind::Memory(id, offset) => Some((*id, offset.clone())),
        Kind::Array(array) if matches!(array.layout, Layout::C | Layout::Fortran) => {
            Some((array.buffer, array.offset.clone()))
        }
        _ => None,
    }
}
