//! Checks that stand in another file than what they check.
#![allow(clippy::panic)]

use cudalint_engine::Engine;

/// The rules on statuses that have a finding in files given by name and text.
fn told(files: &[(&str, &str)]) -> Vec<&'static str> {
    let engine = Engine::new(cudalint_rules::RULES);
    let files: Vec<(String, &str)> = files.iter().map(|(name, text)| ((*name).to_owned(), *text)).collect();
    match engine.lint_texts(&files, None) {
        Ok(all) => all.iter().map(|finding| finding.rule.name).collect(),
        Err(error) => panic!("{error}"),
    }
}

const STREAM: &str = "#pragma once\n#include <cuda_runtime.h>\n\
    class Stream { cudaStream_t own; public: void wait(Stream &other, bool external = false); cudaStream_t get(); };\n";

#[test]
fn a_method_that_another_file_defines_checks() {
    let checks = "#include \"stream.h\"\n#include <cstdlib>\n\
        #define LAST do { if (cudaGetLastError() != cudaSuccess) exit(1); } while (0)\n\
        void Stream::wait(Stream &other, bool external) { if (!external) { LAST; } LAST; }\n";
    let none = "#include \"stream.h\"\nvoid Stream::wait(Stream &other, bool external) {}\n";
    let user = "#include \"stream.h\"\n__global__ void one(int *v) { *v = 1; }\n\
        struct Part { Stream own; Stream &stream() { return own; } };\n\
        void run(int *v, Part &a, Part &b) { one<<<1, 1, 0, b.own.get()>>>(v); a.stream().wait(b.own); }\n";
    assert!(told(&[("stream.h", STREAM), ("stream.cu", checks), ("user.cu", user)]).is_empty());
    assert_eq!(told(&[("stream.h", STREAM), ("stream.cu", none), ("user.cu", user)]), ["unchecked-launch"]);
}

const HEADER: &str = "#pragma once\n\
    namespace a { namespace b { void launch(int *v); template <class T> struct Op { static void run(T *v); }; }\n\
    void fill(int *v, int n = 2); }\n";

const KERNELS: &str = "#include \"header.h\"\n__global__ void one(int *v) { *v = 1; }\n";

#[test]
fn callers_check_behind_aliases() {
    for (definition, call) in [
        ("namespace a { namespace b { void launch(int *v) { one<<<1, 1>>>(v); } } }", "al::launch(v)"),
        (
            "namespace a { namespace b { template <class T> void Op<T>::run(T *v) { one<<<1, 1>>>(v); } } }\n\
             template struct a::b::Op<int>;",
            "OpI::run(v)",
        ),
        ("namespace a { void fill(int *v, int n) { one<<<n, 1>>>(v); } }", "a::fill(v)"),
    ] {
        let kernels = format!("{KERNELS}{definition}\n");
        for (behind, expected) in [("if (cudaGetLastError() != cudaSuccess) exit(1);", 0), ("", 1)] {
            let user = format!(
                "#include \"header.h\"\n#include <cuda_runtime.h>\n#include <cstdlib>\n\
                 namespace al = a::b;\nusing OpI = a::b::Op<int>;\nvoid user(int *v) {{ {call}; {behind} }}\n"
            );
            let found = told(&[("header.h", HEADER), ("kernels.cu", &kernels), ("user.cpp", &user)]);
            assert_eq!(found.len(), expected, "{call} {behind} {found:?}");
        }
    }
}

/// A helper's statuses are in the last error, which its callers look at: a constructor's, a method's, a function's.
#[test]
fn callers_look_at_what_a_helper_drops() {
    let text = |first: &str, second: &str| {
        format!(
            "#include <cuda_runtime.h>\n#include <cstdlib>\n\
             static void check() {{ cudaDeviceSynchronize(); if (cudaGetLastError() != cudaSuccess) exit(1); }}\n\
             struct Timer {{ cudaEvent_t a; Timer() {{ cudaEventCreate(&a); }} void start() {{ cudaEventRecord(a); }} }};\n\
             void reserve(void *&p) {{ cudaMalloc(&p, 64); }}\n\
             int first() {{ void *p; Timer t; t.start(); reserve(p); {first} return 0; }}\n\
             int main() {{ void *p; Timer t; t.start(); reserve(p); {second} return 0; }}\n"
        )
    };
    let dropped = |text: &str| {
        let mut all = told(&[("a.cu", text)]);
        all.retain(|rule| *rule == "unchecked-api-call");
        all.len()
    };
    assert_eq!(dropped(&text("check();", "check();")), 0);
    // What the record reports comes again: the constructor and the helper are left.
    assert_eq!(dropped(&text("check();", "")), 2);
}

/// What runs behind the block of a test looks at errors, and so the block needs no look of its own.
#[test]
fn fixtures_look_behind_their_tests() {
    const LOOK: &str = "cudaError_t e = cudaGetLastError(); if (e != cudaSuccess) exit(1);";
    let text = |bases: &str, test: &str| {
        format!(
            "#include <cuda_runtime.h>\n#include <cstdlib>\n__global__ void one(int *v) {{ *v = 1; }}\n{bases}\n\
             {test} {{ int *v = make(); if (early) return; one<<<1, 1>>>(v); cudaMemset(v, 0, 4); }}\n"
        )
    };
    let gpu = |body: &str| {
        format!("class Gpu : public ::testing::Test {{ protected: void TearDown() override {{ {body} }} }};")
    };
    let chained = format!(
        "{} class Own : public Gpu {{ void TearDown() override {{ cudaFree(0); Gpu::TearDown(); }} }};",
        gpu(LOOK)
    );
    let destructor = format!("struct Own {{ ~Own() {{ {LOOK} }} }};");
    for (bases, test) in [
        (format!("{} class Own : public Gpu {{}};", gpu(LOOK)), "TEST_F(Own, works)"),
        (format!("{} using Own = Gpu;", gpu(LOOK)), "TEST_P(Own, works)"),
        (chained.clone(), "TEST_F(Own, works)"),
        (chained, "TYPED_TEST(Own, works)"),
        (destructor.clone(), "TEST_F(Own, works)"),
        (destructor.clone(), "BOOST_FIXTURE_TEST_CASE(works, Own)"),
        (destructor, "TEST_CASE_METHOD(Own, \"works\")"),
    ] {
        assert!(told(&[("a.cu", &text(&bases, test))]).is_empty(), "{bases} {test}");
    }
    // A fixture out of sight may ask for the launch, and so may a base of one.
    for bases in ["struct Own : Other {};", ""] {
        assert_eq!(told(&[("a.cu", &text(bases, "TEST_F(Own, works)"))]), ["unchecked-api-call"], "{bases}");
    }
    let all = ["unchecked-api-call", "unchecked-launch"];
    for (bases, test) in [
        (format!("{} class Own : public Gpu {{}};", gpu("")), "TEST_F(Own, works)"),
        (format!("{} class Own : public Gpu {{ void TearDown() override {{}} }};", gpu(LOOK)), "TEST_F(Own, works)"),
        (format!("{} class Own : public Gpu {{}};", gpu(LOOK)), "TEST(Own, works)"),
        (format!("struct Own {{ void TearDown() {{ {LOOK} }} }};"), "BOOST_FIXTURE_TEST_CASE(works, Own)"),
    ] {
        let mut found = told(&[("a.cu", &text(&bases, test))]);
        found.sort_unstable();
        assert_eq!(found, all, "{bases} {test}");
    }
}

/// What a fixture does before each of its tests is followed by what these look at.
#[test]
fn tests_look_at_what_their_fixture_drops() {
    let text = |first: &str, second: &str| {
        format!(
            "#include <cuda_runtime.h>\n#include <cstdlib>\n\
             class Own : public ::testing::Test {{ void SetUp() override {{ cudaMalloc(&v, 4); }} int *v; }};\n\
             TEST_F(Own, a) {{ {first} }}\nTEST_F(Own, b) {{ {second} }}\n"
        )
    };
    let look = "if (cudaGetLastError() != cudaSuccess) exit(1);";
    assert!(told(&[("a.cu", &text(look, look))]).is_empty());
    assert_eq!(told(&[("a.cu", &text(look, ""))]), ["unchecked-api-call"]);
}

const TWICE: &str = "#include <cuda_runtime.h>\n#include <cmath>\n#include <cstdio>\n#include <cstdlib>\n#include <vector>\n\
    __global__ void twice(float *v, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) v[i] *= 2; }\n";

/// What is told of a function that launches, copies back and then does `behind`.
fn behind_a_copy(behind: &str) -> Vec<&'static str> {
    let text = format!(
        "{TWICE}int run(float *d, float *h, const float *expected, int n) {{\n\
         twice<<<(n + 255) / 256, 256>>>(d, n);\ncudaMemcpy(h, d, n * 4, cudaMemcpyDeviceToHost);\n{behind}\nreturn 0; }}\n"
    );
    told(&[("run.cu", &text)])
}

#[test]
fn results_that_are_compared_show_what_failed() {
    for compared in [
        "for (int i = 0; i < n; i++) if (h[i] != 180) { printf(\"no\\n\"); return -1; }",
        "for (int i = 0; i < n; i++) if (std::fabs(h[i] - expected[i]) > 1e-5) { printf(\"%f\\n\", h[i]); exit(1); }",
        "std::vector<float> v(n); for (int i = 0; i < n; i++) if (v[i] != expected[i]) { printf(\"%d\\n\", i); return 1; }",
        "for (int i = 0; i < n; i++) if (!(h[i] == expected[i])) { printf(\"wrong: %d\\n\", i); }",
        "double max = 0; for (int i = 0; i < n; i++) max = fmax(max, fabs(h[i] - 2)); printf(\"Max error: %f\\n\", max);",
    ] {
        assert!(behind_a_copy(compared).is_empty(), "{compared}");
    }
    for other in [
        "",
        "for (int i = 0; i < n; i++) if (h[i] != 0) printf(\"%d \", i);",
        "for (int i = 0; i < n; i++) if (h[i] != 0) return i;",
        "if (n != 4) { printf(\"wrong\\n\"); exit(1); }",
        "if (h[0] != 1) { printf(\"first\\n\"); return 1; }",
        "cudaError_t all[2]; for (int i = 0; i < 2; i++) if (all[i] != 0) { printf(\"error\\n\"); return 1; }",
        "cudaError_t all[2]; for (int i = 0; i < 2; i++) if (all[i] != cudaSuccess) { printf(\"error\\n\"); return 1; }",
        "char *word = getenv(\"X\"); for (int i = 0; i < n; i++) if (word[i] != '-') { printf(\"wrong\\n\"); return 1; }",
        "for (int i = 0; i < n; i++) if (h[i] > 5) { printf(\"over\\n\"); exit(1); }",
    ] {
        assert_eq!(behind_a_copy(other), ["unchecked-launch", "unchecked-api-call"], "{other}");
    }
}

#[test]
fn a_copy_behind_a_wait_and_a_look_has_nothing_to_report() {
    let run = |between: &str, direction: &str| {
        let text = format!(
            "{TWICE}void run(float *d, float *h, int n) {{\ntwice<<<(n + 255) / 256, 256>>>(d, n);\n{between}\n\
             cudaMemcpy(h, d, n * 4, {direction}); }}\n"
        );
        told(&[("run.cu", &text)])
    };
    let look = "cudaError_t last = cudaGetLastError(); if (last != cudaSuccess) exit(1);";
    let wait = "cudaDeviceSynchronize();";
    let back = "cudaMemcpyDeviceToHost";
    assert!(run(&format!("{wait} {look}"), back).is_empty());
    assert!(run(&format!("if (cudaDeviceSynchronize() != cudaSuccess) exit(1); {look}"), back).is_empty());
    // The kernel may still fail behind the look; what a copy to the device is for comes later.
    assert_eq!(run(look, back), ["unchecked-api-call"]);
    assert_eq!(run(&format!("{wait} {look}"), "cudaMemcpyHostToDevice"), ["unchecked-api-call"]);
    let again = format!("{wait} {look} twice<<<1, 256>>>(d, n); {look}");
    assert_eq!(run(&again, back), ["unchecked-api-call"]);
}

#[test]
fn a_macro_that_calls_again_and_ends_shows_the_error() {
    let run = |behind: &str, call: &str| {
        let text = format!(
            "#include <cuda_runtime.h>\n#include <cstdio>\n#include <cstdlib>\ncudaError_t step();\n\
             #define CHECK(call) if ((call) != cudaSuccess) {{ printf(\"%s\\n\", cudaGetErrorString(call)); {behind} }}\n\
             void run(void **data) {{ CHECK(cudaMalloc(data, 64)) {call} }}\n"
        );
        told(&[("run.cu", &text)])
    };
    assert!(run("exit(1);", "").is_empty());
    let told_of = ["defective-check-macro"];
    assert_eq!(run("", ""), told_of);
    assert_eq!(run("exit(1);", "CHECK(cudaGetLastError())"), told_of);
    assert_eq!(run("exit(1);", "CHECK(step())"), told_of);
}

#[test]
fn a_way_out_on_failure_needs_no_look() {
    let run = |condition: &str| {
        let text = format!(
            "{TWICE}#include <cufft.h>\nint run(cufftHandle plan, cufftComplex *c, float *d, int n, bool fast) {{\n\
             twice<<<(n + 255) / 256, 256>>>(d, n);\nif ({condition}) return -1;\n\
             if (cudaGetLastError() != cudaSuccess ||\n\
             cudaDeviceSynchronize() != cudaSuccess) return -1;\nreturn 0; }}\n"
        );
        told(&[("run.cu", &text)])
    };
    assert!(run("cufftExecC2C(plan, c, c, CUFFT_FORWARD) != CUFFT_SUCCESS").is_empty());
    assert_eq!(run("fast"), ["unchecked-launch"]);
    assert_eq!(run("cufftExecC2C(plan, c, c, CUFFT_FORWARD) == CUFFT_SUCCESS"), ["unchecked-launch"]);
}

#[test]
fn a_call_that_only_creates_the_context_may_fail_unseen() {
    let run =
        |call: &str| told(&[("run.cu", &*format!("#include <cuda_runtime.h>\nvoid run(void **p) {{ {call} }}\n"))]);
    assert!(run("cudaFree(0);").is_empty());
    assert!(run("cudaMalloc(p, 0);").is_empty());
    assert_eq!(run("cudaMalloc(p, 16);"), ["unchecked-api-call"]);
}

#[test]
fn a_method_looks_at_what_its_last_call_left() {
    let run = |method: &str| {
        let text = format!(
            "{TWICE}struct Engine {{ float *d; float *h; int n; void block(); }};\n\
             {method} {{ twice<<<(n + 255) / 256, 256>>>(d, n);\n\
             if (cudaGetLastError() != cudaSuccess) exit(1);\ncudaMemcpy(h, d, n * 4, cudaMemcpyDeviceToHost); }}\n"
        );
        told(&[("engine.cu", &text)])
    };
    assert!(run("void Engine::block()").is_empty());
    // A function may be called once.
    assert_eq!(run("void block(float *d, float *h, int n)"), ["unchecked-api-call"]);
}

/// Who leaves because a function of the program says that another call has failed has told that there is an error.
#[test]
fn a_way_out_that_a_check_of_the_programs_own_opens() {
    let text = |check: &str, way_out: &str| {
        format!(
            "#include <cuda_runtime.h>\n#include <cstdio>\n__global__ void k(float *p) {{ p[threadIdx.x] = 1; }}\n{check}\n\
             int run(float *p, cudaEvent_t e) {{\n    k<<<1, 32>>>(p);\n    {way_out}\n\
             if (cudaGetLastError() != cudaSuccess) return -1;\n    return 0;\n}}\n"
        )
    };
    let status =
        "static int check(cudaError_t e) { if (e == cudaSuccess) return 0; puts(cudaGetErrorString(e)); return -1; }";
    let answer =
        "bool ok(cudaError_t e, const char *what) { if (e != cudaSuccess) { puts(what); return false; } return true; }";
    let call = "#define CK(x) do { if (check(x)) return -1; } while (0)\n";
    let plain = "bool failed(cudaError_t e) { return e != cudaSuccess; }";
    for (check, way_out) in [
        (status, "if (check(cudaEventSynchronize(e))) return -1;"),
        (&*format!("{status}\n{call}"), "CK(cudaEventSynchronize(e));"),
        (answer, "if (!ok(cudaEventSynchronize(e), \"wait\")) return -1;"),
        (plain, "if (failed(cudaEventSynchronize(e))) return -1;"),
    ] {
        assert!(told(&[("a.cu", &text(check, way_out))]).is_empty(), "{way_out}");
    }
    // Who leaves because it has not failed leaves the launch unchecked.
    let way_out = "if (ok(cudaEventSynchronize(e), \"wait\")) return -1;";
    assert_eq!(told(&[("a.cu", &text(answer, way_out))]), ["unchecked-launch"]);
}

/// A toolkit for windows calls what it is given until the program ends.
#[test]
fn what_is_called_back_looks_at_the_last_error() {
    let run = |given: &str, looks: &str| {
        let text = format!(
            "#include <cuda_runtime.h>\n#include <GL/glut.h>\n#include <cstdlib>\nvoid *memory;\n\
             void draw() {{ {looks} }}\nvoid window() {{ {given} }}\nvoid init() {{ cudaMalloc(&memory, 64); }}\n\
             int main(int argc, char **argv) {{ glutInit(&argc, argv); init(); window(); glutMainLoop(); return 0; }}\n"
        );
        told(&[("a.cu", &text)])
    };
    let looks = "if (cudaGetLastError() != cudaSuccess) exit(1);";
    assert!(run("glutDisplayFunc(draw);", looks).is_empty());
    assert_eq!(run("", looks), ["unchecked-api-call"]);
    assert_eq!(run("glutDisplayFunc(draw);", ""), ["unchecked-api-call"]);
}

#[test]
fn what_is_made_and_never_used() {
    let run = |body: &str| {
        let text = format!(
            "#include <cuda_runtime.h>\n#include <cublas_v2.h>\nvoid use(void *p);\nvoid run(float *d) {{ {body} }}\n"
        );
        told(&[("a.cu", &text)])
    };
    assert!(run("cublasHandle_t h; cublasCreate(&h);").is_empty());
    assert!(run("float ms; cudaEvent_t a, b; cudaEventElapsedTime(&ms, a, b);").is_empty());
    assert!(run("cudaEvent_t e; cudaEventCreate(&e); cudaEventDestroy(e);").is_empty());
    for body in [
        "void *p; cudaMalloc(&p, 64); use(p);",
        "cublasHandle_t h; cublasCreate(&h); use(h);",
        "float one = 1; cudaMemcpy(d, &one, 4, cudaMemcpyHostToDevice);",
    ] {
        assert_eq!(run(body), ["unchecked-api-call"], "{body}");
    }
}

#[test]
fn a_wait_behind_a_copy_to_the_device_has_nothing_to_report() {
    let run = |copy: &str| {
        let text = format!(
            "#include <cuda_runtime.h>\n#include <iostream>\nfloat *d, *h;\nint main(int n, char **) {{\n\
             cudaError_t err = {copy};\nif (err != cudaSuccess) {{ std::cerr << cudaGetErrorString(err) << std::endl; }}\n\
             cudaDeviceSynchronize(); }}\n"
        );
        told(&[("a.cu", &text)])
    };
    assert!(run("cudaMemcpy(d, h, n, cudaMemcpyHostToDevice)").is_empty());
    assert_eq!(run("cudaMemcpyAsync(d, h, n, cudaMemcpyHostToDevice)"), ["unchecked-api-call"]);
    assert_eq!(run("cudaMemcpy(d, h, n, cudaMemcpyDeviceToDevice)"), ["unchecked-api-call"]);
}

/// Who asks for the name of an error looks at nothing by that.
#[test]
fn the_name_of_an_error_is_no_check() {
    let run = |look: &str| {
        let text = format!(
            "{TWICE}#include <iostream>\nvoid run(float *d, int n) {{ twice<<<(n + 255) / 256, 256>>>(d, n);\n\
             cudaError_t err = {look};\nif (err != cudaSuccess) {{ std::cerr << cudaGetErrorString(err); exit(1); }} }}\n"
        );
        told(&[("a.cu", &text)])
    };
    assert_eq!(run("cudaDeviceSynchronize()"), ["unchecked-launch"]);
    assert!(run("cudaGetLastError()").iter().all(|rule| *rule != "unchecked-launch"));
}

/// Of a method called on an object whose class has none of the name, those of its bases are meant. What tests call counts where nobody
/// else does.
#[test]
fn callers_are_those_of_the_objects_class() {
    let run = |test: &str| {
        let text = format!(
            "#include <cuda_runtime.h>\n#include <stdexcept>\n#include <gtest/gtest.h>\n\
             struct Base {{ virtual void put(float *h) = 0;\n\
             void step(float *h) {{ put(h); if (cudaGetLastError() != cudaSuccess) throw std::runtime_error(\"put\"); }} }};\n\
             struct One : Base {{ float *d; void put(float *h) {{ cudaMemcpy(d, h, 64, cudaMemcpyHostToDevice); }} }};\n\
             struct Two : Base {{ void put(float *h) {{ h[0] = 1; }} }};\nstruct Three : Two {{}};\n\
             int main() {{ float h[16]; One one; one.step(h); return 0; }}\n{test}\n"
        );
        let mut all = told(&[("a.cu", &text)]);
        all.retain(|rule| *rule == "unchecked-api-call");
        all
    };
    assert!(run("").is_empty());
    assert!(run("void other(float *h) { Three three; three.put(h); }").is_empty());
    assert!(run("TEST(One, puts) { float h[16]; One one; one.put(h); }").is_empty());
    assert_eq!(run("void other(float *h) { One one; one.put(h); }"), ["unchecked-api-call"]);
}

/// That there is no memory is returned once, to nobody else than who asked for it.
#[test]
fn a_later_call_does_not_fail_for_lack_of_memory_again() {
    let text = format!(
        "{TWICE}static void go(float *d, int n) {{ cudaMemset(d, 0, n); float *more; cudaMalloc(&more, n); cudaMemset(more, 0, n); }}\n\
         int main(int argc, char **argv) {{ float *d = nullptr, h[4]; go(d, argc);\n\
         if (cudaMemcpy(h, d, 16, cudaMemcpyDeviceToHost) != cudaSuccess) exit(1); return 0; }}\n"
    );
    let found = told(&[("a.cu", &text)]);
    assert_eq!(found.iter().filter(|rule| **rule == "unchecked-api-call").count(), 1);
}

#[test]
fn a_device_that_is_selected_to_give_something_back() {
    let run = |body: &str| {
        let text = format!(
            "#include <cuda_runtime.h>\n#include <cufft.h>\nvoid end(float **f, cufftHandle *plan, int n) {{\n\
             for (int i = 0; i < n; ++i) {{ cudaSetDevice(i); {body} }} }}\n"
        );
        told(&[("a.cu", &text)])
    };
    assert!(run("cudaFree(f[i]); cufftDestroy(plan[i]);").is_empty());
    assert_eq!(run("cudaFree(f[i]); cudaMalloc(&f[i], 4);"), ["unchecked-api-call"]);
}

/// A kernel that a macro names is told by its own name.
#[test]
fn kernels_that_a_macro_puts_together() {
    let text = "#include <cuda_runtime.h>\n#define MAKE(n) namespace of_##n { __global__ void set(float *d) { d[threadIdx.x] = n; } }\n\
                MAKE(4)\n#define RUN(n) of_##n::set<<<1, 32>>>(d)\n#define LAUNCH(k) k<<<1, 32>>>(d)\n\
                void run(float *d) { RUN(4); }\nvoid other(float *d) { LAUNCH(of_4::set); }\n";
    let engine = Engine::new(cudalint_rules::RULES);
    let Ok(all) = engine.lint_texts(&[("a.cu".to_owned(), text)], None) else { panic!("not linted") };
    let named = all.iter().filter(|finding| finding.rule.name == "unchecked-launch");
    let named: Vec<bool> = named.map(|finding| finding.message.contains("`of_4::set`")).collect();
    assert_eq!(named, [true, true]);
}

/// What the first generation of cuBLAS computes returns nothing, whichever header includes its own.
#[test]
fn the_first_generation_of_a_library_behind_a_header() {
    let told = |library: &str| {
        let header = format!("#pragma once\n#include <{library}>\n");
        let text = "#include \"gpu.h\"\nvoid run(double *a, double *b, int n) { cublasDaxpy(n, 2.0, a, 1, b, 1); }\n";
        told(&[("gpu.h", &header), ("a.cu", text)])
    };
    assert!(told("cublas.h").is_empty());
    assert_eq!(told("cublas_v2.h"), ["unchecked-api-call"]);
}
