//! Receipts: the record of the GPU run that confirmed the bad examples of a rule's page and showed its good ones clean. A
//! receipt is committed beside its rule as `<rule>.receipt.toml`; each experiment in it carries the hash of its example,
//! so that an example edited after its run is known.

use cudalint_findings::model::{Method, Verdict};
use serde::{Deserialize, Serialize};

/// The record of one rule's run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Receipt {
    /// Name of the rule.
    pub rule: String,
    /// How its findings are shown.
    pub method: Method,
    /// Day of the run: `2026-11-21`.
    pub date: String,
    /// The GPU: `NVIDIA H200`.
    pub device: String,
    /// Names and versions of what took part: driver, nvcc, compute-sanitizer, Python and its packages.
    pub tools: Vec<String>,
    /// One an example, in the page's order.
    #[serde(rename = "experiment")]
    pub experiments: Vec<ReceiptEntry>,
}

/// The record of one example.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ReceiptEntry {
    /// Heading under which the example stands.
    pub section: String,
    /// Hash of the example: [`hash`].
    pub hash: String,
    /// What the example is and what the run said of it.
    pub result: ExampleResult,
    /// A bad example: a line a finding, with its verdict and the evidence. A good one: a line a tool.
    pub evidence: Vec<String>,
}

/// What a run said of an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExampleResult {
    /// A bad example: every finding in it was confirmed.
    Confirmed,
    /// A bad example of which a finding was not confirmed.
    NotConfirmed,
    /// A good example: every tool ran it and reported nothing.
    Clean,
    /// A good example in which a tool saw something, or that did not run.
    NotClean,
}

impl ExampleResult {
    /// Whether the example came out as the page says.
    pub fn is_good(self) -> bool {
        matches!(self, Self::Confirmed | Self::Clean)
    }

    /// The result of a bad example from the verdicts of its findings.
    pub fn of_verdicts(verdicts: &[Verdict]) -> Self {
        if !verdicts.is_empty() && verdicts.iter().all(|verdict| *verdict == Verdict::Confirmed) {
            Self::Confirmed
        } else {
            Self::NotConfirmed
        }
    }
}

impl Receipt {
    /// Reads a receipt.
    ///
    /// # Errors
    /// When the text is no receipt: what is wrong and where.
    pub fn parse(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|error| error.to_string())
    }

    /// The text of the file.
    ///
    /// # Errors
    /// Never for receipts that this crate makes; TOML cannot hold some values.
    pub fn to_text(&self) -> Result<String, String> {
        toml::to_string_pretty(self)
            .map(|text| format!("# Written by `cargo xtask receipts` on a machine with a GPU; do not edit.\n{text}"))
            .map_err(|error| error.to_string())
    }

    /// One sentence for people: how many examples on which GPU, when.
    pub fn summary(&self) -> String {
        let count = |wanted| self.experiments.iter().filter(|entry| entry.result == wanted).count();
        format!(
            "{} bad and {} good examples of this page ran on an {} on {} ({}): the bad ones were confirmed, and no tool reported anything in the good ones.",
            count(ExampleResult::Confirmed),
            count(ExampleResult::Clean),
            self.device,
            self.date,
            self.tools.join(", ")
        )
    }
}

/// Hash of an example: the words of its first fence that matter to a run, its settings, and names and texts of its
/// files, each followed by a zero byte, through 64-bit FNV-1a, in 16 hexadecimal digits.
pub fn hash<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    let bytes = parts.into_iter().flat_map(|part| part.bytes().chain([0]));
    let value =
        bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{value:016x}")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn receipt() -> Receipt {
        Receipt {
            rule: "empty-grid".to_owned(),
            method: Method::ApiError,
            date: "2026-11-21".to_owned(),
            device: "NVIDIA H200".to_owned(),
            tools: vec!["driver 580.159".to_owned()],
            experiments: vec![ReceiptEntry {
                section: "Example".to_owned(),
                hash: hash(["a", "b"]),
                result: ExampleResult::Confirmed,
                evidence: vec!["line 10: confirmed".to_owned()],
            }],
        }
    }

    #[test]
    fn a_receipt_is_read_as_it_was_written() {
        assert_eq!(Receipt::parse(&receipt().to_text().unwrap()).unwrap(), receipt());
    }

    #[test]
    fn where_one_part_ends_matters() {
        assert_ne!(hash(["ab", "c"]), hash(["a", "bc"]));
    }

    #[test]
    fn no_finding_is_no_confirmation() {
        assert_eq!(ExampleResult::of_verdicts(&[]), ExampleResult::NotConfirmed);
        assert_eq!(
            ExampleResult::of_verdicts(&[Verdict::Confirmed, Verdict::NotObserved]),
            ExampleResult::NotConfirmed
        );
    }
}
