//! What memory holds while work is delayed, against what it holds with a wait.

use crate::experiment::Judgement;
use crate::lab::Bench;
use crate::probe;
use crate::tools::probe_log::Early;
use cudalint_findings::model::Verdict;
use std::fmt::Write as _;

/// Most bytes of memory that are read from a run.
const MOST: u64 = 132 << 20;

/// The memory of a program at the end of what is compared, a piece an allocation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Left {
    pieces: Vec<Vec<u8>>,
}

/// What the host reads: other bytes than behind a wait.
pub(super) fn read(told: &Early, name: &str) -> Option<String> {
    let seen = &told.seen;
    (seen.changed > 0).then(|| {
        format!(
            "`{name}` holds {} there at byte {}, and {} once the work is done ({} of {} bytes change)",
            seen.was, seen.from, seen.is, seen.changed, seen.bytes
        )
    })
}

/// Memory that was freed and has another owner, into which the work writes.
pub(super) fn owned(told: &Early, name: &str) -> Option<String> {
    let seen = &told.seen;
    (seen.same && seen.late && seen.changed > 0).then(|| {
        format!(
            "the next allocation in the stream of the free gets the memory of `{name}`, and the work changes {} of {} bytes that its new owner has written there, from byte {} on",
            seen.changed, seen.bytes, seen.first
        )
    })
}

/// What a run has left.
pub fn left(bench: &Bench<'_>, label: &str) -> Result<Left, Judgement> {
    let path = probe::memory(bench, label);
    let unviable = |reason: String| Judgement::without_run(Verdict::Unviable, reason);
    let size = std::fs::metadata(&path).map_err(|error| unviable(format!("{path}: {error}")))?.len();
    if size > MOST {
        return Err(unviable("the program has too much memory to compare it".to_owned()));
    }
    let bytes = std::fs::read(&path).map_err(|error| unviable(format!("{path}: {error}")))?;
    drop(std::fs::remove_file(&path));
    parse(&bytes).ok_or_else(|| unviable("the memory of a run was not written to its end".to_owned()))
}

/// Pieces, each behind its size in 8 bytes.
fn parse(mut bytes: &[u8]) -> Option<Left> {
    let mut pieces = Vec::new();
    while !bytes.is_empty() {
        let (size, rest) = bytes.split_first_chunk::<8>()?;
        let size = usize::try_from(u64::from_le_bytes(*size)).ok()?;
        if size > rest.len() {
            return None;
        }
        let (piece, rest) = rest.split_at(size);
        pieces.push(piece.to_vec());
        bytes = rest;
    }
    Some(Left { pieces })
}

/// In what a run differs from one that goes as it is meant, as far as two of these are the same; `how` these go.
pub fn different(early: &Left, waits: &Left, again: &Left, how: &str) -> Option<String> {
    if early.pieces.len() != waits.pieces.len() || waits.pieces.len() != again.pieces.len() {
        return None;
    }
    let all = early.pieces.iter().zip(&waits.pieces).zip(&again.pieces);
    for ((early, waits), again) in all {
        if early.len() != waits.len() || waits.len() != again.len() {
            continue;
        }
        let bytes = early.iter().zip(waits).zip(again).enumerate();
        let mut differ = bytes.filter(|(_, ((early, waits), again))| waits == again && early != waits);
        if let Some((first, _)) = differ.next() {
            let from = first / 4 * 4;
            return Some(format!(
                "{} of {} bytes of an allocation are others than {how}: at byte {from} it holds {}, and {} {how}",
                1 + differ.count(),
                early.len(),
                hexadecimal(early, from),
                hexadecimal(waits, from),
            ));
        }
    }
    None
}

/// Up to 8 bytes.
fn hexadecimal(bytes: &[u8], from: usize) -> String {
    bytes.iter().skip(from).take(8).fold(String::new(), |mut text, byte| {
        _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::{Left, different, parse};

    fn left(pieces: &[&[u8]]) -> Left {
        Left { pieces: pieces.iter().map(|piece| piece.to_vec()).collect() }
    }

    #[test]
    fn pieces_are_read_as_they_were_written() {
        let mut bytes = Vec::new();
        for piece in [&[1_u8, 2][..], &[], &[3]] {
            bytes.extend((piece.len() as u64).to_le_bytes());
            bytes.extend(piece);
        }
        assert_eq!(parse(&bytes).unwrap(), left(&[&[1, 2], &[], &[3]]));
        assert_eq!(parse(&bytes[..bytes.len() - 1]), None);
    }

    #[test]
    fn what_changes_by_itself_does_not_count() {
        let (early, waits) = (left(&[&[1, 2, 3, 4, 5, 6, 7, 8]]), left(&[&[1, 2, 3, 4, 9, 6, 7, 8]]));
        let other = left(&[&[1, 2, 3, 4, 5, 6, 7, 8]]);
        assert!(different(&early, &waits, &waits, "so").unwrap().starts_with("1 of 8 bytes"));
        assert_eq!(different(&early, &waits, &other, "so"), None);
        assert_eq!(different(&early, &early, &early, "so"), None);
        assert_eq!(different(&early, &left(&[]), &left(&[]), "so"), None);
    }
}
