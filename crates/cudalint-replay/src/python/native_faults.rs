//! Arguments of kernels in CUDA C++ that these read as something else than they are.

use super::Walker;
use super::parameters::{elements_differ, is_as_wide};
use super::value::{Dtype, Kind, Layout, Lib, Maker, Native, Transfer, Val};
use crate::facts::{PythonFaultKind, Site, TypeProblem, WrongArgument};
use crate::given::HeldContents;
use crate::parameters::reads_only;
use cudalint_program::ir::{ExprId, FunctionId, LocalId, ModuleId};
use cudalint_program::types::{Ty, TypeEnv};
use std::rc::Rc;

/// A number that a kernel reads as something else than it is.
pub(super) struct WrongNumber {
    pub problem: TypeProblem,
    site: Site,
    argument: WrongArgument,
}

impl Walker<'_> {
    /// Numbers that a kernel reads as something else than they are.
    pub(super) fn misread_numbers(
        &self,
        kernel: (ModuleId, FunctionId),
        env: &TypeEnv,
        values: &[(Val, Option<ExprId>)],
        maker: Maker,
    ) -> Vec<WrongNumber> {
        let Some(function) = self.project.function_at(kernel.0, kernel.1) else { return Vec::new() };
        if values.len() != function.param_count as usize || function.damaged {
            return Vec::new();
        }
        let wrong = values.iter().enumerate().filter_map(|(index, (value, expr))| {
            let ty = self.parameter_type(kernel, env, index)?;
            let problem = match ty {
                Ty::Int { .. } | Ty::Float { .. } => misread(value, &ty, maker)?,
                _ => return None,
            };
            let parameter = &function.locals[LocalId::from(index)];
            Some(WrongNumber {
                problem,
                site: expr.map_or_else(|| self.call_site(), |expr| self.expr_site(expr)),
                argument: WrongArgument {
                    text: expr.map(|expr| self.text(expr).to_owned()).unwrap_or_default(),
                    given: python_type(value),
                    wanted: ty.name(),
                    parameter: parameter.name.to_string(),
                    declared: Site { module: kernel.0, span: parameter.span },
                },
            })
        });
        wrong.collect()
    }

    /// Arguments that the kernel reads as something else than they are.
    pub(super) fn argument_faults(
        &mut self,
        kernel: (ModuleId, FunctionId),
        env: &TypeEnv,
        values: &[(Val, Option<ExprId>)],
        native: &Native,
        wrong: Vec<WrongNumber>,
    ) {
        let Some(function) = self.project.function_at(kernel.0, kernel.1) else { return };
        if values.len() != function.param_count as usize || function.damaged {
            return;
        }
        for (index, (value, expr)) in values.iter().enumerate() {
            let Some(Ty::Pointer(element)) = self.parameter_type(kernel, env, index) else { continue };
            let parameter = &function.locals[LocalId::from(index)];
            let declared = Site { module: kernel.0, span: parameter.span };
            let site = expr.map_or_else(|| self.call_site(), |expr| self.expr_site(expr));
            let text = expr.map(|expr| self.text(expr).to_owned()).unwrap_or_default();
            let common = (native.name.clone(), parameter.name.to_string(), declared, text);
            let (inner, buffer) = match &value.kind {
                // Its bytes are taken for an address: that is another matter.
                Kind::Array(array) if array.lib == Lib::Numpy => continue,
                Kind::Array(array) => (Rc::clone(array), array.buffer),
                Kind::Transfer(kind, inner) => match &inner.kind {
                    Kind::Array(array) if *kind != Transfer::Out || native.maker == Maker::PyCuda => {
                        (Rc::clone(array), array.buffer)
                    }
                    _ => continue,
                },
                _ => continue,
            };
            let Some(memory) = self.heap.buffer(buffer) else { continue };
            let made = memory.info.site;
            let zeros = memory.held.as_ref().is_some_and(|held| held.contents == HeldContents::Filled(0));
            let (kernel_name, parameter, declared, text) = common;
            if let Some((own, wanted)) = elements_differ(inner.dtype, &element) {
                // Zeros are the same number in each of these types.
                let same = zeros && is_as_wide(inner.dtype, &element);
                if same && reads_only(self.project, kernel, index)
                    || self.reads_as_another_type(kernel, env, index, &element)
                {
                    continue;
                }
                let kind = PythonFaultKind::ElementType {
                    kernel: kernel_name,
                    parameter,
                    declared,
                    wanted,
                    given: own,
                    text,
                    made,
                };
                self.fault(kind, site, value.why.clone(), &[]);
            } else if let Some(view) = inner.view
                && self.indexes_in_order(kernel, env, index, &inner)
            {
                let kind = PythonFaultKind::NotContiguous {
                    kernel: kernel_name,
                    parameter,
                    declared,
                    text,
                    view,
                    transposed: inner.layout == Layout::Fortran,
                };
                self.fault(kind, site, value.why.clone(), &[]);
            }
        }
        self.number_faults(native, wrong);
    }

    /// Reports numbers that arrive as others, and those that the launch refuses.
    pub(super) fn number_faults(&mut self, native: &Native, wrong: Vec<WrongNumber>) {
        // What one exception says is one fault; numbers that arrive as others are one each.
        let (refused, read): (Vec<_>, Vec<_>) =
            wrong.into_iter().partition(|number| number.problem == TypeProblem::Refused);
        let mut refused = refused.into_iter();
        let first = refused.next().map(|first| (first, refused.map(|number| number.argument).collect()));
        for (number, others) in first.into_iter().chain(read.into_iter().map(|number| (number, Vec::new()))) {
            let WrongNumber { problem, site, argument } = number;
            let kind = PythonFaultKind::ArgumentType { kernel: native.name.clone(), argument, problem, others };
            self.fault(kind, site, None, &[]);
        }
    }

    fn call_site(&self) -> Site {
        Site { module: self.module_id(), span: cudalint_syntax::Span::default() }
    }
}

/// How a kernel misreads a number, if it does. `CuPy` hands over the bytes of a Python `float` as a `double` and of an `int` as a
/// `long long` (`CuPy`'s documentation of `RawKernel`, "no type conversion"); `PyCUDA` refuses both (`driver.py`, `invalid type on
/// parameter`). Zeros stand behind a shorter integer of `CuPy` (14.2, asked on an H200: of 200 launches of each kind of integer all were
/// right that were not negative, and none that were).
pub(super) fn misread(value: &Val, ty: &Ty, maker: Maker) -> Option<TypeProblem> {
    let plain = matches!(value.kind, Kind::Int(_) | Kind::Float(_) | Kind::Ratio(..));
    if maker == Maker::PyCuda && plain {
        return Some(TypeProblem::Refused);
    }
    let (bytes, float) = match &value.kind {
        Kind::Int(_) => (8, false),
        Kind::Float(_) | Kind::Ratio(..) => (8, true),
        Kind::Number(Dtype::Int { bytes, .. }, _) => (*bytes, false),
        Kind::Number(Dtype::Float { bytes }, _) => (*bytes, true),
        _ => return None,
    };
    // Zero has the same bytes in each type that is no wider.
    let is_zero = match &value.kind {
        Kind::Float(number) => *number == Some(0.0),
        Kind::Number(_, inner) if float => matches!(inner.kind, Kind::Float(Some(0.0))),
        _ => value.quantity().and_then(|quantity| quantity.known()) == Some(0),
    };
    let wanted = match ty {
        Ty::Float { bytes } | Ty::Int { bytes, .. } => *bytes,
        _ => return None,
    };
    if is_zero && wanted <= bytes {
        return None;
    }
    match ty {
        Ty::Float { bytes: wanted } if !float || *wanted != bytes => Some(TypeProblem::Misread),
        Ty::Int { .. } if float => Some(TypeProblem::Misread),
        // The lower bytes of a longer integer are the number itself.
        Ty::Int { bytes: wanted, .. } if *wanted > bytes && maker == Maker::Cupy => Some(TypeProblem::Short),
        Ty::Int { bytes: wanted, .. } if *wanted > bytes => Some(TypeProblem::Misread),
        _ => None,
    }
}

fn python_type(value: &Val) -> String {
    match &value.kind {
        Kind::Int(_) => "int".to_owned(),
        Kind::Float(_) | Kind::Ratio(..) => "float".to_owned(),
        Kind::Number(dtype, _) => dtype.name(),
        _ => String::new(),
    }
}
