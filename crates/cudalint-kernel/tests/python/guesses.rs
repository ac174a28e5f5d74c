use crate::support::{F32, F64, kernel};
use cudalint_kernel::code::Ty;
use cudalint_kernel::python::{ArgumentType, Order};

fn array(element: Ty, rank: u8, order: Order) -> ArgumentType {
    ArgumentType::Array { element, rank, order }
}

#[test]
fn signatures_are_taken_at_their_word() {
    let guess = |signature: &str| kernel(&format!("@cuda.jit({signature})\ndef k(a, b):\n    pass\n")).guess();
    let expected = [array(F32, 2, Order::C), ArgumentType::Scalar(Ty::INT)];
    for signature in [
        "'void(float32[:, ::1], int32)'",
        "'(float32[:,::1], i4)'",
        "(float32[:, ::1], int32)",
        "void(float32[:, ::1], int32)",
        "['void(float32[:,::1], int32)', 'void(float64[:,::1], int32)']",
        "types.void(types.float32[:, ::1], types.int32)",
        "[float32[:, ::1], int32]",
        "(types.Array(float32, 2, 'C'), int32)",
    ] {
        assert_eq!(guess(signature), expected, "{signature}");
    }
    assert_eq!(guess("'void(f8[:], f8[::1, :])'"), [array(F64, 1, Order::Strided), array(F64, 2, Order::Fortran)]);
}

#[test]
fn uses_tell_arrays_from_numbers() {
    let text = "@cuda.jit(device=True)\ndef f(x, y):\n    return x[0, 1] + y\n@cuda.jit\ndef k(a, b, c, d, e, n, m, g, h):\n    i = cuda.grid(1)\n    rows, cols, depth = b.shape\n    if i < n:\n        a[i] = c[i][m]\n    for j in range(len(d)):\n        cuda.atomic.add(e, (i, j), g)\n    f(h, g)\n";
    let unknown = Ty::Opaque { bytes: None };
    let of = |rank| array(unknown.clone(), rank, Order::C);
    assert_eq!(
        kernel(text).guess(),
        [
            of(1),
            of(3),
            of(2),
            of(1),
            of(2),
            ArgumentType::Scalar(Ty::LONG),
            ArgumentType::Scalar(Ty::LONG),
            ArgumentType::Unknown,
            of(2),
        ]
    );
}

#[test]
fn a_guessed_kernel_still_shows_its_races() {
    let text = "@cuda.jit\ndef k(a, n):\n    s = cuda.shared.array(64, float32)\n    t = cuda.threadIdx.x\n    if t < n:\n        s[t] = a[t]\n    s[t] = 1\n    a[t] = s[t ^ 32]\n";
    let mut case = kernel(text);
    case.specialization.arguments = case.guess();
    case.sees(&["race block s[t] / s[t^32]"]);
}
