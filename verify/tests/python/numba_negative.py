# case: {"method": "output", "verdict": "confirmed", "fault": "negative-index", "at": "d[i] = a[i] - a[i - 1]  # wraps", "flag": "a[i - 1]", "function": "bad", "launch": ["bad[4, 128](a, d)", [4], [128]], "accesses": [["read", -1, 500, [0], [0]]]}
# case: {"method": "output", "verdict": "not-observed", "shows": {"kind": "access", "fault": "negative-index", "object": {"name": "a", "space": "global", "bytes": null}, "accesses": []}, "at": "d[i] = a[i] - a[i - 1]  # guarded", "flag": "a[i - 1]", "function": "good"}
import numpy as np
from numba import cuda


@cuda.jit
def bad(a, d):
    i = cuda.grid(1)
    if i < a.size:
        d[i] = a[i] - a[i - 1]  # wraps


@cuda.jit
def good(a, d):
    i = cuda.grid(1)
    if 0 < i < a.size:
        d[i] = a[i] - a[i - 1]  # guarded


a = np.arange(500.0)
d = np.zeros(500)
bad[4, 128](a, d)
good[4, 128](a, d)
