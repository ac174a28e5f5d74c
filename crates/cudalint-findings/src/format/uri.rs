//! Paths as URIs.

use std::fmt::Write;

/// A path with everything percent-encoded that is not a letter, digit, `/` or one of `-._~`; of a
/// name that is no UTF-8, its bytes.
fn encode(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in crate::names::bytes(path) {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// The `file` URI of an absolute path: one that starts with `/` or with a drive.
fn absolute(path: &str) -> Option<String> {
    match path.as_bytes() {
        [b'/', ..] => Some(format!("file://{}", encode(path))),
        [drive, b':', b'/', ..] if drive.is_ascii_alphabetic() => {
            Some(format!("file:///{}:{}", char::from(*drive), encode(path.get(2..).unwrap_or(""))))
        }
        _ => None,
    }
}

/// A path as given on the command line, as a URI reference, and whether it is relative. `./` in front is dropped.
pub(super) fn reference(path: &str) -> (String, bool) {
    match absolute(path) {
        Some(uri) => (uri, false),
        None => (encode(without_dot(path)), true),
    }
}

/// A path as a whole URI below a root folder; a reference when there is no root.
pub fn whole(path: &str, root: Option<&str>) -> String {
    let (reference, relative) = reference(path);
    match root.filter(|_| relative).and_then(|root| absolute(&format!("{}/", root.trim_end_matches('/')))) {
        Some(root) => resolve(&root, &reference),
        None => reference,
    }
}

/// A relative reference below a folder's URI, with leading `..` taken off the folder.
fn resolve(root: &str, reference: &str) -> String {
    let mut root = root.trim_end_matches('/');
    let mut rest = reference;
    while let Some(up) = rest.strip_prefix("../") {
        rest = up;
        if let Some((parent, _)) = root.rsplit_once('/').filter(|(parent, _)| parent.len() > "file:/".len()) {
            root = parent;
        }
    }
    format!("{root}/{rest}")
}

/// A path without `./` in front.
pub(super) fn without_dot(path: &str) -> &str {
    let mut path = path;
    while let Some(rest) = path.strip_prefix("./") {
        path = rest.trim_start_matches('/');
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references() {
        assert_eq!(reference("./src/a b.cu"), ("src/a%20b.cu".into(), true));
        assert_eq!(reference("src/é#1.cu"), ("src/%C3%A9%231.cu".into(), true));
        assert_eq!(reference("/x/a.cu"), ("file:///x/a.cu".into(), false));
        assert_eq!(reference("C:/x/a.cu"), ("file:///C:/x/a.cu".into(), false));
        assert_eq!(reference("a:b.cu"), ("a%3Ab.cu".into(), true), "a colon must not make a scheme");
    }

    #[test]
    fn whole_addresses() {
        assert_eq!(whole("a.cu", Some("/home/me/project/")), "file:///home/me/project/a.cu");
        assert_eq!(whole("../a.cu", Some("/home/me")), "file:///home/a.cu");
        assert_eq!(whole("../../../a.cu", Some("/home")), "file:///a.cu");
        assert_eq!(whole("/a.cu", Some("/home")), "file:///a.cu");
        assert_eq!(whole("a.cu", None), "a.cu");
    }
}
