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
        not_4096(outside, inside);
    }
}

/// What is set is not what `n` was at first.
fn not_4096(outside: &str, inside: &str) {
    let bytes = set(outside, &format!("{inside} cudaMemset(d, 0, n);"));
    assert!(!bytes.contains("4096") && !bytes.contains("none"), "{inside}: {bytes}");
}

#[test]
fn copies_of_containers_have_elements_of_their_own() {
    let outside = "#include <vector>
struct S { std::vector<size_t> v; };
std::vector<size_t> doubled(std::vector<size_t> s) { s[1] *= 2; return s; }
std::vector<size_t> same(const std::vector<size_t> &s) { return s; }
S g;";
    for (inside, bytes) in [
        ("auto w = v; w[1] = 9; n = v[1];", "64"),
        ("const auto w = v; v[1] = 9; n = w[1];", "64"),
        ("auto w = same(v); w[1] = 9; n = v[1];", "64"),
        ("auto w = doubled(v); n = v[1] * 1000 + w[1];", "64128"),
        ("auto w = true ? v : u; w[1] = 9; n = v[1];", "64"),
        ("auto f = [v]() mutable { v[1] = 9; }; f(); n = v[1];", "64"),
        ("auto f = [w = v]() mutable { w[1] = 9; }; f(); n = v[1];", "64"),
        ("auto w = std::move(v); w[1] = 9; n = w[1];", "9"),
        ("size_t *p = v.data(); auto w = std::move(v); p[1] = 9; n = w[1];", "9"),
        ("auto &w = v; w[1] = 9; n = v[1];", "9"),
    ] {
        let start = "std::vector<size_t> v{1, 64, 3}, u{4, 5, 6};";
        assert_eq!(set(outside, &format!("{start} {inside} cudaMemset(d, 0, n);")), bytes, "{inside}");
    }
    for inside in [
        "S s; s.v = {1, 2, 3}; s.v[1] = 64; S t = s; t.v[1] = 4096; n = s.v[1];",
        "S s; s.v = {1, 2, 3}; s.v[1] = 64; S t; t = s; t.v[1] = 4096; n = s.v[1];",
        "g.v = {1, 2, 3}; g.v[1] = 64; S t = g; t.v[1] = 4096; n = g.v[1];",
    ] {
        not_4096(outside, inside);
    }
}

#[test]
fn members_that_are_called_write_what_they_captured() {
    let outside = "#include <functional>
#include <memory>
struct C { std::function<void(size_t)> f; void fire(size_t v) { f(v); } };
struct D { std::function<void()> f; ~D() { f(); } };
template <class F> struct G { F f; G(F g) : f(g) {} ~G() { f(); } };
template <class F> G<F> defer(F f) { return G<F>(f); }
struct P { size_t *n; void operator()(size_t v) const { *n = v; } };";
    for inside in [
        "C c; c.f = [&](size_t v) { n = v; }; c.fire(64);",
        "C c{[&](size_t v) { n = v; }}; C b = c; b.fire(64);",
        "std::function<void(size_t)> f = P{&n}; f(64);",
        "std::function<void(size_t)> f = [&](size_t v) { n = v; }; auto g = [&] { f(64); }; g();",
        "{ D c; c.f = [&] { n = 64; }; }",
        "{ G c([&] { n = 64; }); }",
        "{ auto c = defer([&] { n = 64; }); }",
        "std::shared_ptr<int> s(new int(1), [&](int *p) { n = 64; delete p; }); s.reset();",
        "std::unique_ptr<int, std::function<void(int *)>> s(new int(1), [&](int *p) { n = 64; delete p; }); s.reset();",
    ] {
        not_4096(outside, inside);
    }
}

#[test]
fn objects_whose_making_is_not_followed_keep_their_arguments() {
    let outside = "#include <memory>
#include \"handle.h\"
struct B { size_t &c; B(size_t &x) : c(x) {} void add(size_t k) { c += k; } };
struct D : B { int tag; D(size_t &x) : B(x), tag(1) {} void twice() { c *= 2; } };
struct E : B { using B::B; };
struct T { float *in; size_t *count; };
void run(const T *t);";
    for inside in [
        "D x(n); x.add(64);",
        "D x(n); x.twice();",
        "E x(n); x.add(64);",
        "std::unique_ptr<D> p(new D(n)); p->add(64);",
        "auto *h = new Handle(n); h->update();",
        "auto h = std::make_unique<Handle>(n); h->update();",
        "auto h = make_handle(n); h.update();",
        "T t{nullptr, &n}; run(&t);",
    ] {
        not_4096(outside, inside);
    }
    // What a base takes by value stays.
    let outside = "struct V { int k; V(int x) : k(x) {} }; struct W : V { size_t m; W(size_t x) : V(x), m(x) {} };";
    assert_eq!(set(outside, "W w(n); cudaMemset(d, 0, n);"), "4096");
    assert_eq!(set(outside, "W w(n); cudaMemset(d, 0, w.m);"), "4096");
}

#[test]
fn elements_of_classes_with_iterators_of_their_own_are_written() {
    let outside = "#include <vector>
struct S { size_t *p; size_t n; size_t *begin() const { return p; } size_t *end() const { return p + n; } };
struct V { std::vector<size_t> v; auto begin() { return v.begin(); } auto end() { return v.end(); } };";
    for inside in [
        "size_t a[3] = {1, 4096, 3}; for (auto &x : S{a, 3}) x = 64; n = a[1];",
        "V v; v.v = {1, 2, 3}; v.v[1] = 4096; for (auto &x : v) x = 64; n = v.v[1];",
    ] {
        not_4096(outside, inside);
    }
}

#[test]
fn what_shows_the_bytes_of_something_else_is_not_known() {
    let outside = "struct P { size_t x, y; };
struct O { size_t &n; O &operator=(size_t v) { n = v; return *this; } };";
    for inside in [
        "unsigned i = 4096; float f = *(float *)&i; n = (size_t)f;",
        "int v = 0x01001000; n = *(short *)&v;",
        "P p{4096, 2}; auto &[x, y] = p; x = 64; n = p.x;",
        "O o{n}; o = 64;",
    ] {
        not_4096(outside, inside);
    }
    for (expression, bytes) in [("sizeof(+c)", "4"), ("sizeof(true ? 1 : 2.0)", "8"), ("sz(a) * 100 + len(a)", "505")] {
        let outside = "template <class T> size_t sz(const T &) { return sizeof(T); }
template <class T, size_t N> size_t len(T (&)[N]) { return N; }";
        assert_eq!(set(outside, &format!("char c = 1, a[5]; cudaMemset(d, 0, {expression});")), bytes);
    }
}

#[test]
fn a_handler_is_where_a_throw_leads() {
    assert_eq!(set("", "try { throw 1; } catch (int) { } cudaMemset(d, 0, 64);"), "64");
    not_4096("", "try { if (n > 5) throw 1; n = 4096; } catch (int) { n = 64; }");
}

#[test]
fn a_handler_that_leaves_its_function_is_one_of_its_ends() {
    let outside = "static size_t wide = 64; static void check(int k) { if (k > 3) throw k; wide = 4096; }
static size_t tried(int k) { wide = 64; try { check(k); return 4096; } catch (int) { return 64; } }
static size_t own(int k) { try { if (k > 3) throw k; return 4096; } catch (int) { return 64; } }
static size_t safe(int k) { try { wide = 4096; return wide; } catch (int) { return 64; } }";
    not_4096(outside, "n = tried(rand());");
    not_4096(outside, "tried(rand()); n = wide;");
    not_4096(outside, "n = own(rand());");
    // Where nothing is seen to be thrown, the body is taken to succeed.
    assert_eq!(set(outside, "n = safe(rand()); cudaMemset(d, 0, n);"), "4096");
    // What a declaration calls ends the path, and not the next statement that calls something.
    let thrown = "static int fails(int k) { if (k > 3) throw k; return 1; }
static int caught(int k) { try { return fails(k); } catch (int) { return 2; } }";
    assert_eq!(
        set(thrown, "int k = caught(7); try { cudaMemset(d, 0, 64); } catch (int) { cudaMemset(d, 0, n); }"),
        "none, or several"
    );
    assert_eq!(set(thrown, "cudaMemset(d, 0, 32 * caught(7));"), "64");
}

#[test]
fn a_handler_takes_what_its_type_says() {
    let outside = "struct E { int code; }; struct B { virtual ~B() {} }; struct D : B { int x = 3; };
static int fails(int k) { if (k > 3) throw E{k}; return 1; }
static int again(int k) { try { return fails(k); } catch (E &e) { e.code /= 2; throw; } }
static int first(int k) { try { return again(k); } catch (int) { return 4096; } catch (const E &) { return 64; } }
static int round(int k) { for (int i = 0; i < 64; ++i) { try { fails(k); } catch (...) { continue; } return 1; } return 64; }
static int base(int k) { try { throw D(); } catch (B &) { k = 4096; } catch (...) { k = 32; } return k; }
static int outer(int k) { try { try { throw 5; } catch (E &) { k = 4096; } } catch (int i) { k = 64; } return k; }";
    assert_eq!(set(outside, "cudaMemset(d, 0, first(7));"), "64");
    assert_eq!(set(outside, "cudaMemset(d, 0, round(7));"), "64");
    // Of a class with bases nobody knows who takes it.
    assert_ne!(set(outside, "cudaMemset(d, 0, base(7));"), "32");
    not_4096(outside, "n = outer(7);");
}

/// How many copies are set, in a program that reads its arguments like this, between two numbers that may be the same.
fn two_arguments(outside: &str, inside: &str) -> String {
    let text = format!(
        "{outside}\nint main(int argc, char **argv) {{ {inside} char *d; cudaMalloc(&d, 64); cudaMemset(d, 0, last - first); }}"
    );
    let found = events(&text).into_iter().find_map(|event| match &event.kind {
        EventKind::Set { bytes, .. } => Some(amount(bytes)),
        _ => None,
    });
    found.unwrap()
}

#[test]
fn one_argument_is_one_number_while_argv_stays() {
    assert_eq!(two_arguments("", "int first = atoi(argv[1]), last = atoi(argv[1]);"), "0");
    let run = "int run(int argc, char **argv) { return atoi(argv[1]); }";
    assert_eq!(two_arguments(run, "int first = atoi(argv[1]), last = run(argc, argv);"), "0");
    let shift = "int shift(char **&argv) { int v = atoi(argv[1]); argv++; return v; }";
    for inside in [
        "argv++; int first = atoi(argv[1]); argv++; int last = atoi(argv[1]);",
        "int first = atoi(argv[1]); argv[1] = argv[2]; int last = atoi(argv[1]);",
        "int first = atoi(argv[1]), last = run(argc - 1, argv + 1);",
        "int first = shift(argv), last = shift(argv);",
        "int first = atoi(argv[1]); long last = strtol(argv[1], 0, 16);",
    ] {
        assert_ne!(two_arguments(&format!("{run}\n{shift}"), inside), "0", "{inside}");
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
