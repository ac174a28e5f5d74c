//! Which declarations of large headers are mentioned by nobody, so that no tree of them is needed: bindings of a graphics
//! library are a tenth of some projects' text, and their samples use ten names of thousands.

use super::SourceFile;
use crate::configuration::View;
use crate::name::Name;
use cudalint_syntax::{Declarations, FileKind, MacroTable, Span, declarations, words};
use rustc_hash::{FxHashMap, FxHashSet};

/// A smaller header is parsed with the others.
const SMALLEST: usize = 16 << 10;

/// Whether a file is read for what others take from it, and large enough to ask what that is.
pub(super) fn waits(file: &SourceFile) -> bool {
    file.kind == FileKind::CFamily && !file.reported && file.text.len() >= SMALLEST && file.pieces.len() == 1
}

/// For each header that waited the declarations that need not be parsed.
///
/// `mentioned` is what the lowered files name, and `texts` where else names may stand: bodies of macros. A declaration is
/// needed when its name is among these, in other code of one of the headers, or in a declaration or a macro that is
/// needed itself. `views` are what the headers see.
pub(super) fn unmentioned<'t>(
    headers: &'t [&'t SourceFile],
    mentioned: &[&[Name]],
    texts: impl Iterator<Item = &'t str>,
    macros: &MacroTable,
    views: &[View<'_>],
) -> Vec<Vec<Span>> {
    let found: Vec<Option<Declarations>> = headers
        .iter()
        .zip(views)
        .map(|(header, view)| {
            let piece = header.pieces.first()?;
            declarations(&header.text, &piece.stretch.region, macros, &piece.directives.defines, view)
        })
        .collect();
    let spelled = |header: &'t SourceFile, span: Span| header.text.get(span.range()).unwrap_or("");
    // By name, the texts that are needed with it.
    let mut bringers: FxHashMap<&str, Vec<&str>> = FxHashMap::default();
    for (header, found) in headers.iter().zip(&found) {
        for declaration in found.iter().flat_map(|found| &found.list) {
            let text = spelled(header, declaration.span);
            bringers.entry(spelled(header, declaration.name)).or_default().push(text);
        }
        for define in header.defines() {
            bringers.entry(&define.name).or_default().push(&define.body);
        }
    }
    let mut needed: FxHashSet<&str> = FxHashSet::default();
    let mut open: Vec<&str> = Vec::new();
    let mut need = |word: &str, open: &mut Vec<&'t str>| {
        if let Some((name, _)) = bringers.get_key_value(word)
            && needed.insert(name)
        {
            open.push(name);
        }
    };
    for name in mentioned.iter().flat_map(|names| names.iter()) {
        need(name, &mut open);
    }
    for text in texts {
        words(text).for_each(|word| need(word, &mut open));
    }
    for (header, found) in headers.iter().zip(&found) {
        match found {
            Some(found) => found.others.iter().for_each(|span| need(spelled(header, *span), &mut open)),
            None => words(&header.text).for_each(|word| need(word, &mut open)),
        }
    }
    while let Some(name) = open.pop() {
        for text in bringers.get(name).into_iter().flatten() {
            // Which name a macro makes of its arguments is not known here.
            if text.contains("##") {
                return vec![Vec::new(); headers.len()];
            }
            words(text).for_each(|word| need(word, &mut open));
        }
    }
    let unneeded = |(header, found): (&&'t SourceFile, &Option<Declarations>)| {
        let list = found.iter().flat_map(|found| &found.list);
        list.filter(|declaration| !needed.contains(spelled(header, declaration.name)))
            .map(|declaration| declaration.span)
            .collect()
    };
    headers.iter().zip(&found).map(unneeded).collect()
}
