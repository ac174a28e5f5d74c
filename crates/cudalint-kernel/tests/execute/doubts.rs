//! What threads do that are taken to get past conditions which each decides for itself, and what locks order.

use crate::support::kernel;

#[test]
fn a_barrier_behind_a_condition_on_data() {
    kernel(
        "__global__ void k(int* a, int n) { int i = threadIdx.x; if (a[i] > 0) { a[i + n] = 1; __syncthreads(); } }",
    )
    .buffer(8192)
    .int(1000)
    .sees(&["divergent 0.0 not 0.32 if a[i]>0 goes "]);
    // The limits move with the threads: all have as many rounds.
    kernel("__global__ void k(float* a, int n, int m) { int t = threadIdx.x; for (int i = n + t; i < m + t; i++) { a[t] += 1; __syncthreads(); } }")
        .buffer(1024)
        .unknown()
        .unknown()
        .clean();
    // All threads read one element.
    kernel("__global__ void k(int* a) { if (a[0] > 0) __syncthreads(); }").buffer(4).clean();
}

#[test]
fn two_threads_that_change_one_element() {
    kernel("__global__ void k(int* a, int* n) { if (a[threadIdx.x] > 0) *n += 1; }")
        .buffer(1024)
        .buffer(4)
        .sees(&["race block UpdateRead *n / UpdateWrite *n"]);
    kernel("__global__ void k(int* from, int* a, int* n) { int t = threadIdx.x; for (int e = from[t]; e < from[t + 1]; e++) { if (a[e] == 0) continue; n[0] = n[0] + 1; } }")
        .buffer(2048)
        .buffer(1024)
        .buffer(4)
        .sees(&["race block Read n[0] / Write n[0]"]);
    // One thread is chosen: by its number, by an atomic operation, by bounds that a number lies between.
    for condition in [
        "a[0] == threadIdx.x",
        "atomicAdd(a, 1) == 255",
        "a[threadIdx.x] <= m && m < a[threadIdx.x + 1]",
        "threadIdx.x >= m",
    ] {
        kernel(&format!("__global__ void k(int* a, int* n, int m) {{ if ({condition}) *n += 1; }}"))
            .buffer(2048)
            .buffer(4)
            .unknown()
            .clean();
    }
}

#[test]
fn locks_order_who_takes_them() {
    let with = |take: &str, give: &str| {
        format!("__global__ void k(int* lock, float* a) {{ while ({take}) {{ }} a[0] += blockIdx.x; {give} }}")
    };
    let run = |take: &str, give: &str| kernel(&with(take, give)).grid(2).block(1).buffer(64).buffer(4);
    run("atomicCAS(lock, 0, 1) != 0", "__threadfence(); atomicExch(lock, 0);").clean();
    run("atomicExch(lock, 1)", "__threadfence(); atomicExch(lock, 0);").clean();
    let lost = "race grid UpdateRead a[0] / UpdateWrite a[0]";
    let all = |seen: &str| seen.contains(lost);
    for (take, give) in [
        ("atomicCAS(lock, 0, 1) != 0", "atomicExch(lock, 0);"),
        ("atomicCAS(lock, 0, 1) != 0", "__threadfence_block(); atomicExch(lock, 0);"),
        ("atomicCAS(lock + blockIdx.x, 0, 1) != 0", "__threadfence(); atomicExch(lock + blockIdx.x, 0);"),
    ] {
        assert!(all(&run(take, give).seen().join("\n")), "{take} {give}");
    }
}

#[test]
fn a_guard_that_ends_in_the_middle_of_the_grid() {
    kernel("__global__ void k(float* a) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i > 1000) return; a[i] = 1; }")
        .grid(100)
        .block(128)
        .buffer(4000)
        .sees(&["outside a[i] at 4000 by 7.104 x1 plain"]);
}
