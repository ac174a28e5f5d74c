//! Shapes, types and contents of arrays.

use crate::support::program;

/// What one launch of a kernel with these values as arguments is given.
fn given(code: &str, arguments: &str) -> String {
    let seen = program(&format!(
        "
import numpy as np
import cupy as cp
import cupyx
from numba import cuda

@cuda.jit
def k(*args):
    pass

@cuda.jit
def one(a):
    a[0, 0] = 1

{code}
one[1, 1]({arguments})
"
    ));
    seen.told().pop().unwrap_or_default().rsplit_once('(').map(|(_, rest)| rest.to_owned()).unwrap_or_default()
}

#[test]
fn numpys_own_types() {
    assert_eq!(given("a = np.zeros(10)", "a"), "a+0 of 80 held; 10:8)");
    assert_eq!(given("a = np.arange(10)", "a"), "a+0 of 80 held; 10:8)");
    assert_eq!(given("a = np.arange(10, dtype='f4')", "a"), "a+0 of 40; 10:8)");
    assert_eq!(given("a = np.array([1.5, 2])", "a"), "a+0 of 16; 2:8)");
    assert_eq!(given("a = np.random.rand(3, 4).astype(np.float32)", "a"), "a+0 of 48; 3:8; 4:8)");
    assert_eq!(given("a = np.ones((2, 3), np.int16) * 2.5", "a"), "a+0 of 48; 2:8; 3:8)");
}

#[test]
fn arrays_of_ranges_have_their_length() {
    assert_eq!(given("a = np.array([range(0, 10)], dtype=np.int32)", "a.size"), "10:8)");
    assert_eq!(given("a = np.array([range(3), range(3, 6)])", "a.shape[1]"), "3:8)");
    // Nothing is known of what is no number.
    assert_eq!(given("a = np.array([object(), 1])", "a.size"), "?)");
}

#[test]
fn views() {
    assert_eq!(given("a = np.zeros((4, 6)); b = a[1:3]", "b"), "a+0 of 96; 2:8; 6:8)");
    assert_eq!(given("a = cp.zeros((4, 6)); b = a[1:3]", "b"), "a+48 of 192 held; 2:8; 6:8)");
    assert_eq!(given("a = cp.zeros((4, 6)); b = a[:, ::2]", "b"), "a+0 of 192 held; 4:8; 3:8; 48:8; 16:8)");
    assert_eq!(given("a = cp.zeros((4, 6)); b = a.T", "b"), "a+0 of 192 held; 6:8; 4:8)");
    assert_eq!(given("a = cp.zeros(24); b = a.reshape(4, -1)", "b"), "a+0 of 192 held; 4:8; 6:8)");
}

#[test]
fn numbers() {
    assert_eq!(given("a = 7", "a // 2"), "3:8)");
    assert_eq!(given("a = 7", "-a // 2"), "-4:8)");
    assert_eq!(given("a = np.int32(7)", "a"), "7:4)");
    assert_eq!(given("a = 7", "a / 2"), "3.5f)");
    assert_eq!(given("a = [1, 2, 3]\nb = sum(x * 2 for x in a)", "b"), "12:8)");
    assert_eq!(given("a, *b = 1, 2, 3", "a"), "1:8)");
    assert_eq!(given("a, *b = 1, 2, 3", "len(b)"), "2:8)");
    assert_eq!(given("def f(x, y=3):\n    return x + y", "f(1, y=4)"), "5:8)");
    assert_eq!(given("t = 0\nfor i in range(5):\n    t += i", "t"), "10:8)");
    assert_eq!(given("t = 0\nwhile t < 7:\n    t += 2", "t"), "8:8)");
}

#[test]
fn paths() {
    // Either may be.
    assert_eq!(given("def f(c):\n    return 1 if c else 2\nimport os\nx = f(os.getcwd())", "x"), "?)");
    assert_eq!(given("import os\nx = 1\nif os.getcwd():\n    x = 1", "x"), "1:8)");
    assert_eq!(given("try:\n    import missing\n    x = 3\nexcept ImportError:\n    x = 4", "x"), "3:8)");
}

#[test]
fn a_kernel_with_surplus_arguments_is_executed_with_those_of_the_launch() {
    let seen = program(
        "
import numpy as np
from numba import cuda

@cuda.jit
def k(*args):
    i = cuda.grid(1)
    args[0][i] = args[1]

a = cuda.device_array(100, np.float32)
k[1, 128](a, 1.0)
",
    );
    assert_eq!(seen.shown().len(), 1, "{:?}", seen.shown());
}

#[test]
fn functions_of_the_catalogue_by_their_paths() {
    assert_eq!(given("a = np.zeros_like(np.ones((2, 3), np.float32), dtype=np.int8)", "a"), "a+0 of 6 held; 2:8; 3:8)");
    assert_eq!(given("a = cp.full((2, 3), 0)", "a"), "a+0 of 48 held; 2:8; 3:8)");
    assert_eq!(given("a = cuda.device_array((2, 3), dtype=np.int16, order='C')", "a"), "a+0 of 12 held; 2:8; 3:8)");
    assert_eq!(given("a = cupyx.zeros_like_pinned(np.ones((2, 3), np.float32))", "a"), "a+0 of 24 held; 2:8; 3:8)");
    assert_eq!(given("a = np.identity(n=4)", "a"), "a+0 of 128; 4:8; 4:8)");
    assert_eq!(given("a = np.linspace(0, 1, num=5)", "a"), "a+0 of 40; 5:8)");
    assert_eq!(given("a = np.random.normal(0, 1, size=(4, 2))", "a"), "a+0 of 64; 4:8; 2:8)");
}
