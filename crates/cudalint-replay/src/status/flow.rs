//! The shape of one function as far as error handling goes: basic blocks of the few actions that matter, in order.

use cudalint_program::Name;
use cudalint_program::api::ApiId;
use cudalint_program::ir::{FunctionId, LocalId};
use cudalint_syntax::Span;

/// What the code around a value does with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Nothing: a statement of its own.
    Dropped,
    /// `(void)`.
    Voided,
    /// Goes into a local variable, which may be read later.
    Stored(LocalId),
    /// The value of a `return`.
    Returned,
    /// An argument: of which call (an index into [`Flow::calls`]) and at which position.
    Argument { call: u32, position: u32 },
    /// Looked at, or stored where others can.
    Consumed,
}

/// Who is called.
#[derive(Clone, Debug, PartialEq)]
pub enum Callee {
    /// A function of a GPU library that returns a status.
    Api(ApiId),
    /// A function by name; scopes before it are kept apart, as `["ns", "f"]`.
    Named { name: Name, scope: Option<Name> },
    /// A method of an object, with the class of the object where that is known.
    Method { name: Name, class: Option<Name> },
    /// The constructors of a class.
    Constructor(Name),
    /// A macro that is used as a statement: what another configuration makes of it.
    Macro(Name),
    /// A lambda of this module, called by the variable that holds it, or made here (which counts as a call).
    Lambda(FunctionId),
    /// A function pointer or a computed callee.
    Opaque,
}

/// A call, a launch through a function, or a lambda that comes into being.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::struct_excessive_bools)]
pub struct CallSite {
    /// Who.
    pub callee: Callee,
    /// The name as written, for messages.
    pub name: Name,
    /// How many arguments.
    pub arguments: u32,
    /// The place.
    pub span: Span,
    /// What becomes of the result.
    pub fate: Fate,
    /// The outermost macro it stands in.
    pub expansion: Option<Name>,
    /// Whether it stands in code that the grammar lost in part.
    pub damaged: bool,
    /// `cudaFree(0)`, `cudaMalloc(&p, 0)`: creates the context.
    pub initializer: bool,
    /// Whether it copies to the host and comes back when all that was to come before is done.
    pub copies_back: bool,
    /// Whether it copies between host and device, behind all that was to come before.
    pub copies_across: bool,
    /// Whether it makes something, in a variable of the function's own, that nothing is ever done with.
    pub makes_unused: bool,
    /// Variables and members that a library, or a function of the project, is given.
    pub given: Box<[Given]>,
    /// Whether it selects device 0 by that number: the device that is selected anyway.
    pub selects_usual_device: bool,
    /// Whether it stands inside `assert(…)`, written out in the code.
    pub asserted: bool,
    /// Whether a variable keeps the status: liveness said that it is read later.
    pub stored_is_read: bool,
    /// Whether no path comes here.
    pub dead: bool,
    /// Whether its name says that results are compared with what they should be.
    pub compares: bool,
}

impl CallSite {
    /// Whether the program needs what the call does, beside its status.
    pub fn is_needed_call(&self) -> bool {
        matches!(&self.callee, Callee::Api(api) if !api.is_last_error() && !api.is_quiet())
    }
}

/// What a call is given, by name.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    /// Of the variable or member.
    pub name: Name,
    /// Who knows it.
    pub known: Known,
    /// Whether the call is given its place, as the first argument: it may make it.
    pub made: bool,
}

/// Who knows a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// Its function.
    Function,
    /// Its file.
    Module,
    /// Whoever has an object of its class.
    Project,
}

/// A `<<<…>>>` launch.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchSite {
    /// The place.
    pub span: Span,
    /// The kernel as written.
    pub kernel: String,
    /// Whether a stream other than the default one is given.
    pub streamed: bool,
    /// Whether it stands in code that the grammar lost in part.
    pub damaged: bool,
    /// Whether no path comes here.
    pub dead: bool,
}

/// One thing that happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A local variable is read.
    Read(LocalId),
    /// It is given a value that is no status.
    Write(LocalId),
    /// It is given the status of the calls `from..to` that have this fate; `accumulate` for `|=` and the like.
    Define { local: LocalId, from: u32, to: u32, accumulate: bool },
    /// A call.
    Call(u32),
    /// A launch.
    Launch(u32),
    /// Code that may do anything with errors: inline elision of a check, statements that are not understood.
    Opaque,
    /// A look at the last error that only another configuration has, or that a library takes.
    Hidden,
    /// Results are compared with what they should be, by the words that are printed then.
    Compares,
    /// A library waits for the device and throws what that reports.
    Waits,
}

/// What functions are reduced to before anything is drawn from it: segments are actions without a branch between them.
/// One for all functions of a module, for its room.
#[derive(Debug, Default)]
pub struct Draft {
    /// How many segments there are.
    pub segments: u32,
    /// With their segments; those of one segment in order.
    pub actions: Vec<(u32, Action)>,
    /// Where control goes.
    pub next: Vec<(u32, u32)>,
    /// Where control may also go, for "may be read later" only: loops that do not run, handlers of exceptions.
    pub rarely: Vec<(u32, u32)>,
}

impl Draft {
    /// Makes room for another function.
    pub fn clear(&mut self) {
        self.segments = 0;
        self.actions.clear();
        self.next.clear();
        self.rarely.clear();
    }
}

/// Things by segment, all in one list.
#[derive(Clone, Debug)]
pub struct BySegment<T> {
    things: Vec<T>,
    /// Where those of each segment end.
    ends: Vec<u32>,
}

impl<T> Default for BySegment<T> {
    fn default() -> Self {
        Self { things: Vec::new(), ends: Vec::new() }
    }
}

impl<T: Copy> BySegment<T> {
    /// Things put in order by their segments, those of one segment as they come.
    pub fn of(segments: u32, things: impl Iterator<Item = (u32, T)> + Clone) -> Self {
        let mut ends = vec![0u32; segments as usize];
        for (segment, _) in things.clone() {
            if let Some(count) = ends.get_mut(segment as usize) {
                *count += 1;
            }
        }
        let mut total = 0;
        for end in &mut ends {
            // For now where they begin.
            total += std::mem::replace(end, total);
        }
        let Some((_, any)) = things.clone().next() else { return Self { things: Vec::new(), ends } };
        let mut sorted = vec![any; total as usize];
        for (segment, thing) in things {
            if let Some(at) = ends.get_mut(segment as usize)
                && let Some(slot) = sorted.get_mut(*at as usize)
            {
                *slot = thing;
                *at += 1;
            }
        }
        Self { things: sorted, ends }
    }

    /// The things of one segment.
    pub fn of_segment(&self, segment: usize) -> &[T] {
        let start = segment.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied());
        match (start, self.ends.get(segment)) {
            (Some(start), Some(end)) => self.things.get(start as usize..*end as usize).unwrap_or(&[]),
            _ => &[],
        }
    }
}

/// An action that has to do with errors themselves: what becomes of variables is settled before functions are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happening {
    /// A call.
    Call(u32),
    /// A launch.
    Launch(u32),
    /// See [`Action::Opaque`].
    Opaque,
    /// See [`Action::Hidden`].
    Hidden,
    /// See [`Action::Compares`].
    Compares,
    /// See [`Action::Waits`].
    Waits,
}

/// The exit's segment.
pub const EXIT: u32 = 1;

/// A function, reduced.
#[derive(Clone, Debug, Default)]
#[allow(clippy::struct_excessive_bools)] // Each is a question of its own.
pub struct Flow {
    /// How many segments there are: 0 is the entry, [`EXIT`] the normal end.
    pub segments: u32,
    /// What happens in them.
    pub happenings: BySegment<Happening>,
    /// Where control goes.
    pub next: BySegment<u32>,
    /// Calls.
    pub calls: Vec<CallSite>,
    /// Launches.
    pub launches: Vec<LaunchSite>,
    /// Bit `i`: parameter `i` is read somewhere (only the first 64; later ones count as read).
    pub reads_parameters: u64,
    /// Locals whose address or reference goes elsewhere.
    pub escaped: Vec<LocalId>,
    /// Locals that are read other than by `return`.
    pub tested: Vec<LocalId>,
    /// Names used as values: functions among them may be called by whoever gets them.
    pub mentioned: Vec<Name>,
    /// Last errors read again after the test of a first read: both places.
    pub double_reads: Vec<(Span, Span)>,
    /// Whether some code in it may do anything with errors.
    pub opaque: bool,
    /// Whether it has a look at the last error that only another configuration has.
    pub hidden: bool,
    /// Whether it prints that results are, or are not, what they should be.
    pub compares: bool,
    /// Whether the function could not be followed to the end.
    pub lost: bool,
}

/// An object that is alive: its class, the name of its destructor (empty: it is out of sight), and the variable.
#[derive(Clone, Debug)]
pub(super) struct Alive {
    pub class: Name,
    pub destructor: Name,
    pub span: Span,
}

impl Flow {
    /// Keeps of a draft what the join of functions asks for.
    pub fn keep(&mut self, draft: &mut Draft) {
        draft.actions.retain(|(_, action)| {
            let of_variables = matches!(action, Action::Read(_) | Action::Write(_) | Action::Define { .. });
            !of_variables
        });
        self.mark_dead(draft);
        self.hidden = draft.actions.iter().any(|(_, action)| *action == Action::Hidden);
        self.compares = draft.actions.iter().any(|(_, action)| *action == Action::Compares);
        self.opaque = draft.actions.iter().any(|(_, action)| *action == Action::Opaque);
        if self.calls.is_empty() && self.launches.is_empty() {
            // Nothing is asked of the way through the function.
            return;
        }
        let happenings = draft.actions.iter().filter_map(|(segment, action)| match action {
            Action::Call(call) => Some((*segment, Happening::Call(*call))),
            Action::Launch(launch) => Some((*segment, Happening::Launch(*launch))),
            Action::Opaque => Some((*segment, Happening::Opaque)),
            Action::Hidden => Some((*segment, Happening::Hidden)),
            Action::Compares => Some((*segment, Happening::Compares)),
            Action::Waits => Some((*segment, Happening::Waits)),
            Action::Read(_) | Action::Write(_) | Action::Define { .. } => None,
        });
        self.segments = draft.segments;
        self.happenings = BySegment::of(self.segments, happenings);
        self.next = BySegment::of(self.segments, draft.next.iter().copied());
    }

    /// Marks what no path from the entry comes to.
    fn mark_dead(&mut self, draft: &Draft) {
        let next = BySegment::of(draft.segments, draft.next.iter().chain(&draft.rarely).copied());
        let mut reached = vec![false; draft.segments as usize];
        let mut work = vec![0usize];
        while let Some(segment) = work.pop() {
            if reached.get(segment).is_none_or(|reached| *reached) {
                continue;
            }
            reached[segment] = true;
            work.extend(next.of_segment(segment).iter().map(|to| *to as usize));
        }
        for (segment, action) in &draft.actions {
            if reached.get(*segment as usize).is_some_and(|reached| *reached) {
                continue;
            }
            match action {
                Action::Call(call) => {
                    if let Some(site) = self.calls.get_mut(*call as usize) {
                        site.dead = true;
                    }
                }
                Action::Launch(launch) => {
                    if let Some(site) = self.launches.get_mut(*launch as usize) {
                        site.dead = true;
                    }
                }
                _ => {}
            }
        }
    }
}
