//! A run over paths: which files, which projects they belong to, one result.

use crate::baseline::{Baseline, BaselineChoice, Checked};
use crate::cache::{Around, Cache};
use crate::changes::Changes;
use crate::compile_commands::{self, Commands};
use crate::groups::{Group, Index, base_of, bounds, groups, index, standard_input};
use crate::ignoring;
use crate::levels::{Choices, Levels};
use crate::lint::lint_project;
use crate::makefiles;
use crate::outcome::{Outcome, Part, UsageError};
use crate::paths::{display, display_from, real_path, shown_path};
use crate::project::{Local, Look, ProjectInput, Source};
use crate::provider::{Disk, Memory};
use crate::reading::{Given, Reading};
use crate::request::{Configuration, Request};
use crate::root::{self, Roots};
use crate::rule::{ModuleContext, Rule, RuleTable};
use crate::settings::{self, Loaded, Settings};
use crate::sources;
use crate::steps::{Progress, Steps, Stop};
use crate::threads::threads;
use crate::walk::{self, Globs};
use cudalint_files::Bounds;
use cudalint_findings::{Finding, Report, names};
use cudalint_program::DefiningFolder;
use cudalint_program::python::LocalPackages;
use cudalint_syntax::FileKind;
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Runs rules over files. It is handed the rule table.
#[derive(Clone, Copy)]
pub struct Engine {
    table: RuleTable,
}

impl Engine {
    /// An engine with these rules.
    pub const fn new(rules: &'static [&'static Rule]) -> Self {
        Self { table: RuleTable { rules, unproven: &[] } }
    }

    /// The same engine in which these rules, whose pages no GPU has confirmed yet, run only when they are asked for.
    #[must_use]
    pub const fn with_unproven(self, unproven: &'static [&'static str]) -> Self {
        Self { table: RuleTable { unproven, ..self.table } }
    }

    /// Its rules, and which of them are unproven.
    pub const fn table(&self) -> &RuleTable {
        &self.table
    }

    /// Its rules.
    pub const fn rules(&self) -> &'static [&'static Rule] {
        self.table.rules
    }

    /// Lints paths or standard input. Work runs on the current rayon pool, or on one of its own.
    ///
    /// # Errors
    /// When arguments or a settings file are wrong. What cannot be read is no error here: see [`Outcome::faults`].
    pub fn check(&self, request: &Request, progress: &(dyn Fn(Progress) + Sync)) -> Result<Outcome, UsageError> {
        in_a_pool(|| self.run(request, progress, None))
    }

    /// As [`Self::check`]; `look` is given what rules are given of each module of the reported files, in no order.
    ///
    /// # Errors
    /// As [`Self::check`].
    pub fn look(&self, request: &Request, look: &(dyn Fn(&ModuleContext<'_>) + Sync)) -> Result<Outcome, UsageError> {
        in_a_pool(|| self.run(request, &|_| {}, Some(look)))
    }

    fn run(
        &self,
        request: &Request,
        progress: &(dyn Fn(Progress) + Sync),
        look: Option<Look<'_>>,
    ) -> Result<Outcome, UsageError> {
        let fixed = self.fixed(&request.configuration)?;
        // Wrong names on the command line are reported even when no file is found.
        Levels::new(&self.table, &Settings::default(), &request.choices).map_err(UsageError)?;
        let architectures = given_architectures(request)?;
        let given = Given { architectures: &architectures, defines: &request.defines };
        let cache = Cache::new(request, look.is_some())?;

        let mut roots = Roots::new(self.table.rules, fixed);
        let mut disk = Disk::new(request.overlay.clone());
        let mut all = Part::default();
        let (groups, mut below) = match &request.standard_input {
            Some(input) => (vec![standard_input(input, &mut roots, &mut disk)?], None),
            None => groups(request, &mut roots, &mut all)?,
        };
        let folder = std::env::current_dir().unwrap_or_default();
        let absolute = !request.paths.is_empty() && request.paths.iter().all(|path| path.is_absolute());
        let shown = |real: &Path| display_from(real, &folder, absolute);
        let changes = changes(request, &groups)?;
        let (baselines, mut checked) = baselines(request, &groups)?;
        let mut projects = Vec::new();
        let mut details = Vec::new();
        let mut unasked: Vec<bool> = vec![true; self.table.rules.len()];
        let rules_url = groups.iter().find_map(|group| group.settings.settings.output.rules_url.clone());
        for mut group in groups {
            let mut levels =
                Levels::new(&self.table, &group.settings.settings, &request.choices).map_err(UsageError)?;
            let only_local = only_local(self.table.rules, &group.settings, request, &mut levels);
            for (index, unasked) in unasked.iter_mut().enumerate() {
                *unasked &= !levels.is_asked_for(index) && !only_local.contains(&index);
            }
            checked.levels.push(levels.clone());
            // The project around a file without GPU code is not looked at: a commit hook names many such files.
            let kinds = sources::kinds_to_lint(&group.sources, &disk);
            let root = group.root.as_deref().filter(|_| !kinds.is_empty());
            let commands = match (&request.build, root) {
                (Some(build), _) => compile_commands::given(build, &mut all.incomplete).map_err(UsageError)?,
                (None, Some(root)) => compile_commands::find(root, &mut all.incomplete),
                (None, None) => Commands::default(),
            };
            details.extend(commands.file.iter().map(|file| {
                let shown = |path: &Path| display_from(&real_path(path), &folder, absolute);
                format!("commands of the build: {}", shown(file))
            }));
            let index = match root {
                Some(root) => index(root, &kinds, &group, &mut below, &mut roots, &shown)?,
                None => Index::default(),
            };
            let mut local: Vec<&str> = index.python.iter().map(String::as_str).collect();
            local.extend(group.sources.iter().map(|source| &*source.path));
            let local_packages = LocalPackages::of(local);
            all.statistics.capped_projects += usize::from(index.capped);
            group.sources.extend(index.sources);
            projects.push((group, levels, only_local, commands, local_packages, index.partners, index.others));
        }
        let steps = Steps::new(progress, request.stop.clone());
        // Side by side, so that none waits where another cannot use all threads.
        let parts: Vec<Part> = projects
            .into_par_iter()
            .map(|(group, levels, only_local, commands, local_packages, partners, others)| {
                let base = base_of(&group);
                let settings = &group.settings.settings;
                let shares_heap = commands.shares_heap;
                let mut reading = Reading::new(given, settings, &base, commands, &shown);
                reading.options.local_packages = local_packages;
                reading.options.kept = request.kept.as_ref().map(|kept| Arc::clone(&kept.files));
                let builds =
                    makefiles::read(group.root.as_deref(), &group.sources, others.as_deref().unwrap_or_default());
                let whole = group.root.iter().filter(|_| shares_heap);
                reading.options.sharing_folders = builds.sharing.iter().chain(whole).map(|it| shown(it)).collect();
                if group.root.is_some() {
                    let shown = |folders: &[PathBuf]| folders.iter().map(|it| shown(it)).collect();
                    reading.builds = [shown(&builds.building), shown(&builds.libraries)];
                }
                reading.options.in_step_folders = builds.in_step.iter().map(|it| shown(it)).collect();
                reading.naming = builds.naming;
                let defining = builds.defining.into_iter();
                reading.options.defining_folders =
                    defining.map(|(folder, names)| DefiningFolder { folder: shown(&folder), names }).collect();
                let around = Around { root: group.root.as_deref(), base: &base, shown: (&folder, absolute) };
                let input = ProjectInput {
                    rules: self.table.rules,
                    levels: &levels,
                    settings,
                    overrides: overrides(self.table.rules, &group.settings, &base),
                    only_local,
                    bounds: bounds(&group, &reading.includes),
                    reading,
                    sources: group.sources,
                    partners,
                    others,
                    shown: &shown,
                    provider: &disk,
                    in_work: &|source| source.explicit || changes.is_some() || disk.overlay.get(&source.real).is_some(),
                    steps: &steps,
                    look,
                    kept: request.kept.as_deref(),
                };
                cache.lint(&self.table, &around, input)
            })
            .collect();
        for part in parts {
            all.absorb(part);
        }
        all.incomplete.append(&mut roots.incomplete);
        // Files that nobody named are shown as seen from here.
        for entry in all.incomplete.iter_mut().filter(|entry| Path::new(&entry.path).is_absolute()) {
            entry.path = display_from(&names::path(&entry.path), &folder, absolute);
        }
        let mut outcome = all.finish();
        outcome.details = details;
        outcome.rules_url = rules_url;
        let unasked = self.table.rules.iter().zip(unasked).filter(|(_, unasked)| *unasked);
        outcome.unasked = unasked.map(|(rule, _)| rule.info.name).collect();
        let names: Vec<&str> = self.table.rules.iter().map(|rule| rule.info.name).collect();
        for baseline in &baselines {
            let Report { findings, sources, .. } = &mut outcome.report;
            outcome.known.push(baseline.hide(findings, sources, &names, &checked));
        }
        if let Some(changes) = &changes {
            let Report { findings, sources, .. } = &mut outcome.report;
            findings.retain(|finding| changes.touch(finding, sources, &shown_path));
        }
        outcome.count_rules();
        Ok(outcome)
    }

    /// Settings that hold for everything; `None` where they are looked for near each file.
    pub(crate) fn fixed(&self, configuration: &Configuration) -> Result<Option<Loaded>, UsageError> {
        Ok(match configuration {
            Configuration::Nearest => None,
            Configuration::Isolated => Some(Loaded::default()),
            Configuration::File(file) => Some(Loaded {
                settings: root::load(file, self.table.rules)
                    .map_err(|error| UsageError(error.to_string()))?
                    .ok_or_else(|| UsageError(format!("{}: has no table [tool.cudalint]", file.display())))?,
                file: Some(real_path(file)),
            }),
        })
    }

    /// The root of the project around a file; `None` where nothing marks one.
    pub fn project_of(&self, file: &Path) -> Option<PathBuf> {
        let folder = real_path(file.parent()?);
        // Where settings are wrong, a root that needs none of them is as good.
        let mut roots = Roots::new(self.table.rules, None);
        roots.root(&folder).unwrap_or_else(|_| walk::marked(&folder).map(Path::to_owned))
    }

    /// The settings file that is the nearest to a file, whatever is in it.
    pub fn settings_file_of(&self, file: &Path) -> Option<PathBuf> {
        root::nearest_file(&real_path(file.parent()?))
    }

    /// The rule that a suppression comment names at a byte of a text.
    pub fn rule_named_at(&self, kind: FileKind, text: &str, at: usize) -> Option<(&'static Rule, Range<usize>)> {
        let (rule, range) = ignoring::named_at(self.table.rules, kind, text, at)?;
        Some((self.table.rules.get(rule)?, range))
    }

    /// What is wrong with the text of a settings file.
    pub fn problem_of_settings(&self, file: &Path, text: &str) -> Option<settings::SettingsError> {
        settings::parse(file, text, self.table.rules).err()
    }

    /// How linting reads the files of a folder: for whoever reads one of them again.
    ///
    /// # Errors
    /// When arguments or a settings file are wrong.
    pub fn reading(&self, folder: &Path, request: &Request) -> Result<Reading, UsageError> {
        let wrong = |error: settings::SettingsError| UsageError(error.to_string());
        let mut roots = Roots::new(self.table.rules, self.fixed(&request.configuration)?);
        let folder = real_path(folder);
        roots.assume(&folder).map_err(wrong)?;
        let root = roots.root(&folder).map_err(wrong)?;
        let loaded = roots.settings(root.as_deref().unwrap_or(&folder)).map_err(wrong)?;
        let commands = match (&request.build, root.as_deref()) {
            (Some(build), _) => compile_commands::given(build, &mut Vec::new()).map_err(UsageError)?,
            (None, root) => root.map(|root| compile_commands::find(root, &mut Vec::new())).unwrap_or_default(),
        };
        let architectures = given_architectures(request)?;
        let given = Given { architectures: &architectures, defines: &request.defines };
        let group = Group { root, settings: loaded, sources: Vec::new() };
        let shown = |folder: &Path| folder.display().to_string();
        Ok(Reading::new(given, &group.settings.settings, &base_of(&group), commands, &shown))
    }

    /// How a folder's project is built and run, as the settings that hold there say, and the folder where these stand; none
    /// where they say nothing.
    ///
    /// # Errors
    /// When a settings file is wrong.
    pub fn verified_by(
        &self,
        folder: &Path,
        request: &Request,
    ) -> Result<Option<(PathBuf, settings::VerifySettings)>, UsageError> {
        let mut roots = Roots::new(self.table.rules, self.fixed(&request.configuration)?);
        let loaded = roots.settings(&real_path(folder)).map_err(|error| UsageError(error.to_string()))?;
        let base = loaded.file.as_deref().and_then(Path::parent).map(Path::to_owned);
        Ok(base.map(|base| (base, loaded.settings.verify)))
    }

    /// Lints texts in memory, as one project of their own: all findings at the levels of the settings given as the text
    /// of a `cudalint.toml`, those of every confidence.
    ///
    /// # Errors
    /// When the settings are wrong, or cudalint fails on the texts.
    pub fn lint_texts(&self, files: &[(String, &str)], settings: Option<&str>) -> Result<Vec<Finding>, String> {
        let settings = match settings {
            Some(text) => settings::parse(Path::new("cudalint.toml"), text, self.table.rules)
                .map_err(|error| error.to_string())?
                .unwrap_or_default(),
            None => Settings::default(),
        };
        let choices = Choices {
            levels: vec![],
            select: if settings.lint.select.is_empty() { vec!["all".to_owned()] } else { vec![] },
            ..Choices::default()
        };
        let levels = Levels::new(&self.table, &settings, &choices)?;
        let mut memory = Memory::default();
        let mut sources = Vec::new();
        for (name, text) in files {
            let real = PathBuf::from(name);
            let kind = FileKind::of(&real).ok_or_else(|| format!("`{name}` is no file that cudalint reads"))?;
            memory.files.insert(real.clone(), text.as_bytes().to_vec());
            sources.push(Source { path: name.as_str().into(), real, kind, explicit: true, reported: true });
        }
        let loaded = Loaded { settings, file: None };
        let mut reading =
            Reading::new(Given::default(), &loaded.settings, Path::new(""), Commands::default(), &display);
        reading.options.local_packages = LocalPackages::of(files.iter().map(|(name, _)| name.as_str()));
        let input = ProjectInput {
            rules: self.table.rules,
            levels: &levels,
            settings: &loaded.settings,
            overrides: overrides(self.table.rules, &loaded, Path::new("")),
            only_local: Vec::new(),
            bounds: Bounds::everywhere(),
            reading,
            sources,
            partners: Vec::new(),
            others: None,
            shown: &|real| display(real),
            provider: &memory,
            in_work: &|_| true,
            steps: &Steps::new(&|_| {}, Stop::default()),
            look: None,
            kept: None,
        };
        let outcome = in_a_pool(|| lint_project(&input)).finish();
        match outcome.faults.first() {
            Some(fault) => Err(format!("{}: {}", fault.path, fault.message)),
            None => Ok(outcome.report.findings),
        }
    }
}

/// Does work on the threads of the caller's pool, or on those of one whose stacks fit the bounds on depth.
fn in_a_pool<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    match rayon::current_thread_index() {
        Some(_) => work(),
        None => match threads(None) {
            Ok(pool) => pool.install(work),
            Err(_) => work(),
        },
    }
}

/// Architectures of the command line.
pub(crate) fn given_architectures(request: &Request) -> Result<Vec<u32>, UsageError> {
    request.architectures.iter().map(|text| settings::architecture(text).map_err(UsageError)).collect()
}

/// The rules that names mean, by their places in the table.
fn meant(rules: &[&Rule], names: &[String]) -> Vec<usize> {
    let selectors: Vec<_> = names.iter().filter_map(|name| crate::selectors::selector(rules, name).ok()).collect();
    let meant = |index: usize, rule: &Rule| selectors.iter().any(|selector| selector.matches(index, rule));
    rules.iter().enumerate().filter(|(index, rule)| meant(*index, rule)).map(|(index, _)| index).collect()
}

/// `[[override]]`s, ready to ask: whether a real path and a rule are meant.
fn overrides(rules: &[&Rule], settings: &Loaded, base: &Path) -> Vec<Local> {
    let local = |entry: &settings::Override| Local {
        globs: Globs::new(base, &entry.paths),
        on: meant(rules, &entry.select),
        off: meant(rules, &entry.ignore),
    };
    settings.settings.overrides.iter().map(local).collect()
}

/// Turns rules on that only a part of the project wants, unless the command line says what runs.
fn only_local(rules: &[&Rule], settings: &Loaded, request: &Request, levels: &mut Levels) -> Vec<usize> {
    let ignored = meant(rules, &request.choices.ignore);
    let mut local = Vec::new();
    for entry in settings.settings.overrides.iter().filter(|_| request.choices.select.is_empty()) {
        for index in meant(rules, &entry.select) {
            if !levels.runs(index) && !ignored.contains(&index) {
                levels.turn_on(index);
                local.push(index);
            }
        }
    }
    local
}

/// What differs from the revision that the run asks about.
fn changes(request: &Request, groups: &[Group]) -> Result<Option<Changes>, UsageError> {
    let Some(revision) = &request.since else { return Ok(None) };
    if request.standard_input.is_some() {
        return Err(UsageError("--since needs files: git knows nothing of standard input".to_owned()));
    }
    let folder = |path: &Path| {
        let real = real_path(path);
        if real.is_dir() { real } else { real.parent().unwrap_or(Path::new("/")).to_owned() }
    };
    let here = [PathBuf::from(".")];
    let named = if request.paths.is_empty() { &here[..] } else { &request.paths };
    let mut folders: BTreeSet<PathBuf> = named.iter().filter(|path| path.exists()).map(|path| folder(path)).collect();
    let sources = groups.iter().flat_map(|group| &group.sources);
    folders.extend(sources.filter_map(|source| source.real.parent()).map(Path::to_owned));
    Changes::since(revision, &folders).map(Some).map_err(UsageError)
}

/// The baselines of the projects, each once, and what the run looks at, its levels left out.
fn baselines(request: &Request, groups: &[Group]) -> Result<(Vec<Baseline>, Checked), UsageError> {
    let mut checked = Checked { whole: request.choices.min_confidence.is_none(), ..Checked::default() };
    let files: BTreeSet<PathBuf> = match &request.baseline {
        BaselineChoice::None => BTreeSet::new(),
        BaselineChoice::File(file) => [file.clone()].into(),
        BaselineChoice::Settings => groups.iter().filter_map(|group| group.settings.baseline()).collect(),
    };
    if !files.is_empty() {
        for (index, group) in groups.iter().enumerate() {
            checked.files.extend(group.sources.iter().map(|source| (source.real.clone(), index)));
        }
    }
    let read: Result<Vec<Baseline>, String> = files.iter().map(|file| Baseline::read(file)).collect();
    Ok((read.map_err(UsageError)?, checked))
}
