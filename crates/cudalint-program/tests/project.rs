//! Which definition a name means, across files.
#![allow(clippy::unwrap_used)]

mod common;

use common::{path, project};
use cudalint_program::Project;
use cudalint_program::ir::ModuleId;

/// The module that holds the function a call means.
fn called(project: &Project, from: u32, name: &str, args: usize) -> Option<u32> {
    project.function(ModuleId(from), &path(""), &path(name), args).map(|(module, _)| module.0)
}

#[test]
fn nearer_definitions_win() {
    let files = [
        ("a/main.cu", "#include \"util.h\"\nint near(int x) { return x; }\nint main() { return near(1) + far(2); }\n"),
        ("a/util.h", "#pragma once\ninline int near(int x) { return x + 1; }\ninline int far(int x) { return 2; }\n"),
        ("b/other.cu", "int far(int x) { return 3; }\nint only_there(int x) { return 4; }\n"),
        ("c/lost.cu", "#include \"not_here.h\"\nint main() { return only_there(1); }\n"),
        ("doc.md", "```cuda\nint main() { return far(2); }\n```\n"),
        ("c/parts/part.cu", "int neighbour(int x) { return 5; }\n"),
    ];
    let project = project(&files, &[]);
    assert_eq!(called(&project, 0, "near", 1), Some(0));
    assert_eq!(called(&project, 0, "far", 1), Some(1));
    // All headers of `a/main.cu` are in sight, and none declares it.
    assert_eq!(called(&project, 0, "only_there", 1), None);
    // An include out of sight may lead to a neighbour, but not into another program.
    assert_eq!(called(&project, 3, "neighbour", 1), Some(5));
    assert_eq!(called(&project, 3, "only_there", 1), None);
    assert_eq!(called(&project, 3, "far", 1), None);
    assert_eq!(called(&project, 4, "far", 1), None, "a fence stands for itself");
}

#[test]
fn a_source_out_of_sight_may_define_what_a_neighbour_defines() {
    let files = [
        ("main.cu", "#include \"gone.cu\"\nint main() { return near(1); }\n"),
        ("other.cu", "#include \"gone.h\"\nint main() { return near(1); }\n"),
        ("declared.cu", "#include \"gone.cu\"\nint near(int x);\nint main() { return near(1); }\n"),
        ("parts.cu", "int near(int x) { return x; }\n"),
    ];
    let project = project(&files, &[]);
    assert_eq!([0, 1, 2].map(|from| called(&project, from, "near", 1)), [None, Some(3), Some(3)]);
}

#[test]
fn a_declaration_leads_to_its_definition() {
    let files = [
        ("main.cu", "#include \"k.h\"\nint main() { k<<<1, 32>>>(0, 4); helper(1); }\n"),
        ("k.h", "__global__ void k(float *p, int n);\nvoid helper(int a, int b = 2);\n"),
        ("k.cu", "#include \"k.h\"\n__global__ void k(float *p, int n) { p[n] = 0; }\nvoid helper(int a, int b) {}\n"),
        ("two.cu", "void twice();\nstatic void hidden(int) {}\n"),
    ];
    let project = project(&files, &[]);
    let kernel = project.kernel(ModuleId(0), &path(""), &path("k"), Some(2)).unwrap();
    assert_eq!(kernel.0, ModuleId(2));
    assert_eq!(project.kernel(ModuleId(0), &path(""), &path("k"), Some(3)), None);
    assert_eq!(project.kernel(ModuleId(0), &path(""), &path("helper"), None), None);
    // The default stands on the declaration only.
    assert_eq!(called(&project, 0, "helper", 1), Some(2));
    assert_eq!(called(&project, 0, "helper", 3), None);
    assert_eq!(project.kernels().count(), 1);
    // Declared, defined nowhere: the declaration itself.
    assert_eq!(called(&project, 3, "twice", 0), Some(3));
    assert_eq!(called(&project, 0, "hidden", 1), None);
}

/// Where the class is declared in a header that was not looked into for it, its method is no function that others call by its bare name.
#[test]
fn a_method_apart_from_its_class_is_no_free_function() {
    let files = [
        ("pool.h", "struct Pool { static void give(void *p); };\nnamespace ns { void take(void *p); }\n"),
        (
            "pool.cu",
            "#include \"pool.h\"\nvoid Pool::give(void *p) {}\nvoid ns::take(void *p) {}\nvoid f() { give(0); take(0); }\n",
        ),
    ];
    let project = project(&files, &[]);
    assert_eq!(called(&project, 1, "give", 1), None);
    assert_eq!(called(&project, 1, "take", 1), Some(1));
    assert_eq!(called(&project, 1, "Pool::give", 1), Some(1));
}

#[test]
fn a_namespace_has_other_names() {
    let files = [
        (
            "main.cu",
            "#include \"k.h\"\nnamespace twice = other;\nnamespace twice = third;\nvoid f() { namespace inner = kk; }\n",
        ),
        ("k.h", "namespace aa { namespace kern { __global__ void k(float *p) {} } }\nnamespace kk = aa::kern;\n"),
        ("lone.cu", "void g();\n"),
    ];
    let project = project(&files, &[]);
    let kernel = |from, name| project.kernel(ModuleId(from), &path(""), &path(name), Some(1)).map(|found| found.0);
    assert_eq!(kernel(0, "aa::kern::k"), Some(ModuleId(1)));
    assert_eq!(kernel(0, "kk::k"), Some(ModuleId(1)));
    assert_eq!(kernel(0, "inner::k"), Some(ModuleId(1)));
    assert_eq!(kernel(0, "twice::k"), None);
    assert_eq!(kernel(0, "none::k"), None);
}

#[test]
fn overloads_and_specializations_are_not_guessed() {
    let text = "int f(int a) { return 1; }\nint f(float a) { return 2; }\nint f(int a, int b) { return 3; }\n\
                template<class T> int g(T a) { return 1; }\ntemplate<> int g<float>(float a) { return 2; }\n\
                namespace n { int h() { return 1; } }\nnamespace m { int h() { return 2; } }\n\
                struct S { int only() { return 1; } };\n";
    let project = project(&[("a.cu", text)], &[]);
    assert_eq!(called(&project, 0, "f", 1), None);
    assert_eq!(called(&project, 0, "f", 2), Some(0));
    assert_eq!(project.overloads(ModuleId(0), &path(""), &path("f")).len(), 3);
    assert_eq!(called(&project, 0, "g", 1), None);
    assert_eq!(called(&project, 0, "h", 0), None);
    assert_eq!(called(&project, 0, "n::h", 0), Some(0));
    assert!(project.function(ModuleId(0), &path("m"), &path("h"), 0).is_some());
    assert_eq!(called(&project, 0, "only", 0), None, "a method needs its class");
    let record = project.record(ModuleId(0), &path(""), &path("S")).unwrap();
    assert!(project.method(record, "only", 0).is_some());
}

#[test]
fn macros_of_headers_reach_the_lowering() {
    let files = [("a.cu", "#include \"a.h\"\nint f() { return N; }\n"), ("a.h", "#define N 5\n")];
    let project = project(&files, &[]);
    assert!(project.has_macro(ModuleId(0), "N"));
    assert!(!project.has_macro(ModuleId(0), "M"));
}

#[test]
fn what_an_includer_defines_decides_groups_of_a_header() {
    let header = ("b.h", "#ifndef CHECK\n#define CHECK(x) check(x)\nvoid check(int x) {}\n#endif\n");
    let own = ("a.cu", "#define CHECK(x) x\n#include \"b.h\"\nint main() { return 0; }\n");
    let project_of_one = project(&[own, header], &[]);
    assert_eq!(called(&project_of_one, 1, "check", 1), None, "the header is read with the macro defined");
    // Part of two programs, of which one has it.
    let project_of_two = project(&[own, header, ("c.cu", "#include \"b.h\"\n")], &[]);
    assert_eq!(called(&project_of_two, 1, "check", 1), Some(1));
}

#[test]
fn an_include_guard_hides_nothing() {
    let files = [
        ("a.cu", "#include \"a_kernel.cu\"\nint main() { k<<<1, 1>>>(1); }\n"),
        (
            "a_kernel.cu",
            "\n#ifndef _A_KERNEL_\n#define _A_KERNEL_\n#include \"b.h\"\n__global__ void k(int n) {}\n#endif\n",
        ),
        (
            "b.h",
            "#ifndef B_H\n#define B_H\ntemplate <typename T>\nvoid check(T result, char const *const func) {}\n#endif\n",
        ),
    ];
    let project = project(&files, &[]);
    assert!(project.kernel(ModuleId(0), &path(""), &path("k"), Some(1)).is_some());
    assert_eq!(called(&project, 0, "check", 2), Some(2));
}

#[test]
fn a_linkage_specification_without_braces_declares_like_extern() {
    let files = [
        ("main.cu", "#include \"sizes.h\"\nint main() { return SMALLEST; }\n"),
        ("sizes.h", "extern \"C\" const unsigned SMALLEST;\nextern \"C\" { const unsigned OWN = 3; }\n"),
        ("sizes.cu", "#include \"sizes.h\"\nextern \"C\" const unsigned SMALLEST = 4;\n"),
    ];
    let project = project(&files, &[]);
    let home = |name: &str| project.global(ModuleId(0), &path(""), &path(name)).map(|entry| entry.module.0);
    assert_eq!(home("SMALLEST"), Some(2));
    assert_eq!(home("OWN"), Some(1));
}
