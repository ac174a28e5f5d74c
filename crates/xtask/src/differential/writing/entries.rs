//! The entries of `features.txt` and `uses.txt`: what programs are made of.

/// One feature of a language, or one use of CUDA.
#[derive(Debug, Default)]
pub struct Entry {
    pub name: &'static str,
    /// Lines of a second file.
    pub module: Vec<&'static str>,
    /// Declarations at namespace scope.
    pub global: Vec<&'static str>,
    /// Statements.
    pub local: Vec<&'static str>,
    /// An expression; none of a use.
    pub value: Option<&'static str>,
}

/// What host programs are made of.
pub struct Parts {
    /// Ways to compute a number.
    pub features: Vec<Entry>,
    /// Ways to hand numbers to CUDA.
    pub uses: Vec<Entry>,
}

/// Where the lines that are read belong.
#[derive(Clone, Copy)]
enum Part {
    Module,
    Global,
    Local,
}

/// Reads entries in the form that `host/features.txt` explains.
///
/// # Errors
/// When a line is neither a heading nor code.
pub fn read(text: &'static str) -> Result<Vec<Entry>, String> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut part = Part::Local;
    for line in text.lines().filter(|line| !line.starts_with("# ") && *line != "#" && !line.is_empty()) {
        if let Some(name) = line.strip_prefix("== ") {
            entries.push(Entry { name, ..Entry::default() });
            continue;
        }
        let entry = entries.last_mut().ok_or_else(|| format!("`{line}` stands before the first entry"))?;
        match line {
            "module:" => part = Part::Module,
            "global:" => part = Part::Global,
            "local:" => part = Part::Local,
            _ => match (line.strip_prefix("value: "), line.strip_prefix("    ")) {
                (Some(value), _) => entry.value = Some(value),
                (None, Some(code)) => match part {
                    Part::Module => entry.module.push(code),
                    Part::Global => entry.global.push(code),
                    Part::Local => entry.local.push(code),
                },
                _ => return Err(format!("{}: `{line}` is neither a heading nor indented code", entry.name)),
            },
        }
    }
    Ok(entries)
}
