//! `cudalint clean`: removes what runs have kept.

use crate::args::CleanArgs;
use crate::check::{CLEAN, TROUBLE};
use crate::{cache, out};
use cudalint_engine::{CacheChoice, Engine, Request};

/// Removes caches and gives the exit code.
pub fn run(engine: &Engine, args: &CleanArgs) -> u8 {
    // Who names folders of projects means those.
    let folder = args.cache_dir.clone().or_else(|| cache::of_environment().filter(|_| args.paths.is_empty()));
    let cache = folder.map_or(CacheChoice::Projects, CacheChoice::Folder);
    let cleaned = match engine.clean(&Request { paths: args.paths.clone(), cache, ..Request::default() }) {
        Ok(cleaned) => cleaned,
        Err(error) => {
            out::message("error", &error.0);
            return TROUBLE;
        }
    };
    for folder in &cleaned.removed {
        out::message("note", &format!("removed {}", folder.display()));
    }
    for (folder, problem) in &cleaned.left {
        out::message("error", &format!("{}: cannot be removed: {problem}", folder.display()));
    }
    if cleaned.removed.is_empty() && cleaned.left.is_empty() {
        out::message("note", "there is no cache");
    }
    if cleaned.left.is_empty() { CLEAN } else { TROUBLE }
}
