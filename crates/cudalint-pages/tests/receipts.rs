//! Every page that a GPU run can bear out has a receipt of such a run, and its examples are those that ran.

#![allow(clippy::panic)]

use cudalint_pages::Page;
use cudalint_pages::experiments::unproven;
use std::fmt::Write as _;

#[test]
fn every_page_has_its_receipt() {
    let mut text = String::new();
    for rule in cudalint_rules::RULES {
        let Ok(page) = Page::parse(rule.info.page) else { continue };
        let receipt = cudalint_rules::RECEIPTS.iter().find(|(name, _)| *name == rule.info.name).map(|(_, text)| *text);
        for problem in unproven(&page, rule.info.method.name(), receipt) {
            let _ = writeln!(text, "rules/{}.md, {problem}", rule.info.name);
        }
    }
    assert!(text.is_empty(), "\n{text}");
}

#[test]
fn an_example_that_changed_after_its_run_is_told() {
    let receipt = cudalint_rules::RECEIPTS.iter().find(|(name, _)| *name == "empty-grid");
    let rule = cudalint_rules::RULES.iter().find(|rule| rule.info.name == "empty-grid");
    let (Some((_, receipt)), Some(rule)) = (receipt, rule) else { panic!("`empty-grid` has no receipt") };
    let edited = rule.info.page.replace("n = 20;", "n = 21;");
    let Ok(page) = Page::parse(&edited) else { panic!("the edited page is a page") };
    let problems = unproven(&page, "api-error", Some(receipt));
    assert!(problems.iter().any(|problem| problem.contains("has changed since its run")), "{problems:?}");
}
