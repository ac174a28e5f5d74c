//! What parts of the code may do, found out once for each: which registers a statement assigns, whether it always leaves.

use crate::code::{Block, Code, Effect, Expr, ExprId, FunctionId, Intrinsic, Place, Stmt, StmtId, VariableId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Deepest nesting that is looked at; what lies deeper counts as assigning nothing and is not executed either.
const DEEPEST: u32 = 400;

/// Sets of registers, by the statement or expression they belong to.
#[derive(Default)]
pub(super) struct Scan {
    stmts: FxHashMap<StmtId, Rc<[VariableId]>>,
    exprs: FxHashMap<ExprId, Rc<[VariableId]>>,
    natures: FxHashMap<StmtId, Nature>,
    natures_of_exprs: FxHashMap<ExprId, Nature>,
}

/// What a loop, or another part of the code, may do besides computing.
#[derive(Clone, Copy, Debug, Default)]
#[allow(clippy::struct_excessive_bools, reason = "independent properties of a part of the code")]
pub(super) struct Nature {
    /// It may wait for somebody else: it has an atomic operation, a volatile read, a fence or a call out of sight in it.
    pub(super) may_wait: bool,
    /// Lanes may leave it otherwise than by its condition.
    pub(super) may_leave: bool,
    /// It has a barrier in it.
    pub(super) has_barrier: bool,
    /// It does something that others may see: a store in memory, an operation on it, a call out of sight.
    pub(super) acts: bool,
}

impl Nature {
    /// Whether nothing is left of it but what registers hold.
    pub(super) const fn computes(self) -> bool {
        !self.may_wait && !self.may_leave && !self.has_barrier && !self.acts
    }
}

impl Scan {
    /// Registers that a statement may assign.
    pub(super) fn assigned(&mut self, code: &Code, stmt: StmtId) -> Rc<[VariableId]> {
        if let Some(known) = self.stmts.get(&stmt) {
            return Rc::clone(known);
        }
        let mut walk = Walk::new(code, false);
        walk.stmt(stmt, 0);
        let found = walk.finish();
        self.stmts.insert(stmt, Rc::clone(&found));
        found
    }

    /// Registers that an expression may assign.
    pub(super) fn assigned_in(&mut self, code: &Code, expr: ExprId) -> Rc<[VariableId]> {
        if let Some(known) = self.exprs.get(&expr) {
            return Rc::clone(known);
        }
        let mut walk = Walk::new(code, false);
        walk.expr(expr, 0);
        let found = walk.finish();
        self.exprs.insert(expr, Rc::clone(&found));
        found
    }

    /// What an expression may do.
    pub(super) fn nature_in(&mut self, code: &Code, expr: ExprId) -> Nature {
        if let Some(&known) = self.natures_of_exprs.get(&expr) {
            return known;
        }
        let mut walk = Walk::new(code, true);
        walk.expr(expr, 0);
        self.natures_of_exprs.insert(expr, walk.nature);
        walk.nature
    }

    /// What a statement may do.
    pub(super) fn nature(&mut self, code: &Code, stmt: StmtId) -> Nature {
        if let Some(&known) = self.natures.get(&stmt) {
            return known;
        }
        let mut walk = Walk::new(code, true);
        walk.stmt(stmt, 0);
        self.natures.insert(stmt, walk.nature);
        walk.nature
    }
}

/// Whether control never runs out of the end of these statements.
pub(super) fn leaves(code: &Code, block: &Block) -> bool {
    let mut block = block;
    loop {
        let Some(&last) = block.last() else { return false };
        match &code.stmt(last).kind {
            Stmt::Return(_) | Stmt::Break | Stmt::Continue => return true,
            Stmt::Block(inner) => block = inner,
            Stmt::Expr(expr) => return matches!(&code.expr(*expr).kind, Expr::Intrinsic(Intrinsic::Exit, _)),
            _ => return false,
        }
    }
}

struct Walk<'c> {
    code: &'c Code,
    assigned: Vec<VariableId>,
    nature: Nature,
    /// Loops and switches around, from the loop that is asked about on.
    loops: u32,
    /// Whether callees are looked into: for waits and barriers; registers are each function's own.
    callees: bool,
    /// Calls that the walk is in.
    calls: u32,
    /// Callees that were looked into: what they may do is the same at each call, and functions that call each other many times
    /// would cost the product of their calls.
    seen: FxHashSet<FunctionId>,
}

impl<'c> Walk<'c> {
    fn new(code: &'c Code, callees: bool) -> Self {
        Self {
            code,
            assigned: Vec::new(),
            nature: Nature { may_wait: false, may_leave: false, has_barrier: false, acts: false },
            loops: 0,
            callees,
            calls: 0,
            seen: FxHashSet::default(),
        }
    }

    fn finish(mut self) -> Rc<[VariableId]> {
        self.assigned.sort_unstable();
        self.assigned.dedup();
        self.assigned.into()
    }

    fn block(&mut self, block: &Block, depth: u32) {
        for &stmt in block {
            self.stmt(stmt, depth);
        }
    }

    fn stmt(&mut self, stmt: StmtId, depth: u32) {
        if depth > DEEPEST {
            return;
        }
        let depth = depth + 1;
        match &self.code.stmt(stmt).kind {
            Stmt::Expr(expr) => self.expr(*expr, depth),
            Stmt::Declare(variable) => self.note(*variable),
            Stmt::Block(block) => self.block(block, depth),
            Stmt::If { condition, then, otherwise } => {
                self.expr(*condition, depth);
                self.block(then, depth);
                self.block(otherwise, depth);
            }
            Stmt::Loop { condition, step, body, .. } => {
                for expr in condition.iter().chain(step) {
                    self.expr(*expr, depth);
                }
                self.loops += 1;
                self.block(body, depth);
                self.loops -= 1;
            }
            Stmt::Switch { value, cases } => {
                self.expr(*value, depth);
                self.loops += 1;
                for (_, block) in cases {
                    self.block(block, depth);
                }
                self.loops -= 1;
            }
            Stmt::Break => self.nature.may_leave |= self.calls == 0 && self.loops <= 1,
            Stmt::Continue => self.nature.acts |= self.calls == 0 && self.loops == 0,
            Stmt::Return(value) => {
                self.nature.may_leave |= self.calls == 0;
                if let Some(value) = value {
                    self.expr(*value, depth);
                }
            }
            Stmt::Opaque { exprs, blocks, .. } => {
                self.nature.may_leave = true;
                self.nature.acts = true;
                for &expr in exprs {
                    self.expr(expr, depth);
                }
                for block in blocks {
                    self.block(block, depth);
                }
            }
        }
    }

    fn note(&mut self, variable: VariableId) {
        if self.calls == 0 {
            self.assigned.push(variable);
        }
    }

    fn place(&mut self, place: &Place, written: bool, depth: u32) {
        match place {
            Place::Register { variable, .. } => {
                if written {
                    self.note(*variable);
                }
            }
            Place::Memory { address, volatile, .. } => {
                self.nature.may_wait |= *volatile && !written;
                self.nature.acts |= written;
                self.expr(*address, depth);
            }
        }
    }

    fn expr(&mut self, expr: ExprId, depth: u32) {
        if depth > DEEPEST {
            return;
        }
        let depth = depth + 1;
        match &self.code.expr(expr).kind {
            Expr::Int(_) | Expr::Float(_) | Expr::Builtin(_) | Expr::VariableAddress(_) | Expr::ObjectAddress(_) => {}
            Expr::Read(place) => self.place(place, false, depth),
            Expr::Write(place, value) => {
                self.expr(*value, depth);
                self.place(place, true, depth);
            }
            Expr::Update { place, value, .. } => {
                self.expr(*value, depth);
                self.place(place, true, depth);
            }
            Expr::Offset { base, index, .. } => {
                self.expr(*base, depth);
                self.expr(*index, depth);
            }
            Expr::Unary(_, a) | Expr::Not(a) | Expr::Convert(a) | Expr::Leaves { of: a, .. } => self.expr(*a, depth),
            Expr::Binary(_, a, b) | Expr::And(a, b) | Expr::Or(a, b) => {
                self.expr(*a, depth);
                self.expr(*b, depth);
            }
            Expr::Select(a, b, c) => {
                self.expr(*a, depth);
                self.expr(*b, depth);
                self.expr(*c, depth);
            }
            Expr::Aggregate(parts) | Expr::Sequence(parts) => {
                for &part in parts {
                    self.expr(part, depth);
                }
            }
            Expr::Opaque { children, effect } => {
                self.nature.may_wait |= matches!(effect, Effect::Call { .. } | Effect::Anything);
                self.nature.may_leave |= *effect == Effect::Anything;
                self.nature.acts |= !matches!(effect, Effect::Pure(_) | Effect::None);
                for &part in children {
                    self.expr(part, depth);
                }
            }
            Expr::Call(function, arguments) => {
                for &argument in arguments {
                    self.expr(argument, depth);
                }
                if !self.callees || self.seen.contains(function) {
                    return;
                }
                if self.calls >= 6 {
                    self.nature = Nature { may_wait: true, may_leave: true, has_barrier: true, acts: true };
                } else if let Some(callee) = self.code.functions.get(*function) {
                    self.seen.insert(*function);
                    self.calls += 1;
                    self.block(&callee.body, depth);
                    self.calls -= 1;
                }
            }
            Expr::Intrinsic(intrinsic, operands) => {
                self.nature.may_wait |= matches!(
                    intrinsic,
                    Intrinsic::Atomic { .. }
                        | Intrinsic::Fence(_)
                        | Intrinsic::BarrierObjectWait
                        | Intrinsic::LoadCached
                );
                self.nature.may_leave |= matches!(intrinsic, Intrinsic::Exit | Intrinsic::Assume);
                self.nature.acts |= !matches!(
                    intrinsic,
                    Intrinsic::Min | Intrinsic::Max | Intrinsic::Abs | Intrinsic::Bits(_) | Intrinsic::FloatMath(_)
                );
                self.nature.has_barrier |= matches!(
                    intrinsic,
                    Intrinsic::BlockBarrier
                        | Intrinsic::BlockVote(_)
                        | Intrinsic::NamedBarrier
                        | Intrinsic::GridBarrier
                        | Intrinsic::WarpBarrier
                        | Intrinsic::UnknownBarrier
                        | Intrinsic::TileBarrier(_)
                        | Intrinsic::CoalescedBarrier
                        | Intrinsic::BarrierObjectWait
                        | Intrinsic::Shuffle { .. }
                        | Intrinsic::WarpVote { .. }
                        | Intrinsic::BlockPrimitive
                        | Intrinsic::WarpPrimitive
                        | Intrinsic::TileLoad
                        | Intrinsic::TileStore
                );
                for &operand in operands {
                    self.expr(operand, depth);
                }
            }
            Expr::Statements(block, value) => {
                self.block(block, depth);
                if let Some(value) = value {
                    self.expr(*value, depth);
                }
            }
        }
    }
}
