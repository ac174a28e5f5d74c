"""Logs the accesses that Numba kernels make on some lines of a script: which thread, in which barrier interval, which element.

A kernel with such a line is launched as a copy whose subscripts on these lines go through a device function that writes
its arguments into a log on the device. FOLDER gets

- sites.json   what is logged: line, text, access and kernel of each site, by its number; and by kernel, what in it may
               order accesses in a way that is not followed
- watch.log    launches and accesses, in the form that watchpoints of CUDA C++ programs write
- negative.log indices below zero, which Numba counts from the end: site, index, block and thread, in JSON lines
- pairs.log    where two arrays in dynamic shared memory begin, one of which is made on these lines, in JSON lines
"""
import ast
import copy
import json
import os

import cudalint_whole
from cudalint_signs import NotFollowed, arrays_made, dotted, is_barrier, is_shared, unfollowed

# Fields of a record: site, barrier interval, waits for lanes (as watch.log has them), axes, three indices, block, thread.
FIELDS = 13
RECORDS = 1 << 18
# What comes first: the records that were to be written, how many there is room for, and the block whose threads write
# them, or -1 for all blocks.
HEAD = 5
READ, WRITE, ATOMIC, PAIR = 1, 2, 4, 0
LOG = "__cudalint_log"
INTERVAL, LANES = "__cudalint_interval", "__cudalint_lanes"
NOTE = "__cudalint_note"


def watch(script, folder, lines, threads, place=(), block=None):
    """Watches the kernels of a script from now on. Where there is a block, all its accesses to the shared array that is
    read at the place are logged, and no others."""
    from numba import cuda
    from numba.cuda import dispatcher

    watcher = Watcher(script, folder, lines, threads, place, block)
    # As it is before anything else looks at what scripts copy.
    watcher.to_device = cuda.to_device
    if not watcher.definitions:
        return
    plain = dispatcher._LaunchConfiguration.__call__

    def launch(self, *arguments):
        kernel = watcher.copy_of(self.dispatcher)
        if kernel is None:
            return plain(self, *arguments)
        return kernel.launch(self, arguments, plain)

    launch.cudalint_plain = plain
    dispatcher._LaunchConfiguration.__call__ = launch


class Watcher:
    """The kernels of a script that have lines to watch."""

    def __init__(self, script, folder, lines, threads, place=(), block=None):
        self.place, self.block = place, block
        self.folder, self.lines, self.text = folder, lines, script.text
        self.path = script.path
        self.threads = [[int(number) for number in word.split(",")] for word in threads.split(";") if word]
        self.sites, self.kernels, self.unfollowed, self.copies, self.launches = [], [], [], {}, 0
        tree = script.tree()
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        self.definitions = {}
        for function in functions:
            inside = lambda node: first_line(function) <= node.lineno <= function.end_lineno
            if any(inside(node) and self.is_wanted(node) for node in ast.walk(function) if hasattr(node, "lineno")):
                for line in (function.lineno, first_line(function)):
                    self.definitions[function.name, line] = function

    def is_wanted(self, node):
        return any(first <= node.lineno and node.end_lineno <= last or first <= node.lineno <= last for first, last in self.lines)

    def copy_of(self, dispatcher):
        """The copy of a kernel with watched lines; none for any other."""
        function = dispatcher.py_func
        code = function.__code__
        definition = self.definitions.get((code.co_name, code.co_firstlineno))
        if definition is None or os.path.abspath(code.co_filename) != self.path:
            return None
        key = id(function)
        if key not in self.copies:
            try:
                self.copies[key] = Copy(self, dispatcher, definition)
            except NotFollowed as reason:
                self.write("off", str(reason))
                self.copies[key] = None
            except Exception as problem:  # the script goes on as it would without
                self.write("off", f"the copy of `{code.co_name}` cannot be written: {type(problem).__name__}: {problem}")
                self.copies[key] = None
        return self.copies[key]

    def write(self, *words):
        self.write_all([words])

    def write_all(self, lines):
        with open(os.path.join(self.folder, "watch.log"), "a", encoding="utf-8") as log:
            log.writelines(" ".join(str(word) for word in words) + "\n" for words in lines)

    def note(self, name, fact):
        with open(os.path.join(self.folder, name), "a", encoding="utf-8") as log:
            log.write(json.dumps(fact) + "\n")

    def write_sites(self):
        with open(os.path.join(self.folder, "sites.json"), "w", encoding="utf-8") as file:
            json.dump({"sites": self.sites, "kernels": self.kernels, "unfollowed": self.unfollowed}, file)


def first_line(function):
    return min([function.lineno] + [decorator.lineno for decorator in function.decorator_list])


class Copy:
    """A kernel whose accesses on the wanted lines are logged."""

    def __init__(self, watcher, dispatcher, definition):
        from numba import cuda

        function = dispatcher.py_func
        self.watcher, self.name = watcher, function.__name__
        self.parameters = [argument.arg for argument in definition.args.args]
        free = function.__code__.co_freevars
        cells = [cell.cell_contents for cell in function.__closure__ or ()]
        names = {**function.__globals__, **dict(zip(free, cells))}
        writer = Instrument(watcher, definition, self.name)
        if watcher.block:
            writer.array = cudalint_whole.array_at(watcher.text, definition, watcher.place, watcher.lines)
            cudalint_whole.check(definition, writer.array, names)
        changed = writer.visit_kernel(copy.deepcopy(definition))
        if not writer.found:
            raise NotFollowed(f"no access of `{self.name}` that could be logged stands on these lines")
        # A function around it hands over what the kernel takes from the functions around it in the script.
        maker = ast.parse(f"def __cudalint_make({', '.join((*free, NOTE))}):\n    return {self.name}\n").body[0]
        maker.body.insert(0, changed)
        module = ast.fix_missing_locations(ast.Module(body=[maker], type_ignores=[]))
        made = {}
        exec(compile(module, watcher.path, "exec"), function.__globals__, made)
        notes = device_function()
        if writer.pairs and not hasattr(notes, "begin"):
            notes.begin = first_byte()
        twin = made["__cudalint_make"](*cells, notes)
        options = {name: value for name, value in dispatcher.targetoptions.items() if name in ("fastmath", "max_registers")}
        self.dispatcher = cuda.jit(**options)(twin)
        watcher.kernels.append(self.name)
        watcher.unfollowed.append(unfollowed(definition, names))
        self.number = len(watcher.kernels)
        watcher.write_sites()

    def launch(self, configuration, arguments, plain):
        """Launches the copy in the kernel's place, and writes down what it logged."""
        import numpy
        from numba import cuda

        watcher = self.watcher
        watcher.launches += 1
        arrays, given, hosts = {}, [], []
        for name, argument in zip(self.parameters, arguments):
            argument = getattr(argument, "value", argument) if type(argument).__module__.endswith("cuda.args") else argument
            if isinstance(argument, numpy.ndarray):
                device = watcher.to_device(argument)
                hosts.append((argument, device))
                argument = device
            interface = getattr(argument, "__cuda_array_interface__", None)
            if interface:
                arrays[name] = Array(interface)
            given.append(argument)
        grid, block = extents(configuration.griddim), extents(configuration.blockdim)
        head = numpy.zeros(HEAD + FIELDS * RECORDS, dtype=numpy.int64)
        head[1:HEAD] = [RECORDS, *(watcher.block or (-1, 0, 0))]
        log = watcher.to_device(head)
        watcher.write("launch", watcher.launches, *grid, *block)
        copied = self.dispatcher[configuration.griddim, configuration.blockdim, configuration.stream, configuration.sharedmem]
        try:
            plain(copied, *given, log)
        except Exception as problem:
            if type(problem).__name__ in ("CudaAPIError", "CUDAError", "LinkerError"):
                raise
            watcher.write("off", f"the copy of `{self.name}` cannot be compiled: {' '.join(str(problem).split())[:200]}")
            return plain(configuration, *arguments)
        cuda.synchronize()
        for host, device in hosts:
            device.copy_to_host(host)
        self.write_down(log.copy_to_host(), arrays, grid, block)

    def write_down(self, log, arrays, grid, block):
        seen = int(log[0])
        records = log[HEAD : HEAD + FIELDS * min(seen, RECORDS)].reshape(-1, FIELDS).tolist()
        watcher = self.watcher
        # The threads that matter come first: not all of the others are compared with each other.
        records.sort(key=lambda record: list(record[7:13]) not in watcher.threads)
        wrapped, told_of = set(), []
        # Where an array of unknown extents is reached from its end, the element is not known.
        if watcher.block and any(
            index < 0 and not watcher.sites[record[0]]["shape"] for record in records for index in record[4 : 4 + record[3]]
        ):
            seen += 1
        for site, interval, lanes, axes, *rest in records:
            indices, block_of, thread = rest[:axes], rest[3:6], rest[6:9]
            told = watcher.sites[site]
            if told["kind"] == PAIR:
                if (site, tuple(indices)) not in wrapped:
                    wrapped.add((site, tuple(indices)))
                    fact = {"line": told["line"], "function": told["function"], "arrays": told["arrays"]}
                    watcher.note("pairs.log", {**fact, "addresses": indices})
                continue
            memory, address, size, base, extent = place(told, arrays, indices, [*block_of, *thread], (grid, block))
            if any(index < 0 for index in indices) and (site, tuple(indices)) not in wrapped:
                wrapped.add((site, tuple(indices)))
                shape = arrays[told["array"]].shape if told["array"] in arrays else None
                fact = {"site": site, "indices": indices, "shape": shape, "block": block_of, "thread": thread}
                watcher.note("negative.log", fact)
            object_of = (memory, f"{address:x}", size, f"{base:x}", extent)
            who = (*block_of, *thread, interval, lanes, self.number, watcher.launches)
            told_of.append(("access", site, told["kind"], *object_of, *who))
        watcher.write_all([*told_of, ("end", watcher.launches, 0, seen)])


class Array:
    """An array in device memory."""

    def __init__(self, interface):
        import numpy

        self.base, _ = interface["data"]
        self.shape = list(interface["shape"])
        self.size = numpy.dtype(interface["typestr"]).itemsize
        strides = interface.get("strides")
        if strides is None:
            strides, step = [], self.size
            for extent in reversed(self.shape):
                strides.insert(0, step)
                step *= extent
        self.strides = list(strides)

    def bytes(self):
        if 0 in self.shape:
            return 0
        return sum((extent - 1) * abs(stride) for extent, stride in zip(self.shape, self.strides)) + self.size


# Shared arrays have no addresses here: each has a stretch of its own, and each axis room for so many elements.
SHARED_ROOM, AXIS_ROOM, SHARED_ELEMENT = 1 << 52, 1 << 16, 8
# A thread's own array has a stretch for each thread, so that no two threads meet there.
LOCAL_ROOM = 1 << 20


def place(site, arrays, indices, who, launched):
    """Memory (0 global, 1 shared, 2 a thread's own), address, size, first byte and bytes of the object, as watch.log has them."""
    array = arrays.get(site["array"])
    if array is not None and site["memory"] == 0:
        address = array.base
        for index, extent, stride in zip(indices, array.shape, array.strides):
            address += (index + extent if index < 0 else index) * stride
        return 0, address, array.size, array.base, array.bytes()
    element = 0
    for axis, index in enumerate(indices):
        extents = site["shape"]
        if extents and axis < len(extents) and index < 0:
            index += extents[axis]
        element = element * AXIS_ROOM + max(index, 0)
    base = site["object"] * SHARED_ROOM
    extent = site["shape"][0] * SHARED_ELEMENT if site["shape"] and len(site["shape"]) == 1 else 0
    if site["memory"] == 2:
        number = 0
        for index, extent_of in zip(reversed(who), reversed([*launched[0], *launched[1]])):
            number = number * extent_of + index
        base += SHARED_ROOM + number * LOCAL_ROOM
    return site["memory"], base + element * SHARED_ELEMENT, SHARED_ELEMENT, base, extent


def extents(dimensions):
    if isinstance(dimensions, int):
        dimensions = (dimensions,)
    return [int(extent) for extent in dimensions] + [1] * (3 - len(dimensions))


class Instrument(ast.NodeTransformer):
    """Puts the logging of accesses into a kernel's tree."""

    def __init__(self, watcher, definition, kernel):
        self.watcher, self.kernel, self.found = watcher, kernel, 0
        # The one array whose accesses are logged, where that is the question.
        self.array = None
        # Arrays in dynamic shared memory that were made so far, and how many pairs of them are told.
        self.dynamic, self.pairs = [], 0
        self.parameters = {argument.arg for argument in definition.args.args}
        self.shared = arrays_made(definition, "shared.array")
        # Of a thread's own array only where it ends is of interest: one axis of known length.
        own = arrays_made(definition, "local.array")
        self.local = {name: shape for name, shape in own.items() if shape and len(shape) == 1}

    def visit_kernel(self, kernel):
        kernel.decorator_list, kernel.returns = [], None
        kernel.args.args.append(ast.arg(arg=LOG))
        for argument in kernel.args.args:
            argument.annotation = None
        kernel.body = counted(self.generic_visit(ast.Module(body=kernel.body, type_ignores=[])).body)
        kernel.body[:0] = [assigned(INTERVAL, 0), assigned(LANES, 0)]
        return kernel

    def visit_FunctionDef(self, node):
        return node

    def visit_Assign(self, node):
        self.generic_visit(node)
        target = node.targets[0]
        if not isinstance(target, ast.Name) or self.shared.get(target.id) != [0] or not is_shared(node.value):
            return node
        # One array with several names is no pair.
        others, self.dynamic = [name for name in self.dynamic if name != target.id], [*self.dynamic, target.id]
        if not others or not self.watcher.is_wanted(node):
            return node
        self.found, self.pairs = self.found + 1, self.pairs + 1
        pair = {"line": node.lineno, "text": target.id, "kind": PAIR, "function": self.kernel, "arrays": [others[0], target.id]}
        self.watcher.sites.append({**pair, "array": target.id, "memory": 1, "shape": [0], "object": 0})
        begins = [ast.Call(func=ast.Attribute(load(NOTE), "begin", ast.Load()), args=[load(name)], keywords=[]) for name in pair["arrays"]]
        noted = self.noted(len(self.watcher.sites) - 1, ast.Tuple(begins, ast.Load()))
        return [node, ast.Expr(noted)]

    def visit_AugAssign(self, node):
        self.generic_visit(node)
        if isinstance(node.target, ast.Subscript):
            node.target = self.logged(node.target, READ | WRITE)
        return node

    def visit_Subscript(self, node):
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load):
            return self.logged(node, READ)
        if isinstance(node.ctx, ast.Store) and not getattr(node, "cudalint_update", False):
            return self.logged(node, WRITE)
        return node

    def generic_visit(self, node):
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Subscript):
            node.target.cudalint_update = True
        return super().generic_visit(node)

    def visit_Call(self, node):
        self.generic_visit(node)
        name = dotted(node.func)
        # cuda.atomic.add(array, index, value)
        if ".atomic." in f".{name}" and len(node.args) >= 2 and isinstance(node.args[0], ast.Name):
            site = self.site(node, node.args[0].id, ATOMIC)
            if site is not None:
                node.args[1] = self.noted(site, node.args[1])
        return node

    def logged(self, node, kind):
        if not isinstance(node.value, ast.Name):
            return node
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if any(isinstance(part, (ast.Slice, ast.Starred)) for part in parts):
            return node
        site = self.site(node, node.value.id, kind)
        if site is not None:
            node.slice = self.noted(site, node.slice)
        return node

    def site(self, node, array, kind):
        """The number of a new site; none where nothing is to be logged."""
        wanted = array == self.array if self.array else self.watcher.is_wanted(node)
        if not wanted:
            return None
        if array in self.shared:
            memory, shape, number = 1, self.shared[array], sorted(self.shared).index(array)
        elif array in self.local:
            memory, shape, number = 2, self.local[array], sorted(self.local).index(array)
        elif array in self.parameters:
            memory, shape, number = 0, None, 0
        else:
            return None
        self.found += 1
        text = ast.get_source_segment(self.watcher.text, node) or array
        self.watcher.sites.append(
            {
                "line": node.lineno, "text": text, "kind": kind, "function": self.kernel,
                "array": array, "memory": memory, "shape": shape, "object": number,
            }
        )
        return len(self.watcher.sites) - 1

    def noted(self, site, index):
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        if len(parts) > 3:
            raise NotFollowed("an array of more than three axes is not followed")
        arguments = [load(LOG), ast.Constant(site), load(INTERVAL), load(LANES), *parts]
        return ast.Call(func=ast.Attribute(load(NOTE), f"of{len(parts)}", ast.Load()), args=arguments, keywords=[])


def load(name):
    return ast.Name(id=name, ctx=ast.Load())


def assigned(name, value):
    return ast.Assign(targets=[ast.Name(id=name, ctx=ast.Store())], value=ast.Constant(value))


def counted(statements):
    """The statements, with a count behind each barrier and each wait for lanes."""
    found = []
    for statement in statements:
        for field in ("body", "orelse"):
            inner = getattr(statement, field, None)
            if inner and isinstance(statement, ast.stmt):
                setattr(statement, field, counted(inner))
        found.append(statement)
        call = getattr(statement, "value", None)
        name = dotted(call.func).split(".")[-1] if isinstance(call, ast.Call) else ""
        if isinstance(call, ast.Call) and is_barrier(call):
            found.append(ast.AugAssign(ast.Name(id=INTERVAL, ctx=ast.Store()), ast.Add(), ast.Constant(1)))
        elif name == "syncwarp":
            # Odd once a wait was not for all lanes.
            some = 3 if call.args and ast.unparse(call.args[0]).lower() not in ("0xffffffff", "4294967295", "-1") else 2
            found.append(ast.AugAssign(ast.Name(id=LANES, ctx=ast.Store()), ast.Add(), ast.Constant(some)))
    return found


def first_byte():
    """A device function that gives an array's address."""
    try:
        from numba.cuda.extending import intrinsic
    except ImportError:
        from numba.core.extending import intrinsic
    from llvmlite import ir
    from numba import types

    @intrinsic
    def begin(typing, array):
        def generate(context, builder, signature, arguments):
            made = context.make_array(signature.args[0])(context, builder, arguments[0])
            return builder.ptrtoint(made.data, ir.IntType(64))

        return types.int64(array), generate

    return begin


class Note:
    """Device functions that log an access and give its index back, by the number of axes."""


def device_function():
    if not hasattr(Note, "module"):
        from numba import cuda

        @cuda.jit(device=True)
        def log_of(log, site, interval, lanes, axes, i, j, k):
            if log[2] >= 0 and (log[2] != cuda.blockIdx.x or log[3] != cuda.blockIdx.y or log[4] != cuda.blockIdx.z):
                return
            slot = cuda.atomic.add(log, 0, 1)
            if slot < log[1]:
                at = 5 + slot * 13
                log[at] = site
                log[at + 1] = interval
                log[at + 2] = lanes
                log[at + 3] = axes
                log[at + 4] = i
                log[at + 5] = j
                log[at + 6] = k
                log[at + 7] = cuda.blockIdx.x
                log[at + 8] = cuda.blockIdx.y
                log[at + 9] = cuda.blockIdx.z
                log[at + 10] = cuda.threadIdx.x
                log[at + 11] = cuda.threadIdx.y
                log[at + 12] = cuda.threadIdx.z

        @cuda.jit(device=True)
        def of1(log, site, interval, lanes, i):
            log_of(log, site, interval, lanes, 1, i, 0, 0)
            return i

        @cuda.jit(device=True)
        def of2(log, site, interval, lanes, i, j):
            log_of(log, site, interval, lanes, 2, i, j, 0)
            return i, j

        @cuda.jit(device=True)
        def of3(log, site, interval, lanes, i, j, k):
            log_of(log, site, interval, lanes, 3, i, j, k)
            return i, j, k

        # Numba finds a function of a module that a closure holds by its attribute.
        import types

        Note.module = types.ModuleType("__cudalint_notes")
        Note.module.of1, Note.module.of2, Note.module.of3 = of1, of2, of3
    return Note.module
