//! Random small kernels: indices, guards, barriers, loops, shared and local arrays, planes of threads, numbers with a
//! fraction, warp operations. Most are right, many are not, and nobody has said which: that is what the comparison is about.

mod places;
mod statements;

use crate::random::Random;
use std::fmt::Write as _;

/// A generated kernel with the function that launches it.
pub struct Kernel {
    /// `k17`.
    pub name: String,
    /// Source text of the kernel, one statement a line.
    pub device: String,
    /// Source text of `run_k17`, which launches it.
    pub host: String,
    /// Type of the elements of its first parameter; those of the second and third are `int`, and the last is a number.
    pub element: &'static str,
    /// Bytes of the dynamic shared memory that it needs.
    pub shared_bytes: u64,
}

/// What kernels call: each works on values only, so that every access stands in a kernel's own lines.
pub const HELPERS: &str = "\
__device__ int wrapped(int at, int size) { return at >= size ? at - size : at; }
__device__ void turned(int& one, int& other) { int kept = one; one = other; other = kept; }
template <int step> __device__ int stepped(int at) { return at + step; }
";

/// How the threads of a block and their shared array are laid out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// A row of threads, and `s` of this many elements, for which the launch has to make room where it is dynamic.
    Row { threads: u64, elements: u64, dynamic: bool },
    /// A plane of threads, at least as wide as high, and `m` of rows of this length, one a row of threads.
    Plane { width: u64, height: u64, pitch: u64 },
}

impl Layout {
    /// Threads of a block.
    const fn threads(self) -> u64 {
        match self {
            Self::Row { threads, .. } => threads,
            Self::Plane { width, height, .. } => width * height,
        }
    }

    /// Elements of the shared array.
    const fn elements(self) -> u64 {
        match self {
            Self::Row { elements, .. } => elements,
            Self::Plane { height, pitch, .. } => height * pitch,
        }
    }
}

/// What a kernel may use beside the plain.
#[derive(Clone, Copy)]
struct Features {
    /// An array of each thread's own, of four elements: `l`.
    local: bool,
    /// A number with a fraction: `y`.
    fraction: bool,
    /// Shuffles, votes and ballots; only blocks of whole warps have them.
    warps: bool,
}

/// What a kernel is made of.
struct Writer<'r> {
    random: &'r mut Random,
    text: String,
    depth: usize,
    layout: Layout,
    features: Features,
    grid: u64,
    /// Whether it may have `switch`, `while`, `continue`, unsigned arithmetic and functions.
    wide: bool,
    /// Whether the elements of `a` are `int`, so that pairs of them can be read at once.
    paired: bool,
    /// Names of loop variables in scope, with what they stay below.
    loops: Vec<(String, u64)>,
    /// Whether the place is reached by all threads of a block alike.
    uniform: bool,
    statements: u32,
    next: u32,
}

fn layout(random: &mut Random) -> Layout {
    if random.chance(25) {
        let (width, height) = [(8, 8), (16, 4), (16, 8), (32, 2), (32, 4), (16, 16)][random.below(6) as usize];
        return Layout::Plane { width, height, pitch: width + random.below(2) };
    }
    let threads: u64 = *random.pick(&[&32, &48, &64, &64, &96, &128]);
    let elements = match random.below(12) {
        0 => threads - 1,
        1 | 2 => threads + 1,
        3..=6 => 2 * threads,
        _ => threads,
    };
    Layout::Row { threads, elements, dynamic: random.chance(15) }
}

/// Writes the kernel of this number.
pub fn kernel(random: &mut Random, number: usize) -> Kernel {
    let layout = layout(random);
    let block = layout.threads();
    let grid: u64 = *random.pick(&[&1, &1, &2, &3]);
    let threads = block * grid;
    let n = match random.below(8) {
        0 => threads,
        1 => threads - 1 - random.below(block - 1),
        2 => threads + random.below(20),
        3 => threads - random.below(block / 2),
        _ => threads,
    };
    let extent = |random: &mut Random| match random.below(12) {
        0 => n.max(2) - 1,
        1 => n + 1,
        2 | 3 => n,
        4 | 5 => threads.max(n),
        _ => 2 * threads + 2,
    };
    let (first, second) = (extent(random), extent(random));
    let features = Features {
        local: random.chance(20),
        fraction: random.chance(15),
        warps: block.is_multiple_of(32) && random.chance(25),
    };
    let wide = random.chance(40);
    let element: &'static str =
        if random.chance(80) { "int" } else { ["short", "unsigned char", "long long"][random.index(3)] };
    let name = format!("k{number}");
    let mut writer = Writer {
        random,
        text: format!("__global__ void {name}({element}* a, int* b, int* out, int n) {{\n"),
        depth: 1,
        layout,
        features,
        grid,
        wide,
        paired: element == "int",
        loops: Vec::new(),
        uniform: true,
        statements: 0,
        next: 0,
    };
    writer.opening();
    let count = 2 + writer.random.below(5);
    for _ in 0..count {
        writer.statement();
    }
    if features.fraction {
        writer.line("x += (int)y;");
    }
    writer.line("out[i] = x;");
    writer.text.push_str("}\n");
    let device = writer.text;
    let mut text = String::new();
    let _ = writeln!(text, "void run_{name}() {{");
    let _ = writeln!(text, "    {element}* a;");
    let _ = writeln!(text, "    int *b, *out;");
    for (pointer, elements, ty) in [("a", first, element), ("b", second, "int"), ("out", threads, "int")] {
        let _ = writeln!(text, "    cudaMalloc(&{pointer}, {elements} * sizeof({ty}));");
        let _ = writeln!(text, "    cudaMemset({pointer}, 0, {elements} * sizeof({ty}));");
    }
    let shape = match layout {
        Layout::Row { threads, .. } => threads.to_string(),
        Layout::Plane { width, height, .. } => format!("dim3({width}, {height})"),
    };
    let (bytes, shared_bytes) = match layout {
        Layout::Row { elements, dynamic: true, .. } => (format!(", {elements} * sizeof(int)"), 4 * elements),
        _ => (String::new(), 0),
    };
    let _ = writeln!(text, "    {name}<<<{grid}, {shape}{bytes}>>>(a, b, out, {n});");
    let _ = writeln!(text, "    cudaDeviceSynchronize();");
    for pointer in ["a", "b", "out"] {
        let _ = writeln!(text, "    cudaFree({pointer});");
    }
    text.push_str("}\n");
    Kernel { name, device, host: text, element, shared_bytes }
}

impl Writer<'_> {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "{}{text}", "    ".repeat(self.depth));
    }

    fn fresh(&mut self, prefix: &str) -> String {
        self.next += 1;
        format!("{prefix}{}", self.next)
    }

    /// The declarations that the statements speak of, and often a first write of the shared array.
    fn opening(&mut self) {
        let (block, elements) = (self.layout.threads(), self.layout.elements());
        match self.layout {
            Layout::Row { dynamic: true, .. } => self.line("extern __shared__ int s[];"),
            Layout::Row { .. } => self.line(&format!("__shared__ int s[{elements}];")),
            Layout::Plane { height, pitch, .. } => self.line(&format!("__shared__ int m[{height}][{pitch}];")),
        }
        if let Layout::Plane { .. } = self.layout {
            self.line("int tx = threadIdx.x, ty = threadIdx.y;");
            self.line("int t = ty * blockDim.x + tx;");
            self.line("int i = blockIdx.x * blockDim.x * blockDim.y + t;");
        } else {
            self.line("int t = threadIdx.x;");
            self.line("int i = blockIdx.x * blockDim.x + threadIdx.x;");
        }
        self.line("int x = 0;");
        if self.features.fraction {
            // Halves and quarters are exact, whatever a compiler does with them.
            let factor = self.random.pick(&["0.5f", "0.25f", "1.5f"]).to_owned();
            self.line(&format!("float y = t * {factor};"));
        }
        if self.features.local {
            self.line("int l[4];");
            self.line(&format!("for (int k = 0; k < 4; ++k) l[k] = (t + k) % {elements};"));
        }
        if self.random.chance(60) {
            match self.layout {
                Layout::Row { .. } => self.line(&format!("s[t % {elements}] = i;")),
                Layout::Plane { .. } => self.line("m[ty][tx] = i;"),
            }
            if elements < block {
                self.line("__syncthreads();");
            }
        }
    }
}
