//! What code is compiled with and for.

/// What code is compiled with and for, as far as somebody says it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// The toolkit's version, or the oldest of several.
    pub toolkit: Option<Told<(u32, u32)>>,
    /// The oldest compute capability, as `major * 10 + minor`; 0 where it is not written out.
    pub architecture: Option<Told<u32>>,
}

/// A fact of the build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told<T> {
    /// It.
    pub value: T,
    /// Whether it is no more than what a build file names, which may be built otherwise.
    pub named: bool,
}

impl<T> Told<T> {
    /// What a command line, the settings or the build's commands say.
    pub(crate) const fn surely(value: T) -> Self {
        Self { value, named: false }
    }

    /// What a build file names.
    pub(crate) const fn by_name(value: T) -> Self {
        Self { value, named: true }
    }
}

/// What build files of one folder name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Named {
    /// The oldest version of the toolkit that a path of it names, or that `find_package` asks for.
    pub toolkit: Option<(u32, u32)>,
    /// The oldest architecture; 0 where some are not written out.
    pub architecture: Option<u32>,
}
