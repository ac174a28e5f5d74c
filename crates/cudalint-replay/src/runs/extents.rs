//! What the source around a launch says of its block: the constants that each extent may be, from all that its variables are given.
//! Which of them goes with which path is not asked: conditions may tie a block to a launch in ways that nobody follows.

use cudalint_program::ir::{BinaryOp, Expr, ExprId, Function, FunctionId, LocalId, Module, ModuleId, Path, Stmt, Type};
use cudalint_program::types::{Ty, TypeEnv};
use cudalint_program::visit::{self, Item};
use cudalint_program::{Name, Project, Scope};
use cudalint_syntax::Span;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::rc::Rc;

/// How deep variables and functions are followed to what they give.
const MAX_DEPTH: u32 = 5;
/// Most values of one extent that are told apart.
const MAX_VALUES: usize = 8;
/// Expressions that are looked at for one launch; where they are spent, nothing is written of its block.
const MAX_LOOKS: u32 = 100_000;
/// Bytes that are searched for a name in the time of one look.
const BYTES_A_LOOK: usize = 256;

/// What is written of one extent of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Axis {
    /// Values that it may have, in order.
    pub values: Vec<u32>,
    /// Whether it may have others.
    pub open: bool,
}

/// What is written of the extents along x, y, z.
pub(super) type Block = [Axis; 3];

/// Of a block of which nothing is written.
pub(super) fn open_block() -> Block {
    [Axis::open(), Axis::open(), Axis::open()]
}

impl From<Option<u32>> for Axis {
    fn from(value: Option<u32>) -> Self {
        value.map_or_else(Self::open, |value| Self { values: vec![value], open: false })
    }
}

impl Axis {
    /// Nothing is written of it.
    pub const fn open() -> Self {
        Self { values: Vec::new(), open: true }
    }

    /// The one value that it has.
    pub fn only(&self) -> Option<u32> {
        match self.values.as_slice() {
            [one] if !self.open => Some(*one),
            _ => None,
        }
    }

    /// Whether nothing is written of it.
    pub const fn is_free(&self) -> bool {
        self.values.is_empty()
    }

    /// Whether it may be this.
    pub fn admits(&self, extent: u32) -> bool {
        self.open || self.values.contains(&extent)
    }

    /// The value to try in place of a guessed one: one that is written, where there may be others as well.
    pub fn nearest(&self, guessed: u32) -> u32 {
        let is_written = self.values.iter().any(|value| *value > 1);
        if self.values.contains(&guessed) || self.open && !is_written {
            return guessed;
        }
        let below = self.values.iter().copied().filter(|value| *value <= guessed).max();
        below.or_else(|| self.values.first().copied()).unwrap_or(guessed)
    }
}

/// How much is written of a block.
pub(super) fn told(block: &Block) -> usize {
    let of = |axis: &Axis| if axis.only().is_some() { 2 } else { usize::from(!axis.is_free()) };
    block.iter().map(of).sum()
}

/// Integers that an expression may be: those that are written, and whether there may be others.
struct Numbers {
    values: BTreeSet<i64>,
    open: bool,
}

impl Numbers {
    const fn open() -> Self {
        Self { values: BTreeSet::new(), open: true }
    }

    fn one(value: i64) -> Self {
        Self { values: BTreeSet::from([value]), open: false }
    }

    fn add(&mut self, other: Self) {
        self.values.extend(other.values);
        self.open |= other.open;
        while self.values.len() > MAX_VALUES {
            self.values.pop_last();
            self.open = true;
        }
    }

    /// All of several; open where there is none.
    fn all(several: impl IntoIterator<Item = Self>) -> Self {
        let mut all = Self { values: BTreeSet::new(), open: false };
        for one in several {
            all.add(one);
        }
        all.open |= all.values.is_empty();
        all
    }

    fn axis(self) -> Axis {
        let fits = |value: &i64| u32::try_from(*value).ok().filter(|value| *value > 0);
        Axis { values: self.values.iter().filter_map(fits).collect(), open: self.open }
    }
}

/// The expression for the block of the launch at a place.
pub(super) fn block_of(project: &Project, id: ModuleId, at: Span) -> Option<ExprId> {
    let launch = project.module(id).exprs.iter().find_map(|node| match &node.kind {
        Expr::Launch(launch) if node.span == at => Some(launch),
        _ => None,
    })?;
    launch.config.get(1).copied()
}

/// What the source says of the block of the launch at a place.
pub(super) fn of_launch(project: &Project, id: ModuleId, at: Span) -> Option<Block> {
    let block = block_of(project, id, at)?;
    Some(Reader::around(project, id, at)?.block(block))
}

/// Reads the source of one function.
pub(super) struct Reader<'p> {
    pub project: &'p Project,
    pub id: ModuleId,
    scope: Scope<'p>,
    pub module: &'p Module,
    pub function: &'p Function,
    /// Looks that are left, for it and the readers of other functions that it asks.
    left: Rc<Cell<u32>>,
}

impl<'p> Reader<'p> {
    /// Of the function around a place.
    pub fn around(project: &'p Project, id: ModuleId, at: Span) -> Option<Self> {
        let of = function_around(project.module(id), at)?;
        Self::of(project, id, of, Rc::new(Cell::new(MAX_LOOKS)))
    }

    fn of(project: &'p Project, id: ModuleId, of: FunctionId, left: Rc<Cell<u32>>) -> Option<Self> {
        let function = project.function_at(id, of)?;
        let scope = Scope::new(project, id, Some(of), &TypeEnv::default());
        Some(Self { project, id, scope, module: project.module(id), function, left })
    }

    /// Of another function.
    fn other(&self, id: ModuleId, of: FunctionId) -> Option<Self> {
        Self::of(self.project, id, of, Rc::clone(&self.left))
    }

    /// Takes looks; `false` when they are spent.
    fn look(&self, times: usize) -> bool {
        self.left.set(self.left.get().saturating_sub(u32::try_from(times).unwrap_or(u32::MAX)));
        self.left.get() > 0
    }

    /// Whether a text spells a name.
    fn spells(&self, text: &str, name: &Name) -> bool {
        self.look(1 + text.len() / BYTES_A_LOOK) && text.contains(name.as_str())
    }

    pub fn kind(&self, id: ExprId) -> Option<&'p Expr> {
        self.module.exprs.get(id).map(|node| &node.kind)
    }

    /// What an expression for a block may be.
    pub fn block(&self, id: ExprId) -> Block {
        let block = self.extents(id, 0);
        if self.left.get() > 0 { block } else { open_block() }
    }

    fn extents(&self, id: ExprId, depth: u32) -> Block {
        if depth > MAX_DEPTH || !self.look(1) {
            return open_block();
        }
        let axes = |args: &[ExprId]| {
            let one = || Axis::from(Some(1));
            let axis = |axis: usize| args.get(axis).map_or_else(one, |arg| self.numbers(*arg, depth + 1).axis());
            [axis(0), axis(1), axis(2)]
        };
        let is_vector = matches!(self.scope.type_of(id).value(), Ty::Vector { .. });
        match self.kind(id) {
            Some(Expr::Construct { args, .. }) if is_vector => match args.as_slice() {
                [one] => self.extents(*one, depth + 1),
                args => axes(args),
            },
            Some(Expr::InitList(args)) => axes(args),
            Some(Expr::Cast { value, .. }) => self.extents(*value, depth + 1),
            Some(Expr::Select(_, a, b)) if is_vector => {
                either(&self.extents(*a, depth + 1), &self.extents(*b, depth + 1))
            }
            Some(Expr::Local(local)) if is_vector => {
                if local.0 < self.function.param_count {
                    return open_block();
                }
                let given = self.values(*local).into_iter().map(|value| self.extents(value, depth + 1));
                let mut block = given.reduce(|a, b| either(&a, &b)).unwrap_or_else(open_block);
                for (axis, value) in self.members_given(*local) {
                    let given = value.map_or_else(Axis::open, |value| self.numbers(value, depth + 1).axis());
                    block[axis] = joined(&block[axis], &given);
                }
                if self.is_changed(*local) { open_block() } else { block }
            }
            Some(_) if matches!(self.scope.type_of(id).value(), Ty::Int { .. }) => {
                [self.numbers(id, depth).axis(), Axis::from(Some(1)), Axis::from(Some(1))]
            }
            _ => open_block(),
        }
    }

    /// The numbers that an expression may be, as far as the source alone fixes them: of a variable all that it is given, of a member what
    /// its class gives it, of a function what it returns.
    fn numbers(&self, id: ExprId, depth: u32) -> Numbers {
        if let Some(value) = self.scope.eval(id) {
            return Numbers::one(value);
        }
        let Some(kind) = self.kind(id).filter(|_| depth < MAX_DEPTH && self.look(1)) else { return Numbers::open() };
        let each = |exprs: &[ExprId]| Numbers::all(exprs.iter().map(|expr| self.numbers(*expr, depth + 1)));
        match kind {
            Expr::Cast { value, .. } => self.numbers(*value, depth + 1),
            Expr::Select(_, a, b) => each(&[*a, *b]),
            Expr::Local(local) if local.0 < self.function.param_count => {
                if self.is_changed(*local) || !self.values(*local).is_empty() {
                    return Numbers::open();
                }
                self.by_callers(local.0 as usize, depth)
            }
            Expr::Local(local) => {
                let mut all = each(&self.values(*local));
                all.open |= self.is_changed(*local);
                all
            }
            Expr::Name { path, .. } if path.segments.len() == 1 && !self.function.scope.segments.is_empty() => {
                path.last().map_or_else(Numbers::open, |name| self.member(name, depth))
            }
            Expr::Member { base, name, .. } if matches!(self.kind(*base), Some(Expr::This)) => self.member(name, depth),
            Expr::Index { base, indices } if indices.len() == 1 => self.elements(*base, depth),
            Expr::Call { callee, args } => {
                let Some((module, function, _)) = self.scope.callee(*callee, args) else { return Numbers::open() };
                let Some(reader) = self.other(module, function) else { return Numbers::open() };
                let returned = reader.returned();
                Numbers::all(returned.iter().map(|value| reader.numbers(*value, depth + 1)))
            }
            _ => Numbers::open(),
        }
    }

    /// The elements of an array that is only given a list of numbers.
    fn elements(&self, base: ExprId, depth: u32) -> Numbers {
        let (init, reader) = match self.kind(base) {
            Some(Expr::Local(local)) if !self.is_changed(*local) => match self.values(*local).as_slice() {
                [one] => (*one, None),
                _ => return Numbers::open(),
            },
            Some(Expr::Name { path, .. }) => {
                let Some(entry) = self.project.global(self.id, &self.function.scope, path) else {
                    return Numbers::open();
                };
                let Some(init) = self.project.global_at(entry).and_then(|global| global.init) else {
                    return Numbers::open();
                };
                let scope = Scope::new(self.project, entry.module, None, &TypeEnv::default());
                let module = self.project.module(entry.module);
                let left = Rc::clone(&self.left);
                let reader =
                    Self { project: self.project, id: entry.module, scope, module, function: self.function, left };
                (init, Some(reader))
            }
            _ => return Numbers::open(),
        };
        let reader = reader.as_ref().unwrap_or(self);
        match reader.kind(init) {
            Some(Expr::InitList(all) | Expr::Construct { args: all, .. }) => Numbers::all(all.iter().map(|value| {
                reader.scope.eval(*value).filter(|_| depth < MAX_DEPTH).map_or_else(Numbers::open, Numbers::one)
            })),
            _ => Numbers::open(),
        }
    }

    /// What a member of the class around is given, by methods of the class and whoever else names it.
    fn member(&self, name: &Name, depth: u32) -> Numbers {
        let Some(entry) = self.project.record(self.id, &Path::default(), &self.function.scope) else {
            return Numbers::open();
        };
        let Some(record) = self.project.record_at(entry) else { return Numbers::open() };
        let Some(field) = record.fields.iter().find(|field| field.name == *name) else { return Numbers::open() };
        let mut given = Vec::new();
        if let Some(init) = field.init {
            let scope = Scope::inside(self.project, entry.module, self.function.scope.clone(), &TypeEnv::default());
            given.push(scope.eval(init).map_or_else(Numbers::open, Numbers::one));
        }
        for id in self.project.modules() {
            let module = self.project.module(id);
            for (of, function) in module.functions.iter_enumerated() {
                let inside = function.scope.last() == self.function.scope.last();
                if !self.spells(self.project.text(id, function.span), name) {
                    continue;
                }
                let Some(reader) = self.other(id, of) else { continue };
                for (_, values) in function.member_inits.iter().filter(|(field, _)| inside && field == name) {
                    given.push(match values.as_slice() {
                        [one] => reader.numbers(*one, depth + 1),
                        _ => Numbers::open(),
                    });
                }
                reader.each(|kind| {
                    let names = |target: ExprId| match reader.kind(target) {
                        Some(Expr::Name { path, .. }) => {
                            inside && path.segments.len() == 1 && path.last() == Some(name)
                        }
                        Some(Expr::Member { name: named, .. }) => named == name,
                        _ => false,
                    };
                    match kind {
                        Expr::Assign { op: None, target, value } if names(*target) => {
                            given.push(reader.numbers(*value, depth + 1));
                        }
                        Expr::Assign { target, .. } | Expr::Step { target, .. } if names(*target) => {
                            given.push(Numbers::open());
                        }
                        Expr::AddressOf(target) if names(*target) => given.push(Numbers::open()),
                        _ => {}
                    }
                });
            }
        }
        Numbers::all(given)
    }

    /// What the calls in sight give a parameter; open where something else than a call names the function.
    fn by_callers(&self, number: usize, depth: u32) -> Numbers {
        let name = &self.function.name;
        if name.is_empty() || depth + 1 >= MAX_DEPTH {
            return Numbers::open();
        }
        let Some(mentions) = self.project.mentions(name).filter(|mentions| mentions.count == mentions.calls.len())
        else {
            return Numbers::open();
        };
        let mut given = Vec::new();
        for (id, call) in mentions.calls.iter().copied() {
            let module = self.project.module(id);
            if !self.look(module.functions.len()) {
                return Numbers::open();
            }
            let node = module.exprs.get(call);
            let arg =
                node.and_then(|node| if let Expr::Call { args, .. } = &node.kind { args.get(number) } else { None });
            let around = node.and_then(|node| function_around(module, node.span)).and_then(|of| self.other(id, of));
            given.push(match (arg, around) {
                (Some(arg), Some(reader)) => reader.numbers(*arg, depth + 1),
                _ => Numbers::open(),
            });
        }
        Numbers::all(given)
    }

    /// What the function returns.
    fn returned(&self) -> Vec<ExprId> {
        let mut all = Vec::new();
        let Some(body) = &self.function.body else { return all };
        visit::walk(self.module, self.function, body, |item| {
            if let Item::Stmt(id) = item
                && let Some(Stmt::Return(Some(value))) = self.module.stmts.get(id).map(|node| &node.kind)
            {
                all.push(*value);
            }
            true
        });
        all
    }

    /// What a variable is given as a whole; of a parameter, which callers give something, what it is given beside that.
    pub fn values(&self, local: LocalId) -> Vec<ExprId> {
        let is_parameter = local.0 < self.function.param_count;
        let init = self.function.locals.get(local).and_then(|variable| variable.init).filter(|_| !is_parameter);
        let mut all: Vec<ExprId> = init.into_iter().filter(|init| !self.is_empty(*init)).collect();
        self.each(|kind| match kind {
            Expr::Assign { op: None, target, value } if self.is_local(*target, local) => all.push(*value),
            _ => {}
        });
        all
    }

    /// Whether an initializer gives nothing that is meant to stay: `dim3 block;`.
    fn is_empty(&self, init: ExprId) -> bool {
        matches!(self.kind(init), Some(Expr::Construct { args, .. }) if args.is_empty())
    }

    /// Whether a variable is counted up or down, or can be written through its address.
    fn is_changed(&self, local: LocalId) -> bool {
        let mut changed = false;
        self.each(|kind| {
            changed |= match kind {
                Expr::Assign { op: Some(_), target, .. } | Expr::Step { target, .. } => self.is_local(*target, local),
                Expr::AddressOf(target) => self.is_local(*target, local),
                // `in >> block`.
                Expr::Binary(BinaryOp::Shr, from, to) => {
                    self.is_local(*to, local) && !matches!(self.scope.type_of(*from).value(), Ty::Int { .. })
                }
                Expr::Call { callee, args } => args
                    .iter()
                    .enumerate()
                    .any(|(number, arg)| self.is_local(*arg, local) && !self.is_by_value(*callee, args, number)),
                _ => false,
            };
        });
        changed
    }

    /// Whether a call surely leaves a variable as it is, as far as the function is in sight.
    fn is_by_value(&self, callee: ExprId, args: &[ExprId], number: usize) -> bool {
        // A function out of sight is mostly one that only reads: `min(block, 32)`, `printf("%d", block)`.
        let Some((module, function, _)) = self.scope.callee(callee, args) else { return true };
        let Some(function) = self.project.function_at(module, function) else { return true };
        let param = function.params().iter().nth(number);
        param.is_some_and(|param| !matches!(self.project.module(module).types.get(param.ty), Some(Type::Reference(_))))
    }

    /// The axes of a variable that are given something by themselves, and what.
    fn members_given(&self, local: LocalId) -> Vec<(usize, Option<ExprId>)> {
        let mut axes = Vec::new();
        self.each(|kind| {
            let (target, value) = match kind {
                Expr::Assign { op: None, target, value } => (*target, Some(*value)),
                Expr::Assign { target, .. } | Expr::Step { target, .. } => (*target, None),
                _ => return,
            };
            if let Some(Expr::Member { base, name, .. }) = self.kind(target)
                && self.is_local(*base, local)
                && let Some(axis) = ["x", "y", "z"].iter().position(|axis| *axis == name.as_str())
            {
                axes.push((axis, value));
            }
        });
        axes
    }

    fn is_local(&self, id: ExprId, local: LocalId) -> bool {
        matches!(self.kind(id), Some(Expr::Local(found)) if *found == local)
    }

    fn each(&self, mut look: impl FnMut(&Expr)) {
        let Some(body) = &self.function.body else { return };
        visit::walk(self.module, self.function, body, |item| {
            if let Item::Expr(id) = item
                && let Some(kind) = self.kind(id)
            {
                look(kind);
            }
            self.look(1)
        });
    }
}

/// The innermost function around a place.
fn function_around(module: &Module, at: Span) -> Option<FunctionId> {
    let around = module.functions.iter_enumerated().filter(|(_, function)| function.span.contains(at));
    around.min_by_key(|(_, function)| function.span.end - function.span.start).map(|(of, _)| of)
}

/// One of two blocks.
fn either(a: &Block, b: &Block) -> Block {
    [joined(&a[0], &b[0]), joined(&a[1], &b[1]), joined(&a[2], &b[2])]
}

fn joined(a: &Axis, b: &Axis) -> Axis {
    let values: BTreeSet<u32> = a.values.iter().chain(&b.values).copied().collect();
    let open = a.open || b.open || values.len() > MAX_VALUES;
    Axis { values: values.into_iter().take(MAX_VALUES).collect(), open }
}

/// The blocks that are written out, with what was guessed where nothing is written; none where only one can be meant.
pub(super) fn combinations(written: &Block, guessed: [u32; 3]) -> Vec<[u32; 3]> {
    let mut all = vec![guessed];
    for (number, axis) in written.iter().enumerate().filter(|(_, axis)| !axis.is_free()) {
        let with = |block: &[u32; 3]| {
            let block = *block;
            axis.values.iter().map(move |value| {
                let mut block = block;
                block[number] = *value;
                block
            })
        };
        all = all.iter().flat_map(with).take(MAX_VALUES).collect();
    }
    if written.iter().all(|axis| axis.only().is_some() || axis.is_free()) {
        all.clear();
    }
    all
}
