"""Tests of the driver that runs Python scripts, with stand-ins for numba, cupy and pycuda: python3 driver_test.py DRIVER.

What computes needs numpy, and is left out where there is none; what compiles needs numba-cuda, without a GPU.
"""
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
DRIVER = os.path.abspath(sys.argv.pop(1))
sys.path.insert(0, DRIVER)
import cudalint_compare
import cudalint_hooks
import cudalint_lines
import cudalint_signature
import cudalint_signs
import cudalint_watched

NUMPY = importlib.util.find_spec("numpy") is not None
NUMBA = importlib.util.find_spec("numba_cuda") is not None
CUPY = importlib.util.find_spec("cupyx") is not None


class Place(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def script(self, text):
        path = os.path.join(self.folder.name, "script.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(textwrap.dedent(text).lstrip("\n"))
        return path

    def run_driver(self, text, *options, fakes=True, files=(), ends=0):
        """What the script prints. `files` lie beside the driver."""
        path = self.script(text)
        paths = [os.path.join(HERE, "fakes")] * fakes + [os.environ.get("PYTHONPATH", "")]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1"}
        # The driver writes beside itself.
        own = os.path.join(self.folder.name, "driver")
        os.makedirs(own, exist_ok=True)
        for name in os.listdir(DRIVER):
            if name.endswith(".py"):
                with open(os.path.join(DRIVER, name), encoding="utf-8") as file:
                    code = file.read()
                with open(os.path.join(own, name), "w", encoding="utf-8") as file:
                    file.write(code)
        for name, content in files:
            with open(os.path.join(own, name), "w", encoding="utf-8") as file:
                file.write(content)
        command = [sys.executable, os.path.join(own, "cudalint_watched.py"), *options, path]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=self.folder.name)
        self.assertEqual(done.returncode, ends, done.stderr)
        return done.stdout

    def look(self, text, mark, threads="-", cover="-", block="-"):
        """Runs a script whose statement with the mark is looked at; the answer is what the driver wrote."""
        lines = textwrap.dedent(text).lstrip("\n").split("\n")
        number, line = next((index + 1, line) for index, line in enumerate(lines) if mark in line)
        seen = tempfile.mkdtemp(dir=self.folder.name)
        place = f"{number}:{line.index(mark) + 1}"
        self.run_driver(text, "--look", seen, f"{number}-{number}", place, threads, cover, block)

        def read(name):
            path = os.path.join(seen, name)
            if not os.path.exists(path):
                return ""
            with open(path, encoding="utf-8") as file:
                return file.read()

        return read

    def facts(self, text, mark, cover="-"):
        return [json.loads(line) for line in self.look(text, mark, cover=cover)("compare.log").splitlines()]


class Projects(Place):
    """Python programs that the commands of a project start."""

    OPS = """
    import cupy

    kernel = cupy.RawKernel("void scale(float* x) { x[threadIdx.x] *= 2; }", "scale")

    def scale(n):
        if n < 0:
            raise ValueError("n is below zero")
        kernel((1,), (32,), (cupy.arange(4),))

    def unused():
        return 1
    """
    TEST = """
    import cupy
    import ops

    cupy.KERNELS["scale"] = lambda *_: None
    ops.scale(1)
    try:
        ops.scale(-1)
    except ValueError:
        pass
    """

    def run_project(self, ops=OPS, test=TEST, beside="", **settings):
        for name, text in (("ops.py", ops), ("run.py", test)):
            with open(os.path.join(self.folder.name, name), "w", encoding="utf-8") as file:
                file.write(textwrap.dedent(text).lstrip("\n"))
        paths = [DRIVER, beside or os.path.join(HERE, "fakes")]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1"}
        environment.update(settings, CUDALINT_PROJECT=self.folder.name)
        command = [sys.executable, os.path.join(self.folder.name, "run.py")]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=self.folder.name)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def facts_of(self, prefix):
        found = []
        for name in os.listdir(self.folder.name):
            if name.startswith(prefix):
                with open(os.path.join(self.folder.name, name), encoding="utf-8") as file:
                    found += [json.loads(line) for line in file]
        return found

    @unittest.skipUnless(NUMPY, "the stand-in needs numpy")
    def test_lines_launches_and_exceptions_are_told(self):
        self.run_project(CUDALINT_REACHED=os.path.join(self.folder.name, "reached"))
        facts = self.facts_of("reached.")
        ops = os.path.join(self.folder.name, "ops.py")
        lines = {fact["reached"][1] for fact in facts if fact.get("reached", [""])[0] == ops}
        self.assertTrue({3, 6, 7, 8} <= lines and 11 not in lines, lines)
        self.assertIn({"launched": ["", "scale"]}, facts)
        self.assertEqual([fact for fact in facts if "raised" in fact], [{"raised": [ops, 7, "ValueError", "n is below zero"]}])

    @unittest.skipUnless(NUMPY, "the stand-in needs numpy")
    def test_statements_of_a_module_are_looked_at(self):
        ops = os.path.join(self.folder.name, "ops.py")
        seen = tempfile.mkdtemp(dir=self.folder.name)
        self.run_project(CUDALINT_LOOK=json.dumps(["--look", seen, "8-8", "8:5", "-", "-", "-", ops]))
        with open(os.path.join(seen, "compare.log"), encoding="utf-8") as file:
            facts = [json.loads(line) for line in file]
        self.assertEqual([fact["launched"] for fact in facts if "launched" in fact], [8])

    def test_a_module_without_packages_is_followed_and_others_customize_the_site_too(self):
        own = os.path.join(self.folder.name, "own")
        os.makedirs(own)
        with open(os.path.join(own, "sitecustomize.py"), "w", encoding="utf-8") as file:
            file.write("import sys\nsys.customized = True\n")
        test = "import ops\nimport sys\nops.scale()\nassert sys.customized\n"
        log = os.path.join(self.folder.name, "reached")
        self.run_project("def scale():\n    return 1\n", test, own, CUDALINT_REACHED=log)
        ops = os.path.join(self.folder.name, "ops.py")
        self.assertIn({"reached": [ops, 2]}, self.facts_of("reached."))


class Lines(Place):
    def with_lines(self, text, code):
        return cudalint_lines.with_lines(code, cudalint_watched.Script(self.script(text))).split("\n")

    def number_of(self, told, part):
        """The line that a compiler counts for the line of the code with some text."""
        number = 0
        for line in told:
            if line.startswith("#line "):
                number = int(line.split()[1]) - 1
                continue
            number += 1
            if part in line:
                return number
        raise AssertionError(told)

    def test_code_that_stands_there_as_it_is(self):
        text = "import cupy\n\nK = cupy.RawKernel(r'''extern \"C\" __global__ void k(int *p)\n{ p[0] = 1; }''', 'k')\n"
        told = self.with_lines(text, "extern \"C\" __global__ void k(int *p)\n{ p[0] = 1; }")
        self.assertEqual(self.number_of(told, "void k"), 3)
        self.assertEqual(self.number_of(told, "p[0]"), 4)

    def test_a_template_with_values_put_in(self):
        text = 'N = 4\ncode = f"""\n__global__ void k(int *p) {{\n    int n = {N};\n    p[n] = 1;\n}}\n"""\n'
        told = self.with_lines(text, "\n__global__ void k(int *p) {\n    int n = 4;\n    p[n] = 1;\n}\n")
        self.assertEqual(self.number_of(told, "void k"), 3)
        self.assertEqual(self.number_of(told, "p[n] = 1"), 5)

    def test_pieces_with_escapes(self):
        text = 'code = ("__global__ void k(int *p) {\\n"\n        "    p[1] = 1;\\n"\n        "}\\n")\n'
        told = self.with_lines(text, "__global__ void k(int *p) {\n    p[1] = 1;\n}\n")
        self.assertEqual(self.number_of(told, "p[1] = 1"), 2)

    def test_code_from_elsewhere_stays_as_it_is(self):
        code = "__global__ void k(int *p) { p[0] = 1; }"
        self.assertEqual(self.with_lines("import cupy\n", code), [code])

    def test_no_directive_within_a_continued_line(self):
        text = 'A = """#define F(x) \\\\\n  x + {}\n"""\n\nB = """  F(1);\n"""\n'
        told = self.with_lines(text, "#define F(x) \\\n  x + 3\n  F(1);\n")
        self.assertFalse(told[told.index("#define F(x) \\") + 1].startswith("#line"), told)


class Watched(Place):
    @unittest.skipUnless(NUMPY, "no numpy")
    def test_kernels_get_lines_and_arrays_memory_of_their_own(self):
        said = self.run_driver(
            """
            import cupy
            from numba import cuda

            @cuda.jit
            def kernel(a):
                pass

            @cuda.jit(debug=True)
            def other(a):
                pass

            raw = cupy.RawKernel('__global__ void k() {}', 'k')
            module = cupy.RawModule(code='__global__ void k() {}', options=('-G',))
            print(kernel.targetoptions, other.targetoptions, raw.options, module.options)
            print(raw.code.split()[:2], isinstance(raw, cupy.RawKernel), cupy.ALLOCATORS)
            """
        )
        self.assertEqual(said.splitlines()[0], "{'lineinfo': True} {'debug': True} ('-lineinfo',) ('-G',)")
        self.assertEqual(said.splitlines()[1], "['__global__', 'void'] True [None, None]")

    @unittest.skipUnless(NUMBA, "no numba-cuda")
    def test_the_kernel_of_a_ufunc_has_the_lines_of_its_function(self):
        path = self.script("def half(x, y):\n    z = x * y\n    z = z + x\n    z = z - y\n    return z / (x + 3)\n")
        compiled = f"""
import sys, types
from numba import cuda, float32
from numba.cuda import dispatcher, vectorizers
dispatcher.get_current_device = lambda: types.SimpleNamespace(compute_capability=(9, 0))
sys.path.insert(0, {DRIVER!r})
import cudalint_lines, cudalint_watched
script = cudalint_watched.Script({path!r})
cudalint_lines.watch_numba(script)
made = types.ModuleType("made")
exec(compile(script.source, script.path, "exec"), made.__dict__)
ufunc = vectorizers.CUDAVectorize(made.half)
ufunc.add(float32(float32, float32))
(_, kernel), = ufunc.kernelmap.values()
lines = float32[:]
text, _ = cuda.compile(kernel.py_func, (lines, lines, lines), device=False, cc=(9, 0), abi="numba", lineinfo=True)
files = [line.split()[2].strip('"') for line in text.split("\\n") if line.strip().startswith(".file")]
rows = {{int(line.split()[2]) for line in text.split("\\n") if line.strip().startswith(".loc")}} - {{0}}
print(files == [{path!r}], sorted(rows - {{1, 2}}), kernel.py_func.__name__, kernel.targetoptions["lineinfo"])
"""
        done = subprocess.run([sys.executable, "-c", compiled], capture_output=True, text=True)
        self.assertEqual(done.stdout.strip(), "True [3, 4, 5] __vectorized_half True", done.stderr)

    def test_warnings_are_kept_apart(self):
        said = self.run_driver("import warnings\nwarnings.warn('low occupancy')\nprint(__name__, __file__)\n")
        self.assertEqual(said.split()[0], "__main__")
        with open(os.path.join(self.folder.name, "driver", "warnings.log"), encoding="utf-8") as file:
            self.assertIn("low occupancy", file.read())


class Accesses(Place):
    KERNEL = """
    import numpy
    from numba import cuda

    @cuda.jit
    def kernel(a, d, n):
        i = cuda.grid(1)
        if i < n:
            d[i] = a[i] - a[i - 1]  # here
        cuda.syncthreads()
        cuda.atomic.add(d, 0, 1)  # then

    a = numpy.arange(8.0)
    d = cuda.to_device(numpy.zeros(8))
    kernel[2, 4](a, d, 6)
    """

    @unittest.skipUnless(NUMPY, "no numpy")
    def test_indices_below_zero_are_told(self):
        read = self.look(self.KERNEL, "a[i - 1]")
        negative = [json.loads(line) for line in read("negative.log").splitlines()]
        self.assertEqual(len(negative), 1)
        self.assertEqual((negative[0]["indices"], negative[0]["shape"]), ([-1], [8]))
        self.assertEqual((negative[0]["block"], negative[0]["thread"]), ([0, 0, 0], [0, 0, 0]))
        sites = json.loads(read("sites.json"))
        self.assertEqual(sites["sites"][negative[0]["site"]]["text"], "a[i - 1]")

    @unittest.skipUnless(NUMPY, "no numpy")
    def test_accesses_are_logged_in_the_form_of_watchpoints(self):
        read = self.look(self.KERNEL, "d[i]", "0,0,0,3,0,0")
        log = [line.split() for line in read("watch.log").splitlines()]
        self.assertEqual(log[0], ["launch", "1", "2", "1", "1", "4", "1", "1"])
        self.assertEqual(log[-1][:3], ["end", "1", "0"])
        accesses = [line for line in log if line[0] == "access"]
        # Six threads write once and read twice; the thread that was asked for comes first.
        self.assertEqual(len(accesses), 18)
        self.assertTrue(all(line[8:14] == ["0", "0", "0", "3", "0", "0"] for line in accesses[:3]), accesses[:3])
        site = {index: each for index, each in enumerate(json.loads(read("sites.json"))["sites"])}
        write = next(line for line in accesses[:3] if site[int(line[1])]["text"] == "d[i]")
        _, _, kind, memory, address, size, base, extent = write[:8]
        self.assertEqual((kind, memory, size, extent), ("2", "0", "8", "64"))
        self.assertEqual(int(address, 16) - int(base, 16), 24)

    @unittest.skipUnless(NUMPY, "no numpy")
    def test_barriers_and_atomics_are_followed(self):
        read = self.look(self.KERNEL, "cuda.atomic.add(d, 0, 1)")
        accesses = [line.split() for line in read("watch.log").splitlines() if line.startswith("access")]
        self.assertEqual(len(accesses), 8)
        # Atomic, behind the first barrier.
        self.assertTrue(all(line[2] == "4" and line[14] == "1" for line in accesses), accesses)

    LOCAL = """
    import numpy
    from numba import cuda

    @cuda.jit
    def running(to):
        sums = cuda.local.array(4, numpy.int32)
        for k in range(5):
            sums[k] = k  # here
        to[cuda.threadIdx.x] = sums[0]

    to = cuda.to_device(numpy.zeros(2))
    running[1, 2](to)
    """

    @unittest.skipUnless(NUMPY, "no numpy")
    def test_a_thread_s_own_array_is_followed_beyond_its_end(self):
        log = [line.split() for line in self.look(self.LOCAL, "sums[k]")("watch.log").splitlines()]
        accesses = [line for line in log if line[0] == "access"]
        self.assertEqual(len(accesses), 10)
        leaves = [line for line in accesses if int(line[4], 16) >= int(line[6], 16) + int(line[7])]
        self.assertEqual([line[11:14] for line in leaves], [["0", "0", "0"], ["1", "0", "0"]])
        self.assertTrue(all(line[2:4] == ["2", "2"] for line in accesses), accesses)
        # Two threads have two arrays.
        self.assertEqual(len({line[6] for line in accesses}), 2)

    SHARED = """
    import numpy
    from numba import cuda

    WIDTH = 4

    @cuda.jit
    def total(values, to):
        part = cuda.shared.array(WIDTH, numpy.float32)
        other = cuda.shared.array(4, numpy.float32)
        t = cuda.threadIdx.x
        if t < 2:
            part[t] = values[t]
        other[t] = part.shape[0] + len(part)
        cuda.syncthreads()
        to[t] = part[t] + other[t]  # here

    to = cuda.to_device(numpy.zeros(4))
    total[2, 4](cuda.to_device(numpy.ones(4)), to)
    """

    @unittest.skipUnless(NUMPY, "no numpy")
    def test_all_accesses_of_a_block_to_one_shared_array(self):
        read = self.look(self.SHARED, "part[t] + other[t]", block="1,0,0")
        log = [line.split() for line in read("watch.log").splitlines()]
        accesses = [line for line in log if line[0] == "access"]
        # Kind, place, thread and interval: two writes before the barrier, four reads behind it.
        told = sorted((line[2], int(line[4], 16) - int(line[6], 16), line[11], line[14]) for line in accesses)
        reads = [("1", 8 * t, str(t), "1") for t in range(4)]
        self.assertEqual(told, [*reads, ("2", 0, "0", "0"), ("2", 8, "1", "0")])
        self.assertTrue(all(line[8:11] == ["1", "0", "0"] and line[3] == "1" for line in accesses), accesses)
        self.assertEqual(log[-1], ["end", "1", "0", "6"])
        self.assertEqual({site["array"] for site in json.loads(read("sites.json"))["sites"]}, {"part"})

    @unittest.skipUnless(NUMPY, "no numpy")
    def test_an_element_that_is_reached_from_an_unknown_end_is_not_known(self):
        text = self.SHARED.replace("part[t] = values[t]", "part[t - 4] = values[t]")
        log = self.look(text, "part[t] + other[t]", block="0,0,0")("watch.log").splitlines()
        self.assertEqual(log[-1], "end 1 0 7")

    @unittest.skipUnless(NUMPY, "no numpy")
    def test_an_array_that_is_handed_on_is_not_followed(self):
        for text in ("fill(part)", "row = part[:2]", "part[t][0] = 1", "part[0].x = 1", "part = other", "part[t, 0] = 1"):
            script = self.SHARED.replace("if t < 2:", f"if t > 9:\n            {text}\n        if t < 2:")
            log = self.look(script, "part[t] + other[t]", block="0,0,0")("watch.log").split("\n")
            self.assertTrue(log[0].startswith("off `part` is "), (text, log))
        script = self.SHARED.replace("array(WIDTH", "array(numpy.int32(4)")
        log = self.look(script, "part[t] + other[t]", block="0,0,0")("watch.log")
        self.assertTrue(log.startswith("off how many axes `part` has is not known"), log)

    def test_what_is_not_followed_is_told(self):
        import ast

        source = "def k(a):\n    if cuda.syncthreads_or(a[0]):\n        a[1] = 1\n"
        self.assertEqual(cudalint_signs.unfollowed(ast.parse(source).body[0], {}), "a barrier within an expression")
        source = "def k(a):\n    cuda.threadfence()\n"
        self.assertEqual(cudalint_signs.unfollowed(ast.parse(source).body[0], {}), "threadfence")
        source = "def k(a):\n    cuda.syncthreads()\n    a[0] = 1\n"
        self.assertIsNone(cudalint_signs.unfollowed(ast.parse(source).body[0], {}))


class Compare(Place):
    def test_parameters_are_read(self):
        code = """
        // void k(int)
        template <typename T, int N>
        __global__ void k(const T* __restrict__ x, float a = 1, unsigned int n, size_t m, float4 *v, char const *names[]) { k<T>(x); }
        """
        found = cudalint_signature.signature(code, "k<double, 3>")
        kinds = [(parameter.dtype, parameter.pointer) for parameter in found]
        self.assertEqual(
            kinds,
            [("float64", True), ("float32", False), ("uint32", False), ("uint64", False), (None, True), ("int8", True)],
        )
        self.assertIsNone(cudalint_signature.signature("__device__ void f(int a) {}", "f"))

    RAW = """
    import cupy, numpy

    def axpy(x, y, a, n):
        # As the device does: the first four bytes of what is handed over are the parameter.
        a = numpy.frombuffer(a[:4], numpy.float32)[0]
        x, y = x.view(numpy.uint8).view(numpy.float32), y.view(numpy.uint8).view(numpy.float32)
        for i in range(4):
            y[i] += a * x[i]

    cupy.KERNELS["axpy"] = axpy
    kernel = cupy.RawKernel('extern "C" __global__ void axpy(const float *x, float *y, float a, int n) {}', 'axpy')
    x, y = cupy.arange(8, cupy.float32), cupy.arange(8, cupy.float32)
    wide = cupy.arange(8)
    square = cupy.array(numpy.arange(16, dtype=numpy.float32).reshape(4, 4))
    """

    def of_launch(self, launch, mark):
        return self.facts(self.RAW + launch + "\n", mark)

    @unittest.skipUnless(NUMPY, "no numpy")
    def test_a_number_of_another_type_leaves_other_memory(self):
        facts = self.of_launch("kernel((1,), (4,), (x, y, 0.5, cupy.int32(8)))", "0.5")
        fact = next(fact for fact in facts if "differs" in fact)
        self.assertTrue(fact["differs"], facts)
        self.assertIn("argument 3 of `axpy` is 0.5, which is handed over as float64 (`float a`)", fact["text"])

    @unittest.skipUnless(NUMPY, "no numpy")
    def test_an_integer_that_is_too_wide_does_not(self):
        facts = self.of_launch("kernel((1,), (4,), (x, y, cupy.float32(0.5), 8))", "8))")
        self.assertEqual([fact["differs"] for fact in facts if "differs" in fact], [False], facts)

    @unittest.skipUnless(NUMPY, "no numpy")
    def test_only_the_argument_at_the_place_matters(self):
        facts = self.of_launch("kernel((1,), (4,), (x, y, 0.5, cupy.int32(8)))", "cupy.int32(8)")
        self.assertEqual([fact["differs"] for fact in facts if "differs" in fact], [False], facts)

    @unittest.skipUnless(NUMPY, "no numpy")
    def test_elements_of_another_type_and_out_of_order(self):
        facts = self.of_launch("kernel((1,), (4,), (wide, y, cupy.float32(1), cupy.int32(8)))", "kernel((")
        self.assertTrue(any(fact.get("differs") and "array of int64" in fact["text"] for fact in facts), facts)
        facts = self.of_launch("kernel((1,), (4,), (square.T, y, cupy.float32(1), cupy.int32(8)))", "square.T, y")
        self.assertTrue(any(fact.get("differs") and "in a row" in fact["text"] for fact in facts), facts)

    @unittest.skipUnless(NUMPY, "no numpy")
    def test_the_script_computes_the_same_as_ever(self):
        launch = "kernel((1,), (4,), (x, y, cupy.float32(1), cupy.int32(8))); print(y.get().tolist()[:4])"
        seen = os.path.join(self.folder.name, "seen")
        os.makedirs(seen)
        text = self.RAW + launch + "\n"
        number = next(i + 1 for i, line in enumerate(textwrap.dedent(text).lstrip("\n").split("\n")) if launch in line)
        self.assertEqual(self.run_driver(text, "--look", seen, f"{number}-{number}", "-", "-", "-", "-").strip(), "[0.0, 2.0, 4.0, 6.0]")

    HALF = """
    import numpy
    from numba import cuda

    GAIN = 0.5

    @cuda.jit
    def half(a):
        i = cuda.grid(1)
        a[i] *= GAIN

    def run():
        host = numpy.ones(8)
        device = cuda.to_device(host)
        half[2, 4](device)
        back = device.copy_to_host()
        return host.sum(), back.sum()

    run()
    GAIN = 3.0
    half[2, 4](cuda.to_device(numpy.ones(8)))
    """

    @unittest.skipUnless(NUMPY, "no numpy")
    def test_a_host_array_that_stays_behind_its_copy(self):
        facts = self.facts(self.HALF, "return host.sum()")
        fact = next(fact for fact in facts if "differs" in fact)
        self.assertTrue(fact["differs"])
        self.assertIn("element [0] is 1.0 on the host and 0.5 on the device (8 of 8 elements differ)", fact["text"])
        # Nothing has happened on the device before the launch.
        facts = self.facts(self.HALF, "device = cuda.to_device(host)")
        self.assertEqual(facts, [{"reached": 13, "kernels": []}])

    @unittest.skipUnless(NUMPY, "no numpy")
    def test_a_variable_that_a_kernel_has_taken_in(self):
        facts = self.facts(self.HALF, "GAIN = 3.0")
        fact = next(fact for fact in facts if "differs" in fact)
        self.assertTrue(fact["differs"])
        self.assertEqual(fact["kernel"], "half")
        self.assertIn("it leaves 0.5 in a[0], and 3.0 when it is compiled anew", fact["text"])

    @unittest.skipUnless(NUMPY, "no numpy")
    def test_a_variable_that_changes_before_the_first_launch(self):
        facts = self.facts(self.HALF, "GAIN = 0.5")
        self.assertEqual([fact["differs"] for fact in facts if "differs" in fact][:1], [False], facts)
        self.assertIn("is compiled after `GAIN` has changed", next(fact["text"] for fact in facts if "text" in fact))

    def test_hooks_in_a_method_of_a_class_are_found(self):
        path = self.script("class Test:\n    def test(self):\n        x = 1\n        return x\n")
        import ast
        import builtins

        script = cudalint_watched.Script(path)
        tree = ast.fix_missing_locations(ast.Module(cudalint_hooks.hooked(script.tree().body, [(3, 3)]), []))
        setattr(builtins, cudalint_hooks.HOOK, cudalint_compare.Looker(self.folder.name, None))
        self.addCleanup(delattr, builtins, cudalint_hooks.HOOK)
        made = {}
        exec(compile(tree, path, "exec"), made)
        self.assertEqual(made["Test"]().test(), 1)

    def test_hooks_leave_lines_where_they_are(self):
        path = self.script("def f():\n    if True:\n        raise ValueError('x')\n    return 1\n\nf()\n")
        import ast

        script = cudalint_watched.Script(path)
        tree = ast.fix_missing_locations(ast.Module(cudalint_hooks.hooked(script.tree().body, [(3, 3), (6, 6)]), []))
        looker = cudalint_compare.Looker(self.folder.name, None)
        import builtins

        setattr(builtins, cudalint_hooks.HOOK, looker)
        try:
            exec(compile(tree, path, "exec"), {})
        except ValueError as problem:
            trace = problem.__traceback__.tb_next
            lines = []
            while trace:
                lines.append(trace.tb_lineno)
                trace = trace.tb_next
            self.assertEqual(lines, [6, 3])
        else:
            self.fail("nothing was raised")


class Hooks(Place):
    KERNEL = """
    import numpy
    from numba import cuda

    def maker(gain):
        @cuda.jit
        def kernel(a):
            i = cuda.grid(1)
            if i < a.size:
                a[i] *= gain  # here
        return kernel

    host = numpy.ones(6)
    device = cuda.to_device(host)
    maker(3)[1, 4](device)  # launch
    print(device.copy_to_host().tolist())
    """

    @unittest.skipUnless(NUMPY, "no numpy")
    def test_a_kernel_is_compiled_without_the_hooks_in_it(self):
        # The stand-in refuses a kernel that holds a hook, as numba does.
        seen = tempfile.mkdtemp(dir=self.folder.name)
        said = self.run_driver(self.KERNEL, "--look", seen, "8-9,14-14", "-", "-", "-", "-")
        self.assertEqual(said.strip(), "[3.0, 3.0, 3.0, 3.0, 1.0, 1.0]")

    @unittest.skipUnless(NUMBA, "no numba-cuda")
    def test_numba_compiles_a_kernel_with_hooks_in_it(self):
        text = """
        from numba import cuda, float32

        @cuda.jit(device=True)
        def twice(x):
            return 2 * x

        @cuda.jit
        def kernel(a):
            i = cuda.grid(1)
            if i < a.size:
                a[i] = twice(a[i])

        text, _ = cuda.compile_ptx(kernel.py_func, (float32[:],), cc=(9, 0), device=False)
        print(".entry" in text)
        """
        seen = tempfile.mkdtemp(dir=self.folder.name)
        # The stand-in for a device says which architecture device functions are for.
        device = "from numba.cuda import dispatcher\nclass D: compute_capability = (9, 0)\n"
        text = device + "dispatcher.get_current_device = lambda: D\n" + textwrap.dedent(text)
        said = self.run_driver(text, "--look", seen, "5-18", "-", "-", "-", "-", fakes=False)
        self.assertEqual(said.strip(), "True")

    @unittest.skipUnless(NUMBA, "no numba-cuda")
    def test_two_arrays_in_dynamic_shared_memory_are_a_pair(self):
        text = """
        from numba import cuda, float32, int64

        @cuda.jit
        def both(a):
            first = cuda.shared.array(0, float32)
            if a.size:
                second = cuda.shared.array(shape=0, dtype=float32)
                second[0] = first[0]
        """
        path = self.script(text)
        seen = tempfile.mkdtemp(dir=self.folder.name)
        compiled = f"""
import sys, types
from numba import cuda, float32, int64
from numba.cuda import dispatcher
dispatcher.get_current_device = lambda: types.SimpleNamespace(compute_capability=(9, 0))
sys.path.insert(0, {DRIVER!r})
import cudalint_accesses, cudalint_watched
script = cudalint_watched.Script({path!r})
watcher = cudalint_accesses.Watcher(script, {seen!r}, [(7, 7)], "")
made = types.ModuleType("made")
exec(compile(script.source, script.path, "exec"), made.__dict__)
copy = watcher.copy_of(made.both)
text, _ = cuda.compile(copy.dispatcher.py_func, (float32[::1], int64[::1]), device=False, cc=(9, 0), abi="numba")
print(text.count(".extern .shared"), watcher.sites[0]["arrays"])
"""
        done = subprocess.run([sys.executable, "-c", compiled], capture_output=True, text=True)
        self.assertEqual(done.stdout.strip(), "2 ['first', 'second']", done.stderr)

    def test_a_function_is_as_it_was(self):
        path = self.script("def f(x):\n    y = x\n    return [x for _ in range(2)] + [y]\n")
        script = cudalint_watched.Script(path)
        import ast

        tree = ast.fix_missing_locations(ast.Module(cudalint_hooks.hooked(script.tree().body, [(2, 3)]), []))
        made = {}
        exec(compile(tree, path, "exec"), made)
        self.assertIn(cudalint_hooks.HOOK, made["f"].__code__.co_names)
        cudalint_hooks.AsWritten(script).restore(made["f"])
        self.assertNotIn(cudalint_hooks.HOOK, made["f"].__code__.co_names)
        self.assertEqual(made["f"](1), [1, 1, 1])


class Cover(Place):
    def compared(self, text, mark, cover):
        facts = self.facts(text, mark, cover)
        return next(fact for fact in facts if fact.get("kind") == "cover"), facts

    @unittest.skipUnless(NUMPY, "no numpy")
    def test_a_numba_grid_with_too_few_threads(self):
        fact, facts = self.compared(Hooks.KERNEL.replace("maker(3)", "k = maker(3); k"), "# launch", "4:6")
        self.assertTrue(fact["differs"], facts)
        self.assertIn("with 4 threads leaves 2 elements of `a`, the first of them element 4, as they were", fact["text"])
        self.assertIn("with 2 blocks instead of 1", fact["text"])
        launch = next(fact for fact in facts if "launched" in fact)
        self.assertEqual((launch["kernel"], launch["grid"], launch["block"]), ("kernel", [1, 1, 1], [4, 1, 1]))
        self.assertEqual(launch["arguments"], ["float64[6]"])

    @unittest.skipUnless(NUMPY, "no numpy")
    def test_a_grid_that_takes_all_elements(self):
        text = Hooks.KERNEL.replace("[1, 4]", "[2, 4]")
        fact, facts = self.compared(text, "# launch", "8:6")
        self.assertFalse(fact["differs"], facts)
        # What the kernel does to all elements in a loop has no part that more blocks would add.
        text = text.replace("if i < a.size:", "for i in range(i, a.size, 4):").replace("[2, 4]", "[1, 4]")
        fact, facts = self.compared(text, "# launch", "4:6")
        self.assertFalse(fact["differs"], facts)

    CUPY = """
    import cupy, numpy

    def twice(x, n):
        blocks, threads = cupy.LAUNCH
        for i in range(blocks * threads):
            if i < 6:
                x.view(numpy.float32)[i] *= 2

    cupy.KERNELS["twice"] = twice
    kernel = cupy.RawKernel('extern "C" __global__ void twice(float *x, int n) {}', 'twice')
    x = cupy.array(numpy.ones(6, numpy.float32))
    kernel((1,), (4,), (x, cupy.int32(6)))  # launch
    print(x.get().tolist())
    """

    @unittest.skipUnless(NUMPY, "no numpy")
    def test_a_raw_kernel_s_grid(self):
        fact, facts = self.compared(self.CUPY, "# launch", "4:6")
        self.assertTrue(fact["differs"], facts)
        self.assertIn("leaves 2 elements of argument 1, the first of them element 4", fact["text"])
        fact, facts = self.compared(self.CUPY.replace("((1,)", "((2,)"), "# launch", "8:6")
        self.assertFalse(fact["differs"], facts)

    @unittest.skipUnless(NUMPY, "no numpy")
    def test_the_script_s_own_launch_is_the_last(self):
        seen = tempfile.mkdtemp(dir=self.folder.name)
        number = next(i for i, line in enumerate(self.CUPY.lstrip("\n").split("\n"), 1) if "# launch" in line)
        said = self.run_driver(self.CUPY, "--look", seen, f"{number}-{number}", "-", "-", "4:6", "-")
        self.assertEqual(said.strip(), "[2.0, 2.0, 2.0, 2.0, 1.0, 1.0]")

    @unittest.skipUnless(NUMPY, "no numpy")
    def test_other_kernels_are_named(self):
        text = "import cupy\nkernel = cupy.ElementwiseKernel()\nkernel(1)  # launch\n"
        facts = self.facts(text, "# launch", "4:6")
        self.assertEqual([fact["kernels"] for fact in facts if "kernels" in fact], [["ElementwiseKernel"]])


class Strings(Place):
    TEXT = '''
    import cupy, ctypes, numpy, struct

    CODE = r"""
    extern "C" __global__ void k(int *p) {
        p[0] = threadIdx.x;
    }
    """

    def k(p):
        # Two threads write down what the device would.
        module = kernel.kernel.module
        control = ctypes.string_at(module.get_global_var("_ZN14cudalint_watch7controlE"), 208)
        records, launch, focused = struct.unpack_from("<QII", control)
        for thread in range(2):
            place = p.ctypes.data
            record = struct.pack("<8I3I3I3Q", launch, 0, 2, 0, 4, 1, 0, 0, 0, 0, 0, thread, 0, 0, place, place, 0)
            ctypes.memmove(records + 80 * thread, record, 80)
        ctypes.memmove(module.get_global_var("_ZN14cudalint_watch6countsE"), struct.pack("<2Q", 2, 0), 16)

    cupy.KERNELS["k"] = k
    kernel = cupy.RawKernel(CODE, "k")
    x = cupy.array(numpy.zeros(4, numpy.int32))
    kernel((1,), (2,), (x,))  # launch
    print(kernel.code)
    print(x.data.mem.ptr)
    '''

    def seen_of(self, text):
        text = textwrap.dedent(text).lstrip("\n")
        original = text.split('r"""')[1].split('"""')[0]
        watched = original.replace("p[0] =", "cudalint_touch(0, 2, p[0], p) =")
        programs = {"programs": [{"original": original, "watched": watched, "line": 3}]}
        files = [("cudalint_strings.json", json.dumps(programs)), ("cudalint_watch.cuh", "// the header\n#define H 1\n")]
        seen = tempfile.mkdtemp(dir=self.folder.name)
        said = self.run_driver(text, "--look", seen, "5-5", "-", "0,0,0,1,0,0", "-", "-", files=files)
        path = os.path.join(seen, "watch.log")
        if not os.path.exists(path):
            return said, []
        with open(path, encoding="utf-8") as log:
            return said, [line.split() for line in log]

    @unittest.skipUnless(NUMPY, "no numpy")
    def test_a_program_in_a_string_is_watched(self):
        said, log = self.seen_of(self.TEXT)
        code = said.split("\n")
        self.assertEqual(code[0], "// the header")
        # The program keeps its lines: the string begins on the third, its first word stands on the fourth.
        at = next(i for i, line in enumerate(code) if line.startswith("#line"))
        self.assertTrue(code[at].startswith("#line 4 "), code[at])
        self.assertTrue(code[at + 2].strip().startswith("cudalint_touch(0, 2, p[0], p) = threadIdx.x"), code)
        pointer = f"{int(said.split()[-1]):x}"
        self.assertEqual([line[0] for line in log], ["allocation", "launch", "access", "access", "end", "free"])
        self.assertEqual(log[0], ["allocation", pointer, "16"])
        self.assertEqual(log[1], ["launch", "1", "1", "1", "1", "2", "1", "1"])
        self.assertEqual(log[3], ["access", "0", "2", "0", pointer, "4", pointer, "0", *"000100", "0", "0", "1", "1"])
        self.assertEqual(log[4], ["end", "1", "0", "2"])

    @unittest.skipUnless(NUMPY, "no numpy")
    def test_a_string_that_is_put_together_is_left_as_it_is(self):
        text = self.TEXT.replace('cupy.RawKernel(CODE, "k")', 'cupy.RawKernel(CODE.replace("0", "1"), "k")')
        said, log = self.seen_of(text.replace("        module = kernel", "        return\n        module = kernel"))
        self.assertEqual(log, [])
        self.assertNotIn("cudalint_touch", said)

    @unittest.skipUnless(NUMPY, "no numpy")
    def test_a_program_for_pycuda_is_watched(self):
        text = '''
        import ctypes, numpy, struct
        import pycuda.driver as drv
        from pycuda.compiler import SourceModule

        module = SourceModule("""
        __global__ void k(int *p) {
            p[0] = threadIdx.x;
        }
        """)

        def k(p):
            control = ctypes.string_at(module.get_global("_ZN14cudalint_watch7controlE")[0], 208)
            records, launch, focused = struct.unpack_from("<QII", control)
            place = p.ctypes.data
            record = struct.pack("<8I3I3I3Q", launch, 0, 2, 0, 4, 1, 0, 0, 0, 0, 0, 1, 0, 0, place, place, 0)
            ctypes.memmove(records, record, 80)
            ctypes.memmove(module.get_global("_ZN14cudalint_watch6countsE")[0], struct.pack("<2Q", 1, 0), 16)

        drv.KERNELS["k"] = k
        p = drv.mem_alloc(16)
        kernel = module.get_function("k")
        kernel(p, block=(2, 1, 1))  # launch
        kernel.prepare("P").prepared_call((1, 1), (2, 1, 1), p)
        print(module.no_extern_c)
        print(module.source)
        '''
        text = textwrap.dedent(text).lstrip("\n")
        original = text.split('"""')[1]
        watched = original.replace("p[0] =", "cudalint_touch(0, 2, p[0], p) =")
        programs = {"programs": [{"original": original, "watched": watched, "line": 5}]}
        files = [("cudalint_strings.json", json.dumps(programs)), ("cudalint_watch.cuh", "// the header\n")]
        seen = tempfile.mkdtemp(dir=self.folder.name)
        said = self.run_driver(text, "--look", seen, "7-7", "-", "-", "-", "-", files=files).split("\n")
        # What PyCUDA would put around everything stands around the program alone.
        self.assertEqual(said[:4], ["True", "// the header", "", 'extern "C" {'])
        self.assertTrue(said[4].startswith("#line 6 "), said)
        self.assertIn("cudalint_touch(0, 2, p[0], p) = threadIdx.x", said[6])
        with open(os.path.join(seen, "watch.log"), encoding="utf-8") as log:
            words = [line.split() for line in log]
        self.assertEqual([line[0] for line in words], ["allocation", "launch", "access", "end", "free"] * 2)
        self.assertEqual([words[1][1], words[6][1]], ["1", "2"])
        self.assertEqual(words[0][2], "16")


class Jit(Place):
    KERNEL = """
    import cupy
    from cupyx import jit

    @jit.rawkernel(device=True)
    def first(x):
        return x[0]  # device

    @jit.rawkernel()
    def kernel(x, table, n):
        i = jit.grid(1)
        part = jit.shared_memory(cupy.float32, 64)
        part[jit.threadIdx.x] = x[i] + first(x)  # write
        jit.syncthreads()
        if i < n:
            x[i] += part[0] + x.shape[0]  # update
            jit.atomic_add(x, i, table[i, 1])  # atomic
    """

    @unittest.skipUnless(CUPY, "no CuPy")
    def test_accesses_on_the_lines_are_logged_in_what_cupy_writes(self):
        path = self.script(self.KERNEL)
        marks = ("# device", "# write", "# update", "# atomic")
        written = textwrap.dedent(self.KERNEL).lstrip("\n").split("\n")
        rows = [next(row for row, line in enumerate(written, 1) if mark in line) for mark in marks]
        text = f"""
import sys, types, warnings
warnings.simplefilter("ignore")
sys.path.insert(0, {DRIVER!r})
import cudalint_jit, cudalint_lines, cudalint_watched, cudalint_strings
from cupyx.jit import _compile, _cuda_types
import cupy, linecache
script = cudalint_watched.Script({path!r})
cudalint_lines.watch_cupyx(script)
log = cudalint_strings.Log({self.folder.name!r}, "")
lines = [(row, row) for row in {rows!r}]
cudalint_jit.Watcher(script, {self.folder.name!r}, lines, "// the header", log).begin()
made = types.ModuleType("made")
exec(compile(script.source, script.path, "exec"), made.__dict__)
row, table = (_cuda_types.CArray(cupy.dtype("float32"), axes, True, True) for axes in (1, 2))
types = (row, table, _cuda_types.int32)
print(_compile.transpile(made.kernel._func, ['extern "C"', "__global__"], "cuda", types, _cuda_types.void).code)
"""
        done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        code = done.stdout
        self.assertRegex(code, r'(?s)^#include.*// the header\n.*void kernel\(.*\{ cudalint_kernel\(1\);')
        for part in (
            "return cudalint_touch(1, 1, x[0])", "cudalint_touch(2, 2, part[threadIdx.x]) = ", "cudalint_touch(0, 1, x[i])",
            "= cudalint_touch(4, 3, x[i])", "cudalint_touch(3, 1, part[0])", "atomicAdd(&*cudalint_touch_at(6, 4, &x[i]), cudalint_touch(5, 1, table._indexing(",
        ):
            self.assertIn(part, code)
        with open(os.path.join(self.folder.name, "sites.json"), encoding="utf-8") as file:
            sites = json.load(file)
        self.assertEqual(sites["kernels"], ["kernel"])
        self.assertEqual(sites["unfollowed"], [None])
        told = [(site["line"], site["kind"], site["function"]) for site in sites["sites"]]
        device, write, update, atomic = rows
        expected = [(write, 1, "kernel"), (device, 1, "first"), (write, 2, "kernel"), (update, 1, "kernel"), (update, 3, "kernel")]
        self.assertEqual(told, [*expected, (atomic, 1, "kernel"), (atomic, 4, "kernel")])
        self.assertEqual(sites["sites"][6]["text"], "jit.atomic_add(x, i, table[i, 1])")

    def test_kernels_of_watched_programs_are_launched_with_the_log(self):
        import types

        import cudalint_jit
        import cudalint_strings

        done = []
        function = lambda *given: done.append(given)
        core = types.SimpleNamespace(
            compile_with_cache=lambda source, **_: types.SimpleNamespace(get_function=lambda name: function), other=1
        )
        log = types.SimpleNamespace(launch=lambda device, module, launch, *shape: (done.append(shape), launch()))
        watched = cudalint_jit.Core(core, types.SimpleNamespace(header="// the header", log=log))
        self.assertEqual(watched.other, 1)
        cudalint_strings.CupyDevice, plain = (lambda: "device"), cudalint_strings.CupyDevice
        self.addCleanup(setattr, cudalint_strings, "CupyDevice", plain)
        kernel = watched.compile_with_cache(source="#include\n// the header\n", options=()).get_function("k")
        kernel((1,), (2,), ("a",), 0, None, False)
        self.assertEqual(done, [((1,), (2,), ("a",)), ((1,), (2,), ("a",), 0, None, False)])
        self.assertIs(watched.compile_with_cache(source="").get_function("k"), function)


@unittest.skipUnless(NUMPY, "no numpy")
class Memory(Place):
    """Calls that set or copy memory."""

    CUPY = """
    import numpy
    import cupy

    host = numpy.ones(6, numpy.float32)
    a = cupy.arange(6, dtype=numpy.float32)
    """
    PYCUDA = """
    import numpy
    import pycuda.autoinit
    import pycuda.driver as drv

    host = numpy.ones(6, numpy.float32)
    a = drv.mem_alloc(24)
    """

    def of(self, text, call):
        facts = self.facts(textwrap.dedent(text) + call + "  # call\n", "# call")
        return next(fact for fact in facts if "memory" in fact)

    def test_a_copy_of_a_part(self):
        fact = self.of(self.CUPY, "a.data.copy_from_host(host.ctypes.data, host.size)")
        memory = fact["memory"]
        self.assertEqual((fact["function"], fact["real"], fact["line"]), ("copy_from_host", 0, 6))
        told = [memory[name] for name in ("does", "count", "allocation", "offset", "source")]
        self.assertEqual(told, ["copy", 6, 24, 0, 0])
        self.assertEqual((memory["compared"], memory["behind"], memory["changed"]), (True, 18, 0))

    def test_a_memset_with_the_elements_of_an_array(self):
        memory = self.of(self.CUPY, "a.data.memset(1, a.size * 4)")["memory"]
        self.assertEqual((memory["does"], memory["value"], memory["behind"]), ("set", 1, 0))
        self.assertEqual((memory["element"], memory["floating"], memory["bytes"]), (4, True, "01" * 16))

    def test_runtime_functions_are_given_addresses(self):
        memory = self.of(self.CUPY, "cupy.cuda.runtime.memcpy(a.data.ptr + 8, host.ctypes.data, 4, 1)")["memory"]
        told = [memory[name] for name in ("does", "count", "allocation", "offset", "behind")]
        self.assertEqual(told, ["copy", 4, 24, 8, 12])

    def test_a_call_that_fails_is_told_and_raises(self):
        text = textwrap.dedent(self.CUPY) + "try:\n    a.data.memset(0, 25)  # call\nexcept RuntimeError as error:\n    print(error)\n"
        fact = next(fact for fact in self.facts(text, "# call") if "memory" in fact)
        self.assertEqual((fact["real"], fact["memory"]["count"], fact["memory"]["allocation"]), (1, 25, 24))

    def test_pycuda(self):
        memory = self.of(self.PYCUDA, "drv.memcpy_htod(a, host[:3])")["memory"]
        self.assertEqual([memory[name] for name in ("does", "count", "allocation", "behind")], ["copy", 12, 24, 12])
        memory = self.of(self.PYCUDA, "drv.memset_d8(int(a) + 4, 7, 8)")["memory"]
        told = [memory[name] for name in ("count", "offset", "behind", "element", "bytes")]
        self.assertEqual(told, [8, 4, 12, 0, "07" * 8 + "ff" * 8])

    def test_other_functions_of_the_name_are_called_as_they_are(self):
        text = "import cupy\nmemset = lambda *a, **o: print(a, o)\nmemset(1, 2, size=3)  # call\n"
        self.assertFalse([fact for fact in self.facts(text, "# call") if "memory" in fact or "problem" in fact])


class Settings(Place):
    def test_what_a_script_sets_before_its_imports_holds_for_the_driver(self):
        import ast

        text = """
        import os
        os.environ["CUDALINT_A"] = "1"
        os.environ["CUDALINT_B"] = str(2)
        import sys
        os.environ["CUDALINT_C"] = "3"
        """
        for name in "ABC":
            self.addCleanup(os.environ.pop, f"CUDALINT_{name}", None)
        cudalint_watched.take_settings(ast.parse(textwrap.dedent(text)))
        self.assertEqual([os.environ.get(f"CUDALINT_{name}") for name in "ABC"], ["1", None, None])


class Statuses(Place):
    """Calls of NVIDIA's bindings, and failures that are handed to the script."""

    TEXT = """
    from cuda.bindings import driver, runtime as cudart
    from cuda.bindings.runtime import cudaMemset as clear

    def upload(count):
        status, device = cudart.cudaMalloc(count); cudart.cudaStreamCreate()[1]
        clear(device, 1, count)
        return device

    device = upload(8)
    print(driver.cuInit(0)[0].name, cudart.cudaGetLastError()[0].name, device, cudart.HELD[device].hex())
    """

    def runs(self, text, ends=0, **settings):
        """What the script says, and the log."""
        log = os.path.join(self.folder.name, "calls.jsonl")
        if os.path.exists(log):
            os.remove(log)
        names = {f"CUDALINT_PROBE_{name}": value for name, value in {"LOG": log, **settings}.items()}
        os.environ.update(names)
        try:
            said = self.run_driver(text, ends=ends)
        finally:
            for name in names:
                del os.environ[name]
        with open(log, encoding="utf-8") as file:
            return said, [json.loads(line) for line in file]

    def number_of(self, function):
        return next(fact["id"] for fact in self.runs(self.TEXT)[1] if fact.get("function") == function)

    def test_the_script_s_calls_are_written_down(self):
        said, log = self.runs(self.TEXT)
        self.assertEqual(said, "CUDA_SUCCESS cudaSuccess 1 0101010101010101\n")
        self.assertEqual((log[0]["event"], log[-1]), ("begin", {"event": "exit"}))
        self.assertGreater(log[0]["time"], 0)
        calls = log[1:-1]
        told = [(call["function"], call["line"], call["real"], call["handed"]) for call in calls]
        names = ["cudaMalloc", "cudaStreamCreate", "cudaMemset", "cuInit", "cudaGetLastError"]
        self.assertEqual(told, [(name, line, 0, 0) for name, line in zip(names, (5, 5, 6, 10, 10))])
        self.assertEqual([call["sequence"] for call in calls], [1, 2, 3, 4, 5])
        if sys.version_info >= (3, 11):
            numbers = [call["id"] for call in calls]
            self.assertEqual(numbers, sorted(set(numbers)))

    def test_a_call_that_fails_is_made_and_stays_in_the_last_error(self):
        sites = f"call:{self.number_of('cudaMemset')}=1"
        said, log = self.runs(self.TEXT, SITES=sites)
        self.assertEqual(said, "CUDA_SUCCESS cudaErrorInvalidValue 1 0101010101010101\n")
        handed = [call["handed"] for call in log if call["event"] == "call"]
        self.assertEqual(handed, [0, 0, 1, 0, 1])
        self.assertEqual({call["real"] for call in log if call["event"] == "call"}, {0})
        said, _ = self.runs(self.TEXT, SITES=sites, SILENT="1")
        self.assertEqual(said, "CUDA_SUCCESS cudaSuccess 1 0101010101010101\n")
        said, _ = self.runs(self.TEXT, SITES=f"call:{self.number_of('cuInit')}=1")
        self.assertTrue(said.startswith("CUDA_ERROR_INVALID_VALUE cudaSuccess "), said)

    def test_the_checked_twin_stops_at_the_call(self):
        said, log = self.runs(self.TEXT, ends=86, SITES=f"call:{self.number_of('cudaMalloc')}=2", CHECKED="1")
        self.assertEqual(said, "")
        stop = log[-1]
        self.assertEqual([stop[name] for name in ("event", "function", "line", "code")], ["stop", "cudaMalloc", 5, 2])

    def test_words_for_a_status_are_told(self):
        text = "from cuda.bindings import runtime\nprint(runtime.cudaGetErrorString(runtime.cudaError_t(2))[1])\n"
        said, log = self.runs(text)
        self.assertEqual(said, "b'cudaErrorMemoryAllocation'\n")
        self.assertEqual([log[1][name] for name in ("event", "function", "line", "code")], ["words", "cudaGetErrorString", 2, 2])

    def test_a_script_that_ends_with_an_exception_does_not_come_to_its_end(self):
        _, log = self.runs("from cuda.bindings import nvrtc\nnvrtc.nvrtcVersion()\nraise ValueError\n", ends=1)
        self.assertEqual([fact["event"] for fact in log], ["begin", "call"])
        _, log = self.runs("import sys\nfrom cuda.bindings import nvrtc\nsys.exit(3)\n", ends=3)
        self.assertEqual([fact["event"] for fact in log], ["begin", "exit"])

    def test_calls_beyond_the_log_s_room_are_counted(self):
        import cudalint_statuses

        cudalint_statuses.TOLD, plain = 2, cudalint_statuses.TOLD
        self.addCleanup(setattr, cudalint_statuses, "TOLD", plain)
        path = os.path.join(self.folder.name, "log")
        calls = cudalint_statuses.Calls({"LOG": path, "SITES": "", "SILENT": "", "CHECKED": ""})
        for number, name in enumerate(("cuInit", "cuInit", "cuEventQuery", "cuCtxCreate")):
            calls.tell("call", function=name, id=number)
        calls.end()
        os.close(calls.log)
        with open(path, encoding="utf-8") as file:
            log = [json.loads(line) for line in file]
        self.assertEqual([fact["event"] for fact in log], ["begin", "call", "call", "more", "exit"])
        # How often somebody asks whether something has happened says nothing.
        self.assertEqual(log[3]["count"], 1)

    def test_types_stay_and_what_packages_call_is_not_told(self):
        package = os.path.join(self.folder.name, "site-packages")
        os.makedirs(package, exist_ok=True)
        with open(os.path.join(package, "helper.py"), "w", encoding="utf-8") as file:
            file.write("from cuda.bindings import driver\ndef start(): return driver.cuInit(0)\n")
        text = f"""
        import sys
        sys.path.append({package!r})
        import helper
        from cuda.bindings import runtime
        print(helper.start(), isinstance(runtime.cudaDeviceProp, type), runtime.cudaMalloc.__name__)
        """
        said, log = self.runs(text)
        self.assertEqual(said, "(<CUresult.CUDA_SUCCESS: 0>,) True cudaMalloc\n")
        self.assertEqual([fact["event"] for fact in log], ["begin", "exit"])


class Pycuda(Place):
    TEXT = """
    import numpy
    import pycuda.autoinit
    import pycuda.driver as drv
    from pycuda.compiler import SourceModule

    def scale(x, y, n):
        n = int(numpy.frombuffer(n[:4], numpy.int32)[0])
        blocks, threads = drv.LAUNCH
        x, y = x.view(numpy.float32), y.view(numpy.float32)
        for i in range(blocks * threads):
            if i < n:
                y[i] = 2 * x[i]

    drv.KERNELS["scale"] = scale
    module = SourceModule('__global__ void scale(const float *x, float *y, int n) {}')
    kernel = module.get_function("scale")
    x, y = numpy.ones(6, numpy.float32), numpy.zeros(6, numpy.float32)
    """

    def of(self, launch, cover="-"):
        text = textwrap.dedent(self.TEXT) + launch + "  # launch\nprint(y.tolist())\n"
        return [fact for fact in self.facts(text, "# launch", cover) if "kind" in fact or "launched" in fact]

    @unittest.skipUnless(NUMPY, "no numpy")
    def test_a_grid_with_too_few_threads(self):
        launched, fact = self.of("kernel(drv.In(x), drv.Out(y), numpy.int32(6), block=(4, 1, 1), grid=(1, 1))", "4:6")
        self.assertEqual((launched["kernel"], launched["grid"], launched["block"]), ("scale", [1, 1, 1], [4, 1, 1]))
        self.assertEqual(launched["arguments"], ["float32[6]", "float32[6]", "int32 6"])
        self.assertTrue(fact["differs"], fact)
        self.assertIn("leaves 2 elements of argument 2, the first of them element 4", fact["text"])
        _, fact = self.of("kernel(drv.In(x), drv.Out(y), numpy.int32(6), block=(4, 1, 1), grid=(2, 1))", "8:6")
        self.assertFalse(fact["differs"], fact)

    @unittest.skipUnless(NUMPY, "no numpy")
    def test_allocations_and_prepared_launches(self):
        made = "a, b = drv.mem_alloc(24), drv.mem_alloc(24); drv.memcpy_htod(a, x); kernel.prepare('PPi')\n"
        for launch in (
            "kernel.prepared_call((1, 1), (4, 1, 1), a, b, 6)",
            "kernel.prepared_async_call((1, 1), (4, 1, 1), None, a, b, 6)",
            "kernel(a, b, numpy.int32(6), block=(4, 1, 1))",
        ):
            _, fact = self.of(made + launch, "4:6")
            self.assertTrue(fact["differs"], fact)
            self.assertIn("leaves 2 elements of argument 2, the first of them element 4", fact["text"])

    @unittest.skipUnless(NUMPY, "no numpy")
    def test_arguments_of_other_types(self):
        _, fact = self.of("kernel(drv.In(x.astype(numpy.float64)), drv.Out(y), numpy.int32(6), block=(8, 1, 1))")
        self.assertTrue(fact["differs"], fact)
        self.assertIn("argument 1 of `scale` is an array of float64 (`const float *x`)", fact["text"])
        _, fact = self.of("kernel(drv.In(x), drv.Out(y), numpy.int64(6), block=(8, 1, 1))")
        self.assertFalse(fact["differs"], fact)
        _, fact = self.of("kernel(drv.In(x), drv.Out(y), numpy.int32(6), block=(8, 1, 1))")
        self.assertTrue(fact["right"], fact)

    @unittest.skipUnless(NUMPY, "no numpy")
    def test_prepared_arguments_are_not_judged(self):
        _, fact = self.of("kernel.prepare('PPi').prepared_call((1, 1), (4, 1, 1), drv.In(x).get_device_alloc(), drv.Out(y).get_device_alloc(), 6)")
        self.assertIn("as `prepare` says", fact["problem"])


if __name__ == "__main__":
    unittest.main()
