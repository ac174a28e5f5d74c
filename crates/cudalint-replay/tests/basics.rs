//! Locals, arithmetic, allocations, copies, sets and launches with known numbers.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;
use common::{allocations, config, copies, events, launches, pointer, sides};
use cudalint_replay::facts::{EventKind, Pointer};

#[test]
fn sizes_follow_locals_and_macros() {
    let events = events(
        r"
#define N 1000
__global__ void k(float* p, int n) { if (threadIdx.x < n) p[threadIdx.x] = 0; }
int main() {
    size_t bytes = N * sizeof(float);
    float* h = (float*)malloc(bytes);
    float* d;
    cudaMalloc((void**)&d, bytes - 100);
    cudaMemcpy(d, h, bytes, cudaMemcpyHostToDevice);
    int threads = 256;
    int blocks = (N + threads - 1) / threads;
    k<<<blocks, threads>>>(d, N);
    cudaMemcpy(h + 10, d, bytes, cudaMemcpyDeviceToHost);
    cudaFree(d);
    free(h);
}
",
    );
    assert_eq!(allocations(&events), ["3900"]);
    assert_eq!(copies(&events), ["4000", "4000"]);
    assert_eq!(
        sides(&events),
        [("Device d 3900+0".into(), "Host h 4000+0".into()), ("Host h 4000+40".into(), "Device d 3900+0".into())]
    );
    assert_eq!(config(launches(&events)[0]), "<<<4,1,1 | 256,1,1 | 0>>>");
}

#[test]
fn dim3_in_its_spellings() {
    let events = events(
        r"
__global__ void k(int* p) { p[0] = 1; }
int main() {
    int* d;
    cudaMalloc(&d, 64);
    dim3 block(16, 16);
    dim3 grid;
    grid.x = 4;
    grid.y = 1 << 3;
    k<<<grid, block>>>(d);
    k<<<dim3(2, 3), dim3(8, 4, 2), 48 * 1024>>>(d);
    const int n = 100;
    k<<<dim3((n + block.x - 1) / block.x), block.x * block.y>>>(d);
}
",
    );
    let configs: Vec<String> = launches(&events).into_iter().map(config).collect();
    assert_eq!(configs, ["<<<4,8,1 | 16,16,1 | 0>>>", "<<<2,3,1 | 8,4,2 | 49152>>>", "<<<7,1,1 | 256,1,1 | 0>>>"]);
}

#[test]
fn arrays_structs_and_members() {
    let events = events(
        r"
struct Config { int width; int height; double scale; };
struct Buffers { float* a; float* b[2]; };
int main() {
    Config c = {64, 32, 1.0};
    c.height *= 2;
    Buffers buffers;
    cudaMalloc(&buffers.a, c.width * c.height * sizeof(float));
    for (int i = 0; i < 2; ++i) cudaMalloc(&buffers.b[i], (i + 1) * 100);
    float host[64][64];
    cudaMemcpy(buffers.a, host, sizeof(host), cudaMemcpyHostToDevice);
    cudaMemcpy(buffers.b[1], &host[1][2], sizeof(Config), cudaMemcpyHostToDevice);
}
",
    );
    assert_eq!(allocations(&events), ["16384", "100", "200"]);
    assert_eq!(copies(&events), ["16384", "16"]);
    assert_eq!(sides(&events)[0].1, "Host host 16384+0");
    assert_eq!(sides(&events)[1].1, "Host host 16384+264");
    assert!(sides(&events)[1].0.ends_with("200+0"), "{:?}", sides(&events)[1]);
}

#[test]
fn configurations_in_a_structure() {
    let events = events(
        r"
__global__ void k(int* p) { p[0] = 1; }
struct Both { int* p; };
__global__ void s(Both both) { both.p[0] = 1; }
void run(int* d, int n, cudaStream_t stream, cudaLaunchConfig_t* given) {
    cudaLaunchConfig_t config = {0};
    config.gridDim = n;
    config.blockDim = dim3(16, 16);
    config.dynamicSmemBytes = n * sizeof(int);
    cudaLaunchKernelEx(&config, k, d);
    cudaLaunchConfig_t other{4, dim3(2, 3), 48, stream};
    cudaLaunchKernelEx(&other, k, d);
    other = {.gridDim = 5, .blockDim = 32};
    Both both;
    both.p = d;
    cudaLaunchKernelEx(&other, s, both);
    cudaLaunchKernelEx(given, k, d);
    cudaLaunchConfig_t parts = {0};
    parts.gridDim.x = 3;
    parts.blockDim.y = 8;
    cudaLaunchKernelEx(&parts, k, d);
}
",
    );
    let configs: Vec<String> = launches(&events).into_iter().map(config).collect();
    let wanted = [
        "<<<n,1,1 | 16,16,1 | 4 * n>>>",
        "<<<4,1,1 | 2,3,1 | 48>>>",
        "<<<5,1,1 | 32,1,1 | 0>>>",
        "<<<unknown,unknown,unknown | unknown,unknown,unknown | unknown>>>",
        "<<<3,1,1 | 1,8,1 | 0>>>",
    ];
    assert_eq!(configs, wanted);
    // A structure as the only argument is no array of addresses.
    assert!(launches(&events).iter().all(|launch| launch.args.len() == 1));
}

#[test]
fn pointers_are_allocated_by_their_own_size() {
    let events = events(
        r"
void run(float** d, int n) {
    float** one = new float*[n];
    cudaMemcpy(d, one, 8, cudaMemcpyHostToDevice);
    float*** deep = new float * * [10];
    cudaMemcpy(d, deep, 8, cudaMemcpyHostToDevice);
    const float** fixed = new const float*[10];
    cudaMemcpy(d, fixed, 8, cudaMemcpyHostToDevice);
    float* numbers = new float[10];
    cudaMemcpy(d, numbers, 8, cudaMemcpyHostToDevice);
}
",
    );
    let sources: Vec<String> = sides(&events).into_iter().map(|(_, from)| from).collect();
    assert_eq!(sources, ["Host one 8 * n+0", "Host deep 80+0", "Host fixed 80+0", "Host numbers 40+0"]);
}

#[test]
fn what_a_macro_writes_is_not_one_text() {
    let events = events(
        r"
__global__ void k(int* p) { p[0] = 1; }
#define RUN(name) \\
void run_##name(int* d, int n, int m) { \\
    k<<<n > 1 ? 256 : 128, 1>>>(d); \\
    k<<<n < m ? n : m, 1>>>(d); \\
    k<<<n < m ? m : n, 1>>>(d); \\
}
RUN(it)
",
    );
    let grids: Vec<String> = launches(&events).into_iter().map(|launch| launch.grid.axes[0].to_string()).collect();
    assert_eq!(grids[1..], ["min(n, m)", "max(m, n)"]);
    assert_ne!(grids[0], "256");
}

#[test]
fn copies_that_a_structure_of_the_driver_describes() {
    let events = events(
        r"
int main() {
    CUdeviceptr d;
    cuMemAlloc(&d, 64 * 256);
    float* h = (float*)malloc(32 * 128);
    CUDA_MEMCPY2D copy = {0};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = h;
    copy.srcPitch = 128;
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = d;
    copy.dstPitch = 256;
    copy.dstXInBytes = 64;
    copy.dstY = 2;
    copy.WidthInBytes = 128;
    copy.Height = 32;
    cuMemcpy2D(&copy);
    CUDA_MEMCPY3D volume = {0};
    volume.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    volume.srcDevice = d;
    volume.srcPitch = 256;
    volume.srcHeight = 16;
    volume.dstMemoryType = CU_MEMORYTYPE_HOST;
    volume.dstHost = h;
    volume.dstPitch = 128;
    volume.dstHeight = 8;
    volume.WidthInBytes = 100;
    volume.Height = 8;
    volume.Depth = 4;
    cuMemcpy3D(&volume);
}
",
    );
    assert_eq!(copies(&events), ["4096", "3200"]);
    assert_eq!(
        sides(&events),
        [("Device d 16384+576".into(), "Host h 4096+0".into()), ("Host h 4096+0".into(), "Device d 16384+0".into())]
    );
}

/// What each `free` gets: the function, and the pointer with whether it was freed before.
fn frees(text: &str) -> Vec<String> {
    let freed = |at: &Pointer| matches!(at, Pointer::Into { buffer, .. } if buffer.freed);
    events(text)
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::Free { api, argument } => {
                let again = if freed(&argument.pointer) { " again" } else { "" };
                Some(format!("{api} {}{again}", pointer(&argument.pointer)))
            }
            _ => None,
        })
        .collect()
}

#[test]
fn memory_of_cuda_is_freed_by_whoever_frees_it() {
    // `free` and `delete` of the host's own memory are nobody's business.
    assert_eq!(
        frees(
            "void f() { float *a, *b, *h = (float*)malloc(8); cudaMallocHost(&a, 64); cudaMalloc(&b, 32); free(a); delete[] b; free(h); delete new int; }"
        ),
        ["free Pinned a 64+0", "delete Device b 32+0"]
    );
    assert_eq!(frees("void f() { float *h = (float*)malloc(8); cudaFree(h); }"), ["cudaFree Host h 8+0"]);
}

#[test]
fn memory_is_freed_from_its_start_alone() {
    let program = |first| format!("void f() {{ int *p; cudaMalloc(&p, 64); cudaFree({first}); cudaFree(p); }}");
    assert_eq!(frees(&program("p")), ["cudaFree Device p 64+0", "cudaFree Device p 64+0 again"]);
    assert_eq!(frees(&program("p + 4")), ["cudaFree Device p 64+16", "cudaFree Device p 64+0"]);
}
