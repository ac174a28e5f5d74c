//! What tests of rules share.
#![allow(clippy::panic, dead_code)]

use cudalint_engine::Engine;
use cudalint_findings::Finding;

/// Findings of a rule in a text, with settings.
pub fn findings(rule: &str, settings: &str, text: &str) -> Vec<Finding> {
    let engine = Engine::new(cudalint_rules::RULES);
    match engine.lint_texts(&[("example.cu".to_owned(), text)], Some(settings)) {
        Ok(all) => all.into_iter().filter(|finding| finding.rule.name == rule).collect(),
        Err(error) => panic!("{error}"),
    }
}

/// Findings of a rule in several files.
pub fn of_files(rule: &str, files: &[(&str, &str)]) -> Vec<Finding> {
    let engine = Engine::new(cudalint_rules::RULES);
    let files: Vec<(String, &str)> = files.iter().map(|(name, text)| ((*name).to_owned(), *text)).collect();
    match engine.lint_texts(&files, None) {
        Ok(all) => all.into_iter().filter(|finding| finding.rule.name == rule).collect(),
        Err(error) => panic!("{error}"),
    }
}

/// Findings of a rule in a text.
pub fn of(rule: &str, text: &str) -> Vec<Finding> {
    findings(rule, "", text)
}
