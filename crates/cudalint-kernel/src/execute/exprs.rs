//! Expressions, and calls of functions in sight.

use super::access::unknown_of;
use super::control::DEEPEST;
use super::lanes::{Lanes, Mask, OFF};
use super::machine::Machine;
use super::state::{Divergence, Open};
use super::touch::Touch;
use super::value::{Data, KNOWN, NUMBER, Shape, Val, mix, pointer};
use super::{convert, ops};
use crate::code::{BinaryOp, Builtin, Effect, Expr, ExprId, Place, Ty, VariableId};
use crate::report::AccessKind;

impl Machine<'_> {
    /// The value of an expression in the active lanes.
    pub(super) fn eval(&mut self, id: ExprId) -> Val {
        if self.depth >= DEEPEST {
            self.stop("nesting too deep");
        }
        // Each costs an operation or more, but for a few that do nothing; parts that several expressions share are met again and again.
        self.evaluated += 1;
        if self.evaluated > 2 * self.budget.lane_operations + 50_000 && !self.stopped {
            self.stop("budget spent");
        }
        if self.act.is_empty() {
            return Val::unknown();
        }
        self.depth += 1;
        let code = self.code;
        let node = code.expr(id);
        let value = match &node.kind {
            Expr::Int(value) => Val::constant(*value),
            Expr::Float(value) => Val::constant(value.to_bits() as i64),
            Expr::Builtin(builtin) => self.builtin(*builtin),
            Expr::Read(place) => self.read(id, place, &node.ty, AccessKind::Read).0,
            Expr::Write(place, value) => self.assign(id, place, *value),
            Expr::Update { place, op, value, compute, old } => self.update(id, place, *op, *value, compute, *old),
            Expr::VariableAddress(variable) => self.address_of(*variable),
            Expr::ObjectAddress(object) => {
                let id = self.statics.get(object.index()).copied().unwrap_or_default();
                if id == 0 { Val::unknown() } else { Val::constant(pointer(id, 0)) }
            }
            Expr::Offset { base, index, stride } => {
                let base = self.eval(*base);
                let index = self.eval(*index);
                self.spend_on(&[&base, &index]);
                self.note_index(id, &base, &index, *stride);
                convert::offset(&base, &index, *stride, &self.act)
            }
            Expr::Unary(op, operand) => {
                let operand = self.eval(*operand);
                self.spend_on(&[&operand]);
                ops::negate(*op, &node.ty, &operand, &self.act)
            }
            Expr::Not(operand) => {
                let operand = self.eval(*operand);
                self.spend_on(&[&operand]);
                ops::unary(&operand, &self.act, 11, |x| Some(i64::from(x == 0)))
            }
            Expr::Binary(op, a, b) => self.binary(id, *op, *a, *b),
            Expr::And(a, b) => self.short(*a, *b, true),
            Expr::Or(a, b) => self.short(*a, *b, false),
            Expr::Select(condition, a, b) => self.select(*condition, *a, *b),
            Expr::Convert(operand) => {
                let from = &code.expr(*operand).ty;
                let operand = self.eval(*operand);
                if from == &node.ty {
                    operand
                } else {
                    self.spend_on(&[&operand]);
                    match &node.ty {
                        ty @ Ty::Aggregate(_) => unknown_of(ty),
                        ty => convert::convert(from, ty, &operand, &self.act, id),
                    }
                }
            }
            Expr::Aggregate(parts) => self.aggregate(parts, &node.ty),
            Expr::Leaves { of, first, count } => {
                let of = self.eval(*of);
                leaves_of(&of, usize::from(*first), usize::from(*count), matches!(node.ty, Ty::Aggregate(_)))
            }
            Expr::Call(function, arguments) => self.call(id, *function, arguments),
            Expr::Intrinsic(intrinsic, operands) => self.intrinsic(id, intrinsic, operands),
            Expr::Sequence(parts) => {
                let mut last = Val::unknown();
                for &part in parts {
                    last = self.eval(part);
                }
                last
            }
            Expr::Statements(block, value) => {
                self.run_block(block);
                value.map_or_else(Val::unknown, |value| self.eval(value))
            }
            Expr::Opaque { children, effect } => self.opaque(children, *effect, &node.ty),
        };
        self.depth -= 1;
        value
    }

    /// Counts an operation on these operands.
    pub(super) fn spend_on(&mut self, operands: &[&Val]) {
        let lanes = operands.iter().any(|operand| operand.varies());
        self.spend(if lanes { self.n as u64 } else { 4 });
    }

    fn builtin(&self, builtin: Builtin) -> Val {
        let at = |sizes: [u32; 3], axis: u8| i64::from(sizes.get(usize::from(axis)).copied().unwrap_or_default());
        match builtin {
            Builtin::ThreadIdx(axis) => {
                let value = self.thread_index.get(usize::from(axis)).cloned().unwrap_or_else(Val::unknown);
                Val { shape: Shape::Thread(axis), ..value }
            }
            Builtin::BlockIdx(axis) => Val { shape: Shape::Block(axis), ..Val::known(at(self.block, axis)) },
            Builtin::BlockDim(axis) => Val { shape: Shape::Dim(axis), ..Val::known(at(self.launch.block, axis)) },
            Builtin::GridDim(axis) => match at(self.launch.grid, axis) {
                0 => Val::number(mix(0x6d1e, u64::from(axis))),
                blocks => Val::known(blocks),
            },
            Builtin::WarpSize => Val::constant(32),
        }
    }

    fn address_of(&mut self, variable: VariableId) -> Val {
        match self.variable_object(variable) {
            0 => Val::unknown(),
            id => Val::known(pointer(id, 0)),
        }
    }

    /// The value at a place, and the address for those that store there afterwards.
    fn read(&mut self, at: ExprId, place: &Place, ty: &Ty, kind: AccessKind) -> (Val, Option<Val>) {
        match place {
            Place::Register { variable, first, count } => {
                let slot = self.frames.last().and_then(|frame| frame.slots.get(*variable));
                let value = slot.map_or_else(Val::unknown, |slot| slot.value.clone());
                if *count == 0 {
                    let value = if matches!(value.data, Data::Undefined) { unknown_of(ty) } else { value };
                    return (value, None);
                }
                (leaves_of(&value, usize::from(*first), usize::from(*count), matches!(ty, Ty::Aggregate(_))), None)
            }
            Place::Memory { address, element, volatile } => {
                let address = self.eval(*address);
                let touch = Touch { element: *element, volatile: *volatile, ..Touch::plain(at, kind, ty) };
                let value = self.load(touch, &address);
                let value = if self.launch.reads.is_empty() { value } else { self.chosen(at, ty, &address, value) };
                (value, Some(address))
            }
        }
    }

    /// The number that is chosen for a read, where what is read is not known and all threads read it at one place.
    fn chosen(&self, at: ExprId, ty: &Ty, address: &Val, value: Val) -> Val {
        let number = self.launch.reads.iter().find(|(read, _)| *read == at.index()).map(|(_, number)| *number);
        let one_place = matches!(address.alike(), Some((_, KNOWN)));
        match (number, value.alike()) {
            (Some(number), Some((_, tag))) if tag != KNOWN && one_place => Val::known(ty.wrap(number)),
            _ => value,
        }
    }

    /// Stores a value at a place whose address, where it has one, has been computed.
    fn write(&mut self, at: ExprId, place: &Place, ty: &Ty, address: Option<&Val>, value: &Val, kind: AccessKind) {
        match place {
            Place::Register { variable, first, count } => {
                self.write_register(*variable, usize::from(*first), usize::from(*count), value);
            }
            Place::Memory { element, volatile, .. } => {
                let touch = Touch { element: *element, volatile: *volatile, ..Touch::plain(at, kind, ty) };
                if let Some(address) = address {
                    self.store(touch, address, value);
                }
            }
        }
    }

    fn write_register(&mut self, variable: VariableId, first: usize, count: usize, value: &Val) {
        let act = self.act.clone();
        let leaves = self.leaf_count(variable);
        let Some(slot) = self.frames.last_mut().and_then(|frame| frame.slots.get_mut(variable)) else { return };
        let all = act.count() == slot.declared;
        let put = |old: &Val, new: &Val| if all { new.clone() } else { old.blended(new, &act) };
        if count == 0 {
            slot.value = match (&slot.value.data, &value.data) {
                (Data::Undefined, Data::Aggregate(new)) if !all => {
                    Val::aggregate(vec![Val::unknown(); new.len()]).blended(value, &act)
                }
                _ => put(&slot.value, value),
            };
            return;
        }
        let mut parts = match &slot.value.data {
            Data::Aggregate(parts) => parts.as_ref().clone(),
            _ => vec![Val::undefined(); leaves],
        };
        for (number, part) in parts.iter_mut().skip(first).take(count).enumerate() {
            let new = match &value.data {
                Data::Aggregate(new) => new.get(number).cloned().unwrap_or_else(Val::unknown),
                _ if count == 1 => value.clone(),
                _ => Val::unknown(),
            };
            *part = put(part, &new);
        }
        slot.value = Val::aggregate(parts);
    }

    fn leaf_count(&self, variable: VariableId) -> usize {
        let function = self.frames.last().map(|frame| frame.function);
        let info = function.and_then(|f| self.code.functions.get(f)).and_then(|f| f.variables.get(variable));
        match info.map(|info| &info.ty) {
            Some(Ty::Aggregate(layout)) => layout.leaves.len(),
            _ => 1,
        }
    }

    fn assign(&mut self, id: ExprId, place: &Place, value: ExprId) -> Val {
        let ty = &self.code.expr(id).ty;
        let value = self.eval(value);
        let address = match place {
            Place::Register { .. } => None,
            Place::Memory { address, .. } => Some(self.eval(*address)),
        };
        if !self.act.is_empty() {
            self.write(id, place, ty, address.as_ref(), &value, AccessKind::Write);
        }
        value
    }

    fn update(&mut self, id: ExprId, place: &Place, op: BinaryOp, value: ExprId, compute: &Ty, old: bool) -> Val {
        let ty = &self.code.expr(id).ty;
        let right = self.eval(value);
        let (before, address) = self.read(id, place, ty, AccessKind::UpdateRead);
        self.spend_on(&[&before, &right]);
        let after = if *compute == Ty::Pointer || *ty == Ty::Pointer {
            let step = if op == BinaryOp::Sub {
                ops::negate(crate::code::UnaryOp::Minus, &Ty::LONG, &right, &self.act)
            } else {
                right
            };
            convert::offset(&before, &step, 1, &self.act)
        } else {
            let left = convert::convert(ty, compute, &before, &self.act, id);
            let result = ops::binary(op, compute, &left, &right, &self.act, id);
            let result = self.product(op, compute, &left, &right, result);
            convert::convert(compute, ty, &result, &self.act, id)
        };
        if !self.act.is_empty() {
            self.write(id, place, ty, address.as_ref(), &after, AccessKind::UpdateWrite);
        }
        if old { before } else { after }
    }

    fn binary(&mut self, id: ExprId, op: BinaryOp, a: ExprId, b: ExprId) -> Val {
        let operands = &self.code.expr(a).ty;
        let a = self.eval(a);
        let b = self.eval(b);
        self.spend_on(&[&a, &b]);
        self.note_distance(id, op, &a, &b);
        let value = ops::binary(op, operands, &a, &b, &self.act, id);
        match op {
            BinaryOp::Add => self.note_sum(id, &a, &b),
            _ if op.is_comparison() => return self.relaxed(id, op, (&a, &b), value, false),
            _ => {}
        }
        self.product(op, operands, &a, &b, value)
    }

    /// Evaluates under a narrower mask; what it assigns in lanes of `unknown` is not known afterwards.
    fn narrowed(&mut self, at: ExprId, here: Mask, unknown: &Mask, open: Option<Open>, run: ExprId) -> Val {
        let saved = std::mem::replace(&mut self.act, here);
        let splits = self.splits.len();
        let guards = self.guards.len();
        let inner = self.act.clone();
        self.push_split(at, &saved, &inner);
        if inner.count() < saved.count() || !unknown.is_empty() {
            self.guard(at, if unknown.is_empty() { Divergence::None } else { Divergence::Other });
            self.guards.last_mut().into_iter().for_each(|guard| guard.open = open);
        }
        let assigned = if unknown.is_empty() { [].into() } else { self.scan.assigned_in(self.code, run) };
        let before = self.snapshot(&assigned);
        let value = self.eval(run);
        if !assigned.is_empty() {
            self.each_register(&assigned, |number, value| value.agreed(&before[number], unknown));
        }
        self.splits.truncate(splits);
        self.guards.truncate(guards);
        self.act = self.restored(&saved);
        value
    }

    /// Evaluates what all active lanes go on to, as the condition decided for each of them.
    fn guarded(&mut self, condition: ExprId, value: &Val, run: ExprId) -> Val {
        let guards = self.guards.len();
        if value.varies() {
            self.guard(condition, Divergence::None);
        }
        let value = self.eval(run);
        self.guards.truncate(guards);
        value
    }

    /// `a && b` (`and`) and `a || b`.
    fn short(&mut self, a: ExprId, b: ExprId, and: bool) -> Val {
        let left = self.eval(a);
        self.decides(&left, |scan, code| scan.nature_in(code, b).computes());
        let parting = self.part(&left);
        let (go, skip) = if and { (parting.yes, parting.no) } else { (parting.no, parting.yes) };
        if go.is_empty() {
            return left;
        }
        if skip.is_empty() {
            return self.guarded(a, &left, b);
        }
        let open = self.open(a, &left).filter(|_| !parting.unknown.is_empty());
        let open = open.map(|open| Open { negated: !and, ..open });
        let right = self.narrowed(a, go, &parting.unknown, open, b);
        self.spend_on(&[&left, &right]);
        let n = self.n;
        let decided = i64::from(!and);
        if left.all_known() && right.all_known() {
            let (left, right) = (left.view(), right.view());
            let bits =
                Lanes::from_fn(n, |lane| if left.lane(lane).0 == decided { decided } else { right.lane(lane).0 });
            return Val::lanes(bits);
        }
        let (levels, left, right) = (self.act.levels(), left.view(), right.view());
        Val::from_lanes(n, |lane| {
            if levels[lane] == OFF {
                return (0, KNOWN);
            }
            match (left.lane(lane), right.lane(lane)) {
                ((x, KNOWN), right) => {
                    if x == decided {
                        (decided, KNOWN)
                    } else {
                        right
                    }
                }
                (_, (y, KNOWN)) if y == decided => (decided, KNOWN),
                ((x, NUMBER), (y, s @ (KNOWN | NUMBER))) => {
                    (mix(mix(x as u64, y as u64), 40 + u64::from(s) * 2 + u64::from(and)) as i64, NUMBER)
                }
                _ => (0, super::value::UNKNOWN),
            }
        })
    }

    fn select(&mut self, condition: ExprId, a: ExprId, b: ExprId) -> Val {
        let value = self.eval(condition);
        self.decides(&value, |scan, code| [a, b].into_iter().all(|side| scan.nature_in(code, side).computes()));
        let parting = self.part(&value);
        if parting.no.is_empty() {
            return self.guarded(condition, &value, a);
        }
        if parting.yes.is_empty() {
            return self.guarded(condition, &value, b);
        }
        let unknown = parting.unknown;
        let open = self.open(condition, &value).filter(|_| !unknown.is_empty());
        let yes = self.narrowed(condition, parting.yes.clone(), &unknown, open, a);
        let negated = open.map(|open| Open { negated: true, ..open });
        let no = self.narrowed(condition, parting.no, &unknown, negated, b);
        self.spend_on(&[&value]);
        let mut result = no.blended(&yes, &parting.yes);
        if !unknown.is_empty() {
            result = result.agreed(&no, &unknown);
        }
        result
    }

    fn aggregate(&mut self, parts: &[ExprId], ty: &Ty) -> Val {
        let mut leaves = Vec::new();
        for &part in parts {
            let wide = match &self.code.expr(part).ty {
                Ty::Aggregate(layout) => layout.leaves.len(),
                _ => 1,
            };
            let value = self.eval(part);
            match value.data {
                Data::Aggregate(inner) => leaves.extend(inner.iter().cloned()),
                _ if wide == 1 => leaves.push(value),
                _ => leaves.extend(vec![Val::unknown(); wide]),
            }
        }
        match ty {
            Ty::Aggregate(layout) if layout.leaves.len() == leaves.len() => Val::aggregate(leaves),
            ty => unknown_of(ty),
        }
    }

    fn opaque(&mut self, children: &[ExprId], effect: Effect, ty: &Ty) -> Val {
        let values: Vec<Val> = children.iter().map(|&child| self.eval(child)).collect();
        if let Effect::Pure(function) = effect {
            return self.pure(&values, function, ty);
        }
        self.muddles();
        if effect != Effect::None {
            self.cause("call out of sight");
            for value in &values {
                self.seen_outside(value);
            }
            self.published();
        }
        self.suffer(effect, &values);
        unknown_of(ty)
    }

    /// A name for the value of a function that nobody computes but that depends on its operands only.
    pub(super) fn pure(&mut self, operands: &[Val], function: u32, ty: &Ty) -> Val {
        if operands.iter().any(|v| v.is_unknown() || matches!(v.data, Data::Aggregate(_)))
            || matches!(ty, Ty::Aggregate(_))
        {
            return unknown_of(ty);
        }
        let salt = mix(u64::from(function), mix(500, super::symbols::class(ty)));
        let name = |lane: usize| {
            let mut name = salt;
            for operand in operands {
                let (bits, tag) = operand.lane(lane);
                if tag > NUMBER {
                    return (0, tag);
                }
                name = mix(name, mix(bits as u64, u64::from(tag)));
            }
            (name as i64, NUMBER)
        };
        if operands.iter().any(Val::varies) {
            self.spend(self.n as u64);
            if operands.iter().any(|operand| matches!(operand.alike(), Some((_, super::value::UNKNOWN)))) {
                return Val::alike_in(self.n, 0, super::value::UNKNOWN);
            }
            return Val::from_lanes(self.n, |lane| {
                let (name, tag) = name(lane);
                (name, tag.min(super::value::UNKNOWN))
            });
        }
        let (bits, tag) = name(0);
        Data::Uniform(bits, tag.min(super::value::UNKNOWN)).into()
    }
}

/// Some leaves of an aggregate.
fn leaves_of(of: &Val, first: usize, count: usize, aggregate: bool) -> Val {
    match &of.data {
        Data::Aggregate(parts) if !aggregate && count <= 1 => parts.get(first).map_or_else(Val::unknown, |part| {
            if matches!(part.data, Data::Undefined) { Val::unknown() } else { part.clone() }
        }),
        Data::Aggregate(parts) => {
            let part = |at: usize| parts.get(at).cloned().unwrap_or_else(Val::unknown);
            Val::aggregate((first..first + count).map(part).collect())
        }
        _ if aggregate => Val::aggregate(vec![Val::unknown(); count]),
        _ if count <= 1 && first == 0 => of.clone(),
        _ => Val::unknown(),
    }
}
