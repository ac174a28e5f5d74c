# case: {"rule": "unchecked-api-call", "method": "fault-injection", "verdict": "confirmed", "at": "device = cudart.cudaMalloc(values.nbytes)", "flag": "cudart.cudaMalloc(values.nbytes)", "function": "upload", "also": ["cudart.cudaMemset(device, 0, values.nbytes)"], "needs": "cuda.bindings"}
# case: {"rule": "unchecked-api-call", "method": "fault-injection", "verdict": "refuted", "at": "again = cudart.cudaMemcpy(device, values.ctypes.data, values.nbytes, kind)", "flag": "cudart.cudaMemcpy(device, values.ctypes.data, values.nbytes, kind)", "function": "upload", "needs": "cuda.bindings"}
# case: {"rule": "unchecked-api-call", "method": "fault-injection", "verdict": "confirmed", "at": "nvrtc.nvrtcVersion()[1]", "flag": "nvrtc.nvrtcVersion()", "function": "upload", "needs": "cuda.bindings"}
import numpy as np
from cuda.bindings import nvrtc, runtime as cudart


def upload(values):
    status, device = cudart.cudaMalloc(values.nbytes)
    cudart.cudaMemset(device, 0, values.nbytes)
    kind = cudart.cudaMemcpyKind.cudaMemcpyHostToDevice
    again = cudart.cudaMemcpy(device, values.ctypes.data, values.nbytes, kind)
    if int(again[0]):
        raise RuntimeError(again[0].name)
    print(nvrtc.nvrtcVersion()[1] > 0)
    return device


upload(np.ones(1000, np.float32))
