//! Calls of ufuncs and of reductions that Numba makes of a function of numbers: `@vectorize(["f4(f4, f4)"], target="cuda")`,
//! `@cuda.reduce`.
//!
//! A ufunc's arrays are broadcast together and gone through flat, a thread an element of the array of results; their types
//! must be exactly those of a signature (`UFuncMechanism.call` of `numba.cuda.deviceufunc`). Arrays of the host are copied
//! to the device, and the result back where none is of the device.

use super::Walker;
use super::arrays::{Made, broadcast};
use super::calls::Args;
use super::cupy_bodies::{count, same};
use super::gufuncs::dtype_of_element;
use super::hand::{Handed, extent};
use super::launches::FORALL_THREADS;
use super::value::{Array, Configured, Dim, Dims, Dtype, Kernel, Kind, Layout, Lib, Val, arrays_among};
use crate::facts::EventKind;
use crate::given::Given;
use crate::quantity::{Quantity, assume};
use cudalint_kernel::code::Ty;
use cudalint_kernel::python::{ArgumentType, Order, Signature, Specialization, stated_signatures};
use cudalint_kernel::readings::Use;
use cudalint_program::Name;
use cudalint_program::ir::ExprId;
use std::rc::Rc;
use std::sync::Arc;

/// An argument of a ufunc.
struct Input {
    value: Val,
    expr: Option<ExprId>,
    /// What the function's parameter is.
    element: Ty,
}

impl Walker<'_> {
    /// A call of a ufunc; what it gives back.
    pub(super) fn call_ufunc(&mut self, id: ExprId, kernel: &Rc<Kernel>, callee: ExprId, args: &Args) -> Val {
        for value in &args.positional {
            self.looked_at(value, id);
        }
        match self.ufunc(id, kernel, callee, args) {
            Some(value) => value,
            None => {
                args.keywords.iter().for_each(|(_, value)| self.lose(value));
                self.elementwise(&args.positional.clone(), Some(Dtype::Unknown))
            }
        }
    }

    fn ufunc(&mut self, id: ExprId, kernel: &Rc<Kernel>, callee: ExprId, args: &Args) -> Option<Val> {
        let target = (kernel.closure.module, kernel.closure.function);
        let function = self.project.function_at(target.0, target.1)?;
        let count = function.param_count as usize;
        if args.open || args.positional.len() != count || count == 0 {
            return None;
        }
        let signatures = stated_signatures(self.project, target.0, target.1)?;
        let signature = chosen(&signatures, &args.positional)?;
        let inputs: Vec<Input> = args
            .positional
            .iter()
            .enumerate()
            .map(|(at, value)| {
                let element = match signature.arguments.get(at)? {
                    ArgumentType::Scalar(element) => element.clone(),
                    _ => return None,
                };
                Some(Input { value: value.clone(), expr: args.exprs.get(at).copied(), element })
            })
            .collect::<Option<_>>()?;
        let arrays = arrays_among(inputs.iter().map(|input| &input.value));
        let shape: Option<Rc<[Dim]>> =
            if arrays.is_empty() { Some(Rc::from(vec![Dim::known(1)])) } else { broadcast(&arrays) };
        let shape = shape.filter(|shape| arrays.iter().all(|array| fits(array, shape)))?;
        let dtype = signature.returns.as_ref().map_or(Dtype::Unknown, dtype_of_element);
        let out = args.given("out").cloned();
        let (result, given_back) = match out {
            None => {
                let device = arrays.iter().any(|array| array.lib != Lib::Numpy);
                let made = Made::result(device, dtype, Rc::clone(&shape));
                let site = self.expr_site(id);
                let value = Val::array(self.new_array(made, site));
                (value.clone(), value)
            }
            Some(out) => {
                let Kind::Array(array) = &out.kind else { return None };
                // One of the host has to have the shape of what is gone through, which is flat.
                let flat = [super::cupy_bodies::count(Some(&shape))];
                if array.lib == Lib::Numpy && !same(array, Some(&flat)) {
                    return None;
                }
                let value = Val { kind: Kind::Array(Rc::clone(array)), why: out.why.clone() };
                let own_shape = array.size().q.surely_equals(&flat[0].q);
                (value.clone(), if own_shape { value } else { Val::unknown() })
            }
        };
        self.launch_ufunc(id, kernel, callee, &inputs, (&result, args.expr(usize::MAX, "out")), &shape);
        Some(given_back)
    }

    fn launch_ufunc(
        &mut self,
        id: ExprId,
        kernel: &Rc<Kernel>,
        callee: ExprId,
        inputs: &[Input],
        (result, result_expr): (&Val, Option<ExprId>),
        shape: &Rc<[Dim]>,
    ) {
        let elements = count(Some(shape));
        // Of nothing nothing is launched.
        if elements.q.known() == Some(0) {
            return;
        }
        let Kind::Array(results) = &result.kind else { return };
        let mut handed: Vec<Handed> =
            inputs.iter().enumerate().map(|(index, input)| self.hand_input(input, &elements, shape, index)).collect();
        handed.push(self.hand_results(results, result, inputs.len()));
        let mut values: Vec<(Val, Option<ExprId>)> =
            inputs.iter().map(|input| (input.value.clone(), input.expr)).collect();
        values.push((result.clone(), result_expr));
        let mut uses = vec![Use::default(); inputs.len()];
        // What the call makes goes where its value goes.
        uses.push(Use { written: true, escapes: result_expr.is_none(), ..Use::default() });
        self.launch_over(id, (kernel, callee), &elements, &values, handed, |_, _| Rc::new(uses));
    }

    /// Launches a kernel of which each thread does one of so many elements. `uses` says what becomes of its arguments.
    pub(super) fn launch_over(
        &mut self,
        id: ExprId,
        (kernel, callee): (&Rc<Kernel>, ExprId),
        elements: &Dim,
        values: &[(Val, Option<ExprId>)],
        handed: Vec<Handed>,
        uses: impl FnOnce(&mut Self, &Specialization) -> Rc<Vec<Use>>,
    ) {
        let site = self.expr_site(id);
        let why = assume(format!("a block of a ufunc has {FORALL_THREADS} threads"));
        let blocks =
            if elements.q.is_unknown() { elements.q.clone() } else { self.ceil_div(&elements.q, FORALL_THREADS) };
        let x = |q: Quantity| Val { kind: Kind::Int(q), why: why.clone() };
        let text = self.text(id).to_owned();
        let one = || Val::int(1);
        let configured = Configured {
            kernel: Val::from(Kind::Kernel(Rc::clone(kernel))),
            name: self.text(callee).to_owned(),
            grid: Dims { axes: [x(blocks).because(&elements.why), one(), one()], text: text.clone(), site },
            block: Dims { axes: [x(Quantity::Known(FORALL_THREADS)), one(), one()], text, site },
            shared: None,
            config: site,
            why: None,
            divided: None,
        };
        let arguments: Vec<ArgumentType> = handed.iter().map(|one| one.ty.clone()).collect();
        let captured = self.captured_by(&kernel.closure);
        let spec = Arc::new(Specialization { dialect: kernel.dialect, arguments, captured });
        let uses = uses(self, &spec);
        if self.wants(site) {
            let fact = self.launch_fact(kernel, &configured, values, handed, spec);
            let mentioned = self.mentioned(id);
            self.emit(EventKind::Launch(Box::new(fact)), site, &mentioned);
        }
        let target = (kernel.closure.module, kernel.closure.function);
        let name = self.project.function_at(target.0, target.1).map_or_else(Name::default, |f| f.name.clone());
        self.after_launch(site, &name, values, &uses);
    }

    /// An array in one piece as it is; one that is repeated has its elements somewhere.
    fn hand_input(&mut self, input: &Input, elements: &Dim, shape: &[Dim], index: usize) -> Handed {
        let element = input.element.clone();
        let Kind::Array(array) = &input.value.kind else {
            return Handed { ty: ArgumentType::Scalar(element), given: vec![Given::Unknown] };
        };
        let array = Rc::clone(array);
        let pointer = if array.layout == Layout::C && same(&array, Some(shape)) {
            let copied = (array.lib == Lib::Numpy).then_some(index);
            self.given_pointer(&array, &input.value, copied, None)
        } else {
            Given::Somewhere
        };
        let given = vec![pointer, extent(elements, &input.value)];
        Handed { ty: ArgumentType::Array { element, rank: 1, order: Order::C }, given }
    }

    fn hand_results(&mut self, array: &Rc<Array>, value: &Val, index: usize) -> Handed {
        let element = match array.dtype {
            Dtype::Unknown | Dtype::Other => Ty::Opaque { bytes: Some(super::dtype::STAND_IN_BYTES as u32) },
            dtype => dtype.ty(),
        };
        let pointer = if array.layout == Layout::C {
            let copied = (array.lib == Lib::Numpy).then_some(index);
            self.given_pointer(array, value, copied, None)
        } else {
            Given::Somewhere
        };
        let given = vec![pointer, extent(&array.size(), value)];
        Handed { ty: ArgumentType::Array { element, rank: 1, order: Order::C }, given }
    }

    /// `f.reduce(a)` of a ufunc of two numbers: what an array of the device held is overwritten on the way
    /// (`CUDAUFuncDispatcher.reduce`).
    pub(super) fn reduced_by_ufunc(&mut self, id: ExprId, args: &Args) -> Val {
        let (Some(from), false) = (args.get(0, "arg").cloned(), args.open) else { return self.call_unknown(id, args) };
        let Kind::Array(array) = &from.kind else { return self.call_unknown(id, args) };
        self.looked_at(&from, id);
        if array.lib != Lib::Numpy {
            self.wrote(array.buffer);
        }
        match array.dtype {
            Dtype::Unknown | Dtype::Other => self.result_of(id),
            dtype => Val::from(Kind::Number(dtype, Rc::new(Val::unknown()))),
        }
    }

    /// A call of a reduction: a number of the array's type, or `None` where `res` takes it (`Reduce.__call__`).
    pub(super) fn call_reduction(&mut self, id: ExprId, args: &Args) -> Val {
        let (Some(from), false) = (args.get(0, "arr").cloned(), args.open) else { return self.call_unknown(id, args) };
        let Kind::Array(array) = &from.kind else { return self.call_unknown(id, args) };
        // More than one axis raises an exception.
        if array.rank().is_some_and(|rank| rank != 1) {
            return self.call_unknown(id, args);
        }
        let dtype = array.dtype;
        self.looked_at(&from, id);
        if let Some(res) = args.get(2, "res").filter(|res| !matches!(res.kind, Kind::None)).cloned() {
            match &res.kind {
                Kind::Array(res) => self.wrote(res.buffer),
                _ => self.lose(&res),
            }
            return Val::none();
        }
        if matches!(dtype, Dtype::Unknown | Dtype::Other) {
            return self.result_of(id);
        }
        Val::from(Kind::Number(dtype, Rc::new(Val::unknown())))
    }
}

/// The signature that a call takes: the one that the types of its arrays are, where numbers go along.
fn chosen<'s>(signatures: &'s [Signature], values: &[Val]) -> Option<&'s Signature> {
    let alike = |formal: &ArgumentType, dtype: Dtype| {
        let own = match formal {
            ArgumentType::Scalar(ty) => dtype_of_element(ty),
            _ => return false,
        };
        own == dtype || matches!(own, Dtype::Unknown) || matches!(dtype, Dtype::Unknown | Dtype::Other)
    };
    let matching = |numbers: bool| -> Vec<&'s Signature> {
        let fits = |signature: &&Signature| {
            signature.arguments.len() == values.len()
                && signature.arguments.iter().zip(values).all(|(formal, value)| match &value.kind {
                    Kind::Array(array) => alike(formal, array.dtype),
                    _ => !numbers || alike(formal, value.natural()),
                })
        };
        signatures.iter().filter(fits).collect()
    };
    let arrays_or_numbers = values.iter().all(|value| {
        matches!(
            value.kind,
            Kind::Array(_) | Kind::Int(_) | Kind::Float(_) | Kind::Ratio(..) | Kind::Bool(_) | Kind::Number(..)
        )
    });
    if !arrays_or_numbers {
        return None;
    }
    let exact = matching(true);
    let fitting = if exact.is_empty() { matching(false) } else { exact };
    // Without any and with more than one there is an exception.
    match fitting.as_slice() {
        [one] => Some(one),
        _ => None,
    }
}

/// Whether an array can be repeated to a shape.
fn fits(array: &Array, shape: &[Dim]) -> bool {
    let Some(own) = array.shape.as_deref() else { return false };
    let Some(missing) = shape.len().checked_sub(own.len()) else { return false };
    let below = shape.get(missing..).unwrap_or(&[]);
    own.iter().zip(below).all(|(a, b)| a.q.known() == Some(1) || a.q.surely_equals(&b.q))
}
