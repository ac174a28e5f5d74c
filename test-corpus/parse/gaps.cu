// Constructs of C++ that the grammar reads only after the mask.
// case: typename before a functional cast
// expect: function_definition 1, call_expression 3
void f() { g(typename T::X{}, a); auto y = typename T::Y(); x = typename T::Y(1, 2); return typename T::Z{}; }
// case: template disambiguation
// expect: function_definition 1
void f() { a.template foo<int>(); p->template bar<1>(x); T::template baz<2>(); auto q = typename A::template B<3>{}; }
// case: explicit instantiation of classes
// expect: class_specifier 2, struct_specifier 1
template class X<float>;
template struct Y<int, 4>;
extern template class Z<int>;
// case: explicit instantiation of functions
// expect: declaration 3
template void f<float>(float*);
template __global__ void k<int>(int*);
extern template void g<1>(int);
// case: default arguments in braces
// expect: optional_parameter_declaration 5
void f(T const& x = {}, U = {}, int y = {}) { g(); }
struct S { S(A a, B const& b = {}); void f(P p = {X::Y}); };
// case: decltype as a value
// expect: function_definition 1
void f() { auto x = g(decltype(y){}); h(rank(decltype(z){})); auto w = decltype(y)(1); decltype(a) b; using T = decltype(a + b); }
// case: greater or equal in a template list
// expect: alias_declaration 1, template_type 1
using A = std::conditional_t<Arch >= 90, X, Y>;
// case: using typename
// expect: using_declaration 2
struct S : B<T> { using typename B<T>::X; using B<T>::y; };
// case: deleted functions
// expect: declaration 2
template <class T> __host__ __device__ void f(T& x) = delete;
void g(int) = delete;
// case: functional casts of builtin types
// expect: call_expression 3
void f() { x |= (unsigned(g) << 2); y = unsigned(3); z = int(4.f); }
// case: arrays of pointers
// expect: new_expression 4
void f() { int **p = new int*[n]; const float **q = new const float *[n]; auto r = new T[n]; auto s = new ns::T*[n]; }
// case: type identity
// expect: if_statement 2
void f() { if (typeid(Real) == typeid(double)) g(); if (typeid(T) == typeid(float)) h(); }
// case: member pointers
// expect: function_definition 1
void f() { (p->*m)(1); x = q->*n; }
// case: unnamed bit fields
// expect: field_declaration 2
struct S { unsigned a : 4; int b : 28; unsigned int : 0; };
// case: old style parameters
// expect: function_definition 1, return_statement 1
int f(a, b) int a; char *b; { return a; }
// case: label at the end
// expect: labeled_statement 1
void f() { goto x; y(); x: }
// case: specialised call operator
// expect: function_definition 1
template <> int S::operator()<X>(int a) { return a; }
// case: operators as members
// expect: call_expression 3
void f() { this->operator[](i); a.operator()(b); c.operator==(d); }
// case: asm without commas
// expect: gnu_asm_expression 1
__device__ void f() { asm volatile("x %0, %1;" : "=r"(a) "=r"(b) : "r"(c)); }
// case: asm forms
// expect: gnu_asm_expression 3
__device__ void f() { asm("bar.sync 0;"); asm volatile("ld %0, [%1];" : "=r"(a) : "l"(p) : "memory"); asm("{ \n" " x; \n" "}" :: "r"(b)); }
// case: comparison before a template call
// expect: for_statement 1, binary_expression 1
void f() { for (int i = 0; i < size<0>(t); ++i) g(i); }
// case: comparisons that look like a list
// expect: binary_expression 9, template_function 0
void f() { if (x < 1 && x > -1) g(); if (a < 0 || a >= n) g(); if (i < n && j > (m)) g(); }
// case: lists with blanks stay lists
// expect: template_type 2
std::vector < int > v;
static_assert(true, "");
std::map < Key, Value > m;
// case: defaults of unnamed pointers
// expect: function_definition 1
template <class T> void f(T a, typename enable_if<is_ok<T>::value>::type * = 0) { g(); }
// case: fold expressions and packs
// expect: fold_expression 1
template <typename... Ts> auto sum(Ts... xs) { return (xs + ...); }
// case: raw strings
// expect: raw_string_literal 1, call_expression 1
const char *src = R"cuda(
__global__ void k() { #if "unbalanced (
)cuda";
void f() { g(); }
// case: digit separators
// expect: number_literal 2
int a = 1'000'000; char c = 'x'; int b = 0xFF'FF;
// case: vector of unique pointers
// expect: function_definition 1
std::vector<std::unique_ptr<A<B>>> foo(T const& a) { return x; }
// case: wmma and pipelines
// expect: function_definition 1, call_expression 4
__global__ void k() {
    nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, half, nvcuda::wmma::row_major> a;
    nvcuda::wmma::load_matrix_sync(a, p, 16);
    auto pipe = cuda::make_pipeline();
    pipe.producer_acquire();
    __syncthreads();
}
// case: shared memory forms
// expect: declaration 4
__global__ void k() { extern __shared__ float dyn[]; __shared__ float tile[32][33]; static __shared__ int n; __shared__ union { int a; float b; } u; }
// case: structured binding and if with initialiser
// expect: if_statement 1
void f() { auto [a, b] = g(); if (auto e = cudaGetLastError(); e != cudaSuccess) h(e); }
// case: constexpr if
// expect: if_statement 2
template <int N> __device__ void f() { if constexpr (N > 1) { g(); } else if constexpr (N == 1) { h(); } }
// case: concepts
// expect: concept_definition 1, function_definition 1
template <typename T> concept Small = sizeof(T) <= 4;
template <Small T> __device__ T f(T x) { return x; }
// case: attributes of statements
// expect: switch_statement 1
void f(int a) { switch (a) { case 1: g(); [[fallthrough]]; case 2: h(); break; } }
// case: gotos and do loops
// expect: do_statement 1, goto_statement 1
void f() { do { if (g()) goto out; } while (h()); out: return; }
// case: try blocks
// expect: try_statement 1, catch_clause 1
void f() { try { g(); } catch (const std::exception &e) { h(e); } }
// case: values of a file's own macros choose the branch
// expect: call_expression 2
#define VERSION 3
int a = f(
#if VERSION > 2
    g(1)
#else
    h(1, g(2))
#endif
);
// case: an object made for its value in a template list
// expect: function_definition 2
template <class T> __host__ __device__ std::enable_if_t<is_small<T>{}, T> pack(unsigned v) { return T{v}; }
template <class T> __host__ __device__ std::enable_if_t<!is_small<T>{}, T> pack(unsigned v) { return T{v + 1}; }
