//! Where a walk begins: a function whose arguments nobody gives.

use super::{Slot, Walker};
use crate::host::{Flow, NO_ARGUMENTS};
use crate::memory::Place;
use crate::value::{Kind, Val};
use cudalint_program::Name;
use cudalint_program::ir::{Function, FunctionId, LocalId, ModuleId, Path, TemplateArg, TemplateParam};
use cudalint_program::types::{Ty, TypeEnv};

impl<'p> Walker<'p> {
    /// Walks a function with unknown parameters (`main`: as started without arguments).
    pub fn run(&mut self, module: ModuleId, id: FunctionId) {
        let Some(function) = self.project.module(module).functions.get(id) else { return };
        let Some(body) = &function.body else { return };
        self.from_main = function.name == "main" && function.scope.segments.is_empty();
        // A program begins with the first device.
        self.timeline.device = self.from_main.then_some(0);
        self.entry_is_called = function.is_static || self.scan.traits.is_mentioned(&function.name);
        let env = self.instance(module, function);
        self.push_frame(module, Some(id), env, None);
        if matches!(
            function.role,
            cudalint_program::ir::FunctionRole::Method
                | cudalint_program::ir::FunctionRole::Constructor
                | cudalint_program::ir::FunctionRole::Destructor
                | cudalint_program::ir::FunctionRole::Operator
        ) {
            self.make_unknown_this(module, function);
        }
        for index in 0..function.param_count {
            self.bind_entry_parameter(function, LocalId(index));
        }
        self.run_member_inits(function);
        let flow = self.block(body);
        if flow == Flow::Next {
            self.function_ends(function);
        }
        if matches!(flow, Flow::Next | Flow::Return) {
            self.tell_unread();
        }
        self.never_run = self.only_passed();
        self.frames.clear();
        self.pendings.clear();
        self.budget.finish();
    }

    /// What an entry's template parameters stand for: those of its first explicit instantiation, which surely exists.
    fn instance(&mut self, module: ModuleId, function: &Function) -> TypeEnv {
        let written = &self.project.module(module).instantiations;
        let of_class = || {
            written.iter().find(|it| it.is_class && it.path.last().is_some_and(|it| function.scope.last() == Some(it)))
        };
        let of_function = || written.iter().find(|it| !it.is_class && it.path.last() == Some(&function.name));
        if function.template_params.is_empty() {
            // A method inside its class.
            let Some(class) = of_class() else { return TypeEnv::default() };
            let record = self.project.record(module, &Path::default(), &function.scope);
            let Some(record) = record.and_then(|entry| self.project.record_at(entry)) else {
                return TypeEnv::default();
            };
            return self.env_of(module, &record.template_params, &class.targs);
        }
        let Some(first) = of_function().or_else(|| {
            // A method outside of its class: the parameters before it are the class's.
            of_class().filter(|class| class.targs.len() == function.template_params.len())
        }) else {
            return TypeEnv::default();
        };
        self.env_of(module, &function.template_params, &first.targs)
    }

    /// Template parameters with arguments that are written at namespace scope.
    fn env_of(&mut self, module: ModuleId, params: &[TemplateParam], targs: &[TemplateArg]) -> TypeEnv {
        self.push_frame(module, None, TypeEnv::default(), None);
        let env = self.explicit(params, targs);
        self.frames.pop();
        env
    }

    fn bind_entry_parameter(&mut self, function: &'p Function, id: LocalId) {
        let variable = &function.locals[id];
        let ty = self.resolve(variable.ty);
        let value_ty = ty.value().clone();
        let no_arguments = || crate::quantity::assume(NO_ARGUMENTS);
        let val = if self.from_main && id.0 == 0 {
            Val { kind: Val::int(1).kind, why: no_arguments() }
        } else if self.from_main {
            Val { kind: Kind::Unknown, why: no_arguments() }
        } else {
            match &value_ty {
                Ty::Int { bytes, signed } if *bytes >= 4 => {
                    // Callers in sight choose the values of their own.
                    let kind = if self.entry_is_called {
                        crate::quantity::AtomKind::Opaque
                    } else {
                        crate::quantity::AtomKind::Input
                    };
                    let q = self.atoms.fresh(&variable.name, kind);
                    Val::typed(q, *bytes, *signed)
                }
                _ => Val::unknown(),
            }
        };
        let object = self.create_variable(&variable.name, variable.span, value_ty, val);
        if !self.from_main && !self.entry_is_called {
            let place = Place::Cell(object, crate::memory::root());
            self.has_extents_from_outside(&place, &ty, &variable.name);
        }
        // Whoever calls may hold the address of what a reference is bound to, and chose the side that it lives on: as of managed
        // memory, nothing is said of that.
        if matches!(ty, Ty::Reference(..)) {
            self.memory.escaped.insert(object);
            self.move_to(object, crate::facts::MemorySpace::Managed);
        }
        self.set_slot(id, Slot::Object(object));
    }

    /// Gives a method its object, with unknown fields.
    fn make_unknown_this(&mut self, module: ModuleId, function: &'p Function) {
        let Some(ty) = self.enclosing_record(module, function) else { return };
        let object = self.create_variable(&Name::from("this"), function.name_span, ty.clone(), Val::unknown());
        // Whoever made the object chose where it lives: as of managed memory, nothing is said of the side.
        self.move_to(object, crate::facts::MemorySpace::Managed);
        if let Some(frame) = self.frames.last_mut() {
            frame.this = Some((Place::Cell(object, crate::memory::root()), ty));
        }
    }
}
