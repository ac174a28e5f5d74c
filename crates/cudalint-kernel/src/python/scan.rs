//! Where the variables of a Python function are assigned and used: how often, under which statements, what comes first.
//!
//! What a plain assignment among the function's own statements gives a name has nothing to do with what the name stood for
//! before: each such assignment begins a variable of its own, as in Numba's static single assignment. Those after the first
//! get numbers beyond the function's locals.

use cudalint_program::ir::{self, Dialect, Expr, LocalId, Module, PythonExpr, PythonStmt, Stmt};
use cudalint_program::visit;
use rustc_hash::{FxHashMap, FxHashSet};

/// Deepest nesting of statements that is followed; variables below it are taken to be assigned many times.
const MAX_NESTING: usize = 100;

/// What is known of a variable.
#[derive(Clone, Debug, Default)]
pub(super) struct Uses {
    /// Assignments, loops over it counted twice.
    pub definitions: u32,
    /// Whether some assignment stands in a loop.
    pub in_loop: bool,
    /// The block that all its occurrences stand in.
    common: Vec<u32>,
    /// Whether its first occurrence assigns it, directly in that block.
    first: Option<(ir::ExprId, Vec<u32>)>,
    met: bool,
    /// Whether it occurs outside of the loops that it is the variable of.
    pub beyond_loops: bool,
}

impl Uses {
    /// Whether the variable comes into being at this assignment: it is met nowhere before and nowhere outside of the block
    /// around.
    pub fn begins_at(&self, target: ir::ExprId) -> bool {
        self.first.as_ref().is_some_and(|(first, path)| *first == target && *path == self.common)
    }
}

/// What is known of all variables of a function.
#[derive(Debug, Default)]
pub(super) struct Scan {
    uses: FxHashMap<LocalId, Uses>,
    /// Which variable an occurrence of a local means, where it is not the first of that name.
    meant: FxHashMap<ir::ExprId, LocalId>,
    /// The locals that variables beyond the function's own are versions of.
    origins: Vec<LocalId>,
    /// How many locals the function has.
    own: usize,
}

struct Walk<'m> {
    module: &'m Module,
    scan: Scan,
    path: Vec<u32>,
    loops: u32,
    next: u32,
    /// Variables of the loops around.
    targets: Vec<LocalId>,
    /// The variable that a local stands for here, where it is not the first.
    current: FxHashMap<LocalId, LocalId>,
    versions: bool,
}

impl Scan {
    /// Of a function as Numba compiles it; `cupyx.jit` has one variable for each name, as C does.
    pub fn of(module: &Module, function: &ir::Function, dialect: Dialect) -> Self {
        let mut walk = Walk {
            module,
            scan: Self { own: function.locals.len(), ..Self::default() },
            path: Vec::new(),
            loops: 0,
            next: 0,
            targets: Vec::new(),
            current: FxHashMap::default(),
            versions: dialect != Dialect::CupyJit,
        };
        for index in 0..function.param_count {
            let uses = walk.scan.uses.entry(LocalId(index)).or_default();
            uses.definitions = 1;
            uses.met = true;
        }
        if let Some(body) = &function.body {
            walk.block(body);
        }
        walk.scan
    }

    pub fn get(&self, variable: LocalId) -> Uses {
        self.uses.get(&variable).cloned().unwrap_or_default()
    }

    /// The variable that an occurrence of a local means.
    pub fn variable(&self, local: LocalId, occurrence: ir::ExprId) -> LocalId {
        self.meant.get(&occurrence).copied().unwrap_or(local)
    }

    /// The local that a variable is a version of.
    pub fn origin(&self, variable: LocalId) -> LocalId {
        variable.index().checked_sub(self.own).and_then(|at| self.origins.get(at)).copied().unwrap_or(variable)
    }
}

impl Walk<'_> {
    fn inside(&mut self, block: &[ir::StmtId]) {
        self.next += 1;
        self.path.push(self.next);
        self.block(block);
        self.path.pop();
    }

    fn looped(&mut self, condition: Option<ir::ExprId>, body: &[ir::StmtId]) {
        self.next += 1;
        self.path.push(self.next);
        self.loops += 1;
        if let Some(condition) = condition {
            self.expr(condition);
        }
        self.block(body);
        self.loops -= 1;
        self.path.pop();
    }

    fn block(&mut self, block: &[ir::StmtId]) {
        if self.path.len() > MAX_NESTING {
            return;
        }
        let module = self.module;
        for id in block {
            let Some(node) = module.stmts.get(*id) else { continue };
            self.statement(&node.kind);
        }
    }

    fn statement(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Expr(expr) | Stmt::Return(Some(expr)) => self.expr(*expr),
            Stmt::If { condition, then, otherwise, .. } => {
                self.expr(*condition);
                self.inside(then);
                self.inside(otherwise);
            }
            Stmt::Loop { init, condition, body, .. } => {
                self.block(init);
                self.looped(*condition, body);
            }
            Stmt::Block(block) => self.block(block),
            Stmt::Try { body, handlers } => {
                self.inside(body);
                for handler in handlers {
                    self.inside(handler);
                }
            }
            Stmt::Unknown { exprs, blocks } => {
                for expr in exprs {
                    self.expr(*expr);
                }
                for block in blocks {
                    self.inside(block);
                }
            }
            Stmt::Python(python) => self.python(python),
            _ => {}
        }
    }

    fn python(&mut self, stmt: &PythonStmt) {
        if let PythonStmt::For { target, iterable, body, otherwise } = stmt {
            self.expr(*iterable);
            self.next += 1;
            self.path.push(self.next);
            self.loops += 1;
            let outer = self.targets.len();
            let mut bound = Vec::new();
            targets(self.module, *target, &mut bound);
            self.targets.extend(bound.iter().map(|(local, _)| *local));
            for (local, id) in bound {
                let variable = self.met(local, id, true);
                self.scan.uses.entry(variable).or_default().definitions += 1;
            }
            self.expr(*target);
            self.block(body);
            self.targets.truncate(outer);
            self.loops -= 1;
            self.path.pop();
            self.inside(otherwise);
            return;
        }
        for expr in stmt.exprs() {
            self.expr(expr);
        }
        if let PythonStmt::With { items, .. } = stmt {
            for (_, target) in items {
                let mut bound = Vec::new();
                if let Some(target) = target {
                    targets(self.module, *target, &mut bound);
                }
                for (local, id) in bound {
                    self.met(local, id, true);
                }
            }
        }
        for block in stmt.blocks() {
            self.inside(block);
        }
    }

    fn expr(&mut self, root: ir::ExprId) {
        let module = self.module;
        let mut assigned: FxHashSet<ir::ExprId> = FxHashSet::default();
        let mut found: Vec<(LocalId, ir::ExprId, u32)> = Vec::new();
        visit::walk_expr(module, root, |id, expr| {
            match expr {
                Expr::Assign { op: None, target, .. } => {
                    let mut bound = Vec::new();
                    targets(module, *target, &mut bound);
                    assigned.extend(bound.iter().map(|(_, id)| *id));
                }
                Expr::Assign { op: Some(_), target, .. } | Expr::Step { target, .. } => {
                    if let Some(Expr::Local(local)) = module.exprs.get(*target).map(|node| &node.kind) {
                        found.push((*local, *target, 2));
                    }
                }
                Expr::Python(python) => {
                    if let PythonExpr::Comprehension { clauses, .. } = &**python {
                        for clause in clauses {
                            let mut bound = Vec::new();
                            targets(module, clause.target, &mut bound);
                            found.extend(bound.into_iter().map(|(local, id)| (local, id, 2)));
                        }
                    }
                }
                Expr::Local(local) => found.push((*local, id, u32::from(assigned.contains(&id)))),
                _ => {}
            }
            true
        });
        // What the function always comes to, as a statement of its own.
        let plain = match module.exprs.get(root).map(|node| &node.kind) {
            Some(Expr::Assign { op: None, target, .. }) if self.path.is_empty() => {
                let mut bound = Vec::new();
                targets(module, *target, &mut bound);
                bound
            }
            _ => Vec::new(),
        };
        for (local, id, definition) in found {
            if plain.contains(&(local, id)) {
                self.begin(local);
            }
            let variable = self.met(local, id, definition == 1);
            if definition == 2 {
                self.scan.uses.entry(variable).or_default().definitions += 1;
            }
        }
    }

    /// From here on a local stands for another variable, if it has stood for one before.
    fn begin(&mut self, local: LocalId) {
        let before = self.current.get(&local).copied().unwrap_or(local);
        if self.versions && self.scan.uses.get(&before).is_some_and(|uses| uses.met) {
            let next = LocalId((self.scan.own + self.scan.origins.len()) as u32);
            self.scan.origins.push(local);
            self.current.insert(local, next);
        }
    }

    fn met(&mut self, local: LocalId, id: ir::ExprId, defined: bool) -> LocalId {
        let variable = self.current.get(&local).copied().unwrap_or(local);
        if variable != local {
            self.scan.meant.insert(id, variable);
        }
        let uses = self.scan.uses.entry(variable).or_default();
        if uses.met {
            let shared = uses.common.iter().zip(&self.path).take_while(|(a, b)| a == b).count();
            uses.common.truncate(shared);
        } else {
            uses.met = true;
            uses.common.clone_from(&self.path);
            uses.first = defined.then(|| (id, self.path.clone()));
        }
        if defined {
            uses.definitions += 1;
            uses.in_loop |= self.loops > 0;
        }
        uses.beyond_loops |= !self.targets.contains(&local);
        variable
    }
}

/// The variables that an assignment to `target` binds.
pub(super) fn targets(module: &Module, target: ir::ExprId, out: &mut Vec<(LocalId, ir::ExprId)>) {
    visit::targets(module, target, |id| {
        if let Some(Expr::Local(local)) = module.exprs.get(id).map(|node| &node.kind) {
            out.push((*local, id));
        }
    });
}
