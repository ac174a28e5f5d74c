//! Calls of kernels that `CuPy` builds around a few statements: `ElementwiseKernel`, `ReductionKernel`.
//!
//! The loop of an `ElementwiseKernel` goes over the shape that its arrays have together, raw ones left out, or over `size`
//! elements; a launch has a thread for each, in blocks of 128 or of `block_size` (`CuPy`'s documentation of the class). What a
//! `ReductionKernel` goes over and gives back is in `reductions.rs`.

use super::Walker;
use super::arrays::{Made, broadcast};
use super::calls::Args;
use super::launches::extent3;
use super::value::{Array, Dim, Dims, Dtype, Kind, Layout, Lib, Maker, Native, Val, arrays_among};
use crate::facts::{EventKind, LaunchArgument, LaunchFact, LaunchSpelling, MemorySpace};
use crate::given::{Given, Held};
use crate::quantity::Quantity;
use cudalint_kernel::readings::Use;
use cudalint_program::Name;
use cudalint_program::cuda::{CupySlot, cupy_slots};
use cudalint_program::ir::{ExprId, FunctionId, ModuleId};
use cudalint_program::types::{Argument, Ty, TypeEnv};
use cudalint_syntax::{CupyBody, CupyBodyKind, CupyParameter};
use std::rc::Rc;
use std::sync::Arc;

/// Threads of a block where the call does not say.
const THREADS: i64 = 128;

/// A call, looked at.
pub(super) struct Call {
    pub body: Arc<CupyBody>,
    /// One a parameter; outputs that the call makes are the arrays made.
    pub values: Vec<(Val, Option<ExprId>)>,
    /// What the loop goes over.
    pub shape: Option<Rc<[Dim]>>,
    /// What comes out of a reduction.
    pub results: Option<Rc<[Dim]>>,
    /// The element types of placeholders.
    pub types: Vec<(Name, Dtype)>,
    /// Blocks and threads of each, where they are known.
    pub blocks: Option<Quantity>,
    pub threads: Option<i64>,
}

impl Walker<'_> {
    /// `ElementwiseKernel('raw T x', 'T y', 'y = x[i]', 'name')`: the kernel whose statements a string is.
    pub(super) fn cupy_body_kernel(&self, code: Option<&Val>) -> Val {
        let module = code.and_then(|code| self.program_in(code));
        let module = module.filter(|module| self.project.module(*module).cupy_body.is_some());
        let kernel = module.and_then(|module| {
            let functions = &self.project.module(module).functions;
            let at = functions.iter().position(|function| function.space.global && function.body.is_some())?;
            Some((module, FunctionId(at as u32)))
        });
        let name = kernel.and_then(|(module, id)| self.project.function_at(module, id)).map(|f| f.name.to_string());
        let native = Native {
            maker: Maker::CupyBody,
            kernel,
            refused: false,
            targs: Vec::new(),
            name: name.unwrap_or_default(),
        };
        Val::from(Kind::Native(Rc::new(native)))
    }

    /// A call of such a kernel; what it gives back.
    pub(super) fn call_cupy_body(&mut self, id: ExprId, native: &Native, callee: ExprId, args: &Args) -> Val {
        let Some(kernel) = native.kernel else { return self.call_unknown(id, args) };
        let Some(body) = self.project.module(kernel.0).cupy_body.clone() else { return self.call_unknown(id, args) };
        let reduces = body.kind == CupyBodyKind::Reduction;
        if args.open {
            return self.call_unknown(id, args);
        }
        let call = if reduces { self.looked_into_reduction(id, body, args) } else { self.looked_into(id, body, args) };
        let Some(call) = call else { return self.call_unknown(id, args) };
        self.launch_cupy_body(id, native, kernel, callee, &call);
        let made: Vec<Val> = call
            .body
            .parameters
            .iter()
            .zip(&call.values)
            .filter(|(parameter, _)| parameter.output)
            .map(|(_, (value, _))| value.clone())
            .collect();
        match made.as_slice() {
            [one] => one.clone(),
            // Of a reduction only the first comes back.
            [first, ..] if reduces => first.clone(),
            _ => Val::tuple(made),
        }
    }

    fn looked_into(&mut self, id: ExprId, body: Arc<CupyBody>, args: &Args) -> Option<Call> {
        let parameters = &body.parameters;
        let inputs = parameters.iter().filter(|parameter| !parameter.output).count();
        let given = args.positional.len();
        if given != inputs && given != parameters.len() {
            return None;
        }
        let mut values = args.with_exprs();
        // An array of the host is refused.
        if values.iter().any(|(value, _)| matches!(&value.kind, Kind::Array(array) if array.lib == Lib::Numpy)) {
            return None;
        }
        let own = parameters.iter().zip(&values).filter(|(parameter, _)| !parameter.raw).map(|(_, (value, _))| value);
        let arrays = arrays_among(own.clone());
        let strange = own.clone().any(|value| matches!(value.kind, Kind::Unknown | Kind::Open(_)));
        let shape: Option<Rc<[Dim]>> = match args.given("size").cloned() {
            // With both `CuPy` raises an exception.
            Some(_) if !arrays.is_empty() => return None,
            Some(size) => {
                let q = self.as_int(&size).unwrap_or(Quantity::Unknown);
                Some(Rc::from(vec![Dim { q, why: size.why }]))
            }
            None if strange => None,
            None if arrays.is_empty() => return None,
            None => broadcast(&arrays),
        };
        let types = placeholders(parameters, &values)?;
        self.make_outputs(id, &body, &mut values, shape.as_ref(), &types)?;
        let count = count(shape.as_deref());
        let threads = args.named("block_size").map_or(Some(THREADS), Val::known).filter(|threads| *threads > 0);
        let blocks = match threads {
            Some(threads) if !count.q.is_unknown() => Some(self.ceil_div(&count.q, threads)),
            _ => None,
        };
        Some(Call { body, values, shape, results: None, types, blocks, threads })
    }

    /// Outputs that the call makes; `None` where `CuPy` refuses to.
    pub(super) fn make_outputs(
        &mut self,
        id: ExprId,
        body: &CupyBody,
        values: &mut Vec<(Val, Option<ExprId>)>,
        shape: Option<&Rc<[Dim]>>,
        types: &[(Name, Dtype)],
    ) -> Option<()> {
        for parameter in body.parameters.iter().skip(values.len()) {
            if parameter.raw {
                return None;
            }
            let dtype = types.iter().find(|(name, _)| **name == *parameter.ty).map(|(_, dtype)| *dtype);
            let dtype = dtype.or_else(|| Dtype::named(&parameter.ty)).unwrap_or(Dtype::Unknown);
            let made = Made {
                lib: Lib::Cupy,
                space: MemorySpace::Device,
                api: match body.kind {
                    CupyBodyKind::Elementwise => "cupy.ElementwiseKernel",
                    CupyBodyKind::Reduction => "cupy.ReductionKernel",
                },
                dtype,
                shape: shape.cloned(),
                layout: Layout::C,
                held: Some(Held::fresh()),
            };
            let site = self.expr_site(id);
            values.push((Val::array(self.new_array(made, site)), None));
        }
        Some(())
    }

    fn launch_cupy_body(
        &mut self,
        id: ExprId,
        native: &Native,
        kernel: (ModuleId, FunctionId),
        callee: ExprId,
        call: &Call,
    ) {
        let site = self.expr_site(id);
        let count = count(call.shape.as_deref());
        // Of nothing nothing is launched.
        if count.q.known() == Some(0) {
            return;
        }
        let threads = call.threads;
        let env = TypeEnv::new(
            call.types
                .iter()
                .map(|(name, dtype)| (name.clone(), element(*dtype).map_or(Argument::Unknown, Argument::Type)))
                .collect(),
        );
        let given = self.body_given(call, &count);
        if self.wants(site) {
            let one = || Val::int(1);
            let blocks = match &call.blocks {
                Some(blocks) => Val { kind: Kind::Int(blocks.clone()), why: count.why.clone() },
                None => Val::unknown(),
            };
            let text = self.text(id).to_owned();
            let grid = Dims { axes: [blocks, one(), one()], text: text.clone(), site };
            let block = Dims { axes: [threads.map_or_else(Val::unknown, Val::int), one(), one()], text, site };
            let (shared, shared_written) = self.shared_amount(None);
            // One for each parameter of the code.
            let args_facts = cupy_slots(&call.body)
                .into_iter()
                .map(|slot| {
                    let at = match slot {
                        CupySlot::Data(at) | CupySlot::Size(at) | CupySlot::IsArray(at) | CupySlot::Number(at) => {
                            Some(at)
                        }
                        CupySlot::Count | CupySlot::Results => None,
                    };
                    let given = at.and_then(|at| call.values.get(at)).cloned();
                    let (value, expr) = given.unwrap_or_else(|| (Val::unknown(), None));
                    let argument = self.launch_argument(&value, expr, site);
                    let pointer = argument.pointer.clone().filter(|_| matches!(slot, CupySlot::Data(_)));
                    LaunchArgument { pointer, ..argument }
                })
                .collect();
            let fact = LaunchFact {
                kernel: Some(kernel),
                kernel_name: self.text(callee).to_owned(),
                config_span: site.span,
                grid: extent3(&grid, &None),
                block: extent3(&block, &None),
                shared,
                shared_written,
                shared_opt_in: super::emit::amount(&Dim::known(0)),
                args: args_facts,
                given,
                env: env.clone(),
                spelling: LaunchSpelling::CupyBody,
                ..LaunchFact::default()
            };
            let mentioned = self.mentioned(id);
            self.emit(EventKind::Launch(Box::new(fact)), site, &mentioned);
        }
        let uses: Vec<Use> = call
            .body
            .parameters
            .iter()
            .map(|parameter| Use { written: false, escapes: parameter.output, ..Use::default() })
            .collect();
        self.after_launch(site, &Name::from(native.name.as_str()), &call.values, &uses);
    }

    /// What the kernel's code gets, one for each of its parameters.
    fn body_given(&mut self, call: &Call, count: &Dim) -> Vec<Given> {
        let number = |dim: &Dim| {
            if dim.q.is_unknown() {
                return Given::Unknown;
            }
            Given::Int { amount: super::emit::amount(dim), bytes: 8, signed: true }
        };
        let truth =
            |value: i64| Given::Int { amount: super::emit::amount(&Dim::known(value)), bytes: 1, signed: false };
        let mut all = Vec::new();
        let results = self::count(call.results.as_deref());
        for slot in cupy_slots(&call.body) {
            let one = match slot {
                CupySlot::Count => number(count),
                CupySlot::Results => number(&results),
                CupySlot::Data(at) | CupySlot::Size(at) | CupySlot::IsArray(at) | CupySlot::Number(at) => {
                    let Some((value, _)) = call.values.get(at).cloned() else {
                        all.push(Given::Unknown);
                        continue;
                    };
                    let parameter = &call.body.parameters[at];
                    match (slot, &value.kind) {
                        (CupySlot::Data(_), Kind::Array(array)) => {
                            let reduced = parameter.output && call.body.kind == CupyBodyKind::Reduction;
                            let shape = if reduced { call.results.as_deref() } else { call.shape.as_deref() };
                            let whole = array.layout == Layout::C && (parameter.raw || same(array, shape));
                            if whole {
                                self.native_pointer(&Rc::clone(array), &value, None, None)
                            } else {
                                Given::Somewhere
                            }
                        }
                        (CupySlot::Data(_), _) => Given::Somewhere,
                        (CupySlot::Size(_), Kind::Array(array)) => number(&array.size()),
                        (CupySlot::IsArray(_), Kind::Array(_)) => truth(1),
                        (
                            CupySlot::IsArray(_),
                            Kind::Int(_) | Kind::Float(_) | Kind::Ratio(..) | Kind::Bool(_) | Kind::Number(..),
                        ) => truth(0),
                        (CupySlot::Number(_), _) => self.number_given(&value, parameter, &call.types),
                        _ => Given::Unknown,
                    }
                }
            };
            all.push(one);
        }
        all
    }

    /// A number, converted to the type of its parameter.
    fn number_given(&mut self, value: &Val, parameter: &CupyParameter, types: &[(Name, Dtype)]) -> Given {
        let dtype = types.iter().find(|(name, _)| **name == *parameter.ty).map(|(_, dtype)| *dtype);
        match dtype.or_else(|| Dtype::named(&parameter.ty)) {
            Some(Dtype::Int { bytes, signed }) => match value.quantity().filter(|q| !q.is_unknown()) {
                Some(_) => Given::Int { amount: value.amount(), bytes, signed },
                None => Given::Unknown,
            },
            Some(Dtype::Float { .. }) => match value.number() {
                Some(number) => Given::Float { value: number, assumptions: value.why.clone() },
                None => Given::Unknown,
            },
            _ => Given::Unknown,
        }
    }
}

/// The element types of placeholders, by the arrays that are given for them; `None` where `CuPy` finds that two do not agree and
/// raises an exception.
pub(super) fn placeholders(
    parameters: &[CupyParameter],
    values: &[(Val, Option<ExprId>)],
) -> Option<Vec<(Name, Dtype)>> {
    let mut types: Vec<(Name, Dtype)> = Vec::new();
    for (parameter, (value, _)) in parameters.iter().zip(values) {
        let dtype = match &value.kind {
            Kind::Array(array) => array.dtype,
            Kind::Number(dtype, _) => *dtype,
            _ => continue,
        };
        if parameter.ty.len() > 1 {
            let wanted = Dtype::named(&parameter.ty).unwrap_or(Dtype::Unknown);
            if matches!(value.kind, Kind::Array(_)) && wanted != dtype && ![wanted, dtype].contains(&Dtype::Unknown) {
                return None;
            }
            continue;
        }
        match types.iter().find(|(name, _)| **name == *parameter.ty) {
            Some((_, known)) if *known != dtype && ![*known, dtype].contains(&Dtype::Unknown) => return None,
            Some(_) => {}
            None => types.push((Name::from(&*parameter.ty), dtype)),
        }
    }
    for parameter in parameters.iter().filter(|parameter| parameter.ty.len() == 1) {
        if !types.iter().any(|(name, _)| **name == *parameter.ty) {
            types.push((Name::from(&*parameter.ty), Dtype::Unknown));
        }
    }
    Some(types)
}

/// How many elements a shape has.
pub(super) fn count(shape: Option<&[Dim]>) -> Dim {
    shape.map_or_else(Dim::unknown, |shape| Dim::known(1).times(shape))
}

pub(super) fn same(array: &Array, shape: Option<&[Dim]>) -> bool {
    let (Some(own), Some(shape)) = (array.shape.as_deref(), shape) else { return false };
    own.len() == shape.len() && own.iter().zip(shape).all(|(a, b)| a.q.surely_equals(&b.q))
}

fn element(dtype: Dtype) -> Option<Ty> {
    match dtype {
        Dtype::Bool => Some(Ty::Bool),
        Dtype::Int { bytes, signed } => Some(Ty::Int { bytes, signed }),
        Dtype::Float { bytes } => Some(Ty::Float { bytes }),
        Dtype::Complex { .. } | Dtype::Record { .. } | Dtype::Unknown | Dtype::Other => None,
    }
}
