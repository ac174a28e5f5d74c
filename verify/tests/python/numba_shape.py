# case: {"method": "exception", "verdict": "confirmed", "shows": {"kind": "exception", "classes": ["TypingError"], "words": []}, "at": "s = cuda.shared.array(n, np.float32)", "flag": "n, np", "function": "bad"}
# case: {"method": "exception", "verdict": "confirmed", "shows": {"kind": "exception", "classes": ["TypingError"], "words": []}, "at": "return a[i] * 2", "function": "gives"}
# case: {"method": "exception", "verdict": "not-observed", "shows": {"kind": "exception", "classes": ["TypingError"], "words": []}, "at": "s = cuda.shared.array(TPB, np.float32)", "flag": "TPB", "function": "good"}
import numpy as np
from numba import cuda

TPB = 128


@cuda.jit
def bad(x, n):
    s = cuda.shared.array(n, np.float32)
    s[cuda.threadIdx.x] = x[cuda.threadIdx.x]


@cuda.jit
def gives(a):
    i = cuda.grid(1)
    if i < a.size:
        return a[i] * 2


@cuda.jit
def good(x):
    s = cuda.shared.array(TPB, np.float32)
    s[cuda.threadIdx.x] = x[cuda.threadIdx.x]
