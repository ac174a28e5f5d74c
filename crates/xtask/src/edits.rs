//! Edits files of a project at random and holds what a session says of them, which keeps what it has found out, to what a run says that
//! knows nothing of earlier ones.

use crate::random::Random;
use cudalint_engine::{Configuration, Engine, FileKind, Kept, Outcome, Request};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Files that are open at a time.
const OPEN: usize = 4;

/// Edits after which other files are opened.
const TOGETHER: usize = 25;

/// What people type, whole and in parts.
const TYPED: [&str; 20] = [
    "x",
    "\n",
    "// a line\n",
    "{",
    "}",
    "(",
    ";",
    "#if 0\n",
    "#endif\n",
    "#define N 7\n",
    "/*",
    "\"",
    "__syncthreads();\n",
    "    kernel<<<0, 32>>>(p);\n",
    "__shared__ float tile[32];\n",
    "int helper(int n) { return n + 1; }\n",
    "struct Pair { int a; float b; };\n",
    "template <typename T> __device__ T twice(T v) { return v + v; }\n",
    "#include <cstdio>\n",
    "static float *buffer;\n",
];

/// A file that is open.
struct Document {
    path: PathBuf,
    text: String,
    before: Vec<String>,
}

/// Edits files below a folder, and compares after each `every` edits.
///
/// # Errors
/// Where the two differ, or the folder has no sources.
pub fn run(folder: &Path, edits: usize, every: usize, seed: u64) -> Result<(), String> {
    let folder = folder.canonicalize().map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut files = Vec::new();
    collect(&folder, &mut files);
    files.sort();
    if files.is_empty() {
        return Err(format!("{}: no sources", folder.display()));
    }
    let engine = Engine::new(cudalint_rules::RULES);
    let kept = Arc::new(Kept::default());
    let mut random = Random::new(seed);
    let mut open: Vec<Document> = Vec::new();
    let (mut with, mut without) = (Duration::ZERO, Duration::ZERO);
    let (mut compared, mut findings) = (0_u32, 0);
    for edit in 0..edits {
        if edit % TOGETHER == 0 {
            open.clear();
            while open.len() < OPEN.min(files.len()) {
                let path = &files[random.index(files.len())];
                if open.iter().all(|document| document.path != *path) {
                    let text = std::fs::read_to_string(path).unwrap_or_default();
                    open.push(Document { path: path.clone(), text, before: Vec::new() });
                }
            }
        }
        let which = random.index(open.len());
        change(&mut open[which], &mut random);
        if (edit + 1) % every != 0 {
            continue;
        }
        let start = Instant::now();
        let long = lint(&engine, &open, Some(&kept))?;
        with += start.elapsed();
        kept.sweep();
        let start = Instant::now();
        let fresh = lint(&engine, &open, None)?;
        without += start.elapsed();
        compared += 1;
        findings += fresh.report.findings.len();
        let [a, b] = [&long, &fresh].map(|outcome| format!("{:#?}", outcome.report.findings));
        if a != b {
            let different = a.lines().zip(b.lines()).find(|(a, b)| a != b);
            let place = std::env::temp_dir().join("cudalint-edits");
            for document in &open {
                let name = document.path.strip_prefix(&folder).unwrap_or(&document.path);
                let to = place.join(name);
                to.parent().map(std::fs::create_dir_all);
                std::fs::write(&to, &document.text).map_err(|error| error.to_string())?;
            }
            std::fs::write(place.join("kept.txt"), &a).map_err(|error| error.to_string())?;
            std::fs::write(place.join("fresh.txt"), &b).map_err(|error| error.to_string())?;
            let place = place.display();
            return Err(format!("edit {}, seed {seed}: {different:?}; the texts are in {place}", edit + 1));
        }
    }
    let each = |time: Duration| time.as_secs_f64() * 1e3 / f64::from(compared.max(1));
    println!("{edits} edits, {compared} comparisons, {findings} findings; all equal");
    println!("a run with what is kept   {:.0} ms", each(with));
    println!("a run that knows nothing  {:.0} ms", each(without));
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if matches!(FileKind::of(&path), Some(FileKind::Cuda | FileKind::CFamily | FileKind::Python))
            && std::fs::read_to_string(&path).is_ok_and(|text| text.len() < 200_000)
        {
            files.push(path);
        }
    }
}

fn change(document: &mut Document, random: &mut Random) {
    let text = &mut document.text;
    if !document.before.is_empty() && random.chance(25) {
        *text = document.before.pop().unwrap_or_default();
        return;
    }
    document.before.push(text.clone());
    if document.before.len() > 20 {
        document.before.remove(0);
    }
    let mut at = random.index(text.len() + 1);
    // Most edits are at the beginning of a line.
    if random.chance(70) {
        at = text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
    }
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let rest = text.get(at..).unwrap_or("");
    let line = rest.find('\n').map_or(rest.len(), |end| end + 1);
    match random.below(10) {
        // A line goes, or is there twice.
        0 | 1 => text.replace_range(at..at + line, ""),
        2 | 3 => {
            let twice = text.get(at..at + line).unwrap_or("").to_owned();
            text.insert_str(at, &twice);
        }
        // A number is another one.
        4 => {
            if let Some(digit) = rest.find(|c: char| c.is_ascii_digit()) {
                text.replace_range(at + digit..=at + digit, random.pick(&["0", "1", "5", "9"]));
            }
        }
        _ => text.insert_str(at, random.pick(&TYPED)),
    }
}

fn lint(engine: &Engine, open: &[Document], kept: Option<&Arc<Kept>>) -> Result<Outcome, String> {
    let mut request = Request {
        paths: open.iter().map(|document| document.path.clone()).collect(),
        configuration: Configuration::Isolated,
        kept: kept.cloned(),
        ..Request::default()
    };
    for document in open {
        request.overlay.insert(document.path.clone(), document.text.as_bytes().into());
    }
    let pool = cudalint_engine::threads(None).map_err(|error| error.0)?;
    pool.install(|| engine.check(&request, &|_| {})).map_err(|error| error.0)
}
