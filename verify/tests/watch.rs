//! Watchpoints: a log confirms what it shows and nothing else, and the copies compile.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod claim_support;
mod lab_support;
mod watch_support;

use camino::{Utf8Path, Utf8PathBuf};
use cudalint_findings::model::{Document, FindingEntry, Verdict};
use cudalint_verify::experiment::{self, Judgement, watchpoint};
use cudalint_verify::harness;
use cudalint_verify::lab::Limits;
use cudalint_verify::machine::{Machine, Program as Tool};
use cudalint_verify::scenario::{CudaProgram, Origin, Program, ScenarioFile};
use cudalint_verify::subject::Subject;
use cudalint_verify::watch::judge::{Answer, Question};
use cudalint_verify::watch::log::Log;
use cudalint_verify::watch::order;
use lab_support::{Place, compiler, limits};
use std::fmt::Write as _;
use watch_support::watched;

const KERNEL: &str =
    "__global__ void k(int *data) {\n    int right = data[threadIdx.x + 1];\n    data[threadIdx.x] = right;\n}\n";

/// A finding at the read of [`KERNEL`], about thread 31's read and thread 32's write of element 32.
fn finding(change: impl FnOnce(&mut serde_json::Value)) -> FindingEntry {
    let mut value = serde_json::json!({
        "rule": "global-memory-race", "group": "correctness", "severity": "error", "confidence": "definite",
        "message": "", "path": "x.cu",
        "range": {"start": {"line": 2, "column": 17}, "end": {"line": 2, "column": 38}},
        "function": "k", "related": [],
        "witness": {
            "launch": {"path": "x.cu", "line": 1, "grid": [2, 1, 1], "block": [64, 1, 1], "shared_bytes": 0},
            "bindings": {},
            "accesses": [
                {"block": [0, 0, 0], "thread": [31, 0, 0], "kind": "read", "index": 32, "extent": 128, "line": 2},
                {"block": [0, 0, 0], "thread": [32, 0, 0], "kind": "write", "index": 32, "extent": 128, "line": 3}
            ],
            "assumptions": [], "path": []
        },
        "verification": {"method": "watchpoint", "verdict": null},
        "fix": null, "fingerprint": "0", "url": ""
    });
    change(&mut value);
    claim_support::entry(value)
}

/// A line of a log: an access to an element of `data`, with what a test changes.
struct Line {
    site: u32,
    kind: u32,
    element: u64,
    block: u32,
    thread: u32,
    interval: u32,
    lanes: u32,
    launch: u32,
}

fn access(site: u32, element: u64, block: u32, thread: u32) -> Line {
    Line { site, kind: site + 1, element, block, thread, interval: 0, lanes: 0, launch: 1 }
}

fn answer(finding: &FindingEntry, unfollowed: Option<&str>, lines: &[Line]) -> Answer {
    let mut text = "allocation 1000 512\nlaunch 1 2 1 1 64 1 1\n".to_owned();
    let mut launch = 1;
    for line in lines {
        if line.launch != launch {
            launch = line.launch;
            writeln!(text, "launch {launch} 2 1 1 64 1 1").unwrap();
        }
        let Line { site, kind, block, thread, interval, lanes, .. } = line;
        let address = 0x1000 + 4 * line.element;
        writeln!(
            text,
            "access {site} {kind} 0 {address:x} 4 1000 0 {block} 0 0 {thread} 0 0 {interval} {lanes} 1 {launch}"
        )
        .unwrap();
    }
    let copy = watched(KERNEL);
    let log = Log::read(&text);
    assert_eq!(log.unreadable, 0);
    Question { finding, sites: &copy.sites, kernels: &copy.kernels, unfollowed, log: &log }.race()
}

fn same(finding: &FindingEntry, lines: &[Line]) -> Answer {
    answer(finding, None, lines)
}

fn is_race(answer: &Answer) -> bool {
    matches!(answer, Answer::Race(..))
}

fn not_seen(answer: &Answer, word: &str) -> bool {
    matches!(answer, Answer::NotSeen(reason) if reason.contains(word))
}

#[test]
fn the_witnesss_own_accesses_confirm_a_race() {
    let finding = finding(|_| {});
    assert!(is_race(&same(&finding, &[access(0, 32, 0, 31), access(1, 32, 0, 32)])));
    assert!(is_race(&same(&finding, &[access(1, 32, 0, 32), access(0, 32, 0, 31)])));
}

#[test]
fn without_accesses_any_two_threads_at_the_flagged_line_confirm_a_race() {
    let finding = finding(|value| {
        value["range"] = serde_json::json!({"start": {"line": 3, "column": 5}, "end": {"line": 3, "column": 22}});
        value["witness"]["accesses"] = serde_json::json!([]);
    });
    let update = |element, block, thread| Line { kind: 3, ..access(1, element, block, thread) };
    assert!(is_race(&same(&finding, &[update(5, 0, 3), update(7, 0, 4), update(5, 1, 40)])));
    assert!(not_seen(&same(&finding, &[update(5, 0, 3), update(7, 0, 4), update(6, 1, 40)]), "no two of them race"));
    let other_line = |element, thread| Line { kind: 3, ..access(0, element, 0, thread) };
    assert!(not_seen(&same(&finding, &[other_line(5, 3), other_line(5, 40)]), "other accesses race"));
}

#[test]
fn a_barrier_between_them_is_no_race() {
    let finding = finding(|_| {});
    let behind = Line { interval: 1, ..access(1, 32, 0, 32) };
    assert!(not_seen(&same(&finding, &[access(0, 32, 0, 31), behind]), "no two of them race"));
}

#[test]
fn launches_come_one_after_the_other() {
    let finding = finding(|_| {});
    let later = Line { launch: 2, ..access(1, 32, 0, 32) };
    assert!(not_seen(&same(&finding, &[access(0, 32, 0, 31), later]), "no two of them race"));
}

#[test]
fn one_thread_alone_makes_no_race() {
    let finding = finding(|_| {});
    assert!(not_seen(&same(&finding, &[access(0, 32, 0, 31), access(1, 32, 0, 31)]), "no two of them race"));
}

#[test]
fn reads_make_no_race() {
    let finding = finding(|_| {});
    assert!(not_seen(&same(&finding, &[access(0, 32, 0, 31), access(0, 32, 0, 32)]), "no two of them race"));
}

#[test]
fn atomic_accesses_make_no_race_with_each_other_but_one_with_a_plain_read() {
    let finding = finding(|value| {
        value["witness"]["accesses"][1]["kind"] = "atomic".into();
    });
    let atomic = |site, thread| Line { kind: 4, ..access(site, 32, 0, thread) };
    assert!(not_seen(&same(&finding, &[atomic(0, 31), atomic(1, 32)]), "no two of them race"));
    assert!(is_race(&same(&finding, &[access(0, 32, 0, 31), atomic(1, 32)])));
}

#[test]
fn no_barrier_orders_blocks() {
    let finding = finding(|value| {
        value["witness"]["accesses"][1]["block"] = serde_json::json!([1, 0, 0]);
        value["witness"]["accesses"][1]["thread"] = serde_json::json!([0, 0, 0]);
    });
    let behind = Line { interval: 7, ..access(1, 32, 1, 0) };
    assert!(is_race(&same(&finding, &[access(0, 32, 0, 31), behind])));
}

#[test]
fn lanes_that_waited_for_each_other_are_in_order() {
    let finding = finding(|value| {
        value["witness"]["accesses"][1]["thread"] = serde_json::json!([30, 0, 0]);
    });
    let lane = |lanes| Line { lanes, ..access(1, 32, 0, 30) };
    assert!(is_race(&same(&finding, &[access(0, 32, 0, 31), lane(0)])));
    // One wait for all lanes stands between; or a wait for some, which may.
    assert!(not_seen(&same(&finding, &[access(0, 32, 0, 31), lane(2)]), "no two of them race"));
    let some = Line { lanes: 3, ..access(0, 32, 0, 31) };
    assert!(not_seen(&same(&finding, &[some, lane(3)]), "no two of them race"));
    // Other warps do not wait with these lanes.
    let finding = self::finding(|_| {});
    assert!(is_race(&same(&finding, &[access(0, 32, 0, 31), Line { lanes: 2, ..access(1, 32, 0, 32) }])));
}

#[test]
fn a_race_of_other_threads_is_named_and_confirms_nothing() {
    let finding = finding(|_| {});
    let answer = same(&finding, &[access(0, 41, 0, 40), access(1, 41, 0, 41), access(0, 32, 0, 31)]);
    assert!(not_seen(&answer, "other accesses race"), "{answer:?}");
}

#[test]
fn threads_count_where_the_launch_is_the_witnesss() {
    // Made-up numbers gave the witness another launch than the program's.
    let likely = finding(|value| {
        value["confidence"] = "likely".into();
        value["witness"]["launch"]["grid"] = serde_json::json!([9, 1, 1]);
    });
    assert!(is_race(&same(&likely, &[access(0, 41, 0, 40), access(1, 41, 0, 41)])));
    // What is definite says what the text says.
    let definite = finding(|value| value["witness"]["launch"]["grid"] = serde_json::json!([9, 1, 1]));
    assert!(not_seen(&same(&definite, &[access(0, 32, 0, 31), access(1, 32, 0, 32)]), "other accesses race"));
}

#[test]
fn another_element_than_the_witnesss_confirms_nothing() {
    let finding = finding(|value| {
        value["witness"]["accesses"][0]["index"] = 33.into();
        value["witness"]["accesses"][1]["index"] = 33.into();
    });
    let answer = same(&finding, &[access(0, 32, 0, 31), access(1, 32, 0, 32)]);
    assert!(not_seen(&answer, "other accesses race"), "{answer:?}");
}

#[test]
fn another_function_or_line_confirms_nothing() {
    let race = || [access(0, 32, 0, 31), access(1, 32, 0, 32)];
    let other = finding(|value| value["function"] = "other".into());
    assert_eq!(same(&other, &race()), Answer::NotReached);
    let moved = finding(|value| {
        value["range"]["start"]["line"] = 9.into();
        value["range"]["end"]["line"] = 9.into();
    });
    assert!(not_seen(&same(&moved, &race()), "other accesses race"));
    let lines = finding(|value| value["witness"]["accesses"][1]["line"] = 2.into());
    assert!(not_seen(&same(&lines, &race()), "other accesses race"));
}

#[test]
fn what_may_order_accesses_unseen_confirms_nothing() {
    let finding = finding(|_| {});
    let race = [access(0, 32, 0, 31), access(1, 32, 0, 32)];
    assert!(not_seen(&answer(&finding, Some("__threadfence"), &race), "__threadfence"));
    for (text, word) in [
        ("void f() { __threadfence_system(); }", Some("__threadfence_system")),
        ("while (atomicCAS(&lock, 0, 1) != 0);", Some("atomicCAS")),
        ("// __threadfence() would be needed\natomicAdd(p, 1); /* asm */", None),
        ("cg::this_grid().sync();", Some("this_grid")),
        ("int transmission = my_asm;", None),
    ] {
        assert_eq!(order::unfollowed(text).as_deref(), word, "{text}");
    }
}

#[test]
fn an_empty_log_says_nothing() {
    assert_eq!(same(&finding(|_| {}), &[]), Answer::NotReached);
}

#[test]
fn an_access_beyond_its_object_is_told_from_one_within() {
    let finding = finding(|value| {
        value["verification"]["method"] = "memcheck".into();
        value["witness"]["accesses"] = serde_json::json!([
            {"block": [1, 0, 0], "thread": [63, 0, 0], "kind": "read", "index": 128, "extent": 128, "line": 2}
        ]);
    });
    let copy = watched(KERNEL);
    let ask = |text: &str| {
        let log = Log::read(text);
        Question { finding: &finding, sites: &copy.sites, kernels: &copy.kernels, unfollowed: None, log: &log }.bounds()
    };
    let begun = |address: &str, thread: u32| {
        format!(
            "allocation 1000 512\nallocation 1200 512\nlaunch 1 2 1 1 64 1 1\n\
             access 0 1 0 {address} 4 1000 0 1 0 0 {thread} 0 0 0 0 1 1\n"
        )
    };
    let log = |address: &str, thread: u32| format!("{}end 1 0 1\n", begun(address, thread));
    // Past the end of its own allocation, though inside of the next one.
    assert!(matches!(ask(&log("1200", 63)), Answer::Outside(_, (0x1000, 512))));
    assert!(matches!(ask(&log("fff", 63)), Answer::Outside(..)));
    assert!(matches!(ask(&log("11fe", 63)), Answer::Outside(..)));
    assert!(matches!(ask(&log("11fc", 63)), Answer::Inside(_)));
    // A kernel that does not come to its end, or that made more accesses than are logged, may go beyond later.
    assert!(matches!(ask(&begun("11fc", 63)), Answer::NotSeen(_)));
    assert!(matches!(ask(&(begun("11fc", 63) + "end 1 0 2\n")), Answer::NotSeen(_)));
    // One more read on the line, whose object is not known, may be the flagged one.
    let other = "access 0 1 0 9000 4 9000 0 1 0 0 63 0 0 0 0 1 1\nend 1 0 2\n";
    assert!(matches!(ask(&(begun("11fc", 63) + other)), Answer::NotSeen(_)));
    // Another thread's access is not the witness's.
    assert!(matches!(ask(&log("1200", 62)), Answer::NotSeen(_)));
    // Without the allocation nothing is known.
    assert!(matches!(
        ask("launch 1 2 1 1 64 1 1\naccess 0 1 0 1200 4 1000 0 1 0 0 63 0 0 0 0 1 1\n"),
        Answer::NotSeen(_)
    ));
}

// The experiment as a whole.

fn hand_written(case: &str) -> (Utf8PathBuf, FindingEntry) {
    let folder = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/methods").join(case);
    let document: Document =
        serde_json::from_str(&std::fs::read_to_string(folder.join("findings.json")).unwrap()).unwrap();
    (folder, document.findings.into_iter().next().unwrap())
}

fn programs(folder: &Utf8Path, finding: &FindingEntry) -> Vec<Program> {
    let subject = Subject::read(folder, &finding.path, &[]).unwrap();
    harness::candidates(finding, &subject).into_iter().filter_map(Result::ok).collect()
}

#[test]
fn what_a_program_logged_is_held_against_the_finding() {
    let (folder, finding) = hand_written("watchpoint/a");
    let program = &programs(&folder, &finding)[0];
    let logged = |thread: u32, interval: u32| format!("access 0 3 0 2000 4 2000 0 0 0 0 {thread} 0 0 {interval} 0 1 1");
    let run = |lines: &[String]| {
        let place = Place::new();
        let log = format!("allocation 2000 4\nlaunch 1 4 1 1 256 1 1\n{}\nend 1 0 2", lines.join("\n"));
        let nvcc = compiler(&format!("printf '%s\\n' '{log}' > $CUDALINT_WATCH_LOG; echo $CUDALINT_WATCH_FOCUS"));
        let lab = place.lab(place.machine(&nvcc, ""), limits());
        let bench = lab.bench("one").unwrap();
        let judgement = watchpoint::perform(&finding, program, &bench);
        let focus = place.read("out/scenarios/one/watch.stdout");
        assert_eq!(focus.trim(), "0,0,0,0,0,0;0,0,0,32,0,0");
        judgement
    };
    let confirmed = run(&[logged(0, 0), logged(32, 0)]);
    assert_eq!(confirmed.verdict, Verdict::Confirmed, "{}", confirmed.reason);
    let records = &confirmed.evidence.records;
    assert_eq!(records.len(), 2);
    assert_eq!((records[0].kernel.as_deref(), records[0].line), (Some("total"), Some(8)));
    assert!(records[0].text.contains("read and write of 4 bytes at 0x2000 (element 0 of 1)"), "{}", records[0].text);
    assert_eq!(confirmed.evidence.log.as_deref(), Some("scenarios/one/watch.log"));
    assert_eq!(run(&[logged(0, 0), logged(32, 1)]).verdict, Verdict::NotObserved);
    assert_eq!(run(&[]).verdict, Verdict::Unviable);
}

/// What the whole experiment says of an access beyond its object, whose program logs one within it: under a tool that says
/// what was recorded.
fn second(method: &str, confidence: &str, recorded: &str) -> Judgement {
    let own = finding(|value| {
        value["verification"]["method"] = method.into();
        value["confidence"] = confidence.into();
        value["witness"]["accesses"] = serde_json::json!([
            {"block": [1, 0, 0], "thread": [63, 0, 0], "kind": "read", "index": 128, "extent": 128, "line": 2}
        ]);
    });
    let log = "allocation 1000 512\nlaunch 1 2 1 1 64 1 1\naccess 0 1 0 11fc 4 1000 0 1 0 0 63 0 0 0 0 1 1\nend 1 0 1";
    whole(&own, KERNEL, log, recorded)
}

/// What the whole experiment says of a finding in a program that logs this, under a tool that says what was recorded.
fn whole(own: &FindingEntry, text: &str, log: &str, recorded: &str) -> Judgement {
    let place = Place::new();
    let nvcc = compiler(&format!(
        "test -z \"$CUDALINT_WATCH_LOG\" || printf '%s\\n' '{log}' > $CUDALINT_WATCH_LOG\n\
         test -z \"$CUDALINT_PROBE_LOG\" || printf '%s\\n' '{{\"event\":\"begin\"}}' '{{\"event\":\"exit\"}}' > $CUDALINT_PROBE_LOG"
    ));
    let base = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded").join(recorded);
    // What was recorded of another program is told of this one.
    let tool = format!(
        "while [ $# -gt 0 ]; do case $1 in --save) report=$2; shift;; --log-file) text=$2; shift;; esac; shift; done\n\
         change() {{ sed 's/global_read\\.cu:[0-9]*/x.cu:2/; s/global_read\\.cu/x.cu/; s/<line>6</<line>2</; s/scale/k/g' $1; }}\n\
         change {base}.xml > $report\nchange {base}.txt > $text"
    );
    let lab = place.lab(place.machine(&nvcc, &tool), limits());
    let bench = lab.bench("one").unwrap();
    let program = Program::Cuda(CudaProgram {
        origin: Origin::AsWritten,
        unit: "x.cu".into(),
        files: vec![ScenarioFile { path: "x.cu".into(), text: text.to_owned() }],
        flags: Vec::new(),
        arguments: Vec::new(),
        reproducer: None,
        project: None,
    });
    experiment::perform(own, &program, &bench)
}

#[test]
fn bounds_are_refuted_where_two_methods_agree_alone() {
    for method in ["watchpoint", "memcheck"] {
        let agreed = second(method, "definite", "clean.memcheck");
        assert_eq!(agreed.verdict, Verdict::Refuted, "{method}: {}", agreed.reason);
        assert!(agreed.reason.contains("lies within its object; memcheck: "), "{method}: {}", agreed.reason);
    }
    // The program may not do what the finding assumes.
    let likely = second("memcheck", "likely", "clean.memcheck");
    assert_eq!(likely.verdict, Verdict::NotObserved, "{}", likely.reason);
    let disagreed = second("watchpoint", "definite", "global_read.memcheck");
    assert_eq!(disagreed.verdict, Verdict::NotObserved, "{}", disagreed.reason);
    assert!(disagreed.reason.contains("lies within its object; but memcheck says otherwise: "), "{}", disagreed.reason);
    // What memcheck itself sees needs no second.
    let seen = second("memcheck", "definite", "global_read.memcheck");
    assert_eq!(seen.verdict, Verdict::Confirmed, "{}", seen.reason);
}

/// Threads go around a loop with a barrier a different number of times.
const ROUNDS: &str = "__global__ void rounds(int *values) {\n    for (int k = 0; k < 2 + threadIdx.x % 2; ++k) {\n        \
    __syncthreads();\n    }\n    if (threadIdx.x > 9) __syncwarp();\n}\n";

fn barrier(line: u32) -> FindingEntry {
    finding(|value| {
        value["verification"]["method"] = "synccheck".into();
        value["shows"] = serde_json::json!({"kind": "barrier"});
        value["range"] = serde_json::json!({"start": {"line": line, "column": 9}, "end": {"line": line, "column": 24}});
        value["function"] = "rounds".into();
        value["witness"] = serde_json::Value::Null;
    })
}

#[test]
fn a_barrier_that_synccheck_passes_over_is_shown_by_a_count_of_arrivals() {
    let told = |thread: u32, times: u32| format!("access 0 1 0 9000 {times} 0 0 0 0 0 {thread} 0 0 0 0 1 1\n");
    let run = |own: &FindingEntry, counts: [u32; 3]| {
        let accesses: String = (0..).zip(counts).map(|(thread, times)| told(thread, times)).collect();
        whole(own, ROUNDS, &format!("launch 1 1 1 1 48 1 1\n{accesses}end 1 0 3"), "clean.synccheck")
    };
    let shown = run(&barrier(3), [2, 3, 2]);
    assert_eq!(shown.verdict, Verdict::Confirmed, "{}", shown.reason);
    assert!(shown.reason.contains("one was at the barrier 3 times, the other 2"), "{}", shown.reason);
    assert_eq!(shown.evidence.records[0].thread, Some([1, 0, 0]));
    let equal = run(&barrier(3), [2, 2, 2]);
    assert_eq!(equal.verdict, Verdict::NotObserved, "{}", equal.reason);
    assert!(equal.reason.contains("arrive at the barrier equally often"), "{}", equal.reason);
    // A warp's barrier may take some lanes.
    let of_warp = run(&barrier(5), [2, 3, 2]);
    assert_eq!(of_warp.verdict, Verdict::NotObserved, "{}", of_warp.reason);
    assert!(of_warp.reason.contains("no call of a block's barrier stands at line 5"), "{}", of_warp.reason);
}

#[test]
fn a_header_with_the_flagged_lines_is_copied_with_what_includes_it() {
    let place = Place::new();
    let write = |name: &str, text: &str| std::fs::write(place.path.join(name), text).unwrap();
    write("kernels.cuh", &KERNEL.replace("__global__", "#pragma once\n__global__").replace("#pragma once\n", ""));
    write("all.cuh", "#include \"kernels.cuh\"\n");
    write("main.cu", "#include \"all.cuh\"\nint main() { k<<<2, 64>>>(nullptr); }\n");
    let finding = finding(|value| value["path"] = "kernels.cuh".into());
    let program = CudaProgram {
        origin: Origin::AsWritten,
        unit: place.path.join("main.cu"),
        files: Vec::new(),
        flags: Vec::new(),
        arguments: Vec::new(),
        reproducer: None,
        project: None,
    };
    let lab = place.lab(place.machine(&compiler("true"), ""), limits());
    let bench = lab.bench("one").unwrap();
    let judgement = watchpoint::perform(&finding, &Program::Cuda(program), &bench);
    assert_eq!(judgement.reason, "the program launches no kernel");
    let folder = "out/scenarios/one/watch";
    let unit = place.read(&format!("{folder}/0_main.cu"));
    assert!(unit.starts_with("#include \"cudalint_watch.cuh\"\n#line 1 \""), "{unit}");
    assert!(unit.contains(&format!("#include \"{}/{folder}/1_all.cuh\"\n", place.path)), "{unit}");
    assert!(place.read(&format!("{folder}/1_all.cuh")).contains("2_kernels.cuh"));
    assert!(
        place.read(&format!("{folder}/2_kernels.cuh")).contains("cudalint_touch(0, 1, data[threadIdx.x + 1], data)")
    );
    // The user's files stay as they were.
    assert_eq!(place.read("all.cuh"), "#include \"kernels.cuh\"\n");
}

#[test]
fn a_lock_around_the_call_orders_what_a_header_does() {
    let place = Place::new();
    let write = |name: &str, text: &str| std::fs::write(place.path.join(name), text).unwrap();
    write("update.cuh", "__device__ void update(int *data) {\n    data[0] += 1;\n}\n");
    let kernel = |before: &str| {
        format!(
            "#include \"update.cuh\"\n__device__ int lock;\n__global__ void k(int *data) {{ {before}update(data); }}\n"
        )
    };
    let finding = finding(|value| {
        value["path"] = "update.cuh".into();
        value["function"] = "update".into();
        value["range"] = serde_json::json!({"start": {"line": 2, "column": 5}, "end": {"line": 2, "column": 12}});
        value["witness"]["accesses"] = serde_json::json!([]);
    });
    let line = |thread: u32| format!("access 0 3 0 1000 4 1000 0 0 0 0 {thread} 0 0 0 0 1 1");
    let log = format!("allocation 1000 512\nlaunch 1 2 1 1 64 1 1\n{}\n{}\nend 1 0 2", line(0), line(32));
    let nvcc = compiler(&format!("printf '%s\\n' '{log}' > $CUDALINT_WATCH_LOG"));
    let lab = place.lab(place.machine(&nvcc, ""), limits());
    let said = |name: &str, before: &str| {
        write("main.cu", &kernel(before));
        let program = CudaProgram {
            origin: Origin::AsWritten,
            unit: place.path.join("main.cu"),
            files: Vec::new(),
            flags: Vec::new(),
            arguments: Vec::new(),
            reproducer: None,
            project: None,
        };
        let judgement = watchpoint::perform(&finding, &Program::Cuda(program), &lab.bench(name).unwrap());
        (judgement.verdict, judgement.reason)
    };
    assert_eq!(said("bare", "").0, Verdict::Confirmed);
    let (verdict, reason) = said("locked", "while (atomicCAS(&lock, 0, 1)); ");
    assert_eq!(verdict, Verdict::NotObserved);
    assert!(reason.contains("`atomicCAS` may order the accesses"), "{reason}");
}

/// A compiler of this machine, if there is one.
fn nvcc() -> Option<Tool> {
    let path = std::env::var("PATH").ok()?;
    let found = std::env::split_paths(&path).map(|folder| folder.join("nvcc")).find(|file| file.is_file())?;
    Some(Tool { path: Utf8PathBuf::from_path_buf(found).ok()?, version: "any".to_owned() })
}

#[test]
fn copies_compile() {
    let Some(nvcc) = nvcc() else { return };
    let place = Place::new();
    let machine = Machine { nvcc: Some(nvcc), ..Machine::default() };
    let lab = place.lab(machine, Limits::default());
    for case in ["racecheck/a", "racecheck/b", "watchpoint/a", "watchpoint/b", "watchpoint/wrong"] {
        let (folder, finding) = hand_written(case);
        let program = &programs(&folder, &finding)[0];
        let bench = lab.bench(&case.replace('/', "-")).unwrap();
        let judgement = watchpoint::perform(&finding, program, &bench);
        // It was built; there is nothing to run it on.
        assert_eq!((judgement.verdict, judgement.reason.as_str()), (Verdict::Unsupported, "there is no GPU"), "{case}");
    }
}
