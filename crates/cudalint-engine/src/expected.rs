//! Statuses that a test drops, though it says behind them what it expects of values: where the call fails, the test does so, too, in
//! nearly all cases.

use crate::others::{holds, words};
use cudalint_findings::{Finding, Shows};
use cudalint_program::Project;
use cudalint_program::api::{ApiId, is_status_type, is_success};
use cudalint_program::frameworks::{is_expectation, test_at};
use cudalint_program::ir::{Function, FunctionRole, Module, ModuleId, Type, TypeId};
use cudalint_syntax::{Language, Region, Span, comments};

/// Words that are no values.
const NO_VALUES: [&str; 6] = ["true", "false", "nullptr", "NULL", "sizeof", "std"];

/// What a finding on a dropped status needs, in words, where the test that drops it would fail.
pub(crate) fn holds_anyway(project: &Project, id: ModuleId, finding: &Finding) -> Option<String> {
    let module = project.module(id);
    if !matches!(finding.claim.shows, Shows::UnreadStatus { .. }) || module.language != Language::Cuda {
        return None;
    }
    let (text, at) = (&**project.source(id), finding.place.range.start);
    let is_test = |function: &&Function| {
        function.role == FunctionRole::Free
            && function.body.is_some()
            && function.span.range().contains(&at)
            && text.get(function.name_span.start as usize..).and_then(test_at).is_some()
    };
    let test = module.functions.iter().find(is_test)?;
    let own = finding.related.iter().filter(|label| label.place.path == finding.place.path);
    let places = own.map(|label| label.place.range.start).filter(|place| test.span.range().contains(place));
    let last = places.fold(at, usize::max);
    let body = text.get(last..test.span.range().end)?;
    let mut written = None;
    let expects = |(offset, name): &(usize, &str)| {
        let place = last + offset;
        is_expectation(name)
            && arguments(&body[offset + name.len()..]).is_some_and(|given| is_of_values(given, text, module, test))
            && !holds(
                written.get_or_insert_with(|| {
                    let region = Region { language: module.language, span: Span::new(0, text.len()) };
                    comments(text, &region)
                }),
                place,
            )
    };
    let (offset, name) = words(body).find(expects)?;
    let line = 1 + text[..last + offset].bytes().filter(|byte| *byte == b'\n').count();
    Some(format!("`{name}` in line {line} holds though the call fails"))
}

/// What stands between parentheses at the beginning of a text.
fn arguments(text: &str) -> Option<&str> {
    let text = text.trim_start().strip_prefix('(')?;
    let mut depth = 1_usize;
    let close = text.bytes().position(|byte| {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        depth == 0
    })?;
    text.get(..close)
}

/// Whether what a test compares are values, and no statuses.
fn is_of_values(given: &str, text: &str, module: &Module, test: &Function) -> bool {
    let is_status = |word: &str| {
        is_success(word)
            || is_status_type(word)
            || ApiId::with_status(word).is_some()
            || test.locals.iter().any(|local| {
                let from = || local.init.and_then(|init| text.get(module.exprs.get(init)?.span.range()));
                local.name == *word
                    && (holds_status(module, local.ty)
                        || from().is_some_and(|init| words(init).any(|(_, word)| ApiId::with_status(word).is_some())))
            })
    };
    let is_value = |word: &str| {
        word.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') && !NO_VALUES.contains(&word)
    };
    words(given).all(|(_, word)| !is_status(word)) && words(given).any(|(_, word)| is_value(word))
}

fn holds_status(module: &Module, ty: TypeId) -> bool {
    match module.types.get(ty) {
        Some(Type::Named { path, .. }) => path.last().is_some_and(|name| is_status_type(name)),
        Some(Type::Qualified { ty, .. }) => {
            matches!(module.types.get(*ty), Some(Type::Named { path, .. }) if path.last().is_some_and(|name| is_status_type(name)))
        }
        _ => false,
    }
}
