//! Calls of CUDA that code surely makes, functions in sight followed.

use crate::facts::{MadeCall, Site};
use cudalint_program::api::ApiId;
use cudalint_program::api::effects::ErrorRole;
use cudalint_program::ir::{Block, Expr, ExprId, Function, FunctionId, LoopKind, ModuleId, Path, Stmt};
use cudalint_program::visit::{Item, walk, walk_expr};
use cudalint_program::{Name, Project};

/// How deep calls in sight are followed.
const MAX_DEPTH: u32 = 4;
/// Most statements and calls that are looked at in one search.
const MAX_STEPS: u32 = 2_000;

/// A call of CUDA that is surely made, but for one condition.
pub(crate) struct SureCall {
    pub made: MadeCall,
    /// The condition that it stands under.
    pub condition: Option<Site>,
}

/// Looks for such calls.
pub(crate) struct SureCalls<'p> {
    project: &'p Project,
    left: u32,
}

impl<'p> SureCalls<'p> {
    pub const fn new(project: &'p Project) -> Self {
        Self { project, left: MAX_STEPS }
    }

    /// The first call of CUDA that a function surely makes, or else one under a single condition.
    pub fn of_function(&mut self, module: ModuleId, id: FunctionId) -> Option<SureCall> {
        self.function(module, id, 0)
    }

    /// The same of a block of a function.
    pub fn of_block(&mut self, module: ModuleId, function: &Function, block: &'p Block) -> Option<SureCall> {
        self.block(module, function, block, 0)
    }

    /// The same of the computation of a value in a scope; `by` is the function around.
    pub fn of_expression(&mut self, module: ModuleId, inside: &Path, by: &Name, expr: ExprId) -> Option<SureCall> {
        let mut calls = Vec::new();
        let mut blocks = Vec::new();
        collect(self.project, module, expr, &mut calls, &mut blocks);
        calls.into_iter().find_map(|call| self.call(module, inside, by, call, 0))
    }

    fn function(&mut self, module: ModuleId, id: FunctionId, depth: u32) -> Option<SureCall> {
        let function = self.project.function_at(module, id)?;
        let body = function.body.as_ref().filter(|_| !function.damaged && depth <= MAX_DEPTH)?;
        self.block(module, function, body, depth)
    }

    fn block(&mut self, module: ModuleId, function: &Function, body: &'p Block, depth: u32) -> Option<SureCall> {
        let code = self.project.module(module);
        let mut open: Vec<(&Block, Option<ExprId>)> = vec![(body, None)];
        let mut under_condition = None;
        while let Some((block, condition)) = open.pop() {
            // Behind a condition that leaves the function, all stands under it.
            let mut condition = condition;
            for statement in block {
                self.left = self.left.checked_sub(1)?;
                let Some(node) = code.stmts.get(*statement) else { continue };
                let mut exprs = Vec::new();
                match &node.kind {
                    Stmt::Expr(expr) | Stmt::Return(Some(expr)) => exprs.push(*expr),
                    Stmt::Declare(local) => exprs.extend(function.locals.get(*local).and_then(|local| local.init)),
                    Stmt::Block(inner)
                    | Stmt::Try { body: inner, .. }
                    | Stmt::Loop { kind: LoopKind::DoWhile, body: inner, .. } => open.push((inner, condition)),
                    Stmt::If { condition: asked, then, otherwise, .. } => {
                        exprs.push(*asked);
                        if condition.is_none() {
                            open.push((then, Some(*asked)));
                            let leaves = [then, otherwise]
                                .into_iter()
                                .any(|block| leaves(self.project, module, function, block));
                            if leaves {
                                condition = Some(*asked);
                            }
                        }
                    }
                    _ => {}
                }
                let (mut calls, mut blocks) = (Vec::new(), Vec::new());
                for expr in exprs {
                    collect(self.project, module, expr, &mut calls, &mut blocks);
                }
                open.extend(blocks.into_iter().map(|block| (block, condition)));
                for call in calls {
                    let Some(found) = self.call(module, &function.scope, &function.name, call, depth) else { continue };
                    match (condition, &found.condition) {
                        (None, None) => return Some(found),
                        (Some(condition), None) => {
                            let span = code.exprs.get(condition)?.span;
                            let condition = Some(Site { module, span });
                            under_condition.get_or_insert(SureCall { condition, ..found });
                        }
                        (None, Some(_)) => {
                            under_condition.get_or_insert(found);
                        }
                        (Some(_), Some(_)) => {}
                    }
                }
            }
        }
        under_condition
    }

    /// What one call comes to: a function of CUDA, or what a function in sight calls.
    fn call(&mut self, module: ModuleId, inside: &Path, by: &Name, call: Made<'p>, depth: u32) -> Option<SureCall> {
        self.left = self.left.checked_sub(1)?;
        let name = call.path.last()?;
        if let Some((target, function)) = self.project.function(module, inside, call.path, call.args) {
            return self.function(target, function, depth + 1);
        }
        let defined = !self.project.functions_named(name).is_empty() || self.project.has_macro(module, name);
        let api = ApiId::named(name).filter(|api| !defined && call.path.segments.len() == 1 && touches_cuda(*api))?;
        let made = MadeCall { api: Name::from(api.name()), site: call.site, by: by.clone() };
        Some(SureCall { made, condition: None })
    }
}

/// Whether a function has to do with the state of CUDA in this process.
pub(crate) fn touches_cuda(api: ApiId) -> bool {
    api.is_cuda_host()
        && !api.is_pure()
        && api.section != "Version Management"
        && !matches!(api.role, ErrorRole::Clears | ErrorRole::Peeks)
        && api.returns_status()
}

/// A call as it is written.
#[derive(Clone, Copy)]
struct Made<'p> {
    path: &'p Path,
    args: usize,
    site: Site,
}

/// The calls that an expression surely makes, and statements in it.
fn collect<'p>(
    project: &'p Project,
    module: ModuleId,
    expr: ExprId,
    calls: &mut Vec<Made<'p>>,
    blocks: &mut Vec<&'p Block>,
) {
    let code = project.module(module);
    walk_expr(code, expr, |id, kind| match kind {
        Expr::AndThen(..) | Expr::OrElse(..) | Expr::Select(..) | Expr::Lambda { .. } => false,
        Expr::Statements(block) => {
            blocks.push(block);
            false
        }
        Expr::Call { callee, args } => {
            if let (Some(Expr::Name { path, .. }), Some(node)) =
                (code.exprs.get(*callee).map(|node| &node.kind), code.exprs.get(id))
            {
                calls.push(Made { path, args: args.len(), site: Site { module, span: node.span } });
            }
            true
        }
        _ => true,
    });
}

/// Whether a block may leave the function.
fn leaves(project: &Project, module: ModuleId, function: &Function, block: &Block) -> bool {
    let code = project.module(module);
    let mut found = false;
    walk(code, function, block, |item| {
        if let Item::Stmt(id) = item {
            found |= matches!(code.stmts.get(id).map(|node| &node.kind), Some(Stmt::Return(_) | Stmt::Goto(_)));
        }
        !found
    });
    found
}
