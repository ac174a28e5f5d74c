"""Stands for Numba, CuPy and PyCUDA where Python host programs are run without a GPU, on top of NumPy.

Runs the programs named on standard input, one after the other. Every call that the replay has facts on is written to standard
output, as `log.rs` reads it: a letter, the line (of the second file 100000 more), and its values.
   P number                             the program that begins
   E words                              an exception that ended it
   A line number bytes space            an allocation without a type; arrays are not written
   C line to from bytes kind            a copy between such memory and an array
   S line to value bytes                a set
   L line kernel gx gy gz bx by bz shared arguments…
A number is written as `type=value`, an array as `@type:bytes:offset:shape:strides:contents`: bytes are those of the memory that it
lies in, contents are what is there, where that is little. A tuple is written as its elements between brackets.
"""

import contextlib
import itertools
import numbers
import runpy
import sys
import types

import numpy as np

OWN = __file__
memories = {}
counter = itertools.count()
out = []


def place():
    frame = sys._getframe(1)
    while "host" not in (name := frame.f_code.co_filename.rsplit("/", 1)[-1]) and not name.startswith("lib"):
        frame = frame.f_back
    return frame.f_lineno + (100000 if name.startswith("lib") else 0)


def write(letter, *values):
    out.append(" ".join([letter, str(place()), *map(str, values)]))


def told(value):
    """An argument of a launch, in words."""
    if value is None:
        return ["none"]
    if isinstance(value, (tuple, list)):
        return ["(", *(word for item in value for word in told(item)), ")"]
    if isinstance(value, np.generic):
        shown = repr(float(value)) if value.dtype.kind == "f" else str(int(value)) if value.dtype.kind in "iub" else "-"
        return [f"{value.dtype.name}={shown}"]
    if isinstance(value, bool):
        return [f"bool={int(value)}"]
    if isinstance(value, int):
        return [f"int64={value}"]
    if isinstance(value, float):
        return [f"float64={value!r}"]
    if isinstance(value, (Device, np.ndarray)):
        plain = value._a if isinstance(value, Device) else value
        space = "d" if isinstance(value, Device) else "h"
        if space == "h" and not (plain.flags.c_contiguous or plain.flags.f_contiguous):
            raise ValueError("a host array that does not lie in one piece")
        owner = plain
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        offset = plain.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
        if space == "h":
            # What the launch makes a copy of.
            owner, offset = plain, 0
        held = owner.tobytes("A").hex() if owner.nbytes <= 256 else ""
        shape = "x".join(map(str, plain.shape))
        strides = "x".join(map(str, plain.strides))
        return [f"@{plain.dtype.name}:{owner.nbytes}:{offset}:{shape}:{strides}:{held}"]
    return ["-"]


def extents(given):
    given = list(given) if isinstance(given, (tuple, list)) else [given]
    if not 1 <= len(given) <= 3 or not all(isinstance(one, numbers.Integral) and one > 0 for one in given):
        raise ValueError(f"not extents: {given}")
    return [int(one) for one in given] + [1] * (3 - len(given))


class Kernel:
    """What `cuda.jit` and its kin make of a function."""

    def __init__(self, function):
        self.function = function
        self.__name__ = function.__name__

    def __getitem__(self, configuration):
        if not isinstance(configuration, tuple):
            configuration = (configuration,)
        grid, block = map(extents, configuration[:2])
        shared = configuration[3] if len(configuration) > 3 else 0

        def launch(*arguments):
            code = getattr(self.function, "__code__", None)
            if code and code.co_flags & 4:  # `*args` is one parameter
                arguments = arguments[: code.co_argcount] + (arguments[code.co_argcount :],)
            words = [word for argument in arguments for word in told(argument)]
            write("L", self.__name__, *grid, *block, int(shared), *words)

        return launch

    def forall(self, tasks, tpb=0, stream=0, sharedmem=0):
        return self[-(-tasks // tpb), tpb, stream, sharedmem]

    def __call__(self, grid, block, arguments, shared_mem=0, stream=None):
        self[grid, block, 0, shared_mem](*arguments)


def jit(first=None, **options):
    return Kernel(first) if isinstance(first, types.FunctionType) else Kernel


def unwrapped(value):
    if isinstance(value, Device):
        return value._a
    if isinstance(value, (tuple, list)):
        return type(value)(map(unwrapped, value))
    if isinstance(value, dict):
        return {key: unwrapped(item) for key, item in value.items()}
    return value


class Device:
    """An array on the device: one of NumPy that stays inside."""

    def __init__(self, array):
        self._a = array

    shape = property(lambda self: self._a.shape)
    size = property(lambda self: self._a.size)
    dtype = property(lambda self: self._a.dtype)
    strides = property(lambda self: self._a.strides)
    nbytes = property(lambda self: self._a.nbytes)
    ndim = property(lambda self: self._a.ndim)
    itemsize = property(lambda self: self._a.itemsize)
    T = property(lambda self: type(self)(self._a.T))

    def __len__(self):
        return len(self._a)

    def _same(self, value):
        return type(self)(value) if isinstance(value, np.ndarray) else value

    def __getitem__(self, index):
        return self._same(self._a[unwrapped(index)])

    def __setitem__(self, index, value):
        self._a[unwrapped(index)] = unwrapped(value)

    def reshape(self, *shape, **options):
        return self._same(self._a.reshape(*shape, **options))

    def ravel(self):
        return self._same(self._a.ravel())

    def transpose(self, *axes):
        return self._same(self._a.transpose(*axes))

    def view(self, dtype):
        return self._same(self._a.view(dtype))


class NumbaArray(Device):
    def copy_to_host(self, ary=None, stream=0):
        if ary is None:
            return self._a.copy()
        if ary.dtype != self.dtype or ary.size != self.size:
            raise ValueError("another type or size")
        ary[...] = self._a.reshape(ary.shape)
        return ary

    def copy_to_device(self, ary, stream=0):
        ary = unwrapped(ary)
        if ary.dtype != self.dtype or ary.size != self.size:
            raise ValueError("another type or size")
        self._a[...] = ary.reshape(self.shape)


class CupyArray(Device):
    def get(self, stream=None, order="C", out=None):
        return self._a.copy(order) if out is None else np.copyto(out, self._a) or out

    def set(self, arr, stream=None):
        if arr.dtype != self.dtype or arr.shape != self.shape:
            raise ValueError("another type or shape")
        self._a[...] = arr

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(self._a, name)
        if not callable(found):
            return found
        return lambda *given, **named: cupy_of(found(*unwrapped(given), **unwrapped(named)))

    def __int__(self):
        return int(self._a)

    def __float__(self):
        return float(self._a)

    def __bool__(self):
        return bool(self._a)


def cupy_of(value):
    if isinstance(value, np.ndarray):
        return CupyArray(value)
    if isinstance(value, np.generic):
        return CupyArray(np.asarray(value))
    if isinstance(value, (tuple, list)):
        return type(value)(map(cupy_of, value))
    return value


def operator(name):
    def apply(self, *others):
        result = getattr(self._a, name)(*unwrapped(others))
        if name.startswith("__i") and name != "__invert__":
            return self
        return cupy_of(result)

    return apply


for name in "add sub mul truediv floordiv mod pow and or xor lshift rshift".split():
    for form in ("__%s__", "__r%s__", "__i%s__"):
        setattr(CupyArray, form % name, operator(form % name))
for name in "lt le gt ge eq ne neg pos abs invert matmul".split():
    setattr(CupyArray, f"__{name}__", operator(f"__{name}__"))


class Cupy(types.ModuleType):
    """CuPy is NumPy with its arrays elsewhere."""

    ndarray = CupyArray

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(np, name)
        if isinstance(found, type) or not callable(found):
            return found
        return lambda *given, **named: cupy_of(found(*unwrapped(given), **unwrapped(named)))

    @staticmethod
    def asarray(a, dtype=None):
        return a if isinstance(a, CupyArray) and dtype in (None, a.dtype) else CupyArray(np.array(unwrapped(a), dtype))

    @staticmethod
    def asnumpy(a):
        return a._a.copy() if isinstance(a, Device) else np.asarray(a)


class Memory:
    """Memory on the device without a type."""

    def __init__(self, bytes, space="d"):
        self.number, self.size = next(counter), int(bytes)
        write("A", self.number, self.size, space)

    def free(self):
        pass

    def __int__(self):
        memories[self.number * 2**40 + 2**50] = self
        return self.number * 2**40 + 2**50


def pointer(value):
    if isinstance(value, Memory):
        return f"{value.number}+0"
    if isinstance(value, int):
        base = value // 2**40 * 2**40
        return f"{memories[base].number}+{value - base}" if base in memories else "?"
    return "?"


def module(name, **contents):
    made = sys.modules[name] = types.ModuleType(name)
    made.__dict__.update(contents)
    return made


def prepare():
    """Puts the packages where programs import them from."""
    arrays = dict(
        to_device=lambda a, stream=0, copy=True, to=None: a if isinstance(a, Device) else whole(a),
        device_array=lambda shape, dtype=np.float64, strides=None, order="C", stream=0: NumbaArray(np.zeros(shape, dtype, order)),
        device_array_like=lambda a, stream=0: NumbaArray(np.zeros_like(unwrapped(a), subok=False)),
        pinned_array=lambda shape, dtype=np.float64, strides=None, order="C": np.zeros(shape, dtype, order),
        managed_array=lambda shape, dtype=np.float64, strides=None, order="C": NumbaArray(np.zeros(shape, dtype, order)),
    )
    nothing = lambda *given, **named: contextlib.nullcontext()  # noqa: E731
    cuda = module(
        "numba.cuda", jit=jit, stream=nothing, synchronize=nothing, is_available=lambda: True, defer_cleanup=nothing,
        pinned=nothing, **arrays,
    )
    names = "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64".split()
    module("numba", cuda=cuda, **{name: getattr(np, name) for name in names})
    cupy = sys.modules["cupy"] = Cupy("cupy")
    cupy.RawKernel = lambda code, name, options=(): Kernel(types.SimpleNamespace(__name__=name))
    cupy.cuda = module("cupy.cuda", Stream=types.SimpleNamespace(null=None))
    driver = module(
        "pycuda.driver",
        mem_alloc=Memory,
        memcpy_htod=lambda dest, src: write("C", pointer(dest), "?", src.nbytes, 1),
        memcpy_dtoh=lambda dest, src: write("C", "?", pointer(src), dest.nbytes, 2),
        memcpy_dtod=lambda dest, src, size: write("C", pointer(dest), pointer(src), size, 3),
        memset_d8=lambda dest, data, count: write("S", pointer(dest), data, count),
        memset_d32=lambda dest, data, count: write("S", pointer(dest), data, count * 4),
    )
    module("pycuda", driver=driver, autoinit=module("pycuda.autoinit"))


def whole(array):
    array = np.asarray(array)
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        raise ValueError("a host array that does not lie in one piece")
    return NumbaArray(array.copy("A"))


def main():
    prepare()
    np.seterr(all="ignore")
    for line in sys.stdin.read().splitlines():
        number, path = line.split(" ", 1)
        memories.clear()
        globals()["counter"] = itertools.count()
        out.append(f"P {number}")
        sys.path.insert(0, path.rsplit("/", 1)[0])
        with contextlib.redirect_stdout(None):
            try:
                runpy.run_path(path, run_name="__main__")
            except BaseException as error:  # noqa: BLE001
                out.append(f"E {type(error).__name__}: {error}".replace("\n", " "))
        sys.path.pop(0)
    print("\n".join(out))


main()
