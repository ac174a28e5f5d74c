//! `cargo xtask agree`: programs of real projects are built with clang and run without a GPU against `runtime.cpp`, which stands for
//! the CUDA runtime, or built with nvcc and run on a GPU behind `forward.cpp`. What the replay of the project holds for a fact has to
//! be what ran.

mod build;
mod compilers;
mod headers;
mod places;
mod tools;

use crate::differential::calls::{Log, MACRO_LINES, Place, Run, Tally, compare, ran_in};
use crate::differential::total::Total as _;
use build::{Built, Program};
use cudalint_engine::{Configuration, Engine, ModuleContext, Request};
use cudalint_findings::LineIndex;
use cudalint_replay::facts::{Event, Site, StepKind};
use headers::Headers;
use places::Files;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
pub use tools::{Machine, Plan, Tools};

/// The number of a file where calls stand in it, and its lines.
type Lines = (Option<u32>, LineIndex);

/// What came of all programs.
#[derive(Default)]
struct Total {
    found: u64,
    built: u64,
    ran: u64,
    /// Those that made a call, so that there was something to compare.
    compared: u64,
    /// Why others did not get so far.
    causes: BTreeMap<String, u64>,
    tally: Tally,
    /// The wrong facts, each with its place.
    wrong: Vec<String>,
}

/// Builds, runs, replays and compares the programs below the folders.
///
/// # Errors
/// When a tool is missing, or a fact was not what ran.
pub fn run(plan: &Plan) -> Result<(), String> {
    let tools = Tools::find(plan)?;
    let total = Mutex::new(Total::default());
    let list = tools.out.join("wrong.txt");
    let absolute =
        |folder: &PathBuf| fs::canonicalize(folder).map_err(|error| format!("{}: {error}", folder.display()));
    let folders: Vec<PathBuf> = plan.folders.iter().map(absolute).collect::<Result<_, _>>()?;
    // Books and courses use headers of other projects, the samples of CUDA first of all.
    let headers = Headers::below(&folders);
    for folder in &folders {
        let look = |context: &ModuleContext<'_>| {
            if let Some(program) = program(context)
                && plan.only.as_ref().is_none_or(|only| program.source.to_string_lossy().contains(only.as_str()))
            {
                let built = program.run(&tools, &headers);
                if let Ok(mut total) = total.lock() {
                    total.add(context, &program, built);
                }
            }
        };
        let request = Request {
            paths: vec![folder.clone()],
            defines: plan.defines.clone(),
            configuration: Configuration::Isolated,
            ..Request::default()
        };
        Engine::new(cudalint_rules::RULES).look(&request, &look).map_err(|error| error.to_string())?;
        let Ok(mut total) = total.lock() else { break };
        println!("{}: in all {}", folder.display(), total.line());
        total.wrong.sort();
        fs::write(&list, total.wrong.join("\n")).map_err(|error| format!("{}: {error}", list.display()))?;
    }
    let total = total.into_inner().map_err(|error| error.to_string())?;
    print!("{}", total.report());
    if total.wrong.is_empty() { Ok(()) } else { Err(format!("facts that are not what ran: {}", list.display())) }
}

/// The program whose `main` stands in a module, where that has to do with CUDA.
fn program(context: &ModuleContext<'_>) -> Option<Program> {
    let path = PathBuf::from(context.path().as_ref());
    let extension = path.extension()?.to_str()?.to_owned();
    let text = context.project.source(context.id);
    let cuda = extension == "cu" || ["cpp", "cc", "cxx"].contains(&&*extension) && text.contains("cudaM");
    let is_main = |event: &&cudalint_program::ir::Function| {
        event.name == "main" && event.scope.segments.is_empty() && event.body.is_some()
    };
    (cuda && context.module.functions.iter().any(|function| is_main(&function)))
        .then(|| Program { source: fs::canonicalize(&path).unwrap_or(path), text: text.to_string() })
}

impl Total {
    fn add(&mut self, context: &ModuleContext<'_>, program: &Program, built: Result<Built, build::Failure>) {
        self.found += 1;
        let built = match built {
            Ok(built) => built,
            Err(failure) => {
                self.built += u64::from(failure.built);
                *self.causes.entry(failure.cause).or_default() += 1;
                return;
            }
        };
        self.built += 1;
        self.ran += 1;
        let files = Files::new(&built.places);
        let log = Log::read(&built.log, &|word| files.places(word));
        if log.calls.is_empty() {
            *self.causes.entry("ran without a call of CUDA".into()).or_default() += 1;
            return;
        }
        self.compared += 1;
        let lines: RefCell<BTreeMap<usize, Lines>> = RefCell::default();
        let place = |site: Site| -> Option<Place> {
            let mut lines = lines.borrow_mut();
            let (file, index) = lines.entry(usize::from(site.module)).or_insert_with(|| {
                let path = Path::new(context.project.path(site.module).as_ref());
                let number = files.number(&fs::canonicalize(path).unwrap_or_default());
                (number, LineIndex::new(context.project.source(site.module)))
            });
            Some(((*file)?, index.line(site.span.start as usize) as u32 + 1))
        };
        let main = |event: &Event| {
            event.function.0 == context.id
                && context.function_name(event.function.1) == "main"
                && event.path.iter().all(|step| step.kind != StepKind::Call)
        };
        let complete = built.log.lines().any(|line| line == "N");
        let surely_ran = |event: &Event| complete && built.ended_well && main(event);
        let run = Run {
            log: &log,
            place: &place,
            without_arguments: true,
            complete,
            lines: MACRO_LINES,
            in_order: false,
            surely_ran: &surely_ran,
        };
        let mut tally = compare(&context.facts.events, &run);
        ran_in(&context.facts.never_run, context.id, &run, &mut tally);
        for ((file, line), what) in &tally.wrong {
            let folder = built.folder.file_name().unwrap_or_default().to_string_lossy();
            self.wrong.push(format!("{}:{line}: {what} [{folder}] {}", files.path(*file), program.source.display()));
        }
        self.tally.add(tally);
    }

    fn line(&self) -> String {
        let Self { found, built, ran, compared, tally, .. } = self;
        format!("{found} programs found, {built} built, {ran} run, {compared} compared: {tally}")
    }

    fn report(&self) -> String {
        let mut text = String::new();
        for (kind, (calls, known)) in &self.tally.kinds {
            let _ = writeln!(text, "{kind}: {calls} ran, {known} where the replay holds facts");
        }
        let mut causes: Vec<(&String, &u64)> = self.causes.iter().collect();
        causes.sort_by_key(|(cause, count)| (std::cmp::Reverse(**count), *cause));
        for (cause, count) in causes.iter().take(40) {
            let _ = writeln!(text, "not compared, {count}: {cause}");
        }
        for wrong in self.wrong.iter().take(20) {
            let _ = writeln!(text, "{wrong}");
        }
        let _ = writeln!(text, "{}", self.line());
        text
    }
}
