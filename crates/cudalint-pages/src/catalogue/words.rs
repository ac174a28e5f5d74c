//! The words of the catalogue that mean one thing each: sides, results, versions, flags, operations of device code.

/// A reading that says in words what it does not understand.
pub(super) type Read<T> = Result<T, String>;

pub(super) fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

pub(super) fn side(word: &str) -> Read<String> {
    match word {
        "host" | "device" | "both" | "open" => Ok(capital(word)),
        _ => Err(format!("no side is called `{word}`")),
    }
}

pub(super) fn returned(words: &str) -> Read<String> {
    match words {
        "nothing" | "text" | "other" => Ok(capital(words)),
        _ => match words.split_once(' ') {
            Some(("status", ty)) => Ok(format!("Status({ty:?})")),
            Some(("by-handle", ty)) => Ok(format!("StatusByHandle({ty:?})")),
            _ => Err(format!("`returns {words}` is not understood")),
        },
    }
}

pub(super) fn number(word: &str) -> Read<String> {
    match word {
        "bool" | "short" | "ushort" | "int" | "uint" | "long" | "ulong" | "half" | "float" | "double" | "float2"
        | "double2" => Ok(format!("Number::{}", capital(word))),
        _ => Err(format!("`{word}` is no type of numbers")),
    }
}

pub(super) fn version(text: &str) -> Read<(u8, u8)> {
    let (major, minor) = text.split_once('.').unwrap_or((text, "0"));
    let number = |text: &str| text.parse::<u8>().map_err(|_| format!("`{text}` is no version"));
    Ok((number(major)?, number(minor)?))
}

pub(super) fn flag(word: &str) -> Read<&'static str> {
    Ok(match word {
        "quiet" => "QUIET",
        "core" => "CORE",
        "pure" => "PURE",
        "ends" => "ENDS",
        "unrelated" => "UNRELATED",
        "async" => "ASYNCHRONOUS",
        "number" => "NUMBER",
        "plain-c" => "PLAIN_C",
        "builds" => "BUILDS",
        "memory" => "MEMORY",
        _ => return Err(format!("`{word}` is not understood")),
    })
}

pub(super) fn device_op(words: &[&str]) -> Read<String> {
    let vote = |how: &str| match how {
        "all" => Ok("Vote::All"),
        "any" => Ok("Vote::Any"),
        "count" => Ok("Vote::Count"),
        "ballot" => Ok("Vote::Ballot"),
        "match-any" => Ok("Vote::MatchAny"),
        "match-all" => Ok("Vote::MatchAll"),
        "reduce" => Ok("Vote::Reduce"),
        _ => Err(format!("no vote is called `{how}`")),
    };
    let scope = |of: &str| match of {
        "thread" | "block" | "device" | "system" => Ok(format!("Scope::{}", capital(of))),
        _ => Err(format!("no scope is called `{of}`")),
    };
    let (words, masked) = match words {
        [words @ .., "masked"] => (words, true),
        words => (words, false),
    };
    let op = match words {
        ["barrier"] => "BlockBarrier".to_owned(),
        ["barrier", "named"] => "NamedBarrier".to_owned(),
        ["block-vote", how] => format!("BlockVote({})", vote(how)?),
        ["fence", of] => format!("Fence({})", scope(of)?),
        ["warp-barrier"] => "WarpBarrier".to_owned(),
        ["active-mask"] => "ActiveMask".to_owned(),
        ["assume"] => "Assume".to_owned(),
        ["shared-address"] => "SharedAddress".to_owned(),
        ["nothing"] => "Nothing".to_owned(),
        ["async-copy"] => "AsyncCopy".to_owned(),
        ["trap"] => "Trap".to_owned(),
        ["print"] => "Print".to_owned(),
        ["load"] => "Load".to_owned(),
        ["store"] => "Store".to_owned(),
        ["clock"] => "Clock".to_owned(),
        ["random"] => "Random".to_owned(),
        ["texture"] => "Texture { writes: false }".to_owned(),
        ["texture", "writes"] => "Texture { writes: true }".to_owned(),
        ["shuffle", how @ ("index" | "up" | "down" | "xor")] => {
            format!("Shuffle {{ how: Shuffle::{}, masked: {masked} }}", capital(how))
        }
        ["vote", how] => format!("WarpVote {{ how: {}, masked: {masked} }}", vote(how)?),
        ["bits", what @ ("pop-count" | "leading-zeros" | "first-set" | "reverse-bits" | "mul24" | "mul-high"), of] => {
            let what: String = what.split('-').map(capital).collect();
            format!("Bits {{ what: Bits::{what}, of: {} }}", number(of)?)
        }
        ["atomic", op, of] => {
            let op = match *op {
                "exchange" => "Exchange".to_owned(),
                "compare-exchange" => "CompareExchange".to_owned(),
                "add" | "sub" | "min" | "max" | "and" | "or" | "xor" | "inc" | "dec" => capital(op),
                _ => return Err(format!("no atomic operation is called `{op}`")),
            };
            format!("Atomic {{ op: AtomicOp::{op}, scope: {} }}", scope(of)?)
        }
        _ => return Err(format!("`op {}` is not understood", words.join(" "))),
    };
    Ok(format!("DeviceOp::{op}"))
}
