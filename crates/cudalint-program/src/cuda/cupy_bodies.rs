//! The kernel that `CuPy` builds around a body: one thread an element, in a loop over the grid.
//!
//! ```text
//! for (ptrdiff_t i = ptrdiff_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += ptrdiff_t(blockDim.x) * gridDim.x)
//!     { body }
//! ```
//!
//! A name of the body that is a parameter's means: of a raw one, the array; else its element at `i`, or the number that
//! stands in its place. (`CuPy`'s documentation of `ElementwiseKernel`; the loop is `CUPY_FOR` of its `carray.cuh`.)
//!
//! The two expressions of a `ReductionKernel` are two loops: one over the elements that go in, with `_j` as its counter, one
//! over those that come out, with `_i`, where `a` is the value that was put together (`_create_reduction_function_code` of
//! `CuPy`'s `_reduction.pyx`). Which thread has which elements, and how they are put together, is `CuPy`'s own affair.

use crate::ir::{
    BinaryOp, Expr, ExprId, ExprNode, Function, FunctionId, LocalId, LoopKind, Module, Path, Space, Stmt, StmtId,
    StmtNode, TemplateArgs, TemplateParam, Type, TypeId, Variable,
};
use crate::name::Name;
use cudalint_numbers::Scalar;
use cudalint_syntax::{CUPY_BODY_FUNCTION, CupyBody, CupyBodyKind, CupyParameter, Span};
use std::sync::Arc;
use typed_index_collections::TiVec;

/// What a parameter of the kernel's code stands for; the number is that of the body's parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CupySlot {
    /// The address of an array's first element.
    Data(usize),
    /// How many elements a raw array has.
    Size(usize),
    /// Whether an array was given, or one number for all elements.
    IsArray(usize),
    /// That number.
    Number(usize),
    /// How many elements the loop goes over.
    Count,
    /// How many elements come out of a reduction.
    Results,
}

/// A loop of the kernel's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Round {
    /// Over the elements that go in.
    Elements,
    /// Over those that come out of a reduction.
    Results,
}

/// The parameters of the kernel's code, in order.
pub fn cupy_slots(body: &CupyBody) -> Vec<CupySlot> {
    let mut slots = Vec::new();
    for (index, parameter) in body.parameters.iter().enumerate() {
        slots.push(CupySlot::Data(index));
        if parameter.raw {
            slots.push(CupySlot::Size(index));
        } else if !parameter.output {
            slots.extend([CupySlot::IsArray(index), CupySlot::Number(index)]);
        }
    }
    slots.push(CupySlot::Count);
    if body.kind == CupyBodyKind::Reduction {
        slots.push(CupySlot::Results);
    }
    slots
}

/// Makes the function that a body was read as the kernel that it becomes.
pub fn shape_cupy_body(module: &mut Module, body: Arc<CupyBody>) {
    let Some(index) = module.functions.position(|f| f.space.global && f.name == *CUPY_BODY_FUNCTION) else {
        return;
    };
    let content = body.content;
    let after = body.after.and_then(|content| {
        let within = |f: &Function| f.body.is_some() && f.name == *CUPY_BODY_FUNCTION && f.span.contains(content);
        Some((module.functions.position(within)?, content)).filter(|(at, _)| *at != index)
    });
    let own = |at: FunctionId| at == index || after.is_some_and(|(second, _)| second == at);
    let inside = |span| content.contains(span) || body.after.is_some_and(|content| content.contains(span));
    let nested = module.functions.iter_enumerated().any(|(at, f)| !own(at) && inside(f.span));
    let Some(statements) = module.functions[index].body.take().filter(|_| !nested) else { return };
    let slots = cupy_slots(&body);
    let mut shaper = Shaper { module, body: &body, slots: &slots };
    let mut variables: TiVec<LocalId, Variable> = slots.iter().map(|slot| shaper.parameter(*slot)).collect();
    let parameters = variables.len() as u32;
    let of_kernel = std::mem::take(&mut shaper.module.functions[index].locals);
    let shift = parameters + shaper.counters();
    shaper.rename(content, shift, Round::Elements);
    let (counter, mut statements) = shaper.around(statements, Round::Elements);
    variables.push(counter);
    if body.kind == CupyBodyKind::Reduction {
        let (counter, more) = shaper.results(after, shift + of_kernel.len() as u32);
        variables.extend([counter, shaper.reduced()]);
        statements.extend(more);
    }
    variables.extend(of_kernel);
    if let Some((second, _)) = after {
        variables.extend(std::mem::take(&mut shaper.module.functions[second].locals));
    }
    let function = &mut module.functions[index];
    shape(function, &body);
    function.param_count = parameters;
    function.locals = variables;
    function.body = Some(statements);
    module.cupy_body = Some(body);
}

fn shape(function: &mut Function, body: &CupyBody) {
    let default = match body.kind {
        CupyBodyKind::Elementwise => "kernel",
        CupyBodyKind::Reduction => "reduce_kernel",
    };
    function.name = Name::from(body.name.as_deref().unwrap_or(default));
    function.span = body.span;
    function.name_span = body.span;
    let mut placeholders: Vec<&str> = Vec::new();
    for parameter in &body.parameters {
        if parameter.ty.len() == 1 && !placeholders.contains(&&*parameter.ty) {
            placeholders.push(&parameter.ty);
        }
    }
    function.template_params = placeholders
        .into_iter()
        .map(|name| TemplateParam { name: Name::from(name), value_type: None, default: None, pack: false })
        .collect();
}

struct Shaper<'a> {
    module: &'a mut Module,
    body: &'a CupyBody,
    slots: &'a [CupySlot],
}

impl Shaper<'_> {
    fn ty(&mut self, ty: Type) -> TypeId {
        self.module.types.push(ty);
        TypeId(self.module.types.len() as u32 - 1)
    }

    fn expr(&mut self, kind: Expr, span: Span) -> ExprId {
        self.module.exprs.push(ExprNode { kind, span, expansion: None });
        ExprId(self.module.exprs.len() as u32 - 1)
    }

    fn stmt(&mut self, kind: Stmt) -> StmtId {
        self.module.stmts.push(StmtNode { kind, span: self.body.content });
        StmtId(self.module.stmts.len() as u32 - 1)
    }

    fn local(&mut self, slot: CupySlot, span: Span) -> ExprId {
        let at = self.slots.iter().position(|own| *own == slot).unwrap_or(0);
        self.expr(Expr::Local(LocalId(at as u32)), span)
    }

    /// The loops' counters come behind the parameters.
    fn counter(&self, round: Round) -> LocalId {
        LocalId(self.slots.len() as u32 + u32::from(round == Round::Results))
    }

    /// How many variables of the kernel's own there are: counters and, in a reduction, the value that was put together.
    const fn counters(&self) -> u32 {
        match self.body.kind {
            CupyBodyKind::Elementwise => 1,
            CupyBodyKind::Reduction => 3,
        }
    }

    /// What a counter is called.
    const fn counter_name(&self, round: Round) -> &'static str {
        match (self.body.kind, round) {
            (CupyBodyKind::Elementwise, _) => "i",
            (CupyBodyKind::Reduction, Round::Elements) => "_j",
            (CupyBodyKind::Reduction, Round::Results) => "_i",
        }
    }

    /// The value that a reduction has put together, of which nothing is known.
    fn reduced(&mut self) -> Variable {
        let span = Span::new(self.body.content.start as usize, self.body.content.start as usize);
        let ty = self.ty(Type::Unknown);
        Self::variable(Name::from("a"), ty, None, span)
    }

    /// The second loop of a reduction.
    fn results(&mut self, after: Option<(FunctionId, Span)>, shift: u32) -> (Variable, Vec<StmtId>) {
        let mut statements = Vec::new();
        if let Some((second, content)) = after {
            statements = self.module.functions[second].body.take().unwrap_or_default();
            self.rename(content, shift, Round::Results);
            let reduced = self.stmt(Stmt::Declare(LocalId(self.slots.len() as u32 + 2)));
            statements.insert(0, reduced);
        }
        self.around(statements, Round::Results)
    }

    fn parameter(&mut self, slot: CupySlot) -> Variable {
        let long = Type::Int { bytes: 8, signed: true };
        let (name, ty, span) = match slot {
            CupySlot::Count if self.body.kind == CupyBodyKind::Reduction => {
                (Name::from("_in_ind.size()"), long, self.body.span)
            }
            CupySlot::Count => (Name::from("_ind.size()"), long, self.body.span),
            CupySlot::Results => (Name::from("_out_ind.size()"), long, self.body.span),
            CupySlot::Data(at) | CupySlot::Size(at) | CupySlot::IsArray(at) | CupySlot::Number(at) => {
                let parameter = &self.body.parameters[at];
                let (name, span, output) = (&*parameter.name, parameter.span, parameter.output);
                let element = element(parameter);
                match slot {
                    CupySlot::Size(_) => (Name::from(format!("{name}.size()").as_str()), long, span),
                    // Nobody wrote it: it has no name.
                    CupySlot::IsArray(_) => (Name::default(), Type::Bool, span),
                    CupySlot::Number(_) => (Name::from(name), element, span),
                    _ => {
                        let name = Name::from(name);
                        let mut to = self.ty(element);
                        if !output {
                            to = self.ty(Type::Qualified { ty: to, is_const: true, is_volatile: false });
                        }
                        (name, Type::Pointer(to), span)
                    }
                }
            }
        };
        let ty = self.ty(ty);
        Self::variable(name, ty, None, span)
    }

    fn variable(name: Name, ty: TypeId, init: Option<ExprId>, span: Span) -> Variable {
        Variable { name, scope: Path::default(), ty, space: Space::Ordinary, init, is_constexpr: false, span }
    }

    /// Gives the names of the body their meaning, and its own variables the numbers behind the parameters.
    fn rename(&mut self, content: Span, shift: u32, round: Round) {
        for node in self.module.stmts.iter_mut().filter(|node| content.contains(node.span)) {
            match &mut node.kind {
                Stmt::Declare(local) | Stmt::ForEach { variable: local, .. } => local.0 += shift,
                _ => {}
            }
        }
        for at in self.module.exprs.keys() {
            let node = &mut self.module.exprs[at];
            let span = node.span;
            if !content.contains(span) {
                continue;
            }
            if let Expr::Local(local) = &mut node.kind {
                local.0 += shift;
                continue;
            }
            let kind = self.meaning(at, span, round);
            if let Some(kind) = kind {
                self.module.exprs[at].kind = kind;
            }
        }
    }

    fn named(&self, id: ExprId) -> Option<&str> {
        match &self.module.exprs.get(id)?.kind {
            Expr::Name { path, targs } if targs.is_empty() => match path.segments.as_ref() {
                [name] => Some(name.as_str()),
                _ => None,
            },
            _ => None,
        }
    }

    fn meaning(&mut self, at: ExprId, span: Span, round: Round) -> Option<Expr> {
        let of =
            |shaper: &Self, name: &str| shaper.body.parameters.iter().position(|parameter| *parameter.name == *name);
        match &self.module.exprs[at].kind {
            Expr::Name { .. } => {
                let name = self.named(at)?;
                if name == self.counter_name(round) {
                    return Some(Expr::Local(self.counter(round)));
                }
                if round == Round::Results && name == "a" {
                    return Some(Expr::Local(LocalId(self.slots.len() as u32 + 2)));
                }
                let parameter = of(self, name)?;
                let (raw, output) = (self.body.parameters[parameter].raw, self.body.parameters[parameter].output);
                if raw {
                    let slot = CupySlot::Data(parameter);
                    let at = self.slots.iter().position(|own| *own == slot)?;
                    return Some(Expr::Local(LocalId(at as u32)));
                }
                // Of a reduction the first loop has the elements that go in, the second one those that come out.
                if self.body.kind == CupyBodyKind::Reduction && output != (round == Round::Results) {
                    let number = !output && round == Round::Results;
                    let slot = CupySlot::Number(parameter);
                    let at = self.slots.iter().position(|own| *own == slot).filter(|_| number)?;
                    return Some(Expr::Local(LocalId(at as u32)));
                }
                let base = self.local(CupySlot::Data(parameter), span);
                let counter = self.counter(round);
                let index = self.expr(Expr::Local(counter), span);
                let element = Expr::Index { base, indices: vec![index] };
                if output {
                    return Some(element);
                }
                let element = self.expr(element, span);
                let is_array = self.local(CupySlot::IsArray(parameter), span);
                let number = self.local(CupySlot::Number(parameter), span);
                Some(Expr::Select(is_array, element, number))
            }
            // `x.size()` of a raw array, `_ind.size()`.
            Expr::Call { callee, args } if args.is_empty() => {
                let Expr::Member { base, name, .. } = &self.module.exprs.get(*callee)?.kind else { return None };
                if name != "size" {
                    return None;
                }
                let slot = self.size_of(*base)?;
                let at = self.slots.iter().position(|own| *own == slot)?;
                Some(Expr::Local(LocalId(at as u32)))
            }
            _ => None,
        }
    }

    /// What a size is that of: the loop's, or a raw array's. The array's name may have got its meaning already.
    fn size_of(&self, base: ExprId) -> Option<CupySlot> {
        let parameter = match &self.module.exprs.get(base)?.kind {
            Expr::Local(local) => match self.slots.get(local.index())? {
                CupySlot::Data(parameter) => *parameter,
                _ => return None,
            },
            _ => {
                let name = self.named(base)?;
                match (self.body.kind, name) {
                    (CupyBodyKind::Elementwise, "_ind") | (CupyBodyKind::Reduction, "_in_ind") => {
                        return Some(CupySlot::Count);
                    }
                    (CupyBodyKind::Reduction, "_out_ind") => return Some(CupySlot::Results),
                    _ => {}
                }
                self.body.parameters.iter().position(|parameter| *parameter.name == *name)?
            }
        };
        self.body.parameters[parameter].raw.then_some(CupySlot::Size(parameter))
    }

    /// `threadIdx.x` and its kin.
    fn builtin(&mut self, name: &str) -> ExprId {
        let span = self.body.content;
        let base = Expr::Name { path: Path::single(Name::from(name)), targs: TemplateArgs::default() };
        let base = self.expr(base, span);
        self.expr(Expr::Member { base, name: Name::from("x"), arrow: false }, span)
    }

    /// `ptrdiff_t(a) * b`.
    fn wide_product(&mut self, a: &str, b: &str) -> ExprId {
        let span = self.body.content;
        let (value, factor) = (self.builtin(a), self.builtin(b));
        let ty = self.ty(Type::Int { bytes: 8, signed: true });
        let wide = self.expr(Expr::Cast { ty, value }, span);
        self.expr(Expr::Binary(BinaryOp::Mul, wide, factor), span)
    }

    /// The loop, and the variable that counts in it.
    fn around(&mut self, body: Vec<StmtId>, round: Round) -> (Variable, Vec<StmtId>) {
        // Nobody wrote it.
        let start = self.body.content.start as usize;
        let span = Span::new(start, start);
        let block = self.wide_product("blockIdx", "blockDim");
        let thread = self.builtin("threadIdx");
        let first = self.expr(Expr::Binary(BinaryOp::Add, block, thread), span);
        let ty = self.ty(Type::Int { bytes: 8, signed: true });
        let counter = self.counter(round);
        let variable = Self::variable(Name::from(self.counter_name(round)), ty, Some(first), span);
        let declared = self.stmt(Stmt::Declare(counter));
        let index = self.expr(Expr::Local(counter), span);
        let count = match round {
            Round::Elements => CupySlot::Count,
            Round::Results => CupySlot::Results,
        };
        let count = self.local(count, span);
        let condition = self.expr(Expr::Binary(BinaryOp::Lt, index, count), span);
        let target = self.expr(Expr::Local(counter), span);
        let value = self.wide_product("blockDim", "gridDim");
        let step = self.expr(Expr::Assign { op: Some(BinaryOp::Add), target, value }, span);
        let kind = Stmt::Loop {
            kind: LoopKind::For,
            init: vec![declared],
            condition: Some(condition),
            step: Some(step),
            body,
        };
        (variable, vec![self.stmt(kind)])
    }
}

/// The type of an element: a placeholder is a template parameter, else it is a dtype.
fn element(parameter: &CupyParameter) -> Type {
    match &*parameter.ty {
        "?" => Type::Bool,
        other if other.len() == 1 => Type::Named { path: Path::single(Name::from(other)), args: Vec::new() },
        name => Scalar::of_numpy(name).map_or(Type::Unknown, Type::of_scalar),
    }
}
