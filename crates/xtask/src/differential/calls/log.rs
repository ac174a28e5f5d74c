//! What a run of a program wrote: the calls in order, as `host/stand_in.h`, `python/stand_in.py` and `agree/runtime.cpp` give them.

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

/// An array as a launch in Python is given it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Array {
    /// `float32`.
    pub dtype: String,
    /// Bytes of the memory that it lies in, and where it begins there.
    pub bytes: i64,
    pub offset: i64,
    pub shape: Vec<i64>,
    pub strides: Vec<i64>,
    /// What is in all that memory, where that is little.
    pub contents: Option<Vec<u8>>,
}

/// An argument of a launch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Argument {
    Number(i64),
    Pointer(Address),
    /// Python's `None`.
    Nothing,
    Tuple(Vec<Self>),
    /// A number of Python: its type as `NumPy` calls it, and its value.
    Typed(String, String),
    Array(Box<Array>),
    /// None of these: a floating-point number of C++, an object.
    Other,
}

/// One call.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Call {
    Allocate {
        number: usize,
        bytes: i64,
        space: char,
    },
    Free(Address),
    Copy {
        to: Address,
        from: Address,
        bytes: i64,
        kind: i64,
    },
    Rows {
        to: Address,
        from: Address,
        width: i64,
        height: i64,
        pitches: [i64; 2],
        kind: i64,
    },
    Set {
        to: Address,
        value: i64,
        bytes: i64,
    },
    /// `kernel` is its name as the compiler spells it, or as it is written.
    Launch {
        kernel: String,
        grid: [i64; 3],
        block: [i64; 3],
        shared: i64,
        arguments: Vec<Argument>,
    },
}

/// A call, its number among the log's lines, and the places of the calls that led to it, innermost first, as far as the log has them.
#[derive(Clone, Debug)]
pub struct Logged {
    pub number: usize,
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
        for (number, line) in text.lines().enumerate() {
            let words: Vec<&str> = line.split(' ').collect();
            let from = words.get(1).map(|word| places(word)).unwrap_or_default();
            if let Some(call) = call(&words)
                && let Some(at) = from.first().copied()
            {
                if let Call::Allocate { bytes, .. } = call {
                    log.allocations.push((at, bytes));
                }
                log.calls.entry(at).or_default().push(Logged { number, call, from });
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
            kernel: (*words.get(2)?).to_owned(),
            grid: [number(3)?, number(4)?, number(5)?],
            block: [number(6)?, number(7)?, number(8)?],
            shared: number(9)?,
            arguments: arguments(words.get(10..)?),
        },
        _ => return None,
    };
    Some(call)
}

/// Of 64 bits, signed or not: the same bits count as the same number.
pub fn integer(word: &str) -> Option<i64> {
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

/// The words of arguments; those of a tuple stand between brackets.
fn arguments(words: &[&str]) -> Vec<Argument> {
    let mut around = Vec::new();
    let mut all = Vec::new();
    for word in words {
        match *word {
            "(" => around.push(std::mem::take(&mut all)),
            ")" => {
                let inner = std::mem::replace(&mut all, around.pop().unwrap_or_default());
                all.push(Argument::Tuple(inner));
            }
            word => all.push(argument(word)),
        }
    }
    all
}

fn argument(word: &str) -> Argument {
    if word == "none" {
        return Argument::Nothing;
    }
    if let Some((ty, value)) = word.split_once('=') {
        return Argument::Typed(ty.to_owned(), value.to_owned());
    }
    let array = word.strip_prefix('@').and_then(array).map(|array| Argument::Array(Box::new(array)));
    let number = || integer(word).map(Argument::Number);
    array.or_else(number).or_else(|| address(word).map(Argument::Pointer)).unwrap_or(Argument::Other)
}

fn array(word: &str) -> Option<Array> {
    let parts: Vec<&str> = word.split(':').collect();
    let [dtype, bytes, offset, shape, strides, contents] = parts.as_slice() else { return None };
    let numbers = |text: &str| -> Option<Vec<i64>> {
        if text.is_empty() { Some(Vec::new()) } else { text.split('x').map(|one| one.parse().ok()).collect() }
    };
    let digits = |at: usize| u8::from_str_radix(contents.get(at..at + 2)?, 16).ok();
    Some(Array {
        dtype: (*dtype).to_owned(),
        bytes: bytes.parse().ok()?,
        offset: offset.parse().ok()?,
        shape: numbers(shape)?,
        strides: numbers(strides)?,
        contents: if contents.is_empty() { None } else { (0..contents.len()).step_by(2).map(digits).collect() },
    })
}
