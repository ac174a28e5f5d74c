//! Functions that take times. Who measures how long something takes may not need what it computes.

use cudalint_program::Name;
use cudalint_program::ir::{BinaryOp, Expr, ExprId, Function, LocalId, Module, Path};
use cudalint_program::visit::{Item, walk};
use rustc_hash::FxHashMap;

/// Parts of the names of what takes times.
const TIMING: [&str; 8] = ["elapsed", "clock", "chrono", "timer", "gettime", "wtime", "cpusecond", "timestamp"];

/// Whether a function takes times: it names something that does, or it takes the difference of what one function without arguments gives
/// twice (`start = second(); …; second() - start`). `called` is given what the function calls, as far as that has been looked at.
pub(crate) fn takes_times(module: &Module, function: &Function, mut called: impl FnMut(ExprId)) -> bool {
    let Some(body) = &function.body else { return false };
    let kind = |id: ExprId| module.exprs.get(id).map(|node| &node.kind);
    let of_time = |name: &Name| {
        let name = name.as_str().to_ascii_lowercase();
        TIMING.iter().any(|word| name.contains(word))
    };
    let asked = |id: ExprId| match kind(id)? {
        Expr::Call { callee, args } if args.is_empty() => match kind(*callee)? {
            Expr::Name { path, .. } => Some(path),
            _ => None,
        },
        _ => None,
    };
    // What gave variables their values.
    let mut given: FxHashMap<LocalId, &Path> = FxHashMap::default();
    let mut found = false;
    walk(module, function, body, |item| {
        match item {
            Item::Declare(local) => {
                let init = function.locals.get(local).and_then(|local| local.init);
                given.extend(init.and_then(asked).map(|path| (local, path)));
            }
            Item::Expr(id) => match kind(id) {
                Some(Expr::Name { path, .. }) => found |= path.segments.iter().any(of_time),
                Some(Expr::Member { name, .. }) => found |= of_time(name),
                Some(Expr::Call { callee, .. }) => called(*callee),
                Some(Expr::Assign { op: None, target, value }) => {
                    if let (Some(Expr::Local(local)), Some(path)) = (kind(*target), asked(*value)) {
                        given.insert(*local, path);
                    }
                }
                Some(Expr::Binary(BinaryOp::Sub, end, start)) => {
                    let kept = |id: ExprId| match kind(id) {
                        Some(Expr::Local(local)) => given.get(local).copied(),
                        _ => None,
                    };
                    let (start, end) = (kept(*start), kept(*end).or_else(|| asked(*end)));
                    found |= start.zip(end).is_some_and(|(start, end)| start.segments == end.segments);
                }
                _ => {}
            },
            Item::Stmt(_) => {}
        }
        !found
    });
    found
}
