//! The children alone, for programs that are not `cudalint` itself: tests and chores. Without a hidden word, the launcher.

use std::process::ExitCode;

fn main() -> ExitCode {
    cudalint_verify::child(std::env::args().skip(1))
        .unwrap_or_else(|| cudalint_verify::lab::launch_main(std::env::args().skip(1)))
}
