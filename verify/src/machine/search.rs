//! Where tools may lie: the folders of `PATH`, toolkits where their installers put them, and packages of Python.

use camino::{Utf8Path, Utf8PathBuf};

/// What the search starts from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// Folders in which programs are looked for, in order.
    pub path: Vec<Utf8PathBuf>,
    /// Variables that say where things are, of [`Surroundings::NAMES`].
    pub variables: Vec<(String, String)>,
    /// The folder below which installed toolkits and the driver's files lie.
    pub root: Utf8PathBuf,
    /// A folder whose neighbours may be packages of Python: that of the executable, which `pip` may have installed.
    pub executable_folder: Option<Utf8PathBuf>,
}

impl Surroundings {
    /// Variables that the search reads.
    pub const NAMES: [&'static str; 7] =
        ["CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "VIRTUAL_ENV", "CONDA_PREFIX", "NVCC_CCBIN", "LD_LIBRARY_PATH"];

    /// Those of this process.
    pub fn of_this_process() -> Self {
        let utf8 = |path: std::path::PathBuf| Utf8PathBuf::from_path_buf(path).ok();
        let path = std::env::var_os("PATH").unwrap_or_default();
        Self {
            path: std::env::split_paths(&path).filter_map(utf8).filter(|folder| folder.is_absolute()).collect(),
            variables: Self::NAMES
                .iter()
                .filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?)))
                .filter(|(_, value)| !value.is_empty())
                .collect(),
            root: Utf8PathBuf::from("/"),
            executable_folder: std::env::current_exe()
                .ok()
                .and_then(utf8)
                .and_then(|path| path.parent().map(Utf8Path::to_owned)),
        }
    }

    /// The value of a variable.
    pub(super) fn variable(&self, name: &str) -> Option<&str> {
        self.variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// What a child must be told, beside what it gets from this process.
    pub(super) fn environment(&self) -> Vec<(String, String)> {
        let here = Self::of_this_process();
        let mut set = Vec::new();
        if here.path != self.path {
            let path = std::env::join_paths(&self.path).unwrap_or_default();
            set.push(("PATH".to_owned(), path.to_string_lossy().into_owned()));
        }
        for name in Self::NAMES {
            let value = self.variable(name);
            if value != here.variable(name) {
                set.push((name.to_owned(), value.unwrap_or_default().to_owned()));
            }
        }
        set
    }

    /// Folders of toolkits, best first. `packages` are folders of Python packages.
    fn toolkits(&self, packages: &[Utf8PathBuf]) -> Vec<Utf8PathBuf> {
        let mut found: Vec<Utf8PathBuf> = Vec::new();
        for name in ["CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"] {
            found.extend(self.variable(name).map(Utf8PathBuf::from));
        }
        found.push(self.root.join("usr/local/cuda"));
        found.extend(newest_first(&self.root.join("usr/local"), "cuda-"));
        found.extend(["opt/cuda", "usr/lib/cuda"].map(|folder| self.root.join(folder)));
        found.extend(self.variable("CONDA_PREFIX").map(Utf8PathBuf::from));
        for folder in packages {
            // CUDA 13's packages share a folder; each of CUDA 12's has its own.
            found.extend(newest_first(&folder.join("nvidia"), "cu1"));
            found.extend(newest_first(&folder.join("nvidia"), "cuda_"));
        }
        found.retain(|folder| folder.is_dir());
        found
    }

    /// Folders of Python packages that can be told without asking Python: those of an active environment, and those
    /// beside the executable.
    fn guessed_packages(&self) -> Vec<Utf8PathBuf> {
        let beside = self.executable_folder.as_ref().and_then(|folder| folder.parent()).map(Utf8Path::to_owned);
        let prefixes = [self.variable("VIRTUAL_ENV").map(Utf8PathBuf::from), beside];
        let mut found = Vec::new();
        for prefix in prefixes.into_iter().flatten() {
            found.extend(newest_first(&prefix.join("lib"), "python3").into_iter().map(|lib| lib.join("site-packages")));
            found.push(prefix.join("Lib/site-packages"));
        }
        found
    }
}

/// Where tools may lie, once Python has said where its packages are.
#[derive(Clone, Debug)]
pub(super) struct Places<'s> {
    pub surroundings: &'s Surroundings,
    toolkits: Vec<Utf8PathBuf>,
}

impl<'s> Places<'s> {
    pub fn new(surroundings: &'s Surroundings, packages: &[Utf8PathBuf]) -> Self {
        let packages: Vec<Utf8PathBuf> = packages.iter().cloned().chain(surroundings.guessed_packages()).collect();
        Self { surroundings, toolkits: surroundings.toolkits(&packages) }
    }

    /// All programs of this name, best first, each once.
    pub fn programs(&self, name: &str) -> Vec<Utf8PathBuf> {
        let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
        let on_path = self.surroundings.path.iter().map(|folder| folder.join(&file));
        let in_toolkits = self
            .toolkits
            .iter()
            .flat_map(|toolkit| [toolkit.join("bin").join(&file), toolkit.join("compute-sanitizer").join(&file)]);
        once_each(on_path.chain(in_toolkits).filter(|path| runs(path)).collect())
    }

    /// Folders that hold NVRTC's library, best first, each once.
    pub fn nvrtc_folders(&self) -> Vec<Utf8PathBuf> {
        let listed = self.surroundings.variable("LD_LIBRARY_PATH").unwrap_or_default();
        let listed = listed.split(':').filter(|folder| !folder.is_empty()).map(Utf8PathBuf::from);
        // The toolkit of a compiler that is found on the path is the user's choice.
        let chosen = self.programs("nvcc").into_iter().filter_map(|nvcc| {
            let real = nvcc.canonicalize_utf8().unwrap_or(nvcc);
            Some(real.parent()?.parent()?.to_owned())
        });
        let in_toolkits = chosen.chain(self.toolkits.iter().cloned()).flat_map(|toolkit| {
            ["lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib", "bin/x64", "bin"]
                .map(|folder| toolkit.join(folder))
        });
        let system = ["usr/lib/x86_64-linux-gnu", "usr/lib/aarch64-linux-gnu", "usr/lib64", "usr/lib"];
        let system = system.iter().map(|folder| self.surroundings.root.join(folder));
        once_each(listed.chain(in_toolkits).chain(system).filter(|folder| holds_nvrtc(folder)).collect())
    }
}

/// Folders of headers that belong to a library's or program's folder: `lib` and `bin` have `include` beside them.
pub(super) fn headers_beside(folder: &Utf8Path) -> Vec<Utf8PathBuf> {
    let folder = folder.canonicalize_utf8().unwrap_or_else(|_| folder.to_owned());
    let mut found = Vec::new();
    for toolkit in folder.ancestors().skip(1).take(3) {
        for place in ["include", "targets/x86_64-linux/include", "targets/sbsa-linux/include"] {
            let include = toolkit.join(place);
            // Headers that lie among those of the host's C library cannot be had without them.
            if include.join("cuda_runtime.h").is_file() && !include.join("stdio.h").is_file() {
                let cccl = include.join("cccl");
                found.push(include);
                found.extend(cccl.is_dir().then_some(cccl));
                return found;
            }
        }
    }
    // Each of CUDA 12's packages of Python has its own folder of headers.
    let packages = folder.parent().and_then(Utf8Path::parent);
    for name in ["cuda_runtime", "cuda_cccl", "curand"] {
        found.extend(packages.map(|packages| packages.join(name).join("include")).filter(|folder| folder.is_dir()));
    }
    found
}

/// Whether a folder holds the library, under any version.
fn holds_nvrtc(folder: &Utf8Path) -> bool {
    let Ok(entries) = folder.read_dir_utf8() else { return false };
    entries.flatten().any(|entry| {
        let name = entry.file_name();
        name.starts_with("libnvrtc.so") || (cfg!(windows) && name.starts_with("nvrtc64_"))
    })
}

/// Folders below `folder` whose name begins so, with the largest numbers first.
fn newest_first(folder: &Utf8Path, beginning: &str) -> Vec<Utf8PathBuf> {
    let Ok(entries) = folder.read_dir_utf8() else { return Vec::new() };
    let mut found: Vec<(Vec<u32>, Utf8PathBuf)> = entries
        .flatten()
        .filter(|entry| entry.file_name().starts_with(beginning))
        .map(|entry| {
            let numbers = entry.file_name().split(|c: char| !c.is_ascii_digit());
            (numbers.filter_map(|number| number.parse().ok()).collect(), entry.into_path())
        })
        .collect();
    found.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    found.into_iter().map(|(_, path)| path).collect()
}

/// Whether a file may be run as a program.
fn runs(path: &Utf8Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
    }
    #[cfg(not(unix))]
    path.is_file()
}

/// The same paths without those that lead to a file that an earlier one leads to.
fn once_each(paths: Vec<Utf8PathBuf>) -> Vec<Utf8PathBuf> {
    let mut known = Vec::new();
    paths
        .into_iter()
        .filter(|path| {
            let real = path.canonicalize_utf8().unwrap_or_else(|_| path.clone());
            let new = !known.contains(&real);
            known.push(real);
            new
        })
        .collect()
}
