//! What matters of a script, cut out of it: the flagged statement alone, with the imports and definitions that it needs.

use super::bindings::{Names, Needs, reads};
use super::packages::package;
use super::prediction::{Fact, raise};
use super::sheet::Sheet;
use crate::scenario::{Candidate, OBSERVED, Origin, Program, PythonProgram, ScenarioFile};
use crate::subject::{Stretch, Subject};
use camino::Utf8PathBuf;
use cudalint_findings::model::FindingEntry;
use cudalint_program::python::{Framework, LaunchProblem, MalformedLaunch, NameUsage, PythonNames, UnknownName};
use cudalint_syntax::kinds::{PythonKind, python_kind};
use cudalint_syntax::{Node, Span, each_node, named_children};
use std::collections::{BTreeMap, BTreeSet};

/// The program that shows a fact alone.
pub(super) fn candidate(
    finding: &FindingEntry,
    subject: &Subject,
    stretch: &Stretch,
    facts: &PythonNames,
    fact: Fact<'_>,
) -> Candidate {
    let root = stretch.parsed.root().ok_or_else(|| "the code could not be parsed".to_owned())?;
    let cutter = Cutter { finding, subject, stretch, facts, root, names: Names::read(root, &subject.text) };
    let piece = match fact {
        Fact::Chevron(chevron) => {
            let span = chevron.parts.span();
            let repaired = format!("def launch():\n    return ({})\n", cutter.as_parsed(span));
            let (line, column) = cutter.place(span);
            let mut sheet = Sheet::default();
            sheet.place(line, column, cutter.subject.slice(span));
            return Ok(cutter.finish(&sheet, repaired, &[], raise(finding), BTreeSet::new()));
        }
        Fact::Launch(launch) => cutter.launch(launch)?,
        Fact::Name(unknown) => match unknown.usage {
            NameUsage::Attribute => cutter.attribute(unknown)?,
            NameUsage::Import => return Ok(cutter.import(unknown)),
            NameUsage::Keyword => return cutter.keyword(unknown),
        },
        Fact::Undecorated(kernel) => Piece {
            span: kernel.launch,
            text: cutter.as_parsed(kernel.launch).replace("[  ", "[").replace("]  (", "]("),
            control: format!("assert callable({})", kernel.name),
            // Python looks at the function's type first, whatever the configuration and the arguments are.
            given: cutter.made_up_for(kernel.launch, &kernel.name),
            needed: [subject.slice(kernel.span)].into(),
            indifferent: BTreeSet::new(),
            idle: NOTHING,
            after: Vec::new(),
        },
        Fact::Pointer(pointer) => {
            let result = "cudalint_result";
            let name = pointer.written.as_str();
            if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || c == '_') {
                return Err(format!("`{name}` is not the name of a pointer"));
            }
            Piece {
                span: pointer.span,
                text: format!("{result} = {}", subject.slice(pointer.span)),
                control: format!(
                    "assert __import__(\"cupy\").ndarray((8,), \"int32\", memptr={name}).data.ptr == {name}.ptr"
                ),
                given: BTreeMap::from([(name, "__import__(\"cupy\").cuda.alloc(1024)".to_owned())]),
                needed: cutter.reads_in(pointer.span),
                indifferent: BTreeSet::new(),
                idle: NOTHING,
                after: vec![
                    format!("if getattr(getattr({result}, \"data\", None), \"ptr\", None) != {name}.ptr:"),
                    format!(
                        "    print(\"{OBSERVED}an array of shape\", {result}.shape, \"with the value\", {result}, \"for a pointer to 1024 bytes at\", {name}.ptr)"
                    ),
                ],
            }
        }
    };
    cutter.assemble(&piece)
}

/// A value that nobody looks at.
const NOTHING: &str = "None";
/// An argument that a launch takes.
const SOME_ARRAY: &str = "__import__(\"numpy\").zeros(1)";

/// A statement to be run alone.
struct Piece<'t> {
    /// Where it stands.
    span: Span,
    /// Its text.
    text: String,
    /// What must run without an exception in its place.
    control: String,
    /// Names with their values.
    given: BTreeMap<&'t str, String>,
    /// Names that it reads and whose values matter.
    needed: BTreeSet<&'t str>,
    /// Names that it reads after what is wrong has already been found out.
    indifferent: BTreeSet<&'t str>,
    /// The value for these.
    idle: &'static str,
    /// Lines to be run after it.
    after: Vec<String>,
}

struct Cutter<'t> {
    finding: &'t FindingEntry,
    subject: &'t Subject,
    stretch: &'t Stretch,
    facts: &'t PythonNames,
    root: Node<'t>,
    names: Names<'t>,
}

impl<'t> Cutter<'t> {
    /// The line of a span, and the column of its first byte.
    fn place(&self, span: Span) -> (u32, usize) {
        let line = self.subject.line_of(span.start);
        (line, span.start.saturating_sub(self.subject.offset(line, 1)) as usize)
    }

    /// A span's text with launches in brackets, as the parser was given it.
    fn as_parsed(&self, span: Span) -> String {
        let region = self.stretch.parsed.span;
        let masked = self.stretch.parsed.masked.as_deref().and_then(|masked| {
            let bytes =
                masked.get((span.start.checked_sub(region.start)?) as usize..(span.end - region.start) as usize)?;
            Some(String::from_utf8_lossy(bytes).into_owned())
        });
        masked.unwrap_or_else(|| self.subject.slice(span).to_owned())
    }

    fn reads_in(&self, span: Span) -> BTreeSet<&'t str> {
        self.node_at(span).map(|node| reads(node, &self.subject.text)).unwrap_or_default()
    }

    fn node_at(&self, span: Span) -> Option<Node<'t>> {
        self.root.descendant_for_byte_range(span.start as usize, span.end as usize)
    }

    /// `kernel[8,](a)`: the kernel and the configuration matter; the exception comes before the arguments are looked at.
    fn launch(&self, launch: &'t MalformedLaunch) -> Result<Piece<'t>, String> {
        if launch.problem == LaunchProblem::ArgumentsNotTuple {
            return Err("the launch alone raises nothing: what happens depends on the array".to_owned());
        }
        let call = self
            .node_at(launch.launch)
            .filter(|node| python_kind(*node) == PythonKind::Call)
            .ok_or_else(|| "the launch is no call".to_owned())?;
        let function = call.child_by_field_name("function").ok_or_else(|| "the launch names no kernel".to_owned())?;
        let text = &*self.subject.text;
        let mut needed = reads(function, text);
        let mut indifferent = BTreeSet::new();
        if let Some(arguments) = call.child_by_field_name("arguments") {
            for (position, argument) in named_children(arguments).enumerate() {
                let keyword = argument.child_by_field_name("name").map(|name| self.subject.slice(Span::from(name)));
                let matters = match launch.framework {
                    _ if launch.problem == LaunchProblem::NotSubscriptable => false,
                    Framework::Numba | Framework::CupyJit => false,
                    Framework::CupyRaw => keyword.map_or(position < 2, |keyword| keyword != "args"),
                    Framework::PyCuda => keyword.is_some(),
                };
                if matters { &mut needed } else { &mut indifferent }.extend(reads(argument, text));
            }
        }
        let control = match launch.framework {
            Framework::Numba | Framework::CupyJit => format!("{}[1, 1]", launch.kernel),
            Framework::CupyRaw | Framework::PyCuda => format!("assert callable({})", launch.kernel),
        };
        let text = self.subject.slice(launch.launch).to_owned();
        let (given, after) = (BTreeMap::new(), Vec::new());
        // PyCUDA puts the arguments together before it looks at the configuration.
        let idle = if launch.framework == Framework::PyCuda { SOME_ARRAY } else { NOTHING };
        Ok(Piece { span: launch.launch, text, control, given, needed, indifferent, idle, after })
    }

    /// `cp.cuda.malloc`: the name is looked up alone.
    fn attribute(&self, unknown: &'t UnknownName) -> Result<Piece<'t>, String> {
        let written = self.subject.slice(unknown.span);
        let (parent, _) = written.rsplit_once('.').ok_or_else(|| format!("`{written}` is no attribute"))?;
        Ok(Piece {
            span: unknown.span,
            text: written.to_owned(),
            control: parent.trim_end().to_owned(),
            given: BTreeMap::new(),
            needed: self.reads_in(unknown.span),
            indifferent: BTreeSet::new(),
            idle: NOTHING,
            after: Vec::new(),
        })
    }

    /// `from cupy.cuda import malloc`: the import of this name alone.
    fn import(&self, unknown: &UnknownName) -> Program {
        let mut node = self.node_at(unknown.span);
        let from = loop {
            match node {
                Some(inner) if python_kind(inner) == PythonKind::ImportFromStatement => break true,
                Some(inner) => node = inner.parent(),
                None => break false,
            }
        };
        let UnknownName { namespace, name, .. } = unknown;
        let text = if from { format!("from {namespace} import {name}") } else { format!("import {namespace}.{name}") };
        let (line, _) = self.place(unknown.span);
        let mut sheet = Sheet::default();
        sheet.place(line, 0, &text);
        let packages = package(namespace.split('.').next().unwrap_or("")).map(str::to_owned).into_iter().collect();
        self.finish(&sheet, format!("import {namespace}\n"), &[], raise(self.finding), packages)
    }

    /// `@cuda.jit(keyword=…)`: the kernel is compiled alone, which is when its options are looked at.
    fn keyword(&self, unknown: &UnknownName) -> Candidate {
        let definition = decorated_definition(self.root, unknown.span)
            .ok_or_else(|| format!("the call with `{}` cannot be run alone", unknown.name))?;
        let name = defined_name(definition, &self.subject.text).ok_or_else(|| "the kernel has no name".to_owned())?;
        let refused = |span: Span| self.holds_chevron(span);
        let needs = self.names.needs([name], Span::from(definition), refused)?;
        let mut sheet = Sheet::default();
        let packages = self.lay(&needs, &mut sheet);
        if !needs.statements.contains_key(&definition.start_byte()) {
            return Err(format!("`{name}` cannot be cut out of its surroundings"));
        }
        let line = sheet.after();
        let mut raises = raise(self.finding);
        raises.lines.push((line, line));
        sheet.place(line, 0, &format!("{name}.compile(())"));
        let made_up = [format!("line {line}, which compiles the kernel, as its launch would")];
        Ok(self.finish(&sheet, format!("import {}\n", module_of(&unknown.namespace)), &made_up, raises, packages))
    }

    fn holds_chevron(&self, span: Span) -> bool {
        self.facts.chevrons.iter().any(|chevron| {
            let launch = chevron.parts.span();
            span.start <= launch.start && launch.start < span.end
        })
    }

    /// Lays statements out at their lines; the answer is the packages that they import.
    fn lay(&self, needs: &Needs<'t>, sheet: &mut Sheet) -> BTreeSet<String> {
        let mut packages = BTreeSet::new();
        for node in needs.statements.values() {
            let (line, column) = self.place(Span::from(*node));
            let text = self.subject.slice(Span::from(*node));
            if matches!(python_kind(*node), PythonKind::ImportStatement | PythonKind::ImportFromStatement) {
                let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
                packages.extend(words.filter_map(package).map(str::to_owned));
            }
            sheet.place(line, column, text);
        }
        packages
    }

    /// A piece with all that it needs.
    fn assemble(&self, piece: &Piece<'t>) -> Candidate {
        let refused =
            |span: Span| self.holds_chevron(span) || span.start <= piece.span.start && piece.span.end <= span.end;
        let wanted = piece.needed.iter().copied().filter(|name| !piece.given.contains_key(name));
        let mut needs = self.names.needs(wanted, piece.span, refused)?;
        // Without a context nothing of PyCUDA works.
        let imports_pycuda = |node: &Node<'_>| self.subject.slice(Span::from(*node)).contains("pycuda");
        if needs.statements.values().any(imports_pycuda) {
            needs.statements.extend(self.names.contexts().map(|node| (node.start_byte(), node)));
        }
        let mut values = piece.given.clone();
        for name in needs.missing.iter().copied() {
            values.insert(name, self.made_up(name, &needs, piece)?);
        }
        for name in piece.indifferent.difference(&piece.needed).copied() {
            if values.contains_key(name) {
                continue;
            }
            let alone = self.names.needs([name], piece.span, refused)?;
            let imports = |node: &Node<'_>| {
                matches!(python_kind(*node), PythonKind::ImportStatement | PythonKind::ImportFromStatement)
            };
            if alone.missing.is_empty() && alone.statements.values().all(imports) {
                needs.statements.extend(alone.statements);
            } else if !needs.statements.values().any(|node| defines(*node, name, &self.subject.text)) {
                values.insert(name, piece.idle.to_owned());
            }
        }
        let mut sheet = Sheet::default();
        let packages = self.lay(&needs, &mut sheet);
        let (line, column) = self.place(piece.span);
        let made_up: Vec<String> = values.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        if !made_up.is_empty() {
            // Before the first statement that may read them: all but definitions and imports.
            let first = needs
                .statements
                .values()
                .filter(|node| python_kind(**node) == PythonKind::ExpressionStatement)
                .map(|node| self.place(Span::from(*node)).0)
                .chain([line])
                .min()
                .unwrap_or(line);
            match sheet.free_before(first) {
                Some(free) => sheet.place(free, 0, &made_up.join("; ")),
                None => sheet.prefix(first, &made_up.join("; ")),
            }
        }
        let mut control = sheet.clone();
        control.place(line, 0, &piece.control);
        let text = if piece.text.contains('\n') { format!("({})", piece.text) } else { piece.text.clone() };
        sheet.place(line, column, &text);
        for extra in &piece.after {
            sheet.set(sheet.after(), extra);
        }
        let control = control.render(&["The same without what is wrong: nothing is raised.".to_owned()]);
        Ok(self.finish(&sheet, control, &made_up, raise(self.finding), packages))
    }

    /// A value for a name that has none at hand.
    fn made_up(&self, name: &str, needs: &Needs<'t>, piece: &Piece<'t>) -> Result<String, String> {
        let mut uses = Uses::default();
        for node in needs.statements.values().copied().chain(self.node_at(piece.span)) {
            uses.read(node, name, &self.subject.text);
        }
        if uses.called {
            return Err(format!("`{name}` is called, and nothing in this file says what it is"));
        }
        Ok(uses.value().to_owned())
    }

    /// Values for all that a launch reads but its kernel.
    fn made_up_for(&self, launch: Span, kernel: &str) -> BTreeMap<&'t str, String> {
        let Some(node) = self.node_at(launch) else { return BTreeMap::new() };
        let names = reads(node, &self.subject.text).into_iter().filter(|name| *name != kernel);
        names
            .map(|name| {
                let mut uses = Uses::default();
                uses.read(node, name, &self.subject.text);
                // What is called is only asked for a value.
                (name, if uses.called { "lambda *_: 1" } else { uses.value() }.to_owned())
            })
            .collect()
    }

    fn finish(
        &self,
        sheet: &Sheet,
        control: String,
        made_up: &[String],
        raises: crate::scenario::Raise,
        packages: BTreeSet<String>,
    ) -> Program {
        let FindingEntry { rule, path, range, .. } = self.finding;
        let mut comments = vec![
            format!("Shows {rule} at line {} of {path}:", range.start.line),
            format!("{}.", self.finding.message.replace('\n', " ")),
            "The lines that matter stand at their own line numbers.".to_owned(),
        ];
        comments.extend(made_up.iter().map(|made_up| format!("Made up: {made_up}")));
        comments.push("Run it with: python cut.py".to_owned());
        let script = Utf8PathBuf::from("cut.py");
        let control_path = Utf8PathBuf::from("control.py");
        Program::Python(PythonProgram {
            origin: Origin::Cut,
            files: vec![
                ScenarioFile { path: script.clone(), text: sheet.render(&comments) },
                ScenarioFile { path: control_path.clone(), text: control },
            ],
            packages: packages.into_iter().collect(),
            reproducer: Some(script.clone()),
            script,
            raises: Some(raises),
            control: Some(control_path),
            made_up: made_up.to_vec(),
            beside: super::whole::beside(self.subject),
            project: None,
        })
    }
}

/// How a name is used.
#[derive(Default)]
pub(super) struct Uses {
    /// It has attributes, elements or a length, or goes into a kernel by itself.
    pub as_array: bool,
    /// It is called.
    pub called: bool,
    /// It is a number in an expression.
    pub as_number: bool,
}

impl Uses {
    /// A value that can be used so.
    pub fn value(&self) -> &'static str {
        if self.as_array { "__import__(\"numpy\").zeros(1000, dtype=\"float32\")" } else { "128" }
    }

    /// Looks for a name in a piece of a tree.
    pub fn read(&mut self, root: Node<'_>, name: &str, text: &str) {
        super::bindings::each_identifier(root, |node| {
            if text.get(node.byte_range()) != Some(name) {
                return;
            }
            let Some(parent) = node.parent() else { return };
            let is = |field: &str| parent.child_by_field_name(field).is_some_and(|child| child.id() == node.id());
            match python_kind(parent) {
                PythonKind::Attribute => self.as_array = true,
                PythonKind::Subscript if is("value") => self.as_array = true,
                PythonKind::Call if is("function") => self.called = true,
                PythonKind::ArgumentList => {
                    let callee = parent.parent().and_then(|call| call.child_by_field_name("function"));
                    let written = callee.and_then(|callee| text.get(callee.byte_range())).unwrap_or("");
                    match callee.map(python_kind) {
                        Some(PythonKind::Subscript) => self.as_array = true,
                        _ if written == "len" => self.as_array = true,
                        _ => self.as_number = true,
                    }
                }
                PythonKind::BinaryOperator | PythonKind::UnaryOperator | PythonKind::Subscript | PythonKind::Tuple => {
                    self.as_number = true;
                }
                _ => {}
            }
        });
    }
}

/// The definition whose decorators hold a span.
pub(super) fn decorated_definition(root: Node<'_>, span: Span) -> Option<Node<'_>> {
    let mut node = root.descendant_for_byte_range(span.start as usize, span.end as usize);
    let mut decorator = false;
    while let Some(inner) = node {
        match python_kind(inner) {
            PythonKind::Decorator => decorator = true,
            PythonKind::DecoratedDefinition => return decorator.then_some(inner),
            _ => {}
        }
        node = inner.parent();
    }
    None
}

/// The name that a decorated definition defines.
pub(super) fn defined_name<'t>(definition: Node<'t>, text: &'t str) -> Option<&'t str> {
    let name = definition.child_by_field_name("definition")?.child_by_field_name("name")?;
    text.get(name.byte_range())
}

/// The launches `name[…](…)`.
pub(super) fn launches_of(root: Node<'_>, name: &str, text: &str) -> Vec<Span> {
    let mut found = Vec::new();
    each_node(root, |node, _| {
        if python_kind(node) == PythonKind::Call
            && let Some(function) = node.child_by_field_name("function")
            && python_kind(function) == PythonKind::Subscript
            && let Some(kernel) = function.child_by_field_name("value")
            && text.get(kernel.byte_range()) == Some(name)
        {
            found.push(Span::from(node));
        }
    });
    found
}

/// The calls of a name.
pub(super) fn calls_of(root: Node<'_>, name: &str, text: &str) -> Vec<Span> {
    let mut found = Vec::new();
    each_node(root, |node, _| {
        if python_kind(node) == PythonKind::Call
            && let Some(function) = node.child_by_field_name("function")
            && text.get(function.byte_range()) == Some(name)
        {
            found.push(Span::from(node));
        }
    });
    found
}

/// Whether a statement is the definition of a name.
fn defines(node: Node<'_>, name: &str, text: &str) -> bool {
    let definition = node.child_by_field_name("definition").unwrap_or(node);
    definition.child_by_field_name("name").and_then(|node| text.get(node.byte_range())) == Some(name)
}

/// The module of a dotted path to a function.
fn module_of(path: &str) -> &str {
    path.rsplit_once('.').map_or(path, |(module, _)| module)
}
