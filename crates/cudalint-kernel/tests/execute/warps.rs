use crate::support::kernel;

#[test]
fn a_full_mask_under_a_condition_that_parts_the_warp() {
    let seen = kernel("__global__ void k(float* a, int n) { int i = threadIdx.x; if (i < n) a[i] += __shfl_down_sync(0xffffffffu, a[i], 1); }")
        .block(32)
        .buffer(128)
        .int(20)
        .seen();
    assert!(seen.len() == 1 && seen[0].starts_with("mask ffffffff by 0.0 LaneAbsent"), "{seen:?}");
    kernel("__global__ void k(float* a, int n) { int i = threadIdx.x; float v = i < n ? a[i] : 0.f; float u = __shfl_down_sync(0xffffffffu, v, 1); if (i < n) a[i] = v + u; }")
        .block(32)
        .buffer(80)
        .int(20)
        .clean();
    kernel("__global__ void k(float* a, int n) { int i = threadIdx.x; unsigned m = __ballot_sync(0xffffffffu, i < n); if (i < n) a[i] += __shfl_down_sync(m, a[i], 1); }")
        .block(32)
        .buffer(128)
        .int(20)
        .clean();
}

#[test]
fn a_reduction_over_shuffles_and_slots() {
    kernel("__global__ void k(float* a) { __shared__ float s[32]; int t = threadIdx.x; float v = a[t];
        for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffff, v, o);
        if (t % 32 == 0) s[t / 32] = v; __syncthreads();
        if (t < 32) { v = t < blockDim.x / 32 ? s[t] : 0; for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffff, v, o); if (t == 0) a[0] = v; } }")
    .block(256)
    .buffer(1024)
    .clean();
}

#[test]
fn shuffled_indices_are_known() {
    kernel("__global__ void k(int* a) { int j = __shfl_xor_sync(0xffffffffu, (int)threadIdx.x, 1); a[j + 1] = 1; }")
        .block(32)
        .buffer(128)
        .sees(&["outside a[j+1] at 128 by 0.30 x1"]);
}

#[test]
fn the_old_way_of_the_last_warp() {
    let seen = kernel(
        "__global__ void k(float* a) { __shared__ float s[64]; int t = threadIdx.x; s[t] = a[t]; __syncthreads();
        if (t < 32) { volatile float* v = s; v[t] += v[t + 32]; v[t] += v[t + 16]; } if (t == 0) a[0] = s[0]; }",
    )
    .block(64)
    .buffer(256)
    .seen();
    assert!(!seen.is_empty() && seen.iter().all(|e| e.starts_with("race warp")), "{seen:?}");
}

#[test]
fn a_lane_that_its_mask_does_not_name() {
    kernel("__global__ void k(int* sum) { __shared__ int s[32]; int t = threadIdx.x; unsigned mask = __ballot_sync(0xffffffff, t < 16);
        if (t <= 16) { s[t] = t; __syncwarp(mask); if (t == 0) { *sum = s[3]; } } }")
    .block(32)
    .buffer(4)
    .sees(&["mask ffff by 0.16 CallerMissing"]);
}

/// Lanes wait for each other at an instruction of the whole warp, whoever writes it.
#[test]
fn assembly_of_the_whole_warp_keeps_its_lanes_in_step() {
    let exchange = |between: &str| {
        kernel(&format!(
            "__global__ void k(float* a) {{ __shared__ float s[32]; int t = threadIdx.x; s[t] = a[t]; __syncwarp();
             float v = s[31 - t], d = 0; {between} s[t] = v + d; __syncwarp(); a[t] = s[t ^ 1]; }}"
        ))
        .block(32)
        .buffer(128)
        .seen()
    };
    assert_eq!(exchange("").len(), 1);
    let matrix = "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %0}, {%1}, {%1}, {%0, %0};";
    for line in [matrix, "shfl.sync.bfly.b32 %0, %1, 1, 31, -1;", "redux.sync.add.s32 %0, %1, -1;"] {
        let seen = exchange(&format!("asm volatile(\"{line}\" : \"=f\"(d) : \"f\"(v));"));
        assert!(seen.is_empty(), "{line}: {seen:?}");
    }
    for line in ["add.f32 %0, %1, %1;", "@p shfl.sync.bfly.b32 %0, %1, 1, 31, -1;"] {
        assert_eq!(exchange(&format!("asm volatile(\"{line}\" : \"=f\"(d) : \"f\"(v));")).len(), 1, "{line}");
    }
}
