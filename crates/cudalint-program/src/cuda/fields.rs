//! Field numbers of the grammar, looked up once.

use cudalint_syntax::Node;
use cudalint_syntax::kinds::cuda_language;
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
