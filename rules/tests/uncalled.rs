//! What stands in a function that nothing can call is not told.
#![allow(clippy::panic)]

use cudalint_engine::Engine;

/// How often a dropped status is told in `example.cu`, which goes on with `rest`; `header.h` includes nothing.
fn told(name: &str, head: &str, rest: &str) -> usize {
    let text = format!("{head} {{\n    cudaMalloc(p, 4);\n}}\n{rest}\n");
    let other = "void other(void **p);\n";
    let engine = Engine::new(cudalint_rules::RULES);
    match engine.lint_texts(&[(name.to_owned(), &text), ("header.h".to_owned(), other)], None) {
        Ok(all) => all.iter().filter(|finding| finding.rule.name == "unchecked-api-call").count(),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn nobody_calls_it() {
    for (head, rest) in [
        ("static void get(void **p)", ""),
        ("static void get(void **p)", "// get(p) is for later"),
        ("inline void get(void **p)", ""),
        ("void inline get(void **p)", "__forceinline__ void again(void **p) { get(p); }"),
        ("namespace { void get(void **p)", "}"),
        ("static void get(void **p);\nstatic void get(void **p)", "static void again(void **p) { get(p); }"),
        ("template <typename T> void get(T **p)", "void got();"),
        ("template <typename T> struct Get { void get(T **p); };\ntemplate <typename T> void Get<T>::get(T **p)", ""),
    ] {
        assert_eq!(told("example.cu", head, rest), 0, "{head} {rest}");
    }
}

#[test]
fn somebody_may_call_it() {
    for (head, rest) in [
        ("void get(void **p)", ""),
        ("static void get(void **p)", "void use(void **p) { get(p); }"),
        ("inline void get(void **p)", "void get(void **p, int n) { get(p + n); }"),
        ("static void get(void **p)", "void (*table[])(void **) = {get};"),
        ("static void get(void **p)", "#define CALL(x) call_##x()"),
        ("static __attribute__((constructor)) void get(void **p)", ""),
        ("template <typename T> void get(T **p)", "template void get<int>(int **);"),
        (
            "template <typename T> struct Get { void get(T **p); };\ntemplate <typename T> void Get<T>::get(T **p)",
            "Get<int> one;",
        ),
        ("#define CASE(name) static void name(void **p); Entry entry{name}; static void name(void **p)\nCASE(get)", ""),
        ("template <typename T> void Get<T>::get(T **p)", "template class Get<int>;"),
        ("struct Get { void get(void **p); };\nvoid Get::get(void **p)", ""),
    ] {
        assert!(told("example.cu", head, rest) > 0, "{head} {rest}");
    }
    assert!(told("example.cuh", "static void get(void **p)", "") > 0);
    assert!(told("example.cuh", "inline void get(void **p)", "") > 0);
}

/// No other file launches a `static` kernel, and its own may have the launch where nothing is compiled.
#[test]
fn a_kernel_of_its_own_file() {
    let told = |head: &str, launch: &str| {
        let text = format!(
            "{head} void sum(unsigned n, const float *from, float *to) {{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && from[i] > 0) to[0] += from[i];
}}
{launch}
"
        );
        let engine = Engine::new(cudalint_rules::RULES);
        match engine.lint_texts(&[("example.cu".to_owned(), &text)], None) {
            Ok(all) => all.iter().filter(|finding| finding.rule.name == "non-atomic-read-modify-write").count(),
            Err(error) => panic!("{error}"),
        }
    };
    let launch = "void run(const float *from, float *to) { sum<<<4, 256>>>(1000, from, to); }";
    assert_eq!(told("static __global__", &format!("#if 0\n{launch}\n#endif")), 0);
    assert_eq!(told("static __global__", launch), 1);
    // Another file may launch it.
    assert_eq!(told("__global__", &format!("#if 0\n{launch}\n#endif")), 1);
}
