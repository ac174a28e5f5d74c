//! Facts as text, one a line, for whoever writes a rule: what [`Facts`] holds on a module, with places as lines and columns.

use super::{
    Amount, Buffer, Checker, CheckerDefect, Event, EventKind, Extent3, Facts, FunctionStatus, LaunchFact, Pointer,
    PointerArgument, PythonFaultKind, Step,
};
use crate::given::Given;
use crate::quantity::Assumptions;
use crate::runs::report::{Access, EventKind as Shown, Thread};
use crate::runs::{Figures, KernelRun};
use cudalint_kernel::report::Site;
use cudalint_program::Project;
use cudalint_program::ir::{FunctionId, ModuleId};
use cudalint_syntax::Span;

/// Writes the facts on one module.
struct Dump<'p> {
    project: &'p Project,
    id: ModuleId,
    /// Where the lines of its file begin.
    starts: Vec<usize>,
    out: String,
}

impl Facts {
    /// The facts on a module as text.
    pub fn dump(&self, project: &Project, id: ModuleId) -> String {
        let text = project.source(id);
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        let mut dump = Dump { project, id, starts: std::iter::once(0).chain(ends).collect(), out: String::new() };
        dump.section("events", &self.events, Dump::event);
        dump.section("statuses", &self.status, Dump::status);
        dump.section("checkers", &self.checkers, Dump::checker);
        dump.section("kernels", &self.kernels, |dump, (kernel, summary)| {
            let shared = summary.static_shared.map_or_else(|| "?".to_owned(), |bytes| bytes.to_string());
            let dynamic =
                summary.dynamic_shared.iter().map(|array| dump.words(array.site)).collect::<Vec<_>>().join(", ");
            let name = dump.function(id, *kernel);
            dump.line(1, &format!("{name}: static shared {shared} B, dynamic shared [{dynamic}]"));
            dump.line(2, &format!("dereferences parameters {:?}", summary.dereferenced));
            for claim in &summary.covers {
                let axis = ["x", "y", "z"].get(usize::from(claim.axis)).unwrap_or(&"?");
                let at = dump.at(claim.site);
                let bound = format!("parameter {} {:+}", claim.parameter, claim.offset);
                dump.line(2, &format!("covers as many elements along {axis} as {bound} says, at {at}"));
            }
            if summary.incomplete {
                dump.line(2, "parts of it were not understood");
            }
        });
        dump.section("runs", &self.runs, |dump, run| dump.run(self, run));
        dump.section("calls across execution spaces", &self.space_faults, |dump, fault| {
            let (at, caller) = (dump.own(fault.span), dump.function(id, fault.caller));
            dump.line(1, &format!("{at} {caller}: {:?} `{}`", fault.kind, fault.callee));
        });
        dump.section("calls of functions that end", &self.ended_calls, |dump, call| {
            let (at, caller) = (dump.own(call.span), dump.function(id, call.caller));
            let within = match (call.conditional, call.in_template) {
                (false, false) => "",
                (true, false) => ", under a condition",
                (false, true) => ", in a template",
                (true, true) => ", under a condition, in a template",
            };
            dump.line(1, &format!("{at} {caller}: {:?} {:?}{within}", call.api, call.api.until));
        });
        dump.section("calls before and after main", &self.static_calls, |dump, call| {
            let at = dump.at(call.declared);
            let when = if call.after { "ends" } else { "begins" };
            let condition = if call.condition.is_some() { ", under a condition" } else { "" };
            let what = match &call.call {
                Some(made) => format!("{} in {}", made.api, made.by),
                None => "freeing elements".to_owned(),
            };
            dump.line(1, &format!("{at} `{}` {when} with {what}{condition}", call.object));
        });
        dump.section("parameters that are not plain data", &self.parameter_faults, |dump, fault| {
            let kernel = dump.function(id, fault.kernel);
            dump.line(1, &format!("{kernel}: parameter {} `{}`: {:?}", fault.parameter, fault.type_name, fault.kind));
        });
        dump.section("waits that nothing needs", &self.redundant_waits, |dump, wait| {
            let (at, copy) = (dump.own(wait.wait), dump.own(wait.copy));
            dump.line(1, &format!("{at} {}, before the copy at {copy}", wait.api.name()));
        });
        dump.section("host arrays that launches copy again and again", &self.implicit_transfers, |dump, it| {
            let at = dump.at(it.site);
            dump.line(
                1,
                &format!("{at} {} for {} in {} launches, loop: {}", it.array, it.kernel, it.launches.len(), it.looped),
            );
        });
        dump.section("kernels of Python", &self.python_kernels, |dump, (kernel, made)| {
            let name = dump.function(id, *kernel);
            dump.line(1, &format!("{name} for {:?}: {:?}", made.dialect, made.arguments));
        });
        dump.section("between Python and its kernels", &self.python, |dump, fault| {
            let (at, what) = (dump.at(fault.site), python(&fault.kind));
            dump.line(1, &format!("{at} {what}"));
            dump.ground(&fault.assumptions, &fault.path);
        });
        dump.section("cut short", &self.limits, |dump, (cause, count)| dump.line(1, &format!("{cause}: {count}")));
        dump.out
    }
}

impl Dump<'_> {
    /// A line; what is written over several lines becomes one.
    fn line(&mut self, depth: usize, text: &str) {
        let words: Vec<&str> = text.split_whitespace().collect();
        self.out.push_str(&"  ".repeat(depth));
        self.out.push_str(&words.join(" "));
        self.out.push('\n');
    }

    fn section<T>(&mut self, title: &str, list: &[T], mut write: impl FnMut(&mut Self, &T)) {
        if !list.is_empty() {
            self.line(0, &format!("{title}:"));
            for entry in list {
                write(self, entry);
            }
        }
    }

    /// Line and column of a byte of this module's file.
    fn own(&self, span: Span) -> String {
        let start = span.start as usize;
        let line = self.starts.partition_point(|at| *at <= start).max(1);
        let begin = self.starts.get(line - 1).copied().unwrap_or(0);
        let before = self.project.source(self.id).get(begin..start).unwrap_or("");
        format!("{line}:{}", before.chars().count() + 1)
    }

    /// A place, with its file where that is another.
    fn at(&self, site: Site) -> String {
        if self.project.path(site.module) == self.project.path(self.id) {
            return self.own(site.span);
        }
        let before = self.project.source(site.module).get(..site.span.start as usize).unwrap_or("");
        let begin = before.rfind('\n').map_or(0, |at| at + 1);
        let column = before.get(begin..).unwrap_or("").chars().count() + 1;
        format!("{}:{}:{column}", self.project.path(site.module), before.matches('\n').count() + 1)
    }

    /// What is written at a place.
    fn words(&self, site: Site) -> String {
        format!("`{}` ({})", self.project.text(site.module, site.span), self.at(site))
    }

    fn function(&self, module: ModuleId, id: FunctionId) -> String {
        let name = self.project.function_at(module, id).map(|function| function.name.to_string());
        name.filter(|name| !name.is_empty()).unwrap_or_else(|| "?".to_owned())
    }

    /// What something rests on, and the way to it.
    fn ground(&mut self, assumptions: &Assumptions, path: &[Step]) {
        if let Some(list) = assumptions {
            self.line(2, &format!("if {}", list.join("; ")));
        }
        for step in path {
            let at = self.at(step.site);
            self.line(2, &format!("via {at}: {}", step.note));
        }
    }

    fn event(&mut self, event: &Event) {
        let (at, function) = (self.at(event.site), self.function(event.function.0, event.function.1));
        self.line(1, &format!("{at} in {function}: {}", kind(&event.kind)));
        if let EventKind::Launch(launch) = &event.kind {
            self.launch(launch);
        }
        if let EventKind::Copy { destination, source, .. } = &event.kind {
            self.line(2, &format!("to {}", side(destination)));
            self.line(2, &format!("from {}", side(source)));
        }
        self.ground(&event.assumptions, &event.path);
        for condition in &event.conditions {
            self.line(2, &format!("where {condition:?}"));
        }
        if event.conditional {
            self.line(2, "under a condition that nothing decides");
        }
        if event.failed {
            self.line(2, "where a call has failed");
        }
    }

    fn launch(&mut self, launch: &LaunchFact) {
        for (index, argument) in launch.args.iter().enumerate() {
            let value = match &argument.pointer {
                Some(to) => pointer(to),
                None => amount(&argument.amount),
            };
            let given = launch.given.get(index).map(given).unwrap_or_default();
            self.line(2, &format!("argument {index} `{}`: {value}{given}", argument.text));
        }
    }

    fn status(&mut self, status: &FunctionStatus) {
        let function = self.function(self.id, status.function);
        for call in &status.calls {
            let at = self.own(call.span);
            let said =
                format!("{at} in {function}: {} of {}: {:?}, {:?}", call.api, call.library, call.usage, call.weight);
            self.line(1, &said);
        }
        for launch in &status.launches {
            let looked = match (launch.checked, launch.only_by_sync, launch.checked_on_some_path) {
                (true, ..) => "checked",
                (_, true, _) => "seen by a later synchronizing call only",
                (.., true) => "checked on some paths",
                _ => "not checked",
            };
            let at = self.own(launch.span);
            self.line(1, &format!("{at} in {function}: launch of {}: {looked}", launch.kernel));
        }
        if let Some(launch) = status.unobserved.as_ref().and_then(|unobserved| unobserved.launch) {
            let at = self.own(launch);
            self.line(1, &format!("{at} in {function}: nobody waits for this launch and looks at its status"));
        }
    }

    fn checker(&mut self, checker: &Checker) {
        let at = self.at(checker.site);
        self.line(1, &format!("{at} {}", checker.name));
        for defect in &checker.defects {
            let (what, span) = match defect {
                CheckerDefect::CallInsideAssert { span } => ("the call stands inside of assert", *span),
                CheckerDefect::EvaluatesTwice { span, .. } => ("evaluates the call again", *span),
                CheckerDefect::CompiledOut { span, .. } => ("is compiled to nothing", *span),
                CheckerDefect::ReadsLastErrorTwice { second, .. } => ("reads the last error twice", *second),
            };
            let at = self.own(span);
            self.line(2, &format!("{at} {what}"));
        }
    }

    fn run(&mut self, facts: &Facts, run: &KernelRun) {
        let from =
            run.launch.map_or_else(|| "no launch in sight".to_owned(), |site| format!("launched at {}", self.at(site)));
        let grid = if run.grid_known { format!("{:?}", run.grid) } else { "?".to_owned() };
        self.line(1, &format!("{} grid {grid} block {:?}, {from}, rests on {:?}", run.name, run.block, run.basis));
        if !run.bindings.is_empty() {
            let bound: Vec<String> = run.bindings.iter().map(|(name, value)| format!("{name} = {value}")).collect();
            self.line(2, &format!("with {}", bound.join(", ")));
        }
        self.ground(&run.assumptions, &[]);
        for (buffer, used) in run.buffers.iter().zip(&run.report.buffers) {
            let bytes = buffer.bytes.map_or_else(|| "?".to_owned(), |bytes| bytes.to_string());
            let done = match (used.read, used.written) {
                (true, true) => "read and written",
                (true, false) => "read",
                (false, true) => "written",
                (false, false) => "not touched",
            };
            self.line(2, &format!("{} is `{}`, {bytes} B: {done}", buffer.parameter, buffer.argument));
        }
        let seen = &run.report.coverage;
        let end = if seen.complete { "to the end" } else { "not to the end" };
        let blocks = format!("{} of {} blocks {end}", seen.blocks, seen.of_blocks);
        self.line(2, &format!("{blocks}; {} accesses, {} with a known address", seen.accesses, seen.known));
        for (cause, count) in &seen.causes {
            self.line(2, &format!("not followed: {cause}: {count}"));
        }
        for event in &run.report.events {
            let what = self.shown(&event.kind);
            self.line(2, &format!("saw {what}, {} times", event.count));
        }
        if let Some(figures) = &run.figures {
            self.figures(figures);
        }
        let position = facts.runs.iter().position(|other| std::ptr::eq(other, run));
        for defect in facts.defects.iter().filter(|defect| Some(defect.run) == position) {
            self.line(2, &format!("defect {:?}, harm {:?}: event {}", defect.defect, defect.harm, defect.event + 1));
        }
    }

    /// What requests and barriers cost, once somebody has asked.
    fn figures(&mut self, figures: &Figures) {
        for it in &figures.requests {
            let (what, known) =
                (if it.shared { "passes" } else { "sectors" }, if it.known { "" } else { ", not all known" });
            let (at, name) = (self.at(it.lanes[0].site), &it.object.name);
            let line =
                format!("{at} {} requests to {name}: {} {what}, at least {}{known}", it.count, it.cost, it.least);
            self.line(2, &line);
        }
        for barrier in &figures.idle_barriers {
            let at = self.at(*barrier);
            self.line(2, &format!("{at} a barrier that orders nothing"));
        }
        for doubled in &figures.doubles {
            let at = self.at(doubled.site);
            self.line(2, &format!("{at} {} operations in double between values of float", doubled.operations));
        }
    }

    /// What an execution saw.
    fn shown(&self, kind: &Shown) -> String {
        match kind {
            Shown::OutOfBounds { object, access, .. } => {
                let bytes = object.bytes.map_or_else(|| "?".to_owned(), |bytes| bytes.to_string());
                format!("outside of {} ({bytes} B): {}", object.name, self.access(access))
            }
            Shown::Misaligned { object, access, align } => {
                format!("no multiple of {align} in {}: {}", object.name, self.access(access))
            }
            Shown::Race { object, first, second, scope, .. } => {
                format!("race on {} ({scope:?}): {} and {}", object.name, self.access(first), self.access(second))
            }
            Shown::DivergentBarrier { barrier, waits, absent, .. } => {
                format!("barrier at {}: {} waits, {} does not come", self.at(*barrier), thread(waits), thread(absent))
            }
            Shown::ExitBeforeBarrier { exit, barrier, leaves, .. } => {
                format!("{} leaves at {} before the barrier at {}", thread(leaves), self.at(*exit), self.at(*barrier))
            }
            Shown::WarpMask { site, name, mask, by, .. } => {
                format!("{name} at {} with mask {mask:#x} by {}", self.at(*site), thread(by))
            }
            Shown::UninitializedRead { object, access, .. } => {
                format!("read of {} that nobody wrote: {}", object.name, self.access(access))
            }
            Shown::ConstantWritten { object, access } => {
                format!("write to constant {}: {}", object.name, self.access(access))
            }
            Shown::NegativeIndex { site, array, axis, index, .. } => {
                format!("index {index} along axis {axis} of {array} at {}", self.at(*site))
            }
            Shown::CrowdedUpdate { object, access, threads, elements, .. } => {
                format!("{threads} threads update {elements} elements of {} at {}", object.name, self.at(access.site))
            }
            Shown::GridSyncWithoutCooperation { site } => {
                format!("barrier of the grid at {} in a launch that is not cooperative", self.at(*site))
            }
        }
    }

    fn access(&self, access: &Access) -> String {
        let Access { thread: by, kind, site, offset, size, .. } = access;
        format!("{kind:?} of {size} B at byte {offset} by {} at {}", thread(by), self.at(*site))
    }
}

fn thread(thread: &Thread) -> String {
    format!("thread {:?} of block {:?}", thread.thread, thread.block)
}

fn amount(amount: &Amount) -> String {
    match &amount.assumptions {
        Some(list) => format!("{amount} [if {}]", list.join("; ")),
        None => amount.to_string(),
    }
}

fn extent(extent: &Extent3) -> String {
    extent.axes.iter().map(amount).collect::<Vec<_>>().join(" x ")
}

fn buffer(buffer: &Buffer) -> String {
    let freed = if buffer.freed { ", freed before" } else { "" };
    format!("{} ({:?}, {} B by {}{freed})", buffer.name, buffer.space, amount(&buffer.bytes), buffer.origin.name())
}

fn pointer(pointer: &Pointer) -> String {
    match pointer {
        Pointer::Into { buffer: into, offset } => format!("{} + {}", buffer(into), amount(offset)),
        Pointer::Null => "null".into(),
        Pointer::Uninitialized { name, .. } => format!("{name}, which has no value"),
        Pointer::Somewhere { space, why } => format!("somewhere in {space:?} memory ({why})"),
        Pointer::Unknown => "?".into(),
    }
}

fn side(argument: &PointerArgument) -> String {
    let element = argument.element.map_or_else(|| "?".to_owned(), |bytes| bytes.to_string());
    let PointerArgument { text, element_name, pointer: to, .. } = argument;
    format!("`{text}`, elements {element_name} of {element} B: {}", pointer(to))
}

/// What a parameter is given beyond what the argument says by itself.
fn given(given: &Given) -> String {
    match given {
        Given::Pointer { held: Some(held), .. } => format!(", holds {:?}", held.contents),
        Given::Record(fields) => format!(", a record with {} known fields", fields.len()),
        _ => String::new(),
    }
}

fn kind(kind: &EventKind) -> String {
    match kind {
        EventKind::Allocate { buffer: new, count, pointer_text, element, element_name } => {
            let element = element.map_or_else(|| "?".to_owned(), |bytes| bytes.to_string());
            let sizeofs: Vec<&str> = count.sizeofs.iter().map(|(_, text)| text.as_str()).collect();
            let opaque = if count.opaque { ", partly out of sight" } else { "" };
            format!(
                "allocate `{pointer_text}`, elements {element_name} of {element} B: {}; size `{}` with sizeof [{}]{opaque}",
                buffer(new),
                count.text,
                sizeofs.join(", ")
            )
        }
        EventKind::Free { api, argument } => format!("free by {api}: {}", side(argument)),
        EventKind::Copy { api, bytes, kind, count, asynchronous, rows, .. } => {
            let later = if *asynchronous { ", asynchronous" } else { "" };
            let rows = if rows.is_some() { ", in rows" } else { "" };
            format!("copy by {api}, {kind:?}{later}{rows}: {} B, written `{}`", amount(bytes), count.text)
        }
        EventKind::Set { api, destination, value, bytes, unit, .. } => {
            let (value, bytes) = (amount(value), amount(bytes));
            format!("set by {api}: {bytes} B in units of {unit} to {value}: {}", side(destination))
        }
        EventKind::Launch(launch) => format!(
            "launch {} ({:?}, {}) grid {}, block {}, dynamic shared {} B",
            launch.kernel_name,
            launch.spelling,
            if launch.kernel.is_some() { "kernel in sight" } else { "kernel out of sight" },
            extent(&launch.grid),
            extent(&launch.block),
            amount(&launch.shared)
        ),
        EventKind::Lost(lost) => {
            format!("lost {:?}, {} others freed: {}", lost.at, lost.freed.len(), buffer(&lost.buffer))
        }
        EventKind::Early(early) => {
            format!("{:?} while {:?} may go on: {}", early.early, early.what, side(&early.argument))
        }
        EventKind::Crossed(crossed) => {
            let (first, second) = (&crossed.first, &crossed.second);
            format!(
                "{:?} in {:?} and {:?} in {:?} may meet at {}: {:?}",
                first.what,
                first.stream,
                second.what,
                second.stream,
                side(&crossed.argument),
                crossed.meeting
            )
        }
        EventKind::ReadBack(read) => {
            let kernels = read.kernels.len();
            format!(
                "reads back {} B from {} on of {}, behind {kernels} launches",
                read.bytes,
                read.from,
                side(&read.argument)
            )
        }
        EventKind::WrongDevice(wrong) => {
            format!("{:?} with {} of device {} on device {}", wrong.api, wrong.name, wrong.made.0, wrong.other)
        }
        EventKind::Timed(timed) => format!("clock behind {} that nothing has waited for", timed.kernel),
        EventKind::Captured(call) => format!("{} while a stream is recorded", call.api),
        EventKind::Unread(unread) => format!("nothing is read of what {} writes: {:?}", unread.kernel, unread.written),
        EventKind::Named(named) => format!("{} of \"{}\": {:?}", named.api, named.text, named.fault),
        EventKind::Packed(packed) => {
            format!("parameters of {} in `{}`: {:?}", packed.kernel, packed.text, packed.fault)
        }
        EventKind::HostAccess { argument, write } => {
            format!("host {} {}", if *write { "writes" } else { "reads" }, side(argument))
        }
    }
}

fn python(kind: &PythonFaultKind) -> String {
    match kind {
        PythonFaultKind::CopyRefused { api, destination, source, problem, exception, .. } => {
            format!("{api} refuses `{source}` into `{destination}` ({problem:?}) with {exception}")
        }
        PythonFaultKind::ArgumentType { kernel, argument, problem, others } => {
            let told = std::iter::once(argument).chain(others).map(|argument| {
                format!("parameter {} is {}, given {}", argument.parameter, argument.wanted, argument.given)
            });
            format!("{kernel}: {} ({problem:?})", told.collect::<Vec<_>>().join("; "))
        }
        PythonFaultKind::ElementType { kernel, parameter, wanted, given, .. } => {
            format!("{kernel}: parameter {parameter} points to {wanted}, given an array of {given}")
        }
        PythonFaultKind::NotContiguous { kernel, parameter, text, .. } => {
            format!("{kernel}: parameter {parameter} is given `{text}`, whose elements do not lie in one piece")
        }
        PythonFaultKind::NotCopiedBack { kernel, host, device, .. } => {
            format!("{kernel} changes {device}, which is never copied back to {host}")
        }
        PythonFaultKind::CapturedChanged { kernel, name, before, after, .. } => {
            format!("{kernel} was compiled with {name} = {before}, which is {after} now")
        }
    }
}
