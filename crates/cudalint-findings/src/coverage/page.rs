//! `coverage` as one HTML page that needs nothing beside it: kernels, what is shown of them, and the source line by line.

use super::{At, Document, Kernel, Seen};
use crate::format::html::{code_words, escaped};
use crate::sources::Sources;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The page. Files whose text is not in `sources` are left out.
pub fn render(document: &Document, sources: &Sources) -> String {
    let mut out = String::from(HEAD);
    out.push_str("<header><h1>cudalint coverage</h1></header>\n<main>\n<table>\n<tr><th>kernel</th><th>place</th><th>launches</th><th>executed</th><th>accesses known</th></tr>\n");
    for kernel in &document.kernels {
        let _ = writeln!(
            out,
            "<tr><td><code>{}</code></td><td>{}</td><td>{}</td><td>{}</td><td>{} of {}</td></tr>",
            escaped(&kernel.name),
            link(&kernel.at),
            kernel.launches.len(),
            kernel.executed.words(),
            kernel.accesses.known,
            kernel.accesses.all,
        );
    }
    out.push_str("</table>\n");
    for kernel in &document.kernels {
        details(&mut out, kernel);
    }
    let mut files: BTreeMap<&str, BTreeMap<u32, Seen>> = BTreeMap::new();
    for line in document.kernels.iter().flat_map(|kernel| &kernel.lines) {
        let seen = files.entry(&line.at.path).or_default().entry(whole_line(sources, &line.at)).or_insert(line.access);
        *seen = (*seen).max(line.access);
    }
    for (path, lines) in files {
        source(&mut out, path, &lines, sources);
    }
    out.push_str("</main>\n</body>\n</html>\n");
    out
}

/// The line of the whole text, from 1: in a notebook lines count from their cells.
fn whole_line(sources: &Sources, at: &At) -> u32 {
    sources.get(&at.path).map_or(at.line, |source| source.whole_line(at.cell, at.line) as u32 + 1)
}

fn link(at: &At) -> String {
    format!("{}:{}", escaped(&at.path), at.line)
}

fn details(out: &mut String, kernel: &Kernel) {
    let mut rows: Vec<(&str, String)> = Vec::new();
    rows.extend(kernel.absent.iter().map(|it| ("shown", code_words(&it.message))));
    rows.extend(kernel.open.iter().map(|it| {
        (
            "open",
            format!("races in <code>{}</code>, {}: {}", escaped(&it.object), link(&it.at), code_words(&it.message)),
        )
    }));
    for launch in &kernel.launches {
        let since =
            if launch.cause.is_empty() { String::new() } else { format!(", since {}", code_words(&launch.cause)) };
        rows.push(("launch", format!("{}: executed: {}{since}", link(&launch.at), launch.executed.words())));
    }
    rows.extend(kernel.causes.iter().map(|it| ("unknown", format!("{}: {}", link(&it.at), code_words(&it.message)))));
    if rows.is_empty() {
        return;
    }
    let _ = write!(out, "<section>\n<h2><code>{}</code></h2>\n<dl>", escaped(&kernel.name));
    for (name, value) in rows {
        let _ = write!(out, "<dt class=\"{name}\">{name}</dt><dd>{value}</dd>");
    }
    out.push_str("</dl>\n</section>\n");
}

fn source(out: &mut String, path: &str, lines: &BTreeMap<u32, Seen>, sources: &Sources) {
    let Some(source) = sources.get(path) else { return };
    let (index, text) = (source.lines(), source.text());
    let _ = write!(out, "<section>\n<h2>{}</h2>\n<pre>", escaped(path));
    for number in 0..index.len() {
        let class = match lines.get(&(number as u32 + 1)) {
            None => "plain",
            Some(Seen::Known) => "known",
            Some(Seen::Unknown) => "unknown",
            Some(Seen::NotExecuted) => "not-executed",
        };
        let content = text.get(index.range(text, number)).unwrap_or("");
        let _ = writeln!(out, "<span class=\"{class}\"><i>{:>5}</i> {}</span>", number + 1, escaped(content));
    }
    out.push_str("</pre>\n</section>\n");
}

const HEAD: &str = r#"<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>cudalint: what was checked</title>
<style>
:root { color-scheme: light dark; --line: #8884; --quiet: #777; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 72rem; padding: 1rem; }
h1 { margin: 0; } h2 { font-size: 1.1rem; margin: 0; }
table { border-collapse: collapse; margin: 1rem 0; } td, th { border: 1px solid var(--line); padding: .2rem .6rem; text-align: left; }
section { border: 1px solid var(--line); border-radius: 6px; margin: 1rem 0; padding: .8rem 1rem; }
pre { background: #8881; border-radius: 4px; margin: .4rem 0; overflow-x: auto; padding: .5rem; }
pre, code { font: 13px/1.45 ui-monospace, monospace; }
pre span { display: block; } pre i { color: var(--quiet); font-style: normal; user-select: none; }
pre .known { background: #4caf5033; } pre .unknown { background: #ff980044; } pre .not-executed { background: #9e9e9e44; }
dl { display: grid; gap: .15rem 1rem; grid-template-columns: max-content minmax(0, 1fr); margin: .2rem 0; }
dt { color: var(--quiet); } dd { margin: 0; overflow-wrap: anywhere; }
</style>
</head>
<body>
"#;
