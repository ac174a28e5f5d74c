//! What a log says of a finding. A race or an access beyond its object counts only at the finding's lines, in its kernel,
//! and, where its witness's launch is the one that ran, by the witness's threads at the witness's element.

use super::copy::Site;
use super::log::{Log, Logged, Memory};
use super::order;
use super::written::Writes;
use crate::tools::sanitizer::base_name;
use cudalint_findings::AccessKind;
use cudalint_findings::model::{Access, Confidence, FindingEntry};
use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;

/// Accesses to one stretch of memory that are compared with each other, at most.
const MAX_COMPARED: usize = 256;
/// Bytes of the stretches by which accesses are put together.
const STRETCH: u64 = 16;

/// What a log says.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// These two accesses race, as the finding says.
    Race(Logged, Logged),
    /// This access lies outside its object, which begins at this byte and has so many.
    Outside(Logged, (u64, u64)),
    /// This access reads what no thread of its block has written.
    Unwritten(Logged),
    /// These two threads of one block come to the kernel's end, and the first was more often at the barrier.
    Arrivals(Logged, Logged),
    /// The witness's own access was made, and lies within its object.
    Inside(Logged),
    /// The lines ran, and what the finding says was not seen: in one sentence, why.
    NotSeen(String),
    /// The lines were not reached.
    NotReached,
}

/// What is asked of a log.
#[derive(Clone, Copy, Debug)]
pub struct Question<'q> {
    /// The finding.
    pub finding: &'q FindingEntry,
    /// The copies' sites: a site's number is its position.
    pub sites: &'q [Site],
    /// The copies' kernels, by number less one.
    pub kernels: &'q [String],
    /// Something in the program's text that orders accesses in a way that is not followed.
    pub unfollowed: Option<&'q str>,
    /// The log.
    pub log: &'q Log,
}

impl Question<'_> {
    /// Whether two accesses race as the finding says.
    pub fn race(&self) -> Answer {
        let reached: Vec<&Logged> = self.log.accesses.iter().filter(|access| self.is_of_finding(access)).collect();
        if reached.is_empty() {
            return Answer::NotReached;
        }
        if let Some(word) = self.unfollowed {
            return Answer::NotSeen(format!("`{word}` may order the accesses, which watchpoints do not follow"));
        }
        let mut elsewhere: Option<(Logged, Logged)> = None;
        for (a, b) in self.races(&reached) {
            if self.is_claimed(&a, &b) {
                return Answer::Race(a, b);
            }
            elsewhere.get_or_insert((a, b));
        }
        Answer::NotSeen(match elsewhere {
            Some((a, b)) => format!(
                "other accesses race, not those of the finding: {} and {}",
                self.described(&a),
                self.described(&b)
            ),
            None => "the accesses are logged, and no two of them race".to_owned(),
        })
    }

    /// Whether an access lies outside its object as the finding says.
    pub fn bounds(&self) -> Answer {
        let reached: Vec<&Logged> = self.log.accesses.iter().filter(|access| self.is_of_finding(access)).collect();
        if reached.is_empty() {
            return Answer::NotReached;
        }
        let witnessed = self.finding.claim.accesses();
        let mut inside = None;
        let (mut known, mut unclear) = (false, false);
        for access in reached {
            if !witnessed.is_empty() && !witnessed.iter().any(|wanted| self.fits(access, wanted, false)) {
                continue;
            }
            let own = witnessed.iter().any(|wanted| self.is_same_launch(access) && is_thread(access, wanted));
            let Some((base, bytes)) = self.log.object_of(access) else {
                // On one line, that may be the flagged one.
                unclear |= own;
                continue;
            };
            known = true;
            let end = base.saturating_add(bytes);
            if access.address < base || access.address.saturating_add(u64::from(access.size)) > end {
                return Answer::Outside(*access, (base, bytes));
            }
            unclear |= own && !self.is_whole(access);
            if own {
                inside = Some(*access);
            }
        }
        match inside {
            Some(access) if !unclear => Answer::Inside(access),
            Some(_) => Answer::NotSeen(
                "the logged accesses lie within their objects, and not all of the witness's thread are known"
                    .to_owned(),
            ),
            None if known => Answer::NotSeen("the logged accesses lie within their objects".to_owned()),
            None => Answer::NotSeen("the objects of the logged accesses are not known".to_owned()),
        }
    }

    /// Whether a thread reads, as the finding says, what no thread of its block has written. All accesses of the witness's block
    /// to the array must be sites.
    pub fn unwritten(&self) -> Answer {
        let witnessed = self.finding.claim.accesses();
        let lines = self.own_lines();
        let here = |access: &&Logged| {
            access.memory == Memory::Shared
                && access.reads
                && self.site(access).is_some_and(|site| lines.contains(&site.line))
                && self.is_of_finding(access)
        };
        let reached: Vec<(usize, &Logged)> =
            self.log.accesses.iter().enumerate().filter(|(_, access)| here(access)).collect();
        if reached.is_empty() {
            return Answer::NotReached;
        }
        if let Some(word) = self.unfollowed {
            return Answer::NotSeen(format!(
                "`{word}` may write or order accesses in a way that watchpoints do not follow"
            ));
        }
        let claimed = |(_, access): &&(usize, &Logged)| {
            let same = self.is_same_launch(access);
            let own = |wanted: &Access| !same || is_thread(access, wanted) && self.is_element(access, wanted);
            (same || self.finding.confidence != Confidence::Definite) && witnessed.iter().all(own)
        };
        let writes = Writes::of(&self.log.accesses);
        let mut complete = false;
        for (position, access) in reached.iter().filter(claimed) {
            if !self.is_whole(access) {
                continue;
            }
            complete = true;
            if !writes.before(*position, access) {
                return Answer::Unwritten(**access);
            }
        }
        Answer::NotSeen(if complete {
            "the block writes what is read there, as far as it is told by barriers".to_owned()
        } else if reached.iter().any(|(_, access)| !self.is_whole(access)) {
            "the log does not hold all accesses of the block".to_owned()
        } else {
            "the witness's thread does not read its element there".to_owned()
        })
    }

    /// Whether two threads of a block that both come to the kernel's end were at the finding's barrier a different number of
    /// times, which stands where an access has its size.
    pub fn arrivals(&self) -> Answer {
        let kernel = self.finding.claim.kernel.as_deref().map(base_name);
        let own = |access: &&Logged| {
            kernel.as_deref().is_none_or(|kernel| self.kernel(access) == Some(kernel))
                && (self.is_same_launch(access) || self.finding.confidence != Confidence::Definite)
        };
        let mut blocks: BTreeMap<(u32, [u64; 3]), (Logged, Logged)> = BTreeMap::new();
        for access in self.log.accesses.iter().filter(own) {
            let (most, least) = blocks.entry((access.launch, access.block)).or_insert((*access, *access));
            if access.size > most.size {
                *most = *access;
            }
            if access.size < least.size {
                *least = *access;
            }
        }
        if let Some((most, least)) = blocks.values().find(|(most, least)| most.size > least.size) {
            return Answer::Arrivals(*most, *least);
        }
        if blocks.values().all(|(most, _)| most.size == 0) {
            return Answer::NotReached;
        }
        Answer::NotSeen(
            "all threads of a block that come to the kernel's end arrive at the barrier equally often".to_owned(),
        )
    }

    /// The site of an access.
    pub fn site(&self, access: &Logged) -> Option<&Site> {
        self.sites.get(access.site as usize)
    }

    /// The kernel of an access, where it is one of the copies.
    pub fn kernel(&self, access: &Logged) -> Option<&str> {
        (access.kernel as usize).checked_sub(1).and_then(|index| self.kernels.get(index)).map(String::as_str)
    }

    /// An access in words: `write of 4 bytes at 0x7f00 (element 0 of 1) by thread (1,0,0) of block (0,0,0), …`.
    pub fn described(&self, access: &Logged) -> String {
        let kind = match (access.atomic, access.reads, access.writes) {
            (true, ..) => "atomic access to",
            (_, true, true) => "read and write of",
            (_, _, true) => "write of",
            _ => "read of",
        };
        let element = match (self.log.object_of(access), u64::from(access.size)) {
            (Some((base, bytes)), size) if size > 0 && access.address >= base => {
                format!(" (element {} of {})", (access.address - base) / size, bytes / size)
            }
            _ => String::new(),
        };
        let line =
            self.site(access).map_or_else(String::new, |site| format!(" by `{}` in line {}", site.text, site.line));
        let triple = |[x, y, z]: [u64; 3]| format!("({x},{y},{z})");
        format!(
            "{kind} {} bytes at {:#x}{element}{line}, thread {} of block {}, barrier interval {}, launch {}",
            access.size,
            access.address,
            triple(access.thread),
            triple(access.block),
            access.interval,
            access.launch
        )
    }

    /// Whether an access is of the finding's function: the kernel that ran, or the function that holds the line.
    fn is_of_finding(&self, access: &Logged) -> bool {
        let Some(site) = self.site(access) else { return false };
        match self.finding.function.as_deref() {
            // Findings may name a function with its scope.
            Some(function) => {
                let name = base_name(function.rsplit('.').next().unwrap_or(function));
                site.function == name || self.kernel(access) == Some(name.as_str())
            }
            None => true,
        }
    }

    /// Pairs of accesses that race.
    fn races<'s>(&'s self, accesses: &[&'s Logged]) -> impl Iterator<Item = (Logged, Logged)> + 's {
        let mut stretches: HashMap<(u32, u64), Vec<&'s Logged>> = HashMap::new();
        for access in accesses {
            let last = access.address.saturating_add(u64::from(access.size.max(1)) - 1) / STRETCH;
            for stretch in (access.address / STRETCH..=last).take(8) {
                let together = stretches.entry((access.launch, stretch)).or_default();
                // The threads that the finding names come first and are kept.
                if together.len() < MAX_COMPARED {
                    together.push(access);
                }
            }
        }
        let mut stretches: Vec<((u32, u64), Vec<&'s Logged>)> = stretches.into_iter().collect();
        stretches.sort_by_key(|(key, _)| *key);
        stretches.into_iter().flat_map(move |(_, together)| {
            let mut found = Vec::new();
            let launch = together.first().and_then(|access| self.log.launch_of(access));
            let block = launch.map_or([1, 1, 1], |launch| launch.block);
            for (index, a) in together.iter().enumerate() {
                for b in together.get(index + 1..).unwrap_or(&[]) {
                    if order::race(a, b, block) {
                        found.push((**a, **b));
                    }
                }
            }
            found
        })
    }

    /// The finding's own lines; one that it ends before is none of them.
    fn own_lines(&self) -> RangeInclusive<u32> {
        let range = self.finding.range;
        let whole = range.end.column == 1 && range.end.line > range.start.line;
        range.start.line..=range.end.line - u32::from(whole)
    }

    /// Whether a race is the one that the finding claims.
    fn is_claimed(&self, a: &Logged, b: &Logged) -> bool {
        let line = |access: &Logged| self.site(access).map(|site| site.line);
        let lines = self.own_lines();
        let primary = |access: &Logged| line(access).is_some_and(|line| lines.contains(&line));
        if !primary(a) && !primary(b) {
            return false;
        }
        let accesses = self.finding.claim.accesses();
        match accesses {
            [] => true,
            [one] => self.fits(a, one, true) || self.fits(b, one, true),
            [one, other, ..] => {
                (self.fits(a, one, true) && self.fits(b, other, true))
                    || (self.fits(a, other, true) && self.fits(b, one, true))
            }
        }
    }

    /// Whether a logged access is the one that a witness names: line and kind, and, in the witness's launch, thread and,
    /// where `element` says so, element.
    fn fits(&self, access: &Logged, wanted: &Access, element: bool) -> bool {
        if self.site(access).is_none_or(|site| site.line != wanted.site.line()) {
            return false;
        }
        let kind = match wanted.kind {
            AccessKind::Read => access.reads && !access.atomic,
            AccessKind::Write => access.writes && !access.atomic,
            AccessKind::Atomic => access.atomic,
        };
        if !kind {
            return false;
        }
        if !self.is_same_launch(access) {
            // What a definite finding says of a launch is what the program's text says.
            return self.finding.confidence != Confidence::Definite;
        }
        is_thread(access, wanted) && (!element || self.is_element(access, wanted))
    }

    /// Whether an access goes to the witness's element; true where the object is not the witness's, by its size, since then
    /// elements cannot be compared.
    fn is_element(&self, access: &Logged, wanted: &Access) -> bool {
        let size = u64::from(access.size);
        match self.log.object_of(access) {
            Some((base, bytes)) if size > 0 && i64::try_from(bytes / size) == Ok(wanted.extent) => {
                let element = i128::from(access.address) - i128::from(base);
                element == i128::from(wanted.index) * i128::from(size)
            }
            _ => true,
        }
    }

    /// Whether the log holds all accesses of an access's launch.
    fn is_whole(&self, access: &Logged) -> bool {
        self.log.launch_of(access).is_some_and(|launch| launch.status == Some(0) && launch.lost == 0)
    }

    /// Whether an access belongs to a launch of the witness's shape. A finding without a launch is not asked for one.
    fn is_same_launch(&self, access: &Logged) -> bool {
        let Some(wanted) = &self.finding.claim.launch else { return true };
        self.log.launch_of(access).is_some_and(|launch| launch.grid == wanted.grid && launch.block == wanted.block)
    }
}

fn is_thread(access: &Logged, wanted: &Access) -> bool {
    access.block == wanted.block && access.thread == wanted.thread
}
