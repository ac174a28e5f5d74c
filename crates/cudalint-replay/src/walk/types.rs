//! Types of the program as the walk's own types, and their sizes.

use super::Walker;
use super::caches::TypeName;
use crate::quantity::Quantity;
use crate::ty::{Argument, Container, Env, Ty};
use crate::value::Val;
use cudalint_numbers::Scalar;
use cudalint_program::Name;
use cudalint_program::ir::{Function, FunctionId, LocalId, ModuleId, Path, TemplateArg, TemplateParam, Type, TypeId};
use std::rc::Rc;

/// How deep types may nest.
const MAX_TYPE_DEPTH: u32 = 24;

impl<'p> Walker<'p> {
    /// A type of another module on its own, with these template arguments.
    pub fn resolve_in(&mut self, module: ModuleId, env: &Rc<Env>, ty: TypeId) -> Ty {
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
            Type::Vector { name, bytes, signed, float, lanes } => {
                Ty::Vector { name: name.clone(), bytes: *bytes, signed: *signed, float: *float, lanes: *lanes }
            }
            Type::Pointer(to) => Ty::pointer(self.resolve_at(*to, depth + 1)),
            Type::Reference(to) => Ty::Ref(Rc::new(self.resolve_at(*to, depth + 1)), self.is_const(*to)),
            Type::Array(of, count) => {
                let inner = self.resolve_at(*of, depth + 1);
                let count = match count {
                    Some(count) => self.eval(*count).val.quantity(),
                    None => Quantity::Unknown,
                };
                Ty::Array(Rc::new(inner), count)
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
            && let Some(ty) = self.frames.last().and_then(|frame| frame.env.ty(last).cloned())
        {
            return ty;
        }
        match self.type_named(path) {
            TypeName::Alias(entry) => {
                let Some(alias) = self.project.alias_at(entry) else { return Ty::Unknown };
                let env = Rc::new(self.bind(&alias.template_params, args, depth));
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
                Ty::Record(entry.module, entry.index, Rc::new(env))
            }
            TypeName::Enum => Ty::INT,
            TypeName::Other => self.library_type(last, args, depth),
        }
    }

    fn library_type(&mut self, name: &Name, args: &'p [TemplateArg], depth: u32) -> Ty {
        let mut first = || match args.first() {
            Some(TemplateArg::Type(ty) | TemplateArg::Ambiguous(ty, _)) => self.resolve_at(*ty, depth + 1),
            _ => Ty::Unknown,
        };
        let none = Quantity::Unknown;
        match name.as_str() {
            // An allocator of its own may give memory of any kind, as `universal_vector` does.
            "vector" | "host_vector" if args.len() > 1 => Ty::Unknown,
            "vector" | "host_vector" => Ty::Container(Container::Vector, Rc::new(first()), none),
            "device_vector" | "device_uvector" => Ty::Container(Container::DeviceVector, Rc::new(first()), none),
            "device_ptr" => Ty::Container(Container::DevicePointer, Rc::new(first()), none),
            "unique_ptr" | "shared_ptr" => {
                let inner = match first() {
                    Ty::Array(inner, _) => (*inner).clone(),
                    other => other,
                };
                Ty::Container(Container::SmartPointer, Rc::new(inner), none)
            }
            "string" => Ty::Container(Container::String, Rc::new(Ty::Int { bytes: 1, signed: true }), none),
            "array" if args.len() == 2 => {
                let inner = Rc::new(first());
                let count = match &args[1] {
                    TemplateArg::Value(value) | TemplateArg::Ambiguous(_, value) => self.eval(*value).val.quantity(),
                    TemplateArg::Type(_) => Quantity::Unknown,
                };
                Ty::Container(Container::Array, inner, count)
            }
            // Handles that are numbers (texture_types.h, surface_types.h).
            "cudaTextureObject_t" | "cudaSurfaceObject_t" => Ty::SIZE,
            "cudaError_t" | "CUresult" | "cudaError" => Ty::INT,
            "cudaStream_t" | "cudaEvent_t" => Ty::pointer(Ty::Opaque(name.clone())),
            "CUdeviceptr" => Ty::pointer(Ty::Void),
            "cufftComplex" | "cuComplex" | "cuFloatComplex" => {
                Ty::Vector { name: name.clone(), bytes: 4, signed: true, float: true, lanes: 2 }
            }
            "cufftDoubleComplex" | "cuDoubleComplex" => {
                Ty::Vector { name: name.clone(), bytes: 8, signed: true, float: true, lanes: 2 }
            }
            "cufftReal" => Ty::Float { bytes: 4 },
            "cufftDoubleReal" => Ty::Float { bytes: 8 },
            _ if self.frames.last().is_some_and(|frame| frame.env.get(name).is_some()) => Ty::Unknown,
            // `std::size_t`, and what a header in sight says of others.
            plain => Scalar::of_cpp(plain).map_or_else(|| Ty::Opaque(name.clone()), Ty::of_scalar),
        }
    }

    /// Template parameters bound to written arguments and defaults.
    fn bind(&mut self, params: &'p [TemplateParam], args: &'p [TemplateArg], depth: u32) -> Env {
        let mut env = Env::default();
        for (index, param) in params.iter().enumerate() {
            if param.pack {
                break;
            }
            let argument = match args.get(index) {
                Some(arg) => self.template_argument(arg, param.value_type.is_some(), depth),
                // A default stands in the template's own module; only plain ones are read here.
                None => continue,
            };
            env.entries.push((param.name.clone(), argument));
        }
        env
    }

    fn template_argument(&mut self, arg: &'p TemplateArg, is_value: bool, depth: u32) -> Argument {
        match (arg, is_value) {
            (TemplateArg::Value(value) | TemplateArg::Ambiguous(_, value), true) => {
                Argument::Value(self.eval(*value).val)
            }
            (TemplateArg::Type(ty) | TemplateArg::Ambiguous(ty, _), false) => {
                Argument::Type(self.resolve_at(*ty, depth + 1))
            }
            (TemplateArg::Value(value), false) => Argument::Value(self.eval(*value).val),
            (TemplateArg::Type(_), true) => Argument::Value(Val::unknown()),
        }
    }

    /// The arguments written at a use of a function template.
    pub fn explicit_env(&mut self, module: ModuleId, function: FunctionId, targs: &[TemplateArg]) -> Env {
        let Some(function) = self.project.function_at(module, function) else { return Env::default() };
        self.explicit(&function.template_params, targs)
    }

    /// Parameters with the arguments that are written for them.
    pub fn explicit(&mut self, params: &[TemplateParam], targs: &[TemplateArg]) -> Env {
        let mut env = Env::default();
        for (param, arg) in params.iter().zip(targs) {
            if param.pack {
                break;
            }
            let argument = match (arg, param.value_type.is_some()) {
                (TemplateArg::Value(value) | TemplateArg::Ambiguous(_, value), true) => {
                    Argument::Value(self.eval(*value).val)
                }
                (TemplateArg::Type(ty) | TemplateArg::Ambiguous(ty, _), _) => Argument::Type(self.resolve(*ty)),
                (TemplateArg::Value(value), _) => Argument::Value(self.eval(*value).val),
            };
            env.entries.push((param.name.clone(), argument));
        }
        env
    }

    /// Completes template arguments from defaults and from the types of call arguments.
    pub fn deduce(&mut self, module: ModuleId, function: &'p Function, env: &mut Env, args: &[super::Out]) {
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
                    let ty = self.resolve_in(module, &Rc::new(env.clone()), *ty);
                    env.entries.push((param.name.clone(), Argument::Type(ty)));
                }
                Some(TemplateArg::Value(value) | TemplateArg::Ambiguous(_, value)) if param.value_type.is_some() => {
                    let value = self.constant(module, *value).map_or_else(Val::unknown, Val::int);
                    env.entries.push((param.name.clone(), Argument::Value(value)));
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
        env: &mut Env,
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
                if let Ty::Ptr(inner) | Ty::Array(inner, _) = found {
                    self.match_type(module, function, *to, inner, env, depth + 1);
                }
            }
            Some(Type::Named { path, args }) => {
                let [name] = &*path.segments else { return };
                let is_param = function.template_params.iter().any(|p| p.name == *name && p.value_type.is_none());
                if is_param && args.is_empty() {
                    if env.get(name).is_none() {
                        let ty = match found {
                            Ty::Array(inner, _) => Ty::Ptr(inner.clone()),
                            other => other.clone(),
                        };
                        env.entries.push((name.clone(), Argument::Type(ty)));
                    }
                } else if let (
                    Ty::Container(_, inner, _),
                    Some(TemplateArg::Type(ty) | TemplateArg::Ambiguous(ty, _)),
                ) = (found, args.first())
                {
                    let inner = inner.clone();
                    self.match_type(module, function, *ty, &inner, env, depth + 1);
                } else if let Ty::Record(_, _, theirs) = found {
                    let theirs = theirs.clone();
                    for (arg, (_, value)) in args.iter().zip(&theirs.entries) {
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
            Ty::Int { bytes, .. } | Ty::Float { bytes } => known(i64::from(*bytes), i64::from(*bytes)),
            Ty::Vector { bytes, lanes, name, .. } => {
                let size = i64::from(*bytes) * i64::from(*lanes);
                // Three-lane types and dim3 are aligned like one lane.
                let align = if *lanes == 3 || name == "dim3" { i64::from(*bytes) } else { size.min(16) };
                known(size, align)
            }
            Ty::Ptr(_) | Ty::Function => known(8, 8),
            Ty::Ref(inner, _) => self.layout(inner, depth + 1),
            Ty::Array(inner, count) | Ty::Container(Container::Array, inner, count) => {
                let (size, align) = self.layout(inner, depth + 1);
                (size.times(count), align)
            }
            Ty::Container(Container::DevicePointer, ..) => known(8, 8),
            Ty::Container(Container::Vector, ..) => known(24, 8),
            Ty::Container(Container::String, ..) => known(32, 8),
            Ty::Container(..) | Ty::Auto | Ty::Unknown => (Quantity::Unknown, 1),
            Ty::Opaque(name) => {
                // Only a template parameter is a type of its own in every instance; a foreign name is just unknown,
                // but equal to itself as well.
                (self.atoms.size_of(name), 1)
            }
            Ty::Record(module, index, env) => self.record_layout(*module, *index, env, depth),
        }
    }

    fn record_layout(&mut self, module: ModuleId, index: u32, env: &Rc<Env>, depth: u32) -> (Quantity, i64) {
        if !env.entries.is_empty() {
            return self.lay_out(module, index, env, depth);
        }
        if let Some(known) = self.caches.learned.layouts.borrow().get(&(module, index)) {
            return known.map_or((Quantity::Unknown, 1), |(size, align)| (Quantity::Known(size), align));
        }
        if let Some((size, align)) = self.type_cache.get(&(module, index)) {
            return (Quantity::Known(*size), *align);
        }
        let before = (self.budget.steps, self.atoms.count());
        let (size, align) = self.lay_out(module, index, env, depth);
        let known = size.known().map(|size| (size, align));
        // Where something had to be evaluated it may be something else the next time.
        let pure = (self.budget.steps, self.atoms.count()) == before && self.budget.stopped.is_none();
        if pure && (known.is_some() || depth == 0) {
            self.caches.learned.layouts.borrow_mut().insert((module, index), known);
        } else if let Some(known) = known {
            self.type_cache.insert((module, index), known);
        }
        (size, align)
    }

    fn lay_out(&mut self, module: ModuleId, index: u32, env: &Rc<Env>, depth: u32) -> (Quantity, i64) {
        let Some(record) = self.project.module(module).records.get(index as usize) else {
            return (Quantity::Unknown, 1);
        };
        if record.align.is_some() || !record.defined {
            let align = record.align.and_then(|expr| self.constant(module, expr));
            if align.is_none() {
                return (Quantity::Unknown, 1);
            }
        }
        let mut size = 0_i64;
        let mut align = record.align.and_then(|expr| self.constant(module, expr)).unwrap_or(1).max(1);
        let mut unknown = false;
        if record.has_virtual {
            (size, align) = (8, align.max(8));
        }
        let members: Vec<TypeId> = record.bases.iter().copied().chain(record.fields.iter().map(|f| f.ty)).collect();
        for (at, ty) in members.into_iter().enumerate() {
            let ty = self.resolve_in(module, env, ty);
            let (part, part_align) = self.layout(&ty, depth + 2);
            let Some(part) = part.known() else {
                unknown = true;
                continue;
            };
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
        if unknown {
            return (Quantity::Unknown, 1);
        }
        let size = ((size + align - 1) / align * align).max(1);
        (Quantity::Known(size), align)
    }

    /// The type of a field, searched in bases too.
    pub fn field_type(&mut self, ty: &Ty, name: &Name) -> Option<Ty> {
        match ty.value() {
            Ty::Vector { bytes, signed, float, .. } if matches!(name.as_str(), "x" | "y" | "z" | "w") => {
                Some(if *float { Ty::Float { bytes: *bytes } } else { Ty::Int { bytes: *bytes, signed: *signed } })
            }
            Ty::Record(module, index, env) => self.record_field(*module, *index, env, name, 0),
            _ => None,
        }
    }

    fn record_field(&mut self, module: ModuleId, index: u32, env: &Rc<Env>, name: &Name, depth: u32) -> Option<Ty> {
        let record = self.project.module(module).records.get(index as usize)?;
        if let Some(field) = record.fields.iter().find(|field| field.name == *name) {
            return Some(self.resolve_in(module, env, field.ty));
        }
        if depth > 6 {
            return None;
        }
        for base in &record.bases {
            if let Ty::Record(module, index, env) = self.resolve_in(module, env, *base)
                && let Some(ty) = self.record_field(module, index, &env, name, depth + 1)
            {
                return Some(ty);
            }
        }
        None
    }

    /// Byte offset of a field in its record, where the layout is known.
    pub fn field_offset(&mut self, ty: &Ty, name: &Name) -> Option<i64> {
        match ty.value() {
            Ty::Vector { bytes, .. } => {
                let lane = ["x", "y", "z", "w"].iter().position(|lane| name == *lane)?;
                Some(i64::from(*bytes) * lane as i64)
            }
            Ty::Record(module, index, env) => {
                let record = self.project.module(*module).records.get(*index as usize)?;
                if record.is_union && record.fields.iter().any(|field| field.name == *name) {
                    return Some(0);
                }
                if !record.bases.is_empty() {
                    return None;
                }
                let mut offset = if record.has_virtual { 8 } else { 0 };
                for field in &record.fields {
                    let ty = self.resolve_in(*module, env, field.ty);
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
        Some(Ty::Record(entry.module, entry.index, Rc::default()))
    }
}
