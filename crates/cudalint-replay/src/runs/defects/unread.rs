//! Memory of the device whose contents nobody looks at: it is copied to the host into an array that the program never reads, or
//! it stays there in a function that measures time. Benchmarks have such memory so that there is something to measure.
//!
//! It goes by what is written in the function that allocates: of the two variables, that of the device and that of the host, each
//! use is one of the few that look at nothing. A use of any other kind is taken for one that reads.

use crate::clock::takes_times;
use crate::facts::{Buffer, Event, EventKind, Site};
use crate::runs::computed::launch_at;
use crate::speaks::speaks_by_parameters;
use cudalint_program::api::ApiId;
use cudalint_program::api::effects::Effect;
use cudalint_program::ir::{
    Expr, ExprId, Function, LaunchExpr, LocalId, Module, ModuleId, Path, Stmt, StmtId, Type, TypeId,
};
use cudalint_program::visit::{Item, operands, walk};
use cudalint_program::{Name, Project, ir};
use typed_index_collections::TiSlice;

/// Casts and the like around a variable that are looked through.
const MAX_DEPTH: u32 = 8;

/// Variables that kernels are given together, at most.
const MAX_MET: usize = 64;

/// Whether nothing that the program does after a launch of the kernel reads what is in the memory; it has been copied to the host,
/// or the function measures time.
pub(super) fn is_unread(project: &Project, buffer: &Buffer) -> bool {
    let Some(reader) = Reader::around(project, buffer.site) else { return false };
    let mut copies = 0;
    let Some(device) = reader.named(&buffer.name) else { return false };
    reader.is_of_device(device)
        && reader.uses(device).is_some_and(|uses| {
            let kernel = uses.iter().find_map(|of| match of {
                Use::Launch(launch) => reader.kernel_of(launch),
                _ => None,
            });
            uses.iter().all(|of| match of {
                Use::Allocation | Use::Written => true,
                Use::Launch(other) => kernel.is_some() && kernel == reader.kernel_of(other),
                Use::CopiedTo(host) => {
                    copies += 1;
                    reader.destination(*host).is_some_and(|host| reader.is_never_read(host, device))
                }
            }) && kernel.is_some()
                && (copies > 0 || reader.measures())
        })
}

/// Whether nobody reads anything of what a launch computes: the function around it measures time, and all memory that the kernel is
/// given stays where it is, whatever other kernels are given it.
pub(super) fn computes_for_nobody(project: &Project, launch: Site) -> bool {
    let Some(reader) = Reader::around(project, launch).filter(Reader::measures) else { return false };
    let Some(of) = launch_at(reader.module, reader.function, launch) else { return false };
    let mut given = Vec::new();
    reader.keeps_to_itself(of, &mut given) && !given.is_empty() && reader.stays(given)
}

/// Whether a copy or a set fills memory that nobody reads, in a function that measures time: it stays where it is, with all that kernels
/// make of it.
pub fn only_measured(project: &Project, event: &Event) -> bool {
    let (EventKind::Copy { destination, .. } | EventKind::Set { destination, .. }) = &event.kind else { return false };
    let Some(reader) = Reader::around(project, event.site).filter(Reader::measures) else { return false };
    let Some(filled) = reader.named(destination.text.trim()) else { return false };
    reader.is_never_read(filled, filled) || reader.stays(vec![filled])
}

/// What is done with a variable, where that reads nothing on the host.
pub(crate) enum Use<'m> {
    /// It is given memory, or gives it back.
    Allocation,
    /// Something is stored in the memory.
    Written,
    /// The memory is copied to there.
    CopiedTo(ExprId),
    /// A kernel is given it.
    Launch(&'m LaunchExpr),
}

/// A function of the host while it is asked what it does with its variables.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'p> {
    pub project: &'p Project,
    pub id: ModuleId,
    pub module: &'p Module,
    pub function: &'p Function,
}

/// Whether a type is a number, be it constant.
fn is_number(types: &TiSlice<TypeId, Type>, ty: TypeId) -> bool {
    let plain = match types.get(ty) {
        Some(Type::Qualified { ty, .. }) => types.get(*ty),
        plain => plain,
    };
    matches!(plain, Some(Type::Int { .. } | Type::Float { .. } | Type::Bool))
}

impl<'p> Reader<'p> {
    /// The function around a place, where all of it is understood.
    pub fn around(project: &'p Project, site: Site) -> Option<Self> {
        let module = project.module(site.module);
        let here = |function: &&Function| function.span.contains(site.span) && function.body.is_some();
        let around = module.functions.iter().filter(here);
        let function = around.min_by_key(|function| function.span.end - function.span.start)?;
        let whole = !function.damaged && function.parent.is_none();
        whole.then_some(Self { project, id: site.module, module, function })
    }

    /// The one variable of a name.
    pub fn named(&self, name: &str) -> Option<LocalId> {
        let named = self.function.locals.iter_enumerated().filter(|(_, local)| local.name == *name).map(|(id, _)| id);
        match named.collect::<Vec<_>>()[..] {
            [only] => Some(only),
            _ => None,
        }
    }

    /// Whether a variable is a pointer of this function that only an allocation gives memory.
    pub fn is_of_device(&self, local: LocalId) -> bool {
        local.0 >= self.function.param_count && self.is_pointer(local) && self.starts_empty(local)
    }

    /// Whether nothing reads what is in a variable's array on the host. What is copied from it to `device` stays unread there.
    fn is_never_read(&self, host: LocalId, device: LocalId) -> bool {
        let Some(variable) = self.function.locals.get(host) else { return false };
        let array = matches!(self.module.types.get(variable.ty), Some(Type::Array(..)));
        host.0 >= self.function.param_count
            && variable.space == ir::Space::Ordinary
            && (array || self.is_number(host) || self.is_pointer(host) && self.starts_empty(host))
            && self.uses(host).is_some_and(|uses| {
                uses.iter().all(|of| match of {
                    Use::Allocation | Use::Written => true,
                    Use::CopiedTo(to) => self.variable(*to) == Some(device),
                    Use::Launch(_) => false,
                })
            })
    }

    /// The kernel of a launch, as it is written.
    fn kernel_of(&self, launch: &LaunchExpr) -> Option<&'p Path> {
        match self.kind(launch.kernel) {
            Some(Expr::Name { path, .. }) => Some(path),
            _ => None,
        }
    }

    /// Whether a kernel that is launched here says nothing but in the memory that it is given; the variables that point there are added
    /// to `given`.
    pub fn keeps_to_itself(&self, launch: &LaunchExpr, given: &mut Vec<LocalId>) -> bool {
        let named = |path| self.project.kernel(self.id, &self.function.scope, path, Some(launch.args.len()));
        let Some((module, id)) = self.kernel_of(launch).and_then(named) else { return false };
        let Some(kernel) = self.project.function_at(module, id) else { return false };
        let types = &self.project.module(module).types;
        let takes_number = |index: usize| {
            kernel.params().get(LocalId(index as u32)).is_some_and(|parameter| is_number(types, parameter.ty))
        };
        for (index, arg) in launch.args.iter().enumerate() {
            match self.variable(*arg) {
                Some(local) if self.is_pointer(local) => given.push(local),
                Some(local) if self.is_number(local) => {}
                _ if takes_number(index) => {}
                _ => return false,
            }
        }
        speaks_by_parameters(self.project, (module, id))
    }

    /// Whether all that is in the memory of some variables stays on the device, or is copied to where nobody reads it, with all that
    /// kernels make of it.
    fn stays(&self, mut open: Vec<LocalId>) -> bool {
        let mut met = Vec::new();
        while let Some(device) = open.pop() {
            if met.contains(&device) {
                continue;
            }
            met.push(device);
            let stays = |uses: Vec<Use<'_>>| {
                uses.iter().all(|of| match of {
                    Use::Allocation | Use::Written => true,
                    Use::Launch(launch) => self.keeps_to_itself(launch, &mut open),
                    Use::CopiedTo(host) => self.destination(*host).is_some_and(|host| self.is_never_read(host, device)),
                })
            };
            if met.len() > MAX_MET || !self.is_of_device(device) || !self.uses(device).is_some_and(stays) {
                return false;
            }
        }
        true
    }

    /// Whether the function measures time, by itself or in functions of the project that it calls.
    pub fn measures(&self) -> bool {
        let mut called = Vec::new();
        takes_times(self.module, self.function, |callee| {
            if let Some(Expr::Name { path, .. }) = self.kind(callee) {
                called.push(path);
            }
        }) || called.into_iter().any(|path| {
            let found = self.project.function_named(self.id, &self.function.scope, path);
            found.is_some_and(|(module, function)| {
                let found = self.project.function_at(module, function);
                found.is_some_and(|function| takes_times(self.project.module(module), function, |_| {}))
            })
        })
    }

    /// The variable that a copy fills: an array, what a pointer points to, or a number by its address.
    pub fn destination(&self, id: ExprId) -> Option<LocalId> {
        self.variable(id).or_else(|| match self.kind(self.bare(id)) {
            Some(Expr::AddressOf(of)) => self.variable(*of).filter(|local| self.is_number(*local)),
            _ => None,
        })
    }

    fn is_number(&self, local: LocalId) -> bool {
        self.function.locals.get(local).is_some_and(|local| is_number(&self.module.types, local.ty))
    }

    fn is_pointer(&self, local: LocalId) -> bool {
        let ty = self.function.locals.get(local).and_then(|local| self.module.types.get(local.ty));
        matches!(ty, Some(Type::Pointer(_)))
    }

    /// Whether a variable begins without memory, or with some of its own.
    fn starts_empty(&self, local: LocalId) -> bool {
        let init = self.function.locals.get(local).and_then(|local| local.init);
        init.is_none_or(|init| self.is_new_memory(init))
    }

    /// Whether a value is a null pointer, or memory that comes into being here.
    fn is_new_memory(&self, value: ExprId) -> bool {
        let value = self.bare(value);
        match self.kind(value) {
            Some(Expr::Null | Expr::Int { value: 0, .. } | Expr::New { .. }) => true,
            Some(Expr::InitList(list)) => list.is_empty(),
            Some(Expr::Call { callee, .. }) => self
                .api(*callee)
                .is_some_and(|api| api.effects.iter().any(|effect| matches!(effect, Effect::Allocates { .. }))),
            _ => false,
        }
    }

    pub fn kind(&self, id: ExprId) -> Option<&'p Expr> {
        self.module.exprs.get(id).map(|node| &node.kind)
    }

    /// A value without casts.
    pub fn bare(&self, id: ExprId) -> ExprId {
        let mut at = id;
        for _ in 0..MAX_DEPTH {
            match self.kind(at) {
                Some(Expr::Cast { value, .. }) => at = *value,
                _ => break,
            }
        }
        at
    }

    /// The variable that a pointer is.
    pub fn variable(&self, id: ExprId) -> Option<LocalId> {
        match self.kind(self.bare(id)) {
            Some(Expr::Local(local)) => Some(*local),
            _ => None,
        }
    }

    /// The function of a library that is called, where the project has none of that name.
    pub fn api(&self, callee: ExprId) -> Option<ApiId> {
        let Some(Expr::Name { path, .. }) = self.kind(callee) else { return None };
        let api = ApiId::named(path.last()?)?;
        self.project.function_named(self.id, &self.function.scope, path).is_none().then_some(api)
    }

    /// All uses of a variable; `None` where one may read what is in its memory, or gives the address away.
    pub fn uses(&self, local: LocalId) -> Option<Vec<Use<'p>>> {
        let name = &self.function.locals.get(local)?.name;
        let captured =
            |other: &Function| other.parent.is_some() && other.captures.iter().any(|(captured, _)| captured == name);
        if self.module.functions.iter().any(captured) {
            return None;
        }
        let mut uses = Vec::new();
        let mut harmless = true;
        walk(self.module, self.function, self.function.body.as_ref()?, |item| match item {
            Item::Stmt(id) => {
                harmless &= self.is_understood(id, name);
                harmless
            }
            Item::Declare(_) => harmless,
            Item::Expr(id) => match self.kind(id) {
                Some(Expr::Local(used)) => {
                    harmless &= *used != local;
                    false
                }
                Some(kind) => {
                    // Where the variable is used in a way that is known, the rest of the expression is looked at by itself.
                    let known = self.known_use(kind, local, &mut uses);
                    match known {
                        Some(others) => {
                            harmless &= others.into_iter().all(|other| !self.mentions(other, local));
                            false
                        }
                        None => harmless,
                    }
                }
                None => false,
            },
        });
        harmless.then_some(uses)
    }

    /// Whether a statement has no code out of sight that may use a variable.
    pub fn is_understood(&self, id: StmtId, name: &Name) -> bool {
        match self.module.stmts.get(id).map(|node| &node.kind) {
            Some(Stmt::Elided { names }) => !names.is_empty() && !names.contains(name),
            Some(Stmt::Unknown { .. } | Stmt::Asm { .. }) | None => false,
            Some(_) => true,
        }
    }

    /// Whether a variable stands anywhere in an expression.
    pub fn mentions(&self, root: ExprId, local: LocalId) -> bool {
        let mut open = vec![root];
        while let Some(id) = open.pop() {
            match self.kind(id) {
                Some(Expr::Local(used)) if *used == local => return true,
                // Statements inside are not walked here.
                Some(Expr::Statements(_)) | None => return true,
                Some(Expr::SizeOfExpr(_)) => {}
                Some(kind) => operands(kind, |operand| open.push(operand)),
            }
        }
        false
    }

    /// A use that reads nothing: it is added to `uses`, and the parts come back that stand beside it.
    pub fn known_use(&self, kind: &'p Expr, local: LocalId, uses: &mut Vec<Use<'p>>) -> Option<Vec<ExprId>> {
        let is_it = |id: &ExprId| self.variable(*id) == Some(local);
        match kind {
            Expr::SizeOfExpr(_) => Some(Vec::new()),
            Expr::Delete { value, .. } if is_it(value) => {
                uses.push(Use::Allocation);
                Some(Vec::new())
            }
            Expr::Assign { op: None, target, value } => {
                if is_it(target) && self.is_new_memory(*value) {
                    uses.push(Use::Allocation);
                    return Some(vec![*value]);
                }
                if is_it(target) && self.is_number(local) {
                    uses.push(Use::Written);
                    return Some(vec![*value]);
                }
                match self.kind(*target) {
                    Some(Expr::Index { base, indices }) if is_it(base) => {
                        uses.push(Use::Written);
                        Some(indices.iter().copied().chain([*value]).collect())
                    }
                    _ => None,
                }
            }
            Expr::Binary(ir::BinaryOp::Eq | ir::BinaryOp::Ne, a, b) => {
                let null =
                    |id: &ExprId| matches!(self.kind(self.bare(*id)), Some(Expr::Null | Expr::Int { value: 0, .. }));
                (is_it(a) && null(b) || is_it(b) && null(a)).then(Vec::new)
            }
            Expr::Unary(ir::UnaryOp::Not, value) if is_it(value) => Some(Vec::new()),
            Expr::Launch(launch) => {
                self.kernel_of(launch)?;
                let given = launch.args.iter().filter(|arg| is_it(arg)).count();
                (given > 0).then(|| {
                    uses.push(Use::Launch(launch));
                    launch.args.iter().chain(&launch.config).copied().filter(|arg| !is_it(arg)).collect()
                })
            }
            Expr::Call { callee, args } => {
                let api = self.api(*callee)?;
                let at = args.iter().position(|arg| is_it(arg) || self.is_address_of(*arg, local))?;
                let arg = args.get(at)?;
                let by_address = !is_it(arg);
                let own = |position: cudalint_program::api::effects::Arg| position.at() == at;
                let found = api.effects.iter().find_map(|effect| match effect {
                    // Whoever reads managed memory on the host uses the pointer in another way.
                    Effect::Allocates { out, .. } if own(*out) && by_address => Some(Use::Allocation),
                    Effect::Frees(freed) if own(*freed) && !by_address => Some(Use::Allocation),
                    Effect::Copies { to, .. } if own(*to) && (!by_address || self.is_number(local)) => {
                        Some(Use::Written)
                    }
                    Effect::Copies { to, from, .. } if own(*from) && !by_address => Some(Use::CopiedTo(to.of(args)?)),
                    Effect::Sets { pointer, .. } if own(*pointer) && !by_address => Some(Use::Written),
                    _ => None,
                })?;
                uses.push(found);
                Some(args.iter().enumerate().filter(|(index, _)| *index != at).map(|(_, arg)| *arg).collect())
            }
            _ => None,
        }
    }

    /// Whether a value is a variable's address: `(void**)&d`.
    pub fn is_address_of(&self, id: ExprId, local: LocalId) -> bool {
        matches!(self.kind(self.bare(id)), Some(Expr::AddressOf(of)) if self.variable(*of) == Some(local))
    }
}
