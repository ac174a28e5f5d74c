"""Writes down the calls of NVIDIA's bindings that a script makes, and hands it failures where a plan says so.

The functions of `cuda.bindings` (before 12.8 of `cuda.cuda`, `cuda.cudart` and `cuda.nvrtc`) give a tuple that begins with a
status. Each call is really made; where it is to fail, only the status in its tuple is another one. The plan and the log
are those of the probe of CUDA C++ programs, in its variables of the environment:

- CUDALINT_PROBE_LOG      the file of the log; without it nothing is done
- CUDALINT_PROBE_SITES    the calls that fail, with their statuses: `call:17=2,call:19=1`
- CUDALINT_PROBE_SILENT   the failure is kept out of the runtime's last error
- CUDALINT_PROBE_CHECKED  the script is ended where a call fails

What packages call for a script is not its own, and is left alone.
"""
import functools
import importlib
import itertools
import json
import os
import re
import sys
import sysconfig
import threading
import time
import zlib

MODULES = ["cuda.bindings.driver", "cuda.bindings.runtime", "cuda.bindings.nvrtc", "cuda.cuda", "cuda.cudart", "cuda.nvrtc"]
FUNCTION = re.compile(r"(cu|cuda|nvrtc)[A-Z]\w+$")
# Functions that tell the words for a status.
WORDS = ("cudaGetErrorString", "cudaGetErrorName", "cuGetErrorString", "cuGetErrorName")
LAST_ERROR = ("cudaGetLastError", "cudaPeekAtLastError")
# Calls that are made until something has happened: how often says nothing.
POLLS = ("cudaEventQuery", "cudaStreamQuery", "cuEventQuery", "cuStreamQuery")
# Calls that are written down one by one.
TOLD = 20000
# How a checked script ends.
STOPPED = 86


def watch(script):
    """The calls of a script, from now on; none where nobody asks for them."""
    settings = {name: os.environ.pop(f"CUDALINT_PROBE_{name}", "") for name in ("LOG", "SITES", "SILENT", "CHECKED")}
    if not settings["LOG"]:
        return None
    calls = Calls(settings)
    for name in MODULES if script.imports("cuda") else []:
        try:
            calls.wrap(importlib.import_module(name))
        except ImportError:  # the script will meet it by itself, or do without it
            continue
    return calls


class Calls:
    """The log, and what is to fail."""

    def __init__(self, settings):
        self.log = os.open(settings["LOG"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self.silent, self.checked = bool(settings["SILENT"]), bool(settings["CHECKED"])
        sites = (word.partition(":")[2].split("=") for word in settings["SITES"].split(",") if word.startswith("call:"))
        self.sites = {int(number): int(code) for number, code in sites}
        # A failure that the runtime's last error holds.
        self.pending = 0
        self.lock, self.threads, self.sequence = threading.RLock(), {}, 0
        self.more, self.digest = 0, 0
        self.own = functools.lru_cache(maxsize=None)(is_own)
        self.write(event="begin", time=time.monotonic_ns())

    def wrap(self, module):
        for name, plain in list(vars(module).items()):
            if FUNCTION.match(name) and callable(plain) and not isinstance(plain, type) and not hasattr(plain, "cudalint_plain"):
                setattr(module, name, self.wrapped(plain, name))

    def wrapped(self, plain, name):
        @functools.wraps(plain)
        def call(*arguments, **others):
            frame = sys._getframe(1)
            result = plain(*arguments, **others)
            if not self.own(frame.f_code.co_filename):
                return result
            code = frame.f_code
            place = place_of(code, code.co_filename, frame.f_lasti, frame.f_lineno)
            with self.lock:
                return self.seen(name, place, arguments, result)

        call.cudalint_plain = plain
        return call

    def seen(self, name, place, arguments, result):
        """What the script is given of a call's result."""
        path, line, number = place
        told = {"function": name, "file": path, "line": line, "id": number}
        if name in WORDS and arguments and is_status(arguments[0]):
            self.tell("words", code=int(arguments[0]), **told)
            return result
        if not isinstance(result, tuple) or not result or not is_status(result[0]):
            return result
        real, aim = int(result[0]), self.sites.get(number)
        handed = real if aim is None else aim
        of_runtime = name.startswith("cuda")
        if aim is None and name in LAST_ERROR and real == 0:
            handed = self.pending
        if name == "cudaGetLastError":
            self.pending = 0
        if aim is not None and of_runtime and name not in LAST_ERROR and not self.silent:
            self.pending = aim
        self.tell("call", kind=1, real=real, handed=handed, **told)
        if aim is not None and self.checked and handed != 0:
            self.stop(name, path, line, handed)
        return result if handed == real else (type(result[0])(handed), *result[1:])

    def stop(self, name, path, line, code):
        """The checked twin: the script with the test that is missing."""
        self.write(event="stop", function=name, file=path, line=line, code=code)
        words = f"{path}:{line}: {name} failed with status {code}: stopped by cudalint's checked twin\n"
        sys.stdout.flush()
        sys.stderr.write(words)
        sys.stderr.flush()
        os._exit(STOPPED)

    def tell(self, event, **fact):
        if self.sequence >= TOLD:
            if fact["function"] not in POLLS:
                self.more += 1
                self.digest = zlib.crc32(f"{fact['function']} {fact['id']}".encode(), self.digest)
            return
        self.sequence += 1
        thread = self.threads.setdefault(threading.get_ident(), len(self.threads))
        self.write(event=event, sequence=self.sequence, thread=thread, **fact)

    def write(self, **fact):
        os.write(self.log, json.dumps(fact).encode() + b"\n")

    def end(self):
        """The script came to its end."""
        with self.lock:
            if self.more:
                self.write(event="more", count=self.more, digest=f"{self.digest:08x}")
            self.write(event="exit")


def is_status(value):
    """Whether a value is of one of the enumerations of statuses."""
    return isinstance(value, int) and type(value).__name__ in ("cudaError_t", "CUresult", "nvrtcResult")


def is_own(path):
    """Whether a file is of the user's program rather than of a package or of Python."""
    parts = path.replace("\\", "/").split("/")
    if path.startswith("<") or "site-packages" in parts or "dist-packages" in parts:
        return False
    library = os.path.join(sysconfig.get_path("stdlib"), "")
    return not os.path.abspath(path).startswith(library)


@functools.lru_cache(maxsize=None)
def place_of(code, path, instruction, line):
    """File, line and number of a call. Numbers of one file's calls are in the order of the text."""
    column = 0
    if hasattr(code, "co_positions"):
        position = next(itertools.islice(code.co_positions(), instruction // 2, None), None)
        if position and position[0]:
            line, column = position[0], position[2] or 0
    return path, line, zlib.crc32(path.encode("utf-8", "replace")) << 32 | (line & 0xFFFFF) << 12 | min(column, 4095)
