//! What paths say of inputs, and values that nothing tells.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;
use common::{allocations, config, events, host_accesses, launches, project};
use cudalint_replay::facts::{Event, EventKind, Pointer};
use cudalint_replay::quantity::{Comparison, Quantity};
use cudalint_replay::{ReplayOptions, replay_all};

/// The first argument against the threads of each launch.
fn coverage(events: &[Event]) -> Vec<Comparison> {
    let compare = |event: &Event| match &event.kind {
        EventKind::Launch(launch) => {
            let threads = launch.grid.axes[0].quantity.times(&launch.block.axes[0].quantity);
            Some(event.exceeds(&launch.args[0].amount.quantity, &threads))
        }
        _ => None,
    };
    events.iter().filter_map(compare).collect()
}

#[test]
fn checks_bound_the_inputs() {
    for check in [
        "assert(n % 256 == 0);",
        "if (n % 256 != 0) return;",
        "if (n % 256) { printf(\"no\"); exit(1); }",
        "if (n <= 0 || n % 256 != 0) return;",
        "__builtin_assume(n % 256 == 0);",
        "require(n % 256 == 0);",
        "bool bad = n % 256; if (bad) return;",
        "insist(n);",
        "if (!(n % 256 == 0 && n > 5)) exit(1);",
        "if (n % 256 != 0 && n % 512 != 256) return;",
        "if (!(n % 256 == 0 || n % 512 == 0)) return;",
    ] {
        let text = format!(
            "__global__ void k(int n) {{}}\nvoid insist(int m) {{ if (m % 256) exit(2); }}\n\
             void run(int n) {{ {check} k<<<n / 256, 256>>>(n); }}"
        );
        let found = coverage(&events(&text));
        assert_eq!(found, [Comparison::Unknown], "{check}");
    }
}

#[test]
fn a_check_holds_only_where_it_was_passed() {
    let events = events(
        r"
__global__ void k(int n) {}
void maybe(int m) { if (m % 256) return; k<<<m / 256, 256>>>(m); }
void run(int n) {
    maybe(n);
    k<<<n / 256, 256>>>(n);
}
",
    );
    let found = coverage(&events);
    assert_eq!(found[0], Comparison::Unknown);
    assert!(matches!(found[1], Comparison::ForSome { .. }), "{found:?}");
}

#[test]
fn callers_in_sight_choose_the_values() {
    let text = |caller: &str| {
        format!("__global__ void k(int n) {{}}\nvoid run(int n) {{ k<<<n / 256, 256>>>(n); }}\n{caller}")
    };
    assert!(matches!(coverage(&events(&text("")))[..], [Comparison::ForSome { .. }]));
    // A caller whose own value is out of sight, and one that is never walked.
    let found = coverage(&events(&text("int size();\nvoid other() { auto f = run; if (size()) return; }")));
    assert_eq!(found, [Comparison::Unknown]);
}

#[test]
fn a_bound_out_of_sight_is_no_number() {
    let events = events(
        r#"
extern "C" const unsigned LEAST;
extern "C" const unsigned MOST;
__global__ void k(unsigned n) {}
int main() {
    for (unsigned n = 4; n <= MOST; n <<= 1) k<<<n / 4, 256>>>(n);
    for (unsigned n = LEAST; n <= 64; n <<= 1) k<<<n / 4, 256>>>(n);
}
"#,
    );
    for launch in launches(&events) {
        assert_ne!(launch.grid.axes[0].quantity, Quantity::Known(0), "{}", config(launch));
    }
}

#[test]
fn numbers_that_run_over_are_unknown() {
    let events = events(
        r"
int main() {
    unsigned n = 1u << 31;
    n <<= 1;
    float *a;
    cudaMalloc(&a, n);
}
",
    );
    assert_eq!(allocations(&events), ["n"]);
}

#[test]
fn a_cast_to_a_type_out_of_sight_loses_the_number() {
    let events = events(
        r"
template <typename real> void run(int n) {
    float *a;
    cudaMalloc(&a, (int)ceil((real)n / 128));
}
template <typename real> void fixed() {
    float *a;
    cudaMalloc(&a, (int)ceil((real)1000 / 128));
}
",
    );
    for bytes in allocations(&events) {
        assert!(!bytes.contains('/') && bytes != "7", "{bytes}");
    }
}

#[test]
fn operator_new_of_a_class_takes_memory_of_its_own() {
    let events = events(
        r"
struct Managed { void *operator new(size_t n) { void *p; cudaMallocManaged(&p, n); return p; } };
struct Node : public Managed { int value; };
struct Plain { int value; };
struct Far : public Elsewhere { int value; };
template <typename T> __global__ void k(T *p) {}
int main() {
    Node *a = new Node;
    Plain *b = new Plain;
    Far *c = new Far;
    k<<<1, 1>>>(a);
    k<<<1, 1>>>(b);
    k<<<1, 1>>>(c);
}
",
    );
    let pointers: Vec<bool> =
        launches(&events).iter().map(|launch| matches!(launch.args[0].pointer, Some(Pointer::Into { .. }))).collect();
    assert_eq!(pointers, [false, true, false]);
}

#[test]
fn proxies_of_thrust_may_be_dereferenced() {
    let proxies = events(
        r"
struct Batch {
    thrust::device_vector<float> items;
    thrust::device_ptr<float> ptrs() { return items.data(); }
    float *raw() { return thrust::raw_pointer_cast(items.data()); }
};
int main() {
    Batch b;
    float x = b.ptrs()[3];
    thrust::device_vector<float> v(10);
    thrust::device_ptr<float> p = v.data();
    x += *p + p[2] + v[1];
    float *d;
    cudaMalloc(&d, 40);
    thrust::device_ptr<float> q(d);
    x += *q + *(q + 1) + *thrust::device_pointer_cast(d);
}
",
    );
    assert_eq!(host_accesses(&proxies), 0);
    let raw = events(
        r"
int main() {
    thrust::device_vector<float> v(10);
    float *p = thrust::raw_pointer_cast(v.data());
    float *q = v.data().get();
    return p[0] + q[1];
}
",
    );
    assert_eq!(host_accesses(&raw), 2);
}

#[test]
fn events_know_whether_they_stand_under_an_open_condition() {
    let events = events(
        r"
int where(const void *p);
void copy(float *to, const float *from, int n) {
    cudaMemcpy(to, from, n, cudaMemcpyHostToDevice);
    if (where(to) < 0) cudaMemcpy(to, from, n, cudaMemcpyHostToHost);
    if (n > 3) n = 3;
    cudaMemcpy(to, from, n, cudaMemcpyHostToDevice);
    if (where(from) < 0) return;
    cudaMemcpy(to, from, n, cudaMemcpyDeviceToDevice);
}
",
    );
    let conditional: Vec<bool> = events.iter().map(|event| event.conditional).collect();
    assert_eq!(conditional, [false, true, false, true]);
}

#[test]
fn a_parameter_counts_only_beside_the_allocation() {
    let opaque = |text: &str| -> Vec<bool> {
        let project = project(&[("a.cu", text)]);
        let events = replay_all(&project, &ReplayOptions::default()).remove(0).events;
        events
            .iter()
            .filter_map(|event| match &event.kind {
                EventKind::Set { count, .. } => Some(count.opaque),
                _ => None,
            })
            .collect()
    };
    let beside = "void f(int n) { float *p; cudaMalloc(&p, n * sizeof(float)); cudaMemset(p, 0, n); }";
    let apart = "float *make(int n) { float *p; cudaMalloc(&p, n * sizeof(float)); return p; }\n\
                 void f(int n) { float *p = make(n); cudaMemset(p, 0, n); }";
    assert_eq!(opaque(beside), [false]);
    assert_eq!(opaque(apart), [true]);
}

#[test]
fn host_code_out_of_sight_leaves_pointers_to_the_device_alone() {
    let program = "\
int *kept;
void log_line(const char *text);
void run(int n) {
    cudaMalloc((void **)&kept, n * sizeof(int));
    log_line(\"copying\");
    cudaMemset(kept, 0, 4);
}";
    let target = |files: &[(&str, &str)]| -> bool {
        let events = replay_all(&project(files), &ReplayOptions::default()).remove(0).events;
        events.iter().any(|event| match &event.kind {
            EventKind::Set { destination, .. } => matches!(destination.pointer, Pointer::Into { .. }),
            _ => false,
        })
    };
    assert!(target(&[("a.cu", program)]));
    // Another file names the variable too, or has the function.
    assert!(!target(&[("a.cu", program), ("b.cu", "extern int *kept; void more() { cudaFree(kept); }")]));
    let two = [
        ("a.cu", program),
        ("x/b.cu", "void log_line(const char *t) { cudaDeviceReset(); }"),
        ("y/b.cu", "void log_line(const char *t) {}"),
    ];
    assert!(!target(&two));
}

#[test]
fn the_last_round_of_a_counting_loop_is_looked_at() {
    let program = |body: &str| {
        format!(
            "__global__ void k(float *p, int n) {{}}\nint main() {{ float *p; int n = 512; cudaMalloc(&p, 4 * n);\n\
             for (int i = 0; i < n; i++) {{ {body} }} }}"
        )
    };
    let rounds = |body: &str| -> Vec<Quantity> {
        launches(&events(&program(body))).iter().map(|launch| launch.args[1].amount.quantity.clone()).collect()
    };
    let plain = rounds("k<<<1, 1>>>(p, i); cudaDeviceSynchronize();");
    assert!(plain.contains(&Quantity::Known(0)) && plain.contains(&Quantity::Known(511)), "{plain:?}");
    for early in [
        "k<<<1, 1>>>(p, i); if (done(i)) break;",
        "k<<<1, 1>>>(p, i); i += 3;",
        "k<<<1, 1>>>(p, i); n -= 2;",
        "k<<<1, 1>>>(p, i); leap(i);",
        "k<<<1, 1>>>(p, i); if (n > sizes[i]) return 1;",
    ] {
        assert!(!rounds(early).contains(&Quantity::Known(511)), "{early}");
    }
}

#[test]
fn behind_a_throw_that_may_happen() {
    let events = events(
        r"
__global__ void k(int n) {}
int ask();
int main() {
    k<<<1, 32>>>(0);
    try {
        k<<<1, 32>>>(1);
        if (ask() > 3) throw 4;
        k<<<1, 32>>>(2);
        try { if (ask() > 4) { throw 5; } else { k<<<1, 32>>>(3); } } catch (int) { k<<<1, 32>>>(4); }
        k<<<1, 32>>>(5);
    } catch (...) {
    }
    k<<<1, 32>>>(6);
    if (ask() > 5) throw 6;
    k<<<1, 32>>>(7);
}
",
    );
    let conditional: Vec<bool> = events.iter().map(|event| event.conditional).collect();
    assert_eq!(conditional, [false, false, true, true, true, true, false, false]);
}

/// A list for a vector of Thrust is one since version 2.1.0; before, `{n, value}` was as good as `(n, value)`.
#[test]
fn a_list_of_thrust_that_may_be_a_count() {
    let fits = |vector: &str, bytes: usize| {
        let text = format!(
            "int main() {{\n    const size_t n = 128;\n    thrust::device_vector<int> v{vector};\n    float *d;\n    cudaMalloc(&d, 4096);\n    cudaMemcpy(d, v.data().get(), {bytes}, cudaMemcpyDeviceToDevice);\n}}\n"
        );
        let found = events(&text);
        found.iter().find_map(|event| match &event.kind {
            EventKind::Copy { source, .. } => match &source.pointer {
                Pointer::Into { buffer, .. } => Some(buffer.bytes.quantity.known()),
                _ => None,
            },
            _ => None,
        })
    };
    for (vector, bytes) in [("(n, -1)", Some(512)), ("{n, -1}", None), ("{3}", None), ("{1, 2, 3}", Some(12))] {
        assert_eq!(fits(vector, 8).flatten(), bytes, "{vector}");
    }
}
