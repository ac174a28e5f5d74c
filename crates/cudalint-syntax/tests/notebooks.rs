//! Notebooks: which cells are the program, what of them is out of the way, and where everything stands.
#![allow(clippy::unwrap_used)]

use cudalint_syntax::{FileKind, FileText, Language, MacroTable, ParserPool, parse_region};

/// A notebook of version 4 with these cells of code, one of text before the first.
fn notebook(cells: &[&str]) -> FileText {
    let text = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"").replace('\t', "\\t");
    let code = cells.iter().map(|cell| {
        let lines: Vec<String> =
            cell.split_inclusive('\n').map(|line| format!("\"{}\"", text(line).replace('\n', "\\n"))).collect();
        format!("{{\"cell_type\": \"code\", \"outputs\": [{{\"data\": 1}}], \"source\": [{}]}}", lines.join(", "))
    });
    let markdown = "{\"cell_type\": \"markdown\", \"source\": \"import cupy\"}".to_owned();
    let all: Vec<String> = std::iter::once(markdown).chain(code).collect();
    let json = format!("{{\"cells\": [{}], \"nbformat\": 4, \"metadata\": {{}}}}", all.join(","));
    FileText::from_bytes(FileKind::Notebook, json.into_bytes()).unwrap()
}

/// The program of a notebook as it is read, and what of it is damaged.
fn program(cells: &[&str]) -> (String, usize) {
    let file = notebook(cells);
    let Some(main) = file.stretches().into_iter().find(|stretch| !stretch.apart && !stretch.inside) else {
        return (String::new(), 0);
    };
    assert_eq!(main.text.len(), file.source.text().len());
    let breaks = |text: &str| text.match_indices('\n').map(|(at, _)| at).collect::<Vec<_>>();
    assert_eq!(breaks(&main.text), breaks(file.source.text()));
    let parsed = parse_region(&main.text, &main.region, &MacroTable::default(), &[], &mut ParserPool::new());
    let lines: Vec<&str> = main.text.lines().map(str::trim_end).collect();
    (lines.join("\n"), parsed.damage.len())
}

#[test]
fn cells_are_one_program() {
    let file = notebook(&["import cupy\n", "", "x = 1\ny = 2"]);
    assert_eq!(file.source.text(), "import cupy\n\n\nx = 1\ny = 2\n");
    let cells: Vec<_> = file.cells.iter().map(|cell| (cell.index, cell.start)).collect();
    assert_eq!(cells, [(1, 0), (2, 13), (3, 14)]);
    let stretches = file.stretches();
    assert_eq!(stretches.len(), 1);
    assert_eq!((stretches[0].region.language, stretches[0].apart), (Language::Python, false));
}

#[test]
fn magics_are_out_of_the_way() {
    assert_eq!(
        program(&["%matplotlib inline\n!pip install cupy \\\n  --quiet\nimport cupy\ncupy?\n?cupy\n"]),
        ("\n\n\nimport cupy\n\n\n".to_owned(), 0)
    );
    assert_eq!(program(&["%%time\nk[1, 2](x)\n"]), ("\nk[1, 2](x)\n".to_owned(), 0));
    assert_eq!(program(&["%%capture out\n%%timeit -n 1\nf()"]), ("\n\nf()".to_owned(), 0));
    // What is timed is run.
    assert_eq!(program(&["%time k[1, 2](x)\n"]), ("if 1: k[1, 2](x)\n".to_owned(), 0));
    assert_eq!(program(&["%timeit -n 10 -r3 f(x)\n"]), ("if 1:             f(x)\n".to_owned(), 0));
    assert_eq!(
        program(&["for i in x:\n    !echo $i\nelse:\n    %time y = f(i)\n"]),
        ("for i in x:\n    0\nelse:\n    if 1: y = f(i)\n".to_owned(), 0)
    );
    assert_eq!(program(&["files = !ls\nw = %who_ls\n"]), ("files = _\nw = _\n".to_owned(), 0));
    // These are no magics.
    let plain = "x = (a\n  % b)\ny = '''\n%d\n!x\n'''\nz = a \\\n  % b\nt = 1 != 2 # why?\nu = f(a,\n  b) % c\n";
    assert_eq!(program(&[plain]), (plain.to_owned(), 0));
}

#[test]
fn cells_of_other_languages_are_no_program() {
    let (text, damage) =
        program(&["import cupy", "%%bash\nls 'a\n", "%%html\n<b>", "%%javascript\nf(){", "%%sh\n(", "x = 1"]);
    assert_eq!((text.split_whitespace().collect::<Vec<_>>(), damage), (vec!["import", "cupy", "x", "=", "1"], 0));
    // Neither is one that would swallow the others.
    let (text, damage) = program(&["import cupy", "f(", "x = '''", "x = 1"]);
    assert_eq!((text.split_whitespace().collect::<Vec<_>>(), damage), (vec!["import", "cupy", "x", "=", "1"], 0));
}

#[test]
fn files_that_cells_write_stand_for_themselves() {
    let cells = [
        "import cupy\n",
        "%%writefile -a a.cu\n__global__ void k() {}\n",
        "%%cu\n__global__ void l() {}\n",
        "%%writefile b.py\nimport numba\n",
        "%%writefile c.txt\n'\n",
        "%%script python\nimport d\n",
        "// Shown, not run.\n__global__ void m() {}\n",
        "#include <vector>\nint f();\n",
        "# What a block does.\n\n%%cu\n__global__ void n() {}\n",
        "# As it would look:\n__global__ void o() { ... }\n",
    ];
    let file = notebook(&cells);
    let text = file.source.text();
    let found: Vec<_> = file
        .stretches()
        .iter()
        .map(|s| (s.region.language, s.apart, text[s.region.span.range()].trim().to_owned()))
        .collect();
    assert_eq!(found[0], (Language::Python, false, text.trim().to_owned()));
    assert_eq!(
        found[1..],
        [
            (Language::Cuda, true, "__global__ void k() {}".to_owned()),
            (Language::Cuda, true, "__global__ void l() {}".to_owned()),
            (Language::Python, true, "import numba".to_owned()),
            (Language::Python, true, "import d".to_owned()),
            (Language::Cuda, true, "// Shown, not run.\n__global__ void m() {}".to_owned()),
            (Language::Cuda, true, "__global__ void n() {}".to_owned()),
            (Language::Cuda, true, "__global__ void o() { ... }".to_owned()),
        ]
    );
    assert!(file.has_cuda_cells());
    assert_eq!(program(&cells).0.trim(), "import cupy");
}

#[test]
fn strings_in_cells_hold_programs() {
    let file = notebook(&["import cupy\n", "%time k = cupy.RawKernel('__global__ void k() { }', 'k')\n"]);
    let stretches = file.stretches();
    assert_eq!(stretches.len(), 2);
    let program = &stretches[1];
    assert!(program.inside);
    assert_eq!(program.text[program.region.span.range()].trim(), "__global__ void k() { }");
    assert_eq!(file.source.text().find("__global__"), program.text.find("__global__"));
}

#[test]
fn older_notebooks_and_other_languages() {
    let json = r#"{"worksheets": [{"cells": [{"cell_type": "code", "input": ["import cupy\n"], "language": "python"},
        {"cell_type": "markdown", "source": "x"}, {"cell_type": "code", "input": "x = 1"}]}], "nbformat": 3}"#;
    let file = FileText::from_bytes(FileKind::Notebook, json.into()).unwrap();
    assert_eq!(file.source.text(), "import cupy\n\nx = 1\n");
    assert_eq!(file.cells[1].index, 2);
    let json = r#"{"cells": [{"cell_type": "code", "source": "using CUDA"}], "metadata": {"kernelspec": {"language": "julia"}}}"#;
    let file = FileText::from_bytes(FileKind::Notebook, json.into()).unwrap();
    assert!(file.stretches().is_empty());
}

#[test]
fn what_is_no_notebook_is_told() {
    let why = |json: &str| FileText::from_bytes(FileKind::Notebook, json.into()).unwrap_err().to_string();
    assert_eq!(why("{\"cells\": ["), "no notebook: EOF while parsing a list at line 1 column 11");
    assert_eq!(why("{}"), "no notebook: it has neither `cells` nor `worksheets`");
    assert!(why("import cupy").starts_with("no notebook: expected value"));
}
