//! What the Python front end makes of small sources, as pseudo-code.
#![allow(clippy::unwrap_used, missing_docs)]

use cudalint_program::ir::{Dialect, Expr, Function, Module, ModuleId};
use cudalint_program::{ProjectOptions, load_texts};
use cudalint_syntax::Span;
use std::fmt::Write as _;

fn module(text: &str) -> &'static Module {
    let program = load_texts(&[("a.py", text)], &ProjectOptions::default()).unwrap();
    // As long as the test.
    Box::leak(Box::new(program)).project.module(ModuleId(0))
}

fn dump(text: &str) -> String {
    module(text).dump()
}

fn function<'m>(module: &'m Module, name: &str) -> &'m Function {
    module.functions.iter().find(|function| function.name == *name).unwrap()
}

#[test]
fn expressions() {
    insta::assert_snapshot!(dump(
        r#"
x = 0xFF + 1_000 - 2 ** 3 // 4 / 5 % 6
y = not a or b and -c < ~d <= e != f is not None
z = p in q, r not in s
w = True if x else ...
k[grid, block, stream](u, *v, name=1, **kw)
one[100,](x)
two[(1, 2)]
s[1:2, ::3, :, i]
lst = [1, *rest, (2,), ()]
dct = {"a": 1, **other}
st = {1, 2}
f"a{x!r:>{y}}b{{c}}" 'd' "e"
"joined " 'text\n' r'\raw' b"\x41"
if (n := len(x)) > 3: pass
obj.attr.method(1).other
a @ b
3j
99999999999999999999
[i * j for i in range(3) for j in range(i) if j if i]
{k: v for k, v in d.items()}
sum(x for x in xs)
{x for x, in xs}
"#
    ));
}

#[test]
fn statements() {
    insta::assert_snapshot!(dump(
        r#"
import os.path, numpy as np
from . import sibling
from ..pkg.mod import a as b, c
from m import *
from __future__ import annotations
a = b = c = 1
a, (b, *c), d[0], e.f = value
total += 1
m @= n
count: int = 3
declared: float
while x:
    break
else:
    done()
while x:
    continue
else:
    done()
for i, j in pairs:
    pass
else:
    print("none")
if x:
    one
elif y:
    two
elif z:
    three
else:
    four
try:
    risky()
except (A, B) as problem:
    handle(problem)
except C:
    pass
except:
    raise
else:
    fine()
finally:
    close()
with open(a) as f, lock, (g as h):
    body()
with (first() as one, second()):
    pass
match command:
    case [x, *rest] if x: act(x)
    case Point(x=0, y=yy) | {"k": v, **others}: pass
    case mod.VALUE | "text" | -1: pass
    case _: pass
assert x, "message"
del a, b[0]
raise Error("x") from cause()
print >>out, "old", x
type Alias = int
async def co():
    async for x in y: await z
    async with q: pass
    return
1, 2
1,
"#
    ));
}

#[test]
fn functions_and_scopes() {
    insta::assert_snapshot!(dump(
        r"
N = 4
def plain(a, b=N, *rest, c, d=2, **keywords):
    local = a
    return local + N
def outer(x, y=lambda q: q):
    count = 0
    def inner(z=x):
        nonlocal count
        global total
        count += 1
        total = count
        def innermost():
            return x + z + total
        return innermost
    values = [x for x in range(3)]
    return inner, (lambda: x), [lambda: v for v in values]
handlers = [lambda: i for i in range(3)]
def late():
    use = before
    before = 1
    import os
    class Local(Base):
        shared = x
    return os, Local
def old((a, b), c):
    return a
def gen(only, /, by_name):
    got = yield only
    yield from got
"
    ));
}

#[test]
fn classes() {
    insta::assert_snapshot!(dump(
        r#"
@dataclass(frozen=True)
class Config(Base, pkg.Other, make(), metaclass=Meta):
    """What it is."""
    n: int = 3
    width: float
    M = n * 2
    a = b = 1
    for i in range(3):
        extra = i
    def method(self, k=M):
        return self.n + k + N
    @staticmethod
    def make(n): return Config()
    @property
    def size(self): return M
    class Inner:
        z = 1
    if M:
        def conditional(self): pass
"#
    ));
}

#[test]
fn kernels_are_found_through_imports() {
    let text = r#"
import numba
import numba.cuda as nc
import cupyx.jit
from numba import cuda, vectorize, float32, void
from numba.cuda import jit as cj
from cupyx import jit
try:
    from numba import cuda as maybe
except ImportError:
    maybe = None
if fast:
    from numba import cuda as either
else:
    from fake import cuda as either
sig = "void(f4[:])"
@cuda.jit
def k1(a): pass
@nc.jit("void(f4[:])")
def k2(a): pass
@cj(void(float32[:]), fastmath=True, launch_bounds=(128, 2))
def k3(a): pass
@numba.cuda.jit(device=True, inline=True)
def d1(a): pass
@cuda.reduce
def d2(a, b): return a + b
@vectorize(["float32(float32)"], target="cuda")
def v1(a): return a
@numba.guvectorize(["void(f4[:], f4[:])"], "(n)->(n)", target="cuda")
def v2(a, b): pass
@nc.vectorize(["float32(float32)"])
def v3(a): return a
@vectorize(["float32(float32)"])
def cpu(a): return a
@jit.rawkernel()
def r1(a): pass
@cupyx.jit.rawkernel(device=True)
def r2(a): pass
@jit.rawkernel
def not_r(a): pass
@maybe.jit
def k4(a): pass
@either.jit
def not_k(a): pass
@cuda.jit(**options)
def not_known(a): pass
@cuda.jit
@wraps
def wrapped(a): pass
@timed
@cuda.jit(None)
def k5(a): pass
def k6(a): pass
launch = cuda.jit(k6)
def k7(a): pass
launch7 = cuda.jit(sig)(k7)
def d3(a): pass
d3 = cuda.jit(device=True)(d3)
def both(a): pass
one, two = cuda.jit(both), cuda.jit(device=True)(both)
def factory(tpb):
    @cuda.jit
    def k8(a): a[0] = tpb
    def k9(a): pass
    return k8, cuda.jit(k9)
class Holder:
    @staticmethod
    @cuda.jit
    def k10(a): pass
def shadowed(cuda):
    @cuda.jit
    def not_ours(a): pass
def local_import():
    from numba import cuda
    @cuda.jit
    def k11(a): pass
alias = cuda.jit
@alias
def not_followed(a): pass
"#;
    let module = module(text);
    let of = |name: &str| {
        function(module, name).python.as_ref().unwrap().kernel.as_ref().map(|kernel| (kernel.dialect, kernel.device))
    };
    for name in ["k1", "k2", "k3", "k4", "k5", "k6", "k7", "k8", "k9", "k10", "k11"] {
        assert_eq!(of(name), Some((Dialect::Numba, false)), "{name}");
        assert!(function(module, name).space.global, "{name}");
    }
    for name in ["d1", "d2", "d3"] {
        let dialect = if name == "d2" { Dialect::Reduce } else { Dialect::Numba };
        assert_eq!(of(name), Some((dialect, true)), "{name}");
        assert!(function(module, name).space.device && !function(module, name).space.global, "{name}");
    }
    assert_eq!((of("v1"), of("v3")), (Some((Dialect::Vectorize, true)), Some((Dialect::Vectorize, true))));
    assert_eq!(of("v2"), Some((Dialect::Guvectorize, true)));
    assert_eq!((of("r1"), of("r2")), (Some((Dialect::CupyJit, false)), Some((Dialect::CupyJit, true))));
    for name in
        ["cpu", "not_r", "not_k", "not_known", "wrapped", "both", "not_ours", "not_followed", "factory", "shadowed"]
    {
        assert_eq!(of(name), None, "{name}");
    }
    assert!(function(module, "k3").launch_bounds.is_some_and(|(_, blocks)| blocks.is_some()));
    let signature = |name: &str| function(module, name).python.as_ref().unwrap().kernel.as_ref().unwrap().signature;
    assert!(["k2", "k3", "k7", "v1"].iter().all(|name| signature(name).is_some()));
    assert!(["k1", "k5", "k6", "k9"].iter().all(|name| signature(name).is_none()));
}

#[test]
fn what_cannot_be_read_is_unknown_and_its_function_damaged() {
    let text = "from numba import cuda\n@cuda.jit\ndef good(a):\n    a[0] = 1\ndef bad(a):\n    x = = a[1]\n    return x\n\
                def also_good(b):\n    return b\n";
    let module = module(text);
    assert!(!function(module, "good").damaged && !function(module, "also_good").damaged);
    assert!(function(module, "bad").damaged);
    assert!(!module.functions.raw[0].damaged);
    assert!(function(module, "good").space.global);
}

#[test]
fn a_launch_in_chevrons_leaves_the_rest_of_its_file_readable() {
    let text = "from numba import cuda\n@cuda.jit\ndef k(a):\n    a[0] = 1\nk<<<g,\n  256>>>(x)\nafter = 1\n";
    let module = module(text);
    assert!(function(module, "k").space.global && !function(module, "k").damaged);
    assert!(module.dump().contains("  k[g, 256i64](x)\n  after = 1i64\n"), "{}", module.dump());
}

#[test]
fn spans_are_those_of_the_file() {
    let text = "# one\ncode = (r'''a'''  # first\n  \"b\" + tail)\n@deco\ndef f(): return f'{x}'\n";
    let module = module(text);
    let at = |span: Span| &text[span.range()];
    let strings: Vec<_> = module
        .exprs
        .iter()
        .filter(|node| matches!(node.kind, Expr::Str(_) | Expr::Python(_)))
        .map(|node| at(node.span))
        .collect();
    assert_eq!(strings, ["r'''a'''  # first\n  \"b\"", "f'{x}'"]);
    assert_eq!(at(function(module, "f").span), "@deco\ndef f(): return f'{x}'");
    assert_eq!(at(function(module, "f").name_span), "f");
    assert_eq!(at(module.globals[0].span), "code");
}

#[test]
fn locals_are_found_by_name_and_comprehensions_keep_theirs() {
    let module =
        module("def f(x):\n    y = [x for x in x for y in x]\n    for x in y: pass\n    import z\n    return y\n");
    let f = function(module, "f");
    let names: Vec<&str> = f.locals.iter().map(|local| local.name.as_str()).collect();
    assert_eq!(names, ["x", "x", "y", "y", "z"]);
    assert_eq!(f.python.as_ref().unwrap().inner.iter().map(|local| local.0).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(f.python_local("y").map(|local| local.0), Some(3));
    assert_eq!(f.python_local("x").map(|local| local.0), Some(0));
    assert!(f.python_local("z").is_some() && f.python_local("f").is_none());
}

/// The head of a block 300 times, each inside the one before.
fn nested(head: &str) -> String {
    let mut text = String::new();
    for depth in 0..300 {
        writeln!(text, "{}{head}", " ".repeat(depth)).unwrap();
    }
    text
}

#[test]
fn broken_and_deep_texts_are_lowered() {
    let text = "import a.b as c\nfrom .x import (y, z)\n@d(1, *e)\nclass A(B, k=C):\n  f: int = 1\n  def g(self, h=[i for i in j], /, *, \
                k=lambda: 0, **l):\n    global m; nonlocal n\n    try:\n      with o as p, q: yield r\n    except (S, T) as u: \
                raise V from w\n    else: del x[1:2, ::3], y.z\n    finally: assert a, f'{b!r:{c}}' 'd'\n    match e:\n      case \
                [F(g=h), *i] if j: return {**k, 'l': {m}}\n    while n < o <= p: q @= (r := not s)\n    else: t[u,] = v, = -w \
                if x else await y\n";
    for end in 0..text.len() {
        module(&text[..end]).dump();
        module(&text[end..]).dump();
    }
    for deep in [
        format!("x = {}1{}\n", "(".repeat(900), ")".repeat(900)),
        format!("x = {}1\n", "-".repeat(5_000)),
        format!("x = a{}\n", ".b".repeat(5_000)),
        format!("x = 1{}\n", " + 1".repeat(5_000)),
        format!("x = {}1\n", "1 ** ".repeat(5_000)),
        format!("x = {}1\n", "lambda: ".repeat(2_000)),
        format!("if a:\n  pass\n{}", "elif b:\n  pass\n".repeat(5_000)),
        nested("if a:"),
        nested("def f():"),
        format!("{} = 1\n", "[".repeat(500)),
    ] {
        module(&deep).dump();
    }
}
