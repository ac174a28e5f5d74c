//! Headers that are not here: which of them were read before a place of a file.

use super::libraries::{Lost, LostHeader};
use super::view::{MAX_DEPTH, View};
use std::rc::Rc;

impl View<'_> {
    /// Whether a header that is not here, and that was included before a place of a file, may define a name.
    pub(super) fn may_come_from_lost_header(&self, file: u32, name: &str, at: u32, host: bool) -> bool {
        self.program.graph.reach(file).missing
            && !self.is_guard(file, name)
            && self.lost_before(file, at, host).iter().any(|header| header.may_define(name))
    }

    /// Whether a name says of a file that it was read: nobody else defines it.
    fn is_guard(&self, file: u32, name: &str) -> bool {
        let Some((_, events)) = self.program.events(name) else { return false };
        let mut own = events.iter().filter(|event| event.file == file);
        own.any(|event| event.define.is_some_and(|define| define.params.is_none() && define.body.trim().is_empty()))
    }

    /// The headers that are not here and that the includes of a file before a place lead to.
    fn lost_before(&self, file: u32, at: u32, host: bool) -> Vec<LostHeader> {
        let program = self.program;
        let Some(source) = program.files.get(file as usize) else { return Vec::new() };
        let mut lost = Vec::new();
        let includes = (0..).zip(&source.directives.includes).zip(program.graph.targets(file));
        for ((number, include), target) in includes.take_while(|((_, include), _)| include.span.start < at) {
            let leads_there = match target {
                Some(target) => program.graph.reach(*target).missing || !program.graph.lost(*target).is_empty(),
                None => program.graph.lost(file).contains(&number),
            };
            if !leads_there || self.live(file, &include.conditions, host) == Some(false) {
                continue;
            }
            match target {
                Some(target) => lost.extend(self.lost_of(*target, host).iter().cloned()),
                None => lost.push(LostHeader::of(include)),
            }
        }
        lost
    }

    /// The headers that are not here and that a file leads to.
    fn lost_of(&self, file: u32, host: bool) -> Lost {
        let key = (file, host);
        if let Some(known) = self.lost.borrow().get(&key) {
            return Rc::clone(known);
        }
        // A header that includes itself adds none.
        self.lost.borrow_mut().insert(key, [].into());
        if self.depth.get() >= MAX_DEPTH {
            return [].into();
        }
        self.depth.set(self.depth.get() + 1);
        let mut lost = self.lost_before(file, u32::MAX, host);
        self.depth.set(self.depth.get() - 1);
        lost.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        lost.dedup();
        let lost: Lost = lost.into();
        self.lost.borrow_mut().insert(key, Rc::clone(&lost));
        lost
    }
}
