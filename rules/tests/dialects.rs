//! Programs in other dialects of CUDA C++: what HIP, directives and parallel algorithms do otherwise is no defect.
#![allow(clippy::panic, clippy::indexing_slicing)]

use cudalint_engine::Engine;
use cudalint_findings::Finding;

/// Findings in some files.
fn of(files: &[(&str, &str)]) -> Vec<Finding> {
    let files: Vec<(String, &str)> = files.iter().map(|(path, text)| ((*path).to_owned(), *text)).collect();
    match Engine::new(cudalint_rules::RULES).lint_texts(&files, None) {
        Ok(all) => all,
        Err(error) => panic!("{error}"),
    }
}

fn rules(files: &[(&str, &str)]) -> Vec<&'static str> {
    of(files).iter().map(|finding| finding.rule.name).collect()
}

/// Lanes of one wavefront exchange values through shared memory.
const LANES: &str = "__global__ void turn(int *o) {
    __shared__ int t[64];
    t[threadIdx.x] = o[threadIdx.x];
    o[threadIdx.x] = t[63 - threadIdx.x];
}
void run(int *o) { turn<<<1, 64>>>(o); }
";

#[test]
fn lanes_of_a_wavefront_are_in_step() {
    let hip = format!("#include <hip/hip_runtime.h>\n{LANES}");
    let races = |files: &[(&str, &str)]| rules(files).contains(&"shared-memory-race");
    assert!(races(&[("a.cu", LANES)]));
    assert!(!races(&[("a.cu", &hip)]) && !races(&[("a.hip", LANES)]));
    // A header is what the files are that include it.
    let header = ("turn.h", LANES);
    assert!(!races(&[("a.cu", "#include <hip/hip_runtime.h>\n#include \"turn.h\"\n"), header]));
    assert!(races(&[("a.cu", "#include <cuda_runtime.h>\n#include \"turn.h\"\n"), header]));
    let wider = LANES.replace("64", "128").replace("63", "127");
    assert!(races(&[("a.hip", &wider)]), "two wavefronts are not");
}

#[test]
fn what_a_wavefront_does_together_is_not_known() {
    let text = "__global__ void k(int *o) {
    int lane = threadIdx.x % warpSize;
    unsigned long long all = __ballot(1);
    int sum = __shfl_down(lane, 32);
    o[lane + warpSize * (threadIdx.x / warpSize) + (all == 0xffffffff) + sum] = 1;
}
int main() {
    int *o;
    if (hipMalloc(&o, 64 * sizeof(int)) != hipSuccess) return 1;
    k<<<1, 64>>>(o);
    if (hipGetLastError() != hipSuccess) return 1;
    if (hipDeviceSynchronize() != hipSuccess) return 1;
}
";
    assert_eq!(rules(&[("a.hip", text)]), [""; 0]);
}

#[test]
fn hip_has_names_of_its_own() {
    let text = "#include <hip/hip_runtime.h>
template <typename T, int N> __global__ void fill(T *o, int n) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i <= n) o[i] = N;
}
int main() {
    int *o;
    if (hipMalloc(&o, 128 * sizeof(int)) != hipSuccess) return 1;
    LAUNCH, dim3(3), dim3(64), 0, 0, o, 128);
    hipDeviceSynchronize();
    return clock() > 0;
}
";
    for launch in ["hipLaunchKernelGGL((fill<int, 3>)", "hipLaunchKernelGGL(HIP_KERNEL_NAME(fill<int, 3>)"] {
        let text = text.replace("LAUNCH", launch);
        let all = of(&[("a.cpp", &text)]);
        let said: Vec<(&str, &str)> = all.iter().map(|it| (it.rule.name, it.message.as_str())).collect();
        let [(guard, _), (launch, message)] = said[..] else { panic!("{said:?}") };
        assert_eq!((guard, launch), ("guard-does-not-cover-access", "unchecked-api-call"));
        assert!(message.contains("`hipDeviceSynchronize`") && !message.contains("CUDA"), "{message}");
    }
}

#[test]
fn both_sides_may_share_the_heap() {
    let kernel = "__global__ void twice(float *x) { x[threadIdx.x] *= 2; }\n";
    let text = |before: &str, around: &str| {
        format!(
            "{before}\n#include <cstdlib>\n{kernel}int main() {{\n    float *x = (float *)malloc(256 * sizeof(float));\n{around}\n    \
             {{ twice<<<1, 256>>>(x); }}\n    return cudaDeviceSynchronize();\n}}\n"
        )
    };
    let found = |before: &str, around: &str| rules(&[("a.cu", &text(before, around))]).contains(&"wrong-address-space");
    assert!(found("", ""));
    for (before, around) in [
        ("", "#pragma acc host_data use_device(x)"),
        ("", "#pragma omp target data map(tofrom: x[0:256]) use_device_ptr(x)"),
        ("#pragma omp requires unified_shared_memory", ""),
        ("#include <sycl/sycl.hpp>", ""),
        ("#include <hip/hip_runtime.h>", ""),
    ] {
        assert!(!found(before, around), "{before}{around}");
    }
}
