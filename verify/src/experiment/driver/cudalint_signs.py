"""What stands in the tree of a Numba kernel: names, barriers, and the arrays that it makes."""
import ast


class NotFollowed(Exception):
    """Why a kernel's accesses cannot be logged."""


def dotted(node):
    words = []
    while isinstance(node, ast.Attribute):
        words.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        words.append(node.id)
    return ".".join(reversed(words))


# Ways to order accesses that are not followed.
ORDERS = {"sync", "threadfence", "threadfence_block", "threadfence_system", "cas", "compare_and_swap", "exch", "nanosleep"}


def unfollowed(function, names):
    """What in a kernel may order accesses in a way that is not followed; none where nothing does. `names` are the values that it
    sees."""
    barriers = [node for node in ast.walk(function) if isinstance(node, ast.Call) and is_barrier(node)]
    plain = [node.value for node in ast.walk(function) if isinstance(node, (ast.Expr, ast.Assign))]
    if any(barrier not in plain for barrier in barriers):
        return "a barrier within an expression"
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute) and node.attr in ORDERS:
            return node.attr
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            called = getattr(names.get(node.func.id), "py_func", None)
            words = set(called.__code__.co_names) if called else set()
            if words & ORDERS or any(word.startswith("sync") for word in words):
                return node.func.id
    return None


def is_barrier(call):
    return dotted(call.func).split(".")[-1].startswith("syncthreads")


def is_shared(call):
    return isinstance(call, ast.Call) and dotted(call.func).endswith("shared.array")


def arrays_made(function, maker):
    """Names of arrays that a call of `shared.array` or `local.array` makes, with their shapes, where these are numbers."""
    found = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and isinstance(node.targets[0], ast.Name):
            if dotted(node.value.func).endswith(maker):
                call = node.value
                shape = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "shape"), None)
                parts = shape.elts if isinstance(shape, ast.Tuple) else [shape]
                known = all(isinstance(part, ast.Constant) and isinstance(part.value, int) for part in parts)
                found[node.targets[0].id] = [part.value for part in parts] if known else None
    return found
