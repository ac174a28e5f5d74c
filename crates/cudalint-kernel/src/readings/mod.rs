//! What a kernel's code says of itself, without being executed: how much shared memory it has and which parameters it
//! dereferences ([`summary`]), how many elements it takes ([`coverage`]), formulas of its indices ([`formula`]), conditions that
//! keep nothing out ([`vacuous`]), races by which threads elect one of them ([`election`]) and of
//! updates that all threads make alike ([`settled`]), updates that are spelled out ([`updates`]), what becomes of the memory behind its parameters ([`uses`]), which values only fill
//! memory that nobody looks at ([`sinks`]), what surely does not happen in any launch ([`absence`]), where addresses come from that an
//! execution does not know ([`blind`]), which numbers decide what its threads do ([`deciding`], those in memory: `shared`), which values are computed in `double`
//! between two of `float` ([`doubles`]), which conditions several threads may pass (`passing`), which sums take the place of what they are less than (`relaxations`), which elements a thread reaches
//! through two of its parameters ([`together`]), which branches end it ([`last`]), which loops take a lock ([`locks`]), and which blocks it is made for
//! ([`block`]).
//!
//! A reading is made of [`Code`], so that it holds for kernels of both languages, with their template arguments and the types of
//! their arguments in place.

pub mod absence;
pub mod blind;
pub mod block;
pub mod coverage;
pub mod deciding;
mod dependence;
pub mod doubles;
pub mod election;
pub mod formula;
pub mod last;
pub mod locks;
pub(crate) mod passing;
pub(crate) mod relaxations;
mod room;
pub mod settled;
mod shared;
pub mod sinks;
mod source;
pub mod summary;
pub mod together;
pub mod updates;
pub mod uses;
pub mod vacuous;

pub use absence::Absence;
pub use coverage::CoverageClaim;
pub use formula::{Formula, Mistake};
pub use summary::{DynamicShared, KernelSummary};
pub use together::Together;
pub use uses::Use;
pub use vacuous::Unguarded;
