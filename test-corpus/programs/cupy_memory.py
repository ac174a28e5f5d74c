"""Allocates with CuPy; two of the names do not exist."""
import cupy as cp


def scratch(n):
    memory = cp.cuda.malloc(4 * n)  #~ nonexistent-gpu-api
    view = cp.ndarray((n,), cp.float32, memptr=cp.cuda.alloc(4 * n))
    view[:] = 0
    cp.cuda.free(memory)  #~ nonexistent-gpu-api
    return view
