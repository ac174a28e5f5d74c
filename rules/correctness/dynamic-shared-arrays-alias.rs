//! Two dynamic shared arrays of one kernel are used as if they were distinct.

use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::claim::Difference;
use cudalint_findings::{Confidence, Label, Shows, Witness};
use cudalint_syntax::Language;

/// The rule.
pub static RULE: Rule = rule!("dynamic-shared-arrays-alias", Correctness, Output)
    .summary("Two dynamic shared arrays of a kernel both begin at the same address.")
    .guidelines(&["CUDA-3.4"])
    .cwe(119)
    .confidence(&[Confidence::Definite])
    .facts(check);

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for (id, summary) in &context.facts.kernels {
        if summary.incomplete {
            continue;
        }
        let used: Vec<_> = summary.dynamic_shared.iter().filter(|array| array.used.is_some()).collect();
        let Some((first, rest)) = used.split_first() else { continue };
        // Overlaid on purpose: one is carved up, only one is ever written, or one begins behind the other.
        let Some(second) = rest.iter().find(|array| {
            array.name != first.name && array.site.module == context.id && array.written && first.written
        }) else {
            continue;
        };
        let apart = [first, *second].iter().any(|array| array.carved || array.shifted);
        if apart || summary.barrier_between_dynamic {
            continue;
        }
        let python = context.module.language == Language::Python;
        let spelled = if python { "declared with the shape 0" } else { "`extern __shared__`" };
        let message = format!(
            "`{}` and `{}` are both {spelled}, so they are the same memory: each overwrites the other",
            first.name, second.name
        );
        let Some(used) = second.used else { continue };
        let names = [first, *second].map(|array| array.name.clone());
        let claim = Shows::Memory { difference: Difference::SameAddress { names, used: context.place_of(used) } };
        let mut finding = RULE.finding(Confidence::Definite, context.place_of(second.site), claim, message);
        finding.label = format!("begins where `{}` begins", first.name);
        finding.function = context.function_name(*id);
        finding.claim.kernel = Some(finding.function.clone());
        finding.claim.sites = vec![context.place_of(first.site)];
        finding
            .related
            .push(Label { place: context.place_of(first.site), message: "begins at offset 0 too".to_owned() });
        let mut path = Vec::new();
        for array in [*first, *second] {
            if let Some(site) = array.used {
                path.push(Label { place: context.place_of(site), message: format!("uses `{}`", array.name) });
            }
        }
        finding.witness = Some(Witness { path, ..Witness::default() });
        finding.help = Some(if python {
            format!("make the other a part of the first: `{} = {}[count:]`", second.name, first.name)
        } else {
            format!(
                "declare one array and derive the other from it: `auto *{} = (T *)({} + count);`",
                second.name, first.name
            )
        });
        sink.report(finding);
    }
}
