//! A name that Numba's CUDA target or `CuPy` does not have.

use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::{Confidence, Finding, Label, Shows, Witness};
use cudalint_program::python::{NameUsage, UnknownName, tables};

/// The rule.
pub static RULE: Rule = rule!("nonexistent-gpu-api", Correctness, Exception)
    .summary(
        "A Python program uses a name that Numba's CUDA target or CuPy does not have, or a plain function as a kernel.",
    )
    .facts(check);

/// Names that do not exist, and what to write instead.
const MEANT: &[(&str, &str)] = &[
    (
        "cupy.cuda.grid",
        "use `cupyx.jit.grid` in a kernel under `@cupyx.jit.rawkernel()`, or `numba.cuda.grid` under Numba's `@cuda.jit`",
    ),
    ("cupy.cuda.malloc", "use `cupy.cuda.alloc(bytes)`, which gives a MemoryPointer"),
    ("cupy.cuda.mem_alloc", "use `cupy.cuda.alloc(bytes)`, which gives a MemoryPointer"),
    ("cupy.cuda.free", "nothing is needed: memory is given back when its MemoryPointer is collected"),
    ("cupy.cuda.mem_free", "nothing is needed: memory is given back when its MemoryPointer is collected"),
    ("cupy.cuda.jit", "use `cupyx.jit.rawkernel()`, or Numba's `cuda.jit`"),
    (
        "cupy.cuda.shared",
        "use `cupyx.jit.shared_memory` in a kernel under `@cupyx.jit.rawkernel()`, or `numba.cuda.shared.array`",
    ),
    ("cupy.cuda.atomic", "use `cupyx.jit.atomic_add` and its like, or `numba.cuda.atomic`"),
    ("cupy.cuda.syncthreads", "use `cupyx.jit.syncthreads`, or `numba.cuda.syncthreads`"),
    ("cupy.cuda.threadIdx", "use `cupyx.jit.threadIdx`, or `numba.cuda.threadIdx`"),
    ("cupy.cuda.blockIdx", "use `cupyx.jit.blockIdx`, or `numba.cuda.blockIdx`"),
    ("cupy.cuda.blockDim", "use `cupyx.jit.blockDim`, or `numba.cuda.blockDim`"),
    ("cupy.cuda.gridDim", "use `cupyx.jit.gridDim`, or `numba.cuda.gridDim`"),
    ("cupy.cuda.to_device", "use `cupy.asarray`"),
    ("cupy.cuda.to_host", "use `cupy.asnumpy`"),
    ("cupy.cuda.synchronize", "use `cupy.cuda.Device().synchronize()`, or `synchronize()` of a stream"),
    ("cupy.cuda.RawKernel", "use `cupy.RawKernel`"),
    ("cupy.cuda.launch_kernel", "call the kernel itself: `kernel((grid,), (block,), (args,))`"),
    ("cupy.to_device", "use `cupy.asarray`"),
    ("cupy.to_cpu", "use `cupy.asnumpy`"),
    ("cupy.to_numpy", "use `cupy.asnumpy`"),
    ("numba.cuda.launch_kernel", "call the kernel itself: `kernel[grid, block](…)`"),
    ("numba.cuda.launch", "call the kernel itself: `kernel[grid, block](…)`"),
    ("numba.cuda.malloc", "use `numba.cuda.device_array`"),
    ("numba.cuda.free", "nothing is needed: memory is given back when its array is collected"),
    ("numba.cuda.to_host", "use `copy_to_host()` of the device array"),
    ("numba.cuda.copy_to_host", "use `copy_to_host()` of the device array"),
    ("numba.cuda.device_synchronize", "use `numba.cuda.synchronize()`"),
    ("numba.cuda.shared_memory", "use `numba.cuda.shared.array(shape, dtype)`"),
    ("numba.cuda.shared.zeros", "use `numba.cuda.shared.array`, and a loop that sets it"),
    ("numba.cuda.local.zeros", "use `numba.cuda.local.array`, and a loop that sets it"),
    ("numba.cuda.jit.launch_config", "the configuration stands at the launch, `kernel[grid, block](…)`"),
];

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    let Some(names) = &context.module.python_names else { return };
    // Python of another time: which names Numba had then is not known.
    let is_old = !names.unknown.is_empty() && context.project.imports_package("numbapro");
    let is_of_numba = |unknown: &UnknownName| unknown.namespace.split('.').next() == Some("numba");
    for unknown in names.unknown.iter().filter(|unknown| !(is_old && is_of_numba(unknown))) {
        sink.report(unknown_name(context, unknown));
    }
    for kernel in &names.undecorated {
        let message = format!("`{}` is launched like a kernel, but it is a plain Python function", kernel.name);
        let claim = Shows::exception(&["TypeError"], &["'function' object is not subscriptable"]);
        let mut finding = RULE.finding(Confidence::Likely, context.place(kernel.span), claim, message);
        finding.label = "no decorator makes it a kernel".to_owned();
        finding.related = vec![Label { place: context.place(kernel.launch), message: "launched here".to_owned() }];
        finding.claim.sites = vec![context.place(kernel.launch)];
        finding.help = Some("decorate it with Numba's `@cuda.jit` or with `@cupyx.jit.rawkernel()`".to_owned());
        finding.witness = Some(assuming(format!("`{}` is meant to be a kernel", kernel.name)));
        sink.report(finding);
    }
    for pointer in &names.pointers_as_arrays {
        let message = format!(
            "`{}` is a MemoryPointer: `{}` does not make an array of its memory",
            pointer.written, pointer.callee
        );
        let claim = Shows::exception(&["TypeError", "OverflowError", "ValueError"], &[]);
        let mut finding = RULE.finding(Confidence::Likely, context.place(pointer.span), claim, message);
        finding.function.clone_from(&pointer.function);
        finding.label = "converts the address at best".to_owned();
        finding.related =
            vec![Label { place: context.place(pointer.origin), message: "the pointer comes from here".to_owned() }];
        finding.help = Some(format!("write `cupy.ndarray(shape, dtype, memptr={})`", pointer.written));
        finding.witness = Some(assuming(format!("`{}` still is the pointer here", pointer.written)));
        sink.report(finding);
    }
}

fn assuming(assumption: String) -> Witness {
    Witness { assumptions: vec![assumption], ..Witness::default() }
}

fn unknown_name(context: &ModuleContext<'_>, unknown: &UnknownName) -> Finding {
    let UnknownName { namespace, name, .. } = unknown;
    let confidence = if unknown.assumption.is_some() { Confidence::Likely } else { Confidence::Definite };
    let message = match unknown.usage {
        NameUsage::Attribute => format!("`{}` does not exist: `{namespace}` has no `{name}`", unknown.written),
        NameUsage::Import => format!("`{name}` cannot be imported: `{namespace}` has no such name"),
        NameUsage::Keyword => format!("`{namespace}` takes no keyword `{name}`"),
    };
    let claim = match unknown.usage {
        NameUsage::Attribute => Shows::exception(&["AttributeError", "TypingError"], &[&format!("'{name}'")]),
        NameUsage::Import => Shows::exception(&["ImportError", "ModuleNotFoundError"], &[&format!("{name}'")]),
        NameUsage::Keyword => Shows::exception(&["TypeError"], &[&format!("'{name}'")]),
    };
    let mut finding = RULE.finding(confidence, context.place(unknown.span), claim, message);
    finding.label = match unknown.usage {
        NameUsage::Attribute => "AttributeError",
        NameUsage::Import => "ImportError",
        NameUsage::Keyword => "TypeError when the kernel is compiled",
    }
    .to_owned();
    finding.function.clone_from(&unknown.function);
    finding.help = meant(unknown);
    finding.witness = Some(Witness { assumptions: unknown.assumption.iter().cloned().collect(), ..Witness::default() });
    finding
}

/// What was meant: a known translation, or the nearest real name.
fn meant(unknown: &UnknownName) -> Option<String> {
    let path = format!("{}.{}", unknown.namespace, unknown.name);
    if let Some((_, meant)) = MEANT.iter().find(|(wrong, _)| *wrong == path) {
        return Some((*meant).to_owned());
    }
    let list = match unknown.usage {
        NameUsage::Keyword => format!("{}()", unknown.namespace),
        _ => unknown.namespace.clone(),
    };
    let (near, likeness) = tables::namespace(&list)?
        .iter()
        .map(|known| (known, strsim::jaro_winkler(known, &unknown.name)))
        .max_by(|a, b| a.1.total_cmp(&b.1).then_with(|| b.0.cmp(a.0)))?;
    (likeness > 0.85).then(|| match unknown.usage {
        NameUsage::Keyword => format!("there is a keyword `{near}`"),
        _ => format!("there is `{}.{near}`", unknown.namespace),
    })
}
