//! The programs of a finding are tried, best first, until one decides.

use super::folder::Folder;
use super::mending;
use super::request::{Observer, Request};
use crate::experiment::Judgement;
use crate::lab::{Bench, Build, BuildFailure, Lab};
use crate::outcome::Attempt;
use crate::scenario::{Candidate, CudaProgram, Origin, Program, Project, PythonProgram, ScenarioFile};
use crate::subject::Subject;
use cudalint_findings::model::{Evidence, FindingEntry, Method, Verdict};
use cudalint_syntax::FileKind;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

/// A source, read once for all findings in it; or why it cannot be read.
pub(super) type Source = Result<Arc<Subject>, String>;

/// Verifies findings one after the other; shared by all jobs.
pub(super) struct Worker<'run> {
    pub request: &'run Request<'run>,
    pub lab: &'run Lab,
    pub folder: &'run Folder,
    pub observer: &'run dyn Observer,
    pub sources: Mutex<HashMap<&'run str, Arc<OnceLock<Source>>>>,
}

/// What trying a finding's programs gave.
pub(super) struct Tried {
    pub judgement: Judgement,
    pub attempts: Vec<Attempt>,
    /// Place of the program that decided, or came nearest to it.
    pub best: usize,
}

impl<'run> Worker<'run> {
    pub fn new(
        request: &'run Request<'run>,
        lab: &'run Lab,
        folder: &'run Folder,
        observer: &'run dyn Observer,
    ) -> Self {
        Self { request, lab, folder, observer, sources: Mutex::default() }
    }

    /// Tries the programs of a finding, or only the one at `only`. `fixed` is the subject's file where it stands for one
    /// of the user's.
    pub fn try_programs(
        &self,
        finding: &FindingEntry,
        subject: &Subject,
        bench: &Bench<'_>,
        only: Option<usize>,
        fixed: Option<&str>,
    ) -> Tried {
        let mut best: Option<(usize, Judgement)> = None;
        let mut attempts = Vec::new();
        let mut candidates = (self.request.candidates)(finding, subject);
        self.add_project(&mut candidates, finding, subject, fixed);
        let project_given =
            (self.request.project_for)(fixed.unwrap_or(&finding.path)).is_some_and(|project| project.given);
        for (place, candidate) in candidates.iter().enumerate() {
            if only.is_some_and(|only| only != place) {
                continue;
            }
            if self.lab.stop.requested() {
                bench.interrupt();
                break;
            }
            let (name, folder, judgement) = match candidate {
                Ok(program) => {
                    let name = format!("{}-{}", place + 1, slug(program));
                    match bench.below(&name) {
                        Ok(bench) => {
                            let judgement = self.perform(finding, program, &bench);
                            (words(program), Some(bench.relative(&bench.folder)), judgement)
                        }
                        Err(error) => {
                            let reason = format!("{}/{name}: {error}", bench.folder);
                            (words(program), None, Judgement::without_run(Verdict::Unviable, reason))
                        }
                    }
                }
                Err(reason) => ("none", None, Judgement::without_run(Verdict::Unviable, reason.clone())),
            };
            let (verdict, reason) = (judgement.verdict, judgement.reason.clone());
            let by_verdict = || came_to(finding.verification.method, verdict);
            let reached = if is_project(candidate) { judgement.reached.or_else(by_verdict) } else { None };
            attempts.push(Attempt { program: name.to_owned(), folder, verdict, reason, reached });
            let settled = decides(verdict) || (self.lab.machine.devices.is_empty() && judgement.evidence.log.is_some());
            // The first of equals: the candidates come best first. What Python or a compiler said without a GPU is more
            // than nothing.
            let bare = self.lab.machine.devices.is_empty();
            let worth = |judgement: &Judgement| (rank(judgement.verdict), bare && said_something(&judgement.evidence));
            if best.as_ref().is_none_or(|(_, best)| worth(&judgement) > worth(best)) {
                best = Some((place, judgement));
            }
            if settled {
                break;
            }
        }
        let none = || (0, Judgement::without_run(Verdict::Unviable, "there is no program that would show it"));
        let (best, mut judgement) = best.unwrap_or_else(none);
        if attempts.len() > 1 && attempts.iter().all(|attempt| attempt.verdict == Verdict::Unviable) {
            let reasons = attempts.iter().map(|attempt| match attempt.program.as_str() {
                "none" => attempt.reason.clone(),
                program => format!("{program}: {}", attempt.reason),
            });
            judgement.reason = reasons.collect::<Vec<_>>().join("; ");
        }
        if let Some((of_project, words)) = attempts.iter().enumerate().find_map(|(place, it)| Some((place, told(it)?)))
            && of_project != best
        {
            judgement.reason = format!("{}; {words}", judgement.reason);
        }
        if let Some(words) = mending::setting(&judgement, &attempts, project_given) {
            judgement.reason = format!("{}; {words}", judgement.reason);
        }
        Tried { judgement, attempts, best }
    }

    /// Puts the program of the finding's project among the others: first where the user has said how it is built, else
    /// behind those as written.
    fn add_project(
        &self,
        candidates: &mut Vec<Candidate>,
        finding: &FindingEntry,
        subject: &Subject,
        fixed: Option<&str>,
    ) {
        let is_script = subject.kind == FileKind::Python;
        if !is_script && !matches!(subject.kind, FileKind::Cuda | FileKind::CFamily) {
            return;
        }
        let path = fixed.unwrap_or(&finding.path);
        let Some(mut project) = (self.request.project_for)(path) else { return };
        // Nobody has asked for this build: it is made for a run alone.
        let machine = &self.lab.machine;
        if !project.given && (machine.devices.is_empty() || machine.nvcc.is_none() || is_script) {
            return;
        }
        let own = self.request.root.join(path);
        if fixed.is_some() {
            let Ok(inside) = own.strip_prefix(&project.base) else { return };
            project.replaced = Some((inside.to_owned(), subject.file.clone()));
        }
        let as_written = |candidate: &Candidate| {
            matches!(candidate, Ok(Program::Cuda(CudaProgram { origin: Origin::AsWritten, .. })))
        };
        if is_script {
            candidates.insert(0, Ok(Program::Python(of_script(candidates, project, subject))));
            return;
        }
        let place = if project.given { 0 } else { candidates.iter().take_while(|it| as_written(it)).count() };
        let program = CudaProgram {
            origin: Origin::Project,
            unit: subject.file.clone(),
            files: Vec::new(),
            flags: Vec::new(),
            arguments: Vec::new(),
            reproducer: None,
            project: Some(project),
        };
        candidates.insert(place, Ok(Program::Cuda(program)));
    }

    /// Performs the experiment on one program; without a GPU, only builds it.
    fn perform(&self, finding: &FindingEntry, program: &Program, bench: &Bench<'_>) -> Judgement {
        let (files, reproducer) = match program {
            Program::Cuda(program) => (program.files.as_slice(), program.reproducer.as_deref()),
            Program::Python(program) => (program.files.as_slice(), program.reproducer.as_deref()),
            Program::Kernel(_) => (&[] as &[ScenarioFile], None),
        };
        for file in files {
            if let Err(error) = bench.write(&file.path, &file.text) {
                return Judgement::without_run(Verdict::Unviable, format!("{}: {error}", file.path));
            }
        }
        let mut judgement = match program {
            // Python refuses much before it needs a GPU: what it says is kept, and decides nothing.
            Program::Cuda(_) | Program::Kernel(_) if self.lab.machine.devices.is_empty() => {
                self.compile_only(program, bench)
            }
            _ => (self.request.perform)(finding, program, bench),
        };
        if let (None, Some(file)) = (&judgement.evidence.reproducer, reproducer) {
            judgement.evidence.reproducer = Some(bench.relative(&bench.folder.join(file)));
        }
        judgement
    }

    /// What can be said of a program where there is no GPU.
    fn compile_only(&self, program: &Program, bench: &Bench<'_>) -> Judgement {
        let machine = &self.lab.machine;
        let nothing = |reason: &str| Judgement::without_run(Verdict::Unsupported, format!("there is no GPU: {reason}"));
        if let Program::Kernel(kernel) = program {
            return match crate::kernel::compile_only(bench, kernel) {
                Ok((said, log)) => {
                    let mut judgement = nothing(&format!("nothing was run; the kernel, alone, {said}"));
                    judgement.evidence.log = Some(log);
                    judgement
                }
                Err(reason) => nothing(&format!("nothing was run; of the kernel, alone: {reason}")),
            };
        }
        let Program::Cuda(CudaProgram { unit, flags, project, .. }) = program else {
            return nothing("nothing was run");
        };
        let Some(nvcc) = &machine.nvcc else {
            return nothing("nothing was run; there is no CUDA compiler either, so nothing was built");
        };
        if let Some(project) = project {
            let said = match crate::project::built(bench, project, crate::project::Put::Probe(&[])) {
                Ok(built) => match built.about(&built.as_shown(unit.as_str())) {
                    Some(about) => format!("the project's build succeeds, but {about}"),
                    None => "the project's build succeeds, with the probe in it".to_owned(),
                },
                Err(failure) => Judgement::of_project(&failure).reason,
            };
            return nothing(&format!("nothing was run; {said}"));
        }
        let build = Build { label: "program".to_owned(), units: vec![unit.clone()], flags: flags.clone() };
        let (said, log) = match bench.build(&build) {
            Ok(_) => {
                let architecture = machine.architecture();
                let version = &nvcc.version;
                let said = format!("the program, {}, compiles for sm_{architecture} (nvcc {version})", words(program));
                (said, Some(bench.relative(&bench.folder.join("program.build.log"))))
            }
            Err(BuildFailure::Refused { error, .. }) => {
                (format!("and the compiler refuses the program, {}: {error}", words(program)), None)
            }
            Err(failure) => (Judgement::of_build(&failure).reason, None),
        };
        let mut judgement = nothing(&format!("nothing was run; {said}"));
        judgement.evidence.log = log;
        judgement
    }
}

/// A script in a project's own run: what is looked for is what the script as written would show.
fn of_script(candidates: &[Candidate], project: Project, subject: &Subject) -> PythonProgram {
    let scripts = candidates.iter().filter_map(|candidate| match candidate {
        Ok(Program::Python(program)) => Some(program),
        _ => None,
    });
    let like = scripts.clone().find(|program| program.origin == Origin::AsWritten);
    let raises = scripts.clone().find_map(|program| program.raises.clone());
    let packages = like.or_else(|| scripts.clone().next()).map(|program| program.packages.clone());
    PythonProgram {
        origin: Origin::Project,
        script: subject.file.clone(),
        files: Vec::new(),
        packages: packages.unwrap_or_default(),
        reproducer: None,
        raises,
        control: None,
        made_up: Vec::new(),
        beside: None,
        project: Some(project),
    }
}

fn is_project(candidate: &Candidate) -> bool {
    candidate.as_ref().is_ok_and(|program| of_origin(Origin::Project) == words(program))
}

/// Whether a run came to the place, as far as its verdict tells. That a tool saw nothing does not.
fn came_to(method: Method, verdict: Verdict) -> Option<bool> {
    let by_place = matches!(method, Method::ApiError | Method::FaultInjection | Method::Output | Method::Exception);
    let came = match verdict {
        Verdict::Confirmed | Verdict::Refuted => true,
        Verdict::NotObserved => by_place,
        _ => false,
    };
    came.then_some(true)
}

/// What the project's own run says, where another program said more.
fn told(attempt: &Attempt) -> Option<&'static str> {
    match (attempt.reached?, attempt.verdict) {
        (true, Verdict::Confirmed | Verdict::Refuted) => None,
        (true, _) => Some("the project's own run comes to it without showing a fault"),
        (false, _) => Some("the project's own run does not come to it"),
    }
}

/// Whether something was built or run.
fn said_something(evidence: &Evidence) -> bool {
    !evidence.records.is_empty() || evidence.log.is_some()
}

/// Whether no other program need be tried.
fn decides(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Confirmed | Verdict::Refuted)
}

/// Of two verdicts on two programs, the higher says more of the finding.
fn rank(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Confirmed | Verdict::Refuted => 4,
        Verdict::NotObserved => 3,
        Verdict::Timeout => 2,
        Verdict::Unviable => 1,
        Verdict::Unsupported => 0,
    }
}

/// How a program came about, in words.
fn words(program: &Program) -> &'static str {
    match program {
        Program::Cuda(CudaProgram { origin, .. }) => of_origin(*origin),
        Program::Python(program) => of_origin(program.origin),
        Program::Kernel(_) => "the kernel alone",
    }
}

fn of_origin(origin: Origin) -> &'static str {
    match origin {
        Origin::AsWritten => "as written",
        Origin::Project => "in the project's build",
        Origin::Around => "around the file",
        Origin::Cut => "cut out",
    }
}

/// The same as a part of a folder's name.
fn slug(program: &Program) -> &'static str {
    match words(program) {
        "as written" => "as-written",
        "around the file" => "around",
        "in the project's build" => "project",
        "cut out" => "cut",
        _ => "kernel",
    }
}
