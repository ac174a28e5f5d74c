"""Watches the Python programs that a project's own commands start: test runners, scripts, what these start in turn.

`sitecustomize.py` calls `begin` before anything of the program runs. A package is watched once it has been imported, as
cudalint_watched.py does for one script; the script of a kernel in a string is the file that hands it over, or another one of the
project that holds it. The environment says what is wanted:

- CUDALINT_PROJECT   folders of the project; without it nothing is done
- CUDALINT_REACHED   where what the program comes to is written down: files of this name, one a process
- CUDALINT_LOOK      the driver's `--look` with its arguments and the script behind them, as JSON: the statements on these
                     lines are looked at in the program that imports or runs the script

A line of a CUDALINT_REACHED file is one of

- {"began": 1}                                     a Python program ran
- {"reached": [path, line]}                        a line of the project ran, each once
- {"launched": [path, name]}                       a kernel was launched, each once; no path for one in a string
- {"raised": [path, line, class, words]}           an exception at the innermost line of the project, whoever catches it
"""
import ast
import builtins
import importlib.machinery
import json
import os
import sys
import threading

import cudalint_lines

# Exceptions that are written down.
MOST_RAISED = 2000
# Modules of the project that are looked through for the text of a kernel.
MOST_MODULES = 500
PACKAGES = (
    ("numba.cuda", cudalint_lines.watch_numba), ("cupy", cudalint_lines.watch_cupy),
    ("cupyx.jit", cudalint_lines.watch_cupyx), ("pycuda.compiler", cudalint_lines.watch_pycuda),
)


def begin():
    project = Project(os.environ["CUDALINT_PROJECT"].split(os.pathsep))
    log = os.environ.get("CUDALINT_REACHED")
    reached = Reached(project, log) if log else None
    look = os.environ.get("CUDALINT_LOOK")
    if look:
        Look(json.loads(look)).begin()
    Imports(project, reached).begin()
    if reached:
        reached.begin()


class File:
    """A file of the project, as cudalint_watched.Script is one."""

    def __init__(self, path):
        self.path = path
        try:
            with open(path, "rb") as file:
                self.text = file.read().decode("utf-8", "replace")
        except OSError:
            self.text = ""


class Project:
    """The project's files. It stands for a script: the one whose statement runs, or which holds a kernel's text."""

    def __init__(self, folders):
        self.folders = tuple(os.path.join(os.path.realpath(folder), "") for folder in folders if folder)
        self.known, self.files = {}, {}

    def is_own(self, path):
        own = self.known.get(path)
        if own is None:
            real = os.path.realpath(path) if not path.startswith("<") else ""
            inside = next((real[len(folder):] for folder in self.folders if real.startswith(folder)), "")
            parts = inside.split(os.sep)
            own = self.known[path] = bool(inside) and not {"site-packages", "dist-packages"}.intersection(parts)
        return own

    def file(self, path):
        if path not in self.files:
            self.files[path] = File(path)
        return self.files[path]

    def of(self, code):
        """The file in which a kernel's text stands: that of the running statement, where it is in no other either."""
        frame = sys._getframe(1)
        while frame is not None and not self.is_own(frame.f_code.co_filename):
            frame = frame.f_back
        calling = self.file(frame.f_code.co_filename) if frame is not None else File("")
        if not isinstance(code, str) or not code.strip() or code in calling.text:
            return calling
        for module in list(sys.modules.values())[:]:
            path = getattr(module, "__file__", None)
            if isinstance(path, str) and path.endswith(".py") and self.is_own(path) and len(self.files) < MOST_MODULES:
                if code in self.file(path).text:
                    return self.file(path)
        return calling


class Imports:
    """Has packages watched as soon as they have been imported."""

    def __init__(self, project, reached):
        self.project, self.reached = project, reached
        self.open = dict(PACKAGES)
        self.busy = threading.local()

    def begin(self):
        plain = builtins.__import__

        def imported(name, *arguments, **others):
            module = plain(name, *arguments, **others)
            if self.open and not getattr(self.busy, "now", False):
                self.look()
            return module

        builtins.__import__ = imported

    def look(self):
        for name, watch in list(self.open.items()):
            module = sys.modules.get(name)
            spec = getattr(module, "__spec__", None)
            if module is None or getattr(spec, "_initializing", False):
                continue
            del self.open[name]
            self.busy.now = True
            try:
                watch(self.project)
                if self.reached:
                    self.reached.watch(name)
            except Exception as problem:  # the program will meet it by itself, or do without the package
                print(f"cudalint: {name} is not watched closely: {problem}", file=sys.stderr)
            finally:
                self.busy.now = False


class Reached:
    """What a program comes to."""

    def __init__(self, project, log):
        self.project = project
        self.log = os.open(f"{log}.{os.getpid()}", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self.told, self.raised_count, self.last = set(), 0, None
        self.note(began=1)

    def note(self, **fact):
        os.write(self.log, (json.dumps(fact) + "\n").encode())

    def once(self, key, **fact):
        if key not in self.told:
            self.told.add(key)
            self.note(**fact)

    def begin(self):
        monitoring = getattr(sys, "monitoring", None)
        tool = self.free_tool(monitoring) if monitoring else None
        if tool is not None:
            events = monitoring.events
            monitoring.register_callback(tool, events.LINE, self.line)
            monitoring.register_callback(tool, events.RAISE, self.raised)
            monitoring.set_events(tool, events.LINE | events.RAISE)
        else:
            threading.settrace(self.trace)
            sys.settrace(self.trace)

    @staticmethod
    def free_tool(monitoring):
        for tool in (4, 3):
            if monitoring.get_tool(tool) is None:
                monitoring.use_tool_id(tool, "cudalint")
                return tool
        return None

    # Python 3.12 and later.

    def line(self, code, line):
        if self.project.is_own(code.co_filename):
            self.once((code.co_filename, line), reached=[code.co_filename, line])
        # Each line is told once.
        return sys.monitoring.DISABLE

    def raised(self, code, offset, exception):
        if self.project.is_own(code.co_filename):
            self.exception(code.co_filename, sys._getframe(1).f_lineno, exception)

    # Earlier ones.

    def trace(self, frame, event, argument):
        return self.local if self.project.is_own(frame.f_code.co_filename) else None

    def local(self, frame, event, argument):
        path, line = frame.f_code.co_filename, frame.f_lineno
        if event == "line":
            self.once((path, line), reached=[path, line])
        elif event == "exception" and argument[1] is not None:
            self.exception(path, line, argument[1])
        return self.local

    def exception(self, path, line, exception):
        # The innermost line of the project comes first.
        if exception is self.last or self.raised_count >= MOST_RAISED or isinstance(exception, StopIteration):
            return
        self.last, self.raised_count = exception, self.raised_count + 1
        try:
            words = " ".join(str(exception).split())[:2000]
        except Exception:  # words of the user's own
            words = ""
        self.note(raised=[path, line, type(exception).__name__, words])

    # Kernels.

    def launched(self, path, name):
        self.once(("launched", path, name), launched=[path, name])

    def watch(self, package):
        if package == "numba.cuda":
            from numba.cuda import dispatcher

            plain = dispatcher._LaunchConfiguration.__call__

            def launched(configuration, *arguments):
                function = configuration.dispatcher.py_func
                self.launched(function.__code__.co_filename, function.__name__)
                return plain(configuration, *arguments)

            dispatcher._LaunchConfiguration.__call__ = launched
            return
        import cudalint_launches

        class Launches(cudalint_launches.Launches):
            def seen(launches, kernel, *_):
                self.launched("", cudalint_launches.short(kernel))

        launches = Launches(None, None, None)
        watch = {"cupy": launches.watch_cupy, "cupyx.jit": launches.watch_cupyx, "pycuda.compiler": launches.watch_pycuda}
        watch[package]()


class Look:
    """Has the statements of a script looked at, whichever program imports or runs it."""

    def __init__(self, arguments):
        self.arguments, self.paths = arguments, set()
        # The script in the copy of the project, and where the user has it.
        self.paths.update(os.path.realpath(path) for path in arguments[7].split(os.pathsep))
        self.done = False

    def is_it(self, path):
        return isinstance(path, str) and os.path.basename(path) in self.names() and os.path.realpath(path) in self.paths

    def names(self):
        return {os.path.basename(path) for path in self.paths}

    def begin(self):
        words = list(getattr(sys, "orig_argv", ()))
        main = next((index for index, word in enumerate(words[1:], 1) if self.is_it(word)), None)
        if main is not None and not any(word in ("-m", "-c") for word in words[1:main]):
            # It is the program itself, which nothing imports: the driver runs it.
            driver = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cudalint_watched.py")
            environment = {name: value for name, value in os.environ.items() if name != "CUDALINT_LOOK"}
            command = [sys.executable, *words[1:main], driver, *self.arguments[:7], *words[main:]]
            os.execve(sys.executable, command, environment)
        plain, code_of = builtins.compile, importlib.machinery.SourceFileLoader.get_code

        def compiled(source, filename, mode, flags=0, *rest, **others):
            if mode == "exec" and not flags & ast.PyCF_ONLY_AST and not self.done and self.is_it(filename):
                self.done = True
                source = self.tree(source, filename)
            return plain(source, filename, mode, flags, *rest, **others)

        def get_code(loader, name):
            path = loader.get_filename(name)
            if self.is_it(path):
                # What was compiled before has no hooks.
                return loader.source_to_code(loader.get_data(path), path)
            return code_of(loader, name)

        builtins.compile = compiled
        importlib.machinery.SourceFileLoader.get_code = get_code

    def tree(self, source, filename):
        import cudalint_watched

        script = cudalint_watched.Script(filename)
        tree = source if isinstance(source, ast.AST) else script.tree()
        return cudalint_watched.looked_at(script, tree, self.arguments[1:7])
