//! Statuses that hide nothing: nobody needs what the kernels compute, kernels that do nothing, results that the program compares.

#![allow(clippy::unwrap_used)]

mod common;

use common::at_lines;

const KERNEL: &str = "#include <cstdio>\n#include <cstdlib>\n__global__ void add(int *to, const int *from, int n) {\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) to[i] += from[i];\n}\n";

/// Whether a launch in `main`, between `before` and `behind`, is told, and how: lines with their confidence.
fn launch(before: &str, behind: &str) -> Vec<String> {
    let text = format!(
        "{KERNEL}int main() {{\n    int n = 1000, *to, *from, *a = (int *)malloc(4000), *b = (int *)malloc(4000);\n    {before}\n    cudaMalloc(&to, 4000);\n    cudaMalloc(&from, 4000);\n    cudaMemcpy(from, a, 4000, cudaMemcpyHostToDevice);\n    add<<<4, 256>>>(to, from, n);\n    {behind}\n    cudaFree(to);\n    cudaFree(from);\n    free(a);\n    free(b);\n    return 0;\n}}\n"
    );
    at_lines(&text, "unchecked-launch", "a.cu")
}

const FETCH: &str = "cudaMemcpy(b, to, 4000, cudaMemcpyDeviceToHost);";

#[test]
fn results_that_nobody_reads() {
    let fill = "for (int i = 0; i < n; i++) a[i] = rand();";
    assert_eq!(launch(fill, FETCH), ["13 possible"]);
    // What is read before is another thing.
    let fetch_to_a = "cudaMemcpy(a, to, 4000, cudaMemcpyDeviceToHost);";
    assert_eq!(launch("for (int i = 0; i < n; i++) b[i] = a[i] = rand();", fetch_to_a), ["13 possible"]);
    assert_eq!(launch("if (a == NULL || b == NULL) return 1;", FETCH), ["13 possible"]);
}

#[test]
fn results_that_somebody_may_read() {
    let read = |text: &str| format!("{FETCH}\n    {text}");
    let definite = ["13 definite"];
    // What a program is for that fetches nothing is not known.
    assert_eq!(launch("", ""), definite);
    assert_eq!(launch("", &read("printf(\"%d\\n\", b[0]);")), definite);
    assert_eq!(launch("int *c = b;", &read("printf(\"%d\\n\", c[0]);")), definite);
    assert_eq!(launch("int *c; c = b + 1;", &read("printf(\"%d\\n\", c[0]);")), definite);
    assert_eq!(launch("for (int k = 0; k < 2; k++) { if (k) printf(\"%d\\n\", b[0]);", &read("}")), definite);
    assert_eq!(launch("clock_t begin = clock();", &read("printf(\"%ld\\n\", clock() - begin);")), definite);
    let by_way = "int *more; cudaMalloc(&more, 4000); cudaMemcpy(more, to, 4000, cudaMemcpyDeviceToDevice);\n    cudaMemcpy(b, more, 4000, cudaMemcpyDeviceToHost); printf(\"%d\\n\", b[0]);";
    assert_eq!(launch("", by_way), definite);
    // Which may look at the last error, too.
    assert_eq!(launch("", &read("void show(int *); show(b);")), ["13 likely"]);
    assert_eq!(launch("", "void use(int *); use(to);"), ["13 likely"]);
}

#[test]
fn kernels_that_print_or_keep_something() {
    let text = "#include <cstdio>\n__device__ int kept;\n__global__ void k(int *p) { BODY }\nint main() {\n    int *p, own;\n    cudaMalloc(&p, 4);\n    k<<<1, 1>>>(p);\n    cudaMemcpy(&own, p, 4, cudaMemcpyDeviceToHost);\n    cudaFree(p);\n}\n";
    let with = |body: &str| at_lines(&text.replace("BODY", body), "unchecked-launch", "a.cu");
    assert_eq!(with("*p = 1;"), ["7 possible"]);
    assert_eq!(with("*p = 1; printf(\"hello\\n\");"), ["7 definite"]);
    // A kernel without a body is not missed.
    assert_eq!(with(""), [] as [String; 0]);
    assert_eq!(with("/* nothing */"), [] as [String; 0]);
}

#[test]
fn results_that_a_function_compares() {
    let text = |answer: &str| {
        format!(
            "#include <cstdio>\n__global__ void twice(int *a, int n) {{ int i = threadIdx.x; if (i < n) a[i] *= 2; }}\nbool are_doubled(int *a, int n) {{\n    for (int i = 0; i < n; i++) {{\n        {answer}\n    }}\n    return true;\n}}\nint main() {{\n    int *a;\n    cudaMallocManaged(&a, 400);\n    for (int i = 0; i < 100; i++) a[i] = i;\n    twice<<<1, 128>>>(a, 100);\n    cudaDeviceSynchronize();\n    bool ok = are_doubled(a, 100);\n    printf(\"%s\\n\", ok ? \"yes\" : \"no\");\n    cudaFree(a);\n}}\n"
        )
    };
    assert_eq!(at_lines(&text("if (a[i] != 2 * i) return false;"), "unchecked-launch", "a.cu"), ["13 possible"]);
    assert_eq!(at_lines(&text("if (a[i] > 2 * i) a[i] = 0;"), "unchecked-launch", "a.cu"), ["13 definite"]);
}

#[test]
fn containers_that_throw_where_they_end() {
    let text = |container: &str| {
        format!(
            "#include <thrust/device_vector.h>\n__global__ void k(int *p) {{ *p = 1; printf(\"done\"); }}\nint main() {{\n    int *out;\n    if (cudaMalloc(&out, 4)) return 1;\n    {container}\n    k<<<1, 1>>>(out);\n    if (cudaGetLastError() != cudaSuccess) return 1;\n    cudaDeviceSynchronize();\n    return 0;\n}}\n"
        )
    };
    let told = |container: &str| at_lines(&text(container), "unchecked-api-call", "a.cu");
    assert_eq!(told("thrust::device_vector<int> v(10);"), ["9 possible"]);
    assert_eq!(told("thrust::host_vector<int> v(10);"), ["9 definite"]);
}

#[test]
fn failures_that_are_handed_on_by_a_number_of_the_program() {
    let text = |condition: &str, answer: &str| {
        format!(
            "enum {{ FINE, WRONG }};\n__global__ void k(int *p) {{ *p = 1; }}\nint run(int *p, int shape) {{\n    int code = FINE;\n    switch (shape) {{\n    case 0: code = WRONG; break;\n    case 1: k<<<1, 1>>>(p); break;\n    }}\n    if ({condition}) return {answer};\n    if (cudaGetLastError() != cudaSuccess) return WRONG;\n    return FINE;\n}}\n"
        )
    };
    let told = |condition: &str, answer: &str| at_lines(&text(condition, answer), "unchecked-launch", "a.cu");
    assert_eq!(told("code != FINE", "code"), [] as [String; 0]);
    assert_eq!(told("code", "code"), [] as [String; 0]);
    assert_eq!(told("shape != 1", "code"), ["7 likely"]);
    let with_truth = text("fine", "fine").replace("int code = FINE;", "bool fine = true; int code = FINE;");
    assert_eq!(at_lines(&with_truth, "unchecked-launch", "a.cu"), ["7 likely"]);
}

/// A program that a line takes times in; `to` is never filled, and `from` gets a quarter of its numbers.
fn measured(functions: &str, before: &str, behind: &str) -> Vec<String> {
    let text = format!(
        "{KERNEL}{functions}\nint main() {{\n    int n = 1000, *to, *from, *a = (int *)malloc(4000);\n    cudaMalloc(&to, 4000);\n    cudaMalloc(&from, 4000);\n    cudaMemcpy(from, a, n, cudaMemcpyHostToDevice);\n    {before}\n    add<<<4, 256>>>(to, from, n);\n    {behind}\n    cudaFree(to);\n    cudaFree(from);\n}}\n"
    );
    ["uninitialized-device-memory", "element-count-as-bytes"]
        .into_iter()
        .flat_map(|rule| at_lines(&text, rule, "a.cu").into_iter().map(move |line| format!("{rule} {line}")))
        .collect()
}

#[test]
fn memory_that_is_there_to_take_times() {
    let told = ["uninitialized-device-memory 5 definite", "element-count-as-bytes 12 definite"];
    let hidden = ["uninitialized-device-memory 5 possible", "element-count-as-bytes 12 possible"];
    assert_eq!(measured("", "", ""), told);
    // A clock of the program's own: the difference of what it gives twice.
    let clock = "double now();";
    let show = "printf(\"%f\\n\", now() - start);";
    assert_eq!(measured(clock, "double start = now();", show), hidden);
    let show = "end = now(); printf(\"%f\\n\", end - start);";
    assert_eq!(measured(clock, "double start, end; start = now();", show), hidden);
    assert_eq!(
        measured("double now(); double width();", "double start = now();", "printf(\"%f\\n\", width() - start);"),
        told
    );
    // Or a function that asks one.
    let helper = "float passed(cudaEvent_t a, cudaEvent_t b) { float ms; cudaEventElapsedTime(&ms, a, b); return ms; }";
    let show = "printf(\"%f\\n\", passed(a, b));";
    let before = "cudaEvent_t s, e;";
    assert_eq!(measured(helper, before, &show.replace("a, b", "s, e")), hidden);
    // What is shown besides is looked at.
    let show =
        "int first; cudaMemcpy(&first, to, 4, cudaMemcpyDeviceToHost); printf(\"%f %d\\n\", now() - start, first);";
    assert_eq!(measured(clock, "double start = now();", show), told);
}
