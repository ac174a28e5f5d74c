//! Sources that the build of their folder leaves out, while it lists their neighbours one by one: what the rest of a large project's
//! build does says nothing of them.

use crate::others::Other;
use crate::others::file_names;
use crate::patterns::Patterns;
use crate::roles::{COMPILED, Role};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::{OnceCell, RefCell};
use std::path::{Path, PathBuf};

/// A build has to name so many sources of a folder before it says something of one that it does not name.
const LEAST: usize = 3;

/// A build file.
struct Build<'t> {
    folder: &'t Path,
    /// Names of sources that it spells.
    names: FxHashSet<&'t str>,
    text: &'t Other,
    patterns: OnceCell<Patterns<'t>>,
}

impl<'t> Build<'t> {
    fn patterns(&self) -> &Patterns<'t> {
        self.patterns.get_or_init(|| Patterns::of(std::slice::from_ref(self.text)))
    }
}

/// The build files at and above a folder, each with how many of its sources it names; nothing where they name too few.
type Listers = Option<Vec<(usize, usize)>>;

/// Folders and the build files that may list their sources.
pub(crate) struct ListedNeighbours<'t> {
    builds: Vec<Build<'t>>,
    /// Names of sources by their folders.
    sources: FxHashMap<&'t Path, FxHashSet<&'t str>>,
    /// By folder, as they are asked for.
    listers: RefCell<FxHashMap<PathBuf, Listers>>,
}

impl<'t> ListedNeighbours<'t> {
    /// `files`: the real paths of the files that are read as programs.
    pub fn of(files: impl Iterator<Item = &'t Path>, texts: &'t [Other]) -> Self {
        let builds = texts.iter().filter(|text| text.role == Role::Build).map(|text| Build {
            folder: text.folder(),
            names: file_names(&text.text).collect(),
            text,
            patterns: OnceCell::new(),
        });
        let quiet = texts.iter().filter(|text| text.role == Role::Quiet).map(|text| &*text.path);
        let mut sources: FxHashMap<&Path, FxHashSet<&str>> = FxHashMap::default();
        for path in files.chain(quiet) {
            let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
                continue;
            };
            if COMPILED.iter().any(|ending| name.ends_with(ending)) {
                sources.entry(folder).or_default().insert(name);
            }
        }
        Self { builds: builds.collect(), sources, listers: RefCell::default() }
    }

    /// Whether the builds at and above a folder list its sources one by one, and take no others by a pattern. Whether one names the
    /// source is for the caller to know.
    pub fn lists_one_by_one(&self, folder: &Path, name: &str) -> bool {
        let mut known = self.listers.borrow_mut();
        let listers = known.entry(folder.to_owned()).or_insert_with(|| self.listers(folder));
        let Some(listers) = listers else { return false };
        // A pattern in a folder that only a variable names may mean any folder; where the sources are listed it hardly means theirs.
        let takes = |(build, named): &(usize, usize)| match named {
            0 => self.builds[*build].patterns().cover_by_name(folder, name),
            _ => self.builds[*build].patterns().cover(folder, name),
        };
        !listers.iter().any(takes)
    }

    fn listers(&self, folder: &Path) -> Listers {
        let sources = self.sources.get(folder)?;
        let above = self.builds.iter().enumerate().filter(|(_, build)| folder.starts_with(build.folder));
        let named = |build: &Build<'_>| sources.iter().filter(|source| build.names.contains(**source)).count();
        let listers: Vec<(usize, usize)> = above.map(|(index, build)| (index, named(build))).collect();
        let most = listers.iter().map(|(_, named)| *named).max()?;
        // A build that is there, or that says the way there (`utils/dataset.cpp`), and names more than half of the sources: one of a few
        // sources leaves little else there.
        let is_beside = |(build, named): &(usize, usize)| {
            let build = &self.builds[*build];
            // A database of compile commands is as old as the last build.
            if build.text.path.extension().is_some_and(|ending| ending == "json") {
                return false;
            }
            let way = folder.strip_prefix(build.folder).ok().and_then(Path::to_str).unwrap_or("");
            let says = |source: &&&str| build.text.text.contains(&format!("{way}/{source}"));
            *named == most && (way.is_empty() || sources.iter().find(says).is_some())
        };
        let others = sources.len() - 1;
        let is_small = most > 0 && 2 * most > others && listers.iter().any(is_beside);
        (is_small || most >= LEAST && 2 * most >= others).then_some(listers)
    }
}
