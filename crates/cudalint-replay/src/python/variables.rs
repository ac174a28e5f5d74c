//! Names and variables.

use super::Walker;
use super::heap::Scope;
use super::value::{Kind, Val};
use crate::facts::Site;
use crate::host::ObjId;
use cudalint_program::Name;
use cudalint_program::ir::{Expr, ExprId, LocalId, ModuleId, PythonExpr};

impl Walker<'_> {
    /// The value of a name that is no local: of a function around, of the module, of Python itself.
    pub(super) fn lookup(&mut self, name: &Name) -> Val {
        let Some(frame) = self.frame() else { return Val::unknown() };
        let (scope, module) = (frame.scope, frame.module);
        if let Some(value) = self.captured(scope, name) {
            return value;
        }
        self.global(module, name)
    }

    /// A variable of a function around: the one that the program says the function uses, as a comprehension may have another of that name.
    fn captured(&self, scope: ObjId, name: &Name) -> Option<Val> {
        let mut at = self.heap.scope(scope)?.parent;
        let module = self.module();
        let mut function = self.function();
        while let (Some(user), Some(scope)) = (function, at.and_then(|at| self.heap.scope(at))) {
            let Some((_, local)) = user.captures.iter().find(|(captured, _)| captured == name) else { break };
            if let Some(local) = local {
                let value = scope.slots.get(local.index()).filter(|value| !matches!(value.kind, Kind::Unset));
                return value.cloned();
            }
            function = user.parent.and_then(|parent| module.functions.get(parent));
            at = scope.parent;
        }
        let mut at = self.heap.scope(scope)?.parent;
        for _ in 0..16 {
            let scope = self.heap.scope(at?)?;
            if let Some(value) = slot_of(scope, name) {
                return Some(value.clone());
            }
            at = scope.parent;
        }
        None
    }

    /// A variable of a module, or what Python itself means by its name.
    pub(super) fn global(&mut self, module: ModuleId, name: &Name) -> Val {
        let scope = self.module_scope(module);
        if let Some(scope) = self.heap.scope(scope) {
            if let Some((value, _)) = scope.globals.get(name) {
                return value.clone();
            }
            if let Some(value) = slot_of(scope, name) {
                return value.clone();
            }
        }
        match name.as_str() {
            "__name__" => Val::text(if self.as_main && module == self.entry { "__main__" } else { "module" }),
            "__file__" => Val::unknown(),
            // A function further down, for code that is entered before its definition has run.
            _ => match self.defined_later(module, name) {
                Some(value) => value,
                None if super::builtins::is_builtin(name) => Val::package(&format!("builtins.{name}")),
                None => Val::unknown(),
            },
        }
    }

    /// Assigns a name that is no local.
    pub(super) fn set_name(&mut self, name: &Name, value: Val, site: Site) {
        let Some(frame) = self.frame() else { return };
        let (scope, module) = (frame.scope, frame.module);
        // `nonlocal`.
        let mut at = self.heap.scope(scope).and_then(|scope| scope.parent);
        for _ in 0..16 {
            let Some(id) = at else { break };
            let Some(outer) = self.heap.scope(id) else { break };
            if let Some(index) = outer.names.iter().position(|known| known == name)
                && outer.globals.is_empty()
                && self.modules.get(&module) != Some(&id)
            {
                if let Some(outer) = self.heap.scope_mut(id)
                    && let Some(slot) = outer.slots.get_mut(index)
                {
                    *slot = value;
                }
                return;
            }
            at = outer.parent;
        }
        self.set_global(module, name, value, Some(site));
    }

    pub(super) fn set_global(&mut self, module: ModuleId, name: &Name, value: Val, site: Option<Site>) {
        let scope = self.module_scope(module);
        self.name_value(&value, name);
        if let Some(scope) = self.heap.scope_mut(scope) {
            scope.globals.insert(name.clone(), (value, site));
        }
    }

    pub(super) fn local(&self, id: LocalId) -> Val {
        let value = self.frame().and_then(|frame| self.heap.scope(frame.scope)?.slots.get(id.index()).cloned());
        value.unwrap_or_else(Val::unknown)
    }

    pub(super) fn set_local(&mut self, id: LocalId, value: Val) {
        let Some(scope) = self.frame().map(|frame| frame.scope) else { return };
        if let Some(name) = self.function().and_then(|function| function.locals.get(id)).map(|v| v.name.clone()) {
            self.name_value(&value, &name);
        }
        if let Some(scope) = self.heap.scope_mut(scope)
            && let Some(slot) = scope.slots.get_mut(id.index())
        {
            *slot = value;
        }
    }

    /// Binds a name in the current scope: what `def`, `class` and `import` do.
    pub(super) fn bind(&mut self, name: &Name, value: Val, site: Site) {
        let Some(function) = self.function() else { return };
        let is_module = function.python.as_ref().is_some_and(|python| python.is_module);
        match function.python_local(name) {
            Some(local) if !is_module => self.set_local(local, value),
            _ if is_module => {
                let module = self.module_id();
                self.set_global(module, name, value, Some(site));
            }
            // A name that the function declares `global`, or one that its front end does not list.
            _ => {
                let scope = self.frame().map(|frame| frame.scope);
                if let Some(scope) = scope.and_then(|scope| self.heap.scope_mut(scope)) {
                    let mut names = scope.names.to_vec();
                    names.push(name.clone());
                    scope.names = names.into();
                    scope.slots.push(value);
                }
            }
        }
    }

    /// A name bound in the current scope beside its locals.
    pub(super) fn bound(&self, name: &Name) -> Option<Val> {
        let scope = self.heap.scope(self.frame()?.scope)?;
        slot_of(scope, name).cloned()
    }

    /// The first variable that an array stands in gives it its name.
    fn name_value(&mut self, value: &Val, name: &Name) {
        let id = match &value.kind {
            Kind::Array(array) => array.buffer,
            Kind::Memory(id, _) => *id,
            _ => return,
        };
        if self.heap.buffer(id).is_some_and(|buffer| buffer.name.is_empty())
            && let Some(buffer) = self.heap.buffer_mut(id)
        {
            buffer.name = name.clone();
        }
    }

    /// Stores a value where an expression says: a variable, an attribute, an element, or several of them.
    pub(super) fn assign(&mut self, target: ExprId, value: Val) {
        // Behind an exception nothing is assigned.
        if self.raised || !self.budget.descend() {
            return;
        }
        match self.kind(target) {
            Some(Expr::Local(local)) => self.set_local(*local, value),
            Some(Expr::Name { path, .. }) if path.segments.len() == 1 => {
                if let Some(name) = path.last() {
                    let site = self.expr_site(target);
                    let name = name.clone();
                    let Some(function) = self.function() else { return };
                    if function.python.as_ref().is_some_and(|python| python.is_module) {
                        let module = self.module_id();
                        self.set_global(module, &name, value, Some(site));
                    } else {
                        self.set_name(&name, value, site);
                    }
                }
            }
            Some(Expr::Name { path, .. }) => {
                if let (Some(record), Some(name)) = (self.class_body(), path.last()) {
                    self.set_class_variable(self.module_id(), record, name, value);
                }
            }
            Some(Expr::Member { base, name, .. }) => {
                let object = self.eval(*base);
                // `a.shape = (4, 6)`: another look at the same memory.
                if let (Kind::Array(array), "shape" | "dtype" | "strides") = (&object.kind, name.as_str()) {
                    let shape = if name == "shape" { self.shape(&value) } else { None };
                    let seen = match shape {
                        Some(shape) => self.reshaped(array, Some(shape), target),
                        None => Val::unknown(),
                    };
                    self.assign(*base, seen);
                } else {
                    self.set_attribute(&object, name, value);
                }
            }
            Some(Expr::Index { base, indices }) => {
                let object = self.eval(*base);
                let at: Vec<Val> = indices.iter().map(|index| self.eval(*index)).collect();
                self.set_element(&object, &at, value, target);
            }
            Some(Expr::Python(python)) => match &**python {
                PythonExpr::Tuple(targets) | PythonExpr::List(targets) => self.unpack(targets, &value),
                PythonExpr::Spread { value: inner, .. } => self.assign(*inner, Val::unknown()),
                _ => {}
            },
            _ => {}
        }
        self.budget.ascend();
    }

    fn unpack(&mut self, targets: &[ExprId], value: &Val) {
        let items = self.items(value);
        let starred = targets.iter().any(
            |target| matches!(self.kind(*target), Some(Expr::Python(e)) if matches!(**e, PythonExpr::Spread { .. })),
        );
        match items {
            Some(items) if starred && items.len() + 1 >= targets.len() => {
                let surplus = items.len() + 1 - targets.len();
                let mut items = items.into_iter();
                for target in targets {
                    let spread = match self.kind(*target) {
                        Some(Expr::Python(python)) => match &**python {
                            PythonExpr::Spread { value, .. } => Some(*value),
                            _ => None,
                        },
                        _ => None,
                    };
                    match spread {
                        Some(inner) => {
                            let taken: Vec<Val> = items.by_ref().take(surplus).collect();
                            let list = self.heap.add(super::heap::Obj::List(Some(taken)));
                            self.assign(inner, Val::from(Kind::List(list)));
                        }
                        None => {
                            let item = items.next().unwrap_or_else(Val::unknown);
                            self.assign(*target, item.because(&value.why));
                        }
                    }
                }
            }
            Some(items) if items.len() == targets.len() && !starred => {
                for (target, item) in targets.iter().zip(items) {
                    self.assign(*target, item.because(&value.why));
                }
            }
            _ => {
                for (index, target) in targets.iter().enumerate() {
                    let item = match (&value.kind, starred) {
                        (Kind::Open(open), false) => {
                            let open = std::rc::Rc::clone(open);
                            self.element_of_open(&open, index as i64)
                        }
                        // `rows, columns = a.shape` of an array that nobody knows.
                        (Kind::Attribute(attribute), false) if attribute.1 == "shape" => match &attribute.0.kind {
                            Kind::Open(open) => {
                                let open = std::rc::Rc::clone(open);
                                self.asked(&open, &format!(".shape[{index}]"))
                            }
                            _ => Val::unknown(),
                        },
                        _ => Val::unknown(),
                    };
                    self.assign(*target, item);
                }
            }
        }
    }
}

fn slot_of<'a>(scope: &'a Scope, name: &Name) -> Option<&'a Val> {
    let index = scope.names.iter().rposition(|known| known == name)?;
    scope.slots.get(index).filter(|value| !matches!(value.kind, Kind::Unset))
}
