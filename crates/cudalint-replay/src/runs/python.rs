//! Launches of kernels in Python that are not in sight: what the kernel itself says of its block.

use super::RunBuffer;
use super::guess::{Guess, floor_power};
use crate::facts::LaunchSpelling;
use cudalint_kernel::code::ObjectSpace;
use cudalint_kernel::python::{Part, Specialization, parameters};
use cudalint_kernel::{Argument, Buffer, Code, Contents, LaunchInput};
use cudalint_program::ir::{Dialect, Expr, Function, FunctionId, ModuleId};
use cudalint_program::visit::{Item, walk};
use cudalint_program::{Name, Project};

/// Most threads of a block along one axis, and the side of the largest square one.
const MOST: [i64; 2] = [1024, 32];

/// How a kernel of this make is launched.
pub(super) fn spelling(made: Option<&Specialization>) -> LaunchSpelling {
    match made.map(|made| made.dialect) {
        None => LaunchSpelling::Chevron,
        Some(Dialect::CupyJit) => LaunchSpelling::CupyJit,
        Some(_) => LaunchSpelling::Numba,
    }
}

/// The block for a kernel: from the sizes of its shared arrays, or a common one.
pub(super) fn guess(project: &Project, module: ModuleId, kernel: FunctionId, code: &Code) -> Option<Guess> {
    let function = project.function_at(module, kernel)?;
    let axes = axes_used(project, module, function);
    if axes >= 3 {
        return None;
    }
    let two = axes == 2;
    let elements = code
        .objects
        .iter()
        .filter(|object| object.space == ObjectSpace::Shared && object.element > 0)
        .filter_map(|object| i64::try_from(object.bytes? / u64::from(object.element)).ok())
        .max();
    let side = elements.map(|elements| if two { floor_power(elements.isqrt()) } else { floor_power(elements) });
    let least = if two { 4 } else { 32 };
    if let Some(side) = side.filter(|side| (least..=MOST[usize::from(two)]).contains(side)) {
        let side = u32::try_from(side).ok()?;
        let block = if two { [side, side, 1] } else { [side, 1, 1] };
        return Some(Guess { block, other: None, stated: false });
    }
    Some(if two {
        Guess { block: [16, 16, 1], other: Some([32, 8, 1]), stated: false }
    } else {
        Guess { block: [256, 1, 1], other: Some([64, 1, 1]), stated: false }
    })
}

/// How many axes of the block the kernel itself reads.
fn axes_used(project: &Project, module: ModuleId, function: &Function) -> i64 {
    let code = project.module(module);
    let mut axes = 1;
    let Some(body) = &function.body else { return axes };
    let kind = |id: cudalint_program::ir::ExprId| code.exprs.get(id).map(|node| &node.kind);
    let last = |id| match kind(id) {
        Some(Expr::Name { path, .. }) => path.last().map(Name::as_str),
        Some(Expr::Member { name, .. }) => Some(name.as_str()),
        _ => None,
    };
    walk(code, function, body, |item| {
        if let Item::Expr(id) = item {
            match kind(id) {
                Some(Expr::Member { base, name, .. }) if last(*base) == Some("threadIdx") => {
                    let axis = ["x", "y", "z"].iter().position(|axis| name == axis).unwrap_or(0);
                    axes = axes.max(axis as i64 + 1);
                }
                Some(Expr::Call { callee, args }) if last(*callee) == Some("grid") => {
                    if let Some(Expr::Int { value, .. }) = args.first().and_then(|arg| kind(*arg)) {
                        axes = axes.max(*value);
                    }
                }
                _ => {}
            }
        }
        true
    });
    axes
}

/// A launch with nothing known but the block: numbers unknown, arrays with memory of their own.
pub(super) fn bare_launch(
    function: &Function,
    made: &Specialization,
    block: [u32; 3],
) -> (LaunchInput, Vec<RunBuffer>) {
    let names: Vec<Name> = function.params().iter().map(|local| local.name.clone()).collect();
    let (mut arguments, mut buffers, mut run) = (Vec::new(), Vec::new(), Vec::new());
    for parameter in parameters(&names, &made.arguments) {
        if parameter.part != Part::Data {
            arguments.push(Argument::Unknown);
            continue;
        }
        arguments.push(Argument::Pointer { buffer: buffers.len(), offset: 0 });
        buffers.push(Buffer { bytes: None, contents: Contents::Unknown, align: 1, field: String::new() });
        run.push(RunBuffer { parameter: parameter.name, argument: String::new(), allocation: None, bytes: None });
    }
    let launch = LaunchInput { grid: [0, 0, 0], block, dynamic_shared: None, cooperative: None, arguments, buffers };
    (launch, run)
}
