//! Inline assembly: the instructions that matter to synchronization, and the rest as something unknown.

use super::{At, Lowerer, Out};
use crate::code::{self, Effect, Expr, Intrinsic, Scope, Stmt};
use crate::report::Site;
use cudalint_program::ir;
use cudalint_program::types::Ty;

/// What one instruction does.
enum Known {
    Does(Intrinsic, Vec<code::ExprId>),
    /// It gives the thread's number in its warp.
    Lane,
    /// Its outputs get values that are not known, and nothing else happens.
    Computes,
    /// It stores something where an operand points to.
    Stores,
    /// It stores something at an address that is a number, as `__cvta_generic_to_shared` gives it: in any object.
    StoresAnywhere,
}

impl Lowerer<'_> {
    /// `asm("…" : outputs : inputs)`.
    pub(super) fn assembly(&mut self, text: &str, operands: &[ir::ExprId], site: Site, out: &mut code::Block) {
        let mut outputs = Vec::new();
        let mut inputs = Vec::new();
        for operand in operands {
            match self.node(*operand).map(|node| &node.kind) {
                Some(ir::Expr::AddressOf(target)) => outputs.push(self.expr(*target)),
                _ => {
                    let value = self.expr(*operand);
                    inputs.push(value);
                }
            }
        }
        // `asm volatile("" : "+f"(x))` keeps the compiler from moving things, and changes nothing.
        if text.trim().is_empty() {
            let parts: Vec<_> = inputs.iter().filter_map(|input| self.effect_of(input)).collect();
            for id in parts {
                let stmt = self.push_stmt(Stmt::Expr(id), site);
                out.push(stmt);
            }
            return;
        }
        let mut does = Vec::new();
        let mut lane = false;
        let mut effect = Effect::None;
        for line in text.split([';', '\n']) {
            let line = line.trim().trim_matches(['{', '}']).trim();
            if line.is_empty() || line.starts_with('.') || line.starts_with("//") {
                continue;
            }
            match self.instruction(line, &outputs, &inputs, site) {
                Some(Known::Does(what, operands)) => does.push((what, operands)),
                Some(Known::Lane) => lane = true,
                Some(Known::Computes) => {}
                Some(Known::Stores) if effect == Effect::None => effect = Effect::Writes,
                Some(Known::Stores) => {}
                Some(Known::StoresAnywhere) if effect == Effect::Anything => {}
                Some(Known::StoresAnywhere) => effect = Effect::WritesAnywhere,
                None => effect = Effect::Anything,
            }
        }
        for (what, operands) in does {
            let value = self.intrinsic(what, operands, Ty::Void, site);
            self.emit_effect(&value, site, out);
        }
        if effect != Effect::None {
            self.gap("assembly");
            let children = inputs.iter().map(|input| self.load(input)).collect();
            let id = self.push(Expr::Opaque { children, effect }, code::Ty::Void, site);
            let stmt = self.push_stmt(Stmt::Expr(id), site);
            out.push(stmt);
        }
        for target in &outputs {
            if matches!(target.at, At::Value(_)) || matches!(target.ty, Ty::Array(..)) {
                continue;
            }
            let value = (lane && outputs.len() == 1).then(|| self.lane_number(site));
            let value = match value {
                Some(value) => self.convert(&value, &target.ty),
                None => {
                    let ty = self.ty(&target.ty);
                    self.push(Expr::Opaque { children: Vec::new(), effect: Effect::None }, ty, site)
                }
            };
            let stored = self.store(target, value);
            self.emit_effect(&stored, site, out);
        }
    }

    /// `%laneid`: a warp is 32 threads of the block in order of their ranks.
    fn lane_number(&mut self, site: Site) -> Out {
        let uint = Ty::Int { bytes: 4, signed: false };
        let rank = self.intrinsic(Intrinsic::GroupRank(code::Group::Block), Vec::new(), uint.clone(), site);
        let rank = self.load(&rank);
        let mask = self.int(31, code::Ty::UINT, site);
        let id = self.push(Expr::Binary(code::BinaryOp::And, rank, mask), code::Ty::UINT, site);
        self.computed(id, uint, site)
    }

    fn instruction(&mut self, line: &str, outputs: &[Out], inputs: &[Out], site: Site) -> Option<Known> {
        // A predicate in front: the instruction may or may not run.
        if line.starts_with('@') {
            return None;
        }
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.split("//").next().unwrap_or("").trim();
        let operand = |this: &mut Self, text: &str| -> Option<code::ExprId> {
            let text = text.trim();
            if let Some(number) = text.strip_prefix('%') {
                let at = number.parse::<usize>().ok()?.checked_sub(outputs.len())?;
                let input = inputs.get(at)?.clone();
                return Some(this.load(&input));
            }
            Some(this.int(text.parse().ok()?, code::Ty::INT, site))
        };
        let parts: Vec<&str> = rest.split(',').map(str::trim).filter(|part| !part.is_empty()).collect();
        let does = |what| Some(Known::Does(what, Vec::new()));
        match name {
            "bar.sync"
            | "barrier.sync"
            | "barrier.sync.aligned"
            | "barrier.cta.sync"
            | "barrier.cta.sync.aligned"
            | "bar.cta.sync" => {
                let ids: Option<Vec<_>> = parts.iter().map(|part| operand(self, part)).collect();
                let ids = ids?;
                match (ids.first().and_then(|id| self.fold(*id)), ids.len()) {
                    (Some(0), 1) | (None, 0) => does(Intrinsic::BlockBarrier),
                    _ => Some(Known::Does(Intrinsic::NamedBarrier, ids)),
                }
            }
            "bar.arrive" | "barrier.arrive" | "barrier.cta.arrive" | "barrier.cta.arrive.aligned" => {
                let ids: Option<Vec<_>> = parts.iter().map(|part| operand(self, part)).collect();
                Some(Known::Does(Intrinsic::NamedArrive, ids?))
            }
            "bar.warp.sync" => {
                let mask = parts.first().and_then(|part| operand(self, part));
                Some(Known::Does(Intrinsic::WarpBarrier, mask.into_iter().collect()))
            }
            "membar.gl" | "fence.acq_rel.gpu" | "fence.sc.gpu" => does(Intrinsic::Fence(Scope::Device)),
            "membar.cta" | "fence.acq_rel.cta" | "fence.sc.cta" => does(Intrinsic::Fence(Scope::Block)),
            "membar.sys" | "fence.acq_rel.sys" | "fence.sc.sys" => does(Intrinsic::Fence(Scope::System)),
            "cp.async.commit_group" | "cp.async.wait_all" | "cp.async.wait_group" => {
                does(Intrinsic::Fence(Scope::Thread))
            }
            "exit" | "trap" => does(Intrinsic::Exit),
            "brkpt" | "nanosleep.u32" | "griddepcontrol.wait" | "griddepcontrol.launch_dependents" => {
                Some(Known::Computes)
            }
            "mov.u32" | "mov.s32" | "mov.b32" if rest.contains("%laneid") || rest.contains("%%laneid") => {
                Some(Known::Lane)
            }
            _ => {
                let base = name.split('.').next().unwrap_or(name);
                let computes = matches!(
                    base,
                    "mov"
                        | "add"
                        | "sub"
                        | "mul"
                        | "mad"
                        | "fma"
                        | "min"
                        | "max"
                        | "abs"
                        | "neg"
                        | "and"
                        | "or"
                        | "xor"
                        | "not"
                        | "shl"
                        | "shr"
                        | "shf"
                        | "prmt"
                        | "bfe"
                        | "bfi"
                        | "bfind"
                        | "brev"
                        | "clz"
                        | "popc"
                        | "cvt"
                        | "cvta"
                        | "selp"
                        | "set"
                        | "setp"
                        | "slct"
                        | "lop3"
                        | "ex2"
                        | "lg2"
                        | "rcp"
                        | "sqrt"
                        | "rsqrt"
                        | "sin"
                        | "cos"
                        | "tanh"
                        | "div"
                        | "rem"
                        | "dp4a"
                        | "dp2a"
                        | "vadd"
                        | "vsub"
                        | "vmin"
                        | "vmax"
                        | "vabsdiff"
                        | "vabsdiff4"
                        | "addc"
                        | "subc"
                        | "madc"
                        | "mul24"
                        | "mad24"
                        | "copysign"
                        | "testp"
                        | "isspacep"
                        | "szext"
                        | "bmsk"
                        | "sad"
                        | "fns"
                        | "prefetch"
                        | "prefetchu"
                        | "applypriority"
                        | "mma"
                        | "wmma"
                );
                // What may be a barrier, or jump, is none of these.
                let reads = matches!(base, "ld" | "ldu" | "ldmatrix");
                let stores = matches!(base, "st" | "red" | "atom" | "stmatrix")
                    || name.starts_with("wmma.store")
                    || name.starts_with("cp.async.ca.")
                    || name.starts_with("cp.async.cg.");
                let to = parts.iter().find_map(|part| part.strip_prefix("[%")).unwrap_or("");
                let digits = to.trim_end_matches(|c: char| !c.is_ascii_digit());
                let target = digits.parse::<usize>().ok().and_then(|at| inputs.get(at.checked_sub(outputs.len())?));
                match (stores, computes || reads) {
                    (true, _) if target.is_some_and(|to| matches!(to.ty, Ty::Pointer(..) | Ty::Array(..))) => {
                        Some(Known::Stores)
                    }
                    (true, _) => Some(Known::StoresAnywhere),
                    (false, true) => Some(Known::Computes),
                    (false, false) => None,
                }
            }
        }
    }
}
