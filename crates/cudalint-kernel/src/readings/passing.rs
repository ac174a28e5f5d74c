//! Conditions that each thread decides for itself, by data or by its number: whether several threads of a block may pass one.
//!
//! Two threads that pass are no more than what such a condition is there for, unless it elects one: by what an atomic operation or
//! a vote gives, by a comparison with the thread's own number, or by bounds that one number lies between for one thread alone.

use super::deciding::Flow;
use crate::code::{
    BinaryOp, Builtin, Child, Code, Effect, Expr, ExprId, FunctionId, Intrinsic, Joined, Place, Test, VariableId,
};
use rustc_hash::FxHashSet;

/// Most parts of a condition, and of what it is computed of, that are looked at.
const MOST_PARTS: usize = 1_000;

/// What a condition asks of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Asks {
    /// Whether threads of one block may get different answers.
    pub own: bool,
    /// Whether their own data decides.
    pub data: bool,
    /// Whether a test has the thread's number on both of its sides: they may differ by what all have in common.
    pub related: bool,
    /// How many of its tests compare what each thread has for itself with a number that all have in common: one thread alone may lie
    /// between two of these.
    pub bounds: u32,
}

/// What is asked of a thread that gets past a condition; `negated` where it does not hold for those that go on. `None` where it may be made for
/// one thread alone, or is not understood.
pub(crate) fn asks(flow: &Flow<'_>, function: FunctionId, condition: ExprId, negated: bool) -> Option<Asks> {
    let code = flow.code;
    let mut all = Asks::default();
    for Test { id, negated } in code.tests(condition, negated, Joined::Anyhow)? {
        match &code.expr(id).kind {
            Expr::Binary(op, a, b) if compares(*op) => {
                let sides = [sources(flow, function, *a)?, sources(flow, function, *b)?];
                let asked = compared(*op, negated, sides)?;
                all.own |= asked.own;
                all.data |= asked.data;
                all.related |= asked.related;
                all.bounds += asked.bounds;
            }
            _ => {
                let of = sources(flow, function, id)?;
                all.own |= of.is_own();
                all.data |= of.own_data;
            }
        }
    }
    Some(all)
}

/// Whether the value of an expression is computed of what another one reads.
pub(crate) fn is_made_of(flow: &Flow<'_>, function: FunctionId, value: ExprId, read: ExprId) -> bool {
    let mut found = false;
    follow(flow, function, value, |_, id, _| {
        found |= id == read;
        Some(())
    });
    found
}

/// Whether a value may differ between the threads of a block; `None` where that is not understood.
pub(crate) fn is_own(flow: &Flow<'_>, function: FunctionId, value: ExprId) -> Option<bool> {
    sources(flow, function, value).map(Sources::is_own)
}

/// Whether an expression has the same value wherever it is computed in a call of the function: what it reads of registers is stored
/// once at most.
pub(crate) fn is_settled(flow: &Flow<'_>, function: FunctionId, value: ExprId) -> bool {
    let mut open = vec![value];
    let mut seen = 0;
    while let Some(id) = open.pop() {
        seen += 1;
        let kind = &flow.code.expr(id).kind;
        let stored = match kind {
            Expr::Read(Place::Register { variable, .. }) => flow.stored.get(&(function, *variable)).map_or(0, Vec::len),
            _ => 0,
        };
        if seen > MOST_PARTS || stored > 1 {
            return false;
        }
        kind.parts(&mut |part| {
            if let Child::Expr(part) = part {
                open.push(part);
            }
        });
    }
    true
}

const fn compares(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge)
}

/// What a value is computed of.
#[derive(Clone, Copy, Default)]
#[allow(clippy::struct_excessive_bools, reason = "independent facts about a value")]
struct Sources {
    /// The thread's number, other than in addresses.
    number: bool,
    /// Memory at a place that is the thread's own.
    own_data: bool,
    /// Other memory, or a parameter.
    common: bool,
}

impl Sources {
    const fn is_own(self) -> bool {
        self.number || self.own_data
    }
}

/// What one comparison asks.
fn compared(op: BinaryOp, negated: bool, sides: [Sources; 2]) -> Option<Asks> {
    let [a, b] = sides;
    let equal = matches!((op, negated), (BinaryOp::Eq, false) | (BinaryOp::Ne, true));
    let ordered = !matches!(op, BinaryOp::Eq | BinaryOp::Ne);
    let number_alone = |side: Sources| side.number && !side.own_data;
    if equal && sides.into_iter().any(number_alone) {
        return None;
    }
    // `i < n` keeps the last threads out, `i >= n` all but those.
    let below = matches!((op, negated), (BinaryOp::Lt | BinaryOp::Le, false) | (BinaryOp::Gt | BinaryOp::Ge, true));
    let from_below = |low: Sources, high: Sources, below: bool| !number_alone(low) || high.is_own() || below;
    if ordered && !(from_below(a, b, below) && from_below(b, a, !below)) {
        return None;
    }
    let bounds = ordered && a.own_data != b.own_data && (a.common && !a.is_own() || b.common && !b.is_own());
    Some(Asks {
        own: a.is_own() || b.is_own(),
        data: a.own_data || b.own_data,
        related: a.number && b.number,
        bounds: u32::from(bounds),
    })
}

/// What an expression is computed of; `None` where an election may be among it, or something that is not understood.
fn sources(flow: &Flow<'_>, function: FunctionId, value: ExprId) -> Option<Sources> {
    let mut found = Sources::default();
    follow(flow, function, value, |kind, _, in_address| {
        match kind {
            Expr::Builtin(Builtin::ThreadIdx(_)) | Expr::Intrinsic(Intrinsic::GroupRank(_), _) => {
                found.own_data |= in_address;
                found.number |= !in_address;
            }
            Expr::Read(Place::Memory { .. }) => found.common = true,
            Expr::Intrinsic(
                Intrinsic::LoadCached
                | Intrinsic::Min
                | Intrinsic::Max
                | Intrinsic::Abs
                | Intrinsic::Bits(_)
                | Intrinsic::FloatMath(_)
                | Intrinsic::FloorRem
                | Intrinsic::GroupSize(_)
                | Intrinsic::WrapIndex { .. },
                _,
            ) => {}
            Expr::Intrinsic(..) | Expr::VariableAddress(_) | Expr::Statements(..) => return None,
            Expr::Opaque { effect, .. } if !matches!(effect, Effect::Pure(_)) => return None,
            Expr::Read(Place::Register { .. }) | Expr::Builtin(_) => found.common = true,
            _ => {}
        }
        Some(())
    })?;
    Some(found)
}

/// Visits all that a value is computed of: the expression, whether an address that is read hangs on it. `None` where it is too much,
/// or the visitor has seen enough.
fn follow(
    flow: &Flow<'_>,
    function: FunctionId,
    value: ExprId,
    mut visit: impl FnMut(&Expr, ExprId, bool) -> Option<()>,
) -> Option<()> {
    let code = flow.code;
    let mut open = vec![(function, value, false)];
    let mut met: FxHashSet<(FunctionId, ExprId, bool)> = FxHashSet::default();
    while let Some((function, id, in_address)) = open.pop() {
        if !met.insert((function, id, in_address)) {
            continue;
        }
        if met.len() > MOST_PARTS {
            return None;
        }
        let kind = &code.expr(id).kind;
        visit(kind, id, in_address)?;
        match kind {
            Expr::Read(Place::Register { variable, .. }) => {
                let stored = flow.stored.get(&(function, *variable)).into_iter().flatten();
                open.extend(stored.map(|value| (function, *value, in_address)));
                open.extend(given(flow, function, *variable).map(|(caller, value)| (caller, value, in_address)));
            }
            Expr::Read(Place::Memory { address, .. }) => open.push((function, *address, true)),
            Expr::Intrinsic(Intrinsic::LoadCached, operands) => {
                open.extend(operands.iter().map(|operand| (function, *operand, true)));
            }
            Expr::Call(callee, _) => {
                let returned = flow.returned.get(callee)?;
                open.extend(returned.iter().map(|value| (*callee, *value, in_address)));
            }
            kind => kind.parts(&mut |part| {
                if let Child::Expr(part) = part {
                    open.push((function, part, in_address));
                }
            }),
        }
    }
    Some(())
}

/// What callers give for a parameter of a function.
fn given<'f>(
    flow: &'f Flow<'_>,
    function: FunctionId,
    variable: VariableId,
) -> impl Iterator<Item = (FunctionId, ExprId)> + 'f {
    let is_parameter = flow.code.functions.get(function).is_some_and(|of| variable.0 < of.parameters);
    let calls = flow.calls.get(&function).filter(|_| is_parameter).into_iter().flatten();
    calls.filter_map(move |(caller, arguments)| Some((*caller, *arguments.get(variable.index())?)))
}

/// The ways of values through some code, for [`asks`] and [`is_made_of`].
pub(crate) fn flow_of(code: &Code) -> Flow<'_> {
    Flow::of(code)
}
