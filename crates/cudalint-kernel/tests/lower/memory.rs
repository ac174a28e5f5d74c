//! Variables, arrays and static objects.

use crate::support::{code, text};
use insta::assert_snapshot;

#[test]
fn a_variable_is_a_register_until_its_address_is_asked_for() {
    assert_snapshot!(text(
        "__device__ void set(int& r, int* p) { r = *p; }\n\
         __global__ void k(int n) {\n  int a = 1, b = 2, c = 3;\n  a = b;\n  set(a, &b);\n  int& r = c;\n  r += a;\n  n++;\n\
           float2 v = make_float2(1, 2);\n  float* f = &v.y;\n  v.x = *f;\n}\n"
    ));
}

#[test]
fn arrays_of_every_kind() {
    assert_snapshot!(text(
        "__constant__ float coef[9];\n__device__ int counter;\nconst int table[2][3] = {{1, 2}, {4, 5, 6}};\n\
         __global__ void k(float (*rows)[8], int grid[][4], float* out) {\n\
           __shared__ float tile[4][5];\n  extern __shared__ double dyn[];\n  __shared__ int flag;\n\
           int local[3] = {1, 2};\n  int full[] = {7, 8};\n  tile[threadIdx.y][threadIdx.x] = rows[1][2];\n\
           float* p = tile[2];\n  p[1] = *tile[3];\n  flag = grid[1][2];\n  dyn[threadIdx.x] = coef[4];\n\
           local[flag] += table[1][local[2]];\n  out[0] = full[1];\n  counter++;\n  float (*q)[5] = tile;\n  q[1][1] = 0;\n\
           char text[] = \"ab\";\n}\n"
    ));
}

#[test]
fn arrays_inside_records() {
    assert_snapshot!(text(
        "struct M { int n; float v[2][2]; };\nunion U { float f; int i; };\n\
         struct N { M m; U u; };\n\
         __global__ void k(M* ms, N* ns, int i) {\n  M m = ms[0];\n  m.n = 1;\n  float x = ms[i].v[1][i];\n  x = m.v[i][0];\n\
           U u;\n  u.f = x;\n  i = u.i;\n  ns->m.v[0][1] = ns->u.f;\n}\n"
    ));
}

#[test]
fn shared_arrays_of_a_device_function_are_one_for_each_instance() {
    let found = code(
        "template <class T, int N> __device__ T sum(T x) {\n  __shared__ T part[N];\n  part[threadIdx.x] = x;\n  return part[0];\n}\n\
         __global__ void k(float* p) {\n  p[0] = sum<float, 32>(p[1]) + sum<float, 32>(p[2]);\n  p[3] = sum<double, 64>(p[4]);\n}\n",
    );
    let sizes: Vec<_> = found.objects.iter().map(|object| (object.bytes, object.element)).collect();
    assert_eq!(sizes, [(Some(128), 4), (Some(512), 8)]);
    assert_eq!(found.functions.len(), 3);
}

#[test]
fn a_store_stands_at_its_target() {
    let source = "__global__ void k(float* p, int i) { p[i + 1] = p[i]; }\n";
    let found = code(source);
    let texts: Vec<&str> = found
        .exprs
        .iter()
        .filter(|node| matches!(node.kind, cudalint_kernel::code::Expr::Write(..)))
        .map(|node| &source[node.site.span.range()])
        .collect();
    assert_eq!(texts, ["p[i + 1]"]);
}

#[test]
fn variables_at_namespace_scope_live_where_they_say() {
    assert_snapshot!(text(
        "__shared__ int tile[8][8];\nextern __shared__ float open[];\nint host;\nstatic const int T[3] = {1, -2, 3};\n\
         __managed__ int m;\n__constant__ int c = 4;\nnamespace n { __device__ float d[2]; }\n\
         __global__ void k(int* p) {\n  tile[1][threadIdx.x] = T[2] + m + c;\n  open[0] = n::d[1];\n  p[0] = host;\n}\n"
    ));
}

#[test]
fn a_copy_of_a_record_reads_what_is_used_of_it() {
    assert_snapshot!(text(
        "struct P { float x, y; int tag; };\n\
         __global__ void k(P* ps, float* out, int n) {\n  P p = ps[n];\n  out[0] = p.y;\n  P all = ps[1];\n  ps[2] = all;\n\
           P next = ps[n++];\n  out[1] = next.x;\n  for (int i = 0; i < n; i++) { auto q = ps[i]; n += q.tag; }\n}\n"
    ));
}

#[test]
fn a_constant_table_has_values_unless_the_host_may_write_it() {
    let kernel = "__constant__ int order[4] = {3, 1, 2, 0};\n__device__ const unsigned char bytes[2] = {255, 1};\n\
                  __global__ void k(int* p) { p[0] = order[1] + bytes[0]; }\n";
    let values = |source: &str| {
        code(source)
            .objects
            .iter()
            .map(|object| object.values.as_ref().map(|(_, values)| values.to_vec()))
            .collect::<Vec<_>>()
    };
    assert_eq!(values(kernel), [Some(vec![3, 1, 2, 0]), Some(vec![255, 1])]);
    let written = format!("{kernel}void f(int* h) {{ cudaMemcpyToSymbol(order, h, 16); }}\n");
    assert_eq!(values(&written), [None, Some(vec![255, 1])]);
}
