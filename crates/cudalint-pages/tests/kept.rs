//! What an editor's session keeps from run to run: a run with it says what a run without it says, and does again only what hangs on
//! the edit.
#![allow(clippy::expect_used)]

use cudalint_engine::{Configuration, Engine, Kept, Request};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const HEADER: &str = "#pragma once
#define COUNT 300
struct Range { int first; int count; };
__device__ inline int clamped(int i, int n) { return i < n ? i : n - 1; }
int rounds();
int run();
";

const FIRST: &str = "#include <cuda_runtime.h>
#include \"shared.h\"

__global__ void fill(float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = i;
}

int main() {
    float *out;
    cudaMalloc(&out, COUNT * sizeof(float));
    fill<<<2, 256>>>(out);
    cudaDeviceSynchronize();
    run();
    cudaFree(out);
}
";

const SECOND: &str = "#include <cuda_runtime.h>
#include \"shared.h\"

__global__ void sums(int *in, int *out, Range range) {
    __shared__ int tile[64];
    tile[threadIdx.x] = in[clamped(threadIdx.x, range.count)];
    out[threadIdx.x] = tile[63 - threadIdx.x];
}

int run() {
    int *in, *out;
    cudaMalloc(&in, 64 * sizeof(int));
    cudaMalloc(&out, 64 * sizeof(int));
    for (int i = 0; i < rounds(); ++i) sums<<<1, 64>>>(in, out, Range{0, 64});
    cudaFree(in);
    return cudaFree(out);
}
";

const THIRD: &str = "#include \"shared.h\"
int rounds() { return 3; }
";

const FOURTH: &str = "#include <cuda_runtime.h>
void clear(int *of, int count) { cudaMemset(of, 0, count * sizeof(int)); }
";

const USER: &str = "#include <cuda_runtime.h>

extern int elements;
void settle(int *of, int count);
struct Pool;
void Pool::release() { cudaFree(held); }

__global__ void fill(int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = i;
}

int main() {
    int *out;
    cudaMalloc(&out, elements * sizeof(int));
    fill<<<2, 256>>>(out);
    settle(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
";

/// A project in a folder of its own, some of whose files an editor holds.
struct Session {
    folder: PathBuf,
    engine: Engine,
    kept: Arc<Kept>,
    texts: Vec<(&'static str, String)>,
}

impl Session {
    fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(folder.join(".git")).expect("a folder");
        let texts = [
            ("shared.h", HEADER),
            ("first.cu", FIRST),
            ("second.cu", SECOND),
            ("third.cu", THIRD),
            ("fourth.cu", FOURTH),
        ];
        for (name, text) in texts {
            std::fs::write(folder.join(name), text).expect("a file");
        }
        let texts = texts.map(|(name, text)| (name, text.to_owned())).to_vec();
        Self { folder, engine: Engine::new(cudalint_rules::RULES), kept: Arc::default(), texts }
    }

    fn add(&mut self, name: &'static str, text: &str) {
        let path = self.folder.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
        self.texts.push((name, text.to_owned()));
    }

    fn edit(&mut self, name: &str, old: &str, new: &str) {
        for (_, text) in self.texts.iter_mut().filter(|(it, _)| *it == name) {
            assert!(text.contains(old), "{old} in {name}");
            *text = text.replace(old, new);
        }
    }

    fn findings(&self, kept: Option<&Arc<Kept>>) -> Vec<String> {
        let mut request = Request {
            paths: self.texts.iter().map(|(name, _)| self.folder.join(name)).collect(),
            configuration: Configuration::Isolated,
            kept: kept.cloned(),
            ..Request::default()
        };
        for (name, text) in &self.texts {
            request.overlay.insert(self.folder.join(name), text.as_bytes().into());
        }
        let outcome = self.engine.check(&request, &|_| {}).expect("a run");
        assert!(outcome.faults.is_empty(), "{:?}", outcome.faults);
        let told = outcome.report.findings.iter().map(|it| {
            let text = format!("{:?} {:?} {:?} {:?} {:?}", it.place, it.related, it.claim, it.witness, it.fix);
            format!("{} {} {} {} {text}", it.rule.name, it.confidence.name(), it.message, it.fingerprint)
        });
        told.collect()
    }

    /// What is said, by both; and how many files, walks and executions were made for it.
    fn run(&self) -> (Vec<String>, [usize; 3]) {
        let before = self.kept.counts();
        let found = self.findings(Some(&self.kept));
        let after = self.kept.counts();
        assert_eq!(found, self.findings(None));
        (found, [0, 1, 2].map(|kind: usize| after[kind] - before[kind]))
    }
}

fn has(found: &[String], rule: &str) -> bool {
    found.iter().any(|finding| finding.starts_with(&format!("{rule} ")))
}

#[test]
fn an_edit_does_again_what_hangs_on_it() {
    let mut session = Session::new("kept-again");
    let (found, made) = session.run();
    assert!(has(&found, "missing-bounds-guard"), "{found:#?}");
    assert!(has(&found, "shared-memory-race"), "{found:#?}");
    assert_eq!((made[0], made[1]), (5, 5));
    // Nothing has changed.
    assert_eq!(session.run(), (found.clone(), [0, 0, 0]));
    // Code moves: its file is another one, but what its kernel does is known, and nobody else asks for its names.
    session.edit("first.cu", "__global__", "// what it holds\n__global__");
    let (moved, made) = session.run();
    assert_eq!((moved.len(), made), (found.len(), [1, 1, 0]));
    // A value that others ask for: where it is asked for, all is done again.
    session.edit("third.cu", "return 3", "return 2");
    let (_, made) = session.run();
    assert_eq!((made[0], made[2]), (1, 0));
    assert!((1..5).contains(&made[1]), "{made:?}");
}

/// What is declared in one folder and defined in another, which nothing but the name leads to.
#[test]
fn what_stands_out_of_sight_counts() {
    let mut session = Session::new("kept-elsewhere");
    session.add("one/user.cu", USER);
    session.add("two/owner.cu", "int elements = 300;\nvoid settle(int *of, int count = 3);\n");
    session.add("three/other.cu", "int settings;\n");
    let (first, _) = session.run();
    assert!(has(&first, "missing-bounds-guard"), "{first:#?}");
    for (name, old, new) in [
        ("two/owner.cu", "elements = 300", "elements = 512"),
        ("two/owner.cu", "elements = 512", "elements = 300"),
        ("three/other.cu", "int settings", "int elements"),
        ("three/other.cu", "int elements", "struct Pool { int free; int settings; } pool"),
        ("two/owner.cu", "int count = 3", "int count"),
        ("two/owner.cu", "int elements", "static int elements"),
        ("three/other.cu", "int settings;", "int settings; void release(); "),
    ] {
        session.edit(name, old, new);
        let (found, _) = session.run();
        if new == "elements = 300" {
            assert_eq!(found, first);
        }
    }
}

#[test]
fn what_is_kept_changes_nothing() {
    let mut session = Session::new("kept-changes");
    let (first, _) = session.run();
    for (name, old, new) in [
        ("shared.h", "COUNT 300", "COUNT 512"),
        ("shared.h", "COUNT 512", "COUNT 300"),
        ("shared.h", "n - 1", "n + 9"),
        ("second.cu", "63 - threadIdx.x", "threadIdx.x"),
        ("third.cu", "int rounds() { return 3; }", "int rounds() { return 0; }"),
        ("third.cu", "int rounds() { return 0; }", ""),
        ("second.cu", "int run() {", "int rounds() { return 1; }\n\nint run() {"),
        ("first.cu", "#include \"shared.h\"\n", "#define COUNT 512\n"),
        ("first.cu", "#define COUNT 512\n", "#include \"shared.h\"\n"),
        ("shared.h", "int first; int count;", "int count; int first; int more;"),
        ("first.cu", "COUNT *", "(COUNT + 212) *"),
        ("third.cu", "#include \"shared.h\"\n", "#define __syncwarp()\n#if 0\n"),
    ] {
        session.edit(name, old, new);
        let (found, _) = session.run();
        session.kept.sweep();
        // What no longer goes wrong is no longer told.
        if new == "COUNT 512" {
            assert!(!has(&found, "missing-bounds-guard"), "{found:#?}");
        }
        if new == "COUNT 300" {
            assert_eq!(found, first);
        }
    }
}
