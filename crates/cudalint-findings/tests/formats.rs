//! Every format, on a report made by hand and on an empty one.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::*;
use cudalint_findings::format::{Format, Options, statistics};
use cudalint_findings::{CellStart, FileCounts, LaunchWitness, Place, Report, Severity, Sources, Witness};
use insta::assert_snapshot;
use serde_json::Value;

fn render(format: Format) -> String {
    format.render(&report(), &Options::default())
}

/// Fails with every violation of a schema.
fn validate(schema: &str, instance: &Value) {
    let schema: Value = serde_json::from_str(schema).unwrap();
    let validator = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
    let problems: Vec<String> =
        validator.iter_errors(instance).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// The official schema. Its pattern for languages has a bracket too many, which no strict reader of regular
/// expressions takes; the output has no such property.
fn sarif_schema() -> String {
    let text = include_str!("schemas/sarif-schema-2.1.0.json");
    assert_eq!(text.matches("[a-zA-Z]{2}]?$").count(), 2);
    text.replace("[a-zA-Z]{2}]?$", "[a-zA-Z]{2}?$")
}

#[test]
fn full() {
    assert_snapshot!(render(Format::Full));
    assert_snapshot!("full_verified", Format::Full.render(&verified(), &Options::default()));
}

#[test]
fn full_with_colour_has_the_same_words() {
    let colored = Format::Full.render(&report(), &Options { color: true, ..Options::default() });
    assert!(colored.contains("\u{1b}[1;31merror[element-count-as-bytes]\u{1b}[0m"));
    let mut plain = String::new();
    let mut rest = colored.as_str();
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        plain.push_str(before);
        rest = after.split_once('m').unwrap().1;
    }
    plain.push_str(rest);
    assert_eq!(plain, render(Format::Full));
    assert!(!render(Format::Full).contains('\u{1b}'));
}

#[test]
fn full_wraps_words_to_the_width() {
    let narrow = Format::Full.render(&report(), &Options { width: 60, ..Options::default() });
    let notes = narrow.lines().filter(|line| line.starts_with("    ") && !line.contains(['│', '·', '─']));
    for line in notes {
        assert!(line.chars().count() <= 60, "{line}");
    }
}

#[test]
fn a_launch_is_spelled_as_its_language_spells_it() {
    let texts = [
        ("k.cu", "scale<<<4, 256>>>(x);\n", "<<<(4, 1, 1), (256, 1, 1)>>>"),
        ("k.py", "scale[4, 256](x)\n", "[(4, 1, 1), (256, 1, 1)]"),
        ("k.md", "```cuda\nx;\n```\n\n- ```python\n  scale[4, 256](x)\n  ```\n", "[(4, 1, 1), (256, 1, 1)]"),
        ("k.md", "```python\nx\n```\n\n```cuda\nscale<<<4, 256>>>(x);\n```\n", "<<<(4, 1, 1), (256, 1, 1)>>>"),
        ("k.ipynb", "scale[4, 256](x)\n", "[(4, 1, 1), (256, 1, 1)]"),
        ("k.ipynb", "%%cu\n__global__ void scale(int*);\nscale<<<4, 256>>>(x);\n", "<<<(4, 1, 1), (256, 1, 1)>>>"),
    ];
    for (path, text, wanted) in texts {
        let start = text.find("scale[").or_else(|| text.find("scale<")).unwrap();
        let place = Place { path: path.into(), range: start..start + 5 };
        let launch = LaunchWitness { site: place.clone(), grid: [4, 1, 1], block: [256, 1, 1], shared_bytes: 0 };
        let mut finding = finding(&LIMIT, Severity::Error, place, "too much");
        finding.claim.launch = Some(launch);
        finding.witness = Some(Witness::default());
        let mut sources = Sources::new();
        let cell = CellStart { start: 0, index: 0 };
        let cells = if path.ends_with("ipynb") { vec![cell] } else { Vec::new() };
        sources.insert_notebook(path.into(), text.into(), cells.into());
        let report = Report::new(vec![finding], FileCounts { checked: 1, skipped: 0, damaged: 0 }, sources);
        for format in [Format::Full, Format::Sarif] {
            let shown = format.render(&report, &Options::default());
            assert!(shown.contains(wanted), "{path}: {shown}");
        }
    }
}

#[test]
fn concise() {
    assert_snapshot!(render(Format::Concise));
}

#[test]
fn json() {
    let text = render(Format::Json);
    assert_snapshot!(text);
    validate(&cudalint_findings::schema::document(), &serde_json::from_str(&text).unwrap());
}

#[test]
fn json_after_verification() {
    let text = Format::Json.render(&verified(), &Options::default());
    let document: Value = serde_json::from_str(&text).unwrap();
    validate(&cudalint_findings::schema::document(), &document);
    let race = document["findings"].as_array().unwrap().iter().find(|f| f["rule"] == RACE.name).unwrap();
    assert_snapshot!("json_verification", serde_json::to_string_pretty(&race["verification"]).unwrap());
}

#[test]
fn json_reads_back() {
    let text = Format::Json.render(&verified(), &Options::default());
    let document: cudalint_findings::model::Document = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string_pretty(&document).unwrap() + "\n", text);
    let made = cudalint_findings::model::Document::new(&verified(), cudalint_findings::RULES_URL);
    // What fault injection makes fail follows from the rule and is not written.
    assert_eq!(document, made);
}

#[test]
fn a_document_restores_to_the_report_it_was_made_of() {
    let document = cudalint_findings::model::Document::new(&verified(), cudalint_findings::RULES_URL);
    let rules = verified().findings.iter().map(|finding| finding.rule).collect::<Vec<_>>();
    let restored = document.restore(sources(), &|entry| rules.iter().find(|rule| rule.name == entry.rule).unwrap());
    assert_eq!(cudalint_findings::model::Document::new(&restored, cudalint_findings::RULES_URL), document);
}

#[test]
fn a_finding_may_be_shown_by_another_method_than_its_rules_others() {
    let mut report = verified();
    let finding = report.findings.iter_mut().find(|finding| finding.rule.name == RACE.name).unwrap();
    finding.method = Some(cudalint_findings::Method::Exception);
    let text = Format::Json.render(&report, &Options::default());
    let document: cudalint_findings::model::Document = serde_json::from_str(&text).unwrap();
    let rules = report.findings.iter().map(|finding| finding.rule).collect::<Vec<_>>();
    let restored = document.restore(sources(), &|entry| rules.iter().find(|rule| rule.name == entry.rule).unwrap());
    let methods = |report: &Report| report.findings.iter().map(|it| it.method).collect::<Vec<_>>();
    assert_eq!(methods(&restored), methods(&report));
    assert!(Format::Sarif.render(&report, &Options::default()).contains("\"method\": \"exception\""));
}

#[test]
fn every_format_tells_the_verdict() {
    for name in Format::names() {
        let format: Format = name.parse().unwrap();
        let text = format.render(&verified(), &Options { width: 200, ..Options::default() });
        if matches!(format, Format::Json | Format::JsonLines | Format::Sarif) {
            assert!(text.contains("\"confirmed\"") && text.contains("\"NVIDIA H200\""), "{name}:\n{text}");
        } else {
            assert!(text.contains("confirmed on NVIDIA H200"), "{name}:\n{text}");
        }
    }
    let sarif: Value = serde_json::from_str(&Format::Sarif.render(&verified(), &Options::default())).unwrap();
    validate(&sarif_schema(), &sarif);
    let levels = sarif["runs"][0]["results"].as_array().unwrap().iter().map(|result| &result["kind"]);
    assert!(levels.into_iter().all(|kind| kind.is_null() || kind == "fail"), "a verdict takes no level away");
}

#[test]
fn json_lines_are_the_findings_of_the_document() {
    let document: Value = serde_json::from_str(&render(Format::Json)).unwrap();
    let lines: Vec<Value> = render(Format::JsonLines).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(document["findings"], Value::Array(lines));
}

#[test]
fn sarif() {
    let text = render(Format::Sarif);
    assert_snapshot!(text);
    validate(&sarif_schema(), &serde_json::from_str(&text).unwrap());
}

#[test]
fn the_sarif_schema_refuses_what_is_not_sarif() {
    let schema: Value = serde_json::from_str(&sarif_schema()).unwrap();
    let mut log: Value = serde_json::from_str(&render(Format::Sarif)).unwrap();
    log["runs"][0]["columnKind"] = "bytes".into();
    assert!(!jsonschema::is_valid(&schema, &log));
}

#[test]
fn github() {
    assert_snapshot!(render(Format::Github));
}

#[test]
fn github_escapes() {
    let mut findings = findings();
    findings.truncate(1);
    findings[0].place.path = "a,b:c%.cu".into();
    findings[0].message = "100%: a, b\r\nc".into();
    findings[0].help = None;
    let report = Report::new(findings, report().files, sources());
    assert_eq!(
        Format::Github.render(&report, &Options::default()),
        "::notice file=a%2Cb%3Ac%25.cu,line=1,col=1,endLine=1,endColumn=1,\
         title=launch-exceeds-device-limit (definite)::100%25: a, b%0D%0Ac\n"
    );
}

#[test]
fn gitlab() {
    assert_snapshot!(render(Format::Gitlab));
}

#[test]
fn junit() {
    assert_snapshot!(render(Format::Junit));
}

#[test]
fn lsp() {
    let options = Options { root: Some("/home/me/project".into()), ..Options::default() };
    assert_snapshot!(Format::Lsp.render(&report(), &options));
}

#[test]
fn empty_reports() {
    let options = Options::default();
    let all: Vec<String> =
        Format::all().map(|format| format!("--- {}\n{}", format.name(), format.render(&empty(), &options))).collect();
    assert_snapshot!(all.join(""));
    validate(
        &cudalint_findings::schema::document(),
        &serde_json::from_str(&Format::Json.render(&empty(), &options)).unwrap(),
    );
    validate(&sarif_schema(), &serde_json::from_str(&Format::Sarif.render(&empty(), &options)).unwrap());
}

#[test]
fn statistics_table() {
    let limits = [("paths cut off".to_owned(), 12), ("never met".to_owned(), 0)];
    assert_snapshot!(statistics::render(&report(), &limits), @"
     1  element-count-as-bytes
     1  launch-exceeds-device-limit
     1  shared-memory-race
     1  unchecked-api-call
    limits met:
    12  paths cut off
    ");
    assert_eq!(statistics::render(&empty(), &[]), "");
}

#[test]
fn format_names() {
    for format in Format::all() {
        assert_eq!(format.name().parse::<Format>().unwrap(), format);
    }
    assert_eq!(
        "xml".parse::<Format>().unwrap_err().to_string(),
        format!("unknown output format `xml`; one of {}", Format::names().collect::<Vec<_>>().join(", "))
    );
}

#[test]
fn the_html_report_holds_source_witness_and_evidence_and_nothing_unescaped() {
    use cudalint_findings::format::html;
    let page = html::Page {
        facts: vec![("GPU".to_owned(), "NVIDIA <H200>".to_owned())],
        base: "outcome/".to_owned(),
        rules_url: String::new(),
    };
    let text = html::render(&verified(), &page);
    for part in [
        "<b>1</b> confirmed",
        "NVIDIA &lt;H200&gt;",
        "s[threadIdx.x] = threadIdx.x;",
        "<span class=\"flagged\">",
        "element 255 of 256",
        "Race reported between Write access and Read access",
        "href=\"outcome/race/harness.cu\"",
        "racecheck reports this race",
    ] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    // A reader of XML finds every element closed; `meta` is the one that HTML leaves open.
    let body = text.split_once("</head>").unwrap().1;
    let mut open = Vec::new();
    for tag in body.split('<').skip(1).map(|rest| rest.split(['>', ' ']).next().unwrap()) {
        match tag.strip_prefix('/') {
            Some("html") => {}
            Some(name) => assert_eq!(open.pop(), Some(name)),
            None => open.push(tag),
        }
    }
    assert!(open.is_empty(), "{open:?}");
}
