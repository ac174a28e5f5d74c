//! Files that are read once, however often they are included: which of their places counts.

use super::view::{MAX_DEPTH, Place, View};

impl View<'_> {
    /// Whether a file is read once, however often it is included.
    pub(super) fn is_once(&self, file: u32) -> bool {
        self.program.files.get(file as usize).is_some_and(|file| file.directives.once)
    }

    /// Whether a file was included already where a place of an includer is reached; `None` where that differs.
    pub(super) fn is_included_before(&self, file: u32, includer: u32, at: u32, host: bool) -> Option<bool> {
        if includer == file {
            // It is being read.
            return Some(true);
        }
        let here = self.brings_before(includer, file, at, host);
        if here != Some(false) {
            return here;
        }
        let key = (file, includer, host);
        if let Some(known) = self.included.borrow().get(&key) {
            return *known;
        }
        if self.depth.get() >= MAX_DEPTH {
            return None;
        }
        self.included.borrow_mut().insert(key, Some(false));
        self.depth.set(self.depth.get() + 1);
        let sites = self.sites(includer, host);
        // With more places than are looked at nobody knows.
        let found = if sites.has_more() { None } else { self.is_before_all(file, includer, &sites.first, host) };
        self.depth.set(self.depth.get() - 1);
        self.included.borrow_mut().insert(key, found);
        found
    }

    /// Whether a file was included already at each of the places of an includer that count; `None` where that differs.
    fn is_before_all(&self, file: u32, includer: u32, sites: &[Place], host: bool) -> Option<bool> {
        let again = self.is_once(includer);
        let mut found = None;
        for (outer, at) in sites {
            // Where the includer is read once, its first place counts.
            if again && self.is_included_before(includer, *outer, *at, host) == Some(true) {
                continue;
            }
            let here = self.is_included_before(file, *outer, *at, host)?;
            if found.replace(here).is_some_and(|before| before != here) {
                return None;
            }
        }
        Some(found.unwrap_or(false))
    }

    /// Whether the includes of a file before a place bring another file.
    fn brings_before(&self, includer: u32, file: u32, at: u32, host: bool) -> Option<bool> {
        let program = self.program;
        let Some(source) = program.files.get(includer as usize) else { return Some(false) };
        let mut found = Some(false);
        for (include, target) in source.directives.includes.iter().zip(program.graph.targets(includer)) {
            let Some(target) = target.filter(|_| include.span.start < at) else { continue };
            if target != file && !program.graph.reach(target).included.has(file) {
                continue;
            }
            let live = self.live(includer, &include.conditions, host);
            let brings =
                if target == file || live == Some(false) { Some(true) } else { self.brings(target, file, host) };
            match (live, brings) {
                (Some(true), Some(true)) => return Some(true),
                (Some(false), _) | (_, Some(false)) => {}
                _ => found = None,
            }
        }
        found
    }

    /// Whether a file brings another to those who include it.
    fn brings(&self, includer: u32, file: u32, host: bool) -> Option<bool> {
        let key = (includer, file, host);
        if let Some(known) = self.brought.borrow().get(&key) {
            return *known;
        }
        if self.depth.get() >= MAX_DEPTH {
            return None;
        }
        self.brought.borrow_mut().insert(key, Some(false));
        self.depth.set(self.depth.get() + 1);
        let brings = self.brings_before(includer, file, u32::MAX, host);
        self.depth.set(self.depth.get() - 1);
        self.brought.borrow_mut().insert(key, brings);
        brings
    }
}
