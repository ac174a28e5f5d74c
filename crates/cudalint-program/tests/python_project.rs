//! Python modules in a project: imports by path, C++ in strings, and names that stay apart.
#![allow(clippy::unwrap_used, clippy::case_sensitive_file_extension_comparisons, missing_docs)]

mod common;

use common::{path, project};
use cudalint_program::Project;
use cudalint_program::ir::ModuleId;

fn files(paths: &[&str]) -> Project {
    let text = |path: &str| if path.ends_with(".md") { "```python\nx = 1\n```\n" } else { "x = 1\n" };
    let files: Vec<(&str, &str)> = paths.iter().map(|path| (*path, text(path))).collect();
    project(&files, &[])
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
    let kernel = |name: &str| format!("extern \"C\" __global__ void {name}(int *p) {{ *p = 1; }}");
    let first = format!("import cupy\na = cupy.RawKernel(r'''{}''', 'one')\n", kernel("one"));
    let text = format!("{first}b = cupy.RawKernel(r'''{}''', 'two')\n", kernel("two"));
    let project = project(&[("x.py", &text), ("y.py", &first)], &[]);
    let modules: Vec<ModuleId> = project.modules().collect();
    let strings: Vec<ModuleId> = project.embedded(modules[0]).collect();
    assert_eq!(strings, modules[1..3]);
    for id in &strings {
        let span = project.module(*id).inside.unwrap();
        assert_eq!(project.embedded_at(modules[0], span), Some(*id));
    }
    assert_eq!(project.embedded(modules[3]).collect::<Vec<_>>(), modules[4..]);
    let second = project.module(strings[1]).inside.unwrap();
    assert_eq!(project.embedded_at(modules[3], second), None);
}

#[test]
fn names_do_not_lead_from_one_language_to_the_other() {
    let cuda = "__global__ void twin(int *p) {}\nint N = 3;\n";
    let project =
        project(&[("k.cu", cuda), ("k.py", "N = 4\nclass Thing: pass\ndef twin(p): pass\ndef only(p): pass\n")], &[]);
    let twin = project.function(ModuleId(0), &path(""), &path("twin"), 1);
    assert_eq!(twin.map(|(module, _)| module), Some(ModuleId(0)));
    assert_eq!(project.functions_named("twin").len(), 1);
    assert!(project.functions_named("only").is_empty());
    assert!(project.record(ModuleId(0), &path(""), &path("Thing")).is_none());
    assert_eq!(project.global(ModuleId(0), &path(""), &path("N")).map(|entry| entry.module), Some(ModuleId(0)));
    assert!(project.function(ModuleId(1), &path(""), &path("only"), 1).is_none());
}
