//! What names mean: captured variables, template arguments, members of `this`, enumerators, globals, functions.

use super::caches::Found;
use super::{Out, Slot, Walker};
use crate::facts::{MemorySpace, Origin, Site};
use crate::host::ObjId;
use crate::memory::{Key, ObjectInfo, Place, extend, root};
use crate::quantity::Quantity;
use crate::value::{Kind, Val};
use cudalint_program::api::{self, ApiId};
use cudalint_program::ir::{Expr, ExprId, FunctionId, LocalId, ModuleId, Path, Space, TemplateArg};
use cudalint_program::types::{Argument, Ty, TypeEnv};
use cudalint_program::{Name, Scope};

/// What a name stands for.
pub(crate) enum Meaning {
    Value(Out),
    Place(Place, Ty),
    None,
}

/// The number behind a plain name that CUDA's headers give to one.
fn constant_of_cuda(path: &Path) -> Option<i64> {
    let [name] = &*path.segments else { return None };
    api::constant(name).map(|constant| constant.value)
}

impl Walker<'_> {
    /// The scope that names are looked up in.
    pub fn scope(&self) -> Path {
        self.function().map(|function| function.scope.clone()).unwrap_or_default()
    }

    /// What a name that is no local variable stands for.
    pub fn meaning(&mut self, path: &Path, targs: &[TemplateArg]) -> Meaning {
        let Some(last) = path.last().cloned() else { return Meaning::None };
        if path.segments.len() == 1 {
            if let Some((place, ty)) = self.captured(&last) {
                return Meaning::Place(place, ty);
            }
            match self.frames.last().and_then(|frame| frame.env.get(&last)) {
                Some(Argument::Value(value)) => {
                    let value = value.clone();
                    return Meaning::Value(self.bound_value(&last, value));
                }
                Some(Argument::Function(module, function, env)) => {
                    let kind = Kind::Function(*module, *function, env.clone());
                    return Meaning::Value(Out::new(Val::from(kind), Ty::Function));
                }
                Some(Argument::Unknown) => return Meaning::Value(Out::unknown()),
                Some(Argument::Type(_)) | None => {}
            }
            if let Some((place, ty)) = self.member_of_this(&last) {
                return Meaning::Place(place, ty);
            }
        }
        match self.found(path) {
            Found::Number(value) => return Meaning::Value(Out::new(Val::int(value), Ty::INT)),
            Found::Global(entry) => {
                let object = self.global(entry.module, entry.index);
                let ty = self.memory.get(object).info.ty.clone();
                let (place, ty) = self.through_reference(Place::Cell(object, root()), ty);
                return Meaning::Place(place, ty);
            }
            Found::Enumerator(entry) => {
                let q = Scope::open(self.project, entry.module, None, &TypeEnv::default()).enumerator(entry).into();
                return Meaning::Value(Out::new(Val::typed(q, 4, true), Ty::INT));
            }
            Found::Function(target, function) => {
                let env = self.explicit_env(target, function, targs);
                return Meaning::Value(Out::new(Val::from(Kind::Function(target, function, env)), Ty::Function));
            }
            Found::Nothing => {}
        }
        Meaning::None
    }

    /// The number that a template parameter stands for, in the parameter's type; `int` where that is not told.
    fn bound_value(&mut self, name: &Name, value: Quantity) -> Out {
        let own = self.function().and_then(|function| {
            function.template_params.iter().find(|param| param.name == *name).and_then(|param| param.value_type)
        });
        let ty = match own.map(|ty| self.resolve(ty)) {
            Some(ty @ (Ty::Int { .. } | Ty::Bool)) => ty,
            _ => Ty::INT,
        };
        let (bytes, signed) = ty.integer().unwrap_or((4, true));
        Out::new(Val::typed(value, bytes, signed), ty)
    }

    /// What the project knows by a name, looked up once: paths stand in the modules, so that their addresses are
    /// names for them.
    fn found(&mut self, path: &Path) -> Found {
        let key = (std::ptr::from_ref(path) as usize, 0);
        if let Some(found) = self.caches.learned.names.borrow().get(&key) {
            return *found;
        }
        let (module, inside) = (self.module_id(), self.scope());
        let found = if let Some(value) = constant_of_cuda(path) {
            Found::Number(value)
        } else if let Some(entry) = self.project.global(module, &inside, path) {
            Found::Global(entry)
        } else if let Some(entry) = self.project.enumerator(module, &inside, path) {
            Found::Enumerator(entry)
        } else if let Some((module, function)) = self.project.function_named(module, &inside, path) {
            Found::Function(module, function)
        } else {
            Found::Nothing
        };
        self.caches.learned.names.borrow_mut().insert(key, found);
        found
    }

    /// The function that a call of a name with so many arguments means, looked up once.
    pub fn called(&mut self, path: &Path, args: usize) -> Option<(ModuleId, FunctionId)> {
        let key = (std::ptr::from_ref(path) as usize, args as u32 + 1);
        let known = self.caches.learned.names.borrow().get(&key).copied();
        let found = match known {
            Some(found) => found,
            None => {
                let (module, inside) = (self.module_id(), self.scope());
                let found = match self.project.function(module, &inside, path, args) {
                    Some((module, function)) => Found::Function(module, function),
                    None => Found::Nothing,
                };
                self.caches.learned.names.borrow_mut().insert(key, found);
                found
            }
        };
        match found {
            Found::Function(module, function) => Some((module, function)),
            _ => None,
        }
    }

    /// A variable that the lambda around captured.
    pub fn captured(&self, name: &Name) -> Option<(Place, Ty)> {
        let closure = self.frames.last()?.closure.as_ref()?;
        let (_, place, ty) = closure.captured.iter().rev().find(|(captured, ..)| captured == name)?;
        Some((place.clone(), ty.clone()))
    }

    /// A field of the object that the method around runs on.
    pub fn member_of_this(&mut self, name: &Name) -> Option<(Place, Ty)> {
        let (place, ty) = self.frames.last()?.this.clone()?;
        let field = self.field_type(&ty, name)?;
        Some(self.through_reference(self.field_place(&place, name), field))
    }

    /// A part of a place.
    pub fn field_place(&self, place: &Place, name: &Name) -> Place {
        match place {
            Place::Cell(obj, path) => Place::Cell(*obj, extend(path, Key::Field(name.clone()))),
            Place::Weak(obj, path) => Place::Weak(*obj, path.clone()),
            other => other.clone(),
        }
    }

    /// Whether an initializer at namespace scope names a variable that has been looked at already and can change.
    fn mentions_changed(&mut self, init: ExprId) -> bool {
        let mut names = Vec::new();
        cudalint_program::visit::walk_expr(self.module(), init, |_, kind| {
            names.extend(if let Expr::Name { path, .. } = kind { Some(path) } else { None });
            true
        });
        names.into_iter().any(|path| match self.found(path) {
            Found::Global(entry) => {
                let known = self.globals.get(&(entry.module, entry.index));
                known.is_some_and(|object| self.memory.shared.contains(*object))
            }
            _ => false,
        })
    }

    /// A variable at namespace scope as an object.
    pub fn global(&mut self, module: ModuleId, index: u32) -> ObjId {
        self.leave_trace();
        if let Some(object) = self.globals.get(&(module, index)) {
            return *object;
        }
        let variable = &self.project.module(module).globals[index as usize];
        self.push_frame(module, None, TypeEnv::default(), None);
        let ty = self.resolve(variable.ty);
        let ty = self.counted(ty, variable.init);
        let space = match variable.space {
            // What its constant is, code for the host knows as well.
            Space::Device | Space::Constant if variable.is_constexpr => MemorySpace::Managed,
            Space::Device | Space::Constant => MemorySpace::Device,
            Space::Managed => MemorySpace::Managed,
            _ => MemorySpace::Host,
        };
        let info = ObjectInfo {
            name: variable.name.clone(),
            site: Site { module, span: variable.span },
            element: ty.pointee().and_then(|inner| self.size_of(inner).known()),
            array: ty.is_array(),
            ty: ty.clone(),
            space,
            origin: Origin::Global,
        };
        let before = self.memory.mark();
        let object = self.create_object(info, Val::unknown(), Val::unknown());
        self.globals.insert((module, index), object);
        let constant = variable.is_constexpr || self.module().is_const(variable.ty);
        // What was passed over before may have given it another value.
        let is_written = |function: &Name| self.scan.writes.may_write(self.project, function, &variable.name);
        let keeps_its_first = constant || self.from_main && !self.passed_over.iter().any(is_written);
        let begins = space == MemorySpace::Host && keeps_its_first && variable.space != Space::Extern;
        if let (Ty::Reference(to), Some(init)) = (&ty, variable.init) {
            // What it is bound to stays the same, whatever that holds by now.
            if matches!(self.kind(init), Some(Expr::Name { .. })) {
                self.bind_at(&Place::Cell(object, root()), to, init);
            } else if self.is_lvalue(init) {
                let (place, _) = self.bind_reference(init);
                self.escape(&place);
            }
        } else if begins || variable.is_constexpr {
            // Objects of other files are constructed before `main` in no known order, but with constants it is the same.
            match variable.init {
                // It was computed before `main`, from values that are perhaps no longer there.
                Some(init) if self.mentions_changed(init) => {}
                Some(init) => self.initialize(&Place::Cell(object, root()), &ty, init),
                // A constant without a value is only declared here: it is defined elsewhere.
                None if constant => {}
                None if ty.is_scalar() || ty.is_array() => {
                    self.memory.store(&Place::Cell(object, root()), Val::zeroed());
                }
                None => self.default_initialize(&Place::Cell(object, root()), &ty),
            }
        }
        if !constant {
            self.memory.shared.insert(object);
            if self.project.is_only_global(&variable.name) {
                self.memory.own.insert(object);
            }
        }
        self.frames.pop();
        // It was there before this path was taken, also with what its constructors chose between: what is written from here on is
        // written on this path.
        self.memory.keep_made(before);
        self.memory.mark();
        object
    }

    /// A local's place and type.
    pub fn local_place(&mut self, local: LocalId) -> Option<(Place, Ty)> {
        match self.frames.last()?.slots.get(local)? {
            Slot::Object(id) => {
                let id = *id;
                Some((Place::Cell(id, root()), self.memory.get(id).info.ty.clone()))
            }
            Slot::Alias(place, ty) => Some((place.clone(), ty.clone())),
            Slot::Unset => None,
        }
    }

    /// Whether a callee's name is one whose calls are worth following through each iteration of a loop.
    pub fn is_device_call(&self, callee: ExprId) -> bool {
        match self.kind(callee) {
            Some(Expr::Name { path, .. }) => {
                let Some(name) = path.last() else { return false };
                ApiId::named(name)
                    .is_some_and(|api| api.library.is_runtime() || api.moves_memory() || api.allocates() || api.frees())
                    || self.project.overloads(self.module_id(), &Path::default(), path).iter().any(|(module, id)| {
                        let traits = self.scan.traits.of(*module, *id);
                        traits.gpu || traits.memory
                    })
            }
            _ => false,
        }
    }
}
