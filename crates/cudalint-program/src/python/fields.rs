//! Field numbers of the grammar, looked up once: a field that is asked for by its name is looked for among all of them each time.

use cudalint_syntax::Node;
use cudalint_syntax::kinds::python_language;
use std::sync::OnceLock;

macro_rules! fields {
    ($($name:ident = $text:literal,)*) => {
        /// A field of a node.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs)]
        pub(super) enum Field { $($name,)* }
        const NAMES: &[&str] = &[$($text,)*];
    };
}

fields! {
    Alias = "alias",
    Argument = "argument",
    Arguments = "arguments",
    Attribute = "attribute",
    Body = "body",
    Consequence = "consequence",
    Function = "function",
    Left = "left",
    ModuleName = "module_name",
    Name = "name",
    Object = "object",
    Operator = "operator",
    Right = "right",
    Subscript = "subscript",
    Value = "value",
}

/// The child in a field.
pub(super) fn field(node: Node<'_>, field: Field) -> Option<Node<'_>> {
    static IDS: OnceLock<Vec<Option<u16>>> = OnceLock::new();
    let ids = IDS.get_or_init(|| {
        let language = python_language();
        NAMES.iter().map(|name| language.field_id_for_name(name).map(std::num::NonZeroU16::get)).collect()
    });
    node.child_by_field_id(ids.get(field as usize).copied().flatten()?)
}
