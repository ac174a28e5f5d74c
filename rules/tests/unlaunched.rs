//! Kernels without a host program, in the style of suites for verifiers: each racy or divergent one has a twin that is right.
//!
//! `unlaunched/*.cu` hold many of them, each a file of its own behind a line `//// name: rules`: one of the rules has to speak, and no other;
//! `clean`: none does. `open`: none does yet.
#![allow(clippy::panic)]

use cudalint_engine::Engine;
use cudalint_findings::Confidence;

const FILES: [(&str, &str); 8] = [
    ("barriers", include_str!("unlaunched/barriers.cu")),
    ("global", include_str!("unlaunched/global.cu")),
    ("graphs", include_str!("unlaunched/graphs.cu")),
    ("locks", include_str!("unlaunched/locks.cu")),
    ("provers", include_str!("unlaunched/provers.cu")),
    ("shared", include_str!("unlaunched/shared.cu")),
    ("warps", include_str!("unlaunched/warps.cu")),
    ("written", include_str!("unlaunched/written.cu")),
];

/// What is told of a kernel, *possible* findings apart: rule, line, message.
fn told(text: &str) -> Vec<(String, usize, String)> {
    let engine = Engine::new(cudalint_rules::RULES);
    let all = match engine.lint_texts(&[("kernel.cu".to_owned(), text)], None) {
        Ok(all) => all,
        Err(error) => panic!("{error}"),
    };
    let told = all.into_iter().filter(|finding| finding.confidence != Confidence::Possible);
    told.map(|finding| {
        let line = text.get(..finding.place.range.start).unwrap_or_default().matches('\n').count() + 1;
        let assumptions = finding.witness.map(|witness| witness.assumptions).unwrap_or_default();
        (finding.rule.name.to_owned(), line, format!("{} ({})", finding.message, assumptions.join("; ")))
    })
    .collect()
}

/// What launches a kernel of a file says the block, though it is not followed.
#[test]
fn kernels_that_a_script_launches_are_not_guessed_at() {
    let kernel = "extern \"C\" __global__ void turn(int *to) {\n    __shared__ int all[256];\n    all[threadIdx.x] = to[threadIdx.x];\n    \
                  to[threadIdx.x] = all[(threadIdx.x + 1) % blockDim.x];\n}\n";
    let told = |name: &str| {
        let script = format!(
            "import cupy as cp\nwith open('turn.cu') as file:\n    module = cp.RawModule(code=file.read())\n\
             turn = module.get_function('{name}')\n"
        );
        let engine = Engine::new(cudalint_rules::RULES);
        let files = [("turn.cu".to_owned(), kernel), ("run.py".to_owned(), &*script)];
        let all = match engine.lint_texts(&files, None) {
            Ok(all) => all,
            Err(error) => panic!("{error}"),
        };
        all.iter().filter(|it| it.rule.name == "shared-memory-race").map(|it| it.confidence).collect::<Vec<_>>()
    };
    assert_eq!(told("other"), [Confidence::Likely]);
    assert!(told("turn").is_empty());
}

#[test]
fn each_kernel_is_told_apart_from_its_twin() {
    let mut wrong = Vec::new();
    let cases = FILES.iter().flat_map(|(file, text)| text.split("//// ").skip(1).map(move |case| (file, case)));
    for (file, case) in cases {
        let Some((head, text)) = case.split_once('\n') else { continue };
        let Some((name, expected)) = head.split_once(": ") else { panic!("{head}") };
        let told = told(text);
        let expected: Vec<&str> = expected.split_whitespace().filter(|rule| *rule != "clean").collect();
        let all = told.iter().all(|(rule, ..)| expected.contains(&rule.as_str()));
        let silent = expected.is_empty() || expected.contains(&"open");
        if !all || silent != told.is_empty() {
            wrong.push(format!("{file}/{name}: expected {expected:?}, told {told:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of the kernels:\n{}", wrong.len(), wrong.join("\n"));
}
