//! Where the address of an access comes from: what an execution that does not know it would have to know.

use super::source::{Source, accessed};
use crate::code::{Builtin, Code, Effect, Expr, ExprId, Function, Intrinsic, Item, Place, Stmt, VariableId};
use crate::report::Site;

/// How far definitions are followed.
const MAX_DEPTH: u32 = 24;
/// Most expressions that are looked at for one access.
const MAX_STEPS: u32 = 400;

/// Something that an address hangs on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// A value that is read from memory there.
    Memory(Site),
    /// What a function out of sight returns there.
    Call(Site),
    /// Something there that is not understood.
    NotUnderstood(Site),
    /// What an atomic operation returns there.
    Atomic(Site),
    /// What another thread hands over there.
    OtherThread(Site),
    /// A parameter of the kernel's code, by its number.
    Parameter(u32),
    /// How many blocks there are.
    Grid(Site),
    /// Which of several values a variable has there: what decides that is not an operand.
    Choice(Site),
}

/// The places of all accesses to memory in a kernel and its callees, in order, each once.
pub fn accesses(code: &Code) -> Vec<Site> {
    let mut all = Vec::new();
    for function in &code.functions {
        code.walk(&function.body, |item| {
            if let Item::Expr(id) = item
                && let node = code.expr(id)
                && accessed(&node.kind).is_some()
            {
                all.push(node.site);
            }
            true
        });
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// What the address of an access hangs on, in the order in which it is met.
pub fn why(code: &Code, access: Site) -> Vec<Why> {
    let Some((source, _, address)) = Source::around(code, access) else { return Vec::new() };
    let kernel = code.functions.first().is_some_and(|kernel| std::ptr::eq(kernel, source.function));
    let mut found = Vec::new();
    let mut seen: Vec<VariableId> = Vec::new();
    let mut open = vec![(address, 0)];
    let mut steps = 0;
    while let Some((id, depth)) = open.pop() {
        steps += 1;
        if depth > MAX_DEPTH || steps > MAX_STEPS {
            continue;
        }
        let site = code.expr(id).site;
        let one = match &code.expr(id).kind {
            Expr::Read(Place::Register { variable, .. }) => {
                let mut choice = None;
                if !seen.contains(variable) {
                    seen.push(*variable);
                    let values = values(code, source.function, *variable);
                    choice = (values.len() > 1).then_some(Why::Choice(site));
                    open.extend(values.into_iter().map(|value| (value, depth + 1)));
                }
                let given = variable.0 < source.function.parameters && kernel;
                if given { Some(Why::Parameter(variable.0)) } else { choice }
            }
            Expr::Read(Place::Memory { .. }) | Expr::Intrinsic(Intrinsic::LoadCached, _) => Some(Why::Memory(site)),
            Expr::Builtin(Builtin::GridDim(_)) => Some(Why::Grid(site)),
            Expr::Opaque { effect: Effect::Call { .. }, .. } => Some(Why::Call(site)),
            Expr::Opaque { effect: Effect::Pure(_), children } => {
                open.extend(children.iter().map(|child| (*child, depth + 1)));
                None
            }
            Expr::Opaque { .. } => Some(Why::NotUnderstood(site)),
            Expr::Intrinsic(Intrinsic::Atomic { .. }, _) => Some(Why::Atomic(site)),
            Expr::Intrinsic(Intrinsic::Shuffle { .. } | Intrinsic::WarpVote { .. } | Intrinsic::ActiveMask, _) => {
                Some(Why::OtherThread(site))
            }
            Expr::Call(callee, arguments) => {
                let returned = code.functions.get(*callee).map(|callee| returned(code, callee)).unwrap_or_default();
                open.extend(returned.into_iter().chain(arguments.iter().copied()).map(|part| (part, depth + 1)));
                None
            }
            kind => {
                kind.parts(&mut |part| {
                    if let crate::code::Child::Expr(part) = part {
                        open.push((part, depth + 1));
                    }
                });
                None
            }
        };
        if let Some(one) = one.filter(|one| !found.contains(one)) {
            found.push(one);
        }
    }
    found
}

/// All values that a variable is given.
fn values(code: &Code, function: &Function, variable: VariableId) -> Vec<ExprId> {
    let mut all = Vec::new();
    code.walk(&function.body, |item| {
        if let Item::Expr(id) = item
            && let Expr::Write(Place::Register { variable: written, .. }, value)
            | Expr::Update { place: Place::Register { variable: written, .. }, value, .. } = &code.expr(id).kind
            && *written == variable
        {
            all.push(*value);
        }
        true
    });
    all
}

fn returned(code: &Code, function: &Function) -> Vec<ExprId> {
    let mut all = Vec::new();
    code.walk(&function.body, |item| {
        if let Item::Stmt(id) = item
            && let Stmt::Return(Some(value)) = &code.stmt(id).kind
        {
            all.push(*value);
        }
        true
    });
    all
}
