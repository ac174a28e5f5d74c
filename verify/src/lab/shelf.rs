//! Builds that are under way or done, so that the same program is built once a lab.

use super::inputs::Inputs;
use super::job::BuildFailure;
use super::slots::lock;
use camino::{Utf8Path, Utf8PathBuf};
use std::collections::HashMap;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Condvar, Mutex};

/// What makes two builds the same: all that the compiler reads of the scenario's own, and its flags.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub units: Vec<String>,
    pub flags: Vec<String>,
    pub inputs: Inputs,
}

/// A finished build.
#[derive(Clone, Debug)]
pub(super) struct Product {
    /// The program, or why there is none.
    pub program: Result<Utf8PathBuf, BuildFailure>,
    /// What the compiler said, after its command.
    pub log: Arc<str>,
}

impl Product {
    pub fn none(failure: BuildFailure) -> Self {
        Self { program: Err(failure), log: Arc::default() }
    }
}

/// A build that is under way or done.
#[derive(Debug, Default)]
pub(super) struct Pending {
    pub product: Mutex<Option<Product>>,
    pub done: Condvar,
}

/// All builds of a lab.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    pub orders: Mutex<HashMap<Key, Arc<Pending>>>,
    /// For each file handed out, the one on the shelf.
    pub originals: Mutex<HashMap<Utf8PathBuf, Utf8PathBuf>>,
    /// Programs built.
    pub count: AtomicUsize,
}

impl Shelf {
    /// What a run's time depends on most: the program that was built, whatever name it has here, and its arguments.
    pub fn identity(&self, command: &[String]) -> Vec<String> {
        let mut identity = command.to_vec();
        if let Some(program) = identity.first_mut()
            && let Some(original) = lock(&self.originals).get(Utf8Path::new(program.as_str()))
        {
            *program = original.to_string();
        }
        identity
    }
}

/// Tells those who wait what came of a build, also when building panics.
pub(super) struct Filled<'shelf> {
    pub order: &'shelf Pending,
    pub product: Option<Product>,
}

impl Filled<'_> {
    pub fn with(mut self, product: Product) -> Product {
        self.product = Some(product.clone());
        product
    }
}

impl Drop for Filled<'_> {
    fn drop(&mut self) {
        let lost = || Product::none(BuildFailure::Broken("an internal fault ended the build".to_owned()));
        *lock(&self.order.product) = Some(self.product.take().unwrap_or_else(lost));
        self.order.done.notify_all();
    }
}

/// A label as a file name.
pub(super) fn plain(label: &str) -> String {
    let mut name = String::with_capacity(label.len());
    for c in label.chars() {
        if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') {
            name.push(c);
        } else {
            // No two labels become one name.
            name.extend(["%", &format!("{:x}", u32::from(c))]);
        }
    }
    name
}
