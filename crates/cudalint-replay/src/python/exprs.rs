//! Expressions.

use super::Walker;
use super::attributes::class_key;
use super::heap::Obj;
use super::ops::numpy_number;
use super::value::{Closure, Kind, MAX_TEXT, Text, Val};
use crate::host::JoinRule;
use crate::quantity::Quantity;
use cudalint_program::Name;
use cudalint_program::ir::{Comprehension, Expr, ExprId, ForClause, FormatPart, PythonExpr, UnaryOp};
use std::rc::Rc;

/// What an assignment in place (`x += 1`) writes to.
enum Place {
    Name,
    Member(Val, Name),
    Element(Val, Vec<Val>),
}

impl Walker<'_> {
    pub(super) fn eval(&mut self, id: ExprId) -> Val {
        // Behind an exception nothing is evaluated.
        if self.raised || !self.budget.step() || !self.budget.descend() {
            return Val::unknown();
        }
        let value = self.eval_inner(id);
        self.budget.ascend();
        value
    }

    fn eval_inner(&mut self, id: ExprId) -> Val {
        let Some(kind) = self.kind(id) else { return Val::unknown() };
        match kind {
            Expr::Int { value, bytes: 1, signed: false } => Val::boolean(*value != 0),
            Expr::Int { value, .. } => Val::int(*value),
            Expr::Float { value, .. } => Val::from(Kind::Float(Some(*value))),
            Expr::Str(text) => {
                let origin = Some(self.expr_site(id));
                Val::from(Kind::Str(Rc::new(Text::of(Some(Rc::from(&**text)), origin))))
            }
            Expr::Null => Val::none(),
            Expr::Local(local) => {
                let value = self.local(*local);
                if matches!(value.kind, Kind::Unset) {
                    // `UnboundLocalError`.
                    self.raised |= self.is_bound_later(*local, id);
                    return Val::unknown();
                }
                value
            }
            Expr::Name { path, .. } => match path.segments.as_ref() {
                [name] => match self.bound(name) {
                    Some(value) => value,
                    None => {
                        let value = self.lookup(name);
                        // `NameError`.
                        self.raised |= matches!(value.kind, Kind::Unknown) && self.is_unbound(name);
                        value
                    }
                },
                // A variable of the class whose body is walked.
                [.., name] => match self.class_body() {
                    Some(record) => self.noted(self.module_id(), &class_key(record, name)).unwrap_or_else(Val::unknown),
                    None => Val::unknown(),
                },
                [] => Val::unknown(),
            },
            Expr::Unary(op, value) => {
                let value = self.eval(*value);
                self.unary(*op, &value)
            }
            Expr::Binary(op, a, b) => {
                // `x < f() < y` calls `f` once: what stands in the middle belongs to both comparisons.
                let left = match self.compared.take() {
                    Some((middle, value)) if middle == *a => value,
                    _ => self.eval(*a),
                };
                let right = self.eval(*b);
                if self.raised {
                    return Val::unknown();
                }
                if op.is_comparison() {
                    self.compared = Some((*b, right.clone()));
                }
                self.binary(*op, &left, &right, id)
            }
            Expr::AndThen(a, b) => self.short_circuit(*a, *b, true),
            Expr::OrElse(a, b) => self.short_circuit(*a, *b, false),
            Expr::Assign { op, target, value } => {
                let Some(op) = op else {
                    let value = self.eval(*value);
                    self.assign(*target, value.clone());
                    return value;
                };
                // What the target is made of is evaluated once, and first.
                let place = self.place(*target);
                let old = self.read_place(*target, &place);
                let value = self.eval(*value);
                if self.raised {
                    return value;
                }
                let value = self.update(*op, &old, &value, id);
                match place {
                    Place::Name => self.assign(*target, value.clone()),
                    Place::Member(object, name) => self.set_attribute(&object, &name, value.clone()),
                    Place::Element(object, at) => self.set_element(&object, &at, value.clone(), *target),
                }
                value
            }
            Expr::Select(condition, a, b) => self.select(*condition, *a, *b),
            Expr::Member { base, name, .. } => {
                let object = self.eval(*base);
                self.attribute(&object, name, id)
            }
            Expr::Index { base, indices } => {
                let object = self.eval(*base);
                let indices: Vec<Val> = indices.iter().map(|index| self.eval(*index)).collect();
                self.subscript(&object, &indices, id)
            }
            Expr::Call { callee, args } => self.call(id, *callee, args),
            Expr::Lambda { function, .. } => {
                let closure = self.closure(*function);
                Val::from(Kind::Function(Rc::new(closure)))
            }
            Expr::Comma(all) => all.iter().map(|one| self.eval(*one)).last().unwrap_or_else(Val::unknown),
            Expr::Throw(value) => {
                if let Some(value) = value {
                    self.eval(*value);
                }
                self.raised = true;
                Val::unknown()
            }
            Expr::Python(python) => self.python(id, python),
            Expr::Unknown(children) => {
                for child in children {
                    let value = self.eval(*child);
                    self.lose(&value);
                }
                Val::unknown()
            }
            Expr::Cast { value, .. } => self.eval(*value),
            _ => Val::unknown(),
        }
    }

    /// The parts of what is updated in place.
    fn place(&mut self, target: ExprId) -> Place {
        match self.kind(target) {
            Some(Expr::Member { base, name, .. }) => Place::Member(self.eval(*base), name.clone()),
            Some(Expr::Index { base, indices }) => {
                let object = self.eval(*base);
                Place::Element(object, indices.iter().map(|index| self.eval(*index)).collect())
            }
            _ => Place::Name,
        }
    }

    fn read_place(&mut self, target: ExprId, place: &Place) -> Val {
        match place {
            Place::Name => self.eval(target),
            Place::Member(object, name) => self.attribute(object, name, target),
            Place::Element(object, at) => self.subscript(object, at, target),
        }
    }

    /// A function with the variables around it, as they are reached from here.
    pub(super) fn closure(&mut self, function: cudalint_program::ir::FunctionId) -> Closure {
        let module = self.module_id();
        let defaults = self.defaults(module, function);
        let frame = self.frame();
        let at_module = self.function().is_none_or(|f| f.python.as_ref().is_some_and(|python| python.is_module));
        Closure { module, function, defaults, scope: if at_module { None } else { frame.map(|frame| frame.scope) } }
    }

    fn python(&mut self, id: ExprId, python: &PythonExpr) -> Val {
        match python {
            PythonExpr::Tuple(all) => match self.elements(all) {
                Some(values) => Val::tuple(values),
                None => Val::unknown(),
            },
            PythonExpr::List(all) => {
                let values = self.elements(all);
                Val::from(Kind::List(self.heap.add(Obj::List(values))))
            }
            PythonExpr::Set(all) => {
                self.elements(all);
                Val::unknown()
            }
            PythonExpr::Dict(entries) => {
                let mut known = Some(Vec::new());
                for (key, value) in entries {
                    let key = key.map(|key| self.eval(key));
                    let value = self.eval(*value);
                    match (key, &mut known) {
                        (Some(key), Some(all)) if key.str().is_some() || key.known().is_some() => {
                            all.push((key, value));
                        }
                        _ => known = None,
                    }
                }
                Val::from(Kind::Dict(self.heap.add(Obj::Dict(known))))
            }
            PythonExpr::Slice(parts) => {
                let parts = parts.map(|part| part.map(|part| self.eval(part)));
                Val::from(Kind::Slice(Rc::new(parts)))
            }
            PythonExpr::Keyword(_, value) | PythonExpr::Spread { value, .. } => self.eval(*value),
            PythonExpr::Format(parts) => {
                let mut text = Some(String::new());
                for part in parts {
                    match part {
                        FormatPart::Text(piece) => {
                            if let Some(text) = &mut text {
                                text.push_str(piece);
                            }
                        }
                        FormatPart::Hole(hole) | FormatPart::Formatted(hole) => {
                            let value = self.eval(*hole);
                            let plain = shown(&value).filter(|_| matches!(part, FormatPart::Hole(_)));
                            text = text.zip(plain).map(|(mut text, piece)| {
                                text.push_str(&piece);
                                text
                            });
                        }
                    }
                }
                let text = text.filter(|text| text.len() <= MAX_TEXT).map(|text| Rc::from(text.as_str()));
                let end = match parts.last() {
                    Some(FormatPart::Text(piece)) if text.is_none() => Some(Rc::from(&**piece)),
                    _ => None,
                };
                Val::from(Kind::Str(Rc::new(Text { whole: text, end, origin: Some(self.expr_site(id)), file: None })))
            }
            PythonExpr::In { value, container, negated } => {
                let (value, container) = (self.eval(*value), self.eval(*container));
                let found = self.contains(&container, &value);
                match found {
                    Some(found) => Val::boolean(found != *negated).because(&value.why),
                    None => Val::from(Kind::Bool(Quantity::Unknown)),
                }
            }
            PythonExpr::Comprehension { kind, element, value, clauses } => {
                self.comprehension(*kind, *element, *value, clauses)
            }
            PythonExpr::Ellipsis => Val::unknown(),
        }
    }

    fn contains(&mut self, container: &Val, value: &Val) -> Option<bool> {
        let items = match &container.kind {
            Kind::Str(text) => return Some(text.whole.as_deref()?.contains(value.str()?)),
            Kind::Dict(id) => match self.heap.get(*id) {
                Obj::Dict(Some(entries)) => entries.iter().map(|(key, _)| key.clone()).collect(),
                _ => return None,
            },
            _ => self.items(container)?,
        };
        let comparable = |value: &Val| value.str().is_some() || value.known().is_some();
        if !comparable(value) || !items.iter().all(comparable) {
            return None;
        }
        Some(items.iter().any(|item| Val::same(item, value)))
    }

    /// Elements of a display, `*x` spread.
    pub(super) fn elements(&mut self, all: &[ExprId]) -> Option<Vec<Val>> {
        let mut values = Some(Vec::new());
        for one in all {
            if let Some(Expr::Python(python)) = self.kind(*one)
                && let PythonExpr::Spread { value, .. } = &**python
            {
                let value = self.eval(*value);
                let items = self.items(&value);
                match (&mut values, items) {
                    (Some(values), Some(items)) => values.extend(items),
                    _ => values = None,
                }
                continue;
            }
            let value = self.eval(*one);
            if let Some(values) = &mut values {
                values.push(value);
            }
        }
        values
    }

    /// What an iterable holds, where that is known and little.
    pub(super) fn items(&mut self, value: &Val) -> Option<Vec<Val>> {
        const MOST: i64 = 4096;
        match &value.kind {
            Kind::Tuple(values) => Some(values.to_vec()),
            Kind::List(id) => match self.heap.get(*id) {
                Obj::List(Some(values)) if self.common.budget.may_copy(values.len()) => Some(values.clone()),
                _ => None,
            },
            Kind::Dict(id) => match self.heap.get(*id) {
                Obj::Dict(Some(entries)) if self.common.budget.may_copy(entries.len()) => {
                    Some(entries.iter().map(|(key, _)| key.clone()).collect())
                }
                _ => None,
            },
            Kind::Range(range) => {
                let (start, stop, step) = (range[0].known()?, range[1].known()?, range[2].known()?);
                let count = range_length(start, stop, step)?;
                (count <= MOST).then(|| (0..count).map(|i| Val::int(start + i * step).because(&value.why)).collect())
            }
            _ => None,
        }
    }

    fn short_circuit(&mut self, a: ExprId, b: ExprId, and: bool) -> Val {
        let left = self.eval(a);
        if self.raised {
            return left;
        }
        match self.truth(&left) {
            Some(truth) if truth != and => left,
            Some(_) => self.eval(b).because(&left.why),
            None => {
                let before = self.heap.mark();
                let right = self.eval(b);
                self.raised = false;
                self.heap.join_mark(before);
                match (&left.kind, &right.kind) {
                    (Kind::Bool(x), Kind::Bool(y)) => {
                        let op = if and { crate::quantity::ClosedOp::And } else { crate::quantity::ClosedOp::Or };
                        let q = self.atoms.closed(op, x, y);
                        Val { kind: Kind::Bool(q), why: crate::quantity::union(&left.why, &right.why) }
                    }
                    _ => Val::unknown(),
                }
            }
        }
    }

    fn select(&mut self, condition: ExprId, a: ExprId, b: ExprId) -> Val {
        let condition = self.eval(condition);
        if self.raised {
            return condition;
        }
        match self.truth(&condition) {
            Some(true) => self.eval(a).because(&condition.why),
            Some(false) => self.eval(b).because(&condition.why),
            None => {
                let before = self.heap.mark();
                let x = self.eval(a);
                let raised = std::mem::take(&mut self.raised);
                let first = self.heap.diff(before);
                self.heap.undo(before);
                let y = self.eval(b);
                self.raised &= raised;
                self.heap.join(first, before, &JoinRule::Either);
                Val::join(&x, &y, None)
            }
        }
    }

    fn unary(&mut self, op: UnaryOp, value: &Val) -> Val {
        match op {
            UnaryOp::Not => match self.truth(value) {
                Some(truth) => Val::boolean(!truth).because(&value.why),
                None => match &value.kind {
                    Kind::Bool(q) => {
                        let q = self.atoms.closed(crate::quantity::ClosedOp::Eq, q, &Quantity::Known(0));
                        Val { kind: Kind::Bool(q), why: value.why.clone() }
                    }
                    _ => Val::from(Kind::Bool(Quantity::Unknown)),
                },
            },
            UnaryOp::Plus => match &value.kind {
                Kind::Bool(q) => Val { kind: Kind::Int(q.clone()), why: value.why.clone() },
                _ => value.clone(),
            },
            UnaryOp::Minus | UnaryOp::BitNot if matches!(value.kind, Kind::Number(..)) => {
                let Kind::Number(dtype, inner) = &value.kind else { return Val::unknown() };
                numpy_number(*dtype, self.unary(op, &inner.clone()).kind).because(&value.why)
            }
            UnaryOp::Minus => {
                let kind = match &value.kind {
                    Kind::Float(number) => Kind::Float(number.map(|number| -number)),
                    Kind::Array(_) => return self.elementwise(std::slice::from_ref(value), None),
                    _ => match value.quantity() {
                        Some(q) => Kind::Int(Quantity::Known(0).minus(&q)),
                        None => return Val::unknown(),
                    },
                };
                Val { kind, why: value.why.clone() }
            }
            UnaryOp::BitNot => match value.known() {
                Some(number) => Val::int(!number).because(&value.why),
                None => Val::unknown(),
            },
        }
    }

    /// Whether a value counts as true, where that is known.
    pub(super) fn truth(&self, value: &Val) -> Option<bool> {
        match &value.kind {
            Kind::None => Some(false),
            Kind::Bool(q) | Kind::Int(q) => Some(q.known()? != 0),
            Kind::Float(number) => Some((*number)? != 0.0),
            Kind::Number(_, inner) => self.truth(inner),
            Kind::Str(text) => Some(!text.whole.as_deref()?.is_empty()),
            Kind::Tuple(values) => Some(!values.is_empty()),
            Kind::List(id) => match self.heap.get(*id) {
                Obj::List(Some(values)) => Some(!values.is_empty()),
                _ => None,
            },
            Kind::Dict(id) => match self.heap.get(*id) {
                Obj::Dict(Some(entries)) => Some(!entries.is_empty()),
                _ => None,
            },
            Kind::Function(_)
            | Kind::Bound(_)
            | Kind::Class(..)
            | Kind::Module(_)
            | Kind::Kernel(_)
            | Kind::Dtype(_)
            | Kind::Native(_) => Some(true),
            _ => None,
        }
    }

    fn comprehension(
        &mut self,
        kind: Comprehension,
        element: ExprId,
        value: Option<ExprId>,
        clauses: &[ForClause],
    ) -> Val {
        let mut made = Some(Vec::new());
        self.clauses(clauses, element, value, &mut made);
        match kind {
            Comprehension::Dict => {
                let entries = made.and_then(|made| {
                    made.into_iter()
                        .map(|(key, value)| Some((key, value?)))
                        .collect::<Option<Vec<_>>>()
                        .filter(|all| all.iter().all(|(key, _)| key.str().is_some() || key.known().is_some()))
                });
                Val::from(Kind::Dict(self.heap.add(Obj::Dict(entries))))
            }
            Comprehension::Set => Val::unknown(),
            Comprehension::List | Comprehension::Generator => {
                let values = made.map(|made| made.into_iter().map(|(value, _)| value).collect());
                Val::from(Kind::List(self.heap.add(Obj::List(values))))
            }
        }
    }

    fn clauses(
        &mut self,
        clauses: &[ForClause],
        element: ExprId,
        value: Option<ExprId>,
        made: &mut Option<Vec<(Val, Option<Val>)>>,
    ) {
        let Some((clause, rest)) = clauses.split_first() else {
            let one = self.eval(element);
            let other = value.map(|value| self.eval(value));
            if let Some(made) = made {
                made.push((one, other));
            }
            return;
        };
        let iterable = self.eval(clause.iterable);
        let before = self.raised;
        let items = self.items(&iterable).filter(|items| items.len() <= self.options.iterations as usize);
        let known = items.is_some();
        self.undecide(i32::from(!known));
        for item in items.unwrap_or_else(|| vec![self.any_item(&iterable)]) {
            self.assign(clause.target, item);
            let mut taken = Some(true);
            for condition in &clause.conditions {
                let condition = self.eval(*condition);
                taken = taken.zip(self.truth(&condition)).map(|(all, one)| all && one);
            }
            match taken {
                _ if self.raised => break,
                Some(false) => {}
                Some(true) => self.clauses(rest, element, value, made),
                None => {
                    self.undecide(1);
                    self.clauses(rest, element, value, made);
                    self.undecide(-1);
                    self.raised = false;
                    *made = None;
                }
            }
        }
        self.undecide(-i32::from(!known));
        if !known {
            // There may be nothing to go through.
            self.raised &= before;
            *made = None;
        }
    }
}

/// Numbers of a range.
pub(super) fn range_length(start: i64, stop: i64, step: i64) -> Option<i64> {
    let span = if step > 0 { stop.checked_sub(start)? } else { start.checked_sub(stop)? };
    let by = step.checked_abs().filter(|by| *by > 0)?;
    Some(if span <= 0 { 0 } else { (span - 1).checked_div(by)? + 1 })
}

/// A value as `format` prints it.
pub(super) fn shown(value: &Val) -> Option<String> {
    if value.why.is_some() {
        return None;
    }
    match &value.kind {
        Kind::Str(text) => text.whole.as_deref().map(ToOwned::to_owned),
        Kind::Int(Quantity::Known(number)) => Some(number.to_string()),
        Kind::Dtype(dtype) => Some(dtype.name()).filter(|name| !name.is_empty()),
        _ => None,
    }
}
