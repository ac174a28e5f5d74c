//! Executions that were done before, for who executes the kernels of the same files again and again.
//!
//! An execution hangs on the code and on what it is given, and on nothing else: neither on the host program nor on time.
//! Code that stands a few lines further down after an edit is the same code; its places, and those of what was seen, have all moved
//! by the same number of bytes.

use crate::code::{Code, Identity, Stands};
use crate::launch::{Budget, LaunchInput};
use crate::report::{ExecutionReport, OpenCondition, Site};
use crate::{execute_assuming, sites};
use blake3::Hash;
use cudalint_program::ir::ModuleId;
use cudalint_syntax::Span;
use rustc_hash::FxHashMap;
use std::hash::Hash as _;
use std::sync::{Arc, Mutex, PoisonError};

/// Most executions that are kept, and most events of one.
const MOST: usize = 40_000;
const MOST_EVENTS: usize = 256;

/// What executions gave. Threads share it.
#[derive(Debug, Default)]
pub struct KeptRuns(Mutex<FxHashMap<Hash, Entry>>);

#[derive(Debug)]
struct Entry {
    report: Arc<ExecutionReport>,
    /// Where the code stood.
    stood: Arc<Stands>,
    /// Whether it was asked for since the last sweep.
    used: bool,
}

impl Code {
    fn identity(&self) -> &Identity {
        self.identity.0.get_or_init(|| {
            let mut relative = self.clone();
            let mut stands = Stands::new();
            sites::of_code(&mut relative, &mut |site| {
                let first = stands.entry(site.module).or_insert(site.span.start);
                *first = site.span.start.min(*first);
            });
            sites::of_code(&mut relative, &mut |site| moved(site, |module| -at(&stands, module)));
            let mut bytes = Bytes::default();
            relative.hash(&mut bytes);
            Identity { hash: blake3::hash(&bytes.0), stands: Arc::new(stands) }
        })
    }
}

fn at(stands: &Stands, module: ModuleId) -> i64 {
    stands.get(&module).copied().map_or(0, i64::from)
}

fn moved(site: &mut Site, by: impl Fn(ModuleId) -> i64) {
    let by = by(site.module);
    let place = |at: u32| u32::try_from(i64::from(at) + by).unwrap_or(at);
    site.span = Span { start: place(site.span.start), end: place(site.span.end) };
}

/// Collects what is hashed.
#[derive(Default)]
struct Bytes(Vec<u8>);

impl std::hash::Hasher for Bytes {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn finish(&self) -> u64 {
        0
    }
}

impl KeptRuns {
    /// Forgets what nobody asked for since the last time.
    pub fn sweep(&self) {
        self.with(|all| all.retain(|_, entry| std::mem::take(&mut entry.used)));
    }

    /// How many executions there are.
    pub fn count(&self) -> usize {
        self.with(|all| all.len())
    }

    /// As [`execute_assuming`], unless that was done before.
    pub fn execute(
        &self,
        code: &Code,
        launch: &LaunchInput,
        budget: &Budget,
        conditions: &[OpenCondition],
    ) -> ExecutionReport {
        let Identity { hash, stands } = code.identity();
        let mut hasher = blake3::Hasher::new();
        let mut relative = conditions.to_vec();
        for condition in &mut relative {
            moved(&mut condition.site, |module| -at(stands, module));
        }
        hasher.update(hash.as_bytes()).update(format!("{launch:?} {budget:?} {relative:?}").as_bytes());
        let key = hasher.finalize();
        let found = self.with(|all| {
            let entry = all.get_mut(&key)?;
            entry.used = true;
            Some((Arc::clone(&entry.report), Arc::clone(&entry.stood)))
        });
        if let Some((report, stood)) = found {
            let mut report = ExecutionReport::clone(&report);
            if stood != *stands {
                sites::of_report(&mut report, &mut |site| {
                    moved(site, |module| at(stands, module) - at(&stood, module));
                });
            }
            return report;
        }
        let report = execute_assuming(code, launch, budget, conditions);
        if report.events.len() <= MOST_EVENTS {
            let entry = Entry { report: Arc::new(report.clone()), stood: Arc::clone(stands), used: true };
            self.with(|all| {
                if all.len() < MOST {
                    all.insert(key, entry);
                }
            });
        }
        report
    }

    /// A thread that fails while it holds it leaves whole entries.
    fn with<T>(&self, work: impl FnOnce(&mut FxHashMap<Hash, Entry>) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
