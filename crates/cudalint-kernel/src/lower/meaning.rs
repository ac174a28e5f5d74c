//! What a name means where it is used.

use super::state::{Context, Lowerer, Meaning, Out};
use crate::code::{self, Builtin, Effect, Expr};
use crate::report::Site;
use cudalint_numbers::Quantity;
use cudalint_program::ir::{self, FunctionId, ModuleId, Path, TemplateArg};
use cudalint_program::types::{Argument, Ty, TypeEnv};
use cudalint_program::{Entry, Name, Project, Scope};

/// The name of the type that stands for a function known by name: module, function, then explicit template arguments.
pub(super) const FUNCTION: &str = "<function>";

impl<'p> Lowerer<'p> {
    /// A name that is no local variable.
    pub(super) fn name(&mut self, id: ir::ExprId, path: &'p Path, targs: &'p [TemplateArg], site: Site) -> Out {
        if let Some(owner) = self.context.scope.owner(id)
            && let Some(name) = path.last()
            && let Some(out) = self.static_member(&owner, name, site)
        {
            return out;
        }
        let meaning = match &*path.segments {
            [only] if targs.is_empty() => match self.context.names.get(only) {
                Some(known) => known.clone(),
                None => {
                    let found = self.meaning(id, path);
                    self.context.names.insert(only.clone(), found.clone());
                    found
                }
            },
            _ => self.meaning(id, path),
        };
        match meaning {
            Meaning::Lanes(axis, ty) => {
                let parts = (0..3).map(|at| self.push(Expr::Builtin(axis(at)), code::Ty::UINT, site)).collect();
                let ty = Ty::vector(ty);
                let code_ty = self.ty(&ty);
                let id = self.push(Expr::Aggregate(parts), code_ty, site);
                self.computed(id, ty, site)
            }
            Meaning::WarpSize => {
                let id = self.push(Expr::Builtin(Builtin::WarpSize), code::Ty::INT, site);
                self.computed(id, Ty::INT, site)
            }
            Meaning::Number(value, ty) => {
                let code_ty = self.ty(&ty);
                let id = match &code_ty {
                    code::Ty::Int { .. } | code::Ty::Bool => self.int(value, code_ty, site),
                    _ => self.int(value, code::Ty::LONG, site),
                };
                self.computed(id, ty, site)
            }
            Meaning::Constant(entry) => self.constant_value(entry, site),
            Meaning::Field(field) => {
                let place = self.own_field(&field, site);
                self.through_reference(place, site)
            }
            Meaning::Global(object, ty, volatile) => self.object_place(object, &ty, volatile, site),
            // A texture reference is a name for the functions that read it.
            Meaning::Elsewhere(ty) if matches!(&ty, Ty::Library(name, _) if is_texture_reference(name)) => {
                self.unknown(Vec::new(), Effect::None, ty, site)
            }
            Meaning::Elsewhere(ty) => {
                self.gap("variable of unknown space");
                let address = self.opaque_pointer(Vec::new(), site);
                self.pointed(address, ty, false, site)
            }
            Meaning::Function(module, function) => {
                let ty = self.function_type(module, function, targs);
                self.function_value(ty, site)
            }
            Meaning::Callable(ty) => self.function_value(ty, site),
            Meaning::Captured => match path.last().and_then(|name| self.captured(name, site)) {
                Some(out) => out,
                None => self.unknown(Vec::new(), Effect::None, Ty::Unknown, site),
            },
            Meaning::Nothing => {
                if let Some(out) = self.member_of_type(path, site) {
                    return out;
                }
                if let Some(out) = self.library_constant(path, targs, site) {
                    return out;
                }
                self.gap("name out of sight");
                let ty = self.context.scope.type_of(id);
                self.unknown(Vec::new(), Effect::None, ty, site)
            }
        }
    }

    /// A place that may hold a reference: then what it refers to.
    pub(super) fn through_reference(&mut self, place: Out, site: Site) -> Out {
        let Ty::Reference(to) = &place.ty else { return place };
        let target = (**to).clone();
        let holder = Out { ty: Ty::pointer_to(target.clone()), ..place };
        let address = self.load(&holder);
        self.pointed(address, target, holder.volatile, site)
    }

    pub(super) fn function_type(&self, module: ModuleId, function: FunctionId, targs: &[TemplateArg]) -> Ty {
        let mut args = [module.0, function.0].map(|number| Argument::Value(i64::from(number).into())).to_vec();
        args.extend(self.explicit(targs));
        Ty::Library(FUNCTION.into(), args.into())
    }

    fn function_value(&mut self, ty: Ty, site: Site) -> Out {
        let id = self.push(
            Expr::Opaque { children: Vec::new(), effect: Effect::None },
            code::Ty::Opaque { bytes: Some(8) },
            site,
        );
        self.computed(id, ty, site)
    }

    fn meaning(&mut self, id: ir::ExprId, path: &Path) -> Meaning {
        let project: &'p Project = self.project;
        let (module, inside) = (self.context.module, self.inside());
        if let [name] = &*path.segments {
            match name.as_str() {
                "threadIdx" => return Meaning::Lanes(Builtin::ThreadIdx, "uint3"),
                "blockIdx" => return Meaning::Lanes(Builtin::BlockIdx, "uint3"),
                "blockDim" => return Meaning::Lanes(Builtin::BlockDim, "dim3"),
                "gridDim" => return Meaning::Lanes(Builtin::GridDim, "dim3"),
                "warpSize" if !project.is_for_hip(module) => return Meaning::WarpSize,
                _ => {}
            }
            if self.is_captured(name) {
                return Meaning::Captured;
            }
            match self.context.scope.env().get(name) {
                Some(Argument::Value(Quantity::Known(value))) => {
                    let ty = match self.context.scope.type_of(id) {
                        Ty::Unknown | Ty::Auto => Ty::INT,
                        ty => ty,
                    };
                    return Meaning::Number(*value, ty);
                }
                Some(Argument::Type(ty @ Ty::Library(of, _))) if &**of == FUNCTION => {
                    return Meaning::Callable(ty.clone());
                }
                Some(_) => return Meaning::Nothing,
                None => {}
            }
            if let Some(own) = self.this_type()
                && let Some(field) = self.field(&own, name)
            {
                return Meaning::Field(field);
            }
        }
        if let Some(entry) = project.global(module, &inside, path) {
            return self.global(id, entry);
        }
        if project.enumerator(module, &inside, path).is_some() {
            let ty = self.context.scope.type_of(id);
            return match self.context.scope.eval(id) {
                Some(value) => Meaning::Number(value, ty),
                None => Meaning::Nothing,
            };
        }
        match project.function_named(module, &inside, path) {
            Some((module, function)) => Meaning::Function(module, function),
            None => Meaning::Nothing,
        }
    }

    fn global(&mut self, id: ir::ExprId, entry: Entry) -> Meaning {
        let Some(found) = self.project.global_at(entry) else { return Meaning::Nothing };
        let scope = Scope::inside(self.project, entry.module, found.scope.clone(), &TypeEnv::default());
        let ty = super::types::canonical(scope.resolve(found.ty));
        if matches!(ty, Ty::Int { .. } | Ty::Bool | Ty::Enum { .. } | Ty::Auto)
            && let Some(value) = self.context.scope.eval(id)
        {
            return Meaning::Number(value, if ty == Ty::Auto { self.context.scope.type_of(id) } else { ty });
        }
        let constant = found.is_constexpr || self.project.module(entry.module).is_const(found.ty);
        if constant && found.init.is_some() && matches!(ty, Ty::Float { .. } | Ty::Vector { .. }) {
            return Meaning::Constant(entry);
        }
        if !constant && matches!(found.space, ir::Space::Static | ir::Space::Ordinary | ir::Space::Extern) {
            return Meaning::Elsewhere(ty);
        }
        match self.global_object(entry) {
            Some((object, ty, volatile)) => Meaning::Global(object, ty, volatile),
            None => Meaning::Nothing,
        }
    }

    fn constant_value(&mut self, entry: Entry, site: Site) -> Out {
        let value = self.project.global_at(entry).and_then(|found| Some((found, found.init?)));
        let Some((found, init)) = value else {
            return self.unknown(Vec::new(), Effect::None, Ty::Unknown, site);
        };
        let scope = Scope::inside(self.project, entry.module, found.scope.clone(), &TypeEnv::default());
        let ty = super::types::canonical(scope.resolve(found.ty));
        let context = Context::of(scope, self.project, entry.module);
        let id = self.elsewhere(context, |this| {
            let value = this.value_of_type(init, &ty);
            this.convert(&value, &ty)
        });
        self.computed(id, ty, site)
    }

    /// Namespaces and records around the current place.
    pub(super) fn inside(&self) -> Path {
        match self.context.function {
            Some(function) => function.scope.clone(),
            None => Path::default(),
        }
    }

    /// `obj.NAME` of a static member.
    pub(super) fn static_member(&mut self, of: &Ty, name: &Name, site: Site) -> Option<Out> {
        let Ty::Record(entry, env) = of else { return None };
        let record = self.project.record_at(*entry)?;
        let scope = record.scope.within(record.name.clone());
        let path = scope.within(name.clone());
        let place = self.scope_in(*entry, env)?;
        let Some(found) = self.project.global(entry.module, &scope, &path) else {
            // An enumerator of the record.
            let found = self.project.enumerator(entry.module, &scope, &path)?;
            let value = place.enumerator(found)?;
            let id = self.int(value, code::Ty::INT, site);
            return Some(self.computed(id, Ty::INT, site));
        };
        let global = self.project.global_at(found)?;
        let ty = place.resolve(global.ty);
        if let (Some(init), Some(_)) = (global.init, ty.integer())
            && let Some(value) = place.eval(init)
        {
            let code_ty = self.ty(&ty);
            let id = self.int(value, code_ty, site);
            return Some(self.computed(id, ty, site));
        }
        let (object, ty, volatile) = self.global_object(found)?;
        Some(self.object_place(object, &ty, volatile, site))
    }

    /// The record whose method, or lambda in a method, this is.
    pub(super) fn this_type(&self) -> Option<Ty> {
        match &self.context.this {
            Some((_, ty)) => Some(ty.clone()),
            None => self.captured_this(),
        }
    }

    pub(super) fn this_pointer(&mut self, site: Site) -> Out {
        if let Some((variable, ty)) = self.context.this.clone() {
            let id = self.read_register(variable, site);
            return self.computed(id, Ty::pointer_to(ty), site);
        }
        match self.captured("this", site) {
            Some(out) => out,
            None => {
                self.gap("this out of sight");
                let id = self.opaque_pointer(Vec::new(), site);
                self.computed(id, Ty::pointer_to(Ty::Unknown), site)
            }
        }
    }

    /// Names of the libraries that are no functions.
    fn library_constant(&mut self, path: &Path, targs: &[TemplateArg], site: Site) -> Option<Out> {
        let last = path.last()?.as_str();
        if let Some(value) = self.trait_of(last, targs) {
            let id = self.int(i64::from(value), code::Ty::Bool, site);
            return Some(self.computed(id, Ty::Bool, site));
        }
        let float = |this: &mut Self, value: f64, bytes| {
            let id = this.push(Expr::Float(value), code::Ty::Float { bytes }, site);
            Some(this.computed(id, Ty::Float { bytes }, site))
        };
        match last {
            "CUDART_PI_F" => float(self, f64::from(std::f32::consts::PI), 4),
            "CUDART_PI" => float(self, std::f64::consts::PI, 8),
            "CUDART_INF_F" => float(self, f64::INFINITY, 4),
            "CUDART_INF" => float(self, f64::INFINITY, 8),
            "INFINITY" | "HUGE_VALF" => float(self, f64::INFINITY, 4),
            "FLT_EPSILON" => float(self, f64::from(f32::EPSILON), 4),
            "DBL_EPSILON" => float(self, f64::EPSILON, 8),
            "RAND_MAX" => {
                let id = self.int(i64::from(i32::MAX), code::Ty::INT, site);
                Some(self.computed(id, Ty::INT, site))
            }
            // Tags and scopes that are passed to library functions: no values.
            "memory_order_relaxed"
            | "memory_order_acquire"
            | "memory_order_release"
            | "memory_order_acq_rel"
            | "memory_order_seq_cst"
            | "thread_scope_block"
            | "thread_scope_device"
            | "thread_scope_system"
            | "thread_scope_thread" => Some(self.unknown(Vec::new(), Effect::None, Ty::Unknown, site)),
            "value" | "value_type" => self.trait_value(path, site),
            _ => None,
        }
    }

    /// `Alias::member` and `T::member`, where the type is a record of the project.
    fn member_of_type(&mut self, path: &Path, site: Site) -> Option<Out> {
        let (last, owner) = path.segments.split_last()?;
        if owner.is_empty() {
            // A static member of the record around, or of its bases.
            let own = self.this_type()?;
            return self.static_member(&own, last, site);
        }
        let owner: Path = owner.iter().cloned().collect();
        let ty = super::types::canonical(self.context.scope.named(&owner, &[]));
        self.static_member(&ty, last, site)
    }

    /// `std::is_same_v<T, U>` and other questions about types whose answer is known.
    fn trait_of(&self, name: &str, targs: &[TemplateArg]) -> Option<bool> {
        if !name.starts_with("is_") {
            return None;
        }
        let types: Vec<Ty> = self
            .explicit(targs)
            .into_iter()
            .map(|argument| match argument {
                Argument::Type(ty) => Some(ty),
                _ => None,
            })
            .collect::<Option<_>>()?;
        cudalint_program::types::type_trait(name, &types)
    }

    fn trait_value(&mut self, path: &Path, site: Site) -> Option<Out> {
        // `std::is_same<T, U>::value`: arguments of inner segments are not kept by the program form.
        let before = path.segments.len().checked_sub(2).and_then(|at| path.segments.get(at))?;
        before.starts_with("is_").then(|| self.unknown(Vec::new(), Effect::None, Ty::Bool, site))
    }
}

fn is_texture_reference(name: &str) -> bool {
    matches!(name, "texture" | "surface" | "textureReference" | "surfaceReference")
}
