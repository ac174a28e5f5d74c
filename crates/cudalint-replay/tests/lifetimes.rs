//! What becomes of memory and handles of CUDA, and of work that nothing has waited for.

mod common;

use common::events;
use cudalint_replay::facts::{Early, EventKind, LostAt, Started};

/// What is lost in a program, and where its paths end.
fn lost(text: &str) -> Vec<String> {
    let shown = |kind: &EventKind| match kind {
        EventKind::Lost(fact) => {
            let at = match fact.at {
                LostAt::End => "end",
                LostAt::Return { fails: false } => "return",
                LostAt::Return { fails: true } => "failure",
                LostAt::Round => "round",
            };
            Some(format!("{} at {at}, {} freed", fact.buffer.name, fact.freed.len()))
        }
        _ => None,
    };
    events(text).iter().filter_map(|event| shown(&event.kind)).collect()
}

/// What the host does too early.
fn early(text: &str) -> Vec<String> {
    let shown = |kind: &EventKind| match kind {
        EventKind::Early(fact) => {
            let what = match &fact.what {
                Started::Copy { api: name } | Started::Algorithm { name } => name.to_string(),
                Started::Kernel { name, .. } => name.clone(),
            };
            let done = match fact.early {
                Early::Read => "reads",
                Early::Write => "writes",
                Early::Free => "frees",
                Early::Launch => "starts a kernel with",
            };
            Some(format!("{done} {} before {what}", fact.argument.text))
        }
        _ => None,
    };
    events(text).iter().filter_map(|event| shown(&event.kind)).collect()
}

#[test]
fn what_nothing_leads_to_is_lost_where_the_function_ends() {
    assert_eq!(
        lost("void f() { float *p, *q; cudaMalloc(&p, 8); cudaMalloc(&q, 8); cudaFree(q); }"),
        ["p at end, 1 freed"]
    );
    let stream = |destroy| {
        lost(&format!(
            "void f() {{ cudaStream_t s; int *p; cudaStreamCreate(&s); cudaMalloc(&p, 8); cudaFree(p); {destroy} }}"
        ))
    };
    assert_eq!(stream(""), ["s at end, 1 freed"]);
    assert_eq!(stream("cudaStreamDestroy(s);"), [""; 0]);
    assert_eq!(
        lost("void f() { for (int i = 0; i < 3; i++) { int *p; cudaMalloc(&p, 8); } }"),
        ["p at round, 0 freed"]
    );
    assert_eq!(lost("void f() { int *p; cudaMalloc(&p, 8); cudaDeviceReset(); }"), [""; 0]);
    assert_eq!(lost("void f() { int *p; cudaMalloc(&p, 0); }"), [""; 0]);
}

#[test]
fn each_way_out_is_looked_at_by_itself() {
    let two =
        |value| format!("int f(int n) {{ int *p; cudaMalloc(&p, 8); if (n) return {value}; cudaFree(p); return 0; }}");
    assert_eq!(lost(&two("0")), ["p at return, 0 freed"]);
    assert_eq!(lost(&two("-1")), ["p at failure, 0 freed"]);
    let either = "bool f(int n) { int *p; cudaMalloc(&p, 8); if (n) return false; cudaFree(p); return true; }";
    assert_eq!(lost(either), ["p at failure, 0 freed"]);
    let joined = "void f(bool a) { int *p; cudaMalloc(&p, 8); if (a) cudaFree(p); }";
    assert_eq!(lost(joined), [""; 0]);
}

#[test]
fn what_leaves_sight_may_be_given_back_there() {
    for text in [
        "int *f() { int *p; cudaMalloc(&p, 8); return p; }",
        "void f(int **p) { cudaMalloc(p, 8); }",
        "void f(int *&p) { cudaMalloc(&p, 8); }",
        "void f(int **out) { int *p; cudaMalloc(&p, 8); *out = p; }",
        "int *g; void f() { cudaMalloc(&g, 8); }",
        "void f() { static int *p; cudaMalloc(&p, 8); }",
        "void h(void *); void f() { int *p; cudaMalloc(&p, 8); h(p); }",
        "struct S { int *p; void f() { cudaMalloc(&p, 8); } };",
        "struct S { int *p; ~S(); }; void f() { S s; cudaMalloc(&s.p, 8); }",
        "struct S { int *p; }; S f() { S s; cudaMalloc(&s.p, 8); return s; }",
        "auto f() { int *p; cudaMalloc(&p, 8); return std::make_pair(p, 8); }",
        "unsigned long long f() { int *p; cudaMalloc(&p, 8); return (unsigned long long)p; }",
        "void f(void (*done)(void *), cudaStream_t s) { int *p; cudaMalloc(&p, 8); cudaLaunchHostFunc(s, done, p); }",
        "void done(void *); void f(cudaStream_t s) { int *p; cudaMalloc(&p, 8); cudaLaunchHostFunc(s, done, p); }",
    ] {
        assert_eq!(lost(text), [""; 0], "{text}");
    }
}

#[test]
fn what_is_made_on_one_path_is_not_there_on_another() {
    let early = "int f(int n) { if (n) { int *p; cudaMalloc(&p, 8); cudaFree(p); return 1; } return 0; }";
    assert_eq!(lost(early), [""; 0]);
    let either = "void make(int **p, int n) { if (n) cudaMallocManaged(p, 8); else cudaMalloc(p, 8); }
        int *f(int n) { int *p; make(&p, n); return p; }";
    assert_eq!(lost(either), [""; 0]);
    let again = "void f() { int *p; if (cudaMalloc(&p, 8) != cudaSuccess) cudaMalloc(&p, 8); cudaFree(p); }";
    assert_eq!(lost(again), [""; 0]);
    let inside = "int f(int n) { if (n) { int *p; cudaMalloc(&p, 8); cudaMemset(p, 0, 8); return 0; } return 0; }";
    assert_eq!(lost(inside), ["p at return, 0 freed"]);
}

#[test]
fn a_callee_may_hand_what_it_makes_to_its_caller() {
    let made = "int *make() { int *p; cudaMalloc(&p, 8); return p; } void f() { int *q = make(); }";
    assert_eq!(lost(made), ["p at end, 0 freed"]);
    let freed = "int *make() { int *p; cudaMalloc(&p, 8); return p; } void f() { int *q = make(); cudaFree(q); }";
    assert_eq!(lost(freed), [""; 0]);
}

const COPY: &str = "cudaMemcpyAsync(h, d, 64, cudaMemcpyDeviceToHost, s);";

fn with_copy(behind: &str) -> Vec<String> {
    early(&format!(
        "void g(); void f(int *d, cudaStream_t s, bool b) {{ int *h; cudaMallocHost(&h, 64); {COPY} {behind} cudaFreeHost(h); }}"
    ))
}

#[test]
fn a_copy_that_nothing_waits_for_is_still_going_on() {
    assert_eq!(with_copy("int x = h[3];"), ["reads h before cudaMemcpyAsync"]);
    assert_eq!(with_copy("h[3] = 1;"), ["writes h before cudaMemcpyAsync"]);
    for waits in [
        "cudaStreamSynchronize(s);",
        "cudaDeviceSynchronize();",
        "g();",
        "cudaMemcpy(d, d, 4, cudaMemcpyDeviceToDevice);",
        "if (b) g();",
    ] {
        assert_eq!(with_copy(&format!("{waits} int x = h[3];")), [""; 0], "{waits}");
    }
    assert_eq!(with_copy("cudaGetLastError(); int x = *h;"), ["reads h before cudaMemcpyAsync"]);
    let other = "cudaStream_t a, b; cudaStreamCreate(&a); cudaStreamCreate(&b);";
    let waits = |stream| {
        format!(
            "void f(int *d) {{ int *h; {other} cudaMallocHost(&h, 64); cudaMemcpyAsync(h, d, 64, cudaMemcpyDeviceToHost, a);
            cudaStreamSynchronize({stream}); int x = *h; }}"
        )
    };
    assert_eq!(early(&waits("a")), [""; 0]);
    assert_eq!(early(&waits("b")), ["reads h before cudaMemcpyAsync"]);
}

#[test]
fn work_of_one_side_of_a_condition_is_not_known_behind_it() {
    let program = "void f(int *d, cudaStream_t s, bool b) { int *h; cudaMallocHost(&h, 64);
        if (b) cudaMemcpyAsync(h, d, 64, cudaMemcpyDeviceToHost, s); else cudaMemcpy(h, d, 64, cudaMemcpyDeviceToHost);
        int x = *h; cudaFreeHost(h); }";
    assert_eq!(early(program), [""; 0]);
}

#[test]
fn a_kernel_goes_on_where_the_host_does() {
    let program = |kernel, body, behind| {
        format!(
            "__global__ void k({kernel} *p) {{ {body} }} void f() {{ int *p; cudaMallocManaged(&p, 64); k<<<1, 1>>>(p); {behind} int x = *p; cudaFree(p); }}"
        )
    };
    assert_eq!(early(&program("int", "*p = 1;", "")), ["reads p before k"]);
    // A kernel that only reads there changes nothing that the host could see too early, whatever its parameter's type.
    assert_eq!(early(&program("int", "int y = *p;", "")), [""; 0]);
    assert_eq!(early(&program("const int", "int y = *p;", "")), [""; 0]);
    assert_eq!(early(&program("int", "*p = 1;", "cudaDeviceSynchronize();")), [""; 0]);
}

#[test]
fn memory_is_given_back_in_the_order_of_a_stream() {
    let program = |stream| {
        format!(
            "__global__ void k(int *p) {{}} void f() {{ cudaStream_t a, b; cudaStreamCreate(&a); cudaStreamCreate(&b); int *p;
            cudaMallocAsync(&p, 64, a); k<<<1, 1, 0, a>>>(p); cudaFreeAsync(p, {stream}); }}"
        )
    };
    assert_eq!(early(&program("a")), [""; 0]);
    assert_eq!(early(&program("b")), ["frees p before k"]);
}
