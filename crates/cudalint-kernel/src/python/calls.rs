//! Calls: functions of the project, and whose library the others belong to.

use super::lower::Lowerer;
use super::types::Key;
use super::types::{Fixed, PyTy, named};
use super::value::Value;
use crate::code::{Effect, Expr, Place, Ty};
use crate::report::Site;
use cudalint_program::Name;
use cudalint_program::api::ApiId;
use cudalint_program::api::python::canonical;
use cudalint_program::ir::{self, Dialect, PythonExpr};
use std::sync::Arc;

/// The arguments of a call.
pub(super) struct Arguments {
    pub given: Vec<Value>,
    pub named: Vec<(Name, Value)>,
}

impl Arguments {
    /// The argument that may be given at a position or by a name.
    pub fn get(&self, at: usize, name: &str) -> Option<&Value> {
        self.given.get(at).or_else(|| self.named.iter().find(|(known, _)| known == name).map(|(_, value)| value))
    }

    /// All of them, for what is evaluated and forgotten.
    pub fn all(&self) -> Vec<Value> {
        self.given.iter().chain(self.named.iter().map(|(_, value)| value)).cloned().collect()
    }
}

/// Whether a package is one of those that only kernels call.
pub(super) fn is_for_kernels(package: &str) -> bool {
    ["numba.cuda", "cupyx.jit"].iter().any(|known| package.starts_with(known))
}

impl Lowerer<'_> {
    pub(super) fn call(&mut self, callee: ir::ExprId, args: &[ir::ExprId], site: Site) -> Value {
        let function = self.expr(callee);
        let mut arguments = Arguments { given: Vec::new(), named: Vec::new() };
        let naming = self.naming.take();
        for arg in args {
            match self.node(*arg).map(|node| &node.kind) {
                Some(ir::Expr::Python(python)) => match &**python {
                    PythonExpr::Keyword(name, value) => {
                        let value = self.expr(*value);
                        arguments.named.push((name.clone(), value));
                    }
                    PythonExpr::Spread { value, keywords: false } => match self.expr(*value) {
                        Value::Tuple(all) => arguments.given.extend(all),
                        other => {
                            let unknown = self.lost("spread", &[other], Effect::None, site);
                            arguments.given.push(unknown);
                        }
                    },
                    _ => {
                        let value = self.expr(*arg);
                        arguments.given.push(value);
                    }
                },
                _ => {
                    let value = self.expr(*arg);
                    arguments.given.push(value);
                }
            }
        }
        self.naming = naming;
        match &function {
            Value::Fixed(Fixed::Function(module, id, captured)) => {
                self.call_function(*module, *id, *captured, &arguments, site)
            }
            Value::Fixed(Fixed::Package(path)) => self.library(&path.clone(), &arguments, site),
            Value::Fixed(Fixed::Type(ty)) => self.cast(&arguments.given, &ty.clone(), site),
            Value::Method(of, name) => self.method(&of.clone(), &name.clone(), &arguments, site),
            _ => self.out_of_sight(&arguments, site),
        }
    }

    /// A call of what nobody knows.
    pub(super) fn out_of_sight(&mut self, arguments: &Arguments, site: Site) -> Value {
        self.lost("call out of sight", &arguments.all(), Effect::Call { memory: true, discarded: true }, site)
    }

    /// A call of device code.
    fn call_function(
        &mut self,
        module: ir::ModuleId,
        id: ir::FunctionId,
        captured: u32,
        arguments: &Arguments,
        site: Site,
    ) -> Value {
        let Some(function) = self.project.function_at(module, id) else {
            return self.out_of_sight(arguments, site);
        };
        let mut values: Vec<Value> = arguments.given.clone();
        let python = function.python.as_ref();
        let rest =
            python.and_then(|python| python.rest.filter(|rest| rest.index() + 1 == function.param_count as usize));
        if let Some(rest) = rest.filter(|rest| rest.index() <= values.len()) {
            let gathered = values.split_off(rest.index());
            values.push(Value::Tuple(gathered));
        }
        let params = function.params().iter();
        for param in params.skip(values.len()) {
            let given = arguments.named.iter().find(|(name, _)| *name == param.name).map(|(_, value)| value.clone());
            let value = match (given, param.init) {
                (Some(value), _) => value,
                (None, Some(init)) if module == self.context.module => self.expr(init),
                (None, _) => self.unknown(Vec::new(), Effect::None, site),
            };
            values.push(value);
        }
        let open = |python: &ir::PythonFunction| python.rest.is_some() && rest.is_none() || python.keywords.is_some();
        let variadic = python.is_none_or(|python| open(python));
        if variadic || values.len() != function.param_count as usize || function.body.is_none() {
            return self.out_of_sight(arguments, site);
        }
        self.call_instance(module, id, captured, &values, arguments, site)
    }

    /// A call of device code with a value for each of its parameters.
    pub(super) fn call_instance(
        &mut self,
        module: ir::ModuleId,
        id: ir::FunctionId,
        captured: u32,
        values: &[Value],
        arguments: &Arguments,
        site: Site,
    ) -> Value {
        let types: Vec<PyTy> = values.iter().map(|value| value.ty().unwrap_or(PyTy::Opaque)).collect();
        let key = Key { module, function: id, captured, arguments: types };
        let Some((callee, returns, types)) = self.instance_for(&key, values) else {
            return self.out_of_sight(arguments, site);
        };
        let mut operands = Vec::new();
        for (value, ty) in values.iter().zip(&types) {
            if matches!(ty, PyTy::Fixed(Fixed::Literal(..))) {
                continue;
            }
            if value.ty().is_none() {
                let unknown = self.unknown(Vec::new(), Effect::None, site);
                unknown.leaves(&mut operands);
                continue;
            }
            self.coerce(value, ty, site).leaves(&mut operands);
        }
        let ty = returns.as_returned();
        let call = self.push(Expr::Call(callee, operands), ty.clone(), site);
        self.result(call, &returns, site)
    }

    /// A function's result as a value.
    fn result(&mut self, call: crate::code::ExprId, returns: &PyTy, site: Site) -> Value {
        let mut types = Vec::new();
        returns.leaves(&mut types);
        let leaves: Vec<crate::code::ExprId> = match types.as_slice() {
            [] => {
                self.emit(crate::code::Stmt::Expr(call), site);
                Vec::new()
            }
            [_] => vec![call],
            all => {
                let variable = self.register("", call, site);
                let all = all.to_vec();
                all.into_iter()
                    .enumerate()
                    .map(|(at, ty)| {
                        let place = Place::Register { variable, first: at as u16, count: 1 };
                        self.push(Expr::Read(place), ty, site)
                    })
                    .collect()
            }
        };
        match Value::from_leaves(returns, &Arc::from(""), &mut leaves.into_iter()) {
            Some(value) => value,
            None => self.unknown(Vec::new(), Effect::None, site),
        }
    }

    /// `int32(x)`, `np.float32(x)`, `float(x)`.
    pub(super) fn cast(&mut self, given: &[Value], ty: &Ty, site: Site) -> Value {
        match given {
            [Value::Number(id, from)] if !matches!(ty, Ty::Opaque { .. }) => {
                let id = self.convert(*id, from, ty);
                Value::Number(id, ty.clone())
            }
            [] if matches!(ty, Ty::Int { .. } | Ty::Bool) => self.integer(0, ty.clone(), site),
            _ => {
                let mut children = Vec::new();
                for value in given {
                    value.leaves(&mut children);
                }
                let id = self.pure("cast", children, ty.clone(), site);
                if matches!(ty, Ty::Opaque { .. }) { Value::Opaque(id) } else { Value::Number(id, ty.clone()) }
            }
        }
    }

    /// A function or type of a package.
    fn library(&mut self, path: &str, arguments: &Arguments, site: Site) -> Value {
        let path = canonical(path);
        let (package, name) = path.rsplit_once('.').unwrap_or(("", &path));
        let device = is_for_kernels(package);
        let api = ApiId::of_python(&path);
        let found = match (api.and_then(|api| api.device_op()), api.and_then(|api| api.math())) {
            (Some(op), _) => api.and_then(|api| self.device_function(op, api, arguments, site)),
            (None, Some(op)) => self.mathematics(op, name, arguments, site),
            _ if package == "builtins" => self.builtin(name, arguments, site),
            _ if package == "operator" => self.operator(name, arguments, site),
            _ if device && self.dialect != Dialect::CupyJit => self.vector(name, arguments, site),
            _ => None,
        };
        if let Some(value) = found {
            return value;
        }
        let types = package.starts_with("numba") || matches!(package, "numpy" | "cupy" | "builtins");
        if types && let Some(ty) = named(name) {
            return self.cast(&arguments.given, &ty, site);
        }
        self.gap(if package.contains(".thrust") { "function of Thrust" } else { "function of a package" });
        let mut children = Vec::new();
        arguments.all().iter().for_each(|value| value.leaves(&mut children));
        // What a package computes of numbers alone has no effect that this kernel could see.
        let numbers = arguments.all().iter().all(|value| matches!(value, Value::Number(..) | Value::Opaque(_)));
        let quiet = numbers && !arguments.given.is_empty() && !device;
        self.unknown(children, if quiet { Effect::None } else { Effect::Anything }, site)
    }
}
