//! What is told of a text, and what its kernel was executed with.

use super::fault::{Fault, Lines};
use cudalint_engine::{Basis, Choices, Configuration, Engine, MinConfidence, ModuleContext, Request, StandardInput};
use cudalint_findings::{AccessKind, Confidence};
use std::collections::BTreeSet;
use std::sync::Mutex;

/// A finding.
#[derive(Clone, Debug)]
pub struct Told {
    pub rule: &'static str,
    pub confidence: Confidence,
    pub line: usize,
    pub fault: Fault,
    /// Whether one of its accesses is atomic.
    pub atomic: bool,
    /// The least `n` that it names.
    pub least: Option<i64>,
    /// Its sentence and what it assumes.
    pub message: String,
}

/// An execution with a block that was guessed.
#[derive(Clone, Debug)]
pub struct Guessed {
    pub grid: [u32; 3],
    pub block: [u32; 3],
}

/// What came of a text.
#[derive(Debug, Default)]
pub struct Seen {
    pub told: Vec<Told>,
    /// What executions of its launches with facts show.
    pub faults: Vec<Fault>,
    pub guessed: Option<Guessed>,
    /// What `coverage` says stands against knowing more, names left out.
    pub causes: Vec<String>,
}

/// Lints a text.
///
/// # Errors
/// When cudalint fails on it.
pub fn look(text: &str) -> Result<Seen, String> {
    let request = Request {
        standard_input: Some(StandardInput { filename: None, bytes: text.as_bytes().to_vec() }),
        choices: Choices { min_confidence: Some(MinConfidence::Possible), ..Choices::default() },
        configuration: Configuration::Isolated,
        ..Request::default()
    };
    let seen: Mutex<Seen> = Mutex::default();
    let look = |context: &ModuleContext<'_>| {
        let Ok(mut seen) = seen.lock() else { return };
        let line = |site: cudalint_engine::Site| {
            let before = usize::try_from(site.span.start).unwrap_or_default();
            text.get(..before).unwrap_or_default().matches('\n').count() + 1
        };
        for run in &context.facts.runs {
            if run.basis == Basis::GuessedBlock {
                seen.guessed = Some(Guessed { grid: run.grid, block: run.block });
            }
            if run.launch.is_some() && run.assumptions.is_none() {
                let events = run.report.events.iter().filter(|event| event.doubt.is_none());
                seen.faults.extend(events.filter_map(|event| Fault::of_event(event, &line)));
            }
        }
        for account in &context.facts.accounts {
            // Of a file without launches that is said of each parameter.
            let causes = account.causes.iter().filter(|cause| !cause.cause.ends_with("no launch is in sight"));
            let causes: BTreeSet<String> = causes.map(|cause| without_names(&cause.cause)).collect();
            seen.causes.extend(causes);
        }
    };
    let outcome = Engine::new(cudalint_rules::RULES).look(&request, &look).map_err(|error| error.to_string())?;
    if let Some(fault) = outcome.faults.first() {
        return Err(fault.message.clone());
    }
    let mut seen = seen.into_inner().unwrap_or_default();
    let lines = Lines::new(&outcome.report.sources);
    for finding in &outcome.report.findings {
        let Some(fault) = Fault::of_finding(finding, &lines) else { continue };
        let assumptions = finding.witness.as_ref().map(|witness| witness.assumptions.join("; ")).unwrap_or_default();
        seen.told.push(Told {
            rule: finding.rule.name,
            confidence: finding.confidence,
            line: lines.of(&finding.place),
            fault,
            atomic: finding.claim.accesses().iter().any(|access| access.kind == AccessKind::Atomic),
            least: least(&assumptions),
            message: format!("{} ({assumptions})", finding.message),
        });
    }
    Ok(seen)
}

/// The least `n` that an assumption names.
fn least(assumption: &str) -> Option<i64> {
    let (_, behind) = assumption.split_once("`n` is at least ")?;
    behind.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// A sentence without the names in it.
pub fn without_names(sentence: &str) -> String {
    sentence.split('`').enumerate().map(|(at, part)| if at % 2 == 0 { part } else { "…" }).collect()
}
