//! Function instances: a function with the types of its arguments, lowered again until the types of its variables stand.

use super::lower::{Body, Context, Lowerer, Slot};
use super::scan::Scan;
use super::types::{Fixed, Instance, Key, PyTy};
use super::value::Value;
use crate::code::{self, ExprId, Function, Ty};
use crate::report::Site;
use cudalint_program::Name;
use cudalint_program::ir::{self, Dialect, LocalId};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Most function instances of one kernel.
const MAX_INSTANCES: usize = 64;
/// Deepest nesting of functions that are lowered inside one another.
const MAX_CALLS: u32 = 10;
/// Most times that a function is lowered until its types stand.
const MAX_PASSES: u32 = 8;

/// How much code there was.
struct Mark {
    exprs: usize,
    stmts: usize,
    objects: usize,
    functions: usize,
    gaps: FxHashMap<&'static str, u32>,
}

impl<'p> Lowerer<'p> {
    fn mark(&self) -> Mark {
        Mark {
            exprs: self.code.exprs.len(),
            stmts: self.code.stmts.len(),
            objects: self.code.objects.len(),
            functions: self.code.functions.len(),
            gaps: self.gaps.clone(),
        }
    }

    /// Forgets what was lowered since.
    fn back_to(&mut self, mark: &Mark) {
        self.code.exprs.truncate(mark.exprs);
        self.code.stmts.truncate(mark.stmts);
        self.code.objects.truncate(mark.objects);
        self.code.functions.truncate(mark.functions);
        self.instances.retain(|instance| instance.id.index() < mark.functions);
        self.gaps.clone_from(&mark.gaps);
    }

    /// As [`Self::instance`]. As Numba does, the function is compiled for the values of constant arguments where it does
    /// not compile for their types alone: for extents of arrays.
    pub(super) fn instance_for(&mut self, key: &Key, values: &[Value]) -> Option<(code::FunctionId, PyTy, Vec<PyTy>)> {
        let mark = self.mark();
        let wanted = std::mem::take(&mut self.body.wants_literals);
        let (id, returns) = self.instance(key)?;
        let wants = std::mem::replace(&mut self.body.wants_literals, wanted);
        let literals: Vec<PyTy> =
            key.arguments.iter().zip(values).map(|(ty, value)| self.literal(ty, value, 0)).collect();
        if !wants || literals == key.arguments {
            self.body.wants_literals |= wants;
            return Some((id, returns, key.arguments.clone()));
        }
        self.back_to(&mark);
        let key = Key { arguments: literals, ..key.clone() };
        let (id, returns) = self.instance(&key)?;
        Some((id, returns, key.arguments))
    }

    fn literal(&self, ty: &PyTy, value: &Value, depth: u32) -> PyTy {
        match (ty, value) {
            (PyTy::Number(number @ (Ty::Int { .. } | Ty::Bool)), Value::Number(id, _)) => {
                self.fold(*id).map_or_else(|| ty.clone(), |value| PyTy::Fixed(Fixed::Literal(value, number.clone())))
            }
            (PyTy::Tuple(types), Value::Tuple(values)) if depth < super::specialization::MAX_NESTING => {
                PyTy::Tuple(types.iter().zip(values).map(|(ty, value)| self.literal(ty, value, depth + 1)).collect())
            }
            _ => ty.clone(),
        }
    }

    /// The instance of a function with what it returns; its body is lowered now.
    pub(super) fn instance(&mut self, key: &Key) -> Option<(code::FunctionId, PyTy)> {
        if let Some(known) = self.instances.iter().find(|known| known.key == *key) {
            self.body.wants_literals |= known.wants_literals;
            return Some((known.id, known.returns.clone()));
        }
        if self.instances.len() >= MAX_INSTANCES || self.calls >= MAX_CALLS {
            self.gap("too many functions");
            return None;
        }
        let project: &'p cudalint_program::Project = self.project;
        let function = project.function_at(key.module, key.function)?;
        function.body.as_ref()?;
        let id = self.code.functions.next_key();
        let at = self.instances.len();
        self.instances.push(Instance { key: key.clone(), id, returns: PyTy::Opaque, wants_literals: false });
        self.code.functions.push(Function::new(&function.name, Site { module: key.module, span: function.name_span }));
        self.code.damaged |= function.damaged;
        let context = Context {
            module: key.module,
            ir: project.module(key.module),
            id: key.function,
            function: Some(function),
            captured: key.captured,
            scan: Arc::new(Scan::of(project.module(key.module), function, self.dialect)),
        };
        let outer = std::mem::replace(&mut self.context, context);
        let body = std::mem::take(&mut self.body);
        let block = std::mem::take(&mut self.block);
        let naming = self.naming.take();
        self.calls += 1;
        self.passes(at, key, function);
        self.calls -= 1;
        let wants_literals = self.body.wants_literals;
        self.context = outer;
        self.body = body;
        self.block = block;
        self.naming = naming;
        self.body.wants_literals |= wants_literals;
        let instance = self.instances.get_mut(at)?;
        instance.wants_literals = wants_literals;
        Some((instance.id, instance.returns.clone()))
    }

    /// Lowers a body until the types of its variables stand.
    fn passes(&mut self, at: usize, key: &Key, function: &'p ir::Function) {
        let mark = self.mark();
        let id = self.instances[at].id;
        for pass in 1..=MAX_PASSES {
            let parameters = self.parameters(key, function);
            let Some(body) = &function.body else { return };
            let (statements, ()) = self.in_block(|this| {
                let run = |this: &mut Self| {
                    this.bind_parameters(&parameters, function);
                    this.statements(body);
                };
                if this.dialect == Dialect::Guvectorize && this.in_kernel() {
                    this.for_each_element(key, function, run);
                } else {
                    run(this);
                }
            });
            let returns = self.body.returns.clone().unwrap_or(PyTy::None);
            // A function that calls itself has seen what it returned before.
            let recursive = self.instances[at].returns != returns && self.body.stale;
            let mut all = std::mem::take(&mut self.body.entry);
            all.extend(statements);
            let count = self.body.variables.iter().take_while(|v| v.in_memory).count();
            debug_assert!(count <= self.body.variables.len());
            if let Some(made) = self.code.functions.get_mut(id) {
                made.variables = std::mem::take(&mut self.body.variables);
                made.parameters = parameters.len() as u32;
                made.returns = returns.as_returned();
                made.body = all;
            }
            self.instances[at].returns = returns;
            if !(self.body.stale || recursive) {
                return;
            }
            if pass == MAX_PASSES || self.is_spent() {
                self.gap("types that do not settle");
                self.code.damaged = true;
                return;
            }
            self.back_to(&mark);
            let slots = std::mem::take(&mut self.body.slots);
            let kept = slots
                .into_iter()
                .map(|(local, slot)| (local, Slot { ty: slot.ty, negative: slot.negative, ..Slot::default() }));
            let returns = self.body.returns.take();
            self.body = Body { slots: kept.collect(), returns, ..Body::default() };
        }
    }

    /// The values of the parameters: registers that nobody writes.
    fn parameters(&mut self, key: &Key, function: &'p ir::Function) -> Vec<ExprId> {
        let mut all = Vec::new();
        let names: Vec<Name> = function.locals.iter().map(|local| local.name.clone()).collect();
        for (index, ty) in key.arguments.iter().enumerate() {
            let Some(local) = function.locals.get(LocalId::from(index)) else { break };
            let site = self.site(local.span);
            let name = names.get(index).cloned().unwrap_or_default();
            let mut leaves = Vec::new();
            self.parameter(&name, ty, site, &mut leaves);
            all.extend(&leaves);
            let name: Arc<str> = Arc::from(name.as_str());
            let value = Value::from_leaves(ty, &name, &mut leaves.into_iter());
            let value = value.map(|value| self.spelled_out(&value, site));
            let slot = self.body.slots.entry(LocalId(index as u32)).or_default();
            slot.value = value;
        }
        for index in key.arguments.len()..function.param_count as usize {
            let Some(local) = function.locals.get(LocalId::from(index)) else { break };
            let site = self.site(local.span);
            let value = local.init.and_then(|init| self.written_constant(init, None, site));
            let value = value.unwrap_or_else(|| self.unknown(Vec::new(), code::Effect::None, site));
            self.body.slots.entry(LocalId(index as u32)).or_default().value = Some(value);
        }
        all
    }

    /// Numbers that the function is compiled for are numbers.
    fn spelled_out(&mut self, value: &Value, site: Site) -> Value {
        match value {
            Value::Fixed(Fixed::Literal(value, ty)) => self.integer(*value, ty.clone(), site),
            Value::Tuple(all) => Value::Tuple(all.iter().map(|one| self.spelled_out(one, site)).collect()),
            other => other.clone(),
        }
    }

    pub(super) fn parameter(&mut self, name: &str, ty: &PyTy, site: Site, out: &mut Vec<ExprId>) {
        let mut add = |this: &mut Self, name: &str, ty: Ty, natural: bool| {
            let variable = this.variable(name, ty, site);
            this.body.constant.insert(variable);
            if natural {
                this.body.natural.insert(variable);
            }
            let read = this.read_register(variable, site);
            out.push(read);
        };
        match ty {
            PyTy::Number(ty) => add(self, name, ty.clone(), false),
            PyTy::Opaque => add(self, name, Ty::Opaque { bytes: None }, false),
            PyTy::Record(_) => add(self, name, Ty::Pointer, false),
            PyTy::Array { rank, order, .. } => {
                add(self, name, Ty::Pointer, false);
                for axis in 0..*rank {
                    add(self, &format!("{name}.shape[{axis}]"), Ty::LONG, true);
                }
                if *order == super::Order::Strided {
                    for axis in 0..*rank {
                        add(self, &format!("{name}.strides[{axis}]"), Ty::LONG, false);
                    }
                }
            }
            PyTy::Tuple(all) => {
                for (index, one) in all.iter().enumerate() {
                    self.parameter(&format!("{name}[{index}]"), one, site, out);
                }
            }
            PyTy::None | PyTy::Fixed(_) => {}
        }
    }

    /// Parameters that are assigned to get registers of their own, beginning with what was handed over.
    fn bind_parameters(&mut self, _parameters: &[ExprId], function: &'p ir::Function) {
        for index in 0..function.param_count {
            let local = LocalId(index);
            if self.context.scan.get(local).definitions <= 1 {
                let slot = self.body.slots.entry(local).or_default();
                slot.ty = slot.value.as_ref().and_then(Value::ty);
                slot.negative = true;
                continue;
            }
            let Some(declared) = function.locals.get(LocalId(index)) else { continue };
            let site = self.site(declared.span);
            let value = self.body.slots.get_mut(&local).and_then(|slot| slot.value.take());
            if let Some(value) = value {
                self.assign_local(local, None, &value, site);
            }
        }
    }
}
