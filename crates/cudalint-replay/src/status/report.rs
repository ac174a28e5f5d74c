//! What the analyses say of one function: the calls whose status matters, its launches, and what nobody waits for.

use super::flow::{CallSite, Callee, Fate};
use super::join::Join;
use super::sites::allocates;
use super::solve::{
    self, AGAIN, After, ENDED_SEEN, Effect, HIDDEN, IDLE, LAST, LAST_SEEN, LAUNCHES, NEXT, SEEN_LAST, SYNC, Solved,
};
use super::{known, later};
use crate::facts::{FunctionStatus, LaunchStatus, SeenLater, StatusCall, StatusUse, StatusWeight, Unobserved};
use crate::unneeded::is_unneeded;
use cudalint_program::api::ApiId;
use cudalint_program::api::effects::{self, ErrorRole, Handle, Library};
use cudalint_program::ir::{FunctionRole, ModuleId};
use std::cell::OnceCell;
use std::rc::Rc;

impl Join<'_> {
    /// Whether a dropped result of this function loses an error: it hands on a status that it does not look at.
    fn hands_on_status(&self, index: usize) -> bool {
        let function = self.function(index);
        let plain = matches!(function.role, FunctionRole::Free | FunctionRole::StaticMethod | FunctionRole::Method);
        function.returns_status && plain && !function.damaged && self.handed_on(index).next().is_some()
    }

    /// Whether all that a function hands on are statuses of calls such as `cudaFree`. The last error is gone once it was read: who drops
    /// that drops it for good.
    fn hands_on_quiet(&self, index: usize) -> bool {
        self.handed_on(index).all(|api| api.is_quiet() && !api.is_last_error())
    }

    /// The calls whose status a function hands on without a look at it.
    fn handed_on(&self, index: usize) -> impl Iterator<Item = ApiId> {
        let flow = &self.function(index).flow;
        flow.calls.iter().filter_map(|site| {
            let Callee::Api(api) = site.callee else { return None };
            let on = match site.fate {
                Fate::Returned => true,
                Fate::Stored(local) => {
                    site.stored_is_read && !flow.tested.contains(&local) && !flow.escaped.contains(&local)
                }
                _ => false,
            };
            on.then_some(api)
        })
    }

    /// Whether a call's status is one of the CUDA runtime, be it handed on by functions of this project.
    fn is_of_runtime(&self, index: usize, call: usize, status: &StatusCall) -> bool {
        // What they call of this project hands on what its own calls give, and is looked at by itself.
        let of_runtime = |site: &CallSite| match &site.callee {
            Callee::Api(api) => api.library.is_runtime(),
            _ => true,
        };
        match status.library {
            library if is_runtime(library) => true,
            "this project" => {
                let mut targets = self.targets[index][call].iter();
                targets.all(|target| self.function(*target as usize).flow.calls.iter().all(of_runtime))
            }
            _ => false,
        }
    }

    /// `looked_nearby`: whether another function around looks at the last error.
    pub fn facts(&self, index: usize, exit: After, has_callers: bool, looked_nearby: bool) -> Option<FunctionStatus> {
        let function = self.function(index);
        let flow = &function.flow;
        if flow.calls.is_empty() && flow.launches.is_empty() {
            return None;
        }
        // What comes after matters to launches and to calls of libraries alone.
        let matters = !flow.launches.is_empty() || flow.calls.iter().any(|site| matches!(site.callee, Callee::Api(_)));
        let solved = if matters { self.solve(index, exit) } else { Rc::default() };
        let mut calls = Vec::new();
        // Where all that is lost are waits and records: what they report is kept, and the next call of whoever called this returns it again.
        let mut loses_only_waits = *function.name != *"main";
        let idle = OnceCell::new();
        let mut wrapper = None;
        for (call, site) in flow.calls.iter().enumerate() {
            let Some(mut status) = self.status_call(index, call, site) else { continue };
            if site.dead || site.damaged || flow.lost && status.stored.is_some() {
                continue;
            }
            // The last error keeps what any call of the runtime has failed with until somebody reads it.
            let seen_next =
                solved.calls.get(call).is_some_and(|after| after.must & after.may & (NEXT | SEEN_LAST) != 0);
            if status.usage == StatusUse::Dropped && seen_next && self.is_of_runtime(index, call, &status) {
                status.usage = StatusUse::Consumed;
            }
            let hidden = solved.calls.get(call).is_some_and(|after| after.must & after.may & HIDDEN != 0);
            if hidden && self.is_of_runtime(index, call, &status) {
                status.weight = StatusWeight::Teardown;
            }
            if wrapper.is_none() && status.usage == StatusUse::Consumed && is_runtime(status.library) {
                wrapper = site
                    .expansion
                    .as_ref()
                    .filter(|name| self.is_checking_macro(self.functions[index].0, name))
                    .cloned();
            }
            if function.role == FunctionRole::Destructor && status.weight == StatusWeight::Teardown {
                continue;
            }
            if site.makes_unused || status.usage == StatusUse::Dropped && self.is_seen_in_use(index, call) {
                status.weight = StatusWeight::Teardown;
            }
            if site.selects_usual_device && self.is_followed_by_a_check(index, call) {
                status.weight = StatusWeight::Teardown;
            }
            if self.only_for_releases(index, call) {
                if function.role == FunctionRole::Destructor {
                    continue;
                }
                status.weight = StatusWeight::Teardown;
            }
            // What a wait reports is kept: later calls return it again. In a destructor nobody could hand it on.
            let waits = matches!(&site.callee, Callee::Api(api) if only_waits(*api));
            let again = || solved.calls.get(call).is_some_and(|after| after.must & after.may & AGAIN != 0);
            if waits && (function.role == FunctionRole::Destructor || again()) {
                status.weight = StatusWeight::Teardown;
            }
            if matches!(site.callee, Callee::Api(api) if renders(api)) && self.is_seen_by_loading(index, call) {
                status.weight = StatusWeight::Teardown;
            }
            if let Callee::Api(api) = site.callee
                && (waits || site.copies_back)
                && nothing_to_report(api, idle.get_or_init(|| self.idle_before(index)).get(call))
            {
                status.weight = StatusWeight::Teardown;
            }
            let after = solved.calls.get(call).copied().unwrap_or_default();
            let kept = self.is_of_runtime(index, call, &status);
            // That there is no memory is returned once.
            let of_driver = matches!(site.callee, Callee::Api(api) if known::returns_earlier(api.library));
            let again = (kept || of_driver) && !matches!(site.callee, Callee::Api(api) if allocates(api));
            // One that is kept and overwritten was meant to be looked at.
            if status.stored.is_none() {
                let by_torch = || (kept && again && self.is_for_torch(index)).then_some(SeenLater::PyTorch);
                let nearby = || (kept && again && looked_nearby).then_some(SeenLater::LastError);
                status.later = later::of_call(after, kept, again, waits).or_else(by_torch).or_else(nearby);
            }
            let returns_again = matches!(&site.callee, Callee::Api(api) if only_returns_again(*api));
            loses_only_waits &= returns_again && status.stored.is_none() || !is_lost(&status);
            calls.push(status);
        }
        for lost in calls.iter_mut().filter(|call| loses_only_waits && is_lost(call)) {
            lost.later = Some(SeenLater::Callers);
        }
        let mut launches = Vec::new();
        let (without_unseen, unseen) = if flow.launches.is_empty() {
            (Solved::default(), Vec::new())
        } else {
            self.solve_without_unseen(index, exit)
        };
        for ((site, after), alone) in flow.launches.iter().zip(&solved.launches).zip(&without_unseen.launches) {
            if site.dead || site.damaged || function.damaged {
                continue;
            }
            // A path with code out of sight, and others without: nothing is known for sure.
            let maybe = after.must & LAST == 0 && after.may & (LAST | SEEN_LAST) == LAST;
            launches.push(LaunchStatus {
                span: site.span,
                kernel: site.kernel.clone(),
                checked: maybe || after.must & LAST != 0,
                unseen: if (maybe || after.must & LAST != 0)
                    && (alone.must | alone.may) & (LAST | SYNC | SEEN_LAST) == 0
                {
                    unseen.clone()
                } else {
                    Vec::new()
                },
                only_by_sync: after.must & (LAST | SYNC) == SYNC && after.may & LAST == 0,
                later: later::of_launch(*after)
                    .or_else(|| self.is_for_torch(index).then_some(SeenLater::PyTorch))
                    .or_else(|| looked_nearby.then_some(SeenLater::LastError)),
                checked_on_some_path: after.must & LAST == 0 && after.may & SEEN_LAST != 0,
            });
        }
        calls.sort_by_key(|call| call.span);
        launches.sort_by_key(|launch| launch.span);
        // The same site can stand in several copies of a macro's argument.
        calls.dedup_by(|next, first| {
            let same = next.span == first.span && next.api == first.api;
            if same && next.usage == StatusUse::Consumed {
                first.usage = StatusUse::Consumed;
            }
            same
        });
        launches.dedup_by(|next, first| next.span == first.span);
        let mut unobserved = self.unobserved(index, has_callers);
        let is_open = |later: Option<SeenLater>| later.is_none();
        let told = calls.iter().any(|call| call.usage == StatusUse::Dropped && is_open(call.later))
            || launches.iter().any(|launch| !launch.checked && is_open(launch.later))
            || unobserved.is_some();
        let id = ModuleId(self.functions[index].0 as u32);
        let written = self.project.function_at(id, function.id);
        if told && written.is_some_and(|written| is_unneeded(self.project, id, written)) {
            let call = calls.iter_mut().map(|call| &mut call.later);
            for later in call.chain(launches.iter_mut().map(|launch| &mut launch.later)) {
                *later = later.or(Some(SeenLater::Unneeded));
            }
            unobserved = None;
        }
        if calls.is_empty() && launches.is_empty() && unobserved.is_none() && flow.double_reads.is_empty() {
            return None;
        }
        Some(FunctionStatus { function: function.id, calls, launches, unobserved, wrapper, damaged: function.damaged })
    }

    /// Whether the next call of the runtime behind a call that gives the program something has its status looked at.
    fn is_followed_by_a_check(&self, index: usize, call: usize) -> bool {
        let flow = &self.function(index).flow;
        let Some(site) = flow.calls.get(call) else { return false };
        let is_behind = |other: &CallSite| other.span.start >= site.span.end && other.is_needed_call();
        let behind = flow.calls.iter().enumerate().filter(|(_, other)| is_behind(other));
        let next = behind.min_by_key(|(_, other)| other.span.start);
        next.is_some_and(|(next, _)| self.usage(index, next) == StatusUse::Consumed)
    }

    /// Whether somebody looks at what the driver says of code that is loaded further on: of one that the compiler of kernels' text did not
    /// make, or that lacks a name.
    fn is_seen_by_loading(&self, index: usize, call: usize) -> bool {
        let flow = &self.function(index).flow;
        let Some(site) = flow.calls.get(call) else { return false };
        let loads = |other: &CallSite| matches!(other.callee, Callee::Api(api) if loads_code(api));
        flow.calls.iter().enumerate().any(|(at, other)| {
            other.span.start >= site.span.end && loads(other) && self.usage(index, at) == StatusUse::Consumed
        })
    }

    /// Whether a call selects a device and all that follows gives something back there: where it fails, so did the calls before it, and
    /// nobody can do anything about it any more.
    fn only_for_releases(&self, index: usize, call: usize) -> bool {
        let flow = &self.function(index).flow;
        let selects = |site: &CallSite| matches!(&site.callee, Callee::Api(api) if api.selects_device());
        let Some(site) = flow.calls.get(call).filter(|site| selects(site)) else { return false };
        let behind = |other: &cudalint_syntax::Span| other.start >= site.span.end;
        let mut releases = false;
        let mut after: Vec<(usize, &CallSite)> =
            flow.calls.iter().enumerate().filter(|(_, other)| behind(&other.span)).collect();
        after.sort_by_key(|(_, other)| other.span.start);
        for (other, site) in after {
            match &site.callee {
                // Work begins there.
                _ if site.initializer => return false,
                Callee::Api(api) if api.releases() || resets(*api) => releases = true,
                Callee::Api(api) if api.selects_device() || only_waits(*api) => {}
                // A library's own ways to give something back.
                Callee::Api(api) if api.is_quiet() && !known::returns_earlier(api.library) => {}
                Callee::Api(_) => return false,
                _ if self.effect(index, other) == Effect::None => {}
                _ => return false,
            }
        }
        releases && !flow.launches.iter().any(|launch| behind(&launch.span))
    }

    /// By call of a function, what holds before it: of [`IDLE`], [`ENDED_SEEN`] and [`LAST_SEEN`].
    fn idle_before(&self, index: usize) -> Vec<u8> {
        let flow = &self.function(index).flow;
        let step = |call: u32, before: u8| {
            let site = flow.calls.get(call as usize);
            let Some(Callee::Api(api)) = site.map(|site| &site.callee) else {
                // What is given a status looks at that.
                let is_given_status = |other: &CallSite| {
                    matches!(other.callee, Callee::Api(_))
                        && matches!(other.fate, Fate::Argument { call: outer, .. } if outer == call)
                };
                let keeps = self.effect(index, call as usize) == Effect::None || flow.calls.iter().any(is_given_status);
                return if keeps { before } else { 0 };
            };
            let looked_at = self.usage(index, call as usize) == StatusUse::Consumed;
            let of_all = only_waits(*api) && ["Device", "Thread"].iter().any(|word| api.name().contains(word));
            // What comes first without a stream waits for all work of the usual stream.
            let copies_across =
                site.is_some_and(|site| site.copies_across) && !flow.launches.iter().any(|launch| launch.streamed);
            match api.role {
                _ if of_all && looked_at => before | IDLE | ENDED_SEEN,
                _ if of_all && before & IDLE == 0 => IDLE,
                _ if of_all => before,
                _ if copies_across && looked_at => before | IDLE | ENDED_SEEN,
                ErrorRole::Clears | ErrorRole::Peeks if looked_at && before & IDLE != 0 => {
                    IDLE | ENDED_SEEN | LAST_SEEN
                }
                ErrorRole::Clears | ErrorRole::Peeks | ErrorRole::Synchronizes => before,
                _ if api.is_quiet() || looked_at && allocates(*api) => before,
                _ => 0,
            }
        };
        solve::idle_before(flow, &step)
    }

    fn status_call(&self, index: usize, call: usize, site: &CallSite) -> Option<StatusCall> {
        let usage = self.usage(index, call);
        let stored = match site.fate {
            Fate::Stored(local) if usage == StatusUse::Dropped => {
                let (module, _) = self.functions[index];
                let module = self.project.module(ModuleId(module as u32));
                let function = module.functions.get(self.function(index).id)?;
                function.locals.get(local).map(|local| local.name.clone())
            }
            _ => None,
        };
        match &site.callee {
            Callee::Api(api) => {
                if api.is_last_error() {
                    // Dropped, it clears the last error, which is a purpose of its own.
                    return None;
                }
                let weight = if site.initializer { StatusWeight::Teardown } else { weight(*api) };
                Some(StatusCall {
                    api: site.name.clone(),
                    library: api.library.name(),
                    span: site.span,
                    usage,
                    weight,
                    stored,
                    later: None,
                })
            }
            Callee::Named { name, .. } => {
                let targets = &self.targets[index][call];
                if targets.is_empty() || !targets.iter().all(|target| self.hands_on_status(*target as usize)) {
                    return None;
                }
                let quiet = targets.iter().all(|target| self.hands_on_quiet(*target as usize));
                Some(StatusCall {
                    api: name.clone(),
                    library: "this project",
                    span: site.span,
                    usage,
                    weight: if quiet { StatusWeight::Teardown } else { StatusWeight::Matters },
                    stored,
                    later: None,
                })
            }
            _ => None,
        }
    }

    /// `main` owns the whole story; so does a function that reports success of its own launch to nobody in sight.
    fn unobserved(&self, index: usize, has_callers: bool) -> Option<Unobserved> {
        let function = self.function(index);
        if function.damaged || self.effects[index] & LAUNCHES == 0 || function.scope.is_some() {
            return None;
        }
        let solved = self.solve(index, After::default());
        let (span, after) = self.pending_site(index, &solved)?;
        let is_main = *function.name == *"main";
        let claims_success = function.returns_number
            && function.role == FunctionRole::Free
            && !function.extern_c
            && !has_callers
            && after.must & LAST != 0
            && function.flow.launches.iter().all(|launch| !launch.streamed);
        (is_main || claims_success).then_some(Unobserved { launch: Some(span), dropped_sync: None })
    }
}

/// Whether a call's status is dropped and nothing makes up for it.
fn is_lost(call: &StatusCall) -> bool {
    call.usage == StatusUse::Dropped && call.weight == StatusWeight::Matters && call.later.is_none()
}

/// Whether all that a call does is to wait, or to note a point in a stream: what it reports the next call returns again.
fn only_returns_again(api: ApiId) -> bool {
    let again =
        |effect: &effects::Effect| matches!(effect, effects::Effect::Waits(_) | effects::Effect::Records { .. });
    api.effects.iter().all(again) && !api.effects.is_empty()
}

/// Whether all that a call does is to wait, so that nothing but the error of earlier work is lost with its status.
fn only_waits(api: ApiId) -> bool {
    api.role == ErrorRole::Synchronizes && !api.copies() && !api.sets()
}

/// Whether a call that waits has nothing new to report, by what holds before it: all work was waited for already, and looked at. Of a copy
/// also the last error was, so that what its memory comes from has not failed either.
fn nothing_to_report(api: ApiId, before: Option<&u8>) -> bool {
    let needed = if only_waits(api) { IDLE | ENDED_SEEN } else { IDLE | ENDED_SEEN | LAST_SEEN };
    before.is_some_and(|before| before & needed == needed)
}

/// Whether all that is lost with a call that fails is code that was compiled before, or a name in it.
fn renders(api: ApiId) -> bool {
    let makes =
        |effect: &effects::Effect| matches!(effect, effects::Effect::Compiles(_) | effects::Effect::Creates(..));
    api.library == Library::Nvrtc && !api.effects.iter().any(makes)
}

/// Whether a call loads code onto a device.
fn loads_code(api: ApiId) -> bool {
    let loads =
        |effect: &effects::Effect| matches!(effect, effects::Effect::Creates(Handle::Module | Handle::Library, _));
    api.effects.iter().any(loads)
}

/// Whether a call gives everything back that lives on a device.
fn resets(api: ApiId) -> bool {
    api.effects.iter().any(|effect| matches!(effect, effects::Effect::Resets))
}

/// How much a dropped status of a function matters.
pub(crate) fn weight(api: ApiId) -> StatusWeight {
    if api.is_quiet() { StatusWeight::Teardown } else { StatusWeight::Matters }
}

/// Whether a library's name for messages is that of a runtime.
fn is_runtime(library: &str) -> bool {
    [Library::Runtime, Library::Hip].map(Library::name).contains(&library)
}
