//! Expressions as sums over symbols.

use super::arithmetic::{is_exact, is_long};
use super::state::{Base, Kind, Refusal, State, Touch, Truth, Value, with_base};
use super::sums::{Fact, Sum};
use super::symbols::{Nature, Op, range};
use super::walk::{Walked, Walker};
use crate::code::{BinaryOp, Builtin, Effect, Expr, ExprId, FunctionId, ObjectSpace, Place, Ty, UnaryOp, VariableId};
use std::rc::Rc;

fn axis_of(of: &[Sum; 3], axis: u8) -> Sum {
    of.get(usize::from(axis)).cloned().unwrap_or_default()
}

impl Walker<'_> {
    /// The value of an expression; what it does is done.
    pub fn eval(&mut self, id: ExprId, state: &mut State) -> Walked<Value> {
        let node = self.code.expr(id);
        if state.dead {
            return Ok(self.own());
        }
        self.step(node.site)?;
        self.depth += 1;
        if self.depth > super::shape::MAX_DEPTH {
            return Err(Refusal { cause: "nested too deep", site: node.site });
        }
        let value = self.eval_of(id, state);
        self.depth -= 1;
        value
    }

    fn eval_of(&mut self, id: ExprId, state: &mut State) -> Walked<Value> {
        let node = self.code.expr(id);
        let site = node.site;
        Ok(match &node.kind {
            Expr::Int(0) if node.ty == Ty::Pointer => Value::Address(Base::Unknown, Sum::default()),
            Expr::Int(value) if node.ty == Ty::Bool => {
                let holds = Fact { sum: Sum::number(if *value == 0 { -1 } else { 0 }), zero: false };
                let not = Fact { sum: Sum::number(if *value == 0 { 0 } else { -1 }), zero: false };
                Value::Truth(Rc::new(Truth { yes: vec![holds], no: vec![not], nature: Nature::COMMON }))
            }
            Expr::Int(value) => Value::Number(Sum::number(*value)),
            Expr::Float(value) => self.pure(Op::Other(1, 0), &[Value::Number(bits(*value))], &node.ty),
            Expr::Builtin(builtin) => Value::Number(match builtin {
                Builtin::ThreadIdx(axis) => axis_of(&self.threads, *axis),
                Builtin::BlockIdx(axis) => axis_of(&self.blocks, *axis),
                Builtin::BlockDim(axis) => axis_of(&self.extents, *axis),
                Builtin::GridDim(axis) => axis_of(&self.grid, *axis),
                Builtin::WarpSize => Sum::number(32),
            }),
            Expr::Read(place) => self.read(id, place, state)?,
            Expr::Write(place, value) => {
                let address = self.address(place, state)?;
                let value = self.eval(*value, state)?;
                self.write(place, address.as_ref(), value.clone(), &node.ty, site, state)?;
                value
            }
            Expr::Update { place, op, value, compute, old } => {
                let address = self.address(place, state)?;
                let before = match &address {
                    Some(_) => self.of_type(&node.ty, Nature::OWN),
                    None => self.register(place, &node.ty, state),
                };
                let value = self.eval(*value, state)?;
                let result = if let Value::Address(..) = before {
                    // The value is in bytes.
                    match op {
                        BinaryOp::Add => self.moved(&before, &value, 1),
                        BinaryOp::Sub => self.moved(&before, &value, -1),
                        _ => self.of_type(&node.ty, Nature::OWN),
                    }
                } else {
                    let wide = self.converted(&before, &node.ty, compute, state);
                    let result = self.binary(*op, [&wide, &value], compute, compute, state);
                    self.converted(&result, compute, &node.ty, state)
                };
                self.write(place, address.as_ref(), result.clone(), &node.ty, site, state)?;
                if *old { before } else { result }
            }
            Expr::VariableAddress(_) => Value::Address(Base::Local, Sum::default()),
            Expr::ObjectAddress(object) => Value::Address(self.base(*object), Sum::default()),
            Expr::Offset { base, index, stride } => {
                let base = self.eval(*base, state)?;
                let index = self.eval(*index, state)?;
                self.note_index(id, &index, state);
                self.moved(&base, &index, *stride)
            }
            Expr::Unary(op, inner) => {
                let value = self.eval(*inner, state)?;
                match (op, &value) {
                    (UnaryOp::Minus, Value::Number(sum)) if range(&node.ty).is_some() || is_long(&node.ty) => {
                        self.fitted(sum.scaled(-1), &node.ty, is_exact(&node.ty), &state.path)
                    }
                    _ => self.pure(Op::Other(2, *op as u32), &[value], &node.ty),
                }
            }
            Expr::Not(inner) => {
                let truth = self.condition(*inner, state)?;
                Value::Truth(Rc::new(Truth { yes: truth.no.clone(), no: truth.yes.clone(), nature: truth.nature }))
            }
            Expr::Binary(op, a, b) => {
                let left = self.eval(*a, state)?;
                let right = self.eval(*b, state)?;
                let of = self.code.expr(*a).ty.clone();
                self.binary(*op, [&left, &right], &of, &node.ty, state)
            }
            Expr::And(a, b) | Expr::Or(a, b) => self.both(matches!(node.kind, Expr::And(..)), *a, *b, state)?,
            Expr::Select(condition, a, b) => self.select(*condition, [*a, *b], state)?,
            Expr::Convert(inner) => {
                let value = self.eval(*inner, state)?;
                let from = self.code.expr(*inner).ty.clone();
                self.converted(&value, &from, &node.ty, state)
            }
            Expr::Aggregate(all) => {
                let mut leaves = Vec::new();
                for part in all {
                    match self.eval(*part, state)? {
                        Value::Parts(parts) => leaves.extend(parts.iter().cloned()),
                        other => leaves.push(other),
                    }
                }
                match &node.ty {
                    Ty::Aggregate(layout) if layout.leaves.len() == leaves.len() => Value::Parts(Rc::new(leaves)),
                    // The value is not kept: what it holds may come out anywhere.
                    _ => {
                        for leaf in &leaves {
                            self.store(leaf, site);
                        }
                        self.of_type(&node.ty, Nature::OWN)
                    }
                }
            }
            Expr::Leaves { of, first, count } => {
                let value = self.eval(*of, state)?;
                self.leaves(&value, *first, *count, &node.ty)
            }
            Expr::Call(callee, arguments) => self.call(*callee, arguments, id, state)?,
            Expr::Intrinsic(what, operands) => self.intrinsic(what, operands, id, state)?,
            Expr::Sequence(all) => {
                let mut last = self.own();
                for part in all {
                    last = self.eval(*part, state)?;
                }
                last
            }
            Expr::Statements(block, value) => {
                let taken = std::mem::replace(state, nowhere());
                let mut flow = self.block(block, vec![taken])?;
                if !flow.breaks.is_empty() || !flow.continues.is_empty() || !flow.returns.is_empty() {
                    return Err(Refusal { cause: "a jump out of an expression", site });
                }
                match self.joined(std::mem::take(&mut flow.next), Nature::COMMON) {
                    Some(after) => *state = after,
                    None => state.dead = true,
                }
                match value {
                    Some(value) => self.eval(*value, state)?,
                    None => self.own(),
                }
            }
            Expr::Opaque { children, effect } => self.opaque(children, *effect, id, state)?,
        })
    }

    fn opaque(&mut self, children: &[ExprId], effect: Effect, id: ExprId, state: &mut State) -> Walked<Value> {
        let node = self.code.expr(id);
        let mut values = Vec::new();
        for child in children {
            values.push(self.eval(*child, state)?);
        }
        match effect {
            Effect::Pure(function) => Ok(self.pure(Op::Other(3, function), &values, &node.ty)),
            Effect::None => Ok(self.of_type(&node.ty, Nature::OWN)),
            Effect::Call { memory: false, .. } => {
                self.doubt_dynamic("a call that is out of sight", node.site);
                Ok(self.of_type(&node.ty, Nature::OWN))
            }
            Effect::Call { .. } => Err(Refusal { cause: "a call that is out of sight", site: node.site }),
            Effect::Writes | Effect::WritesAnywhere | Effect::Anything => {
                Err(Refusal { cause: "something that is not understood", site: node.site })
            }
        }
    }

    /// The address of a place in memory.
    fn address(&mut self, place: &Place, state: &mut State) -> Walked<Option<Value>> {
        match place {
            Place::Register { .. } => Ok(None),
            Place::Memory { address, .. } => self.eval(*address, state).map(Some),
        }
    }

    fn read(&mut self, id: ExprId, place: &Place, state: &mut State) -> Walked<Value> {
        let node = self.code.expr(id);
        let Some(address) = self.address(place, state)? else { return Ok(self.register(place, &node.ty, state)) };
        let how = Touch { kind: Kind::Read, size: node.ty.bytes(), element: element(place) };
        self.touch(&address, how, node.site, state)?;
        // What is constant is the same whenever it is read.
        if let Value::Address(Base::Object(object), offset) = &address
            && self.code.objects.get(*object).is_some_and(|it| it.space == ObjectSpace::Constant)
            && range(&node.ty).is_some()
        {
            return Ok(self.pure(Op::Constant(object.0), &[Value::Number(offset.clone())], &node.ty));
        }
        Ok(with_base(&self.of_type(&node.ty, Nature::OWN), Base::Loaded))
    }

    fn register(&mut self, place: &Place, ty: &Ty, state: &mut State) -> Value {
        let Place::Register { variable, first, count } = place else { return self.own() };
        let whole = match state.frames.last().and_then(|frame| frame.get(variable.index())).cloned().flatten() {
            Some(value) => value,
            None => {
                // Nobody has given it a value: then it is anything.
                let of = self.variable_type(*variable).unwrap_or_else(|| ty.clone());
                let value = self.of_type(&of, Nature::OWN);
                if let Some(slot) = state.frames.last_mut().and_then(|frame| frame.get_mut(variable.index())) {
                    *slot = Some(value.clone());
                }
                value
            }
        };
        if *count == 0 { whole } else { self.leaves(&whole, *first, *count, ty) }
    }

    fn variable_type(&self, variable: VariableId) -> Option<Ty> {
        let (function, _) = self.functions.last()?;
        Some(self.code.functions.get(*function)?.variables.get(variable)?.ty.clone())
    }

    fn leaves(&mut self, value: &Value, first: u16, count: u16, ty: &Ty) -> Value {
        let (first, count) = (usize::from(first), usize::from(count));
        if let Value::Parts(parts) = value
            && let Some(some) = parts.get(first..first + count)
        {
            return match some {
                [one] => one.clone(),
                some => Value::Parts(Rc::new(some.to_vec())),
            };
        }
        let nature = self.nature(value);
        self.of_type(ty, nature)
    }

    fn write(
        &mut self,
        place: &Place,
        address: Option<&Value>,
        value: Value,
        ty: &Ty,
        site: crate::report::Site,
        state: &mut State,
    ) -> Walked<()> {
        if let Some(address) = address {
            self.store(&value, site);
            let how = Touch { kind: Kind::Write, size: ty.bytes(), element: element(place) };
            return self.touch(address, how, site, state);
        }
        let Place::Register { variable, first, count } = place else { return Ok(()) };
        if state.dead {
            return Ok(());
        }
        let value = if *count == 0 {
            value
        } else {
            let before = state.frames.last().and_then(|frame| frame.get(variable.index())).cloned().flatten();
            let leaves = match (before, self.variable_type(*variable)) {
                (Some(Value::Parts(parts)), _) => Some(parts.to_vec()),
                (None, Some(of @ Ty::Aggregate(_))) => match self.of_type(&of, Nature::OWN) {
                    Value::Parts(parts) => Some(parts.to_vec()),
                    _ => None,
                },
                _ => None,
            };
            let new: Vec<Value> = match &value {
                Value::Parts(parts) => parts.to_vec(),
                one => vec![one.clone()],
            };
            let range = usize::from(*first)..usize::from(*first) + usize::from(*count);
            match leaves {
                Some(mut leaves) if new.len() == range.len() && range.end <= leaves.len() => {
                    leaves.splice(range, new);
                    Value::Parts(Rc::new(leaves))
                }
                _ => {
                    self.store(&value, site);
                    self.own()
                }
            }
        };
        if let Some(slot) = state.frames.last_mut().and_then(|frame| frame.get_mut(variable.index())) {
            *slot = Some(value);
        }
        Ok(())
    }

    fn moved(&mut self, base: &Value, index: &Value, stride: i64) -> Value {
        let (Value::Address(base, offset), Value::Number(index)) = (base, index) else {
            let nature = self.nature(base).and(self.nature(index));
            let Value::Number(sum) = self.fresh(nature) else { return self.own() };
            let base = if let Value::Address(base, _) = base { *base } else { Base::Unknown };
            return Value::Address(base, sum);
        };
        match index.scaled(stride).and_then(|bytes| offset.plus_times(&bytes, 1)) {
            Some(sum) => Value::Address(*base, sum),
            None => {
                let nature = self.symbols.nature(offset).and(self.symbols.nature(index));
                let Value::Number(sum) = self.fresh(nature) else { return self.own() };
                Value::Address(*base, sum)
            }
        }
    }

    /// A condition.
    pub fn condition(&mut self, id: ExprId, state: &mut State) -> Walked<Rc<Truth>> {
        let value = self.eval(id, state)?;
        let ty = self.code.expr(id).ty.clone();
        match self.converted(&value, &ty, &Ty::Bool, state) {
            Value::Truth(truth) => Ok(truth),
            other => Ok(Rc::new(Truth { yes: Vec::new(), no: Vec::new(), nature: self.nature(&other) })),
        }
    }

    fn both(&mut self, and: bool, a: ExprId, b: ExprId, state: &mut State) -> Walked<Value> {
        let first = self.condition(a, state)?;
        let second = self.guarded(
            if and { &first.yes } else { &first.no },
            first.nature,
            state,
            |walker, state| walker.condition(b, state),
            b,
        )?;
        let nature = first.nature.and(second.nature);
        let all = |a: &[Fact], b: &[Fact]| a.iter().chain(b).cloned().collect::<Vec<_>>();
        Ok(Value::Truth(Rc::new(if and {
            Truth { yes: all(&first.yes, &second.yes), no: Vec::new(), nature }
        } else {
            Truth { yes: Vec::new(), no: all(&first.no, &second.no), nature }
        })))
    }

    /// A part of an expression that is only evaluated where something holds.
    fn guarded<T>(
        &mut self,
        facts: &[Fact],
        nature: Nature,
        state: &mut State,
        run: impl FnOnce(&mut Self, &mut State) -> Walked<T>,
        part: ExprId,
    ) -> Walked<T> {
        if self.meets_in(part) {
            return Err(Refusal { cause: "a barrier in a part of an expression", site: self.code.expr(part).site });
        }
        let before = state.path.len();
        let kept = state.frames.clone();
        state.path.extend(facts.iter().cloned());
        let apart = u32::from(!nature.uniform);
        self.divergent += apart;
        let result = run(self, state);
        self.divergent -= apart;
        state.path.truncate(before);
        if state.frames != kept && !state.dead {
            // Something was assigned, or not.
            let mut without = state.clone();
            without.frames = kept;
            if let Some(joined) = self.joined(vec![state.clone(), without], nature) {
                *state = joined;
            }
        }
        result
    }

    fn select(&mut self, condition: ExprId, [a, b]: [ExprId; 2], state: &mut State) -> Walked<Value> {
        let truth = self.condition(condition, state)?;
        let left = self.guarded(&truth.yes, truth.nature, state, |walker, state| walker.eval(a, state), a)?;
        let right = self.guarded(&truth.no, truth.nature, state, |walker, state| walker.eval(b, state), b)?;
        let path = |facts: &[Fact]| state.path.iter().chain(facts).cloned().collect::<Vec<_>>();
        let paths = [path(&truth.yes), path(&truth.no)];
        let nature = truth.nature.and(Nature { own: self.free > 0 && !truth.nature.uniform, uniform: true });
        Ok(self.join_values(&[left, right], &paths, nature))
    }

    /// A function that is in sight, with its own registers.
    fn call(&mut self, callee: FunctionId, arguments: &[ExprId], id: ExprId, state: &mut State) -> Walked<Value> {
        let node = self.code.expr(id);
        let code = self.code;
        let mut registers = Vec::new();
        for argument in arguments {
            registers.push(self.eval(*argument, state)?);
        }
        let Some(function) = code.functions.get(callee) else {
            return Err(Refusal { cause: "a call that is out of sight", site: node.site });
        };
        if state.dead {
            return Ok(self.own());
        }
        let mut frame: Vec<Option<Value>> = vec![None; function.variables.len()];
        for ((slot, value), variable) in frame.iter_mut().zip(registers).zip(&function.variables) {
            if variable.in_memory {
                self.store(&value, node.site);
            } else {
                *slot = Some(value);
            }
        }
        self.enter(callee, node.site)?;
        let mut inside = std::mem::replace(state, nowhere());
        inside.frames.push(frame);
        let flow = self.block(&function.body, vec![inside]);
        self.functions.pop();
        let flow = flow?;
        let mut ends: Vec<(State, Option<Value>)> = flow.returns;
        ends.extend(flow.next.into_iter().map(|state| (state, None)));
        ends.retain(|(state, _)| !state.dead);
        for (state, _) in &mut ends {
            state.frames.pop();
        }
        let paths: Vec<Vec<Fact>> = ends.iter().map(|(state, _)| state.path.clone()).collect();
        let values: Option<Vec<Value>> = ends.iter().map(|(_, value)| value.clone()).collect();
        // Which way a thread took is its own where the ways were not the same for all.
        let nature = if self.meets_in_function(callee) { Nature::COMMON } else { Nature::OWN };
        match self.joined(ends.into_iter().map(|(state, _)| state).collect(), nature) {
            Some(after) => *state = after,
            None => {
                state.dead = true;
                return Ok(self.own());
            }
        }
        match values {
            Some(values) if !values.is_empty() => Ok(self.join_values(&values, &paths, nature)),
            _ => Ok(self.of_type(&node.ty, Nature::OWN)),
        }
    }
}

/// A floating-point number as an integer that only it has, as far as a sum holds it.
fn bits(value: f64) -> Sum {
    Sum::number(value.to_bits() as i64)
}

fn element(place: &Place) -> u32 {
    match place {
        Place::Memory { element, .. } => *element,
        Place::Register { .. } => 0,
    }
}

/// What stands where a state was taken away.
fn nowhere() -> State {
    State { frames: Vec::new(), path: Vec::new(), open: Vec::new(), crossed: false, stops: false, dead: true }
}
