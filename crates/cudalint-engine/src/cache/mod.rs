//! What a run has found, kept for the next one.
//!
//! An entry is the result of one project. It holds as long as the run that would be made gives the same: the same program,
//! asked the same, about the same files (all that is found without reading sources is found anew each time, and is part of the
//! entry's [basis](Basis)), which would read the same and get the same answers ([`Recording`]). Whatever does not fit is linted
//! anew, and nothing that goes wrong with a cache is an error.

mod folder;
mod recording;
mod stored;

pub(crate) use folder::{Folder, NAME};

use crate::lint::lint_project;
use crate::outcome::{Part, UsageError};
use crate::project::ProjectInput;
use crate::provider::Provider;
use crate::request::{CacheChoice, Request};
use crate::rule::RuleTable;
use blake3::Hash;
use recording::Recording;
use std::fmt::Write as _;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The hash of the program that runs: of its code, so that none of an earlier build's results are taken for its own. None where
/// the program cannot be read.
fn program() -> Option<Hash> {
    static PROGRAM: OnceLock<Option<Hash>> = OnceLock::new();
    *PROGRAM.get_or_init(|| {
        // The program that was started, also where another has taken its place since.
        let own = Path::new("/proc/self/exe");
        let own = if cfg!(target_os = "linux") { own.to_owned() } else { std::env::current_exe().ok()? };
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(File::open(own).ok()?).ok()?;
        Some(hasher.finalize())
    })
}

/// Where a project is, and where it is looked at from.
pub(crate) struct Around<'a> {
    /// Its root.
    pub root: Option<&'a Path>,
    /// The folder that paths in its settings start from.
    pub base: &'a Path,
    /// The folder that paths are shown from, and whether they are shown whole.
    pub shown: (&'a Path, bool),
}

/// What a result rests on but for the files that were read, and what names its entry.
struct Basis {
    /// Who asked for what: one entry is kept of each.
    pub name: Hash,
    /// All of it.
    pub whole: Hash,
}

/// Text that is only hashed.
struct Hashed(blake3::Hasher);

impl std::fmt::Write for Hashed {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.0.update(text.as_bytes());
        Ok(())
    }
}

impl Hashed {
    fn of(parts: &[&dyn std::fmt::Debug]) -> Option<Hash> {
        let mut hashed = Self(blake3::Hasher::new());
        parts.iter().try_for_each(|part| writeln!(hashed, "{part:?}")).ok()?;
        Some(hashed.0.finalize())
    }
}

impl Basis {
    /// That of a project.
    pub fn of(table: &RuleTable, request: &Request, around: &Around<'_>, input: &ProjectInput<'_>) -> Option<Self> {
        // Whoever adds a field decides here whether findings hang on it.
        let ProjectInput {
            rules: _,
            levels,
            settings,
            overrides: _, // Those of the settings, from their folder.
            only_local,
            reading,
            sources,
            partners,
            others,
            bounds,
            shown: _,    // What is around says how.
            provider: _, // See `Recording`.
            in_work: _,  // That of sources, and `since`.
            steps: _,
            look: _,
            kept: _,
        } = input;
        let Request {
            paths,
            standard_input: _, // Never kept.
            choices,
            architectures,
            defines,
            configuration,
            force_exclude,
            build,
            baseline: _, // Taken away from the result, as is what `since` leaves out.
            since,
            overlay: _, // Never kept.
            cache: _,
            stop: _,
            kept: _,
        } = request;
        let Around { root, base, shown } = around;
        let here = [PathBuf::from(".")];
        let paths = if paths.is_empty() { &here[..] } else { paths };
        let asked: [&dyn std::fmt::Debug; 11] = [
            root,
            base,
            shown,
            &paths,
            choices,
            architectures,
            defines,
            configuration,
            force_exclude,
            build,
            &since.is_some(),
        ];
        let name = Hashed::of(&asked)?;
        let rules: Vec<&str> = table.rules.iter().map(|rule| rule.info.name).collect();
        let (program, name_again) = (program()?, name);
        let parts: [&dyn std::fmt::Debug; 11] =
            [&program, &name_again, &rules, levels, settings, only_local, reading, sources, partners, others, bounds];
        Some(Self { name, whole: Hashed::of(&parts)? })
    }
}

/// The cache of a run.
pub(crate) struct Cache<'r> {
    request: &'r Request,
    /// None where nothing is kept.
    place: Option<Place>,
}

enum Place {
    Projects,
    Folder(Folder),
}

impl<'r> Cache<'r> {
    /// That of a run which is asked for something. `look`: whether somebody looks at more than its result.
    ///
    /// # Errors
    /// When the folder that a user names holds something else.
    pub fn new(request: &'r Request, look: bool) -> Result<Self, UsageError> {
        let place = match &request.cache {
            CacheChoice::None => None,
            // What an editor or a pipe holds changes with each run.
            _ if look || request.standard_input.is_some() || !request.overlay.is_empty() => None,
            CacheChoice::Projects => Some(Place::Projects),
            CacheChoice::Folder(folder) => Some(Place::Folder(Folder::given(folder)?)),
        };
        if place.is_some() {
            // It takes some milliseconds, which another thread may have.
            rayon::spawn(|| {
                program();
            });
        }
        Ok(Self { request, place })
    }

    /// The result for a project: the one that is kept, where it holds, else that of linting it, which is kept.
    pub fn lint(&self, table: &RuleTable, around: &Around<'_>, input: ProjectInput<'_>) -> Part {
        let folder = match &self.place {
            None => None,
            Some(Place::Folder(folder)) => Some(folder.clone()),
            Some(Place::Projects) => {
                let named = input.settings.cache_dir.as_deref().map(Path::new);
                around.root.and_then(|root| Folder::of_project(root, named))
            }
        };
        let entry = folder.and_then(|folder| {
            let basis = Basis::of(table, self.request, around, &input)?;
            Some(Entry { folder, basis })
        });
        let Some(entry) = entry else { return lint_project(&input) };
        let disk = input.provider;
        if let Some(part) = entry.load(table, disk) {
            return part;
        }
        let recording = Recording::new(disk);
        let input = ProjectInput { provider: &recording, ..input };
        let part = lint_project(&input);
        if !input.steps.are_over() {
            entry.store(table, &part, &recording);
        }
        part
    }
}

/// The entry of one project in a folder.
struct Entry {
    folder: Folder,
    basis: Basis,
}

impl Entry {
    /// The result that is kept, where it is what a run would give now.
    fn load(&self, table: &RuleTable, disk: &dyn Provider) -> Option<Part> {
        let bytes = self.folder.read(&self.basis.name)?;
        let [log, part] = parts(&bytes, &self.basis.whole)?;
        let (texts, part) = rayon::join(|| recording::holds(log, disk), || stored::read(part));
        let part = part?.restore(table, &texts?)?;
        self.folder.used(&self.basis.name);
        Some(part)
    }

    /// Keeps a result, where nothing speaks against that.
    fn store(&self, table: &RuleTable, part: &Part, recording: &Recording<'_>) {
        if part.faults.iter().any(|fault| fault.internal) {
            return;
        }
        let Some(log) = recording.text() else { return };
        let Some(part) = stored::text(table, part) else { return };
        self.folder.write(&self.basis.name, &whole(&self.basis.whole, &log, &part));
    }
}

/// The first word of an entry: its form.
const FORM: &str = "cudalint-1";

/// An entry: a line that says what it is, what it rests on and what its bytes are, then what was read, then the result.
fn whole(basis: &Hash, log: &str, part: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(log.as_bytes()).update(b"\n").update(part.as_bytes());
    format!("{FORM} {} {}\n{log}\n{part}", basis.to_hex(), hasher.finalize().to_hex())
}

/// The two parts of an entry; none where it is damaged or rests on something else.
fn parts<'e>(bytes: &'e [u8], basis: &Hash) -> Option<[&'e str; 2]> {
    let (head, rest) = std::str::from_utf8(bytes).ok()?.split_once('\n')?;
    let mut words = head.split(' ');
    let is_of = words.next() == Some(FORM) && words.next() == Some(basis.to_hex().as_str());
    let is_whole = is_of && words.next() == Some(blake3::hash(rest.as_bytes()).to_hex().as_str());
    let (log, part) = rest.split_once('\n').filter(|_| is_whole)?;
    Some([log, part])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_that_is_damaged_or_of_another_basis_is_none() {
        let basis = blake3::hash(b"basis");
        let entry = whole(&basis, "log", "part");
        assert_eq!(parts(entry.as_bytes(), &basis), Some(["log", "part"]));
        assert_eq!(parts(entry.as_bytes(), &blake3::hash(b"another")), None);
        for at in 0..entry.len() {
            let mut damaged = entry.clone().into_bytes();
            damaged[at] ^= 1;
            assert_eq!(parts(&damaged, &basis), None, "byte {at}");
            assert_eq!(parts(&entry.as_bytes()[..at], &basis), None, "cut at {at}");
        }
    }
}
