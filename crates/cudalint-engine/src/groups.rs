//! Which files a run is about: those of the given paths by the project they belong to, and what a project has besides.

use crate::outcome::{Fault, Part, UsageError};
use crate::partners;
use crate::paths::{display, real_path};
use crate::project::Source;
use crate::provider::{Disk, Overlay};
use crate::request::{Request, StandardInput};
use crate::root::Roots;
use crate::settings::{self, Loaded};
use crate::walk::{self, Found, Globs, Walked};
use cudalint_files::Bounds;
use cudalint_syntax::FileKind;
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Files of one project.
pub(crate) struct Group {
    pub root: Option<PathBuf>,
    pub settings: Loaded,
    pub sources: Vec<Source>,
}

/// The one file that standard input stands for.
pub(crate) fn standard_input(
    input: &StandardInput,
    roots: &mut Roots<'_>,
    disk: &mut Disk,
) -> Result<Group, UsageError> {
    let wrong = |error: settings::SettingsError| UsageError(error.to_string());
    let path = input.filename.clone().unwrap_or_else(|| PathBuf::from("<stdin>"));
    let kind = match &input.filename {
        None => FileKind::Cuda,
        Some(name) => FileKind::of(name).ok_or_else(|| {
            UsageError(format!("--stdin-filename {}: no file of a kind that cudalint reads", name.display()))
        })?,
    };
    let real = real_path(&path);
    disk.overlay.insert(real.clone(), input.bytes.as_slice().into());
    let folder = real.parent().unwrap_or(Path::new("")).to_owned();
    let root = if input.filename.is_some() { roots.root(&folder).map_err(wrong)? } else { None };
    Ok(Group {
        root,
        settings: roots.settings(&folder).map_err(wrong)?,
        sources: vec![Source { path: display(&path).into(), real, kind, explicit: true, reported: true }],
    })
}

/// What is below the one folder that a run is about. Where that is a project's root, its index needs no walk of its own.
pub(crate) struct Below {
    /// The real path of the folder.
    folder: PathBuf,
    files: Vec<Found>,
    others: Vec<PathBuf>,
}

/// The files of the paths, by the project they belong to; where they are all that is below one folder, what that is.
pub(crate) fn groups(
    request: &Request,
    roots: &mut Roots<'_>,
    all: &mut Part,
) -> Result<(Vec<Group>, Option<Below>), UsageError> {
    let wrong = |error: settings::SettingsError| UsageError(error.to_string());
    let here = [PathBuf::from(".")];
    let paths = if request.paths.is_empty() { &here[..] } else { &request.paths };
    for path in paths {
        roots.assume(&real_path(path)).map_err(wrong)?;
    }
    let excludes = Excludes::new(paths, roots).map_err(wrong)?;
    let walked = walk::walk(paths, &request.overlay, &|real| excludes.matches(real), request.force_exclude);
    all.faults.extend(walked.faults);
    all.incomplete.extend(walked.incomplete);
    // Who lists files by rote, as a commit hook does, need not know which of them can be read.
    for path in walked.unread.into_iter().filter(|_| !request.force_exclude) {
        all.faults.push(Fault {
            path: display(&path),
            message:
                "not linted: cudalint reads CUDA C++, C and C++ sources and headers, Python, notebooks and Markdown"
                    .to_owned(),
            internal: false,
        });
    }
    let mut groups: BTreeMap<(Option<PathBuf>, Option<PathBuf>), Group> = BTreeMap::new();
    for file in &walked.files {
        let folder = file.real.parent().unwrap_or(Path::new("")).to_owned();
        let root = roots.root(&folder).map_err(wrong)?;
        let settings = roots.settings(root.as_deref().unwrap_or(&folder)).map_err(wrong)?;
        let group = groups.entry((root.clone(), settings.file.clone())).or_insert_with(|| Group {
            root,
            settings,
            sources: Vec::new(),
        });
        // A settings file below the given folder excludes, too.
        if (!file.explicit || request.force_exclude) && exclusion(&group.settings).matches(&file.real) {
            continue;
        }
        group.sources.push(Source {
            path: display(&file.path).into(),
            real: file.real.clone(),
            kind: file.kind,
            explicit: file.explicit,
            reported: true,
        });
    }
    let below = match paths {
        [folder] if folder.is_dir() => {
            Some(Below { folder: real_path(folder), files: walked.files, others: walked.others })
        }
        _ => None,
    };
    Ok((groups.into_values().filter(|group| !group.sources.is_empty()).collect(), below))
}

/// The `exclude` globs of a settings file.
fn exclusion(loaded: &Loaded) -> Globs {
    let base = loaded.file.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
    Globs::new(base, &loaded.settings.exclude)
}

/// The `exclude` globs that concern the paths of a run: those of the settings around each path. A settings file further
/// down adds its own when its project is indexed.
struct Excludes(Vec<Globs>);

impl Excludes {
    fn new(paths: &[PathBuf], roots: &mut Roots<'_>) -> Result<Self, settings::SettingsError> {
        let mut globs: BTreeMap<PathBuf, Globs> = BTreeMap::new();
        for path in paths {
            let real = real_path(path);
            let folder = if real.is_dir() { real } else { real.parent().unwrap_or(Path::new("")).to_owned() };
            let loaded = roots.settings(&folder)?;
            if let Some(base) = loaded.file.as_deref().and_then(Path::parent) {
                globs.entry(base.to_owned()).or_insert_with(|| exclusion(&loaded));
            }
        }
        Ok(Self(globs.into_values().collect()))
    }

    fn matches(&self, real: &Path) -> bool {
        self.0.iter().any(|globs| globs.matches(real))
    }
}

/// Scripts beside a run over CUDA C++ are read up to this part of what the index may hold.
const SHARE_OF_SCRIPTS: u64 = 8;

/// What a project has besides the files that are reported.
#[derive(Default)]
pub(crate) struct Index {
    pub sources: Vec<Source>,
    /// Those of the language that nobody asked about, which a script may bind to the others by a name.
    pub partners: Vec<Source>,
    /// Paths of Python files: their names alone matter, since they may hide packages.
    pub python: Vec<String>,
    /// Texts that may name sources and functions; none where not all of the project's sources are known.
    pub others: Option<Vec<PathBuf>>,
    /// Whether the sources were left out for their size.
    pub capped: bool,
}

/// Finds the project's other sources, as far as the kinds of the files that will be linted ask for them. `below`: what a walk has
/// found before.
pub(crate) fn index(
    root: &Path,
    kinds: &[FileKind],
    group: &Group,
    below: &mut Option<Below>,
    roots: &mut Roots<'_>,
    shown: &dyn Fn(&Path) -> String,
) -> Result<Index, UsageError> {
    let mut index = Index::default();
    // Documents stand for themselves.
    if kinds == [FileKind::Markdown] {
        return Ok(index);
    }
    let cuda = kinds.iter().any(|kind| matches!(kind, FileKind::Cuda | FileKind::CFamily));
    let python = kinds.iter().any(|kind| matches!(kind, FileKind::Python | FileKind::Notebook));
    let walked = match below.take_if(|below| below.folder == root) {
        // The settings of the root have excluded what they exclude.
        Some(Below { files, others, .. }) => Walked { files, others, ..Walked::default() },
        None => {
            let globs = exclusion(&group.settings);
            walk::walk(&[root.to_owned()], &Overlay::default(), &|real| globs.matches(real), false)
        }
    };
    let known: FxHashSet<&Path> = group.sources.iter().map(|source| source.real.as_path()).collect();
    let (mut bytes, mut bytes_of_partners) = (0, 0);
    for file in walked.files {
        // A folder with a mark of its own is another project.
        let parent = file.real.parent().unwrap_or(root);
        if roots.root(parent).map_err(|error| UsageError(error.to_string()))?.as_deref() != Some(root) {
            continue;
        }
        let path = || shown(&file.real);
        let is_cuda = matches!(file.kind, FileKind::Cuda | FileKind::CFamily);
        let wanted = match file.kind {
            // Of Python only what uses the GPU is kept, which its size does not tell.
            FileKind::Python => {
                index.python.push(path());
                python
            }
            _ => is_cuda && cuda,
        };
        let is_script = partners::is_script(file.kind);
        let partner = !wanted && (is_cuda && python || is_script && cuda);
        if is_cuda && wanted {
            bytes += file.bytes;
        } else if partner && !is_cuda {
            bytes_of_partners += file.bytes;
        }
        if (wanted || partner) && !known.contains(file.real.as_path()) {
            let path = path().into();
            let source = Source { path, kind: file.kind, explicit: false, reported: false, real: file.real };
            if partner { &mut index.partners } else { &mut index.sources }.push(source);
        }
    }
    let most = group.settings.settings.index.max_bytes;
    // Scripts are read each time to know which of them matter, and few projects have such.
    if bytes_of_partners > most / SHARE_OF_SCRIPTS {
        index.partners.clear();
    }
    if bytes > most {
        index.capped = true;
        index.sources.clear();
    } else {
        index.others = Some(walked.others);
    }
    Ok(index)
}

/// The folder that relative paths of the settings start from.
pub(crate) fn base_of(group: &Group) -> PathBuf {
    let file = group.settings.file.as_deref().and_then(Path::parent).map(Path::to_owned);
    file.or_else(|| group.root.clone()).unwrap_or_default()
}

/// Where the includes of a group's files may lead. Around files of no project these are their folder and what stands beside it,
/// as `include` stands beside `src`.
pub(crate) fn bounds(group: &Group, includes: &[PathBuf]) -> Bounds {
    if group.root.is_some() {
        return Bounds::new(group.root.as_deref(), includes);
    }
    let beside = |source: &Source| {
        let folder = source.real.parent()?;
        Some(folder.parent().filter(|above| above.parent().is_some()).unwrap_or(folder).to_owned())
    };
    let folders: FxHashSet<PathBuf> = group.sources.iter().filter_map(beside).collect();
    let folders: Vec<PathBuf> = folders.into_iter().chain(includes.iter().cloned()).collect();
    Bounds::new(None, &folders)
}
