"""Keeps an installed numba-cuda from taking the place of the stand-in: it puts a finder of its own before all others."""
import sys

sys.meta_path[:] = [finder for finder in sys.meta_path if "numba" not in type(finder).__module__]
