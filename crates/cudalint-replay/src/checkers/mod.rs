//! Checkers: macros and functions that look at statuses, recognized by their bodies, and what is wrong with them.
//!
//! A macro's body is read as tokens: how often each parameter is evaluated on the path that evaluates it most, what
//! stands inside `assert`, and whether a definition for another configuration drops its argument altogether.

mod shape;
mod tokens;

pub(crate) use shape::{MacroShape, Used};

use crate::facts::{Checker, CheckerDefect, Site};
use crate::status::{ModuleStatus, Survey};
use cudalint_program::api::effects::{ErrorRole, Returns};
use cudalint_program::api::{self, ApiId};
use cudalint_program::ir::{Expr, Module, ModuleId};
use cudalint_program::{Name, Project};
use rustc_hash::{FxHashMap, FxHashSet};
use tokens::tokenize;

/// The macros of one module.
pub(crate) fn shapes(module: &Module) -> Vec<MacroShape> {
    let mut shapes: Vec<MacroShape> = Vec::new();
    for definition in &module.macros {
        let Some(params) = &definition.params else { continue };
        let tokens = tokenize(&definition.body);
        let speaks_of_status = tokens.iter().any(|token| token.is_word() && is_status_word(&token.text));
        let looks_at_status = params.iter().any(|param| tokens::looks_at(&tokens, param));
        shapes.push(MacroShape {
            name: definition.name.clone(),
            span: definition.span,
            name_span: definition.name_span,
            params: params.clone(),
            tokens,
            conditions: definition.conditions.clone(),
            looks_at_status,
            takes_one: params.len() == 1 && params.iter().all(|param| param.as_str() != "..."),
            speaks_of_status,
        });
    }
    shapes
}

/// The macros that this module's code uses.
pub(crate) fn used_macros(project: &Project, id: ModuleId) -> Used {
    let module = project.module(id);
    let source = project.source(id);
    let mut used = Used::default();
    for node in &module.exprs {
        let Some(expansion) = module.expansion(node) else { continue };
        let Expr::Call { callee, .. } = &node.kind else { continue };
        let Some(Expr::Name { path, .. }) = module.exprs.get(*callee).map(|callee| &callee.kind) else {
            continue;
        };
        let Some(name) = path.last() else { continue };
        let api = ApiId::with_status(name);
        let before = source.get(..node.span.range().start).unwrap_or("").trim_end();
        let is_whole = || before.strip_suffix('(').is_some_and(|front| front.trim_end().ends_with(expansion.as_str()));
        if api.map_or_else(is_whole, |api| api.role == ErrorRole::Clears) {
            used.not_again.insert(expansion.clone());
        }
        // What comes from the body of the macro has the span of the macro's call; what comes from an argument has its own.
        if source.get(node.span.range()).is_some_and(|text| text.trim_start().starts_with(name.as_str()))
            && api.is_some()
            && let Some(position) = tokens::argument_position(before, expansion)
        {
            used.with_calls.insert((expansion.clone(), position));
        }
    }
    used
}

/// Whether a word speaks of statuses: their types, the values that say success, and what reports the last error.
fn is_status_word(word: &str) -> bool {
    api::is_status_type(word)
        || api::is_success(word)
        || ApiId::named(word).is_some_and(|api| api.returns == Returns::Text || api.role == ErrorRole::Clears)
}

/// Fills in the checkers of every module.
pub(crate) fn find(project: &Project, surveys: &[Survey], modules: &mut [ModuleStatus]) {
    let mut by_name: FxHashMap<&str, Vec<&MacroShape>> = FxHashMap::default();
    for shape in surveys.iter().flat_map(|survey| &survey.macros) {
        by_name.entry(shape.name.as_str()).or_default().push(shape);
    }
    let used = used_closure(project, surveys);
    let not_again: FxHashSet<&Name> = surveys.iter().flat_map(|survey| &survey.used_macros.not_again).collect();
    for (index, survey) in surveys.iter().enumerate() {
        let module = ModuleId(index as u32);
        let Some(slot) = modules.get_mut(index) else { continue };
        for (place, shape) in survey.macros.iter().enumerate() {
            let given: Vec<&Name> = shape.params_given_calls(&used, index, place);
            let in_use = !given.is_empty();
            if !(in_use && (shape.looks_at_status || shape.mentions_any_param()) || shape.speaks_of_status) {
                continue;
            }
            let again = !not_again.contains(&shape.name) && is_used_itself(surveys, &shape.name);
            let defects = defects(shape, survey, &by_name, &given, again);
            if shape.looks_at_status || !defects.is_empty() {
                let site = Site { module, span: shape.name_span };
                slot.checkers.push(Checker { name: shape.name.clone(), site, defects });
            }
        }
        for function in &survey.functions {
            for (first, second) in &function.flow.double_reads {
                let site = Site { module, span: *first };
                let defects = vec![CheckerDefect::ReadsLastErrorTwice { first: *first, second: *second }];
                slot.checkers.push(Checker { name: function.name.clone(), site, defects });
            }
        }
        slot.checkers.extend(asserted(module, survey));
        // A macro compiled out in one configuration is the fault of the definition that drops the call.
        let compiled_out = compiled_out(survey, index, &used);
        slot.checkers.extend(compiled_out.into_iter().map(|(shape, defect)| Checker {
            name: shape.name.clone(),
            site: Site { module, span: shape.name_span },
            defects: vec![defect],
        }));
        slot.checkers.sort_by_key(|checker| checker.site);
    }
}

/// Definitions of macros (module and place in its survey) with the parameters that GPU calls are given for, directly or
/// through another macro that hands its argument on.
fn used_closure(project: &Project, surveys: &[Survey]) -> FxHashSet<(usize, usize, u32)> {
    let mut by_name: FxHashMap<&str, Vec<(usize, usize)>> = FxHashMap::default();
    for (module, survey) in surveys.iter().enumerate() {
        for (place, shape) in survey.macros.iter().enumerate() {
            by_name.entry(shape.name.as_str()).or_default().push((module, place));
        }
    }
    // The definitions that a use in `module` may mean: its own, else those that it includes or that include it.
    let meant = |module: usize, name: &str| -> Vec<(usize, usize)> {
        let Some(all) = by_name.get(name) else { return Vec::new() };
        let own: Vec<_> = all.iter().copied().filter(|(other, _)| *other == module).collect();
        if !own.is_empty() {
            return own;
        }
        let reach = project.includes().reach(module as u32);
        let seen = |other: usize| reach.included.has(other as u32) || reach.context.has(other as u32);
        all.iter().copied().filter(|(other, _)| seen(*other)).collect()
    };
    let mut used = FxHashSet::default();
    let mut work: Vec<(usize, usize, u32)> = Vec::new();
    for (module, survey) in surveys.iter().enumerate() {
        for (name, position) in &survey.used_macros.with_calls {
            work.extend(meant(module, name).into_iter().map(|(module, place)| (module, place, *position)));
        }
    }
    while let Some((module, place, position)) = work.pop() {
        if !used.insert((module, place, position)) {
            continue;
        }
        let Some(shape) = surveys.get(module).and_then(|survey| survey.macros.get(place)) else { continue };
        // A variadic parameter takes all arguments from its own on.
        let Some(param) = shape.params.get(position as usize).or(shape.params.last()) else { continue };
        for (called, position) in tokens::called_with(&shape.tokens, param) {
            work.extend(meant(module, called).into_iter().map(|(module, place)| (module, place, position)));
        }
    }
    used
}

/// Calls written inside `assert(…)`: by function, all in one.
fn asserted(module: ModuleId, survey: &Survey) -> Vec<Checker> {
    let own_assert = survey.macros.iter().any(|shape| *shape.name == *"assert")
        || survey.functions.iter().any(|function| *function.name == *"assert");
    let mut found = Vec::new();
    for function in survey.functions.iter().filter(|_| !own_assert) {
        let defects: Vec<CheckerDefect> = function
            .flow
            .calls
            .iter()
            .filter(|site| site.asserted && site.is_needed_call())
            .map(|site| CheckerDefect::CallInsideAssert { span: site.span })
            .collect();
        if let Some(CheckerDefect::CallInsideAssert { span }) = defects.first() {
            found.push(Checker { name: Name::from("assert"), site: Site { module, span: *span }, defects });
        }
    }
    found
}

/// Whether code gives a macro calls itself, and not only through other macros.
fn is_used_itself(surveys: &[Survey], name: &Name) -> bool {
    surveys.iter().any(|survey| survey.used_macros.with_calls.iter().any(|(used, _)| used == name))
}

/// `again`: whether each call that the macro is given ends the same way when it is made a second time.
fn defects(
    shape: &MacroShape,
    survey: &Survey,
    by_name: &FxHashMap<&str, Vec<&MacroShape>>,
    given: &[&Name],
    again: bool,
) -> Vec<CheckerDefect> {
    let mut defects = Vec::new();
    let own_assert =
        by_name.contains_key("assert") || survey.functions.iter().any(|function| *function.name == *"assert");
    let only_in_debug = shape.conditions.iter().any(|condition| condition.contains("NDEBUG"));
    let body = |at: usize| shape.place_of(at);
    if !own_assert && !only_in_debug && (!given.is_empty() || shape.speaks_of_status) {
        let inside = shape.params.iter().find_map(|param| tokens::inside_assert(&shape.tokens, param));
        if let Some(at) = inside {
            defects.push(CheckerDefect::CallInsideAssert { span: body(at) });
        }
    }
    let is_macro = |name: &str| by_name.contains_key(name);
    if let Some(at) = given.iter().find_map(|param| tokens::evaluated_twice(&shape.tokens, param, &is_macro)) {
        let shown = again && tokens::ends_behind(&shape.tokens, at);
        defects.push(CheckerDefect::EvaluatesTwice { span: body(at), shown });
    }
    if let Some((first, second)) = tokens::last_error_twice(&shape.tokens) {
        defects.push(CheckerDefect::ReadsLastErrorTwice { first: body(first), second: body(second) });
    }
    defects
}

/// Definitions that drop their argument where another definition of the same file evaluates it.
fn compiled_out<'a>(
    survey: &'a Survey,
    module: usize,
    used: &FxHashSet<(usize, usize, u32)>,
) -> Vec<(&'a MacroShape, CheckerDefect)> {
    let mut found = Vec::new();
    for (place, shape) in survey.macros.iter().enumerate() {
        let in_use = !shape.params_given_calls(used, module, place).is_empty();
        let gone = !shape.params.is_empty() && !shape.mentions_any_param();
        let Some(condition) = shape.conditions.last().filter(|_| gone && in_use) else {
            continue;
        };
        let twin = survey.macros.iter().any(|other| {
            other.name == shape.name
                && other.span != shape.span
                && other.looks_at_status
                && other.params.len() == shape.params.len()
        });
        // Without CUDA, on the device, or where only the device's code is compiled (NVRTC) there is no call to lose.
        let platform = shape.conditions.iter().any(|condition| {
            let upper = condition.to_ascii_uppercase();
            ["CUDA", "HIP", "ARCH", "GPU", "WIN", "LINUX", "APPLE", "MSC", "GNUC", "ROCM", "PLATFORM", "RTC"]
                .iter()
                .any(|word| upper.contains(word))
        });
        if twin && !platform {
            let defect = CheckerDefect::CompiledOut { condition: condition.trim().to_owned(), span: shape.name_span };
            found.push((shape, defect));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::tokens::{evaluated_twice, inside_assert, last_error_twice, looks_at, tokenize};

    const NO_MACRO: &dyn Fn(&str) -> bool = &|_| false;

    #[test]
    fn an_argument_evaluated_on_the_failure_path_again() {
        let twice = "do { if ((x) != cudaSuccess) { printf(\"%s\\n\", cudaGetErrorString(x)); } } while (0)";
        assert!(evaluated_twice(&tokenize(twice), "x", NO_MACRO).is_some());
    }

    #[test]
    fn one_evaluation_with_its_text_or_on_exclusive_paths() {
        for once in [
            "do { cudaError_t e = (x); if (e != cudaSuccess) die(e, #x); } while (0)",
            "if (verbose) { log(x); } else { check(x); }",
            "(verbose ? log(x) : check(x))",
            "check((x), sizeof(x))",
            "do { decltype(x) e = (x); check(e); } while (0)",
            "for (int i = 0; i < n[0]; ++i) { check(table[x]); }",
            "if (auto e = [&]() { return x; }()) { die(e); }",
        ] {
            assert_eq!(evaluated_twice(&tokenize(once), "x", NO_MACRO), None, "{once}");
        }
    }

    /// Macro bodies are pieces of anything: brackets that nobody opened or closed, keywords without what follows.
    #[test]
    fn any_row_of_tokens_comes_to_an_end() {
        const WORDS: [&str; 20] = [
            "(", ")", "[", "]", "{", "}", ";", ",", ":", "?", "if", "else", "for", "while", "do", "switch", "x", "f",
            "=", "&",
        ];
        let mut state = 1_u64;
        for _ in 0..50_000 {
            let mut body = String::new();
            for _ in 0..14 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                body.push_str(WORDS[(state >> 33) as usize % WORDS.len()]);
                body.push(' ');
            }
            let _ = evaluated_twice(&tokenize(&body), "x", NO_MACRO);
        }
    }

    #[test]
    fn a_call_inside_assert_goes_with_it() {
        assert!(inside_assert(&tokenize("assert((x) == cudaSuccess)"), "x").is_some());
        assert_eq!(inside_assert(&tokenize("{ cudaError_t e = (x); assert(e == cudaSuccess); }"), "x"), None);
        assert_eq!(inside_assert(&tokenize("static_assert(sizeof(x) > 0)"), "x"), None);
    }

    #[test]
    fn the_last_error_read_again_after_its_test() {
        let twice =
            "if (cudaGetLastError() != cudaSuccess) { printf(\"%s\", cudaGetErrorString(cudaGetLastError())); }";
        assert!(last_error_twice(&tokenize(twice)).is_some());
        let peeked = twice.replacen("cudaGetLastError", "cudaPeekAtLastError", 1);
        assert_eq!(last_error_twice(&tokenize(&peeked)), None);
        let synchronized = "{ e = cudaGetLastError(); if (e != cudaSuccess) die(e); cudaDeviceSynchronize(); e = cudaGetLastError(); }";
        assert_eq!(last_error_twice(&tokenize(synchronized)), None);
    }

    #[test]
    fn looking_at_a_parameter() {
        assert!(looks_at(&tokenize("check((x), #x)"), "x"));
        assert!(looks_at(&tokenize("if (cudaSuccess != x) exit(1)"), "x"));
        assert!(looks_at(&tokenize("{ cudaError_t e = x; if (e) exit(1); }"), "x"));
        assert!(!looks_at(&tokenize("x"), "x"));
        assert!(!looks_at(&tokenize("(x)"), "x"));
        assert!(!looks_at(&tokenize("do { (void)(x); } while (0)"), "x"));
    }
}
