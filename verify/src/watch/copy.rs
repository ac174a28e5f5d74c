//! The copy of a source with watchpoints. Text is only put in, and never a line break: every line stays where it is.

use super::HEADER_NAME;
use super::sites::{Access, Extent, Place, places};
use crate::paths::clean;
use camino::{Utf8Path, Utf8PathBuf};
use cudalint_program::ir::{Function, Module};
use cudalint_syntax::{Node, Span, scan_directives};
use std::fmt::Write as _;

/// A logged access of a copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// Number in the log.
    pub id: u32,
    /// Line in the user's file, from 1.
    pub line: u32,
    /// The place as written.
    pub text: String,
    /// How it is accessed.
    pub access: Access,
    /// The function around it.
    pub function: String,
}

/// A text with watchpoints.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Copy {
    /// The text, with as many lines as the source.
    pub text: String,
    /// Its logged accesses.
    pub sites: Vec<Site>,
    /// Its kernels: the number in the log, from 1, is the position plus one.
    pub kernels: Vec<String>,
}

/// Puts watchpoints into a text. `module` and `root` are its program and its tree; `line_of` gives a line of the text
/// (from 1) its line in the user's file where that is of interest.
pub fn with_watchpoints(
    text: &str,
    module: &Module,
    root: Option<Node<'_>>,
    line_of: impl Fn(u32) -> Option<u32>,
) -> Copy {
    let places = places(module, text, |line| line_of(line).is_some());
    at_places(text, module, root, &places, line_of)
}

/// Puts watchpoints at places of a text.
pub fn at_places(
    text: &str,
    module: &Module,
    root: Option<Node<'_>>,
    places: &[Place],
    line_of: impl Fn(u32) -> Option<u32>,
) -> Copy {
    let lines = cudalint_findings::LineIndex::new(text);
    let mut copy = Copy::default();
    let mut inserted = Insertions::default();
    for place in places {
        let Some(line) = line_of(lines.line(place.span.start as usize) as u32 + 1) else { continue };
        let id = copy.sites.len() as u32;
        let function = module.functions.get(place.function);
        copy.sites.push(Site {
            id,
            line,
            text: text.get(place.span.range()).unwrap_or("").to_owned(),
            access: place.access,
            function: function.map(qualified).unwrap_or_default(),
        });
        let (open, close) = wrapping(id, place);
        inserted.around(place.span, open, close);
    }
    for (function, (start, _)) in kernels(module, root) {
        copy.kernels.push(qualified(function));
        inserted.at(start, format!(" cudalint_kernel({});", copy.kernels.len()));
    }
    copy.text = inserted.into(text);
    copy
}

/// A text in which each thread counts how often it comes to these calls of barriers, of a line of the user's file, and tells it
/// where it comes to its kernel's end.
pub fn with_arrivals(text: &str, module: &Module, root: Option<Node<'_>>, barriers: &[Span], line: u32) -> Copy {
    let mut copy = Copy::default();
    let mut inserted = Insertions::default();
    for span in barriers {
        inserted.around(*span, "(cudalint_arrive(), ".to_owned(), ")".to_owned());
    }
    for (function, (start, end)) in kernels(module, root) {
        let (id, name) = (copy.sites.len() as u32, qualified(function));
        copy.kernels.push(name.clone());
        copy.sites.push(Site { id, line, text: String::new(), access: Access::Read, function: name });
        inserted.at(start, format!(" cudalint_kernel({});", copy.kernels.len()));
        inserted.at(end, format!(" cudalint_tell_arrivals({id}); "));
    }
    copy.text = inserted.into(text);
    copy
}

/// The kernels with the insides of their bodies.
fn kernels<'m>(module: &'m Module, root: Option<Node<'_>>) -> Vec<(&'m Function, (u32, u32))> {
    let own = module.functions.iter().filter(|function| function.space.global && function.body.is_some());
    own.filter_map(|function| Some((function, inside(root?, function)?))).collect()
}

/// The call around a place.
fn wrapping(id: u32, place: &Place) -> (String, String) {
    let kind = match place.access {
        Access::Read => 1,
        Access::Write => 2,
        Access::Update => 3,
        Access::Atomic => 4,
    };
    if place.by_pointer {
        return (format!("cudalint_touch_at({id}, {kind}, "), ")".to_owned());
    }
    let object = match &place.object {
        None => String::new(),
        Some(object) => match object.extent {
            Extent::Sized => format!(", {0}, sizeof({0})", object.name),
            Extent::DynamicShared => format!(", {}, cudalint_dynamic_shared()", object.name),
            Extent::Pointer => format!(", {}", object.name),
        },
    };
    (format!("cudalint_touch({id}, {kind}, "), format!("{object})"))
}

/// A function's name as messages have it, without namespaces.
fn qualified(function: &Function) -> String {
    function.name.as_str().to_owned()
}

/// The byte behind the brace that opens a function's body, and that of the brace that closes it.
fn inside(root: Node<'_>, function: &Function) -> Option<(u32, u32)> {
    let name = function.name_span;
    let mut node = root.descendant_for_byte_range(name.start as usize, name.end as usize)?;
    loop {
        if let Some(body) = node.child_by_field_name("body") {
            let (start, end) = (body.start_byte() as u32, body.end_byte() as u32);
            return (start >= name.end).then_some((start + 1, end.saturating_sub(1)));
        }
        node = node.parent()?;
    }
}

/// Texts to be put in, by offset.
#[derive(Default)]
struct Insertions {
    /// Offset, then the order at it: what closes comes before what opens, inner closings first, outer openings first.
    parts: Vec<(u32, i64, String)>,
    count: i64,
}

impl Insertions {
    /// Spans must come outer before inner.
    fn around(&mut self, span: Span, open: String, close: String) {
        self.count += 1;
        self.parts.push((span.start, (1 << 32) + self.count, open));
        self.parts.push((span.end, -self.count, close));
    }

    fn at(&mut self, offset: u32, text: String) {
        self.parts.push((offset, 0, text));
    }

    fn into(mut self, text: &str) -> String {
        self.parts.sort_by_key(|(offset, order, _)| (*offset, *order));
        let mut out = String::with_capacity(text.len() + 64 * self.parts.len());
        let mut from = 0;
        for (offset, _, part) in &self.parts {
            let Some(kept) = text.get(from..*offset as usize) else { continue };
            out.push_str(kept);
            out.push_str(part);
            from = *offset as usize;
        }
        out.push_str(text.get(from..).unwrap_or(""));
        out
    }
}

/// What stands before a unit's copy: the header, and the source's name for messages.
pub fn unit_head(source: &str) -> String {
    format!("#include \"{HEADER_NAME}\"\n#line 1 \"{}\"\n", literal(source))
}

/// What stands before the copy of an included file.
pub fn included_head(source: &str) -> String {
    format!("#line 1 \"{}\"\n", literal(source))
}

fn literal(path: &str) -> String {
    path.replace('\\', "/").replace('"', "\\\"")
}

/// A text that includes `to` where it includes `from`, in the same lines. `from` is the file's absolute path, `beside` the
/// folder of the text, `folders` those of `-I`.
pub fn redirected(text: &str, beside: &Utf8Path, folders: &[Utf8PathBuf], from: &Utf8Path, to: &Utf8Path) -> String {
    let mut out = String::with_capacity(text.len() + 64);
    let mut at = 0;
    for include in scan_directives(text, Span::new(0, text.len())).includes {
        let Some(line) = text.get(include.span.range()) else { continue };
        if include.system || resolved(&include.path, beside, folders).as_deref() != Some(from) {
            continue;
        }
        let Some(quote) = line.find('"') else { continue };
        let start = include.span.start as usize + quote + 1;
        let end = start + include.path.len();
        if text.get(start..end) == Some(include.path.as_str())
            && let Some(kept) = text.get(at..start)
        {
            out.push_str(kept);
            let _ = write!(out, "{}", literal(to.as_str()));
            at = end;
        }
    }
    out.push_str(text.get(at..).unwrap_or(""));
    out
}

/// The file that an include in quotes names.
pub fn resolved(target: &str, beside: &Utf8Path, folders: &[Utf8PathBuf]) -> Option<Utf8PathBuf> {
    std::iter::once(beside)
        .chain(folders.iter().map(Utf8PathBuf::as_path))
        .map(|folder| folder.join(target))
        .find(|path| path.is_file())
        .map(|path| clean(&path))
}
