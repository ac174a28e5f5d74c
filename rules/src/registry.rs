//! All rules, by name. Derived from the folders by `cargo xtask sync`; do not edit.

use cudalint_engine::Rule;

#[path = "../correctness/array-dtype-mismatch.rs"]
mod array_dtype_mismatch;
#[path = "../suspicious/async-error-never-observed.rs"]
mod async_error_never_observed;
#[path = "../correctness/bad-free.rs"]
mod bad_free;
#[path = "../performance/bank-conflict.rs"]
mod bank_conflict;
#[path = "../correctness/barrier-in-divergent-branch.rs"]
mod barrier_in_divergent_branch;
#[path = "../correctness/capture-illegal-call.rs"]
mod capture_illegal_call;
#[path = "../suspicious/captured-global-mutated.rs"]
mod captured_global_mutated;
#[path = "../correctness/chevron-launch-in-python.rs"]
mod chevron_launch_in_python;
#[path = "../correctness/constant-memory-written.rs"]
mod constant_memory_written;
#[path = "../correctness/copy-exceeds-allocation.rs"]
mod copy_exceeds_allocation;
#[path = "../correctness/cross-block-dependency.rs"]
mod cross_block_dependency;
#[path = "../preview/cuda-call-in-static-lifetime.rs"]
mod cuda_call_in_static_lifetime;
#[path = "../suspicious/defective-check-macro.rs"]
mod defective_check_macro;
#[path = "../preview/device-resource-leak.rs"]
mod device_resource_leak;
#[path = "../correctness/dynamic-shared-arrays-alias.rs"]
mod dynamic_shared_arrays_alias;
#[path = "../correctness/dynamic-shared-size-too-small.rs"]
mod dynamic_shared_size_too_small;
#[path = "../portability/early-exit-before-barrier.rs"]
mod early_exit_before_barrier;
#[path = "../correctness/element-count-as-bytes.rs"]
mod element_count_as_bytes;
#[path = "../correctness/empty-grid.rs"]
mod empty_grid;
#[path = "../correctness/execution-space-mismatch.rs"]
mod execution_space_mismatch;
#[path = "../performance/float64-in-float32-kernel.rs"]
mod float64_in_float32_kernel;
#[path = "../preview/fork-after-cuda-init.rs"]
mod fork_after_cuda_init;
#[path = "../correctness/global-memory-race.rs"]
mod global_memory_race;
#[path = "../correctness/grid-under-coverage.rs"]
mod grid_under_coverage;
#[path = "../correctness/guard-does-not-cover-access.rs"]
mod guard_does_not_cover_access;
#[path = "../correctness/host-touches-async-buffer.rs"]
mod host_touches_async_buffer;
#[path = "../performance/implicit-host-transfer.rs"]
mod implicit_host_transfer;
#[path = "../suspicious/implicit-warp-sync.rs"]
mod implicit_warp_sync;
#[path = "../correctness/index-overflow.rs"]
mod index_overflow;
#[path = "../correctness/kernel-argument-type-mismatch.rs"]
mod kernel_argument_type_mismatch;
#[path = "../correctness/kernel-called-without-launch.rs"]
mod kernel_called_without_launch;
#[path = "../correctness/kernel-name-mismatch.rs"]
mod kernel_name_mismatch;
#[path = "../correctness/kernel-params-not-pointers.rs"]
mod kernel_params_not_pointers;
#[path = "../correctness/launch-bounds-violated.rs"]
mod launch_bounds_violated;
#[path = "../correctness/launch-exceeds-device-limit.rs"]
mod launch_exceeds_device_limit;
#[path = "../correctness/local-index-out-of-range.rs"]
mod local_index_out_of_range;
#[path = "../performance/low-occupancy-launch.rs"]
mod low_occupancy_launch;
#[path = "../correctness/malformed-launch-call.rs"]
mod malformed_launch_call;
#[path = "../correctness/managed-memory-without-sync.rs"]
mod managed_memory_without_sync;
#[path = "../correctness/memset-value-truncated.rs"]
mod memset_value_truncated;
#[path = "../correctness/misaligned-vector-access.rs"]
mod misaligned_vector_access;
#[path = "../correctness/missing-bounds-guard.rs"]
mod missing_bounds_guard;
#[path = "../suspicious/negative-index-wraparound.rs"]
mod negative_index_wraparound;
#[path = "../correctness/non-atomic-read-modify-write.rs"]
mod non_atomic_read_modify_write;
#[path = "../correctness/non-constant-array-shape.rs"]
mod non_constant_array_shape;
#[path = "../suspicious/non-contiguous-kernel-argument.rs"]
mod non_contiguous_kernel_argument;
#[path = "../correctness/non-trivial-kernel-argument.rs"]
mod non_trivial_kernel_argument;
#[path = "../correctness/nonexistent-gpu-api.rs"]
mod nonexistent_gpu_api;
#[path = "../preview/nvrtc-log-ignored.rs"]
mod nvrtc_log_ignored;
#[path = "../correctness/partial-initialization.rs"]
mod partial_initialization;
#[path = "../performance/redundant-sync-or-transfer.rs"]
mod redundant_sync_or_transfer;
#[path = "../portability/removed-api.rs"]
mod removed_api;
#[path = "../preview/restrict-arguments-alias.rs"]
mod restrict_arguments_alias;
#[path = "../preview/result-never-read-back.rs"]
mod result_never_read_back;
#[path = "../suspicious/result-not-copied-back.rs"]
mod result_not_copied_back;
#[path = "../correctness/shared-index-out-of-range.rs"]
mod shared_index_out_of_range;
#[path = "../correctness/shared-memory-over-limit.rs"]
mod shared_memory_over_limit;
#[path = "../correctness/shared-memory-race.rs"]
mod shared_memory_race;
#[path = "../correctness/shared-memory-race-across-iterations.rs"]
mod shared_memory_race_across_iterations;
#[path = "../suspicious/swapped-launch-arguments.rs"]
mod swapped_launch_arguments;
#[path = "../preview/timing-without-sync.rs"]
mod timing_without_sync;
#[path = "../suspicious/unchecked-api-call.rs"]
mod unchecked_api_call;
#[path = "../suspicious/unchecked-launch.rs"]
mod unchecked_launch;
#[path = "../performance/uncoalesced-access.rs"]
mod uncoalesced_access;
#[path = "../suspicious/uninitialized-device-memory.rs"]
mod uninitialized_device_memory;
#[path = "../correctness/uninitialized-device-pointer.rs"]
mod uninitialized_device_pointer;
#[path = "../suspicious/uninitialized-shared-read.rs"]
mod uninitialized_shared_read;
#[path = "../suspicious/unknown-rule-in-ignore.rs"]
mod unknown_rule_in_ignore;
#[path = "../correctness/unordered-free.rs"]
mod unordered_free;
#[path = "../correctness/unordered-streams.rs"]
mod unordered_streams;
#[path = "../correctness/unsupported-in-kernel.rs"]
mod unsupported_in_kernel;
#[path = "../suspicious/unused-ignore.rs"]
mod unused_ignore;
#[path = "../correctness/use-after-free.rs"]
mod use_after_free;
#[path = "../correctness/warp-mask-mismatch.rs"]
mod warp_mask_mismatch;
#[path = "../correctness/wrong-address-space.rs"]
mod wrong_address_space;
#[path = "../correctness/wrong-copy-direction.rs"]
mod wrong_copy_direction;
#[path = "../preview/wrong-device-stream.rs"]
mod wrong_device_stream;
#[path = "../correctness/wrong-index-formula.rs"]
mod wrong_index_formula;

/// Every rule, sorted by name.
pub static RULES: &[&Rule] = &[
    &array_dtype_mismatch::RULE,
    &async_error_never_observed::RULE,
    &bad_free::RULE,
    &bank_conflict::RULE,
    &barrier_in_divergent_branch::RULE,
    &capture_illegal_call::RULE,
    &captured_global_mutated::RULE,
    &chevron_launch_in_python::RULE,
    &constant_memory_written::RULE,
    &copy_exceeds_allocation::RULE,
    &cross_block_dependency::RULE,
    &cuda_call_in_static_lifetime::RULE,
    &defective_check_macro::RULE,
    &device_resource_leak::RULE,
    &dynamic_shared_arrays_alias::RULE,
    &dynamic_shared_size_too_small::RULE,
    &early_exit_before_barrier::RULE,
    &element_count_as_bytes::RULE,
    &empty_grid::RULE,
    &execution_space_mismatch::RULE,
    &float64_in_float32_kernel::RULE,
    &fork_after_cuda_init::RULE,
    &global_memory_race::RULE,
    &grid_under_coverage::RULE,
    &guard_does_not_cover_access::RULE,
    &host_touches_async_buffer::RULE,
    &implicit_host_transfer::RULE,
    &implicit_warp_sync::RULE,
    &index_overflow::RULE,
    &kernel_argument_type_mismatch::RULE,
    &kernel_called_without_launch::RULE,
    &kernel_name_mismatch::RULE,
    &kernel_params_not_pointers::RULE,
    &launch_bounds_violated::RULE,
    &launch_exceeds_device_limit::RULE,
    &local_index_out_of_range::RULE,
    &low_occupancy_launch::RULE,
    &malformed_launch_call::RULE,
    &managed_memory_without_sync::RULE,
    &memset_value_truncated::RULE,
    &misaligned_vector_access::RULE,
    &missing_bounds_guard::RULE,
    &negative_index_wraparound::RULE,
    &non_atomic_read_modify_write::RULE,
    &non_constant_array_shape::RULE,
    &non_contiguous_kernel_argument::RULE,
    &non_trivial_kernel_argument::RULE,
    &nonexistent_gpu_api::RULE,
    &nvrtc_log_ignored::RULE,
    &partial_initialization::RULE,
    &redundant_sync_or_transfer::RULE,
    &removed_api::RULE,
    &restrict_arguments_alias::RULE,
    &result_never_read_back::RULE,
    &result_not_copied_back::RULE,
    &shared_index_out_of_range::RULE,
    &shared_memory_over_limit::RULE,
    &shared_memory_race::RULE,
    &shared_memory_race_across_iterations::RULE,
    &swapped_launch_arguments::RULE,
    &timing_without_sync::RULE,
    &unchecked_api_call::RULE,
    &unchecked_launch::RULE,
    &uncoalesced_access::RULE,
    &uninitialized_device_memory::RULE,
    &uninitialized_device_pointer::RULE,
    &uninitialized_shared_read::RULE,
    &unknown_rule_in_ignore::RULE,
    &unordered_free::RULE,
    &unordered_streams::RULE,
    &unsupported_in_kernel::RULE,
    &unused_ignore::RULE,
    &use_after_free::RULE,
    &warp_mask_mismatch::RULE,
    &wrong_address_space::RULE,
    &wrong_copy_direction::RULE,
    &wrong_device_stream::RULE,
    &wrong_index_formula::RULE,
];

/// Rules with the record of the GPU run that confirmed their page, sorted by name.
pub static RECEIPTS: &[(&str, &str)] = &[
    ("array-dtype-mismatch", include_str!("../correctness/array-dtype-mismatch.receipt.toml")),
    ("async-error-never-observed", include_str!("../suspicious/async-error-never-observed.receipt.toml")),
    ("bad-free", include_str!("../correctness/bad-free.receipt.toml")),
    ("bank-conflict", include_str!("../performance/bank-conflict.receipt.toml")),
    ("barrier-in-divergent-branch", include_str!("../correctness/barrier-in-divergent-branch.receipt.toml")),
    ("capture-illegal-call", include_str!("../correctness/capture-illegal-call.receipt.toml")),
    ("captured-global-mutated", include_str!("../suspicious/captured-global-mutated.receipt.toml")),
    ("chevron-launch-in-python", include_str!("../correctness/chevron-launch-in-python.receipt.toml")),
    ("copy-exceeds-allocation", include_str!("../correctness/copy-exceeds-allocation.receipt.toml")),
    ("cross-block-dependency", include_str!("../correctness/cross-block-dependency.receipt.toml")),
    ("cuda-call-in-static-lifetime", include_str!("../preview/cuda-call-in-static-lifetime.receipt.toml")),
    ("defective-check-macro", include_str!("../suspicious/defective-check-macro.receipt.toml")),
    ("device-resource-leak", include_str!("../preview/device-resource-leak.receipt.toml")),
    ("dynamic-shared-arrays-alias", include_str!("../correctness/dynamic-shared-arrays-alias.receipt.toml")),
    ("dynamic-shared-size-too-small", include_str!("../correctness/dynamic-shared-size-too-small.receipt.toml")),
    ("element-count-as-bytes", include_str!("../correctness/element-count-as-bytes.receipt.toml")),
    ("empty-grid", include_str!("../correctness/empty-grid.receipt.toml")),
    ("execution-space-mismatch", include_str!("../correctness/execution-space-mismatch.receipt.toml")),
    ("float64-in-float32-kernel", include_str!("../performance/float64-in-float32-kernel.receipt.toml")),
    ("fork-after-cuda-init", include_str!("../preview/fork-after-cuda-init.receipt.toml")),
    ("global-memory-race", include_str!("../correctness/global-memory-race.receipt.toml")),
    ("grid-under-coverage", include_str!("../correctness/grid-under-coverage.receipt.toml")),
    ("guard-does-not-cover-access", include_str!("../correctness/guard-does-not-cover-access.receipt.toml")),
    ("host-touches-async-buffer", include_str!("../correctness/host-touches-async-buffer.receipt.toml")),
    ("implicit-host-transfer", include_str!("../performance/implicit-host-transfer.receipt.toml")),
    ("implicit-warp-sync", include_str!("../suspicious/implicit-warp-sync.receipt.toml")),
    ("index-overflow", include_str!("../correctness/index-overflow.receipt.toml")),
    ("kernel-argument-type-mismatch", include_str!("../correctness/kernel-argument-type-mismatch.receipt.toml")),
    ("kernel-called-without-launch", include_str!("../correctness/kernel-called-without-launch.receipt.toml")),
    ("kernel-name-mismatch", include_str!("../correctness/kernel-name-mismatch.receipt.toml")),
    ("kernel-params-not-pointers", include_str!("../correctness/kernel-params-not-pointers.receipt.toml")),
    ("launch-bounds-violated", include_str!("../correctness/launch-bounds-violated.receipt.toml")),
    ("launch-exceeds-device-limit", include_str!("../correctness/launch-exceeds-device-limit.receipt.toml")),
    ("local-index-out-of-range", include_str!("../correctness/local-index-out-of-range.receipt.toml")),
    ("low-occupancy-launch", include_str!("../performance/low-occupancy-launch.receipt.toml")),
    ("malformed-launch-call", include_str!("../correctness/malformed-launch-call.receipt.toml")),
    ("managed-memory-without-sync", include_str!("../correctness/managed-memory-without-sync.receipt.toml")),
    ("memset-value-truncated", include_str!("../correctness/memset-value-truncated.receipt.toml")),
    ("misaligned-vector-access", include_str!("../correctness/misaligned-vector-access.receipt.toml")),
    ("missing-bounds-guard", include_str!("../correctness/missing-bounds-guard.receipt.toml")),
    ("negative-index-wraparound", include_str!("../suspicious/negative-index-wraparound.receipt.toml")),
    ("non-atomic-read-modify-write", include_str!("../correctness/non-atomic-read-modify-write.receipt.toml")),
    ("non-constant-array-shape", include_str!("../correctness/non-constant-array-shape.receipt.toml")),
    ("non-contiguous-kernel-argument", include_str!("../suspicious/non-contiguous-kernel-argument.receipt.toml")),
    ("non-trivial-kernel-argument", include_str!("../correctness/non-trivial-kernel-argument.receipt.toml")),
    ("nonexistent-gpu-api", include_str!("../correctness/nonexistent-gpu-api.receipt.toml")),
    ("nvrtc-log-ignored", include_str!("../preview/nvrtc-log-ignored.receipt.toml")),
    ("partial-initialization", include_str!("../correctness/partial-initialization.receipt.toml")),
    ("redundant-sync-or-transfer", include_str!("../performance/redundant-sync-or-transfer.receipt.toml")),
    ("removed-api", include_str!("../portability/removed-api.receipt.toml")),
    ("restrict-arguments-alias", include_str!("../preview/restrict-arguments-alias.receipt.toml")),
    ("result-never-read-back", include_str!("../preview/result-never-read-back.receipt.toml")),
    ("result-not-copied-back", include_str!("../suspicious/result-not-copied-back.receipt.toml")),
    ("shared-index-out-of-range", include_str!("../correctness/shared-index-out-of-range.receipt.toml")),
    ("shared-memory-over-limit", include_str!("../correctness/shared-memory-over-limit.receipt.toml")),
    ("shared-memory-race", include_str!("../correctness/shared-memory-race.receipt.toml")),
    (
        "shared-memory-race-across-iterations",
        include_str!("../correctness/shared-memory-race-across-iterations.receipt.toml"),
    ),
    ("swapped-launch-arguments", include_str!("../suspicious/swapped-launch-arguments.receipt.toml")),
    ("timing-without-sync", include_str!("../preview/timing-without-sync.receipt.toml")),
    ("unchecked-api-call", include_str!("../suspicious/unchecked-api-call.receipt.toml")),
    ("unchecked-launch", include_str!("../suspicious/unchecked-launch.receipt.toml")),
    ("uncoalesced-access", include_str!("../performance/uncoalesced-access.receipt.toml")),
    ("uninitialized-device-memory", include_str!("../suspicious/uninitialized-device-memory.receipt.toml")),
    ("uninitialized-device-pointer", include_str!("../correctness/uninitialized-device-pointer.receipt.toml")),
    ("uninitialized-shared-read", include_str!("../suspicious/uninitialized-shared-read.receipt.toml")),
    ("unordered-free", include_str!("../correctness/unordered-free.receipt.toml")),
    ("unordered-streams", include_str!("../correctness/unordered-streams.receipt.toml")),
    ("unsupported-in-kernel", include_str!("../correctness/unsupported-in-kernel.receipt.toml")),
    ("use-after-free", include_str!("../correctness/use-after-free.receipt.toml")),
    ("warp-mask-mismatch", include_str!("../correctness/warp-mask-mismatch.receipt.toml")),
    ("wrong-address-space", include_str!("../correctness/wrong-address-space.receipt.toml")),
    ("wrong-copy-direction", include_str!("../correctness/wrong-copy-direction.receipt.toml")),
    ("wrong-device-stream", include_str!("../preview/wrong-device-stream.receipt.toml")),
    ("wrong-index-formula", include_str!("../correctness/wrong-index-formula.receipt.toml")),
];

/// Rules whose examples no GPU run has confirmed yet, sorted by name: they run only when they are asked for.
#[rustfmt::skip]
pub static UNPROVEN: &[&str] = &[];
