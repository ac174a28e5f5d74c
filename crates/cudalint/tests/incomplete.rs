//! What is not read or not analysed as a whole is said on standard error and marked in every format, and ends no run. What
//! files are called reaches no terminal and no log raw, and starts nothing.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod common;

use common::{EMPTY_GRID, Sandbox, finished};
use cudalint_findings::format::Format;
use std::process::Command;

/// The run finds what it finds, says why `path` is incomplete, and marks it in every format.
#[track_caller]
fn marked(sandbox: &Sandbox, path: &str, reason: &str) {
    for format in Format::names() {
        let ran = sandbox.run(&[".", "--output-format", format]);
        assert_eq!(ran.code, 1, "{format}: {ran:?}");
        assert!(ran.stderr.contains(&format!("cudalint: warning: {path}: {reason}")), "{format}: {ran:?}");
        assert!(ran.stdout.contains(reason) && ran.stdout.contains("incomplete"), "{format}: {ran:?}");
    }
    let ran = sandbox.run(&[".", "--output-format", "json"]);
    let document: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(document["files"]["incomplete"], 1);
    assert_eq!(document["incomplete"][0]["path"], path);
}

#[test]
fn a_file_that_nests_too_deep() {
    let deep = format!("__global__ void k() {{ int a = {}1{}; }}\n", "(".repeat(2_000), ")".repeat(2_000));
    let sandbox = Sandbox::new(&[("a.cu", EMPTY_GRID), ("deep.cu", &deep)]);
    marked(&sandbox, "deep.cu", "not analysed: brackets nest deeper than 1000");
}

#[test]
fn a_compile_commands_json_that_is_none() {
    let sandbox = Sandbox::new(&[("a.cu", EMPTY_GRID), ("compile_commands.json", "{")]);
    marked(&sandbox, "compile_commands.json", "no list of commands, nothing of it is used");
}

#[test]
fn a_compile_commands_json_that_is_partly_wrong() {
    let commands = r#"[{"directory": 3}, {"directory": "/", "arguments": ["nvcc", "-DN=1", "a.cu"]}]"#;
    let sandbox = Sandbox::new(&[("a.cu", EMPTY_GRID), ("compile_commands.json", commands)]);
    marked(&sandbox, "compile_commands.json", "1 of 2 commands are not used");
}

#[test]
fn a_pyproject_of_others_that_does_not_parse() {
    let sandbox = Sandbox::new(&[("a.cu", EMPTY_GRID), ("pyproject.toml", "[project\n")]);
    marked(&sandbox, "pyproject.toml", "line 1: not TOML");
}

#[test]
fn a_header_that_is_too_large() {
    let user = EMPTY_GRID.replace("<cuda_runtime.h>", "\"large.h\"");
    let sandbox = Sandbox::new(&[("src/a.cu", &user), (".gitignore", "large.h\n")]);
    let large = std::fs::File::create(sandbox.path().join("src/large.h")).unwrap();
    large.set_len(100_000_001).unwrap();
    marked(&sandbox, "src/large.h", "not read: cannot be read: file of 100000001 bytes");
}

#[test]
fn pipes_and_made_up_files_are_not_waited_for() {
    let sandbox = Sandbox::new(&[("a.cu", EMPTY_GRID)]);
    assert!(Command::new("mkfifo").arg(sandbox.path().join("b.cu")).status().unwrap().success());
    assert!(Command::new("mkfifo").arg(sandbox.path().join("compile_commands.json")).status().unwrap().success());
    std::os::unix::fs::symlink("/proc/self/environ", sandbox.path().join("c.cu")).unwrap();
    let ran = sandbox.run(&["a.cu", "b.cu", "c.cu", "--output-format", "concise"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    for path in ["b.cu", "c.cu"] {
        assert!(ran.stderr.contains(&format!("{path}: cannot be read: not a regular file")), "{ran:?}");
    }
    assert!(ran.stderr.contains("warning: compile_commands.json: cannot be read: not a regular file"), "{ran:?}");
    assert!(ran.stdout.contains("a.cu:4:"), "{ran:?}");
}

#[test]
fn names_reach_no_terminal_and_no_log_raw() {
    let names = ["::error::gone.cu", "\u{1b}[31mred\u{202e}.cu", "a\n::error::b.cu", "##[error]c.cu", "-d.cu"];
    let files: Vec<(&str, &str)> = names.iter().map(|name| (*name, EMPTY_GRID)).collect();
    let sandbox = Sandbox::new(&files);
    for format in Format::names() {
        let ran = sandbox.run(&[".", "--output-format", format]);
        assert_eq!(ran.code, 1, "{format}: {ran:?}");
        let commands = ran.stdout.lines().filter(|line| line.trim_start().starts_with("::")).count();
        // Those of the format itself: one a finding.
        assert_eq!(commands, if format == "github" { names.len() } else { 0 }, "{format}: {}", ran.stdout);
        for raw in ["\u{1b}", "\u{202e}", "##["] {
            assert!(!ran.stdout.contains(raw) && !ran.stderr.contains(raw), "{format}: {raw:?}: {}", ran.stdout);
        }
    }
    let ran = sandbox.run(&["\u{1b}[31m\n::error::gone"]);
    assert_eq!(ran.code, 2);
    assert!(!ran.stderr.contains('\u{1b}') && ran.stderr.lines().count() == 1, "{ran:?}");
    let ran = sandbox.run(&["--\u{1b}[31m\n::error::option"]);
    assert_eq!(ran.code, 2);
    assert!(!ran.stderr.contains('\u{1b}') && !ran.stderr.contains("\n::"), "{ran:?}");
}

#[test]
fn a_file_called_as_a_subcommand_starts_nothing() {
    for word in ["verify", "doctor", "rules"] {
        let sandbox = Sandbox::new(&[(&format!("{word}/a.cu"), EMPTY_GRID), ("zoo.cu", "int a;\n")]);
        let ran = sandbox.run(&[word, "zoo.cu"]);
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.stderr.contains(&format!("note: `{word}` is taken for the file in this folder")), "{ran:?}");
        assert!(ran.stdout.contains(&format!("{word}/a.cu:4:")), "{ran:?}");
    }
}

#[test]
fn hidden_words_are_words_for_who_is_no_child() {
    let sandbox = Sandbox::new(&[("a.cu", EMPTY_GRID), ("__launch", "x\n")]);
    for word in ["__launch", "__probe", "__kernel"] {
        let ran = finished(&mut sandbox.command(&[word, "a.cu"]));
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.stdout.contains("a.cu:4:"), "{ran:?}");
    }
}
