//! Conditions that nobody knows, of the whole block or of each thread: told of, and assumed.

use crate::support::kernel;

const HALVES: &str = "__global__ void k(float* out, const float* in, const int* flags) { __shared__ float s[256]; \
    int i = threadIdx.x; if (flags[blockIdx.x] > 0) { s[i] = in[i]; BARRIER out[i] = s[255 - i]; } }";
const TILES: &str = "__global__ void k(float* out, const float* in, const int* count) { __shared__ float s[256]; \
    int i = threadIdx.x; int n = count[0]; float sum = 0; for (int t = 0; t < n; t += 256) { s[i] = in[t + i]; \
    __syncthreads(); for (int j = 0; j < 256; j += 64) sum += s[j]; BARRIER } out[i] = sum; }";

fn with(text: &str, barrier: &str) -> crate::support::Case {
    kernel(&text.replace("BARRIER", barrier)).buffer(1024).buffer(4096).buffer(64)
}

#[test]
fn a_condition_of_the_whole_block_is_told_of() {
    let open = |case: &crate::support::Case| case.open();
    assert_eq!(open(&with(HALVES, "")), ["flags[blockIdx.x]>0 if true"]);
    assert_eq!(open(&with(TILES, "")), ["t<n loop true"]);
    // The rounds move on: behind the first nobody knows where.
    let moving = TILES.replace("s[i] = in[t + i];", "s[(i + t) % 256] = in[t + i];");
    assert_eq!(open(&with(&moving, "")), ["t<n loop true"]);
    // Each thread has one of its own, or nobody meets behind it.
    let own = HALVES.replace("flags[blockIdx.x]", "flags[threadIdx.x]");
    assert_eq!(open(&with(&own, "__syncthreads();")), ["flags[threadIdx.x]>0 threads true"]);
    let alone =
        "__global__ void k(float* out, const float* in, const int* flags) { if (flags[0] > 0) out[threadIdx.x] = 1; }";
    assert!(open(&with(alone, "")).is_empty());
}

#[test]
fn what_the_block_does_behind_it_is_seen_with_an_answer() {
    with(HALVES, "").clean();
    with(HALVES, "").assuming().sees(&["race block Write s[i] / Read s[255-i]"]);
    with(HALVES, "__syncthreads();").assuming().clean();
    with(TILES, "").clean();
    with(TILES, "").assuming().sees(&["race block Read s[j] / Write s[i] across"]);
    with(TILES, "__syncthreads();").assuming().clean();
    // Who goes on did not leave.
    let leaves = HALVES.replace("if (flags[blockIdx.x] > 0) {", "if (flags[blockIdx.x] == 0) return; {");
    with(&leaves, "").assuming().sees(&["race block Write s[i] / Read s[255-i]"]);
    with(&leaves, "__syncthreads();").assuming().clean();
}

#[test]
fn a_condition_asked_twice_has_one_answer() {
    let twice = "__global__ void k(float* out, const float* in, const int* flags) { __shared__ float s[256]; \
        int i = threadIdx.x; int go = flags[0]; if (go) s[i] = in[i]; BARRIER if (go) out[i] = s[255 - i]; }";
    with(twice, "").assuming().sees(&["race block Write s[i] / Read s[255-i]"]);
    with(twice, "__syncthreads();").assuming().clean();
}

#[test]
fn some_threads_pass_a_condition_of_their_own() {
    let text = "__global__ void k(float* out, const float* in) { __shared__ float s[256]; int i = threadIdx.x; s[i] = in[i]; \
        __syncthreads(); if (in[i] > in[255 - i]) s[i] = 0; BARRIER out[i] = s[255 - i]; }";
    assert_eq!(with(text, "").open(), ["in[i]>in[255-i] threads true"]);
    with(text, "").clean();
    with(text, "").assuming().sees(&["race block Write s[i] / Read s[255-i]"]);
    with(text, "__syncthreads();").assuming().clean();
    // Those that do not pass it.
    let leaves = text.replace("if (in[i] > in[255 - i]) s[i] = 0;", "if (in[i] > 0) {} else s[i] = 0;");
    with(&leaves, "").assuming().sees(&["race block Write s[i] / Read s[255-i]"]);
    // Perhaps a single one passes: nothing is said of two that do.
    let one = text.replace("s[i] = 0;", "s[0] = in[i];").replace("s[255 - i]", "s[i]");
    with(&one, "__syncthreads();").assuming().clean();
    // Nor does it tell what such threads leave behind.
    let left = "__global__ void k(float* out, const float* in) { __shared__ float s[256]; int i = threadIdx.x, at = i; \
        s[i] = in[i]; __syncthreads(); if (in[i] > 0) { at = 0; s[i] = 1; } __syncthreads(); s[at] = in[i]; }";
    with(left, "").assuming().clean();
}

#[test]
fn accesses_at_unknown_places_are_told_of() {
    let text = "__global__ void k(int* out, const int* in) { __shared__ int s[256]; int i = threadIdx.x; s[i] = 0; BARRIER \
        atomicAdd(&s[in[i] & 255], 1); __syncthreads(); out[i] = s[i]; }";
    assert_eq!(with(text, "").unplaced(), ["atomicAdd(&s[in[i] & 255], 1)"]);
    with(text, "").clean();
}

#[test]
fn tiles_of_matrices_are_read_and_written_by_warps() {
    let text = "__global__ void k(float* out) { __shared__ half s[8][256]; __shared__ float r[8][256]; \
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a; \
        wmma::fragment<wmma::accumulator, 16, 16, 16, float> c; \
        int warp = threadIdx.x / 32; for (int i = threadIdx.x; i < 2048; i += blockDim.x) (&s[0][0])[i] = __float2half(0.f); \
        BARRIER wmma::load_matrix_sync(a, &s[warp ^ 1][0], 16); wmma::store_matrix_sync(&r[warp][0], c, 16, wmma::mem_row_major); \
        SECOND out[threadIdx.x] = r[7 - warp][threadIdx.x % 32]; }";
    let with = |first: &str, second: &str| {
        kernel(&text.replace("BARRIER", first).replace("SECOND", second)).buffer(1024).seen()
    };
    let sync = "__syncthreads();";
    assert_eq!(with(sync, sync), [""; 0]);
    let first = with("", sync);
    assert!(
        first.len() == 1 && first[0].starts_with("race block Write (&s[0][0])[i] / Read wmma::load_matrix_sync"),
        "{first:?}"
    );
    let second = with(sync, "");
    assert!(second.len() == 1 && second[0].starts_with("race block Write wmma::store_matrix_sync"), "{second:?}");
}
