//! Kernel launches: configuration and arguments, bound to the kernel.

use super::overloads::leaves_open;
use super::{Out, Walker};
use crate::facts::{
    Amount, EventKind, Extent3, GivenTo, KernelWrite, LaunchArgument, LaunchFact, LaunchSpelling, MemorySpace, Origin,
    Site,
};
use crate::memory::{Key, Place, root};
use crate::quantity::Quantity;
use crate::spelled::kernel_name;
use crate::value::{Kind, Val};
use cudalint_program::ir::{Expr, ExprId, Function, FunctionId, LaunchExpr, LocalId, ModuleId};
use cudalint_program::types::{Argument, Ty, TypeEnv};
use cudalint_program::{Name, accepts};
use cudalint_syntax::Span;
use std::sync::Arc;

/// Numbers of threads that blocks are held to.
const LIMITS: [i64; 4] = [128, 256, 512, 1024];

impl<'p> Walker<'p> {
    /// A launch expression.
    pub fn launch(&mut self, id: ExprId, launch: &'p LaunchExpr) -> Out {
        let (mut kernel, mut env) = self.kernel_of(launch);
        let config = self.configuration(launch);
        let args = self.launch_arguments(launch, kernel);
        if kernel.is_none() && (launch.chevron || launch.attributes.is_some()) {
            let types: Vec<Ty> = args.iter().map(|(_, out)| out.ty.decayed()).collect();
            if let Some(chosen) = self.overloaded_kernel(launch.kernel, &types) {
                (kernel, env) = (Some(chosen.0), chosen.1);
            }
        }
        let env = match kernel {
            Some((module, function)) => {
                let mut env = env;
                if let Some(function) = self.project.function_at(module, function) {
                    let outs: Vec<Out> = args.iter().map(|(_, out)| out.clone()).collect();
                    self.deduce(module, function, &mut env, &outs);
                }
                env
            }
            None => env,
        };
        if self.wants(id) {
            // The call that makes it says so, or attributes may.
            let cooperative = match launch.api.and_then(|api| api.launches()) {
                Some(how) => how.cooperative,
                None => Some(false),
            };
            let fact = LaunchFact { cooperative, ..self.launch_fact(launch, kernel, &env, &config, &args) };
            let mut mentioned = launch.config.clone();
            mentioned.extend(launch.attributes);
            mentioned.extend(&launch.args);
            let span = self.span(id);
            self.emit(EventKind::Launch(Box::new(fact)), span, &mentioned);
        }
        self.starts_kernel(id, launch, kernel, &args, config.get(3));
        self.computes(id, launch.kernel, kernel, &args);
        let given: Arc<[GivenTo]> = self.given_to(&args).iter().cloned().collect();
        // The kernel may write what it is given, the host's view of managed and pinned memory included.
        for (index, (_, out)) in args.iter().enumerate() {
            let read_only = self.reads_only(kernel, index);
            let only_reads = read_only || self.only_reads(kernel, index);
            let write = self.kernel_write(id, kernel, index, out, &given);
            let write = write.map(|write| KernelWrite { only_reads, ..write });
            self.memory.reached_by_kernel(&out.val, read_only, write.as_ref());
            if only_reads {
                continue;
            }
            let mut pointers = Vec::new();
            out.val.pointers(&mut pointers);
            for object in pointers {
                if self.memory.get(object).info.origin != Origin::Local {
                    // Who has written is known all the same.
                    let held = self.memory.get(object).held.clone();
                    self.memory.forget(object, &root());
                    self.memory.set_held(object, held);
                }
            }
        }
        if !launch.chevron {
            // Arguments behind an array that could not be followed to its end.
            for expr in &launch.args {
                let list = self.eval(*expr).val;
                self.memory.reached_by_device(&list, false);
            }
        }
        let ty = if launch.chevron { Ty::Void } else { Ty::INT };
        Out::new(if launch.chevron { Val::unknown() } else { Val::from(Kind::Status) }, ty)
    }

    /// What says later what a launch has written through an argument that leads to memory of the device.
    fn kernel_write(
        &mut self,
        id: ExprId,
        kernel: Option<(ModuleId, FunctionId)>,
        index: usize,
        out: &Out,
        given: &Arc<[GivenTo]>,
    ) -> Option<KernelWrite> {
        let Kind::Ptr(pointer) = &out.val.kind else { return None };
        if self.memory.get(pointer.obj).info.space != MemorySpace::Device || out.val.why.is_some() || self.capturing {
            return None;
        }
        let (parameter, site) = (u32::try_from(index).ok()?, self.expr_site(id));
        Some(KernelWrite { kernel: kernel?, parameter, site, given: Arc::clone(given), only_reads: false })
    }

    /// `cudaLaunchConfig_t config = { … }`: what is not given is zero, and an extent is one.
    pub fn construct_launch_config(&mut self, place: &Place, args: &'p [ExprId]) {
        self.memory.store(place, Val::zeroed());
        for field in EXTENTS {
            let place = self.field_place(place, &Name::from(field));
            self.fill_dim3(&place, &[]);
        }
        for (arg, in_order) in args.iter().zip(LAUNCH_CONFIG) {
            let (field, value) = match self.kind(*arg) {
                Some(Expr::Designated { field, value }) => (field.clone(), *value),
                _ => (Name::from(in_order), *arg),
            };
            let out = self.config_value(value);
            let place = self.field_place(place, &field);
            if EXTENTS.contains(&field.as_str()) && out.ty.is_scalar() {
                self.fill_dim3(&place, &[out]);
            } else {
                self.store(&place, &Ty::Unknown, out.val);
            }
        }
    }

    /// Grid, block, dynamic shared bytes and stream, as far as given. Those of `cudaLaunchKernelEx` stand in a structure.
    fn configuration(&mut self, launch: &LaunchExpr) -> Vec<Out> {
        let Some(attributes) = launch.attributes else {
            return launch.config.iter().map(|expr| self.config_value(*expr)).collect();
        };
        let structure = self.eval(attributes);
        let pointee = structure.ty.pointee().cloned().unwrap_or(Ty::Unknown);
        let place = self.pointed_place(&structure.val, &pointee);
        let [grid, block] = EXTENTS.map(|field| {
            let place = self.field_place(&place, &Name::from(field));
            let val = self.load(&place, &Ty::Unknown);
            // A number stands for a row of so many.
            let ty = if val.quantity().is_unknown() { Ty::vector("dim3") } else { Ty::SIZE };
            Out::new(val, ty)
        });
        let shared = self.field_place(&place, &Name::from("dynamicSmemBytes"));
        vec![grid, block, Out::new(self.load(&shared, &Ty::SIZE), Ty::SIZE)]
    }

    fn config_value(&mut self, expr: ExprId) -> Out {
        if let Some(Expr::InitList(_)) = self.kind(expr) {
            return self.build(&Ty::vector("dim3"), expr);
        }
        self.eval(expr)
    }

    /// The kernel that a launch means, with the template arguments written.
    fn kernel_of(&mut self, launch: &'p LaunchExpr) -> (Option<(ModuleId, FunctionId)>, TypeEnv) {
        let inner = self.without_casts(launch.kernel);
        // `(*kernel)` and `&kernel` are the kernel.
        let inner = match self.kind(inner) {
            Some(Expr::AddressOf(value) | Expr::Deref(value)) => self.without_casts(*value),
            _ => inner,
        };
        if let Some(Expr::Name { path, targs }) = self.kind(inner) {
            let (module, inside) = (self.module_id(), self.scope());
            let count = (launch.chevron || launch.attributes.is_some()).then_some(launch.args.len());
            let named = self.project.kernel(module, &inside, path, count);
            if let Some((target, id)) = named
                && let Some(function) = self.project.function_at(target, id)
                && leaves_open(self.project.module(target), function, targs)
            {
                return (None, TypeEnv::default());
            }
            if let Some((target, function)) = named {
                let env = self.explicit_env(target, function, targs);
                return (Some((target, function)), env);
            }
        }
        let out = self.eval(inner);
        // One that does not take these arguments is another kernel of the name.
        let counted = launch.chevron || launch.attributes.is_some();
        let takes = |function: &Function| !counted || accepts(function, launch.args.len());
        if let Kind::Function(module, function, env) = &out.val.kind
            && self.project.function_at(*module, *function).is_some_and(|f| f.space.global && takes(f))
        {
            return (Some((*module, *function)), env.clone());
        }
        (None, TypeEnv::default())
    }

    /// Arguments with their expressions; those of `cudaLaunchKernel` are looked up behind its array of addresses.
    fn launch_arguments(
        &mut self,
        launch: &'p LaunchExpr,
        kernel: Option<(ModuleId, FunctionId)>,
    ) -> Vec<(ExprId, Out)> {
        if launch.chevron || launch.attributes.is_some() || launch.args.len() != 1 {
            let project = self.project;
            let function = kernel.and_then(|(module, id)| Some((module, project.function_at(module, id)?)));
            let outs = self.arguments_of(function, &launch.args);
            return launch.args.iter().copied().zip(outs).collect();
        }
        let list = launch.args[0];
        let out = self.eval(list);
        let mut args = Vec::new();
        if let Kind::Ptr(array) = &out.val.kind {
            let array = array.clone();
            self.check_packed((launch.kernel, list), &out, kernel);
            for index in 0..64 {
                let path = crate::memory::extend(&array.path, Key::At(8 * index));
                let cell = self.memory.load(&Place::Cell(array.obj, path));
                let Kind::Ptr(target) = &cell.kind else { break };
                let mut ty = self.memory.get(target.obj).info.ty.clone();
                // Of an array it is one element: no parameter is an array.
                while let Ty::Array(inner, _) = ty.value() {
                    ty = (**inner).clone();
                }
                let place = self.pointed_place(&cell, &ty);
                let val = self.load(&place, &ty);
                args.push((list, Out::new(val, ty)));
            }
        }
        args
    }

    fn launch_fact(
        &mut self,
        launch: &'p LaunchExpr,
        kernel: Option<(ModuleId, FunctionId)>,
        env: &TypeEnv,
        config: &[Out],
        args: &[(ExprId, Out)],
    ) -> LaunchFact {
        let extent =
            |w: &mut Self, at: usize| match (config.get(at), launch.config.get(at).or(launch.attributes.as_ref())) {
                (Some(out), Some(expr)) => w.extent(out, *expr),
                _ => unknown_extent(launch.config_span),
            };
        let (grid, block) = (extent(self, 0), extent(self, 1));
        let shared = match config.get(2) {
            Some(out) => {
                let val = crate::arith::convert(&mut self.atoms, &out.val, &Ty::SIZE);
                self.amount(&val)
            }
            None => self.amount(&Val::size(Quantity::Known(0))),
        };
        let arguments = args
            .iter()
            .map(|(expr, out)| {
                let is_pointer = out.ty.pointee().is_some()
                    || matches!(out.val.kind, Kind::Ptr(_) | Kind::Null | Kind::Somewhere(..));
                let pointer = is_pointer.then(|| self.pointer(&out.val));
                LaunchArgument {
                    text: self.text(*expr),
                    span: self.span(*expr),
                    amount: self.amount(&out.val),
                    pointer,
                    copied: None,
                }
            })
            .collect();
        let outs: Vec<Out> = args.iter().map(|(_, out)| out.clone()).collect();
        LaunchFact {
            given: self.given(kernel, env, &outs),
            env: kernel.map_or_else(TypeEnv::default, |kernel| self.bound(kernel, env)),
            kernel,
            kernel_name: kernel_name(self.module(), launch.kernel, &self.text(launch.kernel)),
            grid,
            block,
            shared,
            shared_written: config.len() > 2,
            shared_opt_in: self.opt_in_for(kernel),
            args: arguments,
            chevron: launch.chevron,
            spelling: if launch.chevron { LaunchSpelling::Chevron } else { LaunchSpelling::Call },
            config_span: launch.config_span,
            launch_bounds: self.launch_bounds(kernel, env),
            parameter_faults: self.parameter_faults(kernel, &outs),
            restricted: kernel
                .map_or_else(Vec::new, |(module, id)| crate::parameters::restricted(self.project, module, id)),
            block_by_caller: self.is_block_by_caller(launch),
            for_callers: !self.from_main,
            block_divided_by_grid: self.divided_by_grid(launch),
            constants: self.constants(),
            ..LaunchFact::default()
        }
    }

    /// The template arguments as kernels see them, parameters that nothing tells bound to nothing known.
    fn bound(&self, (module, function): (ModuleId, FunctionId), env: &TypeEnv) -> TypeEnv {
        let mut bound = settled_env(env, 0);
        if let Some(kernel) = self.project.function_at(module, function) {
            let open: Vec<(Name, Argument)> = kernel
                .template_params
                .iter()
                .filter(|param| env.get(&param.name).is_none())
                .map(|param| (param.name.clone(), Argument::Unknown))
                .collect();
            bound = bound.with(open);
        }
        bound
    }

    /// Whether the block of a launch is made of parameters of the function around, and somebody in the project calls that function.
    fn is_block_by_caller(&self, launch: &LaunchExpr) -> bool {
        let (Some(block), Some(function)) = (launch.config.get(1), self.function()) else { return false };
        if self.frames.len() == 1 && !self.entry_is_called {
            return false;
        }
        let module = self.module();
        let mut pending = vec![*block];
        let mut by_caller = false;
        for _ in 0..MOST_LOCALS {
            let Some(expr) = pending.pop() else { break };
            cudalint_program::visit::walk_expr(module, expr, |_, kind| {
                if let Expr::Local(local) = kind {
                    by_caller |= local.0 < function.param_count;
                    pending.extend(function.locals.get(*local).and_then(|local| local.init));
                }
                !by_caller
            });
        }
        by_caller
    }

    /// The division by the grid's variable in what the block's was computed from.
    fn divided_by_grid(&self, launch: &LaunchExpr) -> Option<Site> {
        let (grid, block) = (self.plain_local(*launch.config.first()?)?, self.plain_local(*launch.config.get(1)?)?);
        let function = self.function()?;
        let init = function.locals.get(block)?.init?;
        let module = self.module();
        // A number of blocks that was itself divided out of the work is no size of a block.
        let is_computed = function.locals.get(grid).and_then(|grid| grid.init).is_some_and(|init| {
            let mut divides = false;
            cudalint_program::visit::walk_expr(module, init, |_, kind| {
                divides |= matches!(
                    kind,
                    Expr::Binary(cudalint_program::ir::BinaryOp::Div | cudalint_program::ir::BinaryOp::Shr, ..)
                );
                !divides
            });
            divides
        });
        if is_computed {
            return None;
        }
        let mut found = None;
        cudalint_program::visit::walk_expr(module, init, |id, kind| {
            if let Expr::Binary(cudalint_program::ir::BinaryOp::Div, _, by) = kind
                && self.plain_local(*by) == Some(grid)
            {
                found = Some(self.expr_site(id));
            }
            found.is_none()
        });
        found.filter(|_| !self.is_block_of_its_own(grid, block))
    }

    /// Whether a number that was divided by a number of blocks is meant as the size of a block: it is held to the limit of one, or the two
    /// are called what they are given as.
    fn is_block_of_its_own(&self, grid: LocalId, block: LocalId) -> bool {
        let Some(function) = self.function() else { return false };
        let name = |local: LocalId| function.locals.get(local).map_or("", |local| local.name.as_str());
        if crate::host::names_agree(name(grid), name(block)) {
            return true;
        }
        let module = self.module();
        let is_limit = |id: ExprId| match self.kind(self.without_casts(id)) {
            Some(Expr::Int { value, .. }) => LIMITS.contains(value),
            Some(Expr::Member { name, .. }) => ["maxThreadsPerBlock", "maxThreadsDim"].contains(&name.as_str()),
            _ => false,
        };
        let mut is_held = false;
        let Some(body) = &function.body else { return false };
        cudalint_program::visit::walk(module, function, body, |item| {
            if let cudalint_program::visit::Item::Expr(id) = item
                && let Some(Expr::Binary(op, a, b)) = self.kind(id)
                && op.is_comparison()
            {
                let sides = [(*a, *b), (*b, *a)];
                is_held |= sides.iter().any(|(a, b)| self.plain_local(*a) == Some(block) && is_limit(*b));
            }
            !is_held
        });
        is_held
    }

    /// The local that an expression names, through casts and `dim3(x)`.
    fn plain_local(&self, expr: ExprId) -> Option<LocalId> {
        match self.kind(self.without_casts(expr)) {
            Some(Expr::Local(local)) => Some(*local),
            Some(Expr::Construct { args, .. }) if args.len() == 1 => self.plain_local(args[0]),
            _ => None,
        }
    }

    fn extent(&mut self, out: &Out, expr: ExprId) -> Extent3 {
        let (text, span) = (self.text(expr), self.span(expr));
        let lane = Ty::UINT;
        let axes = if matches!(out.ty.value(), Ty::Vector { .. }) || matches!(out.val.kind, Kind::Aggregate(_)) {
            ["x", "y", "z"].map(|axis| {
                let val = out.val.part(&[Key::Field(Name::from(axis))]);
                let val = self.admit(val);
                let val = crate::arith::convert(&mut self.atoms, &val, &lane);
                self.amount(&val)
            })
        } else if out.val.quantity().is_unknown()
            && !matches!(out.ty.value(), Ty::Int { .. } | Ty::Bool | Ty::Float { .. })
        {
            // It may be a `dim3` from out of sight.
            return Extent3 { axes: unknown_extent(span).axes, text, span };
        } else {
            let x = crate::arith::convert(&mut self.atoms, &out.val, &lane);
            let one = Val::typed(Quantity::Known(1), 4, false);
            [self.amount(&x), self.amount(&one), self.amount(&one)]
        };
        Extent3 { axes, text, span }
    }

    /// The dynamic shared memory that was asked for before this launch.
    fn opt_in_for(&self, kernel: Option<(ModuleId, FunctionId)>) -> Amount {
        let unknown = Amount::default();
        let Some(kernel) = kernel else { return unknown };
        match self.opt_in.get(&kernel) {
            Some(val) if !self.unknown_opt_in => self.amount(val),
            Some(_) => unknown,
            None if self.unknown_opt_in || self.scan.may_ask(self.project, self.module_id(), kernel) => unknown,
            None => self.amount(&Val::size(Quantity::Known(0))),
        }
    }

    fn launch_bounds(&mut self, kernel: Option<(ModuleId, FunctionId)>, env: &TypeEnv) -> Option<Amount> {
        let (module, function) = kernel?;
        let (bound, _) = self.project.function_at(module, function)?.launch_bounds?;
        self.push_frame(module, None, env.clone(), None);
        let val = self.eval(bound).val;
        self.frames.pop();
        Some(self.amount(&val))
    }
}

/// The fields of `cudaLaunchConfig_t` in their order: *CUDA Runtime API*, Data types used by CUDA Runtime.
const LAUNCH_CONFIG: [&str; 6] = ["gridDim", "blockDim", "dynamicSmemBytes", "stream", "attrs", "numAttrs"];

/// Those of them that are extents.
const EXTENTS: [&str; 2] = ["gridDim", "blockDim"];

/// Whether a type that is out of sight is the configuration of a launch.
pub(super) fn is_launch_config(name: &str) -> bool {
    ["cudaLaunchConfig_t", "cudaLaunchConfig_st"].contains(&name)
}

/// Variables, each made of others, that a block is followed through.
const MOST_LOCALS: usize = 16;

fn unknown_extent(span: Span) -> Extent3 {
    Extent3 { span, ..Extent3::default() }
}

/// An argument without symbols, whose meaning ends with the walk; too deep ones are not known.
fn settled(argument: &Argument, depth: u32) -> Argument {
    let of = |ty: &Arc<Ty>| match settled(&Argument::Type((**ty).clone()), depth + 1) {
        Argument::Type(ty) => Some(Arc::new(ty)),
        _ => None,
    };
    let ty = match argument {
        _ if depth > 8 => None,
        Argument::Value(Quantity::Known(_)) => return argument.clone(),
        Argument::Type(ty) => match ty {
            Ty::Void | Ty::Bool | Ty::Int { .. } | Ty::Float { .. } | Ty::Vector { .. } | Ty::Enum { .. } => {
                Some(ty.clone())
            }
            Ty::Pointer(to) => of(to).map(Ty::Pointer),
            Ty::Record(entry, env) => Some(Ty::Record(*entry, settled_env(env, depth + 1))),
            _ => None,
        },
        _ => None,
    };
    ty.map_or(Argument::Unknown, Argument::Type)
}

fn settled_env(env: &TypeEnv, depth: u32) -> TypeEnv {
    TypeEnv::new(env.iter().map(|(name, argument)| (name.clone(), settled(argument, depth))).collect())
}
