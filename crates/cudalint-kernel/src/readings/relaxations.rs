//! Relaxations: a sum that is compared with a value of its own kind, and takes its place where it is less (`if (d[i][k] + d[k][j] < d[i][j])`).
//! Of the element that is itself one of the two, such a sum is never less, since what is added to it is a way's length from a place to itself.

use super::source::Source;
use crate::code::{BinaryOp, Code, Expr, ExprId, Intrinsic, Item};
use rustc_hash::{FxHashMap, FxHashSet};

/// The sums of a kernel's code that are compared, and the comparisons.
#[derive(Debug, Default)]
pub struct Relaxations {
    /// Sums, where they are computed.
    pub sums: FxHashSet<ExprId>,
    /// Comparisons, and minima, with the sums that their sides are.
    pub compared: FxHashMap<ExprId, [Option<ExprId>; 2]>,
}

/// Reads a kernel's code with the functions that it calls.
pub fn relaxations(code: &Code) -> Relaxations {
    let mut found = Relaxations::default();
    for function in &code.functions {
        let mut compared: Vec<(ExprId, [ExprId; 2])> = Vec::new();
        code.walk(&function.body, |item| {
            if let Item::Expr(id) = item {
                match &code.expr(id).kind {
                    Expr::Binary(BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge, a, b) => {
                        compared.push((id, [*a, *b]));
                    }
                    Expr::Intrinsic(Intrinsic::Min, operands) => {
                        if let [a, b] = operands[..] {
                            compared.push((id, [a, b]));
                        }
                    }
                    _ => {}
                }
            }
            true
        });
        if compared.is_empty() {
            continue;
        }
        let source = Source::new(code, function);
        let sum = |side: ExprId| {
            let side = source.bare(side);
            let value = source.variable(side).and_then(|variable| source.value(variable));
            let sum = value.map_or(side, |value| source.bare(value));
            matches!(source.kind(sum), Expr::Binary(BinaryOp::Add, ..)).then_some(sum)
        };
        for (id, sides) in compared {
            let sums = sides.map(sum);
            if sums.iter().any(Option::is_some) {
                found.sums.extend(sums.iter().flatten());
                found.compared.insert(id, sums);
            }
        }
    }
    found
}
