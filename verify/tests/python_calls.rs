//! Scripts that call what a file only defines: what is called, with which arguments, and that the user's lines stay.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::needless_pass_by_value)]

mod claim_support;

use camino::Utf8PathBuf;
use cudalint_findings::Shows;
use cudalint_findings::model::{FindingEntry, Launch, Position, Range, Site};
use cudalint_verify::harness;
use cudalint_verify::scenario::{Candidate, Origin, Program, PythonProgram};
use cudalint_verify::subject::Subject;
use serde_json::json;

/// A subject of a text in a folder of its own.
fn subject(name: &str, text: &str) -> (tempfile::TempDir, Subject) {
    let folder = tempfile::tempdir().unwrap();
    let root = Utf8PathBuf::from_path_buf(folder.path().canonicalize().unwrap()).unwrap();
    std::fs::write(root.join(name), text).unwrap();
    let subject = Subject::read(&root, name, &[]).unwrap();
    (folder, subject)
}

/// A finding at the line with some text.
fn finding(subject: &Subject, method: &str, text: &str, witness: serde_json::Value) -> FindingEntry {
    let (index, line) = subject.text.lines().enumerate().find(|(_, line)| line.contains(text)).unwrap();
    let column = line.find(text).unwrap() + 1;
    let value = json!({
        "rule": "some-rule", "group": "correctness", "severity": "error", "confidence": "definite",
        "message": "it fails", "path": subject.path,
        "range": {"start": {"line": index + 1, "column": column}, "end": {"line": index + 1, "column": column + text.len()}},
        "function": null, "related": [], "witness": witness,
        "verification": {"method": method, "verdict": null},
        "fix": null, "fingerprint": "0", "url": ""
    });
    claim_support::entry(value)
}

fn witness(
    bindings: serde_json::Value,
    launch: Option<(u32, [u64; 3], [u64; 3])>,
    extent: i64,
    line: u32,
    path: &str,
) -> serde_json::Value {
    let launch = launch.map(
        |(line, grid, block)| json!({"path": path, "line": line, "grid": grid, "block": block, "shared_bytes": 0}),
    );
    json!({
        "launch": launch, "bindings": bindings, "assumptions": [], "path": [],
        "accesses": [{"block": [0, 0, 0], "thread": [0, 0, 0], "kind": "read", "index": extent, "extent": extent, "line": line}]
    })
}

fn python(candidates: &[Candidate]) -> Vec<&PythonProgram> {
    candidates
        .iter()
        .filter_map(|candidate| match candidate {
            Ok(Program::Python(program)) => Some(program),
            _ => None,
        })
        .collect()
}

fn text(program: &PythonProgram) -> &str {
    &program.files[0].text
}

const KERNEL: &str = "\
from numba import cuda
import numpy as np

@cuda.jit
def scale(x, out, n):
    i = cuda.grid(1)
    if i <= n:
        out[i] = x[i] * 2

";

#[test]
fn a_kernel_that_nothing_launches_is_launched_by_its_witness() {
    let (_folder, subject) = subject("k.py", KERNEL);
    let witness = json!({
        "launch": {"path": "k.py", "line": 5, "grid": [4, 1, 1], "block": [256, 1, 1], "shared_bytes": 0},
        "bindings": {"n": 1000, "x.shape[0]": 1000, "out.shape[0]": 1000}, "accesses": [], "assumptions": [], "path": []
    });
    let finding = finding(&subject, "memcheck", "x[i]", witness);
    let candidates = harness::candidates(&finding, &subject);
    let programs = python(&candidates);
    assert_eq!(programs.iter().map(|program| program.origin).collect::<Vec<_>>(), [Origin::Around, Origin::Cut]);
    let array = "__import__(\"numba.cuda\").cuda.to_device(__import__(\"numpy\").ones(1000, dtype=\"float32\"))";
    for program in &programs {
        let call = format!("scale[4, 256]({array}, {array}, 1000)\n");
        assert!(text(program).contains(&call), "{}", text(program));
        // The user's lines keep their numbers, and what the script waits for comes last.
        assert_eq!(text(program).lines().nth(7), Some("        out[i] = x[i] * 2"));
        assert!(text(program).contains("cuda.synchronize()"));
        assert_eq!(program.packages, ["numba"]);
        assert!(program.made_up.is_empty(), "{:?}", program.made_up);
    }
    assert!(!text(programs[1]).contains("import numpy as np"));
}

#[test]
fn a_function_that_launches_is_called_with_the_sizes_of_the_witness() {
    let source = format!(
        "{KERNEL}def run(a, n):\n    d = cuda.device_array_like(a)\n    scale[(n + 255) // 256, 256](a, d, n)\n    return d\n"
    );
    let (_folder, subject) = subject("k.py", &source);
    let witness = witness(json!({"n": 999, "x.shape[0]": 999}), Some((12, [4, 1, 1], [256, 1, 1])), 999, 8, "k.py");
    let finding = finding(&subject, "memcheck", "x[i]", witness);
    let candidates = harness::candidates(&finding, &subject);
    let programs = python(&candidates);
    assert_eq!(programs[0].origin, Origin::Around);
    assert!(
        text(programs[0]).contains("run(__import__(\"numpy\").ones(999, dtype=\"float32\"), 999)\n"),
        "{}",
        text(programs[0])
    );
    // Then the kernel alone.
    assert!(programs.iter().any(|program| text(program).contains("\nscale[4, 256](")));
}

#[test]
fn a_script_that_runs_by_itself_comes_first() {
    let source = format!("{KERNEL}scale[4, 256](np.ones(1000), np.ones(1000), 1000)\n");
    let (_folder, subject) = subject("k.py", &source);
    let finding = finding(&subject, "memcheck", "x[i]", json!(null));
    let candidates = harness::candidates(&finding, &subject);
    let programs = python(&candidates);
    assert_eq!(programs[0].origin, Origin::AsWritten);
    assert!(programs[0].files.is_empty());
}

#[test]
fn axes_signatures_and_kernels_of_factories_are_followed() {
    let source = "\
from numba import cuda

def make(k):
    @cuda.jit('void(float64[:, :], int32)')
    def add(m, n):
        i, j = cuda.grid(2)
        if i < n:
            m[i, j] += k
    return add
";
    let (_folder, subject) = subject("k.py", source);
    let witness =
        witness(json!({"m.shape[0]": 10, "m.shape[1]": 20, "n": 10}), Some((5, [2, 2, 1], [8, 8, 1])), 10, 8, "k.py");
    let finding = finding(&subject, "watchpoint", "m[i, j]", witness);
    let candidates = harness::candidates(&finding, &subject);
    let programs = python(&candidates);
    assert!(
        text(programs[0]).contains(
            "make(1000)[(2, 2), (8, 8)](__import__(\"numba.cuda\").cuda.to_device(__import__(\"numpy\").ones((10, 20), dtype=\"float64\")), 10)"
        ),
        "{}",
        text(programs[0])
    );
    assert_eq!(programs[0].made_up, ["k = 1000"]);
}

#[test]
fn an_exception_of_a_kernel_is_looked_for_at_its_launches_and_by_its_line() {
    let source = "\
from numba import cuda
import numpy as np

@cuda.jit
def bad(x, n):
    s = cuda.shared.array(n, np.float32)
    s[0] = x[0]

def run(x):
    bad[1, 32](x, 32)
";
    let (_folder, subject) = subject("k.py", source);
    let mut finding = finding(&subject, "exception", "n, np.float32", json!(null));
    finding.claim.shows = Shows::exception(&["TypingError"], &[]);
    let candidates = harness::candidates(&finding, &subject);
    let programs = python(&candidates);
    let raises = programs[0].raises.as_ref().unwrap();
    assert_eq!(raises.classes, ["TypingError"]);
    assert!(raises.lines.contains(&(6, 6)) && raises.lines.contains(&(10, 10)), "{raises:?}");
    // The call that the script adds counts, too.
    let last = text(programs[1]).lines().position(|line| line.starts_with("run(")).unwrap() as u32 + 1;
    assert!(programs[1].raises.as_ref().unwrap().lines.contains(&(last, last)), "{raises:?}");
    // The kernel with that statement comes first, and beside it the same without it.
    let alone: Vec<&str> = text(programs[0]).lines().skip(3).take(3).collect();
    assert_eq!(alone, ["@cuda.jit", "def bad(x, n):", "    s = cuda.shared.array(n, np.float32)"]);
    assert!(text(programs[0]).contains("\nbad[8, 128]("), "{}", text(programs[0]));
    let control = programs[0].files.iter().find(|file| Some(&file.path) == programs[0].control.as_ref()).unwrap();
    assert_eq!(control.text.lines().nth(5), Some("    pass"));
}

#[test]
fn a_statement_of_a_device_function_is_launched_by_a_kernel_of_its_own() {
    let source = "from numba import cuda, float32

@cuda.jit(device=True)
def padded(n):
    m = n + 1
    s = cuda.local.array(m, float32)
    first, *rest = (1, 2)
    return s[0]
";
    let (_folder, subject) = subject("k.py", source);
    let finding = finding(&subject, "exception", "m, float32", json!(null));
    let candidates = harness::candidates(&finding, &subject);
    let programs = python(&candidates);
    let script = text(programs[0]);
    assert!(script.contains("    m = n + 1\n    s = cuda.local.array(m, float32)\n\n"), "{script}");
    assert!(!script.contains("rest"), "{script}");
    let launch =
        "@__import__(\"numba.cuda\").cuda.jit\ndef cudalint_kernel(n): padded(n)\ncudalint_kernel[1, 1](1000)\n";
    assert!(script.contains(launch), "{script}");
}

#[test]
fn a_clean_fence_with_a_kernel_alone_is_launched_as_said() {
    let document = format!("# Page\n\n```python\n{KERNEL}```\n");
    let (_folder, subject) = subject("page.md", &document);
    let start = Position { cell: None, line: 1, column: 1 };
    let site = Site { path: String::new(), range: Range { start, end: start } };
    let launch = Launch { site, grid: [2, 1, 1], block: [64, 1, 1], shared_bytes: 0 };
    let Ok(Program::Python(program)) = harness::drive_all_with(&subject, &subject.stretches[0], Some(&launch)) else {
        panic!()
    };
    assert!(text(&program).contains("\nscale[2, 64]("), "{}", text(&program));
    // A thread has an element of its own.
    assert!(text(&program).contains("ones(128, dtype"), "{}", text(&program));
}

#[test]
fn a_kernel_with_a_shared_array_is_launched_with_the_block_that_it_is_made_for() {
    let kernel = "\
from numba import cuda, float32

TPB = 16

@cuda.jit
def tile(x):
    s = cuda.shared.array((TPB, TPB), dtype=float32)
    i, j = cuda.grid(2)
    s[cuda.threadIdx.x, cuda.threadIdx.y] = x[i, j]
";
    let (_folder, subject) = subject("k.py", kernel);
    let Ok(Program::Python(program)) = harness::drive_all(&subject, &subject.stretches[0]) else { panic!() };
    assert!(text(&program).contains("\ntile[8, (16, 16)](__import__"), "{}", text(&program));
    assert!(program.made_up.contains(&"the launch: 8 blocks of (16, 16) threads".to_owned()), "{:?}", program.made_up);
}

#[test]
fn a_kernel_in_a_string_is_run_by_the_script_and_by_itself() {
    let source = "\
import cupy as cp

fill = cp.RawKernel(r'''
extern \"C\" __global__ void fill(float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) out[i] = 1.0f;
}
''', 'fill')


def run(n):
    out = cp.zeros(n, dtype=cp.float32)
    fill(((n + 255) // 256,), (256,), (out, cp.int32(n)))
    return out
";
    let (_folder, subject) = subject("k.py", source);
    let witness = json!({
        "launch": {"path": "k.py", "line": 13, "grid": [4, 1, 1], "block": [256, 1, 1], "shared_bytes": 0},
        "bindings": {"n": 1000}, "assumptions": [], "path": [],
        "accesses": [{"block": [3, 0, 0], "thread": [232, 0, 0], "kind": "write", "index": 1000, "extent": 1000, "line": 6}]
    });
    let finding = finding(&subject, "memcheck", "out[i] = 1.0f", witness);
    let candidates = harness::candidates(&finding, &subject);
    let programs = python(&candidates);
    assert!(text(programs[0]).contains("\nrun(1000)\n"), "{}", text(programs[0]));
    assert!(text(programs[0]).contains("import cupy; cupy.cuda.set_allocator(None)"), "{}", text(programs[0]));
    let cuda: Vec<_> = candidates
        .iter()
        .filter_map(|candidate| match candidate {
            Ok(Program::Cuda(program)) => Some(program),
            _ => None,
        })
        .collect();
    assert!(!cuda.is_empty(), "{candidates:?}");
    // C++ alone, with the lines of the Python file.
    let harness = &cuda[0].files.iter().find(|file| file.path == cuda[0].unit).unwrap().text;
    assert!(harness.contains("if (i <= n) out[i] = 1.0f;") && harness.contains("k.py\""), "{harness}");
    assert!(!harness.contains("RawKernel"), "{harness}");
    assert!(candidates.iter().any(|candidate| matches!(candidate, Ok(Program::Kernel(_)))), "{candidates:?}");
}

#[test]
fn a_method_that_launches_is_called_on_an_object() {
    let source = format!(
        "{KERNEL}class Solver:\n    def __init__(self, n):\n        self.n = n\n\n    def step(self, a):\n        scale[4, 256](a, a, self.n)\n"
    );
    let (_folder, subject) = subject("k.py", &source);
    let witness = witness(json!({"n": 999, "x.shape[0]": 999}), Some((15, [4, 1, 1], [256, 1, 1])), 999, 8, "k.py");
    let finding = finding(&subject, "memcheck", "x[i]", witness);
    let candidates = harness::candidates(&finding, &subject);
    let programs = python(&candidates);
    let call = "Solver(999).step(__import__(\"numpy\").ones(999, dtype=\"float32\"))\n";
    assert!(text(programs[0]).contains(call), "{}", text(programs[0]));
    let cut = programs.iter().find(|program| program.origin == Origin::Cut).unwrap();
    assert!(text(cut).contains("class Solver:") && text(cut).contains(call), "{}", text(cut));
}

#[test]
fn what_a_fragment_leaves_out_is_supplied_to_the_cut_script() {
    let code = "@cuda.jit\ndef fill(out):\n    s = cuda.shared.array(TPB, np.float32)\n    out[cuda.grid(1)] = s[0]\n\nfill[4, 128](d_out)\n";
    let (_folder, subject) = subject("page.md", &format!("# Page\n\nText.\n\n```python\n{code}```\n"));
    let finding = finding(&subject, "memcheck", "out[cuda.grid(1)]", json!(null));
    let candidates = harness::candidates(&finding, &subject);
    let programs = python(&candidates);
    assert_eq!(programs[0].origin, Origin::AsWritten);
    let cut = programs.iter().find(|program| program.origin == Origin::Cut).unwrap();
    for line in ["TPB = 128; from numba import cuda; import numpy as np\n", "\nfill[8, 128](__import__"] {
        assert!(text(cut).contains(line), "{}", text(cut));
    }
    assert!(!text(cut).contains("d_out"), "{}", text(cut));
    assert_eq!(cut.packages, ["numba"]);
    assert!(cut.made_up.contains(&"TPB = 128".to_owned()), "{:?}", cut.made_up);
}
