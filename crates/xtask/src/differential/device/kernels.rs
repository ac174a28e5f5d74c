//! Writes programs of random kernels, for the host's compiler and for the linter.

use super::log::Log;
use crate::differential::host::language::Cpp;
use crate::differential::writing::{Entry, Writer};
use crate::random::Random;
use std::collections::HashMap;
use std::fmt::Write as _;

/// Kernels of one program.
const KERNELS: usize = 10;

/// Arrays that each kernel writes: the number itself, all its bits in another order, and, where it is even, its half.
pub const ARRAYS: [&str; 3] = ["out", "hashed", "chosen"];

/// A structure that every launch passes by value, with values from 0 to 1000.
const SHAPE: &str = "\
struct Shape {
    int rows;
    short each[3];
    unsigned char small;
    long long wide;
    __device__ int half() const { return rows / 2; }
};";

/// A kernel with its launch.
pub struct Kernel {
    /// `k3`.
    pub name: String,
    /// Names of the features in it.
    pub features: Vec<&'static str>,
    body: Vec<String>,
    value: String,
    /// Whether it is a template with the parameter `K`.
    template: Option<u64>,
    grid: u64,
    block: u64,
    /// Values of `n` and of the structure's members.
    n: u64,
    shape: [u64; 6],
}

/// Kernels with what stands before them.
pub struct Program {
    globals: Vec<String>,
    /// The kernels.
    pub kernels: Vec<Kernel>,
}

/// Elements of each array, by kernel and array.
pub struct Extents {
    sizes: HashMap<(String, &'static str), i64>,
    /// Whether every access lies inside.
    pub exact: bool,
}

impl Extents {
    /// Just enough elements.
    pub fn exact(log: &Log) -> Self {
        Self { sizes: log.highest(ARRAYS).map(|(key, highest)| (key, highest + 1)).collect(), exact: true }
    }

    /// Fewer than some thread asks for, where one asks for more than the first.
    pub fn short(log: &Log, random: &mut Random) -> Self {
        let mut highest: Vec<_> = log.highest(ARRAYS).collect();
        highest.sort();
        let sizes = highest.into_iter().map(|(key, highest)| (key, 1 + random.below(highest.max(1) as u64) as i64));
        Self { sizes: sizes.collect(), exact: false }
    }

    /// Elements of a kernel's array; one where no thread asks for any.
    pub fn of(&self, kernel: &str, array: &'static str) -> i64 {
        self.sizes.get(&(kernel.to_owned(), array)).copied().unwrap_or(1)
    }
}

/// The program of this number: the first ones hold one feature a kernel, all features in order.
pub fn program(random: &mut Random, features: &[Entry], number: usize) -> Program {
    let mut kernels = Vec::new();
    let mut writer = Writer::new(random, &Cpp, features, "");
    for at in 0..KERNELS {
        let alone = features.get(number * KERNELS + at);
        let template = writer.random().chance(30).then(|| 1 + writer.random().below(16));
        let mut given = vec!["t", "t", "i", "i", "n", "s.rows", "s.each[1]", "s.small", "(int)s.wide", "s.half()"];
        given.extend(template.map(|_| "K"));
        let (body, value, used) = writer.part(&given, alone);
        let random = writer.random();
        kernels.push(Kernel {
            name: format!("k{at}"),
            features: used,
            body,
            value,
            template,
            grid: 1 + random.below(2),
            block: *random.pick(&[&32, &40, &64]),
            n: random.below(1001),
            shape: std::array::from_fn(|_| random.below(1001)),
        });
    }
    Program { globals: writer.globals, kernels }
}

impl Kernel {
    /// The kernel, with its arrays as parameters of this type.
    fn text(&self, array: &str) -> String {
        let mut text = String::new();
        let _ = writeln!(text, "// {}", self.features.join(", "));
        if self.template.is_some() {
            text.push_str("template <int K>\n");
        }
        let arrays = ARRAYS.map(|name| format!("{array}{name}")).join(", ");
        let _ = writeln!(text, "__global__ void {}({arrays}, int n, Shape s) {{", self.name);
        let _ = writeln!(text, "    int t = threadIdx.x;");
        let _ = writeln!(text, "    int i = blockIdx.x * blockDim.x + threadIdx.x;");
        for line in &self.body {
            let _ = writeln!(text, "    {line}");
        }
        let _ = writeln!(text, "    int v = (int)({});", self.value);
        let _ = writeln!(text, "    out[v] = t;");
        let _ = writeln!(text, "    hashed[(v * 7919u + 13u) % 1009u] = t;");
        let _ = writeln!(text, "    if (v % 2 == 0) chosen[v / 2] = t;");
        text.push_str("}\n");
        text
    }

    /// The kernel's name with its template's argument.
    fn called(&self) -> String {
        self.template.map_or_else(|| self.name.clone(), |number| format!("{}<{number}>", self.name))
    }

    fn shape(&self) -> String {
        let [rows, first, second, third, small, wide] = self.shape;
        let small = small % 256;
        format!("Shape s = {{{rows}, {{{first}, {second}, {third}}}, {small}, {wide}}};")
    }
}

impl Program {
    /// What the host's compiler builds: each thread's elements are written down.
    pub fn for_host(&self) -> String {
        let mut text = format!("#include \"device.h\"\n{SHAPE}\n{}\n", self.globals.join("\n"));
        for kernel in &self.kernels {
            text.push_str(&kernel.text("Elements "));
        }
        text.push_str("int main() {\n");
        for kernel in &self.kernels {
            let arrays = ARRAYS.map(|name| format!("{{\"{}\", \"{name}\"}}", kernel.name)).join(", ");
            let Kernel { grid, block, n, .. } = kernel;
            let _ = writeln!(text, "    {{ {}", kernel.shape());
            let _ = writeln!(
                text,
                "    each_thread({grid}, {block}, [&] {{ {}({arrays}, {n}, s); }}); }}",
                kernel.called()
            );
        }
        text.push_str("}\n");
        text
    }

    /// What the linter reads: the same kernels, launched on arrays of these sizes.
    pub fn for_device(&self, extents: &Extents) -> String {
        let mut text = format!("#include <cuda_runtime.h>\n{SHAPE}\n{}\n", self.globals.join("\n"));
        for kernel in &self.kernels {
            text.push_str(&kernel.text("int *"));
            let _ = writeln!(text, "void run_{}() {{", kernel.name);
            for array in ARRAYS {
                let elements = extents.of(&kernel.name, array);
                let _ = writeln!(text, "    int *{array};\n    cudaMalloc(&{array}, {elements} * sizeof(int));");
            }
            let Kernel { grid, block, n, .. } = kernel;
            let _ = writeln!(text, "    {}", kernel.shape());
            let arrays = ARRAYS.join(", ");
            let _ = writeln!(text, "    {}<<<{grid}, {block}>>>({arrays}, {n}, s);", kernel.called());
            let _ = writeln!(text, "    cudaDeviceSynchronize();");
            for array in ARRAYS {
                let _ = writeln!(text, "    cudaFree({array});");
            }
            text.push_str("}\n");
        }
        text.push_str("int main() {\n");
        for kernel in &self.kernels {
            let _ = writeln!(text, "    run_{}();", kernel.name);
        }
        text.push_str("}\n");
        text
    }
}
