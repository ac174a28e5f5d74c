//! The state of lowering one region.

use super::builtin_types::is_builtin_type_name;
use super::source::{Src, is_expression, named_children};
use crate::configuration::Sight;
use crate::ir::{
    ExpansionId, Expr, ExprId, ExprNode, FunctionId, Include, LocalId, MacroDefinition, Module, Path, Stmt, StmtId,
    StmtNode, Type, TypeId, Variable,
};
use crate::name::Name;
use cudalint_syntax::{Directives, MaskKind, MaskNote, Node, ParsedFragment, ParsedRegion, ParserPool, Span};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use std::cell::Cell;
use std::num::NonZeroU32;
use std::rc::Rc;
use typed_index_collections::TiVec;

/// What a region is lowered from.
pub(crate) struct LowerInput<'a> {
    /// The raw text of the whole file.
    pub text: &'a str,
    /// The region's tree.
    pub parsed: &'a ParsedRegion,
    /// The directives of the same region.
    pub directives: &'a Directives,
    /// What `#if` and the names of macros mean in it.
    pub view: &'a dyn Sight,
    /// Parser for macro bodies.
    pub pool: &'a mut ParserPool,
}

thread_local! {
    /// Where the arenas of a region grow: used again, since growing anew each time touches twice the memory.
    static ROOM: Cell<(TiVec<ExprId, ExprNode>, TiVec<StmtId, StmtNode>)> = const { Cell::new((TiVec::new(), TiVec::new())) };
}

/// Nodes nested deeper than this become unknown.
const MAX_DEPTH: u32 = 160;

/// Expressions of one module; what comes after is unknown.
const MAX_EXPRESSIONS: usize = 6_000_000;

/// Fewer than that of a short text, whose macros may stand for far more than is written.
const EXPRESSIONS_PER_BYTE: usize = 8;

const EXPRESSIONS_OF_ANY: usize = 200_000;

/// State of lowering one region.
pub(crate) struct Lowerer<'a> {
    pub text: &'a str,
    pub most_expressions: usize,
    pub parsed: &'a ParsedRegion,
    pub directives: &'a Directives,
    pub view: &'a dyn Sight,
    pub pool: &'a mut ParserPool,
    pub module: Module,
    pub names: FxHashSet<Name>,
    /// Paths of one segment, by it.
    pub singles: FxHashMap<Name, Path>,
    /// Macros of `module.expanded`.
    pub expansions: FxHashMap<Name, ExpansionId>,
    pub plain_types: FxHashMap<TypeKey, TypeId>,
    /// The last value that stands without parentheses in a macro's body, or as an argument in one.
    pub loose: Option<ExprId>,
    /// Functions being lowered, innermost last.
    pub frames: Vec<Frame>,
    /// Namespaces and classes around, outermost first.
    pub scope: Vec<Name>,
    /// How many anonymous namespaces are around.
    pub anonymous: u32,
    pub extern_c: u32,
    /// Names known to be values or types at file level; a name in both decides nothing.
    pub values: FxHashSet<Name>,
    pub types: FxHashSet<Name>,
    /// Records whose members are being lowered.
    pub record_names: Vec<(Name, Name)>,
    pub macros: Macros,
    pub depth: u32,
}

/// Types that are shared within a module.
#[derive(PartialEq, Eq, Hash)]
pub(crate) enum TypeKey {
    Void,
    Bool,
    Int(u8, bool),
    Float(u8),
    Function,
    Auto,
    Unknown,
    Pointer(TypeId),
    Named(Name),
}

impl<'a> Lowerer<'a> {
    #[allow(clippy::needless_pass_by_value)] // Its parser moves in.
    pub fn new(input: LowerInput<'a>) -> Self {
        let (exprs, stmts) = ROOM.take();
        let module = Module {
            exprs,
            stmts,
            damage: input.parsed.damage.clone(),
            passed_over: masked_branches(&input.parsed.notes),
            nvrtc: input.directives.nvrtc,
            ..Module::default()
        };
        Self {
            text: input.text,
            most_expressions: MAX_EXPRESSIONS.min(EXPRESSIONS_OF_ANY + EXPRESSIONS_PER_BYTE * input.text.len()),
            parsed: input.parsed,
            directives: input.directives,
            view: input.view,
            pool: input.pool,
            module,
            // Room for a small file: tables that grow are filled anew each time.
            names: FxHashSet::with_capacity_and_hasher(220, FxBuildHasher),
            singles: FxHashMap::with_capacity_and_hasher(110, FxBuildHasher),
            expansions: FxHashMap::default(),
            plain_types: FxHashMap::default(),
            loose: None,
            frames: Vec::new(),
            scope: Vec::new(),
            anonymous: 0,
            extern_c: 0,
            values: FxHashSet::default(),
            types: FxHashSet::default(),
            record_names: Vec::new(),
            macros: Macros::default(),
            depth: 0,
        }
    }

    pub fn finish(mut self) -> (Module, FxHashSet<Name>) {
        self.join_methods();
        // The room that they grew in serves the next region; what stays is as large as it must be.
        let exprs = self.module.exprs.raw.drain(..).collect();
        let stmts = self.module.stmts.raw.drain(..).collect();
        ROOM.set((std::mem::replace(&mut self.module.exprs, exprs), std::mem::replace(&mut self.module.stmts, stmts)));
        for include in &self.directives.includes {
            self.module.includes.push(Include {
                target: include.path.as_str().into(),
                system: include.system,
                span: include.span,
            });
        }
        self.module.macros.extend(self.directives.defines.iter().map(MacroDefinition::from));
        (self.module, self.names)
    }

    /// The shared name of a text.
    pub fn name(&mut self, text: &str) -> Name {
        if let Some(name) = self.names.get(text) {
            return name.clone();
        }
        let name = Name::from(text);
        self.names.insert(name.clone());
        name
    }

    /// The shared path of one segment.
    pub fn single(&mut self, text: &str) -> Path {
        if let Some(path) = self.singles.get(text) {
            return path.clone();
        }
        let name = self.name(text);
        let path = Path::single(name.clone());
        self.singles.insert(name, path.clone());
        path
    }

    /// The number of a macro that expressions stand in.
    pub fn expansion_id(&mut self, name: &Name) -> Option<ExpansionId> {
        if let Some(id) = self.expansions.get(name) {
            return Some(*id);
        }
        self.module.expanded.push(name.clone());
        let id = ExpansionId(NonZeroU32::new(self.module.expanded.len() as u32)?);
        self.expansions.insert(name.clone(), id);
        Some(id)
    }

    pub fn push(&mut self, kind: Expr, span: Span) -> ExprId {
        let id = self.module.exprs.next_key();
        let expansion = self.macros.outermost();
        self.module.exprs.push(ExprNode { kind, span, expansion });
        id
    }

    pub fn push_stmt(&mut self, kind: Stmt, span: Span) -> StmtId {
        self.module.stmts.push_and_get_key(StmtNode { kind, span })
    }

    pub fn push_type(&mut self, ty: Type) -> TypeId {
        let key = match &ty {
            Type::Void => TypeKey::Void,
            Type::Bool => TypeKey::Bool,
            Type::Int { bytes, signed } => TypeKey::Int(*bytes, *signed),
            Type::Float { bytes } => TypeKey::Float(*bytes),
            Type::Function => TypeKey::Function,
            Type::Auto => TypeKey::Auto,
            Type::Unknown => TypeKey::Unknown,
            Type::Pointer(to) => TypeKey::Pointer(*to),
            Type::Named { path, args } if args.is_empty() && path.segments.len() == 1 => {
                TypeKey::Named(path.segments[0].clone())
            }
            _ => return self.add_type(ty),
        };
        if let Some(id) = self.plain_types.get(&key) {
            return *id;
        }
        let id = self.add_type(ty);
        self.plain_types.insert(key, id);
        id
    }

    pub fn add_type(&mut self, ty: Type) -> TypeId {
        self.module.types.push_and_get_key(ty)
    }

    /// Whether one may go one level deeper; pairs with [`Self::leave`]. What is cut off marks the function as damaged,
    /// so that nothing is concluded from what is missing.
    pub fn enter(&mut self) -> bool {
        if self.depth >= MAX_DEPTH || self.module.exprs.len() >= self.most_expressions {
            self.module.cut(if self.depth >= MAX_DEPTH { "nesting" } else { "expressions" });
            if let Some(frame) = self.frames.last_mut() {
                frame.damaged = true;
            }
            return false;
        }
        self.depth += 1;
        true
    }

    pub fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Mask notes that share a byte with a span of the file.
    pub fn notes(&self, span: Span) -> impl Iterator<Item = &'a MaskNote> + use<'a> {
        let notes = &self.parsed.notes;
        let first = notes.partition_point(|note| note.span.end <= span.start);
        notes.iter().skip(first).take_while(move |note| note.span.start < span.end)
    }

    /// The expression of an `__align__` that the mask hid inside a span, parsed from its text.
    pub fn masked_alignment(&mut self, s: Src<'_>, span: Span) -> Option<ExprId> {
        if !s.is_file() {
            return None;
        }
        let note = self.notes(span).find(|note| note.kind == MaskKind::Align)?;
        let text = self.text.get(note.span.range())?;
        Some(self.expression_text(text, note.span))
    }

    /// Whether any damage lies in a span.
    pub fn is_damaged(&self, span: Span) -> bool {
        let damage = &self.parsed.damage;
        let first = damage.partition_point(|hurt| hurt.end < span.start);
        damage.get(first).is_some_and(|hurt| hurt.start <= span.end)
    }

    /// Whether a name is known to be a value here and not a type.
    pub fn is_value(&self, s: Src<'_>, text: &str) -> bool {
        if let Some(is_type) = s.parameter_is_type(text) {
            return !is_type;
        }
        match self.lookup(text) {
            Some(Meaning::Local(_) | Meaning::Value) => return true,
            Some(Meaning::Type(_)) => return false,
            None => {}
        }
        if self.types.contains(text) || is_builtin_type_name(text) {
            return false;
        }
        self.values.contains(text) || self.is_object_value(text)
    }

    /// Whether a name stands for a value: as [`Self::is_value`], and for names that are both.
    pub fn is_known_value(&mut self, s: Src<'_>, text: &str) -> bool {
        if let Some(is_type) = s.parameter_is_type(text) {
            return !is_type;
        }
        match self.lookup(text) {
            Some(Meaning::Type(_)) => return false,
            Some(_) => return true,
            None => {}
        }
        self.values.contains(text) || (self.is_object_value(text) && !self.is_type_macro(text))
    }

    /// Whether a name is known to be a type here.
    pub fn is_type(&self, s: Src<'_>, text: &str) -> bool {
        if let Some(is_type) = s.parameter_is_type(text) {
            return is_type;
        }
        match self.lookup(text) {
            Some(Meaning::Type(_)) => true,
            Some(_) => false,
            None => is_builtin_type_name(text) || (self.types.contains(text) && !self.values.contains(text)),
        }
    }

    /// Lowers all expression-like children of a node that is not understood.
    pub fn unknown<'t>(&mut self, s: Src<'t>, node: Node<'t>) -> ExprId {
        let mut children = Vec::new();
        for child in named_children(node) {
            if is_expression(child) {
                children.push(self.expr(s, child));
            }
        }
        let span = s.span(node);
        self.push(Expr::Unknown(children), span)
    }
}

/// What a local name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// A variable.
    Local(LocalId),
    /// A type known only inside this function.
    Type(TypeId),
    /// A value that is no variable: a template parameter, an enumerator.
    Value,
}

/// One function being lowered.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools, reason = "independent facts about the function")]
pub(crate) struct Frame {
    pub function: FunctionId,
    pub name: Name,
    pub is_lambda: bool,
    /// Whether the function surely runs on the host alone, so that only the host's pass decides what is in it.
    pub host_only: bool,
    /// Whether it surely runs on the device alone.
    pub device_only: bool,
    /// Whether it is written for both sides.
    pub both_sides: bool,
    /// Whether a macro in front of the function may stand for any word: it may be the host's, the device's or both.
    pub may_be_hosts: bool,
    pub locals: TiVec<LocalId, Variable>,
    pub captures: Vec<(Name, Option<LocalId>)>,
    pub damaged: bool,
    pub names: FxHashMap<Name, Meaning>,
    /// Shadowed meanings, to restore at the end of a scope.
    pub undo: Vec<(Name, Option<Meaning>)>,
    /// Where those of the innermost scope begin.
    pub scope: usize,
}

impl Frame {
    pub fn new(function: FunctionId, name: Name, is_lambda: bool, host_only: bool) -> Self {
        Self {
            function,
            name,
            is_lambda,
            host_only,
            device_only: false,
            both_sides: false,
            may_be_hosts: false,
            locals: TiVec::new(),
            captures: Vec::new(),
            damaged: false,
            names: FxHashMap::default(),
            undo: Vec::new(),
            scope: 0,
        }
    }

    pub fn bind(&mut self, name: Name, meaning: Meaning) {
        let before = self.names.insert(name.clone(), meaning);
        self.undo.push((name, before));
    }
}

/// The macros being expanded, and what is kept of those that were.
#[derive(Debug, Default)]
pub(crate) struct Macros {
    pub active: Vec<Name>,
    pub outer: Option<ExpansionId>,
    pub expansions: u32,
    pub prepared: FxHashMap<(usize, bool), Option<Prepared>>,
}

/// A body made ready.
#[derive(Clone, Debug)]
pub(crate) enum Prepared {
    /// A number: no parser is needed to see that.
    Number(Expr),
    /// Anything else.
    Fragment { fragment: Rc<ParsedFragment>, is_expression: bool },
}

impl Macros {
    /// The outermost macro being expanded.
    pub fn outermost(&self) -> Option<ExpansionId> {
        self.outer
    }
}

/// The branches that the mask has taken out.
fn masked_branches(notes: &[MaskNote]) -> Vec<Span> {
    notes.iter().filter(|note| note.kind == MaskKind::Branch).map(|note| note.span).collect()
}
