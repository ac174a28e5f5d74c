//! Names that GPU packages have: the union over the versions that the list names. Derived from the packages' sources by
//! `cargo xtask python-tables`; a namespace that fills itself at run time is left out, so that nothing is said of it.

use rustc_hash::FxHashMap;
use std::sync::OnceLock;

static LIST: &str = include_str!("tables.txt");

/// The names of one namespace, sorted.
#[derive(Clone, Copy, Debug)]
pub struct Names(&'static str);

impl Names {
    /// Whether the namespace has this name.
    pub fn contains(&self, name: &str) -> bool {
        self.iter().any(|known| known == name)
    }

    /// All names.
    pub fn iter(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.0.split_ascii_whitespace()
    }
}

/// The names of a namespace by its dotted path (`cupy.cuda`), or the keywords of a function (`numba.cuda.jit()`). `None`
/// for what is not listed: then nothing is known.
pub fn namespace(path: &str) -> Option<Names> {
    static INDEX: OnceLock<FxHashMap<&'static str, &'static str>> = OnceLock::new();
    let index = INDEX.get_or_init(|| {
        LIST.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(": ")).collect()
    });
    index.get(path).map(|names| Names(names))
}

/// Every namespace with its names.
pub fn namespaces() -> impl Iterator<Item = (&'static str, Names)> {
    LIST.lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once(": "))
        .map(|(path, names)| (path, Names(names)))
}

/// The package versions that the lists were made from: `cupy 13.6.0`.
pub fn versions() -> impl Iterator<Item = &'static str> {
    LIST.lines().filter_map(|line| line.strip_prefix("# version "))
}
