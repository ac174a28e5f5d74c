//! Python modules in a project: imports by path, C++ in strings, and names that stay apart.
#![allow(clippy::unwrap_used, clippy::case_sensitive_file_extension_comparisons, missing_docs)]

mod common;

use common::{path, sources};
use cudalint_program::ir::{Module, ModuleId};
use cudalint_program::python::{LowerPython, lower};
use cudalint_program::{Project, ProjectOptions, Source};
use cudalint_syntax::{Language, MacroTable, ParserPool, Region, Span, parse_region};

fn python(text: &str) -> Module {
    let region = Region { language: Language::Python, span: Span::new(0, text.len()) };
    let parsed = parse_region(text, &region, &MacroTable::default(), &[], &mut ParserPool::new());
    lower(LowerPython { text, parsed: &parsed })
}

fn source(path: &str, text: &str, module: Module) -> Source {
    Source { path: path.into(), text: text.into(), module, alone: path.ends_with(".md") }
}

fn files(paths: &[&str]) -> Project {
    let sources = paths.iter().map(|path| source(path, "x = 1\n", python("x = 1\n"))).collect();
    Project::build(sources, &ProjectOptions::default())
}

#[test]
fn imports_lead_to_files() {
    let paths = [
        "pkg/__init__.py",
        "pkg/a.py",
        "pkg/sub/__init__.py",
        "pkg/sub/b.py",
        "pkg/helper.py",
        "scripts/run.py",
        "scripts/helper.py",
        "helper.py",
        "src/lib/__init__.py",
        "pkg/sub.py",
        "doc.md",
    ];
    let project = files(&paths);
    let id = |path: &str| ModuleId(paths.iter().position(|known| *known == path).unwrap() as u32);
    let found = |from: &str, import: &str, level| {
        project.python_module(id(from), import, level).map(|module| paths[module.0 as usize])
    };
    assert_eq!(found("scripts/run.py", "pkg.a", 0), Some("pkg/a.py"));
    assert_eq!(found("scripts/run.py", "pkg", 0), Some("pkg/__init__.py"));
    assert_eq!(found("scripts/run.py", "pkg.sub", 0), Some("pkg/sub/__init__.py"), "a package hides a module");
    assert_eq!(found("scripts/run.py", "lib", 0), Some("src/lib/__init__.py"));
    assert_eq!(found("scripts/run.py", "helper", 0), Some("scripts/helper.py"), "a script's own folder comes first");
    assert_eq!(found("pkg/a.py", "helper", 0), None, "of two neither is sure");
    assert_eq!(found("pkg/sub/b.py", "pkg.helper", 0), Some("pkg/helper.py"));
    assert_eq!(found("scripts/run.py", "numpy", 0), None);
    assert_eq!(found("pkg/a.py", "helper", 1), Some("pkg/helper.py"));
    assert_eq!(found("pkg/a.py", "", 1), Some("pkg/__init__.py"));
    assert_eq!(found("pkg/sub/b.py", "a", 2), Some("pkg/a.py"));
    assert_eq!(found("pkg/sub/b.py", "a", 5), None);
    assert_eq!(found("doc.md", "pkg.a", 0), None, "a fence stands for itself");
    assert_eq!(found("pkg/a.py", "doc", 0), None);
}

#[test]
fn folders_are_those_of_the_paths_as_given() {
    let project = files(&["./a/main.py", "./a/lib/x.py", "/abs/pkg/y.py", "/abs/z.py", "../up/m.py", "../n.py"]);
    assert_eq!(project.python_module(ModuleId(0), "lib.x", 0), Some(ModuleId(1)));
    assert_eq!(project.python_module(ModuleId(2), "z", 0), Some(ModuleId(3)));
    assert_eq!(project.python_module(ModuleId(4), "n", 0), Some(ModuleId(5)));
    assert_eq!(project.python_module(ModuleId(2), "z", 2), Some(ModuleId(3)));
}

#[test]
fn cpp_in_strings_belongs_to_its_file_and_its_fence() {
    let text = "a = 'kernel one'\nb = 'kernel two'\n";
    let mut host = python(text);
    host.functions.raw[0].span = Span::new(0, 17);
    let (first, second) = (Span::new(4, 16), Span::new(21, 33));
    let embedded = |span| Module { inside: Some(span), ..Module::default() };
    let sources = vec![
        source("x.py", text, host),
        source("x.py", text, embedded(first)),
        source("x.py", text, embedded(second)),
        source("y.py", text, embedded(first)),
    ];
    let project = Project::build(sources, &ProjectOptions::default());
    assert_eq!(project.embedded(ModuleId(0)).collect::<Vec<_>>(), [ModuleId(1)]);
    assert_eq!(project.embedded_at(ModuleId(0), first), Some(ModuleId(1)));
    assert_eq!(project.embedded_at(ModuleId(0), second), None);
}

#[test]
fn names_do_not_lead_from_one_language_to_the_other() {
    let (mut sources, options) = sources(&[("k.cu", "__global__ void twin(int *p) {}\nint N = 3;\n")], &[]);
    let text = "N = 4\nclass Thing: pass\ndef twin(p): pass\ndef only(p): pass\n";
    sources.push(source("k.py", text, python(text)));
    let project = Project::build(sources, &options);
    let twin = project.function(ModuleId(0), &path(""), &path("twin"), 1);
    assert_eq!(twin.map(|(module, _)| module), Some(ModuleId(0)));
    assert_eq!(project.functions_named("twin").len(), 1);
    assert!(project.functions_named("only").is_empty());
    assert!(project.record(ModuleId(0), &path(""), &path("Thing")).is_none());
    assert_eq!(project.global(ModuleId(0), &path(""), &path("N")).map(|entry| entry.module), Some(ModuleId(0)));
    assert!(project.function(ModuleId(1), &path(""), &path("only"), 1).is_none());
}
