//! A launch with no blocks.

use crate::parts::{assumptions, event_finding, known, launch_witness};
use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::claim::Resource;
use cudalint_findings::{Confidence, Shows};
use cudalint_replay::facts::{EventKind, LaunchFact, LaunchSpelling, Pointer};

/// The rule.
pub static RULE: Rule = rule!("empty-grid", Correctness, ApiError)
    .summary("A kernel is launched with a grid of zero blocks, so it never runs.")
    .cwe(1335)
    .facts(check);

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for event in &context.facts.events {
        let EventKind::Launch(launch) = &event.kind else { continue };
        let Some((axis, amount)) =
            ["x", "y", "z"].into_iter().zip(&launch.grid.axes).find(|(_, amount)| known(amount) == Some(0))
        else {
            continue;
        };
        // Where there is nothing to do, CuPy leaves the launch of its own bodies out.
        let what = match launch.spelling {
            LaunchSpelling::CupyBody => "the kernel never runs",
            _ => "the launch fails and the kernel never runs",
        };
        let message = format!("the grid of `{}` has 0 blocks along {axis}: {what}", launch.kernel_name);
        let assumed = assumptions([&event.assumptions, &amount.assumptions]);
        let is_idle = !assumed.is_empty() && is_given_nothing(launch);
        let claim = Shows::RefusedLaunch { of: Resource::Blocks };
        let Some(mut finding) = event_finding(&RULE, context, event, launch.grid.span, assumed, claim, message) else {
            continue;
        };
        finding.label = format!("`{}` is 0", launch.grid.text);
        finding.help = Some(
            "integer division rounds down: round up with `(n + block - 1) / block`, and skip the launch when there is nothing to do"
                .to_owned(),
        );
        finding.claim.launch = launch_witness(context, event, launch);
        // Started without what it is to work on, a program may do whatever it likes.
        if is_idle {
            finding.confidence = Confidence::Possible;
        }
        sink.report(finding);
    }
}

/// Whether some memory that a launch is given has no bytes: there is nothing to do.
fn is_given_nothing(launch: &LaunchFact) -> bool {
    let pointers = launch.args.iter().filter_map(|argument| argument.pointer.as_ref());
    let empty = |pointer: &Pointer| match pointer {
        Pointer::Into { buffer, .. } => buffer.bytes.quantity.known() == Some(0),
        _ => false,
    };
    pointers.into_iter().any(empty)
}
