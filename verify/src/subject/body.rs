//! One function while the uses of its pointers are read: what variables stand for, and what the CUDA runtime and the C
//! library do with their arguments.

use super::undeclared;

use super::pointers::{Uses, Var};
use crate::api;
use cudalint_program::Project;
use cudalint_program::api::effects::{Arg, DeviceOp, Direction, Effect, Library, Space};
use cudalint_program::api::{ApiId, Constant, DIRECTION, constant};
use cudalint_program::ir::{BinaryOp, Expr, ExprId, Function, LocalId, Module, ModuleId, Type};
use cudalint_program::visit::Item;
use std::collections::{BTreeMap, BTreeSet};

/// Where a variable's memory is known to come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Home {
    Host,
    Device,
    Managed,
}

/// One function while it is read.
pub(super) struct Body<'p> {
    pub project: &'p Project,
    pub id: ModuleId,
    pub module: &'p Module,
    pub function: &'p Function,
    /// Variables that stand for another one, with the difference of levels.
    pub aliases: BTreeMap<LocalId, (Var, i16)>,
    pub homes: BTreeMap<Var, Home>,
    /// Index and dereference expressions whose address is taken, and names that are called or launched.
    pub not_accessed: BTreeSet<ExprId>,
    pub uses: BTreeMap<(Var, i16), Uses>,
    pub assigned: BTreeSet<Var>,
}

impl Body<'_> {
    /// The variable that an expression's value comes from, and how often it is followed: `p` is 0, `*p` and `p[i]` are
    /// 1, `&p` is -1.
    pub fn trace(&self, id: ExprId, depth: u32) -> Option<(Var, i16)> {
        if depth > 32 {
            return None;
        }
        match &self.module.exprs.get(id)?.kind {
            Expr::Local(local) => {
                let mut at = (Var::Local(*local), 0);
                for _ in 0..16 {
                    let Var::Local(local) = &at.0 else { break };
                    match self.aliases.get(local) {
                        Some((of, level)) => at = (of.clone(), at.1 + level),
                        None => break,
                    }
                }
                Some(at)
            }
            Expr::Name { .. } => self.global(id).map(|var| (var, 0)),
            Expr::Deref(inner) => self.trace(*inner, depth + 1).map(|(local, level)| (local, level + 1)),
            Expr::Index { base, .. } => self.trace(*base, depth + 1).map(|(local, level)| (local, level + 1)),
            Expr::AddressOf(inner) => self.trace(*inner, depth + 1).map(|(local, level)| (local, level - 1)),
            Expr::Cast { value, .. } => self.trace(*value, depth + 1),
            Expr::Step { target, .. } => self.trace(*target, depth + 1),
            Expr::Binary(BinaryOp::Add | BinaryOp::Sub, a, b) => {
                let (left, right) = (self.trace(*a, depth + 1), self.trace(*b, depth + 1));
                left.filter(|found| self.is_pointer(found)).or_else(|| right.filter(|found| self.is_pointer(found)))
            }
            _ => None,
        }
    }

    /// The variable of the file that a name means.
    pub fn global(&self, id: ExprId) -> Option<Var> {
        let Expr::Name { path, targs } = &self.module.exprs.get(id)?.kind else { return None };
        match self.project.global(self.id, &self.function.scope, path) {
            Some(entry) => (entry.module == self.id).then_some(Var::Global(entry.index)),
            None => {
                let [name] = &*path.segments else { return None };
                let undeclared =
                    targs.is_empty() && undeclared::is_undeclared(self.project, self.id, self.function, name);
                undeclared.then(|| Var::Undeclared(name.clone()))
            }
        }
    }

    /// Whether a variable followed so often still is a pointer or array.
    pub fn is_pointer(&self, (var, level): &(Var, i16)) -> bool {
        let variable = match var {
            Var::Local(local) => self.function.locals.get(*local),
            Var::Global(index) => self.module.globals.get(*index as usize),
            // Nothing says what it is: as a whole it may be a pointer.
            Var::Undeclared(_) => return *level == 0,
        };
        let Some(variable) = variable else { return false };
        let mut ty = variable.ty;
        let mut left = *level;
        for _ in 0..16 {
            match self.module.types.get(ty) {
                Some(Type::Qualified { ty: inner, .. } | Type::Reference(inner)) => ty = *inner,
                Some(Type::Pointer(inner) | Type::Array(inner, _)) if left > 0 => {
                    left -= 1;
                    ty = *inner;
                }
                Some(Type::Pointer(_) | Type::Array(..)) => return true,
                _ => return false,
            }
        }
        false
    }

    pub fn mark(&mut self, arg: ExprId, set: impl FnOnce(&mut Uses)) {
        if let Some((local, level)) = self.trace(arg, 0).filter(|found| self.is_pointer(found)) {
            set(self.uses.entry((local, level)).or_default());
        } else if let Some((local, level)) = self.trace(arg, 0).filter(|(_, level)| *level < 0) {
            set(self.uses.entry((local, level)).or_default());
        }
    }

    /// Notes what variables stand for and where their memory comes from.
    pub fn learn(&mut self, item: Item) {
        match item {
            Item::Declare(local) => {
                let Some(variable) = self.function.locals.get(local) else { return };
                if matches!(self.module.types.get(variable.ty), Some(Type::Array(..))) {
                    self.homes.insert(Var::Local(local), Home::Host);
                }
                if let Some(init) = variable.init {
                    self.assigned.insert(Var::Local(local));
                    self.given(Var::Local(local), init);
                }
            }
            Item::Expr(id) => match self.module.exprs.get(id).map(|node| &node.kind) {
                Some(Expr::Assign { op: None, target, value }) => {
                    match self.module.exprs.get(*target).map(|node| &node.kind) {
                        Some(Expr::Local(local)) => self.given(Var::Local(*local), *value),
                        Some(Expr::Name { .. }) => {
                            if let Some(var) = self.global(*target) {
                                self.given(var, *value);
                            }
                        }
                        _ => {}
                    }
                }
                Some(Expr::Call { callee, args }) => {
                    let Some(Expr::Name { path, .. }) = self.module.exprs.get(*callee).map(|node| &node.kind) else {
                        return;
                    };
                    let Some(api) = path.last().and_then(|name| api::named(name)) else { return };
                    let space = api.effects.iter().find_map(|effect| match effect {
                        Effect::Allocates { space, out: Arg(0), .. } => Some(*space),
                        _ => None,
                    });
                    let home = match space {
                        Some(Space::Device) => Home::Device,
                        Some(Space::Host | Space::Pinned) => Home::Host,
                        Some(Space::Managed) => Home::Managed,
                        None => return,
                    };
                    if let Some((var, -1)) = args.first().and_then(|arg| self.trace(*arg, 0)) {
                        self.homes.insert(var.clone(), home);
                        self.assigned.insert(var);
                    }
                }
                _ => {}
            },
            Item::Stmt(_) => {}
        }
    }

    fn given(&mut self, var: Var, value: ExprId) {
        let plain = self.without_casts(value);
        match self.module.exprs.get(plain).map(|node| &node.kind) {
            Some(Expr::New { .. } | Expr::Str(_)) => {
                self.homes.insert(var, Home::Host);
            }
            Some(Expr::Call { callee, .. }) => {
                let name = match self.module.exprs.get(*callee).map(|node| &node.kind) {
                    Some(Expr::Name { path, .. }) => path.last(),
                    _ => None,
                };
                let effects = name.and_then(|name| api::named(name)).map_or(&[][..], |api| api.effects);
                if effects.iter().any(|effect| matches!(effect, Effect::Allocates { space: Space::Host, .. })) {
                    self.homes.insert(var, Home::Host);
                }
            }
            _ => {
                if let Some((of, level)) = self.trace(value, 0)
                    && let Var::Local(local) = var
                    && of != var
                    && local.0 >= self.function.param_count
                    && self.is_pointer(&(of.clone(), level))
                {
                    self.aliases.entry(local).or_insert((of, level));
                }
            }
        }
    }

    fn without_casts(&self, mut id: ExprId) -> ExprId {
        for _ in 0..16 {
            match self.module.exprs.get(id).map(|node| &node.kind) {
                Some(Expr::Cast { value, .. }) => id = *value,
                _ => break,
            }
        }
        id
    }

    fn home(&self, arg: ExprId) -> Option<Home> {
        let (var, level) = self.trace(arg, 0)?;
        if level < 0 {
            return Some(Home::Host);
        }
        self.homes.get(&var).copied().filter(|_| level == 0)
    }

    /// Marks the arguments of a call of the CUDA runtime or the C library; whether its effects are known.
    pub fn library_call(&mut self, name: &str, args: &[ExprId]) -> bool {
        let Some(api) = api::named(name).filter(|api| !api.effects.is_empty()) else { return false };
        for effect in api.effects {
            self.effect(api, effect, args);
        }
        true
    }

    fn effect(&mut self, api: ApiId, effect: &Effect, args: &[ExprId]) {
        // What the C library works on is the host's, whatever device code calls by the same names.
        let of_host = api.library == Library::C;
        let host = |uses: &mut Uses| uses.host = true;
        let device = |uses: &mut Uses| uses.device = true;
        let pinned = |uses: &mut Uses| {
            uses.host = true;
            uses.pinned = true;
        };
        match *effect {
            Effect::Copies { to, from, direction: Direction::By(kind), .. } => self.copy(args, to, from, kind),
            Effect::Copies { to, from, direction, .. } => {
                let (to_device, from_device) = match direction {
                    Direction::HostToDevice => (true, false),
                    Direction::DeviceToHost => (false, true),
                    Direction::DeviceToDevice => (true, true),
                    _ if of_host => (false, false),
                    _ => return,
                };
                for (arg, on_device) in [(to, to_device), (from, from_device)] {
                    self.mark_at(args, arg, if on_device { device } else { host });
                }
            }
            Effect::CopiesSymbol { other, .. } => self.mark_at(args, other, host),
            Effect::Sets { pointer, .. } => self.mark_at(args, pointer, if of_host { host } else { device }),
            Effect::Frees(pointer) if of_host => self.mark_at(args, pointer, |uses| {
                uses.host = true;
                uses.freed_by_free = true;
            }),
            Effect::Frees(pointer) if api.frees_pinned() => self.mark_at(args, pointer, |uses| {
                uses.host = true;
                uses.pinned = true;
                uses.freed_on_device = true;
            }),
            Effect::Frees(pointer) => self.mark_at(args, pointer, |uses| {
                uses.device = true;
                uses.freed_on_device = true;
            }),
            Effect::Pins(pointer) | Effect::Unpins(pointer) | Effect::Reads(pointer) | Effect::Writes(pointer) => {
                self.mark_at(args, pointer, host);
            }
            Effect::Maps { of, .. } => self.mark_at(args, of, pinned),
            Effect::Allocates { out, .. } if out != Arg::RETURNED => {
                self.mark_at(args, out, host);
                if let Some((var, -1)) = out.of(args).and_then(|arg| self.trace(arg, 0)) {
                    self.assigned.insert(var);
                }
            }
            Effect::Device(DeviceOp::Atomic { .. }) => self.mark_at(args, Arg(0), device),
            _ => {}
        }
    }

    fn mark_at(&mut self, args: &[ExprId], arg: Arg, set: impl FnOnce(&mut Uses)) {
        if let Some(arg) = arg.of(args) {
            self.mark(arg, set);
        }
    }

    /// The two sides of a copy by its direction. Where the memory of one side is known to be elsewhere, the direction is
    /// wrong, and the copy was meant to go the other way.
    fn copy(&mut self, args: &[ExprId], to: Arg, from: Arg, kind: Arg) {
        let kind = kind.of(args).and_then(|kind| self.module.exprs.get(kind));
        let direction = match kind.map(|node| &node.kind) {
            Some(Expr::Name { path, .. }) => path.last().and_then(|name| constant(name)),
            _ => None,
        };
        // `cudaMemcpyKind`: 1 to the device, 2 from it, 3 both, 0 neither; 4 leaves it to the pointers.
        let (to_device, from_device) = match direction {
            Some(Constant { ty: DIRECTION, value: value @ 0..=3 }) => (value & 1 != 0, value & 2 != 0),
            _ => return,
        };
        let sides = [(to, to_device), (from, from_device)];
        let wrong = |(arg, device): &(Arg, bool)| {
            arg.of(args).and_then(|arg| self.home(arg)).is_some_and(|home| match home {
                Home::Host => *device,
                Home::Device => !*device,
                Home::Managed => false,
            })
        };
        let reversed = sides.iter().any(wrong);
        for (arg, device) in sides {
            self.mark_at(args, arg, |uses| if device == reversed { uses.host = true } else { uses.device = true });
        }
    }
}
