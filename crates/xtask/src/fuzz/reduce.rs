//! Makes an input that fails smaller, as long as it fails: first lines, then tokens, are left out in ever smaller stretches.

use super::process::{Plan, Process};
use super::targets::Target;
use std::fs;
use std::path::Path;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

/// A way to cut a text into pieces.
type Cut = fn(&[u8]) -> Vec<&[u8]>;

/// Tries, at most: each may take as long as a hang.
const TRIES: usize = 400;

/// Replaces a kept input by a smaller one that fails, too; gives its size.
///
/// # Errors
/// When files cannot be read or written.
pub fn reduce(plan: &Plan, target: Target, kept: &Path, work: &Path, until: Instant) -> Result<usize, String> {
    let problem = |error: std::io::Error| format!("{}: {error}", kept.display());
    let mut best = fs::read(kept).map_err(problem)?;
    let trial = kept.with_extension("trial");
    let mut left = TRIES;
    // What fails only after other inputs is kept as it is.
    if !fails(plan, target, kept, work)? {
        return Ok(best.len());
    }
    let cuts: [Cut; 2] =
        [|text| text.split_inclusive(|byte| *byte == b'\n').collect(), |text| text.chunks(1).collect()];
    for cut in cuts {
        let mut size = cut(&best).len() / 2;
        while size > 0 && left > 0 && Instant::now() < until {
            let mut at = 0;
            loop {
                let pieces = cut(&best);
                if at >= pieces.len() || left == 0 || Instant::now() >= until {
                    break;
                }
                let smaller = [pieces[..at].concat(), pieces[(at + size).min(pieces.len())..].concat()].concat();
                fs::write(&trial, &smaller).map_err(problem)?;
                left -= 1;
                if fails(plan, target, &trial, work)? {
                    best = smaller;
                } else {
                    at += size;
                }
            }
            size /= 2;
        }
    }
    let _ = fs::remove_file(&trial);
    fs::write(kept, &best).map_err(problem)?;
    Ok(best.len())
}

/// Whether the input ends its process or is not done in time.
fn fails(plan: &Plan, target: Target, input: &Path, work: &Path) -> Result<bool, String> {
    let (work, input) = (work.display().to_string(), input.display().to_string());
    let mut process = Process::start(plan.memory, &["one", target.file(), &work, &input])?;
    let hung = loop {
        match process.lines.recv_timeout(Duration::from_secs(plan.hang)) {
            Ok(_) => {}
            Err(RecvTimeoutError::Timeout) => break true,
            Err(RecvTimeoutError::Disconnected) => break false,
        }
    };
    if hung {
        process.end();
    }
    let status = process.child.wait().map_err(|error| error.to_string())?;
    Ok(hung || !status.success())
}
