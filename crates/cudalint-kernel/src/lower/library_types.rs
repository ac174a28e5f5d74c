//! Objects of library classes: barriers and pipelines of `libcu++`, atomics, CUB's collectives.

use super::state::{At, Lowerer, Out};
use crate::code::{self, AtomicOp, Effect, Expr, Intrinsic, Scope};
use crate::report::Site;
use cudalint_numbers::Quantity;
use cudalint_program::Name;
use cudalint_program::types::{Argument, Ty};

fn last(ty: &Ty) -> Option<&str> {
    match ty {
        Ty::Library(name, _) => name.rsplit("::").next(),
        _ => None,
    }
}

/// CUB's collectives, which are made from their temporary storage.
fn collective(ty: &Ty) -> Option<Intrinsic> {
    let name = last(ty)?;
    let known = |prefix: &str| {
        name.strip_prefix(prefix).is_some_and(|rest| {
            matches!(
                rest,
                "Reduce"
                    | "Scan"
                    | "Load"
                    | "Store"
                    | "RadixSort"
                    | "Exchange"
                    | "Histogram"
                    | "Discontinuity"
                    | "AdjacentDifference"
                    | "MergeSort"
                    | "Shuffle"
                    | "RadixRank"
                    | "RunLengthDecode"
            )
        })
    };
    if known("Block") {
        Some(Intrinsic::BlockPrimitive)
    } else if known("Warp") {
        Some(Intrinsic::WarpPrimitive)
    } else {
        None
    }
}

/// Whether a collective that loads or stores leaves its temporary storage alone: so do all algorithms but those that
/// transpose, and the first is what counts where none is named (CUB's `BlockLoadAlgorithm`, `WarpLoadAlgorithm` and those
/// of the stores). One that is not known counts as such, too.
fn moves_directly(ty: &Ty) -> bool {
    let Ty::Library(_, args) = ty else { return false };
    let algorithm = match last(ty) {
        Some("BlockLoad" | "BlockStore") => args.get(3),
        Some("WarpLoad" | "WarpStore") => args.get(2),
        _ => return false,
    };
    !matches!(algorithm, Some(Argument::Type(Ty::Library(name, _))) if name.contains("TRANSPOSE"))
}

fn is_atomic_reference(ty: &Ty) -> bool {
    last(ty) == Some("atomic_ref")
}

fn is_atomic(ty: &Ty) -> bool {
    matches!(last(ty), Some("atomic" | "atomic_flag"))
}

/// Whether values of a library type are kept as the address of what they stand for.
pub(super) fn is_handle(ty: &Ty) -> bool {
    is_atomic_reference(ty) || collective(ty).is_some()
}

/// Whether a call of a type's name makes an object that is known here.
pub(super) fn is_constructed(ty: &Ty) -> bool {
    is_handle(ty) || super::groups::kind_of(ty).is_some() || is_shape(ty)
}

/// `cuda::aligned_size_t<16>(n)`.
fn is_shape(ty: &Ty) -> bool {
    last(ty) == Some("aligned_size_t")
}

/// Whether a type is the address of a `cuda::barrier`.
pub(super) fn is_barrier_pointer(ty: &Ty) -> bool {
    matches!(ty, Ty::Pointer(to) if last(to) == Some("barrier"))
}

/// Whether a library type is a functor that computes a number from numbers.
pub(super) fn is_functor(name: &str) -> bool {
    matches!(
        name.rsplit("::").next().unwrap_or(name),
        "plus"
            | "minus"
            | "multiplies"
            | "divides"
            | "less"
            | "greater"
            | "bit_and"
            | "bit_or"
            | "bit_xor"
            | "maximum"
            | "minimum"
            | "Sum"
            | "Max"
            | "Min"
            | "identity"
    )
}

/// The number type behind an atomic.
fn atomic_of(ty: &Ty) -> Option<Ty> {
    match ty {
        Ty::Library(_, args) => match args.first() {
            Some(Argument::Type(of)) => Some(of.clone()),
            _ => None,
        },
        _ => None,
    }
}

fn atomic_scope(ty: &Ty) -> Scope {
    let Ty::Library(_, args) = ty else { return Scope::Device };
    match args.get(1) {
        None => Scope::System,
        Some(Argument::Type(Ty::Library(name, _))) if name.ends_with("thread_scope_block") => Scope::Block,
        Some(Argument::Type(Ty::Library(name, _))) if name.ends_with("thread_scope_thread") => Scope::Thread,
        Some(_) => Scope::Device,
    }
}

impl Lowerer<'_> {
    /// `T(args)` of a library type.
    pub(super) fn construct_library(&mut self, ty: &Ty, args: &[Out], site: Site) -> Out {
        if is_shape(ty)
            && let [bytes] = args
        {
            let id = self.convert(bytes, &Ty::SIZE);
            return self.computed(id, Ty::SIZE, site);
        }
        if is_atomic_reference(ty)
            && let [target] = args
        {
            let id = self.address(target);
            let ty = match ty {
                Ty::Library(name, known) if known.is_empty() => {
                    Ty::Library(name.clone(), vec![Argument::Type(target.ty.clone())].into())
                }
                ty => ty.clone(),
            };
            return self.computed(id, ty, site);
        }
        if collective(ty).is_some() {
            let id = match args {
                [storage, ..] => self.address(storage),
                // The storage is the class's own.
                [] => self.opaque_pointer(Vec::new(), site),
            };
            return self.computed(id, ty.clone(), site);
        }
        if let (Some(_), [group]) = (super::groups::kind_of(ty), args)
            && super::groups::kind_of(&group.ty).is_some()
        {
            return group.clone();
        }
        let children = self.loads(args);
        // A functor of the libraries, such as `cub::Sum()`, or a number of theirs does nothing when it is made.
        let numbers =
            args.iter().all(|arg| matches!(arg.ty, Ty::Bool | Ty::Int { .. } | Ty::Float { .. } | Ty::Enum { .. }));
        let effect = if numbers { Effect::None } else { Effect::Writes };
        self.unknown(children, effect, ty.clone(), site)
    }

    /// A method of an object of a library class.
    pub(super) fn library_method(&mut self, object: &Out, name: &Name, args: &[Out], site: Site) -> Option<Out> {
        if super::groups::kind_of(&object.ty).is_some() {
            return self.group_method(&object.ty, name, args, site);
        }
        if let Some(what) = collective(&object.ty) {
            return Some(self.collective_method(what, object, name, args, site));
        }
        if is_atomic_reference(&object.ty) {
            let address = self.load(object);
            return self.atomic_method(address, &object.ty, name, args, site);
        }
        if is_atomic(&object.ty) {
            let address = self.address(object);
            return self.atomic_method(address, &object.ty, name, args, site);
        }
        match (&object.ty, name.as_str(), args) {
            (Ty::Array(_, Quantity::Known(count)), "size" | "max_size", []) => {
                let id = self.int(*count, code::Ty::SIZE, site);
                Some(self.computed(id, Ty::SIZE, site))
            }
            (Ty::Array(of, _), "data" | "begin", []) => {
                let ty = Ty::Pointer(of.clone());
                let id = self.load(object);
                Some(self.computed(id, ty, site))
            }
            (Ty::Array(..), "at", [index]) => Some(self.element(object, index, site)),
            (Ty::Array(..), "fill", [_]) => {
                let children = vec![self.address(object)];
                Some(self.unknown(children, Effect::Writes, Ty::Void, site))
            }
            _ => self.synchronizer_method(object, name, args, site),
        }
    }

    /// `init(&barrier, count)`: one thread writes what all others use.
    pub(super) fn init_barrier(&mut self, barrier: &Out, site: Site) -> Out {
        let address = self.load(barrier);
        let state = self.pointed(address, Ty::Int { bytes: 8, signed: false }, false, site);
        let value = self.push(
            Expr::Opaque { children: Vec::new(), effect: Effect::None },
            code::Ty::Int { bytes: 8, signed: false },
            site,
        );
        self.store(&state, value)
    }

    /// `cuda::barrier` and `cuda::pipeline`.
    pub(super) fn synchronizer_method(&mut self, object: &Out, name: &str, args: &[Out], site: Site) -> Option<Out> {
        let of_one_thread = match &object.ty {
            Ty::Library(_, known) => match known.first() {
                Some(Argument::Value(Quantity::Known(0))) => true,
                Some(Argument::Type(Ty::Library(scope, _))) => scope.ends_with("thread_scope_thread"),
                _ => false,
            },
            _ => false,
        };
        let kind = last(&object.ty)?;
        let what = match (kind, name) {
            ("barrier", "arrive" | "arrive_and_drop") => Intrinsic::BarrierObjectArrive,
            ("barrier", "wait" | "arrive_and_wait" | "wait_parity") => Intrinsic::BarrierObjectWait,
            ("pipeline", "consumer_wait") if !of_one_thread => Intrinsic::BarrierObjectWait,
            ("pipeline", "consumer_release" | "producer_commit") if !of_one_thread => Intrinsic::BarrierObjectArrive,
            ("pipeline", "producer_acquire") if !of_one_thread => Intrinsic::BarrierObjectWait,
            ("pipeline", "consumer_wait" | "consumer_release" | "producer_commit" | "producer_acquire" | "quit") => {
                Intrinsic::Fence(Scope::Thread)
            }
            _ => return None,
        };
        let mut operands = match what {
            Intrinsic::Fence(_) => Vec::new(),
            _ => vec![self.address(object)],
        };
        operands.extend(self.loads(args));
        let ty = match (kind, name) {
            ("barrier", "arrive") => Ty::Library("cuda::barrier::arrival_token".into(), Vec::new().into()),
            _ => Ty::Void,
        };
        Some(self.intrinsic(what, operands, ty, site))
    }

    fn atomic_method(&mut self, address: code::ExprId, ty: &Ty, name: &str, args: &[Out], site: Site) -> Option<Out> {
        let of = atomic_of(ty)?;
        let scope = atomic_scope(ty);
        let (op, values) = match name {
            "fetch_add" => (AtomicOp::Add, 1),
            "fetch_sub" => (AtomicOp::Sub, 1),
            "fetch_and" => (AtomicOp::And, 1),
            "fetch_or" => (AtomicOp::Or, 1),
            "fetch_xor" => (AtomicOp::Xor, 1),
            "fetch_min" => (AtomicOp::Min, 1),
            "fetch_max" => (AtomicOp::Max, 1),
            "exchange" => (AtomicOp::Exchange, 1),
            "load" => (AtomicOp::Load, 0),
            "store" => (AtomicOp::Store, 1),
            "compare_exchange_strong" | "compare_exchange_weak" => {
                let [expected, desired, ..] = args else { return None };
                let both = [expected.clone(), desired.clone()];
                let old = self.atomic((AtomicOp::CompareExchange, scope), true, address, &of, &both, site);
                let old = self.load(&old);
                // What was there is stored into the expected value where the two differ.
                let mut parts = vec![old];
                if !matches!(expected.at, At::Value(_)) {
                    let code_ty = self.ty(&expected.ty);
                    let value = self.push(Expr::Opaque { children: Vec::new(), effect: Effect::None }, code_ty, site);
                    let stored = self.store(expected, value);
                    parts.push(self.load(&stored));
                }
                let result = self.unknown(Vec::new(), Effect::None, Ty::Bool, site);
                return Some(self.after(parts, &result, site));
            }
            // Waiting for another thread.
            "wait" => {
                let children = vec![address];
                return Some(self.unknown(children, Effect::Anything, Ty::Void, site));
            }
            "notify_one" | "notify_all" => return Some(self.unknown(vec![address], Effect::None, Ty::Void, site)),
            _ => return None,
        };
        let values = args.get(..values)?;
        Some(self.atomic((op, scope), true, address, &of, values, site))
    }

    /// The address behind an atomic, the type of its number, and who sees it change at once.
    fn atomic_target(&mut self, object: &Out) -> Option<(code::ExprId, Ty, Scope)> {
        let of = atomic_of(&object.ty)?;
        let address = match &object.ty {
            ty if is_atomic_reference(ty) => self.load(object),
            ty if is_atomic(ty) => self.address(object),
            _ => return None,
        };
        Some((address, of, atomic_scope(&object.ty)))
    }

    /// An atomic used as its number.
    pub(super) fn atomic_value(&mut self, object: &Out) -> Option<Out> {
        let (address, of, scope) = self.atomic_target(object)?;
        Some(self.atomic((AtomicOp::Load, scope), true, address, &of, &[], object.site))
    }

    /// `a = v`, `a += v`, `++a` and `a++` of an atomic; the last gives the number that was there before.
    pub(super) fn atomic_operator(
        &mut self,
        op: Option<code::BinaryOp>,
        object: &Out,
        value: &Out,
        before: bool,
        site: Site,
    ) -> Option<Out> {
        use code::BinaryOp;
        let atomic = match op {
            None => AtomicOp::Store,
            Some(BinaryOp::Add) => AtomicOp::Add,
            Some(BinaryOp::Sub) => AtomicOp::Sub,
            Some(BinaryOp::And) => AtomicOp::And,
            Some(BinaryOp::Or) => AtomicOp::Or,
            Some(BinaryOp::Xor) => AtomicOp::Xor,
            Some(_) => return None,
        };
        let (address, of, scope) = self.atomic_target(object)?;
        let old = self.atomic((atomic, scope), true, address, &of, std::slice::from_ref(value), site);
        Some(match op {
            Some(op) if !before => self.binary(op, &old, value, site),
            _ => old,
        })
    }

    fn collective_method(&mut self, what: Intrinsic, object: &Out, name: &str, args: &[Out], site: Site) -> Out {
        let mut operands = vec![self.load(object)];
        let value = matches!(name, "Sum" | "Reduce" | "Max" | "Min" | "HeadSegmentedSum" | "TailSegmentedSum");
        let scan = matches!(&object.ty, Ty::Library(of, _) if of.contains("Scan"));
        let mut written = Vec::new();
        for (index, arg) in args.iter().enumerate() {
            if matches!(arg.ty, Ty::Record(..) | Ty::Library(..)) && matches!(arg.at, At::Value(_)) {
                continue;
            }
            operands.push(self.escape(arg));
            // The input of a scan is taken by value.
            let input = scan && index == 0 && super::convert::is_scalar(&arg.ty);
            let place = !matches!(arg.at, At::Value(_)) || matches!(arg.ty, Ty::Pointer(_));
            if !value && !input && place {
                written.push(arg.clone());
            }
        }
        let ty = match (&object.ty, value) {
            (Ty::Library(_, known), true) => match known.first() {
                Some(Argument::Type(ty)) => ty.clone(),
                _ => args.first().map_or(Ty::Unknown, |arg| arg.ty.decayed()),
            },
            _ => Ty::Void,
        };
        let result = if moves_directly(&object.ty) {
            self.unknown(operands, Effect::None, ty, site)
        } else {
            self.intrinsic(what, operands, ty, site)
        };
        if written.is_empty() {
            return result;
        }
        let mut parts = vec![self.load(&result)];
        for target in written {
            let id = if matches!(target.ty, Ty::Array(..) | Ty::Pointer(_)) {
                let address = self.load(&target);
                self.push(Expr::Opaque { children: vec![address], effect: Effect::Writes }, code::Ty::Void, site)
            } else {
                let ty = self.ty(&target.ty);
                let value = self.push(Expr::Opaque { children: Vec::new(), effect: Effect::None }, ty, site);
                let stored = self.store(&target, value);
                self.load(&stored)
            };
            parts.push(id);
        }
        let id = self.push(Expr::Sequence(parts), code::Ty::Void, site);
        self.computed(id, Ty::Void, site)
    }
}
