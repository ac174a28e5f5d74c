//! What kind of value an expression has, as far as a launch needs it.

use super::fields::{Field, field};
use super::scope::{File, Value};
use crate::api::ApiId;
use crate::api::effects::{Effect, Library, Size};
use crate::api::packages::{MathOp, PythonOp};
use cudalint_numbers::Scalar;
use cudalint_syntax::kinds::{PythonKind, python_kind};
use cudalint_syntax::{Node, named_children};

/// How deep expressions and names are followed.
const MAX_DEPTH: usize = 12;

/// The kind of a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind<'t> {
    Int,
    /// Or anything else that is surely no integer: the result of `/`.
    Float,
    /// With its elements, where they are written.
    Tuple(Option<Vec<Node<'t>>>),
    List,
    /// An array of `numpy`, `cupy` or `numba`.
    Array,
    /// A memory pointer, made by this call.
    Pointer(Node<'t>),
    Unknown,
}

/// The positional arguments of a call.
pub(super) fn positional(call: Node<'_>) -> Vec<Node<'_>> {
    let Some(arguments) = field(call, Field::Arguments) else { return Vec::new() };
    named_children(arguments)
        .filter(|argument| !matches!(python_kind(*argument), PythonKind::KeywordArgument | PythonKind::Comment))
        .collect()
}

/// The named children of a bracketed list, without comments; `None` when one is unpacked (`*x`).
pub(super) fn elements(node: Node<'_>) -> Option<Vec<Node<'_>>> {
    let all: Vec<_> = named_children(node).filter(|child| python_kind(*child) != PythonKind::Comment).collect();
    (!all.iter().any(|child| python_kind(*child) == PythonKind::ListSplat)).then_some(all)
}

impl<'t> File<'t> {
    /// The kind of an expression's value at its place.
    pub fn kind_of(&self, scope: usize, node: Node<'t>) -> Kind<'t> {
        self.kind_within(scope, node, MAX_DEPTH)
    }

    fn kind_within(&self, scope: usize, node: Node<'t>, depth: usize) -> Kind<'t> {
        let Some(depth) = depth.checked_sub(1) else { return Kind::Unknown };
        match python_kind(node) {
            PythonKind::Integer => {
                // Python 2 wrote long integers with an `L`; a complex number ends in `j`.
                if self.text_of(node).ends_with(['j', 'J']) { Kind::Unknown } else { Kind::Int }
            }
            PythonKind::Float if !self.text_of(node).ends_with(['j', 'J']) => Kind::Float,
            PythonKind::Tuple => Kind::Tuple(elements(node)),
            PythonKind::List => Kind::List,
            PythonKind::ParenthesizedExpression => match elements(node).as_deref() {
                Some([inner]) => self.kind_within(scope, *inner, depth),
                _ => Kind::Unknown,
            },
            PythonKind::UnaryOperator => match field(node, Field::Argument) {
                Some(inner) => match self.kind_within(scope, inner, depth) {
                    kind @ (Kind::Int | Kind::Float) => kind,
                    _ => Kind::Unknown,
                },
                None => Kind::Unknown,
            },
            PythonKind::BinaryOperator => self.binary(scope, node, depth),
            PythonKind::ConditionalExpression => {
                let (Some(first), Some(second)) = (node.named_child(0), node.named_child(2)) else {
                    return Kind::Unknown;
                };
                let kind = self.kind_within(scope, first, depth);
                if kind == self.kind_within(scope, second, depth) && !matches!(kind, Kind::Tuple(_)) {
                    kind
                } else {
                    Kind::Unknown
                }
            }
            PythonKind::Call => self.call_kind(scope, node, depth),
            PythonKind::Subscript => {
                let shape = field(node, Field::Value).filter(|value| {
                    python_kind(*value) == PythonKind::Attribute
                        && field(*value, Field::Attribute).is_some_and(|name| self.text_of(name) == "shape")
                });
                let index = field(node, Field::Subscript);
                let one = index.is_some_and(|index| python_kind(index) == PythonKind::Integer);
                if shape.is_some() && one { Kind::Int } else { Kind::Unknown }
            }
            PythonKind::Identifier => {
                let name = self.text_of(node);
                match self.binding(scope, name, node).map(|binding| &binding.value) {
                    Some(Value::Expression(value)) if *value != node => self.kind_within(scope, *value, depth),
                    _ => Kind::Unknown,
                }
            }
            _ => Kind::Unknown,
        }
    }

    fn binary(&self, scope: usize, node: Node<'t>, depth: usize) -> Kind<'t> {
        let (Some(left), Some(right), Some(operator)) =
            (field(node, Field::Left), field(node, Field::Right), field(node, Field::Operator))
        else {
            return Kind::Unknown;
        };
        let sides = (self.kind_within(scope, left, depth), self.kind_within(scope, right, depth));
        match (self.text_of(operator), sides) {
            ("/", (Kind::Array | Kind::Pointer(_), _) | (_, Kind::Array | Kind::Pointer(_))) => Kind::Unknown,
            ("/", _) if self.python2 => Kind::Unknown,
            // A path divided by a string is a path, which is no number at all.
            ("/", (Kind::Int | Kind::Float, _) | (_, Kind::Int | Kind::Float)) => Kind::Float,
            ("/", _) => Kind::Unknown,
            ("**", (Kind::Int, Kind::Int)) if python_kind(right) == PythonKind::Integer => Kind::Int,
            ("+" | "-" | "*" | "//" | "%", (Kind::Float, Kind::Int | Kind::Float) | (Kind::Int, Kind::Float)) => {
                Kind::Float
            }
            ("+" | "-" | "*" | "//" | "%" | "<<" | ">>" | "&" | "|" | "^", (Kind::Int, Kind::Int)) => Kind::Int,
            // A tuple has none of these with a number, and a number and something unknown is no tuple.
            ("+" | "-" | "//", (Kind::Int, Kind::Unknown) | (Kind::Unknown, Kind::Int)) => Kind::Int,
            _ => Kind::Unknown,
        }
    }

    fn call_kind(&self, scope: usize, call: Node<'t>, depth: usize) -> Kind<'t> {
        let Some(function) = field(call, Field::Function) else { return Kind::Unknown };
        let arguments = positional(call);
        if python_kind(function) == PythonKind::Identifier
            && self.binding(scope, self.text_of(function), function).is_none()
        {
            return match self.text_of(function) {
                "len" | "int" => Kind::Int,
                "round" if arguments.len() == 1 && !self.python2 => Kind::Int,
                "float" => Kind::Float,
                "tuple" => Kind::Tuple(None),
                "list" => Kind::List,
                "min" | "max" if arguments.len() > 1 => {
                    let mut kinds = arguments.iter().map(|argument| self.kind_within(scope, *argument, depth));
                    if kinds.all(|kind| kind == Kind::Int) { Kind::Int } else { Kind::Unknown }
                }
                _ => Kind::Unknown,
            };
        }
        let Some(path) = self.path(scope, function) else { return Kind::Unknown };
        if path.strip_prefix("numpy.").and_then(Scalar::of_numpy).is_some_and(Scalar::is_float) {
            return Kind::Float;
        }
        let Some(api) = ApiId::of_python(&path).filter(|api| !api.name().ends_with('*')) else { return Kind::Unknown };
        let draws = api.python_ops().any(|op| matches!(op, PythonOp::Draws { .. }));
        if api.makes_array() || draws && !arguments.is_empty() {
            return Kind::Array;
        }
        let pointer = api.effects.iter().any(|effect| {
            matches!(effect, Effect::Allocates { size: Size::Bytes(_), .. } | Effect::Python(PythonOp::Offset { .. }))
        });
        let float = api.gives.is_some() || api.python_ops().any(|op| op == PythonOp::Elementwise { float: true });
        match (api.library, api.math()) {
            (Library::CuPy, _) if pointer => Kind::Pointer(call),
            (Library::Python, Some(MathOp::Ceil | MathOp::Floor | MathOp::Trunc)) if self.python2 => Kind::Unknown,
            (Library::Python, Some(MathOp::Ceil | MathOp::Floor | MathOp::Trunc | MathOp::Whole)) => Kind::Int,
            (Library::Python, Some(MathOp::Test | MathOp::Min | MathOp::Max | MathOp::Abs) | None) => Kind::Unknown,
            (Library::Python, Some(_)) => Kind::Float,
            (Library::NumPy, Some(MathOp::Ceil | MathOp::Floor | MathOp::Trunc | MathOp::Rint)) => Kind::Float,
            (Library::NumPy, _) if float => Kind::Float,
            _ => Kind::Unknown,
        }
    }
}
