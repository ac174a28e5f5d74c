//! `cudalint check` with all that it may be asked for instead of a report, or before it.

use crate::args::CheckArgs;
use crate::check::{self, TROUBLE};
use crate::{edit, out, show, watch};
use cudalint_engine::Engine;

/// Does what the arguments ask for and gives the exit code.
pub fn run(engine: &Engine, args: &CheckArgs) -> u8 {
    if args.unsafe_fixes && !args.fix && !args.diff {
        out::message("error", "--unsafe-fixes goes with --fix, which applies them, or with --diff, which shows them");
        return TROUBLE;
    }
    if args.watch {
        return watch::run(engine, args);
    }
    if args.show_files || args.show_settings {
        return show::run(engine, args);
    }
    if args.diff {
        return edit::diff(engine, args);
    }
    if let Some(reason) = &args.add_ignores {
        return edit::add_ignores(engine, args, reason);
    }
    if args.fix
        && let Err(code) = edit::fix(engine, args)
    {
        return code;
    }
    check::run_once(engine, args)
}
