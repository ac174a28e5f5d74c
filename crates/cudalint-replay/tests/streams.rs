//! What CUDA orders of the work of several streams, and which device streams belong to.

mod common;

use common::events;
use cudalint_replay::facts::{CrossedFact, EventKind, Started};

/// Kernels and streams that all programs have.
const BEFORE: &str = "
    __global__ void fill(float *values) { values[threadIdx.x] = 1; }
    __global__ void read(const float *values, float *sums) { sums[threadIdx.x] = values[threadIdx.x]; }
    void f(float *rest, cudaStream_t given) {
        float *values;
        cudaStream_t a, b, free, all[3];
        cudaEvent_t e;
        cudaStreamCreate(&a);
        cudaStreamCreate(&b);
        cudaStreamCreateWithFlags(&free, cudaStreamNonBlocking);
        for (int i = 0; i < 3; i++) cudaStreamCreate(&all[i]);
        cudaEventCreate(&e);
        cudaMalloc(&values, 1024);
";

/// The pairs of work that nothing orders.
fn crossed(body: &str) -> Vec<String> {
    let name = |what: &Started| match what {
        Started::Copy { api: name } | Started::Algorithm { name } => name.to_string(),
        Started::Kernel { name, .. } => name.clone(),
    };
    let pair = |fact: &CrossedFact| format!("{} and {}", name(&fact.first.what), name(&fact.second.what));
    let text = format!("{BEFORE}{body}}}");
    let shown = |kind: &EventKind| if let EventKind::Crossed(fact) = kind { Some(pair(fact)) } else { None };
    events(&text).iter().filter_map(|event| shown(&event.kind)).collect()
}

const FILL: &str = "fill<<<1, 256, 0, a>>>(values);";
const READ: &str = "read<<<1, 256, 0, b>>>(values, rest);";

#[test]
fn two_streams_are_not_ordered() {
    assert_eq!(crossed(&format!("{FILL}{READ}")), ["fill and read"]);
    let again = "read<<<1, 256, 0, a>>>(values, rest); read<<<1, 256, 0, b>>>(values, rest);";
    assert!(crossed(again).is_empty(), "both only read");
}

#[test]
fn events_order_what_was_started_before_they_are_recorded() {
    let wait = "cudaStreamWaitEvent(b, e, 0);";
    assert!(crossed(&format!("{FILL} cudaEventRecord(e, a); {wait}{READ}")).is_empty());
    assert_eq!(crossed(&format!("cudaEventRecord(e, a); {FILL}{wait}{READ}")), ["fill and read"]);
    assert_eq!(crossed(&format!("{FILL} cudaEventRecord(e, free); {wait}{READ}")), ["fill and read"]);
    // By a third stream.
    let third = "cudaEventRecord(e, a); cudaStreamWaitEvent(free, e, 0); cudaEventRecord(g, free); cudaStreamWaitEvent(b, g, 0);";
    assert!(crossed(&format!("cudaEvent_t g; cudaEventCreate(&g); {FILL}{third}{READ}")).is_empty());
    // Which event that is nobody knows.
    assert!(crossed(&format!("extern cudaEvent_t g; {FILL} cudaStreamWaitEvent(b, g, 0); {READ}")).is_empty());
}

#[test]
fn the_default_stream_orders_those_that_wait_for_it() {
    assert!(crossed(&format!("{FILL} fill<<<1, 1>>>(rest); {READ}")).is_empty());
    assert!(crossed(&format!("{FILL} read<<<1, 256>>>(values, rest);")).is_empty());
    let free = "read<<<1, 256, 0, free>>>(values, rest);";
    assert_eq!(crossed(&format!("{FILL} fill<<<1, 1>>>(rest); {free}")), ["fill and read"]);
    assert_eq!(crossed(&format!("fill<<<1, 256>>>(values); {free}")), ["fill and read"]);
    assert_eq!(crossed(&format!("cudaMemset(values, 0, 1024); {free}")), ["cudaMemset and read"]);
    // The default stream waits for `free`, and `b` for the default stream.
    let linked = "cudaEventRecord(e, free); cudaStreamWaitEvent(0, e, 0); fill<<<1, 1>>>(rest);";
    assert!(crossed(&format!("fill<<<1, 256, 0, free>>>(values); {linked}{READ}")).is_empty());
}

#[test]
fn the_host_waits_for_streams_and_what_comes_before_their_work() {
    assert!(crossed(&format!("{FILL} cudaStreamSynchronize(a); {READ}")).is_empty());
    assert_eq!(crossed(&format!("{FILL} cudaStreamSynchronize(b); {READ}")), ["fill and read"]);
    let linked = "cudaEventRecord(e, a); cudaStreamWaitEvent(free, e, 0); cudaStreamSynchronize(free);";
    assert!(crossed(&format!("{FILL}{linked}{READ}")).is_empty());
    assert!(crossed(&format!("{FILL} cudaDeviceSynchronize(); {READ}")).is_empty());
    assert!(crossed(&format!("{FILL} unseen(); {READ}")).is_empty());
    // What somebody else has made may be any stream.
    assert!(crossed(&format!("{FILL} fill<<<1, 1, 0, given>>>(rest); {READ}")).is_empty());
}

#[test]
fn a_stream_that_an_argument_steps_to_is_stepped_to_once() {
    let steps = "int i = 0; fill<<<1, 256, 0, all[i++]>>>(values); read<<<1, 256, 0, all[i]>>>(values, rest);";
    assert_eq!(crossed(steps), ["fill and read"]);
    let same = "int i = 0; fill<<<1, 256, 0, all[i++]>>>(values); read<<<1, 256, 0, all[i - 1]>>>(values, rest);";
    assert!(crossed(same).is_empty());
    // Nobody else evaluates the stream of a copy.
    let copies = "int i = 0; cudaMemsetAsync(values, 0, 1024, all[i++]); cudaDeviceSynchronize();
        fill<<<1, 256, 0, all[i]>>>(values); read<<<1, 256, 0, all[1]>>>(values, rest);";
    assert!(crossed(copies).is_empty());
}

#[test]
fn one_side_of_an_open_condition_orders_and_starts_nothing_behind_it() {
    assert!(crossed(&format!("if (rest) cudaStreamSynchronize(a); {READ}")).is_empty());
    assert!(crossed(&format!("if (rest) {{ {FILL} }} {READ}")).is_empty());
    assert!(crossed(&format!("{FILL} if (rest) cudaStreamSynchronize(a); {READ}")).is_empty());
}

/// What is used on another device than its own.
fn foreign(body: &str) -> Vec<String> {
    let text = format!("{BEFORE}{body}}}").replace("void f(", "int main(");
    let shown = |kind: &EventKind| match kind {
        EventKind::WrongDevice(fact) => Some(format!("{} of {} on {}", fact.name, fact.made.0, fact.other)),
        _ => None,
    };
    events(&text).iter().filter_map(|event| shown(&event.kind)).collect()
}

#[test]
fn events_belong_to_the_device_that_was_current() {
    assert_eq!(foreign("cudaSetDevice(1); cudaEventRecord(e);"), ["e of 0 on 1"]);
    assert!(foreign("cudaSetDevice(1); cudaEventRecord(e, a);").is_empty());
    assert!(foreign("cudaSetDevice(1); cudaSetDevice(0); cudaEventRecord(e);").is_empty());
    assert!(foreign("cudaSetDevice(1); unseen(); cudaEventRecord(e);").is_empty());
    assert!(foreign("if (rest) cudaSetDevice(1); cudaEventRecord(e);").is_empty());
    assert!(foreign("for (int d = 0; d < unseen(); d++) { cudaEventRecord(e); cudaSetDevice(1); }").is_empty());
    // A kernel runs on its stream's device, whichever is current.
    assert!(foreign("cudaSetDevice(1); fill<<<1, 256, 0, a>>>(values);").is_empty());
}
