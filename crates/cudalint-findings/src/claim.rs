//! The claim of a finding: what a run has to show, as data. Messages, labels and help are words beside it, for people;
//! whoever decides anything goes by the claim. It is written once for both uses: with byte ranges inside of a run
//! (`Claim<Place>`), and with lines and columns in the findings document (`Claim<Site>`).

use crate::spelled::spelled;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a run has to show. The finding's own place and function belong to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Claim")]
pub struct Claim<S> {
    /// What is seen.
    pub shows: Shows<S>,
    /// The kernel that it is seen in, or that is launched; null where none is known or it is about none.
    pub kernel: Option<String>,
    /// The launch; null where none matters, or its numbers are not known.
    pub launch: Option<Launch<S>>,
    /// Inputs with the values under which it is seen: what a program that shows it has to be given.
    #[serde(serialize_with = "crate::model::write_bindings", deserialize_with = "crate::model::read_bindings")]
    #[schemars(with = "std::collections::BTreeMap<String, i64>")]
    pub inputs: Vec<(String, i64)>,
    /// Other places that take part in it: the other calls whose status is dropped, the other access, the other barrier.
    pub sites: Vec<S>,
    /// How many devices a program has to see; where nothing is said, one.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub devices: u32,
}

const fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
const fn is_one(devices: &u32) -> bool {
    *devices == 1
}

/// What is seen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(rename = "Shows")]
pub enum Shows<S> {
    /// Nothing: the finding is about the text alone.
    #[default]
    Nothing,
    /// The compiler refuses the program.
    CompileError,
    /// A call returns the status of a failure of its own, or moves bytes beyond an object of the host.
    FailedCall {
        /// The call.
        call: Call<S>,
    },
    /// A launch is refused: by the driver, or before that by whoever compiles the kernel.
    RefusedLaunch {
        /// What there is too much or too little of.
        of: Resource,
    },
    /// One thread's access goes wrong.
    Access {
        /// What is wrong with it.
        fault: AccessFault,
        /// What it goes to.
        object: Object,
        /// The access; none where no thread of it is known.
        accesses: Vec<Access<S>>,
    },
    /// Two accesses touch one element, and nothing orders them.
    Race {
        /// What they go to.
        object: Object,
        /// Both accesses; none where it is known of no two threads that they meet.
        accesses: Vec<Access<S>>,
    },
    /// An address is used where it is none: it leads to memory of the other side, or nowhere.
    BadAddress {
        /// The pointer or argument, as it is written.
        name: String,
        /// Who uses it.
        user: User<S>,
    },
    /// Memory of the device, or locked memory of the host, is never given back: who allocates it stands at the finding's place.
    Leak {
        /// The pointer that holds it, as it is written.
        name: String,
    },
    /// A barrier, or an operation of a warp, that not all reach who should.
    Barrier,
    /// Memory holds other than what the code means.
    Memory {
        /// In what it differs.
        difference: Difference<S>,
    },
    /// Something is done before work that was started is done, and nothing makes it wait.
    TooEarly {
        /// Where the work is started: a launch, a copy, a set.
        work: S,
        /// What is done, at the finding's place.
        then: Then,
        /// The memory that both use, as it is written at the finding's place; null where it is about none.
        memory: Option<String>,
    },
    /// The code at the place costs more than it need.
    Cost {
        /// What there is too much of.
        of: Cost,
    },
    /// A status that nobody reads, or that the code which should read it loses.
    UnreadStatus {
        /// What is made to fail to show it.
        fault: Fault,
    },
    /// An exception of Python.
    Exception {
        /// Names of its class, without their module; one of them is raised.
        classes: Vec<String>,
        /// What its message always has.
        words: Vec<String>,
    },
}

/// A call of the host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Call")]
pub struct Call<S> {
    /// The function: one of CUDA's, or a method or function of a Python package.
    pub function: String,
    /// The argument that matters, as it is written; null where none does.
    pub argument: Option<String>,
    /// Where it stands; null where it is the finding's own place.
    pub site: Option<S>,
    /// The status that it returns, where that mostly says something of the machine; null where any failure of its own will do.
    pub status: Option<i64>,
}

/// What a launch asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Resource {
    /// Blocks of the grid.
    Blocks,
    /// Threads of a block.
    Threads,
    /// Shared memory of a block.
    SharedMemory,
}

/// What can be wrong with one access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AccessFault {
    /// It leaves its object.
    OutOfBounds,
    /// Its address is no multiple of what its type needs.
    Misaligned,
    /// It reads what nothing has written.
    Unwritten,
    /// It writes memory that can only be read.
    ReadOnly,
    /// Its index is below zero, which Python counts from the end.
    NegativeIndex,
}

/// Memory that has a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Object {
    /// Its name where it is used; empty where it has none.
    pub name: String,
    /// Where it lies.
    pub space: Space,
    /// Its size; null where that is not known.
    pub bytes: Option<u64>,
}

/// Where memory lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Space {
    /// The device's, for all threads.
    Global,
    /// A block's.
    Shared,
    /// A thread's.
    Local,
    /// The device's, to be read only.
    Constant,
}

/// One access by one thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Access")]
pub struct Access<S> {
    /// Kind.
    pub kind: AccessKind,
    /// Element index.
    pub index: i64,
    /// Elements that the object has, as this access counts them.
    pub extent: i64,
    /// Block index.
    pub block: [u64; 3],
    /// Thread index.
    pub thread: [u64; 3],
    /// Where it stands.
    pub site: S,
    /// The function in which it stands, where that is one that the kernel calls: a tool may name it instead of the kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
}

spelled! {
    /// Kinds of memory accesses.
    pub enum AccessKind {
        /// Reads.
        Read = "read",
        /// Writes.
        Write = "write",
        /// An atomic operation.
        Atomic = "atomic",
    }
}

/// A kernel launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Launch")]
pub struct Launch<S> {
    /// Where it stands.
    pub site: S,
    /// Blocks along x, y, z.
    pub grid: [u64; 3],
    /// Threads of a block along x, y, z.
    pub block: [u64; 3],
    /// Dynamic shared memory in bytes.
    pub shared_bytes: u64,
}

/// Who uses an address.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(rename = "User")]
pub enum User<S> {
    /// The host dereferences it.
    Host,
    /// A kernel is given it.
    Kernel {
        /// Its parameter; null where it is not known.
        parameter: Option<String>,
    },
    /// A call is given it.
    Call {
        /// The call.
        call: Call<S>,
    },
}

/// In what memory differs from what the code means.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(rename = "Difference")]
pub enum Difference<S> {
    /// Elements do not hold the value that a call sets.
    Value {
        /// The value.
        value: i64,
    },
    /// A call does not reach all of its memory.
    Extent,
    /// A launch does not reach all elements.
    Coverage {
        /// Threads of the launch.
        threads: u64,
        /// Elements that they are for.
        elements: u64,
    },
    /// Two arrays begin at one address.
    SameAddress {
        /// Their names in the order of their declarations.
        names: [String; 2],
        /// Where the second is used.
        used: S,
    },
    /// A kernel takes an argument's bytes for something else.
    Argument {
        /// The parameter.
        parameter: String,
    },
    /// A kernel was compiled with a value that has changed since.
    Captured {
        /// The variable.
        name: String,
    },
    /// A kernel leaves other memory where the compiler does not believe that a parameter's memory is reached through it alone.
    Promise {
        /// The parameter.
        parameter: String,
    },
    /// The host reads its own array, which has a newer copy on the device.
    Stale {
        /// The array.
        name: String,
    },
}

/// What is done before work that was started is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Then {
    /// The host reads memory that the work writes.
    Read,
    /// The host writes memory that the work uses.
    Write,
    /// The memory is freed in the order of another stream.
    Free,
    /// Work of another stream is started that uses the memory.
    Work,
    /// The host reads a clock, to know how long the work takes.
    Clock,
}

/// What costs more than it need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cost {
    /// Sectors of global memory: at least four times as many as would do.
    Sectors,
    /// Passes over shared memory: at least twice as many as would do.
    Passes,
    /// Instructions in double precision.
    Double,
    /// Threads that a multiprocessor holds: fewer than a quarter of those that it could.
    Threads,
    /// A call that waits for what the next one waits for, too; that one is a site of the claim.
    Wait,
    /// A barrier that no two threads need.
    Barrier,
    /// Copies of an array of the host for each launch.
    Transfers,
}

/// What is made to fail to show that nobody looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// The call at the place: its status.
    Status,
    /// The launch at the place: it is refused.
    Launch,
    /// The kernel launched at the place, while it runs.
    Asynchronous,
    /// The compilation at the place: nobody asks for the compiler's words.
    Log,
    /// Nothing: the launch at the place is not made, and the program does the same.
    Skipped,
    /// Nothing: the checker at the place, built otherwise, drops the calls that it is given.
    DroppedCall,
    /// A call that the checker at the place is given, which it makes again.
    RepeatedCall,
    /// What the checker at the place asks about, which its first look at the last error clears.
    ClearedError,
}

impl<S> Default for Claim<S> {
    fn default() -> Self {
        Shows::Nothing.into()
    }
}

impl<S> From<Shows<S>> for Claim<S> {
    fn from(shows: Shows<S>) -> Self {
        Self { shows, kernel: None, launch: None, inputs: Vec::new(), sites: Vec::new(), devices: 1 }
    }
}

impl<S> Claim<S> {
    /// The accesses that are named, with their threads.
    pub fn accesses(&self) -> &[Access<S>] {
        match &self.shows {
            Shows::Access { accesses, .. } | Shows::Race { accesses, .. } => accesses,
            _ => &[],
        }
    }

    /// The memory that the accesses go to.
    pub fn object(&self) -> Option<&Object> {
        match &self.shows {
            Shows::Access { object, .. } | Shows::Race { object, .. } => Some(object),
            _ => None,
        }
    }

    /// The call that it is about.
    pub fn call(&self) -> Option<&Call<S>> {
        match &self.shows {
            Shows::FailedCall { call } | Shows::BadAddress { user: User::Call { call }, .. } => Some(call),
            _ => None,
        }
    }

    /// Adds an access, where it is about accesses.
    pub fn add_access(&mut self, access: Access<S>) {
        if let Shows::Access { accesses, .. } | Shows::Race { accesses, .. } = &mut self.shows {
            accesses.push(access);
        }
    }

    /// Every place in it.
    pub fn places(&self) -> Vec<&S> {
        let mut all = Vec::new();
        all.extend(self.launch.iter().map(|launch| &launch.site));
        all.extend(self.accesses().iter().map(|access| &access.site));
        all.extend(self.call().and_then(|call| call.site.as_ref()));
        if let Shows::Memory { difference: Difference::SameAddress { used, .. } } = &self.shows {
            all.push(used);
        }
        if let Shows::TooEarly { work, .. } = &self.shows {
            all.push(work);
        }
        all.extend(&self.sites);
        all
    }

    /// The same with every place put another way.
    pub fn map<T>(&self, place: &dyn Fn(&S) -> T) -> Claim<T> {
        Claim {
            shows: self.shows.map(place),
            kernel: self.kernel.clone(),
            launch: self.launch.as_ref().map(|launch| Launch {
                site: place(&launch.site),
                grid: launch.grid,
                block: launch.block,
                shared_bytes: launch.shared_bytes,
            }),
            inputs: self.inputs.clone(),
            sites: self.sites.iter().map(place).collect(),
            devices: self.devices,
        }
    }
}

impl<S> Shows<S> {
    fn map<T>(&self, place: &dyn Fn(&S) -> T) -> Shows<T> {
        let all = |accesses: &[Access<S>]| accesses.iter().map(|access| access.map(place)).collect();
        match self {
            Self::Nothing => Shows::Nothing,
            Self::CompileError => Shows::CompileError,
            Self::FailedCall { call } => Shows::FailedCall { call: call.map(place) },
            Self::RefusedLaunch { of } => Shows::RefusedLaunch { of: *of },
            Self::Access { fault, object, accesses } => {
                Shows::Access { fault: *fault, object: object.clone(), accesses: all(accesses) }
            }
            Self::Race { object, accesses } => Shows::Race { object: object.clone(), accesses: all(accesses) },
            Self::BadAddress { name, user } => Shows::BadAddress {
                name: name.clone(),
                user: match user {
                    User::Host => User::Host,
                    User::Kernel { parameter } => User::Kernel { parameter: parameter.clone() },
                    User::Call { call } => User::Call { call: call.map(place) },
                },
            },
            Self::Leak { name } => Shows::Leak { name: name.clone() },
            Self::Barrier => Shows::Barrier,
            Self::Memory { difference } => Shows::Memory { difference: difference.map(place) },
            Self::TooEarly { work, then, memory } => {
                Shows::TooEarly { work: place(work), then: *then, memory: memory.clone() }
            }
            Self::Cost { of } => Shows::Cost { of: *of },
            Self::UnreadStatus { fault } => Shows::UnreadStatus { fault: *fault },
            Self::Exception { classes, words } => Shows::Exception { classes: classes.clone(), words: words.clone() },
        }
    }

    /// An exception of one of these classes, whose message has these words.
    pub fn exception(classes: &[&str], words: &[&str]) -> Self {
        let owned = |list: &[&str]| list.iter().map(|word| (*word).to_owned()).collect();
        Self::Exception { classes: owned(classes), words: owned(words) }
    }
}

impl<S> Difference<S> {
    fn map<T>(&self, place: &dyn Fn(&S) -> T) -> Difference<T> {
        match self {
            Self::Value { value } => Difference::Value { value: *value },
            Self::Extent => Difference::Extent,
            Self::Coverage { threads, elements } => Difference::Coverage { threads: *threads, elements: *elements },
            Self::SameAddress { names, used } => Difference::SameAddress { names: names.clone(), used: place(used) },
            Self::Argument { parameter } => Difference::Argument { parameter: parameter.clone() },
            Self::Captured { name } => Difference::Captured { name: name.clone() },
            Self::Promise { parameter } => Difference::Promise { parameter: parameter.clone() },
            Self::Stale { name } => Difference::Stale { name: name.clone() },
        }
    }
}

impl<S> Call<S> {
    /// A call at the finding's own place.
    pub fn of(function: impl Into<String>) -> Self {
        Self { function: function.into(), argument: None, site: None, status: None }
    }

    fn map<T>(&self, place: &dyn Fn(&S) -> T) -> Call<T> {
        Call {
            function: self.function.clone(),
            argument: self.argument.clone(),
            site: self.site.as_ref().map(place),
            status: self.status,
        }
    }
}

impl<S> Access<S> {
    fn map<T>(&self, place: &dyn Fn(&S) -> T) -> Access<T> {
        Access {
            kind: self.kind,
            index: self.index,
            extent: self.extent,
            block: self.block,
            thread: self.thread,
            site: place(&self.site),
            function: self.function.clone(),
        }
    }
}
