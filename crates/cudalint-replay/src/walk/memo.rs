//! Calls whose walks are recorded and used again.
//!
//! Helpers that look for a file or read the command line are called from everywhere; walking them anew at each call made
//! up a good part of all steps. Such a helper is given plain values, reports nothing and touches nothing of its caller's,
//! so that all its calls with the same arguments go alike:
//!
//! ```text
//! int device = findDevice(argc, argv);    // Walked, and recorded: gives an unknown `int`, takes 310 steps.
//! int again = findDevice(argc, argv);     // Found: gives an unknown `int`, takes 310 steps.
//! ```
//!
//! [`Walker::recall`] is asked before a call is walked. It finds a recording with the same [`Key`] whose bounds hold now
//! ([`Walker::serves`]), or begins one; [`Walker::record`] keeps it behind the call, unless the walk left a *trace*: an
//! event, a condition of the path, a write to an object of the caller's. A recorded walk costs the steps that it took, so
//! that what is found does not hang on which call came first. Recordings serve the walks of all modules.

use super::recorded::{Key, Plain, PlainKind, PlainType, Recorded, Start};
use super::{Out, Walker};
use crate::memory::Asked;
use crate::value::Kind;
use cudalint_program::api::ApiId;
use cudalint_program::ir::{Expr, ExprId, Function, FunctionId, ModuleId, Type, TypeId};
use cudalint_program::types::{Argument, Ty, TypeEnv};
use cudalint_program::visit::{Item, walk};
use std::rc::Rc;
use std::sync::Arc;

/// Most walks of one function that are recorded.
const MAX_KEPT: usize = 40;

/// A call of a function in sight.
#[derive(Clone, Copy)]
pub(super) struct Called<'c> {
    pub module: ModuleId,
    pub id: FunctionId,
    pub function: &'c Function,
    /// What its template parameters stand for.
    pub env: &'c TypeEnv,
    pub args: &'c [Out],
}

/// What is known of a call.
pub(super) enum Recall {
    /// What it gives; its effects have happened.
    Known(Out),
    /// Nothing yet: its walk is to be recorded.
    Record(Box<Start>),
    /// Nothing, and its walk is of no use to others.
    Nothing,
}

impl Walker<'_> {
    /// What the walk of a call depends on, with the texts of its string arguments; none where an argument or the result
    /// cannot be compared with that of another call.
    fn key_of(&mut self, call: Called<'_>) -> Option<(Key, Vec<Arc<str>>)> {
        let Called { module, id, function, env, args } = call;
        let count = function.param_count as usize;
        if args.len() < count || self.ended || self.budget.stopped.is_some() {
            return None;
        }
        let returns = self.project.module(module).types.get(function.returns);
        if !matches!(returns, Some(Type::Void)) && !self.is_by_value(module, function, env, function.returns) {
            return None;
        }
        let template = env.iter().map(|(_, argument)| match argument {
            Argument::Type(Ty::Bool) => Some(PlainType::Bool),
            Argument::Type(Ty::Int { bytes, signed }) => Some(PlainType::Int { bytes: *bytes, signed: *signed }),
            Argument::Type(Ty::Float { bytes }) => Some(PlainType::Float { bytes: *bytes }),
            _ => None,
        });
        let template = template.collect::<Option<Vec<PlainType>>>()?;
        let printed = self.printed(module, id, function);
        let mut strings: Vec<Arc<str>> = Vec::new();
        let mut arguments = Vec::with_capacity(count);
        for (index, (out, param)) in args.iter().zip(function.locals.iter().take(count)).enumerate() {
            let only_printed = printed.get(index).copied().unwrap_or(false);
            let kind = match &out.val.kind {
                Kind::Str(_) | Kind::Int(_) | Kind::Unknown | Kind::Null if only_printed => PlainKind::Printed,
                Kind::Str(text) => {
                    let known = strings.iter().position(|known| known == text).unwrap_or(strings.len());
                    if known == strings.len() {
                        strings.push(Arc::clone(text));
                    }
                    PlainKind::Str(known)
                }
                kind => Plain::kind_of(kind)?,
            };
            if !self.is_by_value(module, function, env, param.ty) {
                return None;
            }
            let why = if kind == PlainKind::Printed { None } else { out.val.why.clone() };
            arguments.push(Plain { kind, why });
        }
        let key = Key {
            iterations: self.options.iterations,
            frames: self.frames.len(),
            loops_inside: self.loops_inside,
            dry: self.dry > 0,
            muted: self.log.muted > 0,
            excluded: self.path.excluded().to_vec(),
            template,
            arguments,
        };
        Some((key, strings))
    }

    /// What is known of a call from a recorded walk of the function; where that is nothing, a recording begins.
    pub(super) fn recall(&mut self, call: Called<'_>) -> Recall {
        let Some((key, strings)) = self.key_of(call) else { return Recall::Nothing };
        let caches = Rc::clone(&self.caches);
        let (known, full) = {
            let walks = caches.learned.walks.borrow();
            let walks = walks.get(&(call.module, call.id)).map_or(&[][..], Vec::as_slice);
            let known = walks.iter().find(|walked| {
                walked.key == key && self.serves(walked) && !strings.iter().any(|text| walked.literals.contains(text))
            });
            (known.cloned(), walks.len() >= MAX_KEPT)
        };
        if let Some(walked) = known {
            return Recall::Known(self.use_recorded(&walked, call));
        }
        if full {
            return Recall::Nothing;
        }
        let depth = self.budget.depth;
        let start = Start {
            key,
            strings,
            objects: self.memory.count(),
            lowest: std::mem::replace(&mut self.memory.lowest, u32::MAX),
            asked: std::mem::take(&mut self.memory.asked),
            asked_aside: std::mem::take(&mut self.memory.aside),
            escapes: (self.memory.escaped.watched, std::mem::take(&mut self.memory.escaped.grown)),
            traces: self.recording.traces,
            waits: self.recording.waits,
            atoms: self.atoms.count().0,
            sized: self.atoms.sized.replace(Vec::new()),
            steps: self.budget.steps,
            margins: std::mem::take(&mut self.recording.margins),
            iterations: self.iterations_left,
            deepest: std::mem::replace(&mut self.common.budget.deepest, depth),
            literals: self.recording.literals.len(),
            entered: self.recording.entered.len(),
            events: self.log.events.len(),
            conditions: self.path.known(),
            cut: self.budget.limits.values().sum(),
        };
        self.memory.escaped.watched = start.objects;
        self.recording.open += 1;
        Recall::Record(Box::new(start))
    }

    /// Whether a recorded walk would go the same way now: its steps, rounds and nesting fit into what is left, no function
    /// that it entered is being walked already (which would not be followed again), and there is no memory that it would
    /// have changed.
    fn serves(&self, walked: &Recorded) -> bool {
        let more = i64::from(self.budget.steps) - i64::from(walked.steps_left);
        self.budget.steps > walked.steps
            && walked.margins.allow(more)
            && self.iterations_left > walked.iterations
            && !self.budget.is_too_deep(walked.depth + 1)
            && !self.frames.iter().any(|frame| {
                frame.function.is_some_and(|id| walked.entered.iter().any(|(m, f, _)| (*m, *f) == (frame.module, id)))
            })
            && self.memory.has_nothing_for(walked.asked)
            && self.memory.is_closed_for(walked.asked_aside)
    }

    /// What a recorded walk did to the budget and to the counts, and what it gives.
    fn use_recorded(&mut self, walked: &Recorded, call: Called<'_>) -> Out {
        let more = i64::from(self.budget.steps) - i64::from(walked.steps_left);
        self.recording.margins = self.recording.margins.narrowed(walked.margins.shifted(more));
        self.budget.steps -= walked.steps;
        self.iterations_left -= walked.iterations;
        self.budget.deepest = self.budget.deepest.max(self.budget.depth + walked.depth);
        for name in &walked.sized {
            self.atoms.size_of(name);
        }
        self.atoms.skip(walked.atoms);
        if walked.asked != Asked::default() {
            self.anything_happens();
            if walked.asked.has(Asked::SHARED) {
                self.has_passed_over(&call.function.name);
            }
        } else if walked.waits {
            self.may_wait();
        }
        self.memory.asked = self.memory.asked.with(walked.asked);
        self.memory.aside = self.memory.aside.with(walked.asked_aside);
        self.visited.extend(walked.entered.iter().filter(|(.., ended)| *ended).map(|(m, f, _)| (*m, *f)));
        if self.recording.open > 0 {
            self.recording.literals.extend(walked.literals.iter().cloned());
            self.recording.entered.extend(walked.entered.iter().copied());
        }
        let returns = self.resolve_in(call.module, call.function, call.env, call.function.returns);
        Out::new(walked.value.val(), returns)
    }

    /// Ends a recording, and keeps it if the walk left no trace.
    pub(super) fn record(&mut self, module: ModuleId, id: FunctionId, start: Box<Start>, out: &Out) {
        self.recording.open -= 1;
        let grown = self.memory.escaped.grown;
        let outside = grown || self.memory.lowest < start.objects;
        let (asked, aside) = (self.memory.asked, self.memory.aside);
        let (margins, deepest) = (self.recording.margins, self.budget.deepest);
        self.memory.lowest = self.memory.lowest.min(start.lowest);
        self.memory.asked = asked.with(start.asked);
        self.memory.aside = aside.with(start.asked_aside);
        // The recording around is of a caller, whose own objects may be those that escaped.
        self.memory.escaped.watched = start.escapes.0;
        self.memory.escaped.grown = start.escapes.1 || (grown && start.escapes.0 > 0);
        self.recording.margins = margins.narrowed(start.margins);
        self.budget.deepest = deepest.max(start.deepest);
        let literals = self.recording.literals.get(start.literals..).unwrap_or(&[]);
        let entered = self.recording.entered.get(start.entered..).unwrap_or(&[]);
        let sized = std::mem::replace(&mut self.common.atoms.sized, start.sized).unwrap_or_default();
        for name in &sized {
            // The recording around has met them, too.
            if let Some(outer) = self.common.atoms.sized.as_mut().filter(|outer| !outer.contains(name)) {
                outer.push(name.clone());
            }
        }
        let traceless = !outside
            && self.recording.traces == start.traces
            && self.log.events.len() == start.events
            && self.path.known() == start.conditions
            && self.budget.limits.values().sum::<u32>() == start.cut
            && self.path.excluded() == start.key.excluded
            && !self.ended
            && self.budget.stopped.is_none()
            && self.iterations_left > 0
            && !start.strings.iter().any(|text| literals.contains(text));
        if traceless
            && out.place.is_none()
            && let Some(kind) = Plain::kind_of(&out.val.kind)
        {
            let mut literals = literals.to_vec();
            literals.sort_unstable();
            literals.dedup();
            let mut entered = entered.to_vec();
            entered.sort_unstable();
            entered.dedup();
            let walked = Recorded {
                key: start.key,
                literals,
                entered,
                asked,
                asked_aside: aside,
                waits: self.recording.waits != start.waits,
                steps: start.steps - self.budget.steps,
                steps_left: start.steps,
                margins,
                iterations: start.iterations - self.iterations_left,
                depth: deepest - self.budget.depth,
                atoms: self.atoms.count().0 - start.atoms,
                sized,
                value: Plain { kind, why: out.val.why.clone() },
            };
            self.caches.learned.walks.borrow_mut().entry((module, id)).or_default().push(Arc::new(walked));
        }
        if self.recording.open == 0 {
            self.recording.literals.clear();
            self.recording.entered.clear();
        }
    }
}

impl Walker<'_> {
    /// Which parameters of a function do nothing but being printed, by name of the standard library.
    fn printed(&self, module: ModuleId, id: FunctionId, function: &Function) -> Arc<[bool]> {
        if let Some(known) = self.caches.learned.printed.borrow().get(&(module, id)) {
            return Arc::clone(known);
        }
        let found: Arc<[bool]> = self.find_printed(module, function).into();
        self.caches.learned.printed.borrow_mut().insert((module, id), Arc::clone(&found));
        found
    }

    fn find_printed(&self, module: ModuleId, function: &Function) -> Vec<bool> {
        let code = self.project.module(module);
        let count = function.param_count as usize;
        let kind = |id: ExprId| code.exprs.get(id).map(|node| &node.kind);
        // Uses that do not print.
        let mut uses = vec![0_i32; count];
        let mut unclear = false;
        let mut note = |id: ExprId, by: i32, unclear: &mut bool| match kind(id) {
            Some(Expr::Local(local)) => {
                if let Some(uses) = uses.get_mut(local.index()) {
                    *uses += by;
                }
            }
            Some(Expr::Lambda { .. }) => *unclear = true,
            _ => {}
        };
        let Some(body) = &function.body else { return Vec::new() };
        walk(code, function, body, |item| {
            let Item::Expr(id) = item else { return true };
            note(id, 1, &mut unclear);
            if let Some(Expr::Call { callee, args }) = kind(id)
                && let Some(Expr::Name { path, .. }) = kind(*callee)
                && path.segments.len() == 1
                && let Some(name) = path.last()
                && name.ends_with("printf")
                && ApiId::named(name).is_some_and(|api| api.is_pure())
                && self.project.functions_named(name).is_empty()
            {
                for arg in args {
                    let mut inside = *arg;
                    while let Some(Expr::Cast { value, .. }) = kind(inside) {
                        inside = *value;
                    }
                    note(inside, -1, &mut unclear);
                }
            }
            true
        });
        // The length of an array may be a parameter, too.
        for local in function.locals.iter().skip(count) {
            let mut ty = local.ty;
            for _ in 0..6 {
                match code.types.get(ty) {
                    Some(Type::Array(of, length)) => {
                        unclear |= length.is_some_and(|length| !matches!(kind(length), Some(Expr::Int { .. })));
                        ty = *of;
                    }
                    Some(Type::Qualified { ty: inner, .. } | Type::Pointer(inner) | Type::Reference(inner)) => {
                        ty = *inner;
                    }
                    Some(Type::DeclType(_)) => unclear = true,
                    _ => break,
                }
            }
        }
        uses.into_iter().map(|uses| uses == 0 && !unclear).collect()
    }

    /// Whether a parameter of the type holds a number or a pointer of its own.
    fn is_by_value(&self, module: ModuleId, function: &Function, env: &TypeEnv, ty: TypeId) -> bool {
        let types = &self.project.module(module).types;
        let mut current = ty;
        for _ in 0..3 {
            match types.get(current) {
                Some(Type::Qualified { ty, .. }) => current = *ty,
                Some(Type::Int { .. } | Type::Float { .. } | Type::Bool | Type::Pointer(_) | Type::Array(_, None)) => {
                    return true;
                }
                Some(Type::Named { args, .. }) if args.is_empty() => {
                    let ty = self.resolve_in(module, function, env, current);
                    return ty.is_scalar() && !matches!(ty, Ty::Reference(..));
                }
                _ => return false,
            }
        }
        false
    }
}
