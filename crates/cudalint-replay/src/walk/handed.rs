//! Members of objects that whoever calls the function where the walk begins hands over, where nobody in sight does: numbers of their own,
//! each the same as long as nothing may have written it.

use super::{Out, Slot, Walker};
use crate::host::ObjId;
use crate::memory::{Key, Place};
use crate::quantity::{AtomKind, Quantity};
use crate::value::{Int, Kind, Val};
use cudalint_program::Name;
use cudalint_program::ir::{Expr, ExprId, LocalId};
use cudalint_program::types::Ty;

impl Walker<'_> {
    /// Whether the function around is where the walk began, and nobody in sight calls it.
    fn is_for_anybody(&self) -> bool {
        !self.from_main && !self.entry_is_called
    }

    /// Whether a place is a member of an object that is handed over by value or reference, or of the object of a method.
    pub(super) fn is_handed_over(&self, object: ObjId, path: &[Key]) -> bool {
        let Some(entry) = self.frames.first().filter(|_| self.is_for_anybody()) else { return false };
        let is_this = matches!(&entry.this, Some((Place::Cell(this, _), _)) if *this == object);
        let parameters = entry
            .function
            .and_then(|id| self.project.function_at(entry.module, id))
            .map_or(0, |function| function.param_count as usize);
        let mut slots = entry.slots.iter().take(parameters);
        path.len() == 1
            && matches!(path.first(), Some(Key::Field(_)))
            && (is_this || slots.any(|slot| matches!(slot, Slot::Object(own) if *own == object)))
    }

    /// What was read behind a parameter of the entry that is a pointer, `image->width`.
    pub(super) fn behind_parameter(&mut self, id: ExprId, out: Out) -> Out {
        let (Kind::Int(Int { q: Quantity::Unknown, bytes: 4.., .. }), Some(Place::Unknown)) =
            (&out.val.kind, &out.place)
        else {
            return out;
        };
        let Some(key) =
            self.member_behind(id).filter(|_| self.dry == 0 && self.log.muted == 0 && out.val.why.is_none())
        else {
            return out;
        };
        let Ty::Int { bytes, signed } = *out.ty.value() else { return out };
        let number = match self.handed.get(&key) {
            Some(number) => number.clone(),
            None => {
                let name = format!("{}->{}", self.text_of_parameter(key.0), key.1);
                let number = self.atoms.fresh(&name, AtomKind::Field);
                self.handed.insert(key, number.clone());
                number
            }
        };
        Out { val: Val::typed(number, bytes, signed), ..out }
    }

    /// A member of that name may be written: it is another number from here on.
    pub(super) fn may_write_member(&mut self, name: &Name) {
        self.handed.retain(|(_, member), _| member != name);
    }

    /// Code out of sight may write any of them.
    pub(super) fn may_write_members(&mut self) {
        self.handed.clear();
        self.undeclared.clear();
    }

    /// A variable has been given the value of a name that nothing in sight declares, a member out of sight, say: two variables of one
    /// function that are given it are equal, as long as nobody may have written it meanwhile.
    pub(super) fn given_undeclared(&mut self, init: ExprId, place: &Place, ty: &Ty) {
        let Some(Expr::Name { path, targs }) = self.kind(init) else { return };
        let (Ty::Int { bytes: bytes @ 4.., signed }, [name]) = (ty.value(), &*path.segments) else { return };
        let is_unknown =
            |val: &Val| matches!(val.kind, Kind::Int(Int { q: Quantity::Unknown, .. })) && val.why.is_none();
        if self.dry > 0 || self.log.muted > 0 || !is_unknown(&self.memory.load(place)) {
            return;
        }
        if !matches!(self.meaning(path, targs), super::meaning::Meaning::None) {
            return;
        }
        let frame = self.frames.last().map(|frame| (frame.module, frame.function));
        let Some((module, function)) = frame else { return };
        let key = (module, function, name.clone());
        let number = match self.undeclared.get(&key) {
            Some(number) => number.clone(),
            None => {
                let number = self.atoms.fresh(name, AtomKind::Opaque);
                self.undeclared.insert(key, number.clone());
                number
            }
        };
        self.memory.store(place, Val::typed(number, *bytes, *signed));
    }

    /// `p->name` of a parameter `p` of the entry that nothing assigns.
    fn member_behind(&self, id: ExprId) -> Option<(LocalId, Name)> {
        let Some(Expr::Member { base, name, arrow: true }) = self.kind(id) else { return None };
        let Some(Expr::Local(local)) = self.kind(self.without_casts(*base)) else { return None };
        let [entry] = self.frames.as_slice() else { return None };
        let function = entry.function?;
        let parameters = self.project.function_at(entry.module, function)?.param_count;
        (self.is_for_anybody() && local.0 < parameters && !self.is_assigned(entry.module, function, *local))
            .then(|| (*local, name.clone()))
    }

    fn text_of_parameter(&self, local: LocalId) -> Name {
        let name = self.function().and_then(|function| function.locals.get(local)).map(|local| local.name.clone());
        name.unwrap_or_else(|| Name::from(""))
    }
}
