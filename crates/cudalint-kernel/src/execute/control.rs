//! Statements: branches as masks of lanes, and how lanes leave what is around them.

use super::bits::Affine;
use super::lanes::{Lanes, MAYBE, Mask, OFF, SURE};
use super::machine::{BREAK_MAYBE, BREAK_SURE, CONTINUE_MAYBE, CONTINUE_SURE, Machine, RETURN_MAYBE, RETURN_SURE};
use super::scan::leaves;
use super::state::{Divergence, Guard, Open};
use super::value::{Data, KNOWN, Tags, Val};
use crate::code::{Block, Effect, ExprId, Stmt, StmtId};
use crate::report::OpenKind;

/// Deepest nesting of statements and expressions that is executed.
pub(super) const DEEPEST: u32 = 192;

/// How a condition parts the active lanes.
pub(super) struct Parting {
    /// Where it holds, or may hold.
    pub(super) yes: Mask,
    /// Where it does not hold, or may not.
    pub(super) no: Mask,
    /// Where nobody knows, at the level they came with.
    pub(super) unknown: Mask,
}

/// How lanes left what is around something that is running now.
pub(super) struct Aside {
    left: Vec<u8>,
    any: u8,
}

impl Machine<'_> {
    pub(super) fn run_block(&mut self, block: &Block) {
        for &stmt in block {
            if self.act.is_empty() {
                return;
            }
            self.run(stmt);
        }
    }

    fn run(&mut self, id: StmtId) {
        if self.depth >= DEEPEST {
            self.stop("nesting too deep");
            return;
        }
        self.depth += 1;
        self.spend(4);
        let code = self.code;
        match &code.stmt(id).kind {
            Stmt::Expr(expr) => {
                self.eval(*expr);
            }
            Stmt::Declare(variable) => {
                let lanes = self.act.count();
                let mut object = 0;
                if let Some(slot) = self.frames.last_mut().and_then(|frame| frame.slots.get_mut(*variable)) {
                    slot.value = Val::undefined();
                    slot.declared = lanes;
                    object = slot.object;
                }
                if let Some(local) = (object as usize)
                    .checked_sub(1)
                    .and_then(|index| self.objects.get_mut(index))
                    .and_then(|memory| memory.local.as_mut())
                {
                    local.unmake();
                    local.lanes = lanes;
                }
            }
            Stmt::Block(block) => self.run_block(block),
            Stmt::If { condition, then, otherwise } => self.run_if(id, *condition, then, otherwise),
            Stmt::Loop { condition, body_first, step, body } => {
                self.run_loop(id, *condition, *body_first, *step, body);
            }
            Stmt::Switch { value, cases } => self.run_switch(id, *value, cases),
            Stmt::Break => self.leave(BREAK_SURE, BREAK_MAYBE),
            Stmt::Continue => self.leave(CONTINUE_SURE, CONTINUE_MAYBE),
            Stmt::Return(value) => self.run_return(id, *value),
            Stmt::Opaque { exprs, blocks, effect } => self.run_opaque(id, exprs, blocks, *effect),
        }
        self.depth -= 1;
    }

    /// Parts the active lanes by a condition.
    pub(super) fn part(&self, condition: &Val) -> Parting {
        let none = || self.nobody.clone();
        match &condition.data {
            Data::Uniform(0, KNOWN) => Parting { yes: none(), no: self.act.clone(), unknown: none() },
            Data::Uniform(_, KNOWN) => Parting { yes: self.act.clone(), no: none(), unknown: none() },
            Data::Uniform(..) | Data::Undefined | Data::Aggregate(_) => {
                let maybe = self.act.as_may_active();
                Parting { yes: maybe.clone(), no: maybe, unknown: self.act.clone() }
            }
            Data::Lanes(bits, Tags::One(KNOWN)) => {
                match bits.affine().and_then(Affine::same) {
                    Some(0) => return Parting { yes: none(), no: self.act.clone(), unknown: none() },
                    Some(_) => return Parting { yes: self.act.clone(), no: none(), unknown: none() },
                    None => {}
                }
                let (bits, levels) = (bits.get(), self.act.levels());
                let mut yes = Lanes::any(self.n);
                let mut no = Lanes::any(self.n);
                for (((yes, no), &bit), &level) in yes.edit().iter_mut().zip(no.edit()).zip(bits).zip(levels) {
                    *yes = if bit != 0 { level } else { OFF };
                    *no = if bit == 0 { level } else { OFF };
                }
                Parting { yes: Mask::new(yes), no: Mask::new(no), unknown: none() }
            }
            Data::Lanes(_, Tags::One(_)) => {
                let maybe = self.act.as_may_active();
                Parting { yes: maybe.clone(), no: maybe, unknown: self.act.clone() }
            }
            Data::Lanes(bits, Tags::Each(tags)) => {
                let (bits, tags, levels) = (bits.get(), tags.get(), self.act.levels());
                let mut parts = [Lanes::any(self.n), Lanes::any(self.n), Lanes::any(self.n)];
                let [yes, no, unknown] = &mut parts;
                let (yes, no, unknown) = (yes.edit(), no.edit(), unknown.edit());
                for lane in 0..self.n {
                    let level = levels[lane];
                    (yes[lane], no[lane], unknown[lane]) = match (tags[lane] == KNOWN, bits[lane] != 0) {
                        (true, true) => (level, OFF, OFF),
                        (true, false) => (OFF, level, OFF),
                        _ => (level.min(MAYBE), level.min(MAYBE), level),
                    };
                }
                let [yes, no, unknown] = parts.map(Mask::new);
                Parting { yes, no, unknown }
            }
        }
    }

    /// Notes a condition that active lanes stand behind.
    pub(super) fn guard(&mut self, condition: ExprId, divergence: Divergence) {
        self.guards.push(Guard { site: self.code.expr(condition).site, divergence, open: None });
    }

    /// Notes that some lanes go another way here.
    pub(super) fn push_split(&mut self, at: ExprId, before: &Mask, here: &Mask) {
        if here.count() < before.count() || here.sure() < before.sure() {
            self.splits.push((self.code.expr(at).site, before.clone()));
        }
    }

    fn run_if(&mut self, id: StmtId, condition: ExprId, then: &Block, otherwise: &Block) {
        let mut value = self.eval(condition);
        self.decides(&value, |scan, code| scan.nature(code, id).computes());
        let entry = self.act.clone();
        if entry.is_empty() {
            return;
        }
        if let Some(name) = self.uniform_name(&value) {
            let goes_on = otherwise.is_empty() && leaves(self.code, then);
            value = self.answer(condition, name, !goes_on, OpenKind::Common).unwrap_or(value);
        }
        let known = if value.all_known() { None } else { self.answer_of_threads(condition, &value) };
        // What such threads leave in registers is as unknown as which threads they are.
        let diverged = known.as_ref().map(|_| (self.part(&value).unknown, self.scan.assigned(self.code, id)));
        let value = known.unwrap_or(value);
        let parting = self.part(&value);
        let (guards, splits) = (self.guards.len(), self.splits.len());
        let site = self.code.expr(condition).site;
        let varies = value.varies() || !parting.unknown.is_empty() || diverged.is_some();
        let unsure = !parting.unknown.is_empty();
        let assigned = if unsure { self.scan.assigned(self.code, id) } else { [].into() };
        let before = self.snapshot(&assigned);
        let open = unsure.then(|| self.open(condition, &value)).flatten();
        let gone = self.gone;
        if varies {
            let divergence = if unsure { self.divergence_of(condition, false, &entry) } else { Divergence::None };
            self.guard(condition, divergence);
            self.guards.last_mut().into_iter().for_each(|guard| guard.open = open);
        }
        if !parting.yes.is_empty() {
            self.push_split(condition, &entry, &parting.yes);
            self.act = parting.yes;
            self.run_block(then);
            self.splits.truncate(splits);
        }
        let after_then = self.snapshot(&assigned);
        if unsure {
            self.each_register(&assigned, |at, value| value.blended(&before[at], &parting.unknown));
        }
        if !parting.no.is_empty() && !otherwise.is_empty() && !self.stopped {
            self.push_split(condition, &entry, &parting.no);
            if unsure {
                let divergence = self.divergence_of(condition, true, &entry);
                if let Some(guard) = self.guards.get_mut(guards) {
                    guard.divergence = divergence;
                    guard.open = open.map(|open| Open { negated: true, ..open }.after(self.unguarded));
                }
            }
            self.act = parting.no;
            self.run_block(otherwise);
            self.splits.truncate(splits);
        }
        if unsure {
            self.each_register(&assigned, |at, value| value.agreed(&after_then[at], &parting.unknown));
        }
        if let Some((lanes, assigned)) = diverged {
            self.forget_registers(&assigned, &lanes);
        }
        self.guards.truncate(guards);
        self.act = self.restored(&entry);
        // Who went on did so because the condition said so.
        let then_leaves = leaves(self.code, then);
        if varies && (then_leaves || leaves(self.code, otherwise)) {
            let divergence = match unsure {
                false => Divergence::None,
                true if then_leaves && otherwise.is_empty() => self.divergence_of(condition, true, &entry),
                true => Divergence::Other,
            };
            self.guard(condition, divergence);
            let leaves = self.gone > gone;
            let gone = open.filter(|_| otherwise.is_empty());
            let gone = gone.map(|open| Open { negated: true, leaves, ..open }.after(self.unguarded));
            self.guards.last_mut().into_iter().for_each(|guard| guard.open = gone);
        }
        if self.act.count() < entry.count() {
            self.splits.push((site, entry));
        }
    }

    pub(super) fn clear_left(&mut self, bits: u8) {
        if self.left_any & bits != 0 {
            for left in &mut self.left {
                *left &= !bits;
            }
            self.left_any &= !bits;
        }
    }

    /// Takes bits out of how the lanes left.
    pub(super) fn set_aside(&mut self, bits: u8) -> Option<Aside> {
        if self.left_any & bits == 0 {
            return None;
        }
        let left = self.left.iter().map(|left| left & bits).collect();
        let any = self.left_any & bits;
        self.clear_left(bits);
        Some(Aside { left, any })
    }

    /// Puts bits back as they were set aside; what came of them meanwhile is forgotten.
    pub(super) fn put_back(&mut self, bits: u8, aside: Option<Aside>) {
        self.clear_left(bits);
        if let Some(aside) = aside {
            for (left, aside) in self.left.iter_mut().zip(&aside.left) {
                *left |= aside;
            }
            self.left_any |= aside.any;
        }
    }

    fn run_switch(&mut self, id: StmtId, value: ExprId, cases: &[(Option<i64>, Block)]) {
        const INNER: u8 = BREAK_SURE | BREAK_MAYBE;
        let subject = self.eval(value);
        self.seen_outside(&subject);
        let entry = self.act.clone();
        if entry.is_empty() {
            return;
        }
        let (guards, splits) = (self.guards.len(), self.splits.len());
        let outer = self.set_aside(INNER);
        if subject.varies() || subject.uniform().is_none() {
            self.guard(value, if subject.all_known() { Divergence::None } else { Divergence::Other });
        }
        let constants: Vec<i64> = cases.iter().filter_map(|(constant, _)| *constant).collect();
        let unknown =
            Mask::new(Lanes::from_fn(
                self.n,
                |lane| {
                    if subject.lane(lane).1 == KNOWN { OFF } else { entry.levels()[lane] }
                },
            ));
        let assigned = if unknown.is_empty() { [].into() } else { self.scan.assigned(self.code, id) };
        // For may-active lanes a case may come after any other, or none.
        self.forget_registers(&assigned, &unknown);
        let mut falling = self.nobody.clone();
        for (constant, body) in cases {
            let enters = Mask::new(Lanes::from_fn(self.n, |lane| {
                let level = entry.levels()[lane];
                match subject.lane(lane) {
                    (bits, KNOWN) => {
                        let here = constant.map_or_else(|| !constants.contains(&bits), |constant| constant == bits);
                        if here { level } else { OFF }
                    }
                    _ => level.min(MAYBE),
                }
            }));
            // Who fell through from a case above is still here; who has broken out is not.
            let mut here = self.restored(&falling.or(&enters));
            if !unknown.is_empty() {
                let levels = Lanes::from_fn(self.n, |lane| {
                    if unknown.levels()[lane] == OFF { here.levels()[lane] } else { unknown.levels()[lane].min(MAYBE) }
                });
                here = Mask::new(levels);
            }
            if self.stopped {
                break;
            }
            self.splits.truncate(splits);
            self.push_split(value, &entry, &here);
            self.act = here;
            if !self.act.is_empty() {
                self.run_block(body);
            }
            falling = self.act.clone();
        }
        self.forget_registers(&assigned, &unknown);
        if self.left_any & BREAK_MAYBE != 0 {
            let may_active = self.lanes_left(BREAK_MAYBE);
            let assigned = self.scan.assigned(self.code, id);
            self.forget_registers(&assigned, &may_active);
        }
        self.put_back(INNER, outer);
        self.guards.truncate(guards);
        self.splits.truncate(splits);
        self.act = self.restored(&entry);
    }

    fn run_return(&mut self, id: StmtId, value: Option<ExprId>) {
        let result = value.map(|value| self.eval(value));
        if self.act.is_empty() {
            return;
        }
        if self.frames.len() <= 1 {
            self.leave_kernel(self.code.stmt(id).site);
            return;
        }
        if let Some(result) = result {
            let may_active = if self.left_any & RETURN_MAYBE == 0 {
                self.nobody.clone()
            } else {
                Mask::new(Lanes::from_fn(self.n, |lane| {
                    if self.left[lane] & RETURN_MAYBE != 0 && self.act.levels()[lane] != OFF { SURE } else { OFF }
                }))
            };
            let here = self.act.clone();
            if let Some(frame) = self.frames.last_mut() {
                let earlier = frame.result.clone();
                let mut merged = if here.count() == frame.lanes { result } else { earlier.blended(&result, &here) };
                if !may_active.is_empty() {
                    merged = merged.agreed(&earlier, &may_active);
                }
                frame.result = merged;
            }
        }
        self.leave(RETURN_SURE, RETURN_MAYBE);
    }

    fn run_opaque(&mut self, id: StmtId, exprs: &[ExprId], blocks: &[Block], effect: Effect) {
        self.cause("statement not understood");
        self.unguarded += 1;
        let entry = self.act.clone();
        let assigned = self.scan.assigned(self.code, id);
        self.forget_registers(&assigned, &entry);
        for &expr in exprs {
            self.act = self.restored(&entry).as_may_active();
            if !self.act.is_empty() {
                self.eval(expr);
            }
        }
        for block in blocks {
            self.act = self.restored(&entry).as_may_active();
            if !self.act.is_empty() {
                self.run_block(block);
            }
        }
        self.forget_registers(&assigned, &entry);
        self.act = self.restored(&entry);
        self.suffer(effect, &[]);
    }
}
