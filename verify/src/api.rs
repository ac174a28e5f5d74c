//! Functions of CUDA as programs and tools name them, found in the catalogue.

use cudalint_program::api::ApiId;
use cudalint_program::api::effects::ErrorRole;

/// Ends of names that only say which version of a function is meant, or on which stream.
const VARIANTS: [&str; 5] = ["_ptsz", "_ptds", "_v2", "_v3", "_v4"];

/// The function that a name means in its library, in whatever variant.
pub(crate) fn named(name: &str) -> Option<ApiId> {
    let mut plain = name;
    loop {
        match ApiId::named(plain) {
            Some(api) => return Some(api),
            None => plain = VARIANTS.iter().find_map(|end| plain.strip_suffix(end))?,
        }
    }
}

/// Whether a name means a function that has this property.
pub(crate) fn is(name: &str, property: impl Fn(ApiId) -> bool) -> bool {
    named(name).is_some_and(property)
}

/// Whether a function launches kernels.
pub(crate) fn launches(api: ApiId) -> bool {
    api.launches().is_some() || api.role == ErrorRole::Launches
}
