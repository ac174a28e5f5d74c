//! What a run is asked for.

use crate::baseline::BaselineChoice;
use crate::kept::Kept;
use crate::levels::Choices;
use crate::provider::Overlay;
use crate::steps::Stop;
use std::path::PathBuf;
use std::sync::Arc;

/// Where settings come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Configuration {
    /// The nearest settings file of each file's project.
    #[default]
    Nearest,
    /// None.
    Isolated,
    /// This file, for everything.
    File(PathBuf),
}

/// Where results of runs are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CacheChoice {
    /// Nowhere.
    #[default]
    None,
    /// In each project's root, or where its settings say.
    Projects,
    /// In this folder.
    Folder(PathBuf),
}

/// Text from standard input.
#[derive(Clone, Debug)]
pub struct StandardInput {
    /// The file it stands for; without one it is a CUDA C++ file of no project.
    pub filename: Option<PathBuf>,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// What to lint and how.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Files and folders.
    pub paths: Vec<PathBuf>,
    /// Linted instead of paths.
    pub standard_input: Option<StandardInput>,
    /// Rules and levels of the command line.
    pub choices: Choices,
    /// Architectures of the command line, as written.
    pub architectures: Vec<String>,
    /// Macros of the command line: `NAME` or `NAME=value`.
    pub defines: Vec<String>,
    /// Where settings come from.
    pub configuration: Configuration,
    /// Whether `exclude` holds for files named explicitly too, and those of no kind that is read are left out.
    pub force_exclude: bool,
    /// A `compile_commands.json`, or the folder of one, for all projects.
    pub build: Option<PathBuf>,
    /// Findings that are known and not reported.
    pub baseline: BaselineChoice,
    /// Only findings that a change since this revision of git touches are reported.
    pub since: Option<String>,
    /// Where results of runs are kept, and taken from where nothing has changed.
    pub cache: CacheChoice,
    /// Texts that stand in for files: what an editor holds of them.
    pub overlay: Overlay,
    /// Ends the run early.
    pub stop: Stop,
    /// What earlier runs have left, for who lints the same files again and again.
    pub kept: Option<Arc<Kept>>,
}
