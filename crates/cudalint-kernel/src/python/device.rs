//! What `numba.cuda` and `cupyx.jit` offer inside a kernel: indices, barriers, warp operations, atomics, arrays.

use super::calls::Arguments;
use super::lower::Lowerer;
use super::types::Fixed;
use super::value::Value;
use crate::code::{AtomicOp, BinaryOp, Builtin, Effect, Expr, ExprId, Intrinsic, Scope, Shuffle, Stmt, Ty, Vote};
use crate::report::Site;
use cudalint_program::api::ApiId;
use cudalint_program::api::effects::{Bits, DeviceOp, Number};
use cudalint_program::ir::Dialect;

impl Lowerer<'_> {
    fn cupy(&self) -> bool {
        self.dialect == Dialect::CupyJit
    }

    /// An operation of the executor as a value.
    pub(super) fn operation(&mut self, what: Intrinsic, operands: Vec<ExprId>, ty: Ty, site: Site) -> Value {
        let id = self.push(Expr::Intrinsic(what, operands), ty.clone(), site);
        match ty {
            Ty::Void => {
                self.emit(Stmt::Expr(id), site);
                Value::None
            }
            Ty::Opaque { .. } => Value::Opaque(id),
            ty => Value::Number(id, ty),
        }
    }

    /// What an operation of device code gives; `None` where its arguments are not understood.
    pub(super) fn device_function(
        &mut self,
        op: DeviceOp,
        api: ApiId,
        arguments: &Arguments,
        site: Site,
    ) -> Option<Value> {
        Some(match op {
            DeviceOp::Atomic { op, .. } => return self.atomic_function(op, api, arguments, site),
            DeviceOp::Shuffle { how, .. } => return self.shuffle(how, arguments, site),
            DeviceOp::WarpVote { how, .. } => return self.warp_vote(how, api, arguments, site),
            DeviceOp::Bits { what, .. } => return self.bits(what, arguments, site),
            DeviceOp::Grid { size } => return self.grid(arguments, size, site),
            DeviceOp::BlockVote(how) => return self.block_vote(how, arguments, site),
            DeviceOp::SharedArray => return self.shared_array(arguments, site),
            DeviceOp::LocalArray => return self.local_array(arguments, site),
            DeviceOp::SharedMemory => return self.shared_memory(arguments, site),
            DeviceOp::ConstantArray => return arguments.given.first().cloned(),
            DeviceOp::Range => return self.range(&arguments.given, site),
            DeviceOp::NextRandom => return self.random(api, arguments, site),
            DeviceOp::BlockBarrier => self.operation(Intrinsic::BlockBarrier, Vec::new(), Ty::Void, site),
            DeviceOp::WarpBarrier => {
                let mask = arguments.get(0, "mask").cloned().map(|mask| self.mask(&mask, site));
                self.operation(Intrinsic::WarpBarrier, mask.into_iter().collect(), Ty::Void, site)
            }
            DeviceOp::Fence(scope) => self.operation(Intrinsic::Fence(scope), Vec::new(), Ty::Void, site),
            DeviceOp::Lane => self.lane(Ty::UINT, site),
            DeviceOp::LanesBelow => {
                let Value::Number(lane, ty) = self.lane(Ty::UINT, site) else { return None };
                let one = self.push(Expr::Int(1), ty.clone(), site);
                let bit = self.push(Expr::Binary(BinaryOp::Shl, one, lane), ty.clone(), site);
                Value::Number(self.push(Expr::Binary(BinaryOp::Sub, bit, one), ty.clone(), site), ty)
            }
            DeviceOp::ActiveMask => self.operation(Intrinsic::ActiveMask, Vec::new(), Ty::UINT, site),
            DeviceOp::Nothing => {
                arguments.given.iter().for_each(|value| self.evaluate(value, site));
                Value::None
            }
            DeviceOp::Select => {
                let [test, a, b] = arguments.given.as_slice() else { return None };
                let (test, a, b) = (self.truth(test, site), a.clone(), b.clone());
                self.choice(test, (Vec::new(), a), (Vec::new(), b), site)
            }
            DeviceOp::MultiplyAdd => {
                let [a, b, c] = arguments.given.as_slice() else { return None };
                let product = self.binary(BinaryOp::Mul, a, b, site);
                self.binary(BinaryOp::Add, &product, c, site)
            }
            DeviceOp::ThisGrid => Value::Fixed(Fixed::Grid),
            DeviceOp::ThisBlock => Value::Fixed(Fixed::Block),
            DeviceOp::GroupBarrier => {
                let group = arguments.given.first()?.clone();
                return self.group_method(&group, "sync", site);
            }
            _ => return None,
        })
    }

    /// A number of a type, or what is not known of it.
    fn number_as(&mut self, value: &Value, ty: &Ty, site: Site) -> ExprId {
        match value {
            Value::Number(id, from) => self.convert(*id, from, ty),
            other => {
                let mut children = Vec::new();
                other.leaves(&mut children);
                self.push(Expr::Opaque { children, effect: Effect::None }, ty.clone(), site)
            }
        }
    }

    fn mask(&mut self, value: &Value, site: Site) -> ExprId {
        self.number_as(value, &Ty::UINT, site)
    }

    /// `cuda.grid(n)`: Numba computes with 64 bits, `cupyx.jit` with `unsigned`.
    fn grid(&mut self, arguments: &Arguments, size: bool, site: Site) -> Option<Value> {
        let axes = match arguments.get(0, "ndim")? {
            Value::Number(id, _) => self.fold(*id)?,
            _ => return None,
        };
        let ty = if self.cupy() { Ty::UINT } else { Ty::LONG };
        let mut all = Vec::new();
        for axis in 0..u8::try_from(axes).ok().filter(|axes| (1..=3).contains(axes))? {
            let mut builtin = |which: Builtin| self.push(Expr::Builtin(which), ty.clone(), site);
            let (first, second) = if size {
                (builtin(Builtin::BlockDim(axis)), builtin(Builtin::GridDim(axis)))
            } else {
                (builtin(Builtin::BlockIdx(axis)), builtin(Builtin::BlockDim(axis)))
            };
            let thread = builtin(Builtin::ThreadIdx(axis));
            let mut value = self.push(Expr::Binary(BinaryOp::Mul, first, second), ty.clone(), site);
            if !size {
                value = self.push(Expr::Binary(BinaryOp::Add, value, thread), ty.clone(), site);
            }
            all.push(Value::Number(value, ty.clone()));
        }
        Some(if axes == 1 { all.swap_remove(0) } else { Value::Tuple(all) })
    }

    fn block_vote(&mut self, vote: Vote, arguments: &Arguments, site: Site) -> Option<Value> {
        let value = arguments.given.first()?.clone();
        let value = self.number_as(&value, &Ty::INT, site);
        Some(self.effectful(Intrinsic::BlockVote(vote), vec![value], Ty::INT, site))
    }

    /// An operation whose value may go unused, done once and now.
    fn effectful(&mut self, what: Intrinsic, operands: Vec<ExprId>, ty: Ty, site: Site) -> Value {
        let value = self.operation(what, operands, ty, site);
        self.settled(&value)
    }

    fn bits(&mut self, what: Bits, arguments: &Arguments, site: Site) -> Option<Value> {
        let Value::Number(id, ty) = arguments.given.first()? else { return None };
        let (id, from) = (*id, ty.clone());
        let Ty::Int { bytes, .. } = from else { return None };
        let operand = self.convert(id, &from, &Ty::Int { bytes, signed: false });
        let ty = match what {
            Bits::PopCount | Bits::LeadingZeros => from,
            Bits::FirstSet => Ty::UINT,
            Bits::ReverseBits => Ty::Int { bytes: bytes.max(4), signed: false },
            // No package of Python has the others.
            _ => return None,
        };
        Some(self.operation(Intrinsic::Bits(what), vec![operand], ty, site))
    }

    /// `float32x4(a, b, c, d)`, also of shorter vectors in a row.
    pub(super) fn vector(&mut self, name: &str, arguments: &Arguments, site: Site) -> Option<Value> {
        let (element, count) = super::types::vector(name)?;
        let mut parts = Vec::new();
        for value in &arguments.given {
            match value {
                Value::Tuple(all) => parts.extend(all.iter().cloned()),
                other => parts.push(other.clone()),
            }
        }
        if let [one] = parts.as_slice() {
            let one = self.settled(&one.clone());
            parts = vec![one; count];
        }
        if parts.len() != count {
            return None;
        }
        let numbers = parts.iter().map(|part| Value::Number(self.number_as(part, &element, site), element.clone()));
        Some(Value::Tuple(numbers.collect()))
    }

    /// `xoroshiro128p_uniform_float32(states, index)` and its kin read and write one state.
    fn random(&mut self, api: ApiId, arguments: &Arguments, site: Site) -> Option<Value> {
        let ty = if api.gives == Some(Number::Double) { super::types::DOUBLE } else { super::types::FLOAT };
        let [Value::Array(states), index] = arguments.given.as_slice() else { return None };
        let (address, element) = self.element_address(&states.clone(), std::slice::from_ref(&index.clone()), site)?;
        let address = self.settle(address);
        let before = self.push(Expr::Read(Self::memory(address, &element)), element.clone(), site);
        let after = self.push(Expr::Opaque { children: vec![before], effect: Effect::None }, element.clone(), site);
        let write = self.push(Expr::Write(Self::memory(address, &element), after), element, site);
        self.emit(Stmt::Expr(write), site);
        let value = self.push(Expr::Opaque { children: Vec::new(), effect: Effect::None }, ty.clone(), site);
        Some(self.settled(&Value::Number(value, ty)))
    }

    fn shuffle(&mut self, kind: Shuffle, arguments: &Arguments, site: Site) -> Option<Value> {
        let [mask, value, lane] = arguments.given.as_slice() else { return None };
        let Value::Number(number, ty) = value else { return None };
        let (number, ty) = (*number, ty.clone());
        let mut operands = vec![self.mask(&mask.clone(), site), number];
        operands.push(self.number_as(&lane.clone(), &Ty::INT, site));
        if let Some(width) = arguments.get(3, "width").cloned() {
            operands.push(self.number_as(&width, &Ty::INT, site));
        }
        Some(self.effectful(Intrinsic::Shuffle { kind, masked: true }, operands, ty, site))
    }

    fn warp_vote(&mut self, kind: Vote, api: ApiId, arguments: &Arguments, site: Site) -> Option<Value> {
        let ty = match kind {
            Vote::All | Vote::Any => Ty::Bool,
            Vote::Ballot => Ty::UINT,
            _ if api.gives == Some(Number::Bool) => Ty::Bool,
            _ => Ty::INT,
        };
        let [mask, value] = arguments.given.as_slice() else { return None };
        let mask = self.mask(&mask.clone(), site);
        let value = match value {
            Value::Number(id, from) if matches!(kind, Vote::Any | Vote::All | Vote::Ballot) => {
                self.convert(*id, &from.clone(), &Ty::INT)
            }
            Value::Number(id, _) => *id,
            other => self.number_as(&other.clone(), &Ty::INT, site),
        };
        let vote = self.effectful(Intrinsic::WarpVote { kind, masked: true }, vec![mask, value], ty, site);
        if let (Vote::Ballot, Value::Number(id, from)) = (kind, &vote) {
            return Some(Value::Number(self.convert(*id, &from.clone(), &Ty::INT), Ty::INT));
        }
        if kind == Vote::MatchAll {
            let predicate = self.push(Expr::Opaque { children: Vec::new(), effect: Effect::None }, Ty::Bool, site);
            let predicate = self.settled(&Value::Number(predicate, Ty::Bool));
            return Some(Value::Tuple(vec![vote, predicate]));
        }
        Some(vote)
    }

    /// `cuda.atomic.add(array, index, value)` and its kin; `cupyx.jit.atomic_add` has the same operands.
    fn atomic_function(&mut self, op: AtomicOp, api: ApiId, arguments: &Arguments, site: Site) -> Option<Value> {
        let (array, index, values) = match arguments.given.as_slice() {
            // Of the first element.
            [array, values @ ..] if api.parameter("idx").is_none() => {
                (array.clone(), self.integer(0, Ty::LONG, site), values.to_vec())
            }
            [array, index, values @ ..] => (array.clone(), index.clone(), values.to_vec()),
            _ => return None,
        };
        let found = match &array {
            Value::Array(array) => self.element_address(array, &[index], site),
            _ => None,
        };
        let Some((address, element)) = found else {
            let within = match &array {
                Value::Array(array) => Some(array.as_ref()),
                _ => None,
            };
            self.lost_store("atomic on what is not known", within, &arguments.given[1..], site);
            return Some(self.unknown(Vec::new(), Effect::None, site));
        };
        let bytes = element.bytes().and_then(|bytes| u8::try_from(bytes).ok());
        let mut operands = vec![address];
        for value in &values {
            operands.push(self.number_as(value, &element, site));
        }
        let Some(bytes) = bytes else {
            let Value::Array(array) = &array else { return None };
            self.lost_store("element of unknown size", Some(array), &values, site);
            return Some(self.unknown(Vec::new(), Effect::None, site));
        };
        Some(self.effectful(
            Intrinsic::Atomic { op, scope: Scope::Device, bytes, ordered: false },
            operands,
            element,
            site,
        ))
    }

    /// A method of a group of threads.
    pub(super) fn group_method(&mut self, group: &Value, name: &str, site: Site) -> Option<Value> {
        use crate::code::Group;
        let (grid, kind) = match group {
            Value::Fixed(Fixed::Grid) => (true, Group::Grid),
            Value::Fixed(Fixed::Block) => (false, Group::Block),
            _ => return None,
        };
        match name {
            "sync" if grid => {
                let sync = self.operation(Intrinsic::GridBarrier, Vec::new(), Ty::Void, site);
                drop(sync);
                Some(self.integer(0, Ty::INT, site))
            }
            "sync" => Some(self.operation(Intrinsic::BlockBarrier, Vec::new(), Ty::Void, site)),
            "thread_index" | "group_index" | "dim_threads" | "group_dim" | "dim_blocks" | "block_index" => {
                let of = |axis| match name {
                    "thread_index" => Builtin::ThreadIdx(axis),
                    "group_index" | "block_index" => Builtin::BlockIdx(axis),
                    "dim_blocks" => Builtin::GridDim(axis),
                    "group_dim" if grid => Builtin::GridDim(axis),
                    _ => Builtin::BlockDim(axis),
                };
                let axes =
                    (0..3).map(|axis| Value::Number(self.push(Expr::Builtin(of(axis)), Ty::UINT, site), Ty::UINT));
                Some(Value::Tuple(axes.collect()))
            }
            "thread_rank" => Some(self.operation(Intrinsic::GroupRank(kind), Vec::new(), Ty::SIZE, site)),
            "num_threads" | "size" => Some(self.operation(Intrinsic::GroupSize(kind), Vec::new(), Ty::SIZE, site)),
            _ => None,
        }
    }
}
