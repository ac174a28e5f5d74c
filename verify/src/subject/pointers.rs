//! What is done with the memory behind a pointer.

use cudalint_program::Name;
use cudalint_program::ir::LocalId;
use std::collections::BTreeMap;

/// How a function uses the memory behind one pointer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // Independent facts.
pub struct Uses {
    /// Kernels or device-side calls use it.
    pub device: bool,
    /// Host code reads or writes it.
    pub host: bool,
    /// It is written by host code.
    pub host_writes: bool,
    /// `cudaFree` gets it.
    pub freed_on_device: bool,
    /// `cudaFreeHost` gets it, or it is used as page-locked memory.
    pub pinned: bool,
    /// `free` gets it.
    pub freed_by_free: bool,
    /// `delete` gets it; the flag says whether as an array.
    pub deleted: Option<bool>,
    /// It is handed to code out of sight.
    pub escapes: bool,
}

impl Uses {
    pub(super) fn join(&mut self, other: Self) {
        self.device |= other.device;
        self.host |= other.host;
        self.host_writes |= other.host_writes;
        self.freed_on_device |= other.freed_on_device;
        self.pinned |= other.pinned;
        self.freed_by_free |= other.freed_by_free;
        self.deleted = self.deleted.or(other.deleted);
        self.escapes |= other.escapes;
    }

    /// Whether the function gives the memory back itself.
    pub fn is_freed(&self) -> bool {
        self.freed_on_device || self.freed_by_free || self.deleted.is_some()
    }
}

/// The uses of one pointer: of what it points to, of what that points to, and so on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PointerUses {
    pub(super) levels: BTreeMap<u8, Uses>,
    /// Whether the variable itself is given a value.
    pub assigned: bool,
}

impl PointerUses {
    /// These uses of what the pointer points to, and of nothing further.
    pub fn with(uses: Uses) -> Self {
        Self { levels: BTreeMap::from([(0, uses)]), assigned: false }
    }

    /// Adds the uses of another place of the same variable.
    pub fn merge(&mut self, other: &Self) {
        for (level, uses) in &other.levels {
            self.levels.entry(*level).or_default().join(*uses);
        }
        self.assigned |= other.assigned;
    }

    /// Uses of the memory that is reached by following the pointer once more than `level` times.
    pub fn level(&self, level: u8) -> Uses {
        self.levels.get(&level).copied().unwrap_or_default()
    }
}

/// A variable of a function, or of the file that it stands in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Var {
    /// A parameter or local.
    Local(LocalId),
    /// A variable at namespace scope, by its position in the module's list.
    Global(u32),
    /// A name that nothing in sight declares.
    Undeclared(Name),
}
