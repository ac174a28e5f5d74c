//! Parts of findings about what executed kernels did: threads, elements, launches put the same way in every rule.

use super::Shown;
use super::races::Race;
use crate::parts::{allocation_label, assumptions, confidence_for};
use cudalint_engine::{ModuleContext, Rule};
use cudalint_findings::claim::{self, Space};
use cudalint_findings::{
    AccessKind as WitnessKind, AccessWitness, Confidence, Finding, Label, LaunchWitness, Place, Shows, Witness,
};
use cudalint_replay::facts::{self, LaunchSpelling};
use cudalint_replay::runs::report::{Access, AccessKind, Doubt, DoubtKind, Object, ObjectKind, Site, Thread};
use cudalint_replay::runs::{Basis, KernelRun, whole};
use cudalint_syntax::{Language, Span};

/// Related places of one kind, at most.
pub const MAX_PLACES: usize = 6;
/// Longest conditions that are quoted in an assumption, in bytes together.
const MOST_OF_CONDITIONS: usize = 120;

/// A place of an execution.
pub fn place(context: &ModuleContext<'_>, site: Site) -> Place {
    context.place_of(site)
}

/// Words at a place of an execution.
pub fn label(context: &ModuleContext<'_>, site: Site, message: impl Into<String>) -> Label {
    Label { place: place(context, site), message: message.into() }
}

/// The text of a place.
pub fn text<'a>(context: &'a ModuleContext<'_>, site: Site) -> &'a str {
    context.project.text(site.module, site.span)
}

/// The kernel's name in its source, without template arguments.
pub fn kernel(context: &ModuleContext<'_>, run: &KernelRun) -> String {
    let (module, function) = run.kernel;
    context.project.module(module).functions.get(function).map(|f| f.name.to_string()).unwrap_or_default()
}

/// `232`, `(3, 4)`: an index with as many axes as the launch has.
fn index_of(index: [u32; 3], extents: [u32; 3]) -> String {
    let [x, y, z] = index;
    match extents {
        [_, 1, 1] => x.to_string(),
        [_, _, 1] => format!("({x}, {y})"),
        _ => format!("({x}, {y}, {z})"),
    }
}

fn of_block(run: &KernelRun, thread: Thread) -> String {
    if run.grid == [1, 1, 1] { String::new() } else { format!(" of block {}", index_of(thread.block, run.grid)) }
}

/// `thread 232 of block 3`.
pub fn thread(run: &KernelRun, thread: Thread) -> String {
    format!("thread {}{}", index_of(thread.thread, run.block), of_block(run, thread))
}

/// `thread 0` or `thread 0 of block 1`: the other one beside a thread that has been named.
pub fn other_thread(run: &KernelRun, named: Thread, other: Thread) -> String {
    if named.block == other.block {
        format!("thread {}", index_of(other.thread, run.block))
    } else {
        thread(run, other)
    }
}

/// `4 blocks of 256 threads`, `(4 × 2) blocks of (16 × 16) threads`.
pub fn shape(run: &KernelRun) -> String {
    let axes = |[x, y, z]: [u32; 3]| match (y, z) {
        (1, 1) => x.to_string(),
        (_, 1) => format!("({x} × {y})"),
        _ => format!("({x} × {y} × {z})"),
    };
    if !run.grid_known {
        let threads = if run.block == [1, 1, 1] { "thread" } else { "threads" };
        return format!("blocks of {} {threads}", axes(run.block));
    }
    let (grid, block) = (axes(run.grid), axes(run.block));
    let count = if run.grid == [1, 1, 1] { "block" } else { "blocks" };
    let threads = if run.block == [1, 1, 1] { "thread" } else { "threads" };
    format!("{grid} {count} of {block} {threads}")
}

/// What one thread does with an access: `reads`, `writes`.
pub fn does(kind: AccessKind) -> &'static str {
    match kind {
        AccessKind::Read | AccessKind::UpdateRead => "reads",
        AccessKind::Write | AccessKind::UpdateWrite => "writes",
        AccessKind::Atomic => "atomically changes",
    }
}

/// What two threads do with an access: `read`, `write`.
fn do_both(kind: AccessKind) -> &'static str {
    match kind {
        AccessKind::Read | AccessKind::UpdateRead => "read",
        AccessKind::Write | AccessKind::UpdateWrite => "write",
        AccessKind::Atomic => "atomically change",
    }
}

/// The index of the element that an access touches; of the last one, where only that lies outside of the object.
pub fn element(access: &Access, object: &Object) -> i64 {
    let element = i64::from(access.element.max(1));
    let first = access.offset.div_euclid(element);
    match extent(access, object) {
        Some(extent) if (0..extent).contains(&first) && leaves(access, object) => {
            (access.offset + i64::from(access.size.max(1)) - 1).div_euclid(element)
        }
        _ => first,
    }
}

fn leaves(access: &Access, object: &Object) -> bool {
    let end = access.offset.saturating_add(i64::from(access.size));
    access.offset < 0 || object.bytes.is_some_and(|bytes| i64::try_from(bytes).is_ok_and(|bytes| end > bytes))
}

/// Elements of an object as an access sees them.
pub fn extent(access: &Access, object: &Object) -> Option<i64> {
    i64::try_from(object.bytes? / u64::from(access.element.max(1))).ok()
}

/// `` `a` ``, or what an object without a name is.
pub fn named(object: &Object) -> String {
    if !object.name.is_empty() {
        return format!("`{}`", object.name);
    }
    match object.kind {
        ObjectKind::Shared => "a shared array".to_owned(),
        ObjectKind::DynamicShared => "the dynamic shared memory".to_owned(),
        ObjectKind::Local => "a local array".to_owned(),
        ObjectKind::Buffer(_) | ObjectKind::Constant | ObjectKind::Device => "memory".to_owned(),
    }
}

/// Whether an object is one for each block.
pub const fn is_shared(object: &Object) -> bool {
    matches!(object.kind, ObjectKind::Shared | ObjectKind::DynamicShared)
}

/// "element 1000 of `a`".
pub fn element_of(access: &Access, object: &Object) -> String {
    format!("element {} of {}", element(access, object), named(object))
}

/// "thread 232 of block 3 reads element 1000 of `a`, which has 1000".
pub fn beyond(run: &KernelRun, access: &Access, object: &Object) -> String {
    let has = extent(access, object).map_or_else(String::new, |extent| format!(", which has {extent}"));
    format!("{} {} {}{has}", thread(run, access.thread), does(access.kind), element_of(access, object))
}

/// The label of an access beyond its object.
pub fn beyond_label(access: &Access, object: &Object) -> String {
    match extent(access, object) {
        Some(extent) => format!("element {} of {extent}", element(access, object)),
        None => format!("element {}", element(access, object)),
    }
}

/// "thread 0 writes element 0 of `s`, thread 255 reads it".
pub fn both(run: &KernelRun, race: &Race<'_>) -> String {
    let (first, second) = (race.first, race.second);
    let other = other_thread(run, first.thread, second.thread);
    let (does_first, does_second) = (does(first.kind), does(second.kind));
    let what = element_of(first, race.object);
    if does_first == does_second {
        return format!("{} and {other} both {} {what}", thread(run, first.thread), do_both(first.kind));
    }
    format!("{} {does_first} {what}, {other} {does_second} it", thread(run, first.thread))
}

/// An object as a claim names it.
pub fn object(object: &Object) -> claim::Object {
    let space = match object.kind {
        ObjectKind::Shared | ObjectKind::DynamicShared => Space::Shared,
        ObjectKind::Local => Space::Local,
        ObjectKind::Constant => Space::Constant,
        ObjectKind::Buffer(_) | ObjectKind::Device => Space::Global,
    };
    claim::Object { name: object.name.clone(), space, bytes: object.bytes }
}

/// An access as the claim states it; none where the number of elements is not known.
pub fn access_witness(context: &ModuleContext<'_>, access: &Access, object: &Object) -> Option<AccessWitness> {
    Some(AccessWitness {
        block: access.thread.block.map(u64::from),
        thread: access.thread.thread.map(u64::from),
        kind: match access.kind {
            AccessKind::Read | AccessKind::UpdateRead => WitnessKind::Read,
            AccessKind::Write | AccessKind::UpdateWrite => WitnessKind::Write,
            AccessKind::Atomic => WitnessKind::Atomic,
        },
        index: element(access, object),
        extent: extent(access, object)?,
        site: place(context, access.site),
        function: called_function(context, access.site),
    })
}

/// The function around a place, where it is none that is launched.
fn called_function(context: &ModuleContext<'_>, site: Site) -> Option<String> {
    let functions = &context.project.module(site.module).functions;
    let around = functions.iter().filter(|it| it.body.is_some() && it.span.contains(site.span));
    let inner = around.min_by_key(|function| function.span.end - function.span.start)?;
    (!inner.space.global && inner.space.device && !inner.name.is_empty()).then(|| inner.name.to_string())
}

/// A finding with its claim, the launch, its numbers and the way there; `None` when the execution rests on more than one assumption.
pub fn finding(
    rule: &'static Rule,
    context: &ModuleContext<'_>,
    shown: &Shown<'_>,
    site: Site,
    shows: Shows<Place>,
    message: String,
) -> Option<Finding> {
    let run = shown.run;
    let mut assumed = assumptions([&run.assumptions]);
    if let Some(doubt) = &shown.event.doubt {
        add_doubt(context, run, doubt, &mut assumed);
    }
    run_finding(rule, context, (run, assumed), site, shows, message)
}

/// The same for what a whole execution shows, and what it rests on.
pub fn run_finding(
    rule: &'static Rule,
    context: &ModuleContext<'_>,
    (run, assumed): (&KernelRun, Vec<String>),
    site: Site,
    shows: Shows<Place>,
    message: String,
) -> Option<Finding> {
    let confidence = confidence_for(&assumed)?;
    let mut finding = rule.finding(confidence, place(context, site), shows, message);
    finding.function = kernel(context, run);
    if let Some(launch) = run.launch {
        finding
            .related
            .push(Label { place: context.place_of(launch), message: format!("launched here with {}", shape(run)) });
    }
    finding.claim.kernel = Some(kernel(context, run));
    finding.claim.inputs.clone_from(&run.bindings);
    finding.claim.launch =
        run.launch.filter(|_| run.grid_known).zip(run.dynamic_shared).map(|(launch, shared_bytes)| LaunchWitness {
            site: context.place_of(launch),
            grid: run.grid.map(u64::from),
            block: run.block.map(u64::from),
            shared_bytes,
        });
    finding.witness =
        Some(Witness { bindings: run.bindings.clone(), assumptions: assumed, path: context.steps(&run.path) });
    // That the launch is come by with these numbers would be a second assumption.
    let second = run.perhaps_not_reached || chooses_arrays_apart(run);
    if second && run.basis == Basis::Assumption {
        only_possible(&mut finding);
    }
    if run.basis == Basis::GuessedBlock && is_named_by_a_script(context, run) {
        only_possible(&mut finding);
    }
    Some(finding)
}

/// Whether a script of the project spells the name of a kernel: what it launches it with is not followed through a file, and no guess says
/// it better.
fn is_named_by_a_script(context: &ModuleContext<'_>, run: &KernelRun) -> bool {
    let project = context.project;
    let Some(kernel) = project.function_at(run.kernel.0, run.kernel.1) else { return false };
    let spelled = ['\'', '"'].map(|quote| format!("{quote}{}{quote}", kernel.name));
    let mut scripts = project.modules().filter(|id| project.module(*id).language == Language::Python);
    project.module(run.kernel.0).language != Language::Python
        && scripts.any(|id| spelled.iter().any(|name| project.source(id).contains(name.as_str())))
}

/// Whether the extents of several arrays of Python were chosen, each for itself: those that a kernel is given together mostly belong
/// together, and an array's number of elements follows from its shape.
fn chooses_arrays_apart(run: &KernelRun) -> bool {
    fn extent(name: &str) -> Option<(&str, bool)> {
        let of_all = name.strip_suffix(".size").map(|array| (array, true));
        of_all.or_else(|| name.split_once(".shape[").map(|(array, _)| (array, false)))
    }
    let mut chosen = run.chosen_inputs.iter().filter_map(|name| extent(name));
    let first = chosen.next();
    first.is_some_and(|first| chosen.any(|other| other != first))
}

/// What threads are taken to do at conditions that nobody knows, as an assumption: of a launch that is assumed it is a part.
fn add_doubt(context: &ModuleContext<'_>, run: &KernelRun, doubt: &Doubt, assumed: &mut Vec<String>) {
    let quoted = |site: &Site| {
        let text = whole(context.project.source(site.module), site.span);
        format!("`{}`", text.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    let mut conditions: Vec<String> = Vec::new();
    for condition in doubt.conditions.iter().map(quoted) {
        if !conditions.contains(&condition) {
            conditions.push(condition);
        }
    }
    let all = match conditions.as_slice() {
        [.., _, _, _] if conditions.iter().map(String::len).sum::<usize>() > MOST_OF_CONDITIONS => {
            "all conditions here".to_owned()
        }
        [init @ .., last] if !init.is_empty() => format!("{} and {last}", init.join(", ")),
        conditions => conditions.concat(),
    };
    let of_launch = if run.basis == Basis::GuessedBlock { assumed.as_mut_slice() } else { &mut [] };
    match (of_launch, doubt.kind) {
        ([launch], DoubtKind::TwoPass) => *launch = format!("{launch}, and two of the threads get past {all}"),
        ([launch], DoubtKind::NotAllPass | DoubtKind::BlockParted) => {
            *launch = format!("{launch}, some of which get past {all}, and others not");
        }
        (_, DoubtKind::TwoPass) => assumed.push(format!("two threads of a block get past {all}")),
        (_, DoubtKind::NotAllPass | DoubtKind::BlockParted) => {
            assumed.push(format!("some threads of a block get past {all}, and others do not"));
        }
    }
}

/// Lets a finding rest on one more assumption; `None` when it rests on one already.
pub fn assume(finding: &mut Finding, assumption: &str) -> Option<()> {
    let assumptions = &mut finding.witness.get_or_insert_default().assumptions;
    assumptions.push(assumption.to_owned());
    finding.confidence = confidence_for(assumptions)?;
    finding.severity = cudalint_engine::rule::default_severity(finding.rule.group, finding.confidence);
    Some(())
}

/// Lowers a finding to *possible*: not shown unless asked for.
pub fn only_possible(finding: &mut Finding) {
    finding.confidence = Confidence::Possible;
    finding.severity = cudalint_engine::rule::default_severity(finding.rule.group, Confidence::Possible);
}

/// Adds an access to a finding: to its claim, and the calls that lead there.
pub fn add_access(context: &ModuleContext<'_>, finding: &mut Finding, access: &Access, object: &Object) {
    for call in access.calls.iter().take(MAX_PLACES) {
        add_place(finding, label(context, *call, "called from here"));
    }
    if let Some(access) = access_witness(context, access, object) {
        finding.claim.add_access(access);
    }
}

fn elements(count: i64) -> String {
    if count == 1 { "1 element".to_owned() } else { format!("{count} elements") }
}

/// The block-wide barrier in the kernel's language.
pub fn barrier(run: &KernelRun) -> &'static str {
    match run.spelling {
        LaunchSpelling::Numba => "cuda.syncthreads()",
        LaunchSpelling::CupyJit => "jit.syncthreads()",
        _ => "__syncthreads()",
    }
}

/// What keeps the lanes of a warp in step, in the kernel's language.
pub fn warp_help(run: &KernelRun) -> String {
    let (barrier, shuffle) = match run.spelling {
        LaunchSpelling::Numba => ("cuda.syncwarp()", "cuda.shfl_down_sync"),
        LaunchSpelling::CupyJit => ("jit.syncwarp()", "jit.shfl_down_sync"),
        _ => ("__syncwarp()", "__shfl_down_sync"),
    };
    format!("put `{barrier}` between reads and writes, or use `{shuffle}`")
}

/// The function that adds to an element atomically, in the kernel's language.
pub fn atomic_add(run: &KernelRun) -> &'static str {
    match run.spelling {
        LaunchSpelling::Numba => "cuda.atomic.add",
        LaunchSpelling::CupyJit => "jit.atomic_add",
        _ => "atomicAdd",
    }
}

/// Whether the kernel is written in Python.
pub fn is_python(run: &KernelRun) -> bool {
    matches!(run.spelling, LaunchSpelling::Numba | LaunchSpelling::CupyJit)
}

/// Adds a place, once.
pub fn add_place(finding: &mut Finding, label: Label) {
    if !finding.related.contains(&label) {
        finding.related.push(label);
    }
}

/// Adds the place where an object comes into being.
pub fn add_object(
    context: &ModuleContext<'_>,
    finding: &mut Finding,
    run: &KernelRun,
    object: &Object,
    access: &Access,
) {
    if let Some(allocation) = buffer(run, object) {
        let mut label = allocation_label(context, allocation);
        if let Some(extent) = extent(access, object) {
            label.message = format!("{}, so {} has {}", label.message, named(object), elements(extent));
        }
        finding.related.push(label);
    } else if let Some(declared) = object.declared {
        let message = match (object.kind, extent(access, object)) {
            (ObjectKind::DynamicShared, Some(extent)) => format!("the launch gives it room for {}", elements(extent)),
            (_, Some(extent)) => format!("{} has {}", named(object), elements(extent)),
            (_, None) => format!("{} is declared here", named(object)),
        };
        finding.related.push(label(context, declared, message));
    }
}

/// The allocation that an object is, where it is in sight.
pub fn buffer<'r>(run: &'r KernelRun, object: &Object) -> Option<&'r facts::Buffer> {
    let ObjectKind::Buffer(index) = object.kind else { return None };
    run.buffers.get(index)?.allocation.as_ref()
}

/// The function that launches a kernel on memory of its callers', under a condition that nothing decides: what they gave may be what
/// decides it.
pub fn perhaps_not_reached<'p>(context: &'p ModuleContext<'_>, run: &KernelRun, object: &Object) -> Option<&'p str> {
    let launch = run.launch.filter(|_| run.perhaps_not_reached)?;
    let allocation = buffer(run, object)?.site;
    let mut functions = context.project.module(launch.module).functions.iter();
    let around =
        |site: Site, span: Span| site.module == launch.module && span.range().contains(&(site.span.start as usize));
    let launcher = functions.rfind(|function| function.body.is_some() && around(launch, function.span))?;
    (!around(allocation, launcher.span)).then_some(&*launcher.name)
}

/// Adds the conditions that an access stands under.
pub fn add_guards(context: &ModuleContext<'_>, finding: &mut Finding, guards: &[Site], message: &str) {
    let first = guards.len().saturating_sub(MAX_PLACES);
    finding.related.extend(guards.iter().skip(first).map(|guard| label(context, *guard, message)));
}
