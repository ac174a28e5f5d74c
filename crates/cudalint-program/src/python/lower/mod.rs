//! The Python front end: the tree of one region becomes one [`Module`].
//!
//! A name is looked up when its function has been read to the end, since an assignment anywhere in a Python function makes the
//! name local in all of it: until then its uses are kept in the [`Frame`](scopes::Frame). Who captures what is settled when
//! the module has been read, and so is what decorators make of functions, which may rest on imports below.

mod clauses;
mod exprs;
mod functions;
mod imports;
mod kernels;
mod literals;
mod lookup;
mod operators;
mod patterns;
mod scopes;
mod stmts;

use crate::ir::{
    Block, ExecutionSpace, Expr, ExprId, ExprNode, Function, FunctionId, Module, Path, PythonFunction, Stmt, StmtId,
    StmtNode, Type, TypeId,
};
use crate::name::Name;
use cudalint_syntax::kinds::{PythonKind, python_kind};
use cudalint_syntax::{Language, Node, ParsedRegion, Span, TreeCursor};
use rustc_hash::FxHashMap;
use scopes::{Bound, ClassScope, Frame};
use std::cell::Cell;
use typed_index_collections::{TiVec, ti_vec};

/// What a Python region is lowered from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LowerPython<'a> {
    /// The raw text of the whole file.
    pub text: &'a str,
    /// The region's tree.
    pub parsed: &'a ParsedRegion,
}

/// Nodes nested deeper than this become unknown.
const MAX_DEPTH: u32 = 160;
/// Operators of one kind in a row, and branches of one `if`: what is longer becomes unknown, with its parts side by side.
const MAX_CHAIN: usize = 150;
/// Expressions of one module; what comes after is unknown. There is hardly one to three bytes of text.
const MAX_EXPRESSIONS: usize = 6_000_000;
/// Fewer than that of a short text: whose parts are lowered again and again holds more.
const EXPRESSIONS_PER_BYTE: usize = 2;

thread_local! {
    /// Where the arenas of a region grow: used again, since growing anew each time touches twice the memory.
    static ROOM: Cell<(TiVec<ExprId, ExprNode>, TiVec<StmtId, StmtNode>)> = const { Cell::new((TiVec::new(), TiVec::new())) };
}

/// Lowers a Python region. Without a tree the module is empty but for its damage.
pub(crate) fn lower(input: LowerPython<'_>) -> Module {
    let Some(root) = input.parsed.root() else {
        let damage = input.parsed.damage.clone();
        return Module { language: Language::Python, damage, ..Module::default() };
    };
    let mut lowerer = Lowerer::new(input, root);
    lowerer.module_body(root);
    lowerer.finish()
}

/// State of lowering one region. `frame` is the function whose code is being read, the module's own at first.
struct Lowerer<'t> {
    text: &'t str,
    parsed: &'t ParsedRegion,
    most_expressions: usize,
    module: Module,
    names: FxHashMap<&'t str, Name>,
    /// Paths of one segment, by it.
    singles: FxHashMap<&'t str, Path>,
    /// The type of every variable.
    auto: TypeId,
    frame: Frame<'t>,
    /// The functions around it, outermost first.
    around: Vec<Frame<'t>>,
    /// Classes whose bodies are being read, innermost last.
    classes: Vec<ClassScope<'t>>,
    /// What each finished function binds, by its number; and the names that it takes from outside.
    bound: TiVec<FunctionId, FxHashMap<&'t str, Bound>>,
    free: TiVec<FunctionId, Vec<&'t str>>,
    /// Functions with decorators, each with the function in which they are evaluated.
    decorated: Vec<(FunctionId, FunctionId)>,
    /// Calls that may compile a function for the GPU, each with the function in which it stands.
    makers: Vec<(ExprId, FunctionId)>,
    depth: u32,
    cursor: TreeCursor<'t>,
    /// Children of the nodes that are being read: see [`Self::children`].
    scratch: Vec<Node<'t>>,
}

/// The named children of a node, without comments and without what could not be read.
#[derive(Clone, Copy)]
struct Children {
    start: usize,
    end: usize,
    /// Whether something between them could not be read.
    torn: bool,
}

impl Children {
    fn len(self) -> usize {
        self.end - self.start
    }
}

impl<'t> Lowerer<'t> {
    fn new(input: LowerPython<'t>, root: Node<'t>) -> Self {
        let (exprs, stmts) = ROOM.take();
        let module = Module {
            language: Language::Python,
            exprs,
            stmts,
            types: ti_vec![Type::Auto],
            damage: input.parsed.damage.clone(),
            ..Module::default()
        };
        Self {
            text: input.text,
            parsed: input.parsed,
            most_expressions: MAX_EXPRESSIONS.min(1_000 + EXPRESSIONS_PER_BYTE * input.text.len()),
            module,
            names: FxHashMap::default(),
            singles: FxHashMap::default(),
            auto: TypeId(0),
            frame: Frame::new(FunctionId(0), true),
            around: Vec::new(),
            classes: Vec::new(),
            bound: TiVec::new(),
            free: TiVec::new(),
            decorated: Vec::new(),
            makers: Vec::new(),
            depth: 0,
            cursor: root.walk(),
            scratch: Vec::new(),
        }
    }

    fn module_body(&mut self, root: Node<'t>) {
        let mut function = self.blank_function("<module>", self.parsed.span, Span::default());
        self.module.functions.push(function.clone());
        self.bound.push(FxHashMap::default());
        self.free.push(Vec::new());
        let body = self.block(root);
        let frame = std::mem::replace(&mut self.frame, Frame::new(FunctionId(0), true));
        function.locals = frame.locals;
        function.body = Some(body);
        function.python =
            Some(Box::new(PythonFunction { is_module: true, inner: frame.inner, ..PythonFunction::default() }));
        function.damaged = frame.cut || self.is_damaged_between_functions();
        self.initialize_globals(&frame.bound);
        if let Some(slot) = self.bound.first_mut() {
            *slot = frame.bound;
        }
        if let Some(slot) = self.module.functions.first_mut() {
            *slot = function;
        }
        self.module.body = Some(FunctionId(0));
    }

    fn finish(mut self) -> Module {
        self.settle_captures();
        self.settle_kernels();
        self.settle_imports();
        // The room that they grew in serves the next region; what stays is as large as it must be.
        let exprs = self.module.exprs.raw.drain(..).collect();
        let stmts = self.module.stmts.raw.drain(..).collect();
        ROOM.set((std::mem::replace(&mut self.module.exprs, exprs), std::mem::replace(&mut self.module.stmts, stmts)));
        self.module
    }

    fn blank_function(&mut self, name: &'t str, span: Span, name_span: Span) -> Function {
        let name = self.name(name);
        let space = ExecutionSpace { host: true, ..ExecutionSpace::default() };
        Function { space, name_span, ..Function::named(name, self.auto, span) }
    }

    /// The shared name of a text.
    fn name(&mut self, text: &'t str) -> Name {
        self.names.entry(text).or_insert_with(|| Name::from(text)).clone()
    }

    /// The shared path of one segment.
    fn single(&mut self, text: &'t str) -> Path {
        if let Some(path) = self.singles.get(text) {
            return path.clone();
        }
        let path = Path::single(self.name(text));
        self.singles.insert(text, path.clone());
        path
    }

    fn push(&mut self, kind: Expr, span: Span) -> ExprId {
        self.module.exprs.push_and_get_key(ExprNode { kind, span, expansion: None })
    }

    fn push_stmt(&mut self, kind: Stmt, span: Span, out: &mut Block) {
        out.push(self.module.stmts.next_key());
        self.module.stmts.push(StmtNode { kind, span });
    }

    fn kind(&self, id: ExprId) -> Option<&Expr> {
        self.module.exprs.get(id).map(|node| &node.kind)
    }

    fn span_of(&self, id: ExprId) -> Span {
        self.module.exprs.get(id).map_or_else(Span::default, |node| node.span)
    }

    fn text_of(&self, node: Node<'t>) -> &'t str {
        self.text.get(node.byte_range()).unwrap_or("")
    }

    /// Whether one may go one level deeper; pairs with [`Self::leave`]. What is cut off marks the function as damaged, so that
    /// nothing is concluded from what is missing.
    fn enter(&mut self) -> bool {
        if self.depth >= MAX_DEPTH || self.module.exprs.len() >= self.most_expressions {
            self.module.cut(if self.depth >= MAX_DEPTH { "nesting" } else { "expressions" });
            self.frame.cut = true;
            return false;
        }
        self.depth += 1;
        true
    }

    fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Puts a node's children into the scratch room, where [`Self::child`] finds them until they are given back with
    /// [`Self::release`], last taken first.
    fn children(&mut self, node: Node<'t>) -> Children {
        let mut torn = false;
        let mut children = self.children_where(node, |child| {
            let kind = python_kind(child);
            let is_error = child.is_named() && kind == PythonKind::Error;
            torn |= is_error;
            child.is_named() && !is_error && !matches!(kind, PythonKind::Comment | PythonKind::LineContinuation)
        });
        children.torn = torn;
        children
    }

    /// The same with those of all children that `keep` holds for.
    fn children_where(&mut self, node: Node<'t>, mut keep: impl FnMut(Node<'t>) -> bool) -> Children {
        let start = self.scratch.len();
        self.cursor.reset(node);
        let mut more = self.cursor.goto_first_child();
        while more {
            let child = self.cursor.node();
            if keep(child) {
                self.scratch.push(child);
            }
            more = self.cursor.goto_next_sibling();
        }
        Children { start, end: self.scratch.len(), torn: false }
    }

    /// Does something with each child, and gives them back.
    fn each(&mut self, children: Children, mut work: impl FnMut(&mut Self, Node<'t>)) {
        for index in 0..children.len() {
            if let Some(child) = self.child(children, index) {
                work(self, child);
            }
        }
        self.release(children);
    }

    /// Name, body, and what is of a kind, of a function or class.
    fn definition_parts(&mut self, node: Node<'t>, other: PythonKind) -> [Option<Node<'t>>; 3] {
        let (mut name, mut body, mut of_kind) = (None, None, None);
        let children = self.children(node);
        self.each(children, |_, child| match python_kind(child) {
            PythonKind::Identifier if name.is_none() => name = Some(child),
            PythonKind::Block => body = Some(child),
            kind if kind == other => of_kind = Some(child),
            _ => {}
        });
        [name, body, of_kind]
    }

    fn child(&self, children: Children, index: usize) -> Option<Node<'t>> {
        self.scratch.get(children.start..children.end)?.get(index).copied()
    }

    fn release(&mut self, children: Children) {
        self.scratch.truncate(children.start);
    }

    /// The first named child.
    fn first(&mut self, node: Node<'t>) -> Option<Node<'t>> {
        let children = self.children(node);
        let first = self.child(children, 0);
        self.release(children);
        first
    }

    /// Whether any damage lies in a span.
    fn is_damaged(&self, span: Span) -> bool {
        let damage = &self.parsed.damage;
        let first = damage.partition_point(|hurt| hurt.end < span.start);
        damage.get(first).is_some_and(|hurt| hurt.start <= span.end)
    }

    /// Whether any damage lies outside the functions of the module.
    fn is_damaged_between_functions(&self) -> bool {
        let inside = |hurt: Span| self.module.functions.iter().skip(1).any(|function| function.span.contains(hurt));
        !self.parsed.damage.iter().all(|hurt| inside(*hurt))
    }
}
