//! Types that no compiler converts: a pointer to a pointer to something else, a number to a pointer, memory of `malloc` without a cast.

use crate::misfits::Look;
use cudalint_program::api::ApiId;
use cudalint_program::ir::{Expr, ExprId, LocalId};
use cudalint_program::types::Ty;

impl Look<'_> {
    /// The declared type of a variable, or of an element of one, that stands as it is.
    fn type_of_variable(&self, id: ExprId) -> Option<Ty> {
        let is_plain = match self.kind(id)? {
            Expr::Local(_) => true,
            Expr::Index { base, .. } => matches!(self.kind(*base), Some(Expr::Local(_))),
            Expr::AddressOf(of) => matches!(self.kind(*of), Some(Expr::Local(_))),
            _ => false,
        };
        (is_plain && self.is_written(id)).then(|| self.scope.type_of(id))
    }

    /// Whether no compiler makes a parameter of a type from an argument.
    pub(crate) fn is_refused(&self, param: &Ty, arg: ExprId) -> bool {
        let Some(given) = self.type_of_variable(arg) else { return false };
        let given = given.decayed();
        match (param, &given) {
            (Ty::Pointer(to) | Ty::Array(to, _), Ty::Pointer(from)) => are_apart(to, from),
            (Ty::Pointer(_), Ty::Float { .. }) | (Ty::Float { .. }, Ty::Pointer(_)) => true,
            (Ty::Int { .. }, Ty::Pointer(from)) => kind_of(from).is_some(),
            (Ty::Pointer(to), Ty::Int { .. }) => kind_of(to).is_some(),
            _ => false,
        }
    }

    /// `int n; cudaMalloc(&n, …)`, `float *p; cudaMalloc(p, …)`.
    pub(crate) fn allocation(&mut self, args: &[ExprId], api: ApiId) {
        let [to, _] = args else { return };
        let Some(given) = self.type_of_variable(*to) else { return };
        let wrong = match &given {
            Ty::Pointer(slot) => matches!(kind_of(slot), Some(Kind::Integer | Kind::Fraction | Kind::Rows)),
            Ty::Int { .. } | Ty::Float { .. } => true,
            _ => false,
        };
        if wrong {
            let (text, name) = (self.text(*to), api.name());
            let what = format!("`{text}`, which is no address of a pointer, where `{name}` wants one");
            self.find(*to, what);
        }
    }

    /// `int *p = malloc(4)`, which C converts and C++ does not.
    pub(crate) fn declaration(&mut self, local: LocalId) {
        let Some(variable) = self.function.locals.get(local) else { return };
        let Some(init) = variable.init.filter(|init| self.is_written(*init)) else { return };
        let Some(Expr::Call { callee, .. }) = self.kind(init) else { return };
        let path = &**self.project.path(self.id);
        let of_heap = self.plain_name(*callee).is_some_and(|name| ["malloc", "calloc", "realloc"].contains(&name));
        let is_cpp = [".cu", ".cuh"].iter().any(|ending| path.ends_with(ending));
        if of_heap && is_cpp && matches!(self.scope.resolve(variable.ty), Ty::Pointer(to) if kind_of(&to).is_some()) {
            let what = format!("memory without a type for `{}`", variable.name);
            self.find(init, what);
        }
    }
}

/// What kinds of objects there are for pointers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Integer,
    Fraction,
    Pointer,
    Rows,
}

fn kind_of(ty: &Ty) -> Option<Kind> {
    match ty {
        Ty::Int { .. } => Some(Kind::Integer),
        Ty::Float { bytes: 4 | 8 } => Some(Kind::Fraction),
        Ty::Pointer(_) => Some(Kind::Pointer),
        Ty::Array(..) => Some(Kind::Rows),
        _ => None,
    }
}

/// Whether a pointer to one type is surely none to another.
fn are_apart(to: &Ty, from: &Ty) -> bool {
    match (to, from) {
        (Ty::Pointer(to), Ty::Pointer(from)) => are_apart(to, from),
        _ => kind_of(to).zip(kind_of(from)).is_some_and(|(to, from)| to != from),
    }
}
