use crate::support::kernel;
use cudalint_kernel::report::{EventKind, Reach};

/// A kernel of 64 threads around statements.
fn around(body: &str) -> String {
    format!(
        "__device__ float kept; __device__ void other(float v);
        __device__ void last(float v, float* out) {{ if (threadIdx.x < 64) return; out[0] = v; }}
        __global__ void k(float* out) {{ __shared__ float s[128]; int t = threadIdx.x; s[t] = t; __syncthreads(); {body} }}"
    )
}

/// The one event of a kernel of 64 threads and a buffer, as far as it tells whether what is read goes anywhere.
fn goes_nowhere(body: &str) -> bool {
    let seen = kernel(&around(body)).block(64).buffer(4096).seen();
    let reads: Vec<&String> =
        seen.iter().filter(|event| event.contains("unwritten") || event.contains("Read")).collect();
    assert!(!reads.is_empty(), "{body}: {seen:?}");
    let idle = reads.iter().filter(|event| event.starts_with("idle ")).count();
    assert!(idle == 0 || idle == reads.len(), "{body}: {seen:?}");
    idle > 0
}

#[test]
fn what_threads_behind_the_end_load_and_nobody_uses() {
    for body in [
        "float v = s[t] + s[t + 1]; if (t < 63) out[t] = v;",
        // A last warp that adds up more than there is.
        "float v = s[t + 33]; v += __shfl_down_sync(0xffffffff, v, 1); if (t < 16) out[t] = v;",
        // The same in memory.
        "if (t < 32) { float v = s[t + 40]; __syncwarp(); s[t] += v; __syncwarp(); if (t < 24) out[t] = s[t]; }",
        "float v[2]; v[0] = s[t]; v[1] = s[t + 64]; out[t] = v[0];",
        "float2 v = make_float2(s[t], s[t + 64]); out[t] = v.x;",
        "float least = fminf(s[t], s[t + 1]); if (t < 63) out[t] = least;",
        "float v = 0; for (int i = 0; i < 4; i++) v += s[t + i]; if (t < 60) out[t] = v;",
        "float v = s[t + 64]; v = 0; out[t] = v;",
        // A neighbour's value, read while it may be changed, of which nothing becomes.
        "float v = s[t ^ 32]; s[t] = 1; if (t < 0) out[t] = v;",
        // The thread that stores it stores something else there before anybody looks.
        "out[t] = s[t + 64]; out[t] = 1;",
        "out[t] = s[t ^ 32]; s[t] = 1; __syncthreads(); out[t] = s[t];",
        "float v = s[t + 64]; for (int i = 0; i < 4; i++) { out[t] = v; v = i; } out[t] = v;",
        // A function that returns at once.
        "last(s[t + 64], out);",
    ] {
        assert!(goes_nowhere(body), "{body}");
    }
}

#[test]
fn what_is_used_somewhere() {
    for body in [
        "out[t] = s[t + 1];",
        "float v = s[t + 33]; v += __shfl_down_sync(0xffffffff, v, 1); if (t < 31) out[t] = v;",
        "if (t < 32) { float v = s[t + 40]; __syncwarp(); s[t] += v; __syncwarp(); if (t < 25) out[t] = s[t]; }",
        "float v = s[t + 64]; if (v > 0) out[t] = 1;",
        "float v = s[t + 64]; while (v > 1) { v /= 2; out[t] += 1; }",
        "int v = s[t + 64]; out[v & 7] = 1;",
        "int v = s[t + 64]; float w = out[v & 7]; if (t < 0) out[t] = w;",
        "int v = s[t + 64]; switch (v) { case 1: out[t] = 1; break; default: out[t] = 2; }",
        "float v = s[t + 64]; out[t] = v > 0 ? 1 : 2;",
        "float v = s[t + 64]; if (t == 0 && v > 0) out[t] = 1;",
        "float v = s[t + 64]; atomicAdd(&s[0], v); __syncthreads(); out[t] = s[0];",
        "float v = s[t + 64]; atomicAdd(out, v);",
        "float v = s[t + 64]; other(v);",
        "float v = s[t + 64]; kept = v;",
        "float v = s[t + 64]; printf(\"%f\", v);",
        "float v = s[t + 64]; if (__any_sync(0xffffffff, v > 0)) out[t] = 1;",
        "float v = s[t + 64]; if (__syncthreads_or(v > 0)) out[t] = 1;",
        "float v[4]; v[t & 3] = s[t + 64]; out[t] = v[out[t] > 0 ? 1 : 2];",
        "float v = s[t + 64]; s[(int)out[t] & 63] = v; __syncthreads(); out[t] = s[t];",
        "float v = s[t + 64]; if (out[t] > 0) s[t] = v; __syncthreads(); out[t] = s[t];",
        "float v = s[t + 64]; s[t] = v; __syncthreads(); out[t] = s[(int)out[t] & 63];",
        "float v = s[t + 64]; s[t / 2] = v; __syncthreads(); out[t] = s[0];",
        "float v = s[t ^ 32]; s[t] = 1; out[t] = v;",
        "out[t] = s[t + 64]; if (t < 32) out[t] = 1;",
        "out[t] = s[t + 64]; __syncthreads(); float w = out[t ^ 1]; __syncthreads(); out[t] = w;",
        "out[t] = s[t + 64]; __threadfence(); out[t] = 1;",
        "out[t] = s[t + 64]; atomicAdd(out + 128, 1.0f); out[t] = 1;",
        "out[t] = s[t + 64]; __syncthreads(); out[t ^ 1] = 1;",
        "s[0] += 1; __syncthreads(); out[t] = s[0];",
        // What is read on the way is read in a race, too.
        "float v = s[t ^ 32]; s[t] = v + 1; float w = s[t ^ 32]; __syncthreads(); s[t] = w; __syncthreads(); out[t] = s[0];",
        "float v = s[t + 64]; asm volatile(\"st.global.f32 [%0], %1;\" :: \"l\"(out), \"f\"(v) : \"memory\");",
    ] {
        assert!(!goes_nowhere(body), "{body}");
    }
}

#[test]
fn what_is_shown_to_be_used() {
    let reach = |body: &str| -> Vec<Reach> {
        let report = kernel(&around(body)).block(64).buffer(4096).run();
        let unwritten = report.events.iter().filter(|event| matches!(event.kind, EventKind::UninitializedRead { .. }));
        unwritten.map(|event| event.reach).collect()
    };
    for body in [
        "out[t] = s[t + 1];",
        "float v = s[t + 64]; if (v > 0) out[t] = 1;",
        "int v = s[t + 64]; out[v & 7] = 1;",
        "float v = s[t + 64]; kept = v;",
        "float v = s[t + 64]; if (t < 32) s[t] = v; __syncthreads(); out[t] = s[t];",
        // A loop of which nobody knows how long it is.
        "for (int i = 0; i < (int)out[7]; i++) s[t] += out[i]; __syncthreads(); out[t] = s[t + 64];",
    ] {
        assert_eq!(reach(body), [Reach::Somewhere], "{body}");
    }
    // Another read is shown to be used; of this one nothing is known.
    let sum = "for (int i = 0; i < (int)out[7]; i++) s[t] += out[i]; __syncthreads();
        volatile float* m = s; if (t < 32) m[t] += m[t + 48]; if (t == 0) out[0] = s[0];";
    assert_eq!(reach(sum), [Reach::Open]);
}

/// Of a race between warps counts what other warps than that of the one lane that stores make of it.
#[test]
fn what_the_warp_of_the_storing_lane_reads_is_another_race() {
    let reach = |rounds: u32| -> Vec<Reach> {
        let text = format!(
            "__global__ void k(float* out) {{ __shared__ float s[64]; int t = threadIdx.x; s[t] = t; __syncthreads();
            float v = s[0]; for (int i = t; i < {rounds}; i += 64) out[i] = v; s[t] = 2; __syncthreads(); out[64 + t] = s[t]; }}"
        );
        let report = kernel(&text).block(64).buffer(4096).run();
        let races = report.events.iter().filter(|event| {
            matches!(&event.kind, EventKind::Race { scope: cudalint_kernel::report::RaceScope::Block, .. })
        });
        races.map(|event| event.reach).collect()
    };
    assert_eq!(reach(2), [Reach::Nowhere]);
    assert_eq!(reach(64), [Reach::Somewhere]);
}
