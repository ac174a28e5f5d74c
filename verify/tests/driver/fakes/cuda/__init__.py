"""Stands for NVIDIA's bindings where there are none."""
