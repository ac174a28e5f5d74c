"""Logs the accesses that cupyx.jit kernels make on some lines of a script.

CuPy writes CUDA C++ for a kernel's statements. The elements that subscripts on these lines name are put into the calls of
cudalint_watch.cuh there, which is the device's half of the log; the host's is that for programs in strings
(cudalint_strings.py). FOLDER gets sites.json and watch.log, as for Numba kernels (cudalint_accesses.py).
"""
import ast
import json
import os

import cudalint_strings

READ, WRITE, ATOMIC = 1, 2, 4
# What may order accesses in a way that is not followed: exchanges, groups, fences, libraries.
ORDERS = {"atomic_cas", "atomic_exch", "cg", "cub", "thrust", "memcpy_async", "threadfence", "this_grid", "this_thread_block"}


def watch(script, folder, lines, threads):
    """Watches the kernels of a script from now on."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cudalint_watch.cuh")
    if not os.path.exists(path):
        return
    with open(path, encoding="utf-8") as file:
        header = file.read()
    Watcher(script, folder, lines, header, cudalint_strings.Log(folder, threads)).begin()


class Watcher:
    """The kernels of a script that have lines to watch."""

    def __init__(self, script, folder, lines, header, log):
        self.script, self.folder, self.lines, self.header, self.log = script, folder, lines, header, log
        self.sites, self.kernels, self.unfollowed = [], [], []
        # Calls that are being written, from the outermost one.
        self.calls = []
        # What the functions of the kernel that is being written may do unseen.
        self.orders = []

    def begin(self):
        from cupyx.jit import _builtin_funcs, _compile, _interface

        self.parse, self.expression = _compile._parse_function_object, _compile._transpile_expr
        self.indexing, self.transpile = _compile._indexing, _compile.transpile
        self.data, self.scalar = _compile.Data, _compile._cuda_types.Scalar
        self.atomic = _builtin_funcs.AtomicOp.call
        _compile._parse_function_object = self.parsed
        _compile._transpile_expr = self.written
        _compile.transpile = self.compiled
        _builtin_funcs.AtomicOp.call = lambda builtin, *given, **others: self.of_atomic(_compile, builtin, given, others)
        _interface.core = Core(_interface.core, self)

    def parsed(self, function):
        """The tree of a function, with the places of what is to be logged."""
        tree, source = self.parse(function)
        code = getattr(function, "__code__", None)
        if code is None or os.path.abspath(code.co_filename) != self.script.path or function.__name__ == "<lambda>":
            return tree, source
        words = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        words |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        self.orders += sorted(words & ORDERS)
        for node in ast.walk(tree):
            if isinstance(node, ast.AugAssign):
                node.target.cudalint_update = True
            if isinstance(node, (ast.Subscript, ast.Call)):
                line = node.lineno + code.co_firstlineno - 1
                if any(first <= line <= last for first, last in self.lines):
                    text = ast.get_source_segment(source, node) or ""
                    node.cudalint_site = {"line": line, "text": text, "function": function.__name__}
        return tree, source

    def site(self, node, kind):
        self.sites.append({**node.cudalint_site, "kind": kind})
        return len(self.sites) - 1

    def written(self, node, env):
        """The CUDA C++ for an expression."""
        if isinstance(node, ast.Call):
            self.calls.append(node)
        try:
            found = self.expression(node, env)
        finally:
            if isinstance(node, ast.Call):
                self.calls.pop()
        if not isinstance(node, ast.Subscript) or not hasattr(node, "cudalint_site") or not self.is_element(found):
            return found
        if getattr(node, "cudalint_update", False):
            kind = READ | WRITE
        else:
            kind = WRITE if isinstance(node.ctx, ast.Store) else READ
        return self.data(f"cudalint_touch({self.site(node, kind)}, {kind}, {found.code})", found.ctype)

    def is_element(self, found):
        # A part of a tuple is no memory, and neither is a row of an array by itself.
        is_scalar = isinstance(found, self.data) and isinstance(found.ctype, self.scalar)
        return is_scalar and not found.code.startswith("STD::")

    def of_atomic(self, module, builtin, given, others):
        """The CUDA C++ for an atomic function: the element is logged by its address."""
        node = self.calls[-1] if self.calls else None
        if not hasattr(node, "cudalint_site"):
            return self.atomic(builtin, *given, **others)

        def indexing(*arguments):
            found = self.indexing(*arguments)
            return self.data(f"*cudalint_touch_at({self.site(node, ATOMIC)}, {ATOMIC}, &{found.code})", found.ctype)

        module._indexing = indexing
        try:
            return self.atomic(builtin, *given, **others)
        finally:
            module._indexing = self.indexing

    def compiled(self, function, *arguments):
        """The program for a kernel; with the header where something in it is logged."""
        before, self.orders = len(self.sites), []
        result = self.transpile(function, *arguments)
        if len(self.sites) == before:
            return result
        self.kernels.append(function.__name__)
        self.unfollowed.append(self.orders[0] if self.orders else None)
        with open(os.path.join(self.folder, "sites.json"), "w", encoding="utf-8") as file:
            json.dump({"sites": self.sites, "kernels": self.kernels, "unfollowed": self.unfollowed}, file)
        return result._replace(code=self.with_header(result.code, result.func_name))

    def with_header(self, code, name):
        # Behind the headers of the toolkit, whose functions must not become the header's.
        lines = code.split("\n")
        included = max((at for at, line in enumerate(lines) if line.startswith("#include")), default=-1) + 1
        body = "\n".join(lines[included:])
        at = body.index("{", body.index(f" {name}(")) + 1
        body = f"{body[:at]} cudalint_kernel({len(self.kernels)});{body[at:]}"
        return "\n".join([*lines[:included], self.header, body])


class Core:
    """CuPy's compiler, whose kernels of watched programs are launched with a log."""

    def __init__(self, core, watcher):
        self.core, self.watcher = core, watcher

    def __getattr__(self, name):
        return getattr(self.core, name)

    def compile_with_cache(self, source, *arguments, **others):
        module = self.core.compile_with_cache(source, *arguments, **others)
        return Module(module, self.watcher.log) if self.watcher.header in source else module


class Module:
    """A compiled program that is watched."""

    def __init__(self, module, log):
        self.module, self.log, self.device = module, log, cudalint_strings.CupyDevice()

    def get_function(self, name):
        function = self.module.get_function(name)

        def launched(grid, block, given, *others):
            launch = lambda: function(grid, block, given, *others)
            return self.log.launch(self.device, self.module, launch, grid, block, given)

        return launched
