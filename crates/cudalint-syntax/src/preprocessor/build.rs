//! What a build says about macros: those of the compiler, of the architecture and toolkit, and of the command line.

use super::condition::{Conditions, Meaning, evaluate};
use crate::vendors::is_of_other_vendor;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Compute capability (`major * 10 + minor`) that `__CUDA_ARCH__` states where nothing is said.
pub const DEFAULT_ARCHITECTURE: u32 = 80;

/// Major and minor version of the toolkit where nothing is said.
pub const DEFAULT_TOOLKIT: (u32, u32) = (12, 4);

/// The value of `__cplusplus` where nothing is said: C++17, which nvcc has taken by itself since CUDA 12.
pub const DEFAULT_STANDARD: u32 = 201_703;

/// The macro that only code for the device sees.
const ARCHITECTURE: &str = "__CUDA_ARCH__";

/// Macros of nvcc with GCC on 64-bit Linux, beside those that depend on the build. The versions of GCC are those of a
/// host compiler that each toolkit in use accepts.
const DEFINED: [(&str, &str); 22] = [
    ("__CUDACC__", "1"),
    ("__NVCC__", "1"),
    ("__GNUC__", "11"),
    ("__GNUC_MINOR__", "4"),
    ("__GNUC_PATCHLEVEL__", "0"),
    ("__GNUG__", "11"),
    ("__linux__", "1"),
    ("__linux", "1"),
    ("linux", "1"),
    ("__gnu_linux__", "1"),
    ("__unix__", "1"),
    ("__unix", "1"),
    ("unix", "1"),
    ("__x86_64__", "1"),
    ("__x86_64", "1"),
    ("__amd64__", "1"),
    ("__LP64__", "1"),
    ("_LP64", "1"),
    ("__STDC__", "1"),
    ("__STDC_HOSTED__", "1"),
    ("__CHAR_BIT__", "8"),
    ("__SIZEOF_POINTER__", "8"),
];

/// Macros of other compilers, systems and processors, and those that only a command line defines.
const ABSENT: [&str; 34] = [
    "NDEBUG",
    "_WIN32",
    "_WIN64",
    "WIN32",
    "WIN64",
    "_MSC_VER",
    "__MINGW32__",
    "__CYGWIN__",
    "__APPLE__",
    "__MACOSX__",
    "MACOSX",
    "__MACH__",
    "__clang__",
    "__INTEL_COMPILER",
    "__OPENCL_VERSION__",
    "__CUDACC_RTC__",
    "__DEVICE_EMULATION__",
    "__DOXYGEN__",
    "DOXYGEN_SHOULD_SKIP_THIS",
    "__INTELLISENSE__",
    "__CLION_IDE__",
    "__JETBRAINS_IDE__",
    "__RESHARPER__",
    "__clang_analyzer__",
    "__CUDA_LIBDEVICE__",
    "__QNX__",
    "__ANDROID__",
    "__EMSCRIPTEN__",
    "__aarch64__",
    "__arm__",
    "__i386__",
    "__LP32__",
    "_M_X64",
    "_M_IX86",
];

/// What NVRTC defines otherwise than nvcc: it has no host compiler, whose macros are left open (NVRTC, Predefined Macros).
const OF_NVRTC: [(&str, Meaning<'static>); 6] = [
    ("__CUDACC_RTC__", Meaning::Defined("1")),
    ("__NVCC__", Meaning::Absent),
    ("__GNUC__", Meaning::Unknown),
    ("__GNUC_MINOR__", Meaning::Unknown),
    ("__GNUC_PATCHLEVEL__", Meaning::Unknown),
    ("__GNUG__", Meaning::Unknown),
];

/// What is known of a build. Empty, it is the documented default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Build {
    /// Compute capabilities as `major * 10 + minor`.
    pub architectures: Vec<u32>,
    /// The oldest architecture, real or virtual, that code is compiled for; 0 where a command for a device names none. What is older
    /// than the rest decides what the language has.
    pub oldest: Option<u32>,
    /// Major and minor version of the toolkit.
    pub toolkit: Option<(u32, u32)>,
    /// The value of `__cplusplus`.
    pub standard: Option<u32>,
    /// `NAME`, which means 1, or `NAME=value`.
    pub defines: Vec<String>,
    /// Names that `-U` takes away.
    pub undefines: Vec<String>,
}

impl Build {
    /// Reads a compiler's command line as far as it concerns macros: `-D`, `-U`, `-std`, architectures, and the toolkit
    /// by the paths of the compiler and of include folders. What comes later wins, as for a compiler.
    pub fn of_command<'w>(words: impl IntoIterator<Item = &'w str>) -> Self {
        let mut build = Self::default();
        let mut macros: BTreeMap<String, Option<String>> = BTreeMap::new();
        let mut words = words.into_iter().peekable();
        let mut for_device = false;
        while let Some(word) = words.next() {
            for_device |= word.rsplit_once('.').map_or(word, |(_, extension)| extension) == "cu";
            build.toolkit = build.toolkit.or_else(|| toolkit_in(word));
            let mut value = |flags: &[&str]| -> Option<&str> {
                let rest = flags.iter().find_map(|flag| word.strip_prefix(flag))?;
                if rest.is_empty() { words.next() } else { Some(rest.strip_prefix('=').unwrap_or(rest)) }
            };
            if let Some(define) = value(&["-D", "--define-macro"]) {
                let name = name_of(define);
                macros.insert(name.to_owned(), Some(define.to_owned()));
            } else if let Some(name) = value(&["-U", "--undefine-macro"]) {
                macros.insert(name.trim().to_owned(), None);
            } else if let Some(target) = value(&["-gencode", "--generate-code", "-arch", "--gpu-architecture"]) {
                build.architectures.extend(architectures_in(target));
                build.oldest = older(build.oldest, numbers_after(target, &["sm_", "compute_"]).min());
            } else if let Some(standard) = value(&["-std", "--std"]) {
                build.standard = standard_of(standard).or(build.standard);
            }
        }
        for (name, define) in macros {
            match define {
                Some(define) => build.defines.push(define),
                None => build.undefines.push(name),
            }
        }
        if for_device {
            build.oldest = build.oldest.or(Some(0));
        }
        build.architectures.sort_unstable();
        build.architectures.dedup();
        build
    }

    /// Its definitions as flags of a compiler; of several of one name the last.
    pub fn flags(&self) -> Vec<String> {
        let last: BTreeMap<&str, &String> = self.defines.iter().map(|define| (name_of(define), define)).collect();
        let taken = self.undefines.iter().filter(|name| !last.contains_key(name.as_str()));
        last.values().map(|define| format!("-D{define}")).chain(taken.map(|name| format!("-U{name}"))).collect()
    }

    /// Several commands of one project: the oldest architecture's, toolkit's and standard's facts hold everywhere. A
    /// macro that has different values in different commands, or that one takes away, holds nowhere.
    pub fn joined(builds: impl IntoIterator<Item = Self>) -> Self {
        let mut joined = Self::default();
        let mut values: BTreeMap<String, Option<String>> = BTreeMap::new();
        let mut contradicted: Vec<String> = Vec::new();
        for build in builds {
            joined.architectures.extend(build.architectures);
            joined.oldest = older(joined.oldest, build.oldest);
            joined.toolkit = older(joined.toolkit, build.toolkit);
            joined.standard = older(joined.standard, build.standard);
            let defined = build.defines.into_iter().map(|define| (name_of(&define).to_owned(), Some(define)));
            for (name, value) in defined.chain(build.undefines.into_iter().map(|name| (name, None))) {
                if values.get(&name).is_some_and(|known| *known != value) {
                    contradicted.push(name.clone());
                }
                values.insert(name, value);
            }
        }
        for (name, value) in values {
            if contradicted.contains(&name) {
                continue;
            }
            match value {
                Some(define) => joined.defines.push(define),
                None => joined.undefines.push(name),
            }
        }
        joined.architectures.sort_unstable();
        joined.architectures.dedup();
        joined
    }
}

fn older<T: Ord>(a: Option<T>, b: Option<T>) -> Option<T> {
    a.into_iter().chain(b).min()
}

/// The numbers after `sm_` in `arch=compute_80,code=[sm_80,compute_80]`; those after `compute_` where no `sm_` is.
fn architectures_in(text: &str) -> Vec<u32> {
    let after = |mark| numbers_after(text, &[mark]).collect();
    let real: Vec<u32> = after("sm_");
    if real.is_empty() { after("compute_") } else { real }
}

/// The numbers that stand behind any of these words in a text.
fn numbers_after<'t>(text: &'t str, marks: &'t [&'t str]) -> impl Iterator<Item = u32> + 't {
    marks.iter().flat_map(|mark| text.match_indices(mark)).filter_map(|(at, mark)| {
        let rest = text.get(at + mark.len()..)?;
        rest.get(..rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len()))?.parse().ok()
    })
}

/// The version in a path of a toolkit: `/usr/local/cuda-12.8/bin/nvcc`, `…/hpc_sdk/…/cuda/12.4/include`.
fn toolkit_in(word: &str) -> Option<(u32, u32)> {
    ["/cuda-", "/cuda/", "/cuda", "\\CUDA\\v"].iter().find_map(|mark| {
        word.match_indices(mark).find_map(|(at, _)| version_of(word.get(at + mark.len()..)?.split(['/', '\\']).next()?))
    })
}

/// Major and minor number of `12.8` or `12.8.1`.
pub fn version_of(text: &str) -> Option<(u32, u32)> {
    let (major, rest) = text.split_once('.')?;
    let minor = rest.split('.').next()?;
    let number = |text: &str| text.parse::<u32>().ok().filter(|number| *number < 100);
    Some((number(major)?, number(minor)?))
}

/// The name in `NAME` or `NAME=value`.
pub fn name_of(define: &str) -> &str {
    define.split('=').next().unwrap_or_default().trim()
}

/// The value of `__cplusplus` for what stands after `-std=`.
pub fn standard_of(name: &str) -> Option<u32> {
    let number = name.strip_prefix("c++").or_else(|| name.strip_prefix("gnu++"))?;
    Some(match number {
        "98" | "03" | "0x" => 199_711,
        "11" => 201_103,
        "14" | "1y" => 201_402,
        "17" | "1z" => 201_703,
        "20" | "2a" => 202_002,
        "23" | "2b" => 202_302,
        _ => return None,
    })
}

/// The macros that a build defines before any file is read, by name: defined, surely not defined, or not known.
#[derive(Clone, Debug)]
pub struct BuildMacros {
    /// `None` for what is surely not defined.
    known: FxHashMap<Box<str>, Option<Box<str>>>,
    /// What the command line or the settings define, in their order.
    given: Vec<(Box<str>, Box<str>)>,
}

impl Default for BuildMacros {
    fn default() -> Self {
        Self::new(&Build::default())
    }
}

impl BuildMacros {
    /// Of a build. Code for the device is what matters, so that `__CUDA_ARCH__` is defined: by the oldest architecture.
    pub fn new(build: &Build) -> Self {
        let mut known: FxHashMap<Box<str>, Option<Box<str>>> = FxHashMap::default();
        known.extend(ABSENT.iter().map(|name| (Box::from(*name), None)));
        known.extend(DEFINED.iter().map(|(name, value)| (Box::from(*name), Some(Box::from(*value)))));
        let architecture = build.architectures.iter().min().copied().unwrap_or(DEFAULT_ARCHITECTURE);
        let (major, minor) = build.toolkit.unwrap_or(DEFAULT_TOOLKIT);
        let version = major * 1_000 + minor * 10;
        for (name, value) in [
            (ARCHITECTURE, architecture * 10),
            ("__CUDACC_VER_MAJOR__", major),
            ("__CUDACC_VER_MINOR__", minor),
            ("CUDART_VERSION", version),
            ("CUDA_VERSION", version),
        ] {
            known.insert(name.into(), Some(value.to_string().into()));
        }
        let standard = build.standard.unwrap_or(DEFAULT_STANDARD);
        known.insert("__cplusplus".into(), Some(format!("{standard}L").into()));
        known.extend(build.undefines.iter().map(|name| (Box::from(name.as_str()), None)));
        let mut given = Vec::with_capacity(build.defines.len());
        for define in &build.defines {
            let (name, value) = define.split_once('=').unwrap_or((define, "1"));
            let (name, value): (Box<str>, Box<str>) = (name.trim().into(), value.trim().into());
            known.insert(name.clone(), Some(value.clone()));
            given.push((name, value));
        }
        Self { known, given }
    }

    /// Those of a build of which nothing is said.
    pub fn of_default() -> &'static Self {
        static DEFAULT: LazyLock<BuildMacros> = LazyLock::new(BuildMacros::default);
        &DEFAULT
    }

    /// Of a build of which only definitions are known: `NAME` or `NAME=value`.
    pub fn with_defines<'d>(defines: impl IntoIterator<Item = &'d str>) -> Self {
        let defines = defines.into_iter().map(str::to_owned).collect();
        Self::new(&Build { defines, ..Build::default() })
    }

    /// What a name means before any file is read. Macros of compilers for other vendors' devices are not defined.
    pub fn meaning(&self, name: &str) -> Meaning<'_> {
        match self.known.get(name) {
            Some(Some(value)) => Meaning::Defined(value),
            Some(None) => Meaning::Absent,
            None if is_of_other_vendor(name) => Meaning::Absent,
            None => Meaning::Unknown,
        }
    }

    /// What a name means where code is compiled for the host: the architecture is a macro of the device's pass alone.
    pub fn meaning_on_host(&self, name: &str) -> Meaning<'_> {
        if name == ARCHITECTURE && !self.is_given(name) { Meaning::Absent } else { self.meaning(name) }
    }

    /// The same build for a program that NVRTC compiles.
    #[must_use]
    pub fn for_nvrtc(&self) -> Self {
        let mut build = self.clone();
        for (name, meaning) in OF_NVRTC.iter().filter(|(name, _)| !self.is_given(name)) {
            match meaning {
                Meaning::Defined(value) => build.known.insert((*name).into(), Some((*value).into())),
                Meaning::Absent => build.known.insert((*name).into(), None),
                _ => build.known.remove(*name),
            };
        }
        build
    }

    /// What the command line or the settings define, with values.
    pub fn given(&self) -> impl Iterator<Item = (&str, &str)> {
        self.given.iter().map(|(name, value)| (&**name, &**value))
    }

    /// Whether the command line or the settings define a name.
    pub fn is_given(&self, name: &str) -> bool {
        self.given.iter().any(|(given, _)| **given == *name)
    }

    /// All macros that are defined, with values, in no order.
    pub fn defined(&self) -> impl Iterator<Item = (&str, &str)> {
        self.known.iter().filter_map(|(name, value)| Some((&**name, value.as_deref()?)))
    }
}

impl Conditions for BuildMacros {
    fn holds(&self, condition: &str, _at: u32) -> Option<bool> {
        evaluate(condition, &|name| self.meaning(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value<'m>(macros: &'m BuildMacros, name: &str) -> Option<&'m str> {
        match macros.meaning(name) {
            Meaning::Defined(value) => Some(value),
            _ => None,
        }
    }

    #[test]
    fn a_command_line_says_what_is_defined() {
        let words =
            "/usr/local/cuda-12.8/bin/nvcc -DN=4 -D FAST -DN=5 -U FAST -DNAME=\"x\" -std=c++14 -arch=sm_90a a.cu";
        let build = Build::of_command(words.split(' '));
        assert_eq!(build.toolkit, Some((12, 8)));
        assert_eq!((build.standard, build.architectures.as_slice()), (Some(201_402), &[90][..]));
        assert_eq!(build.defines, ["N=5", "NAME=\"x\""]);
        assert_eq!(build.undefines, ["FAST"]);
        let macros = BuildMacros::new(&build);
        for (name, expected) in [
            ("N", Some("5")),
            ("FAST", None),
            ("__CUDA_ARCH__", Some("900")),
            ("CUDART_VERSION", Some("12080")),
            ("__cplusplus", Some("201402L")),
            ("NDEBUG", None),
        ] {
            assert_eq!(value(&macros, name), expected, "{name}");
        }
        assert_eq!(macros.meaning("FAST"), Meaning::Absent);
        assert_eq!(macros.meaning("USE_ROCM"), Meaning::Absent);
        assert_eq!(macros.meaning("USE_CUDA"), Meaning::Unknown);
    }

    #[test]
    fn commands_that_disagree_say_what_holds_for_all() {
        let commands = [
            "nvcc -I/opt/nvidia/cuda/12.4/include -DN=1 -DA -UB -gencode arch=compute_80,code=[sm_80,compute_80]",
            "/usr/local/cuda-11.8/bin/nvcc -DN=2 -DA -DB -arch=compute_70 -std=c++17",
        ];
        let build = Build::joined(commands.map(|command| Build::of_command(command.split(' '))));
        assert_eq!((build.toolkit, build.standard), (Some((11, 8)), Some(201_703)));
        assert_eq!((build.architectures.as_slice(), build.oldest), (&[70, 80][..], Some(70)));
        assert_eq!((build.defines, build.undefines), (vec!["A".to_owned()], Vec::new()));
    }

    #[test]
    fn the_oldest_architecture_is_the_virtual_one_and_unknown_where_a_command_names_none() {
        for (command, expected) in [
            ("nvcc -gencode arch=compute_60,code=sm_70 -c a.cu", Some(60)),
            ("nvcc -arch=sm_80 -c a.cu", Some(80)),
            ("nvcc -arch=native -c a.cu", Some(0)),
            ("nvcc -c a.cu", Some(0)),
            ("g++ -c a.cpp", None),
        ] {
            assert_eq!(Build::of_command(command.split(' ')).oldest, expected, "{command}");
        }
    }

    #[test]
    fn nvrtc_is_no_nvcc() {
        let macros = BuildMacros::with_defines(["__GNUC__=9", "N=1"]).for_nvrtc();
        assert_eq!(value(&macros, "__CUDACC_RTC__"), Some("1"));
        assert_eq!(macros.meaning("__NVCC__"), Meaning::Absent);
        assert_eq!(macros.meaning("__GNUG__"), Meaning::Unknown);
        assert_eq!((value(&macros, "__GNUC__"), value(&macros, "N")), (Some("9"), Some("1")));
        assert_eq!(macros.meaning_on_host("__CUDA_ARCH__"), Meaning::Absent);
    }

    #[test]
    fn what_is_given_stands_above_what_is_usual() {
        let macros = BuildMacros::with_defines(["NDEBUG", "__CUDA_ARCH__=700", "_WIN32"]);
        assert_eq!(value(&macros, "NDEBUG"), Some("1"));
        assert_eq!(value(&macros, "__CUDA_ARCH__"), Some("700"));
        assert_eq!(value(&macros, "_WIN32"), Some("1"));
    }
}
