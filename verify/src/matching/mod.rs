//! Evidence counts only when its kind, its kernel and its line match the finding. What matches otherwise is named as what
//! it is, and confirms nothing.
//!
//! A finding is data here: its method says which kind of record can show it, its claim which access, call, launch and
//! threads, its range and the claim's sites where. No word that is written for people is read.

mod calls;
mod places;
mod target;

pub use calls::{Code, code_of, same_call, status_of};
pub use target::Target;

use crate::tools::sanitizer::{
    Access, Category, Fault, Frame, Nearest, Record, SanitizerReport, Side, Space, base_name, same_path,
};
use calls::{is_about_launch, is_call};
use cudalint_findings::claim::{self, AccessFault, User};
use cudalint_findings::model::{Access as ClaimedAccess, EvidenceRecord, Method};
use cudalint_findings::{AccessKind, Shows};
use places::Places;

/// An access this many bytes from every allocation goes through a pointer that was never one of the device's, rather than
/// past an array's end.
const FAR: u64 = 1 << 20;

/// How a record fits a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fit {
    /// The record shows the finding.
    Matches {
        /// Whether the thread is the witness's own.
        same_thread: bool,
        /// In one sentence, what was seen.
        reason: String,
    },
    /// It shows something else.
    Differs {
        /// In one sentence, what was seen.
        reason: String,
    },
}

impl Fit {
    /// Whether the record shows the finding.
    pub fn matches(&self) -> bool {
        matches!(self, Self::Matches { .. })
    }

    /// What was seen.
    pub fn reason(&self) -> &str {
        match self {
            Self::Matches { reason, .. } | Self::Differs { reason } => reason,
        }
    }
}

/// Whether what a tool has printed so far shows a finding. A record that it is still writing does not count.
pub fn shown_in(finding: &Target<'_>, report: &SanitizerReport) -> bool {
    report.records.iter().any(|record| fit(finding, record).matches())
}

/// What a tool has printed so far, up to the end of its last whole record.
pub fn whole_records(printed: &str) -> SanitizerReport {
    let mut whole = 0;
    let mut at = 0;
    for line in printed.split_inclusive('\n') {
        at += line.len();
        if line.ends_with('\n') && line.trim_end() == "=========" {
            whole = at;
        }
    }
    SanitizerReport::read(None, printed.get(..whole).unwrap_or(""))
}

/// Compares a record with a finding.
pub fn fit(finding: &Target<'_>, record: &Record) -> Fit {
    let seen = describe(record);
    match shows(finding, record) {
        Ok(note) => {
            let same_thread = is_witness_thread(finding, record);
            let thread = match (same_thread, record.thread, record.block) {
                (true, Some(thread), Some(block)) => {
                    format!(", by the witness's thread {} of block {}", triple(thread), triple(block))
                }
                (false, Some(thread), Some(block)) if has_threads(finding) => {
                    format!(", by thread {} of block {} rather than the witness's", triple(thread), triple(block))
                }
                _ => String::new(),
            };
            let note = note.map_or_else(String::new, |note| format!(" ({note})"));
            Fit::Matches { same_thread, reason: format!("{seen}{thread}{note}") }
        }
        Err(difference) => Fit::Differs { reason: format!("{seen}, which {difference}") },
    }
}

/// Whether a record shows a finding: what to add for the reader, or why it does not.
fn shows(finding: &Target<'_>, record: &Record) -> Result<Option<String>, String> {
    let method = finding.verification.method;
    match (&record.category, method) {
        (Category::InvalidAccess { space, access, fault, .. }, Method::Memcheck) => {
            invalid_access(finding, record, (*space, *access, *fault))
        }
        (Category::StreamOrder { .. } | Category::DeviceHeap { .. }, Method::Memcheck) => device_place(finding, record),
        (Category::ApiError { function, code, .. }, Method::Memcheck) => pointer_call(finding, record, function, *code),
        (Category::ApiError { function, code, .. }, Method::ApiError) => failing_call(finding, record, function, *code),
        (Category::Race { .. }, Method::Racecheck) => race(finding, record),
        (Category::Uninitialized { access, .. }, Method::Initcheck) => uninitialized(finding, record, *access),
        (Category::UninitializedCopy { .. }, Method::Initcheck) => uninitialized_copy(finding, record),
        (Category::Barrier { .. }, Method::Synccheck) => barrier(finding, record),
        (Category::Leak { .. }, Method::Leakcheck) => host_place(finding, record).map(|()| None),
        _ => Err("is another kind of fault than the finding's".to_owned()),
    }
}

/// memcheck: an invalid access.
fn invalid_access(
    finding: &Target<'_>,
    record: &Record,
    (space, access, fault): (Space, Access, Fault),
) -> Result<Option<String>, String> {
    let (misaligned, object, accesses) = match &finding.claim.shows {
        Shows::Access { fault: AccessFault::OutOfBounds, object, accesses } => (false, object, accesses),
        Shows::Access { fault: AccessFault::Misaligned, object, accesses } => (true, object, accesses),
        Shows::BadAddress { user: User::Kernel { .. }, .. } => return argument(finding, record, space),
        _ => return Err("is another kind of fault than the finding's".to_owned()),
    };
    if !accesses.is_empty() && !accesses.iter().any(|expected| same_access(expected.kind, access)) {
        let kinds: Vec<&str> = accesses.iter().map(|expected| word(expected.kind)).collect();
        return Err(format!("is no {} as the finding's", kinds.join(" or ")));
    }
    match fault {
        Fault::Misaligned if !misaligned => return Err("is misaligned, not out of bounds".to_owned()),
        Fault::OutOfBounds if misaligned => return Err("is out of bounds, not misaligned".to_owned()),
        _ => {}
    }
    let shared = is_shared(space);
    if (object.space == claim::Space::Shared) != shared {
        let memory = if shared { "is in shared memory" } else { "is not in shared memory" };
        return Err(format!("{memory}, unlike the finding's"));
    }
    device_place(finding, record).or_else(|difference| match accesses.as_slice() {
        // The launch gives a kernel no memory at all, whichever access comes first.
        [] if shared => in_launched(finding, record).map(Some),
        _ => Err(difference),
    })
}

/// memcheck: what a launch passes makes the whole kernel go wrong. The finding's place is the launch or the kernel's head.
fn argument(finding: &Target<'_>, record: &Record, space: Space) -> Result<Option<String>, String> {
    let seen = in_launched(finding, record)?;
    if is_shared(space) {
        return Err("is in shared memory, unlike the finding's".to_owned());
    }
    if !is_far(record.nearest) {
        return Err("lies beside an allocation, as no address does that is none of the device's".to_owned());
    }
    Ok(Some(seen))
}

/// Whether a record is about the kernel that a finding's place launches, or whose head it is: how.
fn in_launched(finding: &Target<'_>, record: &Record) -> Result<String, String> {
    if host_place(finding, record).is_ok() {
        return Ok("in the kernel that the finding's line launches".to_owned());
    }
    if is_kernel_head(finding, record) {
        return Ok("in the finding's kernel".to_owned());
    }
    Err("happened at another place".to_owned())
}

/// memcheck: a call that is given a bad pointer, or the pointer that another call has freed.
fn pointer_call(
    finding: &Target<'_>,
    record: &Record,
    function: &str,
    code: Option<i64>,
) -> Result<Option<String>, String> {
    own_failure(function, code)?;
    let Shows::BadAddress { user: User::Call { call }, .. } = &finding.claim.shows else {
        return Err("is another kind of fault than the finding's".to_owned());
    };
    if is_call(&call.function, function) {
        if host_place(finding, record).is_ok() {
            return Ok(None);
        }
        // The call stands elsewhere, and the claim says where: a destructor that frees.
        let inside = finding.function.as_deref().map(base_name);
        let runs_in = inside.is_some_and(|name| record.host.iter().any(|frame| base_name(&frame.function) == name));
        let place = call.site.as_ref().map(Places::at);
        if runs_in && place.is_some_and(|place| record.call_sites().iter().any(|site| place.has(site))) {
            return Ok(Some("at the finding's other place".to_owned()));
        }
    }
    Err("is not the finding's call".to_owned())
}

/// api-error: the finding's own call fails.
fn failing_call(
    finding: &Target<'_>,
    record: &Record,
    function: &str,
    code: Option<i64>,
) -> Result<Option<String>, String> {
    own_failure(function, code)?;
    host_place(finding, record)?;
    names_call(finding, function)?;
    Ok(None)
}

/// Whether a finding is about a call of this function.
///
/// # Errors
/// In words that follow "which", why not.
pub fn names_call(finding: &Target<'_>, function: &str) -> Result<(), String> {
    let fits = match &finding.claim.shows {
        Shows::FailedCall { call } => is_call(&call.function, function),
        Shows::RefusedLaunch { .. } => is_about_launch(function),
        _ => false,
    };
    if fits { Ok(()) } else { Err("is another call than the finding's".to_owned()) }
}

/// Whether a status is a failure of the call that returned it.
fn own_failure(function: &str, code: Option<i64>) -> Result<(), String> {
    match code.map_or(Code::Own, |code| status_of(function, code)) {
        Code::Own => Ok(()),
        Code::Earlier => Err(format!("`{function}` only hands on from an earlier fault")),
        Code::Surroundings => Err("has its reason in the machine, not in the call".to_owned()),
    }
}

/// racecheck: both accesses of the witness race with each other.
fn race(finding: &Target<'_>, record: &Record) -> Result<Option<String>, String> {
    let Category::Race { accesses } = &record.category else { return Err("is no race".to_owned()) };
    let Some(((first, _), others)) = accesses.split_first() else { return Err("names no access".to_owned()) };
    let sides = |frame: &Frame, access: Access, expected: &ClaimedAccess| {
        same_access(expected.kind, access) && Places::at(&expected.site).has(frame)
    };
    let witness = finding.claim.accesses();
    kernel(finding, record)?;
    let without_lines = accesses.iter().all(|(access, _)| access.frame.line.is_none());
    let found = match witness {
        [one, other, ..] if without_lines && is_python(record, finding) => {
            let kinds = |a: &ClaimedAccess, b: &ClaimedAccess| {
                same_access(a.kind, first.access) && others.iter().any(|(access, _)| same_access(b.kind, access.access))
            };
            return if kinds(one, other) || kinds(other, one) {
                Ok(Some("the tool names no line of the script: kernel and kind alone match".to_owned()))
            } else {
                Err("is between other kinds of accesses".to_owned())
            };
        }
        [one, other, ..] => {
            let pair = |a, b| {
                sides(&first.frame, first.access, a)
                    && others.iter().any(|(access, _)| sides(&access.frame, access.access, b))
            };
            // The tool names the innermost line of each side: what the finding's line calls may stand in a library.
            let half = |a: &ClaimedAccess, b: &ClaimedAccess| {
                others.iter().any(|(access, _)| {
                    let (one, other) = (&first.frame, &access.frame);
                    sides(one, first.access, a)
                        && same_access(b.kind, access.access)
                        && places::in_library(finding, other, one)
                        || sides(other, access.access, b)
                            && same_access(a.kind, first.access)
                            && places::in_library(finding, one, other)
                })
            };
            let both = pair(one, other) || pair(other, one);
            if !both && (half(one, other) || half(other, one)) {
                return Ok(Some("the other access is in a library that the kernel calls".to_owned()));
            }
            both
        }
        // Without two accesses, the place of the finding and, where it names another in the kernel, that one.
        _ => {
            let own = Places::own(finding);
            let sites = Places::sites(finding);
            let pair = |a: &Places, b: Option<&Places>| {
                a.has(&first.frame) && others.iter().any(|(access, _)| b.is_none_or(|b| b.has(&access.frame)))
                    || others.iter().any(|(access, _)| a.has(&access.frame)) && b.is_none_or(|b| b.has(&first.frame))
            };
            if sites.is_empty() { pair(&own, None) } else { pair(&own, Some(&sites)) || pair(&own, Some(&own)) }
        }
    };
    if found { Ok(None) } else { Err("is between other accesses than the finding's".to_owned()) }
}

/// initcheck: a kernel reads what nothing wrote.
fn uninitialized(finding: &Target<'_>, record: &Record, access: Access) -> Result<Option<String>, String> {
    let accesses = finding.claim.accesses();
    if !accesses.is_empty() && !accesses.iter().any(|expected| same_access(expected.kind, access)) {
        return Err("is another kind of access than the finding's".to_owned());
    }
    let at_place = device_place(finding, record);
    if at_place.is_err() && accesses.is_empty() && host_place(finding, record).is_ok() {
        return Ok(Some("in the kernel that the finding's line launches".to_owned()));
    }
    at_place
}

/// initcheck: a copy reads what nothing wrote.
fn uninitialized_copy(finding: &Target<'_>, record: &Record) -> Result<Option<String>, String> {
    host_place(finding, record)?;
    Ok(None)
}

/// synccheck: a barrier of the finding. The tool reports the barrier at which threads were missed, which may be the other
/// one that the absent threads wait at: a site of the claim.
fn barrier(finding: &Target<'_>, record: &Record) -> Result<Option<String>, String> {
    device_place(finding, record).or_else(|difference| {
        let others = Places::sites(finding);
        if kernel(finding, record).is_ok() && record.device.iter().any(|frame| others.has(frame)) {
            Ok(Some("at the other barrier that the finding names".to_owned()))
        } else {
            Err(difference)
        }
    })
}

/// Whether a device frame stands at the finding's place, in its kernel.
fn device_place(finding: &Target<'_>, record: &Record) -> Result<Option<String>, String> {
    kernel(finding, record)?;
    let places = Places::device(finding);
    if record.device.iter().any(|frame| places.has(frame)) {
        return Ok(None);
    }
    let lines = record.device.iter().any(|frame| frame.line.is_some());
    if lines {
        return Err("happened at another place".to_owned());
    }
    // Where nothing names a line of a script, kernel, kind and the witness's own thread must do.
    if is_python(record, finding) && finding.function.is_some() && is_witness_thread(finding, record) {
        return Ok(Some("the tool names no line of the script: kernel, kind and thread match".to_owned()));
    }
    Err("has no line".to_owned())
}

/// Whether the record is about the finding's kernel, as far as the finding names one.
fn kernel(finding: &Target<'_>, record: &Record) -> Result<(), String> {
    let Some(function) = finding.function.as_deref() else { return Ok(()) };
    // Python names a method by its class, and a function within another one by that one: `Solver.step`.
    let wanted = base_name(function.rsplit('.').next().unwrap_or(function));
    let mut frames: Vec<&Frame> = record.device.iter().collect();
    if let Category::Race { accesses } = &record.category {
        frames.extend(accesses.iter().map(|(access, _)| &access.frame));
    }
    // racecheck names the function of each side alone, which may be one that is called and not inlined.
    let is_race = matches!(record.category, Category::Race { .. });
    let called = finding.claim.accesses().iter().filter_map(|access| access.function.as_deref());
    let called: Vec<String> = called.filter(|_| is_race).map(base_name).collect();
    let is_it = |name: &String| *name == wanted || called.contains(name);
    let named = record.kernel.as_ref().is_some_and(|kernel| is_it(&kernel.base))
        || frames.iter().any(|frame| is_it(&base_name(&frame.function)));
    if named {
        return Ok(());
    }
    // The finding's function may be the host's, around a launch: then the record's place must not be in its range.
    let own = Places::own(finding);
    let without_lines = frames.iter().all(|frame| frame.line.is_none());
    if without_lines || frames.iter().any(|frame| own.has(frame)) {
        return Err(format!("is not in `{function}`"));
    }
    Ok(())
}

/// Whether the record's host call stands at the finding's place, or at the launch of its witness.
fn host_place(finding: &Target<'_>, record: &Record) -> Result<(), String> {
    let sites = record.call_sites();
    let places = Places::host(finding);
    if sites.iter().any(|site| places.has(site)) {
        return Ok(());
    }
    Err(if sites.is_empty() { "has no host line".to_owned() } else { "happened at another place".to_owned() })
}

/// Whether a line of a file is the finding's place, as the host runs it: its own range, or the launch of its witness.
pub fn stands_at(finding: &Target<'_>, file: &str, line: u32) -> bool {
    Places::host(finding).covers(file, line)
}

/// Whether the finding stands at the head of the record's kernel: it is about the kernel itself, and the access comes
/// after it.
fn is_kernel_head(finding: &Target<'_>, record: &Record) -> bool {
    let (Some(function), Some(kernel)) = (finding.function.as_deref(), record.kernel.as_ref()) else { return false };
    let name = base_name(function);
    let claimed = finding.claim.kernel.as_deref().is_some_and(|kernel| base_name(kernel) == name);
    let below = record.device.last().and_then(|frame| frame.line).is_some_and(|line| line > finding.range.end.line);
    kernel.base == name && claimed && below
}

const fn is_shared(space: Space) -> bool {
    matches!(space, Space::Shared | Space::RemoteShared)
}

fn is_far(nearest: Option<Nearest>) -> bool {
    nearest.is_none_or(|nearest| nearest.side != Side::Inside && nearest.distance >= FAR)
}

fn is_python(record: &Record, finding: &Target<'_>) -> bool {
    let extension = finding.path.rsplit('.').next().unwrap_or("");
    ["py", "ipynb"].contains(&extension) || record.host.iter().any(Frame::is_python)
}

fn same_access(expected: AccessKind, seen: Access) -> bool {
    matches!(
        (expected, seen),
        (AccessKind::Read, Access::Read) | (AccessKind::Write, Access::Write) | (AccessKind::Atomic, Access::Atomic)
    )
}

fn word(kind: AccessKind) -> &'static str {
    match kind {
        AccessKind::Read => "read",
        AccessKind::Write => "write",
        AccessKind::Atomic => "atomic access",
    }
}

fn has_threads(finding: &Target<'_>) -> bool {
    !finding.claim.accesses().is_empty()
}

fn is_witness_thread(finding: &Target<'_>, record: &Record) -> bool {
    let accesses = finding.claim.accesses();
    accesses.iter().any(|access| Some(access.thread) == record.thread && Some(access.block) == record.block)
}

fn triple([x, y, z]: [u64; 3]) -> String {
    format!("({x},{y},{z})")
}

/// A record in words: `an invalid global read of 4 bytes in `scale` at a.cu:6`.
pub fn describe(record: &Record) -> String {
    let what = match &record.category {
        Category::InvalidAccess { space, access, bytes, fault } => {
            let space = match space {
                Space::Global => "global ",
                Space::Shared => "shared ",
                Space::RemoteShared => "remote shared ",
                Space::Local => "local ",
                Space::Other => "",
            };
            let fault = if *fault == Fault::Misaligned { "misaligned" } else { "invalid" };
            format!("an {fault} {space}{} of {bytes} bytes", access_word(*access))
                .replace("an misaligned", "a misaligned")
        }
        Category::ApiError { function, name, .. } => format!("`{function}` returned {name}"),
        Category::Leak { bytes } => format!("{bytes} bytes were never freed, allocated"),
        Category::Race { accesses } => {
            let side = |index: usize| {
                accesses.get(index).map(|(access, _)| format!("a {} at {}", access_word(access.access), access.frame))
            };
            let sides: Vec<String> = [side(0), side(1)].into_iter().flatten().collect();
            let within = record.kernel.as_ref().map_or_else(String::new, |kernel| format!(" in `{}`", kernel.base));
            return format!("a race between {}{within}", sides.join(" and "));
        }
        Category::Uninitialized { access, bytes } => {
            format!("a {} of {bytes} bytes of global memory that nothing wrote", access_word(*access))
        }
        Category::UninitializedCopy { .. } => "a copy from device memory that nothing wrote".to_owned(),
        Category::Unused => "an allocation of which a part was never used".to_owned(),
        Category::Barrier { problem } => format!("a barrier error ({problem})"),
        Category::StreamOrder { problem } | Category::DeviceHeap { problem } | Category::DeviceFault { problem } => {
            format!("\"{problem}\"")
        }
        Category::Other => format!("\"{}\"", record.headline),
    };
    let mut words = what;
    if let Some(kernel) = &record.kernel {
        words = format!("{words} in `{}`", kernel.base);
    }
    match record.place().filter(|place| place.line.is_some()) {
        Some(place) => format!("{words} at {place}"),
        None => words,
    }
}

fn access_word(access: Access) -> &'static str {
    match access {
        Access::Read => "read",
        Access::Write => "write",
        Access::Atomic => "atomic access",
        Access::Other => "access",
    }
}

/// A record as evidence for or beside a finding. Its place is the finding's where a frame stands there; a file that the
/// finding names is named as there.
pub fn evidence(finding: &Target<'_>, record: &Record) -> EvidenceRecord {
    let sites = record.call_sites();
    let device = record.device.iter().find(|frame| Places::device(finding).has(frame));
    let host = sites.iter().copied().find(|frame| record.device.is_empty() && Places::host(finding).has(frame));
    let place = device.or(host).or_else(|| record.place()).filter(|place| place.line.is_some());
    let named = |file: &str| {
        let others = finding.claim.places().into_iter().map(|site| site.path.as_str());
        let known = std::iter::once(finding.path.as_str()).chain(others).find(|path| same_path(path, file));
        known.unwrap_or(file).to_owned()
    };
    EvidenceRecord {
        kind: record.headline.trim_end_matches([' ', ':', '.']).to_owned(),
        kernel: record.kernel.as_ref().map(|kernel| kernel.full.clone()),
        path: place.and_then(|place| place.file.as_deref()).map(named),
        line: place.and_then(|place| place.line),
        block: record.block,
        thread: record.thread,
        text: record.words(),
        ..EvidenceRecord::default()
    }
}
