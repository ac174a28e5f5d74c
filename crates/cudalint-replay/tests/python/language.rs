//! Numbers as Python itself computes them: each of these was once taken for another.

use crate::support::program;

/// What a launch is given as its only argument.
fn given(code: &str, number: &str) -> String {
    let seen = program(&format!(
        "
import numpy as np
import cupy as cp
from numba import cuda

@cuda.jit
def k(*args):
    pass

{code}
k[1, 1]({number})
"
    ));
    seen.told().pop().unwrap_or_default().rsplit_once('(').map(|(_, rest)| rest.to_owned()).unwrap_or_default()
}

#[test]
fn defaults_are_those_of_the_definition() {
    assert_eq!(given("n = 3\ndef f(a=n):\n    return a\nn = 500", "f()"), "3:8)");
    assert_eq!(given("def f(a, seen=[]):\n    seen.append(a)\n    return len(seen)\nf(1)", "f(2)"), "2:8)");
    assert_eq!(given("fs = [lambda i=i: i for i in range(4)]", "fs[1]()"), "1:8)");
    let method =
        "n = 3\nclass C:\n    def f(self, a=n):\n        return a\n    def __init__(self):\n        pass\nn = 500";
    assert_eq!(given(method, "C().f()"), "3:8)");
}

#[test]
fn a_class_has_variables_of_its_own() {
    let class = "class C:\n    k = 1\n    xs = []\n    def __init__(self):\n        self.k += 5\n    def f(self):\n        return 7\n";
    assert_eq!(given(&format!("{class}a = C()\nC.k = 50"), "a.k + C.k"), "56:8)");
    assert_eq!(given(&format!("{class}C().xs.append(1)"), "len(C.xs)"), "1:8)");
    assert_eq!(given(&format!("{class}def g(self):\n    return 9\nC.f = g"), "C().f()"), "9:8)");
    assert_eq!(given("class C:\n    k = 3\n    m = k * 2", "C.m"), "6:8)");
}

#[test]
fn an_import_that_nobody_knows_may_fail() {
    for (package, sure) in [("nobodys", false), ("cupy", true)] {
        let code = format!(
            "
from numba import cuda
@cuda.jit
def k(n):
    pass
try:
    import {package} as m
    n = 700
except ImportError:
    n = 4
k[n, 1](n)
"
        );
        let seen = program(&code);
        let [launch] = &seen.launches()[..] else { unreachable!("{package}") };
        assert_eq!(launch.grid.axes[0].quantity.known(), Some(700));
        assert_eq!(launch.grid.axes[0].assumptions.is_none(), sure, "{package}");
    }
}

#[test]
fn conversions_round_to_zero_and_formats_have_a_width() {
    assert_eq!(given("", "int(-2.5) + 10"), "8:8)");
    assert_eq!(given("", "sum((1, 2), 40)"), "43:8)");
    assert_eq!(given("n = 36", "len(f'{n}')"), "2:8)");
    assert_eq!(given("n = 36", "len(f'{n:04d}')"), "?)");
}

#[test]
fn what_is_deleted_is_gone() {
    assert_eq!(given("a = [3, 2, 6]\ndel a[0]", "a[1] + len(a)"), "8:8)");
    assert_eq!(given("a = {'x': 1}\ndel a['x']", "len(a)"), "?)");
}

#[test]
fn parts_and_sums_of_arrays() {
    assert_eq!(given("a = np.arange(12)\na.shape = (3, 4)", "a"), "a+0 of 96 held; 3:8; 4:8)");
    assert_eq!(given("a = cp.arange(10)", "a[-30:4]"), "a+0 of 80 held; 4:8)");
    assert_eq!(given("a = cp.ones((3, 4), dtype=cp.int32)", "a.sum()"), "+0 of 8)");
    // Along an axis it is an array of which nothing is known.
    assert_eq!(given("a = np.ones((3, 4))", "a.max(axis=0)"), "?)");
}

#[test]
fn what_has_an_effect_is_evaluated_once() {
    let counted = "seen = [0]\ndef f(n):\n    seen[0] += 1\n    return n\n";
    assert_eq!(given(&format!("{counted}r = 0 <= f(5) < 10"), "seen[0]"), "1:8)");
    assert_eq!(given(&format!("{counted}a = [1, 2, 3]\na[f(1)] += 5"), "seen[0] * 10 + a[1]"), "17:8)");
    // What is on the left is read before the right is computed.
    assert_eq!(given("n = 1\ndef f():\n    global n\n    n = 50\n    return 2\nn += f()", "n"), "3:8)");
}

#[test]
fn a_list_may_grow_while_it_is_gone_through() {
    let code = "a = [1, 2]\nfor x in a:\n    if len(a) < 5:\n        a.append(x + 1)";
    assert_eq!(given(code, "len(a)"), "5:8)");
}

#[test]
fn scalars_of_numpy_keep_their_type() {
    for (number, expected) in [
        ("np.uint8(200) + np.uint8(100)", "44:1)"),
        ("-np.int32(7)", "-7:4)"),
        ("abs(np.int32(-7))", "7:4)"),
        ("np.int32(7) // 2", "3:4)"),
        ("min(np.int32(7), 9)", "7:4)"),
        ("max([3, 4], key=lambda x: -x)", "?)"),
        ("True & False", "0:1)"),
        ("True + True", "2:8)"),
    ] {
        assert_eq!(given("", number), expected, "{number}");
    }
}

#[test]
fn a_lambda_uses_its_own_variable_and_not_that_of_a_comprehension() {
    let code = "def f():\n    i = 40\n    xs = [i for i in range(3)]\n    return (lambda: i + xs[2])()";
    assert_eq!(given(code, "f()"), "42:8)");
}

#[test]
fn what_is_no_number_may_be_the_whole_configuration() {
    let seen = program(
        "
from numba import cuda
@cuda.jit
def k(n):
    pass
class G:
    def __iter__(self):
        return iter(((2, 3), (8, 8)))
k[tuple(G())](1)
",
    );
    assert_eq!(seen.told(), ["k [unknown, unknown, unknown] [unknown, unknown, unknown] (1:8)"]);
}

#[test]
fn a_call_that_does_not_fit_ends_the_script() {
    assert_eq!(given("def f(a, b=2):\n    return a\nf(1, b=3)", "1"), "1:8)");
    assert_eq!(given("def f(a, *rest):\n    return a\nf(1, 2, 3)", "1"), "1:8)");
    assert_eq!(given("def f(a, **more):\n    return a\nf(1, block=(1, 1, 1))", "1"), "1:8)");
    assert_eq!(given("class C:\n    def f(self, a):\n        return a\nC().f(1)", "1"), "1:8)");
    assert_eq!(given("class C:\n    @staticmethod\n    def f(a):\n        return a\nC().f(1)\nC.f(1)", "1"), "1:8)");
    assert_eq!(given("class C:\n    @classmethod\n    def f(cls, a):\n        return a\nC.f(1)", "1"), "1:8)");
    assert_eq!(given("def f(a):\n    return a\nf(1, 2)", "1"), "");
    assert_eq!(given("def f(a, b, c=1):\n    return a\nf(1)", "1"), "");
    assert_eq!(given("def f(a, *, b):\n    return a\nf(1, c=2)", "1"), "");
    assert_eq!(given("def f(a, b, *r, c=1, **k):\n    return b\nf(1, b=2, d=3)", "f(*[3, 4])"), "4:8)");
    assert_eq!(given("def f(a, b, *r, c=1, **k):\n    return b", "f(1, b=2, d=3)"), "2:8)");
    // A local that is assigned further down.
    assert_eq!(given("def f():\n    x = late\n    late = 1\n    return x\nf()", "1"), "");
    assert_eq!(given("def f():\n    if len('a') > 3:\n        late = 1\n    return 5\n", "f()"), "5:8)");
    assert_eq!(given("def f(a):\n    return a\nf(1, block=(1, 1, 1))", "1"), "");
    assert_eq!(given("class C:\n    def f(self):\n        return 1\nC().f(1)", "1"), "");
}
