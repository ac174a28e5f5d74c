"""Stands for numba where there is none."""
