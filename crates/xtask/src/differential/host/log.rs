//! What a run of a program wrote: the calls in order, as `stand_in.h` gives them.

use std::collections::BTreeMap;

/// A pointer as the run had it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Address {
    /// Into an allocation, by its number, at an offset in bytes.
    Into(usize, i64),
    Null,
    /// Into memory that CUDA did not give.
    Elsewhere,
}

/// An argument of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    Number(i64),
    Pointer(Address),
    /// Neither: a floating-point number, an object.
    Other,
}

/// One call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    Allocate { number: usize, bytes: i64, space: char },
    Free(Address),
    Copy { to: Address, from: Address, bytes: i64, kind: i64 },
    Set { to: Address, value: i64, bytes: i64 },
    Launch { grid: [i64; 3], block: [i64; 3], shared: i64, arguments: Vec<Argument> },
}

/// The calls of a run.
#[derive(Debug, Default)]
pub struct Log {
    /// By their line, in order.
    pub calls: BTreeMap<u32, Vec<Call>>,
    /// The line and the bytes of each allocation.
    pub allocations: Vec<(u32, i64)>,
}

impl Log {
    /// Reads what a run wrote; a line that is none of the header's is what the program itself wrote.
    pub fn read(text: &str) -> Self {
        let mut log = Self::default();
        for line in text.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            if let Some((at, call)) = call(&words) {
                if let Call::Allocate { bytes, .. } = call {
                    log.allocations.push((at, bytes));
                }
                log.calls.entry(at).or_default().push(call);
            }
        }
        log
    }
}

fn call(words: &[&str]) -> Option<(u32, Call)> {
    let line: u32 = words.get(1)?.parse().ok()?;
    let number = |at: usize| words.get(at).and_then(|word| integer(word));
    let pointer = |at: usize| words.get(at).and_then(|word| address(word));
    let call = match *words.first()? {
        "A" => Call::Allocate {
            number: usize::try_from(number(2)?).ok()?,
            bytes: number(3)?,
            space: words.get(4)?.chars().next()?,
        },
        "F" => Call::Free(pointer(2)?),
        "C" => Call::Copy { to: pointer(2)?, from: pointer(3)?, bytes: number(4)?, kind: number(5)? },
        "S" => Call::Set { to: pointer(2)?, value: number(3)?, bytes: number(4)? },
        "L" => Call::Launch {
            grid: [number(3)?, number(4)?, number(5)?],
            block: [number(6)?, number(7)?, number(8)?],
            shared: number(9)?,
            arguments: words.get(10..)?.iter().map(|word| argument(word)).collect(),
        },
        _ => return None,
    };
    Some((line, call))
}

/// Of 64 bits, signed or not: the same bits count as the same number.
fn integer(word: &str) -> Option<i64> {
    word.parse::<i64>().ok().or_else(|| word.parse::<u64>().ok().map(|value| value as i64))
}

fn address(word: &str) -> Option<Address> {
    match word {
        "null" => Some(Address::Null),
        "?" => Some(Address::Elsewhere),
        _ => {
            let (number, offset) = word.split_once('+')?;
            Some(Address::Into(number.parse().ok()?, offset.parse().ok()?))
        }
    }
}

fn argument(word: &str) -> Argument {
    integer(word).map(Argument::Number).or_else(|| address(word).map(Argument::Pointer)).unwrap_or(Argument::Other)
}
