//! The sheet that a reader judges findings by: what is said, what it rests on, and the source around each place.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// Lines shown on each side of a place.
const AROUND: u64 = 7;
/// Characters of a line that are shown: tables of numbers stand in lines of thousands.
const WIDE: usize = 200;
/// Places of a finding whose source is shown.
const PLACES: usize = 10;

/// The sheet of these findings, whose paths begin at `folder`.
pub fn sheet(folder: &Path, findings: &[Value]) -> String {
    let mut out = String::from(
        "A line of verdicts is FINGERPRINT right|harmless|wrong CAUSE: right is what happens in some run that the finding \
         describes, harmless what is true and useless, and a wrong one has its cause in a few words.\n",
    );
    for (number, finding) in findings.iter().enumerate() {
        let text = |field: &str| finding[field].as_str().unwrap_or_default();
        let _ = write!(
            out,
            "\n## {}. {} ({})\n{}\n{}:{} in `{}`\n{}\n",
            number + 1,
            text("rule"),
            text("confidence"),
            text("fingerprint"),
            text("path"),
            finding["range"]["start"]["line"],
            text("function"),
            text("message")
        );
        let witness = &finding["witness"];
        for part in ["assumptions", "path", "bindings", "launch", "accesses"] {
            let value = &witness[part];
            if !matches!(value, Value::Null) && value.as_array().is_none_or(|list| !list.is_empty()) {
                let _ = writeln!(out, "{part}: {value}");
            }
        }
        let mut places = vec![(text("path"), &finding["range"], "here")];
        for related in finding["related"].as_array().into_iter().flatten().take(PLACES) {
            let path = related["path"].as_str().unwrap_or_default();
            places.push((path, &related["range"], related["message"].as_str().unwrap_or_default()));
        }
        show(folder, &places, &mut out);
    }
    out
}

/// The source around some places, each line once, with what is said of it at its end.
fn show(folder: &Path, places: &[(&str, &Value, &str)], out: &mut String) {
    let mut files: BTreeMap<&str, BTreeMap<u64, String>> = BTreeMap::new();
    for (path, range, words) in places {
        let Some(line) = range["start"]["line"].as_u64() else { continue };
        let shown = files.entry(path).or_default();
        for near in line.saturating_sub(AROUND).max(1)..=line + AROUND {
            shown.entry(near).or_default();
        }
        let said = shown.entry(line).or_default();
        let _ = write!(said, "   <== {words}");
    }
    for (path, lines) in files {
        let _ = writeln!(out, "--- {path}");
        let Ok(bytes) = cudalint_files::read_file(&folder.join(path)) else { continue };
        let text = String::from_utf8_lossy(&bytes);
        let source: Vec<&str> = text.lines().collect();
        let mut before = 0;
        for (line, words) in lines {
            let Some(code) = usize::try_from(line - 1).ok().and_then(|index| source.get(index)) else { break };
            if line != before + 1 {
                out.push_str("...\n");
            }
            before = line;
            let shown: String = code.chars().take(WIDE).collect();
            let _ = writeln!(out, "{line:5} {shown}{words}");
        }
    }
}
