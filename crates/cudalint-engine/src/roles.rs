//! What texts beside the sources of C and C++ are for, by the names of their files.

use std::path::Path;

/// Endings of files that are compiled by themselves.
pub(crate) const COMPILED: [&str; 7] = [".cu", ".c", ".cc", ".cpp", ".cxx", ".c++", ".hip"];

/// What a text is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    /// It says what is built.
    Build,
    /// A script, or settings of one: it may build, run or load something.
    Script,
    /// Words for people.
    Document,
    /// A program in another language, or a part of one in C++ that is no file of its own.
    Foreign,
    /// C or C++ without GPU code.
    Quiet,
}

/// What a file is for, by its name; nothing for one that is no text that names anything.
pub(crate) fn role(path: &Path) -> Option<Role> {
    const BUILDS: [&str; 22] = [
        "cmake", "mk", "mak", "make", "am", "ac", "m4", "bzl", "bazel", "gn", "gyp", "gypi", "vcxproj", "filters",
        "props", "targets", "sln", "pro", "pri", "ninja", "pbxproj", "qbs",
    ];
    const SCRIPTS: [&str; 20] = [
        "sh", "bash", "zsh", "csh", "bat", "cmd", "ps1", "py", "ipynb", "yml", "yaml", "toml", "json", "cfg", "ini",
        "in", "lua", "pl", "rb", "nix",
    ];
    const FOREIGN: [&str; 36] = [
        "pyx", "pxd", "pyi", "i", "swg", "f", "for", "f90", "f95", "f03", "f08", "java", "kt", "cs", "rs", "go", "jl",
        "m", "mm", "r", "inl", "ipp", "tpp", "txx", "ixx", "inc", "def", "map", "swift", "cl", "zig", "nim", "hs",
        "ml", "scala", "ex",
    ];
    const NAMES: [&str; 10] = [
        "makefile",
        "build",
        "workspace",
        "sconstruct",
        "sconscript",
        "jamfile",
        "jamroot",
        "wscript",
        "make.",
        "cmakelists",
    ];
    let name = path.file_name()?.to_str()?.to_ascii_lowercase();
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_document = ["md", "rst", "tex", "adoc"].contains(&ending);
    let is_build = NAMES.iter().any(|start| name.starts_with(start))
        || name.contains("makefile")
        || !name.contains('.') && ["compile", "make"].iter().any(|start| name.starts_with(start))
        || ["meson.build", "setup.py", "build.rs", "compile_commands.json", "xmake.lua", "premake5.lua"]
            .contains(&&*name)
        || name.starts_with("configure");
    if is_build && !is_document || BUILDS.contains(&ending) {
        Some(Role::Build)
    } else if SCRIPTS.contains(&ending) || name.contains("dockerfile") {
        Some(Role::Script)
    } else if is_document || ending == "txt" || name.starts_with("readme") {
        Some(Role::Document)
    } else {
        FOREIGN.contains(&ending).then_some(Role::Foreign)
    }
}

#[cfg(test)]
mod tests {
    use super::{Role, role};
    use std::path::Path;

    #[test]
    fn files_are_for_something_by_their_names() {
        for (name, expected) in [
            ("CMakeLists.txt", Some(Role::Build)),
            ("Makefile.in", Some(Role::Build)),
            ("makeOld", Some(Role::Build)),
            ("compileAll", Some(Role::Build)),
            ("BUILD.md", Some(Role::Document)),
            ("run.sh", Some(Role::Script)),
            ("README.md", Some(Role::Document)),
            ("solver.F90", Some(Role::Foreign)),
            ("image.png", None),
        ] {
            assert_eq!(role(Path::new(name)), expected, "{name}");
        }
    }
}
