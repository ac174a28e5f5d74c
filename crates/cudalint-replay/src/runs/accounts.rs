//! What each kernel was checked for and how: for `cudalint coverage`.

use super::Basis;
use crate::facts::Site;
use cudalint_kernel::readings::absence::Absence;
use cudalint_program::ir::FunctionId;

/// What became of one launch, at its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchAccount {
    /// The launch.
    pub site: Site,
    /// What its best execution rests on; `None` where it was not executed.
    pub basis: Option<Basis>,
    /// Why it was not executed with facts, in words.
    pub cause: String,
}

/// An access to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessAccount {
    /// The access.
    pub site: Site,
    /// Whether its address was known each time; `None` where no execution came by.
    pub known: Option<bool>,
}

/// Something that could not be followed, in words at its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blindness {
    /// The place.
    pub site: Site,
    /// The cause.
    pub cause: String,
}

/// What one kernel was checked for.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelAccount {
    /// The kernel.
    pub kernel: FunctionId,
    /// Its name, with the template arguments of its first execution.
    pub name: String,
    /// Where it is named.
    pub site: Site,
    /// Its launches, in the order of their places.
    pub launches: Vec<LaunchAccount>,
    /// What its best execution rests on; `None` where it was not executed.
    pub basis: Option<Basis>,
    /// Its accesses to memory, those of device functions that it calls included.
    pub accesses: Vec<AccessAccount>,
    /// What could not be followed.
    pub causes: Vec<Blindness>,
    /// What surely does not happen in any launch.
    pub absence: Absence,
}
