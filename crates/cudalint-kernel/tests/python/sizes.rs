//! Sizes that would show a defect, searched for in kernels written in Python.

use crate::support::{F32, kernel};
use cudalint_kernel::code::Ty;
use cudalint_kernel::python::{ArgumentType, Order};
use cudalint_kernel::solve::{Operation, Problem, TermArgument, Terms, out_of_bounds};
use cudalint_kernel::{Argument, Budget, Buffer, Contents, execute};

/// What the execution of the kernel `k(a, n)` with `n` elements in `a` shows for the `n` that the search proposes; blocks of
/// 64 threads, as many as cover `n`.
fn proposed(body: &str) -> Option<(i64, Vec<String>)> {
    let mut case = kernel(&format!("@cuda.jit\ndef k(a, n):\n{body}"));
    let array = ArgumentType::Array { element: F32, rank: 1, order: Order::C };
    case.specialization.arguments = vec![array, ArgumentType::Scalar(Ty::LONG)];
    let mut terms = Terms::default();
    let (input, n) = terms.variable(1, 1 << 20);
    let (one, more, block, bytes) = (terms.constant(1), terms.constant(63), terms.constant(64), terms.constant(4));
    let sum = terms.of(Operation::Add, n, more);
    let grid = terms.of(Operation::Div, sum, block);
    let size = terms.of(Operation::Mul, n, bytes);
    let zero = terms.constant(0);
    let problem = Problem {
        inputs: vec![input],
        grid: [grid, one, one],
        block: [block, one, one],
        arguments: vec![TermArgument::Pointer { buffer: 0, offset: zero }, TermArgument::Int(n), TermArgument::Int(n)],
        buffers: vec![Some(size)],
        dynamic_shared: None,
        conditions: Vec::new(),
        terms,
    };
    let n = *out_of_bounds(&case.code(), &problem, 1).first()?.first()?;
    case.launch.grid = [(n as u32).div_ceil(64), 1, 1];
    case.launch.arguments = vec![Argument::Pointer { buffer: 0, offset: 0 }, Argument::Int(n), Argument::Int(n)];
    case.launch.buffers =
        vec![Buffer { bytes: Some(n as u64 * 4), contents: Contents::Unknown, align: 256, field: String::new() }];
    execute(&case.code(), &case.launch, &Budget::default());
    Some((n, case.seen()))
}

#[test]
fn a_guard_one_too_far_is_met_by_a_size_that_shows_it() {
    let (n, seen) = proposed("    i = cuda.grid(1)\n    if i <= n:\n        a[i] = 1\n").unwrap();
    assert_eq!(seen, [format!("outside a[i] at {} by {}", 4 * n, n % 64)]);
    let (n, seen) = proposed("    x = cuda.grid(1)\n    if (x >= 0) & (x < a.size + 2):\n        a[x] = 1\n").unwrap();
    assert!(n % 64 != 0 && !seen.is_empty(), "{n} {seen:?}");
    let loop_ = "    for i in range(cuda.grid(1), len(a), cuda.gridsize(1)):\n        a[i + 3] = 1\n";
    let (_, seen) = proposed(loop_).unwrap();
    assert!(seen.iter().any(|event| event.starts_with("outside a[i+3]")), "{seen:?}");
}

#[test]
fn a_negative_index_is_met_too() {
    let (_, seen) = proposed("    i = cuda.grid(1)\n    if i < n:\n        a[i - 2] = 1\n").unwrap();
    assert!(seen.iter().any(|event| event.starts_with("negative a[i-2]")), "{seen:?}");
}

#[test]
fn right_guards_leave_nothing() {
    assert_eq!(proposed("    i = cuda.grid(1)\n    if i < n:\n        a[i] = 1\n"), None);
    assert_eq!(proposed("    for i in range(cuda.grid(1), a.shape[0], cuda.gridsize(1)):\n        a[i] = 1\n"), None);
    assert_eq!(proposed("    i = cuda.grid(1)\n    if 0 < i < a.size - 1:\n        a[i - 1] = a[i + 1]\n"), None);
}
