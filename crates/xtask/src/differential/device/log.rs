//! What the threads of a program of random kernels did.

use std::collections::{HashMap, HashSet};

/// One thread's use of an element.
#[derive(PartialEq, Eq, Hash)]
pub struct Use {
    pub kernel: String,
    pub array: String,
    pub block: u64,
    pub thread: u64,
    pub index: i64,
}

/// What ran.
#[derive(Default)]
pub struct Log {
    pub uses: HashSet<Use>,
    /// By kernel and array, the highest element.
    pub highest: HashMap<(String, String), i64>,
}

impl Log {
    /// Reads what the program printed: `kernel array block thread index` a line.
    pub fn read(printed: &str) -> Self {
        let mut log = Self::default();
        for line in printed.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let [kernel, array, block, thread, index] = words[..] else { continue };
            let (Ok(block), Ok(thread), Ok(index)) = (block.parse(), thread.parse(), index.parse()) else { continue };
            let (kernel, array) = (kernel.to_owned(), array.to_owned());
            let highest = log.highest.entry((kernel.clone(), array.clone())).or_insert(index);
            *highest = (*highest).max(index);
            log.uses.insert(Use { kernel, array, block, thread, index });
        }
        log
    }

    /// The highest element of each of these arrays, by kernel.
    pub fn highest(&self, arrays: [&'static str; 3]) -> impl Iterator<Item = ((String, &'static str), i64)> {
        self.highest.iter().filter_map(move |((kernel, array), highest)| {
            let array = arrays.into_iter().find(|name| *name == array.as_str())?;
            Some(((kernel.clone(), array), *highest))
        })
    }
}
