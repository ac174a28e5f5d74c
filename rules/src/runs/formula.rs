//! Index formulas that are wrong however they are guarded: `blockIdx.x * gridDim.x + threadIdx.x` and its kin. They are
//! read off the source of the access that an execution has shown to go wrong; a formula alone is no defect.

use super::races::Race;
use cudalint_engine::ModuleContext;
use cudalint_program::ir::{BinaryOp, Expr, ExprId, Function, LocalId, Module};
use cudalint_program::visit::{Item, walk, walk_expr};
use cudalint_replay::runs::KernelRun;
use cudalint_replay::runs::report::{AccessKind, RaceScope, Site};

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

/// Ways in which an index formula is wrong. Axes are `x`, `y`, `z`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// `blockIdx.a * gridDim.a`: blocks are counted by the number of blocks, not of threads.
    GridForBlock(char),
    /// `blockIdx.a + threadIdx.a`: blocks are counted by one.
    BlockAdded(char),
    /// `blockIdx.a * blockDim.b + threadIdx.a`.
    OtherAxis(char, char),
    /// `threadIdx.a` alone, with several blocks.
    NoBlock(char),
}

/// The wrong formula behind an access that leaves its buffer.
pub(super) fn out_of_bounds(context: &ModuleContext<'_>, run: &KernelRun, access: Site) -> Option<Formula> {
    let source = Source::around(context, access)?;
    source.formulas(access)?.into_iter().find(|formula| match formula.mistake {
        Mistake::GridForBlock(axis) => differ(run, axis, axis),
        Mistake::OtherAxis(axis, other) => extent(run.block, axis) != extent(run.block, other),
        // Too small an index leads to no place outside; without a block it is the thread's own.
        Mistake::BlockAdded(_) | Mistake::NoBlock(_) => false,
    })
}

/// Whether which element an access means is up to the callers alone: they are not to blame for a number that was chosen
/// here, and that has nothing to do with any size.
pub(super) fn is_up_to_callers(context: &ModuleContext<'_>, run: &KernelRun, access: Site) -> bool {
    if run.free.is_empty() {
        return false;
    }
    let Some(source) = Source::around(context, access) else { return false };
    let Some(place) = source.place(access) else { return false };
    let (_, indices) = source.indices(place);
    !indices.is_empty() && indices.iter().all(|index| source.is_free(*index, &run.free))
}

/// The wrong formula behind two blocks that write one element.
pub(super) fn of_race(context: &ModuleContext<'_>, run: &KernelRun, race: &Race<'_>) -> Option<Formula> {
    let plain = |kind| matches!(kind, AccessKind::Read | AccessKind::Write);
    if race.scope != RaceScope::Grid || race.first.site != race.second.site {
        return None;
    }
    let source = Source::around(context, race.first.site)?;
    source.formulas(race.first.site)?.into_iter().find(|formula| match formula.mistake {
        Mistake::GridForBlock(axis) => differ(run, axis, axis),
        Mistake::OtherAxis(axis, other) => extent(run.block, axis) != extent(run.block, other),
        Mistake::BlockAdded(axis) => extent(run.block, axis) > 1,
        // An update of what all blocks share wants an atomic operation, not another index.
        Mistake::NoBlock(_) => plain(race.first.kind) && plain(race.second.kind),
    })
}

fn extent(extents: [u32; 3], axis: char) -> u32 {
    let [x, y, z] = extents;
    match axis {
        'x' => x,
        'y' => y,
        _ => z,
    }
}

/// Whether the grid has another extent along `axis` than the block along `other`: else the formula is right by luck.
fn differ(run: &KernelRun, axis: char, other: char) -> bool {
    run.grid_known && extent(run.grid, axis) != extent(run.block, other)
}

/// A built-in variable with its axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Builtin {
    Thread(char),
    Block(char),
    BlockExtent(char),
    GridExtent(char),
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

/// The function in which an access stands.
pub(super) struct Source<'a> {
    pub(super) module: &'a Module,
    site: Site,
    pub(super) function: &'a Function,
    /// For each local how it gets its value.
    definitions: Vec<Definition>,
}

/// How a local gets its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Definition {
    /// From the caller, and it stays so.
    Parameter,
    /// From this one expression.
    Once(ExprId),
    /// In several ways, or in one that is not seen.
    Several,
}

impl<'a> Source<'a> {
    pub(super) fn around(context: &'a ModuleContext<'_>, access: Site) -> Option<Self> {
        let module = context.project.module(access.module);
        let function = module
            .functions
            .iter()
            .filter(|function| function.body.is_some() && function.span.contains(access.span))
            .min_by_key(|function| function.span.len())?;
        let definitions = definitions(module, function);
        Some(Self { module, site: access, function, definitions })
    }

    /// The wrong formulas in the index of an access.
    fn formulas(&self, access: Site) -> Option<Vec<Formula>> {
        let mut found = Vec::new();
        let (base, indices) = self.indices(self.place(access)?);
        let mut blocks = !matches!(self.kind(base), Some(Expr::Local(local))
            if self.definitions.get(local.index()) == Some(&Definition::Parameter));
        let mut threads = None;
        for index in indices {
            let mut terms = Vec::new();
            self.terms(index, &mut terms, 0);
            found.extend(self.judge(&terms));
            self.mentions(index, &mut blocks, &mut threads, 0);
        }
        if let (false, Some((axis, expr))) = (blocks, threads) {
            found.extend(self.formula(expr, Mistake::NoBlock(axis)));
        }
        Some(found)
    }

    /// Whether an expression is a number that each thread has for itself: a sum of built-in variables.
    pub(super) fn is_own_number(&self, value: ExprId) -> bool {
        let mut terms = Vec::new();
        self.terms(value, &mut terms, 0);
        let threads = terms.iter().flat_map(|term| &term.builtins).any(|it| matches!(it, Builtin::Thread(_)));
        threads && terms.iter().all(|term| !term.others)
    }

    /// The expression of an access.
    fn place(&self, access: Site) -> Option<ExprId> {
        let body = self.function.body.as_ref()?;
        let mut place = None;
        walk(self.module, self.function, body, |item| {
            if let Item::Expr(id) = item
                && let Some(node) = self.module.exprs.get(id)
                && node.span == access.span
                && matches!(node.kind, Expr::Index { .. } | Expr::Deref(_))
                && node.expansion.is_none()
            {
                place.get_or_insert(id);
            }
            place.is_none()
        });
        place
    }

    /// Whether an index is a sum or product of constants and of parameters of these names.
    fn is_free(&self, index: ExprId, free: &[String]) -> bool {
        let mut named = false;
        let mut plain = true;
        walk_expr(self.module, index, |_, expr| {
            match expr {
                Expr::Local(local) => {
                    let parameter = self.definitions.get(local.index()) == Some(&Definition::Parameter);
                    let name = self.function.locals.get(*local).map(|local| local.name.as_str());
                    named = true;
                    plain &= parameter && name.is_some_and(|name| free.iter().any(|free| free == name));
                }
                Expr::Int { .. } | Expr::Binary(..) | Expr::Cast { .. } => {}
                _ => plain = false,
            }
            plain
        });
        named && plain
    }

    /// What is indexed, and the expressions that say which element is meant: `a[i][j]` has two, `*(p + i)` one.
    fn indices(&self, place: ExprId) -> (ExprId, Vec<ExprId>) {
        let mut found = Vec::new();
        let mut at = place;
        for _ in 0..MAX_DEPTH {
            match self.kind(at) {
                Some(Expr::Index { base, indices }) => {
                    found.extend(indices);
                    at = *base;
                }
                Some(Expr::Deref(pointer)) => {
                    found.push(*pointer);
                    break;
                }
                Some(Expr::Binary(BinaryOp::Add, ..)) => {
                    found.push(at);
                    break;
                }
                _ => break,
            }
        }
        (at, found)
    }

    fn judge(&self, terms: &[Term]) -> Option<Formula> {
        let has = |wanted: &[Builtin]| terms.iter().find(|term| term.is(wanted));
        for axis in ['x', 'y', 'z'] {
            let thread = has(&[Builtin::Thread(axis)]);
            if thread.is_none() {
                continue;
            }
            if let Some(term) = has(&[Builtin::Block(axis), Builtin::GridExtent(axis)]) {
                return self.formula(term.expr, Mistake::GridForBlock(axis));
            }
            if let Some(term) = has(&[Builtin::Block(axis)]) {
                return self.formula(term.expr, Mistake::BlockAdded(axis));
            }
            for other in ['x', 'y', 'z'] {
                if other != axis
                    && has(&[Builtin::Thread(other)]).is_none()
                    && let Some(term) = has(&[Builtin::Block(axis), Builtin::BlockExtent(other)])
                {
                    return self.formula(term.expr, Mistake::OtherAxis(axis, other));
                }
            }
        }
        None
    }

    fn formula(&self, expr: ExprId, mistake: Mistake) -> Option<Formula> {
        let span = self.module.exprs.get(expr)?.span;
        Some(Formula { site: Site { module: self.site.module, span }, mistake })
    }

    pub(super) fn kind(&self, id: ExprId) -> Option<&'a Expr> {
        self.module.exprs.get(id).map(|node| &node.kind)
    }

    fn definition(&self, local: LocalId) -> Option<ExprId> {
        match self.definitions.get(local.index()) {
            Some(Definition::Once(value)) => Some(*value),
            _ => None,
        }
    }

    /// Splits a sum into its terms, through casts and variables that are given a value once.
    fn terms(&self, id: ExprId, terms: &mut Vec<Term>, depth: u32) {
        if depth > MAX_DEPTH || terms.len() >= MAX_TERMS {
            return;
        }
        match self.kind(id) {
            Some(Expr::Binary(BinaryOp::Add, a, b)) => {
                self.terms(*a, terms, depth + 1);
                self.terms(*b, terms, depth + 1);
            }
            Some(Expr::Cast { value, .. }) => self.terms(*value, terms, depth + 1),
            Some(Expr::Local(local)) if self.definition(*local).is_some() => {
                if let Some(value) = self.definition(*local) {
                    self.terms(value, terms, depth + 1);
                }
            }
            _ => {
                let mut term = Term { builtins: Vec::new(), others: false, expr: id };
                self.factors(id, &mut term, depth + 1);
                terms.push(term);
            }
        }
    }

    fn factors(&self, id: ExprId, term: &mut Term, depth: u32) {
        if depth > MAX_DEPTH {
            term.others = true;
            return;
        }
        match self.kind(id) {
            Some(Expr::Binary(BinaryOp::Mul, a, b)) => {
                self.factors(*a, term, depth + 1);
                self.factors(*b, term, depth + 1);
            }
            Some(Expr::Cast { value, .. }) => self.factors(*value, term, depth + 1),
            Some(Expr::Local(local)) if self.definition(*local).is_some() => {
                if let Some(value) = self.definition(*local) {
                    self.factors(value, term, depth + 1);
                }
            }
            Some(kind) => match self.builtin(kind) {
                Some(builtin) => term.builtins.push(builtin),
                None => term.others = true,
            },
            None => term.others = true,
        }
    }

    /// Whether an expression depends on the block's place, and where it names the thread's. What has a value that is not
    /// followed may depend on both.
    fn mentions(&self, id: ExprId, blocks: &mut bool, threads: &mut Option<(char, ExprId)>, depth: u32) {
        let mut open = vec![(id, depth)];
        while let Some((id, depth)) = open.pop() {
            if depth > MAX_DEPTH {
                *blocks = true;
                return;
            }
            walk_expr(self.module, id, |id, kind| {
                match self.builtin(kind) {
                    Some(Builtin::Block(_)) => *blocks = true,
                    Some(Builtin::Thread(axis)) => {
                        threads.get_or_insert((axis, id));
                    }
                    Some(_) => {}
                    None => match kind {
                        Expr::Local(local) => match self.definition(*local) {
                            Some(value) => open.push((value, depth + 1)),
                            None => *blocks = true,
                        },
                        Expr::Int { .. } | Expr::Binary(..) | Expr::Cast { .. } | Expr::Unary(..) => return true,
                        _ => *blocks = true,
                    },
                }
                false
            });
        }
    }

    fn builtin(&self, kind: &Expr) -> Option<Builtin> {
        let Expr::Member { base, name, .. } = kind else { return None };
        // `threadIdx.x`, and `cuda.threadIdx.x` in Python.
        let of = match self.kind(*base)? {
            Expr::Name { path, .. } => path.last()?,
            Expr::Member { name, .. } => name,
            _ => return None,
        };
        let axis = match &**name {
            "x" => 'x',
            "y" => 'y',
            "z" => 'z',
            _ => return None,
        };
        match &**of {
            "threadIdx" => Some(Builtin::Thread(axis)),
            "blockIdx" => Some(Builtin::Block(axis)),
            "blockDim" => Some(Builtin::BlockExtent(axis)),
            "gridDim" => Some(Builtin::GridExtent(axis)),
            _ => None,
        }
    }
}

fn definitions(module: &Module, function: &Function) -> Vec<Definition> {
    let parameters = function.param_count as usize;
    let mut found: Vec<Definition> = function
        .locals
        .iter()
        .enumerate()
        .map(|(index, local)| match local.init {
            _ if index < parameters => Definition::Parameter,
            Some(value) => Definition::Once(value),
            None => Definition::Several,
        })
        .collect();
    // A variable without an initializer may be given its value by one assignment.
    let mut bare: Vec<bool> = found.iter().map(|definition| *definition == Definition::Several).collect();
    let local_of = |id: ExprId| match module.exprs.get(id).map(|node| &node.kind) {
        Some(Expr::Local(local)) => Some(local.index()),
        _ => None,
    };
    let Some(body) = &function.body else { return found };
    walk(module, function, body, |item| {
        let Item::Expr(id) = item else { return true };
        let (changed, value) = match module.exprs.get(id).map(|node| &node.kind) {
            Some(Expr::Assign { op: None, target, value }) => (local_of(*target), Some(*value)),
            Some(Expr::Assign { target, .. } | Expr::Step { target, .. } | Expr::AddressOf(target)) => {
                (local_of(*target), None)
            }
            _ => (None, None),
        };
        if let Some(local) = changed
            && let (Some(slot), Some(bare)) = (found.get_mut(local), bare.get_mut(local))
        {
            *slot = match value {
                Some(value) if *bare => Definition::Once(value),
                _ => Definition::Several,
            };
            *bare = false;
        }
        true
    });
    found
}
