//! Python's own functions, those of numbers, and methods of values.

use super::calls::Arguments;
use super::lower::Lowerer;
use super::types::{DOUBLE, Fixed, is_integer, promote};
use super::value::{Range, Value};
use crate::code::{BinaryOp, Bits, Effect, Expr, ExprId, FloatMath, Intrinsic, Ty};
use crate::report::Site;
use cudalint_program::Name;
use cudalint_program::api::packages::MathOp;
use cudalint_program::ir::Dialect;

impl Lowerer<'_> {
    /// A function of Python itself.
    pub(super) fn builtin(&mut self, name: &str, arguments: &Arguments, site: Site) -> Option<Value> {
        let given = &arguments.given;
        match (name, given.as_slice()) {
            ("range", _) => self.range(given, site),
            ("len", [Value::Array(array)]) => array.shape.first().map(|extent| Value::Number(*extent, Ty::LONG)),
            ("len", [Value::Tuple(all)]) => Some(self.plain_integer(all.len() as i64, site)),
            ("min" | "max", [Value::Tuple(all)]) => self.extreme(name == "min", &all.clone(), site),
            ("min" | "max", [_, _, ..]) => self.extreme(name == "min", given, site),
            ("abs", [Value::Number(id, ty)]) => {
                let (id, ty) = (*id, ty.clone());
                if ty == Ty::Bool {
                    let byte = Ty::Int { bytes: 1, signed: true };
                    return Some(Value::Number(self.convert(id, &ty, &byte), byte));
                }
                Some(self.operation(Intrinsic::Abs, vec![id], ty, site))
            }
            ("int", [Value::Number(id, ty)]) => {
                let (id, ty) = (*id, ty.clone());
                let integer = matches!(ty, Ty::Int { .. }) && self.dialect != Dialect::CupyJit;
                let to = if integer { ty.clone() } else { Ty::LONG };
                Some(Value::Number(self.convert(id, &ty, &to), to))
            }
            ("float", [Value::Number(id, ty)]) => {
                let (id, ty) = (*id, ty.clone());
                let float = matches!(ty, Ty::Float { .. }) && self.dialect != Dialect::CupyJit;
                let to = if float { ty.clone() } else { DOUBLE };
                Some(Value::Number(self.convert(id, &ty, &to), to))
            }
            ("bool", [value]) => {
                let truth = self.truth(&value.clone(), site);
                Some(Value::Number(truth, Ty::Bool))
            }
            ("round", [Value::Number(id, ty)]) => {
                let (id, ty) = (*id, ty.clone());
                if is_integer(&ty) {
                    return Some(Value::Number(id, ty));
                }
                let rounded =
                    self.push(Expr::Intrinsic(Intrinsic::FloatMath(FloatMath::Rint), vec![id]), ty.clone(), site);
                Some(Value::Number(self.convert(rounded, &ty, &Ty::LONG), Ty::LONG))
            }
            ("round", [Value::Number(id, ty), digits]) => {
                let mut children = vec![*id];
                let ty = ty.clone();
                digits.leaves(&mut children);
                let id = self.pure("round", children, ty.clone(), site);
                Some(Value::Number(id, ty))
            }
            ("pow", [a, b]) => Some(self.binary(BinaryOp::Pow, &a.clone(), &b.clone(), site)),
            ("divmod", [a, b]) => {
                let (a, b) = (self.settled(&a.clone()), self.settled(&b.clone()));
                let quotient = self.binary(BinaryOp::FloorDiv, &a, &b, site);
                let rest = self.binary(BinaryOp::Rem, &a, &b, site);
                Some(Value::Tuple(vec![quotient, rest]))
            }
            ("print", _) => {
                let mut operands = Vec::new();
                arguments.all().iter().for_each(|value| value.leaves(&mut operands));
                Some(self.operation(Intrinsic::Print, operands, Ty::Void, site))
            }
            ("tuple", [Value::Tuple(all)]) => Some(Value::Tuple(all.clone())),
            ("enumerate", [over, rest @ ..]) => self.enumerated(&over.clone(), rest.first().cloned(), site),
            ("zip", all) => {
                let same: Option<Vec<usize>> = all
                    .iter()
                    .map(|one| match one {
                        Value::Tuple(all) => Some(all.len()),
                        _ => None,
                    })
                    .collect();
                match same.and_then(|lengths| lengths.into_iter().min()) {
                    Some(count) => {
                        let row = |at: usize| {
                            Value::Tuple(
                                all.iter()
                                    .filter_map(|one| match one {
                                        Value::Tuple(all) => all.get(at).cloned(),
                                        _ => None,
                                    })
                                    .collect(),
                            )
                        };
                        Some(Value::Tuple((0..count).map(row).collect()))
                    }
                    None => Some(Value::Zip(all.to_vec())),
                }
            }
            ("slice", parts @ [_, ..]) => {
                let none = |value: Option<&Value>| value.filter(|value| !matches!(value, Value::None)).cloned();
                Some(Value::Slice(Box::new(match parts {
                    [stop] => [None, none(Some(stop)), None],
                    [start, stop, rest @ ..] => [none(Some(start)), none(Some(stop)), none(rest.first())],
                    [] => [None, None, None],
                })))
            }
            ("breakpoint", []) => Some(Value::None),
            _ => None,
        }
    }

    fn enumerated(&mut self, over: &Value, start: Option<Value>, site: Site) -> Option<Value> {
        let start = match start {
            None => self.long(0, site),
            Some(Value::Number(id, ty)) => self.convert(id, &ty, &Ty::LONG),
            Some(_) => return None,
        };
        if let Value::Tuple(all) = over {
            let mut rows = Vec::new();
            for (at, one) in all.iter().enumerate() {
                let number = self.long(at as i64, site);
                let number = self.folded(BinaryOp::Add, start, number, site);
                rows.push(Value::Tuple(vec![Value::Number(number, Ty::LONG), one.clone()]));
            }
            return Some(Value::Tuple(rows));
        }
        let (step, stop) = (self.long(1, site), self.long(0, site));
        let numbers = Range { start, stop, step, ty: Ty::LONG, endless: true };
        Some(Value::Zip(vec![Value::Range(Box::new(numbers)), over.clone()]))
    }

    /// The least or the greatest of numbers, of their common type.
    fn extreme(&mut self, least: bool, all: &[Value], site: Site) -> Option<Value> {
        let mut numbers = Vec::new();
        for value in all {
            let Value::Number(id, ty) = value else { return None };
            numbers.push((*id, ty.clone()));
        }
        let (mut id, mut ty) = numbers.first()?.clone();
        for (other, other_ty) in &numbers[1..] {
            let common = match self.dialect {
                Dialect::CupyJit => super::types::operation(self.dialect, BinaryOp::Add, &ty, other_ty).0,
                _ => promote(&ty, other_ty),
            };
            let (a, b) = (self.convert(id, &ty, &common), self.convert(*other, other_ty, &common));
            let what = if least { Intrinsic::Min } else { Intrinsic::Max };
            id = self.push(Expr::Intrinsic(what, vec![a, b]), common.clone(), site);
            ty = common;
        }
        Some(Value::Number(id, ty))
    }

    /// A function of numbers.
    pub(super) fn mathematics(&mut self, op: MathOp, name: &str, arguments: &Arguments, site: Site) -> Option<Value> {
        let given: Vec<Value> = arguments.given.clone();
        if given.iter().any(|value| !matches!(value, Value::Number(..) | Value::Opaque(_))) || given.is_empty() {
            return None;
        }
        match (op, given.as_slice()) {
            (MathOp::Min | MathOp::Max, [_, _]) => return self.extreme(op == MathOp::Min, &given, site),
            (MathOp::Abs, [Value::Number(id, ty)]) => {
                let (id, ty) = (*id, ty.clone());
                return Some(self.operation(Intrinsic::Abs, vec![id], ty, site));
            }
            (MathOp::Test, [Value::Number(id, _)]) => {
                let id = self.pure(name, vec![*id], Ty::Bool, site);
                return Some(Value::Number(id, Ty::Bool));
            }
            // Floats, whatever Python's own give.
            (MathOp::Floor | MathOp::Ceil | MathOp::Trunc, [Value::Number(id, ty)]) => {
                let (id, from) = (*id, ty.clone());
                let ty = if is_integer(&from) { DOUBLE } else { from.clone() };
                let id = self.convert(id, &from, &ty);
                let what = match op {
                    MathOp::Floor => FloatMath::Floor,
                    MathOp::Ceil => FloatMath::Ceil,
                    _ => FloatMath::Trunc,
                };
                return Some(self.operation(Intrinsic::FloatMath(what), vec![id], ty, site));
            }
            (
                MathOp::Min
                | MathOp::Max
                | MathOp::Abs
                | MathOp::Test
                | MathOp::Floor
                | MathOp::Ceil
                | MathOp::Trunc
                | MathOp::Whole,
                _,
            ) => return None,
            _ => {}
        }
        // Integers are computed as float64.
        let mut ty: Option<Ty> = None;
        for value in &given {
            let own = match value {
                Value::Number(_, own @ Ty::Float { .. }) => own.clone(),
                _ => DOUBLE,
            };
            ty = Some(match ty {
                None => own,
                Some(before) => promote(&before, &own),
            });
        }
        let ty = ty?;
        let operands: Vec<ExprId> = given
            .iter()
            .map(|value| match value {
                Value::Number(id, from) => self.convert(*id, from, &ty),
                other => {
                    let mut children = Vec::new();
                    other.leaves(&mut children);
                    self.push(Expr::Opaque { children, effect: Effect::None }, ty.clone(), site)
                }
            })
            .collect();
        let what = match op {
            MathOp::Sqrt => Some(FloatMath::Sqrt),
            MathOp::Log2 => Some(FloatMath::Log2),
            MathOp::Log => Some(FloatMath::Log),
            MathOp::Exp2 => Some(FloatMath::Exp2),
            MathOp::Exp => Some(FloatMath::Exp),
            MathOp::Pow => Some(FloatMath::Pow),
            MathOp::Fmod => Some(FloatMath::Fmod),
            MathOp::Rint => Some(FloatMath::Rint),
            MathOp::Fabs => return Some(self.operation(Intrinsic::Abs, operands, ty, site)),
            _ => None,
        };
        let id = match what {
            Some(what) => self.push(Expr::Intrinsic(Intrinsic::FloatMath(what), operands), ty.clone(), site),
            None => self.pure(name, operands, ty.clone(), site),
        };
        Some(Value::Number(id, ty))
    }

    /// `operator.add(a, b)`.
    pub(super) fn operator(&mut self, name: &str, arguments: &Arguments, site: Site) -> Option<Value> {
        let [a, b] = arguments.given.as_slice() else { return None };
        let op = match name.trim_end_matches('_') {
            "add" | "iadd" => BinaryOp::Add,
            "sub" | "isub" => BinaryOp::Sub,
            "mul" | "imul" => BinaryOp::Mul,
            "truediv" | "itruediv" => BinaryOp::TrueDiv,
            "floordiv" | "ifloordiv" => BinaryOp::FloorDiv,
            "mod" | "imod" => BinaryOp::Rem,
            "pow" | "ipow" => BinaryOp::Pow,
            "lshift" => BinaryOp::Shl,
            "rshift" => BinaryOp::Shr,
            "and" => BinaryOp::And,
            "or" => BinaryOp::Or,
            "xor" => BinaryOp::Xor,
            "lt" => BinaryOp::Lt,
            "le" => BinaryOp::Le,
            "gt" => BinaryOp::Gt,
            "ge" => BinaryOp::Ge,
            "eq" => BinaryOp::Eq,
            "ne" => BinaryOp::Ne,
            _ => return None,
        };
        Some(self.binary(op, &a.clone(), &b.clone(), site))
    }

    /// `value.name(…)`.
    pub(super) fn method(&mut self, of: &Value, name: &Name, arguments: &Arguments, site: Site) -> Value {
        if let Some(value) = self.group_method(of, name, site) {
            return value;
        }
        match (of, name.as_str(), arguments.given.as_slice()) {
            (Value::Array(array), "item", []) if array.shape.is_empty() => {
                return self.subscript(of, &[], site);
            }
            (Value::Array(_), "transpose", []) => return self.attribute(of, &Name::from("T"), site),
            (Value::Array(array), "view", [ty]) => {
                if let Some(ty) = Self::type_of(ty)
                    && ty.bytes() == array.element.bytes()
                {
                    let mut array = array.clone();
                    array.element = ty;
                    return Value::Array(array);
                }
            }
            (Value::Array(array), "ravel" | "flatten" | "reshape", shape) => {
                if let Some(value) = self.reshaped(array, name, shape, site) {
                    return value;
                }
            }
            (Value::Number(id, ty), "bit_count", []) => {
                return self.operation(Intrinsic::Bits(Bits::PopCount), vec![*id], ty.clone(), site);
            }
            _ => {}
        }
        if let (Value::Array(array), "begin" | "end") = (of, name.as_str()) {
            // An iterator of Thrust's: what is done with it is done elsewhere.
            let children = vec![array.data];
            return self.unknown(children, Effect::None, site);
        }
        self.gap("method");
        let mut children = Vec::new();
        of.leaves(&mut children);
        arguments.all().iter().for_each(|value| value.leaves(&mut children));
        let fixed = matches!(of, Value::Fixed(Fixed::Str(_)) | Value::Number(..));
        self.unknown(children, if fixed { Effect::None } else { Effect::Anything }, site)
    }

    fn reshaped(&mut self, array: &super::value::Array, name: &str, shape: &[Value], site: Site) -> Option<Value> {
        if array.order != super::Order::C {
            return None;
        }
        let shape = match (name, shape) {
            ("ravel" | "flatten", []) => {
                let one = self.long(1, site);
                let all = array
                    .shape
                    .clone()
                    .into_iter()
                    .fold(one, |all, extent| self.folded(BinaryOp::Mul, all, extent, site));
                vec![self.settle(all)]
            }
            ("reshape", [Value::Tuple(all)]) => self.extents_of(all)?,
            ("reshape", all) => self.extents_of(all)?,
            _ => return None,
        };
        let mut array = array.clone();
        array.shape = shape;
        Some(Value::Array(Box::new(array)))
    }

    fn extents_of(&mut self, all: &[Value]) -> Option<Vec<ExprId>> {
        let mut shape = Vec::new();
        for one in all {
            let Value::Number(id, ty) = one else { return None };
            if self.fold(*id).is_some_and(|extent| extent < 0) || !is_integer(ty) {
                return None;
            }
            let id = self.convert(*id, ty, &Ty::LONG);
            shape.push(self.settle(id));
        }
        Some(shape)
    }
}
