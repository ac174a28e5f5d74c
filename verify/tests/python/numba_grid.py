# case: {"method": "output", "verdict": "confirmed", "shows": {"kind": "memory", "difference": {"kind": "coverage", "threads": 768, "elements": 1000}}, "at": "scale[values.size // 256, 256](values)", "launch": ["scale[values.size // 256, 256](values)", [3], [256]], "also": ["if i < values.size:"]}
# case: {"method": "output", "verdict": "not-observed", "shows": {"kind": "memory", "difference": {"kind": "coverage", "threads": 1024, "elements": 1000}}, "at": "scale[4, 256](values)", "launch": ["scale[4, 256](values)", [4], [256]], "also": ["if i < values.size:"]}
# case: {"method": "output", "verdict": "not-observed", "shows": {"kind": "memory", "difference": {"kind": "coverage", "threads": 128, "elements": 1000}}, "at": "in_strides[1, 128](values)", "launch": ["in_strides[1, 128](values)", [1], [128]]}
# case: {"method": "output", "verdict": "confirmed", "shows": {"kind": "memory", "difference": {"kind": "coverage", "threads": 768, "elements": 1000}}, "at": "fill[3, 256](plain)", "launch": ["fill[3, 256](plain)", [3], [256]]}
# case: {"method": "api-error", "verdict": "confirmed", "shows": {"kind": "refused-launch", "of": "blocks"}, "at": "scale[values.size // 1024, 256](values)", "launch": ["scale[values.size // 1024, 256](values)", [0], [256]]}
import numpy as np
from numba import cuda


@cuda.jit
def scale(values):
    i = cuda.grid(1)
    if i < values.size:
        values[i] *= 2


@cuda.jit
def in_strides(values):
    for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        values[i] *= 2


@cuda.jit
def fill(out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = i + 1


values = cuda.to_device(np.ones(1000, np.float32))
scale[values.size // 256, 256](values)
scale[4, 256](values)
in_strides[1, 128](values)
plain = np.zeros(1000, np.float32)
fill[3, 256](plain)
scale[values.size // 1024, 256](values)
