//! Macros that stand for attributes, by their definition or by their shape.

use super::builtin::{after_captures, call_end};
use super::edit::{Edit, NONE, Scope, p};
use super::{MaskKind, SpaceBits};
use crate::keywords::{Group, W, is_caps};
use crate::lexer::{Kind, code};
use crate::macros::Class;

/// Macros that stand for attributes, pragmas or namespaces by their definitions.
pub(super) fn defined(edit: &mut Edit<'_>) {
    for i in 0..edit.len() {
        if !edit.is_name(i) {
            continue;
        }
        let Some(class) = edit.class(i) else { continue };
        match class {
            Class::Attribute { bits, call } => {
                // `CHECK(x)` with an empty `CHECK` is a checker switched off: it stays a call.
                let checker = !call && bits.0 == 0 && edit.is(i + 1, b'(') && !after_captures(edit, i);
                if !checker && in_declaration(edit, i) {
                    use_of(edit, i, bits, call);
                }
            }
            Class::Typed { bits } => {
                if bits != SpaceBits::default() && bits != SpaceBits::CONSTEXPR && in_declaration(edit, i) {
                    let span = edit.span(i);
                    edit.note(span, MaskKind::AttributeMacro(bits));
                }
            }
            Class::Pragma { call } | Class::Namespace { call } => {
                if !qualified(edit, i) && !edit.is(i + 1, b'=') {
                    let end = if call { call_end(edit, i) } else { i };
                    let span = edit.between(i, end);
                    edit.drop_tokens(i, end);
                    // A `;` after it would be a statement of its own, which is harmless.
                    edit.note(span, MaskKind::Other);
                }
            }
            Class::Launch => launch(edit, i),
            Class::Call | Class::Statements | Class::Other => {}
        }
    }
    edit.refresh();
}

/// `kernel ARGS(grid, block) (a, b)`: without the macro's name two lists of arguments are left, the first of which is the configuration.
fn launch(edit: &mut Edit<'_>, i: usize) {
    let close = call_end(edit, i);
    let Some(before) = i.checked_sub(1) else { return };
    let kernel = edit.is_name(before) || edit.is(before, b'>') && before > 0;
    if !kernel || close == i || !edit.is(close + 1, b'(') || edit.mate(close + 1) == NONE {
        return;
    }
    let span = edit.span(i);
    edit.drop_tokens(i, i);
    edit.note(span, MaskKind::LaunchMacro);
}

fn qualified(edit: &Edit<'_>, i: usize) -> bool {
    i > 0
        && (edit.is(i - 1, b'.') || matches!(edit.punct(i - 1), code::ARROW | code::SCOPE))
        && !(edit.punct(i - 1) == code::SCOPE && i == 1)
}

/// Whether the place of a name allows an attribute: not an operand, not a member, not a declared name.
fn in_declaration(edit: &Edit<'_>, i: usize) -> bool {
    if qualified(edit, i) || edit.punct(i + 1) == code::SCOPE {
        return false;
    }
    let next_ok = match edit.kind(i + 1) {
        None | Some(Kind::Word | Kind::Directive) => true,
        Some(Kind::Punct) => {
            let c = edit.punct(i + 1);
            c == p(b'(')
                || c == p(b'~')
                || c == p(b'{')
                || c == p(b'}')
                || c == p(b'*')
                || c == p(b'&')
                || c == p(b')')
                || c == p(b',')
                || c == p(b';')
                || c == p(b'[')
                || c == p(b':')
                || c == code::SCOPE
        }
        _ => false,
    };
    if !next_ok {
        return false;
    }
    let Some(before) = i.checked_sub(1) else { return true };
    match edit.kind(before) {
        Some(Kind::Directive) => true,
        Some(Kind::Word) => !matches!(
            edit.word(before),
            Some(W::Return | W::Case | W::Goto | W::Namespace | W::Sizeof | W::Throw | W::New | W::Using)
        ),
        Some(Kind::Punct) => {
            let c = edit.punct(before);
            let starts = c == p(b';') || c == p(b'{') || c == p(b'}') || c == p(b':') || c == p(b'>') || c == p(b']');
            // Between parentheses a name with nothing after it is a value or a parameter's attribute.
            let inner = (c == p(b'(') || c == p(b',') || c == p(b'*') || c == p(b'&'))
                && (edit.kind(i + 1) == Some(Kind::Word) || edit.is(i + 1, b'~'));
            // `(CALLBACK *name)(..)`.
            if c == p(b'(')
                && edit.is(i + 1, b'*')
                && edit.is_name(i + 2)
                && edit.is(i + 3, b')')
                && edit.is(i + 4, b'(')
            {
                return true;
            }
            starts && edit.scope(i) != Scope::Init && edit.scope(i) != Scope::Enum || inner || c == p(b')')
        }
        _ => false,
    }
}

/// Overlays a macro's use by the strongest CUDA words that fit, or blanks it.
fn use_of(edit: &mut Edit<'_>, i: usize, bits: SpaceBits, call: bool) {
    let end = if call { call_end(edit, i) } else { i };
    let whole = edit.between(i, end);
    edit.note(whole, MaskKind::AttributeMacro(bits));
    if bits.has(SpaceBits::LAUNCH_BOUNDS) && end > i {
        // `BOUNDS(n)` becomes `__launch_bounds__(n)` where the words fit before the parenthesis.
        let open = edit.span(i + 1);
        let span = crate::span::Span { start: whole.start, end: open.start };
        if edit.overlay(span, b"__launch_bounds__") {
            edit.respell(i, W::LaunchBounds);
            return;
        }
    }
    if after_captures(edit, i) {
        edit.drop_tokens(i, end);
        return;
    }
    let choices: [(SpaceBits, &[u8], W); 9] = [
        (SpaceBits::GLOBAL, b"__global__", W::Global),
        (SpaceBits(SpaceBits::HOST.0 | SpaceBits::DEVICE.0), b"__host__ __device__", W::Device),
        (SpaceBits::DEVICE, b"__device__", W::Device),
        (SpaceBits::HOST, b"__host__", W::Host),
        (SpaceBits::SHARED, b"__shared__", W::Shared),
        (SpaceBits::CONSTANT, b"__constant__", W::Constant),
        (SpaceBits::MANAGED, b"__managed__", W::Managed),
        (SpaceBits::RESTRICT, b"__restrict__", W::Restrict2),
        (SpaceBits::RESTRICT, b"restrict", W::Restrict),
    ];
    for (wanted, text, word) in choices {
        let both = wanted.has(SpaceBits::HOST) && wanted.has(SpaceBits::DEVICE);
        // Half of `__host__ __device__` would say something else.
        let halved = !both && bits.has(SpaceBits::HOST) && bits.has(SpaceBits::DEVICE);
        if bits.has(wanted) && !halved && edit.overlay(whole, text) {
            edit.respell(i, word);
            if end > i {
                edit.kill(i + 1, end);
            }
            return;
        }
    }
    edit.drop_tokens(i, end);
}

/// Unknown names in capitals that stand where only a specifier can stand.
pub(super) fn shaped(edit: &mut Edit<'_>) {
    for i in 0..edit.len() {
        if !edit.is_name(i) || !is_caps(edit.text(i)) || qualified(edit, i) || edit.punct(i + 1) == code::SCOPE {
            continue;
        }
        let class = edit.class(i);
        if matches!(class, Some(Class::Typed { .. } | Class::Attribute { .. })) {
            continue;
        }
        let call = call_end(edit, i);
        if let Some(end) = specifier_end(edit, i, call, class) {
            let bits = bits_by_name(edit.text(i));
            if edit.is_word(end + 1, W::For) || edit.is_word(end + 1, W::While) || edit.is_word(end + 1, W::Do) {
                let span = edit.between(i, end);
                edit.drop_tokens(i, end);
                edit.note(span, MaskKind::Other);
            } else {
                use_of(edit, i, bits, end > i);
            }
        }
    }
    edit.refresh();
}

/// What a macro's name says of its words.
fn bits_by_name(name: &[u8]) -> SpaceBits {
    let has = |part: &[u8]| memchr::memmem::find(name, part).is_some();
    if has(b"KERNEL") || has(b"GLOBAL") {
        return SpaceBits::GLOBAL;
    }
    let mut bits = SpaceBits::default();
    if has(b"DEVICE") || has(b"CUDA_FUNC") {
        bits.0 |= SpaceBits::DEVICE.0;
    }
    if has(b"HOST") {
        bits.0 |= SpaceBits::HOST.0;
    }
    bits
}

/// The last token of a specifier macro at `i`, when its surroundings leave no other reading.
fn specifier_end(edit: &Edit<'_>, i: usize, call: usize, class: Option<Class>) -> Option<usize> {
    let before = i.checked_sub(1);
    let next = i + 1;
    let before_word = before.and_then(|b| edit.word(b));
    let before_punct = before.map_or(0, |b| edit.punct(b));
    // `class API Foo {`, `struct ALIGN(8) Foo {`.
    if matches!(before_word, Some(W::Class | W::Struct | W::Union | W::Enum)) && edit.is_name(call + 1) {
        let after = call + 2;
        let heads =
            edit.is(after, b'{') || edit.is(after, b':') || edit.is_word(after, W::Final) || edit.is(after, b'<');
        return heads.then_some(call);
    }
    // `float * RESTRICT x`.
    if (before_punct == p(b'*') || before_punct == p(b'&')) && edit.is_name(next) && call == i {
        return Some(i);
    }
    // `Type CALL name(..)`: one word too many between a type and the name it declares.
    let typed = before_word == Some(W::Plain) && before.is_some_and(|b| !is_statement_word(edit, b))
        || matches!(before_word, Some(W::Void | W::Int | W::Bool | W::Float | W::Double | W::Char | W::SizeT));
    if typed && edit.is_name(call + 1) && edit.is(call + 2, b'(') && edit.scope(i) != Scope::Group {
        return Some(call);
    }
    // `void f() THROWS;`.
    if before_punct == p(b')') && edit.is(next, b';') && edit.text(i).starts_with(b"__") {
        return Some(i);
    }
    // `[=] LAMBDA (int i) {`.
    if call >= i && after_captures(edit, i) && (edit.is(next, b'(') || edit.is(next, b'{')) {
        return Some(i);
    }
    let at_start = edit.starts_statement(i)
        || before_punct == p(b'>')
        || before_punct == p(b'}') && edit.scope(i) != Scope::Init
        || matches!(edit.group(before.unwrap_or(NONE)), Some(Group::Specifier | Group::Space));
    if !at_start || before_word == Some(W::Typedef) {
        return None;
    }
    // On a line of its own among statements it is one of them.
    let loops = matches!(edit.word(call + 1), Some(W::For | W::While | W::Do));
    if class.is_none() && edit.scope(i) == Scope::Block && edit.newline_after(call) && !loops {
        return None;
    }
    // `UNROLL for (..)`; a name that says nothing of loops and ends its line may be a look at errors.
    if loops {
        const OF_LOOPS: [&[u8]; 8] = [b"UNROLL", b"PRAGMA", b"LOOP", b"OMP", b"SIMD", b"IVDEP", b"VECTOR", b"PARALLEL"];
        let name = edit.text(i);
        let pragma = OF_LOOPS.iter().any(|part| memchr::memmem::find(name, part).is_some());
        let is_statement = call > i || class.is_none() && edit.newline_after(i);
        return (pragma || !is_statement).then_some(call);
    }
    // A macro with code behind it is a statement, unless a declaration goes on in the same line.
    if call > i {
        let declaration = declares(edit, call + 1) && !edit.newline_after(call);
        let before_specifier = matches!(edit.group(before.unwrap_or(NONE)), Some(Group::Specifier | Group::Space));
        let templated = before_punct == p(b'>');
        return (declaration && edit.scope(i) != Scope::Block
            || (before_specifier || templated) && declares(edit, call + 1))
        .then_some(call);
    }
    if matches!(class, Some(Class::Other | Class::Statements))
        && !matches!(edit.word(next), Some(W::Void | W::Static | W::Global | W::Device))
    {
        // A known type name or value: only what no type can precede.
        return None;
    }
    if edit.is(next, b'~') && edit.is_name(next + 1) && edit.scope(i) == Scope::Class {
        return Some(i);
    }
    if edit.is_word(next, W::Operator) && edit.group(next + 1) == Some(Group::Type) {
        return Some(i);
    }
    // A constructor: the name of the class around it.
    if edit.is_name(next) && edit.is(next + 1, b'(') && edit.scope(i) == Scope::Class {
        return (class_name(edit, edit.parent(i)) == edit.text(next)).then_some(i);
    }
    // `HOST DEVICE void f(`.
    let second = edit.is_name(next)
        && is_caps(edit.text(next))
        && matches!(edit.group(next + 1), Some(Group::Type | Group::Specifier | Group::Space));
    (second || declares(edit, next)).then_some(i)
}

/// Whether the name at `i` stands alone as a statement, as a macro without `;` does.
fn is_statement_word(edit: &Edit<'_>, i: usize) -> bool {
    edit.starts_statement(i) && edit.newline_after(i) && is_caps(edit.text(i))
}

/// Whether a declaration that cannot go on from a type name starts at `i`.
fn declares(edit: &Edit<'_>, i: usize) -> bool {
    match edit.word(i) {
        Some(
            W::Const
            | W::Volatile
            | W::Restrict
            | W::Restrict1
            | W::Restrict2
            | W::Unsigned
            | W::Signed
            | W::Long
            | W::Short,
        ) => {
            // `REAL const x` is a declaration of a type; `API const T f(` is not.
            !matches!(edit.word(i), Some(W::Const | W::Volatile | W::Restrict | W::Restrict1 | W::Restrict2))
                || type_then_name(edit, i + 1)
        }
        Some(W::Template | W::Typename | W::Class | W::Struct | W::Namespace) => true,
        Some(word) => match word.group() {
            Group::Type | Group::Specifier => true,
            Group::Space => word != W::Shared || edit.kind(i + 1) == Some(Kind::Word),
            Group::Plain => type_then_name(edit, i),
            _ => false,
        },
        None => false,
    }
}

/// `Name`, `ns::Name<..>` with `*` and `&`, then a declared name and what may follow it.
fn type_then_name(edit: &Edit<'_>, i: usize) -> bool {
    let mut at = i;
    if edit.group(at) == Some(Group::Type) {
        return true;
    }
    if !edit.is_name(at) {
        return false;
    }
    at += 1;
    while edit.punct(at) == code::SCOPE && edit.is_name(at + 1) {
        at += 2;
    }
    if edit.is(at, b'<') {
        let mut depth = 0;
        for _ in 0..60 {
            match edit.punct(at) {
                c if c == p(b'<') => depth += 1,
                c if c == p(b'>') => depth -= 1,
                c if c == p(b';') || c == p(b'{') => return false,
                _ => {}
            }
            at += 1;
            if depth == 0 {
                break;
            }
        }
    }
    while edit.is(at, b'*') || edit.is(at, b'&') || edit.group(at) == Some(Group::Qualifier) {
        at += 1;
    }
    if edit.is_word(at, W::Operator) {
        return true;
    }
    if !edit.is_name(at) {
        return false;
    }
    if edit.is_name(at + 1) && is_caps(edit.text(at)) {
        at += 1;
    }
    let c = edit.punct(at + 1);
    c == p(b'(') || c == p(b'=') || c == p(b';') || c == p(b'[') || c == p(b',') || c == p(b'{') || c == code::SCOPE
}

/// The name of the class whose brace is at `open`.
fn class_name<'t>(edit: &Edit<'t>, open: usize) -> &'t [u8] {
    if open == NONE {
        return &[];
    }
    for back in 1..60 {
        let Some(j) = open.checked_sub(back) else { break };
        if matches!(edit.word(j), Some(W::Class | W::Struct | W::Union)) {
            let mut k = j + 1;
            while edit.is_word(k, W::Alignas) && edit.is(k + 1, b'(') && edit.mate(k + 1) != NONE {
                k = edit.mate(k + 1) + 1;
            }
            return edit.text(k);
        }
        if edit.is(j, b';') || edit.is(j, b'}') {
            break;
        }
    }
    &[]
}
