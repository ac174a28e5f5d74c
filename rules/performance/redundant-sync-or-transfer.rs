//! A wait, or a barrier, that orders nothing.

use crate::figures::idle_barriers;
use crate::parts::assumptions;
use crate::runs::parts::{barrier, label, run_finding, shape, text};
use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::claim::Cost;
use cudalint_findings::{Confidence, Finding, Label, Shows, Witness};
use cudalint_replay::facts::{CopyKind, EventKind, RedundantWait};
use cudalint_replay::runs::KernelRun;
use cudalint_replay::runs::report::Site;

/// The rule.
pub static RULE: Rule = rule!("redundant-sync-or-transfer", Performance, Time)
    .summary("The host waits before a copy that waits anyway, or a barrier stands where no two threads need it.")
    .figures()
    .facts(check);

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for wait in &context.facts.redundant_waits {
        sink.report_some(of_host(context, wait));
    }
    for (run, site) in idle_barriers(context) {
        sink.report_some(of_kernel(context, run, site));
    }
}

fn of_host(context: &ModuleContext<'_>, wait: &RedundantWait) -> Option<Finding> {
    // A copy inside of the device does not wait for its end.
    let copied = context.facts.events.iter().any(|event| {
        event.site.span == wait.copy
            && event.site.module == context.id
            && matches!(
                event.kind,
                EventKind::Copy { kind: CopyKind::DeviceToHost | CopyKind::HostToDevice, asynchronous: false, .. }
            )
    });
    if !copied {
        return None;
    }
    let (api, copy) = (wait.api.name(), context.text(wait.copy));
    let copy = copy.split('(').next().unwrap_or(copy).trim();
    let message = format!("`{api}` waits for what `{copy}` behind it waits for, too, and nobody looks at its status");
    let mut finding =
        RULE.finding(Confidence::Definite, context.place(wait.wait), Shows::Cost { of: Cost::Wait }, message);
    finding.claim.sites.push(context.place(wait.copy));
    finding.function = context.function_name(wait.function);
    finding.label = "nothing needs this".to_owned();
    finding.related.push(Label { place: context.place(wait.copy), message: "waits for all work before it".to_owned() });
    finding.help = Some(format!("leave it out, or look at the status that `{api}` returns"));
    finding.witness = Some(Witness::default());
    Some(finding)
}

fn of_kernel(context: &ModuleContext<'_>, run: &KernelRun, site: Site) -> Option<Finding> {
    let message = format!(
        "no two threads of a block need this barrier of `{}`: none touches what another one writes on the other side ({})",
        run.name,
        shape(run)
    );
    let assumed = assumptions([&run.assumptions]);
    let mut finding = run_finding(&RULE, context, (run, assumed), site, Shows::Cost { of: Cost::Barrier }, message)?;
    let written = text(context, site);
    finding.label = if written.is_empty() { barrier(run).to_owned() } else { "orders nothing".to_owned() };
    if let Some(launch) = run.launch {
        let label = label(context, launch, format!("launched here with {}", shape(run)));
        if !finding.related.contains(&label) {
            finding.related.push(label);
        }
    }
    finding.help = Some("leave it out".to_owned());
    Some(finding)
}
