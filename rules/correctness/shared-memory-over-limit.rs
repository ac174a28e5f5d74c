//! More shared memory than a block may have.

use crate::parts::{assumptions, event_finding, known, launch_witness, may_decide};
use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::claim::Resource;
use cudalint_findings::{Confidence, Finding, Place, Shows, Witness};
use cudalint_program::arch;
use cudalint_replay::facts::{Event, EventKind, KernelSummary, LaunchSpelling};
use cudalint_syntax::Language;

/// The rule.
pub static RULE: Rule = rule!("shared-memory-over-limit", Correctness, ApiError)
    .summary("A kernel asks for more shared memory than a block may have.")
    .cwe(770)
    .facts(check);

/// Shared memory of a block without opting in, on every architecture: CUDA C++ Programming Guide, "Technical
/// Specifications per Compute Capability".
const WITHOUT_OPT_IN: i64 = 48 * 1024;

/// A launch, or the kernel before there is one.
const REFUSED: Shows<Place> = Shows::RefusedLaunch { of: Resource::SharedMemory };

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    // Other devices have other limits.
    if context.project.is_for_hip(context.id) {
        return;
    }
    for (id, summary) in &context.facts.kernels {
        sink.report_some(static_over_limit(context, *id, summary));
    }
    for event in &context.facts.events {
        sink.report_some(dynamic_over_limit(context, event));
    }
}

fn static_over_limit(
    context: &ModuleContext<'_>,
    id: cudalint_program::ir::FunctionId,
    summary: &KernelSummary,
) -> Option<Finding> {
    // What is compiled when the program runs (Numba's kernels, strings) may have all that the device has: a kernel of Numba
    // with 163,840 bytes ran on an H200.
    let at_run_time = context.module.language == Language::Python || context.module.inside.is_some();
    let limit = if at_run_time { largest(context)? } else { WITHOUT_OPT_IN };
    let bytes = summary.static_shared.filter(|bytes| *bytes > limit)?;
    let kernel = context.module.functions.get(id)?;
    let fails = if at_run_time { "the kernel does not compile" } else { "the file does not assemble" };
    let message = format!(
        "`{}` declares {bytes} bytes of static shared memory; a block may have {limit}, and {fails}",
        kernel.name
    );
    let mut finding = RULE.finding(Confidence::Definite, context.place(kernel.name_span), REFUSED, message);
    finding.function = kernel.name.to_string();
    finding.claim.kernel = Some(finding.function.clone());
    finding.label = format!("{bytes} bytes");
    finding.help = Some(if at_run_time {
        "use smaller tiles, or name the architectures with `--arch`".to_owned()
    } else {
        "declare it `extern __shared__` and opt in with `cudaFuncSetAttribute`, or use smaller tiles".to_owned()
    });
    finding.witness = Some(Witness { bindings: vec![("static shared bytes".to_owned(), bytes)], ..Witness::default() });
    Some(finding)
}

/// The most shared memory of a block on any architecture of the set.
fn largest(context: &ModuleContext<'_>) -> Option<i64> {
    context.architectures.iter().filter_map(|sm| arch::limits(*sm)).map(|limits| limits.shared_opt_in).max()
}

fn dynamic_over_limit(context: &ModuleContext<'_>, event: &Event) -> Option<Finding> {
    let EventKind::Launch(launch) = &event.kind else { return None };
    // Too much static memory is reported at the kernel.
    let dynamic = known(&launch.shared).filter(|bytes| *bytes > 0)?;
    if may_decide(event, &[dynamic]) {
        return None;
    }
    let fixed = launch.kernel_summary.as_ref().and_then(|summary| summary.static_shared).unwrap_or(0);
    let total = dynamic.checked_add(fixed)?;
    if total <= WITHOUT_OPT_IN {
        return None;
    }
    let largest = largest(context)?;
    // Whether Python's compilers opt in by themselves is not known.
    if total <= largest && matches!(launch.spelling, LaunchSpelling::Numba | LaunchSpelling::CupyJit) {
        return None;
    }
    let mut assumed = assumptions([&event.assumptions, &launch.shared.assumptions]);
    let (message, help) = if total > largest {
        (
            format!(
                "`{}` is launched with {total} bytes of shared memory per block; no architecture in the set has more than {largest}",
                launch.kernel_name
            ),
            "use smaller tiles, or name the architectures with `--arch`".to_owned(),
        )
    } else {
        let allowed = known(&launch.shared_opt_in)?;
        if dynamic <= allowed {
            return None;
        }
        assumed.extend(assumptions([&launch.shared_opt_in.assumptions]));
        assumed.dedup();
        (
            format!(
                "`{}` is launched with {dynamic} bytes of dynamic shared memory, but nothing has raised its limit of {}",
                launch.kernel_name,
                allowed.max(WITHOUT_OPT_IN)
            ),
            format!(
                "call `cudaFuncSetAttribute({}, cudaFuncAttributeMaxDynamicSharedMemorySize, {dynamic})` first",
                launch.kernel_name
            ),
        )
    };
    let mut finding = event_finding(&RULE, context, event, launch.config_span, assumed, REFUSED, message)?;
    finding.claim.launch = launch_witness(context, event, launch);
    finding.label = format!("{total} bytes");
    finding.help = Some(help);
    if let Some(witness) = &mut finding.witness {
        witness.bindings =
            vec![("dynamic shared bytes".to_owned(), dynamic), ("static shared bytes".to_owned(), fixed)];
    }
    Some(finding)
}
