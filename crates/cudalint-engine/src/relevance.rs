//! Whether what stands at a place is in somebody's program: a mistake in a file that no build lists, in a function that nobody calls, or
//! behind a condition that never holds does no harm.

use crate::archive::archive;
use crate::astray::{astray, is_told, without_part};
use crate::callers::Calls;
use crate::data_model::takes_long_for_larger;
use crate::dead::Dead;
use crate::expected::holds_anyway;
use crate::homeless::homeless;
use crate::lone::Lone;
use crate::misfits::{misfit, second_main};
use crate::moved::moved;
use crate::noticed::Noticed;
use crate::others::{Other, Others, words};
use crate::project::{ProjectInput, Source};
use crate::roles::{COMPILED, Role};
use crate::rule::default_severity;
use crate::trials::Trials;
use crate::uncalled::{Users, Uses};
use crate::unlinked::unlinked;
use crate::unlisted::{Unlisted, is_listed_as_header, is_taken_for_plain, unlisted};
use crate::unread_symbols::lands_unread;

use cudalint_findings::{Confidence, Fault, Finding, Shows, Witness};
use cudalint_program::Project;
use cudalint_program::api::ApiId;
use cudalint_program::ir::{Expr, ExprNode, Function, FunctionRole, ModuleId};
use cudalint_replay::facts::{Facts, SpaceFault, SpaceFaultKind, Step};
use cudalint_syntax::{Language, Span, flaw};
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Endings of files that are compiled where others include them.
const HEADERS: [&str; 7] = [".cuh", ".h", ".hpp", ".hh", ".hxx", ".inl", ".tpp"];

/// What is known of a project's places.
pub(crate) struct Relevance<'p> {
    project: &'p Project,
    uses: Uses<'p>,
    calls: &'p Calls,
    others: Option<Others<'p>>,
    reals: FxHashMap<&'p str, &'p Path>,
    /// Folders in which includes are looked for.
    includes: &'p [PathBuf],
    /// Whether something tells compilers where headers are.
    told: OnceLock<bool>,
    library: bool,
    unlisted: OnceLock<Unlisted>,
    /// By module, what keeps compilers from taking its text.
    flaws: Vec<OnceLock<Option<String>>>,
    in_no_program: Vec<OnceLock<Option<String>>>,
    lone: OnceLock<Lone<'p>>,
    noticed: Noticed<'p>,
    trials: OnceLock<Trials>,
    /// The option that makes functions without a specifier the device's own, if something in the project spells it.
    for_device: OnceLock<Option<&'static str>>,
}

/// Options of NVRTC that make functions without a specifier the device's own (NVRTC, "Supported Compile Options").
const FOR_DEVICE: [&str; 2] = ["-default-device", "-device-as-default-execution-space"];

impl<'p> Relevance<'p> {
    /// `sources`: the files of its modules. `facts`: what the modules do. `calls`: what files without GPU code call.
    pub fn new(
        project: &'p Project,
        sources: &[&'p Source],
        facts: &[Facts],
        calls: &'p Calls,
        input: &'p ProjectInput<'_>,
    ) -> Self {
        let taken: FxHashSet<&Path> = sources.iter().map(|source| source.real.as_path()).collect();
        let others = input.others.as_ref().map(|paths| Others::new(paths, &input.sources, &taken, input.provider));
        let builds = &input.reading.builds;
        let reals = sources.iter().map(|source| (&*source.path, source.real.as_path())).collect();
        let library = !builds[1].is_empty();
        let uses = Uses::new(project, facts, calls, builds);
        let flaws = project.modules().map(|_| OnceLock::new()).collect();
        let in_no_program = project.modules().map(|_| OnceLock::new()).collect();
        let noticed = Noticed::new(project, facts, input);
        let (unlisted, lone, for_device) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        let (includes, told, trials) = (&*input.reading.includes, OnceLock::new(), OnceLock::new());
        Self {
            project,
            uses,
            calls,
            others,
            reals,
            includes,
            told,
            library,
            unlisted,
            flaws,
            in_no_program,
            lone,
            noticed,
            trials,
            for_device,
        }
    }

    /// Makes a finding of a module *possible* where nobody's program has its place, or the launch that it needs; whether it is told
    /// at all. `source`: the module's file. `crossings`: its calls across execution spaces.
    pub fn judge(&self, id: ModuleId, source: &Source, crossings: &[SpaceFault], finding: &mut Finding) -> bool {
        let at = finding.place.range.start;
        let own = finding.place.path == source.path;
        let users = if own { self.users(id, at) } else { Users::Some };
        let reason = match users {
            Users::Never => return false,
            Users::NotInProgram(reason) => Some(reason),
            Users::Some => own
                .then(|| {
                    // What a compiler refuses is refused there, too; but several programs in one file are meant to be taken apart.
                    let runs = finding.claim.shows != Shows::CompileError;
                    let flaw = if runs { self.is_flawed(id) } else { self.is_collection(id) };
                    let called = || if runs { self.calls_kernel(id, source, crossings) } else { None };
                    flaw.or_else(called)
                        .or_else(|| self.never_runs(id, at))
                        .or_else(|| self.is_unlisted(id))
                        .or_else(|| self.is_astray(id))
                        .or_else(|| self.is_in_no_program(id))
                })
                .flatten()
                .or_else(|| self.lone.get_or_init(|| Lone::of(self.project, self.others.as_ref())).needed(finding))
                .or_else(|| self.has_unlisted_launch(finding))
                .or_else(|| self.has_idle_kernel(finding))
                .or_else(|| self.has_idle_launch(finding))
                .or_else(|| self.others.as_ref().and_then(|_| lands_unread(self.project, finding)))
                .or_else(|| takes_long_for_larger(self.project, id, finding))
                .or_else(|| self.is_launched_unread(finding))
                .or_else(|| self.crosses_by_default(crossings, finding))
                .or_else(|| own.then(|| self.is_compiled_at_run_time(id, finding)).flatten())
                .or_else(|| own.then(|| holds_anyway(self.project, id, finding)).flatten())
                .or_else(|| own.then(|| self.trials().holds(id, finding)).flatten())
                .or_else(|| self.is_called_unread(finding))
                .or_else(|| self.begins_nowhere(id, finding))
                .or_else(|| self.noticed.contradicts(id, source, finding)),
        };
        if let Some(reason) = reason {
            finding.confidence = Confidence::Possible;
            finding.severity = default_severity(finding.rule.group, Confidence::Possible);
            finding.witness.get_or_insert_with(Witness::default).assumptions.push(reason);
        }
        true
    }

    /// Whether a finding rests on no caller in sight where files that were not read have some.
    fn is_called_unread(&self, finding: &Finding) -> Option<String> {
        let waits = finding.claim.shows == Shows::UnreadStatus { fault: Fault::Asynchronous };
        if !waits || finding.function == "main" || !self.calls.may_have(&finding.function) {
            return None;
        }
        let calls = |text: &Other| text.role == Role::Quiet && text.uses(&finding.function, &|_, _| true);
        let called = self.others.as_ref()?.texts()?.iter().any(calls);
        called
            .then(|| format!("`{}` is not waited for where it is called, in files that are not read", finding.function))
    }

    /// Whether a kernel that is taken to be launched in some way is launched by a program in another language, which is not read.
    fn is_launched_unread(&self, finding: &Finding) -> Option<String> {
        let kernel = finding.claim.kernel.as_deref()?;
        let name = words(kernel).next()?.1;
        let assumed = finding.confidence == Confidence::Likely && finding.claim.launch.is_none();
        // As the driver is asked for it; many kernels have names that are words of any language.
        let spelled = ['\'', '"'].map(|quote| format!("{quote}{name}{quote}"));
        let launches = |text: &&Other| {
            matches!(text.role, Role::Foreign | Role::Script)
                && spelled.iter().any(|it| text.text.contains(it.as_str()))
        };
        let text = self.others.as_ref().filter(|_| assumed)?.texts()?.iter().find(launches)?;
        let file = text.path.file_name()?.to_string_lossy();
        Some(format!("`{file}`, which names `{name}` and is not read, launches it so, too"))
    }

    /// Whether the way by which a finding comes about begins in a function that nobody calls.
    fn begins_nowhere(&self, id: ModuleId, finding: &Finding) -> Option<String> {
        let path = finding.witness.as_ref().map_or(&[][..], |witness| &witness.path);
        path.iter().find_map(|step| {
            let (place, at) = (&step.place, step.place.range.start);
            let is_it = |id: &ModuleId| **self.project.path(*id) == *place.path;
            let module = if is_it(&id) { Some(id) } else { self.project.modules().find(is_it) }?;
            self.nobody_calls(module, at)
        })
    }

    /// Whether nothing is known of a way that keeps programs from going it.
    pub fn is_walked(&self, path: &[Step]) -> bool {
        path.iter().all(|step| self.nobody_calls(step.site.module, step.site.span.start as usize).is_none())
    }

    /// Why nobody calls the function around a place, where that is so.
    fn nobody_calls(&self, module: ModuleId, at: usize) -> Option<String> {
        match self.users(module, at) {
            Users::Some => None,
            Users::NotInProgram(reason) => Some(reason),
            Users::Never => Some("a function is called, which nothing in this project does".to_owned()),
        }
    }

    fn trials(&self) -> &Trials {
        self.trials.get_or_init(|| Trials::of(self.project, &self.reals))
    }

    /// Whether no compiler takes a file: then nothing in it runs.
    fn is_flawed(&self, id: ModuleId) -> Option<String> {
        const STATEMENTS: [&str; 6] = ["printf", "scanf", "malloc", "memset", "memcpy", "free"];
        let found = || {
            let (module, path) = (self.project.module(id), &**self.project.path(id));
            let is_code = COMPILED.iter().chain(&HEADERS).any(|ending| path.ends_with(ending));
            if module.language == Language::Python
                && module.inside.is_none()
                && [".py"].iter().any(|it| path.ends_with(it))
            {
                // A script in Python is read whole before any of it runs.
                let span = *module.damage.first()?;
                return self.refused(id, span, "what is no Python");
            }
            if module.language != Language::Cuda || module.inside.is_some() || !is_code {
                return None;
            }
            let of_library = |name: &str| STATEMENTS.contains(&name) || ApiId::with_status(name).is_some();
            let own = |name: &str| module.functions.iter().any(|function| function.name == *name);
            let ends = |name: &str| of_library(name) && !own(name) && !self.project.has_macro(id, name);
            let text = self.project.source(id);
            let flaw = flaw(text, &module.passed_over, ends).map(|flaw| (flaw.span, flaw.what.to_owned()));
            let spelled = |word: &str| self.is_spelled(id, word);
            let given = |word: &str| self.is_given(word);
            let found = || misfit(self.project, id, &spelled, &given).map(|found| (found.span, found.what));
            let homeless = || {
                let any_other = |holds: &dyn Fn(&str) -> bool| self.any_other(id, holds);
                let (span, name) = homeless(self.project, id, &any_other)?;
                Some((span, format!("{name}, which no class declares,")))
            };
            let moved = || moved(self.project, id, self.others.as_ref()?);
            match flaw.or_else(found).or_else(homeless).or_else(moved) {
                Some((span, what)) => self.refused(id, span, &what),
                None => self.is_part_of_flawed(id),
            }
        };
        self.flaws.get(id.index())?.get_or_init(found).clone()
    }

    /// The same of all sources that include a file.
    fn is_part_of_flawed(&self, id: ModuleId) -> Option<String> {
        let includers = self.project.includes().includers(id.index() as u32).iter().map(|other| ModuleId(*other));
        let mut reason = None;
        for includer in includers {
            let is_included = !self.project.includes().includers(includer.index() as u32).is_empty();
            let is_source = COMPILED.iter().any(|ending| self.project.path(includer).ends_with(ending));
            if is_included || !is_source || includer == id {
                return None;
            }
            reason = Some(self.is_flawed(includer)?);
        }
        reason
    }

    /// Whether another text of the project than a module's own has a word, or may have it.
    fn is_spelled(&self, id: ModuleId, word: &str) -> bool {
        self.any_other(id, &|text| text.contains(word))
    }

    /// Whether something holds of another text of the project than a module's own, or may.
    fn any_other(&self, id: ModuleId, holds: &dyn Fn(&str) -> bool) -> bool {
        let Some(texts) = self.others.as_ref().and_then(Others::texts) else { return true };
        texts.iter().any(|text| holds(&text.text))
            || self.project.modules().any(|other| other != id && holds(self.project.source(other)))
    }

    /// Whether a build or a script has a word, or may have it: an option can define it.
    fn is_given(&self, word: &str) -> bool {
        let gives = |text: &Other| matches!(text.role, Role::Build | Role::Script) && text.text.contains(word);
        self.others.as_ref().and_then(Others::texts).is_none_or(|texts| texts.iter().any(gives))
    }

    /// Whether a module calls a kernel as if it were a function, which compilers refuse. Where the project builds the file, that is hardly so.
    fn calls_kernel(&self, id: ModuleId, source: &Source, crossings: &[SpaceFault]) -> Option<String> {
        let module = self.project.module(id);
        let path = &**self.project.path(id);
        let is_source = COMPILED.iter().any(|ending| path.ends_with(ending));
        let is_sure = |fault: &&SpaceFault| {
            let mut branches = module.supposed.iter().map(|branch| branch.span.range());
            fault.kind == SpaceFaultKind::KernelCalled
                && branches.all(|branch| !branch.contains(&(fault.span.start as usize)))
                && module.functions.get(fault.caller).is_some_and(|caller| {
                    caller.role == FunctionRole::Free && caller.template_params.is_empty() && !caller.damaged
                })
        };
        let fault = crossings.iter().find(is_sure)?;
        if !is_source || module.inside.is_some() || self.noticed.is_in_use(false, source, path) {
            return None;
        }
        self.refused(id, fault.span, &format!("a call of the kernel `{}`", fault.callee))
    }

    /// Whether a file is several programs.
    fn is_collection(&self, id: ModuleId) -> Option<String> {
        let found = second_main(self.project, id)?;
        self.refused(id, found.span, &found.what)
    }

    fn refused(&self, id: ModuleId, span: Span, what: &str) -> Option<String> {
        let (text, path) = (self.project.source(id), &**self.project.path(id));
        let line = 1 + text.get(..span.start as usize)?.bytes().filter(|byte| *byte == b'\n').count();
        let name = path.rsplit('/').next().unwrap_or(path);
        Some(format!("a compiler takes `{name}`, which has {what} in line {line}"))
    }

    fn never_runs(&self, id: ModuleId, at: usize) -> Option<String> {
        let stretches: &[Dead] = self.uses.dead(self.project, id);
        let dead = stretches.iter().find(|dead| dead.span.range().contains(&at))?;
        Some(dead.unless.clone())
    }

    /// Whether a finding is about sides that an option of the project's own compilation decides otherwise.
    fn crosses_by_default(&self, crossings: &[SpaceFault], finding: &Finding) -> Option<String> {
        let is_it = |fault: &SpaceFault| {
            fault.kind != SpaceFaultKind::KernelCalled && fault.span.start as usize == finding.place.range.start
        };
        if finding.claim.shows != Shows::CompileError || !crossings.iter().any(is_it) {
            return None;
        }
        let option = self.for_device.get_or_init(|| {
            let spelled = |text: &str| FOR_DEVICE.into_iter().find(|option| text.contains(option));
            let own = self.project.modules().find_map(|module| spelled(self.project.source(module)));
            own.or_else(|| self.others.as_ref()?.first_of(&FOR_DEVICE))
        });
        option.map(|option| format!("the file is compiled without `{option}`, which the project spells"))
    }

    /// Whether NVRTC may be what compiles a file: it has nothing for the host, and a program in another language names it. NVRTC takes code
    /// that nvcc refuses (a kernel that is called by another one becomes a part of it: tried with 11.8 and 12.9).
    fn is_compiled_at_run_time(&self, id: ModuleId, finding: &Finding) -> Option<String> {
        let (path, module) = (self.project.path(id), self.project.module(id));
        let name = path.rsplit('/').next().unwrap_or(path);
        let is_of_host = |function: &Function| function.body.is_some() && function.space.host && !function.space.device;
        if finding.claim.shows != Shows::CompileError || module.functions.iter().any(is_of_host) {
            return None;
        }
        let loads = |text: &&Other| matches!(text.role, Role::Foreign | Role::Script) && text.names(name);
        let text = self.others.as_ref()?.texts()?.iter().find(loads)?;
        let loader = text.path.file_name()?.to_string_lossy();
        Some(format!("`{name}`, which `{loader}` names, is compiled by nvcc and not by NVRTC"))
    }

    /// Whether what a finding tells happens in a kernel that nobody launches; it may stand in a function that others use, too.
    fn has_idle_kernel(&self, finding: &Finding) -> Option<String> {
        let (_, name) = words(finding.claim.kernel.as_deref()?).next()?;
        let mut reason = None;
        for id in self.project.modules() {
            let functions = self.project.module(id).functions.iter();
            for kernel in functions.filter(|it| it.space.global && it.body.is_some() && it.name == *name) {
                match self.users(id, kernel.name_span.start as usize) {
                    Users::NotInProgram(why) => reason = Some(why),
                    Users::Some | Users::Never => return None,
                }
            }
        }
        reason
    }

    /// Whether the launch that a finding in a kernel is shown with stands in a function that nobody calls.
    fn has_idle_launch(&self, finding: &Finding) -> Option<String> {
        finding.claim.kernel.as_ref()?;
        finding.related.iter().find_map(|label| {
            let id = self.project.modules().find(|id| **self.project.path(*id) == *label.place.path)?;
            let range = &label.place.range;
            let is_it = |node: &ExprNode| matches!(node.kind, Expr::Launch(_)) && node.span.range() == *range;
            self.project.module(id).exprs.iter().any(is_it).then(|| self.nobody_calls(id, range.start))?
        })
    }

    /// The same of the file that what the finding tells is launched or called in.
    fn has_unlisted_launch(&self, finding: &Finding) -> Option<String> {
        let way = finding.witness.iter().flat_map(|witness| &witness.path);
        let others = finding.related.iter().chain(way).filter(|label| label.place.path != finding.place.path);
        others.into_iter().find_map(|label| {
            let is_it = |id: &ModuleId| **self.project.path(*id) == *label.place.path;
            let id = self.project.modules().find(is_it)?;
            self.is_unlisted(id).or_else(|| self.is_astray(id)).or_else(|| self.is_in_no_program(id))
        })
    }

    /// Whether no program can have a file as a part: something that it includes or launches is nowhere.
    fn is_in_no_program(&self, id: ModuleId) -> Option<String> {
        let others = self.others.as_ref()?;
        let found = || without_part(self.project, id, others, &self.reals).or_else(|| unlinked(self.project, id));
        self.in_no_program.get(id.index())?.get_or_init(found).clone()
    }

    /// Whether a source cannot be compiled where it lies.
    fn is_astray(&self, id: ModuleId) -> Option<String> {
        let others = self.others.as_ref()?;
        let told = *self.told.get_or_init(|| is_told(others, self.includes));
        if told { None } else { astray(self.project, id, &self.reals) }
    }

    /// The files that nobody builds.
    fn left_out(&self, others: &Others<'p>) -> &Unlisted {
        self.unlisted.get_or_init(|| unlisted(self.project, others, &self.reals, self.library))
    }

    /// Who uses the function around a place.
    fn users(&self, id: ModuleId, at: usize) -> Users {
        let Some(others) = &self.others else { return self.uses.of(self.project, id, at, None) };
        self.uses.of(self.project, id, at, Some((others, &|| self.left_out(others))))
    }

    fn is_unlisted(&self, id: ModuleId) -> Option<String> {
        let others = self.others.as_ref()?;
        let path = self.project.path(id);
        let name = path.rsplit('/').next().unwrap_or("");
        if self.left_out(others).modules.contains(&id) {
            return Some(format!("`{name}`, which no build file lists and no other file names, is built"));
        }
        if is_taken_for_plain(self.project, id, others) {
            return Some(format!(
                "`{name}`, which compilers take for plain C++ by its name, is given to one as CUDA C++"
            ));
        }
        if is_listed_as_header(self.project, id, others) {
            return Some(format!("`{name}`, which Visual Studio's project lists as a header, is compiled"));
        }
        // What only other such files include is kept with them.
        let is_code = COMPILED.iter().chain(&HEADERS).any(|ending| path.ends_with(ending));
        let mut includers = self.project.includes().includers(id.index() as u32).iter();
        let archive = |path: &'p str| archive(path, self.reals.get(path).copied(), others);
        let folder = archive(path)
            .filter(|_| is_code && includers.all(|other| archive(self.project.path(ModuleId(*other))).is_some()))?;
        Some(format!("`{name}`, which no build file lists, is in use though it is kept in `{folder}`"))
    }
}
