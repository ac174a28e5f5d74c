//! `--fix`, `--diff` and `--add-ignores`: what changes files.

use crate::args::CheckArgs;
use crate::check::{self, CLEAN, FOUND, TROUBLE, counted};
use crate::{out, progress};
use cudalint_engine::mending::{self, Mended, MendedFile};
use cudalint_engine::{Engine, UsageError};
use cudalint_findings::edits::unified_diff;
use std::fmt::Write as _;

fn mend(engine: &Engine, args: &CheckArgs) -> Result<Mended, UsageError> {
    let request = check::request(args)?;
    if request.standard_input.is_some() && args.fix {
        return Err(UsageError("--fix needs files; `--diff` shows what it would change in standard input".to_owned()));
    }
    let pool = cudalint_engine::threads(args.threads.map(usize::from))?;
    let progress = progress::Line::new(!args.quiet);
    let mended = pool.install(|| engine.mend(&request, args.unsafe_fixes, &|step| progress.show(step)));
    progress.clear();
    mended
}

fn trouble(problem: &str) -> u8 {
    out::message("error", problem);
    TROUBLE
}

/// Applies fixes and says what was done; an exit code where the run is over.
pub fn fix(engine: &Engine, args: &CheckArgs) -> Result<(), u8> {
    let mended = mend(engine, args).map_err(|error| trouble(&error.0))?;
    write(&mended.files)?;
    if !args.quiet {
        say(&mended, "fixed");
    }
    Ok(())
}

/// Shows what fixes would change.
pub fn diff(engine: &Engine, args: &CheckArgs) -> u8 {
    let mended = match mend(engine, args) {
        Ok(mended) => mended,
        Err(error) => return trouble(&error.0),
    };
    let diffs = mended.files.iter().map(|file| unified_diff(&file.path, &file.before, &file.after));
    if let Err(problem) = out::print(&diffs.collect::<String>()) {
        return trouble(&problem);
    }
    if !args.quiet {
        say(&mended, "would be fixed");
    }
    if mended.files.is_empty() || args.exit_zero { CLEAN } else { FOUND }
}

/// Writes comments that keep findings quiet.
pub fn add_ignores(engine: &Engine, args: &CheckArgs, reason: &str) -> u8 {
    let outcome = check::request(args).and_then(|request| {
        if request.standard_input.is_some() {
            return Err(UsageError("--add-ignores needs files".to_owned()));
        }
        check::lint(engine, args, &request)
    });
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(error) => return trouble(&error.0),
    };
    check::report_problems(&outcome);
    let reason = cudalint_findings::plain::one_line(reason.trim()).replace(']', ")").replace("*/", "");
    let ignored = engine.ignore(&outcome, reason.trim());
    if let Err(code) = write(&ignored.files) {
        return code;
    }
    if !args.quiet {
        let files = counted(ignored.files.len(), "file");
        out::message("note", &format!("{} kept quiet by comments in {files}", counted(ignored.quiet, "finding")));
        for place in &ignored.left {
            out::message("note", &format!("{place}: no comment can stand there"));
        }
    }
    if outcome.faults.is_empty() { CLEAN } else { TROUBLE }
}

fn write(files: &[MendedFile]) -> Result<(), u8> {
    let problems = mending::write(files);
    for problem in &problems {
        out::message("error", problem);
    }
    if problems.is_empty() { Ok(()) } else { Err(TROUBLE) }
}

fn say(mended: &Mended, verb: &str) {
    let number: usize = mended.fixed.values().sum();
    if number > 0 {
        let mut text = format!("{} {verb} in {}: ", counted(number, "finding"), counted(mended.files.len(), "file"));
        for (at, (rule, count)) in mended.fixed.iter().enumerate() {
            let _ = write!(text, "{}{count} {rule}", if at == 0 { "" } else { ", " });
        }
        out::message("note", &text);
    }
    if mended.taken_back > 0 {
        let fixes = if mended.taken_back == 1 { "1 fix".to_owned() } else { format!("{} fixes", mended.taken_back) };
        out::message("note", &format!("{fixes} left out: with them, linting again said something else, or the same"));
    }
    if mended.needs_review > 0 {
        let have = if mended.needs_review == 1 { "has a fix" } else { "have fixes" };
        out::message(
            "note",
            &format!("{} {have} to be reviewed: `--unsafe-fixes`", counted(mended.needs_review, "finding")),
        );
    }
}
