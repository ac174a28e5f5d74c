//! What a constructor makes before its own work: the parts that bases have, then the fields, each by the constructor's initializer or by
//! what the class gives it; or all of it by another constructor of the class.

use super::Walker;
use crate::memory::Place;
use cudalint_program::Name;
use cudalint_program::ir::{ExprId, Function, FunctionRole, ModuleId, Record, Type};
use cudalint_program::types::Ty;

/// How many classes may stand above one.
const MAX_BASES: u32 = 6;

/// `name(args)` in front of a constructor's body.
type MemberInit = (Name, Vec<ExprId>);

impl<'p> Walker<'p> {
    /// Member initializers of a constructor, and the initializers written at fields.
    pub fn run_member_inits(&mut self, function: &'p Function) {
        if function.role != FunctionRole::Constructor {
            return;
        }
        let Some((place, ty)) = self.frames.last().and_then(|frame| frame.this.clone()) else { return };
        let (mut fields, mut others) = (Vec::new(), Vec::new());
        for init in &function.member_inits {
            let is_field = self.field_type(&ty, &init.0).is_some();
            if is_field { &mut fields } else { &mut others }.push(init);
        }
        if self.make_bases(&place, &ty, others, 0) {
            return;
        }
        self.make_fields(&place, &ty, &mut |w, name| {
            let Some(at) = fields.iter().position(|(field, _)| field == name) else { return false };
            w.make_field(&place, &ty, fields.remove(at));
            true
        });
        // Of a base, or of what was read wrongly.
        for init in fields {
            self.make_field(&place, &ty, init);
        }
    }

    /// The parts of an object that bases have, in the order of the bases. Whether another constructor of the class has made all of the
    /// object.
    pub(super) fn make_bases(&mut self, place: &Place, ty: &Ty, mut inits: Vec<&'p MemberInit>, depth: u32) -> bool {
        let Ty::Record(entry, env) = ty.value() else { return false };
        let Some(record) = self.project.record_at(*entry) else { return false };
        if let Some(at) = inits.iter().position(|(name, _)| *name == record.name) {
            self.make_base(place, ty, &inits.remove(at).1, depth);
            return true;
        }
        for base in &record.bases {
            // The class of the whole object makes those that are shared.
            let class = if record.has_virtual_bases { Ty::Unknown } else { self.part_type(*entry, env, *base) };
            let name = match self.project.module(entry.module).types.get(*base) {
                Some(Type::Named { path, .. }) => path.last(),
                _ => None,
            };
            let own = inits.iter().position(|(init, _)| Some(init) == name);
            let args = own.map_or(&[][..], |at| &inits.remove(at).1);
            self.make_base(place, &class, args, depth);
        }
        // An alias of a base.
        for (_, args) in inits {
            self.make_base(place, &Ty::Unknown, args, depth);
        }
        false
    }

    /// The part of an object that is made by a constructor of its own class, or of a base.
    fn make_base(&mut self, place: &Place, class: &Ty, args: &'p [ExprId], depth: u32) {
        let outs = self.arguments_of(None, args);
        // Where a text is read wrongly a class may be its own base, several times.
        if let Ty::Record(entry, _) = class.value()
            && depth < MAX_BASES
            && self.budget.step()
            && let Some(record) = self.project.record_at(*entry).filter(|record| record.defined)
        {
            // A copy is one of that part alone.
            let copies = matches!(outs.as_slice(), [one] if self.same_record(class, &one.ty) || one.ty.is_unknown());
            if let (Some((module, id)), false) = (self.constructor(*entry, outs.len()), copies) {
                return self.run_constructor(place, class, module, id, args, outs, args.first().copied());
            }
            if outs.is_empty() && !self.has_constructors(entry.module, record) {
                self.make_bases(place, class, Vec::new(), depth + 1);
                self.make_fields(place, class, &mut |_, _| false);
                return;
            }
        }
        self.kept_by_object(class, args, &outs);
        self.forget_place(place);
    }

    /// Whether a class has constructors of its own.
    fn has_constructors(&self, module: ModuleId, record: &Record) -> bool {
        let functions = &self.project.module(module).functions;
        let mut methods = record.methods.iter().filter_map(|id| functions.get(*id));
        methods.any(|method| method.role == FunctionRole::Constructor)
    }

    /// A field that a constructor gives a value.
    fn make_field(&mut self, place: &Place, ty: &Ty, (field, args): &'p MemberInit) {
        let Some(field_ty) = self.field_type(ty, field) else { return };
        let at = self.field_place(place, field);
        match args.as_slice() {
            [one]
                if matches!(field_ty, Ty::Reference(_))
                    || (!matches!(field_ty.value(), Ty::Record(..)) && field_ty.value().container().is_none()) =>
            {
                self.initialize(&at, &field_ty, *one);
            }
            args => self.construct_at(&at, &field_ty, args, false),
        }
    }
}
