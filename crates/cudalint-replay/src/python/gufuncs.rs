//! Calls of generalized ufuncs: `@guvectorize(["void(f4[:], f4[:])"], "(n)->(n)", target="cuda")`.
//!
//! The dimensions that the layout names are the body's; those before them are gone through, a thread an element
//! (`numba.cuda.deviceufunc`). Arrays of the host are copied to the device and back.

use super::Walker;
use super::arrays::Made;
use super::calls::Args;
use super::hand::{Handed, extent};
use super::value::{Dim, Dtype, Kernel, Kind, Layout, Lib, Val};
use crate::given::Given;
use crate::quantity::{Quantity, union};
use cudalint_kernel::code::Ty;
use cudalint_kernel::python::{ArgumentType, Order, Signature, guess_arguments, stated_signatures};
use cudalint_program::ir::{Expr, ExprId, FunctionId, ModuleId, PythonExpr};
use std::rc::Rc;

/// Names of an array's dimensions.
type Core = Vec<String>;

/// `(m,n),(n)->(m)`: the dimensions of the inputs and of the outputs.
fn layout(text: &str) -> Option<(Vec<Core>, Vec<Core>)> {
    let (inputs, outputs) = text.split_once("->")?;
    let side = |text: &str| -> Option<Vec<Core>> {
        let mut all = Vec::new();
        let mut rest = text.trim();
        while !rest.is_empty() {
            let (inside, after) = rest.strip_prefix('(')?.split_once(')')?;
            all.push(inside.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect());
            rest = after.trim().trim_start_matches(',').trim();
        }
        Some(all)
    };
    Some((side(inputs)?, side(outputs)?))
}

/// What an argument is in the loop.
struct Part {
    value: Val,
    expr: Option<ExprId>,
    /// Extents of the body's dimensions.
    core: Vec<Dim>,
    /// Whether the loop goes over it; else every thread has all of it.
    looped: bool,
}

impl Walker<'_> {
    /// A call; what it gives back.
    pub(super) fn call_gufunc(&mut self, id: ExprId, kernel: &Rc<Kernel>, callee: ExprId, args: &Args) -> Val {
        let result = self.gufunc(id, kernel, callee, args);
        match result {
            Some(value) => value,
            None => {
                args.positional.iter().chain(args.keywords.iter().map(|(_, value)| value)).for_each(|v| self.lose(v));
                Val::unknown()
            }
        }
    }

    /// The layout that the decorator states.
    fn layout_of(&self, kernel: &Kernel) -> Option<(Vec<Core>, Vec<Core>)> {
        let closure = &kernel.closure;
        let module = self.project.module(closure.module);
        let function = self.project.function_at(closure.module, closure.function)?;
        let decorator = function.python.as_ref()?.kernel.as_ref()?.expr;
        let kind = |id: ExprId| module.exprs.get(id).map(|node| &node.kind);
        let Expr::Call { args, .. } = kind(decorator)? else { return None };
        args.iter().find_map(|arg| match kind(*arg)? {
            Expr::Str(text) if text.contains("->") => layout(text),
            Expr::Python(python) => match &**python {
                PythonExpr::Keyword(_, value) => match kind(*value)? {
                    Expr::Str(text) if text.contains("->") => layout(text),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        })
    }

    /// The argument types that the call is compiled for: of several signatures those of its arrays.
    fn stated_by(&self, target: (ModuleId, FunctionId), values: &[Val]) -> Option<Vec<ArgumentType>> {
        let guessed = || Some(guess_arguments(self.project, target.0, target.1).unwrap_or_default());
        let Some(all) = stated_signatures(self.project, target.0, target.1) else { return guessed() };
        if all.len() < 2 {
            return guessed();
        }
        let alike = |formal: &ArgumentType, value: &Val| {
            let (ArgumentType::Scalar(ty) | ArgumentType::Array { element: ty, .. }) = formal else { return false };
            let dtype = match &value.kind {
                Kind::Array(array) => array.dtype,
                _ => value.natural(),
            };
            dtype_of_element(ty) == dtype && dtype != Dtype::Unknown
        };
        let same =
            |stated: &&Signature| stated.arguments.iter().zip(values).all(|(formal, value)| alike(formal, value));
        all.iter().find(same).map(|signature| signature.arguments.clone())
    }

    fn gufunc(&mut self, id: ExprId, kernel: &Rc<Kernel>, callee: ExprId, args: &Args) -> Option<Val> {
        let (inputs, outputs) = self.layout_of(kernel)?;
        let target = (kernel.closure.module, kernel.closure.function);
        let function = self.project.function_at(target.0, target.1)?;
        let stated = self.stated_by(target, &args.positional)?;
        let count = inputs.len() + outputs.len();
        if args.open || function.param_count as usize != count || stated.len() != count {
            return None;
        }
        let mut given = args.with_exprs();
        if let Some(out) = args.given("out") {
            // It stands for all outputs.
            if given.len() != inputs.len() || outputs.len() != 1 {
                return None;
            }
            given.push((out.clone(), args.expr(usize::MAX, "out")));
        }
        if given.len() != inputs.len() && given.len() != count {
            return None;
        }
        let mut sizes: Vec<(String, Dim)> = Vec::new();
        let mut outer: Option<Vec<Dim>> = None;
        let mut parts: Vec<Part> = Vec::new();
        let made_here = inputs.len() == given.len();
        for (names, (value, expr)) in inputs.iter().chain(&outputs).zip(given) {
            let part = self.part(value, expr, names, &mut sizes, &mut outer)?;
            parts.push(part);
        }
        let outer = outer.unwrap_or_default();
        for names in outputs.iter().filter(|_| made_here) {
            let core: Vec<Dim> = names.iter().map(|name| size_of(&sizes, name)).collect::<Option<_>>()?;
            let dtype = match stated.get(parts.len()) {
                Some(ArgumentType::Array { element, .. }) => dtype_of_element(element),
                _ => Dtype::Unknown,
            };
            // With any array of the device the result stays there.
            let device =
                parts.iter().any(|part| matches!(&part.value.kind, Kind::Array(array) if array.lib != Lib::Numpy));
            let made = Made::result(device, dtype, outer.iter().chain(&core).cloned().collect());
            let site = self.expr_site(id);
            let value = Val::array(self.new_array(made, site));
            parts.push(Part { value, expr: None, core, looped: true });
        }
        self.launch_gufunc(id, kernel, callee, &parts, &outer, &stated);
        let made: Vec<Val> = parts.iter().skip(inputs.len()).map(|part| part.value.clone()).collect();
        Some(match made.as_slice() {
            [one] => one.clone(),
            _ => Val::tuple(made),
        })
    }

    /// An argument by the names of its dimensions; `None` where sizes are not known, or do not go together.
    fn part(
        &mut self,
        value: Val,
        expr: Option<ExprId>,
        names: &[String],
        sizes: &mut Vec<(String, Dim)>,
        outer: &mut Option<Vec<Dim>>,
    ) -> Option<Part> {
        let shape: Vec<Dim> = match &value.kind {
            Kind::Array(array) if array.layout == Layout::C => array.shape.as_ref()?.to_vec(),
            Kind::Int(_) | Kind::Float(_) | Kind::Number(..) if names.is_empty() => Vec::new(),
            _ => return None,
        };
        let before = shape.len().checked_sub(names.len())?;
        let (own, core) = shape.split_at(before);
        for (name, dim) in names.iter().zip(core) {
            match size_of(sizes, name) {
                Some(known) if !known.q.surely_equals(&dim.q) => return None,
                Some(_) => {}
                None => sizes.push((name.clone(), dim.clone())),
            }
        }
        if !own.is_empty() {
            match outer {
                Some(known) => {
                    let alike = known.len() == own.len() && known.iter().zip(own).all(|(a, b)| a.q.surely_equals(&b.q));
                    if !alike {
                        return None;
                    }
                }
                None => *outer = Some(own.to_vec()),
            }
        }
        Some(Part { value, expr, core: core.to_vec(), looped: !own.is_empty() })
    }

    fn launch_gufunc(
        &mut self,
        id: ExprId,
        kernel: &Rc<Kernel>,
        callee: ExprId,
        parts: &[Part],
        outer: &[Dim],
        stated: &[ArgumentType],
    ) {
        let count =
            outer.iter().fold(Dim::known(1), |all, dim| Dim { q: all.q.times(&dim.q), why: union(&all.why, &dim.why) });
        if count.q.known() == Some(0) {
            return;
        }
        let handed: Vec<Handed> = parts
            .iter()
            .enumerate()
            .map(|(index, part)| self.hand_part(part, outer.is_empty(), &count, stated.get(index), index))
            .collect();
        let values: Vec<(Val, Option<ExprId>)> = parts.iter().map(|part| (part.value.clone(), part.expr)).collect();
        let target = (kernel.closure.module, kernel.closure.function);
        self.launch_over(id, (kernel, callee), &count, &values, handed, |this, made| this.uses(target, made));
    }

    /// An argument with an axis for the loop before its own.
    fn hand_part(
        &mut self,
        part: &Part,
        single: bool,
        count: &Dim,
        stated: Option<&ArgumentType>,
        index: usize,
    ) -> Handed {
        let element = match (&part.value.kind, stated) {
            (Kind::Array(array), _) if !matches!(array.dtype, Dtype::Unknown | Dtype::Other) => array.dtype.ty(),
            (_, Some(ArgumentType::Scalar(ty) | ArgumentType::Array { element: ty, .. })) => ty.clone(),
            _ => Ty::Opaque { bytes: Some(super::dtype::STAND_IN_BYTES as u32) },
        };
        let pointer = match &part.value.kind {
            Kind::Array(array) => {
                let copied = (array.lib == Lib::Numpy).then_some(index);
                self.given_pointer(&Rc::clone(array), &part.value, copied, None)
            }
            _ => Given::Somewhere,
        };
        let mut given = vec![pointer, extent(count, &part.value)];
        given.extend(part.core.iter().map(|dim| extent(dim, &part.value)));
        let rank = u8::try_from(part.core.len() + 1).unwrap_or(u8::MAX);
        // What the loop does not go over is the same for every thread.
        let order = if part.looped || single { Order::C } else { Order::Strided };
        if order == Order::Strided {
            let bytes = i64::from(element.bytes().unwrap_or(super::dtype::STAND_IN_BYTES as u32));
            let mut strides = Vec::new();
            let mut next = Quantity::Known(bytes);
            for dim in part.core.iter().rev() {
                strides.push(next.clone());
                next = next.times(&dim.q);
            }
            strides.push(Quantity::Known(0));
            given.extend(strides.into_iter().rev().map(|q| extent(&Dim { q, why: None }, &part.value)));
        }
        Handed { ty: ArgumentType::Array { element, rank, order }, given }
    }
}

fn size_of(sizes: &[(String, Dim)], name: &str) -> Option<Dim> {
    if let Ok(number) = name.parse() {
        return Some(Dim::known(number));
    }
    sizes.iter().find(|(known, _)| known == name).map(|(_, dim)| dim.clone())
}

pub(super) fn dtype_of_element(element: &Ty) -> Dtype {
    match element {
        Ty::Bool => Dtype::Bool,
        Ty::Int { bytes, signed } => Dtype::Int { bytes: *bytes, signed: *signed },
        Ty::Float { bytes } => Dtype::Float { bytes: *bytes },
        _ => Dtype::Unknown,
    }
}
