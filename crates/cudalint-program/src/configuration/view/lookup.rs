//! Which directive decides a name: those of the file before a place, of what it includes, and of those who include it.

use super::{Event, Found, MAX_DEPTH, MAX_SITES, Place, Sites, Step, Steps, View, agreed, is_same};
use crate::configuration::tables::Configuration;
use crate::file_set::FileSet;
use cudalint_syntax::Define;
use std::rc::Rc;

impl<'c> View<'c> {
    /// What the directives before a place of a file make of a name, those of its includers among them.
    pub(super) fn find(&self, file: u32, name: &str, at: u32, host: bool) -> Found<'c> {
        let Some((name, events)) = self.program.events(name) else { return Found::Nothing };
        match self.within(file, name, events, at, host) {
            Found::Nothing => self.by_includers(file, name, events, host),
            found => found,
        }
    }

    /// As [`Self::find`], by the file and what it includes alone.
    fn within(&self, file: u32, name: &'c str, events: &[Event<'c>], at: u32, host: bool) -> Found<'c> {
        if self.depth.get() >= MAX_DEPTH {
            return Found::Contested;
        }
        self.depth.set(self.depth.get() + 1);
        let steps = self.steps(file, name, events);
        let mut found = Found::Nothing;
        for (place, step) in steps.iter().rev().skip_while(|(place, _)| *place >= at) {
            let Some(left) = self.left.get().checked_sub(1) else {
                found = Found::Contested;
                break;
            };
            self.left.set(left);
            let conditions = match step {
                Step::Event(event) => event.conditions,
                Step::Include(_, conditions) => conditions,
            };
            let mut live = self.live(file, conditions, host);
            if live == Some(false) {
                continue;
            }
            found = match step {
                Step::Event(event) => match (event.define, event.restores) {
                    (Some(define), _) => Found::Defined(define),
                    (None, Some(kept)) => {
                        found = self.within(file, name, events, kept, host);
                        if live.is_none() {
                            found = Found::Contested;
                        }
                        break;
                    }
                    (None, None) => Found::Undefined,
                },
                Step::Include(target, _) => self.leaving(*target, name, events, host),
            };
            if let Step::Include(target, _) = step
                && live.is_some()
                && !matches!(found, Found::Nothing)
                && self.is_once(*target)
                && (self.others_speak(*target, events) || self.program.graph.reach(*target).included.has(file))
            {
                // What is read once was read at the first of its places; its includes meet it half read.
                live = self.is_included_before(*target, file, *place, host).map(|again| !again);
                if live == Some(false) {
                    found = Found::Nothing;
                }
            }
            if live.is_none() && !matches!(found, Found::Nothing) {
                found = Found::Contested;
            }
            if !matches!(found, Found::Nothing) {
                break;
            }
        }
        self.depth.set(self.depth.get() - 1);
        found
    }

    /// Whether files that a file does not include say something of a name, too: else it is the same wherever the file was read
    /// first.
    fn others_speak(&self, file: u32, events: &[Event<'c>]) -> bool {
        let included = &self.program.graph.reach(file).included;
        events.iter().any(|event| event.file != file && !included.has(event.file))
    }

    /// The directives of a file that may say what a name is.
    fn steps(&self, file: u32, name: &'c str, events: &[Event<'c>]) -> Steps<'c> {
        if let Some(known) = self.steps.borrow().get(&(file, name)) {
            return Rc::clone(known);
        }
        let program = self.program;
        let first = events.partition_point(|event| event.file < file);
        let own = events.iter().skip(first).take_while(|event| event.file == file);
        let mut steps: Vec<(u32, Step<'c>)> = own.map(|event| (event.at, Step::Event(*event))).collect();
        if events.len() > steps.len()
            && let Some(source) = program.files.get(file as usize)
        {
            for (include, target) in source.directives.includes.iter().zip(program.graph.targets(file)) {
                let Some(target) = *target else { continue };
                if Configuration::touches(events, target, &program.graph.reach(target).included) {
                    steps.push((include.span.start, Step::Include(target, &include.conditions)));
                }
            }
            steps.sort_by_key(|(at, _)| *at);
        }
        let steps: Steps<'c> = steps.into();
        self.steps.borrow_mut().insert((file, name), Rc::clone(&steps));
        steps
    }

    /// What a file makes of a name for those who include it.
    fn leaving(&self, file: u32, name: &'c str, events: &[Event<'c>], host: bool) -> Found<'c> {
        let key = (file, name, host);
        if let Some(known) = self.behind.borrow().get(&key) {
            return *known;
        }
        // A header that includes itself.
        self.behind.borrow_mut().insert(key, Found::Nothing);
        let found = self.within(file, name, events, u32::MAX, host);
        self.behind.borrow_mut().insert(key, found);
        found
    }

    /// What a name is before the first line of a file, by the places that include it.
    fn by_includers(&self, file: u32, name: &'c str, events: &[Event<'c>], host: bool) -> Found<'c> {
        let key = (file, name, host);
        if let Some(known) = self.before.borrow().get(&key) {
            return *known;
        }
        let graph = &self.program.graph;
        let own = graph.reach(self.file);
        let speaks = |others: &FileSet| Configuration::touches(events, self.file, others);
        if graph.is_alone(file) || graph.includers(file).is_empty() || !speaks(&own.included) && !speaks(&own.context) {
            self.before.borrow_mut().insert(key, Found::Nothing);
            return Found::Nothing;
        }
        if file == self.file && own.crowded {
            // Too many programs to look into each: they differ where a header says it, or many of them do.
            let includers = || events.iter().filter(|event| graph.reach(event.file).included.has(file));
            let by_header = || includers().any(|event| !graph.includers(event.file).is_empty());
            let many = includers().nth(MAX_SITES).is_some() || by_header();
            let found = if many { Found::Contested } else { Found::Nothing };
            self.before.borrow_mut().insert(key, found);
            return found;
        }
        self.before.borrow_mut().insert(key, Found::Nothing);
        let once = self.is_once(file);
        let first =
            |(includer, at): &(u32, u32)| !once || self.is_included_before(file, *includer, *at, host) != Some(true);
        let sites = self.sites(file, host);
        let says = |includer: u32| Configuration::touches(events, includer, &graph.reach(includer).included);
        let rest = sites.rest.is_some_and(|rest| self.live_places(file, rest, &says, host).next().is_some());
        let found = if rest {
            Found::Contested
        } else {
            let sites = sites.first.iter().filter(|site| first(site));
            agreed(sites.map(|(includer, at)| self.find(*includer, name, *at, host)))
        };
        self.before.borrow_mut().insert(key, found);
        found
    }

    /// The places that include a file. Kept, unless that hangs on a condition that is being looked at.
    pub(in crate::configuration) fn sites(&self, file: u32, host: bool) -> Rc<Sites> {
        if let Some(known) = self.sites.borrow().get(&(file, host)) {
            return Rc::clone(known);
        }
        let circles = self.circles.get();
        let mut live = self.live_places(file, 0, &|_| true, host);
        let first = live.by_ref().take(MAX_SITES).map(|(_, place)| place).collect();
        let sites = Rc::new(Sites { first, rest: live.next().map(|(number, _)| number) });
        if self.circles.get() == circles {
            self.sites.borrow_mut().insert((file, host), Rc::clone(&sites));
        }
        sites
    }

    /// The places that include a file in the programs of this view and that conditions let, from one of the graph's on: each with
    /// its number there. Those of other includers than are asked for are left out.
    pub(super) fn live_places(
        &self,
        file: u32,
        from: usize,
        is_asked: &dyn Fn(u32) -> bool,
        host: bool,
    ) -> impl Iterator<Item = (usize, Place)> {
        let graph = &self.program.graph;
        // Other programs say nothing of this one.
        let own = graph.reach(self.file);
        let is_inside = |it: u32| it == self.file || own.included.has(it) || own.context.has(it);
        let places = graph.places(file).iter().enumerate().skip(from);
        places.filter_map(move |(number, (includer, include))| {
            let source = self.program.files.get(*includer as usize).filter(|_| is_inside(*includer))?;
            let include = source.directives.includes.get(*include as usize).filter(|_| is_asked(*includer))?;
            let is_live = self.live(*includer, &include.conditions, host) != Some(false);
            is_live.then_some((number, (*includer, include.span.start)))
        })
    }

    /// Where an include is out of sight, a name may come from a neighbouring file: if those that define it agree, and the file has no
    /// definition of its own, as of a default.
    pub(super) fn of_neighbours(&self, file: u32, name: &str, host: bool) -> Option<&'c Define> {
        let (name, events) = self.program.events(name)?;
        let graph = &self.program.graph;
        let reach = graph.reach(file);
        if graph.is_alone(file) || !reach.missing || Configuration::touches(events, file, &reach.included) {
            return None;
        }
        let mut agreed: Option<&'c Define> = None;
        let mut last = None;
        for event in events {
            let other = event.file;
            if last.replace(other) == Some(other)
                || other == file
                || graph.is_alone(other)
                || !graph.are_neighbours(file, other)
            {
                continue;
            }
            match self.leaving(other, name, events, host) {
                Found::Defined(define) if agreed.is_none_or(|before| is_same(before, define)) => agreed = Some(define),
                Found::Defined(_) | Found::Contested => return None,
                Found::Nothing | Found::Undefined => {}
            }
        }
        agreed
    }
}
