//! Modules of files that were read before, for who makes the program of the same files again and again.

use crate::ir::Module;
use crate::name::Name;
use blake3::Hash;
use cudalint_syntax::{KeptTrees, Refusal};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Most bytes of the files whose modules are kept; a module takes about twenty times as much.
const MOST: usize = 12 << 20;

/// What is kept of the files of a project from one program to the next. Threads share it.
#[derive(Debug, Default)]
pub struct KeptFiles {
    pub(crate) trees: Arc<KeptTrees>,
    files: Mutex<Files>,
}

#[derive(Debug, Default)]
struct Files {
    all: FxHashMap<Hash, Entry>,
    /// Bytes of all texts.
    bytes: usize,
}

#[derive(Debug)]
struct Entry {
    read: Arc<Kept>,
    bytes: usize,
    /// Whether it was asked for since the last sweep.
    used: bool,
}

/// What was read of a file.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) modules: Vec<Arc<Module>>,
    /// Whether the parser lost a part of it, and why one of its pieces has no tree.
    pub(crate) damaged: bool,
    pub(crate) refusal: Option<Refusal>,
    pub(crate) names: Arc<[Name]>,
}

impl KeptFiles {
    /// Forgets what nobody asked for since the last time.
    pub fn sweep(&self) {
        self.trees.sweep();
        self.with(|files| {
            files.all.retain(|_, entry| std::mem::take(&mut entry.used));
            files.bytes = files.all.values().map(|entry| entry.bytes).sum();
        });
    }

    /// How many files there are.
    pub fn count(&self) -> usize {
        self.with(|files| files.all.len())
    }

    pub(crate) fn find(&self, key: &Hash) -> Option<Arc<Kept>> {
        self.with(|files| {
            let entry = files.all.get_mut(key)?;
            entry.used = true;
            Some(Arc::clone(&entry.read))
        })
    }

    pub(crate) fn keep(&self, key: Hash, bytes: usize, read: Arc<Kept>) {
        self.with(|files| {
            if files.bytes + bytes <= MOST {
                files.bytes += bytes;
                let entry = Entry { read, bytes, used: true };
                let before = files.all.insert(key, entry);
                files.bytes -= before.map_or(0, |entry| entry.bytes);
            }
        });
    }

    /// A thread that fails while it holds it leaves whole entries.
    fn with<T>(&self, work: impl FnOnce(&mut Files) -> T) -> T {
        work(&mut self.files.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
