//! Values that are computed in `double` although they are made of `float` and become `float` again: what a literal without `f`,
//! or a function for `double`, makes of them.

use crate::code::{BinaryOp, Code, Effect, Expr, ExprId, FloatMath, Intrinsic, Item, Ty};
use crate::report::Site;

/// Nesting of expressions that is followed.
const MAX_DEPTH: u32 = 32;

/// A value that is computed so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Doubled {
    /// All that is computed in `double`.
    pub site: Site,
    /// The first constant in it that is no `float`.
    pub constant: Option<Site>,
    /// How many operations that are.
    pub operations: u32,
}

/// All such values of a kernel and the functions that it calls, in the order of their places. Not those that the compiler computes in
/// `float` all the same, since one rounding gives what two would: one operation with constants that a `float` holds.
pub fn doubles(code: &Code) -> Vec<Doubled> {
    let mut found = Vec::new();
    for function in &code.functions {
        code.walk(&function.body, |item| {
            if let Item::Expr(id) = item {
                found.extend(doubled(code, id));
            }
            true
        });
    }
    found.sort_unstable();
    found.dedup_by_key(|it| it.site);
    found
}

fn doubled(code: &Code, id: ExprId) -> Option<Doubled> {
    let node = code.expr(id);
    let mut parts = Parts { code, constant: None, exact: true, floats: false, operations: 0, folds: true };
    let site = match &node.kind {
        Expr::Convert(inner) if is_float(&node.ty) && is_double(&code.expr(*inner).ty) => {
            let site = code.expr(*inner).site;
            parts.add(*inner, MAX_DEPTH)?;
            site
        }
        Expr::Update { op, value, compute, .. } if is_double(compute) && is_float(&node.ty) => {
            parts.add(*value, MAX_DEPTH)?;
            parts.floats = true;
            parts.operation(is_arithmetic(*op));
            node.site
        }
        _ => return None,
    };
    let Parts { constant, exact, floats, operations, folds, .. } = parts;
    let by_compiler = operations == 1 && exact && folds;
    (floats && operations > 0 && !by_compiler).then_some(Doubled { site, constant, operations })
}

const fn is_float(ty: &Ty) -> bool {
    matches!(ty, Ty::Float { bytes: 4 })
}

const fn is_double(ty: &Ty) -> bool {
    matches!(ty, Ty::Float { bytes: 8 })
}

const fn is_arithmetic(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div)
}

/// What a value in `double` is made of.
struct Parts<'c> {
    code: &'c Code,
    constant: Option<Site>,
    /// Whether a `float` holds all constants.
    exact: bool,
    floats: bool,
    operations: u32,
    /// Whether every operation gives in `float` what it gives in `double` rounded once.
    folds: bool,
}

impl Parts<'_> {
    fn operation(&mut self, folds: bool) {
        self.operations += 1;
        self.folds &= folds;
    }

    /// Adds a value; `None` where a `double` is meant: one that is stored or handed over, or a conversion that is written.
    fn add(&mut self, id: ExprId, depth: u32) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        let node = self.code.expr(id);
        match &node.kind {
            Expr::Float(value) => {
                self.exact &= f64::from(*value as f32).to_bits() == value.to_bits();
                self.constant = self.constant.or(Some(node.site));
            }
            Expr::Int(_) => {}
            Expr::Convert(inner) => {
                let from = self.code.expr(*inner);
                match &from.ty {
                    Ty::Float { bytes: 2 | 4 } if from.site == node.site => self.floats = true,
                    Ty::Float { bytes: 8 } => self.add(*inner, depth)?,
                    // Larger numbers than a `float` holds may be meant.
                    Ty::Int { .. } | Ty::Bool if matches!(from.kind, Expr::Int(_)) => {}
                    Ty::Int { bytes: 1 | 2, .. } | Ty::Bool => {}
                    _ => return None,
                }
            }
            _ if !is_double(&node.ty) => return None,
            Expr::Unary(_, inner) => self.add(*inner, depth)?,
            Expr::Binary(op, a, b) => {
                self.operation(is_arithmetic(*op));
                self.add(*a, depth)?;
                self.add(*b, depth)?;
            }
            Expr::Select(_, a, b) => {
                self.add(*a, depth)?;
                self.add(*b, depth)?;
            }
            Expr::Intrinsic(what, operands) => {
                let folds = match what {
                    Intrinsic::FloatMath(
                        FloatMath::Floor
                        | FloatMath::Ceil
                        | FloatMath::Trunc
                        | FloatMath::Round
                        | FloatMath::Rint
                        | FloatMath::Sqrt,
                    )
                    | Intrinsic::Abs
                    | Intrinsic::Min
                    | Intrinsic::Max => true,
                    Intrinsic::FloatMath(_) => false,
                    _ => return None,
                };
                self.operation(folds);
                operands.iter().try_for_each(|operand| self.add(*operand, depth))?;
            }
            Expr::Opaque { children, effect: Effect::Pure(_) } if !children.is_empty() => {
                self.operation(false);
                children.iter().try_for_each(|operand| self.add(*operand, depth))?;
            }
            _ => return None,
        }
        Some(())
    }
}
