//! The walk over a kernel's code with symbols for all that a launch decides: it notes the accesses to memory that threads
//! share, each with what holds for a thread that makes it, and which of them no barrier parts.

use super::meetings::{has_meeting, meeting_functions};
use super::shape::Shape;
use super::state::{Access, Base, Enclosing, Flow, Indices, Refusal, State, Value};
use super::sums::{Fact, Sum, Symbol};
use super::symbols::{Nature, Symbols};
use crate::code::{Block, Code, ExprId, FunctionId, Item, ObjectId, ObjectSpace, Stmt, StmtId, Ty, VariableId};
use crate::report::Site;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Statements and expressions that are walked over.
const STEPS: u64 = 120_000;
/// Ways that are told apart before they are joined.
const MAX_WAYS: usize = 12;
/// How deep calls are followed.
const MAX_CALLS: usize = 10;

pub(super) struct Walker<'c> {
    pub code: &'c Code,
    pub symbols: Symbols,
    pub accesses: Vec<Access>,
    pub known: FxHashMap<Access, usize>,
    /// Accesses in the order in which they were met, again and again.
    pub log: Vec<usize>,
    /// Objects of which nothing is said, with the reason.
    pub doubtful: FxHashMap<Base, Refusal>,
    /// Pairs of accesses that were looked at.
    pub pairs: FxHashSet<(usize, usize)>,
    /// Threads along each axis.
    pub extents: [Sum; 3],
    pub threads: [Sum; 3],
    pub blocks: [Sum; 3],
    pub grid: [Sum; 3],
    /// Functions that run, with how many branches that part threads stand around the call.
    pub functions: Vec<(FunctionId, u32)>,
    pub enclosing: Vec<Enclosing>,
    /// Branches around that part threads.
    pub divergent: u32,
    /// Loops around in which threads do not wait for each other.
    pub free: u32,
    /// The walk looks what a loop does; nothing counts.
    pub probing: u32,
    steps: u64,
    pub depth: u32,
    meets: FxHashMap<StmtId, bool>,
    meeting: Vec<bool>,
    pub dynamic: Option<ObjectId>,
    /// Where an address of shared memory was stored.
    pub stored: Option<Site>,
    /// Where a pointer that was read from memory is followed.
    pub loaded: Option<Site>,
    /// Parameters of the kernel that are not negative.
    counts: Vec<VariableId>,
    /// Whether accesses of two threads are compared.
    pub compares: bool,
    /// Symbols of the kernel's parameters.
    given: FxHashMap<VariableId, Symbol>,
    /// Integer parameters of the kernel of which the number is known.
    pub numbers: FxHashMap<VariableId, i64>,
    /// Values of subscripts, where somebody asks.
    pub indices: Option<Indices>,
}

pub(super) type Walked<T> = Result<T, Refusal>;

impl<'c> Walker<'c> {
    pub fn new(code: &'c Code, shape: &Shape, counts: &[VariableId]) -> Self {
        let mut symbols = Symbols::new();
        let mut walker = Self {
            code,
            extents: shape.extents(&mut symbols),
            threads: Default::default(),
            blocks: Default::default(),
            grid: Default::default(),
            symbols,
            accesses: Vec::new(),
            known: FxHashMap::default(),
            log: Vec::new(),
            doubtful: FxHashMap::default(),
            pairs: FxHashSet::default(),
            functions: Vec::new(),
            enclosing: Vec::new(),
            divergent: 0,
            free: 0,
            probing: 0,
            steps: STEPS,
            depth: 0,
            meets: FxHashMap::default(),
            meeting: meeting_functions(code),
            dynamic: code
                .objects
                .iter()
                .position(|object| object.space == ObjectSpace::DynamicShared)
                .map(|index| ObjectId(index as u32)),
            stored: None,
            loaded: None,
            counts: counts.to_vec(),
            compares: true,
            given: FxHashMap::default(),
            numbers: FxHashMap::default(),
            indices: None,
        };
        walker.launch();
        walker
    }

    /// Symbols for threads and blocks, and what holds of them in each launch.
    fn launch(&mut self) {
        for axis in 0..3 {
            let extent = self.extents[axis].clone();
            let zero = Sum::default();
            self.threads[axis] = if extent.constant() == Some(1) {
                zero.clone()
            } else {
                let thread = self.symbols.add(Nature::OWN);
                let sum = Sum::symbol(thread);
                self.symbols.note(thread, Fact::at_least(&sum, &zero));
                self.symbols.note(thread, Fact::above(&extent, &sum));
                sum
            };
            let grid = self.symbols.add(Nature::COMMON);
            let block = self.symbols.add(Nature::COMMON);
            let (grids, blocks) = (Sum::symbol(grid), Sum::symbol(block));
            // No launch has more threads along an axis.
            let most = Sum::number(super::shape::LARGEST);
            self.symbols.note(grid, Fact::at_least(&grids, &Sum::number(1)));
            self.symbols.note(block, Fact::at_least(&blocks, &zero));
            self.symbols.note(block, Fact::above(&grids, &blocks));
            if let Some(all) = grids.times(&extent) {
                self.symbols.note(grid, Fact::at_least(&most, &all));
                let before = blocks.times(&extent).and_then(|before| before.plus_times(&extent, 1));
                self.symbols.note(block, before.and_then(|before| Fact::at_least(&all, &before)));
            }
            self.grid[axis] = grids;
            self.blocks[axis] = blocks;
        }
    }

    /// Walks over the whole kernel.
    pub fn kernel(&mut self) -> Walked<()> {
        let kernel = FunctionId(0);
        let Some(function) = self.code.functions.get(kernel) else { return Ok(()) };
        let mut registers = vec![None; function.variables.len()];
        for (index, register) in registers.iter_mut().enumerate().take(function.parameters as usize) {
            *register = self.parameter(VariableId(index as u32));
        }
        let state = State {
            frames: vec![registers],
            path: Vec::new(),
            open: Vec::new(),
            crossed: false,
            stops: false,
            dead: false,
        };
        self.functions.push((kernel, 0));
        let body = &function.body;
        let flow = self.block(body, vec![state])?;
        let ends = flow.next.into_iter().chain(flow.returns.into_iter().map(|(state, _)| state));
        for state in ends {
            self.close(&state.open);
        }
        if let (Some(site), Some(_)) = (self.stored, self.loaded) {
            return Err(Refusal { cause: "addresses of shared memory are kept in memory", site });
        }
        Ok(())
    }

    fn parameter(&mut self, id: VariableId) -> Option<Value> {
        let variable = self.code.functions.first()?.variables.get(id)?;
        (!variable.in_memory).then(|| match &variable.ty {
            Ty::Aggregate(layout) if !layout.leaves.is_empty() => {
                let leaves = layout.leaves.iter().enumerate();
                let leaf = |(index, leaf): (usize, &crate::code::Leaf)| match leaf.ty {
                    Ty::Pointer => Value::Address(Base::Parameter(id, index as u16), Sum::default()),
                    _ => Value::Number(Sum::symbol(self.common(&leaf.ty))),
                };
                Value::Parts(Rc::new(leaves.map(leaf).collect()))
            }
            Ty::Pointer => Value::Address(Base::Parameter(id, 0), Sum::default()),
            _ if self.numbers.contains_key(&id) => {
                Value::Number(Sum::number(self.numbers.get(&id).copied().unwrap_or_default()))
            }
            ty => {
                let symbol = self.common(ty);
                self.given.insert(id, symbol);
                if self.counts.contains(&id) {
                    self.symbols.note(symbol, Fact::at_least(&Sum::symbol(symbol), &Sum::default()));
                }
                Value::Number(Sum::symbol(symbol))
            }
        })
    }

    /// The symbol of an integer parameter of the kernel.
    pub fn symbol_of(&self, id: VariableId) -> Option<Symbol> {
        self.given.get(&id).copied()
    }

    fn common(&mut self, ty: &Ty) -> Symbol {
        let symbol = self.symbols.add(Nature::COMMON);
        if let Ty::Int { bytes: 4, signed } = ty {
            let (own, largest) = (Sum::symbol(symbol), super::shape::LARGEST);
            let least = if *signed { -largest } else { 0 };
            self.symbols.note(symbol, Fact::at_least(&Sum::number(largest), &own));
            self.symbols.note(symbol, Fact::at_least(&own, &Sum::number(least)));
        } else {
            self.symbols.note_range(symbol, ty);
        }
        symbol
    }

    /// Counts a step; where too many were made, the walk ends.
    pub fn step(&mut self, site: Site) -> Walked<()> {
        self.steps = self.steps.saturating_sub(1);
        if self.steps == 0 || self.symbols.is_spent() {
            return Err(Refusal { cause: "too much to follow", site });
        }
        Ok(())
    }

    /// Statements one after the other.
    pub fn block(&mut self, block: &'c Block, states: Vec<State>) -> Walked<Flow> {
        let mut flow = Flow { next: states, ..Flow::default() };
        for stmt in block {
            let mut after = Vec::new();
            for state in std::mem::take(&mut flow.next) {
                let mut one = self.stmt(*stmt, state)?;
                after.append(&mut one.next);
                flow.take_jumps(&mut one);
            }
            after.retain(|state| !state.dead);
            if after.len() > MAX_WAYS {
                after = self.joined(after, Nature::COMMON).into_iter().collect();
            }
            flow.next = after;
            if flow.next.is_empty() {
                break;
            }
        }
        Ok(flow)
    }

    /// One statement. Where threads do not wait for each other in it, all that any of them touches stays open.
    fn stmt(&mut self, id: StmtId, state: State) -> Walked<Flow> {
        self.step(self.code.stmt(id).site)?;
        self.depth += 1;
        if self.depth > super::shape::MAX_DEPTH {
            return Err(Refusal { cause: "nested too deep", site: self.code.stmt(id).site });
        }
        let before = self.log.len();
        let start = state.open.clone();
        let mut flow = self.stmt_of(id, state)?;
        self.depth -= 1;
        if !self.meets(id) {
            let met: Vec<usize> = self.log.get(before..).unwrap_or_default().to_vec();
            let mut open = start;
            open.extend(met);
            open.sort_unstable();
            open.dedup();
            flow.states().for_each(|state| state.open.clone_from(&open));
            if flow.next.is_empty() && flow.breaks.is_empty() && flow.continues.is_empty() && flow.returns.is_empty() {
                // Nobody goes on: what was touched is compared here.
                self.close(&open);
            }
        }
        Ok(flow)
    }

    fn stmt_of(&mut self, id: StmtId, mut state: State) -> Walked<Flow> {
        let code = self.code;
        let site = code.stmt(id).site;
        match &code.stmt(id).kind {
            Stmt::Expr(value) => {
                self.eval(*value, &mut state)?;
                Ok(Flow::at(state))
            }
            Stmt::Declare(variable) => {
                if let Some(slot) = state.frames.last_mut().and_then(|frame| frame.get_mut(variable.index())) {
                    *slot = None;
                }
                Ok(Flow::at(state))
            }
            Stmt::Block(block) => self.block(block, vec![state]),
            Stmt::If { condition, then, otherwise } => self.branch(id, *condition, [then, otherwise], state),
            Stmt::Loop { condition, body_first, step, body } => {
                let of = super::state::Loop { id, condition: *condition, body_first: *body_first, step: *step, body };
                if self.meets(id) { self.common_loop(of, &state) } else { self.free_loop(of, &state) }
            }
            Stmt::Switch { value, cases } => self.switch(id, *value, cases, state),
            Stmt::Break | Stmt::Continue => {
                let goes_on = matches!(code.stmt(id).kind, Stmt::Continue);
                let divergent = self.divergent;
                let left = self.enclosing.iter_mut().rev().find(|it| !(goes_on && it.switch));
                let Some(left) = left else { return Err(Refusal { cause: "jump out of nothing", site }) };
                if divergent > left.divergent {
                    if left.barrier {
                        return Err(Refusal { cause: "threads leave a round apart that has a barrier", site });
                    }
                    left.apart = true;
                }
                let mut flow = Flow::default();
                if goes_on { &mut flow.continues } else { &mut flow.breaks }.push(state);
                Ok(flow)
            }
            Stmt::Return(value) => {
                // Threads that return from the kernel are gone; those that return from a function go on.
                if let [_, .., (function, divergent)] = self.functions.as_slice()
                    && self.divergent > *divergent
                    && self.meets_in_function(*function)
                {
                    return Err(Refusal { cause: "threads leave a function apart that has a barrier", site });
                }
                let mut value = value.map(|value| self.eval(value, &mut state)).transpose()?;
                // Threads may return in different rounds of a loop.
                if let Some(known) = value.as_ref().filter(|known| self.free > 0 && self.nature(known).own) {
                    value = Some(self.apart(known));
                }
                Ok(Flow { returns: vec![(state, value)], ..Flow::default() })
            }
            Stmt::Opaque { .. } => Err(Refusal { cause: "a statement that is not understood", site }),
        }
    }

    fn branch(
        &mut self,
        id: StmtId,
        condition: ExprId,
        [then, otherwise]: [&'c Block; 2],
        mut state: State,
    ) -> Walked<Flow> {
        let site = self.code.expr(condition).site;
        let truth = self.condition(condition, &mut state)?;
        if state.dead {
            return Ok(Flow::at(state));
        }
        let meets = self.meets(id);
        if meets && !truth.nature.uniform {
            return Err(Refusal { cause: "a barrier behind a condition that is not the same for all threads", site });
        }
        let apart = u32::from(!truth.nature.uniform);
        let mut flow = Flow::default();
        for (block, facts) in [(then, &truth.yes), (otherwise, &truth.no)] {
            let mut inside = state.clone();
            inside.path.extend(facts.iter().cloned());
            if is_refuted(facts) {
                continue;
            }
            self.divergent += apart;
            let one = self.block(block, vec![inside]);
            self.divergent -= apart;
            let mut one = one?;
            flow.next.append(&mut one.next);
            flow.take_jumps(&mut one);
        }
        if !meets && flow.next.len() > 1 {
            flow.next = self.joined(std::mem::take(&mut flow.next), truth.nature).into_iter().collect();
        }
        Ok(flow)
    }

    /// Each case may be executed, whatever comes before it.
    fn switch(
        &mut self,
        id: StmtId,
        value: ExprId,
        cases: &'c [(Option<i64>, Block)],
        mut state: State,
    ) -> Walked<Flow> {
        let site = self.code.stmt(id).site;
        if self.meets(id) {
            return Err(Refusal { cause: "a barrier in a `switch`", site });
        }
        let value = self.eval(value, &mut state)?;
        let nature = self.nature(&value);
        let apart = u32::from(!nature.uniform);
        self.enclosing.push(Enclosing { barrier: false, divergent: self.divergent + 1, apart: false, switch: true });
        let mut flow = Flow::default();
        let mut next = vec![state.clone()];
        self.divergent += apart;
        for (_, body) in cases {
            // From the case before, or by its label.
            next.push(state.clone());
            let entry = self.joined(std::mem::take(&mut next), nature.and(Nature { own: true, uniform: true }));
            let mut one = self.block(body, entry.into_iter().collect())?;
            next.append(&mut one.next);
            flow.next.append(&mut one.breaks);
            flow.take_jumps(&mut one);
        }
        self.divergent -= apart;
        self.enclosing.pop();
        flow.next.append(&mut next);
        // No case may fit.
        flow.next.push(state);
        flow.next = self.joined(std::mem::take(&mut flow.next), nature).into_iter().collect();
        Ok(flow)
    }

    /// Several ways as one: what differs is not known any more.
    pub fn joined(&mut self, states: Vec<State>, nature: Nature) -> Option<State> {
        let mut states = states.into_iter();
        let mut first = states.next()?;
        let rest: Vec<State> = states.collect();
        if rest.is_empty() {
            return Some(first);
        }
        let nature = nature.and(Nature { own: self.free > 0, uniform: true });
        let paths: Vec<Vec<Fact>> = std::iter::once(&first).chain(&rest).map(|state| state.path.clone()).collect();
        for depth in 0..first.frames.len() {
            for index in 0..first.frames[depth].len() {
                let value =
                    |state: &State| state.frames.get(depth).and_then(|frame| frame.get(index).cloned()).flatten();
                let own = value(&first);
                if rest.iter().all(|state| value(state) == own) {
                    continue;
                }
                let all: Option<Vec<Value>> = std::iter::once(own).chain(rest.iter().map(value)).collect();
                let joined = all.map(|all| self.join_values(&all, &paths, nature));
                if let Some(slot) = first.frames.get_mut(depth).and_then(|frame| frame.get_mut(index)) {
                    *slot = joined;
                }
            }
        }
        for state in &rest {
            let common = first.path.iter().zip(&state.path).take_while(|(a, b)| a == b).count();
            first.path.truncate(common);
            first.open.extend(&state.open);
            first.crossed &= state.crossed;
            first.stops &= state.stops;
        }
        first.open.sort_unstable();
        first.open.dedup();
        Some(first)
    }

    /// Whether threads meet at a barrier in a statement.
    pub fn meets(&mut self, id: StmtId) -> bool {
        if let Some(known) = self.meets.get(&id) {
            return *known;
        }
        let found = has_meeting(self.code, &self.meeting, &[Item::Stmt(id)]);
        self.meets.insert(id, found);
        found
    }

    /// Whether threads meet in an expression.
    pub fn meets_in(&self, id: ExprId) -> bool {
        has_meeting(self.code, &self.meeting, &[Item::Expr(id)])
    }

    /// Whether threads meet in a function.
    pub fn meets_in_function(&self, id: FunctionId) -> bool {
        self.meeting.get(id.index()).copied().unwrap_or(true)
    }

    /// Enters a function, unless that goes too deep.
    pub fn enter(&mut self, id: FunctionId, site: Site) -> Walked<()> {
        if self.functions.len() > MAX_CALLS || self.functions.iter().any(|(running, _)| *running == id) {
            return Err(Refusal { cause: "calls that go too deep", site });
        }
        self.functions.push((id, self.divergent));
        Ok(())
    }
}

/// Whether facts say something of numbers alone that is not so.
fn is_refuted(facts: &[Fact]) -> bool {
    facts.iter().any(|fact| fact.sum.constant().is_some_and(|value| if fact.zero { value != 0 } else { value < 0 }))
}
