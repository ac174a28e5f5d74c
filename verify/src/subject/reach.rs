//! What must hold at a function's start for one of its places to be reached, and values of its parameters for which it
//! does.

use cudalint_program::Scope;
use cudalint_program::ir::{
    BinaryOp, Block, Expr, ExprId, Function, FunctionId, LocalId, LoopKind, Module, ModuleId, Stmt, StmtId, Type,
    UnaryOp,
};
use cudalint_program::types::TypeEnv;
use cudalint_program::{Project, visit};
use cudalint_syntax::Span;
use std::collections::BTreeMap;

/// Values of parameters.
pub type Values = BTreeMap<LocalId, i64>;

/// Nesting of statements and expressions that is followed.
const MAX_DEPTH: u32 = 60;
/// Parameters that are varied at once.
const MAX_VARIED: usize = 4;
/// Combinations that are tried.
const MAX_TRIED: usize = 20_000;

/// Changes some of the `usual` values so that as many as possible of the conditions on the way to `place` hold. Only
/// parameters in `usual` are changed, and none where nothing is gained.
pub fn values_that_reach(
    project: &Project,
    module: ModuleId,
    function: FunctionId,
    place: Span,
    usual: &Values,
    fixed: &[LocalId],
) -> Values {
    let Some(found) = project.function_at(module, function) else { return Values::new() };
    let lowered = project.module(module);
    let mut way = Vec::new();
    if let Some(body) = &found.body {
        collect(lowered, body, place, &mut way, 0);
    }
    let scope = Scope::new(project, module, Some(function), &TypeEnv::default());
    let eval = Eval { module: lowered, function: found, scope: &scope };
    let unmet = |values: &Values| way.iter().filter(|(c, want)| eval.truth(*c, values, 0) == Some(!*want)).count();
    let mut best = unmet(usual);
    if best == 0 {
        return Values::new();
    }
    let mut varied: BTreeMap<LocalId, Vec<i64>> = BTreeMap::new();
    for (condition, want) in &way {
        if eval.truth(*condition, usual, 0) == Some(!*want) {
            eval.mentioned(*condition, &mut varied, 0);
        }
    }
    varied.retain(|local, _| usual.contains_key(local) && !fixed.contains(local));
    let choices: Vec<(LocalId, Vec<i64>)> = varied.into_iter().take(MAX_VARIED).collect();
    let mut result = Values::new();
    let mut counter = vec![0usize; choices.len()];
    for _ in 0..MAX_TRIED {
        let mut values = usual.clone();
        for ((local, list), at) in choices.iter().zip(&counter) {
            values.extend(list.get(*at).map(|value| (*local, *value)));
        }
        let missed = unmet(&values);
        if missed < best {
            best = missed;
            result = values.into_iter().filter(|(local, value)| usual.get(local) != Some(value)).collect();
        }
        if best == 0 || !next(&mut counter, &choices) {
            break;
        }
    }
    result
}

/// Counts on; whether there is a next combination.
fn next(counter: &mut [usize], choices: &[(LocalId, Vec<i64>)]) -> bool {
    for (digit, (_, list)) in counter.iter_mut().zip(choices) {
        *digit += 1;
        if *digit < list.len() {
            return true;
        }
        *digit = 0;
    }
    false
}

/// The conditions on the way to a place in a block, each with the truth value that leads there. Whether it was found.
fn collect(module: &Module, block: &Block, place: Span, way: &mut Vec<(ExprId, bool)>, depth: u32) -> bool {
    if depth > MAX_DEPTH {
        return false;
    }
    for id in block {
        let Some(node) = module.stmts.get(*id) else { continue };
        let inside = node.span.start <= place.start && place.start < node.span.end;
        if !inside {
            if let Stmt::If { condition, then, otherwise, .. } = &node.kind
                && node.span.end <= place.start
            {
                if leaves(module, then, 0) {
                    way.push((*condition, false));
                } else if leaves(module, otherwise, 0) {
                    way.push((*condition, true));
                }
            }
            continue;
        }
        let mut enter = |block: &Block| collect(module, block, place, way, depth + 1);
        let holds = |block: &Block| block.iter().any(|id| holds_place(module, *id, place));
        match &node.kind {
            Stmt::If { condition, then, otherwise, .. } => {
                if holds(then) {
                    way.push((*condition, true));
                    collect(module, then, place, way, depth + 1);
                } else if holds(otherwise) {
                    way.push((*condition, false));
                    collect(module, otherwise, place, way, depth + 1);
                }
            }
            Stmt::Loop { kind, condition, body, .. } if holds(body) => {
                if let Some(condition) = condition.filter(|_| *kind != LoopKind::DoWhile) {
                    way.push((condition, true));
                }
                collect(module, body, place, way, depth + 1);
            }
            Stmt::Block(body) | Stmt::ForEach { body, .. } | Stmt::Try { body, .. } => {
                enter(body);
            }
            Stmt::Switch { cases, .. } => {
                for case in cases {
                    if holds(&case.body) {
                        enter(&case.body);
                    }
                }
            }
            Stmt::Unknown { blocks, .. } => {
                for block in blocks {
                    if holds(block) {
                        enter(block);
                    }
                }
            }
            _ => {}
        }
        return true;
    }
    false
}

fn holds_place(module: &Module, id: StmtId, place: Span) -> bool {
    module.stmts.get(id).is_some_and(|node| node.span.start <= place.start && place.start < node.span.end)
}

/// Whether control never comes out behind a block.
fn leaves(module: &Module, block: &Block, depth: u32) -> bool {
    let Some(node) = block.last().and_then(|id| module.stmts.get(*id)) else { return false };
    match &node.kind {
        Stmt::Return(_) | Stmt::Break | Stmt::Continue | Stmt::Goto(_) => true,
        Stmt::Block(inner) if depth < MAX_DEPTH => leaves(module, inner, depth + 1),
        Stmt::If { then, otherwise, .. } if depth < MAX_DEPTH => {
            leaves(module, then, depth + 1) && leaves(module, otherwise, depth + 1)
        }
        Stmt::Expr(id) => match module.exprs.get(*id).map(|node| &node.kind) {
            Some(Expr::Throw(_)) => true,
            Some(Expr::Call { callee, .. }) => match module.exprs.get(*callee).map(|node| &node.kind) {
                Some(Expr::Name { path, .. }) => {
                    path.last().is_some_and(|name| matches!(name.as_str(), "exit" | "abort" | "_exit" | "quick_exit"))
                }
                _ => false,
            },
            _ => false,
        },
        _ => false,
    }
}

/// Evaluation with values of parameters: nothing where anything else matters.
struct Eval<'p> {
    module: &'p Module,
    function: &'p Function,
    scope: &'p Scope<'p>,
}

impl Eval<'_> {
    fn kind(&self, id: ExprId) -> Option<&Expr> {
        self.module.exprs.get(id).map(|node| &node.kind)
    }

    fn truth(&self, id: ExprId, values: &Values, depth: u32) -> Option<bool> {
        if depth > MAX_DEPTH {
            return None;
        }
        match self.kind(id)? {
            Expr::AndThen(a, b) => match (self.truth(*a, values, depth + 1), self.truth(*b, values, depth + 1)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            Expr::OrElse(a, b) => match (self.truth(*a, values, depth + 1), self.truth(*b, values, depth + 1)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
            Expr::Unary(UnaryOp::Not, inner) => self.truth(*inner, values, depth + 1).map(|truth| !truth),
            _ => self.value(id, values, depth).map(|value| value != 0),
        }
    }

    fn value(&self, id: ExprId, values: &Values, depth: u32) -> Option<i64> {
        if depth > MAX_DEPTH {
            return None;
        }
        let of = |id: ExprId| self.value(id, values, depth + 1);
        match self.kind(id)? {
            Expr::Int { value, .. } => Some(*value),
            Expr::Null => Some(0),
            Expr::Local(local) => match values.get(local) {
                Some(value) => Some(*value),
                None => self.local(*local, values, depth),
            },
            Expr::Cast { value, .. } => of(*value),
            Expr::Unary(op, inner) => {
                let value = of(*inner)?;
                match op {
                    UnaryOp::Plus => Some(value),
                    UnaryOp::Minus => value.checked_neg(),
                    UnaryOp::Not => Some(i64::from(value == 0)),
                    UnaryOp::BitNot => Some(!value),
                }
            }
            Expr::Binary(op, a, b) => binary(*op, of(*a)?, of(*b)?),
            Expr::AndThen(..) | Expr::OrElse(..) => self.truth(id, values, depth + 1).map(i64::from),
            Expr::Select(c, a, b) => {
                if self.truth(*c, values, depth + 1)? {
                    of(*a)
                } else {
                    of(*b)
                }
            }
            _ => self.scope.eval(id),
        }
    }

    /// A local that is only ever what it is declared to be, or the counter of a loop at its start.
    fn local(&self, local: LocalId, values: &Values, depth: u32) -> Option<i64> {
        let variable = self.function.locals.get(local)?;
        if local.0 < self.function.param_count {
            // A pointer that the harness hands over is not null.
            let is_pointer = matches!(self.module.types.get(variable.ty), Some(Type::Pointer(_)));
            return is_pointer.then_some(1);
        }
        self.value(variable.init?, values, depth + 1)
    }

    /// The parameters that a condition depends on, each with values worth trying.
    fn mentioned(&self, condition: ExprId, found: &mut BTreeMap<LocalId, Vec<i64>>, depth: u32) {
        let mut numbers = vec![0, 1, 2];
        let mut locals = Vec::new();
        let mut inner = Vec::new();
        visit::walk_expr(self.module, condition, |_, expr| {
            match expr {
                Expr::Int { value, .. } => {
                    numbers.extend([Some(*value), value.checked_add(1), value.checked_sub(1)].into_iter().flatten());
                }
                Expr::Local(local) if local.0 < self.function.param_count => locals.push(*local),
                Expr::Local(local) => inner.extend(self.function.locals.get(*local).and_then(|it| it.init)),
                _ => {}
            }
            true
        });
        numbers.extend([-1, 32, 64, 256, 1024]);
        let mut seen = std::collections::BTreeSet::new();
        numbers.retain(|number| seen.insert(*number));
        for local in locals {
            found.entry(local).or_insert_with(|| numbers.clone());
        }
        if depth < 4 {
            for init in inner {
                self.mentioned(init, found, depth + 1);
            }
        }
    }
}

fn binary(op: BinaryOp, a: i64, b: i64) -> Option<i64> {
    let truth = |truth: bool| Some(i64::from(truth));
    match op {
        BinaryOp::Add => a.checked_add(b),
        BinaryOp::Sub => a.checked_sub(b),
        BinaryOp::Mul => a.checked_mul(b),
        BinaryOp::Div => a.checked_div(b),
        BinaryOp::Rem => a.checked_rem(b),
        BinaryOp::Shl => u32::try_from(b).ok().filter(|b| *b < 63).map(|b| a << b),
        BinaryOp::Shr => u32::try_from(b).ok().and_then(|b| a.checked_shr(b)),
        BinaryOp::And => Some(a & b),
        BinaryOp::Or => Some(a | b),
        BinaryOp::Xor => Some(a ^ b),
        BinaryOp::Lt => truth(a < b),
        BinaryOp::Le => truth(a <= b),
        BinaryOp::Gt => truth(a > b),
        BinaryOp::Ge => truth(a >= b),
        BinaryOp::Eq => truth(a == b),
        BinaryOp::Ne => truth(a != b),
        BinaryOp::FloorDiv | BinaryOp::TrueDiv | BinaryOp::Pow => None,
    }
}
