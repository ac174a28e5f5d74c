//! Addresses of documents.

use std::path::PathBuf;

/// The file that an address names; none where it names no file of this machine.
pub fn path_of(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let slash = rest.find('/')?;
    let (host, path) = rest.split_at(slash);
    if !host.is_empty() && !host.eq_ignore_ascii_case("localhost") {
        return None;
    }
    let path = path.split(['?', '#']).next()?;
    let bytes = decoded(path);
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStringExt as _;
        Some(PathBuf::from(std::ffi::OsString::from_vec(bytes)))
    }
    #[cfg(not(unix))]
    {
        let text = String::from_utf8(bytes).ok()?;
        // `/c:/folder`: a drive stands at the root.
        Some(PathBuf::from(
            text.strip_prefix('/').filter(|text| text.as_bytes().get(1) == Some(&b':')).unwrap_or(&text),
        ))
    }
}

/// The address of a file whose path is written as output shows it.
pub fn of_path(path: &str) -> String {
    cudalint_findings::format::uri::whole(path, None)
}

/// Bytes for which `%` and two digits stand.
fn decoded(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|_| *first == b'%').and_then(|two| std::str::from_utf8(two).ok());
        match digits.and_then(|two| u8::from_str_radix(two, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    bytes
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn addresses_are_files_of_this_machine() {
        assert_eq!(path_of("file:///a/b%20c%C3%A9.cu").as_deref(), Some(Path::new("/a/b cé.cu")));
        assert_eq!(path_of("file://localhost/a%zz").as_deref(), Some(Path::new("/a%zz")));
        assert_eq!(path_of("file://other/a.cu"), None);
        assert_eq!(path_of("untitled:Untitled-1"), None);
        assert_eq!(of_path("/a/b c.cu"), "file:///a/b%20c.cu");
    }
}
