//! Copies that overrun the host's side. The call succeeds, and no tool sees the driver write; so the program is built with
//! `AddressSanitizer`, which knows each host object's bounds, and each copy asks it before it is made.

use crate::experiment::Judgement;
use crate::experiment::place::Spot;
use crate::lab::{Bench, Build, End, Run};
use crate::matching::Target;
use crate::matching::stands_at;
use crate::scenario::CudaProgram;
use crate::tools::sanitizer::{Frame, base_name};
use camino::{Utf8Path, Utf8PathBuf};
use cudalint_findings::model::{EvidenceRecord, FindingEntry, Verdict};

const SOURCE: &str = include_str!("cudalint_host_bounds.cpp");
const NAME: &str = "cudalint_host_bounds.cpp";
/// What the check prints around each copy that leaves its object.
const BEGIN: &str = "cudalint host range: ";
const END: &str = "cudalint host range ends";

/// What is known of the host's side of a copy.
#[derive(Debug)]
pub(super) enum HostBounds {
    /// It leaves its object.
    Overrun(Box<Judgement>),
    /// Every copy stayed within its objects, and the program ended well.
    Kept,
    /// The check could not be made: why.
    Unknown(String),
}

/// Builds the program with the check and runs it.
pub(super) fn perform(finding: &FindingEntry, program: &CudaProgram, bench: &Bench<'_>, spot: &Spot) -> HostBounds {
    let source = match bench.write(Utf8Path::new(NAME), SOURCE) {
        Ok(source) => source,
        Err(error) => return HostBounds::Unknown(format!("{NAME}: {error}")),
    };
    let built = match bench.build(&build_of(program, source)) {
        Ok(built) => built,
        Err(failure) => return HostBounds::Unknown(Judgement::of_build(&failure).reason),
    };
    let mut command = vec![built.into_string()];
    command.extend(program.arguments.iter().cloned());
    // CUDA maps memory where AddressSanitizer wants a gap, and the driver keeps what it allocates.
    let options = "protect_shadow_gap=0:detect_leaks=0:detect_stack_use_after_return=0";
    let run = bench.run(&Run::on_device("host-bounds", command, vec![("ASAN_OPTIONS".to_owned(), options.to_owned())]));
    let target = Target::new(finding).in_statement(spot.lines);
    let seen = ranges(&run.stderr);
    let here = seen.iter().find(|range| {
        let site = range.frames.iter().find(|frame| !frame.is_toolkit() && !is_checker(frame));
        site.is_some_and(|site| {
            site.file.as_deref().zip(site.line).is_some_and(|(file, line)| stands_at(&target, file, line))
        })
    });
    if let Some(range) = here {
        let line = finding.range.start.line;
        let record = EvidenceRecord::at("host memory overrun", &finding.path, line, &range.words);
        let reason = format!("{} at {}", range.words, spot.shown());
        let back_end = "AddressSanitizer, asked before each copy";
        let judgement = Judgement::of_run(Verdict::Confirmed, reason, back_end, &run, vec![record]);
        return HostBounds::Overrun(Box::new(judgement));
    }
    match (&run.end, seen.first()) {
        (_, Some(other)) => HostBounds::Unknown(format!("another copy leaves its object: {}", other.words)),
        (End::Exit(0), None) => HostBounds::Kept,
        (end, None) => HostBounds::Unknown(format!("the program with AddressSanitizer did not end well ({end:?})")),
    }
}

fn build_of(program: &CudaProgram, source: Utf8PathBuf) -> Build {
    let mut flags = program.flags.clone();
    let own = ["-g", "-Xcompiler", "-O0", "-Xcompiler", "-fsanitize=address,-fno-omit-frame-pointer"];
    flags.extend(own.map(str::to_owned));
    flags.extend(crate::spelled::bounded());
    Build { label: "host-bounds".to_owned(), units: vec![program.unit.clone(), source], flags }
}

/// A copy that leaves a host object.
#[derive(Debug)]
struct Range {
    /// `cudaMemcpy writes 4096 bytes at 0x…; byte 256 is outside`, and what `AddressSanitizer` knows of the object.
    words: String,
    /// Innermost first.
    frames: Vec<Frame>,
    /// Whether there are no more frames.
    whole: bool,
}

/// Whether a frame is one of `AddressSanitizer`'s own.
fn is_checker(frame: &Frame) -> bool {
    let file = frame.file.as_deref().unwrap_or("");
    frame.function.starts_with("__sanitizer") || file.contains("/libsanitizer/") || file.contains("/compiler-rt/")
}

/// Reads what the check printed, in between whatever else the program says.
fn ranges(stderr: &str) -> Vec<Range> {
    let mut found = Vec::new();
    let mut open: Option<Range> = None;
    for line in stderr.lines() {
        if let Some(words) = line.strip_prefix(BEGIN) {
            open = Some(Range { words: words.trim().to_owned(), frames: Vec::new(), whole: false });
        } else if line.starts_with(END) {
            found.extend(open.take());
        } else if let Some(range) = &mut open {
            // The copy's own stack comes first; a second one is that of the object's allocation.
            let second = line.trim_start().starts_with("#0 ") && !range.frames.is_empty();
            range.whole |= second;
            if let Some(frame) = frame(line).filter(|_| !range.whole) {
                range.frames.push(frame);
            } else if line.contains(" is located ") && !range.words.contains(" is located ") {
                range.words.push_str("; ");
                range.words.push_str(line.trim());
            }
        }
    }
    // A program that dies within the check has still said what it is about.
    found.extend(open);
    found
}

/// `    #2 0x55a9 in main /src/a.cu:11`; of a function with blanks in its name the last part.
fn frame(line: &str) -> Option<Frame> {
    let rest = line.trim_start().strip_prefix('#')?;
    let (_, rest) = rest.split_once(" in ")?;
    let (function, place) = rest.rsplit_once(' ')?;
    // gcc's prints no column, clang's does.
    let mut parts = place.rsplitn(3, ':');
    let (last, middle, first) = (parts.next()?, parts.next(), parts.next());
    let (file, line) = match (first, middle.and_then(|text| text.parse().ok()), last.parse().ok()) {
        (Some(file), Some(line), Some(_column)) => (file.to_owned(), line),
        (_, _, Some(line)) => (place.rsplit_once(':')?.0.to_owned(), line),
        _ => return None,
    };
    Some(Frame { function: base_name(function), file: Some(file), line: Some(line), module: None })
}
