//! Numbers that all threads share and that no parameter hands over: in `__constant__` memory, or read at one place by the whole block.
#![allow(clippy::panic)]

mod common;

use common::{findings, of};
use cudalint_findings::{Confidence, Finding};

fn assumed(finding: &Finding) -> Vec<String> {
    finding.witness.as_ref().map(|witness| witness.assumptions.clone()).unwrap_or_default()
}

/// A kernel that goes up to a constant, which some code of the host fills.
fn limited(host: &str) -> String {
    format!(
        "__constant__ int limit;
__global__ void clear(float *out) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < limit) out[i] = 0;
}}
void unknown(int *);
int main(int argc, char **argv) {{
    float *out;
    cudaMalloc(&out, 100 * sizeof(float));
    {host}
    clear<<<1, 128>>>(out);
    cudaDeviceSynchronize();
}}
"
    )
}

#[test]
fn kernels_see_what_a_copy_put_in_a_constant() {
    let found =
        of("guard-does-not-cover-access", &limited("int most = 101; cudaMemcpyToSymbol(limit, &most, sizeof(int));"));
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(found.first().map(|finding| finding.confidence), Some(Confidence::Definite));
    for silent in [
        "int most = 100; cudaMemcpyToSymbol(limit, &most, sizeof(int));",
        // A part of it, and more than one value.
        "short most = 101; cudaMemcpyToSymbol(limit, &most, sizeof(short));",
        "int most = 101; cudaMemcpyToSymbol(limit, &most, sizeof(int)); most = 100; cudaMemcpyToSymbol(limit, &most, 4);",
        "int most = 101; if (argc > 3) cudaMemcpyToSymbol(limit, &most, sizeof(int));",
        // Somebody else may write it.
        "int most = 101; cudaMemcpyToSymbol(limit, &most, sizeof(int)); unknown(&most);",
        "int most = 101; unknown(&most); cudaMemcpyToSymbol(limit, &most, sizeof(int));",
        "int most = 101; cudaMemcpyToSymbol(limit, &most, sizeof(int)); int *at; cudaGetSymbolAddress((void **)&at, limit); \
         cudaMemset(at, 0, 4);",
    ] {
        let found = of("guard-does-not-cover-access", &limited(silent));
        assert!(found.is_empty(), "{silent}: {found:#?}");
    }
}

const CHUNKS: &str = "__constant__ int GROUP;
__global__ void sum(const float *a, float *out, int n) {
    extern __shared__ float buff[];
    float s = 0;
    for (int k = 0; k < n; k += GROUP) {
        if (k + threadIdx.x < n) buff[threadIdx.x] = a[k + threadIdx.x];
        __syncthreads();
        int m = min(k + GROUP, n) - k;
        for (int b = 0; b < m; b++) s += buff[b];
        /**/
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
void run(const float *a, float *out, int n, int group) {
    cudaMemcpyToSymbol(GROUP, &group, sizeof(int));
    sum<<<4, group, group * sizeof(float)>>>(a, out, n);
    cudaDeviceSynchronize();
}
";

#[test]
fn an_input_that_a_constant_holds_is_that_input() {
    let found = of("shared-memory-race-across-iterations", CHUNKS);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(found.first().map(assumed), Some(vec!["`group` is 128 and `n` is at least 129".to_owned()]));
    let waits = CHUNKS.replace("/**/", "__syncthreads();");
    assert!(of("shared-memory-race-across-iterations", &waits).is_empty());
    assert!(of("shared-memory-race", &waits).is_empty());
}

const WIDTHS: &str = "__constant__ unsigned widths[64];
__global__ void score(const short *s, short *out) {
    __shared__ int tile[8];
    unsigned width = widths[blockIdx.x];
    for (int j = 1; j < width + 1; j++) {
        for (int m = 0; m < 8; m++) {
            int left = tile[m];
            tile[m] = left + s[threadIdx.x * 8 + j];
        }
    }
    out[blockIdx.x * 64 + threadIdx.x] = tile[0];
}
void run(const unsigned *w, const short *s, short *o) {
    cudaMemcpyToSymbol(widths, w, sizeof widths);
    score<<<64, 64>>>(s, o);
    cudaDeviceSynchronize();
}
";

#[test]
fn a_constant_that_nobody_knows_is_chosen() {
    let found = of("shared-memory-race", WIDTHS);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(found.first().map(assumed), Some(vec!["`widths[blockIdx.x]` is at least 1".to_owned()]));
    // Each thread has a width of its own: nothing is known of who goes through.
    let own = WIDTHS.replace("widths[blockIdx.x]", "widths[threadIdx.x]");
    let found = findings("shared-memory-race", "", &own);
    assert!(found.iter().all(|finding| !assumed(finding).iter().any(|text| text.contains("widths"))), "{found:#?}");
}

const SEGMENTS: &str = "__global__ void sums(const int *begin, const int *end, const float *a, float *out, int *next) {
    int first = begin[blockIdx.x], n = end[blockIdx.x] - first + 1;
    float s = 0;
    for (int i = threadIdx.x; i < n; i += 32) {
        float v = a[first + i];
        for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffff, v, d);
        s += v;
    }
    if (threadIdx.x == 0) out[blockIdx.x] = s;
}
void run(const int *begin, const int *end, const float *a, float *out, int *next, int leaves) {
    sums<<<leaves, 32>>>(begin, end, a, out, next);
    cudaDeviceSynchronize();
}
";

#[test]
fn an_element_that_the_whole_block_reads_is_one_number() {
    let found = of("warp-mask-mismatch", SEGMENTS);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(found.first().map(|finding| finding.confidence), Some(Confidence::Likely));
    for (from, to) in [
        // All lanes go round as often.
        ("i < n; i += 32", "i < (n + 31) / 32 * 32; i += 32"),
        ("int i = threadIdx.x; i < n; i += 32", "int i = 0; i < n; i++"),
        // The kernel writes where it reads.
        ("out[blockIdx.x] = s;", "{ out[blockIdx.x] = s; ((int *)end)[blockIdx.x] = 0; }"),
        // Each lane reads a bound of its own, or the bound may change.
        ("end[blockIdx.x] - first", "end[threadIdx.x] - first"),
        ("end[blockIdx.x] - first", "((const volatile int *)end)[blockIdx.x] - first"),
        // One number alone is taken to be a multiple of the warp.
        ("end[blockIdx.x] - first + 1", "end[blockIdx.x]"),
    ] {
        assert!(SEGMENTS.contains(from), "{from}");
        let found = of("warp-mask-mismatch", &SEGMENTS.replace(from, to));
        assert!(found.is_empty(), "{to}: {found:#?}");
    }
}
