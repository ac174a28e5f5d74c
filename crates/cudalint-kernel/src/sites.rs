//! All places in code, and in what was seen of its execution.

use crate::code::{Code, Expr, Function, Intrinsic};
use crate::report::{
    Access, Again, Coverage, Doubt, Event, EventKind, ExecutionReport, Object, OpenCondition, Site, Traced,
};
use std::sync::{Arc, Mutex, PoisonError};

/// Hands over every place in code.
pub(crate) fn of_code(code: &mut Code, each: &mut impl FnMut(&mut Site)) {
    for Function { site, variables, .. } in &mut code.functions {
        each(site);
        variables.iter_mut().for_each(|variable| each(&mut variable.site));
    }
    for node in &mut code.exprs {
        each(&mut node.site);
        if let Expr::Intrinsic(Intrinsic::WrapIndex { element, .. }, _) = &mut node.kind {
            each(element);
        }
    }
    code.stmts.iter_mut().for_each(|node| each(&mut node.site));
    code.objects.iter_mut().for_each(|object| each(&mut object.site));
}

/// Hands over every place in a report.
pub(crate) fn of_report(report: &mut ExecutionReport, each: &mut impl FnMut(&mut Site)) {
    // What repeats an execution is shared by the events that it may be asked about.
    let mut repeated: Vec<(Arc<Again>, Arc<Again>)> = Vec::new();
    let ExecutionReport { events, coverage, buffers: _ } = report;
    for Event { kind, count: _, guards, reach: _, again, doubt } in events {
        of_kind(kind, each);
        guards.iter_mut().for_each(&mut *each);
        if let Some(Doubt { kind: _, conditions }) = doubt {
            conditions.iter_mut().for_each(&mut *each);
        }
        if let Some(again) = again {
            let known = repeated.iter().find(|(old, _)| Arc::ptr_eq(old, again)).map(|(_, new)| Arc::clone(new));
            let new = known.unwrap_or_else(|| {
                let new = Arc::new(of_again(again, each));
                repeated.push((Arc::clone(again), Arc::clone(&new)));
                new
            });
            *again = new;
        }
    }
    let Coverage { places, open, unplaced, .. } = coverage;
    for (site, _) in places {
        each(site);
    }
    for condition in open {
        each(&mut condition.site);
    }
    unplaced.iter_mut().for_each(each);
}

/// What repeats an execution, with other places; what was found out stays known.
fn of_again(again: &Again, each: &mut impl FnMut(&mut Site)) -> Again {
    let mut with = |mut site: Site| {
        each(&mut site);
        site
    };
    let Again { launch, budget, conditions, sites, most, complete, known } = again;
    let conditions = conditions.iter().map(|it| OpenCondition { site: with(it.site), ..*it }).collect();
    let sites = sites.iter().map(|site| with(*site)).collect();
    let known = {
        let Traced { spots, all, each, alone } = &*known.lock().unwrap_or_else(PoisonError::into_inner);
        let spots = spots.as_ref().map(|(spots, sites)| {
            let spots = spots.iter().map(|(site, spots)| (with(*site), spots.clone())).collect();
            (Arc::new(spots), sites.iter().map(|site| with(*site)).collect())
        });
        let each = each.iter().map(|((site, across), reach)| ((with(*site), *across), *reach)).collect();
        let alone = alone.iter().map(|(site, seen)| (with(*site), *seen)).collect();
        Traced { spots, all: *all, each, alone }
    };
    let (launch, budget, complete) = (launch.clone(), *budget, *complete);
    Again { launch, budget, conditions, sites, most: *most, complete, known: Mutex::new(known) }
}

fn of_kind(kind: &mut EventKind, each: &mut impl FnMut(&mut Site)) {
    match kind {
        EventKind::OutOfBounds { object, access, wrapped, plain_index: _ } => {
            of_object(object, each);
            of_access(access, each);
            wrapped.iter_mut().for_each(each);
        }
        EventKind::Misaligned { object, access, align: _ }
        | EventKind::UninitializedRead { object, access, partly: _ }
        | EventKind::ConstantWritten { object, access } => {
            of_object(object, each);
            of_access(access, each);
        }
        EventKind::Race { object, first, second, scope: _, values: _, across, barrier_between: _ } => {
            of_object(object, each);
            of_access(first, each);
            of_access(second, each);
            across.iter_mut().for_each(each);
        }
        EventKind::DivergentBarrier {
            barrier,
            calls,
            waits: _,
            absent: _,
            goes_on,
            condition,
            same_warp: _,
            missed: _,
        } => {
            each(barrier);
            calls.iter_mut().chain(goes_on).for_each(&mut *each);
            each(condition);
        }
        EventKind::ExitBeforeBarrier { exit, barrier, leaves: _, waits: _, unwritten } => {
            each(exit);
            each(barrier);
            if let Some(access) = unwritten {
                of_access(access, each);
            }
        }
        EventKind::WarpMask { site, name: _, mask: _, by: _, fault: _, condition } => {
            each(site);
            condition.iter_mut().for_each(each);
        }
        EventKind::NegativeIndex {
            site,
            computed,
            calls,
            array: _,
            axis: _,
            thread: _,
            index: _,
            extent: _,
            access: _,
        } => {
            each(site);
            each(computed);
            calls.iter_mut().for_each(each);
        }
        EventKind::CrowdedUpdate { object, access, threads: _, elements: _, sure: _, condition } => {
            of_object(object, each);
            of_access(access, each);
            condition.iter_mut().for_each(each);
        }
        EventKind::GridSyncWithoutCooperation { site } => each(site),
    }
}

fn of_object(object: &mut Object, each: &mut impl FnMut(&mut Site)) {
    let Object { kind: _, name: _, declared, bytes: _ } = object;
    declared.iter_mut().for_each(each);
}

fn of_access(access: &mut Access, each: &mut impl FnMut(&mut Site)) {
    let Access { thread: _, kind: _, site, calls, offset: _, size: _, element: _, interval: _, iteration } = access;
    each(site);
    calls.iter_mut().for_each(&mut *each);
    if let Some((site, _)) = iteration {
        each(site);
    }
}
