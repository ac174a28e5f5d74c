//! Kernels in CUDA C++ that `CuPy` and `PyCUDA` compile from strings, and their launches.

use super::Walker;
use super::calls::Args;
use super::launches::{at_least_one, extent3};
use super::native_faults::misread;
use super::value::{Array, Dims, Dtype, Kind, Layout, Lib, Maker, Native, Program, Transfer, Val};
use crate::facts::{Amount, EventKind, LaunchFact, LaunchSpelling, NameFact, NameFault, Site, TypeProblem};
use crate::given::Given;
use crate::mangled::is_mangled;
use crate::quantity::Quantity;
use cudalint_kernel::readings::Use;
use cudalint_numbers::Scalar;
use cudalint_program::ir::{Expr, ExprId, FunctionId, LocalId, ModuleId, PythonExpr, Type};
use cudalint_program::types::{Argument, Ty, TypeEnv};
use cudalint_program::{Name, Scope};
use std::rc::Rc;

/// A launch of a kernel in C++, taken apart.
pub(super) struct NativeLaunch {
    /// The kernel as written.
    pub name: String,
    pub grid: Dims,
    pub block: Dims,
    /// The arguments; `None` where not even their number is known.
    pub values: Option<Vec<(Val, Option<ExprId>)>>,
    pub shared: Option<Val>,
    /// Where the block is computed by a division by what stands in the grid's place.
    pub divided: Option<Site>,
    /// Whether types of arguments have been stated before.
    pub prepared: bool,
}

impl Walker<'_> {
    /// The module of a program that is compiled with the options among these arguments: a string's, or a file's.
    pub(super) fn program_of(&self, code: &Val, args: &Args) -> Option<ModuleId> {
        let Kind::Str(text) = &code.kind else { return None };
        match text.file {
            Some(file) => Some(file).filter(|file| !self.options_choose(args, *file)),
            None => self.program_in(code),
        }
    }

    /// The module that a string's program is.
    pub(super) fn program_in(&self, code: &Val) -> Option<ModuleId> {
        let Kind::Str(text) = &code.kind else { return None };
        let origin = text.origin?;
        // A literal with something around it (`HEADER + '…'`) is not the program.
        self.project.embedded_at(origin.module, origin.span)
    }

    pub(super) fn native(&self, maker: Maker, module: Option<ModuleId>, name: Option<String>, refused: bool) -> Val {
        let full = name.unwrap_or_default();
        let (base, targs) = match full.split_once('<') {
            Some((base, rest)) => {
                let inner = rest.trim_end().trim_end_matches('>');
                (base.to_owned(), inner.split(',').map(|targ| targ.trim().to_owned()).collect())
            }
            None => (full, Vec::new()),
        };
        let base = base.rsplit("::").next().unwrap_or("").trim().to_owned();
        let kernel = module.and_then(|module| {
            let functions = &self.project.module(module).functions;
            let mut found = functions
                .iter()
                .enumerate()
                .filter(|(_, function)| function.space.global && function.body.is_some() && function.name == *base);
            match (found.next(), found.next()) {
                (Some((index, _)), None) => Some((module, FunctionId(index as u32))),
                _ => None,
            }
        });
        Val::from(Kind::Native(Rc::new(Native { maker, kernel, refused, targs, name: base })))
    }

    /// A kernel is looked up in a program that gives it another name, unless it is asked to keep this one.
    pub(super) fn tell_mangled(
        &mut self,
        id: ExprId,
        api: &str,
        maker: Maker,
        module: Option<ModuleId>,
        name: Option<&str>,
    ) {
        // `PyCUDA` puts `extern "C"` around its programs.
        let (Maker::Cupy | Maker::Driver, Some(module), Some(name)) = (maker, module, name) else { return };
        let Some(span) = self.project.module(module).inside else { return };
        let keeps_names = self.project.source(self.module_id()).contains("name_expressions");
        if keeps_names || !is_mangled(self.project.text(module, span), name) {
            return;
        }
        let fact = NameFact { api: Name::from(api), text: name.to_owned(), fault: NameFault::Mangled };
        let site = self.expr_site(id);
        self.emit(EventKind::Named(Box::new(fact)), site, &[]);
    }

    pub(super) fn program_method(&mut self, id: ExprId, program: &Program, name: &Name, args: &Args) -> Val {
        match name.as_str() {
            "compile" | "get_function" | "get_kernel" if program.refused => {
                self.raised = true;
                Val::unknown()
            }
            "compile" => {
                let &Program { maker, module, refused } = program;
                Val::from(Kind::Program(Rc::new(Program { maker, module, refused })))
            }
            "get_function" | "get_kernel" => {
                let method = name.as_str();
                let name = args.get(0, "name").and_then(Val::str).map(ToOwned::to_owned);
                self.tell_mangled(id, method, program.maker, program.module, name.as_deref());
                self.native(program.maker, program.module, name, false)
            }
            "get_global" => Val::unknown(),
            _ => Val::none(),
        }
    }

    /// Methods of a kernel: `f.prepared_call(grid, block, …)`, whose arguments are converted by the types that were prepared
    /// (`PyCUDA`'s `driver.py`, `function_prepared_call` and its kin).
    pub(super) fn native_method(&mut self, id: ExprId, native: &Native, name: &Name, args: &Args) -> Val {
        let skipped = match name.as_str() {
            "prepared_call" | "prepared_timed_call" => 2,
            "prepared_async_call" => 3,
            _ => return Val::none(),
        };
        let (Some(grid), Some(block)) = (args.positional.first(), args.positional.get(1)) else { return Val::none() };
        if args.open || !matches!(block.kind, Kind::Tuple(_)) || args.exprs.len() != args.positional.len() {
            args.positional.iter().for_each(|value| self.lose(value));
            return Val::none();
        }
        let (grid, block) = (grid.clone(), block.clone());
        let mut dims = |value: &Val, at: usize| {
            let (text, site) = (self.text(args.exprs[at]).to_owned(), self.expr_site(args.exprs[at]));
            self.dims(value, text, site)
        };
        let (grid, block) = (dims(&grid, 0), dims(&block, 1));
        let values = args.positional.iter().cloned().zip(args.exprs.iter().copied().map(Some)).skip(skipped).collect();
        let values = Some(values);
        let shared = args.named("shared_size").cloned();
        let name = native.name.clone();
        self.launch_native(
            id,
            native,
            NativeLaunch { name, grid, block, values, shared, divided: None, prepared: true },
        );
        Val::unknown()
    }

    /// A call of a kernel in CUDA C++.
    pub(super) fn call_native(&mut self, id: ExprId, native: &Native, callee: ExprId, args: &Args) {
        if native.refused {
            self.raised = true;
            return;
        }
        let site = self.expr_site(id);
        let part = |position: usize, name: &str| args.get(position, name).cloned().zip(args.expr(position, name));
        let (grid, block, values, shared) = match native.maker {
            Maker::Cupy | Maker::CupyBody | Maker::Driver => {
                let list = part(2, "args");
                let values = list.as_ref().and_then(|(value, expr)| {
                    let items = self.items(value)?;
                    let exprs = self.written_elements(*expr);
                    let exprs = exprs.filter(|exprs| exprs.len() == items.len());
                    Some(
                        items
                            .into_iter()
                            .enumerate()
                            .map(|(at, item)| (item, exprs.as_ref().and_then(|exprs| exprs.get(at).copied())))
                            .collect::<Vec<_>>(),
                    )
                });
                if values.is_none()
                    && let Some((value, _)) = list
                {
                    self.lose(&value);
                }
                (part(0, "grid"), part(1, "block"), values, args.get(3, "shared_mem").cloned())
            }
            Maker::PyCuda => {
                let values = args.positional.iter().cloned().zip(args.exprs.iter().copied().map(Some)).collect();
                let named = |name| args.named(name).cloned().zip(args.expr(usize::MAX, name));
                (named("grid"), named("block"), (!args.open).then_some(values), args.named("shared").cloned())
            }
        };
        let dims = |w: &mut Self, part: Option<(Val, ExprId)>, default: bool| match part {
            Some((value, expr)) => {
                let (text, site) = (w.text(expr).to_owned(), w.expr_site(expr));
                w.dims(&value, text, site)
            }
            None => {
                let axis = if default { Val::int(1) } else { Val::unknown() };
                Dims { axes: [axis.clone(), axis.clone(), axis], text: String::new(), site }
            }
        };
        let divided = grid.as_ref().zip(block.as_ref()).and_then(|(grid, block)| self.divided_by_grid(grid.1, block.1));
        let grid = dims(self, grid, native.maker == Maker::PyCuda);
        let block = dims(self, block, false);
        let name = self.text(callee).to_owned();
        self.launch_native(id, native, NativeLaunch { name, grid, block, values, shared, divided, prepared: false });
    }

    /// A launch of a kernel in CUDA C++.
    pub(super) fn launch_native(&mut self, id: ExprId, native: &Native, launch: NativeLaunch) {
        let site = self.expr_site(id);
        let NativeLaunch { name, grid, block, values, shared, divided, prepared } = launch;
        // With another number of arguments than it has parameters nobody knows what the kernel gets.
        let counted = values.as_ref().map(Vec::len);
        let fits = native.kernel.is_none_or(|kernel| counted.is_none_or(|count| self.takes(kernel, count)));
        let unbound;
        let native = if fits {
            native
        } else {
            self.budget.cut("launch with another number of arguments than parameters");
            let Native { maker, refused, .. } = *native;
            unbound = Native { maker, refused, kernel: None, targs: Vec::new(), name: native.name.clone() };
            &unbound
        };
        let values = values.unwrap_or_default();
        let env = self.template_env(native);
        let wrong = match native.kernel.filter(|_| !prepared) {
            Some(kernel) => self.misread_numbers(kernel, &env, &values, native.maker),
            None => Vec::new(),
        };
        if wrong.iter().any(|number| number.problem == TypeProblem::Refused) {
            // The launch raises an exception.
            if self.wants(site) {
                self.number_faults(native, wrong);
            }
            self.raised = true;
            return;
        }
        // Arguments are converted to the types that were prepared.
        let maker = if prepared { None } else { Some(native.maker) };
        let given = match native.kernel {
            Some(kernel) => self.native_given(kernel, &env, &values, maker),
            None => Vec::new(),
        };
        if self.wants(site) {
            let args_facts = values
                .iter()
                .map(|(value, expr)| {
                    let mut argument = self.launch_argument(value, *expr, block.site);
                    if let (Kind::Array(array), Some(expr)) = (&value.kind, expr)
                        && self.goes_by_value(array)
                    {
                        argument.pointer = Some(self.pointer_argument(value, *expr).pointer);
                    }
                    argument
                })
                .collect();
            let (shared, shared_written) = self.shared_amount(shared.as_ref());
            let raised = self.project.source(self.module_id()).contains("max_dynamic_shared_size_bytes")
                || self.project.source(self.module_id()).contains("MAX_DYNAMIC_SHARED");
            let opt_in = if raised { Amount::default() } else { super::emit::amount(&super::value::Dim::known(0)) };
            let extent = |dims: &Dims| match native.maker {
                Maker::Cupy => at_least_one(extent3(dims, &None)),
                _ => extent3(dims, &None),
            };
            let fact = LaunchFact {
                kernel: native.kernel,
                kernel_name: name,
                config_span: if grid.site == site { site.span } else { grid.site.span },
                grid: extent(&grid),
                block: extent(&block),
                shared,
                shared_written,
                shared_opt_in: opt_in,
                args: args_facts,
                given,
                env: env.clone(),
                spelling: match native.maker {
                    Maker::Cupy | Maker::CupyBody | Maker::Driver => LaunchSpelling::CupyRaw,
                    Maker::PyCuda => LaunchSpelling::PyCuda,
                },
                launch_bounds: native.kernel.and_then(|kernel| self.launch_bounds(kernel, &env)),
                block_divided_by_grid: divided,
                ..LaunchFact::default()
            };
            if native.kernel.is_none() && fits {
                self.budget.cut("launch of C++ that is not in sight");
            }
            let mentioned = self.mentioned(id);
            self.emit(EventKind::Launch(Box::new(fact)), site, &mentioned);
            if let Some(kernel) = native.kernel.filter(|_| !prepared) {
                self.argument_faults(kernel, &env, &values, native, wrong);
            }
        }
        let uses: Vec<Use> = (0..values.len())
            .map(|index| {
                let writes = native.kernel.is_none_or(|kernel| !self.points_to_const(kernel, index));
                Use { escapes: writes, ..Use::default() }
            })
            .collect();
        self.after_launch(site, &Name::from(native.name.as_str()), &values, &uses);
    }

    /// The expressions of a tuple or list that is written there, or in the variable that is named there.
    fn written_elements(&self, expr: ExprId) -> Option<Vec<ExprId>> {
        match self.kind(expr)? {
            Expr::Python(python) => match &**python {
                PythonExpr::Tuple(all) | PythonExpr::List(all) => Some(all.clone()),
                _ => None,
            },
            _ => None,
        }
    }

    /// What the template parameters of a kernel stand for, by the arguments in its name.
    fn template_env(&self, native: &Native) -> TypeEnv {
        let Some(function) = native.kernel.and_then(|(module, id)| self.project.function_at(module, id)) else {
            return TypeEnv::default();
        };
        let bindings = function
            .template_params
            .iter()
            .enumerate()
            .map(|(index, param)| {
                let argument = native.targs.get(index).map_or(Argument::Unknown, |targ| template_argument(targ));
                (param.name.clone(), argument)
            })
            .collect();
        TypeEnv::new(bindings)
    }

    fn launch_bounds(&self, (module, id): (ModuleId, FunctionId), env: &TypeEnv) -> Option<Amount> {
        let (threads, _) = self.project.function_at(module, id)?.launch_bounds?;
        let bound = Scope::new(self.project, module, Some(id), env).eval(threads)?;
        Some(super::emit::amount(&super::value::Dim::known(bound)))
    }

    pub(super) fn parameter_type(
        &self,
        (module, id): (ModuleId, FunctionId),
        env: &TypeEnv,
        index: usize,
    ) -> Option<Ty> {
        let function = self.project.function_at(module, id)?;
        let parameter = function.locals.get(LocalId::from(index)).filter(|_| index < function.param_count as usize)?;
        Some(Scope::new(self.project, module, Some(id), env).resolve(parameter.ty))
    }

    fn native_given(
        &mut self,
        kernel: (ModuleId, FunctionId),
        env: &TypeEnv,
        values: &[(Val, Option<ExprId>)],
        maker: Option<Maker>,
    ) -> Vec<Given> {
        let Some(function) = self.project.function_at(kernel.0, kernel.1) else { return Vec::new() };
        (0..function.param_count as usize)
            .map(|index| {
                let Some((value, _)) = values.get(index) else { return Given::Unknown };
                let Some(ty) = self.parameter_type(kernel, env, index) else { return Given::Unknown };
                self.native_value(&value.clone(), &ty, index, maker)
            })
            .collect()
    }

    fn native_value(&mut self, value: &Val, ty: &Ty, index: usize, maker: Option<Maker>) -> Given {
        match (ty, &value.kind) {
            (Ty::Pointer(_) | Ty::Array(..), Kind::Array(array)) if array.lib == Lib::Numpy => Given::Somewhere,
            (Ty::Pointer(_) | Ty::Array(..), Kind::Array(array)) => {
                self.native_pointer(&array.clone(), value, None, None)
            }
            (Ty::Pointer(_), Kind::Memory(buffer, offset)) => {
                let array = Array {
                    buffer: *buffer,
                    lib: Lib::PyCuda,
                    dtype: Dtype::Unknown,
                    shape: None,
                    layout: Layout::C,
                    offset: offset.clone(),
                    view: None,
                };
                self.given_pointer(&array, value, None, None)
            }
            (Ty::Pointer(_), Kind::Transfer(kind, inner)) => match &inner.kind {
                Kind::Array(array) => self.native_pointer(&array.clone(), inner, Some(index), Some(*kind)),
                _ => Given::Somewhere,
            },
            (Ty::Pointer(_), Kind::None) => Given::Null { assumptions: value.why.clone() },
            (Ty::Pointer(_), _) => Given::Somewhere,
            (Ty::Int { bytes, signed }, Kind::Int(_) | Kind::Number(Dtype::Int { .. }, _)) => {
                let amount = value.amount();
                if amount.quantity.is_unknown() || maker.is_some_and(|maker| misread(value, ty, maker).is_some()) {
                    return Given::Unknown;
                }
                Given::Int { amount, bytes: *bytes, signed: *signed }
            }
            (Ty::Int { bytes, signed }, Kind::Open(_)) => {
                let Some(q) = self.as_int(value) else { return Given::Unknown };
                let value = Val { kind: Kind::Int(q), why: value.why.clone() };
                Given::Int { amount: value.amount(), bytes: *bytes, signed: *signed }
            }
            (Ty::Bool, Kind::Bool(Quantity::Known(_))) => {
                Given::Int { amount: value.amount(), bytes: 1, signed: false }
            }
            (Ty::Float { bytes }, Kind::Number(Dtype::Float { bytes: own }, inner)) if bytes == own => {
                match inner.number() {
                    Some(number) => Given::Float { value: number, assumptions: value.why.clone() },
                    None => Given::Unknown,
                }
            }
            (Ty::Float { bytes: 8 }, Kind::Float(Some(number))) => {
                Given::Float { value: *number, assumptions: value.why.clone() }
            }
            _ => Given::Unknown,
        }
    }

    /// The address of an array for C++, which says itself how large an element is.
    pub(super) fn native_pointer(
        &mut self,
        array: &Array,
        value: &Val,
        copy: Option<usize>,
        transfer: Option<Transfer>,
    ) -> Given {
        let mut given = self.given_pointer(array, value, copy, transfer);
        if let Given::Pointer { buffer, .. } = &mut given
            && array.dtype.bytes().is_none()
        {
            buffer.bytes.quantity = Quantity::Unknown;
        }
        given
    }

    /// Whether nothing can be written through a parameter.
    fn points_to_const(&self, (module, id): (ModuleId, FunctionId), index: usize) -> bool {
        let types = &self.project.module(module).types;
        let Some(function) = self.project.function_at(module, id) else { return false };
        let mut ty = function.locals.get(LocalId::from(index)).map(|parameter| parameter.ty);
        for _ in 0..4 {
            match ty.and_then(|ty| types.get(ty)) {
                Some(Type::Qualified { ty: inner, .. }) => ty = Some(*inner),
                Some(Type::Pointer(to)) => {
                    return matches!(types.get(*to), Some(Type::Qualified { is_const: true, .. }));
                }
                _ => return false,
            }
        }
        false
    }

    /// Whether a kernel has so many parameters.
    fn takes(&self, (module, id): (ModuleId, FunctionId), count: usize) -> bool {
        self.project.function_at(module, id).is_none_or(|function| {
            let open = function.variadic || function.damaged || function.template_params.iter().any(|param| param.pack);
            open || function.param_count as usize == count
        })
    }
}

fn template_argument(text: &str) -> Argument {
    if let Ok(value) = text.parse::<i64>() {
        return Argument::Value(value.into());
    }
    Scalar::of_cpp(text).map_or(Argument::Unknown, |scalar| Argument::Type(Ty::of_scalar(scalar)))
}
