//! Reading a subject: the file, what it includes in quotes, and all of it as one small project.

use super::units::source_file;
use super::{Stretch, Subject, neighbours};
use crate::paths::absolute;
use camino::{Utf8Path, Utf8PathBuf};
use cudalint_findings::LineIndex;
use cudalint_program::includes::is_system_header;
use cudalint_program::ir::ModuleId;
use cudalint_program::{ProjectOptions, SourceFile, load};
use cudalint_syntax::{FileKind, FileText, Language, Region, embedded_cuda};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Included files that are read for one subject, at most.
const MAX_INCLUDED: usize = 200;
/// Bytes of them, at most.
const MAX_INCLUDED_BYTES: usize = 16 << 20;

/// Reads a file that is no notebook.
pub(super) fn read(
    root: &Utf8Path,
    path: &str,
    bytes: Vec<u8>,
    kind: FileKind,
    flags: &[String],
    options: &ProjectOptions,
) -> Result<Subject, String> {
    let file = absolute(&root.join(path));
    let text = FileText::from_bytes(kind, bytes).map_err(|problem| format!("{path}: {problem}"))?;
    let mut files = vec![SourceFile::new(file.as_str(), &text)];
    let mut include_folders = include_folders(flags, root);
    let given = include_folders.len();
    if kind != FileKind::Markdown {
        add_included(&mut files, &mut include_folders, &absolute(root));
    }
    let found_folders = include_folders.get(given..).unwrap_or(&[]).to_vec();
    let options = ProjectOptions {
        include_folders: include_folders.iter().map(ToString::to_string).collect(),
        ..options.clone()
    };
    let lines = Arc::new(LineIndex::new(text.source.text()));
    Ok(Subject { found_folders, ..subject_of(root, path, &file, &files, flags, lines, options) })
}

/// The subject whose text is that of the first of some files, which the others belong to.
pub(super) fn subject_of(
    root: &Utf8Path,
    path: &str,
    file: &Utf8Path,
    files: &[SourceFile],
    flags: &[String],
    lines: Arc<LineIndex>,
    options: ProjectOptions,
) -> Subject {
    let options = ProjectOptions { keep_trees: true, ..options };
    let program = load(files, &options);
    let first = files.first();
    let pieces = first.into_iter().flat_map(|file| &file.pieces).zip(program.trees).enumerate();
    let stretches = pieces.filter(|(_, (piece, _))| !piece.stretch.inside).filter_map(|(index, (piece, parsed))| {
        let region = piece.stretch.region;
        let module = (region.language == Language::Cuda).then_some(ModuleId(index as u32));
        Some(Stretch { region, parsed: Arc::new(parsed?), module })
    });
    Subject {
        path: path.to_owned(),
        file: file.to_owned(),
        stretches: stretches.collect(),
        text: first.map_or_else(|| Arc::from(""), |file| Arc::clone(&file.text)),
        flags: flags.to_vec(),
        found_folders: Vec::new(),
        kind: first.map_or(FileKind::CFamily, |file| file.kind),
        lines,
        project: Arc::new(program.project),
        options: Arc::new(options),
        root: absolute(root),
        notebook: None,
        apart: Arc::default(),
        neighbours: Arc::default(),
        embedded: Arc::default(),
    }
}

/// Reads what the files include in quotes (or from an include folder), at any depth. Folders of headers that stand
/// elsewhere below `root` are added to `folders`.
fn add_included(files: &mut Vec<SourceFile>, folders: &mut Vec<Utf8PathBuf>, root: &Utf8Path) {
    let Some(first) = files.first().map(|file| Utf8PathBuf::from(&*file.path)) else { return };
    let mut missing: BTreeSet<String> = BTreeSet::new();
    let mut bytes = 0;
    let mut next = 0;
    while next < files.len() && files.len() <= MAX_INCLUDED && bytes < MAX_INCLUDED_BYTES {
        let Some(file) = files.get(next) else { break };
        let beside = Utf8Path::new(&*file.path).parent().map(Utf8Path::to_owned).unwrap_or_default();
        let outer = file.pieces.iter().filter(|piece| !piece.stretch.inside);
        let wanted: Vec<(String, bool)> = outer
            .flat_map(|piece| &piece.directives.includes)
            .map(|include| (include.path.clone(), include.system))
            .collect();
        next += 1;
        for (target, system) in wanted {
            let places = (!system).then(|| beside.clone()).into_iter().chain(folders.iter().cloned());
            let elsewhere = !system || !is_system_header(&target);
            let known = places.map(|folder| absolute(&folder.join(&target))).find(|path| path.is_file());
            let found = known.or_else(|| {
                let from = Some(&first).filter(|_| elsewhere && missing.insert(target.clone()))?;
                let folder = neighbours::folder_of_include(from, &target, root)?;
                folders.push(folder.clone());
                Some(absolute(&folder.join(&target)))
            });
            let Some(found) = found else { continue };
            if files.iter().any(|file| &*file.path == found.as_str()) {
                continue;
            }
            let Some(file) = source_file(&found) else { continue };
            bytes += file.text.len();
            files.push(file);
        }
    }
}

/// The programs in the strings of a subject's Python, each as a subject of its own: a text that has C++ alone where the
/// string stands, with the file's own positions.
pub(super) fn embedded(subject: &Subject) -> Vec<Subject> {
    let regions: Vec<Region> = subject.stretches.iter().map(|stretch| stretch.region).collect();
    let Some(found) = embedded_cuda(&subject.text, &regions) else { return Vec::new() };
    let subjects = found.regions.into_iter().map(|region| {
        let text = Arc::clone(&found.view);
        // A program in a string stands for itself, as a fence of a document does.
        let stretch = cudalint_syntax::Stretch { region, text, inside: false, nvrtc: false, body: None, apart: true };
        let files = [SourceFile::of_stretch(subject.file.as_str(), FileKind::Markdown, stretch)];
        let (path, file, lines) = (&subject.path, &subject.file, Arc::clone(&subject.lines));
        let read = subject_of(&subject.root, path, file, &files, &[], lines, (*subject.options).clone());
        Subject { notebook: subject.notebook.clone(), apart: Arc::clone(&subject.apart), ..read }
    });
    subjects.collect()
}

/// The values of a flag, joined (`-DX`) or apart (`-D X`).
pub(crate) fn flag_values(flags: &[String], flag: &str) -> Vec<String> {
    let mut values = Vec::new();
    let mut at = flags.iter();
    while let Some(word) = at.next() {
        match word.strip_prefix(flag) {
            Some("") => values.extend(at.next().cloned()),
            Some(value) => values.push(value.to_owned()),
            None => {}
        }
    }
    values
}

fn include_folders(flags: &[String], root: &Utf8Path) -> Vec<Utf8PathBuf> {
    flag_values(flags, "-I").iter().map(|folder| absolute(&root.join(folder))).collect()
}
