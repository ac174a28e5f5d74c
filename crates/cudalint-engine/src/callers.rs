//! Which files without GPU code belong to the program of those with it: they call functions that launch kernels, so that
//! what these are given is known there. Found in texts, before anything is parsed.

use cudalint_syntax::{FileKind, called_names, function_texts, may_launch};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::hash::Hasher;
use std::path::{Path, PathBuf};

/// Bytes of such files that are read in any case.
const LEAST_BYTES: u64 = 64 << 10;
/// They and what they include may be so many times smaller than the files with GPU code.
const SHARE: u64 = 16;

/// Functions that launch kernels, themselves or by what they call, and the files that call them.
#[derive(Default)]
pub(crate) struct Callers {
    /// By file without GPU code, what it calls: hashes of names, in order.
    quiet: FxHashMap<PathBuf, Box<[u32]>>,
    /// The same by file without launches that is read already: it is included where there are some.
    included: FxHashMap<PathBuf, Box<[u32]>>,
    /// Functions that launch nothing themselves, with what they call.
    open: Vec<Function>,
    /// Names that lead to a launch, by their hashes: the class that has the function, where one has it, for each function
    /// that other files see.
    launching: FxHashMap<u32, Vec<(String, Option<String>)>>,
    /// Names that lead to a launch in any file's sight.
    reached: FxHashSet<String>,
    /// Of those in `launching`, the ones that files without GPU code define as well, as a version of the program for the
    /// CPU does: who calls which is not known.
    doubles: FxHashSet<(String, Option<String>)>,
    /// Names that files without GPU code call, read or not.
    called: FxHashSet<String>,
    bytes: u64,
    /// The files that were looked at for calls.
    outlines: FxHashMap<PathBuf, Outline>,
}

/// A file that may call what launches, and may do so in a later round too.
struct Outline {
    text: String,
    /// Its functions, and whether no other file sees them.
    functions: Vec<((String, Option<String>), bool)>,
    calls: FxHashSet<String>,
}

impl Outline {
    fn of(text: String) -> Self {
        let (mut functions, mut calls) = (Vec::new(), FxHashSet::default());
        for function in function_texts(&text) {
            functions.push(((function.name.to_owned(), function.class.map(str::to_owned)), function.hidden));
            calls.extend(function.calls.into_iter().map(str::to_owned));
        }
        calls.extend(loaded_names(&text).map(str::to_owned));
        Self { text, functions, calls }
    }
}

/// What files without GPU code call.
#[derive(Default)]
pub(crate) struct Calls {
    /// Functions that launch kernels: where the call is not read, nobody knows what with.
    pub called: FxHashSet<String>,
    /// All names in front of parentheses in files that were not read any further, by their hashes.
    names: FxHashSet<u32>,
}

impl Calls {
    /// Whether a name may stand there in front of a parenthesis.
    pub fn may_have(&self, name: &str) -> bool {
        self.names.contains(&hash(name))
    }
}

struct Function {
    name: String,
    class: Option<String>,
    /// Whether other files see it, and give it a number.
    wanted: bool,
    calls: Vec<String>,
}

impl Callers {
    /// The hashes of what a file without GPU code calls.
    pub fn calls_of(kind: FileKind, text: &str) -> Box<[u32]> {
        if kind != FileKind::CFamily {
            return Box::default();
        }
        let mut calls: Vec<u32> = called_names(text).chain(loaded_names(text)).map(hash).collect();
        calls.sort_unstable();
        calls.dedup();
        calls.into()
    }

    /// Takes note of a file without GPU code.
    pub fn leave(&mut self, real: &Path, calls: Box<[u32]>) {
        if !calls.is_empty() {
            self.quiet.insert(real.to_owned(), calls);
        }
    }

    /// Takes note of a file that belongs to the program. `caller`: for what it calls.
    pub fn take(&mut self, real: &Path, text: &str, caller: bool) {
        self.quiet.remove(real);
        if !caller && !may_launch(text) {
            self.included.insert(real.to_owned(), Self::calls_of(FileKind::CFamily, text));
            return;
        }
        for function in function_texts(text).into_iter().filter(|function| function.name != "main") {
            let launches = function.launches;
            let function = Function {
                name: function.name.to_owned(),
                class: function.class.map(str::to_owned),
                wanted: function.takes_integer && !function.hidden,
                calls: function.calls.into_iter().map(str::to_owned).collect(),
            };
            if launches {
                self.reach(function);
            } else {
                self.open.push(function);
            }
        }
    }

    fn reach(&mut self, function: Function) {
        if function.wanted {
            let entry = (function.name.clone(), function.class);
            let known = self.launching.entry(hash(&function.name)).or_default();
            if !known.contains(&entry) {
                known.push(entry);
            }
        }
        self.reached.insert(function.name);
    }

    /// The files that call what was found since, as far as they may be read beside `bytes` of files with GPU code.
    /// `read` gives the text of one.
    pub fn next(&mut self, bytes: u64, read: impl Fn(&Path) -> Option<String>) -> Vec<PathBuf> {
        loop {
            let (ready, open) = std::mem::take(&mut self.open)
                .into_iter()
                .partition(|function| function.calls.iter().any(|call| self.reached.contains(call)));
            self.open = open;
            let ready: Vec<Function> = ready;
            if ready.is_empty() {
                break;
            }
            for function in ready {
                self.reach(function);
            }
        }
        if self.launching.is_empty() {
            return Vec::new();
        }
        let launching = &self.launching;
        let calling = |calls: &[u32]| calls.iter().any(|call| launching.contains_key(call));
        let all = self.quiet.iter().chain(&self.included);
        let mut candidates: Vec<PathBuf> =
            all.filter(|(_, calls)| calling(calls)).map(|(real, _)| real.clone()).collect();
        candidates.sort();
        for real in &candidates {
            if !self.outlines.contains_key(real)
                && let Some(text) = read(real)
            {
                self.outlines.insert(real.clone(), Outline::of(text));
            }
        }
        for real in candidates.iter().filter(|real| self.quiet.contains_key(*real)) {
            let functions = self.outlines.get(real).into_iter().flat_map(|outline| &outline.functions);
            let seen = functions.filter(|(_, hidden)| !hidden).map(|(one, _)| one);
            let both = seen.filter(|one| launching.get(&hash(&one.0)).is_some_and(|known| known.contains(one)));
            self.doubles.extend(both.cloned());
        }
        let mut found = Vec::new();
        for real in candidates {
            let quiet = self.quiet.get(&real);
            let Some(calls) = quiet.or_else(|| self.included.get(&real)) else { continue };
            let Some(outline) = self.outlines.get(&real) else { continue };
            let names = calls.iter().filter_map(|call| launching.get(call)).flatten();
            // A function of its own is another one, and many classes have a method of one name.
            let called = |(name, class): &&(String, Option<String>)| {
                outline.calls.contains(name)
                    && outline.functions.iter().all(|((own, _), _)| own != name)
                    && class.as_ref().is_none_or(|class| has_word(&outline.text, class))
            };
            let mut names = names.filter(called).peekable();
            if names.peek().is_none() {
                continue;
            }
            // The call may stand in a branch of `#if` that is not the program's; who takes the branch calls it all the same.
            let mut is_caller = false;
            for one in names {
                is_caller |= !self.doubles.contains(one);
                self.called.insert(one.0.clone());
            }
            if !is_caller || quiet.is_none() || !self.have_room(bytes, outline.text.len() as u64) {
                continue;
            }
            self.bytes += outline.text.len() as u64;
            found.push(real);
        }
        for real in &found {
            self.quiet.remove(real);
        }
        found
    }

    /// Whether so many more bytes may be read for callers, beside `bytes` of files with GPU code.
    pub fn have_room(&self, bytes: u64, more: u64) -> bool {
        self.bytes + more <= LEAST_BYTES.max(bytes / SHARE)
    }

    /// Counts what a file costs that a caller includes.
    pub fn spend(&mut self, bytes: u64) {
        self.bytes += bytes;
    }

    /// What came of it.
    pub fn into_calls(self) -> Calls {
        let names = self.quiet.into_values().flatten().collect();
        Calls { called: self.called, names }
    }
}

/// The names by which a text gets functions of libraries that it loads: `GetProcAddress(library, "run")`.
fn loaded_names(text: &str) -> impl Iterator<Item = &str> {
    const LOADERS: [&str; 2] = ["GetProcAddress", "dlsym"];
    let places = LOADERS.iter().flat_map(|loader| text.match_indices(*loader));
    places.filter_map(|(at, loader)| {
        let call = text[at + loader.len()..].split(';').next()?;
        call.split('"').nth(1)
    })
}

fn hash(name: &str) -> u32 {
    let mut hasher = FxHasher::default();
    hasher.write(name.as_bytes());
    (hasher.finish() >> 20) as u32
}

fn has_word(text: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| !text[..at].ends_with(part) && !text[at + word.len()..].starts_with(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CUDA: &str = "__global__ void k(int n) {}\nvoid simulate(int n, int threads) { k<<<n, threads>>>(n); }\n";
    const CALLER: &str = "void simulate(int n, int threads);\nint main(void) { simulate(100, 256); return 0; }\n";
    const ON_THE_CPU: &str = "void simulate(int n, int chunk) { for (int i = 0; i < n; i++) step(i, chunk); }\n";

    /// The files that are read for what they call, and the names that files without GPU code call.
    fn callers_among(files: &[(&str, &str)]) -> (Vec<PathBuf>, Vec<String>) {
        let mut callers = Callers::default();
        callers.take(Path::new("a.cu"), CUDA, false);
        for (name, text) in files {
            callers.leave(Path::new(name), Callers::calls_of(FileKind::CFamily, text));
        }
        let read =
            |path: &Path| files.iter().find(|(name, _)| path == Path::new(name)).map(|(_, text)| (*text).to_owned());
        let found = callers.next(0, read);
        (found, callers.into_calls().called.into_iter().collect())
    }

    #[test]
    fn who_calls_a_function_is_not_known_where_a_version_for_the_cpu_has_its_name() {
        let called = vec!["simulate".to_owned()];
        assert_eq!(callers_among(&[("main.c", CALLER)]), (vec![PathBuf::from("main.c")], called.clone()));
        assert_eq!(callers_among(&[("main.c", CALLER), ("omp.c", ON_THE_CPU)]), (Vec::new(), called.clone()));
        let hidden = format!("static {ON_THE_CPU}");
        let (read, _) = callers_among(&[("main.c", CALLER), ("omp.c", &hidden)]);
        assert_eq!(read, [PathBuf::from("main.c")]);
    }

    #[test]
    fn who_gets_a_function_by_its_name_calls_it() {
        let called = |text: &str| callers_among(&[("main.c", text)]).1;
        let gets = "int main(void) { void *at = dlsym(library, \"simulate\"); run(at); return 0; }\n";
        assert_eq!(called(gets), ["simulate"]);
        assert_eq!(called(&gets.replace("dlsym", "GetProcAddress")), ["simulate"]);
        assert_eq!(called(&gets.replace("dlsym", "find")), [""; 0]);
    }
}
