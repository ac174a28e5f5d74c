//! A report made by hand that every format's tests share: two files, a race with two accesses, fixes, characters of
//! one to four bytes, CRLF, and a finding at the end of a file.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used)]

use cudalint_findings::claim::{AccessFault, Object, Space};
use cudalint_findings::*;
use std::sync::Arc;

pub const SCALE: &str = "src/scale é.cu";
pub const REDUCE: &str = "src/reduce.cu";

pub const SCALE_TEXT: &str = "\
// Größe, 漢字 and 😀 before the kernel
__global__ void scale(float *data, int size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    /* 😀 漢 */ data[i] *= 2.0f;
}

int main() {
    const int size = 1000;
    float *d_data;
    cudaMalloc(&d_data, size);
    scale<<<4, 256>>>(d_data, size);
    cudaFree(d_data);
}";

pub const REDUCE_TEXT: &str = "\
__global__ void reduce(int *out) {\r
\t__shared__ int s[256];\r
\ts[threadIdx.x] = threadIdx.x;\r
\tout[threadIdx.x] = s[255 - threadIdx.x];\r
}\r
";

pub static CHECKED_API: RuleInfo = RuleInfo {
    name: "unchecked-api-call",
    group: Group::Suspicious,
    summary: "The status of a CUDA call is thrown away.",
    page: "# unchecked-api-call\n\nThe status of a CUDA call is thrown away.\n",
    method: Method::FaultInjection,
    guidelines: &["CUDA-1.3"],
    cwe: Some(252),
};

pub static COUNT_AS_BYTES: RuleInfo = RuleInfo {
    name: "element-count-as-bytes",
    group: Group::Correctness,
    summary: "A number of elements is given where bytes are meant.",
    page: "# element-count-as-bytes\n\nA number of elements is given where bytes are meant.\n",
    method: Method::Memcheck,
    guidelines: &[],
    cwe: Some(131),
};

pub static RACE: RuleInfo = RuleInfo {
    name: "shared-memory-race",
    group: Group::Correctness,
    summary: "Two threads of a block touch the same shared element without a barrier between.",
    page: "# shared-memory-race\n\nTwo threads of a block touch the same shared element.\n",
    method: Method::Racecheck,
    guidelines: &[],
    cwe: Some(362),
};

pub static LIMIT: RuleInfo = RuleInfo {
    name: "launch-exceeds-device-limit",
    group: Group::Correctness,
    summary: "A launch asks for more than a device has.",
    page: "# launch-exceeds-device-limit\n\nA launch asks for more than a device has.\n",
    method: Method::ApiError,
    guidelines: &[],
    cwe: None,
};

fn text_of(path: &str) -> &'static str {
    if path == SCALE { SCALE_TEXT } else { REDUCE_TEXT }
}

/// The place of the `nth` time that `needle` stands in a file.
pub fn place(path: &str, needle: &str, nth: usize) -> Place {
    let start = text_of(path).match_indices(needle).nth(nth).expect("the needle is in the text").0;
    Place { path: path.into(), range: start..start + needle.len() }
}

pub fn label(path: &str, needle: &str, nth: usize, message: &str) -> Label {
    Label { place: place(path, needle, nth), message: message.into() }
}

pub fn finding(rule: &'static RuleInfo, severity: Severity, place: Place, message: &str) -> Finding {
    Finding {
        rule,
        severity,
        confidence: Confidence::Definite,
        message: message.into(),
        place,
        label: String::new(),
        claim: Claim::default(),
        function: "main".into(),
        related: Vec::new(),
        witness: None,
        help: None,
        fix: None,
        done_elsewhere: false,
        fingerprint: String::new(),
        verification: None,
        method: None,
    }
}

pub fn sources() -> Sources {
    let mut sources = Sources::new();
    for path in [SCALE, REDUCE] {
        sources.insert(path.into(), Arc::from(text_of(path)));
    }
    sources
}

pub fn findings() -> Vec<Finding> {
    let launch = LaunchWitness {
        site: place(SCALE, "scale<<<4, 256>>>(d_data, size)", 0),
        grid: [4, 1, 1],
        block: [256, 1, 1],
        shared_bytes: 0,
    };
    let bytes = Finding {
        label: "1000 bytes, 250 elements".into(),
        related: vec![
            label(SCALE, "data[i]", 0, "element 250 of 250 is the first one outside"),
            label(SCALE, "size = 1000", 0, "a number of elements"),
        ],
        claim: Claim {
            kernel: Some("scale".into()),
            launch: Some(launch),
            ..Claim::from(Shows::Access {
                fault: AccessFault::OutOfBounds,
                object: Object { name: "data".into(), space: Space::Global, bytes: Some(1000) },
                accesses: vec![AccessWitness {
                    block: [0, 0, 0],
                    thread: [250, 0, 0],
                    kind: AccessKind::Read,
                    index: 250,
                    extent: 250,
                    site: place(SCALE, "data[i]", 0),
                    function: None,
                }],
            })
        },
        witness: Some(Witness {
            bindings: vec![("size".into(), 1000), ("i".into(), 250)],
            assumptions: vec![],
            path: vec![label(SCALE, "cudaMalloc(&d_data, size)", 0, "`d_data` points to 1000 bytes")],
        }),
        help: Some("sizes of allocations are in bytes".into()),
        fix: Some(Fix {
            applicability: Applicability::Unsafe,
            message: "allocate `size * sizeof(float)` bytes".into(),
            edits: vec![Edit { place: place(SCALE, "size", 2), text: "size * sizeof(float)".into() }],
        }),
        ..finding(
            &COUNT_AS_BYTES,
            Severity::Error,
            place(SCALE, "cudaMalloc(&d_data, size)", 0),
            "`d_data` is allocated with 1000 bytes for 1000 elements of 4 bytes",
        )
    };
    let access = |thread: u64, kind, at: Place| AccessWitness {
        block: [0, 0, 0],
        thread: [thread, 0, 0],
        kind,
        index: 255,
        extent: 256,
        site: at,
        function: None,
    };
    let race = Finding {
        confidence: Confidence::Likely,
        function: "reduce".into(),
        label: "read by thread 0".into(),
        related: vec![
            label(REDUCE, "s[threadIdx.x]", 0, "written by thread 255"),
            label(SCALE, "scale<<<4, 256>>>", 0, "a launch of another file"),
        ],
        claim: Claim {
            kernel: Some("reduce".into()),
            ..Claim::from(Shows::Race {
                object: Object { name: "s".into(), space: Space::Shared, bytes: Some(1024) },
                accesses: vec![
                    access(255, AccessKind::Write, place(REDUCE, "s[threadIdx.x]", 0)),
                    access(0, AccessKind::Read, place(REDUCE, "s[255 - threadIdx.x]", 0)),
                ],
            })
        },
        witness: Some(Witness {
            bindings: vec![],
            assumptions: vec!["`reduce` is launched with 256 threads per block".into()],
            path: vec![],
        }),
        ..finding(
            &RACE,
            Severity::Warning,
            place(REDUCE, "s[255 - threadIdx.x]", 0),
            "`s[255 - threadIdx.x]` is read while another thread writes it: 100% of the elements, of `s`",
        )
    };
    let unchecked = Finding {
        claim: Claim {
            sites: vec![place(SCALE, "cudaFree(d_data)", 0)],
            ..Claim::from(Shows::UnreadStatus { fault: Fault::Status })
        },
        related: vec![label(SCALE, "cudaFree(d_data)", 0, "status thrown away")],
        fix: Some(Fix { applicability: Applicability::Display, message: "check the status".into(), edits: vec![] }),
        ..finding(
            &CHECKED_API,
            Severity::Warning,
            place(SCALE, "cudaMalloc(&d_data, size)", 0),
            "the status of 2 CUDA calls in `main` is thrown away",
        )
    };
    let at_end = Finding {
        function: String::new(),
        help: Some("close the file\nand go on".into()),
        ..finding(
            &LIMIT,
            Severity::Info,
            Place { path: SCALE.into(), range: SCALE_TEXT.len()..SCALE_TEXT.len() },
            "the file ends here",
        )
    };
    vec![at_end, unchecked, race, bytes]
}

pub fn report() -> Report {
    Report::new(findings(), FileCounts { checked: 3, skipped: 1, damaged: 0 }, sources())
}

pub fn empty() -> Report {
    Report::new(Vec::new(), FileCounts { checked: 1, skipped: 0, damaged: 0 }, Sources::new())
}

/// The report with the outcome of a GPU run on the race.
pub fn verified() -> Report {
    let mut all = findings();
    let race = all.iter_mut().find(|finding| finding.rule.name == RACE.name).expect("the report has a race");
    race.verification = Some(Verification {
        verdict: Verdict::Confirmed,
        reason: "racecheck reports this race".into(),
        evidence: Evidence {
            back_end: "compute-sanitizer racecheck 2025.3.1".into(),
            device: Some("NVIDIA H200".into()),
            records: vec![EvidenceRecord {
                kind: "race".into(),
                cell: None,
                kernel: Some("reduce".into()),
                path: Some("harness/reduce.cu".into()),
                line: Some(4),
                block: Some([0, 0, 0]),
                thread: None,
                text: "Race reported between Write access and Read access".into(),
            }],
            command: Some("compute-sanitizer --tool racecheck ./harness".into()),
            log: Some("race/log.txt".into()),
            reproducer: Some("race/harness.cu".into()),
        },
    });
    Report::new(all, FileCounts { checked: 3, skipped: 1, damaged: 0 }, sources())
}
