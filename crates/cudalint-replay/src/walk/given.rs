//! What a launch hands over, and what copies and sets leave in memory.

use super::{Out, Walker};
use crate::facts::{Amount, MemorySpace, Pointer, Site};
use crate::given::{Given, GivenField, Held, HeldContents};
use crate::memory::{CellPath, Key, extend};
use crate::only_read::only_read;
use crate::parameters::reads_only;
use crate::quantity::{Assumptions, Quantity, union};
use crate::value::{Int, Kind, Ptr, Val};
use cudalint_program::ir::{FunctionId, LocalId, ModuleId, Space};
use cudalint_program::types::{Container, Ty, TypeEnv};
use std::sync::Arc;

/// The way to a part of a record as code spells it.
fn way_to(path: &[Key]) -> String {
    let fields = path.iter().filter_map(|key| match key {
        Key::Field(name) => Some(format!(".{name}")),
        Key::At(_) => None,
    });
    fields.collect()
}

/// Most integers of a host array that a copy carries over.
const MAX_INTEGERS: i64 = 4096;

impl Walker<'_> {
    /// What each parameter of a kernel is given.
    pub fn given(&mut self, kernel: Option<(ModuleId, FunctionId)>, env: &TypeEnv, args: &[Out]) -> Vec<Given> {
        let Some((module, id)) = kernel else { return Vec::new() };
        let Some(function) = self.project.function_at(module, id) else { return Vec::new() };
        (0..function.param_count as usize)
            .map(|index| {
                let Some(parameter) = function.locals.get(LocalId::from(index)) else { return Given::Unknown };
                let ty = self.resolve_in(module, function, env, parameter.ty);
                match args.get(index) {
                    Some(out) => {
                        let ty = if ty.is_unknown() { out.ty.clone() } else { ty };
                        let val = self.admit(out.val.clone());
                        self.given_value(&val, ty.value(), 0)
                    }
                    // What the launch leaves out has its default.
                    None => match parameter.init {
                        Some(init) => {
                            self.push_frame(module, Some(id), env.clone(), None);
                            let out = self.eval(init);
                            self.frames.pop();
                            self.given_value(&out.val, ty.value(), 0)
                        }
                        None => Given::Unknown,
                    },
                }
            })
            .collect()
    }

    fn given_value(&mut self, val: &Val, ty: &Ty, depth: u32) -> Given {
        match ty {
            Ty::Pointer(_) | Ty::Array(..) => self.given_pointer(val),
            Ty::Library(..) if matches!(ty.container(), Some((Container::DevicePointer, ..))) => {
                self.given_pointer(val)
            }
            Ty::Int { bytes, signed } => self.given_integer(val, *bytes, *signed),
            Ty::Bool => {
                let truth = crate::arith::convert(&mut self.atoms, val, ty);
                self.given_integer(&truth, 1, false)
            }
            Ty::Float { .. } => match crate::arith::convert(&mut self.atoms, val, ty) {
                Val { kind: Kind::Float(value), why } => Given::Float { value, assumptions: why },
                _ => Given::Unknown,
            },
            Ty::Vector { .. } | Ty::Record(..) if depth == 0 => match &val.kind {
                Kind::Aggregate(parts) => {
                    let cells = parts.cells.clone();
                    let mut known = Vec::new();
                    for (path, value) in cells.iter() {
                        let Some((offset, leaf)) = self.leaf(ty, path) else { continue };
                        let value = self.admit(value.clone()).because(&val.why);
                        match self.given_value(&value, &leaf, 1) {
                            Given::Unknown => {}
                            given => known.push(GivenField { offset, way: way_to(path), given }),
                        }
                    }
                    known.sort_by_key(|field| field.offset);
                    Given::Record(known)
                }
                _ => Given::Unknown,
            },
            _ => Given::Unknown,
        }
    }

    fn given_integer(&mut self, val: &Val, bytes: u8, signed: bool) -> Given {
        let converted = crate::arith::convert(&mut self.atoms, val, &Ty::Int { bytes, signed });
        let amount = self.amount(&converted);
        if amount.quantity.is_unknown() { Given::Unknown } else { Given::Int { amount, bytes, signed } }
    }

    fn given_pointer(&mut self, val: &Val) -> Given {
        match self.pointer(val) {
            Pointer::Null => Given::Null { assumptions: val.why.clone() },
            Pointer::Into { buffer, offset } => {
                let held = match &val.kind {
                    Kind::Ptr(pointer) => self.held(pointer),
                    _ => None,
                };
                Given::Pointer { buffer: Box::new(buffer), offset, held }
            }
            Pointer::Somewhere { .. } | Pointer::Unknown | Pointer::Uninitialized { .. } => Given::Somewhere,
        }
    }

    /// The byte offset and type of a scalar in an aggregate.
    fn leaf(&mut self, ty: &Ty, path: &[Key]) -> Option<(u64, Ty)> {
        let mut offset = 0_i64;
        let mut ty = ty.clone();
        for key in path {
            match key {
                Key::At(at) => {
                    offset = offset.checked_add(*at)?;
                    ty = ty.pointee().cloned()?;
                }
                Key::Field(name) => {
                    offset = offset.checked_add(self.field_offset(&ty, name)?)?;
                    ty = self.field_type(&ty, name)?;
                }
            }
        }
        Some((u64::try_from(offset).ok()?, ty))
    }

    /// What the memory behind a pointer holds.
    fn held(&self, pointer: &Ptr) -> Option<Arc<Held>> {
        let object = self.memory.get(pointer.obj);
        if self.capturing {
            return None;
        }
        match (&object.held, object.info.space) {
            (Some(held), _) => Some(Arc::clone(held)),
            // Host code writes managed and pinned memory itself.
            (None, MemorySpace::Managed | MemorySpace::Pinned) => {
                let start = Ptr { offset: Quantity::Known(0), path: crate::memory::root(), ..pointer.clone() };
                self.integers(&start, MAX_INTEGERS)
            }
            _ => None,
        }
    }

    /// What the `__constant__` variables hold that copies have filled, in the order of their declarations.
    pub(super) fn constants(&self) -> Vec<(Site, Arc<Held>)> {
        let mut known: Vec<(Site, Arc<Held>)> = Vec::new();
        if self.capturing {
            return known;
        }
        for ((module, index), object) in &self.globals {
            let variable = self.project.module(*module).globals.get(*index as usize);
            let held = self.memory.get(*object).held.as_ref();
            if let (Some(variable), Some(held)) = (variable, held)
                && variable.space == Space::Constant
                && self.memory.own.contains(*object)
            {
                known.push((Site { module: *module, span: variable.span }, Arc::clone(held)));
            }
        }
        known.sort_by_key(|(site, _)| (site.module, site.span.start));
        known
    }

    /// The integers that a host array is known to hold from a pointer on, at most so many bytes' worth.
    fn integers(&self, from: &Ptr, most: i64) -> Option<Arc<Held>> {
        let object = self.memory.get(from.obj);
        let first = from.offset.known()?;
        let whole = object.read(&from.path);
        if whole.is_zeroed() {
            return Some(Arc::new(Held { contents: HeldContents::Filled(0), assumptions: whole.why }));
        }
        if let Kind::Int(Int { q, bytes, .. }) = &whole.kind {
            let known = first == 0 && *bytes > 0 && !q.is_unknown();
            let contents = HeldContents::Integers { bytes: *bytes, values: vec![q.clone()] };
            return known.then(|| Arc::new(Held { contents, assumptions: whole.why.clone() }));
        }
        let Kind::Aggregate(parts) = &whole.kind else { return None };
        let mut values = Vec::new();
        let mut why = parts.whole.why.clone();
        let mut width = None;
        let mut at = first;
        while at - first < most {
            let path: CellPath = extend(&crate::memory::root(), Key::At(at));
            let Some(cell) = parts.cells.get(&path) else { break };
            let (q, bytes) = match &cell.kind {
                Kind::Int(Int { q, bytes, .. }) if *bytes > 0 => (q.clone(), *bytes),
                _ if cell.is_zeroed() => (Quantity::Known(0), width?),
                _ => break,
            };
            if q.is_unknown() || *width.get_or_insert(bytes) != bytes {
                break;
            }
            why = union(&why, &cell.why);
            values.push(q);
            at += i64::from(bytes);
        }
        let bytes = width?;
        Some(Arc::new(Held { contents: HeldContents::Integers { bytes, values }, assumptions: why }))
    }

    /// What a copy leaves behind: called with what was there before, after the destination has been forgotten.
    pub fn held_after_copy(&mut self, old: Option<Arc<Held>>, to: &Out, from: &Out, bytes: &Val) {
        let Kind::Ptr(target) = &to.val.kind else { return };
        let target = target.clone();
        if self.memory.get(target.obj).info.space == MemorySpace::Host {
            return;
        }
        let why = union(&to.val.why, &bytes.why);
        let (offset, length) = (self.byte_offset(&target), bytes.quantity());
        let copied = match (&from.val.kind, length.known(), offset.known()) {
            (Kind::Ptr(source), Some(length), Some(0)) if length <= 8 * MAX_INTEGERS => {
                let source = source.clone();
                let space = self.memory.get(source.obj).info.space;
                if space == MemorySpace::Host { self.integers(&source, length) } else { None }
            }
            _ => None,
        };
        // What it rests on that all of it is known.
        let exact = match copied.as_deref() {
            Some(Held { contents: HeldContents::Filled(_), .. }) => self.covers(&target, &length),
            Some(Held { contents: HeldContents::Integers { bytes, values }, .. }) => {
                // Fewer would leave open what follows; what was there before is forgotten either way.
                (length.known() == Some(i64::from(*bytes) * values.len() as i64)).then_some(None)
            }
            _ => None,
        };
        let held = match (copied, exact) {
            (Some(copied), Some(whole)) => {
                Some(Arc::new(Held::because(&copied, &union(&whole, &union(&why, &from.val.why)))))
            }
            _ => Held::after_write(old.as_deref(), offset, length, &why),
        };
        self.memory.set_held(target.obj, held);
    }

    /// What a set leaves behind.
    pub fn held_after_set(&mut self, old: Option<Arc<Held>>, to: &Out, value: &Val, bytes: &Val, unit: i64) {
        let Kind::Ptr(target) = &to.val.kind else { return };
        let target = target.clone();
        let why = union(&to.val.why, &bytes.why);
        let (offset, length) = (self.byte_offset(&target), bytes.quantity());
        let byte = match value.known() {
            Some(value) if unit == 1 => Some(value as u8),
            Some(0) => Some(0),
            _ => None,
        };
        let whole = if offset.known() == Some(0) { self.covers(&target, &length) } else { None };
        let held = match (byte, whole) {
            (Some(byte), Some(whole)) => {
                let assumptions = union(&whole, &union(&why, &value.why));
                Some(Arc::new(Held { contents: HeldContents::Filled(byte), assumptions }))
            }
            _ => Held::after_write(old.as_deref(), offset, length, &why),
        };
        self.memory.set_held(target.obj, held);
    }

    /// What the memory behind a pointer value held so far.
    pub fn held_before(&self, to: &Out) -> Option<Arc<Held>> {
        match &to.val.kind {
            Kind::Ptr(pointer) => self.memory.get(pointer.obj).held.clone(),
            _ => None,
        }
    }

    /// Where so many bytes are the whole object: what its size rests on.
    fn covers(&mut self, target: &Ptr, length: &Quantity) -> Option<Assumptions> {
        let whole = self.buffer(target.obj).bytes;
        whole.quantity.surely_equals(length).then_some(whole.assumptions)
    }

    fn byte_offset(&mut self, pointer: &Ptr) -> Quantity {
        match self.pointer(&Val::from(Kind::Ptr(pointer.clone()))) {
            Pointer::Into { offset: Amount { quantity, .. }, .. } => quantity,
            _ => Quantity::Unknown,
        }
    }

    /// A pointer goes where it is not followed.
    pub fn escape_pointers(&mut self, val: &Val) {
        self.memory.escape_from(val);
    }

    /// Whether a kernel's parameter is a pointer through which nothing can be written.
    pub fn reads_only(&self, kernel: Option<(ModuleId, FunctionId)>, index: usize) -> bool {
        kernel.is_some_and(|kernel| reads_only(self.project, kernel, index))
    }

    /// Whether a kernel's code only reads through a parameter, whatever its type allows.
    pub fn only_reads(&self, kernel: Option<(ModuleId, FunctionId)>, index: usize) -> bool {
        let Some(kernel) = kernel else { return false };
        let find = || {
            let function = self.project.function_at(kernel.0, kernel.1)?;
            Some(only_read(self.project.module(kernel.0), function))
        };
        let mut known = self.caches.learned.only_read.borrow_mut();
        let only = known.entry(kernel).or_insert_with(|| find().unwrap_or_default().into());
        only.get(index).is_some_and(|only| *only)
    }

    /// A value is part of something that is not understood: a launch, for all that is known.
    pub fn lose(&mut self, out: &Out) {
        self.escape_pointers(&out.val);
        self.memory.reached_by_device(&out.val, false);
    }
}
