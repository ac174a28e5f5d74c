//! All rules, by name. Derived from the folders by `cargo xtask sync`; do not edit.

use cudalint_engine::Rule;

#[path = "../suspicious/async-error-never-observed.rs"]
mod async_error_never_observed;
#[path = "../correctness/chevron-launch-in-python.rs"]
mod chevron_launch_in_python;
#[path = "../correctness/copy-exceeds-allocation.rs"]
mod copy_exceeds_allocation;
#[path = "../suspicious/defective-check-macro.rs"]
mod defective_check_macro;
#[path = "../correctness/dynamic-shared-arrays-alias.rs"]
mod dynamic_shared_arrays_alias;
#[path = "../correctness/dynamic-shared-size-too-small.rs"]
mod dynamic_shared_size_too_small;
#[path = "../correctness/element-count-as-bytes.rs"]
mod element_count_as_bytes;
#[path = "../correctness/empty-grid.rs"]
mod empty_grid;
#[path = "../correctness/execution-space-mismatch.rs"]
mod execution_space_mismatch;
#[path = "../correctness/grid-under-coverage.rs"]
mod grid_under_coverage;
#[path = "../correctness/kernel-called-without-launch.rs"]
mod kernel_called_without_launch;
#[path = "../correctness/launch-bounds-violated.rs"]
mod launch_bounds_violated;
#[path = "../correctness/launch-exceeds-device-limit.rs"]
mod launch_exceeds_device_limit;
#[path = "../correctness/malformed-launch-call.rs"]
mod malformed_launch_call;
#[path = "../correctness/memset-value-truncated.rs"]
mod memset_value_truncated;
#[path = "../correctness/non-trivial-kernel-argument.rs"]
mod non_trivial_kernel_argument;
#[path = "../correctness/nonexistent-gpu-api.rs"]
mod nonexistent_gpu_api;
#[path = "../correctness/shared-memory-over-limit.rs"]
mod shared_memory_over_limit;
#[path = "../suspicious/swapped-launch-arguments.rs"]
mod swapped_launch_arguments;
#[path = "../suspicious/unchecked-api-call.rs"]
mod unchecked_api_call;
#[path = "../suspicious/unchecked-launch.rs"]
mod unchecked_launch;
#[path = "../correctness/uninitialized-device-pointer.rs"]
mod uninitialized_device_pointer;
#[path = "../suspicious/unknown-rule-in-ignore.rs"]
mod unknown_rule_in_ignore;
#[path = "../suspicious/unused-ignore.rs"]
mod unused_ignore;
#[path = "../correctness/wrong-address-space.rs"]
mod wrong_address_space;
#[path = "../correctness/wrong-copy-direction.rs"]
mod wrong_copy_direction;

/// Every rule, sorted by name.
pub static RULES: &[&Rule] = &[
    &async_error_never_observed::RULE,
    &chevron_launch_in_python::RULE,
    &copy_exceeds_allocation::RULE,
    &defective_check_macro::RULE,
    &dynamic_shared_arrays_alias::RULE,
    &dynamic_shared_size_too_small::RULE,
    &element_count_as_bytes::RULE,
    &empty_grid::RULE,
    &execution_space_mismatch::RULE,
    &grid_under_coverage::RULE,
    &kernel_called_without_launch::RULE,
    &launch_bounds_violated::RULE,
    &launch_exceeds_device_limit::RULE,
    &malformed_launch_call::RULE,
    &memset_value_truncated::RULE,
    &non_trivial_kernel_argument::RULE,
    &nonexistent_gpu_api::RULE,
    &shared_memory_over_limit::RULE,
    &swapped_launch_arguments::RULE,
    &unchecked_api_call::RULE,
    &unchecked_launch::RULE,
    &uninitialized_device_pointer::RULE,
    &unknown_rule_in_ignore::RULE,
    &unused_ignore::RULE,
    &wrong_address_space::RULE,
    &wrong_copy_direction::RULE,
];

/// Rules with the record of the GPU run that confirmed their page, sorted by name.
pub static RECEIPTS: &[(&str, &str)] = &[
    ("async-error-never-observed", include_str!("../suspicious/async-error-never-observed.receipt.toml")),
    ("chevron-launch-in-python", include_str!("../correctness/chevron-launch-in-python.receipt.toml")),
    ("copy-exceeds-allocation", include_str!("../correctness/copy-exceeds-allocation.receipt.toml")),
    ("defective-check-macro", include_str!("../suspicious/defective-check-macro.receipt.toml")),
    ("dynamic-shared-arrays-alias", include_str!("../correctness/dynamic-shared-arrays-alias.receipt.toml")),
    ("dynamic-shared-size-too-small", include_str!("../correctness/dynamic-shared-size-too-small.receipt.toml")),
    ("element-count-as-bytes", include_str!("../correctness/element-count-as-bytes.receipt.toml")),
    ("empty-grid", include_str!("../correctness/empty-grid.receipt.toml")),
    ("grid-under-coverage", include_str!("../correctness/grid-under-coverage.receipt.toml")),
    ("launch-bounds-violated", include_str!("../correctness/launch-bounds-violated.receipt.toml")),
    ("launch-exceeds-device-limit", include_str!("../correctness/launch-exceeds-device-limit.receipt.toml")),
    ("malformed-launch-call", include_str!("../correctness/malformed-launch-call.receipt.toml")),
    ("memset-value-truncated", include_str!("../correctness/memset-value-truncated.receipt.toml")),
    ("non-trivial-kernel-argument", include_str!("../correctness/non-trivial-kernel-argument.receipt.toml")),
    ("nonexistent-gpu-api", include_str!("../correctness/nonexistent-gpu-api.receipt.toml")),
    ("shared-memory-over-limit", include_str!("../correctness/shared-memory-over-limit.receipt.toml")),
    ("swapped-launch-arguments", include_str!("../suspicious/swapped-launch-arguments.receipt.toml")),
    ("unchecked-api-call", include_str!("../suspicious/unchecked-api-call.receipt.toml")),
    ("unchecked-launch", include_str!("../suspicious/unchecked-launch.receipt.toml")),
    ("uninitialized-device-pointer", include_str!("../correctness/uninitialized-device-pointer.receipt.toml")),
    ("wrong-address-space", include_str!("../correctness/wrong-address-space.receipt.toml")),
    ("wrong-copy-direction", include_str!("../correctness/wrong-copy-direction.receipt.toml")),
];
