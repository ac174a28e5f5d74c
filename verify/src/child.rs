//! The hidden words with which an executable that uses this crate starts itself as a child.

use crate::lab::CHILD;
use std::process::ExitCode;

/// Does a child's work when [`CHILD`] is set and the first argument is one of the hidden words; none when it is not, and
/// the executable goes on with its own.
pub fn child(mut arguments: impl Iterator<Item = String>) -> Option<ExitCode> {
    std::env::var_os(CHILD)?;
    match arguments.next()?.as_str() {
        "__launch" => Some(crate::lab::launch_main(arguments)),
        "__probe" => Some(crate::machine::probe_main(arguments)),
        "__compile" => Some(crate::project::compile_main(arguments)),
        "__kernel" => Some(crate::kernel::kernel_main(arguments)),
        _ => None,
    }
}
