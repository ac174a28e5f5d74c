//! Inline assembly: the instructions that matter to synchronization, and the rest as something unknown.

use super::state::{At, Lowerer, Out};
use crate::code::{self, Effect, Expr, Intrinsic, Scope, Stmt};
use crate::report::Site;
use cudalint_program::api::ApiId;
use cudalint_program::api::effects::DeviceOp;
use cudalint_program::ir;
use cudalint_program::types::Ty;
use cudalint_program::visit::{Item, walk, walk_expr};
use cudalint_syntax::Span;

/// How far an address is followed to its pointer.
const MAX_STEPS: u32 = 6;

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

/// What stands behind the text of inline assembly.
#[derive(Clone, Copy)]
struct Operands<'o> {
    outputs: &'o [Out],
    inputs: &'o [Out],
    /// The inputs as written.
    written: &'o [ir::ExprId],
    site: Site,
}

impl Operands<'_> {
    /// The number of the input that `%2` names: inputs are counted behind outputs.
    fn input(&self, name: &str) -> Option<usize> {
        name.trim().strip_prefix('%')?.parse::<usize>().ok()?.checked_sub(self.outputs.len())
    }

    /// The number of the input that `[%2]` names.
    fn address(&self, text: &str) -> Option<usize> {
        self.input(text.strip_prefix('[')?.strip_suffix(']')?)
    }

    /// The number of the input that an address begins with: `[%2+16]`.
    fn base(&self, text: &str) -> Option<usize> {
        let name = text.strip_prefix('[')?;
        self.input(name.split(['+', '-', ']']).next().unwrap_or(name))
    }
}

/// Whether an instruction of the whole warp has its lanes wait for each other (*PTX ISA*, "the mandatory `.sync` qualifier", of `mma`,
/// `ldmatrix`, `shfl` and their like). Behind a predicate nobody knows whether it runs.
fn waits_for_warp(line: &str) -> bool {
    let mut parts = line.split_whitespace().next().unwrap_or("").split('.');
    let of_warp = matches!(
        parts.next(),
        Some("mma" | "wmma" | "ldmatrix" | "stmatrix" | "movmatrix" | "shfl" | "vote" | "match" | "redux" | "elect")
    );
    of_warp && parts.any(|part| part == "sync")
}

impl Lowerer<'_> {
    /// `asm("…" : outputs : inputs)`.
    pub(super) fn assembly(
        &mut self,
        text: &str,
        outputs: &[ir::ExprId],
        written: &[ir::ExprId],
        site: Site,
        out: &mut code::Block,
    ) {
        self.code.hidden_shared |= text.trim_start().starts_with(".shared");
        let target = |this: &Self, operand: &ir::ExprId| match this.node(*operand).map(|node| &node.kind) {
            Some(ir::Expr::AddressOf(target)) => *target,
            _ => *operand,
        };
        let outputs: Vec<Out> = outputs.iter().map(|output| self.expr(target(self, output))).collect();
        let inputs: Vec<Out> = written.iter().map(|input| self.expr(*input)).collect();
        let operands = Operands { outputs: &outputs, inputs: &inputs, written, site };
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
            if waits_for_warp(line) {
                does.push((Intrinsic::CoalescedBarrier, Vec::new()));
            }
            match self.instruction(line, &operands) {
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

    fn instruction(&mut self, line: &str, operands: &Operands<'_>) -> Option<Known> {
        let Operands { inputs, site, .. } = *operands;
        // A predicate in front: the instruction may or may not run.
        if let Some((_, line)) = line.strip_prefix('@').and_then(|rest| rest.split_once(char::is_whitespace)) {
            return match self.instruction(line.trim_start_matches('@').trim(), operands)? {
                Known::Computes | Known::Lane => Some(Known::Computes),
                Known::Does(Intrinsic::AsyncCopy | Intrinsic::Set, _) | Known::Stores | Known::StoresAnywhere => {
                    Some(Known::StoresAnywhere)
                }
                Known::Does(..) => None,
            };
        }
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.split("//").next().unwrap_or("").trim();
        let operand = |this: &mut Self, text: &str| -> Option<code::ExprId> {
            if text.starts_with('%') {
                return Some(this.load(&inputs.get(operands.input(text)?)?.clone()));
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
            _ if name.starts_with("cp.async.ca.") || name.starts_with("cp.async.cg.") => {
                let bytes = parts.get(2).and_then(|bytes| operand(self, bytes));
                Some(self.async_copy(&parts, bytes, operands).unwrap_or(Known::StoresAnywhere))
            }
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
                        | "movmatrix"
                        | "shfl"
                        | "vote"
                        | "match"
                        | "redux"
                        | "elect"
                );
                // What may be a barrier, or jump, is none of these.
                let reads = matches!(base, "ld" | "ldu" | "ldmatrix");
                let stores = matches!(base, "st" | "red" | "atom" | "stmatrix") || name.starts_with("wmma.store");
                let target = parts.iter().find_map(|part| inputs.get(operands.base(part)?));
                match (stores, computes || reads) {
                    (true, _) if target.is_some_and(is_address) => Some(Known::Stores),
                    (true, _) => Some(Known::StoresAnywhere),
                    (false, true) => Some(Known::Computes),
                    (false, false) => None,
                }
            }
        }
    }

    /// `cp.async.ca.shared.global [to], [from], bytes {, bytes that are read}` (*PTX ISA*, cp.async), where the destination
    /// is the address of an object that is in sight.
    fn async_copy(&mut self, parts: &[&str], bytes: Option<code::ExprId>, operands: &Operands<'_>) -> Option<Known> {
        let [to, from, _, rest @ ..] = parts else { return None };
        let to = self.shared_pointer(*operands.written.get(operands.address(to)?)?)?;
        let from = operands.inputs.get(operands.address(from)?).filter(|from| is_address(from))?.clone();
        let (to, bytes) = (self.load(&to), bytes?);
        if rest.is_empty() {
            return Some(Known::Does(Intrinsic::AsyncCopy, vec![to, self.load(&from), bytes]));
        }
        // Less may be read, and the rest is filled with zeros.
        let value = Expr::Opaque { children: Vec::new(), effect: Effect::None };
        let value = self.push(value, code::Ty::INT, operands.site);
        Some(Known::Does(Intrinsic::Set, vec![to, value, bytes]))
    }

    /// The pointer that `__cvta_generic_to_shared` has made an operand of, at the operand or where its variable is declared.
    fn shared_pointer(&mut self, mut operand: ir::ExprId) -> Option<Out> {
        let use_of_it = self.node(operand)?.span;
        for _ in 0..MAX_STEPS {
            operand = match &self.node(operand)?.kind {
                ir::Expr::Cast { value, .. } => *value,
                ir::Expr::Call { callee, args } => {
                    let name = match &self.node(*callee)?.kind {
                        ir::Expr::Name { path, .. } => path.last()?,
                        _ => return None,
                    };
                    let [pointer] = args.as_slice() else { return None };
                    if ApiId::named(name).and_then(|api| api.device_op()) != Some(DeviceOp::SharedAddress) {
                        return None;
                    }
                    let pointer = *pointer;
                    return Some(self.expr(pointer)).filter(is_address);
                }
                ir::Expr::Local(local) => {
                    let function = self.context.function?;
                    let variable = function.locals.get(*local)?;
                    let init = variable.init?;
                    self.is_unchanged(*local, init, (variable.span, use_of_it)).then_some(init)?
                }
                _ => return None,
            };
        }
        None
    }

    /// Whether a variable keeps what it is declared with, and what that names is not written between its declaration and its
    /// use: neither where that is read from top to bottom, nor in a loop around the use alone.
    fn is_unchanged(&self, variable: ir::LocalId, init: ir::ExprId, (declared, used): (Span, Span)) -> bool {
        let (Some(function), module) = (self.context.function, self.context.ir) else { return false };
        let Some(body) = &function.body else { return false };
        let mut named = Vec::new();
        walk_expr(module, init, |_, expr| {
            if let ir::Expr::Local(local) = expr {
                named.push(*local);
            }
            true
        });
        // What a macro writes stands at the macro's place, in no order.
        let mut stretches = vec![declared.cover(used)];
        let mut unchanged = true;
        walk(module, function, body, |item| {
            match item {
                Item::Stmt(id) => {
                    if let Some(node) = module.stmts.get(id)
                        && matches!(node.kind, ir::Stmt::Loop { .. } | ir::Stmt::ForEach { .. })
                        && node.span.contains(used)
                        && !node.span.contains(declared)
                    {
                        stretches.push(node.span);
                    }
                }
                Item::Expr(id) => {
                    if let Some(node) = module.exprs.get(id)
                        && let ir::Expr::Assign { target, .. }
                        | ir::Expr::Step { target, .. }
                        | ir::Expr::AddressOf(target) = &node.kind
                        && let Some(ir::Expr::Local(written)) = module.exprs.get(*target).map(|node| &node.kind)
                    {
                        let within = stretches.iter().any(|stretch| stretch.contains(node.span));
                        unchanged &= *written != variable && !(within && named.contains(written));
                    }
                }
                Item::Declare(_) => {}
            }
            unchanged
        });
        unchanged
    }
}

/// Whether something is a pointer, or an array that becomes one.
fn is_address(out: &Out) -> bool {
    matches!(out.ty, Ty::Pointer(..) | Ty::Array(..))
}
