//! What goes wrong between Python and its kernels.

use crate::support::{Seen, program};

pub fn faults(seen: &Seen) -> Vec<String> {
    use cudalint_replay::facts::PythonFaultKind as Kind;
    let faults = seen.facts.iter().flat_map(|facts| &facts.python);
    faults
        .map(|fault| {
            let at = seen.project.text(fault.site.module, fault.site.span);
            let what = match &fault.kind {
                Kind::ArgumentType { argument, others, .. } => {
                    let named = std::iter::once(argument).chain(others);
                    named.map(|it| format!("{} for {}", it.given, it.wanted)).collect::<Vec<_>>().join(", ")
                }
                Kind::ElementType { wanted, given, .. } => format!("elements {given} for {wanted}"),
                Kind::NotContiguous { .. } => "not contiguous".to_owned(),
                Kind::NotCopiedBack { host, device, .. } => format!("{device} of {host}"),
                Kind::CopyRefused { types, sizes, exception, .. } => {
                    format!("{exception}: {} of {} from {} of {}", sizes.0, types.0, sizes.1, types.1)
                }
                Kind::CapturedChanged { name, before, after, .. } => format!("{name} was {before}, is {after}"),
            };
            format!("{at}: {what}")
        })
        .collect()
}

const HALF: &str = "
import numpy as np
from numba import cuda

@cuda.jit
def half(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] *= 0.5
";

#[test]
fn a_result_that_nobody_fetches() {
    let seen = program(&format!(
        "{HALF}
def bad():
    h = np.ones(500, np.float32)
    d = cuda.to_device(h)
    half[4, 128](d)
    return h.sum()
def fetched():
    h = np.ones(500, np.float32)
    d = cuda.to_device(h)
    half[4, 128](d)
    r = d.copy_to_host()
    return r - h
def direct():
    h = np.ones(500, np.float32)
    half[4, 128](h)
    return h.sum()
def kept(self):
    h = np.ones(500, np.float32)
    self.d = cuda.to_device(h)
    half[4, 128](self.d)
    print(h)
"
    ));
    assert_eq!(faults(&seen), ["h.sum(): d of h"]);
}

#[test]
fn a_captured_variable_that_changes() {
    let seen = program(
        "
from numba import cuda
GAIN = 2.0
@cuda.jit
def bad(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] *= GAIN
def host(a):
    global GAIN
    bad[4, 128](a)
    GAIN = 3.0
    bad[4, 128](a)
",
    );
    assert_eq!(faults(&seen), ["GAIN: GAIN was 2, is 3"]);
    let seen = program(
        "
import numpy as np
from numba import cuda
GAIN = 2.0
@cuda.jit
def k(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] *= GAIN
GAIN = 3.0
a = np.zeros(100)
k[1, 128](a)
k[1, 128](a)
",
    );
    assert!(faults(&seen).is_empty());
}

#[test]
fn numbers_and_elements_for_kernels_in_strings() {
    let seen = program(
        "
import cupy as cp
K = cp.RawKernel(r'''extern \"C\" __global__ void axpy(const float* x, float* y, float a, int n)
{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] += a * x[i]; }''', 'axpy')
def bad():
    x = cp.ones(1000)
    y = cp.zeros(1000, dtype=cp.float32)
    K(((x.size + 127) // 128,), (128,), (x, y, 0.5, x.size))
def good():
    x = cp.zeros(1000, dtype=cp.float32)
    K(((x.size + 127) // 128,), (128,), (x, x, cp.float32(0.5), cp.int32(x.size)))
",
    );
    assert_eq!(faults(&seen), ["x: elements float64 for float", "0.5: float for float"]);
    assert_eq!(seen.told()[1], "K [8, 1, 1] [128, 1, 1] (x+0 of 4000 held; x+0 of 4000 held; 0.5f; 1000:4)");
}

const PYCUDA: &str = "
import sys
import numpy as np
import pycuda.driver as drv
from pycuda.compiler import SourceModule
K = SourceModule('''__global__ void k(float *a, int n) { if (threadIdx.x < n) a[threadIdx.x] = 0; }''').get_function('k')
N = np.int32(64)
OPTIONS = sys.argv[1:]
a = np.zeros(64, dtype=np.float32)
";

/// What the launches of some code are given, after the kernel `k` of two parameters.
fn launched(code: &str) -> Vec<String> {
    let seen = program(&format!("{PYCUDA}{code}"));
    seen.launches().iter().map(|fact| format!("{} {}", fact.kernel.is_some(), fact.given.len())).collect()
}

#[test]
fn a_launch_with_another_number_of_arguments_is_of_no_known_kernel() {
    assert_eq!(launched("K(drv.InOut(a), N, block=(64, 1, 1))"), ["true 2"]);
    assert_eq!(launched("K(drv.InOut(a), drv.In(a), N, block=(64, 1, 1))"), ["false 0"]);
    assert_eq!(launched("K(drv.InOut(a), block=(64, 1, 1))"), ["false 0"]);
}

#[test]
fn what_stands_behind_an_exception_does_not_happen() {
    let launch = "K(drv.InOut(a), N, block=(64, 1, 1))";
    for raises in [
        "count = missing",
        "count = a.size[0]",
        "K(drv.InOut(a), 64, block=(64, 1, 1))",
        "print(4, [missing])",
        "b = a.reshape(3, 4)",
        "b = a.reshape((-1, 5))",
        "b = np.reshape(a, (2, 64))",
        "a.shape = (65,)",
        "import time\nstart = time()",
        "import numpy\nb = numpy(3)",
    ] {
        assert_eq!(launched(&format!("{raises}\n{launch}\n")), [""; 0], "{raises}");
    }
    // What may be bound, or is not surely evaluated.
    for goes_on in [
        "if N > 1000:\n    missing = 1\ncount = missing",
        "def f():\n    global missing\n    missing = 1\ncount = missing",
        "from elsewhere import *\ncount = missing",
        "exec('missing = 1')\ncount = missing",
        "if len(sys.argv) > 2 and missing:\n    pass",
        "f = lambda: missing",
        "try:\n    count = missing\nexcept NameError:\n    count = 1",
        "count = [missing for _ in open('f')]",
        "count = unicode('x')",
        "!ls\ncount = missing",
        "b = a.reshape(2, 32)",
        "b = a.reshape(-1, 16)",
        "b = a.reshape(len(OPTIONS), 4)",
        "from time import time\nstart = time()",
        "import time\nstart = time.time()",
        "import elsewhere\nstart = elsewhere()",
    ] {
        assert_eq!(launched(&format!("{goes_on}\n{launch}\n")), ["true 2"], "{goes_on}");
    }
}

#[test]
fn a_program_that_no_compiler_takes_is_not_launched() {
    let text = |head: &str, body: &str, more: &str| {
        let code =
            format!("{head}\n__global__ void w(float *a, int n) {{ {body} if (threadIdx.x < n) a[threadIdx.x] = 0; }}");
        launched(&format!(
            "W = SourceModule(\"\"\"{code}\"\"\"{more}).get_function('w')\nW(drv.InOut(a), N, block=(64, 1, 1))\n"
        ))
    };
    let sized = "__shared__ float t[SIDE]; t[0] = 1;";
    for (head, body) in [
        ("", sized),
        ("", "__shared__ float t[n]; t[0] = 1;"),
        ("#include <stdio.h>", "__shared__ float t[2][2 * SIDE]; t[0][0] = 1;"),
        ("", "if (n > SIDE) return;"),
    ] {
        assert_eq!(text(head, body, ""), [""; 0], "{head} {body}");
    }
    for (head, body, more) in [
        ("#define SIDE 16", sized, ""),
        ("const int SIDE = 16;", sized, ""),
        ("enum { SIDE = 16 };", sized, ""),
        ("#include \"side.h\"", sized, ""),
        ("", sized, ", options=['-DSIDE=16']"),
        ("", sized, ", options=OPTIONS"),
        ("", sized, ".replace('SIDE', '16')"),
        ("", "if (n > INT_MAX) return;", ""),
        ("", "char t[sizeof(n)]; t[0] = 1;", ""),
    ] {
        assert_eq!(text(head, body, more), ["true 2"], "{head} {body} {more}");
    }
}

#[test]
fn views_for_kernels_that_index_in_order() {
    let seen = program(
        "
import cupy as cp
K = cp.RawKernel(r'''extern \"C\" __global__ void rowsum(const double* a, double* out, int rows, int cols)
{ int r = blockIdx.x * blockDim.x + threadIdx.x; if (r < rows) { double t = 0; for (int c = 0; c < cols; ++c) t += a[r * cols + c]; out[r] = t; } }''', 'rowsum')
def bad(m):
    a = cp.zeros((100, 200))
    t = a.T
    out = cp.empty(t.shape[0])
    K((2,), (128,), (t, out, cp.int32(t.shape[0]), cp.int32(t.shape[1])))
    return out
def good():
    a = cp.zeros((100, 200))
    t = cp.ascontiguousarray(a.T)
    out = cp.empty(t.shape[0])
    K((2,), (128,), (t, out, cp.int32(t.shape[0]), cp.int32(t.shape[1])))
    return out
",
    );
    assert_eq!(faults(&seen), ["t: not contiguous"]);
}

#[test]
fn a_pointer_that_the_kernel_casts_has_no_type_to_mistake() {
    let seen = program(
        "
import cupy as cp
module = cp.RawModule(code=r'''
extern \"C\" __global__ void pairs(unsigned long *to, int n) {
    uint2 *pair = (uint2 *)to;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) pair[i] = make_uint2(i, i);
}
extern \"C\" __global__ void plain(unsigned long *to, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = (unsigned long)i;
}
''')
a = cp.zeros((100, 2), dtype=cp.uint32)
module.get_function('pairs')((1,), (128,), (a, cp.int32(100)))
module.get_function('plain')((1,), (128,), (a, cp.int32(100)))
",
    );
    assert_eq!(faults(&seen), ["a: elements uint32 for unsigned long long"]);
}
