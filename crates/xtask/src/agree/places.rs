//! Where the calls of a log stand: return addresses become lines of the program's own files.

use super::tools::Symbolizer;
use crate::differential::calls::Place;
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// The lines of all return addresses of a log, as text: an address, a line and a file on each.
///
/// # Errors
/// When the tool does not run.
pub fn read(symbolizer: &Symbolizer, binary: &Path, log: &str) -> Result<String, String> {
    // Those of the program; libraries lie far above.
    let is_own = |address: &&str| address.len() <= 8 && *address != "0";
    let words = log.lines().filter_map(|line| line.split(' ').nth(1)).flat_map(|word| word.split(','));
    let addresses: BTreeSet<&str> = words.filter(is_own).collect();
    let mut asked = String::new();
    for address in &addresses {
        // The address is of what runs when the call is over: one byte before, it is the call.
        let at = u64::from_str_radix(address, 16).unwrap_or(1) - 1;
        let _ = writeln!(asked, "{at:#x}");
    }
    let mut command = match symbolizer {
        Symbolizer::Llvm(program) => {
            let mut command = Command::new(program);
            command.args(["--no-inlines", "--functions=none"]).arg(format!("--obj={}", binary.display()));
            command
        }
        Symbolizer::Addr2line(program) => {
            let mut command = Command::new(program);
            command.arg("-e").arg(binary);
            command
        }
    };
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| error.to_string())?;
    let mut input = child.stdin.take().ok_or("no pipe")?;
    let writer = std::thread::spawn(move || input.write_all(asked.as_bytes()));
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    let _ = writer.join();
    let said = String::from_utf8_lossy(&output.stdout);
    let lines = said.lines().filter(|line| !line.is_empty());
    let mut text = String::new();
    for (address, line) in addresses.iter().zip(lines) {
        // Of LLVM the column comes last; of binutils there may be a remark behind the line.
        let line = line.split(" (").next().unwrap_or(line);
        let line = if matches!(symbolizer, Symbolizer::Llvm(_)) {
            line.rsplit_once(':').map_or(line, |(line, _)| line)
        } else {
            line
        };
        if let Some((file, number)) = line.rsplit_once(':')
            && file != "??"
            && number != "?"
        {
            let _ = writeln!(text, "{address} {number} {file}");
        }
    }
    Ok(text)
}

/// The files that calls stand in, and the line of each return address.
#[derive(Default)]
pub struct Files {
    paths: Vec<String>,
    lines: HashMap<String, Place>,
}

impl Files {
    /// Reads what [`read`] gave, without the files of the system and of the toolkit.
    pub fn new(text: &str) -> Self {
        let mut files = Self::default();
        let mut known: HashMap<String, Option<u32>> = HashMap::new();
        for line in text.lines() {
            let mut words = line.splitn(3, ' ');
            let (Some(address), Some(line), Some(file)) = (words.next(), words.next(), words.next()) else { continue };
            let number = known.entry(file.to_owned()).or_insert_with(|| {
                let path = std::fs::canonicalize(file).ok()?.to_string_lossy().into_owned();
                Some(files.paths.iter().position(|other| *other == path).unwrap_or_else(|| {
                    files.paths.push(path);
                    files.paths.len() - 1
                }) as u32)
            });
            if let (Some(number), Ok(line)) = (*number, line.parse()) {
                files.lines.insert(address.to_owned(), (number, line));
            }
        }
        files
    }

    /// The places of a call and of those that led to it, by their return addresses.
    pub fn places(&self, word: &str) -> Vec<Place> {
        word.split(',').filter_map(|address| self.lines.get(address)).copied().collect()
    }

    /// The number of a file, where a call stands in it.
    pub fn number(&self, path: &Path) -> Option<u32> {
        self.paths.iter().position(|known| Path::new(known) == path).map(|at| at as u32)
    }

    /// A file by its number.
    pub fn path(&self, number: u32) -> &str {
        self.paths.get(number as usize).map_or("?", String::as_str)
    }
}
