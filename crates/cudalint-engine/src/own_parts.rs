//! Whether the libraries that builds make are parts of the project's own programs and nothing else: static ones, which nobody installs, in
//! a project that makes programs which are no tests, examples or measurements. What such a library offers and no program calls is dead.

use std::path::Path;

/// What the builds of a project say of that.
#[derive(Clone, Copy, Default)]
pub(crate) struct OwnParts {
    /// A library may be meant for others.
    for_others: bool,
    /// A program is made.
    program: bool,
}

impl OwnParts {
    /// Whether all libraries are parts of programs.
    pub fn are_all(self) -> bool {
        self.program && !self.for_others
    }

    /// Takes in the text of a build file of a folder, without its comments. `makes_library`: it makes a library, or may.
    pub fn add(&mut self, folder: &Path, text: &str, makes_library: bool) {
        let of_cmake = commands(text, "project").next().is_some()
            || commands(text, "add_library").chain(commands(text, "add_executable")).next().is_some();
        let is_aside = folder.iter().any(|part| part.to_str().is_some_and(|part| is_aside(part)));
        self.program |= !is_aside && if of_cmake { makes_program(text) } else { links_program(text) };
        self.for_others |= makes_library && if of_cmake { is_for_others(text) } else { !links_program(text) };
    }
}

/// Whether a name is that of a test, an example or a measurement, which a library has, too.
fn is_aside(name: &str) -> bool {
    const WORDS: [&str; 7] = ["bench", "demo", "example", "sample", "test", "tutorial", "unit"];
    let lower = name.to_ascii_lowercase();
    WORDS.iter().any(|word| lower.contains(word))
}

/// What stands in the brackets of each use of a command of `CMake`.
fn commands<'t>(text: &'t str, name: &'static str) -> impl Iterator<Item = &'t str> {
    let begins = |at: usize| !text[..at].ends_with(|before: char| before.is_ascii_alphanumeric() || before == '_');
    let found = text.match_indices(name).filter(move |(at, _)| begins(*at));
    found.filter_map(|(at, name)| text[at + name.len()..].trim_start().strip_prefix('(')?.split(')').next())
}

/// Whether a file of `CMake` makes a program.
fn makes_program(text: &str) -> bool {
    let made = commands(text, "add_executable").chain(commands(text, "cuda_add_executable"));
    made.into_iter().any(|inside| inside.split_whitespace().next().is_some_and(|name| !is_aside(name)))
}

/// Whether a file of `CMake` makes libraries that are found without their project: shared ones, modules, headers, installed ones; or says
/// that it is a library itself.
fn is_for_others(text: &str) -> bool {
    const KINDS: [&str; 6] = ["SHARED", "MODULE", "INTERFACE", "ALIAS", "BUILD_SHARED_LIBS", "pybind11"];
    let named = commands(text, "project").any(|inside| inside.to_ascii_lowercase().contains("lib"));
    named
        || ["install", "export", "include"].iter().any(|name| commands(text, name).next().is_some())
        || KINDS.iter().any(|kind| text.contains(kind))
}

/// Whether the first thing that a makefile makes is a program, for which its archives are put together, and it installs nothing.
fn links_program(text: &str) -> bool {
    let of_others = ["-shared", "install", "setup(", "-fPIC", "-fpic", " -lib "].iter().any(|mark| text.contains(mark));
    let is_rule = |line: &&str| {
        let target = line.split(':').next().unwrap_or("");
        line.contains(':')
            && !line.contains(":=")
            && !line.contains("::=")
            && !line.starts_with(['\t', ' ', '.', '#'])
            && !target.contains(['=', '%'])
    };
    let rules: Vec<&str> = text.lines().filter(is_rule).collect();
    let all = rules.iter().find(|line| line.split(':').next().is_some_and(|name| name.trim() == "all"));
    let Some(first) = all.or(rules.first()) else { return false };
    let goals =
        first.split_once(':').map_or("", |(target, needed)| if target.trim() == "all" { needed } else { target });
    let is_archive = |word: &str| word.contains(".a") || word.to_ascii_lowercase().contains("lib");
    !of_others && !goals.trim().is_empty() && goals.split_whitespace().all(|word| !is_archive(word) && !is_aside(word))
}

#[cfg(test)]
mod tests {
    use super::OwnParts;
    use std::path::Path;

    fn are_all(builds: &[(&str, &str, bool)]) -> bool {
        let mut parts = OwnParts::default();
        for (folder, text, makes_library) in builds {
            parts.add(Path::new(folder), text, *makes_library);
        }
        parts.are_all()
    }

    #[test]
    fn static_libraries_of_a_program_of_cmake() {
        let root = "project(solver)\nadd_subdirectory(core)\nadd_executable(solver main.cu)\n";
        let core = "add_library(core STATIC core.cu)\n";
        assert!(are_all(&[("", root, false), ("core", core, true)]));
        let shared = "add_library(core SHARED core.cu)\n";
        assert!(!are_all(&[("", root, false), ("core", shared, true)]));
        let installed = "add_library(core core.cu)\ninstall(TARGETS core DESTINATION lib)\n";
        assert!(!are_all(&[("", root, false), ("core", installed, true)]));
    }

    #[test]
    fn a_library_has_programs_that_test_it() {
        let tested = "project(sorting)\nadd_library(sorting sort.cu)\nadd_executable(test_sort main.cu)\n";
        assert!(!are_all(&[("", tested, true)]));
        assert!(!are_all(&[("", "project(all)\nadd_library(all a.cu)\n", true)]));
        let named = "project(libsort)\nadd_library(sorting sort.cu)\nadd_executable(sorter main.cu)\n";
        assert!(!are_all(&[("", named, true)]));
    }

    #[test]
    fn archives_of_a_makefile() {
        let text = "PARTS = libparts.a\nall: $(TARGET)\n$(TARGET): a.o $(PARTS)\n\tg++ -o $@ $^\n$(PARTS): b.o\n\tar rcs $@ $^\n";
        assert!(are_all(&[("", text, true)]));
        assert!(!are_all(&[("", &text.replace("all: $(TARGET)", "all: $(PARTS)").replace("PARTS", "LIBRARY"), true)]));
        assert!(!are_all(&[("", &format!("{text}install: all\n\tcp $(PARTS) /usr/lib\n"), true)]));
    }
}
