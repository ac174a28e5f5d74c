//! A launch whose blocks leave most of a multiprocessor empty.

use crate::parts::{assumptions, event_finding, known, launch_witness};
use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::claim::Cost;
use cudalint_findings::{Finding, Shows};
use cudalint_program::arch::{self, Limits};
use cudalint_replay::facts::{Event, EventKind};

/// The rule.
pub static RULE: Rule = rule!("low-occupancy-launch", Performance, Counters)
    .summary(
        "Blocks are so small, or take so much shared memory, that a multiprocessor holds a fraction of its threads.",
    )
    .facts(check);

/// Blocks from which on a grid fills every GPU several times: fewer leave it empty for another reason.
const MANY_BLOCKS: i64 = 1024;

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    // Other devices have other limits.
    if context.project.is_for_hip(context.id) {
        return;
    }
    for event in &context.facts.events {
        sink.report_some(finding(context, event));
    }
}

/// What one multiprocessor holds of a launch.
struct Held {
    limits: Limits,
    blocks: i64,
    threads: i64,
    by_shared: bool,
}

fn held(limits: Limits, threads: i64, shared: i64) -> Option<Held> {
    if shared > limits.shared_opt_in || threads > limits.block_threads {
        return None;
    }
    let warps = (threads + limits.warp - 1) / limits.warp;
    let by_threads = limits.resident_threads / (warps * limits.warp).max(1);
    let by_shared = if shared == 0 { i64::MAX } else { limits.resident_shared / (shared + limits.block_reserve) };
    let blocks = by_threads.min(limits.resident_blocks).min(by_shared);
    let is_shared = by_shared < by_threads.min(limits.resident_blocks);
    Some(Held { limits, blocks, threads: blocks * threads, by_shared: is_shared })
}

fn finding(context: &ModuleContext<'_>, event: &Event) -> Option<Finding> {
    let EventKind::Launch(launch) = &event.kind else { return None };
    if event.conditional {
        return None;
    }
    let product = |axes: &[cudalint_replay::facts::Amount]| {
        axes.iter().try_fold(1_i64, |all, axis| all.checked_mul(known(axis).filter(|size| *size > 0)?))
    };
    let (threads, blocks) = (product(&launch.block.axes)?, product(&launch.grid.axes)?);
    // Without the kernel nobody knows what it takes.
    let fixed = launch.kernel_summary.as_ref()?.static_shared?;
    let shared = known(&launch.shared)?.checked_add(fixed)?;
    if blocks < MANY_BLOCKS {
        return None;
    }
    let all: Vec<Held> =
        context.architectures.iter().filter_map(|sm| held(arch::limits(*sm)?, threads, shared)).collect();
    let best = all.iter().max_by_key(|held| held.threads * 10_000 / held.limits.resident_threads)?;
    let (resident, of) = (best.threads, best.limits.resident_threads);
    if resident * 4 >= of {
        return None;
    }
    let (major, minor) = (best.limits.capability / 10, best.limits.capability % 10);
    let because = if best.by_shared {
        format!("each takes {shared} bytes of shared memory")
    } else {
        format!("each has {threads} threads")
    };
    let message = format!(
        "at most {resident} of {of} threads of `{}` are on a multiprocessor at one time (compute capability {major}.{minor}): it holds {} blocks, since {because}",
        launch.kernel_name, best.blocks
    );
    let sizes = launch.block.axes.iter().chain(&launch.grid.axes).chain([&launch.shared]);
    let assumed = assumptions(sizes.map(|size| &size.assumptions).chain([&event.assumptions]));
    let mut finding =
        event_finding(&RULE, context, event, launch.config_span, assumed, Shows::Cost { of: Cost::Threads }, message)?;
    finding.claim.kernel = Some(launch.kernel_name.clone());
    finding.claim.launch = launch_witness(context, event, launch);
    finding.label = format!("{}% of the threads", resident * 100 / of);
    finding.help = Some(if best.by_shared {
        "use smaller tiles, or more threads for each".to_owned()
    } else {
        "use blocks of 128 threads or more".to_owned()
    });
    if let Some(witness) = &mut finding.witness {
        witness.bindings = vec![
            ("threads per block".to_owned(), threads),
            ("shared bytes per block".to_owned(), shared),
            ("blocks on a multiprocessor".to_owned(), best.blocks),
        ];
    }
    Some(finding)
}
