//! The position-preserving mask: a copy of the text, equally long, that the grammar can read.

mod ambiguous;
mod arguments;
mod attributes;
mod branches;
mod builtin;
mod edit;
mod gaps;
mod less;
mod note;
mod places;
mod semicolons;
mod unread;

use crate::defines::Define;
use crate::lexer::{Lexed, MAX_NESTING, Token, lex};
use crate::macros::MacroTable;
use crate::preprocessor::{BuildMacros, Conditions};
use crate::span::Span;
pub use note::{MaskKind, MaskNote, SpaceBits};

/// A masked text.
#[derive(Clone, Debug, Default)]
pub struct Masked {
    /// The masked bytes of the region, as long as the region.
    pub text: Vec<u8>,
    /// What was changed, in order of the text.
    pub notes: Vec<MaskNote>,
    /// The tokens that are left.
    pub(crate) tokens: Vec<Token>,
    /// Where the heads of macros end that have no body, and blanks behind.
    pub(crate) bare: Vec<usize>,
}

/// Masks a region of CUDA C++ text. A text that nests deeper than [`crate::MAX_NESTING`] is left as it is.
pub fn mask(text: &str, region: Span, macros: &MacroTable, file_defines: &[Define]) -> Masked {
    let raw = text.as_bytes().get(region.range()).unwrap_or(&[]);
    let lexed = lex(raw, 0);
    if lexed.depth > MAX_NESTING {
        return Masked { text: raw.to_vec(), ..Masked::default() };
    }
    mask_lexed(raw, region.start, lexed, macros, file_defines, BuildMacros::of_default())
}

/// The tokens of a region without the branches that the mask takes out.
pub(crate) fn live_tokens(
    raw: &[u8],
    offset: u32,
    macros: &MacroTable,
    defines: &[Define],
    conditions: &dyn Conditions,
) -> Vec<Token> {
    let mut edit = edit::Edit::new(raw, lex(raw, 0).tokens, macros, defines);
    branches::clean_directives(&mut edit);
    edit.refresh();
    branches::run(&mut edit, offset, conditions);
    edit.tokens
}

/// Masks the bytes of a region that stands at `offset`, already lexed.
pub(crate) fn mask_lexed(
    raw: &[u8],
    offset: u32,
    lexed: Lexed,
    macros: &MacroTable,
    defines: &[Define],
    conditions: &dyn Conditions,
) -> Masked {
    let mut edit = edit::Edit::new(raw, lexed.tokens, macros, defines);
    branches::clean_directives(&mut edit);
    edit.refresh();
    branches::run(&mut edit, offset, conditions);
    unread::run(&mut edit);
    builtin::run(&mut edit);
    attributes::defined(&mut edit);
    attributes::shaped(&mut edit);
    arguments::statements(&mut edit);
    arguments::types(&mut edit);
    edit.refresh();
    gaps::run(&mut edit);
    semicolons::run(&mut edit);
    less::run(&mut edit);
    ambiguous::run(&mut edit);
    let mut notes = edit.notes;
    for note in &mut notes {
        note.span.start += offset;
        note.span.end += offset;
    }
    notes.sort_by_key(|note| (note.span.start, note.span.end));
    Masked { text: edit.out, notes, tokens: edit.tokens, bare: edit.bare }
}
