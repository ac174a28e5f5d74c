//! What a launch hands to its kernel, exactly: a value for each parameter, and what the memory behind pointers holds.

use crate::facts::{Amount, Buffer, KernelWrite};
use crate::quantity::{Assumptions, Quantity, union};
use std::sync::Arc;

/// Most byte ranges of one allocation that are told apart.
const MAX_RANGES: usize = 8;
/// Most launches that are remembered to have written one allocation.
const MAX_KERNELS: usize = 4;

/// What a parameter of a kernel is given.
#[derive(Clone, Debug, PartialEq)]
pub enum Given {
    /// Nothing is known.
    Unknown,
    /// An integer or truth value.
    Int {
        /// The argument's value; the parameter holds it converted to its own type.
        amount: Amount,
        /// Size of the parameter's type.
        bytes: u8,
        /// Signedness of the parameter's type.
        signed: bool,
    },
    /// A floating-point number.
    Float {
        /// Its value.
        value: f64,
        /// What it rests on.
        assumptions: Assumptions,
    },
    /// A null pointer.
    Null {
        /// What that rests on.
        assumptions: Assumptions,
    },
    /// A pointer into memory in sight.
    Pointer {
        /// The memory.
        buffer: Box<Buffer>,
        /// Bytes from its start.
        offset: Amount,
        /// What is in it.
        held: Option<Arc<Held>>,
    },
    /// A pointer to somewhere: the allocation is not in sight.
    Somewhere,
    /// A record or a vector by value: what stands at each byte offset that is known.
    Record(Vec<GivenField>),
}

/// A scalar in a record.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenField {
    /// Bytes from the record's start.
    pub offset: u64,
    /// The way there as code spells it: `.bodies.mass`.
    pub way: String,
    /// What it is given.
    pub given: Given,
}

impl Given {
    /// The launches that alone have written, beside known ranges, in the memory that it leads to.
    pub(crate) fn written_by(&self) -> Option<&[KernelWrite]> {
        match self {
            Self::Pointer { held: Some(held), .. } => match &held.contents {
                HeldContents::WrittenBy(_, kernels) => Some(kernels),
                _ => None,
            },
            _ => None,
        }
    }

    /// What tells two launches apart beside the arguments' own values: contents of memory, fields of records.
    pub(crate) fn outline(&self) -> String {
        match self {
            Self::Pointer { held: Some(held), .. } => match &held.contents {
                HeldContents::WrittenOnly(ranges) => {
                    let ranges: Vec<String> =
                        ranges.iter().map(|(start, length)| format!("{start}+{length}")).collect();
                    format!("written {}", ranges.join(" "))
                }
                HeldContents::WrittenBy(..) => String::new(),
                HeldContents::Filled(byte) => format!("filled {byte}"),
                HeldContents::Integers { bytes, values } => {
                    let values: Vec<String> = values.iter().map(ToString::to_string).collect();
                    format!("{bytes}: {}", values.join(" "))
                }
            },
            Self::Record(fields) => {
                let fields: Vec<String> =
                    fields.iter().map(|field| format!("{}={}", field.offset, field.given.scalar())).collect();
                fields.join(" ")
            }
            _ => String::new(),
        }
    }

    fn scalar(&self) -> String {
        match self {
            Self::Int { amount, .. } => amount.to_string(),
            Self::Float { value, .. } => value.to_string(),
            Self::Pointer { buffer, offset, .. } => format!("{}+{}", buffer.bytes, offset),
            Self::Null { .. } => "null".to_owned(),
            _ => String::new(),
        }
    }
}

/// What an allocation holds, as far as the host's own calls say.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    /// What.
    pub contents: HeldContents,
    /// What that rests on.
    pub assumptions: Assumptions,
}

/// Kinds of contents.
#[derive(Clone, Debug, PartialEq)]
pub enum HeldContents {
    /// Surely nobody has written outside of these ranges: start and length, both in bytes.
    WrittenOnly(Vec<(Quantity, Quantity)>),
    /// As that, beside what these launches have written there, in order.
    WrittenBy(Vec<(Quantity, Quantity)>, Vec<KernelWrite>),
    /// This byte everywhere.
    Filled(u8),
    /// Integers in a row from the first byte on, each of so many bytes; what follows them is unknown.
    Integers {
        /// Bytes of one.
        bytes: u8,
        /// Their values.
        values: Vec<Quantity>,
    },
}

impl Held {
    /// Memory that has just come into being.
    pub(crate) fn fresh() -> Arc<Self> {
        Arc::new(Self { contents: HeldContents::WrittenOnly(Vec::new()), assumptions: None })
    }

    /// The same, resting on more.
    pub(crate) fn because(held: &Self, why: &Assumptions) -> Self {
        Self { contents: held.contents.clone(), assumptions: union(&held.assumptions, why) }
    }

    /// What is left after a write of unknown bytes to a range.
    pub(crate) fn after_write(
        old: Option<&Self>,
        start: Quantity,
        length: Quantity,
        why: &Assumptions,
    ) -> Option<Arc<Self>> {
        let old = old?;
        let (ranges, kernels) = match &old.contents {
            HeldContents::WrittenOnly(ranges) => (ranges, None),
            HeldContents::WrittenBy(ranges, kernels) => (ranges, Some(kernels)),
            _ => return None,
        };
        if start.is_unknown() || length.is_unknown() {
            return None;
        }
        let mut ranges = ranges.clone();
        let range = (start, length);
        if !ranges.contains(&range) {
            ranges.push(range);
        }
        let few = ranges.len() <= MAX_RANGES;
        let contents = match kernels {
            None => HeldContents::WrittenOnly(ranges),
            Some(kernels) => HeldContents::WrittenBy(ranges, kernels.clone()),
        };
        few.then(|| Arc::new(Self { contents, assumptions: union(&old.assumptions, why) }))
    }

    /// What is left after a launch that may write anywhere in the memory.
    pub(crate) fn after_kernel(old: &Self, write: KernelWrite) -> Option<Arc<Self>> {
        let (ranges, mut kernels) = match &old.contents {
            HeldContents::WrittenOnly(ranges) => (ranges.clone(), Vec::new()),
            HeldContents::WrittenBy(ranges, kernels) => (ranges.clone(), kernels.clone()),
            _ => return write.only_reads.then(|| Arc::new(old.clone())),
        };
        // One that only reads there is remembered for having been given the memory.
        if !write.only_reads || !kernels.iter().any(|known| known.only_reads) {
            kernels.push(write);
        }
        let contents = HeldContents::WrittenBy(ranges, kernels);
        let few = matches!(&contents, HeldContents::WrittenBy(_, kernels) if kernels.len() <= MAX_KERNELS);
        few.then(|| Arc::new(Self { contents, assumptions: old.assumptions.clone() }))
    }

    /// What is surely so when either of two states is the case.
    pub(crate) fn join(a: Option<&Arc<Self>>, b: Option<&Arc<Self>>) -> Option<Arc<Self>> {
        let (a, b) = (a?, b?);
        if Arc::ptr_eq(a, b) || a == b {
            return Some(Arc::clone(a));
        }
        let (HeldContents::WrittenOnly(left), HeldContents::WrittenOnly(right)) = (&a.contents, &b.contents) else {
            return None;
        };
        let mut ranges = left.clone();
        for range in right {
            if !ranges.contains(range) {
                ranges.push(range.clone());
            }
        }
        let assumptions = union(&a.assumptions, &b.assumptions);
        (ranges.len() <= MAX_RANGES)
            .then(|| Arc::new(Self { contents: HeldContents::WrittenOnly(ranges), assumptions }))
    }
}
