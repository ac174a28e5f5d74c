# case: {"method": "output", "verdict": "confirmed", "shows": {"kind": "memory", "difference": {"kind": "stale", "name": "h"}}, "at": "return h.sum()", "flag": "h", "also": ["d = cuda.to_device(h)"]}
# case: {"method": "output", "verdict": "not-observed", "shows": {"kind": "memory", "difference": {"kind": "stale", "name": "g"}}, "at": "return g.sum()", "flag": "g"}
import numpy as np
from numba import cuda


@cuda.jit
def half(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] *= 0.5


def bad():
    h = np.ones(500, np.float32)
    d = cuda.to_device(h)
    half[4, 128](d)
    return h.sum()


def good():
    g = np.ones(500, np.float32)
    e = cuda.to_device(g)
    half[4, 128](e)
    e.copy_to_host(g)
    return g.sum()
