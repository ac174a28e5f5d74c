//! Hostile and odd input: nothing crashes, nothing hangs, and every outcome is said plainly.
#![allow(clippy::unwrap_used, clippy::panic)]

use cudalint_syntax::{
    FileKind, FragmentKind, Language, MacroTable, MaskKind, ParsedRegion, ParserPool, Refusal, Region, SourceProblem,
    SourceText, Span, comments, contains_cuda, contains_gpu_python, mask, parse_fragment, parse_region, regions,
    scan_directives,
};
use std::path::Path;

fn parse(text: &str) -> ParsedRegion {
    let span = Span::new(0, text.len());
    let defines = scan_directives(text, span).defines;
    let macros = MacroTable::build(&defines, &[]);
    let region = Region { language: Language::Cuda, span };
    parse_region(text, &region, &macros, &defines, &mut ParserPool::new())
}

#[test]
fn bytes_that_are_no_source_text_are_refused_in_words() {
    let refused = |bytes: &[u8]| SourceText::from_bytes(bytes.to_vec()).unwrap_err();
    assert_eq!(refused(b"int a;\0").to_string(), "binary file: NUL byte at offset 6");
    assert_eq!(refused(b"\xFF\xFEi\0").to_string(), "UTF-16 text is not supported; convert the file to UTF-8");
    let big = SourceText::from_bytes(vec![b' '; 100_000_001]).unwrap_err();
    assert_eq!(big, SourceProblem::TooLarge { bytes: 100_000_001 });
    assert_eq!(big.to_string(), "file of 100000001 bytes is larger than the limit of 100000000 bytes");
}

#[test]
fn offsets_survive_byte_order_marks_and_invalid_bytes() {
    let source = SourceText::from_bytes(b"\xEF\xBB\xBFint a; // \xE9t\xE9\n".to_vec()).unwrap();
    assert_eq!(source.text(), "   int a; // ?t?\n");
    assert!(source.is_lossy());
    let source = SourceText::from_bytes(b"int b;".to_vec()).unwrap();
    assert!(!source.is_lossy());
}

#[test]
fn an_empty_text_has_a_tree_and_no_damage() {
    for text in ["", "\n", "   ", "// only a comment"] {
        let parsed = parse(text);
        assert!(parsed.tree.is_some() && parsed.damage.is_empty(), "{text:?}");
    }
}

#[test]
fn nesting_beyond_the_limit_is_refused() {
    for (open, close) in [("(", ")"), ("{", "}"), ("[", "]")] {
        let text = format!("void f() {{ x = {}1{}; }}", open.repeat(10_000), close.repeat(10_000));
        let parsed = parse(&text);
        assert_eq!(parsed.refusal, Some(Refusal::TooDeep));
        assert_eq!(parsed.damage, [Span::new(0, text.len())]);
        let python = Region { language: Language::Python, span: Span::new(0, text.len()) };
        let parsed = parse_region(&text, &python, &MacroTable::default(), &[], &mut ParserPool::new());
        assert_eq!(parsed.refusal, Some(Refusal::TooDeep));
        assert!(parse_fragment(FragmentKind::Expression, &open.repeat(10_000), &mut ParserPool::new()).is_none());
    }
    let shallow = format!("int a = {}1{};", "(".repeat(900), ")".repeat(900));
    assert!(parse(&shallow).tree.is_some());
}

#[test]
fn brackets_in_comments_and_strings_of_python_nest_nothing() {
    let python = |text: &str| {
        let region = Region { language: Language::Python, span: Span::new(0, text.len()) };
        parse_region(text, &region, &MacroTable::default(), &[], &mut ParserPool::new()).refusal
    };
    let open = "([{".repeat(500);
    assert_eq!(python(&format!("# {open}\nx = 1  # {open}\n")), None);
    assert_eq!(python(&format!("x = '# {open}'\ny = \"\"\"\n{open}\n\"\"\"\nz = r'\\'' # {open}\n")), None);
    let deep = format!("{}1{}", "(".repeat(2_000), ")".repeat(2_000));
    assert_eq!(python(&format!("x = f'{{{deep}}}'\n")), Some(Refusal::TooDeep));
    assert_eq!(python(&format!("x = '#'; y = {deep}\n")), Some(Refusal::TooDeep));
}

#[test]
fn lines_that_end_with_a_carriage_return_alone_are_lines() {
    let source = SourceText::from_bytes(b"// a comment\rint x;\r".to_vec()).unwrap();
    assert_eq!(source.text(), "// a comment\nint x;\n");
    let source = SourceText::from_bytes(b"int x;\r\nint y;\r".to_vec()).unwrap();
    assert_eq!(source.text(), "int x;\r\nint y;\r");
}

#[test]
fn deep_templates_unary_chains_and_long_chains_end() {
    for text in [
        format!("A{}int{} x;", "<A".repeat(10_000), ">".repeat(10_000)),
        format!("int x = {}1;", "!".repeat(10_000)),
        format!("int x = {}1;", "a + ".repeat(10_000)),
        format!("void f() {{ {} g(); }}", "if (a) b(); else ".repeat(10_000)),
        "<<<".repeat(30_000),
        "k<<<".repeat(10_000),
        "template<".repeat(10_000),
        "#if A\n".repeat(10_000),
        "#define X \\\n".repeat(10_000),
        "a < ".repeat(30_000),
        "X(".repeat(900),
        "operator".repeat(5_000),
        "\"\" X ".repeat(10_000),
        "#define A\n".repeat(50_000),
        "#if A\n#endif\n".repeat(20_000),
        "( } ".repeat(50_000),
        "} ( { ".repeat(20_000),
        "F(a) ".repeat(20_000),
        "F(a; ".repeat(900),
        "x: ".repeat(20_000),
        "/* */ # ".repeat(20_000),
    ] {
        let parsed = parse(&text);
        assert!(parsed.tree.is_some() || parsed.refusal.is_some());
        assert!(parsed.tree.is_some() || !parsed.damage.is_empty());
    }
}

#[test]
fn a_line_of_a_megabyte_is_read() {
    let text = format!("int a[] = {{{}}};", "1, ".repeat(350_000));
    let parsed = parse(&text);
    assert!(parsed.refusal.is_none() && parsed.damage.is_empty());
}

#[test]
fn unterminated_things_end_at_the_end() {
    for text in [
        "void f() {} /* never closed",
        "const char* s = \"never closed\nvoid g() {}",
        "auto s = R\"x(never closed\nvoid g() {}",
        "auto s = R\"never opened",
        "char c = 'x\nvoid g() {}",
        "#if A\nvoid f() {",
        "#if A\nint a;\n#else\nint b;",
        "#endif\n#else\n#elif X\nint a;",
        "#define A(x, y",
        "#define",
        "#include",
        "#include <never",
        "#",
        "#if",
        "k<<<",
        "k<<<1, {",
        "__launch_bounds__(1, 2, ",
        "__align__(",
        "struct __align__(8",
        "[=] __device__",
        "A(x; y",
        "asm(\"a\" : \"b\"(c) \"d\"",
        "\\",
        "x\\\r\n",
        "template",
        "operator",
        "extern",
        "typename",
        "new",
        "unsigned(",
        "=",
        "= {",
        ":",
        ")",
        "}",
        "\"",
        "'",
        "1e+",
        "0x1p-",
    ] {
        let parsed = parse(text);
        assert!(parsed.tree.is_some(), "{text:?}");
        let span = Span::new(0, text.len());
        comments(text, &Region { language: Language::Cuda, span });
        comments(text, &Region { language: Language::Python, span });
        contains_cuda(text);
        contains_gpu_python(text);
        regions(FileKind::Markdown, text);
    }
}

#[test]
fn every_cut_of_a_text_is_survived() {
    let text = "#define K(n) \\\n  __launch_bounds__(n) /* a */\n#if X > 1\n__global__ void k(int *p = {}) {\n#else\n\
                __global__ K(3) void k() {\n#endif\n  for (int i = 0; i < size<2>(t); ++i) { CHECK(a) b(\"x\" F \"y\"); }\n\
                  auto l = [=] __device__ (int é) { return R\"a(b)a\"; };\n  k<<<{1, 2}, 3>>>('\\'', 1'000);\n}\n";
    for end in (0..=text.len()).filter(|end| text.is_char_boundary(*end)) {
        check_mask(&text[..end]);
        check_mask(&text[end..]);
    }
}

/// The mask's promises: same length, every newline kept but those that became `;`, nothing changed outside the places
/// that it lists.
fn check_mask(text: &str) {
    let span = Span::new(0, text.len());
    let directives = scan_directives(text, span);
    let macros = MacroTable::build(&directives.defines, &[]);
    let masked = mask(text, span, &macros, &directives.defines);
    assert_eq!(masked.text.len(), text.len());
    for (at, (raw, new)) in text.bytes().zip(&masked.text).enumerate() {
        let semicolon = masked.notes.iter().any(|n| n.kind == MaskKind::Semicolon && n.span.start as usize == at);
        if raw == b'\n' {
            assert!(*new == b'\n' || *new == b';' && semicolon, "newline at {at} of {text:?}");
        } else {
            assert_ne!(*new, b'\n', "new newline at {at} of {text:?}");
        }
        assert!(raw >= 0x80 || *new < 0x80, "byte {at} of {text:?}");
    }
}

#[test]
fn carriage_returns_are_blanks() {
    let text = "#define D __device__ \\\r\n  __forceinline__\r\n__global__ void k(int* p)\r\n{\r\n  CHECK(x)\r\n  y();\r\n}\r\n";
    let parsed = parse(text);
    assert!(parsed.damage.is_empty(), "{:?}", parsed.damage);
    check_mask(text);
}

#[test]
fn a_function_that_returns_nested_templates_is_read() {
    // Newer releases of the grammar lose this whole function: the version is pinned for it.
    let text = "std::vector<std::unique_ptr<A<B>>> foo(T const& a) { return x; }";
    let parsed = parse(text);
    assert!(parsed.damage.is_empty());
    assert_eq!(parsed.root().unwrap().child(0).unwrap().kind(), "function_definition");
}

#[test]
fn positions_in_a_markdown_fence_are_those_of_the_file() {
    let text = "# Title\n\n- item\n\n  ```cuda\n  __global__ void k() { __syncthreads(); }\n  ```\n\n~~~python\nx = 1\n~~~\n\
                ````text\n```cuda\nnot code\n```\n````\n```c\nint no_cuda;\n```\n```cpp\nvoid g() { k<<<1, 2>>>(); }";
    let found = regions(FileKind::Markdown, text);
    let kinds: Vec<_> = found.iter().map(|r| (r.language, &text[r.span.range()])).collect();
    assert_eq!(
        kinds,
        [
            (Language::Cuda, "  __global__ void k() { __syncthreads(); }\n"),
            (Language::Python, "x = 1\n"),
            (Language::Cuda, "void g() { k<<<1, 2>>>(); }"),
        ]
    );
    let mut pool = ParserPool::new();
    for region in &found {
        let parsed = parse_region(text, region, &MacroTable::default(), &[], &mut pool);
        let root = parsed.root().unwrap();
        assert!(parsed.damage.is_empty());
        let first = root.named_child(0).unwrap();
        assert_eq!(&text[first.byte_range()], text[region.span.range()].trim());
    }
}

#[test]
fn indented_python_in_a_fence_is_read() {
    let text = "1. item\n\n   ```python\n   import cupy\n   for i in x:\n       f(i)\n   g()\n   ```\n";
    let found = regions(FileKind::Markdown, text);
    let parsed = parse_region(text, &found[0], &MacroTable::default(), &[], &mut ParserPool::new());
    assert!(parsed.damage.is_empty(), "{}", parsed.root().unwrap().to_sexp());
}

#[test]
fn fragments_keep_their_offsets() {
    let mut pool = ParserPool::new();
    let parsed = parse_fragment(FragmentKind::Expression, "(a) * (b) + f(c)", &mut pool).unwrap();
    let content = parsed.content().unwrap();
    assert_eq!((content.kind(), parsed.text(content)), ("binary_expression", "(a) * (b) + f(c)"));
    assert_eq!(content.start_byte(), parsed.shift);
    let body = "do { cudaError_t e = (call); if (e != cudaSuccess) exit(1); } while (0)";
    let parsed = parse_fragment(FragmentKind::Statements, body, &mut pool).unwrap();
    let content = parsed.content().unwrap();
    assert_eq!(content.named_child(0).unwrap().kind(), "do_statement");
    assert!(parsed.damage.is_empty());
    let parsed = parse_fragment(FragmentKind::Expression, "a + + ) b", &mut pool).unwrap();
    assert!(!parsed.damage.is_empty());
}

#[test]
fn comments_of_both_languages_are_listed() {
    let text = "int a; // one\n/* two */\n#define X 1 /* three */\nconst char* s = \"// no\"; /* four */ int b;\n";
    let region = Region { language: Language::Cuda, span: Span::new(0, text.len()) };
    let found: Vec<_> = comments(text, &region).iter().map(|c| (c.words(text), c.own_line)).collect();
    assert_eq!(found, [("one", false), ("two", true), ("three", false), ("four", false)]);
    let text = "x = '# no' # one\n# two\ns = \"\"\"\n# no\n\"\"\"\n";
    let region = Region { language: Language::Python, span: Span::new(0, text.len()) };
    let found: Vec<_> = comments(text, &region).iter().map(|c| (c.words(text), c.own_line)).collect();
    assert_eq!(found, [("one", false), ("two", true)]);
}

#[test]
fn files_are_known_by_name_and_content() {
    let kind = |name: &str| FileKind::of(Path::new(name));
    assert_eq!(kind("a/b.cu"), Some(FileKind::Cuda));
    assert_eq!(kind("a.hpp"), Some(FileKind::CFamily));
    assert_eq!(kind("a.py"), Some(FileKind::Python));
    assert_eq!(kind("README.md"), Some(FileKind::Markdown));
    assert_eq!(kind("a.rs"), None);
    assert_eq!(kind("Makefile"), None);
    assert!(contains_cuda("void f() { k<<<1, 2>>>(p); }"));
    assert!(contains_cuda("void f() { cudaMalloc(&p, 4); }"));
    assert!(contains_cuda("CUresult r = cuMemAlloc(&p, 4);"));
    assert!(contains_cuda("cublasSgemm(h);"));
    assert!(contains_cuda("#define KERNEL __global__ void\n"));
    assert!(!contains_cuda("// cudaMalloc(&p, 4); k<<<1, 2>>>\nconst char* s = \"__global__ cudaFree(p)\";"));
    assert!(!contains_cuda("std::cout << x << y; int cuda = 1; current(2);"));
    assert!(contains_gpu_python("from numba import cuda\n"));
    assert!(contains_gpu_python("import cupy as cp\n"));
    for text in [
        "from numba import (\n    njit,\n    cuda,\n)\n",
        "import numba as nb\n@nb.cuda.jit\ndef k(): pass\n",
        "import os, cupyx\n",
        "try: import pycuda.driver as drv\nexcept ImportError: pass\n",
        "from cuda.bindings import driver\n",
        "import cuda.core.experimental as c\n",
        "\tfrom cuda import cuda, nvrtc\n",
        "from torch.utils.cpp_extension import load_inline\n",
        "import torch.utils.cpp_extension as e\ne.load_inline('a')\n",
        "cupy = pytest.importorskip('cupy')\n",
        "kernel<<<1, 2>>>(x)\n",
    ] {
        assert!(contains_gpu_python(text), "{text}");
    }
    for text in [
        "import numba\n@numba.njit\ndef f(): pass\n",
        "# import cupy\nprint('import cupy', cuda)\n",
        "from torch import cuda\nif cuda.is_available(): pass\n",
        "import torch\nx = torch.zeros(3, device='cuda')\n",
        "<<<<<<< HEAD\nx = 1\n>>>>>>> other\n",
        "from ours import cuda_tools, important\n",
        "s = 'k<<<1, 2>>>(x)'\n",
    ] {
        assert!(!contains_gpu_python(text), "{text}");
    }
}

#[test]
fn directives_carry_their_conditions() {
    let text = "#ifndef H_H\n#define H_H\n#include <a.h>\n#ifdef D\n#define N(a, b...) ((a) + \\\n  /* c */ 1)\n#elif E\n\
                #undef N\n#else\n# define M \"x // y\" // tail\n#endif\n#include \"b.h\"\n#endif\n";
    let found = scan_directives(text, Span::new(0, text.len()));
    let n = &found.defines[1];
    assert_eq!((n.name.as_str(), n.body.as_str(), n.variadic), ("N", "((a) + 1)", true));
    assert_eq!(n.params.as_deref(), Some(&["a".to_owned(), "b".to_owned()][..]));
    let conditions = |c: &[cudalint_syntax::Condition]| {
        c.iter().map(|c| format!("{}{}", if c.negated { "!" } else { "" }, c.text)).collect::<Vec<_>>()
    };
    assert_eq!(conditions(&n.conditions), ["defined(D)"]);
    assert_eq!(conditions(&found.undefs[0].conditions), ["!defined(D)", "E"]);
    let m = &found.defines[2];
    assert_eq!((m.name.as_str(), m.body.as_str()), ("M", "\"x // y\""));
    assert_eq!(conditions(&m.conditions), ["!defined(D)", "!E"]);
    assert_eq!(&text[m.name_span.range()], "M");
    let paths: Vec<_> = found.includes.iter().map(|i| (i.path.as_str(), i.system, i.conditions.len())).collect();
    assert_eq!(paths, [("a.h", true, 0), ("b.h", false, 0)]);
}

/// The named nodes of a tree in order, each with its kind and text.
fn nodes(text: &str) -> Vec<(String, String)> {
    let parsed = parse(text);
    assert!(parsed.damage.is_empty(), "{text:?}: {:?}", parsed.damage);
    let tree = parsed.tree.unwrap();
    let mut cursor = tree.walk();
    let mut found = Vec::new();
    loop {
        let node = cursor.node();
        if node.is_named() {
            let words: Vec<&str> = text.get(node.byte_range()).unwrap().split_whitespace().collect();
            found.push((node.kind().to_owned(), words.join(" ")));
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return found;
            }
        }
    }
}

#[test]
fn indentation_changes_neither_nodes_nor_their_places() {
    let lines = [
        "#define STEP(i) \\",
        "i += 2; \\",
        "i -= 1",
        "#if __CUDA_ARCH__ > 700",
        "__device__ int newer;",
        "#endif",
        "__global__ void scale(float *values, // of so many",
        "int count) {",
        "/* two",
        "lines */ int i = blockIdx.x",
        "* blockDim.x + threadIdx.x;",
        "// goes on \\",
        "to here",
        "const char *raw = R\"(one",
        "two)\", *plain = \"three\";",
        "",
        "i = STEP(i);",
        "if (i < count)",
        "values[i] *=",
        "2;",
        "}",
        "#pragma once",
    ];
    for end in ["\n", "\r\n"] {
        let flat = nodes(&lines.join(end));
        assert!(flat.iter().any(|node| node.0 == "expression_statement" && node.1 == "values[i] *= 2;"));
        for indentation in ["  ", "   ", "    ", "\t\t", " \t \t \t ", "                 "] {
            let lines: Vec<String> = lines.iter().map(|line| format!("{indentation}{line}")).collect();
            assert_eq!(nodes(&lines.join(end)), flat, "{indentation:?} {end:?}");
        }
    }
}
