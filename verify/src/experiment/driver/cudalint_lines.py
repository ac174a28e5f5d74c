"""Lets tools name lines of a script for the kernels in it, and see each of its arrays as an allocation of its own.

- Numba kernels are compiled with line numbers, those of ufuncs with the lines of their functions.
- Of CUDA C++ in strings (CuPy's RawKernel and RawModule, PyCUDA's SourceModule) the lines are counted as the script's.
- Of cupyx.jit kernels each statement of the generated CUDA C++ carries the line of the Python statement.
- CuPy takes memory from CUDA for each array. Its pool rounds sizes up, and what lies in a pool is one allocation for a
  tool, so that an overrun of one array into the next is no fault.
"""
import ast
import difflib
import functools
import inspect
import json
import os
import re

KNOWN = {"-G", "--device-debug", "-lineinfo", "--generate-line-info"}


def is_set(name):
    return os.environ.get(name, "0") not in ("", "0")


def with_option(options):
    """Compiler options with the one for line numbers."""
    options = tuple(options or ())
    return options if KNOWN.intersection(options) else options + ("-lineinfo",)


def with_lines(code, script):
    """CUDA C++ with directives that count its lines as the script's. Code that does not stand in the script stays as it is.

    Where the script puts values into a template, most lines still stand in both: they are found as the longest common
    run of lines, and the lines between them are counted on.
    """
    # In a project it is asked which of its files holds the code.
    script = script.of(code) if hasattr(script, "of") else script
    # A program with watchpoints tells its lines by itself.
    if not isinstance(code, str) or not code.strip() or f" {json.dumps(script.path)}\n" in code:
        return code
    place = f" {json.dumps(script.path)}\n"
    if script.text.count(code) == 1:
        first = script.text.count("\n", 0, script.text.index(code)) + 1
        return f"#line {first}{place}{code}"
    lines = code.split("\n")
    numbers = numbers_of(lines, script.text)
    if not numbers:
        return code
    told, expected, continues = [], None, False
    for index, line in enumerate(lines):
        number = numbers.get(index)
        if expected is None:
            first = min(numbers)
            number = max(numbers[first] - (first - index), 1)
        if number is not None and number != expected and not continues:
            told.append(f"#line {number}{place}{line}")
            expected = number + 1
        else:
            told.append(line)
            expected += 1
        continues = line.endswith("\\")
    return "\n".join(told)


def numbers_of(lines, text):
    """Lines of the script (from 1) for those lines of the code, by position, that stand in it."""
    mine = [plain(line) for line in lines]
    theirs = [plain(within_quotes(line)) for line in text.split("\n")]
    matcher = difflib.SequenceMatcher(None, mine, theirs, autojunk=False)
    found = {}
    for block in matcher.get_matching_blocks():
        for offset in range(block.size):
            # A brace alone stands everywhere.
            if len(mine[block.a + offset]) > 2:
                found[block.a + offset] = block.b + offset + 1
    return found


def plain(line):
    """A line for comparing: spaces do not count, and the braces of templates stand once."""
    return " ".join(line.replace("{{", "{").replace("}}", "}").split())


# `source = "int i = 0;\\n"`: a line of the script with one short string.
PIECE = re.compile(r"""^[^"']*(["'])(.*?)(?:\\n)?\1[\s,)+\\]*$""")


def within_quotes(line):
    """What a line of a script says of a string: without what stands before an opening quote or behind a closing one."""
    for quote in ('"""', "'''"):
        before, mark, after = line.partition(quote)
        if mark:
            closes = before.rstrip().endswith(("}", ";", ">"))
            return before if closes or not after.strip() else after
    piece = PIECE.match(line)
    return piece.group(2) if piece else line


def watch_numba(script):
    import numba
    from numba import cuda

    # Numba's simulator runs kernels as they are.
    if getattr(getattr(numba, "config", None), "ENABLE_CUDASIM", 0):
        return
    plain = cuda.jit

    @functools.wraps(plain)
    def jit(*arguments, **options):
        # Numba refuses both at once.
        debug = options.get("debug") or is_set("NUMBA_CUDA_DEBUGINFO")
        # Nor can it link its reference counting with line numbers.
        if not debug and not is_set("NUMBA_CUDA_ENABLE_NRT"):
            options.setdefault("lineinfo", True)
        # What another run has put there may have been compiled without lines.
        options.pop("cache", None)
        return plain(*arguments, **options)

    cuda.jit = jit
    watch_ufuncs()


def watch_ufuncs():
    """Has the kernel that Numba writes around the function of a ufunc stand where that function begins.

    The function's statements are put into it, and keep their lines but not their file.
    """
    try:
        from numba.cuda import vectorizers

        plain = vectorizers.CUDAVectorize._get_kernel_source
    except (ImportError, AttributeError):  # of another version: its lines stay as they are
        return

    def source(self, *arguments):
        code = self.pyfunc.__code__
        tree = ast.parse(plain(self, *arguments))
        for node in ast.walk(tree):
            if hasattr(node, "lineno"):
                node.lineno = node.end_lineno = code.co_firstlineno
        return compile(tree, code.co_filename, "exec")

    vectorizers.CUDAVectorize._get_kernel_source = source


def watch_cupy(script):
    import cupy

    cupy.cuda.set_allocator(None)
    cupy.cuda.set_pinned_memory_allocator(None)
    raw_kernel, raw_module = cupy.RawKernel, cupy.RawModule

    # RawKernel(code, name, options=(), backend="nvrtc", ...)
    class RawKernel(raw_kernel):
        def __init__(self, code, name, options=(), *arguments, **others):
            if not others.get("jitify"):
                code, options = with_lines(code, script), with_option(options)
            super().__init__(code, name, options, *arguments, **others)

    # RawModule(code=None, *, path=None, options=(), backend="nvrtc", ...)
    class RawModule(raw_module):
        def __init__(self, *arguments, **others):
            if not others.get("jitify") and not others.get("path"):
                arguments = tuple(with_lines(code, script) for code in arguments[:1]) + arguments[1:]
                if "code" in others:
                    others["code"] = with_lines(others["code"], script)
                if len(arguments) <= 1:
                    others["options"] = with_option(others.get("options", ()))
            super().__init__(*arguments, **others)

    for plain, watched in ((raw_kernel, RawKernel), (raw_module, RawModule)):
        watched.__name__, watched.__qualname__, watched.__doc__ = plain.__name__, plain.__qualname__, plain.__doc__
    cupy.RawKernel, cupy.RawModule = RawKernel, RawModule


def watch_cupyx(script):
    from cupyx.jit import _compile

    parse, statement, generated = _compile._parse_function_object, _compile._transpile_stmt, _compile.Generated.__init__

    def parsed(function):
        tree, source = parse(function)
        code = getattr(function, "__code__", None)
        if code is not None and function.__name__ != "<lambda>":
            _, first = inspect.getsourcelines(function)
            for node in ast.walk(tree):
                if isinstance(node, ast.stmt):
                    node.cudalint_place = (node.lineno + first - 1, code.co_filename)
        return tree, source

    def transpiled(stmt, is_toplevel, env):
        lines = statement(stmt, is_toplevel, env)
        place = getattr(stmt, "cudalint_place", None)
        if place and lines:
            return [f"#line {place[0]} {json.dumps(place[1])}", *lines]
        return lines

    def begin(self):
        generated(self)
        self.options = with_option(self.options)

    _compile._parse_function_object = parsed
    _compile._transpile_stmt = transpiled
    _compile.Generated.__init__ = begin


def watch_pycuda(script):
    from pycuda import compiler

    plain = compiler.SourceModule

    # SourceModule(source, nvcc="nvcc", options=None, ...)
    class SourceModule(plain):
        def __init__(self, source, *arguments, **others):
            if not arguments:
                others["options"] = list(with_option(others.get("options") or compiler.DEFAULT_NVCC_FLAGS))
            super().__init__(with_lines(source, script), *arguments, **others)

    SourceModule.__doc__ = plain.__doc__
    compiler.SourceModule = SourceModule
