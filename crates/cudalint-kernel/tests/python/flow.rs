use crate::support::{F32, kernel};
use cudalint_kernel::code::Ty;

#[test]
fn ranges_in_every_form() {
    let clean = |text: &str| kernel(text).array(F32, &[64]).block(1).clean_and_complete();
    clean("@cuda.jit\ndef k(a):\n    for i in range(63, -1, -1):\n        a[i] = i\n");
    clean("@cuda.jit\ndef k(a):\n    for i in range(0, len(a), 7):\n        a[i] = i\n");
    clean("@cuda.jit\ndef k(a):\n    step = -1\n    for i in range(63, -1, step):\n        a[i] = i\n");
    clean("@cuda.jit\ndef k(a):\n    for i, x in enumerate(a):\n        a[i] = x\n");
    clean("@cuda.jit\ndef k(a):\n    for i, (x, y) in enumerate(zip(a, a)):\n        a[i] = x + y\n");
    clean("@cuda.jit\ndef k(a):\n    for i in (1, 2, 63):\n        a[i] = i\n");
    // The variable keeps its last value, and the body may change it without changing the count.
    clean("@cuda.jit\ndef k(a):\n    for i in range(64):\n        a[i] = i\n    a[i] = 0\n");
    clean("@cuda.jit\ndef k(a):\n    for i in range(64):\n        i = 63 - i\n        a[i] = i\n");
}

#[test]
fn the_else_of_a_loop_runs_without_a_break() {
    let text = "@cuda.jit\ndef k(a):\n    for i in range(4):\n        if i == WHEN:\n            break\n    else:\n        a[64] = 1\n    a[0] = 1\n";
    let seen = |when: &str| kernel(&text.replace("WHEN", when)).array(F32, &[64]).block(1).seen();
    assert_eq!(seen("9"), ["outside a[64] at 256 by 0"]);
    assert!(seen("2").is_empty());
}

#[test]
fn values_are_swapped_at_once() {
    kernel("@cuda.jit\ndef k(a):\n    i, j = 3, 70\n    i, j = j, i\n    a[j] = 1\n    a[i - 70] = 2\n")
        .array(F32, &[64])
        .block(1)
        .clean_and_complete();
    kernel(
        "@cuda.jit\ndef k(a):\n    i = 0\n    j = 1\n    for n in range(9):\n        i, j = j, i + j\n    a[j] = 1\n",
    )
    .array(F32, &[56])
    .block(1)
    .clean_and_complete();
}

#[test]
fn conditions_read_as_python_reads_them() {
    let text = "@cuda.jit\ndef k(a):\n    i = cuda.grid(1)\n    if CONDITION:\n        a[i] = 1\n";
    let case = |condition: &str| kernel(&text.replace("CONDITION", condition)).array(F32, &[32]);
    for good in
        ["0 <= i < 32", "i < 32 and True", "not i >= 32", "i in (1, 2, 31)", "(i < 32) & (i > 2)", "i // 32 == 0"]
    {
        case(good).clean_and_complete();
    }
    case("i < 33").sees(&["outside a[i] at 128 by 32"]);
    case("i < 32 or i == 40").sees(&["outside a[i] at 160 by 40"]);
}

#[test]
fn what_raises_does_not_come_back() {
    kernel("@cuda.jit\ndef k(a):\n    i = cuda.grid(1)\n    if i >= a.size:\n        raise IndexError\n    a[i] = 1\n")
        .array(F32, &[32])
        .clean_and_complete();
    kernel("@cuda.jit\ndef k(a):\n    i = cuda.grid(1)\n    assert i < a.size, 'too far'\n    a[i] = 1\n")
        .array(F32, &[32])
        .clean_and_complete();
}

#[test]
fn barriers_and_warps() {
    kernel("@cuda.jit\ndef k(a):\n    t = cuda.threadIdx.x\n    if t < 16:\n        cuda.syncthreads()\n    else:\n        cuda.syncwarp()\n        cuda.syncthreads()\n    a[t] = 1\n")
        .array(F32, &[64])
        .sees(&["divergent 0 not 16"]);
    kernel("@cuda.jit\ndef k(a):\n    t = cuda.threadIdx.x\n    n = cuda.syncthreads_count(int32(t < 10))\n    a[n + t - 10] = cuda.laneid + cuda.warpsize\n")
        .array(F32, &[64])
        .clean_and_complete();
    kernel("@cuda.jit\ndef k(a):\n    t = cuda.threadIdx.x\n    v = cuda.shfl_sync(0xffffffff, t, 5)\n    a[v] = 1\n")
        .array(F32, &[6])
        .block(32)
        .sees(&["race warp a[v] / a[v]"]);
    kernel("@cuda.jit\ndef k(a):\n    t = cuda.threadIdx.x\n    if cuda.ballot_sync(cuda.activemask(), t < 3) == 7:\n        a[cuda.popc(cuda.lanemask_lt())] = 1\n")
        .array(F32, &[32])
        .block(32)
        .clean_and_complete();
}

#[test]
fn warp_operations_are_called_as_they_are_written() {
    for (call, name) in [
        ("cuda.syncwarp(0xffffffff)", "cuda.syncwarp"),
        ("cuda.shfl_up_sync(0xffffffff, t, 1)", "cuda.shfl_up_sync"),
        ("cuda.ballot_sync(0xffffffff, t)", "cuda.ballot_sync"),
    ] {
        let text =
            format!("@cuda.jit\ndef k(a):\n    t = cuda.threadIdx.x\n    if t < 16:\n        {call}\n    a[t] = 1\n");
        kernel(&text).array(F32, &[64]).sees(&[&format!("mask {name} ffffffff by 0")]);
    }
}

#[test]
fn a_grid_barrier_needs_a_cooperative_launch() {
    let text = "@cuda.jit\ndef k(a):\n    g = cuda.cg.this_grid()\n    g.sync()\n    a[cuda.grid(1)] = 1\n";
    let seen = kernel(text).array(F32, &[64]).seen();
    assert!(seen.len() == 1 && seen[0].starts_with("GridSync"), "{seen:?}");
}

#[test]
fn constants_decide_what_is_compiled() {
    // What cannot be reached need not make sense.
    kernel("DEBUG = False\n@cuda.jit\ndef k(a):\n    if DEBUG:\n        print(nowhere(a))\n    a[cuda.grid(1)] = 1\n")
        .array(F32, &[64])
        .clean_and_complete();
    let text = "@cuda.jit\ndef k(a, b):\n    if b is None:\n        a[cuda.grid(1)] = 1\n    else:\n        b[0] = 1\n";
    let none = cudalint_kernel::python::ArgumentType::None;
    kernel(text).array(F32, &[64]).argument(none, &[]).clean_and_complete();
}

#[test]
fn random_numbers_touch_their_state() {
    let text =
        "@cuda.jit\ndef k(states, a):\n    i = cuda.grid(1)\n    a[i] = xoroshiro128p_uniform_float32(states, INDEX)\n";
    let state = Ty::Opaque { bytes: Some(16) };
    kernel(&text.replace("INDEX", "i")).array(state.clone(), &[64]).array(F32, &[64]).clean_and_complete();
    let seen = kernel(&text.replace("INDEX", "i + 1")).array(state.clone(), &[64]).array(F32, &[64]).seen();
    assert!(seen.iter().any(|event| event.starts_with("outside xoroshiro")), "{seen:?}");
    let seen = kernel(&text.replace("INDEX", "0")).array(state, &[64]).array(F32, &[64]).seen();
    assert!(seen.iter().any(|event| event.starts_with("race")), "{seen:?}");
}

#[test]
fn more_threads_than_bins() {
    let text = "@cuda.jit\ndef k(x, xmin, xmax, out):\n    nbins = out.shape[0]\n    bin_width = (xmax - xmin) / nbins\n    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):\n        bin = np.int32((x[i] - xmin) / bin_width)\n        CHECK\n            out[bin] += 1\n";
    let seen = |check: &str| {
        kernel(&text.replace("CHECK", check))
            .array(F32, &[50])
            .argument(cudalint_kernel::python::ArgumentType::Scalar(F32), &[cudalint_kernel::Argument::Unknown])
            .argument(cudalint_kernel::python::ArgumentType::Scalar(F32), &[cudalint_kernel::Argument::Unknown])
            .array(Ty::INT, &[10])
            .seen()
    };
    assert_eq!(seen("if True:"), ["crowd out[bin] 50 on 10"]);
    assert_eq!(seen("if bin >= 0 and bin < out.shape[0]:"), ["crowd out[bin] 50 on 10 past bin>=0andbin<out.shape[0]"]);
    assert_eq!(seen("if 0 <= bin < nbins:"), ["crowd out[bin] 50 on 10 past 0<=bin<nbins"]);
    assert!(seen("if bin % 64 == cuda.threadIdx.x:").is_empty());
    assert!(seen("if x[bin] > 0:").is_empty());
}
