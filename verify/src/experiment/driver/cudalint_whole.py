"""Which shared array of a kernel is read at a place, and whether all that is done with it can be logged.

To say that no thread has written an element, each access to the array must be logged. That is so where its name stands in
nothing but subscripts with an index for each axis, atomics, and questions for its shape.
"""
import ast

from cudalint_signs import NotFollowed, arrays_made, dotted, is_shared

ASKED = {"shape", "size", "ndim", "strides", "itemsize", "nbytes"}


def array_at(script_text, definition, place, lines):
    """The shared array that is read at a place (line and column from 1), or else on the lines."""
    shared = arrays_made(definition, "shared.array")
    rows = script_text.split("\n")
    before = rows[place[0] - 1][: place[1] - 1] if len(place) == 2 and place[0] <= len(rows) else ""
    at = (place[0] if place else 0, len(before.encode("utf-8")))
    found = []
    for node in ast.walk(definition):
        name = accessed(node)
        if name in shared:
            on_line = any(first <= node.lineno <= last for first, last in lines)
            found.append(((node.lineno, node.col_offset) != at, not on_line, name))
    found = [name for elsewhere, off_line, name in sorted(found) if not elsewhere or not off_line]
    if not found:
        raise NotFollowed(f"no read of a shared array of `{definition.name}` stands there")
    return found[0]


def accessed(node):
    """The array of a subscript or an atomic; none for anything else."""
    if isinstance(node, ast.Subscript):
        array = node.value
    elif is_atomic(node):
        array = node.args[0]
    else:
        return None
    return array.id if isinstance(array, ast.Name) else None


def is_atomic(node):
    return isinstance(node, ast.Call) and ".atomic." in f".{dotted(node.func)}" and len(node.args) >= 2


def check(definition, name, names):
    """Raises where not all accesses to an array can be logged. `names` are the values that the kernel sees."""
    stores = [node for node in ast.walk(definition) if isinstance(node, ast.Name) and node.id == name]
    stores = [node for node in stores if not isinstance(node.ctx, ast.Load)]
    made = [node for node in ast.walk(definition) if isinstance(node, ast.Assign) and is_shared(node.value)]
    own = [node for node in made if isinstance(node.targets[0], ast.Name) and node.targets[0].id == name]
    if len(own) != 1 or len(stores) != 1 or len(own[0].targets) != 1:
        raise NotFollowed(f"`{name}` is not one array alone")
    shapes = arrays_made(definition, "shared.array")
    if shapes[name] == [0] and sum(shape == [0] for shape in shapes.values()) > 1:
        raise NotFollowed(f"`{name}` is not the only name of the dynamic shared memory")
    axes = axes_of(own[0].value, names)
    if axes is None:
        raise NotFollowed(f"how many axes `{name}` has is not known")
    parents = {child: parent for parent in ast.walk(definition) for child in ast.iter_child_nodes(parent)}
    for node in ast.walk(definition):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            if not is_followed(node, parents, axes) or is_within_function(node, parents, definition):
                raise NotFollowed(f"`{name}` is handed on in line {node.lineno}, and what is done with it there is not followed")


def is_followed(node, parents, axes):
    around = parents[node]
    if isinstance(around, ast.Attribute):
        return around.attr in ASKED
    if isinstance(around, ast.Call):
        return is_atomic(around) and around.args[0] is node and count(around.args[1]) == axes or dotted(around.func) == "len"
    if not isinstance(around, ast.Subscript) or around.value is not node or count(around.slice) != axes:
        return False
    # A field of a record: which way it goes is told further out.
    outer = parents[around]
    return not (isinstance(outer, (ast.Attribute, ast.Subscript)) and outer.value is around)


def count(index):
    """How many axes an index has one for; none where it takes more than an element."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return None if any(isinstance(part, (ast.Slice, ast.Starred)) for part in parts) else len(parts)


def is_within_function(node, parents, definition):
    while node is not definition:
        node = parents[node]
        if isinstance(node, (ast.FunctionDef, ast.Lambda)) and node is not definition:
            return True
    return False


def axes_of(call, names):
    shape = call.args[0] if call.args else next((word.value for word in call.keywords if word.arg == "shape"), None)
    if isinstance(shape, ast.Tuple):
        return len(shape.elts)
    if isinstance(shape, ast.Constant):
        return 1
    if isinstance(shape, ast.BinOp) and not any(isinstance(node, ast.Tuple) for node in ast.walk(shape)):
        parts = [names.get(node.id) for node in ast.walk(shape) if isinstance(node, ast.Name)]
        return 1 if all(isinstance(part, int) for part in parts) else None
    value = names.get(shape.id) if isinstance(shape, ast.Name) else None
    if isinstance(value, int):
        return 1
    return len(value) if isinstance(value, tuple) else None
