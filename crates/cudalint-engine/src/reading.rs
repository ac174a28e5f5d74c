//! How the files of a project are read: what the command line, the settings and the build's commands say, in that order.

use crate::compile_commands::Commands;
use crate::paths;
use crate::settings::{self, Settings};
use crate::target::{Named, Target, Told};
use cudalint_program::ProjectOptions;
use cudalint_program::arch::DEFAULT_ARCHITECTURES;
use cudalint_syntax::preprocessor::name_of;
use cudalint_syntax::{Build, BuildMacros};
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How the files of one project are read.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// What their program is made with.
    pub options: ProjectOptions,
    /// Compute capabilities that limits are judged by.
    pub architectures: Vec<u32>,
    /// What it is compiled with and for, as far as the command line, the settings or the build's commands say it.
    pub target: Target,
    /// The same as far as build files name it, by their folders.
    pub naming: FxHashMap<PathBuf, Named>,
    /// Folders in which includes are looked for.
    pub includes: Vec<PathBuf>,
    /// Flags that tell a compiler the same: include folders and macros.
    pub flags: Vec<String>,
    /// Folders with build files, and those of them whose builds make libraries that others may use, written as the files' paths
    /// are; none where the project's root is not known.
    pub builds: [Vec<String>; 2],
}

/// What a command line says of it.
#[derive(Clone, Copy, Default)]
pub(crate) struct Given<'a> {
    pub architectures: &'a [u32],
    pub defines: &'a [String],
}

impl Reading {
    /// Joins what is said. Relative folders of the settings start from `base`; folders are shown as `shown` says.
    pub(crate) fn new(
        given: Given<'_>,
        settings: &Settings,
        base: &Path,
        commands: Commands,
        shown: &dyn Fn(&Path) -> String,
    ) -> Self {
        let architectures = architectures(given.architectures, settings, &commands);
        let folders = settings.parse.include_paths.iter().map(|path| base.join(path)).chain(commands.includes);
        let includes: Vec<PathBuf> = folders
            .map(|folder| if folder.is_absolute() { paths::real_path(&folder) } else { paths::tidy(&folder) })
            .collect();
        let told = !given.architectures.is_empty() || !settings.arch.is_empty();
        let oldest = if told { architectures.iter().min().copied() } else { commands.build.oldest };
        let build = build(given.defines, settings, &architectures, commands.build);
        let flags = includes.iter().map(|folder| format!("-I{}", folder.display())).chain(build.flags()).collect();
        let options = ProjectOptions {
            include_folders: includes.iter().map(|folder| shown(folder)).collect(),
            build: Arc::new(BuildMacros::new(&build)),
            declaration_macros: settings.parse.declaration_macros.clone(),
            ..ProjectOptions::default()
        };
        let target = Target { toolkit: build.toolkit.map(Told::surely), architecture: oldest.map(Told::surely) };
        Self { options, architectures, target, includes, flags, ..Self::default() }
    }

    /// What a file is compiled with and for: what its build files name counts where nothing else is said.
    pub(crate) fn target_of(&self, file: &Path) -> Target {
        let nearest = || file.ancestors().filter_map(|folder| self.naming.get(folder));
        let toolkit = nearest().find_map(|named| named.toolkit).map(Told::by_name);
        let device = nearest().find_map(|named| named.architecture).map(Told::by_name);
        Target { toolkit: self.target.toolkit.or(toolkit), architecture: self.target.architecture.or(device) }
    }
}

/// Architectures: the command line's, else the settings', else the build's, else `sm_80` and newer.
fn architectures(given: &[u32], settings: &Settings, commands: &Commands) -> Vec<u32> {
    let configured: Vec<u32> = settings.arch.iter().filter_map(|text| settings::architecture(text).ok()).collect();
    // A build may name architectures that are too old to be known here: nothing can be said for them.
    let of_build = commands.build.architectures.iter().copied();
    let of_build: Vec<u32> = of_build.filter(|number| cudalint_program::arch::limits(*number).is_some()).collect();
    let mut picked = [given, &configured, &of_build]
        .into_iter()
        .find(|list| !list.is_empty())
        .unwrap_or(DEFAULT_ARCHITECTURES.as_slice())
        .to_vec();
    picked.sort_unstable();
    picked.dedup();
    picked
}

/// The macros of a project: what the command line gives stands above the settings, these above the build's commands.
fn build(given: &[String], settings: &Settings, architectures: &[u32], commands: Build) -> Build {
    let mut build = commands;
    build.architectures = architectures.to_vec();
    build.toolkit = settings.parse.toolkit().or(build.toolkit);
    build.standard = settings.parse.standard().or(build.standard);
    build.undefines.extend(settings.parse.undefines.iter().cloned());
    build.defines.retain(|define| !settings.parse.undefines.iter().any(|name| name == name_of(define)));
    build.defines.extend(settings.parse.defines.iter().chain(given).cloned());
    build
}
