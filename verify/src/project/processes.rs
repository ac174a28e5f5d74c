//! What the programs of one run have written down, each in a log of its own, as one.

use super::build::Built;
use crate::lab::{Bench, Run};
use crate::tools::probe_log::{self, Event, Place, Trace};
use camino::{Utf8Path, Utf8PathBuf};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read};

/// Bytes of a log's first line that are read.
const FIRST: u64 = 1 << 14;

/// Logs of one run that are read.
const LOGS: usize = 2000;

/// The logs of a run with this log's name, in the order in which their programs began.
pub(super) fn logs(log: &Utf8Path) -> Vec<Utf8PathBuf> {
    let (Some(folder), Some(name)) = (log.parent(), log.file_name()) else { return Vec::new() };
    let Ok(entries) = folder.read_dir_utf8() else { return Vec::new() };
    let of_run = |path: &Utf8PathBuf| {
        path.file_name().and_then(|it| it.strip_prefix(name)).is_some_and(|rest| rest.starts_with('.'))
    };
    let mut found: Vec<Utf8PathBuf> = entries.flatten().map(|it| it.path().to_owned()).filter(of_run).collect();
    found.sort_by_cached_key(|path| (began(path), path.clone()));
    found.truncate(LOGS);
    found
}

/// When a log's program began, in nanoseconds of a clock that all programs of a run share; 0 where it does not say so.
fn began(log: &Utf8Path) -> u64 {
    let mut first = String::new();
    let read = std::fs::File::open(log).map(|file| BufReader::new(file.take(FIRST)).read_line(&mut first));
    let line = if matches!(read, Ok(Ok(_))) { serde_json::from_str::<serde_json::Value>(&first).ok() } else { None };
    line.and_then(|line| line.get("time")?.as_u64()).unwrap_or(0)
}

/// The logs of a run as one trace, and the log that says most of it: that of the first program that did something.
pub(super) fn read(bench: &Bench<'_>, built: &Built, log: &Utf8Path, label: &str) -> (Trace, Utf8PathBuf) {
    let mut whole = Trace { ended: true, ..Trace::default() };
    let mut shown = None;
    let mut more = 0;
    let mut active = 0;
    for file in logs(log) {
        let bytes = std::fs::read(&file).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        // The program is where it was built.
        let program = text.lines().next().map(probe_log::read).and_then(|first| first.program);
        let mut trace = probe_log::read(&built.as_shown(&text));
        whole.began |= trace.began;
        whole.unread += trace.unread;
        let silent = trace.events.is_empty() && trace.signal.is_none() && trace.stop.is_none();
        if silent && trace.covers.is_empty() && trace.pairs.is_empty() {
            continue;
        }
        if let Some(program) = &program {
            let places = places(bench, label, Utf8Path::new(program), &trace.offsets());
            trace.place(|offset| {
                let place = places.get(&offset)?;
                Some(Place { file: built.as_shown(&place.file), ..place.clone() })
            });
        }
        shown.get_or_insert(file);
        active += 1;
        whole.program = whole.program.or(trace.program);
        whole.ended &= trace.ended;
        more += trace.more.as_ref().map_or(0, |(count, _)| *count);
        if let Some((_, digest)) = trace.more {
            whole.more = Some((more, digest));
        }
        whole.covers.extend(trace.covers);
        whole.pairs.extend(trace.pairs);
        whole.stop = whole.stop.or(trace.stop);
        whole.signal = whole.signal.or(trace.signal);
        whole.events.extend(trace.events);
    }
    // How one of several programs ends says nothing of what the others came to.
    if active > 1 {
        whole.signal = None;
    }
    for (sequence, event) in (1..).zip(&mut whole.events) {
        match event {
            Event::Call(call) => call.sequence = sequence,
            Event::Launch(launch) => launch.sequence = sequence,
            Event::Words(words) => words.sequence = sequence,
            Event::Touch(_) => {}
        }
    }
    whole.unseen = built.unseen();
    (whole, shown.unwrap_or_else(|| log.to_owned()))
}

impl Built {
    /// A text with the paths of the build's files as findings name them.
    pub fn as_shown(&self, text: &str) -> String {
        let (copy, original) = &self.copy;
        text.replace(copy.as_str(), original.as_str()).replace(&format!("{}/", self.root), "")
    }
}

/// The places of offsets in a program's file.
fn places(bench: &Bench<'_>, label: &str, program: &Utf8Path, offsets: &[u64]) -> HashMap<u64, Place> {
    let Some(addr2line) = &bench.lab.machine.addr2line else { return HashMap::new() };
    let mut found = HashMap::new();
    for some in offsets.chunks(500) {
        let mut command = vec![addr2line.path.to_string(), "-f".to_owned(), "-e".to_owned(), program.to_string()];
        // A return address is that of the instruction behind the call.
        command.extend(some.iter().map(|offset| format!("{:x}", offset.saturating_sub(1))));
        let run = Run { device: false, ..Run::on_device(format!("{label}.addr2line"), command, Vec::new()) };
        let places = probe_log::places(&bench.run(&run).stdout);
        found.extend(some.iter().zip(places).filter_map(|(offset, place)| Some((*offset, place?))));
    }
    found
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::logs;
    use camino::Utf8Path;

    #[test]
    fn programs_come_in_the_order_in_which_they_began() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(folder.path()).unwrap();
        let write = |name: &str, first: &str| std::fs::write(folder.join(name), format!("{first}\n")).unwrap();
        write("run.probe.jsonl.00032760.00", r#"{"event":"begin","program":"one","time":100}"#);
        write("run.probe.jsonl.00000312.00", r#"{"event":"begin","program":"two","time":200}"#);
        write("run.probe.jsonl.00000311.00", "no line of a log");
        write("other.probe.jsonl.00000001.00", r#"{"event":"begin","time":1}"#);
        let names: Vec<String> = logs(&folder.join("run.probe.jsonl"))
            .iter()
            .map(|path| path.as_str().rsplit('.').nth(1).unwrap().to_owned())
            .collect();
        assert_eq!(names, ["00000311", "00032760", "00000312"]);
    }
}
