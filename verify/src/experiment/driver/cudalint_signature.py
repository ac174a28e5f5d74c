"""Reads the parameters of kernels in CUDA C++: what an argument that is handed over as bytes is taken for."""
import re

# Kinds of elements that a conversion can be made to, by the names that C has for them.
C_TYPES = {
    "float": "float32", "double": "float64", "char": "int8", "signed char": "int8", "unsigned char": "uint8",
    "short": "int16", "unsigned short": "uint16", "int": "int32", "unsigned": "uint32", "unsigned int": "uint32",
    "long": "int64", "unsigned long": "uint64", "long long": "int64", "unsigned long long": "uint64",
    "long int": "int64", "long long int": "int64", "unsigned long long int": "uint64", "unsigned long int": "uint64",
    "int8_t": "int8", "uint8_t": "uint8", "int16_t": "int16", "uint16_t": "uint16", "int32_t": "int32",
    "uint32_t": "uint32", "int64_t": "int64", "uint64_t": "uint64", "size_t": "uint64", "ptrdiff_t": "int64",
    "bool": "bool", "half": "float16", "__half": "float16", "float2": "complex64", "double2": "complex128",
    "complex<float>": "complex64", "complex<double>": "complex128", "uint": "uint32", "ulong": "uint64",
}


class Parameter:
    """A parameter of a C++ kernel."""

    def __init__(self, text, dtype, pointer):
        self.text, self.dtype, self.pointer = text, dtype, pointer


def signature(code, name):
    """The parameters of a kernel in CUDA C++; none where it is not found. A type that is not known has no dtype."""
    code = re.sub(r"//[^\n]*|/\*.*?\*/", " ", code, flags=re.S)
    short, _, bound = name.partition("<")
    head = None
    for found in re.finditer(rf"\b{re.escape(short.split('::')[-1])}\s*\(", code):
        before = code[: found.start()]
        begin = max(before.rfind(mark) for mark in (";", "}", "{"))
        if "__global__" in before[begin + 1 :]:
            head = found
            break
    if head is None:
        return None
    end, depth = head.end(), 1
    while end < len(code) and depth:
        depth += {"(": 1, ")": -1}.get(code[end], 0)
        end += 1
    templates = re.search(r"template\s*<([^<>]*)>[^;{}]*$", code[: head.start()])
    names = [part.split()[-1] for part in templates.group(1).split(",") if part.split()] if templates else []
    types = dict(zip(names, (part.strip() for part in bound.rstrip("> ").split(","))))
    return [parameter(part, types) for part in parts(code[head.end() : end - 1])]


def parts(text):
    """What stands between the commas outside brackets."""
    found, depth, begin = [], 0, 0
    for at, letter in enumerate(text):
        depth += {"(": 1, "<": 1, "[": 1, ")": -1, ">": -1, "]": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            found.append(text[begin:at])
            begin = at + 1
    found.append(text[begin:])
    return [part for part in found if part.strip() and part.strip() != "void"]


def parameter(text, types):
    text = " ".join(text.split("=")[0].split())
    pointer = "*" in text or "[" in text
    words = re.sub(r"\b(const|volatile|__restrict__|__restrict|restrict|struct|__grid_constant__|std::|thrust::)(?=\W|\b)", " ", text)
    words = re.sub(r"\[.*", " ", words).replace("std::", " ").replace("thrust::", " ")
    stars = words.count("*")
    # The last word is the parameter's name, unless it has none.
    names = words.replace("*", " * ").replace("&", " ").split()
    kind = " ".join(word for word in names if word != "*")
    if kind not in C_TYPES and types.get(kind) is None:
        kind = " ".join(kind.split()[:-1])
    kind = types.get(kind, kind)
    return Parameter(text, C_TYPES.get(kind) if stars <= 1 else None, pointer)
