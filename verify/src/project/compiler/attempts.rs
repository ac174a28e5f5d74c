//! What is tried in the place of a command of the build, the best first. The last is what the build has asked for.

use super::architectures::for_device;
use super::record::{Compiled, With};
use super::words::{Does, absolute, does, lenient, output, sources};
use crate::lab::stand_ins;
use crate::probe::{self, Watch};
use crate::project::tools::CompilePlan;
use crate::spelled;
use camino::{Utf8Path, Utf8PathBuf};

/// One way to do what the build asks for.
pub(super) struct Attempt {
    /// The compiler's arguments.
    pub words: Vec<String>,
    /// What is written down when it is done.
    pub note: Option<Compiled>,
}

impl Attempt {
    /// What the build asks for, and nothing is written down.
    pub fn plain(words: &[String]) -> Self {
        Self { words: words.to_vec(), note: None }
    }
}

/// What is tried for a compiler's command.
pub(super) fn attempts(plan: &CompilePlan, name: &str, words: &[String]) -> Vec<Attempt> {
    let folder =
        std::env::current_dir().ok().and_then(|path| Utf8PathBuf::from_path_buf(path).ok()).unwrap_or_default();
    let is_nvcc = name.starts_with("nvcc");
    let does = does(words);
    // What build systems try compilers out with is theirs.
    let tried_out = folder.as_str().contains("CMakeFiles") || folder.as_str().contains("meson-private");
    let for_here = |words: &[String]| {
        if is_nvcc { for_device(words, plan.architecture, &plan.known) } else { words.to_vec() }
    };
    match does {
        Does::Else if is_nvcc && words.iter().any(|word| word.contains("dlink") || word.contains("device-link")) => {
            return vec![Attempt::plain(&for_here(words)), Attempt::plain(words)];
        }
        Does::Else => return vec![Attempt::plain(words)],
        _ if tried_out => return vec![Attempt::plain(words)],
        _ => {}
    }
    let sources: Vec<Utf8PathBuf> = sources(words, &folder).into_iter().map(|(_, path)| path).collect();
    let note = |with| {
        let (sources, output) = (sources.clone(), output(words, &folder));
        Some(Compiled {
            folder: folder.clone(),
            sources,
            links: does == Does::Links,
            output,
            with,
            refused: None,
            done: false,
        })
    };
    let mut changed = lenient(&absolute(&for_here(words), &folder));
    let links = does == Does::Links;
    if links && is_nvcc {
        changed.extend(plan.libraries.iter().map(|folder| format!("-L{folder}")));
    }
    // Behind all others: what is there is taken.
    changed.extend(plan.stand_ins.iter().map(|folder| format!("-I{folder}")));
    let own = probe::headers::own_files(&sources, &changed);
    let mut found = Vec::new();
    let mut add = |words: Vec<String>, with| found.push(Attempt { words, note: note(with) });
    if is_nvcc {
        let lines = with_lines(&changed);
        let by_number = own.iter().any(|file| uses(file, &spelled::BY_PLACE));
        let places = plan.stand_ins.as_ref().filter(|_| by_number).map(|folder| stand_ins::with_places(folder));
        if plan.probe || !plan.wrapped.is_empty() {
            let mut probed = lines.clone();
            probed.extend(hooks(plan, &sources, &lines));
            if plan.probe && sources.iter().any(is_c) {
                // Much of C is CUDA C++ as well; where it is not, the compiler refuses it.
                probed.extend(["-x", "cu"].map(str::to_owned));
            }
            probed.extend(if links { linked(plan, true) } else { Vec::new() });
            add(probed.clone(), With::Probe);
            if own.iter().any(|file| uses(file, &spelled::REMOVED)) {
                probed.extend(spelled::REMOVED.map(|(_, flag)| flag.to_owned()));
                add(probed.clone(), With::Probe);
            }
            if own.iter().any(|file| uses(file, &spelled::LOST_MEMBERS)) {
                probed.extend(spelled::LOST_MEMBERS.map(|(_, flag)| flag.to_owned()));
                add(probed.clone(), With::Probe);
            }
            if let Some(flag) = &places {
                probed.insert(0, flag.clone());
                add(probed, With::Probe);
            }
            if links {
                // Launches are seen without the header before the user's code.
                let mut linked_only = lines.clone();
                linked_only.extend(linked(plan, true));
                add(linked_only, With::Lines);
            }
        }
        let mut removed = lines.clone();
        add(lines, With::Lines);
        removed.extend(spelled::REMOVED.map(|(_, flag)| flag.to_owned()));
        add(removed.clone(), With::Lines);
        if own.iter().any(|file| uses(file, &spelled::LOST_MEMBERS)) {
            removed.extend(spelled::LOST_MEMBERS.map(|(_, flag)| flag.to_owned()));
            add(removed.clone(), With::Lines);
        }
        if let Some(flag) = places {
            removed.insert(0, flag);
            add(removed, With::Lines);
        }
        add(for_here(words), With::Nothing);
    } else {
        let mut lines = changed.clone();
        lines.push("-g".to_owned());
        let about_cuda = !sources.iter().any(is_c) && own.iter().any(|file| names_cuda(file));
        let with_runtime = words.iter().any(|word| match word.strip_prefix('@') {
            Some(file) => links_runtime(&folder.join(file)),
            None => is_runtime(word),
        });
        let mut probed = lines.clone();
        if about_cuda {
            probed.extend(hooks(plan, &sources, &changed));
        }
        if links {
            let mut front = linked(plan, false);
            front.extend(probed);
            probed = front;
            if matches!(name, "gcc" | "cc" | "clang") {
                probed.push("-lstdc++".to_owned());
            }
        }
        let useful = (plan.probe && about_cuda) || (links && !plan.wrapped.is_empty());
        if useful && (with_runtime || !links) {
            add(probed, With::Probe);
            add(lines, With::Lines);
        } else if useful {
            // A program without the runtime needs the probe only where its objects have it.
            add(lines, With::Lines);
            add(probed, With::Probe);
        } else {
            add(lines, With::Lines);
        }
        add(words.to_vec(), With::Nothing);
    }
    found
}

/// Whether a source is C, which has no use for a header of C++.
fn is_c(file: &Utf8PathBuf) -> bool {
    file.extension() == Some("c")
}

/// nvcc's words with lines of the device's code and debug information of the host's.
fn with_lines(words: &[String]) -> Vec<String> {
    let mut words = words.to_vec();
    let has = |names: &[&str]| words.iter().any(|word| names.contains(&word.as_str()));
    let lines = !has(&["-G", "--device-debug", "-lineinfo", "--generate-line-info"]);
    if lines {
        words.push("-lineinfo".to_owned());
    }
    words.extend(["-Xcompiler", "-g,-fno-omit-frame-pointer"].map(str::to_owned));
    words
}

/// Flags that put the probe's header before the sources.
fn hooks(plan: &CompilePlan, sources: &[Utf8PathBuf], words: &[String]) -> Vec<String> {
    if sources.is_empty() || !plan.probe {
        return Vec::new();
    }
    let headers = probe::headers::in_sources(sources, words);
    let watch = Watch { headers, functions: plan.functions.clone(), ..Watch::default() };
    let Ok(file) = probe::header(&plan.probe_folder, &watch) else { return Vec::new() };
    let mut flags = vec!["-include".to_owned(), file.into_string()];
    flags.extend(plan.include.iter().map(|folder| format!("-I{folder}")));
    flags
}

/// Flags that link the probe. To nvcc its object is a word for the linker: with `-x cu` it would be taken for a source.
fn linked(plan: &CompilePlan, nvcc: bool) -> Vec<String> {
    let words = plan.object.iter().map(ToString::to_string).chain(plan.wrapped.iter().map(|it| format!("--wrap={it}")));
    if nvcc {
        return words.flat_map(|word| ["-Xlinker".to_owned(), word]).collect();
    }
    words.map(|word| if word.starts_with("--") { format!("-Wl,{word}") } else { word }).collect()
}

/// Whether a file of plain C++ calls CUDA.
fn names_cuda(file: &Utf8Path) -> bool {
    cudalint_files::read_text(file.as_std_path()).is_ok_and(|text| text.contains("cuda") || text.contains("<cu"))
}

/// Whether a word names CUDA's runtime, or its driver, to a linker.
fn is_runtime(word: &str) -> bool {
    word.contains("cudart") || word == "-lcuda"
}

/// Whether a file of a linker's words, as `CMake` hands them on, names it.
fn links_runtime(file: &Utf8Path) -> bool {
    let text = cudalint_files::read_text(file.as_std_path()).unwrap_or_default();
    text.split_whitespace().any(|word| is_runtime(word.trim_matches('"')))
}

/// Whether a source spells what newer toolkits do not have.
fn uses(file: &Utf8Path, gone: &[(&str, &str)]) -> bool {
    let text = cudalint_files::read_text(file.as_std_path()).unwrap_or_default();
    gone.iter().any(|(name, _)| text.contains(name))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::attempts;
    use crate::project::tools::CompilePlan;

    #[test]
    fn what_a_newer_toolkit_has_lost_is_tried_last() {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("a.cu");
        let tried = |text: &str| {
            std::fs::write(&source, text).unwrap();
            let words = ["-c", source.to_str().unwrap(), "-o", "a.o"].map(str::to_owned);
            let all = attempts(&CompilePlan::default(), "nvcc", &words);
            all.iter()
                .map(|attempt| attempt.words.iter().any(|word| word.starts_with("-DclockRate=")))
                .collect::<Vec<_>>()
        };
        let lost = tried("int main() { cudaDeviceProp of; return of.clockRate; }\n");
        // Behind what leaves the program as it is; at last the build's own words.
        assert_eq!(lost.iter().position(|has| *has), Some(lost.len() - 2));
        assert!(!tried("int main() { return 0; }\n").contains(&true));
    }

    #[test]
    fn headers_that_stand_for_others_come_behind_all_that_are_there() {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("a.cu");
        std::fs::write(folder.path().join("own.h"), "static int clock(cudaDeviceProp of) { return of.clockRate; }\n")
            .unwrap();
        let plan = CompilePlan { stand_ins: Some("/headers".into()), ..CompilePlan::default() };
        let tried = |text: &str| {
            std::fs::write(&source, text).unwrap();
            let words = ["-c", source.to_str().unwrap(), "-Iown", "-o", "a.o"].map(str::to_owned);
            attempts(&plan, "nvcc", &words)
        };
        let words = tried("#include <helper_cuda.h>\n");
        let at = |word: &str| words[0].words.iter().position(|own| own.ends_with(word));
        assert!(at("-I/headers") > at("own"), "{:?}", words[0].words);
        // The build's own words are left as they are.
        assert!(!words.last().unwrap().words.iter().any(|word| word == "-I/headers"));
        let has = |text: &str, start: &str| tried(text).iter().any(|one| one.words[0].starts_with(start));
        assert!(has("int main() { cudaMemPrefetchAsync(p, 4, 0); }\n", "--pre-include=/headers/"));
        assert!(!has("int main() { return 0; }\n", "--pre-include="));
        let lost = tried("#include \"own.h\"\n");
        assert!(lost.iter().any(|one| one.words.iter().any(|word| word.starts_with("-DclockRate="))));
    }

    #[test]
    fn a_linker_s_words_may_stand_in_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("words.rsp");
        let first = |libraries: &str| {
            std::fs::write(&file, libraries).unwrap();
            let words = ["a.o", "-o", "a", &format!("@{}", file.display())].map(str::to_owned);
            let plan = CompilePlan { wrapped: vec!["cudaLaunchKernel".to_owned()], ..CompilePlan::default() };
            let all = attempts(&plan, "g++", &words);
            all[0].words.iter().any(|word| word.contains("--wrap=cudaLaunchKernel"))
        };
        assert!(first("-lcudadevrt -lcudart_static -lrt\n"));
        assert!(!first("-lm\n"));
    }
}
