"""Runs a script so that tools see its arrays and lines.

Usage: cudalint_watched.py [--look FOLDER LINES PLACE THREADS COVER BLOCK] SCRIPT [ARGUMENT]...

Changes nothing that the script computes, only what a tool can see of it: see cudalint_lines.py. Warnings go to
warnings.log beside this file, so that what the script prints is its own.

With --look the run looks at the statements on LINES (`12-12,15-17`) itself: cudalint_compare.py repeats launches there as
they are meant, and cudalint_accesses.py and cudalint_jit.py log the accesses that kernels make there. What they see is written into
FOLDER.
PLACE (`line:column`, both from 1) is where the expression begins that matters among the arguments of a launch, THREADS
(`bx,by,bz,tx,ty,tz;…`) are the ones whose accesses come first, COVER (`threads:elements`) says that a launch there has so
many threads for so many elements, BLOCK (`bx,by,bz`) that of the shared array which is read at PLACE all accesses of that block
are logged, and no others; `-` for none.

Where the environment asks for them, the script's calls of NVIDIA's bindings are written down: see cudalint_statuses.py.
"""
import ast
import os
import sys
import types
import warnings

import cudalint_lines
import cudalint_statuses


class Script:
    """The user's file: its path, text and tree."""

    def __init__(self, path):
        self.path = os.path.abspath(path)
        with open(self.path, "rb") as file:
            self.source = file.read()
        self.text = self.source.decode("utf-8", "replace")

    def imports(self, package):
        """Whether the file may use a package. Importing one that it does not use would only cost time."""
        return package in self.text

    def tree(self):
        return ast.parse(self.source, self.path)


def take_settings(tree):
    """Sets the variables of the environment that a script sets to plain text before it imports anything of a package.

    Numba reads its settings when it is imported, and the driver does that before the script.
    """
    for statement in tree.body:
        if isinstance(statement, ast.ImportFrom) and statement.module != "os":
            return
        if isinstance(statement, ast.Import) and any(name.name != "os" for name in statement.names):
            return
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target, value = statement.targets[0], statement.value
            is_variable = isinstance(target, ast.Subscript) and ast.unparse(target.value) in ("os.environ", "environ")
            if is_variable and isinstance(target.slice, ast.Constant) and isinstance(value, ast.Constant):
                if isinstance(target.slice.value, str) and isinstance(value.value, str):
                    os.environ[target.slice.value] = value.value


def keep_warnings(path):
    """Warnings go to a file: they are no evidence, and no failure either."""

    def show(message, category, filename, lineno, file=None, line=None):
        try:
            with open(path, "a", encoding="utf-8") as log:
                log.write(warnings.formatwarning(message, category, filename, lineno, line))
        except OSError:
            pass

    warnings.showwarning = show


def ranges(words):
    """`12-12,15-17` as pairs of numbers."""
    return [numbers(word, "-") for word in words.split(",") if word]


def numbers(word, mark):
    return tuple(int(number) for number in word.split(mark) if number)


def run(script, code):
    """The script is the main module, with nothing of this one in it."""
    sys.modules["cudalint_watched"] = sys.modules["__main__"]
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    main.__file__ = script.path
    main.__builtins__ = __builtins__
    exec(code, main.__dict__)


def looked_at(script, tree, look):
    """The script's tree with hooks, and what is watched for `--look` with these six arguments."""
    import cudalint_accesses
    import cudalint_compare
    import cudalint_jit
    import cudalint_strings

    folder, lines, place, threads = look[0], ranges(look[1]), numbers(look[2].strip("-"), ":"), look[3].strip("-")
    cover, block = numbers(look[4].strip("-"), ":") or None, numbers(look[5].strip("-"), ",") or None
    if script.imports("numba"):
        attempt("numba", lambda: cudalint_accesses.watch(script, folder, lines, threads, place, block))
    if script.imports("cupyx") and not block:
        attempt("cupyx", lambda: cudalint_jit.watch(script, folder, lines, threads))
    cudalint_strings.watch(script, folder, threads)
    return cudalint_compare.watch(script, tree, folder, lines, place, cover)


def start(arguments):
    look = None
    if arguments[0] == "--look":
        _, *look = arguments[:7]
        arguments = arguments[7:]
    script = Script(arguments[0])
    keep_warnings(os.path.join(os.path.dirname(os.path.abspath(__file__)), "warnings.log"))
    attempt("the environment", lambda: take_settings(script.tree()))
    packages = [("numba", cudalint_lines.watch_numba), ("cupy", cudalint_lines.watch_cupy)]
    packages += [("cupyx", cudalint_lines.watch_cupyx), ("pycuda", cudalint_lines.watch_pycuda)]
    for package, watch in packages:
        if script.imports(package):
            attempt(package, lambda: watch(script))
    code = compile(looked_at(script, script.tree(), look), script.path, "exec") if look else None
    calls = cudalint_statuses.watch(script)
    sys.argv = arguments
    sys.path[0] = os.path.dirname(script.path)
    try:
        run(script, code or compile(script.source, script.path, "exec"))
    except SystemExit:
        if calls:
            calls.end()
        raise
    if calls:
        calls.end()


def attempt(package, watch):
    try:
        watch()
    except Exception as problem:  # the script will meet it by itself, or do without the package
        if not isinstance(problem, SyntaxError):
            print(f"cudalint: {package} is not watched closely: {problem}", file=sys.stderr)


if __name__ == "__main__":
    start(sys.argv[1:])
