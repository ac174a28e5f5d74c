//! Memory with static storage: shared arrays, constants, variables of the device.

use super::state::{Context, Lowerer};
use crate::code::{ObjectId, ObjectSpace, StaticObject};
use crate::report::Site;
use cudalint_numbers::Quantity;
use cudalint_program::ir::{self, Space};
use cudalint_program::types::{Ty, TypeEnv};
use cudalint_program::{Entry, Scope};
use std::sync::Arc;

/// Most values of a table that are kept.
const MAX_VALUES: usize = 65_536;

impl<'p> Lowerer<'p> {
    /// Makes the object of a declaration.
    pub(super) fn static_object(&mut self, found: &'p ir::Variable, ty: &Ty, site: Site) -> ObjectId {
        let at_namespace_scope = self.context.function.is_none();
        let (space, open) = match found.space {
            Space::Shared => (ObjectSpace::Shared, false),
            // At namespace scope `extern` is not kept; what has a size is no array of the launch.
            Space::DynamicShared if at_namespace_scope && !matches!(ty, Ty::Array(_, Quantity::Unknown)) => {
                (ObjectSpace::Shared, false)
            }
            // A name may stand for an array without a size.
            Space::DynamicShared => (ObjectSpace::DynamicShared, true),
            Space::Constant => (ObjectSpace::Constant, false),
            Space::Static | Space::Extern | Space::Ordinary if self.is_const(found) => (ObjectSpace::Constant, false),
            _ => (ObjectSpace::Device, false),
        };
        let bytes = if open { None } else { self.size_of(ty).map(u64::from) };
        let mut element = ty;
        let mut extents = Some(Vec::new());
        while let Ty::Array(of, extent) = element {
            extents = extents.zip(extent.known()).map(|(all, extent)| [all, vec![extent]].concat());
            element = of;
        }
        let align = self.ty(element).align();
        let values = match space {
            ObjectSpace::Constant => self.table(found, ty),
            ObjectSpace::Device if self.is_const(found) => self.table(found, ty),
            _ => None,
        };
        let object = StaticObject {
            name: found.name.to_string(),
            site,
            space,
            bytes,
            element: self.size_of(element).filter(|bytes| *bytes > 0).unwrap_or(1),
            extents: extents.unwrap_or_default(),
            align,
            values,
        };
        self.code.objects.push_and_get_key(object)
    }

    fn is_const(&self, found: &ir::Variable) -> bool {
        found.is_constexpr || self.context.ir.is_const(found.ty)
    }

    /// The numbers of an initializer, fractions as their bits. A `__constant__` table that is not `const` may be overwritten by the host: its values
    /// are taken where no call that names a symbol names it.
    fn table(&self, found: &ir::Variable, ty: &Ty) -> Option<(u8, Arc<[i64]>)> {
        found.init?;
        let mut element = ty;
        while let Ty::Array(of, _) = element {
            element = of;
        }
        let bytes = match element.value() {
            Ty::Float { bytes } => *bytes,
            element => element.integer()?.0,
        };
        if !self.is_const(found) && self.project.is_symbol_of_host(&found.name) {
            return None;
        }
        let total = self.size_of(ty)? as usize / usize::from(bytes.max(1));
        let mut values = Vec::new();
        self.table_values(found.init?, ty, &mut values, 0)?;
        if values.len() > total || total > MAX_VALUES {
            return None;
        }
        values.resize(total, 0);
        Some((bytes, values.into()))
    }

    fn table_values(&self, init: ir::ExprId, ty: &Ty, out: &mut Vec<i64>, nesting: u32) -> Option<()> {
        if nesting > 8 || out.len() > MAX_VALUES {
            return None;
        }
        let Ty::Array(of, count) = ty else {
            out.push(self.table_value(init, ty)?);
            return Some(());
        };
        let (ir::Expr::InitList(items) | ir::Expr::Construct { args: items, braces: true, .. }) =
            &self.node(init)?.kind
        else {
            return None;
        };
        let start = out.len();
        let scalars = !matches!(**of, Ty::Array(..));
        for item in items {
            let list = matches!(self.node(*item)?.kind, ir::Expr::InitList(_));
            if scalars || list {
                self.table_values(*item, of, out, nesting + 1)?;
            } else {
                // Braces inside may be left out.
                out.push(self.table_value(*item, of)?);
            }
        }
        // The rest of an inner array is zero.
        let Some(inner) = count.known().filter(|_| nesting > 0) else { return Some(()) };
        let mut size = usize::try_from(inner).ok()?;
        let mut element = &**of;
        while let Ty::Array(of, Quantity::Known(count)) = element {
            size *= usize::try_from(*count).ok()?;
            element = of;
        }
        if out.len() < start + size && start + size <= MAX_VALUES {
            out.resize(start + size, 0);
        }
        Some(())
    }

    fn table_value(&self, value: ir::ExprId, ty: &Ty) -> Option<i64> {
        let mut element = ty;
        while let Ty::Array(of, _) = element {
            element = of;
        }
        match element.value() {
            Ty::Float { bytes: 4 } => {
                return Some(i64::from((self.context.scope.eval_fraction(value)? as f32).to_bits()));
            }
            Ty::Float { bytes: 8 } => return Some(self.context.scope.eval_fraction(value)?.to_bits() as i64),
            _ => {}
        }
        let (bytes, signed) = element.integer()?;
        Some(cudalint_numbers::Integer::new(bytes, signed).wrap(self.context.scope.eval(value)?))
    }

    /// The object of a variable at namespace scope, or of a static member.
    pub(super) fn global_object(&mut self, entry: Entry) -> Option<(ObjectId, Ty, bool)> {
        let found = self.project.global_at(entry)?;
        let scope = Scope::inside(self.project, entry.module, found.scope.clone(), &TypeEnv::default());
        let context = Context::of(scope, self.project, entry.module);
        let known = self.globals.get(&(entry.module.0, entry.index)).copied();
        Some(self.elsewhere(context, |this| {
            let ty = this.counted(this.resolve(found.ty), found.init);
            let volatile = super::types::is_volatile(this.context.ir, found.ty);
            let object = match known {
                Some(object) => object,
                None => {
                    let site = this.site(found.span);
                    let object = this.static_object(found, &ty, site);
                    this.globals.insert((entry.module.0, entry.index), object);
                    object
                }
            };
            (object, ty, volatile)
        }))
    }
}
