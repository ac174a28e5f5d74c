"""Stands for pycuda where there is none."""
