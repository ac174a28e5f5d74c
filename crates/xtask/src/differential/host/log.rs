//! What a run of a program wrote: the calls in order, as `stand_in.h` and `agree/runtime.cpp` give them.

use std::collections::BTreeMap;

/// A line of a file: which file that is, whoever reads the log knows.
pub type Place = (u32, u32);

/// A pointer as the run had it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Address {
    /// Into an allocation, by its number, at an offset in bytes.
    Into(usize, i64),
    /// Into a variable of the device, at an offset in bytes.
    Variable(i64),
    Null,
    /// Into memory that CUDA did not give.
    Elsewhere,
}

/// An argument of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Argument {
    Number(i64),
    Pointer(Address),
    /// Neither: a floating-point number, an object.
    Other,
}

/// One call.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Call {
    Allocate { number: usize, bytes: i64, space: char },
    Free(Address),
    Copy { to: Address, from: Address, bytes: i64, kind: i64 },
    Rows { to: Address, from: Address, width: i64, height: i64, pitches: [i64; 2], kind: i64 },
    Set { to: Address, value: i64, bytes: i64 },
    Launch { grid: [i64; 3], block: [i64; 3], shared: i64, arguments: Vec<Argument> },
}

/// A call, and the places of the calls that led to it, innermost first, as far as the log has them.
#[derive(Clone, Debug)]
pub struct Logged {
    pub call: Call,
    pub from: Vec<Place>,
}

/// The calls of a run.
#[derive(Debug, Default)]
pub struct Log {
    /// By their place, in order.
    pub calls: BTreeMap<Place, Vec<Logged>>,
    /// The place and the bytes of each allocation.
    pub allocations: Vec<(Place, i64)>,
}

impl Log {
    /// Reads what a run wrote, whose places `places` reads, innermost first; a line that is no call is what the program itself wrote.
    pub fn read(text: &str, places: &dyn Fn(&str) -> Vec<Place>) -> Self {
        let mut log = Self::default();
        for line in text.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let from = words.get(1).map(|word| places(word)).unwrap_or_default();
            if let Some(call) = call(&words)
                && let Some(at) = from.first().copied()
            {
                if let Call::Allocate { bytes, .. } = call {
                    log.allocations.push((at, bytes));
                }
                log.calls.entry(at).or_default().push(Logged { call, from });
            }
        }
        log
    }
}

fn call(words: &[&str]) -> Option<Call> {
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
        "R" => Call::Rows {
            to: pointer(2)?,
            from: pointer(3)?,
            width: number(4)?,
            height: number(5)?,
            pitches: [number(6)?, number(7)?],
            kind: number(8)?,
        },
        "L" => Call::Launch {
            grid: [number(3)?, number(4)?, number(5)?],
            block: [number(6)?, number(7)?, number(8)?],
            shared: number(9)?,
            arguments: words.get(10..)?.iter().map(|word| argument(word)).collect(),
        },
        _ => return None,
    };
    Some(call)
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
            let (number, offset) = word.rsplit_once('+')?;
            let offset = offset.parse().ok()?;
            Some(if number.starts_with('@') {
                Address::Variable(offset)
            } else {
                Address::Into(number.parse().ok()?, offset)
            })
        }
    }
}

fn argument(word: &str) -> Argument {
    integer(word).map(Argument::Number).or_else(|| address(word).map(Argument::Pointer)).unwrap_or(Argument::Other)
}
