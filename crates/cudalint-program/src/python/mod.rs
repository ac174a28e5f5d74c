//! What one Python file (or fence) says about GPU packages: which local names are `numba.cuda`, `cupy` and their like,
//! which functions are kernels, and every launch and every name of those packages that cannot work. One pass; the facts
//! are plain data, so rules only word them.

mod api;
pub mod compiled;
mod fields;
mod gpu_uses;
mod imports;
mod launch;
mod lower;
pub(crate) mod modules;
mod paths;
mod resolve;
mod scope;
pub mod tables;
mod value;

pub use gpu_uses::{
    ChevronLaunch, Dimensions, Framework, LaunchProblem, LocalPackages, MalformedLaunch, NameUsage, PointerAsArray,
    PythonNames, UndecoratedKernel, UnknownName,
};
pub(crate) use lower::{LowerPython, lower};
pub use paths::dotted;

use cudalint_syntax::{Node, Span, python_chevrons};

impl PythonNames {
    /// Reads the tree of a Python file or fence. `text` is the whole file's raw text; the tree may come from a masked
    /// copy of the same length.
    pub fn read(root: Node<'_>, text: &str, local: &LocalPackages) -> Self {
        let chevrons = python_chevrons(text, Span::from(root));
        let file = scope::File::read(root, text, local);
        let mut names = Self { imports: file.imports(), ..Self::default() };
        if names.imports.is_empty() && chevrons.is_empty() {
            return names;
        }
        launch::chevrons(&file, chevrons, &mut names);
        launch::calls(&file, &mut names);
        api::uses(&file, &mut names);
        names.launches.sort_by_key(|launch| launch.span);
        names.unknown.sort_by_key(|unknown| unknown.span);
        names.undecorated.sort_by_key(|kernel| kernel.span);
        names
    }
}
