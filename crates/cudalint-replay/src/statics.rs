//! Calls of CUDA that are made before `main` begins or after it has ended: by constructors, destructors and initial values of objects
//! with static lifetime. Both the object and the call have to be in sight.

use crate::facts::{MadeCall, Site, StaticCall};
use cudalint_program::api::ApiId;
use cudalint_program::api::effects::ErrorRole;
use cudalint_program::ir::{
    Block, Expr, ExprId, Function, FunctionId, FunctionRole, ModuleId, Path, Space, Stmt, Type, TypeId,
};
use cudalint_program::visit::{Item, walk, walk_expr};
use cudalint_program::{Entry, Name, Project, accepts};

/// How deep calls in sight are followed, and classes that are parts of others.
const MAX_DEPTH: u32 = 4;
/// Most statements and expressions that are looked at for one object.
const MAX_STEPS: u32 = 2_000;

/// The calls of one module's objects, one for each object and side of `main`.
pub(crate) fn static_calls(project: &Project, id: ModuleId) -> Vec<StaticCall> {
    let module = project.module(id);
    let mut found = Vec::new();
    for global in &module.globals {
        if !matches!(global.space, Space::Ordinary | Space::Static) {
            continue;
        }
        let object = Object { name: &global.name, site: Site { module: id, span: global.span }, within: None };
        let mut search = Search { project, left: MAX_STEPS };
        if let Some(init) = global.init.filter(|_| !global.is_constexpr)
            && let Some(call) = search.initial_value(id, &global.scope, init)
        {
            found.push(object.calls(false, call));
        }
        if search.is_device_vector(id, &global.scope, global.ty) {
            found.push(object.frees_elements());
        }
        if let Some(entry) = search.record(id, &global.scope, global.ty) {
            if let Some(call) = search.constructor(entry, id, global.init) {
                found.push(object.calls(false, call));
            }
            if let Some(call) = search.destructor(entry, 0) {
                found.push(object.calls(true, call));
            }
        }
    }
    for (number, function) in module.functions.iter_enumerated() {
        let templated = !function.template_params.is_empty();
        for local in function.locals.iter().filter(|local| local.space == Space::Static && !templated) {
            let mut search = Search { project, left: MAX_STEPS };
            let site = Site { module: id, span: local.span };
            let object = Object { name: &local.name, site, within: Some(number) };
            if search.is_device_vector(id, &function.scope, local.ty) {
                found.push(object.frees_elements());
            }
            if let Some(entry) = search.record(id, &function.scope, local.ty)
                && let Some(call) = search.destructor(entry, 0)
            {
                found.push(object.calls(true, call));
            }
        }
    }
    // A member of a class is declared there, and defined elsewhere.
    let mut told: Vec<(Name, Option<MadeCall>, bool)> = Vec::new();
    found.retain(|one: &StaticCall| {
        let key = (one.object.clone(), one.call.clone(), one.after);
        let new = one.call.is_none() || !told.contains(&key);
        told.push(key);
        new
    });
    found
}

struct Object<'a> {
    name: &'a Name,
    site: Site,
    within: Option<FunctionId>,
}

impl Object<'_> {
    fn calls(&self, after: bool, call: Call) -> StaticCall {
        let Call { api, site, by, condition } = call;
        StaticCall {
            object: self.name.clone(),
            declared: self.site,
            within: self.within,
            after,
            call: Some(MadeCall { api: Name::from(api.name()), site, by }),
            condition,
        }
    }

    /// The elements of a container on the device are freed with it.
    fn frees_elements(&self) -> StaticCall {
        StaticCall {
            object: self.name.clone(),
            declared: self.site,
            within: self.within,
            after: true,
            call: None,
            condition: None,
        }
    }
}

/// A call that a function makes.
struct Call {
    api: ApiId,
    site: Site,
    /// The function in which it stands, by name.
    by: Name,
    /// The condition that it stands under.
    condition: Option<Site>,
}

struct Search<'p> {
    project: &'p Project,
    left: u32,
}

impl<'p> Search<'p> {
    /// The class that a type names, of an array the class of its elements; none for templates, whose code is made elsewhere.
    fn record(&self, module: ModuleId, inside: &Path, ty: TypeId) -> Option<Entry> {
        let (mut module, mut inside, mut ty) = (module, inside.clone(), ty);
        for _ in 0..MAX_DEPTH {
            match self.project.module(module).types.get(ty)? {
                Type::Qualified { ty: inner, .. } | Type::Array(inner, _) => ty = *inner,
                Type::Named { path, .. } => {
                    if let Some(entry) = self.project.record(module, &inside, path) {
                        let record = self.project.record_at(entry)?;
                        return (record.defined && record.template_params.is_empty()).then_some(entry);
                    }
                    let entry = self.project.alias(module, &inside, path)?;
                    let alias = self.project.alias_at(entry)?;
                    (module, inside, ty) = (entry.module, alias.scope.clone(), alias.ty);
                }
                _ => return None,
            }
        }
        None
    }

    /// Whether a type is a container of the device, by its full name.
    fn is_device_vector(&self, module: ModuleId, inside: &Path, ty: TypeId) -> bool {
        let Some(Type::Named { path, .. }) = self.project.module(module).types.get(ty) else { return false };
        let [space, name] = &*path.segments else { return false };
        *space == "thrust" && *name == "device_vector" && self.project.record(module, inside, path).is_none()
    }

    fn methods(&self, entry: Entry, role: FunctionRole) -> Vec<(FunctionId, &'p Function)> {
        let Some(record) = self.project.record_at(entry) else { return Vec::new() };
        let method = |id: &FunctionId| Some((*id, self.project.function_at(entry.module, *id)?));
        record.methods.iter().filter_map(method).filter(|(_, method)| method.role == role).collect()
    }

    /// What the destructor of a class calls, or that of a base or a member.
    fn destructor(&mut self, entry: Entry, depth: u32) -> Option<Call> {
        if depth > MAX_DEPTH {
            return None;
        }
        for (id, _) in self.methods(entry, FunctionRole::Destructor) {
            if let Some(call) = self.function(entry.module, id, 0) {
                return Some(call);
            }
        }
        let record = self.project.record_at(entry)?;
        let inside = record.scope.within(record.name.clone());
        let parts = record.fields.iter().map(|field| field.ty).chain(record.bases.iter().copied());
        parts.into_iter().find_map(|part| {
            let part = self.record(entry.module, &inside, part)?;
            self.destructor(part, depth + 1)
        })
    }

    /// What the one constructor calls that takes what an object is made of.
    fn constructor(&mut self, entry: Entry, module: ModuleId, init: Option<ExprId>) -> Option<Call> {
        let kind = init.and_then(|init| self.project.module(module).exprs.get(init)).map(|node| &node.kind);
        let count = match kind {
            None => 0,
            Some(Expr::Construct { args, .. } | Expr::InitList(args)) => args.len(),
            Some(_) => return None,
        };
        let constructors = self.methods(entry, FunctionRole::Constructor);
        let mut taking = constructors.into_iter().filter(|(_, constructor)| accepts(constructor, count));
        match (taking.next(), taking.next()) {
            (Some((id, _)), None) => self.function(entry.module, id, 0),
            _ => None,
        }
    }

    /// What the computation of an initial value calls.
    fn initial_value(&mut self, module: ModuleId, inside: &Path, init: ExprId) -> Option<Call> {
        let mut calls = Vec::new();
        collect(self.project, module, init, &mut calls, &mut Vec::new());
        calls.into_iter().find_map(|call| self.call(module, inside, &Name::default(), call, 0))
    }

    /// The first call of CUDA that a function surely makes, or else one under a single condition.
    fn function(&mut self, module: ModuleId, id: FunctionId, depth: u32) -> Option<Call> {
        let function = self.project.function_at(module, id)?;
        let body = function.body.as_ref().filter(|_| !function.damaged && depth <= MAX_DEPTH)?;
        let code = self.project.module(module);
        let mut open: Vec<(&Block, Option<ExprId>)> = vec![(body, None)];
        let mut under_condition = None;
        while let Some((block, condition)) = open.pop() {
            // Behind a condition that leaves the function, all stands under it.
            let mut condition = condition;
            for statement in block {
                self.left = self.left.checked_sub(1)?;
                let Some(node) = code.stmts.get(*statement) else { continue };
                let mut exprs = Vec::new();
                match &node.kind {
                    Stmt::Expr(expr) | Stmt::Return(Some(expr)) => exprs.push(*expr),
                    Stmt::Declare(local) => exprs.extend(function.locals.get(*local).and_then(|local| local.init)),
                    Stmt::Block(inner) | Stmt::Try { body: inner, .. } => open.push((inner, condition)),
                    Stmt::If { condition: asked, then, otherwise, .. } => {
                        exprs.push(*asked);
                        if condition.is_none() {
                            open.push((then, Some(*asked)));
                            let leaves = [then, otherwise]
                                .into_iter()
                                .any(|block| leaves(self.project, module, function, block));
                            if leaves {
                                condition = Some(*asked);
                            }
                        }
                    }
                    _ => {}
                }
                let (mut calls, mut blocks) = (Vec::new(), Vec::new());
                for expr in exprs {
                    collect(self.project, module, expr, &mut calls, &mut blocks);
                }
                open.extend(blocks.into_iter().map(|block| (block, condition)));
                for call in calls {
                    let Some(found) = self.call(module, &function.scope, &function.name, call, depth) else { continue };
                    match (condition, &found.condition) {
                        (None, None) => return Some(found),
                        (Some(condition), None) => {
                            let span = code.exprs.get(condition)?.span;
                            let condition = Some(Site { module, span });
                            under_condition.get_or_insert(Call { condition, ..found });
                        }
                        (None, Some(_)) => {
                            under_condition.get_or_insert(found);
                        }
                        (Some(_), Some(_)) => {}
                    }
                }
            }
        }
        under_condition
    }

    /// What one call comes to: a function of CUDA, or what a function in sight calls.
    fn call(&mut self, module: ModuleId, inside: &Path, by: &Name, call: Made<'p>, depth: u32) -> Option<Call> {
        self.left = self.left.checked_sub(1)?;
        let name = call.path.last()?;
        if let Some((target, function)) = self.project.function(module, inside, call.path, call.args) {
            return self.function(target, function, depth + 1);
        }
        let defined = !self.project.functions_named(name).is_empty() || self.project.has_macro(module, name);
        let api = ApiId::named(name).filter(|api| !defined && call.path.segments.len() == 1 && touches_cuda(*api))?;
        Some(Call { api, site: call.site, by: by.clone(), condition: None })
    }
}

/// Whether a function has to do with the state of CUDA in this process.
fn touches_cuda(api: ApiId) -> bool {
    api.is_cuda_host()
        && !api.is_pure()
        && !matches!(api.role, ErrorRole::Clears | ErrorRole::Peeks)
        && api.returns_status()
}

/// A call as it is written.
#[derive(Clone, Copy)]
struct Made<'p> {
    path: &'p Path,
    args: usize,
    site: Site,
}

/// The calls that an expression surely makes, and statements in it.
fn collect<'p>(
    project: &'p Project,
    module: ModuleId,
    expr: ExprId,
    calls: &mut Vec<Made<'p>>,
    blocks: &mut Vec<&'p Block>,
) {
    let code = project.module(module);
    walk_expr(code, expr, |id, kind| match kind {
        Expr::AndThen(..) | Expr::OrElse(..) | Expr::Select(..) | Expr::Lambda { .. } => false,
        Expr::Statements(block) => {
            blocks.push(block);
            false
        }
        Expr::Call { callee, args } => {
            if let (Some(Expr::Name { path, .. }), Some(node)) =
                (code.exprs.get(*callee).map(|node| &node.kind), code.exprs.get(id))
            {
                calls.push(Made { path, args: args.len(), site: Site { module, span: node.span } });
            }
            true
        }
        _ => true,
    });
}

/// Whether a block may leave the function.
fn leaves(project: &Project, module: ModuleId, function: &Function, block: &Block) -> bool {
    let code = project.module(module);
    let mut found = false;
    walk(code, function, block, |item| {
        if let Item::Stmt(id) = item {
            found |= matches!(code.stmts.get(id).map(|node| &node.kind), Some(Stmt::Return(_) | Stmt::Goto(_)));
        }
        !found
    });
    found
}
