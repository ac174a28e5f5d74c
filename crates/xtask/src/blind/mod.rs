//! `cargo xtask blind`: a round over projects that were never run. Findings are drawn at random and read in the source; what
//! their readers say of them becomes a precision with its interval.
//!
//! The list says in which round a project is used. Drawing runs the program over each, and writes, into a folder outside of
//! the repository (a sheet is full of other people's lines), a sheet for the reader and the list of what was drawn. Once there is
//! a verdict for each, counting prints the tables and the row of `docs/real-code.md`.

mod count;
mod draw;
mod round;
mod sheet;

use round::List;
pub use round::Plan;
use std::path::Path;

/// Draws a round's findings, or counts what was said of them.
///
/// # Errors
/// When a file cannot be read or written, a project is not at its commit, or a drawn finding has no verdict.
pub fn run(root: &Path, plan: &Plan) -> Result<(), String> {
    std::fs::create_dir_all(&plan.out).map_err(|error| format!("{}: {error}", plan.out.display()))?;
    let out = plan.out.canonicalize().map_err(|error| format!("{}: {error}", plan.out.display()))?;
    if root.canonicalize().is_ok_and(|root| out.starts_with(root)) {
        return Err(format!("{} is in the repository, which no line of another project may come into", out.display()));
    }
    let kept = out.join("drawn.json");
    if let Some(verdicts) = &plan.verdicts {
        let draw = serde_json::from_str(&read(&kept)?).map_err(|error| format!("{}: {error}", kept.display()))?;
        return count::print(plan.round, &draw, &read(verdicts)?);
    }
    let list: List = toml::from_str(&read(&plan.list)?).map_err(|error| format!("{}: {error}", plan.list.display()))?;
    let report = read(&root.join("docs/real-code.md")).unwrap_or_default();
    for project in list.project.iter().filter(|project| project.round == Some(plan.round)) {
        let name = project.repository.rsplit('/').next().unwrap_or(&project.repository);
        if is_named(&report, name) {
            eprintln!("{}: named in docs/real-code.md: was it run before?", project.repository);
        }
    }
    let (draw, findings) = draw::draw(root, plan, &list.project)?;
    write(&out.join("sheet.md"), &sheet::sheet(&plan.folder, &findings))?;
    write(&kept, &serde_json::to_string_pretty(&draw).map_err(|error| error.to_string())?)?;
    println!(
        "{} projects, {} findings outside error handling, {} of it; {} drawn: {}",
        draw.projects,
        draw.others,
        draw.errors,
        draw.drawn.len(),
        out.join("sheet.md").display()
    );
    Ok(())
}

/// Whether a name stands in a text as a word.
fn is_named(text: &str, name: &str) -> bool {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || "_-+.".contains(letter);
    text.split(|letter| !is_part(letter)).any(|word| word.trim_end_matches('.').eq_ignore_ascii_case(name))
}

fn read(path: &Path) -> Result<String, String> {
    cudalint_files::read_text(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}
