//! Defects of one kernel that one another would hide: each is told, and what is one defect is told once.
#![allow(clippy::panic)]

mod common;

use common::of;
use cudalint_findings::Finding;

fn lines(text: &str, found: &[Finding]) -> Vec<usize> {
    let line = |finding: &Finding| text.get(..finding.place.range.start).unwrap_or_default().matches('\n').count() + 1;
    found.iter().map(line).collect()
}

/// All that is told of races within a block, and of lanes.
fn races(text: &str) -> Vec<usize> {
    let mut found = of("shared-memory-race", text);
    found.extend(of("implicit-warp-sync", text));
    found.extend(of("shared-memory-race-across-iterations", text));
    let mut lines = lines(text, &found);
    lines.sort_unstable();
    lines
}

const TREE: &str = "__global__ void k(const float *in, float *out) {
    __shared__ float part[64];
    part[threadIdx.x] = in[threadIdx.x];
    for (int s = 8; s >= 1; s /= 8) {
        __syncthreads();
        if (threadIdx.x < s) {
            float t = 0;
            for (int j = 0; j < 8; j++) t += part[threadIdx.x * 8 + j];
            part[threadIdx.x] = t;
        }
    }
    out[threadIdx.x] = part[0];
}
void run(const float *a, float *b) { k<<<1, 64>>>(a, b); }
";

#[test]
fn a_race_behind_a_loop_is_not_the_one_within_a_round() {
    assert_eq!(races(TREE), vec![9, 12]);
    // Each by itself.
    assert_eq!(races(&TREE.replace("    out[threadIdx", "    __syncthreads(); out[threadIdx")), vec![9]);
    let apart =
        TREE.replace("if (threadIdx.x < s) {", "float t = 0; if (threadIdx.x < s) {").replace("float t = 0;\n", "\n");
    let waits = apart.replace(
        "            part[threadIdx.x] = t;\n",
        "        } __syncthreads(); if (threadIdx.x < s) {\n            part[threadIdx.x] = t;\n",
    );
    assert_eq!(races(&waits), vec![13]);
}

#[test]
fn one_barrier_at_the_end_of_a_round_is_one_finding() {
    let text = "__global__ void k(const float *in, float *out) {
    __shared__ float part[256];
    part[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (int s = 128; s >= 1; s /= 2) {
        if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
    }
    out[threadIdx.x] = part[0];
}
void run(const float *a, float *b) { k<<<1, 256>>>(a, b); }
";
    assert_eq!(races(text).len(), 1);
}

const BARRIERS: &str = "__global__ void red(int *v, int *sum) {
    __shared__ int s[256];
    s[threadIdx.x] = v[threadIdx.x];
    __syncthreads();
    if (threadIdx.x < 128) {
        s[threadIdx.x] += s[threadIdx.x + 128];
        __syncthreads();
    }
    if (threadIdx.x < 64) {
        s[threadIdx.x] += s[threadIdx.x + 64];
        __syncthreads();
    }
    for (int step = 32; step; step /= 2) {
        if (threadIdx.x < step) {
            s[threadIdx.x] += s[threadIdx.x + step];
            __syncthreads();
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) *sum = s[0];
}
void run(int *v, int *s) { red<<<1, 256>>>(v, s); }
";

#[test]
fn each_barrier_that_part_of_a_block_misses_is_told() {
    let barriers = |text: &str| {
        let mut lines = lines(text, &of("barrier-in-divergent-branch", text));
        lines.sort_unstable();
        lines
    };
    assert_eq!(barriers(BARRIERS), vec![7, 11, 16]);
    // The other branch waits for the same.
    let both = BARRIERS.replace("    if (threadIdx.x < 64) {", "    else {").replace("threadIdx.x + 64", "0");
    assert_eq!(barriers(&both), vec![7, 16]);
    // What the others make of shared memory decides, or all come.
    let data = BARRIERS
        .replace("if (threadIdx.x < 64) {", "if (s[0] == 7) {")
        .replace("if (threadIdx.x < step) {", "if (s[1] < step) {");
    assert_eq!(barriers(&data), vec![7]);
    // No race is told of a run that went on as if all had come.
    assert_eq!(races(BARRIERS), Vec::<usize>::new());
}
