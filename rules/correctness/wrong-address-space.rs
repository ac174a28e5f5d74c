//! Memory is touched from the side that cannot reach it.

use crate::parts::{allocation_label, assumptions, event_finding, is_python, launch_witness};
use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::claim::User;
use cudalint_findings::{Finding, Method, Shows};
use cudalint_program::ir::LocalId;
use cudalint_replay::facts::{
    Buffer, Event, EventKind, LaunchFact, LaunchSpelling, MemorySpace, Origin, Pointer, PointerArgument, Question,
};
use cudalint_replay::quantity::Quantity;

/// The rule.
pub static RULE: Rule = rule!("wrong-address-space", Correctness, Memcheck)
    .summary("Host code dereferences a device pointer, or a kernel is given a pointer to host memory.")
    .guidelines(&["CUDA-3.3"])
    .cwe(822)
    .facts(check);

/// Since CUDA 12.2 some Linux systems let kernels read pageable memory (heterogeneous memory management, Grace): CUDA C++
/// Programming Guide, unified memory, `pageableMemoryAccess`.
const NO_PAGEABLE_ACCESS: &str = "the device cannot read pageable host memory (`pageableMemoryAccess` is 0)";

/// `CuPy` lets `NumPy` read its arrays where both share one memory and the environment asks for it (`CuPy`'s documentation,
/// environment variables, `CUPY_ENABLE_UMP`: experimental).
const NO_SHARED_MEMORY: &str = "`CUPY_ENABLE_UMP` is not set";

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for event in &context.facts.events {
        match &event.kind {
            EventKind::HostAccess { .. } => sink.report_some(host_access(context, event)),
            EventKind::Launch(launch) => sink.report_some(host_pointer_to_kernel(context, event, launch)),
            _ => {}
        }
    }
}

fn host_access(context: &ModuleContext<'_>, event: &Event) -> Option<Finding> {
    let EventKind::HostAccess { argument, write } = &event.kind else { return None };
    let (buffer, why) = match &argument.pointer {
        Pointer::Into { buffer, .. } if buffer.space == MemorySpace::Device => {
            let why = match buffer.origin {
                Origin::Global => format!("`{}` is a `__device__` or `__constant__` variable", buffer.name),
                Origin::Call(..) | Origin::New => format!("it was allocated by `{}`", buffer.origin),
                _ => "its memory is the device's".to_owned(),
            };
            (Some(buffer), why)
        }
        Pointer::Somewhere { space: MemorySpace::Device, why } => (None, why.clone()),
        _ => return None,
    };
    let undecided = crate::parts::side_may_be_asked(context, event, &argument.pointer);
    if undecided || crate::parts::may_be_shared(context, event) {
        return None;
    }
    if is_python(context, event.site) {
        return converted(context, event, argument, buffer?);
    }
    let does = if *write { "writes" } else { "reads" };
    let message = format!("host code {does} through `{}`, which points to device memory: {why}", argument.text);
    let claim = Shows::BadAddress { name: argument.text.clone(), user: User::Host };
    let assumed = assumptions([&event.assumptions]);
    let mut finding = event_finding(&RULE, context, event, argument.span, assumed, claim, message)?;
    finding.label = "device memory, dereferenced on the host".to_owned();
    finding.related.extend(buffer.map(|buffer| allocation_label(context, buffer)));
    finding.help =
        Some("copy it to host memory with `cudaMemcpy` first, or allocate it with `cudaMallocManaged`".to_owned());
    Some(finding)
}

/// An array of `CuPy` where `NumPy` wants one of its own.
fn converted(
    context: &ModuleContext<'_>,
    event: &Event,
    argument: &PointerArgument,
    buffer: &Buffer,
) -> Option<Finding> {
    let message =
        format!("NumPy cannot read `{}`, which lies in device memory: CuPy raises `TypeError`", argument.text);
    let mut assumed = assumptions([&event.assumptions]);
    assumed.push(NO_SHARED_MEMORY.to_owned());
    let claim = Shows::exception(&["TypeError"], &[]);
    let mut finding = event_finding(&RULE, context, event, argument.span, assumed, claim, message)?;
    finding.label = "an array on the device".to_owned();
    finding.method = Some(Method::Exception);
    finding.related.push(allocation_label(context, buffer));
    finding.help = Some(format!("write `cp.asnumpy({0})` or `{0}.get()`", argument.text));
    Some(finding)
}

fn host_pointer_to_kernel(context: &ModuleContext<'_>, event: &Event, launch: &LaunchFact) -> Option<Finding> {
    let (module, function) = launch.kernel?;
    let kernel = context.project.module(module).functions.get(function)?;
    // Numba copies what lies in host memory, and says so.
    if launch.python.is_some() {
        return None;
    }
    if event.questions.contains(&Question::Pageable) {
        return None;
    }
    // A kernel whose body is not in sight may only pass the pointer on.
    kernel.body.as_ref()?;
    let (index, argument, buffer) =
        launch.args.iter().enumerate().find_map(|(index, argument)| match &argument.pointer {
            Some(Pointer::Into { buffer, .. })
                if buffer.space == MemorySpace::Host
                    // Its bytes are handed over, wherever they lie.
                    || (launch.spelling.is_python() && buffer.space == MemorySpace::Pinned) =>
            {
                Some((index, argument, buffer))
            }
            _ => None,
        })?;
    let used = launch.kernel_summary.as_ref().is_some_and(|summary| summary.dereferenced.contains(&(index as u32)));
    // A condition that nobody knows may ask on which side the memory lies, wherever that is noted.
    let undecided =
        argument.pointer.as_ref().is_some_and(|pointer| crate::parts::side_may_be_asked(context, event, pointer));
    if !used || undecided || crate::parts::may_be_shared(context, event) {
        return None;
    }
    let parameter =
        kernel.locals.get(LocalId::from(index)).map(|parameter| parameter.name.to_string()).unwrap_or_default();
    let by_value = launch.spelling.is_python();
    // One element is handed over as its bytes; more are refused when the launch is made.
    let refused = by_value
        && launch.spelling != LaunchSpelling::PyCuda
        && matches!((&buffer.bytes.quantity, buffer.element), (Quantity::Known(bytes), Some(element)) if *bytes > element);
    let message = if launch.spelling == LaunchSpelling::PyCuda {
        format!(
            "`{}` is an array in host memory: the kernel `{}` is handed its bytes, and takes the first ones for the address `{parameter}`",
            argument.text, launch.kernel_name
        )
    } else if by_value {
        format!(
            "`{}` is an array in host memory, and CuPy does not copy it to the device: the kernel `{}` cannot get it as `{parameter}`{}",
            argument.text,
            launch.kernel_name,
            if refused { ", and `TypeError` is raised" } else { "" }
        )
    } else {
        format!(
            "`{}` points to host memory, but the kernel `{}` dereferences it as `{parameter}`",
            argument.text, launch.kernel_name
        )
    };
    let mut assumed = assumptions([&event.assumptions]);
    if !by_value {
        assumed.push(NO_PAGEABLE_ACCESS.to_owned());
    }
    let claim = if refused {
        Shows::exception(&["TypeError"], &[])
    } else {
        Shows::BadAddress { name: argument.text.clone(), user: User::Kernel { parameter: Some(parameter) } }
    };
    let mut finding = event_finding(&RULE, context, event, argument.span, assumed, claim, message)?;
    finding.label = "host memory".to_owned();
    if refused {
        finding.method = Some(Method::Exception);
    }
    finding.related.push(allocation_label(context, buffer));
    finding.help = Some(match launch.spelling {
        LaunchSpelling::PyCuda => format!("write `drv.In({0})`, `drv.Out({0})` or `drv.InOut({0})`", argument.text),
        _ if by_value => format!("make it an array on the device: `cp.asarray({})`", argument.text),
        _ => "copy the data to memory from `cudaMalloc`, or allocate it with `cudaMallocManaged`".to_owned(),
    });
    finding.claim.launch = launch_witness(context, event, launch);
    Some(finding)
}
