//! Numbers that the program reads in texts: whoever runs it chooses them, and one argument of it is one number.

use super::walker::NumberSource;
use super::{Out, Walker};
use crate::quantity::{AtomKind, Quantity};
use crate::value::Val;
use cudalint_program::api::ApiId;
use cudalint_program::ir::{Expr, ExprId, Function, LocalId, ModuleId, Path, Type};
use cudalint_program::types::Ty;
use cudalint_program::visit::{Item, walk};

impl<'p> Walker<'p> {
    /// `atoi` and its kind: a number that whoever runs the program chooses.
    pub(super) fn number_from_text(&mut self, id: ExprId, name: &str, args: &'p [ExprId]) -> Out {
        let outs = self.arguments(args);
        if let Some(end) = outs.get(1) {
            self.written_by_library(&end.clone());
        }
        let ty = number_type(name);
        if !matches!(ty, Ty::Int { .. }) {
            return Out::new(Val::unknown(), ty);
        }
        let text = self.text(id);
        let source = self.number_source(name, args).filter(|_| self.dry == 0);
        let known = source.and_then(|source| self.started_with.get_mut(&source));
        let q = if let Some((q, uses)) = known {
            *uses += 1;
            q.clone()
        } else {
            let q = self.atoms.fresh(&text, AtomKind::Input);
            self.started_with.extend(source.map(|source| (source, (q.clone(), 1))));
            q
        };
        let (bytes, signed) = if let Ty::Int { bytes, signed } = ty { (bytes, signed) } else { (8, true) };
        Out::new(Val::typed(q, bytes, signed), ty)
    }

    /// The argument of the program that a call reads as a decimal number, and how it reads it.
    fn number_source(&self, name: &str, args: &[ExprId]) -> Option<NumberSource<'p>> {
        let base = args.get(2).map(|base| self.kind(*base));
        // In base 10, which those that take none mean.
        let decimal = base.map_or(!name.starts_with("strto"), |base| matches!(base, Some(Expr::Int { value: 10, .. })));
        let text = args.first().filter(|_| decimal).and_then(|text| self.argument_text(*text))?;
        let (_, signed) = number_type(name).integer()?;
        Some((text, signed))
    }

    /// An argument of the program as it is spelled, `argv[1]`: the same text wherever it is read.
    fn argument_text(&self, text: ExprId) -> Option<&'p str> {
        let Some(Expr::Index { base, indices }) = self.kind(self.without_casts(text)) else { return None };
        let (Some(Expr::Local(local)), [index]) = (self.kind(*base), indices.as_slice()) else { return None };
        let number = matches!(self.kind(*index), Some(Expr::Int { .. }));
        (number && self.is_argv(*local)).then(|| self.common.text(*index))
    }

    /// Whether a parameter of the function around is what the program was started with, as it was then: that of `main`, or
    /// of the function where the walk begins, handed on from call to call.
    fn is_argv(&self, local: LocalId) -> bool {
        let mut local = local;
        for (depth, frame) in self.frames.iter().enumerate().rev() {
            let module = self.project.module(frame.module);
            let Some(function) = frame.function.and_then(|id| module.functions.get(id)) else { return false };
            if local.0 >= function.param_count || self.may_move(frame.module, function, local) {
                return false;
            }
            if depth == 0 || function.name == "main" {
                let named = function.locals.get(local).is_some_and(|parameter| parameter.name == "argv");
                return named || function.name == "main" && local.0 == 1;
            }
            let argument = frame.arguments.get(local.index()).copied().flatten();
            let caller = self.frames.get(depth - 1).map(|caller| self.project.module(caller.module));
            let handed = argument.zip(caller).and_then(|(argument, caller)| {
                let mut kind = caller.exprs.get(argument).map(|node| &node.kind);
                while let Some(Expr::Cast { value, .. }) = kind {
                    kind = caller.exprs.get(*value).map(|node| &node.kind);
                }
                if let Some(Expr::Local(local)) = kind { Some(*local) } else { None }
            });
            let Some(handed) = handed else { return false };
            local = handed;
        }
        false
    }

    /// Whether a function may write a parameter or what it points to: itself, or by what it hands its address or a
    /// reference to.
    fn may_move(&self, module_id: ModuleId, function: &Function, local: LocalId) -> bool {
        let module = self.project.module(module_id);
        let kind = |id: ExprId| module.exprs.get(id).map(|node| &node.kind);
        let names = |id: ExprId| matches!(kind(id), Some(Expr::Local(named)) if *named == local);
        let by_reference = |path: &Path, index: usize| {
            self.project.overloads(module_id, &Path::default(), path).iter().any(|(target, id)| {
                let types = &self.project.module(*target).types;
                let parameter =
                    self.project.function_at(*target, *id).and_then(|it| it.params().get(LocalId::from(index)));
                parameter.is_some_and(|parameter| matches!(types.get(parameter.ty), Some(Type::Reference(_))))
            })
        };
        let Some(body) = &function.body else { return true };
        let mut moves = false;
        walk(module, function, body, |item| {
            let Item::Expr(id) = item else { return true };
            moves |= match kind(id) {
                Some(Expr::Assign { target, .. } | Expr::Step { target, .. }) => {
                    names(*target) || matches!(kind(*target), Some(Expr::Index { base, .. }) if names(*base))
                }
                Some(Expr::AddressOf(value)) => names(*value),
                Some(Expr::Call { callee, args }) => args.iter().position(|arg| names(*arg)).is_some_and(|index| {
                    // `init(&argc, argv)` takes away what it has understood.
                    args.iter().any(|arg| matches!(kind(*arg), Some(Expr::AddressOf(_))))
                        || matches!(kind(*callee), Some(Expr::Name { path, .. }) if by_reference(path, index))
                }),
                _ => false,
            };
            !moves
        });
        moves
    }

    /// The number that a program's argument says, where an earlier read has named it; else it is known by `name` from now on.
    pub fn argument_number(&mut self, value: ExprId, name: &str) -> Quantity {
        let source = match self.kind(self.without_casts(value)) {
            Some(Expr::Call { callee, args }) => match self.kind(*callee) {
                Some(Expr::Name { path, .. }) => path.last().and_then(|name| self.number_source(name, args)),
                _ => None,
            },
            _ => None,
        };
        match source.and_then(|source| self.started_with.get(&source)) {
            Some((q, uses)) if *uses > 1 => q.clone(),
            _ => {
                let q = self.atoms.fresh(name, AtomKind::Input);
                self.started_with.extend(source.map(|source| (source, (q.clone(), 2))));
                q
            }
        }
    }

    /// Whether a value was read from the command line, a file or the environment.
    pub fn reads_input(&self, expr: ExprId) -> bool {
        match self.kind(self.without_casts(expr)) {
            Some(Expr::Call { callee, .. }) => match self.kind(*callee) {
                Some(Expr::Name { path, .. }) => {
                    path.last().and_then(|name| ApiId::named(name)).is_some_and(|api| api.reads_number())
                }
                _ => false,
            },
            _ => false,
        }
    }
}

/// The type of the number that a function reads in a text.
fn number_type(name: &str) -> Ty {
    match name {
        "atoi" | "stoi" => Ty::INT,
        "atof" => Ty::DOUBLE,
        "strtoul" | "strtoull" | "stoul" | "stoull" => Ty::SIZE,
        _ => Ty::LONG,
    }
}
