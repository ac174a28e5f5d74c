use crate::support::kernel;

const SAXPY: &str = "__global__ void k(float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    GUARD y[i] = 2 * x[i] + y[i]; }";

#[test]
fn a_kernel_without_a_guard_leaves_its_arrays_in_the_last_block() {
    kernel(&SAXPY.replace("GUARD", "")).grid(4).buffer(4000).buffer(4000).int(1000).sees(&[
        "outside x[i] at 4000 by 3.232 x24 plain",
        "outside y[i] at 4000 by 3.232 x24 plain",
        "outside y[i] at 4000 by 3.232 x24 plain",
    ]);
}

#[test]
fn guards_in_every_spelling_keep_it_inside() {
    for guard in [
        "if (i < n)",
        "if (i >= n) return;",
        "if (!(i < n)) return; else",
        "for (; i < n; i += gridDim.x * blockDim.x)",
    ] {
        kernel(&SAXPY.replace("GUARD", guard)).grid(4).buffer(4000).buffer(4000).int(1000).clean_and_complete();
    }
}

#[test]
fn a_guard_that_is_off_by_one_is_named_by_the_one_thread() {
    kernel(&SAXPY.replace("GUARD", "if (i <= n)"))
        .grid(4)
        .buffer(4000)
        .buffer(4004)
        .int(1000)
        .sees(&["outside x[i] at 4000 by 3.232 x1 plain"]);
}

#[test]
fn an_unsigned_index_that_wraps_says_where() {
    kernel("__global__ void k(float* x) { unsigned i = threadIdx.x; x[i - 1] = 0; }")
        .buffer(1024)
        .sees(&["outside x[i-1] at 17179869180 by 0.0 x1 wrapped i-1"]);
}

#[test]
fn an_int_product_that_overflows_says_where() {
    kernel("__global__ void k(float* x, int w) { long i = w * w; x[i] = 0; }").block(1).buffer(1024).int(65536).clean();
    kernel("__global__ void k(float* x, int w) { long i = w * (w + 1) / 2; x[i] = 0; }")
        .block(1)
        .buffer(1024)
        .int(50000)
        .sees(&["outside x[i] at -3589834592 by 0.0 x1 wrapped w*(w+1"]);
}

#[test]
fn a_vector_at_the_end_is_cut_and_one_at_an_odd_place_is_misaligned() {
    let text = "__global__ void k(float* x, int n) { int i = threadIdx.x; if (4 * i < n) {
        float4 v = reinterpret_cast<float4*>(x + SHIFT)[i]; reinterpret_cast<float4*>(x + SHIFT)[i] = v; } }";
    kernel(&text.replace("SHIFT", "0")).buffer(1028).int(256).clean_and_complete();
    let seen = kernel(&text.replace("SHIFT", "0")).buffer(1028).int(257).seen();
    assert!(seen.iter().any(|e| e.starts_with("outside") && e.contains("at 1024")), "{seen:?}");
    let seen = kernel(&text.replace("SHIFT", "1")).buffer(4096).int(256).seen();
    assert!(seen.iter().any(|e| e.starts_with("misaligned") && e.ends_with("at 4 to 16")), "{seen:?}");
}

#[test]
fn two_dimensions() {
    let text = "__global__ void k(float* a, int w, int h) {
        int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
        if (GUARD) a[INDEX] = 1; }";
    let case = |guard: &str, index: &str| {
        kernel(&text.replace("GUARD", guard).replace("INDEX", index))
            .grid2(3, 2)
            .block2(16, 16)
            .buffer(40 * 20 * 4)
            .int(40)
            .int(20)
    };
    case("x < w && y < h", "y * w + x").clean_and_complete();
    case("x < w || y < h", "y * w + x")
        .sees(&["outside a[y*w+x] at 3200 by 102.8,3 x488", "race grid same Write a[y*w+x] / Write a[y*w+x]"]);
    case("x < h && y < w", "x * w + y").clean_and_complete();
}

#[test]
fn shared_and_local_arrays_have_ends() {
    kernel("__global__ void k(float* a) { __shared__ float s[100]; s[threadIdx.x] = a[threadIdx.x]; }")
        .buffer(1024)
        .sees(&["outside s[threadIdx.x] at 400 by 0.100 x156"]);
    kernel("__global__ void k(int* a) { int t[8]; for (int i = 0; i <= 8; i++) t[i] = i; a[threadIdx.x] = t[threadIdx.x % 8]; }")
        .buffer(1024)
        .sees(&["outside t[i] at 32 by 0.0 x256"]);
    kernel("__global__ void k(float* a) { extern __shared__ float s[]; s[threadIdx.x] = a[threadIdx.x]; }")
        .buffer(1024)
        .dynamic(256)
        .sees(&["outside s[threadIdx.x] at 256 by 0.64 x192"]);
}

#[test]
fn a_condition_that_short_circuits_guards_what_comes_behind_it() {
    kernel("__global__ void k(int* a, int n) { int i = threadIdx.x; if (i < n && a[i] > 0) a[i] = 0; int v = i < n ? a[i] : 0; if (v) a[0] = 0; }")
        .buffer(400)
        .int(100)
        .clean();
}

#[test]
fn a_loop_that_runs_long_is_left_and_what_follows_is_seen() {
    kernel("__global__ void k(float* a, float* b, int n) { float s = 0; for (int i = 0; i < n; i++) s += b[i]; a[threadIdx.x] = s; }")
        .buffer(1020)
        .buffer(4_000_000)
        .int(1_000_000)
        .sees(&["outside a[threadIdx.x] at 1020 by 0.255 x1"]);
}

#[test]
fn the_last_round_of_a_long_loop_is_seen() {
    let text = "__global__ void k(const float* b, float* a, int n) { float s = 0; for (int i = 0; CONDITION; STEP) s += b[i]; a[threadIdx.x] = s; }";
    let case = |condition: &str, step: &str| {
        kernel(&text.replace("CONDITION", condition).replace("STEP", step))
            .buffer(4_000_000)
            .buffer(1024)
            .int(1_000_000)
    };
    case("i < n", "i++").clean();
    case("i <= n", "i++").sees(&["outside b[i] at 4000000 by 0.0 x256"]);
    case("i < n", "i += 3").clean();
    case("i < n + 3", "i += 3").sees(&["outside b[i] at 4000008 by 0.0 x256"]);
    case("i != n", "++i").clean();
    // Whether it comes to the last round nobody knows.
    case("i <= n", "i++").launch_text("s += b[i];", "{ if (b[i] > 3) break; s += b[i]; }").clean();
    // A tile at a time.
    kernel("__global__ void k(float* a, float* b, int n) { __shared__ float s[256]; float v = 0; int t = threadIdx.x;
        for (int i = 0; i < n; i += 256) { s[t] = a[i + t]; __syncthreads(); for (int j = 0; j < 256; j++) v += s[j]; __syncthreads(); } b[t] = v; }")
    .buffer(4_000_000)
    .buffer(1024)
    .int(1_000_000)
    .sees(&["outside a[i+t] at 4000000 by 0.64 x192"]);
}

#[test]
fn functions_of_bits_are_computed() {
    // Rotated by eight, thread 1 is at 256; the others of the block of two stay below.
    for (index, at) in [
        ("__funnelshift_l(t, t, 8)", 1024),
        ("__funnelshift_l(t << 24, 0, 16)", 1024),
        ("__funnelshift_r(0, t, 24)", 1024),
        ("__byte_perm(t, 0, 0x4404)", 1024),
        ("__popc(t) << 8", 1024),
        ("__umulhi(t << 24, 1u << 16)", 1024),
        ("__usad(0, t << 7, t << 7)", 1024),
        ("__sad(t << 7, -128, 0)", 1024),
    ] {
        kernel(&format!("__global__ void k(float* x) {{ unsigned t = threadIdx.x; x[{index}] = 0; }}"))
            .block(2)
            .buffer(1024)
            .sees(&[&format!("outside x[{}] at {at} by 0.1 x1", index.replace(' ', ""))]);
    }
}

#[test]
fn macros_that_are_heads_of_statements_guard_what_stands_behind_them() {
    let macros = "\n#define IN_RANGE(i, n) if ((i) < (n))\n#define MASTER if (threadIdx.x == 0)\n#define REPEAT(n) for (int r = 0; r < (n); ++r)\n#define WHEN(x) if (x) {\n#define DONE }\n";
    for guarded in ["IN_RANGE(i, n) a[i] = 1;", "WHEN(i < n) a[i] = 1; DONE", "REPEAT(2) IN_RANGE(i, n) a[i] = r;"] {
        kernel(&format!("{macros}__global__ void k(int* a, int n) {{ int i = threadIdx.x; {guarded} }}"))
            .buffer(400)
            .int(100)
            .clean();
    }
    // Its condition is evaluated; with a `;` of its own it guards nothing.
    kernel(&format!(
        "{macros}__global__ void k(int* a, int n) {{ int i = threadIdx.x; IN_RANGE(i, n + 1) a[i] = 1; }}"
    ))
    .buffer(400)
    .int(100)
    .sees(&["outside a[i] at 400 by 0.100 x1"]);
    kernel(&format!("{macros}__global__ void k(int* a, int n) {{ int i = threadIdx.x; IN_RANGE(i, n); a[i] = 1; }}"))
        .buffer(1020)
        .int(100)
        .sees(&["outside a[i] at 1020 by 0.255 x1"]);
    // An assignment that reads like a declaration.
    kernel(&format!(
        "{macros}__global__ void k(int* a) {{ __shared__ int s; MASTER s = 0; __syncthreads(); a[threadIdx.x] = s; }}"
    ))
    .buffer(1024)
    .clean();
}
