//! Python findings: the script as written or what is cut out of it raises what the finding predicts, at its line, and
//! nothing else confirms it. The GPU packages are stand-ins that raise what the real ones do before they reach a GPU.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod claim_support;
mod lab_support;

use claim_support::exception;
use cudalint_findings::model::{FindingEntry, Verdict};
use cudalint_verify::experiment::{self, Judgement};
use cudalint_verify::harness;
use cudalint_verify::machine::Machine;
use cudalint_verify::scenario::{Origin, Program, PythonProgram};
use cudalint_verify::subject::Subject;
use lab_support::{Place, device, limits};
use serde_json::{Value, json};

const NUMBA: &str = "\
class Kernel:
    def __init__(self, function):
        self.function = function
    def __getitem__(self, configuration):
        if len(configuration) not in (2, 3, 4):
            raise ValueError('must specify at least the griddim and blockdim')
        if any(isinstance(part, float) for part in configuration):
            raise TypeError('griddim must be a sequence of integers')
        return self.function
    def __call__(self, *arguments):
        raise ValueError('Kernel launch configuration was not specified.')

def jit(function):
    return Kernel(function)

def grid(dimensions):
    return 0

def to_device(array):
    return array
";

const CUPY: &str = "\
from . import cuda
float32 = int32 = float
def ones(n, dtype=None):
    return [1] * n
";

/// A place with stand-ins for the GPU packages beside the scripts.
fn place() -> Place {
    let place = Place::new();
    packages(&place, "");
    place
}

fn packages(place: &Place, folder: &str) {
    let folder = place.path.join(folder);
    for (file, text) in [
        ("numba/__init__.py", ""),
        ("numba/cuda/__init__.py", NUMBA),
        ("cupy/__init__.py", CUPY),
        ("cupy/cuda/__init__.py", "def alloc(size):\n    return size\n"),
        ("numpy/__init__.py", "def zeros(n, dtype=None):\n    return [0] * n\n"),
    ] {
        let path = folder.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

fn machine(devices: usize) -> Machine {
    let python = serde_json::json!({
        "program": {"path": "python3", "version": "3"},
        "packages": [
            {"name": "numba", "version": "1", "problem": null},
            {"name": "cupy", "version": "1", "problem": null},
            {"name": "pycuda", "version": null, "problem": null}
        ]
    });
    Machine {
        python: Some(serde_json::from_value(python).unwrap()),
        devices: (0..devices as u32).map(device).collect(),
        ..Machine::default()
    }
}

/// What stands around a finding's place, and around another site of its claim.
const MARKS: [char; 4] = ['«', '»', '‹', '›'];

/// A text whose finding stands between `«` and `»`: the text without the marks, and the finding.
fn finding(path: &str, marked: &str, shows: &Value) -> (String, FindingEntry) {
    let position = |mark: char| {
        let before = marked.split(mark).next().unwrap().replace(MARKS, "");
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap().chars().count() + 1;
        serde_json::json!({"line": line, "column": column})
    };
    let place = |[from, to]: [char; 2]| json!({"path": path, "range": {"start": position(from), "end": position(to)}, "message": ""});
    let related: Vec<Value> = marked.contains('‹').then(|| place(['‹', '›'])).into_iter().collect();
    let finding = serde_json::json!({
        "rule": "some-rule", "group": "correctness", "severity": "error", "confidence": "definite",
        "message": "it fails", "path": path,
        "range": {"start": position('«'), "end": position('»')},
        "function": null, "related": related, "witness": null, "shows": shows,
        "verification": {"method": "exception", "verdict": null},
        "fix": null, "fingerprint": "0", "url": ""
    });
    (marked.replace(MARKS, ""), claim_support::entry(finding))
}

struct Tried {
    place: Place,
    programs: Vec<(PythonProgram, Judgement)>,
    refused: Vec<String>,
}

impl Tried {
    /// The text of a program's script.
    fn script(&self, number: usize) -> &str {
        let program = &self.programs[number].0;
        &program.files.iter().find(|file| file.path == program.script).unwrap().text
    }

    fn judgement(&self, number: usize) -> &Judgement {
        &self.programs[number].1
    }

    /// The verdict on a program, with its reason.
    fn said(&self, number: usize) -> (Verdict, &str) {
        let judgement = self.judgement(number);
        (judgement.verdict, &judgement.reason)
    }
}

/// Tries the programs of a marked text's finding.
fn tried(name: &str, marked: &str, shows: &Value) -> Tried {
    on(1, name, marked, shows)
}

/// What Numba says of a launch without its block.
fn one_element() -> Value {
    exception(&["ValueError"], &["griddim and blockdim"])
}

fn on(devices: usize, name: &str, marked: &str, shows: &Value) -> Tried {
    let place = Place::new();
    packages(&place, "");
    let (text, finding) = finding(name, marked, shows);
    std::fs::write(place.path.join(name), text).unwrap();
    let subject = Subject::read(&place.path, name, &[]).unwrap();
    let lab = place.lab(machine(devices), limits());
    let (mut programs, mut refused) = (Vec::new(), Vec::new());
    for (number, candidate) in harness::candidates(&finding, &subject).into_iter().enumerate() {
        match candidate {
            Ok(Program::Python(program)) => {
                let bench = lab.bench(&number.to_string()).unwrap();
                packages(&place, &format!("out/scenarios/{number}"));
                let judgement = experiment::perform(&finding, &Program::Python(program.clone()), &bench);
                programs.push((program, judgement));
            }
            Ok(other) => panic!("{other:?}"),
            Err(reason) => refused.push(reason),
        }
    }
    Tried { place, programs, refused }
}

const KERNEL: &str = "\
import sys
from numba import cuda
import numpy as np

@cuda.jit
def increment(a):
    i = cuda.grid(1)
    a[i] += 1

";

#[test]
fn a_script_as_written_raises_at_the_finding_s_line() {
    let tried =
        tried("x.py", &format!("{KERNEL}a = cuda.to_device(np.zeros(8))\n«increment[100,](a)»\n"), &one_element());
    let judgement = tried.judgement(0);
    assert_eq!(tried.programs[0].0.origin, Origin::AsWritten);
    assert_eq!(judgement.verdict, Verdict::Confirmed, "{}", judgement.reason);
    let record = &judgement.evidence.records[0];
    assert_eq!((record.kind.as_str(), record.path.as_deref(), record.line), ("ValueError", Some("x.py"), Some(11)));
    assert_eq!(record.text, "ValueError: must specify at least the griddim and blockdim");
    assert_eq!(judgement.evidence.back_end, "Python 3, numba 1");
    assert!(judgement.evidence.command.as_ref().unwrap().contains("x.py"));
    assert_eq!(judgement.evidence.device.as_deref(), Some("GPU 0"));
}

#[test]
fn what_an_earlier_line_hides_is_cut_out_with_its_line() {
    let text = format!("{KERNEL}a = cuda.to_device(np.zeros(8))\nincrement[100,](a)\n«increment(a)»\n");
    let tried = tried("x.py", &text, &exception(&["ValueError"], &["launch configuration"]));
    assert_eq!(
        tried.said(0),
        (
            Verdict::Unviable,
            "the script ends at line 11 with another exception: ValueError: must specify at least the griddim and blockdim"
        )
    );
    assert_eq!(tried.said(1), (Verdict::Confirmed, "ValueError is raised at line 12"));
    assert_eq!(tried.script(1).lines().nth(11), Some("increment(a)"));
    assert!(!tried.script(1).contains("[100,]"));
    // The reproducer stands alone and says how it is run.
    assert_eq!(tried.programs[1].0.reproducer.as_deref(), Some("cut.py".into()));
    assert!(tried.script(1).contains("# Run it with: python cut.py"));
}

#[test]
fn a_launch_in_a_function_that_nobody_calls_gets_made_up_numbers() {
    let text = format!("{KERNEL}def run(a, threads):\n    n = a.size\n    increment[«n / threads», threads](a)\n");
    let text = text.replace("a.size", "len(a)");
    let tried = tried("x.py", &text, &exception(&["TypeError"], &["must be a sequence of integers"]));
    assert_eq!(tried.said(0), (Verdict::Unviable, "the script ends without reaching line 12"));
    assert_eq!(tried.said(1), (Verdict::Confirmed, "TypeError is raised at line 12"));
    let made_up = &tried.programs[1].0.made_up;
    assert!(made_up.iter().any(|value| value == "threads = 128"), "{made_up:?}");
}

#[test]
fn a_fence_runs_with_the_document_s_lines() {
    let text = format!(
        "---\ntitle: x\n---\nWords.\n\n```python\n{KERNEL}«increment[100,](1)»\n```\n\n```python\nthis is no python\n```\n"
    );
    let tried = tried("x.md", &text, &one_element());
    assert_eq!(tried.said(0), (Verdict::Confirmed, "ValueError is raised at line 16"));
    let lines: Vec<&str> = tried.script(0).lines().collect();
    assert_eq!(lines[0], "# Lines 7 to 16 of x.md, at their own line numbers.");
    assert_eq!(lines[6], "import sys");
    assert_eq!(lines.len(), 16);
    assert_eq!(tried.judgement(0).evidence.records[0].path.as_deref(), Some("x.md"));
}

#[test]
fn a_fence_of_a_list_loses_its_indentation() {
    let text = "- Words.\n\n  ```python\n  from numba import cuda\n  if True:\n      «cuda.nothing»()\n  ```\n";
    let tried = tried("x.md", text, &exception(&["AttributeError"], &["'nothing'"]));
    assert_eq!(tried.said(0), (Verdict::Confirmed, "AttributeError is raised at line 6"));
    assert_eq!(tried.said(1), (Verdict::Confirmed, "AttributeError is raised at line 6"));
}

#[test]
fn python_reports_the_first_of_several_syntax_errors_and_the_others_are_cut_out() {
    let text = "import cupy as cp\n\nfirst<<<1, 2>>>(3)\n«second<<<1,\n    2>>>(cp.ones(3))»\n";
    let tried = tried("x.py", text, &exception(&["SyntaxError"], &[]));
    assert_eq!(tried.said(0).0, Verdict::Unviable);
    assert!(tried.said(0).1.contains("line 3"), "{}", tried.said(0).1);
    assert_eq!(tried.said(1), (Verdict::Confirmed, "SyntaxError is raised at line 4"));
    // It needs no package.
    assert!(tried.programs.iter().all(|(program, _)| program.packages.is_empty()));
}

#[test]
fn names_are_looked_up_alone_and_their_parents_must_exist() {
    let text = "import cupy as cp\nn = 8\n\ndef scratch():\n    memory = «cp.cuda.malloc»(4 * n)\n    return memory\n";
    let tried = tried("x.py", text, &exception(&["AttributeError"], &["'malloc'"]));
    assert_eq!(tried.said(0), (Verdict::Unviable, "the script ends without reaching line 5"));
    assert_eq!(tried.said(1), (Verdict::Confirmed, "AttributeError is raised at line 5"));
    assert_eq!(tried.script(1).lines().nth(4), Some("cp.cuda.malloc"));
    assert!(!tried.script(1).contains("n = 8"), "what it does not need is left out");
    assert_eq!(tried.place.read("out/scenarios/1/control.py").lines().nth(4), Some("cp.cuda"));
}

#[test]
fn an_import_of_a_name_that_is_not_there() {
    let tried = tried(
        "x.py",
        "def f():\n    from cupy.cuda import alloc, «malloc»\n    return malloc\n",
        &exception(&["ImportError"], &["malloc'"]),
    );
    assert_eq!(tried.said(1), (Verdict::Confirmed, "ImportError is raised at line 2"));
}

#[test]
fn a_plain_function_as_a_kernel_fails_at_its_launch() {
    let plain = KERNEL.replace("@cuda.jit\n", "").replace("def increment", "def «increment»");
    let text = format!("{plain}def run(a, n):\n    ‹increment[n, 128](a)›\n");
    let words = "'function' object is not subscriptable";
    let tried = tried("x.py", &text, &exception(&["TypeError"], &[words]));
    assert_eq!(tried.said(1), (Verdict::Confirmed, "TypeError is raised at line 10"), "{:?}", tried.refused);
}

#[test]
fn an_exception_that_the_script_catches_is_seen() {
    let text = format!("{KERNEL}try:\n    «increment[100,](1)»\nexcept BaseException:\n    print('caught')\n");
    let (text, mut finding) = finding("x.py", &text, &exception(&["ValueError"], &[]));
    finding.range.start.column += 1; // no fact stands there: the claim alone names the exception
    let place = place();
    std::fs::write(place.path.join("x.py"), text).unwrap();
    let subject = Subject::read(&place.path, "x.py", &[]).unwrap();
    let lab = place.lab(machine(1), limits());
    let bench = lab.bench("one").unwrap();
    let program = harness::candidates(&finding, &subject).remove(0).unwrap();
    let judgement = experiment::perform(&finding, &program, &bench);
    assert_eq!(
        (judgement.verdict, judgement.reason.as_str()),
        (Verdict::Confirmed, "ValueError is raised at line 11, and caught")
    );
}

#[test]
fn a_wrong_finding_is_not_confirmed() {
    // The line is right; another one raises what the message names.
    let right = format!("{KERNEL}«increment[8, 128]»\nincrement[100,](1)\n");
    let tried = on(1, "x.py", &right, &exception(&["ValueError"], &[]));
    assert_eq!(tried.said(0).0, Verdict::Unviable);
    assert_eq!(tried.programs.len(), 1);
    // It runs to its end.
    let clean = format!("{KERNEL}«increment[8, 128]»\n");
    let tried = on(1, "x.py", &clean, &exception(&["ValueError"], &[]));
    assert_eq!(tried.said(0), (Verdict::NotObserved, "the line runs and raises nothing of the kind"));
    // It raises something else there.
    let other = format!("{KERNEL}«increment[8, nothing]»\n");
    let tried = on(1, "x.py", &other, &exception(&["ValueError"], &[]));
    assert_eq!(tried.said(0).0, Verdict::Unviable);
    // It predicts nothing.
    let tried = on(1, "x.py", &format!("{KERNEL}«increment[100,](1)  »\n"), &exception(&[], &[]));
    assert_eq!(tried.said(0), (Verdict::Unviable, "the finding names no exception that could be looked for"));
}

#[test]
fn without_a_gpu_nothing_is_confirmed_and_what_python_said_is_kept() {
    let tried = on(0, "x.py", &format!("{KERNEL}«increment[100,](1)»\n"), &one_element());
    let judgement = tried.judgement(0);
    assert_eq!(tried.said(0), (Verdict::Unsupported, "there is no GPU; on the CPU ValueError is raised at line 10"));
    assert_eq!(judgement.evidence.device, None);
    assert_eq!(judgement.evidence.records[0].line, Some(10));
    let tried = on(0, "x.py", &format!("{KERNEL}nothing\n«increment[100,](1)»\n"), &one_element());
    assert!(tried.judgement(0).evidence.records.is_empty());
}

#[test]
fn a_package_that_is_missing_is_named() {
    let text = "from pycuda.compiler import SourceModule\nmodule = SourceModule('')\nfill = module.get_function('fill')\n«fill(1)»\n";
    let tried = tried("x.py", text, &exception(&["ValueError"], &["block"]));
    let (verdict, reason) = tried.said(0);
    assert_eq!(verdict, Verdict::Unsupported);
    assert!(reason.starts_with("Python has no pycuda (`cudalint doctor`"), "{reason}");
}

#[test]
fn a_text_that_must_be_clean_is_driven() {
    let place = place();
    let text = "import cupy as cp\n\ndef scratch(n):\n    return cp.cuda.alloc(4 * n)\n\ndef total(x):\n    return x[0]\n\ndef other(y):\n    pass\n";
    let document = format!("# Page\n\n```python\n{text}```\n");
    std::fs::write(place.path.join("page.md"), document).unwrap();
    let subject = Subject::read(&place.path, "page.md", &[]).unwrap();
    let Ok(Program::Python(program)) = harness::drive_all(&subject, &subject.stretches[0]) else { panic!() };
    let script = &program.files[0].text;
    assert!(script.contains("import cupy; cupy.cuda.set_allocator(None)\n"), "{script}");
    let calls = "    pass\nscratch(1000)\ntotal(__import__(\"cupy\").ones(1000, dtype=\"float32\"))\n";
    assert!(script.contains(calls), "{script}");
    // Nothing says what `y` would be.
    assert!(!script.contains("other(1") && !script.contains("other(2"), "{script}");
    assert_eq!(script.lines().nth(3), Some("import cupy as cp"));
    assert_eq!(program.packages, ["cupy"]);
}
