//! A kernel parameter that is more than plain data.

use crate::parts::{assumptions, event_finding};
use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::claim::{Call, User};
use cudalint_findings::{Confidence, Finding, Label, Shows, Witness};
use cudalint_program::ir::{LocalId, Type};
use cudalint_replay::facts::{Event, EventKind, ParameterFault, ParameterFaultKind, Site};

/// The rule.
pub static RULE: Rule = rule!("non-trivial-kernel-argument", Correctness, Memcheck)
    .summary("A kernel argument is more than plain data: its bytes alone do not work on the device.")
    .guidelines(&["CUDA-1.8", "CUDA-1.9", "CUDA-4.3"])
    .cwe(664)
    .facts(check);

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for fault in &context.facts.parameter_faults {
        match fault.kind {
            ParameterFaultKind::HostContainer => sink.report_some(at_parameter(context, fault)),
            // These need an object that is passed, so they are reported at launches.
            ParameterFaultKind::Reference
            | ParameterFaultKind::Virtual { .. }
            | ParameterFaultKind::ReleasesOnCopy { .. }
            | ParameterFaultKind::MayReleaseOnCopy { .. } => {}
        }
    }
    for event in &context.facts.events {
        sink.report_some(at_launch(context, event));
    }
}

fn at_parameter(context: &ModuleContext<'_>, fault: &ParameterFault) -> Option<Finding> {
    let kernel = context.module.functions.get(fault.kernel)?;
    let parameter = kernel.locals.get(LocalId(fault.parameter))?;
    let message = format!(
        "the kernel `{}` takes a `{}` by value, whose elements stay in host memory",
        kernel.name, fault.type_name
    );
    let name = parameter.name.to_string();
    let claim = Shows::BadAddress { name: name.clone(), user: User::Kernel { parameter: Some(name) } };
    let mut finding = RULE.finding(Confidence::Definite, context.place(parameter.span), claim, message);
    finding.function = kernel.name.to_string();
    finding.claim.kernel = Some(finding.function.clone());
    finding.help = Some("pass a pointer to device memory and a size".to_owned());
    let path = vec![Label { place: context.place(kernel.name_span), message: "a kernel".to_owned() }];
    finding.witness = Some(Witness { path, ..Witness::default() });
    Some(finding)
}

/// Where a variable of the launching function is declared, when the argument is its bare name and it is an object of
/// the host itself: a reference or pointer may lead to managed memory.
fn host_local(context: &ModuleContext<'_>, event: &Event, text: &str) -> Option<Site> {
    let (module, function) = event.function;
    let module_ir = context.project.module(module);
    let function = module_ir.functions.get(function)?;
    let variable = function.locals.iter().find(|variable| variable.name == text)?;
    let mut ty = module_ir.types.get(variable.ty)?;
    if let Type::Qualified { ty: inner, .. } = ty {
        ty = module_ir.types.get(*inner)?;
    }
    let plain =
        matches!(ty, Type::Int { .. } | Type::Bool | Type::Float { .. } | Type::Vector { .. } | Type::Named { .. });
    plain.then_some(Site { module, span: variable.span })
}

fn at_launch(context: &ModuleContext<'_>, event: &Event) -> Option<Finding> {
    let EventKind::Launch(launch) = &event.kind else { return None };
    let (fault, argument) =
        launch.parameter_faults.iter().find_map(|fault| Some((fault, launch.args.get(fault.parameter as usize)?)))?;
    let (message, related) = match &fault.kind {
        ParameterFaultKind::Virtual { class } => (
            format!(
                "`{}` has virtual functions: its copy on the device points to host code when `{}` calls one",
                argument.text, launch.kernel_name
            ),
            Label { place: context.place_of(*class), message: format!("`{}` has virtual functions", fault.type_name) },
        ),
        ParameterFaultKind::ReleasesOnCopy { destructor, releases } => (
            format!(
                "`{}` is copied for the launch of `{}`, and the copy's destructor calls `{releases}` on what `{}` still owns",
                argument.text, launch.kernel_name, argument.text
            ),
            Label { place: context.place_of(*destructor), message: format!("calls `{releases}`") },
        ),
        ParameterFaultKind::Reference => {
            let local = host_local(context, event, &argument.text)?;
            (
                format!(
                    "the kernel `{}` takes `{}` by reference, so it gets an address of the host's stack",
                    launch.kernel_name, argument.text
                ),
                Label { place: context.place_of(local), message: format!("`{}` is a host variable", argument.text) },
            )
        }
        ParameterFaultKind::HostContainer | ParameterFaultKind::MayReleaseOnCopy { .. } => return None,
    };
    let user = match &fault.kind {
        ParameterFaultKind::ReleasesOnCopy { destructor, releases } => {
            User::Call { call: Call { site: Some(context.place_of(*destructor)), ..Call::of(releases.as_str()) } }
        }
        _ => User::Kernel { parameter: None },
    };
    let claim = Shows::BadAddress { name: argument.text.clone(), user };
    let mut assumed = assumptions([&event.assumptions]);
    if matches!(fault.kind, ParameterFaultKind::Virtual { .. }) {
        assumed.push(format!("`{}` calls a virtual function of it", launch.kernel_name));
    }
    if matches!(fault.kind, ParameterFaultKind::Reference) {
        assumed.push("the device cannot read pageable host memory (`pageableMemoryAccess` is 0)".to_owned());
    }
    let mut finding = event_finding(&RULE, context, event, argument.span, assumed, claim, message)?;
    finding.label = if matches!(fault.kind, ParameterFaultKind::Reference) {
        "passed by reference".to_owned()
    } else {
        "copied byte by byte".to_owned()
    };
    finding.related.push(related);
    finding.help = Some("pass a plain struct of device pointers and sizes".to_owned());
    Some(finding)
}
