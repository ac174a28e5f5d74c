//! Writes through another name of a variable, and questions about pointers: what was written is known, or nothing is.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;
use common::{amount, events};
use cudalint_replay::facts::EventKind;

/// How many bytes the only `cudaMemset` sets, behind these declarations and in a function with these statements.
fn set(outside: &str, inside: &str) -> String {
    let text = format!("{outside}\nint main() {{ size_t n = 4096; char *d; cudaMalloc(&d, 64); {inside} }}");
    let events = events(&text);
    let mut sets = events.iter().filter_map(|event| match &event.kind {
        EventKind::Set { bytes, .. } => Some(amount(bytes)),
        _ => None,
    });
    let (Some(bytes), None) = (sets.next(), sets.next()) else { return "none, or several".to_owned() };
    bytes
}

const BY_REFERENCE: &str = "struct Q { size_t &r; Q(size_t &x) : r(x) {} void set() { r = 64; } };
struct A { size_t &r; };
struct G { size_t &r; ~G() { r = 64; } };
struct O { A inner; int other; };";

#[test]
fn members_that_are_references_name_what_they_are_bound_to() {
    for inside in [
        "Q s(n); s.set();",
        "Q s(n); s.r = 64;",
        "A s{n}; s.r = 64;",
        "A s = {.r = n}; A t = s; t.r = 64;",
        "{ G s{n}; }",
        "O o{{n}, 1}; o.inner.r = 64;",
        "O o{n, 1}; o.inner.r = 64;",
        "Q s{n}; n = 64; n = s.r;",
        "Q s(n); size_t *p = &s.r; *p = 64;",
        "Q s(n); [&] { s.r = 64; }();",
    ] {
        assert_eq!(set(BY_REFERENCE, &format!("{inside} cudaMemset(d, 0, n);")), "64", "{inside}");
    }
}

#[test]
fn references_at_namespace_scope_name_what_they_are_bound_to() {
    let outside = "size_t g = 4096; size_t &h = g;";
    assert_eq!(set(outside, "g = 128; h = 64; cudaMemset(d, 0, g);"), "64");
    assert_eq!(set(outside, "g = 64; cudaMemset(d, 0, h);"), "64");
}

#[test]
fn references_in_a_capture_list_name_what_they_are_bound_to() {
    assert_eq!(set("", "auto f = [&r = n]() { r = 64; }; f(); cudaMemset(d, 0, n);"), "64");
    assert_eq!(set("", "auto f = [k = n]() { return k; }; n = 64; cudaMemset(d, 0, f());"), "4096");
}

#[test]
fn what_is_written_by_ways_that_are_not_followed_is_not_known() {
    let outside = "#include <functional>
#include <vector>
struct B { size_t v; };
struct L { size_t *p; size_t &operator*() { return *p; } };
struct M { B *p; B *operator->() { return p; } };";
    for inside in [
        "size_t B::*pm = &B::v; B b; b.v = 4096; b.*pm = 64; n = b.v;",
        "auto r = std::ref(n); r.get() = 64;",
        "auto s = [r = std::ref(n)]() { r.get() = 64; }; s();",
        "std::vector<std::reference_wrapper<size_t>> ps{n}; ps[0].get() = 64;",
        "auto r = std::cref(n); n = 64; size_t m = r; n = m;",
        "L l{&n}; *l = 64;",
        "L l{&n}; size_t &r = *l; r = 64;",
        "B b; b.v = 4096; M m{&b}; m->v = 64; n = b.v;",
        "asm(\"\" : \"=r\"(n));",
        "static size_t &r = n; r = 64;",
    ] {
        let bytes = set(outside, &format!("{inside} cudaMemset(d, 0, n);"));
        assert!(!bytes.contains("4096") && !bytes.contains("none"), "{inside}: {bytes}");
    }
}

#[test]
fn pointers_are_compared_where_both_are_known() {
    let outside = "struct S { int small[2]; int *p; };";
    let start = "int a[4], b[4]; int *p = a + 1, *q = b, *h = new int, *k = new int[4]; int *all[2] = {h, a}; S s; s.p = s.small;";
    for (condition, holds) in [
        ("p == q", false),
        ("p == &a[1]", true),
        ("p - 1 == a", true),
        ("h == k", false),
        ("h == p", false),
        ("all[0] == h", true),
        ("all[1] != a", false),
        ("(void *)all[1] == (void *)a", true),
        ("s.p == s.small", true),
        ("s.p == s.small + 1", false),
    ] {
        let bytes = set(outside, &format!("{start} if ({condition}) n = 64; else n = 32; cudaMemset(d, 0, n);"));
        assert_eq!(bytes, if holds { "64" } else { "32" }, "{condition}");
    }
    // One behind the end of an array may be the first of another; what a function returns may be made in its caller's object.
    let outside = "struct S { int small[2]; int *p; }; S make() { S s; s.p = s.small; return s; } void use(int *x, int *y) { *x = *y; }";
    for condition in ["a + 4 == b", "t.p == t.small", "e == f", "a == g"] {
        let start = "int a[4], b[4]; int *e = new int, *g = unknown(), *f; delete e; f = new int; S t = make();";
        let bytes = set(outside, &format!("{start} if ({condition}) n = 64; else n = 32; cudaMemset(d, 0, n);"));
        assert!(bytes != "64" && bytes != "32", "{condition}: {bytes}");
    }
}

#[test]
fn conditions_ask_about_memory_and_devices() {
    let asked = |inside: &str| {
        let text = format!(
            "bool on_device(void *p); int main() {{ float *q = (float *)malloc(64), *z = (float *)malloc(64); {inside} }}"
        );
        let events = events(&text);
        let of = |event: &cudalint_replay::facts::Event| {
            matches!(event.kind, EventKind::Free { .. }).then(|| (event.conditional, event.questions.len()))
        };
        events.iter().find_map(of).unwrap()
    };
    assert_eq!(asked("if (on_device(q)) cudaFree(q);"), (true, 1));
    assert_eq!(asked("bool b = on_device(q); if (b) cudaFree(q);"), (true, 1));
    assert_eq!(
        asked("cudaPointerAttributes a; cudaPointerGetAttributes(&a, q); if (a.type == 1) cudaFree(q);"),
        (true, 1)
    );
    assert_eq!(
        asked("cudaPointerAttributes a; cudaPointerGetAttributes(&a, z); if (a.type == 1) return 1; cudaFree(q);"),
        (true, 1)
    );
    assert_eq!(asked("int m; scanf(\"%d\", &m); if (m > 1) cudaFree(q);"), (true, 0));
    assert_eq!(asked("if (on_device(q)) m = 2; cudaFree(q);"), (false, 0));
    assert_eq!(
        asked("int x; cudaDeviceGetAttribute(&x, cudaDevAttrPageableMemoryAccess, 0); if (x) cudaFree(q);"),
        (true, 1)
    );
    assert_eq!(
        asked("cudaDeviceProp p; cudaGetDeviceProperties(&p, 0); if (!p.pageableMemoryAccess) return 1; cudaFree(q);"),
        (true, 1)
    );
}
