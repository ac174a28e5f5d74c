//! CUDA C++ in the strings of Python: which strings are programs, and that what is read of them stands where the file has
//! it.
#![allow(clippy::unwrap_used)]

use cudalint_syntax::{
    Embedded, FileKind, MacroTable, ParserPool, comments, embedded_cuda, parse_region, regions, scan_directives,
};

fn embedded(text: &str) -> Option<Embedded> {
    embedded_cuda(text, &regions(FileKind::Python, text))
}

/// The programs of a text as they are read, blanks at their ends and doubled blanks left out.
fn programs(text: &str) -> Vec<String> {
    let Some(found) = embedded(text) else { return Vec::new() };
    assert_eq!(found.view.len(), text.len(), "{text}");
    let mut outside = 0;
    for region in &found.regions {
        let range = region.span.range();
        assert_eq!(&found.view[outside..range.start], &text[outside..range.start], "outside of the programs");
        outside = range.end;
        // Whatever stands in the view was written there or was made of what was written there.
        for (at, (seen, raw)) in found.view.bytes().zip(text.bytes()).enumerate().skip(range.start).take(range.len()) {
            let made = matches!(seen, b' ' | b'\n' | b'\t' | b';' | b'?') || raw == b'\\' || at > 0;
            assert!(seen == raw || made, "{text}");
        }
    }
    assert_eq!(&found.view[outside..], &text[outside..]);
    let spelled = |span: cudalint_syntax::Span| {
        found.view[span.range()].split('\n').map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    found.regions.iter().map(|region| spelled(region.span).collect::<Vec<_>>().join("\n").trim().to_owned()).collect()
}

/// The one program of a text.
fn program(text: &str) -> String {
    let mut all = programs(text);
    assert_eq!(all.len(), 1, "{text}: {all:?}");
    all.remove(0)
}

/// Parses the only program of a text; its damage as text.
fn damage(text: &str) -> Vec<String> {
    let found = embedded(text).unwrap();
    let region = &found.regions[0];
    let directives = scan_directives(&found.view, region.span);
    let macros = MacroTable::build(&directives.defines, &[]);
    let parsed = parse_region(&found.view, region, &macros, &directives.defines, &mut ParserPool::new());
    parsed.damage.iter().map(|span| found.view[span.range()].to_owned()).collect()
}

#[test]
fn every_spelling_of_a_string_is_read() {
    let kernel = "__global__ void k(int* p) { p[0] = 1; }";
    for text in [
        format!("c = r\"{kernel}\"\n"),
        format!("c = '''{kernel}'''\n"),
        format!("f(b\"\"\"{kernel}\"\"\")\n"),
        format!("c = RawKernel(\n    # {{ why\n    u'{kernel}', 'k')\n"),
        format!("x = {{'a': rb'{kernel}'}}\n"),
        format!("return ({kernel:?}\n)\n"),
        format!("c = \\\n  R'{kernel}'\n"),
    ] {
        assert_eq!(program(&text), kernel, "{text}");
        let found = embedded(&text).unwrap();
        assert_eq!(found.view.find(kernel), text.find(kernel), "{text}");
    }
}

#[test]
fn line_breaks_of_a_string_stay_where_they_are() {
    let text = "a = 1\nc = r'''\n#define N 4 \\\n  + 1\n__global__ void k() {\n\tint é = N; // é\n}\n'''\nb = 2\n";
    let found = embedded(text).unwrap();
    let breaks = |text: &str| text.match_indices('\n').map(|(at, _)| at).collect::<Vec<_>>();
    assert_eq!(breaks(&found.view), breaks(text));
    assert_eq!(found.view.find("int é"), text.find("int é"));
    assert_eq!(&text[found.regions[0].span.range()].trim_start_matches('r')[..3], "'''");
}

#[test]
fn escapes_are_what_they_stand_for() {
    let text = "c = '#define N 4\\n__global__ void k(char* p) {\\tp[0] = N;\\x20p[1] = 1; }\\n'";
    assert_eq!(program(text), "#define N 4\n__global__ void k(char* p) { p[0] = N; p[1] = 1; }");
    let found = embedded(text).unwrap();
    assert_eq!(found.view.find("__global__"), text.find("__global__"));
    assert_eq!(found.view.find("p[0]"), text.find("p[0]"));
    // A literal of C++ has no blank where an escape was written.
    let text = "c = '__global__ void k() { char c = \\'\\\\0\\'; printf(\"a\\\\n%d\\\\n\", c); f(); }'";
    assert_eq!(program(text), "__global__ void k() { char c = '\\0' ; printf(\"a\\n%d\\n\" , c); f(); }");
    let found = embedded(text).unwrap();
    assert_eq!(found.view.find("f();"), text.find("f();"));
    // A backslash before a line's end joins lines.
    let text = "c = '''\\\n__global__ void k() { \\\n f(); }'''";
    assert_eq!(program(text), "__global__ void k() { f(); }");
    // In a raw string a backslash is one.
    assert_eq!(program("c = r'__global__ void k() { f(\"\\n\"); }'"), "__global__ void k() { f(\"\\n\"); }");
}

#[test]
fn pieces_are_one_program() {
    let text = "c = ('__global__ void k('  # no code\n     \"int* p) {\"\n     r'''\n p[0] = 1; ''' + '}'\n)\n";
    assert_eq!(program(text), "__global__ void k( int* p) {\np[0] = 1; }");
    // Between pieces no line ends, whatever the file does.
    let text = "c = ('#define TWO(x) '\n     '((x) * 2)\\n'\n     '__global__ void k() { f(TWO(1)); }')\n";
    assert_eq!(program(text), "#define TWO(x) ((x) * 2)\n__global__ void k() { f(TWO(1)); }");
    let text = "c = '__global__ void k() {' + \\\n '}' ; d = '__device__ int f() { return 1; }'\n";
    assert_eq!(programs(text), ["__global__ void k() { }", "__device__ int f() { return 1; }"]);
    // Two statements are two strings.
    let text = "c = '__global__ void k() {'\n'}'\n";
    assert_eq!(programs(text), [] as [&str; 0]);
}

#[test]
fn holes_are_names_that_nothing_declares() {
    let text = "c = f'__global__ void k(float* p) {{ __shared__ float t[{n}]; p[{i + 1:d}] = t[{n}]; }}'\n";
    assert_eq!(program(text), "__global__ void k(float* p) { __shared__ float t[_n_]; p[_i___1___] = t[_n_]; }");
    let text = "c = '__global__ void k(%(t)s* p) { p[%(n)d %% 2] = %(n)d; }' % dict(t='int', n=3)\n";
    assert_eq!(program(text), "__global__ void k(_t___* p) { p[_n___ % 2] = _n___; }");
    let text = "c = string.Template('__global__ void k(int* p) { p[$n] = ${n}; p[$m_] = 1; }')\n";
    assert_eq!(program(text), "__global__ void k(int* p) { p[_n] = _n__; p[_m_] = 1; }");
    let text = "c = '__global__ void k(int* p) {{ p[{}] = p[{}]; }}'.format(1, 2)\n";
    assert_eq!(program(text), "__global__ void k(int* p) { p[Q1] = p[Q2]; }");
    // What a name stands for elsewhere is no business of its.
    let text = "c = f'__global__ void k(int* p, int _n_) {{ p[{n}] = _n_; }}'\n";
    assert_eq!(program(text), "__global__ void k(int* p, int _n_) { p[Q_1] = _n_; }");
    // A hole beside letters is part of a word.
    let text = "c = f'__global__ void k_{t}(int* p) {{ x{a}y(); }}'\n";
    assert_eq!(program(text), "__global__ void k__t_(int* p) { x_a_y(); }");
    // Without a template, percents and braces are C++.
    let text = "c = '__global__ void k(int* p, int d) { p[0] = d %d; { } }'\n";
    assert_eq!(program(text), "__global__ void k(int* p, int d) { p[0] = d %d; { } }");
}

#[test]
fn a_template_is_known_by_what_the_file_does_with_it() {
    let text = "CODE = '__global__ void k(int* p) {{ p[{n}] = 1; }}'\nmod = SourceModule(CODE.strip().format(n=4))\n";
    assert_eq!(program(text), "__global__ void k(int* p) { p[_n_] = 1; }");
    let text = "CODE = '__global__ void k(int* p) { p[%d] = 1; }'\nmod = SourceModule(CODE % 4)\n";
    assert_eq!(program(text), "__global__ void k(int* p) { p[Q1] = 1; }");
    let text = "CODE = '__global__ void k(float* p) { p[N] = sizeof(float); }'\nf(CODE.replace('float', t))\n";
    assert_eq!(program(text), "__global__ void k(_loa_* p) { p[N] = sizeof(_loa_); }");
    let text =
        "CODE = '''__global__ void k(float* p) {\n  /*BODY*/\n  p[0] = 1; }'''\nf(CODE.replace('/*BODY*/', t))\n";
    assert_eq!(program(text), "__global__ void k(float* p) ;");
    let text = "from jinja2 import Template\nc = Template('__global__ void k(int* p) { p[{{ n }}] = 1; }')\n";
    assert_eq!(program(text), "__global__ void k(int* p) { p[_n_____] = 1; }");
    let text = "import jinja2\nc = '__global__ void k(int* p) { {% if x %} p[0] = 1; {% endif %} }'\n";
    assert_eq!(programs(text), [] as [&str; 0]);
}

#[test]
fn what_a_hole_may_hold_is_out_of_sight() {
    // Statements may do anything: the function has no body here.
    let text = "c = f'''__global__ void k(int* p) {{\n  {body}\n  p[5] = 1;\n}}\n__global__ void l() {{ g(); }}'''\n";
    assert_eq!(program(text), "__global__ void k(int* p) ;\n\n\n\n__global__ void l() { g(); }");
    let text = "c = '__global__ void k(int* p) { %s }' % body\n";
    assert_eq!(program(text), "__global__ void k(int* p) ;");
    let text =
        "c = f'''extern \"C\" {{ namespace n {{ {more}\n__global__ void k() {{ for (;;)\n {body}\n }} }} }}'''\n";
    assert_eq!(program(text), "extern \"C\" { namespace n { ;\n__global__ void k() ;\n\n} }");
    // A class of which a part is missing has no layout.
    let text = "c = f'struct S {{ int a; {fields} }}; __device__ int f() {{ return sizeof(S); }}'\n";
    assert_eq!(program(text), "struct S ; ; __device__ int f() { return sizeof(S); }");
    // Declarations at file level are missing, and no more.
    let text = "c = header + f'''{includes}\n{qualifiers}\n__global__ void k() {{ g(); }}'''\n";
    assert_eq!(program(text), ";\n;\n__global__ void k() { g(); }");
    let text = "c = '__device__ int f() { return 1; }\\n' + common() + '\\n__global__ void k() { f(); }'\n";
    assert_eq!(program(text), "__device__ int f() { return 1; }\n;\n__global__ void k() { f(); }");
    // An initializer is none of these.
    let text = "c = f'__device__ int f() {{ int a[] = {{ {values} }}; return a[0]; }}'\n";
    assert_eq!(program(text), "__device__ int f() { int a[] = { _values_ }; return a[0]; }");
}

#[test]
fn only_programs_are_taken() {
    for text in [
        "\"\"\"Compiles a kernel: __global__ void k() { f(); }\"\"\"\nimport cupy\n",
        "def f():\n    '''__global__ void k() { f(); }'''\n    return 1\n",
        "print('functions marked __global__ must return void')\n",
        "c = '__global__ void k() { f();'\n",
        "# '__global__ void k() { f(); }'\n",
        "c = 'loop(i) { x += y[i]; }'\n",
        "k<<<1, 2>>>('{}')\n",
        "s = 'Thread <<<%s, %s>>>' % (block, thread)\n",
    ] {
        assert_eq!(programs(text), [] as [&str; 0], "{text}");
    }
    assert_eq!(program("c = 'void f() { k<<<1, 2>>>(p); }'\n"), "void f() { k<<<1, 2>>>(p); }");
}

#[test]
fn fences_of_documents_have_programs_too() {
    let text = "# Title\n\n```python\nk = RawKernel(r'''\n__global__ void k() { }\n''', 'k')\n```\n\n'__global__ void l() { }'\n";
    let found = embedded_cuda(text, &regions(FileKind::Markdown, text)).unwrap();
    assert_eq!(found.regions.len(), 1);
    assert_eq!(text[found.regions[0].span.range()].lines().nth(1), Some("__global__ void k() { }"));
}

#[test]
fn programs_are_parsed_with_their_macros_and_comments() {
    let text = "c = ('#define SIZE 8  // eight\\n'\n     '__global__ void k(float* p) {\\n'\n     '  // cudalint: x\\n'\n\
                '  p[SIZE] = 1;\\n'\n     '}\\n')\n";
    assert_eq!(damage(text), [] as [&str; 0]);
    let found = embedded(text).unwrap();
    let directives = scan_directives(&found.view, found.regions[0].span);
    let define = &directives.defines[0];
    assert_eq!((define.name.as_str(), define.body.as_str()), ("SIZE", "8"));
    assert_eq!(&text[define.name_span.range()], "SIZE");
    let remarks: Vec<_> = comments(&found.view, &found.regions[0]).iter().map(|c| c.words(&found.view)).collect();
    assert_eq!(remarks, ["eight", "cudalint: x"]);
}

#[test]
fn no_text_is_too_strange() {
    let base = "c = f'''__global__ void k(int* p) {{\\n é {n} %s ${x} \\x41 \\N{DASH} \"\\\\n\" '\\'' }}''' 'a' + b(\"(\") + '' % {}\n";
    let whole: Vec<char> = base.chars().collect();
    for start in 0..whole.len() {
        for end in [start + 1, start + 7, whole.len().saturating_sub(start), whole.len()] {
            let text: String = whole.get(start.min(end)..end.min(whole.len())).unwrap_or(&[]).iter().collect();
            programs(&text);
            programs(&format!("c = '__global__ void k() {{}} {text}"));
            programs(&format!("c = f'__global__ void k() {{{{}}}} {text}' % d.replace('{text}', 1)"));
        }
    }
}

/// The functions that the bodies of kernels are read as, with their parameters.
fn bodies(text: &str) -> Vec<(String, Vec<String>)> {
    let Some(found) = embedded(text) else { return Vec::new() };
    assert_eq!(found.view.len(), text.len(), "{text}");
    let shown = |body: &cudalint_syntax::CupyBody| {
        let read = found.view[body.region.span.range()].split_whitespace().collect::<Vec<_>>().join(" ");
        let parameters = body.parameters.iter().map(|parameter| {
            assert_eq!(&text[parameter.span.range()], &*parameter.name);
            let raw = if parameter.raw { "raw " } else { "" };
            let arrow = if parameter.output { "-> " } else { "" };
            format!("{arrow}{raw}{} {}", parameter.ty, parameter.name)
        });
        (read, parameters.collect())
    };
    found.bodies.iter().map(shown).collect()
}

#[test]
fn statements_of_a_kernel_that_cupy_builds_are_read_as_its_body() {
    for call in [
        "cp.ElementwiseKernel('raw T x, float32 a', 'T y', 'y = x[i] * a', 'k')",
        "cupy.ElementwiseKernel(\n    'raw T x, float32 a',\n    'T y',\n    '''y = x[i] * a''',\n)",
        "ElementwiseKernel(operation='y = x[i] * a', in_params='raw T x,float32 a', out_params='T y')",
        "ElementwiseKernel('raw  T x , float32 a', 'T y', ('y = x[i]' ' * a'), preamble=PREAMBLE)",
    ] {
        let text = format!("import cupy as cp\nk = {call}\n");
        let found = bodies(&text);
        assert_eq!(found.len(), 1, "{text}");
        let (read, parameters) = &found[0];
        assert_eq!(read, "__global__ void _(){y = x[i] * a;}", "{text}");
        assert_eq!(parameters, &["raw T x", "float32 a", "-> T y"], "{text}");
    }
}

#[test]
fn the_expressions_of_a_reduction_are_read_as_two_bodies() {
    for call in [
        "cp.ReductionKernel('T x, T y', 'T z', 'x * y', 'a+b', 'z = a', '0', 'dot')",
        "cp.ReductionKernel('T x, T y', 'T z',\n    'x * y',\n    'a + b',\n    'z = a',\n    '0')",
        "ReductionKernel('T x, T y', 'T z', map_expr='x * y', reduce_expr=PLUS, post_map_expr='z = a', identity=0)",
    ] {
        let found = bodies(&format!("k = {call}\n"));
        assert_eq!(found.len(), 1, "{call}");
        assert_eq!(found[0].0.replace(' ', ""), "__global__void_(){(x*y);}int_(){z=a;}", "{call}");
    }
    // What comes after is not in sight, or there is no room for a function around it.
    for call in [
        "ReductionKernel('T x, T y', 'T z', 'x * y', 'a + b', POST, '0')",
        "ReductionKernel('T x, T y', 'T z', 'x * y', '', 'z = a', '0')",
        "ReductionKernel('T x, T y', 'T z', post_map_expr='z = a', map_expr='x * y', reduce_expr='a + b', identity=0)",
    ] {
        let found = bodies(&format!("k = {call}\n"));
        assert_eq!(found.len(), 1, "{call}");
        assert_eq!(found[0].0.replace(' ', ""), "__global__void_(){(x*y);}", "{call}");
    }
}

#[test]
fn a_preamble_is_read_with_the_body() {
    let text = "k = cp.ReductionKernel('T x', 'T y', 'sq(x)', 'a + b', 'y = a', '0', 'norm', preamble='''\n#define TWO 2\n__device__ int sq(int x) { return x * TWO; }\n''')\n";
    let found = embedded(text).unwrap();
    assert_eq!(found.regions, []);
    assert_eq!(found.bodies.len(), 1);
    let body = &found.bodies[0];
    assert_eq!(body.name.as_deref(), Some("norm"));
    let directives = scan_directives(&found.view, body.region.span);
    assert_eq!(directives.defines.len(), 1);
    let macros = MacroTable::build(&directives.defines, &[]);
    let parsed = parse_region(&found.view, &body.region, &macros, &directives.defines, &mut ParserPool::new());
    assert_eq!(parsed.damage, []);
}

#[test]
fn what_is_not_all_there_is_no_body() {
    for arguments in [
        // Known when the program runs.
        "'T x', 'T y', body",
        "'T x', 'T y', 'y = ' + value",
        "params, 'T y', 'y = x'",
        "*args",
        // More of the kernel than its body.
        "'T x', 'T y', 'y = x', loop_prep='int j = 0'",
        // Not of one piece.
        "'T x', 'T y', 'y = x; } {'",
        "'T x', 'T y', '{y = x;'",
        "'T x', 'T y', '${statement}\\ny = x;'",
    ] {
        let text = format!("k = cp.ElementwiseKernel({arguments})\n");
        assert_eq!(bodies(&text), [], "{text}");
    }
    // A class of somebody else's.
    assert_eq!(bodies("k = MyElementwiseKernel('T x', 'T y', 'y = x')\n"), []);
}
