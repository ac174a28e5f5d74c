//! Rules for the engine's own tests.

use crate::rule::{Check, Rule};
use cudalint_findings::{Confidence, Group, Method, RuleInfo};

/// A rule that says nothing.
pub const fn rule(name: &'static str) -> Rule {
    Rule {
        info: RuleInfo {
            name,
            group: Group::Correctness,
            summary: "",
            page: "",
            method: Method::None,
            guidelines: &[],
            cwe: None,
        },
        confidence: &[Confidence::Definite],
        fix: None,
        figures: false,
        check: Check::Facts(|_, _| {}),
    }
}
