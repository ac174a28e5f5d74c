//! Launches that an assumption describes.

use super::look::{Guessed, Told};
use crate::differential::generate::Kernel;
use std::fmt::Write as _;

/// Elements of each array that a kernel is given, and where the kernel's pointers lead in it: no index leaves it on either side.
const ELEMENTS: u64 = 1 << 21;
const MIDDLE: u64 = 1 << 20;

/// One launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub n: i64,
}

/// Launches that a finding describes, the one that it names first.
pub fn assumed(run: &Guessed, told: &Told) -> Vec<Launch> {
    let threads = run.block.iter().map(|threads| i64::from(*threads)).product::<i64>();
    let least = told.least.unwrap_or(i64::MIN);
    let named = told.least.unwrap_or(2048);
    let others = [2048, threads, threads + 1, threads - 1, 2 * threads, 3 * threads, 1, 2, 40, 33, 0];
    let one = [1, 1, 1];
    let grids = if run.grid == one { vec![one, [3, 1, 1], [2, 1, 1]] } else { vec![run.grid] };
    let numbers = std::iter::once(named).chain(others.into_iter().filter(|n| *n >= least && *n != named));
    numbers.flat_map(|n| grids.iter().map(move |grid| Launch { grid: *grid, block: run.block, n })).collect()
}

/// A program that launches a kernel.
pub fn launched(kernel: &Kernel, launch: &Launch) -> String {
    format!("int main() {{\n{}    return 0;\n}}\n", body(kernel, launch))
}

/// Statements that launch a kernel.
pub fn body(kernel: &Kernel, launch: &Launch) -> String {
    let Kernel { name, element, .. } = kernel;
    let mut text = String::from("    {\n");
    let _ = writeln!(text, "        {element}* a;");
    let _ = writeln!(text, "        int *b, *out;");
    for (pointer, ty) in [("a", *element), ("b", "int"), ("out", "int")] {
        let _ = writeln!(text, "        cudaMalloc(&{pointer}, {ELEMENTS} * sizeof({ty}));");
        let _ = writeln!(text, "        cudaMemset({pointer}, 0, {ELEMENTS} * sizeof({ty}));");
    }
    let axes = |[x, y, z]: [u32; 3]| format!("dim3({x}, {y}, {z})");
    let bytes = if kernel.shared_bytes == 0 { String::new() } else { format!(", {}", dynamic_bytes(kernel, launch)) };
    let _ = writeln!(
        text,
        "        {name}<<<{}, {}{bytes}>>>(a + {MIDDLE}, b + {MIDDLE}, out + {MIDDLE}, {});",
        axes(launch.grid),
        axes(launch.block),
        launch.n
    );
    let _ = writeln!(text, "        cudaDeviceSynchronize();");
    for pointer in ["a", "b", "out"] {
        let _ = writeln!(text, "        cudaFree({pointer});");
    }
    text.push_str("    }\n");
    text
}

/// Bytes of dynamic shared memory: what the kernel's own launch gives it, or more where blocks are larger.
fn dynamic_bytes(kernel: &Kernel, launch: &Launch) -> u64 {
    let threads: u64 = launch.block.iter().map(|threads| u64::from(*threads)).product();
    kernel.shared_bytes.max(16 * threads + 16)
}
