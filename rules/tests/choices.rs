//! What is told of a launch under conditions that nothing decides: where they choose among ways to go, what each way does holds.
#![allow(clippy::panic)]

mod common;

use common::of;

const HEAD: &str = "#include <cuda_runtime.h>
#include <cstring>
#include <cstdlib>
#include <string>
enum Kind { SMALL, BIG, HUGE = 64 };
bool fits(int threads);
int ask(int what);
__global__ void mark(float *out) { if (threadIdx.x == 0) out[blockIdx.x] = 1; }
";

fn exceeds(text: &str) -> usize {
    of("launch-exceeds-device-limit", &format!("{HEAD}{text}")).len()
}

#[test]
fn choices_of_who_calls_ask_nothing_of_the_device() {
    for text in [
        "void run(float *out, int mode) { if (mode == 1) mark<<<1, 256>>>(out); else mark<<<1, dim3(64, 64)>>>(out); }",
        "void run(float *out, unsigned mode) { if (mode != 0) return; mark<<<1, 2048>>>(out); }",
        "void run(float *out, bool fast) { if (fast) mark<<<1, 2048>>>(out); }",
        "void run(float *out, bool fast, bool small) { if (!fast && !small) mark<<<1, 2048>>>(out); }",
        "void run(float *out, char way) { if (way == 'b') mark<<<1, 2048>>>(out); }",
        "void run(float *out, Kind kind) { if (kind == BIG) mark<<<1, 2048>>>(out); }",
        "void run(float *out, Kind kind) { switch (kind) { case SMALL: break; default: mark<<<1, 2048>>>(out); } }",
        "void run(float *out, int n) { bool all = n == 1; if (all) mark<<<1, 2048>>>(out); }",
        "void run(float *out, int mode) { switch (mode) { case 3: mark<<<1, 2048>>>(out); break; default: mark<<<1, 9>>>(out); } }",
        "void run(float *out, const char *way) { if (strcmp(way, \"big\") == 0) mark<<<1, 2048>>>(out); }",
        "void run(float *out, const std::string &way) { if (way == \"big\") mark<<<1, 2048>>>(out); }",
        "void run(float *out, const char *way) { bool big = !strcmp(way, \"big\"); if (big) mark<<<1, 2048>>>(out); }",
        "void launch(float *out) { mark<<<1, 2048>>>(out); }
void run(float *out, int mode) { if (mode == 1) launch(out); }",
    ] {
        assert_eq!(exceeds(text), 1, "{text}");
    }
}

#[test]
fn conditions_that_may_ask_what_the_device_has_stay_open() {
    for text in [
        // Sizes, and what a device or code out of sight says.
        "void run(float *out, int most) { if (most >= 2048) mark<<<1, 2048>>>(out); }",
        "void run(float *out, int most) { if (most == 2048) mark<<<1, 2048>>>(out); }",
        "void run(float *out) { if (fits(2048)) mark<<<1, 2048>>>(out); }",
        "void run(float *out) { bool large = fits(2048); if (large) mark<<<1, 2048>>>(out); }",
        "void run(float *out) { int large = ask(2048); if (large == 1) mark<<<1, 2048>>>(out); }",
        "void run(float *out, bool large) { large = fits(2048); if (large) mark<<<1, 2048>>>(out); }",
        "void run(float *out, bool large) { ask((int)(size_t)&large); if (large) mark<<<1, 2048>>>(out); }",
        "void run(float *out, bool fast) { if (fast && fits(2048)) mark<<<1, 2048>>>(out); }",
        "void run(float *out, bool fast) { if (fast) { if (fits(2048)) mark<<<1, 2048>>>(out); } }",
        "void run(float *out, bool fast) { if (!fits(2048)) return; if (fast) mark<<<1, 2048>>>(out); }",
        "void run(float *out) { cudaDeviceProp p; cudaGetDeviceProperties(&p, 0); if (p.major == 9) mark<<<1, 2048>>>(out); }",
        "void run(float *out) { cudaDeviceProp p; cudaGetDeviceProperties(&p, 0); if (strcmp(p.name, \"X\") == 0) mark<<<1, 2048>>>(out); }",
        "void run(float *out) { int a; cudaDeviceGetAttribute(&a, cudaDevAttrMultiProcessorCount, 0); bool b = a == 2; if (b) mark<<<1, 2048>>>(out); }",
        // Callers in sight know.
        "static void run(float *out, bool large) { if (large) mark<<<1, 2048>>>(out); }
void go(float *out) { run(out, fits(2048)); }",
        "static void launch(float *out) { mark<<<1, 2048>>>(out); }
static void run(float *out, bool large) { if (large) launch(out); }
void go(float *out) { run(out, fits(2048)); }",
        // Numbers that the block itself has: nobody may come by with them.
        "void run(float *out, int n) { switch (n) { case 16: mark<<<1, 256>>>(out); break; case 2048: mark<<<1, 2048>>>(out); } }",
        "void run(float *out, int n) { switch (n) { case 8: mark<<<1, 64>>>(out); break; case 12: mark<<<1, dim3(12, 12, 12)>>>(out); } }",
        "template <int N> void launch(float *out) { mark<<<1, N * N * N>>>(out); }
void run(float *out, int n) { if (n == 4) launch<4>(out); if (n == 12) launch<12>(out); }",
    ] {
        assert_eq!(exceeds(text), 0, "{text}");
    }
}

#[test]
fn shared_memory_is_too_much_on_every_way() {
    let told = |text: &str| of("shared-memory-over-limit", &format!("{HEAD}{text}")).len();
    assert_eq!(told("void run(float *out, int mode) { if (mode == 1) mark<<<1, 64, 1 << 20>>>(out); }"), 1);
    assert_eq!(told("void run(float *out, bool big) { if (big) mark<<<1, 64, 64 * 1024>>>(out); }"), 1);
    assert_eq!(told("void run(float *out) { if (fits(1)) mark<<<1, 64, 1 << 20>>>(out); }"), 0);
    // What allows it stands under the same condition.
    let raise = "cudaFuncSetAttribute(mark, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536)";
    let text = format!(
        "void run(float *out, bool big) {{ if (big) {raise}; mark<<<1, 64>>>(out); if (big) mark<<<1, 64, 65536>>>(out); }}"
    );
    assert_eq!(told(&text), 0);
    let text = format!(
        "void prepare() {{ {raise}; }} void run(float *out, bool big) {{ if (big) mark<<<1, 64, 65536>>>(out); }}"
    );
    assert_eq!(told(&text), 0);
}
