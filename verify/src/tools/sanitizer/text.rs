//! The text that compute-sanitizer prints: lines behind a prefix of equals signs, a headline a record, details indented
//! below it. Lines without the prefix are the program's own.

use super::classify::{access_in, address, category, fault_in, first_number, nearest, without_level};
use super::record::{Category, Frame, Kernel, Notice, RaceAccess, Record, SanitizerReport};

/// What the tool puts before its lines, unless `--prefix` says otherwise.
const PREFIX: &str = "=========";
/// Spaces between prefix and details; headlines have one or two.
const INDENT: usize = 4;

/// Reads a text.
pub(super) fn read(printed: &str) -> SanitizerReport {
    let mut reader = Reader::default();
    for line in printed.lines() {
        if let Some(rest) = line.strip_prefix(PREFIX) {
            let content = rest.trim();
            if content.is_empty() {
                // An empty line ends a record; within one, stacks are parted by lines of spaces.
                if rest.len() <= 1 {
                    reader.end();
                }
            } else if rest.len() - rest.trim_start().len() >= INDENT {
                reader.detail(content);
            } else {
                reader.headline(content);
            }
        } else if line.starts_with("unrecognised option") || line.starts_with("option '--") {
            reader.report.notices.push(Notice::Usage(line.trim().to_owned()));
        }
    }
    reader.end();
    reader.report
}

#[derive(Default)]
struct Reader {
    report: SanitizerReport,
    record: Option<Record>,
    /// Frames of a second stack (of the free, for accesses after it) belong to no call of this record.
    stacks: u32,
}

impl Reader {
    fn end(&mut self) {
        self.stacks = 0;
        if let Some(mut record) = self.record.take() {
            record.kernel = record.device.last().map(|frame| Kernel::new(&frame.function));
            if let Category::Race { accesses } = &record.category {
                record.kernel = accesses.first().map(|(access, _)| Kernel::new(&access.frame.function));
            }
            self.report.records.push(record);
        }
    }

    fn headline(&mut self, line: &str) {
        self.end();
        let report = &mut self.report;
        if line == "COMPUTE-SANITIZER" {
            return;
        }
        if line.contains(" SUMMARY: ") {
            report.complete = true;
            if line.contains("were not printed") {
                report.unprinted = line.split(" SUMMARY: ").nth(1).and_then(first_number).unwrap_or(0);
            }
            return;
        }
        let (plain, warning) = without_level(line);
        if let Some(notice) = notice(plain) {
            report.complete |= notice == Notice::NoCuda;
            report.notices.push(notice);
            return;
        }
        let mut record = Record::new(line);
        record.warning = warning;
        record.category = category(line);
        if let Category::Race { accesses } = &mut record.category {
            if let Some(rest) = plain.strip_prefix("Race reported between ") {
                accesses.extend(race_access(rest));
            } else if let Some(rest) = plain.split(" at __shared__ ").nth(1) {
                record.address = address(rest);
                record.block = rest.split("block ").nth(1).and_then(triple);
            }
        }
        if let Category::Other = record.category
            && !known_other(plain)
        {
            // A sentence of the tool's own, which no record follows.
            let refused = plain.len() < line.len() || plain.starts_with("Internal");
            report.notices.push(if refused {
                Notice::Refused(plain.to_owned())
            } else {
                Notice::Said(plain.to_owned())
            });
            return;
        }
        if matches!(record.category, Category::Leak { .. } | Category::UninitializedCopy { .. }) {
            record.address = plain.rsplit(" 0x").next().and_then(|text| address(&format!("0x{text}")));
        }
        self.record = Some(record);
    }

    fn detail(&mut self, line: &str) {
        let Some(record) = &mut self.record else { return };
        if let Some(rest) = line.strip_prefix("Device Frame:") {
            record.device.push(device_frame(rest.trim()));
        } else if let Some(rest) = line.strip_prefix("Host Frame:") {
            if self.stacks <= 1 {
                record.host.push(host_frame(rest.trim()));
            }
        } else if line.starts_with("Saved host backtrace") {
            self.stacks += 1;
            let moment = line.split(" at ").last().filter(|moment| moment.len() < line.len());
            if self.stacks == 1 {
                record.moment = moment.map(str::to_owned);
            }
        } else if let Some(module) = line.strip_prefix("in ")
            && record.moment.is_some()
        {
            if self.stacks <= 1
                && let Some(frame) = record.host.last_mut()
            {
                frame.module = Some(module.to_owned());
            }
        } else if let Some(rest) = line.strip_prefix("at ") {
            record.device.insert(0, device_frame(rest));
        } else if let Some(rest) = line.strip_prefix("by thread ") {
            record.thread = triple(rest);
            record.block = rest.split("block ").nth(1).and_then(triple);
        } else {
            self.plain_detail(line);
        }
    }

    fn plain_detail(&mut self, line: &str) {
        let Some(record) = &mut self.record else { return };
        if let Category::Race { accesses } = &mut record.category
            && let Some(access) = line.strip_prefix("and ").and_then(race_access).or_else(|| hazard_access(line))
        {
            accesses.push(access);
            return;
        }
        if let Some(rest) = line.strip_prefix("Access to ").or_else(|| line.strip_prefix("Address ")) {
            record.address = record.address.or_else(|| address(rest));
        }
        record.nearest = record.nearest.or_else(|| nearest(line));
        if let Category::InvalidAccess { fault, .. } = &mut record.category {
            *fault = fault_in(line).unwrap_or(*fault);
        }
        if let Category::UninitializedCopy { error_address, .. } = &mut record.category
            && let Some(rest) = line.strip_prefix("Uninitialized access to ")
        {
            *error_address = address(rest);
        }
        record.details.push(line.to_owned());
    }
}

/// A headline that tells how program or tool ended.
fn notice(line: &str) -> Option<Notice> {
    if line.starts_with("process didn't terminate successfully") {
        Some(Notice::ProcessEnded(line.to_owned()))
    } else if line.starts_with("Target application returned an error") {
        Some(Notice::ReturnedError)
    } else if line.starts_with("Target application terminated before first instrumented API call") {
        Some(Notice::NoCuda)
    } else if line.starts_with("Device not supported") || line.starts_with("Target application doesn't exist") {
        Some(Notice::Refused(line.to_owned()))
    } else {
        None
    }
}

/// Headlines of records that have no category of their own.
fn known_other(line: &str) -> bool {
    ["Instruction tcgen05", "Tensor ", "tcgen05", "Deadlock", "Leaked an", "Unknown record", "Unknown TCMMA"]
        .iter()
        .any(|beginning| line.starts_with(beginning))
}

/// `Write access at reduce(int *)+0x170 in /src/a.cu:6 [512 hazards]`
fn race_access(text: &str) -> Option<(RaceAccess, u64)> {
    let (kind, place) = text.split_once(" access at ")?;
    let (place, hazards) = match place.rsplit_once(" [") {
        Some((place, count)) if count.ends_with("hazards]") || count.ends_with("hazard]") => {
            (place, first_number(count).unwrap_or(0))
        }
        _ => (place, 0),
    };
    Some((RaceAccess { access: access_in(kind), frame: device_frame(place), thread: None }, hazards))
}

/// `Write Thread (33,0,0) at last_wins(int *)+0x60 in /src/a.cu:5`
fn hazard_access(text: &str) -> Option<(RaceAccess, u64)> {
    let (kind, rest) = text.split_once(" Thread ")?;
    let (thread, place) = rest.split_once(" at ")?;
    Some((RaceAccess { access: access_in(kind), frame: device_frame(place), thread: triple(thread) }, 1))
}

/// `(232,0,0)` and what follows.
fn triple(text: &str) -> Option<[u64; 3]> {
    let inside = text.trim_start().strip_prefix('(')?.split(')').next()?;
    let mut numbers = inside.split(',').map(|number| number.trim().parse::<u64>().ok());
    Some([numbers.next()??, numbers.next()??, numbers.next()??])
}

/// `scale(const float *)+0x90 in /src/a.cu:6`; the place may be missing.
fn device_frame(text: &str) -> Frame {
    let (function, behind) = match offset(text) {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    let place = behind
        .split_once(" in ")
        .map(|(_, place)| place)
        .or_else(|| if behind.is_empty() { text.rsplit_once(" in ").map(|(_, place)| place) } else { None });
    let function = match place {
        Some(place) if behind.is_empty() => text.strip_suffix(place).and_then(|text| text.strip_suffix(" in ")),
        _ => None,
    }
    .unwrap_or(function);
    let (file, line) = place.map_or((None, None), file_and_line);
    Frame { function: function.trim().to_owned(), file, line, module: None }
}

/// Where `+0x90` begins that parts a function from its place.
fn offset(text: &str) -> Option<usize> {
    text.match_indices("+0x").map(|(at, _)| at).find(|at| {
        let behind = text.get(at + 3..).unwrap_or("");
        let digits = behind.find(|letter: char| !letter.is_ascii_hexdigit()).unwrap_or(behind.len());
        let rest = behind.get(digits..).unwrap_or("");
        digits > 0 && (rest.is_empty() || rest.starts_with(' '))
    })
}

/// `main in /src/a.cu:14 [0x8d45]`, with the module behind it where paths are stripped.
fn host_frame(text: &str) -> Frame {
    let (text, module) = match text.rsplit_once("] in ") {
        Some((text, module)) if text.contains(" [0x") => (text, Some(module.to_owned())),
        _ => (text.strip_suffix(']').unwrap_or(text), None),
    };
    let text = match text.rsplit_once("[0x") {
        Some((text, offset)) if offset.bytes().all(|byte| byte.is_ascii_hexdigit()) => text.trim_end(),
        _ => text,
    };
    // A function's name may contain ` in `; a path with a line may too, so the first that leaves a line is taken.
    let place = text.match_indices(" in ").find_map(|(at, word)| {
        let (file, line) = file_and_line(text.get(at + word.len()..)?);
        line.map(|line| (text.get(..at).unwrap_or(""), file, Some(line)))
    });
    let (function, file, line) = place.unwrap_or((text, None, None));
    Frame { function: function.trim().to_owned(), file, line, module }
}

/// `/src/a.cu:14`.
fn file_and_line(place: &str) -> (Option<String>, Option<u32>) {
    match place.trim().rsplit_once(':').map(|(file, line)| (file, line.parse::<u32>())) {
        Some((file, Ok(line))) => (Some(file.to_owned()).filter(|file| !file.is_empty()), Some(line)),
        _ => (Some(place.trim().to_owned()).filter(|file| !file.is_empty()), None),
    }
}
