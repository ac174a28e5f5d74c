//! Parts of findings that several rules make: quantities, places and witnesses, put the same way everywhere.

use cudalint_engine::{ModuleContext, Rule, Sink};
use cudalint_findings::{Claim, Confidence, Finding, Label, LaunchWitness, Place, Witness};
use cudalint_program::ir::ModuleId;
use cudalint_replay::facts::{
    Amount, ArrayShape, Buffer, Event, EventKind, Extent3, LaunchFact, Origin, Owner, Pointer, PythonFault, Question,
    SeenLater, Site,
};
use cudalint_replay::quantity::{Assumptions, Quantity};
use cudalint_syntax::{Language, Span};

/// What several values together rest on, each once, in order.
pub fn assumptions<'a>(parts: impl IntoIterator<Item = &'a Assumptions>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for text in parts.into_iter().flatten().flat_map(|list| list.iter()) {
        if !all.contains(text) {
            all.push(text.clone());
        }
    }
    all
}

/// *Definite* when nothing is assumed, *likely* for exactly one assumption; with more, nothing is said at all.
pub fn confidence_for(assumptions: &[String]) -> Option<Confidence> {
    match assumptions.len() {
        0 => Some(Confidence::Definite),
        1 => Some(Confidence::Likely),
        _ => None,
    }
}

/// A witness that consists of the way there.
pub fn path_witness(context: &ModuleContext<'_>, event: &Event, assumptions: Vec<String>) -> Witness {
    Witness { assumptions, path: context.steps(&event.path), ..Witness::default() }
}

/// "allocated here: 4096 bytes" at a buffer's allocation.
pub fn allocation_label(context: &ModuleContext<'_>, buffer: &Buffer) -> Label {
    if matches!(Owner::of(&buffer.origin, buffer.space), Some(Owner::Maker(..))) {
        return Label { place: context.place_of(buffer.site), message: "made here".to_owned() };
    }
    let what = match buffer.origin {
        Origin::Local | Origin::Global | Origin::Other => "declared",
        _ => "allocated",
    };
    if buffer.origin == Origin::LeftOut {
        return Label {
            place: context.place_of(buffer.site),
            message: "what is left out here allocates it".to_owned(),
        };
    }
    let size = match &buffer.array {
        Some(array) => elements_of(array),
        None => format!("{} bytes", buffer.bytes),
    };
    Label { place: context.place_of(buffer.site), message: format!("{what} here: {size}") }
}

/// "1000 elements of float32", "64 × 32 elements".
fn elements_of(array: &ArrayShape) -> String {
    let extents: Vec<String> = array.extents.iter().map(ToString::to_string).collect();
    let count = match extents.as_slice() {
        [] => "1 element".to_owned(),
        [one] if one == "1" => "1 element".to_owned(),
        extents => format!("{} elements", extents.join(" × ")),
    };
    if array.dtype.is_empty() { count } else { format!("{count} of {}", array.dtype) }
}

/// Whether a pointer leads to memory that the function of the event itself allocated or declared, so that no condition
/// there has to find out what it is.
pub fn allocated_beside(context: &ModuleContext<'_>, event: &Event, pointer: &Pointer) -> bool {
    let Pointer::Into { buffer, .. } = pointer else { return false };
    let (module, function) = event.function;
    let Some(function) = context.project.module(module).functions.get(function) else { return false };
    // A condition may ask all the same.
    if event.questions.contains(&Question::Memory(buffer.id)) {
        return false;
    }
    let site = buffer.site;
    site.module == module && function.span.start <= site.span.start && site.span.end <= function.span.end
}

/// Whether a condition on the way to an event that nobody decides may ask on which side this memory lies: who calls gave it, and may
/// choose the way by it.
pub fn side_may_be_asked(context: &ModuleContext<'_>, event: &Event, pointer: &Pointer) -> bool {
    (event.conditional || event.perhaps_not_reached) && !allocated_beside(context, event, pointer)
}

/// Whether a condition around an event that nothing decides may have to do with these numbers of it: it may ask what the device has,
/// or is met only where one of them fits what it compares with, which whoever calls may never give.
pub fn may_decide(event: &Event, numbers: &[i64]) -> bool {
    let Some(choices) = &event.choices else { return true };
    let follows = |number: i64, choice: i64| match choice {
        ..2 => false,
        2 => matches!(number, 2 | 4 | 8),
        _ => number != 0 && number % choice == 0,
    };
    numbers.iter().any(|number| choices.iter().any(|choice| follows(*number, *choice)))
}

/// Whether both sides may reach the memory that an event is about: in some dialects they share it, and directives run loops on the
/// device, where its pointers are right. What calls lead there may hand over such a pointer.
pub fn may_be_shared(context: &ModuleContext<'_>, event: &Event) -> bool {
    let mut modules: Vec<ModuleId> = event.path.iter().map(|step| step.site.module).collect();
    modules.extend([context.id, event.function.0]);
    modules.sort_unstable();
    modules.dedup();
    modules.into_iter().any(|module| context.project.may_share_heap(module))
}

/// `n thing` or `n things`.
pub fn counted(count: usize, thing: &str) -> String {
    if count == 1 { format!("{count} {thing}") } else { format!("{count} {thing}s") }
}

/// The number, where it is one.
pub fn known(amount: &Amount) -> Option<i64> {
    match amount.quantity {
        Quantity::Known(value) => Some(value),
        Quantity::Symbolic(_) | Quantity::Unknown => None,
    }
}

/// A launch as the witness states it, when every number of it is known.
pub fn launch_witness(context: &ModuleContext<'_>, event: &Event, launch: &LaunchFact) -> Option<LaunchWitness> {
    let axes = |extent: &Extent3| -> Option<[u64; 3]> {
        let mut out = [1; 3];
        for (slot, amount) in out.iter_mut().zip(&extent.axes) {
            *slot = u64::try_from(known(amount)?).ok()?;
        }
        Some(out)
    };
    Some(LaunchWitness {
        site: context.place_of(event.site),
        grid: axes(&launch.grid)?,
        block: axes(&launch.block)?,
        shared_bytes: u64::try_from(known(&launch.shared)?).ok()?,
    })
}

/// Whether a place stands in Python.
pub fn is_python(context: &ModuleContext<'_>, site: Site) -> bool {
    context.project.module(site.module).language == Language::Python
}

/// The host function that an event happened in, by name.
pub fn function_of(context: &ModuleContext<'_>, event: &Event) -> String {
    let (module, function) = event.function;
    context
        .project
        .module(module)
        .functions
        .get(function)
        .filter(|function| !function.python.as_ref().is_some_and(|python| python.is_module))
        .map(|function| function.name.to_string())
        .unwrap_or_default()
}

/// The places of labels.
pub fn places(labels: &[Label]) -> Vec<Place> {
    labels.iter().map(|label| label.place.clone()).collect()
}

/// The assumption that nothing of what comes later shows a failure whose status nobody looked at, in words.
pub fn stays_unseen(later: SeenLater) -> &'static str {
    match later {
        SeenLater::LastError => "no look at the last error later on brings the failure to light",
        SeenLater::Call => "no later call whose status is looked at fails for the same reason",
        SeenLater::Callers => "no caller goes on to a call that returns the error again and is looked at",
        SeenLater::Results => "no comparison of the results shows that something failed",
        SeenLater::Unneeded => "somebody needs what the kernels compute",
        SeenLater::PyTorch => "no operation of PyTorch follows, whose own look at the last error throws",
    }
}

/// A finding about an event with its witness: `None` when it rests on more than one assumption.
pub fn event_finding(
    rule: &'static Rule,
    context: &ModuleContext<'_>,
    event: &Event,
    span: Span,
    assumed: Vec<String>,
    claim: impl Into<Claim<Place>>,
    message: String,
) -> Option<Finding> {
    let confidence = confidence_for(&assumed)?;
    let place = context.place_of(Site { module: event.site.module, span });
    let mut finding = rule.finding(confidence, place, claim, message);
    finding.function = function_of(context, event);
    if let EventKind::Launch(launch) = &event.kind {
        finding.claim.kernel = Some(launch.kernel_name.clone());
    }
    finding.witness = Some(path_witness(context, event, assumed));
    Some(finding)
}

/// A finding about what goes wrong between Python and a kernel: `None` when it rests on more than one assumption.
pub fn fault_finding(
    rule: &'static Rule,
    context: &ModuleContext<'_>,
    fault: &PythonFault,
    assumption: Option<String>,
    claim: impl Into<Claim<Place>>,
    message: String,
) -> Option<Finding> {
    let mut assumed = assumptions([&fault.assumptions]);
    assumed.extend(assumption);
    let confidence = confidence_for(&assumed)?;
    let mut finding = rule.finding(confidence, context.place_of(fault.site), claim, message);
    let (module, function) = fault.function;
    let around = context.project.module(module).functions.get(function);
    finding.function = around
        .filter(|function| !function.python.as_ref().is_some_and(|python| python.is_module))
        .map(|function| function.name.to_string())
        .unwrap_or_default();
    finding.witness = Some(Witness { assumptions: assumed, path: context.steps(&fault.path), ..Witness::default() });
    Some(finding)
}

/// Reports what a rule makes of each thing that goes wrong between Python and a kernel.
pub fn report_faults(
    context: &ModuleContext<'_>,
    sink: &mut Sink<'_>,
    finding: impl Fn(&ModuleContext<'_>, &PythonFault) -> Option<Finding>,
) {
    for fault in &context.facts.python {
        sink.report_some(finding(context, fault));
    }
}
