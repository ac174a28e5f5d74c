//! Sets of files that are asked often whether they hold one.

use std::ops::Deref;

/// Files by number: sorted, and as bits where those take no more room than the numbers.
#[derive(Clone, Debug, Default)]
pub struct FileSet {
    files: Vec<u32>,
    bits: Vec<u64>,
}

impl FileSet {
    /// Of sorted numbers.
    pub(crate) fn new(files: Vec<u32>) -> Self {
        let words = files.last().map_or(0, |last| *last as usize / 64 + 1);
        let mut bits = vec![0_u64; if words <= files.len() { words } else { 0 }];
        for file in &files {
            if let Some(word) = bits.get_mut(*file as usize / 64) {
                *word |= 1 << (file % 64);
            }
        }
        Self { files, bits }
    }

    /// Whether a file is among them.
    pub fn has(&self, file: u32) -> bool {
        if self.bits.is_empty() {
            return self.files.binary_search(&file).is_ok();
        }
        self.bits.get(file as usize / 64).is_some_and(|word| (word >> (file % 64)) & 1 == 1)
    }
}

impl Deref for FileSet {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        &self.files
    }
}

#[cfg(test)]
mod tests {
    use super::FileSet;

    #[test]
    fn few_files_and_many_say_the_same() {
        for files in [vec![3, 900, 70_000], (0..500).step_by(3).collect::<Vec<u32>>(), Vec::new()] {
            let set = FileSet::new(files.clone());
            assert_eq!(*set, *files);
            assert!((0..1_000).all(|file| set.has(file) == files.contains(&file)));
        }
    }
}
