//! Headlines of records, and what they say: the XML's and the text's differ only in what follows.

use super::record::{Access, Category, Fault, Nearest, Side, Space};

/// What a headline is about. The XML says its kind beside, the text has the headline alone.
pub(super) fn category(headline: &str) -> Category {
    let line = without_level(headline).0;
    if let Some(rest) = line.strip_prefix("Program hit ") {
        return api_error(rest);
    }
    if let Some(rest) = line.strip_prefix("Leaked ") {
        return Category::Leak { bytes: first_number(rest).unwrap_or(0) };
    }
    if let Some(rest) = line.strip_prefix("Uninitialized ") {
        return Category::Uninitialized { access: access_in(rest), bytes: size_in(rest) };
    }
    if line.starts_with("Host API") {
        return Category::UninitializedCopy { bytes: size_in(line), error_address: None };
    }
    if line.trim_start().starts_with("Unused memory") {
        return Category::Unused;
    }
    if let Some(rest) = line.strip_prefix("Barrier error") {
        let problem = rest.trim_start_matches(" detected").trim_matches(['.', ' ', ':']).to_owned();
        return Category::Barrier { problem };
    }
    if let Some(rest) = line.strip_prefix("Malloc/Free ") {
        let problem = rest.rsplit(':').next().unwrap_or(rest).trim().to_owned();
        return Category::DeviceHeap { problem };
    }
    if line.starts_with("Use-") || line.starts_with("Free-before-") {
        let problem = line.split(" on ").next().unwrap_or(line).to_owned();
        return Category::StreamOrder { problem };
    }
    if line.starts_with("Race reported") || line.starts_with("Potential ") && line.contains(" hazard") {
        return Category::Race { accesses: Vec::new() };
    }
    if line.starts_with("Invalid __") || line.starts_with("Invalid ") && line.contains(" of size ") {
        return Category::InvalidAccess {
            space: space_in(line),
            access: access_in(line),
            bytes: size_in(line),
            fault: fault_in(line).unwrap_or(Fault::Other),
        };
    }
    if is_device_fault(line) {
        return Category::DeviceFault { problem: line.trim_end_matches('.').to_owned() };
    }
    Category::Other
}

/// A headline without the level before it, and whether the level is that of a warning.
pub(super) fn without_level(headline: &str) -> (&str, bool) {
    let (rest, warning) = match headline.strip_prefix("Warning: ") {
        Some(rest) => (rest, true),
        None => {
            let levels = ["Error: ", "Info: ", "Fatal: "];
            (levels.iter().find_map(|level| headline.strip_prefix(level)).unwrap_or(headline), false)
        }
    };
    (rest.strip_prefix("(Warp Level Programming) ").unwrap_or(rest), warning)
}

/// `cudaErrorInvalidValue (error 1) due to "invalid argument" on CUDA API call to cudaMemcpy.`
fn api_error(rest: &str) -> Category {
    let name = rest.split([' ', ',']).next().unwrap_or("").to_owned();
    let code = rest.split("(error ").nth(1).and_then(|text| text.split(')').next()).and_then(|text| text.parse().ok());
    let call = rest.rsplit(" call to ").next().filter(|call| call.len() < rest.len()).unwrap_or("");
    let function = call.trim().trim_end_matches('.').to_owned();
    Category::ApiError { function, code, name }
}

fn is_device_fault(line: &str) -> bool {
    let beginnings = [
        "Warp ",
        "Lane ",
        "Stack overflow",
        "Hardware ",
        "User stack",
        "Illegal instruction",
        "Out-of-range",
        "Misaligned ",
        "Invalid Address",
        "Device illegal",
        "Trace/breakpoint",
        "Cluster ",
        "Internal error",
    ];
    beginnings.iter().any(|beginning| line.starts_with(beginning))
}

/// The space that a headline or an element names.
pub(super) fn space_in(text: &str) -> Space {
    let spaces = [
        ("remote_shared", Space::RemoteShared),
        ("remote shared", Space::RemoteShared),
        ("shared", Space::Shared),
        ("global", Space::Global),
        ("local", Space::Local),
    ];
    spaces.iter().find(|(word, _)| text.contains(word)).map_or(Space::Other, |(_, space)| *space)
}

/// The access that a headline or an element names.
pub(super) fn access_in(text: &str) -> Access {
    let text = text.to_ascii_lowercase();
    let kinds =
        [("atomic", Access::Atomic), ("reduction", Access::Atomic), ("read", Access::Read), ("write", Access::Write)];
    kinds.iter().find(|(word, _)| text.contains(word)).map_or(Access::Other, |(_, access)| *access)
}

/// The reason that a line or an element names.
pub(super) fn fault_in(text: &str) -> Option<Fault> {
    if text.contains("misaligned") {
        Some(Fault::Misaligned)
    } else if text.contains("before it is allocated") || text.contains("free'd") || text.contains("freed") {
        Some(Fault::Lifetime)
    } else if text.contains("out of bounds") {
        Some(Fault::OutOfBounds)
    } else {
        None
    }
}

/// `… of size 4 bytes`.
fn size_in(text: &str) -> u64 {
    text.split(" of size ").nth(1).and_then(first_number).unwrap_or(0)
}

/// The first number of a text, in which the tool may part thousands by what the locale has.
pub(super) fn first_number(text: &str) -> Option<u64> {
    let start = text.find(|letter: char| letter.is_ascii_digit())?;
    let mut value: u64 = 0;
    let mut letters = text.get(start..)?.chars().peekable();
    while let Some(letter) = letters.next() {
        if let Some(digit) = letter.to_digit(10) {
            value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
        } else if !(matches!(letter, ',' | '.' | '\'' | '\u{a0}' | '\u{202f}')
            && letters.peek().is_some_and(char::is_ascii_digit))
        {
            break;
        }
    }
    Some(value)
}

/// An address with or without `0x`.
pub(super) fn address(text: &str) -> Option<u64> {
    let text = text.trim();
    match text.strip_prefix("0x") {
        Some(hex) => {
            let end = hex.find(|letter: char| !letter.is_ascii_hexdigit()).unwrap_or(hex.len());
            u64::from_str_radix(hex.get(..end)?, 16).ok()
        }
        None => text.parse().ok(),
    }
}

/// `and is 1 bytes after the nearest allocation at 0x7fd2ca800000 of size 4,000 bytes`.
pub(super) fn nearest(line: &str) -> Option<Nearest> {
    let (before, behind) = line.split_once("nearest allocation at ")?;
    let side = if before.contains("bytes before") {
        Side::Before
    } else if before.contains("inside") {
        Side::Inside
    } else {
        Side::After
    };
    Some(Nearest {
        base: address(behind)?,
        bytes: size_in(behind),
        side,
        distance: if side == Side::Inside { 0 } else { first_number(before)? },
    })
}
