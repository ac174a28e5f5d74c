//! The one program form that CUDA C++ and Python lower into.
//!
//! A [`Module`] is one region of one file. Expressions and statements live in the module's arenas and are named by
//! small ids, so that side tables are vectors. Names are left as written ([`Path`]) and resolved through the project
//! index at use, since most of a program's names live in other files. Whatever the front end cannot read becomes
//! [`Expr::Unknown`] or [`Stmt::Unknown`] with its children still present: an unknown part may hide a finding, never
//! make one.

mod expressions;
mod ids;
mod python;
mod statements;

pub use expressions::{BinaryOp, Expansion, Expr, ExprNode, LaunchExpr, TemplateArg, TemplateArgs, UnaryOp};
pub use ids::{Block, ExpansionId, ExprId, FunctionId, LocalId, ModuleId, Path, StmtId, TypeId};
pub use python::{
    Comprehension, Dialect, ForClause, FormatPart, Import, KernelDecorator, PythonExpr, PythonFunction, PythonStmt,
};
pub use statements::{LoopKind, Stmt, StmtNode, SwitchCase};

use crate::name::Name;
use crate::python::PythonNames;
use cudalint_numbers::{Integer, Scalar};
use cudalint_syntax::{CupyBody, Define, Language, Span};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use typed_index_collections::{TiSlice, TiVec};

/// One region of one file, lowered.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// What it is written in. Names never lead from C++ to Python or back: only the replay knows that a string is a
    /// program.
    pub language: Language,
    /// For C++ inside a string of a Python file: the span of that string's expression (prefix, quotes and all pieces).
    pub inside: Option<Span>,
    /// Whether NVRTC compiles it.
    pub nvrtc: bool,
    /// Whether the file alone says that it is for AMD's compiler: it includes HIP under no condition and nothing of CUDA, or is
    /// called `.hip`. [`Project::is_for_hip`](crate::Project::is_for_hip) says it of headers, too.
    pub for_hip: bool,
    /// Where the cells of a notebook begin: what the last statement of one gives is shown.
    pub cells: Vec<usize>,
    /// What `CuPy` made a kernel of, where the program is that: its one kernel is described in `cuda/cupy_bodies.rs`.
    pub cupy_body: Option<Arc<CupyBody>>,
    /// Expression arena.
    pub exprs: TiVec<ExprId, ExprNode>,
    /// Statement arena.
    pub stmts: TiVec<StmtId, StmtNode>,
    /// Type arena.
    pub types: TiVec<TypeId, Type>,
    /// Functions in source order: kernels, device, host, methods, and lambdas (which are functions without a name).
    pub functions: TiVec<FunctionId, Function>,
    /// Variables at namespace scope and static members.
    pub globals: Vec<Variable>,
    /// Structs, classes and unions.
    pub records: Vec<Record>,
    /// `typedef` and `using X = T`.
    pub aliases: Vec<Alias>,
    /// `namespace x = a::b;`
    pub namespace_aliases: Vec<NamespaceAlias>,
    /// Enumerators with the expression of their value where one is written.
    pub enumerators: Vec<Enumerator>,
    /// `#include`s in order.
    pub includes: Vec<Include>,
    /// Macros that this file defines.
    pub macros: Vec<MacroDefinition>,
    /// Ranges that the grammar could not read.
    pub damage: Vec<Span>,
    /// Branches of `#if` groups that were taken for the program, where nothing in sight decides and other branches have code.
    pub supposed: Vec<Supposed>,
    /// Branches that are the program only because the file has nothing for a GPU without names that nobody defines.
    pub lone: Vec<LoneBranch>,
    /// Branches of `#if` groups that are not the program.
    pub passed_over: Vec<Span>,
    /// What lowering cut short, by cause: what comes after is unknown.
    pub cuts: Vec<(&'static str, u32)>,
    /// Explicit instantiations of function and class templates.
    pub instantiations: Vec<Instantiation>,
    /// Macros that [`ExpansionId`]s name.
    pub expanded: Vec<Name>,
    /// For names such as `S<T>::size`, whose path leaves the arguments out: the class `S<T>`.
    pub owners: FxHashMap<ExprId, TypeId>,
    /// For members such as `object.size<short>`: the template arguments that are written there.
    pub method_args: FxHashMap<ExprId, Vec<TemplateArg>>,
    /// Names that Python imports bind, at any level, in order.
    pub imports: Vec<Import>,
    /// The function whose body is the code of a Python module itself.
    pub body: Option<FunctionId>,
    /// What a Python module says of GPU packages by its text alone, where findings in its file are wanted.
    pub python_names: Option<Box<PythonNames>>,
}

impl Module {
    /// Counts something that lowering cuts short.
    pub(crate) fn cut(&mut self, cause: &'static str) {
        match self.cuts.iter_mut().find(|(known, _)| *known == cause) {
            Some((_, count)) => *count += 1,
            None => self.cuts.push((cause, 1)),
        }
    }

    /// Whether `const` stands at the top of a type as written, or around the elements of an array.
    pub fn is_const(&self, ty: TypeId) -> bool {
        let mut current = ty;
        for _ in 0..8 {
            match self.types.get(current) {
                Some(Type::Qualified { is_const: true, .. }) => return true,
                Some(Type::Qualified { ty, .. } | Type::Array(ty, _)) => current = *ty,
                _ => return false,
            }
        }
        false
    }

    /// The macro whose expansion an expression of this module stands in.
    pub fn expansion(&self, node: &ExprNode) -> Option<&Name> {
        self.expanded.get(node.expansion?.0.get() as usize - 1)
    }
}

/// A branch of an `#if` group that is the program under a condition only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Supposed {
    /// The branch's code.
    pub span: Span,
    /// The whole group.
    pub group: Span,
    /// The condition in words: "`USE_DOUBLE` is defined".
    pub condition: Arc<str>,
    /// Whether it is a part of a function that the program may lack: no other branch has code for its place.
    pub extra: bool,
    /// Whether a name is taken for defined that nobody defines: whatever needs the branch has to say so.
    pub chosen: bool,
}

/// A branch of an `#if` group that is the program only because its file has nothing for a GPU without names that nobody defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoneBranch {
    /// The branch's code.
    pub span: Span,
    /// The names.
    pub names: Vec<Arc<str>>,
}

/// `template void f<float>(float*);`
#[derive(Clone, Debug)]
pub struct Instantiation {
    /// The function, or the class.
    pub path: Path,
    /// Whether it is a class.
    pub is_class: bool,
    /// Its template arguments.
    pub targs: Vec<TemplateArg>,
    /// The whole declaration.
    pub span: Span,
}

/// Types as they are written: names are resolved, and extents evaluated, at each use, which gives a [`crate::types::Ty`].
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // The fields are said in the variants' own words.
pub enum Type {
    /// `void`.
    Void,
    /// Integers, characters and Booleans.
    Int { bytes: u8, signed: bool },
    /// `bool`.
    Bool,
    /// `float`, `double`, `half`, `__nv_bfloat16`; bytes 2, 4, 8.
    Float { bytes: u8 },
    /// CUDA vector types such as `float4`, and `dim3` (three `unsigned`).
    Vector { name: Name, lane: Scalar, lanes: u8 },
    /// `T*`.
    Pointer(TypeId),
    /// `T&`, `T&&`.
    Reference(TypeId),
    /// `T[n]`; `None` for `T[]`.
    Array(TypeId, Option<ExprId>),
    /// `const T`, `volatile T`.
    Qualified { ty: TypeId, is_const: bool, is_volatile: bool },
    /// A record, alias, template parameter or unknown name, resolved at use.
    Named { path: Path, args: Vec<TemplateArg> },
    /// `S<T>::type`: `path` and `args` as of [`Type::Named`], `of` is `S<T>`.
    Member { of: TypeId, path: Path, args: Vec<TemplateArg> },
    /// A function type.
    Function,
    /// `auto`, and a variable in Python.
    Auto,
    /// `decltype(x)`.
    DeclType(ExprId),
    /// Not understood.
    Unknown,
}

impl Type {
    /// A scalar type; complex numbers are none of C++'s.
    pub const fn of_scalar(ty: Scalar) -> Self {
        match ty {
            Scalar::Bool => Self::Bool,
            Scalar::Int(Integer { bytes, signed }) => Self::Int { bytes, signed },
            Scalar::Float { bytes } => Self::Float { bytes },
            Scalar::Complex { .. } => Self::Unknown,
        }
    }
}

/// Where a variable lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Space {
    /// Ordinary: automatic on the host, registers or local memory in a kernel.
    #[default]
    Ordinary,
    /// `static` local or namespace scope on the host.
    Static,
    /// `extern` without a value here.
    Extern,
    /// `__shared__ T x[n]`.
    Shared,
    /// `extern __shared__ T x[]`, `cuda.shared.array(0, …)`.
    DynamicShared,
    /// `__constant__`.
    Constant,
    /// `__device__` at namespace scope.
    Device,
    /// `__managed__`.
    Managed,
}

/// A variable.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Name; empty for an unnamed parameter.
    pub name: Name,
    /// Namespaces and classes around it, for globals.
    pub scope: Path,
    /// Type.
    pub ty: TypeId,
    /// Where it lives.
    pub space: Space,
    /// Initializer; for `T x(a, b)` and `T x{a, b}` an [`Expr::Construct`]; for a parameter its default value.
    pub init: Option<ExprId>,
    /// Whether it is `constexpr`.
    pub is_constexpr: bool,
    /// The name's place.
    pub span: Span,
}

/// Execution spaces of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ExecutionSpace {
    /// Callable on the host (also when nothing is written).
    pub host: bool,
    /// `__device__`.
    pub device: bool,
    /// `__global__`.
    pub global: bool,
}

/// A function, method, kernel or lambda.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools)] // Independent properties of a declaration.
pub struct Function {
    /// Its own name; empty for a lambda.
    pub name: Name,
    /// Namespaces and classes around it: `ns::Class`.
    pub scope: Path,
    /// Where it may run.
    pub space: ExecutionSpace,
    /// Whether an execution space was written (a lambda or `constexpr` function without one may run on both).
    pub space_written: bool,
    /// `constexpr` or `consteval`.
    pub is_constexpr: bool,
    /// Template parameters, in order.
    pub template_params: Vec<TemplateParam>,
    /// Whether this is an explicit specialization.
    pub is_specialization: bool,
    /// Variables; the first `param_count` are the parameters.
    pub locals: TiVec<LocalId, Variable>,
    /// How many of `locals` are parameters.
    pub param_count: u32,
    /// Whether it ends in `...`.
    pub variadic: bool,
    /// Return type.
    pub returns: TypeId,
    /// Member initializers of a constructor: field and value.
    pub member_inits: Vec<(Name, Vec<ExprId>)>,
    /// `None` for a declaration.
    pub body: Option<Block>,
    /// `__launch_bounds__(max threads, min blocks)`.
    pub launch_bounds: Option<(ExprId, Option<ExprId>)>,
    /// What kind of function it is.
    pub role: FunctionRole,
    /// `static`, and other storage that keeps it in its file.
    pub is_static: bool,
    /// `extern "C"`.
    pub extern_c: bool,
    /// The whole definition.
    pub span: Span,
    /// The name.
    pub name_span: Span,
    /// Whether the grammar lost part of it: findings inside are *likely* at best and have no fix.
    pub damaged: bool,
    /// For a lambda: the function in whose body it stands.
    pub parent: Option<FunctionId>,
    /// For a lambda: variables of the functions around it that its body uses. In the body they are [`Expr::Name`]s of
    /// one segment; the number is that of the local of `parent`, or `None` where `parent` is itself a lambda that
    /// captures it. A name declared in the lambda itself is a local and never listed.
    pub captures: Vec<(Name, Option<LocalId>)>,
    /// For a lambda: names in its capture list that are captured the other way than [`Expr::Lambda`] says, which is how
    /// all else is captured.
    pub captured_otherwise: Vec<Name>,
    /// For a lambda: how many statements of its body, the first ones, declare what its capture list makes (`[n = f()]`).
    /// They are executed where the lambda is made, and what they declare lives as long as the lambda.
    pub made_captures: u32,
    /// What only a Python function has.
    pub python: Option<Box<PythonFunction>>,
}

impl Function {
    /// A free function of which nothing else is known yet.
    pub fn named(name: Name, returns: TypeId, span: Span) -> Self {
        Self {
            name,
            scope: Path::default(),
            space: ExecutionSpace::default(),
            space_written: false,
            is_constexpr: false,
            template_params: Vec::new(),
            is_specialization: false,
            locals: TiVec::new(),
            param_count: 0,
            variadic: false,
            returns,
            member_inits: Vec::new(),
            body: None,
            launch_bounds: None,
            role: FunctionRole::Free,
            is_static: false,
            extern_c: false,
            span,
            name_span: span,
            damaged: false,
            parent: None,
            captures: Vec::new(),
            captured_otherwise: Vec::new(),
            made_captures: 0,
            python: None,
        }
    }

    /// Its parameters.
    pub fn params(&self) -> &TiSlice<LocalId, Variable> {
        let count = (self.param_count as usize).min(self.locals.len());
        self.locals.split_at(LocalId::from(count)).0
    }
}

/// Kinds of functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[allow(missing_docs)]
pub enum FunctionRole {
    #[default]
    Free,
    Method,
    StaticMethod,
    Constructor,
    Destructor,
    Operator,
    Lambda,
}

/// A template parameter.
#[derive(Clone, Debug)]
pub struct TemplateParam {
    /// Name.
    pub name: Name,
    /// `typename T` when `None`; for a value parameter its type.
    pub value_type: Option<TypeId>,
    /// Default.
    pub default: Option<TemplateArg>,
    /// `typename... Ts`.
    pub pack: bool,
}

/// A struct, class or union.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools)] // Independent properties of a declaration.
pub struct Record {
    /// Name; empty when anonymous. A specialization has one of its own, with its arguments: `Shared<float>`.
    pub name: Name,
    /// Namespaces and classes around it.
    pub scope: Path,
    /// Template parameters.
    pub template_params: Vec<TemplateParam>,
    /// Base classes.
    pub bases: Vec<TypeId>,
    /// Whether any of them is shared with other classes that are derived from it (`class A : virtual B`).
    pub has_virtual_bases: bool,
    /// Fields in order, static members excluded. A bit-field has the type [`Type::Unknown`].
    pub fields: Vec<Variable>,
    /// Whether this is a union.
    pub is_union: bool,
    /// Whether any member function is virtual.
    pub has_virtual: bool,
    /// Names of its virtual functions, without the destructor; an empty one stands for a name that was not understood.
    pub virtual_methods: Vec<Name>,
    /// `__align__(n)` or `alignas(n)`.
    pub align: Option<ExprId>,
    /// Whether a body was seen; a declaration has none.
    pub defined: bool,
    /// Of a partial or full specialization: which arguments of which template mean this record.
    pub specializes: Option<Specialization>,
    /// Its methods: functions of this module whose scope is this record.
    pub methods: Vec<FunctionId>,
    /// Expressions behind `@` of a Python class, outermost (first) first.
    pub decorators: Vec<ExprId>,
    /// Place of the name.
    pub span: Span,
}

/// What `template <> struct S<float>` says of itself.
#[derive(Clone, Debug)]
pub struct Specialization {
    /// Name of the template.
    pub template: Name,
    /// Its arguments as written; those of a partial specialization name its own parameters.
    pub args: Vec<TemplateArg>,
}

/// `typedef T X;`, `using X = T;`.
#[derive(Clone, Debug)]
pub struct Alias {
    /// Name.
    pub name: Name,
    /// Scope around.
    pub scope: Path,
    /// Template parameters.
    pub template_params: Vec<TemplateParam>,
    /// What it means.
    pub ty: TypeId,
}

/// `namespace x = a::b;`, at namespace scope or in a function.
#[derive(Clone, Debug)]
pub struct NamespaceAlias {
    /// Name.
    pub name: Name,
    /// Scope around; of one inside a function, that of the function.
    pub scope: Path,
    /// The namespace as written.
    pub target: Path,
}

/// An enumerator.
#[derive(Clone, Debug)]
pub struct Enumerator {
    /// Name.
    pub name: Name,
    /// The enum's name, where it has one.
    pub of: Name,
    /// Scope around the enum.
    pub scope: Path,
    /// The value as written; without one it is the one before plus one.
    pub value: Option<ExprId>,
    /// Distance to the last enumerator with a written value (or to the first).
    pub offset: u32,
    /// The type that the enum is written to have: `enum E : unsigned char`.
    pub underlying: Option<TypeId>,
}

/// An `#include`.
#[derive(Clone, Debug)]
pub struct Include {
    /// The file as written.
    pub target: Box<str>,
    /// Whether it stands in angle brackets.
    pub system: bool,
    /// Place.
    pub span: Span,
}

/// A macro definition, with its body lowered where it is an expression or statements.
#[derive(Clone, Debug)]
pub struct MacroDefinition {
    /// Name.
    pub name: Name,
    /// Parameters; `None` for an object-like macro. A variadic macro's last one is `...`.
    pub params: Option<Vec<Name>>,
    /// Body as written, continuations joined by blanks.
    pub body: Box<str>,
    /// The whole directive.
    pub span: Span,
    /// The name.
    pub name_span: Span,
    /// Conditions of the `#if` groups around it, outermost first, each as an expression that must hold: `#ifdef X` is
    /// `defined(X)`, a branch not taken is `!(…)`.
    pub conditions: Vec<Box<str>>,
}

impl MacroDefinition {
    /// The parameter that stands for `...`; its uses are `__VA_ARGS__`.
    pub const VARIADIC: &str = "...";
}

impl From<&Define> for MacroDefinition {
    fn from(define: &Define) -> Self {
        let names = define.params.iter().flatten().map(|name| Name::from(name.as_str()));
        let rest = define.variadic.then(|| Name::from(Self::VARIADIC));
        let conditions = define.conditions.iter().map(|condition| {
            if condition.negated {
                ["!(", &condition.text, ")"].concat().into()
            } else {
                condition.text.as_str().into()
            }
        });
        Self {
            name: Name::from(define.name.as_str()),
            params: define.params.is_some().then(|| names.chain(rest).collect()),
            body: define.body.as_str().into(),
            span: define.span,
            name_span: define.name_span,
            conditions: conditions.collect(),
        }
    }
}

impl Function {
    /// The local that a name means in this Python function, if it binds it; variables of comprehensions are not meant.
    pub fn python_local(&self, name: &str) -> Option<LocalId> {
        let python = self.python.as_ref()?;
        let is_it = |local: &LocalId| {
            self.locals.get(*local).is_some_and(|variable| variable.name == *name)
                && python.inner.binary_search(local).is_err()
        };
        (0..self.locals.len() as u32).map(LocalId).find(is_it)
    }
}
