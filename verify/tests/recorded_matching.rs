//! Recorded reports against findings: what shows a finding matches it, and what only looks like it does not.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod recorded_support;

use cudalint_findings::Shows;
use cudalint_findings::model::FindingEntry;
use cudalint_verify::matching::{Fit, Target, evidence, fit, whole_records};
use cudalint_verify::tools::sanitizer::SanitizerReport;
use recorded_support::claim_support::{self, bad_address, failed_call, kernel, refused_launch};
use recorded_support::{accesses, finding, joined, launch, text};
use serde_json::json;

/// The fits of all records.
fn fits(finding: &FindingEntry, report: &SanitizerReport) -> Vec<Fit> {
    report.records.iter().map(|record| fit(&Target::new(finding), record)).collect()
}

fn matches(finding: &FindingEntry, name: &str) -> bool {
    fits(finding, &joined(name)).iter().any(Fit::matches)
}

/// Why the first record does not match.
fn difference(finding: &FindingEntry, name: &str) -> String {
    let fits = fits(finding, &joined(name));
    assert!(!fits.iter().any(Fit::matches), "{name}: {fits:?}");
    fits[0].reason().to_owned()
}

/// An overrun read at line 6 by thread 232 of block 3.
fn overrun(path: &str, more: &serde_json::Value) -> FindingEntry {
    let mut all = json!({"function": "scale", "witness": accesses(&[("read", 6, 1000, 1000, 3, 232)])});
    for (name, set) in more.as_object().unwrap() {
        all[name] = set.clone();
    }
    finding("memcheck", path, 6, all)
}

#[test]
fn a_record_that_is_still_being_written_does_not_count() {
    let text = text("global_read.memcheck");
    let until = |words: &str| whole_records(text.split(words).next().unwrap()).records.len();
    assert_eq!([until("by thread (232"), until("by thread (233"), until("by thread (234")], [0, 1, 2]);
}

#[test]
fn an_overrun_is_shown_by_its_own_thread_and_by_another() {
    let own = overrun("src/global_read.cu", &json!({}));
    // The recorded path is another machine's, and has no `src`.
    assert!(!matches(&own, "global_read.memcheck"));
    let own = overrun("global_read.cu", &json!({}));
    let all = fits(&own, &joined("global_read.memcheck"));
    assert!(matches!(&all[0], Fit::Matches { same_thread: true, .. }), "{:?}", all[0]);
    assert!(all[0].reason().contains("by the witness's thread (232,0,0) of block (3,0,0)"), "{}", all[0].reason());
    assert!(matches!(&all[1], Fit::Matches { same_thread: false, .. }));
    assert!(all[1].reason().contains("rather than the witness's"));
    let record = evidence(&Target::new(&own), &joined("global_read.memcheck").records[0]);
    assert_eq!((record.path.as_deref(), record.line), (Some("global_read.cu"), Some(6)));
    assert_eq!(record.kind, "Invalid __global__ read of size 4 bytes");
}

#[test]
fn another_line_kernel_kind_or_file_is_not_this_finding() {
    let name = "global_read.memcheck";
    let other_line = finding(
        "memcheck",
        "global_read.cu",
        5,
        json!({"function": "scale", "witness": accesses(&[("read", 5, 1000, 1000, 3, 232)])}),
    );
    assert!(difference(&other_line, name).ends_with("at /project/global_read.cu:6, which happened at another place"));
    let other_kernel = overrun("global_read.cu", &json!({"function": "unscale"}));
    assert!(difference(&other_kernel, name).ends_with("which is not in `unscale`"));
    let other_kind = overrun("global_read.cu", &json!({"witness": accesses(&[("write", 6, 1000, 1000, 3, 232)])}));
    assert!(difference(&other_kind, name).ends_with("which is no write as the finding's"));
    let other_file = overrun("local_read.cu", &json!({}));
    assert!(difference(&other_file, name).ends_with("which happened at another place"));
    let within = overrun("global_read.cu", &json!({"fault": "misaligned"}));
    assert!(difference(&within, name).contains("not misaligned"));
    let shared = overrun("global_read.cu", &json!({"space": "shared"}));
    assert!(difference(&shared, name).contains("is not in shared memory"));
    for method in ["racecheck", "initcheck", "synccheck", "leakcheck", "api-error", "exception", "watchpoint"] {
        let other_method = FindingEntry {
            verification: finding(method, "x", 1, json!({})).verification,
            ..overrun("global_read.cu", &json!({}))
        };
        assert!(!matches(&other_method, name), "{method}");
    }
}

#[test]
fn misaligned_accesses_are_not_overruns() {
    let witness = |index| accesses(&[("read", 4, index, 256, 0, 1)]);
    let own = |fault: &str, index| {
        let more = json!({"function": "vectors", "fault": fault, "witness": witness(index)});
        finding("memcheck", "misaligned.cu", 4, more)
    };
    assert!(matches(&own("misaligned", 1), "misaligned.memcheck"));
    assert!(difference(&own("out-of-bounds", 256), "misaligned.memcheck").contains("misaligned, not out of bounds"));
}

#[test]
fn an_access_in_a_device_function_shows_there_and_names_the_kernel() {
    let own = finding(
        "memcheck",
        "inlined.cuh",
        3,
        json!({"function": "take", "witness": accesses(&[("read", 3, 100, 32, 0, 0)])}),
    );
    assert!(matches(&own, "inlined.memcheck-kernel"));
    let in_kernel = finding(
        "memcheck",
        "inlined.cu",
        6,
        json!({"function": "through_inline", "witness": accesses(&[("read", 6, 100, 32, 0, 0)])}),
    );
    assert!(matches(&in_kernel, "inlined.memcheck-kernel"));
    let other = FindingEntry { function: Some("through_call".to_owned()), ..in_kernel };
    assert!(!matches(&other, "inlined.memcheck-kernel"));
    let atomic = finding(
        "memcheck",
        "global_atomic.cu",
        5,
        json!({"function": "count", "witness": accesses(&[("atomic", 5, 100, 100, 0, 100)])}),
    );
    assert!(matches(&atomic, "global_atomic.memcheck"));
}

#[test]
fn a_finding_at_a_launch_has_its_access_in_the_kernel() {
    // The access stands in the kernel, the finding at the launch in `main`.
    let mut witness = accesses(&[("read", 6, 1000, 1000, 3, 232)]);
    witness["launch"] = launch("global_read.cu", 14)["launch"].clone();
    let at_launch = finding("memcheck", "global_read.cu", 14, json!({"function": "main", "witness": witness}));
    assert!(matches(&at_launch, "global_read.memcheck"));
}

#[test]
fn missing_dynamic_shared_memory_is_shown_at_the_launch() {
    let own = |line| {
        finding(
            "memcheck",
            "dynamic_shared.cu",
            line,
            json!({
                "function": "main", "witness": launch("dynamic_shared.cu", line),
                "space": "shared",
            }),
        )
    };
    assert!(matches(&own(12), "dynamic_shared.memcheck"));
    assert!(difference(&own(11), "dynamic_shared.memcheck").ends_with("which happened at another place"));
    // An overrun of global memory in the launched kernel is something else.
    let global = FindingEntry { path: "global_write.cu".to_owned(), ..own(10) };
    let global = FindingEntry { witness: serde_json::from_value(launch("global_write.cu", 10)).unwrap(), ..global };
    assert!(difference(&global, "global_write.memcheck").contains("is not in shared memory"));
}

#[test]
fn a_bad_pointer_is_far_from_all_memory() {
    let own =
        |path: &str, line| finding("memcheck", path, line, json!({"shows": bad_address(kernel()), "kernel": "fill"}));
    assert!(matches(&own("wild_pointer.cu", 6), "wild_pointer.memcheck"));
    assert!(matches(&own("host_pointer.cu", 9), "host_pointer.memcheck"));
    assert!(!matches(&own("wild_pointer.cu", 7), "wild_pointer.memcheck"));
    // An overrun by a few bytes in the launched kernel is no bad pointer.
    assert!(difference(&own("global_read.cu", 14), "global_read.memcheck").contains("lies beside an allocation"));
}

#[test]
fn a_kernel_given_what_it_cannot_use_is_shown_in_its_body() {
    let head = |function: &str, kernel: &str| {
        let shows = bad_address(claim_support::kernel());
        finding("memcheck", "host_pointer.cu", 4, json!({"function": function, "kernel": kernel, "shows": shows}))
    };
    assert!(matches(&head("fill", "fill"), "host_pointer.memcheck"));
    assert!(!matches(&head("fill", "drain"), "host_pointer.memcheck"));
    assert!(!matches(&head("drain", "drain"), "host_pointer.memcheck"));
}

#[test]
fn a_failing_call_is_this_one_and_no_other() {
    let own =
        |line, function: &str| finding("api-error", "api_errors.cu", line, json!({"shows": failed_call(function)}));
    let copy = "cudaMemcpy";
    let shown: Vec<bool> = fits(&own(16, copy), &joined("api_errors.memcheck")).iter().map(Fit::matches).collect();
    assert_eq!(shown.iter().filter(|shown| **shown).count(), 1);
    assert!(shown[0]);
    // The same call one line further fails too, and is another.
    assert!(!fits(&own(17, copy), &joined("api_errors.memcheck"))[0].matches());
    assert!(!matches(&own(21, copy), "api_errors.memcheck"), "a memset is no copy");
    assert!(!matches(&own(23, "cudaMalloc"), "api_errors.memcheck"), "no memory left is the machine's");
    let big = |line| finding("api-error", "api_errors.cu", line, json!({"shows": refused_launch("threads")}));
    assert!(matches(&big(24), "api_errors.memcheck"));
    assert!(!matches(&big(4), "api_errors.memcheck"), "the kernel's own line is not the launch's");
    assert!(!matches(&big(29), "api_errors.memcheck"), "a free is no launch");
    assert!(!matches(&own(16, copy), "api_errors.memcheck-nodebug"), "no line, no match");
    // What a call hands on from a kernel that failed is not its own failure.
    let free = finding("api-error", "global_read.cu", 16, json!({"shows": failed_call("cudaFree")}));
    let words = fits(&free, &joined("global_read.memcheck")).last().unwrap().reason().to_owned();
    assert!(words.contains("hands on from an earlier fault"), "{words}");
}

#[test]
fn a_call_within_a_longer_statement_is_found_at_its_first_line() {
    let own = finding("api-error", "macro.cu", 19, json!({"shows": failed_call("cudaMemset")}));
    let record = &joined("macro.memcheck").records[0];
    assert!(!fit(&Target::new(&own), record).matches());
    assert!(fit(&Target::new(&own).in_statement((17, 20)), record).matches());
}

#[test]
fn fences_of_documents_match_by_their_own_lines() {
    let guide = "docs/a & b <notes>/guide.md";
    let copy = finding("api-error", guide, 214, json!({"shows": failed_call("cudaMemset")}));
    assert!(matches(&copy, "renamed_lines.memcheck-kernel"));
    let access = finding(
        "memcheck",
        "a & b <notes>/guide.md",
        113,
        json!({"function": "fenced", "witness": accesses(&[("write", 113, 100, 32, 0, 0)])}),
    );
    assert!(matches(&access, "renamed_lines.memcheck-kernel"));
}

#[test]
fn a_race_needs_both_accesses() {
    let own = |sides: &[(&str, u32, i64, i64, u64, u64)]| {
        finding("racecheck", "race_shared.cu", 10, json!({"function": "reduce", "witness": accesses(sides)}))
    };
    let write_read = own(&[("write", 9, 1, 256, 0, 1), ("read", 10, 1, 256, 0, 0)]);
    assert!(matches(&write_read, "race_shared.racecheck"));
    assert!(matches(&write_read, "race_shared.racecheck-all"));
    let turned = own(&[("read", 10, 1, 256, 0, 0), ("write", 9, 1, 256, 0, 1)]);
    assert!(matches(&turned, "race_shared.racecheck"));
    let both_writes = own(&[("write", 9, 1, 256, 0, 1), ("write", 10, 1, 256, 0, 0)]);
    assert!(difference(&both_writes, "race_shared.racecheck").contains("between other accesses"));
    let other_line = own(&[("write", 9, 1, 256, 0, 1), ("read", 12, 1, 256, 0, 0)]);
    assert!(!matches(&other_line, "race_shared.racecheck"));
    let other_kernel = FindingEntry { function: Some("produce".to_owned()), ..write_read };
    assert!(!matches(&other_kernel, "race_shared.racecheck"));
    // What is called and not inlined is named instead of the kernel.
    let mut called = other_kernel;
    if let Shows::Race { accesses, .. } = &mut called.claim.shows {
        for access in accesses {
            access.function = Some("reduce".to_owned());
        }
    }
    assert!(matches(&called, "race_shared.racecheck"));
    let copied = |line| {
        let sides = [("write", 9, 0, 256, 0, 0), ("read", line, 0, 256, 0, 255)];
        finding("racecheck", "race_async_copy.cu", line, json!({"function": "reverse", "witness": accesses(&sides)}))
    };
    // The tool names the line of the library that copies.
    assert!(matches(&copied(11), "race_async_copy.racecheck"));
    assert!(!matches(&copied(10), "race_async_copy.racecheck"));
    // A header of the program itself is no library: the finding says where it means.
    let report = text("race_async_copy.racecheck");
    let library = report.lines().find_map(|line| Some(&line[line.find("/usr/")?..line.rfind('/')?])).unwrap();
    let own_header = SanitizerReport::read(None, &report.replace(library, "/project/include"));
    assert!(!fits(&copied(11), &own_header).iter().any(Fit::matches));
    assert!(fits(&copied(11), &SanitizerReport::read(None, &report)).iter().any(Fit::matches));
    let alone = finding("racecheck", "race_write_write.cu", 5, json!({"function": "last_wins"}));
    assert!(matches(&alone, "race_write_write.racecheck"));
    let beside = finding("racecheck", "race_write_write.cu", 7, json!({"function": "last_wins"}));
    assert!(!matches(&beside, "race_write_write.racecheck"));
}

#[test]
fn uninitialized_memory_by_kernel_and_by_copy() {
    let read = |line| {
        let witness = accesses(&[("read", line, 512, 1024, 2, 0)]);
        finding("initcheck", "uninitialized_read.cu", line, json!({"function": "add", "witness": witness}))
    };
    assert!(matches(&read(5), "uninitialized_read.initcheck"));
    assert!(!matches(&read(4), "uninitialized_read.initcheck"));
    let copy = |line| finding("initcheck", "uninitialized_copy.cu", line, json!({"function": "main"}));
    assert!(matches(&copy(9), "uninitialized_copy.initcheck"));
    assert!(!matches(&copy(10), "uninitialized_copy.initcheck"));
}

#[test]
fn barriers_and_leaks_by_line() {
    let barrier = |line, function: &str| finding("synccheck", "barrier_warp.cu", line, json!({"function": function}));
    assert!(matches(&barrier(8, "half"), "barrier_warp.synccheck"));
    assert!(!matches(&barrier(9, "half"), "barrier_warp.synccheck"));
    assert!(!matches(&barrier(8, "whole"), "barrier_warp.synccheck"));
    // The tool reports the barrier at which the others wait, when the finding names that one too.
    let place = json!({"start": {"line": 10, "column": 9}, "end": {"line": 10, "column": 24}});
    let related = json!([{"path": "barrier_block.cu", "range": place, "message": "the others wait here"}]);
    let block = finding("synccheck", "barrier_block.cu", 8, json!({"function": "some_warps", "related": related}));
    assert!(matches(&block, "barrier_block.synccheck"));
    let alone = finding("synccheck", "barrier_block.cu", 8, json!({"function": "some_warps"}));
    assert!(!matches(&alone, "barrier_block.synccheck"));
    let leak = |line| finding("leakcheck", "leak.cu", line, json!({"function": "make"}));
    assert!(matches(&leak(5), "leak.leakcheck"));
    assert!(!matches(&leak(9), "leak.leakcheck"));
}

#[test]
fn numba_matches_by_kernel_kind_and_thread_where_no_line_is_told() {
    let own = |function: &str, kind, thread| {
        let witness = accesses(&[(kind, 9, 1000, 1000, 3, thread)]);
        finding("memcheck", "numba_bounds.py", 9, json!({"function": function, "witness": witness}))
    };
    let all = fits(&own("scale", "read", 232), &joined("numba_bounds.memcheck"));
    assert!(all[0].matches() && all[0].reason().contains("names no line of the script"), "{}", all[0].reason());
    assert!(!matches(&own("scale", "write", 232), "numba_bounds.memcheck"));
    assert!(!matches(&own("other", "read", 232), "numba_bounds.memcheck"));
    assert!(!matches(&own("scale", "read", 7), "numba_bounds.memcheck"));
    // A method, and a function within another one.
    assert!(matches(&own("Solver.scale", "read", 232), "numba_bounds.memcheck"));
    assert!(!matches(&own("scale.inner", "read", 232), "numba_bounds.memcheck"));
    // Where lines are told, they count.
    let lines = |line| {
        let witness = accesses(&[("write", line, 32, 32, 0, 32)]);
        finding("memcheck", "numba_names.py", line, json!({"function": "with_lines", "witness": witness}))
    };
    assert!(matches(&lines(29), "numba_names.memcheck-kernel"));
    assert!(!matches(&lines(28), "numba_names.memcheck-kernel"));
    let race = finding(
        "racecheck",
        "numba_race.py",
        14,
        json!({"function": "reduce", "witness": accesses(&[("write", 14, 1, 256, 0, 1), ("read", 14, 1, 256, 0, 0)])}),
    );
    assert!(matches(&race, "numba_race.racecheck"));
    let failing = |line| finding("api-error", "numba_launch.py", line, json!({"shows": refused_launch("threads")}));
    assert!(matches(&failing(12), "numba_launch.memcheck"));
    assert!(!matches(&failing(11), "numba_launch.memcheck"));
}

#[test]
fn kernels_in_strings_match_by_the_lines_of_the_python_file() {
    // What the tool says of a kernel that NVRTC compiled with the directives of the driver: its own name, the file's line.
    let said = |recorded: &str, from: &str, to: &str| SanitizerReport::read(None, &text(recorded).replace(from, to));
    let report = said("race_shared.racecheck", "race_shared.cu", "reduce.py");
    let race = |path: &str, one: u32, other: u32| {
        let witness = accesses(&[("write", one, 1, 256, 0, 1), ("read", other, 1, 256, 0, 0)]);
        finding("racecheck", path, other, json!({"function": "reduce", "witness": witness}))
    };
    let shows = |finding: &FindingEntry| fits(finding, &report).iter().any(Fit::matches);
    assert!(shows(&race("reduce.py", 9, 10)));
    // Lines are told, so that kernel and kinds alone do not do.
    assert!(!shows(&race("reduce.py", 9, 11)));
    assert!(!shows(&race("other.py", 9, 10)));
    let overrun = said("global_read.memcheck", "global_read.cu", "scale.py");
    let line = overrun.records[0].device[0].line.unwrap();
    let kernel = overrun.records[0].kernel.as_ref().unwrap().base.clone();
    let at = |line| finding("memcheck", "scale.py", line, json!({"function": kernel}));
    assert!(fits(&at(line), &overrun).iter().any(Fit::matches));
    assert!(!fits(&at(line + 1), &overrun).iter().any(Fit::matches));
}

#[test]
fn a_script_that_stands_for_a_document_has_its_lines() {
    let mut report = joined("numba_launch.memcheck");
    report.rename("/project/numba_launch.py", "docs/guide.md");
    let own = finding("api-error", "docs/guide.md", 12, json!({"shows": refused_launch("threads")}));
    assert!(fits(&own, &report)[0].matches());
}

#[test]
fn watched_scripts_match_by_their_own_lines() {
    let own = |method: &str, file: &str, line: u32, function: &str, kind: &str, at: u64| {
        let witness = accesses(&[(kind, line, 0, 0, at / 256, at % 256)]);
        finding(method, file, line, json!({"function": function, "witness": witness}))
    };
    let told = [
        ("raw_bounds-watched", "memcheck", "raw_bounds.py", 7, "fill", "write", 1000),
        ("raw_race-watched", "racecheck", "raw_race.py", 9, "turn", "read", 0),
        ("raw_barrier-watched", "synccheck", "raw_barrier.py", 7, "half_of", "read", 0),
        ("jit_race-watched", "racecheck", "jit_race.py", 11, "turn", "read", 0),
        ("numba_bounds-watched", "memcheck", "numba_bounds.py", 9, "scale", "read", 1000),
        ("numba_uninitialized-watched", "initcheck", "numba_uninitialized.py", 10, "add", "read", 0),
    ];
    for (report, method, file, line, function, kind, at) in told {
        let name = format!("{report}.{method}");
        assert!(matches(&own(method, file, line, function, kind, at), &name), "{name}");
        assert!(!matches(&own(method, file, line + 3, function, kind, at), &name), "{name}, another line");
        assert!(!matches(&own(method, file, line, "other", kind, at), &name), "{name}, another kernel");
    }
    // The launch is a line of the script, not of the C++ that CuPy is made of.
    let launched = joined("raw_bounds-watched.memcheck");
    let sites: Vec<Option<u32>> = launched.records[0].call_sites().iter().map(|site| site.line).collect();
    assert_eq!(sites, [Some(12)]);
}
