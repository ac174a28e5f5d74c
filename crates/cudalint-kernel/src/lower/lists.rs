//! Braced lists: elements and fields in order. The braces around inner arrays, records and vectors may be missing: such a part
//! takes as many items as it has members.

use super::state::{Lent, Lowerer, Out};
use crate::code;
use crate::report::Site;
use cudalint_numbers::Quantity;
use cudalint_program::Entry;
use cudalint_program::ir;
use cudalint_program::types::{Ty, TypeEnv};
use std::sync::Arc;

/// Longest list whose elements are stored one by one.
const MAX_LIST: usize = 512;

/// What is left of a list.
struct Items<'p> {
    rest: &'p [ir::ExprId],
    /// The value of the first, where it has been looked at.
    ready: Option<Out>,
    /// Whether it is no longer known which item belongs to which part.
    lost: bool,
    /// Whether these are the items of something around, whose braces hold this part's as well.
    elided: bool,
}

impl<'p> Lowerer<'p> {
    /// `int a[] = {1, 2, 3}` has three elements.
    pub(super) fn counted(&mut self, ty: Ty, init: Option<ir::ExprId>) -> Ty {
        let (Ty::Array(of, Quantity::Unknown), Some(init)) = (&ty, init) else { return ty };
        let items: &'p [ir::ExprId] = match self.node(init).map(|node| &node.kind) {
            Some(ir::Expr::InitList(items) | ir::Expr::Construct { args: items, braces: true, .. }) => items,
            Some(ir::Expr::Str(text)) => return Ty::Array(Arc::clone(of), (text.len() as i64 + 1).into()),
            _ => return ty,
        };
        let of = Arc::clone(of);
        let mut count = items.len();
        if self.is_made_of_parts(&of) && !items.iter().all(|item| self.is_braced(*item)) {
            // Values that nobody uses: only their types are asked for.
            let types: Vec<Ty> = items.iter().take(MAX_LIST).map(|item| self.expr(*item).ty).collect();
            if types.iter().any(|ty| *ty != *of) {
                let size = if types.iter().all(is_scalar) { self.scalars(&of) } else { None };
                let Some(size) = size.filter(|size| *size > 0) else { return ty };
                count = count.div_ceil(size);
            }
        }
        Ty::Array(of, (count as i64).into())
    }

    /// How many scalars a type consists of.
    fn scalars(&mut self, ty: &Ty) -> Option<usize> {
        self.deeper(|this| match ty {
            ty if is_scalar(ty) => Some(1),
            Ty::Vector { name, lanes, .. } => Some(if &**name == "dim3" { 1 } else { usize::from(*lanes) }),
            Ty::Array(of, count) => this.scalars(of)?.checked_mul(usize::try_from(count.known()?).ok()?),
            Ty::Record(entry, _) => {
                let record = this.project.record_at(*entry)?;
                if record.is_union || record.fields.len() > MAX_LIST {
                    return None;
                }
                let mut total = 0_usize;
                for field in &record.fields {
                    let field = this.field(ty, &field.name)?;
                    total = total.checked_add(this.scalars(&field.ty)?)?;
                }
                Some(total)
            }
            _ => None,
        })?
    }

    fn is_braced(&self, item: ir::ExprId) -> bool {
        matches!(
            self.node(item).map(|node| &node.kind),
            Some(ir::Expr::InitList(_) | ir::Expr::Designated { .. } | ir::Expr::Str(_))
        )
    }

    /// Whether a list for what is around may leave out the braces of an object of this type.
    fn is_made_of_parts(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Array(..) => true,
            Ty::Vector { name, .. } => name != "dim3",
            Ty::Record(entry, _) => {
                !self.has_constructor(*entry)
                    && self.project.record_at(*entry).is_some_and(|record| record.bases.is_empty())
            }
            _ => false,
        }
    }

    /// `{a, b}` for an array, a record or a vector.
    pub(super) fn initialize_list(&mut self, target: &Out, items: &'p [ir::ExprId], site: Site, out: &mut code::Block) {
        let mut items = Items { rest: items, ready: None, lost: items.len() > MAX_LIST, elided: false };
        if !items.lost && self.deeper(|this| this.fill(target, &mut items, site, out)).is_none() {
            items.lost = true;
        }
        if items.lost {
            let ready = items.ready.take();
            let rest = if ready.is_some() { items.rest.get(1..).unwrap_or(&[]) } else { items.rest };
            let rest = if rest.len() > MAX_LIST { &[] } else { rest };
            let values: Vec<Out> = ready.into_iter().chain(rest.iter().map(|item| self.expr(*item))).collect();
            let children = values.iter().map(|value| self.load(value)).collect();
            self.forget(target, children, out);
        }
    }

    /// Gives the parts of an object the values of a list.
    fn fill(&mut self, target: &Out, items: &mut Items<'p>, site: Site, out: &mut code::Block) {
        match target.ty.clone() {
            Ty::Array(of, count) => self.fill_elements(target, &of, count.known(), items, site, out),
            Ty::Record(entry, env) => self.fill_fields(target, (entry, &env), items, site, out),
            Ty::Vector { lanes, .. } if items.elided => {
                let values = self.take_values(usize::from(lanes), items);
                let vector = target.ty.clone();
                let value = self.vector_of(&vector, &values, usize::from(lanes), 0, site);
                let stored = self.store(target, value);
                self.emit_effect(&stored, site, out);
            }
            Ty::Vector { .. } | Ty::Library(..) => self.construct_at(target, items.rest, true, site, out),
            _ => match items.rest {
                [] => self.zero(target, out),
                [one] => self.initialize(target, *one, out),
                _ => items.lost = true,
            },
        }
    }

    /// The next values of a list, one for each lane of a vector.
    fn take_values(&mut self, most: usize, items: &mut Items<'p>) -> Vec<Out> {
        let mut values = Vec::new();
        while let (Some((first, rest)), true) = (items.rest.split_first(), values.len() < most) {
            values.push(items.ready.take().unwrap_or_else(|| self.expr(*first)));
            items.rest = rest;
        }
        values
    }

    fn fill_elements(
        &mut self,
        target: &Out,
        of: &Ty,
        count: Option<i64>,
        items: &mut Items<'p>,
        site: Site,
        out: &mut code::Block,
    ) {
        if let [one] = items.rest
            && !items.elided
            && let Some(ir::Expr::InitList(inside)) = self.node(*one).map(|node| &node.kind)
            && !matches!(of, Ty::Array(..) | Ty::Record(..) | Ty::Vector { .. })
            && inside.len() != 1
        {
            // `std::array<int, 2> a{{1, 2}}`.
            return self.initialize_list(target, inside, site, out);
        }
        let bare = self.is_made_of_parts(of) && !items.rest.iter().all(|item| self.is_braced(*item));
        if bare || count.is_none_or(|count| (items.rest.len() as i64) < count) {
            self.zero(target, out);
            self.default_parts(target, out);
        }
        let most = match count {
            Some(count) => count,
            None if items.elided => {
                items.lost = true;
                return;
            }
            None => MAX_LIST as i64,
        };
        for index in 0..most {
            let Some(first) = items.rest.first().filter(|_| !items.lost) else { return };
            // `.x = 1`, and `[3] = 1`, which is not understood, say themselves where they belong.
            if matches!(
                self.node(*first).map(|node| &node.kind),
                Some(ir::Expr::Designated { .. } | ir::Expr::Unknown(_))
            ) {
                items.lost = true;
                return;
            }
            let at = self.int(index, code::Ty::INT, site);
            let at = self.computed(at, Ty::INT, site);
            let element = self.element(target, &at, self.site_of(*first));
            self.fill_part(&element, items, out);
        }
    }

    fn fill_fields(
        &mut self,
        target: &Out,
        (entry, env): (Entry, &TypeEnv),
        items: &mut Items<'p>,
        site: Site,
        out: &mut code::Block,
    ) {
        if self.has_constructor(entry) {
            let values: Vec<Out> = items.rest.iter().map(|arg| self.expr(*arg)).collect();
            if let Some(call) = self.constructor_call(target, entry, env, &values, site) {
                let stmt = self.push_stmt(code::Stmt::Expr(call), site);
                out.push(stmt);
                return;
            }
            let children = values.iter().map(|value| self.load(value)).collect();
            return self.forget(target, children, out);
        }
        let Some(record) = self.project.record_at(entry) else { return };
        let mut bare = false;
        for (field, item) in record.fields.iter().zip(items.rest) {
            bare |= !self.is_braced(*item)
                && self.field(&target.ty, &field.name).is_some_and(|field| self.is_made_of_parts(&field.ty));
        }
        if bare || items.elided || items.rest.len() < record.fields.len() || !record.bases.is_empty() {
            self.zero(target, out);
            self.field_defaults(target, entry, env, out);
        }
        if !record.bases.is_empty() && !items.rest.is_empty() {
            items.lost = true;
            return;
        }
        let mut at = 0;
        while let Some((first, rest)) = items.rest.split_first().filter(|_| !items.lost) {
            let designated = match self.node(*first).map(|node| &node.kind) {
                Some(ir::Expr::Designated { field, value }) => Some((field, *value)),
                _ => None,
            };
            let name = match (designated, record.fields.get(at)) {
                (Some(_), _) if items.elided => return,
                (Some((field, _)), _) => field,
                (None, Some(field)) => &field.name,
                (None, None) => return,
            };
            let Some(field) = self.field(&target.ty, name) else {
                items.lost = true;
                return;
            };
            let value = designated.map_or(*first, |(_, value)| value);
            let part = self.part(target, field.offset, &field.ty, self.site_of(value));
            if let Ty::Reference(to) = &field.ty {
                let to = (**to).clone();
                let value = items.ready.take().unwrap_or_else(|| self.expr(value));
                let address = self.bind_reference(&value, &to, Lent::Changeable);
                let stored = self.store(&part, address);
                self.emit_effect(&stored, site, out);
                items.rest = rest;
            } else if designated.is_some() {
                self.initialize(&part, value, out);
                items.rest = rest;
            } else {
                self.fill_part(&part, items, out);
            }
            // Only the first member of a union has a value.
            at = match record.fields.iter().position(|field| field.name == *name) {
                Some(found) if !record.is_union => found + 1,
                _ => record.fields.len(),
            };
        }
    }

    /// One part: of an item, or of as many as it has members.
    fn fill_part(&mut self, part: &Out, items: &mut Items<'p>, out: &mut code::Block) {
        let Some((first, rest)) = items.rest.split_first() else { return };
        let whole = !self.is_made_of_parts(&part.ty) || self.is_braced(*first);
        if whole && items.ready.is_none() {
            self.initialize(part, *first, out);
            items.rest = rest;
            return;
        }
        let value = items.ready.take().unwrap_or_else(|| self.expr(*first));
        if whole || value.ty == part.ty {
            self.copy_in(part, &value, out);
            items.rest = rest;
        } else if matches!(value.ty, Ty::Unknown | Ty::Auto | Ty::Library(..)) {
            items.ready = Some(value);
            items.lost = true;
        } else {
            items.ready = Some(value);
            let around = std::mem::replace(&mut items.elided, true);
            if self.deeper(|this| this.fill(part, items, part.site, out)).is_none() {
                items.lost = true;
            }
            items.elided = around;
        }
    }
}

fn is_scalar(ty: &Ty) -> bool {
    matches!(ty, Ty::Bool | Ty::Int { .. } | Ty::Float { .. } | Ty::Enum { .. } | Ty::Pointer(_))
}
