//! Field numbers of the grammar, looked up once.

use super::source::{Src, child_of_kind, first_child};
use cudalint_syntax::Node;
use cudalint_syntax::kinds::{CudaKind, cuda_kind, cuda_language};
use std::sync::OnceLock;

macro_rules! fields {
    ($($name:ident = $text:literal,)*) => {
        /// A field of a node.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs, clippy::enum_variant_names)]
        pub(crate) enum Field { $($name,)* }
        const NAMES: &[&str] = &[$($text,)*];
    };
}

fields! {
    Alternative = "alternative",
    Argument = "argument",
    Arguments = "arguments",
    AssemblyCode = "assembly_code",
    Base = "base",
    Body = "body",
    Captures = "captures",
    Condition = "condition",
    Consequence = "consequence",
    Declarator = "declarator",
    DefaultType = "default_type",
    DefaultValue = "default_value",
    Designator = "designator",
    FieldName = "field",
    Function = "function",
    Indices = "indices",
    Initializer = "initializer",
    InputOperands = "input_operands",
    Label = "label",
    Left = "left",
    Length = "length",
    Name = "name",
    Operator = "operator",
    OutputOperands = "output_operands",
    Parameters = "parameters",
    Placement = "placement",
    Right = "right",
    Scope = "scope",
    Size = "size",
    TypeOf = "type",
    Update = "update",
    Value = "value",
}

static IDS: OnceLock<Vec<Option<u16>>> = OnceLock::new();

fn id(field: Field) -> Option<u16> {
    let ids = IDS.get_or_init(|| {
        let language = cuda_language();
        NAMES.iter().map(|name| language.field_id_for_name(name).map(std::num::NonZeroU16::get)).collect()
    });
    ids.get(field as usize).copied().flatten()
}

/// The child in a field.
pub(crate) fn field(node: Node<'_>, field: Field) -> Option<Node<'_>> {
    node.child_by_field_id(id(field)?)
}

/// The children of a node that has exactly so many: cheaper than to ask for each by its field. With a comment or damage
/// among them there are more.
pub(crate) fn exactly<const N: usize>(node: Node<'_>) -> Option<[Node<'_>; N]> {
    if node.child_count() as usize != N {
        return None;
    }
    let mut found = [node; N];
    for (index, slot) in found.iter_mut().enumerate() {
        *slot = node.child(index as u32)?;
    }
    Some(found)
}

/// Some children of a node that has exactly so many: each is the more expensive the further behind it stands.
pub(crate) fn picked<const N: usize>(node: Node<'_>, count: usize, at: [u32; N]) -> Option<[Node<'_>; N]> {
    if node.child_count() as usize != count {
        return None;
    }
    let mut found = [node; N];
    for (index, slot) in at.into_iter().zip(&mut found) {
        *slot = node.child(index)?;
    }
    Some(found)
}

/// The outer two of three children, with the text between them: mostly that is the operator alone.
pub(crate) fn around<'t>(s: Src<'t>, node: Node<'t>) -> Option<(Node<'t>, &'t str, Node<'t>)> {
    let [left, right] = picked(node, 3, [0, 2])?;
    Some((left, super::source::trim(s.text.get(left.end_byte()..right.start_byte())?), right))
}

/// The operands and the operator of `a op b`.
pub(crate) fn infix(node: Node<'_>) -> Option<(Node<'_>, Option<Node<'_>>, Node<'_>)> {
    if let Some([left, operator, right]) = exactly(node) {
        return Some((left, Some(operator), right));
    }
    Some((field(node, Field::Left)?, field(node, Field::Operator), field(node, Field::Right)?))
}

/// The operator and the operand of `op a`.
pub(crate) fn prefix(node: Node<'_>) -> Option<(Node<'_>, Node<'_>)> {
    if let Some([operator, argument]) = exactly(node) {
        return Some((operator, argument));
    }
    Some((field(node, Field::Operator)?, field(node, Field::Argument)?))
}

/// The type and the value of `(T)a`.
pub(crate) fn cast_parts(cast: Node<'_>) -> Option<(Node<'_>, Node<'_>)> {
    if let Some([ty, value]) = picked(cast, 4, [1, 3])
        && cuda_kind(ty) == CudaKind::TypeDescriptor
        && cuda_kind(value) != CudaKind::Comment
    {
        return Some((ty, value));
    }
    Some((field(cast, Field::TypeOf)?, field(cast, Field::Value)?))
}

/// What is called and the list of arguments.
pub(crate) fn callee_and_list(call: Node<'_>) -> Option<(Node<'_>, Node<'_>)> {
    if let Some([function, list]) = exactly(call) {
        return Some((function, list));
    }
    Some((field(call, Field::Function)?, field(call, Field::Arguments)?))
}

/// The declarator inside an initialized one, and its value.
pub(crate) fn value_of(initialized: Node<'_>) -> Option<(Node<'_>, Node<'_>)> {
    if let Some([declarator, value]) = picked(initialized, 3, [0, 2]) {
        return Some((declarator, value));
    }
    let value = field(initialized, Field::Value)?;
    Some((field(initialized, Field::Declarator)?, value))
}

/// The list of a function declarator's parameters.
pub(crate) fn parameters_of(declarator: Node<'_>) -> Option<Node<'_>> {
    match picked(declarator, 2, [1]) {
        Some([list]) if cuda_kind(list) == CudaKind::ParameterList => Some(list),
        _ => field(declarator, Field::Parameters),
    }
}

/// Condition, first branch and `else` of an `if`.
pub(crate) fn if_parts(node: Node<'_>) -> Option<(Node<'_>, Option<Node<'_>>, Option<Node<'_>>)> {
    let count = node.child_count();
    if matches!(count, 3 | 4)
        && let Some([clause, then]) = picked(node, count as usize, [1, 2])
        && cuda_kind(clause) == CudaKind::ConditionClause
        && then.is_named()
        && cuda_kind(then) != CudaKind::Comment
    {
        let last = if count == 4 { node.child(3) } else { None };
        if last.is_none_or(|last| cuda_kind(last) == CudaKind::ElseClause) {
            return Some((clause, Some(then), last));
        }
    }
    let clause = field(node, Field::Condition)?;
    Some((clause, field(node, Field::Consequence), field(node, Field::Alternative)))
}

/// What is declared before a condition, and the condition itself.
pub(crate) fn clause_parts(clause: Node<'_>) -> (Option<Node<'_>>, Option<Node<'_>>) {
    let is_clause = cuda_kind(clause) == CudaKind::ConditionClause;
    if is_clause
        && let Some([value]) = picked(clause, 3, [1])
        && value.is_named()
        && !matches!(cuda_kind(value), CudaKind::Comment | CudaKind::Error | CudaKind::Other)
    {
        return (None, Some(value));
    }
    (field(clause, Field::Initializer), if is_clause { field(clause, Field::Value) } else { Some(clause) })
}

/// All children in a field.
pub(crate) fn fields(node: Node<'_>, field: Field) -> Vec<Node<'_>> {
    let Some(id) = id(field).and_then(std::num::NonZeroU16::new) else { return Vec::new() };
    let mut cursor = node.walk();
    let mut found = Vec::new();
    if cursor.goto_first_child() {
        loop {
            if cursor.field_id() == Some(id) {
                found.push(cursor.node());
            }
            if !cursor.goto_next_sibling() {
                break;
            }
        }
    }
    found
}

/// What an expression statement holds. The mask writes a `!` into the blank before some calls, so that the grammar is in
/// no question whether a declaration starts there: no such operator stands in the text.
pub(crate) fn statement_expression<'t>(s: Src<'t>, statement: Node<'t>) -> Option<Node<'t>> {
    let inner = match picked(statement, 2, [0]) {
        Some([inner]) if inner.is_named() && cuda_kind(inner) != CudaKind::Comment => inner,
        _ => first_child(statement)?,
    };
    if cuda_kind(inner) == CudaKind::UnaryExpression && s.is_blank(inner.start_byte()) {
        return picked(inner, 2, [1]).map(|[argument]| argument).or_else(|| field(inner, Field::Argument));
    }
    Some(inner)
}

/// The configuration of a launch, if a call is one.
pub(super) fn configuration(node: Node<'_>) -> Option<Node<'_>> {
    child_of_kind(node, CudaKind::KernelCallSyntax)
}
