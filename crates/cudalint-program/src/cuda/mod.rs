//! The CUDA C++ front end: one parsed region becomes one [`Module`].
//!
//! Text is always read from the raw bytes, since the mask may have respelled what the tree shows. Macros are expanded
//! here, from their parsed bodies: see [`macros`](self::macros). Local names are resolved with block scopes; all other
//! names are left as written.

mod allocations;
mod assembly;
mod builtin_types;
mod chain;
mod contested;
mod cupy_bodies;
mod declarators;
mod elision;
mod expressions;
mod fields;
mod functions;
mod heads;
mod items;
mod lambdas;
mod launches;
mod literals;
mod locals;
mod loops;
mod macro_text;
mod macros;
mod operators;
mod parts;
mod preprocessor;
mod records;
mod repairs;
mod scopes;
mod sides;
mod source;
mod state;
mod statements;
mod storage;
mod targets;
mod types;

use crate::ir::Module;
use crate::name::Name;
pub(crate) use cupy_bodies::shape_cupy_body;
pub use cupy_bodies::{CupySlot, cupy_slots};
use rustc_hash::FxHashSet;
use source::Src;
pub(crate) use state::LowerInput;
use state::Lowerer;

/// Lowers a region. Beside the module are the names that stand in it, which are all that it may ask other modules for.
/// Without a tree the module is empty but for its damage.
pub(crate) fn lower(input: LowerInput<'_>) -> (Module, FxHashSet<Name>) {
    let mut lowerer = Lowerer::new(input);
    if let Some(root) = lowerer.parsed.root() {
        let source = Src::file(lowerer.text);
        lowerer.items(source, root);
    }
    lowerer.finish()
}
