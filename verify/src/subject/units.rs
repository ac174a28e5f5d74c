//! Stretches of files on their way into a small project.

use camino::Utf8Path;
use cudalint_program::cuda::{self, LowerInput};
use cudalint_program::ir::Module;
use cudalint_program::macro_index::{MacroFile, MacroIndex};
use cudalint_program::{Project, ProjectOptions, Source};
use cudalint_syntax::{
    Directives, FileKind, Language, MacroTable, ParsedRegion, ParserPool, Region, SourceText, parse_region, regions,
    scan_directives,
};
use std::sync::Arc;

/// One stretch on its way into the project.
pub(super) struct Unit {
    pub path: Arc<str>,
    pub text: Arc<str>,
    pub region: Region,
    pub directives: Directives,
    pub alone: bool,
}

/// The stretches of a file.
pub(super) fn units_of(file: &Utf8Path, text: &Arc<str>, kind: FileKind, alone: bool) -> Vec<Unit> {
    let path: Arc<str> = Arc::from(file.as_str());
    regions(kind, text)
        .into_iter()
        .map(|region| Unit {
            path: Arc::clone(&path),
            text: Arc::clone(text),
            directives: match region.language {
                Language::Cuda => scan_directives(text, region.span),
                Language::Python => Directives::default(),
            },
            region,
            alone,
        })
        .collect()
}

/// The program of one source file alone; none when it cannot be read.
pub(super) fn module_of(file: &Utf8Path) -> Option<Module> {
    let text = SourceText::from_bytes(cudalint_files::read_file(file.as_std_path()).ok()?).ok()?.shared();
    let unit = units_of(file, &text, FileKind::CFamily, false).into_iter().next()?;
    let mut pool = ParserPool::new();
    let table = MacroTable::build(&unit.directives.defines, &[]);
    let parsed = parse_region(&text, &unit.region, &table, &unit.directives.defines, &mut pool);
    let input = LowerInput { text: &text, parsed: &parsed, directives: &unit.directives, macros: &(), pool: &mut pool };
    Some(cuda::lower(input))
}

/// Parses and lowers all units and joins them; the trees come in the units' order.
pub(super) fn build(units: &[Unit], options: &ProjectOptions) -> (Project, Vec<ParsedRegion>) {
    let mut pool = ParserPool::new();
    let files: Vec<MacroFile<'_>> = units
        .iter()
        .map(|unit| MacroFile { path: &unit.path, directives: &unit.directives, alone: unit.alone })
        .collect();
    let macros = MacroIndex::build(&files, &options.include_folders, &options.build);
    let table = |units: &mut dyn Iterator<Item = &Unit>| {
        MacroTable::build(units.flat_map(|unit| &unit.directives.defines), &options.declaration_macros)
            .with_build(Arc::clone(&options.build))
    };
    let shared = table(&mut units.iter().filter(|unit| !unit.alone));
    let mut trees = Vec::new();
    let mut sources = Vec::new();
    for (index, unit) in units.iter().enumerate() {
        let own = table(&mut std::iter::once(unit).filter(|unit| unit.alone));
        let table = if unit.alone { &own } else { &shared };
        let parsed = parse_region(&unit.text, &unit.region, table, &unit.directives.defines, &mut pool);
        let module = match unit.region.language {
            Language::Python => Module::default(),
            Language::Cuda => cuda::lower(LowerInput {
                text: &unit.text,
                parsed: &parsed,
                directives: &unit.directives,
                macros: &macros.visible(index),
                pool: &mut pool,
            }),
        };
        let (path, text) = (Arc::clone(&unit.path), Arc::clone(&unit.text));
        sources.push(Source { path, text, module, alone: unit.alone });
        trees.push(parsed);
    }
    (Project::build(sources, options), trees)
}
