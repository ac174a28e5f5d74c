//! The launcher alone, for programs that are not `cudalint` itself: tests and chores.

use std::process::ExitCode;

fn main() -> ExitCode {
    cudalint_verify::lab::launch_main(std::env::args().skip(1))
}
