//! What C++ means where it is easily read as something else: each program was found by `cargo xtask differential --host`.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;
use common::{allocations, events};

/// The bytes of all allocations of a program.
fn bytes(program: &str) -> Vec<String> {
    allocations(&events(program))
}

#[test]
fn a_lambda_makes_its_captures_where_it_stands_and_keeps_them() {
    let program = r"
int main() {
    float *a, *b, *c;
    int n = 100, k = 1;
    auto half = [m = n, &k]() mutable { m /= 2; k += 1; return m; };
    n = 7;
    cudaMalloc(&a, half());
    cudaMalloc(&b, half());
    cudaMalloc(&c, k);
}
";
    assert_eq!(bytes(program), ["50", "25", "3"]);
}

#[test]
fn each_capture_has_a_mode_of_its_own() {
    let program = r"
int main() {
    float *a, *b;
    int n = 10, m = 20;
    auto f = [&m, n] { return n + m; };
    auto g = [&, n] { return n + m; };
    n = 1;
    m = 2;
    cudaMalloc(&a, f());
    cudaMalloc(&b, g());
}
";
    assert_eq!(bytes(program), ["12", "12"]);
}

#[test]
fn a_default_belongs_to_its_field_alone() {
    let program = r"
struct S { int a, b = 5, c; };
int main() {
    float *x, *y;
    S s{.a = 1};
    cudaMalloc(&x, s.b);
    cudaMalloc(&y, s.a + s.c);
}
";
    assert_eq!(bytes(program), ["5", "1"]);
}

#[test]
fn what_a_macro_leaves_without_parentheses_is_not_grouped_at_will() {
    let program = r"
#define SUM(a, b) a + b
#define TWICE(n) n * 2
#define EACH 4 * 4
#define LESS(a, b) 100 - b - a
#define ANY(x) (x) - x % 2
#define NOT(x) 7 * x / x
int main() {
    float *a, *b, *c, *d, *e, *f, *g;
    cudaMalloc(&a, SUM(1, 2) * 3);
    cudaMalloc(&b, TWICE(1 + 2));
    cudaMalloc(&c, sizeof(float) * EACH);
    cudaMalloc(&d, (SUM(1, 2)) * 3);
    cudaMalloc(&e, LESS(9 - 4, 7 - 2));
    cudaMalloc(&f, ANY(8 + 3));
    cudaMalloc(&g, NOT(12 / 5 * 2));
}
";
    // The last asks whether `12 / 5` has parentheses of its own.
    assert_eq!(bytes(program), ["7", "5", "64", "9", "78", "4", "unknown"]);
}

#[test]
fn plain_variable_parameters_have_no_name() {
    let program = r"
#define FIRST(a, ...) (a)
int main() {
    float *a;
    cudaMalloc(&a, FIRST(7, 8, 9));
}
";
    assert_eq!(bytes(program), ["7"]);
}

#[test]
fn an_enum_has_the_size_of_the_type_behind_its_name() {
    let program = r"
enum E : unsigned char { A = 3 };
enum class F : long long { X };
enum G { Y };
int main() {
    float *a, *b, *c;
    cudaMalloc(&a, sizeof(E));
    cudaMalloc(&b, sizeof(F));
    cudaMalloc(&c, sizeof(G));
}
";
    assert_eq!(bytes(program), ["1", "8", "4"]);
}

#[test]
fn a_guard_does_its_work_at_the_end_of_its_block_on_every_way_out() {
    let program = r"
int depth = 1;
struct Guard { int by; Guard(int n) : by(n) { depth += n; } ~Guard() { depth -= by; } };
Guard entered(int n) { Guard g(n); return g; }
int inside(int n) { Guard g(n); if (n > 5) return depth * 10; return depth; }
int main() {
    float *a, *b, *c, *d, *e;
    cudaMalloc(&a, inside(3));
    cudaMalloc(&b, depth);
    cudaMalloc(&c, inside(8));
    for (int i = 0; i < 4; ++i) { Guard g(i + 1); if (i == 2) break; }
    cudaMalloc(&d, depth);
    { Guard g(2); Guard h(3); cudaMalloc(&e, depth); }
    { auto g = entered(4); cudaMalloc(&a, depth); }
    cudaMalloc(&b, depth);
}
";
    assert_eq!(bytes(program), ["4", "1", "90", "1", "6", "5", "1"]);
}

#[test]
fn an_initializer_is_not_computed_from_what_changed_since() {
    let program = r"
static int threads = 32;
static const int doubled = threads * 2;
int main() {
    float *a, *b;
    threads = 5;
    cudaMalloc(&a, doubled);
    cudaMalloc(&b, threads);
}
";
    assert_eq!(bytes(program), ["doubled", "5"]);
}

#[test]
fn braces_in_a_configuration_are_an_extent() {
    let launches = events(
        "__global__ void k() {}\nint main() { unsigned n = 3; k<<<{n + 1, 2}, {8, 4, 2}>>>(); k<<<{n}, {}>>>(); }",
    );
    let extents: Vec<String> = launches
        .iter()
        .filter_map(|event| match &event.kind {
            cudalint_replay::facts::EventKind::Launch(launch) => {
                let axes =
                    |axes: &[cudalint_replay::facts::Amount; 3]| axes.each_ref().map(ToString::to_string).join(" ");
                Some(format!("{} / {}", axes(&launch.grid.axes), axes(&launch.block.axes)))
            }
            _ => None,
        })
        .collect();
    assert_eq!(extents, ["4 2 1 / 8 4 2", "3 1 1 / 1 1 1"]);
}

#[test]
fn types_are_what_the_program_says_they_are() {
    let program = r"
enum class Kind : unsigned char { A, B };
struct Base { double d; char c; };
struct Part : Base { int i; };
struct Own { double d; char c; Own() {} };
struct Part3 : Own { int i; };
template <typename T, int N = 4> struct Row { struct Cell { T a, b; }; Cell cells[N]; T *rest; };
template <typename T> struct Wide { T a; };
template <> struct Wide<char> { double a; };
template <typename T> using Pair = Row<T, 2>;
struct Base2 { double d; int c; int e; };
struct Part2 : Base2 { short s; };
int main() {
    float *a, *b, *c, *d, *e, *f, *g, *h;
    cudaMalloc(&a, sizeof(Kind));
    cudaMalloc(&b, sizeof(Row<float>));
    cudaMalloc(&c, sizeof(Pair<double>));
    cudaMalloc(&d, sizeof(Row<char>::Cell));
    cudaMalloc(&e, sizeof(Wide<char>));
    cudaMalloc(&f, sizeof(Part2));
    cudaMalloc(&g, sizeof(Part));
    // The tail of a base that is no plain data may hold the next member: that is not computed.
    cudaMalloc(&h, sizeof(Part3));
}
";
    assert_eq!(bytes(program), ["1", "40", "40", "2", "8", "24", "24", "unknown"]);
}

#[test]
fn pairs_and_letters_are_what_they_are_made_of() {
    let program = r#"
#include <cstring>
#include <utility>
std::pair<dim3, int> shape(int n) { dim3 block(n); if (n > 1024) block.x = 1024; return {block, 7}; }
std::pair<int, int> twice(int n) { return std::make_pair(n, 2 * n); }
int main() {
    float *a, *b, *c, *d, *e;
    auto one = shape(64);
    dim3 block = one.first;
    cudaMalloc(&a, block.x + one.second);
    std::pair<int, int> two = twice(5);
    cudaMalloc(&b, two.first + 100 * two.second);
    char letters[] = {"ATC"}, more[] = "a\n";
    cudaMalloc(&c, sizeof letters);
    cudaMalloc(&d, sizeof more);
    const char *text = "hello";
    cudaMalloc(&e, strlen(text));
}
"#;
    assert_eq!(bytes(program), ["71", "1005", "4", "3", "5"]);
}

#[test]
fn methods_have_the_template_arguments_that_are_written() {
    let program = r"
struct Part {
    int n;
    template <typename T> size_t bytes() const { return n * sizeof(T); }
    template <int N> int times() const { return n * N; }
};
int main() {
    Part part{100}, *at = &part;
    float *a, *b, *c;
    cudaMalloc(&a, part.bytes<short>());
    cudaMalloc(&b, at->bytes<double>());
    cudaMalloc(&c, part.template times<7>());
}
";
    assert_eq!(bytes(program), ["200", "800", "700"]);
}

#[test]
fn an_object_made_of_another_instance_of_its_template_is_no_copy() {
    let program = r"
template <typename T> struct Buffer {
    Buffer() {}
    template <typename U> Buffer(const Buffer<U> &other) : size(other.size) { cudaMalloc(&data, size * sizeof(T)); }
    size_t size;
    T *data;
};
int main() {
    Buffer<char> small;
    small.size = 100;
    cudaMalloc(&small.data, 100);
    Buffer<float> large(small);
    Buffer<char> same(small);
    float host[100];
    cudaMemcpy(host, large.data, 400, cudaMemcpyDeviceToHost);
    cudaMemcpy(host, same.data, 100, cudaMemcpyDeviceToHost);
}
";
    let sources: Vec<String> = common::sides(&events(program)).into_iter().map(|(_, source)| source).collect();
    assert_eq!(sources, ["Device data 400+0", "Device small.data 100+0"]);
}

#[test]
fn a_lambda_captures_the_variable_that_its_name_means_there() {
    let program = r"
int main() {
    float *a, *b, *c;
    int n = 100, t = 0;
    if (int n = 4) t += n;
    auto f = [n] { return n + 1; };
    cudaMalloc(&a, f());
    for (int n = 7; n < 8; ++n) t += n;
    auto g = [=] { return n + 2; };
    cudaMalloc(&b, g());
    { int n = 9; t += n; auto h = [&n, t] { return n + t; }; cudaMalloc(&c, h()); }
}
";
    assert_eq!(bytes(program), ["101", "102", "29"]);
}

/// What is known of the allocations of a program that begins with a class whose destructor adds to the global variable `n`.
fn after_guards(functions: &str) -> Vec<String> {
    bytes(&format!("{CLASSES}int main() {{ float *p;\n{functions}\n}}\n"))
}

const CLASSES: &str = "#include <memory>\n#include <vector>\nstatic int n = 1;\n\
                       struct U { int k; U(int k) : k(k) {} ~U() { n = n * 10 + k; } };\n\
                       struct H { U a{1}; U b; H() : b(2) {} ~H() { n += 3; } };\nstruct B { ~B() { n += 7; } };\n\
                       struct D : B { int x = 3; };\nvoid taken(U u) { n += u.k; }\n";

#[test]
fn destructors_of_parts_and_bases_run_behind_that_of_the_whole() {
    assert_eq!(after_guards("{ H h; } cudaMalloc(&p, n);"), ["421"]);
    assert_eq!(after_guards("{ D d; } cudaMalloc(&p, n);"), ["8"]);
    assert_eq!(after_guards("{ U u[2] = {4, 5}; } cudaMalloc(&p, n);"), ["154"]);
}

#[test]
fn objects_that_end_elsewhere_than_with_their_block_are_seen_to_end() {
    assert_eq!(after_guards("taken(U(3)); cudaMalloc(&p, n);"), ["43"]);
    assert_eq!(after_guards("U *u = new U(4); delete u; cudaMalloc(&p, n);"), ["14"]);
    assert_eq!(after_guards("U(9); cudaMalloc(&p, n);"), ["19"]);
}

#[test]
fn what_containers_and_smart_pointers_end_is_not_known() {
    for program in [
        "{ std::unique_ptr<U> u(new U(5)); } cudaMalloc(&p, n);",
        "auto u = std::make_unique<U>(5); u.reset(); cudaMalloc(&p, n);",
        "{ auto u = std::make_shared<U>(6); } cudaMalloc(&p, n);",
        "{ std::vector<U> u; u.emplace_back(7); } cudaMalloc(&p, n);",
        "std::vector<U> u; u.emplace_back(7); u.clear(); cudaMalloc(&p, n);",
    ] {
        let known = after_guards(program);
        assert!(known.iter().all(|bytes| bytes.parse::<i64>().is_err()), "{program}: {known:?}");
    }
}

#[test]
fn a_global_that_a_size_was_asked_of_first_has_all_of_its_values() {
    // The constructor chooses by what is not known: that leaves marks behind in what it writes.
    let program = "#include <cuda_runtime.h>\nint ask();\n\
        struct Grid { const int nodes; Grid(int n) : nodes(n) { if (n % ask() != 0) throw 1; } };\n\
        const Grid grids[] = {Grid(4), Grid(8), Grid(16)};\n\
        void run() { void *p; for (unsigned i = 0; i < sizeof(grids) / sizeof(Grid); ++i) cudaMalloc(&p, grids[i].nodes); }\n";
    assert_eq!(bytes(program), ["4", "8", "16"]);
}
