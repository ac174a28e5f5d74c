//! Values that C++ makes in ways of its own: aggregates by value, braces left out, references to temporaries, methods out of
//! sight.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;
use common::{allocations, config, copies, events, launches, pointer, project, sides};
use cudalint_replay::facts::EventKind;
use cudalint_replay::{ReplayOptions, replay_all};

fn sets(events: &[cudalint_replay::facts::Event]) -> Vec<String> {
    let set = |event: &cudalint_replay::facts::Event| match &event.kind {
        EventKind::Set { bytes, .. } => Some(bytes.to_string()),
        _ => None,
    };
    events.iter().filter_map(set).collect()
}

#[test]
fn aggregates_keep_their_parts_through_auto_and_return() {
    let events = events(
        r"
struct Plan { dim3 grid; dim3 block; int room[2]; };
__global__ void k() {}
Plan plan(unsigned n) { unsigned t = 64; return Plan{dim3((n + t - 1) / t, 2u), dim3(t), {4, 8}}; }
void f() {
    auto const one = plan(100);
    k<<<one.grid, one.block, one.room[1]>>>();
    auto two = one;
    two.block = 32;
    k<<<two.grid, two.block>>>();
    k<<<plan(7).grid, plan(7).block>>>();
}
",
    );
    let configs: Vec<String> = launches(&events).into_iter().map(config).collect();
    assert_eq!(configs, ["<<<2,2,1 | 64,1,1 | 8>>>", "<<<2,2,1 | 32,1,1 | 0>>>", "<<<1,2,1 | 64,1,1 | 0>>>"]);
}

/// One item of the list's own type is copied, and fills no first part.
#[test]
fn a_list_of_one_of_its_own_kind_is_a_copy() {
    let events = events(
        r"
#include <vector>
#include <array>
struct Pair { int n; int m; };
struct Frame { std::vector<float> a; std::vector<char> b; };
struct Outer { Pair p; int k; };
Pair pair() { return Pair{1, 2}; }
Frame frame() { Frame f{}; f.b.assign(16, 8); return f; }
Pair same(Pair p) { return {p}; }
void f(char *d) {
    const Frame one{frame()}; Frame two{one}; auto three = Frame{frame()};
    const Pair p{pair()}; Pair q = {p}; Outer o{p, 5}; Pair r{same(o.p)}; Pair rows[2]{p, {8, 9}}; Pair first{p.m}; Outer whole{o};
    cudaMemset(d, 0, one.b.size()); cudaMemset(d, 0, two.b.size()); cudaMemset(d, 0, three.b.size());
    cudaMemset(d, 0, q.m); cudaMemset(d, 0, o.k); cudaMemset(d, 0, r.m); cudaMemset(d, 0, rows[0].m); cudaMemset(d, 0, first.n);
    cudaMemset(d, 0, first.m); cudaMemset(d, 0, whole.k);
}
",
    );
    assert_eq!(sets(&events), ["16", "16", "16", "2", "5", "2", "2", "2", "0", "5"]);
}

#[test]
fn parts_without_braces_take_as_many_items_as_they_have_members() {
    let events = events(
        r"
struct Pair { int a, b; };
struct Box { dim3 grid; int room[2]; Pair pair; float4 lane; };
__global__ void k() {}
void f(char *p) {
    Box one = {dim3(2), 3, 4, 5, 6, 1.0f};
    Box all[] = {2, 3, 4, 5, 6, 1, 2, 3, 4, 7, 8};
    Pair pairs[] = {1, 2, 3};
    int m[2][2] = {1, 2, 3};
    Pair named[2] = {{.b = 9}, 1, 2};
    cudaMemset(p, 0, one.room[1] + one.pair.b);
    cudaMemset(p, 0, sizeof(all) / sizeof(Box));
    cudaMemset(p, 0, sizeof(pairs) / sizeof(pairs[0]) + pairs[1].a);
    cudaMemset(p, 0, 10 * m[1][0] + m[1][1]);
    cudaMemset(p, 0, 100 * named[0].b + 10 * named[1].a + named[1].b);
    k<<<all[1].grid, all[1].room[0]>>>();
}
",
    );
    assert_eq!(sets(&events), ["10", "2", "5", "30", "912"]);
    assert_eq!(config(launches(&events)[0]), "<<<7,1,1 | 8,1,1 | 0>>>");
}

#[test]
fn a_number_bound_to_a_reference_of_another_type_becomes_that_type() {
    let events = events(
        r"
template <typename T> struct Cells {
    T *p;
    void set(T const &v, unsigned at) { cudaMemcpy(p + at, &v, sizeof(T), cudaMemcpyHostToDevice); }
};
void f(double *d) {
    Cells<double> cells;
    cells.p = d;
    cells.set(13, 1);
    short s = 3;
    const long &wide = s;
    cudaMemcpy(d, &wide, sizeof(wide), cudaMemcpyHostToDevice);
    long plain = 4;
    const long &same = plain;
    plain = 5;
    cudaMemset(d, 0, same);
}
",
    );
    let from: Vec<String> = sides(&events).into_iter().map(|(_, from)| from).collect();
    assert_eq!(from, ["Host v 8+0", "Host wide 8+0"]);
    // The same type is no copy.
    assert_eq!(sets(&events), ["5"]);
}

#[test]
fn enums_are_as_large_as_they_are_written_to_be() {
    let events = events(
        r"
enum class Cell : unsigned char { empty, full };
enum Plain { a, b };
void f() { void *p; cudaMalloc(&p, 100 * sizeof(Cell)); cudaMalloc(&p, 100 * sizeof(Plain)); }
",
    );
    assert_eq!(allocations(&events), ["100", "400"]);
}

#[test]
fn a_value_that_both_paths_have_rests_on_what_either_rests_on() {
    let text = r"
__global__ void k(int *p) {}
int main(int argc, char **argv) {
    int *b;
    bool first = 0, second = 0;
    if (argc > 1) { if (argv[1][0] == 'a') first = 1; else if (argv[1][0] == 'b') second = 1; }
    if (first) { } else if (second) { cudaMalloc(&b, 64); } else { }
    if (second) k<<<1, 1>>>(b);
}
";
    let events = events(text);
    let arguments: Vec<String> = launches(&events)[0].args.iter().map(|arg| format!("{arg:?}")).collect();
    assert!(!arguments[0].contains("Uninitialized"), "{arguments:?}");
}

#[test]
fn a_method_that_is_defined_out_of_sight_sets_what_it_likes() {
    let header = r"
class Field {
  public:
    Field(int n) : count(n), data(nullptr) { reserve(); fill(); }
    int count;
    float *data;
  private:
    void reserve();
    void fill() { cudaMemset(data, 0, count); }
};
";
    let main = "#include \"field.h\"\nint main() { Field f(10); cudaMemset(f.data, 0, f.count); }\n";
    let project = project(&[("main.cu", main), ("field.h", header)]);
    let events = replay_all(&project, &ReplayOptions::default()).remove(0).events;
    for event in &events {
        if let EventKind::Set { destination, bytes, .. } = &event.kind {
            assert_eq!((pointer(&destination.pointer).as_str(), bytes.quantity.known()), ("?", None));
        }
    }
    assert_eq!(sets(&events).len(), 1);
}

#[test]
fn braces_of_a_container_are_a_list_only_of_what_can_be_elements() {
    let events = events(
        r#"
#include <vector>
void f(char *d, std::allocator<char> a, cudaStream_t s) {
    std::vector<int> list{100, 3};
    std::vector<int> count(100, 3);
    std::vector<const char *> names{"a", "b", "c"};
    rmm::device_uvector<char> bytes{100, s};
    std::vector<char> of_a_kind{100, a};
    rmm::device_uvector<char> elsewhere(100, s, resource());
    cudaMemcpy(d, list.data(), list.size() * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(d, count.data(), count.size() * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(d, names.data(), names.size() * 8, cudaMemcpyHostToDevice);
    cudaMemcpy(d, bytes.data(), 100, cudaMemcpyDeviceToDevice);
    cudaMemcpy(d, of_a_kind.data(), 100, cudaMemcpyHostToDevice);
    cudaMemcpy(d, elsewhere.data(), 100, cudaMemcpyDefault);
}
"#,
    );
    let from: Vec<String> = sides(&events).into_iter().map(|(_, from)| from).collect();
    assert_eq!(from, ["Host list 8+0", "Host count 400+0", "Host names 24+0", "Device bytes 100+0", "?", "?"]);
    assert_eq!(copies(&events)[..3], ["8", "400", "24"]);
}

#[test]
fn an_object_that_a_caller_made_lives_where_the_caller_chose() {
    let events = events(
        r"
struct Value {
    void set(long v) { cudaMemcpy(&number, &v, sizeof(v), cudaMemcpyHostToDevice); }
    long number;
};
struct Other {
    void set(long v) { cudaMemcpy(&number, &v, sizeof(v), cudaMemcpyHostToDevice); }
    long number;
};
void f() { Value here; here.set(3); }
",
    );
    let mut to: Vec<String> = sides(&events).into_iter().map(|(to, _)| to).collect();
    to.sort();
    assert_eq!(to, ["Host here 8+0", "Managed this 8+0"]);
}

#[test]
fn constants_of_the_device_are_known_to_the_host() {
    let events = events(
        r"
constexpr __constant__ int width = 32;
static constexpr __device__ int depth[3] = {1, 2, 3};
void f(char *p) { cudaMemset(p, 0, width * depth[2]); }
",
    );
    assert_eq!(sets(&events), ["96"]);
    assert_eq!(common::host_accesses(&events), 0);
}

#[test]
fn a_macro_may_stand_for_several_arguments() {
    let events = events(
        r"
#define PAIR(a, b) a, b
#define SWAPPED(a, b) PAIR(b, a)
#define SIDES 5, 6
#define LAST(a, b) (a, b)
__global__ void k() {}
int of(int a, int b) { return a * 10 + b; }
void f(char *p) {
    k<<<dim3(PAIR(3, 4)), dim3(SWAPPED(3, 4))>>>();
    k<<<dim3(SIDES), dim3(LAST(7, 8))>>>();
    cudaMemset(p, 0, of(SIDES));
    int x = 5, z;
    z = (x = 3, x * 2);
    cudaMemset(p, 0, x * 10 + z);
    int lost = (x = 4, x * 2);
    cudaMemset(p, 0, lost);
}
",
    );
    let configs: Vec<String> = launches(&events).into_iter().map(config).collect();
    assert_eq!(configs, ["<<<3,4,1 | 4,3,1 | 0>>>", "<<<5,6,1 | 8,1,1 | 0>>>"]);
    // Where the grammar loses a part of it nothing is known.
    assert_eq!(sets(&events), ["56", "10 * x + z", "lost"]);
}

#[test]
fn a_handler_that_does_not_run_returns_nothing() {
    let events = events(
        r"
int guarded(int n) { try { if (n > 3) throw n; return n; } catch (int) { return 99; } }
void f(char *p) { cudaMemset(p, 0, guarded(2)); }
",
    );
    assert_eq!(sets(&events), ["2"]);
}

#[test]
fn what_lasts_or_lies_elsewhere_is_not_known() {
    let events = events(
        r"
struct __attribute__((packed)) Packed { char c; double d; };
struct Plain { char c; double d; };
typedef struct { char c; double d; } __attribute__((packed)) Behind;
void f(char *p) {
    auto next = [n = 5]() mutable { return n++; };
    next();
    cudaMemset(p, 0, next());
    auto same = [n = 5]() { return n; };
    cudaMemset(p, 0, same());
    cudaMemset(p, 0, sizeof(Packed));
    cudaMemset(p, 0, sizeof(Behind));
    cudaMemset(p, 0, sizeof(Plain));
}
",
    );
    assert_eq!(sets(&events), ["6", "5", "unknown", "unknown", "16"]);
}

#[test]
fn constants_of_a_class_by_a_local_name_and_macros_that_end_the_program() {
    let events = events(
        r#"
#define PANIC(format, ...) { std::fprintf(stderr, "%d" format, __LINE__, ##__VA_ARGS__); std::abort(); }
constexpr int halved(int n) { return n / 2; }
template <int N> class Degree { public: constexpr static int degree = N; constexpr static int opt = halved(64); };
template <class P> __global__ void k() {}
void f(unsigned n) {
    if (n != 2048)
        PANIC("only %d", 2048);
    using params = Degree<2048>;
    k<params><<<params::degree / params::opt, n / params::opt>>>();
}
"#,
    );
    let configs: Vec<String> = launches(&events).into_iter().map(config).collect();
    assert_eq!(configs, ["<<<64,1,1 | n / 32,1,1 | 0>>>"]);
    let launch = events.iter().find(|event| matches!(event.kind, EventKind::Launch(_))).unwrap();
    assert_eq!(launch.conditions.len(), 1);
}

#[test]
fn const_members_are_what_their_class_says() {
    let launched = |class: &str| {
        let text = format!("__global__ void k() {{}}\n{class}\n");
        launches(&events(&text)).into_iter().map(config).collect::<Vec<_>>()
    };
    let body = "public: void run() { touch(this); k<<<threads / 32, threads>>>(); }";
    let of_class = |members: &str| launched(&format!("class Sorter {{ {members} {body} }};"));
    assert_eq!(of_class("const unsigned threads = 128;"), ["<<<4,1,1 | 128,1,1 | 0>>>"]);
    assert_eq!(of_class("const unsigned threads = 128; public: Sorter() {}"), ["<<<4,1,1 | 128,1,1 | 0>>>"]);
    // Made of others before it.
    let made = "const unsigned lanes = 32; const unsigned warps = 4; const unsigned threads = lanes * warps;";
    assert_eq!(of_class(made), ["<<<4,1,1 | 128,1,1 | 0>>>"]);
    for other in [
        "unsigned warps = 4; const unsigned threads = 32 * warps;",
        "const unsigned threads = 32 * warps; const unsigned warps = 4;",
        "const unsigned warps = threads / 32; const unsigned threads = 32 * warps;",
        "unsigned threads = 128;",
        "const unsigned threads;",
        "const unsigned threads = 128; public: Sorter(unsigned n) : threads(n) {}",
        "const unsigned threads = count();",
    ] {
        assert_eq!(of_class(other), ["<<<threads / 32,1,1 | threads,1,1 | 0>>>"], "{other}");
    }
    // Whoever makes plain data may give it other values.
    let plain = "struct Plan { const unsigned threads = 128; };\n\
                 void run(Plan plan) { k<<<1, plan.threads>>>(); }";
    assert_eq!(launched(plain), ["<<<1,1,1 | plan.threads,1,1 | 0>>>"]);
}

#[test]
fn objects_of_classes_with_memory_of_their_own_are_not_on_the_host_for_sure() {
    let managed = "struct Managed { void *operator new(size_t n); void *operator new(size_t, void *p) { return p; } };\n\
                   struct Plain {};\n";
    let given = |base: &str, made: &str| {
        let text = format!(
            "{managed}struct Tally : {base} {{ int n; }};\n__global__ void k(Tally *t) {{ t->n = 1; }}\n\
             void f() {{ auto t = {made}; k<<<1, 1>>>(t.get()); }}"
        );
        let events = events(&text);
        let fact = launches(&events)[0];
        fact.args[0].pointer.as_ref().map(pointer)
    };
    assert_eq!(given("Managed", "std::make_unique<Tally>()").as_deref(), Some("?"));
    assert_eq!(given("Plain", "std::make_unique<Tally>()").as_deref(), Some("Host  4+0"));
    // It lies beside its count, in memory of an allocator.
    assert_eq!(given("Managed", "std::make_shared<Tally>()").as_deref(), Some("Host  4+0"));
}

#[test]
fn a_static_member_has_its_value_where_it_is_defined() {
    let header = "struct C { static int size; static const int fixed; static const int here = 8; };";
    let program = "#include \"c.h\"\n__global__ void k() {}\n\
        int main() { k<<<1, C::size>>>(); k<<<1, C::fixed>>>(); k<<<1, C::here>>>(); }";
    let blocks = |definitions: &str| {
        let project = project(&[("a.cu", program), ("c.h", header), ("b.cu", definitions)]);
        let facts = replay_all(&project, &ReplayOptions::default());
        let events = &facts[0].events;
        launches(events).into_iter().map(|launch| launch.block.axes[0].to_string()).collect::<Vec<_>>()
    };
    assert_eq!(
        blocks("#include \"c.h\"\nint C::size = 64;\nconst int C::fixed = 32;\nconst int C::here;"),
        ["64", "32", "8"]
    );
    // Nothing says that one which is defined out of sight is 0.
    let unknown = blocks("#include \"c.h\"\nconst int C::fixed = 32;");
    assert!(unknown[0] != "0" && unknown[1..] == ["32", "8"], "{unknown:?}");
    // What has no initializer begins with 0.
    assert_eq!(blocks("#include \"c.h\"\nint C::size;\nconst int C::fixed = 32;"), ["0", "32", "8"]);
}
