//! The findings document as other tools read it: the serde model of the `json` format, from which its schema is made.
//! A change of meaning raises [`VERSION`].

mod entries;
mod restore;

use crate::claim::{self, AccessKind, Claim};
use crate::finding;
use crate::report::Incomplete;
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

/// Findings by level.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Summary {
    pub error: usize,
    pub warning: usize,
    pub info: usize,
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

/// A character of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Position {
    /// In a notebook the cell, from 0 among all its cells; lines count from the cell's first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<u32>,
    /// From 1.
    #[schemars(range(min = 1))]
    pub line: u32,
    /// From 1, in Unicode scalar values.
    #[schemars(range(min = 1))]
    pub column: u32,
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

/// What a verdict rests on. Paths are relative to the outcome folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// Tool and version.
    pub back_end: String,
    /// The GPU; null where nothing ran.
    pub device: Option<String>,
    /// What the tool reported.
    pub records: Vec<EvidenceRecord>,
    /// The command that ran.
    pub command: Option<String>,
    /// File with its output.
    pub log: Option<String>,
    /// Program that shows the defect again.
    pub reproducer: Option<String>,
}

/// One report of a tool about a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EvidenceRecord {
    /// What the tool calls it.
    pub kind: String,
    /// The kernel, where the tool names one.
    pub kernel: Option<String>,
    /// The file.
    pub path: Option<String>,
    /// Its cell, in a notebook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<u32>,
    /// Line, from 1.
    pub line: Option<u32>,
    /// Block index.
    pub block: Option<[u64; 3]>,
    /// Thread index.
    pub thread: Option<[u64; 3]>,
    /// The tool's words.
    pub text: String,
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

/// A closed set of words that mirrors an enum of [`finding`].
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum $name { $($(#[$variant_doc])* $variant),* }

        impl From<finding::$name> for $name {
            fn from(value: finding::$name) -> Self {
                match value { $(finding::$name::$variant => Self::$variant),* }
            }
        }

        impl From<$name> for finding::$name {
            fn from(value: $name) -> Self {
                match value { $($name::$variant => Self::$variant),* }
            }
        }
    };
}

words! {
    /// How bad a finding is.
    Severity { /** Should not be there. */ Error, /** Should be looked at. */ Warning, /** Good to know. */ Info }
}
words! {
    /// How sure a finding is.
    Confidence {
        /// The witness follows from facts in the source.
        Definite,
        /// Rests on exactly the assumptions listed.
        Likely,
        /// Off by default.
        Possible,
    }
}
words! {
    /// Group of a rule.
    #[allow(missing_docs)]
    Group { Correctness, Suspicious, Portability, Performance, Pedantic, Preview }
}
words! {
    /// How a GPU run would show a finding.
    #[allow(missing_docs)]
    Method {
        Memcheck, Racecheck, Initcheck, Synccheck, Leakcheck, ApiError, Exception, Output, Watchpoint, FaultInjection,
        None,
    }
}
words! {
    /// How far a fix can be trusted.
    Applicability {
        /// A correct program keeps its meaning.
        Safe,
        /// Needs review.
        Unsafe,
        /// For reading only.
        Display,
    }
}
words! {
    /// What a GPU run said.
    Verdict {
        /// Evidence of this kind at this kernel and line.
        Confirmed,
        /// It ran, and nothing was seen.
        NotObserved,
        /// The witness's own access ran and was in bounds, or its call succeeded.
        Refuted,
        /// No program could be built.
        Unviable,
        /// It ran out of time.
        Timeout,
        /// No device, tool or architecture for it.
        Unsupported,
    }
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
