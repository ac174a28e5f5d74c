//! Functions being lowered, with their local names.

use super::state::{Lowerer, Meaning};
use crate::ir::{LocalId, Space, TypeId, Variable};
use crate::name::Name;
use cudalint_syntax::Span;

/// A mark to leave a scope by.
#[derive(Clone, Copy)]
pub(crate) struct ScopeMark {
    undo: usize,
    /// Where the scope around begins.
    around: usize,
}

impl Lowerer<'_> {
    /// Begins a scope of the innermost function.
    pub(super) fn open_scope(&mut self) -> ScopeMark {
        let Some(frame) = self.frames.last_mut() else { return ScopeMark { undo: 0, around: 0 } };
        let undo = frame.undo.len();
        ScopeMark { undo, around: std::mem::replace(&mut frame.scope, undo) }
    }

    /// Whether the innermost scope has declared a name: no other declaration of it may stand there.
    pub(super) fn is_declared_here(&self, name: &str) -> bool {
        let Some(frame) = self.frames.last() else { return false };
        let here = frame.undo.get(frame.scope..).unwrap_or(&[]);
        here.iter().any(|(declared, _)| declared == name) && matches!(frame.names.get(name), Some(Meaning::Local(_)))
    }

    /// Ends it: names mean again what they meant before.
    pub(super) fn close_scope(&mut self, mark: ScopeMark) {
        let Some(frame) = self.frames.last_mut() else { return };
        frame.scope = mark.around;
        while frame.undo.len() > mark.undo {
            if let Some((name, before)) = frame.undo.pop() {
                match before {
                    Some(meaning) => frame.names.insert(name, meaning),
                    None => frame.names.remove(&name),
                };
            }
        }
    }

    /// Gives a name a meaning until the scope ends.
    pub(super) fn bind(&mut self, name: Name, meaning: Meaning) {
        if let Some(frame) = self.frames.last_mut() {
            frame.bind(name, meaning);
        }
    }

    /// Makes a local variable; its name is visible from here on.
    pub(super) fn declare(&mut self, name: Name, ty: TypeId, space: Space, is_constexpr: bool, span: Span) -> LocalId {
        let Some(frame) = self.frames.last_mut() else { return LocalId(0) };
        let id = frame.locals.next_key();
        frame.locals.push(Variable {
            name: name.clone(),
            scope: crate::ir::Path::default(),
            ty,
            space,
            init: None,
            is_constexpr,
            span,
        });
        if !name.is_empty() {
            frame.bind(name, Meaning::Local(id));
        }
        id
    }

    /// The local of a number, for setting its initializer.
    pub(super) fn local_mut(&mut self, id: LocalId) -> Option<&mut Variable> {
        self.frames.last_mut()?.locals.get_mut(id)
    }

    /// What a name means in the innermost function or, for lambdas, in those around it.
    pub(super) fn lookup(&self, text: &str) -> Option<Meaning> {
        for frame in self.frames.iter().rev() {
            if let Some(meaning) = frame.names.get(text) {
                return Some(*meaning);
            }
            if !frame.is_lambda {
                return None;
            }
        }
        None
    }

    /// The variable that a name means; from outside a lambda it is noted as captured, and is no local of the lambda.
    pub(super) fn lookup_variable(&mut self, text: &str) -> Option<LocalId> {
        let innermost = self.frames.last()?;
        match innermost.names.get(text) {
            Some(Meaning::Local(id)) => return Some(*id),
            Some(_) => return None,
            None if !innermost.is_lambda => return None,
            None => {}
        }
        let mut found = None;
        for (depth, frame) in self.frames.iter().enumerate().rev() {
            if let Some(meaning) = frame.names.get(text) {
                if let Meaning::Local(id) = meaning {
                    found = Some((depth, *id));
                }
                break;
            }
            if !frame.is_lambda {
                break;
            }
        }
        let (depth, id) = found?;
        let name = self.name(text);
        for (at, frame) in self.frames.iter_mut().enumerate().skip(depth + 1) {
            if !frame.captures.iter().any(|(captured, _)| *captured == name) {
                frame.captures.push((name.clone(), (at == depth + 1).then_some(id)));
            }
        }
        None
    }
}
