//! Walks put together: which functions are entered, and which events of several walks are one.

use crate::facts::{
    Amount, Buffer, CrossedWork, Event, EventKind, Facts, LaunchArgument, Pointer, PythonFault, Rows, Site,
};
use crate::given::Given;
use crate::host::{ProjectScan, ReplayOptions, Walked};
use crate::quantity::Quantity;
use crate::walk::Walker;
use crate::ways::add_ways;
use cudalint_program::Project;
use cudalint_program::ir::{FunctionId, FunctionRole, ModuleId};
use cudalint_syntax::Language;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Walks the host functions of a module: `main` with the arguments of a plain start, those that no walk reached with
/// unknown parameters. Events are those of all code reached, other modules' included: [`merge`] sorts them out.
pub fn walk_module(project: &Project, scan: &ProjectScan, id: ModuleId, options: &ReplayOptions) -> Walked {
    let module = project.module(id);
    if module.language == Language::Python {
        return crate::python::walk_module(project, scan, id, *options);
    }
    let mut walked = Walked::default();
    let caches = Rc::new(crate::walk::Caches::with(scan.library.take()));
    let mut order: Vec<FunctionId> = module.functions.keys().collect();
    let is_main = |index: &FunctionId| {
        let function = &module.functions[*index];
        function.name == "main" && function.scope.segments.is_empty()
    };
    // Callers come before what they call: a function that was walked with what its callers give it needs no walk with
    // parameters that nobody gives it.
    let called = |index: FunctionId| {
        let function = &module.functions[index];
        function.name.is_empty() || scan.traits.is_mentioned(&function.name)
    };
    order.sort_by_key(|index| (!is_main(index), called(*index)));
    let mut visited = FxHashSet::default();
    for index in order {
        let function = &module.functions[index];
        // A lambda runs where it is called; its captured variables are not known elsewhere.
        let entry = function.body.is_some()
            && !function.space.global
            && (function.space.host || !function.space.device)
            && function.role != FunctionRole::Lambda
            && scan.traits.of(id, index).gpu;
        if !entry || visited.contains(&(id, index)) {
            continue;
        }
        let mut walker = Walker::new(project, scan, id, *options);
        walker.caches = Rc::clone(&caches);
        walker.run(id, index);
        walked.events.append(&mut walker.log.events);
        walked.never_run.append(&mut walker.never_run);
        for (cause, count) in std::mem::take(&mut walker.budget.limits) {
            match walked.limits.iter_mut().find(|(known, _)| *known == cause) {
                Some((_, sum)) => *sum += count,
                None => walked.limits.push((cause, count)),
            }
        }
        visited.extend(walker.visited);
    }
    if let Some(caches) = Rc::into_inner(caches) {
        scan.library.keep(caches.learned);
    }
    walked
}

/// Distributes the events of all walks to the modules of their sites. `walks` stand in the order of their modules; the
/// result has one entry for each module of the project.
pub fn merge(project: &Project, walks: Vec<Walked>) -> Vec<Facts> {
    let mut facts: Vec<Facts> = project.modules().map(|_| Facts::default()).collect();
    for (index, walked) in walks.into_iter().enumerate() {
        for event in walked.events {
            if let Some(target) = facts.get_mut(event.site.module.index()) {
                target.events.push(event);
            }
        }
        for (module, fault) in walked.faults {
            if let Some(target) = facts.get_mut(module.index()) {
                target.python.push(fault);
            }
        }
        if let Some(target) = facts.get_mut(index) {
            target.limits = walked.limits;
            target.never_run = walked.never_run;
            target.python_kernels = walked.kernels;
        }
    }
    for facts in &mut facts {
        tidy(&mut facts.events);
        tidy_faults(&mut facts.python);
    }
    facts
}

/// All of it at once, for small projects and tests.
pub fn replay_all(project: &Project, options: &ReplayOptions) -> Vec<Facts> {
    let scan = ProjectScan::new(project, &FxHashSet::default());
    let walks = project.modules().map(|id| walk_module(project, &scan, id, options)).collect();
    merge(project, walks)
}

/// Faults in the order of their sites, each once, as the earliest walk saw it.
fn tidy_faults(faults: &mut Vec<PythonFault>) {
    let mut seen = FxHashSet::default();
    faults.retain(|fault| seen.insert((fault.site, std::mem::discriminant(&fault.kind))));
    faults.sort_by_key(|fault| fault.site);
}

/// Events in the order of their sites, each site's distinct outcomes once, those of earlier walks first.
fn tidy(events: &mut Vec<Event>) {
    // Most sites have one event, which needs no comparison.
    let mut counts: FxHashMap<Site, u32> = FxHashMap::default();
    for event in events.iter() {
        *counts.entry(event.site).or_insert(0) += 1;
    }
    let mut kept: Vec<Event> = Vec::with_capacity(events.len());
    // By site: where its outcomes stand in `kept`, with what tells them apart once that was asked for.
    let mut seen: FxHashMap<Site, Vec<(usize, Option<String>)>> = FxHashMap::default();
    for event in events.drain(..) {
        if counts.get(&event.site) != Some(&1) {
            let outcomes = seen.entry(event.site).or_default();
            if let Some((at, _)) = outcomes.iter().find(|(at, _)| alike(&kept[*at].kind, &event.kind)) {
                surer(&mut kept[*at], event);
                continue;
            }
            let mut own = None;
            let same = |(at, print): &mut (usize, Option<String>)| {
                let other = &kept[*at].kind;
                !apart(other, &event.kind)
                    && print.get_or_insert_with(|| fingerprint(other))
                        == own.get_or_insert_with(|| fingerprint(&event.kind))
            };
            if let Some(known) = outcomes.iter_mut().position(same) {
                surer(&mut kept[outcomes[known].0], event);
                continue;
            }
            outcomes.push((kept.len(), own));
        }
        kept.push(event);
    }
    kept.sort_by_key(|event| event.site);
    *events = kept;
}

/// Of two ways to one outcome, that which is surely gone; else that which choices alone lead to.
fn surer(kept: &mut Event, mut other: Event) {
    let surely_gone = kept.perhaps_not_reached && !other.perhaps_not_reached && other.assumptions.is_none();
    let reached_alike = kept.perhaps_not_reached == other.perhaps_not_reached && kept.assumptions == other.assumptions;
    if surely_gone || reached_alike && kept.choices.is_none() && other.choices.is_some() {
        std::mem::swap(kept, &mut other);
    } else if !reached_alike {
        return;
    }
    add_ways(&kept.path, &mut kept.ways, other.path, other.ways);
}

/// Whether two outcomes are the same at first sight: what their fingerprints are made of is equal.
fn alike(a: &EventKind, b: &EventKind) -> bool {
    let pointers = |a: &Pointer, b: &Pointer| match (a, b) {
        (Pointer::Into { buffer: a, offset: x }, Pointer::Into { buffer: b, offset: y }) => {
            a.site == b.site
                && a.space == b.space
                && a.freed == b.freed
                && a.bytes == b.bytes
                && x.quantity == y.quantity
        }
        (Pointer::Into { .. }, _) | (_, Pointer::Into { .. }) => false,
        (a, b) => a == b,
    };
    match (a, b) {
        (EventKind::Allocate { buffer: a, .. }, EventKind::Allocate { buffer: b, .. }) => a.bytes == b.bytes,
        (EventKind::Free { argument: a, .. }, EventKind::Free { argument: b, .. }) => pointers(&a.pointer, &b.pointer),
        (
            EventKind::Copy { destination: to, source: from, bytes, rows, kind, .. },
            EventKind::Copy { destination, source, bytes: other_bytes, rows: other_rows, kind: other_kind, .. },
        ) => {
            bytes == other_bytes
                && rows == other_rows
                && kind == other_kind
                && pointers(&to.pointer, &destination.pointer)
                && pointers(&from.pointer, &source.pointer)
        }
        (
            EventKind::Set { destination: to, value, bytes, rows, .. },
            EventKind::Set { destination, value: other_value, bytes: other_bytes, rows: other_rows, .. },
        ) => {
            bytes == other_bytes
                && rows == other_rows
                && value.quantity == other_value.quantity
                && pointers(&to.pointer, &destination.pointer)
        }
        (EventKind::Launch(a), EventKind::Launch(b)) => {
            let argument = |(a, b): (&LaunchArgument, &LaunchArgument)| {
                a.amount == b.amount
                    && match (&a.pointer, &b.pointer) {
                        (Some(a), Some(b)) => pointers(a, b),
                        (a, b) => a.is_none() && b.is_none(),
                    }
            };
            let given = |(a, b): (&Given, &Given)| match (a, b) {
                (Given::Pointer { held: a, .. }, Given::Pointer { held: b, .. }) => {
                    a.as_ref().map(|held| &held.contents) == b.as_ref().map(|held| &held.contents)
                }
                (a, b) => a == b,
            };
            a.kernel == b.kernel
                && a.grid.axes == b.grid.axes
                && a.block.axes == b.block.axes
                && a.shared.quantity == b.shared.quantity
                && a.shared_opt_in.quantity == b.shared_opt_in.quantity
                && a.launch_bounds.as_ref().map(|bound| &bound.quantity)
                    == b.launch_bounds.as_ref().map(|bound| &bound.quantity)
                && a.args.len() == b.args.len()
                && a.args.iter().zip(&b.args).all(argument)
                && a.given.len() == b.given.len()
                && a.given.iter().zip(&b.given).all(given)
                && a.env == b.env
                && a.python == b.python
        }
        (EventKind::HostAccess { argument: a, write }, EventKind::HostAccess { argument: b, write: other }) => {
            write == other && pointers(&a.pointer, &b.pointer)
        }
        (EventKind::Lost(a), EventKind::Lost(b)) => a.end == b.end && a.once == b.once && a.freed == b.freed,
        (EventKind::Early(a), EventKind::Early(b)) => a.early == b.early && a.started == b.started,
        (EventKind::Crossed(a), EventKind::Crossed(b)) => {
            let work = |a: &CrossedWork, b: &CrossedWork| a.site == b.site && a.part == b.part && a.given == b.given;
            work(&a.first, &b.first) && work(&a.second, &b.second)
        }
        (EventKind::ReadBack(a), EventKind::ReadBack(b)) => a == b,
        (EventKind::WrongDevice(a), EventKind::WrongDevice(b)) => a == b,
        (EventKind::Timed(a), EventKind::Timed(b)) => a == b,
        (EventKind::Captured(a), EventKind::Captured(b)) => a == b,
        (EventKind::Packed(a), EventKind::Packed(b)) => a == b,
        (EventKind::Named(a), EventKind::Named(b)) => a == b,
        (EventKind::Unread(a), EventKind::Unread(b)) => a == b,
        _ => false,
    }
}

/// Whether two outcomes are different at first sight: some number in their fingerprints is.
fn apart(a: &EventKind, b: &EventKind) -> bool {
    let amounts = |a: &Amount, b: &Amount| match (&a.quantity, &b.quantity) {
        (Quantity::Known(a), Quantity::Known(b)) => a != b,
        _ => false,
    };
    let pointers = |a: &Pointer, b: &Pointer| match (a, b) {
        (Pointer::Into { buffer: a, offset: x }, Pointer::Into { buffer: b, offset: y }) => {
            a.site != b.site || a.freed != b.freed || amounts(&a.bytes, &b.bytes) || amounts(x, y)
        }
        (a, b) => std::mem::discriminant(a) != std::mem::discriminant(b),
    };
    match (a, b) {
        (EventKind::Allocate { buffer: a, .. }, EventKind::Allocate { buffer: b, .. }) => amounts(&a.bytes, &b.bytes),
        (EventKind::Free { argument: a, .. }, EventKind::Free { argument: b, .. }) => pointers(&a.pointer, &b.pointer),
        (
            EventKind::Copy { destination: to, source: from, bytes, .. },
            EventKind::Copy { destination, source, bytes: other, .. },
        ) => {
            amounts(bytes, other)
                || pointers(&to.pointer, &destination.pointer)
                || pointers(&from.pointer, &source.pointer)
        }
        (EventKind::Set { destination: to, bytes, .. }, EventKind::Set { destination, bytes: other, .. }) => {
            amounts(bytes, other) || pointers(&to.pointer, &destination.pointer)
        }
        (EventKind::Launch(a), EventKind::Launch(b)) => {
            let axes = |a: &[Amount; 3], b: &[Amount; 3]| a.iter().zip(b).any(|(a, b)| amounts(a, b));
            a.kernel != b.kernel
                || axes(&a.grid.axes, &b.grid.axes)
                || axes(&a.block.axes, &b.block.axes)
                || amounts(&a.shared, &b.shared)
                || a.args.iter().zip(&b.args).any(|(a, b)| {
                    amounts(&a.amount, &b.amount)
                        || matches!((&a.pointer, &b.pointer), (Some(a), Some(b)) if pointers(a, b))
                })
        }
        (EventKind::HostAccess { argument: a, .. }, EventKind::HostAccess { argument: b, .. }) => {
            pointers(&a.pointer, &b.pointer)
        }
        _ => true,
    }
}

fn in_rows(rows: Option<&Rows>) -> String {
    rows.map_or_else(String::new, |rows| format!(" {:?} {:?}", rows.counts, rows.pitches))
}

/// What tells two outcomes at one site apart for a rule: the values, not the identities of this or that walk.
fn fingerprint(kind: &EventKind) -> String {
    let pointer = |pointer: &Pointer| match pointer {
        Pointer::Into { buffer, offset } => {
            let Buffer { space, bytes, site, freed, .. } = buffer;
            format!("{space:?}|{bytes}|{offset}|{site:?}|{:?}|{freed}", bytes.assumptions)
        }
        Pointer::Uninitialized { declared, .. } => format!("unset {declared:?}"),
        Pointer::Somewhere { space, .. } => format!("somewhere {space:?}"),
        Pointer::Null => "null".to_owned(),
        Pointer::Unknown => "?".to_owned(),
    };
    match kind {
        EventKind::Allocate { buffer, .. } => {
            format!("allocate {} {:?}", buffer.bytes, buffer.bytes.assumptions)
        }
        EventKind::Free { argument, .. } => format!("free {}", pointer(&argument.pointer)),
        EventKind::Copy { destination, source, bytes, rows, kind, .. } => format!(
            "copy {} {} {} {:?} {kind:?}{}",
            pointer(&destination.pointer),
            pointer(&source.pointer),
            bytes,
            bytes.assumptions,
            in_rows(rows.as_deref())
        ),
        EventKind::Set { destination, value, bytes, rows, .. } => {
            let to = pointer(&destination.pointer);
            format!("set {to} {} {} {:?}{}", value, bytes, bytes.assumptions, in_rows(rows.as_deref()))
        }
        EventKind::Launch(launch) => {
            let axes = |extent: &crate::facts::Extent3| {
                extent.axes.each_ref().map(|amount| format!("{}{:?}", amount, amount.assumptions)).join(",")
            };
            let args: Vec<String> = launch
                .args
                .iter()
                .map(|arg| {
                    format!(
                        "{}{:?}{}",
                        arg.amount,
                        arg.amount.assumptions,
                        arg.pointer.as_ref().map(pointer).unwrap_or_default()
                    )
                })
                .collect();
            format!(
                "launch {:?} {:?} {:?} {} {:?} {} {} {} {} {:?} {}",
                launch.kernel,
                launch.env,
                launch.python,
                launch.given.iter().map(Given::outline).collect::<Vec<_>>().join(";"),
                launch.constants,
                axes(&launch.grid),
                axes(&launch.block),
                launch.shared,
                launch.shared_opt_in,
                launch.launch_bounds.as_ref().map(ToString::to_string),
                args.join(";")
            )
        }
        EventKind::Lost(lost) => format!("lost {:?} {} {:?}", lost.end, lost.once, lost.freed),
        EventKind::Early(early) => format!("early {:?} {:?}", early.early, early.started),
        EventKind::Crossed(crossed) => format!("crossed {crossed:?}"),
        EventKind::ReadBack(read) => format!("read back {read:?}"),
        EventKind::WrongDevice(wrong) => format!("wrong device {wrong:?}"),
        EventKind::Timed(timed) => format!("timed {timed:?}"),
        EventKind::Captured(call) => format!("captured {call:?}"),
        EventKind::Packed(packed) => format!("packed {packed:?}"),
        EventKind::Named(named) => format!("named {named:?}"),
        EventKind::Unread(unread) => format!("unread {unread:?}"),
        EventKind::HostAccess { argument, write } => format!("access {} {write}", pointer(&argument.pointer)),
    }
}
