//! How byte counts are written: which `sizeof` they multiply by, followed through local definitions and arguments.

use super::Walker;
use crate::facts::{CountShape, Pointer, PointerArgument, Site};
use crate::quantity::Quantity;
use cudalint_program::ir::{BinaryOp, Expr, ExprId, LocalId, Module};
use cudalint_program::types::Ty;

/// How far definitions are followed.
const MAX_STEPS: u32 = 24;

/// What is found in a count.
#[derive(Default)]
struct Found {
    sizeofs: Vec<(i64, String)>,
    sizeof_pointer: Option<String>,
    literals: Vec<i64>,
    opaque: bool,
    /// A parameter of the entry function takes part.
    parameter: bool,
}

impl Found {
    /// What is found in a further factor.
    fn take(&mut self, factor: Self) {
        self.sizeofs.extend(factor.sizeofs);
        self.sizeof_pointer = factor.sizeof_pointer.or(self.sizeof_pointer.take());
        self.literals.extend(factor.literals);
        self.opaque |= factor.opaque;
        self.parameter |= factor.parameter;
    }
}

const fn is_shift_up(expr: &Expr) -> bool {
    matches!(expr, Expr::Binary(BinaryOp::Shl, ..))
}

impl Walker<'_> {
    /// The shape of the byte count of a copy or set. What a parameter counts is only told by an allocation beside it.
    pub fn shape_for(&mut self, expr: ExprId, sides: &[&PointerArgument]) -> CountShape {
        let (mut shape, parameter) = self.shape_and_origin(expr);
        if parameter {
            let home = self.frames.first().and_then(|frame| {
                let function = self.project.function_at(frame.module, frame.function?)?;
                Some(Site { module: frame.module, span: function.span })
            });
            shape.opaque |= sides.iter().any(|side| match (&side.pointer, home) {
                (Pointer::Into { buffer, .. }, Some(home)) => {
                    buffer.site.module != home.module
                        || buffer.site.span.start < home.span.start
                        || buffer.site.span.end > home.span.end
                }
                _ => false,
            });
        }
        shape
    }

    /// The shape of a byte count.
    pub fn shape(&mut self, expr: ExprId) -> CountShape {
        self.shape_and_origin(expr).0
    }

    /// The shape of a byte count, and whether a parameter of the entry function takes part.
    fn shape_and_origin(&mut self, expr: ExprId) -> (CountShape, bool) {
        let mut found = Found::default();
        if !self.is_reporting() {
            return (CountShape::default(), false);
        }
        let mut steps = MAX_STEPS;
        let frame = self.frames.len().saturating_sub(1);
        self.shape_in(frame, expr, &mut found, &mut steps);
        let shape = CountShape {
            text: self.text(expr),
            span: self.span(expr),
            sizeofs: found.sizeofs,
            sizeof_pointer: found.sizeof_pointer,
            literals: found.literals,
            opaque: found.opaque,
        };
        (shape, found.parameter)
    }

    fn shape_in(&mut self, frame: usize, expr: ExprId, found: &mut Found, steps: &mut u32) {
        if *steps == 0 {
            found.opaque = true;
            return;
        }
        *steps -= 1;
        let Some(module_id) = self.frames.get(frame).map(|frame| frame.module) else {
            found.opaque = true;
            return;
        };
        let module = self.project.module(module_id);
        let Some(node) = module.exprs.get(expr) else { return };
        match &node.kind {
            Expr::Int { value, .. } => found.literals.push(*value),
            Expr::Float { .. } | Expr::OnDevice => {}
            Expr::SizeOfType(_) | Expr::SizeOfExpr(_) => {
                let text = self.project.text(module_id, node.span).to_owned();
                let (value, pointer) = self.size_in(frame, expr);
                match value {
                    Some(bytes) => found.sizeofs.push((bytes, text)),
                    None => found.sizeofs.push((0, text)),
                }
                if let Some(pointer) = pointer {
                    found.sizeof_pointer = Some(pointer);
                }
            }
            Expr::Cast { value, .. } | Expr::Unary(_, value) => self.shape_in(frame, *value, found, steps),
            Expr::Binary(BinaryOp::Mul, a, b) => {
                self.shape_in(frame, *a, found, steps);
                self.shape_in(frame, *b, found, steps);
            }
            Expr::Binary(BinaryOp::Div | BinaryOp::Shl | BinaryOp::Shr | BinaryOp::Rem, a, b) => {
                let (mut left, mut right) = (Found::default(), Found::default());
                self.shape_in(frame, *a, &mut left, steps);
                self.shape_in(frame, *b, &mut right, steps);
                // Divided by a size: the factors no longer tell.
                left.opaque |= right.opaque || !right.sizeofs.is_empty();
                left.parameter |= right.parameter;
                if let Some(first) = left.sizeofs.first().filter(|_| !is_shift_up(&node.kind)) {
                    // What is left of the size is no factor of its own.
                    left.sizeofs = vec![(0, first.1.clone())];
                }
                found.take(left);
            }
            Expr::Binary(_, a, b) => {
                let (mut left, mut right) = (Found::default(), Found::default());
                self.shape_in(frame, *a, &mut left, steps);
                self.shape_in(frame, *b, &mut right, steps);
                left.opaque |= right.opaque;
                left.parameter |= right.parameter;
                left.sizeof_pointer = left.sizeof_pointer.or(right.sizeof_pointer);
                // Of a sum a size is a factor where it is one of both sides.
                if left.sizeofs != right.sizeofs {
                    let one = left.sizeofs.first().or(right.sizeofs.first());
                    left.sizeofs = one.map(|(_, text)| (0, text.clone())).into_iter().collect();
                }
                found.take(left);
            }
            Expr::Comma(parts) => {
                if let Some(last) = parts.last() {
                    self.shape_in(frame, *last, found, steps);
                }
            }
            Expr::Construct { args, .. } if args.len() == 1 => self.shape_in(frame, args[0], found, steps),
            Expr::Local(local) => self.local_shape(frame, *local, found, steps),
            Expr::Name { path, .. } => {
                let inside = cudalint_program::ir::Path::default();
                let init = self
                    .project
                    .global(module_id, &inside, path)
                    .and_then(|entry| Some((entry.module, self.project.global_at(entry)?.init?)));
                match init {
                    Some((module, init)) => found.opaque |= mentions_sizeof(self.project.module(module), init),
                    None if self.project.enumerator(module_id, &inside, path).is_some() => {}
                    None => found.opaque = true,
                }
            }
            _ => found.opaque = true,
        }
    }

    fn local_shape(&mut self, frame: usize, local: LocalId, found: &mut Found, steps: &mut u32) {
        let at = &self.frames[frame];
        let Some(function_id) = at.function else {
            found.opaque = true;
            return;
        };
        let module_id = at.module;
        let Some(function) = self.project.function_at(module_id, function_id) else { return };
        if self.is_assigned(module_id, function_id, local) {
            found.opaque = true;
            return;
        }
        if local.0 < function.param_count {
            if frame == 0 {
                // Whoever calls says how many; the number itself is a symbol that can be compared.
                found.parameter = true;
                return;
            }
            match at.arguments.get(local.index()).copied().flatten() {
                Some(argument) => self.shape_in(frame - 1, argument, found, steps),
                None => found.opaque = true,
            }
            return;
        }
        match function.locals.get(local).and_then(|variable| variable.init) {
            Some(init) => self.shape_in(frame, init, found, steps),
            None => found.opaque = true,
        }
    }

    /// The value of a `sizeof` in some frame, and the text of its operand where that is a pointer.
    fn size_in(&mut self, frame: usize, expr: ExprId) -> (Option<i64>, Option<String>) {
        // Frames above would hide the locals that the expression names.
        let above = self.frames.split_off(frame + 1);
        let out = self.eval(expr);
        let pointer = match self.kind(expr) {
            Some(Expr::SizeOfExpr(value)) => {
                let ty = self.type_of(*value);
                matches!(ty.value(), Ty::Pointer(_)).then(|| self.text(*value))
            }
            _ => None,
        };
        self.frames.extend(above);
        let value = match out.val.quantity() {
            Quantity::Known(value) => Some(value),
            _ => None,
        };
        (value, pointer)
    }
}

fn mentions_sizeof(module: &Module, root: ExprId) -> bool {
    let mut found = false;
    cudalint_program::visit::walk_expr(module, root, |_, kind| {
        found |= matches!(kind, Expr::SizeOfType(_) | Expr::SizeOfExpr(_) | Expr::Call { .. });
        !found
    });
    found
}
