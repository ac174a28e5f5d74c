//! Identity of a finding across edits: the same for the same defect after unrelated edits above it, different for two
//! defects of one rule in one function.
//!
//! A fingerprint is the 128-bit FNV-1a hash, in 32 hexadecimal digits, of these parts, each followed by a zero byte:
//! the rule's name, the path as given, the function's name, the flagged text with every run of white space as one
//! blank, and the ordinal (decimal, from 0) among the findings that agree in all of that, in the order of the file. No
//! line, column or message is part of it. The hash is written out here so that it never changes with a toolchain, a
//! platform or a dependency.

use crate::finding::Finding;
use crate::sources::Sources;
use std::collections::HashMap;

/// Offset basis of 128-bit FNV.
const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
/// Prime of 128-bit FNV.
const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

/// 128-bit FNV-1a.
fn fnv1a(bytes: impl Iterator<Item = u8>) -> u128 {
    bytes.fold(BASIS, |hash, byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME))
}

/// The flagged text with every run of white space as one blank.
fn normalized(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// The hash of the named parts.
fn fingerprint(parts: [&str; 4], ordinal: usize) -> String {
    let ordinal = ordinal.to_string();
    let bytes = parts.into_iter().chain([ordinal.as_str()]).flat_map(|part| part.bytes().chain([0]));
    format!("{:032x}", fnv1a(bytes))
}

/// What a finding is, whatever file it is in and however many others are like it: the hash of its rule, its function and
/// the flagged text. It stays the same when lines come and go around it, and when its function moves.
pub fn content(finding: &Finding, sources: &Sources) -> String {
    let text = normalized(sources.slice(&finding.place));
    let parts = ["content", finding.rule.name, finding.function.as_str(), text.as_str()];
    format!("{:032x}", fnv1a(parts.into_iter().flat_map(|part| part.bytes().chain([0]))))
}

/// The identity of what is incomplete in a file, for formats that want one.
pub(crate) fn identity(path: &str, reason: &str) -> String {
    fingerprint(["incomplete", path, "", reason], 0)
}

/// Gives every finding without a fingerprint its own. The findings must be sorted ([`crate::report::sort`]) and
/// complete as far as each function goes, since equal texts are told apart by their order.
pub fn fill(findings: &mut [Finding], sources: &Sources) {
    let mut seen: HashMap<u128, usize> = HashMap::new();
    for finding in findings {
        if !finding.fingerprint.is_empty() {
            continue;
        }
        let text = normalized(sources.slice(&finding.place));
        let parts = [finding.rule.name, &*finding.place.path, finding.function.as_str(), text.as_str()];
        let key = fnv1a(parts.into_iter().flat_map(|part| part.bytes().chain([0])));
        let ordinal = seen.entry(key).or_insert(0);
        finding.fingerprint = fingerprint(parts, *ordinal);
        *ordinal += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_hashes() {
        // From the FNV reference: the empty text and "a".
        assert_eq!(fnv1a([].into_iter()), BASIS);
        assert_eq!(fnv1a(b"a".iter().copied()), 0xd228_cb69_6f1a_8caf_7891_2b70_4e4a_8964);
    }

    #[test]
    fn white_space_is_one_blank() {
        assert_eq!(normalized("  f( a,\r\n\t b ) "), "f( a, b )");
        assert_eq!(normalized(" \n"), "");
    }

    #[test]
    fn parts_do_not_run_together() {
        assert_ne!(fingerprint(["ab", "c", "", ""], 0), fingerprint(["a", "bc", "", ""], 0));
        assert_ne!(fingerprint(["a", "b", "c", "d"], 0), fingerprint(["a", "b", "c", "d"], 1));
    }
}
