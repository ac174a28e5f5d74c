//! Which statements of a Python file give a name its value: what a piece of it needs to run alone.

use cudalint_syntax::kinds::{PythonKind, python_kind};
use cudalint_syntax::{Node, Span, each_node, named_children};
use std::collections::{BTreeMap, BTreeSet};

/// A piece that needs more statements than this is not cut out.
const MAX_STATEMENTS: usize = 200;

/// Names of Python itself that a piece may use.
const BUILTINS: &[&str] = &[
    "abs",
    "all",
    "any",
    "bool",
    "bytes",
    "callable",
    "complex",
    "dict",
    "divmod",
    "enumerate",
    "float",
    "getattr",
    "hasattr",
    "hash",
    "id",
    "int",
    "isinstance",
    "iter",
    "len",
    "list",
    "map",
    "max",
    "min",
    "next",
    "object",
    "pow",
    "print",
    "range",
    "repr",
    "reversed",
    "round",
    "set",
    "slice",
    "sorted",
    "str",
    "sum",
    "super",
    "tuple",
    "type",
    "zip",
    "Exception",
    "RuntimeError",
    "TypeError",
    "ValueError",
    "NotImplementedError",
    "__name__",
    "__file__",
    "open",
    "filter",
    "frozenset",
    "format",
    "chr",
    "ord",
    "hex",
    "bin",
    "input",
    "bytearray",
    "setattr",
    "issubclass",
    "IndexError",
    "KeyError",
    "ZeroDivisionError",
    "OverflowError",
    "ArithmeticError",
    "AssertionError",
    "AttributeError",
    "ImportError",
    "StopIteration",
];

/// The bindings of a Python file or fence.
pub(super) struct Names<'t> {
    text: &'t str,
    bindings: Vec<Binding<'t>>,
    functions: Vec<Function<'t>>,
}

/// A statement that gives names their values.
struct Binding<'t> {
    statement: Node<'t>,
    names: Vec<&'t str>,
    /// `from x import *` may bind any.
    any: bool,
    /// The function around it, by its number; none at module level.
    scope: Option<usize>,
    /// What the statement reads.
    reads: BTreeSet<&'t str>,
}

struct Function<'t> {
    node: Node<'t>,
    parent: Option<usize>,
    parameters: BTreeSet<&'t str>,
}

/// The statements that a piece needs.
#[derive(Debug, Default)]
pub(super) struct Needs<'t> {
    /// The statements by their first byte.
    pub statements: BTreeMap<usize, Node<'t>>,
    /// Names that have no value at hand: parameters, loop variables, names of other files.
    pub missing: BTreeSet<&'t str>,
}

impl<'t> Names<'t> {
    /// Reads a tree once. `text` is the whole file's.
    pub fn read(root: Node<'t>, text: &'t str) -> Self {
        let mut names = Self { text, bindings: Vec::new(), functions: Vec::new() };
        let mut around: Vec<(usize, usize)> = Vec::new();
        each_node(root, |node, depth| {
            while around.last().is_some_and(|(at, _)| *at >= depth) {
                around.pop();
            }
            let scope = around.last().map(|(_, scope)| *scope);
            if let Some(opened) = names.note(node, scope) {
                around.push((depth, opened));
            }
        });
        names
    }

    fn text_of(&self, node: Node<'t>) -> &'t str {
        self.text.get(node.byte_range()).unwrap_or("")
    }

    /// Takes note of a node; the answer is the function that it opens.
    fn note(&mut self, node: Node<'t>, scope: Option<usize>) -> Option<usize> {
        match python_kind(node) {
            PythonKind::FunctionDefinition | PythonKind::ClassDefinition => {
                let statement = node
                    .parent()
                    .filter(|parent| python_kind(*parent) == PythonKind::DecoratedDefinition)
                    .unwrap_or(node);
                let name = node.child_by_field_name("name").map_or("", |name| self.text_of(name));
                let reads = reads(statement, self.text).into_iter().filter(|read| *read != name).collect();
                self.bindings.push(Binding { statement, names: vec![name], any: false, scope, reads });
                let parameters =
                    node.child_by_field_name("parameters").map(|node| targets_of_parameters(node, self.text));
                self.functions.push(Function { node, parent: scope, parameters: parameters.unwrap_or_default() });
                return Some(self.functions.len() - 1);
            }
            PythonKind::ImportStatement => {
                let names = imported(node, self.text, true);
                self.bindings.push(Binding { statement: node, names, any: false, scope, reads: BTreeSet::new() });
            }
            PythonKind::ImportFromStatement => {
                let mut cursor = node.walk();
                let any = node.children(&mut cursor).any(|child| python_kind(child) == PythonKind::WildcardImport);
                let names = imported(node, self.text, false);
                self.bindings.push(Binding { statement: node, names, any, scope, reads: BTreeSet::new() });
            }
            PythonKind::Assignment | PythonKind::AugmentedAssignment => {
                let statement =
                    node.parent().filter(|parent| python_kind(*parent) == PythonKind::ExpressionStatement)?;
                let mut names = Vec::new();
                let mut target = Some(node);
                while let Some(assignment) = target {
                    names.extend(
                        assignment.child_by_field_name("left").iter().flat_map(|left| identifiers(*left, self.text)),
                    );
                    target = assignment
                        .child_by_field_name("right")
                        .filter(|right| python_kind(*right) == PythonKind::Assignment);
                }
                let mut reads = reads(statement, self.text);
                if python_kind(node) == PythonKind::Assignment {
                    reads.retain(|read| !names.contains(read) || reads_itself(node, read, self.text));
                }
                self.bindings.push(Binding { statement, names, any: false, scope, reads });
            }
            _ => {}
        }
        None
    }

    /// The innermost function around a byte.
    fn function_at(&self, offset: u32) -> Option<usize> {
        self.functions
            .iter()
            .enumerate()
            .filter(|(_, function)| {
                python_kind(function.node) == PythonKind::FunctionDefinition
                    && function.node.byte_range().contains(&(offset as usize))
            })
            .min_by_key(|(_, function)| function.node.byte_range().len())
            .map(|(index, _)| index)
    }

    /// What a piece at `place` needs, that reads these names, and that is moved out of the functions around it.
    /// Statements for which `refused` holds are not used.
    ///
    /// # Errors
    /// Pieces that need more statements than anyone would read.
    pub fn needs(
        &self,
        names: impl IntoIterator<Item = &'t str>,
        place: Span,
        refused: impl Fn(Span) -> bool,
    ) -> Result<Needs<'t>, String> {
        let mut needs = Needs::default();
        let here = self.function_at(place.start);
        let mut open: Vec<(&'t str, Option<usize>, usize)> =
            names.into_iter().map(|name| (name, here, place.start as usize)).collect();
        let mut seen = BTreeSet::new();
        while let Some((name, scope, before)) = open.pop() {
            if !seen.insert((name, scope, before)) || BUILTINS.contains(&name) {
                continue;
            }
            let found = self.bindings_of(name, scope, before, &refused);
            if found.is_empty() {
                needs.missing.insert(name);
            }
            for index in found {
                let Some(binding) = self.bindings.get(index) else { continue };
                needs.statements.insert(binding.statement.start_byte(), binding.statement);
                if needs.statements.len() > MAX_STATEMENTS {
                    return Err(format!("what it needs is more than {MAX_STATEMENTS} statements"));
                }
                // A function reads its names when it is called; anything else when it stands there.
                let own = self.functions.iter().position(|function| within(function.node, binding.statement));
                let inner: BTreeSet<&str> = match own {
                    Some(own) => self.local_names(own),
                    None => BTreeSet::new(),
                };
                let before = if own.is_some() { usize::MAX } else { binding.statement.start_byte() };
                open.extend(
                    binding
                        .reads
                        .iter()
                        .filter(|read| !inner.contains(*read))
                        .map(|read| (*read, binding.scope, before)),
                );
            }
        }
        // A definition around another one brings it along.
        let kept: Vec<(usize, usize)> =
            needs.statements.values().map(|node| (node.start_byte(), node.end_byte())).collect();
        needs
            .statements
            .retain(|_, node| !kept.iter().any(|(start, end)| *start < node.start_byte() && node.end_byte() <= *end));
        Ok(needs)
    }

    /// Imports at module level that are made for what they do: `PyCUDA`'s modules that make a context.
    pub fn contexts(&self) -> impl Iterator<Item = Node<'t>> {
        let makes = |binding: &&Binding<'t>| {
            let text = self.text_of(binding.statement);
            binding.scope.is_none() && (text.contains("pycuda.auto") || text.contains("from pycuda import auto"))
        };
        self.bindings.iter().filter(makes).map(|binding| binding.statement)
    }

    /// Names that only mean something inside a function: its parameters and what it and its inner functions bind.
    fn local_names(&self, function: usize) -> BTreeSet<&'t str> {
        let mut found = BTreeSet::new();
        for (index, inner) in self.functions.iter().enumerate() {
            if self.is_inside(Some(index), function) {
                found.extend(inner.parameters.iter().copied());
            }
        }
        for binding in &self.bindings {
            if self.is_inside(binding.scope, function) {
                found.extend(binding.names.iter().copied());
            }
        }
        if let Some(function) = self.functions.get(function) {
            found.extend(loop_variables(function.node, self.text));
        }
        found
    }

    fn is_inside(&self, scope: Option<usize>, function: usize) -> bool {
        let mut scope = scope;
        while let Some(index) = scope {
            if index == function {
                return true;
            }
            scope = self.functions.get(index).and_then(|function| function.parent);
        }
        false
    }

    /// The statements that may give a name its value where it is read, by their numbers.
    fn bindings_of(
        &self,
        name: &str,
        scope: Option<usize>,
        before: usize,
        refused: &impl Fn(Span) -> bool,
    ) -> Vec<usize> {
        let mut scope = scope;
        let mut before = before;
        loop {
            let all = |limit: usize, any: bool| -> Vec<usize> {
                let fits = |binding: &Binding<'t>| {
                    binding.scope == scope
                        && (if any { binding.any } else { binding.names.contains(&name) })
                        && binding.statement.start_byte() < limit
                        && !refused(Span::from(binding.statement))
                };
                self.bindings.iter().enumerate().filter(|(_, binding)| fits(binding)).map(|(index, _)| index).collect()
            };
            let mut found = all(before, false);
            if found.is_empty() && scope.is_none() {
                found = all(usize::MAX, false);
            }
            if found.is_empty() {
                found = all(before, true);
            }
            let Some(function) = scope.and_then(|scope| self.functions.get(scope)) else { return found };
            if !found.is_empty() || function.parameters.contains(name) {
                return found;
            }
            // Names of the scopes around are read when the function runs, so all of their bindings count.
            scope = function.parent;
            before = usize::MAX;
        }
    }
}

/// Whether a statement is a definition: the function itself or its decorated form.
fn within(function: Node<'_>, statement: Node<'_>) -> bool {
    function.id() == statement.id() || function.parent().is_some_and(|parent| parent.id() == statement.id())
}

/// Every name that a piece of a tree reads or binds, attributes and keywords left out.
pub(super) fn reads<'t>(node: Node<'t>, text: &'t str) -> BTreeSet<&'t str> {
    let mut found = BTreeSet::new();
    each_identifier(node, |identifier| {
        found.insert(text.get(identifier.byte_range()).unwrap_or(""));
    });
    found
}

/// The names of a target: `a`, `a, b`, `a, *b`. A target that is no name (`a[0]`, `a.b`) binds none.
pub(super) fn identifiers<'t>(target: Node<'t>, text: &'t str) -> Vec<&'t str> {
    let named = |node: Node<'t>| text.get(node.byte_range()).unwrap_or("");
    match python_kind(target) {
        PythonKind::Identifier => vec![named(target)],
        PythonKind::PatternList | PythonKind::TuplePattern | PythonKind::ListPattern => named_children(target)
            .filter_map(|child| match python_kind(child) {
                PythonKind::ListSplatPattern => child.named_child(0),
                _ => Some(child),
            })
            .filter(|child| python_kind(*child) == PythonKind::Identifier)
            .map(named)
            .collect(),
        _ => Vec::new(),
    }
}

/// Whether an assignment's value reads the name that it binds.
pub(super) fn reads_itself(assignment: Node<'_>, name: &str, text: &str) -> bool {
    let mut value = assignment.child_by_field_name("right");
    while let Some(inner) = value.filter(|value| python_kind(*value) == PythonKind::Assignment) {
        value = inner.child_by_field_name("right");
    }
    value.is_some_and(|value| reads(value, text).contains(name))
}

fn targets_of_parameters<'t>(parameters: Node<'t>, text: &'t str) -> BTreeSet<&'t str> {
    let mut found = BTreeSet::new();
    for parameter in named_children(parameters) {
        let name = parameter.child_by_field_name("name").or_else(|| match python_kind(parameter) {
            PythonKind::Identifier => Some(parameter),
            _ => parameter.named_child(0),
        });
        if let Some(name) = name {
            found.insert(text.get(name.byte_range()).unwrap_or(""));
        }
    }
    found
}

/// What loops, `with` statements and comprehensions of a function bind.
fn loop_variables<'t>(function: Node<'t>, text: &'t str) -> BTreeSet<&'t str> {
    let mut found = BTreeSet::new();
    each_node(function, |node, _| {
        let target = match python_kind(node) {
            PythonKind::ForStatement | PythonKind::ForInClause => node.child_by_field_name("left"),
            PythonKind::AsPatternTarget => Some(node),
            PythonKind::NamedExpression => node.child_by_field_name("name"),
            PythonKind::Lambda => node.child_by_field_name("parameters"),
            _ => None,
        };
        if let Some(target) = target {
            found.extend(reads(target, text));
        }
    });
    found
}

/// Local names of an import statement: of `import a.b` the name `a`, of `from a import b as c` the name `c`.
fn imported<'t>(statement: Node<'t>, text: &'t str, whole: bool) -> Vec<&'t str> {
    let mut cursor = statement.walk();
    let names: Vec<Node<'t>> = statement.children_by_field_name("name", &mut cursor).collect();
    names
        .into_iter()
        .map(|name| {
            let local = match python_kind(name) {
                PythonKind::AliasedImport => name.child_by_field_name("alias").unwrap_or(name),
                _ => name,
            };
            let written = text.get(local.byte_range()).unwrap_or("");
            if whole { written.split('.').next().unwrap_or(written) } else { written }
        })
        .collect()
}

/// Calls `visit` for each identifier that is a name by itself.
pub(super) fn each_identifier<'t>(root: Node<'t>, mut visit: impl FnMut(Node<'t>)) {
    each_node(root, |node, _| {
        if python_kind(node) != PythonKind::Identifier {
            return;
        }
        let stands_alone = node.parent().is_none_or(|parent| match python_kind(parent) {
            PythonKind::Attribute => {
                parent.child_by_field_name("object").is_some_and(|object| object.id() == node.id())
            }
            PythonKind::KeywordArgument => {
                parent.child_by_field_name("value").is_some_and(|value| value.id() == node.id())
            }
            PythonKind::DottedName => false,
            _ => true,
        });
        if stands_alone {
            visit(node);
        }
    });
}
