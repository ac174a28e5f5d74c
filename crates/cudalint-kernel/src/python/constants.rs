//! Constants from outside of a kernel: what it captures, what the module or a function around writes down once, what other files
//! of the project define.

use super::lower::{Context, Lowerer};
use super::types::{DOUBLE, Fixed, named};
use super::value::Value;
use super::{Constant, Order};
use crate::code::{Expr, ObjectId, ObjectSpace, StaticObject, Ty};
use crate::report::Site;
use cudalint_program::Name;
use cudalint_program::api::ApiId;
use cudalint_program::api::packages::Compiler;
use cudalint_program::ir::{self, FunctionId};
use cudalint_program::visit;
use std::sync::Arc;

/// How many names are followed from one to the next.
pub(super) const MAX_LOOKUPS: u32 = 12;

/// Packages that are no files of the project.
const PACKAGES: &[&str] = &["numba", "numba_cuda", "numpy", "cupy", "cupyx", "math", "operator", "builtins", "cmath"];

/// A function whose variables an expression names, with its body.
type Within<'p> = (&'p ir::Function, &'p ir::Block);

/// Whether what a dotted name means compiles a function that can be called as before.
fn is_compiler(path: &str) -> bool {
    let compiler = ApiId::of_python(path).and_then(|api| api.compiler());
    matches!(compiler, Some(Compiler::Jit | Compiler::Raw | Compiler::Host))
}

impl<'p> Lowerer<'p> {
    /// The value of a name that is assigned exactly once, by a constant expression.
    pub(super) fn once_assigned(
        &mut self,
        function: &'p ir::Function,
        body: &'p ir::Block,
        local: ir::LocalId,
        site: Site,
    ) -> Option<Value> {
        let module: &'p ir::Module = self.context.ir;
        let mut found = None;
        let mut count = 0;
        let is_target = |id: ir::ExprId| matches!(module.exprs.get(id).map(|node| &node.kind), Some(ir::Expr::Local(target)) if *target == local);
        visit::walk(module, function, body, |item| {
            visit::bound_at(module, item, |target, value| {
                visit::targets(module, target, |id| {
                    if is_target(id) {
                        // What a part of a tuple gets is no expression.
                        found = value.filter(|_| id == target);
                        count += if found.is_some() { 1 } else { 2 };
                    }
                });
            });
            true
        });
        if count != 1 {
            return None;
        }
        self.written_constant(found?, Some((function, body)), site)
    }

    /// The value of a constant expression outside of the kernel.
    pub(super) fn written_constant(&mut self, id: ir::ExprId, within: Option<Within<'p>>, site: Site) -> Option<Value> {
        if self.looking > MAX_LOOKUPS {
            return None;
        }
        self.looking += 1;
        let value = self.written_constant_inner(id, within, site);
        self.looking -= 1;
        value
    }

    fn written_constant_inner(&mut self, id: ir::ExprId, within: Option<Within<'p>>, site: Site) -> Option<Value> {
        match &self.node(id)?.kind {
            ir::Expr::Int { .. } | ir::Expr::Float { .. } | ir::Expr::Str(_) | ir::Expr::Null => Some(self.expr(id)),
            ir::Expr::Name { path, .. } => {
                let name = path.last()?.clone();
                let value = self.name(&name, site);
                self.is_fixed(&value).then_some(value)
            }
            ir::Expr::Local(local) => {
                let (function, body) = within?;
                self.once_assigned(function, body, *local, site)
            }
            ir::Expr::Unary(ir::UnaryOp::Minus, inner) => match self.written_constant(*inner, within, site)? {
                Value::Number(id, ty) => {
                    let id = self.negated(id, &ty, site);
                    Some(Value::Number(id, ty))
                }
                _ => None,
            },
            ir::Expr::Binary(op, a, b) => {
                let (a, b) = (self.written_constant(*a, within, site)?, self.written_constant(*b, within, site)?);
                let value = self.binary(*op, &a, &b, site);
                self.is_fixed(&value).then_some(value)
            }
            ir::Expr::Member { base, name, .. } => {
                let base = self.written_constant(*base, within, site)?;
                let value = self.attribute(&base, &name.clone(), site);
                self.is_fixed(&value).then_some(value)
            }
            ir::Expr::Python(python) => match &**python {
                ir::PythonExpr::Tuple(all) => {
                    let parts: Option<Vec<Value>> =
                        all.iter().map(|one| self.written_constant(*one, within, site)).collect();
                    Some(Value::Tuple(parts?))
                }
                _ => None,
            },
            // `f = cuda.jit(device=True)(g)`, `n = int(4)`, `t = np.float32(2)`.
            ir::Expr::Call { callee, args } => {
                let last = *args.last()?;
                let inner = match &self.node(*callee)?.kind {
                    ir::Expr::Call { callee, .. } => *callee,
                    _ => *callee,
                };
                let Value::Fixed(Fixed::Package(path)) = self.written_constant(inner, within, site)? else {
                    return None;
                };
                let ty = named(path.rsplit('.').next().unwrap_or_default());
                match (self.written_constant(last, within, site)?, ty) {
                    (function @ Value::Fixed(Fixed::Function(..)), _) if is_compiler(&path) => Some(function),
                    (Value::Number(id, from), Some(to)) => {
                        let id = self.convert(id, &from, &to);
                        let value = Value::Number(id, to);
                        self.is_fixed(&value).then_some(value)
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Whether a value says the same wherever it stands.
    fn is_fixed(&self, value: &Value) -> bool {
        match value {
            Value::None | Value::Fixed(_) => true,
            Value::Number(id, _) => {
                matches!(self.code.exprs.get(*id).map(|node| &node.kind), Some(Expr::Int(_) | Expr::Float(_)))
            }
            Value::Tuple(all) => all.iter().all(|one| self.is_fixed(one)),
            _ => false,
        }
    }

    /// A captured value.
    pub(super) fn constant(&mut self, constant: &Constant, name: &Name, site: Site) -> Value {
        match constant {
            Constant::Int(value, ty) if *ty == Ty::LONG => self.plain_integer(*value, site),
            Constant::Int(value, ty) => self.integer(*value, ty.clone(), site),
            Constant::Bool(value) => self.integer(i64::from(*value), Ty::Bool, site),
            Constant::Float(value, ty) if *ty == DOUBLE => self.plain_float(*value, site),
            Constant::Float(value, ty) => {
                let id = self.push(Expr::Float(*value), ty.clone(), site);
                Value::Number(id, ty.clone())
            }
            Constant::Str(text) => Value::Fixed(Fixed::Str(Arc::clone(text))),
            Constant::None => Value::None,
            Constant::Tuple(all) => Value::Tuple(all.iter().map(|one| self.constant(one, name, site)).collect()),
            Constant::Type(ty) => Value::Fixed(Fixed::Type(ty.clone())),
            Constant::Record(record) => Value::Fixed(Fixed::Record(Arc::clone(record))),
            Constant::Array { element, shape, values } => {
                self.constant_array(name, element, shape, values.clone(), site)
            }
            Constant::Function(module, function, captured) => {
                let captured = self.capture(captured);
                Self::function_value(*module, *function, captured)
            }
            Constant::Package(path) => self.package(path, site),
        }
    }

    /// An array of the host that is compiled into the kernel.
    fn constant_array(
        &mut self,
        name: &Name,
        element: &Ty,
        shape: &[i64],
        values: Option<Arc<[i64]>>,
        site: Site,
    ) -> Value {
        let size = element.bytes();
        let bytes = size.and_then(|size| {
            shape.iter().try_fold(u64::from(size), |all, extent| all.checked_mul(u64::try_from(*extent).ok()?))
        });
        let values = values.and_then(|values| Some((u8::try_from(size?).ok()?, values)));
        let known = self.code.objects.iter().position(|object| {
            object.space == ObjectSpace::Constant && object.name == name.as_str() && object.bytes == bytes
        });
        let object = known.unwrap_or_else(|| {
            self.code.objects.push(StaticObject {
                name: name.to_string(),
                site,
                space: ObjectSpace::Constant,
                bytes,
                element: size.unwrap_or(1),
                extents: shape.to_vec(),
                align: element.align(),
                values,
            });
            self.code.objects.len() - 1
        });
        let data = self.push(Expr::ObjectAddress(ObjectId(object as u32)), Ty::Pointer, site);
        let shape = shape.iter().map(|extent| self.long(*extent, site)).collect();
        Value::Array(Box::new(super::value::Array {
            name: Arc::from(name.as_str()),
            element: element.clone(),
            record: None,
            unit: None,
            order: Order::C,
            data,
            shape,
            strides: Vec::new(),
        }))
    }

    /// What a name of another file of the project means: a function, or a constant that is written there.
    pub(super) fn of_project(&mut self, path: &str, level: u32, site: Site) -> Option<Value> {
        let root = path.split('.').next().unwrap_or_default();
        if self.looking > MAX_LOOKUPS || (level == 0 && PACKAGES.contains(&root)) {
            return None;
        }
        let (package, name) = path.rsplit_once('.').unwrap_or(("", path));
        let module = self.project.python_module(self.context.module, package, level)?;
        let project: &'p cudalint_program::Project = self.project;
        let there = Context {
            module,
            ir: project.module(module),
            id: FunctionId(0),
            function: None,
            captured: self.capture(&[]),
            scan: Arc::default(),
        };
        self.looking += 1;
        let outer = std::mem::replace(&mut self.context, there);
        let name = Name::from(name);
        let value = self.of_module(&name, site).or_else(|| self.imported(&name, site));
        self.context = outer;
        self.looking -= 1;
        value
    }

    /// What an import of the module that is looked at binds a name to.
    fn imported(&mut self, name: &Name, site: Site) -> Option<Value> {
        let module: &'p ir::Module = self.context.ir;
        let import = module.imports.iter().rev().find(|import| import.local == *name && import.function.is_none())?;
        Some(self.import(import, site))
    }
}
