//! What is known of kernels, launches and accesses, in words at their places: the same that `cudalint coverage` and
//! `cudalint facts` tell, taken from the run that made the findings.

use crate::documents::Document;
use cudalint_engine::{Basis, ModuleContext, Site, Values, coverage};
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

/// The values of a subscript.
#[derive(Clone, Debug)]
pub struct RangeNote {
    /// The subscript with all before it.
    pub place: Place,
    /// The values; `None` where they are not known in some launch.
    pub values: Option<Values>,
    /// Under which launches, in Markdown.
    pub text: String,
}

/// What is known of the kernels of the documents of a project.
#[derive(Debug, Default)]
pub struct Facts {
    pub notes: Vec<Note>,
    pub kernels: Vec<KernelNote>,
    /// Values of subscripts, one for each launch until all are known, then one for each subscript.
    pub ranges: Vec<RangeNote>,
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
        self.ranges = joined(std::mem::take(&mut self.ranges));
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

/// One note for each subscript whose values are known in each launch.
fn joined(mut all: Vec<RangeNote>) -> Vec<RangeNote> {
    let key = |note: &RangeNote| (note.place.path.clone(), note.place.range.start, note.place.range.end);
    all.sort_by(|a, b| (key(a), &a.text).cmp(&(key(b), &b.text)));
    let mut joined: Vec<RangeNote> = Vec::new();
    for note in all {
        match joined.last_mut().filter(|last| last.place == note.place) {
            None => joined.push(note),
            Some(last) => {
                last.values = last.values.zip(note.values).map(|(a, b)| a.and(b));
                // A function that several kernels call is told of once for each.
                if !last.text.contains(&note.text) {
                    last.text.push_str(&note.text);
                }
            }
        }
    }
    joined.retain(|note| note.values.is_some());
    joined
}

/// The values of a subscript in words: `0…1023 of 1024`.
pub fn values_in_words(values: &Values) -> String {
    let Values { least, most, of } = values;
    let range = if least == most { least.to_string() } else { format!("{least}…{most}") };
    of.map_or_else(|| range.clone(), |of| format!("{range} of {of}"))
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
            let mut text = of_access(context, &told, line.access, access.site);
            for index in coverage::known_indices(account) {
                if coverage::around(account, index.site) == Some(access.site)
                    && let Some(values) = &index.values
                {
                    let (words, of) = (values_in_words(values), blocks(index.grid, index.block));
                    let _ = writeln!(text, "- index of `{}`: {words} with {of}", code_at(context, index.site));
                }
            }
            facts.notes.push(Note { place: context.place_of(access.site), text });
        }
        for index in &account.indices {
            let place = context.place_of(index.site);
            let mut text = String::new();
            for launch in &index.launches {
                let at = place_in_words(context, *launch, &place, &mut facts.sources);
                let words = index.values.as_ref().map(values_in_words).unwrap_or_default();
                let of = blocks(index.grid, index.block);
                let _ = writeln!(text, "- launch of `{}`, {at}, {of}: {words}", told.name);
            }
            for other in account.launches.iter().filter(|it| it.basis != Some(Basis::Facts)) {
                let at = place_in_words(context, other.site, &place, &mut facts.sources);
                let _ = writeln!(text, "- launch of `{}`, {at}: not known", told.name);
            }
            facts.ranges.push(RangeNote { place, values: index.values, text });
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

/// The code at a place, in one line.
fn code_at(context: &ModuleContext<'_>, site: Site) -> String {
    context.project.text(site.module, site.span).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Where something is, as it is told at another place.
fn place_in_words(context: &ModuleContext<'_>, site: Site, seen_from: &Place, sources: &mut Sources) -> String {
    let place = context.place_of(site);
    if sources.get(&place.path).is_none() {
        sources.insert(place.path.clone(), context.project.source(site.module).clone());
    }
    let start = sources.start(&place);
    match start.cell {
        Some(cell) => format!("line {} of cell {}", start.line, cell + 1),
        None if place.path == seen_from.path => format!("line {}", start.line),
        None => format!("{}:{}", place.path, start.line),
    }
}

/// Grid and block in words, with how many threads that are.
fn shape(grid: Option<[u32; 3]>, block: [u32; 3]) -> String {
    let Some(grid) = grid else { return format!("a grid that is not known, of blocks of {}", of_block(block)) };
    let threads = grid.iter().chain(&block).map(|size| u64::from(*size)).product::<u64>();
    format!("{}: {threads} threads in all", blocks(grid, block))
}

/// Grid and block in words.
fn blocks(grid: [u32; 3], block: [u32; 3]) -> String {
    let one = grid == [1; 3];
    let of_grid = if one { "1 block".to_owned() } else { format!("{} blocks", size(grid)) };
    format!("{of_grid} of {}", of_block(block))
}

fn of_block(block: [u32; 3]) -> String {
    if block == [1; 3] { "1 thread".to_owned() } else { format!("{} threads", size(block)) }
}

/// An extent along each axis, up to the last with more than one.
fn size(of: [u32; 3]) -> String {
    let axes = 3 - of.iter().rev().take_while(|size| **size == 1).count().min(2);
    of.iter().take(axes).map(u32::to_string).collect::<Vec<_>>().join(" × ")
}

/// An access in words.
fn of_access(context: &ModuleContext<'_>, kernel: &Kernel, seen: Seen, access: Site) -> String {
    let code = context.project.text(access.module, access.span);
    let mut text = format!("Access `{}`: ", code_at(context, access));
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
