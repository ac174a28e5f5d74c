//! Positions of arguments.

/// The position of an argument, from 0, as C and C++ write the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Arg(pub u8);

impl Arg {
    /// What the call returns, where an argument is asked for.
    pub const RETURNED: Self = Self(u8::MAX);

    /// The position.
    pub const fn at(self) -> usize {
        self.0 as usize
    }

    /// The argument among those of a call.
    pub fn of<T: Copy>(self, args: &[T]) -> Option<T> {
        args.get(self.at()).copied()
    }
}
