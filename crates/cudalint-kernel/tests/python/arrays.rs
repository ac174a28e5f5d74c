use crate::support::{F32, F64, kernel};
use cudalint_kernel::Argument;
use cudalint_kernel::code::Ty;
use cudalint_kernel::python::{ArgumentType, Constant, Order};

#[test]
fn a_negative_index_counts_from_the_end() {
    let text = "@cuda.jit\ndef k(a, b):\n    i = cuda.grid(1)\n    if i < a.size:\n        b[i] = a[INDEX]\n";
    let case = |index: &str| kernel(&text.replace("INDEX", index)).array(F32, &[64]).array(F32, &[64]);
    case("i - 1").sees(&["negative a[i-1] i-1 a.0 -1 of Some(64)"]);
    // So far that adding the extent is not enough.
    case("i - 70").sees(&["negative a[i-70] i-70 a.0 -70 of Some(64)", "outside a[i-70] at -24 by 0"]);
    for deliberate in ["-1", "-(1)", "(i - 1) % a.size", "i - 1 + a.size - 1 - i + 1", "uint64(i)"] {
        case(deliberate).clean_and_complete();
    }
    case("max(i - 1, 0)").clean_and_complete();
    case("-i").clean_and_complete();
}

#[test]
fn whatever_may_be_negative_wraps() {
    let wraps = |body: &str| {
        let text = format!(
            "@cuda.jit(device=True)\ndef before(i):\n    return i - 1, i\n@cuda.jit\ndef k(a, b):\n    i = cuda.grid(1)\n{body}"
        );
        let seen = kernel(&text).array(F32, &[64]).array(F32, &[64]).seen();
        assert!(!seen.is_empty() && seen.iter().all(|event| event.starts_with("negative")), "{body}{seen:?}");
    };
    wraps("    x = 0\n    x = i - 1\n    b[i] = a[x]\n");
    wraps("    x = 0\n    b[i] = a[x]\n    x = i - 1\n    b[i] = a[x]\n");
    wraps("    x = i\n    x -= 1\n    b[i] = a[x]\n");
    wraps("    p = (i, i)\n    p = (i - 1, i)\n    b[i] = a[p[0]]\n");
    wraps("    for j in range(1):\n        x = i - 1\n        b[i] = a[x]\n");
    wraps("    for j in range(-1, 0):\n        b[i] = a[i + j]\n");
    wraps("    x, y = before(i)\n    b[y] = a[x]\n");
    wraps("    x = i - 1 if i < 40 else i\n    b[i] = a[x]\n");
    wraps("    x = int32(i) - 1\n    b[i] = a[int(x)]\n");
    wraps("    r = a[:]\n    b[i] = r[i - 1]\n");
    wraps("    x = min(i - 1, 5)\n    b[i] = a[x]\n");
    wraps("    x = (i - 1) // 2\n    b[i] = a[x]\n");
    wraps("    x = i\n    while x > -1:\n        x = x - 64\n    b[i] = a[x]\n");
}

#[test]
fn an_unsigned_index_does_not_wrap() {
    let text = "@cuda.jit\ndef k(a, u):\n    a[u - uint64(1)] = 1.0\n";
    let seen = kernel(text).array(F32, &[64]).number(Ty::SIZE, 0).seen();
    assert!(seen.iter().all(|event| event.starts_with("outside") || event.starts_with("race")), "{seen:?}");
}

#[test]
fn views_keep_their_place() {
    let clean = |text: &str| kernel(text).array(F32, &[64, 8]).clean_and_complete();
    clean("@cuda.jit\ndef k(a):\n    row = a[cuda.grid(1)]\n    for j in range(row.shape[0]):\n        row[j] = 1\n");
    clean("@cuda.jit\ndef k(a):\n    row = a[cuda.grid(1), 2:]\n    for j in range(len(row)):\n        row[j] = 1\n");
    clean("@cuda.jit\ndef k(a):\n    column = a[:, 7]\n    column[cuda.grid(1)] = 1\n");
    clean(
        "@cuda.jit\ndef k(a):\n    t = a.T\n    m, n = t.shape\n    for j in range(m):\n        t[j, cuda.grid(1)] = 1\n",
    );
    clean("@cuda.jit\ndef k(a):\n    a[cuda.grid(1)][3] = 1\n");
    clean("@cuda.jit\ndef k(a):\n    a[cuda.grid(1), :] = 0\n");
    clean("@cuda.jit\ndef k(a):\n    row = a[cuda.grid(1), ::-1]\n    row[0] = row[row.size - 1]\n");
    clean("@cuda.jit\ndef k(a):\n    i = cuda.grid(1)\n    p = (i, 3)\n    a[p] = 1\n");
    clean("@cuda.jit\ndef k(a):\n    i = cuda.grid(1)\n    for x in a[i, 1:7:2]:\n        a[i, 0] = x\n");
}

#[test]
fn views_end_where_they_end() {
    let seen = |text: &str| kernel(text).array(F32, &[64, 8]).seen();
    assert_eq!(
        seen("@cuda.jit\ndef k(a):\n    row = a[cuda.grid(1)]\n    row[8] = 1\n"),
        ["outside row[8] at 2048 by 63"]
    );
    assert_eq!(
        seen("@cuda.jit\ndef k(a):\n    row = a[cuda.grid(1), 4:]\n    row[row.size] = 1\n"),
        ["outside row[row.size] at 2048 by 63"]
    );
}

#[test]
fn strides_are_followed() {
    let text = "@cuda.jit\ndef k(a):\n    a[cuda.grid(1), 7] = 1\n";
    kernel(text).ordered(F32, &[64, 8], Order::Strided).clean_and_complete();
    let text = "@cuda.jit\ndef k(a):\n    a[cuda.grid(1) + 1, 7] = 1\n";
    kernel(text).ordered(F32, &[64, 8], Order::Strided).sees(&["outside a[cuda.grid(1)+1,7] at 2076 by 63"]);
    let text = "@cuda.jit\ndef k(a):\n    a[7, cuda.grid(1)] = 1\n";
    kernel(text).ordered(F32, &[8, 64], Order::Fortran).clean_and_complete();
}

#[test]
fn shared_arrays_by_every_spelling() {
    for (shape, dtype) in [
        ("64", "float32"),
        ("(64,)", "np.float32"),
        ("shape=64", "dtype='float32'"),
        ("shape=(N,)", "dtype='f4'"),
        ("N", "T"),
        ("M * 2", "types.float32"),
        ("64", "a.dtype"),
    ] {
        let text = format!(
            "N = 64\nM = N // 2\nT = float32\n@cuda.jit\ndef k(a):\n    s = cuda.shared.array({shape}, {dtype})\n    t = cuda.threadIdx.x\n    s[t] = a[t]\n    cuda.syncthreads()\n    a[t] = s[63 - t]\n"
        );
        let case = kernel(&text).array(F32, &[64]);
        assert!(case.text().starts_with("Shared s: 256 bytes of 4\n"), "{}", case.text());
        case.clean_and_complete();
    }
    let text = "@cuda.jit\ndef k(a, n):\n    s = cuda.shared.array(n, float32)\n    s[0] = a[0]\n";
    let code = kernel(text).array(F32, &[64]).number(Ty::LONG, 4).code();
    assert_eq!(code.gaps, [("extent of an array", 1)]);
    assert_eq!(code.objects.raw[0].bytes, None);
}

#[test]
fn dynamic_shared_arrays_begin_at_one_byte() {
    let text = "@cuda.jit\ndef k(a):\n    s = cuda.shared.array(0, float32)\n    u = cuda.shared.array(0, float64)\n    t = cuda.threadIdx.x\n    s[t] = 1\n    u[t] = 2\n    a[t] = s.size + u.size\n";
    let mut case = kernel(text).array(F32, &[64]);
    case.launch.dynamic_shared = Some(512);
    let seen = case.seen();
    assert!(seen.contains(&"race block s[t] / u[t]".to_owned()), "{seen:?}");
    case.launch.dynamic_shared = Some(128);
    let seen = case.seen();
    assert!(seen.contains(&"outside s[t] at 128 by 32".to_owned()), "{seen:?}");
}

#[test]
fn local_arrays_are_each_threads_own_and_last() {
    kernel("@cuda.jit\ndef k(a):\n    t = cuda.threadIdx.x\n    for j in range(3):\n        v = cuda.local.array(2, float32)\n        if j == 0:\n            v[0] = 1\n            v[1] = 2\n        a[t] += v[0] + v[1]\n")
        .array(F32, &[64])
        .clean_and_complete();
    kernel("@cuda.jit\ndef k(a):\n    v = cuda.local.array((2, 2), float32)\n    v[0, 0] = a[0]\n    a[cuda.threadIdx.x] = v[1, 0]\n")
        .array(F32, &[64])
        .block(1)
        .sees(&["unwritten v[1,0]"]);
}

#[test]
fn arrays_of_the_host_are_constants() {
    let table = Constant::Array { element: Ty::LONG, shape: vec![4], values: Some([3, 1, 2, 70].as_slice().into()) };
    let text = "@cuda.jit\ndef k(a):\n    t = cuda.threadIdx.x\n    c = cuda.const.array_like(TABLE)\n    a[TABLE[t]] = c[t]\n";
    kernel(text).array(F64, &[64]).block(4).capturing("TABLE", table).sees(&["outside a[TABLE[t]] at 560 by 3"]);
}

#[test]
fn tuples_of_arguments_are_taken_apart() {
    let text = "@cuda.jit\ndef k(a, shape):\n    rows, cols = shape\n    i = cuda.grid(1)\n    if i < shape[0]:\n        a[i, cols - 1] = len(shape)\n";
    let pair = ArgumentType::Tuple(vec![ArgumentType::Scalar(Ty::LONG), ArgumentType::Scalar(Ty::LONG)]);
    kernel(text).array(F32, &[32, 4]).argument(pair, &[Argument::Int(32), Argument::Int(4)]).clean_and_complete();
}

#[test]
fn atomics_take_an_index_or_a_tuple() {
    let text = "@cuda.jit\ndef k(a, b):\n    t = cuda.threadIdx.x\n    old = cuda.atomic.add(a, t % 4, 1)\n    cuda.atomic.max(b, (t % 2, 3), 2.0)\n    cuda.atomic.cas(a, 0, old, 1)\n    cuda.atomic.compare_and_swap(a, 1, 2)\n    cuda.atomic.add(b, (2, 3), 1.0)\n";
    kernel(text).array(Ty::INT, &[4]).array(F32, &[2, 4]).sees(&["outside cuda.atomic.add(b,(2,3),1.0) at 44 by 0"]);
}

#[test]
fn fields_of_records_are_not_told_apart() {
    // Nothing is concluded from what is written to them, or not.
    for target in ["s[t].x", "s[t]['x']", "s[t].p[1]"] {
        let text = format!(
            "@cuda.jit\ndef k(a):\n    s = cuda.shared.array(64, a.dtype)\n    t = cuda.threadIdx.x\n    {target} = 1\n    s[t ^ 32].y = 2\n    a[t] = s[t]\n    a[t ^ 32].x = 3\n    a[t].x += 1\n"
        );
        kernel(&text).array(Ty::Opaque { bytes: Some(16) }, &[64]).sees(&[]);
    }
}

#[test]
fn memory_without_an_element_type_is_not_guessed_at() {
    let text = "@cuda.jit\ndef k(a):\n    s = cuda.shared.array(64, float32)\n    t = cuda.threadIdx.x\n    s[t] = a[t]\n    a[t] = s[t ^ 40] + 1\n";
    let unknown = ArgumentType::Array { element: Ty::Opaque { bytes: None }, rank: 1, order: Order::C };
    kernel(text).argument(unknown, &[Argument::Unknown]).sees(&["race block s[t] / s[t^40]"]);
}
