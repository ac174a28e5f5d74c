//! What parts of a program are called by: the numbers of its expressions, statements, types and functions, and names as written.

use crate::ids;
use crate::name::Name;
use std::num::NonZeroU32;
use std::sync::Arc;

ids! {
    /// An expression of a module.
    ExprId;
    /// A statement of a module.
    StmtId;
    /// A type of a module.
    TypeId;
    /// A variable of a function: parameter or local.
    LocalId;
    /// A function of a module.
    FunctionId;
    /// A module of the project.
    ModuleId;
}

/// A macro of [`Module::expanded`], counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ExpansionId(pub NonZeroU32);

/// A list of statements.
pub type Block = Vec<StmtId>;

/// A name with its qualifiers, as written: `thrust::device_vector` is `["thrust", "device_vector"]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Path {
    /// Segments; a leading `::` is dropped. Shared, since most paths are written many times.
    pub segments: Arc<[Name]>,
}

impl Default for Path {
    fn default() -> Self {
        Self { segments: Arc::from([]) }
    }
}

impl From<Vec<Name>> for Path {
    fn from(segments: Vec<Name>) -> Self {
        Self { segments: segments.into() }
    }
}

impl FromIterator<Name> for Path {
    fn from_iter<T: IntoIterator<Item = Name>>(segments: T) -> Self {
        Self { segments: segments.into_iter().collect() }
    }
}

impl Path {
    /// A path of one segment.
    pub fn single(name: Name) -> Self {
        Self { segments: Arc::from([name]) }
    }

    /// The path of what stands directly inside this one.
    #[must_use]
    pub fn within(&self, name: Name) -> Self {
        self.segments.iter().cloned().chain([name]).collect()
    }

    /// The last segment.
    pub fn last(&self) -> Option<&Name> {
        self.segments.last()
    }
}
