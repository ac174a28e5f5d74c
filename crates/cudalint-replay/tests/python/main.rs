//! Python host code walked, and its launches executed.
#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use support::program;

const ADD: &str = "
import numpy as np
from numba import cuda

@cuda.jit
def add(x, y, out):
    i = cuda.grid(1)
    out[i] = x[i] + y[i]
";

#[test]
fn arrays_and_their_sizes() {
    let seen = program(&format!(
        "{ADD}
n = 1000
x = np.arange(n, dtype=np.float32)
d_x = cuda.to_device(x)
d_out = cuda.device_array_like(d_x)
add[(n + 255) // 256, 256](d_x, d_x, d_out)
r = d_out.copy_to_host()
"
    ));
    assert_eq!(seen.told(), ["x"]);
    assert_eq!(seen.shown(), ["x"]);
}

#[test]
fn a_launch_without_a_block() {
    let seen = program(&format!(
        "{ADD}
x_cpu = np.arange(1000, dtype=np.float32)
x_gpu = cuda.to_device(x_cpu)
out_gpu = cuda.device_array(1000, dtype=np.float32)
add[100,](x_gpu, x_gpu, out_gpu)
out_cpu = out_gpu.copy_to_host()
"
    ));
    assert_eq!(seen.told(), ["x"]);
    assert_eq!(seen.shown(), ["x"]);
}
#[test]
fn entry() {
    let seen = program(&format!(
        "{ADD}
def f(x, y):
    out = np.zeros_like(x)
    tpb = 128
    add[(x.size + tpb - 1) // tpb, tpb](x, y, out)
    return out

def g(n):
    x = np.ones(n)
    add[math.ceil(n / 32), 32](x, x, x)
    add.forall(n)(x, x, x)
"
    ));
    assert_eq!(seen.told(), ["x"]);
    assert_eq!(seen.shown(), ["x"]);
}

#[test]
fn dump() {
    let Ok(path) = std::env::var("PYFILE") else { return };
    let text = std::fs::read_to_string(path).unwrap();
    let seen = program(&text);
    for line in seen.told() {
        println!("launch {line}");
    }
    for line in seen.shown() {
        println!("shown {line}");
    }
    for facts in &seen.facts {
        for fault in &facts.python {
            println!("fault {:?}", fault.kind);
        }
        println!("limits {:?}", facts.limits);
    }
}
