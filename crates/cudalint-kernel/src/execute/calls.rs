//! Calls: of functions in sight, and what those out of sight may have done.

use super::access::unknown_of;
use super::lanes::OFF;
use super::machine::{EXIT_MAYBE, EXIT_SURE, Machine};
use super::memory::{LocalCells, Meaning};
use super::state::{Frame, Slot};
use super::value::{Data, Val, object_of};
use crate::code::{Effect, ExprId, FunctionId, Ty, VariableId};
use crate::report::ObjectKind;
use std::rc::Rc;

/// How lanes left that concerns the caller too.
const KEPT: u8 = EXIT_SURE | EXIT_MAYBE;

impl Machine<'_> {
    /// Something out of sight ran.
    pub(super) fn suffer(&mut self, effect: Effect, values: &[Val]) {
        match effect {
            Effect::Pure(_) | Effect::None => {}
            Effect::Writes => {
                // It reaches what it is given, and what lies at namespace scope.
                let mut reached = Vec::new();
                let mut anywhere = false;
                for value in values {
                    self.reach(value, &mut reached, &mut anywhere);
                }
                self.lose_where(|id, kind| anywhere || kind == ObjectKind::Device || reached.contains(&id));
            }
            Effect::WritesAnywhere => self.lose_where(|_, _| true),
            Effect::Call { memory, discarded } => {
                // Another file's function sees what lies at namespace scope, and dynamic shared memory by any name.
                self.lose_where(|_, kind| memory || matches!(kind, ObjectKind::Device | ObjectKind::DynamicShared));
                self.complete = false;
                if self.may_wait(discarded) {
                    self.absences.clear();
                    self.new_interval();
                }
                self.warp_barrier();
                if memory {
                    self.acquire();
                }
            }
            Effect::Anything => {
                self.lose_where(|_, _| true);
                // It may have had barriers in it, and it may not come back.
                self.absences.clear();
                self.new_interval();
                self.acquire();
                self.complete = false;
                for (left, &level) in self.left.iter_mut().zip(self.act.levels()) {
                    if level != OFF {
                        *left |= EXIT_MAYBE;
                    }
                }
                self.left_any |= EXIT_MAYBE;
                self.unguarded += 1;
                self.gone += 1;
                self.act = self.act.as_may_active();
            }
        }
    }

    /// Whether a function out of sight may wait here for other threads of the block: not where some of them surely go another
    /// way. What is called for its effect alone may be a barrier of a few whole warps.
    fn may_wait(&self, discarded: bool) -> bool {
        if self.act.is_everyone() {
            return true;
        }
        let levels = self.act.levels();
        let absent = |lane: usize| levels[lane] == OFF && self.left[lane] & KEPT == 0;
        if !discarded {
            return !(0..self.n).any(absent);
        }
        !(0..self.n.div_ceil(32)).any(|warp| {
            let mut lanes = warp * 32..(warp * 32 + 32).min(self.n);
            lanes.clone().any(|lane| levels[lane] != OFF) && lanes.any(absent)
        })
    }

    /// Nobody knows any more what objects hold of which this is so, by number and kind.
    fn lose_where(&mut self, is_lost: impl Fn(u32, ObjectKind) -> bool) {
        for number in 0..self.living.len() {
            let index = self.living[number];
            if is_lost(index + 1, self.objects[index as usize].kind) {
                self.lose(index as usize, true);
                self.lose(index as usize, false);
            }
        }
    }

    fn reach(&self, value: &Val, reached: &mut Vec<u32>, anywhere: &mut bool) {
        match &value.data {
            Data::Aggregate(parts) => {
                for part in parts.iter() {
                    self.reach(part, reached, anywhere);
                }
            }
            Data::Uniform(bits, _) => {
                let id = object_of(*bits);
                if id as usize <= self.objects.len() && !reached.contains(&id) {
                    reached.push(id);
                }
            }
            Data::Lanes(bits, _) => {
                for (&bits, &level) in bits.get().iter().zip(self.act.levels()) {
                    let id = object_of(bits);
                    if level != OFF && reached.last() != Some(&id) && !reached.contains(&id) {
                        reached.push(id);
                    }
                }
            }
            Data::Undefined => *anywhere = true,
        }
    }

    pub(super) fn call(&mut self, id: ExprId, function: FunctionId, arguments: &[ExprId]) -> Val {
        let values: Vec<Val> = arguments.iter().map(|&argument| self.eval(argument)).collect();
        let code = self.code;
        let node = code.expr(id);
        let Some(callee) = code.functions.get(function) else {
            self.suffer(Effect::Anything, &values);
            return unknown_of(&node.ty);
        };
        if self.frames.len() as u32 > self.budget.calls {
            self.cause("calls too deep");
            self.suffer(Effect::Anything, &values);
            return unknown_of(&node.ty);
        }
        if self.act.is_empty() {
            return unknown_of(&node.ty);
        }
        let entry = self.act.clone();
        let lanes = entry.count();
        let slots =
            (0..callee.variables.len()).map(|_| Slot { value: Val::undefined(), declared: lanes, object: 0 }).collect();
        let living = self.living.len();
        self.frames.push(Frame { function, slots, result: Val::undefined(), lanes });
        for (number, value) in values.iter().enumerate().take(callee.parameters as usize) {
            self.set_parameter(VariableId(number as u32), value);
        }
        let calls = Rc::clone(&self.calls);
        self.calls = calls.iter().copied().chain([node.site]).collect();
        let guards = self.guards.len();
        let splits = self.splits.len();
        let outer = self.set_aside(!KEPT);
        self.run_block(&callee.body);
        self.put_back(!KEPT, outer);
        self.guards.truncate(guards);
        self.splits.truncate(splits);
        self.calls = calls;
        let result = self.frames.pop().map_or_else(Val::unknown, |frame| frame.result);
        // Its own variables are gone; their numbers are not used again.
        for index in self.living.drain(living..) {
            let memory = &mut self.objects[index as usize];
            if let Some(local) = &mut memory.local {
                *local = LocalCells::new(local.lanes);
            }
            memory.bytes = None;
        }
        self.act = self.restored(&entry);
        if matches!(result.data, Data::Undefined) { unknown_of(&node.ty) } else { result }
    }

    /// Gives a parameter of the newest frame its value.
    pub(super) fn set_parameter(&mut self, variable: VariableId, value: &Val) {
        let Some(info) = self
            .frames
            .last()
            .and_then(|frame| self.code.functions.get(frame.function))
            .and_then(|function| function.variables.get(variable))
        else {
            return;
        };
        if !info.in_memory {
            if let Some(slot) = self.frames.last_mut().and_then(|frame| frame.slots.get_mut(variable)) {
                slot.value = value.clone();
            }
            return;
        }
        let id = self.variable_object(variable);
        let lanes = self.act.count();
        let Some(local) =
            (id as usize).checked_sub(1).and_then(|index| self.objects.get_mut(index)).and_then(|m| m.local.as_mut())
        else {
            return;
        };
        local.lanes = lanes;
        let bytes = info.ty.bytes().unwrap_or(0);
        match (&info.ty, &value.data) {
            (Ty::Aggregate(layout), Data::Aggregate(parts)) if !layout.leaves.is_empty() => {
                let grain = layout.leaves.iter().filter_map(|leaf| leaf.ty.bytes()).min().unwrap_or(1).max(1);
                local.make(grain, (bytes / grain) as usize, Val::unknown(), Meaning::Unsigned);
                for (leaf, part) in layout.leaves.iter().zip(parts.iter()) {
                    if let Some(bytes) = leaf.ty.bytes() {
                        let meaning = Meaning::of(&leaf.ty);
                        local.change(i64::from(leaf.offset), bytes, meaning, |cell| *cell = part.clone());
                    }
                }
            }
            (Ty::Aggregate(_) | Ty::Opaque { .. } | Ty::Void, _) => {
                local.make(1, bytes.min(4096) as usize, Val::unknown(), Meaning::Unsigned);
            }
            _ => {
                local.make(bytes.max(1), 1, value.clone(), Meaning::of(&info.ty));
            }
        }
    }
}
