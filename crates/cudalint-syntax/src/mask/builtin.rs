//! Attributes that CUDA and the compilers define and that the grammar cannot place.

use super::edit::{Edit, NONE, p};
use super::{MaskKind, SpaceBits};
use crate::keywords::{Group, W};
use crate::lexer::code;
use crate::macros::space_of;

/// Attributes that CUDA and the compilers define.
pub(super) fn run(edit: &mut Edit<'_>) {
    for i in 0..edit.len() {
        let Some(word) = edit.word(i) else { continue };
        match word {
            W::Align | W::Builtin => align(edit, i),
            W::Attribute | W::Attribute1 | W::Declspec => with_arguments(edit, i, MaskKind::Other),
            W::PragmaOp | W::Pragma1 => with_arguments(edit, i, MaskKind::Other),
            W::ClusterDims | W::BlockSize | W::Maxnreg | W::LocalMaxnreg => {
                with_arguments(edit, i, MaskKind::KernelAttribute);
            }
            W::LaunchBounds => launch_bounds(edit, i),
            W::TileGlobal => {
                let span = edit.span(i);
                edit.overlay(span, b"__global__");
                edit.respell(i, W::Global);
                edit.note(span, MaskKind::AttributeMacro(SpaceBits::GLOBAL));
            }
            W::Pure
            | W::Tile
            | W::Extension
            | W::Cdecl
            | W::Stdcall
            | W::Vectorcall
            | W::CudartCb
            | W::DeviceBuiltin
            | W::CudartBuiltin => drop_one(edit, i),
            // The grammar takes one qualifier after a pointer.
            W::Restrict | W::Restrict1 | W::Restrict2 if i > 0 && edit.group(i - 1) == Some(Group::Qualifier) => {
                drop_one(edit, i);
            }
            W::Device | W::Host | W::Global => lambda_space(edit, i),
            _ => {}
        }
    }
    edit.refresh();
}

fn drop_one(edit: &mut Edit<'_>, i: usize) {
    let span = edit.span(i);
    edit.drop_tokens(i, i);
    edit.note(span, MaskKind::Other);
}

/// Index of the last token of a name with its arguments, if it has any.
pub(super) fn call_end(edit: &Edit<'_>, i: usize) -> usize {
    if edit.is(i + 1, b'(') && edit.mate(i + 1) != NONE { edit.mate(i + 1) } else { i }
}

fn with_arguments(edit: &mut Edit<'_>, i: usize, kind: MaskKind) {
    let end = call_end(edit, i);
    let span = edit.between(i, end);
    if kind == MaskKind::Other && span_text(edit, i, end).windows(7).any(|w| w == b"aligned") {
        // `aligned(N)`: the innermost parentheses hold the expression.
        if let Some(at) = (i..end).find(|j| matches!(edit.text(*j), b"aligned" | b"__aligned__"))
            && edit.is(at + 1, b'(')
            && edit.mate(at + 1) != NONE
            && at + 2 < edit.mate(at + 1)
        {
            let expression = edit.between(at + 2, edit.mate(at + 1) - 1);
            edit.note(expression, MaskKind::Align);
        }
    }
    edit.drop_tokens(i, end);
    edit.note(span, kind);
}

fn span_text<'t>(edit: &Edit<'t>, a: usize, b: usize) -> &'t [u8] {
    edit.raw.get(edit.between(a, b).range()).unwrap_or(&[])
}

/// `__align__(N)`: becomes `alignas  (N)` between a class key and a name, and is blanked elsewhere.
fn align(edit: &mut Edit<'_>, i: usize) {
    let end = call_end(edit, i);
    if end > i + 2 {
        let expression = edit.between(i + 2, end - 1);
        edit.note(expression, MaskKind::Align);
    }
    let class_key = i > 0 && matches!(edit.word(i - 1), Some(W::Struct | W::Class | W::Union));
    if class_key && end > i && edit.is_name(end + 1) && edit.word(i) == Some(W::Align) {
        let span = edit.span(i);
        edit.overlay(span, b"alignas  ");
        edit.respell(i, W::Alignas);
    } else {
        edit.drop_tokens(i, end);
    }
}

/// Blanks the third argument of `__launch_bounds__`.
fn launch_bounds(edit: &mut Edit<'_>, i: usize) {
    let close = call_end(edit, i);
    let mut commas = 0;
    let mut j = i + 2;
    while j < close {
        match edit.punct(j) {
            c if c == p(b'(') || c == p(b'[') || c == p(b'{') => {
                let mate = edit.mate(j);
                if mate == NONE {
                    return;
                }
                j = mate;
            }
            c if c == p(b',') => {
                commas += 1;
                if commas == 2 && j + 1 < close {
                    let expression = edit.between(j + 1, close - 1);
                    edit.drop_tokens(j, close - 1);
                    edit.note(expression, MaskKind::LaunchBoundsThird);
                    return;
                }
            }
            _ => {}
        }
        j += 1;
    }
}

/// Whether the `]` at `i` closes the captures of a lambda.
fn closes_captures(edit: &Edit<'_>, i: usize) -> bool {
    let open = edit.mate(i);
    if !edit.is(i, b']') || open == NONE {
        return false;
    }
    let Some(before) = open.checked_sub(1) else { return false };
    // `a[i]`, `f()[i]`, `[[attribute]]`.
    let subscript = edit.is_name(before)
        || edit.is(before, b')')
        || edit.is(before, b']')
        || edit.is(before, b'[')
        || edit.is(open + 1, b'[')
        || edit.is_word(before, W::Operator)
        || edit.is_word(before, W::Delete);
    !subscript
}

/// Whether token `i` stands between a lambda's captures and its parameters or body.
pub(super) fn after_captures(edit: &Edit<'_>, i: usize) -> bool {
    let Some(before) = i.checked_sub(1) else { return false };
    if closes_captures(edit, before) {
        return true;
    }
    // `[] <typename T> __device__ (T a)`.
    if edit.is(before, b'>') {
        for back in 2..40 {
            let Some(j) = i.checked_sub(back) else { return false };
            if edit.is(j, b'<') && j > 0 && closes_captures(edit, j - 1) {
                return true;
            }
            if edit.is(j, b';') || edit.is(j, b'{') {
                return false;
            }
        }
    }
    false
}

/// Whether a token is the last of an operator's name: `operator+`, `operator()`, `operator bool`.
fn ends_operator(edit: &Edit<'_>, last: usize) -> bool {
    let word = |back: usize| last.checked_sub(back).is_some_and(|at| edit.is_word(at, W::Operator));
    word(1) || (word(2) && (edit.is(last, b')') || edit.is(last, b']')))
}

/// Blanks `__device__`, `__host__` of a lambda, and behind an operator's name.
fn lambda_space(edit: &mut Edit<'_>, i: usize) {
    let Some(before) = i.checked_sub(1) else { return };
    let mut end = i;
    let mut bits = SpaceBits::default();
    // Nobody writes more than a few; a run of them is looked at from each of its places.
    while let Some(word) = edit.word(end)
        && edit.group(end) == Some(Group::Space)
        && end - i < 16
    {
        bits.0 |= space_of(word).0;
        end += 1;
    }
    let last = end - 1;
    let after_parameters = edit.is(before, b')')
        && (edit.is(end, b'{')
            || edit.punct(end) == code::ARROW
            || matches!(edit.word(end), Some(W::Mutable | W::Noexcept)))
        && {
            let open = edit.mate(before);
            open != NONE && open > 0 && (closes_captures(edit, open - 1) || edit.is(open - 1, b'>'))
        };
    if edit.is(end, b'(') && ends_operator(edit, before) {
        // `operator+ __device__(int)`: the grammar has attributes before the whole declaration only.
        let span = edit.between(i, last);
        edit.drop_tokens(i, last);
        edit.note(span, MaskKind::AttributeMacro(bits));
        return;
    }
    if after_parameters || after_captures(edit, i) {
        let span = edit.between(i, last);
        edit.drop_tokens(i, last);
        edit.note(span, MaskKind::LambdaSpace(bits));
    }
}
