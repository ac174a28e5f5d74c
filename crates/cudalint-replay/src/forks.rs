//! Processes that are forked after they have used CUDA, and whose child uses CUDA: the state of CUDA does not survive that.

use crate::facts::{ForkFact, Forker, MadeCall, Site};
use crate::sure_calls::SureCalls;
use cudalint_program::Project;
use cudalint_program::ir::{
    BinaryOp, Block, Expr, ExprId, Function, FunctionId, LocalId, Module, ModuleId, Stmt, UnaryOp,
};
use cudalint_program::visit::{Item, walk, walk_expr};

/// The function that forks.
const FORK: &str = "fork";
/// What functions begin with that go on with another program, in the place of this one.
const EXEC: &str = "exec";

/// The forks of one module.
pub(crate) fn forks(project: &Project, id: ModuleId) -> Vec<ForkFact> {
    let module = project.module(id);
    let named = |kind: &Expr| matches!(kind, Expr::Name { path, .. } if path.segments.len() == 1 && path.last().is_some_and(|name| *name == FORK));
    // Most modules end here.
    if !module.exprs.iter().any(|node| named(&node.kind)) || !project.functions_named(FORK).is_empty() {
        return Vec::new();
    }
    let functions = module.functions.iter_enumerated().filter(|(_, function)| !function.damaged);
    functions.filter_map(|(number, function)| Reader { project, id, module, function, number }.fork()).collect()
}

struct Reader<'p> {
    project: &'p Project,
    id: ModuleId,
    module: &'p Module,
    function: &'p Function,
    number: FunctionId,
}

impl<'p> Reader<'p> {
    /// The first fork among the statements of the function itself, with what comes before it and what the child does.
    fn fork(&self) -> Option<ForkFact> {
        let mut open: Vec<&'p Block> = vec![self.function.body.as_ref()?];
        let mut statements = Vec::new();
        // Blocks without a condition are part of what stands around them.
        while let Some(block) = open.pop() {
            for (at, id) in block.iter().enumerate() {
                let statement = &self.module.stmts.get(*id)?.kind;
                if let Stmt::Block(inner) = statement {
                    let rest = block.get(at + 1..).unwrap_or(&[]);
                    statements.extend(
                        inner.iter().chain(rest).filter_map(|id| self.module.stmts.get(*id)).map(|node| &node.kind),
                    );
                    break;
                }
                statements.push(statement);
            }
        }
        let mut before: Option<MadeCall> = None;
        let mut forked: Option<(Site, Option<LocalId>)> = None;
        for statement in statements {
            let value = match statement {
                Stmt::Expr(expr) | Stmt::If { condition: expr, .. } => Some((*expr, None)),
                Stmt::Declare(local) => {
                    self.function.locals.get(*local).and_then(|it| it.init).map(|init| (init, Some(*local)))
                }
                _ => None,
            };
            if let (None, Some((expr, local))) = (&forked, value) {
                if let Some(site) = self.forks_in(expr) {
                    before.as_ref()?;
                    forked = Some((site, local.or_else(|| self.assigned(expr))));
                } else if before.is_none() {
                    let scope = &self.function.scope;
                    let found = SureCalls::new(self.project).of_expression(self.id, scope, &self.function.name, expr);
                    before = found.filter(|call| call.condition.is_none()).map(|call| call.made);
                }
            }
            if let (Some((site, pid)), Stmt::If { condition, then, otherwise, .. }) = (&forked, statement) {
                let block = if self.asks_for_child(*condition, *pid)? { then } else { otherwise };
                let child = SureCalls::new(self.project).of_block(self.id, self.function, block)?;
                let goes_on = child.condition.is_some() || self.runs_another(block);
                let (fork, before) = (*site, before?);
                let (function, by) = (self.number, Forker::Call);
                return (!goes_on).then_some(ForkFact { function, fork, before, child: child.made, by });
            }
        }
        None
    }

    fn kind(&self, id: ExprId) -> Option<&'p Expr> {
        self.module.exprs.get(id).map(|node| &node.kind)
    }

    /// The call of `fork` in an expression.
    fn forks_in(&self, expr: ExprId) -> Option<Site> {
        let mut found = None;
        walk_expr(self.module, expr, |id, kind| {
            if let Expr::Call { callee, args } = kind
                && args.is_empty()
                && self.is_named(*callee, |name| name == FORK)
            {
                found = self.module.exprs.get(id).map(|node| Site { module: self.id, span: node.span });
            }
            found.is_none()
        });
        found
    }

    fn is_named(&self, callee: ExprId, wanted: impl Fn(&str) -> bool) -> bool {
        matches!(self.kind(callee), Some(Expr::Name { path, .. }) if path.last().is_some_and(|name| wanted(name)))
    }

    /// The variable that an expression assigns to.
    fn assigned(&self, expr: ExprId) -> Option<LocalId> {
        let mut found = None;
        walk_expr(self.module, expr, |_, kind| {
            if let Expr::Assign { op: None, target, .. } = kind
                && let Some(Expr::Local(local)) = self.kind(*target)
            {
                found = Some(*local);
            }
            found.is_none()
        });
        found
    }

    /// Whether a condition holds for the child, or for the parent alone; `None` where it is about something else.
    fn asks_for_child(&self, condition: ExprId, pid: Option<LocalId>) -> Option<bool> {
        let is_pid = |id: ExprId| match self.kind(id) {
            Some(Expr::Local(local)) => Some(*local) == pid,
            Some(Expr::Assign { target, .. }) => {
                matches!(self.kind(*target), Some(Expr::Local(local)) if Some(*local) == pid)
            }
            Some(Expr::Call { callee, .. }) => self.is_named(*callee, |name| name == FORK),
            _ => false,
        };
        let is_zero = |id: ExprId| matches!(self.kind(id), Some(Expr::Int { value: 0, .. }));
        match self.kind(condition)? {
            Expr::Binary(op, a, b) => {
                let about = (is_pid(*a) && is_zero(*b)) || (is_zero(*a) && is_pid(*b));
                match op {
                    BinaryOp::Eq if about => Some(true),
                    BinaryOp::Ne if about => Some(false),
                    BinaryOp::Gt if is_pid(*a) && is_zero(*b) => Some(false),
                    _ => None,
                }
            }
            Expr::Unary(UnaryOp::Not, value) if is_pid(*value) => Some(true),
            _ if is_pid(condition) => Some(false),
            _ => None,
        }
    }

    /// Whether a block goes on with another program.
    fn runs_another(&self, block: &Block) -> bool {
        let mut found = false;
        walk(self.module, self.function, block, |item| {
            if let Item::Expr(id) = item
                && let Some(Expr::Call { callee, .. }) = self.kind(id)
            {
                found |= self.is_named(*callee, |name| name.starts_with(EXEC));
            }
            !found
        });
        found
    }
}
