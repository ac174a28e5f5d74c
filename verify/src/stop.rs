//! A wish to stop, seen by all threads of a run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a run shall end early. Clones share one flag.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    own: Arc<AtomicBool>,
    above: Option<Arc<Self>>,
}

impl Stop {
    /// A wish that nobody has yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A stop that the user's Ctrl-C (and a polite request to end from the system) sets. A second Ctrl-C ends the
    /// program at once; its child processes end with it, since their launchers see that it is gone.
    ///
    /// # Errors
    /// Those of the system.
    pub fn install() -> std::io::Result<Self> {
        let stop = Self::new();
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&stop.own))?;
            signal_hook::flag::register(signal, Arc::clone(&stop.own))?;
        }
        Ok(stop)
    }

    /// A stop for a part of the work: it is requested when this one is, or by itself.
    #[must_use]
    pub fn part(&self) -> Self {
        Self { own: Arc::default(), above: Some(Arc::new(self.clone())) }
    }

    /// Asks everything to end.
    pub fn request(&self) {
        self.own.store(true, Ordering::SeqCst);
    }

    /// Whether someone asked.
    pub fn requested(&self) -> bool {
        self.own.load(Ordering::SeqCst) || self.above.as_ref().is_some_and(|above| above.requested())
    }
}
