//! A program's output: the first part is kept, the rest read and thrown away.

use std::io::{Read, Write};

/// Copies what a program writes into a file, to so many bytes, and reads on when the file is full, so that the program
/// does not stop at a full pipe. Gives what went wrong with the file.
pub(super) fn keep_output(mut from: impl Read, to: &camino::Utf8Path, bytes: u64) -> Option<String> {
    let (mut file, mut problem) = match std::fs::File::create(to) {
        Ok(file) => (Some(file), None),
        Err(error) => (None, Some(format!("{to}: {error}"))),
    };
    let mut left = bytes;
    let mut buffer = vec![0u8; 1 << 16];
    loop {
        let length = match from.read(&mut buffer) {
            Ok(0) => return problem,
            Ok(length) => length,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) => return problem,
        };
        let kept = buffer.get(..length.min(usize::try_from(left).unwrap_or(usize::MAX))).unwrap_or_default();
        left -= kept.len() as u64;
        if let Some(open) = &mut file
            && !kept.is_empty()
            && let Err(error) = open.write_all(kept)
        {
            problem = Some(format!("{to}: {error}"));
            file = None;
        }
    }
}
