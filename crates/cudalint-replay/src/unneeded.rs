//! Programs in which nobody needs what their kernels compute: `main` copies the results to the host and frees them unread, and takes no
//! times. A status that is dropped there hides nothing that anybody would see. Of a program that fetches nothing at all it is not known
//! what it is for.

use crate::runs::defects::unread::{Reader, Use};
use cudalint_program::Project;
use cudalint_program::ir::{Expr, ExprId, Function, LocalId, ModuleId, Stmt, Type};
use cudalint_program::visit::{Item, walk};
use cudalint_syntax::Span;

/// Variables of the device that are followed, at most.
const MAX_MET: usize = 64;

/// Whether a function is such a program. What is not understood is taken for somebody who looks.
pub(crate) fn is_unneeded(project: &Project, id: ModuleId, function: &Function) -> bool {
    if &*function.name != "main" || function.damaged || function.body.is_none() {
        return false;
    }
    let reader = Reader { project, id, module: project.module(id), function };
    if reader.measures() {
        return false;
    }
    let Some(body) = &function.body else { return false };
    let (mut open, mut met, mut stays) = (Vec::new(), Vec::new(), true);
    walk(reader.module, function, body, |item| {
        if let Item::Expr(id) = item
            && let Some(Expr::Launch(launch)) = reader.kind(id)
        {
            stays &= reader.keeps_to_itself(launch, &mut open);
        }
        stays
    });
    let (given, mut fetches) = (open.clone(), false);
    while let Some(device) = open.pop().filter(|_| stays) {
        if met.contains(&device) {
            continue;
        }
        met.push(device);
        let uses = reader.uses(device).filter(|_| met.len() <= MAX_MET && reader.is_of_device(device));
        stays = uses.is_some_and(|uses| {
            uses.iter().all(|of| match of {
                Use::Allocation | Use::Written | Use::Launch(_) => true,
                Use::CopiedTo(to) => reader.destination(*to).is_some_and(|local| {
                    let copy = reader.module.exprs.get(*to).map(|node| node.span);
                    // What kernels are given is looked at by itself.
                    let on_device = given.contains(&local);
                    fetches |= !on_device;
                    on_device || copy.is_some_and(|copy| is_unread_from(&reader, local, copy, &given))
                }),
            })
        });
    }
    stays && fetches
}

/// Whether nothing reads what is in a variable's array once a copy has filled it, but copies to what kernels are `given`.
fn is_unread_from(reader: &Reader<'_>, host: LocalId, copy: Span, given: &[LocalId]) -> bool {
    let Reader { module, function, .. } = *reader;
    let (Some(body), Some(variable)) = (&function.body, function.locals.get(host)) else { return false };
    let captured = |other: &Function| {
        other.parent.is_some() && other.captures.iter().any(|(captured, _)| *captured == variable.name)
    };
    if host.0 < function.param_count || module.functions.iter().any(captured) {
        return false;
    }
    // In a loop what stands before the copy comes after it, too.
    let mut from = copy.end;
    walk(module, function, body, |item| {
        if let Item::Stmt(id) = item
            && let Some(node) = module.stmts.get(id)
            && matches!(node.kind, Stmt::Loop { .. } | Stmt::ForEach { .. })
            && node.span.contains(copy)
        {
            from = from.min(node.span.start);
        }
        true
    });
    let is_later = |span: Span| span.start >= from && !span.contains(copy) && !copy.contains(span);
    let names_it = |value: ExprId| reader.mentions(value, host);
    let is_pointer = |local: &LocalId| {
        let ty = function.locals.get(*local).and_then(|local| module.types.get(local.ty));
        !matches!(ty, Some(Type::Int { .. } | Type::Float { .. } | Type::Bool))
    };
    let mut unread = true;
    walk(module, function, body, |item| {
        let goes_on = match item {
            // Another name for the array: who reads it by that is not followed.
            Item::Declare(local) => {
                let init = function.locals.get(local).and_then(|local| local.init);
                unread &= local == host || !init.is_some_and(|init| is_pointer(&local) && names_it(init));
                true
            }
            Item::Stmt(id) => {
                unread &= reader.is_understood(id, &variable.name);
                true
            }
            Item::Expr(id) => match (reader.kind(id), module.exprs.get(id).map(|node| node.span)) {
                (Some(Expr::Local(used)), Some(span)) => {
                    unread &= *used != host || !is_later(span);
                    false
                }
                (Some(Expr::Assign { target, value, .. }), _) => {
                    let keeps = match reader.kind(*target) {
                        Some(Expr::Local(local)) => *local != host && is_pointer(local),
                        Some(Expr::Index { .. }) => false,
                        _ => true,
                    };
                    unread &= !keeps || !names_it(*value);
                    true
                }
                (Some(kind), Some(span)) if is_later(span) => {
                    // A use that reads nothing: it is given back, or filled once more.
                    let mut uses = Vec::new();
                    match reader.known_use(kind, host, &mut uses) {
                        Some(others) => {
                            unread &= !others.into_iter().any(names_it);
                            unread &= uses.iter().all(|of| match of {
                                Use::Allocation | Use::Written => true,
                                Use::CopiedTo(to) => reader.variable(*to).is_some_and(|to| given.contains(&to)),
                                Use::Launch(_) => false,
                            });
                            false
                        }
                        None => true,
                    }
                }
                (Some(_), _) => true,
                (None, _) => false,
            },
        };
        goes_on && unread
    });
    unread
}
