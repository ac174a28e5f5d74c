//! What is known of kernels, launches and accesses, in words at their places: the same that `cudalint coverage` and
//! `cudalint facts` tell, taken from the run that made the findings.

use crate::documents::Document;
use cudalint_engine::{Basis, ModuleContext, Site, coverage};
use cudalint_findings::coverage::{At, Kernel, Seen};
use cudalint_findings::{Place, Sources};
use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Mutex;

/// Most executions of one launch that are told.
const MOST: usize = 4;

/// What is known of a place.
#[derive(Clone, Debug)]
pub struct Note {
    pub place: Place,
    /// In Markdown.
    pub text: String,
}

/// A kernel.
#[derive(Clone, Debug)]
pub struct KernelNote {
    /// Its name in the source.
    pub place: Place,
    pub name: String,
    /// Its whole definition, in bytes of its file.
    pub body: Range<usize>,
    /// How many launches are in sight.
    pub launches: usize,
}

/// What is known of the kernels of the documents of a project.
#[derive(Debug, Default)]
pub struct Facts {
    pub notes: Vec<Note>,
    pub kernels: Vec<KernelNote>,
    /// The texts that notes point into.
    pub sources: Sources,
}

impl Facts {
    /// The note of the smallest place around a byte.
    pub fn at(&self, path: &str, offset: usize) -> Option<&Note> {
        let around = |note: &&Note| {
            let Place { path: of, range } = &note.place;
            **of == *path && (range.contains(&offset) || range.end == offset)
        };
        self.notes.iter().filter(around).min_by_key(|note| note.place.range.len())
    }

    /// Where the text of a document is in its file: a cell is a part of its notebook.
    pub fn text_of(&self, document: &Document) -> Option<Range<usize>> {
        match document.cell {
            None => Some(0..document.text.len()),
            Some(cell) => self.sources.get(&document.path)?.cell_range(cell),
        }
    }

    /// In the order of files.
    fn sorted(mut self) -> Self {
        self.notes.sort_by(|a, b| (&a.place.path, a.place.range.start).cmp(&(&b.place.path, b.place.range.start)));
        self.kernels.sort_by(|a, b| (&a.place.path, a.place.range.start).cmp(&(&b.place.path, b.place.range.start)));
        self
    }
}

/// Collects what is known while modules are looked at, in any order.
#[derive(Debug, Default)]
pub struct Collector(Mutex<Facts>);

impl Collector {
    /// With texts that places are told by: those of notebooks, whose cells modules do not know.
    pub fn new(sources: Sources) -> Self {
        Self(Mutex::new(Facts { sources, ..Facts::default() }))
    }

    /// Takes note of a module.
    pub fn look(&self, context: &ModuleContext<'_>) {
        // A thread that fails while it holds it loses its own module alone.
        if let Ok(mut facts) = self.0.lock() {
            of_module(context, &mut facts);
        }
    }

    /// What was collected.
    pub fn finish(self) -> Facts {
        self.0.into_inner().unwrap_or_default().sorted()
    }
}

fn of_module(context: &ModuleContext<'_>, facts: &mut Facts) {
    for account in &context.facts.accounts {
        let told = coverage::kernel(context, account, &mut facts.sources);
        let place = context.place_of(account.site);
        facts.notes.push(Note { place: place.clone(), text: of_kernel(context, &told) });
        let body = context.module.functions.get(account.kernel).map_or(0..0, |function| function.span.range());
        facts.kernels.push(KernelNote { place, name: told.name.clone(), body, launches: told.launches.len() });
        for (launch, account) in told.launches.iter().zip(&account.launches) {
            let runs = of_launch(context, account.site);
            let mut text = format!("Launch of `{}`, executed: {}", told.name, launch.executed.words());
            if !launch.cause.is_empty() {
                let _ = write!(text, ", since {}", launch.cause);
            }
            text.push_str("\n\n");
            text.push_str(&runs);
            facts.notes.push(Note { place: context.place_of(account.site), text });
        }
        for (line, access) in told.lines.iter().zip(&account.accesses) {
            let text = of_access(context, &told, line.access, access.site);
            facts.notes.push(Note { place: context.place_of(access.site), text });
        }
    }
}

/// A kernel in words.
fn of_kernel(context: &ModuleContext<'_>, kernel: &Kernel) -> String {
    let launches = match kernel.launches.len() {
        0 => "no launch in sight".to_owned(),
        1 => "1 launch in sight".to_owned(),
        count => format!("{count} launches in sight"),
    };
    let mut text = format!("Kernel `{}`: {launches}; executed: {}\n\n", kernel.name, kernel.executed.words());
    let near = |at: &At| {
        let line = match at.cell {
            Some(cell) if at.cell != kernel.at.cell => format!("line {} of cell {}", at.line, cell + 1),
            _ => format!("line {}", at.line),
        };
        if at.path == kernel.at.path { line } else { format!("{}:{}", at.path, at.line) }
    };
    for run in context.facts.runs.iter().filter(|run| run.name == kernel.name).take(MOST) {
        let _ = writeln!(text, "- {}", shape(run.grid_known.then_some(run.grid), run.block));
    }
    let counts = &kernel.accesses;
    let _ = writeln!(text, "- {} of {} accesses to memory have a known address", counts.known, counts.all);
    for absent in &kernel.absent {
        let _ = writeln!(text, "- shown: {}", absent.message);
    }
    for open in &kernel.open {
        let _ = writeln!(text, "- open: races in `{}`, {}: {}", open.object, near(&open.at), open.message);
    }
    for launch in kernel.launches.iter().filter(|launch| !launch.cause.is_empty()) {
        let _ = writeln!(text, "- launch, {}: {}, since {}", near(&launch.at), launch.executed.words(), launch.cause);
    }
    for cause in &kernel.causes {
        let _ = writeln!(text, "- not known, {}: {}", near(&cause.at), cause.message);
    }
    text
}

/// The executions of a launch in words.
fn of_launch(context: &ModuleContext<'_>, launch: Site) -> String {
    let mut text = String::new();
    for run in context.facts.runs.iter().filter(|run| run.launch == Some(launch)).take(MOST) {
        let _ = writeln!(text, "- `{}`: {}", run.name, shape(run.grid_known.then_some(run.grid), run.block));
        if let Some(bytes) = run.dynamic_shared.filter(|bytes| *bytes > 0) {
            let _ = writeln!(text, "  - {bytes} bytes of dynamic shared memory");
        }
        let values: Vec<String> = run.bindings.iter().map(|(name, value)| format!("`{name}` = {value}")).collect();
        if !values.is_empty() {
            let _ = writeln!(text, "  - {}", values.join(", "));
        }
        for buffer in &run.buffers {
            let size =
                buffer.bytes.map_or_else(|| "of a size that is not known".to_owned(), |it| format!("{it} bytes"));
            let _ = writeln!(text, "  - `{}` is `{}`, {size}", buffer.parameter, buffer.argument);
        }
        for assumed in run.assumptions.iter().flat_map(|all| all.iter()) {
            let _ = writeln!(text, "  - assumed: {assumed}");
        }
        if run.basis == Basis::Facts && run.is_whole() {
            let _ = writeln!(text, "  - every step of every thread was followed");
        }
    }
    text
}

/// Grid and block in words.
fn shape(grid: Option<[u32; 3]>, block: [u32; 3]) -> String {
    let size = |of: [u32; 3]| {
        let axes = 3 - of.iter().rev().take_while(|size| **size == 1).count().min(2);
        of.iter().take(axes).map(u32::to_string).collect::<Vec<_>>().join(" × ")
    };
    let threads = block.iter().map(|size| u64::from(*size)).product::<u64>();
    let of_block = if threads == 1 { "1 thread".to_owned() } else { format!("{} threads", size(block)) };
    match grid {
        None => format!("a grid that is not known, of blocks of {of_block}"),
        Some(grid) => {
            let blocks = grid.iter().map(|size| u64::from(*size)).product::<u64>();
            let of_grid = if blocks == 1 { "1 block".to_owned() } else { format!("{} blocks", size(grid)) };
            format!("{of_grid} of {of_block}: {} threads in all", blocks * threads)
        }
    }
}

/// An access in words.
fn of_access(context: &ModuleContext<'_>, kernel: &Kernel, seen: Seen, access: Site) -> String {
    let code = context.project.text(access.module, access.span);
    let mut text = format!("Access `{}`: ", code.split_whitespace().collect::<Vec<_>>().join(" "));
    text.push_str(match seen {
        Seen::Known => "its address was known each time",
        Seen::Unknown => "its address was not known",
        Seen::NotExecuted => "no execution came by",
    });
    text.push_str("\n\n");
    // The array that it is an element of is what a statement is about.
    let array: String = code.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    for absent in kernel.absent.iter().filter(|absent| absent.object == array) {
        let _ = writeln!(text, "- shown: {}", absent.message);
    }
    for run in context.facts.runs.iter().filter(|run| run.name == kernel.name).take(MOST) {
        for buffer in run.buffers.iter().filter(|buffer| buffer.parameter == array) {
            if let Some(bytes) = buffer.bytes {
                let _ = writeln!(
                    text,
                    "- `{array}` has {bytes} bytes with {}",
                    shape(run.grid_known.then_some(run.grid), run.block)
                );
            }
        }
    }
    text
}
