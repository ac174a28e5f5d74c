//! Expressions: what they are, and the macros and template arguments that they stand with.

pub use cudalint_numbers::{BinaryOp, UnaryOp};

use super::ids::{ExpansionId, ExprId, FunctionId, LocalId, Path, StmtId, TypeId};
use super::python::PythonExpr;
use crate::api::ApiId;
use crate::name::Name;
use cudalint_syntax::Span;
use std::sync::Arc;

/// Where something came from when a macro was expanded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expansion {
    /// The macro's name.
    pub name: Name,
    /// The call site in this module's file: the span that messages use.
    pub site: Span,
}

/// An expression with its place.
#[derive(Clone, Debug)]
pub struct ExprNode {
    /// What it is.
    pub kind: Expr,
    /// Where it is written in this module's file. Inside a macro expansion: the argument's own span for what came from
    /// an argument, else the span of the outermost call of the macro.
    pub span: Span,
    /// The outermost macro whose expansion this stands in: see [`super::Module::expansion`].
    pub expansion: Option<ExpansionId>,
}

/// Expressions.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // The fields are said in the variants' own words.
pub enum Expr {
    /// An integer, character or Boolean literal with its C type.
    Int { value: i64, bytes: u8, signed: bool },
    /// A floating-point literal; `bytes` is 4 or 8.
    Float { value: f64, bytes: u8 },
    /// A string literal, decoded as far as needed.
    Str(Arc<str>),
    /// `nullptr`, `NULL`, `None`.
    Null,
    /// A parameter or local variable of the function around.
    Local(LocalId),
    /// A name that is not local: global, enumerator, function, template parameter, member of `this`, or unknown.
    Name { path: Path, targs: TemplateArgs },
    /// `this`.
    This,
    /// `-x`, `!x`, `~x`, `+x`.
    Unary(UnaryOp, ExprId),
    /// `a + b` and so on, short circuits excluded.
    Binary(BinaryOp, ExprId, ExprId),
    /// `a && b`.
    AndThen(ExprId, ExprId),
    /// `a || b`.
    OrElse(ExprId, ExprId),
    /// `a = b`, or `a op= b`.
    Assign { op: Option<BinaryOp>, target: ExprId, value: ExprId },
    /// `++a`, `a--`.
    Step { prefix: bool, by: i8, target: ExprId },
    /// `c ? a : b`.
    Select(ExprId, ExprId, ExprId),
    /// `(T)x`, `T(x)` with one argument of arithmetic or pointer type, `static_cast<T>(x)`.
    Cast { ty: TypeId, value: ExprId },
    /// `sizeof(T)`.
    SizeOfType(TypeId),
    /// `sizeof x`.
    SizeOfExpr(ExprId),
    /// `a[i]`; several indices for Python's `a[i, j]`.
    Index { base: ExprId, indices: Vec<ExprId> },
    /// `a.b`, `a->b`.
    Member { base: ExprId, name: Name, arrow: bool },
    /// `*p`.
    Deref(ExprId),
    /// `&x`.
    AddressOf(ExprId),
    /// `f(a, b)`; the callee's name carries its template arguments.
    Call { callee: ExprId, args: Vec<ExprId> },
    /// A kernel launch, in any spelling whose configuration is in sight.
    Launch(Box<LaunchExpr>),
    /// `T(a, b)`, `T{a, b}`, `dim3(16, 16)`.
    Construct { ty: TypeId, args: Vec<ExprId>, braces: bool },
    /// `{a, b}` where no type is written.
    InitList(Vec<ExprId>),
    /// `.field = value` inside an initializer list.
    Designated { field: Name, value: ExprId },
    /// `new T`, `new T[n]`.
    New { ty: TypeId, count: Option<ExprId>, args: Box<[ExprId]> },
    /// `new (at) T(a, b)`, `new (at) T[n]`: an object in memory that is there already.
    Place { at: ExprId, ty: TypeId, count: Option<ExprId>, args: Box<[ExprId]> },
    /// `delete p`, `delete[] p`.
    Delete { value: ExprId, array: bool },
    /// A lambda; its body is a function of this module.
    Lambda { function: FunctionId, by_reference: bool },
    /// `a, b`: the value is the last.
    Comma(Vec<ExprId>),
    /// A macro or GNU statement expression used for its statements; the value, if any, is that of the last.
    Statements(Vec<StmtId>),
    /// `throw x`.
    Throw(Option<ExprId>),
    /// Expressions that only Python has.
    Python(Box<PythonExpr>),
    /// Whether the device's pass of the compiler reads this: what `#ifdef __CUDA_ARCH__` asks in a function for both sides.
    OnDevice,
    /// Not understood; the children are still evaluated.
    Unknown(Vec<ExprId>),
}

/// A kernel launch: `k<T><<<grid, block, shared, stream>>>(args)`, `cudaLaunchKernel`, `k[grid, block](args)`.
#[derive(Clone, Debug)]
pub struct LaunchExpr {
    /// The kernel: usually a name with template arguments.
    pub kernel: ExprId,
    /// Grid, block, dynamic shared bytes, stream, as far as given.
    pub config: Vec<ExprId>,
    /// Kernel arguments.
    pub args: Vec<ExprId>,
    /// Whether this is `<<<…>>>`; else a call that returns a status.
    pub chevron: bool,
    /// The function that such a call names.
    pub api: Option<ApiId>,
    /// The span of the configuration alone.
    pub config_span: Span,
    /// The `cudaLaunchConfig_t` of `cudaLaunchKernelEx`, as written (`&config`); then `config` is empty.
    pub attributes: Option<ExprId>,
}

/// A template argument.
#[derive(Clone, Debug, PartialEq)]
pub enum TemplateArg {
    /// A type.
    Type(TypeId),
    /// A value.
    Value(ExprId),
    /// A bare name, which may be either.
    Ambiguous(TypeId, ExprId),
}

/// Template arguments at the use of a name. Most names have none: one pointer, so that expressions stay small.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(clippy::box_collection)] // Thin on purpose.
pub struct TemplateArgs(Option<Box<Vec<TemplateArg>>>);

impl From<Vec<TemplateArg>> for TemplateArgs {
    fn from(args: Vec<TemplateArg>) -> Self {
        Self((!args.is_empty()).then(|| Box::new(args)))
    }
}

impl std::ops::Deref for TemplateArgs {
    type Target = [TemplateArg];
    fn deref(&self) -> &[TemplateArg] {
        self.0.as_deref().map_or(&[], Vec::as_slice)
    }
}

impl<'a> IntoIterator for &'a TemplateArgs {
    type Item = &'a TemplateArg;
    type IntoIter = std::slice::Iter<'a, TemplateArg>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl Expr {
    /// The Python-only expression that this is.
    pub fn python(&self) -> Option<&PythonExpr> {
        match self {
            Self::Python(expr) => Some(expr),
            _ => None,
        }
    }
}
