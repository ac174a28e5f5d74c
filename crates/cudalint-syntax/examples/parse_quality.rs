//! Parse quality of folders of CUDA sources: damage, recovery of the constructs that rules read, and speed. With
//! `-v` every damaged place is shown, with `-m` every construct that stands in no tree, with `-a` C and C++ files that
//! contain CUDA are read too; with `-n` what the mask changed is counted by its words.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use cudalint_syntax::kinds::{CudaKind, cuda_kind};
use cudalint_syntax::{
    Define, FileKind, Language, MacroTable, MaskKind, ParserPool, Region, SourceText, Span, comments, contains_cuda,
    mask, parse_region, scan_directives,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const NAMES: [&str; 8] = ["kernel", "launch", "for", "if", "while", "switch", "syncthreads", "cuda call"];

#[derive(Default)]
struct Totals {
    files: usize,
    bytes: usize,
    lines: usize,
    damaged: usize,
    errors: usize,
    in_text: [usize; 8],
    in_tree: [usize; 8],
    mask: Duration,
    scan: Duration,
    parse: Duration,
    changed: BTreeMap<String, usize>,
}

struct File {
    path: PathBuf,
    source: SourceText,
    defines: Vec<Define>,
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    if folder.is_file() {
        found.push(folder.to_path_buf());
        return;
    }
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<_> = entries.flatten().map(|e| e.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            collect(&path, found);
        } else if matches!(FileKind::of(&path), Some(FileKind::Cuda | FileKind::CFamily)) {
            found.push(path);
        }
    }
}

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_'
}

/// Blanks comments, literals and directives, so that words can be counted; unselected branches too.
fn plain(text: &str, region: &Region, branches: &[Span]) -> Vec<u8> {
    let mut out = text.as_bytes().to_vec();
    let blank = |out: &mut Vec<u8>, span: Span| {
        for b in &mut out[span.range()] {
            if *b != b'\n' {
                *b = b' ';
            }
        }
    };
    for comment in comments(text, region) {
        blank(&mut out, comment.span);
    }
    for span in branches {
        blank(&mut out, *span);
    }
    let mut i = 0;
    let mut line_start = true;
    while i < out.len() {
        match out[i] {
            b'\n' => line_start = true,
            b'#' if line_start => {
                let start = i;
                while i < out.len()
                    && (out[i] != b'\n'
                        || text.as_bytes()[..i].ends_with(b"\\")
                        || text.as_bytes()[..i].ends_with(b"\\\r"))
                {
                    i += 1;
                }
                blank(&mut out, Span::new(start, i));
                continue;
            }
            b'"' if i > 0 && out[i - 1] == b'R' => {
                let rest = &text[i..];
                let open = rest.find('(').unwrap_or(1);
                let close = format!("){}\"", &rest[1..open]);
                let end = rest.find(&close).map_or(text.len(), |n| i + n + close.len());
                blank(&mut out, Span::new(i, end));
                i = end;
                continue;
            }
            q @ (b'"' | b'\'') if q == b'"' || !(i > 0 && out[i - 1].is_ascii_hexdigit()) => {
                let start = i;
                i += 1;
                while i < out.len() && out[i] != q && (out[i] != b'\n' || out[i - 1] == b'\\' || out[i - 1] == b'\r') {
                    i += if out[i] == b'\\' { 2 } else { 1 };
                }
                i = (i + 1).min(out.len());
                blank(&mut out, Span::new(start, i));
                line_start = false;
                continue;
            }
            b if !b.is_ascii_whitespace() => line_start = false,
            _ => {}
        }
        i += 1;
    }
    out
}

/// Places of the constructs in the text, by the offset of their word.
fn in_text(out: &[u8]) -> [Vec<usize>; 8] {
    let mut found: [Vec<usize>; 8] = Default::default();
    let next = |at: usize| out[at..].iter().position(|b| !b.is_ascii_whitespace()).map_or(out.len(), |n| at + n);
    let mut i = 0;
    while i < out.len() {
        if out[i..].starts_with(b"<<<") {
            found[1].push(i);
            i += 3;
        } else if is_word(out[i]) {
            let start = i;
            while i < out.len() && is_word(out[i]) {
                i += 1;
            }
            let after = next(i);
            let paren = out.get(after) == Some(&b'(');
            match &out[start..i] {
                b"__global__" => {
                    // A definition: a `{` comes before the first `;`.
                    let stop = out[i..].iter().position(|b| matches!(b, b'{' | b';'));
                    if stop.is_some_and(|n| out[i + n] == b'{') {
                        found[0].push(start);
                    }
                }
                b"for" if paren => found[2].push(start),
                b"if" if paren || out[after..].starts_with(b"constexpr") => found[3].push(start),
                b"while" if paren => found[4].push(start),
                b"switch" if paren => found[5].push(start),
                b"__syncthreads" if paren => found[6].push(start),
                word if paren && word.len() > 4 && word.starts_with(b"cuda") && word[4].is_ascii_uppercase() => {
                    let head = out[..start].trim_ascii_end();
                    let word = head.len() - head.iter().rev().take_while(|b| is_word(**b)).count();
                    // A word before it other than `return` and its like makes it a declaration.
                    let declared = word < head.len() && !matches!(&head[word..], b"return" | b"else" | b"do");
                    if !declared {
                        found[7].push(start);
                    }
                }
                _ => {}
            }
        } else {
            i += 1;
        }
    }
    found
}

/// Places of the constructs in the tree, outside errors.
fn in_tree(tree: &cudalint_syntax::Tree, text: &str) -> [Vec<usize>; 8] {
    let mut found: [Vec<usize>; 8] = Default::default();
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        let mut down = true;
        match cuda_kind(node) {
            CudaKind::Error => down = false,
            CudaKind::FunctionDefinition => {
                let body = node.child_by_field_name("body").map_or(node.end_byte(), |b| b.start_byte());
                let head = &text[node.start_byte()..body];
                if let Some(n) = head.find("__global__") {
                    found[0].push(node.start_byte() + n);
                }
            }
            CudaKind::KernelCallSyntax => {
                if let Some(n) = text[node.start_byte()..node.end_byte()].find("<<<") {
                    found[1].push(node.start_byte() + n);
                }
            }
            CudaKind::ForStatement | CudaKind::ForRangeLoop => found[2].push(node.start_byte()),
            CudaKind::IfStatement => found[3].push(node.start_byte()),
            CudaKind::WhileStatement => found[4].push(node.start_byte()),
            CudaKind::DoStatement => {
                if let Some(n) =
                    node.child_by_field_name("condition").and_then(|c| text[..c.start_byte()].rfind("while"))
                {
                    found[4].push(n);
                }
            }
            CudaKind::SwitchStatement => found[5].push(node.start_byte()),
            CudaKind::CallExpression => {
                let name = node.child_by_field_name("function").map_or("", |f| &text[f.byte_range()]);
                let end = node.child_by_field_name("function").map_or(0, |f| f.end_byte());
                let name = name.rsplit("::").next().unwrap_or("");
                let short = name.split('<').next().unwrap_or("").trim_end();
                if short == "__syncthreads" {
                    found[6].push(end - name.len());
                } else if short.starts_with("cuda") {
                    found[7].push(end - name.len());
                }
            }
            _ => {}
        }
        if down && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return found;
            }
        }
    }
}

fn place(text: &str, at: usize) -> (usize, &str) {
    let at = at.min(text.len());
    let line = text.get(..at).unwrap_or(text).matches('\n').count() + 1;
    (line, text.lines().nth(line - 1).unwrap_or("").trim())
}

fn main() {
    let mut totals = Vec::new();
    let (mut verbose, mut missing, mut all, mut changes) = (false, false, false, false);
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "-v" => verbose = true,
            "-m" => missing = true,
            "-a" => all = true,
            "-n" => changes = true,
            folder => totals.push((folder.to_owned(), run(Path::new(folder), verbose, missing, all))),
        }
    }
    println!(
        "{:<34} {:>5} {:>6} {:>8} {:>7} {:>9}  {:>6} {:>6} {:>6}",
        "folder", "files", "MB", "damaged%", "errors", "/kLOC", "scan", "mask", "parse"
    );
    for (folder, t) in &totals {
        for (words, count) in t.changed.iter().filter(|_| changes) {
            println!("{count:>6} {words}");
        }
        let mb = t.bytes as f64 / 1e6;
        println!(
            "{folder:<34} {:>5} {mb:>6.2} {:>8.2} {:>7} {:>9.3}  {:>6.0} {:>6.1} {:>6.2} MB/s",
            t.files,
            100.0 * t.damaged as f64 / t.files.max(1) as f64,
            t.errors,
            1e3 * t.errors as f64 / t.lines.max(1) as f64,
            mb / t.scan.as_secs_f64(),
            mb / t.mask.as_secs_f64(),
            mb / t.parse.as_secs_f64(),
        );
        for (n, name) in NAMES.iter().enumerate().filter(|(n, _)| t.in_text[*n] > 0) {
            let share = 100.0 * t.in_tree[n] as f64 / t.in_text[n] as f64;
            let mark = if share < 99.0 { "  <<" } else { "" };
            println!("    {name:<12} {:>6} of {:>6}  {share:>6.2} %{mark}", t.in_tree[n], t.in_text[n]);
        }
    }
}

fn run(folder: &Path, verbose: bool, missing: bool, all: bool) -> Totals {
    let mut t = Totals::default();
    let mut paths = Vec::new();
    collect(folder, &mut paths);
    let mut files = Vec::new();
    for path in paths {
        let Ok(bytes) = std::fs::read(&path) else { continue };
        match SourceText::from_bytes(bytes) {
            Ok(source) => {
                let whole = Span::new(0, source.text().len());
                let start = Instant::now();
                let defines = scan_directives(source.text(), whole).defines;
                t.scan += start.elapsed();
                files.push(File { path, source, defines });
            }
            Err(problem) => eprintln!("{}: {problem}", path.display()),
        }
    }
    let macros = MacroTable::build(files.iter().flat_map(|f| &f.defines), &[]);
    let mut pool = ParserPool::new();
    for file in &files {
        let text = file.source.text();
        let cuda = FileKind::of(&file.path) == Some(FileKind::Cuda);
        if !(cuda || all && contains_cuda(text)) {
            continue;
        }
        let region = Region { language: Language::Cuda, span: Span::new(0, text.len()) };
        let start = Instant::now();
        let masked = mask(text, region.span, &macros, &file.defines);
        let middle = Instant::now();
        let parsed = parse_region(text, &region, &macros, &file.defines, &mut pool);
        let whole = middle.elapsed();
        t.mask += middle - start;
        t.parse += whole.saturating_sub(middle - start);
        t.files += 1;
        t.bytes += text.len();
        t.lines += text.lines().count();
        t.damaged += usize::from(!parsed.damage.is_empty());
        t.errors += parsed.damage.len();
        if verbose {
            for span in &parsed.damage {
                let (line, words) = place(text, span.start as usize);
                let what = if span.is_empty() { "missing" } else { "ERROR" };
                println!("{}:{line}: {what} {} bytes: {words}", file.path.display(), span.len());
            }
        }
        for note in &masked.notes {
            let words = text[note.span.range()].split_whitespace().collect::<Vec<_>>().join(" ");
            let words: String = words.chars().take(70).collect();
            let kind = format!("{:?}", note.kind);
            if note.kind != MaskKind::Branch && note.kind != MaskKind::LessThan {
                *t.changed.entry(format!("{} {words}", kind.split('(').next().unwrap_or(""))).or_default() += 1;
            }
        }
        let branches: Vec<Span> = masked.notes.iter().filter(|n| n.kind == MaskKind::Branch).map(|n| n.span).collect();
        let counted = in_text(&plain(text, &region, &branches));
        let stand = parsed.tree.as_ref().map(|tree| in_tree(tree, text)).unwrap_or_default();
        for n in 0..NAMES.len() {
            let have: std::collections::HashSet<usize> = stand[n].iter().copied().collect();
            t.in_text[n] += counted[n].len();
            for at in &counted[n] {
                if have.contains(at) {
                    t.in_tree[n] += 1;
                } else if missing {
                    let (line, words) = place(text, *at);
                    println!("{}:{line}: no {}: {words}", file.path.display(), NAMES[n]);
                }
            }
        }
    }
    t
}
