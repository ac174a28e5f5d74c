//! The lanes of a warp ask for global memory that lies far apart.

use crate::figures::{costly, finding};
use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::claim::Cost;
use cudalint_replay::runs::Requests;

/// The rule.
pub static RULE: Rule = rule!("uncoalesced-access", Performance, Counters)
    .summary("The lanes of a warp access global memory so far apart that most of what is moved is not used.")
    .figures()
    .facts(check);

/// Smaller arrays stay in the caches.
const TINY: u64 = 128 * 1024;
/// Hundredths: four times as many bytes are moved as are used, whatever a warp takes of a sector later.
const WASTEFUL: u64 = 400;
/// As many sectors 32 floats are that lie side by side: so many are no burden.
const FEW_SECTORS: u32 = 4;

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for (run, requests, others) in costly(context, suits) {
        let sure = run.assumptions.is_none();
        if sure && requests.object.bytes.is_some_and(|bytes| bytes < TINY) {
            continue;
        }
        let (sectors, least) = requests.worst;
        let cost = format!("in {sectors} sectors of 32 bytes, where {least} would do");
        let Some(mut finding) = finding(&RULE, context, (run, requests, others), Cost::Sectors, &cost) else {
            continue;
        };
        finding.label = format!("{sectors} sectors, {least} would do");
        finding.help = Some("let neighbouring threads (`threadIdx.x`) access neighbouring elements".to_owned());
        sink.report(finding);
    }
}

fn suits(requests: &Requests) -> bool {
    !requests.shared
        && requests.warps > 1
        && requests.worst.0 > FEW_SECTORS
        && requests.costly * 4 >= requests.count * 3
        && requests.moved_over_used >= WASTEFUL
}
