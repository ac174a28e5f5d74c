//! A settings file for a project that has none: looks at its code and its build, and writes down what it saw, with the reason in
//! a comment beside each line.

use crate::engine::Engine;
use crate::outcome::UsageError;
use crate::request::Request;
use cudalint_files::read_text;
use cudalint_replay::facts::StatusUse;
use cudalint_syntax::FileKind;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Mutex;

/// Ends of macros' names that libraries put in front of their declarations.
const DECLARATION_ENDS: [&str; 9] =
    ["_API", "_EXPORT", "_EXPORTS", "_INLINE", "_DECL", "_HIDDEN", "_PUBLIC", "_LOCAL", "_VISIBILITY"];
/// Folders that mostly hold the code of others.
const OF_OTHERS: [&str; 8] =
    ["third_party", "thirdparty", "3rdparty", "third-party", "external", "extern", "vendor", "submodules"];
/// Build files that are looked at for architectures.
const BUILD_FILES: [&str; 7] =
    ["CMakeLists.txt", "Makefile", "makefile", "GNUmakefile", "setup.py", "meson.build", "common.mk"];
/// What a baseline is mostly called.
const BASELINE: &str = "cudalint-baseline.json";
/// Where older architectures are named, too, nobody is told that these are the ones to judge by.
const OLDEST_TAKEN: u32 = 70;
/// Sources that are searched for macros in front of declarations.
const MAX_SEARCHED: usize = 5000;

/// What a look at a project gave.
#[derive(Debug, Default)]
struct Seen {
    /// Calls with a status that somebody looks at.
    checked: usize,
    /// Those that drop it.
    dropped: usize,
    /// How many calls each checking macro is offered for.
    wrappers: BTreeMap<String, usize>,
    /// Checkers with something wrong, which wrap nothing.
    defective: BTreeSet<String>,
}

/// A settings file that nobody has written yet.
#[derive(Clone, Debug)]
pub struct Draft {
    /// Its text.
    pub text: String,
    /// What was found, in a line each, for whoever asked.
    pub said: Vec<String>,
}

impl Engine {
    /// Looks at the project in a folder and drafts its settings.
    ///
    /// # Errors
    /// When the folder's settings cannot be read.
    pub fn draft(&self, folder: &Path) -> Result<Draft, UsageError> {
        let seen: Mutex<Seen> = Mutex::default();
        let request = Request { paths: vec![folder.to_owned()], ..Request::default() };
        let outcome = self.look(&request, &|context| {
            // Nothing panics while it is held.
            let Ok(mut seen) = seen.lock() else { return };
            for function in &context.facts.status {
                let consumed = function.calls.iter().filter(|call| call.usage == StatusUse::Consumed).count();
                seen.checked += consumed;
                seen.dropped += function.calls.iter().filter(|call| call.usage == StatusUse::Dropped).count();
                if let Some(wrapper) = &function.wrapper {
                    *seen.wrappers.entry(wrapper.to_string()).or_default() += consumed;
                }
            }
            let is_macro = |name: &str| context.module.macros.iter().any(|definition| *definition.name == *name);
            let checkers = context.facts.checkers.iter();
            let wrong = checkers.filter(|checker| !checker.defects.is_empty() && is_macro(&checker.name));
            seen.defective.extend(wrong.map(|checker| checker.name.to_string()));
        })?;
        let seen = seen.into_inner().unwrap_or_default();
        let views = self.overview(&request)?;
        let commands = views.iter().find_map(|view| view.commands.clone());
        let files: Vec<&String> = views.iter().flat_map(|view| &view.files).collect();
        let mut draft = Draft { text: String::new(), said: Vec::new() };
        let Draft { text, said } = &mut draft;
        text.push_str("# Settings of cudalint for this project, drafted by `cudalint init`. What each key means:\n");
        let _ = writeln!(text, "# {}/blob/main/docs/configuration.md\n", cudalint_findings::HOME);

        let others = OF_OTHERS.iter().filter(|name| folder.join(name).is_dir()).collect::<Vec<_>>();
        if others.is_empty() {
            text.push_str("# exclude = [\"third_party\"]\n\n");
        } else {
            let names = others.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
            text.push_str(
                "# These look like the code of others. Excluded, they are not read for what your code calls either.\n",
            );
            let _ = writeln!(text, "# exclude = [{names}]\n");
            said.push(format!("code of others: {names} (left in; see `exclude`)"));
        }

        let of_build = commands.as_ref().and_then(|_| views.first()).map(|view| view.architectures.clone());
        let named = architectures(folder, &files);
        match (of_build, named.as_slice()) {
            (Some(list), _) => {
                let list = list.iter().map(|number| format!("sm_{number}")).collect::<Vec<_>>().join(", ");
                let file = commands.as_deref().unwrap_or(folder).display();
                let _ = writeln!(text, "# Architectures, include folders and macros come from {file}:\n# {list}\n");
                said.push(format!("commands of the build: {file}"));
            }
            (None, []) => text.push_str("# Architectures to judge limits by; none are named in the build files that were found.\n# arch = [\"sm_80\", \"sm_90\"]\n\n"),
            (None, named) => {
                let list = named.iter().map(|number| format!("\"sm_{number}\"")).collect::<Vec<_>>().join(", ");
                if named.iter().all(|number| *number >= OLDEST_TAKEN) {
                    let _ = writeln!(text, "# Architectures that the build files name.\narch = [{list}]\n");
                } else {
                    text.push_str("# Architectures that the build files name. Of code for several, that for the oldest is read: name the ones\n");
                    let _ = writeln!(text, "# that matter.\n# arch = [{list}]\n");
                }
                said.push(format!("architectures: {list}"));
            }
        }

        if folder.join(BASELINE).exists() {
            let _ = writeln!(text, "# Findings that are known and not reported.\nbaseline = \"{BASELINE}\"\n");
        } else {
            let _ = writeln!(
                text,
                "# To be told only what is new from now on: `cudalint --write-baseline {BASELINE}`, and\n# baseline = \"{BASELINE}\"\n"
            );
        }

        let macros = declaration_macros(&files);
        if !macros.is_empty() {
            let list = macros.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
            text.push_str("[parse]\n# Macros in front of declarations whose definitions are not in this project.\n");
            let _ = writeln!(text, "declaration-macros = [{list}]\n");
            said.push(format!("macros in front of declarations: {list}"));
        }

        text.push_str(&error_handling(&seen, said));
        let summary = outcome.report.summary();
        said.push(format!(
            "{} files with GPU code: {} errors, {} warnings",
            outcome.report.files.checked, summary.error, summary.warning
        ));
        Ok(draft)
    }
}

/// How the project treats statuses, and what follows for the rules about them.
fn error_handling(seen: &Seen, said: &mut Vec<String>) -> String {
    let mut text = String::new();
    let (checked, dropped) = (seen.checked, seen.dropped);
    let mut wrappers: Vec<(&String, &usize)> = seen.wrappers.iter().collect();
    wrappers.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), (*name).clone()));
    let names = wrappers.iter().take(4).map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if checked + dropped == 0 {
        return text;
    }
    let _ = writeln!(text, "# Of {} calls that return a status, {checked} are checked.", checked + dropped);
    said.push(format!("error handling: {checked} of {} calls are checked", checked + dropped));
    if !names.is_empty() {
        let _ = writeln!(text, "# They are checked by {names}.");
        said.push(format!("checking macros: {names}"));
    }
    if !seen.defective.is_empty() {
        let names = seen.defective.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let _ = writeln!(text, "# Something is wrong with {names}: see the findings of defective-check-macro.");
        said.push(format!("checkers with a defect: {names}"));
    }
    if checked > 4 * dropped {
        text.push_str(
            "# This project checks: each call that is not is listed.\n[lint.levels]\nerror-handling = \"warning\"\n\n",
        );
    } else {
        text.push_str("# Many are not, so such findings are counted in one line. To have each listed:\n# [lint.levels]\n# error-handling = \"warning\"\n\n");
    }
    text
}

/// Compute capabilities that build files name, in and above the folders of the files: `sm_80`, `compute_90`,
/// `CMAKE_CUDA_ARCHITECTURES 80;90`.
fn architectures(folder: &Path, files: &[&String]) -> Vec<u32> {
    let mut folders: BTreeSet<&Path> = BTreeSet::from([folder]);
    for file in files {
        folders.extend(
            Path::new(file.as_str())
                .ancestors()
                .skip(1)
                .take_while(|above| above.starts_with(folder) || folder == Path::new(".")),
        );
    }
    let mut found = BTreeSet::new();
    let known = |number: &u32| cudalint_program::arch::limits(*number).is_some();
    for text in
        folders.iter().flat_map(|folder| BUILD_FILES.map(|name| folder.join(name))).filter_map(|it| read_text(&it).ok())
    {
        for line in text.lines().filter(|line| !line.trim_start().starts_with('#')) {
            for mark in ["sm_", "compute_"] {
                let digits = |at: usize| -> Option<u32> {
                    let rest = line.get(at + mark.len()..)?;
                    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
                    rest.get(..end)?.parse().ok()
                };
                found.extend(line.match_indices(mark).filter_map(|(at, _)| digits(at)).filter(known));
            }
            if let Some(at) = line.find("CUDA_ARCHITECTURES") {
                let rest = line.get(at..).unwrap_or("");
                let numbers = rest.split(|c: char| !c.is_ascii_digit()).filter_map(|word| word.parse::<u32>().ok());
                found.extend(numbers.filter(known));
            }
        }
    }
    found.into_iter().collect()
}

/// Macros in front of declarations by the look of their names, of which no file of the project has a definition.
fn declaration_macros(files: &[&String]) -> Vec<String> {
    let mut used: BTreeSet<String> = BTreeSet::new();
    let mut defined: BTreeSet<String> = BTreeSet::new();
    let of_c =
        |file: &&&String| matches!(FileKind::of(Path::new(file.as_str())), Some(FileKind::Cuda | FileKind::CFamily));
    for text in files.iter().filter(of_c).take(MAX_SEARCHED).filter_map(|file| read_text(Path::new(file.as_str())).ok())
    {
        for line in text.lines().map(str::trim_start) {
            if let Some(rest) = line.strip_prefix('#') {
                let name = rest.trim_start().strip_prefix("define").map_or("", str::trim_start);
                let end = name.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(name.len());
                defined.insert(name.get(..end).unwrap_or("").to_owned());
                continue;
            }
            // `MYLIB_API void f(…`: a name in capitals, and words behind it.
            let Some((name, rest)) = line.split_once(' ') else { continue };
            let capitals = name.starts_with(|c: char| c.is_ascii_uppercase())
                && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
            let words =
                rest.split(|c: char| !(c.is_alphanumeric() || "_:*&<>,".contains(c))).filter(|it| !it.is_empty());
            if capitals && DECLARATION_ENDS.iter().any(|end| name.ends_with(end)) && words.take(2).count() == 2 {
                used.insert(name.to_owned());
            }
        }
    }
    used.difference(&defined).cloned().collect()
}
