//! What a kernel does with the memory behind its parameters, the device functions that it calls included.

use super::source::{Definition, Source, accessed};
use crate::code::{BinaryOp, Code, Expr, ExprId, FunctionId, Intrinsic, Item, Place, Ty, VariableId};
use rustc_hash::FxHashMap;

/// How deep calls of device functions are followed.
const MAX_CALLS: u32 = 8;
/// Longest way from an address to the parameter that it leads into.
const MAX_STEPS: usize = 32;

/// What becomes of the memory behind a parameter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Use {
    /// Something is written to it, perhaps under a condition.
    pub written: bool,
    /// The address goes where it is not followed.
    pub escapes: bool,
    /// The types by which it is accessed.
    pub types: Vec<Ty>,
    /// Whether an index is a product of numbers that the hardware does not tell: the order of elements matters.
    pub multiplied: bool,
}

/// The uses of a kernel's parameters, one for each parameter of the code.
pub fn uses(code: &Code) -> Vec<Use> {
    Reader { code, known: FxHashMap::default() }.function(FunctionId(0), 0)
}

struct Reader<'c> {
    code: &'c Code,
    known: FxHashMap<FunctionId, Vec<Use>>,
}

impl Reader<'_> {
    fn function(&mut self, id: FunctionId, calls: u32) -> Vec<Use> {
        if let Some(known) = self.known.get(&id) {
            return known.clone();
        }
        let Some(function) = self.code.functions.get(id) else { return Vec::new() };
        let count = function.parameters as usize;
        if calls > MAX_CALLS {
            return vec![Use { escapes: true, ..Use::default() }; count];
        }
        // A call of itself adds nothing.
        self.known.insert(id, vec![Use::default(); count]);
        let source = Source::new(self.code, function);
        let mut uses = vec![Use::default(); count];
        // How often the address is come by, and how often it is known what becomes of it there.
        let mut met = vec![0_u32; count];
        let mut followed = vec![0_u32; count];
        self.code.walk(&function.body, |item| {
            let Item::Expr(id) = item else { return true };
            let kind = source.kind(id);
            match kind {
                Expr::Read(Place::Register { variable, .. }) if source.code.expr(id).ty == Ty::Pointer => {
                    if let Some(at) = root(&source, *variable).filter(|at| *at < count) {
                        met[at] += 1;
                    }
                }
                // Another name for it.
                Expr::Write(Place::Register { variable, count: 0, .. }, value)
                    if source.value(*variable) == Some(*value) =>
                {
                    if let Some(at) = parameter(&source, *value).filter(|at| *at < count) {
                        followed[at] += 1;
                    }
                }
                Expr::Call(callee, arguments) => {
                    let inner = self.function(*callee, calls + 1);
                    for (argument, of) in arguments.iter().zip(&inner) {
                        if let Some(at) = parameter(&source, *argument).filter(|at| *at < count) {
                            followed[at] += 1;
                            uses[at].add(of);
                        }
                    }
                }
                _ => {}
            }
            let Some(address) = accessed(kind) else { return true };
            let Some(at) = parameter(&source, address).filter(|at| *at < count) else { return true };
            followed[at] += 1;
            let own = &mut uses[at];
            own.written |= !matches!(kind, Expr::Read(_) | Expr::Intrinsic(Intrinsic::LoadCached, _));
            own.multiplied |= multiplies(&source, address);
            let ty = &source.code.expr(id).ty;
            if !own.types.contains(ty) {
                own.types.push(ty.clone());
            }
            true
        });
        for ((own, met), followed) in uses.iter_mut().zip(met).zip(followed) {
            own.escapes |= met > followed;
        }
        self.known.insert(id, uses.clone());
        uses
    }
}

impl Use {
    fn add(&mut self, other: &Self) {
        self.written |= other.written;
        self.escapes |= other.escapes;
        self.multiplied |= other.multiplied;
        let new = other.types.iter().filter(|ty| !self.types.contains(ty)).cloned().collect::<Vec<_>>();
        self.types.extend(new);
    }
}

/// The parameter whose address a variable holds, or one that lies in its memory.
fn root(source: &Source<'_>, variable: VariableId) -> Option<usize> {
    let mut at = variable;
    for _ in 0..MAX_STEPS {
        match source.definition(at) {
            Definition::Parameter => return Some(at.index()),
            Definition::Once(value) => at = base(source, value)?,
            Definition::Several => return None,
        }
    }
    None
}

/// The variable that an address starts from.
pub(super) fn base(source: &Source<'_>, address: ExprId) -> Option<VariableId> {
    let mut at = address;
    for _ in 0..MAX_STEPS {
        match source.kind(at) {
            Expr::Offset { base, .. } => at = *base,
            Expr::Convert(inner) if source.code.expr(at).ty == Ty::Pointer => at = *inner,
            Expr::Read(Place::Register { variable, count: 0, .. }) if source.code.expr(at).ty == Ty::Pointer => {
                return Some(*variable);
            }
            _ => return None,
        }
    }
    None
}

/// The parameter that an address leads into.
fn parameter(source: &Source<'_>, address: ExprId) -> Option<usize> {
    root(source, base(source, address)?)
}

/// Whether an index on the way to an address is a product, as written there.
fn multiplies(source: &Source<'_>, address: ExprId) -> bool {
    let mut found = false;
    let mut at = address;
    for _ in 0..MAX_STEPS {
        let Expr::Offset { base, index, .. } = source.kind(at) else { break };
        source.code.walk_expr(*index, |_, inner| {
            found |= matches!(inner, Expr::Binary(BinaryOp::Mul, _, factor)
                if !matches!(source.kind(source.bare(*factor)), Expr::Builtin(_)));
            !found
        });
        at = *base;
    }
    found
}
