//! Expressions of host code.

use super::flow::Truth;
use super::meaning::Meaning;
use super::operators::{combine, same_kind};
use super::places::Access;
use super::{Out, Slot, Walker};
use crate::arith;
use crate::host::Flow;
use crate::memory::Place;
use crate::quantity::{AtomKind, Quantity, union};
use crate::value::{Int, Kind, Val};
use cudalint_program::api::is_plain_type;
use cudalint_program::ir::{BinaryOp, Expr, ExprId, LocalId, Stmt, StmtId};
use cudalint_program::types::Ty;

impl<'p> Walker<'p> {
    /// Evaluates an expression statement; `true` when nothing comes after it.
    pub fn eval_for_effect(&mut self, id: ExprId) -> bool {
        let out = self.eval(id);
        self.end_temporary(id, &out);
        if self.budget.stopped.is_some() {
            return true;
        }
        std::mem::take(&mut self.ended) && self.dry == 0
    }

    /// Evaluates an expression.
    pub fn eval(&mut self, id: ExprId) -> Out {
        if !self.budget.step() || !self.budget.descend() {
            return Out::unknown();
        }
        let out = self.eval_inside(id);
        self.budget.ascend();
        out
    }

    pub(super) fn read(&mut self, id: ExprId) -> Out {
        let (place, ty) = self.place(id, Access::Read);
        let out = self.look(place, ty);
        self.behind_parameter(id, out)
    }

    /// What stands at a place. A number that nothing tells gets a symbol of its own, so that two looks at it are equal
    /// as long as nothing writes there.
    fn look(&mut self, place: Place, ty: Ty) -> Out {
        let val = self.load(&place, &ty);
        self.with_symbol(val, place, ty)
    }

    /// As [`Self::read`] for a local variable, the most frequent of all expressions, without the ways that other lvalues
    /// take. It costs as many steps.
    fn read_local(&mut self, id: ExprId, local: LocalId) -> Out {
        let Some(Slot::Object(object_id)) = self.frames.last().and_then(|frame| frame.slots.get(local)) else {
            return self.read(id);
        };
        let object_id = *object_id;
        let object = self.memory.get(object_id);
        let plain = object.cells.is_none() && !matches!(object.info.ty.value(), Ty::Array(..));
        if !plain || self.budget.steps == 0 || self.budget.stopped.is_some() || self.budget.is_too_deep(0) {
            return self.read(id);
        }
        self.common.budget.steps -= 1;
        let val = self.shown(object.root.clone(), &object.info.ty);
        let ty = object.info.ty.clone();
        self.with_symbol(val, Place::Cell(object_id, crate::memory::root()), ty)
    }

    /// What was read; an unknown integer becomes a symbol that is named after its place, so that it stays the same.
    fn with_symbol(&mut self, val: Val, place: Place, ty: Ty) -> Out {
        let (Kind::Int(Int { q: Quantity::Unknown, bytes, .. }), Place::Cell(object, path)) = (&val.kind, &place)
        else {
            return Out { val, ty, place: Some(place) };
        };
        if let Some(val) = self.constant_member(*object, path, &ty) {
            self.memory.store(&place, val.clone());
            return Out { val, ty, place: Some(place) };
        }
        if self.dry > 0 || self.log.muted > 0 {
            return Out { val, ty, place: Some(place) };
        }
        if *bytes < 4 || val.why.is_some() {
            return Out { val, ty, place: Some(place) };
        }
        let name = self.place_name(&place);
        let handed = self.is_handed_over(*object, path);
        let val = self.symbol_of(&name, &ty, if handed { AtomKind::Field } else { AtomKind::Opaque });
        self.memory.store(&place, val.clone());
        Out { val, ty, place: Some(place) }
    }

    fn eval_inside(&mut self, id: ExprId) -> Out {
        let Some(node) = self.node(id) else { return Out::unknown() };
        match &node.kind {
            Expr::Int { value, bytes, signed } => Out::new(
                Val::typed(Quantity::Known(*value), *bytes, *signed),
                Ty::Int { bytes: *bytes, signed: *signed },
            ),
            Expr::OnDevice => Out::new(Val::typed(Quantity::Known(0), 1, false), Ty::Int { bytes: 1, signed: false }),
            Expr::Float { value, bytes } => Out::new(Val::from(Kind::Float(*value)), Ty::Float { bytes: *bytes }),
            Expr::Str(text) => {
                if self.recording.open > 0 {
                    self.recording.literals.push(std::sync::Arc::clone(text));
                }
                Out::new(
                    Val::from(Kind::Str(std::sync::Arc::clone(text))),
                    Ty::Array(Ty::CHAR.into(), Quantity::Known(text.len() as i64 + 1)),
                )
            }
            Expr::Null => Out::new(Val::from(Kind::Null), Ty::pointer_to(Ty::Void)),
            Expr::Local(local) => self.read_local(id, *local),
            Expr::Deref(_) | Expr::Index { .. } => self.read(id),
            Expr::Name { path, targs } => match self.meaning(path, targs) {
                Meaning::Place(place, ty) => self.look(place, ty),
                Meaning::Value(out) => out,
                Meaning::None => match self.trait_of(path, targs).map(Val::boolean) {
                    Some(value) => Out::new(value, Ty::Bool),
                    None if !self.left_out.is_empty() => self.left_out(path).unwrap_or_else(Out::unknown),
                    None if path.segments.len() > 1 => self.constant_of_class(id),
                    None => Out { val: Val::unknown(), ty: Ty::Unknown, place: Some(Place::Unknown) },
                },
            },
            Expr::This => self
                .frames
                .last()
                .and_then(|frame| frame.this.clone())
                .map_or_else(Out::unknown, |(place, ty)| Out::new(self.address(&place, &ty), Ty::pointer_to(ty))),
            Expr::Member { base, name, .. } => self.device_limit(id, *base, name).unwrap_or_else(|| self.read(id)),
            Expr::Unary(op, value) => self.unary(*op, *value),
            Expr::Binary(op, a, b) => self.binary(*op, *a, *b),
            Expr::AndThen(a, b) => self.short_circuit(*a, *b, true),
            Expr::OrElse(a, b) => self.short_circuit(*a, *b, false),
            Expr::Assign { op, target, value } => self.assign(*op, *target, *value),
            Expr::Step { prefix, by, target } => self.step_by(*prefix, *by, *target),
            Expr::Select(condition, a, b) => self.select(*condition, *a, *b),
            Expr::Cast { ty, value } => {
                let ty = self.resolve(*ty);
                let out = self.eval(*value);
                self.cast(&out, ty)
            }
            Expr::SizeOfType(ty) => {
                let ty = self.resolve(*ty);
                Out::new(Val::size(self.size_of(ty.value())), Ty::SIZE)
            }
            Expr::SizeOfExpr(value) => {
                let ty = self.type_of(*value);
                // An object of a lambda is as large as what it captures.
                let size =
                    if matches!(ty.value(), Ty::Function) { Quantity::Unknown } else { self.size_of(ty.value()) };
                Out::new(Val::size(size), Ty::SIZE)
            }
            Expr::AddressOf(value) => {
                let (place, ty) = self.place(*value, Access::Address);
                if self.project.overloads_address(&ty) {
                    // An overloaded operator.
                    self.touch_object(&place);
                    return Out::unknown();
                }
                if let (Place::Nowhere | Place::Unknown, Some(Expr::Name { .. })) = (&place, self.kind(*value)) {
                    // `&f` of a function.
                    let out = self.eval(*value);
                    if matches!(out.val.kind, Kind::Function(..)) {
                        return out;
                    }
                }
                let val = if matches!(ty, Ty::Function) {
                    self.memory.load(&place)
                } else if self.is_shadow(&place) {
                    Val::unknown()
                } else {
                    self.address(&place, &ty)
                };
                Out::new(val, Ty::pointer_to(ty))
            }
            Expr::Call { callee, args } => self.call(id, *callee, args),
            Expr::Launch(launch) => self.launch(id, launch),
            Expr::Construct { ty, args, braces } => {
                let ty = self.resolve(*ty);
                self.construct(&ty, args, *braces)
            }
            Expr::InitList(items) => {
                // What is made of them is not followed, and hands on what they point to.
                for item in items {
                    let out = self.eval(*item);
                    self.lose(&out);
                }
                Out::unknown()
            }
            Expr::Designated { value, .. } => self.eval(*value),
            Expr::New { ty, count, args } => self.new_object(id, *ty, *count, args),
            Expr::Delete { value, .. } => {
                let out = self.eval(*value);
                self.end_deleted(&out);
                self.free_value(id, "delete", *value, &out);
                Out::new(Val::unknown(), Ty::Void)
            }
            Expr::Lambda { function, by_reference } => self.lambda(*function, *by_reference),
            Expr::Comma(parts) => {
                let mut last = Out::unknown();
                for part in parts {
                    last = self.eval(*part);
                }
                last
            }
            Expr::Statements(block) => self.statements_value(block),
            Expr::Throw(value) => {
                self.throws(*value);
                self.ended = true;
                Out::unknown()
            }
            Expr::Python(_) => Out::unknown(),
            Expr::Place { at, count, args, .. } => {
                for part in std::iter::once(at).chain(count).chain(args) {
                    self.lose_part(*part);
                }
                Out::unknown()
            }
            Expr::Unknown(parts) => {
                for part in parts {
                    self.lose_part(*part);
                }
                Out::unknown()
            }
        }
    }

    /// A statement expression in the middle of an expression.
    fn statements_value(&mut self, block: &'p [StmtId]) -> Out {
        let module = self.module();
        let mut out = Out::unknown();
        for (index, id) in block.iter().enumerate() {
            let last = index + 1 == block.len();
            match module.stmts.get(*id).map(|stmt| &stmt.kind) {
                Some(Stmt::Expr(expr)) if last => out = self.eval(*expr),
                _ => {
                    if self.statement(*id) != Flow::Next {
                        self.ended = true;
                        return Out::unknown();
                    }
                }
            }
        }
        out
    }

    /// The static type of an expression; nothing happens.
    pub fn type_of(&mut self, id: ExprId) -> Ty {
        let mark = self.memory.mark();
        let pendings = self.pendings.len();
        self.log.muted += 1;
        let ty = match self.kind(id) {
            Some(Expr::Local(_) | Expr::Name { .. } | Expr::Deref(_) | Expr::Index { .. } | Expr::Member { .. }) => {
                self.place(id, Access::Address).1
            }
            _ => self.eval(id).ty,
        };
        self.log.muted -= 1;
        self.pendings.truncate(pendings);
        self.memory.undo(mark);
        ty
    }

    fn short_circuit(&mut self, a: ExprId, b: ExprId, and: bool) -> Out {
        let left = self.condition(a);
        let mut result = left.clone();
        // The right operand runs only where the left one lets it.
        let known = match &left {
            Truth::Known(value) | Truth::Status(value) | Truth::Assumed(value, _) => Some(*value),
            Truth::Unknown => None,
        };
        let decides = known == Some(!and);
        if matches!(left, Truth::Known(_)) && self.dry == 0 {
            if !decides {
                result = self.condition(b);
            }
        } else {
            let mut right = Truth::Unknown;
            let taken = if and { left.clone() } else { left.clone().not() };
            let ended = self.ended;
            self.asking(a, |w| {
                w.branch(
                    taken,
                    |w| {
                        right = w.condition(b);
                        w.ended = ended;
                        Flow::Next
                    },
                    |_| Flow::Next,
                )
            });
            result = combine(left, right, and);
        }
        Out::new(result.val(), Ty::Bool)
    }

    fn select(&mut self, condition: ExprId, a: ExprId, b: ExprId) -> Out {
        let truth = self.condition(condition);
        if let (Truth::Known(value), 0) = (&truth, self.dry) {
            let (taken, other) = if *value { (a, b) } else { (b, a) };
            let out = self.eval(taken);
            // The type is that of both.
            if out.ty.promoted().is_some()
                && self.is_plain(other)
                && let Some(ty) = out.ty.common(&self.type_of(other)).filter(|ty| ty != out.ty.value())
            {
                return self.cast(&Out { place: None, ..out }, ty);
            }
            return out;
        }
        let (mut first, mut second) = (Out::unknown(), Out::unknown());
        self.asking(condition, |w| {
            w.branch(
                truth.clone(),
                |w| {
                    first = w.eval(a);
                    Flow::Next
                },
                |w| {
                    second = w.eval(b);
                    Flow::Next
                },
            )
        });
        let ty = if first.ty.is_unknown() { second.ty.clone() } else { first.ty.clone() };
        let ty = self.common_type(BinaryOp::Add, &first, &second, &Val::unknown()).or(ty);
        let (first, second) = if ty.is_scalar() {
            (arith::convert(&mut self.atoms, &first.val, &ty), arith::convert(&mut self.atoms, &second.val, &ty))
        } else {
            (first.val, second.val)
        };
        let mut lost = Vec::new();
        let val = match truth {
            Truth::Status(value) | Truth::Known(value) => {
                if value {
                    first
                } else {
                    second
                }
            }
            Truth::Assumed(value, why) => {
                let (default, other) = if value { (first, second) } else { (second, first) };
                Val::join(&default, &other, Some(&why), &mut lost)
            }
            Truth::Unknown => self
                .min_or_max(condition, a, b, &first, &second)
                .or_else(|| self.blend(condition, &first, &second))
                .unwrap_or_else(|| Val::join(&first, &second, None, &mut lost)),
        };
        self.memory.escaped.extend(lost);
        Out::new(val, ty)
    }

    /// `a < b ? a : b` in its spellings, for symbols.
    fn min_or_max(&mut self, condition: ExprId, a: ExprId, b: ExprId, first: &Val, second: &Val) -> Option<Val> {
        let Some(Expr::Binary(op, x, y)) = self.kind(condition) else { return None };
        let less = match op {
            BinaryOp::Lt | BinaryOp::Le => true,
            BinaryOp::Gt | BinaryOp::Ge => false,
            _ => return None,
        };
        // What a macro's body writes has no place of its own, and so no text.
        let same = |w: &Self, p: ExprId, q: ExprId| match (w.node(p), w.node(q)) {
            (Some(one), Some(other)) if one.span == other.span => match (&one.kind, &other.kind) {
                (Expr::Local(one), Expr::Local(other)) => one == other,
                (Expr::Name { path: one, .. }, Expr::Name { path: other, .. }) => one == other,
                (Expr::Int { value: one, .. }, Expr::Int { value: other, .. }) => one == other,
                _ => false,
            },
            _ => w.text(p) == w.text(q),
        };
        let picks_first = if same(self, *x, a) && same(self, *y, b) {
            less
        } else if same(self, *x, b) && same(self, *y, a) {
            !less
        } else {
            return None;
        };
        let op = if picks_first { crate::quantity::ClosedOp::Min } else { crate::quantity::ClosedOp::Max };
        let (Kind::Int(m), Kind::Int(n)) = (&first.kind, &second.kind) else { return None };
        let q = self.atoms.closed(op, &m.q, &n.q);
        Some(Val::typed(q, m.bytes.max(n.bytes), m.signed && n.signed).because(&union(&first.why, &second.why)))
    }

    fn assign(&mut self, op: Option<BinaryOp>, target: ExprId, value: ExprId) -> Out {
        if op.is_none()
            && let Some(Expr::InitList(_)) = self.kind(value)
        {
            let (place, ty) = self.place(target, Access::Write);
            self.initialize(&place, &ty, value);
            return Out { val: self.load(&place, &ty), ty, place: Some(place) };
        }
        let right = self.eval(value);
        let (place, ty) = self.place(target, Access::Write);
        if !matches!(place, Place::Cell(..)) {
            self.undeclared.clear();
        }
        if op.is_none() && matches!(self.kind(value), Some(Expr::Unknown(_))) {
            // Behind branches of `#if` that nothing decides nobody knows what a variable leads to: that is not lost.
            self.keep_inside(&place);
        }
        let out = match op {
            None if right.ty.is_scalar() && matches!(ty.value(), Ty::Vector { .. }) => self.cast(&right, ty.clone()),
            // An operator of the class: what it does with what the object leads to is not followed.
            None if matches!(ty.value(), Ty::Record(..))
                && !right.ty.is_unknown()
                && !self.same_record(&ty, &right.ty) =>
            {
                self.hand_out(&right);
                self.touch_object(&place);
                Out::unknown()
            }
            None => right,
            Some(op) => {
                let old = Out { val: self.load(&place, &ty), ty: ty.clone(), place: Some(place.clone()) };
                if matches!(ty.value(), Ty::Record(..) | Ty::Unknown | Ty::Vector { .. })
                    || matches!(ty.value(), Ty::Library(..)) && ty.is_unknown()
                {
                    // An overloaded operator.
                    if matches!(ty.value(), Ty::Record(..)) {
                        self.touch_object(&place);
                    } else {
                        self.forget_place(&place);
                    }
                    Out::unknown()
                } else {
                    self.operate(op, &old, &right)
                }
            }
        };
        if ty.value().container().is_some() {
            self.assign_container(&place, &ty, &out);
        } else {
            let val = self.received(value, &out, out.val.clone(), &place);
            self.store_result(value, &place, &ty, val);
        }
        Out { val: self.load(&place, &ty), ty, place: Some(place) }
    }

    /// Stores and, for a first assignment of an allocation, remembers the name that it is known by.
    pub fn store_result(&mut self, value: ExprId, place: &Place, ty: &Ty, val: Val) {
        self.name_allocation(&val, place, ty);
        let known = val.known().is_some() || matches!(val.kind, Kind::Ptr(_) | Kind::Status | Kind::Success(_));
        self.finds_out_by(place, value, known);
        // A number read from outside is known by the variable that it is read into.
        if self.dry == 0
            && let (Ty::Int { bytes, signed }, Place::Cell(..)) = (ty.value(), place)
            && *bytes >= 4
            && self.reads_input(value)
        {
            let name = self.place_name(place);
            let q = self.argument_number(value, &name);
            return self.store(place, ty, Val::typed(q, *bytes, *signed));
        }
        self.store(place, ty, val);
    }

    fn step_by(&mut self, prefix: bool, by: i8, target: ExprId) -> Out {
        let (place, ty) = self.place(target, Access::Write);
        if matches!(ty.value(), Ty::Record(..)) {
            // An overloaded operator.
            self.touch_object(&place);
            return Out { val: Val::unknown(), ty, place: Some(place) };
        }
        let old = Out { val: self.load(&place, &ty), ty: ty.clone(), place: Some(place.clone()) };
        let one = Out::new(Val::int(i64::from(by)), Ty::INT);
        let new = self.operate(BinaryOp::Add, &old, &one);
        self.store(&place, &ty, new.val);
        let val = if prefix { self.load(&place, &ty) } else { old.val };
        Out { val, ty, place: prefix.then_some(place) }
    }

    /// A value cast to a type.
    pub fn cast(&mut self, out: &Out, ty: Ty) -> Out {
        let target = ty.value().clone();
        if matches!(target, Ty::Auto) {
            return out.clone();
        }
        let plain = matches!(&target, Ty::Library(name, _) if is_plain_type(name));
        if !target.is_pointer() && !plain && matches!(out.val.kind, Kind::Ptr(_)) {
            // An address as a number can become a pointer again, unseen.
            self.escape_pointers(&out.val);
        }
        let val = if target.is_scalar() {
            arith::convert(&mut self.atoms, &out.val, &target)
        } else if matches!(&target, Ty::Vector { name, .. } if name == "dim3") && out.ty.is_scalar() {
            // `dim3` is made of a number by itself.
            return self.temporary_of(&target, |w, place| w.fill_dim3(place, std::slice::from_ref(out)));
        } else if (matches!(target, Ty::Record(..) | Ty::Vector { .. }) || target.container().is_some())
            && !same_kind(&target, &out.ty)
        {
            Val::unknown()
        } else if matches!(target, Ty::Library(..) | Ty::Unknown)
            && matches!(out.val.kind, Kind::Int(_) | Kind::Float(_) | Kind::Ratio(..))
            && out.val.known() != Some(0)
        {
            // Arithmetic goes on differently with an integer and with a floating-point number.
            Val::unknown()
        } else {
            out.val.clone()
        };
        Out::new(val, target)
    }
}
