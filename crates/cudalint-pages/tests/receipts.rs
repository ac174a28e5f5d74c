//! Receipts fit their pages. What only a run on a GPU can mend is listed and fails nothing here, so that a machine without
//! one can test a new rule: `cargo xtask release` is what refuses it.

#![allow(clippy::panic, clippy::print_stderr)]

use cudalint_pages::Page;
use cudalint_pages::experiments::{Gap, gaps};
use std::fmt::Write as _;

fn receipt(name: &str) -> Option<&'static str> {
    cudalint_rules::RECEIPTS.iter().find(|(rule, _)| *rule == name).map(|(_, text)| *text)
}

#[test]
fn receipts_fit_their_pages() {
    let mut text = String::new();
    for rule in cudalint_rules::RULES {
        let Ok(page) = Page::parse(rule.info.page) else { continue };
        for gap in gaps(&page, rule.info.method.name(), receipt(rule.info.name)) {
            match gap {
                Gap::Wrong(words) => _ = writeln!(text, "rules/{}.md, {words}", rule.info.name),
                Gap::Unproven(words) => eprintln!("unproven: rules/{}.md, {words}", rule.info.name),
            }
        }
    }
    assert!(text.is_empty(), "\n{text}");
}

#[test]
fn a_rule_without_a_receipt_is_unproven_and_no_fault() {
    let Some(rule) = cudalint_rules::RULES.iter().find(|rule| rule.info.name == "empty-grid") else {
        panic!("no rule `empty-grid`")
    };
    let Ok(page) = Page::parse(rule.info.page) else { panic!("its page is a page") };
    let gaps = gaps(&page, rule.info.method.name(), None);
    assert!(matches!(gaps.as_slice(), [Gap::Unproven(_)]), "{gaps:?}");
}

#[test]
fn an_example_that_changed_after_its_run_is_told() {
    let rule = cudalint_rules::RULES.iter().find(|rule| rule.info.name == "empty-grid");
    let (Some(receipt), Some(rule)) = (receipt("empty-grid"), rule) else { panic!("`empty-grid` has no receipt") };
    let edited = rule.info.page.replace("n = 20;", "n = 21;");
    let Ok(page) = Page::parse(&edited) else { panic!("the edited page is a page") };
    let gaps = gaps(&page, "api-error", Some(receipt));
    let told = |gap: &Gap| matches!(gap, Gap::Unproven(words) if words.contains("has changed since its run"));
    assert!(gaps.iter().any(told), "{gaps:?}");
}

#[test]
fn a_receipt_that_says_otherwise_is_wrong() {
    let rule = cudalint_rules::RULES.iter().find(|rule| rule.info.name == "empty-grid");
    let (Some(receipt), Some(rule)) = (receipt("empty-grid"), rule) else { panic!("`empty-grid` has no receipt") };
    let Ok(page) = Page::parse(rule.info.page) else { panic!("its page is a page") };
    let other = receipt.replacen("\"empty-grid\"", "\"another-rule\"", 1);
    let gaps = gaps(&page, "api-error", Some(&other));
    assert!(gaps.iter().any(|gap| matches!(gap, Gap::Wrong(_))), "{gaps:?}");
}
