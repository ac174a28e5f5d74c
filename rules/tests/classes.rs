//! Classes that a header declares and another file defines, and what kernels and members have without saying so.

mod common;

use common::{of, of_files};

const HEADER: &str = "#pragma once
class Filter {
public:
    void init(int n);
    static int rounded(int n);
private:
    int count;
    double *w, *dev_w;
};
";

fn source(copy: &str) -> String {
    format!(
        "#include \"filter.h\"
#include <cstdlib>
int Filter::rounded(int n) {{ return (n + 127) / 128 * 128; }}
void Filter::init(int n) {{
    count = rounded(n);
    w = (double *)malloc(sizeof(double) * count);
    if (cudaMalloc((void **)&dev_w, sizeof(double) * count) != cudaSuccess) exit(1);
    if ({copy} != cudaSuccess) exit(1);
}}
int main() {{ Filter f; f.init(500); }}
"
    )
}

#[test]
fn methods_that_stand_apart_from_their_class_are_methods() {
    let files = |copy: &str| {
        let text = source(copy);
        let found = of_files("wrong-copy-direction", &[("filter.h", HEADER), ("filter.cu", &text)]).len();
        (found, of_files("copy-exceeds-allocation", &[("filter.h", HEADER), ("filter.cu", &text)]).len())
    };
    assert_eq!(files("cudaMemcpy(w, dev_w, sizeof(double) * count, cudaMemcpyHostToDevice)"), (1, 0));
    assert_eq!(files("cudaMemcpy(dev_w, w, sizeof(double) * (count + 1), cudaMemcpyHostToDevice)"), (0, 1));
    assert_eq!(files("cudaMemcpy(dev_w, w, sizeof(double) * count, cudaMemcpyHostToDevice)"), (0, 0));
}

/// A namespace of that name, or a class that declares no such function, makes no method.
#[test]
fn functions_of_namespaces_stay_functions() {
    let header = "#pragma once\nnamespace tools { float *make(int n); }\n";
    let text = "#include \"tools.h\"
float *tools::make(int n) { float *p; return cudaMalloc(&p, n) == cudaSuccess ? p : nullptr; }
int main() {
    float *p = tools::make(64);
    if (cudaMemset(p, 0, 65) != cudaSuccess) return 1;
}
";
    assert_eq!(of_files("copy-exceeds-allocation", &[("tools.h", header), ("tools.cu", text)]).len(), 1);
}

#[test]
fn a_launch_leaves_out_parameters_with_defaults() {
    let text = |bound: &str| {
        format!(
            "const int n = 1000;
__global__ void fill(float *a, int size = {bound}) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size) a[i] = 1;
}}
void run() {{
    float *a;
    if (cudaMalloc(&a, n * sizeof(float)) != cudaSuccess) return;
    fill<<<(n + 255) / 256, 256>>>(a);
}}
"
        )
    };
    assert!(of("guard-does-not-cover-access", &text("n")).is_empty());
    assert_eq!(of("guard-does-not-cover-access", &text("n + 1")).len(), 1);
}

#[test]
fn members_of_bases_reach_the_kernel() {
    let text = |base: &str| {
        format!(
            "struct Base {{ int *data; int count; {base} }};
struct Grid : Base {{ int w, h; }};
__global__ void fill(Grid g) {{ int x = threadIdx.x + blockIdx.x * blockDim.x; if (x <= g.w) g.data[x] = 1; }}
void run() {{
    Grid g;
    if (cudaMalloc(&g.data, 1000 * 4) != cudaSuccess) return;
    g.w = 1000;
    g.h = 1;
    fill<<<4, 256>>>(g);
}}
"
        )
    };
    assert_eq!(of("guard-does-not-cover-access", &text("")).len(), 1);
    // What is no plain data may have the next member in its tail.
    assert!(of("guard-does-not-cover-access", &text("Base() {}")).is_empty());
}

#[test]
fn types_of_the_c_library_are_numbers() {
    let text = |ty: &str| {
        format!(
            "#include <sys/types.h>
typedef {ty} Count;
__global__ void fill(float *a, Count n) {{ Count i = blockIdx.x * blockDim.x + threadIdx.x; if (i <= n) a[i] = 1; }}
void run() {{
    float *a;
    if (cudaMalloc(&a, 1000 * sizeof(float)) != cudaSuccess) return;
    fill<<<4, 256>>>(a, 1000);
}}
"
        )
    };
    for ty in ["u_int32_t", "u_int", "u_int16_t", "u_long"] {
        assert_eq!(of("guard-does-not-cover-access", &text(ty)).len(), 1, "{ty}");
    }
}

/// A size that is written as a number, and nothing that a program is to work on.
#[test]
fn numbers_that_agree_by_chance_say_nothing() {
    let copy = |count: &str| {
        format!(
            "void run(float *h) {{
    float *d;
    const int n = 4096, c = n / 4;
    if (cudaMalloc(&d, n * 4) != cudaSuccess) return;
    if (cudaMemcpy(d, h, {count}, cudaMemcpyHostToDevice) != cudaSuccess) return;
}}
"
        )
    };
    assert!(of("element-count-as-bytes", &copy("c * 4")).is_empty());
    assert_eq!(of("element-count-as-bytes", &copy("n")).len(), 1);
    let idle = |bytes: &str| {
        format!(
            "#include <cstdlib>
__global__ void k(float *p, int n) {{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) p[i] *= 2; }}
int main(int argc, char **argv) {{
    int n = 0;
    if (argc > 1) n = atoi(argv[1]);
    float *d;
    if (cudaMalloc(&d, {bytes}) != cudaSuccess) return 1;
    k<<<(n + 255) / 256, 256>>>(d, n);
}}
"
        )
    };
    assert!(of("empty-grid", &idle("n * sizeof(float)")).is_empty());
    assert_eq!(of("empty-grid", &idle("1024 * sizeof(float)")).len(), 1);
}
