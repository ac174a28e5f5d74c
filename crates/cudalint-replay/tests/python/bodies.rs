//! Kernels that a package builds around code of the user: `CuPy`'s `ElementwiseKernel`, Numba's generalized ufuncs, and programs
//! in strings that launch their kernels themselves.

use crate::support::program;

fn cupy(code: &str) -> Vec<String> {
    program(&format!("import cupy as cp\n{code}")).shown()
}

#[test]
fn a_raw_argument_is_indexed_as_it_is() {
    let shown = cupy(
        "
shift = cp.ElementwiseKernel('raw T x', 'T y', 'y = x[i + 1]', 'shift')
x = cp.ones(1000, dtype=cp.float32)
y = cp.empty(1000, dtype=cp.float32)
shift(x, y)
",
    );
    assert_eq!(shown, ["shift<float> if []: x[i + 1] leaves x at 1000"]);
}

#[test]
fn a_guard_with_the_size_of_the_loop_or_of_the_array_keeps_it_in() {
    for guard in ["i + 1 < _ind.size()", "i < x.size() - 1", "i < last", "i != 999"] {
        let shown = cupy(&format!(
            "
shift = cp.ElementwiseKernel('raw float32 x, int64 last', 'float32 y', '''
    if ({guard}) {{
        float32 v = x[i + 1];
        y = v;
    }} else {{
        y = 0;
    }}
''')
x = cp.ones(1000, dtype=cp.float32)
y = shift(x, 999, cp.empty(1000, dtype=cp.float32))
"
        ));
        assert_eq!(shown, [""; 0], "{guard}");
    }
}

#[test]
fn a_number_is_the_same_for_all_elements() {
    let shown = cupy(
        "
gather = cp.ElementwiseKernel('raw float32 x, T add, int32 by', 'T y', 'y = x[i * by] + add', name='gather')
x = cp.zeros(1000, dtype=cp.float32)
base = cp.zeros((10, 100), dtype=cp.float32)
y = gather(x, base, 2)
",
    );
    assert_eq!(shown, ["gather<float> if []: x[i * by] leaves x at 1792"], "{shown:?}");
}

#[test]
fn a_loop_of_a_stated_size_goes_over_raw_arrays_alone() {
    let shown = cupy(
        "
tally = cp.ElementwiseKernel(
    'raw int32 keys, raw T out', '',
    '''
    atomicAdd(&out[i / 2], keys[i]);
    ''',
    'tally')
keys = cp.zeros(64, dtype=cp.int32)
out = cp.zeros(31, dtype=cp.int32)
tally(keys, out, size=64)
tally(keys, out, size=62)
",
    );
    assert_eq!(shown, ["tally<int> if []: atomicAdd(&out[i / 2], keys[i]) leaves out at 31"], "{shown:?}");
}

#[test]
fn a_preamble_is_part_of_the_program() {
    let shown = cupy(
        "
pick = cp.ElementwiseKernel(
    'raw T x, int64 n', 'T y', 'y = x[next_of(i, n) + 1]', 'pick',
    preamble='''
    __device__ long long next_of(long long i, long long n) { return i + 1 < n ? i + 1 : 0; }
    ''')
x = cp.ones(500, dtype=cp.float64)
y = pick(x, 500, cp.empty(500, dtype=cp.float64))
",
    );
    assert_eq!(shown, ["pick<double> if []: x[next_of(i, n) + 1] leaves x at 500"], "{shown:?}");
}

#[test]
fn what_cannot_be_known_is_silent() {
    for code in [
        // Whatever runs before the loop may change anything.
        "k = cp.ElementwiseKernel('raw T x', 'T y', 'y = x[i + 1]', loop_prep='int j = 0')",
        // A hole in place of a statement.
        "k = cp.ElementwiseKernel('raw T x', 'T y', '''${check}\ny = x[i + 1];''')",
        // Statements from elsewhere.
        "k = cp.ElementwiseKernel('raw T x', 'T y', body)",
        // `CuPy` refuses a type that is not the declared one.
        "k = cp.ElementwiseKernel('raw float64 x', 'T y', 'y = x[i + 1]')",
        // A function that is not in sight.
        "k = cp.ElementwiseKernel('raw T x', 'T y', 'y = x[place(i)]')",
    ] {
        let shown = cupy(&format!(
            "{code}\nx = cp.ones(1000, dtype=cp.float32)\ny = cp.empty(1000, dtype=cp.float32)\nk(x, y)\n"
        ));
        assert_eq!(shown, [""; 0], "{code}");
    }
}

#[test]
fn an_output_that_the_call_makes_holds_nothing() {
    let shown = cupy(
        "
add = cp.ElementwiseKernel('T x', 'T y', 'y += x', 'add')
y = add(cp.ones(300, dtype=cp.float32))
",
    );
    assert_eq!(shown.len(), 1, "{shown:?}");
    assert!(shown[0].contains("nobody wrote"), "{shown:?}");
}

const UFUNC: &str = "
import numpy as np
from numba import cuda, guvectorize
";

fn numba(code: &str) -> Vec<String> {
    program(&format!("{UFUNC}{code}")).shown()
}

#[test]
fn the_body_of_a_generalized_ufunc_sees_its_own_dimensions() {
    let body = "
@guvectorize(['void(float32[:], float32[:])'], '(n)->(n)', target='cuda')
def differences(x, out):
    for i in range(x.shape[0]):
        out[i] = x[i + 1] - x[i]
";
    let one = numba(&format!("{body}\nx = np.ones(64, dtype=np.float32)\nout = differences(x)\n"));
    assert_eq!(one.len(), 1, "{one:?}");
    assert!(one[0].contains("x[i + 1] leaves x at 64"), "{one:?}");
    let many = numba(&format!("{body}\nx = np.ones((10, 64), dtype=np.float32)\nout = differences(x)\n"));
    assert_eq!(many.len(), 1, "{many:?}");
    assert!(many[0].contains("x[i + 1] leaves x at 640"), "{many:?}");
}

#[test]
fn numbers_of_a_generalized_ufunc_are_elements() {
    let shown = numba(
        "
@guvectorize(['void(float32[:], float32, float32[:])'], '(n),()->()', target='cuda')
def scaled_sum(x, factor, out):
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * factor
    out[0] = total

x = np.ones((100, 32), dtype=np.float32)
factors = np.ones(100, dtype=np.float32)
out = scaled_sum(x, factors)
again = scaled_sum(x, 2.0)
",
    );
    assert_eq!(shown, [""; 0]);
}

#[test]
fn programs_in_strings_launch_their_kernels_themselves() {
    let shown = program(
        r"
from torch.utils.cpp_extension import load_inline

source = '''
__global__ void shift(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i + 1];
}
void run() {
    float *x, *y;
    cudaMalloc(&x, 4000);
    cudaMalloc(&y, 4000);
    cudaMemset(x, 0, 4000);
    shift<<<4, 256>>>(x, y, 1000);
}
'''
module = load_inline(name='m', cpp_sources='void run();', cuda_sources=source, functions=['run'])
module.run()
",
    )
    .shown();
    assert_eq!(shown, ["shift if []: x[i + 1] leaves x at 1000"], "{shown:?}");
}

#[test]
fn a_prepared_call_converts_its_numbers() {
    let shown = program(
        "
import numpy as np
import pycuda.driver as cuda
from pycuda.compiler import SourceModule

module = SourceModule('''
__global__ void scale(float *values, float by, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) values[i] = by;
}
''')
scale = module.get_function('scale')
scale.prepare('Pfi')
values = cuda.mem_alloc(4000)
scale.prepared_call((4, 1), (256, 1, 1), values, 2.0, 1000)
scale.prepared_async_call((4, 1), (256, 1, 1), None, values, 2.0, 999)
",
    )
    .shown();
    assert_eq!(shown, ["scale if []: values[i] leaves values at 1000"]);
}

#[test]
fn elements_of_a_type_that_is_not_known_have_no_size() {
    let shown = program(
        "
import numpy as np
import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.compiler import SourceModule

module = SourceModule('''
__global__ void set(float3 *values) { values[threadIdx.x] = make_float3(1, 2, 3); }
''')
values = np.empty(400, gpuarray.vec.float3)
module.get_function('set')(drv.Out(values), block=(400, 1, 1))
",
    )
    .shown();
    assert_eq!(shown, [""; 0]);
}

#[test]
fn an_array_of_the_device_that_a_kernel_takes_from_around_is_no_constant() {
    let shown = program(
        "
import numpy as np
from numba import cuda

total = cuda.to_device(np.zeros(5, dtype=np.float32))

@cuda.jit
def write():
    i = cuda.grid(1)
    if i < 5:
        total[i] = i

write[1, 5]()
",
    )
    .shown();
    assert_eq!(shown, [""; 0]);
}

const SHIFT: &str = "
import ctypes
import numpy as np
from cuda.bindings import driver, nvrtc

SOURCE = '''
extern \"C\" __global__ void shift(const float *x, float *y, float by, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i + 1] * by;
}
'''

def checked(result):
    if result[0].value:
        raise RuntimeError(result[0])
    if len(result) == 1:
        return None
    return result[1] if len(result) == 2 else result[1:]

checked(driver.cuInit(0))
program = checked(nvrtc.nvrtcCreateProgram(str.encode(SOURCE), b'shift.cu', 0, [], []))
checked(nvrtc.nvrtcCompileProgram(program, 0, []))
size = checked(nvrtc.nvrtcGetPTXSize(program))
ptx = b' ' * size
checked(nvrtc.nvrtcGetPTX(program, ptx))
ptx = np.char.array(ptx)
module = checked(driver.cuModuleLoadData(ptx.ctypes.data))
kernel = checked(driver.cuModuleGetFunction(module, b'shift'))
N = 1000
hx = np.ones(N, dtype=np.float32)
dx = checked(driver.cuMemAlloc(hx.nbytes))
dy = checked(driver.cuMemAlloc(hx.nbytes))
checked(driver.cuMemcpyHtoD(dx, hx.ctypes.data, hx.nbytes))
stream = checked(driver.cuStreamCreate(0))
";

#[test]
fn arguments_of_a_driver_launch_are_behind_addresses() {
    for pack in [
        "
a = np.array([2.0], dtype=np.float32)
n = np.array(N, dtype=np.uint32)
x = np.array([int(dx)], dtype=np.uint64)
y = np.array([int(dy)], dtype=np.uint64)
args = [x, y, a, n]
args = np.array([arg.ctypes.data for arg in args], dtype=np.uint64)
checked(driver.cuLaunchKernel(kernel, 4, 1, 1, 256, 1, 1, 0, stream, args.ctypes.data, 0))
",
        "
args = ((dx, dy, 2.0, N), (None, None, ctypes.c_float, ctypes.c_uint))
err, = driver.cuLaunchKernel(kernel, 4, 1, 1, 256, 1, 1, 0, 0, args, 0)
",
    ] {
        let seen = program(&format!("{SHIFT}{pack}"));
        let (shown, told) = (seen.shown(), seen.told());
        assert_eq!(told, ["kernel [4, 1, 1] [256, 1, 1] (dx+0 of 4000; dy+0 of 4000 held; 2f; 1000:4)"], "{pack}");
        assert_eq!(shown, ["shift if []: x[i + 1] leaves x at 1000"], "{pack}");
    }
}

#[test]
fn a_launch_of_cuda_core_is_one() {
    let shown = program(
        "
import cupy as cp
from cuda.core.experimental import Device, LaunchConfig, Program, ProgramOptions, launch

code = '''
template<typename T>
__global__ void shift(const T *x, T *y, size_t n) {
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i + 1];
}
'''
device = Device()
device.set_current()
stream = device.create_stream()
module = Program(code, code_type='c++', options=ProgramOptions(std='c++17')).compile('cubin', name_expressions=('shift<float>',))
kernel = module.get_kernel('shift<float>')
x = cp.ones(500, dtype=cp.float32)
y = cp.empty_like(x)
config = LaunchConfig(grid=(4,), block=128)
launch(stream, config, kernel, x.data.ptr, y.data.ptr, cp.uint64(x.size))
",
    )
    .shown();
    assert_eq!(shown, ["shift<float> if []: x[i + 1] leaves x at 500"]);
}

#[test]
fn memory_under_another_name() {
    let shown = program(
        "
from cuda.core.experimental import Buffer, Device, LaunchConfig, Program, ProgramOptions, launch

device = Device()
device.set_current()
stream = device.create_stream()
code = '''extern \"C\" __global__ void fill(float* x, size_t n) { x[blockIdx.x * blockDim.x + threadIdx.x] = n; }'''
kernel = Program(code, code_type='c++').compile('cubin').get_kernel('fill')
memory = device.allocate(400)
again = Buffer.from_handle(memory.handle, 400)
launch(stream, LaunchConfig(grid=1, block=128), kernel, again, 100)
",
    )
    .shown();
    assert_eq!(shown.len(), 1, "{shown:?}");
}

#[test]
fn what_the_driver_copies_is_written() {
    let code = "
err, d = driver.cuMemAlloc(4000)
err, = driver.cuMemsetD8(d, 0, 4000)
driver.cuLaunchKernel(kernel, 4, 1, 1, 250, 1, 1, 0, 0, ((d, dy, 1.0, 999), (None, None, ctypes.c_float, ctypes.c_uint)), 0)
";
    assert_eq!(program(&format!("{SHIFT}{code}")).shown(), [""; 0]);
}
