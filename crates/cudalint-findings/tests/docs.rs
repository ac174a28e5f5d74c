//! The examples of `docs/formats.md` are what the formats give: a stale one is rewritten, then the test fails.
#![allow(clippy::unwrap_used)]

mod common;

use cudalint_findings::claim::Call;
use cudalint_findings::format::{Format, Options, statistics};
use cudalint_findings::*;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

const TEXT: &str = "\
#include <cuda_runtime.h>

int main() {
    const int n = 1000;
    float *host = new float[n], *device;
    if (cudaMalloc(&device, n) != cudaSuccess) return 1;
    if (cudaMemcpy(device, host, n * sizeof(float), cudaMemcpyHostToDevice) != cudaSuccess) return 1;
}
";

static COPY: RuleInfo = RuleInfo {
    name: "copy-exceeds-allocation",
    group: Group::Correctness,
    summary: "A copy reads or writes more bytes than the buffer has.",
    page: "# copy-exceeds-allocation\n\nA copy reads or writes more bytes than the buffer has.\n",
    method: Method::ApiError,
    guidelines: &[],
    cwe: Some(787),
};

fn report() -> Report {
    let path: Arc<str> = "src/upload.cu".into();
    let place = |needle: &str| {
        let start = TEXT.find(needle).unwrap();
        Place { path: Arc::clone(&path), range: start..start + needle.len() }
    };
    let allocation = "cudaMalloc(&device, n)";
    let finding = Finding {
        label: "writes 4000 bytes".into(),
        related: vec![Label { place: place(allocation), message: "allocated here: 1000 bytes".into() }],
        claim: Shows::FailedCall { call: Call { argument: Some("device".into()), ..Call::of("cudaMemcpy") } }.into(),
        witness: Some(Witness {
            bindings: vec![("n".into(), 1000)],
            path: vec![Label { place: place(allocation), message: "`device` points to 1000 bytes".into() }],
            ..Witness::default()
        }),
        fix: Some(Fix {
            applicability: Applicability::Unsafe,
            message: "allocate `n * sizeof(float)` bytes".into(),
            edits: vec![Edit {
                place: {
                    let start = place(allocation).range.end - 2;
                    Place { path: Arc::clone(&path), range: start..start + 1 }
                },
                text: "n * sizeof(float)".into(),
            }],
        }),
        ..common::finding(
            &COPY,
            Severity::Error,
            place("cudaMemcpy(device, host, n * sizeof(float), cudaMemcpyHostToDevice)"),
            "the copy writes 4000 bytes to `device`, which has 1000",
        )
    };
    let mut sources = Sources::new();
    sources.insert(Arc::clone(&path), TEXT.into());
    Report::new(vec![finding], FileCounts { checked: 1, skipped: 0, damaged: 0 }, sources)
}

/// The text of the example named after `<!-- example: `.
fn example(name: &str) -> String {
    let report = report();
    let options = Options { root: Some("/home/me/project".into()), ..Options::default() };
    if name == "statistics" {
        return statistics::render(&report, &[("paths of a function cut off".into(), 2)]);
    }
    name.parse::<Format>().unwrap().render(&report, &options)
}

#[test]
fn examples_are_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats.md");
    let committed = std::fs::read_to_string(&path).unwrap();
    let mut fresh = String::new();
    let mut names = Vec::new();
    let mut rest = committed.as_str();
    while let Some((before, after)) = rest.split_once("<!-- example: ") {
        let (name, after) = after.split_once(" -->\n").unwrap();
        let (fence, after) = after.split_once('\n').unwrap();
        assert!(fence.starts_with("```"), "no fence after the example {name}");
        let after = after.split_once("```\n").unwrap().1;
        fresh.push_str(before);
        write!(fresh, "<!-- example: {name} -->\n{fence}\n{}```\n", example(name)).unwrap();
        names.push(name.to_owned());
        rest = after;
    }
    fresh.push_str(rest);
    if committed != fresh {
        std::fs::write(&path, &fresh).unwrap();
    }
    assert!(committed == fresh, "docs/formats.md was stale and has been rewritten: look at the change and commit it");
    for format in Format::all() {
        assert!(names.iter().any(|name| name == format.name()), "no example of {}", format.name());
    }
}
