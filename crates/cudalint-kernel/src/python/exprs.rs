//! Expressions.

use super::lower::Lowerer;
use super::types::{DOUBLE, FLOAT, Fixed, PyTy, is_integer, unary, unify};
use super::value::Value;
use crate::code::{self, BinaryOp, Effect, Expr, ExprId, Stmt, Ty, UnaryOp};
use crate::report::Site;
use cudalint_program::ir::{self, Dialect, PythonExpr};
use std::sync::Arc;

/// Most numbers in a tuple.
const MAX_PARTS: usize = 256;

impl Lowerer<'_> {
    /// Lowers an expression.
    pub(super) fn expr(&mut self, id: ir::ExprId) -> Value {
        let site = self.site_of(id);
        match self.deeper(|this| this.expr_inner(id, site)) {
            Some(value) => value,
            None => self.unknown(Vec::new(), Effect::Anything, site),
        }
    }

    pub(super) fn integer(&mut self, value: i64, ty: Ty, site: Site) -> Value {
        let id = self.push(Expr::Int(value), ty.clone(), site);
        Value::Number(id, ty)
    }

    pub(super) fn long(&mut self, value: i64, site: Site) -> ExprId {
        self.push(Expr::Int(value), Ty::LONG, site)
    }

    /// A plain Python number: 64 bits for Numba; `int` and `float` for `cupyx.jit`, where it fits.
    pub(super) fn plain_integer(&mut self, value: i64, site: Site) -> Value {
        let fits = self.dialect == Dialect::CupyJit && i32::try_from(value).is_ok();
        self.integer(value, if fits { Ty::INT } else { Ty::LONG }, site)
    }

    pub(super) fn plain_float(&mut self, value: f64, site: Site) -> Value {
        let ty = if self.dialect == Dialect::CupyJit { FLOAT } else { DOUBLE };
        let id = self.push(Expr::Float(value), ty.clone(), site);
        Value::Number(id, ty)
    }

    fn expr_inner(&mut self, id: ir::ExprId, site: Site) -> Value {
        let Some(node) = self.node(id) else { return self.unknown(Vec::new(), Effect::None, site) };
        match &node.kind {
            ir::Expr::Int { value, bytes: 1, signed: false } => self.integer(*value, Ty::Bool, site),
            ir::Expr::Int { value, .. } => self.plain_integer(*value, site),
            ir::Expr::Float { value, .. } => self.plain_float(*value, site),
            ir::Expr::Str(text) => Value::Fixed(Fixed::Str(Arc::clone(text))),
            ir::Expr::Null => Value::None,
            ir::Expr::Local(local) => self.read_local(self.context.scan.variable(*local, id), site),
            ir::Expr::Name { path, .. } => match path.last() {
                Some(name) => self.name(&name.clone(), site),
                None => self.unknown(Vec::new(), Effect::None, site),
            },
            ir::Expr::Unary(op, operand) => self.unary_expr(*op, *operand, id, site),
            ir::Expr::Binary(op, a, b) => {
                let (a, b) = (self.expr(*a), self.expr(*b));
                self.binary(*op, &a, &b, site)
            }
            ir::Expr::AndThen(a, b) => self.either(*a, *b, true, id, site),
            ir::Expr::OrElse(a, b) => self.either(*a, *b, false, id, site),
            ir::Expr::Assign { op: None, target, value } => {
                let value = self.expr(*value);
                let value = self.settled(&value);
                self.assign(*target, &value, site);
                value
            }
            ir::Expr::Select(condition, a, b) => self.select(*condition, *a, *b, site),
            ir::Expr::Index { base, indices } => {
                let base = self.expr(*base);
                let items: Vec<Value> = indices.iter().map(|index| self.expr(*index)).collect();
                self.subscript(&base, &items, site)
            }
            ir::Expr::Member { base, name, .. } => {
                let base = self.expr(*base);
                self.attribute(&base, &name.clone(), site)
            }
            ir::Expr::Call { callee, args } => self.call(*callee, args, site),
            ir::Expr::Lambda { function, .. } => {
                Self::function_value(self.context.module, *function, self.context.captured)
            }
            ir::Expr::Throw(_) => self.raise(site),
            ir::Expr::Python(python) => self.python_expr(python, id, site),
            // Whether a `break` left the loop before.
            ir::Expr::Unknown(parts) if parts.is_empty() => self.unknown(Vec::new(), Effect::None, site),
            _ => self.children(id, "expression not read", Effect::Anything, site),
        }
    }

    /// What is not understood, with its operands.
    fn children(&mut self, id: ir::ExprId, cause: &'static str, effect: Effect, site: Site) -> Value {
        let mut operands = Vec::new();
        if let Some(node) = self.node(id) {
            cudalint_program::visit::operands(&node.kind, |operand| operands.push(operand));
        }
        let parts: Vec<Value> = operands.into_iter().map(|operand| self.expr(operand)).collect();
        self.lost(cause, &parts, effect, site)
    }

    fn python_expr(&mut self, python: &PythonExpr, id: ir::ExprId, site: Site) -> Value {
        match python {
            PythonExpr::Tuple(all) | PythonExpr::List(all) => {
                let mut parts = Vec::new();
                for one in all {
                    match self.node(*one).map(|node| &node.kind) {
                        Some(ir::Expr::Python(inner)) if matches!(&**inner, PythonExpr::Spread { .. }) => {
                            let PythonExpr::Spread { value, .. } = &**inner else { continue };
                            match self.expr(*value) {
                                Value::Tuple(inner) => parts.extend(inner),
                                other => return self.lost("spread", &[other], Effect::None, site),
                            }
                        }
                        _ => parts.push(self.expr(*one)),
                    }
                }
                self.tuple(parts, site)
            }
            PythonExpr::Slice(parts) => {
                let parts = parts.map(|part| part.map(|part| self.expr(part)));
                let parts = parts.map(|part| part.filter(|value| !matches!(value, Value::None)));
                Value::Slice(Box::new(parts))
            }
            PythonExpr::Keyword(_, value) | PythonExpr::Spread { value, .. } => self.expr(*value),
            PythonExpr::In { value, container, negated } => {
                let value = self.expr(*value);
                let container = self.expr(*container);
                self.contained(&value, &container, *negated, site)
            }
            PythonExpr::Ellipsis => Value::Ellipsis,
            PythonExpr::Format(_) => Value::Fixed(Fixed::Str(Arc::from(""))),
            PythonExpr::Comprehension { .. } => self.children(id, "comprehension", Effect::Writes, site),
            PythonExpr::Set(_) | PythonExpr::Dict(_) => self.children(id, "container", Effect::None, site),
        }
    }

    fn contained(&mut self, value: &Value, container: &Value, negated: bool, site: Site) -> Value {
        let (Value::Number(..), Value::Tuple(all)) = (value, container) else {
            return self.lost("in", &[value.clone(), container.clone()], Effect::None, site);
        };
        let value = self.settled(value);
        let mut found = self.push(Expr::Int(0), Ty::Bool, site);
        for one in all {
            let equal = self.binary(BinaryOp::Eq, &value, one, site);
            let equal = self.truth(&equal, site);
            found = self.push(Expr::Or(found, equal), Ty::Bool, site);
        }
        if negated {
            found = self.push(Expr::Not(found), Ty::Bool, site);
        }
        Value::Number(found, Ty::Bool)
    }

    fn unary_expr(&mut self, op: UnaryOp, operand: ir::ExprId, id: ir::ExprId, site: Site) -> Value {
        if op == UnaryOp::Not {
            let truth = self.condition(id);
            return Value::Number(truth, Ty::Bool);
        }
        let value = self.expr(operand);
        let Value::Number(number, ty) = &value else {
            let mut children = Vec::new();
            value.leaves(&mut children);
            return self.unknown(children, Effect::None, site);
        };
        let to = unary(self.dialect, ty, op == UnaryOp::BitNot);
        let number = self.convert(*number, ty, &to);
        let id = match op {
            UnaryOp::Minus => self.negated(number, &to, site),
            UnaryOp::BitNot if to == Ty::Bool => self.push(Expr::Not(number), Ty::Bool, site),
            UnaryOp::BitNot => self.push(Expr::Unary(UnaryOp::BitNot, number), to.clone(), site),
            _ => number,
        };
        Value::Number(id, to)
    }

    /// `a and b`, `a or b` as a value: one of the two.
    fn either(&mut self, a: ir::ExprId, b: ir::ExprId, and: bool, id: ir::ExprId, site: Site) -> Value {
        if self.dialect == Dialect::CupyJit {
            let truth = self.condition(id);
            return Value::Number(truth, Ty::Bool);
        }
        let left = self.expr(a);
        let known = match &left {
            Value::Number(id, _) => self.fold(*id).map(|value| value != 0),
            Value::None => Some(false),
            _ => None,
        };
        if let Some(known) = known {
            return if known == and { self.expr(b) } else { left };
        }
        let left = match &left {
            Value::Number(_, Ty::Bool) => left,
            _ => self.settled(&left),
        };
        let (before, right) = self.in_block(|this| this.expr(b));
        let truth = self.truth(&left, site);
        if let (Value::Number(_, Ty::Bool), Value::Number(right, Ty::Bool)) = (&left, &right) {
            let right = self.after(before, *right);
            let id = self.push(if and { Expr::And(truth, right) } else { Expr::Or(truth, right) }, Ty::Bool, site);
            return Value::Number(id, Ty::Bool);
        }
        let left = self.settled(&left);
        let truth = self.truth(&left, site);
        if and {
            self.choice(truth, (before, right), (Vec::new(), left), site)
        } else {
            self.choice(truth, (Vec::new(), left), (before, right), site)
        }
    }

    fn select(&mut self, condition: ir::ExprId, a: ir::ExprId, b: ir::ExprId, site: Site) -> Value {
        let condition = self.condition(condition);
        if let Some(value) = self.fold(condition) {
            return self.expr(if value == 0 { b } else { a });
        }
        let yes = self.in_block(|this| this.expr(a));
        let no = self.in_block(|this| this.expr(b));
        self.choice(condition, yes, no, site)
    }

    /// `condition ? a : b` of values with what they need before.
    pub(super) fn choice(
        &mut self,
        condition: ExprId,
        (before_yes, yes): (code::Block, Value),
        (before_no, no): (code::Block, Value),
        site: Site,
    ) -> Value {
        let ty = match (yes.ty(), no.ty()) {
            (Some(a), Some(b)) => unify(self.dialect, &a, &b),
            _ => PyTy::Opaque,
        };
        if let PyTy::Fixed(_) | PyTy::None = ty {
            self.perhaps(condition, vec![before_yes, before_no], site);
            return yes;
        }
        let (mid_yes, yes) = self.in_block(|this| this.coerce(&yes, &ty, site));
        let (mid_no, no) = self.in_block(|this| this.coerce(&no, &ty, site));
        let (mut yes_leaves, mut no_leaves) = (Vec::new(), Vec::new());
        yes.leaves(&mut yes_leaves);
        no.leaves(&mut no_leaves);
        let simple = before_yes.is_empty() && before_no.is_empty() && mid_yes.is_empty() && mid_no.is_empty();
        if let ([a], [b]) = (yes_leaves.as_slice(), no_leaves.as_slice()) {
            let a = self.after(before_yes.into_iter().chain(mid_yes).collect(), *a);
            let b = self.after(before_no.into_iter().chain(mid_no).collect(), *b);
            let node = self.ty_of(a);
            let id = self.push(Expr::Select(condition, a, b), node, site);
            return Value::from_leaves(&ty, &Arc::from(""), &mut std::iter::once(id)).unwrap_or(Value::Opaque(id));
        }
        if !simple {
            self.perhaps(condition, vec![before_yes, before_no, mid_yes, mid_no], site);
            return self.lost("choice of composed values", &[], Effect::None, site);
        }
        let condition = self.settle(condition);
        let mut parts = Vec::new();
        for (a, b) in yes_leaves.into_iter().zip(no_leaves) {
            let node = self.ty_of(a);
            parts.push(self.push(Expr::Select(condition, a, b), node, site));
        }
        let name = match &yes {
            Value::Array(array) => Arc::clone(&array.name),
            _ => Arc::from(""),
        };
        match Value::from_leaves(&ty, &name, &mut parts.into_iter()) {
            Some(value) => value,
            None => self.unknown(Vec::new(), Effect::None, site),
        }
    }

    /// Blocks of which some are run.
    fn perhaps(&mut self, condition: ExprId, blocks: Vec<code::Block>, site: Site) {
        let blocks: Vec<code::Block> = blocks.into_iter().filter(|block| !block.is_empty()).collect();
        if !blocks.is_empty() {
            self.emit(Stmt::Opaque { exprs: vec![condition], blocks, effect: Effect::None }, site);
        }
    }

    /// How an operation is done on registers, where it is one of the executor's own: the operator and the type in which.
    pub(super) fn plain_operation(&self, op: BinaryOp, a: &Ty, b: &Ty, right: ExprId) -> Option<(BinaryOp, Ty)> {
        if matches!(a, Ty::Opaque { .. }) || matches!(b, Ty::Opaque { .. }) {
            return None;
        }
        let (compute, result) = super::types::operation(self.dialect, op, a, b);
        if compute != result {
            return None;
        }
        let op = match op {
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Xor
            | BinaryOp::Shl
            | BinaryOp::Shr => op,
            BinaryOp::TrueDiv if !is_integer(&compute) => BinaryOp::Div,
            BinaryOp::FloorDiv if is_integer(&compute) && self.is_natural(right) => BinaryOp::FloorDiv,
            _ => return None,
        };
        Some((op, compute))
    }

    /// `a op b`.
    pub(super) fn binary(&mut self, op: BinaryOp, a: &Value, b: &Value, site: Site) -> Value {
        match (a, b) {
            (Value::Number(x, tx), Value::Number(y, ty)) => {
                if matches!(tx, Ty::Opaque { .. }) || matches!(ty, Ty::Opaque { .. }) {
                    return self.unknown(vec![*x, *y], Effect::None, site);
                }
                self.numbers(op, (*x, tx), (*y, ty), site)
            }
            (Value::Tuple(x), Value::Tuple(y)) => self.tuples(op, x, y, site),
            (Value::None, Value::None) if op.is_comparison() => {
                self.integer(i64::from(op == BinaryOp::Eq), Ty::Bool, site)
            }
            // `x is None` for what surely is something.
            (Value::None, Value::Number(..) | Value::Array(_) | Value::Tuple(_) | Value::Fixed(_))
            | (Value::Number(..) | Value::Array(_) | Value::Tuple(_) | Value::Fixed(_), Value::None)
                if matches!(op, BinaryOp::Eq | BinaryOp::Ne) =>
            {
                self.integer(i64::from(op == BinaryOp::Ne), Ty::Bool, site)
            }
            (Value::Fixed(x), Value::Fixed(y)) if matches!(op, BinaryOp::Eq | BinaryOp::Ne) => {
                self.integer(i64::from((x == y) == (op == BinaryOp::Eq)), Ty::Bool, site)
            }
            _ => {
                let mut children = Vec::new();
                a.leaves(&mut children);
                b.leaves(&mut children);
                if matches!(a, Value::Array(_)) || matches!(b, Value::Array(_)) {
                    self.gap("arithmetic on arrays");
                }
                let id = self.pure_or_unknown(op, children, site);
                if op.is_comparison() {
                    let id = self.push(Expr::Opaque { children: vec![id], effect: Effect::None }, Ty::Bool, site);
                    return Value::Number(id, Ty::Bool);
                }
                Value::Opaque(id)
            }
        }
    }

    fn pure_or_unknown(&mut self, op: BinaryOp, children: Vec<ExprId>, site: Site) -> ExprId {
        self.pure(&format!("{op:?}"), children, Ty::Opaque { bytes: None }, site)
    }

    /// A tuple, unless it is too large: `t = (t, t)` doubles with each line.
    fn tuple(&mut self, parts: Vec<Value>, site: Site) -> Value {
        let (mut leaves, mut open, mut tuples) = (Vec::new(), vec![parts.as_slice()], 0);
        while let Some(parts) = open.pop() {
            for part in parts {
                match part {
                    Value::Tuple(inner) => {
                        tuples += 1;
                        open.push(inner);
                    }
                    part => part.leaves(&mut leaves),
                }
                if leaves.len() > MAX_PARTS || tuples > MAX_PARTS {
                    return self.lost("large tuple", &[], Effect::None, site);
                }
            }
        }
        Value::Tuple(parts)
    }

    fn tuples(&mut self, op: BinaryOp, a: &[Value], b: &[Value], site: Site) -> Value {
        if op == BinaryOp::Add {
            return self.tuple(a.iter().chain(b).cloned().collect(), site);
        }
        if matches!(op, BinaryOp::Eq | BinaryOp::Ne) && a.len() == b.len() {
            let mut all = self.push(Expr::Int(1), Ty::Bool, site);
            for (a, b) in a.iter().zip(b) {
                let equal = self.binary(BinaryOp::Eq, a, b, site);
                let equal = self.truth(&equal, site);
                all = self.push(Expr::And(all, equal), Ty::Bool, site);
            }
            if op == BinaryOp::Ne {
                all = self.push(Expr::Not(all), Ty::Bool, site);
            }
            return Value::Number(all, Ty::Bool);
        }
        let parts: Vec<Value> = a.iter().chain(b).cloned().collect();
        self.lost("comparison of tuples", &parts, Effect::None, site)
    }

    fn numbers(&mut self, op: BinaryOp, (a, ta): (ExprId, &Ty), (b, tb): (ExprId, &Ty), site: Site) -> Value {
        let (compute, result) = super::types::operation(self.dialect, op, ta, tb);
        if is_integer(&compute)
            && let (Some(x), Some(y)) = (self.fold(a), self.fold(b))
            && let Some(value) = cudalint_numbers::python(op, x, y)
        {
            return match self.dialect {
                Dialect::CupyJit if result != Ty::Bool => self.plain_integer(value, site),
                _ => self.integer(result.wrap(value), result, site),
            };
        }
        let float = matches!(compute, Ty::Float { .. });
        if op == BinaryOp::Pow {
            return self.power((a, ta), (b, tb), &compute, site);
        }
        let x = self.convert(a, ta, &compute);
        let y = self.convert(b, tb, &compute);
        let natural = is_integer(&compute) && self.is_natural(x) && self.is_natural(y);
        let kind = match op {
            BinaryOp::TrueDiv => Expr::Binary(BinaryOp::Div, x, y),
            BinaryOp::FloorDiv if float => {
                let quotient = self.push(Expr::Binary(BinaryOp::Div, x, y), compute.clone(), site);
                Expr::Intrinsic(code::Intrinsic::FloatMath(code::FloatMath::Floor), vec![quotient])
            }
            BinaryOp::Rem if float => {
                let id = self.pure("%", vec![x, y], compute.clone(), site);
                return Value::Number(id, compute);
            }
            BinaryOp::FloorDiv if natural => Expr::Binary(BinaryOp::Div, x, y),
            BinaryOp::Rem if !natural => Expr::Intrinsic(code::Intrinsic::FloorRem, vec![x, y]),
            op => Expr::Binary(op, x, y),
        };
        let id = self.push(kind, result.clone(), site);
        Value::Number(id, result)
    }

    fn power(&mut self, (a, ta): (ExprId, &Ty), (b, tb): (ExprId, &Ty), compute: &Ty, site: Site) -> Value {
        // `float32 ** int` stays `float32`.
        let compute = match (ta, is_integer(tb)) {
            (Ty::Float { .. }, true) if self.dialect != Dialect::CupyJit => ta.clone(),
            _ => compute.clone(),
        };
        let x = self.convert(a, ta, &compute);
        if let Some(exponent @ 1..=4) = self.fold(b)
            && is_integer(tb)
        {
            let x = self.settle(x);
            let mut product = x;
            for _ in 1..exponent {
                product = self.push(Expr::Binary(BinaryOp::Mul, product, x), compute.clone(), site);
            }
            return Value::Number(product, compute);
        }
        let y = self.convert(b, tb, &compute);
        let id = if is_integer(&compute) {
            if self.fold(a) == Some(2) && self.is_natural(b) {
                let one = self.push(Expr::Int(1), compute.clone(), site);
                self.push(Expr::Binary(BinaryOp::Shl, one, y), compute.clone(), site)
            } else {
                self.pure("**", vec![x, y], compute.clone(), site)
            }
        } else {
            let pow = code::Intrinsic::FloatMath(code::FloatMath::Pow);
            self.push(Expr::Intrinsic(pow, vec![x, y]), compute.clone(), site)
        };
        Value::Number(id, compute)
    }

    /// Declares a register of a type with a first value.
    pub(super) fn register(&mut self, name: &str, value: ExprId, site: Site) -> code::VariableId {
        let variable = self.variable(name, self.ty_of(value), site);
        if self.is_natural(value) {
            self.body.natural.insert(variable);
        }
        self.emit(Stmt::Declare(variable), site);
        let write = self.write_register(variable, value, site);
        self.emit(Stmt::Expr(write), site);
        variable
    }
}
