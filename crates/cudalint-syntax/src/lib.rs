//! Source text to trees: one job, and the only crate that names a grammar.
//!
//! Bytes become a [`SourceText`]; a source has one or more [`Region`]s (a `.cu` is one region, a Markdown file has one
//! per fence); a region becomes a [`ParsedRegion`]: a tree-sitter tree whose byte offsets are those of the whole file,
//! made from a masked copy of the same length. Nothing here reads files, and parsing never fails on content: what the
//! grammar cannot read is listed as damage.

pub mod kinds;
mod span;

pub use span::Span;
pub use tree_sitter::{Node, Tree, TreeCursor};
