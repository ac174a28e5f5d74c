//! Byte counts that are not byte counts: what the rules on copies and sets both need to know about how a count is
//! written.

use cudalint_engine::ModuleContext;
use cudalint_replay::facts::{Amount, Buffer, CountShape, Event, EventKind, Origin, Pointer, PointerArgument};
use cudalint_replay::quantity::Quantity;

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

/// Bytes of the largest number that a member may be.
const LARGEST_NUMBER: i64 = 8;

/// Whether this many bytes are all that the argument's memory has: then the same size was taken for its allocation, and all elements are
/// there.
fn is_all(argument: &PointerArgument, bytes: &Quantity) -> bool {
    let Pointer::Into { buffer, offset } = &argument.pointer else { return false };
    offset.quantity == Quantity::Known(0) && bytes.surely_equals(&buffer.bytes.quantity)
}

/// Judges the count of a copy or set into or out of `argument`.
pub fn miscount(argument: &PointerArgument, bytes: &Quantity, count: &CountShape) -> Option<Miscount> {
    let element = argument.element.filter(|bytes| *bytes > 1)?;
    if let Some(pointer) = &count.sizeof_pointer
        && bare(pointer) == bare(&argument.text)
        && element != 8
        && !is_all(argument, bytes)
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
        // A size may be written as a number. What comes from out of sight may hold bytes by chance, unless it is the very number of elements
        // that was allocated.
        [] if (!count.opaque || bytes.known().is_none()) && !count.literals.contains(&element) => bytes
            .times(&Quantity::Known(element))
            .surely_equals(&buffer.bytes.quantity)
            .then_some(Miscount::Elements { element }),
        // Of a single record its first members may be meant: `sizeof(int)` of a counter in front of a table.
        [(written_bytes, _)]
            if element > LARGEST_NUMBER
                && *written_bytes <= LARGEST_NUMBER
                && buffer.bytes.quantity == Quantity::Known(element) =>
        {
            None
        }
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

/// Judges the count of a copy between two sides, for the first of them: `None` also where the other side consists of single bytes
/// and all of them are copied, and where one element of the other side's type is.
pub fn miscount_of_copy(
    side: &PointerArgument,
    other: &PointerArgument,
    bytes: &Quantity,
    count: &CountShape,
) -> Option<Miscount> {
    let all_bytes = other.element == Some(1)
        && matches!(&other.pointer, Pointer::Into { buffer, .. } if buffer.bytes.quantity == *bytes);
    let one_of_other = other.element.is_some_and(|element| *bytes == Quantity::Known(element));
    // Of one variable a part may be meant; of two sides of its type the whole is.
    // The low bytes of a number are a number only where it is whole.
    let is_whole = !["double", "float"].iter().any(|name| side.element_name.contains(name));
    let part_of_variable = is_variable(side) && (other.element != side.element || is_whole && is_all_of(other, bytes));
    // Where an array of pointers on the host stands for one pointer (`float *d[n]` for `float *d`), the count is the other side's.
    let of_pointers = |side: &PointerArgument| side.element_name.trim_end().ends_with('*');
    let on_host = matches!(&side.pointer, Pointer::Into { buffer, .. }
        if matches!(buffer.origin, Origin::Local | Origin::Global));
    let array_by_mistake = on_host && of_pointers(side) && !of_pointers(other) && !other.element_name.is_empty();
    miscount(side, bytes, count).filter(|why| match why {
        // A row of an array is as long as it is, whatever the whole has.
        Miscount::Elements { .. } => !all_bytes && side.array.is_none_or(|row| *bytes != Quantity::Known(row)),
        Miscount::OtherType { .. } => !one_of_other && !part_of_variable && !array_by_mistake,
        _ => true,
    })
}

/// Whether so many bytes are all that was allocated there.
fn is_all_of(side: &PointerArgument, bytes: &Quantity) -> bool {
    matches!(&side.pointer, Pointer::Into { buffer, offset }
        if offset.quantity == Quantity::Known(0) && !bytes.is_unknown() && buffer.bytes.quantity == *bytes)
}

/// Whether a pointer leads to a single variable, and not to what was allocated for elements.
fn is_variable(side: &PointerArgument) -> bool {
    matches!(&side.pointer, Pointer::Into { buffer, .. }
        if buffer.element.is_none() && matches!(buffer.origin, Origin::Local | Origin::Global))
}

/// An allocation by bytes that was given a number of elements.
#[derive(Clone, Copy, Debug)]
pub struct ShortAllocation<'a> {
    /// The allocation.
    pub event: &'a Event,
    /// Its memory.
    pub buffer: &'a Buffer,
    /// How its size is written.
    pub count: &'a CountShape,
    /// Bytes of an element.
    pub element: i64,
}

/// The allocation behind one side of a copy, where it holds as many bytes as the copy moves elements: then a factor is missing
/// there, and the copy is right.
pub fn short_allocation<'a>(
    context: &'a ModuleContext<'_>,
    side: &PointerArgument,
    other: &PointerArgument,
    bytes: &Amount,
) -> Option<ShortAllocation<'a>> {
    let Pointer::Into { buffer, offset } = &side.pointer else { return None };
    let element = other.element.or(side.element).filter(|bytes| *bytes > 1)?;
    let moved = &bytes.quantity;
    if offset.quantity != Quantity::Known(0)
        || buffer.bytes.quantity.is_unknown()
        || !buffer.bytes.quantity.times(&Quantity::Known(element)).surely_equals(moved)
    {
        return None;
    }
    context.facts.events.iter().find_map(|event| match &event.kind {
        EventKind::Allocate { buffer: own, count, .. }
            if own.site == buffer.site
                && own.bytes.quantity == buffer.bytes.quantity
                && count.sizeofs.is_empty()
                && count.sizeof_pointer.is_none()
                && !count.opaque =>
        {
            Some(ShortAllocation { event, buffer: own, count, element })
        }
        _ => None,
    })
}

fn bare(text: &str) -> &str {
    text.trim().trim_start_matches('(').trim_end_matches(')').trim()
}
