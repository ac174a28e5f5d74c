"""Says what this Python is (`where`), or which GPU packages it has and whether they work (`packages ARCHITECTURE`).

Each line that counts begins with the word `cudalint` and goes on with JSON. A package is announced before it is imported,
so that one which ends the interpreter is known.
"""

import importlib.util
import json
import os
import platform
import sys


def say(**facts):
    print("\ncudalint " + json.dumps(facts), flush=True)


def where():
    import sysconfig

    folders = [folder for folder in sys.path if folder and os.path.isdir(os.path.join(folder, "nvidia"))]
    own = sys.prefix != sys.base_prefix or os.path.isdir(os.path.join(sys.prefix, "conda-meta"))
    managed = os.path.isfile(os.path.join(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED"))
    say(
        version=platform.python_version(),
        executable=sys.executable,
        folders=folders,
        own_packages=own,
        managed=managed and not own,
    )


def numpy(_):
    import numpy

    return numpy.__version__


def numba(architecture):
    import numba

    # One that is older than the packages of its own for CUDA has them inside.
    from numba import cuda, int32

    def write(cells, count):
        i = cuda.grid(1)
        if i < count:
            cells[i] = i

    # Needs no GPU, and fails where numba does not get along with its numpy, or finds no CUDA compiler.
    cuda.compile_ptx(write, (int32[::1], int32), cc=divmod(architecture, 10))
    return numba.__version__


def cupy(_):
    import cupy
    from cupy.cuda import nvrtc

    nvrtc.getVersion()
    return cupy.__version__


def pycuda(_):
    import pycuda
    import pycuda.compiler
    import pycuda.driver

    return pycuda.VERSION_TEXT


def cuda_python(_):
    from importlib import metadata

    try:
        from cuda.bindings import driver, nvrtc  # noqa: F401
    except ImportError:
        # Before 12.8.
        from cuda import cuda, nvrtc  # noqa: F401
    try:
        return metadata.version("cuda-python")
    except metadata.PackageNotFoundError:
        # Its parts can be had alone, and other packages bring them.
        return metadata.version("cuda-bindings")


def version_of(name):
    """The version that the package's files name, where importing it fails."""
    from importlib import metadata

    for distribution in metadata.packages_distributions().get(name, [name]):
        try:
            return metadata.version(distribution)
        except metadata.PackageNotFoundError:
            pass
    return "of unknown version"


def is_there(name):
    if name != "cuda-python":
        return importlib.util.find_spec(name) is not None
    # Other packages put modules into the folder `cuda`, too.
    return importlib.util.find_spec("cuda") is not None and any(
        importlib.util.find_spec(module) is not None for module in ("cuda.bindings", "cuda.cuda")
    )


def packages(architecture):
    checks = [("numpy", numpy), ("numba", numba), ("cupy", cupy), ("pycuda", pycuda), ("cuda-python", cuda_python)]
    for name, check in checks:
        try:
            if not is_there(name):
                say(name=name, version=None, problem=None)
                continue
            say(name=name, begins=True)
            say(name=name, version=check(architecture), problem=None)
        except BaseException as error:
            words = " ".join(str(error).split())
            problem = f"{type(error).__name__}: {words}" if words else type(error).__name__
            try:
                version = version_of(name)
            except Exception:
                version = "of unknown version"
            say(name=name, version=version, problem=problem[:300])
        if name == "numba":
            numba_cuda()


def numba_cuda():
    """numba's part for CUDA, which has versions of its own. An older numba has it inside."""
    from importlib import metadata

    try:
        say(name="numba-cuda", version=metadata.version("numba-cuda"), problem=None)
    except Exception:
        pass


if sys.argv[1] == "where":
    where()
else:
    packages(int(sys.argv[2]))
