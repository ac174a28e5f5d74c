//! What patterns of build files mean: `src/*.cu`, `$(DIR)/%.cu`, `conv_${size}.cu`.

use crate::others::Other;
use crate::roles::{COMPILED, Role};
use std::path::Path;

/// Words of build files that stand for many files.
#[derive(Default)]
pub(crate) struct Patterns<'t> {
    /// Of names with stars: the folder of the build file, the way from there, the name, and whether folders below are meant.
    stars: Vec<(&'t Path, String, String, bool)>,
    /// Names with parts that something else fills in: `conv_${size}.cu`.
    composed: Vec<String>,
    /// Something lists folders in a way that is not followed.
    any: bool,
}

impl<'t> Patterns<'t> {
    pub fn of(texts: &'t [Other]) -> Self {
        const LISTING: [&str; 3] = ["aux_source_directory", "AUX_SOURCE_DIRECTORY", "shell ls"];
        // Scripts list folders for many reasons; who looks for sources looks at the endings of names.
        const WALKING: [&str; 4] = ["listdir", "os.walk", "iterdir", "scandir"];
        const ENDINGS: [&str; 5] = ["endswith", "suffix", "splitext", "fnmatch", "glob"];
        let has = |text: &Other, words: &[&str]| words.iter().any(|word| text.text.contains(word));
        let lists = |text: &Other| has(text, &LISTING) || has(text, &WALKING) && has(text, &ENDINGS);
        let finds = |line: &str| {
            let mut named = line.split("-name").skip(1).map(|rest| {
                let word = rest.split_whitespace().next().unwrap_or("");
                word.trim_matches(|letter: char| "\"'`\\);,".contains(letter))
            });
            line.contains("find ") && named.any(may_be_source)
        };
        let mut all = Patterns::default();
        for text in texts {
            if matches!(text.role, Role::Foreign | Role::Quiet) || finds_library(text) || packs_only(text) {
                continue;
            }
            let builds = text.role != Role::Document;
            all.any |= builds && text.text.lines().any(finds);
            all.any |= text.role == Role::Build && lists(text);
            let deep = ["RECURSE", "rglob", "**", "recursive"].iter().any(|word| text.text.contains(word));
            let split = |letter: char| letter.is_whitespace() || "\"'`;,|".contains(letter);
            let kept = text.text.lines().filter(|line| !compiles_nothing(line));
            for word in kept.flat_map(|line| line.split(split)).filter(|word| word.contains(['*', '$', '{', '%', '@']))
            {
                let plain = filled(word);
                for word in plain.split(['(', ')', '=', ':', '<', '>', '[', ']']) {
                    let (way, name) = word.rsplit_once('/').unwrap_or(("", word));
                    let known = word.contains('.') || word.contains('/');
                    if name.contains('*') && known && !way.contains('?') {
                        all.stars.push((text.folder(), way.to_owned(), name.to_owned(), deep));
                    } else if name.contains('*') && known {
                        all.stars.push((Path::new(""), way.to_owned(), name.to_owned(), true));
                    } else if name.contains('?') && builds && COMPILED.iter().any(|ending| name.ends_with(ending)) {
                        all.composed.push(name.to_owned());
                    }
                }
            }
        }
        // Long build files repeat themselves, and each file of the project is held against all of them.
        all.stars.sort();
        all.stars.dedup();
        all
    }

    /// Whether a pattern may mean a file of a folder.
    pub fn cover(&self, folder: &Path, name: &str) -> bool {
        self.any || self.cover_by(folder, name, |_| true)
    }

    /// Whether a pattern whose way is spelled out means a file of a folder.
    pub fn cover_by_name(&self, folder: &Path, name: &str) -> bool {
        self.any || self.cover_by(folder, name, |way| !way.contains('?'))
    }

    fn cover_by(&self, folder: &Path, name: &str, counts: impl Fn(&str) -> bool) -> bool {
        let stars = self.stars.iter().filter(|(_, way, pattern, _)| counts(way) && matches(pattern, name));
        stars.into_iter().any(|(from, way, _, deep)| {
            let literal = way.rsplit('?').next().unwrap_or("").trim_matches(['/', '.']);
            let literal = literal.split("**").next().unwrap_or("").trim_matches('/');
            let ends_in = |literal: &str, above: &Path| above.ends_with(literal) && above.starts_with(from);
            let behind_star = literal.rsplit_once("*/").map_or("", |(_, last)| last);
            let there = if !behind_star.is_empty() && !behind_star.contains('*') {
                folder.ancestors().any(|above| ends_in(behind_star, above))
            } else if literal.is_empty() || literal.contains('*') {
                folder.starts_with(from)
            } else {
                let ends = |above: &Path| ends_in(literal, above);
                if *deep { folder.ancestors().any(ends) } else { ends(folder) }
            };
            // From where `..` leads is not followed.
            let there = there && (*deep || way.contains('?') || !literal.is_empty() || folder == *from);
            there || way.contains("..")
        })
    }

    /// Whether a name may be one of those that are put together.
    pub fn compose(&self, name: &str) -> bool {
        self.composed.iter().any(|pattern| {
            let stem = pattern.rsplit_once('.').map_or("", |(stem, _)| stem);
            // Of `${name}.cu` the names stand elsewhere.
            stem != "?" && matches(pattern, name)
        })
    }
}

/// Whether a line of a makefile takes files away, packs or copies them, or only reads them.
fn compiles_nothing(line: &str) -> bool {
    const COMMANDS: [&str; 14] = [
        "rm ",
        "$(RM) ",
        "${RM} ",
        "del ",
        "makedepend ",
        "tar ",
        "zip ",
        "cp ",
        "scp ",
        "rsync ",
        "wc ",
        "git ",
        "ctags ",
        "clang-format ",
    ];
    const ARCHIVES: [&str; 4] = [".zip", ".tar", ".gz", ".tgz"];
    let command = line.trim_start_matches(|letter: char| letter.is_whitespace() || "-@".contains(letter));
    let target = line.split(':').next().unwrap_or("").trim_end();
    COMMANDS.iter().any(|start| command.starts_with(start))
        || line.contains(':') && ARCHIVES.iter().any(|ending| target.ends_with(ending))
}

/// A word with `?` for each variable in it: `${X}`, `$(X)`, `$X`, `{x}`, `%`, `@X@`; those for the build file's own folder are left out.
fn filled(word: &str) -> String {
    const HERE: [&str; 5] =
        ["{CMAKE_CURRENT_SOURCE_DIR}/", "{CMAKE_CURRENT_LIST_DIR}/", "(CURDIR)/", "(PWD)/", "(srcdir)/"];
    let mut out = String::with_capacity(word.len());
    let mut letters = word.chars();
    while let Some(letter) = letters.next() {
        let rest = letters.as_str();
        if letter == '$'
            && let Some(behind) = HERE.iter().find_map(|here| rest.strip_prefix(here))
        {
            letters = behind.chars();
            continue;
        }
        match letter {
            '$' | '{' | '@' => {
                let end = match (letter, rest.bytes().next()) {
                    ('$', Some(b'{')) | ('{', _) => Some('}'),
                    ('$', Some(b'(')) => Some(')'),
                    ('@', _) => Some('@'),
                    _ => None,
                };
                match end {
                    Some(end) => while letters.next().is_some_and(|letter| letter != end) {},
                    None => {
                        letters = rest.trim_start_matches(|it: char| it.is_ascii_alphanumeric() || it == '_').chars();
                    }
                }
                out.push('?');
            }
            '%' => {
                letters = rest.strip_prefix(['s', 'd']).unwrap_or(rest).chars();
                out.push('?');
            }
            letter => out.push(letter),
        }
    }
    out
}

/// Whether a name matches a pattern in which `*` and `?` stand for any letters, also none.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split(['*', '?']);
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// Whether a text is a module of `CMake`'s `find_package`: what that looks for has been built.
fn finds_library(text: &Other) -> bool {
    let name = text.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.starts_with("Find") && text.path.extension().is_some_and(|ending| ending == "cmake")
}

/// Whether a pattern for names may mean sources, by its ending: `*.cu`, `*.c*`, `kernel*`, and not `*.so.*`.
fn may_be_source(pattern: &str) -> bool {
    if pattern.contains('$') {
        return true;
    }
    let Some((_, ending)) = pattern.split_once('.') else { return pattern.contains('*') };
    let mut all = COMPILED.iter().map(|ending| ending.trim_start_matches('.'));
    match ending.split_once('*') {
        Some((first, _)) => all.any(|compiled| compiled.starts_with(first)),
        None => all.any(|compiled| compiled == ending),
    }
}

/// Whether a text says what a package of Python takes along: that is built by nobody for it.
fn packs_only(text: &Other) -> bool {
    text.path.file_name().is_some_and(|name| name == "MANIFEST.in")
}

#[cfg(test)]
mod tests {
    use super::{Patterns, filled, matches};
    use crate::others::Other;
    use crate::roles::Role;
    use std::path::Path;

    #[test]
    fn patterns_of_builds_cover_what_they_may_match() {
        let covers = |text: &str, folder: &str, name: &str| {
            let texts = [Other::new("/p/CMakeLists.txt".into(), Role::Build, text.to_owned())];
            Patterns::of(&texts).cover(Path::new(folder), name)
        };
        assert!(covers("file(GLOB SOURCES *.cu)", "/p", "a.cu"));
        assert!(!covers("file(GLOB SOURCES *.cu)", "/p/old", "a.cu"));
        assert!(covers("file(GLOB_RECURSE SOURCES *.cu)", "/p/old", "a.cu"));
        assert!(covers("file(GLOB SOURCES \"src/*.c*\")", "/p/src", "a.cu"));
        assert!(!covers("file(GLOB SOURCES \"src/*.cu\")", "/p/old", "a.cu"));
        assert!(covers("SRC = $(wildcard $(DIR)/*.cu)", "/p/anywhere", "a.cu"));
        assert!(covers("SRC = $(shell find . -name '*.cu')", "/p/anywhere", "a.cu"));
        assert!(covers("SRC = $(shell find . -name \"*.c*\" -o -name \"x\")", "/p/anywhere", "a.cu"));
        assert!(!covers("clean:\n\tfind . -type f -name \"*.pyc\" -delete\n", "/p", "a.cu"));
        assert!(!covers("find \"$DIR\" -name '*.so.*' -type f", "/p", "a.cu"));
        assert!(covers("for name in os.listdir(src):\n    if name.endswith('.cu'): all.append(name)", "/p", "a.cu"));
        assert!(!covers("for name in os.listdir(root): include.append(name)", "/p", "a.cu"));
        assert!(covers("glob('src/**/*.cu', recursive=True)", "/p/src/deep", "a.cu"));
        assert!(covers("file(GLOB S */kernels/*.cu)", "/p/a/kernels", "a.cu"));
        assert!(!covers("omit = [\"*/tests/*\"]", "/p/dev", "a.cu"));
        assert!(!covers("rm -f *.o src/*~ core.*", "/p", "a.cu"));
        assert!(!covers("clean:\n\t-rm $(OBJ)/*\n", "/p/src", "a.cu"));
        assert!(!covers("depend:\n\tmakedepend -Y $(INCLUDES) *.cu *.h\n", "/p", "a.cu"));
        assert!(covers("all:\n\tnvcc $(SRC)/*\n", "/p/src", "a.cu"));
        assert!(!covers("%.o: %.cu\n\t$(NVCC) -c $< -o $@\n", "/p", "a.cu"));
    }

    #[test]
    fn names_are_put_together() {
        let composes = |text: &str, name: &str| {
            let texts = [Other::new("/p/CMakeLists.txt".into(), Role::Build, text.to_owned())];
            Patterns::of(&texts).compose(name)
        };
        assert!(composes("conv_${size}_${type}.cu", "conv_3_half.cu"));
        assert!(!composes("conv_${size}.cu", "pool.cu"));
        assert!(!composes("%.o: %.cu", "pool.cu"));
        assert!(composes("${name}${suffix}.cu", "pool.cu"));
        assert_eq!(filled("$(SRC)/a_${N}.cu"), "?/a_?.cu");
        assert!(matches("a*c.cu", "abc.cu") && !matches("a*c.cu", "abd.cu"));
    }
}
