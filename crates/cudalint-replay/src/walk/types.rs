//! Types as the walk sees them: the program says what a name means and how records are laid out, the walk what variables
//! in extents and template arguments hold.

use super::{Out, Walker};
use crate::memory::Place;
use crate::quantity::Quantity;
use crate::value::{Kind, Val};
use cudalint_numbers::Scalar;
use cudalint_program::ir::{ExprId, Function, FunctionId, ModuleId, Path, TemplateArg, TemplateParam, TypeId};
use cudalint_program::types::{Argument, Container, Ty, TypeEnv, lane_named, last_segment};
use cudalint_program::{Entry, Evaluate, Name, Scope};
use std::cell::RefCell;
use std::sync::Arc;

/// How deep types may nest.
const MAX_TYPE_DEPTH: u32 = 24;

/// A walk that is asked for values while a type is resolved.
struct Asked<'w, 'p>(RefCell<&'w mut Walker<'p>>);

impl Evaluate for Asked<'_, '_> {
    fn value(&self, expr: ExprId) -> Argument {
        let val = self.0.borrow_mut().eval(expr).val;
        match val.kind {
            Kind::Int(int) if val.why.is_none() => Argument::Value(int.q),
            Kind::Function(module, function, env) => Argument::Function(module, function, env),
            _ => Argument::Unknown,
        }
    }

    fn type_of(&self, expr: ExprId) -> Ty {
        let mut walker = self.0.borrow_mut();
        walker.dry += 1;
        let mark = walker.memory.mark();
        let ty = walker.eval(expr).ty.value().clone();
        walker.memory.undo(mark);
        walker.dry -= 1;
        ty
    }
}

impl<'p> Walker<'p> {
    /// The place in the code where the walk is.
    fn here(&self) -> Option<Scope<'p>> {
        let frame = self.frames.last()?;
        Some(Scope::open(self.project, frame.module, frame.function, &frame.env))
    }

    /// A type of the current frame's module under its template arguments.
    pub fn resolve(&mut self, ty: TypeId) -> Ty {
        let Some(frame) = self.frames.last() else { return Ty::Unknown };
        if let Some(plain) = super::lookups::plain_type(self.project.module(frame.module), ty) {
            return plain;
        }
        let key = frame.env.is_empty().then_some((frame.module, frame.function, ty));
        if let Some(known) = key.and_then(|key| self.caches.resolved.borrow().get(&key).cloned()) {
            return known;
        }
        let Some(here) = self.here() else { return Ty::Unknown };
        let steps = self.budget.steps;
        let resolved = as_host(&here.resolve_by(ty, &Asked(RefCell::new(self))), 0);
        // A count that had to be evaluated may be another one the next time.
        if let Some(key) = key.filter(|_| self.budget.steps == steps && self.budget.stopped.is_none()) {
            self.caches.resolved.borrow_mut().insert(key, resolved.clone());
        }
        resolved
    }

    /// A type in the signature of a function, with these template arguments.
    pub fn resolve_in(&self, module: ModuleId, function: &Function, env: &TypeEnv, ty: TypeId) -> Ty {
        super::lookups::plain_type(self.project.module(module), ty).unwrap_or_else(|| {
            as_host(&Scope::inside(self.project, module, function.scope.clone(), env).resolve(ty), 0)
        })
    }

    /// The type of a field or base of a record with these template arguments.
    pub fn part_type(&self, entry: Entry, env: &TypeEnv, ty: TypeId) -> Ty {
        let module = entry.module;
        if let Some(plain) = super::lookups::plain_type(self.project.module(module), ty) {
            return plain;
        }
        let key = (module, None, ty);
        if let Some(known) = self.caches.resolved.borrow().get(&key).filter(|_| env.is_empty()) {
            return known.clone();
        }
        let inside = self.project.record_at(entry).map(|record| record.scope.within(record.name.clone()));
        let found = Scope::inside(self.project, module, inside.unwrap_or_default(), env).resolve(ty);
        let found = as_host(&found, 0);
        if env.is_empty() {
            self.caches.resolved.borrow_mut().insert(key, found.clone());
        }
        found
    }

    /// The arguments written at a use of a function template.
    pub fn explicit_env(&mut self, module: ModuleId, function: FunctionId, targs: &[TemplateArg]) -> TypeEnv {
        let Some(function) = self.project.function_at(module, function) else { return TypeEnv::default() };
        self.explicit(&function.template_params, targs)
    }

    /// Parameters with the arguments that are written for them.
    pub fn explicit(&mut self, params: &[TemplateParam], targs: &[TemplateArg]) -> TypeEnv {
        let Some(here) = self.here().filter(|_| !targs.is_empty()) else { return TypeEnv::default() };
        let env = here.explicit(params, targs, &Asked(RefCell::new(self)));
        TypeEnv::new(env.iter().map(|(name, argument)| (name.clone(), argument_as_host(argument, 0))).collect())
    }

    /// A constant of a class, `S<T>::size` or that of a local `using`, that needs no running program.
    pub(super) fn constant_of_class(&self, name: ExprId) -> Out {
        // What a template parameter's class says goes with numbers of the caller that it was chosen for.
        let here = self.here().filter(|_| self.module().owners.contains_key(&name));
        let known = here.and_then(|here| {
            let (bytes, signed) = here.type_of(name).value().integer()?;
            Some((here.eval(name)?, bytes, signed))
        });
        match known {
            Some((value, bytes, signed)) => {
                Out::new(Val::typed(Quantity::Known(value), bytes, signed), Ty::Int { bytes, signed })
            }
            None => Out { val: Val::unknown(), ty: Ty::Unknown, place: Some(Place::Unknown) },
        }
    }

    /// What is known of a question about types, `std::is_same_v<T, float>`.
    pub(super) fn trait_of(&mut self, path: &Path, targs: &[TemplateArg]) -> Option<bool> {
        let name = path.last().filter(|name| name.starts_with("is_") && !targs.is_empty())?.clone();
        let mut types = Vec::new();
        for targ in targs {
            let (TemplateArg::Type(ty) | TemplateArg::Ambiguous(ty, _)) = targ else { return None };
            let ty = self.resolve(*ty);
            // Another name may be a parameter of a template that nobody has bound.
            if !matches!(ty, Ty::Bool | Ty::Int { .. } | Ty::Float { .. } | Ty::Pointer(_) | Ty::Vector { .. }) {
                return None;
            }
            types.push(ty);
        }
        cudalint_program::types::type_trait(&name, &types)
    }

    /// Completes template arguments from the types of call arguments and from defaults.
    pub fn deduce(&self, module: ModuleId, function: &'p Function, env: &mut TypeEnv, args: &[Out]) {
        if function.template_params.is_empty() {
            return;
        }
        let types: Vec<Ty> = args.iter().map(|out| out.ty.clone()).collect();
        Scope::open(self.project, module, None, env).complete(module, function, env, &types);
    }

    /// Bytes of a value of the type.
    pub fn size_of(&mut self, ty: &Ty) -> Quantity {
        match ty.value() {
            Ty::Void => Quantity::Known(1),
            Ty::Function => Quantity::Known(8),
            Ty::Array(inner, count) => self.size_of(inner).times(count),
            ty @ Ty::Library(name, _) => match ty.container() {
                Some((Container::Array, inner, count)) => self.size_of(inner).times(&count),
                Some((Container::DevicePointer, ..)) => Quantity::Known(8),
                Some((Container::Vector, ..)) => Quantity::Known(24),
                Some((Container::String, ..)) => Quantity::Known(32),
                Some(_) => Quantity::Unknown,
                // Only a template parameter is a type of its own in every instance; a foreign name is just unknown,
                // but equal to itself as well.
                None => self.atoms.size_of(name),
            },
            Ty::Record(entry, env) => {
                let known = self.caches.learned.layouts.borrow().get(entry).copied().filter(|_| env.is_empty());
                let size = known.unwrap_or_else(|| {
                    let size = Scope::inside(self.project, entry.module, Path::default(), env).size_of(ty);
                    if env.is_empty() {
                        self.caches.learned.layouts.borrow_mut().insert(*entry, size);
                    }
                    size
                });
                size.into()
            }
            ty => {
                Scope::inside(self.project, self.module_id(), Path::default(), &TypeEnv::default()).size_of(ty).into()
            }
        }
    }

    /// The type of a field, searched in bases too.
    pub fn field_type(&self, ty: &Ty, name: &Name) -> Option<Ty> {
        match ty.value() {
            Ty::Vector { lane, .. } => lane_named(name).map(|_| Ty::of_scalar(*lane)),
            Ty::Record(entry, env) => {
                let record = self.project.record_at(*entry)?;
                match record.fields.iter().find(|field| field.name == *name) {
                    Some(field) => Some(self.part_type(*entry, env, field.ty)),
                    None if record.bases.is_empty() && record.fields.iter().all(|field| !field.name.is_empty()) => None,
                    None => {
                        let scope = Scope::inside(self.project, entry.module, Path::default(), env);
                        scope.field(ty, name).map(|ty| as_host(&ty, 0))
                    }
                }
            }
            ty => {
                let parts = pair_of(ty)?;
                PAIR.into_iter().zip(parts).find(|(part, _)| *part == name.as_str()).map(|(_, ty)| ty)
            }
        }
    }

    /// Byte offset of a field in its record, where the layout is known.
    pub fn field_offset(&self, ty: &Ty, name: &Name) -> Option<i64> {
        match ty.value() {
            Ty::Vector { lane, .. } => Some(i64::from(lane.bytes()) * i64::from(lane_named(name)?)),
            Ty::Record(entry, env) => {
                Scope::inside(self.project, entry.module, Path::default(), env).offset_of(ty, name)
            }
            _ => None,
        }
    }

    /// The record that a method belongs to, its template parameters unbound.
    pub fn enclosing_record(&self, module: ModuleId, function: &Function) -> Option<Ty> {
        let entry = self.project.record(module, &Path::default(), &function.scope)?;
        Some(Ty::Record(entry, TypeEnv::default()))
    }
}

/// The parts of a `std::pair`, in order.
pub(super) const PAIR: [&str; 2] = ["first", "second"];

/// The types of both parts of a `std::pair`.
pub(super) fn pair_of(ty: &Ty) -> Option<[Ty; 2]> {
    match ty.value() {
        Ty::Library(name, args) if name.as_ref() == "pair" => match &**args {
            [Argument::Type(first), Argument::Type(second)] => Some([first.clone(), second.clone()]),
            _ => None,
        },
        _ => None,
    }
}

/// A type as host code uses it: an enum is its integer, a handle of CUDA what it is made of, and of what is in no file in
/// sight only containers have arguments.
fn as_host(ty: &Ty, depth: u32) -> Ty {
    if depth > MAX_TYPE_DEPTH {
        return Ty::Unknown;
    }
    let inner = |ty: &Ty| Arc::new(as_host(ty, depth + 1));
    match ty {
        Ty::Enum { bytes, signed, .. } => Ty::Int { bytes: *bytes, signed: *signed },
        Ty::Pointer(to) => Ty::Pointer(inner(to)),
        Ty::Reference(to) => Ty::Reference(inner(to)),
        Ty::Array(of, count) => Ty::Array(inner(of), count.clone()),
        // Its memory comes from wherever its resource takes it.
        Ty::Library(name, _) if name.split("::").any(|segment| segment == "pmr") => Ty::Unknown,
        Ty::Library(name, args) => library_type(last_segment(name), args, depth),
        other => other.clone(),
    }
}

fn argument_as_host(argument: &Argument, depth: u32) -> Argument {
    match argument {
        Argument::Type(ty) => Argument::Type(as_host(ty, depth)),
        other => other.clone(),
    }
}

fn library_type(name: &str, args: &[Argument], depth: u32) -> Ty {
    match name {
        "vector" | "host_vector" | "device_vector" if args.len() > 1 => Ty::Unknown,
        "vector" | "host_vector" | "device_vector" | "device_uvector" | "device_ptr" | "unique_ptr" | "shared_ptr"
        | "array" | "pair" => {
            let args: Vec<Argument> = args.iter().map(|argument| argument_as_host(argument, depth + 1)).collect();
            Ty::Library(name.into(), args.into())
        }
        // Handles that are numbers (texture_types.h, surface_types.h).
        "cudaTextureObject_t" | "cudaSurfaceObject_t" => Ty::SIZE,
        "cudaError_t" | "CUresult" | "cudaError" => Ty::INT,
        "cudaStream_t" | "cudaEvent_t" | "hipStream_t" | "hipEvent_t" => Ty::pointer_to(opaque(name)),
        "CUdeviceptr" => Ty::pointer_to(Ty::Void),
        "cufftComplex" | "cuComplex" | "cuFloatComplex" => complex(name, 4),
        "cufftDoubleComplex" | "cuDoubleComplex" => complex(name, 8),
        "cufftReal" => Ty::Float { bytes: 4 },
        "cufftDoubleReal" => Ty::DOUBLE,
        // `std::size_t`, and what a header in sight says of others.
        plain => Scalar::of_cpp(plain).map_or_else(|| opaque(name), Ty::of_scalar),
    }
}

/// A type whose definition is out of sight.
fn opaque(name: &str) -> Ty {
    Ty::Library(name.into(), Arc::new([]))
}

/// A pair of floating-point numbers that goes by a name of its own.
fn complex(name: &str, bytes: u8) -> Ty {
    Ty::Vector { name: Name::from(name), lane: Scalar::Float { bytes }, lanes: 2 }
}
