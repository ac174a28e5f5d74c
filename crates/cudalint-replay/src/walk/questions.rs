//! What conditions ask: whose memory a pointer leads to, directly or by what a call found out about it, and whether the device
//! reaches all memory of the host.

use super::Out;
use super::Walker;
use crate::facts::{BufferId, Origin, Question};
use crate::host::ObjId;
use crate::memory::Place;
use crate::value::Kind;
use cudalint_program::api::is_pageable_access;
use cudalint_program::ir::{BinaryOp, Expr, ExprId, UnaryOp};

/// How deep a condition's parts are looked at.
const MAX_PARTS: u32 = 8;

/// What an expression asks.
#[derive(Default)]
struct Asked {
    /// The memory that its variables point to.
    own: Vec<Question>,
    /// What its names ask, and what its variables were found out from.
    found_out: Vec<Question>,
}

impl Walker<'_> {
    /// Runs what stands under a condition; what that asks is noted as long as it stays undecided.
    pub(super) fn asking<R>(&mut self, condition: ExprId, run: impl FnOnce(&mut Self) -> R) -> R {
        let asked = if self.is_reporting() { self.asked_by_condition(condition, 0) } else { Vec::new() };
        let before =
            self.frames.last().map_or((0, 0, 0), |frame| (frame.undecided, frame.questions.len(), frame.choices.len()));
        if let Some(frame) = self.frames.last_mut() {
            frame.questions.extend(asked);
        }
        let result = run(self);
        // Where one side has left, the other goes on under the condition.
        if let Some(frame) = self.frames.last_mut().filter(|frame| frame.undecided <= before.0) {
            frame.questions.truncate(before.1);
            frame.choices.truncate(before.2);
        }
        result
    }

    /// A test for null says nothing of whose memory it is.
    fn asked_by_condition(&mut self, condition: ExprId, depth: u32) -> Vec<Question> {
        match self.kind(condition) {
            Some(Expr::AndThen(a, b) | Expr::OrElse(a, b)) if depth < MAX_PARTS => {
                let mut asked = self.asked_by_condition(*a, depth + 1);
                asked.extend(self.asked_by_condition(*b, depth + 1));
                asked
            }
            Some(Expr::Unary(UnaryOp::Not, value) | Expr::Cast { value, .. }) if depth < MAX_PARTS => {
                self.asked_by_condition(*value, depth + 1)
            }
            Some(Expr::Binary(BinaryOp::Eq | BinaryOp::Ne, a, b)) if self.is_null(*a) || self.is_null(*b) => {
                let tested = if self.is_null(*a) { *b } else { *a };
                if self.is_plain(tested) { self.found_out_by(tested) } else { self.asked_by(tested) }
            }
            Some(Expr::Local(_) | Expr::Name { .. } | Expr::Member { .. }) => self.found_out_by(condition),
            _ => self.asked_by(condition),
        }
    }

    fn is_null(&self, expr: ExprId) -> bool {
        matches!(self.kind(expr), Some(Expr::Null | Expr::Int { value: 0, .. }))
    }

    /// What the variables in an expression were found out from.
    fn found_out_by(&mut self, expr: ExprId) -> Vec<Question> {
        let Asked { own, mut found_out } = self.asked_in(expr);
        found_out.retain(|question| !own.contains(question));
        found_out
    }

    /// All that an expression reads the address of, and what the variables in it were found out from.
    fn asked_by(&mut self, expr: ExprId) -> Vec<Question> {
        let Asked { mut own, found_out } = self.asked_in(expr);
        own.extend(found_out);
        own
    }

    fn asked_in(&mut self, expr: ExprId) -> Asked {
        let mut asked = Asked::default();
        let variables = self.variables_in(expr, &mut asked.found_out);
        let mut pointers = Vec::new();
        for id in variables {
            self.memory.get(id).pointers(&[], &mut pointers);
            asked.found_out.extend(self.found_out.get(&id).into_iter().flatten());
        }
        asked.own = pointers.into_iter().map(|id| Question::Memory(BufferId(id.0))).collect();
        asked
    }

    /// The variables that an expression names, and the questions that its names ask.
    fn variables_in(&mut self, expr: ExprId, asked: &mut Vec<Question>) -> Vec<ObjId> {
        let (mut locals, mut names) = (Vec::new(), Vec::new());
        cudalint_program::visit::walk_expr(self.module(), expr, |_, kind| {
            match kind {
                Expr::Local(local) => locals.push(*local),
                Expr::Name { path, .. } => names.extend(path.last().cloned()),
                Expr::Member { name, .. } => names.push(name.clone()),
                _ => {}
            }
            true
        });
        if names.iter().any(|name| is_pageable_access(name)) {
            asked.push(Question::Pageable);
        }
        let mut places: Vec<Place> = locals.into_iter().filter_map(|local| Some(self.local_place(local)?.0)).collect();
        places.extend(names.iter().filter_map(|name| Some(self.captured(name)?.0)));
        let objects = places.into_iter().filter_map(|place| match place {
            Place::Cell(id, _) | Place::Weak(id, _) => Some(id),
            _ => None,
        });
        objects.collect()
    }

    /// A call that is not followed may tell through its arguments what it found out about the others.
    pub(super) fn finds_out(&mut self, exprs: &[ExprId], outs: &[Out]) {
        if !self.is_reporting() {
            return;
        }
        let told: Vec<ObjId> = outs
            .iter()
            .filter_map(|out| match &out.val.kind {
                Kind::Ptr(pointer) => Some(pointer.obj),
                _ => None,
            })
            .filter(|id| self.memory.get(*id).info.origin == Origin::Local && !self.memory.get(*id).info.array)
            .collect();
        if told.is_empty() {
            return;
        }
        let mut asked = Vec::new();
        for expr in exprs {
            asked.extend(self.asked_by(*expr));
        }
        asked.retain(|question| !told.iter().any(|id| *question == Question::Memory(BufferId(id.0))));
        for id in told {
            self.note_found_out(id, &asked);
        }
    }

    /// A variable gets a value that a call gives, and that nobody knows.
    pub(super) fn finds_out_by(&mut self, place: &Place, value: ExprId, known: bool) {
        if let Place::Cell(id, _) = place
            && !known
            && self.is_reporting()
            && !self.is_plain(value)
        {
            let asked = self.asked_by(value);
            self.note_found_out(*id, &asked);
        }
    }

    fn note_found_out(&mut self, id: ObjId, asked: &[Question]) {
        if asked.is_empty() {
            return;
        }
        let noted = self.found_out.entry(id).or_default();
        for question in asked {
            if !noted.contains(question) {
                noted.push(*question);
            }
        }
    }
}
