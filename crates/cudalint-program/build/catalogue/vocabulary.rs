//! The words of the catalogue that mean one thing each: sides, results, versions, flags, operations of device code.

/// A reading that says in words what it does not understand.
pub(super) type Read<T> = Result<T, String>;

pub(super) fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// `shared-array` as `SharedArray`.
fn camel(word: &str) -> String {
    word.split('-').map(capital).collect()
}

/// `a{b,c}d` as `abd` and `acd`.
pub(super) fn braces(name: &str) -> Vec<String> {
    let Some((before, rest)) = name.split_once('{') else { return vec![name.to_owned()] };
    let Some((choices, after)) = rest.split_once('}') else { return vec![name.to_owned()] };
    choices.split(',').flat_map(|choice| braces(&format!("{before}{choice}{after}"))).collect()
}

/// How a conversion rounds, by the end of its name.
pub(super) fn rounding(name: &str) -> &'static str {
    match name.rsplit_once("_r").map(|(_, how)| how) {
        Some("z") => "Rounding::TowardsZero",
        Some("u") => "Rounding::Up",
        Some("d") => "Rounding::Down",
        _ => "Rounding::Nearest",
    }
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
        "bool" | "short" | "ushort" | "int" | "uint" | "long" | "ulong" | "half" | "half2" | "float" | "double"
        | "float2" | "double2" => Ok(format!("Number::{}", capital(word))),
        _ => Err(format!("`{word}` is no type of numbers")),
    }
}

pub(super) fn version(text: &str) -> Read<(u8, u8)> {
    let (major, minor) = text.split_once('.').unwrap_or((text, "0"));
    let number = |text: &str| text.parse::<u8>().map_err(|_| format!("`{text}` is no version"));
    Ok((number(major)?, number(minor)?))
}

/// `13.0 INSTEAD`, `sm_70 INSTEAD`: where a function ends, and what is there for it.
pub(super) fn end(words: &[&str]) -> Read<String> {
    let (end, instead) = match words {
        [end] => (end, ""),
        [end, instead] => (end, *instead),
        _ => return Err("until VERSION INSTEAD".to_owned()),
    };
    let end = match end.strip_prefix("sm_") {
        Some(number) => format!("Architecture({})", number.parse::<u8>().map_err(|_| format!("`{end}` is no device"))?),
        None => version(end).map(|(major, minor)| format!("Toolkit({major}, {minor})"))?,
    };
    Ok(format!("Until {{ end: End::{end}, instead: {instead:?} }}"))
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
        "mapped" => "MAPPED",
        "pinned" => "PINNED",
        "clock" => "CLOCK",
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
        ["grid"] => "Grid { size: false }".to_owned(),
        ["grid", "size"] => "Grid { size: true }".to_owned(),
        [
            word @ ("shared-array" | "local-array" | "constant-array" | "shared-memory" | "range" | "lane"
            | "lanes-below" | "select" | "multiply-add" | "next-random" | "this-grid" | "this-block"
            | "group-barrier"),
        ] => camel(word),
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
        ["bits", what, of] => {
            format!("Bits {{ what: Bits::{}, of: {} }}", camel(what), number(of)?)
        }
        ["convert", from, to] => {
            format!("Convert {{ from: {}, to: {}, rounding: Rounding::ByName }}", number(from)?, number(to)?)
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

/// What only a package of Python does; `arg` finds a parameter.
pub(super) fn python_op(words: &[&str], arg: impl Fn(&str) -> Read<String>) -> Read<String> {
    Ok(match words {
        ["compiles", by @ ("jit" | "raw" | "reduce" | "host")] => format!("Compiles(Compiler::{})", capital(by)),
        ["compiles", by @ ("vectorize" | "guvectorize"), rest @ ..] => {
            format!("Compiles(Compiler::{} {{ for_cuda: {} }})", capital(by), rest == ["for-cuda"])
        }
        [one @ ("program" | "body" | "same" | "over" | "spaced" | "structure"), of] => {
            format!("{}({})", capital(one), arg(of)?)
        }
        ["kernel", of, name] => format!("Kernel {{ of: {}, name: {} }}", arg(of)?, arg(name)?),
        ["renders", program, into] => format!("Renders {{ program: {}, into: {} }}", arg(program)?, arg(into)?),
        ["offset", pointer, by] => format!("Offset {{ pointer: {}, by: {} }}", arg(pointer)?, arg(by)?),
        ["array-of", how @ ("copy" | "clone" | "same" | "rows" | "columns" | "required")] => {
            format!("ArrayOf(Making::{})", capital(how))
        }
        ["draws", size, rest @ ..] => {
            let size = if *size == "each" { "None".to_owned() } else { format!("Some({})", arg(size)?) };
            format!("Draws {{ size: {size}, whole: {} }}", rest == ["whole"])
        }
        ["elementwise", rest @ ..] => format!("Elementwise {{ float: {} }}", rest == ["float"]),
        ["looks", at @ ("something" | "truth" | "nothing")] => format!("Looks(Look::{})", capital(at)),
        ["hands", way @ ("in" | "out" | "in-out")] => format!("Hands(Transfer::{})", camel(way)),
        [
            "math",
            op @ ("sqrt" | "log2" | "log" | "exp2" | "exp" | "pow" | "fmod" | "rint" | "floor" | "ceil" | "trunc"
            | "abs" | "fabs" | "min" | "max" | "test" | "whole" | "other"),
        ] => format!("Math(MathOp::{})", capital(op)),
        [
            word @ ("range" | "diagonal" | "generator" | "joins" | "product" | "product-of-all" | "transposes"
            | "reshapes" | "ravels" | "dtype" | "view" | "fetches" | "config" | "launches" | "core-launches"
            | "nothing" | "yes"),
        ] => camel(word),
        _ => return Err(format!("`python {}` is not understood", words.join(" "))),
    })
}
