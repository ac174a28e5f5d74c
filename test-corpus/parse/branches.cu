// Preprocessor groups in odd places.
// case: a condition with two heads
// expect: if_statement 1, function_definition 1, call_expression 2
void f() {
#ifdef A
    if (a) {
#else
    if (b) {
#endif
        x();
    }
    y();
}
// case: two function headers
// expect: function_definition 1
#ifdef A
__global__ void k(int *a)
#else
__global__ void k(float *a)
#endif
{
    x();
}
// case: an else before the end
// expect: if_statement 1, call_expression 3
void f() {
#if A
    if (a) { x(); } else
#endif
    { y(); }
    z();
}
// case: parameters
// expect: function_definition 1, parameter_declaration 3
__global__ void k(int *a,
#ifdef A
                  int b,
#endif
                  int c) { x(); }
// case: initialisers
// expect: number_literal 3
int a[] = { 1,
#ifdef A
    2,
#else
    3,
#endif
    4 };
// case: expressions
// expect: binary_expression 1, call_expression 1
void f() {
    int x = a +
#ifdef A
        b
#else
        c
#endif
        ;
    y();
}
// case: loop headers
// expect: for_statement 1
void f() {
    for (int i = 0;
#ifdef A
         i < n; i++)
#else
         i < m; i++)
#endif
    { x(); }
    y();
}
// case: closing braces
// expect: function_definition 2
void f() {
#ifdef A
    x();
}
#else
    y();
}
#endif
void g() { z(); }
// case: template headers
// expect: template_declaration 1, function_definition 2
#ifdef A
template <int N>
#else
template <int N, int M>
#endif
__global__ void k() { x(); }
void g() { z(); }
// case: qualifiers
// expect: function_definition 1
__global__ void
#if __CUDA_ARCH__ > 300
__launch_bounds__(256)
#endif
k(int *p) { x(); }
// case: language linkage
// expect: declaration 1, linkage_specification 1
#ifdef __cplusplus
extern "C" {
#endif
void f();
#ifdef __cplusplus
}
#endif
// case: whole statements stay in both branches
// expect: preproc_ifdef 1, call_expression 3
void f() {
#ifdef A
    x();
#else
    y();
#endif
    z();
}
// case: dead code is gone
// expect: call_expression 1
void f() {
#if 0
    this is not ( code
#endif
    z();
}
// case: the live branch of a literal
// expect: call_expression 2
void f() {
#if 1
    x();
#else
    y();
#endif
    z();
}
// case: device code is chosen
// expect: call_expression 2
int f(int a) {
    return
#ifdef __CUDA_ARCH__
        device(a)
#else
        host(a)
#endif
        + other(a);
}
// case: hip is not chosen
// expect: identifier 3
int x =
#if defined(USE_ROCM) || defined(__HIP_PLATFORM_AMD__)
    hip(1, 2, 3)
#else
    value
#endif
    + y;
// case: enumerators
// expect: enumerator 3
enum E {
    A,
#ifdef WITH_B
    B,
#endif
    C
};
// case: members
// expect: field_declaration 3
struct S {
    int a;
#ifdef WITH_B
    int b;
#endif
    int c;
};
// case: nested groups
// expect: function_definition 1, if_statement 1
void f() {
#ifdef A
#if B > 2
    if (a)
#else
    if (b)
#endif
#else
    if (c)
#endif
    { x(); }
}
// case: a label before the end of a group
// expect: labeled_statement 1, call_expression 1
void f() {
#if A
    goto next;
    next:
#endif
    x();
}
