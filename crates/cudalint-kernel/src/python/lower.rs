//! The lowering itself: functions instanced by the types of their arguments, each lowered again until the types of its
//! variables stand.
//!
//! There is no inference beside the lowering. A variable's type is what its assignments gave it so far; where one changes a
//! type that was used already, or a number turns out to be perhaps negative, the function is lowered once more, starting
//! from what is known then. Types only grow, so that it ends.

use super::scan::Scan;
use super::types::{Instance, Key, PyTy, unify};
use super::value::Value;
use super::{ArgumentType, Constant, Specialization};
use crate::code::{self, Block, Code, Effect, Expr, ExprId, ExprNode, Place, Stmt, StmtNode, Ty, VariableId};
use crate::report::Site;
use cudalint_program::ir::{self, Dialect, FunctionId, LocalId, Module, ModuleId};
use cudalint_program::{Name, Project};
use cudalint_syntax::Span;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;
use typed_index_collections::TiVec;

/// Most expressions of one kernel with all that it calls.
const MAX_NODES: usize = 200_000;
/// Most expressions and statements that are looked at, counting each pass over a function.
const MAX_STEPS: u32 = 1_000_000;
/// Deepest nesting of expressions and statements.
const MAX_DEPTH: u32 = 120;
/// Captured values of a function, by name.
pub(super) type Captured = Arc<[(Name, Constant)]>;

/// A variable of the function under construction.
#[derive(Default)]
pub(super) struct Slot {
    /// Its type so far.
    pub ty: Option<PyTy>,
    /// What it holds, in this pass.
    pub value: Option<Value>,
    /// Whether it was read before it had a type, in this pass.
    pub missed: bool,
    /// Whether it may hold negative numbers.
    pub negative: bool,
    /// Whether its sign or type has been used.
    pub read: bool,
}

/// Where names are looked up.
pub(super) struct Context<'p> {
    pub module: ModuleId,
    pub ir: &'p Module,
    pub id: FunctionId,
    pub function: Option<&'p ir::Function>,
    pub captured: u32,
    pub scan: Arc<Scan>,
}

/// The function instance under construction.
#[derive(Default)]
pub(super) struct Body {
    pub variables: TiVec<VariableId, code::Variable>,
    pub slots: FxHashMap<LocalId, Slot>,
    /// Registers that surely hold no negative number.
    pub natural: FxHashSet<VariableId>,
    /// Registers that are written once, outside of loops, or never.
    pub constant: FxHashSet<VariableId>,
    /// What it returns, by the `return`s so far.
    pub returns: Option<PyTy>,
    /// Whether what was lowered so far rests on types that have changed since.
    pub stale: bool,
    /// What stands before its first statement.
    pub entry: Block,
    /// Whether an extent in it is no constant, but might be if an argument were one.
    pub wants_literals: bool,
    /// Flags that a `break` sets, for the `else` of the loops around.
    pub broken: Vec<Option<VariableId>>,
}

pub(super) struct Lowerer<'p> {
    pub project: &'p Project,
    pub dialect: Dialect,
    pub code: Code,
    pub context: Context<'p>,
    pub body: Body,
    /// Statements of the block under construction.
    pub block: Block,
    pub captures: Vec<Captured>,
    /// Names for functions whose values depend on their operands only.
    pub pure_functions: Vec<String>,
    pub instances: Vec<Instance>,
    pub gaps: FxHashMap<&'static str, u32>,
    depth: u32,
    /// How many functions are being lowered inside one another.
    pub calls: u32,
    steps: u32,
    /// How many copies of its body the loops over tuples around make.
    pub unrolled: usize,
    /// Constants of modules and functions around that are being looked up.
    pub looking: u32,
    /// The name that what is made now will have.
    pub naming: Option<Name>,
}

/// Lowers a Python kernel for the types of its arguments, with every device function that it reaches. `None` where there is
/// no such function, or its parameters cannot be laid out.
pub fn lower_python(
    project: &Project,
    module: ModuleId,
    kernel: FunctionId,
    specialization: &Specialization,
) -> Option<Code> {
    let function = project.function_at(module, kernel)?;
    function.body.as_ref()?;
    let python = function.python.as_ref()?;
    // `*args` is a tuple of whatever the launch hands over.
    let last = specialization.arguments.len().checked_sub(1).map(|last| LocalId(last as u32));
    let gathered = matches!(specialization.arguments.last(), Some(ArgumentType::Tuple(_))) && python.rest == last;
    if python.rest.is_some() && !gathered || python.keywords.is_some() || python.is_generator {
        return None;
    }
    if specialization.dialect == Dialect::Reduce {
        return None;
    }
    let arguments: Vec<PyTy> = specialization.arguments.iter().map(|argument| argument_type(argument, 0)).collect();
    let mut lowerer = Lowerer::new(project, specialization.dialect);
    let captured = lowerer.capture(&specialization.captured);
    let key = Key { module, function: kernel, captured, arguments };
    lowerer.code.arguments =
        super::parameters(&[], &specialization.arguments).into_iter().map(|it| (it.of, it.part)).collect();
    if specialization.dialect == Dialect::Vectorize {
        lowerer.for_each_result(key, function)?;
        return Some(lowerer.finished(specialization.dialect));
    }
    // What is left out has a default.
    let params = function.params().iter();
    let given = key.arguments.len();
    if given > params.len() || params.skip(given).any(|param| param.init.is_none()) {
        return None;
    }
    lowerer.instance(&key)?;
    Some(lowerer.finished(specialization.dialect))
}

fn argument_type(argument: &ArgumentType, depth: u32) -> PyTy {
    match argument {
        ArgumentType::Scalar(Ty::Opaque { .. }) | ArgumentType::Unknown => PyTy::Opaque,
        ArgumentType::Scalar(ty) => PyTy::Number(ty.clone()),
        ArgumentType::Array { element, rank, order } => {
            PyTy::Array { element: element.clone(), record: None, rank: *rank, order: *order }
        }
        ArgumentType::Records { record, rank, order } => {
            let element = Ty::Opaque { bytes: Some(record.bytes) };
            PyTy::Array { element, record: Some(Arc::clone(record)), rank: *rank, order: *order }
        }
        ArgumentType::Tuple(all) if depth < super::specialization::MAX_NESTING => {
            PyTy::Tuple(all.iter().map(|one| argument_type(one, depth + 1)).collect())
        }
        ArgumentType::Tuple(_) => PyTy::Tuple(Vec::new()),
        ArgumentType::None => PyTy::None,
    }
}

impl<'p> Lowerer<'p> {
    pub(super) fn new(project: &'p Project, dialect: Dialect) -> Self {
        static NOTHING: std::sync::LazyLock<Module> = std::sync::LazyLock::new(Module::default);
        Self {
            project,
            dialect,
            code: Code::default(),
            context: Context {
                module: ModuleId(0),
                ir: &NOTHING,
                id: FunctionId(0),
                function: None,
                captured: 0,
                scan: Arc::default(),
            },
            body: Body::default(),
            block: Vec::new(),
            captures: Vec::new(),
            pure_functions: Vec::new(),
            instances: Vec::new(),
            gaps: FxHashMap::default(),
            depth: 0,
            calls: 0,
            steps: 0,
            unrolled: 1,
            looking: 0,
            naming: None,
        }
    }

    /// The code, with what it lacks.
    fn finished(self, dialect: Dialect) -> Code {
        let mut code = self.code;
        let mut gaps: Vec<(&'static str, u32)> = self.gaps.into_iter().collect();
        gaps.sort_unstable();
        code.gaps = gaps;
        code.dialect = Some(dialect);
        code
    }

    /// A number for a list of captured values.
    pub(super) fn capture(&mut self, all: &[(Name, Constant)]) -> u32 {
        if let Some(known) = self.captures.iter().position(|known| **known == *all) {
            return known as u32;
        }
        self.captures.push(all.into());
        self.captures.len() as u32 - 1
    }

    pub(super) fn gap(&mut self, cause: &'static str) {
        *self.gaps.entry(cause).or_default() += 1;
    }

    pub(super) fn site(&self, span: Span) -> Site {
        Site { module: self.context.module, span }
    }

    pub(super) fn node(&self, id: ir::ExprId) -> Option<&'p ir::ExprNode> {
        let module: &'p Module = self.context.ir;
        module.exprs.get(id)
    }

    pub(super) fn site_of(&self, id: ir::ExprId) -> Site {
        let span = self.node(id).map_or_else(Span::default, |node| node.span);
        self.site(span)
    }

    pub(super) fn push(&mut self, kind: Expr, ty: Ty, site: Site) -> ExprId {
        self.code.exprs.push_and_get_key(ExprNode { kind, ty, site })
    }

    /// Puts a statement behind those of the block under construction.
    pub(super) fn emit(&mut self, kind: Stmt, site: Site) {
        let id = self.code.stmts.next_key();
        self.code.stmts.push(StmtNode { kind, site });
        self.block.push(id);
    }

    /// What `work` emits as a block of its own.
    pub(super) fn in_block<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> (Block, T) {
        let outer = std::mem::take(&mut self.block);
        let result = work(self);
        (std::mem::replace(&mut self.block, outer), result)
    }

    /// An expression that is evaluated only sometimes: what it needs before goes along.
    pub(super) fn apart(&mut self, work: impl FnOnce(&mut Self) -> ExprId) -> ExprId {
        let (before, value) = self.in_block(work);
        self.after(before, value)
    }

    /// `value`, evaluated behind statements.
    pub(super) fn after(&mut self, before: Block, value: ExprId) -> ExprId {
        if before.is_empty() {
            return value;
        }
        let (ty, site) = self.code.exprs.get(value).map_or_else(
            || (Ty::Opaque { bytes: None }, self.site(Span::default())),
            |node| (node.ty.clone(), node.site),
        );
        self.push(Expr::Statements(before, Some(value)), ty, site)
    }

    /// Whether more has been looked at than any kernel is worth.
    pub(super) const fn is_spent(&self) -> bool {
        self.steps > MAX_STEPS
    }

    /// Runs `work` one level deeper; `None` where the nesting or the size of the code is out of bounds.
    pub(super) fn deeper<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.steps = self.steps.saturating_add(1);
        if self.depth >= MAX_DEPTH || self.code.exprs.len() >= MAX_NODES || self.is_spent() {
            self.gap("too large");
            return None;
        }
        self.depth += 1;
        let result = work(self);
        self.depth -= 1;
        Some(result)
    }

    pub(super) fn variable(&mut self, name: &str, ty: Ty, site: Site) -> VariableId {
        self.body.variables.push_and_get_key(code::Variable { name: name.to_owned(), site, ty, in_memory: false })
    }

    pub(super) fn ty_of(&self, id: ExprId) -> Ty {
        self.code.exprs.get(id).map_or(Ty::Opaque { bytes: None }, |node| node.ty.clone())
    }

    pub(super) fn site_of_code(&self, id: ExprId) -> Site {
        self.code.exprs.get(id).map_or_else(|| self.site(Span::default()), |node| node.site)
    }

    pub(super) fn read_register(&mut self, variable: VariableId, site: Site) -> ExprId {
        let ty = self.body.variables.get(variable).map_or(Ty::Opaque { bytes: None }, |v| v.ty.clone());
        self.push(Expr::Read(Place::Register { variable, first: 0, count: 0 }), ty, site)
    }

    pub(super) fn write_register(&mut self, variable: VariableId, value: ExprId, site: Site) -> ExprId {
        let ty = self.body.variables.get(variable).map_or(Ty::Opaque { bytes: None }, |v| v.ty.clone());
        self.push(Expr::Write(Place::Register { variable, first: 0, count: 0 }, value), ty, site)
    }

    /// Whether an expression always has the same value and costs nothing, so that it may stand in many places.
    pub(super) fn is_constant(&self, id: ExprId) -> bool {
        match self.code.exprs.get(id).map(|node| &node.kind) {
            Some(
                Expr::Int(_) | Expr::Float(_) | Expr::Builtin(_) | Expr::ObjectAddress(_) | Expr::VariableAddress(_),
            ) => true,
            Some(Expr::Read(Place::Register { variable, count: 0, .. })) => self.body.constant.contains(variable),
            _ => false,
        }
    }

    /// An expression that may stand in several places: what is more than a constant goes into a register first.
    pub(super) fn settle(&mut self, id: ExprId) -> ExprId {
        if self.is_constant(id) {
            return id;
        }
        let site = self.site_of_code(id);
        let variable = self.variable("", self.ty_of(id), site);
        if self.is_natural(id) {
            self.body.natural.insert(variable);
        }
        self.emit(Stmt::Declare(variable), site);
        let write = self.write_register(variable, id, site);
        self.emit(Stmt::Expr(write), site);
        self.read_register(variable, site)
    }

    /// [`Self::settle`] for all parts of a value.
    pub(super) fn settled(&mut self, value: &Value) -> Value {
        match value {
            Value::Number(id, ty) => Value::Number(self.settle(*id), ty.clone()),
            Value::Opaque(id) => Value::Opaque(self.settle(*id)),
            Value::Array(array) => {
                let mut array = array.clone();
                array.data = self.settle(array.data);
                for part in array.shape.iter_mut().chain(&mut array.strides) {
                    *part = self.settle(*part);
                }
                Value::Array(array)
            }
            Value::Tuple(all) => Value::Tuple(all.iter().map(|one| self.settled(one)).collect()),
            Value::Record(record) => {
                let address = self.settle(record.address);
                Value::Record(Box::new(super::value::Reference { address, ..(**record).clone() }))
            }
            other => other.clone(),
        }
    }

    pub(super) fn unknown(&mut self, children: Vec<ExprId>, effect: Effect, site: Site) -> Value {
        let id = self.push(Expr::Opaque { children, effect }, Ty::Opaque { bytes: None }, site);
        Value::Opaque(id)
    }

    /// What is not understood: its parts are evaluated, the value is unknown.
    pub(super) fn lost(&mut self, cause: &'static str, parts: &[Value], effect: Effect, site: Site) -> Value {
        self.gap(cause);
        let mut children = Vec::new();
        for part in parts {
            part.leaves(&mut children);
        }
        self.unknown(children, effect, site)
    }

    /// A value that depends on its operands only, of the function `name`.
    pub(super) fn pure(&mut self, name: &str, children: Vec<ExprId>, ty: Ty, site: Site) -> ExprId {
        let number = self.pure_functions.iter().position(|known| known == name).unwrap_or_else(|| {
            self.pure_functions.push(name.to_owned());
            self.pure_functions.len() - 1
        });
        self.push(Expr::Opaque { children, effect: Effect::Pure(number as u32) }, ty, site)
    }

    /// Whether the function under construction is the kernel itself.
    pub(super) const fn in_kernel(&self) -> bool {
        self.calls <= 1
    }

    /// Notes what a `return` hands back; the common type of all of them so far.
    pub(super) fn returned(&mut self, ty: PyTy) -> PyTy {
        let unified = match &self.body.returns {
            None => ty,
            Some(before) => unify(self.dialect, before, &ty),
        };
        if self.body.returns.as_ref().is_some_and(|before| *before != unified) {
            self.body.stale = true;
        }
        self.body.returns = Some(unified.clone());
        unified
    }
}
