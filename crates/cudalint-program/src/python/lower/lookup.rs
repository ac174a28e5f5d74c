//! What names mean. A function's frame collects what it binds and where names are used; its end turns uses of bound names into
//! locals and hands the others on to the function around.

use super::Lowerer;
use super::scopes::{Bound, ClassScope, ComprehensionMark, Frame, Meaning, Outer};
use crate::ir::{Expr, ExprId, FunctionId, LocalId, Path, Space, Variable};
use cudalint_syntax::Span;
use rustc_hash::FxHashMap;

impl<'t> Lowerer<'t> {
    /// The class whose body is being read right here, not in a function inside it.
    pub(super) fn class(&mut self) -> Option<&mut ClassScope<'t>> {
        let depth = self.around.len();
        self.classes.last_mut().filter(|class| class.depth == depth)
    }

    pub(super) fn variable(&mut self, text: &'t str, span: Span) -> Variable {
        Variable {
            name: self.name(text),
            scope: Path::default(),
            ty: self.auto,
            space: Space::Ordinary,
            init: None,
            is_constexpr: false,
            span,
        }
    }

    /// A name where its value is used.
    pub(super) fn name_use(&mut self, text: &'t str, span: Span) -> ExprId {
        if let Some((_, local)) = self.frame.comprehension.iter().rev().find(|(name, _)| *name == text) {
            let local = *local;
            return self.push(Expr::Local(local), span);
        }
        if self.class().is_some_and(|class| class.names.contains(text)) {
            return self.class_name(text, span);
        }
        let path = self.single(text);
        if self.frame.is_module {
            return self.push(Expr::Name { path, targs: Vec::new().into() }, span);
        }
        match self.frame.outer.iter().find(|(name, _)| *name == text) {
            Some((_, Outer::Global)) => return self.push(Expr::Name { path, targs: Vec::new().into() }, span),
            Some((_, Outer::Nonlocal)) => {
                self.frame.pending.push((None, text));
                return self.push(Expr::Name { path, targs: Vec::new().into() }, span);
            }
            None => {}
        }
        if let Some(slot) = self.frame.bound.get(text).and_then(|bound| bound.slot) {
            return self.push(Expr::Local(LocalId(slot)), span);
        }
        let id = self.push(Expr::Name { path, targs: Vec::new().into() }, span);
        self.frame.pending.push((Some(id), text));
        id
    }

    fn class_name(&mut self, text: &'t str, span: Span) -> ExprId {
        let name = self.name(text);
        let path = self.class().map(|class| class.path.within(name)).unwrap_or_default();
        self.push(Expr::Name { path, targs: Vec::new().into() }, span)
    }

    /// Binds a name where the code that is being read stands.
    pub(super) fn bind(&mut self, text: &'t str, span: Span, meaning: Meaning, value: Option<ExprId>) {
        if let Some(class) = self.class() {
            class.names.insert(text);
            return;
        }
        let variable = matches!(meaning, Meaning::Nothing | Meaning::Other);
        match self.frame.outer.iter().find(|(name, _)| *name == text) {
            Some((_, Outer::Global)) => return self.bind_global(text, span, Meaning::Other, None, true),
            Some((_, Outer::Nonlocal)) => return self.frame.pending.push((None, text)),
            None => {}
        }
        if self.frame.is_module {
            return self.bind_global(text, span, meaning, value, variable);
        }
        if let Some(bound) = self.frame.bound.get_mut(text) {
            let other = std::mem::replace(bound, Bound { slot: None, meaning, value, bindings: 1 });
            let joined = self.join(&other, meaning, value);
            self.frame.bound.insert(text, joined);
            return;
        }
        let slot = Some(self.frame.locals.len() as u32);
        let variable = self.variable(text, span);
        self.frame.locals.push(variable);
        self.frame.bound.insert(text, Bound { slot, meaning, value, bindings: 1 });
    }

    fn bind_global(&mut self, text: &'t str, span: Span, meaning: Meaning, value: Option<ExprId>, is_variable: bool) {
        let module = self.around.first().map_or(&self.frame, |frame| frame);
        let before = module.bound.get(text).cloned();
        let mut slot = before.as_ref().and_then(|bound| bound.slot);
        if slot.is_none() && is_variable {
            slot = Some(self.module.globals.len() as u32);
            let variable = self.variable(text, span);
            self.module.globals.push(variable);
        }
        let mut bound = match before {
            Some(before) => self.join(&before, meaning, value),
            None => Bound { slot, meaning, value, bindings: 1 },
        };
        bound.slot = slot;
        let module = self.around.first_mut().unwrap_or(&mut self.frame);
        module.bound.insert(text, bound);
    }

    /// What two bindings of a name say together.
    fn join(&self, before: &Bound, meaning: Meaning, value: Option<ExprId>) -> Bound {
        let same = |a: u32, b: u32| {
            let import = |at: u32| self.module.imports.get(at as usize).map(|import| (&import.path, import.level));
            import(a) == import(b)
        };
        let meaning = match (before.meaning, meaning) {
            (Meaning::Nothing, other) | (other, Meaning::Nothing) => other,
            (Meaning::Import(a), Meaning::Import(b)) if same(a, b) => Meaning::Import(a),
            (Meaning::Function(function), Meaning::Other) if before.bindings == 1 => {
                value.map_or(Meaning::Other, |value| Meaning::Remade(function, value))
            }
            _ => Meaning::Other,
        };
        Bound { slot: before.slot, meaning, value: None, bindings: before.bindings + 1 }
    }

    /// A name that is bound here, as the target of an assignment.
    pub(super) fn name_target(&mut self, text: &'t str, span: Span, meaning: Meaning, value: Option<ExprId>) -> ExprId {
        self.bind(text, span, meaning, value);
        if self.class().is_some() {
            return self.class_name(text, span);
        }
        if !self.frame.is_module
            && let Some(slot) = self.frame.bound.get(text).and_then(|bound| bound.slot)
        {
            return self.push(Expr::Local(LocalId(slot)), span);
        }
        let path = self.single(text);
        self.push(Expr::Name { path, targs: Vec::new().into() }, span)
    }

    /// A variable of a comprehension.
    pub(super) fn comprehension_target(&mut self, text: &'t str, span: Span) -> ExprId {
        let local = self.frame.locals.next_key();
        let variable = self.variable(text, span);
        self.frame.locals.push(variable);
        self.frame.inner.push(local);
        self.frame.comprehension.push((text, local));
        self.push(Expr::Local(local), span)
    }

    pub(super) fn open_comprehension(&self) -> ComprehensionMark {
        ComprehensionMark(self.frame.comprehension.len())
    }

    pub(super) fn close_comprehension(&mut self, mark: ComprehensionMark) {
        self.frame.comprehension.truncate(mark.0);
    }

    /// Begins a function inside the one that is being read.
    pub(super) fn open_function(&mut self, function: FunctionId) {
        let outer = std::mem::replace(&mut self.frame, Frame::new(function, false));
        self.around.push(outer);
        self.bound.push(FxHashMap::default());
        self.free.push(Vec::new());
    }

    /// Ends it: uses of its own names become locals, and the function around learns of the others. Gives what is left of
    /// its frame, and whether it uses variables of a comprehension around it.
    pub(super) fn close_function(&mut self) -> (Frame<'t>, Vec<(&'t str, LocalId)>) {
        let Some(outer) = self.around.pop() else {
            return (Frame::new(FunctionId(0), true), Vec::new());
        };
        let mut frame = std::mem::replace(&mut self.frame, outer);
        let mut free: Vec<&'t str> = Vec::new();
        for (id, name) in std::mem::take(&mut frame.pending) {
            let declared = frame.outer.iter().find(|(outer, _)| *outer == name).map(|(_, outer)| *outer);
            match (declared, frame.bound.get(name).and_then(|bound| bound.slot)) {
                (Some(Outer::Global), _) => {}
                (None, Some(slot)) => {
                    let node = id.and_then(|id| self.module.exprs.get_mut(id));
                    if let Some(node) = node {
                        node.kind = Expr::Local(LocalId(slot));
                    }
                }
                _ => free.push(name),
            }
        }
        free.sort_unstable();
        free.dedup();
        let mut taken = Vec::new();
        for name in &free {
            if let Some((_, local)) = self.frame.comprehension.iter().rev().find(|(inner, _)| inner == name) {
                taken.push((*name, *local));
            } else if !self.frame.is_module {
                self.frame.pending.push((None, name));
            }
        }
        let index = frame.function;
        if let Some(slot) = self.free.get_mut(index) {
            *slot = free;
        }
        if let Some(slot) = self.bound.get_mut(index) {
            *slot = std::mem::take(&mut frame.bound);
        }
        (frame, taken)
    }

    /// Says of each function which variables of functions around it uses. Those around come first in the list.
    pub(super) fn settle_captures(&mut self) {
        for index in self.module.functions.keys().skip(1) {
            let Some(free) = self.free.get_mut(index).map(std::mem::take) else { continue };
            let Some(parent) = self.module.functions.get(index).and_then(|function| function.parent) else { continue };
            for text in free {
                let name = self.name(text);
                let captured = |function: FunctionId| {
                    let function = self.module.functions.get(function);
                    function.is_some_and(|function| function.captures.iter().any(|(other, _)| *other == name))
                };
                if captured(index) {
                    continue;
                }
                let is_module = Some(parent) == self.module.body;
                let slot = self.bound.get(parent).and_then(|bound| bound.get(text)?.slot);
                let local = match slot {
                    Some(slot) if !is_module => Some(LocalId(slot)),
                    _ if captured(parent) => None,
                    _ => continue,
                };
                if let Some(function) = self.module.functions.get_mut(index) {
                    function.captures.push((name, local));
                }
            }
        }
    }

    /// Gives each global that is assigned once in the whole file, outside loops, its value.
    pub(super) fn initialize_globals(&mut self, bound: &FxHashMap<&'t str, Bound>) {
        for bound in bound.values().filter(|bound| bound.bindings == 1) {
            let global = bound.slot.and_then(|slot| self.module.globals.get_mut(slot as usize));
            if let Some(global) = global {
                global.init = bound.value;
            }
        }
    }
}
