//! The catalogue of functions: from the files that people edit to the table that the program is built with. The format
//! is described in `docs/adding-an-api.md`.

mod row;
mod vocabulary;

use row::Row;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::path::Path;
use std::{fs, io};
use vocabulary::{Read, braces, flag, returned, rounding, side, version};

/// Slots of the hash table; a power of two, at least three times the names: most names that are looked up are in no library, which
/// the first slot or two should tell.
const SLOTS: usize = 32768;

/// Letters in a line of the table.
const WIDTH: usize = 130;

/// What a file says until it says otherwise.
#[derive(Clone, Default)]
struct Defaults {
    library: String,
    section: String,
    returns: String,
    side: String,
    flags: Vec<&'static str>,
    since: (u8, u8),
    /// Packages that all have what follows, each with its library; their functions are written with a dot in front.
    packages: Vec<(String, String)>,
}

/// The table as it grows.
#[derive(Default)]
struct Table {
    /// Rows as Rust, with their numbers.
    rows: BTreeMap<String, usize>,
    order: Vec<String>,
    /// First spellings with their rows.
    functions: Vec<(String, usize)>,
    /// Other spellings with their functions.
    aliases: Vec<(String, usize)>,
    families: Vec<(String, usize)>,
    known: HashMap<String, String>,
    /// Constants: name, type, value.
    constants: Vec<(String, String, i64)>,
    /// Types of statuses.
    statuses: Vec<String>,
    /// Plain structures.
    records: Vec<String>,
    /// Functions as they are written, by their first spelling: what stands around, their parameters, what they do.
    written: HashMap<String, (Defaults, String, String)>,
    /// Functions that do what others do by another name: the name, the other, what stands around.
    like: Vec<(String, String, Defaults)>,
}

/// The tables as Rust, from the files of the folder `catalogue`.
///
/// # Errors
/// When a file cannot be read or a line of it not be understood.
pub fn table(folder: &Path) -> io::Result<String> {
    let mut files: Vec<_> = fs::read_dir(folder)?.map(|entry| entry.map(|it| it.path())).collect::<Result<_, _>>()?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "txt"));
    files.sort();
    let mut table = Table::default();
    for file in files {
        let text = fs::read_to_string(&file)?;
        read(&text, &mut table).map_err(|(line, error)| {
            io::Error::other(format!(
                "{}, line {line}: {error}",
                file.file_name().unwrap_or_default().to_string_lossy()
            ))
        })?;
    }
    twins(&mut table).map_err(io::Error::other)?;
    Ok(table.rust())
}

/// Functions that do what those of another library do: they return their own library's statuses, and end when it says so.
fn twins(table: &mut Table) -> Read<()> {
    for (name, like, around) in std::mem::take(&mut table.like) {
        let Some((defaults, params, clauses)) = table.written.get(&like).cloned() else {
            return Err(format!("`{name}` is like `{like}`, which is not there"));
        };
        let clauses: Vec<&str> = clauses
            .split("; ")
            .filter(|clause| !clause.starts_with("until ") && !["host", "both", "device"].contains(clause))
            .collect();
        let defaults = Defaults {
            library: around.library,
            returns: around.returns,
            side: around.side,
            since: around.since,
            packages: Vec::new(),
            ..defaults
        };
        functions(&name, &params, &clauses.join("; "), &defaults, table)?;
    }
    Ok(())
}

/// Reads one file; an error comes with the number of its line.
fn read(text: &str, table: &mut Table) -> Result<(), (usize, String)> {
    let mut defaults = Defaults { returns: "Other".to_owned(), side: "Open".to_owned(), ..Defaults::default() };
    let mut lines: Vec<(usize, String)> = Vec::new();
    // Whether a line may go on: not behind an empty one, and no setting of one value does.
    let mut open = false;
    for (number, line) in text.lines().enumerate() {
        let content = line.split('#').next().unwrap_or("").trim_end();
        if content.is_empty() {
            open &= !line.trim().is_empty();
            continue;
        }
        if !content.starts_with(' ') {
            open = !["@library", "@section", "@returns", "@side", "@since"].iter().any(|one| content.starts_with(one));
            lines.push((number + 1, content.to_owned()));
            continue;
        }
        let Some((_, before)) = lines.last_mut().filter(|_| open) else {
            return Err((number + 1, "an indented line goes on with the line above it, and there is none".to_owned()));
        };
        before.push(' ');
        before.push_str(content.trim_start());
    }
    for (number, line) in lines {
        entry(&line, &mut defaults, table).map_err(|error| (number, error))?;
    }
    Ok(())
}

/// A setting for what follows, or functions with what they do.
fn entry(line: &str, defaults: &mut Defaults, table: &mut Table) -> Read<()> {
    if line.starts_with('@') {
        let (setting, value) = line.split_once(' ').unwrap_or((line, ""));
        let value = value.trim();
        match setting {
            "@library" => *defaults = Defaults { library: value.to_owned(), ..fresh() },
            "@section" => value.clone_into(&mut defaults.section),
            "@returns" => defaults.returns = returned(value)?,
            "@side" => defaults.side = side(value)?,
            "@packages" => {
                let pairs = value.split_whitespace().map(|word| word.split_once('='));
                let pairs = pairs.map(|pair| pair.map(|(library, path)| (library.to_owned(), path.to_owned())));
                defaults.packages = pairs.collect::<Option<_>>().ok_or("a package is written `LIBRARY=path`")?;
            }
            "@since" => defaults.since = version(value)?,
            "@like" => {
                let (from, names) = value.split_once(' ').ok_or("a beginning and names are missing")?;
                let (own, other) = from.split_once('=').ok_or("beginnings are written `OWN=OTHER`")?;
                table.like.extend(
                    names
                        .split_whitespace()
                        .map(|rest| (format!("{own}{rest}"), format!("{other}{rest}"), defaults.clone())),
                );
            }
            "@constants" => return table.constants(value),
            "@records" => table.records.extend(value.split_whitespace().map(ToOwned::to_owned)),
            "@statuses" => table.statuses.extend(value.split_whitespace().map(ToOwned::to_owned)),
            "@all" => defaults.flags = value.split_whitespace().map(flag).collect::<Read<_>>()?,
            _ => return Err(format!("no setting is called `{setting}`")),
        }
        return Ok(());
    }
    let (head, clauses) = line.split_once(": ").unwrap_or((line, ""));
    let (names, params) = match head.split_once('(') {
        Some((names, params)) => (names, params.trim_end().trim_end_matches(')')),
        None => (head, ""),
    };
    if !head.starts_with('.') {
        return functions(names, params, clauses, defaults, table);
    }
    for (library, path) in &defaults.packages {
        let defaults = Defaults { library: library.clone(), ..defaults.clone() };
        let names: Vec<String> = names
            .split_whitespace()
            .map(|name| if name.starts_with('.') { format!("{path}{name}") } else { name.to_owned() })
            .collect();
        functions(&names.join(" "), params, clauses, &defaults, table)?;
    }
    Ok(())
}

/// Functions of one library with what they do.
fn functions(names: &str, params: &str, clauses: &str, defaults: &Defaults, table: &mut Table) -> Read<()> {
    let mut row = Row { params: Vec::new(), outs: 0, ..Row::new(defaults) };
    for (at, param) in params.split(',').map(str::trim).filter(|param| !param.is_empty()).enumerate() {
        if param.starts_with('&') {
            row.outs |= 1 << at.min(15);
        }
        row.params.push(param.trim_start_matches('&').to_owned());
    }
    for clause in clauses.split(';').map(str::trim).filter(|clause| !clause.is_empty()) {
        row.clause(clause)?;
    }
    for name in names.split_whitespace() {
        let name = name.split('@').next().unwrap_or(name).to_owned();
        table.written.insert(name, (defaults.clone(), params.to_owned(), clauses.to_owned()));
    }
    let mut words = names.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let (name, since) = match word.split_once('@') {
            Some((name, since)) => (name, Some(version(since)?)),
            None => (word, None),
        };
        let row = Row { since: since.unwrap_or(row.since), ..row.clone() };
        let mut id = 0;
        for name in braces(name) {
            id = table.function(&name, &row.rust().replace("Rounding::ByName", rounding(&name)))?;
        }
        while words.peek() == Some(&"=") {
            words.next();
            let alias = words.next().ok_or("a spelling is missing behind `=`")?;
            table.alias(alias, id)?;
        }
    }
    Ok(())
}

fn fresh() -> Defaults {
    Defaults { returns: "Other".to_owned(), side: "Open".to_owned(), ..Defaults::default() }
}

impl Table {
    /// `TYPE NAME=VALUE NAME=VALUE …`.
    fn constants(&mut self, words: &str) -> Read<()> {
        let mut words = words.split_whitespace();
        let ty = words.next().ok_or("a type is missing")?;
        for word in words {
            let (name, value) = word.split_once('=').ok_or_else(|| format!("`{word}` has no value"))?;
            let value = value.parse().map_err(|_| format!("`{value}` is no number"))?;
            self.constants.push((name.to_owned(), ty.to_owned(), value));
        }
        Ok(())
    }

    fn row(&mut self, rust: &str) -> usize {
        if let Some(number) = self.rows.get(rust) {
            return *number;
        }
        self.order.push(rust.to_owned());
        self.rows.insert(rust.to_owned(), self.order.len() - 1);
        self.order.len() - 1
    }

    /// Takes note of a spelling, which means one function alone.
    fn spell(&mut self, name: &str, of: &str) -> Read<()> {
        match self.known.insert(name.to_owned(), of.to_owned()) {
            Some(before) => Err(format!("`{name}` stands twice: it is a spelling of `{before}` already")),
            None => Ok(()),
        }
    }

    fn function(&mut self, name: &str, row: &str) -> Read<usize> {
        self.spell(name, name)?;
        let row = self.row(row);
        self.functions.push((name.to_owned(), row));
        let id = self.functions.len() - 1;
        if let Some(start) = name.strip_suffix('*') {
            self.families.push((start.to_owned(), id));
        }
        Ok(id)
    }

    fn alias(&mut self, name: &str, id: usize) -> Read<()> {
        let of = self.functions.get(id).map(|(name, _)| name.clone()).unwrap_or_default();
        self.spell(name, &of)?;
        self.aliases.push((name.to_owned(), id));
        Ok(())
    }

    fn rust(&self) -> String {
        let mut text = String::from("// The tables of the catalogue, made of `catalogue/*.txt`.\n");
        let names = self.functions.len() + self.aliases.len();
        let _ = write!(
            text,
            "\npub(super) const FUNCTIONS: usize = {};\npub(super) static SLOTS: [u16; {SLOTS}] = slots(&NAMES);\n\npub(super) static ROWS: [Function; {}] = [\n",
            self.functions.len(),
            self.order.len()
        );
        for row in &self.order {
            let _ = writeln!(text, "    {row},");
        }
        let _ = write!(text, "];\n\npub(super) static NAMES: [(&str, u16); {names}] = [\n");
        let aliases = self.aliases.iter().map(|(name, id)| (name, self.functions[*id].1));
        let names = self.functions.iter().map(|(name, row)| (name, *row)).chain(aliases);
        lines(&mut text, names.map(|(name, row)| format!("({name:?}, {row})")));
        let _ = write!(text, "];\n\npub(super) static ALIASES: [u16; {}] = [", self.aliases.len());
        text.push('\n');
        lines(&mut text, self.aliases.iter().map(|(_, id)| id.to_string()));
        let _ = write!(text, "];\n\npub(super) static FAMILIES: [(&str, u16); {}] = [\n", self.families.len());
        for (start, id) in &self.families {
            let _ = writeln!(text, "    ({start:?}, {id}),");
        }
        let _ = write!(text, "];\n\npub(super) static CONSTANTS: [(&str, Constant); {}] = [\n", self.constants.len());
        for (name, ty, value) in &self.constants {
            let _ = writeln!(text, "    ({name:?}, Constant {{ ty: {ty:?}, value: {value} }}),");
        }
        text.push_str("];\n");
        for (list, words) in [("STATUS_TYPES", &self.statuses), ("RECORDS", &self.records)] {
            let words: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
            let _ = write!(text, "\npub(super) static {list}: [&str; {}] = [{}];\n", words.len(), words.join(", "));
        }
        text
    }
}

/// Elements of an array, as many in a line as fit.
fn lines(text: &mut String, elements: impl Iterator<Item = String>) {
    let mut line = String::new();
    for element in elements {
        if line.len() + element.len() > WIDTH {
            let _ = writeln!(text, "   {line}");
            line.clear();
        }
        let _ = write!(line, " {element},");
    }
    let _ = writeln!(text, "   {line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<String, (usize, String)> {
        let mut table = Table::default();
        read(text, &mut table).map(|()| table.rust())
    }

    #[test]
    fn an_entry_becomes_a_row() {
        let text = "@library Runtime\n@returns status cudaError_t\n@section Memory\n\
                    mine = mine_v2 (&out, size): allocates device out size;\n  core; host\nother@12.3\n\
                    old: until 13.0 mine\nolder: until sm_70\n";
        let rust = read_text(text).unwrap_or_else(|(line, error)| format!("{line}: {error}"));
        assert!(rust.contains("Allocates { space: Space::Device, out: Arg(0), size: Size::Bytes(Arg(1))"), "{rust}");
        assert!(rust.contains("outs: 1"), "{rust}");
        assert!(rust.contains("since: (12, 3)"), "{rust}");
        assert!(rust.contains("until: Some(Until { end: End::Toolkit(13, 0), instead: \"mine\" })"), "{rust}");
        assert!(rust.contains("until: Some(Until { end: End::Architecture(70), instead: \"\" })"), "{rust}");
        assert!(rust.contains("(\"mine_v2\", 0)"), "{rust}");
    }

    #[test]
    fn what_is_not_understood_is_told_with_its_line() {
        let told = |text: &str| read_text(text).err().map(|(line, error)| format!("{line}: {error}"));
        assert_eq!(told("@library C\nf (p): frees q").as_deref(), Some("2: no parameter is called `q`"));
        assert_eq!(told("@library C\nf: until soon").as_deref(), Some("2: `soon` is no version"));
        assert_eq!(told("@library C\nf: flies").as_deref(), Some("2: `flies` is not understood"));
        let lost = Some("3: an indented line goes on with the line above it, and there is none");
        assert_eq!(told("@library C\n\n  f g").as_deref(), lost);
        assert_eq!(told("@library C\n@section Mathematics\n  f g").as_deref(), lost);
        let twice = told("@library C\nf\n\ng = f");
        assert_eq!(twice.as_deref(), Some("4: `f` stands twice: it is a spelling of `f` already"));
    }
}
