//! Flags that a compiler's refusal asks for: a later toolkit has lost what the program names, or an option is off that its code needs.

use crate::spelled::{LOST_MEMBERS, REMOVED};

/// What compilers say of an option that is off, and the option.
const OPTIONS: [(&str, &str); 3] = [
    ("requires --extended-lambda", "--extended-lambda"),
    ("'--expt-relaxed-constexpr' can be used", "--expt-relaxed-constexpr"),
    ("Unresolved extern function", "-rdc=true"),
];

/// The flags, as far as they are not among those that the program was built with.
pub(super) fn stand_ins(output: &str, flags: &[String]) -> Vec<String> {
    let removed = REMOVED.iter().filter(|(name, _)| output.contains(&format!("identifier \"{name}\" is undefined")));
    let lost = LOST_MEMBERS.iter().filter(|(name, _)| output.contains(&format!("has no member \"{name}\"")));
    let options = OPTIONS.iter().filter(|(words, _)| output.contains(words));
    let all = removed.chain(lost).chain(options).map(|(_, flag)| (*flag).to_owned());
    all.filter(|flag| !flags.contains(flag)).collect()
}

#[cfg(test)]
mod tests {
    use super::stand_ins;

    #[test]
    fn a_refusal_names_what_is_missing() {
        let of = |output: &str| stand_ins(output, &[]);
        let gone = "a.cu(7): error: identifier \"cudaThreadSynchronize\" is undefined";
        assert_eq!(of(gone), ["-DcudaThreadSynchronize=cudaDeviceSynchronize"]);
        assert_eq!(of("a.cu(7): error: identifier \"n\" is undefined"), [""; 0]);
        let member = "error: class \"cudaDeviceProp\" has no member \"memoryClockRate\"";
        assert_eq!(of(member), ["-DmemoryClockRate=memoryBusWidth"]);
        let lambda = "error: __host__ or __device__ annotation on lambda requires --extended-lambda nvcc flag";
        assert_eq!(of(lambda), ["--extended-lambda"]);
        assert_eq!(stand_ins(lambda, &["--extended-lambda".to_owned()]), [""; 0]);
    }
}
