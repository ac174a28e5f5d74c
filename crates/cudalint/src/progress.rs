//! The progress line: on a terminal, once a run takes longer than a second.

use cudalint_engine::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal as _;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// A line on standard error that says how far the run is.
pub struct Line {
    /// `None` where nobody would see it.
    started: Option<Instant>,
    bar: OnceLock<ProgressBar>,
}

impl Line {
    /// A line that is not there yet.
    pub fn new(wanted: bool) -> Self {
        let seen = wanted && std::io::stderr().is_terminal();
        Self { started: seen.then(Instant::now), bar: OnceLock::new() }
    }

    /// Takes note of a step.
    pub fn show(&self, progress: Progress) {
        if self.started.is_none_or(|started| started.elapsed() < Duration::from_secs(1)) {
            return;
        }
        let bar = self.bar.get_or_init(|| {
            let style = ProgressStyle::with_template("{bar:30} {pos}/{len} steps")
                .unwrap_or_else(|_| ProgressStyle::default_bar());
            ProgressBar::with_draw_target(Some(progress.total as u64), ProgressDrawTarget::stderr()).with_style(style)
        });
        bar.set_length(progress.total as u64);
        bar.set_position(progress.done as u64);
    }

    /// Takes the line away.
    pub fn clear(&self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}
