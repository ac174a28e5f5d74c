//! What a launch in sight says of a kernel that is executed with numbers of our own: the block's extent and an argument may be one number,
//! whatever it is.

use super::collect::Seen;
use cudalint_program::ir::Function;

/// Whether numbers that were chosen give an argument another value than the extent of the block that the launch gives it.
pub(super) fn are_apart(
    launch: Option<&Seen<'_>>,
    kernel: &Function,
    block: [u32; 3],
    bindings: &[(String, i64)],
) -> bool {
    let Some(fact) = launch.map(|seen| seen.fact) else { return false };
    let named = |name: &str| bindings.iter().find(|(bound, _)| bound == name).map(|(_, value)| *value);
    fact.args.iter().zip(kernel.params()).any(|(argument, parameter)| {
        let number = &argument.amount.quantity;
        let of_axis = fact.block.axes.iter().zip(block).filter(|(extent, _)| extent.quantity.surely_equals(number));
        number.known().is_none()
            && !number.is_unknown()
            && named(&parameter.name)
                .is_some_and(|value| of_axis.into_iter().any(|(_, extent)| i64::from(extent) != value))
    })
}
