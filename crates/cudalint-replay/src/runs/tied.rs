//! What a launch in sight says of a kernel that is executed with a block of our own: the block's extent and an argument may be one number,
//! whatever it is.

use super::collect::Seen;
use cudalint_kernel::{Argument, LaunchInput};

/// Arguments that are the extent of the block along an axis: the number of the parameter, and the axis.
pub(super) fn ties(launch: Option<&Seen<'_>>) -> Vec<(usize, usize)> {
    let Some(fact) = launch.map(|seen| seen.fact) else { return Vec::new() };
    let extents = &fact.block.axes;
    let axis_of = |number: &crate::quantity::Quantity| {
        let is_open = number.known().is_none() && !number.is_unknown();
        extents.iter().position(|extent| is_open && extent.quantity.surely_equals(number))
    };
    let tied = |(at, axis): (usize, Option<usize>)| axis.map(|axis| (at, axis));
    fact.args.iter().map(|argument| axis_of(&argument.amount.quantity)).enumerate().filter_map(tied).collect()
}

/// Gives such arguments the extents that the block has.
pub(super) fn bind(launch: &mut LaunchInput, ties: &[(usize, usize)]) {
    for (parameter, axis) in ties {
        let (argument, extent) = (launch.arguments.get_mut(*parameter), launch.block.get(*axis));
        if let (Some(argument @ (Argument::Unknown | Argument::Int(_))), Some(extent)) = (argument, extent) {
            *argument = Argument::Int(i64::from(*extent));
        }
    }
}
