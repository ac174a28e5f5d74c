//! What was found out before, for who looks at the same project again and again.

use crate::host::{ProjectScan, ReplayOptions, Walked};
use crate::merge::walk_module;
use crate::reliance::Reliance;
use blake3::{Hash, Hasher};
use cudalint_kernel::{Code, KeptRuns};
use cudalint_program::Project;
use cudalint_program::ir::ModuleId;
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Most events of walks that are kept, and most kernels.
const MOST_EVENTS: usize = 400_000;
const MOST_CODES: usize = 20_000;

/// What walks, lowered kernels and executions gave. Threads share it.
#[derive(Debug, Default)]
pub struct KeptFacts {
    walks: Shelf<Arc<Walked>>,
    codes: Shelf<Option<Arc<Code>>>,
    pub(crate) runs: KeptRuns,
}

impl KeptFacts {
    /// Forgets what nobody asked for since the last time.
    pub fn sweep(&self) {
        self.walks.sweep();
        self.codes.sweep();
        self.runs.sweep();
    }

    /// How many walks there are, and how many executions.
    pub fn counts(&self) -> [usize; 2] {
        [self.walks.count(), self.runs.count()]
    }

    /// As [`walk_module`], unless that was done before.
    pub fn walk(
        &self,
        reliance: &Reliance,
        project: &Project,
        scan: &ProjectScan,
        id: ModuleId,
        options: &ReplayOptions,
    ) -> Walked {
        let Some(hash) = reliance.of(id) else { return walk_module(project, scan, id, options) };
        let key = Hasher::new().update(hash.as_bytes()).update(&id.0.to_le_bytes()).finalize();
        if let Some(known) = self.walks.find(&key) {
            return Walked::clone(&known);
        }
        let walked = walk_module(project, scan, id, options);
        // Each counts, with or without events.
        self.walks.keep(key, 1 + walked.events.len(), MOST_EVENTS, Arc::new(walked.clone()));
        walked
    }

    /// A kernel lowered for what it is compiled for, unless that was done before.
    pub(crate) fn code(
        &self,
        reliance: Option<Hash>,
        of: &str,
        lower: impl FnOnce() -> Option<Arc<Code>>,
    ) -> Option<Arc<Code>> {
        let Some(hash) = reliance else { return lower() };
        let key = Hasher::new().update(hash.as_bytes()).update(of.as_bytes()).finalize();
        self.codes.find(&key).unwrap_or_else(|| {
            let code = lower();
            self.codes.keep(key, 1, MOST_CODES, code.clone());
            code
        })
    }
}

/// Things by what they hang on.
#[derive(Debug)]
struct Shelf<T>(Mutex<(FxHashMap<Hash, Entry<T>>, usize)>);

#[derive(Debug)]
struct Entry<T> {
    thing: T,
    size: usize,
    /// Whether it was asked for since the last sweep.
    used: bool,
}

impl<T> Default for Shelf<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone> Shelf<T> {
    fn find(&self, key: &Hash) -> Option<T> {
        self.with(|all, _| {
            let entry = all.get_mut(key)?;
            entry.used = true;
            Some(entry.thing.clone())
        })
    }

    /// Keeps a thing where that leaves all of them together small enough.
    fn keep(&self, key: Hash, size: usize, most: usize, thing: T) {
        self.with(|all, whole| {
            if *whole + size <= most && all.insert(key, Entry { thing, size, used: true }).is_none() {
                *whole += size;
            }
        });
    }

    fn count(&self) -> usize {
        self.with(|all, _| all.len())
    }

    fn sweep(&self) {
        self.with(|all, whole| {
            all.retain(|_, entry| std::mem::take(&mut entry.used));
            *whole = all.values().map(|entry| entry.size).sum();
        });
    }

    /// A thread that fails while it holds it leaves whole entries.
    fn with<R>(&self, work: impl FnOnce(&mut FxHashMap<Hash, Entry<T>>, &mut usize) -> R) -> R {
        let (all, whole) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        work(all, whole)
    }
}
