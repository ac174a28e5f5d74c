use crate::support::{F32, dialect, kernel};
use cudalint_kernel::code::Ty;
use cudalint_program::ir::Dialect;

#[test]
fn numbers_are_those_of_c() {
    let text = "@jit.rawkernel()\ndef k(a, n):\n    i = jit.blockIdx.x * jit.blockDim.x + jit.threadIdx.x\n    x = 1.5\n    for j in range(n):\n        a[i] = x * j / 2\n";
    let case = kernel(text).array(F32, &[64]).number(Ty::INT, 2);
    assert_eq!(dialect(&case), Dialect::CupyJit);
    insta::assert_snapshot!(case.text(), @"
    void k(ptr a, i64 a.shape[0], i32 n)
      u32 i
      i = ((blockIdx.x * blockDim.x) + threadIdx.x)
      i32 j
      j = 0
      loop (j < n); j +:i32= 1
        f32[(a + i*4)] = ((1.5:f32 * f32(j)) / 2.0:f32)
    ");
}

#[test]
fn indices_do_not_wrap() {
    let text = "@jit.rawkernel()\ndef k(a):\n    i = jit.threadIdx.x\n    a[i - 1] = 1\n";
    kernel(text).array(F32, &[64]).sees(&["outside a[i-1] at 17179869180 by 0"]);
}

#[test]
fn a_variable_keeps_the_type_that_it_began_with() {
    let text = "@jit.rawkernel()\ndef k(a):\n    i = jit.threadIdx.x\n    i = 0\n    a[i - 1] = 1\n";
    kernel(text).array(F32, &[64]).block(1).sees(&["outside a[i-1] at 17179869180 by 0"]);
}

#[test]
fn shared_memory_barriers_and_atomics() {
    let text = "@jit.rawkernel()\ndef k(a):\n    s = jit.shared_memory(np.float32, 64)\n    t = jit.threadIdx.x\n    s[t] = a[t]\n    BARRIER\n    a[t] = s[63 - t]\n    jit.atomic_add(a, t % 2, 1)\n";
    kernel(&text.replace("BARRIER", "jit.syncthreads()")).array(F32, &[64]).seen();
    let seen = kernel(&text.replace("    BARRIER\n", "")).array(F32, &[64]).seen();
    assert!(seen.contains(&"race block s[t] / s[63-t]".to_owned()), "{seen:?}");
    let seen = kernel(&text.replace("BARRIER", "jit.syncthreads()")).array(F32, &[64]).seen();
    assert!(!seen.iter().any(|event| event.contains("s[t]")), "{seen:?}");
}

#[test]
fn more_axes_and_functions() {
    let text = "@jit.rawkernel(device=True)\ndef at(a, i):\n    return a[i, 1]\n@jit.rawkernel()\ndef k(a):\n    i, j = jit.grid(2)\n    if i < len(a):\n        a[i, 0] = at(a, i) + a.shape[1] + a.size + jit.laneid()\n";
    kernel(text).array(F32, &[64, 2]).clean_and_complete();
}
