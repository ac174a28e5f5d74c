//! Where results are kept.

use crate::args::CheckArgs;
use cudalint_engine::CacheChoice;
use std::env::var_os;
use std::path::PathBuf;

/// The folder that the environment names.
pub fn of_environment() -> Option<PathBuf> {
    var_os("CUDALINT_CACHE_DIR").filter(|folder| !folder.is_empty()).map(PathBuf::from)
}

/// Where results are kept: what the command line says stands above the environment.
pub fn choice(args: &CheckArgs) -> CacheChoice {
    let forbidden = || var_os("CUDALINT_NO_CACHE").is_some_and(|value| !value.is_empty() && value != "0");
    match (&args.cache_dir, of_environment()) {
        (Some(folder), _) => CacheChoice::Folder(folder.clone()),
        (None, _) if args.no_cache || forbidden() => CacheChoice::None,
        (None, Some(folder)) => CacheChoice::Folder(folder),
        (None, None) => CacheChoice::Projects,
    }
}
