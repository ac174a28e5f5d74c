//! Every rule page, run: its `error` fences fire on their marked lines, its `clean` fences are silent.

use cudalint_engine::{Engine, Rule};
use cudalint_pages::Page;
use cudalint_pages::run::{Example, run};
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
    let lint = |example: &Example<'_>| engine.lint_texts(&example.files, example.settings);
    problems.extend(run(&page, &lint));
    problems
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
