//! C++ types at every node: conversions, promotion, strides.

use crate::support::text;
use insta::assert_snapshot;

#[test]
fn arithmetic_converts_as_c_does() {
    assert_snapshot!(text(
        "__global__ void k(char c, short s, unsigned u, long long l, float f, double d, size_t z, int i) {\n\
           int a = c + s;\n  l = i * u;\n  l = l + u;\n  f = f + i;\n  f = f * d;\n  z = i * z;\n  bool b = i < z;\n\
           i = -c;\n  i = ~u;\n  i = c << l;\n  u = i >> 3;\n  b = !f;\n  i = b + b;\n  c += i;\n  f *= 2.0;\n\
           u -= i;\n  s++;\n  --b;\n  i = c ? u : l;\n  i = 'a' + 1u;\n  i = -1 < 1u;\n}\n"
    ));
}

#[test]
fn pointers_step_by_the_size_of_what_they_point_to() {
    assert_snapshot!(text(
        "struct S { int a; double b; };\n\
         __global__ void k(float* p, double* q, S* s, int n, unsigned u, const volatile int* v, char* bytes) {\n\
           p[n] = 1;\n  p[u + n] = *(p + 1);\n  q -= n;\n  *q++ = 2;\n  *--p = q[-1];\n  long d = q - &q[n];\n\
           s[n].b = (s + 1)->a;\n  n[p] = 3;\n  if (p == nullptr || !q) n = v[n];\n  float4* w = (float4*)p;\n\
           w[n].y = reinterpret_cast<float4*>(bytes + 16)->x;\n  *(int*)(bytes + n) = *(volatile int*)bytes;\n\
           bool same = p < (float*)bytes;\n  float* r = n ? p : 0;\n  r += u;\n}\n"
    ));
}

#[test]
fn vectors_and_records_are_kept_as_leaves() {
    assert_snapshot!(text(
        "struct P { float2 xy; int n; };\n\
         __global__ void k(float4* a, P* ps, P p) {\n\
           float4 v = a[threadIdx.x];\n  v.x += v.w;\n  a[blockIdx.y] = make_float4(v.y, 1, 2.0, v.x);\n\
           P q = ps[1];\n  q.xy.y = p.n;\n  q.xy = p.xy;\n  ps[0] = q;\n  dim3 t = threadIdx;\n  int i = t.x + blockDim.z;\n\
           float3 z = {1.0f, 2.0f};\n  P made = {v.x > 0 ? p.xy : q.xy, 4};\n  float w = make_float2(1, 2).y;\n\
           uchar4 c = make_uchar4(1, 2, 3, 255);\n  i = c.w;\n  P zero = {};\n}\n"
    ));
}

#[test]
fn sizes_and_constants_are_numbers() {
    assert_snapshot!(text(
        "enum Mode { Fast, Slow = 7 };\nenum class Kind : unsigned char { A, B };\nconst int N = 3;\n\
         constexpr float SCALE = 0.5f;\n#define TILE 16\nstruct S { char c; double d; static const int W = 5; };\n\
         __global__ void k(float* p) {\n  const int m = N * TILE;\n  __shared__ float s[m];\n  s[Slow] = sizeof(s) / sizeof(s[0]);\n\
           p[S::W] = SCALE * sizeof(S);\n  Kind kind = Kind::B;\n  if (kind == Kind::A) s[0] = warpSize;\n  p[m] = Fast;\n}\n"
    ));
}
