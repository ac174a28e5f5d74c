//! A launch of a Numba kernel with arrays of the host, against the same launch with their copies on the device.

use super::versions::shown;
use crate::experiment::watchpoint::look;
use crate::experiment::{Judgement, driver};
use crate::lab::Bench;
use crate::scenario::PythonProgram;
use cudalint_findings::model::{EvidenceRecord, FindingEntry, Verdict};
use serde::Deserialize;

/// Thousandths of the time with arrays of the host that the launch may take with arrays of the device.
const LESS: u64 = 970;

/// A line of the driver's `compare.log`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Fact {
    reached: Option<u32>,
    kind: String,
    line: u32,
    kernel: Option<String>,
    /// Bytes that a launch takes to the device, and back.
    there: u64,
    back: u64,
    /// Nanoseconds of a launch with arrays of the host and of the device: the shortest of so many.
    host: u64,
    device: u64,
    rounds: u64,
    problem: Option<String>,
}

pub(super) fn perform(finding: &FindingEntry, program: &PythonProgram, bench: &Bench<'_>) -> Judgement {
    let run = match look(finding, program, bench) {
        Ok(run) => run,
        Err(judgement) => return *judgement,
    };
    let python = bench.lab.machine.python.as_ref();
    let back_end = python.map_or_else(String::new, |python| driver::back_end(python, &program.packages));
    let (path, facts) = driver::entries::<Fact>(bench, "compare.log");
    let (verdict, reason, records) = match facts.iter().find(|fact| fact.kind == "transfer") {
        Some(Fact { problem: Some(problem), .. }) => {
            (Verdict::Unviable, format!("nothing was measured: {problem}"), Vec::new())
        }
        Some(fact) => judged(finding, fact),
        None if run.failed() => {
            (Verdict::Unviable, format!("the script fails by itself: {}", driver::last_line(&run.stderr)), Vec::new())
        }
        None => {
            let line = finding.range.start.line;
            let reason = if facts.iter().any(|fact| fact.reached.is_some()) {
                format!("line {line} ran, and launched no kernel with an array of the host")
            } else {
                format!("the script ends without coming to line {line}")
            };
            (Verdict::Unviable, reason, Vec::new())
        }
    };
    let mut judgement = Judgement::of_run(verdict, reason, back_end, &run, records);
    judgement.evidence.log = Some(bench.relative(&path));
    judgement
}

fn judged(finding: &FindingEntry, fact: &Fact) -> (Verdict, String, Vec<EvidenceRecord>) {
    let kernel = fact.kernel.clone().unwrap_or_default();
    let text = format!(
        "a launch of `{kernel}` copies {} bytes to the device and {} back, and takes {} where it takes {} with arrays of the device (the shortest of {})",
        fact.there,
        fact.back,
        shown(fact.host),
        shown(fact.device),
        fact.rounds
    );
    let copies = fact.there > 0 && fact.back > 0;
    if copies && fact.device.saturating_mul(1000) < fact.host.saturating_mul(LESS) {
        let record = EvidenceRecord::at("time", &finding.path, fact.line, &text).in_kernel(fact.kernel.clone());
        return (Verdict::Confirmed, format!("{}:{}: {text}", finding.path, fact.line), vec![record]);
    }
    (Verdict::NotObserved, format!("{}:{}: {text}", finding.path, fact.line), Vec::new())
}
