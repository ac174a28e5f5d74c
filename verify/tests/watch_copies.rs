//! Watchpoints: the copy keeps the user's lines, and finds their accesses.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod watch_support;

use camino::Utf8Path;
use cudalint_verify::subject::Subject;
use cudalint_verify::watch::copy::with_watchpoints;
use cudalint_verify::watch::sites::Access;
use watch_support::watched;

fn sites(text: &str) -> Vec<(String, Access)> {
    watched(text).sites.into_iter().map(|site| (site.text, site.access)).collect()
}

/// Whether `copy` is `source` with text put in, line by line.
fn only_put_in(source: &str, copy: &str) -> bool {
    source.lines().count() == copy.lines().count()
        && source.lines().zip(copy.lines()).all(|(source, copy)| {
            let mut rest = copy.chars();
            source.chars().all(|wanted| rest.any(|there| there == wanted))
        })
}

#[test]
fn accesses_are_found_with_their_kinds() {
    use Access::{Atomic, Read, Update, Write};
    let text = "\
struct P { float x, y; };
__device__ int total;
__global__ void k(float *out, const float *in, P *p, int **rows, int n) {
    __shared__ float tile[32][33];
    extern __shared__ float dynamic[];
    int i = threadIdx.x;
    out[i] = in[i + 1];
    out[i] += tile[i][0];
    tile[0][i]++;
    total = n;
    p->x = p[i].y;
    *out = -*in;
    rows[i][0] = 1;
    dynamic[i] = 2;
    atomicAdd(&out[i], 1.0f);
    float *q = &out[i];
    float r = __ldg(in + i);
    float &s = out[2];
    s = sizeof(out[0]);
}
void host(float *out) { out[0] = 1; }
";
    let expected = [
        ("out[i]", Write),
        ("in[i + 1]", Read),
        ("out[i]", Update),
        ("tile[i][0]", Read),
        ("tile[0][i]", Update),
        ("total", Write),
        ("p->x", Write),
        ("p[i].y", Read),
        ("*out", Write),
        ("*in", Read),
        ("rows[i][0]", Write),
        ("dynamic[i]", Write),
        ("&out[i]", Atomic),
        ("in + i", Read),
        ("s", Write),
    ];
    let found = sites(text);
    let found: Vec<(&str, Access)> = found.iter().map(|(text, access)| (text.as_str(), *access)).collect();
    assert_eq!(found, expected);
    let copy = watched(text);
    assert!(only_put_in(text, &copy.text), "{}", copy.text);
    assert_eq!(copy.kernels, ["k"]);
    for part in [
        "P *p, int **rows, int n) { cudalint_kernel(1);",
        "cudalint_touch(0, 2, out[i], out) = cudalint_touch(1, 1, in[i + 1], in);",
        "cudalint_touch(3, 1, tile[i][0], tile, sizeof(tile));",
        "cudalint_touch(10, 2, rows[i][0]) = 1;",
        "cudalint_touch(11, 2, dynamic[i], dynamic, cudalint_dynamic_shared()) = 2;",
        "atomicAdd(cudalint_touch_at(12, 4, &out[i]), 1.0f);",
        "s) = sizeof(out[0]);",
    ] {
        assert!(copy.text.contains(part), "{part}\n{}", copy.text);
    }
}

#[test]
fn an_access_inside_another_is_wrapped_inside() {
    let copy = watched("__global__ void k(int *a, const int *b) { a[b[threadIdx.x]] = b[0] + a[1]; }\n");
    let expected = "cudalint_touch(0, 2, a[cudalint_touch(1, 1, b[threadIdx.x], b)], a) = \
                    cudalint_touch(2, 1, b[0], b) + cudalint_touch(3, 1, a[1], a);";
    assert!(copy.text.contains(expected), "{}", copy.text);
}

#[test]
fn only_flagged_lines_are_touched() {
    let text = "__global__ void k(int *a) {\n    a[0] = 1;\n    a[1] = 2;\n}\n";
    let folder = tempfile::tempdir().unwrap();
    let root = Utf8Path::from_path(folder.path()).unwrap();
    std::fs::write(root.join("x.cu"), text).unwrap();
    let subject = Subject::read(root, "x.cu", &[]).unwrap();
    let stretch = &subject.stretches[0];
    let line_of = |line: u32| (line == 3).then_some(30);
    let copy = with_watchpoints(&subject.text, subject.module(stretch).unwrap(), stretch.parsed.root(), line_of);
    assert_eq!(copy.sites.len(), 1);
    assert_eq!((copy.sites[0].text.as_str(), copy.sites[0].line), ("a[1]", 30));
    assert!(copy.text.contains("\n    a[0] = 1;\n"));
}

#[test]
fn what_a_macro_writes_is_left_alone() {
    let text = "#define AT(i) data[i]\n#define TWICE(x) ((x) + (x))\n\
                __global__ void k(int *data) {\n    AT(0) = TWICE(data[1]);\n}\n";
    let copy = watched(text);
    assert!(only_put_in(text, &copy.text), "{}", copy.text);
    assert!(copy.text.contains("    AT(0) = "), "{}", copy.text);
    assert!(copy.sites.iter().all(|site| site.text == "data[1]"), "{:?}", copy.sites);
}

#[test]
fn every_cuda_file_of_the_tests_stays_itself() {
    let tests = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut open = vec![tests];
    let mut seen = 0;
    while let Some(folder) = open.pop() {
        for entry in folder.read_dir_utf8().unwrap().flatten() {
            let path = entry.path().to_owned();
            if path.is_dir() {
                open.push(path);
            } else if path.extension() == Some("cu") {
                let text = std::fs::read_to_string(&path).unwrap();
                let copy = watched(&text);
                assert!(only_put_in(&text, &copy.text), "{path}");
                let again = watched(&copy.text);
                assert!(again.sites.len() >= copy.sites.len(), "{path}: the copy is read as the source is");
                seen += 1;
            }
        }
    }
    assert!(seen >= 12);
}
