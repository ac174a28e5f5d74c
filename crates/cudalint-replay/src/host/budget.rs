//! How far a walk goes: the steps that it has left, how deep it may nest, and why it ended early.

use std::collections::BTreeMap;

/// What a walk stops for that has taken all its steps.
pub(crate) const OUT_OF_STEPS: &str = "steps of a host walk";

/// The bounds of one walk, and what has been used up of them.
#[derive(Debug)]
pub(crate) struct Budget {
    /// Steps left: one for each expression and statement.
    pub steps: u32,
    /// How deep expressions and statements are nested now, over all frames.
    pub depth: u32,
    /// The deepest that they were.
    pub deepest: u32,
    /// How deep they may.
    max_depth: u32,
    /// Why the walk ended early.
    pub stopped: Option<&'static str>,
    /// What was cut short, by cause.
    pub limits: BTreeMap<&'static str, u32>,
    /// Elements of lists and dictionaries copied so far.
    copied: usize,
}

impl Budget {
    pub const fn new(steps: u32, max_depth: u32) -> Self {
        Self { steps, depth: 0, deepest: 0, max_depth, stopped: None, limits: BTreeMap::new(), copied: 0 }
    }

    /// Takes one step; `false` when none was left or the walk has ended.
    pub fn step(&mut self) -> bool {
        if self.steps == 0 {
            self.stopped.get_or_insert(OUT_OF_STEPS);
        }
        self.steps = self.steps.saturating_sub(1);
        self.stopped.is_none()
    }

    /// Enters a level of nesting; `false` when it is too deep or the walk has ended.
    pub fn descend(&mut self) -> bool {
        if self.depth >= self.max_depth {
            self.stopped.get_or_insert("nesting of host code");
        }
        if self.stopped.is_none() {
            self.depth += 1;
            self.deepest = self.deepest.max(self.depth);
        }
        self.stopped.is_none()
    }

    /// Leaves a level of nesting that [`Self::descend`] entered.
    pub const fn ascend(&mut self) {
        self.depth -= 1;
    }

    /// Whether no walk could enter `more` levels.
    pub const fn is_too_deep(&self, more: u32) -> bool {
        self.depth + more >= self.max_depth
    }

    /// Counts elements that are copied; `false` for a list that is too long, or when a walk has copied enough: `l = l + l`
    /// doubles with each line.
    pub fn may_copy(&mut self, elements: usize) -> bool {
        const LONGEST: usize = 64 << 10;
        const MOST: usize = 2 << 20;
        self.copied += elements;
        elements <= LONGEST && self.copied <= MOST
    }

    /// Something was cut short.
    pub fn cut(&mut self, cause: &'static str) {
        *self.limits.entry(cause).or_insert(0) += 1;
    }

    /// Another entry is walked with the steps that are left.
    pub const fn restart(&mut self) {
        self.stopped = None;
        self.depth = 0;
    }

    /// The walk of an entry is over: why it ended early counts as cut short.
    pub fn finish(&mut self) {
        if let Some(cause) = self.stopped {
            self.cut(cause);
        }
    }
}
