//! Scripts that call what the user's file only defines: the whole file and a call at its end, or what one function needs of
//! it and the call.

use super::arguments::{Argument, Stated, arguments};
use super::bindings::Names;
use super::functions::{Functions, Role};
use super::packages::{imported_packages, package};
use super::prediction;
use super::sheet::Sheet;
use super::slice::{Slice, slice};
use super::whole::{beside, lines, whole};
use crate::scenario::{Origin, Program, PythonProgram, Raise, ScenarioFile};
use crate::subject::{Stretch, Subject};
use camino::{Utf8Path, Utf8PathBuf};
use cudalint_findings::model::{FindingEntry, Launch, Method};
use cudalint_syntax::kinds::{PythonKind, python_kind};
use cudalint_syntax::{FileKind, Node, Span, named_children};
use std::collections::BTreeSet;

/// What is among the exceptions of a finding that leaves open which of its compilers' passes Numba refuses the kernel in.
const REFUSAL: &str = "LoweringError";

/// What they raise as well, which others raise for other reasons: it counts where the same kernel without the finding's
/// statement raises nothing.
const REFUSALS_ALONE: [&str; 2] = ["AttributeError", "TypeError"];

/// Functions that are called for one finding, at most.
const MAX_STARTS: usize = 3;
/// The block of a kernel that nothing launches.
const BLOCK: [u64; 3] = [128, 1, 1];
/// Its grid.
const GRID: [u64; 3] = [8, 1, 1];

/// What a script of ours calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Start {
    /// The function, by its number.
    function: usize,
    /// The kernel of the finding, where the function leads to it.
    kernel: Option<usize>,
}

/// Programs for a finding whose place the file does not come to by itself. The place may be in CUDA C++ within a string.
pub(super) fn programs(
    finding: &FindingEntry,
    subject: &Subject,
    stretch: &Stretch,
    raises: Option<&Raise>,
) -> Vec<Result<Program, String>> {
    let Some(root) = stretch.parsed.root() else { return Vec::new() };
    let functions = Functions::read(root, &subject.text);
    let mut reasons = Vec::new();
    let (mut around, mut cut) = (Vec::new(), Vec::new());
    for start in starts(&functions, finding, subject).into_iter().take(MAX_STARTS) {
        let stated = Stated::of(Some(finding), subject, &functions, start.kernel);
        match call(&functions, start, &stated, with_cupy(subject, stretch, &functions, start)) {
            Ok(call) => {
                let script = Script { finding: Some(finding), subject, stretch, root, raises };
                around.push(Ok(script.around(std::slice::from_ref(&call))));
                match script.cut(&functions, start, &call) {
                    Ok(program) => cut.push(Ok(program)),
                    Err(reason) => reasons.push(reason),
                }
            }
            Err(reason) => reasons.push(reason),
        }
    }
    let mut found = around;
    found.extend(cut);
    if found.is_empty() {
        found.extend(reasons.into_iter().map(Err));
    }
    found
}

/// A launch of the finding's kernel, cut down to the finding's statement; none where the finding stands in no kernel, or the
/// statement cannot be taken out.
pub(super) fn statement(
    finding: &FindingEntry,
    subject: &Subject,
    stretch: &Stretch,
    raises: Option<&Raise>,
) -> Option<Program> {
    let root = stretch.parsed.root()?;
    let functions = Functions::read(root, &subject.text);
    Script { finding: Some(finding), subject, stretch, root, raises }.statement(&functions)?.ok()
}

/// The whole file, and calls of what nothing in it calls: for code that must be clean. A kernel that nothing launches is
/// launched as said.
pub(super) fn all(subject: &Subject, stretch: &Stretch, launch: Option<&Launch>) -> Result<Program, String> {
    let root = stretch.parsed.root().ok_or_else(|| "the code could not be parsed".to_owned())?;
    let functions = Functions::read(root, &subject.text);
    let mut calls = Vec::new();
    for (index, function) in functions.all.iter().enumerate() {
        let is_called = functions.is_used_at_module_level(index) || !functions.users(index).is_empty();
        if is_called || function.parent.is_some() || function.in_class || function.role == Role::Device {
            continue;
        }
        let start = Start { function: index, kernel: None };
        // A function that asks where its thread is and that nothing compiles is no host function.
        let text = subject.slice(Span::from(function.node));
        if function.role == Role::Host
            && ["cuda.grid(", "threadIdx", "jit.grid("].iter().any(|word| text.contains(word))
            && !has_inner(&functions, index)
        {
            continue;
        }
        let stated = Stated::launched(launch);
        // A function whose arguments cannot be made up stays out.
        if let Ok(call) = call(&functions, start, &stated, with_cupy(subject, stretch, &functions, start)) {
            calls.push(call);
        }
    }
    Ok(Script { finding: None, subject, stretch, root, raises: None }.around(&calls))
}

fn has_inner(functions: &Functions<'_>, index: usize) -> bool {
    functions.all.iter().any(|function| function.parent == Some(index))
}

/// Whether arrays are `CuPy`'s: the file has no other, or the function speaks of it.
fn with_cupy(subject: &Subject, stretch: &Stretch, functions: &Functions<'_>, start: Start) -> bool {
    let packages = prediction::facts(subject, stretch).map(|names| imported_packages(&names)).unwrap_or_default();
    let has = |name: &str| packages.iter().any(|package| package == name);
    match functions.all.get(start.function).map(|function| function.role) {
        Some(Role::Numba) => false,
        Some(Role::CupyJit) => true,
        _ if start
            .kernel
            .and_then(|kernel| functions.all.get(kernel))
            .is_some_and(|kernel| kernel.role == Role::Numba) =>
        {
            false
        }
        _ => has("cupy") && !has("numba"),
    }
}

/// The functions from which the finding's place is reached, those that are most like a user's program first.
fn starts(functions: &Functions<'_>, finding: &FindingEntry, subject: &Subject) -> Vec<Start> {
    let offset = subject.span_of(finding).start as usize;
    let launch = finding.claim.launch.as_ref().map(|launch| &launch.site);
    let launcher = launch.filter(|launch| launch.path == finding.path).and_then(|launch| {
        functions.around(subject.offset(launch.line(), 1) as usize + leading(subject, launch.line()))
    });
    let mut found: Vec<Start> = Vec::new();
    let add = |start: Start, found: &mut Vec<Start>| {
        if !found.contains(&start) {
            found.push(start);
        }
    };
    let here = functions.around(offset);
    let kernels: Vec<usize> = match here.and_then(|index| Some((index, functions.all.get(index)?.role))) {
        Some((index, Role::Numba | Role::CupyJit)) => vec![index],
        Some((index, Role::Device)) => kernels_of(functions, index),
        Some((index, Role::Host)) => {
            add(Start { function: index, kernel: None }, &mut found);
            Vec::new()
        }
        // At module level: the launch may still be in a function (a kernel in a string).
        None => Vec::new(),
    };
    let is_host = |index: &usize| functions.all.get(*index).is_some_and(|function| function.role == Role::Host);
    if let Some(host) = launcher.filter(is_host) {
        add(Start { function: host, kernel: kernels.first().copied() }, &mut found);
    }
    for kernel in kernels {
        for user in functions.users(kernel).into_iter().filter(is_host) {
            add(Start { function: user, kernel: Some(kernel) }, &mut found);
        }
        add(Start { function: kernel, kernel: Some(kernel) }, &mut found);
    }
    found
}

/// Bytes of blanks at the start of a line.
fn leading(subject: &Subject, line: u32) -> usize {
    let text = subject.text.get(subject.offset(line, 1) as usize..).unwrap_or("");
    text.len() - text.trim_start_matches([' ', '\t']).len()
}

/// The kernels that lead to a device function.
fn kernels_of(functions: &Functions<'_>, device: usize) -> Vec<usize> {
    let (mut open, mut seen, mut found) = (vec![device], BTreeSet::from([device]), Vec::new());
    while let Some(index) = open.pop() {
        for user in functions.users(index) {
            if seen.insert(user) {
                match functions.all.get(user).map(|function| function.role) {
                    Some(Role::Numba | Role::CupyJit) => found.push(user),
                    Some(Role::Device) => open.push(user),
                    _ => {}
                }
            }
        }
    }
    found
}

/// A call as text.
#[derive(Clone, Debug)]
struct Call {
    text: String,
    /// What of it nothing states.
    made_up: Vec<String>,
}

/// The call of a host function, or the launch of a kernel.
fn call(functions: &Functions<'_>, start: Start, stated: &Stated<'_>, with_cupy: bool) -> Result<Call, String> {
    let function = functions.all.get(start.function).ok_or("no function")?;
    // A function within another one is what that one returns.
    let mut callee = function.name.to_owned();
    let mut made_up = Vec::new();
    if function.in_class {
        let (class, init) = functions
            .class_of(start.function)
            .ok_or_else(|| format!("`{}` is a method of a class that is only known elsewhere", function.name))?;
        let given = init.map_or(Ok(Vec::new()), |init| arguments(functions, init, stated, with_cupy))?;
        callee = format!("{class}({}).{}", joined(given, &mut made_up), function.name);
    } else if let Some(parent) = function.parent {
        let factory = functions.all.get(parent).ok_or("no function")?;
        let text = functions.text.get(factory.node.byte_range()).unwrap_or("");
        let returned = text.lines().any(|line| line.trim() == format!("return {}", function.name));
        if !returned || factory.parent.is_some() || factory.in_class {
            return Err(format!("`{}` is only known within `{}`", function.name, factory.name));
        }
        let given = arguments(functions, parent, stated, with_cupy)?;
        callee = format!("{}({})", factory.name, joined(given, &mut made_up));
    }
    let given = joined(arguments(functions, start.function, stated, with_cupy)?, &mut made_up);
    let text = if function.role == Role::Host {
        format!("{callee}({given})")
    } else {
        let block = block_of(functions, start.function).unwrap_or(BLOCK);
        let (grid, block, shared) =
            stated.launch.map_or((GRID, block, 0), |launch| (launch.grid, launch.block, launch.shared_bytes));
        if stated.launch.is_none() {
            made_up.push(format!("the launch: {} blocks of {} threads", dimensions(grid), dimensions(block)));
        }
        let configuration = match (function.role, shared) {
            (Role::Numba, bytes @ 1..) => format!("{}, {}, 0, {bytes}", dimensions(grid), dimensions(block)),
            _ => format!("{}, {}", dimensions(grid), dimensions(block)),
        };
        let shared =
            if function.role == Role::CupyJit && shared > 0 { format!(", shared_mem={shared}") } else { String::new() };
        format!("{callee}[{configuration}]({given}{shared})")
    };
    Ok(Call { text, made_up })
}

/// The block that a kernel is made for: a thread for each element of its shared array.
fn block_of(functions: &Functions<'_>, index: usize) -> Option<[u64; 3]> {
    let function = functions.all.get(index)?;
    let text = functions.text.get(function.node.byte_range())?;
    let after = ["shared.array(", "shared_memory("].iter().find_map(|call| Some(text.split_once(call)?.1))?;
    let after = after.trim_start().strip_prefix("shape=").unwrap_or(after).trim_start();
    // The second word of `shared_memory(type, size)` is the size.
    let shape = if text.contains("shared_memory(") { after.split_once(',')?.1.trim_start() } else { after };
    let (shape, several) = shape.strip_prefix('(').map_or((shape, false), |inner| (inner, true));
    let inside = shape.split(')').next()?;
    let words: Vec<&str> = if several { inside.split(',').collect() } else { inside.split(',').take(1).collect() };
    let mut block = [1; 3];
    for (extent, word) in block.iter_mut().zip(words.iter().map(|word| word.trim()).filter(|word| !word.is_empty())) {
        *extent = word.parse().ok().or_else(|| constant(functions.text, word))?;
    }
    let threads = block.iter().copied().fold(1, u64::saturating_mul);
    (32..=1024).contains(&threads).then_some(block)
}

/// The value of `NAME = 64` at the start of a line.
fn constant(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let value = line.strip_prefix(name)?.trim_start().strip_prefix('=')?;
        value.split('#').next()?.trim().parse().ok()
    })
}

fn joined(given: Vec<Argument>, made_up: &mut Vec<String>) -> String {
    let texts: Vec<String> = given
        .into_iter()
        .map(|argument| {
            made_up.extend(argument.made_up);
            argument.text
        })
        .collect();
    texts.join(", ")
}

/// `4`, or `(4, 2)`.
fn dimensions(extents: [u64; 3]) -> String {
    match extents {
        [x, 1, 1] => x.to_string(),
        [x, y, 1] => format!("({x}, {y})"),
        [x, y, z] => format!("({x}, {y}, {z})"),
    }
}

/// A statement for a name that a fragment leaves out: what everyone imports under it, and a size for a constant.
fn supply(name: &str) -> Option<String> {
    const IMPORTS: [(&str, &str); 9] = [
        ("cuda", "from numba import cuda"),
        ("numba", "import numba"),
        ("float32", "from numba import float32"),
        ("float64", "from numba import float64"),
        ("int32", "from numba import int32"),
        ("np", "import numpy as np"),
        ("numpy", "import numpy"),
        ("cp", "import cupy as cp"),
        ("math", "import math"),
    ];
    if let Some((_, statement)) = IMPORTS.iter().find(|(known, _)| *known == name) {
        return Some((*statement).to_owned());
    }
    let is_constant = name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    is_constant.then(|| format!("{name} = 128"))
}

/// A script being written.
struct Script<'s> {
    finding: Option<&'s FindingEntry>,
    subject: &'s Subject,
    stretch: &'s Stretch,
    root: Node<'s>,
    raises: Option<&'s Raise>,
}

impl Script<'_> {
    /// The whole file, and calls.
    fn around(&self, calls: &[Call]) -> Program {
        let sheet = whole(self.subject, self.stretch);
        let packages =
            prediction::facts(self.subject, self.stretch).map(|names| imported_packages(&names)).unwrap_or_default();
        let (first, last) = lines(self.subject, self.stretch);
        let what = format!("{}, and calls of what they define.", self.subject.lines_in_words(first, last));
        self.program(Origin::Around, sheet, calls, packages, what)
    }

    /// What a function needs of the file, and the call.
    fn cut(&self, functions: &Functions<'_>, start: Start, call: &Call) -> Result<Program, String> {
        let function = functions.all.get(start.function).ok_or("no function")?;
        let outermost = match functions.class_of(start.function) {
            Some((class, _)) => class,
            None => function.parent.and_then(|parent| functions.all.get(parent)).unwrap_or(function).name,
        };
        let (sheet, packages, call) = self.needed(outermost, call, None)?;
        let path = &self.subject.path;
        let what = format!("What `{outermost}` needs of {path}, at its own line numbers, and a call of it.");
        Ok(self.program(Origin::Cut, sheet, &[call], packages, what))
    }

    /// The kernel or device function of the finding, cut down to the finding's statement, what it needs of the file, and a
    /// launch of it; none where the finding stands in no such function. The same without the statement must raise nothing.
    fn statement(&self, functions: &Functions<'_>) -> Option<Result<Program, String>> {
        let offset = self.subject.span_of(self.finding?).start as usize;
        let index = functions.around(offset)?;
        let function = functions.all.get(index).filter(|function| function.role != Role::Host)?;
        if function.in_class || function.parent.is_some() || !function.node.byte_range().contains(&offset) {
            return None;
        }
        let slice = slice(function.outer, function.node, offset, functions.text);
        Some(slice.and_then(|slice| self.alone(functions, index, function.name, &slice)))
    }

    fn alone(&self, functions: &Functions<'_>, index: usize, name: &str, slice: &Slice) -> Result<Program, String> {
        let function = functions.all.get(index).ok_or("no function")?;
        let start = Start { function: index, kernel: Some(index) };
        let stated = Stated::of(self.finding, self.subject, functions, start.kernel);
        let mut call = call(functions, start, &stated, with_cupy(self.subject, self.stretch, functions, start))?;
        if function.role == Role::Device {
            let given = function.parameters.join(", ");
            let launched = call.text.split_once('(').map_or("", |(_, rest)| rest);
            let kernel = format!("def cudalint_kernel({given}): {name}({given})");
            call.text = format!("@__import__(\"numba.cuda\").cuda.jit\n{kernel}\ncudalint_kernel[1, 1]({launched}");
        }
        call.made_up.push(format!("`{name}` with the finding's statement and what that needs alone"));
        let mut programs = [&slice.text, &slice.without].into_iter().map(|text| {
            let (sheet, packages, call) = self.needed(name, &call, Some((function.outer.start_byte(), text)))?;
            let what = format!("One statement of `{name}`, at its own line number, and a launch.");
            Ok::<_, String>(self.program(Origin::Cut, sheet, &[call], packages, what))
        });
        let (Some(Ok(Program::Python(mut program))), Some(Ok(Program::Python(without)))) =
            (programs.next(), programs.next())
        else {
            return Err(format!("`{name}` cannot be cut out of its surroundings"));
        };
        if let Some(file) = without.files.into_iter().next() {
            let path = Utf8PathBuf::from("control.py");
            program.files.push(ScenarioFile { path: path.clone(), text: file.text });
            program.control = Some(path);
        }
        if let Some(raises) =
            program.raises.as_mut().filter(|raises| raises.classes.iter().any(|class| class == REFUSAL))
        {
            raises.classes.extend(REFUSALS_ALONE.map(str::to_owned));
        }
        Ok(Program::Python(program))
    }

    /// What a function or class needs of the file, at its own lines; `instead` is the text for the definition that begins at
    /// a byte.
    fn needed(
        &self,
        outermost: &str,
        call: &Call,
        instead: Option<(usize, &String)>,
    ) -> Result<(Sheet, Vec<String>, Call), String> {
        let names = Names::read(self.root, &self.subject.text);
        let end = self.root.end_byte();
        let mut needs = names.needs([outermost], Span::new(end, end), |_| false)?;
        needs.statements.extend(names.contexts().map(|node| (node.start_byte(), node)));
        let mut packages = BTreeSet::new();
        let (mut supplied, mut missing) = (Vec::new(), Vec::new());
        for name in needs.missing {
            match supply(name) {
                Some(statement) => {
                    let words = statement.split(|c: char| !c.is_alphanumeric() && c != '_');
                    packages.extend(words.filter_map(package).map(str::to_owned));
                    supplied.push(statement);
                }
                None => missing.push(name),
            }
        }
        if let Some((_, text)) = instead {
            let words: BTreeSet<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
            missing.retain(|name| words.contains(name));
        }
        if !missing.is_empty() {
            return Err(format!("nothing in the file says what `{}` is", missing.join("`, `")));
        }
        let mut sheet = Sheet::default();
        for node in needs.statements.values() {
            let line = self.subject.line_of(node.start_byte() as u32);
            let column = node.start_byte().saturating_sub(self.subject.offset(line, 1) as usize);
            let own = instead.filter(|(start, _)| *start == node.start_byte());
            let text = own.map_or_else(|| self.subject.slice(Span::from(*node)), |(_, text)| text.as_str());
            if matches!(python_kind(*node), PythonKind::ImportStatement | PythonKind::ImportFromStatement) {
                let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
                packages.extend(words.filter_map(package).map(str::to_owned));
            }
            sheet.place(line, column, text);
        }
        let mut call = call.clone();
        if !supplied.is_empty() {
            self.begin_with(&mut sheet, &supplied.join("; "));
            call.made_up.extend(supplied);
        }
        Ok((sheet, packages.into_iter().collect(), call))
    }

    /// Puts a statement before all that may need it: before the first line, or where the file begins with that, its first
    /// import.
    fn begin_with(&self, sheet: &mut Sheet, statement: &str) {
        if let Some(free) = sheet.free_before(sheet.first()) {
            return sheet.place(free, 0, statement);
        }
        let statements = named_children(self.root);
        let import = statements
            .filter(|node| matches!(python_kind(*node), PythonKind::ImportStatement | PythonKind::ImportFromStatement))
            .map(|node| self.subject.line_of(node.start_byte() as u32))
            .find(|line| sheet.holds_import(*line));
        if let Some(line) = import {
            sheet.prefix(line, statement);
        }
    }

    fn program(
        &self,
        origin: Origin,
        mut sheet: Sheet,
        calls: &[Call],
        packages: Vec<String>,
        what: String,
    ) -> Program {
        let script = Utf8PathBuf::from(if origin == Origin::Cut { "cut.py" } else { "around.py" });
        let mut raises = self.raises.cloned();
        for call in calls {
            let first = sheet.after();
            for (line, text) in (first..).zip(call.text.lines()) {
                sheet.set(line, text);
            }
            if let Some(raises) = &mut raises {
                raises.lines.push((first, sheet.after() - 1));
            }
        }
        let surroundings = self.surroundings().filter(|_| self.subject.kind == FileKind::Python);
        // CuPy's pool rounds allocations up, which hides accesses beyond their ends.
        let exact = "import cupy; cupy.cuda.set_allocator(None)";
        let with_cupy = packages.iter().any(|package| package == "cupy");
        let before: Vec<String> = surroundings.into_iter().chain(with_cupy.then(|| exact.to_owned())).collect();
        if !before.is_empty() {
            self.begin_with(&mut sheet, &before.join("; "));
        }
        let by_exception = self.finding.is_some_and(|finding| finding.verification.method == Method::Exception);
        if !by_exception {
            // What a kernel did wrong shows when the host waits for it.
            for (package, wait) in [
                ("numba", "__import__(\"numba.cuda\").cuda.synchronize()"),
                ("cupy", "__import__(\"cupy\").cuda.runtime.deviceSynchronize()"),
            ] {
                if packages.iter().any(|used| used == package) {
                    sheet.set(sheet.after(), wait);
                }
            }
        }
        let mut comments = Vec::new();
        if let Some(FindingEntry { rule, path, range, message, .. }) = self.finding {
            comments.push(format!("Shows {rule} at line {} of {path}:", range.start.line));
            comments.push(format!("{}.", message.replace('\n', " ")));
        }
        comments.push(what);
        let made_up: Vec<String> = calls.iter().flat_map(|call| call.made_up.iter().cloned()).collect();
        comments.extend(made_up.iter().map(|made_up| format!("Made up: {made_up}")));
        comments.push(format!("Run it with: python {script}"));
        Program::Python(PythonProgram {
            origin,
            files: vec![ScenarioFile { path: script.clone(), text: sheet.render(&comments) }],
            packages,
            reproducer: Some(script.clone()),
            script,
            raises,
            control: None,
            made_up,
            beside: beside(self.subject),
            project: None,
        })
    }

    /// A statement that lets the copy of a file import what stands beside the file; none where nothing does.
    fn surroundings(&self) -> Option<String> {
        let folder = self.subject.file.parent()?;
        let mut top = folder;
        let mut parts: Vec<&str> = Vec::new();
        while top.join("__init__.py").is_file() {
            parts.insert(0, top.file_name()?);
            top = top.parent()?;
        }
        let quoted = |path: &Utf8Path| serde_json::to_string(path.as_str()).unwrap_or_default();
        let mut line = format!("__import__(\"sys\").path.insert(0, {})", quoted(top));
        if !parts.is_empty() {
            line = format!("{line}; __package__ = \"{}\"", parts.join("."));
        }
        Some(line)
    }
}
