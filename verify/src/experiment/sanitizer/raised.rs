//! Launches that a Python package refuses before CUDA sees them: an error of the call all the same, which only the script's
//! exception tells.

use super::tool::asks_for_shared_memory;
use crate::experiment::exception::own_line;
use crate::tools::sanitizer::base_name;
use crate::tools::traceback::Raised;
use camino::Utf8Path;
use cudalint_findings::model::{EvidenceRecord, FindingEntry};

/// What the exceptions of a script say of the finding's launch; none where they are about something else.
pub(super) fn refused(
    finding: &FindingEntry,
    exceptions: &[Raised],
    script: &Utf8Path,
) -> Option<(String, EvidenceRecord)> {
    exceptions.iter().find_map(|raised| configuration(finding, raised, script).or_else(|| shared_data(finding, raised)))
}

/// `ValueError: LaunchConfig.grid values must be >= 1 (got (0, 1, 1))`: cuda.core 1.0, which numba-cuda launches with, checks
/// the axes by itself. It has to be the finding's line, and the grid or block of its witness.
fn configuration(finding: &FindingEntry, raised: &Raised, script: &Utf8Path) -> Option<(String, EvidenceRecord)> {
    let words = raised.message.lines().next()?;
    if raised.class_name() != "ValueError" || !words.starts_with("LaunchConfig.") {
        return None;
    }
    let line = own_line(raised, script)?;
    let launch = finding.claim.launch.as_ref()?;
    let here = (finding.range.start.line..=finding.range.end.line).contains(&line) || line == launch.site.line();
    let triple = |[x, y, z]: [u64; 3]| format!("({x}, {y}, {z})");
    let got = words.split("(got ").nth(1)?;
    if !here || ![launch.grid, launch.block].iter().any(|axes| got.starts_with(&triple(*axes))) {
        return None;
    }
    let record = EvidenceRecord::at("refused launch", &finding.path, line, raised.headline());
    Some((format!("the launch at line {line} is refused: {}", raised.headline()), record))
}

/// `Entry function '_ZN8__main__4fill…' uses too much shared data (0x40000 bytes, 0xc000 max)`: the linker's words, wherever
/// the kernel is compiled.
fn shared_data(finding: &FindingEntry, raised: &Raised) -> Option<(String, EvidenceRecord)> {
    let line = raised.message.lines().find(|line| line.contains("too much shared data"))?;
    let kernel = line.split("Entry function '").nth(1)?.split('\'').next()?;
    let own = finding.function.as_deref().map(base_name)?;
    if base_name(kernel) != own || !asks_for_shared_memory(finding) {
        return None;
    }
    let amount = line.split("uses too much").nth(1).unwrap_or("").trim();
    let words = format!("`{own}` uses too much {amount}");
    let reason = format!("{} is raised: {words}", raised.class_name());
    let record = EvidenceRecord::at("linker error", &finding.path, finding.range.start.line, words);
    Some((reason, record.in_kernel(own)))
}
