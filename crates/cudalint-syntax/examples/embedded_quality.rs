//! How well CUDA C++ in strings of Python is read: `embedded_quality FOLDER…` counts the programs and what of them is
//! damaged, and names the places.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use cudalint_syntax::{
    FileKind, MacroTable, ParserPool, SourceText, embedded_cuda, parse_region, regions, scan_directives,
};
use std::path::{Path, PathBuf};

fn main() {
    let mut files = Vec::new();
    for folder in std::env::args_os().skip(1) {
        collect(Path::new(&folder), &mut files);
    }
    let mut pool = ParserPool::new();
    let (mut with, mut programs, mut bytes, mut damaged, mut lost) = (0, 0, 0, 0, 0);
    for path in &files {
        let Ok(source) = SourceText::from_bytes(std::fs::read(path).unwrap()) else { continue };
        let kind = FileKind::of(path).unwrap();
        let Some(found) = embedded_cuda(source.text(), &regions(kind, source.text())) else { continue };
        assert_eq!(found.view.len(), source.text().len());
        with += 1;
        for region in &found.regions {
            programs += 1;
            bytes += region.span.len();
            let directives = scan_directives(&found.view, region.span);
            let macros = MacroTable::build(&directives.defines, &[]);
            let parsed = parse_region(&found.view, region, &macros, &directives.defines, &mut pool);
            damaged += usize::from(!parsed.damage.is_empty());
            for span in &parsed.damage {
                lost += span.len();
                let line = source.text()[..span.start as usize].matches('\n').count() + 1;
                let text: String = found.view[span.range()].split_whitespace().collect::<Vec<_>>().join(" ");
                println!("{}:{line}: {}", path.display(), text.chars().take(100).collect::<String>());
            }
        }
    }
    println!(
        "{with} of {} files have {programs} programs of {bytes} bytes; {damaged} programs are damaged, {lost} bytes of them",
        files.len()
    );
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    if path.is_dir() {
        let mut entries: Vec<PathBuf> = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        entries.iter().filter(|path| !path.is_symlink()).for_each(|path| collect(path, files));
    } else if matches!(FileKind::of(path), Some(FileKind::Python)) {
        files.push(path.to_owned());
    }
}
