//! Expressions.

use super::lifetime::Own;
use super::state::{At, Lowerer, Out};
use crate::code::{self, Effect, Expr};
use crate::report::Site;
use cudalint_program::ir;
use cudalint_program::types::Ty;

impl<'p> Lowerer<'p> {
    /// Lowers an expression.
    pub(super) fn expr(&mut self, id: ir::ExprId) -> Out {
        let Some(node) = self.node(id) else {
            let site = self.site(cudalint_syntax::Span::default());
            return self.unknown(Vec::new(), Effect::Anything, Ty::Unknown, site);
        };
        let site = self.site(node.span);
        match self.deeper(|this| this.expr_inner(id, &node.kind, site)) {
            Some(out) => out,
            None => self.unknown(Vec::new(), Effect::Anything, Ty::Unknown, site),
        }
    }

    fn expr_inner(&mut self, id: ir::ExprId, expr: &'p ir::Expr, site: Site) -> Out {
        match expr {
            ir::Expr::Int { value, bytes: 1, signed: false } => {
                let id = self.int(*value, code::Ty::Bool, site);
                self.computed(id, Ty::Bool, site)
            }
            ir::Expr::OnDevice => {
                let id = self.int(1, code::Ty::Bool, site);
                self.computed(id, Ty::Bool, site)
            }
            ir::Expr::Int { value, bytes, signed } => {
                let id = self.int(*value, code::Ty::Int { bytes: *bytes, signed: *signed }, site);
                self.computed(id, Ty::Int { bytes: *bytes, signed: *signed }, site)
            }
            ir::Expr::Float { value, bytes } => {
                let id = self.push(Expr::Float(*value), code::Ty::Float { bytes: *bytes }, site);
                self.computed(id, Ty::Float { bytes: *bytes }, site)
            }
            ir::Expr::Null => {
                let id = self.int(0, code::Ty::Pointer, site);
                self.computed(id, Ty::pointer_to(Ty::Void), site)
            }
            ir::Expr::Str(_) => {
                let id = self.opaque_pointer(Vec::new(), site);
                self.computed(id, Ty::pointer_to(Ty::Int { bytes: 1, signed: true }), site)
            }
            ir::Expr::Local(local) => self.local_out(*local, site),
            ir::Expr::Name { path, targs } => self.name(id, path, targs, site),
            ir::Expr::This => self.this_pointer(site),
            ir::Expr::Unary(op, value) => {
                let value = self.expr(*value);
                self.unary(*op, &value, site)
            }
            ir::Expr::Binary(op, a, b) => {
                let (a, b) = (self.expr(*a), self.expr(*b));
                self.binary(*op, &a, &b, site)
            }
            ir::Expr::AndThen(a, b) | ir::Expr::OrElse(a, b) => {
                let (a, b) = (self.condition(*a), self.condition(*b));
                let kind = if matches!(expr, ir::Expr::AndThen(..)) { Expr::And(a, b) } else { Expr::Or(a, b) };
                let id = self.push(kind, code::Ty::Bool, site);
                self.computed(id, Ty::Bool, site)
            }
            ir::Expr::Assign { target, .. } | ir::Expr::Step { target, .. } => {
                let target = self.place_of(*target);
                self.change(expr, &target, site)
            }
            ir::Expr::Select(condition, yes, no) => self.selection(*condition, *yes, *no, site),
            ir::Expr::Cast { ty, value } => self.cast(*ty, *value, site),
            ir::Expr::SizeOfType(_) => self.size_constant(id, site),
            ir::Expr::SizeOfExpr(value) => self.size_of_value(id, *value, site),
            ir::Expr::Index { base, indices } => self.subscript(*base, indices, site),
            ir::Expr::Member { base, name, arrow } => {
                let base = self.object(*base, *arrow);
                self.member(&base, name, site)
            }
            ir::Expr::Deref(value) => {
                let value = self.expr(*value);
                self.deref(&value, site)
            }
            ir::Expr::AddressOf(value) => self.address_of(*value, site),
            ir::Expr::Call { callee, args } => self.call(*callee, args, site),
            ir::Expr::Construct { ty, args, braces } => self.construct(*ty, args, *braces, site),
            ir::Expr::Lambda { function, by_reference } => self.lambda(*function, *by_reference, site),
            ir::Expr::Comma(values) => self.comma(values, site),
            ir::Expr::Statements(block) => self.statement_expression(block, site),
            ir::Expr::InitList(values) => match values.as_slice() {
                [one] => self.expr(*one),
                values => self.not_read(values, "list without a type", Effect::None, site),
            },
            ir::Expr::Designated { value, .. } => self.expr(*value),
            ir::Expr::Launch(_) => self.not_read(&[], "launch on the device", Effect::Anything, site),
            ir::Expr::New { ty, count, args } => {
                let mut values: Vec<ir::ExprId> = args.to_vec();
                values.extend(*count);
                if !matches!(self.resolve(*ty), Ty::Record(entry, _) if self.has_constructor(entry)) {
                    return self.not_read(&values, "new", Effect::None, site);
                }
                // What the constructor does with what it is given is not followed.
                self.gap("new");
                let values: Vec<Out> = values.iter().map(|value| self.expr(*value)).collect();
                let children = values.iter().map(|value| self.address(value)).collect();
                self.unknown(children, Effect::WritesAnywhere, Ty::Unknown, site)
            }
            ir::Expr::Place { at, ty, count, args } => self.construct_in_place(*at, *ty, *count, args, site),
            ir::Expr::Delete { value, .. } => {
                let out = self.expr(*value);
                let ends = match &out.ty {
                    Ty::Pointer(to) => self.has_own(Own::Destructor, to),
                    ty => *ty == Ty::Unknown,
                };
                self.gap("delete");
                let children = vec![self.load(&out)];
                self.unknown(children, if ends { Effect::WritesAnywhere } else { Effect::None }, Ty::Unknown, site)
            }
            ir::Expr::Throw(value) => self.not_read(value.as_slice(), "throw", Effect::Anything, site),
            ir::Expr::Python(_) => self.not_read(&[], "Python", Effect::Anything, site),
            // Questions about types and packs do nothing.
            ir::Expr::Unknown(values) if values.is_empty() && self.asks_the_compiler(site) => {
                self.unknown(Vec::new(), Effect::None, Ty::SIZE, site)
            }
            // Names are bound to the parts of a variable: it is written through them.
            ir::Expr::Unknown(values) => match values.as_slice() {
                [one] if matches!(self.node(*one).map(|node| &node.kind), Some(ir::Expr::AddressOf(_))) => {
                    self.not_read(values, "structured binding", Effect::Writes, site)
                }
                _ => self.not_read(values, "expression not read", Effect::Anything, site),
            },
        }
    }

    fn asks_the_compiler(&self, site: Site) -> bool {
        let text = self.project.text(site.module, site.span);
        ["alignof", "_Alignof", "__alignof", "sizeof", "noexcept"].iter().any(|word| text.starts_with(word))
    }

    /// Something that is not followed; what is in it is evaluated.
    pub(super) fn not_read(&mut self, values: &[ir::ExprId], cause: &'static str, effect: Effect, site: Site) -> Out {
        self.gap(cause);
        let mut children = Vec::new();
        for value in values {
            let out = self.expr(*value);
            children.push(self.load(&out));
        }
        self.unknown(children, effect, Ty::Unknown, site)
    }

    /// What stands before `.` or `->`.
    pub(super) fn object(&mut self, base: ir::ExprId, arrow: bool) -> Out {
        let changes =
            matches!(self.node(base).map(|node| &node.kind), Some(ir::Expr::Assign { .. } | ir::Expr::Step { .. }));
        let base = if changes { self.place_of(base) } else { self.expr(base) };
        if !arrow {
            return base;
        }
        let site = base.site;
        if matches!(base.ty, Ty::Record(..)) {
            return match self.user_operator("operator->", std::slice::from_ref(&base), site) {
                Some(pointer) => self.deref(&pointer, site),
                None => base,
            };
        }
        if matches!(base.ty, Ty::Pointer(_) | Ty::Array(..)) { self.deref(&base, site) } else { base }
    }

    fn selection(&mut self, condition: ir::ExprId, yes: ir::ExprId, no: ir::ExprId, site: Site) -> Out {
        let condition = self.expr(condition);
        let null = |this: &Self, id: ir::ExprId| matches!(this.node(id).map(|node| &node.kind), Some(ir::Expr::Null));
        let (a, b) = (self.expr(yes), self.expr(no));
        if null(self, yes) && matches!(b.ty.decayed(), Ty::Pointer(_)) {
            let typed = Out { ty: b.ty.decayed(), ..a };
            return self.select(&condition, &typed, &b, site);
        }
        self.select(&condition, &a, &b, site)
    }

    /// `target = value`, `target += value`, `++target`.
    fn change(&mut self, expr: &'p ir::Expr, target: &Out, site: Site) -> Out {
        match expr {
            ir::Expr::Assign { op: None, value, .. } => {
                let value = self.value_of_type(*value, &target.ty);
                self.assign(target, &value, site)
            }
            ir::Expr::Assign { op: Some(op), value, .. } => {
                let value = self.expr(*value);
                self.compound(*op, target, &value, site)
            }
            ir::Expr::Step { prefix, by, .. } => self.step(target, *by, *prefix, site),
            _ => target.clone(),
        }
    }

    /// An expression whose place is wanted, not its value: of `c ? a : b` that of the one which is chosen, of `x += k` and
    /// `++x` that of `x`.
    pub(super) fn place_of(&mut self, id: ir::ExprId) -> Out {
        let Some(node) = self.node(id) else { return self.expr(id) };
        let site = self.site(node.span);
        let place = match &node.kind {
            ir::Expr::Select(condition, yes, no) => {
                return self.chosen_place(*condition, *yes, *no, site);
            }
            ir::Expr::Assign { target, .. } | ir::Expr::Step { prefix: true, target, .. } => {
                self.deeper(|this| this.changed_place(&node.kind, *target, site))
            }
            _ => None,
        };
        place.unwrap_or_else(|| self.expr(id))
    }

    /// The place of what was just changed.
    fn changed_place(&mut self, expr: &'p ir::Expr, target: ir::ExprId, site: Site) -> Out {
        let target = self.place_of(target);
        if matches!(target.at, At::Value(_)) {
            return self.change(expr, &target, site);
        }
        self.once(&target, |this, target| {
            let done = this.change(expr, target, site);
            let At::Value(id) = done.at else { return done };
            let address = this.address(target);
            let element = this.size_of(&target.ty).unwrap_or(0);
            let place = Out { at: At::Memory { address, element }, ..target.clone() };
            this.after(vec![id], &place, site)
        })
    }

    fn chosen_place(&mut self, condition: ir::ExprId, yes: ir::ExprId, no: ir::ExprId, site: Site) -> Out {
        let condition = self.expr(condition);
        let chosen = self.deeper(|this| (this.place_of(yes), this.place_of(no)));
        let Some((a, b)) = chosen else { return self.not_read(&[yes, no], "choice of places", Effect::Anything, site) };
        let is_value = |out: &Out| matches!(out.at, At::Value(_));
        if a.ty != b.ty || is_value(&a) || is_value(&b) {
            return self.select(&condition, &a, &b, site);
        }
        let condition = self.truth(&condition);
        let (one, other) = (self.address(&a), self.address(&b));
        let address = self.push(Expr::Select(condition, one, other), code::Ty::Pointer, site);
        let element = self.size_of(&a.ty).unwrap_or(0);
        Out { at: At::Memory { address, element }, ty: a.ty, volatile: a.volatile || b.volatile, site }
    }

    fn comma(&mut self, values: &[ir::ExprId], site: Site) -> Out {
        let Some((last, first)) = values.split_last() else {
            return self.unknown(Vec::new(), Effect::None, Ty::Void, site);
        };
        let mut parts = Vec::new();
        let whole = self.discarded;
        for value in first {
            self.discarded = Some(self.site_of(*value));
            let out = self.expr(*value);
            parts.extend(self.effect_of(&out));
        }
        self.discarded = whole;
        let out = self.expr(*last);
        self.after(parts, &out, site)
    }

    /// A value behind things that are evaluated first.
    pub(super) fn after(&mut self, mut parts: Vec<code::ExprId>, out: &Out, site: Site) -> Out {
        if parts.is_empty() {
            return out.clone();
        }
        // A place behind a comma stays a place by its address.
        if let At::Memory { address, element } = out.at {
            parts.push(address);
            let address = self.push(Expr::Sequence(parts), code::Ty::Pointer, site);
            return Out { at: At::Memory { address, element }, ..out.clone() };
        }
        let last = if out.ty == Ty::Void { self.discard(out) } else { self.load(out) };
        parts.push(last);
        let ty = self.code_ty(last);
        let id = self.push(Expr::Sequence(parts), ty, site);
        Out { at: At::Value(id), ty: out.ty.decayed(), ..out.clone() }
    }

    fn statement_expression(&mut self, block: &'p [ir::StmtId], site: Site) -> Out {
        let module: &'p ir::Module = self.context.ir;
        let value = block.split_last().and_then(|(last, rest)| match module.stmts.get(*last).map(|node| &node.kind) {
            Some(ir::Stmt::Expr(value)) => Some((rest, *value)),
            _ => None,
        });
        let Some((rest, value)) = value else {
            let block = self.block(block);
            let id = self.push(Expr::Statements(block, None), code::Ty::Void, site);
            return self.computed(id, Ty::Void, site);
        };
        let block = self.block(rest);
        let out = self.expr(value);
        if out.ty == Ty::Void {
            let last = self.discard(&out);
            let id = self.push(Expr::Statements(block, Some(last)), code::Ty::Void, site);
            return self.computed(id, Ty::Void, site);
        }
        let value = self.load(&out);
        let ty = self.code_ty(value);
        let id = self.push(Expr::Statements(block, Some(value)), ty, site);
        Out { at: At::Value(id), ty: out.ty.decayed(), ..out }
    }

    fn size_constant(&mut self, id: ir::ExprId, site: Site) -> Out {
        match self.context.scope.eval(id) {
            Some(size) => {
                let id = self.int(size, code::Ty::SIZE, site);
                self.computed(id, Ty::SIZE, site)
            }
            None => self.unknown(Vec::new(), Effect::None, Ty::SIZE, site),
        }
    }

    fn size_of_value(&mut self, id: ir::ExprId, value: ir::ExprId, site: Site) -> Out {
        // What is lowered here is never run.
        let out = self.expr(value);
        match self.size_of(&out.ty).filter(|_| out.ty != Ty::Void) {
            Some(size) => {
                let id = self.int(i64::from(size), code::Ty::SIZE, site);
                self.computed(id, Ty::SIZE, site)
            }
            None => self.size_constant(id, site),
        }
    }

    fn subscript(&mut self, base: ir::ExprId, indices: &[ir::ExprId], site: Site) -> Out {
        let base = self.expr(base);
        match indices {
            [index] => {
                let index = self.expr(*index);
                self.element(&base, &index, site)
            }
            indices => {
                let mut args = vec![base];
                for index in indices {
                    args.push(self.expr(*index));
                }
                match self.user_operator("operator[]", &args, site) {
                    Some(out) => out,
                    None => {
                        self.gap("several indices");
                        let children = args.iter().map(|arg| self.load(arg)).collect();
                        self.unknown(children, Effect::None, Ty::Unknown, site)
                    }
                }
            }
        }
    }

    fn address_of(&mut self, value: ir::ExprId, site: Site) -> Out {
        let value = self.place_of(value);
        if matches!(&value.ty, Ty::Library(name, _) if &**name == super::meaning::FUNCTION) {
            return value;
        }
        let is_own = self.project.overloads_address(&value.ty);
        if is_own || value.ty == Ty::Unknown && matches!(value.at, At::Value(_)) {
            let id = self.load(&value);
            let id = self.opaque_pointer(vec![id], site);
            return self.computed(id, Ty::pointer_to(Ty::Unknown), site);
        }
        let id = self.address(&value);
        Out { volatile: value.volatile, ..self.computed(id, Ty::pointer_to(value.ty), site) }
    }

    /// A conversion that the source spells out stands where that is, and not where its operand stands.
    pub(super) fn conversion_is_written(&mut self, id: code::ExprId, site: Site) {
        if let Some(node) = self.code.exprs.get_mut(id)
            && matches!(node.kind, Expr::Convert(_))
        {
            node.site = site;
        }
    }

    fn cast(&mut self, ty: ir::TypeId, value: ir::ExprId, site: Site) -> Out {
        let to = self.resolve(ty);
        let volatile = super::types::is_volatile(self.context.ir, ty);
        let out = self.value_of_type(value, to.value());
        match &to {
            Ty::Void => {
                let object = matches!(out.at, At::Value(_)) && self.has_own(Own::Destructor, &out.ty);
                let id = if object { self.address(&out) } else { self.discard(&out) };
                self.computed(id, Ty::Void, site)
            }
            // `(T&)x`: the same bytes read as another type.
            Ty::Reference(target) if !matches!(out.at, At::Value(_)) => {
                let target = (**target).clone();
                let address = self.address(&out);
                self.pointed(address, target, volatile || out.volatile, site)
            }
            Ty::Unknown | Ty::Auto => {
                let id = self.load(&out);
                if matches!(self.context.ir.types.get(ty), Some(ir::Type::Auto)) {
                    return self.loaded(&out);
                }
                self.gap("cast to unknown type");
                self.unknown(vec![id], Effect::None, Ty::Unknown, site)
            }
            _ => {
                let target = to.value().clone();
                let id = self.convert(&out, &target);
                self.conversion_is_written(id, site);
                // The number in an address is kept where it is one.
                let keeps = matches!(target, Ty::Pointer(_));
                Out { volatile: volatile || (keeps && out.volatile), ..self.computed(id, target.decayed(), site) }
            }
        }
    }
}
