//! The front door: files and what they are read with become a program. Whoever wants one (a run, `verify`, a chore, a test)
//! comes through here, so that all of them read the same text in the same way.
//!
//! Nothing is read from the disk: a caller hands in the bytes of all files that belong together, those that are included
//! too. Work is spread over the pool of threads that the caller runs on; a caller outside of one gets it done in its own
//! thread, whose stack it has chosen.

mod file;
mod keys;
mod unmentioned;

pub use file::{Piece, SourceFile};

use crate::configuration::{Configuration, ConfiguredFile, View, configure, lone_branches};
use crate::cuda::{self, LowerInput};
use crate::guard::guarded;
use crate::ir::Module;
use crate::kept::Kept;
use crate::name::Name;
use crate::project::{Project, ProjectOptions, Source};
use crate::python::{self, LowerPython, PythonNames};
use blake3::Hash;
use cudalint_syntax::{
    FileKind, FileText, Language, MacroTable, ParsedRegion, ParserPool, Refusal, SourceProblem, Span,
};
use rayon::prelude::*;
use rustc_hash::FxHashSet;
use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;

/// A program, and what became of its files.
#[derive(Debug, Default)]
pub struct Program {
    /// All modules: one for each piece of each file, in the files' order.
    pub project: Project,
    /// What became of each file.
    pub files: Vec<FileNotes>,
    /// The tree of each module, where [`ProjectOptions::keep_trees`] asks for them; those of a file that failed are missing.
    pub trees: Vec<Option<ParsedRegion>>,
}

/// What became of a file.
#[derive(Clone, Debug, Default)]
pub struct FileNotes {
    /// Whether the parser lost a part of it.
    pub damaged: bool,
    /// Why one of its pieces has no tree.
    pub refusal: Option<Refusal>,
    /// Where cudalint failed on it: its modules are empty then.
    pub fault: Option<String>,
}

/// Makes the program of some files.
pub fn load<F: AsRef<SourceFile>>(files: &[F], options: &ProjectOptions) -> Program {
    load_telling(files, options, &|| {})
}

/// The program of texts by their paths, whose ends tell the kinds of file; C++ where they tell nothing.
///
/// # Errors
/// When one of them is no source text.
pub fn load_texts(files: &[(&str, &str)], options: &ProjectOptions) -> Result<Program, SourceProblem> {
    let files: Result<Vec<SourceFile>, SourceProblem> = files
        .iter()
        .map(|(path, text)| {
            let kind = FileKind::of(Path::new(path)).unwrap_or(FileKind::CFamily);
            Ok(SourceFile::new(*path, &FileText::from_bytes(kind, text.as_bytes().to_vec())?))
        })
        .collect();
    Ok(load(&files?, options))
}

/// As [`load`]; `parsed` is called once for each file when it has been parsed.
pub fn load_telling<F: AsRef<SourceFile>>(
    files: &[F],
    options: &ProjectOptions,
    parsed: &(dyn Fn() + Sync),
) -> Program {
    let files: Vec<&SourceFile> = files.iter().map(AsRef::as_ref).collect();
    let loader = Loader::new(&files, options);
    let read = |index: usize, without: &[Span]| {
        let file = files[index];
        let read = guarded(|| loader.read_or_find(file, loader.first[index], without)).unwrap_or_else(|fault| Read {
            modules: file.pieces.iter().map(nothing).map(Arc::new).collect(),
            notes: FileNotes { fault: Some(fault), ..FileNotes::default() },
            trees: file.pieces.iter().filter(|_| options.keep_trees).map(|_| None).collect(),
            ..Read::default()
        });
        parsed();
        (index, read)
    };
    let (late, early): (Vec<usize>, Vec<usize>) = (0..files.len()).partition(|index| unmentioned::waits(files[*index]));
    let mut all = side_by_side(&early, |index| read(*index, &[]));
    // What the others name says what of a large header is worth a tree.
    if !late.is_empty() {
        let headers: Vec<&SourceFile> = late.iter().map(|index| files[*index]).collect();
        let names: Vec<&[Name]> = all.iter().map(|(_, read)| &*read.names).collect();
        let bodies = early.iter().flat_map(|index| files[*index].defines()).map(|define| define.body.as_str());
        let views: Vec<View<'_>> =
            late.iter().map(|index| View::new(&loader.configuration, loader.first[*index])).collect();
        let texts = bodies.chain(options.build.given().map(|(_, value)| value));
        let without = unmentioned::unmentioned(&headers, &names, texts, &loader.shared, &views);
        let late: Vec<(usize, Vec<Span>)> = late.into_iter().zip(without).collect();
        all.extend(side_by_side(&late, |(index, without)| read(*index, without)));
        all.sort_by_key(|(index, _)| *index);
    }
    let (mut sources, mut notes, mut trees) = (Vec::new(), Vec::new(), Vec::new());
    for (index, read) in all {
        let file = files[index];
        let (made_of, names) = (read.made_of, read.names);
        sources.extend((0..).zip(&file.pieces).zip(read.modules).map(|((number, piece), module)| Source {
            path: Arc::clone(&file.path),
            text: Arc::clone(&piece.stretch.text),
            module,
            made_of: made_of.map(|of| (keys::piece(&of, number), Arc::clone(&names))),
            alone: piece.is_alone(),
        }));
        notes.push(read.notes);
        trees.extend(read.trees);
    }
    Program { project: Project::build(sources, options), files: notes, trees }
}

/// Does work on each item: on all threads of a pool, or one after the other where the caller is in none.
fn side_by_side<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync + Send) -> Vec<R> {
    if rayon::current_thread_index().is_some() {
        items.par_iter().map(work).collect()
    } else {
        items.iter().map(work).collect()
    }
}

thread_local! {
    static PARSERS: RefCell<ParserPool> = RefCell::new(ParserPool::new());
}

/// What was read of one file.
#[derive(Default)]
struct Read {
    modules: Vec<Arc<Module>>,
    notes: FileNotes,
    trees: Vec<Option<ParsedRegion>>,
    /// What its code names; in order where it is kept.
    names: Arc<[Name]>,
    /// What all this was made of, where that is asked for.
    made_of: Option<Hash>,
}

/// What reading a file needs to know of the others.
struct Loader<'o> {
    options: &'o ProjectOptions,
    /// By file, the number of its first module.
    first: Vec<usize>,
    configuration: Configuration<'o>,
    /// What parsers take for macros in files that see each other.
    shared: MacroTable,
    /// Of all that reading a file goes by beside the file, where files are kept.
    surroundings: Option<Hash>,
}

impl<'o> Loader<'o> {
    fn new(files: &[&'o SourceFile], options: &'o ProjectOptions) -> Self {
        let mut first = Vec::with_capacity(files.len());
        let mut units: Vec<ConfiguredFile<'_>> = Vec::new();
        for file in files {
            first.push(units.len());
            units.extend(file.pieces.iter().map(|piece| ConfiguredFile {
                path: &file.path,
                text: &piece.stretch.text,
                directives: &piece.directives,
                alone: piece.is_alone(),
            }));
        }
        let configuration = configure(units, &options.include_folders, &options.build, &options.defining_folders);
        let pieces = files.iter().flat_map(|file| &file.pieces).filter(|piece| !piece.is_alone());
        let shared = table(pieces.flat_map(|piece| &piece.directives.defines), options);
        let mut loader = Self { options, first, configuration, shared, surroundings: None };
        loader.surroundings = options.kept.is_some().then(|| keys::surroundings(options, &loader.configuration, files));
        loader
    }

    /// As [`Self::read`], unless that was done before.
    fn read_or_find(&self, file: &SourceFile, first: usize, without: &[Span]) -> Read {
        let kept = self.options.kept.as_ref().zip(self.surroundings.as_ref());
        // Trees are not kept with what was read.
        let Some((kept, surroundings)) = kept.filter(|_| !self.options.keep_trees) else {
            return self.read(file, first, without);
        };
        let key = keys::key(surroundings, first, file, without);
        let found = kept.find(&key).unwrap_or_else(|| {
            let Read { modules, notes: FileNotes { damaged, refusal, .. }, names, .. } =
                self.read(file, first, without);
            let mut names = names.to_vec();
            names.sort_unstable();
            let read = Arc::new(Kept { modules, damaged, refusal, names: names.into() });
            kept.keep(key, file.text.len(), Arc::clone(&read));
            read
        });
        let Kept { modules, damaged, refusal, names } = &*found;
        Read {
            modules: modules.clone(),
            notes: FileNotes { damaged: *damaged, refusal: *refusal, fault: None },
            names: Arc::clone(names),
            made_of: Some(key),
            trees: Vec::new(),
        }
    }

    /// Parses and lowers the pieces of a file whose first module has this number, as if blanks stood in some spans.
    fn read(&self, file: &SourceFile, first: usize, without: &[Span]) -> Read {
        let mut read = Read::default();
        let mut all_names: FxHashSet<Name> = FxHashSet::default();
        for (index, piece) in file.pieces.iter().enumerate() {
            let Piece { stretch, directives } = piece;
            let own = piece.is_alone().then(|| table(&directives.defines, self.options));
            let view = View::new(&self.configuration, first + index);
            PARSERS.with_borrow_mut(|pool| {
                pool.keep(self.options.kept.as_ref().map(|kept| Arc::clone(&kept.trees)));
                let parsed = cudalint_syntax::parse_region_without(
                    &stretch.text,
                    &stretch.region,
                    without,
                    own.as_ref().unwrap_or(&self.shared),
                    &directives.defines,
                    &view,
                    pool,
                );
                read.notes.damaged |= !parsed.damage.is_empty();
                read.notes.refusal = read.notes.refusal.or(parsed.refusal);
                read.modules.push(Arc::new(match stretch.region.language {
                    Language::Cuda => {
                        let (module, names) = Self::cuda(&view, &parsed, piece, pool);
                        all_names.extend(names);
                        module
                    }
                    Language::Python => self.python(file, &parsed, &stretch.text),
                }));
                if self.options.keep_trees {
                    read.trees.push(Some(parsed));
                }
                pool.keep(None);
            });
        }
        read.names = all_names.into_iter().collect();
        read
    }

    /// Lowers a piece of C++; the names that stand in it come with it.
    fn cuda(view: &View<'_>, parsed: &ParsedRegion, piece: &Piece, pool: &mut ParserPool) -> (Module, FxHashSet<Name>) {
        let Piece { stretch, directives } = piece;
        let input = LowerInput { text: &stretch.text, parsed, directives, view, pool };
        let (mut module, names) = cuda::lower(input);
        module.inside = stretch.string();
        module.for_hip = view.is_for_hip();
        module.lone = lone_branches(view);
        if let Some(body) = &stretch.body {
            cuda::shape_cupy_body(&mut module, Arc::clone(body));
        }
        (module, names)
    }

    /// Lowers a piece of Python. What it says of GPU packages is read where somebody asks about it.
    fn python(&self, file: &SourceFile, parsed: &ParsedRegion, text: &str) -> Module {
        let root = parsed.root().filter(|_| file.reported);
        let names = root.map(|root| Box::new(PythonNames::read(root, text, &self.options.local_packages)));
        let cells = file.cells.iter().map(|cell| cell.start).collect();
        Module { cells, python_names: names, ..python::lower(LowerPython { text, parsed }) }
    }
}

/// What a parser takes for macros.
fn table<'d>(defines: impl IntoIterator<Item = &'d cudalint_syntax::Define>, options: &ProjectOptions) -> MacroTable {
    MacroTable::build(defines, &options.declaration_macros)
}

/// The module of a piece that could not be lowered.
fn nothing(piece: &Piece) -> Module {
    let stretch = &piece.stretch;
    Module { language: stretch.region.language, inside: stretch.string(), ..Module::default() }
}
