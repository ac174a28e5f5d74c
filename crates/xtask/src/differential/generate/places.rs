//! Indices and conditions of random kernels.

use super::{Layout, Writer};

impl Writer<'_> {
    /// How many threads a block has, as the kernel says it.
    pub(super) const fn block_size(&self) -> &'static str {
        match self.layout {
            Layout::Row { .. } => "blockDim.x",
            Layout::Plane { .. } => "(blockDim.x * blockDim.y)",
        }
    }

    /// A condition, and whether all threads of a block agree on it.
    pub(super) fn condition(&mut self) -> (String, bool) {
        let block = self.layout.threads();
        let constant = 1 + self.random.below(block);
        match self.random.below(13) {
            0..=2 => ("i < n".to_owned(), false),
            3 => ("i <= n".to_owned(), false),
            4 => (format!("t < {constant}"), false),
            5 => ("t % 2 == 0".to_owned(), false),
            6 => ("blockIdx.x == 0".to_owned(), true),
            7 => (format!("n > {constant}"), true),
            8 => ("i > 0 && i < n - 1".to_owned(), false),
            9 => ("t == 0".to_owned(), false),
            10 if self.wide => ("(unsigned)(i - 1) < (unsigned)n".to_owned(), false),
            11 if matches!(self.layout, Layout::Plane { .. }) => ("tx > 0 && ty > 0".to_owned(), false),
            12 if self.features.fraction => (format!("y < {constant}.0f"), false),
            _ => ("t / 32 == 0".to_owned(), block <= 32),
        }
    }

    fn variable(&mut self) -> Option<String> {
        let (name, _) = self.loops.last()?;
        Some(name.clone())
    }

    /// An element of the shared array at a number from 0 to its elements, whatever shape it has.
    pub(super) fn shared_at(&self, index: &str) -> String {
        match self.layout {
            Layout::Row { .. } => format!("s[{index}]"),
            Layout::Plane { pitch, .. } => format!("m[({index}) / {pitch}][({index}) % {pitch}]"),
        }
    }

    /// An element of the shared array, most often one that is there.
    pub(super) fn shared_place(&mut self) -> String {
        if let Layout::Plane { width, height, pitch } = self.layout {
            return self.place_in_plane(width, height, pitch);
        }
        let shared = self.layout.elements();
        let constant = self.random.below(shared);
        let variable = self.variable();
        let index = match (self.random.below(17), variable) {
            (0 | 1, Some(name)) => name,
            (2, Some(name)) => format!("(t + {name}) % {shared}"),
            (0..=6, _) => "t".to_owned(),
            (7, _) if self.random.chance(30) => "t + 1".to_owned(),
            (7, _) => format!("(t + 1) % {shared}"),
            (8, _) if shared >= self.layout.threads() => format!("{} - t", shared - 1),
            (9, _) => "t ^ 1".to_owned(),
            (10, _) => constant.to_string(),
            (11, _) => format!("(t + {constant}) % {shared}"),
            (12, _) => "t / 32".to_owned(),
            (13, _) if self.wide => format!("wrapped(t + {constant}, {shared}) % {shared}"),
            (14, _) if self.wide => format!("(t - 1u) % {shared}u"),
            (15, _) if self.wide => format!("stepped<3>(t) % {shared}"),
            (16, _) if self.features.local => "l[1]".to_owned(),
            _ => format!("(t * 2) % {shared}"),
        };
        format!("s[{index}]")
    }

    fn place_in_plane(&mut self, width: u64, height: u64, pitch: u64) -> String {
        let row = self.random.below(height);
        match self.random.below(14) {
            0..=5 => "m[ty][tx]".to_owned(),
            // Square planes are transposed; others leave the array where the plane is wider than high.
            6 if width == height || self.random.chance(20) => "m[tx][ty]".to_owned(),
            7 => format!("m[{} - ty][tx]", height - 1),
            8 => format!("m[ty][{} - tx]", width - 1),
            9 => format!("m[(ty + 1) % {height}][tx]"),
            10 => format!("m[ty][(tx + 1) % {pitch}]"),
            11 => format!("m[{row}][tx]"),
            12 if self.random.chance(30) => "m[ty + 1][tx]".to_owned(),
            13 => "m[ty][tx ^ 1]".to_owned(),
            _ => format!("m[ty][{}]", self.random.below(width)),
        }
    }

    pub(super) fn global_index(&mut self) -> String {
        let variable = self.variable();
        let size = self.block_size();
        match (self.random.below(14), variable) {
            (0..=2, Some(name)) => name,
            (3, Some(name)) => format!("{name} * {size} + t"),
            (0..=6, _) => "i".to_owned(),
            (7, _) if self.random.chance(40) => "i + 1".to_owned(),
            (8, _) if self.random.chance(40) => "n - 1 - i".to_owned(),
            (9, _) => "i % n".to_owned(),
            (10, _) => "blockIdx.x".to_owned(),
            (12, _) if self.wide => "stepped<1>(i) % n".to_owned(),
            (13, _) if self.features.fraction => "(int)(i * 0.5f)".to_owned(),
            _ => "min(i, n - 1)".to_owned(),
        }
    }
}
