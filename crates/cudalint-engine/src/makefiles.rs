//! What the build files around the sources say: flags of `nvc++` that make memory of the heap the device's, too, and the
//! macros that builds may define, and devices.

use crate::autotools;
use crate::compile_commands::makes_heap_shared;
use crate::project::Source;
use crate::target::Named;
use crate::visual_studio;
use cudalint_files::read_text;
use cudalint_syntax::preprocessor::version_of;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Build files whose text says what they do.
const NAMES: [&str; 9] = [
    "Makefile",
    "makefile",
    "GNUmakefile",
    "CMakeLists.txt",
    "common.mk",
    "make.inc",
    "setup.py",
    "build.sh",
    autotools::AUTOMAKE,
];

/// Build files that an editor keeps in a folder beside the sources, as Eclipse does.
const BESIDE: [&str; 2] = ["Debug/makefile", "Release/makefile"];

/// What build files that make libraries, or modules of Python, say; also those of which little is written out.
const LIBRARIES: [&str; 10] =
    ["add_library", "ADD_LIBRARY", "-shared", "$(AR)", "ar r", "ar c", "ar -", "anlib", " -lib ", "setup("];

/// Modules of `CMake` itself that make nothing.
const MODULES: [&str; 14] = [
    "CMakeDependentOption",
    "CMakePrintHelpers",
    "CPack",
    "CTest",
    "CheckCXXCompilerFlag",
    "CheckIPOSupported",
    "CheckIncludeFileCXX",
    "CheckLanguage",
    "ExternalProject",
    "FetchContent",
    "FindCUDA",
    "GNUInstallDirs",
    "GoogleTest",
    "ProcessorCount",
];

/// Whether a build file makes a library or hands headers on, or may.
fn makes_library(text: &str) -> bool {
    const OF_LIBRARY: [&str; 5] = ["ARCHIVE", "DIRECTORY", "EXPORT", "FILES", "LIBRARY"];
    let commands = |name: &'static str| {
        let begins = |at: usize| !text[..at].ends_with(|before: char| before.is_ascii_alphanumeric() || before == '_');
        let found = text.match_indices(name).filter(move |(at, _)| begins(*at));
        found.map(|(at, name)| text[at + name.len()..].split(')').next().unwrap_or(""))
    };
    LIBRARIES.iter().any(|mark| text.contains(mark))
        || commands("install(").any(|inside| inside.split_whitespace().any(|word| OF_LIBRARY.contains(&word)))
        || commands("include(").any(|inside| !MODULES.contains(&inside.split_whitespace().next().unwrap_or("")))
}

/// The beginnings of `CMake`'s commands and properties that list macros.
const LISTS: [&str; 3] = ["add_compile_definitions(", "target_compile_definitions(", "COMPILE_DEFINITIONS "];

/// The first architecture whose lanes need not be in step.
const IN_STEP_BEFORE: u32 = 70;

/// What stands before the number of an architecture that is compiled for.
const ARCHITECTURE_FLAGS: [&str; 8] = [
    "arch=compute_",
    "arch=sm_",
    "arch compute_",
    "arch sm_",
    // Elements of a list of `CMake`.
    "arch;compute_",
    "arch;sm_",
    "architecture=compute_",
    "architecture=sm_",
];

/// What build files say of the sources in and below their folder.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Builds {
    /// Folders whose builds make memory of the heap the device's, too.
    pub sharing: Vec<PathBuf>,
    /// Folders whose builds compile for devices before `sm_70` alone.
    pub in_step: Vec<PathBuf>,
    /// Folders with build files.
    pub building: Vec<PathBuf>,
    /// Those of them whose builds make libraries, or may.
    pub libraries: Vec<PathBuf>,
    /// Folders whose builds may define macros, with the names of these.
    pub defining: Vec<(PathBuf, FxHashSet<String>)>,
    /// What folders' build files name: toolkit and devices.
    pub naming: FxHashMap<PathBuf, Named>,
}

/// What is said in the folders of the sources and, within a project, in the folders above them. `others`: the project's other files.
pub fn read(root: Option<&Path>, sources: &[Source], others: &[PathBuf]) -> Builds {
    let mut seen: FxHashSet<&Path> = FxHashSet::default();
    let mut builds = Builds::default();
    of_visual_studio(others, &mut builds);
    from_below(root, others, &mut builds);
    for folder in sources.iter().filter_map(|source| source.real.parent()) {
        let above = folder.ancestors().skip(1).take_while(|above| root.is_some_and(|root| above.starts_with(root)));
        for folder in std::iter::once(folder).chain(above) {
            if !seen.insert(folder) {
                break;
            }
            let names = NAMES.iter().chain(&BESIDE);
            let read = |name: &&'static str| Some((*name, without_comments(&read_text(&folder.join(name)).ok()?)));
            let (names, texts): (Vec<&str>, Vec<String>) = names.filter_map(read).unzip();
            if !texts.is_empty() {
                builds.building.push(folder.to_owned());
            }
            let hands_on = |(name, text): (&&str, &String)| *name == autotools::AUTOMAKE && autotools::hands_on(text);
            if texts.iter().any(|text| makes_library(text)) || names.iter().zip(&texts).any(hands_on) {
                builds.libraries.push(folder.to_owned());
            }
            if texts.iter().any(|text| shares_heap(text)) {
                builds.sharing.push(folder.to_owned());
            }
            let naming = Named {
                toolkit: texts.iter().filter_map(|text| toolkit(text)).min(),
                architecture: texts.iter().filter_map(|text| architecture(text)).min(),
            };
            if naming != Named::default() {
                builds.naming.insert(folder.to_owned(), naming);
            }
            let configured = autotools::texts(folder, others);
            let by_default =
                configured.iter().filter_map(|text| is_for_old_devices_by_default(&without_comments(text)));
            let old = texts.iter().filter_map(|text| is_for_old_devices(text));
            let old: Vec<bool> = old.chain(by_default).collect();
            if !old.is_empty() && old.iter().all(|old| *old) {
                builds.in_step.push(folder.to_owned());
            }
            let names: FxHashSet<String> = texts.iter().flat_map(|text| macros(text)).map(str::to_owned).collect();
            if !names.is_empty() {
                builds.defining.push((folder.to_owned(), names));
            }
        }
    }
    of_old_projects(others, &mut builds);
    of_scripts(others.iter().filter(|path| path.parent().is_some_and(|folder| seen.contains(folder))), &mut builds);
    builds
}

/// Whether a file by its name may hold the lines that compile the sources beside it: a script, a text, a makefile of another name.
fn may_hold_commands(path: &Path) -> bool {
    let ends = |ending: &std::ffi::OsStr| ["sh", "txt", "mk", "bat", "py", "pro"].iter().any(|known| ending == *known);
    let is_build =
        |name: &str| ["build", "compile", "make"].iter().any(|word| name.to_ascii_lowercase().starts_with(word));
    let name = path.file_name().and_then(|name| name.to_str());
    let is_makefile = name.is_some_and(|name| name.to_ascii_lowercase().starts_with("makefile"));
    is_makefile || path.extension().map_or_else(|| name.is_some_and(is_build), ends)
}

/// Visual Studio's projects for old devices alone, where no other build file of the folder or of those above names any, nor another
/// project there newer ones.
fn of_old_projects(others: &[PathBuf], builds: &mut Builds) {
    let mut found: BTreeMap<&Path, bool> = BTreeMap::new();
    for path in others.iter().filter(|path| visual_studio::is_project(path)).take(MOST_PROJECTS) {
        let (Some(folder), Ok(text)) = (path.parent(), read_text(path)) else { continue };
        for device in visual_studio::devices(&text) {
            *found.entry(folder).or_insert(true) &= (1..IN_STEP_BEFORE).contains(&device);
        }
    }
    for (folder, _) in found.into_iter().filter(|(_, is_old)| *is_old) {
        let names = |above: &Path| builds.naming.get(above).is_some_and(|named| named.architecture.is_some());
        if !folder.ancestors().any(names) && !builds.in_step.iter().any(|known| known == folder) {
            builds.in_step.push(folder.to_owned());
        }
    }
}

/// Scripts, and other files with the lines that compile by hand, for old devices alone, where no build file beside them names any.
/// Larger files are data.
fn of_scripts<'p>(others: impl Iterator<Item = &'p PathBuf>, builds: &mut Builds) {
    const MOST: usize = 200;
    const LARGEST: u64 = 1 << 16;
    let is_short = |path: &&PathBuf| path.metadata().is_ok_and(|file| file.len() <= LARGEST);
    for path in others.filter(|path| may_hold_commands(path)).filter(is_short).take(MOST) {
        let (Some(folder), Ok(text)) = (path.parent(), read_text(path)) else { continue };
        let named = builds.naming.get(folder).is_some_and(|named| named.architecture.is_some());
        let known = builds.in_step.iter().any(|known| known == folder);
        let text = without_comments(&text);
        let is_old = is_for_old_devices(&text) == Some(true) || is_of_qt(path) && names_old_devices(&text);
        if !named && !known && text.contains("nvcc") && is_old {
            builds.in_step.push(folder.to_owned());
        }
    }
}

/// Visual Studio's projects that are looked at, at most.
const MOST_PROJECTS: usize = 200;

/// Visual Studio's projects: each is one program, or one library.
fn of_visual_studio(others: &[PathBuf], builds: &mut Builds) {
    for path in others.iter().filter(|path| visual_studio::is_project(path)).take(MOST_PROJECTS) {
        let (Some(folder), Ok(text)) = (path.parent(), read_text(path)) else { continue };
        let listed = text.split("Include=\"").skip(1).filter_map(|rest| rest.split('"').next());
        let climbs = listed.map(|path| climb(&path.replace('\\', "/"))).max().unwrap_or(0);
        let top = folder.ancestors().nth(climbs).filter(|_| climbs > 0);
        for folder in std::iter::once(folder).chain(top) {
            if !builds.building.iter().any(|known| known == folder) {
                builds.building.push(folder.to_owned());
            }
            if !visual_studio::makes_program(&text) && !builds.libraries.iter().any(|known| known == folder) {
                builds.libraries.push(folder.to_owned());
            }
        }
    }
}

/// Build files that stand in a folder beside the sources (`build/cmake`) and build what lies above it.
fn from_below(root: Option<&Path>, others: &[PathBuf], builds: &mut Builds) {
    const MOST: usize = 200;
    let is_one = |path: &&PathBuf| path.file_name().is_some_and(|name| NAMES.iter().any(|known| name == *known));
    let is_inside = |folder: &Path| root.is_some_and(|root| folder.starts_with(root));
    for path in others.iter().filter(is_one).take(MOST) {
        let Ok(text) = read_text(path) else { continue };
        let text = without_comments(&text);
        // Headers and libraries that are looked for above are not built there.
        let builds_it = |line: &&str| {
            let line = line.to_ascii_lowercase();
            !line.contains("include") && !line.contains("-l../")
        };
        let climbs = text.lines().filter(builds_it).map(climb).max().unwrap_or(0);
        let folder = path.parent().and_then(|folder| folder.ancestors().nth(climbs));
        let Some(folder) = folder.filter(|folder| climbs > 0 && is_inside(folder)) else { continue };
        if !builds.building.iter().any(|known| known == folder) {
            builds.building.push(folder.to_owned());
        }
        if makes_library(&text) && !builds.libraries.iter().any(|known| known == folder) {
            builds.libraries.push(folder.to_owned());
        }
    }
}

/// How many folders a text goes up at most.
fn climb(text: &str) -> usize {
    let (mut most, mut here, mut last) = (0, 0, 0);
    for (at, up) in text.match_indices("../") {
        here = if here > 0 && at == last { here + 1 } else { 1 };
        last = at + up.len();
        most = most.max(here);
    }
    most
}

fn without_comments(text: &str) -> String {
    text.lines().map(|line| line.split('#').next().unwrap_or("")).fold(String::new(), |text, line| text + line + "\n")
}

/// Whether a build file gives a flag that makes memory of the heap the device's, too.
fn shares_heap(text: &str) -> bool {
    let ends = |letter: char| letter.is_whitespace() || "\"'();>".contains(letter);
    (text.contains("-stdpar") || text.contains("-gpu=")) && text.split(ends).any(makes_heap_shared)
}

/// Whether a build file compiles for architectures before `sm_70` alone, each of them written out. Code that a driver translates for
/// newer devices keeps its lanes in step, too (CUDA C++ Programming Guide, "Independent Thread Scheduling", on
/// `-arch=compute_60 -code=sm_70`). `None` where it names no device.
fn is_for_old_devices(text: &str) -> Option<bool> {
    let flags = ARCHITECTURE_FLAGS.into_iter().flat_map(|mark| numbers(text, mark));
    let mut named = flags.chain(open_architecture(text)).chain(listed_architectures(text)).peekable();
    if named.peek().is_none() {
        return text.contains("sm_").then_some(false);
    }
    Some(named.all(|number| (1..IN_STEP_BEFORE).contains(&number)))
}

/// A project of Qt's `qmake`, whose variables nobody gives other values from outside.
fn is_of_qt(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "pro")
}

/// Whether a text names devices before `sm_70` and no other.
fn names_old_devices(text: &str) -> bool {
    let mut named = numbers(text, "sm_").peekable();
    named.peek().is_some() && named.all(|number| (1..IN_STEP_BEFORE).contains(&number))
}

/// The same of a text of `configure`, where whoever builds may give another device than the one that is written out: what is taken where he
/// gives none counts, unless a newer one is written somewhere.
fn is_for_old_devices_by_default(text: &str) -> Option<bool> {
    let mut defaults = ARCHITECTURE_FLAGS.into_iter().flat_map(|mark| numbers(text, mark)).filter(|number| *number > 0);
    let is_old = |number: u32| number < IN_STEP_BEFORE;
    let all = || ["sm_", "compute_"].into_iter().flat_map(|mark| numbers(text, mark)).all(is_old);
    defaults.next().map(|first| is_old(first) && defaults.all(is_old) && all())
}

/// The oldest version of the toolkit that a build file names by a path (`/usr/local/cuda-12.8`) or cannot do without
/// (`find_package(CUDAToolkit 12.0 REQUIRED)`).
fn toolkit(text: &str) -> Option<(u32, u32)> {
    let behind = |(at, word): (usize, &str)| text.get(at + word.len()..);
    let version = |text: &str| {
        let end = text.find(|letter: char| !(letter.is_ascii_digit() || letter == '.')).unwrap_or(text.len());
        let text = text.get(..end)?.trim_end_matches('.');
        version_of(text).or_else(|| Some((text.parse().ok().filter(|major| *major < 100)?, 0)))
    };
    let paths = text.match_indices("/cuda-").filter_map(behind).filter_map(version);
    let packages = text.match_indices("find_package(").filter_map(behind).filter_map(|rest| {
        let mut words = rest.split(')').next()?.split_whitespace();
        words.next().filter(|name| ["CUDAToolkit", "CUDA"].contains(name))?;
        let asked = version(words.next()?)?;
        words.any(|word| word == "REQUIRED").then_some(asked)
    });
    paths.chain(packages).min()
}

/// The oldest architecture that a build file names, real or virtual; 0 where one is not written out.
fn architecture(text: &str) -> Option<u32> {
    let flags = ["sm_", "compute_"].into_iter().flat_map(|mark| numbers(text, mark));
    flags.chain(open_architecture(text)).chain(listed_architectures(text)).min()
}

/// The numbers behind each place of a mark; 0 for what is no number.
fn numbers<'t>(text: &'t str, mark: &'static str) -> impl Iterator<Item = u32> + 't {
    text.match_indices(mark).filter_map(|(at, mark)| text.get(at + mark.len()..)).map(leading_number)
}

fn leading_number(text: &str) -> u32 {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    text.get(..end).and_then(|digits| digits.parse::<u32>().ok()).unwrap_or(0)
}

/// 0 where a flag leaves the architecture to a variable or to the machine.
fn open_architecture(text: &str) -> Option<u32> {
    const OPEN: [&str; 5] = ["-arch=native", "-arch=all", "arch=$", "-arch=\"$", "-arch $"];
    OPEN.into_iter().any(|word| text.contains(word)).then_some(0)
}

/// The architectures in `CMake`'s lists; 0 for a word that is no number.
fn listed_architectures(text: &str) -> impl Iterator<Item = u32> {
    const PROPERTY: &str = "CUDA_ARCHITECTURES";
    let behind = text.match_indices(PROPERTY).filter_map(|(at, _)| text.get(at + PROPERTY.len()..));
    // In a condition the property stands alone.
    let lists = behind.map(|rest| rest.split([')', '\n']).next().unwrap_or(""));
    let words = lists.flat_map(|list| list.split(|letter: char| letter.is_whitespace() || "\";=".contains(letter)));
    words.filter(|word| !word.is_empty()).map(leading_number)
}

/// The macros that a build file names in `-DNAME`, `-D NAME=1` and the lists of `CMake`. Under which options of the build they
/// are defined, and for which of its programs, is not asked.
fn macros(text: &str) -> impl Iterator<Item = &str> {
    let flags = text.match_indices("-D").filter_map(|(at, flag)| {
        let before = text.get(..at)?.chars().next_back();
        let is_flag = before.is_none_or(|before| !(before.is_alphanumeric() || "-_".contains(before)));
        is_flag.then(|| name(text.get(at + flag.len()..)?.trim_start_matches([' ', '"', '\'']))).flatten()
    });
    let lists = LISTS.iter().flat_map(|list| text.match_indices(list)).filter_map(|(at, list)| {
        let list = text.get(at + list.len()..)?;
        Some(list.split(')').next().unwrap_or(list))
    });
    let words = lists.flat_map(|list| list.split(|letter: char| letter.is_whitespace() || "\":<>,".contains(letter)));
    flags.chain(words.filter_map(|word| name(word.strip_prefix("-D").unwrap_or(word))))
}

/// The name that a text begins with.
fn name(text: &str) -> Option<&str> {
    let end = text.find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_')).unwrap_or(text.len());
    text.get(..end).filter(|name| name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_'))
}

#[cfg(test)]
mod tests {
    use super::{architecture, is_for_old_devices, is_for_old_devices_by_default, macros, makes_library, toolkit};

    #[test]
    fn builds_that_make_what_others_use() {
        for (text, expected) in [
            ("add_executable(app a.cu)\ninstall(TARGETS app DESTINATION ${A_DIRECTORY})\n", false),
            ("add_executable(app a.cu)\ninstall(TARGETS app LIBRARY DESTINATION lib)\n", true),
            ("install(DIRECTORY include DESTINATION .)\n", true),
            ("include(FetchContent)\ninclude(CTest)\n", false),
            ("include(cmake/all.cmake)\n", true),
            ("target_include(app)\n", false),
            ("add_library(all a.cu)\n", true),
            ("lib.so: a.o\n\tg++ -shared $^\n", true),
        ] {
            assert_eq!(makes_library(text), expected, "{text}");
        }
    }

    #[test]
    fn macros_of_makefiles_and_of_cmake_are_named() {
        let text = "CFLAGS += -O3 -DN=128 -D WIDE '-DNAME=\"x\"' -D$(TYPE) --no-D\n";
        assert_eq!(macros(text).collect::<Vec<_>>(), ["N", "WIDE", "NAME"]);
        let text = "target_compile_definitions(app PRIVATE TILE=16\n  $<$<CONFIG:Debug>:CHECKED>)\n";
        let found: Vec<&str> = macros(text).collect();
        assert!(found.contains(&"TILE") && found.contains(&"CHECKED"), "{found:?}");
    }

    #[test]
    fn toolkits_that_build_files_name() {
        for (text, expected) in [
            ("CUDA_PATH ?= /usr/local/cuda-12.8\n", Some((12, 8))),
            ("A = /usr/local/cuda-13.0/bin/nvcc\nB = /opt/cuda-9/bin\n", Some((9, 0))),
            ("find_package(CUDAToolkit 12.2 REQUIRED)\n", Some((12, 2))),
            ("find_package( CUDA 10 QUIET )\n", None),
            ("find_package(Boost 1.70 REQUIRED)\n", None),
            ("CUDA_PATH ?= /usr/local/cuda\n", None),
        ] {
            assert_eq!(toolkit(text), expected, "{text}");
        }
    }

    #[test]
    fn architectures_that_build_files_name() {
        for (text, expected) in [
            ("NVCCFLAGS = -arch=sm_80\n", Some(80)),
            ("-gencode arch=compute_60,code=sm_70\n", Some(60)),
            ("-gencode arch=compute_$(SM),code=sm_$(SM)\n", Some(0)),
            ("-arch=native\n-arch=sm_80\n", Some(0)),
            ("set(CMAKE_CUDA_ARCHITECTURES 70 80)\n", Some(70)),
            ("set(CMAKE_CUDA_ARCHITECTURES \"75;80-real\")\n", Some(75)),
            ("set(CMAKE_CUDA_ARCHITECTURES native)\n", Some(0)),
            ("if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)\n", None),
            ("-O3\n", None),
        ] {
            assert_eq!(architecture(text), expected, "{text}");
        }
    }

    #[test]
    fn devices_whose_lanes_run_in_step() {
        for (text, expected) in [
            ("NVCFLAGS += -code=sm_11,sm_13 -arch=compute_11\n", Some(true)),
            ("-gencode arch=compute_35,code=sm_35 \\\n", Some(true)),
            ("-gencode arch=compute_35,code=[sm_35,compute_35]\n", Some(true)),
            ("-gencode arch=compute_60,code=sm_70\n", Some(true)),
            ("-code=sm_35\n-gencode arch=compute_70,code=sm_70\n", Some(false)),
            ("-arch=sm_35\n", Some(true)),
            ("SET(CUDA_NVCC_FLAGS \"-arch=sm_20\" \"-O3\")\n", Some(true)),
            ("SET(CUDA_NVCC_FLAGS \"-arch;sm_30 --expt-relaxed-constexpr\")\n", Some(true)),
            ("-arch=sm_35\n-arch=sm_80\n", Some(false)),
            ("-arch=$(SM)\n-arch=sm_35\n", Some(false)),
            ("-code=sm_$(SM)\n", Some(false)),
            ("set(CMAKE_CUDA_ARCHITECTURES 35 60)\n", Some(true)),
            ("set(CMAKE_CUDA_ARCHITECTURES 60 75)\n", Some(false)),
            ("-O3\n", None),
        ] {
            assert_eq!(is_for_old_devices(text), expected, "{text}");
        }
    }

    #[test]
    fn devices_that_are_taken_where_nobody_gives_one() {
        for (text, expected) in [
            ("AS_IF([..],[CUDA_ARCH=\" -arch=sm_11\"],[CUDA_ARCH=\" -arch=$enableval\"])\n", Some(true)),
            ("NVCCFLAGS=\"-gencode arch=compute_20,code=sm_21\"\n", Some(true)),
            ("[CUDA_ARCH=\" -arch=sm_11\"],[CUDA_ARCH=\" -arch=sm_75\"]\n", Some(false)),
            ("CUDA_ARCH=\"-arch=sm_11\"\ncase $with_arch in sm_80) ;; esac\n", Some(false)),
            ("CUDA_ARCH=\"-arch=$enableval\"\n", None),
            ("AC_PROG_CXX\n", None),
        ] {
            assert_eq!(is_for_old_devices_by_default(text), expected, "{text}");
        }
    }
}
