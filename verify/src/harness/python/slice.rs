//! A kernel cut down to one of its statements: that statement, the loops and conditions around it, and the statements that give
//! the names in them their values. Compilers of kernels stop at the first statement that they refuse, so that this is how the
//! others are shown.

use super::bindings::{identifiers, reads, reads_itself};
use cudalint_syntax::kinds::{PythonKind, python_kind};
use cudalint_syntax::{Node, each_node};
use std::collections::BTreeSet;

/// Statements that one statement may need, at most.
const MAX_KEPT: usize = 100;

/// A function's text, with empty lines for what is left out.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Slice {
    /// With the statement.
    pub text: String,
    /// The same without it.
    pub without: String,
}

/// The statement of a function's body in which a byte stands; none for a byte of its head.
pub(super) fn statement_at(function: Node<'_>, offset: usize) -> Option<Node<'_>> {
    let body = function.child_by_field_name("body")?;
    let mut node = body.descendant_for_byte_range(offset, offset + 1)?;
    loop {
        let parent = node.parent()?;
        if python_kind(parent) == PythonKind::Block {
            return Some(node);
        }
        if node.id() == body.id() {
            return None;
        }
        node = parent;
    }
}

/// Cuts a function down to the statement at `offset`. `outer` is the whole definition, decorators included.
///
/// # Errors
/// Why the statement cannot be taken out.
pub(super) fn slice(outer: Node<'_>, function: Node<'_>, offset: usize, text: &str) -> Result<Slice, String> {
    let body = function.child_by_field_name("body").ok_or("the function has no body")?;
    let statement = statement_at(function, offset).ok_or("no statement of the function stands there")?;
    let mut cutter =
        Cutter { text, body, bindings: bindings(body, text), kept: BTreeSet::new(), open: BTreeSet::new() };
    cutter.keep(statement)?;
    let declared: Vec<&str> = bound(statement, text).into_iter().filter(|name| cutter.declares(name)).collect();
    cutter.open.extend(declared);
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    while let Some(name) = cutter.open.pop_first() {
        if !seen.insert(name) {
            continue;
        }
        for binding in cutter.binders(name, statement) {
            cutter.keep(binding)?;
        }
    }
    let mut spans: Vec<(usize, usize)> = cutter.kept.iter().copied().collect();
    spans.push((outer.start_byte(), body.start_byte()));
    let lines = Lines { text, outer };
    let with = lines.kept(&spans)?;
    let own = (statement.start_byte(), statement.end_byte());
    Ok(Slice { without: lines.without(&with, own), text: with.join("\n") })
}

struct Cutter<'t> {
    text: &'t str,
    body: Node<'t>,
    /// Statements that bind names.
    bindings: Vec<(Node<'t>, Vec<&'t str>)>,
    /// First and last bytes of what stays: whole statements, and heads of compound ones.
    kept: BTreeSet<(usize, usize)>,
    /// Names whose values are needed.
    open: BTreeSet<&'t str>,
}

impl<'t> Cutter<'t> {
    /// Keeps a statement, and the heads of the loops and conditions around it.
    fn keep(&mut self, statement: Node<'t>) -> Result<(), String> {
        let mut whole = statement;
        let mut heads = Vec::new();
        let mut node = statement;
        while let Some(block) = node.parent().filter(|block| block.id() != self.body.id()) {
            let around = block.parent().ok_or("the statement stands nowhere")?;
            let is = |field: &str| around.child_by_field_name(field).is_some_and(|child| child.id() == block.id());
            match python_kind(around) {
                PythonKind::ForStatement | PythonKind::WhileStatement if is("body") => heads.push((around, block)),
                PythonKind::IfStatement if is("consequence") => heads.push((around, block)),
                // Another branch, a handler, a function within: it stays as a whole with the statement that it belongs to.
                _ => {
                    let mut outermost = around;
                    while let Some(parent) =
                        outermost.parent().filter(|parent| python_kind(*parent) != PythonKind::Block)
                    {
                        outermost = parent;
                    }
                    if outermost.start_byte() <= self.body.start_byte() && outermost.end_byte() >= self.body.end_byte()
                    {
                        return Err("the statement stands in a part of the function that cannot be cut".to_owned());
                    }
                    whole = outermost;
                    heads.clear();
                    node = outermost;
                    continue;
                }
            }
            node = around;
        }
        if self.kept.insert((whole.start_byte(), whole.end_byte())) {
            self.open.extend(read(whole, self.text));
        }
        for (around, block) in heads {
            if self.kept.insert((around.start_byte(), block.start_byte())) {
                let of_block = (block.start_byte(), block.end_byte());
                each_node(around, |inner, _| {
                    let inside = of_block.0 <= inner.start_byte() && inner.end_byte() <= of_block.1;
                    if python_kind(inner) == PythonKind::Identifier && !inside {
                        self.open.insert(self.text.get(inner.byte_range()).unwrap_or(""));
                    }
                });
            }
        }
        if self.kept.len() > MAX_KEPT { Err(format!("it needs more than {MAX_KEPT} statements")) } else { Ok(()) }
    }

    /// Whether the function declares a name as global or as one of a function around.
    fn declares(&self, name: &str) -> bool {
        self.bindings.iter().any(|(statement, names)| is_declaration(*statement) && names.contains(&name))
    }

    /// The statements before another one that give a name its value; loops around it are kept already.
    fn binders(&self, name: &str, wanted: Node<'t>) -> Vec<Node<'t>> {
        let binds = |(statement, names): &&(Node<'t>, Vec<&str>)| {
            statement.end_byte() <= wanted.start_byte() && names.contains(&name)
        };
        self.bindings.iter().filter(binds).map(|(statement, _)| *statement).collect()
    }
}

fn is_declaration(statement: Node<'_>) -> bool {
    matches!(python_kind(statement), PythonKind::GlobalStatement | PythonKind::NonlocalStatement)
}

/// The statements of a body that bind names, loops by their variables.
fn bindings<'t>(body: Node<'t>, text: &'t str) -> Vec<(Node<'t>, Vec<&'t str>)> {
    let mut found = Vec::new();
    each_node(body, |node, _| {
        if node.parent().is_some_and(|parent| python_kind(parent) == PythonKind::Block) {
            let names = bound(node, text);
            if !names.is_empty() {
                found.push((node, names));
            }
        }
    });
    found
}

/// The names that a statement by itself binds.
fn bound<'t>(statement: Node<'t>, text: &'t str) -> Vec<&'t str> {
    let named = |node: Option<Node<'t>>| node.map_or_else(Vec::new, |node| identifiers(node, text));
    match python_kind(statement) {
        PythonKind::ExpressionStatement => statement.named_child(0).map_or_else(Vec::new, |inner| {
            let mut found = Vec::new();
            let mut next = Some(inner);
            while let Some(assignment) = next
                .filter(|node| matches!(python_kind(*node), PythonKind::Assignment | PythonKind::AugmentedAssignment))
            {
                found.extend(named(assignment.child_by_field_name("left")));
                next = assignment.child_by_field_name("right");
            }
            found
        }),
        PythonKind::ForStatement => named(statement.child_by_field_name("left")),
        PythonKind::FunctionDefinition => named(statement.child_by_field_name("name")),
        PythonKind::DecoratedDefinition => {
            named(statement.child_by_field_name("definition").and_then(|inner| inner.child_by_field_name("name")))
        }
        PythonKind::ImportStatement
        | PythonKind::ImportFromStatement
        | PythonKind::GlobalStatement
        | PythonKind::NonlocalStatement => reads_of_import(statement, text),
        _ => Vec::new(),
    }
}

/// The identifiers of an import or a declaration, each of which it may bind.
fn reads_of_import<'t>(statement: Node<'t>, text: &'t str) -> Vec<&'t str> {
    let mut found = Vec::new();
    each_node(statement, |node, _| {
        if python_kind(node) == PythonKind::Identifier {
            found.push(text.get(node.byte_range()).unwrap_or(""));
        }
    });
    found
}

/// The names that a statement reads; those that it only binds left out.
fn read<'t>(statement: Node<'t>, text: &'t str) -> BTreeSet<&'t str> {
    let mut found = reads(statement, text);
    if python_kind(statement) == PythonKind::ExpressionStatement
        && let Some(assignment) = statement.named_child(0).filter(|node| python_kind(*node) == PythonKind::Assignment)
    {
        for name in bound(statement, text) {
            if !reads_itself(assignment, name, text) {
                found.remove(name);
            }
        }
    }
    found
}

/// The lines of a definition.
struct Lines<'t> {
    text: &'t str,
    outer: Node<'t>,
}

impl<'t> Lines<'t> {
    /// The definition's lines with their first bytes.
    fn all(&self) -> impl Iterator<Item = (usize, &'t str)> {
        let start = self.outer.start_byte();
        let text = self.text.get(start..self.outer.end_byte()).unwrap_or("");
        text.split('\n').scan(start, |at, line| {
            let first = *at;
            *at += line.len() + 1;
            Some((first, line))
        })
    }

    /// The lines on which these stretches stand, empty ones for the others.
    fn kept(&self, spans: &[(usize, usize)]) -> Result<Vec<&'t str>, String> {
        let mut found = Vec::new();
        for (first, line) in self.all() {
            let end = first + line.len();
            let mut on_line = spans
                .iter()
                .filter(|(from, to)| *from < end && first < *to && !is_blank(self.within(*from, *to, first, end)));
            let Some(one) = on_line.next() else {
                found.push("");
                continue;
            };
            // What stands on one line with it would come along.
            let (from, to) = on_line.fold(*one, |(from, to), (start, end)| (from.min(*start), to.max(*end)));
            let before = self.text.get(first..from.max(first)).unwrap_or("");
            let after = self.text.get(to.min(end)..end).unwrap_or("").trim_start();
            if !is_blank(before) || !(after.is_empty() || after.starts_with('#')) {
                return Err("several statements stand on one line".to_owned());
            }
            found.push(line);
        }
        Ok(found)
    }

    /// The part of a stretch that stands on a line.
    fn within(&self, from: usize, to: usize, first: usize, end: usize) -> &'t str {
        self.text.get(from.max(first)..to.min(end)).unwrap_or("")
    }

    /// The lines with nothing done in the place of a statement.
    fn without(&self, lines: &[&str], (from, to): (usize, usize)) -> String {
        let mut found = Vec::new();
        for ((first, line), kept) in self.all().zip(lines) {
            let end = first + line.len();
            if end <= from || to <= first {
                found.push((*kept).to_owned());
            } else if first <= from {
                found.push(format!("{}pass", self.text.get(first..from).unwrap_or("")));
            } else {
                found.push(String::new());
            }
        }
        found.join("\n")
    }
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{Slice, slice};
    use crate::subject::Subject;
    use cudalint_syntax::kinds::{PythonKind, python_kind};

    const KERNEL: &str = "\
@cuda.jit
def kinds(a, n):
    \"\"\"Words.\"\"\"
    global total
    width = n + 1
    import math
    first, *rest = (1, 2)
    for i in range(width):
        b = a[i]
        if b > first:
            seen = {b}
            other = i
        else:
            log = open(n)
    total = 1
    with open(n) as file:  # read
        pass
    x = 1; y = 2
";

    fn cut(marked: &str) -> Result<Slice, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let root = camino::Utf8Path::from_path(folder.path()).ok_or("no path")?;
        std::fs::write(root.join("k.py"), KERNEL).map_err(|error| error.to_string())?;
        let subject = Subject::read(root, "k.py", &[])?;
        let tree = subject.stretches.first().and_then(|stretch| stretch.parsed.root()).ok_or("no tree")?;
        let mut found = None;
        cudalint_syntax::each_node(tree, |node, _| {
            if python_kind(node) == PythonKind::DecoratedDefinition {
                found = Some(node);
            }
        });
        let outer = found.ok_or("no kernel")?;
        let function = outer.child_by_field_name("definition").ok_or("no function")?;
        slice(outer, function, KERNEL.find(marked).ok_or("no mark")?, &subject.text)
    }

    fn told(text: &str) -> Vec<&str> {
        text.lines().map(str::trim).filter(|line| !line.is_empty()).collect()
    }

    #[test]
    fn a_statement_keeps_what_encloses_it_and_what_it_reads() {
        let found = cut("{b}").unwrap();
        assert_eq!(found.text.split('\n').count(), KERNEL.lines().count());
        let head = ["@cuda.jit", "def kinds(a, n):", "width = n + 1", "first, *rest = (1, 2)"];
        let rest = ["for i in range(width):", "b = a[i]", "if b > first:", "seen = {b}"];
        assert_eq!(told(&found.text), [head, rest].concat());
        assert_eq!(told(&found.without).last(), Some(&"pass"));
        assert_eq!(found.without.lines().nth(10), Some("            pass"));
    }

    #[test]
    fn declarations_come_along_and_other_branches_stay_whole() {
        let found = cut("total = 1").unwrap();
        assert_eq!(told(&found.text), ["@cuda.jit", "def kinds(a, n):", "global total", "total = 1"]);
        let found = cut("log = open").unwrap();
        assert!(told(&found.text).contains(&"other = i"), "{}", found.text);
        let found = cut("open(n) as").unwrap();
        assert_eq!(told(&found.text)[2..], ["with open(n) as file:  # read", "pass"]);
        assert_eq!(told(&found.without)[2..], ["pass"]);
    }

    #[test]
    fn statements_on_one_line_are_not_parted() {
        assert!(cut("y = 2").is_err());
        assert!(cut("def kinds").is_err());
    }
}
