//! An execution while it is classified.

use crate::runs::KernelRun;
use cudalint_kernel::Code;
use cudalint_kernel::readings::{Formula, formula};
use cudalint_kernel::report::Site;
use cudalint_program::Project;

/// An execution with the code that was executed.
#[derive(Clone, Copy)]
pub(super) struct Executed<'a> {
    pub project: &'a Project,
    pub run: &'a KernelRun,
    pub code: Option<&'a Code>,
}

impl Executed<'_> {
    /// The wrong formulas in the index of an access.
    pub fn formulas(&self, access: Site) -> Vec<Formula> {
        self.code.map_or_else(Vec::new, |code| formula::formulas(code, access))
    }
}
