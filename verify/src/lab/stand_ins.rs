//! Flags that a compiler's refusal asks for: a later toolkit has lost what the program names, an option is off that its code needs, or a
//! header that NVIDIA's samples share was left behind.

use crate::spelled::{LOST_MEMBERS, REMOVED};
use camino::Utf8Path;
use std::fs;

/// What compilers say of an option that is off, and the option.
const OPTIONS: [(&str, &str); 3] = [
    ("requires --extended-lambda", "--extended-lambda"),
    ("'--expt-relaxed-constexpr' can be used", "--expt-relaxed-constexpr"),
    ("Unresolved extern function", "-rdc=true"),
];

/// Headers of NVIDIA's samples that programs include and do not bring along, with what stands for them.
const OF_SAMPLES: [(&str, &str); 4] = [
    ("helper_cuda.h", include_str!("headers/helper_cuda.h")),
    ("helper_functions.h", include_str!("headers/helper_functions.h")),
    ("helper_string.h", include_str!("headers/helper_string.h")),
    ("helper_timer.h", include_str!("headers/helper_timer.h")),
];
/// The header for calls whose parameters have changed, and what compilers say of such a call.
const PLACES: (&str, &str) = ("cudalint_places.h", include_str!("headers/cudalint_places.h"));
const NO_PLACE: &str = "to convert from \"int\" to \"cudaMemLocation\"";

/// The flags, as far as they are not among those that the program was built with. Headers that they name are written to `folder`.
pub(super) fn stand_ins(output: &str, flags: &[String], folder: &Utf8Path) -> Vec<String> {
    let removed = REMOVED.iter().filter(|(name, _)| output.contains(&format!("identifier \"{name}\" is undefined")));
    let lost = LOST_MEMBERS.iter().filter(|(name, _)| output.contains(&format!("has no member \"{name}\"")));
    let options = OPTIONS.iter().filter(|(words, _)| output.contains(words));
    let mut all: Vec<String> = removed.chain(lost).chain(options).map(|(_, flag)| (*flag).to_owned()).collect();
    let is_missing = |(name, _): &(&str, &str)| {
        output.contains(&format!("{name}: No such file or directory"))
            || output.contains(&format!("could not open source file \"{name}\""))
    };
    if OF_SAMPLES.iter().any(is_missing) && written(folder, &OF_SAMPLES) {
        all.push(format!("-I{folder}"));
    }
    if output.contains(NO_PLACE) && written(folder, &[PLACES]) {
        all.push(with_places(folder));
    }
    all.retain(|flag| !flags.contains(flag));
    all
}

/// The flag by which a program gets the header for calls whose parameters have changed.
pub(crate) fn with_places(folder: &Utf8Path) -> String {
    format!("--pre-include={}", folder.join(PLACES.0))
}

/// Writes all headers that stand for others into a folder. Whether they lie there from here on.
pub(crate) fn headers(folder: &Utf8Path) -> bool {
    written(folder, &OF_SAMPLES) && written(folder, &[PLACES])
}

/// Whether headers lie in a folder from here on.
fn written(folder: &Utf8Path, headers: &[(&str, &str)]) -> bool {
    let write = |(name, text): &(&str, &str)| {
        let path = folder.join(name);
        // Another build may read it just now.
        let own = folder.join(format!("{name}.{}-{:?}", std::process::id(), std::thread::current().id()));
        path.exists() || fs::write(&own, text).and_then(|()| fs::rename(&own, &path)).is_ok() || path.exists()
    };
    fs::create_dir_all(folder).is_ok() && headers.iter().all(write)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::stand_ins;
    use camino::Utf8Path;

    #[test]
    fn a_refusal_names_what_is_missing() {
        let nowhere = Utf8Path::new("");
        let of = |output: &str| stand_ins(output, &[], nowhere);
        let gone = "a.cu(7): error: identifier \"cudaThreadSynchronize\" is undefined";
        assert_eq!(of(gone), ["-DcudaThreadSynchronize=cudaDeviceSynchronize"]);
        assert_eq!(of("a.cu(7): error: identifier \"n\" is undefined"), [""; 0]);
        let member = "error: class \"cudaDeviceProp\" has no member \"memoryClockRate\"";
        assert_eq!(of(member), ["-DmemoryClockRate=memoryBusWidth"]);
        let lambda = "error: __host__ or __device__ annotation on lambda requires --extended-lambda nvcc flag";
        assert_eq!(of(lambda), ["--extended-lambda"]);
        assert_eq!(stand_ins(lambda, &["--extended-lambda".to_owned()], nowhere), [""; 0]);
    }

    #[test]
    fn headers_that_a_refusal_misses_are_there_from_then_on() {
        let place = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(place.path()).unwrap().join("headers");
        let missing = "a.cu:3:10: fatal error: helper_cuda.h: No such file or directory";
        let flags = stand_ins(missing, &[], &folder);
        assert_eq!(flags, [format!("-I{folder}")]);
        assert!(folder.join("helper_cuda.h").exists() && folder.join("helper_string.h").exists());
        assert_eq!(stand_ins(missing, &flags, &folder), [""; 0]);
        assert_eq!(stand_ins("fatal error: other.h: No such file or directory", &[], &folder), [""; 0]);
        let number = "a.cu(9): error: no suitable constructor exists to convert from \"int\" to \"cudaMemLocation\"";
        let flags = stand_ins(number, &[], &folder);
        assert_eq!(flags, [format!("--pre-include={folder}/cudalint_places.h")]);
        assert!(folder.join("cudalint_places.h").exists());
    }
}
