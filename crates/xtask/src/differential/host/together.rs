//! Several programs built as one, each in a namespace of its own: to read the compiled headers takes the compiler longer than to
//! build a program. Each is run in a process of its own.

use super::language::for_host;
use crate::differential::compiler;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Programs in one source: with more of them not much is saved.
pub const TOGETHER: usize = 25;

/// What each of the programs prints; `None` of one that does not run, and of all where they do not build together: whoever asks builds
/// these by themselves. `name` is that of the files, without an ending.
pub fn run(build: Command, folder: &Path, name: &str, programs: &[&str]) -> Vec<Option<String>> {
    let file = folder.join(format!("{name}.cpp"));
    let binary = folder.join(format!("{name}.bin"));
    let is_built = fs::write(&file, source(programs)).is_ok() && compiler::build(build, &file, &binary).is_ok();
    let printed = (0..programs.len())
        .map(|number| is_built.then(|| compiler::start(&file, &binary, Some(number)).ok()).flatten())
        .collect();
    for path in [file, binary] {
        let _ = fs::remove_file(path);
    }
    printed
}

/// The source: its first argument chooses which of the programs runs, and each has the numbers of its own lines and no macro of
/// another.
fn source(programs: &[&str]) -> String {
    let mut source = String::new();
    let mut cases = String::new();
    for (number, program) in programs.iter().enumerate() {
        let _ = writeln!(source, "namespace program{number} {{\n#line 1\n{}}}", for_host(program));
        let _ = writeln!(cases, "    case {number}: return program{number}::main(argc - 1, argv + 1);");
        for name in macros(program) {
            let _ = writeln!(source, "#undef {name}");
        }
    }
    let choice = "const int number = std::atoi(argv[1]);\n    argv[1] = argv[0];\n    switch (number) {";
    let _ = writeln!(source, "int main(int argc, char **argv) {{\n    {choice}\n{cases}    }}\n    return 1;\n}}");
    source
}

/// Names of the macros that a program defines.
fn macros(program: &str) -> BTreeSet<&str> {
    let defined = program.lines().filter_map(|line| line.trim_start().strip_prefix("#define "));
    defined.filter_map(|rest| rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next()).collect()
}
