//! The lab, and the benches in it: one scenario's place, with what was done there.

use super::focus::Focus;
use super::job::Limits;
use super::launcher::Launcher;
use super::memory::Memory;
use super::sandbox::Network;
use super::shelf::Shelf;
use super::slots::{self, Ports, Slots, lock};
use crate::machine::Machine;
use crate::scenario::ScenarioFile;
use crate::stop::Stop;
use camino::{Utf8Path, Utf8PathBuf};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

/// Builds and runs programs.
#[derive(Debug)]
pub struct Lab {
    /// What can be used.
    pub machine: Machine,
    /// The outcome folder, absolute.
    pub folder: Utf8PathBuf,
    /// How runs are limited.
    pub limits: Limits,
    /// Ends everything that runs here.
    pub stop: Stop,
    /// Which kernels tools look at in runs that all findings share.
    pub focus: Focus,
    pub(super) launcher: Launcher,
    network: OnceLock<Network>,
    pub(super) beside_device: OnceLock<Network>,
    pub(super) builders: Slots,
    pub(super) devices: Slots,
    pub(super) ports: Ports,
    /// Held by who reads a GPU's counters: those are one profiler's at a time.
    pub(crate) counters: Mutex<()>,
    pub(super) shelf: Shelf,
    pub(super) memory: Memory,
    /// Seconds that commands took when nothing watched them.
    pub(super) baselines: Mutex<HashMap<Vec<String>, f64>>,
    notes: Mutex<Vec<String>>,
    full: Mutex<Option<String>>,
}

impl Lab {
    /// Folder of what scenarios share, below the outcome folder.
    pub(crate) const PROJECTS: &'static str = "projects";

    /// A lab over an existing, absolute folder.
    pub fn new(machine: Machine, folder: Utf8PathBuf, limits: Limits, launcher: Launcher) -> Self {
        Self {
            builders: Slots::new(vec![limits.builds.max(1)]),
            devices: Slots::new(slots::of_devices(&machine.devices, limits.runs_per_device)),
            machine,
            folder,
            limits,
            stop: Stop::new(),
            focus: Focus::default(),
            launcher,
            network: OnceLock::new(),
            beside_device: OnceLock::new(),
            ports: Ports::default(),
            counters: Mutex::default(),
            shelf: Shelf::default(),
            memory: Memory::default(),
            baselines: Mutex::default(),
            notes: Mutex::default(),
            full: Mutex::default(),
        }
    }

    /// How its programs are started.
    pub fn launcher(&self) -> &Launcher {
        &self.launcher
    }

    /// The same, ended by this.
    #[must_use]
    pub fn with_stop(mut self, stop: Stop) -> Self {
        self.stop = stop;
        self
    }

    /// The same, with tools that look at these kernels alone.
    #[must_use]
    pub fn with_focus(mut self, focus: Focus) -> Self {
        self.focus = focus;
        self
    }

    /// The same, with programs that keep the network.
    #[must_use]
    pub fn with_network(mut self) -> Self {
        self.network = OnceLock::from(Network::Kept);
        self
    }

    /// The bench of one scenario; makes its folder, `scenarios/<id>`.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn bench(&self, id: &str) -> std::io::Result<Bench<'_>> {
        let folder = self.folder.join("scenarios").join(id);
        std::fs::create_dir_all(&folder)?;
        Ok(Bench { lab: self, folder, ledger: Arc::default(), watch: None, devices: 1 })
    }

    /// What the whole run should say once: a network that could not be taken away, output that could not be kept.
    pub fn notes(&self) -> Vec<String> {
        lock(&self.notes).clone()
    }

    /// Adds a note, once.
    pub(super) fn note(&self, note: String) {
        let mut notes = lock(&self.notes);
        if !notes.contains(&note) {
            notes.push(note);
        }
    }

    /// What could not be written for want of space; then nothing that came of it counts.
    pub fn full(&self) -> Option<String> {
        lock(&self.full).clone()
    }

    /// Takes note of words that may say that there is no space.
    pub(super) fn look_for_space(&self, words: &str) {
        if ["No space left on device", "Disk quota exceeded"].iter().any(|sign| words.contains(sign)) {
            lock(&self.full).get_or_insert_with(|| words.lines().next().unwrap_or_default().to_owned());
        }
    }

    /// How programs lose the network here; asked of the system once.
    pub(super) fn network(&self) -> Network {
        *self.network.get_or_init(|| {
            let (network, notes) = self.launcher.network();
            for note in notes {
                self.note(note);
            }
            network
        })
    }

    /// Where programs keep what they would otherwise keep in the home.
    pub(super) fn caches(&self) -> Utf8PathBuf {
        self.folder.join("cache")
    }
}

/// One scenario's place in a lab: its own folder and the lab's means.
#[derive(Clone)]
pub struct Bench<'lab> {
    /// The lab.
    pub lab: &'lab Lab,
    /// The scenario's folder, absolute.
    pub folder: Utf8PathBuf,
    /// How many GPUs its programs see.
    pub devices: usize,
    pub(super) ledger: Arc<Mutex<Ledger>>,
    watch: Option<&'lab (dyn Fn(Phase) + Sync)>,
}

impl std::fmt::Debug for Bench<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Bench")
            .field("folder", &self.folder)
            .field("ledger", &self.ledger)
            .finish_non_exhaustive()
    }
}

/// What a bench and all benches below it have done.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    times: Times,
    pub products: Vec<Utf8PathBuf>,
}

/// What a bench is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Waiting for a compiler or a GPU to be free.
    Waiting,
    /// Compiling.
    Building,
    /// Running a program.
    Running,
}

/// Where a bench's time went, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Times {
    /// Compiling.
    pub build: f64,
    /// Running, tools included.
    pub run: f64,
    /// Waiting for a compiler or a GPU to be free, or for another scenario's build of the same program.
    pub wait: f64,
    /// Whether something was interrupted, so that nothing seen here counts.
    pub interrupted: bool,
}

impl<'lab> Bench<'lab> {
    /// Name of the folder, below a bench's own, for files that programs need while they run.
    pub(crate) const TEMPORARY: &'static str = "tmp";

    /// The same bench in a folder below its own, which is made; times are counted together.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn below(&self, name: &str) -> std::io::Result<Self> {
        let folder = self.folder.join(name);
        std::fs::create_dir_all(&folder)?;
        Ok(Self { folder, ..self.clone() })
    }

    /// The same, telling what it does.
    #[must_use]
    pub fn watched_by(mut self, watch: &'lab (dyn Fn(Phase) + Sync)) -> Self {
        self.watch = Some(watch);
        self
    }

    /// Where the time went so far.
    pub fn times(&self) -> Times {
        lock(&self.ledger).times
    }

    /// The programs that were built here, absolute.
    pub fn products(&self) -> Vec<Utf8PathBuf> {
        lock(&self.ledger).products.clone()
    }

    /// Says that what was done here is not all that should have been.
    pub(crate) fn interrupt(&self) {
        self.count(|times| times.interrupted = true);
    }

    pub(super) fn enter(&self, phase: Phase) {
        if let Some(watch) = self.watch {
            watch(phase);
        }
    }

    pub(super) fn count(&self, change: impl FnOnce(&mut Times)) {
        change(&mut lock(&self.ledger).times);
    }

    /// Writes a text below the scenario's folder and gives its absolute path.
    ///
    /// # Errors
    /// Those of the file system, and paths that lead out of the folder.
    pub fn write(&self, path: &Utf8Path, text: &str) -> std::io::Result<Utf8PathBuf> {
        let file = self.folder.join(path);
        if !file.starts_with(&self.folder) || path.components().any(|part| part.as_str() == "..") {
            return Err(std::io::Error::other(format!("{path}: leads out of the scenario's folder")));
        }
        if let Some(parent) = file.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(&file, text)?;
        Ok(file)
    }

    /// Writes a program's files.
    ///
    /// # Errors
    /// Which one could not be written, and why.
    pub fn write_all(&self, files: &[ScenarioFile]) -> Result<(), String> {
        let write = |file: &ScenarioFile| match self.write(&file.path, &file.text) {
            Ok(_) => Ok(()),
            Err(error) => Err(format!("{}: {error}", file.path)),
        };
        files.iter().try_for_each(write)
    }

    /// A path as evidence names it: relative to the outcome folder, with `/`.
    pub fn relative(&self, path: &Utf8Path) -> String {
        path.strip_prefix(&self.lab.folder).unwrap_or(path).to_string().replace('\\', "/")
    }

    /// A folder of the scenario's for short-lived files.
    pub(super) fn temporary(&self) -> std::io::Result<Utf8PathBuf> {
        let folder = self.folder.join(Self::TEMPORARY);
        std::fs::create_dir_all(&folder)?;
        std::fs::create_dir_all(self.lab.caches())?;
        Ok(folder)
    }
}
