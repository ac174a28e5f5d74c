//! Sizes, types and constants of real declarations, through the front end. The sizes are those that a C++ compiler
//! gives on 64-bit Linux.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{function, path, project};
use cudalint_program::ir::{ModuleId, Stmt};
use cudalint_program::types::{Ty, TypeEnv};
use cudalint_program::{Project, Scope};
use std::fmt::Write as _;

const HERE: ModuleId = ModuleId(0);

/// The size of a named record of the first module.
fn size(project: &Project, name: &str) -> Option<i64> {
    let entry = project.record(HERE, &path(""), &path(name)).unwrap_or_else(|| panic!("{name} is a record"));
    let env = TypeEnv::default();
    Scope::new(project, HERE, None, &env).size_of(&Ty::Record(entry, env.clone()))
}

/// What the `return` of a function of the first module evaluates to.
fn returned(project: &Project, name: &str) -> Option<i64> {
    let id = function(project, HERE, name);
    let found = project.function_at(HERE, id).unwrap();
    let last = *found.body.as_ref().unwrap().last().unwrap();
    let Stmt::Return(Some(value)) = &project.module(HERE).stmts[last].kind else { panic!("{name} returns") };
    Scope::new(project, HERE, Some(id), &TypeEnv::default()).eval(*value)
}

#[test]
fn records_have_the_sizes_of_the_abi() {
    let text = r"
        #include <stdint.h>
        struct A { char c; double d; short s; };
        struct B { float3 p; float4 q; char t; };
        struct C { int n; char name[13]; uint64_t id; A inner[3]; };
        union U { char c[5]; int i; double d; };
        struct V { virtual void f(); int x; };
        struct E {};
        struct F : E { int a; };
        struct G { E e; int a; };
        struct H { int &r; char c; };
        struct alignas(32) I { int a; };
        struct __align__(16) I2 { int a; };
        struct J { bool b; enum K { k1, k2 } k; unsigned short u; };
        struct L { int a; struct { char x; int y; } in; union { int m; double n; }; };
        struct N { long l; char tail[]; };
        struct O { void (*fn)(int); char c; };
        struct P { uchar4 c[3]; double2 d; };
        struct Q { char c; U u; int z; };
        struct M : I2 { char c; };
        struct Made { double d; char c; Made() {} };
        struct Told : Made { char e; };
        enum class Small : unsigned char { one };
        struct R { Small s; char c; Small t[4]; };
        template<class T, int Nn> struct Tpl { T v[Nn]; char c; };
        struct S { Tpl<double, 3> a; Tpl<char, 2> b; };
        typedef struct { cufftComplex z; cudaStream_t s; int *p; dim3 g; } T;
        typedef struct Same { int a, b, c; } Same;
        typedef struct Later Later;
        struct Later { Same s[2]; };
        struct Bits { unsigned a : 3; unsigned b : 5; };
        struct Hidden { Elsewhere e; int a; };
        struct Derived : V { int y; };
        struct Vec { std::vector<int> v; int n; };
    ";
    let project = project(&[("a.cu", text)], &[]);
    for (name, expected) in [
        ("A", Some(24)),
        ("B", Some(48)),
        ("C", Some(104)),
        ("U", Some(8)),
        ("V", Some(16)),
        ("E", Some(1)),
        ("F", Some(4)),
        ("G", Some(8)),
        ("H", Some(16)),
        ("I", Some(32)),
        ("I2", Some(16)),
        ("J", Some(12)),
        ("L", Some(24)),
        ("N", Some(8)),
        ("O", Some(16)),
        ("P", Some(32)),
        ("Q", Some(24)),
        ("R", Some(6)),
        ("S", Some(40)),
        ("Vec", Some(32)),
        ("Later", Some(24)),
        // The tail of a base that is plain data stays its own.
        ("M", Some(32)),
        // Bit-fields, types out of sight and the tails of bases with methods are not laid out.
        ("Bits", None),
        ("Hidden", None),
        ("Derived", None),
        ("Told", None),
    ] {
        assert_eq!(size(&project, name), expected, "{name}");
    }
}

#[test]
fn constants_follow_names_and_wrap_like_c() {
    let text = r"
        enum { A, B = 10, C, D = C + 5, E };
        enum class F : short { one = 1, two };
        const int N = 1 << 10;
        static const unsigned M = 4u * N;
        constexpr size_t BYTES = N * sizeof(float);
        int changing = 3;
        #define TILE 16
        #define SQ(x) ((x) * (x))
        constexpr int up(int a, int b) { return (a + b - 1) / b; }
        template<typename T> __host__ __device__ T div_up(T a, T b) { return (a + b - 1) / b; }
        constexpr int endless(int n) { return endless(n - 1) + endless(n - 2); }
        struct P { float x, y, z; double w; };
        template<typename T> struct Q { static const int count = 3; T v; };
        namespace ns { const int K = 7; }

        int enumerators() { return E * 100 + C; }
        int scoped() { return (int)F::two; }
        int products() { return N * N * N * 4; }
        size_t wide() { return (size_t)N * N * N * 4; }
        size_t bytes() { return BYTES; }
        int of_macros() { return SQ(TILE + 1); }
        int calls() { return up(1000, 256) + div_up(5, 2); }
        int no_end() { return endless(30); }
        int variable() { return changing; }
        int sizes() { return sizeof(P) + sizeof(P[4]) + sizeof(int*); }
        int of_variable() { P p[5]; float3 *q = 0; return sizeof(p) + sizeof(*q) + sizeof p[0].w; }
        int narrow() { return (unsigned char)300 + (short)40000; }
        int chosen() { return sizeof(double) == 8 ? min(4, 9) : 1 / 0; }
        int rounding() { return (int)ceil(1000 / 256.0); }
        int qualified() { return ns::K + (int)Q<int>::count; }
        int local() { const int w = TILE * 2; const int h = w / 3; return w * h; }
        typedef struct Node { struct Node *next; int v; } Node;
        int typedefs() { Node n; return sizeof(Node) + sizeof(n) + sizeof(*n.next); }
        int inferred() { auto p = new double[4]; auto n = 3u; return sizeof(*p) + sizeof(n); }
        size_t negative() { return (size_t)-1; }
        template<typename T> int unknown_size() { return sizeof(T); }
    ";
    let project = project(&[("a.cu", text)], &[]);
    for (name, expected) in [
        ("enumerators", Some(1711)),
        ("scoped", Some(2)),
        ("products", Some(0)),
        ("wide", Some(1 << 32)),
        ("bytes", Some(4096)),
        ("of_macros", Some(289)),
        ("calls", Some(7)),
        ("no_end", None),
        ("variable", None),
        ("sizes", Some(24 + 96 + 8)),
        ("of_variable", Some(120 + 12 + 8)),
        ("narrow", Some(44 - 25536)),
        ("chosen", Some(4)),
        ("rounding", Some(4)),
        ("qualified", Some(10)),
        ("local", Some(320)),
        ("inferred", Some(12)),
        ("typedefs", Some(48)),
        ("negative", None),
        ("unknown_size", None),
    ] {
        assert_eq!(returned(&project, name), expected, "{name}");
    }
}

#[test]
fn a_template_parameter_hides_an_alias_of_the_same_name() {
    let text = "typedef double T;\ntemplate<typename T> int f(T x) { return sizeof(T); }\nint g() { return sizeof(T); }\n\
                int h() { return f(1.0f); }\n";
    let project = project(&[("a.cu", text)], &[]);
    assert_eq!(returned(&project, "f"), None);
    assert_eq!(returned(&project, "g"), Some(8));
    assert_eq!(returned(&project, "h"), Some(4));
}

#[test]
fn definitions_that_go_round_end() {
    let text = r"
        struct Self { Self s; };
        struct Left { struct Right r; };
        struct Right { Left l; };
        typedef Loop1 Loop2;
        typedef Loop2 Loop1;
        struct Uses { Loop1 l; };
        struct Child : Child { int a; };
        template<class T> struct Grow { Grow<Grow<T>> g; };
        struct Grown { Grow<int> g; };
        const int a = b + 1;
        const int b = a + 1;
        enum { X = Y, Y = X };
        decltype(later) later;
        auto me = me;
        int f() { return a; }
        int g() { return X; }
        int h() { return sizeof(later) + sizeof(me); }
        int i() { auto z = z; return sizeof(z); }
        template<class T = T> int k() { return sizeof(T); }
        int l() { return k(); }
    ";
    let project = project(&[("a.cu", text)], &[]);
    for name in ["Self", "Left", "Right", "Uses", "Child", "Grown"] {
        assert_eq!(size(&project, name), None, "{name}");
    }
    for name in ["f", "g", "h", "i", "l"] {
        assert_eq!(returned(&project, name), None, "{name}");
    }
}

#[test]
fn a_default_constant_gives_way_to_the_includer() {
    let header = "#ifndef TILE\n#define TILE 16\n#endif\nint tile() { return TILE; }\n";
    let includer = ("a.cu", "#define TILE 32\n#include \"b.h\"\nint main() { return 0; }\n");
    assert_eq!(returned(&project(&[("b.h", header), includer], &[]), "tile"), Some(32));
    assert_eq!(returned(&project(&[("b.h", header)], &[]), "tile"), Some(16));
    assert_eq!(returned(&project(&[("b.h", header)], &["TILE=8"]), "tile"), Some(8));
    let other = ("c.cu", "#define TILE 64\n#include \"b.h\"\n");
    assert_eq!(returned(&project(&[("b.h", header), includer, other], &[]), "tile"), None, "two includers, two values");
    let plain = ("d.cu", "#include \"b.h\"\n");
    assert_eq!(returned(&project(&[("b.h", header), includer, plain], &[]), "tile"), None, "one uses the default");
}

#[test]
fn arguments_choose_among_specializations() {
    let text = r"
        template <class T> struct Wide { typedef T Type; enum { LANES = 1 }; T v; };
        template <> struct Wide<float> { typedef float4 Type; enum { LANES = 4 }; float v[4]; };
        template <> struct Wide<double> { typedef double2 Type; enum { LANES = 2 }; double v[3]; };
        template <class T> struct Wide<T *> { T *v[5]; };
        template <class T> struct Declared;
        template <> struct Declared<int> { int v[7]; };
        template <int N> struct Counted { char v[N]; };
        template <> struct Counted<3> { double v; };
        template <class T> struct Open { T v; };
        template <> struct Open<Elsewhere> { char v[9]; };
        template <class T> struct User { typename Wide<T>::Type v; };
        template <class T> struct Behind { typedef Wide<T> W; enum { N = W::LANES * 10 }; typename W::Type v; };
        #define SPECIAL(t, n) template <> struct Made<t> { char v[n]; }
        template <class T> struct Made { T v; };
        SPECIAL(short, 11);
        SPECIAL(int, 13);
        int a() { return sizeof(Wide<char>); }
        int b() { return sizeof(Wide<float>); }
        int c() { return sizeof(Wide<double>); }
        int d() { return sizeof(Wide<char *>); }
        int e() { return sizeof(Declared<int>); }
        int f() { return sizeof(Counted<3>) * 100 + sizeof(Counted<5>); }
        int g() { return sizeof(User<float>) * 100 + sizeof(User<char>); }
        int h() { return sizeof(Made<short>) * 1000 + sizeof(Made<int>) * 10 + sizeof(Made<char>); }
        int i() { return sizeof(Wide<float>::Type); }
        int j() { return sizeof(Behind<double>); }
        int k() { return Behind<float>::N; }
        int u() { return sizeof(Declared<float>); }
        int v() { return sizeof(Wide<Nobody>); }
        int w() { return sizeof(Open<int>); }
        int x() { return sizeof(Wide<float *>::Type); }
    ";
    let project = project(&[("a.cu", text)], &[]);
    for (name, expected) in [
        ("a", Some(1)),
        ("b", Some(16)),
        ("c", Some(24)),
        ("d", Some(40)),
        ("e", Some(28)),
        ("f", Some(805)),
        ("g", Some(1601)),
        ("h", Some(11131)),
        ("i", Some(16)),
        ("j", Some(16)),
        // A type that nobody declares may be an alias of one of those, and nothing is known of a template without a body.
        ("u", None),
        ("x", None),
    ] {
        assert_eq!(returned(&project, name), expected, "{name}");
    }
}

#[test]
fn templates_that_ask_the_same_in_many_ways_are_found() {
    // Each level names the one below four times: asked each time anew, these would be 262,144 questions.
    let mut text = String::from(
        "template <class T> struct C0 { typedef T t; };\n\
         template <class A, class B, class C, class D> struct First { typedef A t; };\n",
    );
    for level in 1..10 {
        let below = format!("typename C{}<T>::t", level - 1);
        let four = [below.as_str(); 4].join(", ");
        let _ = writeln!(text, "template <class T> struct C{level} {{ typedef typename First<{four}>::t t; }};");
    }
    text += "struct S { C9<double>::t x; };\n";
    let project = project(&[("a.cu", &text)], &[]);
    assert_eq!(size(&project, "S"), Some(8));
}

#[test]
fn a_type_that_asks_for_itself_is_not_known() {
    let text = "template <class T> struct A { typedef typename T::t t; };\n\
                struct B { typedef A<B>::t t; };\n\
                struct S { B::t x; };\n";
    let project = project(&[("a.cu", text)], &[]);
    assert_eq!(size(&project, "S"), None);
}
