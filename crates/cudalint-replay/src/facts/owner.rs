//! Whose memory it is, and which functions free it.

use super::{MemorySpace, Origin};
use cudalint_program::api::ApiId;
use cudalint_program::api::effects::{Effect, Handle, Space};

/// Whose memory it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A function of CUDA, or `malloc` and its kin.
    Allocator(ApiId, Space),
    /// A function of CUDA that makes a handle.
    Maker(ApiId, Handle),
    /// `new`.
    New,
    /// No heap: a variable, or the storage of an object that frees it itself.
    Variable,
}

impl Owner {
    /// Who has to free what came into being in this way; `None` where that is not known.
    pub fn of(origin: &Origin, space: MemorySpace) -> Option<Self> {
        match origin {
            Origin::Call(api, _) => api.effects.iter().find_map(|effect| match effect {
                Effect::Allocates { space, .. } => Some(Self::Allocator(*api, *space)),
                Effect::Creates(kind, _) => Some(Self::Maker(*api, *kind)),
                _ => None,
            }),
            Origin::New => Some(Self::New),
            Origin::Local | Origin::Global | Origin::Vector | Origin::Text => {
                (space == MemorySpace::Host).then_some(Self::Variable)
            }
            Origin::Parameter | Origin::LeftOut | Origin::Other => None,
        }
    }

    /// Whether a function frees memory of this kind; `None` where the manual does not say.
    pub fn is_freed_by(self, api: &str) -> Option<bool> {
        let of_cuda = ApiId::named(api).filter(|api| api.is_cuda_host());
        match (of_cuda, self) {
            // Arrays and textures have destructors that the catalogue knows by kind; what else a handle may be given to, no one.
            (Some(api), Self::Maker(_, kind)) => api.destroys(kind).then_some(true),
            (None, Self::Maker(..)) => None,
            // On AMD's devices the other function may free it as well.
            (Some(of), Self::Allocator(_, space @ (Space::Pinned | Space::Device))) if api.starts_with("hip") => {
                (of.frees_pinned() == (space == Space::Pinned)).then_some(true)
            }
            (Some(api), Self::Allocator(_, Space::Pinned)) => Some(api.frees_pinned()),
            (Some(api), Self::Allocator(_, Space::Device)) => Some(!api.frees_pinned()),
            (Some(api), Self::Allocator(_, Space::Managed)) => (!api.frees_pinned()).then_some(true),
            (Some(_), Self::Allocator(_, Space::Host) | Self::New | Self::Variable) => Some(false),
            (None, owner) => Some(!matches!(owner, Self::Allocator(api, _) if api.is_cuda_host())),
        }
    }
}
