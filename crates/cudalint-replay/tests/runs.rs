//! Launches in numbers: what a kernel is executed with, and what that rests on.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;
use common::{rests_on, runs, runs_and_counts};
use cudalint_kernel::{Argument, Contents};
use cudalint_replay::runs::Basis;

const ADD: &str = "__global__ void add(float* out, const float* in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] += in[i];
}
";

#[test]
fn literal_values_are_facts() {
    let runs = runs(&format!(
        "{ADD}
int main() {{
    const int n = 1000;
    float *a, *b;
    cudaMalloc(&a, n * sizeof(float));
    cudaMalloc(&b, (n + 24) * sizeof(float));
    add<<<(n + 255) / 256, 256>>>(a, b + 4, n);
}}"
    ));
    let [run] = runs.as_slice() else { panic!("{runs:#?}") };
    assert_eq!((run.grid, run.block, run.dynamic_shared), ([4, 1, 1], [256, 1, 1], Some(0)));
    assert_eq!(rests_on(run), "");
    assert_eq!(run.bindings, [("n".to_owned(), 1000)]);
    assert_eq!(run.input.cooperative, Some(false));
    assert_eq!(
        run.input.arguments,
        [Argument::Pointer { buffer: 0, offset: 0 }, Argument::Pointer { buffer: 1, offset: 16 }, Argument::Int(1000)]
    );
    let sizes: Vec<Option<u64>> = run.input.buffers.iter().map(|buffer| buffer.bytes).collect();
    assert_eq!(sizes, [Some(4000), Some(4096)]);
    assert!(run.input.buffers.iter().all(|buffer| buffer.contents == Contents::WrittenOnly(Vec::new())));
    assert_eq!((run.buffers[0].parameter.as_str(), run.buffers[1].argument.as_str()), ("out", "b + 4"));
}

#[test]
fn a_free_input_is_chosen_so_that_the_last_block_is_partly_filled() {
    let text = format!(
        "{ADD}
int main(int argc, char** argv) {{
    if (argc < 2) return 1;
    int n = atoi(argv[1]);
    float *a, *b;
    cudaMalloc(&a, n * sizeof(float));
    cudaMalloc(&b, n * sizeof(float));
    add<<<(n + 255) / 256, 256>>>(a, b, n);
}}"
    );
    let runs = runs(&text);
    // First what holds for every grid, then an assignment.
    assert_eq!((runs[0].grid_known, rests_on(&runs[0])), (false, String::new()));
    assert_eq!((runs[0].input.grid, &runs[0].input.arguments[2]), ([0, 1, 1], &Argument::Unknown));
    assert_eq!(rests_on(&runs[1]), "`n` is 513");
    assert_eq!((runs[1].grid, runs[1].input.buffers[0].bytes), ([3, 1, 1], Some(2052)));
    assert_eq!(runs[1].input.arguments[2], Argument::Int(513));
}

#[test]
fn conditions_on_the_way_are_respected() {
    let text = format!(
        "{ADD}
int main(int argc, char** argv) {{
    int n = atoi(argv[1]);
    if (n % 256 != 0) {{ return 1; }}
    float *a, *b;
    cudaMalloc(&a, n * sizeof(float));
    cudaMalloc(&b, n * sizeof(float));
    add<<<(n + 255) / 256, 256>>>(a, b, n);
}}"
    );
    let chosen: Vec<i64> = runs(&text)
        .iter()
        .filter(|run| run.assumptions.is_some())
        .map(|run| run.bindings.iter().find(|(name, _)| name == "n").unwrap().1)
        .collect();
    assert!(!chosen.is_empty());
    assert!(chosen.iter().all(|n| n % 256 == 0), "{chosen:?}");
}

#[test]
fn a_grid_rounded_down_means_multiples() {
    let text = format!(
        "{ADD}
void run(float* a, float* b, int n) {{
    add<<<n / 128, 128>>>(a, b, n);
}}"
    );
    let runs = runs(&text);
    assert!(runs.iter().any(|run| rests_on(run) == "`n` is 256"), "{runs:#?}");
    assert!(runs.iter().filter(|run| run.grid_known).all(|run| run.bindings[0].1 % 128 == 0));
}

#[test]
fn two_sizes_are_unequal_in_both_orders() {
    let text = "
__global__ void fill(float* out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h) out[y * w + x] = 0;
}
int main(int argc, char** argv) {
    int w = atoi(argv[1]), h = atoi(argv[2]);
    float* out;
    cudaMalloc(&out, w * h * sizeof(float));
    dim3 block(16, 16), grid((w + 15) / 16, (h + 15) / 16);
    fill<<<grid, block>>>(out, w, h);
}";
    let assumed: Vec<String> = runs(text).iter().map(rests_on).filter(|text| !text.is_empty()).collect();
    assert_eq!(assumed, ["`w` is 33 and `h` is 17", "`w` is 17 and `h` is 33"]);
}

#[test]
fn defaults_of_the_command_line_are_one_assumption() {
    let text = format!(
        "{ADD}
int main(int argc, char** argv) {{
    int n = 1 << 10;
    if (argc > 1) n = atoi(argv[1]);
    float *a, *b;
    cudaMalloc(&a, n * sizeof(float));
    cudaMalloc(&b, n * sizeof(float));
    add<<<n / 256, 256>>>(a, b, n);
}}"
    );
    let runs = runs(&text);
    let run = runs.iter().find(|run| run.grid_known).unwrap();
    assert_eq!((rests_on(run).as_str(), run.grid), ("no command-line argument is given", [4, 1, 1]));
}

#[test]
fn contents_of_memory_are_what_copies_and_sets_left() {
    let text = "
__global__ void use(int* zero, int* part, int* table, int* written, const int* kept) {}
__global__ void other(int* p, const int* q) { p[0] = q[0]; }
int main() {
    int *zero, *part, *table, *written, *kept, *host = (int*)malloc(400);
    int values[4] = {3, 1, 4, 1};
    cudaMalloc(&zero, 400);
    cudaMalloc(&part, 400);
    cudaMalloc(&table, 400);
    cudaMalloc(&written, 400);
    cudaMalloc(&kept, 400);
    cudaMemset(zero, 0, 400);
    cudaMemcpy(part, host, 100, cudaMemcpyHostToDevice);
    cudaMemcpy(part + 50, host, 40, cudaMemcpyHostToDevice);
    cudaMemcpy(table, values, sizeof(values), cudaMemcpyHostToDevice);
    other<<<1, 1>>>(written, kept);
    use<<<1, 32>>>(zero, part, table, written, kept);
}";
    let runs = runs(text);
    let run = runs.iter().find(|run| run.name == "use").unwrap();
    let contents: Vec<&Contents> = run.input.buffers.iter().map(|buffer| &buffer.contents).collect();
    assert_eq!(contents[0], &Contents::Filled(0));
    assert_eq!(contents[1], &Contents::WrittenOnly(vec![0..100, 200..240]));
    assert_eq!(contents[2], &Contents::Integers { bytes: 4, values: [3, 1, 4, 1].into() });
    assert_eq!(contents[3], &Contents::Unknown);
    assert_eq!(contents[4], &Contents::WrittenOnly(Vec::new()));
}

#[test]
fn what_other_code_may_have_written_is_not_known() {
    let text = "
void fill(int* p);
__global__ void use(int* a, int* b, int* c) {}
struct Node { int* data; };
__global__ void follow(Node* node) { node->data[0] = 1; }
int main() {
    int *a, *b, *c;
    Node host, *node;
    cudaMalloc(&a, 400);
    cudaMalloc(&b, 400);
    cudaMalloc(&c, 400);
    cudaMalloc(&node, sizeof(Node));
    fill(a);
    host.data = b;
    cudaMemcpy(node, &host, sizeof(Node), cudaMemcpyHostToDevice);
    follow<<<1, 1>>>(node);
    use<<<1, 32>>>(a, b, c);
}";
    let runs = runs(text);
    let run = runs.iter().find(|run| run.name == "use").unwrap();
    let contents: Vec<&Contents> = run.input.buffers.iter().map(|buffer| &buffer.contents).collect();
    assert_eq!(contents, [&Contents::Unknown, &Contents::Unknown, &Contents::WrittenOnly(Vec::new())]);
}

#[test]
fn integers_have_the_parameters_type_and_records_their_fields() {
    let text = "
struct Params { int n; float scale; int* data; };
__global__ void use(unsigned char small, long long wide, Params params, dim3 size) {}
int main() {
    Params params;
    params.n = 7;
    params.scale = 0.5f;
    cudaMalloc(&params.data, 64);
    use<<<1, 32>>>(257, -1, params, dim3(3, 4));
}";
    let runs = runs(text);
    let [run] = runs.as_slice() else { panic!("{runs:#?}") };
    assert_eq!(
        run.input.arguments,
        [
            Argument::Int(1),
            Argument::Int(-1),
            Argument::Record(vec![
                (0, Argument::Int(7)),
                (4, Argument::Float(0.5)),
                (8, Argument::Pointer { buffer: 0, offset: 0 })
            ]),
            Argument::Record(vec![(0, Argument::Int(3)), (4, Argument::Int(4)), (8, Argument::Int(1))]),
        ]
    );
    assert_eq!(run.input.buffers[0].bytes, Some(64));
}

#[test]
fn a_case_fixes_the_value_that_is_switched_on() {
    let text = "
template <int N> __global__ void reduce(float* out) {}
void run(float* out, int threads) {
    switch (threads) {
    case 256: reduce<256><<<64, threads>>>(out); break;
    case 128: reduce<128><<<64, threads>>>(out); break;
    }
}";
    let found: Vec<(String, [u32; 3], String)> =
        runs(text).iter().map(|run| (run.name.clone(), run.block, rests_on(run))).collect();
    assert_eq!(
        found,
        [
            ("reduce<256>".to_owned(), [256, 1, 1], String::new()),
            ("reduce<128>".to_owned(), [128, 1, 1], String::new())
        ]
    );
}

#[test]
fn a_quotient_rounded_up_by_a_condition_is_followed() {
    let text = format!(
        "{ADD}
int div_up(int a, int b) {{ return (a % b != 0) ? (a / b + 1) : (a / b); }}
void run(float* a, float* b, int n) {{
    add<<<div_up(n, 128), 128>>>(a, b, n);
}}"
    );
    let runs = runs(&text);
    let run = runs.iter().find(|run| rests_on(run) == "`n` is 257").unwrap();
    assert_eq!(run.grid, [3, 1, 1]);
}

#[test]
fn a_quotient_rounded_to_the_nearest_is_followed() {
    let text = format!(
        "{ADD}
void run(float* a, float* b, int n) {{
    int blocks = (int) (((float) n / (float) 128) + 0.5);
    add<<<blocks, 128>>>(a, b, n);
}}"
    );
    let found: Vec<(String, [u32; 3])> =
        runs(&text).iter().filter(|run| run.grid_known).map(|run| (rests_on(run), run.grid)).collect();
    // One element is left over, which is less than half a block.
    assert!(found.iter().any(|(why, grid)| why == "`n` is 513" && *grid == [4, 1, 1]), "{found:?}");
}

#[test]
fn what_a_condition_decides_keeps_both_values() {
    let text = format!(
        "{ADD}
void run(float* a, float* b, int n) {{
    int blocks = n / 128;
    if (n % 128) blocks++;
    add<<<blocks, 128>>>(a, b, n);
    int threads = n;
    dim3 grid(1);
    if (n > 512) {{
        grid.x = (n + 511) / 512;
        threads = 512;
    }} else {{
        a = b;
    }}
    add<<<grid, threads>>>(a, b, n);
}}"
    );
    let runs = runs(&text);
    let found: Vec<([u32; 3], [u32; 3])> = runs
        .iter()
        .filter(|run| ["`n` is 257", "`n` is 1025"].contains(&rests_on(run).as_str()))
        .map(|run| (run.grid, run.block))
        .collect();
    assert_eq!(found, [([3, 1, 1], [128, 1, 1]), ([3, 1, 1], [512, 1, 1])]);
}

#[test]
fn a_kernel_nobody_launches_gets_the_block_it_is_made_for() {
    let text = "
__global__ void __launch_bounds__(128) bounded(float* p) { p[threadIdx.x] = 0; }
__global__ void tiled(float* p) { __shared__ float tile[16][17]; tile[threadIdx.y][threadIdx.x] = p[0]; }
__global__ void plain(float* p) { p[threadIdx.x] = 0; }
__global__ void column(float* p) { __shared__ float sums[512]; sums[threadIdx.y] = p[threadIdx.y]; }
";
    let (runs, counts) = runs_and_counts(text);
    let blocks: Vec<([u32; 3], String)> = runs.iter().map(|run| (run.block, rests_on(run))).collect();
    assert_eq!(
        blocks,
        [
            ([128, 1, 1], "the kernel is launched with 128 threads per block".to_owned()),
            ([16, 16, 1], "the kernel is launched with 16 × 16 threads per block".to_owned()),
            ([256, 1, 1], "the kernel is launched with 256 threads per block".to_owned()),
            ([1, 512, 1], "the kernel is launched with 1 × 512 threads per block".to_owned()),
        ]
    );
    assert_eq!((counts.launches, counts.unlaunched, counts.unlaunched_executed), (0, 4, 4));
}

#[test]
fn launches_are_counted_by_what_became_of_them() {
    let text = format!(
        "{ADD}
__global__ void lost();
int blocks();
void run(float* a, float* b, int n) {{
    add<<<4, 256>>>(a, b, 1024);
    add<<<blocks(), 256>>>(a, b, 1024);
    add<<<n, 256>>>(a, b, 1024);
    add<<<4, 2048>>>(a, b, 1024);
    unknown<<<4, 256>>>(a);
}}"
    );
    let (_, counts) = runs_and_counts(&text);
    assert_eq!((counts.launches, counts.with_facts, counts.assumed, counts.first_block), (5, 1, 1, 2));
    let causes: Vec<(&str, u64)> = counts.not_executed.iter().map(|(cause, count)| (*cause, *count)).collect();
    assert_eq!(causes, [("block out of range", 1), ("kernel out of sight", 1)]);
}

#[test]
fn lists_have_their_elements() {
    let text = format!(
        "{ADD}
int main() {{
    std::vector<int> sizes = {{128, 512}};
    int blocks[] = {{32, 64}};
    int n = sizes[sizes.size() - 1];
    float *a, *b;
    cudaMalloc(&a, n * sizeof(float));
    cudaMalloc(&b, n * sizeof(float));
    for (int i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {{
        add<<<n / blocks[i], blocks[i]>>>(a, b, n);
    }}
}}"
    );
    let found: Vec<([u32; 3], [u32; 3], Option<u64>)> =
        runs(&text).iter().map(|run| (run.grid, run.block, run.input.buffers[0].bytes)).collect();
    assert_eq!(found, [([16, 1, 1], [32, 1, 1], Some(2048)), ([8, 1, 1], [64, 1, 1], Some(2048))]);
}

#[test]
fn templates_nobody_calls_are_those_instantiated() {
    let text = "
template <class T> __global__ void fill(T* out) { out[threadIdx.x] = 0; }
template <class T> __global__ void lone(T* out) { out[threadIdx.x] = 0; }
template <class T> void run(int n) {
    T* out;
    cudaMalloc(&out, 64 * sizeof(T));
    fill<T><<<1, 64>>>(out);
}
template void run<double>(int n);
template __global__ void lone<float>(float* out);
";
    let found: Vec<(String, Option<u64>)> =
        runs(text).iter().map(|run| (run.name.clone(), run.input.buffers[0].bytes)).collect();
    assert_eq!(found, [("fill<double>".to_owned(), Some(512)), ("lone<float>".to_owned(), None)]);
}

#[test]
fn pointers_that_get_lost_may_be_written_through() {
    let text = "
__global__ void use(int* a, int* b, int* c) { a[0] = b[0] + c[0]; }
int main() {
    int *a, *b, *c;
    cudaMalloc(&a, 400);
    cudaMalloc(&b, 400);
    cudaMalloc(&c, 400);
    size_t number = (size_t)a;
    fill_somehow(number);
    cudaMemcpy3DParms parms = {0};
    parms.dstPtr = make_cudaPitchedPtr(b, 20, 20, 5);
    cudaMemcpy3D(&parms);
    use<<<1, 32>>>(a, b, c);
}";
    let runs = runs(text);
    let contents: Vec<&Contents> = runs[0].input.buffers.iter().map(|buffer| &buffer.contents).collect();
    assert_eq!(contents, [&Contents::Unknown, &Contents::Unknown, &Contents::WrittenOnly(Vec::new())]);
}

#[test]
fn inputs_that_do_not_get_behind_an_else_are_not_chosen() {
    let found = runs(
        r"
__global__ void whole(float* out) { out[threadIdx.x] = 0; }
__global__ void rest(float* out, int n) { out[blockIdx.x * blockDim.x + threadIdx.x] = n; }
void run(float* out, int m, int n) {
    if (m >= 128 && n >= 128) whole<<<1, 32>>>(out);
    else rest<<<n / 32, 32>>>(out, n);
}
int main(int argc, char** argv) {
    int n = atoi(argv[1]);
    float* out;
    cudaMalloc(&out, 4096);
    run(out, n, n);
}",
    );
    let chosen: Vec<i64> =
        found.iter().flat_map(|run| &run.bindings).filter(|(name, _)| name == "n").map(|(_, value)| *value).collect();
    assert!(!chosen.is_empty() && chosen.iter().all(|n| (1..128).contains(n)), "{chosen:?}");
}

#[test]
fn what_an_execution_shows_at_work_is_told() {
    let text = "
__device__ float twice(float x) { return 2 * x; }
__device__ float unused(float x) { return x; }
__global__ void k(float* out) { out[threadIdx.x] = twice(out[threadIdx.x]); }
void run() { float* p; cudaMalloc(&p, 256); k<<<1, 64>>>(p); }
void run(int n, float* p) { k<<<n, 64>>>(p); }
";
    let runs = runs(text);
    let told: Vec<(Basis, Vec<&str>)> = runs
        .iter()
        .map(|run| {
            let places =
                run.places().map(|site| text[site.span.start as usize..].split(['(', '<', ';']).next().unwrap());
            (run.basis, places.collect())
        })
        .collect();
    assert_eq!(told[0], (Basis::Facts, vec!["k", "twice", "k", "cudaMalloc"]), "{told:#?}");
    assert!(told.iter().any(|(basis, _)| *basis == Basis::FirstBlock), "{told:#?}");
}

#[test]
fn methods_of_class_templates_are_entered_with_what_they_are_made_for() {
    let text = "
template <class T> __global__ void fill(T* out) { out[threadIdx.x] = 0; }
template <class T> struct Inside {
    T* data;
    void run() { cudaMalloc(&data, 64 * sizeof(T)); fill<T><<<1, 64>>>(data); }
};
template <class T, int n> struct Outside { T* data; void run(); };
template <class T, int n> void Outside<T, n>::run() {
    cudaMalloc(&data, n * sizeof(T));
    fill<T><<<1, n>>>(data);
}
template <class T> struct Special { void run() {} };
template <> struct Special<short> {
    short* data;
    void run() { cudaMalloc(&data, 64 * sizeof(short)); fill<short><<<1, 32>>>(data); }
};
template class Inside<double>;
template struct Outside<float, 100>;
";
    let found = |text: &str| {
        let mut found: Vec<(String, u32, Option<u64>)> =
            runs(text).iter().map(|run| (run.name.clone(), run.block[0], run.input.buffers[0].bytes)).collect();
        found.sort();
        found
    };
    let expected = [("fill<double>", 64, 512), ("fill<float>", 100, 400), ("fill<short>", 32, 128)];
    assert_eq!(found(text), expected.map(|(name, threads, bytes)| (name.to_owned(), threads, Some(bytes))));
    // Without an instantiation nothing says what the methods are for.
    let (templates, _) = text.split_once("template class").unwrap();
    assert!(!found(templates).iter().any(|(name, ..)| name.contains("double") || name.contains("float")));
}

#[test]
fn static_methods_of_class_templates_know_the_arguments_that_are_written() {
    let text = "
template <class T> __global__ void fill(T* out) { out[threadIdx.x] = 0; }
template <class T, int n> struct Filler {
    static void run() { T* data; cudaMalloc(&data, n * sizeof(T)); fill<T><<<1, n / 2>>>(data); }
};
int main() { Filler<double, 64>::run(); }
";
    let found: Vec<(String, u32, Option<u64>)> =
        runs(text).iter().map(|run| (run.name.clone(), run.block[0], run.input.buffers[0].bytes)).collect();
    assert_eq!(found, [("fill<double>".to_owned(), 32, Some(512))]);
}

#[test]
fn the_kernel_of_a_launch_is_found() {
    let kernels = "__global__ void k(int n, float *p) { if (threadIdx.x < n) p[threadIdx.x] = 1; }
__global__ void k(int n, double *p) { if (threadIdx.x < n) p[threadIdx.x] = 2; }
template <class T> __global__ void t(T *p) { p[threadIdx.x] = 1; }
template <> __global__ void t(int *p) { p[threadIdx.x] = 2; }
template <class T> __global__ void u(T *p) { p[threadIdx.x] = 1; }
";
    let launched = |body: &str| {
        let (runs, counts) = runs_and_counts(&format!("{kernels}{body}"));
        let mut names: Vec<String> =
            runs.iter().filter(|run| run.launch.is_some()).map(|run| run.name.clone()).collect();
        names.dedup();
        (names.join(" "), counts.launches, counts.not_executed.len())
    };
    // Of several with one name the one that takes the arguments.
    assert_eq!(launched("void f(float *a) { k<<<1, 64>>>(8, a); }"), ("k".to_owned(), 1, 0));
    assert_eq!(launched("void f(float *a, double *b) { k<<<1, 64>>>(8, a); k<<<1, 64>>>(9, b); }").1, 2);
    assert_eq!(launched("void f(float *a) { t<<<1, 64>>>(a); }"), ("t<float>".to_owned(), 1, 0));
    assert_eq!(launched("void f(int *a) { t<<<1, 64>>>(a); }").2, 0);
    // What nobody can tell is left.
    assert_eq!(launched("void *any(); void f() { k<<<1, 64>>>(8, any()); }").2, 1);
    assert_eq!(launched("void f() { k<<<1, 64>>>(8, unknown()); }").2, 1);
    // By a variable.
    let by_variable = "void f(float *p) { auto v = u<float>; void *args[] = {&p};
        cudaLaunchKernel((void *)v, dim3(1), dim3(64), args, 0, 0); }";
    assert_eq!(launched(by_variable), ("u<float>".to_owned(), 1, 0));
    let by_pointer = "void f(float *p) { void (*v)(float *) = u<float>; (*v)<<<1, 64>>>(p); }";
    assert_eq!(launched(by_pointer), ("u<float>".to_owned(), 1, 0));
}

#[test]
fn a_function_out_of_sight_leaves_the_extents_that_it_is_given() {
    let text = "__global__ void k(float *p) { p[threadIdx.x] = 1; }
void f(float *p, int n) { dim3 b = dim3(16, 4, 4); int x = rounded_up(n, b.x); k<<<x, b>>>(p); }
";
    let first = &runs(text)[0];
    assert_eq!((first.block, rests_on(first)), ([16, 4, 4], String::new()));
}
