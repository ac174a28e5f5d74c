//! A blind round over a made-up project and a program that reports three findings of it: drawing, the sheet, and counting.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the program answers: two findings outside error handling, one of it, and one in a folder that is left out.
const PROGRAM: &str = r#"#!/bin/sh
case "$*" in
*--version) echo "cudalint 9" ;;
*json*) cat <<'END'
{"findings": [
{"rule": "missing-bounds-guard", "confidence": "definite", "message": "thread 3 is outside", "path": "ann/sum/a.cu",
 "range": {"start": {"line": 2}}, "function": "k", "fingerprint": "aa", "related": [], "witness": {"assumptions": []}},
{"rule": "empty-grid", "confidence": "definite", "message": "no block", "path": "ann/sum/a.cu",
 "range": {"start": {"line": 4}}, "function": "main", "fingerprint": "bb", "witness": {},
 "related": [{"path": "ann/sum/a.cu", "range": {"start": {"line": 2}}, "message": "the kernel"}]},
{"rule": "unchecked-launch", "confidence": "likely", "message": "not checked", "path": "ann/sum/a.cu",
 "range": {"start": {"line": 4}}, "function": "main", "fingerprint": "cc", "related": [], "witness": {}},
{"rule": "empty-grid", "confidence": "definite", "message": "no block", "path": "ann/sum/old/b.cu",
 "range": {"start": {"line": 1}}, "function": "main", "fingerprint": "dd", "related": [], "witness": {}}
]}
END
;;
*) printf 'launches: 4\nlaunches executed with facts: 1\nlaunches executed with facts in their first block only: 2\naccesses in executed kernels: 10\naccesses in executed kernels with a known address: 5\n' ;;
esac
"#;

fn git(folder: &Path, args: &[&str]) -> String {
    let run = Command::new("git").arg("-C").arg(folder).args(args).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8(run.stdout).unwrap().trim().to_owned()
}

/// A folder with the project, its list and the program.
fn made_up() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("ann/sum");
    fs::create_dir_all(&project).unwrap();
    fs::write(
        project.join("a.cu"),
        "__global__ void k(int *p) {\n  p[3] = 1;\n}\nint main() { k<<<0, 1>>>(nullptr); }\n",
    )
    .unwrap();
    git(&project, &["init", "--quiet"]);
    git(&project, &["add", "."]);
    git(&project, &["-c", "user.name=ann", "-c", "user.email=ann@localhost", "commit", "--quiet", "--message", "all"]);
    let commit = git(&project, &["rev-parse", "HEAD"]);
    let list = format!(
        "[[project]]\nrepository = \"ann/sum\"\ncommit = \"{commit}\"\nkind = \"student\"\nround = 7\nleave-out = [\"old\"]\n\n\
         [[project]]\nrepository = \"ann/unused\"\ncommit = \"0\"\nkind = \"library\"\n"
    );
    fs::write(folder.path().join("list.toml"), list).unwrap();
    let program = folder.path().join("program");
    fs::write(&program, PROGRAM).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

/// What the chore prints; an error begins with `xtask:`.
fn blind(folder: &Path, out: &Path, verdicts: Option<&str>) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.args(["blind", "--round", "7", "--list"]).arg(folder.join("list.toml"));
    command.arg("--program").arg(folder.join("program")).arg("--out").arg(out).arg(folder);
    if let Some(verdicts) = verdicts {
        let file = folder.join("verdicts.txt");
        fs::write(&file, verdicts).unwrap();
        command.arg("--verdicts").arg(file);
    }
    let run = command.output().unwrap();
    String::from_utf8_lossy(&run.stdout).into_owned() + &String::from_utf8_lossy(&run.stderr)
}

#[test]
fn a_round_is_drawn_read_and_counted() {
    let folder = made_up();
    let out = folder.path().join("out");
    let said = blind(folder.path(), &out, None);
    assert!(said.contains("1 projects, 2 findings outside error handling, 1 of it; 3 drawn"), "{said}");
    let sheet = fs::read_to_string(out.join("sheet.md")).unwrap();
    assert!(sheet.contains("thread 3 is outside") && sheet.contains("    2   p[3] = 1;   <== here"), "{sheet}");
    assert!(sheet.contains("<== the kernel") && !sheet.contains("old/b.cu"), "{sheet}");

    let said = blind(folder.path(), &out, Some("aa right\nbb wrong the grid is not 0\n# read later\n"));
    assert!(said.contains("no verdict on cc"), "{said}");
    let said = blind(folder.path(), &out, Some("aa wrong\nbb right\ncc right\n"));
    assert!(said.contains("wrong with a cause"), "{said}");

    let said = blind(folder.path(), &out, Some("aa right\nbb wrong the grid is not 0\ncc harmless\n"));
    assert!(said.contains("definite: 1 of 2 (50 %, 9 to 91)\n"), "{said}");
    assert!(said.contains("students' code: 1 of 2"), "{said}");
    assert!(said.contains("1  the grid is not 0"), "{said}");
    assert!(said.contains("| 7 | 1, 1 students' | 2 + 1 | 1 of 2 (50 %, 9 to 91) |  | 0 of 1 (0 %, 0 to 79), 1 harmless | 25 % + 50 % of 4 | 50 % of 10 |"), "{said}");
}

#[test]
fn a_sheet_does_not_go_into_the_repository_and_a_project_is_at_its_commit() {
    let folder = made_up();
    let inside = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let said = blind(folder.path(), &inside, None);
    assert!(said.contains("is in the repository"), "{said}");
    let project = folder.path().join("ann/sum");
    git(
        &project,
        &[
            "-c",
            "user.name=ann",
            "-c",
            "user.email=ann@localhost",
            "commit",
            "--quiet",
            "--allow-empty",
            "--message",
            "more",
        ],
    );
    let said = blind(folder.path(), &folder.path().join("out"), None);
    assert!(said.contains("ann/sum is not at"), "{said}");
}
