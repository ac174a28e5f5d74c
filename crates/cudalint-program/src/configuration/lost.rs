//! Headers that are not here: which of them were read before a place of a file.

use super::libraries::Lost;
use super::view::{MAX_DEPTH, View};
use std::rc::Rc;

/// Files that are searched for the declaration of one name.
const MAX_DECLARING: usize = 256;

/// Whether a text has `constexpr int NAME = 0;` or the like.
fn declares_constant(text: &str, name: &str) -> bool {
    let is_part = |c: char| c == '_' || c.is_alphanumeric();
    memchr::memmem::find_iter(text.as_bytes(), name).any(|at| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        let begin = before.rfind([';', '{', '}', '#', '(']).map_or(0, |end| end + 1);
        !before.ends_with(is_part)
            && after.trim_start().starts_with(['=', '{'])
            && !after.trim_start().starts_with("==")
            && before[begin..].split(|c| !is_part(c)).any(|word| matches!(word, "const" | "constexpr"))
    })
}

impl View<'_> {
    /// Whether a header that is not here, and that was included before a place of a file, may define a name.
    pub(super) fn may_come_from_lost_header(&self, file: u32, name: &str, at: u32, host: bool) -> bool {
        if !self.program.graph.reach(file).missing || self.is_guard(file, name) {
            return false;
        }
        let lowercase = name.to_ascii_lowercase();
        self.any_lost_before(file, at, host, &mut |header| self.program.lost.may_define(header, &lowercase))
            && !self.is_constant(file, name)
    }

    /// Whether a file, or one that it includes, declares a constant of this name: it would not compile if a header made it a macro.
    pub(super) fn is_constant(&self, file: u32, name: &str) -> bool {
        let included = self.program.graph.reach(file).included.iter().copied();
        let files = std::iter::once(file).chain(included).take(MAX_DECLARING);
        files.filter_map(|file| self.program.files.get(file as usize)).any(|file| declares_constant(file.text, name))
    }

    /// Whether a name says of a file that it was read: nobody else defines it.
    fn is_guard(&self, file: u32, name: &str) -> bool {
        let Some((_, events)) = self.program.events(name) else { return false };
        let mut own = events.iter().filter(|event| event.file == file);
        own.any(|event| event.define.is_some_and(|define| define.params.is_none() && define.body.trim().is_empty()))
    }

    /// Whether something holds for one of the headers that are not here and that the includes of a file before a place lead to.
    fn any_lost_before(&self, file: u32, at: u32, host: bool, is_it: &mut dyn FnMut(u32) -> bool) -> bool {
        let program = self.program;
        let Some(source) = program.files.get(file as usize) else { return false };
        let includes = (0..).zip(&source.directives.includes).zip(program.graph.targets(file));
        let mut before = includes.take_while(|((_, include), _)| include.span.start < at);
        before.any(|((number, include), target)| {
            let may_be_live = || self.live(file, &include.conditions, host) != Some(false);
            match target {
                Some(target) => {
                    program.graph.reach(*target).missing
                        && may_be_live()
                        && self.lost_of(*target, host).iter().any(|header| is_it(*header))
                }
                None => program.lost.header(file, number).is_some_and(|header| may_be_live() && is_it(header)),
            }
        })
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
        let mut lost: Vec<u32> = Vec::new();
        self.any_lost_before(file, u32::MAX, host, &mut |header| {
            lost.push(header);
            false
        });
        self.depth.set(self.depth.get() - 1);
        lost.sort_unstable();
        lost.dedup();
        let lost: Lost = lost.into();
        self.lost.borrow_mut().insert(key, Rc::clone(&lost));
        lost
    }
}
