"""Looks at what statements of a script do, beside what they are meant to do.

Hooks are put around the statements on LINES before the script is compiled; the file itself and its line numbers stay as
they are. FOLDER/compare.log gets a JSON object a line:

- {"reached": line}                          the statement runs
- {"kind": …, "line": …, "differs": …, "text": …}   a comparison was made

What is compared goes by what the statement does, not by what anyone says of it:

- it launches a raw kernel: each argument that is of another type than its parameter, or whose elements do not lie in a row,
  is converted in a repetition of the launch, and what both leave in memory is compared ("argument");
- it reads a host array that was copied to the device: the host array is compared with its copy there ("copy");
- it changes a variable that a Numba kernel took in when it was compiled: later launches are repeated with the kernel compiled
  anew ("captured").
"""
import ast
import builtins
import json
import os
import types

import cudalint_signature

HOOK = "__cudalint_compare"


def watch(script, tree, folder, lines, place):
    """The script's tree with hooks around the statements on these lines. `place` is where the expression begins that matters."""
    looker = Looker(folder, argument_at(script, tree, place))
    setattr(builtins, HOOK, looker)
    tree.body = hooked(tree.body, lines)
    for package, watch in (("numba", looker.watch_numba), ("cupy", looker.watch_cupy)):
        if script.imports(package):
            try:
                watch()
            except Exception as problem:  # the script will meet it by itself, or do without the package
                looker.note(problem=f"{package} is not watched: {problem}")
    return ast.fix_missing_locations(tree)


def argument_at(script, tree, place):
    """Which argument of a launch begins at a place (line and column from 1), from 0; none where none does."""
    if len(place) != 2:
        return None
    rows = script.text.split("\n")
    before = rows[place[0] - 1][: place[1] - 1] if place[0] <= len(rows) else ""
    at = (place[0], len(before.encode("utf-8")))
    for node in ast.walk(tree):
        # `kernel(grid, block, (x, n))`, `kernel[grid, block](x, n)`, `kernel(x, n, block=…)`
        elements = node.args if isinstance(node, ast.Call) else getattr(node, "elts", [])
        tuples = any(isinstance(element, (ast.Tuple, ast.List)) for element in elements)
        for number, element in enumerate(elements):
            if (element.lineno, element.col_offset) == at and not (tuples and isinstance(node, ast.Call)):
                return number
    return None


def hooked(statements, lines):
    """The statements, with hooks around the innermost of those that stand on the lines."""
    found = []
    for statement in statements:
        inside = False
        for field in ("body", "orelse", "finalbody"):
            inner = getattr(statement, field, None)
            if isinstance(inner, list) and inner and isinstance(inner[0], ast.stmt):
                before = [id(each) for each in inner]
                inner = hooked(inner, lines)
                inside |= [id(each) for each in inner] != before
                setattr(statement, field, inner)
        for handler in getattr(statement, "handlers", []):
            handler.body = hooked(handler.body, lines)
        if not inside and not is_plain(statement) and is_on(statement, lines):
            statement = around(statement)
        found.append(statement)
    return found


def is_plain(statement):
    """Whether a statement does nothing that could be looked at, or must stay where it is."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal)
    return isinstance(statement, kinds)


def is_on(statement, lines):
    # A compound statement is its head here.
    body = getattr(statement, "body", None)
    last = body[0].lineno - 1 if isinstance(body, list) and body else statement.end_lineno
    return any(statement.lineno <= end and first <= max(last, statement.lineno) for first, end in lines)


def around(statement):
    read = sorted({node.id for node in ast.walk(statement) if isinstance(node, ast.Name)} - {HOOK})
    changed = sorted(names_changed(statement))
    begin = ast.parse(f"{HOOK}.begin({statement.lineno}, {read!r}, {changed!r}, globals(), locals())").body[0]
    end = ast.parse(f"{HOOK}.end({statement.lineno}, {changed!r}, globals(), locals())").body[0]
    wrapped = ast.Try(body=[statement], handlers=[], orelse=[], finalbody=[end])
    for node in (begin, end, wrapped):
        ast.copy_location(node, statement)
        for child in ast.walk(node):
            if child is statement:
                continue
            if not hasattr(child, "lineno") or child.lineno == 1:
                ast.copy_location(child, statement)
    return ast.copy_location(ast.If(test=ast.Constant(True), body=[begin, wrapped], orelse=[]), statement)


def names_changed(statement):
    """Variables that a statement binds, or whose elements or attributes it changes."""
    found = set()
    targets = []
    for node in ast.walk(statement):
        if isinstance(node, ast.Assign):
            targets += node.targets
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.For)):
            targets.append(node.target)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            # `table.fill(0)`
            targets.append(node.func.value)
    for target in targets:
        for part in target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]:
            while isinstance(part, (ast.Subscript, ast.Attribute, ast.Starred)):
                part = part.value
            if isinstance(part, ast.Name):
                found.add(part.id)
    return found


class Looker:
    """What is known while the script runs."""

    def __init__(self, folder, argument):
        self.path = os.path.join(folder, "compare.log")
        # Which argument of a launch matters; none for all of them.
        self.argument = argument
        # Statements that are running, by their lines.
        self.running = []
        # Host arrays with the copies made of them: (host, device).
        self.copies = []
        # Variables that were changed on one of the lines: (name, dictionary of the module's variables, line).
        self.changed = []
        self.repeating = False

    def note(self, **fact):
        with open(self.path, "a", encoding="utf-8") as log:
            log.write(json.dumps(fact) + "\n")

    def begin(self, line, read, changed, variables, own):
        self.note(reached=line)
        self.running.append(line)
        values = [own.get(name, variables.get(name)) for name in read]
        for host, device in self.copies:
            if any(value is host for value in values):
                self.guarded("copy", line, lambda: self.compare_copy(line, host, device))

    def end(self, line, changed, variables, own):
        self.running.pop()
        # `table.fill(0)` changes a variable, `cuda.synchronize()` none.
        fixed = (types.ModuleType, type, types.FunctionType, types.BuiltinFunctionType)
        values = {name: own.get(name, variables.get(name)) for name in changed}
        self.changed += [(name, variables, line) for name, value in values.items() if not isinstance(value, fixed)]

    def guarded(self, kind, line, compare):
        """Makes a comparison; one that cannot be made is told, and the script goes on."""
        if self.repeating:
            return
        self.repeating = True
        try:
            compare()
        except Exception as problem:
            self.note(kind=kind, line=line, problem=f"{type(problem).__name__}: {' '.join(str(problem).split())[:300]}")
        finally:
            self.repeating = False

    # Host arrays and their copies.

    def compare_copy(self, line, host, device):
        there = device.copy_to_host()
        if there.shape != host.shape:
            return
        where = first_difference(host, there)
        if where is None:
            text = f"the host array and its copy on the device hold the same {host.size} elements"
            self.note(kind="copy", line=line, differs=False, text=text)
            return
        at = "" if host.ndim == 0 else f"[{', '.join(map(str, where))}]"
        count = int((bits(host) != bits(there)).any(axis=-1).sum())
        text = (
            f"the host array is read while its copy on the device holds other values: element {at} is {host[where]} on the "
            f"host and {there[where]} on the device ({count} of {host.size} elements differ)"
        )
        self.note(kind="copy", line=line, differs=True, text=text)

    # Numba.

    def watch_numba(self):
        from numba import cuda
        from numba.cuda import dispatcher

        import numpy

        to_device, launch = cuda.to_device, dispatcher._LaunchConfiguration.__call__

        def copied(obj, *arguments, **others):
            device = to_device(obj, *arguments, **others)
            if isinstance(obj, numpy.ndarray) and not self.repeating:
                self.copies.append((obj, device))
            return device

        def launched(configuration, *arguments):
            for name, line in self.captured(configuration.dispatcher):
                if not getattr(configuration.dispatcher, "overloads", True):
                    text = f"`{configuration.dispatcher.py_func.__name__}` is compiled after `{name}` has changed"
                    self.note(kind="captured", line=line, differs=False, text=text)
                    continue
                compare = lambda: self.compare_captured(launch, configuration, arguments, name, line)
                self.guarded("captured", line, compare)
            return launch(configuration, *arguments)

        cuda.to_device = copied
        dispatcher._LaunchConfiguration.__call__ = launched

    def captured(self, kernel):
        """Changed variables that a kernel has taken in, each once, with the line of the change."""
        function = getattr(kernel, "py_func", None)
        if self.repeating or function is None:
            return []
        code, found = function.__code__, {}
        for name, variables, line in self.changed:
            is_global = name in code.co_names and variables is function.__globals__ and name in variables
            if is_global or name in code.co_freevars:
                found[name] = line
        return list(found.items())

    def compare_captured(self, launch, configuration, arguments, name, line):
        import numpy
        from numba import cuda

        kernel = configuration.dispatcher
        anew = type(kernel)(kernel.py_func, targetoptions=kernel.targetoptions)
        hosts = [as_host(argument) for argument in arguments]

        def run(dispatcher):
            given = [argument if host is None else cuda.to_device(host) for argument, host in zip(arguments, hosts)]
            shape = (configuration.griddim, configuration.blockdim, configuration.stream, configuration.sharedmem)
            launch(dispatcher[shape], *given)
            cuda.synchronize()
            return [None if host is None else array.copy_to_host() for array, host in zip(given, hosts)]

        first, again, fresh = run(kernel), run(kernel), run(anew)
        names = parameter_names(kernel.py_func)
        function = kernel.py_func.__name__
        for number, (one, other, new) in enumerate(zip(first, again, fresh)):
            if one is None or first_difference(one, other) is not None:
                continue
            where = first_difference(one, new)
            if where is not None:
                place = f"{names[number]}[{', '.join(map(str, where))}]"
                text = (
                    f"`{function}` still uses the `{name}` of its first launch: it leaves {one[where]} in {place}, and "
                    f"{new[where]} when it is compiled anew"
                )
                return self.note(kind="captured", line=line, differs=True, text=text, kernel=function)
        text = f"`{function}` leaves the same in memory when it is compiled anew after `{name}` has changed"
        self.note(kind="captured", line=line, differs=False, text=text, kernel=function)

    # Raw kernels.

    def watch_cupy(self):
        import cupy

        looker, raw_kernel, raw_module = self, cupy.RawKernel, cupy.RawModule

        class RawKernel(raw_kernel):
            def __call__(self, grid, block, args, **others):
                looker.launching(super().__call__, self.code, self.name, (grid, block, args), others)
                return super().__call__(grid, block, args, **others)

        class RawModule(raw_module):
            def get_function(self, name):
                return Function(super().get_function(name), self.code, name)

        class Function:
            """A kernel of a module."""

            def __init__(self, function, code, name):
                self.__dict__.update(_function=function, _code=code, _name=name)

            def __call__(self, grid, block, args, **others):
                looker.launching(self._function, self._code, self._name, (grid, block, args), others)
                return self._function(grid, block, args, **others)

            def __getattr__(self, name):
                return getattr(self._function, name)

            def __setattr__(self, name, value):
                setattr(self._function, name, value)

        cupy.RawKernel, cupy.RawModule = RawKernel, RawModule

    def launching(self, launch, code, name, launched, others):
        if self.running:
            line = self.running[-1]
            self.guarded("argument", line, lambda: self.compare_arguments(launch, code, name, launched, others))

    def compare_arguments(self, launch, code, name, launched, others):
        import cupy

        line = self.running[-1]
        grid, block, arguments = launched
        arguments = list(arguments)
        parameters = cudalint_signature.signature(code or "", name)
        short = name.split("<")[0]
        if parameters is None or len(parameters) != len(arguments):
            return self.note(kind="argument", line=line, problem=f"the parameters of `{short}` are not in sight")
        memory = Memory(cupy, arguments)

        def run(given):
            memory.restore()
            launch(grid, block, tuple(given), **others)
            cupy.cuda.runtime.deviceSynchronize()
            return memory.now()

        made = 0
        wanted = range(len(arguments)) if self.argument is None else [self.argument]
        for number, (argument, parameter) in enumerate(zip(arguments, parameters)):
            if number not in wanted:
                continue
            for change, other in conversions(cupy, argument, parameter):
                made += 1
                given = arguments[:number] + [other] + arguments[number + 1 :]
                # The meant launch comes first: what is written may end the device's work for good.
                meant = run(given)
                shown = other.get() if is_array(other) else None
                words = f"argument {number + 1} of `{short}` {change} (`{parameter.text}`)"
                try:
                    one, again = run(arguments), run(arguments)
                except Exception as problem:
                    text = f"{words}: the launch fails ({problem}), and does not when the argument is converted"
                    return self.note(kind="argument", line=line, differs=True, text=text, kernel=short, argument=number)
                difference = memory.difference(one, again, meant, number if is_array(other) else None, shown)
                if difference:
                    text = f"{words}: {difference}"
                    self.note(kind="argument", line=line, differs=True, text=text, kernel=short, argument=number)
                else:
                    text = f"{words}: the launch leaves the same in memory when it is converted"
                    self.note(kind="argument", line=line, differs=False, text=text, kernel=short, argument=number)
        memory.restore()
        if not made:
            text = f"each argument of `{short}` is of its parameter's type, with its elements in a row"
            self.note(kind="argument", line=line, differs=False, text=text, kernel=short, right=True)


class Memory:
    """The allocations behind the arrays among arguments, with what they held before the launch."""

    def __init__(self, cupy, arguments):
        self.cupy, self.arguments, self.blocks = cupy, arguments, {}
        for argument in filter(is_array, arguments):
            memory = argument.data.mem
            if memory.size:
                self.blocks.setdefault(memory.ptr, self.bytes_of(memory))
        self.before = {pointer: block.copy() for pointer, block in self.blocks.items()}

    def bytes_of(self, memory):
        pointer = self.cupy.cuda.MemoryPointer(memory, 0)
        return self.cupy.ndarray((memory.size,), self.cupy.uint8, memptr=pointer)

    def restore(self):
        for pointer, block in self.blocks.items():
            block[...] = self.before[pointer]

    def now(self):
        arrays = [argument.get() if is_array(argument) else None for argument in self.arguments]
        return {pointer: block.get() for pointer, block in self.blocks.items()}, arrays

    def difference(self, one, again, meant, converted, shown):
        """In words, what a launch leaves that the meant one does not; none where they leave the same."""
        (_, arrays), (_, arrays_again), (_, arrays_meant) = one, again, meant
        for number, array in enumerate(arrays):
            if array is None or first_difference(array, arrays_again[number]) is not None:
                continue
            other = arrays_meant[number]
            if number == converted:
                other = shown.astype(array.dtype)
            where = first_difference(array, other)
            if where is not None:
                place = f"[{', '.join(map(str, where))}]" if where else ""
                return f"element {place} of argument {number + 1} becomes {array[where]}, and {other[where]} as it is meant"
        return None


def conversions(cupy, argument, parameter):
    """What an argument would be as its parameter means it, with what is changed."""
    import numpy

    if parameter.dtype is None:
        return
    dtype = numpy.dtype(parameter.dtype)
    if is_array(argument):
        if not parameter.pointer:
            return
        flat = argument
        if not argument.flags.c_contiguous:
            flat = cupy.ascontiguousarray(argument)
            yield "does not have its elements in a row", flat
        if argument.dtype != dtype:
            yield f"is an array of {argument.dtype}", flat.astype(dtype)
    elif isinstance(argument, (bool, int, float, complex, numpy.generic)) and not parameter.pointer:
        own = argument.dtype if isinstance(argument, numpy.generic) else numpy.dtype(type(argument))
        if own != dtype:
            yield f"is {argument!r}, which is handed over as {own}", dtype.type(argument)


def is_array(value):
    """Whether a value is a CuPy array."""
    return type(value).__module__.split(".")[0] == "cupy" and hasattr(value, "data") and hasattr(value, "get")


def as_host(argument):
    """A copy of an array on the host; none for what is no array."""
    import numpy

    if isinstance(argument, numpy.ndarray):
        return argument.copy()
    if hasattr(argument, "__cuda_array_interface__"):
        from numba import cuda

        return cuda.as_cuda_array(argument).copy_to_host()
    return None


def parameter_names(function):
    return list(function.__code__.co_varnames[: function.__code__.co_argcount])


def bits(array):
    """An array's bytes, a row an element: so that not-a-number equals itself."""
    import numpy

    flat = numpy.ascontiguousarray(array).reshape(-1)
    return flat.view(numpy.uint8).reshape(flat.size, -1) if flat.size else flat.reshape(0, 1)


def first_difference(one, other):
    """The place of the first element in which two arrays of one shape differ, as a tuple; none where they are equal."""
    import numpy

    differs = (bits(one) != bits(other)).any(axis=-1) if one.size else numpy.zeros(0, bool)
    if not differs.any():
        return None
    return tuple(int(index) for index in numpy.unravel_index(int(differs.argmax()), one.shape))
