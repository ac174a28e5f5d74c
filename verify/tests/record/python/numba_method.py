# record: memcheck
# Kernels in classes, of factories, and with a signature; a kernel launched by forall.
import numpy as np
from numba import cuda


class Solver:
    def __init__(self):
        @cuda.jit
        def step(x):
            x[cuda.grid(1) + 1000] = 1.0

        self.step = step

    def run(self, x):
        self.step[1, 32](x)


@cuda.jit("void(float64[:], int32)")
def signed(x, n):
    x[cuda.grid(1) + n] = 1.0


@cuda.jit
def plain(x):
    x[cuda.grid(1) + 2000] = 1.0


x = cuda.to_device(np.zeros(32))
for launch in (lambda: Solver().run(x), lambda: signed[1, 32](x, 500), lambda: plain.forall(32)(x)):
    try:
        launch()
        cuda.synchronize()
    except Exception as error:
        print(type(error).__name__, error)
