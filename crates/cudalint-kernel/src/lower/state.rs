//! What lowering keeps while it works on a kernel, and what an expression lowers to.

use crate::code::{self, Builtin, Code, Expr, ExprId, ExprNode, Stmt, StmtId, StmtNode, VariableId};
use crate::report::Site;
use cudalint_program::ir::{self, FunctionId, LocalId, Module, ModuleId, Path};
use cudalint_program::types::{Argument, Ty, TypeEnv};
use cudalint_program::{Entry, Name, Project, Scope};
use cudalint_syntax::Span;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::sync::Arc;
use typed_index_collections::TiVec;

pub(super) struct Lowerer<'p> {
    pub project: &'p Project,
    pub code: Code,
    pub context: Context<'p>,
    pub body: Body,
    pub instances: Instances,
    pub closures: Vec<Closure>,
    pub types: Cache,
    pub globals: FxHashMap<(u32, u32), code::ObjectId>,
    pub pure_functions: Vec<String>,
    pub picks: FxHashMap<Name, Vec<Pick>>,
    pub gaps: FxHashMap<&'static str, u32>,
    pub depth: u32,
    /// The call that is a statement of its own.
    pub discarded: Option<Site>,
}

impl<'p> Lowerer<'p> {
    pub fn new(project: &'p Project, module: ModuleId) -> Self {
        let scope = Scope::inside(project, module, Path::default(), &TypeEnv::default());
        Self {
            project,
            code: Code::default(),
            context: Context::of(scope, project, module),
            body: Body::default(),
            instances: Instances::default(),
            closures: Vec::new(),
            types: Cache::default(),
            globals: FxHashMap::default(),
            pure_functions: Vec::new(),
            picks: FxHashMap::default(),
            gaps: FxHashMap::default(),
            depth: 0,
            discarded: None,
        }
    }

    pub fn gap(&mut self, cause: &'static str) {
        *self.gaps.entry(cause).or_default() += 1;
    }

    pub fn site(&self, span: Span) -> Site {
        Site { module: self.context.module, span }
    }

    pub fn node(&self, id: ir::ExprId) -> Option<&'p ir::ExprNode> {
        let module: &'p Module = self.context.ir;
        module.exprs.get(id)
    }

    pub fn site_of(&self, id: ir::ExprId) -> Site {
        let span = self.node(id).map_or_else(Span::default, |node| node.span);
        self.site(span)
    }

    pub fn push(&mut self, kind: Expr, ty: code::Ty, site: Site) -> ExprId {
        self.code.exprs.push_and_get_key(ExprNode { kind, ty, site })
    }

    pub fn push_stmt(&mut self, kind: Stmt, site: Site) -> StmtId {
        self.code.stmts.push_and_get_key(StmtNode { kind, site })
    }

    pub fn kind(&self, id: ExprId) -> Option<&Expr> {
        self.code.exprs.get(id).map(|node| &node.kind)
    }

    pub fn code_ty(&self, id: ExprId) -> code::Ty {
        self.code.exprs.get(id).map_or(code::Ty::Opaque { bytes: None }, |node| node.ty.clone())
    }

    /// Runs `work` one level deeper; `None` where the nesting or the size of the code is out of bounds.
    pub fn deeper<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.depth >= MAX_DEPTH || self.code.exprs.len() >= MAX_NODES {
            self.gap("too large");
            return None;
        }
        self.depth += 1;
        let result = work(self);
        self.depth -= 1;
        Some(result)
    }

    /// Lowers something that stands in another place of the project: a default argument, a member's initializer.
    pub fn elsewhere<T>(&mut self, context: Context<'p>, work: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.context, context);
        let result = work(self);
        self.context = outer;
        result
    }

    pub fn variable(&mut self, name: &str, ty: code::Ty, site: Site) -> VariableId {
        let id = self.body.variables.next_key();
        // A value without leaves cannot be taken apart in a register.
        let in_memory = matches!(&ty, code::Ty::Aggregate(layout) if layout.leaves.is_empty() && layout.bytes > 0);
        self.body.variables.push(code::Variable { name: name.to_owned(), site, ty, in_memory });
        id
    }
}

/// Where names are looked up.
pub(super) struct Context<'p> {
    pub scope: Scope<'p>,
    pub module: ModuleId,
    pub ir: &'p Module,
    pub function: Option<&'p ir::Function>,
    pub bindings: FxHashMap<LocalId, Binding>,
    /// The variable that holds `this`, and the record's type.
    pub this: Option<(VariableId, Ty)>,
    /// The lambda whose body this is, and the variable that holds the closure's address.
    pub closure: Option<(usize, VariableId)>,
    pub names: FxHashMap<Name, Meaning>,
}

impl<'p> Context<'p> {
    /// What is written in a module where no function is around.
    pub fn of(scope: Scope<'p>, project: &'p Project, module: ModuleId) -> Self {
        Self {
            scope,
            module,
            ir: project.module(module),
            function: None,
            bindings: FxHashMap::default(),
            this: None,
            closure: None,
            names: FxHashMap::default(),
        }
    }

    /// The inside of a function.
    pub fn of_function(project: &'p Project, (module, function): (ModuleId, FunctionId), env: &TypeEnv) -> Self {
        let scope = Scope::new(project, module, Some(function), env);
        Self { function: project.function_at(module, function), ..Self::of(scope, project, module) }
    }
}

/// The function instance under construction.
#[derive(Default)]
pub(super) struct Body {
    pub variables: TiVec<VariableId, code::Variable>,
    /// Expressions whose place is a register, for [`Lowerer::finish`].
    pub register_uses: Vec<ExprId>,
    /// Stores of a record from memory into a register variable: see [`Lowerer::narrow`].
    pub copies: Vec<ExprId>,
    /// Copies of variables in registers that `const` references got, for [`Lowerer::lend`]: the copy's address, the variable,
    /// the part of it, and for how long the reference is kept.
    pub copied: Vec<(ExprId, VariableId, Out, Lent)>,
    /// The lists of statements around, and what was declared in them.
    pub scopes: Vec<Scoped>,
    /// Addresses of temporary objects with destructors, of the statement that is read.
    pub temporaries: Vec<ExprId>,
    /// Types of which an object is being copied by a constructor, whose own argument may be such an object.
    pub copying: Vec<Ty>,
    /// How many of the variables are parameters.
    pub parameters: u32,
    /// What it returns as far as known; [`Ty::Auto`] until the first `return` says.
    pub returns: Option<Ty>,
}

/// What a local variable of the source became.
#[derive(Clone, Debug)]
pub(super) struct Binding {
    pub what: Bound,
    pub ty: Ty,
    pub volatile: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Bound {
    /// A variable.
    Variable(VariableId),
    /// A variable that holds the address of what the name means.
    Reference(VariableId),
    /// Static storage.
    Object(code::ObjectId),
}

/// What an expression lowers to.
#[derive(Clone, Debug)]
pub(super) struct Out {
    pub at: At,
    /// The C++ type of the value or of what is in the place; never a reference.
    pub ty: Ty,
    /// Whether it is reached through something declared `volatile`: what a pointer points to, or the place itself.
    pub volatile: bool,
    pub site: Site,
}

/// Where the value of an expression is.
#[derive(Clone, Copy, Debug)]
pub(super) enum At {
    /// It is computed.
    Value(ExprId),
    /// A register variable or leaves of it; `count` 0 for all.
    Register { variable: VariableId, first: u16, count: u16 },
    /// Memory at an address; `element` as in [`code::Place::Memory`].
    Memory { address: ExprId, element: u32 },
}

/// A list of statements.
pub(super) struct Scoped {
    pub ends: Ends,
    /// What has a destructor, in the order of its declaration.
    pub objects: Vec<Out>,
}

/// What leaves a list of statements besides its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Ends {
    /// Nothing but `return`.
    Return,
    /// `break`, too.
    Break,
    /// `break` and `continue`, too.
    Continue,
}

/// What becomes of a variable that a reference is bound to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Lent {
    /// It may be changed through the reference.
    Changeable,
    /// It is only read through the reference, which lasts no longer than a call.
    ForTheCall,
    /// It is only read through the reference, which may last longer.
    Kept,
}

/// Most expressions of one kernel with all that it calls.
pub(super) const MAX_NODES: usize = 200_000;

/// Deepest nesting of expressions and statements, and of functions that are lowered inside one another.
pub(super) const MAX_DEPTH: u32 = 160;

/// A lambda expression with what it captures.
#[derive(Clone, Debug)]
pub(super) struct Closure {
    pub module: ModuleId,
    pub function: FunctionId,
    pub env: TypeEnv,
    pub captures: Vec<Capture>,
    pub bytes: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Capture {
    pub name: Name,
    pub offset: u32,
    pub ty: Ty,
    pub volatile: bool,
    pub how: How,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum How {
    Value,
    Reference,
    /// Static storage needs no capture.
    Object(code::ObjectId),
}

/// What tells one instance of a function from another.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Key {
    pub module: ModuleId,
    pub function: FunctionId,
    pub env: TypeEnv,
    /// The record whose object `this` is.
    pub this: Option<Ty>,
    /// The closure whose body this is.
    pub closure: Option<usize>,
    /// Types of parameters that only the call tells: `auto`, and functions known by name.
    pub by_argument: Vec<(u32, Ty)>,
}

impl Key {
    /// A function that is no method.
    pub fn plain(module: ModuleId, function: FunctionId, env: TypeEnv) -> Self {
        Self { module, function, env, this: None, closure: None, by_argument: Vec::new() }
    }
}

/// An instance as its callers see it.
#[derive(Clone, Debug)]
pub(super) struct Instance {
    pub id: code::FunctionId,
    /// As declared: may be a reference. [`Ty::Unknown`] while an `auto` is not deduced.
    pub returns: Ty,
    pub params: Arc<[Param]>,
}

/// A parameter of an instance.
#[derive(Clone, Debug)]
pub(super) struct Param {
    /// As declared: may be a reference.
    pub ty: Ty,
    /// `const T&`.
    pub is_const_reference: bool,
    pub default: Option<ir::ExprId>,
}

/// All instances of a kernel.
#[derive(Default)]
pub(super) struct Instances {
    pub known: FxHashMap<(u32, u32), Vec<(Key, Instance)>>,
    pub count: usize,
    pub queue: VecDeque<(Key, Instance)>,
    pub nesting: u32,
}

/// What was found out about records.
#[derive(Debug, Default)]
pub(super) struct Cache {
    pub layouts: FxHashMap<(u32, u32), Vec<(TypeEnv, code::Ty)>>,
    pub fields: FxHashMap<(u32, u32, Name), Vec<KnownField>>,
}

/// A field for one binding of the record's template parameters.
pub(super) type KnownField = (TypeEnv, Option<Field>);

/// A field of a record or a lane of a vector.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub offset: u32,
    /// As declared: may be a reference.
    pub ty: Ty,
}

/// What a name of one segment means in a function; found once.
#[derive(Clone, Debug)]
pub(super) enum Meaning {
    /// `threadIdx` and the like.
    Lanes(fn(u8) -> Builtin, &'static str),
    WarpSize,
    /// A number: template parameter, enumerator, constant.
    Number(i64, Ty),
    /// A constant that is no integer.
    Constant(Entry),
    Field(Field),
    Global(code::ObjectId, Ty, bool),
    /// A variable that device code can only mean by words that are not understood: its place is not known.
    Elsewhere(Ty),
    Function(ModuleId, FunctionId),
    /// A template parameter that stands for a function.
    Callable(Ty),
    Captured,
    Nothing,
}

/// A function that a call means.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub module: ModuleId,
    pub function: FunctionId,
    pub env: TypeEnv,
    /// The record that it is a method of.
    pub record: Option<(Entry, TypeEnv)>,
}

/// An answer that was found before.
#[derive(Debug)]
pub(super) struct Pick {
    pub module: ModuleId,
    pub inside: Path,
    pub path: Path,
    pub explicit: Vec<Argument>,
    pub args: Vec<Ty>,
    pub found: Option<Found>,
}
