//! What the files of the GNU build tools say: `Makefile.am`, `configure.ac`, and the macros that the latter calls.

use cudalint_files::read_text;
use std::path::{Path, PathBuf};

/// Where `automake` finds what is built.
pub(crate) const AUTOMAKE: &str = "Makefile.am";

/// Whether a `Makefile.am` makes what others use: a library, or headers without a program that is installed with them.
pub(crate) fn hands_on(text: &str) -> bool {
    let words = || text.split(|letter: char| letter.is_whitespace() || "=+".contains(letter));
    let has = |primary: &str| words().any(|word| word.ends_with(primary));
    let installs = words().any(|word| word.ends_with("_HEADERS") && !word.starts_with("noinst_"));
    has("_LIBRARIES") || has("_LTLIBRARIES") || installs && !has("bin_PROGRAMS")
}

/// The texts that `configure` is made of, without what `dnl` comments out, where one is made in a folder. `others`: the project's files
/// beside its sources.
pub(crate) fn texts(folder: &Path, others: &[PathBuf]) -> Vec<String> {
    const MOST: usize = 50;
    let own = ["configure.ac", "configure.in"].iter().filter_map(|name| read_text(&folder.join(name)).ok());
    let mut texts: Vec<String> = own.collect();
    if !texts.is_empty() {
        let is_macro =
            |path: &&PathBuf| path.starts_with(folder) && path.extension().is_some_and(|ending| ending == "m4");
        texts.extend(others.iter().filter(is_macro).take(MOST).filter_map(|path| read_text(path).ok()));
    }
    let code = |line: &str| line.split("dnl ").next().unwrap_or("").to_owned() + "\n";
    texts.iter().map(|text| text.lines().map(code).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::hands_on;

    #[test]
    fn what_automake_makes_for_others() {
        for (text, expected) in [
            ("bin_PROGRAMS=app\napp_SOURCES = main.cc\n", false),
            ("bin_PROGRAMS = app\ninclude_HEADERS = app.h\n", false),
            ("noinst_PROGRAMS = test\nnoinst_HEADERS = app.h\n", false),
            ("include_HEADERS = all.h\nnoinst_PROGRAMS = test\n", true),
            ("lib_LTLIBRARIES = liball.la\n", true),
            ("noinst_LIBRARIES = liball.a\nbin_PROGRAMS = app\n", true),
        ] {
            assert_eq!(hands_on(text), expected, "{text}");
        }
    }
}
