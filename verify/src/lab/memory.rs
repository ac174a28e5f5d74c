//! Things that scenarios of a lab share, by name.

use super::slots::lock;
use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

/// A thing that is being made, or is there.
pub(super) type Cell = Arc<OnceLock<Box<dyn Any + Send + Sync>>>;

/// All such things of a lab, by name.
#[derive(Default)]
pub(super) struct Memory(Mutex<HashMap<String, Cell>>);

impl std::fmt::Debug for Memory {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Memory").field(&lock(&self.0).len()).finish()
    }
}

impl Memory {
    pub fn cell(&self, name: &str) -> Cell {
        Arc::clone(lock(&self.0).entry(name.to_owned()).or_default())
    }
}
