//! Launches that the walk of the host program does not meet, as they are written: what they say of the block as constants. A launch far
//! down in loops, behind what is too long to follow, or in a branch of `#if` that is not the program, still says how its kernel is meant.

use super::extents::{Block, Reader, open_block, told};
use super::switched_off;
use cudalint_program::ir::{Expr, FunctionId, ModuleId};
use cudalint_program::{Name, Project};
use rustc_hash::{FxHashMap, FxHashSet};

/// What launches say of the blocks of each kernel: the most telling.
pub(super) type Blocks = FxHashMap<(ModuleId, FunctionId), Block>;

/// What is written of the blocks of these kernels: in the program first, and of those that it does not launch in branches that are not.
pub(super) fn blocks(project: &Project, wanted: &FxHashSet<(ModuleId, FunctionId)>) -> Blocks {
    let mut found = Blocks::default();
    if wanted.is_empty() {
        return found;
    }
    let functions = wanted.iter().filter_map(|(module, kernel)| project.function_at(*module, *kernel));
    let names: FxHashSet<&Name> = functions.map(|function| &function.name).collect();
    for id in project.modules() {
        let module = project.module(id);
        for node in &module.exprs {
            let Expr::Launch(launch) = &node.kind else { continue };
            let Some(Expr::Name { path, .. }) = module.exprs.get(launch.kernel).map(|node| &node.kind) else {
                continue;
            };
            // Most launches were met: what follows is for the others.
            if !launch.chevron || !path.last().is_some_and(|name| names.contains(name)) {
                continue;
            }
            let Some(reader) = Reader::around(project, id, node.span) else { continue };
            let kernel = project.kernel(id, &reader.function.scope, path, Some(launch.args.len()));
            if let Some(kernel) = kernel.filter(|kernel| wanted.contains(kernel)) {
                let block = launch.config.get(1).map_or_else(open_block, |block| reader.block(*block));
                keep(&mut found, kernel, block);
            }
        }
    }
    let mut hidden = Blocks::default();
    for id in project.modules() {
        for (name, block) in switched_off::launches(project.module(id), project.source(id)) {
            let kernels = project.functions_named(name).into_iter();
            for kernel in kernels.filter(|kernel| wanted.contains(kernel) && !found.contains_key(kernel)) {
                keep(&mut hidden, kernel, block.map(Into::into));
            }
        }
    }
    found.extend(hidden);
    found
}

/// Keeps what says the most, the first of several.
fn keep(found: &mut Blocks, kernel: (ModuleId, FunctionId), block: Block) {
    match found.get_mut(&kernel) {
        Some(kept) if told(&block) > told(kept) => *kept = block,
        Some(_) => {}
        None => {
            found.insert(kernel, block);
        }
    }
}
