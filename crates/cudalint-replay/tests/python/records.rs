//! Structured types and complex numbers: their sizes on the host, and what kernels do with their parts.

use crate::support::program;

const START: &str = "
import ml_dtypes
import numpy as np
import numba
from numba import cuda
from settings import fields, kind

point = np.dtype([('x', np.float32), ('y', np.float32), ('n', np.int32)])

";

fn shown(code: &str) -> Vec<String> {
    program(&format!("{START}{code}")).shown()
}

/// How many bytes an array of three elements of a type has.
fn bytes_of_three(dtype: &str) -> String {
    let code = format!(
        "
@cuda.jit
def k(a):
    n = a.size

inner = np.dtype([('p', np.int16), ('q', np.float64)], align=True)
k[1, 1](np.zeros(3, dtype={dtype}))
"
    );
    let told = program(&format!("{START}{code}")).told();
    let (_, rest) = told[0].split_once(" of ").unwrap();
    rest.split(' ').next().unwrap_or_default().trim_end_matches(';').to_owned()
}

#[test]
fn fields_lie_behind_one_another_and_are_aligned_where_that_is_asked() {
    // The expected sizes are `NumPy`'s `itemsize`, times three.
    for (dtype, bytes) in [
        ("point", 36),
        ("np.dtype([('a', np.float64), ('b', np.int32), ('c', np.complex64), ('d', (np.uint8, 5))], align=True)", 96),
        ("np.dtype([('a', np.float64), ('b', np.int32), ('c', np.complex64), ('d', (np.uint8, 5))])", 75),
        ("[('a', 'i1'), ('b', 'f8')]", 27),
        ("np.dtype([('a', 'i1'), ('b', 'f8')], align=True)", 48),
        ("np.dtype([('a', 'i4'), ('m', 'f4', (3, 2))])", 84),
        ("np.dtype([('a', 'i1'), ('in', inner), ('s', 'S5')], align=True)", 96),
        ("np.dtype([('a', 'i1'), ('in', inner)])", 51),
        ("'f4,i8'", 36),
        ("np.dtype('i1, c16', align=True)", 72),
        ("np.dtype({'names': ['a', 'b'], 'formats': ['f4', np.int8]})", 15),
        ("np.dtype({'names': ['a', 'b'], 'formats': ['f4', 'f4'], 'offsets': [0, 12], 'itemsize': 32})", 96),
        ("np.complex64", 24),
        ("ml_dtypes.bfloat16", 6),
        ("ml_dtypes.float8_e4m3fn", 3),
        ("[('w', ml_dtypes.bfloat16, 3), ('s', 'f4')]", 30),
        ("complex", 48),
        ("numba.types.Record.make_c_struct([('a', numba.types.int8), ('b', numba.types.float64)])", 48),
    ] {
        assert_eq!(bytes_of_three(dtype), bytes.to_string(), "{dtype}");
    }
}

#[test]
fn what_is_not_in_sight_has_no_size() {
    for dtype in
        ["np.dtype(fields)", "np.dtype([('a', kind)])", "[('a', 'f4'), ('a', 'f4')]", "np.dtype([('o', object)])"]
    {
        // Four bytes stand in for an element.
        assert_eq!(bytes_of_three(dtype), "12", "{dtype}");
    }
}

#[test]
fn fields_of_elements_are_accessed_in_bounds_and_beyond() {
    for access in [
        "a[i + 1].x = 1",
        "a[i + 1]['x'] = 1",
        "a['x'][i + 1] = 1",
        "a.x[i + 1] = 1",
        "out[i] = a[i + 1].y",
        "out[i] = a[i + 1]['y']",
        "out[i] = a['y'][i + 1]",
        "a[i + 1].n += 2",
        "a[i + 1]['n'] -= 2",
        "cuda.atomic.add(a['n'], i + 1, 1)",
        "r = a[i + 1]\n        out[i] = r.x + r.y",
        "a[i] = a[i + 1]",
        "out[i] = second(a[i + 1])",
    ] {
        let code = format!(
            "
@cuda.jit(device=True)
def second(p):
    return p.y

@cuda.jit
def k(a, out):
    i = cuda.grid(1)
    if i < out.size:
        {access}

a = np.zeros(100, dtype=point)
out = np.zeros(100, dtype=np.float32)
k[1, 128](a, out)
"
        );
        let seen = shown(&code);
        assert!(
            seen.iter().any(|line| line.starts_with("k if []: ") && line.contains("leaves a")),
            "{access}: {seen:?}"
        );
        let within = shown(&code.replace("i < out.size", "i + 1 < out.size"));
        assert!(!within.iter().any(|line| line.contains("leaves")), "{access}: {within:?}");
    }
}

#[test]
fn two_fields_of_one_record_are_two_places() {
    let code = |second: &str| {
        format!(
            "
rec = numba.from_dtype(point)

@cuda.jit
def k(out):
    s = cuda.shared.array(1, dtype=rec)
    t = cuda.threadIdx.x
    if t == 0:
        s[0].x = 1
    if t == 40:
        s[0].{second} = 2
    cuda.syncthreads()
    out[t] = s[0].x

k[1, 64](np.zeros(64, dtype=np.float32))
"
        )
    };
    assert_eq!(shown(&code("y")), [""; 0]);
    assert_eq!(shown(&code("x")), ["k if []: race on s"]);
}

#[test]
fn shared_arrays_of_records_have_extents() {
    let seen = shown(
        "
rec = numba.from_dtype(point)

@cuda.jit
def k(a):
    s = cuda.shared.array(32, dtype=rec)
    t = cuda.threadIdx.x
    s[t].x = a[t].x
    cuda.syncthreads()
    a[t].y = s[t].x

k[1, 64](np.zeros(64, dtype=point))
",
    );
    assert_eq!(seen, ["k if []: s[t].x leaves s at 32", "k if []: s[t].x leaves s at 32"]);
}

#[test]
fn a_field_of_an_array_of_the_host_is_a_view() {
    let seen = program(&format!(
        "{START}
@cuda.jit
def k(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = 0

a = np.zeros((10, 5), dtype=[('x', 'f4'), ('m', 'i8', 2)])
k[1, 1](a['m'])
k[1, 1](a[2]['x'])
"
    ));
    let told = seen.told();
    assert!(told[0].contains("; 10:8; 5:8; 2:8; 100:8; 20:8; 8:8)"), "{told:?}");
    assert!(told[1].contains("; 5:8; 20:8)"), "{told:?}");
}

#[test]
fn an_array_of_tuples_is_one_of_records() {
    let seen = program(&format!(
        "{START}
@cuda.jit
def k(a):
    i = cuda.grid(1)
    if i < a.shape[0]:
        a[i].n = 0

k[1, 32](np.array([(1, 2, 3), (4, 5, 6)], dtype=point))
"
    ));
    assert_eq!(seen.told().len(), 1);
    assert!(seen.told()[0].contains(" of 24; 2:8)"), "{:?}", seen.told());
    assert_eq!(seen.shown(), [""; 0]);
}

#[test]
fn complex_numbers_are_elements_of_known_size_and_unknown_value() {
    let code = |guard: &str| {
        format!(
            "
@cuda.jit
def k(z, out):
    i = cuda.grid(1)
    if {guard}:
        w = z[i] * z[i] + 2j
        if abs(w) > 2 and w.imag < 1:
            w = complex(w.real, 0.5)
        z[i] = w
        out[i] = w.real

z = np.zeros(100, dtype=np.complex64)
k[1, 128](z, np.zeros(128, dtype=np.float32))
"
        )
    };
    let seen = shown(&code("i < out.size"));
    assert_eq!(seen.first().map(String::as_str), Some("k if []: z[i] leaves z at 100"), "{seen:?}");
    assert_eq!(shown(&code("i < z.size")), [""; 0]);
}

#[test]
fn a_field_that_is_not_aligned_is_not_compiled() {
    let seen = shown(
        "
@cuda.jit
def k(a):
    i = cuda.grid(1)
    a[i].y = 1

k[1, 128](np.zeros(100, dtype=[('x', 'i1'), ('y', 'f4')]))
",
    );
    assert_eq!(seen, [""; 0]);
}
