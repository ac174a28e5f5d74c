//! Random small kernels: indices, guards, barriers, loops, shared arrays. Most are right, many are not, and nobody has
//! said which: that is what the comparison is about.

use std::fmt::Write as _;

/// Numbers that look random and are the same on every machine (`SplitMix64`).
pub struct Random(u64);

impl Random {
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 to `bound - 1`.
    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len() as u64) as usize]
    }
}

/// A generated kernel with the function that launches it.
pub struct Kernel {
    /// `k17`.
    pub name: String,
    /// Source text, one statement a line.
    pub text: String,
}

/// What a kernel is made of.
struct Writer<'r> {
    random: &'r mut Random,
    text: String,
    depth: usize,
    block: u64,
    grid: u64,
    shared: u64,
    /// Names of loop variables in scope, with what they stay below.
    loops: Vec<(String, u64)>,
    /// Whether the place is reached by all threads of a block alike.
    uniform: bool,
    statements: u32,
    next: u32,
}

/// Writes the kernel of this number.
pub fn kernel(random: &mut Random, number: usize) -> Kernel {
    let block: u64 = *random.pick(&[&32, &48, &64, &64, &96, &128]);
    let grid: u64 = *random.pick(&[&1, &1, &2, &3]);
    let shared: u64 = match random.below(12) {
        0 => block - 1,
        1 | 2 => block + 1,
        3..=6 => 2 * block,
        _ => block,
    };
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
    let mut writer = Writer {
        random,
        text: String::new(),
        depth: 1,
        block,
        grid,
        shared,
        loops: Vec::new(),
        uniform: true,
        statements: 0,
        next: 0,
    };
    let name = format!("k{number}");
    let _ = writeln!(writer.text, "__global__ void {name}(int* a, int* b, int* out, int n) {{");
    writer.line(&format!("__shared__ int s[{shared}];"));
    writer.line("int t = threadIdx.x;");
    writer.line("int i = blockIdx.x * blockDim.x + threadIdx.x;");
    writer.line("int x = 0;");
    if writer.random.chance(60) {
        writer.line(&format!("s[t % {shared}] = i;"));
        if shared < block {
            writer.line("__syncthreads();");
        }
    }
    let count = 2 + writer.random.below(5);
    for _ in 0..count {
        writer.statement();
    }
    writer.line("out[i] = x;");
    writer.text.push_str("}\n");
    let mut text = writer.text;
    let _ = writeln!(text, "void run_{name}() {{");
    let _ = writeln!(text, "    int *a, *b, *out;");
    for (pointer, elements) in [("a", first), ("b", second), ("out", threads)] {
        let _ = writeln!(text, "    cudaMalloc(&{pointer}, {elements} * sizeof(int));");
        let _ = writeln!(text, "    cudaMemset({pointer}, 0, {elements} * sizeof(int));");
    }
    let _ = writeln!(text, "    {name}<<<{grid}, {block}>>>(a, b, out, {n});");
    let _ = writeln!(text, "    cudaDeviceSynchronize();");
    for pointer in ["a", "b", "out"] {
        let _ = writeln!(text, "    cudaFree({pointer});");
    }
    text.push_str("}\n");
    Kernel { name, text }
}

impl Writer<'_> {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "{}{text}", "    ".repeat(self.depth));
    }

    fn fresh(&mut self, prefix: &str) -> String {
        self.next += 1;
        format!("{prefix}{}", self.next)
    }

    fn statement(&mut self) {
        self.statements += 1;
        if self.statements > 14 || self.depth > 4 {
            self.simple();
            return;
        }
        match self.random.below(20) {
            0..=8 => self.simple(),
            9 | 10 => self.barrier(),
            11..=13 => self.guarded(),
            14 => self.leave(),
            15 | 16 => self.counted(),
            17 => self.strided(),
            18 => self.tree(),
            _ => self.exchange(),
        }
    }

    fn simple(&mut self) {
        let (shared, global) = (self.shared_index(), self.global_index());
        let text = match self.random.below(9) {
            0 => format!("x += a[{global}];"),
            1 => format!("b[{global}] = x + t;"),
            2 => format!("s[{shared}] = x + i;"),
            3 => format!("x += s[{shared}];"),
            4 => format!("s[{shared}] += 1;"),
            5 => format!("atomicAdd(&s[{shared}], 1);"),
            6 => format!("a[{global}] = a[{global}] + 1;"),
            7 => format!("x = s[{shared}] + a[{global}];"),
            _ => format!("s[{shared}] = a[{global}];"),
        };
        self.line(&text);
    }

    fn barrier(&mut self) {
        // A barrier that part of a block misses may hang: few of those.
        if self.uniform || self.random.chance(1) {
            self.line("__syncthreads();");
        } else if self.random.chance(30) {
            self.line("__syncwarp();");
        } else {
            self.simple();
        }
    }

    fn block(&mut self, uniform: bool) {
        let before = self.uniform;
        self.uniform &= uniform;
        self.depth += 1;
        for _ in 0..=self.random.below(3) {
            self.statement();
        }
        self.depth -= 1;
        self.uniform = before;
    }

    fn guarded(&mut self) {
        let (condition, uniform) = self.condition();
        self.line(&format!("if ({condition}) {{"));
        self.block(uniform);
        if self.random.chance(25) {
            self.line("} else {");
            self.block(uniform);
        }
        self.line("}");
    }

    fn leave(&mut self) {
        let condition = self.random.pick(&["i >= n", "i > n", "t >= 40", "blockIdx.x > 1"]).to_owned();
        self.line(&format!("if ({condition}) return;"));
    }

    fn counted(&mut self) {
        let (name, count) = (self.fresh("k"), 2 + self.random.below(4));
        self.line(&format!("for (int {name} = 0; {name} < {count}; ++{name}) {{"));
        self.loops.push((name, count));
        self.block(true);
        self.loops.pop();
        self.line("}");
    }

    fn strided(&mut self) {
        let name = self.fresh("k");
        let (bound, uniform) = match self.random.below(3) {
            0 => (self.shared.to_string(), self.shared.is_multiple_of(self.block)),
            1 => ("n".to_owned(), false),
            _ => ((2 * self.block).to_string(), true),
        };
        let start = if bound == "n" && self.random.chance(60) { "i" } else { "t" };
        let stride = if start == "i" { "gridDim.x * blockDim.x" } else { "blockDim.x" };
        self.line(&format!("for (int {name} = {start}; {name} < {bound}; {name} += {stride}) {{"));
        let top = if bound == "n" { self.grid * self.block } else { 2 * self.block };
        self.loops.push((name, top));
        self.block(uniform);
        self.loops.pop();
        self.line("}");
    }

    /// A reduction or a scan step, with or without what it needs.
    fn tree(&mut self) {
        if !self.uniform {
            return self.simple();
        }
        let name = self.fresh("o");
        let half = self.block.next_power_of_two() / 2;
        self.line(&format!("for (int {name} = {half}; {name} > 0; {name} >>= 1) {{"));
        self.depth += 1;
        if self.random.chance(70) {
            self.line("__syncthreads();");
        }
        let guard = match self.random.below(3) {
            0 => format!("t < {name}"),
            1 => format!("t < {name} && t + {name} < {}", self.block),
            _ => format!("t <= {name}"),
        };
        self.line(&format!("if ({guard}) s[t] += s[t + {name}];"));
        self.depth -= 1;
        self.line("}");
        if self.random.chance(70) {
            self.line("__syncthreads();");
        }
    }

    /// Write, barrier or not, read elsewhere, barrier or not.
    fn exchange(&mut self) {
        let (to, from) = (self.shared_index(), self.shared_index());
        self.line(&format!("s[{to}] = x + i;"));
        if self.uniform && self.random.chance(75) {
            self.line("__syncthreads();");
        }
        self.line(&format!("x += s[{from}];"));
        if self.uniform && self.random.chance(60) {
            self.line("__syncthreads();");
        }
    }

    /// A condition, and whether all threads of a block agree on it.
    fn condition(&mut self) -> (String, bool) {
        let constant = 1 + self.random.below(self.block);
        match self.random.below(11) {
            0..=2 => ("i < n".to_owned(), false),
            3 => ("i <= n".to_owned(), false),
            4 => (format!("t < {constant}"), false),
            5 => ("t % 2 == 0".to_owned(), false),
            6 => ("blockIdx.x == 0".to_owned(), true),
            7 => (format!("n > {constant}"), true),
            8 => ("i > 0 && i < n - 1".to_owned(), false),
            9 => ("t == 0".to_owned(), false),
            _ => ("t / 32 == 0".to_owned(), self.block <= 32),
        }
    }

    fn variable(&mut self) -> Option<String> {
        let (name, _) = self.loops.last()?;
        Some(name.clone())
    }

    fn shared_index(&mut self) -> String {
        let constant = self.random.below(self.shared);
        let variable = self.variable();
        match (self.random.below(14), variable) {
            (0 | 1, Some(name)) => name,
            (2, Some(name)) => format!("(t + {name}) % {}", self.shared),
            (0..=6, _) => "t".to_owned(),
            (7, _) if self.random.chance(30) => "t + 1".to_owned(),
            (7, _) => format!("(t + 1) % {}", self.shared),
            (8, _) if self.shared >= self.block => format!("{} - t", self.shared - 1),
            (9, _) => "t ^ 1".to_owned(),
            (10, _) => constant.to_string(),
            (11, _) => format!("(t + {constant}) % {}", self.shared),
            (12, _) => "t / 32".to_owned(),
            _ => format!("(t * 2) % {}", self.shared),
        }
    }

    fn global_index(&mut self) -> String {
        let variable = self.variable();
        match (self.random.below(12), variable) {
            (0..=2, Some(name)) => name,
            (3, Some(name)) => format!("{name} * blockDim.x + t"),
            (0..=6, _) => "i".to_owned(),
            (7, _) if self.random.chance(40) => "i + 1".to_owned(),
            (8, _) if self.random.chance(40) => "n - 1 - i".to_owned(),
            (9, _) => "i % n".to_owned(),
            (10, _) => "blockIdx.x".to_owned(),
            _ => "min(i, n - 1)".to_owned(),
        }
    }
}
