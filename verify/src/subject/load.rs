//! Reading a subject: the file, what it includes in quotes, and all of it as one small project.

use super::units::{Unit, build, units_of};
use super::{Stretch, Subject, neighbours};
use crate::paths::absolute;
use camino::{Utf8Path, Utf8PathBuf};
use cudalint_files::read_file;
use cudalint_findings::LineIndex;
use cudalint_program::ProjectOptions;
use cudalint_program::includes::is_system_header;
use cudalint_program::ir::ModuleId;
use cudalint_syntax::{FileKind, Language, Region, SourceText, embedded_cuda, scan_directives};
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
    let text = SourceText::from_bytes(bytes).map_err(|problem| format!("{path}: {problem}"))?.shared();
    let alone = kind == FileKind::Markdown;
    let mut units = units_of(&file, &text, kind, alone);
    let own = units.len();
    let include_folders = include_folders(flags, root);
    let mut include_folders = include_folders;
    let given = include_folders.len();
    if !alone {
        add_included(&mut units, &mut include_folders, &absolute(root));
    }
    let found_folders = include_folders.get(given..).unwrap_or(&[]).to_vec();
    let options = ProjectOptions {
        include_folders: include_folders.iter().map(ToString::to_string).collect(),
        ..options.clone()
    };
    let (project, parsed) = build(&units, &options);
    let stretches = units.iter().take(own).zip(parsed).enumerate().map(|(index, (unit, parsed))| Stretch {
        region: unit.region,
        parsed: Arc::new(parsed),
        module: (unit.region.language == Language::Cuda).then_some(ModuleId(index as u32)),
    });
    Ok(Subject {
        path: path.to_owned(),
        file: file.clone(),
        lines: Arc::new(LineIndex::new(&text)),
        stretches: stretches.collect(),
        text,
        flags: flags.to_vec(),
        found_folders,
        kind,
        project: Arc::new(project),
        options: Arc::new(options),
        root: absolute(root),
        notebook: None,
        apart: Arc::default(),
        neighbours: Arc::default(),
        embedded: Arc::default(),
    })
}

/// A subject with one stretch, which stands for itself as a fence of a document does.
pub(super) fn subject_of(
    root: &Utf8Path,
    path: &str,
    file: &Utf8Path,
    unit: Unit,
    flags: &[String],
    lines: Arc<LineIndex>,
    options: &ProjectOptions,
) -> Subject {
    let (project, parsed) = build(std::slice::from_ref(&unit), options);
    let module = (unit.region.language == Language::Cuda).then_some(ModuleId(0));
    let stretch = |parsed| Stretch { region: unit.region, parsed: Arc::new(parsed), module };
    Subject {
        path: path.to_owned(),
        file: file.to_owned(),
        stretches: parsed.into_iter().map(stretch).collect(),
        text: unit.text,
        flags: flags.to_vec(),
        found_folders: Vec::new(),
        kind: FileKind::Markdown,
        lines,
        project: Arc::new(project),
        options: Arc::new(options.clone()),
        root: absolute(root),
        notebook: None,
        apart: Arc::default(),
        neighbours: Arc::default(),
        embedded: Arc::default(),
    }
}

/// Reads what the units include in quotes (or from an include folder), at any depth. Folders of headers that stand
/// elsewhere below `root` are added to `folders`.
fn add_included(units: &mut Vec<Unit>, folders: &mut Vec<Utf8PathBuf>, root: &Utf8Path) {
    let mut missing: BTreeSet<String> = BTreeSet::new();
    let mut bytes = 0;
    let mut next = 0;
    let own = units.len();
    while next < units.len() && units.len() < own + MAX_INCLUDED && bytes < MAX_INCLUDED_BYTES {
        let Some(unit) = units.get(next) else { break };
        let beside = Utf8Path::new(&*unit.path).parent().map(Utf8Path::to_owned).unwrap_or_default();
        let wanted: Vec<(String, bool)> =
            unit.directives.includes.iter().map(|include| (include.path.clone(), include.system)).collect();
        next += 1;
        for (target, system) in wanted {
            let places = (!system).then(|| beside.clone()).into_iter().chain(folders.iter().cloned());
            let elsewhere = !system || !is_system_header(&target);
            let known = places.map(|folder| absolute(&folder.join(&target))).find(|path| path.is_file());
            let found = known.or_else(|| {
                let first =
                    Utf8PathBuf::from(&*units.first().filter(|_| elsewhere && missing.insert(target.clone()))?.path);
                let folder = neighbours::folder_of_include(&first, &target, root)?;
                folders.push(folder.clone());
                Some(absolute(&folder.join(&target)))
            });
            let Some(found) = found else { continue };
            if units.iter().any(|unit| &*unit.path == found.as_str()) {
                continue;
            }
            let Some(text) = read_file(found.as_std_path()).ok().and_then(|bytes| SourceText::from_bytes(bytes).ok())
            else {
                continue;
            };
            bytes += text.text().len();
            units.extend(units_of(&found, &text.shared(), FileKind::CFamily, false));
        }
    }
}

/// The programs in the strings of a subject's Python, each as a subject of its own: a text that has C++ alone where the
/// string stands, with the file's own positions.
pub(super) fn embedded(subject: &Subject) -> Vec<Subject> {
    let regions: Vec<Region> = subject.stretches.iter().map(|stretch| stretch.region).collect();
    let Some(found) = embedded_cuda(&subject.text, &regions) else { return Vec::new() };
    let path: Arc<str> = Arc::from(subject.file.as_str());
    let subjects = found.regions.into_iter().map(|region| {
        let unit = Unit {
            path: Arc::clone(&path),
            text: Arc::clone(&found.view),
            directives: scan_directives(&found.view, region.span),
            region,
            alone: true,
        };
        let (project, parsed) = build(std::slice::from_ref(&unit), &subject.options);
        let parsed = parsed.into_iter().next()?;
        let stretch = Stretch { region, parsed: Arc::new(parsed), module: Some(ModuleId(0)) };
        Some(Subject {
            text: Arc::clone(&found.view),
            flags: Vec::new(),
            found_folders: Vec::new(),
            // A program in a string stands for itself, as a fence of a document does.
            kind: FileKind::Markdown,
            stretches: vec![stretch],
            project: Arc::new(project),
            neighbours: Arc::default(),
            embedded: Arc::default(),
            ..subject.clone()
        })
    });
    subjects.flatten().collect()
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
