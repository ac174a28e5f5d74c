//! Imports.

use super::Lowerer;
use super::scopes::Meaning;
use crate::ir::{Block, FunctionId, Import, PythonStmt, Stmt};
use crate::name::Name;
use cudalint_syntax::kinds::{PythonKind, python_kind};
use cudalint_syntax::{Node, Span};

impl<'t> Lowerer<'t> {
    /// `import a.b`, `import a.b as c`.
    pub(super) fn import(&mut self, node: Node<'t>, out: &mut Block) {
        let first = self.module.imports.len();
        let children = self.children(node);
        for index in 0..children.len() {
            let Some(child) = self.child(children, index) else { continue };
            let Some((path, alias)) = self.imported(child) else { continue };
            let dotted = self.dotted(path);
            let root = self.text_of(path).split(['.', ' ']).next().unwrap_or("");
            let (local, path) = match alias {
                Some(alias) => (self.text_of(alias), dotted),
                None => (root, root.into()),
            };
            self.add_import(local, path, 0, false, Span::from(node));
        }
        self.release(children);
        self.import_stmt(first, node, out);
    }

    /// `from a import b as c`, `from . import b`, `from a import *`, `from __future__ import b`.
    pub(super) fn import_from(&mut self, node: Node<'t>, out: &mut Block) {
        let first = self.module.imports.len();
        let span = Span::from(node);
        let children = self.children(node);
        let mut at = 0;
        let (mut package, mut level) = (String::from("__future__"), 0);
        if python_kind(node) != PythonKind::FutureImportStatement {
            at = 1;
            (package, level) = self.child(children, 0).map(|module| self.package(module)).unwrap_or_default();
        }
        for index in at..children.len() {
            let Some(child) = self.child(children, index) else { continue };
            if python_kind(child) == PythonKind::WildcardImport {
                self.add_import("", package.as_str().into(), level, false, span);
                continue;
            }
            let Some((path, alias)) = self.imported(child) else { continue };
            let own = self.text_of(path);
            let local = alias.map_or(own, |alias| self.text_of(alias));
            let path = if package.is_empty() { own.into() } else { format!("{package}.{own}").into_boxed_str() };
            self.add_import(local, path, level, true, span);
        }
        self.release(children);
        self.import_stmt(first, node, out);
    }

    /// The package of a `from`, and how many dots stand before it.
    fn package(&mut self, module: Node<'t>) -> (String, u32) {
        if python_kind(module) != PythonKind::RelativeImport {
            return (self.dotted(module).into(), 0);
        }
        let children = self.children(module);
        let (mut package, mut level) = (String::new(), 0);
        for index in 0..children.len() {
            let Some(child) = self.child(children, index) else { continue };
            match python_kind(child) {
                PythonKind::ImportPrefix => level = self.text_of(child).matches('.').count() as u32,
                _ => package = self.dotted(child).into(),
            }
        }
        self.release(children);
        (package, level)
    }

    /// What a clause imports, and the name that it gets.
    fn imported(&mut self, clause: Node<'t>) -> Option<(Node<'t>, Option<Node<'t>>)> {
        match python_kind(clause) {
            PythonKind::DottedName => Some((clause, None)),
            PythonKind::AliasedImport => {
                let children = self.children(clause);
                let (path, alias) = (self.child(children, 0), self.child(children, 1));
                self.release(children);
                Some((path?, alias))
            }
            _ => None,
        }
    }

    /// A dotted name without the blanks that may stand in it.
    fn dotted(&self, node: Node<'t>) -> Box<str> {
        let text = self.text_of(node);
        if text.contains(char::is_whitespace) {
            return text.chars().filter(|c| !c.is_whitespace() && *c != '\\').collect::<String>().into();
        }
        text.into()
    }

    fn add_import(&mut self, local: &'t str, path: Box<str>, level: u32, from: bool, span: Span) {
        let number = self.module.imports.len() as u32;
        let function = Some(self.frame.function).filter(|_| !self.frame.is_module && self.class().is_none());
        let name = if local.is_empty() { Name::default() } else { self.name(local) };
        self.module.imports.push(Import { local: name, path, level, from, function, sure: false, span });
        if !local.is_empty() {
            self.bind(local, span, Meaning::Import(number), None);
        }
    }

    /// Says of each import whether its name means nothing else.
    pub(super) fn settle_imports(&mut self) {
        for at in 0..self.module.imports.len() {
            let Some(import) = self.module.imports.get(at) else { continue };
            let scope = import.function.unwrap_or(FunctionId(0));
            let meaning = self.bound.get(scope).and_then(|bound| Some(bound.get(import.local.as_str())?.meaning));
            let Some(Meaning::Import(other)) = meaning else { continue };
            let same = self.module.imports.get(other as usize).is_some_and(|other| {
                (&other.path, other.level, other.function) == (&import.path, import.level, import.function)
            });
            if let Some(import) = self.module.imports.get_mut(at) {
                import.sure = same;
            }
        }
    }

    fn import_stmt(&mut self, first: usize, node: Node<'t>, out: &mut Block) {
        let range = first as u32..self.module.imports.len() as u32;
        self.push_stmt(Stmt::Python(Box::new(PythonStmt::Import(range))), Span::from(node), out);
    }
}
