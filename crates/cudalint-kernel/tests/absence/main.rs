//! Statements of absence: which are made of which kernels, and that no execution contradicts one.

#![allow(clippy::unwrap_used, clippy::panic)]

#[allow(dead_code)]
#[path = "../../../xtask/src/random.rs"]
mod numbers;
mod random;
#[allow(dead_code)]
#[path = "../twins/random.rs"]
mod twins;

use cudalint_kernel::Code;
use cudalint_kernel::lower;
use cudalint_kernel::readings::absence::{Absence, Extent, Says, Shape, absence};
use cudalint_program::types::TypeEnv;
use cudalint_program::{ProjectOptions, load_texts};

fn code(text: &str) -> Code {
    let project = load_texts(&[("a.cu", text)], &ProjectOptions::default()).unwrap().project;
    let (module, kernel) = project.kernels().next().unwrap();
    lower(&project, module, kernel, &TypeEnv::default()).unwrap()
}

fn blocks(shape: &Shape) -> String {
    let bounded: Vec<String> = shape.most.iter().flatten().take(shape.axes.into()).map(ToString::to_string).collect();
    match (shape.exactly, bounded.is_empty()) {
        (true, _) => format!("of {}", bounded.join("x")),
        (false, true) => format!("any{}", shape.axes),
        (false, false) => format!("any{} to {}", shape.axes, bounded.join("x")),
    }
}

fn shown(absence: &Absence) -> Vec<String> {
    let mut all: Vec<String> = absence
        .statements
        .iter()
        .map(|it| match &it.says {
            Says::NoRace => format!("{} no race, {}", it.name, blocks(&it.blocks)),
            Says::Within(Extent::Declared) => format!("{} within, {}", it.name, blocks(&it.blocks)),
            Says::Within(Extent::Elements(count, _)) => format!("{} within {count}, {}", it.name, blocks(&it.blocks)),
        })
        .collect();
    all.extend(absence.open.iter().map(|(name, refusal)| format!("{name}: {}", refusal.cause)));
    all
}

fn says(text: &str) -> Vec<String> {
    shown(&absence(&code(text), &[]))
}

/// Of the first shared array: for which blocks nobody races, or why that is not said.
#[track_caller]
fn races(text: &str, expected: &str) {
    let all = says(text);
    let found = all.iter().find(|it| it.contains("no race") || it.contains(": ")).cloned().unwrap_or_default();
    assert_eq!(found, expected, "{text}\n{all:#?}");
}

#[track_caller]
fn within(text: &str, expected: &[&str]) {
    let all: Vec<String> = says(text).into_iter().filter(|it| it.contains(" within")).collect();
    assert_eq!(all, expected, "{text}");
}

const SAME: &str = "s: two threads may touch the same element";
const APART: &str = "s: a barrier behind a condition that is not the same for all threads";

#[test]
fn each_thread_has_its_own_element() {
    races("__global__ void k(int n) { __shared__ int s[256]; s[threadIdx.x] = n; }", "s no race, any1");
    races("__global__ void k(int n) { __shared__ int s[256]; s[(int)threadIdx.x + n] = n; }", "s no race, any1");
    races("__global__ void k(int n) { __shared__ int s[256]; s[n - (int)threadIdx.x] = n; }", "s no race, any1");
    races("__global__ void k(int n) { __shared__ int s[256]; s[0] = n; }", SAME);
    races("__global__ void k(int n) { __shared__ int s[256]; if (threadIdx.x == 0) s[0] = n; }", "s no race, any1");
    races("__global__ void k(int n) { __shared__ int s[256]; if (threadIdx.x == n) s[0] = n; }", "s no race, any1");
    races("__global__ void k(int n) { __shared__ int s[256]; if (threadIdx.x <= 1) s[0] = n; }", SAME);
    races("__global__ void k(int n) { __shared__ int s[256]; s[threadIdx.x / 2] = n; }", SAME);
    races(
        "__global__ void k(int n) { __shared__ int s[256]; if (threadIdx.x % 2 == 0) s[threadIdx.x / 2] = n; }",
        "s no race, any1",
    );
    races(
        "__global__ void k(int n) { __shared__ int s[32]; if ((threadIdx.x & 31) == 0) s[threadIdx.x >> 5] = n; }",
        "s no race, any1",
    );
    // An index of which nothing is known, and one that wraps around.
    races("__global__ void k(const int* p) { __shared__ int s[256]; s[p[threadIdx.x]] = 1; }", SAME);
    races("__global__ void k(unsigned n) { __shared__ int s[256]; s[threadIdx.x * n] = 1; }", SAME);
}

#[test]
fn a_barrier_parts_what_stands_before_it_from_what_stands_behind() {
    let kernel = |middle: &str| {
        format!(
            "__global__ void k(float* out, int n) {{ __shared__ float s[257]; int t = threadIdx.x;\n\
             s[t] = out[t];\n{middle}\nout[t] = s[t + 1]; }}"
        )
    };
    races(&kernel("__syncthreads();"), "s no race, any1");
    races(&kernel(""), SAME);
    races(&kernel("__syncwarp();"), SAME);
    races(&kernel("if (n > 3) __syncthreads();"), SAME);
    races(&kernel("if (n > 3) __syncthreads(); else __syncthreads();"), "s no race, any1");
    races(&kernel("if (t > 3) __syncthreads();"), APART);
    races(&kernel("if (t > n) return;\n__syncthreads();"), "s no race, any1");
    races(&kernel("helper();"), SAME);
    races(&kernel("helper(s);"), "s: a call that is out of sight");
    races(&kernel("helper(n); __syncthreads();"), "s no race, any1");
}

#[test]
fn reductions_over_a_block() {
    let kernel = |head: &str, guard: &str, barrier: &str| {
        format!(
            "__global__ void k(const float* in, float* out) {{ __shared__ float s[1024]; unsigned t = threadIdx.x;\n\
             s[t] = in[blockIdx.x * blockDim.x + t];\n__syncthreads();\n\
             for ({head}) {{ if ({guard}) s[t] += s[t + d];\n{barrier} }}\n\
             if (t == 0) out[blockIdx.x] = s[0]; }}"
        )
    };
    let halves = "unsigned d = blockDim.x / 2; d > 0; d >>= 1";
    races(&kernel(halves, "t < d", "__syncthreads();"), "s no race, any1");
    races(&kernel("int d = 128; d > 0; d /= 2", "t < d", "__syncthreads();"), "s no race, any1");
    races(&kernel(halves, "t <= d", "__syncthreads();"), SAME);
    races(&kernel(halves, "t < d", ""), SAME);
    races(&kernel(halves, "t < 2 * d", "__syncthreads();"), SAME);
    let doubles = "unsigned d = 1; d < blockDim.x; d *= 2";
    races(&kernel(doubles, "t % (2 * d) == 0", "__syncthreads();"), "s no race, any1");
    races(&kernel(doubles, "t % d == 0", "__syncthreads();"), SAME);
    // A last barrier that only some rounds come by.
    races(&kernel(halves, "t < d", "if (d > 32) __syncthreads();"), "s: a round of a loop that may come by no barrier");
    races(
        &kernel("unsigned d = t; d > 0; d >>= 1", "t < d", "__syncthreads();"),
        "s: a loop with a barrier whose rounds are not the same for all threads",
    );
}

#[test]
fn tiles_of_two_dimensions() {
    let kernel = |extents: &str, between: &str, behind: &str| {
        format!(
            "__global__ void k(const float* a, const float* b, float* c, int n) {{ __shared__ float s{extents};\n\
             __shared__ float z{extents};\nint x = threadIdx.x, y = threadIdx.y; float sum = 0;\n\
             for (int m = 0; m < n / 16; ++m) {{\n s[y][x] = a[(blockIdx.y * 16 + y) * n + m * 16 + x];\n\
             z[y][x] = b[(m * 16 + y) * n + x];\n{between}\n for (int i = 0; i < 16; ++i) sum += s[y][i] * z[i][x];\n\
             {behind}\n }}\n c[(blockIdx.y * 16 + y) * n + x] = sum; }}"
        )
    };
    let barrier = "__syncthreads();";
    races(&kernel("[16][16]", barrier, barrier), "s no race, any2 to 16");
    races(&kernel("[16][17]", barrier, barrier), "s no race, any2 to 17");
    races(&kernel("[16][16]", barrier, ""), SAME);
    races(&kernel("[16][16]", "", barrier), SAME);
    races(&kernel("[16][16]", "", ""), SAME);
    let transpose = |last: &str| {
        format!(
            "__global__ void k(const float* in, float* out, int w) {{ __shared__ float s[32][33];\n\
             int x = threadIdx.x, y = threadIdx.y;\n\
             for (int j = 0; j < 32; j += {last}) s[y + j][x] = in[(y + j) * w + x];\n__syncthreads();\n\
             for (int j = 0; j < 32; j += {last}) out[(y + j) * w + x] = s[x][y + j]; }}"
        )
    };
    let found = shown(&absence(&code(&transpose("8")), &[[32, 8, 1]]));
    assert!(found.iter().any(|it| it == "s no race, any2 to 32x8"), "{found:?}");
    let found = shown(&absence(&code(&transpose("4")), &[[32, 8, 1]]));
    assert!(found.contains(&SAME.to_owned()), "{found:?}");
}

#[test]
fn loops_over_more_elements_than_threads() {
    let kernel = |start: &str, step: &str| {
        format!(
            "__global__ void k(const float* in, float* out, int n) {{ __shared__ float s[4096];\n\
             for (int i = {start}; i < n; i += {step}) s[i] = in[i];\n__syncthreads();\n\
             for (int i = 0; i < n; ++i) out[threadIdx.x] += s[i]; }}"
        )
    };
    races(&kernel("threadIdx.x", "blockDim.x"), "s no race, any1");
    races(&kernel("threadIdx.x", "blockDim.x - 1"), SAME);
    races(&kernel("threadIdx.x", "128"), SAME);
    races(&kernel("0", "1"), SAME);
    races(&kernel("2 * threadIdx.x", "2 * blockDim.x"), "s no race, any1");
}

#[test]
fn what_is_not_followed_ends_in_no_statement() {
    let kernel = |body: &str| {
        format!(
            "__device__ int* where; __device__ void f(int* p) {{ p[threadIdx.x] = 1; }}\n\
             __device__ void g(int* p) {{ where = p; }}\n\
             __global__ void k(int* p, int n) {{ __shared__ int s[256]; int t = threadIdx.x;\n{body} }}"
        )
    };
    races(&kernel("f(s);"), "s no race, any1");
    races(&kernel("f(s + 1); f(s);"), SAME);
    races(&kernel("f(s + 1); __syncthreads(); f(s);"), "s no race, any1");
    races(&kernel("g(s); where[3] = 2;"), "s: addresses of shared memory are kept in memory");
    races(&kernel("s[t] = 1; h(s);"), "s: a call that is out of sight");
    races(&kernel("s[t] = 1; n = NAME;"), "s: name out of sight");
    races(&kernel("atomicAdd(&s[0], 1);"), "s no race, any1");
    races(&kernel("atomicAdd(&s[0], 1); s[t + 1] = 2;"), "s no race, any1");
    races(&kernel("atomicAdd(&s[0], 1); s[t] = 2;"), SAME);
    races(&kernel("int* q = n > 2 ? s : p; q[t] = 1;"), "s: a pointer of which nobody knows where it leads");
    races(&kernel("int* q = s; q += t; *q = 1;"), "s no race, any1");
    races(&kernel("switch (n) { case 1: s[t] = 1; break; default: s[t] = 2; }"), "s no race, any1");
    races(&kernel("switch (t) { case 1: s[0] = 1; break; default: s[t] = 2; }"), SAME);
    races(
        &kernel("while (true) { s[t] = 1; __syncthreads(); if (s[0] == n) break; __syncthreads(); }"),
        "s: threads leave a round apart that has a barrier",
    );
}

#[test]
fn accesses_stay_within() {
    let guarded = |guard: &str, access: &str| {
        format!(
            "__global__ void k(float* a, const float* b, int n) {{\n\
             int i = blockIdx.x * blockDim.x + threadIdx.x;\n {guard} {access}; }}"
        )
    };
    within(&guarded("if (i < n)", "a[i] = b[i]"), &["a within n, any1", "b within n, any1"]);
    within(&guarded("if (i >= n) return;", "a[i] = b[i]"), &["a within n, any1", "b within n, any1"]);
    within(&guarded("if (i <= n)", "a[i] = b[n]"), &["a within gridDim.x * blockDim.x, any1"]);
    within(&guarded("if (i < n - 1)", "a[i + 1] = b[i]"), &["a within n, any1", "b within n, any1"]);
    within(&guarded("if (i < n)", "a[i - 1] = b[i]"), &["b within n, any1"]);
    within(
        &guarded("for (; i < n; i += blockDim.x * gridDim.x)", "a[i] = b[blockIdx.x]"),
        &["a within n, any1", "b within n, any1"],
    );
    within(
        &guarded("", "a[i] = b[blockIdx.x]"),
        &["a within gridDim.x * blockDim.x, any1", "b within gridDim.x, any1"],
    );
    within(&guarded("", "a[i] = 1"), &["a within gridDim.x * blockDim.x, any1"]);
    within(
        "__global__ void k(float* a, int w, int h) { int x = blockIdx.x * blockDim.x + threadIdx.x;\n\
         int y = blockIdx.y * blockDim.y + threadIdx.y; if (x < w && y < h) a[y * w + x] = 1; }",
        &["a within w * h, any2"],
    );
    within(
        "__global__ void k(float* a, int w, int h) { int x = blockIdx.x * blockDim.x + threadIdx.x;\n\
         int y = blockIdx.y * blockDim.y + threadIdx.y; if (x < w && y < h) a[x * w + y] = 1; }",
        &[],
    );
    within("__global__ void k(int n) { __shared__ int s[256]; s[threadIdx.x] = 1; }", &["s within, any1 to 256"]);
    within("__global__ void k(int n) { __shared__ int s[256]; s[threadIdx.x + 1] = 1; }", &[]);
    within(
        "__global__ void k(int n) { __shared__ int s[256]; if (threadIdx.x < 256) s[threadIdx.x] = n; }",
        &["s within, any1"],
    );
}
