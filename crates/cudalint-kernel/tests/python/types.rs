use crate::dump::{Shown, ShownTy};
use crate::support::{F32, F64, kernel};
use cudalint_kernel::code::Ty;

/// The code of `out[0] = EXPRESSION` with parameters of the types that their names say.
fn stored(expression: &str) -> String {
    let text = format!("@cuda.jit\ndef k(out, i, l, u, ul, h, f, d):\n    out[0] = {expression}\n");
    let code = kernel(&text)
        .array(Ty::Opaque { bytes: Some(8) }, &[1])
        .number(Ty::INT, 0)
        .number(Ty::LONG, 0)
        .number(Ty::UINT, 0)
        .number(Ty::SIZE, 0)
        .number(Ty::Int { bytes: 2, signed: true }, 0)
        .number(F32, 0)
        .number(F64, 0);
    code.text()
}

/// The type that `x` has behind statements.
fn type_behind(statements: &str) -> String {
    // What a loop assigns twice has a register of its own.
    let text = format!(
        "@cuda.jit\ndef k(i, l, u, ul, h, f, d):\n{statements}    for last in range(1):\n        y = x\n        y = x\n"
    );
    let case = kernel(&text)
        .number(Ty::INT, 0)
        .number(Ty::LONG, 0)
        .number(Ty::UINT, 0)
        .number(Ty::SIZE, 0)
        .number(Ty::Int { bytes: 2, signed: true }, 0)
        .number(F32, 0)
        .number(F64, 0);
    let code = case.code();
    let found = code.functions.raw[0].variables.iter().find(|variable| variable.name == "y");
    found.map_or_else(|| panic!("{}", Shown(&code)), |variable| ShownTy(&variable.ty).to_string())
}

/// Compares with a list of what Numba infers.
#[track_caller]
fn agrees(list: &str, statements: impl Fn(&str) -> String) {
    let mut wrong = Vec::new();
    for line in list.lines().filter(|line| !line.starts_with('#')) {
        let (source, ty) = line.split_once(" -> ").unwrap();
        let bits = ty.trim_start_matches(|c: char| c.is_ascii_alphabetic());
        let ours = type_behind(&statements(source));
        if ours != format!("{}{bits}", if ty == "bool" { "bool" } else { &ty[..1] }) {
            wrong.push(format!("{source}: {ours} instead of {ty}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn expressions_have_the_types_that_numba_infers() {
    agrees(include_str!("types.txt"), |expression| format!("    x = {expression}\n"));
}

#[test]
fn variables_have_the_types_that_numba_infers() {
    agrees(include_str!("variables.txt"), |statements| {
        let line = |statement: &str| {
            let statement = statement.trim_end_matches(';');
            let level = statement.matches("| ").count();
            format!("    {}{}\n", "    ".repeat(level), statement.trim_start_matches("| "))
        };
        statements.split("; ").map(line).collect()
    });
}

#[test]
fn a_variable_has_the_type_of_all_its_values() {
    let text = "@cuda.jit\ndef k(a, n):\n    s = 0\n    for j in range(n):\n        s += a[j]\n    a[0] = s\n";
    let case = kernel(text).array(F32, &[4]).number(Ty::INT, 4);
    insta::assert_snapshot!(case.text(), @"
    void k(ptr a, i64 a.shape[0], i32 n)
      f64 s
      s = 0.0:f64
      i32 j
      j = 0
      loop (j < n); j +:i32= 1
        s +:f64= f64(f32[(a + j*4)])
      f32[(a + 0:i64*4)] = f32(s)
    ");
}

#[test]
fn a_name_that_is_given_something_else_is_another_variable() {
    kernel("@cuda.jit\ndef k(a):\n    x = cuda.grid(1)\n    a[x] = 1\n    x = x * 0.5\n    a[cuda.threadIdx.x] = x\n    x = a\n    x[63] = 1\n")
        .array(F32, &[64])
        .block(1)
        .clean_and_complete();
    kernel("@cuda.jit\ndef k(a, n):\n    n = n - 1\n    s = cuda.shared.array(64, float32)\n    t = cuda.threadIdx.x\n    s[t] = a[t]\n    s = cuda.shared.array(n_of, int32)\n    s[t % 4] = t\n    a[n] = 0\n".replace("n_of", "4").as_str())
        .array(F32, &[64])
        .number(Ty::LONG, 64)
        .block(1)
        .clean_and_complete();
    // What only some threads assign is the same one.
    let text = "@cuda.jit\ndef k(a):\n    x = 0\n    if cuda.threadIdx.x > 3:\n        x = 64\n    a[x] = 1\n";
    let seen = kernel(text).array(F32, &[64]).block(5).seen();
    assert!(seen.contains(&"outside a[x] at 256 by 4".to_owned()), "{seen:?}");
}

#[test]
fn operators_round_as_python_does() {
    assert!(stored("l // 2").contains("(l //"), "{}", stored("l // 2"));
    // Where nothing is negative that is C's division.
    assert!(stored("cuda.threadIdx.x // 2").contains(" / "), "{}", stored("cuda.threadIdx.x // 2"));
    assert!(stored("l % 3").contains("FloorRem("), "{}", stored("l % 3"));
    assert!(stored("cuda.threadIdx.x % 3").contains(" % "), "{}", stored("cuda.threadIdx.x % 3"));
    assert!(stored("7 // -2").contains("-4"), "{}", stored("7 // -2"));
    assert!(stored("-7 % 3").contains('2'), "{}", stored("-7 % 3"));
}

#[test]
fn remainders_are_computed_with_the_divisors_sign() {
    // (t - 3) % 5 is never negative: no index leaves the array.
    kernel("@cuda.jit\ndef k(a):\n    t = cuda.threadIdx.x\n    a[(t - 3) % 64] = t\n")
        .array(F32, &[64])
        .clean_and_complete();
    kernel("@cuda.jit\ndef k(a):\n    t = cuda.threadIdx.x\n    a[(t - 3) // 64 + 1] = 1.0\n")
        .array(F32, &[1])
        .block(1)
        .clean_and_complete();
    kernel("@cuda.jit\ndef k(a):\n    t = cuda.threadIdx.x\n    a[(t + 1) % -64 + 64] = 1.0\n")
        .array(F32, &[64])
        .block(63)
        .clean_and_complete();
}
