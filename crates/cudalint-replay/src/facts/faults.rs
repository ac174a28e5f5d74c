//! Mistakes that stand in the source, whatever path is taken.

use cudalint_kernel::report::Site;
use cudalint_program::Name;
use cudalint_program::api::ApiId;
use cudalint_program::ir::{FunctionId, ModuleId};
use cudalint_syntax::Span;

/// A call that the execution spaces forbid.
#[derive(Clone, Debug, PartialEq)]
pub struct SpaceFault {
    /// The function that calls.
    pub caller: FunctionId,
    /// The call's callee as written.
    pub span: Span,
    /// What is called.
    pub callee: String,
    /// Where it is defined; `None` for names of the CUDA headers and the standard library.
    pub declared: Option<Site>,
    /// What is wrong.
    pub kind: SpaceFaultKind,
}

/// Ways in which a call crosses execution spaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpaceFaultKind {
    /// Device code calls a function that exists on the host only.
    DeviceCallsHost,
    /// Host code calls a function that exists on the device only.
    HostCallsDevice,
    /// A kernel is called like a function, without a launch configuration.
    KernelCalled,
}

/// A kernel parameter whose type does not survive the bytewise copy to the device.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterFault {
    /// The kernel.
    pub kernel: FunctionId,
    /// Which parameter.
    pub parameter: u32,
    /// The type as written.
    pub type_name: String,
    /// What is wrong.
    pub kind: ParameterFaultKind,
}

/// Ways in which a kernel parameter's type is not plain data.
#[derive(Clone, Debug, PartialEq)]
pub enum ParameterFaultKind {
    /// A reference: the device would follow a host address.
    Reference,
    /// A host container (`std::vector`, `std::string`): its data stay on the host.
    HostContainer,
    /// The class has virtual functions: the copy's table points to host code.
    Virtual {
        /// The class that declares them.
        class: Site,
    },
    /// The destructor releases what the copy shares with the original, and no copy constructor prevents it.
    ReleasesOnCopy {
        /// The destructor.
        destructor: Site,
        /// The call that releases, as written.
        releases: String,
    },
    /// The destructor releases something under conditions, and no copy constructor is there: at a launch it is one of the two, or
    /// nothing is known.
    MayReleaseOnCopy {
        /// The destructor.
        destructor: (ModuleId, FunctionId),
        /// The calls in it that release, as written.
        releases: Vec<String>,
    },
}

/// A call of a function that some toolkits or architectures no longer have.
#[derive(Clone, Debug, PartialEq)]
pub struct EndedCall {
    /// The function that calls.
    pub caller: FunctionId,
    /// The call's callee as written.
    pub span: Span,
    /// What is called.
    pub api: ApiId,
    /// Whether a condition of the preprocessor stands around it, other than against including a file twice.
    pub conditional: bool,
    /// Whether it stands in a template, of which code is made only where somebody uses it.
    pub in_template: bool,
}

/// A call of CUDA before `main` begins or after it has ended, by an object with static lifetime.
#[derive(Clone, Debug, PartialEq)]
pub struct StaticCall {
    /// The object.
    pub object: Name,
    /// Its declaration.
    pub declared: Site,
    /// The function whose variable it is; `None` for one at namespace scope.
    pub within: Option<FunctionId>,
    /// Whether its end makes the call, after `main`; else its beginning.
    pub after: bool,
    /// The call; `None` where the end of a container frees its elements.
    pub call: Option<MadeCall>,
    /// The condition that the call stands under.
    pub condition: Option<Site>,
}

/// A call of CUDA in some function.
#[derive(Clone, Debug, PartialEq)]
pub struct MadeCall {
    /// What is called.
    pub api: Name,
    /// Where.
    pub site: Site,
    /// The function in which the call stands; empty outside of all.
    pub by: Name,
}

/// A process is forked that has used CUDA, and its child uses CUDA, too.
#[derive(Clone, Debug, PartialEq)]
pub struct ForkFact {
    /// The function that forks.
    pub function: FunctionId,
    /// The call that forks.
    pub fork: Site,
    /// The call of CUDA before.
    pub before: MadeCall,
    /// That of the child.
    pub child: MadeCall,
    /// What forks.
    pub by: Forker,
}

/// What forks a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Forker {
    /// The call of `fork` itself.
    Call,
    /// What starts processes.
    Started {
        /// Its name.
        what: Name,
        /// Whether the program says that it forks; else that hangs on the version and the system.
        sure: bool,
    },
}

/// A function gives back twice what one name means, and nothing between gives the name another value.
#[derive(Clone, Debug, PartialEq)]
pub struct FreedTwice {
    /// The function.
    pub function: FunctionId,
    /// What is called each time.
    pub api: Name,
    /// The name, as it is written.
    pub text: Name,
    /// The first call.
    pub first: Site,
    /// The second.
    pub second: Site,
}
