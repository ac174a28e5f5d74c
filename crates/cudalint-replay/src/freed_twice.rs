//! Memory that a function gives back twice by one name, whoever allocated it: between the two calls nothing gives the name another
//! value. What the walk knows more of, memory that it has seen come into being, it tells itself.

use crate::facts::{FreedTwice, Site};
use cudalint_program::api::effects::Effect;
use cudalint_program::api::{ApiId, is_status_type};
use cudalint_program::ir::{
    BinaryOp, Block, Expr, ExprId, Function, FunctionId, LocalId, LoopKind, Module, ModuleId, Stmt, Type,
};
use cudalint_program::visit::{operands, walk_expr};
use cudalint_program::{Name, Project};

/// Most statements and expressions that are looked at in one function.
const MAX_STEPS: u32 = 20_000;
/// How deep blocks stand in each other that are looked at.
const MAX_DEPTH: u32 = 32;
/// How long names may be.
const MAX_PARTS: usize = 8;

/// What functions of one module give back twice.
pub(crate) fn freed_twice(project: &Project, id: ModuleId) -> Vec<FreedTwice> {
    let module = project.module(id);
    let frees = |kind: &Expr| matches!(kind, Expr::Name { path, .. } if path.last().is_some_and(|name| freeing(project, name).is_some()));
    // Most modules end here.
    if module.exprs.iter().filter(|node| frees(&node.kind)).nth(1).is_none() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (number, function) in module.functions.iter_enumerated().filter(|(_, function)| !function.damaged) {
        let Some(body) = &function.body else { continue };
        let mut reader = Reader { project, id, module, function, number, left: MAX_STEPS, found: Vec::new() };
        reader.block(body, &mut Vec::new(), 0);
        if reader.left > 0 {
            found.extend(reader.found);
        }
    }
    found
}

/// A function of CUDA that gives memory back, where the project has none of this name.
fn freeing(project: &Project, name: &Name) -> Option<ApiId> {
    let api = ApiId::named(name).filter(|api| api.is_cuda_host() && api.frees())?;
    project.functions_named(name).is_empty().then_some(api)
}

/// A part of what a pointer is called.
#[derive(Clone, Debug, PartialEq)]
enum Part {
    Local(LocalId),
    /// A member of the object around, or a variable at namespace scope.
    Named(Name),
    Field(Name),
    At(i64),
    Counted(LocalId),
    Deref,
}

/// Memory that has been given back.
#[derive(Clone)]
struct Freed {
    key: Vec<Part>,
    api: Name,
    site: Site,
}

struct Reader<'p> {
    project: &'p Project,
    id: ModuleId,
    module: &'p Module,
    function: &'p Function,
    number: FunctionId,
    left: u32,
    found: Vec<FreedTwice>,
}

impl<'p> Reader<'p> {
    fn kind(&self, id: ExprId) -> Option<&'p Expr> {
        self.module.exprs.get(id).map(|node| &node.kind)
    }

    /// Follows a block from a state to the state behind it.
    fn block(&mut self, block: &'p Block, freed: &mut Vec<Freed>, depth: u32) {
        if depth > MAX_DEPTH {
            self.left = 0;
            return;
        }
        for id in block {
            self.left = self.left.saturating_sub(1);
            let Some(statement) = self.module.stmts.get(*id).map(|node| &node.kind) else { return freed.clear() };
            match statement {
                Stmt::Expr(expr) => self.expr(*expr, freed, depth),
                Stmt::Declare(local) => {
                    if let Some(init) = self.function.locals.get(*local).and_then(|local| local.init) {
                        self.expr(init, freed, depth);
                    }
                    clobber(&[Part::Local(*local)], freed);
                }
                Stmt::Block(inner) | Stmt::Loop { kind: LoopKind::DoWhile, condition: None, body: inner, .. } => {
                    self.block(inner, freed, depth + 1);
                }
                // The body of a macro.
                Stmt::Loop { kind: LoopKind::DoWhile, condition: Some(condition), body, .. }
                    if matches!(self.kind(*condition), Some(Expr::Int { value: 0, .. })) =>
                {
                    self.block(body, freed, depth + 1);
                }
                Stmt::If { condition, then, otherwise, .. } => {
                    self.expr(*condition, freed, depth);
                    let asked = self.asked(*condition).filter(|_| otherwise.is_empty());
                    if let Some(key) = asked {
                        let mut inside = freed.clone();
                        self.block(then, &mut inside, depth + 1);
                        // Where it is null, nothing is lost either way.
                        freed.retain(|old| inside.iter().any(|new| new.key == old.key));
                        let there: Vec<_> = freed.iter().map(|old| old.key.clone()).collect();
                        freed.extend(inside.into_iter().filter(|new| new.key == key && !there.contains(&new.key)));
                    } else {
                        self.aside(then, freed, depth);
                        self.aside(otherwise, freed, depth);
                    }
                }
                Stmt::Loop { init, condition, step, body, .. } => {
                    self.block(init, freed, depth + 1);
                    for expr in condition.iter().chain(step) {
                        self.expr(*expr, freed, depth);
                    }
                    self.aside(body, freed, depth);
                }
                Stmt::ForEach { variable, range, body } => {
                    self.expr(*range, freed, depth);
                    clobber(&[Part::Local(*variable)], freed);
                    self.aside(body, freed, depth);
                }
                Stmt::Return(value) => {
                    if let Some(value) = value {
                        self.expr(*value, freed, depth);
                    }
                    return freed.clear();
                }
                // Others come here by ways of their own, or go on elsewhere.
                Stmt::Switch { cases, .. } => {
                    freed.clear();
                    for case in cases {
                        self.aside(&case.body, freed, depth);
                    }
                }
                Stmt::Try { body, handlers } => {
                    self.aside(body, freed, depth);
                    for handler in handlers {
                        self.aside(handler, freed, depth);
                    }
                }
                Stmt::Break | Stmt::Continue | Stmt::Goto(_) | Stmt::Label(_) => freed.clear(),
                Stmt::Asm { .. } | Stmt::Elided { .. } | Stmt::Python(_) | Stmt::Unknown { .. } => freed.clear(),
            }
            if self.left == 0 {
                return;
            }
        }
    }

    /// A block that may or may not run: what it gives back it may have reasons for, and what it writes is no longer known.
    fn aside(&mut self, block: &'p Block, freed: &mut Vec<Freed>, depth: u32) {
        self.block(block, &mut Vec::new(), depth + 1);
        self.forget(block, freed);
    }

    /// Forgets what a block may write.
    fn forget(&mut self, block: &'p Block, freed: &mut Vec<Freed>) {
        let mut open: Vec<&'p Block> = vec![block];
        while let Some(block) = open.pop() {
            for id in block {
                self.left = self.left.saturating_sub(1);
                match self.module.stmts.get(*id).map(|node| &node.kind) {
                    Some(Stmt::Block(inner)) => open.push(inner),
                    Some(Stmt::If { then, otherwise, condition, .. }) => {
                        open.extend(self.writes(*condition, freed));
                        open.extend([then, otherwise]);
                    }
                    Some(Stmt::Loop { init, condition, step, body, .. }) => {
                        for expr in condition.iter().chain(step) {
                            open.extend(self.writes(*expr, freed));
                        }
                        open.extend([init, body]);
                    }
                    Some(Stmt::ForEach { body, range, .. }) => {
                        open.extend(self.writes(*range, freed));
                        open.push(body);
                    }
                    Some(Stmt::Expr(expr) | Stmt::Return(Some(expr))) => open.extend(self.writes(*expr, freed)),
                    Some(Stmt::Declare(local)) => {
                        if let Some(init) = self.function.locals.get(*local).and_then(|local| local.init) {
                            open.extend(self.writes(init, freed));
                        }
                    }
                    Some(Stmt::Return(None) | Stmt::Break | Stmt::Continue) => {}
                    _ => freed.clear(),
                }
            }
        }
    }

    /// What an expression gives back, and what it writes.
    fn expr(&mut self, expr: ExprId, freed: &mut Vec<Freed>, depth: u32) {
        let mut calls: Vec<(ExprId, ApiId, ExprId)> = Vec::new();
        let mut blocks: Vec<&'p Block> = Vec::new();
        walk_expr(self.module, expr, |id, kind| match kind {
            Expr::AndThen(..) | Expr::OrElse(..) | Expr::Select(..) | Expr::Lambda { .. } => false,
            Expr::Statements(block) => {
                blocks.push(block);
                false
            }
            Expr::Call { callee, args } => {
                calls.extend(self.frees(*callee, args).map(|(api, pointer)| (id, api, pointer)));
                true
            }
            _ => true,
        });
        for (call, api, pointer) in calls {
            let (Some(key), Some(node)) = (self.key(pointer), self.module.exprs.get(call)) else { continue };
            let site = Site { module: self.id, span: node.span };
            let text = self.project.text(self.id, self.module.exprs.get(pointer).map_or(node.span, |node| node.span));
            if let Some(first) = freed.iter().find(|old| old.key == key && old.api == api.name() && old.site != site) {
                let (function, first, text, api) = (self.number, first.site, Name::from(text), first.api.clone());
                self.found.push(FreedTwice { function, api, text, first, second: site });
            }
            freed.retain(|old| old.key != key);
            freed.push(Freed { key, api: Name::from(api.name()), site });
        }
        for other in self.writes(expr, freed) {
            if !blocks.iter().any(|block| std::ptr::eq(*block, other)) {
                self.forget(other, freed);
            }
        }
        for block in blocks {
            self.block(block, freed, depth + 1);
        }
    }

    /// The function of CUDA that a call gives memory back with, and the pointer.
    fn frees(&self, callee: ExprId, args: &[ExprId]) -> Option<(ApiId, ExprId)> {
        let Some(Expr::Name { path, .. }) = self.kind(callee) else { return None };
        let api = freeing(self.project, path.last().filter(|_| path.segments.len() == 1)?)?;
        let pointer = api.effects.iter().find_map(|effect| match effect {
            Effect::Frees(pointer) => pointer.of(args),
            _ => None,
        })?;
        Some((api, pointer))
    }

    /// Forgets what an expression may write; the statements in it are left.
    fn writes(&mut self, expr: ExprId, freed: &mut Vec<Freed>) -> Vec<&'p Block> {
        let mut open = vec![expr];
        let mut blocks: Vec<&'p Block> = Vec::new();
        while let Some(id) = open.pop() {
            self.left = self.left.saturating_sub(1);
            let Some(kind) = self.kind(id) else {
                freed.clear();
                break;
            };
            match kind {
                Expr::Assign { target, .. } | Expr::Step { target, .. } => self.written(*target, freed),
                Expr::AddressOf(value) => self.written(*value, freed),
                Expr::Call { callee, args } => self.called(*callee, args, freed),
                Expr::Construct { args, .. } if !args.is_empty() => self.handed(args, freed),
                Expr::Delete { .. } | Expr::New { .. } | Expr::Place { .. } => freed.retain(|old| is_plain(&old.key)),
                Expr::Lambda { .. } | Expr::Unknown(_) | Expr::Python(_) => freed.clear(),
                Expr::Statements(block) => blocks.push(block),
                _ => {}
            }
            operands(kind, |part| open.push(part));
        }
        blocks
    }

    /// Something is given another value.
    fn written(&self, target: ExprId, freed: &mut Vec<Freed>) {
        let Some(key) = self.key(target) else { return freed.clear() };
        let reference = |local: &LocalId| {
            let ty = self.function.locals.get(*local).map(|local| local.ty);
            matches!(ty.and_then(|ty| self.module.types.get(ty)), Some(Type::Reference(_)))
        };
        if key.last() == Some(&Part::Deref) || matches!(key.first(), Some(Part::Local(local)) if reference(local)) {
            return freed.clear();
        }
        clobber(&key, freed);
    }

    /// A call: functions of CUDA and of C write what they are given the address of, others what they can reach.
    fn called(&self, callee: ExprId, args: &[ExprId], freed: &mut Vec<Freed>) {
        let Some(Expr::Name { path, .. }) = self.kind(callee) else { return freed.retain(|old| is_plain(&old.key)) };
        let Some(name) = path.last() else { return freed.clear() };
        let own = !self.project.functions_named(name).is_empty() || self.project.has_macro(self.id, name);
        let known = |api: ApiId| api.is_cuda_host() || api.is_plain_c() || api.is_pure() || api.ends();
        if !own && path.segments.len() == 1 && ApiId::named(name).is_some_and(known) {
            return args.iter().for_each(|arg| self.written_behind(*arg, freed));
        }
        // What looks at a status is given it, and where it stands.
        let looks = !args.is_empty() && args.iter().all(|arg| self.says_nothing(*arg));
        if !looks {
            self.handed(args, freed);
        }
    }

    /// What an argument leads to may be written.
    fn written_behind(&self, arg: ExprId, freed: &mut Vec<Freed>) {
        match (self.kind(arg), self.key(arg)) {
            (_, Some(to)) => freed.retain(|old| old.key.len() == to.len() || !old.key.starts_with(&to)),
            (Some(Expr::Int { .. } | Expr::Str(_) | Expr::Null | Expr::AddressOf(_)), None) => {}
            (_, None) => freed.retain(|old| {
                old.key.iter().all(|part| matches!(part, Part::Local(_) | Part::Named(_) | Part::Field(_)))
            }),
        }
    }

    /// Whether nothing can be reached by an argument: a status, a text, a number.
    fn says_nothing(&self, arg: ExprId) -> bool {
        let mut current = arg;
        for _ in 0..4 {
            match self.kind(current) {
                Some(Expr::Cast { value, .. }) => current = *value,
                Some(Expr::Call { callee, .. }) => {
                    let Some(Expr::Name { path, .. }) = self.kind(*callee) else { return false };
                    return path.last().and_then(|name| ApiId::named(name)).is_some_and(|api| api.returns_status());
                }
                Some(Expr::Int { .. } | Expr::Str(_)) => return true,
                Some(Expr::Name { path, .. }) => {
                    return path.last().is_some_and(|name| name.starts_with("__"));
                }
                Some(Expr::Local(local)) => {
                    let ty = self.function.locals.get(*local).and_then(|local| self.module.types.get(local.ty));
                    return matches!(ty, Some(Type::Named { path, .. }) if path.last().is_some_and(|name| is_status_type(name)));
                }
                _ => return false,
            }
        }
        false
    }

    /// Code out of sight is given these: it may write what they are, and all that is no variable of the function.
    fn handed(&self, args: &[ExprId], freed: &mut Vec<Freed>) {
        freed.retain(|old| is_plain(&old.key));
        for arg in args {
            if let Some(key) = self.key(*arg) {
                clobber(&key, freed);
            }
        }
    }

    /// What a condition asks whether it is null.
    fn asked(&self, condition: ExprId) -> Option<Vec<Part>> {
        let none = |id: ExprId| match self.kind(id) {
            Some(Expr::Null | Expr::Int { value: 0, .. }) => true,
            Some(Expr::Cast { value, .. }) => {
                matches!(self.kind(*value), Some(Expr::Null | Expr::Int { value: 0, .. }))
            }
            _ => false,
        };
        match self.kind(condition)? {
            Expr::Binary(BinaryOp::Ne, a, b) if none(*b) => self.key(*a),
            Expr::Binary(BinaryOp::Ne, a, b) if none(*a) => self.key(*b),
            _ => self.key(condition),
        }
    }

    /// What a pointer is called, where that says the same each time.
    fn key(&self, expr: ExprId) -> Option<Vec<Part>> {
        let mut parts = Vec::new();
        let mut current = expr;
        loop {
            if parts.len() > MAX_PARTS {
                return None;
            }
            match self.kind(current)? {
                Expr::Cast { value, .. } => current = *value,
                Expr::Local(local) => {
                    parts.push(Part::Local(*local));
                    break;
                }
                Expr::Name { path, targs } if path.segments.len() == 1 && targs.is_empty() => {
                    parts.push(Part::Named(path.last()?.clone()));
                    break;
                }
                Expr::Member { base, name, .. } if matches!(self.kind(*base)?, Expr::This) => {
                    parts.push(Part::Named(name.clone()));
                    break;
                }
                Expr::Member { base, name, .. } => {
                    parts.push(Part::Field(name.clone()));
                    current = *base;
                }
                Expr::Index { base, indices } => {
                    let [index] = indices.as_slice() else { return None };
                    parts.push(match self.kind(*index)? {
                        Expr::Int { value, .. } => Part::At(*value),
                        Expr::Local(local) => Part::Counted(*local),
                        _ => return None,
                    });
                    current = *base;
                }
                Expr::Deref(value) => {
                    parts.push(Part::Deref);
                    current = *value;
                }
                _ => return None,
            }
        }
        parts.reverse();
        Some(parts)
    }
}

/// Whether nobody else reaches what a name means: a variable of the function.
fn is_plain(key: &[Part]) -> bool {
    matches!(key, [Part::Local(_)])
}

/// Forgets all that hangs on what is written: parts of it, what it is an index of, and what may be the same member or element.
fn clobber(written: &[Part], freed: &mut Vec<Freed>) {
    let last = written.last();
    let hangs = |key: &[Part]| match last {
        Some(Part::Local(local)) if written.len() == 1 => key.first() == last || key.contains(&Part::Counted(*local)),
        Some(Part::Field(name) | Part::Named(name)) => {
            key.iter().any(|part| matches!(part, Part::Field(other) | Part::Named(other) if other == name))
        }
        _ => key.iter().any(|part| matches!(part, Part::At(_) | Part::Counted(_) | Part::Deref)),
    };
    freed.retain(|old| !hangs(&old.key));
}
