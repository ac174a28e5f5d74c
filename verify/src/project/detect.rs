//! How a folder's project is built and run, as its build files suggest.

use crate::scenario::Project;
use camino::{Utf8Path, Utf8PathBuf};
use cudalint_files::read_text;

/// Folders between a file and that of its build.
const MAX_UP: usize = 4;
/// Build files, as `make` looks for them.
const MAKEFILES: &[&str] = &["GNUmakefile", "makefile", "Makefile"];
/// Targets that run what a Makefile builds.
const TARGETS: &[&str] = &["run", "runtest", "run_all", "test", "check"];
/// Scripts that do.
const SCRIPTS: &[&str] = &["run", "run.sh", "test.sh"];

/// The project of a file whose path starts from `root`: that of the nearest build file; none where there is none.
pub fn suggested(root: &Utf8Path, path: &str) -> Option<Project> {
    let file = root.join(path);
    let within = |folder: &&Utf8Path| folder.starts_with(root);
    let folders: Vec<&Utf8Path> = file.ancestors().skip(1).take(MAX_UP).take_while(within).collect();
    let of = |folder: &Utf8Path, build: String, run: Vec<String>| Project {
        folder: folder.to_owned(),
        base: base_of(folder, root, &file),
        root: root.to_owned(),
        clean: None,
        build: Some(build),
        run,
        given: false,
        replaced: None,
    };
    for folder in &folders {
        if let Some(makefile) = MAKEFILES.iter().map(|name| folder.join(name)).find(|it| it.is_file()) {
            let text = read_text(makefile.as_std_path()).unwrap_or_default();
            return Some(of(folder, "make".to_owned(), run_of(folder, &text)));
        }
        if is_cmake_project(folder) {
            let build = "cmake -S . -B {build} -DCMAKE_BUILD_TYPE=RelWithDebInfo && cmake --build {build} --parallel";
            return Some(of(folder, build.to_owned(), Vec::new()));
        }
        if folder.join("meson.build").is_file() {
            let build = "meson setup {build} && meson compile -C {build}";
            return Some(of(folder, build.to_owned(), Vec::new()));
        }
    }
    None
}

/// What is copied with a project's folder for a file of it: the repository around it; without one, what findings' paths start
/// from, or as many folders above as its Makefile and the file name (`include ../../common/make.config`).
pub fn base_of(folder: &Utf8Path, root: &Utf8Path, file: &Utf8Path) -> Utf8PathBuf {
    if let Some(repository) = folder.ancestors().find(|it| it.join(".git").exists()) {
        return repository.to_owned();
    }
    let makefiles = MAKEFILES.iter().map(|name| folder.join(name));
    let named = makefiles.chain([file.to_owned()]).filter_map(|file| {
        let text = read_text(file.as_std_path()).ok()?;
        file.parent()?.ancestors().nth(folders_up(&text).min(MAX_UP)).map(Utf8Path::to_owned)
    });
    let highest = named.chain([folder.to_owned(), root.to_owned()]).filter(|it| folder.starts_with(it));
    // The root of the file system is no project.
    let highest = highest.filter(|it| it.parent().is_some()).min_by_key(|it| it.components().count());
    highest.unwrap_or_else(|| folder.to_owned())
}

/// How many folders up a text names others: two in `../../common`.
fn folders_up(text: &str) -> usize {
    let (mut up, mut rest) = (0, text);
    while let Some(at) = rest.find("../") {
        let run = rest.get(at..).unwrap_or("");
        let count = run.as_bytes().chunks(3).take_while(|part| *part == b"../").count();
        up = up.max(count);
        rest = run.get(3 * count..).unwrap_or("");
    }
    up
}

/// Whether a folder's `CMakeLists.txt` is that of a whole project.
fn is_cmake_project(folder: &Utf8Path) -> bool {
    let text = read_text(folder.join("CMakeLists.txt").as_std_path()).unwrap_or_default();
    text.lines().any(|line| line.trim_start().to_ascii_lowercase().starts_with("project"))
}

/// What runs what a Makefile builds.
fn run_of(folder: &Utf8Path, makefile: &str) -> Vec<String> {
    let has_target = |name: &&&str| {
        makefile.lines().any(|line| {
            line.strip_prefix(**name).is_some_and(|rest| {
                let rest = rest.trim_start();
                rest.starts_with(':') && !rest.starts_with(":=") && !rest.starts_with("::=")
            })
        })
    };
    if let Some(target) = TARGETS.iter().find(has_target) {
        return vec![format!("make {target}")];
    }
    let script = SCRIPTS.iter().find(|name| folder.join(name).is_file());
    script.map(|name| format!("sh ./{name}")).into_iter().collect()
}
