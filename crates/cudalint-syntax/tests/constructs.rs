//! The construct catalogue of `test-corpus/parse`: each case parses without damage after the mask, and the nodes that
//! it names stand in its tree.
#![allow(clippy::unwrap_used, clippy::panic)]

use cudalint_syntax::{Language, MacroTable, ParserPool, Region, Span, parse_region, scan_directives};
use std::fmt::Write as _;
use std::path::Path;

struct Case {
    name: String,
    expected: Vec<(String, usize)>,
    text: String,
}

fn cases(text: &str) -> Vec<Case> {
    let mut found: Vec<Case> = Vec::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("// case: ") {
            found.push(Case { name: name.to_owned(), expected: Vec::new(), text: String::new() });
        } else if let Some(case) = found.last_mut() {
            if let Some(list) = line.strip_prefix("// expect: ") {
                for entry in list.split(',') {
                    let (kind, count) = entry.trim().rsplit_once(' ').unwrap();
                    case.expected.push((kind.to_owned(), count.parse().unwrap()));
                }
            } else {
                case.text.push_str(line);
                case.text.push('\n');
            }
        }
    }
    found
}

fn count(tree: &cudalint_syntax::Tree, kind: &str) -> usize {
    let mut cursor = tree.walk();
    let mut found = 0;
    loop {
        found += usize::from(cursor.node().is_named() && cursor.node().kind() == kind);
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return found;
            }
        }
    }
}

fn problems(case: &Case, pool: &mut ParserPool) -> String {
    let span = Span::new(0, case.text.len());
    let defines = scan_directives(&case.text, span).defines;
    let macros = MacroTable::build(&defines, &[]);
    let region = Region { language: Language::Cuda, span };
    let parsed = parse_region(&case.text, &region, &macros, &defines, pool);
    let mut said = String::new();
    for damage in &parsed.damage {
        let rest = case.text.get(damage.start as usize..).unwrap_or("");
        let _ = writeln!(said, "  damage of {} bytes at: {}", damage.len(), rest.lines().next().unwrap_or(""));
    }
    let tree = parsed.tree.as_ref().unwrap();
    for (kind, wanted) in &case.expected {
        let have = count(tree, kind);
        if have != *wanted {
            let _ = writeln!(said, "  {have} {kind} instead of {wanted}");
        }
    }
    if !said.is_empty() {
        let masked = parsed.masked.map_or_else(|| case.text.clone(), |m| String::from_utf8_lossy(&m).into_owned());
        let _ = writeln!(said, "{masked}");
    }
    said
}

#[test]
fn every_construct_of_the_catalogue_is_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test-corpus/parse");
    let mut paths: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "cu"));
    paths.sort();
    let mut pool = ParserPool::new();
    let (mut total, mut failed) = (0, String::new());
    for path in &paths {
        for case in cases(&std::fs::read_to_string(path).unwrap()) {
            total += 1;
            let said = problems(&case, &mut pool);
            if !said.is_empty() {
                let _ = writeln!(failed, "{}: {}\n{said}", path.file_name().unwrap().to_string_lossy(), case.name);
            }
        }
    }
    assert!(total >= 100, "only {total} cases in {}", folder.display());
    assert!(failed.is_empty(), "{failed}");
}
