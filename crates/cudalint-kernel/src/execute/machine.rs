//! The state of one execution.

use super::bits::{Affine, Extent};
use super::doubts::Doubts;
use super::events::{Events, Pending};
use super::flips::Flips;
use super::lanes::{Lanes, MAYBE, Mask, OFF, SURE};
use super::locks::Locks;
use super::memory::{Initial, LocalCells, Memory};
use super::races::Conflicts;
use super::record::{Record, Trace};
use super::recorder::Recorder;
use super::scan::Scan;
use super::state::{Absence, Crowd, Frame, Guard};
use super::sums::Relaxing;
use super::touch::Touch;
use super::uniform::Uniform;
use super::value::{Data, MAX_OBJECTS, NUMBER, UNKNOWN, Val, mix};
use super::watch::Watch;
use crate::code::{Code, ExprId, VariableId};
use crate::indices::Indices;
use crate::launch::{Budget, LaunchInput};
use crate::report::{ObjectKind, Site};
use std::collections::BTreeMap;
use std::rc::Rc;

/// A lane has left the kernel.
pub(super) const EXIT_SURE: u8 = 1;
/// A lane has perhaps left the kernel.
pub(super) const EXIT_MAYBE: u8 = 2;
/// A lane has returned from the function.
pub(super) const RETURN_SURE: u8 = 4;
/// A lane has perhaps returned from the function.
pub(super) const RETURN_MAYBE: u8 = 8;
/// A lane has left the loop or `switch`.
pub(super) const BREAK_SURE: u8 = 16;
/// A lane has perhaps left the loop or `switch`.
pub(super) const BREAK_MAYBE: u8 = 32;
/// A lane is done with this round.
pub(super) const CONTINUE_SURE: u8 = 64;
/// A lane is perhaps done with this round.
pub(super) const CONTINUE_MAYBE: u8 = 128;

const SURELY: u8 = EXIT_SURE | RETURN_SURE | BREAK_SURE | CONTINUE_SURE;

/// All state of one execution.
#[allow(clippy::struct_excessive_bools, reason = "independent facts about the running block")]
pub(super) struct Machine<'a> {
    pub(super) code: &'a Code,
    pub(super) launch: &'a LaunchInput,
    pub(super) budget: &'a Budget,
    /// Threads of a block.
    pub(super) n: usize,
    pub(super) extent: Extent,
    pub(super) scan: Scan,
    /// `threadIdx` along x, y, z.
    pub(super) thread_index: [Val; 3],

    // The running block.
    pub(super) block: [u32; 3],
    pub(super) blocks_run: Vec<[u32; 3]>,
    /// Lanes that execute what is executed now.
    pub(super) act: Mask,
    /// No lanes.
    pub(super) nobody: Mask,
    /// How each lane left what is running: bits above.
    pub(super) left: Vec<u8>,
    /// All bits in `left`, or more.
    pub(super) left_any: u8,
    /// For lanes that left the kernel: where, in `exits`.
    pub(super) exit_of: Vec<u32>,
    pub(super) exits: Vec<Site>,
    pub(super) frames: Vec<Frame>,
    pub(super) calls: Rc<[Site]>,
    /// Conditions that differ between threads, outermost first.
    pub(super) guards: Vec<Guard>,
    /// How often lanes became may-active without a guard that says so, because some may have left.
    pub(super) unguarded: u32,
    /// How often lanes may have left the function or the kernel.
    pub(super) gone: u32,
    /// Branches that not all lanes took, with those that came to it.
    pub(super) splits: Vec<(Site, Mask)>,
    pub(super) iteration: u32,
    pub(super) depth: u32,
    /// The block is not executed any further.
    pub(super) stopped: bool,
    /// Nothing is reported of this block any more.
    pub(super) silent: bool,
    /// Barriers of the block that part of it missed, and those that this part came to instead: each is told once.
    pub(super) told_barriers: Vec<Site>,
    /// Lanes that missed such a barrier and have come to none since.
    pub(super) late: Vec<bool>,
    pub(super) absences: Vec<Absence>,

    // Time.
    pub(super) trace: Trace,
    pub(super) interval: u32,
    pub(super) interval_start: u32,
    pub(super) block_start: u32,
    pub(super) warp_start: Vec<u32>,
    pub(super) waited: u32,
    /// Whether the block has started asynchronous copies.
    pub(super) copies: bool,
    pub(super) phase: u32,
    /// This block waited for others: what it touches from then on may be ordered with them.
    pub(super) acquired: bool,
    /// Lanes of this block waited for other lanes since the last barrier.
    pub(super) acquired_block: bool,
    /// This block has waited on a barrier object: what else its warps tell each other that way is not followed.
    pub(super) objects_wait: bool,

    pub(super) objects: Vec<Memory>,
    /// Positions of the objects that are not gone: those of the code and the launch, and the variables of what runs.
    pub(super) living: Vec<u32>,
    /// Object of each static object of the code; from 1.
    pub(super) statics: Vec<u32>,
    /// Object of each buffer; from 1.
    pub(super) buffers: Vec<u32>,
    pub(super) conflicts: Conflicts,
    pub(super) events: Events,
    pub(super) pending: Vec<Pending>,
    pub(super) crowds: Vec<Crowd>,

    /// Names given so far.
    names: u64,
    pub(super) operations: u64,
    /// Operations at which the running block stops.
    pub(super) limit: u64,
    /// Operations up to which loops may be followed round by round.
    pub(super) patient: u64,
    pub(super) complete: bool,
    /// Of the accesses to an object that may begin anywhere, some are misaligned wherever it begins.
    pub(super) uneven: bool,
    pub(super) causes: BTreeMap<&'static str, u32>,
    /// For each expression that accesses memory: 0 never met, 1 always known, 2 not.
    pub(super) sites: Vec<u8>,
    pub(super) uniform: Uniform,
    pub(super) doubts: Doubts<'a>,
    pub(super) flips: Flips,
    pub(super) locks: Locks<'a>,
    pub(super) relaxing: Relaxing,
    /// The condition of a loop is being looked at.
    pub(super) polling: bool,
    /// It is that of a loop that does nothing but wait.
    pub(super) waiting: bool,
    /// A loop's rest is run without its numbers: what is unknown there says nothing.
    pub(super) uncounted: bool,
    /// Expressions evaluated so far, in all blocks.
    pub(super) evaluated: u64,
    pub(super) watch: Watch,
    /// What is counted of requests and barriers, where somebody asks.
    pub(super) figures: Option<Box<Recorder>>,
    /// Values of subscripts, where somebody asks.
    pub(super) indices: Option<Indices>,
}

impl<'a> Machine<'a> {
    pub(super) fn new(code: &'a Code, launch: &'a LaunchInput, budget: &'a Budget) -> Self {
        let [x, y, z] = launch.block.map(|size| size.max(1));
        let n = (u64::from(x) * u64::from(y) * u64::from(z)).min(1024) as usize;
        let extent = Extent { sizes: [x, y, z], lanes: n as u32 };
        let index = |axis: usize, f: &dyn Fn(u32) -> u32| {
            if extent.sizes[axis] == 1 {
                return Val::known(0);
            }
            Val::affine(Affine::thread(axis, extent), n, |lane| i64::from(f(lane as u32)))
        };
        let mut machine = Self {
            code,
            launch,
            budget,
            n,
            extent,
            scan: Scan::default(),
            thread_index: [
                index(0, &|lane| lane % x),
                index(1, &|lane| lane / x % y),
                index(2, &|lane| lane / (x * y)),
            ],
            block: [0; 3],
            blocks_run: Vec::new(),
            act: Mask::full(n),
            nobody: Mask::none(n),
            left: vec![0; n],
            left_any: 0,
            exit_of: vec![0; n],
            exits: Vec::new(),
            frames: Vec::new(),
            calls: Rc::from([]),
            guards: Vec::new(),
            unguarded: 0,
            gone: 0,
            splits: Vec::new(),
            iteration: 0,
            depth: 0,
            stopped: false,
            silent: false,
            told_barriers: Vec::new(),
            late: Vec::new(),
            absences: Vec::new(),
            trace: Trace::default(),
            interval: 0,
            interval_start: 1,
            block_start: 1,
            warp_start: vec![1; n.div_ceil(32)],
            waited: 0,
            copies: false,
            phase: 0,
            acquired: false,
            acquired_block: false,
            objects_wait: false,
            objects: Vec::new(),
            living: Vec::new(),
            statics: Vec::new(),
            buffers: Vec::new(),
            conflicts: Conflicts::default(),
            events: Events::default(),
            pending: Vec::new(),
            crowds: Vec::new(),
            names: 0,
            operations: 0,
            limit: 0,
            patient: 0,
            complete: true,
            uneven: false,
            causes: BTreeMap::new(),
            sites: vec![0; code.exprs.len()],
            uniform: Uniform::default(),
            doubts: Doubts::default(),
            flips: Flips::default(),
            locks: Locks::of(code),
            relaxing: Relaxing::of(code),
            polling: false,
            waiting: false,
            uncounted: false,
            evaluated: 0,
            watch: Watch::Nothing,
            figures: None,
            indices: None,
        };
        machine.place_objects();
        machine
    }

    /// Counts work; over the limit the block stops.
    pub(super) fn spend(&mut self, operations: u64) {
        self.operations += operations;
        if self.operations > self.limit && !self.stopped {
            self.stop("budget spent");
        }
    }

    /// Ends the running block before its end.
    pub(super) fn stop(&mut self, cause: &'static str) {
        self.stopped = true;
        self.complete = false;
        self.cause(cause);
        self.act = self.nobody.clone();
    }

    /// Counts something that could not be followed.
    pub(super) fn cause(&mut self, cause: &'static str) {
        if !self.uncounted {
            *self.causes.entry(cause).or_default() += 1;
        }
    }

    /// Notes whether an access's address was known.
    pub(super) fn seen(&mut self, at: ExprId, known: bool) {
        if let Some(site) = self.sites.get_mut(at.index()) {
            if known {
                *site = (*site).max(1);
            } else if !self.uncounted || *site == 0 {
                *site = 2;
            }
        }
    }

    /// Writes down that an access happens now; its stamp.
    pub(super) fn new_record(&mut self, touch: Touch<'_>) -> u32 {
        self.copies |= touch.asynchronous;
        let session = self.locks.current();
        // Who has several locks is ordered in more ways than are followed.
        let several = self.locks.several();
        self.trace.records.push(Record {
            site: self.code.expr(touch.at).site,
            kind: touch.kind,
            size: touch.ty.bytes().unwrap_or(0),
            element: touch.element.max(1),
            block: (self.blocks_run.len() as u32).saturating_sub(1),
            interval: self.interval,
            phase: self.phase,
            iteration: self.iteration,
            calls: Rc::clone(&self.calls),
            volatile: touch.volatile,
            of_block: touch.of_block,
            polled: touch.volatile && self.polling,
            acquired: self.acquired || several,
            acquired_block: self.acquired_block || several,
            session,
            assumed: self.is_behind_assumed(),
            asynchronous: touch.asynchronous,
        });
        self.trace.records.len() as u32
    }

    /// Another name that nothing else has.
    pub(super) fn fresh(&mut self) -> u64 {
        self.names += 1;
        mix(self.names, 0xf2e5)
    }

    /// The value with a name of its own in each active lane where nothing is known of it.
    pub(super) fn named(&mut self, value: &Val) -> Val {
        if value.all_known() || matches!(value.data, Data::Aggregate(_)) || self.keeps_origins() {
            return value.clone();
        }
        let name = self.fresh();
        let at = |lane: usize| match value.lane(lane) {
            (_, UNKNOWN) => (mix(name, lane as u64) as i64, NUMBER),
            known => known,
        };
        let tags = Lanes::from_fn(self.n, |lane| at(lane).1);
        Val::tagged(Lanes::from_fn(self.n, |lane| at(lane).0), tags)
    }

    /// Adds an object; its number from 1, 0 where there are too many.
    pub(super) fn add_object(&mut self, memory: Memory) -> u32 {
        if self.objects.len() + 2 >= MAX_OBJECTS {
            return 0;
        }
        self.living.push(self.objects.len() as u32);
        self.objects.push(memory);
        self.objects.len() as u32
    }

    /// The object that a variable in memory is.
    pub(super) fn variable_object(&mut self, variable: VariableId) -> u32 {
        let Some(frame) = self.frames.last() else { return 0 };
        let Some(slot) = frame.slots.get(variable) else { return 0 };
        if slot.object != 0 {
            return slot.object;
        }
        let lanes = slot.declared;
        let Some(info) = self.code.functions.get(frame.function).and_then(|f| f.variables.get(variable)) else {
            return 0;
        };
        let bytes = info.ty.bytes().filter(|&bytes| bytes > 0).map(u64::from);
        let mut memory = Memory::new(ObjectKind::Local, &info.name, Some(info.site), bytes, info.ty.align().max(1));
        memory.local = Some(LocalCells::new(lanes));
        memory.initial = Initial::Nothing;
        let object = self.add_object(memory);
        if let Some(slot) = self.frames.last_mut().and_then(|frame| frame.slots.get_mut(variable)) {
            slot.object = object;
        }
        object
    }

    /// Lanes of `saved` that are still there: who must have left is gone, who may have left is may-active.
    pub(super) fn restored(&self, saved: &Mask) -> Mask {
        if self.stopped {
            return self.nobody.clone();
        }
        if self.left_any == 0 {
            return saved.clone();
        }
        let mut levels = Lanes::any(self.n);
        for ((out, &level), &left) in levels.edit().iter_mut().zip(saved.levels()).zip(&self.left) {
            *out = if left == 0 {
                level
            } else if left & SURELY != 0 {
                OFF
            } else {
                level.min(MAYBE)
            };
        }
        Mask::new(levels)
    }

    /// The active lanes leave; `sure` and `maybe` say how.
    pub(super) fn leave(&mut self, sure: u8, maybe: u8) {
        for (left, &level) in self.left.iter_mut().zip(self.act.levels()) {
            *left |= match level {
                SURE => sure,
                MAYBE => maybe,
                _ => 0,
            };
        }
        if self.act.sure() > 0 {
            self.left_any |= sure;
        }
        if self.act.maybe() > 0 {
            self.left_any |= maybe;
            self.unguarded += 1;
            self.gone += u32::from(maybe & (EXIT_MAYBE | RETURN_MAYBE) != 0);
        }
        self.act = self.nobody.clone();
    }

    /// The active lanes leave the kernel.
    pub(super) fn leave_kernel(&mut self, site: Site) {
        let number = self.exits.iter().position(|exit| *exit == site).unwrap_or_else(|| {
            self.exits.push(site);
            self.exits.len() - 1
        });
        for (exit, &level) in self.exit_of.iter_mut().zip(self.act.levels()) {
            if level == SURE {
                *exit = number as u32;
            }
        }
        self.leave(EXIT_SURE, EXIT_MAYBE);
    }

    /// Where a lane left the kernel.
    pub(super) fn exit_site(&self, lane: usize) -> Option<Site> {
        self.exits.get(*self.exit_of.get(lane)? as usize).copied()
    }

    /// Lanes that have this bit in how they left, at `level`.
    pub(super) fn lanes_left(&self, bit: u8) -> Mask {
        Mask::new(Lanes::from_fn(self.n, |lane| if self.left[lane] & bit != 0 { SURE } else { OFF }))
    }

    /// Calls that are running.
    pub(super) fn call_sites(&self) -> &[Site] {
        &self.calls
    }

    /// Registers of the running function, copied.
    pub(super) fn snapshot(&self, variables: &[VariableId]) -> Vec<Val> {
        let slots = self.frames.last().map_or(&[][..], |frame| &frame.slots.raw);
        variables.iter().map(|v| slots.get(v.index()).map_or_else(Val::unknown, |slot| slot.value.clone())).collect()
    }

    /// Changes registers of the running function.
    pub(super) fn each_register(&mut self, variables: &[VariableId], mut f: impl FnMut(usize, &Val) -> Val) {
        let Some(frame) = self.frames.last_mut() else { return };
        for (number, variable) in variables.iter().enumerate() {
            if let Some(slot) = frame.slots.get_mut(*variable) {
                slot.value = f(number, &slot.value);
            }
        }
    }

    /// Lanes of the mask know nothing of these registers any more.
    pub(super) fn forget_registers(&mut self, variables: &[VariableId], mask: &Mask) {
        if mask.is_empty() {
            return;
        }
        let unknown = Val::unknown();
        self.each_register(variables, |_, value| value.blended(&unknown, mask));
    }
}
