//! Directions of copies: what they say of each side, and where the memory is.

use cudalint_replay::facts::{CopyKind, Event, EventKind, MemorySpace, Pointer, PointerArgument};

/// Whether a copy is told another side of its memory than it is on, so that it is refused before it moves anything.
pub fn is_wrong_way(event: &Event) -> bool {
    let EventKind::Copy { destination, source, kind, .. } = &event.kind else { return false };
    let Some((to, from)) = told(*kind) else { return false };
    side(destination).is_some_and(|actual| actual != to) || side(source).is_some_and(|actual| actual != from)
}

/// The sides that a direction says: of the destination, of the source.
pub const fn told(kind: CopyKind) -> Option<(Side, Side)> {
    match kind {
        CopyKind::HostToHost => Some((Side::Host, Side::Host)),
        CopyKind::HostToDevice => Some((Side::Device, Side::Host)),
        CopyKind::DeviceToHost => Some((Side::Host, Side::Device)),
        CopyKind::DeviceToDevice => Some((Side::Device, Side::Device)),
        CopyKind::Default | CopyKind::Unknown => None,
    }
}

/// Where the memory surely is, when only one side can reach it: pinned and managed memory can be used from both.
pub fn side(argument: &PointerArgument) -> Option<Side> {
    let space = match &argument.pointer {
        Pointer::Into { buffer, .. } => buffer.space,
        Pointer::Somewhere { space, .. } => *space,
        Pointer::Null | Pointer::Uninitialized { .. } | Pointer::Unknown => return None,
    };
    match space {
        MemorySpace::Host => Some(Side::Host),
        MemorySpace::Device => Some(Side::Device),
        MemorySpace::Pinned | MemorySpace::Managed => None,
    }
}

/// The side that memory is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Ordinary memory of the host.
    Host,
    /// The device's.
    Device,
}

impl Side {
    /// The side as messages call it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Device => "device",
        }
    }
}
