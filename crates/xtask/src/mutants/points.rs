//! Where a program can be broken, and how.

use cudalint_program::ir::{BinaryOp, Expr, ExprId, Function, Module, ModuleId, Stmt, Type};
use cudalint_program::visit::{Item, walk, walk_expr};
use cudalint_program::{ProjectOptions, load_texts};
use cudalint_syntax::Span;

/// Ways to break a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Kind {
    #[value(name = "barrier")]
    BarrierRemoved,
    #[value(name = "allocation")]
    AllocationShort,
    #[value(name = "guard")]
    GuardOff,
    #[value(name = "sizeof")]
    SizeofDropped,
    #[value(name = "block")]
    BlockDoubled,
}

impl Kind {
    pub const ALL: [Self; 5] =
        [Self::BarrierRemoved, Self::AllocationShort, Self::GuardOff, Self::SizeofDropped, Self::BlockDoubled];

    pub const fn words(self) -> &'static str {
        match self {
            Self::BarrierRemoved => "a barrier removed",
            Self::AllocationShort => "an allocation 4 bytes short",
            Self::GuardOff => "`<` turned into `<=` in a guard",
            Self::SizeofDropped => "a `sizeof` dropped",
            Self::BlockDoubled => "a block size doubled",
        }
    }
}

/// One change of a text.
#[derive(Clone, Debug)]
pub struct Point {
    pub kind: Kind,
    pub span: Span,
    pub text: String,
    /// Where that begins whose execution would show the change: the name of the function around it, the launch, or the
    /// allocation.
    pub shown_by: u32,
    /// The function around it.
    pub function: Span,
}

impl Point {
    /// The text with the change.
    pub fn apply(&self, text: &str) -> String {
        let (before, after) = (&text[..self.span.start as usize], &text[self.span.end as usize..]);
        format!("{before}{}{after}", self.text)
    }

    /// Line of the change, from 1.
    pub fn line(&self, text: &str) -> u32 {
        line_at(text, self.span.start)
    }

    /// First and last line of the function around it.
    pub fn lines(&self, text: &str) -> (u32, u32) {
        (line_at(text, self.function.start), line_at(text, self.function.end))
    }
}

fn line_at(text: &str, offset: u32) -> u32 {
    text[..offset as usize].matches('\n').count() as u32 + 1
}

/// Every place of a file at which each kind of change can be made, in order. Code that stands in macros is left alone.
pub fn points(text: &str) -> Vec<Point> {
    let Ok(program) = load_texts(&[("a.cu", text)], &ProjectOptions::default()) else { return Vec::new() };
    let module = program.project.module(ModuleId(0));
    let mut finder = Finder { text, module, points: Vec::new() };
    for function in &module.functions {
        finder.function(function);
    }
    let mut points = finder.points;
    points.sort_by_key(|point| (point.kind, point.span.start));
    points.dedup_by_key(|point| (point.kind, point.span.start));
    points
}

struct Finder<'a> {
    text: &'a str,
    module: &'a Module,
    points: Vec<Point>,
}

impl Finder<'_> {
    fn function(&mut self, function: &Function) {
        let Some(body) = &function.body else { return };
        let device = function.space.global || (function.space.device && !function.space.host);
        let mut conditions = Vec::new();
        let mut calls = Vec::new();
        walk(self.module, function, body, |item| {
            match item {
                Item::Stmt(id) => {
                    if let Some(Stmt::If { condition, .. }) = self.module.stmts.get(id).map(|node| &node.kind)
                        && device
                    {
                        conditions.push(*condition);
                    }
                }
                Item::Expr(id) => calls.push(id),
                Item::Declare(_) => {}
            }
            true
        });
        for condition in conditions {
            self.guard(condition, function);
        }
        for call in calls {
            self.call(call, function, device);
        }
    }

    fn span(&self, id: ExprId) -> Option<Span> {
        let node = self.module.exprs.get(id)?;
        node.expansion.is_none().then_some(node.span)
    }

    fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or("")
    }

    fn add(&mut self, kind: Kind, span: Span, text: String, function: &Function, shown_by: Span) {
        if self.text.is_char_boundary(span.start as usize) && self.text.is_char_boundary(span.end as usize) {
            self.points.push(Point { kind, span, text, shown_by: shown_by.start, function: function.span });
        }
    }

    /// `a < b`, also as a part of `a < b && c < d`.
    fn guard(&mut self, condition: ExprId, function: &Function) {
        let mut open = vec![condition];
        while let Some(id) = open.pop() {
            match self.module.exprs.get(id).map(|node| &node.kind) {
                Some(Expr::AndThen(a, b)) => open.extend([*a, *b]),
                Some(Expr::Binary(BinaryOp::Lt, a, b)) => {
                    let (Some(_), Some(left), Some(right)) = (self.span(id), self.span(*a), self.span(*b)) else {
                        continue;
                    };
                    let between = Span::new(left.end as usize, (right.start as usize).max(left.end as usize));
                    let operator = self.slice(between);
                    if let Some(at) = operator.find('<').filter(|_| operator.matches('<').count() == 1) {
                        let at = between.start as usize + at;
                        self.add(Kind::GuardOff, Span::new(at, at + 1), "<=".to_owned(), function, function.name_span);
                    }
                }
                _ => {}
            }
        }
    }

    fn call(&mut self, id: ExprId, function: &Function, device: bool) {
        let Some(span) = self.span(id) else { return };
        match self.module.exprs.get(id).map(|node| &node.kind) {
            Some(Expr::Call { callee, args }) => {
                let Some(callee) = self.span(*callee).map(|span| self.slice(span).to_owned()) else { return };
                let last = callee.rsplit([':', '.']).next().unwrap_or("").trim();
                let barrier = match last {
                    "__syncthreads" | "syncthreads" => args.is_empty(),
                    "sync" => true,
                    _ => false,
                };
                if device && barrier {
                    self.add(Kind::BarrierRemoved, span, "((void)0)".to_owned(), function, function.name_span);
                } else if matches!(callee.as_str(), "cudaMalloc" | "cudaMallocManaged")
                    && let Some(size) = args.get(1)
                    && let Some(place) = self.span(*size)
                {
                    let text = format!("({}) - 4", self.slice(place));
                    self.add(Kind::AllocationShort, place, text, function, span);
                    self.dropped(*size, function, span);
                }
            }
            Some(Expr::Launch(launch)) => {
                let Some(block) = launch.config.get(1).and_then(|block| self.span(*block)) else { return };
                let written = self.slice(block);
                // A `dim3` has no multiplication; an integer has.
                let text = if written.trim_start().starts_with("dim3") || self.is_dim3(function, launch.config[1]) {
                    format!("dim3(dim3({written}).x * 2, dim3({written}).y, dim3({written}).z)")
                } else {
                    format!("({written}) * 2")
                };
                self.add(Kind::BlockDoubled, block, text, function, span);
            }
            _ => {}
        }
    }

    fn is_dim3(&self, function: &Function, block: ExprId) -> bool {
        let Some(Expr::Local(local)) = self.module.exprs.get(block).map(|node| &node.kind) else {
            return false;
        };
        let ty = function.locals.get(*local).and_then(|variable| self.module.types.get(variable.ty));
        matches!(ty, Some(Type::Vector { .. }))
    }

    /// `n * sizeof(float)` without its `sizeof`.
    fn dropped(&mut self, size: ExprId, function: &Function, call: Span) {
        let mut found = None;
        walk_expr(self.module, size, |_, kind| {
            if let Expr::Binary(BinaryOp::Mul, a, b) = kind {
                let is_sizeof = |id: &ExprId| {
                    let kind = self.module.exprs.get(*id).map(|node| &node.kind);
                    matches!(kind, Some(Expr::SizeOfType(_) | Expr::SizeOfExpr(_)))
                };
                found = [a, b].into_iter().find(|side| is_sizeof(side)).copied().or(found);
            }
            true
        });
        if let Some(place) = found.and_then(|id| self.span(id)) {
            self.add(Kind::SizeofDropped, place, "1".to_owned(), function, call);
        }
    }
}
