//! Functions, lambdas and classes.

use super::Lowerer;
use super::scopes::{Bound, ClassScope, Meaning, Outer};
use crate::ir::{
    Block, Expr, ExprId, FunctionId, FunctionRole, LocalId, Path, PythonFunction, PythonStmt, Record, Stmt, Type,
    TypeId,
};
use cudalint_syntax::kinds::{PythonKind, python_kind};
use cudalint_syntax::{Node, Span};
use rustc_hash::FxHashSet;

/// A parameter before its function has a frame.
struct Parameter<'t> {
    kind: ParameterKind,
    /// The name, or in Python 2 a tuple of them.
    name: Node<'t>,
    default: Option<ExprId>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ParameterKind {
    Plain,
    Rest,
    Keywords,
    /// `*` alone: what follows is given by keyword.
    Separator,
}

impl<'t> Lowerer<'t> {
    /// `def`, with the expressions of its decorators. Only methods have no statement that defines them.
    pub(super) fn function(&mut self, node: Node<'t>, decorators: Vec<ExprId>, span: Span, out: Option<&mut Block>) {
        let [name, body, parameters] = self.definition_parts(node, PythonKind::Parameters);
        let text = name.map_or("", |name| self.text_of(name));
        let name_span = name.map_or(span, Span::from);
        let parameters = parameters.map(|list| self.parameters(list)).unwrap_or_default();
        let role = self.method_role(&decorators);
        let id = self.open(text, span, name_span, &decorators);
        if !text.is_empty() {
            self.bind(text, name_span, Meaning::Function(id), None);
        }
        let mut block = Block::new();
        let class = self.class().map(|class| (class.path.clone(), class.record));
        self.open_function(id);
        let (mut about, count) = self.declare_parameters(parameters, &mut block);
        about.decorators = decorators;
        if let Some(body) = body {
            self.block_into(body, &mut block);
        }
        self.close(id, about, count, block);
        if let (Some((path, record)), Some(function)) = (class, self.module.functions.get_mut(id)) {
            function.scope = path;
            function.role = role;
            if let Some(record) = self.module.records.get_mut(record as usize) {
                record.methods.push(id);
            }
        }
        if let Some(out) = out {
            self.push_stmt(Stmt::Python(Box::new(PythonStmt::Define(id))), span, out);
        }
    }

    fn method_role(&self, decorators: &[ExprId]) -> FunctionRole {
        let is_static = decorators.iter().any(|id| match self.kind(*id) {
            Some(Expr::Name { path, .. }) => path.last().is_some_and(|name| *name == "staticmethod"),
            _ => false,
        });
        if is_static { FunctionRole::StaticMethod } else { FunctionRole::Method }
    }

    /// `lambda x: body`.
    pub(super) fn lambda(&mut self, node: Node<'t>) -> ExprId {
        let span = Span::from(node);
        let children = self.children(node);
        let first = self.child(children, 0);
        let list = first.filter(|list| python_kind(*list) == PythonKind::LambdaParameters);
        let body = self.child(children, usize::from(list.is_some()));
        self.release(children);
        let parameters = list.map(|list| self.parameters(list)).unwrap_or_default();
        let id = self.open("", span, span, &[]);
        self.open_function(id);
        let mut block = Block::new();
        let (about, count) = self.declare_parameters(parameters, &mut block);
        if let Some(body) = body {
            let value = self.expr(body);
            self.push_stmt(Stmt::Return(Some(value)), Span::from(body), &mut block);
        }
        self.close(id, about, count, block);
        if let Some(function) = self.module.functions.get_mut(id) {
            function.role = FunctionRole::Lambda;
        }
        self.push(Expr::Lambda { function: id, by_reference: true }, span)
    }

    /// Makes room for a function, so that those inside it come later in the list.
    fn open(&mut self, name: &'t str, span: Span, name_span: Span, decorators: &[ExprId]) -> FunctionId {
        let id = self.module.functions.next_key();
        let mut function = self.blank_function(name, span, name_span);
        function.parent = Some(self.frame.function).filter(|_| !self.frame.is_module);
        self.module.functions.push(function);
        if !decorators.is_empty() {
            self.decorated.push((id, self.frame.function));
        }
        id
    }

    fn close(&mut self, id: FunctionId, mut about: PythonFunction, params: usize, body: Block) {
        let (frame, taken) = self.close_function();
        let damaged = frame.cut || self.module.functions.get(id).is_some_and(|it| self.is_damaged(it.span));
        about.is_generator = frame.is_generator;
        for (name, _) in &frame.outer {
            let name = self.name(name);
            about.outer.push(name);
        }
        about.inner = frame.inner;
        let around = self.frame.function;
        let mut captures = Vec::with_capacity(taken.len());
        for (name, local) in taken {
            captures.push((self.name(name), Some(local)));
        }
        let Some(function) = self.module.functions.get_mut(id) else { return };
        if !captures.is_empty() {
            function.parent = Some(around);
        }
        function.captures = captures;
        function.damaged = damaged;
        function.locals = frame.locals;
        function.param_count = params as u32;
        function.body = Some(body);
        function.python = Some(Box::new(about));
    }

    /// Parameters with their defaults, which are evaluated where the function is defined.
    fn parameters(&mut self, list: Node<'t>) -> Vec<Parameter<'t>> {
        let children = self.children(list);
        let mut all = Vec::with_capacity(children.len());
        for index in 0..children.len() {
            let Some(child) = self.child(children, index) else { continue };
            let inside = self.children(child);
            let first = self.child(inside, 0);
            let last = inside.len().checked_sub(1).and_then(|last| self.child(inside, last));
            self.release(inside);
            let (kind, name, default) = match python_kind(child) {
                PythonKind::Identifier | PythonKind::TuplePattern => (ParameterKind::Plain, Some(child), None),
                PythonKind::DefaultParameter | PythonKind::TypedDefaultParameter => {
                    (ParameterKind::Plain, first, last.map(|value| self.expr(value)))
                }
                PythonKind::TypedParameter => match first.map(python_kind) {
                    Some(PythonKind::ListSplatPattern) => {
                        (ParameterKind::Rest, first.and_then(|splat| self.first(splat)), None)
                    }
                    Some(PythonKind::DictionarySplatPattern) => {
                        (ParameterKind::Keywords, first.and_then(|splat| self.first(splat)), None)
                    }
                    _ => (ParameterKind::Plain, first, None),
                },
                PythonKind::ListSplatPattern => (ParameterKind::Rest, first, None),
                PythonKind::DictionarySplatPattern => (ParameterKind::Keywords, first, None),
                PythonKind::KeywordSeparator => (ParameterKind::Separator, Some(child), None),
                _ => continue,
            };
            if let Some(name) = name {
                all.push(Parameter { kind, name, default });
            }
        }
        self.release(children);
        all
    }

    /// Makes them the first locals; the answer says how many there are.
    fn declare_parameters(&mut self, parameters: Vec<Parameter<'t>>, prologue: &mut Block) -> (PythonFunction, usize) {
        let mut about = PythonFunction::default();
        let mut tuples = Vec::new();
        let mut by_keyword = false;
        for parameter in parameters {
            let slot = self.frame.locals.len() as u32;
            match parameter.kind {
                ParameterKind::Separator => {
                    by_keyword = true;
                    continue;
                }
                ParameterKind::Rest => {
                    about.rest = Some(LocalId(slot));
                    by_keyword = true;
                }
                ParameterKind::Keywords => about.keywords = Some(LocalId(slot)),
                ParameterKind::Plain if by_keyword => {}
                ParameterKind::Plain => about.positional += 1,
            }
            let span = Span::from(parameter.name);
            let is_tuple = python_kind(parameter.name) == PythonKind::TuplePattern;
            let text = if is_tuple { "" } else { self.text_of(parameter.name) };
            let mut variable = self.variable(text, span);
            variable.init = parameter.default;
            self.frame.locals.push(variable);
            if is_tuple {
                tuples.push((parameter.name, LocalId(slot)));
            } else {
                let bound = Bound { slot: Some(slot), meaning: Meaning::Other, value: None, bindings: 1 };
                self.frame.bound.insert(text, bound);
            }
        }
        let count = self.frame.locals.len();
        for (pattern, local) in tuples {
            let span = Span::from(pattern);
            let value = self.push(Expr::Local(local), span);
            let target = self.target(pattern, None);
            let assign = self.push(Expr::Assign { op: None, target, value }, span);
            self.push_stmt(Stmt::Expr(assign), span, prologue);
        }
        (about, count)
    }

    /// `global a, b` and `nonlocal a, b`.
    pub(super) fn outer_names(&mut self, node: Node<'t>, outer: Outer) {
        if self.frame.is_module {
            return;
        }
        let children = self.children(node);
        for index in 0..children.len() {
            if let Some(child) = self.child(children, index) {
                self.frame.outer.push((self.text_of(child), outer));
            }
        }
        self.release(children);
    }

    /// `class`.
    pub(super) fn class_definition(&mut self, node: Node<'t>, decorators: Vec<ExprId>, span: Span, out: &mut Block) {
        let [name, body, superclasses] = self.definition_parts(node, PythonKind::ArgumentList);
        let text = name.map_or("", |name| self.text_of(name));
        let name_span = name.map_or(span, Span::from);
        let bases = superclasses.map(|list| self.bases(list, out)).unwrap_or_default();
        let scope = self.class().map(|class| class.path.clone()).unwrap_or_default();
        let own = self.name(text);
        let record = self.module.records.len() as u32;
        self.module.records.push(Record {
            name: own.clone(),
            scope: scope.clone(),
            template_params: Vec::new(),
            bases,
            fields: Vec::new(),
            is_union: false,
            has_virtual_bases: false,
            has_virtual: false,
            virtual_methods: Vec::new(),
            align: None,
            defined: true,
            specializes: None,
            methods: Vec::new(),
            decorators,
            span: name_span,
        });
        if !text.is_empty() {
            self.bind(text, name_span, Meaning::Class, None);
        }
        self.classes.push(ClassScope {
            path: scope.within(own),
            depth: self.around.len(),
            names: FxHashSet::default(),
            record,
        });
        let mut block = Block::new();
        if let Some(body) = body {
            self.class_block(body, &mut block);
        }
        self.classes.pop();
        self.push_stmt(Stmt::Python(Box::new(PythonStmt::Class(record, block))), span, out);
    }

    /// The types that a class derives from. Its other arguments, and bases that are no names, are evaluated before it.
    fn bases(&mut self, list: Node<'t>, out: &mut Block) -> Vec<TypeId> {
        let children = self.children(list);
        let mut bases = Vec::new();
        for index in 0..children.len() {
            let Some(child) = self.child(children, index) else { continue };
            let value = self.expr(child);
            let ty = match (python_kind(child), self.dotted_path(value)) {
                (PythonKind::KeywordArgument, _) => None,
                (_, Some(path)) => Some(Type::Named { path, args: Vec::new() }),
                (_, None) => Some(Type::Unknown),
            };
            if !matches!(ty, Some(Type::Named { .. })) {
                self.push_stmt(Stmt::Expr(value), Span::from(child), out);
            }
            if let Some(ty) = ty {
                bases.push(self.module.types.next_key());
                self.module.types.push(ty);
            }
        }
        self.release(children);
        bases
    }

    /// The path of a name with attributes, as written.
    fn dotted_path(&self, value: ExprId) -> Option<Path> {
        let mut attributes = Vec::new();
        let mut at = value;
        loop {
            match self.kind(at)? {
                Expr::Member { base, name, .. } => {
                    attributes.push(name.clone());
                    at = *base;
                }
                Expr::Name { path, .. } => {
                    let root = path.segments.iter().cloned();
                    return Some(root.chain(attributes.into_iter().rev()).collect());
                }
                Expr::Local(local) => {
                    let root = self.frame.locals.get(*local)?.name.clone();
                    return Some(std::iter::once(root).chain(attributes.into_iter().rev()).collect());
                }
                _ => return None,
            }
        }
    }

    /// A class variable that stands by itself in the class's body; the answer is whether it is one.
    pub(super) fn field(&mut self, node: Node<'t>) -> bool {
        let Some(record) = self.class().map(|class| class.record) else { return false };
        let children = self.children(node);
        let left = self.child(children, 0).filter(|left| python_kind(*left) == PythonKind::Identifier);
        let right = children.len().checked_sub(1).and_then(|last| self.child(children, last));
        let right = right.filter(|right| children.len() > 1 && python_kind(*right) != PythonKind::Type);
        let torn = children.torn;
        self.release(children);
        let Some(left) = left.filter(|_| !torn) else { return false };
        let text = self.text_of(left);
        let known = self.class().is_some_and(|class| class.names.contains(text));
        if known || right.is_some_and(|right| python_kind(right) == PythonKind::Assignment) {
            return false;
        }
        let init = right.map(|right| self.expr(right));
        self.bind(text, Span::from(left), Meaning::Other, None);
        let mut variable = self.variable(text, Span::from(left));
        variable.init = init;
        if let Some(record) = self.module.records.get_mut(record as usize) {
            record.fields.push(variable);
        }
        true
    }
}
