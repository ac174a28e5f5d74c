//! What a copy says of what stands behind it, and sizes that callers give without a word of how they belong together.

mod common;

use common::of;

/// A copy that is told the wrong sides moves nothing: how much it would have moved is no second mistake.
#[test]
fn a_copy_in_the_wrong_direction_exceeds_nothing() {
    let text = |kind: &str| {
        format!(
            "void run() {{
    int h[16], *d;
    if (cudaMalloc(&d, 4096) != cudaSuccess) return;
    if (cudaMemcpy(h, d, 4096, {kind}) != cudaSuccess) return;
}}
"
        )
    };
    assert_eq!(of("copy-exceeds-allocation", &text("cudaMemcpyDeviceToHost")).len(), 1);
    assert!(of("copy-exceeds-allocation", &text("cudaMemcpyHostToDevice")).is_empty());
    assert_eq!(of("wrong-copy-direction", &text("cudaMemcpyHostToDevice")).len(), 1);
}

/// Where a copy of `w * d` bytes has gone well, memory of `w * h` bytes holds them.
#[test]
fn kernels_behind_a_copy_have_what_it_has_copied() {
    let text = |copy: &str| {
        format!(
            "#include <cstdlib>
__global__ void clear(char *p, int w, int d) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < w * d) p[i] = 0;
}}
int main(int argc, char **argv) {{
    int w = atoi(argv[1]), h = atoi(argv[2]), d = atoi(argv[3]);
    char *p, *host = (char *)malloc(w * d);
    if (cudaMalloc(&p, w * h) != cudaSuccess) return 1;
    {copy}
    clear<<<(w * d + 255) / 256, 256>>>(p, w, d);
}}
"
        )
    };
    assert_eq!(of("guard-does-not-cover-access", &text("")).len(), 1);
    let copied = "if (cudaMemcpy(p, host, w * d, cudaMemcpyHostToDevice) != cudaSuccess) return 1;";
    assert!(of("guard-does-not-cover-access", &text(copied)).is_empty());
}

/// Without an argument the `switch` leaves: what stands behind it is in no run without one.
#[test]
fn what_a_switch_leaves_out_rests_on_no_default() {
    let text = |default: &str| {
        format!(
            "#include <cstdlib>
__constant__ int table[64];
int main(int argc, char **argv) {{
    int n = 4096, op = -1;
    if (argc > 1) {{ n = atoi(argv[1]); op = 0; }}
    switch (op) {{ case 0: break; default: {default} }}
    int *d;
    if (cudaMalloc(&d, 64 * sizeof(int)) != cudaSuccess) return 1;
    if (cudaMemset(d, 0, n) != cudaSuccess) return 1;
}}
"
        )
    };
    assert_eq!(of("copy-exceeds-allocation", &text("break;")).len(), 1);
    let found = of("copy-exceeds-allocation", &text("return 1;"));
    let rests =
        |text: &str| found.iter().flat_map(|it| &it.witness).any(|it| it.assumptions.iter().any(|a| a.contains(text)));
    assert!(!rests("no command-line argument"), "{found:#?}");
}

/// `length` beside `width` and `height` is what callers make it; what the user of a program gives is related to nothing.
#[test]
fn sizes_of_callers_are_not_chosen_apart() {
    let kernel = "#include <cstdlib>
__global__ void invert(unsigned char *p, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h) p[y * w + x] = 255 - p[y * w + x];
}
";
    let body = |size: &str| {
        format!(
            "    unsigned char *d;
    if (cudaMalloc(&d, {size}) != cudaSuccess) return;
    if (cudaMemset(d, 0, {size}) != cudaSuccess) return;
    invert<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(d, w, h);
}}
"
        )
    };
    let told = |text: String| of("guard-does-not-cover-access", &text).len();
    assert_eq!(told(format!("{kernel}void run(int length, int w, int h) {{\n{}", body("length"))), 0);
    assert_eq!(told(format!("{kernel}void run(int length, int w, int h) {{\n{}", body("w * (h - 1)"))), 1);
    let program = format!(
        "{kernel}int main(int argc, char **argv) {{
    int length = atoi(argv[1]), w = atoi(argv[2]), h = atoi(argv[3]);\n{}",
        body("length").replace("return;", "return 1;")
    );
    assert_eq!(told(program), 1);
}

/// A number that comes from out of sight is the number of elements that was allocated, and no number of bytes, whatever it is.
#[test]
fn counts_from_out_of_sight_that_were_allocated() {
    let program = |bytes: &str, count: &str| {
        format!(
            "struct Table {{ int rows, bytes; }};
int rows_of(const char *name);
void fill(const int *given, const Table &table) {{
    const int n = given[0], m = rows_of(\"a\");
    int *held;
    if (cudaMalloc(&held, {bytes}) != cudaSuccess) return;
    if (cudaMemset(held, 0, {count}) != cudaSuccess) return;
}}
"
        )
    };
    for (bytes, count, told) in [
        ("n * sizeof(int)", "n", 1),
        ("m * sizeof(int)", "m", 1),
        ("table.rows * sizeof(int)", "table.rows", 1),
        ("n * sizeof(int)", "m", 0),
        ("n * sizeof(int)", "n * 4", 0),
        ("table.rows * sizeof(int)", "table.bytes", 0),
        ("n", "n", 0),
    ] {
        assert_eq!(of("element-count-as-bytes", &program(bytes, count)).len(), told, "{bytes} {count}");
    }
}
