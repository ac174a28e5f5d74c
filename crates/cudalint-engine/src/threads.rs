//! The threads that a run works on, with stacks that fit the bounds on depth.

use crate::outcome::UsageError;

/// Bytes of each thread's stack. Every walk bounds its depth: parsers by what they refuse, lowering at 160 levels of the
/// text, the walks over host code at 220 levels in 9 calls, execution and lowering of kernels likewise. The deepest
/// takes some 12 MB when nothing is optimized; memory that is not touched costs nothing.
const STACK: usize = 64 << 20;

/// A pool of threads, as many as the machine has where no number is given.
///
/// # Errors
/// When the system starts none.
pub fn threads(count: Option<usize>) -> Result<rayon::ThreadPool, UsageError> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(count.unwrap_or(0))
        .stack_size(STACK)
        .build()
        .map_err(|error| UsageError(format!("threads cannot be started: {error}")))
}
