//! A stream or an event of one device is used on another.

use crate::parts::{assumptions, event_finding};
use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::claim::{Call, Resource};
use cudalint_findings::{Claim, Finding, Label, Place, Shows};
use cudalint_replay::facts::{DeviceFact, DeviceUse, Event, EventKind};

/// The rule.
pub static RULE: Rule = rule!("wrong-device-stream", Preview, ApiError)
    .summary("A kernel is launched in a stream of another device than the current one, or an event recorded in a stream of another.")
    .cwe(628)
    .facts(check);

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for event in &context.facts.events {
        if let EventKind::WrongDevice(fact) = &event.kind
            && !event.failed
            && !event.conditional
        {
            sink.report_some(finding(context, event, fact));
        }
    }
}

fn finding(context: &ModuleContext<'_>, event: &Event, fact: &DeviceFact) -> Option<Finding> {
    let DeviceFact { used, name, made: (own, made), other } = fact;
    let (message, claim, help): (String, Claim<Place>, String) = match used {
        DeviceUse::Launch(kernel) => (
            format!("`{kernel}` is launched in `{name}`, a stream of device {own}, while device {other} is current"),
            Claim { kernel: Some(kernel.clone()), ..Claim::from(Shows::RefusedLaunch { of: Resource::Device }) },
            format!("call `cudaSetDevice({own})` before the launch, or launch it in a stream of device {other}"),
        ),
        DeviceUse::Record(api) => (
            format!("`{api}` puts `{name}`, an event of device {own}, into a stream of device {other}"),
            Claim::from(Shows::FailedCall { call: Call::of(api.as_str()) }),
            format!("make the event while device {other} is current"),
        ),
    };
    let assumed = assumptions([&event.assumptions]);
    let mut finding = event_finding(&RULE, context, event, event.site.span, assumed, claim, message)?;
    finding.label = "refused".to_owned();
    let place = context.place_of(*made);
    finding.related.push(Label { place, message: format!("made here, while device {own} is current") });
    finding.help = Some(help);
    Some(finding)
}
