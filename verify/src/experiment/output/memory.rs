//! What a memset or copy has left in memory, against what its arguments look as if they meant.

use crate::tools::probe_log::{Call, Memory};
use cudalint_findings::claim::Difference;
use cudalint_findings::model::{Site, Verdict};

/// How many elements of the next size up a count in elements falls short by: what `n` bytes are of `n` elements.
const ELEMENT_SIZES: [u64; 4] = [2, 4, 8, 16];
/// `sizeof` a pointer.
const POINTER: u64 = 8;

/// What a call that sets or copies memory leaves there, against what the finding claims.
pub(super) fn compared(difference: &Difference<Site>, call: &Call, memory: &Memory) -> (Verdict, String) {
    match difference {
        Difference::Value { .. } => value(call, memory),
        _ => extent(call, memory),
    }
}

/// Whether the elements hold the value that the call names.
fn value(call: &Call, memory: &Memory) -> (Verdict, String) {
    if call.real != 0 {
        return (Verdict::Unviable, format!("`{}` fails by itself with status {}", call.function, call.real));
    }
    let bytes = decode(&memory.bytes);
    let size = memory.element as usize;
    let Some(first) = (size > 0).then(|| bytes.get(..size)).flatten() else {
        let reason = format!("the pointer given to `{}` does not say what the elements are", call.function);
        return (Verdict::Unviable, reason);
    };
    let (holds, is_value) = element(first, memory);
    if is_value {
        return (Verdict::Refuted, format!("element 0 holds {holds}, which is the call's value {}", memory.value));
    }
    let text = format!("after `{}` with the value {}, element 0 holds {holds}", call.function, memory.value);
    (Verdict::Confirmed, text)
}

/// What an element holds, and whether that is the call's value.
fn element(bytes: &[u8], memory: &Memory) -> (String, bool) {
    let mut wide = [0_u8; 8];
    for (to, from) in wide.iter_mut().zip(bytes) {
        *to = *from;
    }
    let bits = u64::from_le_bytes(wide);
    if memory.floating {
        let number = if bytes.len() == 4 { f64::from(f32::from_bits(bits as u32)) } else { f64::from_bits(bits) };
        return (format!("{number:e}"), (number - memory.value as f64).abs() == 0.0);
    }
    // Of the two readings of the bits, the one that is the value counts.
    let unused = 64 - 8 * bytes.len().clamp(1, 8) as u32;
    let signed = ((bits << unused) as i64) >> unused;
    let is_value = signed == memory.value || bits == (memory.value as u64) << unused >> unused;
    (format!("{signed}"), is_value)
}

/// Whether the call reaches all of its memory.
fn extent(call: &Call, memory: &Memory) -> (Verdict, String) {
    let (does, count) = (if memory.does == "set" { "sets" } else { "copies" }, memory.count);
    let room = memory.allocation.saturating_sub(memory.offset);
    if memory.allocation > 0 && count > room {
        let text = format!(
            "`{}` {does} {count} bytes where {room} are left of an allocation of {} bytes, and returns {}",
            call.function, memory.allocation, call.real
        );
        return if call.real == 0 { (Verdict::NotObserved, text) } else { (Verdict::Confirmed, text) };
    }
    if call.real != 0 {
        return (Verdict::Unviable, format!("`{}` fails by itself with status {}", call.function, call.real));
    }
    let (mut all, mut of) = if memory.allocation > 0 { (room, "destination") } else { (memory.source, "source") };
    if all == 0 {
        return (Verdict::Unviable, format!("neither side of `{}` is device memory of a known size", call.function));
    }
    // Which side the copy is too short for is not claimed: where it fills the one, the other may have more.
    if does == "copies" && of == "destination" && all <= count && memory.source != count {
        if memory.source < count {
            let text = format!(
                "`{}` copies all {all} bytes of its destination; what its source has, nobody knows",
                call.function
            );
            return (Verdict::NotObserved, text);
        }
        (all, of) = (memory.source, "source");
    }
    if all <= count {
        return (Verdict::Refuted, format!("`{}` {does} all {all} bytes of its {of}", call.function));
    }
    let short = count == POINTER || ELEMENT_SIZES.iter().any(|size| count.checked_mul(*size) == Some(all));
    let rest = all - count;
    if !short {
        let text = format!("`{}` {does} {count} of {all} bytes, which is no number of elements", call.function);
        return (Verdict::NotObserved, text);
    }
    if of == "destination" && (!memory.compared || memory.changed != 0 || memory.behind != rest) {
        return (
            Verdict::NotObserved,
            format!("the {rest} bytes behind those of `{}` could not be compared", call.function),
        );
    }
    let left = if of == "destination" { "keep what they held" } else { "stay behind" };
    (
        Verdict::Confirmed,
        format!("`{}` {does} {count} of the {all} bytes of its {of}: the other {rest} {left}", call.function),
    )
}

/// Bytes from hexadecimal digits; those before the first that is none.
fn decode(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().chunks_exact(2);
    digits.map_while(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}
