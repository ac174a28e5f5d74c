//! Bounds of a walk.

/// Bounds of a walk.
#[derive(Clone, Copy, Debug)]
pub struct ReplayOptions {
    /// Expressions and statements evaluated from one entry function.
    pub steps_per_entry: u32,
    /// Iterations of loops with known bounds that are run one by one, per loop.
    pub iterations: u32,
}

impl Default for ReplayOptions {
    fn default() -> Self {
        Self { steps_per_entry: 12_000, iterations: 24 }
    }
}
