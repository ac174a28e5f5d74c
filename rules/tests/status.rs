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
             int second() {{ void *p; Timer t; t.start(); reserve(p); {second} return 0; }}\n"
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
