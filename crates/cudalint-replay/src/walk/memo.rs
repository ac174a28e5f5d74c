//! Calls that leave no trace: a function that is given plain values, reports nothing and touches nothing of its caller's
//! does the same at each call, so that it is walked once.
//!
//! Helpers that look for files or read the command line are called from everywhere, and make up a good part of all
//! steps. What such a walk found depends on its arguments and on a few bounds alone; it is used again, in any module's
//! walks, only where all of these are as they were, and costs the steps of the budget that it took.

use super::caches::Standard;
use super::{MAX_DEPTH, Out, Walker};
use crate::memory::Asked;
use crate::ty::{Argument, Env, Ty};
use crate::val::{Int, Kind, Val};
use crate::value::{Assumptions, Quantity};
use cudalint_program::ir::{Expr, ExprId, Function, FunctionId, ModuleId, Type, TypeId};
use cudalint_program::visit::{Item, walk};
use std::rc::Rc;
use std::sync::Arc;

/// Most walks of one function that are kept.
const MAX_KEPT: usize = 40;

/// A value that points to nothing of the walk and names no symbol.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plain {
    kind: PlainKind,
    why: Assumptions,
}

#[derive(Clone, Debug, PartialEq)]
enum PlainKind {
    Unknown,
    Null,
    Status,
    Success(bool),
    Flag(bool),
    Int {
        value: Option<i64>,
        bytes: u8,
        signed: bool,
    },
    Float(u64),
    /// A string literal: which one it is makes no difference, but that some are the same may. By the number of the first
    /// argument that is this string.
    Str(usize),
    /// Something that is only printed.
    Printed,
}

/// One walk of a function.
#[derive(Debug)]
pub(super) struct Walked {
    key: Key,
    /// String literals that the walk met: an argument that is one of them could be told from others.
    literals: Vec<Arc<str>>,
    /// Functions entered, and whether they were walked to their ends.
    entered: Vec<(ModuleId, FunctionId, bool)>,
    /// What was asked of memory that would have changed objects outside, had there been any to change.
    asked: Asked,
    /// The same on paths that nothing came of.
    aside: Asked,
    /// Steps taken, of how many that were left.
    steps: u32,
    steps_left: u32,
    /// By how much fewer and by how much more steps could have been left without changing anything.
    slack: i64,
    room: i64,
    iterations: u32,
    /// How deep it went.
    depth: u32,
    atoms: u32,
    /// Types whose sizes became symbols, in order.
    sized: Vec<Box<str>>,
    value: Plain,
}

/// What a walk depends on.
#[derive(Clone, Debug, PartialEq)]
struct Key {
    iterations: u32,
    frames: usize,
    loops_inside: u32,
    dry: bool,
    silent: bool,
    banned: Vec<String>,
    template: Vec<PlainType>,
    arguments: Vec<Plain>,
}

/// A template argument that is a plain type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PlainType {
    Bool,
    Int { bytes: u8, signed: bool },
    Float { bytes: u8 },
}

/// A call of a function in sight.
#[derive(Clone, Copy)]
pub(super) struct Called<'c> {
    pub module: ModuleId,
    pub id: FunctionId,
    pub function: &'c Function,
    /// What its template parameters stand for.
    pub env: &'c Rc<Env>,
    pub args: &'c [Out],
}

/// What is known of a call.
pub(super) enum Recall {
    /// What it gives; its effects have happened.
    Known(Out),
    /// Nothing, but its walk may be kept.
    Unknown(Box<Watch>),
    /// Nothing.
    Nothing,
}

/// A walk of a function that may be kept.
pub(super) struct Watch {
    key: Key,
    strings: Vec<Arc<str>>,
    objects: u32,
    lowest: u32,
    asked: Asked,
    aside: Asked,
    /// Which objects were watched for escaping, and whether one had.
    escapes: (u32, bool),
    traces: u32,
    atoms: u32,
    sized: Option<Vec<Box<str>>>,
    steps: u32,
    slack: i64,
    room: i64,
    iterations: u32,
    deepest: u32,
    literals: usize,
    entered: usize,
    events: usize,
    conditions: usize,
    limits: u32,
}

impl Walker<'_> {
    /// What a call of a function depends on, with its string arguments, if its walk may leave no trace.
    fn key_of(&mut self, call: Called<'_>) -> Option<(Key, Vec<Arc<str>>)> {
        let Called { module, id, function, env, args } = call;
        let count = function.param_count as usize;
        if args.len() < count || self.ended || self.stopped.is_some() {
            return None;
        }
        let returns = self.project.module(module).types.get(function.returns);
        if !matches!(returns, Some(Type::Void)) && !self.is_by_value(module, env, function.returns) {
            return None;
        }
        let template = env.entries.iter().map(|(_, argument)| match argument {
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
                kind => plain(kind)?,
            };
            if !self.is_by_value(module, env, param.ty) {
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
            silent: self.silent > 0,
            banned: self.banned.clone(),
            template,
            arguments,
        };
        Some((key, strings))
    }

    /// What is known of a call, from another walk of the function.
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
            return Recall::Known(self.again(&walked, call));
        }
        if full {
            return Recall::Nothing;
        }
        let watch = Watch {
            key,
            strings,
            objects: self.memory.count(),
            lowest: std::mem::replace(&mut self.memory.lowest, u32::MAX),
            asked: std::mem::take(&mut self.memory.asked),
            aside: std::mem::take(&mut self.memory.aside),
            escapes: (self.memory.escaped.watched, std::mem::take(&mut self.memory.escaped.grown)),
            traces: self.traces,
            atoms: self.atoms.count().0,
            sized: self.atoms.sized.replace(Vec::new()),
            steps: self.steps,
            slack: std::mem::replace(&mut self.slack, i64::MAX),
            room: std::mem::replace(&mut self.room, i64::MAX),
            iterations: self.iterations_left,
            deepest: std::mem::replace(&mut self.deepest, self.depth),
            literals: self.literals.len(),
            entered: self.entered.len(),
            events: self.events.len(),
            conditions: self.conditions.len(),
            limits: self.limits.values().sum(),
        };
        self.memory.escaped.watched = watch.objects;
        self.watching += 1;
        Recall::Unknown(Box::new(watch))
    }

    /// Whether the bounds of a known walk are not narrower now, and nothing is there that it would have changed.
    fn serves(&self, walked: &Walked) -> bool {
        let more = i64::from(self.steps) - i64::from(walked.steps_left);
        self.steps > walked.steps
            && -more < walked.slack.saturating_sub(2)
            && more < walked.room.saturating_sub(2)
            && self.iterations_left > walked.iterations
            && self.depth + walked.depth + 1 < MAX_DEPTH
            && !self.frames.iter().any(|frame| {
                frame.function.is_some_and(|id| walked.entered.iter().any(|(m, f, _)| (*m, *f) == (frame.module, id)))
            })
            && self.memory.has_nothing_for(walked.asked)
            && self.memory.is_closed_for(walked.aside)
    }

    /// Does what a known walk did.
    fn again(&mut self, walked: &Walked, call: Called<'_>) -> Out {
        let more = i64::from(self.steps) - i64::from(walked.steps_left);
        self.slack = self.slack.min(walked.slack.saturating_add(more));
        self.room = self.room.min(walked.room.saturating_sub(more));
        self.steps -= walked.steps;
        self.iterations_left -= walked.iterations;
        self.deepest = self.deepest.max(self.depth + walked.depth);
        for name in &walked.sized {
            self.atoms.size_of(name);
        }
        self.atoms.skip(walked.atoms);
        self.memory.asked = self.memory.asked.with(walked.asked);
        self.memory.aside = self.memory.aside.with(walked.aside);
        self.visited.extend(walked.entered.iter().filter(|(.., ended)| *ended).map(|(m, f, _)| (*m, *f)));
        if self.watching > 0 {
            self.literals.extend(walked.literals.iter().cloned());
            self.entered.extend(walked.entered.iter().copied());
        }
        let returns = self.resolve_in(call.module, call.env, call.function.returns);
        Out::new(walked.value.val(), returns)
    }

    /// Keeps what has been watched, if it left no trace.
    pub(super) fn remember(&mut self, module: ModuleId, id: FunctionId, watch: Box<Watch>, out: &Out) {
        self.watching -= 1;
        let grown = self.memory.escaped.grown;
        let outside = grown || self.memory.lowest < watch.objects;
        let (asked, aside) = (self.memory.asked, self.memory.aside);
        let (slack, room, deepest) = (self.slack, self.room, self.deepest);
        self.memory.lowest = self.memory.lowest.min(watch.lowest);
        self.memory.asked = asked.with(watch.asked);
        self.memory.aside = aside.with(watch.aside);
        // Who watches around watches fewer objects: those that escaped may be its own.
        self.memory.escaped.watched = watch.escapes.0;
        self.memory.escaped.grown = watch.escapes.1 || (grown && watch.escapes.0 > 0);
        self.slack = slack.min(watch.slack);
        self.room = room.min(watch.room);
        self.deepest = deepest.max(watch.deepest);
        let literals = self.literals.get(watch.literals..).unwrap_or(&[]);
        let entered = self.entered.get(watch.entered..).unwrap_or(&[]);
        let sized = std::mem::replace(&mut self.atoms.sized, watch.sized).unwrap_or_default();
        for name in &sized {
            // Whoever watches around hears of it, too.
            if let Some(outer) = self.atoms.sized.as_mut().filter(|outer| !outer.contains(name)) {
                outer.push(name.clone());
            }
        }
        let none = !outside
            && self.traces == watch.traces
            && self.events.len() == watch.events
            && self.conditions.len() == watch.conditions
            && self.limits.values().sum::<u32>() == watch.limits
            && self.banned == watch.key.banned
            && !self.ended
            && self.stopped.is_none()
            && self.iterations_left > 0
            && !watch.strings.iter().any(|text| literals.contains(text));
        if none
            && out.place.is_none()
            && let Some(kind) = plain(&out.val.kind)
        {
            let mut literals = literals.to_vec();
            literals.sort_unstable();
            literals.dedup();
            let mut entered = entered.to_vec();
            entered.sort_unstable();
            entered.dedup();
            let walked = Walked {
                key: watch.key,
                literals,
                entered,
                asked,
                aside,
                steps: watch.steps - self.steps,
                steps_left: watch.steps,
                slack,
                room,
                iterations: watch.iterations - self.iterations_left,
                depth: deepest - self.depth,
                atoms: self.atoms.count().0 - watch.atoms,
                sized,
                value: Plain { kind, why: out.val.why.clone() },
            };
            self.caches.learned.walks.borrow_mut().entry((module, id)).or_default().push(Arc::new(walked));
        }
        if self.watching == 0 {
            self.literals.clear();
            self.entered.clear();
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
                && self.standard(name) == Standard::Pure
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
    fn is_by_value(&mut self, module: ModuleId, env: &Rc<Env>, ty: TypeId) -> bool {
        let types = &self.project.module(module).types;
        let mut current = ty;
        for _ in 0..3 {
            match types.get(current) {
                Some(Type::Qualified { ty, .. }) => current = *ty,
                Some(Type::Int { .. } | Type::Float { .. } | Type::Bool | Type::Pointer(_) | Type::Array(_, None)) => {
                    return true;
                }
                Some(Type::Named { args, .. }) if args.is_empty() => {
                    let ty = self.resolve_in(module, env, current);
                    return ty.is_scalar() && !matches!(ty, Ty::Ref(..));
                }
                _ => return false,
            }
        }
        false
    }
}

impl Plain {
    fn val(&self) -> Val {
        let kind = match &self.kind {
            PlainKind::Unknown | PlainKind::Str(_) | PlainKind::Printed => Kind::Unknown,
            PlainKind::Null => Kind::Null,
            PlainKind::Status => Kind::Status,
            PlainKind::Success(value) => Kind::Success(*value),
            PlainKind::Flag(value) => Kind::Flag(*value),
            PlainKind::Int { value, bytes, signed } => {
                Kind::Int(Int { q: value.map_or(Quantity::Unknown, Quantity::Known), bytes: *bytes, signed: *signed })
            }
            PlainKind::Float(bits) => Kind::Float(f64::from_bits(*bits)),
        };
        Val { kind, why: self.why.clone() }
    }
}

/// A value that points to nothing and names no symbol; strings are told apart by whoever asks.
fn plain(kind: &Kind) -> Option<PlainKind> {
    Some(match kind {
        Kind::Unknown => PlainKind::Unknown,
        Kind::Null => PlainKind::Null,
        Kind::Status => PlainKind::Status,
        Kind::Success(value) => PlainKind::Success(*value),
        Kind::Flag(value) => PlainKind::Flag(*value),
        Kind::Float(value) => PlainKind::Float(value.to_bits()),
        Kind::Int(Int { q: Quantity::Known(value), bytes, signed }) => {
            PlainKind::Int { value: Some(*value), bytes: *bytes, signed: *signed }
        }
        Kind::Int(Int { q: Quantity::Unknown, bytes, signed }) => {
            PlainKind::Int { value: None, bytes: *bytes, signed: *signed }
        }
        _ => return None,
    })
}
