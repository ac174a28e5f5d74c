//! Braced lists: elements and fields in order. The braces around inner arrays and records may be missing: such a part takes as
//! many items as it has members.

use super::construct::LANES;
use super::{Out, Walker};
use crate::memory::{Key, Place, extend};
use crate::quantity::Quantity;
use crate::value::Val;
use cudalint_program::ir::{Expr, ExprId, FunctionRole, Type};
use cudalint_program::types::{Container, Ty};
use cudalint_program::{Entry, Name};
use std::rc::Rc;

/// Longest list whose items are kept.
const MAX_LIST: usize = 256;
/// How deep parts without braces of their own lie in each other.
const MAX_ELIDED: u32 = 8;

/// What is left of a list.
struct Items<'p> {
    rest: &'p [ExprId],
    /// The value of the first, where it has been looked at.
    ready: Option<Out>,
    /// Whether it is no longer known which item belongs to which part.
    lost: bool,
    /// How many parts without braces are being filled.
    depth: u32,
}

impl<'p> Walker<'p> {
    /// `T x[] = { … }` with the number of its elements.
    pub fn counted(&mut self, ty: Ty, init: Option<ExprId>) -> Ty {
        let (Ty::Array(inner, Quantity::Unknown), Some(init)) = (&ty, init) else { return ty };
        let items: &'p [ExprId] = match self.kind(init) {
            Some(Expr::InitList(items)) => items,
            Some(Expr::Construct { args, braces: true, .. }) => args,
            _ => {
                let letters = self.letters(inner, init);
                return letters.map_or_else(|| ty.clone(), |count| Ty::Array(inner.clone(), Quantity::Known(count)));
            }
        };
        if items.is_empty() || items.iter().any(|item| self.is_designated(*item)) {
            return ty;
        }
        // `char x[] = {"text"}` is `char x[] = "text"`.
        if let [only] = items
            && let Some(count) = self.letters(inner, *only)
        {
            return Ty::Array(inner.clone(), Quantity::Known(count));
        }
        let inner = inner.clone();
        let count = if self.is_made_of_parts(&inner) && !items.iter().all(|item| self.is_braced(*item)) {
            self.count_elided(&inner, items)
        } else {
            Some(items.len())
        };
        count.map_or(ty, |count| Ty::Array(inner, Quantity::Known(count as i64)))
    }

    /// How many letters a literal gives an array of letters, the zero at its end among them.
    fn letters(&self, element: &Ty, init: ExprId) -> Option<i64> {
        match (element, self.kind(init)) {
            (Ty::Int { bytes: 1, .. }, Some(Expr::Str(text))) => Some(text.len() as i64 + 1),
            _ => None,
        }
    }

    /// How many elements so many items without braces of their own make.
    fn count_elided(&mut self, inner: &Ty, items: &[ExprId]) -> Option<usize> {
        if items.len() > MAX_LIST {
            return None;
        }
        let types: Vec<Ty> = items.iter().map(|item| self.type_of(*item)).collect();
        if types.iter().all(|ty| self.same_record(inner, ty)) {
            return Some(items.len());
        }
        let size = self.scalars(inner, 0).filter(|size| *size > 0)?;
        types.iter().all(Ty::is_scalar).then(|| items.len().div_ceil(size))
    }

    /// How many scalars a type consists of.
    fn scalars(&mut self, ty: &Ty, depth: u32) -> Option<usize> {
        if let Some((inner, count)) = row(ty) {
            let count = usize::try_from(count.known()?).ok()?;
            return self.scalars(inner, depth + 1)?.checked_mul(count);
        }
        match ty.value() {
            ty if ty.is_scalar() => Some(1),
            Ty::Vector { name, lanes, .. } => Some(if name == "dim3" { 1 } else { usize::from(*lanes) }),
            Ty::Record(entry, env) if depth <= MAX_ELIDED => {
                let record = self.project.record_at(*entry)?;
                if record.is_union || record.fields.len() > MAX_LIST {
                    return None;
                }
                let mut total = 0_usize;
                for field in &record.fields {
                    let ty = self.part_type(*entry, env, field.ty);
                    total = total.checked_add(self.scalars(&ty, depth + 1)?)?;
                }
                Some(total)
            }
            _ => None,
        }
    }

    /// Whether an item says itself where it belongs (`.x = 1`), or is not understood, as `[3] = 1`.
    fn is_designated(&self, item: ExprId) -> bool {
        matches!(self.kind(item), Some(Expr::Designated { .. } | Expr::Unknown(_)))
    }

    pub(super) fn is_braced(&self, item: ExprId) -> bool {
        matches!(self.kind(item), Some(Expr::InitList(_) | Expr::Designated { .. } | Expr::Str(_)))
    }

    /// Whether a list gives a record's fields their values: nothing else makes its objects.
    pub(super) fn is_aggregate(&self, entry: Entry) -> bool {
        let Some(record) = self.project.record_at(entry) else { return false };
        record.bases.is_empty()
            && !record.methods.iter().any(|id| {
                self.project
                    .function_at(entry.module, *id)
                    .is_some_and(|method| method.role == FunctionRole::Constructor)
            })
    }

    /// Whether a list for what is around may leave out the braces of an object of this type.
    fn is_made_of_parts(&self, ty: &Ty) -> bool {
        match ty.value() {
            Ty::Vector { name, .. } => name != "dim3",
            Ty::Record(entry, _) => self.is_aggregate(*entry),
            _ => row(ty).is_some(),
        }
    }

    /// `{ … }` for an object.
    pub(super) fn initialize_list(&mut self, place: &Place, ty: &Ty, items: &'p [ExprId]) {
        match ty.value().container() {
            _ if matches!(ty.value(), Ty::Array(..)) => self.fill(place, ty, items),
            Some((Container::Array, ..)) => {
                // The braces of the array inside may be written or not.
                if let [one] = items
                    && let Some(Expr::InitList(inside)) = self.kind(*one)
                {
                    return self.fill(place, ty, inside);
                }
                if let (Some(true), [one]) = (self.copies_another(ty, items), items) {
                    let out = self.eval(*one);
                    return self.initialize_with(place, ty, *one, out);
                }
                self.fill(place, ty, items);
            }
            Some(_) => self.construct_container(place, ty, items, true),
            None => self.construct_at(place, ty, items, true),
        }
    }

    /// Gives the parts of an object the values of a list.
    pub(super) fn fill(&mut self, place: &Place, ty: &Ty, items: &'p [ExprId]) {
        let mut items = Items { rest: items, ready: None, lost: items.len() > MAX_LIST, depth: 0 };
        if !items.lost {
            self.fill_parts(place, ty, &mut items);
        }
        if items.lost {
            for item in items.rest {
                let out = self.eval(*item);
                self.hand_out(&out);
            }
            self.forget_place(place);
        }
    }

    fn fill_parts(&mut self, place: &Place, ty: &Ty, items: &mut Items<'p>) {
        self.memory.store(place, Val::zeroed());
        if let Some((inner, count)) = row(ty) {
            let (Place::Cell(obj, path), Some(size)) = (place, self.size_of(inner).known()) else {
                items.lost = true;
                return;
            };
            // Rows of an array are addressed from its start.
            let (around, start) = match path.split_last() {
                Some((Key::At(start), around)) => (Rc::from(around), *start),
                _ => (path.clone(), 0),
            };
            self.strides.insert((*obj, Rc::clone(&around)), size);
            // Where the size is not known, the list in its own braces says it, and nothing else does.
            let count = count.known().or((items.depth == 0).then_some(MAX_LIST as i64));
            let Some(count) = count else {
                items.lost = true;
                return;
            };
            for index in 0..count {
                let Some(first) = items.rest.first() else { break };
                items.lost |= self.is_designated(*first);
                if items.lost {
                    break;
                }
                let at = Place::Cell(*obj, extend(&around, Key::At(start + size * index)));
                self.fill_part(&at, inner, items);
            }
            return;
        }
        match ty.value() {
            Ty::Record(entry, _) => {
                self.fill_fields(place, ty, *entry, items);
            }
            Ty::Vector { lane, lanes, .. } => {
                let lane = Ty::of_scalar(*lane);
                for name in LANES.into_iter().take(usize::from(*lanes)) {
                    let at = self.field_place(place, &Name::from(name));
                    if !items.rest.is_empty() && !items.lost {
                        self.fill_part(&at, &lane, items);
                    }
                }
            }
            _ => items.lost = true,
        }
    }

    /// The elements of an array without an initializer: objects of classes begin as these say.
    pub(super) fn default_elements(&mut self, place: &Place, ty: &Ty) {
        let Some((inner, _)) = row(ty) else { return };
        let mut element = inner;
        for _ in 0..MAX_ELIDED {
            let Some((within, _)) = row(element) else { break };
            element = within;
        }
        if !matches!(element, Ty::Record(entry, _) if self.begins_with_values(*entry)) {
            return;
        }
        let inner = inner.clone();
        let Some(elements) = self.elements(place, ty) else { return self.forget_place(place) };
        for element in elements {
            // What is not set one by one is not known.
            if !self.budget.step() {
                return self.forget_place(place);
            }
            self.default_initialize(&element, &inner);
        }
    }

    /// The places of an array's elements; none where they are not known, or too many.
    pub(super) fn elements(&mut self, place: &Place, ty: &Ty) -> Option<Vec<Place>> {
        const MOST: i64 = 64;
        let (inner, count) = row(ty)?;
        let (Place::Cell(obj, path), size, count) = (place, self.size_of(inner).known()?, count.known()?) else {
            return None;
        };
        let (around, start) = match path.split_last() {
            Some((Key::At(start), around)) => (Rc::from(around), *start),
            _ => (path.clone(), 0),
        };
        self.strides.insert((*obj, Rc::clone(&around)), size);
        let at = |index| Place::Cell(*obj, extend(&around, Key::At(start + size * index)));
        (count <= MOST).then(|| (0..count).map(at).collect())
    }

    /// Whether a constructor or the class itself gives members of a new object values.
    fn begins_with_values(&self, entry: Entry) -> bool {
        self.constructor(entry, 0).is_some()
            || self.project.record_at(entry).is_none_or(|record| {
                let types = &self.project.module(entry.module).types;
                record.fields.iter().any(|field| {
                    field.init.is_some() || matches!(types.get(field.ty), Some(Type::Named { .. } | Type::Unknown))
                }) || !record.bases.is_empty()
            })
    }

    fn fill_fields(&mut self, place: &Place, ty: &Ty, entry: Entry, items: &mut Items<'p>) {
        let Some(record) = self.project.record_at(entry) else { return };
        // Only one member of a union has a value.
        let mut is_full = false;
        let made = self.make_fields(place, ty, &mut |w, name| {
            if items.lost || is_full {
                return true;
            }
            let Some(item) = items.rest.first() else { return false };
            match w.kind(*item) {
                Some(Expr::Designated { field, .. }) if items.depth > 0 || field != name => return false,
                Some(Expr::Designated { value, .. }) => {
                    w.fill_designated(place, ty, name, *value);
                    items.rest = &items.rest[1..];
                }
                _ => {
                    let at = w.field_place(place, name);
                    let field_ty = w.field_type(ty, name).unwrap_or(Ty::Unknown);
                    w.fill_part(&at, &field_ty, items);
                }
            }
            is_full = record.is_union;
            true
        });
        items.lost |= !made;
        // C allows designators in any order.
        while let (Some(item), false, 0) = (items.rest.first(), items.lost, items.depth) {
            let Some(Expr::Designated { field, value }) = self.kind(*item) else { return };
            self.fill_designated(place, ty, field, *value);
            items.rest = &items.rest[1..];
        }
    }

    fn fill_designated(&mut self, place: &Place, ty: &Ty, name: &Name, value: ExprId) {
        let at = self.field_place(place, name);
        let field_ty = self.field_type(ty, name).unwrap_or(Ty::Unknown);
        self.initialize(&at, &field_ty, value);
    }

    /// One part: of an item, or of as many as it has members.
    fn fill_part(&mut self, place: &Place, ty: &Ty, items: &mut Items<'p>) {
        let Some((first, rest)) = items.rest.split_first() else { return };
        let reference = matches!(ty, Ty::Reference(_));
        let elided = !reference && self.is_made_of_parts(ty) && !self.is_braced(*first);
        if !elided && items.ready.is_none() {
            self.initialize(place, ty, *first);
            items.rest = rest;
            return;
        }
        let out = items.ready.take().unwrap_or_else(|| self.eval(*first));
        let alike = match (ty.value(), out.ty.value()) {
            (Ty::Vector { .. }, _) => ty.value() == out.ty.value(),
            (Ty::Library(..), found) => found.container().is_some(),
            _ => self.same_record(ty, &out.ty),
        };
        if !elided || alike {
            self.initialize_with(place, ty, *first, out);
            items.rest = rest;
        } else if out.ty.is_unknown() || items.depth >= MAX_ELIDED {
            self.hand_out(&out);
            items.lost = true;
        } else {
            items.ready = Some(out);
            items.depth += 1;
            self.fill_parts(place, ty, items);
            items.depth -= 1;
        }
    }
}

/// The elements of an array, and how many it has.
fn row(ty: &Ty) -> Option<(&Ty, Quantity)> {
    match ty.value() {
        Ty::Array(inner, count) => Some((inner, count.clone())),
        ty => match ty.container() {
            Some((Container::Array, inner, count)) => Some((inner, count)),
            _ => None,
        },
    }
}
