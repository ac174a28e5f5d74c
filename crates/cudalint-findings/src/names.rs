//! The words that output uses for the values of a finding.

use crate::claim::AccessKind;
use crate::finding::{Applicability, Confidence, Group, Method, Severity, Verdict, Verification};

impl Verification {
    /// `confirmed on NVIDIA H200`, `not-observed on NVIDIA H200`, `unsupported`.
    pub fn words(&self) -> String {
        match &self.evidence.device {
            Some(device) => format!("{} on {device}", self.verdict.name()),
            None => self.verdict.name().to_owned(),
        }
    }
}

impl Severity {
    /// `error`, `warning` or `info`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl Confidence {
    /// `definite`, `likely` or `possible`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Possible => "possible",
            Self::Likely => "likely",
            Self::Definite => "definite",
        }
    }
}

impl Group {
    /// Its name in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Correctness => "correctness",
            Self::Suspicious => "suspicious",
            Self::Portability => "portability",
            Self::Performance => "performance",
            Self::Pedantic => "pedantic",
            Self::Preview => "preview",
        }
    }
}

impl Method {
    /// Its name in lower case with hyphens.
    pub fn name(self) -> &'static str {
        match self {
            Self::Memcheck => "memcheck",
            Self::Racecheck => "racecheck",
            Self::Initcheck => "initcheck",
            Self::Synccheck => "synccheck",
            Self::Leakcheck => "leakcheck",
            Self::ApiError => "api-error",
            Self::Exception => "exception",
            Self::Output => "output",
            Self::Watchpoint => "watchpoint",
            Self::FaultInjection => "fault-injection",
            Self::None => "none",
        }
    }
}

impl AccessKind {
    /// `read`, `write` or `atomic`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Atomic => "atomic",
        }
    }
}

impl Applicability {
    /// `safe`, `unsafe` or `display`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Unsafe => "unsafe",
            Self::Display => "display",
        }
    }
}

impl Verdict {
    /// Its name in lower case with hyphens.
    pub fn name(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::NotObserved => "not-observed",
            Self::Refuted => "refuted",
            Self::Unviable => "unviable",
            Self::Timeout => "timeout",
            Self::Unsupported => "unsupported",
        }
    }
}
