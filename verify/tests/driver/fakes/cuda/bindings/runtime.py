"""The runtime: allocations are bytes, named by their numbers."""
import enum

cudaError_t = enum.IntEnum("cudaError_t", {"cudaSuccess": 0, "cudaErrorInvalidValue": 1, "cudaErrorMemoryAllocation": 2})
cudaMemcpyKind = enum.IntEnum("cudaMemcpyKind", {"cudaMemcpyHostToDevice": 1, "cudaMemcpyDeviceToHost": 2})
DONE = cudaError_t.cudaSuccess
HELD = {}


class cudaDeviceProp:
    pass


def cudaStreamCreate():
    return DONE, 7


def cudaMalloc(size):
    HELD[len(HELD) + 1] = bytearray(size)
    return DONE, len(HELD)


def cudaMemset(device, value, count):
    HELD[device][:count] = bytes([value]) * count
    return (DONE,)


def cudaMemcpyAsync(device, host, count, kind, stream):
    return (DONE,)


def cudaFree(device):
    return (DONE,)


def cudaGetLastError():
    return (DONE,)


cudaPeekAtLastError = cudaGetLastError


def cudaGetErrorString(status):
    return DONE, status.name.encode()
