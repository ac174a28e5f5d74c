//! Elements that one thread reaches through two parameters of its kernel by the same index: `out[i] = f(in[i])`. Where both
//! parameters lead to one allocation, they are one element.
//!
//! What is told happens in every thread that comes to the later of the two accesses, and whether one comes there hangs on nothing
//! but the threads' numbers and on loops.

use super::source::{Definition, Source, accessed};
use crate::code::{Block, Builtin, Code, Expr, ExprId, Intrinsic, Item, Place, Stmt, StmtId, VariableId};
use crate::report::Site;

/// Most accesses of a kernel that are compared with each other.
const MAX_ACCESSES: usize = 64;
/// Longest way from an address to its parameter, and from a condition to a thread's number.
const MAX_STEPS: usize = 32;

/// Two accesses to one element, where the parameters lead to the same place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Together {
    /// The parameters of the code, in the order of the accesses.
    pub parameters: [u32; 2],
    /// The accesses, in the order in which a thread makes them.
    pub sites: [Site; 2],
    /// Whether each of them writes; one does.
    pub writes: [bool; 2],
}

/// Of each two parameters the first such accesses; those of which the first writes before others.
pub fn together(code: &Code) -> Vec<Together> {
    let Some(source) = Source::kernel(code).filter(|_| !code.damaged) else { return Vec::new() };
    let accesses = accesses(&source);
    let mut found: Vec<Together> = Vec::new();
    for (at, second) in accesses.iter().enumerate() {
        for first in &accesses[..at] {
            let known = |both: &Together| {
                let [a, b] = both.parameters;
                (a, b) == (first.parameter, second.parameter) || (b, a) == (first.parameter, second.parameter)
            };
            if first.parameter == second.parameter
                || !(first.write || second.write)
                || !second.around.starts_with(&first.around)
                || !is_one_element(&source, first, second)
                || found.iter().any(|both| known(both) && (both.writes[0] || !first.write))
            {
                continue;
            }
            found.retain(|both| !known(both));
            found.push(Together {
                parameters: [first.parameter, second.parameter],
                sites: [first.site, second.site],
                writes: [first.write, second.write],
            });
        }
    }
    found
}

/// An access through a parameter.
struct Access {
    parameter: u32,
    /// Indices with what a step of each means in bytes, from the outermost.
    indices: Vec<(ExprId, i64)>,
    site: Site,
    write: bool,
    /// The branches and loops that it stands in, from the outermost.
    around: Vec<(StmtId, bool)>,
    /// The statement.
    statement: StmtId,
}

/// In the order in which a thread makes them.
fn accesses(source: &Source<'_>) -> Vec<Access> {
    let mut found = Vec::new();
    let mut open: Vec<(StmtId, Vec<(StmtId, bool)>)> = Vec::new();
    let push = |open: &mut Vec<(StmtId, Vec<(StmtId, bool)>)>, block: &Block, around: &[(StmtId, bool)]| {
        open.extend(block.iter().rev().map(|id| (*id, around.to_vec())));
    };
    push(&mut open, &source.function.body, &[]);
    while let Some((id, around)) = open.pop() {
        if found.len() > MAX_ACCESSES {
            return Vec::new();
        }
        let inside = |holds: bool| around.iter().copied().chain([(id, holds)]).collect::<Vec<_>>();
        match &source.code.stmt(id).kind {
            Stmt::Expr(expr) | Stmt::Return(Some(expr)) => note(source, *expr, id, &around, &mut found),
            Stmt::Block(block) => push(&mut open, block, &around),
            Stmt::If { condition, then, otherwise } => {
                note(source, *condition, id, &around, &mut found);
                let of_threads = is_of_threads(source, *condition);
                let ends = |block| returns(source, block);
                if !of_threads && (ends(then) || ends(otherwise)) {
                    return found;
                }
                if of_threads {
                    push(&mut open, otherwise, &inside(false));
                    push(&mut open, then, &inside(true));
                }
            }
            Stmt::Loop { body, .. } => push(&mut open, body, &inside(true)),
            // Whoever leaves a loop early, or jumps, does not surely come by what stands behind.
            _ => {}
        }
    }
    found
}

/// Whether a thread may leave the function in some statements.
fn returns(source: &Source<'_>, block: &Block) -> bool {
    let mut found = false;
    source.code.walk(block, |item| {
        found |= matches!(item, Item::Stmt(id) if matches!(source.code.stmt(id).kind, Stmt::Return(_) | Stmt::Opaque { .. }));
        !found
    });
    found
}

/// Adds the accesses of an expression that are surely made: the value before the place that it is stored in.
fn note(source: &Source<'_>, expr: ExprId, statement: StmtId, around: &[(StmtId, bool)], into: &mut Vec<Access>) {
    let mut own = Vec::new();
    source.code.walk_expr(expr, |id, kind| {
        if let Some(access) = accessed(kind).and_then(|address| through(source, address)) {
            let write = !matches!(kind, Expr::Read(_) | Expr::Intrinsic(Intrinsic::LoadCached, _));
            let (parameter, indices) = access;
            let (site, around) = (source.site(id), around.to_vec());
            own.push(Access { parameter, indices, site, write, around, statement });
        }
        !matches!(kind, Expr::And(..) | Expr::Or(..) | Expr::Select(..) | Expr::Statements(..))
    });
    own.sort_by_key(|access| access.write);
    into.extend(own);
}

/// The parameter that an address is made from, and the steps from there.
fn through(source: &Source<'_>, address: ExprId) -> Option<(u32, Vec<(ExprId, i64)>)> {
    let (mut at, mut indices) = (address, Vec::new());
    for _ in 0..MAX_STEPS {
        match source.kind(at) {
            Expr::Offset { base, index, stride } => {
                indices.push((*index, *stride));
                at = *base;
            }
            Expr::Convert(inner) => at = *inner,
            Expr::Read(Place::Register { variable, count: 0, .. }) => {
                return (source.definition(*variable) == Definition::Parameter).then_some((variable.0, indices));
            }
            _ => return None,
        }
    }
    None
}

fn is_one_element(source: &Source<'_>, a: &Access, b: &Access) -> bool {
    let same = |((x, m), (y, n)): (&(ExprId, i64), &(ExprId, i64))| m == n && source.alike(*x, *y);
    let constant = |(index, _): &(ExprId, i64)| is_constant(source, *index, a.statement == b.statement);
    a.indices.len() == b.indices.len()
        && a.indices.iter().zip(&b.indices).all(same)
        && a.indices.iter().chain(&b.indices).all(constant)
}

/// Whether an index has one value for a thread between two accesses: of variables that change that is known within a statement that
/// changes none.
fn is_constant(source: &Source<'_>, index: ExprId, within_statement: bool) -> bool {
    let mut constant = true;
    source.code.walk_expr(index, |_, kind| {
        constant &= match kind {
            Expr::Read(Place::Register { variable, .. }) => {
                within_statement || source.definition(*variable) != Definition::Several
            }
            Expr::Int(_) | Expr::Builtin(_) | Expr::Convert(_) | Expr::Binary(..) | Expr::Unary(..) => true,
            _ => false,
        };
        constant
    });
    constant
}

/// Whether a condition tests a number of the thread.
fn is_of_threads(source: &Source<'_>, condition: ExprId) -> bool {
    let (mut open, mut seen): (Vec<ExprId>, Vec<VariableId>) = (vec![condition], Vec::new());
    for _ in 0..MAX_STEPS {
        let Some(next) = open.pop() else { break };
        let (mut found, mut reads) = (false, false);
        source.code.walk_expr(next, |_, kind| {
            match kind {
                Expr::Builtin(Builtin::ThreadIdx(_) | Builtin::BlockIdx(_)) => found = true,
                Expr::Read(Place::Register { variable, .. }) if !seen.contains(variable) => {
                    seen.push(*variable);
                    open.extend(source.value(*variable));
                }
                Expr::Read(Place::Memory { .. }) => reads = true,
                _ => {}
            }
            !found && !reads
        });
        if found || reads {
            return found && !reads;
        }
    }
    false
}
