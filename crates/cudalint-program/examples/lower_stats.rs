//! Lowers all CUDA files under the folders named and prints what could not be read, and how long it took.
//!
//! `cargo run --release -p cudalint-program --example lower_stats -- FOLDER…`; with `--dump FILE` the program form of one
//! file, with `--unknown` the source lines behind unknown parts.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use cudalint_program::cuda::{LowerInput, lower};
use cudalint_program::ir::{Expr, Module, Stmt};
use cudalint_program::macro_index::{MacroFile, MacroIndex};
use cudalint_syntax::{
    Directives, FileKind, Language, MacroTable, ParserPool, SourceText, Span, parse_region, regions, scan_directives,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

fn collect(folder: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        out.push(folder.to_owned());
        return;
    };
    let mut entries: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            collect(&path, out);
        } else if path.extension().is_some_and(|ext| ["cu", "cuh", "h", "hpp"].iter().any(|known| ext == *known)) {
            out.push(path);
        }
    }
}

fn main() {
    let mut dump = false;
    let mut show = false;
    let mut folders = Vec::new();
    for arg in std::env::args().skip(1) {
        match arg.as_str() {
            "--dump" => dump = true,
            "--unknown" => show = true,
            _ => folders.push(PathBuf::from(arg)),
        }
    }
    for folder in folders {
        let mut files = Vec::new();
        collect(&folder, &mut files);
        let texts: Vec<(PathBuf, SourceText)> = files
            .into_iter()
            .filter_map(|path| Some((path.clone(), SourceText::from_bytes(std::fs::read(&path).ok()?).ok()?)))
            .filter(|(path, text)| {
                path.extension().is_some_and(|ext| ext == "cu" || ext == "cuh")
                    || cudalint_syntax::contains_cuda(text.text())
            })
            .collect();
        let directives: Vec<Directives> =
            texts.iter().map(|(_, text)| scan_directives(text.text(), Span::new(0, text.text().len()))).collect();
        let table = MacroTable::build(directives.iter().flat_map(|d| d.defines.iter()), &[]);
        let names: Vec<String> = texts.iter().map(|(path, _)| path.display().to_string()).collect();
        let list: Vec<MacroFile<'_>> = names
            .iter()
            .zip(&directives)
            .map(|(path, directives)| MacroFile { path, directives, alone: false })
            .collect();
        let index = MacroIndex::build(&list, &[], &std::sync::Arc::default());
        let mut pool = ParserPool::new();
        let mut parse_time = Duration::ZERO;
        let mut lower_time = Duration::ZERO;
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        let mut causes: BTreeMap<String, usize> = BTreeMap::new();
        for (at, (path, text)) in texts.iter().enumerate() {
            for region in regions(FileKind::Cuda, text.text()) {
                if region.language != Language::Cuda {
                    continue;
                }
                let start = Instant::now();
                let parsed = parse_region(text.text(), &region, &table, &directives[at].defines, &mut pool);
                parse_time += start.elapsed();
                let visible = index.visible(at);
                let start = Instant::now();
                let module = lower(LowerInput {
                    text: text.text(),
                    parsed: &parsed,
                    directives: &directives[at],
                    macros: &visible,
                    pool: &mut pool,
                });
                let took = start.elapsed();
                lower_time += took;
                if took > Duration::from_millis(100) {
                    println!("slow: {} {took:?}", path.display());
                }
                if dump {
                    println!("{}", module.dump());
                }
                count(&module, text.text(), path, show, &mut counts, &mut causes);
            }
        }
        println!("{}: {} files", folder.display(), texts.len());
        for (what, count) in &counts {
            println!("  {what}: {count}");
        }
        println!(
            "  parse {:.1} ms, lower {:.1} ms ({:.2} of parse)",
            parse_time.as_secs_f64() * 1e3,
            lower_time.as_secs_f64() * 1e3,
            lower_time.as_secs_f64() / parse_time.as_secs_f64().max(1e-9)
        );
        let mut causes: Vec<(String, usize)> = causes.into_iter().collect();
        causes.sort_by_key(|(text, count)| (std::cmp::Reverse(*count), text.clone()));
        for (cause, count) in causes.iter().take(25) {
            println!("  {count:6} {cause}");
        }
    }
}

fn count<'a>(
    module: &Module,
    text: &str,
    path: &Path,
    show: bool,
    counts: &mut BTreeMap<&'a str, usize>,
    causes: &mut BTreeMap<String, usize>,
) {
    let mut add = |what: &'a str, n: usize| *counts.entry(what).or_default() += n;
    add("functions", module.functions.iter().filter(|f| f.body.is_some()).count());
    add("kernels", module.functions.iter().filter(|f| f.body.is_some() && f.space.global).count());
    add("damaged functions", module.functions.iter().filter(|f| f.damaged).count());
    add("launches", module.exprs.iter().filter(|e| matches!(e.kind, Expr::Launch(_))).count());
    add("records", module.records.len());
    add("globals", module.globals.len());
    add("expressions", module.exprs.len());
    add("statements", module.stmts.len());
    add("elisions", module.stmts.iter().filter(|s| matches!(s.kind, Stmt::Elided { .. })).count());
    let line = |span: Span| {
        let before = &text[..(span.start as usize).min(text.len())];
        let number = before.matches('\n').count() + 1;
        let words: String = text.get(span.range()).unwrap_or("").split_whitespace().collect::<Vec<_>>().join(" ");
        (number, words.chars().take(90).collect::<String>())
    };
    for node in &module.exprs {
        if let Expr::Unknown(parts) = &node.kind {
            add("unknown expressions", 1);
            let (number, words) = line(node.span);
            *causes.entry(format!("expr/{} {}", parts.len(), shape(&words))).or_default() += 1;
            if show {
                println!("{}:{number}: expr {words}", path.display());
            }
        }
    }
    for node in &module.stmts {
        let (kind, hit) = match &node.kind {
            Stmt::Unknown { .. } => ("stmt", true),
            Stmt::Elided { .. } => ("elided", show),
            _ => ("", false),
        };
        if hit {
            let (number, words) = line(node.span);
            if kind == "stmt" {
                add("unknown statements", 1);
                *causes.entry(format!("stmt {}", shape(&words))).or_default() += 1;
            }
            if show {
                println!("{}:{number}: {kind} {words}", path.display());
            }
        }
    }
}

/// The first words of a text, so that like things are counted together.
fn shape(words: &str) -> String {
    words.chars().take(24).collect()
}
