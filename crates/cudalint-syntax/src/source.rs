//! Bytes to text: refuses what is no source text and keeps every byte offset.

use std::fmt;
use std::sync::Arc;

/// Largest file that is read, in bytes.
pub const MAX_SOURCE_BYTES: usize = 100_000_000;

/// The text of one file. Byte offsets are those of the file on disk: a byte order mark becomes blanks, each byte that is
/// not UTF-8 becomes one `?`, and where lines end with a carriage return alone, they end with a line feed instead.
#[derive(Clone, Debug)]
pub struct SourceText {
    text: Arc<str>,
    lossy: bool,
}

/// Why a file's bytes are not taken as source text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceProblem {
    /// The file contains a NUL byte at this offset.
    Binary {
        /// Offset of the first NUL byte.
        offset: usize,
    },
    /// The file starts with a UTF-16 (or UTF-32) byte order mark.
    Utf16,
    /// The file is larger than [`MAX_SOURCE_BYTES`].
    TooLarge {
        /// Size of the file in bytes.
        bytes: usize,
    },
    /// The file is called a notebook and is none, for this reason.
    Notebook(String),
}

impl fmt::Display for SourceProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Binary { offset } => write!(f, "binary file: NUL byte at offset {offset}"),
            Self::Notebook(why) => write!(f, "no notebook: {why}"),
            Self::Utf16 => write!(f, "UTF-16 text is not supported; convert the file to UTF-8"),
            Self::TooLarge { bytes } => {
                write!(f, "file of {bytes} bytes is larger than the limit of {MAX_SOURCE_BYTES} bytes")
            }
        }
    }
}

impl std::error::Error for SourceProblem {}

impl SourceText {
    /// Takes the bytes of a file.
    pub fn from_bytes(mut bytes: Vec<u8>) -> Result<Self, SourceProblem> {
        if bytes.len() > MAX_SOURCE_BYTES {
            return Err(SourceProblem::TooLarge { bytes: bytes.len() });
        }
        if bytes.starts_with(&[0xFF, 0xFE])
            || bytes.starts_with(&[0xFE, 0xFF])
            || bytes.starts_with(&[0, 0, 0xFE, 0xFF])
        {
            return Err(SourceProblem::Utf16);
        }
        if let Some(offset) = memchr::memchr(0, &bytes) {
            return Err(SourceProblem::Binary { offset });
        }
        if memchr::memchr(b'\n', &bytes).is_none() {
            bytes.iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b'\n');
        }
        let (mut text, lossy) = match String::from_utf8(bytes) {
            Ok(text) => (text, false),
            Err(error) => (replace_invalid(&error.into_bytes()), true),
        };
        if text.starts_with('\u{FEFF}') {
            text.replace_range(..3, "   ");
        }
        Ok(Self { text: text.into(), lossy })
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text, shared.
    pub fn shared(&self) -> Arc<str> {
        Arc::clone(&self.text)
    }

    /// Whether bytes that are not UTF-8 were replaced.
    pub fn is_lossy(&self) -> bool {
        self.lossy
    }
}

impl From<&str> for SourceText {
    fn from(text: &str) -> Self {
        Self { text: text.into(), lossy: false }
    }
}

/// One `?` for each byte that belongs to no valid sequence, so that offsets stay.
fn replace_invalid(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(std::iter::repeat_n('?', chunk.invalid().len()));
    }
    text
}
