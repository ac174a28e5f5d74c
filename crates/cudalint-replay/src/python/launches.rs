//! Launches of kernels that are written in Python.

use super::Walker;
use super::calls::Args;
use super::emit::amount;
use super::hand::Handed;
use super::heap::{Compiled, Obj};
use super::value::{Configured, Dim, Dims, Kernel, Kind, Lib, Transfer, Val};
use super::walker::out_of_sight;
use crate::facts::{
    Amount, EventKind, Extent3, LaunchArgument, LaunchFact, LaunchSpelling, MemorySpace, Pointer, PythonFaultKind, Site,
};
use crate::given::Given;
use crate::host::ObjId;
use crate::quantity::AtomKind;
use crate::quantity::{Quantity, assume};
use cudalint_kernel::python::{ArgumentType, Constant, Specialization, guess_arguments};
use cudalint_kernel::readings::Use;
use cudalint_program::Name;
use cudalint_program::ir::{Dialect, Expr, ExprId, FunctionId, LocalId, ModuleId};
use cudalint_syntax::Span;
use std::rc::Rc;
use std::sync::Arc;

/// What a launch without a block is told to have.
const UNKNOWN_BLOCK: &str = "threads per block";
/// Threads of a block that `forall` is taken to choose.
pub(super) const FORALL_THREADS: i64 = 256;
impl Walker<'_> {
    /// `k[grid, block, stream, shared]`.
    pub(super) fn configure(&mut self, kernel: &Val, indices: &[Val], id: ExprId) -> Val {
        let Some(Expr::Index { base, indices: exprs }) = self.kind(id) else { return Val::unknown() };
        let spread = match indices {
            [Val { kind: Kind::Tuple(items), .. }] => Some(items.to_vec()),
            _ => None,
        };
        let single = spread.is_some();
        let elements = spread.unwrap_or_else(|| indices.to_vec());
        let module = self.module_id();
        let whole = match (exprs.first(), exprs.last()) {
            (Some(first), Some(last)) => Span::new(self.span(*first).start as usize, self.span(*last).end as usize),
            _ => self.span(id),
        };
        let config = Site { module, span: whole };
        // `k[(grid, block)]` and `k[config]`: the parts of a tuple that is written there have places of their own.
        let parts: Vec<ExprId> = match (single, exprs.as_slice()) {
            (true, [one]) => match self.kind(*one) {
                Some(Expr::Python(python)) => match &**python {
                    cudalint_program::ir::PythonExpr::Tuple(all) => all.clone(),
                    _ => Vec::new(),
                },
                _ => Vec::new(),
            },
            _ => exprs.clone(),
        };
        let place = |w: &Self, at: usize| match parts.get(at) {
            Some(expr) => (w.text(*expr).to_owned(), w.expr_site(*expr)),
            None => (w.project.text(module, whole).to_owned(), config),
        };
        let dims = |w: &mut Self, at: usize| {
            let (text, site) = place(w, at);
            match elements.get(at) {
                Some(value) => w.dims(value, text, site),
                None => Dims { axes: [Val::unknown(), Val::unknown(), Val::unknown()], text, site },
            }
        };
        if elements.is_empty() {
            return Val::unknown();
        }
        // What is no number may hold both.
        let number = |value: &Val| value.quantity().is_some() || matches!(&value.kind, Kind::Tuple(_) | Kind::List(_));
        let both = !single && elements.len() == 1 && !elements.iter().all(number);
        let grid = dims(self, usize::from(both));
        let block = if elements.len() == 1 && !both {
            // The launch raises an exception; the kernel is looked at as if it had a block.
            let threads = Val::from(Kind::Int(self.atoms.fresh(UNKNOWN_BLOCK, AtomKind::Input)));
            Dims { axes: [threads, Val::int(1), Val::int(1)], text: UNKNOWN_BLOCK.to_owned(), site: config }
        } else {
            dims(self, 1)
        };
        let name = self.text(*base).to_owned();
        let shared = elements.get(3).cloned();
        let kernel = kernel.clone();
        let divided = match parts.as_slice() {
            [grid, block, ..] => self.divided_by_grid(*grid, *block),
            _ => None,
        };
        let configured = Configured { kernel, name, grid, block, shared, config, why: None, divided };
        Val::from(Kind::Configured(Rc::new(configured)))
    }

    /// Extents: a number, or a tuple of up to three.
    pub(super) fn dims(&mut self, value: &Val, text: String, site: Site) -> Dims {
        let unknown = || [Val::unknown(), Val::unknown(), Val::unknown()];
        let axis = |w: &mut Self, item: &Val| match w.as_int(item) {
            Some(q) => Val { kind: Kind::Int(q), why: item.why.clone() }.because(&value.why),
            None => Val::unknown(),
        };
        let axes = match &value.kind {
            Kind::Tuple(_) | Kind::List(_) => match self.items(value) {
                Some(items) if (1..=3).contains(&items.len()) => {
                    let mut axes = [Val::int(1), Val::int(1), Val::int(1)];
                    for (slot, item) in axes.iter_mut().zip(&items) {
                        *slot = axis(self, item);
                    }
                    axes
                }
                _ => unknown(),
            },
            // It may be a tuple from out of sight.
            Kind::Open(open) if !self.integers.contains(&open.id) => unknown(),
            _ => match axis(self, value) {
                x if x.is_unknown() => unknown(),
                x => [x, Val::int(1), Val::int(1)],
            },
        };
        Dims { axes, text, site }
    }

    /// Methods of a kernel: `forall` configures it.
    pub(super) fn kernel_method(
        &mut self,
        id: ExprId,
        receiver: &Val,
        kernel: &Kernel,
        name: &Name,
        args: &Args,
    ) -> Option<Val> {
        match name.as_str() {
            "reduce" if kernel.dialect == Dialect::Vectorize => Some(self.reduced_by_ufunc(id, args)),
            "forall" => {
                let tasks = args.get(0, "ntasks").cloned()?;
                let q = self.as_int(&tasks).unwrap_or(Quantity::Unknown);
                // Without tasks nothing is launched.
                if q.known() == Some(0) {
                    return Some(Val::unknown());
                }
                let written = args.get(1, "tpb").and_then(Val::known).filter(|threads| *threads > 0);
                let why = if written.is_some() {
                    None
                } else {
                    assume(format!("`forall` takes {FORALL_THREADS} threads per block"))
                };
                let threads = written.unwrap_or(FORALL_THREADS);
                let blocks = if q.is_unknown() { q } else { self.ceil_div(&q, threads) };
                let site = self.expr_site(id);
                let text = self.text(id).to_owned();
                let one = || Val::int(1);
                let x = |q: Quantity| Val { kind: Kind::Int(q), why: why.clone() };
                let grid = Dims { axes: [x(blocks).because(&tasks.why), one(), one()], text: text.clone(), site };
                let block = Dims { axes: [x(Quantity::Known(threads)), one(), one()], text, site };
                let shared = args.get(3, "sharedmem").cloned();
                let Some(Expr::Call { callee, .. }) = self.kind(id) else { return None };
                let Some(Expr::Member { base, .. }) = self.kind(*callee) else { return None };
                let name = self.text(*base).to_owned();
                let kernel = receiver.clone();
                let configured =
                    Configured { kernel, name, grid, block, shared, config: site, why: None, divided: None };
                Some(Val::from(Kind::Configured(Rc::new(configured))))
            }
            // `k.configure(grid, block, …)`.
            "specialize" => Some(receiver.clone()),
            _ => Some(Val::unknown()),
        }
    }

    /// A kernel called without a subscript.
    pub(super) fn call_kernel(&mut self, id: ExprId, kernel: &Rc<Kernel>, callee: ExprId, args: &Args) -> Val {
        match kernel.dialect {
            // `k(grid, block, (arguments), shared_mem=…)`.
            Dialect::CupyJit => {
                let (Some(grid), Some(block), Some(list)) =
                    (args.get(0, "grid").cloned(), args.get(1, "block").cloned(), args.get(2, "args").cloned())
                else {
                    return Val::unknown();
                };
                let place = |w: &Self, at| match args.expr(at, ["grid", "block"][at.min(1)]) {
                    Some(expr) => (w.text(expr).to_owned(), w.expr_site(expr)),
                    None => (String::new(), w.expr_site(id)),
                };
                let (text, site) = place(self, 0);
                let grid = self.dims(&grid, text, site);
                let (text, site) = place(self, 1);
                let block = self.dims(&block, text, site);
                let name = self.text(callee).to_owned();
                let shared = args.get(3, "shared_mem").cloned();
                let kernel = Val::from(Kind::Kernel(Rc::clone(kernel)));
                let divided = args
                    .expr(0, "grid")
                    .zip(args.expr(1, "block"))
                    .and_then(|(grid, block)| self.divided_by_grid(grid, block));
                let configured =
                    Configured { kernel, name, config: grid.site, grid, block, shared, why: None, divided };
                let Some(items) = self.items(&list) else { return Val::unknown() };
                let exprs = match args.expr(2, "args").and_then(|expr| self.kind(expr)) {
                    Some(Expr::Python(python)) => match &**python {
                        cudalint_program::ir::PythonExpr::Tuple(all) => all.clone(),
                        _ => Vec::new(),
                    },
                    _ => Vec::new(),
                };
                let args = Args { positional: items, exprs, ..Args::default() };
                self.launch(id, &configured, &args);
                Val::none()
            }
            Dialect::Vectorize => self.call_ufunc(id, kernel, callee, args),
            Dialect::Reduce => self.call_reduction(id, args),
            Dialect::Guvectorize => self.call_gufunc(id, kernel, callee, args),
            Dialect::Numba => {
                args.positional.iter().for_each(|value| self.lose(value));
                Val::unknown()
            }
        }
    }

    /// A launch of a kernel in Python.
    pub(super) fn launch(&mut self, id: ExprId, configured: &Configured, args: &Args) {
        let Kind::Kernel(kernel) = &configured.kernel.kind else {
            args.positional.iter().for_each(|value| self.lose(value));
            return;
        };
        let kernel = Rc::clone(kernel);
        let target = (kernel.closure.module, kernel.closure.function);
        let Some(function) = self.project.function_at(target.0, target.1) else { return };
        let mut count = function.param_count as usize;
        // `*args` gathers what is left.
        let python = function.python.as_deref();
        let rest = python.and_then(|python| python.rest).filter(|rest| rest.index() + 1 == count);
        if kernel.device || args.open || rest.is_none() && args.positional.len() > count {
            args.positional.iter().for_each(|value| self.lose(value));
            return;
        }
        count -= usize::from(rest.is_some());
        let mut values: Vec<(Val, Option<ExprId>)> = Vec::new();
        for index in 0..count {
            let name = &function.locals[LocalId::from(index)].name;
            let value = args.get(index, name).cloned().unwrap_or_else(Val::unknown);
            values.push((value, args.expr(index, name)));
        }
        if rest.is_some() {
            let gathered = args.positional.get(count..).unwrap_or_default();
            values.push((Val::tuple(gathered.to_vec()), None));
        }
        let guesses = self.guessed(target);
        let stated = function
            .python
            .as_ref()
            .is_some_and(|python| python.kernel.as_ref().is_some_and(|kernel| kernel.signature.is_some()));
        let handed: Vec<Handed> = values
            .iter()
            .enumerate()
            .map(|(index, (value, _))| self.hand_over(value, guesses.get(index), stated, index))
            .collect();
        let arguments: Vec<ArgumentType> = handed.iter().map(|one| one.ty.clone()).collect();
        let site = self.expr_site(id);
        let captured = self.compile(&kernel, &arguments, site, configured);
        let spec = Arc::new(Specialization { dialect: kernel.dialect, arguments, captured: captured.to_vec() });
        let uses = self.uses(target, &spec);
        if self.wants(site) {
            let fact = self.launch_fact(&kernel, configured, &values, handed, spec);
            let mentioned = self.mentioned(id);
            self.emit(EventKind::Launch(Box::new(fact)), site, &mentioned);
        }
        self.after_launch(site, &function.name, &values, &uses);
    }

    /// The expressions whose variables say what a launch is made of.
    pub(super) fn mentioned(&self, id: ExprId) -> Vec<ExprId> {
        match self.kind(id) {
            Some(Expr::Call { callee, args }) => std::iter::once(*callee).chain(args.iter().copied()).collect(),
            _ => vec![id],
        }
    }

    /// What the kernel has been compiled with for arguments of these types.
    fn compile(
        &mut self,
        kernel: &Kernel,
        arguments: &[ArgumentType],
        site: Site,
        configured: &Configured,
    ) -> Arc<Vec<(Name, Constant)>> {
        let now = self.captured_by(&kernel.closure);
        let known = match self.heap.get(kernel.state) {
            Obj::Kernel(all) => all.iter().find(|one| one.arguments == arguments).cloned(),
            _ => None,
        };
        let Some(known) = known else {
            let captured = Arc::new(now);
            let compiled = Compiled { arguments: arguments.to_vec(), captured: Arc::clone(&captured), site };
            if let Obj::Kernel(all) = self.heap.get_mut(kernel.state) {
                all.push(compiled);
            }
            return captured;
        };
        for (name, value) in &now {
            let Some((_, old)) = known.captured.iter().find(|(known, _)| known == name) else { continue };
            let Some((before, after)) = shown(old).zip(shown(value)).filter(|(before, after)| before != after) else {
                continue;
            };
            self.captured_changed(kernel, name, before, after, known.site, site, configured);
        }
        known.captured
    }

    #[allow(clippy::too_many_arguments)] // All that the fault says.
    fn captured_changed(
        &mut self,
        kernel: &Kernel,
        name: &Name,
        before: String,
        after: String,
        compiled: Site,
        launch: Site,
        configured: &Configured,
    ) {
        let module = kernel.closure.module;
        let assigned =
            self.modules.get(&module).and_then(|scope| self.heap.scope(*scope)?.globals.get(name)?.1).unwrap_or(launch);
        let kind = PythonFaultKind::CapturedChanged {
            kernel: configured.name.clone(),
            function: (module, kernel.closure.function),
            name: name.to_string(),
            before,
            after,
            compiled,
            launch,
        };
        self.fault(kind, assigned, None, &[]);
    }

    /// The argument types that a kernel is made for, by its signature or by how it uses its parameters.
    fn guessed(&mut self, target: (ModuleId, FunctionId)) -> Vec<ArgumentType> {
        guess_arguments(self.project, target.0, target.1).unwrap_or_default()
    }

    pub(super) fn launch_fact(
        &mut self,
        kernel: &Kernel,
        configured: &Configured,
        values: &[(Val, Option<ExprId>)],
        handed: Vec<Handed>,
        spec: Arc<Specialization>,
    ) -> LaunchFact {
        let target = (kernel.closure.module, kernel.closure.function);
        let given: Vec<Given> = handed.into_iter().flat_map(|one| one.given).collect();
        let args = values.iter().map(|(value, expr)| self.launch_argument(value, *expr, configured.config)).collect();
        let (shared, shared_written) = self.shared_amount(configured.shared.as_ref());
        let spelling = match kernel.dialect {
            Dialect::CupyJit => LaunchSpelling::CupyJit,
            _ => LaunchSpelling::Numba,
        };
        let extent = |dims: &Dims| match kernel.dialect {
            Dialect::CupyJit => at_least_one(extent3(dims, &configured.why)),
            _ => extent3(dims, &configured.why),
        };
        LaunchFact {
            kernel: Some(target),
            kernel_name: configured.name.clone(),
            grid: extent(&configured.grid),
            block: extent(&configured.block),
            shared,
            shared_written,
            // Numba and CuPy opt in by themselves or not at all, depending on their version.
            shared_opt_in: Amount::default(),
            args,
            given,
            spelling,
            python: Some(spec),
            config_span: configured.config.span,
            block_divided_by_grid: configured.divided,
            ..LaunchFact::default()
        }
    }

    pub(super) fn shared_amount(&mut self, shared: Option<&Val>) -> (Amount, bool) {
        match shared {
            None => (amount(&Dim::known(0)), false),
            Some(value) => {
                let q = self.as_int(value).unwrap_or(Quantity::Unknown);
                (amount(&Dim { q, why: value.why.clone() }), true)
            }
        }
    }

    pub(super) fn launch_argument(&mut self, value: &Val, expr: Option<ExprId>, config: Site) -> LaunchArgument {
        let (text, span) = match expr {
            Some(expr) => (self.text(expr).to_owned(), self.span(expr)),
            None => (String::new(), config.span),
        };
        let pointer = match (&value.kind, expr) {
            (Kind::Array(_) | Kind::Memory(..), Some(expr)) => Some(self.pointer_argument(value, expr).pointer),
            _ => None,
        };
        // Host memory that is handed over gets copied: to the rules on address spaces it is not the host's.
        let copied = match &pointer {
            Some(Pointer::Into { buffer, .. }) if buffer.space == MemorySpace::Host => Some(buffer.site),
            _ => None,
        };
        let pointer = pointer.filter(|_| copied.is_none());
        LaunchArgument { text, span, amount: value.amount(), pointer, copied }
    }

    /// What is different after a launch.
    pub(super) fn after_launch(&mut self, site: Site, kernel: &Name, values: &[(Val, Option<ExprId>)], uses: &[Use]) {
        let arrays = values.iter().filter(|(value, _)| matches!(value.kind, Kind::Array(_))).count();
        for (index, (value, _)) in values.iter().enumerate() {
            let usage = uses.get(index).cloned().unwrap_or_else(out_of_sight);
            match &value.kind {
                Kind::Array(array) => {
                    let (id, host) = (array.buffer, array.lib == Lib::Numpy);
                    self.array_after_launch(id, host, &usage, site, kernel, arrays);
                }
                Kind::Transfer(kind, inner) => {
                    if let (Kind::Array(array), true) = (&inner.kind, *kind != Transfer::In) {
                        self.wrote(array.buffer);
                    }
                }
                Kind::Memory(id, _) if usage.written || usage.escapes => self.wrote(*id),
                Kind::Tuple(_) => self.lose(value),
                _ => {}
            }
        }
    }

    fn array_after_launch(&mut self, id: ObjId, host: bool, usage: &Use, site: Site, kernel: &Name, arrays: usize) {
        let may_write = usage.written || usage.escapes;
        if host {
            if may_write {
                self.wrote(id);
            }
            return;
        }
        let Some(buffer) = self.heap.buffer_mut(id) else { return };
        if buffer.written.is_some() && arrays > 1 {
            // What it holds goes on into something else.
            buffer.fetched = true;
        }
        if may_write {
            buffer.held = None;
        }
        if usage.written && !usage.escapes && buffer.written.is_none() {
            buffer.written = Some((site, kernel.clone()));
        }
    }
}

pub(super) fn extent3(dims: &Dims, why: &crate::quantity::Assumptions) -> Extent3 {
    let axes = dims.axes.each_ref().map(|value| value.clone().because(why).amount());
    Extent3 { axes, text: dims.text.clone(), span: dims.site.span }
}

/// What `CuPy` launches its kernels in C++ and those of `cupyx.jit` with: what is below 1 along an axis is 1 there (`Function.__call__`
/// in `cupy/cuda/function.pyx`; seen with version 14.2 on a GPU).
pub(super) fn at_least_one(extent: Extent3) -> Extent3 {
    let axes = extent.axes.map(|amount| match amount.quantity.known() {
        Some(value) if value < 1 => Amount { quantity: 1.into(), ..amount },
        _ => amount,
    });
    Extent3 { axes, ..extent }
}

/// A captured value in words, where it is a plain one.
fn shown(constant: &Constant) -> Option<String> {
    match constant {
        Constant::Int(value, _) => Some(value.to_string()),
        Constant::Float(value, _) => Some(value.to_string()),
        Constant::Bool(value) => Some(if *value { "True" } else { "False" }.to_owned()),
        Constant::Tuple(values) => {
            let values: Option<Vec<String>> = values.iter().map(shown).collect();
            Some(format!("({})", values?.join(", ")))
        }
        _ => None,
    }
}
