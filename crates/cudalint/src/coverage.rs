//! `cudalint coverage`: what each kernel was checked for and how, what is shown of it, and why not more.

use crate::args::{CoverageArgs, CoverageFormat};
use crate::check::{CLEAN, TROUBLE};
use crate::{check, out};
use cudalint_engine::accounts::{self, Absence, Basis, Extent, KernelAccount, Says, Shape};
use cudalint_engine::{Engine, ModuleContext};
use cudalint_findings::coverage::{
    Absent, AbsentKind, Accesses, At, Blocks, Cause, Document, Elements, Executed, Kernel, Launch, Line, Open, Seen,
    page, table,
};
use cudalint_findings::{Place, Sources};
use std::sync::{Arc, Mutex};

/// What modules have said so far.
#[derive(Default)]
struct Collected {
    kernels: Vec<Kernel>,
    sources: Sources,
}

/// Prints what was checked in the files named and gives the exit code.
pub fn run(engine: &Engine, args: &CoverageArgs) -> u8 {
    let collected: Mutex<Collected> = Mutex::default();
    let look = |context: &ModuleContext<'_>| {
        // Nobody fails while it is held.
        if let Ok(mut collected) = collected.lock() {
            for account in &context.facts.accounts {
                let kernel = kernel(context, account, &mut collected.sources);
                collected.kernels.push(kernel);
            }
        }
    };
    let outcome = check::request(&args.check()).and_then(|request| engine.look(&request, &look));
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(error) => {
            out::message("error", &error.0);
            return TROUBLE;
        }
    };
    let Collected { kernels, sources } = collected.into_inner().unwrap_or_default();
    let document = Document::new(kernels, outcome.report.incomplete.clone());
    let text = match args.output_format {
        CoverageFormat::Table => table::render(&document),
        CoverageFormat::Json => document.json(),
        CoverageFormat::Html => page::render(&document, &sources),
    };
    let written = match &args.output_file {
        None => out::print(&text),
        Some(file) => std::fs::write(file, &text)
            .map_err(|error| format!("--output-file {}: cannot be written: {error}", file.display())),
    };
    check::report_problems(&outcome);
    if let Err(problem) = written {
        out::message("error", &problem);
        return TROUBLE;
    }
    if outcome.faults.is_empty() { CLEAN } else { TROUBLE }
}

fn kernel(context: &ModuleContext<'_>, account: &KernelAccount, sources: &mut Sources) -> Kernel {
    let mut at = |site| {
        let place: Place = context.place_of(site);
        if sources.get(&place.path).is_none() {
            sources.insert(Arc::clone(&place.path), Arc::clone(context.project.source(site.module)));
        }
        let start = sources.start(&place);
        At { path: place.path.to_string(), cell: start.cell, line: start.line, column: start.column }
    };
    let lines: Vec<Line> = account
        .accesses
        .iter()
        .map(|access| Line {
            at: at(access.site),
            access: match access.known {
                Some(true) => Seen::Known,
                Some(false) => Seen::Unknown,
                None => Seen::NotExecuted,
            },
        })
        .collect();
    let count = |seen: Seen| lines.iter().filter(|line| line.access == seen).count();
    let accesses = Accesses {
        all: lines.len(),
        known: count(Seen::Known),
        unknown: count(Seen::Unknown),
        not_executed: count(Seen::NotExecuted),
    };
    let launches = account
        .launches
        .iter()
        .map(|it| Launch { at: at(it.site), executed: executed(it.basis), cause: it.cause.clone() })
        .collect();
    let causes = account.causes.iter().map(|it| Cause { at: at(it.site), message: it.cause.clone() }).collect();
    let (absent, open) = absence(&account.absence, &mut at);
    Kernel {
        name: account.name.clone(),
        at: at(account.site),
        executed: executed(account.basis),
        launches,
        accesses,
        lines,
        causes,
        absent,
        open,
    }
}

const fn executed(basis: Option<Basis>) -> Executed {
    match basis {
        None => Executed::Not,
        Some(Basis::GuessedBlock) => Executed::GuessedBlock,
        Some(Basis::Assumption) => Executed::Assumption,
        Some(Basis::FirstBlock) => Executed::FirstBlock,
        Some(Basis::Facts) => Executed::Facts,
    }
}

fn absence(absence: &Absence, at: &mut impl FnMut(accounts::Site) -> At) -> (Vec<Absent>, Vec<Open>) {
    let absent = absence.statements.iter().map(|it| {
        let blocks = blocks(&it.blocks);
        let (kind, elements, message) = match &it.says {
            Says::NoRace => (
                AbsentKind::Race,
                None,
                format!("no two threads of a block race in shared memory `{}`, for {}", it.name, blocks.words()),
            ),
            Says::Within(Extent::Declared) => (
                AbsentKind::OutOfBounds,
                None,
                format!("accesses to `{}` stay within, for {}", it.name, blocks.words()),
            ),
            Says::Within(Extent::Elements(count, bytes)) => (
                AbsentKind::OutOfBounds,
                Some(Elements { count: count.clone(), bytes: *bytes }),
                format!(
                    "accesses to `{}` stay within an array of `{count}` elements of {bytes} bytes, for {}",
                    it.name,
                    blocks.words()
                ),
            ),
        };
        Absent { kind, object: it.name.clone(), at: at(it.site), elements, blocks, message }
    });
    let absent = absent.collect();
    let open = absence.open.iter().map(|(name, refusal)| Open {
        object: name.clone(),
        at: at(refusal.site),
        message: refusal.cause.to_owned(),
    });
    (absent, open.collect())
}

const fn blocks(shape: &Shape) -> Blocks {
    Blocks { axes: shape.axes, most: shape.most, exactly: shape.exactly }
}
