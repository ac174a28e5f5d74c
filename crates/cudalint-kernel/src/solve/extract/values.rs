//! Expressions as terms over inputs, threads and loop variables.

use super::super::term::Operation;
use super::{Extractor, Frame, Target, Value};
use crate::code::{BinaryOp, Bits, Builtin, Expr, ExprId, FunctionId, Intrinsic, Place, Ty, UnaryOp, VariableId};

impl Extractor<'_, '_> {
    pub(super) fn value(&mut self, id: ExprId) -> Value {
        if self.spent() {
            return Value::Unknown;
        }
        self.depth += 1;
        let value = self.evaluate(id);
        self.depth -= 1;
        value
    }

    fn evaluate(&mut self, id: ExprId) -> Value {
        let code = self.code;
        let node = code.expr(id);
        match &node.kind {
            Expr::Int(value) if !matches!(node.ty, Ty::Pointer) => Value::Int(self.problem.terms.constant(*value)),
            Expr::Builtin(builtin) => Value::Int(match builtin {
                Builtin::ThreadIdx(axis) => self.thread[usize::from(*axis).min(2)],
                Builtin::BlockIdx(axis) => self.block[usize::from(*axis).min(2)],
                Builtin::BlockDim(axis) => self.problem.block[usize::from(*axis).min(2)],
                Builtin::GridDim(axis) => self.problem.grid[usize::from(*axis).min(2)],
                Builtin::WarpSize => self.problem.terms.constant(32),
            }),
            Expr::Read(place) => match place {
                Place::Register { variable, count: 0, .. } => self.get(*variable),
                Place::Register { .. } => Value::Unknown,
                Place::Memory { address, .. } => {
                    self.access(*address, &node.ty);
                    Value::Unknown
                }
            },
            Expr::Write(place, value) => {
                let value = self.value(*value);
                match place {
                    Place::Register { variable, count: 0, .. } => self.set(*variable, value),
                    Place::Register { variable, .. } => self.set(*variable, Value::Unknown),
                    Place::Memory { address, .. } => self.access(*address, &node.ty),
                }
                value
            }
            Expr::Update { place, op, value, old, .. } => {
                let by = self.value(*value);
                match place {
                    Place::Register { variable, count: 0, .. } => {
                        let before = self.get(*variable);
                        let after = self.arithmetic(*op, before, by);
                        self.set(*variable, after);
                        if *old { before } else { after }
                    }
                    Place::Register { variable, .. } => {
                        self.set(*variable, Value::Unknown);
                        Value::Unknown
                    }
                    Place::Memory { address, .. } => {
                        self.access(*address, &node.ty);
                        Value::Unknown
                    }
                }
            }
            Expr::ObjectAddress(object) => {
                let zero = self.problem.terms.constant(0);
                Value::Pointer(Target::Object(*object), zero)
            }
            Expr::Offset { base, index, stride } => {
                let (base, index) = (self.value(*base), self.value(*index));
                let (Value::Pointer(target, offset), Value::Int(index)) = (base, index) else { return Value::Unknown };
                let stride = self.problem.terms.constant(*stride);
                let distance = self.problem.terms.of(Operation::Mul, index, stride);
                Value::Pointer(target, self.problem.terms.of(Operation::Add, offset, distance))
            }
            Expr::Unary(UnaryOp::Minus, operand) => {
                let zero = Value::Int(self.problem.terms.constant(0));
                let operand = self.value(*operand);
                self.arithmetic(BinaryOp::Sub, zero, operand)
            }
            Expr::Binary(op, a, b) => {
                let (a, b) = (self.value(*a), self.value(*b));
                self.arithmetic(*op, a, b)
            }
            Expr::And(a, b) | Expr::Or(a, b) => {
                let either = matches!(node.kind, Expr::Or(..));
                self.value(*a);
                let before = self.guards.len();
                let guards = self.constraints(*a, !either);
                self.guards.extend(guards);
                self.value(*b);
                self.guards.truncate(before);
                Value::Unknown
            }
            Expr::Select(condition, a, b) => {
                self.value(*condition);
                let before = self.guards.len();
                let mut sides = [Value::Unknown; 2];
                for (side, (holds, expr)) in [(true, a), (false, b)].into_iter().enumerate() {
                    let guards = self.constraints(*condition, holds);
                    self.guards.extend(guards);
                    sides[side] = self.value(*expr);
                    self.guards.truncate(before);
                }
                if sides[0] == sides[1] { sides[0] } else { Value::Unknown }
            }
            Expr::Convert(operand) => self.value(*operand),
            Expr::Call(function, args) => self.call(*function, args),
            Expr::Intrinsic(intrinsic, args) => self.intrinsic(intrinsic, args, &node.ty),
            Expr::Sequence(parts) => parts.iter().fold(Value::Unknown, |_, part| self.value(*part)),
            Expr::Statements(block, value) => {
                self.block(block);
                value.map_or(Value::Unknown, |value| self.value(value))
            }
            Expr::Opaque { children: parts, .. } | Expr::Aggregate(parts) => {
                for part in parts {
                    self.value(*part);
                }
                Value::Unknown
            }
            Expr::Not(operand) | Expr::Leaves { of: operand, .. } | Expr::Unary(_, operand) => {
                self.value(*operand);
                Value::Unknown
            }
            Expr::Int(_) | Expr::Float(_) | Expr::VariableAddress(_) => Value::Unknown,
        }
    }

    fn arithmetic(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        let terms = &mut self.problem.terms;
        let operation = match op {
            BinaryOp::Add => Operation::Add,
            BinaryOp::Sub => Operation::Sub,
            BinaryOp::Mul => Operation::Mul,
            BinaryOp::Div | BinaryOp::FloorDiv => Operation::Div,
            BinaryOp::Rem => Operation::Rem,
            BinaryOp::Shl => Operation::Shl,
            BinaryOp::Shr => Operation::Shr,
            BinaryOp::And => Operation::And,
            _ => return Value::Unknown,
        };
        match (a, b) {
            (Value::Int(a), Value::Int(b)) => Value::Int(terms.of(operation, a, b)),
            // Pointers are moved by bytes.
            (Value::Pointer(target, offset), Value::Int(by)) if matches!(op, BinaryOp::Add | BinaryOp::Sub) => {
                Value::Pointer(target, terms.of(operation, offset, by))
            }
            _ => Value::Unknown,
        }
    }

    fn intrinsic(&mut self, intrinsic: &Intrinsic, args: &[ExprId], ty: &Ty) -> Value {
        let values: Vec<Value> = args.iter().map(|arg| self.value(*arg)).collect();
        match (intrinsic, values.as_slice()) {
            (Intrinsic::Min, [Value::Int(a), Value::Int(b)]) => {
                Value::Int(self.problem.terms.of(Operation::Min, *a, *b))
            }
            (Intrinsic::Max, [Value::Int(a), Value::Int(b)]) => {
                Value::Int(self.problem.terms.of(Operation::Max, *a, *b))
            }
            (Intrinsic::FloorRem, [Value::Int(a), Value::Int(b)]) => {
                Value::Int(self.problem.terms.of(Operation::Rem, *a, *b))
            }
            // Who looks for what lies outside looks beyond the end.
            (Intrinsic::WrapIndex { .. }, [index, _]) => *index,
            (Intrinsic::Bits(Bits::Mul24), [Value::Int(a), Value::Int(b)]) => {
                Value::Int(self.problem.terms.of(Operation::Mul, *a, *b))
            }
            (Intrinsic::Atomic { bytes, .. }, [Value::Pointer(target, offset), ..]) => {
                self.keep(*target, *offset, u32::from(*bytes));
                Value::Unknown
            }
            (Intrinsic::LoadCached | Intrinsic::StoreCached, [Value::Pointer(target, offset), ..]) => {
                if let Some(size) = ty.bytes() {
                    self.keep(*target, *offset, size);
                }
                Value::Unknown
            }
            _ => Value::Unknown,
        }
    }

    fn call(&mut self, function: FunctionId, args: &[ExprId]) -> Value {
        let values: Vec<Value> = args.iter().map(|arg| self.value(*arg)).collect();
        let code = self.code;
        let Some(callee) = code.functions.get(function) else { return Value::Unknown };
        if self.frames.len() > 8 {
            return Value::Unknown;
        }
        let variables = values.into_iter().enumerate().map(|(at, value)| (VariableId(at as u32), value)).collect();
        self.frames.push(Frame { variables, returned: None });
        let before = self.guards.len();
        self.block(&callee.body);
        self.guards.truncate(before);
        self.frames.pop().and_then(|frame| frame.returned).unwrap_or(Value::Unknown)
    }
}
