//! How objects with constructors and destructors of their own are copied, and how they end.

use super::state::{At, Ends, Lowerer, Out, Scoped};
use crate::code::{self, Effect, Expr, ExprId, Stmt};
use crate::report::Site;
use cudalint_numbers::Quantity;
use cudalint_program::ir::{self, FunctionRole};
use cudalint_program::types::Ty;

/// Most elements of an array whose destructors are run one by one.
const MAX_ELEMENTS: i64 = 16;

/// What a class may do in its own way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Own {
    /// `T(const T &)`.
    Copy,
    /// `operator=`.
    Assignment,
    /// `~T()`.
    Destructor,
}

impl<'p> Lowerer<'p> {
    /// Whether objects of a type, or parts of them, do something in their own way.
    pub(super) fn has_own(&mut self, own: Own, ty: &Ty) -> bool {
        let parts = |this: &mut Self| match ty {
            Ty::Array(of, _) => this.has_own(own, of),
            Ty::Record(entry, _) => this.own_method_of(own, ty).is_some() || this.parts_have_own(own, ty, *entry),
            _ => false,
        };
        matches!(ty, Ty::Array(..) | Ty::Record(..)) && self.deeper(parts).unwrap_or(false)
    }

    /// As [`Self::has_own`] of the fields and bases alone.
    pub(super) fn parts_have_own(&mut self, own: Own, ty: &Ty, entry: cudalint_program::Entry) -> bool {
        let Some(record) = self.project.record_at(entry) else { return false };
        let fields: Vec<Ty> = record.fields.iter().filter_map(|field| Some(self.field(ty, &field.name)?.ty)).collect();
        fields.iter().chain(&self.bases_of(ty)).any(|part| self.has_own(own, part))
    }

    /// The base classes of a class.
    pub(super) fn bases_of(&self, ty: &Ty) -> Vec<Ty> {
        let Ty::Record(entry, env) = ty else { return Vec::new() };
        match (self.project.record_at(*entry), self.scope_in(*entry, env)) {
            (Some(record), Some(scope)) => record.bases.iter().map(|base| scope.resolve(*base)).collect(),
            _ => Vec::new(),
        }
    }

    /// The method by which a class does something in its own way: not one that does what the compiler would do.
    fn own_method_of(&self, own: Own, ty: &Ty) -> Option<&'p ir::Function> {
        let Ty::Record(entry, _) = ty else { return None };
        let record = self.project.record_at(*entry)?;
        let module = self.project.module(entry.module);
        let methods = record.methods.iter().filter_map(|id| module.functions.get(*id));
        methods.into_iter().find(|method| {
            let meant = match own {
                Own::Copy => method.role == FunctionRole::Constructor && super::construct::is_copy(module, method),
                Own::Assignment => method.name == "operator=",
                Own::Destructor => method.role == FunctionRole::Destructor,
            };
            let text = || self.project.text(entry.module, method.span);
            meant
                && match &method.body {
                    Some(body) if own == Own::Destructor => !body.is_empty(),
                    Some(_) => !copies_plainly(module, record, method),
                    None => !text().contains("default") && !text().contains("delete"),
                }
        })
    }

    /// A copy of an object whose class, or part, has a copy constructor of its own.
    pub(super) fn copied(&mut self, object: &Out) -> ExprId {
        let Ty::Record(entry, env) = object.ty.clone() else { return self.load(object) };
        let own = self.own_method_of(Own::Copy, &object.ty).is_some();
        let site = object.site;
        // A constructor that takes the object by value would be called for its own argument again.
        if self.body.copying.contains(&object.ty) {
            self.gap("copy constructor");
            return self.load(object);
        }
        self.body.copying.push(object.ty.clone());
        let made = self.made(&object.ty, site, |this, target, block| {
            let args = std::slice::from_ref(object);
            let call = if own { this.constructor_call(target, entry, &env, args, site) } else { None };
            let done = match call {
                Some(call) => call,
                None => this.stored_in_its_own_way(target, object, "copy constructor"),
            };
            let stmt = this.push_stmt(Stmt::Expr(done), site);
            block.push(stmt);
        });
        self.body.copying.pop();
        self.load(&made)
    }

    /// What a place holds is not known after a class or its parts took a value over in their own way, nor what they did to
    /// other memory.
    pub(super) fn stored_in_its_own_way(&mut self, target: &Out, value: &Out, cause: &'static str) -> ExprId {
        self.gap(cause);
        let children = vec![self.load(value)];
        let ty = self.ty(&target.ty);
        let effect = Effect::WritesAnywhere;
        let something = self.push(Expr::Opaque { children, effect }, ty, target.site);
        let stored = self.store(target, something);
        self.load(&stored)
    }

    /// Begins a list of statements.
    pub(super) fn open(&mut self, ends: Ends) {
        self.body.scopes.push(Scoped { ends, objects: Vec::new() });
    }

    /// Ends a list of statements: what was declared in it ends, the last first.
    pub(super) fn close(&mut self, out: &mut code::Block) {
        let Some(scope) = self.body.scopes.pop() else { return };
        if !self.left(out) {
            self.end_all(&scope.objects, out);
        }
    }

    fn left(&self, out: &code::Block) -> bool {
        let last = out.last().and_then(|id| self.code.stmts.get(*id));
        matches!(last.map(|node| &node.kind), Some(Stmt::Return(_) | Stmt::Break | Stmt::Continue))
    }

    /// Objects end that were declared inside of what is left. `kept` is a variable that is handed on instead.
    pub(super) fn leave(&mut self, is_last: impl Fn(Ends) -> bool, kept: Option<&Out>, out: &mut code::Block) {
        let mut ending = Vec::new();
        for scope in self.body.scopes.iter().rev() {
            ending.splice(0..0, scope.objects.iter().cloned());
            if is_last(scope.ends) {
                break;
            }
        }
        let kept = kept.and_then(|kept| self.variable_of(kept));
        ending.retain(|object| kept.is_none() || self.variable_of(object) != kept);
        self.end_all(&ending, out);
    }

    /// The variable that an object is.
    fn variable_of(&self, object: &Out) -> Option<code::VariableId> {
        match object.at {
            At::Register { variable, .. } => Some(variable),
            At::Memory { address, .. } => match self.kind(address) {
                Some(Expr::VariableAddress(variable)) => Some(*variable),
                _ => None,
            },
            At::Value(_) => None,
        }
    }

    /// Whether anything would end by [`Self::leave`] from the whole function.
    pub(super) fn has_ending_objects(&self) -> bool {
        self.body.scopes.iter().any(|scope| !scope.objects.is_empty())
    }

    /// Notes an object that came into being here.
    pub(super) fn begins(&mut self, object: &Out) {
        if self.has_own(Own::Destructor, &object.ty)
            && let Some(scope) = self.body.scopes.last_mut()
        {
            scope.objects.push(object.clone());
        }
    }

    fn end_all(&mut self, objects: &[Out], out: &mut code::Block) {
        for object in objects.iter().rev() {
            if self.deeper(|this| this.end(object, out)).flatten().is_none() {
                self.gap("destructor");
                let children = vec![self.address(object)];
                let effect = Effect::WritesAnywhere;
                let id = self.push(Expr::Opaque { children, effect }, code::Ty::Void, object.site);
                self.emit(Stmt::Expr(id), object.site, out);
            }
        }
    }

    /// Runs the destructors of an object and its parts; `None` where one is not followed.
    fn end(&mut self, object: &Out, out: &mut code::Block) -> Option<()> {
        let site = object.site;
        if let Ty::Array(of, Quantity::Known(count)) = object.ty.clone() {
            let size = self.size_of(&of)?;
            for at in (0..count).rev() {
                let element = (count <= MAX_ELEMENTS).then(|| self.part(object, at as u32 * size, &of, site))?;
                self.deeper(|this| this.end(&element, out)).flatten()?;
            }
            return Some(());
        }
        let Ty::Record(entry, env) = object.ty.clone() else { return None };
        if let Some(method) = self.own_method_of(Own::Destructor, &object.ty) {
            let found = self.method_of(entry, &env, &method.name, &[], &[])?;
            let called = self.invoke_method(&found, object, &[], site)?;
            self.emit_effect(&called, site, out);
        }
        let record = self.project.record_at(entry)?;
        for field in record.fields.iter().rev() {
            let Some(found) = self.field(&object.ty, &field.name) else { continue };
            if self.has_own(Own::Destructor, &found.ty) {
                let part = self.part(object, found.offset, &found.ty, site);
                self.deeper(|this| this.end(&part, out)).flatten()?;
            }
        }
        for base in self.bases_of(&object.ty).iter().rev() {
            if self.has_own(Own::Destructor, base) {
                let offset = self.base_offset(&object.ty, base)?;
                let part = self.part(object, offset, base, site);
                self.deeper(|this| this.end(&part, out)).flatten()?;
            }
        }
        Some(())
    }

    /// Temporary objects end with the statement; what they do then is not followed.
    pub(super) fn end_temporaries(&mut self, site: Site, out: &mut code::Block) {
        let children = std::mem::take(&mut self.body.temporaries);
        if children.is_empty() {
            return;
        }
        self.gap("destructor");
        let id = self.push(Expr::Opaque { children, effect: Effect::WritesAnywhere }, code::Ty::Void, site);
        self.emit(Stmt::Expr(id), site, out);
    }
}

/// Whether a copy constructor or `operator=` takes each field over as it is, and does nothing else.
fn copies_plainly(module: &ir::Module, record: &ir::Record, method: &ir::Function) -> bool {
    let kind = |id: ir::ExprId| module.exprs.get(id).map(|node| &node.kind);
    // `other.x`, of the only parameter.
    let taken = |value: ir::ExprId, name: &str| match kind(value) {
        Some(ir::Expr::Member { base, name: of, arrow: false }) => {
            of == name && matches!(kind(*base), Some(ir::Expr::Local(local)) if local.0 == 0)
        }
        _ => false,
    };
    let own = |target: ir::ExprId| match kind(target) {
        Some(ir::Expr::Name { path, .. }) if path.segments.len() == 1 => path.last().cloned(),
        Some(ir::Expr::Member { base, name, arrow: true }) if matches!(kind(*base), Some(ir::Expr::This)) => {
            Some(name.clone())
        }
        _ => None,
    };
    let mut done = 0;
    for (name, values) in &method.member_inits {
        match values.as_slice() {
            [one] if taken(*one, name) => done += 1,
            _ => return false,
        }
    }
    for stmt in method.body.iter().flatten() {
        match module.stmts.get(*stmt).map(|node| &node.kind) {
            Some(ir::Stmt::Expr(expr)) => match kind(*expr) {
                Some(ir::Expr::Assign { op: None, target, value })
                    if own(*target).is_some_and(|name| taken(*value, &name)) =>
                {
                    done += 1;
                }
                _ => return false,
            },
            Some(ir::Stmt::Return(_)) => {}
            _ => return false,
        }
    }
    done == record.fields.len() && record.bases.is_empty()
}
