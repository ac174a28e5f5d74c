//! What the rules on Python files share.

use cudalint_engine::NodeContext;
use cudalint_findings::Place;
use cudalint_syntax::{Node, Span};
use std::sync::Arc;

/// Whether a node is the root of its file or fence: the place where a rule reads the facts of all of it.
pub fn at_root(node: Node<'_>) -> bool {
    node.parent().is_none()
}

/// A span of the file as a place.
pub fn place(context: &NodeContext<'_>, span: Span) -> Place {
    Place { path: Arc::clone(context.path), range: span.range() }
}
