//! Barriers, atomics, warp operations and memory intrinsics by name.

use super::{Lowerer, Out};
use crate::code::{AtomicOp, Effect, Expr, Intrinsic, Scope, Shuffle, Vote};
use crate::report::Site;
use cudalint_program::types::Ty;

const UINT: Ty = Ty::Int { bytes: 4, signed: false };

impl Lowerer<'_> {
    /// An intrinsic function of CUDA; `None` where the name is none.
    pub(super) fn intrinsic_call(&mut self, name: &str, args: &[Out], site: Site) -> Option<Out> {
        if let Some(rest) = name.strip_prefix("atomic") {
            return self.atomic_function(rest, args, site);
        }
        if let Some(out) = self.warp_function(name, args, site) {
            return Some(out);
        }
        let plain = |what| Some((what, Ty::Void));
        let scoped = match name {
            "__syncthreads" | "__barrier_sync_all" => plain(Intrinsic::BlockBarrier),
            "__syncthreads_and" => Some((Intrinsic::BlockVote(Vote::All), Ty::INT)),
            "__syncthreads_or" => Some((Intrinsic::BlockVote(Vote::Any), Ty::INT)),
            "__syncthreads_count" => Some((Intrinsic::BlockVote(Vote::Count), Ty::INT)),
            "__barrier_sync" | "__barrier_sync_count" | "__nvvm_barrier_sync" => plain(Intrinsic::NamedBarrier),
            "__threadfence" => plain(Intrinsic::Fence(Scope::Device)),
            "__threadfence_block" => plain(Intrinsic::Fence(Scope::Block)),
            "__threadfence_system" => plain(Intrinsic::Fence(Scope::System)),
            "__pipeline_wait_prior" | "__pipeline_commit" => plain(Intrinsic::Fence(Scope::Thread)),
            "__pipeline_memcpy_async" => plain(Intrinsic::AsyncCopy),
            "memcpy" | "memmove" => Some((Intrinsic::Copy, Ty::pointer_to(Ty::Void))),
            "memset" => Some((Intrinsic::Set, Ty::pointer_to(Ty::Void))),
            "__trap" | "__builtin_trap" | "__builtin_unreachable" | "__assertfail" | "abort" | "__assert_fail" => {
                plain(Intrinsic::Exit)
            }
            "printf" | "puts" | "vprintf" => Some((Intrinsic::Print, Ty::INT)),
            _ => None,
        };
        if let Some((what, ty)) = scoped {
            let operands = match what {
                Intrinsic::BlockVote(_) => args.iter().map(|arg| self.convert(arg, &Ty::INT)).collect(),
                Intrinsic::Copy | Intrinsic::Set | Intrinsic::AsyncCopy => self.copy_operands(args),
                Intrinsic::Fence(_) => Vec::new(),
                _ => self.loads(args),
            };
            return Some(self.intrinsic(what, operands, ty, site));
        }
        match (name, args) {
            ("assert" | "__builtin_assume", [value]) => {
                let value = self.truth(value);
                Some(self.intrinsic(Intrinsic::Assume, vec![value], Ty::Void, site))
            }
            ("__ldg" | "__ldcg" | "__ldca" | "__ldcs" | "__ldlu" | "__ldcv", [pointer]) => {
                let Ty::Pointer(of) = pointer.ty.decayed() else { return None };
                let address = self.load(pointer);
                Some(self.intrinsic(Intrinsic::LoadCached, vec![address], (*of).clone(), site))
            }
            ("__stwb" | "__stcg" | "__stcs" | "__stwt", [pointer, value]) => {
                let Ty::Pointer(of) = pointer.ty.decayed() else { return None };
                let address = self.load(pointer);
                let value = self.convert(value, &of);
                Some(self.intrinsic(Intrinsic::StoreCached, vec![address, value], Ty::Void, site))
            }
            ("atomic_thread_fence" | "__atomic_thread_fence", _) => {
                Some(self.intrinsic(Intrinsic::Fence(Scope::Device), Vec::new(), Ty::Void, site))
            }
            _ => None,
        }
    }

    /// Destination, source or value, and the number of bytes as `size_t`.
    fn copy_operands(&mut self, args: &[Out]) -> Vec<crate::code::ExprId> {
        args.iter()
            .enumerate()
            .map(|(index, arg)| match index {
                2 => self.convert(arg, &Ty::SIZE),
                _ => self.load(arg),
            })
            .collect()
    }

    fn warp_function(&mut self, name: &str, args: &[Out], site: Site) -> Option<Out> {
        if name == "__syncwarp" {
            let mask = args.iter().map(|mask| self.convert(mask, &UINT)).collect();
            return Some(self.intrinsic(Intrinsic::WarpBarrier, mask, Ty::Void, site));
        }
        if name == "__activemask" {
            return Some(self.intrinsic(Intrinsic::ActiveMask, Vec::new(), UINT, site));
        }
        let (base, masked) = match name.strip_suffix("_sync") {
            Some(base) => (base, true),
            None => (name, false),
        };
        let shuffle = match base {
            "__shfl" => Some(Shuffle::Index),
            "__shfl_up" => Some(Shuffle::Up),
            "__shfl_down" => Some(Shuffle::Down),
            "__shfl_xor" => Some(Shuffle::Xor),
            _ => None,
        };
        if let Some(kind) = shuffle {
            return self.shuffle(kind, masked, args, site);
        }
        let (kind, ty) = match base {
            "__any" => (Vote::Any, Ty::INT),
            "__all" => (Vote::All, Ty::INT),
            "__ballot" => (Vote::Ballot, UINT),
            "__match_any" if masked => (Vote::MatchAny, UINT),
            "__match_all" if masked => (Vote::MatchAll, UINT),
            _ if masked && base.starts_with("__reduce_") => {
                (Vote::Reduce, args.get(1).map_or(Ty::Unknown, |value| value.ty.decayed()))
            }
            _ => return None,
        };
        let mut operands = Vec::new();
        for (index, arg) in args.iter().enumerate() {
            let is_mask = masked && index == 0;
            let predicate = matches!(kind, Vote::Any | Vote::All | Vote::Ballot);
            operands.push(match (is_mask, predicate) {
                (true, _) => self.convert(arg, &UINT),
                (false, true) => self.convert(arg, &Ty::INT),
                _ => self.load(arg),
            });
        }
        let vote = self.intrinsic(Intrinsic::WarpVote { kind, masked }, operands, ty, site);
        match (kind, args) {
            // The predicate is stored through the pointer.
            (Vote::MatchAll, [_, _, pointer]) => {
                let target = self.deref(pointer, site);
                let code_ty = self.ty(&target.ty);
                let value = self.push(Expr::Opaque { children: Vec::new(), effect: Effect::None }, code_ty, site);
                let stored = self.store(&target, value);
                let stored = self.load(&stored);
                Some(self.after(vec![stored], &vote, site))
            }
            _ => Some(vote),
        }
    }

    fn shuffle(&mut self, kind: Shuffle, masked: bool, args: &[Out], site: Site) -> Option<Out> {
        let (mask, rest) = match args {
            [mask, rest @ ..] if masked => (Some(mask), rest),
            rest => (None, rest),
        };
        let [value, numbers @ ..] = rest else { return None };
        let mut operands = Vec::new();
        if let Some(mask) = mask {
            operands.push(self.convert(mask, &UINT));
        }
        let ty = value.ty.decayed();
        operands.push(self.load(value));
        for number in numbers {
            operands.push(self.convert(number, &Ty::INT));
        }
        Some(self.intrinsic(Intrinsic::Shuffle { kind, masked }, operands, ty, site))
    }

    fn atomic_function(&mut self, rest: &str, args: &[Out], site: Site) -> Option<Out> {
        let (rest, scope) = match (rest.strip_suffix("_block"), rest.strip_suffix("_system")) {
            (Some(rest), _) => (rest, Scope::Block),
            (_, Some(rest)) => (rest, Scope::System),
            _ => (rest, Scope::Device),
        };
        let op = match rest {
            "Add" => AtomicOp::Add,
            "Sub" => AtomicOp::Sub,
            "Min" => AtomicOp::Min,
            "Max" => AtomicOp::Max,
            "And" => AtomicOp::And,
            "Or" => AtomicOp::Or,
            "Xor" => AtomicOp::Xor,
            "Inc" => AtomicOp::Inc,
            "Dec" => AtomicOp::Dec,
            "Exch" => AtomicOp::Exchange,
            "CAS" => AtomicOp::CompareExchange,
            _ => return None,
        };
        let [pointer, values @ ..] = args else { return None };
        let Ty::Pointer(of) = pointer.ty.decayed() else {
            let children = self.loads(args);
            let ty = values.first().map_or(Ty::Unknown, |value| value.ty.decayed());
            return Some(self.unknown(children, Effect::Writes, ty, site));
        };
        let address = self.load(pointer);
        Some(self.atomic(op, scope, address, &of, values, site))
    }

    /// An atomic operation on a number at an address.
    pub(super) fn atomic(
        &mut self,
        op: AtomicOp,
        scope: Scope,
        address: crate::code::ExprId,
        of: &Ty,
        values: &[Out],
        site: Site,
    ) -> Out {
        let of =
            if *of == Ty::Void { values.first().map_or(Ty::Unknown, |value| value.ty.decayed()) } else { of.clone() };
        let mut operands = vec![address];
        for value in values {
            operands.push(self.convert(value, &of));
        }
        let bytes = self.size_of(&of).and_then(|bytes| u8::try_from(bytes).ok());
        match bytes {
            Some(bytes) => self.intrinsic(Intrinsic::Atomic { op, scope, bytes }, operands, of, site),
            None => self.unknown(operands, Effect::Writes, of, site),
        }
    }
}
