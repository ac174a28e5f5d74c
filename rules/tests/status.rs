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
    assert_eq!(dropped(&text("check();", "")), 3);
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
