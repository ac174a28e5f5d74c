//! Sizes that a program reads from outside: whoever runs it chooses them.

mod common;

use common::of;

const HEAD: &str = "#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda/cmath>
#include <opencv2/opencv.hpp>
#include \"stb_image.h\"
__global__ void scale(float *a) { int i = blockIdx.x * blockDim.x + threadIdx.x; a[i] = 2.0f * a[i]; }
";

/// A program whose size `n` comes of the statements.
fn program(before: &str, bytes: &str, grid: &str) -> String {
    format!(
        "{HEAD}{before}
    float *d;
    if (cudaMalloc(&d, {bytes}) != cudaSuccess) return;
    if (cudaMemset(d, 0, {bytes}) != cudaSuccess) return;
    scale<<<{grid}, 256>>>(d);
}}
"
    )
}

fn told(before: &str) -> Vec<String> {
    let text = program(before, "n * sizeof(float)", "(n + 255) / 256");
    of("missing-bounds-guard", &text)
        .iter()
        .flat_map(|finding| finding.witness.iter().flat_map(|witness| witness.assumptions.clone()).collect::<Vec<_>>())
        .collect()
}

#[test]
fn sizes_from_files_streams_and_images_are_inputs() {
    for (before, assumption) in [
        ("void run(FILE *f) { int n; fread(&n, sizeof(int), 1, f);", "`n` is 65"),
        ("void run(FILE *f) { int sizes[2]; fread(sizes, sizeof(int), 2, f); int n = sizes[1];", "`sizes[1]` is 65"),
        ("void run(FILE *f) { fseek(f, 0, SEEK_END); long n = ftell(f);", "`n` is 65"),
        ("void run() { int n; std::cin >> n;", "`n` is 65"),
        ("void run() { std::ifstream in(\"a\"); int m, n; in >> m >> n;", "`n` is 65"),
        ("void run() { std::ifstream in(\"a\"); int n; in.read((char *)&n, sizeof(n));", "`n` is 65"),
        ("void load(int &n) { std::cin >> n; }\nvoid run() { int n; load(n);", "`n` is 65"),
        // C's own functions take numbers by value.
        ("void run() { int n; std::cin >> n; char text[9]; sprintf(text, \"%d\", n);", "`n` is 65"),
        // What is called behind it does not know where the number is.
        ("void run() { int n; std::cin >> n; std::ifstream in(\"a\"); if (!in.good()) return;", "`n` is 65"),
        ("void run() { std::string line; std::getline(std::cin, line); int n = line.size();", "`line.size()` is 65"),
        ("void run() { int n, h, c; stbi_load(\"a.png\", &n, &h, &c, 0);", "`n` is 65"),
        (
            "void run() { cv::Mat image = cv::imread(\"a.png\"); if (image.empty()) return; int n = image.cols;",
            "`cols` is 65",
        ),
        ("void run(const cv::Mat &image) { int n = image.rows;", "`image.rows` is 65"),
        ("void run(const std::vector<float> &values) { int n = values.size();", "`values.size()` is 65"),
    ] {
        assert_eq!(told(before), [assumption], "{before}");
    }
    let header = "struct Header { int magic, width, height; };
void run(FILE *f) { Header header; fread(&header, sizeof(header), 1, f); int n = header.width * header.height;";
    assert_eq!(told(header), ["`header.width` is 67 and `header.height` is 65"]);
    let rounded = program("void run() { int n; std::cin >> n;", "n * sizeof(float)", "cuda::ceil_div(n, 256)");
    assert_eq!(of("missing-bounds-guard", &rounded).len(), 1);
}

/// Members of what a caller hands over are sizes where the grid is divided from them, and nothing else stands beside.
#[test]
fn members_are_sizes_of_the_work() {
    let class = "struct Image { int w, h, padded, blocks; };\n";
    for (signature, size, grid, told) in [
        ("void run(Image image)", "image.w", "(image.w + 255) / 256", true),
        ("void run(const Image &image)", "image.w * image.h", "(image.w * image.h + 255) / 256", true),
        ("void run(const Image &image)", "image.padded", "(image.w + 255) / 256", false),
        ("void run(const Image &image)", "image.w", "image.blocks", false),
        ("void run(Image *image)", "image->w", "(image->w + 255) / 256", true),
        ("void run(const Image *image)", "image->w * image->h", "(image->w * image->h + 255) / 256", true),
        ("void run(Image *image)", "image->padded", "(image->w + 255) / 256", false),
        (
            "void pad(Image *); void run(Image *image) { int n = image->w; pad(image)",
            "n",
            "(image->w + 255) / 256",
            false,
        ),
        (
            "void run(Image *image) { int n = image->w; image->w = (n + 255) / 256 * 256",
            "image->w",
            "(n + 255) / 256",
            false,
        ),
        (
            "void start() { Image image = read(); run(image); }\nvoid run(Image image)",
            "image.w",
            "(image.w + 255) / 256",
            false,
        ),
    ] {
        let begin = if signature.contains('{') && !signature.contains("start") { ";" } else { " {" };
        let text = program(&format!("{class}{signature}{begin}"), &format!("{size} * sizeof(float)"), grid);
        assert_eq!(of("missing-bounds-guard", &text).len(), usize::from(told), "{signature} {size} {grid}");
    }
}

#[test]
fn what_is_not_known_to_come_from_outside_is_not_chosen() {
    for before in [
        // A method out of sight may have changed the image, and so may a function.
        "void run() { cv::Mat image = cv::imread(\"a.png\"); image.pad(256); int n = image.cols;",
        "void run() { cv::Mat image = cv::imread(\"a.png\"); cv::resize(image, image, cv::Size(256, 1)); int n = image.cols;",
        // A function of the program's own that has the name of one of C's library.
        "void read(std::string &text); void run() { std::string text; read(text); int n = text.size();",
        // Shifted, and not taken out of a stream.
        "void run(Number a) { int n = 8; a >> n;",
        "void run() { int n; std::cin >> n; if (n % 256 != 0) return;",
        "void run() { int n; std::cin >> n; n = (n + 255) / 256 * 256;",
        // Data are no sizes.
        "void run(FILE *f, int i) { int *sizes = new int[100]; fread(sizes, sizeof(int), 100, f); int n = sizes[i];",
        // Somebody in sight says how many there are.
        "static void run(const std::vector<float> &values);
void start() { std::vector<float> values(1024); run(values); }
static void run(const std::vector<float> &values) { int n = values.size();",
    ] {
        assert_eq!(told(before), [""; 0], "{before}");
    }
}

/// Two containers, or two images, that one launch works on have one size; a number beside a container has to do with its size.
#[test]
fn sizes_that_are_meant_to_be_one_are_not_chosen_apart() {
    for before in [
        "void run(const std::vector<float> &a, const std::vector<float> &b) { int n = a.size(), m = b.size();",
        "void run(const cv::Mat &a, const cv::Mat &b) { int n = a.cols, m = b.cols;",
        "void run(const std::vector<float> &a, int m) { int n = a.size();",
    ] {
        let guarded = format!(
            "__global__ void pass(float *a, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] = 2.0f * a[i];
}}
{before}
    float *d;
    if (cudaMalloc(&d, n * sizeof(float)) != cudaSuccess) return;
    if (cudaMemset(d, 0, n * sizeof(float)) != cudaSuccess) return;
    pass<<<(m + 255) / 256, 256>>>(d, m);
}}
"
        );
        for rule in ["missing-bounds-guard", "guard-does-not-cover-access", "grid-under-coverage"] {
            assert!(of(rule, &format!("{HEAD}{guarded}")).is_empty(), "{rule}: {before}");
        }
    }
}

/// A string that something has filled has some length or other: a launch for each of its letters is not empty.
#[test]
fn lengths_of_strings_that_are_read() {
    for fill in ["std::getline(std::cin, text)", "std::getline(in, text, ',')", "read(text)", "std::cin >> text"] {
        let text = format!(
            "{HEAD}#include <string>
void read(std::string &text);
void run() {{
    std::ifstream in(\"a\");
    std::string text;
    {fill};
    int n = text.size();
    float *d;
    if (cudaMalloc(&d, n * sizeof(float)) != cudaSuccess) return;
    scale<<<(n + 255) / 256, 256>>>(d);
}}
"
        );
        assert_eq!(of("empty-grid", &text).len(), 0, "{fill}");
    }
}
