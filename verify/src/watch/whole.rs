//! All accesses to one shared array of a kernel: what must be logged to say that nobody wrote an element before it was read.
//! Where the array's name is used in any other way than for an access, somebody out of sight may write it, and nothing
//! can be said.

use super::sites::{Access, Place, places};
use cudalint_findings::LineIndex;
use cudalint_program::api::ApiId;
use cudalint_program::api::effects::Library;
use cudalint_program::ir::{Expr, ExprId, Function, FunctionId, LocalId, Module, Space, Type};
use cudalint_program::visit::{Item, walk};
use cudalint_syntax::Span;
use std::collections::BTreeSet;

/// The accesses to the shared array that is read at a place of a text, in its order.
///
/// # Errors
/// Why that is not known: nothing there reads a shared array of the kernel, or it is used in another way.
pub fn of_shared_array(module: &Module, text: &str, at: Span) -> Result<Vec<Place>, String> {
    let mut all = places(module, text, |_| true);
    let reads =
        |place: &&Place| place.access != Access::Write && place.span.start < at.end && at.start < place.span.end;
    let variable = |place: &Place| {
        let (local, _) = place.variable?;
        let space = module.functions.get(place.function)?.locals.get(local)?.space;
        matches!(space, Space::Shared | Space::DynamicShared).then_some((place.function, local))
    };
    let Some((id, local)) = all.iter().filter(reads).find_map(variable) else {
        return Err("no read of a shared array stands there whose accesses could all be logged".to_owned());
    };
    let Some(function) = module.functions.get(id) else { return Err("no function".to_owned()) };
    all.retain(|place| variable(place) == Some((id, local)));
    let uses = Uses { module, text, function, id, local };
    uses.check(&all).map(|()| all)
}

/// How an array is used.
struct Uses<'u> {
    module: &'u Module,
    text: &'u str,
    function: &'u Function,
    id: FunctionId,
    local: LocalId,
}

impl Uses<'_> {
    fn check(&self, all: &[Place]) -> Result<(), String> {
        let name = self.function.locals.get(self.local).map_or("", |variable| &*variable.name);
        if self.function.damaged {
            return Err(format!("a part of the function with `{name}` could not be read"));
        }
        self.check_space(name)?;
        let captures = |other: &&Function| {
            other.parent == Some(self.id) && other.captures.iter().any(|(_, local)| *local == Some(self.local))
        };
        if let Some(lambda) = self.module.functions.iter().find(captures) {
            return Err(format!("`{name}` is used in a lambda{}, which is not followed", self.at(lambda.span)));
        }
        let logged: BTreeSet<ExprId> = all.iter().filter_map(|place| Some(place.variable?.1)).collect();
        let mut other: Option<ExprId> = None;
        let Some(body) = &self.function.body else { return Ok(()) };
        walk(self.module, self.function, body, |item| {
            let Item::Expr(id) = item else { return true };
            match self.kind(id) {
                // Nothing is read there.
                Some(Expr::SizeOfExpr(_)) => return false,
                Some(Expr::Local(local)) if *local == self.local && !logged.contains(&id) => {
                    other.get_or_insert(id);
                }
                Some(Expr::Call { callee, args }) if !self.takes_values(*callee) => {
                    if let Some(handed) = args.iter().find(|arg| self.is_part(**arg)) {
                        other.get_or_insert(*handed);
                    }
                }
                Some(Expr::Construct { ty, args, .. }) if !self.is_plain(*ty) => {
                    if let Some(handed) = args.iter().find(|arg| self.is_part(**arg)) {
                        other.get_or_insert(*handed);
                    }
                }
                _ => {}
            }
            true
        });
        match other.and_then(|id| self.module.exprs.get(id)) {
            Some(node) => Err(format!(
                "`{name}` is handed on{}, and what is done with it there is not followed",
                self.at(node.span)
            )),
            None => Ok(()),
        }
    }

    /// Dynamic shared memory has as many names as the program gives it.
    fn check_space(&self, name: &str) -> Result<(), String> {
        let is_dynamic = |space: Space| space == Space::DynamicShared;
        let own = self.function.locals.get(self.local);
        if !own.is_some_and(|variable| is_dynamic(variable.space)) {
            return Ok(());
        }
        let here = self.function.locals.iter().filter(|variable| is_dynamic(variable.space)).count();
        let called = |function: &Function| !function.space.global;
        let elsewhere =
            self.module.functions.iter().filter(|function| called(function)).flat_map(|function| &function.locals);
        let global = self.module.globals.iter().chain(elsewhere).any(|variable| is_dynamic(variable.space));
        let alone = here == 1 && !global && !called(self.function);
        if alone { Ok(()) } else { Err(format!("`{name}` is not the only name of the dynamic shared memory")) }
    }

    fn kind(&self, id: ExprId) -> Option<&Expr> {
        self.module.exprs.get(id).map(|node| &node.kind)
    }

    /// ` in line 12`.
    fn at(&self, span: Span) -> String {
        format!(" in line {}", LineIndex::new(self.text).line(span.start as usize) + 1)
    }

    /// Whether an expression is an element of the array, or a member of one: what a reference could be bound to.
    fn is_part(&self, id: ExprId) -> bool {
        let mut open = vec![id];
        while let Some(at) = open.pop() {
            match self.kind(at) {
                Some(Expr::Index { base, .. } | Expr::Member { base, arrow: false, .. }) => open.push(*base),
                Some(Expr::Deref(pointer)) => open.push(*pointer),
                Some(Expr::Select(_, one, other)) => open.extend([*one, *other]),
                Some(Expr::Local(local)) if *local == self.local => return true,
                _ => {}
            }
        }
        false
    }

    /// Whether a function takes its arguments by value.
    fn takes_values(&self, callee: ExprId) -> bool {
        let Some(Expr::Name { path, .. }) = self.kind(callee) else { return false };
        let Some(name) = path.last() else { return false };
        let mut known = self.module.functions.iter().filter(|function| function.name == *name).peekable();
        if known.peek().is_some() {
            return known.all(|function| {
                let parameters = function.params().iter();
                parameters
                    .into_iter()
                    .all(|parameter| !matches!(self.module.types.get(parameter.ty), Some(Type::Reference(_))))
            });
        }
        ApiId::named(name).is_some_and(|api| matches!(api.library, Library::Math | Library::Device | Library::C))
    }

    /// Whether a type has no constructors of its own.
    fn is_plain(&self, ty: cudalint_program::ir::TypeId) -> bool {
        let mut ty = self.module.types.get(ty);
        while let Some(Type::Qualified { ty: inner, .. }) = ty {
            ty = self.module.types.get(*inner);
        }
        matches!(ty, Some(Type::Int { .. } | Type::Bool | Type::Float { .. } | Type::Vector { .. } | Type::Pointer(_)))
    }
}
