//! What kernels were checked for and how: the model of the `coverage` document, and its renderings. `docs/coverage.md` explains it.

pub mod page;
pub mod table;

use crate::model::Tool;
use crate::report::Incomplete;
use schemars::JsonSchema;
use serde::Serialize;

/// Version of the document's meaning.
pub const VERSION: u32 = 1;

/// The whole document.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "cudalint coverage")]
pub struct Document {
    /// Version of the document's meaning.
    pub version: u32,
    /// Who wrote it.
    pub tool: Tool,
    /// Kernels in the order of path and line.
    pub kernels: Vec<Kernel>,
    /// What was not read or not analysed as a whole, and why.
    pub incomplete: Vec<Incomplete>,
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct At {
    /// The file.
    pub path: String,
    /// The cell of a notebook, from 0; absent in other files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cell: Option<u32>,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

/// One kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Kernel {
    /// Its name, with template arguments where it has some.
    pub name: String,
    /// Where it is named.
    pub at: At,
    /// How it was executed at best.
    pub executed: Executed,
    /// Its launches in sight.
    pub launches: Vec<Launch>,
    /// Its accesses to memory, device functions that it calls included.
    pub accesses: Accesses,
    /// Those accesses, each at its line.
    pub lines: Vec<Line>,
    /// What could not be followed.
    pub causes: Vec<Cause>,
    /// What surely does not happen, whatever the launch.
    pub absent: Vec<Absent>,
    /// Shared memory of which it is not shown that threads do not race.
    pub open: Vec<Open>,
}

/// How a kernel was executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Executed {
    /// Not at all.
    Not,
    /// With a block that was guessed.
    GuessedBlock,
    /// With one stated assumption.
    Assumption,
    /// With facts, of a grid that is not known the first block alone.
    FirstBlock,
    /// With facts.
    Facts,
}

/// A launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Launch {
    /// Where.
    pub at: At,
    /// How it was executed.
    pub executed: Executed,
    /// Why not with facts; empty where it was, or where nothing is known of the reason.
    pub cause: String,
}

/// Counts of accesses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Accesses {
    /// All of them.
    pub all: usize,
    /// Executed, and the address was known each time.
    pub known: usize,
    /// Executed, and the address was not known.
    pub unknown: usize,
    /// Not executed.
    pub not_executed: usize,
}

/// An access at its line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Line {
    /// Where.
    pub at: At,
    /// What is known of it.
    pub access: Seen,
    /// The values of its subscripts; absent where they are not known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub indices: Vec<Index>,
}

/// The values of a subscript in one launch, over all of its threads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Index {
    /// The subscript with all before it.
    pub at: At,
    /// The launch, which is executed with facts.
    pub launch: At,
    /// Blocks along x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block along x, y, z.
    pub block: [u32; 3],
    /// The least.
    pub least: i64,
    /// The greatest.
    pub most: i64,
    /// Elements of the array or the row; absent where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elements: Option<u64>,
}

/// What is known of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Seen {
    /// Its address was known each time.
    Known,
    /// Nobody came by.
    NotExecuted,
    /// Its address was not known.
    Unknown,
}

/// Something that could not be followed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Cause {
    /// Where.
    pub at: At,
    /// Why, in words.
    pub message: String,
}

/// A statement of absence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Absent {
    /// What does not happen.
    pub kind: AbsentKind,
    /// The variable or parameter that it is about.
    pub object: String,
    /// Its declaration.
    pub at: At,
    /// The size that memory is taken to have; absent where it is as declared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elements: Option<Elements>,
    /// For which blocks.
    pub blocks: Blocks,
    /// The statement, in words.
    pub message: String,
}

/// A size of memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Elements {
    /// How many elements, in the names of the source.
    pub count: String,
    /// Bytes of one, as the kernel accesses it.
    pub bytes: u32,
}

/// Kinds of statements of absence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AbsentKind {
    /// No two threads of a block race in this shared memory.
    Race,
    /// No access leaves this memory.
    OutOfBounds,
}

/// The blocks that a statement is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Blocks {
    /// Along how many axes there may be more than one thread.
    pub axes: u8,
    /// Most threads along x, y, z; null where any number is meant.
    pub most: [Option<u32>; 3],
    /// Whether exactly so many are meant.
    pub exactly: bool,
}

/// Shared memory of which nothing is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Open {
    /// The variable.
    pub object: String,
    /// Where what stands against it is.
    pub at: At,
    /// Why, in words.
    pub message: String,
}

impl Executed {
    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Not => "not",
            Self::GuessedBlock => "guessed block",
            Self::Assumption => "assumption",
            Self::FirstBlock => "facts, first block",
            Self::Facts => "facts",
        }
    }
}

impl Blocks {
    /// In words.
    pub fn words(&self) -> String {
        let sizes: Vec<String> = (0..usize::from(self.axes))
            .map(|axis| {
                self.most.get(axis).copied().flatten().map_or_else(|| "any".to_owned(), |most| most.to_string())
            })
            .collect();
        let sizes = sizes.join(" × ");
        let bounded = self.most.iter().any(Option::is_some);
        match (self.exactly, bounded, self.axes) {
            (true, ..) => format!("every block of {sizes} threads"),
            (false, true, _) => format!("every block of at most {sizes} threads"),
            (false, false, 1) => "every block of one row".to_owned(),
            (false, false, 2) => "every block of two dimensions".to_owned(),
            (false, false, _) => "every block".to_owned(),
        }
    }
}

impl Document {
    /// With kernels in order.
    pub fn new(mut kernels: Vec<Kernel>, incomplete: Vec<Incomplete>) -> Self {
        kernels.sort_by(|a, b| (&a.at, &a.name).cmp(&(&b.at, &b.name)));
        let tool = Tool { name: crate::TOOL.to_owned(), version: crate::TOOL_VERSION.to_owned() };
        Self { version: VERSION, tool, kernels, incomplete }
    }

    /// As JSON, indented, with a line break at its end.
    pub fn json(&self) -> String {
        let mut out = crate::plain::to_json(self, true);
        out.push('\n');
        out
    }
}

/// The schema of the document (JSON Schema 2020-12), indented, with a line break at its end.
pub fn schema() -> String {
    let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
    let schema = settings.into_generator().into_root_schema_for::<Document>();
    let mut out = crate::plain::to_json(&schema, true);
    out.push('\n');
    out
}
