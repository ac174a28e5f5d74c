//! Numbers that a kernel is given and that decide what its threads do: guards compare with them, loops are bounded by them.

use super::shared::{self, Shared, is_amount};
use super::source::accessed;
use crate::code::{BinaryOp, Child, Code, Expr, ExprId, FunctionId, Item, Place, Stmt, Ty, VariableId};
use crate::report::Site;
use rustc_hash::{FxHashMap, FxHashSet};

/// Most steps from conditions back to what they are computed of.
const MAX_STEPS: usize = 4_000;
/// Deepest way from an address to the variable that it leads into.
const MAX_DEPTH: u32 = 8;

/// A number that the kernel is given.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Given {
    /// A parameter of the code.
    Parameter(usize),
    /// A number, or a pointer, in a record.
    Member {
        /// The parameter.
        parameter: usize,
        /// The byte at which it lies.
        byte: u32,
        /// Where the kernel reads it; it is written there with its way from the parameter.
        read: Site,
    },
    /// A number in memory that the kernel does not write, at a place that all threads of a block share.
    Memory {
        /// All reads of it.
        reads: Vec<ExprId>,
        /// Where the kernel reads it first.
        read: Site,
        /// The variable, or the parameter, that it lies in or behind.
        name: String,
        /// Where the variable is declared.
        declared: Option<Site>,
    },
}

/// A variable, or a leaf of one.
type Part = (FunctionId, VariableId, Option<u16>);

/// The integers of two bytes and more that decide, in the order of the parameters. What is only compared with a literal for
/// being the same is no amount.
pub fn deciding(code: &Code) -> Vec<Given> {
    let mut flow = Flow::of(code);
    flow.follow();
    let Some(kernel) = code.functions.first() else { return Vec::new() };
    let mut found: Vec<Given> = Vec::new();
    for (function, variable, leaf) in &flow.met {
        let Some(of) = kernel.variables.get(*variable) else { continue };
        if function.index() != 0 || variable.index() >= kernel.parameters as usize {
            continue;
        }
        let parameter = variable.index();
        match (&of.ty, leaf) {
            (ty, None) if is_amount(ty) => found.push(Given::Parameter(parameter)),
            (Ty::Aggregate(layout), Some(leaf)) => {
                let leaf_of = layout.leaves.get(usize::from(*leaf)).filter(|leaf| is_amount(&leaf.ty));
                if let (Some(of), Some(site)) = (leaf_of, flow.read_at.get(&(*variable, *leaf))) {
                    found.push(Given::Member { parameter, byte: of.offset, read: *site });
                }
            }
            _ => {}
        }
    }
    found.sort_unstable();
    found.dedup();
    let memory = shared::numbers(code, &flow.read).into_iter();
    found.extend(memory.map(|Shared { reads, read, name, declared }| Given::Memory { reads, read, name, declared }));
    found
}

/// Where the kernel itself reads a pointer that lies in a record that it is given: parameter, byte and place.
pub fn pointers(code: &Code) -> Vec<Given> {
    let flow = Flow::of(code);
    let Some(kernel) = code.functions.first() else { return Vec::new() };
    let mut found: Vec<Given> = Vec::new();
    for ((variable, leaf), site) in &flow.read_at {
        let Some(Ty::Aggregate(layout)) = kernel.variables.get(*variable).map(|variable| &variable.ty) else {
            continue;
        };
        if let Some(leaf) = layout.leaves.get(usize::from(*leaf)).filter(|leaf| leaf.ty == Ty::Pointer) {
            found.push(Given::Member { parameter: variable.index(), byte: leaf.offset, read: *site });
        }
    }
    found.sort_unstable();
    found
}

/// How values come to conditions.
pub(crate) struct Flow<'c> {
    pub(super) code: &'c Code,
    /// What is stored in each register.
    pub(super) stored: FxHashMap<(FunctionId, VariableId), Vec<ExprId>>,
    pub(super) returned: FxHashMap<FunctionId, Vec<ExprId>>,
    /// Calls of each function, by the function that they stand in.
    pub(super) calls: FxHashMap<FunctionId, Vec<(FunctionId, &'c [ExprId])>>,
    /// Where the kernel reads leaves of its parameters.
    read_at: FxHashMap<(VariableId, u16), Site>,
    /// Reads of memory that conditions are computed of, in the order in which they are met.
    read: Vec<(FunctionId, ExprId)>,
    open: Vec<(FunctionId, ExprId)>,
    pending: Vec<Part>,
    met: FxHashSet<Part>,
    seen: FxHashSet<(FunctionId, ExprId)>,
}

impl<'c> Flow<'c> {
    pub(super) fn of(code: &'c Code) -> Self {
        let mut flow = Self {
            code,
            stored: FxHashMap::default(),
            returned: FxHashMap::default(),
            calls: FxHashMap::default(),
            read_at: FxHashMap::default(),
            read: Vec::new(),
            open: Vec::new(),
            pending: Vec::new(),
            met: FxHashSet::default(),
            seen: FxHashSet::default(),
        };
        for (id, function) in code.functions.iter_enumerated() {
            code.walk(&function.body, |item| {
                match item {
                    Item::Stmt(stmt) => match &code.stmt(stmt).kind {
                        Stmt::If { condition, .. } | Stmt::Loop { condition: Some(condition), .. } => {
                            flow.open.push((id, *condition));
                        }
                        Stmt::Return(Some(value)) => flow.returned.entry(id).or_default().push(*value),
                        _ => {}
                    },
                    Item::Expr(expr) => flow.note(id, expr),
                }
                true
            });
        }
        flow
    }

    fn note(&mut self, function: FunctionId, id: ExprId) {
        let node = self.code.expr(id);
        match &node.kind {
            Expr::And(a, b) | Expr::Or(a, b) => self.open.extend([(function, *a), (function, *b)]),
            Expr::Select(condition, ..) => self.open.push((function, *condition)),
            Expr::Write(Place::Register { variable, .. }, value)
            | Expr::Update { place: Place::Register { variable, .. }, value, .. } => {
                self.stored.entry((function, *variable)).or_default().push(*value);
            }
            Expr::Call(callee, arguments) => self.calls.entry(*callee).or_default().push((function, arguments)),
            kind if function.index() == 0 => {
                if let Some((0, variable, Some(leaf))) = self.part(function, kind, 0).map(|(f, v, l)| (f.index(), v, l))
                {
                    self.read_at.entry((variable, leaf)).or_insert(node.site);
                }
            }
            _ => {}
        }
    }

    /// The variable, or the leaf of one, that an expression reads.
    fn part(&self, function: FunctionId, kind: &Expr, depth: u32) -> Option<Part> {
        match kind {
            Expr::Read(Place::Register { variable, first, count }) => {
                Some((function, *variable, (*count == 1).then_some(*first)))
            }
            Expr::Leaves { of, first, count: 1 } => match self.code.expr(*of).kind {
                Expr::Read(Place::Register { variable, count: 0, .. }) => Some((function, variable, Some(*first))),
                _ => None,
            },
            Expr::Convert(inner) if depth < MAX_DEPTH => self.part(function, &self.code.expr(*inner).kind, depth + 1),
            Expr::Read(Place::Memory { .. }) => {
                let (function, variable, offset) = self.behind(function, accessed(kind)?, 0)?;
                let Ty::Aggregate(layout) = &self.code.functions.get(function)?.variables.get(variable)?.ty else {
                    return (offset == 0).then_some((function, variable, None));
                };
                let leaf = layout.leaves.iter().position(|leaf| i64::from(leaf.offset) == offset)?;
                Some((function, variable, Some(u16::try_from(leaf).ok()?)))
            }
            _ => None,
        }
    }

    /// The variable that an address leads into, and how far: also where a function is given the address.
    fn behind(&self, function: FunctionId, address: ExprId, depth: u32) -> Option<(FunctionId, VariableId, i64)> {
        if depth > MAX_DEPTH {
            return None;
        }
        match &self.code.expr(address).kind {
            Expr::VariableAddress(variable) => Some((function, *variable, 0)),
            Expr::Convert(inner) => self.behind(function, *inner, depth + 1),
            Expr::Offset { base, index, stride } => {
                let Expr::Int(index) = self.code.expr(*index).kind else { return None };
                let (function, variable, offset) = self.behind(function, *base, depth + 1)?;
                Some((function, variable, offset.checked_add(index.checked_mul(*stride)?)?))
            }
            Expr::Read(Place::Register { variable, count: 0, .. }) => {
                if variable.0 >= self.code.functions.get(function)?.parameters {
                    return None;
                }
                let (caller, arguments) = self.calls.get(&function)?.first()?;
                self.behind(*caller, *arguments.get(variable.index())?, depth + 1)
            }
            _ => None,
        }
    }

    /// Goes from the conditions back to the variables that they are computed of.
    fn follow(&mut self) {
        for _ in 0..MAX_STEPS {
            if let Some(part) = self.pending.pop() {
                self.sources(part);
            } else if let Some((function, id)) = self.open.pop() {
                if self.seen.insert((function, id)) {
                    self.look(function, id);
                }
            } else {
                return;
            }
        }
    }

    fn look(&mut self, function: FunctionId, id: ExprId) {
        let code = self.code;
        let kind = &code.expr(id).kind;
        if let Some(part) = self.part(function, kind, 0) {
            self.meet(part);
            return;
        }
        match kind {
            Expr::Binary(BinaryOp::Eq | BinaryOp::Ne, a, b)
                if [a, b].iter().any(|side| matches!(code.expr(**side).kind, Expr::Int(_))) => {}
            Expr::Read(Place::Memory { .. }) => self.read.push((function, id)),
            Expr::VariableAddress(_) => {}
            Expr::Call(callee, _) => {
                let returned = self.returned.get(callee).into_iter().flatten().map(|value| (*callee, *value));
                self.open.extend(returned);
            }
            kind => kind.parts(&mut |part| {
                if let Child::Expr(part) = part {
                    self.open.push((function, part));
                }
            }),
        }
    }

    fn meet(&mut self, part: Part) {
        if self.met.insert(part) {
            self.pending.push(part);
        }
    }

    /// Where the value of a variable comes from: what is stored in it, and what callers give.
    fn sources(&mut self, (function, variable, leaf): Part) {
        let stored = self.stored.get(&(function, variable)).into_iter().flatten().map(|value| (function, *value));
        self.open.extend(stored);
        if self.code.functions.get(function).is_none_or(|of| variable.0 >= of.parameters) {
            return;
        }
        for (caller, arguments) in self.calls.get(&function).cloned().unwrap_or_default() {
            let Some(&argument) = arguments.get(variable.index()) else { continue };
            match (leaf, self.part(caller, &self.code.expr(argument).kind, 0)) {
                (Some(leaf), Some((of, variable, None))) => self.meet((of, variable, Some(leaf))),
                (_, Some(part)) => self.meet(part),
                (_, None) => self.open.push((caller, argument)),
            }
        }
    }
}
