//! The CUDA C++ front end: one parsed region becomes one [`Module`].
//!
//! Text is always read from the raw bytes, since the mask may have respelled what the tree shows. Macros are expanded
//! here, from their parsed bodies: see [`macros`](self::macros). Local names are resolved with block scopes; all other
//! names are left as written.

mod allocations;
mod assembly;
mod chain;
mod cupy_bodies;
mod declarators;
mod elision;
mod expressions;
mod fields;
mod functions;
mod items;
mod lambdas;
mod launches;
mod literals;
mod locals;
mod macro_text;
mod macros;
mod operators;
mod parts;
mod preprocessor;
mod records;
mod repairs;
mod scopes;
mod source;
mod statements;
mod storage;
mod types;

use crate::configuration::Sight;
use crate::ir::{
    ExpansionId, Expr, ExprId, ExprNode, Include, MacroDefinition, Module, Path, Stmt, StmtId, StmtNode, Type, TypeId,
};
use crate::name::Name;
use cudalint_syntax::{Directives, MaskKind, MaskNote, Node, ParsedRegion, ParserPool, Span};
pub(crate) use cupy_bodies::shape_cupy_body;
pub use cupy_bodies::{CupySlot, cupy_slots};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use scopes::Frame;
use source::Src;
use std::cell::Cell;
use std::num::NonZeroU32;
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
/// Macro expansions of one file; what comes after stays a call.
const MAX_EXPANSIONS: u32 = 30_000;
/// Expressions of one module; what comes after is unknown.
const MAX_EXPRESSIONS: usize = 6_000_000;
/// Fewer than that of a short text, whose macros may stand for far more than is written.
const EXPRESSIONS_PER_BYTE: usize = 8;
const EXPRESSIONS_OF_ANY: usize = 200_000;

/// Lowers a region. Beside the module are the names that stand in it, which are all that it may ask other modules for.
/// Without a tree the module is empty but for its damage.
pub(crate) fn lower(input: LowerInput<'_>) -> (Module, FxHashSet<Name>) {
    let mut lowerer = Lowerer::new(input);
    if let Some(root) = lowerer.parsed.root() {
        let source = Src::file(lowerer.text);
        lowerer.items(source, root);
    }
    lowerer.finish()
}

/// State of lowering one region.
pub(crate) struct Lowerer<'a> {
    text: &'a str,
    most_expressions: usize,
    parsed: &'a ParsedRegion,
    directives: &'a Directives,
    view: &'a dyn Sight,
    pool: &'a mut ParserPool,
    module: Module,
    names: FxHashSet<Name>,
    /// Paths of one segment, by it.
    singles: FxHashMap<Name, Path>,
    /// Macros of `module.expanded`.
    expansions: FxHashMap<Name, ExpansionId>,
    plain_types: FxHashMap<TypeKey, TypeId>,
    /// The last value that stands without parentheses in a macro's body, or as an argument in one.
    loose: Option<ExprId>,
    /// Functions being lowered, innermost last.
    frames: Vec<Frame>,
    /// Namespaces and classes around, outermost first.
    scope: Vec<Name>,
    /// How many anonymous namespaces are around.
    anonymous: u32,
    extern_c: u32,
    /// Names known to be values or types at file level; a name in both decides nothing.
    values: FxHashSet<Name>,
    types: FxHashSet<Name>,
    /// Records whose members are being lowered.
    record_names: Vec<(Name, Name)>,
    macros: macros::Macros,
    depth: u32,
}

/// Types that are shared within a module.
#[derive(PartialEq, Eq, Hash)]
enum TypeKey {
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
    fn new(input: LowerInput<'a>) -> Self {
        let (exprs, stmts) = ROOM.take();
        let module = Module {
            exprs,
            stmts,
            damage: input.parsed.damage.clone(),
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
            macros: macros::Macros::default(),
            depth: 0,
        }
    }

    fn finish(mut self) -> (Module, FxHashSet<Name>) {
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
    fn name(&mut self, text: &str) -> Name {
        if let Some(name) = self.names.get(text) {
            return name.clone();
        }
        let name = Name::from(text);
        self.names.insert(name.clone());
        name
    }

    /// The shared path of one segment.
    fn single(&mut self, text: &str) -> Path {
        if let Some(path) = self.singles.get(text) {
            return path.clone();
        }
        let name = self.name(text);
        let path = Path::single(name.clone());
        self.singles.insert(name, path.clone());
        path
    }

    /// The number of a macro that expressions stand in.
    fn expansion_id(&mut self, name: &Name) -> Option<ExpansionId> {
        if let Some(id) = self.expansions.get(name) {
            return Some(*id);
        }
        self.module.expanded.push(name.clone());
        let id = ExpansionId(NonZeroU32::new(self.module.expanded.len() as u32)?);
        self.expansions.insert(name.clone(), id);
        Some(id)
    }

    fn push(&mut self, kind: Expr, span: Span) -> ExprId {
        let id = self.module.exprs.next_key();
        let expansion = self.macros.outermost();
        self.module.exprs.push(ExprNode { kind, span, expansion });
        id
    }

    fn push_stmt(&mut self, kind: Stmt, span: Span) -> StmtId {
        self.module.stmts.push_and_get_key(StmtNode { kind, span })
    }

    fn push_type(&mut self, ty: Type) -> TypeId {
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

    fn add_type(&mut self, ty: Type) -> TypeId {
        self.module.types.push_and_get_key(ty)
    }

    /// Whether one may go one level deeper; pairs with [`Self::leave`]. What is cut off marks the function as damaged,
    /// so that nothing is concluded from what is missing.
    fn enter(&mut self) -> bool {
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

    fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Mask notes that share a byte with a span of the file.
    fn notes(&self, span: Span) -> impl Iterator<Item = &'a MaskNote> + use<'a> {
        let notes = &self.parsed.notes;
        let first = notes.partition_point(|note| note.span.end <= span.start);
        notes.iter().skip(first).take_while(move |note| note.span.start < span.end)
    }

    /// The expression of an `__align__` that the mask hid inside a span, parsed from its text.
    fn masked_alignment(&mut self, s: Src<'_>, span: Span) -> Option<ExprId> {
        if !s.is_file() {
            return None;
        }
        let note = self.notes(span).find(|note| note.kind == MaskKind::Align)?;
        let text = self.text.get(note.span.range())?;
        Some(self.expression_text(text, note.span))
    }

    /// Whether any damage lies in a span.
    fn is_damaged(&self, span: Span) -> bool {
        let damage = &self.parsed.damage;
        let first = damage.partition_point(|hurt| hurt.end < span.start);
        damage.get(first).is_some_and(|hurt| hurt.start <= span.end)
    }

    /// Whether a name is known to be a value here and not a type.
    fn is_value(&self, s: Src<'_>, text: &str) -> bool {
        if let Some(is_type) = s.parameter_is_type(text) {
            return !is_type;
        }
        match self.lookup(text) {
            Some(scopes::Meaning::Local(_) | scopes::Meaning::Value) => return true,
            Some(scopes::Meaning::Type(_)) => return false,
            None => {}
        }
        if self.types.contains(text) || types::is_builtin_type_name(text) {
            return false;
        }
        self.values.contains(text) || self.is_object_value(text)
    }

    /// Whether a name stands for a value: as [`Self::is_value`], and for names that are both.
    fn is_known_value(&mut self, s: Src<'_>, text: &str) -> bool {
        if let Some(is_type) = s.parameter_is_type(text) {
            return !is_type;
        }
        match self.lookup(text) {
            Some(scopes::Meaning::Type(_)) => return false,
            Some(_) => return true,
            None => {}
        }
        self.values.contains(text) || (self.is_object_value(text) && !self.is_type_macro(text))
    }

    /// Whether a name is known to be a type here.
    fn is_type(&self, s: Src<'_>, text: &str) -> bool {
        if let Some(is_type) = s.parameter_is_type(text) {
            return is_type;
        }
        match self.lookup(text) {
            Some(scopes::Meaning::Type(_)) => true,
            Some(_) => false,
            None => types::is_builtin_type_name(text) || (self.types.contains(text) && !self.values.contains(text)),
        }
    }

    /// Lowers all expression-like children of a node that is not understood.
    fn unknown<'t>(&mut self, s: Src<'t>, node: Node<'t>) -> ExprId {
        let mut children = Vec::new();
        for child in source::named_children(node) {
            if source::is_expression(child) {
                children.push(self.expr(s, child));
            }
        }
        let span = s.span(node);
        self.push(Expr::Unknown(children), span)
    }
}
