//! What the program does on good input.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{EMPTY_GRID, Sandbox, finished};
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

const CONCISE: [&str; 2] = ["--output-format", "concise"];

#[test]
fn check_may_be_left_out() {
    let sandbox = Sandbox::new(&[("a.cu", EMPTY_GRID), ("b.cu", "int b;\n")]);
    let short = sandbox.run(&["a.cu"]);
    let long = sandbox.run(&["check", "a.cu"]);
    assert_eq!((short.code, &short.stdout), (1, &long.stdout));
    assert!(
        short.stdout.contains("empty-grid") && short.stdout.ends_with("Found 1 error, 0 warnings in 1 file.\n"),
        "{short:?}"
    );
    assert_eq!(sandbox.run(&["b.cu"]).stdout, "Found 0 errors, 0 warnings in 1 file.\n");
    assert_eq!(sandbox.run(&[]).stdout, short.stdout.replace("in 1 file", "in 2 files"));
}

#[test]
fn a_folder_with_the_name_of_a_subcommand_is_written_with_a_dot() {
    let sandbox = Sandbox::new(&[("rules/a.cu", EMPTY_GRID)]);
    assert!(sandbox.run(&["rules"]).stdout.contains("correctness"));
    let ran = sandbox.run(&["./rules", CONCISE[0], CONCISE[1]]);
    assert!(ran.code == 1 && ran.stdout.starts_with("rules/a.cu:4:"), "{ran:?}");
}

#[test]
fn exit_codes_are_the_same_for_every_format() {
    let sandbox = Sandbox::new(&[("a.cu", EMPTY_GRID), ("b.cu", "int b;\n")]);
    let help = sandbox.run(&["check", "--help"]).stdout;
    let names = help.split("possible values: ").nth(1).unwrap().split(']').next().unwrap();
    let names: Vec<_> = names.split(", ").collect();
    assert!(names.len() >= 4, "{names:?}");
    for name in names {
        assert_eq!(sandbox.run(&["a.cu", "--output-format", name]).code, 1, "{name}");
        assert_eq!(sandbox.run(&["a.cu", "--exit-zero", "--output-format", name]).code, 0, "{name}");
        assert_eq!(sandbox.run(&["b.cu", "--output-format", name]).code, 0, "{name}");
        assert_eq!(sandbox.run(&["b.cu", "gone.cu", "--exit-zero", "--output-format", name]).code, 2, "{name}");
    }
}

#[test]
fn rules_are_chosen_and_given_levels() {
    let sandbox = Sandbox::new(&[("a.cu", EMPTY_GRID)]);
    let code = |args: &[&str]| sandbox.run(&[&["a.cu"], args].concat()).code;
    assert_eq!(code(&["--ignore", "empty-grid"]), 0);
    assert_eq!(code(&["--ignore", "correctness"]), 0);
    assert_eq!(code(&["--ignore", "correctness", "--select", "empty-grid"]), 1);
    assert_eq!(code(&["--select", "portability"]), 0);
    assert_eq!(code(&["--warn", "empty-grid"]), 0);
    assert_eq!(code(&["--warn", "all", "--error", "empty-grid"]), 1);
    sandbox.write("cudalint.toml", b"[lint.levels]\nempty-grid = \"warning\"\n");
    assert_eq!(code(&[]), 0);
    assert_eq!(code(&["--error", "correctness"]), 1);
    sandbox.write("cudalint.toml", b"[lint.levels]\ncorrectness = \"off\"\n");
    assert_eq!(code(&[]), 0);
    assert_eq!(code(&["--select", "empty-grid"]), 1);
    assert_eq!(code(&["--isolated"]), 1);
    sandbox.write("other.toml", b"");
    assert_eq!(code(&["--config", "other.toml"]), 1);
}

#[test]
fn the_settings_of_pyproject_hold_when_there_are_no_others() {
    let sandbox =
        Sandbox::new(&[("a.cu", EMPTY_GRID), ("pyproject.toml", "[tool.cudalint.lint]\nignore = [\"empty-grid\"]\n")]);
    assert_eq!(sandbox.run(&["a.cu"]).code, 0);
    sandbox.write("cudalint.toml", b"");
    assert_eq!(sandbox.run(&["a.cu"]).code, 1);
}

#[test]
fn standard_input_is_linted_as_the_file_it_stands_for() {
    let sandbox = Sandbox::new(&[("src/a.cu", "int a;\n")]);
    let ran = sandbox.run_with_input(&["--stdin-filename", "src/a.cu", CONCISE[0], CONCISE[1]], EMPTY_GRID);
    assert!(ran.code == 1 && ran.stdout.starts_with("src/a.cu:4:"), "{ran:?}");
    let ran = sandbox.run_with_input(&["-", CONCISE[0], CONCISE[1]], EMPTY_GRID);
    assert!(ran.code == 1 && ran.stdout.starts_with("<stdin>:4:"), "{ran:?}");
}

#[test]
fn colours_are_for_those_who_see_them() {
    let sandbox = Sandbox::new(&[("a.cu", EMPTY_GRID)]);
    let coloured = |args: &[&str], name: &str, value: &str| {
        let mut command = sandbox.command(&[&["a.cu"], args].concat());
        finished(command.env(name, value)).stdout.contains('\u{1b}')
    };
    assert!(!coloured(&[], "X", ""), "a pipe is plain");
    assert!(coloured(&["--color", "always"], "NO_COLOR", "1"));
    assert!(coloured(&[], "CLICOLOR_FORCE", "1"));
    assert!(!coloured(&[], "CLICOLOR_FORCE", "0"));
    assert!(!coloured(&["--color", "never"], "CLICOLOR_FORCE", "1"));
    let mut both = sandbox.command(&["a.cu"]);
    both.env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1");
    assert!(!finished(&mut both).stdout.contains('\u{1b}'));
    let file = ["--color", "always", "--output-file", "out.txt"];
    assert!(!coloured(&file, "X", ""));
    assert!(!std::fs::read_to_string(sandbox.path().join("out.txt")).unwrap().contains('\u{1b}'));
}

#[test]
fn comments_suppress_and_are_checked_themselves() {
    let sandbox = Sandbox::new(&[]);
    let with = |comment: &str| EMPTY_GRID.replace("(values);\n", &format!("(values); {comment}\n"));
    let run = |comment: &str| {
        sandbox.write("a.cu", with(comment).as_bytes());
        let ran = sandbox.run(&["a.cu", CONCISE[0], CONCISE[1]]);
        (ran.code, ran.stdout)
    };
    let (code, text) = run("// cudalint: ignore[empty-grid] shows the driver's answer");
    assert_eq!((code, text.as_str()), (0, "Found 0 errors, 0 warnings in 1 file.\n"));
    let (code, text) = run("// cudalint: ignore[empty-gird]");
    assert!(
        code == 1 && text.contains("did you mean `empty-grid`") && text.contains("unknown-rule-in-ignore"),
        "{text}"
    );
    let (code, text) = run("// cudalint: ignore[empty-grid, launch-bounds-violated]");
    assert!(code == 0 && text.contains("unused-ignore") && text.contains("launch-bounds-violated"), "{text}");
    let (code, text) = run("// cudalint: file-ignore[empty-grid] all of it");
    assert_eq!((code, text.as_str()), (0, "Found 0 errors, 0 warnings in 1 file.\n"));
}

#[test]
fn statistics_count_and_do_not_list() {
    let sandbox = Sandbox::new(&[("a.cu", EMPTY_GRID), ("b.cu", EMPTY_GRID), ("plain.cpp", "int a;\n")]);
    let ran = sandbox.run(&["--statistics"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.contains("2  empty-grid\n"), "{ran:?}");
    assert!(
        ran.stdout.contains("files: 2 checked, 0 with parts that could not be parsed, 1 skipped, 0 incomplete\n"),
        "{ran:?}"
    );
    assert!(ran.stdout.contains("skipped: 1 without GPU code\n"), "{ran:?}");
}

#[test]
fn one_changed_file_says_what_the_full_run_says_of_it() {
    let common = "#define BLOCKS (20 / 32)\n__global__ void increment(float *values) { values[blockIdx.x] = 1; }\n";
    let user = "#include \"../inc/common.cuh\"\ncudaError_t run(float *values) {\n    increment<<<BLOCKS, 32>>>(values);\n    return cudaGetLastError();\n}\n";
    let sandbox = Sandbox::new(&[("inc/common.cuh", common), ("src/a.cu", user), ("src/b.cu", EMPTY_GRID)]);
    let full = sandbox.run(&CONCISE).stdout;
    let line = full.lines().find(|line| line.starts_with("src/a.cu:")).unwrap_or_else(|| panic!("{full}")).to_owned();
    let alone = sandbox.run(&["src/a.cu", CONCISE[0], CONCISE[1]]).stdout;
    assert_eq!(alone, format!("{line}\nFound 1 error, 0 warnings in 1 file.\n"));
}

#[test]
fn the_number_of_threads_changes_no_byte() {
    let sandbox = Sandbox::new(&[]);
    for n in 0..30 {
        sandbox.write(&format!("d{}/f{n}.cu", n % 4), EMPTY_GRID.replace("increment", &format!("k{n}")).as_bytes());
    }
    let one = sandbox.run(&["--threads", "1", "--output-format", "json"]);
    let two = sandbox.run(&["--threads", "2", "--output-format", "json"]);
    assert_eq!(one.stdout.matches("\"empty-grid\"").count(), 30);
    assert_eq!(one.stdout, two.stdout);
}

#[test]
fn a_closed_pipe_is_no_fault() {
    let sandbox = Sandbox::new(&[]);
    for n in 0..400 {
        sandbox.write(&format!("f{n}.cu"), EMPTY_GRID.as_bytes());
    }
    let mut child =
        sandbox.command(&["--color", "never"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    let mut reader = BufReader::with_capacity(64, child.stdout.take().unwrap());
    reader.read_line(&mut line).unwrap();
    drop(reader);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn rules_explain_themselves() {
    let sandbox = Sandbox::new(&[]);
    let page = sandbox.run(&["explain", "empty-grid"]);
    assert_eq!(page.code, 0);
    assert!(page.stdout.starts_with("empty-grid\n==========\n\nGroup: correctness · "), "{page:?}");
    assert!(!page.stdout.contains("```"));
    let markdown = sandbox.run(&["explain", "empty-grid", "--format", "markdown"]).stdout;
    assert!(markdown.starts_with("# empty-grid\n"));
    let all: serde_json::Value =
        serde_json::from_str(&sandbox.run(&["explain", "--all", "--format", "json"]).stdout).unwrap();
    let list = sandbox.run(&["rules"]).stdout;
    assert_eq!(all.as_array().unwrap().len(), list.lines().count());
    assert!(list.contains("unused-ignore"));
    let one: serde_json::Value =
        serde_json::from_str(&sandbox.run(&["explain", "empty-grid", "--format", "json"]).stdout).unwrap();
    assert_eq!(one["group"], "correctness");
    assert_eq!(sandbox.run(&["explain"]).code, 2);
}

#[test]
fn completions_are_written_for_shells() {
    let ran = Sandbox::new(&[]).run(&["completions", "bash"]);
    assert!(ran.code == 0 && ran.stdout.contains("--output-format"), "{ran:?}");
}

#[test]
fn editors_get_whole_addresses() {
    let sandbox = Sandbox::new(&[("a.cu", EMPTY_GRID)]);
    let ran = sandbox.run(&["a.cu", "--output-format", "lsp"]);
    let files: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let uri = files[0]["uri"].as_str().unwrap();
    assert!(uri.starts_with("file:///") && uri.ends_with("/a.cu"), "{uri}");
}

#[test]
fn functions_that_no_file_of_a_program_names_are_possible_only() {
    let device = "#include \"device.h\"\nvoid Pool::fill(void **p) {\n    cudaMalloc(p, 4);\n}\n\
                  void Pool::other(void **p) {\n    cudaMalloc(p, 4);\n}\nvoid choose(int n) {\n    cudaSetDevice(n);\n}\n";
    let header = "class Pool {\npublic:\n    void fill(void **p); // see choose()\n    void other(void **p);\n};\nvoid choose(int n);\n";
    let main = "#include \"device.h\"\nint main() { Pool pool; void *p; pool.other(&p); return 0; }\n";
    let told = |makefile: &str, main: &str, header: &str| {
        let sandbox =
            Sandbox::new(&[("cudalint.toml", ""), ("device.cu", device), ("device.h", header), ("main.cpp", main)]);
        sandbox.write("Makefile", makefile.as_bytes());
        let ran = sandbox.run(&["--select", "unchecked-api-call", "--output-format", "concise", "."]);
        ["fill", "other", "choose"].map(|name| ran.stdout.contains(&format!("`{name}` drops")))
    };
    let program = "app: main.cpp device.cu\n\tnvcc $^ -o $@\n";
    assert_eq!(told(program, main, header), [false, true, false]);
    // A library is for others.
    assert_eq!(told("lib.a: device.o\n\tar rcs $@ $^\n", main, header), [true; 3]);
    assert_eq!(told(program, "int test(void *p);\n", header), [true; 3]);
    // Somebody calls them, or may do so without knowing it.
    assert_eq!(told(program, &main.replace("return 0", "choose(1); pool.fill(&p); return 0"), header), [true; 3]);
    assert_eq!(told(program, main, &header.replace("class Pool", "class Pool : public Base")), [true, true, false]);
    assert_eq!(told(program, "int main() { return 0; }\n", header), [false; 3]);
}
