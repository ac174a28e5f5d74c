use crate::support::{F32, F64, in_files, kernel};
use cudalint_kernel::Argument;
use cudalint_kernel::code::Ty;
use cudalint_kernel::python::{ArgumentType, Constant};

#[test]
fn a_device_function_is_compiled_for_each_combination_of_types() {
    let text = "@cuda.jit(device=True)\ndef twice(x):\n    return x + x\n@cuda.jit\ndef k(a, f, i):\n    a[0] = twice(f)\n    a[1] = twice(i)\n    a[2] = twice(f)\n";
    insta::assert_snapshot!(kernel(text).array(F32, &[3]).number(F32, 0).number(Ty::INT, 0).text(), @"
    void k(ptr a, i64 a.shape[0], f32 f, i32 i)
      f32[(a + 0:i64*4)] = twice#1(f)
      f32[(a + 1:i64*4)] = f32(twice#2(i))
      f32[(a + 2:i64*4)] = twice#1(f)
    f32 twice(f32 x)
      return (x + x)
    i64 twice(i32 x)
      return (i64(x) + i64(x))
    ");
}

#[test]
fn tuples_and_views_come_back() {
    let text = "@cuda.jit(device=True)\ndef place(a):\n    i = cuda.grid(1)\n    return i, a.shape[0] - 1 - i\n@cuda.jit(device=True)\ndef tail(a, n):\n    return a[n:]\n@cuda.jit\ndef k(a):\n    i, j = place(a)\n    b = tail(a, 4)\n    b[j - 4 if j >= 4 else 0] = i\n";
    let seen = kernel(text).array(F32, &[64]).seen();
    assert!(seen.iter().all(|event| event.starts_with("race")), "{seen:?}");
    let code = kernel(text).array(F32, &[64]).text();
    assert!(code.contains("place") && code.contains("tail"), "{code}");
}

#[test]
fn constant_arguments_may_be_extents() {
    let text = "@cuda.jit(device=True)\ndef reversed_(a, n, dtype):\n    s = cuda.shared.array(n, dtype)\n    t = cuda.threadIdx.x\n    s[t] = a[t]\n    cuda.syncthreads()\n    a[t] = s[n - 1 - t]\n@cuda.jit\ndef k(a):\n    reversed_(a, EXTENT, float32)\n";
    kernel(&text.replace("EXTENT", "64")).array(F32, &[64]).clean_and_complete();
    let seen = kernel(&text.replace("EXTENT", "63")).array(F32, &[64]).seen();
    assert!(seen.contains(&"outside s[t] at 252 by 63".to_owned()), "{seen:?}");
}

#[test]
fn functions_inside_and_around() {
    let text = "def make(n):\n    step = 2\n    @cuda.jit(device=True)\n    def moved(i):\n        return i + step\n    @cuda.jit\n    def k(a):\n        i = cuda.grid(1)\n        if i < n:\n            a[moved(i)] = 1\n    return k\n";
    kernel(text)
        .array(F32, &[64])
        .capturing("n", Constant::Int(63, Ty::LONG))
        .sees(&["outside a[moved(i)] at 256 by 62"]);
}

#[test]
fn functions_and_constants_of_other_files() {
    let main = "from helpers import shifted, WIDTH\nimport helpers as h\n@cuda.jit\ndef k(a):\n    i = cuda.grid(1)\n    if i < WIDTH:\n        a[shifted(i)] = h.WIDTH\n";
    let helpers = "WIDTH = 64\nSHIFT = 1\n@cuda.jit(device=True)\ndef shifted(i):\n    return i + SHIFT\n";
    in_files(&[("pkg/a.py", main), ("pkg/helpers.py", helpers)])
        .array(F32, &[64])
        .sees(&["outside a[shifted(i)] at 256 by 63"]);
}

#[test]
fn what_is_out_of_sight_may_do_anything() {
    let text = "@cuda.jit\ndef k(a):\n    s = cuda.shared.array(64, float32)\n    t = cuda.threadIdx.x\n    s[t] = a[t]\n    unknown(s)\n    a[t] = s[t ^ 1]\n";
    kernel(text).array(F32, &[64]).sees(&[]);
    let code = kernel(text).array(F32, &[64]).code();
    assert!(code.gaps.contains(&("call out of sight", 1)), "{:?}", code.gaps);
}

#[test]
fn arguments_left_out_have_their_defaults() {
    kernel("@cuda.jit\ndef k(a, shift=1):\n    a[cuda.grid(1) + shift] = 1\n")
        .array(F32, &[64])
        .sees(&["outside a[cuda.grid(1)+shift] at 256 by 63"]);
}

#[test]
fn recursion_ends() {
    let text = "@cuda.jit(device=True)\ndef fib(n):\n    if n < 2:\n        return n\n    return fib(n - 1) + fib(n - 2)\n@cuda.jit\ndef k(a):\n    a[cuda.grid(1)] = fib(5)\n";
    let seen = kernel(text).array(F64, &[64]).seen();
    assert!(seen.is_empty(), "{seen:?}");
}

#[test]
fn surplus_arguments_are_a_tuple() {
    let text = "@cuda.jit(device=True)\ndef total(first, *rest):\n    s = first\n    for one in rest:\n        s += one\n    return s\n@cuda.jit\ndef k(a, *args):\n    i = cuda.grid(1)\n    a[i] = total(args[0], args[1], 2)\n";
    let int = || ArgumentType::Scalar(Ty::INT);
    let given = [Argument::Int(1), Argument::Int(3)];
    let seen = kernel(text).array(F32, &[60]).argument(ArgumentType::Tuple(vec![int(), int()]), &given).seen();
    assert_eq!(seen, ["outside a[i] at 240 by 60"]);
}
