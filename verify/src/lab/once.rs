//! What several scenarios need and one of them makes: a project's build, a run of it under a tool.

use super::bench::{Bench, Lab, Phase};
use std::time::Instant;

impl Lab {
    /// Puts a thing where [`Bench::once`] finds it by its name; nothing where one is there.
    pub(crate) fn put<T: Clone + Send + Sync + 'static>(&self, name: &str, thing: T) {
        self.memory.cell(name).get_or_init(|| Box::new(thing));
    }
}

impl Bench<'_> {
    /// The thing of this name: the first who asks makes it, the others wait for it. Things of one name are of one type.
    pub(crate) fn once<T: Clone + Send + Sync + 'static>(&self, name: &str, make: impl Fn(&Self) -> T) -> T {
        let cell = self.lab.memory.cell(name);
        let waiting = Instant::now();
        if cell.get().is_none() {
            self.enter(Phase::Waiting);
        }
        let mut own = None;
        let thing = cell.get_or_init(|| {
            let made = make(self);
            own = Some(made.clone());
            Box::new(made)
        });
        if let Some(own) = own {
            return own;
        }
        // Who made it has counted its time.
        self.count(|times| times.wait += waiting.elapsed().as_secs_f64());
        thing.downcast_ref::<T>().cloned().unwrap_or_else(|| make(self))
    }

    /// The same bench in a folder that scenarios share, `projects/<name>`, which is made; times are counted together.
    ///
    /// # Errors
    /// Those of the file system.
    pub(crate) fn shared(&self, name: &str) -> std::io::Result<Self> {
        let mut shared = self.clone();
        shared.folder = self.lab.folder.join(Lab::PROJECTS).join(name);
        std::fs::create_dir_all(&shared.folder)?;
        Ok(shared)
    }
}
