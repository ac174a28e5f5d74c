//! Random kernels written in both languages at once: indices, guards, barriers, loops, shared arrays, right and wrong.

use crate::numbers::Random;

/// The two texts of a kernel.
pub struct Twins {
    pub cuda: String,
    pub numba: String,
}

struct Writer<'r> {
    random: &'r mut Random,
    cuda: String,
    numba: String,
    depth: usize,
    shared: u64,
    uniform: bool,
    loops: Vec<String>,
    next: u32,
    left: u32,
}

/// A kernel over `a`, `b` (arrays of 64-bit integers, with which Numba computes), `out` and `n`, for blocks of 64 threads.
pub fn twins(random: &mut Random) -> Twins {
    let shared = [63, 64, 64, 64, 65, 128][random.below(6) as usize];
    let mut writer = Writer {
        random,
        cuda: String::from("__global__ void k(long long* a, long long* b, long long* out, long long n) {\n"),
        numba: String::from("from numba import cuda, int64\n@cuda.jit\ndef k(a, b, out, n):\n"),
        depth: 1,
        shared,
        uniform: true,
        loops: Vec::new(),
        next: 0,
        left: 16,
    };
    writer.line(&format!("__shared__ long long s[{shared}];"), &format!("s = cuda.shared.array({shared}, int64)"));
    writer.line("long long t = threadIdx.x;", "t = cuda.threadIdx.x");
    writer.line("long long i = blockIdx.x * blockDim.x + threadIdx.x;", "i = cuda.grid(1)");
    writer.line("long long x = 0;", "x = 0");
    writer.block_of(3);
    writer.line("out[i] = x;", "out[i] = x");
    writer.cuda.push_str("}\n");
    Twins { cuda: writer.cuda, numba: writer.numba }
}

impl Writer<'_> {
    fn line(&mut self, cuda: &str, numba: &str) {
        let indent = &*"    ".repeat(self.depth);
        if !cuda.is_empty() {
            self.cuda.extend([indent, cuda, "\n"]);
        }
        if !numba.is_empty() {
            self.numba.extend([indent, numba, "\n"]);
        }
    }

    /// A line that is spelled alike but for the end of a statement, `//` and `and`.
    fn same(&mut self, text: &str) {
        let numba = python(text);
        self.line(&format!("{text};"), &numba);
    }

    fn block_of(&mut self, least: u64) {
        for _ in 0..least + self.random.below(4) {
            self.statement();
        }
    }

    fn inside(&mut self, uniform: bool) {
        let before = self.uniform;
        self.uniform &= uniform;
        self.depth += 1;
        self.block_of(1);
        self.depth -= 1;
        self.uniform = before;
    }

    fn statement(&mut self) {
        if self.left == 0 || self.depth > 4 {
            return self.simple();
        }
        self.left -= 1;
        match self.random.below(20) {
            0..=7 => self.simple(),
            8..=10 if self.uniform || self.random.below(5) == 0 => self.line("__syncthreads();", "cuda.syncthreads()"),
            11 => self.line("__syncwarp();", "cuda.syncwarp()"),
            12..=14 => {
                let (condition, uniform) = self.condition();
                self.line(&format!("if ({condition}) {{"), &format!("if {}:", python(&condition)));
                self.inside(uniform);
                if self.random.below(4) == 0 {
                    self.line("} else {", "else:");
                    self.inside(uniform);
                }
                self.line("}", "");
            }
            15 => {
                let (condition, _) = self.condition();
                self.line(&format!("if ({condition}) return;"), &format!("if {}:", python(&condition)));
                self.line("", "    return");
            }
            16 | 17 => {
                let name = self.fresh();
                let (from, to, step, uniform) = match self.random.below(5) {
                    0 => ("t", self.shared.to_string(), "blockDim.x", false),
                    1 => ("i", "n".to_owned(), "gridDim.x * blockDim.x", false),
                    2 => ("t", "128".to_owned(), "blockDim.x", true),
                    3 => ("0", "t % 3".to_owned(), "1", false),
                    _ => ("0", "3".to_owned(), "1", true),
                };
                self.line(
                    &format!("for (long long {name} = {from}; {name} < {to}; {name} += {step}) {{"),
                    &format!("for {name} in range({from}, {to}, {}):", python(step)),
                );
                self.loops.push(name);
                self.inside(uniform);
                self.loops.pop();
                self.line("}", "");
            }
            18 => self.tree(),
            _ => {
                let (to, from) = (self.shared_index(), self.shared_index());
                self.same(&format!("s[{to}] = x + i"));
                if self.uniform && self.random.below(4) != 0 {
                    self.line("__syncthreads();", "cuda.syncthreads()");
                }
                self.same(&format!("x += s[{from}]"));
            }
        }
    }

    fn tree(&mut self) {
        let name = self.fresh();
        self.line(&format!("for (long long {name} = 32; {name} > 0; {name} >>= 1) {{"), &format!("{name} = 32"));
        self.line("", &format!("while {name} > 0:"));
        self.depth += 1;
        if self.uniform && self.random.below(3) != 0 {
            self.line("__syncthreads();", "cuda.syncthreads()");
        }
        let guard = if self.random.below(3) == 0 { "<=" } else { "<" };
        self.line(&format!("if (t {guard} {name}) {{"), &format!("if t {guard} {name}:"));
        self.line(&format!("    s[t] += s[t + {name}];"), &format!("    s[t] += s[t + {name}]"));
        self.line("}", "");
        self.line("", &format!("{name} >>= 1"));
        self.depth -= 1;
        self.line("}", "");
    }

    fn simple(&mut self) {
        let (shared, global) = (self.shared_index(), self.global_index());
        let text = match self.random.below(9) {
            0 => format!("x += a[{global}]"),
            1 => format!("b[{global}] = x + t"),
            2 => format!("s[{shared}] = x + i"),
            3 => format!("x += s[{shared}]"),
            4 => format!("s[{shared}] += 1"),
            5 => {
                let index = python(&shared);
                return self.line(&format!("atomicAdd(&s[{shared}], 1);"), &format!("cuda.atomic.add(s, {index}, 1)"));
            }
            6 => format!("a[{global}] = a[{global}] + 1"),
            7 => format!("x = s[{shared}] + a[{global}]"),
            _ => format!("s[{shared}] = a[{global}]"),
        };
        self.same(&text);
    }

    fn fresh(&mut self) -> String {
        self.next += 1;
        format!("k{}", self.next)
    }

    /// A condition, and whether all threads of a block agree on it.
    fn condition(&mut self) -> (String, bool) {
        let constant = 1 + self.random.below(64);
        match self.random.below(10) {
            0..=2 => ("i < n".to_owned(), false),
            3 => ("i <= n".to_owned(), false),
            4 => (format!("t < {constant}"), false),
            5 => ("t % 2 == 0".to_owned(), false),
            6 => ("blockIdx.x == 0".to_owned(), true),
            7 => (format!("n > {constant}"), true),
            8 => ("i > 0 && i < n - 1".to_owned(), false),
            _ => ("t / 32 == 0".to_owned(), false),
        }
    }

    fn shared_index(&mut self) -> String {
        let shared = self.shared;
        let constant = self.random.below(shared);
        match (self.random.below(13), self.loops.last().cloned()) {
            (0 | 1, Some(name)) => name,
            (2, Some(name)) => format!("(t + {name}) % {shared}"),
            (0..=6, _) => "t".to_owned(),
            (7, _) => "t + 1".to_owned(),
            (8, _) => "t ^ 1".to_owned(),
            (9, _) => constant.to_string(),
            (10, _) => format!("(t + {constant}) % {shared}"),
            (11, _) => "t / 32".to_owned(),
            _ => format!("(t * 2) % {shared}"),
        }
    }

    fn global_index(&mut self) -> String {
        match (self.random.below(11), self.loops.last().cloned()) {
            (0..=2, Some(name)) => name,
            (3, Some(name)) => format!("{name} * blockDim.x + t"),
            (0..=5, _) => "i".to_owned(),
            (6, _) => "i + 1".to_owned(),
            (7, _) => "i % n".to_owned(),
            (8, _) => "blockIdx.x".to_owned(),
            (9, _) => "max(n - 1 - i, 0)".to_owned(),
            _ => "min(i, n - 1)".to_owned(),
        }
    }
}

/// Arithmetic of C++ as Python spells it.
fn python(text: &str) -> String {
    ["threadIdx", "blockIdx", "blockDim", "gridDim"]
        .iter()
        .fold(text.to_owned(), |text, name| text.replace(name, &format!("cuda.{name}")))
        .replace(" / ", " // ")
        .replace("&&", "and")
}
