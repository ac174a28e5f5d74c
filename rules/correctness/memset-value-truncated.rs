//! A memset whose value is not the same in every byte of an element.

use crate::parts::{assumptions, event_finding, is_python, known};
use crate::runs::parts::only_possible;
use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::claim::Difference;
use cudalint_findings::{Confidence, Shows};
use cudalint_replay::facts::{Event, EventKind};
use cudalint_replay::fillings::{Filling, filling, only_measured};

/// The rule.
pub static RULE: Rule = rule!("memset-value-truncated", Correctness, Output)
    .summary("A byte-wise memset is given a value that is not the same in every byte of an element.")
    .cwe(704)
    .confidence(&[Confidence::Definite, Confidence::Likely, Confidence::Possible])
    .facts(check);

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for event in &context.facts.events {
        if let Some(finding) = check_event(context, event) {
            sink.report(finding);
        }
    }
}

fn check_event(context: &ModuleContext<'_>, event: &Event) -> Option<cudalint_findings::Finding> {
    let EventKind::Set { api, destination, value, value_text, value_span, bytes, unit: 1, .. } = &event.kind else {
        return None;
    };
    let element = destination.element.filter(|bytes| matches!(bytes, 2 | 4 | 8))?;
    if !is_arithmetic(&destination.element_name) {
        return None;
    }
    // A single byte of one element may be just what is meant.
    if known(bytes).is_some_and(|bytes| bytes < element) {
        return None;
    }
    let number = known(value)?;
    let byte = number & 0xff;
    // A whole byte repeated is what hexadecimal fill patterns and "large" sentinels such as 0x7f ask for.
    let fill_pattern = (0..=255).contains(&number) && is_hexadecimal(value_text);
    if fill_pattern || matches!(number, 0 | -1 | 255) {
        return None;
    }
    let stored = (0..element).fold(0u64, |all, _| (all << 8) | byte as u64);
    // The same in every byte after all: `0xffffffff`, `0x01010101`.
    let mask = if element == 8 { u64::MAX } else { (1 << (element * 8)) - 1 };
    if (number as u64) & mask == stored {
        return None;
    }
    let filling = filling(context.project, event, byte as u8);
    if filling == Filling::Meant {
        return None;
    }
    let became = match (destination.element_name.as_str(), element) {
        ("float" | "float32", 4) => format!("{:e}", f32::from_bits(stored as u32)),
        ("double" | "float64", 8) => format!("{:e}", f64::from_bits(stored)),
        ("half" | "__half" | "float16", 2) => format!("the half-precision bits 0x{stored:04x}"),
        (_, 4) => format!("{} (0x{stored:08x})", stored as u32 as i32),
        (_, 2) => format!("{} (0x{stored:04x})", stored as u16 as i16),
        _ => format!("0x{stored:016x}"),
    };
    let is_literal = value_text.starts_with(|letter: char| !letter.is_alphabetic() && !matches!(letter, '_' | '('));
    let meant = if is_literal { value_text.clone() } else { format!("`{value_text}`, which is {number}") };
    let message = format!(
        "`{api}` writes the byte {byte} everywhere, so each `{}` of `{}` becomes {became}, not {meant}",
        destination.element_name, destination.text
    );
    let assumed = assumptions([&event.assumptions, &value.assumptions]);
    let claim = Shows::Memory { difference: Difference::Value { value: number } };
    let mut finding = event_finding(&RULE, context, event, *value_span, assumed, claim, message)?;
    finding.label = format!("only the low byte is used: {byte}");
    finding.help = Some(if is_python(context, event.site) {
        format!(
            "fill elements with the array's `fill`, or `memset_d{}` of PyCUDA; `{api}` can only set bytes",
            element * 8
        )
    } else {
        format!("fill elements with a kernel, `thrust::fill` or `cuMemsetD{}`; `{api}` can only set bytes", element * 8)
    });
    if let Some(witness) = &mut finding.witness {
        witness.bindings = vec![("value".to_owned(), number), ("byte written".to_owned(), byte)];
    }
    // A whole number that is 1 is a flag as a rule, where it is alone, or where nobody is seen to read it as a number: it is as true with any
    // other bytes.
    let is_whole = !["float", "double", "half"].iter().any(|kind| destination.element_name.contains(kind));
    let is_alone = known(bytes) == Some(element);
    // A byte may be meant as such, unless what is made of it is seen to leave the device.
    let is_byte = (0..=255).contains(&number);
    let is_out_of_sight = is_byte && filling != Filling::Fetched && !is_python(context, event.site);
    let is_flag = number == 1 && is_whole && (is_alone || is_out_of_sight);
    if is_flag || is_out_of_sight || filling == Filling::Unseen || only_measured(context.project, event) {
        only_possible(&mut finding);
    }
    if is_flag || is_out_of_sight {
        let otherwise = if is_flag { "as a flag" } else { "as a pattern of bytes" };
        let assumption = format!("`{}` is read as a number, and not {otherwise}", destination.text);
        finding.witness.get_or_insert_default().assumptions.push(assumption);
    }
    Some(finding)
}

fn is_hexadecimal(text: &str) -> bool {
    text.trim_start_matches(['(', ' ']).to_ascii_lowercase().starts_with("0x")
}

fn is_arithmetic(name: &str) -> bool {
    const WORDS: [&str; 11] =
        ["int", "unsigned", "signed", "long", "short", "float", "double", "size_t", "half", "__half", "const"];
    // NumPy's types: `float32`, `uint16`.
    let bits = ["float", "int", "uint"].into_iter().find_map(|kind| name.strip_prefix(kind));
    if matches!(bits, Some("16" | "32" | "64")) {
        return true;
    }
    !name.is_empty()
        && name.split_whitespace().all(|word| {
            WORDS.contains(&word)
                || ((word.starts_with("int") || word.starts_with("uint"))
                    && word.ends_with("_t")
                    && word.contains(|c: char| c.is_ascii_digit()))
        })
}
