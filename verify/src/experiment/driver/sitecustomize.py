"""Brings the driver into each Python that the commands of a project start; then comes the `sitecustomize` that would have
come without it."""
import os
import sys


def begin():
    try:
        import cudalint_project

        cudalint_project.begin()
    except Exception as problem:  # the program is the user's, and runs without us
        print(f"cudalint: Python is not watched closely: {type(problem).__name__}: {problem}", file=sys.stderr)


def others():
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    here = os.path.dirname(os.path.abspath(__file__))
    spec = PathFinder.find_spec("sitecustomize", [path for path in sys.path if os.path.abspath(path) != here])
    if spec is not None and spec.loader is not None:
        module = sys.modules["sitecustomize"] = module_from_spec(spec)
        spec.loader.exec_module(module)


if os.environ.get("CUDALINT_PROJECT"):
    begin()
others()
