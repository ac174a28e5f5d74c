//! The cache: what is taken from it is, byte for byte, what a run without it says, whatever was changed since.

#![allow(clippy::unwrap_used)]

mod common;

use common::{EMPTY_GRID, Ran, Sandbox, finished};
use cudalint_findings::Format;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The program with a cache.
fn cached(sandbox: &Sandbox, args: &[&str]) -> Command {
    let mut command = sandbox.command(args);
    command.env_remove("CUDALINT_NO_CACHE").env_remove("CUDALINT_CACHE_DIR");
    command
}

fn warm(sandbox: &Sandbox, args: &[&str]) -> Ran {
    finished(&mut cached(sandbox, args))
}

/// The entries of a cache.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let all = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    let mut entries: Vec<PathBuf> = all.filter(|path| path.extension().is_some_and(|end| end == "entry")).collect();
    entries.sort();
    entries
}

/// What tells that entries were written again: each write makes a new file.
#[cfg(unix)]
fn written(sandbox: &Sandbox) -> Vec<u64> {
    use std::os::unix::fs::MetadataExt as _;
    entries(&sandbox.path().join(".cudalint_cache")).iter().map(|path| path.metadata().unwrap().ino()).collect()
}

/// Compares runs with and without a cache in every format; what they say.
fn same(sandbox: &Sandbox, args: &[&str], what: &str) -> String {
    let formats = Format::names().map(|name| vec!["--output-format", name]);
    let others = [vec!["--statistics"], vec!["--verbose"]];
    same_in(&formats.chain(others).collect::<Vec<_>>(), sandbox, args, what)
}

fn same_in(formats: &[Vec<&str>], sandbox: &Sandbox, args: &[&str], what: &str) -> String {
    let mut said = String::new();
    for format in formats {
        let args = [&["--min-confidence", "possible"], &**format, args].concat();
        let fresh = sandbox.run(&args);
        let kept = warm(sandbox, &args);
        assert_eq!(
            (kept.code, &kept.stdout, &kept.stderr),
            (fresh.code, &fresh.stdout, &fresh.stderr),
            "{what}: {args:?}"
        );
        said += &fresh.stdout;
    }
    said
}

const NUMBA: &str = "from numba import cuda\nimport numpy as np\n@cuda.jit\ndef fill(a):\n    a[cuda.grid(1)] = 1\n\
                     fill[1, 64](np.zeros(32))\n";

/// A function that launches as many blocks as it is told.
const LAUNCHES: &str = "#include \"sizes.cuh\"\n#include <cuda_runtime.h>\n\
                        __global__ void set(float *values) { values[blockIdx.x] = 1; }\n\
                        void run(float *values, int blocks) {\n    set<<<blocks, THREADS>>>(values);\n}\n\
                        void more(float *values) {\n    set<<<BLOCKS, 32>>>(values);\n}\n";
const CALLER: &str = "void run(float *values, int blocks);\nint main() { run(nullptr, 2); }\n";

/// A project with something of each kind.
fn project() -> Sandbox {
    Sandbox::new(&[
        ("cudalint.toml", "[parse]\ninclude-paths = [\"first\", \"second\"]\n"),
        ("a.cu", LAUNCHES),
        ("second/sizes.cuh", "#define THREADS 32\n"),
        ("caller.cpp", CALLER),
        ("more/b.cu", EMPTY_GRID),
        ("fill.py", NUMBA),
        ("CMakeLists.txt", "add_executable(app a.cu caller.cpp more/b.cu)\n"),
        ("notes.txt", "nothing\n"),
        ("build/compile_commands.json", "[]"),
        (
            "all.ipynb",
            "{\"cells\": [{\"cell_type\": \"code\", \"metadata\": {}, \"outputs\": [], \"source\": [\"from numba import cuda\\n\", \
             \"@cuda.jit\\n\", \"def fill(a):\\n\", \"    a[0] = 1\\n\", \"fill[0, 64](1)\\n\"]}], \
             \"metadata\": {\"language_info\": {\"name\": \"python\"}}, \"nbformat\": 4, \"nbformat_minor\": 5}",
        ),
    ])
}

#[test]
fn whatever_changes_a_run_says_what_it_says_without_a_cache() {
    let sandbox = project();
    let commands = |flags: &str| {
        let folder = sandbox.path().display();
        format!("[{{\"directory\": \"{folder}\", \"file\": \"a.cu\", \"command\": \"nvcc {flags} -c a.cu\"}}]")
    };
    let root = |name: &str| sandbox.path().join(name);
    same(&sandbox, &["."], "at first");
    // Whatever a format shows comes from one result, which these show whole.
    let few = [&["--output-format", "json"][..], &["--statistics"], &["--verbose"]].map(<[&str]>::to_vec);
    let mut before = same_in(&few, &sandbox, &["."], "at first");
    let mut step = |what: &str, changes: bool, change: &dyn Fn()| {
        change();
        let now = same_in(&few, &sandbox, &["."], what);
        assert_eq!(now != before, changes, "{what}: a change that changes something");
        before = now;
    };
    let write = |name: &str, text: &str| sandbox.write(name, text.as_bytes());
    step("nothing", false, &|| {});
    step("a source", true, &|| write("more/b.cu", &EMPTY_GRID.replace("increment", "decrement")));
    step("a header", true, &|| write("second/sizes.cuh", "#define THREADS 2048\n"));
    step("a file that would be included first", true, &|| write("first/sizes.cuh", "#define THREADS 32\n"));
    step("it is gone again", true, &|| fs::remove_file(root("first/sizes.cuh")).unwrap());
    step("a header that is gone", true, &|| fs::remove_file(root("second/sizes.cuh")).unwrap());
    step("a header again", true, &|| write("second/sizes.cuh", "#define THREADS 64\n"));
    step("a caller without CUDA", true, &|| write("caller.cpp", &CALLER.replace('2', "0")));
    step("a caller that is gone", true, &|| fs::remove_file(root("caller.cpp")).unwrap());
    step("Python", true, &|| write("fill.py", &NUMBA.replace("zeros(32)", "zeros(64)")));
    step("settings", true, &|| write("cudalint.toml", "[lint]\nignore = [\"empty-grid\"]\n"));
    step("settings that exclude", true, &|| write("cudalint.toml", "exclude = [\"more\"]\n"));
    step("settings that are gone", true, &|| fs::remove_file(root("cudalint.toml")).unwrap());
    step("an ignore file", true, &|| write(".gitignore", "more/*\n"));
    step("another ignore file", true, &|| write("more/.gitignore", "!b.cu\n"));
    step("an ignore file that is gone", true, &|| fs::remove_file(root("more/.gitignore")).unwrap());
    step("the other that is gone", true, &|| fs::remove_file(root(".gitignore")).unwrap());
    step("commands of the build", true, &|| write("build/compile_commands.json", &commands("-DBLOCKS=0")));
    step("a file of options", true, &|| {
        write("build/compile_commands.json", &commands("--options-file all.rsp"));
        write("all.rsp", "-DBLOCKS=1");
    });
    step("what a file of options says", true, &|| write("all.rsp", "-DBLOCKS=0"));
    step("commands that count more", true, &|| write("compile_commands.json", &commands("-DBLOCKS=2")));
    step("a new source", true, &|| write("new.cu", EMPTY_GRID));
    step("a source that is gone", true, &|| fs::remove_file(root("new.cu")).unwrap());
    step("a suppression", true, &|| {
        let ignore = "    // cudalint: ignore[empty-grid] it is a test\n    increment<<<";
        write("more/b.cu", &EMPTY_GRID.replace("    increment<<<", ignore));
    });
    step("bytes that are no UTF-8", true, &|| {
        sandbox.write("more/b.cu", &[EMPTY_GRID.as_bytes(), b"// \xff\n"].concat());
    });
    step("a notebook", true, &|| {
        let text = fs::read_to_string(root("all.ipynb")).unwrap();
        write("all.ipynb", &text.replace("fill[0, 64]", "fill[1, 4096]"));
    });
    step("a part that is a project", true, &|| write("more/cudalint.toml", "[lint]\nselect = [\"all\"]\n"));
    step("no mark of a project", false, &|| fs::rename(root(".git"), root(".not-git")).unwrap());
    step("a baseline", true, &|| {
        let ran = sandbox.run(&["--write-baseline", "known.json", "."]);
        assert_eq!(ran.code, 0, "{ran:?}");
        write("cudalint.toml", "baseline = \"known.json\"\n");
    });
    same(&sandbox, &["."], "at last");
}

#[test]
fn texts_beside_the_sources_count() {
    let names = ["a", "b", "c", "d"];
    let calls = names.map(|name| format!("{name}(&p); ")).concat();
    let header = names.map(|name| format!("void {name}(void **p);\n")).concat();
    let dropping = |name: &str| format!("#include \"all.h\"\nvoid {name}(void **p) {{\n    cudaMalloc(p, 4);\n}}\n");
    let main = format!("#include \"all.h\"\nint main() {{ void *p; {calls}return 0; }}\n");
    let listed = "add_library(all main.cu a.cu b.cu c.cu d.cu)\n";
    let sandbox = Sandbox::new(&[("all.h", &header), ("main.cu", &main), ("CMakeLists.txt", listed)]);
    for name in ["a", "b", "c", "d", "part"] {
        sandbox.write(&format!("{name}.cu"), dropping(name).as_bytes());
    }
    sandbox.write("use.h", b"void part(void **p);\n");
    let told = |what: &str| same(&sandbox, &["--select", "unchecked-api-call", "."], what);
    let unlisted = told("a file that no build lists");
    sandbox.write("README.md", b"Build it with `nvcc part.cu`.\n");
    let named = told("a document that names it");
    sandbox.write("README.md", b"Build it with `make`.\n");
    assert_eq!(told("a document that names it no more"), unlisted);
    sandbox.write("CMakeLists.txt", listed.replace("d.cu", "d.cu part.cu").as_bytes());
    let built = told("a build that lists it");
    assert!(unlisted != named && unlisted != built);
    sandbox.write("CMakeLists.txt", listed.as_bytes());
    assert_eq!(told("a build that lists it no more"), unlisted);
}

#[cfg(unix)]
#[test]
fn links_are_what_they_lead_to() {
    use std::os::unix::fs::symlink;
    let sandbox = project();
    let at = |name: &str| sandbox.path().join(name);
    sandbox.write("third/sizes.cuh", b"#define THREADS 2048\n");
    fs::rename(at("second"), at("fourth")).unwrap();
    symlink("fourth", at("second")).unwrap();
    let one = same(&sandbox, &["."], "a folder that is a link");
    fs::remove_file(at("second")).unwrap();
    symlink("third", at("second")).unwrap();
    let other = same(&sandbox, &["."], "a link that leads elsewhere");
    assert_ne!(one, other);
    fs::remove_file(at("second/sizes.cuh")).unwrap();
    symlink("/dev/null", at("second/sizes.cuh")).unwrap();
    assert_ne!(same(&sandbox, &["."], "a link to no regular file"), other);
}

#[test]
fn what_the_command_line_and_the_environment_say_counts() {
    let sandbox = project();
    sandbox.write("other.toml", b"[lint]\nselect = [\"correctness\"]\n");
    let all: [&[&str]; 12] = [
        &["."],
        &["more"],
        &["more/b.cu", "a.cu"],
        &[sandbox.path().to_str().unwrap()],
        &["--select", "all", "."],
        &["--ignore", "empty-grid", "."],
        &["--info", "correctness", "."],
        &["-D", "THREADS=2048", "."],
        &["--arch", "sm_50", "."],
        &["--isolated", "."],
        &["--config", "other.toml", "."],
        &["-p", "build", "--threads", "1", "."],
    ];
    // Each twice, and one after the other: none is taken for another.
    for args in all.iter().chain(&all) {
        same_in(&[vec!["--output-format", "json"], vec!["--verbose"]], &sandbox, args, "arguments");
    }
    let said = |command: &mut Command| finished(command).stdout;
    let arguments = ["--hyperlinks", "auto", "--color", "auto", "."];
    for (name, value) in [("COLUMNS", "40"), ("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1"), ("VTE_VERSION", "7000")] {
        let kept = said(cached(&sandbox, &arguments).env(name, value));
        assert_eq!(kept, said(sandbox.command(&arguments).env(name, value)), "{name}");
    }
    // Paths are shown as seen from where the run starts.
    let from_below = |command: &mut Command| finished(command.current_dir(sandbox.path().join("more"))).stdout;
    let [kept, fresh] = [cached(&sandbox, &[".."]), sandbox.command(&[".."])].map(|mut it| from_below(&mut it));
    assert!(kept == fresh && kept.contains("../fill.py"), "{kept}");
}

#[cfg(unix)]
#[test]
fn a_run_writes_only_what_it_did_not_take() {
    let sandbox = project();
    warm(&sandbox, &["."]);
    let first = written(&sandbox);
    assert_eq!(first.len(), 1);
    // In any form, and whoever asks.
    warm(&sandbox, &["--output-format", "sarif", "--threads", "1"]);
    assert_eq!(written(&sandbox), first);
    sandbox.write("a.cu", format!("{LAUNCHES}// more\n").as_bytes());
    warm(&sandbox, &["."]);
    assert_ne!(written(&sandbox), first);
    let second = written(&sandbox);
    assert_eq!(second.len(), 1);
    // What nobody reads changes nothing.
    sandbox.write("data.bin", b"1");
    warm(&sandbox, &["."]);
    assert_eq!(written(&sandbox), second);
    for args in [&["--no-cache", "--select", "all"][..], &["--fix", "--no-cache"], &["--stdin-filename", "a.cu"]] {
        warm(&sandbox, args);
        assert_eq!(written(&sandbox), second, "{args:?}");
    }
}

#[test]
fn damaged_entries_are_ignored_and_written_again() {
    let sandbox = project();
    let fresh = sandbox.run(&["."]).stdout;
    warm(&sandbox, &["."]);
    let entry = &entries(&sandbox.path().join(".cudalint_cache"))[0];
    let whole = fs::read(entry).unwrap();
    let mut flipped = whole.clone();
    let at = flipped.len() / 2;
    flipped[at] ^= 1;
    // One that claims to be whole, but is not what an entry holds.
    let head = String::from_utf8_lossy(&whole[..whole.iter().position(|byte| *byte == b'\n').unwrap()]).into_owned();
    for damage in
        [Vec::new(), flipped, whole[..at].to_vec(), b"\xff\xff".to_vec(), format!("{head}\n{{}}\n{{}}").into_bytes()]
    {
        fs::write(entry, &damage).unwrap();
        assert_eq!(warm(&sandbox, &["."]).stdout, fresh);
        assert_eq!(fs::read(entry).unwrap(), whole);
    }
    // Something else in its place is left there.
    fs::remove_file(entry).unwrap();
    fs::create_dir_all(entry.join("full")).unwrap();
    assert_eq!(warm(&sandbox, &["."]).stdout, fresh);
    assert!(entry.join("full").is_dir());
}

#[test]
fn runs_at_one_time_do_not_disturb_each_other() {
    let sandbox = project();
    let fresh = sandbox.run(&["."]).stdout;
    for round in 0..3 {
        let start = |_| {
            let mut command = cached(&sandbox, &["."]);
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        };
        let children: Vec<_> = (0..6).map(start).collect();
        for child in children {
            let output = child.wait_with_output().unwrap();
            assert_eq!(String::from_utf8_lossy(&output.stdout), fresh, "round {round}");
        }
        let folder = sandbox.path().join(".cudalint_cache");
        let names: Vec<String> =
            fs::read_dir(&folder).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
        // The entry and the two files that tell others what the folder is.
        assert_eq!(names.len(), 3, "{names:?}");
        if round == 1 {
            fs::remove_dir_all(&folder).unwrap();
        }
    }
}

#[test]
fn the_folder_is_none_of_sources_and_says_so() {
    let sandbox = project();
    warm(&sandbox, &["."]);
    let folder = sandbox.path().join(".cudalint_cache");
    assert_eq!(fs::read_to_string(folder.join(".gitignore")).unwrap().lines().last(), Some("*"));
    let tag = fs::read_to_string(folder.join("CACHEDIR.TAG")).unwrap();
    assert!(tag.starts_with("Signature: 8a477f597d28d172789f06886806bc55\n"), "{tag}");
    // Also where somebody asks for hidden files.
    sandbox.write(".ignore", b"!.*\n");
    sandbox.write(".cudalint_cache/c.cu", EMPTY_GRID.as_bytes());
    assert!(!sandbox.run(&["--show-files", "."]).stdout.contains("cudalint_cache"));
}

#[test]
fn the_folder_may_be_elsewhere() {
    let sandbox = project();
    let elsewhere = tempfile::tempdir().unwrap();
    let [named, of_environment] = ["named", "environment"].map(|name| elsewhere.path().join(name));
    let own = sandbox.path().join(".cudalint_cache");
    warm(&sandbox, &["--cache-dir", named.to_str().unwrap()]);
    assert_eq!((entries(&named).len(), own.exists()), (1, false));
    finished(cached(&sandbox, &[]).env("CUDALINT_CACHE_DIR", &of_environment));
    assert_eq!((entries(&of_environment).len(), own.exists()), (1, false));
    finished(cached(&sandbox, &[]).env("CUDALINT_NO_CACHE", "1"));
    assert!(!own.exists());
    sandbox.write("cudalint.toml", b"cache-dir = \"build/lint\"\n");
    warm(&sandbox, &[]);
    assert_eq!((entries(&sandbox.path().join("build/lint")).len(), own.exists()), (1, false));
    sandbox.write("cudalint.toml", b"cache-dir = \"../lint\"\n");
    let ran = warm(&sandbox, &[]);
    assert!(ran.code == 2 && ran.stderr.contains("`cache-dir`: no folder below the project's root"), "{ran:?}");
    // A folder of something else is not written into.
    fs::write(elsewhere.path().join("thesis.tex"), "").unwrap();
    let ran = warm(&sandbox, &["--isolated", "--cache-dir", elsewhere.path().to_str().unwrap()]);
    assert!(ran.code == 2 && ran.stderr.contains("holds something else"), "{ran:?}");
    // Nor one that cannot be made: that is no error.
    fs::write(elsewhere.path().join("file"), "").unwrap();
    let ran = warm(&sandbox, &["--isolated", "--cache-dir", elsewhere.path().join("file/cache").to_str().unwrap()]);
    assert_eq!((ran.code, &ran.stdout), (1, &sandbox.run(&["--isolated"]).stdout), "{ran:?}");
}

/// Root may write everywhere; a folder that is none can be made by nobody.
#[test]
fn a_project_that_cannot_be_written_to_is_linted() {
    let sandbox = project();
    sandbox.write(".cudalint_cache", b"a file");
    assert_eq!(warm(&sandbox, &["."]).stdout, sandbox.run(&["."]).stdout);
    let sandbox = project();
    let fresh = sandbox.run(&["."]).stdout;
    let mut permissions = fs::metadata(sandbox.path()).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(sandbox.path(), permissions.clone()).unwrap();
    let ran = warm(&sandbox, &["."]);
    #[allow(clippy::permissions_set_readonly_false)]
    permissions.set_readonly(false);
    fs::set_permissions(sandbox.path(), permissions).unwrap();
    assert_eq!((ran.code, ran.stdout), (1, fresh));
}

#[test]
fn clean_removes_what_was_kept_and_nothing_else() {
    let sandbox = project();
    sandbox.write("more/cudalint.toml", b"cache-dir = \"kept\"\n");
    warm(&sandbox, &["."]);
    let at = |name: &str| sandbox.path().join(name);
    assert!(at(".cudalint_cache").is_dir() && at("more/kept").is_dir());
    let ran = sandbox.run(&["clean"]);
    assert_eq!((ran.code, ran.stderr.matches("note: removed ").count()), (0, 2), "{ran:?}");
    assert!(!at(".cudalint_cache").exists() && !at("more/kept").exists() && at("more/b.cu").exists());
    assert!(sandbox.run(&["clean"]).stderr.contains("note: there is no cache"));
    // From below.
    warm(&sandbox, &["a.cu"]);
    let ran = finished(sandbox.command(&["clean"]).current_dir(at("second")));
    assert!(ran.code == 0 && !at(".cudalint_cache").exists(), "{ran:?}");
    // What others have put there stays, and so does a folder that is none of ours.
    warm(&sandbox, &["a.cu"]);
    sandbox.write(".cudalint_cache/thesis.tex", b"");
    let ran = sandbox.run(&["clean"]);
    assert!(ran.code == 2 && at(".cudalint_cache/thesis.tex").exists(), "{ran:?}");
    assert!(sandbox.run(&["clean"]).code == 0 && at(".cudalint_cache/thesis.tex").exists());
}
