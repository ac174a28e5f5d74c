//! Damaged text may take findings away; it never makes one.

use crate::support::kernel;

const KERNELS: &[&str] = &[
    "__global__ void k(float* a, float* b, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) { float v = a[i]; b[i] = v * 2.0f + 1.0f; } }",
    "__global__ void k(float* a, float* b, int n) { __shared__ float s[256]; int t = threadIdx.x, i = blockIdx.x * 256 + t;
        s[t] = i < n ? a[i] : 0.f; __syncthreads();
        for (int d = 128; d > 0; d >>= 1) { if (t < d) { s[t] += s[t + d]; } __syncthreads(); }
        if (t == 0) { b[blockIdx.x] = s[0]; } }",
    "__global__ void k(float* a, float* b, int n) { __shared__ float s[2][128]; int t = threadIdx.x & 127; float v = 0;
        for (int j = 0; j < n; j += 128) { if (threadIdx.x < 128) { s[(j / 128) & 1][t] = j + t < n ? a[j + t] : 0; } __syncthreads();
            v += s[(j / 128) & 1][127 - t]; __syncthreads(); }
        if (threadIdx.x < 128 && blockIdx.x == 0) { b[t] = v; } }",
    "__device__ int clampi(int x, int high) { if (x > high) { return high; } return x < 0 ? 0 : x; }
     __global__ void k(float* a, float* b, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) { return; }
        switch (i & 3) { case 0: b[i] = a[clampi(i - 1, n - 1)]; break; case 1: b[i] = a[clampi(i + 1, n - 1)]; break;
            default: b[i] = 0; } }",
    "__global__ void k(float* a, float* b, int n) { int t = threadIdx.x; float v = t < n ? a[t] : 0.f;
        for (int o = 16; o > 0; o /= 2) { v += __shfl_down_sync(0xffffffff, v, o); }
        __shared__ float s[8]; if (t % 32 == 0) { s[t / 32] = v; } __syncthreads();
        do { v = t < 8 ? s[t] : 0.f; } while (v < 0.f && t > 400); if (t < 8 && blockIdx.x == 0) { b[t] = v; } }",
];

/// Words, numbers and signs, with their bytes.
fn tokens(text: &str) -> Vec<(usize, usize)> {
    let mut tokens = Vec::new();
    let mut start = None;
    for (at, character) in text.char_indices().chain([(text.len(), ' ')]) {
        let word = character.is_alphanumeric() || character == '_';
        if let Some(from) = start
            && !word
        {
            tokens.push((from, at));
            start = None;
        }
        if word {
            start.get_or_insert(at);
        } else if !character.is_whitespace() {
            tokens.push((at, at + character.len_utf8()));
        }
    }
    tokens
}

#[test]
fn the_kernels_themselves_are_clean() {
    for text in KERNELS {
        kernel(text).grid(4).buffer(4000).buffer(4000).int(1000).clean_and_complete();
    }
}

#[test]
fn text_with_a_token_taken_out_or_doubled_says_nothing_new() {
    for text in KERNELS {
        // A brace less or more makes another program of what stands before the damage.
        let tokens = tokens(text).into_iter().filter(|&(from, to)| !matches!(&text[from..to], "{" | "}"));
        for (number, (from, to)) in tokens.enumerate() {
            let without = format!("{} {}", &text[..from], &text[to..]);
            let twice = format!("{} {} {}", &text[..to], &text[from..to], &text[to..]);
            for damaged in [without, twice].iter().take(if number % 4 == 0 { 2 } else { 1 }) {
                let case = kernel(damaged).grid(2).buffer(4000).buffer(4000).int(1000);
                if case.is_damaged() {
                    case.clean();
                } else {
                    // Another program: whatever is said of it, saying it must not fail.
                    case.seen();
                }
            }
        }
    }
}
