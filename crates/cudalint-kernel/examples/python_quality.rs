//! Lowers every Python kernel under the folders named with guessed argument types, each file as one project, and prints how many
//! accesses were understood and what was not.
//!
//! `cargo run -p cudalint-kernel --example python_quality -- FOLDER…`; with `--dump NAME` the code of the kernels of that
//! name, with `--sites CAUSE` the kernels that have a gap of that cause, with `--opaque` the source text of what has no
//! known value.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use cudalint_kernel::code::{Code, Effect, Expr, Intrinsic, Place};
use cudalint_kernel::python::{Specialization, guess_arguments};
use cudalint_kernel::{Argument, Budget, LaunchInput, execute, lower_python};
use cudalint_program::ir::{Dialect, FunctionId, ModuleId};
use cudalint_program::python::{LowerPython, lower};
use cudalint_program::{Project, ProjectOptions, Source};
use cudalint_syntax::{Language, MacroTable, ParserPool, Region, SourceText, Span, parse_region};
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
        } else if path.extension().is_some_and(|ext| ext == "py") {
            out.push(path);
        }
    }
}

fn project(path: &Path, parse_time: &mut Duration) -> Option<Project> {
    let text = SourceText::from_bytes(std::fs::read(path).ok()?).ok()?;
    let text = text.text();
    if !["numba", "cupyx"].iter().any(|word| text.contains(word)) {
        return None;
    }
    let mut pool = ParserPool::new();
    let region = Region { language: Language::Python, span: Span::new(0, text.len()) };
    let start = Instant::now();
    let parsed = parse_region(text, &region, &MacroTable::build([].iter(), &[]), &[], &mut pool);
    *parse_time += start.elapsed();
    let module = lower(LowerPython { text, parsed: &parsed });
    let source = Source { path: path.display().to_string().into(), text: text.into(), module, alone: true };
    Some(Project::build(vec![source], &ProjectOptions::default()))
}

/// Accesses of memory, and those whose address rests on something that is not known.
fn accesses(code: &Code) -> (u32, u32) {
    let (mut all, mut lost) = (0, 0);
    for node in &code.exprs {
        let address = match &node.kind {
            Expr::Read(Place::Memory { address, .. })
            | Expr::Write(Place::Memory { address, .. }, _)
            | Expr::Update { place: Place::Memory { address, .. }, .. } => *address,
            Expr::Intrinsic(Intrinsic::Atomic { .. }, operands) => match operands.first() {
                Some(address) => *address,
                None => continue,
            },
            _ => continue,
        };
        all += 1;
        lost += u32::from(is_opaque(code, address, 0));
    }
    (all, lost)
}

fn is_opaque(code: &Code, id: cudalint_kernel::code::ExprId, depth: u32) -> bool {
    depth < 40
        && match &code.expr(id).kind {
            Expr::Opaque { effect: Effect::Pure(_), children } => {
                children.iter().any(|child| is_opaque(code, *child, depth + 1))
            }
            Expr::Opaque { .. } => true,
            Expr::Offset { base, index, .. } => is_opaque(code, *base, depth + 1) || is_opaque(code, *index, depth + 1),
            Expr::Binary(_, a, b) => is_opaque(code, *a, depth + 1) || is_opaque(code, *b, depth + 1),
            Expr::Convert(a) => is_opaque(code, *a, depth + 1),
            _ => false,
        }
}

fn main() {
    let mut opaque = false;
    let mut dump = None;
    let mut sites = None;
    let mut folders = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--opaque" => opaque = true,
            "--dump" => dump = arguments.next(),
            "--sites" => sites = arguments.next(),
            _ => folders.push(PathBuf::from(argument)),
        }
    }
    let mut causes: BTreeMap<&'static str, (u32, u32)> = BTreeMap::new();
    let mut run_causes: BTreeMap<&'static str, u32> = BTreeMap::new();
    let mut texts: BTreeMap<String, u32> = BTreeMap::new();
    let (mut kernels, mut clean, mut none, mut all, mut lost) = (0, 0, 0, 0, 0);
    let (mut met, mut known) = (0, 0);
    let (mut parse_time, mut lower_time) = (Duration::ZERO, Duration::ZERO);
    for folder in &folders {
        let mut files = Vec::new();
        collect(folder, &mut files);
        for file in files {
            let Some(project) = project(&file, &mut parse_time) else { continue };
            for (module, kernel) in project.kernels() {
                let function = project.function_at(module, kernel).unwrap();
                let Some(decorator) = function.python.as_ref().and_then(|python| python.kernel.as_ref()) else {
                    continue;
                };
                if !matches!(decorator.dialect, Dialect::Numba | Dialect::CupyJit) {
                    continue;
                }
                kernels += 1;
                let start = Instant::now();
                let code = lowered(&project, module, kernel, decorator.dialect);
                lower_time += start.elapsed();
                let Some(code) = code else {
                    none += 1;
                    continue;
                };
                clean += u32::from(code.gaps.is_empty());
                let (of, opaque_ones) = accesses(&code);
                all += of;
                lost += opaque_ones;
                for (cause, count) in &code.gaps {
                    let entry = causes.entry(cause).or_default();
                    entry.0 += count;
                    entry.1 += 1;
                    if sites.as_deref() == Some(*cause) {
                        println!("{}: {}: {cause}", file.display(), function.name);
                    }
                }
                if opaque {
                    for node in &code.exprs {
                        if let Expr::Opaque { effect, .. } = &node.kind
                            && !matches!(effect, Effect::Pure(_))
                        {
                            let text = project.text(node.site.module, node.site.span);
                            let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
                            let name =
                                file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                            *texts
                                .entry(format!("{effect:?} {} [{name}]", text.chars().take(70).collect::<String>()))
                                .or_default() += 1;
                        }
                    }
                }
                if dump.as_deref() == Some(function.name.as_str()) {
                    println!("{code}");
                }
                // Whatever it is launched with, it must not panic.
                let launch = LaunchInput {
                    grid: [2, 1, 1],
                    block: [64, 1, 1],
                    dynamic_shared: None,
                    cooperative: None,
                    arguments: vec![Argument::Unknown; 4],
                    buffers: Vec::new(),
                };
                let report = execute(&code, &launch, &Budget::default());
                met += report.coverage.accesses;
                known += report.coverage.known;
                for (cause, count) in report.coverage.causes {
                    *run_causes.entry(cause).or_default() += count;
                }
            }
        }
    }
    println!("{kernels} kernels, {none} not lowered, {clean} without gaps");
    println!(
        "{all} accesses, {lost} with an opaque address ({:.1} of 100 understood)",
        100.0 * f64::from(all - lost) / f64::from(all.max(1))
    );
    println!(
        "lowered in {:.1} ms ({:.2} of parse)",
        lower_time.as_secs_f64() * 1e3,
        lower_time.as_secs_f64() / parse_time.as_secs_f64().max(1e-9)
    );
    println!("executed without arguments: {met} accesses met, {known} with a known address; {run_causes:?}");
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
}

fn lowered(project: &Project, module: ModuleId, kernel: FunctionId, dialect: Dialect) -> Option<Code> {
    let arguments = guess_arguments(project, module, kernel)?;
    lower_python(project, module, kernel, &Specialization { dialect, arguments, captured: Vec::new() })
}
