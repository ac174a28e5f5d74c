//! The only place that writes to standard output and standard error.

use cudalint_findings::plain::one_line;
use std::io::{ErrorKind, Write as _};

/// Writes text to standard output. A reader that has gone away is no error.
pub fn print(text: &str) -> Result<(), String> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(format!("standard output cannot be written: {error}"))
        }
        _ => Ok(()),
    }
}

/// Writes one line to standard error, whatever names and sources are in the text; nothing can be done where that fails.
pub fn message(kind: &str, text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "cudalint: {kind}: {}", one_line(text));
}
