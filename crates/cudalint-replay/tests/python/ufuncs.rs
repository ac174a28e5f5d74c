//! Ufuncs and reductions that Numba makes of a function of numbers.

use crate::support::program;

const NUMBA: &str = "
import math
import numpy as np
from numba import cuda, vectorize, guvectorize, float32, float64, int64

@cuda.jit
def show(x):
    n = x.size

";

fn numba(code: &str) -> Vec<String> {
    program(&format!("{NUMBA}{code}")).shown()
}

fn launches(code: &str) -> Vec<String> {
    program(&format!("{NUMBA}{code}")).told()
}

#[test]
fn a_reduction_of_numba_is_a_number_of_the_arrays_type() {
    for made in ["@cuda.reduce\ndef total(a, b):\n    return a + b\n", "total = cuda.Reduce(lambda a, b: a + b)\n"] {
        let told = launches(&format!(
            "
{made}
x = np.arange(100, dtype=np.float32)
s = total(x, init=1)
y = np.zeros(10, dtype=np.float32)
y_gpu = cuda.to_device(y)
show[1, 32](np.full(10, s))
none = total(x, res=y_gpu)
show[1, 32](y_gpu)
"
        ));
        assert_eq!(told.len(), 2, "{made}: {told:?}");
        // The number is of four bytes; the array that takes a result has been written.
        assert!(told[0].contains(" of 40;"), "{told:?}");
        assert!(told[1].contains(" of 40;") && !told[1].contains("held"), "{told:?}");
    }
}

#[test]
fn a_ufunc_has_a_thread_for_each_result() {
    let code = "
@vectorize(['float32(float32, float32)', 'float64(float64, float64)'], target='cuda')
def add(x, y):
    return x + y

x = cuda.to_device(np.ones((10, 30), dtype=np.float32))
r = add(x, 2)
show[1, 32](r)
s = add(x, cuda.to_device(np.ones(30, dtype=np.float32)))
show[1, 32](s)
h = add(np.ones(1000), np.ones(1000))
show[1, 32](h)
";
    let told = launches(code);
    assert_eq!(told.len(), 6, "{told:?}");
    let assumed = "if a block of a ufunc has 256 threads";
    assert!(
        told[0].starts_with(&format!("add [2 {assumed}, 1, 1] [256 {assumed}, 1, 1] (x+0 of 1200; 300:8; ?; ")),
        "{told:?}"
    );
    assert!(told[1].contains(" of 1200; 10:8; 30:8)"), "{told:?}");
    assert!(told[3].contains(" of 1200; 10:8; 30:8)"), "{told:?}");
    // Of two signatures the one for the arrays' type.
    assert!(told[5].contains(" of 8000; 1000:8)"), "{told:?}");
    assert_eq!(numba(code), [""; 0]);
}

#[test]
fn a_reduction_by_a_ufunc_overwrites_an_array_of_the_device() {
    let told = launches(
        "
@vectorize(['int64(int64, int64)'], target='cuda')
def add(x, y):
    return x + y

x = cuda.to_device(np.arange(16))
show[1, 32](x)
total = add.reduce(x)
show[1, 32](x)
",
    );
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].contains("held") && !told[1].contains("held"), "{told:?}");
}

#[test]
fn the_function_of_a_ufunc_is_executed() {
    let code = |limit: &str| {
        format!(
            "
TABLE = np.zeros(64, dtype=np.int64)

@vectorize([float64(int64)], target='cuda')
def look_up(i):
    if i < {limit}:
        return math.sqrt(TABLE[i])
    return 0.0

r = look_up(np.arange(100))
"
        )
    };
    let shown = numba(&code("100"));
    assert_eq!(shown.len(), 1, "{shown:?}");
    assert!(shown[0].contains("TABLE[i] leaves TABLE at 64"), "{shown:?}");
    assert_eq!(numba(&code("64")), [""; 0]);
}

#[test]
fn more_results_than_elements_lead_beyond_the_arguments() {
    let code = |size: u32| {
        format!(
            "
@vectorize(['float32(float32)'], target='cuda')
def twice(x):
    return x * 2

x = cuda.to_device(np.ones(1000, dtype=np.float32))
out = cuda.device_array({size}, dtype=np.float32)
twice(x, out=out)
"
        )
    };
    let shown = numba(&code(1010));
    assert_eq!(shown.len(), 1, "{shown:?}");
    assert!(shown[0].ends_with("a block of a ufunc has 256 threads]: x leaves x at 1000"), "{shown:?}");
    assert_eq!(numba(&code(1000)), [""; 0]);
    assert_eq!(numba(&code(900)), [""; 0]);
}

#[test]
fn a_call_that_no_signature_fits_is_not_run() {
    let function = "
@vectorize(['float32(float32)'], target='cuda')
def twice(x):
    return x * 2

out = cuda.device_array(1010, dtype=np.float32)
";
    for call in ["twice(np.ones(1000), out=out)", "twice(x, x, out=out)", "twice([1, 2], out=out)"] {
        let shown = numba(&format!("{function}x = cuda.to_device(np.ones(1000, dtype=np.float32))\n{call}\n"));
        assert_eq!(shown, [""; 0], "{call}");
    }
}

#[test]
fn the_result_of_a_generalized_ufunc_may_be_given() {
    let code = |size: u32| {
        format!(
            "
@guvectorize(['void(float32[:], float32[:])', 'void(float64[:], float64[:])'], '(n)->(n)', target='cuda')
def differences(x, out):
    for i in range(x.shape[0] - 1):
        out[i + 1] = x[i + {size}] - x[i]

x = np.ones((10, 64))
out = np.zeros((10, 64))
differences(x, out=out)
"
        )
    };
    assert_eq!(numba(&code(1)), [""; 0]);
    let shown = numba(&code(2));
    assert_eq!(shown.len(), 1, "{shown:?}");
    assert!(shown[0].contains("x[i + 2] leaves x at 640"), "{shown:?}");
}
