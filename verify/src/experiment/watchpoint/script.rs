//! Watchpoints of Python: the driver launches copies of Numba kernels that log the flagged accesses, in the form in which
//! watchpoints of CUDA C++ programs do, and has those of cupyx.jit compiled with the same header as these. A program in a string is replaced by its copy with watchpoints.

use super::asked::{Asked, BACK_END, copy_of, header_for, judgement};
use super::look::look;
use crate::experiment::{Judgement, driver};
use crate::lab::Bench;
use crate::scenario::PythonProgram;
use crate::subject::Subject;
use crate::watch::HEADER_NAME;
use crate::watch::copy::{Copy, Site};
use crate::watch::hidden::hidden_order;
use crate::watch::judge::Question;
use crate::watch::log::Log;
use crate::watch::sites::Access;
use camino::Utf8Path;
use cudalint_findings::model::{FindingEntry, Verdict};
use serde::Deserialize;
use serde_json::json;

/// The driver's `sites.json`.
#[derive(Debug, Default, Deserialize)]
struct Logged {
    sites: Vec<Told>,
    kernels: Vec<String>,
    /// By kernel.
    unfollowed: Vec<Option<String>>,
}

#[derive(Debug, Deserialize)]
struct Told {
    line: u32,
    text: String,
    /// Of `watch.log`: 1 reads, 2 writes, 3 does both, 4 is atomic.
    kind: u32,
    function: String,
}

/// The driver's list of programs in strings.
const STRINGS: &str = "cudalint_strings.json";

/// A program in a string of a script, with watchpoints.
struct Watched {
    copy: Copy,
    unfollowed: Option<String>,
}

/// Writes the program with watchpoints in whose string a finding stands; none where it stands in no string.
fn in_string(finding: &FindingEntry, program: &PythonProgram, bench: &Bench<'_>) -> Option<Result<Watched, String>> {
    let path = bench.folder.join(STRINGS);
    drop(std::fs::remove_file(&path));
    if let Err(problem) = bench.write_all(&program.files) {
        return Some(Err(problem));
    }
    // The script has the finding's lines at their own numbers.
    let script = bench.folder.join(&program.script);
    let subject = Subject::read(script.parent()?, script.as_str(), &[]).ok()?;
    let inner = subject.in_string(finding)?;
    let stretch = inner.stretches.first()?;
    let copy = match copy_of(finding, inner, stretch, Some) {
        Ok(copy) => copy,
        Err(reason) => return Some(Err(reason)),
    };
    let span = stretch.region.span.range();
    let end = span.end + copy.text.len() - inner.text.len();
    let (original, watched) = (inner.text.get(span.clone())?, copy.text.get(span.start..end)?);
    let line = inner.line_of(stretch.region.span.start);
    let list = json!({"programs": [{"original": original, "watched": watched, "line": line}]});
    if let Err(error) = bench.write(Utf8Path::new(STRINGS), &list.to_string()) {
        return Some(Err(format!("{STRINGS}: {error}")));
    }
    let unfollowed = hidden_order(&inner.project, &copy);
    Some(Ok(Watched { copy, unfollowed }))
}

/// Performs the experiment on a script.
pub(super) fn perform(finding: &FindingEntry, program: &PythonProgram, bench: &Bench<'_>) -> Judgement {
    let in_string = match in_string(finding, program, bench) {
        Some(Ok(watched)) => Some(watched),
        Some(Err(reason)) => return Judgement::without_run(Verdict::Unviable, reason),
        None => None,
    };
    // What CuPy makes of a kernel includes it.
    if let Err(error) = bench.write(Utf8Path::new(HEADER_NAME), &header_for(finding)) {
        return Judgement::without_run(Verdict::Unviable, format!("{HEADER_NAME}: {error}"));
    }
    let run = match look(finding, program, bench) {
        Ok(run) => run,
        Err(judgement) => return *judgement,
    };
    let (path, text) = driver::log(bench, "watch.log");
    let log = Log::read(&text);
    let unviable = |reason: String| Judgement::of_run(Verdict::Unviable, reason, BACK_END, &run, Vec::new());
    if let Some(Watched { copy, unfollowed }) = &in_string {
        if log.launches.is_empty() {
            return unviable(if run.failed() {
                format!("the script fails by itself: {}", driver::last_line(&run.stderr))
            } else {
                "no kernel of the program in the string was launched: one that is put together when the script runs is not followed"
                    .to_owned()
            });
        }
        let (sites, kernels, unfollowed) = (&copy.sites, &copy.kernels, unfollowed.as_deref());
        let question = Question { finding, sites, kernels, unfollowed, log: &log };
        let answer = Asked::of(finding).answer(&question);
        return judgement(finding, &question, answer, &run, &bench.relative(&path));
    }
    let Some((sites, kernels, unfollowed)) = sites(bench) else {
        return unviable(match &log.off {
            Some(reason) => reason.clone(),
            None if run.failed() => format!("the script fails by itself: {}", driver::last_line(&run.stderr)),
            None if Asked::of(finding) == Asked::Unwritten => {
                "no Numba kernel was launched that reads a shared array on the finding's lines: of other kernels not all accesses are followed".to_owned()
            }
            None => "no kernel of Numba or cupyx.jit with an access on the finding's lines was launched: accesses of kernels in other dialects are not followed".to_owned(),
        });
    };
    let question = Question { finding, sites: &sites, kernels: &kernels, unfollowed: unfollowed.as_deref(), log: &log };
    let answer = Asked::of(finding).answer(&question);
    judgement(finding, &question, answer, &run, &bench.relative(&path))
}

/// The sites and kernels that the driver logs, and what may order accesses of one of them unseen; none where it logs none.
fn sites(bench: &Bench<'_>) -> Option<(Vec<Site>, Vec<String>, Option<String>)> {
    let (_, text) = driver::log(bench, "sites.json");
    let told: Logged = serde_json::from_str(&text).ok()?;
    let sites = told.sites.into_iter().enumerate().map(|(index, site)| Site {
        id: index as u32,
        line: site.line,
        text: site.text,
        access: match site.kind {
            1 => Access::Read,
            2 => Access::Write,
            3 => Access::Update,
            _ => Access::Atomic,
        },
        function: site.function,
    });
    Some((sites.collect(), told.kernels, told.unfollowed.into_iter().flatten().next()))
}
