//! Whether all that a file includes is in sight, so that a name which nothing there declares is declared nowhere.

use crate::roles::COMPILED;
use cudalint_program::Project;
use cudalint_program::ir::ModuleId;

/// Whether a file is compiled by itself, and what it includes is in sight, or declares no names of variables but the few of C's library: then
/// names are declared where the project has them.
pub(crate) fn has_all_includes(project: &Project, id: ModuleId) -> bool {
    const WITH_ENDING: [&str; 39] = [
        "bits/stdc++.h",
        "stdio.h",
        "stdlib.h",
        "string.h",
        "math.h",
        "time.h",
        "assert.h",
        "stdint.h",
        "stdbool.h",
        "limits.h",
        "float.h",
        "omp.h",
        "sys/time.h",
        "cuda.h",
        "cuda_runtime.h",
        "cuda_runtime_api.h",
        "device_launch_parameters.h",
        "curand_kernel.h",
        "curand.h",
        "cublas_v2.h",
        "ctype.h",
        "errno.h",
        "fcntl.h",
        "getopt.h",
        "inttypes.h",
        "libgen.h",
        "locale.h",
        "malloc.h",
        "mpi.h",
        "pthread.h",
        "sched.h",
        "signal.h",
        "stdarg.h",
        "stdatomic.h",
        "stddef.h",
        "sys/resource.h",
        "sys/stat.h",
        "sys/types.h",
        "unistd.h",
    ];
    let module = project.module(id);
    let known = |target: &str| {
        WITH_ENDING.contains(&target) || target.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    };
    let compiled = COMPILED.iter().any(|ending| project.path(id).ends_with(ending));
    let graph = project.includes();
    let has_all = |file: u32| {
        let includes = project.module(ModuleId(file)).includes.iter();
        let mut in_sight = graph.targets(file).iter().map(Option::is_some);
        includes.into_iter().all(|include| in_sight.next().unwrap_or(false) || known(&include.target))
    };
    let own = id.index() as u32;
    compiled
        && module.damage.is_empty()
        && graph.includers(own).is_empty()
        && has_all(own)
        && graph.reach(own).included.iter().all(|file| has_all(*file))
}
