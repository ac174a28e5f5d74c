//! The accesses to memory that a kernel's lines make, as the program form has them: which text is the place, whether it is
//! read or written, and which object it is a part of.

use cudalint_findings::LineIndex;
use cudalint_program::api::ApiId;
use cudalint_program::api::effects::DeviceOp;
use cudalint_program::ir::{
    BinaryOp, Block, Expr, ExprId, ExprNode, Function, FunctionId, FunctionRole, LocalId, Module, Space, Stmt, StmtId,
    Type, TypeId, Variable,
};
use cudalint_syntax::Span;
use std::collections::BTreeSet;

/// A place that device code reads or writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its text: an lvalue, or for an atomic function the pointer.
    pub span: Span,
    /// How it is accessed.
    pub access: Access,
    /// Whether the text is a pointer that a function accesses memory through.
    pub by_pointer: bool,
    /// The object it is a part of, where the source names one.
    pub object: Option<Object>,
    /// The local variable that it is reached from by its elements and members alone, with the expression that names it.
    pub variable: Option<(LocalId, ExprId)>,
    /// The function around it.
    pub function: FunctionId,
}

/// How a place is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// Read.
    Read,
    /// Written.
    Write,
    /// Read and written, in two steps.
    Update,
    /// By an atomic function, through a pointer.
    Atomic,
}

/// The object that a place is a part of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// Its name.
    pub name: String,
    /// How its size can be told.
    pub extent: Extent,
}

/// How an object's size can be told in its own text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// `sizeof` says it.
    Sized,
    /// It is the dynamic shared memory.
    DynamicShared,
    /// A pointer: its allocation says it.
    Pointer,
}

/// What an expression is wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    /// Its value.
    Value,
    /// To be written.
    Target,
    /// To be read and written.
    Update,
    /// Its address, or nothing at all: no access by itself.
    Address,
    /// The pointer of an atomic function.
    Atomic,
    /// The pointer of a function that reads through it.
    Pointer,
}

/// The accesses of a module's device code on the lines (from 1) for which `on_line` holds, by place. `text` is the module's file.
pub fn places(module: &Module, text: &str, on_line: impl Fn(u32) -> bool) -> Vec<Place> {
    let lines = LineIndex::new(text);
    let on_line = |offset: u32| on_line(lines.line(offset as usize) as u32 + 1);
    let mut found: Vec<Place> = Vec::new();
    for (id, function) in module.functions.iter_enumerated() {
        if let Some(body) = function.body.as_ref().filter(|_| runs_on_device(module, id)) {
            let mut finder = Finder { module, text, function, id, on_line: &on_line, found: &mut found };
            finder.body(body);
        }
    }
    found.sort_by_key(|place| (place.span.start, std::cmp::Reverse(place.span.end)));
    found.dedup_by_key(|place| place.span);
    found
}

/// The calls by which threads wait for their block, on the lines (from 1) for which `on_line` holds. One that a macro makes is none
/// of them.
pub fn barriers(module: &Module, text: &str, on_line: impl Fn(u32) -> bool) -> Vec<Span> {
    let lines = LineIndex::new(text);
    let of_node = |node: &ExprNode| {
        let Expr::Call { callee, .. } = &node.kind else { return None };
        let Expr::Name { path, .. } = &module.exprs.get(*callee)?.kind else { return None };
        let name: &str = path.last()?;
        let op = ApiId::named(name).and_then(|api| api.device_op());
        let written = text.get(node.span.range())?;
        (node.expansion.is_none()
            && matches!(op, Some(DeviceOp::BlockBarrier | DeviceOp::BlockVote(_)))
            && written.starts_with(name)
            && written.ends_with(')')
            && on_line(lines.line(node.span.start as usize) as u32 + 1))
        .then_some(node.span)
    };
    let mut found: Vec<Span> = module.exprs.iter().filter_map(of_node).collect();
    found.sort_by_key(|span| span.start);
    found.dedup();
    found
}

/// Whether a function, or for a lambda one around it, runs on the device.
pub fn runs_on_device(module: &Module, function: FunctionId) -> bool {
    let mut at = Some(function);
    // A lambda's parent comes before it.
    while let Some(function) = at.and_then(|id| module.functions.get(id)) {
        if function.space.device || function.space.global {
            return true;
        }
        at = function.parent.filter(|_| function.role == FunctionRole::Lambda);
    }
    false
}

struct Finder<'f, F> {
    module: &'f Module,
    text: &'f str,
    function: &'f Function,
    id: FunctionId,
    /// Whether a byte of the text stands on a line of interest.
    on_line: &'f F,
    found: &'f mut Vec<Place>,
}

impl<F: Fn(u32) -> bool> Finder<'_, F> {
    fn body(&mut self, body: &Block) {
        let returns_reference = self.is_reference(self.function.returns);
        let mut statements: Vec<StmtId> = body.iter().rev().copied().collect();
        let mut seen = BTreeSet::new();
        while let Some(id) = statements.pop() {
            let Some(node) = self.module.stmts.get(id).filter(|_| seen.insert(id)) else { continue };
            let mut exprs: Vec<(ExprId, Wanted)> = Vec::new();
            match &node.kind {
                Stmt::Expr(expr) => exprs.push((*expr, Wanted::Value)),
                Stmt::Return(Some(expr)) => {
                    exprs.push((*expr, if returns_reference { Wanted::Address } else { Wanted::Value }));
                }
                Stmt::Declare(local) => exprs.extend(self.initializer(*local)),
                Stmt::Block(block) => statements.extend(block),
                Stmt::If { condition, then, otherwise, .. } => {
                    exprs.push((*condition, Wanted::Value));
                    statements.extend(then.iter().chain(otherwise));
                }
                Stmt::Loop { init, condition, step, body, .. } => {
                    exprs.extend(condition.iter().chain(step).map(|expr| (*expr, Wanted::Value)));
                    statements.extend(init.iter().chain(body));
                }
                Stmt::ForEach { body, .. } => statements.extend(body),
                Stmt::Switch { value, cases } => {
                    exprs.push((*value, Wanted::Value));
                    statements.extend(cases.iter().flat_map(|case| &case.body));
                }
                // What is not understood is left as it is.
                _ => {}
            }
            self.expressions(exprs, &mut statements);
        }
    }

    fn initializer(&self, local: LocalId) -> Option<(ExprId, Wanted)> {
        let variable = self.function.locals.get(local)?;
        let wanted = if self.is_reference(variable.ty) { Wanted::Address } else { Wanted::Value };
        Some((variable.init?, wanted))
    }

    fn expressions(&mut self, mut open: Vec<(ExprId, Wanted)>, statements: &mut Vec<StmtId>) {
        while let Some((id, wanted)) = open.pop() {
            let Some(node) = self.module.exprs.get(id) else { continue };
            self.note(id, wanted);
            match &node.kind {
                Expr::Assign { op, target, value } => {
                    open.push((*target, if op.is_some() { Wanted::Update } else { Wanted::Target }));
                    open.push((*value, Wanted::Value));
                }
                Expr::Step { target, .. } => open.push((*target, Wanted::Update)),
                Expr::AddressOf(inner) => {
                    // `*&x`, and the pointer that an atomic function is given, are noted as a whole.
                    open.push((*inner, Wanted::Address));
                }
                Expr::Index { base, indices } => {
                    open.push((*base, Wanted::Address));
                    open.extend(indices.iter().map(|index| (*index, Wanted::Value)));
                }
                Expr::Member { base, arrow, .. } => {
                    open.push((*base, if *arrow { Wanted::Value } else { Wanted::Address }));
                }
                Expr::Deref(pointer) => open.push((*pointer, Wanted::Value)),
                Expr::Call { callee, args } => {
                    let op = self.called(*callee).and_then(ApiId::named).and_then(|api| api.device_op());
                    let first = match op {
                        Some(DeviceOp::Atomic { .. }) => Wanted::Atomic,
                        Some(DeviceOp::Load) => Wanted::Pointer,
                        _ => Wanted::Value,
                    };
                    if let Some((receiver, rest)) = args.split_first() {
                        open.push((*receiver, first));
                        open.extend(rest.iter().map(|arg| (*arg, Wanted::Value)));
                    }
                    // `x.f()` and `p[i].f()` are calls of methods: the object's address is taken.
                    if let Some(Expr::Member { base, .. }) = self.kind(*callee) {
                        open.push((*base, Wanted::Address));
                    }
                }
                Expr::Unary(_, a) | Expr::Cast { value: a, .. } => open.push((*a, value_of(wanted))),
                Expr::Binary(_, a, b) | Expr::AndThen(a, b) | Expr::OrElse(a, b) => {
                    open.extend([(*a, Wanted::Value), (*b, Wanted::Value)]);
                }
                Expr::Select(condition, a, b) => {
                    open.push((*condition, Wanted::Value));
                    open.extend([(*a, wanted), (*b, wanted)]);
                }
                Expr::Construct { args, .. } | Expr::InitList(args) | Expr::Comma(args) => {
                    open.extend(args.iter().map(|arg| (*arg, Wanted::Value)));
                }
                Expr::Designated { value, .. } => open.push((*value, Wanted::Value)),
                Expr::Statements(inner) => statements.extend(inner),
                // Not evaluated, no memory, or not understood.
                _ => {}
            }
        }
    }

    /// Takes note of an expression that is an access.
    fn note(&mut self, id: ExprId, wanted: Wanted) {
        let Some(node) = self.module.exprs.get(id) else { return };
        let access = match wanted {
            Wanted::Value => Access::Read,
            Wanted::Target => Access::Write,
            Wanted::Update => Access::Update,
            Wanted::Atomic => Access::Atomic,
            Wanted::Pointer => Access::Read,
            Wanted::Address => return,
        };
        let is_pointer = matches!(wanted, Wanted::Atomic | Wanted::Pointer);
        if !is_pointer && !self.is_place(id) {
            return;
        }
        let written = self.text.get(node.span.range()).unwrap_or("");
        // Inside a macro's expansion a span may be that of its whole call.
        let from_macro = self.module.expansion(node).is_some_and(|name| written.starts_with(&**name));
        let plausible = match &node.kind {
            _ if from_macro => false,
            _ if is_pointer => !written.is_empty(),
            Expr::Index { .. } => written.ends_with(']'),
            Expr::Deref(_) => written.starts_with('*'),
            Expr::Member { name, .. } => written.ends_with(&**name),
            Expr::Local(_) | Expr::Name { .. } => !written.is_empty(),
            _ => false,
        };
        if plausible && (self.on_line)(node.span.start) {
            let object = if is_pointer { None } else { self.object(id) };
            let variable = self.reached_from(id);
            self.found.push(Place {
                span: node.span,
                access,
                by_pointer: is_pointer,
                object,
                variable,
                function: self.id,
            });
        }
    }

    /// The local variable that a place, or what a pointer points to, is a part of.
    fn reached_from(&self, id: ExprId) -> Option<(LocalId, ExprId)> {
        let mut at = id;
        loop {
            at = match self.kind(at)? {
                Expr::Index { base, .. } | Expr::Member { base, arrow: false, .. } => *base,
                Expr::Deref(pointer) => *pointer,
                Expr::AddressOf(inner) | Expr::Cast { value: inner, .. } => *inner,
                // `parts + i`
                Expr::Binary(BinaryOp::Add, array, _) => *array,
                Expr::Local(local) => return Some((*local, at)),
                _ => return None,
            };
        }
    }

    fn kind(&self, id: ExprId) -> Option<&Expr> {
        self.module.exprs.get(id).map(|node| &node.kind)
    }

    fn called(&self, callee: ExprId) -> Option<&str> {
        match self.kind(callee)? {
            Expr::Name { path, .. } => path.last().map(|name| &**name),
            _ => None,
        }
    }

    /// Whether an expression names memory that other threads may see: an element, what a pointer points to, a variable of
    /// the device or the block.
    fn is_place(&self, id: ExprId) -> bool {
        let mut at = id;
        loop {
            match self.kind(at) {
                Some(Expr::Index { .. } | Expr::Deref(_) | Expr::Member { arrow: true, .. }) => return true,
                Some(Expr::Member { base, .. }) => at = *base,
                Some(Expr::Local(_) | Expr::Name { .. }) => {
                    return self.variable(at).is_some_and(|variable| {
                        let of_others = matches!(
                            variable.space,
                            Space::Shared | Space::DynamicShared | Space::Device | Space::Managed
                        ) || self.is_reference(variable.ty);
                        of_others && !matches!(self.plain(variable.ty), Some(Type::Array(..)))
                    });
                }
                _ => return false,
            }
        }
    }

    /// The variable that an expression is.
    fn variable(&self, id: ExprId) -> Option<&Variable> {
        match self.kind(id)? {
            Expr::Local(local) => self.function.locals.get(*local),
            Expr::Name { path, .. } => {
                let name = path.last()?;
                self.module.globals.iter().find(|global| global.name == *name)
            }
            _ => None,
        }
    }

    /// A type without qualifiers.
    fn plain(&self, ty: TypeId) -> Option<&Type> {
        let mut ty = self.module.types.get(ty)?;
        while let Type::Qualified { ty: inner, .. } = ty {
            ty = self.module.types.get(*inner)?;
        }
        Some(ty)
    }

    fn is_reference(&self, ty: TypeId) -> bool {
        matches!(self.module.types.get(ty), Some(Type::Reference(_)))
    }

    /// The variable that an element is an element of. A pointer that is itself an element or a member leads elsewhere.
    fn object(&self, id: ExprId) -> Option<Object> {
        let mut at = id;
        let mut levels = 0;
        loop {
            match self.kind(at)? {
                Expr::Index { base, .. } => {
                    levels += 1;
                    at = *base;
                }
                Expr::Deref(pointer) => {
                    levels += 1;
                    at = *pointer;
                }
                Expr::Member { base, arrow: false, .. } if levels == 0 => at = *base,
                Expr::Local(_) | Expr::Name { .. } => break,
                _ => return None,
            }
        }
        let variable = self.variable(at)?;
        let name = self.text.get(self.module.exprs.get(at)?.span.range())?;
        let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
        if name.is_empty() || !name.chars().all(is_name) {
            return None;
        }
        let is_parameter = matches!(self.kind(at), Some(Expr::Local(local)) if local.0 < self.function.param_count);
        let mut ty = self.plain(variable.ty)?;
        let extent = match ty {
            _ if variable.space == Space::DynamicShared => Extent::DynamicShared,
            // What a parameter writes as an array is a pointer.
            Type::Array(..) if is_parameter => Extent::Pointer,
            Type::Array(_, Some(_)) => Extent::Sized,
            Type::Pointer(_) => Extent::Pointer,
            _ => return None,
        };
        for level in 0..levels {
            ty = match ty {
                Type::Array(element, _) => self.plain(*element)?,
                Type::Pointer(element) if level == 0 => self.plain(*element)?,
                _ => return None,
            };
        }
        Some(Object { name: name.to_owned(), extent })
    }
}

/// What an operand is wanted for when its operator gives a value.
fn value_of(wanted: Wanted) -> Wanted {
    if wanted == Wanted::Address { Wanted::Address } else { Wanted::Value }
}
