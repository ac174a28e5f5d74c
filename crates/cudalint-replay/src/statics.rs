//! Calls of CUDA that are made before `main` begins or after it has ended: by constructors, destructors and initial values of objects
//! with static lifetime. Both the object and the call have to be in sight.

use crate::facts::{MadeCall, Site, StaticCall};
use crate::sure_calls::{SureCall, SureCalls};
use cudalint_program::ir::{Expr, ExprId, Function, FunctionId, FunctionRole, ModuleId, Path, Space, Type, TypeId};
use cudalint_program::{Entry, Name, Project, accepts};
use rustc_hash::FxHashSet;

/// How deep classes lie in each other, and names of types.
const MAX_DEPTH: u32 = 4;

/// The calls of one module's objects, one for each object and side of `main`.
pub(crate) fn static_calls(project: &Project, id: ModuleId) -> Vec<StaticCall> {
    let module = project.module(id);
    let mut found = Vec::new();
    for global in &module.globals {
        if !matches!(global.space, Space::Ordinary | Space::Static) {
            continue;
        }
        // Behind text that the parser lost nobody knows which function has ended: it may be a variable of one.
        if module.damage.iter().any(|lost| lost.start < global.span.start) {
            continue;
        }
        let object = Object { name: &global.name, site: Site { module: id, span: global.span }, within: None };
        let mut search = Search::new(project);
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
            let mut search = Search::new(project);
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
    fn calls(&self, after: bool, call: SureCall) -> StaticCall {
        let SureCall { made, condition } = call;
        StaticCall {
            object: self.name.clone(),
            declared: self.site,
            within: self.within,
            after,
            call: Some(made),
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

/// Looks at one object.
struct Search<'p> {
    project: &'p Project,
    calls: SureCalls<'p>,
    /// Classes whose destructors were looked at.
    destroyed: FxHashSet<Entry>,
}

impl<'p> Search<'p> {
    fn new(project: &'p Project) -> Self {
        Self { project, calls: SureCalls::new(project), destroyed: FxHashSet::default() }
    }

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
    fn destructor(&mut self, entry: Entry, depth: u32) -> Option<SureCall> {
        // One look at a class is enough, however many members are of it.
        if depth > MAX_DEPTH || !self.destroyed.insert(entry) {
            return None;
        }
        for (id, _) in self.methods(entry, FunctionRole::Destructor) {
            if let Some(call) = self.calls.of_function(entry.module, id) {
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
    fn constructor(&mut self, entry: Entry, module: ModuleId, init: Option<ExprId>) -> Option<SureCall> {
        let kind = init.and_then(|init| self.project.module(module).exprs.get(init)).map(|node| &node.kind);
        let count = match kind {
            None => 0,
            Some(Expr::Construct { args, .. } | Expr::InitList(args)) => args.len(),
            Some(_) => return None,
        };
        let constructors = self.methods(entry, FunctionRole::Constructor);
        let mut taking = constructors.into_iter().filter(|(_, constructor)| accepts(constructor, count));
        match (taking.next(), taking.next()) {
            (Some((id, _)), None) => self.calls.of_function(entry.module, id),
            _ => None,
        }
    }

    /// What the computation of an initial value calls.
    fn initial_value(&mut self, module: ModuleId, inside: &Path, init: ExprId) -> Option<SureCall> {
        self.calls.of_expression(module, inside, &Name::default(), init)
    }
}
