//! What the compiler refuses: the program is built, and an error of the compiler has to stand at the finding's place.

use super::Judgement;
use super::place::{Spot, same_file};
use crate::lab::{Bench, Build, BuildFailure};
use crate::scenario::Program;
use crate::spelled::REMOVED;
use cudalint_findings::model::{EvidenceRecord, FindingEntry, Verdict};
use std::io::Read;

/// Bytes of a compiler's log in which errors are looked for.
const LOG: u64 = 1 << 20;

/// Performs the experiment on one program.
pub fn perform(finding: &FindingEntry, program: &Program, bench: &Bench<'_>) -> Judgement {
    let Program::Cuda(program) = program else {
        return Judgement::without_run(Verdict::Unsupported, "only whole programs of CUDA C++ are compiled for that");
    };
    if program.project.is_some() {
        return Judgement::without_run(Verdict::Unviable, "the project's own build is not tried for that");
    }
    let spot = Spot::primary(finding, program);
    if let Err(problem) = bench.write_all(&program.files) {
        return Judgement::without_run(Verdict::Unviable, problem);
    }
    // What is gone has no stand-in here.
    let as_it_is = |flag: &&String| !REMOVED.iter().any(|(_, stands_in)| flag == stands_in);
    let flags = program.flags.iter().filter(as_it_is).cloned().collect();
    let build = Build { label: "compile".to_owned(), units: vec![program.unit.clone()], flags };
    let Err(failure) = bench.build_as_it_is(&build) else {
        let reason = format!("the compiler takes {} as it is", spot.shown());
        return Judgement::without_run(Verdict::NotObserved, reason);
    };
    let mut judgement = Judgement::of_build(&failure);
    let BuildFailure::Refused { log, .. } = &failure else { return judgement };
    let mut bytes = Vec::new();
    if let Ok(file) = std::fs::File::open(bench.lab.folder.join(log)) {
        drop(file.take(LOG).read_to_end(&mut bytes));
    }
    let text = String::from_utf8_lossy(&bytes);
    let Some(said) = error_at(&text, &spot) else { return judgement };
    judgement.verdict = Verdict::Confirmed;
    judgement.reason = format!("the compiler refuses {}: {said}", spot.shown());
    judgement.evidence.back_end =
        bench.lab.machine.nvcc.as_ref().map_or("nvcc".to_owned(), |nvcc| format!("nvcc {}", nvcc.version));
    judgement.evidence.records = vec![EvidenceRecord::at("compiler error", &spot.path, spot.line, said)];
    judgement
}

/// What the compiler says at a place: `file(7): error: …` of nvcc, `file:7:5: error: …` of the host's.
fn error_at(log: &str, spot: &Spot) -> Option<String> {
    log.lines().find_map(|line| {
        let (place, said) = line.trim().split_once(": error")?;
        let said =
            said.trim_start_matches(|c: char| c == ':' || c == '#' || c == '-' || c == ' ' || c.is_ascii_digit());
        let (file, number) = match place.strip_suffix(')').and_then(|place| place.rsplit_once('(')) {
            Some(found) => found,
            None => place.split_once(':').and_then(|(file, rest)| Some((file, rest.split(':').next()?)))?,
        };
        let at_line = number.parse() == Ok(spot.line);
        (at_line && same_file(file, &spot.path)).then(|| said.trim_start_matches("D: ").to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::{Spot, error_at};

    #[test]
    fn errors_are_known_by_their_place() {
        let spot = Spot {
            path: "src/a.cu".to_owned(),
            line: 7,
            lines: (7, 7),
            name: String::new(),
            is_template: false,
            ordinal: (0, 0),
        };
        let of = |log: &str| error_at(log, &spot);
        let nvcc = "/tmp/x/src/a.cu(7): error: identifier \"cudaThreadSynchronize\" is undefined";
        assert_eq!(of(nvcc).as_deref(), Some("identifier \"cudaThreadSynchronize\" is undefined"));
        assert_eq!(of("src/a.cu:7:5: error: not declared").as_deref(), Some("not declared"));
        assert_eq!(of("src/a.cu(8): error: other"), None);
        assert_eq!(of("src/b.cu(7): error: other"), None);
        assert_eq!(of("src/a.cu(7): warning #1-D: other"), None);
    }
}
