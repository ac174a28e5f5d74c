//! Kernels that nobody launches: what shows in blocks that they are made for, with numbers that all threads share.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;
use common::runs_and_counts;
use cudalint_replay::runs::report::{EventKind, ObjectKind, RaceScope};

const INDEX: &str = "int i = blockIdx.x * blockDim.x + threadIdx.x;";

/// What shows of the first kernel, and what that rests on.
fn seen(kernel: &str) -> Option<String> {
    let (runs, _) = runs_and_counts(&kernel.replace("INDEX", INDEX));
    let run = runs.first()?;
    let events = run.report.events.iter().filter_map(|event| match &event.kind {
        EventKind::Race { object, scope, .. } => {
            let memory = if matches!(object.kind, ObjectKind::Shared) { "shared" } else { "global" };
            let scope = if *scope == RaceScope::Grid { "blocks" } else { "threads" };
            Some(format!("{scope} in {memory} `{}`", object.name))
        }
        EventKind::DivergentBarrier { .. } => Some("barrier".to_owned()),
        _ => None,
    });
    let mut events: Vec<String> = events.collect();
    events.dedup();
    (!events.is_empty()).then(|| format!("{}: {}", events.join(", "), run.assumptions.clone().unwrap().join("; ")))
}

#[test]
fn races_show_with_the_least_numbers() {
    let cases = [
        (
            "__global__ void k(float *a, int n) { INDEX if (i < n - 1) a[i] = a[i + 1]; }",
            "threads in global `a`: the kernel is launched with 256 threads per block and `n` is at least 3",
        ),
        (
            "__global__ void k(float *a) { INDEX a[i] = a[i + 1]; }",
            "threads in global `a`: the kernel is launched with 256 threads per block",
        ),
        (
            "struct P { int n; float *data; };\n\
             __global__ void k(P p) { INDEX if (i < p.n - 1) p.data[i] = p.data[i + 1]; }",
            "threads in global `p.data`: the kernel is launched with 256 threads per block and `p.n` is at least 3",
        ),
        (
            "__device__ bool inside(int i, int n) { return i < n; }\n\
             __global__ void k(const float *a, float *sum, int n) { INDEX if (inside(i, n)) *sum += a[i]; }",
            "threads in global `sum`: the kernel is launched with 256 threads per block and `n` is at least 2",
        ),
        (
            "__device__ float total;\n__global__ void k(const float *a, int n) { INDEX if (i < n) total += a[i]; }",
            "threads in global `total`: the kernel is launched with 256 threads per block and `n` is at least 2",
        ),
        (
            "__global__ void k(const float *a, float *sum) { if (threadIdx.x == 0) *sum += a[blockIdx.x]; }",
            "blocks in global `sum`: the kernel is launched with 4 blocks of 256 threads",
        ),
        (
            "__global__ void k(float *rows, const float *m, int h, int w) { int x = threadIdx.x, y = threadIdx.y;\n\
             if (x < w && y < h) rows[y] += m[y * w + x]; }",
            "threads in global `rows`: the kernel is launched with 16 × 16 threads per block and `h` is at least 1 and \
             `w` is at least 2",
        ),
        (
            "__global__ void k(float *o, int a, int b, int c) { int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;\n\
             if (x < a && y < b && z < c) o[z] += 1; }",
            "threads in global `o`: the kernel is launched with 8 × 8 × 4 threads per block and `a` is at least 1 and \
             `b` is at least 2 and `c` is at least 1",
        ),
        (
            "__global__ void k(const float *a, float *o, int n) { __shared__ float s[256]; int t = threadIdx.x; float v = 0;\n\
             for (int b = 0; b < n; b += 256) { s[t] = a[b + t]; __syncthreads(); v += s[255 - t]; } o[t] = v; }",
            "threads in shared `s`: the kernel is launched with 256 threads per block and `n` is at least 257",
        ),
        (
            "__global__ void k(float *a, int n) { int t = threadIdx.x; if (n > 4) { if (t < 16) __syncthreads(); a[t] = 0;\n\
             __syncthreads(); } }",
            "barrier: the kernel is launched with 256 threads per block and `n` is at least 5",
        ),
        (
            "template <typename T> __global__ void k(T *a, int n) { INDEX if (i < n - 1) a[i] = a[i + 1]; }",
            "threads in global `a`: the kernel is launched with 256 threads per block and `n` is at least 3 and `T` is `float`",
        ),
        // A long loop is no reason for large numbers.
        (
            "__global__ void k(float *a, int n, int m) { __shared__ float s[256]; int t = threadIdx.x; s[t] = 0;\n\
             for (int j = 0; j < m; j++) s[t] += a[j * 256 + t]; if (n > 9) a[t] = s[255 - t]; }",
            "threads in shared `s`: the kernel is launched with 256 threads per block and `n` is at least 10 and \
             `m` is at least 1",
        ),
    ];
    for (kernel, expected) in cases {
        assert_eq!(seen(kernel).as_deref(), Some(expected), "{kernel}");
    }
}

#[test]
fn what_hangs_on_how_a_kernel_is_launched_is_not_told() {
    for kernel in [
        "__global__ void k(float *a, const float *b, int n) { INDEX if (i < n) a[i] += b[i]; }",
        // For one thread; for one row of threads; of the first block alone.
        "__global__ void k(float *a, int n) { for (int i = 0; i < n; i++) a[0] += i; }",
        "__global__ void k(float *a, int n) { int t = threadIdx.x + threadIdx.y * 0; if (t < n) a[t] = clock(); }",
        "__global__ void k(float *sum, const float *a) { if (blockIdx.x == 0 && threadIdx.x == 0) *sum += a[0]; }",
        // All threads store the same.
        "__global__ void k(float *a, int n) { INDEX if (i < n) a[0] = n; }",
        // Numbers that tell which element is meant are not chosen, nor what says which of several ways is gone.
        "__global__ void k(float *a, int from, int to) { INDEX a[from + i] = a[to + i]; }",
        "__global__ void k(float *a, int mode) { INDEX if (mode == 1) a[i] = a[i + 1]; }",
        // Halves that do not meet as long as nobody says that they are near each other.
        "__global__ void k(float *a, int half, int n) { INDEX if (i < half && i + half < n) a[i] += a[i + half]; }",
        // Steps around the grid.
        "__global__ void k(float *a, int n) { INDEX for (; i < n; i += gridDim.x * blockDim.x) a[i] *= 2; }",
        "__global__ void k(float *a, int n, int step) { INDEX for (; i < n; i += step) a[i] *= 2; }",
        // Blocks store to one element what nobody adds up.
        "__global__ void k(float *o, const float *a) { if (threadIdx.x == 0) o[0] += 0; o[1 + threadIdx.x] = a[0]; }"
            .replace("o[0] += 0;", "atomicAdd(&o[0], a[blockIdx.x]);")
            .as_str(),
    ] {
        assert_eq!(seen(kernel), None, "{kernel}");
    }
}

#[test]
fn numbers_that_a_launch_leaves_open_are_chosen() {
    let text = "int size();\n\
        __global__ void k(float *a, int n, int m) { INDEX if (i < n - 1) a[i] = a[i + 1]; }\n\
        void run(float *a) { k<<<16, 128>>>(a, SIZE, 4); }";
    let shown = |size: &str| {
        let (runs, _) = runs_and_counts(&text.replace("INDEX", INDEX).replace("SIZE", size));
        let shown = runs.iter().filter(|run| !run.report.events.is_empty());
        shown.map(|run| run.assumptions.clone().unwrap_or_default().join("; ")).collect::<Vec<_>>()
    };
    assert_eq!(shown("size()"), ["`n` is at least 3"]);
    assert_eq!(shown("size() * 2"), ["`n` is at least 3"]);
    assert_eq!(shown("1000"), [""]);
    assert_eq!(shown("1"), [""; 0]);
}

/// Each thread goes as many rounds where the host rounds up.
#[test]
fn numbers_that_the_host_computes_part_no_block() {
    let kernel = "__global__ void k(int *a, unsigned n) { __shared__ int s[64]; s[threadIdx.x] = 0; __syncthreads();\n\
                  for (unsigned i = threadIdx.x; i < n / 64; i += 64) { atomicAdd(&s[a[i] & 63], 1); __syncthreads(); }\n\
                  a[threadIdx.x] = s[threadIdx.x]; }\n";
    let parts = |host: &str| {
        let (runs, _) = runs_and_counts(&format!("unsigned size();\n{kernel}{host}"));
        let events = runs.iter().flat_map(|run| &run.report.events);
        events.filter(|event| matches!(event.kind, EventKind::DivergentBarrier { .. })).count() > 0
    };
    assert!(parts("void run(int *a) { unsigned n = size(); k<<<1, 64>>>(a, n); }"));
    let rounded = "unsigned n = size(), all; unsigned rest = n % 4096;\n\
                   if (rest == 0) all = n; else all = n + (4096 - rest);";
    assert!(!parts(&format!("void run(int *a) {{ {rounded} k<<<1, 64>>>(a, all); }}")));
}

#[test]
fn no_block_is_guessed_where_callers_have_theirs() {
    let kernel = "__global__ void k(float *a) { __shared__ float t[256]; t[threadIdx.x] = a[threadIdx.x];\n\
                  a[threadIdx.x] = t[255 - threadIdx.x]; }\n";
    let wrapper = "void run(float *a, const dim3 threads) { k<<<1, threads>>>(a); }\n";
    assert!(seen(&format!("{kernel}{wrapper}")).is_some());
    for caller in [
        "struct Out { void go(float *a) { run(a, shape()); } };",
        "template <class T> void go(T a) { run(a, dim3(side(), 2)); }",
    ] {
        assert_eq!(seen(&format!("{kernel}{wrapper}{caller}")), None, "{caller}");
    }
    let made = "void run(float *a, int n) { int rows = n / 8; dim3 threads(rows, 8); k<<<1, threads>>>(a); }\n\
                void go(float *a) { run(a, side()); }";
    assert_eq!(seen(&format!("{kernel}{made}")), None);
}

/// A kernel of which the threads of a block of up to 32 are in one warp, and those of a larger one race.
const IN_A_WARP: &str = "__global__ void k(float *out, const float *in) { __shared__ float s[1024]; int t = threadIdx.x;\n\
    s[t] = in[t]; if (t < 16) out[t] = s[t + 16] + s[t]; }\n";

/// The blocks with which a race shows that is none between the lanes of one warp.
fn racing_blocks(host: &str) -> Vec<[u32; 3]> {
    let (runs, _) = runs_and_counts(&format!("{IN_A_WARP}{host}"));
    let races = |run: &&cudalint_replay::runs::KernelRun| {
        run.report
            .events
            .iter()
            .any(|event| matches!(&event.kind, EventKind::Race { first, second, .. } if first.thread != second.thread))
    };
    runs.iter().filter(races).map(|run| run.block).collect()
}

#[test]
fn only_blocks_that_a_launch_can_have_are_tried() {
    let of = |block: &str| {
        format!("void go(float *o, const float *i, int n, bool small) {{ {block} k<<<1, block>>>(o, i); }}")
    };
    for written in [
        of("int block; if (small) block = 1; else block = 16;"),
        of("int block = small ? 1 : 16;"),
        of("dim3 block; if (small) block = dim3(1); else block = dim3(16, 1, 1);"),
        of("int block = 16; switch (kind()) { case 0: block = 4; break; case 1: block = 8; break; }"),
        // One of them alone would race: conditions may tie the launch to the other.
        of("int block; if (small) block = 1; else block = 256;"),
        // What another path gives is not known.
        of("int block = small ? 16 : size();"),
        format!("static int size(int n) {{ if (n < 100) return 1; return 16; }} {}", of("int block = size(n);")),
        format!("static const int sizes[] = {{4, 8, 16}}; {}", of("int block = sizes[n];")),
        "struct C { int block; C(bool small) { if (small) block = 1; else block = 16; }\n\
         void go(float *o, const float *i) { k<<<1, block>>>(o, i); } };"
            .to_owned(),
    ] {
        assert_eq!(racing_blocks(&written), Vec::<[u32; 3]>::new(), "{written}");
    }
    for (written, block) in [
        (of("int block = size();"), 128),
        (of("int block = small ? 256 : 512;"), 512),
        (of("int block; if (small) block = 64; else block = 128;"), 128),
        (of("dim3 block; if (small) block = dim3(64); else block = dim3(1024);"), 1024),
    ] {
        assert_eq!(racing_blocks(&written), [[block, 1, 1]], "{written}");
    }
}

#[test]
fn blocks_that_a_check_may_refuse_are_not_tried() {
    let of = |check: &str, block: &str| {
        format!("void go(float *o, const float *i, Tensor x) {{ {check} k<<<1, {block}>>>(o, i); }}")
    };
    for (check, block) in [
        ("TORCH_CHECK(x.size(1) <= 16, \"too large\");", "x.size(1)"),
        ("TORCH_CHECK(x.size(1) <= 16, \"too large\"); int n = x.size(1);", "n"),
        ("int n = x.size(1); if (x.size(1) > 16) throw 1;", "n"),
        ("int n = x.size(1); TORCH_CHECK(n <= 16, \"too large\");", "n"),
        ("int n = x.size(1); check_size(n);", "n"),
        ("int n = x.size(1); CHECK_LE(n, 16);", "n"),
        ("int n = x.size(1); if (!is_valid(n)) return;", "dim3(n)"),
    ] {
        assert_eq!(racing_blocks(&of(check, block)), Vec::<[u32; 3]>::new(), "{check}");
    }
    for check in ["", "print(x.size(1));", "TORCH_CHECK(x.size(0) <= 16, \"too many\");"] {
        assert!(!racing_blocks(&of(check, "x.size(1)")).is_empty(), "{check}");
        assert!(!racing_blocks(&of(&format!("int n = x.size(1); {check}"), "n")).is_empty(), "{check}");
    }
}

#[test]
fn a_block_that_no_caller_gives_is_not_launched() {
    let go = "void go(float *o, const float *i, int block) { switch (block) {\n\
        case 16: k<<<1, block>>>(o, i); break; case 128: k<<<1, block>>>(o, i); break; } }\n";
    let calls = |calls: &str| racing_blocks(&format!("{go} void all(float *o, const float *i) {{ {calls} }}"));
    assert_eq!(calls("go(o, i, 16); go(o, i, 32);"), Vec::<[u32; 3]>::new());
    assert_eq!(calls("go(o, i, 16); go(o, i, 128);"), [[128, 1, 1]]);
    let elsewhere = |calls: &str| {
        let caller = format!("void go(float *, const float *, int); void all(float *o, float *i) {{ {calls} }}");
        let project = common::project(&[("a.cu", &format!("{IN_A_WARP}{go}")), ("b.cu", &caller)]);
        let facts = cudalint_replay::replay_all(&project, &cudalint_replay::ReplayOptions::default());
        let launches = cudalint_replay::runs::collect(&project, &facts);
        let ids = project.modules().zip(&launches);
        let runs = ids.flat_map(|(id, launches)| cudalint_replay::runs::execute(&project, id, launches).runs);
        runs.filter(|run| !run.report.events.is_empty() && run.block[0] > 32).count()
    };
    assert_eq!(elsewhere("go(o, i, 16); go(o, i, 32);"), 0);
    assert_eq!(elsewhere("go(o, i, 16); go(o, i, 128);"), 1);
    // Whoever holds its address may call it with anything.
    assert_eq!(elsewhere("go(o, i, 16); keep(go);"), 1);
}

#[test]
fn a_launch_in_sight_says_how_many_blocks_there_are() {
    let text = "__global__ void k(float *a) { INDEX a[i] = 1; if (threadIdx.x == 0) a[0] += 2; }\n\
        void run(float *a) { k<<<BLOCKS, size()>>>(a); }"
        .replace("INDEX", INDEX);
    let blocks = |blocks: &str| {
        let (runs, _) = runs_and_counts(&text.replace("BLOCKS", blocks));
        runs.iter().filter(|run| !run.report.events.is_empty()).map(|run| run.grid[0]).max()
    };
    assert_eq!(blocks("1"), None);
    assert!(blocks("size()") > Some(1));
}
