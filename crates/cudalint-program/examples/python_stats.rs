//! Lowers all Python files under the folders named and prints what could not be read, and how long it took.
//!
//! `cargo run --release -p cudalint-program --example python_stats -- FOLDER…`; with `--dump` the program form of each file,
//! with `--unknown` the source lines behind unknown parts.
#![allow(clippy::print_stdout)]

use cudalint_program::ir::{Expr, Module, Stmt};
use cudalint_program::python::{LowerPython, lower};
use cudalint_syntax::{FileKind, Language, MacroTable, ParserPool, SourceText, Span, parse_region, regions};
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
        if path.is_dir() && !path.is_symlink() {
            collect(&path, out);
        } else if path.extension().is_some_and(|ext| ext == "py" || ext == "md") {
            out.push(path);
        }
    }
}

fn main() {
    let (mut dump, mut show) = (false, false);
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
        let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
        let mut causes: BTreeMap<String, usize> = BTreeMap::new();
        let (mut parsing, mut lowering, mut bytes) = (Duration::ZERO, Duration::ZERO, 0);
        let mut pool = ParserPool::new();
        for path in &files {
            let read = std::fs::read(path).ok().and_then(|bytes| SourceText::from_bytes(bytes).ok());
            let Some(source) = read else { continue };
            let text = source.text();
            let kind =
                if path.extension().is_some_and(|ext| ext == "md") { FileKind::Markdown } else { FileKind::Python };
            for region in regions(kind, text) {
                if region.language != Language::Python {
                    continue;
                }
                bytes += region.span.len();
                let start = Instant::now();
                let parsed = parse_region(text, &region, &MacroTable::default(), &[], &mut pool);
                parsing += start.elapsed();
                let start = Instant::now();
                let module = lower(LowerPython { text, parsed: &parsed });
                let took = start.elapsed();
                lowering += took;
                if took > Duration::from_millis(100) {
                    println!("slow: {} {took:?}", path.display());
                }
                if dump {
                    println!("{}", module.dump());
                }
                let kinds = parsed.root().map(|root| Kinds { root, text });
                count(&module, kinds.as_ref(), path, show, &mut counts, &mut causes);
            }
        }
        println!("{}: {} files, {bytes} bytes", folder.display(), files.len());
        for (what, count) in &counts {
            println!("  {what}: {count}");
        }
        println!(
            "  parse {:.1} ms, lower {:.1} ms ({:.2} of parse)",
            parsing.as_secs_f64() * 1e3,
            lowering.as_secs_f64() * 1e3,
            lowering.as_secs_f64() / parsing.as_secs_f64().max(1e-9)
        );
        let mut causes: Vec<(String, usize)> = causes.into_iter().collect();
        causes.sort_by_key(|(text, count)| (std::cmp::Reverse(*count), text.clone()));
        for (cause, count) in causes.iter().take(25) {
            println!("  {count:6} {cause}");
        }
    }
}

/// The kinds that the grammar gives the places of a file.
struct Kinds<'t> {
    root: cudalint_syntax::Node<'t>,
    text: &'t str,
}

impl Kinds<'_> {
    fn of(&self, span: Span) -> String {
        let node = self.root.descendant_for_byte_range(span.start as usize, span.end as usize);
        node.map_or_else(String::new, |node| node.kind().to_owned())
    }

    fn line(&self, span: Span) -> (usize, String) {
        let before = self.text.get(..span.start as usize).unwrap_or("");
        let words: Vec<&str> = self.text.get(span.range()).unwrap_or("").split_whitespace().collect();
        (before.matches('\n').count() + 1, words.join(" ").chars().take(90).collect())
    }
}

fn count(
    module: &Module,
    kinds: Option<&Kinds<'_>>,
    path: &Path,
    show: bool,
    counts: &mut BTreeMap<&'static str, usize>,
    causes: &mut BTreeMap<String, usize>,
) {
    let mut add = |what: &'static str, n: usize| *counts.entry(what).or_default() += n;
    add("functions", module.functions.len());
    add("kernels", module.functions.iter().filter(|f| f.space.global).count());
    add("device functions", module.functions.iter().filter(|f| f.space.device).count());
    add("damaged functions", module.functions.iter().filter(|f| f.damaged).count());
    add("captures", module.functions.iter().map(|f| f.captures.len()).sum());
    add("classes", module.records.len());
    add("globals", module.globals.len());
    add("imports", module.imports.len());
    add("expressions", module.exprs.len());
    add("statements", module.stmts.len());
    let mut note = |what: &str, span: Span| {
        let Some(kinds) = kinds else { return };
        *causes.entry(format!("{what} {}", kinds.of(span))).or_default() += 1;
        if show {
            let (line, words) = kinds.line(span);
            println!("{}:{line}: {what} {} {words}", path.display(), kinds.of(span));
        }
    };
    for node in module.exprs.iter().filter(|node| matches!(node.kind, Expr::Unknown(_))) {
        add("unknown expressions", 1);
        note("expr", node.span);
    }
    for node in module.stmts.iter().filter(|node| matches!(node.kind, Stmt::Unknown { .. })) {
        add("unknown statements", 1);
        note("stmt", node.span);
    }
}
