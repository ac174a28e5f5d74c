//! What runs leave for later ones over the same files, within one process.

use cudalint_program::KeptFiles;
use cudalint_replay::KeptFacts;
use std::sync::Arc;

/// What runs leave for later ones over the same files: trees, modules, and what the program was seen to do. A run with it says what a
/// run without it says.
#[derive(Debug, Default)]
pub struct Kept {
    pub(crate) files: Arc<KeptFiles>,
    pub(crate) facts: KeptFacts,
}

impl Kept {
    /// Forgets what nobody asked for since the last time.
    pub fn sweep(&self) {
        self.files.sweep();
        self.facts.sweep();
    }

    /// How much there is: files, walks of modules, and executions of kernels. What a run adds is what it had to do.
    pub fn counts(&self) -> [usize; 3] {
        let [walks, executions] = self.facts.counts();
        [self.files.count(), walks, executions]
    }
}
