//! Calls of the CUDA runtime and driver: which ones a finding is about, and what their statuses say.

use crate::api;
use cudalint_program::api::effects::Library;

/// What a status says of the call that returned it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// The call itself failed.
    Own,
    /// An earlier kernel failed, and every later call hands that on.
    Earlier,
    /// The machine: no device, no memory left, a driver that is too old, no code for this device.
    Surroundings,
}

/// What a status that a function returned says of the call.
pub fn status_of(function: &str, code: i64) -> Code {
    match Library::of_name(function) {
        // NVRTC, `nvrtcResult`: out of memory, no program could be made, its own functions or itself broken.
        Some(Library::Nvrtc) => match code {
            1 | 2 | 7 | 11 => Code::Surroundings,
            _ => Code::Own,
        },
        _ => code_of(code),
    }
}

/// What a status of the runtime or driver says of its call. Numbers: CUDA Runtime API, `cudaError_t`; those of the driver are
/// the same.
pub fn code_of(code: i64) -> Code {
    match code {
        // Illegal address, launch timeout, hardware stack, illegal instruction, misaligned address, invalid address
        // space, invalid program counter, launch failure, assert, corrupted context.
        700 | 702 | 709 | 710 | 714..=719 => Code::Earlier,
        // Out of memory, initialization, deinitialization, insufficient driver, devices busy, no device, no code, …
        2..=4 | 35 | 46 | 100 | 209 | 218 | 221..=223 | 802..=804 | 999 => Code::Surroundings,
        _ => Code::Own,
    }
}

/// Whether a function that a tool reports is the one that a claim names. A method of a Python package moves bytes by a
/// function of a name of its own: then the place decides.
pub(super) fn is_call(claimed: &str, seen: &str) -> bool {
    let name = claimed.rsplit('.').next().unwrap_or(claimed);
    if is_api(name) { same_call(name, seen) } else { is_about_bytes(seen) }
}

/// Whether a name is one of a function of the runtime, the driver or the runtime compiler.
fn is_api(name: &str) -> bool {
    matches!(Library::of_name(name), Some(Library::Runtime | Library::Driver | Library::Nvrtc))
        && !name.contains(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'))
}

/// Whether two names are the same call, whichever layer and variant reports it: `cudaMemcpy` and `cuMemcpyHtoD_v2`.
pub fn same_call(one: &str, other: &str) -> bool {
    family(one) == family(other)
}

/// Whether a function moves or sets bytes: what a method of a Python package ends in, whatever it is called there.
fn is_about_bytes(function: &str) -> bool {
    api::is(function, |api| api.copies() || api.sets())
}

/// Whether a function launches kernels.
pub(super) fn is_about_launch(function: &str) -> bool {
    api::is(function, api::launches)
}

/// What all variants of a call share: what it does, else its name without its library's beginning.
fn family(name: &str) -> String {
    let does = api::named(name).and_then(|api| {
        let kinds = [
            (api::launches(api), "launch"),
            (api.copies(), "copy"),
            (api.sets(), "set"),
            (api.frees(), "free"),
            (api.allocates(), "allocate"),
        ];
        kinds.into_iter().find_map(|(does, kind)| does.then_some(kind))
    });
    if let Some(kind) = does {
        return kind.to_owned();
    }
    let plain = api::named(name).map_or(name, |api| api.name());
    Library::within(plain).map_or(plain, |(_, rest)| rest).to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::{Code, is_call, status_of};

    #[test]
    fn functions_of_the_runtime_compiler_are_told_by_their_names() {
        assert!(is_call("nvrtcAddNameExpression", "nvrtcAddNameExpression"));
        assert!(!is_call("nvrtcAddNameExpression", "nvrtcCompileProgram"));
        assert!(!is_call("nvrtcAddNameExpression", "cudaMemcpy"));
    }

    #[test]
    fn a_status_means_what_its_library_says() {
        assert_eq!(status_of("nvrtcGetLoweredName", 3), Code::Own);
        assert_eq!(status_of("nvrtcCompileProgram", 11), Code::Surroundings);
        assert_eq!(status_of("cudaMalloc", 3), Code::Surroundings);
        assert_eq!(status_of("cuModuleGetFunction", 500), Code::Own);
    }
}
