//! Numbers in memory that all threads of a block read: `__constant__` variables, and elements at places that the block shares.

use super::source::{Definition, Source, accessed};
use crate::code::{Builtin, Code, Expr, ExprId, FunctionId, Item, ObjectId, ObjectSpace, Place, Ty, VariableId};
use crate::report::Site;

/// Most steps down into an address.
const MAX_DEPTH: u32 = 16;
/// Most such numbers of a kernel: each costs executions.
const MOST: usize = 4;

/// A number in memory.
pub(super) struct Shared {
    /// All reads of it.
    pub reads: Vec<ExprId>,
    /// Where the first stands.
    pub read: Site,
    /// The variable, or the parameter, that it lies in or behind.
    pub name: String,
    /// Where the variable is declared.
    pub declared: Option<Site>,
}

/// What memory an address leads into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Base {
    Object(ObjectId),
    Parameter(VariableId),
}

/// The numbers that these reads give, in the order of the code; reads of one place are one number.
pub(super) fn numbers(code: &Code, met: &[(FunctionId, ExprId)]) -> Vec<Shared> {
    let Some(kernel) = Source::kernel(code) else { return Vec::new() };
    let mut found: Vec<(ExprId, Vec<ExprId>, Base)> = Vec::new();
    let mut reads: Vec<(FunctionId, ExprId)> = met.to_vec();
    reads.sort_unstable_by_key(|(_, read)| *read);
    reads.dedup();
    let mut written = None;
    for (function, read) in reads {
        let Some(own) = code.functions.get(function) else { continue };
        let source = if function.index() == 0 { None } else { Some(Source::new(code, own)) };
        let source = source.as_ref().unwrap_or(&kernel);
        let Some((address, base)) = number(source, read) else { continue };
        // Other functions have other parameters.
        if function.index() != 0 && matches!(base, Base::Parameter(_)) {
            continue;
        }
        if matches!(base, Base::Parameter(_)) && !written.get_or_insert_with(|| Written::of(code)).spares(base) {
            continue;
        }
        let full = found.len() >= MOST;
        match found.iter_mut().find(|(first, ..)| source.alike(*first, address)) {
            Some((_, all, _)) => all.push(read),
            None if full => {}
            None => found.push((address, vec![read], base)),
        }
    }
    let named = |(_, reads, base): (ExprId, Vec<ExprId>, Base)| {
        let (name, declared) = match base {
            Base::Object(object) => code.objects.get(object).map(|object| (object.name.clone(), Some(object.site)))?,
            Base::Parameter(variable) => (kernel.name(variable).to_owned(), None),
        };
        Some(Shared { read: code.expr(*reads.first()?).site, reads, name, declared })
    };
    found.into_iter().filter_map(named).collect()
}

/// Whether values of a type are amounts.
pub(super) const fn is_amount(ty: &Ty) -> bool {
    matches!(ty, Ty::Int { bytes: 2.., .. })
}

/// Where a read of an amount leads that all threads of a block share.
fn number(source: &Source<'_>, read: ExprId) -> Option<(ExprId, Base)> {
    let Expr::Read(Place::Memory { address, volatile: false, .. }) = source.kind(read) else { return None };
    let base = base_of(source, *address, 0)?;
    (is_amount(&source.code.expr(read).ty) && is_of_block(source, *address, 0)).then_some((*address, base))
}

/// The memory that an address leads into, where that is constant or a parameter's.
fn base_of(source: &Source<'_>, address: ExprId, depth: u32) -> Option<Base> {
    if depth > MAX_DEPTH {
        return None;
    }
    match source.kind(address) {
        Expr::ObjectAddress(object) => {
            let of = source.code.objects.get(*object)?;
            (of.space == ObjectSpace::Constant && of.values.is_none()).then_some(Base::Object(*object))
        }
        Expr::Offset { base, .. } | Expr::Convert(base) => base_of(source, *base, depth + 1),
        _ => match source.variable(address)? {
            variable if source.definition(variable) == Definition::Parameter => Some(Base::Parameter(variable)),
            variable => base_of(source, source.value(variable)?, depth + 1),
        },
    }
}

/// Whether all threads of a block compute the same, and in each round of a loop.
fn is_of_block(source: &Source<'_>, value: ExprId, depth: u32) -> bool {
    let inner = |value: ExprId| is_of_block(source, value, depth + 1);
    if depth > MAX_DEPTH {
        return false;
    }
    match source.kind(value) {
        Expr::Int(_) | Expr::ObjectAddress(_) => true,
        Expr::Builtin(builtin) => !matches!(builtin, Builtin::ThreadIdx(_)),
        Expr::Convert(of) => inner(*of),
        Expr::Offset { base, index, .. } => inner(*base) && inner(*index),
        Expr::Binary(_, a, b) => inner(*a) && inner(*b),
        // Other functions have variables of their own.
        Expr::Read(Place::Register { .. }) if !is_kernel(source) => false,
        Expr::Read(Place::Register { variable, .. }) => match source.definition(*variable) {
            Definition::Parameter => true,
            Definition::Once(value) => inner(value),
            Definition::Several => false,
        },
        _ => false,
    }
}

fn is_kernel(source: &Source<'_>) -> bool {
    source.code.functions.first().is_some_and(|kernel| std::ptr::eq(kernel, source.function))
}

/// The memory that a kernel writes.
struct Written {
    /// Parameters that it writes through.
    through: Vec<VariableId>,
    /// Whether it may write anywhere else that is not its own.
    anywhere: bool,
}

impl Written {
    fn of(code: &Code) -> Self {
        let mut written = Self { through: Vec::new(), anywhere: false };
        for (id, function) in code.functions.iter_enumerated() {
            let source = Source::new(code, function);
            code.walk(&function.body, |item| {
                if let Item::Expr(expr) = item {
                    written.note(&source, id, expr);
                }
                true
            });
        }
        written
    }

    fn note(&mut self, source: &Source<'_>, function: FunctionId, expr: ExprId) {
        let kind = source.kind(expr);
        match kind {
            Expr::Read(_) | Expr::Intrinsic(crate::code::Intrinsic::LoadCached, _) => return,
            Expr::Opaque { effect, .. } => {
                self.anywhere |= !matches!(effect, crate::code::Effect::Pure(_) | crate::code::Effect::None);
                return;
            }
            _ => {}
        }
        let Some(address) = accessed(kind) else { return };
        match target(source, address, 0) {
            Some(Target::Own) => {}
            Some(Target::Parameter(variable)) if function.index() == 0 => self.through.push(variable),
            _ => self.anywhere = true,
        }
    }

    fn spares(&self, base: Base) -> bool {
        let through = |variable: &VariableId| base == Base::Parameter(*variable);
        !self.anywhere && !self.through.iter().any(through)
    }
}

/// What a write goes to.
enum Target {
    /// Shared memory, a variable.
    Own,
    Parameter(VariableId),
}

fn target(source: &Source<'_>, address: ExprId, depth: u32) -> Option<Target> {
    if depth > MAX_DEPTH {
        return None;
    }
    match source.kind(address) {
        Expr::ObjectAddress(_) | Expr::VariableAddress(_) => Some(Target::Own),
        Expr::Offset { base, .. } | Expr::Convert(base) => target(source, *base, depth + 1),
        _ => match source.variable(address)? {
            variable if source.definition(variable) == Definition::Parameter => Some(Target::Parameter(variable)),
            variable => target(source, source.value(variable)?, depth + 1),
        },
    }
}
