//! Random edits: what a long session says is what a fresh one says of the same text, and the server does not grow.

use crate::common::Sandbox;
use crate::editor::{Editor, pulling};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Numbers that are the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}

/// What people type, whole and in parts.
const TYPED: [&str; 16] = [
    "x",
    "\n",
    "{",
    "}",
    "(",
    ";",
    "#if 0\n",
    "#endif\n",
    "/*",
    "\"",
    "é😀",
    "\r\n",
    "__syncthreads();\n",
    "    kernel<<<0, 32>>>(p);\n",
    "__shared__ float tile[32];\n",
    "// cudalint: ignore[empty-grid] since\n",
];

/// Edits between two checks.
const BETWEEN: usize = 100;

#[test]
fn random_edits_leave_what_a_fresh_session_says() {
    edit_and_compare(300);
}

/// `cargo test --test server -- --ignored`.
#[test]
#[ignore = "takes minutes"]
fn twenty_thousand_random_edits() {
    edit_and_compare(20_000);
}

fn edit_and_compare(edits: usize) {
    let sources = sources();
    let sandbox = Sandbox::new(&[]);
    let folder = std::fs::canonicalize(sandbox.path()).unwrap();
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut editor = started(&folder);
    let mut texts: Vec<(&str, String)> =
        ["a.cu", "b.cuh", "c.py"].iter().zip(&sources).map(|(name, text)| (*name, text.clone())).collect();
    for (name, text) in &texts {
        editor.open(name, text);
    }
    let mut undone: Vec<(usize, String)> = Vec::new();
    let mut version = 1;
    let mut first = None;
    for edit in 1..=edits {
        let which = random.below(texts.len());
        version += 1;
        let (name, text) = &mut texts[which];
        if let Some((_, before)) = undone.pop_if(|(of, _)| *of == which && random.below(4) == 0) {
            *text = before;
            editor.replace(name, version, text);
        } else {
            undone.push((which, text.clone()));
            if undone.len() > 20 {
                undone.remove(0);
            }
            let at = boundary(text, random.below(text.len() + 1));
            let (end, written) = match random.below(10) {
                0 => (boundary(text, at + random.below(200)), String::new()),
                // Now and then half of another file, and at once a text that has become long loses its end.
                1 if random.below(8) == 0 => {
                    let other = &sources[random.below(sources.len())];
                    (
                        if text.len() > 20_000 { text.len() } else { at },
                        other[..boundary(other, other.len() / 2)].to_owned(),
                    )
                }
                2 | 3 => (boundary(text, at + random.below(8)), String::new()),
                _ => (at, TYPED[random.below(TYPED.len())].to_owned()),
            };
            let (from, to) = (position(text, at), position(text, end.max(at)));
            editor.edit(name, version, [from.0, from.1, to.0, to.1], &written);
            text.replace_range(at..end.max(at), &written);
        }
        if edit % 10 == 0 {
            editor.pull(texts[random.below(texts.len())].0, None);
        }
        if edit % BETWEEN == 0 {
            compare(&mut editor, &folder, &texts, edit);
            let now = memory_of(editor.id());
            let start = *first.get_or_insert(now);
            // Below that it is the allocator's business.
            assert!(now <= 2 * start.max(32 << 20), "{now} bytes after {edit} edits, {start} at first");
        }
    }
    editor.end();
}

/// A session with everything that is off by default.
fn started(folder: &Path) -> Editor {
    let folders = json!([{ "uri": crate::uri_of(folder), "name": "folder" }]);
    let options = json!({ "inlayHints": { "indexRange": true } });
    Editor::start_with(
        folder,
        json!({ "capabilities": capabilities(), "workspaceFolders": folders, "initializationOptions": options }),
    )
}

/// An editor that is never told to ask again: it does so anyway.
fn capabilities() -> Value {
    let mut all = pulling();
    all["workspace"]["diagnostics"] = json!({});
    all
}

/// A long session and a fresh one say the same of the same texts.
fn compare(editor: &mut Editor, folder: &Path, texts: &[(&str, String)], edit: usize) {
    let mut fresh = started(folder);
    for (name, text) in texts {
        fresh.open(name, text);
    }
    for (name, text) in texts {
        let (long, new) = (editor.pull(name, None)["items"].clone(), fresh.pull(name, None)["items"].clone());
        assert_eq!(long, new, "{name} after {edit} edits:\n{text}");
        let broken = |item: &&Value| item["message"].as_str().is_some_and(|said| said.contains("internal fault"));
        assert_eq!(long.as_array().into_iter().flatten().find(broken), None, "{name} after {edit} edits:\n{text}");
    }
    // What editors ask for all the time is asked here, too, and is no other.
    for (name, text) in texts {
        let document = json!({ "uri": editor.uri(name) });
        let lenses = json!({ "textDocument": document });
        let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 1 << 20, "character": 0 } });
        let hints = json!({ "textDocument": document, "range": range });
        for (method, params) in [("textDocument/codeLens", lenses), ("textDocument/inlayHint", hints)] {
            let (long, new) = (editor.request(method, params.clone()), fresh.request(method, params));
            assert_eq!(long, new, "{method} of {name} after {edit} edits:\n{text}");
        }
    }
    fresh.end();
}

/// A program in CUDA C++, a second one that serves as a header, and one in Python: of those that the tests have.
fn sources() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().join("test-corpus/programs");
    let mut files: Vec<PathBuf> = files_below(&root);
    files.sort();
    let longest = |end: &str| {
        let mut fitting: Vec<&PathBuf> =
            files.iter().filter(|file| file.extension().is_some_and(|it| it == end)).collect();
        fitting.sort_by_key(|file| std::cmp::Reverse(std::fs::metadata(file).unwrap().len()));
        fitting.into_iter().take(2).map(|file| std::fs::read_to_string(file).unwrap()).collect::<Vec<_>>()
    };
    let mut all = longest("cu");
    all.truncate(2);
    all.extend(longest("py").into_iter().take(1));
    assert_eq!(all.len(), 3, "{}", root.display());
    all
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_below(&path));
        } else {
            found.push(path);
        }
    }
    found
}

/// A place that an editor can name, at or before a byte: there is none inside a line's end.
fn boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) || (text[..at].ends_with('\r') && text[at..].starts_with('\n')) {
        at -= 1;
    }
    at
}

/// Line and UTF-16 unit of a byte, as the protocol counts: lines end at `\n` or `\r\n`.
fn position(text: &str, at: usize) -> (u32, u32) {
    let before = &text[..at];
    let line = before.matches('\n').count();
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    (line as u32, before[start..].encode_utf16().count() as u32)
}

/// Bytes of memory that a process holds; 0 where the system does not tell.
fn memory_of(process: u32) -> u64 {
    let pages = std::fs::read_to_string(format!("/proc/{process}/statm")).unwrap_or_default();
    pages.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).map_or(0, |pages| pages * 4096)
}
