//! Every rule page, run: its `error` fences fire on their marked lines, its `clean` fences are silent. What its findings
//! claim can be shown by their method.

use cudalint_engine::{Engine, Rule};
use cudalint_findings::claim::{AccessFault, Cost};
use cudalint_findings::{Method, Place, Shows};
use cudalint_pages::Page;
use cudalint_pages::run::{Example, run};
use std::cell::RefCell;
use std::fmt::Write as _;

/// One page's problems, in words; empty when all is as marked.
fn problems(rule: &'static Rule) -> Vec<String> {
    let page = match Page::parse(rule.info.page) {
        Ok(page) => page,
        Err(error) => return vec![error.to_string()],
    };
    let mut problems = Vec::new();
    if page.name != rule.info.name {
        problems.push(format!("the title is `{}`, the rule `{}`", page.name, rule.info.name));
    }
    if page.summary != rule.info.summary {
        problems.push(format!("the page says `{}`, the rule `{}`", page.summary, rule.info.summary));
    }
    for heading in ["Why is this bad?", "Example", "Use instead", "Known limits"] {
        if !page.sections.iter().any(|section| section == heading) {
            problems.push(format!("no section `## {heading}`"));
        }
    }
    let engine = Engine::new(cudalint_rules::RULES);
    let unfit = RefCell::new(Vec::new());
    let lint = |example: &Example<'_>| {
        let found = engine.lint_texts(&example.files, example.settings)?;
        let own = found.iter().filter(|finding| finding.rule.name == rule.info.name);
        let wrong = own.filter(|finding| !suits(finding.method.unwrap_or(rule.info.method), &finding.claim.shows));
        unfit.borrow_mut().extend(wrong.map(|finding| format!("no run by its method shows {:?}", finding.claim.shows)));
        Ok(found)
    };
    problems.extend(run(&page, &lint));
    problems.extend(unfit.into_inner());
    problems
}

/// Whether a method can show what a claim says.
fn suits(method: Method, shows: &Shows<Place>) -> bool {
    use AccessFault::{Misaligned, NegativeIndex, OutOfBounds, ReadOnly, Unwritten};
    let by = match shows {
        Shows::Nothing => &[Method::None][..],
        Shows::CompileError => &[Method::None, Method::Compile],
        Shows::FailedCall { .. } | Shows::RefusedLaunch { .. } => &[Method::ApiError],
        Shows::Access { fault, .. } => match fault {
            OutOfBounds => &[Method::Memcheck, Method::Watchpoint][..],
            Misaligned => &[Method::Memcheck],
            Unwritten => &[Method::Initcheck, Method::Watchpoint],
            ReadOnly => &[Method::None],
            NegativeIndex => &[Method::Output],
        },
        Shows::Race { .. } => &[Method::Racecheck, Method::Watchpoint],
        Shows::BadAddress { .. } => &[Method::Memcheck],
        Shows::Leak { .. } => &[Method::Leakcheck],
        Shows::Barrier => &[Method::Synccheck, Method::Watchpoint, Method::None],
        Shows::Memory { .. } => &[Method::Output],
        Shows::TooEarly { .. } => &[Method::Delay],
        Shows::Cost { of: Cost::Wait | Cost::Barrier | Cost::Transfers } => &[Method::Time],
        Shows::Cost { of: Cost::Sectors | Cost::Passes | Cost::Double | Cost::Threads } => &[Method::Counters],
        Shows::UnreadStatus { .. } => &[Method::FaultInjection],
        Shows::Exception { classes, .. } if classes.is_empty() => &[],
        Shows::Exception { .. } => &[Method::Exception],
    };
    by.contains(&method)
}

/// Filter by `CUDALINT_PAGE=part-of-a-name`.
#[test]
fn rule_pages_come_out_as_marked() {
    let filter = std::env::var("CUDALINT_PAGE").unwrap_or_default();
    let mut text = String::new();
    for rule in cudalint_rules::RULES.iter().filter(|rule| rule.info.name.contains(&filter)) {
        for problem in problems(rule) {
            let _ = writeln!(text, "rules/{}.md, {problem}", rule.info.name);
        }
    }
    assert!(text.is_empty(), "\n{text}");
}
