"""Logs the accesses of kernels in CUDA C++ that a script hands over as a string, to CuPy's RawKernel and RawModule and to PyCUDA's
SourceModule.

cudalint_strings.json holds for each such program of the script its text (`original`), the same with watchpoints (`watched`)
and the line at which it begins (`line`). A string that is the text, but for blanks, is compiled with watchpoints in its place;
one that is put together when the script runs is not. The device's half of the log is cudalint_watch.cuh, this is the host's:
before a launch the device is told its number, after it what it has written down goes into FOLDER/watch.log.
"""
import ctypes
import json
import os
import struct

from cudalint_accesses import extents

# As in cudalint_watch.cuh: records of all threads and of those that must not be lost, how many of these there may be.
GENERAL_RECORDS, FOCUS_RECORDS, FOCUS = 1 << 17, 1 << 14, 8
MOST_LINES = 300000
# launch, site, kind, space, size, kernel, interval, warp, block, thread; address, base, extent
RECORD = struct.Struct("<8I3I3I3Q")
CONTROL = struct.Struct(f"<QII{6 * FOCUS}I")
NAMES = {"control": "_ZN14cudalint_watch7controlE", "counts": "_ZN14cudalint_watch6countsE"}


def watch(script, folder, threads):
    """Watches the programs in the strings of a script from now on."""
    here = os.path.dirname(os.path.abspath(__file__))
    path = os.path.join(here, "cudalint_strings.json")
    if not os.path.exists(path):
        return
    with open(path, encoding="utf-8") as file:
        programs = json.load(file)["programs"]
    with open(os.path.join(here, "cudalint_watch.cuh"), encoding="utf-8") as file:
        header = file.read()
    strings = Strings(script, programs, header, Log(folder, threads))
    for package, begin in (("cupy", strings.watch_cupy), ("pycuda", strings.watch_pycuda)):
        if script.imports(package):
            try:
                begin()
            except ImportError:  # the script will meet it by itself, or do without the package
                pass


class Strings:
    """The programs that are watched."""

    def __init__(self, script, programs, header, log):
        self.script, self.programs, self.header, self.log = script, programs, header, log
        # Functions of PyCUDA by their identity, with their modules.
        self.functions = {}

    def watched(self, code, opening="", closing=""):
        """The program with watchpoints that stands for a string; none for any other string."""
        if not isinstance(code, str):
            return None
        for program in self.programs:
            if code.split() == program["original"].split():
                # What stands before the first word has no line breaks that count.
                line = program["line"] + leading(program["original"])
                place = f"#line {line} {json.dumps(self.script.path)}\n"
                return f"{self.header}\n{opening}{place}{program['watched'].lstrip()}\n{closing}"
        return None

    def watch_cupy(self):
        import cupy

        strings, raw_kernel, raw_module = self, cupy.RawKernel, cupy.RawModule
        memory = CupyDevice()

        class RawKernel(raw_kernel):
            def __init__(self, code, name, *arguments, **others):
                own = strings.watched(code)
                self.cudalint_watched = own is not None
                super().__init__(own or code, name, *arguments, **others)

            def __call__(self, grid, block, args, **others):
                launch = lambda: super(RawKernel, self).__call__(grid, block, args, **others)
                if not self.cudalint_watched:
                    return launch()
                return strings.log.launch(memory, self.kernel.module, launch, grid, block, args)

        class RawModule(raw_module):
            def __init__(self, *arguments, **others):
                code = others.get("code", arguments[0] if arguments else None)
                own = strings.watched(code)
                self.cudalint_watched = own is not None
                if own and "code" in others:
                    others["code"] = own
                elif own:
                    arguments = (own, *arguments[1:])
                super().__init__(*arguments, **others)

            def get_function(self, name):
                function = super().get_function(name)
                return Function(function) if self.cudalint_watched else function

        class Function:
            """A kernel of a module that is watched."""

            def __init__(self, function):
                self.__dict__["_function"] = function

            def __call__(self, grid, block, args, **others):
                launch = lambda: self._function(grid, block, args, **others)
                return strings.log.launch(memory, self._function.kernel.module, launch, grid, block, args)

            def __getattr__(self, name):
                return getattr(self._function, name)

            def __setattr__(self, name, value):
                setattr(self._function, name, value)

        cupy.RawKernel, cupy.RawModule = RawKernel, RawModule

    def watch_pycuda(self):
        from pycuda import compiler, driver

        strings, plain = self, compiler.SourceModule
        memory = PycudaDevice(driver)

        class SourceModule(plain):
            def __init__(self, source, *arguments, **others):
                # What PyCUDA puts around it must not stand around the header.
                linkage = not others.get("no_extern_c", arguments[3] if len(arguments) > 3 else False)
                own = strings.watched(source, *(('extern "C" {\n', "}\n") if linkage else ()))
                self.cudalint_watched = own is not None
                if own:
                    arguments, others["no_extern_c"] = arguments[:3], True
                super().__init__(own or source, *arguments, **others)

            def get_function(self, name):
                function = super().get_function(name)
                if self.cudalint_watched:
                    strings.functions[id(function)] = (function, self)
                return function

        SourceModule.__doc__ = plain.__doc__
        compiler.SourceModule = SourceModule

        def through(plain, shape):
            def call(function, *arguments, **others):
                launch = lambda: plain(function, *arguments, **others)
                _, module = strings.functions.get(id(function), (None, None))
                if module is None:
                    return launch()
                grid, block, given = shape(arguments, others)
                return strings.log.launch(memory, module, launch, grid, block, given)

            return call

        of_call = lambda arguments, others: (others.get("grid", (1, 1)), others.get("block", (1, 1, 1)), arguments)
        of_prepared = lambda arguments, others: (arguments[0], arguments[1], arguments[2:])
        driver.Function.__call__ = through(driver.Function.__call__, of_call)
        for name in ("prepared_call", "prepared_timed_call", "prepared_async_call"):
            setattr(driver.Function, name, through(getattr(driver.Function, name), of_prepared))


def leading(text):
    """Line breaks before the first word of a text."""
    return text[: len(text) - len(text.lstrip())].count("\n")


class CupyDevice:
    """What the log needs of CuPy."""

    def __init__(self):
        import cupy

        self.cupy = cupy

    def host_memory(self, size):
        # Mapped, and for every context: the device reaches it where the host does.
        pointer = self.cupy.cuda.runtime.hostAlloc(size, 3)
        return pointer, pointer

    def synchronize(self):
        self.cupy.cuda.runtime.deviceSynchronize()

    def write(self, module, name, data):
        source = ctypes.create_string_buffer(data, len(data))
        self.cupy.cuda.runtime.memcpy(module.get_global_var(NAMES[name]), ctypes.addressof(source), len(data), 1)

    def read(self, module, name, size):
        to = ctypes.create_string_buffer(size)
        self.cupy.cuda.runtime.memcpy(ctypes.addressof(to), module.get_global_var(NAMES[name]), size, 2)
        return to.raw

    def allocation(self, argument):
        """First byte and bytes of the allocation behind an argument."""
        memory = getattr(getattr(argument, "data", None), "mem", None)
        return (int(memory.ptr), int(memory.size)) if memory is not None and memory.size else None


class PycudaDevice:
    """What the log needs of PyCUDA."""

    def __init__(self, driver):
        self.driver = driver

    def host_memory(self, size):
        import numpy

        self.held = self.driver.pagelocked_empty(size, numpy.uint8, mem_flags=self.driver.host_alloc_flags.DEVICEMAP)
        return self.held.ctypes.data, int(self.held.base.get_device_pointer())

    def synchronize(self):
        self.driver.Context.synchronize()

    def write(self, module, name, data):
        self.driver.memcpy_htod(module.get_global(NAMES[name])[0], data)

    def read(self, module, name, size):
        to = bytearray(size)
        self.driver.memcpy_dtoh(to, module.get_global(NAMES[name])[0])
        return bytes(to)

    def allocation(self, argument):
        if hasattr(argument, "get_device_alloc"):
            argument = argument.get_device_alloc()
        pointer = getattr(argument, "gpudata", argument)
        named = type(pointer).__name__ in ("DeviceAllocation", "PooledDeviceAllocation")
        return tuple(map(int, self.driver.mem_get_address_range(int(pointer)))) if named else None


class Log:
    """What launches write down."""

    def __init__(self, folder, threads):
        self.path = os.path.join(folder, "watch.log")
        found = [[int(number) for number in word.split(",")] for word in threads.split(";") if word]
        self.threads = [thread for thread in found if len(thread) == 6][:FOCUS]
        self.records = None
        self.launches = self.lines = 0

    def write(self, lines):
        with open(self.path, "a", encoding="utf-8") as log:
            log.writelines(" ".join(str(word) for word in words) + "\n" for words in lines)

    def launch(self, device, module, launch, grid, block, arguments):
        """Launches a watched kernel, and writes down what it logged."""
        device.synchronize()
        size = (GENERAL_RECORDS + FOCUS_RECORDS) * RECORD.size
        if self.records is None:
            self.records, self.on_device = device.host_memory(size)
            ctypes.memset(self.records, 0, size)
        self.launches += 1
        axes = [number for thread in self.threads for number in thread[:3]] + [0] * (3 * (FOCUS - len(self.threads)))
        axes += [number for thread in self.threads for number in thread[3:]] + [0] * (3 * (FOCUS - len(self.threads)))
        control = CONTROL.pack(self.on_device, self.launches, len(self.threads), *axes)
        device.write(module, "control", control)
        device.write(module, "counts", bytes(16))
        allocations = sorted({found for found in map(device.allocation, arguments) if found})
        self.write([("allocation", f"{base:x}", bytes) for base, bytes in allocations])
        self.write([("launch", self.launches, *extents(grid), *extents(block))])
        result = launch()
        # After an error all places may hold records.
        seen, status = (GENERAL_RECORDS, FOCUS_RECORDS), 0
        problem = None
        try:
            device.synchronize()
            seen = struct.unpack("<2Q", device.read(module, "counts", 16))
        except Exception as error:
            problem, status = error, 1
        self.write_down(GENERAL_RECORDS, min(seen[1], FOCUS_RECORDS))
        self.write_down(0, min(seen[0], GENERAL_RECORDS))
        self.write([("end", self.launches, status, sum(seen))])
        self.write([("free", f"{base:x}") for base, _ in allocations])
        if problem is not None:
            raise problem
        return result

    def write_down(self, first, count):
        data = ctypes.string_at(self.records + first * RECORD.size, count * RECORD.size)
        lines = []
        for launch, site, kind, space, size, kernel, interval, warp, *rest in RECORD.iter_unpack(data):
            if launch == self.launches and self.lines < MOST_LINES:
                block, thread, (address, base, extent) = rest[:3], rest[3:6], rest[6:]
                where = (site, kind, space, f"{address:x}", size, f"{base:x}", extent)
                lines.append(("access", *where, *block, *thread, interval, warp, kernel, launch))
                self.lines += 1
        self.write(lines)
