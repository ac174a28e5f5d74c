//! Reads a kernel's accesses as terms: one pass over the code, loops as variables with bounds, branches as constraints.

mod values;

use super::assigned;
use super::problem::{Problem, TermArgument};
use super::term::{Constraint, Operation, Relation, TermId};
use crate::code::{BinaryOp, Block, Code, Expr, ExprId, ObjectId, Place, Stmt, StmtId, Ty, VariableId};
use rustc_hash::FxHashMap;

/// Most accesses that are kept.
const MAX_ACCESSES: usize = 96;
/// Most statements and expressions that are looked at.
const MAX_STEPS: u32 = 20_000;
/// How deep calls, statements and expressions are followed.
const MAX_DEPTH: u32 = 48;
/// What thread and block indices and inputs stay below in any case.
const FAR: i64 = 1 << 31;

/// Where an access goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Buffer(usize),
    Object(ObjectId),
}

/// An access as a term.
#[derive(Clone, Debug)]
pub(super) struct Access {
    pub target: Target,
    pub offset: TermId,
    pub size: u32,
    pub guards: Vec<Constraint>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    Unknown,
    Int(TermId),
    Pointer(Target, TermId),
}

/// How control goes on behind a statement.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    On,
    /// No thread that came here goes on in this list of statements.
    Left,
}

pub(super) struct Extractor<'c, 'p> {
    code: &'c Code,
    problem: &'p mut Problem,
    frames: Vec<Frame>,
    guards: Vec<Constraint>,
    accesses: Vec<Access>,
    /// That thread and block indices stay in the launch.
    ranges: Vec<Constraint>,
    thread: [TermId; 3],
    block: [TermId; 3],
    steps: u32,
    depth: u32,
}

#[derive(Default)]
struct Frame {
    variables: FxHashMap<VariableId, Value>,
    returned: Option<Value>,
}

impl<'c, 'p> Extractor<'c, 'p> {
    pub fn new(code: &'c Code, problem: &'p mut Problem) -> Self {
        let mut ranges = Vec::new();
        let mut index = |problem: &mut Problem, extent: TermId, most: i64| {
            // An axis of one is index 0, without a variable to search for.
            if problem.terms.as_constant(extent) == Some(1) {
                return problem.terms.constant(0);
            }
            let (_, term) = problem.terms.variable(0, most);
            ranges.push(Constraint { left: term, relation: Relation::Less, right: extent });
            term
        };
        let thread = problem.block.map(|extent| index(problem, extent, 1023));
        let block = problem.grid.map(|extent| index(problem, extent, FAR));
        Self {
            code,
            problem,
            frames: Vec::new(),
            guards: Vec::new(),
            accesses: Vec::new(),
            ranges,
            thread,
            block,
            steps: 0,
            depth: 0,
        }
    }

    pub fn run(&mut self) {
        let Some(kernel) = self.code.functions.first() else { return };
        let mut frame = Frame::default();
        for (index, argument) in self.problem.arguments.iter().enumerate().take(kernel.parameters as usize) {
            let value = match argument {
                TermArgument::Unknown => continue,
                TermArgument::Int(term) => Value::Int(*term),
                TermArgument::Pointer { buffer, offset } => Value::Pointer(Target::Buffer(*buffer), *offset),
            };
            frame.variables.insert(VariableId(index as u32), value);
        }
        self.frames.push(frame);
        self.block(&kernel.body);
    }

    pub fn finish(self) -> (Vec<Access>, Vec<Constraint>) {
        (self.accesses, self.ranges)
    }

    fn spent(&mut self) -> bool {
        self.steps += 1;
        self.steps > MAX_STEPS || self.depth > MAX_DEPTH
    }

    fn get(&self, variable: VariableId) -> Value {
        self.frames.last().and_then(|frame| frame.variables.get(&variable)).copied().unwrap_or(Value::Unknown)
    }

    fn set(&mut self, variable: VariableId, value: Value) {
        if let Some(frame) = self.frames.last_mut() {
            frame.variables.insert(variable, value);
        }
    }

    fn block(&mut self, block: &Block) -> Flow {
        for statement in block {
            if self.statement(*statement) == Flow::Left {
                return Flow::Left;
            }
        }
        Flow::On
    }

    fn statement(&mut self, id: StmtId) -> Flow {
        if self.spent() {
            return Flow::On;
        }
        self.depth += 1;
        let code = self.code;
        let flow = match &code.stmt(id).kind {
            Stmt::Expr(expr) => {
                self.value(*expr);
                Flow::On
            }
            Stmt::Declare(variable) => {
                self.set(*variable, Value::Unknown);
                Flow::On
            }
            Stmt::Block(block) => self.block(block),
            Stmt::If { condition, then, otherwise } => self.branch(*condition, then, otherwise),
            Stmt::Loop { condition, step, body, .. } => {
                self.looped(*condition, *step, body);
                Flow::On
            }
            Stmt::Switch { value, cases } => {
                self.value(*value);
                let before = self.guards.len();
                for (_, block) in cases {
                    self.block(block);
                    self.guards.truncate(before);
                }
                for (_, block) in cases {
                    self.forget(block);
                }
                Flow::On
            }
            Stmt::Break | Stmt::Continue => Flow::Left,
            Stmt::Return(value) => {
                let value = value.map_or(Value::Unknown, |value| self.value(value));
                if let Some(frame) = self.frames.last_mut() {
                    // Two returns with different values are none.
                    frame.returned = match frame.returned {
                        Some(before) if before != value => Some(Value::Unknown),
                        _ => Some(value),
                    };
                }
                Flow::Left
            }
            Stmt::Opaque { exprs, blocks, .. } => {
                for expr in exprs {
                    self.value(*expr);
                }
                for block in blocks {
                    self.forget(block);
                }
                Flow::On
            }
        };
        self.depth -= 1;
        flow
    }

    fn branch(&mut self, condition: ExprId, then: &Block, otherwise: &Block) -> Flow {
        self.value(condition);
        let (holds, fails) = (self.constraints(condition, true), self.constraints(condition, false));
        let before = self.guards.len();
        let start = self.frames.last().map(|frame| frame.variables.clone()).unwrap_or_default();
        self.guards.extend(&holds);
        let first = self.block(then);
        self.guards.truncate(before);
        let after = self.swap(start);
        self.guards.extend(&fails);
        let second = self.block(otherwise);
        self.guards.truncate(before);
        match (first, second) {
            (Flow::Left, Flow::Left) => return Flow::Left,
            // What is behind is reached by one side only, so its condition goes on to hold.
            (Flow::Left, Flow::On) => self.guards.extend(fails),
            (Flow::On, Flow::Left) => {
                self.guards.extend(holds);
                self.swap(after);
            }
            (Flow::On, Flow::On) => {
                if let Some(frame) = self.frames.last_mut() {
                    frame.variables.retain(|variable, value| after.get(variable) == Some(value));
                }
            }
        }
        Flow::On
    }

    fn swap(&mut self, variables: FxHashMap<VariableId, Value>) -> FxHashMap<VariableId, Value> {
        self.frames.last_mut().map(|frame| std::mem::replace(&mut frame.variables, variables)).unwrap_or_default()
    }

    /// A loop: the body once, its counter being any of its values.
    fn looped(&mut self, condition: Option<ExprId>, step: Option<ExprId>, body: &Block) {
        let counter = step.and_then(|step| self.counter(step));
        let first = counter.map(|(variable, _)| self.get(variable));
        self.forget(body);
        if let Some(step) = step {
            self.forget_in(step);
        }
        let before = self.guards.len();
        if let (Some((variable, stride)), Some(Value::Int(first))) = (counter, first) {
            let (_, rounds) = self.problem.terms.variable(0, FAR);
            let distance = self.problem.terms.of(Operation::Mul, rounds, stride);
            let value = self.problem.terms.of(Operation::Add, first, distance);
            self.set(variable, Value::Int(value));
        }
        if let Some(condition) = condition {
            self.value(condition);
            let holds = self.constraints(condition, true);
            self.guards.extend(holds);
        }
        self.block(body);
        self.guards.truncate(before);
        self.forget(body);
        if let Some(step) = step {
            self.forget_in(step);
        }
    }

    /// The variable that a loop's step changes, with what it adds.
    fn counter(&mut self, step: ExprId) -> Option<(VariableId, TermId)> {
        let code = self.code;
        let Expr::Update { place: Place::Register { variable, .. }, op, value, .. } = &code.expr(step).kind else {
            return None;
        };
        let Value::Int(stride) = self.value(*value) else { return None };
        match op {
            BinaryOp::Add => Some((*variable, stride)),
            BinaryOp::Sub => {
                let zero = self.problem.terms.constant(0);
                Some((*variable, self.problem.terms.of(Operation::Sub, zero, stride)))
            }
            _ => None,
        }
    }

    /// What a condition says where it holds (or fails); what is not understood says nothing.
    fn constraints(&mut self, condition: ExprId, holds: bool) -> Vec<Constraint> {
        let mut found = Vec::new();
        let mut open = vec![(condition, holds)];
        let code = self.code;
        while let Some((id, holds)) = open.pop() {
            if self.spent() {
                break;
            }
            match &code.expr(id).kind {
                Expr::Not(inner) => open.push((*inner, !holds)),
                Expr::Convert(inner) => open.push((*inner, holds)),
                Expr::And(a, b) if holds => open.extend([(*a, true), (*b, true)]),
                // `(x < n) & (y < m)`.
                Expr::Binary(BinaryOp::And, a, b) if holds && code.expr(*a).ty == Ty::Bool => {
                    open.extend([(*a, true), (*b, true)]);
                }
                Expr::Binary(BinaryOp::Or, a, b) if !holds && code.expr(*a).ty == Ty::Bool => {
                    open.extend([(*a, false), (*b, false)]);
                }
                Expr::Or(a, b) if !holds => open.extend([(*a, false), (*b, false)]),
                Expr::Binary(op, a, b) => {
                    let (Value::Int(left), Value::Int(right)) = (self.value(*a), self.value(*b)) else { continue };
                    let constraint = match op {
                        BinaryOp::Lt => Constraint { left, relation: Relation::Less, right },
                        BinaryOp::Le => Constraint { left, relation: Relation::AtMost, right },
                        BinaryOp::Gt => Constraint { left: right, relation: Relation::Less, right: left },
                        BinaryOp::Ge => Constraint { left: right, relation: Relation::AtMost, right: left },
                        BinaryOp::Eq => Constraint { left, relation: Relation::Equal, right },
                        BinaryOp::Ne => Constraint { left, relation: Relation::Differ, right },
                        _ => continue,
                    };
                    found.push(if holds { constraint } else { constraint.negated() });
                }
                _ => {}
            }
        }
        found
    }

    fn access(&mut self, address: ExprId, ty: &Ty) {
        if let (Value::Pointer(target, offset), Some(size)) = (self.value(address), ty.bytes()) {
            self.keep(target, offset, size);
        }
    }

    fn keep(&mut self, target: Target, offset: TermId, size: u32) {
        if size > 0 && self.accesses.len() < MAX_ACCESSES {
            self.accesses.push(Access { target, offset, size, guards: self.guards.clone() });
        }
    }

    /// Registers that statements assign have no known value any more.
    fn forget(&mut self, block: &Block) {
        for variable in assigned::in_block(self.code, block) {
            self.set(variable, Value::Unknown);
        }
    }

    fn forget_in(&mut self, expr: ExprId) {
        for variable in assigned::in_expr(self.code, expr) {
            self.set(variable, Value::Unknown);
        }
    }
}
