//! Variables of code that a comment stands for: `// ... allocate memory as before ...`.
//!
//! Nobody declares them, and what uses them says what they are: the kernels in sight that they are given to, and the copies
//! that fill them.

use super::{Out, Walker};
use crate::facts::{MemorySpace, Origin};
use crate::given::Held;
use crate::memory::{ObjectInfo, root};
use crate::quantity::{AtomKind, Quantity, assume};
use crate::value::{Kind, Ptr, Val};
use cudalint_program::ir::{Expr, ExprId, Path};
use cudalint_program::types::{Ty, TypeEnv};
use cudalint_program::visit::{Item, walk};
use cudalint_program::{Name, api::ApiId};
use cudalint_syntax::Span;

/// Most names of one function that are looked at.
const MAX_NAMES: usize = 16;

/// Names with types.
type Typed = Vec<(Name, Ty)>;

impl Walker<'_> {
    /// Behind a comment that an allocation is left out: memory of the device that the function goes on to copy to and to give to a
    /// kernel, and the integers that kernels are given beside it.
    pub(super) fn supply_left_out(&mut self, comment: Span) {
        let words = self.project.text(self.module_id(), comment).to_ascii_lowercase();
        if self.frames.len() != 1 || !words.contains("alloc") || !self.left_out.is_empty() {
            return;
        }
        let Some((filled, given)) = self.undeclared() else { return };
        let (mut pointers, mut integers) = (Vec::new(), Vec::new());
        for (name, ty) in given {
            match ty {
                Ty::Pointer(_) if filled.contains(&name) => pointers.push((name, ty)),
                Ty::Int { .. } => integers.push((name, ty)),
                _ => {}
            }
        }
        if pointers.is_empty() {
            return;
        }
        for (name, ty) in pointers {
            let why = assume(format!("what is left out allocates `{name}`, and fills nothing of it"));
            let element = ty.pointee().and_then(|inner| self.size_of(inner).known());
            let info = ObjectInfo {
                name: name.clone(),
                site: self.site(comment),
                ty: ty.pointee().cloned().unwrap_or(Ty::Unknown),
                space: MemorySpace::Device,
                origin: Origin::LeftOut,
                array: true,
                element,
            };
            let object = self.create_object(info, Val::unknown(), Val::unknown());
            self.memory.set_held(object, Some(std::sync::Arc::new(Held::because(&Held::fresh(), &why))));
            let kind = Kind::Ptr(Ptr { obj: object, path: root(), offset: Quantity::Known(0), array: true });
            self.left_out.push((name, Out::new(Val::from(kind).because(&why), ty)));
        }
        for (name, ty) in integers {
            let q = self.atoms.fresh(&name, AtomKind::Input);
            let (bytes, signed) = ty.integer().unwrap_or((4, true));
            self.left_out.push((name, Out::new(Val::typed(q, bytes, signed), ty)));
        }
    }

    /// What a name means that only code that is left out declares.
    pub(super) fn left_out(&self, path: &Path) -> Option<Out> {
        let [name] = &*path.segments else { return None };
        let (_, out) = self.left_out.iter().find(|(known, _)| known == name)?;
        (self.frames.len() == 1).then(|| out.clone())
    }

    /// Names of the function around that nothing declares: those that a copy writes to, and those that kernels are given, with the
    /// types of the parameters.
    fn undeclared(&mut self) -> Option<(Vec<Name>, Typed)> {
        let function = self.function()?;
        let module = self.module();
        let body = function.body.as_ref()?;
        let (mut calls, mut launches) = (Vec::new(), Vec::new());
        walk(module, function, body, |item| {
            if let Item::Expr(id) = item {
                match module.exprs.get(id).map(|node| &node.kind) {
                    Some(Expr::Call { callee, args }) => calls.push((*callee, args)),
                    Some(Expr::Launch(launch)) if launch.chevron => launches.push(launch),
                    _ => {}
                }
            }
            calls.len() + launches.len() < MAX_NAMES
        });
        let mut filled = Vec::new();
        for (callee, args) in calls {
            let Some(Expr::Name { path, .. }) = self.kind(callee) else { continue };
            let copies = path.last().and_then(|name| ApiId::named(name)).is_some_and(|api| api.copies());
            if let (true, Some(name)) = (copies, args.first().and_then(|first| self.undeclared_name(*first))) {
                filled.push(name);
            }
        }
        let mut given = Typed::new();
        for launch in launches {
            let Some(Expr::Name { path, .. }) = self.kind(launch.kernel) else { continue };
            let scope = self.scope();
            let kernel = self.project.kernel(self.module_id(), &scope, path, Some(launch.args.len()));
            let Some((target, id)) = kernel else { continue };
            let Some(function) = self.project.function_at(target, id) else { continue };
            for (argument, parameter) in launch.args.iter().zip(function.params()) {
                let Some(name) = self.undeclared_name(*argument) else { continue };
                let ty = self.resolve_in(target, function, &TypeEnv::default(), parameter.ty).value().clone();
                if !given.iter().any(|(known, _)| *known == name) {
                    given.push((name, ty));
                }
            }
        }
        Some((filled, given))
    }

    /// A plain name that nothing in sight declares.
    fn undeclared_name(&mut self, id: ExprId) -> Option<Name> {
        let Some(Expr::Name { path, targs }) = self.kind(self.without_casts(id)) else { return None };
        let [name] = &*path.segments else { return None };
        matches!(self.meaning(path, targs), super::meaning::Meaning::None).then(|| name.clone())
    }
}
