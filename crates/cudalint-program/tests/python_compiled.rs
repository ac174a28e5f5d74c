//! What Numba refuses to compile, and the neighbours that it accepts. Each line was tried with the versions that the module names.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use cudalint_program::ir::ModuleId;
use cudalint_program::python::compiled::{Assumption, FaultKind, Reason, faults};
use cudalint_program::{ProjectOptions, load_texts};
use cudalint_syntax::Span;

const HEAD: &str = "import math, random\nimport numpy as np\nfrom numba import cuda, float32, njit\nTPB = 32\nTUP = (4, 8)\n\
                    HALF = TPB / 2\nLST = [4, 4]\nDEBUG = False\ndef plain(x): return x\n@njit\ndef jitted(x): return x\n\
                    @cuda.jit\ndef other(a): a[0] = 1\n";

/// What is found in a kernel with this body: the text of each fault with its kind.
fn found(body: &str) -> Vec<(String, FaultKind)> {
    found_in(&format!("{HEAD}@cuda.jit\ndef k(a, n, m=8):\n    {}\n", body.replace('\n', "\n    ")))
}

fn found_in(text: &str) -> Vec<(String, FaultKind)> {
    assumed_in(text).into_iter().map(|(text, kind, _)| (text, kind)).collect()
}

fn assumed_in(text: &str) -> Vec<(String, FaultKind, Option<Assumption>)> {
    let program = load_texts(&[("a.py", text)], &ProjectOptions::default()).unwrap();
    assert!(!program.files[0].damaged, "{text}");
    let module = program.project.module(ModuleId(0));
    let told = |span: Span| text[span.range()].to_owned();
    faults(module).into_iter().map(|fault| (told(fault.span), fault.kind, fault.assumes)).collect()
}

fn reason(shape: &str) -> Option<Reason> {
    let found = found(&format!("for i in range(4):\n    s = cuda.shared.array({shape}, float32)"));
    assert!(found.len() < 2, "{found:?}");
    found.into_iter().next().map(|(_, kind)| match kind {
        FaultKind::Shape { culprit, .. } => culprit.reason,
        other => panic!("{other:?}"),
    })
}

#[test]
fn shapes_must_be_constant() {
    for (shape, expected) in [
        ("n", Reason::Parameter),
        ("(n, 4)", Reason::Parameter),
        ("(4, n, TPB)", Reason::Parameter),
        ("a.shape", Reason::Parameter),
        ("a.shape[0]", Reason::Parameter),
        ("a.size", Reason::Parameter),
        ("len(a)", Reason::Parameter),
        ("int(n)", Reason::Parameter),
        ("n + 1", Reason::Parameter),
        ("cuda.blockDim.x", Reason::Launch),
        ("cuda.blockDim.x * 2", Reason::Launch),
        ("cuda.grid(1)", Reason::Launch),
        ("TPB + 1", Reason::Arithmetic),
        ("(TPB, TPB + 1)", Reason::Arithmetic),
        ("TPB // 2", Reason::Arithmetic),
        ("-TPB", Reason::Arithmetic),
        ("TUP + (4,)", Reason::Arithmetic),
        ("TPB / 2", Reason::NotInteger),
        ("4.0", Reason::NotInteger),
        ("HALF", Reason::NotInteger),
        ("LST", Reason::List),
        ("[4, 4]", Reason::List),
        ("int(TPB)", Reason::Call),
        ("len(TUP)", Reason::Call),
        ("math.ceil(3.2)", Reason::Call),
        ("i", Reason::Loop),
    ] {
        assert_eq!(reason(shape), Some(expected), "{shape}");
    }
    for shape in [
        "TPB",
        "16",
        "0",
        "(TPB, 4)",
        "TUP",
        "TUP[0]",
        "2 ** 3",
        "(2 * 3, 4)",
        "(4,) * 2",
        "m",
        "TPB or 4",
        "unknown",
        "a.ndim",
        "*TUP",
        "jitted(3)",
        "Color.RED",
        "-1",
    ] {
        assert_eq!(reason(shape), None, "{shape}");
    }
}

#[test]
fn variables_lead_to_what_they_get() {
    let shape = |before: &str| found(&format!("{before}\ns = cuda.local.array(t, float32)")).len();
    for before in ["t = n", "t = cuda.blockDim.x", "t = TPB * 2", "u = n\nt = u"] {
        assert_eq!(shape(before), 1, "{before}");
    }
    for before in ["t = 16", "t = TPB", "t = 16\nt = 32", "t = (4, 4)", "t, u = 4, n", "t = u = 4", "t = n\nt = 4"] {
        assert_eq!(shape(before), 0, "{before}");
    }
    // What a device function gets may be a constant where it is called.
    let device = |body: &str| found_in(&format!("{HEAD}@cuda.jit(device=True)\ndef d(n):\n    {body}\n")).len();
    assert_eq!(device("return cuda.local.array(n, float32)[0]"), 0);
    assert_eq!(device("return cuda.local.array(n + 1, float32)[0]"), 1);
}

#[test]
fn branches_that_constants_decide_are_left_out() {
    let bad = "s = cuda.local.array(n, float32)";
    for head in ["if n > 3:", "if cuda.grid(1) < n and a[0] > 1:", "for j in range(0):", "while n > 3:", "while True:"]
    {
        assert_eq!(found(&format!("{head}\n    {bad}")).len(), 1, "{head}");
    }
    for head in [
        "if False:",
        "if DEBUG:",
        "if TPB > 100:",
        "if n is None:",
        "if a.ndim == 2:",
        "if isinstance(n, int):",
        "if m == 3:",
        "if DEBUG and n > 3:",
        "while DEBUG:",
        "if n:",
    ] {
        assert_eq!(found(&format!("{head}\n    {bad}")).len(), 0, "{head}");
    }
    for before in ["return", "assert DEBUG", "if DEBUG:\n    return", "raise ValueError", "while True:\n    pass"] {
        assert_eq!(found(&format!("{before}\n{bad}")).len(), 0, "{before}");
    }
    let bad = "s = cuda.local.array(a.size, float32)";
    for before in ["if n > 3:\n    return", "assert n > 3", "if DEBUG:\n    n = 3\nx = 1", "while True:\n    break"] {
        assert_eq!(found(&format!("{before}\n{bad}")).len(), 1, "{before}");
    }
}

#[test]
fn kernels_return_nothing() {
    for value in ["n + 1", "a[0]", "0", "(1, 2)", "a", "max(n, 3)", "math.sqrt(n)", "n > 0", "x"] {
        let body = format!("x = a[0] * 2\nif n > 1:\n    return {value}");
        let found = found(&body);
        assert_eq!(found, [(format!("return {value}"), FaultKind::Returns)], "{value}");
    }
    for value in ["None", "", "cuda.syncthreads()", "jitted(n)", "m", "y"] {
        assert_eq!(found(&format!("y = None\nif n > 1:\n    return {value}")), [], "{value}");
    }
    // Device functions do.
    assert_eq!(found_in(&format!("{HEAD}@cuda.jit(device=True)\ndef d(n):\n    return n + 1\n")), []);
}

#[test]
fn what_kernels_cannot_contain() {
    for body in [
        "try:\n    a[0] = 1\nexcept Exception:\n    a[0] = 2",
        "try:\n    a[0] = 1\nfinally:\n    a[0] = 2",
        "with open('x') as f:\n    pass",
        "import math as mm",
        "class C: pass",
        "global TPB\nTPB = 3",
        "x, *y = (1, 2, 3)",
        "x = [i for i in range(4)]",
        "x = {i for i in range(4)}",
        "x = {i: i for i in range(4)}",
        "x = sum(i for i in range(4))",
        "yield n",
        "x = {1: 2}",
        "x = {1}",
        "x = []",
        "x = [0] * 4",
        "x = list(a)",
        "open('x')",
        "x = random.random()",
        "x = np.random.rand()",
        "x = np.zeros(4)",
        "x = np.array([1, 2])",
        "x = np.array([i for i in range(4)])",
        "a[0] = plain(n)",
        "other[1, 1](a)",
        "x = '{}'.format(n)",
        "print('%d' % n)",
        "print(f'{n}')",
        "print(n, end='')",
    ] {
        assert_eq!(found(body).len(), 1, "{body}: {:?}", found(body));
    }
    for body in [
        "try:\n    return\nexcept Exception:\n    pass",
        "assert n > 0, 'message'",
        "raise ValueError('x')",
        "for x in [1, 2]:\n    a[0] += x",
        "for i, x in enumerate(a):\n    a[i] = x",
        "a[0] = jitted(n)",
        "g = lambda x: x + 1\na[0] = g(n)",
        "def g(x):\n    return x\na[0] = g(n)",
        "print('x', n)",
        "print(f'x')",
        "a[0], a[1] = a[1], a[0]",
        "x = np.float32(n) + np.sin(a[0])",
        "x = (y := 3)",
        "x, y = 1, 2",
        "a[0] = n % 3",
        "x = any_of(a)",
        "if DEBUG:\n    x = [i for i in range(4)]",
    ] {
        assert_eq!(found(body), [], "{body}");
    }
}

#[test]
fn a_function_that_kernels_call_is_device_code() {
    let kernel = "from numba import cuda, float32\n@cuda.jit\ndef k(a, n):\n    s = cuda.local.array(n, float32)\n    return a[0] + s[0]\n";
    let assumed = |rest: &str| -> Vec<_> {
        assumed_in(&format!("{kernel}{rest}")).into_iter().map(|(_, _, assumed)| assumed).collect()
    };
    assert_eq!(assumed(""), [Some(Assumption::Launched); 2]);
    assert_eq!(assumed("k[1, 2](x, 3)\n"), [None; 2]);
    assert_eq!(assumed("k.forall(3)(x, 3)\n"), [None; 2]);
    assert_eq!(assumed("@cuda.jit\ndef other(a):\n    a[0] = k(a, 8)\n"), []);
    assert_eq!(assumed("use(k)\n"), []);
    // Inside another function.
    let nested = format!("def f(x):\n    {}", kernel.replace('\n', "\n    "));
    assert_eq!(
        assumed_in(&format!("{nested}k[1, 2](x, 3)\n")).iter().filter(|(_, _, assumed)| assumed.is_none()).count(),
        2
    );
    assert_eq!(assumed_in(&format!("{nested}return k\n")), []);
}

#[test]
fn programs_that_expect_it_or_change_the_compiler_are_left_alone() {
    let kernel = "@cuda.jit\ndef k(a):\n    return a[0] + 1\n";
    let one = |text: &str| found_in(&format!("from numba import cuda\n{text}")).len();
    assert_eq!(one(kernel), 1);
    assert_eq!(one(&format!("{kernel}with pytest.raises(TypeError):\n    k[1, 1](a)\n")), 0);
    assert_eq!(one(&format!("{kernel}try:\n    k[1, 1](a)\nexcept TypeError:\n    pass\n")), 0);
    assert_eq!(one(&format!("{kernel}try:\n    other()\nexcept TypeError:\n    pass\n")), 1);
    let nested = kernel.replace('\n', "\n    ");
    assert_eq!(
        one(&format!("def test(self):\n    {nested}\n    with self.assertRaises(TypeError):\n        k[1, 1](a)\n")),
        0
    );
    assert_eq!(one(&format!("from numba.extending import overload\n{kernel}")), 0);
    assert_eq!(one(&format!("import os\nos.environ['NUMBA_ENABLE_CUDASIM'] = '1'\n{kernel}")), 0);
    // A function that is handed to something may have been made known to Numba.
    let called = "def f(x): return x\n@cuda.jit\ndef k(a):\n    a[0] = f(a[0])\n";
    assert_eq!(one(called), 1);
    assert_eq!(one(&format!("{called}register(f)\n")), 0);
    assert_eq!(one(&format!("f = cuda.jit(device=True)(lambda x: x)\n{called}")), 0);
}
