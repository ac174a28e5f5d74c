//! The variables that a child gets: few, named here, so that no token or key of the user's session reaches a program that
//! came with a source tree.

use camino::Utf8Path;

/// The variable that a parent of ours sets for its children. Without it the hidden words are words as any other, so that a
/// file with such a name starts nothing.
pub(crate) const CHILD: &str = "CUDALINT_CHILD";

/// Passed on by name.
const NAMES: &[&str] = &[
    // Finding programs, libraries and the user's own packages.
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "TZ",
    "LANG",
    "LANGUAGE",
    // Compilers.
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "LIBRARY_PATH",
    "NVCC_CCBIN",
    "NVCC_PREPEND_FLAGS",
    "NVCC_APPEND_FLAGS",
    // What the builds of projects go by.
    "CC",
    "CXX",
    "CUDACXX",
    "CUDAHOSTCXX",
    "CFLAGS",
    "CXXFLAGS",
    "CUDAFLAGS",
    "LDFLAGS",
    "CMAKE_PREFIX_PATH",
    "PKG_CONFIG_PATH",
    // Python and where its packages are.
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONUSERBASE",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    // Which GPUs a container may use.
    "NVIDIA_VISIBLE_DEVICES",
    "NVIDIA_DRIVER_CAPABILITIES",
    // What Windows programs cannot start without.
    "SYSTEMROOT",
    "SYSTEMDRIVE",
    "WINDIR",
    "COMSPEC",
    "PATHEXT",
    "PROGRAMFILES",
    "PROGRAMDATA",
    "USERPROFILE",
    "LOCALAPPDATA",
    "INCLUDE",
    "LIB",
];

/// Passed on by how they begin.
const BEGINNINGS: &[&str] = &["CUDA_", "LC_"];

/// What no variable passed on by its beginning may have in its name.
const SECRETS: &[&str] = &["TOKEN", "SECRET", "PASS", "KEY", "CREDENTIAL", "AUTH", "COOKIE", "SESSION"];

/// Whether a variable is passed on.
fn passes(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    NAMES.contains(&upper.as_str())
        || (BEGINNINGS.iter().any(|beginning| upper.starts_with(beginning))
            && !SECRETS.iter().any(|secret| upper.contains(secret)))
}

/// The variables of this process that every child gets.
pub(super) fn passed_on() -> Vec<(String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| passes(name))
        .collect()
}

/// The variables of a child. `temporary` is its own folder for short-lived files, `caches` one that the lab's programs
/// share. What is set here wins over what is passed on, and `set` over both.
pub(super) fn of_child(temporary: &Utf8Path, caches: &Utf8Path, set: &[(String, String)]) -> Vec<(String, String)> {
    let mut variables = passed_on();
    let own = [
        ("TMPDIR", temporary.to_string()),
        ("TMP", temporary.to_string()),
        ("TEMP", temporary.to_string()),
        // Caches beside the user's scripts, or in the home, would be traces outside the outcome folder.
        ("PYTHONDONTWRITEBYTECODE", "1".to_owned()),
        ("NUMBA_CACHE_DIR", caches.join("numba").to_string()),
        ("CUPY_CACHE_DIR", caches.join("cupy").to_string()),
        ("CUDA_CACHE_PATH", caches.join("cuda").to_string()),
        // A tool's words are read by their English.
        ("LC_ALL", "C.UTF-8".to_owned()),
    ];
    let own = own.into_iter().map(|(name, value)| (name.to_owned(), value));
    for (name, value) in own.chain(set.iter().cloned()) {
        match variables.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = value,
            None => variables.push((name, value)),
        }
    }
    variables
}

#[cfg(test)]
mod tests {
    use super::passes;

    #[test]
    fn secrets_stay() {
        for name in ["AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "SSH_AUTH_SOCK", "CUDA_API_KEY", "LC_TOKEN", "HTTP_PROXY"]
        {
            assert!(!passes(name), "{name}");
        }
    }

    #[test]
    fn what_programs_need_goes_along() {
        for name in ["PATH", "HOME", "LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_VISIBLE_DEVICES", "LC_CTYPE", "PYTHONPATH"] {
            assert!(passes(name), "{name}");
        }
    }
}
