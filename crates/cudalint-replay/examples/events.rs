//! Prints the events of all CUDA files under the folders named, and how long the walk took beside the parse.
//!
//! `cargo run --release -p cudalint-replay --example events -- [--quiet] PATH…`
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use cudalint_program::cuda::{LowerInput, lower};
use cudalint_program::macro_index::{MacroFile, MacroIndex};
use cudalint_program::{Project, ProjectOptions, Source};
use cudalint_replay::facts::{Amount, EventKind, Extent3, Pointer, PointerArgument};
use cudalint_replay::{ProjectScan, ReplayOptions, merge, walk_module};
use cudalint_syntax::{
    Directives, FileKind, Language, MacroTable, ParserPool, Region, SourceText, Span, parse_region, scan_directives,
};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

fn collect(path: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(path) else {
        out.push(path.to_owned());
        return;
    };
    let mut entries: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        let wanted = |ext: &str| ["cu", "cuh", "h", "hpp", "cpp"].contains(&ext);
        if path.is_dir() || path.extension().and_then(|ext| ext.to_str()).is_some_and(wanted) {
            collect(&path, out);
        }
    }
}

fn amount(amount: &Amount) -> String {
    match &amount.assumptions {
        Some(list) => format!("{} [if {}]", amount, list.join("; ")),
        None => amount.to_string(),
    }
}

fn extent(extent: &Extent3) -> String {
    extent.axes.iter().map(amount).collect::<Vec<_>>().join(" x ")
}

fn pointer(pointer: &Pointer) -> String {
    match pointer {
        Pointer::Into { buffer, offset } => {
            format!("{} ({:?}, {} B) + {}", buffer.name, buffer.space, amount(&buffer.bytes), amount(offset))
        }
        Pointer::Null => "null".into(),
        Pointer::Uninitialized { name, .. } => format!("{name} (unset)"),
        Pointer::Somewhere { space, why } => format!("somewhere {space:?} ({why})"),
        Pointer::Unknown => "?".into(),
    }
}

fn side(argument: &PointerArgument) -> String {
    format!("`{}` {}*{:?} = {}", argument.text, argument.element_name, argument.element, pointer(&argument.pointer))
}

fn describe(kind: &EventKind) -> String {
    match kind {
        EventKind::Allocate { buffer, count, pointer_text, element, element_name } => format!(
            "ALLOC {} `{pointer_text}` {element_name}*{element:?}: {} B {:?} sizeofs {:?} opaque {}",
            buffer.origin,
            amount(&buffer.bytes),
            buffer.space,
            count.sizeofs,
            count.opaque
        ),
        EventKind::Free { api, argument } => format!("FREE {api} {}", side(argument)),
        EventKind::Copy { api, destination, source, bytes, kind, count, .. } => format!(
            "COPY {api} {kind:?}: {} B sizeofs {:?}\n      to {}\n      from {}",
            amount(bytes),
            count.sizeofs,
            side(destination),
            side(source)
        ),
        EventKind::Set { api, destination, value, bytes, .. } => {
            format!("SET {api} value {} bytes {} to {}", amount(value), amount(bytes), side(destination))
        }
        EventKind::Launch(launch) => {
            let args: Vec<String> = launch
                .args
                .iter()
                .map(|arg| match &arg.pointer {
                    Some(to) => pointer(to),
                    None => amount(&arg.amount),
                })
                .collect();
            format!(
                "LAUNCH {} found {} <<<{} , {}, {}>>> opt-in {}\n      ({})",
                launch.kernel_name,
                launch.kernel.is_some(),
                extent(&launch.grid),
                extent(&launch.block),
                amount(&launch.shared),
                amount(&launch.shared_opt_in),
                args.join(", ")
            )
        }
        EventKind::HostAccess { argument, write } => {
            format!("HOST {} {}", if *write { "write" } else { "read" }, side(argument))
        }
    }
}

fn main() {
    let mut quiet = false;
    let mut files = Vec::new();
    for arg in std::env::args().skip(1) {
        if arg == "--quiet" {
            quiet = true;
        } else {
            collect(Path::new(&arg), &mut files);
        }
    }
    let texts: Vec<(String, SourceText)> = files
        .into_iter()
        .filter_map(|path| Some((path.display().to_string(), SourceText::from_bytes(std::fs::read(&path).ok()?).ok()?)))
        .filter(|(path, text)| {
            // Headers are there for whoever includes them.
            let header = FileKind::of(Path::new(path)) == Some(FileKind::CFamily);
            header
                || FileKind::of(Path::new(path)) == Some(FileKind::Cuda)
                || cudalint_syntax::contains_cuda(text.text())
        })
        .collect();
    let directives: Vec<Directives> =
        texts.iter().map(|(_, text)| scan_directives(text.text(), Span::new(0, text.text().len()))).collect();
    let table = MacroTable::build(directives.iter().flat_map(|d| d.defines.iter()), &[]);
    let list: Vec<MacroFile<'_>> = texts
        .iter()
        .zip(&directives)
        .map(|((path, _), directives)| MacroFile { path, directives, alone: false })
        .collect();
    let index = MacroIndex::build(&list, &[], &std::sync::Arc::default());
    let mut pool = ParserPool::new();
    let (mut parse_time, mut lower_time) = (Duration::ZERO, Duration::ZERO);
    let mut sources = Vec::new();
    for (at, ((path, text), directives)) in texts.iter().zip(&directives).enumerate() {
        let text = text.text();
        let region = Region { language: Language::Cuda, span: Span::new(0, text.len()) };
        let start = Instant::now();
        let parsed = parse_region(text, &region, &table, &directives.defines, &mut pool);
        parse_time += start.elapsed();
        let visible = index.visible(at);
        let start = Instant::now();
        let module = lower(LowerInput { text, parsed: &parsed, directives, macros: &visible, pool: &mut pool });
        lower_time += start.elapsed();
        sources.push(Source { path: path.as_str().into(), text: text.into(), module, alone: false });
    }
    let project = Project::build(sources, &ProjectOptions::default());
    let start = Instant::now();
    let scan = ProjectScan::new(&project);
    let options = ReplayOptions::default();
    let mut slow = Vec::new();
    let walks = project
        .modules()
        .map(|id| {
            let start = Instant::now();
            let walked = walk_module(&project, &scan, id, &options);
            slow.push((start.elapsed(), id));
            walked
        })
        .collect();
    let facts = merge(&project, walks);
    let walk_time = start.elapsed();
    let mut total = 0;
    for (id, facts) in project.modules().zip(&facts) {
        total += facts.events.len();
        if quiet || facts.events.is_empty() {
            continue;
        }
        println!("== {}", project.path(id));
        for event in &facts.events {
            let before = project.source(id).get(..event.site.span.start as usize).unwrap_or("");
            let line = before.lines().count() + usize::from(before.ends_with('\n') || before.is_empty());
            println!("  {line}: {}", describe(&event.kind));
            if let Some(list) = &event.assumptions {
                println!("        if {}", list.join("; "));
            }
            for step in &event.path {
                println!("        via {}", step.note);
            }
        }
        if !facts.limits.is_empty() {
            println!("  limits {:?}", facts.limits);
        }
    }
    slow.sort();
    println!("{total} events; parse {parse_time:?}, lower {lower_time:?}, walk {walk_time:?}");
    for (time, id) in slow.iter().rev().take(8) {
        println!("  {time:?} {} {:?}", project.path(*id), facts[id.index()].limits);
    }
}
