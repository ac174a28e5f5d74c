//! What executed kernels show comes out as findings: one for each defect, with the numbers that show it.
#![allow(clippy::panic, clippy::indexing_slicing)]

mod common;

use common::{findings, of};
use cudalint_engine::Engine;
use cudalint_findings::{AccessKind, Confidence, Finding};

fn line(text: &str, finding: &Finding) -> usize {
    text[..finding.place.range.start].matches('\n').count() + 1
}

const TAIL: &str = "__global__ void sum(const int *values, int *total) {
    __shared__ volatile int parts[64];
    int t = threadIdx.x;
    parts[t] = values[t];
    __syncthreads();
    if (t < 32) {
        parts[t] += parts[t + 32];
        parts[t] += parts[t + 16];
        parts[t] += parts[t + 8];
        parts[t] += parts[t + 4];
    }
    if (t == 0) *total = parts[0];
}
int main() {
    int *values, *total;
    cudaMalloc(&values, 64 * sizeof(int));
    cudaMalloc(&total, sizeof(int));
    cudaMemset(values, 1, 64 * sizeof(int));
    sum<<<1, 64>>>(values, total);
}
";

#[test]
fn the_steps_of_one_reduction_are_one_finding() {
    let found = of("implicit-warp-sync", TAIL);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(line(TAIL, &found[0]), 8);
    assert!(found[0].related.iter().any(|label| label.message.starts_with("also: ")));
    assert!(of("shared-memory-race", TAIL).is_empty());
}

#[test]
fn another_launch_does_not_tell_the_same_defect_again() {
    let text = "__global__ void clear(float *values) { values[blockIdx.x * blockDim.x + threadIdx.x] = 0; }
int main(int argc, char **argv) {
    float *values;
    cudaMalloc(&values, 1000 * sizeof(float));
    clear<<<4, 256>>>(values);
    clear<<<8, 128>>>(values);
    clear<<<2, 512>>>(values);
}
";
    let found = of("missing-bounds-guard", text);
    assert_eq!(found.len(), 1, "{found:#?}");
}

#[test]
fn a_witness_names_thread_element_and_launch() {
    let text = "__global__ void copy(const float *from, float *to, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y <= n) to[y * n + x] = from[y * n + x];
}
int main() {
    float *from, *to;
    cudaMalloc(&from, 2500 * sizeof(float));
    cudaMalloc(&to, 2500 * sizeof(float));
    cudaMemset(from, 0, 2500 * sizeof(float));
    copy<<<dim3(4, 4), dim3(16, 16)>>>(from, to, 50);
}
";
    let found = of("guard-does-not-cover-access", text);
    // Read and write under one condition by one thread.
    assert_eq!(found.len(), 1, "{found:#?}");
    let finding = &found[0];
    assert_eq!(finding.confidence, Confidence::Definite);
    assert_eq!(finding.function, "copy");
    let Some(witness) = &finding.witness else { panic!("no witness") };
    let Some(launch) = &finding.claim.launch else { panic!("no launch") };
    assert_eq!((launch.grid, launch.block, launch.shared_bytes), ([4, 4, 1], [16, 16, 1], 0));
    let access = &finding.claim.accesses()[0];
    assert_eq!((access.extent, access.kind), (2500, AccessKind::Read));
    let [x, y] = [0, 1].map(|axis| access.block[axis] * 16 + access.thread[axis]);
    assert_eq!((y, y * 50 + x), (50, access.index as u64));
    let words = format!("reads element {} of `from`, which has 2500: `x < n && y <= n`", access.index);
    assert!(finding.message.contains(&words), "{}", finding.message);
    assert!(witness.assumptions.is_empty());
    assert!(witness.bindings.contains(&("n".to_owned(), 50)));
}

#[test]
fn a_chosen_size_is_the_one_assumption() {
    let text = "__global__ void clear(float *values, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) values[i] = 0;
}
void run(int n) {
    float *values;
    cudaMalloc(&values, n * sizeof(float));
    clear<<<(n + 127) / 128, 128>>>(values, n);
}
";
    let found = of("guard-does-not-cover-access", text);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(found[0].confidence, Confidence::Likely);
    let Some(witness) = &found[0].witness else { panic!("no witness") };
    assert_eq!(witness.assumptions.len(), 1);
    assert_eq!(found[0].claim.accesses()[0].index, found[0].claim.accesses()[0].extent);
}

#[test]
fn one_missing_barrier_is_one_finding_whatever_reads() {
    let text = "__global__ void mix(float *values) {
    __shared__ float staged[256];
    int t = threadIdx.x;
    staged[t] = values[t];
    values[t] = staged[255 - t] + staged[t ^ 1] + staged[(t + 32) % 256];
}
int main() {
    float *values;
    cudaMalloc(&values, 256 * sizeof(float));
    cudaMemset(values, 0, 256 * sizeof(float));
    mix<<<1, 256>>>(values);
}
";
    assert_eq!(of("shared-memory-race", text).len(), 1);
    // Lanes of one warp are among them, and need the same barrier.
    assert!(of("implicit-warp-sync", text).is_empty());
}

#[test]
fn equal_stores_are_possible_only() {
    let text = "__global__ void flag(int *to) { *to = 1; }
int main() {
    int *to;
    cudaMalloc(&to, sizeof(int));
    flag<<<2, 64>>>(to);
}
";
    assert!(of("global-memory-race", text).is_empty());
    let found = findings("global-memory-race", "[lint]\nmin-confidence = \"possible\"", text);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(found[0].confidence, Confidence::Possible);
    assert!(found[0].message.contains("with the same value"), "{}", found[0].message);
}

#[test]
fn an_update_and_the_store_before_it_are_one_finding() {
    // Threads that differ in y do the same work.
    let text = "__global__ void rows(const float *a, float *to, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        to[i] = 0;
        for (int j = 0; j < 4; j++) to[i] += a[i + j];
    }
}
int main() {
    float *a, *to;
    cudaMalloc(&a, 104 * sizeof(float));
    cudaMalloc(&to, 100 * sizeof(float));
    cudaMemset(a, 1, 104 * sizeof(float));
    rows<<<4, dim3(32, 8)>>>(a, to, 100);
}
";
    assert_eq!(of("non-atomic-read-modify-write", text).len(), 1);
    assert!(of("global-memory-race", text).is_empty());
}

#[test]
fn the_guess_of_a_compare_and_swap_loop_is_no_race() {
    let text = "__device__ void add(int *address, int by) {
    int guess = *address, seen;
    while ((seen = atomicCAS(address, guess, guess + by)) != guess) guess = seen;
}
__global__ void count(int *total) { add(total, 1); }
int main() {
    int *total;
    cudaMalloc(&total, sizeof(int));
    cudaMemset(total, 0, sizeof(int));
    count<<<4, 128>>>(total);
}
";
    assert!(of("global-memory-race", text).is_empty());
    assert!(of("cross-block-dependency", text).is_empty());
}

#[test]
fn equal_data_makes_a_missing_barrier_likely() {
    let text = "__global__ void sums(const float *from, float *to) {
    __shared__ float tile[128];
    float sum = 0;
    for (int start = 0; start < 1024; start += 128) {
        tile[threadIdx.x] = from[start + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < 128; ++k) sum += tile[k];
    }
    to[threadIdx.x] = sum;
}
int main() {
    float *from, *to;
    cudaMalloc(&from, 1024 * sizeof(float));
    cudaMalloc(&to, 128 * sizeof(float));
    cudaMemset(from, 0, 1024 * sizeof(float));
    sums<<<1, 128>>>(from, to);
}
";
    let found = of("shared-memory-race-across-iterations", text);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(found[0].confidence, Confidence::Likely, "{found:#?}");
    let Some(witness) = &found[0].witness else { panic!("no witness") };
    assert_eq!(witness.assumptions, ["the data is not the same everywhere"]);
}

#[test]
fn a_shared_value_that_every_thread_stores_is_no_race() {
    let text = "__global__ void rows(const float *from, float *to, int pitch) {
    __shared__ const float *row;
    __shared__ int first;
    row = from + blockIdx.x * pitch;
    first = blockIdx.x * pitch;
    to[first + threadIdx.x] = row[threadIdx.x];
}
int main() {
    float *from, *to;
    cudaMalloc(&from, 1024 * sizeof(float));
    cudaMalloc(&to, 1024 * sizeof(float));
    cudaMemset(from, 0, 1024 * sizeof(float));
    rows<<<8, 128>>>(from, to, 128);
}
";
    assert!(of("shared-memory-race", text).is_empty());
    assert!(of("implicit-warp-sync", text).is_empty());
}

#[test]
fn two_arrays_that_one_loop_overruns_are_one_finding() {
    let text = "__global__ void dots(float *to) {
    __shared__ float a[32], b[32];
    a[threadIdx.x] = b[threadIdx.x] = threadIdx.x;
    __syncthreads();
    float sum = 0;
    for (int k = 0; k <= 32; ++k) sum += a[k] * b[k];
    to[threadIdx.x] = sum;
}
int main() {
    float *to;
    cudaMalloc(&to, 32 * sizeof(float));
    dots<<<1, 32>>>(to);
}
";
    let found = of("shared-index-out-of-range", text);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].related.iter().any(|label| label.message.contains("also: ")));
}

#[test]
fn an_index_that_only_callers_choose_is_theirs() {
    let text = "__global__ void mark(int source, int n, int *front, int *last) {
    if (threadIdx.x == 0) { front[source] = 1; last[n] = 0; }
}
void solve(int n, int source) {
    int *front, *last;
    cudaMalloc(&front, n * sizeof(int));
    cudaMalloc(&last, n * sizeof(int));
    mark<<<1, 32>>>(source, n, front, last);
}
";
    let all = ["missing-bounds-guard", "guard-does-not-cover-access"].map(|rule| of(rule, text)).concat();
    // `source` has nothing to do with any size; element `n` of `n` is beyond the end whatever `n` is.
    assert_eq!(all.len(), 1, "{all:#?}");
    assert!(all[0].message.contains("of `last`"), "{}", all[0].message);
}

#[test]
fn an_election_is_a_race_that_one_may_win() {
    let kernel = |first: &str, asks: &str, last: &str| {
        format!(
            "__global__ void expand(const int *row, int *out, int n) {{
    __shared__ int owner, source;
    const int id = blockIdx.x * blockDim.x + threadIdx.x;
    int size = id < n ? row[id + 1] - row[id] : 0;
    {first}
    while (true) {{
        if (size > 128) owner = threadIdx.x;
        __syncthreads();
        if (owner == -1) break;
        __syncthreads();
        if ({asks}) {{ source = id; {last} size = 0; }}
        __syncthreads();
        out[row[source] + threadIdx.x] = 1;
    }}
}}
void run(const int *row, int *out, int n) {{ expand<<<(n + 127) / 128, 128>>>(row, out, n); }}
"
        )
    };
    let barrier = "if (threadIdx.x == 0) owner = -1; __syncthreads();";
    let sure = |text: &str| {
        of("shared-memory-race", text).into_iter().filter(|found| found.confidence > Confidence::Possible).count()
    };
    assert_eq!(sure(&kernel(barrier, "owner == threadIdx.x", "owner = -1;")), 0);
    // Whoever comes late takes the number of another away.
    assert!(sure(&kernel("owner = -1;", "owner == threadIdx.x", "owner = -1;")) > 0);
    // Nobody looks whose number it is.
    assert!(sure(&kernel(barrier, "owner > 16", "owner = -1;")) > 0);
    // The next one may see the number before or after it was handed on.
    assert!(sure(&kernel(barrier, "owner == threadIdx.x", "owner = threadIdx.x + 1;")) > 0);
}

#[test]
fn a_branch_that_a_build_without_options_lacks_is_an_assumption() {
    let text = "__global__ void scale(float *values) { values[threadIdx.x] *= 2; }
void pad(float *from) {
    float *to;
#ifdef SMALL
    cudaMalloc(&to, 100 * sizeof(float));
#else
    cudaMalloc(&to, 200 * sizeof(float));
#endif
    cudaMemcpy(to, from, 150 * sizeof(float), cudaMemcpyHostToDevice);
}
void launch() {
    float *values;
    cudaMalloc(&values, 64 * sizeof(float));
    cudaMemset(values, 0, 64 * sizeof(float));
#ifdef TIMED
    scale<<<1, 32>>>(values);
    cudaDeviceSynchronize();
#else
    scale<<<1, 96>>>(values);
#endif
}
void choose(int n) {
#ifdef WITH_GPU
    float *values;
    cudaMalloc(&values, 32 * sizeof(float));
    cudaMemset(values, 0, 32 * sizeof(float));
    scale<<<1, 96>>>(values);
#else
    (void)n;
#endif
}
";
    assert!(of("copy-exceeds-allocation", text).is_empty());
    let guards = of("missing-bounds-guard", text);
    let shown: Vec<_> = guards
        .iter()
        .map(|found| (found.confidence, found.witness.as_ref().map(|witness| witness.assumptions.clone())))
        .collect();
    assert_eq!(shown, [(Confidence::Definite, Some(Vec::new()))], "{guards:#?}");
    let chosen = of("missing-bounds-guard", &text.replace("#ifdef TIMED", "#if 1"));
    let named = Some(vec!["`WITH_GPU` is defined".to_owned()]);
    let shown: Vec<_> = chosen
        .iter()
        .map(|found| (found.confidence, found.witness.as_ref().map(|witness| witness.assumptions.clone())))
        .collect();
    assert_eq!(shown, [(Confidence::Likely, named)], "{chosen:#?}");
}

#[test]
fn copies_in_assembly_are_copies() {
    let program = |body: &str| {
        format!(
            "__device__ void copy_16(void *to, const void *from) {{
    unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(to));
    asm volatile(\"cp.async.cg.shared.global [%0], [%1], %2;\\n\" ::\"r\"(at), \"l\"(from), \"n\"(16));
}}
__device__ void wait() {{ asm volatile(\"cp.async.wait_all;\\n\" ::); }}
__global__ void reverse(const float *from, float *to) {{
    __shared__ float tile[2][256];
    const int t = threadIdx.x;
    {body}
}}
int main() {{
    float *from, *to;
    cudaMalloc(&from, 512 * sizeof(float));
    cudaMalloc(&to, 512 * sizeof(float));
    cudaMemset(from, 0, 512 * sizeof(float));
    reverse<<<1, 64>>>(from, to);
}}
"
        )
    };
    let rules = ["shared-memory-race", "implicit-warp-sync", "uninitialized-shared-read", "shared-index-out-of-range"];
    let said = |body: &str| -> Vec<&str> {
        let text = program(body);
        rules.into_iter().filter(|rule| !of(rule, &text).is_empty()).collect()
    };
    let copied = "copy_16(&tile[0][t * 4], &from[t * 4]);";
    assert!(said(&format!("{copied} wait(); __syncthreads(); to[t] = tile[0][255 - t];")).is_empty());
    assert_eq!(said(&format!("{copied} wait(); to[t] = tile[0][255 - t];")), ["shared-memory-race"]);
    let other = format!("{copied} wait(); __syncthreads(); to[t] = tile[1][255 - t];");
    assert_eq!(said(&other), ["uninitialized-shared-read"]);
    let far = "copy_16(&tile[1][t * 4 + 4], &from[t * 4]); wait(); __syncthreads(); to[t] = tile[1][t + 4];";
    assert_eq!(said(far), ["shared-index-out-of-range"]);
    // An address that was computed with is somewhere in any array.
    let computed = "unsigned at = (unsigned)__cvta_generic_to_shared(&tile[0][0]) + 16 * t;
    asm volatile(\"cp.async.cg.shared.global [%0], [%1], 16;\\n\" ::\"r\"(at), \"l\"(&from[t * 4]));
    wait(); __syncthreads(); to[t] = tile[0][255 - t] + tile[1][t];";
    assert!(said(computed).is_empty());
    // One that its thread alone may store.
    let guarded =
        "asm volatile(\"{ .reg .pred p; setp.ne.b32 p, %2, 0; @p cp.async.cg.shared.global [%0], [%1], 16; }\" ::
        \"r\"((unsigned)__cvta_generic_to_shared(&tile[0][t * 4])), \"l\"(&from[t * 4]), \"r\"(t));
    wait(); __syncthreads(); to[t] = tile[0][255 - t]; tile[1][t] = 1; to[t] += tile[1][63 - t];";
    assert_eq!(said(guarded), ["shared-memory-race"]);
}

/// What is found in `fill.cu` beside a file that calls `run`.
fn beside(caller: (&str, &str)) -> usize {
    let kernel = "__global__ void fill(float *out, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m) out[i] = n;
}
extern \"C\" void run(int n, int m) {
    float *out;
    cudaMalloc(&out, n * sizeof(float));
    fill<<<(m + 255) / 256, 256>>>(out, n, m);
}
";
    let engine = Engine::new(cudalint_rules::RULES);
    match engine.lint_texts(&[("fill.cu".to_owned(), kernel), (caller.0.to_owned(), caller.1)], None) {
        Ok(all) => {
            assert!(all.iter().all(|finding| &*finding.place.path == "fill.cu"));
            all.iter().filter(|finding| finding.rule.name == "guard-does-not-cover-access").count()
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn callers_in_files_without_gpu_code_say_what_functions_are_given() {
    // Nobody calls it: how the two belong together only callers know.
    assert_eq!(beside(("other.c", "int other(int n) { return n; }")), 0);
    assert_eq!(beside(("main.c", "void run(int, int);\nint main(void) { run(1000, 1000); return 0; }")), 0);
    assert_eq!(beside(("main.c", "void run(int, int);\nint main(void) { run(1000, 1024); return 0; }")), 1);
    // Whoever takes the branch gives it something.
    let branch = "#ifdef USE_GPU\nstruct State { int dim; void go(int n) { run(dim, dim); } };\n#endif\n";
    assert_eq!(beside(("state.hpp", branch)), 0);
    // Through others of the kind, with a number that is read.
    let through = "#include <stdlib.h>\nvoid run(int, int);\nvoid solve(int size) { run(size, size); }\n\
                   int main(int argc, char **argv) { solve(atoi(argv[1])); }";
    assert_eq!(beside(("main.c", through)), 0);
    assert_eq!(beside(("main.c", &through.replace("run(size, size)", "run(size, size + 8)"))), 1);
}

#[test]
fn one_argument_of_the_program_is_one_number() {
    let text = "#include <cstdlib>
__global__ void fill(float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 1;
}
int main(int argc, char **argv) {
    if (argc < 3) return 1;
    int size = atoi(argv[1]);
    const long count = strtol(argv[1], nullptr, 10);
    float *out;
    cudaMalloc(&out, size * sizeof(float));
    fill<<<(count + 255) / 256, 256>>>(out, count);
}
";
    assert_eq!(of("guard-does-not-cover-access", text).len(), 0);
    let other = text.replace("strtol(argv[1]", "strtol(argv[2]");
    assert_eq!(of("guard-does-not-cover-access", &other).len(), 1);
}

/// A launch of no blocks is refused before a thread could come to what it has too little of.
#[test]
fn a_launch_of_no_blocks_touches_no_dynamic_shared_memory() {
    let text = |blocks: u32| {
        format!(
            "__global__ void k(int *p) {{ extern __shared__ int all[]; all[threadIdx.x] = 1; p[0] = all[0]; }}
void run(int *p) {{ k<<<{blocks}, 32>>>(p); }}
"
        )
    };
    assert_eq!(of("dynamic-shared-size-too-small", &text(1)).len(), 1);
    assert_eq!(of("dynamic-shared-size-too-small", &text(0)).len(), 0);
}

/// Of a launch that a called function comes by only under a condition that nobody follows, what the callers gave may decide it.
#[test]
fn launches_behind_a_condition_that_nobody_follows() {
    let program = |condition: &str, call: &str| {
        format!(
            "int ask();
__global__ void fill(float *p) {{ p[blockIdx.x * blockDim.x + threadIdx.x] = 1; }}
void run(float *p, int n, bool large) {{
    {condition} fill<<<8, 128>>>(p);
}}
int main() {{
    float *p;
    cudaMalloc(&p, 500 * sizeof(float));
    {call}
}}
"
        )
    };
    let found = |condition: &str, call: &str| {
        let all = of("missing-bounds-guard", &program(condition, call));
        all.iter().map(|finding| finding.confidence).collect::<Vec<_>>()
    };
    let call = "run(p, 500, ask() > 0);";
    assert_eq!(found("", call), [Confidence::Definite]);
    assert_eq!(found("if (n > 4)", call), [Confidence::Definite]);
    assert_eq!(found("if (n > 1000)", call), []);
    assert_eq!(found("if (large)", call), [Confidence::Likely]);
    assert_eq!(found("if (large)", "run(p, 500, ask() > 0); run(p, 500, true);"), [Confidence::Definite]);
    assert_eq!(found("", "if (ask()) run(p, 500, false);"), [Confidence::Definite]);
    let limit = |condition: &str| {
        let text = program(condition, "run(p, 500, ask() > 0);").replace("<<<8, 128>>>", "<<<8, 2048>>>");
        of("launch-exceeds-device-limit", &text).len()
    };
    assert_eq!((limit(""), limit("if (large)")), (1, 0));
}

/// Arrays that a kernel of Python is given together mostly have extents that belong together: none is chosen against another.
#[test]
fn extents_of_arrays_of_python_are_not_chosen_apart() {
    let found = |guard: &str, update: &str, given: &str| {
        let text = format!(
            "from numba import cuda

@cuda.jit
def add(a, b):
    i = cuda.grid(1)
    if {guard}:
        {update}

def run(a, b):
    add[(a.size + 127) // 128, 128](a, {given})
"
        );
        let engine = Engine::new(cudalint_rules::RULES);
        let all = match engine.lint_texts(&[("example.py".to_owned(), &text)], None) {
            Ok(all) => all,
            Err(error) => panic!("{error}"),
        };
        let told = all.into_iter().filter(|finding| finding.confidence > Confidence::Possible);
        told.map(|finding| finding.rule.name).collect::<Vec<_>>()
    };
    assert_eq!(found("i < a.shape[0]", "b[i] += a[i]", "b"), Vec::<&str>::new());
    assert_eq!(found("i < a.size", "b[i] += 1", "b"), Vec::<&str>::new());
    assert_eq!(found("i <= b", "a[i] += 1", "a.size"), ["guard-does-not-cover-access"]);
}
