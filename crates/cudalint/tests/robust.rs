//! Sources that once ended a run, never ended, or took all memory: each is over soon, and others beside it are linted.
//!
//! What each costs now is milliseconds; the limits are those of a machine with much else to do.

#![allow(clippy::unwrap_used)]

mod common;

use common::{EMPTY_GRID, Sandbox, finished};
use std::fmt::Write as _;
use std::process::Command;
use std::time::{Duration, Instant};

/// What none of these may take: before, each took minutes, or more memory than there is.
const LIMIT: Duration = Duration::from_secs(60);

/// A kernel, and a `main` that launches it behind a statement.
fn program(before: &str, statement: &str) -> String {
    format!(
        "{before}\n__global__ void k(int *p) {{ p[threadIdx.x] = 1; }}\n\
         int main() {{ {statement}; int *t; cudaMalloc(&t, 4); k<<<1, 1>>>(t); }}\n"
    )
}

/// The source is linted in time, and so is what stands beside it.
#[track_caller]
fn survives(name: &str, source: &str) {
    let sandbox = Sandbox::new(&[(name, source), ("beside.cu", EMPTY_GRID)]);
    let start = Instant::now();
    let ran = finished(&mut limited(sandbox.command(&[".", "--output-format", "concise", "--select", "all"])));
    let took = start.elapsed();
    assert!(ran.code == 1, "{name}: {ran:?}");
    assert!(ran.stdout.contains("beside.cu:4:"), "{name}: {ran:?}");
    assert!(took < LIMIT, "{name}: {took:?}");
}

/// The same command with 8 GB of memory at most, so that a test that fails does not take the machine down.
fn limited(command: Command) -> Command {
    if !cfg!(unix) {
        return command;
    }
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -v 8000000; exec \"$0\" \"$@\""]).arg(command.get_program()).args(command.get_args());
    shell.current_dir(command.get_current_dir().unwrap());
    shell
}

/// `make(i)` for each of `0..count`, one a line.
fn lines(count: usize, make: impl Fn(usize) -> String) -> String {
    (0..count).fold(String::new(), |mut text, index| {
        let _ = writeln!(text, "{}", make(index));
        text
    })
}

#[test]
fn an_operator_with_attributes_behind_its_name() {
    let iterator = "struct At {\n  int *p;\n  At operator- __host__ __device__(int by) { return {p - by}; }\n};";
    survives("a.cu", &program(iterator, "At at"));
    // What stands behind the name is read: host code may not call what is for the device.
    let source =
        "struct At { int p; __host__ int f() { return p; } int operator- __device__(int by) { return f() - by; } };";
    let sandbox = Sandbox::new(&[("a.cu", source)]);
    let ran = sandbox.run(&["a.cu", "--output-format", "concise", "--select", "all"]);
    assert!(ran.stdout.contains("execution-space-mismatch"), "{ran:?}");
}

#[test]
fn records_that_hold_themselves_or_each_other() {
    survives("a.cu", &program("struct Own { Own inner; int x; };", "Own own; own.x = sizeof(Own)"));
    survives("b.cu", &program("struct Odd { struct Even e; }; struct Even { Odd o; };", "Odd odd; Even even{}"));
    survives("c.cu", &program("struct Odd : Even {}; struct Even : Odd {};", "Odd odd; odd.f(); odd.x = sizeof(Even)"));
    survives("d.cu", &program("typedef Odd Even; typedef Even Odd;", "Odd odd; odd.x = sizeof(Even)"));
    survives("e.cu", &program("template <int N> struct T { T<N - 1> a; T<N + 1> b; };", "T<3> t; t.a.b = sizeof(t)"));
}

#[test]
fn records_that_double() {
    let records = lines(40, |i| format!("struct R{} {{ R{i} a, b; R{i} c; }};", i + 1));
    survives("a.cu", &program(&format!("struct R0 {{ int x; }};\n{records}"), "R40 all; R40 more{}; all = more"));
}

#[test]
fn targets_that_are_used_twice() {
    let steps = "--".repeat(60);
    survives("a.cu", &format!("__global__ void k(int *p) {{ p[0] = (U{steps}); p[1] = {steps}p[2]; }}\n"));
    let chain = format!("{}p{}", "*(".repeat(40), "++ += q)".repeat(40));
    survives("b.cu", &format!("__global__ void k(U ***p, V q) {{ {chain}; }}\n"));
}

#[test]
fn calls_of_python_side_by_side() {
    survives("a.py", &format!("import cupy\n{}\n", (0..40).fold(String::new(), |all, i| format!("{all}g{i}()"))));
}

/// Functions of the device that no kernel calls, each of which all of the next layer call.
#[test]
fn idle_functions_of_the_device_in_layers() {
    const MANY: usize = 40;
    let mut text = "from numba import cuda\n".to_owned();
    for layer in 0..5_usize {
        for own in 0..MANY {
            let calls = (0..MANY * layer.min(1)).fold(String::new(), |mut calls, other| {
                let _ = write!(calls, " + near_{}_{other}(i)", layer - 1);
                calls
            });
            let _ = write!(
                text,
                "\n@cuda.jit(device=True)\ndef near_{layer}_{own}(i):\n    found = []\n    return i{calls}\n"
            );
        }
    }
    survives("a.py", &text);
}

#[test]
fn values_of_python_that_double() {
    for (start, step) in [
        ("'s'", "v = v + v"),
        ("'s'", "v = f'{v}{v}'"),
        ("[1]", "v = v + v"),
        ("[1]", "v += v"),
        ("[1]", "v.extend(v)"),
        ("[1]", "v = [*v, *v]"),
        ("(1,)", "v = v + v"),
        ("(1,)", "v = (v, v)"),
        ("()", "v = (v, v)"),
        ("[]", "v = [v, v]"),
    ] {
        let host = lines(48, |_| step.to_owned());
        let kernel = lines(48, |_| format!("    {step}"));
        survives(
            "a.py",
            &format!(
                "from numba import cuda\nimport cupy as cp\n@cuda.jit\ndef k(a, t):\n    v = {start}\n{kernel}    a[0] = len(v)\n\
                 v = {start}\n{host}k[1, 32](cp.zeros(4), v)\nx = cp.zeros(len(v))\n"
            ),
        );
    }
}

#[test]
fn what_was_looked_at_again_from_each_of_its_places() {
    let unmatched = "x++)".repeat(3_000);
    survives("a.cu", &program("", &format!("for (int i = 0; i < 5; i++) {unmatched}")));
    survives("b.cu", &program("", &"__device__ ".repeat(8_000)));
    survives("c.py", &format!("import cupy\n{}x = 1\n", "# \"a comment\n".repeat(12_000)));
    survives("d.py", &format!("import cupy\nx = 1 {}\n", "\\\n".repeat(30_000)));
    survives("e.py", &format!("import cupy\n{}1\n", "x = ".repeat(15_000)));
    survives("f.cu", &program(&format!("#if A\n{}#endif", lines(8_000, |i| format!("#elif A{i}"))), ""));
}

#[test]
fn thousands_of_one_kind() {
    let checks = "CHECK(cudaMalloc(&t, 4)); ".repeat(2_500);
    let macro_ = "#define CHECK(x) do { cudaError_t e = (x); if (e) exit(1); } while (0)";
    survives("a.cu", &program(macro_, &format!("int *t; {checks}")));
    let overloads = lines(1_200, |i| format!("void f(int a{i}) {{ k<<<1, 1>>>(0); }}"));
    survives("b.cu", &program(&overloads, &"f(1); ".repeat(1_200)));
    let methods = lines(2_000, |i| format!("void f(A{i} a) {{}}"));
    survives("c.cu", &program(&format!("struct S {{ {methods} }};"), &format!("S s; {}", "s.f(1); ".repeat(1_000))));
    let terms = format!("#define SUM(x) {}x", "x + ".repeat(2_000));
    survives("d.cu", &program(&terms, &"y = SUM(1); ".repeat(3_000)));
    survives("e.py", &format!("import cupy\n{}", lines(3_000, |i| format!("def f{i}(): pass"))));
}

#[test]
fn what_has_no_match() {
    for unit in ["++)", "+};", "++)(", "(int))", "sizeof ){"] {
        survives("a.cu", &program("", &format!("int x = 1; {}", unit.repeat(90_000 / unit.len()))));
    }
    survives("b.cu", &format!("#define M {}\n{}", "++)".repeat(4_000), program("", "M; M")));
}

/// Each variable is given one value, from the one before it twice.
#[test]
fn conditions_that_double() {
    let chain = lines(59, |i| format!("const int a{} = a{i} + a{i} - 1;", i + 1));
    let kernel = format!(
        "__global__ void k(int *p) {{ extern __shared__ int s[]; const int a0 = 1; {chain} if (a59 > 3) s[0] = p[0]; }}"
    );
    survives("a.cu", &program(&kernel, "k<<<1, 32>>>(nullptr)"));
}

/// Its own copy is such a constructor's argument.
#[test]
fn a_constructor_that_takes_its_class_by_value() {
    let number = "template <typename T> class Num {
        template <typename U> __device__ Num(U real) { re = real; }
        template <typename U> __device__ Num(const Num<U> &other) { re = other.re; }
        __device__ Num turned() { return Num(re, -im); }
        template <typename U> __device__ friend Num operator/(Num a, Num<U> b) { Num r = a; r /= b; return r; }
        __device__ Num power(int n) { Num r = Num(1, 0); for (int i = 0; i < n; i++) r *= *this; r = 1 / r; return r; }
    };
    template <typename T> __device__ Num<T> inner(Num<T> z, T k) { return k * z.size() / z.turned().power(3); }
    template <typename T> __global__ void find(Num<T> *z, T *q) { q[0] = inner(z[0], q[1]).re; }";
    survives("a.cu", &program(number, "find<float><<<1, 32>>>(nullptr, nullptr)"));
}

/// A class that has itself as a member many times has no size.
#[test]
fn a_record_in_itself_many_times() {
    let fields = lines(20, |i| format!("T f{i};"));
    let host =
        format!("struct T : std::array<int, 5> {{ {fields} }}; void f() {{ std::vector<T> v{{T{{4, 0, 2}}}}; }}");
    survives("a.cu", &program(&host, "f()"));
    let other = host.replace("struct T : std::array<int, 5>", "struct T");
    survives("b.cu", &program(&other, "f()"));
}

/// What a compiler refuses: each class would be made of as many of itself, level by level.
#[test]
fn a_class_that_is_its_own_base_many_times() {
    let bases = |name: &str, count: usize| vec![name; count].join(", ");
    let text = format!(
        "struct A : {} {{ int *p; }};\nstruct B : {} {{ int *p; B() {{}} }};\n{}",
        bases("A", 30),
        bases("B", 10),
        "int main() { A a; cudaMalloc(&a.p, 4); B b; cudaMalloc(&b.p, 4); return 0; }\n"
    );
    survives("own_base.cu", &text);
}

/// The members' destructors were looked at once for each way to them.
#[test]
fn a_singleton_of_many_of_its_own_kind() {
    let members = lines(200, |at| format!("    Random part{at};"));
    let class = format!(
        "class Random {{\npublic:\n{members}    ~Random();\n    static Random &one() {{ static Random only; return only; }}\n}};\n"
    );
    survives("a.cu", &program(&class, "Random::one()"));
}

/// A variable that its own initial value names, many times.
#[test]
fn a_value_that_names_itself() {
    let names = "y + ".repeat(60);
    for operator in ["+", "*", "-"] {
        let names = names.replace('+', operator);
        let kernel = format!(
            "__global__ void k(float *p, int h, int w) {{
                int x = blockIdx.x * blockDim.x + threadIdx.x;
                int y = blockIdx.y * blockDim.y + {names} threadIdx.y;
                if (x >= w || y >= h) return;
                p[y * w + x] = 0;
            }}"
        );
        survives("a.cu", &program(&kernel, "k<<<1, 32>>>(nullptr, 1, 1)"));
    }
}

/// Objects that are made of nine of their own kind, and a constructor of theirs: 59,049 of them four levels down.
#[test]
fn an_object_of_many_of_its_own_kind() {
    let members = lines(9, |at| format!("    Neuron part{at};\n"));
    let class =
        format!("class Neuron {{\npublic:\n{members}    Neuron(float value) {{ cudaDeviceSynchronize(); }}\n}};\n");
    let uses = lines(30, |at| format!("    Neuron local{at}(1.0f);\n"));
    survives("made-of-its-kind.cu", &program(&class, &uses));
}

/// Hundreds of brackets of which none is closed, and names that are bound several times: each use asked what stands around it.
#[test]
fn names_deep_in_brackets() {
    let source = format!(
        "from numba import cuda\ntp = 1\ntp = cuda\nvalues = [{}tp for tp in cuda.gpus]\n",
        "f(tp.x, g(tp) for tp in tp.y, ".repeat(120)
    );
    survives("deep.py", &source);
}

#[test]
fn comments_one_below_the_other() {
    survives("a.cu", &program("", &"//\n".repeat(30_000)));
}

#[test]
fn what_has_two_readings() {
    survives("a.cu", &program("", &"[[a]]".repeat(18_000)));
    survives("b.cu", &program("", &"enum E{a} ".repeat(9_000)));
    survives("c.cu", &program("", &"x<".repeat(45_000)));
    survives("d.cu", &program("", &"(&)(".repeat(900)));
}

#[test]
fn one_name_for_thousands() {
    let overloads = lines(2_500, |i| format!("void f(A{i} a) {{}}"));
    survives("a.cu", &program(&overloads, &"f(1); ".repeat(8_000)));
    let device = lines(1_500, |i| format!("__device__ int f(A{i} a) {{ return {i}; }}"));
    let kernel = format!("__global__ void uses(int *p) {{ {} }}", "p[0] = f(1); ".repeat(3_000));
    survives("b.cu", &program(&format!("{device}{kernel}"), ""));
    let special = lines(2_500, |i| format!("template <> void f<{i}>() {{}}"));
    survives("c.cu", &program(&special, &"f<3>(); ".repeat(5_000)));
    survives("d.cu", &program(&lines(5_000, |i| format!("struct S {{ int x{i}; }};")), "S s; s.x = 1"));
    let calls = lines(2_200, |i| format!("def f{}(x): return f{i}(x) + f{i}(x)", i + 1));
    survives("e.py", &format!("import cupy as cp\ndef f0(x): return cp.zeros(x)\n{calls}f2200(3)\n"));
}

#[test]
fn a_build_with_a_hundred_thousand_include_folders() {
    let folders = lines(100_000, |i| format!(", \"-Iinc{i}\""));
    let commands = format!(r#"[{{"directory": ".", "file": "a.cu", "arguments": ["nvcc"{folders}]}}]"#);
    let source = lines(60, |i| format!("#include <h{i}.h>\n#include \"g{i}.h\""));
    let sandbox = Sandbox::new(&[("a.cu", &format!("{source}{EMPTY_GRID}")), ("compile_commands.json", &commands)]);
    let start = Instant::now();
    let ran = sandbox.run(&["a.cu", "--output-format", "concise"]);
    assert!(ran.stdout.contains("empty-grid") && start.elapsed() < LIMIT, "{ran:?}");
}

#[test]
fn names_with_thousands_of_qualifiers() {
    // The parser weighed each against all before: seconds for 95 KB.
    survives("a.cu", &"a<b>::".repeat(15_800));
    survives("b.cu", &"a<b, c>::".repeat(10_500));
    // A list of names is none.
    let sandbox = Sandbox::new(&[("a.cu", &program(&format!("int all[] = {{{}}};", "E::a, ".repeat(5_000)), ""))]);
    let ran = sandbox.run(&["a.cu", "--output-format", "concise", "--select", "all"]);
    assert!(!ran.stderr.contains("not analysed"), "{ran:?}");
}

/// A jump to a label in another function, whose braces do not fit.
#[test]
fn a_jump_out_of_torn_code() {
    for torn in [
        "a(){f c{goto Error}a=cudaMalloc(;f s{{}Error:}",
        "n(){f(){goto Error}if({cuMemcpyAsync()Error:}",
        "t w{s=cudaMallocHost()for(;i++)goto Error\nif(u{}Error:}",
    ] {
        survives("a.cu", torn);
    }
}

#[test]
fn loops_with_calls_that_call_themselves() {
    // What a callee may do is looked up once, not once for each way to it: forty calls in it, each with forty calls in it.
    let calls = lines(40, |_| "  again(y + 1);".to_owned());
    let of_cuda = format!(
        "__device__ void again(int y) {{\n  if (y > 9) return;\n{calls}}}\n\
         __global__ void k(int *p, int y) {{\n  for (int i = 0; i < y; i++) {{\n    again(i);\n  }}\n  p[threadIdx.x] = y;\n}}\n"
    );
    survives("a.cu", &of_cuda);
    let calls = lines(40, |_| "    again(y + 1)".to_owned());
    let of_python = format!(
        "from numba import cuda\n\n@cuda.jit(device=True)\ndef again(y):\n    if y > 9:\n        return\n{calls}\n\
         @cuda.jit\ndef k(p, y):\n    for i in range(y):\n        again(i)\n    p[cuda.threadIdx.x] = y\n"
    );
    survives("a.py", &of_python);
}

#[test]
fn thousands_of_loops() {
    // Whether a loop takes a lock is seen by its condition, before the whole function is read for it.
    let loops = lines(12_000, |_| "  while (i < y) i += p[i];".to_owned());
    survives("a.cu", &format!("__global__ void k(int *p, int y) {{\n  int i = threadIdx.x;\n{loops}}}\n"));
    let locks = lines(4000, |_| "  while (atomicCAS(p, 0, 1) != 0) {}".to_owned());
    survives("b.cu", &format!("__global__ void k(int *p, int y) {{\n{locks}}}\n"));
}
