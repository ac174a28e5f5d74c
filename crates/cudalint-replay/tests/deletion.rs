//! Damage may hide a fact, never make one: programs without a defect stay without one when any line or token that
//! says nothing of a size is taken out.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;
use common::events;
use cudalint_replay::facts::{Event, EventKind, MemorySpace, Pointer};
use cudalint_replay::quantity::{Comparison, Quantity};

/// Lines that define sizes or make allocations end in `// size`.
const PROGRAMS: [&str; 3] = [
    r#"
#define CHECK(call) { cudaError_t e = (call); if (e != cudaSuccess) { printf("failed\n"); exit(1); } }
__global__ void scale(float* p, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) p[i] *= 2; }
int parse(int argc, char** argv, const char* name);
int main(int argc, char** argv) {
    int n = 1000; // size
    if (argc > 1) {
        n = atoi(argv[1]); // size
    }
    if (parse(argc, argv, "big")) {
        n *= 2; // size
    }
    size_t bytes = n * sizeof(float); // size
    float* h = (float*)malloc(bytes); // size
    float* d = nullptr;
    CHECK(cudaMalloc(&d, bytes)); // size
    for (int i = 0; i < n; ++i) {
        h[i] = i;
    }
    CHECK(cudaMemcpy(d, h, bytes, cudaMemcpyHostToDevice));
    int threads = 256;
    int blocks = (n + threads - 1) / threads;
    scale<<<blocks, threads>>>(d, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(h, d, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d));
    free(h);
    return 0;
}
"#,
    r"
struct Image { int width; int height; float* pixels; };
void make(Image* image, int width, int height) {
    image->width = width; // size
    image->height = height; // size
    image->pixels = new float[width * height]; // size
}
void resize(Image& image) {
    delete[] image.pixels;
    make(&image, image.width / 2, image.height / 2);
}
int main() {
    Image image;
    make(&image, 64, 32);
    int rounds = 0;
    while (more(rounds)) {
        resize(image);
        rounds++;
    }
    float* d;
    cudaMalloc(&d, 64 * 32 * sizeof(float)); // size
    cudaMemcpy(d, image.pixels, image.width * image.height * sizeof(float), cudaMemcpyHostToDevice);
    std::vector<float> back(64 * 32); // size
    cudaMemcpy(back.data(), d, back.size() * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemset(d, 0, 64);
    cudaFree(d);
}
",
    r"
class Pool {
public:
    Pool(size_t n) : bytes_(n * 4) { // size
        cudaMalloc(&data_, bytes_); // size
        host_ = static_cast<char*>(malloc(bytes_)); // size
    }
    ~Pool() {
        cudaFree(data_);
        free(host_);
    }
    void upload() {
        cudaMemcpy(data_, host_, bytes_, cudaMemcpyHostToDevice);
    }
    void grow() {
        bytes_ *= 2; // size
        cudaFree(data_);
        cudaMalloc(&data_, bytes_); // size
        host_ = static_cast<char*>(realloc(host_, bytes_)); // size
    }
private:
    char* data_ = nullptr;
    char* host_ = nullptr;
    size_t bytes_; // size
};
int run(int steps) {
    Pool pool(100);
    pool.upload();
    for (int i = 0; i < steps; ++i) {
        pool.grow();
        pool.upload();
    }
    if (steps > 3) goto end;
    pool.upload();
end:
    return 0;
}
",
];

/// What is surely wrong among the events.
fn defects(events: &[Event]) -> Vec<String> {
    let over = |pointer: &Pointer, bytes: &Quantity| match pointer {
        Pointer::Into { buffer, offset } => {
            offset.quantity.plus(bytes).exceeds(&buffer.bytes.quantity) == Comparison::Always
        }
        _ => false,
    };
    let space = |pointer: &Pointer| match pointer {
        Pointer::Into { buffer, .. } => Some(buffer.space),
        _ => None,
    };
    events
        .iter()
        .filter(|event| match &event.kind {
            EventKind::Copy { destination, source, bytes, .. } => {
                over(&destination.pointer, &bytes.quantity) || over(&source.pointer, &bytes.quantity)
            }
            EventKind::Set { destination, bytes, .. } => {
                over(&destination.pointer, &bytes.quantity) || space(&destination.pointer) == Some(MemorySpace::Host)
            }
            EventKind::HostAccess { .. } => true,
            _ => false,
        })
        .map(|event| format!("{event:?}"))
        .collect()
}

#[test]
fn the_programs_are_clean_and_their_sizes_are_known() {
    for program in PROGRAMS {
        let events = events(program);
        assert!(defects(&events).is_empty(), "{:?}", defects(&events));
        assert!(common::allocations(&events).iter().any(|size| size != "unknown"), "{program}");
    }
}

#[test]
fn no_deleted_line_makes_a_defect() {
    for program in PROGRAMS {
        let lines: Vec<&str> = program.lines().collect();
        for skip in (0..lines.len()).filter(|line| !lines[*line].contains("// size")) {
            let text: Vec<&str> =
                lines.iter().enumerate().filter(|(line, _)| *line != skip).map(|(_, text)| *text).collect();
            let found = defects(&events(&text.join("\n")));
            assert!(found.is_empty(), "without `{}`:\n{}", lines[skip], found.join("\n"));
        }
    }
}

#[test]
fn no_deleted_token_makes_a_defect() {
    for program in PROGRAMS {
        let lines: Vec<&str> = program.lines().collect();
        for (at, line) in lines.iter().enumerate().filter(|(_, line)| !line.contains("// size")) {
            // Blank-separated words are tokens enough.
            for word in line.split_whitespace().filter(|word| word.contains(['(', ')', '{', '}', ';', '&', '*'])) {
                let damaged = line.replacen(word, " ", 1);
                let text: Vec<&str> =
                    lines.iter().enumerate().map(|(other, text)| if other == at { &*damaged } else { *text }).collect();
                let found = defects(&events(&text.join("\n")));
                assert!(found.is_empty(), "`{word}` out of `{line}`:\n{}", found.join("\n"));
            }
        }
    }
}
