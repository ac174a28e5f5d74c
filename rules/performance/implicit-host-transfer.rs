//! Arrays of the host that Numba copies to the device and back at each launch.

use crate::parts::{assumptions, confidence_for};
use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::claim::Cost;
use cudalint_findings::{Finding, Label, Shows, Witness};
use cudalint_replay::facts::ImplicitTransfer;

/// The rule.
pub static RULE: Rule = rule!("implicit-host-transfer", Performance, Time)
    .summary("Several launches, or one in a loop, copy a NumPy array to the device and back each time.")
    .figures()
    .facts(check);

/// Launches that are named, at most.
const MOST: usize = 6;

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for transfer in &context.facts.implicit_transfers {
        sink.report_some(finding(context, transfer));
    }
}

fn finding(context: &ModuleContext<'_>, transfer: &ImplicitTransfer) -> Option<Finding> {
    let array = &transfer.array;
    let often = if transfer.looped {
        "each time around the loop".to_owned()
    } else {
        format!("at each of {} launches", transfer.launches.len())
    };
    let message = format!(
        "`{array}` is an array of the host: it is copied to the device and back {often}, although nothing looks at it between"
    );
    let assumed = assumptions([&transfer.assumptions]);
    let confidence = confidence_for(&assumed)?;
    let mut finding =
        RULE.finding(confidence, context.place_of(transfer.site), Shows::Cost { of: Cost::Transfers }, message);
    finding.function = context.function_name(transfer.function);
    finding.claim.kernel = Some(transfer.kernel.clone());
    finding.label = "copied both ways".to_owned();
    finding.related.push(Label { place: context.place_of(transfer.made), message: "made here".to_owned() });
    for launch in transfer
        .launches
        .iter()
        .filter(|launch| launch.end < transfer.site.span.start || launch.start > transfer.site.span.end)
        .take(MOST)
    {
        finding
            .related
            .push(Label { place: context.place(*launch), message: "copied again for this launch".to_owned() });
    }
    finding.help = Some(format!("copy it once: `d_{array} = cuda.to_device({array})`, and back at the end"));
    finding.witness = Some(Witness { assumptions: assumed, path: context.steps(&transfer.path), ..Witness::default() });
    Some(finding)
}
