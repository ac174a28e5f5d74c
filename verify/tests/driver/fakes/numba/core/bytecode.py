"""What a compiler reads a function with."""
import builtins


class FunctionIdentity:
    @classmethod
    def from_function(cls, function):
        """As the real one's users do, refuses names that are no types and no functions of a kernel's."""
        for name in function.__code__.co_names:
            value = function.__globals__.get(name, getattr(builtins, name, None))
            if type(value).__module__.startswith("cudalint"):
                raise TypeError(f"Untyped global name '{name}'")
        return cls()
