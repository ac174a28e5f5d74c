"""Looks at calls that set or copy memory: CuPy's memory pointers and runtime functions, PyCUDA's functions.

A call on a hooked line is made through `Calls.made`, which looks at the memory before and after it and writes down what a
probe of CUDA C++ would have written down of the same call:

- {"memory": {…}, "function": …, "line": …, "real": …}   what the call did; `real` is not 0 where it raises

How much of memory it was told to set or copy, and what that means, is judged elsewhere.
"""
import ast

# Bytes of an allocation that are compared, at most.
MAX_COMPARED = 1 << 28
# Bytes at the destination that are told.
TOLD = 16

# What each function is given, by its position: d a destination, s a source, v a value, n a number of bytes or of elements,
# - what says nothing of memory. A dot stands for the memory pointer whose method it is.
SHAPES = {
    # CuPy's MemoryPointer
    "copy_from_device": (".d", "s", "n"), "copy_from_host": (".d", "s", "n"), "copy_from": (".d", "s", "n"),
    "copy_from_device_async": (".d", "s", "n"), "copy_from_host_async": (".d", "s", "n"), "copy_from_async": (".d", "s", "n"),
    "copy_to_host": (".s", "d", "n"), "copy_to_host_async": (".s", "d", "n"),
    # CuPy's runtime functions and its MemoryPointer, told apart by whose they are
    "memset": ("d", "v", "n"), "memset_async": (".d", "v", "n"), "memsetAsync": ("d", "v", "n"),
    "memcpy": ("d", "s", "n"), "memcpyAsync": ("d", "s", "n"),
    # PyCUDA; a copy moves as many bytes as the host's side has
    "memset_d8": ("d", "v", "n"), "memset_d16": ("d", "v", "n"), "memset_d32": ("d", "v", "n"),
    "memset_d8_async": ("d", "v", "n"), "memset_d16_async": ("d", "v", "n"), "memset_d32_async": ("d", "v", "n"),
    "memcpy_htod": ("d", "s"), "memcpy_htod_async": ("d", "s"),
    "memcpy_dtoh": ("d", "s"), "memcpy_dtoh_async": ("d", "s"),
    "memcpy_dtod": ("d", "s", "n"), "memcpy_dtod_async": ("d", "s", "n"),
}
# Names of the arguments, where they are named.
NAMES = {"d": {"dst", "dest", "ptr", "mem"}, "s": {"src", "mem"}, "v": {"value", "data"}, "n": {"size", "count"}}
UNITS = {"memset_d16": 2, "memset_d32": 4}


class Rewrite(ast.NodeTransformer):
    """Has the calls of a statement that may set or copy memory made by a function of the hook."""

    def __init__(self, hook):
        self.hook = hook

    def visit_Call(self, node):
        self.generic_visit(node)
        name = getattr(node.func, "attr", getattr(node.func, "id", None))
        if name in SHAPES:
            made = ast.Attribute(ast.Name(self.hook, ast.Load()), "call", ast.Load())
            anew = ast.Call(func=made, args=[ast.Constant(name), node.func, *node.args], keywords=node.keywords)
            return ast.copy_location(ast.fix_missing_locations(ast.copy_location(anew, node)), node)
        return node

    def visit_FunctionDef(self, node):
        return node

    visit_Lambda = visit_ClassDef = visit_AsyncFunctionDef = visit_FunctionDef


class Calls:
    """What is done at calls. `note` writes down a fact, `values` gives what the running statement reads."""

    def __init__(self, note, values):
        self.note, self.values = note, values

    def made(self, line, name, function, arguments, others):
        told = parts(name, function, arguments, others)
        if told is None:
            return function(*arguments, **others)
        before = problem = None
        try:
            sides = Sides(told, self.values())
            before = sides.look(name, told)
        except Exception as error:  # what is not understood is not looked at
            problem = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
        if before is None:
            if problem:
                self.note(kind="memory", line=line, problem=f"the memory of `{name}` cannot be read: {problem}")
            return function(*arguments, **others)
        try:
            result = function(*arguments, **others)
        except Exception:
            self.note(line=line, function=name, real=1, memory=before)
            raise
        try:
            after = sides.after(before)
        except Exception:  # a fault on the device, of an earlier call
            after = {**before, "compared": False}
        self.note(line=line, function=name, real=0, memory=after)
        return result


def parts(name, function, arguments, others):
    """What a call is given, by what it is; none for another function of the same name."""
    shape = SHAPES.get(name)
    owner = getattr(function, "__self__", None)
    pointer = owner if hasattr(owner, "ptr") and hasattr(owner, "mem") else None
    if shape is None:
        return None
    told, rest = {}, list(arguments)
    for kind in shape:
        if kind.startswith("."):
            if pointer is None:
                return None
            told[kind[1:]] = pointer
        elif kind == "d" and pointer is not None:
            told["d"] = pointer
        elif rest:
            told[kind] = rest.pop(0)
        else:
            named = [value for key, value in others.items() if key in NAMES[kind]]
            if not named:
                return None
            told[kind] = named[0]
    return told


class Sides:
    """Source and destination of a call."""

    def __init__(self, told, values):
        self.known = [area for area in map(area_of, values) if area]
        self.destination, self.source = self.area(told["d"]), self.area(told.get("s"))

    def area(self, pointer):
        """The device memory that a pointer is into, with the offset; none for memory of the host."""
        area = area_of(pointer)
        if area:
            known = next((other for other in self.known if other.begins == area.begins and other.dtype), None)
            return known or area
        if isinstance(pointer, int):
            area = next((area for area in self.known if area.base <= pointer < area.base + area.size), None)
            return area and Area(area.base, area.size, pointer, area.read, area.dtype)
        return None

    def look(self, name, told):
        """What the call is about to do; none where neither side is device memory that is known."""
        to, source = self.destination, self.source
        if to is None and source is None:
            return None
        count = int(told["n"]) if "n" in told else host_bytes(told["s"] if source is None else told["d"])
        value = told.get("v")
        found = {
            "does": "copy" if value is None else "set",
            "count": count * UNITS.get(name.removesuffix("_async"), 1),
            "allocation": to.size if to else 0,
            "offset": to.begins - to.base if to else 0,
            "compared": False, "behind": 0, "changed": 0,
            "source": source.room() if source else 0,
            "value": int(value or 0), "element": 0, "floating": False, "bytes": "",
        }
        if to and to.dtype:
            found.update(element=to.dtype.itemsize, floating=to.dtype.kind == "f")
        self.held = to.cells() if to and to.size <= MAX_COMPARED else None
        return found

    def after(self, before):
        found = dict(before)
        if self.held is None:
            return found
        cells = self.destination.cells()
        begins = before["offset"]
        ends = min(begins + before["count"], len(cells))
        changed = int((cells[ends:] != self.held[ends:]).sum())
        found.update(compared=True, behind=len(cells) - ends, changed=changed)
        if before["does"] == "set":
            found["bytes"] = cells[begins : begins + TOLD].tobytes().hex()
        return found


class Area:
    """An allocation in device memory, and where in it something begins."""

    def __init__(self, base, size, begins, read, dtype=None):
        self.base, self.size, self.begins, self.read, self.dtype = int(base), int(size), int(begins), read, dtype

    def room(self):
        return self.base + self.size - self.begins

    def cells(self):
        import numpy

        cells = numpy.empty(self.size, numpy.uint8)
        self.read(cells, self.base)
        return cells


def area_of(value):
    """The memory of an array, a memory pointer or an allocation of CuPy or PyCUDA; none for anything else."""
    package = type(value).__module__.split(".")[0]
    if package == "cupy":
        pointer = value if hasattr(value, "mem") else getattr(value, "data", None)
        memory = getattr(pointer, "mem", None)
        if memory is None or not memory.size:
            return None
        dtype = None if pointer is value else value.dtype
        return Area(memory.ptr, memory.size, pointer.ptr, read_with_cupy, dtype)
    if package == "pycuda":
        from pycuda import driver

        dtype = getattr(value, "dtype", None)
        begins = getattr(value, "gpudata", value)
        try:
            begins = int(begins)
            base, size = driver.mem_get_address_range(begins)
        except Exception:  # a handler, a stream, memory of the host
            return None
        return Area(base, size, begins, read_with_pycuda, dtype)
    return None


def read_with_cupy(cells, pointer):
    import cupy

    cupy.cuda.runtime.deviceSynchronize()
    # 2 is cudaMemcpyDeviceToHost.
    cupy.cuda.runtime.memcpy(cells.ctypes.data, pointer, cells.nbytes, 2)


def read_with_pycuda(cells, pointer):
    from pycuda import driver

    driver.Context.synchronize()
    driver.memcpy_dtoh(cells, pointer)


def host_bytes(value):
    return value.nbytes if hasattr(value, "nbytes") else memoryview(value).nbytes
