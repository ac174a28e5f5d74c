//! Two arguments of a launch lead to one place, and a parameter promises that they do not.

use crate::parts::{assumptions, confidence_for, event_finding};
use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::claim::Difference;
use cudalint_findings::{Confidence, Finding, Label, Shows};
use cudalint_replay::facts::{Event, EventKind, LaunchArgument, LaunchFact, Pointer, Together};
use cudalint_replay::quantity::Assumptions;

/// The rule.
pub static RULE: Rule = rule!("restrict-arguments-alias", Preview, Output)
    .summary("Two arguments of a launch lead to the same memory, though a parameter is `__restrict__` and one of them is written.")
    .cwe(758)
    .guidelines(&["CUDA-3.5"])
    .confidence(&[Confidence::Definite, Confidence::Likely, Confidence::Possible])
    .facts(check);

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for event in &context.facts.events {
        let EventKind::Launch(launch) = &event.kind else { continue };
        let Some(summary) = &launch.kernel_summary else { continue };
        for together in &summary.together {
            if let Some(finding) = finding(context, event, launch, together) {
                sink.report(finding);
                break;
            }
        }
    }
}

fn finding(context: &ModuleContext<'_>, event: &Event, launch: &LaunchFact, both: &Together) -> Option<Finding> {
    let numbers = both.parameters.map(|parameter| parameter as usize);
    if !numbers.iter().any(|number| launch.restricted.get(*number).copied().unwrap_or(false)) {
        return None;
    }
    let [first, second] = [launch.args.get(numbers[0])?, launch.args.get(numbers[1])?];
    let rests = same_place(event, first, second)?;
    let assumed = assumptions(rests.iter().chain([&event.assumptions]));
    confidence_for(&assumed)?;
    let (module, kernel) = launch.kernel?;
    let kernel = context.project.function_at(module, kernel)?;
    let name = |number: usize| kernel.params().iter().nth(number).map(|parameter| parameter.name.to_string());
    let names = [name(numbers[0])?, name(numbers[1])?];
    let promised = numbers.iter().position(|number| launch.restricted.get(*number).copied().unwrap_or(false))?;
    let again = if first.text == second.text { String::new() } else { format!("`{}` ", second.text) };
    let message = format!(
        "`{}` is given `{}` as `{}` and {}as `{}`, but `{}` is `__restrict__`",
        launch.kernel_name, first.text, names[0], again, names[1], names[promised]
    );
    let claim = Shows::Memory { difference: Difference::Promise { parameter: names[promised].clone() } };
    let mut finding = event_finding(&RULE, context, event, second.span, assumed, claim, message)?;
    finding.claim.kernel = Some(launch.kernel_name.clone());
    let does = |number: usize| if both.writes[number] { "written" } else { "read" };
    // What is read before it is written has the value that it is meant to have, whatever the compiler makes of it.
    if !both.writes[0] {
        finding.confidence = Confidence::Possible;
    }
    finding.label = "the same memory again".to_owned();
    for (number, site) in both.sites.into_iter().enumerate() {
        let order = if number == 0 { "first" } else { "then" };
        let message = format!("an element is {order} {} through `{}` here", does(number), names[number]);
        finding.related.push(Label { place: context.place_of(site), message });
    }
    finding.help =
        Some("take `__restrict__` from the parameters, or give the kernel memory of its own for each".to_owned());
    Some(finding)
}

/// What it rests on that two arguments are one address; `None` where they may not be.
fn same_place(event: &Event, a: &LaunchArgument, b: &LaunchArgument) -> Option<Vec<Assumptions>> {
    let is_name = |text: &str| text.chars().all(|c| c.is_alphanumeric() || c == '_');
    if a.text == b.text && is_name(&a.text) && a.pointer.is_some() {
        return Some(Vec::new());
    }
    let (Some(Pointer::Into { buffer, offset }), Some(Pointer::Into { buffer: other, offset: at })) =
        (&a.pointer, &b.pointer)
    else {
        return None;
    };
    (!event.conditional && buffer.id == other.id && offset.quantity.surely_equals(&at.quantity))
        .then(|| vec![offset.assumptions.clone(), at.assumptions.clone()])
}
