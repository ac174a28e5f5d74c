//! `CuPy`'s `ReductionKernel`: what a call goes over, and what it gives back.

use crate::support::program;

const CUPY: &str = "
import cupy as cp
from numba import cuda

@cuda.jit
def show(x):
    n = x.size

";

fn cupy(code: &str) -> Vec<String> {
    program(&format!("{CUPY}{code}")).shown()
}

/// What the launch of `show` is given.
fn given(code: &str) -> Vec<String> {
    let told = program(&format!("{CUPY}{code}\nshow[1, 32](r)\n")).told();
    told.into_iter().filter_map(|one| Some(one.strip_prefix("show [1, 1, 1] [32, 1, 1] ")?.to_owned())).collect()
}

#[test]
fn the_map_of_a_reduction_sees_each_element_that_goes_in() {
    let shown = cupy(
        "
dot = cp.ReductionKernel('T x, raw T y', 'T z', 'x * y[_j + 1]', 'a + b', 'z = a', '0', 'dot')
x = cp.ones(1000, dtype=cp.float32)
total = dot(x, x)
",
    );
    assert_eq!(shown, ["dot<float> if []: y[_j + 1] leaves x at 1000"]);
}

#[test]
fn what_comes_after_a_reduction_sees_each_element_that_comes_out() {
    for (size, expected) in [(9, vec!["scaled<float> if []: w[_i] leaves w at 9"]), (10, vec![])] {
        let shown = cupy(&format!(
            "
scaled = cp.ReductionKernel(
    'T x, raw T w', 'T z',
    'x * x',
    'a + b',
    'z = sqrt(a) * w[_i]',
    '0', 'scaled')
x = cp.ones((100, 10), dtype=cp.float32)
r = scaled(x, cp.ones({size}, dtype=cp.float32), axis=0)
"
        ));
        assert_eq!(shown, expected);
    }
}

#[test]
fn the_number_of_elements_keeps_an_index_in() {
    let shown = cupy(
        "
steps = cp.ReductionKernel(
    'T x, raw T y', 'T z', '_j + 1 < _in_ind.size() ? y[_j + 1] - x : 0', 'max(a, b)', 'z = _out_ind.size() * a', '0')
x = cp.ones(700, dtype=cp.float64)
largest = steps(x, x)
",
    );
    assert_eq!(shown, [""; 0]);
}

#[test]
fn a_reduction_gives_back_what_is_left_of_the_shape() {
    let sum = "sum = cp.ReductionKernel('T x, S s', 'T y', 'x * s', 'a + b', 'y = a', '0', 'sum')\n";
    for (call, expected) in [
        ("r = sum(x, 2.0, axis=1)", "+0 of 1200; 10:8; 30:8)"),
        ("r = sum(x, 2.0, axis=(0, -1))", "+0 of 80; 20:8)"),
        ("r = sum(x, 2.0, axis=0, keepdims=True)", "+0 of 2400; 1:8; 20:8; 30:8)"),
        ("r = sum(x, 2.0, axis=2, out=cp.zeros((10, 20), dtype=cp.float32))", "+0 of 800; 10:8; 20:8)"),
    ] {
        let given = given(&format!("{sum}x = cp.ones((10, 20, 30), dtype=cp.float32)\n{call}\n"));
        let given: Vec<String> = given.iter().map(|one| one.split_once("+0").unwrap().1.replace(" held", "")).collect();
        assert_eq!(given, [expected.split_once("+0").unwrap().1], "{call}");
    }
}

#[test]
fn what_cupy_refuses_is_not_run() {
    let kernel = "k = cp.ReductionKernel('T x, raw float32 y', 'T z', 'x * y[_j + 1]', 'a + b', 'z = a', '0', 'k')\n";
    for call in [
        // Not the declared type.
        "k(x, cp.ones(1000))",
        // No such axis, one of them twice.
        "k(x, x, axis=1)",
        "k(x, x, axis=(0, 0))",
        // Not the shape of the result.
        "k(x, x, out=cp.zeros(2, dtype=cp.float32))",
        // Arrays of the host.
        "k(cp.asnumpy(x), x)",
        "k(x, x, block_size=64)",
        "k(x)",
    ] {
        let shown = cupy(&format!("{kernel}x = cp.ones(1000, dtype=cp.float32)\n{call}\n"));
        assert_eq!(shown, [""; 0], "{call}");
    }
    // Axes that would have to change places, with a raw array.
    let shown = cupy(&format!("{kernel}x = cp.ones((4, 250), dtype=cp.float32)\nk(x, x, axis=1)\n"));
    assert_eq!(shown, [""; 0]);
}

#[test]
fn a_fused_function_is_silent() {
    let shown = cupy(
        "
@cp.fuse(kernel_name='squared')
def squared(x, y):
    return (x - y) * (x - y)

x = cp.ones(100)
r = squared(x, x[:50])
show[1, 128](squared(x, 2))
",
    );
    assert_eq!(shown, [""; 0]);
}
