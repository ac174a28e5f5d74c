//! Statements of random kernels.

use super::{Layout, Writer};

impl Writer<'_> {
    pub(super) fn statement(&mut self) {
        self.statements += 1;
        if self.statements > 14 || self.depth > 4 {
            self.simple();
            return;
        }
        match self.random.below(26) {
            0..=8 => self.simple(),
            9 | 10 => self.barrier(),
            11..=13 => self.guarded(),
            14 => self.leave(),
            15 | 16 => self.counted(),
            17 => self.strided(),
            18 => self.tree(),
            19 => self.exchange(),
            20 | 21 if self.features.warps => self.warp(),
            22 if self.features.local => self.own(),
            23 if self.features.fraction => self.fraction(),
            24 if self.wide => self.chosen(),
            25 if self.wide && self.random.chance(60) => self.while_loop(),
            25 if self.wide => self.through_references(),
            _ => self.simple(),
        }
    }

    fn simple(&mut self) {
        let (shared, global) = (self.shared_place(), self.global_index());
        let text = match self.random.below(10) {
            0 => format!("x += a[{global}];"),
            1 => format!("b[{global}] = x + t;"),
            2 => format!("{shared} = x + i;"),
            3 => format!("x += {shared};"),
            4 => format!("{shared} += 1;"),
            5 => format!("atomicAdd(&{shared}, 1);"),
            6 => format!("a[{global}] = a[{global}] + 1;"),
            // What was in `x` stays in it: a value that nobody uses is not read at all.
            7 => format!("x = {shared} + a[{global}] - x;"),
            8 if self.wide && self.paired => {
                let name = self.fresh("q");
                self.line(&format!("int2 {name} = reinterpret_cast<const int2*>(a)[i / 2];"));
                format!("x += {name}.x + {name}.y;")
            }
            _ => format!("{shared} = a[{global}];"),
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
        let mut uniform = true;
        if self.wide && self.random.chance(20) {
            let (condition, agreed) = self.condition();
            let leaves = self.random.pick(&["continue", "continue", "break"]).to_owned();
            self.line(&format!("    if ({condition}) {leaves};"));
            uniform = agreed;
        }
        self.block(uniform);
        self.loops.pop();
        self.line("}");
    }

    fn strided(&mut self) {
        let name = self.fresh("k");
        let (block, shared) = (self.layout.threads(), self.layout.elements());
        let (bound, uniform) = match self.random.below(3) {
            0 => (shared.to_string(), shared.is_multiple_of(block)),
            1 => ("n".to_owned(), false),
            _ => ((2 * block).to_string(), true),
        };
        let start = if bound == "n" && self.random.chance(60) { "i" } else { "t" };
        let size = self.block_size();
        let stride = if start == "i" { format!("gridDim.x * {size}") } else { size.to_owned() };
        self.line(&format!("for (int {name} = {start}; {name} < {bound}; {name} += {stride}) {{"));
        let top = if bound == "n" { self.grid * block } else { 2 * block };
        self.loops.push((name, top));
        self.block(uniform);
        self.loops.pop();
        self.line("}");
    }

    /// A reduction or a scan step, with or without what it needs.
    fn tree(&mut self) {
        let Layout::Row { threads, .. } = self.layout else { return self.simple() };
        if !self.uniform {
            return self.simple();
        }
        let name = self.fresh("o");
        let half = threads.next_power_of_two() / 2;
        self.line(&format!("for (int {name} = {half}; {name} > 0; {name} >>= 1) {{"));
        self.depth += 1;
        if self.random.chance(70) {
            self.line("__syncthreads();");
        }
        let guard = match self.random.below(3) {
            0 => format!("t < {name}"),
            1 => format!("t < {name} && t + {name} < {threads}"),
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
        let (to, from) = (self.shared_place(), self.shared_place());
        self.line(&format!("{to} = x + i;"));
        if self.uniform && self.random.chance(75) {
            self.line("__syncthreads();");
        }
        self.line(&format!("x += {from};"));
        if self.uniform && self.random.chance(60) {
            self.line("__syncthreads();");
        }
    }

    /// Values that go from lane to lane. All lanes must be there, so only where the block is together.
    fn warp(&mut self) {
        if !self.uniform {
            return self.simple();
        }
        let (block, shared) = (self.layout.threads(), self.layout.elements());
        let all = "0xffffffffu";
        match self.random.below(6) {
            0 => {
                let name = self.fresh("o");
                let line =
                    format!("for (int {name} = 16; {name} > 0; {name} /= 2) x += __shfl_down_sync({all}, x, {name});");
                self.line(&line);
            }
            1 => {
                let (name, lane) = (self.fresh("w"), self.random.below(32));
                self.line(&format!("int {name} = __shfl_sync({all}, t, {lane});"));
                let place = self.shared_at(&format!("{name} % {shared}"));
                self.line(&format!("x += {place};"));
            }
            2 => {
                let (name, mask) = (self.fresh("w"), 1 << self.random.below(5));
                self.line(&format!("int {name} = __shfl_xor_sync({all}, t, {mask});"));
                let place = self.shared_at(&format!("{name} % {shared}"));
                self.line(&format!("{place} = x;"));
            }
            3 => {
                let name = self.fresh("w");
                let limit = 1 + self.random.below(block);
                self.line(&format!("int {name} = __popc(__ballot_sync({all}, t < {limit}));"));
                let place = self.shared_at(&format!("(t + {name}) % {shared}"));
                self.line(&format!("{place} += 1;"));
            }
            4 => {
                let vote = self.random.pick(&["__any_sync", "__all_sync"]).to_owned();
                let (condition, _) = self.condition();
                self.line(&format!("if ({vote}({all}, {condition})) {{"));
                self.block(false);
                self.line("}");
            }
            _ => {
                let (here, there) =
                    (self.shared_at(&format!("t % {shared}")), self.shared_at(&format!("(t ^ 1) % {shared}")));
                self.line(&format!("{here} = x + i;"));
                if self.random.chance(70) {
                    self.line("__syncwarp();");
                }
                self.line(&format!("x += {there};"));
            }
        }
    }

    /// Something with the thread's own array.
    fn own(&mut self) {
        let at = self.random.pick(&["0", "3", "t & 3", "(t + 1) & 3"]).to_owned();
        let place = self.shared_at(&format!("l[{at}]"));
        let text = match self.random.below(4) {
            0 => format!("{place} = x;"),
            1 => format!("x += {place};"),
            2 => format!("l[{at}] = (l[{at}] + 1) % {};", self.layout.elements()),
            _ => format!("x += l[{at}];"),
        };
        self.line(&text);
    }

    /// Something with the number that has a fraction.
    fn fraction(&mut self) {
        let shared = self.layout.elements();
        let text = match self.random.below(4) {
            0 => "y = y * 0.5f + 3.0f;".to_owned(),
            1 => format!("{} = x;", self.shared_at(&format!("(int)(t * 0.5f) % {shared}"))),
            2 => format!("x += {};", self.shared_at(&format!("(int)fabsf(y) % {shared}"))),
            _ => "y += 0.25f * t;".to_owned(),
        };
        self.line(&text);
    }

    /// A `switch` over the thread.
    fn chosen(&mut self) {
        let over = self.random.pick(&["t & 3", "blockIdx.x", "t / 32"]).to_owned();
        self.line(&format!("switch ({over}) {{"));
        for (value, leaves) in [(0, self.random.chance(80)), (1, true)] {
            self.line(&format!("case {value}: {{"));
            self.block(false);
            if leaves {
                self.line("    break;");
            }
            self.line("}");
        }
        self.line("default:");
        self.line("    x += 1;");
        self.line("}");
    }

    /// Two values change places in a function that has references to them.
    fn through_references(&mut self) {
        let (one, other) = (self.fresh("r"), self.fresh("r"));
        let shared = self.layout.elements();
        let kept = self.random.below(shared);
        self.line(&format!("int {one} = t, {other} = {kept};"));
        self.line(&format!("turned({one}, {other});"));
        let which = if self.random.chance(50) { one } else { other };
        let place = self.shared_at(&format!("{which} % {shared}"));
        self.line(&format!("x += {place};"));
    }

    /// A loop that counts in its body.
    fn while_loop(&mut self) {
        let name = self.fresh("w");
        let limit = 2 * self.layout.threads();
        let step = self.block_size();
        self.line(&format!("int {name} = t;"));
        let first = self.random.chance(70);
        self.line(&if first { format!("while ({name} < {limit}) {{") } else { "do {".to_owned() });
        self.loops.push((name.clone(), limit));
        self.block(true);
        self.loops.pop();
        self.line(&format!("    {name} += {step};"));
        self.line(&if first { "}".to_owned() } else { format!("}} while ({name} < {limit});") });
    }
}
