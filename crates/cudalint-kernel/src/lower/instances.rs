//! Function instances: a function with its template parameters bound, lowered once and called by number.

use super::state::{At, Binding, Body, Bound, Context, Ends, Field, Instance, Key, Lowerer, Out, Param};
use super::types::{canonical, is_const_reference, is_volatile};
use crate::code::{self, Expr, Function, Place, Stmt, VariableId};
use crate::report::Site;
use cudalint_program::ir::{self, FunctionRole, LocalId};
use cudalint_program::types::{Ty, TypeEnv};
use cudalint_program::{Name, Scope};

/// Most function instances of one kernel.
const MAX_INSTANCES: usize = 64;
/// Deepest nesting of functions that are lowered for what they return.
const MAX_NESTED_BODIES: u32 = 6;

impl<'p> Lowerer<'p> {
    /// The instance of a function; its body is lowered later, or now when its return type stands in the body alone.
    pub(super) fn instance(&mut self, key: Key) -> Option<Instance> {
        let place = (key.module.0, key.function.0);
        if let Some(known) =
            self.instances.known.get(&place).and_then(|all| all.iter().find(|(other, _)| *other == key))
        {
            return Some(known.1.clone());
        }
        if self.instances.count >= MAX_INSTANCES {
            self.gap("too many functions");
            return None;
        }
        let function = self.project.function_at(key.module, key.function)?;
        let scope = Scope::new(self.project, key.module, Some(key.function), &key.env);
        let module = self.project.module(key.module);
        let params: Vec<Param> = function
            .params()
            .iter()
            .enumerate()
            .map(|(index, local)| {
                let by_argument =
                    key.by_argument.iter().find(|(at, _)| *at as usize == index).map(|(_, ty)| ty.clone());
                let ty = match by_argument.unwrap_or_else(|| canonical(scope.resolve(local.ty))) {
                    Ty::Array(of, _) => Ty::Pointer(of),
                    ty => ty,
                };
                Param { ty, is_const_reference: is_const_reference(module, local.ty), default: local.init }
            })
            .collect();
        let conversion = function.role == FunctionRole::Operator && function.name.starts_with("operator ");
        let returns = match function.role {
            FunctionRole::Constructor | FunctionRole::Destructor => Ty::Void,
            _ if conversion => Ty::Auto,
            _ => canonical(scope.resolve(function.returns)),
        };
        let deduced = is_auto(&returns);
        let instance = Instance {
            id: self.code.functions.next_key(),
            returns: if deduced { Ty::Unknown } else { returns.clone() },
            params: params.into(),
        };
        self.code.functions.push(Function::new(&function.name, Site { module: key.module, span: function.name_span }));
        self.code.damaged |= function.damaged;
        self.instances.count += 1;
        self.instances.known.entry(place).or_default().push((key.clone(), instance.clone()));
        if !deduced || self.instances.nesting >= MAX_NESTED_BODIES {
            self.instances.queue.push_back((key, instance.clone()));
            return Some(instance);
        }
        self.instances.nesting += 1;
        let found = self.body(&key, &instance, deduced);
        self.instances.nesting -= 1;
        let all = self.instances.known.get_mut(&place)?;
        let known = all.iter_mut().find(|(other, _)| *other == key)?;
        known.1.returns = found;
        Some(known.1.clone())
    }

    /// Lowers the bodies of all functions that were asked for.
    pub(super) fn run(&mut self) {
        while let Some((key, instance)) = self.instances.queue.pop_front() {
            let deduced = instance.returns == Ty::Unknown;
            self.body(&key, &instance, deduced);
        }
    }

    /// Lowers a function body and gives its return type.
    fn body(&mut self, key: &Key, instance: &Instance, deduced: bool) -> Ty {
        let Some(function) = self.project.function_at(key.module, key.function) else { return Ty::Unknown };
        let ir = self.project.module(key.module);
        let context = Context::of_function(self.project, (key.module, key.function), &key.env);
        let outer_context = std::mem::replace(&mut self.context, context);
        let returns = if deduced { None } else { Some(instance.returns.clone()) };
        let outer_body = std::mem::replace(&mut self.body, Body { returns, ..Body::default() });

        let site = self.site(function.name_span);
        let mut first = 0;
        if let Some(this) = &key.this {
            let variable = self.variable("this", code::Ty::Pointer, site);
            self.context.this = Some((variable, this.clone()));
            first += 1;
        } else if let Some(closure) = key.closure {
            let variable = self.variable("", code::Ty::Pointer, site);
            self.context.closure = Some((closure, variable));
            first += 1;
        }
        for (index, (param, local)) in instance.params.iter().zip(&function.locals).enumerate() {
            let ty = self.ty(&param.ty);
            let place = self.site(local.span);
            let variable = self.variable(&local.name, ty, place);
            let what = match &param.ty {
                Ty::Reference(_) => Bound::Reference(variable),
                _ => Bound::Variable(variable),
            };
            let volatile = is_volatile(ir, local.ty);
            let binding = Binding { what, ty: param.ty.value().clone(), volatile };
            self.context.bindings.insert(LocalId(index as u32), binding);
        }
        self.body.parameters = first + instance.params.len() as u32;
        let mut block = Vec::new();
        self.open(Ends::Return);
        if !function.space.global {
            for local in 0..instance.params.len() {
                if let Some(binding) = self.context.bindings.get(&LocalId(local as u32)).cloned()
                    && let Bound::Variable(_) = binding.what
                {
                    let object = self.bound(&binding, site);
                    self.begins(&object);
                }
            }
        }
        if function.role == FunctionRole::Constructor {
            self.member_initializers(function, &mut block);
        }
        if let Some(body) = &function.body {
            let inner = self.block(body);
            block.extend(inner);
        }
        self.close(&mut block);
        let returns = self.body.returns.clone().unwrap_or(Ty::Void);
        self.finish();
        let body = std::mem::replace(&mut self.body, outer_body);
        let code_returns = self.ty(&returns);
        if let Some(slot) = self.code.functions.get_mut(instance.id) {
            slot.variables = body.variables;
            slot.parameters = body.parameters;
            slot.returns = code_returns;
            slot.body = block;
        }
        self.context = outer_context;
        returns
    }

    /// Places of variables whose address was asked for become memory.
    fn finish(&mut self) {
        self.lend();
        self.narrow();
        for id in std::mem::take(&mut self.body.register_uses) {
            let Some(node) = self.code.exprs.get(id) else { continue };
            let (Expr::Read(place) | Expr::Write(place, _) | Expr::Update { place, .. }) = &node.kind else { continue };
            let Place::Register { variable, first, .. } = place else { continue };
            let (variable, first) = (*variable, *first);
            let Some(found) = self.body.variables.get(variable).filter(|variable| variable.in_memory) else {
                continue;
            };
            let offset = match &found.ty {
                code::Ty::Aggregate(layout) => layout.leaves.get(usize::from(first)).map_or(0, |leaf| leaf.offset),
                _ => 0,
            };
            let (site, element) = (node.site, node.ty.bytes().unwrap_or(0));
            let address = self.push(Expr::VariableAddress(variable), code::Ty::Pointer, site);
            let address = self.offset(address, offset, site);
            let memory = Place::Memory { address, element, volatile: false };
            if let Some(node) = self.code.exprs.get_mut(id)
                && let Expr::Read(place) | Expr::Write(place, _) | Expr::Update { place, .. } = &mut node.kind
            {
                *place = memory;
            }
        }
    }

    /// What a constructor does before its body: bases and fields, by its member initializers or their own.
    fn member_initializers(&mut self, function: &'p ir::Function, block: &mut code::Block) {
        let Some((_, Ty::Record(entry, env))) = self.context.this.clone() else { return };
        let Some(record) = self.project.record_at(entry) else { return };
        let own = Ty::Record(entry, env.clone());
        let site = self.site(function.name_span);
        if let [(name, values)] = function.member_inits.as_slice()
            && *name == record.name
            && !self.has_base_named(entry, &env, name)
        {
            // `T() : T(1) {}`: another constructor does all of it.
            let whole = self.own_field(&Field { offset: 0, ty: own }, site);
            let args: Vec<Out> = values.iter().map(|value| self.expr(*value)).collect();
            return match self.constructor_call(&whole, entry, &env, &args, site) {
                Some(call) => {
                    let stmt = self.push_stmt(Stmt::Expr(call), site);
                    block.push(stmt);
                }
                None => self.forget(&whole, Vec::new(), block),
            };
        }
        let mut done: Vec<&Name> = Vec::new();
        for (name, values) in &function.member_inits {
            let Some(field) = self.field(&own, name) else {
                self.base_initializer(&own, name, values, site, block);
                continue;
            };
            done.push(name);
            let target = self.own_field(&field, site);
            let site = values.first().map_or(site, |value| self.site_of(*value));
            self.initialize_field(&target, &field.ty, values, site, block);
        }
        for field in &record.fields {
            let Some(init) = field.init.filter(|_| !done.contains(&&field.name)) else { continue };
            let Some(found) = self.field(&own, &field.name) else { continue };
            let target = self.own_field(&found, site);
            let Some(context) = self.record_context(entry, &env) else { continue };
            let this = self.context.this.clone();
            self.elsewhere(Context { this, ..context }, |this| {
                this.initialize(&target, init, block);
            });
        }
        // Fields of record types with constructors of their own come into being as well.
        for field in &record.fields {
            if field.init.is_some() || done.contains(&&field.name) {
                continue;
            }
            let Some(found) = self.field(&own, &field.name) else { continue };
            if matches!(found.ty, Ty::Record(..)) {
                let target = self.own_field(&found, site);
                self.default_initialize(&target, block);
            }
        }
    }

    /// Whether a base is called like the class itself: `struct Vec : detail::Vec`.
    fn has_base_named(&self, entry: cudalint_program::Entry, env: &TypeEnv, name: &Name) -> bool {
        self.bases_of(&Ty::Record(entry, env.clone())).iter().any(|base| match base {
            Ty::Record(entry, _) => self.project.record_at(*entry).is_some_and(|found| found.name == *name),
            _ => false,
        })
    }

    fn base_initializer(
        &mut self,
        own: &Ty,
        name: &Name,
        values: &'p [ir::ExprId],
        site: Site,
        block: &mut code::Block,
    ) {
        let Ty::Record(entry, env) = own else { return };
        let (Some(record), Some(scope)) = (self.project.record_at(*entry), self.scope_in(*entry, env)) else { return };
        for base in &record.bases {
            let base = scope.resolve(*base);
            let Ty::Record(base_entry, _) = &base else { continue };
            if self.project.record_at(*base_entry).is_none_or(|found| found.name != *name) {
                continue;
            }
            let Some(offset) = self.base_offset(own, &base) else { break };
            let field = Field { offset, ty: base.clone() };
            let target = self.own_field(&field, site);
            self.initialize_field(&target, &base, values, site, block);
            return;
        }
        self.gap("member initializer");
        for value in values {
            let out = self.expr(*value);
            let id = self.discard(&out);
            let stmt = self.push_stmt(Stmt::Expr(id), site);
            block.push(stmt);
        }
    }

    /// A field of the object that `this` points to.
    pub(super) fn own_field(&mut self, field: &Field, site: Site) -> Out {
        let element = self.size_of(&field.ty).unwrap_or(0);
        let this = self.this_pointer(site);
        let address = self.load(&this);
        let address = self.offset(address, field.offset, site);
        Out { at: At::Memory { address, element }, ty: field.ty.clone(), volatile: false, site }
    }

    /// The inside of a record as a place to look names up in.
    pub(super) fn record_context(&self, entry: cudalint_program::Entry, env: &TypeEnv) -> Option<Context<'p>> {
        Some(Context::of(self.scope_in(entry, env)?, self.project, entry.module))
    }

    /// The value of a variable that is a pointer in a register.
    pub(super) fn read_register(&mut self, variable: VariableId, site: Site) -> code::ExprId {
        let place = Place::Register { variable, first: 0, count: 0 };
        let ty = self.body.variables.get(variable).map_or(code::Ty::Pointer, |found| found.ty.clone());
        let id = self.push(Expr::Read(place), ty, site);
        self.body.register_uses.push(id);
        id
    }
}

/// Whether a type is `auto`, or a reference or pointer to it.
pub(super) fn is_auto(ty: &Ty) -> bool {
    match ty {
        Ty::Auto => true,
        Ty::Reference(to) | Ty::Pointer(to) => **to == Ty::Auto,
        _ => false,
    }
}
