//! A kernel with what it needs and nothing else, taken out of its file and of the headers in sight: it builds where host code
//! beside it needs libraries that are not here.

use super::base::Base;
use super::page;
use super::start::Start;
use crate::scenario::Origin;
use crate::subject::{Stretch, Subject};
use cudalint_program::ir::ModuleId;
use cudalint_syntax::{FileKind, Item, ItemKind, Span, items, scan_directives, words};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Headers in headers that are followed.
const MAX_DEPTH: usize = 64;

/// Words before a body that say that code of the device may use what they declare.
const OF_DEVICE: [&str; 8] =
    ["__global__", "__device__", "__constant__", "__shared__", "__managed__", "constexpr", "const", "texture"];

/// One item of one file, in the order in which the compiler reads them.
struct Piece<'s> {
    module: ModuleId,
    item: Item,
    text: &'s str,
    names: Vec<&'s str>,
    /// Line (from 1) that it begins on.
    line: usize,
}

/// The text of a kernel and of all that it names. `None` where the file cannot be taken apart.
pub(super) fn base(subject: &Subject, stretch: &Stretch, start: Start) -> Option<Base> {
    if !matches!(subject.kind, FileKind::Cuda | FileKind::CFamily) {
        return None;
    }
    let own = stretch.module?;
    let kernel = subject.module(stretch)?.functions.get(start.function)?.span;
    let mut pieces = Vec::new();
    collect(subject, own, &mut BTreeSet::new(), &mut pieces, 0)?;
    let needed = needed(&pieces, own, kernel)?;
    let types = pieces.iter().filter(|piece| piece.item.kind == ItemKind::Type);
    let aliases: BTreeSet<&str> = types.flat_map(|piece| &piece.names).copied().collect();
    let mut text = "#include <cstdint>\n".to_owned();
    for piece in pieces.iter().zip(&needed).filter(|(_, needed)| **needed).map(|(piece, _)| piece) {
        let path = if piece.module == own { &subject.path } else { &**subject.project.path(piece.module) };
        let _ = writeln!(text, "#line {} \"{}\"\n{}", piece.line, page::shown(path), written(piece, &aliases));
    }
    let mut flags = page::flags(subject, stretch, &[]);
    if let Some(folder) = subject.file.parent() {
        flags.push(format!("-I{folder}"));
    }
    Some(Base { origin: Origin::Cut, text, flags, files: Vec::new(), helpers: BTreeSet::new() })
}

/// The pieces of a file, with those of the headers in sight where it includes them, each file once.
fn collect<'s>(
    subject: &'s Subject,
    module: ModuleId,
    seen: &mut BTreeSet<ModuleId>,
    pieces: &mut Vec<Piece<'s>>,
    depth: usize,
) -> Option<()> {
    if depth > MAX_DEPTH || !seen.insert(module) {
        return Some(());
    }
    let text: &str = subject.project.source(module);
    let includes = scan_directives(text, Span::new(0, text.len())).includes;
    let targets = subject.project.includes().targets(module.0);
    let (mut line, mut at) = (1, 0);
    for item in items(text)? {
        let (start, end) = (item.span.start as usize, item.span.end as usize);
        line += text.get(at..start)?.matches('\n').count();
        at = start;
        let own = text.get(start..end)?;
        let include = includes
            .iter()
            .position(|include| item.span.start <= include.span.start && include.span.start < item.span.end);
        if item.kind == ItemKind::Directive
            && let Some(target) = include.and_then(|number| *targets.get(number)?)
        {
            collect(subject, ModuleId(target), seen, pieces, depth + 1)?;
            continue;
        }
        let names = if item.kind == ItemKind::Directive {
            words(own).skip_while(|word| *word != "define").skip(1).take(1).collect()
        } else {
            item.names.iter().filter_map(|name| text.get(name.range())).collect()
        };
        pieces.push(Piece { module, item, text: own, names, line });
    }
    Some(())
}

/// Which pieces belong to a kernel's program. `None` where the kernel is no piece of its own.
fn needed(pieces: &[Piece<'_>], own: ModuleId, kernel: Span) -> Option<Vec<bool>> {
    let is_kernel = |piece: &Piece<'_>| {
        let span = piece.item.span;
        piece.module == own
            && span.start <= kernel.start
            && kernel.end <= span.end
            && piece.item.kind == ItemKind::Function
    };
    let first = pieces.iter().position(is_kernel)?;
    let mut by_name: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut macros: BTreeSet<&str> = BTreeSet::new();
    let mut unnamed: Vec<usize> = Vec::new();
    for (number, piece) in pieces.iter().enumerate() {
        for name in &piece.names {
            by_name.entry(name).or_default().push(number);
        }
        if piece.item.kind == ItemKind::Directive {
            macros.extend(&piece.names);
        }
        if matches!(piece.item.kind, ItemKind::Operator | ItemKind::Member) {
            unnamed.push(number);
        }
    }
    let mut all = vec![false; pieces.len()];
    let mut known: BTreeSet<&str> = BTreeSet::new();
    let mut open = vec![first];
    while !open.is_empty() {
        while let Some(number) = open.pop() {
            if std::mem::replace(all.get_mut(number)?, true) {
                continue;
            }
            for word in words(pieces.get(number)?.text).filter(|word| known.insert(word)) {
                let named = by_name.get(word).into_iter().flatten().copied();
                open.extend(named.filter(|it| pieces.get(*it).is_some_and(|piece| may_be_used(piece, &macros))));
            }
        }
        // Operators and members have no name that a use of them must spell.
        open.extend(unnamed.iter().copied().filter(|it| {
            let Some(piece) = pieces.get(*it).filter(|_| all.get(*it) == Some(&false)) else { return false };
            let of_known = match piece.item.kind {
                ItemKind::Member => piece.names.iter().all(|name| known.contains(name)),
                _ => head_words(piece).any(|word| known.contains(word)),
            };
            of_known && may_be_used(piece, &macros)
        }));
    }
    for (needed, piece) in all.iter_mut().zip(pieces) {
        *needed |= matches!(
            piece.item.kind,
            ItemKind::Directive | ItemKind::Opens | ItemKind::Closes | ItemKind::UsingNamespace
        );
    }
    Some(all)
}

/// The words before a declaration's body that are no space of execution.
fn head_words<'p>(piece: &'p Piece<'_>) -> impl Iterator<Item = &'p str> {
    let head = piece.text.get(..piece.item.head.len()).unwrap_or("");
    words(head).filter(|word| !word.starts_with("__") && !matches!(*word, "operator" | "inline" | "static" | "const"))
}

/// Whether code of the device may use a piece: not a function or a variable of the host alone. A macro may say anything.
fn may_be_used(piece: &Piece<'_>, macros: &BTreeSet<&str>) -> bool {
    if !matches!(piece.item.kind, ItemKind::Function | ItemKind::Operator | ItemKind::Member | ItemKind::Variable) {
        return true;
    }
    let head = piece.text.get(..piece.item.head.len()).unwrap_or("");
    words(head).any(|word| OF_DEVICE.contains(&word) || macros.contains(word))
}

/// A piece as it stands in the program: a header only where it is, and a namespace even if nothing in it is needed.
fn written(piece: &Piece<'_>, aliases: &BTreeSet<&str>) -> String {
    let directive = piece.text.trim_start_matches('#').trim_start();
    match piece.item.kind {
        ItemKind::Directive if directive.starts_with("include") => included(directive),
        ItemKind::Directive if directive.starts_with("pragma once") => String::new(),
        ItemKind::UsingNamespace if !piece.names.iter().any(|name| aliases.contains(name)) => {
            let (open, close): (String, String) =
                piece.names.iter().map(|name| (format!("namespace {name} {{ "), "}")).unzip();
            format!("{open}{close} {}", piece.text)
        }
        _ => piece.text.to_owned(),
    }
}

/// A header that is out of sight: one that is nowhere is left out by the compiler.
fn included(directive: &str) -> String {
    let header = directive.trim_start_matches("include").trim();
    let Some(end) = header.get(1..).filter(|_| header.starts_with(['<', '"'])).and_then(|rest| rest.find(['>', '"']))
    else {
        return String::new();
    };
    let (target, name) = (header.get(1..=end).unwrap_or(""), header.get(..end + 2).unwrap_or(""));
    if super::supply::is_toolkit_header(target) {
        return format!("#include {name}");
    }
    format!("#if __has_include({name})\n#include {name}\n#endif")
}
