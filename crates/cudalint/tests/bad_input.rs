//! Bad input of every kind: each has its message and its exit code.

#![allow(clippy::unwrap_used)]

mod common;

use common::{EMPTY_GRID, Ran, Sandbox};

/// The run ended with `code`, said exactly `stderr`, and did not break down.
#[track_caller]
fn told(ran: &Ran, code: i32, stderr: &str) {
    assert_eq!((ran.code, ran.stderr.as_str()), (code, stderr), "{ran:?}");
}

#[test]
fn a_file_that_is_not_there() {
    let sandbox = Sandbox::new(&[]);
    told(&sandbox.run(&["gone.cu"]), 2, "cudalint: error: gone.cu: cannot be read: no such file or folder\n");
}

#[test]
fn a_file_that_cannot_be_read_and_one_that_can() {
    let sandbox = Sandbox::new(&[("a.cu", EMPTY_GRID)]);
    let ran = sandbox.run(&["a.cu/inner.cu", "a.cu", "--output-format", "concise"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.starts_with("cudalint: error: a.cu/inner.cu: cannot be read: "), "{ran:?}");
    assert!(ran.stdout.contains("empty-grid"), "{ran:?}");
}

#[cfg(unix)]
#[test]
fn a_dangling_link() {
    let sandbox = Sandbox::new(&[("src/a.cu", "int a;\n")]);
    std::os::unix::fs::symlink("gone.cu", sandbox.path().join("src/b.cu")).unwrap();
    // In a folder it is as if the file were not there, and said.
    let ran = sandbox.run(&["src"]);
    let message = "cudalint: warning: src/b.cu: not read: dangling link: its target does not exist\n";
    assert_eq!((ran.code, ran.stderr.as_str()), (0, message), "{ran:?}");
    let message = "cudalint: error: src/b.cu: cannot be read: no such file or folder\n";
    told(&sandbox.run(&["src/b.cu"]), 2, message);
}

#[cfg(unix)]
#[test]
fn links_that_lead_to_themselves() {
    let sandbox = Sandbox::new(&[("src/a.cu", "int a;\n")]);
    let links = [("b.cu", "b.cu"), ("folder", "folder"), ("c.cu", "d.cuh"), ("d.cuh", "../src/c.cu")];
    for (link, target) in links {
        std::os::unix::fs::symlink(target, sandbox.path().join("src").join(link)).unwrap();
    }
    // There is nothing in them that anybody could miss.
    let ran = sandbox.run(&["src"]);
    let said = |file: &str| format!("cudalint: warning: src/{file}: not read: link that leads to itself\n");
    assert_eq!((ran.code, ran.stderr.clone()), (0, ["b.cu", "c.cu", "d.cuh"].map(said).concat()), "{ran:?}");
}

#[cfg(unix)]
#[test]
fn links_out_of_the_project() {
    let sandbox = Sandbox::new(&[("project/src/a.cu", EMPTY_GRID)]);
    let other = Sandbox::new(&[("b.cu", EMPTY_GRID)]);
    let project = sandbox.path().join("project");
    std::os::unix::fs::symlink(other.path().join("b.cu"), project.join("src/link.cu")).unwrap();
    std::os::unix::fs::symlink("/", project.join("src/folder")).unwrap();
    std::os::unix::fs::symlink("src", project.join("inside")).unwrap();
    let ran = sandbox.run(&["project", "--output-format", "concise"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    for link in ["src/link.cu", "src/folder"] {
        let message = format!("project/{link}: not read: this link leads out of the project");
        assert!(ran.stderr.contains(&message), "{ran:?}");
    }
    assert!(ran.stdout.contains("a.cu:4:") && !ran.stdout.contains("link.cu:4:"), "{ran:?}");
    // Who names it means it.
    let ran = sandbox.run(&["project/src/link.cu", "--output-format", "concise"]);
    assert!(ran.stdout.contains("project/src/link.cu:4:"), "{ran:?}");
}

/// What a header out of the project says is not asked for: its constant would make the grid empty.
#[test]
fn includes_out_of_the_project() {
    let source = "__global__ void k() {}\nint main() {\n    k<<<COUNT, 32>>>();\n}\n";
    let includes = |path: &str| format!("#include \"{path}\"\n{source}");
    let sandbox = Sandbox::new(&[
        ("outer.h", "#define COUNT 0\n"),
        ("project/cudalint.toml", ""),
        ("project/include/count.h", "#define COUNT 0\n"),
        ("project/src/inside.cu", &includes("../include/count.h")),
        ("project/src/outside.cu", &includes("../../outer.h")),
        ("loose/near/src/inside.cu", &includes("../include/count.h")),
        ("loose/near/include/count.h", "#define COUNT 0\n"),
        ("loose/near/src/outside.cu", &includes("../../../outer.h")),
    ]);
    std::fs::remove_dir(sandbox.path().join(".git")).unwrap();
    for folder in ["project", "loose/near"] {
        let ran = sandbox.run(&[folder, "--output-format", "concise"]);
        assert!(ran.stdout.contains("inside.cu:4:9:"), "{ran:?}");
        assert!(!ran.stdout.contains("outside.cu:4:9:"), "{ran:?}");
        let path = format!("{folder}/src/outside.cu");
        let message = format!("{path}: an `#include` of `outer.h` is not followed: it leads out of the project");
        assert!(ran.stderr.contains(&message), "{ran:?}");
        assert!(!ran.stderr.contains("inside.cu"), "{ran:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_directory_loop() {
    let sandbox = Sandbox::new(&[("src/deep/a.cu", EMPTY_GRID)]);
    std::os::unix::fs::symlink("../../src", sandbox.path().join("src/deep/loop")).unwrap();
    let ran = sandbox.run(&["src", "--output-format", "concise"]);
    told(&ran, 1, "cudalint: warning: src/deep/loop: not read: directory loop: this link leads back to src\n");
    assert!(ran.stdout.contains("src/deep/a.cu:4:"), "{ran:?}");
}

#[test]
fn bytes_that_are_not_utf_8_are_linted_all_the_same() {
    let sandbox = Sandbox::new(&[]);
    let mut bytes = b"// caf\xe9\n".to_vec();
    bytes.extend_from_slice(EMPTY_GRID.as_bytes());
    sandbox.write("a.cu", &bytes);
    let ran = sandbox.run(&["a.cu", "--output-format", "concise"]);
    told(&ran, 1, "cudalint: note: a.cu: bytes that are not UTF-8 are read as `?`\n");
    assert!(ran.stdout.contains("a.cu:5:"), "{ran:?}");
}

#[test]
fn a_binary_file() {
    let sandbox = Sandbox::new(&[]);
    sandbox.write("src/a.cu", b"int a;\0\n");
    told(&sandbox.run(&["src/a.cu"]), 2, "cudalint: error: src/a.cu: binary file: NUL byte at offset 6\n");
    told(&sandbox.run(&["src"]), 0, "cudalint: warning: src/a.cu: not linted: binary file: NUL byte at offset 6\n");
}

#[test]
fn utf_16() {
    let sandbox = Sandbox::new(&[]);
    sandbox.write("a.cu", b"\xff\xfei\0n\0t\0");
    let message = "cudalint: error: a.cu: UTF-16 text is not supported; convert the file to UTF-8\n";
    told(&sandbox.run(&["a.cu"]), 2, message);
}

#[test]
fn a_file_of_another_kind() {
    let sandbox = Sandbox::new(&[("a.rs", "fn main() {}\n")]);
    let ran = sandbox.run(&["a.rs"]);
    told(
        &ran,
        2,
        "cudalint: error: a.rs: not linted: cudalint reads CUDA C++, C and C++ sources and headers, Python, notebooks and Markdown\n",
    );
}

#[test]
fn nesting_without_end() {
    let sandbox = Sandbox::new(&[]);
    let deep = format!("__global__ void k() {{ int a = {}1{}; }}\n", "(".repeat(20_000), ")".repeat(20_000));
    sandbox.write("a.cu", deep.as_bytes());
    let blocks = format!("void f() {}{}\n", "{".repeat(20_000), "}".repeat(20_000));
    sandbox.write("b.cu", blocks.as_bytes());
    assert_eq!(sandbox.run(&["."]).code, 0);
}

#[test]
fn lines_that_end_with_a_carriage_return_alone() {
    let text = format!("// a comment in front\n{EMPTY_GRID}");
    let sandbox = Sandbox::new(&[("a.cu", &text.replace('\n', "\r")), ("b.cu", &text)]);
    let said = |name: &str| {
        let ran = sandbox.run(&[name, "--output-format", "concise"]);
        assert_eq!(ran.code, 1, "{ran:?}");
        ran.stdout.replace(name, "")
    };
    assert!(said("a.cu").contains(":5:"), "{}", said("a.cu"));
    assert_eq!(said("a.cu"), said("b.cu"));
}

#[cfg(unix)]
#[test]
fn a_pipe_that_is_called_as_an_ignore_file_is_not_waited_for() {
    let sandbox = Sandbox::new(&[("a.cu", EMPTY_GRID), ("inner/b.cu", EMPTY_GRID)]);
    let pipe = sandbox.path().join("inner/.gitignore");
    assert!(std::process::Command::new("mkfifo").arg(pipe).status().unwrap().success());
    let ran = sandbox.run(&[".", "--output-format", "concise"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stdout.contains("a.cu:4:") && !ran.stdout.contains("b.cu"), "{ran:?}");
    assert!(ran.stderr.contains("inner: not looked at: its `.gitignore` is no regular file"), "{ran:?}");
}

#[test]
fn an_unknown_option() {
    let ran = Sandbox::new(&[]).run(&["--selct", "all"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.starts_with("error: unexpected argument '--selct' found\n"), "{ran:?}");
    assert!(ran.stderr.contains("'--select'"), "{ran:?}");
}

#[test]
fn an_unknown_format() {
    let ran = Sandbox::new(&[]).run(&["--output-format", "jsn"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.starts_with("error: invalid value 'jsn' for '--output-format <FORMAT>'\n"), "{ran:?}");
    assert!(ran.stderr.contains("'json'"), "{ran:?}");
}

#[test]
fn an_unknown_rule() {
    let sandbox = Sandbox::new(&[]);
    let message = "cudalint: error: there is no rule or group `empty-gird`; did you mean `empty-grid`?\n";
    told(&sandbox.run(&["--select", "empty-gird"]), 2, message);
    told(&sandbox.run(&["--ignore", "empty-gird"]), 2, message);
    told(&sandbox.run(&["--error", "empty-gird"]), 2, message);
    let message = "cudalint: error: there is no rule `empty-gird`; did you mean `empty-grid`?\n";
    told(&sandbox.run(&["explain", "empty-gird"]), 2, message);
}

#[test]
fn an_unknown_architecture() {
    let message = "cudalint: error: `volta` is not an architecture; write it as `sm_80`\n";
    told(&Sandbox::new(&[]).run(&["--arch", "sm_80,volta"]), 2, message);
}

#[test]
fn settings_with_an_unknown_rule() {
    let sandbox =
        Sandbox::new(&[("cudalint.toml", "[lint]\nignore = [\n  \"empty-gird\",\n]\n"), ("a.cu", EMPTY_GRID)]);
    let message = "cudalint: error: cudalint.toml:3: `lint.ignore`: there is no rule or group `empty-gird`; did you mean `empty-grid`?\n";
    told(&sandbox.run(&["a.cu"]), 2, message);
    assert_eq!(sandbox.run(&["--isolated", "a.cu"]).code, 1);
}

#[test]
fn settings_with_a_wrong_type() {
    let sandbox = Sandbox::new(&[("cudalint.toml", "arch = \"sm_80\"\n"), ("a.cu", EMPTY_GRID)]);
    let message = "cudalint: error: cudalint.toml:1: `arch`: invalid type: string \"sm_80\", expected a list\n";
    told(&sandbox.run(&["a.cu"]), 2, message);
}

#[test]
fn settings_with_an_unknown_key() {
    let sandbox = Sandbox::new(&[("pyproject.toml", "[tool.cudalint.lint]\nselct = []\n"), ("a.cu", EMPTY_GRID)]);
    let message =
        "cudalint: error: pyproject.toml:2: `tool.cudalint.lint.selct`: unknown key; did you mean `select`?\n";
    told(&sandbox.run(&["a.cu"]), 2, message);
}

#[test]
fn settings_that_are_no_toml() {
    let sandbox = Sandbox::new(&[("other.toml", "a = = 1\n"), ("a.cu", EMPTY_GRID)]);
    let ran = sandbox.run(&["--config", "other.toml", "a.cu"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.starts_with("cudalint: error: other.toml:1: not TOML: "), "{ran:?}");
    let ran = sandbox.run(&["--config", "gone.toml", "a.cu"]);
    assert!(ran.code == 2 && ran.stderr.starts_with("cudalint: error: gone.toml:1: cannot be read: "), "{ran:?}");
}

#[test]
fn standard_input_with_other_paths() {
    let message = "cudalint: error: standard input is linted alone: give no other paths with it\n";
    told(&Sandbox::new(&[]).run(&["-", "a.cu"]), 2, message);
}

#[test]
fn an_output_file_that_cannot_be_written() {
    let sandbox = Sandbox::new(&[("a.cu", "int a;\n")]);
    let ran = sandbox.run(&["a.cu", "--output-file", "no/such/folder.json"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("--output-file no/such/folder.json: cannot be written: "), "{ran:?}");
}
