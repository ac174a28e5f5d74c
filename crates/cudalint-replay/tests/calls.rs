//! Calls of functions that were walked before: what is known of a walk is used where it must give the same, and nowhere
//! else.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;
use common::{allocations, events, project};
use cudalint_replay::{ReplayOptions, replay_all};

#[test]
fn a_known_walk_is_used_for_the_same_arguments_alone() {
    let events = events(
        r"
int up(int a, int b) { return (a + b - 1) / b; }
int main() {
    float *a, *b, *c, *d;
    cudaMalloc(&a, up(10, 4));
    cudaMalloc(&b, up(10, 4));
    cudaMalloc(&c, up(11, 2));
    cudaMalloc(&d, up(10, 4));
}
",
    );
    assert_eq!(allocations(&events), ["3", "3", "6", "3"]);
}

#[test]
fn what_is_only_printed_makes_no_difference() {
    let events = events(
        r#"
int halve(int n, const char* file, int line) {
    if (n < 0) printf("%s:%d\n", file, line);
    return n / 2;
}
int main() {
    float *a, *b, *c;
    cudaMalloc(&a, halve(8, "a.cu", 1));
    cudaMalloc(&b, halve(8, "b.cu", 2));
    cudaMalloc(&c, halve(6, "b.cu", 2));
}
"#,
    );
    assert_eq!(allocations(&events), ["4", "4", "3"]);
}

#[test]
fn equal_strings_are_told_from_others() {
    let events = events(
        r#"
int pick();
int same(const char* a, const char* b) {
    const char* c = a;
    if (pick()) c = b;
    return c ? 4 : 2;
}
int main() {
    float *a, *b, *c;
    cudaMalloc(&a, same("x", "y"));
    cudaMalloc(&b, same("x", "x"));
    cudaMalloc(&c, same("z", "z"));
}
"#,
    );
    let sizes = allocations(&events);
    assert_eq!(sizes[1..], ["4", "4"]);
    assert_ne!(sizes[0], "4");
}

#[test]
fn a_function_that_changes_what_others_see_is_walked_at_every_call() {
    let events = events(
        r"
static int count = 1;
static int calls() { static int n; n = n + 1; return n; }
int next(int by) { count = count * by; return count; }
int main() {
    float *a, *b, *c;
    cudaMalloc(&a, next(2));
    cudaMalloc(&b, next(2));
    calls();
    cudaMalloc(&c, next(3));
}
",
    );
    assert_eq!(allocations(&events), ["2", "4", "12"]);
}

#[test]
fn code_out_of_sight_writes_what_it_knows_at_every_call() {
    let events = events(
        r"
void unseen();
void show(int*);
void helper(int x) { unseen(); }
int main() {
    int n = 8, m = 8;
    helper(1);
    float *a, *b, *c;
    cudaMalloc(&a, n);
    show(&n);
    n = 16;
    helper(1);
    cudaMalloc(&b, n);
    cudaMalloc(&c, m);
}
",
    );
    let sizes = allocations(&events);
    assert_eq!((sizes[0].as_str(), sizes[2].as_str()), ("8", "8"));
    assert_ne!(sizes[1], "16");
}

#[test]
fn a_function_of_both_sides_is_meant_before_one_of_another_file() {
    let files = [
        ("h.h", "#pragma once\n#define SHARED 1\n"),
        (
            "a.cu",
            "#include \"h.h\"\n__global__ void k(int *p) { *p = 1; }\nvoid test(int *p) { k<<<1, 1>>>(p); }\nint main() { test(nullptr); }\n",
        ),
        (
            "b.cpp",
            "#include \"h.h\"\n__host__ __device__ bool test(int *p) { return true; }\nint main() { test(nullptr); return 0; }\n",
        ),
    ];
    let facts = replay_all(&project(&files), &ReplayOptions::default());
    let unobserved = |file: usize| facts[file].status.iter().filter(|function| function.unobserved.is_some()).count();
    assert_eq!(unobserved(2), 0);
}

#[test]
fn a_launch_is_never_of_a_kernel_with_other_parameters() {
    let bound = |include: &str, launch: &str| {
        let kernel = "__global__ void k(float *o, int n, int m) { o[n + m] = 0; }\n";
        let launcher = format!("{include}\nvoid run(float *o) {{ {launch} }}\n");
        let project = project(&[("a.cu", kernel), ("b.cu", &launcher)]);
        let facts = replay_all(&project, &ReplayOptions::default());
        let events: Vec<_> = facts.iter().flat_map(|facts| facts.events.clone()).collect();
        common::launches(&events).iter().map(|launch| launch.kernel.is_some()).collect::<Vec<_>>()
    };
    assert_eq!(bound("#include \"a.cu\"", "k<<<1, 128>>>(o, 3, 4);"), [true]);
    assert_eq!(bound("#include \"a.cu\"", "k<<<1, 128>>>(o, 3);"), [false]);
    assert_eq!(bound("#include \"a.cu\"", "auto f = k; f<<<1, 128>>>(o, 3);"), [false]);
    assert_eq!(bound("#include \"gone.h\"", "k<<<1, 128>>>(o, 3, 4);"), [true]);
    assert_eq!(bound("#include \"gone.h\"", "k<<<1, 128>>>(o, 3);"), [false]);
    assert_eq!(bound("#include \"gone.cu\"", "k<<<1, 128>>>(o, 3, 4);"), [false]);
}

/// `malloc` outside of the namespace of another one is C's.
#[test]
fn a_namespace_hides_its_own_malloc() {
    let events = events(
        r"
namespace app {
namespace tools { template <typename T> T *malloc(size_t n) { T *p; cudaMalloc(&p, n * sizeof(T)); return p; } }
void run() { void *h = malloc(8); void *d = tools::malloc<float>(8); }
}
int main() { app::run(); }
",
    );
    assert_eq!(allocations(&events), ["32"]);
}

/// A long computation is passed over; members that it cannot write hold what they held.
#[test]
fn a_long_computation_leaves_members_alone() {
    let given = |statement: &str, argument: &str| {
        let text = r"
struct Layer {
    int n = 4;
    int most[2];
    float *host;
    void compute(float *in, int *count) {
        float *out = host;
        STATEMENT
        for (int i = 0; i < 2; i++)
            for (int k = 0; k < 2; k++) out[i * 2 + k] += in[i * 2 + k] * in[k] + in[i] * in[k + 1] - in[i + k] * in[i * k];
        for (int i = 0; i < 2; i++)
            for (int k = 0; k < 2; k++) out[i * 2 + k] += in[i * 2 + k] * in[k] + in[i] * in[k + 1] - in[i + k] * in[i * k];
    }
};
int main() {
    Layer layer;
    layer.host = new float[4];
    layer.most[1] = 8;
    float in[4];
    layer.compute(in, ARGUMENT);
    void *p;
    cudaMalloc(&p, layer.n);
    cudaMalloc(&p, layer.most[1]);
}
";
        allocations(&events(&text.replace("STATEMENT", statement).replace("ARGUMENT", argument)))
    };
    let sizes = |statement: &str| given(statement, "nullptr");
    assert_eq!(sizes("")[0], "4");
    assert_eq!(given("*count = 5;", "&layer.n")[0], "layer.n");
    // Elements may be written through any pointer.
    assert_ne!(sizes("")[1], "8");
    assert_eq!(sizes("n = 5;")[0], "layer.n");
    assert_eq!(sizes("this->n = 5;")[0], "layer.n");
    assert_eq!(sizes("int &same = n; same = 5;")[0], "layer.n");
    assert_eq!(sizes("Layer *same = this; same->n = 5;")[0], "layer.n");
    assert_eq!(sizes("int *same = &n; *same = 5;")[0], "layer.n");
    assert_eq!(sizes("change(n);")[0], "layer.n");
    assert_eq!(sizes("change(*this);")[0], "layer.n");
}
