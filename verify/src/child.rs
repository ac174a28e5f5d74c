//! The hidden words with which an executable that uses this crate starts itself as a child.

use std::process::ExitCode;

/// The variable that a parent of ours sets for its children. Without it the hidden words are words as any other, so that a
/// file with such a name starts nothing.
pub(crate) const MARK: &str = "CUDALINT_CHILD";

/// Does a child's work when [`MARK`] is set and the first argument is one of the hidden words; none when it is not, and the executable goes on
/// with its own.
pub fn child(mut arguments: impl Iterator<Item = String>) -> Option<ExitCode> {
    std::env::var_os(MARK)?;
    match arguments.next()?.as_str() {
        "__launch" => Some(crate::lab::launch_main(arguments)),
        "__probe" => Some(crate::machine::probe_main(arguments)),
        "__kernel" => Some(crate::kernel::kernel_main(arguments)),
        _ => None,
    }
}
