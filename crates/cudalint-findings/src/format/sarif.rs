//! `sarif`: SARIF 2.1.0, for code scanning. Witnesses are code flows: the way through the host program with its launch
//! is one thread of execution, and each access of a GPU thread is one of its own, so that a race shows as two.

use super::common::Options;
use super::uri::reference;
use crate::claim::Claim;
use crate::finding::{
    AccessWitness, Applicability, Confidence, Finding, Fix, Group, LaunchWitness, Place, RuleInfo, Severity, Witness,
};
use crate::report::{Incomplete, Report};
use crate::sources::Sources;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Address of the schema that the output follows.
pub const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The log, with one run.
pub fn render(report: &Report, options: &Options) -> String {
    let rules: BTreeMap<&str, &RuleInfo> =
        report.findings.iter().map(|finding| (finding.rule.name, finding.rule)).collect();
    let index: BTreeMap<&str, usize> = rules.keys().enumerate().map(|(index, name)| (*name, index)).collect();
    let weaknesses: BTreeMap<u32, usize> = {
        let mut numbers: Vec<u32> = rules.values().filter_map(|rule| rule.cwe).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers.into_iter().enumerate().map(|(index, number)| (number, index)).collect()
    };

    let mut driver = Map::new();
    driver.insert("name".into(), crate::TOOL.into());
    driver.insert("version".into(), crate::TOOL_VERSION.into());
    driver.insert("semanticVersion".into(), crate::TOOL_VERSION.into());
    driver.insert("informationUri".into(), crate::HOME.into());
    let descriptors =
        rules.values().map(|rule| rule_descriptor(rule, &weaknesses, precision(rule, report), options)).collect();
    driver.insert("rules".into(), Value::Array(descriptors));
    if !weaknesses.is_empty() {
        driver.insert("supportedTaxonomies".into(), json!([{"name": "CWE", "index": 0}]));
    }

    let mut run = Map::new();
    run.insert("tool".into(), json!({ "driver": driver }));
    run.insert("columnKind".into(), "unicodeCodePoints".into());
    run.insert(
        "originalUriBaseIds".into(),
        json!({"%SRCROOT%": {"description": {"text": "The folder that cudalint was started in."}}}),
    );
    if !weaknesses.is_empty() {
        run.insert("taxonomies".into(), json!([taxonomy(&weaknesses)]));
    }
    let results = report
        .findings
        .iter()
        .map(|finding| result(finding, index.get(finding.rule.name).copied().unwrap_or(0), &report.sources));
    run.insert("results".into(), Value::Array(results.collect()));
    run.insert("invocations".into(), json!([invocation(report)]));
    let files = crate::model::Files::of(report);
    run.insert("properties".into(), json!({ "files": files }));

    let mut out = crate::plain::to_json(&json!({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}), true);
    out.push('\n');
    out
}

/// How the run went: to its end, whatever was not read as a whole.
fn invocation(report: &Report) -> Value {
    let notifications = report.incomplete.iter().map(|Incomplete { path, reason }| {
        json!({
            "level": "warning",
            "descriptor": {"id": "incomplete"},
            "message": {"text": reason},
            "locations": [{"physicalLocation": {"artifactLocation": artifact(path)}}],
        })
    });
    let mut out = Map::new();
    out.insert("executionSuccessful".into(), true.into());
    if !report.incomplete.is_empty() {
        out.insert("toolExecutionNotifications".into(), notifications.collect());
    }
    out.into()
}

/// How sure GitHub may say that a rule is: what it has said here at best. A definite finding follows from the source.
fn precision(rule: &RuleInfo, report: &Report) -> &'static str {
    let said = report.findings.iter().filter(|finding| finding.rule.name == rule.name);
    match said.map(|finding| finding.confidence).max() {
        Some(Confidence::Definite) => "very-high",
        Some(Confidence::Likely) | None => "high",
        Some(Confidence::Possible) => "medium",
    }
}

/// SARIF's word for a level.
fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

/// `copy-exceeds-allocation` as `CopyExceedsAllocation`.
fn pascal_case(name: &str) -> String {
    let word = |word: &str| {
        let mut chars = word.chars();
        chars.next().map(|first| first.to_ascii_uppercase().to_string() + chars.as_str()).unwrap_or_default()
    };
    name.split('-').map(word).collect()
}

fn rule_descriptor(rule: &RuleInfo, weaknesses: &BTreeMap<u32, usize>, precision: &str, options: &Options) -> Value {
    let (default, problem) = match rule.group {
        Group::Correctness => ("error", "error"),
        Group::Suspicious | Group::Portability => ("warning", "warning"),
        Group::Performance | Group::Pedantic | Group::Preview => ("note", "recommendation"),
    };
    let mut tags = vec!["cuda".to_owned(), rule.group.name().to_owned()];
    tags.extend(rule.cwe.map(|number| format!("external/cwe/cwe-{number:03}")));
    let mut properties = Map::new();
    properties.insert("tags".into(), tags.into());
    properties.insert("group".into(), rule.group.name().into());
    properties.insert("precision".into(), precision.into());
    properties.insert("problem.severity".into(), problem.into());
    properties.insert("verification".into(), rule.method.name().into());
    if !rule.guidelines.is_empty() {
        properties.insert("guidelines".into(), json!(rule.guidelines));
    }
    let mut out = Map::new();
    out.insert("id".into(), rule.name.into());
    out.insert("name".into(), pascal_case(rule.name).into());
    out.insert("shortDescription".into(), json!({ "text": rule.summary }));
    out.insert("fullDescription".into(), json!({ "text": rule.summary }));
    out.insert("help".into(), json!({"text": rule.page, "markdown": rule.page}));
    out.insert("helpUri".into(), crate::rule_url(&options.rules_url, rule).into());
    out.insert("defaultConfiguration".into(), json!({ "level": default }));
    if let Some((number, index)) = rule.cwe.and_then(|number| Some((number, weaknesses.get(&number)?))) {
        out.insert(
            "relationships".into(),
            json!([{
                "target": {"id": number.to_string(), "index": index, "toolComponent": {"name": "CWE", "index": 0}},
                "kinds": ["superset"],
            }]),
        );
    }
    out.insert("properties".into(), properties.into());
    out.into()
}

/// The weaknesses that rules of this run name.
fn taxonomy(weaknesses: &BTreeMap<u32, usize>) -> Value {
    let taxa: Vec<Value> = weaknesses
        .keys()
        .map(|number| {
            json!({
                "id": number.to_string(),
                "helpUri": format!("https://cwe.mitre.org/data/definitions/{number}.html"),
            })
        })
        .collect();
    json!({
        "name": "CWE",
        "organization": "MITRE",
        "shortDescription": {"text": "The MITRE Common Weakness Enumeration"},
        "informationUri": "https://cwe.mitre.org/",
        "isComprehensive": false,
        "taxa": taxa,
    })
}

fn result(finding: &Finding, rule_index: usize, sources: &Sources) -> Value {
    let mut out = Map::new();
    out.insert("ruleId".into(), finding.rule.name.into());
    out.insert("ruleIndex".into(), rule_index.into());
    out.insert("level".into(), level(finding.severity).into());
    out.insert("message".into(), json!({ "text": finding.message }));
    let mut location = Map::new();
    location.insert("physicalLocation".into(), physical(&finding.place, sources));
    if !finding.function.is_empty() {
        location.insert("logicalLocations".into(), json!([{"name": finding.function, "kind": "function"}]));
    }
    out.insert("locations".into(), json!([location]));
    if !finding.related.is_empty() {
        let related = finding.related.iter().enumerate().map(|(id, label)| {
            json!({
                "id": id + 1,
                "physicalLocation": physical(&label.place, sources),
                "message": {"text": label.message},
            })
        });
        out.insert("relatedLocations".into(), related.collect());
    }
    if let Some(flow) = finding.witness.as_ref().and_then(|witness| code_flow(&finding.claim, witness, sources)) {
        out.insert("codeFlows".into(), json!([flow]));
    }
    out.insert("partialFingerprints".into(), json!({"cudalint/v1": finding.fingerprint}));
    if let Some(fix) = finding.fix.as_ref().and_then(|fix| fix_value(fix, sources)) {
        out.insert("fixes".into(), json!([fix]));
    }
    out.insert("properties".into(), properties(finding).into());
    out.into()
}

/// What SARIF has no place of its own for.
fn properties(finding: &Finding) -> Map<String, Value> {
    let mut out = Map::new();
    out.insert("confidence".into(), finding.confidence.name().into());
    out.insert("group".into(), finding.rule.group.name().into());
    if let Some(witness) = &finding.witness {
        if let Some(launch) = &finding.claim.launch {
            let value = json!({"grid": launch.grid, "block": launch.block, "shared_bytes": launch.shared_bytes});
            out.insert("launch".into(), value);
        }
        if !witness.assumptions.is_empty() {
            out.insert("assumptions".into(), witness.assumptions.clone().into());
        }
    }
    if let Some(help) = &finding.help {
        out.insert("help".into(), help.as_str().into());
    }
    let mut verification = Map::new();
    verification.insert("method".into(), finding.method.unwrap_or(finding.rule.method).name().into());
    verification.insert("verdict".into(), finding.verification.as_ref().map(|done| done.verdict.name()).into());
    if let Some(done) = &finding.verification {
        let evidence = &done.evidence;
        verification.insert("evidence".into(), serde_json::to_value(evidence).unwrap_or_default());
    }
    out.insert("verification".into(), verification.into());
    out
}

/// The witness as threads of execution; none when it names no place.
fn code_flow(claim: &Claim<Place>, witness: &Witness, sources: &Sources) -> Option<Value> {
    let mut threads = Vec::new();
    let host: Vec<Value> = witness
        .path
        .iter()
        .map(|step| flow_location(&step.place, &step.message, sources))
        .chain(claim.launch.as_ref().map(|launch| flow_location(&launch.site, &launch_words(launch, sources), sources)))
        .collect();
    if !host.is_empty() {
        threads.push(thread_flow("host", &host, witness));
    }
    for access in claim.accesses() {
        let [block, thread] = [access.block, access.thread].map(super::full::extent);
        let at = flow_location(&access.site, &access_words(access), sources);
        threads.push(thread_flow(&format!("block {block}, thread {thread}"), &[at], witness));
    }
    (!threads.is_empty()).then(|| json!({ "threadFlows": threads }))
}

/// One thread of execution; the values of the witness hold from its start.
fn thread_flow(id: &str, locations: &[Value], witness: &Witness) -> Value {
    let mut out = Map::new();
    out.insert("id".into(), id.into());
    if !witness.bindings.is_empty() {
        let mut state = Map::new();
        for (name, value) in &witness.bindings {
            state.entry(name.as_str()).or_insert_with(|| json!({ "text": value.to_string() }));
        }
        out.insert("initialState".into(), state.into());
    }
    out.insert("locations".into(), locations.into());
    out.into()
}

fn flow_location(place: &Place, words: &str, sources: &Sources) -> Value {
    json!({"location": {"physicalLocation": physical(place, sources), "message": {"text": words}}})
}

fn launch_words(launch: &LaunchWitness, sources: &Sources) -> String {
    format!("launch {}", super::full::configuration(launch, sources))
}

fn access_words(access: &AccessWitness) -> String {
    format!("{} of element {} of {}", access.kind.name(), access.index, access.extent)
}

fn artifact(path: &str) -> Value {
    match reference(path) {
        (uri, true) => json!({"uri": uri, "uriBaseId": "%SRCROOT%"}),
        (uri, false) => json!({ "uri": uri }),
    }
}

fn region(place: &Place, sources: &Sources) -> Value {
    let (start, end) = sources.positions(place);
    let mut region =
        json!({"startLine": start.line, "startColumn": start.column, "endLine": end.line, "endColumn": end.column});
    // Lines count within the cell of a notebook.
    if let (Some(cell), Some(region)) = (start.cell, region.as_object_mut()) {
        region.insert("properties".into(), json!({ "cell": cell }));
    }
    region
}

fn physical(place: &Place, sources: &Sources) -> Value {
    json!({"artifactLocation": artifact(&place.path), "region": region(place, sources)})
}

/// A fix that a tool may apply, edits by file; none for one that is for reading only.
fn fix_value(fix: &Fix, sources: &Sources) -> Option<Value> {
    if fix.applicability == Applicability::Display || fix.edits.is_empty() {
        return None;
    }
    let mut changes: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for edit in &fix.edits {
        changes.entry(&edit.place.path).or_default().push(json!({
            "deletedRegion": region(&edit.place, sources),
            "insertedContent": {"text": edit.text},
        }));
    }
    let changes: Vec<Value> = changes
        .into_iter()
        .map(|(path, replacements)| json!({"artifactLocation": artifact(path), "replacements": replacements}))
        .collect();
    Some(json!({
        "description": {"text": fix.message},
        "artifactChanges": changes,
        "properties": {"applicability": fix.applicability.name()},
    }))
}
