//! What stands in the place of a build's compilers, and the variables by which the build finds it.

use crate::lab::{CHILD, Launcher, quoted};
use crate::probe::WatchedFunction;
use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Result;

/// What stands for a compiler whose path follows: `CMake`'s launchers.
pub(super) const ANY: &str = "launch";
/// Compilers whose names a build may call, beside nvcc.
const COMPILERS: &[&str] = &["g++", "c++", "clang++", "gcc", "cc", "clang"];
/// Variables by which build files are told where the toolkit is.
const TOOLKIT: &[&str] = &["CUDA_PATH", "CUDA_HOME", "CUDA_ROOT", "CUDA_INSTALL_PATH", "CUDA_DIR", "CUDA_TOOLKIT_PATH"];

/// Variables by which `CMake` is told what to link with, since 3.21.
const LINKERS: &[&str] = &["CMAKE_CUDA_LINKER_LAUNCHER", "CMAKE_CXX_LINKER_LAUNCHER", "CMAKE_C_LINKER_LAUNCHER"];
/// Variables by which the user has chosen compilers. `CMake` links with the host compiler that nvcc has been given.
const CHOICES: &[&str] = &["CC", "CXX", "CUDACXX", "CUDAHOSTCXX", "NVCC_CCBIN"];

/// What the scripts know: written once for a build, read by each compiler that it calls.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CompilePlan {
    /// The scripts' own folder.
    pub own: Utf8PathBuf,
    /// Compilers by name.
    pub tools: BTreeMap<String, Utf8PathBuf>,
    /// What is written down.
    pub log: Utf8PathBuf,
    /// `PATH` without the scripts.
    pub path: String,
    /// `NVCC_APPEND_FLAGS` of the user's.
    pub append: Option<String>,
    /// The GPU's compute capability.
    pub architecture: u32,
    /// Those that nvcc knows.
    pub known: Vec<u32>,
    /// Whether the probe's header is put before sources.
    pub probe: bool,
    /// The folder of the probe's headers.
    pub probe_folder: Utf8PathBuf,
    /// The half of the probe that is linked, where it is.
    pub object: Option<Utf8PathBuf>,
    /// Functions that the linker turns to what is put in.
    pub wrapped: Vec<String>,
    /// Functions that are not CUDA's, whose calls are reported.
    pub functions: Vec<WatchedFunction>,
    /// The toolkit's libraries, where nvcc does not know them.
    pub libraries: Option<Utf8PathBuf>,
    /// Headers that stand for others, where these are not there.
    pub stand_ins: Option<Utf8PathBuf>,
    /// The toolkit's headers, for compilers that do not know them.
    pub include: Option<Utf8PathBuf>,
}

/// A script of the user's build's, ready to be called.
pub(super) struct Tools {
    /// Variables of the build and of runs.
    pub environment: Vec<(String, String)>,
}

/// Writes the scripts into `folder`, and gives the variables.
///
/// # Errors
/// Those of the file system.
pub(super) fn write(folder: &Utf8Path, nvcc: &Utf8Path, launcher: &Launcher, plan: CompilePlan) -> Result<Tools> {
    let own = folder.join("tools");
    drop(std::fs::remove_dir_all(&own));
    std::fs::create_dir_all(&own)?;
    let path = std::env::var("PATH").unwrap_or_default();
    let nvcc_folder = nvcc.parent().unwrap_or(Utf8Path::new("/"));
    let known = std::env::split_paths(&path).any(|folder| folder.as_path() == nvcc_folder.as_std_path());
    let path = if known || path.is_empty() { path } else { format!("{path}:{nvcc_folder}") };
    let mut tools: BTreeMap<String, Utf8PathBuf> = COMPILERS
        .iter()
        .filter_map(|name| {
            let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())?;
            Some(((*name).to_owned(), Utf8PathBuf::from_path_buf(found).ok()?))
        })
        .collect();
    tools.insert("nvcc".to_owned(), nvcc.to_owned());
    let chosen = chosen(&mut tools);
    let append = std::env::var("NVCC_APPEND_FLAGS").ok();
    let plan = CompilePlan { own: own.clone(), tools, path: path.clone(), append: append.clone(), ..plan };
    let plan_file = own.join("plan.json");
    std::fs::write(&plan_file, serde_json::to_string(&plan)?)?;
    let script = |file: &Utf8Path, tool: &str| {
        let program = quoted(launcher.program.as_str());
        let text =
            format!("#!/bin/sh\n{CHILD}=1 exec {program} __compile {} {tool} \"$@\"\n", quoted(plan_file.as_str()));
        executable(file, &text)
    };
    for name in plan.tools.keys() {
        script(&own.join(name), name)?;
    }
    let launch = own.join("cudalint-compiler");
    script(&launch, ANY)?;
    let mut environment = vec![
        ("PATH".to_owned(), format!("{own}:{path}")),
        ("CMAKE_CUDA_COMPILER_LAUNCHER".to_owned(), launch.to_string()),
        ("CMAKE_CXX_COMPILER_LAUNCHER".to_owned(), launch.to_string()),
        ("NVCC_APPEND_FLAGS".to_owned(), appended(&plan, append.as_deref())),
    ];
    environment.extend(LINKERS.iter().map(|name| ((*name).to_owned(), launch.to_string())));
    environment.extend(chosen.into_iter().map(|(variable, name, rest)| {
        let script = own.join(name);
        (variable.to_owned(), if rest.is_empty() { script.into_string() } else { format!("{script} {rest}") })
    }));
    if let Some(toolkit) = toolkit(&own, nvcc, &own.join("nvcc"))? {
        environment.extend(TOOLKIT.iter().map(|name| ((*name).to_owned(), toolkit.to_string())));
        // A Makefile's own value of such a variable would stand above the environment's, and below a command line's.
        if !toolkit.as_str().contains([' ', '$', '\\', '#']) {
            let definitions: Vec<String> = TOOLKIT.iter().map(|name| format!("{name}={toolkit}")).collect();
            environment.push(("MAKEFLAGS".to_owned(), format!(" -- {}", definitions.join(" "))));
        }
    }
    Ok(Tools { environment })
}

/// The compilers that the user's variables choose: each stands among the tools by its file's name then. Gives the variable,
/// that name, and what follows in the variable.
fn chosen(tools: &mut BTreeMap<String, Utf8PathBuf>) -> Vec<(&'static str, String, String)> {
    let mut found = Vec::new();
    for variable in CHOICES {
        let value = std::env::var(variable).unwrap_or_default();
        let (program, rest) = value.trim().split_once(' ').unwrap_or((value.trim(), ""));
        let program = Utf8Path::new(program);
        let Some(name) = program.file_name().filter(|_| program.is_absolute() && program.is_file()) else { continue };
        let of_toolkit = name == "nvcc";
        if !of_toolkit {
            tools.insert(name.to_owned(), program.to_owned());
        }
        found.push((*variable, name.to_owned(), rest.trim().to_owned()));
    }
    found
}

/// What a build that calls nvcc past the scripts is given. It is compiled with these flags and linked with them.
fn appended(plan: &CompilePlan, own: Option<&str>) -> String {
    let mut flags: Vec<String> = own.map(str::to_owned).into_iter().collect();
    flags.extend(["-lineinfo", "-Xcompiler", "-g,-fno-omit-frame-pointer"].map(str::to_owned));
    flags.extend(plan.libraries.iter().map(|folder| format!("-L{folder}")));
    if plan.probe
        && let Ok(header) = crate::probe::header(&plan.probe_folder, &crate::probe::Watch::default())
    {
        flags.extend(["-include".to_owned(), header.into_string()]);
    }
    flags.extend(plan.object.iter().flat_map(|object| ["-Xlinker".to_owned(), object.to_string()]));
    flags.extend(plan.wrapped.iter().flat_map(|name| ["-Xlinker".to_owned(), format!("--wrap={name}")]));
    flags.join(" ")
}

/// A folder that looks as the toolkit does, with our nvcc in it.
fn toolkit(own: &Utf8Path, nvcc: &Utf8Path, script: &Utf8Path) -> Result<Option<Utf8PathBuf>> {
    let real = nvcc.canonicalize_utf8().unwrap_or_else(|_| nvcc.to_owned());
    let Some(root) = real.parent().and_then(Utf8Path::parent) else { return Ok(None) };
    // A toolkit of the system's packages is no folder of its own.
    if ["/", "/usr", "/usr/local"].contains(&root.as_str()) || !root.join("include").is_dir() {
        return Ok(None);
    }
    let shadow = own.join("toolkit");
    std::fs::create_dir_all(shadow.join("bin"))?;
    let beside = |from: &Utf8Path, to: &Utf8Path, except: &str| -> Result<()> {
        for entry in from.read_dir_utf8()?.flatten().filter(|entry| entry.file_name() != except) {
            link(entry.path(), &to.join(entry.file_name()))?;
        }
        Ok(())
    };
    beside(root, &shadow, "bin")?;
    beside(&root.join("bin"), &shadow.join("bin"), "nvcc")?;
    link(script, &shadow.join("bin/nvcc"))?;
    // Packages of Python have `lib` alone, and build files say `lib64`.
    if !root.join("lib64").exists() && root.join("lib").is_dir() {
        link(&root.join("lib"), &shadow.join("lib64"))?;
    }
    Ok(Some(shadow))
}

#[cfg(unix)]
fn link(from: &Utf8Path, to: &Utf8Path) -> Result<()> {
    std::os::unix::fs::symlink(from, to)
}

#[cfg(not(unix))]
fn link(_: &Utf8Path, _: &Utf8Path) -> Result<()> {
    Err(std::io::Error::other("links of files need Unix"))
}

#[cfg(unix)]
fn executable(file: &Utf8Path, text: &str) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::write(file, text)?;
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn executable(_: &Utf8Path, _: &str) -> Result<()> {
    Err(std::io::Error::other("scripts need Unix"))
}
