//! Exceptions of Python: the script ends at the finding's line with the exception that the finding predicts.

use super::run_alone::Tested;
use super::{Judgement, driver};
use crate::lab::{Bench, End, Run, RunOutcome};
use crate::machine::Python;
use crate::scenario::{OBSERVED, Origin, Program, PythonProgram, Raise};
use crate::tools::traceback::{self, Frame, Raised};
use camino::{Utf8Path, Utf8PathBuf};
use cudalint_findings::model::{EvidenceRecord, FindingEntry, Verdict};

/// Follows a script line by line, for one that ends without an exception.
const REACHED: &str = include_str!("reached.py");

/// Performs the experiment on one program.
pub fn perform(finding: &FindingEntry, program: &Program, bench: &Bench<'_>) -> Judgement {
    let Program::Python(program) = program else {
        return Judgement::without_run(Verdict::Unsupported, "exceptions are looked for in Python programs only");
    };
    let Some(python) = &bench.lab.machine.python else {
        return Judgement::without_run(Verdict::Unsupported, "there is no Python");
    };
    // Nobody may have asked it for its packages.
    let asked = !python.packages.is_empty();
    if let Some(problem) = driver::missing_package(python, &program.packages).filter(|_| asked) {
        return Judgement::without_run(Verdict::Unsupported, problem);
    }
    let Some(raise) = &program.raises else {
        return Judgement::without_run(Verdict::Unviable, "nothing says what the script would raise");
    };
    if raise.classes.is_empty() {
        return Judgement::without_run(Verdict::Unviable, "the finding names no exception that could be looked for");
    }
    if let Err(problem) = bench.write_all(&program.files) {
        return Judgement::without_run(Verdict::Unviable, problem);
    }
    let script = bench.folder.join(&program.script);
    let run = bench.run(&run_of(bench, python, program, "exception", vec![script.to_string()]));
    let back_end = driver::back_end(python, &program.packages);
    if let Some(judgement) = Judgement::of_end(&run, &back_end) {
        return judgement;
    }
    let experiment = Experiment { finding, program, raise, python, bench, script, back_end };
    let judgement = experiment.judge(&run);
    let judgement = experiment.controlled(judgement);
    on_a_device(judgement, bench)
}

/// What a project's own run raised at the finding's place, whoever caught it. The run came to it.
pub(super) fn in_project(finding: &FindingEntry, program: &PythonProgram, tested: &Tested) -> Judgement {
    let of_run = |verdict, reason: String, records| {
        Judgement::of_run(verdict, reason, tested.back_end.clone(), &tested.alone.run, records)
    };
    let Some(raise) = program.raises.as_ref().filter(|raise| !raise.classes.is_empty()) else {
        let reason = "the finding names no exception that could be looked for";
        return of_run(Verdict::Unviable, reason.to_owned(), Vec::new());
    };
    let seen = tested.alone.reached.exceptions(&finding.path, &program.script);
    let found = seen.iter().find_map(|raised| Some((raised, matches(raised, raise, &program.script, false)?)));
    match found {
        Some((raised, line)) => {
            let reason = format!("{} is raised at line {line}", raised.class_name());
            of_run(Verdict::Confirmed, reason, vec![record(raised, &finding.path, Some(line))])
        }
        None => of_run(Verdict::NotObserved, "the line runs and raises nothing of the kind".to_owned(), Vec::new()),
    }
}

/// Without a GPU nothing is decided: what the CPU's Python said stays beside the verdict.
fn on_a_device(mut judgement: Judgement, bench: &Bench<'_>) -> Judgement {
    if bench.lab.machine.devices.is_empty() && judgement.verdict != Verdict::Timeout {
        if judgement.verdict != Verdict::Confirmed {
            judgement.evidence.records.clear();
            judgement.evidence.log = None;
        }
        judgement.reason = format!("there is no GPU; on the CPU {}", judgement.reason);
        judgement.verdict = Verdict::Unsupported;
    }
    judgement
}

/// A run of Python.
fn run_of(bench: &Bench<'_>, python: &Python, program: &PythonProgram, label: &str, arguments: Vec<String>) -> Run {
    let mut command = vec![python.program.path.to_string()];
    command.extend(arguments);
    Run {
        device: !bench.lab.machine.devices.is_empty(),
        ..Run::on_device(label, command, driver::environment(program))
    }
}

struct Experiment<'e> {
    finding: &'e FindingEntry,
    program: &'e PythonProgram,
    raise: &'e Raise,
    python: &'e Python,
    bench: &'e Bench<'e>,
    /// Absolute.
    script: Utf8PathBuf,
    back_end: String,
}

impl Experiment<'_> {
    /// What a finished run says.
    fn judge(&self, run: &RunOutcome) -> Judgement {
        let raised = traceback::read(&run.stderr);
        let place = self.shown_path();
        // What is in the script is there for the finding, and the same without it is run as well.
        let alone = self.program.control.is_some();
        if let Some((exception, line)) =
            raised.iter().find_map(|raised| Some((raised, matches(raised, self.raise, &self.script, alone)?)))
        {
            let reason = format!("{} is raised at line {line}", exception.class_name());
            return self.of_run(Verdict::Confirmed, reason, run, vec![record(exception, place, Some(line))]);
        }
        let observed = run.stdout.lines().find_map(|line| line.strip_prefix(OBSERVED));
        if self.program.origin == Origin::Cut
            && let Some(observed) = observed
        {
            let line = self.raise.lines.first().map(|(first, _)| *first);
            let record = EvidenceRecord {
                kind: "value".to_owned(),
                path: Some(place.to_owned()),
                line,
                text: observed.to_owned(),
                ..EvidenceRecord::default()
            };
            return self.of_run(
                Verdict::Confirmed,
                "nothing is raised, and the value is not what is meant",
                run,
                vec![record],
            );
        }
        if let Some(last) = raised.last() {
            let line = own_line(last, &self.script);
            let at = line.map_or_else(|| "elsewhere".to_owned(), |line| format!("at line {line}"));
            let reason = format!("the script ends {at} with another exception: {}", last.headline());
            return self.of_run(Verdict::Unviable, reason, run, vec![record(last, place, line)]);
        }
        match &run.end {
            End::Signal(signal) => {
                let reason = format!("the script is ended by signal {signal} without a traceback");
                self.of_run(Verdict::Unviable, reason, run, Vec::new())
            }
            _ => self.quiet(run),
        }
    }

    /// What a script that raised nothing did at the finding's place.
    fn quiet(&self, run: &RunOutcome) -> Judgement {
        let unknown = |reason: String| self.of_run(Verdict::Unviable, reason, run, Vec::new());
        let follower = match self.bench.write(Utf8Path::new("reached.py"), REACHED) {
            Ok(follower) => follower,
            Err(error) => return unknown(format!("reached.py: {error}")),
        };
        let log = self.bench.folder.join("reached.log");
        let mut arguments = vec![follower.to_string(), self.script.to_string(), log.to_string()];
        for (first, last) in &self.raise.lines {
            arguments.extend([first.to_string(), last.to_string()]);
        }
        let again = self.bench.run(&run_of(self.bench, self.python, self.program, "reached", arguments));
        if let Some(judgement) = Judgement::of_end(&again, &self.back_end) {
            return judgement;
        }
        let text = std::fs::read_to_string(&log).unwrap_or_default();
        if let Some((line, exception)) = text.lines().filter_map(caught).find(|(_, raised)| self.is_predicted(raised)) {
            let reason = format!("{} is raised at line {line}, and caught", exception.class_name());
            let record = record(&exception, self.shown_path(), Some(line));
            return self.of_run(Verdict::Confirmed, reason, &again, vec![record]);
        }
        if !text.lines().any(|line| line.starts_with("reached ")) {
            let reason = format!("the script ends without reaching line {}", self.finding.range.start.line);
            return self.of_run(Verdict::Unviable, reason, &again, Vec::new());
        }
        if self.program.origin == Origin::Cut && self.program.made_up.is_empty() {
            return self.of_run(Verdict::Refuted, "the statement runs alone and raises nothing", run, Vec::new());
        }
        self.of_run(Verdict::NotObserved, "the line runs and raises nothing of the kind", run, Vec::new())
    }

    /// A cut script's exception counts when the same script without what is wrong raises none.
    fn controlled(&self, judgement: Judgement) -> Judgement {
        let Some(control) = self.program.control.as_ref().filter(|_| judgement.verdict == Verdict::Confirmed) else {
            return judgement;
        };
        let arguments = vec![self.bench.folder.join(control).to_string()];
        let run = self.bench.run(&run_of(self.bench, self.python, self.program, "control", arguments));
        if let Some(ended) = Judgement::of_end(&run, &self.back_end) {
            return ended;
        }
        if run.end == End::Exit(0) {
            return judgement;
        }
        let words = traceback::read(&run.stderr).last().map_or_else(|| "it ends badly".to_owned(), Raised::headline);
        let reason = format!("the script raises it even without what is wrong: {words}");
        self.of_run(Verdict::Unviable, reason, &run, Vec::new())
    }

    fn is_predicted(&self, raised: &Raised) -> bool {
        is_of_kind(raised, self.raise)
    }

    /// The user's file: the script's lines are its lines.
    fn shown_path(&self) -> &str {
        &self.finding.path
    }

    fn of_run(
        &self,
        verdict: Verdict,
        reason: impl Into<String>,
        run: &RunOutcome,
        records: Vec<EvidenceRecord>,
    ) -> Judgement {
        Judgement::of_run(verdict, reason, self.back_end.clone(), run, records)
    }
}

/// `raised 43 ValueError: words`, of the follower's log.
fn caught(line: &str) -> Option<(u32, Raised)> {
    let (number, rest) = line.strip_prefix("raised ")?.split_once(' ')?;
    let (class, message) = rest.split_once(':')?;
    let raised = Raised { class: class.to_owned(), message: message.trim().to_owned(), frames: Vec::new() };
    Some((number.parse().ok()?, raised))
}

/// Whether an exception is one of those predicted, wherever it was raised. What a module that Boost.Python made raises for
/// arguments of wrong types is a `TypeError`.
fn is_of_kind(raised: &Raised, raise: &Raise) -> bool {
    let is = |class: &String| {
        class == raised.class_name() || class == "TypeError" && raised.class == "Boost.Python.ArgumentError"
    };
    raise.classes.iter().any(is) && raise.words.iter().all(|word| raised.message.contains(word.as_str()))
}

/// The line at which a predicted exception was raised; none for any other exception or place. The place is the innermost
/// frame in the script; what a package raises below it counts for that line. Numba names the kernel's line in its words: where
/// that is another statement than the finding's, a launch of the kernel says nothing, unless the script holds the finding's
/// `alone`.
fn matches(raised: &Raised, raise: &Raise, script: &Utf8Path, alone: bool) -> Option<u32> {
    if !is_of_kind(raised, raise) {
        return None;
    }
    let inside = |line: &u32| raise.lines.iter().any(|(first, last)| (first..=last).contains(&line));
    let mentioned = raised.mentioned();
    let mut named = mentioned.iter().filter(|frame| is_script(frame, script)).map(|frame| frame.line).peekable();
    let own = own_line(raised, script).filter(inside);
    if named.peek().is_none() || alone {
        return own.or_else(|| named.find(inside));
    }
    let told = named.find(inside)?;
    Some(own.unwrap_or(told))
}

/// The line of the innermost frame in the script.
pub(super) fn own_line(raised: &Raised, script: &Utf8Path) -> Option<u32> {
    raised.frames.iter().rev().find(|frame| is_script(frame, script)).map(|frame| frame.line)
}

/// Whether a place is in the script. Python gives whole paths, Numba sometimes the last part alone.
fn is_script(frame: &Frame, script: &Utf8Path) -> bool {
    let path = Utf8Path::new(&frame.path);
    let below: Utf8PathBuf = path.components().skip_while(|part| part.as_str() == "..").collect();
    path == script || (path.is_relative() && script.ends_with(below))
}

fn record(raised: &Raised, path: &str, line: Option<u32>) -> EvidenceRecord {
    EvidenceRecord {
        kind: raised.class_name().to_owned(),
        path: line.map(|_| path.to_owned()),
        line,
        text: raised.headline(),
        ..EvidenceRecord::default()
    }
}

#[cfg(test)]
mod tests {
    use super::{Raise, matches};
    use crate::tools::traceback::{Frame, Raised};
    use camino::Utf8Path;

    fn raised(class: &str, message: &str, lines: &[(&str, u32)]) -> Raised {
        let frame = |(path, line): &(&str, u32)| Frame {
            path: (*path).to_owned(),
            line: *line,
            function: Some("f".to_owned()),
        };
        Raised { class: class.to_owned(), message: message.to_owned(), frames: lines.iter().map(frame).collect() }
    }

    fn raise(class: &str, word: &str, line: u32) -> Raise {
        Raise { classes: vec![class.to_owned()], words: vec![word.to_owned()], lines: vec![(line, line)] }
    }

    #[test]
    fn kind_words_and_the_innermost_line_must_all_agree() {
        let script = Utf8Path::new("/out/cut.py");
        let exception = raised(
            "AttributeError",
            "module 'cupy.cuda' has no attribute 'malloc'",
            &[("/out/cut.py", 3), ("/out/cut.py", 7), ("/lib/x.py", 1)],
        );
        assert_eq!(matches(&exception, &raise("AttributeError", "'malloc'", 7), script, false), Some(7));
        assert_eq!(matches(&exception, &raise("AttributeError", "'malloc'", 3), script, false), None);
        assert_eq!(matches(&exception, &raise("AttributeError", "'free'", 7), script, false), None);
        assert_eq!(matches(&exception, &raise("TypeError", "'malloc'", 7), script, false), None);
        assert_eq!(matches(&exception, &raise("AttributeError", "'malloc'", 1), script, false), None);
    }

    #[test]
    fn the_line_of_another_file_of_the_same_number_is_not_the_script_s() {
        let script = Utf8Path::new("/out/cut.py");
        let exception = raised("ValueError", "x", &[("/elsewhere/cut.py", 7)]);
        assert_eq!(matches(&exception, &raise("ValueError", "x", 7), script, false), None);
    }

    #[test]
    fn numba_may_name_the_line_in_its_words() {
        let message = "Unknown attribute 'grids' of type Module\n\nFile \"cut.py\", line 12:\ndef f(x):\n";
        let exception = raised("numba.core.errors.TypingError", message, &[("/out/cut.py", 20)]);
        let script = Utf8Path::new("/out/cut.py");
        assert_eq!(matches(&exception, &raise("TypingError", "'grids'", 12), script, false), Some(12));
        assert_eq!(matches(&exception, &raise("TypingError", "'grids'", 13), script, false), None);
    }
}
