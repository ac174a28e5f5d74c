"""Puts hooks around statements of a script's tree, and takes them out again where a compiler of kernels reads a function.

The file itself and its line numbers stay as they are.
"""
import ast
import importlib
import types

import cudalint_calls

# Python takes a name that does not end so, in the body of a class, for one of the class.
HOOK = "__cudalint_compare__"


def argument_at(script, tree, place):
    """Which argument of a launch begins at a place (line and column from 1), from 0; none where none does."""
    if len(place) != 2:
        return None
    rows = script.text.split("\n")
    before = rows[place[0] - 1][: place[1] - 1] if place[0] <= len(rows) else ""
    at = (place[0], len(before.encode("utf-8")))
    for node in ast.walk(tree):
        # `kernel(grid, block, (x, n))`, `kernel[grid, block](x, n)`, `kernel(x, n, block=…)`
        elements = node.args if isinstance(node, ast.Call) else getattr(node, "elts", [])
        tuples = any(isinstance(element, (ast.Tuple, ast.List)) for element in elements)
        for number, element in enumerate(elements):
            if (element.lineno, element.col_offset) == at and not (tuples and isinstance(node, ast.Call)):
                return number
    return None


def hooked(statements, lines):
    """The statements, with hooks around the innermost of those that stand on the lines."""
    found = []
    for statement in statements:
        inside = False
        for field in ("body", "orelse", "finalbody"):
            inner = getattr(statement, field, None)
            if isinstance(inner, list) and inner and isinstance(inner[0], ast.stmt):
                before = [id(each) for each in inner]
                inner = hooked(inner, lines)
                inside |= [id(each) for each in inner] != before
                setattr(statement, field, inner)
        for handler in getattr(statement, "handlers", []):
            handler.body = hooked(handler.body, lines)
        if not inside and not is_plain(statement) and is_on(statement, lines):
            statement = around(statement)
        found.append(statement)
    return found


def is_plain(statement):
    """Whether a statement does nothing that could be looked at, or must stay where it is."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal)
    return isinstance(statement, kinds)


def is_on(statement, lines):
    # A compound statement is its head here.
    body = getattr(statement, "body", None)
    last = body[0].lineno - 1 if isinstance(body, list) and body else statement.end_lineno
    return any(statement.lineno <= end and first <= max(last, statement.lineno) for first, end in lines)


def around(statement):
    changed = sorted(names_changed(statement))
    read = sorted({node.id for node in ast.walk(statement) if isinstance(node, ast.Name)} - {HOOK})
    statement = cudalint_calls.Rewrite(HOOK).visit(statement)
    begin = ast.parse(f"{HOOK}.begin({statement.lineno}, {read!r}, {changed!r}, globals(), locals())").body[0]
    end = ast.parse(f"{HOOK}.end({statement.lineno}, {changed!r}, globals(), locals())").body[0]
    wrapped = ast.Try(body=[statement], handlers=[], orelse=[], finalbody=[end])
    for node in (begin, end, wrapped):
        ast.copy_location(node, statement)
        for child in ast.walk(node):
            if child is statement:
                continue
            if not hasattr(child, "lineno") or child.lineno == 1:
                ast.copy_location(child, statement)
    return ast.copy_location(ast.If(test=ast.Constant(True), body=[begin, wrapped], orelse=[]), statement)


def names_changed(statement):
    """Variables that a statement binds, or whose elements or attributes it changes."""
    found = set()
    targets = []
    for node in ast.walk(statement):
        if isinstance(node, ast.Assign):
            targets += node.targets
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.For)):
            targets.append(node.target)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            # `table.fill(0)`
            targets.append(node.func.value)
    for target in targets:
        for part in target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]:
            while isinstance(part, (ast.Subscript, ast.Attribute, ast.Starred)):
                part = part.value
            if isinstance(part, ast.Name):
                found.add(part.id)
    return found


class AsWritten:
    """The functions of a script as they are written.

    A statement on the wanted lines may stand in a kernel. A compiler of kernels would meet the hook there, a name that is no
    kernel's: it is given the function's own code.
    """

    def __init__(self, script):
        self.path, self.codes = script.path, {}
        around = [compile(script.source, script.path, "exec")]
        while around:
            inner = [each for each in around.pop().co_consts if isinstance(each, types.CodeType)]
            for code in inner:
                self.codes.setdefault(key(code), code)
            around += inner

    def restore(self, function):
        code = getattr(function, "__code__", None)
        if code is not None and code.co_filename == self.path and key(code) in self.codes:
            function.__code__ = self.codes[key(code)]

    def hand_to_numba(self):
        """From now on Numba reads functions as they are written."""
        for name in ("numba.core.bytecode", "numba.cuda.core.bytecode"):
            try:
                identity = importlib.import_module(name).FunctionIdentity
            except ImportError:  # one of them is not there in each version
                continue
            plain = identity.from_function.__func__

            def from_function(cls, function, plain=plain):
                self.restore(getattr(function, "py_func", function))
                return plain(cls, function)

            identity.from_function = classmethod(from_function)


def key(code):
    # A hook takes nothing from the functions around: these are the same with it.
    return code.co_name, code.co_firstlineno, code.co_freevars
