//! Types of the program as the walk's own types, and their sizes.

use super::Walker;
use super::caches::TypeName;
use crate::quantity::Quantity;
use crate::value::Kind;
use cudalint_numbers::Scalar;
use cudalint_program::ir::{
    ExprId, Function, FunctionId, LocalId, ModuleId, Path, TemplateArg, TemplateParam, Type, TypeId,
};
use cudalint_program::types::{Argument, Container, Ty, TypeEnv, lane_named};
use cudalint_program::{Entry, Name, layout};
use std::sync::Arc;

/// How deep types may nest.
const MAX_TYPE_DEPTH: u32 = 24;

impl<'p> Walker<'p> {
    /// A type of another module on its own, with these template arguments.
    pub fn resolve_in(&mut self, module: ModuleId, env: &TypeEnv, ty: TypeId) -> Ty {
        if self.frames.len() > crate::host::MAX_FRAMES + 6 {
            return Ty::Unknown;
        }
        if let Some(plain) = super::lookups::plain_type(self.project.module(module), ty) {
            return plain;
        }
        self.push_frame(module, None, env.clone(), None);
        let resolved = self.resolve(ty);
        self.frames.pop();
        resolved
    }

    /// A type of the current frame's module, this deep inside another.
    pub fn resolve_at(&mut self, id: TypeId, depth: u32) -> Ty {
        let module = self.module();
        let Some(ty) = module.types.get(id) else { return Ty::Unknown };
        if depth > MAX_TYPE_DEPTH {
            return Ty::Unknown;
        }
        match ty {
            Type::Void => Ty::Void,
            Type::Int { bytes, signed } => Ty::Int { bytes: *bytes, signed: *signed },
            Type::Bool => Ty::Bool,
            Type::Float { bytes } => Ty::Float { bytes: *bytes },
            Type::Vector { name, lane, lanes } => Ty::Vector { name: name.clone(), lane: *lane, lanes: *lanes },
            Type::Pointer(to) => Ty::pointer_to(self.resolve_at(*to, depth + 1)),
            Type::Reference(to) => Ty::Reference(Arc::new(self.resolve_at(*to, depth + 1))),
            Type::Array(of, count) => {
                let inner = self.resolve_at(*of, depth + 1);
                let count = match count {
                    Some(count) => self.eval(*count).val.quantity(),
                    None => Quantity::Unknown,
                };
                Ty::Array(Arc::new(inner), count)
            }
            Type::Qualified { ty, .. } => self.resolve_at(*ty, depth + 1),
            Type::Named { path, args } | Type::Member { path, args, .. } => self.resolve_name(path, args, depth),
            Type::Function => Ty::Function,
            Type::Auto => Ty::Auto,
            Type::DeclType(expr) => {
                self.dry += 1;
                let mark = self.memory.mark();
                let ty = self.eval(*expr).ty.value().clone();
                self.memory.undo(mark);
                self.dry -= 1;
                ty
            }
            Type::Unknown => Ty::Unknown,
        }
    }

    fn resolve_name(&mut self, path: &'p Path, args: &'p [TemplateArg], depth: u32) -> Ty {
        let Some(last) = path.last() else { return Ty::Unknown };
        if path.segments.len() == 1
            && let Some(Argument::Type(ty)) = self.frames.last().and_then(|frame| frame.env.get(last))
        {
            return ty.clone();
        }
        match self.type_named(path) {
            TypeName::Alias(entry) => {
                let Some(alias) = self.project.alias_at(entry) else { return Ty::Unknown };
                let env = self.bind(&alias.template_params, args, depth);
                if self.frames.len() > crate::host::MAX_FRAMES + 6 {
                    return Ty::Unknown;
                }
                // A name may be an alias for itself in another scope.
                self.push_frame(entry.module, None, env, None);
                let resolved = self.resolve_at(alias.ty, depth + 4);
                self.frames.pop();
                resolved
            }
            TypeName::Record(entry) => {
                let Some(record) = self.project.record_at(entry) else { return Ty::Unknown };
                let env = self.bind(&record.template_params, args, depth);
                Ty::Record(entry, env)
            }
            TypeName::Enum(entry) => {
                let underlying = self.project.enumerator_at(entry).and_then(|enumerator| enumerator.underlying);
                underlying.map_or(Ty::INT, |ty| self.resolve_in(entry.module, &TypeEnv::default(), ty))
            }
            // Its memory comes from wherever its resource takes it.
            TypeName::Other if path.segments.iter().any(|segment| *segment == "pmr") => Ty::Unknown,
            TypeName::Other => self.library_type(last, args, depth),
        }
    }

    fn library_type(&mut self, name: &Name, args: &'p [TemplateArg], depth: u32) -> Ty {
        let mut first = || match args.first() {
            Some(TemplateArg::Type(ty) | TemplateArg::Ambiguous(ty, _)) => self.resolve_at(*ty, depth + 1),
            _ => Ty::Unknown,
        };
        match name.as_str() {
            "vector" | "host_vector" | "device_vector" if args.len() > 1 => Ty::Unknown,
            "vector" | "host_vector" | "device_vector" | "device_uvector" | "device_ptr" | "unique_ptr"
            | "shared_ptr" => Ty::library_of(name, first()),
            "array" if args.len() == 2 => {
                let first = Argument::Type(first());
                let count = match &args[1] {
                    TemplateArg::Value(value) | TemplateArg::Ambiguous(_, value) => self.eval(*value).val.quantity(),
                    TemplateArg::Type(_) => Quantity::Unknown,
                };
                Ty::Library(name.as_str().into(), [first, Argument::Value(count)].into())
            }
            // Handles that are numbers (texture_types.h, surface_types.h).
            "cudaTextureObject_t" | "cudaSurfaceObject_t" => Ty::SIZE,
            "cudaError_t" | "CUresult" | "cudaError" => Ty::INT,
            "cudaStream_t" | "cudaEvent_t" => Ty::pointer_to(opaque(name)),
            "CUdeviceptr" => Ty::pointer_to(Ty::Void),
            "cufftComplex" | "cuComplex" | "cuFloatComplex" => complex(name, 4),
            "cufftDoubleComplex" | "cuDoubleComplex" => complex(name, 8),
            "cufftReal" => Ty::Float { bytes: 4 },
            "cufftDoubleReal" => Ty::DOUBLE,
            _ if self.frames.last().is_some_and(|frame| frame.env.get(name).is_some()) => Ty::Unknown,
            // `std::size_t`, and what a header in sight says of others.
            plain => Scalar::of_cpp(plain).map_or_else(|| opaque(name), Ty::of_scalar),
        }
    }

    /// Template parameters bound to written arguments; defaults stand in the template's own module and are left open.
    fn bind(&mut self, params: &[TemplateParam], args: &[TemplateArg], depth: u32) -> TypeEnv {
        let mut env = TypeEnv::default();
        for (param, arg) in params.iter().zip(args) {
            if param.pack {
                break;
            }
            let argument = match (arg, param.value_type.is_some()) {
                (TemplateArg::Value(value), _) | (TemplateArg::Ambiguous(_, value), true) => self.bound_to(*value),
                (TemplateArg::Type(ty) | TemplateArg::Ambiguous(ty, _), false) => {
                    Argument::Type(if depth == 0 { self.resolve(*ty) } else { self.resolve_at(*ty, depth + 1) })
                }
                (TemplateArg::Type(_), true) => Argument::Unknown,
            };
            env.push(param.name.clone(), argument);
        }
        env
    }

    /// What a template argument that is an expression stands for.
    fn bound_to(&mut self, value: ExprId) -> Argument {
        let val = self.eval(value).val;
        match val.kind {
            Kind::Int(int) if val.why.is_none() => Argument::Value(int.q),
            Kind::Function(module, function, env) => Argument::Function(module, function, env),
            _ => Argument::Unknown,
        }
    }

    /// The arguments written at a use of a function template.
    pub fn explicit_env(&mut self, module: ModuleId, function: FunctionId, targs: &[TemplateArg]) -> TypeEnv {
        let Some(function) = self.project.function_at(module, function) else { return TypeEnv::default() };
        self.explicit(&function.template_params, targs)
    }

    /// Parameters with the arguments that are written for them.
    pub fn explicit(&mut self, params: &[TemplateParam], targs: &[TemplateArg]) -> TypeEnv {
        self.bind(params, targs, 0)
    }

    /// Completes template arguments from defaults and from the types of call arguments.
    pub fn deduce(&mut self, module: ModuleId, function: &'p Function, env: &mut TypeEnv, args: &[super::Out]) {
        for (index, out) in args.iter().enumerate().take(function.param_count as usize) {
            let Some(param) = function.locals.get(LocalId::from(index)) else { break };
            self.match_type(module, function, param.ty, out.ty.value(), env, 0);
        }
        for param in &function.template_params {
            if env.get(&param.name).is_some() || param.pack {
                continue;
            }
            match &param.default {
                Some(TemplateArg::Type(ty)) if param.value_type.is_none() => {
                    let ty = self.resolve_in(module, &env.clone(), *ty);
                    env.push(param.name.clone(), Argument::Type(ty));
                }
                Some(TemplateArg::Value(value) | TemplateArg::Ambiguous(_, value)) if param.value_type.is_some() => {
                    let value =
                        self.constant(module, *value).map_or(Argument::Unknown, |value| Argument::Value(value.into()));
                    env.push(param.name.clone(), value);
                }
                _ => {}
            }
        }
    }

    fn match_type(
        &mut self,
        module: ModuleId,
        function: &'p Function,
        id: TypeId,
        found: &Ty,
        env: &mut TypeEnv,
        depth: u32,
    ) {
        if depth > 6 || found.is_unknown() {
            return;
        }
        match self.project.module(module).types.get(id) {
            Some(Type::Qualified { ty, .. } | Type::Reference(ty)) => {
                self.match_type(module, function, *ty, found, env, depth + 1);
            }
            Some(Type::Pointer(to) | Type::Array(to, _)) => {
                if let Ty::Pointer(inner) | Ty::Array(inner, _) = found {
                    self.match_type(module, function, *to, inner, env, depth + 1);
                }
            }
            Some(Type::Named { path, args }) => {
                let [name] = &*path.segments else { return };
                let is_param = function.template_params.iter().any(|p| p.name == *name && p.value_type.is_none());
                if is_param && args.is_empty() {
                    if env.get(name).is_none() {
                        env.push(name.clone(), Argument::Type(found.decayed()));
                    }
                } else if let (Some((_, inner, _)), Some(TemplateArg::Type(ty) | TemplateArg::Ambiguous(ty, _))) =
                    (found.container(), args.first())
                {
                    self.match_type(module, function, *ty, inner, env, depth + 1);
                } else if let Ty::Record(_, theirs) = found {
                    for (arg, (_, value)) in args.iter().zip(theirs.iter()) {
                        if let (TemplateArg::Type(ty) | TemplateArg::Ambiguous(ty, _), Argument::Type(found)) =
                            (arg, value)
                        {
                            self.match_type(module, function, *ty, found, env, depth + 1);
                        }
                    }
                }
            }
            _ => {}
        }
    }

    /// Whether a type of the current module is `const` at its top, or an array of such.
    pub fn is_const(&self, ty: TypeId) -> bool {
        let types = &self.module().types;
        let mut current = ty;
        for _ in 0..6 {
            match types.get(current) {
                Some(Type::Qualified { is_const: true, .. }) => return true,
                Some(Type::Qualified { ty, .. } | Type::Array(ty, _)) => current = *ty,
                _ => return false,
            }
        }
        false
    }

    /// Bytes of a value of the type.
    pub fn size_of(&mut self, ty: &Ty) -> Quantity {
        self.layout(ty, 0).0
    }

    /// Size and alignment.
    fn layout(&mut self, ty: &Ty, depth: u32) -> (Quantity, i64) {
        let known = |size: i64, align: i64| (Quantity::Known(size), align);
        if depth > MAX_TYPE_DEPTH {
            return (Quantity::Unknown, 1);
        }
        match ty {
            Ty::Void | Ty::Bool => known(1, 1),
            Ty::Int { bytes, .. } | Ty::Float { bytes } | Ty::Enum { bytes, .. } => {
                known(i64::from(*bytes), i64::from(*bytes))
            }
            Ty::Vector { lane, lanes, .. } => layout::vector(i64::from(lane.bytes()), i64::from(*lanes))
                .map_or((Quantity::Unknown, 1), |layout| known(layout.size, layout.align)),
            Ty::Pointer(_) | Ty::Function => known(8, 8),
            Ty::Reference(inner) => self.layout(inner, depth + 1),
            Ty::Array(inner, count) => {
                let (size, align) = self.layout(inner, depth + 1);
                (size.times(count), align)
            }
            Ty::Library(name, _) => match ty.container() {
                Some((Container::Array, inner, count)) => {
                    let (size, align) = self.layout(inner, depth + 1);
                    (size.times(&count), align)
                }
                Some((Container::DevicePointer, ..)) => known(8, 8),
                Some((Container::Vector, ..)) => known(24, 8),
                Some((Container::String, ..)) => known(32, 8),
                Some(_) => (Quantity::Unknown, 1),
                // Only a template parameter is a type of its own in every instance; a foreign name is just unknown,
                // but equal to itself as well.
                None => (self.atoms.size_of(name), 1),
            },
            Ty::Auto | Ty::Unknown => (Quantity::Unknown, 1),
            Ty::Record(entry, env) => self.record_layout(*entry, env, depth),
        }
    }

    fn record_layout(&mut self, entry: Entry, env: &TypeEnv, depth: u32) -> (Quantity, i64) {
        if !env.is_empty() {
            return self.lay_out(entry, env, depth);
        }
        if let Some(known) = self.caches.learned.layouts.borrow().get(&entry) {
            return known.map_or((Quantity::Unknown, 1), |(size, align)| (Quantity::Known(size), align));
        }
        if let Some((size, align)) = self.type_cache.get(&entry) {
            return (Quantity::Known(*size), *align);
        }
        let before = (self.budget.steps, self.atoms.count());
        let (size, align) = self.lay_out(entry, env, depth);
        let known = size.known().map(|size| (size, align));
        // Where something had to be evaluated it may be something else the next time.
        let pure = (self.budget.steps, self.atoms.count()) == before && self.budget.stopped.is_none();
        if pure && (known.is_some() || depth == 0) {
            self.caches.learned.layouts.borrow_mut().insert(entry, known);
        } else if let Some(known) = known {
            self.type_cache.insert(entry, known);
        }
        (size, align)
    }

    fn lay_out(&mut self, entry: Entry, env: &TypeEnv, depth: u32) -> (Quantity, i64) {
        let module = entry.module;
        let Some(record) = self.project.record_at(entry) else { return (Quantity::Unknown, 1) };
        if record.align.is_some() || !record.defined {
            let align = record.align.and_then(|expr| self.constant(module, expr));
            if align.is_none() {
                return (Quantity::Unknown, 1);
            }
        }
        let mut size = 0_i64;
        let mut align = record.align.and_then(|expr| self.constant(module, expr)).unwrap_or(1).max(1);
        if record.has_virtual {
            (size, align) = (8, align.max(8));
        }
        let members: Vec<TypeId> = record.bases.iter().copied().chain(record.fields.iter().map(|f| f.ty)).collect();
        for (at, ty) in members.into_iter().enumerate() {
            let ty = self.resolve_in(module, env, ty);
            let (part, part_align) = self.layout(&ty, depth + 2);
            // Of a record that holds itself many times only the first is followed.
            let Some(part) = part.known() else { return (Quantity::Unknown, 1) };
            // An empty base takes no room.
            if at < record.bases.len() && part == 1 && part_align == 1 {
                continue;
            }
            align = align.max(part_align);
            if record.is_union {
                size = size.max(part);
            } else {
                size = (size + part_align - 1) / part_align * part_align;
                size = size.saturating_add(part);
            }
        }
        let size = ((size + align - 1) / align * align).max(1);
        (Quantity::Known(size), align)
    }

    /// The type of a field, searched in bases too.
    pub fn field_type(&mut self, ty: &Ty, name: &Name) -> Option<Ty> {
        match ty.value() {
            Ty::Vector { lane, .. } => lane_named(name).map(|_| Ty::of_scalar(*lane)),
            Ty::Record(entry, env) => self.record_field(*entry, env, name, 0),
            _ => None,
        }
    }

    fn record_field(&mut self, entry: Entry, env: &TypeEnv, name: &Name, depth: u32) -> Option<Ty> {
        let module = entry.module;
        let record = self.project.record_at(entry)?;
        if let Some(field) = record.fields.iter().find(|field| field.name == *name) {
            return Some(self.resolve_in(module, env, field.ty));
        }
        if depth > 6 {
            return None;
        }
        for base in &record.bases {
            if let Ty::Record(base, env) = self.resolve_in(module, env, *base)
                && let Some(ty) = self.record_field(base, &env, name, depth + 1)
            {
                return Some(ty);
            }
        }
        None
    }

    /// Byte offset of a field in its record, where the layout is known.
    pub fn field_offset(&mut self, ty: &Ty, name: &Name) -> Option<i64> {
        match ty.value() {
            Ty::Vector { lane, .. } => Some(i64::from(lane.bytes()) * i64::from(lane_named(name)?)),
            Ty::Record(entry, env) => {
                let record = self.project.record_at(*entry)?;
                if record.is_union && record.fields.iter().any(|field| field.name == *name) {
                    return Some(0);
                }
                if !record.bases.is_empty() {
                    return None;
                }
                let mut offset = if record.has_virtual { 8 } else { 0 };
                for field in &record.fields {
                    let ty = self.resolve_in(entry.module, env, field.ty);
                    let (size, align) = self.layout(&ty, 2);
                    offset = (offset + align - 1) / align * align;
                    if field.name == *name {
                        return size.known().map(|_| offset);
                    }
                    offset += size.known()?;
                }
                None
            }
            _ => None,
        }
    }

    /// The record that a method belongs to, its template parameters unbound.
    pub fn enclosing_record(&mut self, module: ModuleId, function: &Function) -> Option<Ty> {
        let entry = self.project.record(module, &Path::default(), &function.scope)?;
        Some(Ty::Record(entry, TypeEnv::default()))
    }
}

/// A type whose definition is out of sight.
fn opaque(name: &str) -> Ty {
    Ty::Library(name.into(), Arc::new([]))
}

/// A pair of floating-point numbers that goes by a name of its own.
fn complex(name: &Name, bytes: u8) -> Ty {
    Ty::Vector { name: name.clone(), lane: Scalar::Float { bytes }, lanes: 2 }
}
