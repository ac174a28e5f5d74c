//! What statements and expressions are made of, and walks over all of it.

use super::{Block, Code, Expr, ExprId, Place, Stmt, StmtId};

/// A part of a statement or of an expression.
#[derive(Clone, Copy, Debug)]
pub enum Child<'c> {
    /// An expression.
    Expr(ExprId),
    /// Statements.
    Block(&'c Block),
}

/// What a walk comes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// An expression.
    Expr(ExprId),
    /// A statement.
    Stmt(StmtId),
}

impl Stmt {
    /// Hands over the parts of a statement, in the order of the source.
    pub fn parts<'c>(&'c self, each: &mut impl FnMut(Child<'c>)) {
        match self {
            Self::Expr(value) | Self::Return(Some(value)) => each(Child::Expr(*value)),
            Self::Block(block) => each(Child::Block(block)),
            Self::If { condition, then, otherwise } => {
                each(Child::Expr(*condition));
                each(Child::Block(then));
                each(Child::Block(otherwise));
            }
            Self::Loop { condition, step, body, .. } => {
                if let Some(condition) = condition {
                    each(Child::Expr(*condition));
                }
                each(Child::Block(body));
                if let Some(step) = step {
                    each(Child::Expr(*step));
                }
            }
            Self::Switch { value, cases } => {
                each(Child::Expr(*value));
                for (_, body) in cases {
                    each(Child::Block(body));
                }
            }
            Self::Opaque { exprs, blocks, .. } => {
                for expr in exprs {
                    each(Child::Expr(*expr));
                }
                for block in blocks {
                    each(Child::Block(block));
                }
            }
            Self::Declare(_) | Self::Break | Self::Continue | Self::Return(None) => {}
        }
    }
}

impl Expr {
    /// Hands over the parts of an expression: of an access its address, then what is written.
    pub fn parts<'c>(&'c self, each: &mut impl FnMut(Child<'c>)) {
        match self {
            Self::Read(Place::Memory { address, .. }) => each(Child::Expr(*address)),
            Self::Write(place, value) | Self::Update { place, value, .. } => {
                if let Place::Memory { address, .. } = place {
                    each(Child::Expr(*address));
                }
                each(Child::Expr(*value));
            }
            Self::Unary(_, a) | Self::Not(a) | Self::Convert(a) | Self::Leaves { of: a, .. } => each(Child::Expr(*a)),
            Self::Binary(_, a, b) | Self::And(a, b) | Self::Or(a, b) | Self::Offset { base: a, index: b, .. } => {
                each(Child::Expr(*a));
                each(Child::Expr(*b));
            }
            Self::Select(condition, a, b) => [condition, a, b].into_iter().for_each(|part| each(Child::Expr(*part))),
            Self::Aggregate(all)
            | Self::Sequence(all)
            | Self::Call(_, all)
            | Self::Intrinsic(_, all)
            | Self::Opaque { children: all, .. } => {
                for part in all {
                    each(Child::Expr(*part));
                }
            }
            Self::Statements(block, value) => {
                each(Child::Block(block));
                if let Some(value) = value {
                    each(Child::Expr(*value));
                }
            }
            Self::Int(_)
            | Self::Float(_)
            | Self::Builtin(_)
            | Self::Read(Place::Register { .. })
            | Self::VariableAddress(_)
            | Self::ObjectAddress(_) => {}
        }
    }
}

impl Code {
    /// Walks over statements with all that is in them, each before its parts, in the order of the source. Where `visit` says
    /// `false`, the parts are left out. Callees are not entered.
    pub fn walk(&self, block: &Block, visit: impl FnMut(Item) -> bool) {
        self.walk_from(block.iter().rev().map(|id| Item::Stmt(*id)).collect(), visit);
    }

    /// The same for an expression.
    pub fn walk_expr(&self, expr: ExprId, mut visit: impl FnMut(ExprId, &Expr) -> bool) {
        // Room for most expressions: a stack that grows is paid for several times.
        let mut open = Vec::with_capacity(16);
        open.push(Item::Expr(expr));
        self.walk_from(open, |item| match item {
            Item::Expr(id) => self.exprs.get(id).is_some_and(|node| visit(id, &node.kind)),
            Item::Stmt(_) => true,
        });
    }

    fn walk_from(&self, mut open: Vec<Item>, mut visit: impl FnMut(Item) -> bool) {
        // An expression may stand in several others: the walk comes by each as often, within reason.
        let mut steps = 2 * (self.exprs.len() + self.stmts.len());
        while let Some(item) = open.pop() {
            if steps == 0 {
                return;
            }
            steps -= 1;
            if !visit(item) {
                continue;
            }
            let first = open.len();
            let mut each = |part: Child<'_>| match part {
                Child::Expr(id) => open.push(Item::Expr(id)),
                Child::Block(block) => open.extend(block.iter().map(|id| Item::Stmt(*id))),
            };
            match item {
                Item::Expr(id) => match self.exprs.get(id).map(|node| &node.kind) {
                    // Most expressions have no parts.
                    None | Some(Expr::Int(_) | Expr::Builtin(_) | Expr::Read(Place::Register { .. })) => continue,
                    Some(kind) => kind.parts(&mut each),
                },
                Item::Stmt(id) => self.stmts.get(id).into_iter().for_each(|node| node.kind.parts(&mut each)),
            }
            if let Some(parts) = open.get_mut(first..) {
                parts.reverse();
            }
        }
    }
}
