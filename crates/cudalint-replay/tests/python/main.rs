//! Python host code walked, and its launches executed.
#![allow(clippy::unwrap_used, missing_docs)]

mod bodies;
mod copies;
mod faults;
mod language;
mod read_files;
mod records;
mod reductions;
mod support;
mod ufuncs;
mod values;

use support::program;

const ADD: &str = "
import math
import numpy as np
from numba import cuda

@cuda.jit
def add(x, y, out):
    i = cuda.grid(1)
    out[i] = x[i] + y[i]

@cuda.jit
def guarded(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] * 2
";

fn with(code: &str) -> support::Seen {
    program(&format!("{ADD}{code}"))
}

#[test]
fn a_rounded_up_grid_leaves_arrays_of_known_size() {
    let seen = with(
        "
n = 1000
x = np.arange(n, dtype=np.float32)
d_x = cuda.to_device(x)
d_out = cuda.device_array_like(d_x)
add[(n + 255) // 256, 256](d_x, d_x, d_out)
r = d_out.copy_to_host()
",
    );
    assert_eq!(
        seen.told(),
        ["add [4, 1, 1] [256, 1, 1] (d_x+0 of 4000; 1000:8; d_x+0 of 4000; 1000:8; d_out+0 of 4000 held; 1000:8)"]
    );
    assert_eq!(
        seen.shown(),
        [
            "add if []: x[i] leaves x at 1000",
            "add if []: y[i] leaves x at 1000",
            "add if []: out[i] leaves out at 1000"
        ]
    );
}

#[test]
fn a_guard_keeps_threads_out() {
    let seen = with(
        "
x = np.zeros(1000)
guarded[4, 256](x, x)
guarded[-(-x.size // 96), 96](x, x)
",
    );
    assert_eq!(seen.launches().len(), 2);
    assert_eq!(seen.launches()[1].grid.axes[0].to_string(), "11");
    assert!(seen.shown().is_empty(), "{:?}", seen.shown());
}

#[test]
fn a_launch_without_a_block_is_looked_at_with_one() {
    let seen = with(
        "
x_gpu = cuda.to_device(np.arange(1000, dtype=np.float32))
out_gpu = cuda.device_array(1000, dtype=np.float32)
add[100,](x_gpu, x_gpu, out_gpu)
add[1,](x_gpu, x_gpu, out_gpu)
",
    );
    assert_eq!(seen.launches()[0].block.axes[0].to_string(), "threads per block");
    assert_eq!(seen.shown().first().unwrap(), "add if [`threads per block` is 160]: x[i] leaves x at 15840");
}

#[test]
fn sizes_of_arguments_are_symbols() {
    let seen = with(
        "
def f(x, y):
    out = np.zeros_like(x)
    tpb = 128
    add[(x.size + tpb - 1) // tpb, tpb](x, y, out)
    return out

def g(n):
    x = np.ones(n)
    add[math.ceil(n / 32), 32](x, x, x)
",
    );
    let told = seen.told();
    assert!(told[0].starts_with("add [(x.size + 127) / 128, 1, 1] [128, 1, 1] (x+0 of 4 * x.size;"), "{told:?}");
    assert!(told[1].starts_with("add [(n + 31) / 32, 1, 1] [32, 1, 1] (x+0 of 8 * n; n:8;"), "{told:?}");
    assert!(seen.shown().iter().all(|line| line.contains(" is ")), "{:?}", seen.shown());
    assert!(!seen.shown().is_empty());
}

#[test]
fn code_under_a_main_test_runs_as_the_program() {
    let seen = with(
        "
def main(n):
    x = np.zeros(n, dtype=np.int32)
    guarded[n // 64, 64](x, x)

if __name__ == '__main__':
    main(640)
",
    );
    assert_eq!(seen.told(), ["guarded [10, 1, 1] [64, 1, 1] (x+0 of 2560 held; 640:8; x+0 of 2560 held; 640:8)"]);
}

#[test]
fn defaults_of_arguments_are_assumed() {
    let seen = with(
        "
import argparse
parser = argparse.ArgumentParser()
parser.add_argument('--size', type=int, default=512)
args = parser.parse_args()
x = np.zeros(args.size)
guarded[args.size // 64, 64](x, x)
",
    );
    assert_eq!(seen.launches()[0].grid.axes[0].to_string(), "8");
    assert_eq!(
        seen.launches()[0].grid.axes[0].assumptions.as_ref().unwrap().as_slice(),
        ["no command-line argument is given"]
    );
}

#[test]
fn kernels_take_what_stands_around_them() {
    let seen = program(
        "
from numba import cuda, float32
import numpy as np

def make(width):
    @cuda.jit
    def kernel(x):
        s = cuda.shared.array(width, float32)
        t = cuda.threadIdx.x
        s[t] = x[t]
        x[t] = s[t]
    return kernel

x = np.zeros(128, dtype=np.float32)
make(64)[1, 128](x)
make(128)[1, 128](x)
",
    );
    assert_eq!(seen.shown(), ["kernel if []: s[t] leaves s at 64", "kernel if []: s[t] leaves s at 64"]);
}

#[test]
fn functions_of_other_files_are_followed() {
    let seen = support::files(&[
        ("pkg/kernels.py", "from numba import cuda\nBLOCK = 64\n@cuda.jit\ndef k(x):\n    x[cuda.grid(1)] = 1\n"),
        ("pkg/main.py", "import numpy as np\nfrom kernels import k, BLOCK\nx = np.zeros(100)\nk[2, BLOCK](x)\n"),
    ]);
    assert_eq!(seen.told(), ["k [2, 1, 1] [64, 1, 1] (x+0 of 800 held; 100:8)"]);
    assert_eq!(seen.shown(), ["k if []: x[cuda.grid(1)] leaves x at 100"]);
}

#[test]
fn paths_meet_where_python_lets_them() {
    // The `else` of a loop is left by those that did not break out; a list that one path makes stays as that path made it.
    let launched = |code: &str| {
        with(&format!("import sys\nimport os\n{code}\nd = cuda.to_device(np.zeros(n))\nguarded[1, 32](d, d)\n")).told()
    };
    let sized = |bytes: &str, n: &str| {
        vec![format!("guarded [1, 1, 1] [32, 1, 1] (d+0 of {bytes} held; {n}:8; d+0 of {bytes} held; {n}:8)")]
    };
    assert_eq!(
        launched(
            "n = 1\nfor i in range(3):\n    for j in range(3):\n        if j == 1:\n            break\n    else:\n        n = 9\n        continue\n    n += 1"
        ),
        sized("32", "4")
    );
    assert_eq!(
        launched(
            "n = 1\nfor i in range(3):\n    for j in range(3):\n        pass\n    else:\n        n = 5\n        break\n    n = 7"
        ),
        sized("40", "5")
    );
    assert_eq!(
        launched(
            "if os.path.exists('x'):\n    xs = []\n    if os.path.exists('y'):\n        ys = 1\n    xs.append(6)\nelse:\n    sys.exit(1)\nn = xs[0]"
        ),
        sized("48", "6")
    );
    assert_eq!(
        launched("def f(a):\n    if os.path.exists(a):\n        return 8\n    return 8\nn = f('x')"),
        sized("64", "8")
    );
    assert_eq!(launched("try:\n    n = 3\nexcept ValueError:\n    sys.exit(1)"), sized("24", "3"));
}
