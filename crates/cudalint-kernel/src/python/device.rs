//! What `numba.cuda` and `cupyx.jit` offer inside a kernel: indices, barriers, warp operations, atomics, arrays.

use super::calls::Arguments;
use super::lower::Lowerer;
use super::types::Fixed;
use super::value::Value;
use crate::code::{AtomicOp, BinaryOp, Builtin, Effect, Expr, ExprId, Intrinsic, Scope, Shuffle, Stmt, Ty, Vote};
use crate::report::Site;
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

    /// A call of `package.name`, where the package is one of those for kernels; `None` where it has no such function.
    pub(super) fn device_function(
        &mut self,
        package: &str,
        name: &str,
        arguments: &Arguments,
        site: Site,
    ) -> Option<Value> {
        if package.ends_with(".atomic") || name.starts_with("atomic_") {
            return self.atomic_function(name.strip_prefix("atomic_").unwrap_or(name), arguments, site);
        }
        if package.rsplit('.').next() == Some("cg") {
            return self.group_function(name, arguments, site);
        }
        match (package.rsplit('.').next().unwrap_or_default(), name) {
            ("shared", "array") => return self.shared_array(arguments, site),
            ("local", "array") => return self.local_array(arguments, site),
            ("const", "array_like") => return arguments.given.first().cloned(),
            (_, "shared_memory") if self.cupy() => return self.shared_memory(arguments, site),
            _ => {}
        }
        match name {
            "grid" => self.grid(arguments, false, site),
            "gridsize" => self.grid(arguments, true, site),
            "syncthreads" => Some(self.operation(Intrinsic::BlockBarrier, Vec::new(), Ty::Void, site)),
            "syncthreads_count" => self.block_vote(Vote::Count, arguments, site),
            "syncthreads_and" => self.block_vote(Vote::All, arguments, site),
            "syncthreads_or" => self.block_vote(Vote::Any, arguments, site),
            "syncwarp" => {
                let mask = arguments.get(0, "mask").cloned().map(|mask| self.mask(&mask, site));
                Some(self.operation(Intrinsic::WarpBarrier, mask.into_iter().collect(), Ty::Void, site))
            }
            "threadfence" => Some(self.operation(Intrinsic::Fence(Scope::Device), Vec::new(), Ty::Void, site)),
            "threadfence_block" => Some(self.operation(Intrinsic::Fence(Scope::Block), Vec::new(), Ty::Void, site)),
            "threadfence_system" => Some(self.operation(Intrinsic::Fence(Scope::System), Vec::new(), Ty::Void, site)),
            "range" => self.range(&arguments.given, site),
            "laneid" if self.cupy() => Some(self.lane(Ty::UINT, site)),
            "nanosleep" => {
                arguments.given.iter().for_each(|value| self.evaluate(value, site));
                Some(Value::None)
            }
            "selp" => match arguments.given.as_slice() {
                [test, a, b] => {
                    let (test, a, b) = (self.truth(test, site), a.clone(), b.clone());
                    Some(self.choice(test, (Vec::new(), a), (Vec::new(), b), site))
                }
                _ => None,
            },
            "fma" => match arguments.given.as_slice() {
                [a, b, c] => {
                    let product = self.binary(BinaryOp::Mul, a, b, site);
                    Some(self.binary(BinaryOp::Add, &product, c, site))
                }
                _ => None,
            },
            "cbrt" => self.mathematics("math", "cbrt", arguments, site),
            "popc" | "clz" | "brev" | "ffs" => self.bits(name, arguments, site),
            _ if !self.cupy() && super::types::vector(name).is_some() => self.vector(name, arguments, site),
            _ if package.ends_with(".random") => self.random(name, arguments, site),
            _ => self.warp_function(name, arguments, site),
        }
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

    fn bits(&mut self, name: &str, arguments: &Arguments, site: Site) -> Option<Value> {
        let Value::Number(id, ty) = arguments.given.first()? else { return None };
        let (id, from) = (*id, ty.clone());
        let Ty::Int { bytes, .. } = from else { return None };
        let operand = self.convert(id, &from, &Ty::Int { bytes, signed: false });
        let (what, ty) = match name {
            "popc" => (Intrinsic::PopCount, from),
            "clz" => (Intrinsic::LeadingZeros, from),
            "ffs" => (Intrinsic::FirstSet, Ty::UINT),
            _ => (Intrinsic::ReverseBits, Ty::Int { bytes: bytes.max(4), signed: false }),
        };
        Some(self.operation(what, vec![operand], ty, site))
    }

    /// `float32x4(a, b, c, d)`, also of shorter vectors in a row.
    fn vector(&mut self, name: &str, arguments: &Arguments, site: Site) -> Option<Value> {
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
    fn random(&mut self, name: &str, arguments: &Arguments, site: Site) -> Option<Value> {
        let float = name.strip_prefix("xoroshiro128p_")?;
        let ty = if float.ends_with("float64") { super::types::DOUBLE } else { super::types::FLOAT };
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

    fn warp_function(&mut self, name: &str, arguments: &Arguments, site: Site) -> Option<Value> {
        let given = &arguments.given;
        if name == "activemask" {
            return Some(self.operation(Intrinsic::ActiveMask, Vec::new(), Ty::UINT, site));
        }
        if name == "lanemask_lt" {
            let Value::Number(lane, ty) = self.lane(Ty::UINT, site) else { return None };
            let one = self.push(Expr::Int(1), ty.clone(), site);
            let bit = self.push(Expr::Binary(BinaryOp::Shl, one, lane), ty.clone(), site);
            let below = self.push(Expr::Binary(BinaryOp::Sub, bit, one), ty.clone(), site);
            return Some(Value::Number(below, ty));
        }
        let shuffle = match name {
            "shfl_sync" => Some(Shuffle::Index),
            "shfl_up_sync" => Some(Shuffle::Up),
            "shfl_down_sync" => Some(Shuffle::Down),
            "shfl_xor_sync" => Some(Shuffle::Xor),
            _ => None,
        };
        if let Some(kind) = shuffle {
            let [mask, value, lane] = given.as_slice() else { return None };
            let Value::Number(number, ty) = value else { return None };
            let (number, ty) = (*number, ty.clone());
            let mut operands = vec![self.mask(&mask.clone(), site), number];
            operands.push(self.number_as(&lane.clone(), &Ty::INT, site));
            if let Some(width) = arguments.get(3, "width").cloned() {
                operands.push(self.number_as(&width, &Ty::INT, site));
            }
            return Some(self.effectful(Intrinsic::Shuffle { kind, masked: true }, operands, ty, site));
        }
        let (kind, ty) = match name {
            "all_sync" => (Vote::All, Ty::Bool),
            "any_sync" => (Vote::Any, Ty::Bool),
            "ballot_sync" => (Vote::Ballot, Ty::UINT),
            "match_any_sync" => (Vote::MatchAny, Ty::INT),
            "match_all_sync" => (Vote::MatchAll, Ty::INT),
            "eq_sync" => (Vote::Reduce, Ty::Bool),
            _ => return None,
        };
        let [mask, value] = given.as_slice() else { return None };
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
    fn atomic_function(&mut self, name: &str, arguments: &Arguments, site: Site) -> Option<Value> {
        let op = match name {
            "add" => AtomicOp::Add,
            "sub" => AtomicOp::Sub,
            "max" | "nanmax" => AtomicOp::Max,
            "min" | "nanmin" => AtomicOp::Min,
            "and_" | "and" => AtomicOp::And,
            "or_" | "or" => AtomicOp::Or,
            "xor" => AtomicOp::Xor,
            "inc" => AtomicOp::Inc,
            "dec" => AtomicOp::Dec,
            "exch" => AtomicOp::Exchange,
            "cas" | "compare_and_swap" => AtomicOp::CompareExchange,
            _ => return None,
        };
        let (array, index, values) = match arguments.given.as_slice() {
            [array, values @ ..] if name == "compare_and_swap" => {
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
        Some(self.effectful(Intrinsic::Atomic { op, scope: Scope::Device, bytes }, operands, element, site))
    }

    fn group_function(&mut self, name: &str, arguments: &Arguments, site: Site) -> Option<Value> {
        match name {
            "this_grid" => Some(Value::Fixed(Fixed::Grid)),
            "this_thread_block" => Some(Value::Fixed(Fixed::Block)),
            "sync" => {
                let group = arguments.given.first()?.clone();
                self.group_method(&group, "sync", site)
            }
            _ => None,
        }
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
