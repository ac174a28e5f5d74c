//! Statements and operators.

use crate::dump::Shown;
use crate::support::{code, text};
use insta::assert_snapshot;

#[test]
fn loops_switches_and_branches() {
    assert_snapshot!(text(
        "__global__ void k(int* p, int n) {\n  for (int i = 0, j = n; i < j; ++i, --j) { if (i == 3) continue; p[i] = j; }\n\
           do n -= 2; while (n > 0);\n  while (true) { if (p[n]) break; }\n\
           switch (n) { case 0: case 1: p[0] = 1; break; default: p[1] = 2; case 'a': return; }\n\
           int a[3] = {1, 2, 3};\n  for (int& x : a) x += n;\n  for (auto x : a) p[x] = 0;\n  n = (p[0], p[1]);\n\
           p[n++] = n && p[2] || !n;\n  int m = ({ int t = n * 2; t + 1; });\n  for (;;) {}\n}\n"
    ));
}

#[test]
fn constant_conditions_leave_one_branch() {
    assert_snapshot!(text(
        "template <class T, int N> __global__ void k(T* p) {\n  if constexpr (std::is_same_v<T, float>) p[0] = 1; else p[0] = missing(p);\n\
           if (N > 4) p[1] = 2;\n  if (sizeof(T) == 8) p[2] = missing(p);\n}\n\
         template __global__ void k<float, 8>(float*);\n"
    ));
}

#[test]
fn assembly() {
    assert_snapshot!(text(
        "__global__ void k(int* p, float f) {\n  unsigned lane; int x;\n  asm volatile(\"bar.sync 0;\");\n\
           asm(\"bar.sync 1, 64;\" ::: \"memory\");\n  asm(\"mov.u32 %0, %%laneid;\" : \"=r\"(lane));\n\
           asm volatile(\"membar.gl;\" ::: \"memory\");\n  asm(\"add.s32 %0, %1, %2;\" : \"=r\"(x) : \"r\"(p[0]), \"r\"(x));\n\
           asm(\"st.global.u32 [%0], %1;\" :: \"l\"(p), \"r\"(1));\n  asm(\"exit;\");\n}\n"
    ));
}

#[test]
fn what_is_not_understood_is_counted_and_keeps_its_parts() {
    let found = code(
        "__global__ void k(int* p, int n) {\n  again:\n  p[0] = n;\n  if (n--) goto again;\n  p[n] = new int[p[1]] != 0;\n}\n",
    );
    let causes: Vec<_> = found.gaps.iter().map(|(cause, _)| *cause).collect();
    assert_eq!(causes, ["goto", "new"]);
}

#[test]
fn launch_bounds_are_a_number() {
    let found = code("#define T 128\n__global__ void __launch_bounds__(T * 2, 4) k(int* p) { p[0] = 1; }\n");
    assert_eq!(found.launch_bounds, Some(256));
}

#[test]
fn deep_code_ends() {
    let deep = format!("__global__ void k(int* p) {{ p[0] = {}1{}; }}\n", "f(".repeat(300), ")".repeat(300));
    let _ = code(&deep);
    let nested =
        format!("__global__ void k(int* p) {{ {} p[0] = 1; {} }}\n", "if (p[1]) {".repeat(300), "}".repeat(300));
    let _ = code(&nested);
}

#[test]
fn assembly_that_may_wait_or_jump_may_do_anything() {
    use cudalint_kernel::code::{Effect, Expr};
    let effect = |line: &str| {
        let found = code(&format!("__global__ void k(int* p) {{ asm volatile(\"{line}\" :: \"l\"(p)); }}\n"));
        found.exprs.iter().find_map(|node| match node.kind {
            Expr::Opaque { effect, .. } => Some(effect),
            _ => None,
        })
    };
    assert_eq!(effect("st.shared.u32 [%0], 1;"), Some(Effect::Writes));
    assert_eq!(effect("mbarrier.try_wait.b64 %0, [x];"), Some(Effect::Anything));
    assert_eq!(effect("@p bra DONE;"), Some(Effect::Anything));
    assert_eq!(effect("ld.global.u32 r, [%0];"), None);
}

#[test]
fn texture_references_and_alignments_are_no_gaps() {
    let found = code(
        "texture<float, 1, cudaReadModeElementType> source;\n\
         template <class T> __global__ void k(T* p) {\n  p[alignof(T)] = tex1Dfetch(source, threadIdx.x);\n}\n\
         template __global__ void k<double>(double*);\n",
    );
    assert!(found.gaps.is_empty(), "{:?}", found.gaps);
    let found = Shown(&found).to_string();
    assert!(found.contains("opaque none:u64()"), "{found}");
}
