//! Grid and block in each other's place.

use crate::fixes::unsafe_fix;
use crate::parts::{event_finding, launch_witness};
use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::claim::Resource;
use cudalint_findings::{Applicability, Confidence, Finding, Fix, Label, Shows};
use cudalint_replay::facts::{Event, EventKind, LaunchFact, LaunchSpelling};

/// The rule.
pub static RULE: Rule = rule!("swapped-launch-arguments", Suspicious, ApiError)
    .summary("The number of blocks is given as the number of threads per block.")
    .cwe(683)
    .confidence(&[Confidence::Likely])
    .fix(Applicability::Unsafe)
    .facts(check);

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for event in &context.facts.events {
        sink.report_some(check_event(context, event));
    }
}

fn check_event(context: &ModuleContext<'_>, event: &Event) -> Option<Finding> {
    let EventKind::Launch(launch) = &event.kind else { return None };
    let division = launch.block_divided_by_grid?;
    if is_named_so(&launch.grid.text, &launch.block.text) || are_equal(launch) {
        return None;
    }
    let message = format!(
        "`{}` is launched with `{}` threads per block, which was computed as a number of blocks of `{}` threads",
        launch.kernel_name, launch.block.text, launch.grid.text
    );
    let assumed = vec![format!("`{}` is meant as the size of a block", launch.grid.text)];
    let claim = Shows::RefusedLaunch { of: Resource::Threads };
    let mut finding = event_finding(&RULE, context, event, launch.config_span, assumed, claim, message)?;
    finding.label = "grid and block look swapped".to_owned();
    finding.related.push(Label {
        place: context.place_of(division),
        message: format!("divides the work by `{}`", launch.grid.text),
    });
    let (grid, block) = (&launch.block.text, &launch.grid.text);
    finding.help = Some(match launch.spelling {
        LaunchSpelling::Chevron | LaunchSpelling::Call => format!("write `<<<{grid}, {block}>>>`"),
        LaunchSpelling::Numba | LaunchSpelling::CupyJit => format!("write `[{grid}, {block}]`"),
        // A body without a launch in the script has neither to swap.
        LaunchSpelling::CupyRaw | LaunchSpelling::CupyBody => format!("write `{grid}` first, then `{block}`"),
        LaunchSpelling::PyCuda => format!("write `grid={grid}, block={block}`"),
    });
    finding.fix = swapped(context, launch, event);
    finding.claim.launch = launch_witness(context, event, launch);
    Some(finding)
}

/// Whether both are the same number, with which nothing changes when they are swapped.
fn are_equal(launch: &LaunchFact) -> bool {
    let grid = launch.grid.axes[0].quantity.known();
    grid.is_some() && grid == launch.block.axes[0].quantity.known()
}

/// Whether the names of grid and block say that each is what it is given for.
fn is_named_so(grid: &str, block: &str) -> bool {
    let (grid, block) = (grid.to_ascii_lowercase(), block.to_ascii_lowercase());
    let of_blocks = |text: &str| ["blockcount", "block_count", "blocks", "grid"].iter().any(|word| text.contains(word));
    let of_threads = |text: &str| ["blocksize", "block_size", "thread"].iter().any(|word| text.contains(word));
    of_blocks(&grid) && !of_threads(&grid) && of_threads(&block) && !of_blocks(&block)
}

/// The configuration with its first two parts in each other's place, where they stand there as they are.
fn swapped(context: &ModuleContext<'_>, launch: &LaunchFact, event: &Event) -> Option<Fix> {
    if !matches!(launch.spelling, LaunchSpelling::Chevron | LaunchSpelling::Numba) || event.site.module != context.id {
        return None;
    }
    let text = context.text(launch.config_span);
    let (grid, block) = (&launch.grid.text, &launch.block.text);
    let start = text.find(grid.as_str())?;
    let between = text.get(start + grid.len()..)?.find(block.as_str()).map(|at| start + grid.len() + at)?;
    let opening = text.get(..start)?;
    let middle = text.get(start + grid.len()..between)?;
    if middle.trim() != "," || !opening.chars().all(|c| "<[( \n\t".contains(c)) {
        return None;
    }
    let rest = text.get(between + block.len()..)?;
    let right = format!("{opening}{block}{middle}{grid}{rest}");
    Some(unsafe_fix(context.place(launch.config_span), right, "swap grid and block".to_owned()))
}
