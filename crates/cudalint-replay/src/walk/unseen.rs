//! Calls of code that is not followed: out of sight, too deep, or a parameter that takes any number of arguments.

use super::{Out, Walker};
use crate::arith;
use crate::facts::Origin;
use crate::host::NO_ARGUMENTS;
use crate::memory::Place;
use crate::value::{Kind, Val};
use cudalint_program::ir::{
    Expr, ExprId, Function, FunctionId, FunctionRole, LocalId, Module, ModuleId, Path, Record, Type, TypeId, Variable,
};
use cudalint_program::types::{Ty, TypeEnv};
use cudalint_program::{Entry, Name};
use typed_index_collections::TiSlice;

/// Most classes between an object's and the one that has a method.
const MAX_BASES: u32 = 6;
/// Most objects behind a pointer to something constant whose own pointers are looked at.
const MAX_LENT: u32 = 64;

impl<'p> Walker<'p> {
    /// Whether a method of the object around, or of a base of it that is in sight, hides what a name was taken for: it hides
    /// all functions of its name that are not its class's own. What it does itself is not known then.
    pub(super) fn is_hidden(&self, name: &Name, found: Option<(ModuleId, FunctionId)>) -> bool {
        let found = found.and_then(|(module, id)| self.project.function_at(module, id));
        // A method that is defined apart from its class may look like a function of a namespace.
        if found.is_some_and(|function| function.role != FunctionRole::Free) {
            return false;
        }
        let this = self.frames.last().and_then(|frame| frame.this.as_ref());
        let entry = match this.map(|(_, ty)| ty.value()) {
            Some(Ty::Record(entry, _)) => Some(*entry),
            // A method that is walked by itself. Where its class is in another file, it looks like a function of a namespace.
            _ => self
                .function()
                .and_then(|function| self.project.record(self.module_id(), &Path::default(), &function.scope)),
        };
        let holder = entry.and_then(|entry| self.holder_of(entry, name, 0));
        holder.is_some_and(|record| {
            let own = record.scope.within(record.name.clone());
            found.is_none_or(|function| function.scope != own)
        })
    }

    /// Whether a function is a method of the class around, defined in a file apart from its class, where it looks like a
    /// function of a namespace.
    pub(super) fn is_own_method(&self, function: &Function) -> bool {
        let Some((_, ty)) = self.frames.last().and_then(|frame| frame.this.as_ref()) else { return false };
        let Ty::Record(entry, _) = ty.value() else { return false };
        let holder = self.holder_of(*entry, &function.name, 0);
        holder.is_some_and(|record| function.scope == record.scope.within(record.name.clone()))
    }

    /// The first of a class and its bases that has a method of a name.
    fn holder_of(&self, entry: Entry, name: &Name, depth: u32) -> Option<&'p Record> {
        let record = self.project.record_at(entry).filter(|_| depth < MAX_BASES)?;
        let module = self.project.module(entry.module);
        let own = |id: &FunctionId| {
            module.functions.get(*id).is_some_and(|method| {
                method.name == *name && matches!(method.role, FunctionRole::Method | FunctionRole::Operator)
            })
        };
        if record.methods.iter().any(own) {
            return Some(record);
        }
        record.bases.iter().find_map(|base| {
            let Some(Type::Named { path, .. }) = module.types.get(*base) else { return None };
            let base = self.project.record(entry.module, &record.scope, path)?;
            self.holder_of(base, name, depth + 1)
        })
    }

    /// A call of code that is not walked: it may write all that it can reach. `declared` tells by which types it takes
    /// its arguments.
    pub fn unknown_call(&mut self, exprs: &[ExprId], outs: &[Out], declared: Option<(ModuleId, &'p Function)>) -> Out {
        self.anything_happens();
        // Code out of sight that is given a comparison may be a check.
        for expr in exprs {
            if matches!(
                self.kind(*expr),
                Some(Expr::Binary(..) | Expr::AndThen(..) | Expr::OrElse(..) | Expr::Unary(..))
            ) {
                self.assume_passed(*expr);
            }
        }
        self.finds_out(exprs, outs);
        let from_command_line =
            outs.iter().any(|out| out.val.why.as_ref().is_some_and(|why| why.iter().any(|text| text == NO_ARGUMENTS)));
        self.hand_over(exprs, outs, declared);
        self.perhaps_called(exprs, outs);
        let ty = declared.map_or(Ty::Unknown, |(module, function)| {
            self.resolve_in(module, function, &TypeEnv::default(), function.returns).value().clone()
        });
        if from_command_line {
            let val = Val { kind: Kind::Flag(false), why: crate::quantity::assume(NO_ARGUMENTS) };
            return Out::new(val, ty);
        }
        let val = arith::convert(&mut self.atoms, &Val::unknown(), &ty);
        Out { val, ty, place: Some(Place::Unknown) }
    }

    /// Code that is not followed gets these arguments: it may write what it can reach through them.
    pub(super) fn hand_over(&mut self, exprs: &[ExprId], outs: &[Out], declared: Option<(ModuleId, &'p Function)>) {
        for (index, out) in outs.iter().enumerate() {
            let by = declared.and_then(|(module, function)| {
                (index < function.param_count as usize).then(|| (module, &function.locals[LocalId::from(index)]))
            });
            let (reads_only, by_value) = match by {
                Some((module, variable)) => {
                    let types = &self.project.module(module).types;
                    match types.get(variable.ty) {
                        Some(Type::Pointer(to)) => (const_type(types, *to), true),
                        // A pointer behind it may still be written through.
                        Some(Type::Reference(to)) => (false, const_type(types, *to)),
                        _ => (false, true),
                    }
                }
                None => (false, false),
            };
            if reads_only {
                self.lend(out);
                continue;
            }
            self.hand_out(out);
            let literal = exprs.get(index).is_none_or(|expr| !self.is_lvalue(*expr));
            if !by_value
                && !literal
                && !exprs.get(index).is_some_and(|expr| self.is_extent(*expr, &out.ty))
                && let Some(place) = &out.place
            {
                let place = place.clone();
                self.escape(&place);
                self.forget_place(&place);
            }
        }
        self.memory.forget_escaped();
    }

    /// Whether an argument is a member of a `dim3`, by its name and type: sizes of grids and blocks are computed from such, and
    /// nobody takes one by reference to change it.
    fn is_extent(&self, expr: ExprId, ty: &Ty) -> bool {
        let member = |name: &Name| ["x", "y", "z"].contains(&name.as_str());
        *ty == Ty::UINT && matches!(self.kind(expr), Some(Expr::Member { name, .. }) if member(name))
    }

    /// Code out of sight gets a pointer to what it cannot write: what pointers in there lead to may change all the same.
    fn lend(&mut self, out: &Out) {
        let mut pending = Vec::new();
        out.val.pointers(&mut pending);
        let mut left = MAX_LENT;
        while let (Some(object), true) = (pending.pop(), left > 0) {
            left -= 1;
            let mut inside = Vec::new();
            self.memory.get(object).pointers(&[], &mut inside);
            for object in inside {
                // A container owns its elements, and is constant with them.
                if matches!(self.memory.get(object).info.origin, Origin::Vector | Origin::Text) {
                    pending.push(object);
                } else {
                    self.memory.forget_reachable(object);
                }
            }
        }
    }

    /// An object is made of these arguments by a constructor that is not followed: it may keep references to them.
    pub(super) fn kept_by_object(&mut self, ty: &Ty, exprs: &[ExprId], outs: &[Out]) {
        self.anything_happens();
        for (index, out) in outs.iter().enumerate() {
            self.hand_out(out);
            if let (Some(expr), Some(place)) = (exprs.get(index), &out.place)
                && self.is_lvalue(*expr)
                && self.takes_reference(ty, index, 0)
            {
                self.escape(place);
                self.forget_place(place);
            }
        }
        self.perhaps_called(exprs, outs);
    }

    /// Whether a constructor of a class may take its argument at `index` by a reference through which it can write.
    fn takes_reference(&self, ty: &Ty, index: usize, depth: u32) -> bool {
        let Ty::Record(entry, env) = ty.value() else { return !ty.is_scalar() && ty.value().container().is_none() };
        let Some(record) = self.project.record_at(*entry).filter(|record| record.defined && depth < MAX_BASES) else {
            return true;
        };
        let module = self.project.module(entry.module);
        let constructors = record.methods.iter().filter_map(|id| module.functions.get(*id));
        let mut constructors = constructors.filter(|method| method.role == FunctionRole::Constructor).peekable();
        if constructors.peek().is_none() {
            // One that it inherits.
            return record.bases.is_empty()
                || record.bases.iter().any(|base| {
                    let base = self.part_type(*entry, env, *base);
                    self.takes_reference(&base, index, depth + 1)
                });
        }
        constructors.any(|method| {
            let by = method.params().get(LocalId::from(index)).and_then(|param| module.types.get(param.ty));
            matches!(by, Some(Type::Reference(to)) if !const_type(&module.types, *to))
                || pack_parameter(module, method).is_some_and(|pack| pack <= index)
        })
    }

    /// Code out of sight gets a value: what it points to may change from now on.
    pub fn hand_out(&mut self, out: &Out) {
        let mut pointers = Vec::new();
        out.val.pointers(&mut pointers);
        for object in pointers {
            self.memory.forget_reachable(object);
        }
    }
}

/// The parameter that takes any number of arguments: `Args &&...args`. They are not followed.
pub(super) fn pack_parameter(module: &Module, function: &Function) -> Option<usize> {
    let packs: Vec<&Name> =
        function.template_params.iter().filter(|param| param.pack).map(|param| &param.name).collect();
    if packs.is_empty() {
        return None;
    }
    let mentions = |variable: &Variable| {
        let mut ty = variable.ty;
        for _ in 0..4 {
            match module.types.get(ty) {
                Some(Type::Pointer(to) | Type::Reference(to) | Type::Qualified { ty: to, .. }) => ty = *to,
                Some(Type::Named { path, .. }) => return path.last().is_some_and(|name| packs.contains(&name)),
                _ => return false,
            }
        }
        false
    };
    function.params().iter().position(mentions)
}

pub(super) fn const_type(types: &TiSlice<TypeId, Type>, id: TypeId) -> bool {
    matches!(types.get(id), Some(Type::Qualified { is_const: true, .. }))
}
