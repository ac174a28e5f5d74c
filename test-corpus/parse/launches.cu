// Launch forms. Each case starts with `// case: name`; `// expect: kind count, ...` counts nodes of its tree.
// case: plain
// expect: kernel_call_syntax 1, function_definition 2
__global__ void scale(float *v, float f) { v[threadIdx.x] *= f; }
void run(float *v) { scale<<<1, 256>>>(v, 2.0f); }
// case: four configuration arguments
// expect: kernel_call_syntax 1
void run() { scale<<<grid, block, bytes, stream>>>(v, 2); }
// case: template arguments
// expect: kernel_call_syntax 2, template_function 2
void run() { reduce<float, 128><<<g, b>>>(x); reduce<vec<int, 4>, (N > 2)><<<g, b>>>(x); }
// case: qualified member kernel
// expect: kernel_call_syntax 1
void run() { ops::Sum<float>::kernel<<<g, b>>>(x); }
// case: shifts in the configuration
// expect: kernel_call_syntax 1
void run() { pass<<<n >> 5, 1 << 5>>>(x); }
// case: comments and lines in the configuration
// expect: kernel_call_syntax 1
void run() {
    pass
        <<<grid, /* threads */ block,
           0>>>  // launch
        (a,
         b);
}
// case: braces as dimensions
// expect: kernel_call_syntax 3
void run() { pass<<<{8, 8}, {32, 4}>>>(x); pass<<<1, {32, 1, 1}>>>(x); pass<<<g, b, 0, {}>>>(x); }
// case: in branches without braces
// expect: kernel_call_syntax 2, if_statement 1
void run(int n) { if (n > 1) pass<<<1, n>>>(x); else pass<<<1, 1>>>(x); }
// case: in a switch
// expect: kernel_call_syntax 2, case_statement 3
void run(int n) { switch (n) { case 1: pass<1><<<1, 1>>>(x); break; case 2: pass<2><<<1, 2>>>(x); break; default: break; } }
// case: through a function pointer
// expect: kernel_call_syntax 1
void run() { auto f = pick ? one : two; f<<<1, 2>>>(x); }
// case: in a lambda
// expect: kernel_call_syntax 1, lambda_expression 1
void run() { timed([&] { pass<<<1, 2>>>(x); }); }
// case: in a checker macro
// expect: kernel_call_syntax 1, call_expression 3
#define CHECK(e) do { if ((e) != cudaSuccess) abort(); } while (0)
void run() { pass<<<1, 2>>>(x); CHECK(cudaGetLastError()); }
// case: arguments split by a condition
// expect: kernel_call_syntax 1, call_expression 2
void run() {
    pass<<<1, 2>>>(a,
#ifdef WITH_BIAS
                   bias,
#endif
                   n);
    done();
}
// case: stepping through configurations by a macro
// expect: kernel_call_syntax 1
#define BEGIN_TIMING { start = now();
#define END_TIMING(name) stop(name, now() - start); }
void run() {
    BEGIN_TIMING
    pass<A, B><<<g, b>>>(x);
    END_TIMING("pass")
    done();
}
