//! `cudalint coverage`: what it says of real files, in each format; `docs/coverage.md` shows what the program says today.

#![allow(clippy::unwrap_used)]

mod common;

use common::Sandbox;
use std::fs;
use std::path::Path;

const SUMS: &str = include_str!("../../../docs/examples/sums.cu");

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/coverage.md");
    fs::read_to_string(path).unwrap()
}

#[test]
fn the_page_shows_what_comes_out() {
    let page = page();
    let shown = page.split("```console\n$ cudalint coverage sums.cu\n").nth(1).unwrap().split("```").next().unwrap();
    let ran = Sandbox::new(&[("sums.cu", SUMS)]).run(&["coverage", "sums.cu"]);
    assert_eq!(ran.stdout, shown, "docs/coverage.md\n{}", ran.stderr);
    assert_eq!(ran.code, 0);
}

#[test]
fn a_kernel_without_launch_and_an_empty_folder() {
    let alone = "__global__ void k(int *p, int n) { int i = threadIdx.x; if (i < n) p[i] = 1; }\n";
    let ran = Sandbox::new(&[("a.cu", alone)]).run(&["coverage"]);
    assert!(ran.stdout.contains("a.cu:1 k: no launch in sight; executed: guessed block"), "{}", ran.stdout);
    assert!(
        ran.stdout.contains(
            "shown: accesses to `p` stay within an array of `n` elements of 4 bytes, for every block of one row"
        ),
        "{}",
        ran.stdout
    );
    let ran = Sandbox::new(&[("a.txt", "")]).run(&["coverage"]);
    assert_eq!((ran.stdout.as_str(), ran.code), ("No kernels.\n", 0));
    assert_eq!(Sandbox::new(&[]).run(&["coverage", "--output-format", "xml"]).code, 2);
}

#[test]
fn the_json_document_says_the_same_as_data() {
    let sandbox = Sandbox::new(&[("sums.cu", SUMS)]);
    let ran = sandbox.run(&["coverage", "--output-format", "json", "--output-file", "out.json"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
    let text = fs::read_to_string(sandbox.path().join("out.json")).unwrap();
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    let kernel = &document["kernels"][0];
    assert_eq!(document["version"], 1);
    assert_eq!((&kernel["name"], &kernel["at"]["line"]), (&"blockSum".into(), &5.into()));
    assert_eq!(kernel["launches"][0]["at"]["line"], 25);
    assert_eq!(kernel["launches"][0]["cause"], "`n` comes from `readConfig`, which is out of sight");
    let absent = kernel["absent"].as_array().unwrap();
    assert!(
        absent.iter().any(|it| it["kind"] == "race" && it["object"] == "part" && it["blocks"]["axes"] == 1),
        "{text}"
    );
    let accesses = &kernel["accesses"];
    let sum: u64 = ["known", "unknown", "not_executed"].iter().map(|name| accesses[name].as_u64().unwrap()).sum();
    assert_eq!(sum, accesses["all"].as_u64().unwrap());
    assert_eq!(
        document["kernels"][1]["absent"].as_array().unwrap().iter().filter(|it| it["kind"] == "race").count(),
        0
    );
}

#[test]
fn the_json_document_has_the_values_of_subscripts() {
    let text = "__global__ void k(const int *in, int *out, int n) {\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    \
                if (i < n) out[i] = in[out[i]];\n}\nvoid f(int *in) {\n    int *out;\n    cudaMalloc(&out, 4000);\n    \
                k<<<4, 256>>>(in, out, 900);\n}\n";
    let ran = Sandbox::new(&[("a.cu", text)]).run(&["coverage", "--output-format", "json"]);
    let document: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let lines = document["kernels"][0]["lines"].as_array().unwrap();
    let with: Vec<&serde_json::Value> = lines.iter().filter(|line| line.get("indices").is_some()).collect();
    assert_eq!(with.len(), 2, "{}", ran.stdout);
    let index = &with[0]["indices"][0];
    assert_eq!((&index["least"], &index["most"], &index["elements"]), (&0.into(), &899.into(), &1000.into()));
    assert_eq!((&index["launch"]["line"], &index["grid"][0], &index["block"][0]), (&8.into(), &4.into(), &256.into()));
}

#[test]
fn the_html_page_holds_names_and_sources_as_text() {
    let text = "template <int N> __global__ void k(float *a) { a[threadIdx.x] = 1; } // <script>alert(1)</script> \u{1b}[2J\n\
                void f(float *a) { k<4><<<1, 32>>>(a); }\n";
    let sandbox = Sandbox::new(&[("<b>.cu", text)]);
    let ran = sandbox.run(&["coverage", "--output-format", "html"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(!ran.stdout.contains("<script") && !ran.stdout.contains('\u{1b}') && !ran.stdout.contains("<b>"));
    assert!(ran.stdout.contains("&lt;script&gt;") && ran.stdout.contains("k&lt;4&gt;"), "{}", ran.stdout);
    assert!(ran.stdout.contains("<span class=\"known\"><i>    1</i>"), "{}", ran.stdout);
    // The table steers no terminal either.
    let table = sandbox.run(&["coverage"]).stdout;
    assert!(!table.contains('\u{1b}') && table.contains("k<4>"), "{table}");
}
