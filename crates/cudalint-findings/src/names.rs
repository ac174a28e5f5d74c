//! Paths as text that loses nothing: a byte of a name that is no UTF-8 is a character of its own, beyond all that are written, so
//! that two such names differ and lead back to their files. Who shows text shows that character as U+FFFD
//! ([`crate::plain`]), who writes an address the byte itself.

use std::path::{Path, PathBuf};

/// What a byte's value is added to: the bytes 80 to FF are U+10FE80 to U+10FEFF, for private use.
const FIRST: u32 = 0x0010_FE00;

/// The byte that a character stands for.
pub(crate) fn byte(c: char) -> Option<u8> {
    u8::try_from(u32::from(c).checked_sub(FIRST)?).ok().filter(|byte| *byte >= 0x80)
}

#[cfg(unix)]
fn stand_in(byte: u8) -> char {
    char::from_u32(FIRST + u32::from(byte)).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// A path as text.
#[cfg(unix)]
pub fn text(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt as _;
    let bytes = path.as_os_str().as_bytes();
    let mut out = String::with_capacity(bytes.len());
    for part in bytes.utf8_chunks() {
        for c in part.valid().chars() {
            // A name that has such a character is told by its bytes, too.
            match byte(c) {
                Some(_) => out.extend(c.encode_utf8(&mut [0; 4]).bytes().map(stand_in)),
                None => out.push(c),
            }
        }
        out.extend(part.invalid().iter().copied().map(stand_in));
    }
    out
}

/// A path as text.
#[cfg(not(unix))]
pub fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// The bytes of a name.
pub(crate) fn bytes(text: &str) -> impl Iterator<Item = u8> + '_ {
    text.chars().flat_map(|c| {
        let mut buffer = [0; 4];
        let length = match byte(c) {
            Some(byte) => {
                buffer[0] = byte;
                1
            }
            None => c.encode_utf8(&mut buffer).len(),
        };
        buffer.into_iter().take(length)
    })
}

/// The path that a text stands for.
pub fn path(text: &str) -> PathBuf {
    #[cfg(unix)]
    if text.chars().any(|c| byte(c).is_some()) {
        use std::os::unix::ffi::OsStringExt as _;
        return std::ffi::OsString::from_vec(bytes(text).collect()).into();
    }
    PathBuf::from(text)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt as _;

    #[test]
    fn names_of_any_bytes_lead_back_to_their_files() {
        for name in ["a.cu", "größe.cu", "\u{10fe80}.cu", "\u{fffd}.cu"] {
            assert_eq!(path(&text(Path::new(name))), Path::new(name));
        }
        let names = [&b"b\xff.cu"[..], b"b\xfe.cu", b"\xe4\xf6/\xc3.cu"]
            .map(|name| Path::new(std::ffi::OsStr::from_bytes(name)));
        for name in names {
            assert_eq!(path(&text(name)), name);
        }
        assert_ne!(text(names[0]), text(names[1]));
    }
}
