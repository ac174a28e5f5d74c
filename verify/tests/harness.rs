//! Harnesses keep the user's lines, are whole programs, and make arguments that fit what a function does with them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use camino::{Utf8Path, Utf8PathBuf};
use cudalint_findings::claim::{AccessFault, Object, Space};
use cudalint_findings::model::{
    Access, Confidence, FindingEntry, Group, Launch, Method, Position, Range, Severity, Site, Verification,
};
use cudalint_findings::{AccessKind, Claim, Shows};
use cudalint_syntax::{FileKind, Language, MacroTable, ParserPool, Region, Span, parse_region, scan_directives};
use cudalint_verify::harness::{candidates, drive_all};
use cudalint_verify::scenario::{Candidate, CudaProgram, KernelArgument, Origin, Program};
use cudalint_verify::subject::{Stretch, Subject};
use std::process::Command;

fn root() -> Utf8PathBuf {
    Utf8PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/harness")
}

fn subject(path: &str) -> Subject {
    Subject::read(&root(), path, &[]).unwrap()
}

/// A finding on the line that contains some text.
fn finding(subject: &Subject, method: Method, text: &str) -> FindingEntry {
    let line = subject.text.lines().position(|line| line.contains(text)).unwrap() as u32 + 1;
    at_line(subject, method, line)
}

fn at_line(subject: &Subject, method: Method, line: u32) -> FindingEntry {
    let content = subject.text.lines().nth(line as usize - 1).unwrap_or("");
    let column = (content.len() - content.trim_start().len()) as u32 + 1;
    let start = Position { cell: None, line, column };
    FindingEntry {
        rule: "some-rule".to_owned(),
        group: Group::Correctness,
        severity: Severity::Error,
        confidence: Confidence::Definite,
        message: "something is wrong".to_owned(),
        path: subject.path.clone(),
        range: Range { start, end: Position { column: column + 1, ..start } },
        function: None,
        related: Vec::new(),
        claim: Claim::default(),
        witness: None,
        verification: Verification { method, verdict: None, evidence: None },
        fix: None,
        fingerprint: "0123456789abcdef".to_owned(),
        url: String::new(),
    }
}

/// Something that is seen with these inputs.
fn with(shows: Shows<Site>, inputs: &[(&str, i64)]) -> Claim<Site> {
    let inputs = inputs.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    Claim { inputs, ..shows.into() }
}

fn cuda(candidate: &Candidate) -> Option<&CudaProgram> {
    match candidate {
        Ok(Program::Cuda(program)) => Some(program),
        _ => None,
    }
}

/// The text of the first harness of an origin.
fn harness(found: &[Candidate], origin: Origin) -> String {
    let program = found.iter().filter_map(cuda).find(|program| program.origin == origin);
    program.unwrap_or_else(|| panic!("no program of that origin: {found:#?}")).files[0].text.clone()
}

/// What a harness does, without its head and shared functions.
fn main_of(text: &str) -> &str {
    &text[text.rfind("int main() {").unwrap()..]
}

/// Every fence of the rules' pages and of the tests' own files.
fn all_subjects() -> Vec<Subject> {
    let mut found = vec![subject("sizes.cu"), subject("elided.md")];
    let rules = Utf8PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../rules");
    for group in rules.read_dir_utf8().unwrap().map(Result::unwrap).filter(|entry| entry.path().is_dir()) {
        for page in group.path().read_dir_utf8().unwrap().map(Result::unwrap) {
            if page.path().extension() == Some("md") {
                found.push(Subject::read(Utf8Path::new("."), page.path().as_str(), &[]).unwrap());
            }
        }
    }
    assert!(found.len() > 20);
    found
}

#[allow(clippy::trivially_copy_pass_by_ref)] // As `filter` wants it.
fn is_cuda(stretch: &&Stretch) -> bool {
    stretch.region.language == Language::Cuda
}

/// The user's lines in a harness, each with the number that the compiler is told.
fn told_lines<'t>(text: &'t str, path: &str) -> Vec<(usize, &'t str)> {
    let marker = format!("\"{path}\"");
    let mut told = Vec::new();
    let mut at: Option<usize> = None;
    for line in text.lines() {
        match line.strip_prefix("#line ") {
            Some(rest) => at = rest.ends_with(&marker).then(|| rest.split(' ').next().unwrap().parse().unwrap()),
            None => {
                if let Some(number) = &mut at {
                    told.push((*number, line));
                    *number += 1;
                }
            }
        }
    }
    told
}

#[test]
fn a_document_s_lines_keep_their_text_and_numbers() {
    for subject in all_subjects().iter().filter(|subject| subject.kind == FileKind::Markdown) {
        let lines: Vec<&str> = subject.text.lines().collect();
        for stretch in subject.stretches.iter().filter(is_cuda) {
            let first = subject.line_of(stretch.region.span.start);
            let expected: Vec<usize> =
                (first as usize..).take(subject.slice(stretch.region.span).lines().count()).collect();
            let mut texts = Vec::new();
            texts.extend(drive_all(subject, stretch).ok());
            for line in &expected {
                let finding = at_line(subject, Method::Memcheck, *line as u32);
                texts.extend(candidates(&finding, subject).into_iter().filter_map(Result::ok));
            }
            for program in &texts {
                let Program::Cuda(program) = program else { continue };
                let text = &program.files[0].text;
                let told = told_lines(text, &subject.path);
                assert_eq!(told.iter().map(|(number, _)| *number).collect::<Vec<_>>(), expected, "{text}");
                for (number, line) in told {
                    assert_eq!(line, lines[number - 1], "line {number} of {}\n{text}", subject.path);
                }
            }
        }
    }
}

/// Whether the grammar reads all of a text.
fn is_whole(text: &str) -> bool {
    let region = Region { language: Language::Cuda, span: Span::new(0, text.len()) };
    let directives = scan_directives(text, region.span);
    let macros = MacroTable::build(&directives.defines, &[]);
    parse_region(text, &region, &macros, &directives.defines, &mut ParserPool::new()).damage.is_empty()
}

#[test]
fn harnesses_are_whole_programs() {
    let mut count = 0;
    for subject in &all_subjects() {
        for stretch in subject.stretches.iter().filter(is_cuda).filter(|stretch| stretch.parsed.damage.is_empty()) {
            let first = subject.line_of(stretch.region.span.start);
            let mut found = vec![drive_all(subject, stretch)];
            for line in first..first + subject.slice(stretch.region.span).lines().count() as u32 {
                found.extend(candidates(&at_line(subject, Method::ApiError, line), subject));
            }
            for program in found.iter().filter_map(cuda) {
                let Some(file) = program.files.first() else { continue };
                count += 1;
                assert!(is_whole(&file.text), "{}:{first}\n{}", subject.path, file.text);
                let mains = file.text.lines().filter(|line| line.starts_with("int main(")).count();
                let hidden = usize::from(file.text.contains("#define main "));
                assert!(mains <= 1 + hidden, "{}", file.text);
                if let Some(reproducer) = &program.reproducer {
                    assert_eq!(*reproducer, file.path);
                    assert!(file.text.starts_with("// Build: nvcc "), "{}", file.text);
                }
            }
        }
    }
    assert!(count > 500, "{count} programs");
}

#[test]
fn there_is_always_an_answer() {
    for subject in &all_subjects() {
        for line in (1..=subject.lines.len() as u32).step_by(5) {
            assert!(!candidates(&at_line(subject, Method::FaultInjection, line), subject).is_empty());
        }
    }
}

#[test]
fn a_program_as_written_is_the_user_s_file() {
    let subject = subject("sizes.cu");
    let found = candidates(&finding(&subject, Method::ApiError, "int n = atoi"), &subject);
    let plain = cuda(&found[0]).unwrap();
    assert_eq!((plain.origin, &plain.unit, plain.files.len()), (Origin::AsWritten, &subject.file, 0));
    assert!(plain.arguments.is_empty());
    // It ends at once without two arguments, of which the first is read as a number.
    let asked = cuda(&found[1]).unwrap();
    assert_eq!((asked.origin, asked.arguments.len()), (Origin::AsWritten, 2));
    assert_eq!(asked.arguments[0], "64");
}

#[test]
fn a_fence_with_a_main_gets_the_headers_that_it_leaves_out() {
    let subject = subject("elided.md");
    let stretch = &subject.stretches[2];
    let Ok(Program::Cuda(program)) = drive_all(&subject, stretch) else { panic!("no program") };
    assert_eq!(program.origin, Origin::AsWritten);
    let text = &program.files[0].text;
    assert!(text.starts_with("#include <cuda_runtime.h>\n#line 28 \"elided.md\"\n#include <cstdio>\n"), "{text}");
}

#[test]
fn arguments_fit_what_the_function_does_with_them() {
    let subject = subject("sizes.cu");
    let found = candidates(&finding(&subject, Method::ApiError, "cudaMemcpy(device, values"), &subject);
    insta::assert_snapshot!("a_copy_of_host_memory", main_of(&harness(&found, Origin::Around)));
    let found = candidates(&finding(&subject, Method::Memcheck, "values[0] = 1"), &subject);
    insta::assert_snapshot!("memory_used_by_both_sides", main_of(&harness(&found, Origin::Around)));
    let found = candidates(&finding(&subject, Method::ApiError, "void out("), &subject);
    insta::assert_snapshot!("an_out_parameter_and_a_text", main_of(&harness(&found, Origin::Around)));
}

#[test]
fn a_kernel_is_taken_out_of_a_file_that_does_not_build() {
    let subject = subject("sliced.cu");
    let found = candidates(&finding(&subject, Method::Memcheck, "if (i > n)"), &subject);
    let slice = found.iter().filter_map(cuda).rfind(|program| program.origin == Origin::Cut).unwrap();
    let text = &slice.files[0].text;
    let (_, code) = text.split_once("#line 2 ").unwrap();
    insta::assert_snapshot!("a_kernel_with_what_it_needs", format!("#line 2 {code}").replace(root().as_str(), ""));
}

#[test]
fn records_behind_a_pointer_hold_memory_of_their_own() {
    let subject = subject("sizes.cu");
    let found = candidates(&finding(&subject, Method::Memcheck, "void walk("), &subject);
    insta::assert_snapshot!("records_behind_a_pointer", main_of(&harness(&found, Origin::Around)));
}

#[test]
fn variables_of_the_file_and_objects_are_made_too() {
    let subject = subject("sizes.cu");
    let found = candidates(&finding(&subject, Method::ApiError, "void rows()"), &subject);
    insta::assert_snapshot!("variables_of_the_file", main_of(&harness(&found, Origin::Around)));
    let found = candidates(&finding(&subject, Method::ApiError, "void clear(size_t"), &subject);
    insta::assert_snapshot!("a_method_of_an_object", main_of(&harness(&found, Origin::Around)));
}

#[test]
fn the_witness_gives_the_numbers() {
    let subject = subject("sizes.cu");
    let mut entry = finding(&subject, Method::ApiError, "cudaMemcpy(device, values");
    entry.claim = with(Shows::Nothing, &[("n", 77)]);
    assert!(harness(&candidates(&entry, &subject), Origin::Around).contains("int n = 77; //"));
    // Without an input the choice is the harness's.
    entry.claim = Claim::default();
    assert!(harness(&candidates(&entry, &subject), Origin::Around).contains("int n = 1000; //"));
}

#[test]
fn numbers_lead_to_the_finding_s_place() {
    let subject = subject("sizes.cu");
    let careful = |text: &str| -> Vec<bool> {
        let found = candidates(&finding(&subject, Method::FaultInjection, text), &subject);
        let around = found.iter().filter_map(cuda).filter(|program| program.origin == Origin::Around);
        around.map(|program| main_of(&program.files[0].text).contains("bool careful = true")).collect()
    };
    // Nothing needs to hold to get to the first line: the truth value is free, and both are tried.
    assert_eq!(careful("if (n < 16"), [true, false]);
    assert_eq!(careful("cudaMemcpy(device, values"), [true]);
    let wide = finding(&subject, Method::FaultInjection, "cudaSetDevice(wide)");
    let text = harness(&candidates(&wide, &subject), Origin::Around);
    assert!(text.contains("int mode = 3; // leads to line"), "{text}");
    assert!(text.contains("bool quiet = false; // leads to line"), "{text}");
}

#[test]
fn a_kernel_is_launched_as_the_witness_says() {
    let subject = subject("sizes.cu");
    let mut entry = finding(&subject, Method::Memcheck, "staged[threadIdx.x] = values[i]");
    let access = Access {
        block: [7, 0, 0],
        thread: [104, 0, 0],
        kind: AccessKind::Read,
        index: 1000,
        extent: 1000,
        site: Site { path: "sizes.cu".to_owned(), range: entry.range },
        function: None,
    };
    let start = Position { cell: None, line: 1, column: 1 };
    let launch = Launch {
        site: Site { path: "sizes.cu".to_owned(), range: Range { start, end: start } },
        grid: [8, 1, 1],
        block: [128, 1, 1],
        shared_bytes: 0,
    };
    let object = Object { name: "values".to_owned(), space: Space::Global, bytes: Some(4000) };
    let shows = Shows::Access { fault: AccessFault::OutOfBounds, object, accesses: vec![access] };
    entry.claim = Claim { launch: Some(launch), ..with(shows, &[("n", 1000)]) };
    let found = candidates(&entry, &subject);
    let direct = found
        .iter()
        .filter_map(cuda)
        .find(|program| program.files.iter().any(|file| file.text.contains("<<<harness_grid")));
    insta::assert_snapshot!("a_launch_by_the_witness", main_of(&direct.unwrap().files[0].text));
}

#[test]
fn a_kernel_as_data_has_device_code_alone() {
    let subject = subject("sizes.cu");
    let mut plain = subject.text.to_string();
    plain = plain.replace("Grid grid, T *const *rows", "T *const *rows").replace(" + grid.cells[0]", "");
    plain = plain.replace("(values, grid, rows, n)", "(values, rows, n)");
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("kernel.cu"), plain).unwrap();
    let subject = Subject::read(Utf8Path::from_path(folder.path()).unwrap(), "kernel.cu", &[]).unwrap();
    let found = candidates(&finding(&subject, Method::Memcheck, "staged[threadIdx.x] = values[i]"), &subject);
    let Some(Ok(Program::Kernel(program))) = found.iter().find(|it| matches!(it, Ok(Program::Kernel(_)))) else {
        panic!("{found:#?}");
    };
    assert_eq!(program.name, "scale<float, 128>");
    assert_eq!(program.arguments.len(), 3);
    assert_eq!(program.arguments[0], KernelArgument::Buffer { bytes: 16 << 20, filled: true });
    assert!(matches!(&program.arguments[1], KernelArgument::Pointers(buffers) if !buffers.is_empty()));
    assert_eq!(program.arguments[2], KernelArgument::Value(1000i32.to_le_bytes().to_vec()));
    assert_eq!(program.globals, [("weights".to_owned(), 1.0f32.to_le_bytes().repeat(16))]);
    assert!(program.source.contains("__global__ void scale") && !program.source.contains("int main"));
    let told = told_lines(&program.source, "kernel.cu");
    for (number, line) in told.into_iter().filter(|(_, line)| !line.trim().is_empty()) {
        assert_eq!(Some(line), subject.text.lines().nth(number - 1));
    }
}

#[test]
fn what_a_text_leaves_out_is_supplied_around_its_lines() {
    let subject = subject("elided.md");
    let found = candidates(&finding(&subject, Method::FaultInjection, "cudaMemcpy(d_in"), &subject);
    let text = harness(&found, Origin::Cut);
    let from = text.find("static float *d_in").unwrap_or_else(|| panic!("{text}"));
    insta::assert_snapshot!("a_document_with_code_left_out", &text[from..]);
}

#[test]
fn functions_that_are_defined_elsewhere_get_a_stand_in() {
    let subject = subject("elided.md");
    let found = candidates(&finding(&subject, Method::FaultInjection, "cudaMemset(values"), &subject);
    assert!(harness(&found, Origin::Cut).contains("int bytes_of(int) { return {}; } // defined nowhere in sight"));
}

#[test]
fn an_argument_that_cannot_be_made_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let text = "#include <cuda_runtime.h>\nvoid run(float (*f)(int), int n) {\n    cudaSetDevice(n);\n}\n";
    std::fs::write(folder.path().join("a.cu"), text).unwrap();
    let subject = Subject::read(Utf8Path::from_path(folder.path()).unwrap(), "a.cu", &[]).unwrap();
    let found = candidates(&at_line(&subject, Method::FaultInjection, 3), &subject);
    let reason = found.iter().find_map(|it| it.as_ref().err()).unwrap();
    assert!(reason.contains("parameter `f`"), "{reason}");
}

#[test]
fn a_program_of_several_files_is_found_from_any_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let root = Utf8Path::from_path(folder.path()).unwrap();
    let write = |path: &str, text: &str| {
        std::fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
        std::fs::write(root.join(path), text).unwrap();
    };
    write("common/inc/tools.h", "#pragma once\nvoid tool(int n);\n");
    write("app/main.cu", "#include \"part.h\"\nint main() { part(4); return 0; }\n");
    write("app/part.h", "void part(int n);\n");
    write(
        "app/part.cu",
        "#include \"tools.h\"\n#include \"part.h\"\nvoid part(int n) {\n    cudaSetDevice(n); tool(n);\n}\n",
    );
    write("app/other.cu", "#include \"tools.h\"\nvoid tool(int n) {}\n");
    write("app/unrelated.cu", "void unrelated() {}\n");
    let subject = Subject::read(root, "app/part.cu", &[]).unwrap();
    assert_eq!(subject.found_folders, [root.join("common/inc")]);
    // From a folder of a repository all of that is looked through.
    let within = |root: &Utf8Path| Subject::read(&root.join("app"), "part.cu", &[]).unwrap().found_folders;
    assert!(within(root).is_empty());
    std::fs::create_dir(root.join(".git")).unwrap();
    assert_eq!(within(root), [root.join("common/inc")]);
    let found = candidates(&at_line(&subject, Method::FaultInjection, 4), &subject);
    let program = cuda(&found[0]).unwrap();
    assert_eq!((program.origin, &program.unit), (Origin::AsWritten, &root.join("app/main.cu")));
    let linked: Vec<&String> = program.flags.iter().filter(|flag| flag.contains("/app/")).collect();
    assert_eq!(linked, [root.join("app/other.cu").as_str(), root.join("app/part.cu").as_str()]);
    assert!(program.flags.contains(&format!("-I{}", root.join("common/inc"))));
}

/// Compiles programs where there is a compiler; elsewhere this says nothing.
#[test]
fn harnesses_compile() {
    if Command::new("nvcc").arg("--version").output().is_err() {
        return;
    }
    let (sizes, elided) = (subject("sizes.cu"), subject("elided.md"));
    let mut programs = Vec::new();
    for subject in [&sizes, &elided] {
        programs.extend(subject.stretches.iter().filter_map(|stretch| drive_all(subject, stretch).ok()));
    }
    for text in
        ["void walk(", "cudaMemcpy(device, values", "staged[threadIdx.x] = values[i]", "void clear(size_t", "void out("]
    {
        let found = candidates(&finding(&sizes, Method::ApiError, text), &sizes);
        programs
            .extend(found.iter().filter_map(cuda).find(|it| it.origin == Origin::Around).cloned().map(Program::Cuda));
    }
    let found = candidates(&finding(&elided, Method::FaultInjection, "cudaMemcpy(d_in"), &elided);
    programs.extend(found.iter().filter_map(cuda).find(|it| it.origin == Origin::Cut).cloned().map(Program::Cuda));
    assert!(programs.len() >= 9);
    for program in programs {
        let Program::Cuda(program) = program else { panic!("no CUDA program") };
        let folder = tempfile::tempdir().unwrap();
        let unit = folder.path().join(&program.unit);
        for file in &program.files {
            std::fs::write(folder.path().join(&file.path), &file.text).unwrap();
        }
        let done = Command::new("nvcc")
            .args(["-c", "-o", "program.o", "-arch=sm_80"])
            .arg(&unit)
            .args(program.flags.iter().filter(|flag| !flag.starts_with("-l")))
            .current_dir(folder.path())
            .output()
            .unwrap();
        let text = std::fs::read_to_string(&unit).unwrap();
        assert!(done.status.success(), "{}\n{text}", String::from_utf8_lossy(&done.stderr));
    }
}
