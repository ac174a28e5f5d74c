//! Lowers every kernel under the folders named, each folder as one project, and prints what lowering did not understand
//! and how long it took.
//!
//! `cargo run --release -p cudalint-kernel --example lower_quality -- FOLDER…`; with `--dump NAME` the code of the kernels
//! of that name, with `--sites CAUSE` the kernels that have a gap of that cause, with `--opaque` the source text of what
//! has no known value.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use cudalint_kernel::code::{Code, Effect, Expr};
use cudalint_kernel::lower;
use cudalint_program::cuda::{LowerInput, lower as lower_module};
use cudalint_program::ir::{FunctionId, ModuleId};
use cudalint_program::macro_index::{MacroFile, MacroIndex};
use cudalint_program::types::{Argument, Ty, TypeEnv};
use cudalint_program::{Project, ProjectOptions, Scope, Source};
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
        } else if path
            .extension()
            .is_some_and(|ext| ["cu", "cuh", "h", "hpp", "inl", "cpp"].iter().any(|known| ext == *known))
        {
            out.push(path);
        }
    }
}

fn project(folder: &Path) -> (Project, Duration) {
    let mut files = Vec::new();
    collect(folder, &mut files);
    let texts: Vec<(PathBuf, SourceText)> = files
        .into_iter()
        .filter_map(|path| Some((path.clone(), SourceText::from_bytes(std::fs::read(&path).ok()?).ok()?)))
        .filter(|(path, text)| {
            // Headers without CUDA define the macros that kernels use.
            path.extension().is_some_and(|ext| ext != "cpp") || cudalint_syntax::contains_cuda(text.text())
        })
        .collect();
    let directives: Vec<Directives> =
        texts.iter().map(|(_, text)| scan_directives(text.text(), Span::new(0, text.text().len()))).collect();
    let table = MacroTable::build(directives.iter().flat_map(|d| d.defines.iter()), &[]);
    let names: Vec<String> = texts.iter().map(|(path, _)| path.display().to_string()).collect();
    let list: Vec<MacroFile<'_>> =
        names.iter().zip(&directives).map(|(path, directives)| MacroFile { path, directives, alone: false }).collect();
    let index = MacroIndex::build(&list, &[], &std::sync::Arc::default());
    let mut pool = ParserPool::new();
    let mut parse_time = Duration::ZERO;
    let mut sources = Vec::new();
    for (at, (_, text)) in texts.iter().enumerate() {
        for region in regions(FileKind::Cuda, text.text()) {
            if region.language != Language::Cuda {
                continue;
            }
            let start = Instant::now();
            let parsed = parse_region(text.text(), &region, &table, &directives[at].defines, &mut pool);
            parse_time += start.elapsed();
            let macros = index.visible(at);
            let module = lower_module(LowerInput {
                text: text.text(),
                parsed: &parsed,
                directives: &directives[at],
                macros: &macros,
                pool: &mut pool,
            });
            let source = Source { path: names[at].as_str().into(), text: text.text().into(), module, alone: false };
            sources.push(source);
        }
    }
    (Project::build(sources, &ProjectOptions::default()), parse_time)
}

/// What template parameters stand for where nothing says it: `float` for types; numbers by their default, else 16.
fn environment(project: &Project, module: ModuleId, kernel: FunctionId) -> TypeEnv {
    let function = project.function_at(module, kernel).unwrap();
    let scope = Scope::new(project, module, Some(kernel), &TypeEnv::default());
    let defaults = scope.bind((module, kernel), &[], &[]);
    let bound = function.template_params.iter().map(|param| {
        let argument = match defaults.get(&param.name) {
            Some(known) if *known != Argument::Unknown => known.clone(),
            _ if param.value_type.is_some_and(|ty| scope.resolve(ty).integer().is_some()) => Argument::Value(16.into()),
            _ if param.value_type.is_some() => Argument::Unknown,
            _ => Argument::Type(Ty::Float { bytes: 4 }),
        };
        (param.name.clone(), argument)
    });
    TypeEnv::new(bound.collect())
}

/// Counts what has no known value by its text.
fn opaque_texts(project: &Project, code: &Code, texts: &mut BTreeMap<String, u32>) {
    for node in &code.exprs {
        if let Expr::Opaque { effect, .. } = &node.kind
            && !matches!(effect, Effect::Pure(_))
        {
            let text = project.text(node.site.module, node.site.span);
            let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let path = project.path(node.site.module);
            let file = path.rsplit('/').next().unwrap_or(path);
            *texts.entry(format!("{effect:?} {}  [{file}]", text.chars().take(60).collect::<String>())).or_default() +=
                1;
        }
    }
}

fn main() {
    let mut opaque = false;
    let mut dump = None;
    let mut sites = None;
    let mut folders = Vec::new();
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--dump" => dump = args.next(),
            "--opaque" => opaque = true,
            "--sites" => sites = args.next(),
            _ => folders.push(PathBuf::from(arg)),
        }
    }
    for folder in folders {
        let (project, parse_time) = project(&folder);
        let mut causes: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
        let mut texts = BTreeMap::new();
        let (mut kernels, mut clean, mut nodes, mut instances) = (0, 0, 0, 0);
        let mut took = Duration::ZERO;
        for (module, kernel) in project.kernels() {
            let env = environment(&project, module, kernel);
            let start = Instant::now();
            let code = lower(&project, module, kernel, &env);
            let time = start.elapsed();
            took += time;
            let Some(code) = code else { continue };
            let name = &project.function_at(module, kernel).unwrap().name;
            if time > Duration::from_millis(20) {
                println!("slow: {} {name} {time:?}", project.path(module));
            }
            kernels += 1;
            if opaque {
                opaque_texts(&project, &code, &mut texts);
            }
            clean += u32::from(code.gaps.is_empty() && !code.damaged);
            nodes += code.exprs.len();
            instances += code.functions.len();
            for (cause, count) in &code.gaps {
                let entry = causes.entry(cause).or_default();
                entry.0 += count;
                entry.1 += 1;
                if sites.as_deref() == Some(*cause) {
                    println!("{}: {name}: {cause}", project.path(module));
                }
            }
            if dump.as_deref() == Some(name.as_str()) {
                println!("{code}");
            }
        }
        println!("{}: {kernels} kernels, {clean} without gaps", folder.display());
        let mut causes: Vec<(&str, (u32, u32))> = causes.into_iter().collect();
        causes.sort_by_key(|(name, (_, kernels))| (std::cmp::Reverse(*kernels), *name));
        for (cause, (count, kernels)) in causes {
            println!("  {cause}: {count} in {kernels} kernels");
        }
        let mut texts: Vec<(String, u32)> = texts.into_iter().collect();
        texts.sort_by_key(|(text, count)| (std::cmp::Reverse(*count), text.clone()));
        for (text, count) in texts.iter().take(120) {
            println!("    {count:5} {text}");
        }
        println!(
            "  {nodes} expressions, {instances} functions, {:.1} ms ({:.2} of parse)",
            took.as_secs_f64() * 1e3,
            took.as_secs_f64() / parse_time.as_secs_f64().max(1e-9)
        );
    }
}
