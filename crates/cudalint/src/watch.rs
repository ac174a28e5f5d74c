//! `--watch`: lints again whenever a file changes. Files are asked for their times: no watcher of the system is needed, which
//! would miss what containers and network folders change.

use crate::args::CheckArgs;
use crate::{check, out};
use cudalint_engine::Engine;
use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// Between two looks at the files.
const PAUSE: Duration = Duration::from_millis(400);

/// What tells that a file has changed.
type Marks = BTreeMap<PathBuf, Option<(SystemTime, u64)>>;

/// Lints now and whenever something changes; ends when it is ended, or when nobody reads what it says.
pub fn run(engine: &Engine, args: &CheckArgs) -> u8 {
    let mut before: Option<Marks> = None;
    loop {
        let now = marks(engine, args);
        if before.as_ref() != Some(&now) {
            if std::io::stdout().is_terminal() && args.output_file.is_none() && out::print("\u{1b}[2J\u{1b}[H").is_err()
            {
                return check::TROUBLE;
            }
            let code = check::run_once(engine, args);
            out::message("note", &format!("waiting for changes (the run's exit status was {code})"));
            // What changed while it ran is seen at the next look.
            before = Some(now);
        }
        std::thread::sleep(PAUSE);
    }
}

/// The files of a run, with settings and commands of the build.
fn marks(engine: &Engine, args: &CheckArgs) -> Marks {
    let Ok(request) = check::request(args) else { return Marks::new() };
    engine
        .watched(&request)
        .into_iter()
        .map(|path| {
            let meta = std::fs::metadata(&path).ok();
            let mark = meta.and_then(|meta| Some((meta.modified().ok()?, meta.len())));
            (path, mark)
        })
        .collect()
}
