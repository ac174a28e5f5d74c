//! Objects coming into being: initializers, lists, constructors.

use super::state::{At, Lent, Lowerer, Out};
use crate::code::{self, Effect, Expr, Stmt};
use crate::report::Site;
use cudalint_program::Entry;
use cudalint_program::ir;
use cudalint_program::types::{Ty, TypeEnv};

impl<'p> Lowerer<'p> {
    /// Gives a new object its first value.
    pub(super) fn initialize(&mut self, target: &Out, init: ir::ExprId, out: &mut code::Block) {
        let site = self.site_of(init);
        match self.node(init).map(|node| &node.kind) {
            Some(ir::Expr::InitList(items)) => self.initialize_list(target, items, site, out),
            Some(ir::Expr::Construct { ty, args, braces }) => {
                let written = self.resolve(*ty);
                if written == target.ty || matches!(written, Ty::Array(..) | Ty::Unknown | Ty::Auto) {
                    return self.construct_at(target, args, *braces, site, out);
                }
                let value = self.expr(init);
                self.copy_in(target, &value, out);
            }
            Some(ir::Expr::Str(_)) if matches!(target.ty, Ty::Array(..)) => self.forget(target, Vec::new(), out),
            _ => {
                let value = self.expr(init);
                self.copy_in(target, &value, out);
            }
        }
    }

    pub(super) fn copy_in(&mut self, target: &Out, value: &Out, out: &mut code::Block) {
        let value = self.convert(value, &target.ty);
        let stored = self.store(target, value);
        self.emit_effect(&stored, target.site, out);
    }

    /// A field by the values that a member initializer gives.
    pub(super) fn initialize_field(
        &mut self,
        target: &Out,
        declared: &Ty,
        values: &'p [ir::ExprId],
        site: Site,
        out: &mut code::Block,
    ) {
        if let Ty::Reference(to) = declared {
            let Some(value) = values.first() else { return };
            let to = (**to).clone();
            let value = self.expr(*value);
            let address = self.bind_reference(&value, &to, Lent::Changeable);
            let holder = Out { ty: Ty::pointer_to(to), ..target.clone() };
            let stored = self.store(&holder, address);
            return self.emit_effect(&stored, site, out);
        }
        self.construct_at(target, values, false, site, out);
    }

    /// `T x(args)`, `T x{args}`.
    pub(super) fn construct_at(
        &mut self,
        target: &Out,
        args: &'p [ir::ExprId],
        braces: bool,
        site: Site,
        out: &mut code::Block,
    ) {
        match &target.ty {
            Ty::Record(entry, env) => {
                let (entry, env) = (*entry, env.clone());
                self.construct_record(target, (entry, &env), args, braces, site, out);
            }
            Ty::Array(..) => self.initialize_list(target, args, site, out),
            Ty::Vector { name, lanes, .. } => {
                let is_dim3 = name == "dim3";
                if let [one] = args
                    && !is_dim3
                {
                    let value = self.expr(*one);
                    if value.ty == target.ty {
                        return self.copy_in(target, &value, out);
                    }
                }
                let lanes = usize::from(*lanes);
                let values: Vec<Out> = args.iter().map(|arg| self.expr(*arg)).collect();
                let vector = target.ty.clone();
                let value = match values.as_slice() {
                    [one] if matches!(one.ty, Ty::Vector { .. } | Ty::Record(..)) => self.convert(one, &vector),
                    _ => self.vector_of(&vector, &values, lanes, i64::from(is_dim3), site),
                };
                let stored = self.store(target, value);
                self.emit_effect(&stored, site, out);
            }
            Ty::Library(..) => {
                let values: Vec<Out> = args.iter().map(|arg| self.expr(*arg)).collect();
                let ty = target.ty.clone();
                let value = self.construct_library(&ty, &values, site);
                let id = self.load(&value);
                let stored = self.store(target, id);
                self.emit_effect(&stored, site, out);
            }
            _ => match args {
                [] => self.zero(target, out),
                [one] => self.initialize(target, *one, out),
                many => {
                    let children = many.iter().map(|arg| self.expr(*arg)).collect::<Vec<_>>();
                    let children = children.iter().map(|child| self.load(child)).collect();
                    self.forget(target, children, out);
                }
            },
        }
    }

    /// A vector of these lanes; the last ones may be missing.
    pub(super) fn vector_of(
        &mut self,
        vector: &Ty,
        values: &[Out],
        lanes: usize,
        missing: i64,
        site: Site,
    ) -> code::ExprId {
        let lane = match vector {
            Ty::Vector { lane, .. } => Ty::of_scalar(*lane),
            _ => Ty::Unknown,
        };
        let mut parts: Vec<code::ExprId> = values.iter().take(lanes).map(|value| self.convert(value, &lane)).collect();
        while parts.len() < lanes {
            let fill = self.int(missing, code::Ty::INT, site);
            parts.push(self.convert_value(fill, &lane));
        }
        let ty = self.ty(vector);
        self.push(Expr::Aggregate(parts), ty, site)
    }

    /// Nothing is known of what a place holds from here on.
    pub(super) fn forget(&mut self, target: &Out, mut children: Vec<code::ExprId>, out: &mut code::Block) {
        self.gap("initializer");
        let site = target.site;
        let id = if matches!(target.ty, Ty::Array(..)) || matches!(target.at, At::Value(_)) {
            children.push(self.address(target));
            self.push(Expr::Opaque { children, effect: Effect::Writes }, code::Ty::Void, site)
        } else {
            let ty = self.ty(&target.ty);
            let value = self.push(Expr::Opaque { children, effect: Effect::None }, ty, site);
            let stored = self.store(target, value);
            self.load(&stored)
        };
        let stmt = self.push_stmt(Stmt::Expr(id), site);
        out.push(stmt);
    }

    fn construct_record(
        &mut self,
        target: &Out,
        (entry, env): (Entry, &TypeEnv),
        args: &'p [ir::ExprId],
        braces: bool,
        site: Site,
        out: &mut code::Block,
    ) {
        let has_constructor = self.has_constructor(entry);
        if !has_constructor && (braces || args.len() != 1) {
            return self.initialize_list(target, args, site, out);
        }
        let values: Vec<Out> = args.iter().map(|arg| self.expr(*arg)).collect();
        if let [one] = values.as_slice()
            && (one.ty == target.ty || !has_constructor)
        {
            return self.copy_in(target, one, out);
        }
        match self.constructor_call(target, entry, env, &values, site) {
            Some(call) => {
                let stmt = self.push_stmt(Stmt::Expr(call), site);
                out.push(stmt);
            }
            None => {
                let children = values.iter().map(|value| self.load(value)).collect();
                self.gap("constructor");
                self.forget(target, children, out);
            }
        }
    }

    /// Whether a record has any constructor of its own.
    pub(super) fn has_constructor(&self, entry: Entry) -> bool {
        let Some(record) = self.project.record_at(entry) else { return false };
        let module = self.project.module(entry.module);
        record
            .methods
            .iter()
            .filter_map(|method| module.functions.get(*method))
            .any(|method| method.role == ir::FunctionRole::Constructor && !is_copy(module, method))
    }

    /// The call of the constructor that takes these arguments.
    pub(super) fn constructor_call(
        &mut self,
        target: &Out,
        entry: Entry,
        env: &TypeEnv,
        args: &[Out],
        site: Site,
    ) -> Option<code::ExprId> {
        let name = self.project.record_at(entry)?.name.clone();
        let found = self.method_of(entry, env, &name, &[], args)?;
        let this = self.address(target);
        // Its arguments may be objects that constructors make.
        let object = Some((this, Ty::Record(entry, env.clone())));
        let called = self.deeper(|lowerer| lowerer.invoke(&found, object, args, site)).flatten()?;
        Some(self.load(&called))
    }

    /// The values that fields have by their own declarations.
    pub(super) fn field_defaults(&mut self, target: &Out, entry: Entry, env: &TypeEnv, out: &mut code::Block) {
        let Some(record) = self.project.record_at(entry) else { return };
        for field in &record.fields {
            let Some(found) = self.field(&target.ty, &field.name) else { continue };
            let part = self.part(target, found.offset, &found.ty, target.site);
            let Some(init) = field.init else {
                self.deeper(|this| this.default_parts(&part, out));
                continue;
            };
            if let Some(context) = self.record_context(entry, env) {
                self.elsewhere(context, |this| this.initialize(&part, init, out));
            }
        }
    }

    /// What an object begins with where nobody gives it a value: that of its fields' declarations and constructors.
    pub(super) fn default_parts(&mut self, target: &Out, out: &mut code::Block) {
        match target.ty.clone() {
            Ty::Record(..) => self.default_initialize(target, out),
            Ty::Array(of, _) if self.begins_with_values(&of) => self.forget(target, Vec::new(), out),
            _ => {}
        }
    }

    /// Whether an object of a type has values before anybody gives it some.
    fn begins_with_values(&mut self, ty: &Ty) -> bool {
        match ty {
            Ty::Array(of, _) => self.deeper(|this| this.begins_with_values(of)).unwrap_or(true),
            Ty::Record(entry, _) => {
                let Some(record) = self.project.record_at(*entry) else { return true };
                self.has_constructor(*entry)
                    || record.fields.iter().any(|field| field.init.is_some())
                    || record.fields.iter().any(|field| match self.field(ty, &field.name) {
                        Some(found) => self.deeper(|this| this.begins_with_values(&found.ty)).unwrap_or(true),
                        None => true,
                    })
            }
            _ => false,
        }
    }

    /// `T x;`
    pub(super) fn default_initialize(&mut self, target: &Out, out: &mut code::Block) {
        let Ty::Record(entry, env) = target.ty.clone() else { return };
        let site = target.site;
        if !self.has_constructor(entry) {
            return self.field_defaults(target, entry, &env, out);
        }
        if let Some(call) = self.constructor_call(target, entry, &env, &[], site) {
            let stmt = self.push_stmt(Stmt::Expr(call), site);
            out.push(stmt);
        } else if !self.has_default_constructor(entry) {
            self.forget(target, Vec::new(), out);
        }
    }

    /// `T() = default;` does nothing.
    fn has_default_constructor(&self, entry: Entry) -> bool {
        let Some(record) = self.project.record_at(entry) else { return false };
        let module = self.project.module(entry.module);
        record.methods.iter().filter_map(|method| module.functions.get(*method)).any(|method| {
            method.role == ir::FunctionRole::Constructor && method.param_count == 0 && method.body.is_none()
        })
    }

    /// `T(args)`, `T{args}` as a value.
    pub(super) fn construct(&mut self, ty: ir::TypeId, args: &'p [ir::ExprId], braces: bool, site: Site) -> Out {
        let ty = self.resolve(ty).value().clone();
        if braces {
            return self.construct_with(&ty, args, true, site);
        }
        self.construct_as(&ty, args, site)
    }

    /// `T(args)` of a resolved type.
    pub(super) fn construct_as(&mut self, ty: &Ty, args: &'p [ir::ExprId], site: Site) -> Out {
        self.construct_with(ty, args, false, site)
    }

    fn construct_with(&mut self, ty: &Ty, args: &'p [ir::ExprId], braces: bool, site: Site) -> Out {
        let ty = ty.clone();
        match (&ty, args) {
            (Ty::Unknown | Ty::Auto, _) => self.not_read(
                args,
                "construction of unknown type",
                Effect::Call { memory: true, discarded: true },
                site,
            ),
            (Ty::Void, _) => self.not_read(args, "construction of nothing", Effect::None, site),
            (Ty::Library(..), _) => {
                let values: Vec<Out> = args.iter().map(|arg| self.expr(*arg)).collect();
                self.construct_library(&ty, &values, site)
            }
            (Ty::Bool | Ty::Int { .. } | Ty::Float { .. } | Ty::Enum { .. } | Ty::Pointer(_), [one]) => {
                let value = self.expr(*one);
                let id = self.convert(&value, &ty);
                self.conversion_is_written(id, site);
                Out { volatile: value.volatile, ..self.computed(id, ty, site) }
            }
            _ => self.made(&ty, site, |this, target, block| this.construct_at(target, args, braces, site, block)),
        }
    }

    /// A value of a type that statements build in a variable of its own.
    pub(super) fn made(&mut self, ty: &Ty, site: Site, build: impl FnOnce(&mut Self, &Out, &mut code::Block)) -> Out {
        let code_ty = self.ty(ty);
        let variable = self.variable("", code_ty.clone(), site);
        let mut block = Vec::new();
        let stmt = self.push_stmt(Stmt::Declare(variable), site);
        block.push(stmt);
        let target = self.variable_place(variable, ty, false, site);
        build(self, &target, &mut block);
        if matches!(ty, Ty::Array(..)) {
            let address = self.address(&target);
            let address = self.push(Expr::Statements(block, Some(address)), code::Ty::Pointer, site);
            return Out { at: At::Memory { address, element: 0 }, ..target };
        }
        let value = self.load(&target);
        let id = self.push(Expr::Statements(block, Some(value)), code_ty, site);
        self.computed(id, ty.clone(), site)
    }

    /// An expression that is to become a value of a type: `{a, b}` has none of its own.
    pub(super) fn value_of_type(&mut self, value: ir::ExprId, ty: &Ty) -> Out {
        match self.node(value).map(|node| &node.kind) {
            Some(ir::Expr::InitList(items))
                if matches!(ty, Ty::Record(..) | Ty::Vector { .. } | Ty::Array(..)) || items.is_empty() =>
            {
                let site = self.site_of(value);
                self.made(ty, site, |this, target, block| this.initialize_list(target, items, site, block))
            }
            _ => self.expr(value),
        }
    }

    /// A value turned into a record by a constructor of one argument.
    pub(super) fn convert_by_constructor(&mut self, value: &Out, to: &Ty) -> Option<code::ExprId> {
        // The argument may need a conversion of its own, and that one this one.
        self.deeper(|this| this.convert_by_constructor_inner(value, to))?
    }

    fn convert_by_constructor_inner(&mut self, value: &Out, to: &Ty) -> Option<code::ExprId> {
        let Ty::Record(entry, env) = to else { return None };
        if !self.has_constructor(*entry) {
            return None;
        }
        let name = self.project.record_at(*entry)?.name.clone();
        let args = [value.clone()];
        self.method_of(*entry, env, &name, &[], &args)?;
        let site = value.site;
        let (entry, env) = (*entry, env.clone());
        let made = self.made(to, site, |this, target, block| {
            if let Some(call) = this.constructor_call(target, entry, &env, &args, site) {
                let stmt = this.push_stmt(Stmt::Expr(call), site);
                block.push(stmt);
            } else {
                this.forget(target, Vec::new(), block);
            }
        });
        Some(self.load(&made))
    }
}

/// Whether a constructor takes an object of its own class by reference.
pub(super) fn is_copy(module: &ir::Module, method: &ir::Function) -> bool {
    let [only] = &method.params().raw else { return false };
    let Some(ir::Type::Reference(to)) = module.types.get(only.ty) else { return false };
    let mut ty = module.types.get(*to);
    if let Some(ir::Type::Qualified { ty: inner, .. }) = ty {
        ty = module.types.get(*inner);
    }
    matches!(ty, Some(ir::Type::Named { path, .. }) if path.last() == Some(&method.name))
}
