//! Types of the program form as types of [`crate::code`], with the layout of aggregates.

use super::state::{Field, Lowerer};
use crate::code::{self, Layout, Leaf, MAX_LEAVES};
use cudalint_numbers::Quantity;
use cudalint_program::ir::{self, Type, TypeId};
use cudalint_program::layout::vector as vector_layout;
use cudalint_program::types::{Argument, Ty, TypeEnv, lane_named};
use cudalint_program::{Entry, Name, Scope};
use std::sync::Arc;

/// Deepest nesting of records and arrays.
const MAX_NESTING: u32 = 24;

impl<'p> Lowerer<'p> {
    /// A type of the current module, resolved.
    pub(super) fn resolve(&self, ty: TypeId) -> Ty {
        match self.context.ir.types.get(ty) {
            Some(Type::Int { bytes, signed }) => Ty::Int { bytes: *bytes, signed: *signed },
            Some(Type::Float { bytes }) => Ty::Float { bytes: *bytes },
            Some(Type::Bool) => Ty::Bool,
            Some(Type::Void) => Ty::Void,
            _ => canonical(self.context.scope.resolve(ty)),
        }
    }

    /// The type as execution sees it.
    pub(super) fn ty(&mut self, ty: &Ty) -> code::Ty {
        self.ty_within(ty, 0)
    }

    fn ty_within(&mut self, ty: &Ty, nesting: u32) -> code::Ty {
        if nesting > MAX_NESTING {
            return code::Ty::Opaque { bytes: None };
        }
        match ty {
            Ty::Void => code::Ty::Void,
            Ty::Bool => code::Ty::Bool,
            Ty::Int { bytes, signed } | Ty::Enum { bytes, signed, .. } => {
                code::Ty::Int { bytes: *bytes, signed: *signed }
            }
            Ty::Float { bytes } => code::Ty::Float { bytes: *bytes },
            Ty::Pointer(_) | Ty::Reference(_) => code::Ty::Pointer,
            Ty::Record(entry, env) => self.record(*entry, env, ty, nesting),
            Ty::Vector { .. } | Ty::Array(..) => self.aggregate(ty, nesting),
            Ty::Library(..) if self.closure_of(ty).is_some() => self.aggregate(ty, nesting),
            Ty::Library(..) if super::library_types::is_handle(ty) => code::Ty::Pointer,
            // A group has no contents: its type says all.
            Ty::Library(..) if super::groups::kind_of(ty).is_some() => code::Ty::INT,
            Ty::Library(name, args) => {
                let bytes = self.context.scope.size_of(ty).and_then(|bytes| u32::try_from(bytes).ok());
                match library_scalar(name, args) {
                    Some(inner) => self.ty_within(&inner, nesting + 1),
                    None => code::Ty::Opaque { bytes },
                }
            }
            Ty::Function | Ty::Auto | Ty::Unknown => code::Ty::Opaque { bytes: None },
        }
    }

    fn record(&mut self, entry: Entry, env: &TypeEnv, ty: &Ty, nesting: u32) -> code::Ty {
        let key = (entry.module.0, entry.index);
        if let Some(known) = self.types.layouts.get(&key).and_then(|all| all.iter().find(|(other, _)| other == env)) {
            return known.1.clone();
        }
        let found = self.aggregate(ty, nesting);
        self.types.layouts.entry(key).or_default().push((env.clone(), found.clone()));
        found
    }

    fn aggregate(&mut self, ty: &Ty, nesting: u32) -> code::Ty {
        let Some(bytes) = self.size_of(ty) else { return code::Ty::Opaque { bytes: None } };
        let mut leaves = Vec::new();
        if !self.leaves(ty, 0, &mut leaves, nesting + 1) {
            leaves.clear();
        }
        let align = self.align_of(ty, nesting);
        code::Ty::Aggregate(Arc::new(Layout { bytes, align, leaves }))
    }

    /// The alignment that an access of the type needs.
    fn align_of(&mut self, ty: &Ty, nesting: u32) -> u32 {
        match ty {
            Ty::Vector { lane, lanes, .. } => {
                let layout = vector_layout(i64::from(lane.bytes()), i64::from(*lanes));
                layout.and_then(|layout| u32::try_from(layout.align).ok()).unwrap_or(1)
            }
            Ty::Array(of, _) => self.align_of(of, nesting),
            Ty::Record(entry, env) => self.record_align(*entry, env, nesting).unwrap_or(1),
            other => self.ty_within(other, nesting + 1).align(),
        }
    }

    fn record_align(&mut self, entry: Entry, env: &TypeEnv, nesting: u32) -> Option<u32> {
        if nesting > MAX_NESTING {
            return None;
        }
        let record = self.project.record_at(entry)?;
        let scope = self.scope_in(entry, env)?;
        let mut align = record.align.and_then(|align| scope.eval(align)).and_then(|align| u32::try_from(align).ok());
        let parts: Vec<TypeId> = record.fields.iter().map(|field| field.ty).chain(record.bases.clone()).collect();
        for part in parts {
            let of = self.align_of(&scope.resolve(part), nesting + 1);
            align = Some(align.unwrap_or(1).max(of));
        }
        Some(align.unwrap_or(1))
    }

    /// The inside of a record, where its fields are declared.
    pub(super) fn scope_in(&self, entry: Entry, env: &TypeEnv) -> Option<Scope<'p>> {
        let record = self.project.record_at(entry)?;
        Some(Scope::inside(self.project, entry.module, record.scope.within(record.name.clone()), env))
    }

    /// Appends the scalars of a type; false where they cannot be told apart, or are too many.
    fn leaves(&mut self, ty: &Ty, at: u32, out: &mut Vec<Leaf>, nesting: u32) -> bool {
        if nesting > MAX_NESTING || out.len() > MAX_LEAVES {
            return false;
        }
        match ty {
            Ty::Vector { lane, lanes, .. } => {
                out.extend((0..u32::from(*lanes)).map(|number| Leaf {
                    offset: at + number * u32::from(lane.bytes()),
                    ty: code::Ty::of_scalar(*lane),
                }));
                out.len() <= MAX_LEAVES
            }
            Ty::Array(of, Quantity::Known(count)) => {
                let (Some(size), Ok(count)) = (self.size_of(of), u32::try_from(*count)) else { return false };
                if count as usize > MAX_LEAVES {
                    return false;
                }
                (0..count).all(|index| self.leaves(of, at + index * size, out, nesting + 1))
            }
            Ty::Record(entry, env) => self.record_leaves(*entry, env, at, out, nesting),
            Ty::Library(..) if self.closure_of(ty).is_some() => self.closure_leaves(ty, at, out, nesting),
            other => match self.ty_within(other, nesting) {
                code::Ty::Aggregate(layout) => {
                    out.extend(layout.leaves.iter().map(|leaf| Leaf { offset: at + leaf.offset, ty: leaf.ty.clone() }));
                    !layout.leaves.is_empty() && out.len() <= MAX_LEAVES
                }
                code::Ty::Void | code::Ty::Opaque { bytes: None } => false,
                scalar => {
                    out.push(Leaf { offset: at, ty: scalar });
                    out.len() <= MAX_LEAVES
                }
            },
        }
    }

    fn record_leaves(&mut self, entry: Entry, env: &TypeEnv, at: u32, out: &mut Vec<Leaf>, nesting: u32) -> bool {
        let Some(record) = self.project.record_at(entry) else { return false };
        if record.is_union || record.has_virtual {
            return false;
        }
        let Some(scope) = self.scope_in(entry, env) else { return false };
        for base in &record.bases {
            let base = scope.resolve(*base);
            let Ty::Record(base_entry, _) = &base else { return false };
            let empty = self
                .project
                .record_at(*base_entry)
                .is_some_and(|base| base.fields.is_empty() && base.bases.is_empty() && !base.has_virtual);
            if empty {
                continue;
            }
            let Some(offset) = self.base_offset(&Ty::Record(entry, env.clone()), &base) else { return false };
            if !self.leaves(&base, at + offset, out, nesting + 1) {
                return false;
            }
        }
        let Some(offsets) = scope.field_offsets(&Ty::Record(entry, env.clone())) else { return false };
        for (field, offset) in record.fields.iter().zip(offsets) {
            let Ok(offset) = u32::try_from(offset) else { return false };
            if field.name.is_empty() {
                return false;
            }
            let ty = canonical(scope.resolve(field.ty));
            let whole = match &ty {
                Ty::Reference(_) => {
                    out.push(Leaf { offset: at + offset, ty: code::Ty::Pointer });
                    true
                }
                ty => self.leaves(ty, at + offset, out, nesting + 1),
            };
            if !whole {
                return false;
            }
        }
        out.len() <= MAX_LEAVES
    }

    /// Where a base begins in a record that derives from it; `None` where it cannot be told.
    pub(super) fn base_offset(&self, record: &Ty, base: &Ty) -> Option<u32> {
        let Ty::Record(entry, _) = base else { return None };
        if record == base {
            return Some(0);
        }
        let found = self.project.record_at(*entry)?;
        let Some(first) = found.fields.iter().find(|field| !field.name.is_empty()) else { return Some(0) };
        let scope = &self.context.scope;
        u32::try_from(scope.offset_of(record, &first.name)? - scope.offset_of(base, &first.name)?).ok()
    }

    /// Size in bytes.
    pub(super) fn size_of(&self, ty: &Ty) -> Option<u32> {
        match ty {
            Ty::Bool => Some(1),
            Ty::Int { bytes, .. } | Ty::Float { bytes } | Ty::Enum { bytes, .. } => Some(u32::from(*bytes)),
            Ty::Pointer(_) => Some(8),
            // Arithmetic on `void*` counts bytes in GNU C++.
            Ty::Void => Some(1),
            Ty::Vector { lane, lanes, .. } => Some(u32::from(lane.bytes()) * u32::from(*lanes)),
            Ty::Array(of, count) => self.size_of(of)?.checked_mul(u32::try_from(count.known()?).ok()?),
            Ty::Library(name, args) => {
                if super::library_types::is_handle(ty) {
                    return Some(8);
                }
                if super::groups::kind_of(ty).is_some() {
                    return Some(4);
                }
                if let Some(closure) = self.closure_of(ty) {
                    return Some(self.closures.get(closure)?.bytes);
                }
                if let Some(inner) = library_scalar(name, args) {
                    return self.size_of(&inner);
                }
                u32::try_from(self.context.scope.size_of(ty)?).ok()
            }
            Ty::Record(..) => u32::try_from(self.context.scope.size_of(ty)?).ok(),
            Ty::Reference(to) => self.size_of(to),
            Ty::Function | Ty::Auto | Ty::Unknown => None,
        }
    }

    /// A field of a record, in it or in its bases.
    pub(super) fn field(&mut self, of: &Ty, name: &Name) -> Option<Field> {
        match of {
            Ty::Vector { lane, lanes, .. } => {
                let at = lane_named(name).filter(|at| at < lanes)?;
                Some(Field { offset: u32::from(at) * u32::from(lane.bytes()), ty: Ty::of_scalar(*lane) })
            }
            Ty::Record(entry, env) => {
                let key = (entry.module.0, entry.index, name.clone());
                if let Some(known) = self.types.fields.get(&key).and_then(|all| all.iter().find(|it| it.0 == *env)) {
                    return known.1.clone();
                }
                let ty = canonical(self.context.scope.member(of, name));
                let found = if ty == Ty::Unknown {
                    None
                } else {
                    let is_union = self.project.record_at(*entry).is_some_and(|record| record.is_union);
                    let offset = match self.context.scope.offset_of(of, name) {
                        // Whatever else is in a union, this begins where it does.
                        None if is_union => Some(0),
                        offset => offset.and_then(|offset| u32::try_from(offset).ok()),
                    };
                    offset.map(|offset| Field { offset, ty })
                };
                self.types.fields.entry(key).or_default().push((env.clone(), found.clone()));
                found
            }
            _ => None,
        }
    }

    /// Which leaves of a type lie in these bytes: the first and how many.
    pub(super) fn leaf_range(&mut self, of: &Ty, offset: u32, part: &Ty) -> Option<(u16, u16)> {
        let code::Ty::Aggregate(layout) = self.ty(of) else { return None };
        let bytes = match part {
            Ty::Reference(_) => 8,
            part => self.size_of(part)?,
        };
        let first = layout.leaves.iter().position(|leaf| leaf.offset >= offset)?;
        let count = layout.leaves.iter().skip(first).take_while(|leaf| leaf.offset < offset + bytes).count();
        (layout.leaves.get(first)?.offset == offset && count > 0).then_some((first as u16, count as u16))
    }
}

/// Whether `volatile` stands anywhere in a type as written.
pub(super) fn is_volatile(module: &ir::Module, ty: TypeId) -> bool {
    any_qualifier(module, ty, |_, is_volatile| is_volatile)
}

/// Whether a type as written is `const T&`.
pub(super) fn is_const_reference(module: &ir::Module, ty: TypeId) -> bool {
    match module.types.get(ty) {
        Some(Type::Reference(to)) => {
            matches!(module.types.get(*to), Some(Type::Qualified { is_const: true, is_volatile: false, .. }))
        }
        _ => false,
    }
}

fn any_qualifier(module: &ir::Module, ty: TypeId, test: impl Fn(bool, bool) -> bool) -> bool {
    let mut ty = module.types.get(ty);
    for _ in 0..12 {
        match ty {
            Some(Type::Qualified { ty: inner, is_const, is_volatile }) => {
                if test(*is_const, *is_volatile) {
                    return true;
                }
                ty = module.types.get(*inner);
            }
            Some(Type::Pointer(inner) | Type::Reference(inner) | Type::Array(inner, _)) => {
                ty = module.types.get(*inner);
            }
            _ => return false,
        }
    }
    false
}

/// Library types that are plain arrays or vectors, as such.
pub(super) fn canonical(ty: Ty) -> Ty {
    match &ty {
        Ty::Library(name, args) => library_aggregate(name, args).unwrap_or(ty),
        Ty::Reference(to) if matches!(**to, Ty::Library(..)) => Ty::Reference(Arc::new(canonical((**to).clone()))),
        Ty::Pointer(to) if matches!(**to, Ty::Library(..)) => Ty::Pointer(Arc::new(canonical((**to).clone()))),
        _ => ty,
    }
}

fn library_aggregate(name: &str, args: &[Argument]) -> Option<Ty> {
    match name {
        "cuComplex" | "cuFloatComplex" | "cufftComplex" => Some(Ty::vector("float2")),
        "cuDoubleComplex" | "cufftDoubleComplex" => Some(Ty::vector("double2")),
        "std::array" | "cuda::std::array" => match args {
            [Argument::Type(of), Argument::Value(count)] => Some(Ty::Array(Arc::new(of.clone()), count.clone())),
            _ => None,
        },
        _ => None,
    }
}

/// Library types that are one scalar in memory.
fn library_scalar(name: &str, args: &[Argument]) -> Option<Ty> {
    match (name, args) {
        ("cuda::atomic" | "cuda::std::atomic" | "std::atomic", [Argument::Type(of), ..]) => Some(of.clone()),
        ("cudaTextureObject_t" | "cudaSurfaceObject_t" | "cudaStream_t", _) => None,
        _ => None,
    }
}
