//! What a kernel's child says of its work.

use crate::api;
use serde::{Deserialize, Serialize};

/// The word before the report: what a kernel prints stands on the same stream.
const WORD: &str = "cudalint-kernel ";

/// A call of the driver and its status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The function: `cuLaunchKernel`.
    pub call: String,
    /// Its status as a number, 0 for success. The numbers are those of the runtime's errors.
    pub code: u32,
    /// Its status: `CUDA_SUCCESS`, `CUDA_ERROR_INVALID_VALUE`.
    pub name: String,
    /// What the driver says of it: `invalid argument`.
    pub text: String,
}

/// Why nothing was launched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind", content = "text")]
pub enum Problem {
    /// The plan is none, or is not the kernel's: in one line.
    Plan(String),
    /// The compiler refuses the source: its first error.
    Source(String),
    /// A library, a GPU or memory is missing: in one line.
    Machine(String),
}

impl Problem {
    /// In one line.
    pub fn text(&self) -> &str {
        match self {
            Self::Plan(text) | Self::Source(text) | Self::Machine(text) => text,
        }
    }
}

/// What a kernel's child came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelReport {
    /// Version of NVRTC: `13.0`.
    pub nvrtc: Option<String>,
    /// The GPU.
    pub device: Option<String>,
    /// The compiler's options; empty where it was not called.
    pub options: Vec<String>,
    /// The program's flags that the run-time compiler does not have and that were left out.
    pub left_out: Vec<String>,
    /// The kernel's name in machine code.
    pub kernel: Option<String>,
    /// Bytes of the compiled program.
    pub bytes: usize,
    /// What the compiler says: warnings, errors.
    pub log: String,
    /// The launch and what followed, in order: `cuLaunchKernel`, `cuCtxSynchronize`; the latter has the status of the
    /// kernel's work. Empty where nothing was launched.
    pub calls: Vec<Call>,
    /// Why nothing was launched.
    pub problem: Option<Problem>,
}

impl KernelReport {
    /// The report in what a child printed: the last, since a kernel may print anything before it.
    pub fn read(stdout: &str) -> Option<Self> {
        stdout.lines().rev().find_map(|line| serde_json::from_str(line.strip_prefix(WORD)?).ok())
    }

    /// The report as a line of its own.
    pub(super) fn line(&self) -> String {
        format!("\n{WORD}{}\n", serde_json::to_string(self).unwrap_or_default())
    }

    /// Whether the launch was accepted.
    pub fn launched(&self) -> bool {
        self.calls.iter().any(|call| api::is(&call.call, api::launches) && call.code == 0)
    }

    /// The first call that failed.
    pub fn failure(&self) -> Option<&Call> {
        self.calls.iter().find(|call| call.code != 0)
    }

    /// The child's exit status: 0 when all went well, 1 when a call failed, 2 when nothing was launched that should.
    pub fn exit_status(&self) -> u8 {
        match (&self.problem, self.failure()) {
            (Some(_), _) => 2,
            (None, Some(_)) => 1,
            (None, None) => 0,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{Call, KernelReport, Problem};

    #[test]
    fn the_report_is_found_behind_what_the_kernel_prints() {
        let call = |call: &str, code| Call { call: call.to_owned(), code, name: String::new(), text: String::new() };
        let report = KernelReport {
            calls: vec![call("cuLaunchKernel", 0), call("cuCtxSynchronize", 719)],
            ..KernelReport::default()
        };
        let printed = format!("cudalint-kernel {{}}\nthread 3 without an end of line{}", report.line());
        let read = KernelReport::read(&printed).unwrap();
        assert_eq!(read, report);
        assert!(read.launched());
        assert_eq!(read.failure().map(|call| call.code), Some(719));
        assert_eq!(read.exit_status(), 1);
        assert_eq!(KernelReport::read("nothing\n"), None);
    }

    #[test]
    fn what_was_not_launched_has_a_status_of_its_own() {
        let problem = Some(Problem::Source("kernel.cu(1): error: no".to_owned()));
        let report = KernelReport { problem, ..KernelReport::default() };
        assert!(report.line().contains(r#""problem":{"kind":"source","text":"kernel.cu(1): error: no"}"#));
        assert_eq!((report.exit_status(), report.launched()), (2, false));
    }
}
