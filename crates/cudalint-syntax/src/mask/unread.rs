//! What nobody reads in the tree: comments and directives outside of function bodies. Comments there say nothing to the
//! program, and definitions and includes are read by themselves; for the parser each is a token and a node like others.

use super::branches::directive_name;
use super::edit::{Edit, NONE, Scope, p};
use crate::lexer::Kind;
use crate::span::Span;

/// Shorter stretches are left: the parser passes over long stretches of blanks alone, and reads a comment faster than as
/// many blanks.
const WORTHWHILE: u32 = 160;

/// Blanks long stretches of them. Tokens and brackets have to be fresh.
pub(super) fn run(edit: &mut Edit<'_>) {
    // The last token that is no directive.
    let mut last = NONE;
    // Where what is read ended.
    let mut from = 0;
    let mut i = 0;
    while let Some(kind) = edit.kind(i) {
        let apart = kind == Kind::Directive && ends_declaration(edit, last) && is_read_apart(edit.text(i));
        if !apart {
            let span = edit.span(i);
            blank(edit, from, span.start);
            from = span.end;
        }
        if kind != Kind::Directive {
            let mate = edit.mate(i);
            if mate != NONE && edit.is(i, b'{') && edit.scope_of(i) == Scope::Block {
                // A comment in a body may stand for code that was left out.
                i = mate;
                from = edit.span(mate).end;
            }
            last = i;
        }
        i += 1;
    }
    let end = edit.raw.len() as u32;
    blank(edit, from, end);
}

fn blank(edit: &mut Edit<'_>, from: u32, to: u32) {
    if to.saturating_sub(from) >= WORTHWHILE {
        edit.blank(Span { start: from, end: to });
    }
}

/// Whether a declaration has ended at a token: elsewhere the grammar may need the directive to tell where one does.
fn ends_declaration(edit: &Edit<'_>, last: usize) -> bool {
    let in_scope = |i: usize| matches!(edit.scope(i), Scope::Namespace | Scope::Class);
    match edit.punct(last) {
        _ if last == NONE => true,
        c if c == p(b';') => in_scope(last),
        c if c == p(b'{') => matches!(edit.scope_of(last), Scope::Namespace | Scope::Class),
        c if c == p(b'}') => {
            let open = edit.mate(last);
            open != NONE && in_scope(open) && matches!(edit.scope_of(open), Scope::Namespace | Scope::Block)
        }
        _ => false,
    }
}

fn is_read_apart(spelled: &[u8]) -> bool {
    matches!(directive_name(spelled), b"define" | b"include" | b"undef" | b"pragma")
}
