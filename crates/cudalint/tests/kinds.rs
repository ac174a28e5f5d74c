//! Which rule speaks of what happens, and of which sizes nothing is said.

#![allow(clippy::unwrap_used)]

mod common;

use common::at_lines;

/// A branch that goes on to something else before it stores is no update of what its condition reads.
#[test]
fn tests_of_a_number_that_another_thread_sets() {
    let told = |rule: &str, branch: &str| {
        let text = format!(
            "#include <cuda_runtime.h>\n__global__ void k(int *out) {{\n    __shared__ int left;\n    \
             if (threadIdx.x == 0) left = 4;\n    __syncthreads();\n    if (left > 2) {{\n        {branch}\n    }}\n    \
             out[threadIdx.x] = left;\n}}\n\
             int main() {{\n    int *d;\n    cudaMalloc(&d, 512);\n    k<<<1, 128>>>(d);\n    int h[128];\n    \
             cudaMemcpy(h, d, 512, cudaMemcpyDeviceToHost);\n    return h[5];\n}}\n"
        );
        !at_lines(&text, rule, "a.cu").is_empty()
    };
    let (update, race) = ("non-atomic-read-modify-write", "shared-memory-race");
    let own = "left = threadIdx.x;";
    assert!(told(update, own));
    let later = "if (threadIdx.x == 0) { out[0] = 1; left = 0; } __syncthreads();";
    assert!(!told(update, later) && told(race, later));
}

/// The grammar knows nothing of C's complex numbers.
#[test]
fn complex_numbers_of_c() {
    let told = |ty: &str| {
        let text = format!(
            "#include <complex.h>\n#include <cuda_runtime.h>\n{ty} sum;\nint main() {{\n    void *d;\n    cudaMalloc(&d, 16);\n    \
             cudaMemset(d, 0, 16);\n    cudaMemcpy(&sum, d, 16, cudaMemcpyDeviceToHost);\n    return 0;\n}}\n"
        );
        !at_lines(&text, "copy-exceeds-allocation", "a.cu").is_empty()
    };
    assert!(told("double"));
    for ty in ["double complex", "double _Complex", "float __complex__"] {
        assert!(!told(ty), "{ty}");
    }
    // Where nothing but the copy says how large it is.
    let text = "double complex sum;\ninline void stats(double *d) {\n    cudaMemcpyAsync(&sum, d, 16, cudaMemcpyDeviceToHost);\n}\n";
    assert_eq!(at_lines(text, "copy-exceeds-allocation", "a.cu"), [""; 0]);
}
