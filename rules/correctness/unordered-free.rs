//! Memory is given back in the order of one stream while work of another may still use it.

use crate::early::{self, TooEarly, report};
use cudalint_engine::{ModuleContext, Rule, rule};
use cudalint_findings::{Confidence, Finding};
use cudalint_replay::facts::{Early, Started};

/// The rule.
pub static RULE: Rule = rule!("unordered-free", Correctness, Delay)
    .summary("Memory is freed in the order of one stream, and nothing orders that after the work of another stream that uses it.")
    .cwe(416)
    .confidence(&[Confidence::Likely])
    .facts(|context, sink| report(context, sink, finding));

fn finding(context: &ModuleContext<'_>, early: &TooEarly<'_>) -> Option<Finding> {
    if early.fact.early != Early::Free {
        return None;
    }
    let text = &early.fact.argument.text;
    let (what, assumed) = match &early.fact.what {
        Started::Copy { api } | Started::Algorithm { name: api } => {
            (format!("`{api}`"), format!("`{api}` is not done by then"))
        }
        Started::Kernel { name, kernel, parameter } => {
            let (module, id) = (*kernel)?;
            let function = context.project.function_at(module, id)?;
            // What a kernel out of sight does with it nobody knows.
            function.body.as_ref()?;
            let parameter = &function.locals.iter().nth(*parameter as usize)?.name;
            (format!("the kernel `{name}`"), format!("`{name}` is still running then, and uses `{parameter}`"))
        }
    };
    let message = format!("`{text}` is freed in the order of another stream than that of {what}, which uses it");
    let mut finding = early::finding(&RULE, context, early, assumed, message, "started here, in its own stream")?;
    let help = "free it in the stream that uses it last, or let the other stream wait for an event of that one";
    finding.help = Some(help.to_owned());
    Some(finding)
}
