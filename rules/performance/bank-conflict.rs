//! The lanes of a warp ask one bank of shared memory for different words.

use crate::figures::{costly, finding};
use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::claim::Cost;
use cudalint_replay::runs::Requests;

/// The rule.
pub static RULE: Rule = rule!("bank-conflict", Performance, Counters)
    .summary("The lanes of a warp ask one bank of shared memory for different words, one after the other.")
    .figures()
    .facts(check);

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for (run, requests, others) in costly(context, suits) {
        let (passes, least) = requests.worst;
        let ways = passes.div_ceil(least.max(1));
        let cost = format!("in {passes} passes, where {least} would do");
        let stride = stride(requests);
        let Some(mut finding) = finding(&RULE, context, (run, requests, others), Cost::Passes, &cost) else { continue };
        finding.label = format!("{ways} ways");
        finding.help = Some(match stride {
            Some(elements) => format!(
                "give each row an element more than it needs: with lanes {} elements apart instead of {elements} all banks are asked at once",
                elements + 1
            ),
            None => "let the lanes of a warp access neighbouring words, or words of one place".to_owned(),
        });
        sink.report(finding);
    }
}

/// Elements from a lane to the next, where these are whole rows of words.
fn stride(requests: &Requests) -> Option<i64> {
    let [first, second] = &requests.lanes;
    let [a, b] = [first, second].map(|access| access.thread.thread);
    let lanes = i64::from(b[0]) - i64::from(a[0]);
    let between = (second.offset - first.offset) / i64::from(first.element.max(1));
    let is_row = lanes > 0 && a[1..] == b[1..] && between % lanes == 0;
    Some(between / lanes.max(1)).filter(|elements| is_row && *elements > 1 && elements % 2 == 0)
}

fn suits(requests: &Requests) -> bool {
    requests.shared && requests.costly * 2 >= requests.count
}
