//! Copies, sets and allocations by bytes.

use crate::support::{Seen, program};
use cudalint_replay::facts::{EventKind, Pointer, PointerArgument};

const PYCUDA: &str = "
import numpy as np
import pycuda.autoinit
import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.compiler import SourceModule
";

const CUPY: &str = "
import numpy as np
import cupy as cp
";

fn pointer(argument: &PointerArgument) -> String {
    let what = match &argument.pointer {
        Pointer::Into { buffer, offset } => format!("{}+{} of {}", buffer.name, offset, buffer.bytes),
        other => format!("{other:?}"),
    };
    if argument.element_name.is_empty() { what } else { format!("{what} {}", argument.element_name) }
}

/// Events of memory in words.
fn copies(seen: &Seen) -> Vec<String> {
    seen.events()
        .filter_map(|event| match &event.kind {
            EventKind::Allocate { buffer, count, .. } => {
                Some(format!("{} of {} ({})", buffer.origin, buffer.bytes, if count.opaque { "?" } else { "elements" }))
            }
            EventKind::Copy { api, destination, source, bytes, kind, .. } => {
                Some(format!("{api} {kind:?} {} <- {}: {}", pointer(destination), pointer(source), bytes))
            }
            EventKind::Set { api, destination, value, bytes, unit, .. } => {
                Some(format!("{api} {} = {} by {unit}: {}", pointer(destination), value, bytes))
            }
            EventKind::HostAccess { argument, .. } => Some(format!("host reads {}", pointer(argument))),
            _ => None,
        })
        .collect()
}

#[test]
fn pycuda_counts_bytes_by_the_array_on_the_host() {
    let seen = program(&format!(
        "{PYCUDA}
def run(n):
    a = np.zeros(n, np.float32)
    a_gpu = drv.mem_alloc(a.nbytes)
    drv.memcpy_htod(a_gpu, a)
    drv.memcpy_htod(int(a_gpu) + 400, a[:50])
    b = np.empty(10)
    drv.memcpy_dtoh(src=a_gpu, dest=b)
    drv.memset_d32(a_gpu, 0, a.size)
"
    ));
    assert_eq!(
        copies(&seen),
        [
            "pycuda.driver.mem_alloc of 4 * n (?)",
            "memcpy_htod HostToDevice a_gpu+0 of 4 * n float32 <- a+0 of 4 * n float32: 4 * n",
            "memcpy_htod HostToDevice a_gpu+400 of 4 * n float32 <- a+0 of 4 * n float32: 200",
            "memcpy_dtoh DeviceToHost b+0 of 80 float64 <- a_gpu+0 of 4 * n float32: 80",
            "memset_d32 a_gpu+0 of 4 * n float32 = 0 by 4: 4 * n",
        ]
    );
}

#[test]
fn a_count_of_elements_is_told_from_one_of_bytes() {
    let seen = program(&format!(
        "{PYCUDA}
def run(given, self):
    count = 1000
    a = np.zeros(count, np.float32)
    size = a.size * a.itemsize
    p = drv.mem_alloc(count)
    q = drv.mem_alloc(size)
    r = drv.mem_alloc(int(a.size))
    s = drv.mem_alloc(given)
    t = drv.mem_alloc(self.length)
"
    ));
    let shapes: Vec<String> = copies(&seen).iter().map(|one| one.rsplit(' ').next().unwrap().to_owned()).collect();
    assert_eq!(shapes, ["(elements)", "(?)", "(elements)", "(elements)", "(?)"]);
}

#[test]
fn cupys_pointers() {
    let seen = program(&format!(
        "{CUPY}
a = np.zeros(100, np.float32)
p = cp.cuda.alloc(a.nbytes)
p.copy_from_host(a.ctypes.data, a.nbytes)
(p + 40).copy_from(a.ctypes.data, 8)
p.copy_to_host_async(a.ctypes.data_as(None), 80)
d = cp.empty(50, dtype=cp.int16)
cp.cuda.runtime.memcpy(d.data.ptr + 2, p.ptr, 10, cp.cuda.runtime.memcpyDeviceToDevice)
cp.cuda.runtime.memset(d.data.ptr, 1, d.nbytes)
d.data.memset(255, 4)
b = np.asarray(d)
c = cp.asnumpy(d)
"
    ));
    assert_eq!(
        copies(&seen),
        [
            "cupy.cuda.alloc of 400 (?)",
            "copy_from_host HostToDevice p+0 of 400 float32 <- a+0 of 400 float32: 400",
            "copy_from Default p+40 of 400 float32 <- a+0 of 400 float32: 8",
            "copy_to_host_async DeviceToHost a+0 of 400 float32 <- p+0 of 400 float32: 80",
            "memcpy DeviceToDevice d+2 of 100 int16 <- p+0 of 400 float32: 10",
            "memset d+0 of 100 int16 = 1 by 1: 100",
            "memset d+0 of 100 int16 = 255 by 1: 4",
            "host reads d+0 of 100 int16",
        ]
    );
}

#[test]
fn what_a_buffer_holds_after_copies() {
    let code = |fill: &str| {
        format!(
            "{CUPY}
from numba import cuda
K = cp.RawKernel(r'''extern \"C\" __global__ void twice(float* a, int n)
{{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) a[i] *= 2; }}''', 'twice')
def run():
    a = np.zeros(1000, np.float32)
    d = cp.empty(1000, dtype=cp.float32)
    {fill}
    K((8,), (128,), (d, cp.int32(1000)))
"
        )
    };
    let read = ["twice if []: nobody wrote a"];
    let unwritten = |fill: &str| program(&code(fill)).shown();
    assert_eq!(unwritten("pass"), read);
    assert_eq!(unwritten("d[:999] = cp.asarray(a[:999])"), read);
    assert_eq!(unwritten("d.data.copy_from_host(a.ctypes.data, a.size)"), read);
    assert_eq!(unwritten("d.data.memset(0, 1000)"), read);
    let none: [&str; 0] = [];
    assert_eq!(unwritten("d[:] = 1"), none);
    assert_eq!(unwritten("d[:500] = 1; d[500:] = 2"), none);
    assert_eq!(unwritten("d.set(a)"), none);
    assert_eq!(unwritten("d.data.copy_from_host(a.ctypes.data, a.nbytes)"), none);
    assert_eq!(unwritten("d.data.memset(0, d.nbytes)"), none);
    assert_eq!(unwritten("fill(d.data)"), none);
    assert_eq!(unwritten("fill(d.data.ptr)"), none);
    assert_eq!(unwritten("d[a > 0] = 1"), none);
}

#[test]
fn what_packages_refuse_to_copy() {
    let seen = program(&format!(
        "{CUPY}
from numba import cuda
import pytest
def numba():
    d = cuda.device_array(100, np.float32)
    d.copy_to_host(np.zeros(100))
    d.copy_to_device(np.zeros(99, np.float32))
    cuda.to_device(np.zeros(100, np.int32), to=d)
    d[:50].copy_to_device(np.zeros(50, np.float32))
    d.copy_to_host(np.zeros(100, np.float32))
def cupy(n):
    d = cp.zeros(n)
    d.set(np.zeros(n + 1))
    d.set(np.zeros(n, dtype=int))
    d.get(out=np.zeros(n))
    with pytest.raises(TypeError):
        d.set(np.zeros(n, dtype=int))
    try:
        d.set(np.zeros(n, dtype=int))
    except TypeError:
        pass
"
    ));
    let faults = crate::faults::faults(&seen);
    assert_eq!(
        faults,
        [
            "d.copy_to_host(np.zeros(100)): TypeError: 100 of float64 from 100 of float32",
            "d.copy_to_device(np.zeros(99, np.float32)): ValueError: 100 of float32 from 99 of float32",
            "cuda.to_device(np.zeros(100, np.int32), to=d): TypeError: 100 of float32 from 100 of int32",
            "d.set(np.zeros(n + 1)): ValueError: n of float64 from n + 1 of float64",
            "d.set(np.zeros(n, dtype=int)): TypeError: n of float64 from n of int64",
        ]
    );
}

#[test]
fn host_arrays_for_kernels_in_strings() {
    let seen = program(&format!(
        "{PYCUDA}
module = SourceModule('''
__global__ void twice(float *a, int n) {{ int i = threadIdx.x; if (i < n) a[i] *= 2; }}
''')
twice = module.get_function('twice')
a = np.ones(100, np.float32)
twice(a, np.int32(100), block=(128, 1, 1))
twice(drv.InOut(a), np.int32(100), block=(128, 1, 1))
address = np.array(1 << 40, dtype=np.uint64)
twice(address, np.int32(100), block=(128, 1, 1))
twice(drv.managed_empty(100, np.float32), np.int32(100), block=(128, 1, 1))
"
    ));
    let host: Vec<bool> = seen
        .launches()
        .iter()
        .map(|fact| {
            matches!(&fact.args[0].pointer, Some(Pointer::Into { buffer, .. })
            if buffer.space == cudalint_replay::facts::MemorySpace::Host)
        })
        .collect();
    assert_eq!(host, [true, false, false, false]);
}

#[test]
fn grid_and_block_in_each_others_place() {
    let seen = program(
        "
import numpy as np
from numba import cuda
@cuda.jit
def k(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] = 0
def run(a):
    threads = 256
    blocks = (a.size + threads - 1) // threads
    k[threads, blocks](a)
    k[blocks, threads](a)
    k[256, (a.size + 255) // 256](a)
    k[1, 256](a)
",
    );
    let swapped: Vec<bool> = seen.launches().iter().map(|fact| fact.block_divided_by_grid.is_some()).collect();
    assert_eq!(swapped, [true, false, true, false]);
}
