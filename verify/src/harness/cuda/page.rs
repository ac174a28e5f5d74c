//! The text of a harness around its calls: header, headers that the user's text leaves out, the user's text itself, and
//! the small functions that harnesses share.

use crate::scenario::Origin;
use crate::spelled::REMOVED;
use crate::subject::{Stretch, Subject, calls};
use camino::{Utf8Path, Utf8PathBuf};
use cudalint_findings::Shows;
use cudalint_findings::claim::Cost;
use cudalint_findings::model::{FindingEntry, Method};
use cudalint_program::api::ApiId;
use cudalint_program::api::effects::Library;
use cudalint_program::ir::{Expr, Function, Module, ModuleId};
use cudalint_syntax::FileKind;
use std::fmt::Write as _;

/// Headers that programs of documents use without naming them, each with words that show the use.
const HEADERS: &[(&str, &[&str])] = &[
    ("cuda_runtime.h", &[]),
    ("cstdio", &["printf", "fprintf", "stderr", "fopen", "snprintf", "FILE", "puts"]),
    ("cstdlib", &["malloc", "free", "exit", "abort", "calloc", "rand", "atoi", "EXIT_FAILURE", "NULL"]),
    ("cstring", &["memcpy", "memset", "strcmp", "strlen"]),
    ("cmath", &["sqrt", "fabs", "ceil", "floor", "exp", "sin", "cos", "pow", "sqrtf", "fabsf"]),
    ("cassert", &["assert"]),
    ("vector", &["vector"]),
    ("string", &["string", "to_string"]),
    ("iostream", &["cout", "cerr", "endl"]),
    ("algorithm", &["sort", "fill", "generate", "max", "min"]),
    ("stdexcept", &["runtime_error"]),
    ("memory", &["unique_ptr", "shared_ptr", "make_unique"]),
    ("cooperative_groups.h", &["cooperative_groups"]),
    ("cuda_fp16.h", &["half", "__half", "half2"]),
    ("cuda_bf16.h", &["__nv_bfloat16", "nv_bfloat16"]),
    ("mma.h", &["wmma"]),
    ("curand_kernel.h", &["curandState"]),
    ("cublas_v2.h", &["cublasHandle_t"]),
    ("cuda.h", &["CUdeviceptr", "CUresult"]),
];

/// The headers that a fence uses and does not include, as lines of code.
pub(super) fn preamble(subject: &Subject, stretch: &Stretch) -> String {
    let text = subject.slice(stretch.region.span);
    let included: Vec<&str> = subject
        .module(stretch)
        .map(|module| module.includes.iter().map(|include| &*include.target).collect())
        .unwrap_or_default();
    let mut lines = String::new();
    for (header, words) in HEADERS {
        let c_name = header.strip_prefix('c').map(|rest| format!("{rest}.h")).unwrap_or_default();
        let there = included.contains(header) || included.contains(&c_name.as_str());
        let library = match *header {
            "cublas_v2.h" => Some(Library::CuBlas),
            "cuda.h" => Some(Library::Driver),
            _ => None,
        };
        let called = || library.is_some_and(|library| calls_of(text, library));
        if !there && (words.is_empty() || words.iter().any(|word| has_word(text, word)) || called()) {
            let _ = writeln!(lines, "#include <{header}>");
        }
    }
    lines
}

/// Whether a text contains a word.
pub(super) fn has_word(text: &str, word: &str) -> bool {
    let is_word = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    text.match_indices(word).any(|(at, _)| {
        let before = at.checked_sub(1).and_then(|at| text.as_bytes().get(at));
        !is_word(before) && !is_word(text.as_bytes().get(at + word.len()))
    })
}

/// A stretch's text with its place told to the compiler, so that messages and reports name the document's lines.
pub(super) fn quoted(subject: &Subject, stretch: &Stretch) -> String {
    let span = stretch.region.span;
    let mut text =
        format!("#line {} \"{}\"\n{}", subject.line_of(span.start), shown(&subject.path), subject.slice(span));
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// A line that tells the compiler that the harness's own lines go on.
pub(super) const HERE: &str = "#line harness";

/// The text with each [`HERE`] as the directive that it stands for.
pub(super) fn placed(text: &str, file: &str) -> String {
    let mut placed = String::with_capacity(text.len());
    for (index, line) in text.lines().enumerate() {
        if line == HERE {
            let _ = write!(placed, "#line {} \"{file}\"", index + 2);
        } else {
            placed.push_str(line);
        }
        placed.push('\n');
    }
    placed
}

/// A path inside a string literal.
pub(super) fn shown(path: &str) -> String {
    path.replace('\\', "/").replace('"', "\\\"")
}

/// The compiler flags for a subject's program: those of the user's build, and the libraries that its headers name.
/// `linked` are source files that it is built with.
pub(super) fn flags(subject: &Subject, stretch: &Stretch, linked: &[Utf8PathBuf]) -> Vec<String> {
    let mut flags = subject.flags.clone();
    let mut folders = subject.found_folders.clone();
    folders
        .extend(subject.include_folders(linked).into_iter().filter(|folder| !subject.found_folders.contains(folder)));
    flags.extend(folders.iter().map(|folder| format!("-I{folder}")));
    flags.extend(linked.iter().map(ToString::to_string));
    let modules: Vec<ModuleId> =
        stretch.module.into_iter().flat_map(|id| std::iter::once(id).chain(subject.included(id))).collect();
    let mut add = |flag: &str| {
        if !flags.iter().any(|known| known == flag) {
            flags.push(flag.to_owned());
        }
    };
    for (header, library) in LIBRARIES {
        let includes = modules.iter().flat_map(|id| &subject.project.module(*id).includes);
        let whole = header.contains('.');
        let matches = |target: &str| if whole { target == *header } else { target.starts_with(header) };
        if includes.map(|include| &*include.target).any(matches) {
            add(library);
        }
    }
    let texts = || {
        let whole = subject.kind != FileKind::Markdown;
        let own = modules
            .iter()
            .map(move |id| if whole { &**subject.project.source(*id) } else { subject.slice(stretch.region.span) });
        own.map(str::to_owned)
            .chain(linked.iter().filter_map(|file| cudalint_files::read_text(file.as_std_path()).ok()))
    };
    for (word, flag) in REMOVED {
        if texts().any(|text| has_word(&text, word)) {
            add(flag);
        }
    }
    if texts().any(|text| calls_of(&text, Library::Driver)) {
        add("-lcuda");
    }
    // Harnesses include the runtime's header before the user's text can say so.
    if texts().any(|text| has_word(&text, "CUDA_API_PER_THREAD_DEFAULT_STREAM")) {
        add("--default-stream=per-thread");
    }
    if modules.iter().any(|id| launches_on_device(subject.project.module(*id))) {
        add("-rdc=true");
    }
    flags
}

/// Whether a kernel or device function launches kernels.
fn launches_on_device(module: &Module) -> bool {
    let on_device = |function: &&Function| function.space.global || (function.space.device && !function.space.host);
    module.functions.iter().filter(on_device).any(|function| {
        let calls = calls(module, function);
        calls.iter().any(|call| matches!(module.exprs.get(*call).map(|node| &node.kind), Some(Expr::Launch(_))))
    })
}

/// Libraries by the headers that lead to them.
const LIBRARIES: &[(&str, &str)] = &[
    ("cublas", "-lcublas"),
    ("cufft", "-lcufft"),
    ("curand.h", "-lcurand"),
    ("cusparse", "-lcusparse"),
    ("cusolver", "-lcusolver"),
    ("nvrtc.h", "-lnvrtc"),
    ("cudnn", "-lcudnn"),
    ("nccl", "-lnccl"),
    ("omp.h", "-Xcompiler=-fopenmp"),
];

/// Whether a text names functions of a library.
fn calls_of(text: &str, library: Library) -> bool {
    ApiId::mentions(text, |api| api.library == library).next().is_some()
}

/// How the user's text comes into a harness: by `#include` of `file` (the subject's own, or one that includes it), or
/// for a fence as it stands.
pub(super) fn user_text(subject: &Subject, stretch: &Stretch, file: &Utf8Path, has_main: bool) -> String {
    let mut text = String::new();
    if has_main {
        text.push_str("// The program's own `main` is kept out of the way.\n#define main cudalint_users_main\n");
    }
    if subject.kind == FileKind::Markdown {
        text.push_str(&quoted(subject, stretch));
    } else {
        let _ = writeln!(text, "#include \"{}\"", shown(file.as_str()));
    }
    if has_main {
        let _ = writeln!(text, "{HERE}\n#undef main");
    }
    text
}

/// The head of a harness: how it is built with `flags` and run, what it shows, and the headers. A page that is made around the user's file
/// (its `origin`) includes that.
pub(super) fn head(
    finding: Option<&FindingEntry>,
    subject: &Subject,
    stretch: &Stretch,
    file: &str,
    (origin, flags): (Origin, &[String]),
) -> String {
    let mut text = format!("// Build: nvcc -arch=native -lineinfo -o harness {file}");
    for flag in flags {
        let _ = write!(text, " {}", quote_word(flag));
    }
    text.push('\n');
    let tool = finding.map_or("", |finding| match finding.verification.method {
        Method::Memcheck | Method::ApiError => "compute-sanitizer --tool memcheck --padding 4096 ",
        Method::Racecheck => "compute-sanitizer --tool racecheck ",
        Method::Initcheck => "compute-sanitizer --tool initcheck ",
        Method::Synccheck => "compute-sanitizer --tool synccheck ",
        Method::Leakcheck => "compute-sanitizer --tool memcheck --leak-check full ",
        Method::Exception
        | Method::Output
        | Method::Watchpoint
        | Method::FaultInjection
        | Method::Delay
        | Method::Compile
        | Method::Time
        | Method::None => "",
        Method::Counters if matches!(finding.claim.shows, Shows::Cost { of: Cost::Threads }) => {
            "ncu --section Occupancy "
        }
        Method::Counters => "ncu --section SourceCounters ",
    });
    let _ = writeln!(text, "// Run:   {tool}./harness\n//");
    match finding {
        Some(finding) => {
            let _ = writeln!(text, "// Shows {} at {}:{}:", finding.rule, subject.path, finding.range.start.line);
            for line in finding.message.lines() {
                let _ = writeln!(text, "//   {line}");
            }
        }
        None => {
            let line = subject.line_of(stretch.region.span.start);
            let _ = writeln!(text, "// Runs everything from line {line} of {} on.", subject.path);
        }
    }
    if subject.kind != FileKind::Markdown && origin == Origin::Around {
        text.push_str("// It includes that file by its absolute path and uses it as it is.\n");
    }
    text.push_str("\n#include <cstdio>\n#include <cstdlib>\n#include <cstring>\n#include <type_traits>\n");
    text.push_str("#include <cuda_runtime.h>\n");
    for line in preamble(subject, stretch).lines() {
        if !text.contains(line) {
            text.push_str(line);
            text.push('\n');
        }
    }
    text.push('\n');
    text
}

/// A word of a command line, quoted where a shell would take it apart.
fn quote_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+./,:@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
