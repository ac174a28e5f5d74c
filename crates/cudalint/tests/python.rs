//! Python files with CUDA C++ in their strings, and notebooks: what is found, and that it is told where the user sees it.

#![allow(clippy::unwrap_used)]

mod common;

use common::{EMPTY_GRID, Sandbox};
use serde_json::{Value, json};

const CONCISE: [&str; 2] = ["--output-format", "concise"];

/// The places of the findings of a file, each with its rule; launches that nobody checks left out.
fn places(name: &str, text: &str) -> Vec<String> {
    let sandbox = Sandbox::new(&[(name, text)]);
    let ran =
        sandbox.run(&[name, CONCISE[0], CONCISE[1], "--ignore", "unchecked-launch", "--warn", "unchecked-api-call"]);
    assert!(matches!(ran.code, 0 | 1) && ran.stderr.is_empty(), "{ran:?}");
    let head = |line: &str| {
        let (place, rest) = line.strip_prefix(name)?.strip_prefix(':')?.split_once(": ")?;
        Some(format!("{place} {}", rest.split(']').next()?.split_once('[')?.1))
    };
    ran.stdout.lines().filter_map(head).collect()
}

/// A notebook with cells of code behind one of text.
fn notebook(cells: &[&str]) -> String {
    let mut all = vec![json!({"cell_type": "markdown", "metadata": {}, "source": ["# Title\n", "import cupy"]})];
    all.extend(cells.iter().map(|cell| {
        let lines: Vec<&str> = cell.split_inclusive('\n').collect();
        json!({"cell_type": "code", "execution_count": null, "metadata": {}, "outputs": [], "source": lines})
    }));
    json!({"cells": all, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).to_string()
}

#[test]
fn a_defect_in_a_string_is_told_at_its_place_in_the_file() {
    let text =
        format!("import torch\nfrom torch.utils.cpp_extension import load_inline\n\nsource = r'''\n{EMPTY_GRID}'''\n");
    assert_eq!(places("a.py", &text), ["8:17 empty-grid"]);
}

#[test]
fn pieces_escapes_and_holes_keep_every_position() {
    let text = r##"from torch.utils.cpp_extension import load_inline
source = (
    "#include <cuda_runtime.h>\n"
    '__global__ void increment(float *values, char c) {\n'  # a kernel
    f'    if (c != \'\\0\') values[blockIdx.x] = {value} * {{1}};\n'
    "}\n" + "void run(float *values) {\n"
    "\tchar c = '\\''; increment<<<20 / 32, 32>>>(values, c);\n"
    f"    increment<<<{n} / 32, 32>>>(values, c);\n"
    "}\n"
)
"##;
    assert_eq!(places("a.py", text), ["7:36 empty-grid"]);
}

#[test]
fn comments_inside_a_string_suppress() {
    let with = |comment: &str, line: &str| {
        let code = EMPTY_GRID
            .replace("    increment", &format!("{line}    increment"))
            .replace("(values);\n", &format!("(values);{comment}\n"));
        format!("import cupy\nsource = '''\n{code}'''\n")
    };
    assert_eq!(places("a.py", &with("", "")), ["6:17 empty-grid"]);
    assert_eq!(places("a.py", &with("  // cudalint: ignore[empty-grid] why", "")), [] as [&str; 0]);
    assert_eq!(places("a.py", &with("", "  // cudalint: ignore[empty-grid]\n")), [] as [&str; 0]);
    assert_eq!(places("a.py", &format!("{}# cudalint: file-ignore[empty-grid]\n", with("", ""))), [] as [&str; 0]);
    // A comment of Python is none in C++.
    assert_eq!(places("a.py", &with("  # cudalint: ignore[empty-grid]", "")), ["6:17 empty-grid"]);
    // Pieces have their lines.
    let pieces = "import cupy\nsource = (\n  '__global__ void k() { }\\n'\n  'void f() {\\n'\n  '  // cudalint: ignore[empty-grid]\\n'\n  \
                  '  k<<<0, 1>>>();\\n'\n  '  k<<<0, 2>>>();\\n'\n  '}\\n')\n";
    assert_eq!(places("a.py", pieces), ["7:10 empty-grid"]);
}

#[test]
fn a_string_is_a_program_of_its_own() {
    let kernel = "__global__ void k(float *p) { p[0] = SIZE; }";
    let text = format!(
        "import cupy\na = '''#define SIZE 0\n{kernel}'''\nb = '''{kernel}\nvoid f() {{ k<<<SIZE, 1>>>(0); }}'''\n"
    );
    assert_eq!(places("a.py", &text), [] as [&str; 0]);
    let both = format!("import cupy\na = '''#define SIZE 0\n{kernel}\nvoid f() {{ k<<<SIZE, 1>>>(0); }}'''\n");
    assert_eq!(places("a.py", &both), ["4:16 empty-grid"]);
}

#[test]
fn findings_in_notebooks_are_told_by_cell() {
    let launch = "%matplotlib inline\n!nvidia-smi\n\nkernel[1](x)\n";
    let kernel = "from numba import cuda\n@cuda.jit\ndef kernel(x):\n    x[0] = 1\n";
    let text = notebook(&["%%bash\nls 'x\n", kernel, launch]);
    assert_eq!(places("nb.ipynb", &text), ["cell 4:4:1 malformed-launch-call"]);

    let sandbox = Sandbox::new(&[("nb.ipynb", &text)]);
    let full = sandbox.run(&["nb.ipynb"]).stdout;
    assert!(full.contains("[nb.ipynb:cell 4:4:1]") && full.contains("4 │ kernel[1](x)"), "{full}");
    // What a cell shows of its surroundings is the cell's.
    assert!(!full.contains("x[0] = 1") || full.contains("[nb.ipynb:cell 3:"), "{full}");
    let run = |format: &str| sandbox.run(&["nb.ipynb", "--output-format", format]).stdout;
    let document: Value = serde_json::from_str(&run("json")).unwrap();
    assert_eq!(document["findings"][0]["range"]["start"], json!({"cell": 3, "line": 4, "column": 1}));
    let sarif: Value = serde_json::from_str(&run("sarif")).unwrap();
    let region = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"];
    assert_eq!((&region["startLine"], &region["properties"]["cell"]), (&json!(4), &json!(3)));
    let lsp: Value = serde_json::from_str(&run("lsp")).unwrap();
    let diagnostic = &lsp[0]["diagnostics"][0];
    assert_eq!((&diagnostic["range"]["start"]["line"], &diagnostic["data"]["cell"]), (&json!(3), &json!(3)));
    assert!(run("github").contains("::cell 4:4:1: "), "{}", run("github"));
    assert!(run("gitlab").contains("\"cell 4:4:1: "), "{}", run("gitlab"));
    assert!(run("junit").contains("nb.ipynb:cell 4:4:1: "), "{}", run("junit"));
}

#[test]
fn what_a_cell_shows_is_seen() {
    let start = "from cuda.bindings import runtime as cudart\n_, pointer = cudart.cudaMalloc(64)\n";
    let shown = notebook(&[start, "x = 1\n\ncudart.cudaMemset(pointer, 0, 64)  # its status\n", "x\n"]);
    let found = |text: &str| -> Vec<String> {
        places("nb.ipynb", text).into_iter().filter(|place| place.ends_with("unchecked-api-call")).collect()
    };
    assert_eq!(found(&shown), [] as [&str; 0]);
    // A semicolon hides it, a statement behind it takes its place.
    let hidden = notebook(&[start, "cudart.cudaMemset(pointer, 0, 64);\n", "x = 1\n"]);
    assert_eq!(found(&hidden), ["cell 3:1:1 unchecked-api-call"]);
    let earlier = notebook(&[start, "cudart.cudaMemset(pointer, 0, 64)\nx = 1\n"]);
    assert_eq!(found(&earlier), ["cell 3:1:1 unchecked-api-call"]);
    // A script shows nothing.
    let script = format!("{start}cudart.cudaMemset(pointer, 0, 64)\n");
    let script = places("a.py", &script);
    assert!(script.iter().any(|place| place == "3:1 unchecked-api-call"), "{script:?}");
}

#[test]
fn cells_of_cuda_and_comments_in_cells() {
    let cuda = format!("%%writefile a.cu\n{EMPTY_GRID}");
    let quiet = EMPTY_GRID.replace("(values);\n", "(values); // cudalint: ignore[empty-grid]\n");
    let text = notebook(&[&cuda, &format!("%%cu\n{quiet}")]);
    assert_eq!(places("nb.ipynb", &text), ["cell 2:5:17 empty-grid"]);
    let kernel = "from numba import cuda\n@cuda.jit\ndef kernel(x):\n    x[0] = 1\n";
    let text = notebook(&[kernel, "# cudalint: ignore[malformed-launch-call]\nkernel[1](x)\n"]);
    assert_eq!(places("nb.ipynb", &text), [] as [&str; 0]);
}

#[test]
fn notebooks_below_a_folder_are_found_and_broken_ones_are_told() {
    let sandbox = Sandbox::new(&[
        ("src/a.ipynb", &notebook(&[&format!("%%cu\n{EMPTY_GRID}")])),
        ("src/b.ipynb", &notebook(&["import numpy\n"])),
        ("src/c.ipynb", "{\"cells\": [ cuda"),
    ]);
    let ran = sandbox.run(&["src", CONCISE[0], CONCISE[1]]);
    assert!(ran.code == 1 && ran.stdout.starts_with("src/a.ipynb:cell 2:5:17: "), "{ran:?}");
    assert_eq!(
        ran.stderr,
        "cudalint: warning: src/c.ipynb: not linted: no notebook: expected value at line 1 column 13\n"
    );
    let ran = sandbox.run(&["src/c.ipynb"]);
    assert_eq!(ran.code, 2);
    assert_eq!(ran.stderr, "cudalint: error: src/c.ipynb: no notebook: expected value at line 1 column 13\n");
}

#[test]
fn documents_with_python_have_programs_in_strings() {
    let text = format!("# Title\n\n```python\nimport cupy\nsource = '''\n{EMPTY_GRID}'''\n```\n");
    assert_eq!(places("a.md", &text), ["9:17 empty-grid"]);
}

#[test]
fn names_that_no_cell_binds_end_a_notebook() {
    let start = "import cupy\nimport numpy as np\nx = cupy.zeros(4, dtype=np.float64)\n\
                 k = cupy.RawKernel('extern \"C\" __global__ void k(float *a) { a[threadIdx.x] = 0; }', 'k')\n";
    let launch = "k((1,), (4,), (x,))\n";
    let told = |cells: &[&str]| {
        let found = places("nb.ipynb", &notebook(cells));
        found.iter().any(|place| place.ends_with("array-dtype-mismatch"))
    };
    assert!(told(&[start, launch]));
    for raises in ["y = missing(1)\n", "%matplotlib inline\n!ls\ny = missing\n"] {
        assert!(!told(&[start, raises, launch]), "{raises}");
    }
    for goes_on in ["y = sc.textFile(1)\n", "exec('missing = 1')\ny = missing\n", "display(1)\n"] {
        assert!(told(&[start, goes_on, launch]), "{goes_on}");
    }
    // Cells may be run in any order.
    assert!(told(&[start, "y = later\n", launch, "later = 1\n"]));
}

/// Arrays of Numba have no `set`, whatever they hold.
#[test]
fn arrays_without_a_method_refuse_no_type() {
    let text =
        |import: &str, make: &str| format!("import numpy\n{import}\nx = {make}\nx.set(numpy.arange(10))\nprint(x)\n");
    assert_eq!(places("a.py", &text("from numba import cuda", "cuda.managed_array(10)")), Vec::<String>::new());
    assert_eq!(places("a.py", &text("import cupy", "cupy.zeros(10)")), ["4:1 array-dtype-mismatch"]);
}

/// Only Python 2 reads lines that begin with tabs here and with spaces there: its division gives integers.
#[test]
fn lines_that_only_python_2_reads() {
    let text = |inner: &str| {
        format!(
            "from numba import cuda\n@cuda.jit\ndef k(a):\n    for i in range(2):\n        a[0] = 1\n{inner}a[1] = 2\n\n\
             def run(a, n):\n    k[n / 32 + 1, 32](a)\n"
        )
    };
    assert_eq!(places("one.py", &text("        ")).len(), 1);
    assert_eq!(places("one.py", &text("\t")), [""; 0]);
}

#[test]
fn a_script_and_the_kernels_file_that_it_reads_are_one_program_whichever_is_linted() {
    let kernel = "#include \"index.h\"\nextern \"C\" __global__ void add(float *a, const float *b) {\n    int i = \
                  index_of();\n    a[i] += b[i];\n}\n";
    let header = "static __device__ int index_of() { return blockIdx.x * blockDim.x + threadIdx.x; }\n";
    let script = "import pycuda.autoinit\nimport pycuda.driver as drv\nfrom pycuda.compiler import SourceModule\n\
                  with open('kernels/add.cu') as f:\n    add = SourceModule(f.read()).get_function('add')\n\
                  a, b = drv.mem_alloc(4000), drv.mem_alloc(4000)\nadd(a, b, block=(256, 1, 1), grid=(4, 1))\n";
    // Kernels of the same name in a file that no script names, and a script that reads nothing.
    let other = kernel.replace("index_of()", "4000");
    let sandbox = Sandbox::new(&[
        ("kernels/add.cu", kernel),
        ("kernels/index.h", header),
        ("other/more.cu", &other),
        ("scripts/run.py", script),
        ("scripts/none.py", "import cupy\nx = cupy.zeros(10)\n"),
    ]);
    let cell = script.replace("kernels/add.cu", "kernels/notebook.cu").replace("'add'", "'late'");
    sandbox.write("scripts/run.ipynb", notebook(&[&cell]).as_bytes());
    sandbox.write("kernels/notebook.cu", kernel.replace("add(", "late(").as_bytes());
    let found = |path: &str| {
        let ran = sandbox.run(&[path, CONCISE[0], CONCISE[1]]);
        assert!(ran.stderr.is_empty(), "{ran:?}");
        let mut lines: Vec<String> =
            ran.stdout.lines().filter(|line| line.contains(": error")).map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let whole = found(".");
    assert!(!whole.is_empty());
    let of = |name: &str| whole.iter().filter(|line| line.starts_with(name)).cloned().collect::<Vec<_>>();
    assert_eq!(found("kernels/add.cu"), of("kernels/add.cu"));
    assert_eq!(found("scripts/run.py"), of("scripts/run.py"));
    assert_eq!(found("kernels/notebook.cu"), of("kernels/notebook.cu"));
    assert_eq!((of("kernels/add.cu").len(), of("kernels/notebook.cu").len()), (1, 1));
    assert_eq!(found("other/more.cu"), of("other/more.cu"));
}

/// Which names Numba had in the time of `NumbaPro` is not known.
#[test]
fn scripts_of_another_time() {
    let script = "import numba.cuda\n\n@numba.cuda.jit('void(f4[:])', target='gpu')\ndef kernel(a):\n    a[0] = 1\n";
    let told = |main: &str| {
        let sandbox = Sandbox::new(&[("kernels.py", script), ("main.py", main)]);
        sandbox.run(&["--select", "nonexistent-gpu-api", "."]).stdout.contains("target")
    };
    assert!(told("import kernels\nfrom numba import cuda\n"));
    assert!(!told("from numbapro.cudalib import curand\nfrom numba import cuda\nimport kernels\n"));
}
