//! Places of findings in source text and in the probe's log: which calls and launches of a run stand where a finding says.

use crate::scenario::CudaProgram;
use crate::tools::probe_log::{Call, Place, ProbedLaunch, Trace};
use camino::{Utf8Path, Utf8PathBuf};
use cudalint_findings::model::{FindingEntry, Range, Site};
use std::collections::BTreeMap;

/// Lines that a statement may have before the part of it that a finding names.
const MAX_STATEMENT: u32 = 30;

/// The text of a source file by its lines, which count from 1. A part of a document has its lines alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    lines: BTreeMap<u32, String>,
}

impl Source {
    /// The lines of a text.
    pub fn of_text(text: &str) -> Self {
        Self { lines: (1..).zip(text.lines().map(str::to_owned)).collect() }
    }

    /// The source with this path, as a program has it: the file itself, one that the program includes by its whole path,
    /// or the lines that `#line` says are its. Empty when there is none.
    pub fn find(path: &str, program: &CudaProgram) -> Self {
        let mut files: Vec<Utf8PathBuf> = vec![Utf8PathBuf::from(path), program.unit.clone()];
        for file in &program.files {
            files.extend(file.text.lines().filter_map(|line| {
                let named = line.trim_start().strip_prefix("#include \"")?.trim_end().strip_suffix('"')?;
                Some(Utf8PathBuf::from(named.replace("\\\"", "\"")))
            }));
        }
        let found = files
            .iter()
            .filter(|file| same_file(file.as_str(), path))
            .find_map(|file| cudalint_files::read_text(file.as_std_path()).ok());
        match found {
            Some(text) => Self::of_text(&text),
            None => Self { lines: program.files.iter().flat_map(|file| quoted(&file.text, path)).collect() },
        }
    }

    /// A line without its end; empty when there is none.
    pub fn line(&self, line: u32) -> &str {
        self.lines.get(&line).map_or("", String::as_str)
    }

    /// The lines with their numbers.
    pub fn lines(&self) -> impl Iterator<Item = (u32, &str)> {
        self.lines.iter().map(|(number, line)| (*number, line.as_str()))
    }

    /// The text of a range.
    pub fn text(&self, range: &Range) -> String {
        let mut text = String::new();
        for number in range.start.line..=range.end.line.min(range.start.line.saturating_add(200)) {
            let line = self.line(number);
            let from = if number == range.start.line { (range.start.column as usize).saturating_sub(1) } else { 0 };
            let to = if number == range.end.line { (range.end.column as usize).saturating_sub(1) } else { usize::MAX };
            text.extend(line.chars().skip(from).take(to.saturating_sub(from)));
            if number != range.end.line {
                text.push('\n');
            }
        }
        text
    }

    /// The line on which the statement around a place begins.
    fn statement(&self, line: u32, column: u32) -> u32 {
        let mut first = line;
        for number in (line.saturating_sub(MAX_STATEMENT).max(1)..=line).rev() {
            let text = self.line(number);
            let before: String = if number == line {
                text.chars().take((column as usize).saturating_sub(1)).collect()
            } else {
                text.to_owned()
            };
            let code = before.split("//").next().unwrap_or("");
            if number < line && code.trim_start().starts_with('#') && !code.trim_end().ends_with('\\') {
                break;
            }
            match code.rfind([';', '{', '}']) {
                Some(at) => {
                    if !code.get(at + 1..).unwrap_or("").trim().is_empty() {
                        first = number;
                    }
                    break;
                }
                None if !code.trim().is_empty() => first = number,
                None => {}
            }
        }
        first
    }

    /// The innermost function of CUDA's with a range among its arguments, and where its name stands. The search begins on a
    /// line.
    fn call_around(&self, first: u32, range: &Range) -> Option<(String, u32, u32)> {
        let mut open: Vec<Option<(String, u32, u32)>> = Vec::new();
        for number in first..=range.start.line {
            let (mut word, mut word_column, mut after_blank) = (String::new(), 1, false);
            for (column, c) in (1..).zip(self.line(number).chars()) {
                if number == range.start.line && column >= range.start.column {
                    break;
                }
                match c {
                    '(' => open.push(Some((std::mem::take(&mut word), number, word_column))),
                    ')' => drop(open.pop()),
                    _ if c.is_alphanumeric() || c == '_' => {
                        if word.is_empty() || after_blank {
                            word.clear();
                            word_column = column;
                        }
                        after_blank = false;
                        word.push(c);
                        continue;
                    }
                    ' ' => {
                        after_blank = true;
                        continue;
                    }
                    _ => {}
                }
                word.clear();
            }
        }
        open.into_iter().rev().flatten().find(|(name, _, _)| crate::probe::reports(name))
    }
}

/// The lines of a text that `#line` says are those of a path.
fn quoted(text: &str, path: &str) -> Vec<(u32, String)> {
    let mut lines = Vec::new();
    let mut at: Option<u32> = None;
    for line in text.lines() {
        if let Some(directive) = line.strip_prefix("#line ") {
            let (number, file) = directive.split_once(' ').unwrap_or((directive, ""));
            let ours = same_file(file.trim().trim_matches('"'), path);
            at = number.parse().ok().filter(|_| ours);
        } else if let Some(number) = &mut at {
            lines.push((*number, line.to_owned()));
            *number += 1;
        }
    }
    lines
}

/// Whether two paths may name one file: one ends with all components of the other.
pub fn same_file(one: &str, other: &str) -> bool {
    let parts = |path: &str| -> Vec<String> {
        path.replace('\\', "/").split('/').filter(|part| !part.is_empty() && *part != ".").map(str::to_owned).collect()
    };
    let (one, other) = (parts(one), parts(other));
    let common = one.len().min(other.len());
    common > 0 && one.iter().rev().take(common).eq(other.iter().rev().take(common))
}

/// A place that a finding names, as text and lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The file as the finding names it.
    pub path: String,
    /// The finding's own line.
    pub line: u32,
    /// First and last lines on which a run may report it: those of the statement around it.
    pub lines: (u32, u32),
    /// The function that is called or the kernel that is launched there, without qualification; empty when the source is
    /// not at hand or it is neither.
    pub name: String,
    /// Whether template arguments follow the name.
    pub is_template: bool,
    /// Which of how many calls of that name on those lines it is, from 0.
    pub ordinal: (usize, usize),
}

impl Spot {
    /// A place in a source.
    pub fn new(path: &str, range: &Range, source: &Source) -> Self {
        let text = source.text(range);
        let (name, is_template) = callee(&text).unwrap_or_default();
        let lines = (source.statement(range.start.line, range.start.column), range.end.line);
        Self {
            path: path.to_owned(),
            line: range.start.line,
            lines,
            ordinal: ordinal(source, lines, range, &name),
            name,
            is_template,
        }
    }

    /// A finding's own place.
    pub fn primary(finding: &FindingEntry, program: &CudaProgram) -> Self {
        Self::new(&finding.path, &finding.range, &Source::find(&finding.path, program))
    }

    /// The call of CUDA's around a finding's own place, where that is an argument; else the statement around it, without a
    /// name.
    pub fn around_argument(finding: &FindingEntry, program: &CudaProgram) -> Self {
        let source = Source::find(&finding.path, program);
        let spot = Self { name: String::new(), ordinal: (0, 0), ..Self::new(&finding.path, &finding.range, &source) };
        let Some((name, line, column)) = source.call_around(spot.lines.0, &finding.range) else { return spot };
        let start = cudalint_findings::model::Position { cell: None, line, column };
        let range = Range { start, end: finding.range.end };
        Self { ordinal: ordinal(&source, spot.lines, &range, &name), name, ..spot }
    }

    /// The finding's other places.
    pub fn sites(finding: &FindingEntry, program: &CudaProgram) -> Vec<Self> {
        let spot = |site: &Site| Self::new(&site.path, &site.range, &Source::find(&site.path, program));
        finding.claim.sites.iter().map(spot).collect()
    }

    /// Whether a place of a run is this one.
    pub fn holds(&self, file: &str, line: u32) -> bool {
        (self.lines.0..=self.lines.1).contains(&line) && same_file(file, &self.path)
    }

    fn holds_place(&self, place: &Place) -> bool {
        self.holds(&place.file, place.line)
    }

    /// The calls of a run at this place, in order. Where a name stands there, calls of that name alone; of several of
    /// that name on one line the one that is meant, when the run came to all of them.
    pub fn calls<'trace>(&self, trace: &'trace Trace) -> Vec<&'trace Call> {
        // A removed function is the one that took its place.
        let now = crate::spelled::now_called(&self.name);
        let named = |call: &&Call| self.name.is_empty() || call.function == self.name || call.function == now;
        let here: Vec<&Call> = trace.calls().filter(|call| self.holds(&call.file, call.line)).filter(named).collect();
        let mut ids: Vec<u64> = here.iter().map(|call| call.id).collect();
        ids.sort_unstable();
        ids.dedup();
        let (index, count) = self.ordinal;
        match ids.get(index) {
            Some(id) if count > 1 && ids.len() == count => here.into_iter().filter(|call| call.id == *id).collect(),
            _ => here,
        }
    }

    /// The launches of a run at this place; where there are none, those that calls at this place led to.
    pub fn launches<'trace>(&self, trace: &'trace Trace) -> Vec<&'trace ProbedLaunch> {
        let direct: Vec<&ProbedLaunch> =
            trace.launches().filter(|launch| launch.place.iter().any(|place| self.holds_place(place))).collect();
        if !direct.is_empty() {
            return direct;
        }
        trace.launches().filter(|launch| launch.callers.iter().any(|place| self.holds_place(place))).collect()
    }

    /// The place in words.
    pub fn shown(&self) -> String {
        format!("{}:{}", self.path, self.line)
    }
}

/// The name of what a text calls or launches, and whether template arguments follow it: of `::ns::f<int>(x)` it is `f`, of
/// `object->f(x)` too.
fn callee(text: &str) -> Option<(String, bool)> {
    let mut rest = text.trim_start();
    let mut name;
    loop {
        rest = rest.trim_start_matches("::").trim_start();
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        (name, rest) = rest.split_at(end);
        rest = rest.trim_start();
        if name.is_empty() {
            return None;
        }
        match ["::", "->", "."].iter().find_map(|mark| rest.strip_prefix(mark)) {
            Some(after) => rest = after.trim_start(),
            None => break,
        }
    }
    let is_template = rest.starts_with('<') && !rest.starts_with("<<<");
    (rest.starts_with('(') || rest.starts_with('<')).then(|| (name.to_owned(), is_template))
}

/// Which of the calls of a name on some lines the one of a range is, and how many there are.
fn ordinal(source: &Source, lines: (u32, u32), range: &Range, name: &str) -> (usize, usize) {
    let (mut before, mut all) = (0, 0);
    if name.is_empty() {
        return (0, 0);
    }
    for number in lines.0..=lines.1 {
        let text = source.line(number);
        let code = text.split("//").next().unwrap_or("");
        for (at, _) in code.match_indices(name) {
            if !is_word(code, at, name.len()) || !code[at + name.len()..].trim_start().starts_with(['(', '<']) {
                continue;
            }
            let column = code[..at].chars().count() as u32 + 1;
            before += usize::from((number, column) < (range.start.line, range.start.column));
            all += 1;
        }
    }
    (before, all)
}

/// Whether a part of a text is a whole word.
pub(super) fn is_word(text: &str, at: usize, length: usize) -> bool {
    let part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let before = text.get(..at).and_then(|text| text.chars().next_back());
    let after = text.get(at + length..).and_then(|text| text.chars().next());
    !part(before) && !part(after)
}

/// Whether a text uses a word as the name of a function or macro: `word(`.
pub(super) fn calls_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        is_word(text, at, word.len())
            && text.get(at + word.len()..).is_some_and(|rest| rest.trim_start().starts_with('('))
    })
}

/// The end of the harness's own path, by which its calls are known; none for a program as written.
pub(super) fn harness_of(program: &CudaProgram) -> Option<String> {
    let own = |file: &&crate::scenario::ScenarioFile| file.path == program.unit;
    let is_harness =
        program.origin != crate::scenario::Origin::AsWritten && program.files.iter().any(|file| own(&file));
    is_harness.then(|| Utf8Path::new(program.unit.as_str()).file_name().unwrap_or_default().to_owned())
}
