//! Local variables coming into being.

use super::state::{At, Binding, Bound, Lent, Lowerer, Out};
use super::types::is_volatile;
use crate::code::{self, Effect, Expr, Intrinsic, Stmt};
use crate::report::Site;
use cudalint_numbers::Quantity;
use cudalint_program::ir::{self, LocalId, Space};
use cudalint_program::types::Ty;

impl<'p> Lowerer<'p> {
    /// A variable of the function around, as written.
    pub(super) fn local(&self, local: LocalId) -> Option<&'p ir::Variable> {
        let function: &'p ir::Function = self.context.function?;
        function.locals.get(local)
    }

    /// `T x = init;`
    pub(super) fn declare(&mut self, local: LocalId, site: Site, out: &mut code::Block) {
        let Some(found) = self.local(local) else { return };
        let place = self.site(found.span);
        match found.space {
            Space::Ordinary | Space::Extern => {}
            Space::Static if self.is_constant_scalar(found) => {}
            _ => return self.declare_static(local, found, place, out),
        }
        let declared = self.resolve(found.ty);
        let volatile = is_volatile(self.context.ir, found.ty);
        // `thread_group` takes any group: the value says which.
        let open = super::groups::kind_of(&declared).is_some() && found.init.is_some();
        if open || super::instances::is_auto(&declared) || matches!(declared, Ty::Unknown) {
            let Some(init) = found.init else {
                return self.bind_unknown(local, place);
            };
            let init = self.plain_initializer(init);
            let reference = matches!(declared, Ty::Reference(_));
            let value = if reference { self.place_of(init) } else { self.expr(init) };
            let value = Out { volatile: value.volatile || volatile, ..value };
            return self.declare_with(local, &value, site, out);
        }
        if let Ty::Reference(target) = &declared {
            let Some(init) = found.init else { return self.bind_unknown(local, place) };
            let target = (**target).clone();
            let init = self.plain_initializer(init);
            let value = self.place_of(init);
            return self.declare_reference(local, &value, target, place, out);
        }
        let declared = self.counted(declared, found.init);
        let ty = self.ty(&declared);
        let variable = self.variable(&found.name, ty, place);
        if matches!(declared, Ty::Array(..))
            && let Some(variable) = self.body.variables.get_mut(variable)
        {
            variable.in_memory = true;
        }
        let binding = Binding { what: Bound::Variable(variable), ty: declared.clone(), volatile };
        self.context.bindings.insert(local, binding);
        let stmt = self.push_stmt(Stmt::Declare(variable), place);
        out.push(stmt);
        let target = self.variable_place(variable, &declared, volatile, place);
        match found.init {
            Some(init) => self.initialize(&target, init, out),
            None => self.default_initialize(&target, out),
        }
        self.begins(&target);
    }

    /// `const` numbers with a value need no memory.
    fn is_constant_scalar(&self, found: &ir::Variable) -> bool {
        matches!(
            self.context.ir.types.get(found.ty),
            Some(ir::Type::Qualified { is_const: true, .. } | ir::Type::Int { .. } | ir::Type::Float { .. })
        ) && found.init.is_some()
            && (found.is_constexpr
                || matches!(self.context.ir.types.get(found.ty), Some(ir::Type::Qualified { is_const: true, .. })))
            && matches!(self.resolve(found.ty), Ty::Int { .. } | Ty::Float { .. } | Ty::Bool | Ty::Enum { .. })
    }

    /// `auto x(v)` and `auto x{v}` mean `auto x = v`.
    fn plain_initializer(&self, init: ir::ExprId) -> ir::ExprId {
        match self.node(init).map(|node| &node.kind) {
            Some(ir::Expr::Construct { ty, args, .. }) => match (self.context.ir.types.get(*ty), args.as_slice()) {
                (Some(ir::Type::Auto), [one]) => *one,
                (Some(ir::Type::Qualified { ty, .. } | ir::Type::Reference(ty)), [one])
                    if super::instances::is_auto(&self.resolve(*ty)) =>
                {
                    *one
                }
                _ => init,
            },
            Some(ir::Expr::InitList(args)) => match args.as_slice() {
                [one] => *one,
                _ => init,
            },
            _ => init,
        }
    }

    /// Declares a variable whose type may be told by its value.
    pub(super) fn declare_with(&mut self, local: LocalId, value: &Out, site: Site, out: &mut code::Block) {
        let Some(found) = self.local(local) else { return };
        let place = self.site(found.span);
        let declared = self.resolve(found.ty);
        if let Ty::Reference(to) = &declared {
            let target = if **to == Ty::Auto { value.ty.clone() } else { (**to).clone() };
            return self.declare_reference(local, value, target, place, out);
        }
        let group = super::groups::kind_of(&declared).is_some() && super::groups::kind_of(&value.ty).is_some();
        let ty = if group || super::instances::is_auto(&declared) || declared == Ty::Unknown {
            value.ty.decayed()
        } else {
            declared
        };
        let volatile = is_volatile(self.context.ir, found.ty) || (value.volatile && matches!(ty, Ty::Pointer(_)));
        let id = self.convert(value, &ty);
        let code_ty = match &ty {
            Ty::Unknown => self.code_ty(id),
            ty => self.ty(ty),
        };
        let variable = self.variable(&found.name, code_ty, place);
        let binding = Binding { what: Bound::Variable(variable), ty: ty.clone(), volatile };
        self.context.bindings.insert(local, binding);
        let stmt = self.push_stmt(Stmt::Declare(variable), place);
        out.push(stmt);
        if ty == Ty::Void {
            return;
        }
        let target = self.variable_place(variable, &ty, volatile, place);
        let stored = self.store(&target, id);
        self.emit_effect(&stored, site, out);
        self.begins(&target);
    }

    fn declare_reference(&mut self, local: LocalId, value: &Out, target: Ty, place: Site, out: &mut code::Block) {
        let Some(found) = self.local(local) else { return };
        let target = if matches!(target, Ty::Auto | Ty::Unknown) { value.ty.clone() } else { target };
        // A reference to a function or closure type that is no object in memory is the thing itself.
        let is_const = super::types::is_const_reference(self.context.ir, found.ty);
        let before = self.body.temporaries.len();
        let id = self.bind_reference(value, &target, if is_const { Lent::Kept } else { Lent::Changeable });
        // What a reference is bound to lives as long as the reference.
        for address in self.body.temporaries.split_off(before) {
            let element = self.size_of(&target).unwrap_or(0);
            self.begins(&Out { at: At::Memory { address, element }, ty: target.clone(), ..value.clone() });
        }
        let variable = self.variable(&found.name, code::Ty::Pointer, place);
        let volatile = value.volatile || is_volatile(self.context.ir, found.ty);
        let ty = match (&target, &value.ty) {
            // `T (&a)[]` of an array whose size is known.
            (Ty::Array(_, Quantity::Unknown), Ty::Array(..)) => value.ty.clone(),
            _ => target,
        };
        self.context.bindings.insert(local, Binding { what: Bound::Reference(variable), ty, volatile });
        let stmt = self.push_stmt(Stmt::Declare(variable), place);
        out.push(stmt);
        let write = self.write_register(variable, id, place);
        let stmt = self.push_stmt(Stmt::Expr(write), place);
        out.push(stmt);
    }

    /// The whole of a variable.
    pub(super) fn variable_place(&mut self, variable: code::VariableId, ty: &Ty, volatile: bool, site: Site) -> Out {
        let in_memory = self.body.variables.get(variable).is_some_and(|found| found.in_memory);
        let at = if in_memory {
            let address = self.push(Expr::VariableAddress(variable), code::Ty::Pointer, site);
            At::Memory { address, element: self.size_of(ty).unwrap_or(0) }
        } else {
            At::Register { variable, first: 0, count: 0 }
        };
        Out { at, ty: ty.clone(), volatile, site }
    }

    pub(super) fn emit_effect(&mut self, value: &Out, site: Site, out: &mut code::Block) {
        if let Some(id) = self.effect_of(value) {
            let stmt = self.push_stmt(Stmt::Expr(id), site);
            out.push(stmt);
        }
    }

    /// Fills a place with zeros.
    pub(super) fn zero(&mut self, target: &Out, out: &mut code::Block) {
        let site = target.site;
        let Some(bytes) = self.size_of(&target.ty) else {
            let address = self.address(target);
            let id = self.push(Expr::Opaque { children: vec![address], effect: Effect::Writes }, code::Ty::Void, site);
            let stmt = self.push_stmt(Stmt::Expr(id), site);
            out.push(stmt);
            return;
        };
        if let Some(id) = self.zero_value(&target.ty, site) {
            let stored = self.store(target, id);
            return self.emit_effect(&stored, site, out);
        }
        let address = self.address(target);
        let zero = self.int(0, code::Ty::INT, site);
        let bytes = self.int(i64::from(bytes), code::Ty::SIZE, site);
        let id = self.push(Expr::Intrinsic(Intrinsic::Set, vec![address, zero, bytes]), code::Ty::Void, site);
        let stmt = self.push_stmt(Stmt::Expr(id), site);
        out.push(stmt);
    }

    /// The zero of a type that can be kept as a value.
    pub(super) fn zero_value(&mut self, ty: &Ty, site: Site) -> Option<code::ExprId> {
        if matches!(ty, Ty::Array(..)) {
            return None;
        }
        let code_ty = self.ty(ty);
        self.zero_code(&code_ty, site)
    }

    fn zero_code(&mut self, ty: &code::Ty, site: Site) -> Option<code::ExprId> {
        match ty {
            code::Ty::Bool | code::Ty::Int { .. } | code::Ty::Pointer => Some(self.int(0, ty.clone(), site)),
            code::Ty::Float { .. } => Some(self.push(Expr::Float(0.0), ty.clone(), site)),
            code::Ty::Aggregate(layout) if !layout.leaves.is_empty() => {
                let mut parts = Vec::new();
                for leaf in &layout.leaves {
                    parts.push(self.zero_code(&leaf.ty, site)?);
                }
                Some(self.push(Expr::Aggregate(parts), ty.clone(), site))
            }
            _ => None,
        }
    }

    /// `__shared__`, `static`, and other variables of a function that are no variables of a thread.
    fn declare_static(&mut self, local: LocalId, found: &'p ir::Variable, place: Site, out: &mut code::Block) {
        let declared = self.resolve(found.ty);
        let ty = self.counted(declared, found.init);
        let object = self.static_object(found, &ty, place);
        let volatile = is_volatile(self.context.ir, found.ty);
        self.context.bindings.insert(local, Binding { what: Bound::Object(object), ty: ty.clone(), volatile });
        // Objects with constructors in shared memory come into being by them.
        if matches!(found.space, Space::Shared) && matches!(ty, Ty::Record(..)) && found.init.is_some() {
            let target = self.object_place(object, &ty, volatile, place);
            if let Some(init) = found.init {
                self.initialize(&target, init, out);
            }
        }
    }

    /// A static object as a place.
    pub(super) fn object_place(&mut self, object: code::ObjectId, ty: &Ty, volatile: bool, site: Site) -> Out {
        let address = self.push(Expr::ObjectAddress(object), code::Ty::Pointer, site);
        let element = self.size_of(ty).unwrap_or(0);
        Out { at: At::Memory { address, element }, ty: ty.clone(), volatile, site }
    }

    /// What a local variable means.
    pub(super) fn local_out(&mut self, local: LocalId, site: Site) -> Out {
        let Some(binding) = self.context.bindings.get(&local).cloned() else {
            return self.undeclared(local, site);
        };
        self.bound(&binding, site)
    }

    pub(super) fn bound(&mut self, binding: &Binding, site: Site) -> Out {
        match binding.what {
            Bound::Variable(variable) => self.variable_place(variable, &binding.ty, binding.volatile, site),
            Bound::Object(object) => self.object_place(object, &binding.ty, binding.volatile, site),
            Bound::Reference(variable) => {
                let address = self.read_register(variable, site);
                let element = self.size_of(&binding.ty).unwrap_or(0);
                let ty = binding.ty.clone();
                Out { at: At::Memory { address, element }, ty, volatile: binding.volatile, site }
            }
        }
    }

    /// A variable whose declaration was not met: a constant of a function around, or damage.
    fn undeclared(&mut self, local: LocalId, site: Site) -> Out {
        if let Some(found) = self.local(local)
            && !matches!(found.space, Space::Ordinary | Space::Extern)
        {
            let place = self.site(found.span);
            self.declare_static(local, found, place, &mut Vec::new());
            if let Some(binding) = self.context.bindings.get(&local).cloned() {
                return self.bound(&binding, site);
            }
        }
        self.gap("variable without declaration");
        self.bind_unknown(local, site);
        match self.context.bindings.get(&local).cloned() {
            Some(binding) => self.bound(&binding, site),
            None => self.unknown(Vec::new(), Effect::None, Ty::Unknown, site),
        }
    }
}
