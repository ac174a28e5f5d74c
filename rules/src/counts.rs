//! Byte counts that are not byte counts: what the rules on copies and sets both need to know about how a count is
//! written.

use cudalint_replay::facts::{CountShape, Pointer, PointerArgument};
use cudalint_replay::value::Quantity;

/// Why a count is not the number of bytes that was meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Miscount {
    /// `sizeof p` of a pointer: the size of an address.
    SizeOfPointer(String),
    /// Two `sizeof` factors for one element.
    SizeOfTwice(String),
    /// The number of elements, with no `sizeof`: the allocation is `element` times as large.
    Elements {
        /// Bytes of an element.
        element: i64,
    },
    /// The `sizeof` of a type of another size than the elements that the allocation was made for.
    OtherType {
        /// The `sizeof` as written.
        written: String,
        /// Its value.
        written_bytes: i64,
        /// Bytes of an element.
        element: i64,
    },
}

/// Judges the count of a copy or set into or out of `argument`.
pub fn miscount(argument: &PointerArgument, bytes: &Quantity, count: &CountShape) -> Option<Miscount> {
    let element = argument.element.filter(|bytes| *bytes > 1)?;
    if let Some(pointer) = &count.sizeof_pointer
        && bare(pointer) == bare(&argument.text)
        && element != 8
    {
        return Some(Miscount::SizeOfPointer(pointer.clone()));
    }
    if let [(first, text), (second, again)] = count.sizeofs.as_slice()
        && first == second
        && text == again
        && *first == element
    {
        return Some(Miscount::SizeOfTwice(text.clone()));
    }
    // What follows needs the allocation as evidence: the same number of elements, in bytes.
    let Pointer::Into { buffer, offset } = &argument.pointer else { return None };
    if offset.quantity != Quantity::Known(0) || buffer.bytes.quantity == *bytes {
        return None;
    }
    match count.sizeofs.as_slice() {
        [] if !count.opaque => bytes
            .times(&Quantity::Known(element))
            .surely_equals(&buffer.bytes.quantity)
            .then_some(Miscount::Elements { element }),
        [(written_bytes, written)] if *written_bytes != element && *written_bytes > 0 => {
            // bytes / written == allocation / element, without dividing.
            let here = bytes.times(&Quantity::Known(element));
            let there = buffer.bytes.quantity.times(&Quantity::Known(*written_bytes));
            (here.surely_equals(&there) && *written_bytes < element).then(|| Miscount::OtherType {
                written: written.clone(),
                written_bytes: *written_bytes,
                element,
            })
        }
        _ => None,
    }
}

fn bare(text: &str) -> &str {
    text.trim().trim_start_matches('(').trim_end_matches(')').trim()
}
