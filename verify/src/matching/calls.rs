//! Calls of the CUDA runtime and driver: which ones a finding is about, and what their statuses say.

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

/// What a status says of its call. Numbers: CUDA Runtime API, `cudaError_t`; those of the driver are the same.
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

/// Whether a name is one of a function of the runtime or driver: `cuda` or `cu`, then a capital.
fn is_api(name: &str) -> bool {
    let rest = name.strip_prefix("cuda").or_else(|| name.strip_prefix("cu"));
    rest.is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_uppercase()))
        && !name.contains(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'))
}

/// Whether two names are the same call, whichever layer and variant reports it: `cudaMemcpy` and `cuMemcpyHtoD_v2`.
pub fn same_call(one: &str, other: &str) -> bool {
    family(one) == family(other)
}

/// Whether a function moves or sets bytes: what a method of a Python package ends in, whatever it is called there.
fn is_about_bytes(function: &str) -> bool {
    matches!(&*family(function), "copy" | "set")
}

/// Whether a function launches kernels.
pub(super) fn is_about_launch(function: &str) -> bool {
    family(function) == "launch"
}

/// What all variants of a call share.
fn family(name: &str) -> String {
    let plain = name.strip_prefix("cuda").or_else(|| name.strip_prefix("cu")).unwrap_or(name);
    let groups = [
        ("Launch", "launch"),
        ("Memcpy", "copy"),
        ("Memset", "set"),
        ("MemsetD", "set"),
        ("Free", "free"),
        ("Malloc", "allocate"),
        ("MemAlloc", "allocate"),
        ("HostAlloc", "allocate"),
    ];
    if let Some((_, group)) = groups.iter().find(|(part, _)| plain.contains(part)) {
        return (*group).to_owned();
    }
    let base = plain.split("_v").next().unwrap_or(plain);
    let base = base.trim_end_matches("_ptsz").trim_end_matches("_ptds");
    base.to_ascii_lowercase()
}
