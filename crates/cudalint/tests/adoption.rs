//! Taking cudalint up in a code base that was there before it: known findings, and what a change touched.

#![allow(clippy::unwrap_used)]

mod common;

use common::{EMPTY_GRID, Ran, Sandbox};
use std::process::{Command, Stdio};

const CONCISE: [&str; 2] = ["--output-format", "concise"];

/// Two functions, each with a launch of an empty grid.
const TWO: &str = "#include <cuda_runtime.h>\n\
                   __global__ void increment(float *values) { values[blockIdx.x] = 1; }\n\
                   cudaError_t first(float *values) {\n    increment<<<20 / 32, 32>>>(values);\n    return cudaGetLastError();\n}\n\
                   cudaError_t second(float *values) {\n    increment<<<20 / 32, 32>>>(values);\n    return cudaGetLastError();\n}\n";

fn concise(sandbox: &Sandbox, args: &[&str]) -> Ran {
    sandbox.run(&[&CONCISE, args].concat())
}

fn lines(ran: &Ran) -> Vec<&str> {
    ran.stdout.lines().filter(|line| line.contains("[empty-grid]")).collect()
}

#[test]
fn a_baseline_keeps_quiet_what_was_there_and_nothing_else() {
    let sandbox = Sandbox::new(&[("src/a.cu", TWO)]);
    let ran = sandbox.run(&["--write-baseline", "known.json"]);
    assert!(
        ran.code == 0 && ran.stdout.is_empty() && ran.stderr.contains("2 findings written to known.json"),
        "{ran:?}"
    );
    let with = |args: &[&str]| concise(&sandbox, &[&["--baseline", "known.json"], args].concat());
    let ran = with(&[]);
    assert!(
        ran.code == 0 && lines(&ran).is_empty() && ran.stderr.contains("2 findings known to known.json"),
        "{ran:?}"
    );
    // However the file is named, and from wherever.
    assert_eq!(with(&["src/a.cu"]).code, 0);
    assert_eq!(with(&["./src/../src/a.cu"]).code, 0);
    assert_eq!(with(&[sandbox.path().join("src").to_str().unwrap()]).code, 0);
    // Lines above, other white space, a neighbour with another name.
    let edited = TWO
        .replace("#include", "// new\n\n\n#include")
        .replace("first", "start")
        .replace("20 / 32, 32>>>", "20 / 32,   32>>>");
    sandbox.write("src/a.cu", edited.as_bytes());
    let ran = with(&[]);
    assert!(
        lines(&ran).len() == 1 && lines(&ran)[0].starts_with("src/a.cu:7:"),
        "only the renamed one is new: {ran:?}"
    );
    assert!(ran.stderr.contains("1 finding of known.json no longer occurs"), "{ran:?}");
    assert!(with(&["--verbose"]).stderr.contains("gone: src/a.cu: empty-grid in `first`"));
    // A third in a function that has one.
    let third = TWO.replace(
        "return cudaGetLastError();\n}\ncuda",
        "increment<<<20 / 32, 32>>>(values);\n    return cudaGetLastError();\n}\ncuda",
    );
    sandbox.write("src/a.cu", third.as_bytes());
    assert_eq!(lines(&with(&[])).len(), 1);
    // A function that moves takes its findings along, and so does a file.
    sandbox.write("src/a.cu", b"int nothing;\n");
    sandbox.write("src/moved.cu", TWO.as_bytes());
    let ran = with(&[]);
    assert!(ran.code == 0 && lines(&ran).is_empty() && !ran.stderr.contains("no longer"), "{ran:?}");
}

#[test]
fn what_did_not_run_is_not_taken_for_mended() {
    let sandbox = Sandbox::new(&[("a.cu", TWO), ("b.cu", EMPTY_GRID)]);
    sandbox.run(&["--write-baseline", "known.json"]);
    let gone =
        |args: &[&str]| sandbox.run(&[&["--baseline", "known.json"], args].concat()).stderr.contains("no longer");
    assert!(!gone(&["b.cu"]), "another file");
    assert!(!gone(&["--ignore", "empty-grid"]), "a rule that did not run");
    assert!(!gone(&["--min-confidence", "definite"]));
    sandbox.write("a.cu", b"int a;\n");
    assert!(!gone(&["b.cu"]));
    assert!(gone(&[]) && gone(&["a.cu"]));
    std::fs::remove_file(sandbox.path().join("a.cu")).unwrap();
    assert!(gone(&["b.cu"]), "a file that is gone");
    // Written anew, the entries that are gone are left out.
    sandbox.run(&["--write-baseline", "known.json"]);
    assert!(!gone(&[]));
    assert_eq!(std::fs::read_to_string(sandbox.path().join("known.json")).unwrap().matches("\"path\"").count(), 1);
}

#[test]
fn the_settings_may_name_a_baseline() {
    let sandbox = Sandbox::new(&[("src/a.cu", EMPTY_GRID), ("cudalint.toml", "baseline = \"tools/known.json\"\n")]);
    let ran = sandbox.run(&[]);
    assert!(ran.code == 2 && ran.stderr.contains("there is no such file; `cudalint --write-baseline"), "{ran:?}");
    std::fs::create_dir(sandbox.path().join("tools")).unwrap();
    assert_eq!(sandbox.run(&["--write-baseline", "tools/known.json"]).code, 0);
    assert_eq!(sandbox.run(&[]).code, 0);
    assert_eq!(sandbox.run(&["--no-baseline"]).code, 1);
    // It keeps quiet for tools, too.
    assert!(!sandbox.run(&["--output-format", "json"]).stdout.contains("empty-grid"));
    sandbox.write("tools/known.json", b"{\"version\": 7, \"findings\": []}");
    assert!(sandbox.run(&[]).stderr.contains("of version 7, and this cudalint reads version 1"));
    sandbox.write("tools/known.json", b"[]");
    assert!(sandbox.run(&[]).stderr.contains("not a baseline"));
}

fn git(sandbox: &Sandbox, args: &[&str]) {
    let mut command = Command::new("git");
    command.args([
        "-c",
        "user.name=n",
        "-c",
        "user.email=e@x",
        "-c",
        "commit.gpgsign=false",
        "-c",
        "init.defaultBranch=main",
    ]);
    let done =
        command.args(args).current_dir(sandbox.path()).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    assert!(done.success(), "git {args:?}");
}

#[test]
fn only_what_a_change_touched() {
    let sandbox = Sandbox::new(&[("src/a.cu", TWO), ("b ö.cu", EMPTY_GRID)]);
    let since = |revision: &str| concise(&sandbox, &["--since", revision]);
    git(&sandbox, &["init", "-q"]);
    let ran = since("HEAD");
    assert!(ran.code == 2 && ran.stderr.contains("--since HEAD: git knows no such revision"), "{ran:?}");
    git(&sandbox, &["add", "."]);
    git(&sandbox, &["commit", "-qm", "start"]);
    git(&sandbox, &["branch", "old"]);
    assert!(lines(&since("HEAD")).is_empty());
    assert!(since("nothing").stderr.contains("git knows no such revision"));
    assert!(since("--help").code == 2);
    // A line of the second function, and lines above that move everything.
    let changed =
        TWO.replace("#include", "// new\n#include").replacen("values);\n    return cudaGetLastError();\n}\n\0", "", 1);
    let at = changed.rfind("32>>>(values)").unwrap();
    let changed = format!("{}32>>>(values )", &changed[..at]) + &changed[at + 13..];
    sandbox.write("src/a.cu", changed.as_bytes());
    let ran = since("HEAD");
    assert!(lines(&ran).len() == 1 && lines(&ran)[0].starts_with("src/a.cu:9:"), "{ran:?}");
    assert_eq!(lines(&concise(&sandbox, &["--diff-base", "old"])).len(), 1);
    // Staged or committed, it differs from where the branches parted, whatever the other branch did since.
    git(&sandbox, &["checkout", "-qb", "topic"]);
    git(&sandbox, &["commit", "-qam", "change"]);
    git(&sandbox, &["checkout", "-q", "old"]);
    sandbox.write("b ö.cu", EMPTY_GRID.replace("20 / 32", "10 / 32").as_bytes());
    git(&sandbox, &["commit", "-qam", "other"]);
    git(&sandbox, &["checkout", "-q", "topic"]);
    let ran = since("old");
    assert!(lines(&ran).len() == 1 && lines(&ran)[0].starts_with("src/a.cu:9:"), "{ran:?}");
    // A file that git does not know yet, and one with an odd name.
    sandbox.write("new.cu", EMPTY_GRID.as_bytes());
    sandbox.write("b ö.cu", EMPTY_GRID.replace("20 / 32", "10 / 32").as_bytes());
    assert_eq!(lines(&since("HEAD")).len(), 2);
    // From a folder below.
    let mut below = sandbox.command(&["--since", "HEAD", "..", CONCISE[0], CONCISE[1]]);
    assert_eq!(lines(&common::finished(below.current_dir(sandbox.path().join("src")))).len(), 2);
    let mut nowhere = sandbox.command(&["--since", "HEAD"]);
    let ran = common::finished(nowhere.env("PATH", ""));
    assert!(ran.code == 2 && ran.stderr.contains("the program `git` is not there"), "{ran:?}");
    let ran = sandbox.run_with_input(&["-", "--since", "HEAD"], EMPTY_GRID);
    assert!(ran.code == 2 && ran.stderr.contains("standard input"), "{ran:?}");
}

#[test]
fn a_barrier_that_a_change_took_away_counts_where_it_stood() {
    let kernel = "#include <cuda_runtime.h>\n__global__ void turn(float *out) {\n    __shared__ float tile[64];\n    \
                  tile[threadIdx.x] = threadIdx.x;\n    // one\n    // two\n    __syncthreads();\n    // three\n    // four\n    \
                  out[threadIdx.x] = tile[63 - threadIdx.x];\n}\n\
                  cudaError_t run(float *out) {\n    turn<<<1, 64>>>(out);\n    return cudaGetLastError();\n}\n";
    let sandbox = Sandbox::new(&[("a.cu", kernel)]);
    git(&sandbox, &["init", "-q"]);
    git(&sandbox, &["add", "."]);
    git(&sandbox, &["commit", "-qm", "start"]);
    assert_eq!(sandbox.run(&[]).code, 0);
    sandbox.write("a.cu", kernel.replace("    __syncthreads();\n", "").as_bytes());
    let ran = concise(&sandbox, &["--since", "HEAD"]);
    assert!(ran.code == 1 && ran.stdout.contains("shared-memory-race"), "{ran:?}");
}

/// Two calls whose statuses nobody looks at, two that are checked, and an unchecked launch of an empty grid.
const CARELESS: &str = "#include <cuda_runtime.h>\n\
    __global__ void increment(float *values) { values[blockIdx.x] = 1; }\n\
    cudaError_t run() {\n    float *values;\n    if (cudaMalloc(&values, 4) != cudaSuccess) return cudaErrorMemoryAllocation;\n    \
    cudaMemset(values, 0, 4);\n    cudaMemset(values, 0, 4);\n    increment<<<20 / 32, 32>>>(values);\n    \
    cudaFree(values);\n    return cudaSuccess;\n}\n";

#[test]
fn error_handling_is_one_line_until_somebody_asks() {
    let sandbox = Sandbox::new(&[("a.cu", CARELESS)]);
    for format in ["full", "concise"] {
        let run = |args: &[&str]| sandbox.run(&[&["--output-format", format], args].concat()).stdout;
        let text = run(&[]);
        assert!(!text.contains("[unchecked-api-call]"), "{text}");
        let line = "error handling: 2 calls drop their status and 1 launch is not checked in 1 file: `--select error-handling` lists them; 2 of them in functions that check others\n";
        assert!(text.contains(line) && text.find(line) > text.find("empty-grid"), "{text}");
        for asked in [
            ["--select", "error-handling"],
            ["--select", "unchecked-api-call"],
            ["--select", "all"],
            ["--warn", "unchecked-api-call"],
        ] {
            let text = run(&asked);
            assert!(text.contains("[unchecked-api-call]") && !text.contains("calls drop"), "{asked:?}: {text}");
        }
        assert!(!run(&["--ignore", "error-handling"]).contains("status"));
    }
    for format in ["json", "json-lines", "sarif", "github", "gitlab", "junit", "lsp"] {
        let text = sandbox.run(&["--output-format", format]).stdout;
        assert!(text.contains("unchecked-api-call"), "{format} is complete: {text}");
    }
    let github = sandbox.run(&["--output-format", "github"]).stdout;
    assert!(github.find("empty-grid") < github.find("unchecked-api-call"), "{github}");
    sandbox.write("cudalint.toml", b"[lint.levels]\nerror-handling = \"warning\"\n");
    assert!(sandbox.run(&[]).stdout.contains("[unchecked-api-call]"));
}

#[test]
fn what_fails_a_run_may_be_chosen() {
    let sandbox = Sandbox::new(&[("a.cu", CARELESS)]);
    let code = |args: &[&str]| sandbox.run(args).code;
    assert_eq!(code(&["--warn", "empty-grid"]), 0);
    assert_eq!(code(&["--warn", "empty-grid", "--fail-on", "warning"]), 1);
    assert_eq!(code(&["--info", "empty-grid", "--fail-on", "warning"]), 0);
    assert_eq!(code(&["--info", "empty-grid", "--fail-on", "definite"]), 1);
    // What is not listed fails nothing.
    assert_eq!(code(&["--ignore", "empty-grid", "--fail-on", "likely"]), 0);
    assert_eq!(code(&["--select", "error-handling", "--fail-on", "likely"]), 1);
    assert_eq!(code(&["--fail-on", "definite", "--exit-zero"]), 2);
}

#[test]
fn what_a_run_would_do_is_shown() {
    let sandbox = Sandbox::new(&[
        ("src/a.cu", EMPTY_GRID),
        ("src/plain.cpp", "int a;\n"),
        ("old/b.cu", EMPTY_GRID),
        ("cudalint.toml", "exclude = [\"old\"]\n[lint]\nignore = [\"portability\"]\n"),
        ("build-rel/compile_commands.json", "[]"),
    ]);
    let root = sandbox.path().join("build-rel");
    sandbox.write(
        "build-rel/compile_commands.json",
        format!(
            "[{{\"directory\": {root:?}, \"file\": \"../src/a.cu\", \"command\": \"nvcc --options-file inc.rsp -c ../src/a.cu\"}}]"
        )
        .as_bytes(),
    );
    sandbox.write("build-rel/inc.rsp", b"-I../src -arch=sm_90\n");
    assert_eq!(sandbox.run(&["--show-files"]).stdout, "src/a.cu\n");
    let text = sandbox.run(&["--show-settings"]).stdout;
    assert!(text.contains("build-rel/compile_commands.json") && text.contains("# architectures: sm_90\n"), "{text}");
    assert!(
        text.contains("exclude = [\"old\"]") && text.contains("[lint]\nselect = []\nignore = [\"portability\"]\n"),
        "{text}"
    );
    // What is printed can be read again.
    sandbox.write("shown.toml", text.as_bytes());
    assert_eq!(sandbox.run(&["--config", "shown.toml", "--show-files"]).code, 0);
    let ran = sandbox.run(&["--verbose"]);
    assert!(ran.stderr.contains("note: commands of the build: build-rel/compile_commands.json"), "{ran:?}");
    assert!(sandbox.run(&["-p", "build-rel", "--verbose"]).stderr.contains("build-rel/compile_commands.json"));
    let ran = sandbox.run(&["-p", "gone"]);
    assert!(ran.code == 2 && ran.stderr.contains("-p gone: there is no compile_commands.json"), "{ran:?}");
}

#[test]
fn rules_may_be_on_for_a_part_of_the_project() {
    let sandbox = Sandbox::new(&[
        ("new/a.cu", EMPTY_GRID),
        ("old/b.cu", EMPTY_GRID),
        (
            "cudalint.toml",
            "[lint]\nignore = [\"correctness\"]\n[[override]]\npaths = [\"new/**\"]\nselect = [\"empty-grid\"]\n",
        ),
    ]);
    let ran = concise(&sandbox, &[]);
    assert!(lines(&ran).len() == 1 && lines(&ran)[0].starts_with("new/a.cu:"), "{ran:?}");
    // The command line stands above the settings.
    assert!(lines(&concise(&sandbox, &["--ignore", "empty-grid"])).is_empty());
    assert_eq!(lines(&concise(&sandbox, &["--select", "empty-grid"])).len(), 2);
}

#[test]
fn rules_and_places_are_links_where_they_are_wanted() {
    let sandbox = Sandbox::new(&[("a.cu", EMPTY_GRID)]);
    assert!(!concise(&sandbox, &[]).stdout.contains('\u{1b}'));
    let ran = concise(&sandbox, &["--hyperlinks", "always"]);
    let page = "\u{1b}]8;;https://github.com/cudalint/cudalint/blob/main/rules/correctness/empty-grid.md\u{1b}\\empty-grid\u{1b}]8;;\u{1b}\\";
    assert!(ran.stdout.contains(page) && ran.stdout.contains("\u{1b}]8;;file:///"), "{ran:?}");
    sandbox.write("cudalint.toml", b"[output]\nrules-url = \"https://docs.example.org/lint/\"\n");
    let ran = sandbox.run(&["--output-format", "json"]);
    assert!(ran.stdout.contains("\"https://docs.example.org/lint/correctness/empty-grid.md\""), "{ran:?}");
}
