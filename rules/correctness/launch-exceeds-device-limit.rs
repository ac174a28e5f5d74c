//! A launch that no device in the set can run.

use crate::parts::{assumptions, event_finding, known, launch_witness, may_decide};
use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::claim::Resource;
use cudalint_findings::{Finding, Shows};
use cudalint_replay::facts::{Event, EventKind, LaunchFact};
use cudalint_replay::quantity::Assumptions;
use cudalint_syntax::Span;

/// The rule.
pub static RULE: Rule = rule!("launch-exceeds-device-limit", Correctness, ApiError)
    .summary("A block or grid is larger than any device can launch.")
    .cwe(628)
    .facts(check);

// The same on every architecture since sm_30: CUDA C++ Programming Guide, "Technical Specifications per Compute
// Capability".
const THREADS_A_BLOCK: i64 = 1024;
const BLOCK_AXES: [i64; 3] = [1024, 1024, 64];
const GRID_AXES: [i64; 3] = [0x7fff_ffff, 65_535, 65_535];
const AXES: [&str; 3] = ["x", "y", "z"];

/// What is too large: where, what it rests on, and the words.
struct Excess<'a> {
    of: Resource,
    span: Span,
    rests_on: Vec<&'a Assumptions>,
    message: String,
    label: String,
}

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    // AMD's devices have the same limit for the threads of a block, and others for what lies along an axis.
    let for_hip = context.project.is_for_hip(context.id);
    for event in &context.facts.events {
        let EventKind::Launch(launch) = &event.kind else { continue };
        let axes = launch.block.axes.iter().chain(&launch.grid.axes);
        let numbers: Vec<i64> = axes.filter_map(known).filter(|number| *number > 1).collect();
        if may_decide(event, &numbers) {
            continue;
        }
        let excess = if for_hip {
            too_many(launch)
        } else {
            block_excess(launch).or_else(|| too_many(launch)).or_else(|| grid_excess(launch))
        };
        if let Some(excess) = excess
            && let Some(finding) = finding(context, event, launch, excess)
        {
            sink.report(finding);
        }
    }
}

fn finding(context: &ModuleContext<'_>, event: &Event, launch: &LaunchFact, excess: Excess<'_>) -> Option<Finding> {
    let assumed = assumptions(excess.rests_on.into_iter().chain([&event.assumptions]));
    let claim = Shows::RefusedLaunch { of: excess.of };
    let mut finding = event_finding(&RULE, context, event, excess.span, assumed, claim, excess.message)?;
    finding.label = excess.label;
    finding.help = Some("the launch returns `cudaErrorInvalidConfiguration` and the kernel does not run".to_owned());
    finding.claim.launch = launch_witness(context, event, launch);
    Some(finding)
}

fn block_excess(launch: &LaunchFact) -> Option<Excess<'_>> {
    let kernel = &launch.kernel_name;
    let axes = &launch.block.axes;
    for ((axis, limit), amount) in AXES.into_iter().zip(BLOCK_AXES).zip(axes) {
        let Some(threads) = known(amount) else { continue };
        if threads > limit {
            return Some(Excess {
                of: Resource::Threads,
                span: launch.block.span,
                rests_on: vec![&amount.assumptions],
                message: format!(
                    "the block of `{kernel}` has {threads} threads along {axis}; at most {limit} are possible"
                ),
                label: format!("{threads} > {limit} along {axis}"),
            });
        }
        if threads == 0 {
            return Some(Excess {
                of: Resource::Threads,
                span: launch.block.span,
                rests_on: vec![&amount.assumptions],
                message: format!("the block of `{kernel}` has 0 threads along {axis}; it needs at least 1"),
                label: format!("0 threads along {axis}"),
            });
        }
    }
    None
}

/// More threads in all than a block may have.
fn too_many(launch: &LaunchFact) -> Option<Excess<'_>> {
    let kernel = &launch.kernel_name;
    let axes = &launch.block.axes;
    // Unknown axes count as 1: more threads could only make it worse.
    let numbers: Vec<i64> = axes.iter().filter_map(known).filter(|threads| *threads > 0).collect();
    let threads = numbers.iter().try_fold(1i64, |all, threads| all.checked_mul(*threads))?;
    (threads > THREADS_A_BLOCK).then(|| Excess {
        of: Resource::Threads,
        span: launch.block.span,
        rests_on: axes.iter().filter(|axis| known(axis).is_some()).map(|axis| &axis.assumptions).collect(),
        message: format!("the block of `{kernel}` has {threads} threads; at most {THREADS_A_BLOCK} are possible"),
        label: format!("{} = {threads} threads", join(&numbers)),
    })
}

fn grid_excess(launch: &LaunchFact) -> Option<Excess<'_>> {
    AXES.into_iter().zip(GRID_AXES).zip(&launch.grid.axes).find_map(|((axis, limit), amount)| {
        let blocks = known(amount).filter(|blocks| *blocks > limit)?;
        Some(Excess {
            of: Resource::Blocks,
            span: launch.grid.span,
            rests_on: vec![&amount.assumptions],
            message: format!(
                "the grid of `{}` has {blocks} blocks along {axis}; at most {limit} are possible",
                launch.kernel_name
            ),
            label: format!("{blocks} > {limit} along {axis}"),
        })
    })
}

fn join(numbers: &[i64]) -> String {
    numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(" × ")
}
