//! Barriers, atomics, warp operations and memory intrinsics by name.

use super::state::{Lowerer, Out};
use crate::code::{AtomicOp, Effect, Expr, Intrinsic, Scope, Shuffle, Vote};
use crate::report::Site;
use cudalint_program::api::ApiId;
use cudalint_program::api::effects::{DeviceOp, Effect as CopiesOrSets, Library};
use cudalint_program::types::Ty;

const UINT: Ty = Ty::Int { bytes: 4, signed: false };

impl Lowerer<'_> {
    /// An intrinsic function of CUDA; `None` where the name is none.
    pub(super) fn intrinsic_call(&mut self, name: &str, args: &[Out], site: Site) -> Option<Out> {
        let api = ApiId::named(name)?;
        let (what, ty) = match api.device_op() {
            // Wavefronts of AMD's devices may have 64 lanes.
            Some(op) if op.is_of_warp() && self.project.is_for_hip(site.module) => {
                let ty = match op {
                    DeviceOp::Shuffle { masked, .. } => args.get(usize::from(masked)).map(|value| value.ty.decayed()),
                    DeviceOp::WarpBarrier => Some(Ty::Void),
                    _ => None,
                };
                let operands = self.loads(args);
                return Some(self.unknown(operands, Effect::None, ty.unwrap_or(Ty::Unknown), site));
            }
            Some(op) => match op {
                DeviceOp::Atomic { op, scope } => return self.atomic_function(op, scope, args, site),
                DeviceOp::Shuffle { how, masked } => return self.shuffle(how, masked, args, site),
                DeviceOp::WarpVote { how, masked } => return Some(self.warp_vote(how, masked, args, site)),
                DeviceOp::BlockBarrier => (Intrinsic::BlockBarrier, Ty::Void),
                DeviceOp::BlockVote(how) => (Intrinsic::BlockVote(how), Ty::INT),
                DeviceOp::NamedBarrier => (Intrinsic::NamedBarrier, Ty::Void),
                DeviceOp::WarpBarrier => (Intrinsic::WarpBarrier, Ty::Void),
                DeviceOp::ActiveMask => (Intrinsic::ActiveMask, UINT),
                DeviceOp::Fence(scope) => (Intrinsic::Fence(scope), Ty::Void),
                DeviceOp::AsyncCopy => (Intrinsic::AsyncCopy, Ty::Void),
                DeviceOp::Trap => (Intrinsic::Exit, Ty::Void),
                DeviceOp::Print => (Intrinsic::Print, Ty::INT),
                DeviceOp::Assume => {
                    let [value] = args else { return None };
                    let value = self.truth(value);
                    return Some(self.intrinsic(Intrinsic::Assume, vec![value], Ty::Void, site));
                }
                DeviceOp::Load => {
                    let [pointer] = args else { return None };
                    let Ty::Pointer(of) = pointer.ty.decayed() else { return None };
                    let address = self.load(pointer);
                    return Some(self.intrinsic(Intrinsic::LoadCached, vec![address], (*of).clone(), site));
                }
                DeviceOp::Store => {
                    let [pointer, value] = args else { return None };
                    let Ty::Pointer(of) = pointer.ty.decayed() else { return None };
                    let address = self.load(pointer);
                    let value = self.convert(value, &of);
                    return Some(self.intrinsic(Intrinsic::StoreCached, vec![address, value], Ty::Void, site));
                }
                // Lowered elsewhere, or only by kernels of Python.
                _ => return None,
            },
            // What the C library copies and sets, device code may copy and set by the same names.
            None if api.library == Library::C => match api.effects.first()? {
                CopiesOrSets::Copies { .. } => (Intrinsic::Copy, Ty::pointer_to(Ty::Void)),
                CopiesOrSets::Sets { .. } => (Intrinsic::Set, Ty::pointer_to(Ty::Void)),
                _ => return None,
            },
            None => return None,
        };
        let operands = match what {
            Intrinsic::BlockVote(_) => args.iter().map(|arg| self.convert(arg, &Ty::INT)).collect(),
            Intrinsic::Copy | Intrinsic::Set | Intrinsic::AsyncCopy => self.copy_operands(args),
            Intrinsic::WarpBarrier => args.iter().map(|mask| self.convert(mask, &UINT)).collect(),
            Intrinsic::Fence(_) | Intrinsic::ActiveMask => Vec::new(),
            _ => self.loads(args),
        };
        Some(self.intrinsic(what, operands, ty, site))
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

    fn warp_vote(&mut self, kind: Vote, masked: bool, args: &[Out], site: Site) -> Out {
        let ty = match kind {
            Vote::Any | Vote::All => Ty::INT,
            Vote::Reduce => args.get(1).map_or(Ty::Unknown, |value| value.ty.decayed()),
            _ => UINT,
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
                self.after(vec![stored], &vote, site)
            }
            _ => vote,
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

    fn atomic_function(&mut self, op: AtomicOp, scope: Scope, args: &[Out], site: Site) -> Option<Out> {
        let [pointer, values @ ..] = args else { return None };
        let Ty::Pointer(of) = pointer.ty.decayed() else {
            let children = self.loads(args);
            let ty = values.first().map_or(Ty::Unknown, |value| value.ty.decayed());
            return Some(self.unknown(children, Effect::Writes, ty, site));
        };
        let address = self.load(pointer);
        Some(self.atomic((op, scope), false, address, &of, values, site))
    }

    /// An atomic operation on a number at an address; `ordered` where it orders other accesses, too.
    pub(super) fn atomic(
        &mut self,
        (op, scope): (AtomicOp, Scope),
        ordered: bool,
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
            Some(bytes) => self.intrinsic(Intrinsic::Atomic { op, scope, bytes, ordered }, operands, of, site),
            None => self.unknown(operands, Effect::Writes, of, site),
        }
    }
}
