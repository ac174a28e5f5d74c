//! The files of the driver that runs Python scripts, and of its part that watches each Python which a project's commands
//! start. What they do is said in them.

use camino::Utf8Path;

/// The one that runs a script.
pub(crate) const MAIN: &str = "cudalint_watched.py";

/// The files, by their names.
const FILES: [(&str, &str); 17] = [
    ("cudalint_strings.py", include_str!("experiment/driver/cudalint_strings.py")),
    (MAIN, include_str!("experiment/driver/cudalint_watched.py")),
    ("cudalint_hooks.py", include_str!("experiment/driver/cudalint_hooks.py")),
    ("cudalint_launches.py", include_str!("experiment/driver/cudalint_launches.py")),
    ("cudalint_transfers.py", include_str!("experiment/driver/cudalint_transfers.py")),
    ("cudalint_memory.py", include_str!("experiment/driver/cudalint_memory.py")),
    ("cudalint_lines.py", include_str!("experiment/driver/cudalint_lines.py")),
    ("cudalint_accesses.py", include_str!("experiment/driver/cudalint_accesses.py")),
    ("cudalint_compare.py", include_str!("experiment/driver/cudalint_compare.py")),
    ("cudalint_calls.py", include_str!("experiment/driver/cudalint_calls.py")),
    ("cudalint_jit.py", include_str!("experiment/driver/cudalint_jit.py")),
    ("cudalint_signs.py", include_str!("experiment/driver/cudalint_signs.py")),
    ("cudalint_whole.py", include_str!("experiment/driver/cudalint_whole.py")),
    ("cudalint_statuses.py", include_str!("experiment/driver/cudalint_statuses.py")),
    ("cudalint_signature.py", include_str!("experiment/driver/cudalint_signature.py")),
    ("cudalint_project.py", include_str!("experiment/driver/cudalint_project.py")),
    ("sitecustomize.py", include_str!("experiment/driver/sitecustomize.py")),
];

/// The files, by their names.
pub(crate) fn files() -> impl Iterator<Item = (&'static Utf8Path, &'static str)> {
    FILES.iter().map(|(name, text)| (Utf8Path::new(*name), *text))
}
