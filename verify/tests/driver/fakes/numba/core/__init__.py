"""Stands for numba's compiler."""
