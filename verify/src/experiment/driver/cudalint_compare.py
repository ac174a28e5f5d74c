"""Looks at what statements of a script do, beside what they are meant to do.

Hooks are put around the statements on LINES before the script is compiled (cudalint_hooks.py). FOLDER/compare.log gets a
JSON object a line:

- {"reached": line, "kernels": […]}          the statement runs; the classes of the kernels that it names
- {"launched": line, "kernel": …, "grid": …, "block": …, "arguments": […]}   it launches a kernel
- {"kind": …, "line": …, "differs": …, "text": …}   a comparison was made

What is compared goes by what the statement does, not by what anyone says of it:

- it launches a kernel: see cudalint_launches.py;
- it calls a function that sets or copies memory: see cudalint_calls.py;
- it reads a host array that was copied to the device: the host array is compared with its copy there ("copy");
- it changes a variable that a Numba kernel took in when it was compiled: later launches are repeated with the kernel compiled
  anew ("captured").
"""
import ast
import builtins
import json
import os
import types

import cudalint_calls
import cudalint_hooks
import cudalint_launches
from cudalint_memory import as_host, bits, first_difference, parameter_names

# Packages whose kernels are told apart by their classes.
PACKAGES = {"numba", "cupy", "cupyx", "pycuda", "cuda"}


def watch(script, tree, folder, lines, place, cover=None):
    """The script's tree with hooks around the statements on these lines. `place` is where the expression begins that matters;
    `cover` are the threads of a launch and the elements that they are for, where that is the question."""
    looker = Looker(folder, cudalint_hooks.argument_at(script, tree, place), cover)
    setattr(builtins, cudalint_hooks.HOOK, looker)
    tree.body = cudalint_hooks.hooked(tree.body, lines)
    watches = [("numba", lambda: looker.watch_numba(cudalint_hooks.AsWritten(script)))]
    watches += [("cupy", looker.launches.watch_cupy), ("cupyx", looker.launches.watch_cupyx)]
    watches += [("pycuda", looker.launches.watch_pycuda)]
    for package, watch in watches:
        if script.imports(package):
            try:
                watch()
            except Exception as problem:  # the script will meet it by itself, or do without the package
                looker.note(problem=f"{package} is not watched: {problem}")
    return ast.fix_missing_locations(tree)


class Looker:
    """What is known while the script runs."""

    def __init__(self, folder, argument, cover=None):
        self.path = os.path.join(folder, "compare.log")
        self.launches = cudalint_launches.Launches(self, argument, cover)
        # Statements that are running, by their lines, and what they read.
        self.running, self.read = [], []
        self.calls = cudalint_calls.Calls(self.note, lambda: self.read[-1] if self.read else [])
        # Host arrays with the copies made of them: (host, device).
        self.copies = []
        # Variables that were changed on one of the lines: (name, dictionary of the module's variables, line).
        self.changed = []
        self.repeating = False

    def note(self, **fact):
        with open(self.path, "a", encoding="utf-8") as log:
            log.write(json.dumps(fact) + "\n")

    def begin(self, line, read, changed, variables, own):
        values = [own.get(name, variables.get(name)) for name in read]
        self.note(reached=line, kernels=kernels_among(values))
        self.running.append(line)
        self.read.append(values)
        for host, device in self.copies:
            if any(value is host for value in values):
                self.guarded("copy", line, lambda: self.compare_copy(line, host, device))

    def end(self, line, changed, variables, own):
        self.running.pop()
        self.read.pop()
        # `table.fill(0)` changes a variable, `cuda.synchronize()` none.
        fixed = (types.ModuleType, type, types.FunctionType, types.BuiltinFunctionType)
        values = {name: own.get(name, variables.get(name)) for name in changed}
        self.changed += [(name, variables, line) for name, value in values.items() if not isinstance(value, fixed)]

    def call(self, name, function, /, *arguments, **others):
        """A call of a function whose name is that of one which sets or copies memory."""
        if self.repeating or not self.running:
            return function(*arguments, **others)
        return self.calls.made(self.running[-1], name, function, arguments, others)

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

    def watch_numba(self, as_written):
        as_written.hand_to_numba()
        from numba import cuda
        from numba.cuda import dispatcher

        import numpy

        to_device, launch = cuda.to_device, dispatcher._LaunchConfiguration.__call__
        # What is repeated here is not logged anew.
        plain = getattr(launch, "cudalint_plain", launch)

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
                compare = lambda: self.compare_captured(plain, configuration, arguments, name, line)
                self.guarded("captured", line, compare)
            self.launches.of_numba(plain, configuration, arguments)
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


def kernels_among(values):
    """The classes of kernels, those of any package, among values."""
    kinds = {type(value) for value in values}
    own = [kind.__name__.lstrip("_") for kind in kinds if kind.__module__.split(".")[0] in PACKAGES]
    return sorted(name for name in own if name.endswith(("Kernel", "Dispatcher", "Function", "UFunc")))
