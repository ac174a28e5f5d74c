//! What a run would do, without doing it: which files, under which settings.

use crate::compile_commands::{self, Commands};
use crate::engine::{Engine, given_architectures};
use crate::groups::{base_of, groups};
use crate::levels::Levels;
use crate::outcome::{Part, UsageError};
use crate::paths::{display, display_from, real_path};
use crate::provider::{Disk, Overlay};
use crate::reading::{Given, Reading};
use crate::request::Request;
use crate::root::Roots;
use crate::settings::Settings;
use crate::sources::is_linted;
use crate::walk;
use cudalint_findings::Severity;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// One project of a run.
#[derive(Clone, Debug)]
pub struct ProjectView {
    /// Its folder, where something marks one.
    pub root: Option<PathBuf>,
    /// The file that its settings come from.
    pub file: Option<PathBuf>,
    /// What that file says, and otherwise holds.
    pub settings: Settings,
    /// The commands of its build.
    pub commands: Option<PathBuf>,
    /// Compute capabilities that limits are judged by.
    pub architectures: Vec<u32>,
    /// Folders in which includes are looked for.
    pub includes: Vec<String>,
    /// Macros that are defined from outside, as flags.
    pub flags: Vec<String>,
    /// Rules that run, with the level they were given where they were given one.
    pub rules: Vec<(&'static str, Option<Severity>)>,
    /// Files that would be linted.
    pub files: Vec<String>,
}

impl Engine {
    /// Files whose change may change what a run says: those that it would look at, settings, and commands of builds.
    pub fn watched(&self, request: &Request) -> BTreeSet<PathBuf> {
        let here = [PathBuf::from(".")];
        let paths = if request.paths.is_empty() { &here[..] } else { &request.paths };
        let walked = walk::walk(paths, &Overlay::default(), &|_| false, false);
        let mut watched: BTreeSet<PathBuf> = walked.files.into_iter().map(|file| file.real).collect();
        for path in paths.iter().map(|path| real_path(path)) {
            for above in path.ancestors() {
                watched.extend(["cudalint.toml", "pyproject.toml"].map(|name| above.join(name)));
                if walk::is_marked(above) {
                    watched.extend(compile_commands::find(above, &mut Vec::new()).file);
                    break;
                }
            }
        }
        watched.extend(request.build.clone());
        watched
    }

    /// The projects of a run over paths, with their files.
    ///
    /// # Errors
    /// When arguments or a settings file are wrong.
    pub fn overview(&self, request: &Request) -> Result<Vec<ProjectView>, UsageError> {
        let table = self.table();
        let mut roots = Roots::new(table.rules, self.fixed(&request.configuration)?);
        let (groups, _) = groups(request, &mut roots, &mut Part::default())?;
        let architectures = given_architectures(request)?;
        let given = Given { architectures: &architectures, defines: &request.defines };
        let here = std::env::current_dir().unwrap_or_default();
        let disk = Disk::default();
        let mut views = Vec::new();
        for group in groups {
            let levels = Levels::new(table, &group.settings.settings, &request.choices).map_err(UsageError)?;
            let commands = match (&request.build, group.root.as_deref()) {
                (Some(build), _) => compile_commands::given(build, &mut Vec::new()).map_err(UsageError)?,
                (None, Some(root)) => compile_commands::find(root, &mut Vec::new()),
                (None, None) => Commands::default(),
            };
            let file = commands.file.clone();
            let shown = |path: &std::path::Path| display_from(&real_path(path), &here, false);
            let reading = Reading::new(given, &group.settings.settings, &base_of(&group), commands, &shown);
            let runs = table.rules.iter().enumerate().filter(|(index, _)| levels.runs(*index));
            let linted = group.sources.iter().filter(|source| is_linted(source, &disk));
            views.push(ProjectView {
                rules: runs.map(|(index, rule)| (rule.info.name, levels.given(index))).collect(),
                files: linted.map(|source| display(std::path::Path::new(&*source.path))).collect(),
                commands: file,
                architectures: reading.architectures,
                includes: reading.options.include_folders,
                flags: reading.flags.into_iter().filter(|flag| !flag.starts_with("-I")).collect(),
                file: group.settings.file,
                settings: group.settings.settings,
                root: group.root,
            });
        }
        Ok(views)
    }
}
