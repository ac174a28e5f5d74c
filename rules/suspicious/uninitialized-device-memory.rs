//! A buffer that nothing has filled is read.

use crate::read_back::{self, Extent};
use crate::runs::parts::buffer;
use crate::runs::{Defect, Shown, shown, unwritten};
use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_program::api::effects::Library;
use cudalint_replay::facts::Origin;
use cudalint_replay::runs::report::EventKind;

/// The rule.
pub static RULE: Rule = rule!("uninitialized-device-memory", Suspicious, Initcheck)
    .summary("A kernel reads or adds to fresh device memory that nothing has filled, or it is copied to the host.")
    .cwe(908)
    .facts(check);

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for shown in shown(context, Defect::UninitializedMemory) {
        let state = "which nothing has written since its allocation";
        sink.report_some(unwritten::finding(&RULE, context, &shown, state, help(&shown)));
    }
    for finding in read_back::findings(&RULE, context, Extent::All) {
        sink.report(finding);
    }
}

/// How the memory gets its first contents, in the words of who allocates it.
fn help(shown: &Shown<'_>) -> &'static str {
    let origin = match &shown.event.kind {
        EventKind::UninitializedRead { object, .. } => buffer(shown.run, object).map(|buffer| &buffer.origin),
        _ => None,
    };
    let spelled = origin.map_or("", Origin::name);
    let known = origin.and_then(Origin::api);
    let by_bytes = known.is_some_and(|api| api.allocates() && !api.makes_array());
    match known.map(|api| api.library) {
        Some(Library::Numba) => "copy zeros to it first: `cuda.to_device(np.zeros(…))`",
        Some(Library::CuPy) if !by_bytes => "make it with `cupy.zeros`, or write all of it first",
        Some(Library::NumPy) => "make it with `numpy.zeros`, or write all of it first",
        Some(Library::PyCuda) if !by_bytes => "make it with `gpuarray.zeros`, or write all of it first",
        Some(Library::PyCuda) => "set it first, for example with `memset_d8`",
        Some(Library::Driver) => "set it first, for example with `cuMemsetD8`",
        // A function of a package, under its name there.
        Some(Library::CuPy | Library::Runtime) if spelled.contains('.') => {
            "set it first, for example with its `memset`"
        }
        _ => "set it first, for example with `cudaMemset`",
    }
}
