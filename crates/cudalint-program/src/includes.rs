//! Which file includes which, among the files of a project.

use crate::file_set::FileSet;
use rustc_hash::FxHashMap;
use std::sync::{LazyLock, OnceLock};

/// One file as the include graph needs it.
#[derive(Clone, Debug, Default)]
pub struct IncludingFile {
    /// Path, with `/` between its parts.
    pub path: String,
    /// Included paths as written, each with whether it stands in angle brackets.
    pub includes: Vec<(String, bool)>,
    /// Whether the file stands for itself (a fence in a document): it sees no other, and none sees it.
    pub alone: bool,
}

/// The include graph of a project.
#[derive(Debug, Default)]
pub struct IncludeGraph {
    edges: Vec<Vec<u32>>,
    /// What each include of a file leads to, in the order of its directives.
    targets: Vec<Vec<Option<u32>>>,
    includers: Vec<Vec<u32>>,
    /// The includes that lead to a file: includer, and which of its includes.
    places: Vec<Vec<(u32, u32)>>,
    /// Which includes of a file lead to headers that are not here and are not the system's or the toolkit's.
    lost: Vec<Vec<u32>>,
    /// Whether some include of a file names a source (`kernels.cu`) that is not here.
    lacks_source: Vec<bool>,
    alone: Vec<bool>,
    /// The folder of each file, with its last `/`.
    folders: Vec<Box<str>>,
    reach: Vec<OnceLock<Reach>>,
}

/// What one file sees.
#[derive(Clone, Debug, Default)]
pub struct Reach {
    /// Files included, at any depth, sorted; the file itself excluded.
    pub included: FileSet,
    /// Files that include it, at any depth, and what those include; sorted, without `included` and itself. Empty when
    /// there are too many to speak of one context.
    pub context: FileSet,
    /// Whether there are too many includers to speak of one context.
    pub crowded: bool,
    /// Whether some include of the file or of `included` is out of sight and is no system header.
    pub missing: bool,
    /// Whether some include of the file or of `included` names a source that is out of sight: unlike a header, which declares what
    /// stands elsewhere, it may define any function that is not declared in sight.
    pub lacks_source: bool,
}

/// More includers than this make no common context.
const MAX_CONTEXT: usize = 300;

impl IncludeGraph {
    /// Resolves every include: next to the file, below `folders` (`-I`), else the file whose path ends in the included
    /// one and shares the longest way from the root with the including file, when that is one file.
    pub fn build(files: &[IncludingFile], folders: &[String]) -> Self {
        let paths: Vec<String> = files.iter().map(|file| normalize(&file.path)).collect();
        let mut exact: FxHashMap<&str, u32> = FxHashMap::default();
        let mut by_name: FxHashMap<&str, Vec<u32>> = FxHashMap::default();
        for (index, path) in paths.iter().enumerate() {
            if files.get(index).is_some_and(|file| !file.alone) {
                exact.entry(path).or_insert(index as u32);
                by_name.entry(last_part(path)).or_default().push(index as u32);
            }
        }
        let folders: Vec<String> = folders.iter().map(|folder| normalize(folder)).collect();
        let mut graph = Self {
            edges: vec![Vec::new(); files.len()],
            targets: vec![Vec::new(); files.len()],
            includers: vec![Vec::new(); files.len()],
            places: vec![Vec::new(); files.len()],
            lost: vec![Vec::new(); files.len()],
            lacks_source: vec![false; files.len()],
            alone: files.iter().map(|file| file.alone).collect(),
            folders: paths
                .iter()
                .map(|path| path.get(..path.rfind('/').map_or(0, |at| at + 1)).unwrap_or("").into())
                .collect(),
            reach: Vec::new(),
        };
        graph.reach.resize_with(files.len(), OnceLock::new);
        for (index, file) in files.iter().enumerate() {
            if file.alone {
                continue;
            }
            let Some(path) = paths.get(index) else { continue };
            for (number, (target, system)) in (0..).zip(&file.includes) {
                let found = resolve(path, target, *system, &folders, &exact, &by_name, &paths);
                if let Some(targets) = graph.targets.get_mut(index) {
                    targets.push(found.filter(|other| *other as usize != index));
                }
                match found {
                    Some(other) if other as usize != index => {
                        if let Some(edges) = graph.edges.get_mut(index)
                            && !edges.contains(&other)
                        {
                            edges.push(other);
                        }
                        if let Some(includers) = graph.includers.get_mut(other as usize)
                            && includers.last() != Some(&(index as u32))
                        {
                            includers.push(index as u32);
                        }
                        if let Some(places) = graph.places.get_mut(other as usize) {
                            places.push((index as u32, number));
                        }
                    }
                    Some(_) => {}
                    None if is_header_of_a_library(target, *system) => {}
                    None => {
                        if let Some(lost) = graph.lost.get_mut(index) {
                            lost.push(number);
                        }
                        if let Some(lacks) = graph.lacks_source.get_mut(index) {
                            *lacks |= is_source(target);
                        }
                    }
                }
            }
        }
        graph
    }

    /// Files that a file includes itself, in order.
    pub fn direct(&self, file: u32) -> &[u32] {
        self.edges.get(file as usize).map_or(&[], Vec::as_slice)
    }

    /// What each include of a file leads to, in the order of its directives; nothing for what is out of sight.
    pub fn targets(&self, file: u32) -> &[Option<u32>] {
        self.targets.get(file as usize).map_or(&[], Vec::as_slice)
    }

    /// Which includes of a file, by number, lead to headers that are not here and are not the system's or the toolkit's.
    pub fn lost(&self, file: u32) -> &[u32] {
        self.lost.get(file as usize).map_or(&[], Vec::as_slice)
    }

    /// Files that include it themselves.
    pub fn includers(&self, file: u32) -> &[u32] {
        self.includers.get(file as usize).map_or(&[], Vec::as_slice)
    }

    /// The includes that lead to a file: includer, and which of its includes; in the order of the includers.
    pub fn places(&self, file: u32) -> &[(u32, u32)] {
        self.places.get(file as usize).map_or(&[], Vec::as_slice)
    }

    /// Whether one of two files stands in the other's folder or below it: then what is out of sight of one may lead to
    /// the other. A repository may hold many programs, and what one of them calls `run` says nothing of another.
    pub fn are_neighbours(&self, a: u32, b: u32) -> bool {
        let folder = |file: u32| self.folders.get(file as usize).map_or("", |folder| folder);
        folder(a).starts_with(folder(b)) || folder(b).starts_with(folder(a))
    }

    /// Whether a file sees no other.
    pub fn is_alone(&self, file: u32) -> bool {
        self.alone.get(file as usize).copied().unwrap_or(true)
    }

    /// What a file sees. Computed once and kept.
    pub fn reach(&self, file: u32) -> &Reach {
        static NOTHING: LazyLock<Reach> = LazyLock::new(Reach::default);
        self.reach.get(file as usize).map_or(&NOTHING, |cell| cell.get_or_init(|| self.compute(file)))
    }

    fn compute(&self, file: u32) -> Reach {
        if self.is_alone(file) {
            return Reach::default();
        }
        let included = FileSet::new(closure(&[file], &self.edges, usize::MAX));
        let seen = || std::iter::once(&file).chain(included.iter());
        let missing = seen().any(|f| !self.lost(*f).is_empty());
        let lacks_source = missing && seen().any(|f| self.lacks_source.get(*f as usize).copied().unwrap_or(false));
        let includers = closure(&[file], &self.includers, MAX_CONTEXT);
        let mut context = Vec::new();
        let crowded = includers.len() >= MAX_CONTEXT;
        if !crowded {
            context.extend_from_slice(&includers);
            context.extend(closure(&includers, &self.edges, usize::MAX));
            context.sort_unstable();
            context.dedup();
            context.retain(|f| *f != file && !included.has(*f));
        }
        Reach { included, context: FileSet::new(context), crowded, missing, lacks_source }
    }
}

/// Everything that `edges` lead to from `starts`, sorted, the starts excluded; stops at about `limit` files.
fn closure(starts: &[u32], edges: &[Vec<u32>], limit: usize) -> Vec<u32> {
    let mut seen: rustc_hash::FxHashSet<u32> = starts.iter().copied().collect();
    let mut stack: Vec<u32> = starts.to_vec();
    let mut found = Vec::new();
    while let Some(file) = stack.pop() {
        for other in edges.get(file as usize).into_iter().flatten() {
            if seen.insert(*other) {
                found.push(*other);
                stack.push(*other);
            }
        }
        if found.len() >= limit {
            break;
        }
    }
    found.sort_unstable();
    found
}

/// The file that an `#include` of `from` means.
fn resolve(
    from: &str,
    target: &str,
    system: bool,
    folders: &[String],
    exact: &FxHashMap<&str, u32>,
    by_name: &FxHashMap<&str, Vec<u32>>,
    paths: &[String],
) -> Option<u32> {
    let clean = normalize(target);
    let candidates = by_name.get(last_part(&clean))?;
    if !system && let Some(found) = exact.get(join(folder_of(from), target).as_str()) {
        return Some(*found);
    }
    for folder in folders {
        if let Some(found) = exact.get(join(folder, target).as_str()) {
            return Some(*found);
        }
    }
    // Of a header of the toolkit some projects have a stand-in, for builds without one.
    if NAMES.contains(&target) {
        return None;
    }
    let suffix = clean.trim_start_matches("../").trim_start_matches('/');
    let mut best: Option<(usize, u32)> = None;
    let mut tied = false;
    for candidate in candidates {
        let Some(path) = paths.get(*candidate as usize) else { continue };
        let fits = path.strip_suffix(suffix).is_some_and(|head| head.is_empty() || head.ends_with('/'));
        if !fits || path == from {
            continue;
        }
        let shared = shared_parts(path, from);
        match best {
            Some((most, _)) if most > shared => {}
            Some((most, _)) if most == shared => tied = true,
            _ => {
                best = Some((shared, *candidate));
                tied = false;
            }
        }
    }
    best.filter(|_| !tied).map(|(_, found)| found)
}

/// A path with `/` between its parts, without `.` and with `a/..` taken out.
pub(crate) fn normalize(path: &str) -> String {
    let absolute = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if absolute && parts.is_empty() => {}
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    if absolute { format!("/{joined}") } else { joined }
}

/// Whether an included path is that of a file of definitions.
fn is_source(target: &str) -> bool {
    let extension = target.rsplit_once('.').map_or("", |(_, extension)| extension);
    ["cu", "cpp", "cc", "cxx", "c", "inl"].iter().any(|source| extension.eq_ignore_ascii_case(source))
}

fn join(folder: &str, target: &str) -> String {
    if folder.is_empty() || target.starts_with('/') {
        normalize(target)
    } else {
        normalize(&format!("{folder}/{target}"))
    }
}

fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn last_part(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, last)| last)
}

fn shared_parts(a: &str, b: &str) -> usize {
    a.split('/').zip(b.split('/')).take_while(|(x, y)| x == y).count()
}

/// Headers of the system, the toolkit and its libraries by their whole names.
const NAMES: [&str; 73] = [
    "alloca.h",
    "assert.h",
    "builtin_types.h",
    "channel_descriptor.h",
    "common_functions.h",
    "complex.h",
    "conio.h",
    "cooperative_groups.h",
    "ctype.h",
    "cublas.h",
    "cublas_v2.h",
    "cuda.h",
    "cuda_bf16.h",
    "cuda_fp16.h",
    "cuda_profiler_api.h",
    "cuda_runtime.h",
    "cuda_runtime_api.h",
    "cudnn.h",
    "cufft.h",
    "curand.h",
    "curand_kernel.h",
    "cusolverDn.h",
    "cusparse.h",
    "device_functions.h",
    "device_launch_parameters.h",
    "dirent.h",
    "dlfcn.h",
    "errno.h",
    "fcntl.h",
    "fenv.h",
    "float.h",
    "getopt.h",
    "helper_math_builtin.h",
    "inttypes.h",
    "iso646.h",
    "libgen.h",
    "library_types.h",
    "limits.h",
    "locale.h",
    "malloc.h",
    "math.h",
    "memory.h",
    "mma.h",
    "mpi.h",
    "nccl.h",
    "npp.h",
    "nppi.h",
    "npps.h",
    "nvToolsExt.h",
    "nvml.h",
    "nvrtc.h",
    "omp.h",
    "pthread.h",
    "sched.h",
    "setjmp.h",
    "signal.h",
    "sm_60_atomic_functions.h",
    "stdarg.h",
    "stdatomic.h",
    "stdbool.h",
    "stddef.h",
    "stdint.h",
    "stdio.h",
    "stdlib.h",
    "string.h",
    "strings.h",
    "tgmath.h",
    "time.h",
    "unistd.h",
    "values.h",
    "vector_functions.h",
    "vector_types.h",
    "windows.h",
];

/// Whether a header that is not here is one of the toolkit's or the system's. In quotes it is only by its whole name:
/// `cuda_helpers.h` may be anybody's.
fn is_header_of_a_library(target: &str, system: bool) -> bool {
    if system { is_system_header(target) } else { NAMES.contains(&target) }
}

/// Whether a header in angle brackets is the toolchain's or a GPU library's own, which no project file stands for.
pub fn is_system_header(target: &str) -> bool {
    const FOLDERS: [&str; 12] = [
        "thrust/",
        "cub/",
        "cuda/",
        "cooperative_groups/",
        "sys/",
        "nvtx3/",
        "GL/",
        "EGL/",
        "linux/",
        "bits/",
        "arpa/",
        "netinet/",
    ];
    const STARTS: [&str; 14] = [
        "cuda", "cu", "nv", "curand", "device_", "vector_", "math_", "sm_", "texture_", "surface_", "driver_", "host_",
        "crt/", "mma",
    ];
    // Standard C++ headers have no extension.
    !target.contains('.') && !target.contains('/')
        || FOLDERS.iter().any(|folder| target.starts_with(folder))
        || NAMES.contains(&target)
        || (!target.contains('/') && STARTS.iter().any(|start| target.starts_with(start)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, includes: &[&str]) -> IncludingFile {
        let includes = includes
            .iter()
            .map(|target| match target.strip_prefix('<') {
                Some(rest) => (rest.trim_end_matches('>').to_owned(), true),
                None => ((*target).to_owned(), false),
            })
            .collect();
        IncludingFile { path: path.to_owned(), includes, alone: false }
    }

    #[test]
    fn headers_of_the_toolkit_are_no_stand_ins_of_the_project() {
        let files = [
            file("src/a.cu", &["<cuda_runtime.h>", "<helpers.h>"]),
            file("without/cuda_runtime.h", &[]),
            file("without/helpers.h", &[]),
        ];
        assert_eq!(IncludeGraph::build(&files, &[]).direct(0), [2]);
        assert_eq!(IncludeGraph::build(&files, &["without".to_owned()]).direct(0), [1, 2]);
    }

    #[test]
    fn includes_resolve_next_door_then_by_folder_then_by_suffix() {
        let files = [
            file("p/a/main.cu", &["util.h", "../inc/x.h", "<helper.h>", "y.h", "gone.h"]),
            file("p/a/util.h", &[]),
            file("p/b/util.h", &[]),
            file("p/inc/x.h", &["main.cu"]),
            file("p/Common/helper.h", &[]),
            file("p/deep/y.h", &[]),
        ];
        let graph = IncludeGraph::build(&files, &["p/deep".to_owned()]);
        assert_eq!(graph.direct(0), [1, 3, 4, 5]);
        assert_eq!(*graph.reach(0).included, [1, 3, 4, 5]);
        assert!(graph.reach(0).missing);
        // A file that includes its includer: no endless walk, and neither contains itself.
        assert_eq!(*graph.reach(3).included, [0, 1, 4, 5]);
        assert_eq!(*graph.reach(1).context, [0, 3, 4, 5]);
    }

    #[test]
    fn equally_near_files_are_not_chosen_between() {
        let files = [file("p/main.cu", &["<u.h>"]), file("p/a/u.h", &[]), file("p/b/u.h", &[])];
        let graph = IncludeGraph::build(&files, &[]);
        assert!(graph.direct(0).is_empty());
        assert!(graph.reach(0).missing);
    }

    #[test]
    fn a_source_out_of_sight_is_told_from_a_header() {
        let files = [file("a.cu", &["gone.cu"]), file("b.cu", &["gone.h"]), file("c.cu", &["a.cu"])];
        let graph = IncludeGraph::build(&files, &[]);
        let lacks = |file: u32| (graph.reach(file).missing, graph.reach(file).lacks_source);
        assert_eq!([0, 1, 2].map(lacks), [(true, true), (true, false), (true, true)]);
    }

    #[test]
    fn self_including_header_ends() {
        let graph = IncludeGraph::build(&[file("a.h", &["a.h", "b.h"]), file("b.h", &["a.h"])], &[]);
        assert_eq!(*graph.reach(0).included, [1]);
        assert_eq!(*graph.reach(1).included, [0]);
    }

    #[test]
    fn fences_see_nothing() {
        let mut fence = file("doc.md", &["a.h"]);
        fence.alone = true;
        let graph = IncludeGraph::build(&[fence, file("a.h", &[])], &[]);
        assert!(graph.reach(0).included.is_empty());
        assert!(!graph.reach(0).missing);
    }
}
