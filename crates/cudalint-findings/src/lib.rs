//! Findings and how they are shown: the finding, its witness, fix and fingerprint, and every output format. Nothing
//! here knows how a finding came about, and nothing prints: formats return text.

pub mod claim;
pub mod coverage;
pub mod edits;
mod finding;
pub mod fingerprint;
pub mod format;
pub mod lines;
pub mod model;
pub mod names;
pub mod plain;
pub mod report;
pub mod schema;
pub mod sources;
mod spelled;
mod stored;

pub use claim::{AccessKind, Claim, Fault, Shows};
pub use finding::*;
pub use format::{Format, Options};
pub use lines::{CellStart, LineIndex, Position, Units};
pub use report::{FileCounts, Incomplete, Report};
pub use sources::{Source, Sources};
pub use stored::Stored;

/// The tool's name in every format.
pub const TOOL: &str = "cudalint";
/// The tool's version in every format.
pub const TOOL_VERSION: &str = env!("CARGO_PKG_VERSION");
/// The repository, on the network.
pub const HOME: &str = "https://github.com/cudalint/cudalint";
/// Where the pages of the rules lie, by group and name, unless [`Options::rules_url`] says otherwise: in the repository.
pub const RULES_URL: &str = "https://github.com/cudalint/cudalint/blob/main/rules";

/// Address of a rule's page: below the base as the pages lie in the repository.
pub fn rule_url(rules_url: &str, rule: &RuleInfo) -> String {
    format!("{}/{}/{}.md", rules_url.trim_end_matches('/'), rule.group.name(), rule.name)
}
