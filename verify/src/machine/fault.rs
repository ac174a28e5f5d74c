//! The parts of a machine, and what is wrong with one.

use serde::{Deserialize, Serialize};

/// A part of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// The driver and its GPUs.
    Driver,
    /// nvcc.
    Nvcc,
    /// The compiler that nvcc calls for host code.
    HostCompiler,
    /// NVRTC.
    Nvrtc,
    /// compute-sanitizer.
    ComputeSanitizer,
    /// addr2line.
    Addr2line,
    /// Python; its packages have their problems with themselves.
    Python,
}

impl Part {
    /// Its name, as people know it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Driver => "driver",
            Self::Nvcc => "nvcc",
            Self::HostCompiler => "host compiler",
            Self::Nvrtc => "NVRTC",
            Self::ComputeSanitizer => "compute-sanitizer",
            Self::Addr2line => "addr2line",
            Self::Python => "Python",
        }
    }
}

/// What is not there, or there and of no use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// Of which part.
    pub part: Part,
    /// Whether there is none at all.
    pub missing: bool,
    /// Why, in one line.
    pub reason: String,
}

impl Fault {
    pub(super) fn missing(part: Part, reason: impl Into<String>) -> Self {
        Self { part, missing: true, reason: reason.into() }
    }

    pub(super) fn broken(part: Part, reason: impl Into<String>) -> Self {
        Self { part, missing: false, reason: reason.into() }
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}: {}", self.part.name(), self.reason)
    }
}
