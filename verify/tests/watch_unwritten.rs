//! Watchpoints on all accesses to one shared array: which arrays can be followed, and what a log says of a read.
#![allow(clippy::unwrap_used, clippy::panic)]

mod claim_support;
mod lab_support;

use camino::Utf8Path;
use cudalint_findings::model::{FindingEntry, Verdict};
use cudalint_syntax::Span;
use cudalint_verify::experiment::watchpoint;
use cudalint_verify::scenario::{CudaProgram, Origin, Program};
use cudalint_verify::subject::Subject;
use cudalint_verify::watch::copy::{Site, at_places};
use cudalint_verify::watch::judge::{Answer, Question};
use cudalint_verify::watch::log::Log;
use cudalint_verify::watch::sites::Access;
use cudalint_verify::watch::whole::of_shared_array;
use lab_support::{Place, compiler, limits};
use serde_json::json;
use std::fmt::Write as _;

/// The accesses to the shared array at the first place of a text that is marked with `@`, or why they cannot be followed.
fn followed(marked: &str) -> Result<Vec<(String, Access)>, String> {
    let at = marked.find('@').unwrap();
    let text = marked.replacen('@', "", 1);
    let folder = tempfile::tempdir().unwrap();
    let root = Utf8Path::from_path(folder.path()).unwrap();
    std::fs::write(root.join("x.cu"), &text).unwrap();
    let subject = Subject::read(root, "x.cu", &[]).unwrap();
    let stretch = &subject.stretches[0];
    let module = subject.module(stretch).unwrap();
    let places = of_shared_array(module, &subject.text, Span::new(at, at + 1))?;
    let copy = at_places(&subject.text, module, stretch.parsed.root(), &places, Some);
    assert_eq!(copy.text.lines().count(), text.lines().count());
    assert_eq!(copy.text.matches("cudalint_touch").count(), copy.sites.len());
    Ok(copy.sites.into_iter().map(|site| (site.text, site.access)).collect())
}

fn kernel(body: &str) -> String {
    format!(
        "__global__ void sum(const float *values, float *sums, int n) {{\n    __shared__ float parts[256];\n    \
         __shared__ float others[256];\n    int t = threadIdx.x;\n{body}\n}}\n"
    )
}

#[test]
fn all_accesses_to_the_array_are_found_and_no_others() {
    use Access::{Atomic, Read, Update, Write};
    let text = kernel(
        "    if (t < n) parts[t] = values[t];\n    others[t] = sizeof(parts) + parts[t + 1];\n    __syncthreads();\n    \
         @parts[t] += fmaxf(parts[t + 8], others[t]);\n    atomicAdd(&parts[3], 1.0f);\n    *(parts + 4) = 0;",
    );
    let expected = [
        ("parts[t]", Write),
        ("parts[t + 1]", Read),
        ("parts[t]", Update),
        ("parts[t + 8]", Read),
        ("&parts[3]", Atomic),
        ("*(parts + 4)", Write),
    ];
    assert_eq!(followed(&text).unwrap(), expected.map(|(text, access)| (text.to_owned(), access)));
}

#[test]
fn an_array_that_may_be_written_out_of_sight_is_not_followed() {
    for (use_, word) in [
        ("float *p = parts; p[t] = 1;", "handed on in line 5"),
        ("float &first = parts[0]; first = 1;", "handed on in line 5"),
        ("fill(parts, n);", "handed on in line 5"),
        ("swap(parts[t], parts[t + 1]);", "handed on in line 5"),
        ("auto set = [&](int i) { parts[i] = 1; }; set(t);", "lambda"),
        ("asm volatile(\"\" :: \"r\"(__cvta_generic_to_shared(parts)));", "handed on in line 5"),
    ] {
        let text = kernel(&format!("    {use_}\n    sums[t] = @parts[t];"));
        let reason = followed(&text).unwrap_err();
        assert!(reason.contains(word), "{use_}: {reason}");
    }
    let text = format!("#define SET(i) parts[i] = 1\n{}", kernel("    SET(t);\n    sums[t] = @parts[t];"));
    assert!(followed(&text).unwrap_err().contains("handed on"), "{:?}", followed(&text));
    let by_reference =
        "__device__ void set(float &to) { to = 1; }\n__device__ float half_of(float x) { return x / 2; }\n";
    let text = format!("{by_reference}{}", kernel("    set(parts[t]);\n    sums[t] = @parts[t];"));
    assert!(followed(&text).unwrap_err().contains("handed on"));
    let text = format!("{by_reference}{}", kernel("    sums[0] = half_of(parts[t]);\n    sums[t] = @parts[t];"));
    assert_eq!(followed(&text).unwrap().len(), 2);
    assert!(followed(&kernel("    sums[t] = @values[t];")).unwrap_err().contains("no read of a shared array"));
}

#[test]
fn dynamic_shared_memory_is_followed_under_its_only_name() {
    let text = "__global__ void k(float *to) {\n    extern __shared__ float parts[];\n    to[threadIdx.x] = @parts[threadIdx.x];\n}\n";
    assert_eq!(followed(text).unwrap().len(), 1);
    let two = text.replace("parts[];", "parts[];\n    extern __shared__ int numbers[];\n    numbers[0] = 1;");
    assert!(followed(&two).unwrap_err().contains("not the only name"));
}

/// A finding that thread 40 of block 3 reads element 40 of 64 in line 7, which nobody has written.
fn finding(confidence: &str) -> FindingEntry {
    claim_support::entry(json!({
        "rule": "some-rule", "group": "suspicious", "severity": "warning", "confidence": confidence, "message": "",
        "path": "x.cu", "range": {"start": {"line": 7, "column": 1}, "end": {"line": 7, "column": 9}}, "function": "sum",
        "related": [], "witness": {
            "launch": {"path": "x.cu", "line": 20, "grid": [4, 1, 1], "block": [64, 1, 1], "shared_bytes": 0},
            "bindings": {}, "assumptions": [], "path": [],
            "accesses": [{"block": [3, 0, 0], "thread": [40, 0, 0], "kind": "read", "index": 40, "extent": 64, "line": 7}]
        },
        "verification": {"method": "watchpoint", "verdict": null}, "fix": null, "fingerprint": "0", "url": ""
    }))
}

/// Kind, thread, element and barrier interval. Reads are site 1, in line 7, all others site 0.
type Done = (u32, u64, u64, u32);

fn judge_with(finding: &FindingEntry, accesses: &[Done], seen: usize, grid: u64, unfollowed: Option<&str>) -> Answer {
    let mut text = format!("launch 1 {grid} 1 1 64 1 1\n");
    for (kind, thread, element, interval) in accesses {
        let site = u32::from(kind & 1 != 0 || *kind == 4);
        let address = 4 * element;
        writeln!(text, "access {site} {kind} 1 {address:x} 4 0 256 3 0 0 {thread} 0 0 {interval} 0 1 1").unwrap();
    }
    writeln!(text, "end 1 0 {seen}").unwrap();
    let log = Log::read(&text);
    assert_eq!(log.unreadable, 0, "{text}");
    let site = |id: u32, line: u32| Site {
        id,
        line,
        text: "parts[t]".to_owned(),
        access: if id == 0 { Access::Write } else { Access::Read },
        function: "sum".to_owned(),
    };
    let (sites, kernels) = ([site(0, 5), site(1, 7)], ["sum".to_owned()]);
    Question { finding, sites: &sites, kernels: &kernels, unfollowed, log: &log }.unwritten()
}

fn judge(accesses: &[Done]) -> Answer {
    judge_with(&finding("definite"), accesses, accesses.len(), 4, None)
}

const READ: Done = (1, 40, 40, 1);

fn seen(answer: &Answer) -> bool {
    matches!(answer, Answer::Unwritten(access) if access.thread == [40, 0, 0])
}

fn not_seen(answer: &Answer, words: &str) -> bool {
    matches!(answer, Answer::NotSeen(reason) if reason.contains(words))
}

#[test]
fn a_read_without_a_write_before_it_confirms() {
    assert!(seen(&judge(&[READ])));
    // Of another element, or behind the next barrier.
    assert!(seen(&judge(&[(2, 39, 39, 0), READ, (2, 40, 40, 2)])));
    // Its own write comes after it.
    assert!(seen(&judge(&[READ, (2, 40, 40, 1)])));
    // One that adds to what is there, as others do; what it reads afterwards, it has written.
    assert!(seen(&judge(&[(3, 40, 40, 1), READ])));
    assert!(seen(&judge(&[(3, 40, 40, 1), (4, 7, 40, 1)])));
    assert!(seen(&judge(&[(4, 7, 40, 1), (4, 40, 40, 1)])));
}

#[test]
fn a_write_that_may_come_before_confirms_nothing() {
    assert!(not_seen(&judge(&[(2, 3, 40, 0), READ]), "the block writes"));
    assert!(not_seen(&judge(&[(2, 40, 40, 1), READ]), "the block writes"));
    // In one barrier interval nobody knows which comes first.
    assert!(not_seen(&judge(&[READ, (2, 3, 40, 1)]), "the block writes"));
    assert!(not_seen(&judge(&[(4, 3, 40, 0), READ]), "the block writes"));
}

#[test]
fn what_is_not_whole_or_not_followed_decides_nothing() {
    let own = finding("definite");
    assert!(not_seen(&judge_with(&own, &[READ], 2, 4, None), "does not hold all"));
    assert!(not_seen(&judge_with(&own, &[READ], 1, 4, Some("memcpy_async")), "memcpy_async"));
    assert_eq!(judge(&[(2, 3, 3, 0)]), Answer::NotReached);
    // Another thread, another element.
    assert!(not_seen(&judge(&[(1, 41, 40, 1)]), "witness's thread"));
    assert!(not_seen(&judge(&[(1, 40, 41, 1)]), "witness's thread"));
    // A launch of another shape shows what rests on an assumption, and nothing of what the program's text says.
    assert!(not_seen(&judge_with(&own, &[READ], 1, 5, None), "witness's thread"));
    let likely = judge_with(&finding("likely"), &[(1, 2, 2, 1)], 1, 5, None);
    assert!(matches!(likely, Answer::Unwritten(_)), "{likely:?}");
}

#[test]
fn a_block_is_logged_as_a_whole() {
    let place = Place::new();
    let text = "#include <cuda_runtime.h>\n__global__ void sum(const float *values, float *sums) {\n    __shared__ float parts[64];\n    \
                int t = threadIdx.x;\n    if (t < 40) parts[t] = values[t];\n    __syncthreads();\n    sums[t] = parts[t] + values[t];\n}\n\
                int main() { sum<<<4, 64>>>(nullptr, nullptr); }\n";
    std::fs::write(place.path.join("x.cu"), text).unwrap();
    let program = Program::Cuda(CudaProgram {
        origin: Origin::AsWritten,
        unit: place.path.join("x.cu"),
        files: Vec::new(),
        flags: Vec::new(),
        arguments: Vec::new(),
        reproducer: None,
        project: None,
    });
    let log = "launch 1 4 1 1 64 1 1\naccess 0 2 1 9c 4 0 256 3 0 0 39 0 0 0 0 1 1\naccess 1 1 1 a0 4 0 256 3 0 0 40 0 0 1 0 1 1\nend 1 0 2";
    let nvcc = compiler(&format!("printf '%s\\n' '{log}' > $CUDALINT_WATCH_LOG; echo focus:$CUDALINT_WATCH_FOCUS"));
    let lab = place.lab(place.machine(&nvcc, ""), limits());
    let mut finding = finding("definite");
    (finding.range.start.column, finding.range.end.column) = (15, 23);
    let judgement = watchpoint::perform(&finding, &program, &lab.bench("one").unwrap());
    assert_eq!(judgement.verdict, Verdict::Confirmed, "{}", judgement.reason);
    let record = &judgement.evidence.records[0];
    assert_eq!((record.kind.as_str(), record.line, record.thread), ("uninitialized read", Some(7), Some([40, 0, 0])));
    assert!(record.text.contains("element 40 of 64"), "{}", record.text);
    let folder = "out/scenarios/one/watch";
    assert!(
        place.read(&format!("{folder}/cudalint_watch.cuh")).starts_with("#define CUDALINT_WATCH_BLOCK 3u, 0u, 0u\n")
    );
    let copy = place.read(&format!("{folder}/0_x.cu"));
    assert_eq!(copy.matches("cudalint_touch(").count(), 2, "{copy}");
    assert!(copy.contains("cudalint_touch(0, 2, parts[t], parts, sizeof(parts)) = values[t];"), "{copy}");
    assert_eq!(place.read("out/scenarios/one/watch.stdout").trim(), "focus:");
}
