//! What host code does that only costs time: a wait before a call that waits anyway, and host arrays of Python that are copied both
//! ways at each of several launches. Looked for only where somebody asks.

use crate::facts::{Event, EventKind, Facts, ImplicitTransfer, LaunchFact, LaunchSpelling, RedundantWait, Site};
use cudalint_program::Project;
use cudalint_program::api::ApiId;
use cudalint_program::api::effects::{Effect, Library, Work};
use cudalint_program::ir::{Block, Expr, ExprId, Function, FunctionId, Module, ModuleId, PythonStmt, Stmt, StmtId};
use cudalint_program::visit::{Item, walk, walk_expr};
use cudalint_syntax::{Language, Span};

/// Names that a project which has streams that are ordered with nothing has somewhere.
const OTHER_STREAMS: [&str; 6] =
    ["NonBlocking", "NON_BLOCKING", "WithPriority", "PerThread", "PER_THREAD", "getCurrentCUDAStream"];
/// Words in the names of what takes times.
const TIMES: [&str; 5] = ["time", "clock", "chrono", "eventrecord", "elapsed"];

/// Fills in what is asked for beside what goes wrong.
pub fn add_hints(project: &Project, id: ModuleId, facts: &mut Facts) {
    if project.module(id).language == Language::Python {
        facts.implicit_transfers = implicit_transfers(project, id, &facts.events);
    } else if !project.is_for_hip(id) {
        facts.redundant_waits = redundant_waits(project, id);
    }
}

/// Waits for the device whose status nobody reads, directly before a copy that waits by itself.
fn redundant_waits(project: &Project, id: ModuleId) -> Vec<RedundantWait> {
    let module = project.module(id);
    let mut found = Vec::new();
    for (index, function) in module.functions.iter().enumerate() {
        let Some(body) = function.body.as_ref().filter(|_| !function.damaged) else { continue };
        let mut blocks: Vec<Block> = vec![body.clone()];
        walk(module, function, body, |item| {
            if let Item::Stmt(id) = item
                && let Some(node) = module.stmts.get(id)
            {
                blocks.extend(blocks_of(&node.kind));
            }
            true
        });
        let pairs = blocks.iter().flat_map(|block| block.windows(2)).filter_map(|pair| {
            let [wait, copy] = pair else { return None };
            let ((api, wait), copy) = (waits(module, *wait)?, copies(module, *copy)?);
            Some(RedundantWait { function: FunctionId(index as u32), api, wait, copy })
        });
        let pairs: Vec<RedundantWait> = pairs.collect();
        if pairs.is_empty() || !is_plain(module, function, body) {
            continue;
        }
        let launched = |before: Span| {
            let mut met = false;
            walk(module, function, body, |item| {
                if let Item::Expr(expr) = item
                    && let Some(node) = module.exprs.get(expr)
                {
                    met |= matches!(node.kind, Expr::Launch(_)) && node.span.end <= before.start;
                }
                !met
            });
            met
        };
        let timed = |pair: &RedundantWait| {
            let (before, after) = (pair.wait.start, pair.copy.end);
            takes_times(project.text(id, Span::new(function.span.start as usize, before as usize)))
                && takes_times(project.text(id, Span::new(after as usize, function.span.end as usize)))
        };
        found.extend(pairs.into_iter().filter(|pair| launched(pair.wait) && !timed(pair)));
    }
    if !found.is_empty() && has_other_streams(project) {
        found.clear();
    }
    found.sort_by_key(|pair| pair.wait);
    found.dedup_by_key(|pair| pair.wait);
    found
}

/// Statement lists in a statement.
fn blocks_of(stmt: &Stmt) -> Vec<Block> {
    match stmt {
        Stmt::Block(block) => vec![block.clone()],
        Stmt::If { then, otherwise, .. } => vec![then.clone(), otherwise.clone()],
        Stmt::Loop { body, .. } | Stmt::ForEach { body, .. } => vec![body.clone()],
        Stmt::Switch { cases, .. } => cases.iter().map(|case| case.body.clone()).collect(),
        Stmt::Try { body, .. } => vec![body.clone()],
        _ => Vec::new(),
    }
}

/// The function of the runtime that an expression calls.
fn called(module: &Module, expr: ExprId) -> Option<ApiId> {
    let Expr::Call { callee, .. } = &module.exprs.get(expr)?.kind else { return None };
    let Expr::Name { path, .. } = &module.exprs.get(*callee)?.kind else { return None };
    let name = path.last().filter(|_| path.segments.len() == 1)?;
    ApiId::named(name).filter(|api| api.library == Library::Runtime)
}

fn waits(module: &Module, stmt: StmtId) -> Option<(ApiId, Span)> {
    let Stmt::Expr(expr) = module.stmts.get(stmt)?.kind else { return None };
    let api = called(module, expr)?;
    let device = api.effects.iter().any(|effect| matches!(effect, Effect::Waits(Work::Device)));
    device.then_some((api, module.exprs.get(expr)?.span))
}

/// The copy that a statement begins with: the call itself, or the first argument of what checks its status.
fn copies(module: &Module, stmt: StmtId) -> Option<Span> {
    let Stmt::Expr(mut expr) = module.stmts.get(stmt)?.kind else { return None };
    for _ in 0..3 {
        if let Some(api) = called(module, expr)
            && api.effects.iter().any(|effect| matches!(effect, Effect::Waits(Work::Own)))
            && api.effects.iter().any(|effect| matches!(effect, Effect::Copies { .. }))
        {
            return Some(module.exprs.get(expr)?.span);
        }
        expr = match &module.exprs.get(expr)?.kind {
            Expr::Call { args, .. } => *args.first()?,
            Expr::Assign { value, .. } => *value,
            _ => return None,
        };
    }
    None
}

/// Whether a text may take times.
fn takes_times(text: &str) -> bool {
    let text = text.to_lowercase();
    TIMES.iter().any(|word| text.contains(word))
}

/// Whether a function gives all its launches to the stream that every program has.
fn is_plain(module: &Module, function: &Function, body: &Block) -> bool {
    let mut plain = true;
    walk(module, function, body, |item| {
        if let Item::Expr(expr) = item
            && let Some(Expr::Launch(launch)) = module.exprs.get(expr).map(|node| &node.kind)
        {
            plain &= launch.chevron && launch.config.len() < 4;
        }
        plain
    });
    plain
}

/// Whether any file of the project may have streams that the default stream does not wait for.
fn has_other_streams(project: &Project) -> bool {
    project.modules().any(|id| {
        let text = project.source(id);
        OTHER_STREAMS.iter().any(|name| text.contains(name))
    })
}

/// Arrays of `NumPy` that go to several launches of Numba's kernels, or to one in a loop, with nothing between that looks at them.
fn implicit_transfers(project: &Project, id: ModuleId, events: &[Event]) -> Vec<ImplicitTransfer> {
    let module = project.module(id);
    let mut found: Vec<ImplicitTransfer> = Vec::new();
    let launches = events.iter().filter_map(|event| match &event.kind {
        EventKind::Launch(launch) if launch.spelling == LaunchSpelling::Numba && event.site.module == id => {
            Some((event, launch))
        }
        _ => None,
    });
    for (event, launch) in launches.clone() {
        let Some(function) = module.functions.get(event.function.1).filter(|_| event.function.0 == id) else {
            continue;
        };
        let Some(body) = &function.body else { continue };
        for (argument, made) in launch.args.iter().filter_map(|argument| Some((argument, argument.copied?))) {
            if found.iter().any(|it| it.array == argument.text && it.launches.contains(&event.site.span)) {
                continue;
            }
            let same = |other: &LaunchFact| {
                other.args.iter().any(|other| other.text == argument.text && other.copied == Some(made))
            };
            let mut all: Vec<Span> = launches
                .clone()
                .filter(|(other, launch)| other.function == event.function && same(launch))
                .map(|(other, _)| other.site.span)
                .collect();
            all.sort();
            all.dedup();
            all.retain(|other| !is_in_another_arm(module, function, body, event.site.span, *other));
            let looped = loop_around(module, function, body, event.site.span, made.span);
            let (Some(first), Some(last)) = (all.first(), all.last()) else { continue };
            let around = looped.unwrap_or(Span::new(first.start as usize, last.end as usize));
            if looped.is_none() && all.len() < 2 {
                continue;
            }
            let looks = looks_at(project, id, (function, body), &argument.text, around, &all);
            if !looks {
                all.retain(|span| around.start <= span.start && span.end <= around.end);
                found.push(ImplicitTransfer {
                    site: Site { module: id, span: argument.span },
                    function: event.function.1,
                    kernel: launch.kernel_name.clone(),
                    array: argument.text.clone(),
                    launches: all,
                    looped: looped.is_some(),
                    made,
                    assumptions: event.assumptions.clone(),
                    path: event.path.clone(),
                });
            }
        }
    }
    found
}

/// The outermost loop around a launch in which its array is not made.
fn loop_around(module: &Module, function: &Function, body: &Block, launch: Span, made: Span) -> Option<Span> {
    let within = |outer: Span, inner: Span| outer.start <= inner.start && inner.end <= outer.end;
    let mut found = None;
    walk(module, function, body, |item| {
        if let Item::Stmt(id) = item
            && let Some(node) = module.stmts.get(id)
            && is_loop(&node.kind)
            && within(node.span, launch)
            && !within(node.span, made)
        {
            found = found.or(Some(node.span));
        }
        true
    });
    found
}

/// Whether two places stand in different arms of one `if`, so that a path comes to one of them only.
fn is_in_another_arm(module: &Module, function: &Function, body: &Block, one: Span, other: Span) -> bool {
    let holds = |block: &Block, span: Span| {
        let spans = block.iter().filter_map(|id| module.stmts.get(*id)).map(|node| node.span);
        spans.into_iter().any(|outer| outer.start <= span.start && span.end <= outer.end)
    };
    let mut apart = false;
    walk(module, function, body, |item| {
        if let Item::Stmt(id) = item
            && let Some(Stmt::If { then, otherwise, .. }) = module.stmts.get(id).map(|node| &node.kind)
        {
            let within = |a, b| holds(then, a) && holds(otherwise, b);
            apart |= within(one, other) || within(other, one);
        }
        !apart
    });
    apart
}

fn is_loop(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Loop { .. } | Stmt::ForEach { .. } => true,
        Stmt::Python(stmt) => matches!(**stmt, PythonStmt::For { .. }),
        _ => false,
    }
}

/// Whether a function names an array in a stretch other than as an argument of these launches.
fn looks_at(
    project: &Project,
    id: ModuleId,
    (function, body): (&Function, &Block),
    name: &str,
    around: Span,
    launches: &[Span],
) -> bool {
    let module = project.module(id);
    let mut looks = false;
    walk(module, function, body, |item| {
        if let Item::Expr(expr) = item {
            walk_expr(module, expr, |part, _| {
                let span = module.exprs.get(part).map_or(around, |node| node.span);
                let is_here = around.start <= span.start && span.end <= around.end;
                let launched = launches.iter().any(|launch| launch.start <= span.start && span.end <= launch.end);
                looks |= is_here && !launched && project.text(id, span) == name;
                !looks
            });
            return false;
        }
        !looks
    });
    looks
}
