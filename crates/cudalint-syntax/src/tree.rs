//! Ways through a tree.

use tree_sitter::Node;

/// The named children of a node.
pub fn named_children(node: Node<'_>) -> impl DoubleEndedIterator<Item = Node<'_>> {
    (0..node.named_child_count()).filter_map(move |index| node.named_child(index as u32))
}

/// Calls `visit` for each node of a tree, parents first, with how deep below the root it lies.
pub fn each_node<'t>(root: Node<'t>, mut visit: impl FnMut(Node<'t>, usize)) {
    let mut cursor = root.walk();
    let mut depth = 0usize;
    loop {
        visit(cursor.node(), depth);
        if cursor.goto_first_child() {
            depth += 1;
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
            depth -= 1;
        }
    }
}
