//! What the guidelines ask for, in our words, and what of it no rule looks at.

/// A guideline.
pub struct Guideline {
    /// Its number, as rules name it.
    pub number: &'static str,
    /// What it asks for.
    pub asks: &'static str,
    /// What of it no rule sees, with the reason; for one without a rule, why there is none.
    pub unseen: &'static str,
}

/// A chapter with its guidelines.
pub struct Chapter {
    /// Its heading.
    pub title: &'static str,
    /// In the order of their numbers.
    pub guidelines: &'static [Guideline],
}

const fn guideline(number: &'static str, asks: &'static str, unseen: &'static str) -> Guideline {
    Guideline { number, asks, unseen }
}

/// The chapters of NVIDIA's document, and what a commercial checker has beside them.
pub const CHAPTERS: &[Chapter] = &[
    Chapter {
        title: "General",
        guidelines: &[
            guideline(
                "CUDA-1.1",
                "No CUDA before `main` begins or after it ends",
                "objects whose constructors or destructors are templates or out of sight",
            ),
            guideline(
                "CUDA-1.2",
                "Wait for every device before the program ends",
                "several devices: which of them is the current one, the walk of the host's code does not follow",
            ),
            guideline(
                "CUDA-1.3",
                "Look at the status of every call",
                "statuses that code out of sight is given: it may look at them",
            ),
            guideline("CUDA-1.4", "Ask for the last error behind every launch", "launches in code out of sight"),
            guideline(
                "CUDA-1.5",
                "A `CUdevice` is a handle and no number",
                "arithmetic on one: no defect of that kind was found in public code, and drivers number devices from 0 on",
            ),
            guideline(
                "CUDA-1.6",
                "Behind `fork` the child does nothing before `exec`",
                "forks whose two sides are told apart in another function, and in Python processes whose functions are methods or are not in sight",
            ),
            guideline(
                "CUDA-1.7",
                "All declarations of a function have the same execution space",
                "all of it: the compiler refuses declarations that differ, or says so itself",
            ),
            guideline(
                "CUDA-1.8",
                "What a kernel takes by value is plain data",
                "types whose definition is out of sight",
            ),
            guideline(
                "CUDA-1.9",
                "What a kernel takes by reference is managed",
                "references to what is no variable of the launching function: it may be managed",
            ),
            guideline(
                "CUDA-1.10",
                "No declaration hangs on `__CUDA_ARCH__`",
                "all of it: where both passes read different branches, most public code is right, since only one side uses the name",
            ),
            guideline(
                "CUDA-1.11",
                "CUDA's own names are not defined as macros",
                "all of it: projects that define `__device__` themselves build the file for the host, and our rules believe them",
            ),
            guideline(
                "CUDA-1.12",
                "Device code does not write constant memory",
                "pointers that may lead to other memory",
            ),
            guideline("CUDA-1.13", "No `thread_local` object in device code", "all of it: the compiler refuses it"),
            guideline(
                "CUDA-1.14",
                "A barrier of the block is met by all its threads that are active",
                "conditions that hang on data: one that is the same for all threads is right",
            ),
        ],
    },
    Chapter {
        title: "Collectives",
        guidelines: &[
            guideline("CUDA-2.1", "The mask names only lanes that take part", "masks that are computed from data"),
            guideline(
                "CUDA-2.2",
                "The width of a shuffle is a power of two up to 32",
                "widths that are computed from data",
            ),
            guideline("CUDA-2.3", "Every lane that takes part is in the mask", "masks that are computed from data"),
            guideline(
                "CUDA-2.4",
                "All lanes of a mask reach the same `__syncwarp`",
                "lanes that part at a condition on data: whether it is the same for the warp nobody knows",
            ),
        ],
    },
    Chapter {
        title: "Execution spaces",
        guidelines: &[
            guideline(
                "CUDA-3.1",
                "A function is called only on the side that it is made for",
                "calls through templates and macros",
            ),
            guideline(
                "CUDA-3.2",
                "A pointer to a function is used on the side that took its address",
                "all of it: pointers to functions are not followed to the other side",
            ),
            guideline(
                "CUDA-3.3",
                "An object is used on the side that it belongs to",
                "pointers whose memory is not known, and variables that the compiler refuses on the other side itself",
            ),
            guideline(
                "CUDA-3.4",
                "A kernel has one `extern __shared__` array",
                "arrays that overlap on purpose: one of them that is not used, or both read as the same type",
            ),
            guideline(
                "CUDA-3.5",
                "Pointers with `__restrict__` do not lead to the same object",
                "calls of functions of the host and the device; elements that the kernel does not reach by one index, and pointers of unknown origin",
            ),
        ],
    },
    Chapter {
        title: "Launches",
        guidelines: &[
            guideline("CUDA-4.1", "A kernel is launched with a configuration", "calls through templates and macros"),
            guideline(
                "CUDA-4.2",
                "Only a kernel is launched with a configuration",
                "all of it: the compiler refuses it",
            ),
            guideline(
                "CUDA-4.3",
                "No argument of a kernel has virtual functions",
                "types whose definition is out of sight",
            ),
            guideline(
                "CUDA-4.4",
                "All declarations of a kernel have the same launch bounds",
                "all of it: of 49 kernels with bounds in the projects that were read none is declared elsewhere with others; launches are held to those of the definition",
            ),
        ],
    },
    Chapter {
        title: "Critical safety",
        guidelines: &[
            guideline(
                "CUDASafety-1: callbacks",
                "No callbacks",
                "all of it: a restriction of the language for certified software, and no defect",
            ),
            guideline("CUDASafety-1: asm", "No `asm` in device code", "all of it: a restriction as above"),
            guideline(
                "CUDASafety-1: operators",
                "No operators that devices do not have",
                "all of it: the compiler refuses them",
            ),
            guideline(
                "CUDASafety-1: types",
                "No types that devices do not have",
                "all of it: the compiler refuses them",
            ),
            guideline(
                "CUDASafety-1: const",
                "`const` variables of the host are used on the device only by value",
                "all of it: the compiler refuses the rest",
            ),
            guideline(
                "CUDASafety-1: constexpr",
                "`constexpr` variables of the host are used on the device only by value",
                "all of it: the compiler refuses the rest",
            ),
            guideline(
                "CUDASafety-2.1",
                "Functions whose space is deduced are not called through pointers",
                "all of it: pointers to functions are not followed to the other side",
            ),
            guideline(
                "CUDASafety-3.1",
                "No launch inside of a launch's configuration",
                "all of it: a restriction as above",
            ),
            guideline("CUDASafety-3.2", "No launch from device code", "all of it: a restriction as above"),
        ],
    },
    Chapter {
        title: "Directives",
        guidelines: &[
            guideline(
                "CUDADirective-1: names",
                "Files have the usual endings",
                "all of it: a convention, and no defect",
            ),
            guideline(
                "CUDADirective-1: owners",
                "Constructors and destructors own resources",
                "how a resource is owned: only one that is lost on some path is reported",
            ),
            guideline(
                "CUDADirective-1: shared",
                "Shared memory gets a value before it is read",
                "places in shared memory that hang on data",
            ),
            guideline(
                "CUDADirective-1: no CUDA",
                "Callbacks do not call CUDA",
                "all of it: callbacks are not walked as such",
            ),
            guideline(
                "CUDADirective-1: waits",
                "Callbacks do not wait for each other",
                "all of it: callbacks are not walked as such",
            ),
        ],
    },
    Chapter {
        title: "What a commercial checker has beside them",
        guidelines: &[
            guideline("CUDASecurity-ARR01", "No index leaves its array in a kernel", "indices that hang on data"),
            guideline(
                "CUDASecurity-CON01",
                "Bit-fields of one unit are not written by several threads",
                "all of it: what is packed into a unit is the compiler's choice",
            ),
            guideline(
                "CUDASecurity-CON02",
                "What a lock guards has no neighbours that it does not guard",
                "all of it: host threads are not followed",
            ),
            guideline(
                "CUDASecurity: library functions",
                "Library functions with a state are not called from several threads",
                "all of it: host threads are not followed",
            ),
            guideline(
                "CUDASecurity: data races",
                "No two threads meet at one place unordered",
                "places that hang on data; host threads",
            ),
            guideline(
                "CUDASecurity: lock order",
                "Locks are taken in one order",
                "all of it: locks of kernels are followed one at a time",
            ),
            guideline(
                "CUDASecurity: spurious failures",
                "What may fail for no reason is tried again",
                "all of it: host threads are not followed",
            ),
            guideline(
                "CUDASecurity: memory specifiers",
                "A variable has one memory specifier",
                "all of it: the compiler refuses two",
            ),
            guideline(
                "CUDASecurity: leaks of information",
                "Padding does not carry old bytes to somebody else",
                "all of it: who is somebody else, the source does not say",
            ),
            guideline(
                "CUDASecurity-ERR01",
                "Errors of the runtime library are found and handled",
                "statuses that code out of sight is given",
            ),
            guideline(
                "CUDASecurity: va_arg types",
                "`va_arg` names the right type",
                "all of it: a matter of C, not of CUDA",
            ),
            guideline(
                "CUDASecurity: va_list",
                "`va_arg` is given a list that has begun",
                "all of it: a matter of C, not of CUDA",
            ),
            guideline(
                "CUDASecurity: sizeof",
                "Operands of `sizeof` do nothing",
                "all of it: a matter of C, not of CUDA",
            ),
            guideline(
                "CUDA: no collectives",
                "No warp-wide operations at all",
                "all of it: a restriction for certified software; what is wrong in their use is CUDA-2.1 to CUDA-2.4",
            ),
        ],
    },
];
