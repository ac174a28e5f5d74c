//! What names and attributes mean: captured values, functions, packages, and constants that are written in the module.

use super::Order;
use super::constants::MAX_LOOKUPS;
use super::lower::{Captured, Lowerer};
use super::types::{DOUBLE, Fixed, named};
use super::value::Value;
use crate::code::{Builtin, Effect, Expr, Ty};
use crate::report::Site;
use cudalint_program::Name;
use cudalint_program::api::ApiId;
use cudalint_program::ir::{self, Dialect, FunctionId, ModuleId};
use std::sync::Arc;

/// Functions and constants of Python itself that kernels use.
const BUILTINS: &[&str] = &[
    "range",
    "len",
    "min",
    "max",
    "abs",
    "int",
    "float",
    "bool",
    "round",
    "pow",
    "print",
    "enumerate",
    "zip",
    "divmod",
    "tuple",
    "complex",
    "sum",
    "slice",
    "all",
    "any",
    "isinstance",
    "breakpoint",
    "ord",
    "type",
    "str",
];

/// Variables and namespaces that `from numba.cuda import *` brings.
const VARIABLES: [&str; 9] =
    ["threadIdx", "blockIdx", "blockDim", "gridDim", "laneid", "warpsize", "shared", "local", "atomic"];

/// Whether `from package import *` brings a name that kernels use.
fn is_brought(path: &str, name: &str) -> bool {
    VARIABLES.contains(&name) || ApiId::of_python(path).is_some_and(|api| api.device_op().is_some())
}

impl<'p> Lowerer<'p> {
    /// What a name that is no variable of the function means.
    pub(super) fn name(&mut self, name: &Name, site: Site) -> Value {
        if self.looking > MAX_LOOKUPS {
            return self.unknown(Vec::new(), Effect::None, site);
        }
        self.looking += 1;
        let captured: Option<Captured> = self.captures.get(self.context.captured as usize).cloned();
        let known = captured.as_ref().and_then(|all| all.iter().find(|(known, _)| known == name));
        let value = match known {
            Some((_, constant)) => self.constant(&constant.clone(), name, site),
            None => self.outer_name(name, site),
        };
        self.looking -= 1;
        value
    }

    fn outer_name(&mut self, name: &Name, site: Site) -> Value {
        let module: &'p ir::Module = self.context.ir;
        // Functions and variables of the functions around, innermost first.
        let mut around = self.context.function.and_then(|function| function.parent);
        for _ in 0..MAX_LOOKUPS {
            let Some(id) = around else { break };
            let Some(function) = module.functions.get(id) else { break };
            let is_module = function.python.as_ref().is_some_and(|python| python.is_module);
            if !is_module && let Some(value) = self.in_function(id, function, name, site) {
                return value;
            }
            around = function.parent;
        }
        let visible = |function: &Option<FunctionId>| function.is_none() || *function == Some(self.context.id);
        if let Some(import) =
            module.imports.iter().rev().find(|import| import.local == *name && visible(&import.function))
        {
            return self.import(import, site);
        }
        if let Some(value) = self.of_module(name, site) {
            return value;
        }
        if let Some(import) = module.imports.iter().find(|import| import.local == *name) {
            return self.import(import, site);
        }
        if BUILTINS.contains(&name.as_str()) {
            return Value::Fixed(Fixed::Package(Arc::from(format!("builtins.{name}"))));
        }
        // `from numba.cuda import *` and its like.
        if let Some(import) = module.imports.iter().find(|import| import.local.is_empty())
            && let path = format!("{}.{name}", import.path)
            && (named(name).is_some() || is_brought(&path, name))
        {
            return self.package(&path, site);
        }
        self.gap("name not known");
        self.unknown(Vec::new(), Effect::None, site)
    }

    /// A function or a constant of the function `id` around.
    fn in_function(&mut self, id: FunctionId, function: &'p ir::Function, name: &Name, site: Site) -> Option<Value> {
        let module: &'p ir::Module = self.context.ir;
        let inner = module.functions.iter().position(|inner| {
            inner.parent == Some(id) && inner.name == *name && inner.python.as_ref().is_some_and(|p| !p.is_module)
        });
        if let Some(inner) = inner {
            return Some(Self::function_value(self.context.module, FunctionId(inner as u32), self.context.captured));
        }
        if let Some(import) = module.imports.iter().find(|import| import.local == *name && import.function == Some(id))
        {
            return Some(self.import(import, site));
        }
        let local = function.locals.iter().position(|local| local.name == *name)?;
        if local < function.param_count as usize {
            return None;
        }
        let body = function.body.as_ref()?;
        self.once_assigned(function, body, ir::LocalId(local as u32), site)
    }

    /// A function or constant at the level of the module.
    pub(super) fn of_module(&mut self, name: &Name, site: Site) -> Option<Value> {
        let module: &'p ir::Module = self.context.ir;
        let body = module.body;
        let function = module.functions.iter().rposition(|function| {
            function.name == *name
                && function.scope.segments.is_empty()
                && (function.parent.is_none() || function.parent == body)
                && function.python.as_ref().is_some_and(|python| !python.is_module)
        });
        if let Some(function) = function {
            // It sees the globals that the kernel sees, and none of what surrounds the kernel.
            let nested = self.context.function.is_some_and(|function| function.parent.is_some());
            let captured = if nested { self.capture(&[]) } else { self.context.captured };
            return Some(Self::function_value(self.context.module, FunctionId(function as u32), captured));
        }
        let init = module.globals.iter().find(|global| global.name == *name)?.init?;
        self.written_constant(init, None, site)
    }

    /// A function as a value.
    pub(super) const fn function_value(module: ModuleId, function: FunctionId, captured: u32) -> Value {
        Value::Fixed(Fixed::Function(module, function, captured))
    }

    /// `value.name`.
    pub(super) fn attribute(&mut self, value: &Value, name: &Name, site: Site) -> Value {
        match value {
            Value::Fixed(Fixed::Package(path)) => self.package_attribute(&path.clone(), name, site),
            Value::Array(array) => match name.as_str() {
                "shape" => {
                    let extent = |id: &crate::code::ExprId| Value::Number(*id, Ty::LONG);
                    Value::Tuple(array.shape.iter().map(extent).collect())
                }
                "strides" => {
                    let strides = self.strides(&array.clone(), site);
                    Value::Tuple(strides.into_iter().map(|id| Value::Number(id, Ty::LONG)).collect())
                }
                "size" => {
                    let one = self.long(1, site);
                    let product = array
                        .shape
                        .clone()
                        .into_iter()
                        .fold(one, |all, extent| self.folded(ir::BinaryOp::Mul, all, extent, site));
                    Value::Number(product, Ty::LONG)
                }
                "ndim" => self.plain_integer(array.shape.len() as i64, site),
                "itemsize" if array.element.bytes().is_some() => {
                    self.plain_integer(i64::from(array.element.bytes().unwrap_or_default()), site)
                }
                "nbytes" if array.element.bytes().is_some() => {
                    let start = self.long(i64::from(array.element.bytes().unwrap_or_default()), site);
                    let product = array
                        .shape
                        .clone()
                        .into_iter()
                        .fold(start, |all, extent| self.folded(ir::BinaryOp::Mul, all, extent, site));
                    Value::Number(product, Ty::LONG)
                }
                "dtype" => Value::Fixed(match &array.record {
                    Some(record) => Fixed::Record(Arc::clone(record)),
                    None => Fixed::Type(array.element.clone()),
                }),
                "T" => Self::transposed(array),
                _ if array.record.as_ref().is_some_and(|record| record.field(name).is_some()) => {
                    match self.field_of_array(array, name, site) {
                        Some(view) => view,
                        None => self.lost("field of a record", std::slice::from_ref(value), Effect::None, site),
                    }
                }
                _ => Value::Method(Box::new(value.clone()), name.clone()),
            },
            Value::Record(of) => self.field_of(of, name, site),
            // Of a complex number, whose parts nobody knows.
            Value::Opaque(id) if matches!(name.as_str(), "real" | "imag") => {
                Value::Opaque(self.pure(name, vec![*id], Ty::Opaque { bytes: None }, site))
            }
            Value::Number(id, ty) => match name.as_str() {
                "real" => Value::Number(*id, ty.clone()),
                "dtype" => Value::Fixed(Fixed::Type(ty.clone())),
                _ => Value::Method(Box::new(value.clone()), name.clone()),
            },
            Value::Fixed(Fixed::Type(_)) if name == "dtype" => value.clone(),
            // `float32x4` and its like are kept as tuples.
            Value::Tuple(all) => {
                let part = ["x", "y", "z", "w"].iter().position(|part| *name == **part).and_then(|at| all.get(at));
                part.cloned().unwrap_or_else(|| Value::Method(Box::new(value.clone()), name.clone()))
            }
            _ => Value::Method(Box::new(value.clone()), name.clone()),
        }
    }

    fn transposed(array: &super::value::Array) -> Value {
        let mut array = array.clone();
        array.shape.reverse();
        array.strides.reverse();
        array.order = match array.order {
            Order::C => Order::Fortran,
            Order::Fortran => Order::C,
            Order::Strided => Order::Strided,
        };
        Value::Array(Box::new(array))
    }

    fn package_attribute(&mut self, path: &str, name: &Name, site: Site) -> Value {
        let axis = match name.as_str() {
            "x" => Some(0),
            "y" => Some(1),
            "z" => Some(2),
            _ => None,
        };
        if let Some(axis) = axis {
            let builtin = match path.rsplit('.').next().unwrap_or_default() {
                "threadIdx" => Some(Builtin::ThreadIdx(axis)),
                "blockIdx" => Some(Builtin::BlockIdx(axis)),
                "blockDim" => Some(Builtin::BlockDim(axis)),
                "gridDim" => Some(Builtin::GridDim(axis)),
                _ => None,
            };
            if let Some(builtin) = builtin {
                // Numba's `Dim3` has `int32` parts, `cupyx.jit`'s are C's `unsigned`.
                let ty = if self.dialect == Dialect::CupyJit { Ty::UINT } else { Ty::INT };
                let id = self.push(Expr::Builtin(builtin), ty.clone(), site);
                return Value::Number(id, ty);
            }
        }
        let number = match (path, name.as_str()) {
            ("math" | "numpy" | "cupy" | "cmath", "pi") => Some(std::f64::consts::PI),
            ("math" | "numpy" | "cupy", "e") => Some(std::f64::consts::E),
            ("math", "tau") => Some(std::f64::consts::TAU),
            ("math" | "numpy" | "cupy", "inf") => Some(f64::INFINITY),
            ("math" | "numpy" | "cupy", "nan") => Some(f64::NAN),
            _ => None,
        };
        if let Some(number) = number {
            return self.plain_float(number, site);
        }
        let whole = format!("{path}.{name}");
        self.package(&whole, site)
    }

    /// What an import binds its name to.
    pub(super) fn import(&mut self, import: &ir::Import, site: Site) -> Value {
        match self.of_project(&import.path, import.level, site) {
            Some(value) => value,
            None => self.package(&import.path, site),
        }
    }

    /// A module or function of a package.
    pub(super) fn package(&mut self, path: &str, site: Site) -> Value {
        match self.package_number(path, site).or_else(|| self.of_project(path, 0, site)) {
            Some(value) => value,
            None => Value::Fixed(Fixed::Package(Arc::from(path))),
        }
    }

    /// What stands for a number although it is written as a name of a package: `cuda.laneid`, `cuda.warpsize`.
    fn package_number(&mut self, path: &str, site: Site) -> Option<Value> {
        let last = path.rsplit('.').next().unwrap_or_default();
        if !path.starts_with("numba") && !path.starts_with("cupyx") {
            return None;
        }
        match last {
            "laneid" if self.dialect != Dialect::CupyJit => Some(self.lane(Ty::INT, site)),
            "warpsize" => {
                let ty = if self.dialect == Dialect::CupyJit { Ty::UINT } else { Ty::INT };
                let id = self.push(Expr::Builtin(Builtin::WarpSize), ty.clone(), site);
                Some(Value::Number(id, ty))
            }
            _ => None,
        }
    }

    /// The thread's lane in its warp.
    pub(super) fn lane(&mut self, ty: Ty, site: Site) -> Value {
        let rank = crate::code::Intrinsic::GroupRank(crate::code::Group::Tile(32));
        let id = self.push(Expr::Intrinsic(rank, Vec::new()), ty.clone(), site);
        Value::Number(id, ty)
    }

    /// The type that a value names, as a dtype.
    pub(super) fn type_of(value: &Value) -> Option<Ty> {
        match value {
            Value::Fixed(Fixed::Type(ty)) => Some(ty.clone()),
            Value::Fixed(Fixed::Record(record)) => Some(Ty::Opaque { bytes: Some(record.bytes) }),
            Value::Fixed(Fixed::Str(text)) => named(text),
            Value::Fixed(Fixed::Package(path)) => {
                let last = path.rsplit('.').next().unwrap_or_default();
                match (&**path, last) {
                    ("numpy.float_" | "cupy.float_", _) => Some(DOUBLE),
                    _ => named(last),
                }
            }
            _ => None,
        }
    }
}
