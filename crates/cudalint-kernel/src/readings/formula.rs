//! Index formulas that are wrong however they are guarded: `blockIdx.x * gridDim.x + threadIdx.x` and its kin. They are
//! read off the code of an access that an execution has shown to go wrong; a formula alone is no defect.

use super::source::Source;
use crate::code::{BinaryOp, Builtin, Code, Expr, ExprId, Item};
use crate::report::Site;

/// Nesting of expressions and definitions that is followed.
const MAX_DEPTH: u32 = 24;
/// Terms of a sum that are looked at.
const MAX_TERMS: usize = 32;

/// A wrong index formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formula {
    /// The sum or product as written.
    pub site: Site,
    /// What is wrong with it.
    pub mistake: Mistake,
}

/// Ways in which an index formula is wrong. Axes are 0, 1, 2 for x, y, z.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// `blockIdx.a * gridDim.a`: blocks are counted by the number of blocks, not of threads.
    GridForBlock(u8),
    /// `blockIdx.a + threadIdx.a`: blocks are counted by one.
    BlockAdded(u8),
    /// `blockIdx.a * blockDim.b + threadIdx.a`.
    OtherAxis(u8, u8),
    /// `threadIdx.a` alone, with several blocks.
    NoBlock(u8),
}

/// The wrong formulas in the index of an access.
pub fn formulas(code: &Code, access: Site) -> Vec<Formula> {
    let Some((source, access, address)) = Source::around(code, access) else { return Vec::new() };
    let mut found = Vec::new();
    let (base, indices) = source.indices(access, address);
    let mut blocks = source.parameter(base).is_none();
    let mut threads = None;
    for index in indices {
        let mut terms = Vec::new();
        source.terms(index, &mut terms, 0);
        found.extend(source.judge(&terms));
        source.mentions(index, &mut blocks, &mut threads);
    }
    if let (false, Some((axis, expr))) = (blocks, threads) {
        found.push(source.formula(expr, Mistake::NoBlock(axis)));
    }
    // What a macro is expanded to stands nowhere.
    found.retain(|formula| formula.site != source.site(access));
    found
}

/// Whether the index of an access is a sum or product of constants and of parameters of these names.
pub fn is_made_of(code: &Code, access: Site, names: &[String]) -> bool {
    let Some((source, access, address)) = Source::around(code, access) else { return false };
    let (_, indices) = source.indices(access, address);
    !indices.is_empty() && indices.iter().all(|index| source.is_free(*index, names))
}

/// Whether a condition has a parameter of one of these names in it, as the caller gives it.
pub fn asks_for(code: &Code, condition: Site, names: &[String]) -> bool {
    code.functions.iter().any(|function| {
        let source = Source::new(code, function);
        let mut found = false;
        code.walk(&function.body, |item| {
            if let Item::Expr(id) = item
                && code.expr(id).site == condition
            {
                code.walk_expr(id, |part, _| {
                    found |= source.parameter(part).is_some_and(|it| names.iter().any(|name| name == source.name(it)));
                    !found
                });
            }
            !found
        });
        found
    })
}

/// A term of a sum: its factors that are built-in variables, whether it has others, and where it stands.
struct Term {
    builtins: Vec<Builtin>,
    others: bool,
    expr: ExprId,
}

impl Term {
    fn is(&self, wanted: &[Builtin]) -> bool {
        !self.others
            && self.builtins.len() == wanted.len()
            && wanted.iter().all(|builtin| self.builtins.contains(builtin))
    }
}

impl Source<'_> {
    /// Whether an expression is a number that each thread has for itself: a sum of built-in variables.
    pub(super) fn is_own_number(&self, value: ExprId) -> bool {
        let mut terms = Vec::new();
        self.terms(value, &mut terms, 0);
        let threads = terms.iter().flat_map(|term| &term.builtins).any(|it| matches!(it, Builtin::ThreadIdx(_)));
        threads && terms.iter().all(|term| !term.others)
    }

    fn is_free(&self, index: ExprId, free: &[String]) -> bool {
        let mut named = false;
        let mut plain = true;
        self.code.walk_expr(index, |id, kind| {
            match kind {
                Expr::Read(_) => {
                    named = true;
                    plain &= self.parameter(id).is_some_and(|it| free.iter().any(|free| free == self.name(it)));
                }
                Expr::Int(_) | Expr::Binary(..) | Expr::Convert(_) => {}
                _ => plain = false,
            }
            plain
        });
        named && plain
    }

    fn judge(&self, terms: &[Term]) -> Option<Formula> {
        let has = |wanted: &[Builtin]| terms.iter().find(|term| term.is(wanted));
        for axis in 0..3 {
            if has(&[Builtin::ThreadIdx(axis)]).is_none() {
                continue;
            }
            if let Some(term) = has(&[Builtin::BlockIdx(axis), Builtin::GridDim(axis)]) {
                return Some(self.formula(term.expr, Mistake::GridForBlock(axis)));
            }
            if let Some(term) = has(&[Builtin::BlockIdx(axis)]) {
                return Some(self.formula(term.expr, Mistake::BlockAdded(axis)));
            }
            for other in 0..3 {
                if other != axis
                    && has(&[Builtin::ThreadIdx(other)]).is_none()
                    && let Some(term) = has(&[Builtin::BlockIdx(axis), Builtin::BlockDim(other)])
                {
                    return Some(self.formula(term.expr, Mistake::OtherAxis(axis, other)));
                }
            }
        }
        None
    }

    fn formula(&self, expr: ExprId, mistake: Mistake) -> Formula {
        Formula { site: self.site(expr), mistake }
    }

    /// Splits a sum into its terms, through conversions and variables that are given a value once.
    fn terms(&self, id: ExprId, terms: &mut Vec<Term>, depth: u32) {
        if depth > MAX_DEPTH || terms.len() >= MAX_TERMS {
            return;
        }
        let id = self.bare(id);
        if let Expr::Binary(BinaryOp::Add, a, b) = self.kind(id) {
            self.terms(*a, terms, depth + 1);
            self.terms(*b, terms, depth + 1);
        } else if let Some(value) = self.variable(id).and_then(|variable| self.value(variable)) {
            self.terms(value, terms, depth + 1);
        } else {
            let mut term = Term { builtins: Vec::new(), others: false, expr: id };
            self.factors(id, &mut term, depth + 1);
            terms.push(term);
        }
    }

    fn factors(&self, id: ExprId, term: &mut Term, depth: u32) {
        let id = self.bare(id);
        match self.kind(id) {
            _ if depth > MAX_DEPTH => term.others = true,
            Expr::Binary(BinaryOp::Mul, a, b) => {
                self.factors(*a, term, depth + 1);
                self.factors(*b, term, depth + 1);
            }
            Expr::Builtin(Builtin::WarpSize) => term.others = true,
            Expr::Builtin(builtin) => term.builtins.push(*builtin),
            _ => match self.variable(id).and_then(|variable| self.value(variable)) {
                Some(value) => self.factors(value, term, depth + 1),
                None => term.others = true,
            },
        }
    }

    /// Whether an expression depends on the block's place, and where it names the thread's. What has a value that is not
    /// followed may depend on both.
    fn mentions(&self, id: ExprId, blocks: &mut bool, threads: &mut Option<(u8, ExprId)>) {
        let mut open = vec![(id, 0)];
        while let Some((id, depth)) = open.pop() {
            if depth > MAX_DEPTH {
                *blocks = true;
                return;
            }
            self.code.walk_expr(id, |id, kind| {
                match kind {
                    Expr::Builtin(Builtin::BlockIdx(_)) => *blocks = true,
                    Expr::Builtin(Builtin::ThreadIdx(axis)) => {
                        threads.get_or_insert((*axis, id));
                    }
                    Expr::Builtin(_) => {}
                    Expr::Int(_) | Expr::Binary(..) | Expr::Convert(_) | Expr::Unary(..) => return true,
                    _ => match self.variable(id).and_then(|variable| self.value(variable)) {
                        Some(value) => open.push((value, depth + 1)),
                        None => *blocks = true,
                    },
                }
                false
            });
        }
    }
}
