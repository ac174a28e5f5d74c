//! Names of kernels in the text of a program that is compiled at run time.

/// Whether a kernel of a program's text has another name in what it is compiled to: it stands there by this name, and neither
/// `extern "C"` nor a directive is anywhere.
pub(crate) fn is_mangled(source: &str, name: &str) -> bool {
    if source.contains('#') || source.contains("extern") {
        return false;
    }
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    source.match_indices(name).any(|(at, _)| {
        let (before, behind) = (&source[..at], &source[at + name.len()..]);
        let begins = before.rfind([';', '}', '{']).map_or(0, |at| at + 1);
        let declaration = &before[begins..];
        !before.ends_with(is_word)
            && behind.trim_start().starts_with('(')
            && declaration.split(|c| !is_word(c)).any(|word| word == "__global__")
            && !declaration.contains('(')
    })
}
