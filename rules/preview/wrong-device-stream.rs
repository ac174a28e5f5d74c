//! An event of one device is put into a stream of another.

use crate::parts::{assumptions, event_finding};
use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::claim::Call;
use cudalint_findings::{Finding, Label, Shows};
use cudalint_replay::facts::{DeviceFact, Event, EventKind};

/// `cudaErrorInvalidResourceHandle`.
const INVALID_HANDLE: i64 = 400;
/// Devices of one machine, at most: another number is none of a device.
const MOST_DEVICES: u32 = 64;

/// The rule.
pub static RULE: Rule = rule!("wrong-device-stream", Preview, ApiError)
    .summary("An event of one device is recorded in a stream of another.")
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
    let DeviceFact { api, name, made: (own, made), other } = fact;
    let message = format!("`{api}` puts `{name}`, an event of device {own}, into a stream of device {other}");
    let assumed = assumptions([&event.assumptions]);
    let claim = Shows::FailedCall { call: Call { status: Some(INVALID_HANDLE), ..Call::of(api.as_str()) } };
    let mut finding = event_finding(&RULE, context, event, event.site.span, assumed, claim, message)?;
    finding.claim.devices = u32::try_from(*own.max(other)).ok().filter(|device| *device < MOST_DEVICES)? + 1;
    finding.label = "refused".to_owned();
    let place = context.place_of(*made);
    finding.related.push(Label { place, message: format!("made here, while device {own} is current") });
    finding.help = Some(format!("make the event while device {other} is current"));
    Some(finding)
}
