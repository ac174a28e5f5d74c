//! What executed kernels' requests cost, as rules tell it.

use crate::parts::assumptions;
use crate::runs::parts::{MAX_PLACES, add_place, does, element, label, named, run_finding, thread};
use cudalint_engine::{ModuleContext, Rule};
use cudalint_findings::claim::Cost;
use cudalint_findings::{Finding, Shows};
use cudalint_replay::runs::report::{Access, Site};
use cudalint_replay::runs::{Basis, Doubled, Figures, KernelRun, Requests};

/// Threads of a launch from which on what its requests cost matters.
const MANY_THREADS: u64 = 2048;
/// What warps ask for less often than that in the blocks that were executed is not worth a word.
const FEW_REQUESTS: u64 = 4;

/// Executions of launches that are worth it, with their figures: those that rest on facts first. Numbers that no size hangs on may be
/// anything: a stride that was chosen says nothing.
pub fn launched<'a>(context: &'a ModuleContext<'_>) -> impl Iterator<Item = (&'a KernelRun, &'a Figures)> {
    let threads = |run: &KernelRun| run.grid.iter().chain(&run.block).map(|size| u64::from(*size)).product::<u64>();
    let runs = context.facts.runs.iter().filter(move |run| match run.basis {
        // Of an answer to a condition figures do not know: they are those of the launch without it.
        // Several chosen numbers may not go together: a row of one element is no stride.
        Basis::Assumption if !run.chosen.is_empty() => run.free.is_empty() && run.chosen.len() == 1,
        Basis::Facts | Basis::Assumption => threads(run) >= MANY_THREADS,
        Basis::FirstBlock => true,
        Basis::GuessedBlock => false,
    });
    let runs = runs.filter(|run| run.block.iter().product::<u32>() >= 32);
    // Other devices have other warps and other memory.
    let runs = runs.filter(|_| !context.project.is_for_hip(context.id));
    runs.filter_map(|run| Some((run, run.figures.as_ref()?)))
}

/// Requests of executed launches that cost at least four times the least, each object of a kernel once, with the places of
/// others like it.
pub fn costly<'a>(
    context: &'a ModuleContext<'_>,
    suits: impl Fn(&Requests) -> bool,
) -> Vec<(&'a KernelRun, &'a Requests, Vec<Site>)> {
    let mut found: Vec<(&KernelRun, &Requests, Vec<Site>)> = Vec::new();
    for (run, figures) in launched(context) {
        let costly = |it: &&Requests| it.known && it.count >= FEW_REQUESTS && it.cost >= 4 * it.least && suits(it);
        for requests in figures.requests.iter().filter(costly) {
            let site = requests.lanes[0].site;
            let alike = |(other, known, _): &&mut (&KernelRun, &Requests, Vec<Site>)| {
                (other.kernel == run.kernel && known.object.name == requests.object.name) || known.lanes[0].site == site
            };
            match found.iter_mut().find(alike) {
                Some((_, known, others)) if known.lanes[0].site != site && !others.contains(&site) => others.push(site),
                Some(_) => {}
                None => found.push((run, requests, Vec::new())),
            }
        }
    }
    found
}

/// "lane 1 reads element 1024".
fn lane(run: &KernelRun, access: &Access, requests: &Requests) -> String {
    let [x, y, _] = run.block;
    let [a, b, c] = access.thread.thread;
    let lane = (a + x * (b + y * c)) % 32;
    format!("lane {lane} {} element {}", does(access.kind), element(access, &requests.object))
}

/// A finding about requests: `figures` says what they cost.
pub fn finding(
    rule: &'static Rule,
    context: &ModuleContext<'_>,
    (run, requests, others): (&KernelRun, &Requests, Vec<Site>),
    of: Cost,
    figures: &str,
) -> Option<Finding> {
    let [first, second] = &requests.lanes;
    let message = format!(
        "the warp of {} {} {} {figures}: {}, {}",
        thread(run, first.thread),
        does(first.kind),
        named(&requests.object),
        lane(run, first, requests),
        lane(run, second, requests),
    );
    let assumed = assumptions([&run.assumptions]);
    let mut finding = run_finding(rule, context, (run, assumed), first.site, Shows::Cost { of }, message)?;
    for call in first.calls.iter().take(MAX_PLACES) {
        add_place(&mut finding, label(context, *call, "called from here"));
    }
    if let Some(declared) = requests.object.declared {
        add_place(&mut finding, label(context, declared, format!("{} is declared here", named(&requests.object))));
    }
    for other in others.iter().take(MAX_PLACES) {
        add_place(&mut finding, label(context, *other, "likewise"));
    }
    let numbers = [
        ("requests", requests.count),
        ("costly requests", requests.costly),
        (if requests.shared { "passes" } else { "sectors" }, requests.cost),
        ("least possible", requests.least),
    ];
    if let Some(witness) = &mut finding.witness {
        let number = |(name, value): (&str, u64)| Some((name.to_owned(), i64::try_from(value).ok()?));
        witness.bindings.extend(numbers.into_iter().filter_map(number));
    }
    Some(finding)
}

/// Values that kernels compute in `double` between two of `float`, by kernel, each place once.
pub fn doubled<'a>(context: &'a ModuleContext<'_>) -> Vec<(&'a KernelRun, Vec<Doubled>)> {
    let mut found: Vec<(&KernelRun, Vec<Doubled>)> = Vec::new();
    let mut seen: Vec<Site> = Vec::new();
    for run in &context.facts.runs {
        let Some(figures) = &run.figures else { continue };
        let new: Vec<Doubled> = figures.doubles.iter().filter(|it| !seen.contains(&it.site)).copied().collect();
        seen.extend(new.iter().map(|it| it.site));
        match found.iter_mut().find(|(known, _)| known.kernel == run.kernel) {
            Some((_, all)) => all.extend(new),
            None if !new.is_empty() => found.push((run, new)),
            None => {}
        }
    }
    found
}

/// Barriers that order nothing in any execution of their kernel, each with the first execution. Of a kernel that is made for
/// several types or sizes others may need them; of a block of one warp nothing is said, and nothing of a block
/// that no launch says or where a number was chosen.
pub fn idle_barriers<'a>(context: &'a ModuleContext<'_>) -> Vec<(&'a KernelRun, Site)> {
    let mut found: Vec<(&KernelRun, Site)> = Vec::new();
    for run in &context.facts.runs {
        let (module, function) = run.kernel;
        // What branches of `#if` leave out may need it.
        let made_for_one =
            context.project.module(module).functions.get(function).is_some_and(|it| {
                it.template_params.is_empty() && !context.project.text(module, it.span).contains("#if")
            });
        let sure = run.launch.is_some() && run.chosen.is_empty() && made_for_one;
        let Some(figures) = run.figures.as_ref().filter(|_| sure) else { continue };
        for site in &figures.idle_barriers {
            let of_kernel = || context.facts.runs.iter().filter(|other| other.kernel == run.kernel);
            let always = of_kernel().all(|other| {
                let wide = other.block.iter().product::<u32>() > 32;
                wide && other.figures.as_ref().is_some_and(|figures| figures.idle_barriers.contains(site))
            });
            if always && !found.iter().any(|(_, known)| known == site) {
                found.push((run, *site));
            }
        }
    }
    found
}
