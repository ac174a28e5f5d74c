//! `--show-files` and `--show-settings`: what a run would do.

use crate::args::CheckArgs;
use crate::check::{self, CLEAN, TROUBLE};
use crate::out;
use cudalint_engine::{Engine, ProjectView};
use cudalint_findings::plain::one_line;
use std::fmt::Write as _;

/// Prints and gives the exit code.
pub fn run(engine: &Engine, args: &CheckArgs) -> u8 {
    let views = check::request(args).and_then(|request| engine.overview(&request));
    let text =
        views.map_err(|error| error.0).map(|views| if args.show_files { files(&views) } else { settings(&views) });
    match text.and_then(|text| out::print(&text)) {
        Ok(()) => CLEAN,
        Err(problem) => {
            out::message("error", &problem);
            TROUBLE
        }
    }
}

/// One path a line.
fn files(views: &[ProjectView]) -> String {
    let mut files: Vec<&String> = views.iter().flat_map(|view| &view.files).collect();
    files.sort();
    files.iter().fold(String::new(), |text, file| text + &one_line(file) + "\n")
}

/// The settings of each project as TOML, with where they come from as comments in front.
fn settings(views: &[ProjectView]) -> String {
    let mut text = String::new();
    for view in views {
        let mut say = |what: &str, value: &str| {
            let _ = writeln!(text, "# {what}: {}", one_line(value));
        };
        let shown = |path: &Option<std::path::PathBuf>, none: &str| {
            path.as_ref().map_or_else(|| none.to_owned(), |path| path.display().to_string())
        };
        say("project", &shown(&view.root, "none: nothing above these files marks one"));
        say("files to lint", &view.files.len().to_string());
        say("settings", &shown(&view.file, "none, these are the defaults"));
        say("commands of the build", &shown(&view.commands, "none found"));
        let architectures: Vec<String> = view.architectures.iter().map(|number| format!("sm_{number}")).collect();
        say("architectures", &architectures.join(", "));
        say("include folders", &if view.includes.is_empty() { "none".to_owned() } else { view.includes.join(", ") });
        say("macros", &if view.flags.is_empty() { "none".to_owned() } else { view.flags.join(" ") });
        let rule = |(name, level): &(&str, Option<cudalint_findings::Severity>)| match level {
            Some(level) => format!("{name} ({})", level.name()),
            None => (*name).to_owned(),
        };
        say("rules", &view.rules.iter().map(rule).collect::<Vec<_>>().join(", "));
        text.push_str(&toml::to_string(&view.settings).unwrap_or_default());
        text.push('\n');
    }
    text
}
