//! The tests that a condition is made of: the comparisons and values between `&&`, `||` and `!`.

use super::{BinaryOp, Code, Expr, ExprId, Ty};

/// Most tests of a condition.
const MOST_TESTS: usize = 16;

/// One of the tests of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Test {
    /// A comparison, or another value.
    pub id: ExprId,
    /// Whether it is its failing that the condition asks for.
    pub negated: bool,
}

/// Which operators are taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Joined {
    /// `&&` and `||`: all tests that have a say.
    Anyhow,
    /// Those whose tests must all come out as asked: `&&`, and `||` where the condition does not hold. The others are tests themselves.
    Together,
}

impl Code {
    /// The tests of a condition, which fails where `negated`; `None` where there are too many.
    pub(crate) fn tests(&self, condition: ExprId, negated: bool, joined: Joined) -> Option<Vec<Test>> {
        let is_bool = |id: ExprId| self.expr(id).ty == Ty::Bool;
        let mut found = Vec::new();
        let mut open = vec![Test { id: condition, negated }];
        let mut steps = 0;
        while let Some(test) = open.pop() {
            steps += 1;
            if steps > MOST_TESTS {
                return None;
            }
            let Test { id, negated } = test;
            let apart = |all: bool| joined == Joined::Anyhow || all != negated;
            match &self.expr(id).kind {
                Expr::Not(a) => open.push(Test { id: *a, negated: !negated }),
                Expr::Convert(a) if is_bool(*a) || is_bool(id) => open.push(Test { id: *a, negated }),
                Expr::And(a, b) if apart(true) => open.extend([*a, *b].map(|id| Test { id, negated })),
                Expr::Or(a, b) if apart(false) => open.extend([*a, *b].map(|id| Test { id, negated })),
                Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b)
                    if is_bool(*a) && is_bool(*b) && apart(*op == BinaryOp::And) =>
                {
                    open.extend([*a, *b].map(|id| Test { id, negated }));
                }
                _ => found.push(test),
            }
        }
        Some(found)
    }
}
