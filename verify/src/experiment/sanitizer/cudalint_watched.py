"""Runs a script for a tool that watches kernels.

Usage: cudalint_watched.py SCRIPT [ARGUMENT]...

Changes nothing that the script computes, only what the tool can see of it:
- CuPy takes memory from CUDA for each array. Its pool rounds sizes up, and what lies in a pool is one allocation for a
  tool, so that an overrun of one array into the next is no fault.
- Kernels are compiled with line numbers, those of raw CuPy kernels counted as lines of the script.
"""
import functools
import json
import os
import sys
import types

script = os.path.abspath(sys.argv[1])
sys.argv = sys.argv[1:]
sys.path[0] = os.path.dirname(script)
with open(script, "rb") as file:
    source = file.read()
text = source.decode("utf-8", "replace")


def watch_numba():
    from numba import cuda

    plain = cuda.jit

    @functools.wraps(plain)
    def jit(*arguments, **options):
        # Numba refuses both at once.
        debug = options.get("debug") or os.environ.get("NUMBA_CUDA_DEBUGINFO", "0") not in ("", "0")
        if not debug:
            options.setdefault("lineinfo", True)
        return plain(*arguments, **options)

    cuda.jit = jit


def with_lines(code):
    """The code with a directive that counts its lines as the script's, where it stands in the script once, as it is."""
    if not isinstance(code, str) or not code.strip() or text.count(code) != 1:
        return code
    line = text.count("\n", 0, text.index(code)) + 1
    return f"#line {line} {json.dumps(script)}\n{code}"


def with_option(options):
    options = tuple(options)
    known = {"-G", "--device-debug", "-lineinfo", "--generate-line-info"}
    return options if known.intersection(options) else options + ("-lineinfo",)


def watch_cupy():
    import cupy

    cupy.cuda.set_allocator(None)
    cupy.cuda.set_pinned_memory_allocator(None)
    raw_kernel, raw_module = cupy.RawKernel, cupy.RawModule

    # RawKernel(code, name, options=(), backend="nvrtc", ...)
    @functools.wraps(raw_kernel, updated=())
    def kernel(code, name, options=(), *arguments, **others):
        if not others.get("jitify"):
            code, options = with_lines(code), with_option(options)
        return raw_kernel(code, name, options, *arguments, **others)

    # RawModule(code=None, *, path=None, options=(), backend="nvrtc", ...)
    @functools.wraps(raw_module, updated=())
    def module(*arguments, **others):
        if not others.get("jitify") and "path" not in others:
            arguments = tuple(with_lines(code) for code in arguments[:1]) + arguments[1:]
            if "code" in others:
                others["code"] = with_lines(others["code"])
            if len(arguments) <= 1:
                others["options"] = with_option(others.get("options", ()))
        return raw_module(*arguments, **others)

    cupy.RawKernel, cupy.RawModule = kernel, module


for package, watch in (("numba", watch_numba), ("cupy", watch_cupy)):
    if package in text:
        try:
            watch()
        except Exception as problem:  # the script will meet it by itself, or do without the package
            print(f"cudalint: {package} is not watched closely: {problem}", file=sys.stderr)

# The script is the main module, with nothing of this one in it.
sys.modules["cudalint_watched"] = sys.modules["__main__"]
main = sys.modules["__main__"] = types.ModuleType("__main__")
main.__file__ = script
main.__builtins__ = __builtins__
exec(compile(source, script, "exec"), main.__dict__)
