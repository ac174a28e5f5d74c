//! Notebooks: their cells run as one program, cells of C++ as programs of their own, and what was seen is told by cell and line.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod claim_support;
mod lab_support;

use cudalint_findings::model::{FindingEntry, Verdict};
use cudalint_verify::Outcome;
use cudalint_verify::harness;
use cudalint_verify::machine::Machine;
use cudalint_verify::run::{self, Request};
use cudalint_verify::scenario::Program;
use cudalint_verify::subject::Subject;
use lab_support::{Place, compiler, device, launcher, limits};
use serde_json::{Value, json};

/// A notebook with these cells; those that begin with `#!markdown` are text.
fn notebook(cells: &[&str]) -> String {
    let cells: Vec<Value> = cells
        .iter()
        .map(|source| match source.strip_prefix("#!markdown") {
            Some(text) => json!({"cell_type": "markdown", "metadata": {}, "source": text}),
            None => json!({
                "cell_type": "code", "metadata": {}, "execution_count": null, "outputs": [],
                "source": source.split_inclusive('\n').collect::<Vec<_>>(),
            }),
        })
        .collect();
    json!({"cells": cells, "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5})
        .to_string()
}

const CELLS: &[&str] = &[
    "#!markdown# Scaling",
    "%matplotlib inline\nimport numpy as np\nfrom numba import cuda",
    "@cuda.jit\ndef scale(x):\n    i = cuda.grid(1)\n    x[i] *= 2",
    "%%writefile twice.cuh\n__device__ float twice(float x) { return 2 * x; }",
    "%%cu\n#include \"twice.cuh\"\n__global__ void k(float *p) { *p = twice(*p); }\nint main() {\n    k<<<0, 1>>>(nullptr);\n}",
    "!nvidia-smi\nx = np.ones(100)\nscale[len(x) // 256, 256](x)",
];

/// A finding in a cell (from 0 among all) at a line of it.
fn finding(cell: u32, line: u32) -> FindingEntry {
    let at = |column: u32| json!({"cell": cell, "line": line, "column": column});
    let launch = json!({"path": "nb.ipynb", "cell": cell, "line": line, "grid": [0, 1, 1], "block": [256, 1, 1], "shared_bytes": 0});
    claim_support::entry(json!({
        "rule": "some-rule", "group": "correctness", "severity": "error", "confidence": "definite",
        "message": "the grid has 0 blocks", "shows": claim_support::refused_launch("blocks"), "path": "nb.ipynb",
        "range": {"start": at(1), "end": at(9)},
        "function": null, "related": [],
        "witness": {"launch": launch, "bindings": {}, "accesses": [], "assumptions": [], "path": []},
        "verification": {"method": "api-error", "verdict": null},
        "fix": null, "fingerprint": "0123456789abcdef", "url": ""
    }))
}

fn place() -> Place {
    let place = Place::new();
    std::fs::write(place.path.join("nb.ipynb"), notebook(CELLS)).unwrap();
    place
}

/// The outcome of a finding on a machine whose Python is this shell script.
fn outcome(place: &Place, finding: FindingEntry, python: &str) -> Outcome {
    let python = json!({
        "program": {"path": place.script("python", python), "version": "3.12.3"},
        "packages": [{"name": "numba", "version": "0.68.0", "problem": null}],
    });
    let machine = Machine {
        python: Some(serde_json::from_value(python).unwrap()),
        devices: vec![device(0)],
        ..place.machine(&compiler("echo ran"), "exit 0")
    };
    let findings = [finding];
    let request = Request {
        root: place.path.clone(),
        limits: limits(),
        ..Request::new(&findings, machine, launcher(), place.path.join("out"))
    };
    run::verify(&request, &()).unwrap().outcomes.remove(0).1
}

#[test]
fn the_cells_are_one_program_with_magics_masked() {
    let place = place();
    let notebook = Subject::read(&place.path, "nb.ipynb", &[]).unwrap();
    let (subject, flat) = notebook.of_finding(&finding(5, 3));
    // Three lines of the first cell of code, four, two and six of the others.
    assert_eq!((flat.range.start.cell, flat.range.start.line), (None, 18));
    assert_eq!(flat.claim.launch.as_ref().unwrap().site.line(), 18);
    let Some(Ok(Program::Python(program))) = harness::candidates(&flat, subject).into_iter().next() else { panic!() };
    let own = &program.files[0];
    assert_eq!(own.path, program.script);
    let lines: Vec<&str> = own.text.lines().collect();
    assert_eq!(lines[1], "import numpy as np");
    assert_eq!(lines[3], "@cuda.jit");
    assert_eq!(lines[17], "scale[len(x) // 256, 256](x)");
    for gone in ["%matplotlib", "nvidia-smi", "%%", "__global__"] {
        assert!(!own.text.contains(gone), "{}", own.text);
    }
    assert!(own.text.contains("cell 2 from line 1, cell 3 from line 4"), "{}", own.text);
    assert!(program.packages.contains(&"numba".to_owned()));
    assert_eq!(program.beside.as_ref(), Some(&place.path));
    // What other cells write lies beside it.
    assert!(program.files.iter().any(|file| file.path == "twice.cuh" && file.text.contains("float twice")));
}

#[test]
fn a_cell_of_cpp_is_a_program_of_its_own() {
    let place = place();
    let notebook = Subject::read(&place.path, "nb.ipynb", &[]).unwrap();
    let (subject, flat) = notebook.of_finding(&finding(4, 5));
    let Some(Ok(Program::Cuda(program))) = harness::candidates(&flat, subject).into_iter().next() else { panic!() };
    let text = &program.files[0].text;
    assert!(text.contains("k<<<0, 1>>>") && !text.contains("%%cu") && !text.contains("np.ones"), "{text}");
    // The compiler is told the lines of the notebook's text.
    assert!(text.contains(&format!("#line {} \"nb.ipynb\"\n#include", flat.range.start.line - 3)), "{text}");
    assert!(program.files.iter().any(|file| file.path == "twice.cuh"));
    assert!(program.flags.contains(&format!("-I{}", place.path)), "{:?}", program.flags);
    // What a compiler says of it is told by cell and line.
    assert_eq!(notebook.by_cells("nb.ipynb(14): error: x"), "nb.ipynb:cell 5:5: error: x");
    assert_eq!(notebook.by_cells("nb.ipynb:14:3: error"), "nb.ipynb:cell 5:5:3: error");
    assert_eq!(notebook.by_cells("at line 18, outline 3"), "at cell 6, line 3, outline 3");
}

#[test]
fn what_was_seen_is_told_by_cell_and_line() {
    let place = place();
    // A module beside the notebook can be imported.
    let python = "case :$PYTHONPATH: in *:$(dirname $0):*) ;; *) exit 3;; esac\nshift\nprintf 'Traceback (most recent call last):\\n  File \"%s\", line 18, in <module>\\nValueError: LaunchConfig.grid values must be >= 1 (got (0, 1, 1))\\n' \"$1\" >&2\nexit 1";
    let outcome = outcome(&place, finding(5, 3), python);
    assert_eq!(outcome.verification.verdict, Some(Verdict::Confirmed), "{}", outcome.reason);
    assert!(outcome.reason.contains("the launch at cell 6, line 3 is refused"), "{}", outcome.reason);
    assert_eq!(outcome.place, "nb.ipynb:cell 6:3");
    let record = &outcome.verification.evidence.as_ref().unwrap().records[0];
    assert_eq!((record.path.as_deref(), record.cell, record.line), (Some("nb.ipynb"), Some(5), Some(3)));
    assert!(outcome.attempts[0].reason.contains("cell 6, line 3"), "{}", outcome.attempts[0].reason);
    let reproducer = outcome.verification.evidence.as_ref().unwrap().reproducer.clone().unwrap();
    assert!(place.read(&format!("out/{reproducer}")).contains("scale[len(x) // 256, 256](x)"));
}

#[test]
fn a_notebook_without_code_and_a_file_that_is_none_are_told() {
    let place = Place::new();
    std::fs::write(place.path.join("nb.ipynb"), notebook(&["#!markdown# Nothing"])).unwrap();
    let reason = Subject::read(&place.path, "nb.ipynb", &[]).unwrap_err();
    assert!(reason.contains("no code in a language that can be run"), "{reason}");
    std::fs::write(place.path.join("nb.ipynb"), "{\"cells\": 3}").unwrap();
    assert!(Subject::read(&place.path, "nb.ipynb", &[]).is_err());
    let outcome = outcome(&place, finding(0, 1), "exit 0");
    assert_eq!(outcome.verification.verdict, Some(Verdict::Unviable));
}

#[test]
fn files_that_would_lie_elsewhere_are_not_written() {
    let place = Place::new();
    let cells =
        ["%%writefile ../out.cuh\nint a;", "%%writefile /tmp/out.cuh\nint a;", "import numpy\nfrom numba import cuda"];
    std::fs::write(place.path.join("nb.ipynb"), notebook(&cells)).unwrap();
    let notebook = Subject::read(&place.path, "nb.ipynb", &[]).unwrap();
    let (subject, flat) = notebook.of_finding(&finding(2, 1));
    let Some(Ok(Program::Python(program))) = harness::candidates(&flat, subject).into_iter().next() else { panic!() };
    assert_eq!(program.files.len(), 1, "{:?}", program.files);
}
