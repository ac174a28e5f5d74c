//! Progress of a verifying run on a terminal: one bar for the run and a line for each finding under way.

use cudalint_findings::model::Verdict;
use cudalint_verify::Outcome;
use cudalint_verify::lab::Phase;
use cudalint_verify::run::Observer;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::collections::HashMap;
use std::io::IsTerminal as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The bars. Nothing is drawn where standard error is no terminal.
pub struct Bars {
    all: MultiProgress,
    run: ProgressBar,
    scenarios: Mutex<HashMap<String, ProgressBar>>,
    confirmed: AtomicUsize,
}

impl Bars {
    /// Bars that are not there yet.
    pub fn new(wanted: bool) -> Self {
        let seen = wanted && std::io::stderr().is_terminal();
        let target = if seen { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let all = MultiProgress::with_draw_target(target);
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} findings, {msg}, {elapsed}")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        let run = all.add(ProgressBar::new(0).with_style(style).with_message("0 confirmed"));
        Self { all, run, scenarios: Mutex::default(), confirmed: AtomicUsize::new(0) }
    }

    /// Takes them away.
    pub fn clear(&self) {
        self.run.finish_and_clear();
        let _ = self.all.clear();
    }

    fn with(&self, id: &str, act: impl FnOnce(&ProgressBar)) {
        if let Some(bar) = self.scenarios.lock().unwrap_or_else(PoisonError::into_inner).get(id) {
            act(bar);
        }
    }
}

impl Observer for Bars {
    fn begun(&self, findings: usize, taken_over: usize) {
        self.run.set_length((findings + taken_over) as u64);
        self.run.set_position(taken_over as u64);
    }

    fn started(&self, id: &str, _rule: &str) {
        let style = ProgressStyle::with_template("  {spinner} {prefix}: {msg}")
            .unwrap_or_else(|_| ProgressStyle::default_spinner());
        let bar = self.all.add(ProgressBar::new_spinner().with_style(style).with_prefix(id.to_owned()));
        bar.enable_steady_tick(Duration::from_millis(200));
        self.scenarios.lock().unwrap_or_else(PoisonError::into_inner).insert(id.to_owned(), bar);
    }

    fn phase(&self, id: &str, phase: Phase) {
        let words = match phase {
            Phase::Waiting => "waits",
            Phase::Building => "is compiled",
            Phase::Running => "runs",
        };
        self.with(id, |bar| bar.set_message(words));
    }

    fn finished(&self, outcome: &Outcome) {
        if outcome.verification.verdict == Some(Verdict::Confirmed) {
            let confirmed = self.confirmed.fetch_add(1, Ordering::Relaxed) + 1;
            self.run.set_message(format!("{confirmed} confirmed"));
        }
        self.with(&outcome.id, ProgressBar::finish_and_clear);
        self.scenarios.lock().unwrap_or_else(PoisonError::into_inner).remove(&outcome.id);
        self.run.inc(1);
    }
}
