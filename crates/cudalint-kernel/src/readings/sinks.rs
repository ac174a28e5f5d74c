//! Values that a kernel only ever stores in memory which nobody looks at: no other memory, branch, address or call hangs on them.

use super::source::{Source, accessed};
use super::uses::base;
use crate::code::{Code, Effect, Expr, ExprId, Intrinsic, Item, ObjectId, ObjectSpace, Place, Stmt, Ty, VariableId};
use crate::report::Site;
use rustc_hash::{FxHashMap, FxHashSet};

/// How often the variables are looked at that a value may reach.
const MAX_ROUNDS: u32 = 16;

/// Whether what is read at `reads`, and all that is read from the memory behind the parameters `sinks`, goes into that memory alone.
/// All reads have to stand in the kernel itself.
pub fn only_fills(code: &Code, reads: &[Site], sinks: &[usize]) -> bool {
    fills(code, reads, sinks).is_some()
}

/// Whether what is read somewhere goes into shared arrays alone that nobody reads.
pub fn only_fills_shared(code: &Code, read: Site) -> bool {
    fills(code, &[read], &[]) == Some(true)
}

/// Where values go nowhere else: whether one is stored in a shared array that nobody reads.
fn fills(code: &Code, reads: &[Site], sinks: &[usize]) -> Option<bool> {
    let source = Source::kernel(code)?;
    let sinks = pointers(&source, sinks).filter(|_| !code.damaged)?;
    let mut flow = Flow {
        source: &source,
        reads,
        sinks,
        unread: unread(code),
        held: FxHashSet::default(),
        met: FxHashSet::default(),
        kept: false,
        leaves: false,
    };
    for _ in 0..MAX_ROUNDS {
        let before = flow.held.len();
        code.walk(&source.function.body, |item| {
            match item {
                Item::Stmt(id) => flow.statement(&code.stmt(id).kind),
                Item::Expr(id) => flow.expression(id),
            }
            !flow.leaves
        });
        if flow.leaves {
            return None;
        }
        if flow.held.len() == before {
            return reads.iter().all(|read| flow.met.contains(read)).then_some(flow.kept);
        }
    }
    None
}

/// Shared arrays that the kernel only ever stores in: they end with their block.
fn unread(code: &Code) -> FxHashSet<ObjectId> {
    // How often an array is named, and how often something is stored in it there.
    let (mut named, mut stored) = (FxHashMap::default(), FxHashMap::default());
    for function in &code.functions {
        code.walk(&function.body, |item| {
            let Item::Expr(id) = item else { return true };
            match &code.expr(id).kind {
                Expr::ObjectAddress(object) => *named.entry(*object).or_insert(0_u32) += 1,
                Expr::Write(Place::Memory { address, .. }, _) => {
                    if let Some(object) = object_at(code, *address) {
                        *stored.entry(object).or_insert(0_u32) += 1;
                    }
                }
                _ => {}
            }
            true
        });
    }
    let is_shared =
        |object: &ObjectId| code.objects.get(*object).is_some_and(|object| matches!(object.space, ObjectSpace::Shared));
    named
        .into_iter()
        .filter(|(object, count)| stored.get(object) == Some(count))
        .map(|(object, _)| object)
        .filter(is_shared)
        .collect()
}

/// The object that an address lies in.
fn object_at(code: &Code, address: ExprId) -> Option<ObjectId> {
    let mut at = address;
    for _ in 0..MAX_ROUNDS {
        match &code.expr(at).kind {
            Expr::Offset { base, .. } => at = *base,
            Expr::Convert(inner) if code.expr(at).ty == Ty::Pointer => at = *inner,
            Expr::ObjectAddress(object) => return Some(*object),
            _ => return None,
        }
    }
    None
}

/// The variables that point into the memory behind some parameters, and nowhere else; `None` where such an address goes where it
/// is not followed.
fn pointers(source: &Source<'_>, parameters: &[usize]) -> Option<FxHashSet<VariableId>> {
    let given: FxHashSet<VariableId> = parameters.iter().map(|parameter| VariableId(*parameter as u32)).collect();
    let mut writes: Vec<(VariableId, Option<VariableId>)> = Vec::new();
    // How often an address is come by, and how often it is seen what becomes of it.
    let (mut met, mut followed) = (FxHashMap::default(), FxHashMap::default());
    source.code.walk(&source.function.body, |item| {
        let Item::Expr(id) = item else { return true };
        let kind = source.kind(id);
        let mut follow = |address| {
            if let Some(variable) = base(source, address) {
                *followed.entry(variable).or_insert(0_u32) += 1;
            }
        };
        match kind {
            Expr::Read(Place::Register { variable, .. }) => *met.entry(*variable).or_insert(0_u32) += 1,
            Expr::Write(Place::Register { variable, count, .. }, value)
                if source.code.expr(*value).ty == Ty::Pointer =>
            {
                writes.push((*variable, base(source, *value).filter(|_| *count == 0)));
                follow(*value);
            }
            Expr::Update { place: Place::Register { variable, .. }, .. } if source.code.expr(id).ty == Ty::Pointer => {
                writes.push((*variable, Some(*variable)));
            }
            kind => {
                if let Some(address) = accessed(kind) {
                    follow(address);
                }
            }
        }
        true
    });
    let mut all = given.clone();
    for _ in 0..MAX_ROUNDS {
        let made: Vec<VariableId> = writes
            .iter()
            .filter(|(variable, from)| !all.contains(variable) && from.is_some_and(|from| all.contains(&from)))
            .map(|(variable, _)| *variable)
            .collect();
        if made.is_empty() {
            let parameters = source.function.parameters as usize;
            let own = |variable: &VariableId| given.contains(variable) || variable.index() >= parameters;
            let inside = |(variable, from): &(VariableId, Option<VariableId>)| {
                !all.contains(variable) || from.is_some_and(|from| all.contains(&from))
            };
            let seen = |variable: &VariableId| met.get(variable) == followed.get(variable);
            let in_register = |variable: &VariableId| {
                source.function.variables.get(*variable).is_some_and(|variable| !variable.in_memory)
            };
            let known = writes.iter().all(inside)
                && all.iter().all(|variable| own(variable) && seen(variable) && in_register(variable));
            return known.then_some(all);
        }
        all.extend(made);
    }
    None
}

/// Where the values go.
struct Flow<'a> {
    source: &'a Source<'a>,
    reads: &'a [Site],
    /// Variables that point into the memory that nobody looks at.
    sinks: FxHashSet<VariableId>,
    /// Shared arrays that nobody reads.
    unread: FxHashSet<ObjectId>,
    /// Variables that may hold one of the values, or what is computed from one.
    held: FxHashSet<VariableId>,
    /// The reads that were come by.
    met: FxHashSet<Site>,
    /// Whether one is stored in a shared array that nobody reads.
    kept: bool,
    /// Whether one goes elsewhere.
    leaves: bool,
}

impl Flow<'_> {
    fn statement(&mut self, stmt: &Stmt) {
        self.leaves |= match stmt {
            Stmt::If { condition, .. } => self.has(*condition),
            Stmt::Loop { condition, .. } => condition.is_some_and(|condition| self.has(condition)),
            Stmt::Switch { value, .. } => self.has(*value),
            Stmt::Return(value) => value.is_some_and(|value| self.has(value)),
            Stmt::Opaque { exprs, .. } => exprs.iter().any(|part| self.has(*part) || self.points_to_held(*part)),
            Stmt::Expr(_) | Stmt::Declare(_) | Stmt::Block(_) | Stmt::Break | Stmt::Continue => false,
        };
    }

    fn expression(&mut self, id: ExprId) {
        let kind = self.source.kind(id);
        let site = self.source.site(id);
        if let Some(address) = accessed(kind) {
            self.leaves |= self.has(address);
            if self.reads.contains(&site) {
                self.met.insert(site);
            }
        }
        match kind {
            Expr::Write(place, value) | Expr::Update { place, value, .. } => {
                self.leaves |= self.points_to_held(*value);
                let changes_read = matches!(kind, Expr::Update { .. }) && self.reads.contains(&site);
                if changes_read || self.has(*value) {
                    self.store(place);
                }
            }
            Expr::Intrinsic(Intrinsic::StoreCached | Intrinsic::Atomic { .. }, operands) => {
                let values = operands.iter().skip(1).any(|value| self.has(*value));
                // What an atomic operation makes of the value that it finds stays there.
                let changes = self.reads.contains(&site);
                self.leaves |=
                    (values || changes) && !operands.first().is_some_and(|address| self.is_in_sink(*address));
            }
            Expr::Intrinsic(
                Intrinsic::Min
                | Intrinsic::Max
                | Intrinsic::Abs
                | Intrinsic::Bits(_)
                | Intrinsic::FloatMath(_)
                | Intrinsic::LoadCached,
                _,
            )
            | Expr::Opaque { effect: Effect::Pure(_) | Effect::None, .. } => {}
            Expr::Intrinsic(_, operands) | Expr::Call(_, operands) | Expr::Opaque { children: operands, .. } => {
                let leaves =
                    |operand: &ExprId| self.has(*operand) || self.points_to_held(*operand) || self.is_in_sink(*operand);
                self.leaves |= operands.iter().any(leaves);
            }
            // What is computed behind a condition must do nothing else.
            Expr::And(condition, _) | Expr::Or(condition, _) | Expr::Select(condition, ..) => {
                self.leaves |= self.has(*condition) && self.acts(id);
            }
            _ => {}
        }
    }

    /// One of the values is stored.
    fn store(&mut self, place: &Place) {
        match place {
            Place::Register { variable, .. } => {
                self.held.insert(*variable);
            }
            Place::Memory { address, .. } => match self.variable_at(*address) {
                Some(variable) => {
                    self.held.insert(variable);
                }
                None => {
                    self.leaves |= !self.is_in_sink(*address);
                    self.kept |= object_at(self.source.code, *address).is_some();
                }
            },
        }
    }

    /// Whether an expression may give one of the values, or what is computed from one.
    fn has(&self, root: ExprId) -> bool {
        let mut found = false;
        self.source.code.walk_expr(root, |id, kind| {
            found |= match kind {
                Expr::Read(Place::Register { variable, .. })
                | Expr::Update { place: Place::Register { variable, .. }, .. } => self.held.contains(variable),
                Expr::Write(..) => false,
                kind => accessed(kind).is_some_and(|address| {
                    self.reads.contains(&self.source.site(id))
                        || self.is_in_sink(address)
                        || self.variable_at(address).is_some_and(|variable| self.held.contains(&variable))
                }),
            };
            !found
        });
        found
    }

    /// Whether an expression is the address of a variable with one of the values.
    fn points_to_held(&self, root: ExprId) -> bool {
        let mut found = false;
        self.source.code.walk_expr(root, |_, kind| {
            found |= matches!(kind, Expr::VariableAddress(variable) if self.held.contains(variable));
            !found
        });
        found
    }

    /// Whether something in an expression does more than give a value.
    fn acts(&self, root: ExprId) -> bool {
        let mut found = false;
        self.source.code.walk_expr(root, |_, kind| {
            found |= matches!(
                kind,
                Expr::Write(..)
                    | Expr::Update { .. }
                    | Expr::Call(..)
                    | Expr::Intrinsic(..)
                    | Expr::Opaque { .. }
                    | Expr::Statements(..)
            );
            !found
        });
        found
    }

    /// The variable in whose own memory an address lies.
    fn variable_at(&self, address: ExprId) -> Option<VariableId> {
        let mut at = address;
        for _ in 0..MAX_ROUNDS {
            match self.source.kind(at) {
                Expr::Offset { base, .. } => at = *base,
                Expr::Convert(inner) if self.source.code.expr(at).ty == Ty::Pointer => at = *inner,
                Expr::VariableAddress(variable) => return Some(*variable),
                _ => return None,
            }
        }
        None
    }

    fn is_in_sink(&self, address: ExprId) -> bool {
        base(self.source, address).is_some_and(|variable| self.sinks.contains(&variable))
            || object_at(self.source.code, address).is_some_and(|object| self.unread.contains(&object))
    }
}
