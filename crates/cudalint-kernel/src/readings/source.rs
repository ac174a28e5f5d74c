//! A function of a kernel's code, with how its variables get their values.

use crate::code::{Code, Expr, ExprId, Function, Intrinsic, Item, Place, VariableId};
use crate::report::Site;
use typed_index_collections::TiVec;

/// Longest way through conversions.
const MAX_STEPS: usize = 32;

/// How a variable gets its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Definition {
    /// From the caller, and it stays so.
    Parameter,
    /// From this one expression.
    Once(ExprId),
    /// In several ways, in part, or in one that is not seen.
    Several,
}

/// A function while it is read.
pub(super) struct Source<'c> {
    pub code: &'c Code,
    pub function: &'c Function,
    definitions: TiVec<VariableId, Definition>,
}

impl<'c> Source<'c> {
    pub fn new(code: &'c Code, function: &'c Function) -> Self {
        Self { code, function, definitions: definitions(code, function) }
    }

    /// The kernel itself.
    pub fn kernel(code: &'c Code) -> Option<Self> {
        Some(Self::new(code, code.functions.first()?))
    }

    /// The function in which an access stands, the access and its address.
    pub fn around(code: &'c Code, access: Site) -> Option<(Self, ExprId, ExprId)> {
        code.functions.iter().find_map(|function| {
            let mut found = None;
            code.walk(&function.body, |item| {
                if let Item::Expr(id) = item
                    && code.expr(id).site == access
                    && let Some(address) = accessed(&code.expr(id).kind)
                {
                    found = Some((id, address));
                }
                found.is_none()
            });
            let (id, address) = found?;
            Some((Self::new(code, function), id, address))
        })
    }

    pub fn kind(&self, id: ExprId) -> &'c Expr {
        &self.code.expr(id).kind
    }

    pub fn site(&self, id: ExprId) -> Site {
        self.code.expr(id).site
    }

    /// An expression without the conversions around it, and without the wrapping of a negative index.
    pub fn bare(&self, id: ExprId) -> ExprId {
        let mut at = id;
        for _ in 0..MAX_STEPS {
            match self.kind(at) {
                Expr::Convert(inner) => at = *inner,
                Expr::Intrinsic(Intrinsic::WrapIndex { .. }, operands) => match operands.first() {
                    Some(index) => at = *index,
                    None => break,
                },
                _ => break,
            }
        }
        at
    }

    /// The variable whose whole value an expression is, through conversions.
    pub fn variable(&self, id: ExprId) -> Option<VariableId> {
        match self.kind(self.bare(id)) {
            Expr::Read(Place::Register { variable, count: 0, .. }) => Some(*variable),
            _ => None,
        }
    }

    /// The parameter whose value, as the caller gives it, an expression is.
    pub fn parameter(&self, id: ExprId) -> Option<VariableId> {
        self.variable(id).filter(|variable| self.definition(*variable) == Definition::Parameter)
    }

    pub fn definition(&self, variable: VariableId) -> Definition {
        self.definitions.get(variable).copied().unwrap_or(Definition::Several)
    }

    /// The one value that a variable is ever given.
    pub fn value(&self, variable: VariableId) -> Option<ExprId> {
        match self.definition(variable) {
            Definition::Once(value) => Some(value),
            _ => None,
        }
    }

    pub fn name(&self, variable: VariableId) -> &'c str {
        self.function.variables.get(variable).map_or("", |variable| variable.name.as_str())
    }

    /// An integer as written, through conversions and a sign.
    pub fn integer(&self, id: ExprId) -> Option<i64> {
        match self.kind(self.bare(id)) {
            Expr::Int(value) => Some(*value),
            Expr::Unary(crate::code::UnaryOp::Minus, value) => match self.kind(self.bare(*value)) {
                Expr::Int(value) => value.checked_neg(),
                _ => None,
            },
            _ => None,
        }
    }

    /// The number that an expression always is: literals, variables that are given one value, and what is computed of them.
    pub fn constant(&self, id: ExprId, depth: u32) -> Option<i64> {
        if depth == 0 {
            return None;
        }
        let inner = |id: ExprId| self.constant(id, depth - 1);
        let value = match self.kind(self.bare(id)) {
            Expr::Int(value) => Some(*value),
            Expr::Read(Place::Register { variable, count: 0, .. }) => inner(self.value(*variable)?),
            Expr::Binary(op, a, b) => cudalint_numbers::exact(*op, inner(*a)?, inner(*b)?),
            Expr::Select(condition, a, b) => inner(if inner(*condition)? == 0 { *b } else { *a }),
            Expr::And(a, b) => match inner(*a)? {
                0 => Some(0),
                _ => inner(*b).map(|b| i64::from(b != 0)),
            },
            Expr::Or(a, b) => match inner(*a)? {
                0 => inner(*b).map(|b| i64::from(b != 0)),
                _ => Some(1),
            },
            _ => None,
        };
        // Conversions change no number that all types hold that are met on the way.
        let most = if self.code.expr(id).ty.bytes().is_some_and(|bytes| bytes < 4) { 127 } else { i64::from(i32::MAX) };
        value.filter(|value| (0..=most).contains(value))
    }

    /// What an address begins at, and the expressions that say which element is meant: `a[i][j]` has two.
    pub fn indices(&self, access: ExprId, address: ExprId) -> (ExprId, Vec<ExprId>) {
        let mut found = Vec::new();
        let mut at = address;
        for _ in 0..MAX_STEPS {
            match self.kind(at) {
                Expr::Offset { base, index, .. } => {
                    self.split(*index, self.site(access), &mut found, 0);
                    at = *base;
                }
                Expr::Convert(inner) => at = *inner,
                _ => break,
            }
        }
        (at, found)
    }

    /// Takes apart what lowering made of several subscripts, `(i * extent) + j`: it stands where the access does.
    fn split(&self, index: ExprId, access: Site, found: &mut Vec<ExprId>, depth: usize) {
        let index = self.bare(index);
        match self.kind(index) {
            Expr::Binary(crate::code::BinaryOp::Add, a, b) if self.site(index) == access && depth < MAX_STEPS => {
                self.split(*a, access, found, depth + 1);
                self.split(*b, access, found, depth + 1);
            }
            Expr::Binary(crate::code::BinaryOp::Mul, a, _) if self.site(index) == access && depth < MAX_STEPS => {
                self.split(*a, access, found, depth + 1);
            }
            Expr::Int(_) => {}
            _ => found.push(index),
        }
    }

    /// Whether two expressions are the same as written: equal variables, numbers and operations.
    pub fn alike(&self, a: ExprId, b: ExprId) -> bool {
        let mut open = vec![(a, b)];
        let mut steps = 0;
        while let Some((a, b)) = open.pop() {
            steps += 1;
            if steps > 256 {
                return false;
            }
            if a == b {
                continue;
            }
            match (self.kind(a), self.kind(b)) {
                (Expr::Int(x), Expr::Int(y)) if x == y => {}
                (Expr::Builtin(x), Expr::Builtin(y)) if x == y => {}
                (Expr::ObjectAddress(x), Expr::ObjectAddress(y)) if x == y => {}
                (Expr::VariableAddress(x), Expr::VariableAddress(y)) if x == y => {}
                (
                    Expr::Read(Place::Register { variable: x, first: i, count: m }),
                    Expr::Read(Place::Register { variable: y, first: j, count: n }),
                ) if (x, i, m) == (y, j, n) => {}
                (Expr::Read(Place::Memory { address: x, .. }), Expr::Read(Place::Memory { address: y, .. })) => {
                    open.push((*x, *y));
                }
                (Expr::Convert(x), Expr::Convert(y)) => open.push((*x, *y)),
                (Expr::Binary(p, x, y), Expr::Binary(q, v, w)) if p == q => open.extend([(*x, *v), (*y, *w)]),
                (Expr::Offset { base: x, index: i, stride: m }, Expr::Offset { base: y, index: j, stride: n })
                    if m == n =>
                {
                    open.extend([(*x, *y), (*i, *j)]);
                }
                (Expr::Intrinsic(Intrinsic::WrapIndex { .. }, x), Expr::Intrinsic(Intrinsic::WrapIndex { .. }, y)) => {
                    open.extend(x.iter().copied().zip(y.iter().copied()));
                }
                _ => return false,
            }
        }
        true
    }
}

/// The address that an expression reads or writes.
pub(super) fn accessed(kind: &Expr) -> Option<ExprId> {
    match kind {
        Expr::Read(Place::Memory { address, .. })
        | Expr::Write(Place::Memory { address, .. }, _)
        | Expr::Update { place: Place::Memory { address, .. }, .. } => Some(*address),
        Expr::Intrinsic(Intrinsic::Atomic { .. } | Intrinsic::LoadCached | Intrinsic::StoreCached, operands) => {
            operands.first().copied()
        }
        _ => None,
    }
}

fn definitions(code: &Code, function: &Function) -> TiVec<VariableId, Definition> {
    let mut writes: TiVec<VariableId, (u32, Option<ExprId>)> = vec![(0, None); function.variables.len()].into();
    code.walk(&function.body, |item| {
        let Item::Expr(id) = item else { return true };
        let (variable, value) = match &code.expr(id).kind {
            Expr::Write(Place::Register { variable, count: 0, .. }, value) => (*variable, Some(*value)),
            Expr::Write(Place::Register { variable, .. }, _)
            | Expr::Update { place: Place::Register { variable, .. }, .. } => (*variable, None),
            _ => return true,
        };
        if let Some((count, known)) = writes.get_mut(variable) {
            *count += 1;
            *known = value;
        }
        true
    });
    let of = |(index, (variable, write)): (usize, (&crate::code::Variable, (u32, Option<ExprId>)))| {
        let parameter = index < function.parameters as usize;
        match write {
            _ if variable.in_memory => Definition::Several,
            (0, _) if parameter => Definition::Parameter,
            (1, Some(value)) if !parameter => Definition::Once(value),
            _ => Definition::Several,
        }
    };
    function.variables.iter().zip(writes).enumerate().map(of).collect()
}
