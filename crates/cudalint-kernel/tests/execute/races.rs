use crate::support::kernel;
use cudalint_kernel::Contents;

#[test]
fn a_shared_array_read_without_a_barrier() {
    let text = "__global__ void k(float* a) { __shared__ float s[256]; int t = threadIdx.x; s[t] = a[t]; BARRIER a[t] = s[255 - t]; }";
    kernel(&text.replace("BARRIER", "__syncthreads();")).buffer(1024).clean_and_complete();
    kernel(&text.replace("BARRIER", "")).buffer(1024).sees(&["race block Write s[t] / Read s[255-t]"]);
}

#[test]
fn neighbours_in_a_warp_are_a_thing_of_their_own() {
    let text = "__global__ void k(float* a) { __shared__ float s[64]; int t = threadIdx.x; s[t] = a[t]; SYNC a[t] = s[t ^ 1]; }";
    kernel(&text.replace("SYNC", "")).block(64).buffer(1024).sees(&["race warp Write s[t] / Read s[t^1]"]);
    kernel(&text.replace("SYNC", "__syncwarp();")).block(64).buffer(1024).clean();
}

#[test]
fn a_tile_reused_by_the_next_round() {
    let text = "__global__ void k(float* a, int n) { __shared__ float s[128]; int t = threadIdx.x; float v = 0;
        for (int b = 0; b < n; b += 128) { s[t] = a[b + t]; __syncthreads(); v += s[127 - t]; SECOND } a[t] = v; }";
    let seen = kernel(&text.replace("SECOND", "")).block(128).buffer(2048).int(512).seen();
    assert_eq!(seen, ["race block Read s[127-t] / Write s[t] across"]);
    let seen = kernel(&text.replace("SECOND", "__syncthreads();")).block(128).buffer(2048).int(512).seen();
    assert!(seen.is_empty(), "{seen:?}");
}

#[test]
fn a_collective_that_loads_directly_leaves_its_storage_alone() {
    let text = "__global__ void k(int* a, int n) {
        typedef cub::BlockLoad<int, 128, 4 ALGORITHM> Load; __shared__ typename Load::TempStorage temp; int v[4];
        for (int b = 0; b < n; b++) { Load(temp).Load(a + b * 512, v); } }";
    let of = |algorithm: &str| kernel(&text.replace("ALGORITHM", algorithm)).block(128).buffer(8192).int(4).seen();
    let seen = of(", cub::BLOCK_LOAD_WARP_TRANSPOSE");
    assert!(seen.iter().any(|event| event.starts_with("race block")), "{seen:?}");
    assert!(of("").is_empty() && of(", cub::BLOCK_LOAD_DIRECT").is_empty());
    assert!(of(", cub::BLOCK_LOAD_VECTORIZE").is_empty());
}

#[test]
fn two_buffers_in_turn_need_one_barrier() {
    kernel("__global__ void k(float* a, int n) { __shared__ float s[2][128]; int t = threadIdx.x; float v = 0;
        for (int b = 0; b < n; b++) { s[b & 1][t] = a[b * 128 + t]; __syncthreads(); v += s[b & 1][127 - t]; } a[t] = v; }")
    .block(128)
    .buffer(2048)
    .int(4)
    .clean_and_complete();
}

#[test]
fn all_threads_that_store_one_value_agree() {
    kernel("__global__ void k(int* a, int v) { __shared__ int s; s = v; a[0] = v; if (threadIdx.x > 3) a[1] = 7; }")
        .buffer(64)
        .int(3)
        .sees(&[
            "race warp same Write s / Write s",
            "race block same Write s / Write s",
            "race warp same Write a[0] / Write a[0]",
            "race block same Write a[0] / Write a[0]",
            "race warp same Write a[1] / Write a[1]",
            "race block same Write a[1] / Write a[1]",
        ]);
}

#[test]
fn an_update_without_an_atomic() {
    let seen =
        kernel("__global__ void k(int* c) { c[0] += 1; }").grid(2).block(64).holding(4, Contents::Filled(0)).seen();
    assert!(seen.contains(&"race block differ UpdateRead c[0] / UpdateWrite c[0]".to_owned()), "{seen:?}");
    assert!(seen.iter().any(|e| e.starts_with("race grid")), "{seen:?}");
    kernel("__global__ void k(int* c) { atomicAdd(c, 1); atomicAdd(&c[threadIdx.x % 4], 1); }")
        .grid(2)
        .buffer(64)
        .clean();
}

#[test]
fn operators_of_an_atomic_are_atomic() {
    let text = "__global__ void k(TYPE* c, int* seen) { *c += 2; (*c)++; --*c; *c |= 4; seen[threadIdx.x] = *c + 1; }";
    kernel(&text.replace("TYPE", "cuda::atomic<int, cuda::thread_scope_device>")).buffer(4).buffer(1024).clean();
    kernel(&text.replace("TYPE", "cuda::std::atomic<int>")).buffer(4).buffer(1024).clean();
    let seen = kernel(&text.replace("TYPE", "int")).buffer(4).buffer(1024).seen();
    assert!(seen.iter().any(|event| event.starts_with("race block")), "{seen:?}");
    let text = "__global__ void k(int* c) { cuda::atomic_ref<int> a(*c); a += 1; ++a; MORE }";
    kernel(&text.replace("MORE", "")).buffer(4).clean();
    let seen = kernel(&text.replace("MORE", "*c = threadIdx.x;")).buffer(4).seen();
    assert!(seen.iter().any(|event| event.starts_with("race block")), "{seen:?}");
}

#[test]
fn blocks_are_not_ordered_by_a_barrier_of_theirs() {
    let text = "__global__ void k(float* a, float* b, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) a[i] *= 2; __syncthreads(); if (i < n) b[i] = a[i] + (i > 0 ? a[i - 1] : 0.f); }";
    let seen = kernel(text).grid(4).buffer(4096).buffer(4096).int(1000).seen();
    assert_eq!(
        seen,
        ["race grid UpdateWrite a[i] / Read a[i-1] between", "race grid Read a[i-1] / UpdateWrite a[i] between"]
    );
}

#[test]
fn the_last_block_may_read_what_all_wrote() {
    kernel(
        "__device__ int done; __global__ void k(float* a, float* out) { __shared__ bool last;
        a[blockIdx.x] = 1; __threadfence();
        if (threadIdx.x == 0) last = atomicAdd(&done, 1) == gridDim.x - 1;
        __syncthreads();
        if (last) { float s = 0; for (int i = threadIdx.x; i < gridDim.x; i += blockDim.x) s += a[i]; out[0] = s; } }",
    )
    .grid(4)
    .block(1)
    .buffer(16)
    .buffer(4)
    .clean();
}

#[test]
fn who_waited_for_a_flag_is_ordered() {
    kernel("__global__ void k(volatile int* flag, float* a) { if (blockIdx.x == 1) { while (flag[0] == 0) { } a[0] = a[1]; }
        else { a[1] = 3; __threadfence(); flag[0] = 1; } }")
    .grid(2)
    .block(1)
    .buffer(4)
    .buffer(64)
    .clean();
    kernel("__global__ void k(int* lock, float* a) { while (atomicCAS(lock, 0, 1) != 0) { } a[0] += 1; __threadfence(); atomicExch(lock, 0); }")
        .grid(2)
        .buffer(4)
        .buffer(64)
        .clean();
}

#[test]
fn one_thread_that_reads_what_all_wrote_races_with_both_warps() {
    kernel(
        "__shared__ int s[128]; __global__ void k(int* a, int* sum) { int t = threadIdx.x; s[t] = a[t] + t;
        if (t == 0) { *sum = 0; for (int i = 0; i < 128; ++i) { *sum += s[i]; } } }",
    )
    .block(128)
    .buffer(512)
    .buffer(4)
    .sees(&["race warp Write s[t] / Read s[i]", "race block Write s[t] / Read s[i]"]);
}

#[test]
fn a_value_that_nobody_knows_may_be_the_same_in_all_threads() {
    // Of a parameter, of memory at an index that all threads share, of a reduction, of a vote.
    for value in [
        "v + 1",
        "a[v]",
        "a[a[v] + 1]",
        "sum(a[threadIdx.x])",
        "most(a[threadIdx.x])",
        "__shfl_sync(0xffffffff, a[threadIdx.x], 0)",
        "__any_sync(0xffffffff, a[threadIdx.x] > 3)",
    ] {
        let text = format!("
            __device__ int sum(int v) {{ for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(0xffffffff, v, o); return v; }}
            __device__ int most(int v) {{ for (int o = 16; o; o >>= 1) v = max(v, __shfl_xor_sync(0xffffffff, v, o)); return v; }}
            __global__ void k(const int* a, int v) {{ __shared__ int s; int x = {value}; s = x; }}");
        kernel(&text).block(32).buffer(1024).unknown().sees(&["race warp same Write s / Write s"]);
    }
    kernel("__global__ void k(const int* a) { __shared__ int s; s = a[threadIdx.x]; }")
        .block(32)
        .buffer(1024)
        .sees(&["race warp Write s / Write s"]);
}

#[test]
fn an_atomic_of_ones_own_making_begins_with_a_plain_read() {
    kernel("__device__ int add(int* p, int v) { int old = *p, seen; do { seen = old; old = atomicCAS(p, seen, seen + v); } while (old != seen); return old; }
        __global__ void k(int* c) { add(c, 1); }")
    .grid(2)
    .buffer(4)
    .clean();
    kernel("__global__ void k(int* c, int* o) { atomicAdd(c, 1); o[threadIdx.x] = *c; }")
        .buffer(4)
        .buffer(1024)
        .sees(&["race block differ Atomic atomicAdd(c,1) / Read *c"]);
}

#[test]
fn adding_nothing_stores_what_was_there() {
    kernel("__global__ void k(const float* a, float* b) { __shared__ float s[128]; int t = threadIdx.x; s[t] = a[t]; __syncthreads();
        float v = t < 64 ? s[t + 64] : 0.f; if (t >= 64) s[t] += v; b[t] = v; }")
    .block(128)
    .buffer(512)
    .buffer(512)
    .clean();
    // What is stored back changes nothing for those who read meanwhile, and what they store of it nothing either.
    let text = "__device__ float same(float x) { return x; } \
        __global__ void k(const float* a, float* b) { __shared__ float s[64]; int t = threadIdx.x; s[t] = a[t]; __syncthreads(); \
        float v = s[63 - t]; CHANGE s[63 - t] = same(s[63 - t]); b[t] = v; }";
    let with = |change: &str| kernel(&text.replace("CHANGE", change)).block(64).buffer(256).buffer(256);
    let seen = with("s[t] = s[t];").seen();
    assert!(seen.iter().all(|event| event.contains("same Write")), "{seen:?}");
    let seen = with("s[t] = s[t] * 2;").seen();
    assert!(seen.iter().any(|event| event.contains("Read s[63-t] / Write s[t]")), "{seen:?}");
}

#[test]
fn what_the_first_lane_of_a_step_changed_others_leave_changed() {
    // All lanes of a warp store the same sum.
    let text = "__global__ void k(float* out, const float* in) { __shared__ float s[8]; int warp = threadIdx.x / 32; \
        s[warp] = in[warp]; BARRIER out[threadIdx.x] = s[threadIdx.x % 8]; }";
    let with = |barrier: &str| kernel(&text.replace("BARRIER", barrier)).buffer(1024).buffer(1024);
    let stores = "race warp same Write s[warp] / Write s[warp]";
    let [warp, block] =
        ["warp same", "block"].map(|scope| format!("race {scope} Write s[warp] / Read s[threadIdx.x%8]"));
    with("").sees(&[stores, &warp, &block]);
    with("__syncthreads();").sees(&[stores]);
    // Who reads has stored the same itself.
    let all = "__global__ void k(float* out) { __shared__ float s[2]; s[0] = 0.5f; out[threadIdx.x] = s[0]; }";
    let seen = kernel(all).buffer(1024).seen();
    assert!(!seen.is_empty() && seen.iter().all(|event| event.contains(" same ")), "{seen:?}");
}

#[test]
fn loops_in_the_first_round_leave_operations_for_the_second() {
    let text = "__global__ void k(float* out, const float* in) { __shared__ float s[256]; int i = threadIdx.x; float sum = 0; \
        for (int t = 0; t < 8; t++) { BARRIER s[i] = in[t * 256 + i]; __syncthreads(); \
        for (int a = 0; a < 8; a++) for (int b = 0; b < 8; b++) for (int c = 0; c < 8; c++) \
        sum += s[(i + a * 64 + b * 8 + c) % 256] * a * b * c; } out[i] = sum; }";
    let with = |barrier: &str| {
        let mut case = kernel(&text.replace("BARRIER", barrier)).buffer(1024).buffer(8192);
        case.budget.lane_operations = 150_000;
        case
    };
    with("").sees(&["race block Read s[(i+a*64+b*8+c)%256] / Write s[i] across"]);
    with("__syncthreads();").clean();
}

#[test]
fn a_store_beside_a_sum_makes_another_sum() {
    let text = "__global__ void k(int* out) { __shared__ int s[32]; int i = threadIdx.x; if (i < 32) s[i] = 0; BARRIER \
        atomicAdd(&s[i % 32], i); __syncthreads(); if (i < 32) out[i] = s[i]; }";
    let with = |barrier: &str| kernel(&text.replace("BARRIER", barrier)).buffer(1024);
    with("").sees(&["race block differ Write s[i] / Atomic atomicAdd(&s[i%32],i)"]);
    with("__syncthreads();").clean();
    let late = "__global__ void k(int* out) { __shared__ int s[32]; int i = threadIdx.x; if (i < 32) s[i] = 0; \
        __syncthreads(); atomicAdd(&s[i % 32], i); if (i < 32) s[31 - i] = 5; __syncthreads(); if (i < 32) out[i] = s[i]; }";
    kernel(late).buffer(1024).sees(&["race block differ Atomic atomicAdd(&s[i%32],i) / Write s[31-i]"]);
    // What only marks a place may be stored as well.
    let flag = "__global__ void k(int* out) { __shared__ int s[1]; int i = threadIdx.x; if (i == 0) s[0] = 1; \
        if (i >= 32) atomicOr(&s[0], 1); __syncthreads(); if (i == 0) out[0] = s[0]; }";
    kernel(flag).buffer(1024).sees(&["race block Write s[0] / Atomic atomicOr(&s[0],1)"]);
}

#[test]
fn a_flag_in_shared_memory_is_polled() {
    let text = "__global__ void k(const int* a, int* b) { __shared__ int box[32]; __shared__ volatile int ready; int t = threadIdx.x; if (t == 0) ready = 0; __syncthreads(); if (t < 32) { box[t] = a[t]; __threadfence_block(); __syncwarp(); if (t == 0) ready = 1; } else { WAIT b[t] = box[63 - t]; } }";
    kernel(&text.replace("WAIT", "while (ready == 0) {} __threadfence_block();"))
        .block(64)
        .buffer(128)
        .buffer(256)
        .clean();
    kernel(&text.replace("WAIT", "b[0] = ready;")).block(64).buffer(128).buffer(256).sees(&[
        "race block differ Write ready / Read ready",
        "race warp Write b[0] / Write b[0]",
        "race block Write box[t] / Read box[63-t]",
    ]);
}

/// A counter that nothing marks as `volatile`, but that a loop which does nothing else reads anew behind each fence.
#[test]
fn a_counter_is_polled_behind_fences() {
    let text = "__global__ void k(int* left, int* out) { if (threadIdx.x % 32 == 0) atomicSub(left, 1); WAIT out[threadIdx.x] = 1; }";
    let seen = |wait: &str| kernel(&text.replace("WAIT", wait)).buffer(4).buffer(1024).seen();
    for wait in [
        "do { __threadfence(); } while (left[0] != 0);",
        "while (left[0] != 0) __threadfence();",
        "while (left[0] > 0) { { __threadfence_block(); } }",
    ] {
        assert!(seen(wait).is_empty(), "{wait}: {:?}", seen(wait));
    }
    for wait in ["while (left[0] != 0) out[0] = 0;", "while (left[0] != 0) {}", "__threadfence(); out[1] = left[0];"] {
        assert!(seen(wait).iter().any(|event| event.contains("Atomic")), "{wait}: {:?}", seen(wait));
    }
}

#[test]
fn a_call_out_of_sight_ends_no_thread() {
    let text = "__global__ void k(float* a, int q) { __shared__ float s[256]; int t = threadIdx.x; BEFORE s[t] = a[t]; BETWEEN a[t] = s[255 - t]; }";
    let race = "race block Write s[t] / Read s[255-t]";
    let of = |before: &str, between: &str| {
        kernel(&text.replace("BEFORE", before).replace("BETWEEN", between)).buffer(1024).int(3).seen()
    };
    for before in [
        "if (t == 0) unknown(q); __syncthreads();",
        "if (t == 0) unknown(a); __syncthreads();",
        "unknown(q);",
        "float v = unknown(t, q);",
        "if (t == 0) unknown(&s); __syncthreads();",
        "Unknown u(q); u.go(); __syncthreads();",
    ] {
        assert_eq!(of(before, ""), [race], "{before}");
    }
    // One of a part of the block is no barrier; one that all threads come by may be one, and so may one of whole warps.
    assert_eq!(of("", "if (t == 0) unknown(q);"), [race]);
    assert_eq!(of("", "if (t < 100) q += unknown(t);"), [race]);
    assert!(of("", "unknown();").is_empty());
    assert!(of("", "q = unknown(q);").is_empty());
    assert!(of("", "if (t < 128) unknown(1); else unknown(2);").is_empty());
    // A macro, as its name goes, may return; and what gets a number to change has changed it.
    assert!(of("RETURN_IF(t > 100);", "").is_empty());
    assert!(of("unknown(t);", "").is_empty());
    // A lock out of sight keeps others out.
    kernel("__global__ void k(int* a, int* m) { lock(m); a[0] += 1; unlock(m); }").buffer(64).buffer(4).clean();
}

#[test]
fn macros_that_stand_for_nothing_do_nothing() {
    let text = "DEFINE\n__global__ void k(float* a) { __shared__ float s[256]; int t = threadIdx.x; s[t] = a[t]; CALL a[t] = s[255 - t]; }";
    for (define, call) in [
        ("#define LOG(x)", "LOG(t);"),
        ("#define LOG(x) // nothing", "LOG(t);"),
        ("#define LOG(...) ((void)0)", "LOG(t, a);"),
        ("#define LOG(...) do {} while (0)", "LOG(t, a);"),
        ("template <typename... A> __device__ void log(A... a) {}", "log(t, a);"),
        ("template <typename... A> __device__ void log(const A&... a) {}", "log(t, a);"),
        ("__device__ void log(const char* format, ...) {}", "log(\"a\", t);"),
        ("#define __requires(e) ", "__requires(t > 0);"),
        ("", "__assert(t >= 0);"),
        ("", "__builtin_assume(t >= 0);"),
    ] {
        let seen = kernel(&text.replace("DEFINE", define).replace("CALL", call)).buffer(1024).seen();
        assert_eq!(seen, ["race block Write s[t] / Read s[255-t]"], "{define} {call}");
    }
}

/// In the k-th step the k-th row and column stay as they are: the way from k to itself makes none shorter.
#[test]
fn ways_over_a_place_that_ends_them() {
    let text = "__global__ void k(int* d, int n) { __shared__ int s[16][16]; int x = threadIdx.x, y = threadIdx.y;
        s[y][x] = d[y * 16 + x]; __syncthreads();
        for (int k = 0; k < 16; k++) { STEP __syncthreads(); }
        d[y * 16 + x] = s[y][x]; }";
    let seen = |step: &str| kernel(&text.replace("STEP", step)).block2(16, 16).buffer(1024).int(16).assuming().seen();
    for step in [
        "int over = s[y][k] + s[k][x]; if (over < s[y][x]) s[y][x] = over;",
        "if (s[y][x] > s[y][k] + s[k][x]) s[y][x] = s[y][k] + s[k][x];",
        "s[y][x] = min(s[y][x], s[y][k] + s[k][x]);",
        "s[y][x] = min(s[y][k] + s[k][x], s[y][x]);",
        "int own = s[y][x], over = s[y][k] + s[k][x]; s[y][x] = own <= over ? own : over;",
    ] {
        assert!(seen(step).is_empty(), "{step}: {:?}", seen(step));
    }
    // Who writes what others read is asked for another way there, and a sum that is longer may take the place, too.
    for step in [
        "int over = s[x][k] + s[k][y]; if (over < s[y][x]) s[y][x] = over;",
        "int over = s[y][k] + s[k][x]; if (over > s[y][x]) s[y][x] = over;",
        "int over = s[y][k] - s[k][x]; if (over < s[y][x]) s[y][x] = over;",
        "s[y][x] = min(s[y][x], s[y][k] * s[k][x]);",
    ] {
        assert!(!seen(step).is_empty(), "{step}");
    }
}
