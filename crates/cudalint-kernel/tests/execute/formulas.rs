//! Indices that are kept as formulas over `threadIdx`: they hold in every lane, up to the first that leaves its type.

use crate::support::kernel;

/// What leaves a buffer of so many bytes where a kernel stores at an index.
fn outside(index: &str, block: [u32; 3], bytes: u64) -> Vec<String> {
    let mut case = kernel(&format!("__global__ void k(int* x) {{ {index} x[i] = 0; }}")).buffer(bytes);
    case.launch.block = block;
    case.seen().into_iter().filter(|seen| seen.starts_with("outside")).collect()
}

/// How many lanes the one event counts.
fn lanes(seen: &[String]) -> Option<u32> {
    let [one] = seen else { return None };
    one.split(' ').find_map(|word| word.strip_prefix('x')?.parse().ok())
}

#[test]
fn the_first_lane_of_a_falling_index_is_the_farthest() {
    assert_eq!(outside("int i = 255 - threadIdx.x;", [256, 1, 1], 1024), [""; 0]);
    assert_eq!(outside("int i = 255 - (int)threadIdx.x;", [256, 1, 1], 1020), ["outside x[i] at 1020 by 0.0 x1"]);
    assert_eq!(outside("int i = 254 - (int)threadIdx.x;", [256, 1, 1], 1024), ["outside x[i] at -4 by 0.255 x1"]);
}

#[test]
fn planes_and_cubes_of_threads_have_their_corners() {
    let plane = "int i = threadIdx.y * blockDim.x + threadIdx.x;";
    assert_eq!(outside(plane, [16, 16, 1], 1024), [""; 0]);
    assert_eq!(outside(plane, [16, 16, 1], 1020).len(), 1);
    let cube = "int i = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;";
    assert_eq!(outside(cube, [8, 4, 8], 1024), [""; 0]);
    let seen = outside(cube, [8, 4, 8], 1016);
    assert!(lanes(&seen) == Some(2), "{seen:?}");
    let turned = "int i = threadIdx.x * blockDim.y + (3 - (int)threadIdx.y);";
    assert_eq!(outside(turned, [8, 4, 1], 128), [""; 0]);
    let seen = outside(turned, [8, 4, 1], 124);
    assert!(matches!(&seen[..], [one] if one.contains("at 124 by 0.7 x1")), "{seen:?}");
}

#[test]
fn only_the_lanes_that_leave_the_type_wrap() {
    // From thread 128 on the product is negative.
    let seen = outside("int i = (int)threadIdx.x * 16777216; i = i < 0 ? 300 : 0;", [256, 1, 1], 1024);
    assert_eq!(lanes(&seen), Some(128), "{seen:?}");
    let seen = outside("signed char i = threadIdx.x;", [256, 1, 1], 1024);
    assert!(matches!(&seen[..], [one] if one.contains("at -512 by 0.128 x128")), "{seen:?}");
    let seen = outside("unsigned char i = threadIdx.x + 1;", [256, 1, 1], 1024);
    assert_eq!(seen, [""; 0]);
    let seen = outside("unsigned u = threadIdx.x - 1; long i = u > 5 ? 300 : u;", [4, 1, 1], 1024);
    assert_eq!(lanes(&seen), Some(1), "{seen:?}");
}

#[test]
fn quotients_rests_and_shifts_of_formulas_are_those_of_each_lane() {
    for (index, most, count) in [
        ("threadIdx.x / 32", 7, 32),
        ("threadIdx.x >> 5", 7, 32),
        ("threadIdx.x % 32", 31, 8),
        ("threadIdx.x & 31", 31, 8),
        ("(threadIdx.x * 32 + 5) / 32", 255, 1),
        ("(threadIdx.x * 32 + 5) % 32", 5, 256),
        ("(threadIdx.x << 3) & 7", 0, 256),
        ("threadIdx.x / 256", 0, 256),
    ] {
        let index = format!("int i = {index};");
        assert_eq!(outside(&index, [256, 1, 1], 4 * (most + 1)), [""; 0], "{index}");
        let seen = outside(&index, [256, 1, 1], 4 * most.max(1) - if most == 0 { 3 } else { 0 });
        assert_eq!(lanes(&seen), Some(count), "{index} {seen:?}");
    }
}

#[test]
fn what_all_lanes_decide_alike_is_decided_and_what_they_do_not_is_not() {
    let text = "__global__ void k(int* x) { int i = threadIdx.x; if (CONDITION) x[i + 1000] = 0; }";
    for (condition, count) in [
        ("i < 256", 256),
        ("i < 255", 255),
        ("i >= 0", 256),
        ("i > 0", 255),
        ("i == i", 256),
        ("i != 256", 256),
        ("i == 255", 1),
        ("i - 1 < i", 256),
        ("threadIdx.x - 1 < 300u", 255),
        ("256 - i > 0", 256),
    ] {
        let seen = kernel(&text.replace("CONDITION", condition)).buffer(1024).seen();
        assert_eq!(lanes(&seen), Some(count), "{condition} {seen:?}");
    }
    for condition in ["i > 255", "i < 0", "i == 256", "i != i", "i + 1 <= i", "threadIdx.x < 0u"] {
        kernel(&text.replace("CONDITION", condition)).buffer(1024).clean();
    }
}

#[test]
fn pointers_move_by_formulas_and_under_part_of_the_lanes() {
    let text = "__global__ void k(int* x) { int* p = x + threadIdx.x; if (threadIdx.x % 2) p = p + 4 * threadIdx.x;
        p[FROM] = 0; }";
    // Thread 255 stores at 255 * 5, thread 254 at 254.
    kernel(&text.replace("FROM", "0")).buffer(1276 * 4).clean();
    let seen = kernel(&text.replace("FROM", "0")).buffer(1275 * 4).seen();
    assert!(matches!(&seen[..], [one] if one.contains("at 5100 by 0.255 x1")), "{seen:?}");
    let seen = kernel(&text.replace("FROM", "-1")).buffer(1276 * 4).seen();
    assert!(matches!(&seen[..], [one] if one.contains("at -4 by 0.0 x1")), "{seen:?}");
}

#[test]
fn rows_and_columns_of_a_tile_meet_where_no_barrier_parts_them() {
    let text = "__global__ void k(float* x) { __shared__ float s[16][16];
        s[threadIdx.y][threadIdx.x] = x[threadIdx.y * 16 + threadIdx.x]; BARRIER
        x[threadIdx.y * 16 + threadIdx.x] = s[threadIdx.x][threadIdx.y]; }";
    kernel(&text.replace("BARRIER", "__syncthreads();")).block2(16, 16).buffer(1024).clean_and_complete();
    let seen = kernel(&text.replace("BARRIER", "")).block2(16, 16).buffer(1024).seen();
    assert!(seen.iter().any(|one| one.starts_with("race")), "{seen:?}");
}
