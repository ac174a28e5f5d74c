//! The entries of `features.txt` and `uses.txt`: what host programs are made of.

/// One feature of C++, or one use of CUDA.
#[derive(Debug, Default)]
pub struct Entry {
    pub name: &'static str,
    /// Declarations at namespace scope.
    pub global: Vec<&'static str>,
    /// Statements.
    pub local: Vec<&'static str>,
    /// An expression; none of a use.
    pub value: Option<&'static str>,
}

/// Ways to compute a number.
pub fn features() -> Result<Vec<Entry>, String> {
    read(include_str!("features.txt"))
}

/// Ways to hand numbers to CUDA.
pub fn uses() -> Result<Vec<Entry>, String> {
    read(include_str!("uses.txt"))
}

/// Reads entries in the form that `features.txt` explains.
///
/// # Errors
/// When a line is neither a heading nor code.
pub fn read(text: &'static str) -> Result<Vec<Entry>, String> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut into_global = false;
    for line in text.lines().filter(|line| !line.starts_with("# ") && *line != "#" && !line.is_empty()) {
        if let Some(name) = line.strip_prefix("== ") {
            entries.push(Entry { name, ..Entry::default() });
            continue;
        }
        let entry = entries.last_mut().ok_or_else(|| format!("`{line}` stands before the first entry"))?;
        match line {
            "global:" => into_global = true,
            "local:" => into_global = false,
            _ => match (line.strip_prefix("value: "), line.strip_prefix("    ")) {
                (Some(value), _) => entry.value = Some(value),
                (None, Some(code)) if into_global => entry.global.push(code),
                (None, Some(code)) => entry.local.push(code),
                _ => return Err(format!("{}: `{line}` is neither a heading nor indented code", entry.name)),
            },
        }
    }
    Ok(entries)
}
