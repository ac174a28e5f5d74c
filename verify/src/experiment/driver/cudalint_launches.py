"""Looks at the launches that hooked statements make, of Numba, CuPy, cupyx.jit and PyCUDA kernels.

A launch is written down with its grid, block and arguments. Then it is repeated on the same memory:

- where the question is whether its grid covers all elements, with more blocks: elements that the launch leaves as they were
  and that more blocks write are told ("cover");
- else, of a raw kernel, with each argument converted that is of another type than its parameter, or whose elements do not
  lie in a row: what both leave in memory is compared ("argument");
- of a Numba kernel with arrays of the host, once with these on the device: what both take is measured ("transfer").

The last launch is always the script's own.
"""
import functools

import cudalint_signature
import cudalint_transfers
from cudalint_accesses import extents
from cudalint_memory import CupyMemory, NumbaMemory, PycudaMemory, difference_of, is_handler, same


class Launches:
    """What is done at launches. `looker` keeps the statements that run, and writes down facts."""

    def __init__(self, looker, argument, cover):
        # Which argument of a launch matters, from 0; none for all of them. Threads and elements, where these matter.
        self.looker, self.argument, self.cover = looker, argument, cover
        # Lines whose launch has been measured.
        self.measured = set()
        # Kernels of PyCUDA by their identity: (function, source, name).
        self.functions = {}

    def seen(self, kernel, grid, block, arguments):
        """Writes a launch down; the line of its statement, or none where it is not to be looked at."""
        looker = self.looker
        if looker.repeating or not looker.running:
            return None
        line = looker.running[-1]
        looker.note(
            launched=line, kernel=kernel, grid=extents(grid), block=extents(block),
            arguments=[in_words(argument) for argument in arguments],
        )
        return line

    # Each dialect.

    def of_numba(self, launch, configuration, arguments):
        kernel = configuration.dispatcher.py_func
        line = self.seen(kernel.__name__, configuration.griddim, configuration.blockdim, arguments)
        if line is not None and self.cover:
            memory = lambda: NumbaMemory(launch, configuration, arguments)
            self.compare_cover(line, kernel.__name__, configuration.griddim, configuration.blockdim, memory)
        elif line is not None and line not in self.measured:
            self.measured.add(line)
            self.looker.guarded("transfer", line, lambda: self.measure(line, launch, configuration, arguments))

    def measure(self, line, launch, configuration, arguments):
        fact = cudalint_transfers.measured(launch, configuration, arguments)
        if fact:
            self.looker.note(kind="transfer", line=line, **fact)

    def watch_cupy(self):
        import cupy

        launches, raw_kernel, raw_module = self, cupy.RawKernel, cupy.RawModule

        class RawKernel(raw_kernel):
            def __call__(self, grid, block, args, *rest, **others):
                launches.of_cupy(super().__call__, (self.code, self.name), (grid, block, args), rest, others)
                return super().__call__(grid, block, args, *rest, **others)

        class RawModule(raw_module):
            def get_function(self, name):
                return Function(super().get_function(name), self.code, name)

        class Function:
            """A kernel of a module."""

            def __init__(self, function, code, name):
                self.__dict__.update(_function=function, _code=code, _name=name)

            def __call__(self, grid, block, args, *rest, **others):
                launches.of_cupy(self._function, (self._code, self._name), (grid, block, args), rest, others)
                return self._function(grid, block, args, *rest, **others)

            def __getattr__(self, name):
                return getattr(self._function, name)

            def __setattr__(self, name, value):
                setattr(self._function, name, value)

        cupy.RawKernel, cupy.RawModule = RawKernel, RawModule

    def of_cupy(self, launch, kernel, launched, rest, others):
        grid, block, arguments = launched
        code, name = kernel
        line = self.seen(short(name), grid, block, arguments)
        if line is not None:
            memory = lambda: CupyMemory(launch, block, arguments, rest, others)
            self.compare(line, (code, name), grid, block, memory)

    def watch_cupyx(self):
        from cupyx.jit import _interface

        launches, plain = self, _interface._JitRawKernel.__call__

        def call(kernel, grid, block, args, *rest, **others):
            name = kernel._func.__name__
            line = launches.seen(name, grid, block, args)
            if line is not None and launches.cover:
                memory = lambda: CupyMemory(functools.partial(plain, kernel), block, args, rest, others)
                launches.compare_cover(line, name, grid, block, memory)
            return plain(kernel, grid, block, args, *rest, **others)

        _interface._JitRawKernel.__call__ = call

    def watch_pycuda(self):
        from pycuda import compiler, driver

        launches, plain_module = self, compiler.SourceModule

        class SourceModule(plain_module):
            def __init__(self, source, *arguments, **others):
                super().__init__(source, *arguments, **others)
                self.cudalint_source = source

            def get_function(self, name):
                function = super().get_function(name)
                launches.functions[id(function)] = (function, self.cudalint_source, name)
                return function

        SourceModule.__doc__ = plain_module.__doc__
        compiler.SourceModule = SourceModule
        call, prepared = driver.Function.__call__, driver.Function.prepared_call
        timed, asynchronous = driver.Function.prepared_timed_call, driver.Function.prepared_async_call

        def called(function, *arguments, **others):
            grid, block = others.get("grid", (1, 1)), others.get("block")
            if block is not None:
                options = {name: value for name, value in others.items() if name in ("shared", "texrefs")}
                launch = lambda grid, given: call(function, *given, grid=grid, block=block, **options)
                launches.of_pycuda(function, launch, grid, block, arguments)
            return call(function, *arguments, **others)

        def through(plain, with_stream):
            # prepared_call(function, grid, block[, stream], *arguments, shared_size=0)
            def run(function, grid, block, *rest, **others):
                launch = lambda grid, given: prepared(function, grid, block, *given, **others)
                launches.of_pycuda(function, launch, grid, block, rest[with_stream:], prepared=True)
                return plain(function, grid, block, *rest, **others)

            return run

        driver.Function.__call__ = called
        driver.Function.prepared_call = through(prepared, 0)
        driver.Function.prepared_timed_call = through(timed, 0)
        driver.Function.prepared_async_call = through(asynchronous, 1)

    def of_pycuda(self, function, launch, grid, block, arguments, prepared=False):
        _, code, name = self.functions.get(id(function), (None, None, None))
        line = self.seen(name or "a kernel", grid, block, arguments)
        if line is None:
            return
        parameters = cudalint_signature.signature(code, name) if code and name else None
        memory = lambda: PycudaMemory(launch, arguments, parameters)
        if prepared and not self.cover:
            text = "a prepared launch packs its arguments as `prepare` says: they are not compared with the parameters"
            self.looker.note(kind="argument", line=line, problem=text)
        else:
            self.compare(line, (code, name), grid, block, memory)

    # Comparisons. `memory` makes what stands between a launch and its memory, where that fails it is told.

    def compare(self, line, kernel, grid, block, memory):
        if self.cover:
            self.compare_cover(line, short(kernel[1]), grid, block, memory)
        else:
            self.looker.guarded("argument", line, lambda: self.compare_arguments(line, kernel, tuple(grid), memory()))

    def compare_cover(self, line, name, grid, block, memory):
        grid, block = extents(grid), extents(block)
        self.looker.guarded("cover", line, lambda: self.compare_grids(line, name, grid, block, memory()))

    def compare_grids(self, line, name, grid, block, memory):
        threads, elements = self.cover
        axis = next((axis for axis in range(3) if grid[axis] * block[axis] == threads), 0)
        threads, wider = grid[axis] * block[axis], list(grid)
        wider[axis] = max(-(-elements // block[axis]), grid[axis] + 1)
        # More blocks come last: what they do may end the device's work for good.
        one, again, more = memory.run(tuple(grid)), memory.run(tuple(grid)), memory.run(tuple(wider))
        memory.restore()
        compared = 0
        for number, before in enumerate(memory.before):
            if before is None or not before.size:
                continue
            compared += before.size
            left = same(before, one[number]) & same(one[number], again[number]) & ~same(one[number], more[number])
            # What differs among the elements that the launch has threads for has another cause.
            left[:threads] = False
            if left.any():
                first, count = int(left.argmax()), int(left.sum())
                text = (
                    f"the launch of `{name}` with {threads} threads leaves {count} elements of {memory.name_of(number)}, the "
                    f"first of them element {first}, as they were; with {wider[axis]} blocks instead of {grid[axis]} they are "
                    "written"
                )
                return self.looker.note(kind="cover", line=line, differs=True, text=text, kernel=name)
        if not compared:
            return self.looker.note(kind="cover", line=line, problem=f"no argument of `{name}` is memory that could be compared")
        text = f"the launch of `{name}` with {threads} threads and one of {wider[axis]} blocks write the same elements"
        self.looker.note(kind="cover", line=line, differs=False, text=text, kernel=name)

    def compare_arguments(self, line, kernel, grid, memory):
        code, name = kernel
        arguments, name = memory.arguments, short(name or "the kernel")
        note = lambda **fact: self.looker.note(kind="argument", line=line, **fact)
        parameters = cudalint_signature.signature(code or "", kernel[1] or "")
        if parameters is None or len(parameters) != len(arguments):
            return note(problem=f"the parameters of `{name}` are not in sight")
        made = 0
        wanted = range(len(arguments)) if self.argument is None else [self.argument]
        for number, (argument, parameter) in enumerate(zip(arguments, parameters)):
            if number not in wanted:
                continue
            for change, other in memory.conversions(argument, parameter):
                made += 1
                given = arguments[:number] + [other] + arguments[number + 1 :]
                # The meant launch comes first: what is written may end the device's work for good.
                meant = memory.run(grid, given)
                words = f"argument {number + 1} of `{name}` {change} (`{parameter.text}`)"
                try:
                    one, again = memory.run(grid), memory.run(grid)
                except Exception as problem:
                    text = f"{words}: the launch fails ({problem}), and does not when the argument is converted"
                    return note(differs=True, text=text, kernel=name, argument=number)
                difference = difference_of(one, again, meant, number)
                text = f"{words}: {difference or 'the launch leaves the same in memory when it is converted'}"
                note(differs=difference is not None, text=text, kernel=name, argument=number)
        memory.restore()
        if not made:
            text = f"each argument of `{name}` is of its parameter's type, with its elements in a row"
            note(differs=False, text=text, kernel=name, right=True)


def short(name):
    """A kernel's name without its template arguments."""
    return (name or "a kernel").split("<")[0]


def in_words(argument):
    """What an argument is: `float32[8, 4]`, `int 3`."""
    value = argument.array if is_handler(argument) else argument
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if shape is not None and dtype is not None and len(shape):
        return f"{dtype}[{', '.join(map(str, shape))}]"
    if isinstance(value, (bool, int, float, complex)) or dtype is not None:
        return f"{dtype or type(value).__name__} {value}"
    return type(value).__name__
