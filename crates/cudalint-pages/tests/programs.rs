//! The whole programs of `test-corpus/programs`: every marked line is reported, and nothing else.
#![allow(clippy::expect_used)]

use cudalint_engine::{Configuration, Engine, Request};
use std::collections::BTreeSet;
use std::path::Path;

/// (file, line, rule)
type Entry = (String, u32, String);

#[test]
fn programs_have_exactly_their_marked_findings() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test-corpus/programs");
    let mut expected: BTreeSet<Entry> = BTreeSet::new();
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(&folder).expect("the folder is there").flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|extension| extension == "md") {
            continue;
        }
        let name = entry.file_name().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).expect("a text");
        for (index, line) in text.lines().enumerate() {
            if let Some((_, rules)) = line.split_once("//~ ").or_else(|| line.split_once("#~ ")) {
                expected.extend(rules.split(',').map(|rule| (name.clone(), index as u32 + 1, rule.trim().to_owned())));
            }
        }
        paths.push(path);
    }
    assert!(expected.len() > 8, "the programs have marks");
    let request = Request { paths, configuration: Configuration::Isolated, ..Request::default() };
    let outcome = Engine::new(cudalint_rules::RULES).check(&request, &|_| {}).expect("a run");
    assert!(outcome.faults.is_empty(), "{:?}", outcome.faults);
    let actual: BTreeSet<Entry> = outcome
        .report
        .findings
        .iter()
        .map(|finding| {
            let name = finding.place.path.rsplit('/').next().unwrap_or("").to_owned();
            (name, outcome.report.sources.start(&finding.place).line, finding.rule.name.to_owned())
        })
        .collect();
    let missing: Vec<_> = expected.difference(&actual).collect();
    let surplus: Vec<_> = actual.difference(&expected).collect();
    assert!(missing.is_empty() && surplus.is_empty(), "missing: {missing:#?}\nnot marked: {surplus:#?}");
}
