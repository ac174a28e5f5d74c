//! Numbers that tell what template parameters stand for apart, so that what was asked for the same is found again.

use crate::name::Name;
use crate::types::{Argument, Ty, TypeEnv};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Types that are looked at; those of bindings inside have marks of their own.
const MAX_TYPES: u32 = 64;
/// Bindings inside of bindings.
const MAX_DEPTH: u32 = 64;

/// A number that tells bindings from others; nothing where they are too large to be looked at.
pub(crate) fn mark(env: &TypeEnv) -> Option<u64> {
    mark_inside(env, 0)
}

fn mark_inside(env: &TypeEnv, depth: u32) -> Option<u64> {
    if depth > MAX_DEPTH {
        return None;
    }
    env.marked(|bindings: &[(Name, Argument)]| {
        let mut marker = Marker { hasher: DefaultHasher::new(), left: MAX_TYPES, depth };
        for (name, argument) in bindings {
            name.hash(&mut marker.hasher);
            marker.argument(argument)?;
        }
        Some(marker.hasher.finish())
    })
}

struct Marker {
    hasher: DefaultHasher,
    left: u32,
    depth: u32,
}

impl Marker {
    fn argument(&mut self, argument: &Argument) -> Option<()> {
        std::mem::discriminant(argument).hash(&mut self.hasher);
        match argument {
            Argument::Type(ty) => self.ty(ty)?,
            Argument::Value(value) => value.hash(&mut self.hasher),
            Argument::Function(module, function, env) => {
                (module, function, mark_inside(env, self.depth + 1)?).hash(&mut self.hasher);
            }
            Argument::Unknown => {}
        }
        Some(())
    }

    fn ty(&mut self, ty: &Ty) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        std::mem::discriminant(ty).hash(&mut self.hasher);
        match ty {
            Ty::Void | Ty::Bool | Ty::Function | Ty::Auto | Ty::Unknown => {}
            Ty::Int { bytes, signed } => (bytes, signed).hash(&mut self.hasher),
            Ty::Float { bytes } => bytes.hash(&mut self.hasher),
            Ty::Vector { name, .. } => name.hash(&mut self.hasher),
            Ty::Pointer(to) | Ty::Reference(to) => self.ty(to)?,
            Ty::Array(of, count) => {
                count.hash(&mut self.hasher);
                self.ty(of)?;
            }
            Ty::Record(entry, env) => (entry, mark_inside(env, self.depth + 1)?).hash(&mut self.hasher),
            Ty::Enum { of, .. } => of.hash(&mut self.hasher),
            Ty::Library(name, arguments) => {
                (name, arguments.len()).hash(&mut self.hasher);
                for argument in arguments.iter() {
                    self.argument(argument)?;
                }
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::mark;
    use crate::name::Name;
    use crate::types::{Argument, Ty, TypeEnv};

    fn bound(name: &str, ty: Ty) -> TypeEnv {
        TypeEnv::new(vec![(Name::from(name), Argument::Type(ty))])
    }

    #[test]
    fn equal_bindings_have_one_mark_and_others_another() {
        assert_eq!(mark(&bound("T", Ty::INT)), mark(&bound("T", Ty::INT)));
        assert_ne!(mark(&bound("T", Ty::INT)), mark(&bound("U", Ty::INT)));
        assert_ne!(mark(&bound("T", Ty::INT)), mark(&bound("T", Ty::pointer_to(Ty::INT))));
        let mut more = bound("T", Ty::INT);
        let before = mark(&more);
        more.push(Name::from("U"), Argument::Unknown);
        assert_ne!(mark(&more), before);
    }

    #[test]
    fn what_doubles_is_not_looked_at() {
        let mut ty = Ty::INT;
        for _ in 0..60 {
            ty = Ty::Library("pair".into(), [Argument::Type(ty.clone()), Argument::Type(ty)].into());
        }
        assert_eq!(mark(&bound("T", ty)), None);
    }
}
