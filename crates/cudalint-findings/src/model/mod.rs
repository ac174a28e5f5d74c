//! The findings document as other tools read it: the serde model of the `json` format, from which its schema is made.
//! A change of meaning raises [`VERSION`].

mod entries;
mod restore;

use crate::claim::{self, AccessKind, Claim};
pub use crate::finding::{Applicability, Confidence, Evidence, EvidenceRecord, Group, Method, Severity, Verdict};
pub use crate::lines::Position;
pub use crate::report::{Incomplete, Summary};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Version of the document's meaning.
pub const VERSION: u32 = 2;

/// The whole output of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "cudalint findings")]
pub struct Document {
    /// Version of the document's meaning.
    pub version: u32,
    /// Who wrote it.
    pub tool: Tool,
    /// In the order of path, offset, rule.
    pub findings: Vec<FindingEntry>,
    /// Files of the run.
    pub files: Files,
    /// Findings by level.
    pub summary: Summary,
    /// What was not read or not analysed as a whole, and why; findings may be missing there.
    #[serde(default)]
    pub incomplete: Vec<Incomplete>,
}

/// The program that wrote a document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// `cudalint`.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// How many files a run met.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Files {
    /// Read and linted.
    pub checked: usize,
    /// Found but not linted.
    pub skipped: usize,
    /// Linted files of which a part could not be parsed.
    pub damaged: usize,
    /// Files and folders in `incomplete`.
    #[serde(default)]
    pub incomplete: usize,
}

/// One defect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindingEntry {
    /// Name of the rule.
    pub rule: String,
    /// Group of the rule.
    pub group: Group,
    /// How bad, after settings.
    pub severity: Severity,
    /// How sure.
    pub confidence: Confidence,
    /// One sentence.
    pub message: String,
    /// As given on the command line, joined with what was found below it; `/` on every system.
    pub path: String,
    /// Where.
    pub range: Range,
    /// The function around it; null at file scope.
    pub function: Option<String>,
    /// Other places that matter.
    pub related: Vec<Related>,
    /// What a run has to show.
    pub claim: Claim<Site>,
    /// Why it is true, for people; null where the place says it all.
    pub witness: Option<Witness>,
    /// How a GPU run would show it, and what one has shown.
    pub verification: Verification,
    /// A change that mends it; null where none is offered.
    pub fix: Option<Fix>,
    /// The same for the same defect after unrelated edits above it; different for two defects of one rule in one
    /// function.
    pub fingerprint: String,
    /// The rule's page.
    pub url: String,
}

/// A range of a file.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// First character.
    pub start: Position,
    /// The character after the last.
    pub end: Position,
}

impl Range {
    /// Its first and last line; of a line at whose first column it ends it has nothing.
    pub fn lines(&self) -> (u32, u32) {
        let whole = self.end.column <= 1 && self.end.line > self.start.line;
        (self.start.line, if whole { self.end.line - 1 } else { self.end.line })
    }
}

/// A place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Site {
    /// The file.
    pub path: String,
    /// Where in it.
    pub range: Range,
}

impl Site {
    /// Its first line.
    pub fn line(&self) -> u32 {
        self.range.start.line
    }
}

/// A kernel launch of a claim.
pub type Launch = claim::Launch<Site>;
/// One access by one thread of a claim.
pub type Access = claim::Access<Site>;

/// A place with words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Related {
    /// The file.
    pub path: String,
    /// Where in it.
    pub range: Range,
    /// What is there.
    pub message: String,
}

/// Why the finding is true. Launch and accesses are those of the claim, by their lines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Witness {
    /// The launch, where one matters.
    pub launch: Option<WitnessLaunch>,
    /// Names and the values they have.
    #[serde(serialize_with = "write_bindings", deserialize_with = "read_bindings")]
    #[schemars(with = "std::collections::BTreeMap<String, i64>")]
    pub bindings: Vec<(String, i64)>,
    /// The accesses; two for a race.
    pub accesses: Vec<WitnessAccess>,
    /// What is assumed; empty for a definite finding.
    pub assumptions: Vec<String>,
    /// The way there.
    pub path: Vec<Step>,
}

/// A kernel launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WitnessLaunch {
    /// File of the launch.
    pub path: String,
    /// Its cell, in a notebook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<u32>,
    /// Its line, from 1.
    #[schemars(range(min = 1))]
    pub line: u32,
    /// Blocks along x, y, z.
    pub grid: [u64; 3],
    /// Threads of a block along x, y, z.
    pub block: [u64; 3],
    /// Dynamic shared memory in bytes.
    pub shared_bytes: u64,
}

/// One access by one thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WitnessAccess {
    /// Block index.
    pub block: [u64; 3],
    /// Thread index.
    pub thread: [u64; 3],
    /// Kind.
    pub kind: AccessKind,
    /// Element index.
    pub index: i64,
    /// Elements that the object has.
    pub extent: i64,
    /// Cell of the access, in a notebook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<u32>,
    /// Line of the access, from 1.
    #[schemars(range(min = 1))]
    pub line: u32,
}

/// One step of the way to a defect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The file.
    pub path: String,
    /// The cell, in a notebook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<u32>,
    /// Line, from 1.
    #[schemars(range(min = 1))]
    pub line: u32,
    /// What happens there.
    pub note: String,
}

/// How a GPU run would show a finding, and what one has shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Verification {
    /// How a run would show it.
    pub method: Method,
    /// Null after a check alone.
    pub verdict: Option<Verdict>,
    /// What the verdict rests on; only beside a verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
}

/// A proposed change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fix {
    /// How far it can be trusted.
    pub applicability: Applicability,
    /// What it does, in the imperative.
    pub message: String,
    /// The edits; they do not overlap.
    pub edits: Vec<Edit>,
}

/// A change of text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// The file.
    pub path: String,
    /// What is replaced.
    pub range: Range,
    /// By what.
    pub text: String,
}

/// Bindings as an object in their own order. A name that comes twice keeps its first value.
pub(crate) fn write_bindings<S: Serializer>(bindings: &[(String, i64)], serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serde_json::Map::new();
    for (name, value) in bindings {
        map.entry(name.as_str()).or_insert_with(|| (*value).into());
    }
    map.serialize(serializer)
}

/// The reverse of [`write_bindings`].
pub(crate) fn read_bindings<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<(String, i64)>, D::Error> {
    use serde::de::Error;
    let map = serde_json::Map::deserialize(deserializer)?;
    map.into_iter()
        .map(|(name, value)| match value.as_i64() {
            Some(value) => Ok((name, value)),
            None => Err(Error::custom(format!("the value of `{name}` is not a whole number of 64 bits"))),
        })
        .collect()
}
