//! The words of a compiler's command: what it does, to which sources, and which words stand against more.

use camino::{Utf8Path, Utf8PathBuf};

/// What a command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Does {
    /// Sources become objects.
    Compiles,
    /// A program or a library is linked, of sources or of objects.
    Links,
    /// Something else: it is asked for its version, or preprocesses.
    Else,
}

/// Options of either compiler with which nothing is compiled or linked, or only code for the device.
const ELSE: &[&str] = &[
    "-E",
    "-M",
    "-MM",
    "--preprocess",
    "--generate-dependencies",
    "--generate-nonsystem-dependencies",
    "-dlink",
    "--device-link",
    "-lib",
    "--lib",
    "-dryrun",
    "--dryrun",
    "--version",
    "-V",
    "-h",
    "--help",
    "-###",
    "-fsyntax-only",
    "--list-gpu-arch",
    "--list-gpu-code",
    "-ptx",
    "--ptx",
    "-cubin",
    "--cubin",
    "-fatbin",
    "--fatbin",
    "-optix-ir",
    "-cuda",
    "--cuda",
    "__cmake_determine_cuda",
];

/// Options that make objects.
const COMPILES: &[&str] = &["-c", "--compile", "-dc", "--device-c", "-dw", "--device-w", "-S"];

/// Options whose value is a word that may look like a source.
const VALUED: &[&str] = &["-o", "--output-file", "-MF", "-MT", "-MQ", "-include", "-imacros", "-x", "-odir"];

/// What a command does, by its words.
pub(super) fn does(words: &[String]) -> Does {
    // `-Xptxas -v`: what follows is another program's.
    let own = || {
        let before = std::iter::once("").chain(words.iter().map(String::as_str));
        words.iter().zip(before).filter(|(_, before)| !before.starts_with("-X")).map(|(word, _)| word)
    };
    let has = |list: &[&str]| own().any(|word| list.contains(&word.as_str()));
    let asks = words.iter().any(|word| word.starts_with("-print-") || word.starts_with("-dump"));
    let inputs = words.iter().any(|word| !word.starts_with('-'));
    if has(ELSE) || asks || !inputs || is_inner(words) {
        Does::Else
    } else if has(COMPILES) {
        Does::Compiles
    } else {
        Does::Links
    }
}

/// Whether nvcc itself gives this command to the host compiler.
fn is_inner(words: &[String]) -> bool {
    words.iter().any(|word| {
        word.starts_with("-D__CUDA_ARCH_LIST__") || word.starts_with("-D__CUDACC__") || word.ends_with(".cudafe1.cpp")
    })
}

/// The sources among the words.
pub(super) fn sources(words: &[String], folder: &Utf8Path) -> Vec<(usize, Utf8PathBuf)> {
    let mut found = Vec::new();
    let mut before = "";
    for (place, word) in words.iter().enumerate() {
        let is_source =
            matches!(Utf8Path::new(word).extension(), Some("cu" | "cpp" | "cc" | "cxx" | "C" | "c++" | "c"));
        if is_source && !word.starts_with('-') && !VALUED.contains(&before) && folder.join(word).is_file() {
            found.push((place, crate::paths::clean(&folder.join(word))));
        }
        before = word;
    }
    found
}

/// What the command writes, where it says so.
pub(super) fn output(words: &[String], folder: &Utf8Path) -> Option<Utf8PathBuf> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let value = match word.as_str() {
            "-o" | "--output-file" => words.next().map(String::as_str),
            word => word.strip_prefix("--output-file=").or_else(|| word.strip_prefix("-o").filter(|it| !it.is_empty())),
        };
        if let Some(value) = value {
            return Some(crate::paths::clean(&folder.join(value)));
        }
    }
    None
}

/// The same words with sources and folders of headers from the root on, so that each file has one name in what is built.
pub(super) fn absolute(words: &[String], folder: &Utf8Path) -> Vec<String> {
    let sources = sources(words, folder);
    let mut changed: Vec<String> = Vec::with_capacity(words.len());
    let mut after_include = false;
    for (place, word) in words.iter().enumerate() {
        let whole = |part: &str| {
            let path = crate::paths::clean(&folder.join(part));
            path.is_dir().then(|| path.into_string())
        };
        let new = match sources.iter().find(|(at, _)| *at == place) {
            Some((_, source)) => source.to_string(),
            None if after_include => whole(word).unwrap_or_else(|| word.clone()),
            None => match word.strip_prefix("-I").filter(|part| !part.is_empty()).and_then(whole) {
                Some(path) => format!("-I{path}"),
                None => word.clone(),
            },
        };
        after_include = word == "-I";
        changed.push(new);
    }
    changed
}

/// The words without what makes an error of a warning.
pub(super) fn lenient(words: &[String]) -> Vec<String> {
    let mut kept: Vec<String> = Vec::with_capacity(words.len());
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        match word.as_str() {
            // nvcc's own takes a value, the host compiler's none.
            "-Werror" | "--Werror" => {
                words.next_if(|next| next.split(',').all(|kind| KINDS.contains(&kind)));
            }
            word if word.starts_with("-Werror=") || word.starts_with("--Werror=") => {}
            "-Xcompiler" | "--compiler-options" => {
                if let Some(given) = words.next() {
                    let value = without_errors(given);
                    if !value.is_empty() {
                        kept.extend([word.clone(), value]);
                    }
                }
            }
            text => match text.split_once('=') {
                Some((name @ ("-Xcompiler" | "--compiler-options"), value)) => {
                    let value = without_errors(value);
                    if !value.is_empty() {
                        kept.push(format!("{name}={value}"));
                    }
                }
                _ => kept.push(word.clone()),
            },
        }
    }
    kept
}

/// What nvcc's `-Werror` can be given.
const KINDS: &[&str] = &[
    "all-warnings",
    "cross-execution-space-call",
    "reorder",
    "default-stream-launch",
    "missing-launch-bounds",
    "ext-lambda-captures-this",
    "deprecated-declarations",
];

/// A list of host options without `-Werror`; both commas and blanks part them.
fn without_errors(list: &str) -> String {
    let parts = list.split(',').map(|part| {
        let words = part.split_whitespace().filter(|word| *word != "-Werror" && !word.starts_with("-Werror="));
        words.collect::<Vec<_>>().join(" ")
    });
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::{Does, does, lenient};

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn what_a_command_does_is_told_by_its_words() {
        for (line, wanted) in [
            ("-O2 -c a.cu -o a.o", Does::Compiles),
            ("-dc a.cu", Does::Compiles),
            ("a.o b.o -o app -lcudart", Does::Links),
            ("a.cu -o app", Does::Links),
            ("-arch=sm_90 -dlink a.o -o d.o", Does::Else),
            ("--version", Does::Else),
            ("-print-search-dirs x", Does::Else),
            ("-M a.cu", Does::Else),
            ("-Xptxas -v -Xcompiler -E a.cu -o app", Does::Links),
            ("-c -x c++ -D__CUDACC__ /tmp/a.cudafe1.cpp", Does::Else),
        ] {
            assert_eq!(does(&words(line)), wanted, "{line}");
        }
    }

    #[test]
    fn warnings_stay_warnings() {
        assert_eq!(
            lenient(&words("-Werror all-warnings -Xcompiler -Wall,-Werror -Xcompiler=-Werror -O2 a.cu")),
            words("-Xcompiler -Wall -O2 a.cu")
        );
        assert_eq!(lenient(&words("-Wall -Werror a.cpp")), words("-Wall a.cpp"));
        assert_eq!(lenient(&words("-Werror=format -c a.cpp")), words("-c a.cpp"));
    }
}
