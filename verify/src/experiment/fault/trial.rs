//! What is common to all faults: runs in which something fails are compared with one without, and the checked twin must
//! stop.

use super::compare::{Reaction, reaction, same_but_for_numbers};
use super::places::LAUNCH_FAILURE;
use crate::experiment::Judgement;
use crate::experiment::place::Spot;
use crate::experiment::probed::{BACK_END, Probed, Seen, ending, record};
use crate::lab::End;
use crate::probe::{Plan, Site, Task};
use crate::tools::probe_log::{Call, Event};
use crate::tools::sanitizer::same_path;
use cudalint_findings::model::{EvidenceRecord, Verdict};

/// A place that is made to fail.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub spot: Spot,
    /// What fails there, each with the status that it reports.
    pub sites: Vec<(Site, i64)>,
    /// `cudaMalloc`, or the kernel.
    pub what: String,
    /// The status with which it fails without help: it is told of success instead.
    pub own: Option<i64>,
}

/// A program that can be run with failures.
pub(super) trait Runs {
    /// Runs it as planned. The label tells this run from others.
    fn run(&self, label: &str, plan: &Plan) -> Seen;

    /// The log of a run, relative to the outcome folder.
    fn log(&self, label: &str) -> String;
}

impl Runs for Probed<'_, '_> {
    fn run(&self, label: &str, plan: &Plan) -> Seen {
        Probed::run(self, label, plan)
    }

    fn log(&self, label: &str) -> String {
        Probed::log(self, label)
    }
}

/// What is common to all faults: failing runs against one without, and the twin.
pub(super) struct Trial<'a> {
    pub probed: &'a dyn Runs,
    pub baseline: Seen,
    pub task: Task,
    /// Whether the finding rests on something that this program may not do, so that a reaction does not refute it.
    pub assumes: bool,
    /// Places that the finding names.
    pub places: usize,
    /// Whether the program is a project's own run, in which tests look at what is not theirs.
    pub in_project: bool,
}

impl Trial<'_> {
    pub fn judge(&self, targets: &[Target]) -> Judgement {
        self.judge_turn(targets, 0)
    }

    /// All places fail in one run; when that changes something, each by itself, to name the one that reacts.
    pub fn judge_turn(&self, targets: &[Target], turn: u64) -> Judgement {
        let all: Vec<(Site, i64)> = targets.iter().flat_map(|target| target.sites.iter().copied()).take(64).collect();
        let plan = Plan { task: self.task, sites: all, turn, ..Plan::default() };
        let failing = self.probed.run("injected", &plan);
        let (Some(primary), true) = (targets.first(), failing.trace.began) else {
            return Judgement::of_end(&failing.run, BACK_END).unwrap_or_else(|| {
                Judgement::of_run(Verdict::Unviable, "nothing failed", BACK_END, &failing.run, Vec::new())
            });
        };
        // A run that was ended says nothing, not even that it would not have ended.
        if let Some(judgement) = Judgement::of_end(&failing.run, BACK_END) {
            return judgement;
        }
        if !handed(&failing, primary) {
            let reason = format!("the run in which {} was to fail did not come to it", primary.spot.shown());
            return Judgement::of_run(Verdict::Unviable, reason, BACK_END, &failing.run, Vec::new());
        }
        match self.reaction("injected", &failing) {
            // Where it fails by itself, somebody else may tell of it in both runs.
            Reaction::Silent if primary.own.is_some() && failing.run.end != End::Exit(0) => {
                let (what, shown) = (&primary.what, primary.spot.shown());
                let how = ending(&failing.run);
                let reason =
                    format!("`{what}` fails at {shown} by itself, told or not, and the program ends with {how}");
                self.judgement(Verdict::NotObserved, reason, &failing, "injected", Vec::new())
            }
            Reaction::Silent => self.confirm(targets, &plan, &failing),
            Reaction::Unclear(why) => {
                let reason = format!("nothing can be told about {}: {why}", primary.spot.shown());
                self.judgement(Verdict::NotObserved, reason, &failing, "injected", Vec::new())
            }
            Reaction::Reacts(_) | Reaction::Prints(_) if targets.len() > 1 => self.one_by_one(targets, turn),
            Reaction::Reacts(how) | Reaction::Prints(how) => self.noticed(primary, turn, &how, &failing),
        }
    }

    /// Compares with the undisturbed run, and with two more as long as the comparison is not silent.
    fn reaction(&self, label: &str, failing: &Seen) -> Reaction {
        let found = match reaction(&[&self.baseline], failing) {
            Reaction::Silent => return Reaction::Silent,
            _ => {
                let again = self.probed.run(&format!("baseline-{label}"), &Plan::default());
                match reaction(&[&self.baseline, &again], failing) {
                    // Two runs may be alike by chance.
                    Reaction::Reacts(_) | Reaction::Prints(_) => {
                        let third = self.probed.run(&format!("baseline-{label}-2"), &Plan::default());
                        reaction(&[&self.baseline, &again, &third], failing)
                    }
                    other => other,
                }
            }
        };
        match found {
            // Whether a kernel's own words come out before the program ends is a matter of time.
            Reaction::Prints(how) if self.task == Task::Asynchronous => Reaction::Unclear(how),
            Reaction::Prints(how) => Reaction::Reacts(how),
            other => other,
        }
    }

    fn one_by_one(&self, targets: &[Target], turn: u64) -> Judgement {
        let mut last = None;
        for (index, target) in targets.iter().enumerate() {
            let plan = Plan { task: self.task, sites: target.sites.clone(), turn, ..Plan::default() };
            let label = format!("injected-{}", index + 1);
            let failing = self.probed.run(&label, &plan);
            match self.reaction(&label, &failing) {
                Reaction::Silent => last = Some((plan, failing)),
                Reaction::Unclear(why) => {
                    let reason = format!("nothing can be told about {}: {why}", target.spot.shown());
                    return self.judgement(Verdict::NotObserved, reason, &failing, &label, Vec::new());
                }
                Reaction::Reacts(how) | Reaction::Prints(how) => return self.noticed(target, turn, &how, &failing),
            }
        }
        match last {
            Some((plan, failing)) => self.confirm(targets, &plan, &failing),
            None => Judgement::without_run(Verdict::Unviable, "no place was reached"),
        }
    }

    /// The program noticed a failure. Where it only looked at the last error later, the status itself was dropped all the
    /// same: neither confirmed nor refuted. So it is where the tests of a project look at the last error.
    fn noticed(&self, target: &Target, turn: u64, how: &str, failing: &Seen) -> Judgement {
        let shown = target.spot.shown();
        let what = &target.what;
        let record = self.record("reaction", target, format!("when `{what}` failed at {shown}: {how}"));
        let not_observed =
            |reason: String| self.judgement(Verdict::NotObserved, reason, failing, "injected", vec![record.clone()]);
        if self.task == Task::Status {
            let plan = Plan { task: self.task, sites: target.sites.clone(), turn, silent: true, ..Plan::default() };
            let quiet = self.probed.run("quiet", &plan);
            match self.reaction("quiet", &quiet) {
                Reaction::Silent => {
                    return not_observed(format!(
                        "the status of `{what}` at {shown} is dropped, but its failure is noticed later through the last error: {how}"
                    ));
                }
                Reaction::Unclear(why) => {
                    return not_observed(format!(
                        "the failure of `{what}` at {shown} is noticed, and whether by its status or through the last error cannot be told, since {why}: {how}"
                    ));
                }
                Reaction::Reacts(_) | Reaction::Prints(_) => {}
            }
        } else if self.in_project
            && self.task == Task::Launch
            && let Some(look) = look_elsewhere(failing, target)
        {
            return not_observed(format!(
                "nothing looks at `{what}` in {}, but its failure is noticed later, by `{}` at {}:{}: {how}",
                target.spot.path, look.function, look.file, look.line
            ));
        }
        // Who notices a failure does not end well where it ends badly otherwise.
        if target.own.is_none() && failing.run.end == End::Exit(0) && self.baseline.run.end != End::Exit(0) {
            let other = ending(&self.baseline.run);
            return not_observed(format!(
                "nothing can be told about {shown}: the program ends with success when `{what}` fails there, and with {other} when not"
            ));
        }
        // Runs that differ by themselves, with what they draw or with the order of their threads, may be alike three times. What a
        // failure brings about comes about again.
        let plan = Plan { task: self.task, sites: target.sites.clone(), turn, ..Plan::default() };
        let again = self.probed.run("injected-again", &plan);
        let alike = match self.reaction("again", &again) {
            Reaction::Reacts(other) | Reaction::Prints(other) => same_but_for_numbers(&other, how),
            Reaction::Silent | Reaction::Unclear(_) => false,
        };
        if !alike {
            return not_observed(format!(
                "nothing can be told about {shown}: what happens when `{what}` fails there changes from run to run"
            ));
        }
        let verdict = if self.assumes { Verdict::NotObserved } else { Verdict::Refuted };
        let assumption = if self.assumes { " (what the finding assumes did not hold in this program)" } else { "" };
        let reason = format!("the program notices that `{what}` failed at {shown}: {how}{assumption}");
        self.judgement(verdict, reason, failing, "injected", vec![record])
    }

    /// The program was silent: its checked twin must not be.
    fn confirm(&self, targets: &[Target], plan: &Plan, failing: &Seen) -> Judgement {
        let Some(primary) = targets.first() else {
            return Judgement::without_run(Verdict::Unviable, "no place was reached");
        };
        let fails = |(site, code): &(Site, i64)| (*site, primary.own.unwrap_or(*code));
        let twin_plan = Plan { sites: primary.sites.iter().map(fails).collect(), checked: true, ..plan.clone() };
        let twin = self.probed.run("twin", &twin_plan);
        let Some(stop) = &twin.trace.stop else {
            let reason = format!(
                "the checked twin did not stop at {}: it ended with {}",
                primary.spot.shown(),
                ending(&twin.run)
            );
            return self.judgement(Verdict::NotObserved, reason, &twin, "twin", Vec::new());
        };
        let right_place = match (&stop.file, stop.line) {
            (Some(file), Some(line)) => primary.spot.holds(file, line),
            _ => stop.at.iter().all(|at| primary.sites.iter().any(|(site, _)| *site == Site::Launch(*at))),
        };
        if !right_place {
            let reason = format!("the checked twin stopped elsewhere than at {}", primary.spot.shown());
            return self.judgement(Verdict::NotObserved, reason, &twin, "twin", Vec::new());
        }
        let steps = failing.trace.events.len();
        let mut records: Vec<EvidenceRecord> = targets
            .iter()
            .map(|target| {
                let fails = match self.task {
                    Task::Asynchronous => format!(
                        "the kernel `{}` launched at {} failed while it ran ({})",
                        target.what,
                        target.spot.shown(),
                        words(target.sites.first())
                    ),
                    Task::Launch => format!(
                        "the launch of `{}` at {} left the error of a refused launch behind",
                        target.what,
                        target.spot.shown()
                    ),
                    _ => match target.own {
                        Some(own) => format!(
                            "`{}` at {} failed by itself (status {own}) and reported success",
                            target.what,
                            target.spot.shown()
                        ),
                        None => format!(
                            "`{}` at {} reported {}",
                            target.what,
                            target.spot.shown(),
                            words(target.sites.first())
                        ),
                    },
                };
                let text = format!(
                    "{fails}, and the program went on: the same {steps} calls and launches, the same output, {}",
                    ending(&failing.run)
                );
                self.record("injected failure", target, text)
            })
            .collect();
        let text = format!("the checked twin stops at {} with status {}", primary.spot.shown(), stop.code);
        records.push(self.record("checked twin", primary, text));
        let tried = if self.places > targets.len() {
            format!(" ({} of {} places were reached)", targets.len(), self.places)
        } else {
            String::new()
        };
        let (what, shown) = (&primary.what, primary.spot.shown());
        let how = match primary.own {
            Some(own) => format!(
                "`{what}` fails at {shown} by itself (status {own}), and the program does the same as when it is told of success"
            ),
            None => format!("when `{what}` fails at {shown}, the program goes on as if nothing had happened"),
        };
        let reason = format!("{how}, and its checked twin stops{tried}");
        self.judgement(Verdict::Confirmed, reason, failing, "injected", records)
    }

    fn record(&self, kind: &str, target: &Target, text: String) -> EvidenceRecord {
        let launches = matches!(self.task, Task::Launch | Task::Asynchronous);
        record(kind, &target.spot, launches.then(|| target.what.clone()), text)
    }

    fn judgement(
        &self,
        verdict: Verdict,
        reason: String,
        seen: &Seen,
        label: &str,
        records: Vec<EvidenceRecord>,
    ) -> Judgement {
        let mut judgement = Judgement::of_run(verdict, reason, BACK_END, &seen.run, records);
        judgement.evidence.log = Some(self.probed.log(label));
        judgement
    }
}

/// A status in words, as far as they are the same for the runtime and the driver.
fn words(site: Option<&(Site, i64)>) -> String {
    match site.map_or(0, |(_, code)| *code) {
        1 => "an invalid value (1)".to_owned(),
        2 => "that no memory is left (2)".to_owned(),
        LAUNCH_FAILURE => "that a kernel failed (719)".to_owned(),
        code => format!("status {code}"),
    }
}

/// The first call that reports the failure of a launch, where it stands in another file than the launch.
fn look_elsewhere<'s>(seen: &'s Seen, target: &Target) -> Option<&'s Call> {
    let refused = |event: &Event| match event {
        Event::Launch(launch) => {
            launch.handed != launch.real
                && target.sites.iter().any(|(site, _)| launch.at.is_some_and(|at| *site == Site::Launch(at)))
        }
        _ => false,
    };
    let behind = seen.trace.events.iter().skip_while(|event| !refused(event));
    let reports = behind.filter_map(|event| match event {
        Event::Call(call) if call.handed != 0 => Some(call),
        _ => None,
    });
    reports.take(1).find(|call| !same_path(&call.file, target.spot.path.as_str()))
}

/// Whether a run came to a place and was handed a failure there.
fn handed(seen: &Seen, target: &Target) -> bool {
    seen.trace.events.iter().any(|event| match event {
        Event::Call(call) => {
            call.handed != call.real && target.sites.iter().any(|(site, _)| *site == Site::Call(call.id))
        }
        Event::Launch(launch) => {
            launch.handed != launch.real
                && target.sites.iter().any(|(site, _)| launch.at.is_some_and(|at| *site == Site::Launch(at)))
        }
        Event::Words(_) | Event::Touch(_) => false,
    })
}
