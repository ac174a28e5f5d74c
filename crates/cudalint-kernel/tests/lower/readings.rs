//! What a kernel's code says of itself.

use crate::support::code;
use cudalint_kernel::code::Ty;
use cudalint_kernel::readings::{KernelSummary, Mistake, block, formula, summary, uses, vacuous};
use cudalint_kernel::report::Site;
use cudalint_program::ir::ModuleId;
use cudalint_syntax::Span;

fn summary_of(text: &str) -> KernelSummary {
    summary::summary(&code(text))
}

/// The place of a part of the text.
fn site(text: &str, part: &str) -> Site {
    let start = text.find(part).unwrap();
    Site { module: ModuleId(0), span: Span::new(start, start + part.len()) }
}

fn covers(text: &str) -> Vec<(u8, u32, i64)> {
    summary_of(text).covers.iter().map(|claim| (claim.axis, claim.parameter, claim.offset)).collect()
}

#[test]
fn a_kernel_covers_what_it_tests_its_plain_index_against() {
    let plain = "__global__ void k(float* p, int n) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n";
    assert_eq!(covers(&format!("{plain}  if (i < n) p[i] = 1;\n}}\n")), [(0, 1, 0)]);
    assert_eq!(covers(&format!("{plain}  if (i >= n - 1) return;\n  p[i] = 1;\n}}\n")), [(0, 1, -1)]);
    assert_eq!(covers(&format!("{plain}  if (i < n)\n    for (int j = 0; j < 4; ++j) p[i] += j;\n}}\n")), [(0, 1, 0)]);
    // More than one element a thread, another use of the block's number, a bound that changes.
    for rest in [
        "  if (i < n) for (int j = i; j < n; j += 32) p[j] = 1;",
        "  if (i < n) p[i] = blockIdx.x;",
        "  n /= 2;\n  if (i < n) p[i] = 1;",
        "  if (i < n) p[i] = gridDim.x;",
        "  i += 32;\n  if (i < n) p[i] = 1;",
    ] {
        assert_eq!(covers(&format!("{plain}{rest}\n}}\n")), [], "{rest}");
    }
}

#[test]
fn parameters_are_dereferenced_by_functions_that_are_called_too() {
    let text = "__device__ float first(const float* q) { return q[0]; }\n\
                __device__ float* same(float* q) { return q; }\n\
                __global__ void k(float* a, float* b, float* c, float* d, int* e, int* f) {\n\
                  a[0] = first(b);\n  float* r = c + 4;\n  *same(r) = 1;\n  if (d) atomicAdd(e, 1);\n}\n";
    let mut found = summary_of(text).dereferenced;
    found.sort_unstable();
    assert_eq!(found, [0, 1, 2, 4]);
}

#[test]
fn dynamic_arrays_are_followed_to_their_uses() {
    let text = "__global__ void k(float* p, int n, bool flag) {\n  __shared__ float s[32];\n\
                  extern __shared__ float a[];\n  extern __shared__ int b[];\n\
                  if (threadIdx.x < n) a[threadIdx.x] = s[0];\n  __syncthreads();\n\
                  if (flag) b[threadIdx.x + 4] = 1;\n}\n";
    let found = summary_of(text);
    assert_eq!((found.static_shared, found.barrier_between_dynamic, found.incomplete), (Some(128), true, false));
    let uses: Vec<_> =
        found.dynamic_shared.iter().map(|it| (&*it.name, it.written, it.surely_used, it.shifted, it.carved)).collect();
    assert_eq!(uses, [("a", true, true, false, false), ("b", true, false, true, false)]);
    let carved = summary_of(
        "__global__ void k(int n) {\n  extern __shared__ float a[];\n  float* rest = a + n;\n  rest[0] = a[0];\n}\n",
    );
    assert!(carved.dynamic_shared[0].carved);
}

#[test]
fn arrays_that_leave_room_for_another_in_front() {
    let shifted = |uses: &str| {
        let text = format!(
            "__device__ void add(int* a, int at, int by) {{ for (int i = 0; i < 2; i++) a[at + i] += a[at + by + i]; }}\n\
             __device__ void set(int* a, int first) {{ a[first + threadIdx.x] = 0; }}\n\
             __global__ void k(int n, const int* from) {{\n  extern __shared__ int b[];\n\
             int t = threadIdx.x, start = 64 * n, own = t * n;\n  {uses}\n}}\n"
        );
        summary_of(&text).dynamic_shared[0].shifted
    };
    for uses in [
        "b[start + t] = 0; b[start + own + 1] += b[start + t + 3];",
        "b[t + blockDim.x] = 0;",
        "b[n * blockDim.x + t] = 0;",
        "set(b, start); b[start + t] = 1;",
        "add(b, start, t);",
        "set(b + start, n);",
    ] {
        assert!(shifted(uses), "{uses}");
    }
    for uses in [
        "b[start + t] = 0; b[t] = 1;",
        "b[own + t] = 0;",
        "b[t + from[0]] = 0;",
        "b[t * blockDim.x] = 0;",
        "set(b, own);",
        "set(b, start); set(b, 0);",
        "add(b, own, t);",
    ] {
        assert!(!shifted(uses), "{uses}");
    }
}

#[test]
fn wrong_index_formulas_are_read_off_the_access() {
    let mistakes = |index: &str, access: &str| -> Vec<Mistake> {
        let text = format!("__global__ void k(float* p, int n) {{\n  int i = {index};\n  {access} = 1;\n}}\n");
        formula::formulas(&code(&text), site(&text, access)).into_iter().map(|found| found.mistake).collect()
    };
    assert_eq!(mistakes("blockIdx.x * gridDim.x + threadIdx.x", "p[i]"), [Mistake::GridForBlock(0)]);
    assert_eq!(mistakes("blockIdx.y + threadIdx.y", "p[2 + i]"), [Mistake::BlockAdded(1)]);
    assert_eq!(mistakes("threadIdx.x + blockDim.y * blockIdx.x", "*(p + i)"), [Mistake::OtherAxis(0, 1)]);
    assert_eq!(mistakes("threadIdx.x", "p[i]"), [Mistake::NoBlock(0)]);
    assert_eq!(mistakes("blockIdx.x * blockDim.x + threadIdx.x", "p[i]"), []);
    assert_eq!(mistakes("threadIdx.x + n", "p[i]"), []);
}

#[test]
fn a_condition_that_holds_for_every_index_keeps_nothing_out() {
    let found = |condition: &str| {
        let text = format!(
            "__global__ void k(int* out, const int* at, int n) {{\n  int b = at[threadIdx.x];\n  \
             if ({condition}) out[b] = 1;\n}}\n"
        );
        vacuous::unguarded(&code(&text), &[("n".to_owned(), 8)]).len()
    };
    assert_eq!([found("b >= 0 || b < n"), found("b < n || 0 <= b")], [1, 1]);
    assert_eq!([found("n > b || 0 <= b"), found("n > b || b >= 0"), found("0 <= b || n > b")], [1, 1, 1]);
    assert_eq!([found("n > b && 0 <= b"), found("n < b || 0 <= b"), found("n > b || 0 >= b")], [0, 0, 0]);
    assert_eq!([found("b >= 0 && b < n"), found("b >= 1 || b < n"), found("b < 0 || b >= n")], [0, 0, 0]);
}

#[test]
fn what_becomes_of_memory_behind_parameters() {
    let text = "__device__ void put(float* q, int i) { q[i] = 1; }\n__device__ void hide(float* q);\n\
                __global__ void k(const float* a, float* b, float* c, float* d, int* e, int n) {\n  \
                int i = threadIdx.x;\n  float* moved = b + n;\n  moved[i] = a[i * n + 1];\n  put(c, i);\n  \
                hide(d);\n  ((float*)e)[i] += 1;\n}\n";
    let found = uses::uses(&code(text));
    let said: Vec<_> = found.iter().map(|it| (it.written, it.escapes, it.multiplied)).collect();
    let nothing = (false, false, false);
    let expected = [(false, false, true), (true, false, false), (true, false, false), (false, true, false)];
    assert_eq!(said[..4], expected);
    assert_eq!(said[4..], [(true, false, false), nothing]);
    assert_eq!(found[4].types, [Ty::Float { bytes: 4 }]);
}

#[test]
fn blocks_that_a_kernel_is_made_for() {
    let code = code(
        "__global__ void k(float* a, int w) {\n  __shared__ float tile[16][17];\n  \
         tile[threadIdx.y][threadIdx.x] = a[threadIdx.y * w + threadIdx.x];\n}\n",
    );
    assert_eq!(block::axes(&code), [true, true, false]);
    assert_eq!(block::tiles(&code).collect::<Vec<_>>(), [[16, 17]]);
}
