//! What each kernel was checked for and how: for `cudalint coverage`.

use super::Basis;
use crate::facts::Site;
use cudalint_kernel::Values;
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

/// Values of a subscript in the launches that were executed with facts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexAccount {
    /// The subscript with all before it: `a[i]`.
    pub site: Site,
    /// Launches with the same numbers.
    pub launches: Vec<Site>,
    /// Blocks along x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block along x, y, z.
    pub block: [u32; 3],
    /// The values of all threads, where all are known.
    pub values: Option<Values>,
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
    /// Values of the subscripts in it and in device functions that it calls, launch after launch.
    pub indices: Vec<IndexAccount>,
    /// What could not be followed.
    pub causes: Vec<Blindness>,
    /// What surely does not happen in any launch.
    pub absence: Absence,
}
