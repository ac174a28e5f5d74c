//! Reports that compute-sanitizer really wrote are read: each kind of record, from the XML, from the text, and from both.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod recorded_support;

use cudalint_verify::tools::sanitizer::{Access, Category, Fault, Notice, Record, SanitizerReport, Side, Space};
use recorded_support::{joined, of_text, of_xml, text, xml};

/// File and line of a record, without the folder.
fn place(record: &Record) -> String {
    let place = record.place().unwrap();
    let file = place.file.as_deref().unwrap_or("-");
    format!("{}:{}", file.trim_start_matches("/project/"), place.line.unwrap_or(0))
}

fn kernel(record: &Record) -> &str {
    record.kernel.as_ref().map_or("-", |kernel| kernel.base.as_str())
}

/// The lines of the record's call, without the folder.
fn calls(record: &Record) -> Vec<String> {
    record
        .call_sites()
        .iter()
        .map(|frame| {
            format!("{}:{}", frame.file.as_deref().unwrap().trim_start_matches("/project/"), frame.line.unwrap())
        })
        .collect()
}

#[test]
fn an_invalid_read_has_all_its_parts() {
    let report = joined("global_read.memcheck");
    assert!(report.complete && report.problems.is_empty() && report.notices.is_empty());
    let record = &report.records[0];
    assert_eq!(
        record.category,
        Category::InvalidAccess { space: Space::Global, access: Access::Read, bytes: 4, fault: Fault::OutOfBounds }
    );
    assert_eq!(record.kernel.as_ref().unwrap().full, "scale(const float *, float *)");
    assert_eq!((kernel(record), place(record).as_str()), ("scale", "global_read.cu:6"));
    assert_eq!((record.thread, record.block), (Some([232, 0, 0]), Some([3, 0, 0])));
    let nearest = record.nearest.unwrap();
    assert_eq!((nearest.bytes, nearest.side, nearest.distance), (4000, Side::After, 1));
    assert_eq!(record.address, Some(nearest.base + 4000));
    // The launch, not the stub of the kernel that the compiler makes.
    assert_eq!(calls(record), ["global_read.cu:14"]);
    assert_eq!(record.moment.as_deref(), Some("kernel launch time"));
    assert!(record.words().starts_with("Invalid __global__ read of size 4 bytes; Access to 0x"));
}

#[test]
fn every_kind_of_access_is_told_apart() {
    let kinds = |name: &str| match joined(name).records[0].category {
        Category::InvalidAccess { space, access, bytes, fault } => (space, access, bytes, fault),
        ref other => panic!("{name}: {other:?}"),
    };
    let bounds = Fault::OutOfBounds;
    assert_eq!(kinds("global_write.memcheck"), (Space::Global, Access::Write, 8, bounds));
    assert_eq!(kinds("global_atomic.memcheck"), (Space::Global, Access::Atomic, 4, bounds));
    assert_eq!(kinds("shared_write.memcheck"), (Space::Shared, Access::Write, 4, bounds));
    assert_eq!(kinds("shared_read.memcheck"), (Space::Shared, Access::Read, 4, bounds));
    assert_eq!(kinds("shared_atomic.memcheck"), (Space::Shared, Access::Atomic, 4, bounds));
    assert_eq!(kinds("local_write.memcheck"), (Space::Local, Access::Write, 4, bounds));
    assert_eq!(kinds("misaligned.memcheck"), (Space::Global, Access::Read, 16, Fault::Misaligned));
    assert_eq!(kinds("use_after_free_async.memcheck-stream"), (Space::Global, Access::Write, 4, Fault::Lifetime));
    assert_eq!(kinds("numba_shared.memcheck"), (Space::Shared, Access::Write, 4, bounds));
}

#[test]
fn an_atomic_stands_where_the_user_calls_it() {
    let record = &joined("global_atomic.memcheck").records[0];
    assert_eq!((kernel(record), place(record).as_str()), ("count", "global_atomic.cu:5"));
    let record = &joined("barrier_mask.synccheck").records[0];
    assert_eq!(record.category, Category::Barrier { problem: "Invalid arguments".to_owned() });
    assert_eq!((kernel(record), place(record).as_str()), ("masked", "barrier_mask.cu:6"));
}

#[test]
fn addresses_far_from_all_memory_are_known_as_such() {
    for name in ["wild_pointer.memcheck", "host_pointer.memcheck"] {
        let nearest = joined(name).records[0].nearest.unwrap();
        assert_eq!(nearest.side, Side::Before, "{name}");
        assert!(nearest.distance > 1 << 40, "{name}: {}", nearest.distance);
    }
}

#[test]
fn kernels_have_their_own_names_alone() {
    let report = joined("names.memcheck-kernel");
    let mut seen: Vec<(String, String)> = Vec::new();
    for record in &report.records {
        let entry = (kernel(record).to_owned(), place(record));
        if !seen.contains(&entry) {
            seen.push(entry);
        }
    }
    let expected = [
        ("blur", "names.cu:16"),
        ("hidden", "names.cu:21"),
        ("apply", "names.cu:54"),
        ("compare", "names.cu:8"),
        ("many", "names.cu:36"),
        ("overloaded", "names.cu:43"),
        ("overloaded", "names.cu:44"),
        ("plain", "names.cu:45"),
    ];
    assert_eq!(seen, expected.map(|(kernel, place)| (kernel.to_owned(), place.to_owned())));
    let full = &report.records[0].kernel.as_ref().unwrap().full;
    let parameters = "(geometry::Plane<T1, T2, (bool)0>, geometry::Size, const T1 *)";
    assert_eq!(*full, format!("void geometry::v2::blur<float, (int)16>{parameters}"));
    let launches: Vec<String> = report.records.iter().flat_map(calls).collect();
    for line in [24, 52, 54, 55, 56, 57, 58, 59] {
        assert!(launches.contains(&format!("names.cu:{line}")), "line {line}");
    }
}

#[test]
fn mangled_names_are_read_too() {
    let record = &of_text("names.memcheck-no-demangle").records[0];
    assert!(record.kernel.as_ref().unwrap().full.starts_with("_ZN8geometry"));
    assert_eq!(kernel(record), "blur");
}

#[test]
fn kernels_of_ufuncs_are_named_by_their_functions() {
    for (full, name) in [
        ("__main__::__vectorized_half[abi:v2][abi:cw51cXTL](Array<float, (int)1, A, mutable, aligned>)", "half"),
        ("_ZN8__main__14__vectorized_fB2v2B10cw51cXTLSUE5ArrayIfLi1E1A7mutable7alignedE", "f"),
        ("_ZN8__main__10__gufunc_gB2v5B10cw51cXTLSUE5ArrayIfLi2E1A7mutable7alignedE", "g"),
        ("__gufunc_", "__gufunc_"),
    ] {
        assert_eq!(cudalint_verify::tools::sanitizer::base_name(full), name);
    }
}

#[test]
fn inlined_and_called_functions_keep_their_kernel() {
    let report = joined("inlined.memcheck-kernel");
    let seen: Vec<(&str, Vec<String>)> = report
        .records
        .iter()
        .map(|record| (kernel(record), record.device.iter().map(ToString::to_string).collect()))
        .collect();
    let frames = |kernel: &str| {
        let (_, frames) = seen.iter().find(|(name, _)| *name == kernel).unwrap();
        frames.iter().map(|frame| frame.trim_start_matches("/project/").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(frames("through_inline"), ["inlined.cuh:3", "inlined.cu:6"]);
    assert_eq!(frames("through_call"), ["inlined.cuh:6", "inlined.cu:9"]);
    // Of functions inlined into each other the tool names the innermost and the kernel.
    assert_eq!(frames("through_two"), ["inlined.cuh:9", "inlined.cu:12"]);
    assert_eq!(kernel(&joined("separate.memcheck").records[0]), "fill");
}

#[test]
fn numba_kernels_are_python_functions_with_the_lines_of_their_launches() {
    let report = joined("numba_names.memcheck-kernel");
    let mut seen: Vec<(String, Vec<String>)> = Vec::new();
    for record in &report.records {
        let entry = (kernel(record).to_owned(), calls(record));
        if !seen.contains(&entry) {
            seen.push(entry);
        }
    }
    let expected = [("fill", 40), ("fill", 41), ("inner", 42), ("with_lines", 43), ("signed", 44)];
    let expected = expected.map(|(kernel, line)| (kernel.to_owned(), vec![format!("numba_names.py:{line}")]));
    assert_eq!(seen, expected);
    // Compiled with line numbers, a kernel has the script's.
    let with_lines = report.records.iter().find(|record| kernel(record) == "with_lines").unwrap();
    assert_eq!(place(with_lines), "numba_names.py:29");
}

#[test]
fn failing_calls_have_function_status_and_line() {
    let report = joined("api_errors.memcheck");
    let seen: Vec<(String, i64, String)> = report
        .records
        .iter()
        .map(|record| match &record.category {
            Category::ApiError { function, code, .. } => (function.clone(), code.unwrap(), calls(record).join(" ")),
            other => panic!("{other:?}"),
        })
        .collect();
    let expected = [
        ("cudaMemcpy", 1, 16),
        ("cudaMemcpy", 1, 17),
        ("cudaMemcpy", 1, 18),
        ("cudaMemcpyAsync", 1, 19),
        ("cudaMemcpy2D", 12, 20),
        ("cudaMemset", 1, 21),
        ("cudaMemcpyToSymbol", 1, 22),
        ("cudaMalloc", 2, 7),
        ("cudaLaunchKernel", 1, 24),
        ("cudaLaunchKernel", 1, 25),
        ("cudaLaunchKernel", 1, 26),
        ("cudaLaunchKernel", 1, 27),
        ("cudaFree", 1, 29),
        ("cudaFree", 1, 30),
        ("cudaSetDevice", 101, 31),
    ];
    let expected = expected.map(|(name, code, line)| (name.to_owned(), code, format!("api_errors.cu:{line}")));
    assert_eq!(seen, expected);
    assert!(matches!(report.notices.as_slice(), [Notice::ProcessEnded(_), Notice::ReturnedError]));
    // Without debug information of the host there is no line, and none is made up.
    assert!(joined("api_errors.memcheck-nodebug").records.iter().all(|record| record.call_sites().is_empty()));
}

#[test]
fn a_failing_launch_stands_where_it_is_written() {
    let lines = |report: &SanitizerReport| report.records.iter().map(calls).collect::<Vec<_>>();
    let expected = [vec!["api_launch.cu:6"], vec!["api_launch.cu:14"], vec!["api_launch.cu:15"]];
    assert_eq!(lines(&joined("api_launch.memcheck")), expected);
    // The text leaves out the frames that tell the kernel's stub from the caller: both are named.
    assert_eq!(calls(&of_text("api_launch.memcheck").records[0]), ["api_launch.cu:4", "api_launch.cu:6"]);
    assert_eq!(calls(&joined("macro.memcheck").records[0]), ["macro.cu:17"]);
    assert_eq!(calls(&joined("numba_launch.memcheck").records[0]), ["numba_launch.py:12"]);
}

#[test]
fn lines_and_files_are_those_that_a_harness_gives() {
    let report = joined("renamed_lines.memcheck-kernel");
    let guide = "/docs/a & b <notes>/guide.md";
    let seen: Vec<(String, String)> = report.records.iter().map(|r| (place(r), calls(r).join(" "))).collect();
    assert!(seen.contains(&(format!("{guide}:113"), format!("{guide}:213"))), "{seen:?}");
    assert!(seen.contains(&("src/relative.cu:41".to_owned(), format!("{guide}:215"))), "{seen:?}");
    assert!(seen.contains(&(format!("{guide}:214"), format!("{guide}:214"))), "{seen:?}");
}

#[test]
fn races_name_both_sides() {
    let report = joined("race_shared.racecheck");
    let sides: Vec<Vec<(Access, u32, u64)>> = report
        .records
        .iter()
        .map(|record| match &record.category {
            Category::Race { accesses } => {
                accesses.iter().map(|(side, count)| (side.access, side.frame.line.unwrap(), *count)).collect()
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(sides[0][..2], [(Access::Write, 6, 0), (Access::Read, 10, 512)]);
    assert_eq!(sides[1][..2], [(Access::Write, 9, 0), (Access::Read, 10, 256)]);
    assert_eq!(sides[2], [(Access::Read, 10, 0), (Access::Write, 9, 4)]);
    assert_eq!(report.records.iter().map(|record| record.warning).collect::<Vec<_>>(), [false, false, true]);
    assert!(report.records.iter().all(|record| kernel(record) == "reduce"));
}

#[test]
fn single_hazards_name_their_threads() {
    for report in [joined("race_shared.racecheck-all"), of_text("race_shared.racecheck-all")] {
        let Category::Race { accesses } = &report.records[0].category else { panic!("no race") };
        let sides: Vec<_> =
            accesses.iter().map(|(side, _)| (side.access, side.frame.line.unwrap(), side.thread.unwrap())).collect();
        assert_eq!(sides, [(Access::Write, 6, [192, 0, 0]), (Access::Read, 10, [64, 0, 0])]);
        assert_eq!((report.records[0].block, report.records[0].address), (Some([0, 0, 0]), Some(0x700)));
    }
}

#[test]
fn uninitialized_memory_is_seen_in_kernels_and_in_copies() {
    let read = &joined("uninitialized_read.initcheck").records[0];
    assert_eq!(read.category, Category::Uninitialized { access: Access::Read, bytes: 4 });
    assert_eq!((kernel(read), place(read).as_str()), ("add", "uninitialized_read.cu:5"));
    let copies = joined("uninitialized_copy.initcheck").records;
    assert!(matches!(copies[0].category, Category::UninitializedCopy { bytes: 1024, error_address: Some(_) }));
    assert_eq!(calls(&copies[0]), ["uninitialized_copy.cu:9"]);
    assert_eq!(calls(copies.last().unwrap()), ["uninitialized_copy.cu:12"]);
    assert_eq!(calls(&joined("uninitialized_async.initcheck").records[0]), ["uninitialized_async.cu:17"]);
    let unused = joined("uninitialized_copy.initcheck-unused");
    assert!(unused.records.iter().any(|record| record.category == Category::Unused));
}

#[test]
fn barriers_leaks_and_faults_of_the_device() {
    let barrier = &joined("barrier_warp.synccheck").records[0];
    assert_eq!(barrier.category, Category::Barrier { problem: "Divergent thread(s) in warp".to_owned() });
    assert_eq!(place(barrier), "barrier_warp.cu:8");
    let leaks: Vec<(u64, String)> = joined("leak.leakcheck")
        .records
        .iter()
        .map(|record| match record.category {
            Category::Leak { bytes } => (bytes, calls(record).join(" ")),
            ref other => panic!("{other:?}"),
        })
        .collect();
    let expected = [(8192, "leak.cu:14"), (1024, "leak.cu:5"), (4096, "leak.cu:13")];
    assert_eq!(leaks, expected.map(|(bytes, line)| (bytes, line.to_owned())));
    let assertion = &joined("assertion.memcheck").records[0];
    assert_eq!(assertion.category, Category::DeviceFault { problem: "Warp assert".to_owned() });
    assert_eq!(calls(assertion), ["assertion.cu:8"]);
    let full = &joined("stack_overflow.memcheck").records[0];
    assert_eq!(
        (kernel(full), &full.category),
        ("recurse", &Category::DeviceFault { problem: "Stack overflow".to_owned() })
    );
}

#[test]
fn the_two_forms_say_the_same() {
    for name in recorded_support::all() {
        let Some(report) = xml(&name).map(|report| SanitizerReport::read(Some(&report), "")) else { continue };
        let printed = of_text(&name);
        assert_eq!(report.records.len(), printed.records.len(), "{name}");
        for (one, other) in report.records.iter().zip(&printed.records) {
            assert_eq!(std::mem::discriminant(&one.category), std::mem::discriminant(&other.category), "{name}");
            assert_eq!(
                (one.thread, one.block, kernel_base(one)),
                (other.thread, other.block, kernel_base(other)),
                "{name}"
            );
            // Without `--strip-paths no` the text has names of files alone.
            let short = |site: String| site.rsplit('/').next().unwrap_or_default().to_owned();
            let known = |record: &Record| record.call_sites().first().map(|site| short(site.to_string()));
            let all: Vec<String> = other.call_sites().iter().map(|site| short(site.to_string())).collect();
            // Of an assertion the tool names no kernel, so that the text's stub cannot be told.
            let told = name.starts_with("assertion") || known(one).is_none_or(|site| all.contains(&site));
            assert!(told, "{name}: {:?} {all:?}", known(one));
        }
        assert!(printed.complete && report.complete, "{name}");
        assert!(joined(&name).records.iter().all(|record| record.category != Category::Other), "{name}");
    }
}

/// The kernel's name, where the XML has it whole: it cuts operators.
fn kernel_base(record: &Record) -> Option<&str> {
    record.kernel.as_ref().map(|kernel| kernel.base.as_str())
}

#[test]
fn ends_of_programs_and_tools_are_told() {
    let notices = |name: &str| joined(name).notices;
    assert!(matches!(notices("host_fault.memcheck").as_slice(), [Notice::ProcessEnded(_), Notice::ReturnedError]));
    assert_eq!(notices("exit_status.memcheck"), [Notice::ReturnedError]);
    assert_eq!(notices("no_cuda.memcheck"), [Notice::NoCuda]);
    let missing = joined("global_read-missing.memcheck");
    assert_eq!(missing.refusal(), Some("Target application doesn't exist or is not a valid executable"));
    let usage =
        SanitizerReport::read(None, "unrecognised option '--no-such-option'\nUsage: compute-sanitizer [options]\n");
    assert_eq!(usage.refusal(), Some("unrecognised option '--no-such-option'"));
    assert_eq!(joined("many_errors.memcheck").unprinted, 1317);
    for tool in ["memcheck", "racecheck", "initcheck", "synccheck"] {
        let clean = joined(&format!("clean.{tool}"));
        assert!(clean.complete && clean.records.is_empty() && clean.problems.is_empty(), "{tool}");
    }
}

#[test]
fn a_run_that_was_ended_keeps_what_was_printed() {
    let report = SanitizerReport::read(None, &text("hang.memcheck"));
    assert!(!report.complete);
    assert_eq!(calls(&report.records[0]), ["hang.cu:14"]);
    assert_eq!(joined("hang.stop-program-KILL").records.len(), 1);
}

#[test]
fn what_the_program_prints_is_no_record() {
    let printed = format!(
        "{}========= Invalid __global__ read of size 4 bytes\n=========     at f() in a.cu:3\n",
        text("clean.memcheck")
    );
    let report = SanitizerReport::read(xml("clean.memcheck").as_deref(), &printed);
    assert!(report.records.is_empty() && report.complete);
}

// Made by hand from the recorded ones: cut off, mixed with garbage, huge.

#[test]
fn a_report_cut_anywhere_is_read_up_to_there() {
    let whole = xml("shared_write.memcheck").unwrap();
    let count = of_xml("shared_write.memcheck").records.len();
    for (cut, _) in whole.char_indices().step_by(97) {
        let report = SanitizerReport::read(Some(&whole[..cut]), "");
        assert!(report.records.len() <= count);
        assert!(!report.complete, "cut at {cut}");
        let (begun, ended) = (whole[..cut].matches("<record>").count(), whole[..cut].matches("</record>").count());
        assert_eq!(report.records.len(), ended, "cut at {cut}");
        assert!(cut < 60 || begun == ended || !report.problems.is_empty());
    }
}

#[test]
fn the_text_has_what_a_cut_report_lost() {
    let (whole, printed) = (xml("global_read.memcheck").unwrap(), text("global_read.memcheck"));
    let all = joined("global_read.memcheck").records;
    let third = whole.match_indices("</record>").nth(1).unwrap().0 + 40;
    let report = SanitizerReport::read(Some(&whole[..third]), &printed);
    assert_eq!(report.records.len(), all.len());
    assert_eq!(report.records[0], all[0]);
    assert!(report.problems.iter().any(|problem| problem.contains("cut off")));
}

#[test]
fn garbage_in_a_report_costs_its_own_record_alone() {
    let whole = xml("global_write.memcheck").unwrap();
    let count = of_xml("global_write.memcheck").records.len();
    let between = whole.replacen("  <record>", "Segmentation fault\n\u{0}&&<<%\n  <record>", 2);
    assert_eq!(SanitizerReport::read(Some(&between), "").records.len(), count);
    let within = whole.replacen("<direction>", "<direction <<", 1);
    let report = SanitizerReport::read(Some(&within), "");
    assert_eq!(report.records.len(), count - 1);
    assert_eq!(report.problems.len(), 1);
    let unknown = whole.replace("<who>", "<future><deep>7</deep></future><who>");
    assert_eq!(SanitizerReport::read(Some(&unknown), "").records.len(), count);
}

#[test]
fn nothing_and_nonsense_are_no_reports() {
    for (xml, printed) in [(None, ""), (Some(""), ""), (Some("\n \n"), "")] {
        let report = SanitizerReport::read(xml, printed);
        assert!(report.records.is_empty() && !report.complete);
    }
    let nonsense = "<<<>>> \u{fffd}\u{7} ========= not at the start\n========\n<record><record></record>";
    let report = SanitizerReport::read(Some(nonsense), "");
    assert!(report.records.is_empty() && !report.complete && !report.problems.is_empty());
    let entities = "<!DOCTYPE x [<!ENTITY a \"b\">]><ComputeSanitizerOutput><record><kind>&a;</kind></record>";
    assert_eq!(SanitizerReport::read(Some(entities), "").records.len(), 1);
    let deep = format!("<ComputeSanitizerOutput><record>{}</record></ComputeSanitizerOutput>", "<a>".repeat(100_000));
    assert!(SanitizerReport::read(Some(&deep), "").records.is_empty());
    let sentence = SanitizerReport::read(
        None,
        "========= COMPUTE-SANITIZER\n========= Error: Device not supported. Please refer to the list\n",
    );
    assert!(sentence.refusal().unwrap().starts_with("Device not supported"));
}

#[test]
fn a_huge_report_is_read_in_time() {
    let whole = xml("global_write.memcheck").unwrap();
    let start = whole.find("  <record>").unwrap();
    let end = whole.find("</record>").unwrap() + "</record>\n".len();
    let huge = format!("{}{}</ComputeSanitizerOutput>", &whole[..start], whole[start..end].repeat(5_000));
    let begin = std::time::Instant::now();
    let report = SanitizerReport::read(Some(&huge), "");
    assert_eq!(report.records.len(), 5_000);
    assert!(begin.elapsed().as_secs() < 60);
}
