//! From the program form to [`Code`]: names, types, templates and overloads resolved.
//!
//! Every expression lowers to an [`Out`]: a value, a register or a place in memory, with its C++ type. Whether a
//! variable can stay a register is known only when the whole function has been read: a variable whose address is asked
//! for is marked, and the places that were lowered as registers are turned into memory at the end
//! (`instances::finish`).

mod assembly;
mod assign;
mod calls;
mod closures;
mod construct;
mod convert;
mod copies;
mod declare;
mod exprs;
mod fold;
mod groups;
mod instances;
mod intrinsics;
mod library;
mod library_types;
mod lists;
mod meaning;
mod methods;
mod numbers;
mod objects;
mod operators;
mod overloads;
mod placement;
mod places;
mod ranges;
mod stmts;
mod templates;
mod types;

use crate::code::{self, Code, Expr, ExprId, ExprNode, Stmt, StmtId, StmtNode, VariableId};
use crate::report::Site;
use cudalint_program::ir::{self, FunctionId, LocalId, Module, ModuleId};
use cudalint_program::types::{Ty, TypeEnv};
use cudalint_program::{Name, Project, Scope};
use cudalint_syntax::Span;
use rustc_hash::FxHashMap;
use typed_index_collections::TiVec;

/// Most function instances of one kernel.
const MAX_INSTANCES: usize = 64;
/// Most expressions of one kernel with all that it calls.
const MAX_NODES: usize = 200_000;
/// Deepest nesting of expressions and statements, and of functions that are lowered inside one another.
const MAX_DEPTH: u32 = 160;

/// Lowers a kernel with its template parameters bound as in `env`, and every device function that it reaches. `None` where
/// there is no such function or it has no body.
pub fn lower(project: &Project, module: ModuleId, kernel: FunctionId, env: &TypeEnv) -> Option<Code> {
    let function = project.function_at(module, kernel)?;
    function.body.as_ref()?;
    let mut lowerer = Lowerer::new(project);
    lowerer.instance(instances::Key::plain(module, kernel, env.clone()))?;
    lowerer.run();
    let bound = function.launch_bounds.and_then(|(threads, _)| {
        let scope = Scope::new(project, module, Some(kernel), env);
        u32::try_from(scope.eval(threads)?).ok()
    });
    let mut code = lowerer.code;
    code.launch_bounds = bound;
    let mut gaps: Vec<(&'static str, u32)> = lowerer.gaps.into_iter().collect();
    gaps.sort_unstable();
    code.gaps = gaps;
    Some(code)
}

/// What an expression lowers to.
#[derive(Clone, Debug)]
struct Out {
    at: At,
    /// The C++ type of the value or of what is in the place; never a reference.
    ty: Ty,
    /// Whether it is reached through something declared `volatile`: what a pointer points to, or the place itself.
    volatile: bool,
    site: Site,
}

/// Where the value of an expression is.
#[derive(Clone, Copy, Debug)]
enum At {
    /// It is computed.
    Value(ExprId),
    /// A register variable or leaves of it; `count` 0 for all.
    Register { variable: VariableId, first: u16, count: u16 },
    /// Memory at an address; `element` as in [`code::Place::Memory`].
    Memory { address: ExprId, element: u32 },
}

/// What a local variable of the source became.
#[derive(Clone, Debug)]
struct Binding {
    what: Bound,
    ty: Ty,
    volatile: bool,
}

#[derive(Clone, Copy, Debug)]
enum Bound {
    /// A variable.
    Variable(VariableId),
    /// A variable that holds the address of what the name means.
    Reference(VariableId),
    /// Static storage.
    Object(code::ObjectId),
}

/// Where names are looked up.
struct Context<'p> {
    scope: Scope<'p>,
    module: ModuleId,
    ir: &'p Module,
    function: Option<&'p ir::Function>,
    bindings: FxHashMap<LocalId, Binding>,
    /// The variable that holds `this`, and the record's type.
    this: Option<(VariableId, Ty)>,
    /// The lambda whose body this is, and the variable that holds the closure's address.
    closure: Option<(usize, VariableId)>,
    names: FxHashMap<Name, meaning::Meaning>,
}

/// The function instance under construction.
#[derive(Default)]
struct Body {
    variables: TiVec<VariableId, code::Variable>,
    /// Expressions whose place is a register, for [`Lowerer::finish`].
    register_uses: Vec<ExprId>,
    /// Stores of a record from memory into a register variable: see [`Lowerer::narrow`].
    copies: Vec<ExprId>,
    /// What it returns as far as known; [`Ty::Auto`] until the first `return` says.
    returns: Option<Ty>,
}

struct Lowerer<'p> {
    project: &'p Project,
    code: Code,
    context: Context<'p>,
    body: Body,
    instances: instances::Instances,
    closures: Vec<closures::Closure>,
    types: types::Cache,
    globals: FxHashMap<(u32, u32), code::ObjectId>,
    pure_functions: Vec<String>,
    picks: FxHashMap<Name, Vec<overloads::Pick>>,
    gaps: FxHashMap<&'static str, u32>,
    depth: u32,
}

impl<'p> Lowerer<'p> {
    fn new(project: &'p Project) -> Self {
        static NOTHING: std::sync::LazyLock<Module> = std::sync::LazyLock::new(Module::default);
        let scope = Scope::inside(project, ModuleId(0), ir::Path::default(), &TypeEnv::default());
        Self {
            project,
            code: Code::default(),
            context: Context {
                scope,
                module: ModuleId(0),
                ir: &NOTHING,
                function: None,
                bindings: FxHashMap::default(),
                this: None,
                closure: None,
                names: FxHashMap::default(),
            },
            body: Body::default(),
            instances: instances::Instances::default(),
            closures: Vec::new(),
            types: types::Cache::default(),
            globals: FxHashMap::default(),
            pure_functions: Vec::new(),
            picks: FxHashMap::default(),
            gaps: FxHashMap::default(),
            depth: 0,
        }
    }

    fn gap(&mut self, cause: &'static str) {
        *self.gaps.entry(cause).or_default() += 1;
    }

    fn site(&self, span: Span) -> Site {
        Site { module: self.context.module, span }
    }

    fn node(&self, id: ir::ExprId) -> Option<&'p ir::ExprNode> {
        let module: &'p Module = self.context.ir;
        module.exprs.get(id)
    }

    fn site_of(&self, id: ir::ExprId) -> Site {
        let span = self.node(id).map_or_else(Span::default, |node| node.span);
        self.site(span)
    }

    fn push(&mut self, kind: Expr, ty: code::Ty, site: Site) -> ExprId {
        self.code.exprs.push_and_get_key(ExprNode { kind, ty, site })
    }

    fn push_stmt(&mut self, kind: Stmt, site: Site) -> StmtId {
        self.code.stmts.push_and_get_key(StmtNode { kind, site })
    }

    fn kind(&self, id: ExprId) -> Option<&Expr> {
        self.code.exprs.get(id).map(|node| &node.kind)
    }

    fn code_ty(&self, id: ExprId) -> code::Ty {
        self.code.exprs.get(id).map_or(code::Ty::Opaque { bytes: None }, |node| node.ty.clone())
    }

    /// Runs `work` one level deeper; `None` where the nesting or the size of the code is out of bounds.
    fn deeper<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> Option<T> {
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
    fn elsewhere<T>(&mut self, context: Context<'p>, work: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.context, context);
        let result = work(self);
        self.context = outer;
        result
    }

    fn variable(&mut self, name: &str, ty: code::Ty, site: Site) -> VariableId {
        let id = self.body.variables.next_key();
        // A value without leaves cannot be taken apart in a register.
        let in_memory = matches!(&ty, code::Ty::Aggregate(layout) if layout.leaves.is_empty() && layout.bytes > 0);
        self.body.variables.push(code::Variable { name: name.to_owned(), site, ty, in_memory });
        id
    }
}
