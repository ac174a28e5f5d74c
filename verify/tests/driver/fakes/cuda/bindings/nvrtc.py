"""NVRTC."""
import enum

nvrtcResult = enum.IntEnum("nvrtcResult", {"NVRTC_SUCCESS": 0, "NVRTC_ERROR_INTERNAL_ERROR": 11})


def nvrtcVersion():
    return nvrtcResult.NVRTC_SUCCESS, 13, 0
