//! Source text to trees: one job, and the only crate that names a grammar.
//!
//! Bytes become a [`SourceText`]; a source has one or more [`Region`]s (a `.cu` is one region, a Markdown file has one
//! per fence); a region becomes a [`ParsedRegion`]: a tree-sitter tree whose byte offsets are those of the whole file,
//! made from a masked copy of the same length. Nothing here reads files, and parsing never fails on content: what the
//! grammar cannot read is listed as damage.
//!
//! Read the text of a node from the raw text by its byte range, never from the tree's own view: the mask may have
//! respelled it ([`MaskKind`]). Trees may be thousands of levels deep (chains of operators or `else if`), so walk them
//! with a cursor or count the depth.

mod comments;
mod declarations;
mod defines;
mod embedded;
mod files;
mod flaws;
mod functions;
mod indents;
mod items;
mod kept;
mod keywords;
pub mod kinds;
mod lexer;
mod macros;
mod mask;
mod notebook;
mod parse;
pub mod preprocessor;
mod python_mask;
mod region;
mod respell;
mod runs;
mod source;
mod span;
mod stretches;
mod tree;
mod vendors;

pub use comments::{Comment, comments};
pub use declarations::{Declaration, Declarations, declarations, words};
pub use defines::{Condition, Define, Directives, IfBranch, IfGroup, Include, Undef, scan_directives};
pub use embedded::{CUPY_BODY_FUNCTION, CupyBody, CupyBodyKind, CupyParameter, Embedded, embedded_cuda};
pub use files::{FileKind, contains_cuda, contains_gpu_python, notebook_may_use_gpu};
pub use flaws::{Flaw, flaw};
pub use functions::{FunctionText, called_names, function_texts, may_launch};
pub use items::{Item, ItemKind, items};
pub use kept::KeptTrees;
pub use keywords::is_caps;
pub use lexer::MAX_NESTING;
pub use macros::MacroTable;
pub use mask::{MaskKind, MaskNote, Masked, SpaceBits, mask};
pub use notebook::Cell;
pub use parse::{
    FragmentKind, ParsedFragment, ParsedRegion, ParserPool, Refusal, parse_fragment, parse_region, parse_region_without,
};
pub use preprocessor::{Build, BuildMacros};
pub use python_mask::{PythonChevron, python_chevrons};
pub use region::{Language, Region, regions};
pub use source::{MAX_SOURCE_BYTES, SourceProblem, SourceText};
pub use span::Span;
pub use stretches::{FileText, Stretch};
pub use tree::{each_node, named_children};
pub use tree_sitter::{Node, Tree, TreeCursor};
pub use vendors::{is_for_hip, meaning_for_hip};
