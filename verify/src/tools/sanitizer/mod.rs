//! Reports of compute-sanitizer's tools: the XML of `--xml --save`, and the text that they print meanwhile. The XML tells
//! the whole host stack and the parts of a record; the text alone tells the allocation that an access missed, a kernel's
//! full name, how the program ended, and it is there when the tool was ended before it wrote its XML. So both are read,
//! and what they say of the same record is joined.
//!
//! Forms: *Compute Sanitizer*, sections "Understanding … Errors", and the outputs of version 2025.3.1 under
//! `tests/recorded`. An element or line that is not known is passed over, so that a newer tool is still read.

mod classify;
mod record;
mod spelling;
mod text;
mod xml;

pub use record::{
    Access, Category, Fault, Frame, Kernel, Nearest, Notice, RaceAccess, Record, SanitizerReport, Side, Space,
};
pub use spelling::{base_name, is_toolkit_file, same_path};

impl SanitizerReport {
    /// Reads what a tool left: its XML, where it wrote one, and the text that it printed. Either may be missing, cut off
    /// or something else altogether.
    pub fn read(xml: Option<&str>, printed: &str) -> Self {
        let mut report = text::read(printed);
        let Some(xml) = xml.filter(|xml| !xml.trim().is_empty()) else { return report };
        let parsed = xml::read(xml);
        // Text given in place of XML: the tool wrote none.
        if !parsed.root_seen && printed.trim().is_empty() {
            report = text::read(xml);
            if report.records.is_empty() && report.notices.is_empty() && !report.complete {
                report.problems.push("the report is neither compute-sanitizer's XML nor its text".to_owned());
            }
            return report;
        }
        report.problems.extend(parsed.problems);
        if parsed.root_seen {
            report.complete |= parsed.closed;
            report.records = join(parsed.records, parsed.closed, report.records);
        }
        report
    }

    /// Why the tool could not do its work; none where it did.
    pub fn refusal(&self) -> Option<&str> {
        self.notices.iter().find_map(|notice| match notice {
            Notice::Refused(words) | Notice::Usage(words) => Some(words.as_str()),
            _ => None,
        })
    }

    /// Gives a file another name, wherever it stands in a stack: a script that was written for the run has the lines of the
    /// document that it stands for.
    pub fn rename(&mut self, file: &str, name: &str) {
        let frames = self.records.iter_mut().flat_map(|record| {
            let races = match &mut record.category {
                Category::Race { accesses } => accesses.as_mut_slice(),
                _ => &mut [],
            };
            let races = races.iter_mut().map(|(access, _)| &mut access.frame);
            record.device.iter_mut().chain(&mut record.host).chain(races)
        });
        for frame in frames {
            if frame.file.as_deref().is_some_and(|named| same_path(named, file)) {
                frame.file = Some(name.to_owned());
            }
        }
    }

    /// Whether the program itself did not end well: by a signal, or with a status other than 0.
    pub fn program_failed(&self) -> bool {
        self.notices.iter().any(|notice| matches!(notice, Notice::ProcessEnded(_) | Notice::ReturnedError))
    }
}

/// Joins the records of an XML report with those of the text. The tool writes both in one order, so the next record of
/// the text that says the same as the next one of the XML is that record, and tells what the XML lacks. A text that goes
/// on behind an XML that was cut off has the rest; behind a whole one it is the program's own talk.
fn join(of_xml: Vec<Record>, whole: bool, of_text: Vec<Record>) -> Vec<Record> {
    let mut joined: Vec<Record> = Vec::with_capacity(of_xml.len().max(of_text.len()));
    let mut text = of_text.into_iter().peekable();
    let mut in_step = true;
    for mut record in of_xml {
        match text.next_if(|candidate| is_same(&record, candidate)) {
            Some(same) => complete(&mut record, same),
            None => in_step = false,
        }
        joined.push(record);
    }
    if !whole && in_step {
        joined.extend(text);
    }
    joined
}

fn is_same(xml: &Record, text: &Record) -> bool {
    std::mem::discriminant(&xml.category) == std::mem::discriminant(&text.category)
        && xml.thread == text.thread
        && xml.block == text.block
        && xml.place().map(|frame| (&frame.file, frame.line)) == text.place().map(|frame| (&frame.file, frame.line))
}

/// Adds to a record of the XML what only its text says.
fn complete(record: &mut Record, text: Record) {
    record.nearest = record.nearest.or(text.nearest);
    record.headline = text.headline;
    record.details = text.details;
    record.warning |= text.warning;
    // The XML cuts a function's name down, and of operators wrongly.
    for (frame, full) in record.device.iter_mut().zip(text.device) {
        if frame.line == full.line {
            frame.function = full.function;
        }
    }
    if let (Category::Race { accesses }, Category::Race { accesses: full }) = (&mut record.category, text.category) {
        for ((access, _), (full, _)) in accesses.iter_mut().zip(full) {
            if access.frame.line == full.frame.line {
                access.frame.function = full.frame.function;
            }
        }
    }
    if text.kernel.is_some() {
        record.kernel = text.kernel;
    }
}
