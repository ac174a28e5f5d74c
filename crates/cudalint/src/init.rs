//! `cudalint init`: a settings file for a project that has none.

use crate::args::InitArgs;
use crate::check::{CLEAN, TROUBLE};
use crate::out;
use cudalint_engine::Engine;
use std::fs::OpenOptions;
use std::io::Write as _;

/// Drafts the settings of a folder and writes them where none are.
pub fn run(engine: &Engine, args: &InitArgs) -> u8 {
    match init(engine, args) {
        Ok(()) => CLEAN,
        Err(problem) => {
            out::message("error", &problem);
            TROUBLE
        }
    }
}

fn init(engine: &Engine, args: &InitArgs) -> Result<(), String> {
    let folder = &args.folder;
    if !folder.is_dir() {
        return Err(format!("{}: no such folder", folder.display()));
    }
    let file = folder.join("cudalint.toml");
    if file.symlink_metadata().is_ok() && !args.print {
        return Err(format!(
            "{}: is there already, and stays as it is; `cudalint init --print` shows a new one",
            file.display()
        ));
    }
    let project = folder.join("pyproject.toml");
    if cudalint_files::read_text(&project).is_ok_and(|text| text.contains("[tool.cudalint")) && !args.print {
        return Err(format!("{}: has settings of cudalint already", project.display()));
    }
    let pool = cudalint_engine::threads(None).map_err(|error| error.0)?;
    let draft = pool.install(|| engine.draft(folder)).map_err(|error| error.0)?;
    if args.print {
        return out::print(&draft.text);
    }
    // Whoever was faster keeps what they wrote.
    let written = OpenOptions::new().write(true).create_new(true).open(&file);
    let written = written.and_then(|mut file| file.write_all(draft.text.as_bytes()));
    written.map_err(|error| format!("{}: cannot be written: {error}", file.display()))?;
    for line in &draft.said {
        out::message("note", line);
    }
    out::message("note", &format!("{} written; look it over", file.display()));
    Ok(())
}
