//! Whether a kernel says nothing but through its parameters: it prints nothing and writes no variable of its own.

use cudalint_program::Project;
use cudalint_program::api::ApiId;
use cudalint_program::api::effects::{DeviceOp, Library, Side};
use cudalint_program::ir::{BinaryOp, Expr, ExprId, Function, FunctionId, Module, ModuleId, Stmt};
use cudalint_program::visit::{Item, walk};

/// Most statements and expressions of a kernel and of what it calls that are looked at.
const MAX_SEEN: u32 = 4000;
/// Names that every kernel has, and none can write.
const OF_THREADS: [&str; 5] = ["threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize"];
/// How deep calls of functions in sight are followed.
const MAX_CALLS: u32 = 4;

/// Whether a kernel says nothing but through its parameters.
pub(crate) fn speaks_by_parameters(project: &Project, (module, id): (ModuleId, FunctionId)) -> bool {
    let speech = Speech { project, module, code: project.module(module) };
    let mut left = MAX_SEEN;
    project.function_at(module, id).is_some_and(|function| speech.is_silent(function, MAX_CALLS, &mut left))
}

/// The code around a function while it is asked what it says.
#[derive(Clone, Copy)]
struct Speech<'p> {
    project: &'p Project,
    module: ModuleId,
    code: &'p Module,
}

impl Speech<'_> {
    fn is_silent(self, function: &Function, calls: u32, left: &mut u32) -> bool {
        let Some(body) = &function.body else { return false };
        let code = self.code;
        let mut silent = true;
        walk(code, function, body, |item| {
            *left = left.saturating_sub(1);
            match item {
                Item::Stmt(id) => {
                    let statement = code.stmts.get(id).map(|node| &node.kind);
                    silent &= !matches!(statement, Some(Stmt::Asm { .. } | Stmt::Unknown { .. } | Stmt::Elided { .. }));
                }
                Item::Expr(id) => match code.exprs.get(id).map(|node| &node.kind) {
                    Some(Expr::Call { callee, args }) => {
                        silent &= self.only_computes(function, *callee, args, calls, left);
                    }
                    Some(Expr::Assign { target, .. } | Expr::Step { target, .. } | Expr::AddressOf(target)) => {
                        silent &= !is_named(code, *target);
                    }
                    Some(
                        Expr::Launch(_)
                        | Expr::Lambda { .. }
                        | Expr::New { .. }
                        | Expr::Delete { .. }
                        | Expr::Place { .. }
                        | Expr::Unknown(_),
                    ) => {
                        silent = false;
                    }
                    _ => {}
                },
                Item::Declare(_) => {}
            }
            silent && *left > 0
        });
        silent && *left > 0
    }

    /// Whether a call gives a number, changes what it is given by address, or waits for others.
    fn only_computes(self, from: &Function, callee: ExprId, args: &[ExprId], calls: u32, left: &mut u32) -> bool {
        let Some(Expr::Name { path, .. }) = self.code.exprs.get(callee).map(|node| &node.kind) else { return false };
        // What is given by reference, or as an array, can be written there.
        let gives_own = || args.iter().any(|arg| is_named(self.code, *arg));
        if let Some((module, id)) = self.project.function(self.module, &from.scope, path, args.len()) {
            let inside = Self { module, code: self.project.module(module), ..self };
            let function = self.project.function_at(module, id);
            let is_silent = |function: &Function| inside.is_silent(function, calls - 1, left);
            return calls > 0 && !gives_own() && function.is_some_and(is_silent);
        }
        let Some(name) = path.last().filter(|_| path.segments.len() == 1) else { return false };
        let is_free = self.project.functions_named(name).is_empty();
        let Some(api) = ApiId::named(name) else {
            // The compiler's own and those of `half`: `__float2half`, `__hfma`.
            return is_free && name.starts_with("__") && !gives_own();
        };
        let works = match api.device_op() {
            Some(DeviceOp::Print | DeviceOp::Trap) => false,
            Some(_) => !gives_own(),
            // `min`, `sqrtf`.
            None => {
                let is_math = api.library == Library::C && api.side == Side::Both && api.effects.is_empty();
                api.gives.is_some() || api.is_pure() || is_math
            }
        };
        works && is_free
    }
}

/// Whether a place belongs to a variable outside of the function.
fn is_named(code: &Module, mut place: ExprId) -> bool {
    loop {
        place = match code.exprs.get(place).map(|node| &node.kind) {
            Some(Expr::Name { path, .. }) => {
                return !path.last().is_some_and(|name| OF_THREADS.contains(&name.as_str()));
            }
            Some(Expr::Member { base, .. } | Expr::Index { base, .. }) => *base,
            Some(Expr::Deref(value) | Expr::Cast { value, .. } | Expr::Binary(BinaryOp::Add, value, _)) => *value,
            _ => return false,
        };
    }
}
