//! What one file of a program sees.

mod lookup;

use crate::api::{ApiId, constant};
use crate::configuration::libraries::{Lost, may_be_of_a_library};
use crate::configuration::tables::{Configuration, Event, Supposition};
use cudalint_syntax::preprocessor::{Conditions, Meaning, evaluate, names_in};
use cudalint_syntax::{Condition, Define, meaning_for_hip};
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Conditions around definitions that decide conditions around definitions, and includes in includes.
pub(super) const MAX_DEPTH: u32 = 48;

/// Directives that one file may have looked at; what costs more is not known.
const MAX_STEPS: u32 = 4_000_000;

/// Places of an include that are looked at.
const MAX_SITES: usize = 48;

/// What directives make of a name.
#[derive(Clone, Copy, Debug)]
enum Found<'c> {
    /// None says anything.
    Nothing,
    /// It was taken away.
    Undefined,
    /// This is the definition.
    Defined(&'c Define),
    /// One thing in one program that the file is part of, another in the next.
    Contested,
}

impl Found<'_> {
    fn same(self, other: Self) -> bool {
        match (self, other) {
            (Self::Defined(a), Self::Defined(b)) => is_same(a, b),
            (Self::Nothing | Self::Undefined, Self::Nothing | Self::Undefined) => true,
            (Self::Contested, Self::Contested) => true,
            _ => false,
        }
    }
}

/// What all say, where they agree.
fn agreed<'c>(mut all: impl Iterator<Item = Found<'c>>) -> Found<'c> {
    let first = all.next().unwrap_or(Found::Nothing);
    if all.all(|other| other.same(first)) { first } else { Found::Contested }
}

/// Whether two definitions say the same.
fn is_same(a: &Define, b: &Define) -> bool {
    a.body == b.body && a.params == b.params && a.variadic == b.variadic
}

/// What is known of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Whether it holds, or is taken to hold.
    pub holds: bool,
    /// What that rests on.
    pub grounds: Grounds,
}

/// What an answer rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grounds {
    /// Directives and the build decide it.
    Known,
    /// Nothing does.
    Open,
    /// The file is part of programs with different answers.
    Contested,
    /// A name is taken for defined that nobody defines.
    Supposed,
}

/// What lowering asks of a configuration. `host` says whether only the host's pass compiles the place.
pub trait Sight {
    /// The definition that a use of a name at a place of the file means.
    fn definition(&self, name: &str, at: u32, host: bool) -> Option<&Define>;

    /// What is known of a condition at a place of the file.
    fn decide(&self, condition: &str, at: u32, host: bool) -> Decision;

    /// Whether a definition stands under a condition that needs a name which nobody defines.
    fn is_supposed(&self, define: &Define, host: bool) -> bool;

    /// Whether some file of the program defines a macro of this name.
    fn is_macro_somewhere(&self, name: &str) -> bool;
}

/// A `#define`, `#undef` or `#include` that may say what a name is.
#[derive(Clone, Copy)]
enum Step<'c> {
    Event(Event<'c>),
    Include(u32, &'c [Condition]),
}

/// The directives of a file that may say what a name is, by where they stand.
type Steps<'c> = Rc<[(u32, Step<'c>)]>;

/// A place of an include: the includer, and where it stands there.
pub(super) type Place = (u32, u32);

/// The places that include a file in the programs of a view, where conditions let them.
pub(super) struct Sites {
    /// Those that are looked at, by where the include stands.
    pub(super) first: Vec<Place>,
    /// From where on the file's places in the graph are too many to be looked at.
    rest: Option<usize>,
}

impl Sites {
    /// Whether there are more places than are looked at.
    pub(super) const fn has_more(&self) -> bool {
        self.rest.is_some()
    }
}

/// What a file sees of the program's configuration. What was asked once is kept.
pub struct View<'c> {
    pub(super) program: &'c Configuration<'c>,
    pub(super) file: u32,
    for_hip: bool,
    /// The places that include a file, in the programs that the view's file is part of.
    sites: RefCell<FxHashMap<(u32, bool), Rc<Sites>>>,
    /// How often a condition was asked for while it was looked at.
    circles: Cell<u32>,
    steps: RefCell<FxHashMap<(u32, &'c str), Steps<'c>>>,
    /// What holds for a name behind a file, as far as the file says it; and what does before its first line.
    behind: RefCell<FxHashMap<(u32, &'c str, bool), Found<'c>>>,
    before: RefCell<FxHashMap<(u32, &'c str, bool), Found<'c>>>,
    /// What conditions of directives are; nothing while that is looked for.
    decisions: RefCell<FxHashMap<(u32, u32, bool), Option<Decision>>>,
    /// Whether a file was included before another begins; and whether one brings another to those who include it.
    pub(super) included: RefCell<FxHashMap<(u32, u32, bool), Option<bool>>>,
    pub(super) brought: RefCell<FxHashMap<(u32, u32, bool), Option<bool>>>,
    /// The headers that a file includes, at any depth, and that are not here.
    pub(super) lost: RefCell<FxHashMap<(u32, bool), Lost>>,
    pub(super) depth: Cell<u32>,
    left: Cell<u32>,
}

impl std::fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "View({})", self.file)
    }
}

impl Conditions for View<'_> {
    fn holds(&self, condition: &str, at: u32) -> Option<bool> {
        let decision = self.decide(condition, at, false);
        (decision.grounds != Grounds::Contested).then_some(decision.holds)
    }
}

impl Sight for View<'_> {
    fn definition(&self, name: &str, at: u32, host: bool) -> Option<&Define> {
        // Most names are no macros anywhere.
        let compiler = self.program.compiler(self.file);
        if self.program.events(name).is_none() && !compiler.definitions.contains_key(name) {
            return None;
        }
        match self.find(self.file, name, at, host) {
            Found::Defined(define) => Some(define),
            Found::Undefined => None,
            // Code that is left as a call says less than the file's own.
            Found::Contested => self.last_call(name, at).or_else(|| self.only_definition(name, host)),
            Found::Nothing => {
                let of_build = if host { compiler.build.meaning_on_host(name) } else { compiler.build.meaning(name) };
                match of_build {
                    Meaning::Unknown => self.of_neighbours(self.file, name, host),
                    Meaning::Absent => None,
                    _ => compiler.definitions.get(name),
                }
            }
        }
    }

    fn decide(&self, condition: &str, at: u32, host: bool) -> Decision {
        self.evaluated(self.file, condition, at, host)
    }

    fn is_supposed(&self, define: &Define, host: bool) -> bool {
        !self.program.supposed.is_empty()
            && define.conditions.iter().any(|it| self.decide(&it.text, it.at, host).grounds == Grounds::Supposed)
    }

    fn is_macro_somewhere(&self, name: &str) -> bool {
        self.program.events(name).is_some()
    }
}

impl<'c> View<'c> {
    /// Of the file at a position of the list.
    pub fn new(program: &'c Configuration<'c>, file: usize) -> Self {
        Self {
            program,
            file: file as u32,
            for_hip: program.files.get(file).is_some_and(|file| {
                let extension = file.path.rsplit_once('.').map(|(_, extension)| extension);
                extension == Some("hip") || cudalint_syntax::is_for_hip(file.directives)
            }),
            sites: RefCell::default(),
            circles: Cell::new(0),
            steps: RefCell::default(),
            behind: RefCell::default(),
            before: RefCell::default(),
            decisions: RefCell::default(),
            included: RefCell::default(),
            brought: RefCell::default(),
            lost: RefCell::default(),
            depth: Cell::new(0),
            left: Cell::new(MAX_STEPS),
        }
    }

    /// Whether the file is a program for AMD's compiler by itself.
    pub(crate) const fn is_for_hip(&self) -> bool {
        self.for_hip
    }

    /// The file's last definition of a function-like macro before a place.
    fn last_call(&self, name: &str, at: u32) -> Option<&'c Define> {
        let (_, events) = self.program.events(name)?;
        let mut own = events.iter().rev().filter(|event| event.file == self.file && event.at < at);
        own.find_map(|event| event.define).filter(|define| define.params.is_some())
    }

    /// The definition of a name of which nothing else is said in the programs of the file, and which a build without options has. It
    /// may be missing where the name is used, but then nothing compiles; unless it is a default, which stands for what somebody else
    /// may have defined, or the name is one of CUDA.
    fn only_definition(&self, name: &str, host: bool) -> Option<&'c Define> {
        let (_, events) = self.program.events(name)?;
        if may_be_of_a_library(name) || ApiId::named(name).is_some() || constant(name).is_some() {
            return None;
        }
        let reach = self.program.graph.reach(self.file);
        let is_near = |file: u32| file == self.file || reach.included.has(file) || reach.context.has(file);
        let mut near = events.iter().filter(|event| is_near(event.file));
        let first = near.clone().next()?.define?;
        let is_default = |define: &Define| define.conditions.iter().any(|it| names_in(&it.text).any(|it| it == name));
        let is_usual = |event: &Event<'_>| {
            event.conditions.iter().all(|condition| {
                let holds =
                    evaluate(&condition.text, &|name| match self.meaning(event.file, name, condition.at, host) {
                        Answer::Is(meaning) => meaning,
                        Answer::Contested => Meaning::Absent,
                        Answer::Supposed(_) => Meaning::Opaque,
                    });
                holds == Some(!condition.negated)
            })
        };
        let is_it = |event: &Event<'_>| {
            let Some(define) = event.define else { return false };
            is_same(define, first) && (define.params.is_some() || !is_default(define)) && is_usual(event)
        };
        near.all(is_it).then_some(first)
    }

    fn evaluated(&self, file: u32, condition: &str, at: u32, host: bool) -> Decision {
        let (contested, supposed) = (Cell::new(false), Cell::new(false));
        let ask = |with: bool| {
            evaluate(condition, &|name| match self.meaning(file, name, at, host) {
                Answer::Is(meaning) => meaning,
                Answer::Contested => {
                    contested.set(true);
                    Meaning::Unknown
                }
                Answer::Supposed(_) if !with => Meaning::Absent,
                Answer::Supposed(supposition) => {
                    supposed.set(supposed.get() || supposition.named);
                    if supposition.is_one { Meaning::Defined("1") } else { Meaning::Opaque }
                }
            })
        };
        match ask(true) {
            Some(holds) => {
                let supposed = supposed.get() && ask(false) != Some(holds);
                Decision { holds, grounds: if supposed { Grounds::Supposed } else { Grounds::Known } }
            }
            None => {
                let holds = self.assumed(file, condition);
                Decision { holds, grounds: if contested.get() { Grounds::Contested } else { Grounds::Open } }
            }
        }
    }

    /// What is taken for a condition that nothing decides: as the first group of the file that asks it has its first branch.
    fn assumed(&self, file: u32, condition: &str) -> bool {
        let (key, negated) = plain(condition);
        let groups = self.program.files.get(file as usize).map_or(&[][..], |file| &file.directives.groups);
        let asks = groups.iter().filter_map(|group| {
            let first = group.branches.first()?;
            let (asked, not) = plain(first.text.as_deref()?);
            (asked == key).then_some((first.at, first.negated == not))
        });
        // Where no group asks it, it is an include guard.
        asks.min_by_key(|(at, _)| *at).is_none_or(|(_, holds)| holds != negated)
    }

    /// As [`Self::evaluated`], for a directive; kept.
    fn decided(&self, file: u32, condition: &Condition, host: bool) -> Decision {
        let key = (file, condition.at, host);
        if let Some(known) = self.decisions.borrow().get(&key) {
            // Who asks while this is looked for goes round in circles.
            return known.unwrap_or_else(|| {
                self.circles.set(self.circles.get() + 1);
                Decision { holds: false, grounds: Grounds::Contested }
            });
        }
        self.decisions.borrow_mut().insert(key, None);
        let decision = self.evaluated(file, &condition.text, condition.at, host);
        self.decisions.borrow_mut().insert(key, Some(decision));
        decision
    }

    /// Whether conditions hold, or are taken to; `None` where programs differ in that.
    pub(super) fn live(&self, file: u32, conditions: &[Condition], host: bool) -> Option<bool> {
        let mut contested = false;
        for condition in conditions {
            let decision = self.decided(file, condition, host);
            if decision.grounds == Grounds::Contested {
                contested = true;
            } else if decision.holds == condition.negated {
                return Some(false);
            }
        }
        (!contested).then_some(true)
    }

    /// What a name means to a condition at a place of a file.
    fn meaning(&self, file: u32, name: &str, at: u32, host: bool) -> Answer<'c> {
        let of_define = |define: &'c Define| {
            Answer::Is(if define.params.is_some() { Meaning::Opaque } else { Meaning::Defined(&define.body) })
        };
        match self.find(file, name, at, host) {
            Found::Defined(define) => return of_define(define),
            Found::Undefined => return Answer::Is(Meaning::Absent),
            Found::Contested => return Answer::Contested,
            Found::Nothing => {}
        }
        let program = self.program;
        let build = &program.compiler(file).build;
        let of_build = match meaning_for_hip(name) {
            Some(meaning) if self.for_hip && !build.is_given(name) => meaning,
            _ if host => build.meaning_on_host(name),
            _ => build.meaning(name),
        };
        if of_build != Meaning::Unknown {
            return Answer::Is(of_build);
        }
        if let Some(supposition) = program.supposed.get(name) {
            return Answer::Supposed(*supposition);
        }
        if let Some(define) = self.of_neighbours(file, name, host) {
            return of_define(define);
        }
        let reach = program.graph.reach(file);
        let may_be = match program.events(name) {
            // Further down, or under a condition that does not hold.
            Some((_, events)) if Configuration::touches(events, file, &reach.included) => false,
            Some(_) if reach.missing => !self.is_constant(file, name),
            _ => may_be_of_a_library(name),
        };
        if program.may_be_made(file, name) {
            Answer::Contested
        } else if may_be {
            Answer::Is(Meaning::Unknown)
        } else if self.may_come_from_lost_header(file, name, at, host) {
            Answer::Contested
        } else {
            Answer::Is(Meaning::Absent)
        }
    }

    /// What a name means to a condition at a place of the file, without suppositions.
    pub(super) fn plain_meaning(&self, name: &str, at: u32) -> Meaning<'c> {
        match self.meaning(self.file, name, at, false) {
            Answer::Is(meaning) => meaning,
            Answer::Contested => Meaning::Unknown,
            Answer::Supposed(_) => Meaning::Absent,
        }
    }
}

/// What a name means to a condition.
enum Answer<'c> {
    Is(Meaning<'c>),
    Contested,
    Supposed(Supposition),
}

/// A condition without a leading `!` in front of `defined`, and whether there is one.
fn plain(condition: &str) -> (&str, bool) {
    match condition.trim().strip_prefix('!').map(str::trim) {
        Some(rest) if rest.starts_with("defined") => (rest, true),
        _ => (condition.trim(), false),
    }
}
