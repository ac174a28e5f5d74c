//! `cudalint facts` prints what rules are given, of real files.

#![allow(clippy::unwrap_used)]

mod common;

use common::Sandbox;

const PROGRAM: &str = include_str!("facts/scale.cu");

#[test]
fn events_statuses_checkers_and_runs() {
    let sandbox = Sandbox::new(&[("a.cu", PROGRAM)]);
    let ran = sandbox.run(&["facts", "a.cu"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.stdout, include_str!("facts/scale.txt"), "what is printed has changed: is it meant?");
    assert_eq!(sandbox.run(&["facts", "a.cu"]).stdout, ran.stdout);
    let with_program = sandbox.run(&["facts", "a.cu", "--program"]).stdout;
    assert!(with_program.contains("program:\n") && with_program.contains("global scale(p: f32*"), "{with_program}");
}

#[test]
fn options_reach_the_program() {
    let sandbox = Sandbox::new(&[("a.cu", "int main() { float *d; cudaMalloc(&d, N); }\n")]);
    assert!(sandbox.run(&["facts", "a.cu"]).stdout.contains("unknown B by cudaMalloc"));
    assert!(sandbox.run(&["facts", "a.cu", "-D", "N=12"]).stdout.contains("12 B by cudaMalloc"));
}

#[test]
fn python_and_what_could_not_be_read() {
    let script = "import numpy as np
from numba import cuda

@cuda.jit
def k(a):
    a[cuda.grid(1)] = 1

a = cuda.to_device(np.zeros(100, np.float32))
k[4, 32](a)
";
    let deep = format!("__global__ void k() {{ int a = {}1{}; }}\n", "(".repeat(2_000), ")".repeat(2_000));
    let sandbox = Sandbox::new(&[("a.py", script), ("deep.cu", &deep)]);
    let ran = sandbox.run(&["facts", ".", "--quiet"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.contains("launch k (Numba, kernel in sight) grid 4 x 1 x 1, block 32 x 1 x 1"), "{ran:?}");
    assert!(ran.stdout.contains("defect MissingGuard"), "{ran:?}");
    assert!(ran.stderr.contains("warning: deep.cu: not analysed: brackets nest deeper"), "{ran:?}");
}
