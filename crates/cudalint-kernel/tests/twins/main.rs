//! The same kernel in CUDA C++ and for Numba must give the same facts: `pairs/NAME.cu` and `pairs/NAME.py`, launched alike,
//! compared with places mapped away. The Python file says how, in comments:
//!
//! ```text
//! # launch: grid=4 block=64 shared=0        (x, or x,y, or x,y,z)
//! # buffer: a f32 256                       (name, element, extents, and `zeros` where it was set to 0)
//! # cuda: a b 256                           (arguments of the C++ kernel: buffers and numbers)
//! # numba: a b 256
//! # shows: race outside                     (kinds of events that both see; `nothing` for none)
//! # differs: reason                         (how the languages differ; then `cuda-shows` and `numba-shows` say what each sees)
//! ```

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "../dump/mod.rs"]
mod dump;
#[allow(dead_code)]
#[path = "../../../xtask/src/random.rs"]
mod numbers;
mod random;

use cudalint_kernel::code::Ty;
use cudalint_kernel::python::{ArgumentType, Order, Specialization};
use cudalint_kernel::report::{Access, Coverage, EventKind, Object, RaceScope};
use cudalint_kernel::{
    Argument, Budget, Buffer, Code, Contents, ExecutionReport, LaunchInput, execute, lower, lower_python,
};
use cudalint_program::ir::Dialect;
use cudalint_program::types::TypeEnv;
use cudalint_program::{Project, ProjectOptions, load_texts};
use std::path::Path;

fn project(path: &str, text: &str) -> Project {
    load_texts(&[(path, text)], &ProjectOptions::default()).unwrap().project
}

fn cuda_code(text: &str) -> Code {
    let project = project("a.cu", text);
    let (module, kernel) = project.kernels().next().unwrap();
    lower(&project, module, kernel, &TypeEnv::default()).unwrap()
}

fn python_code(text: &str, arguments: Vec<ArgumentType>) -> Code {
    let project = project("a.py", text);
    let (module, kernel) = project.kernels().next().unwrap();
    let specialization = Specialization { dialect: Dialect::Numba, arguments, captured: Vec::new() };
    lower_python(&project, module, kernel, &specialization).unwrap()
}

/// What the comments of a pair say.
#[derive(Default)]
struct Setup {
    grid: [u32; 3],
    block: [u32; 3],
    shared: u64,
    buffers: Vec<(String, Ty, Vec<i64>, bool)>,
    cuda: Vec<String>,
    numba: Vec<String>,
    shows: Vec<String>,
    differs: bool,
    cuda_shows: Vec<String>,
    numba_shows: Vec<String>,
}

fn element(name: &str) -> Ty {
    match name {
        "f32" => Ty::Float { bytes: 4 },
        "f64" => Ty::Float { bytes: 8 },
        "i32" => Ty::INT,
        "u32" => Ty::UINT,
        "i64" => Ty::LONG,
        "u8" => Ty::Int { bytes: 1, signed: false },
        other => panic!("element {other}"),
    }
}

fn setup(text: &str) -> Setup {
    let mut setup = Setup { grid: [1; 3], block: [1; 3], ..Setup::default() };
    let words = |rest: &str| rest.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    for line in text.lines() {
        let Some((what, rest)) = line.strip_prefix("# ").and_then(|line| line.split_once(':')) else { continue };
        match what {
            "launch" => {
                for word in rest.split_whitespace() {
                    let (key, value) = word.split_once('=').unwrap();
                    let mut sizes = [1; 3];
                    for (slot, size) in sizes.iter_mut().zip(value.split(',')) {
                        *slot = size.parse().unwrap();
                    }
                    match key {
                        "grid" => setup.grid = sizes,
                        "block" => setup.block = sizes,
                        _ => setup.shared = u64::from(sizes[0]),
                    }
                }
            }
            "buffer" => {
                let words = words(rest);
                let zeros = words.last().unwrap() == "zeros";
                let extents = words[2..].iter().filter_map(|word| word.parse().ok()).collect();
                setup.buffers.push((words[0].clone(), element(&words[1]), extents, zeros));
            }
            "cuda" => setup.cuda = words(rest),
            "numba" => setup.numba = words(rest),
            "shows" => setup.shows = words(rest),
            "differs" => setup.differs = true,
            "cuda-shows" => setup.cuda_shows = words(rest),
            "numba-shows" => setup.numba_shows = words(rest),
            _ => {}
        }
    }
    setup
}

impl Setup {
    fn launch(&self, arguments: Vec<Argument>) -> LaunchInput {
        let buffers = self.buffers.iter().map(|(_, ty, extents, zeros)| Buffer {
            bytes: Some(extents.iter().product::<i64>() as u64 * u64::from(ty.bytes().unwrap())),
            contents: if *zeros { Contents::Filled(0) } else { Contents::Unknown },
            align: 256,
            field: String::new(),
        });
        LaunchInput {
            grid: self.grid,
            block: self.block,
            dynamic_shared: Some(self.shared),
            cooperative: Some(false),
            constants: Vec::new(),
            reads: Vec::new(),
            arguments,
            buffers: buffers.collect(),
        }
    }

    fn buffer(&self, name: &str) -> Option<usize> {
        self.buffers.iter().position(|(known, ..)| known == name)
    }

    fn cuda_report(&self, text: &str) -> ExecutionReport {
        let arguments = self.cuda.iter().map(|word| match self.buffer(word) {
            Some(buffer) => Argument::Pointer { buffer, offset: 0 },
            None => Argument::Int(word.parse().unwrap()),
        });
        let code = cuda_code(text);
        assert!(code.gaps.is_empty() && !code.damaged, "{:?}", code.gaps);
        execute(&code, &self.launch(arguments.collect()), &Budget::default())
    }

    fn numba_report(&self, text: &str) -> ExecutionReport {
        let (mut types, mut arguments) = (Vec::new(), Vec::new());
        for word in &self.numba {
            if let Some(buffer) = self.buffer(word) {
                let (_, element, extents, _) = &self.buffers[buffer];
                let rank = extents.len() as u8;
                types.push(ArgumentType::Array { element: element.clone(), rank, order: Order::C });
                arguments.push(Argument::Pointer { buffer, offset: 0 });
                arguments.extend(extents.iter().map(|extent| Argument::Int(*extent)));
            } else {
                types.push(ArgumentType::Scalar(Ty::LONG));
                arguments.push(Argument::Int(word.parse().unwrap()));
            }
        }
        let code = python_code(text, types);
        assert!(code.gaps.is_empty() && !code.damaged, "{:?}\n{}", code.gaps, dump::Shown(&code));
        execute(&code, &self.launch(arguments), &Budget::default())
    }
}

fn object(object: &Object) -> String {
    format!("{:?} {} of {:?}", object.kind, object.name, object.bytes)
}

fn access(access: &Access) -> String {
    let Access { thread, kind, offset, size, element, interval, iteration, calls, .. } = access;
    let round = iteration.map(|(_, round)| round);
    format!(
        "{kind:?} by {:?}{:?} at {offset}+{size}/{element} interval {interval} round {round:?} calls {}",
        thread.block,
        thread.thread,
        calls.len()
    )
}

fn kind(kind: &EventKind) -> &'static str {
    match kind {
        EventKind::OutOfBounds { .. } => "outside",
        EventKind::Misaligned { .. } => "misaligned",
        EventKind::Race { .. } => "race",
        EventKind::DivergentBarrier { .. } => "divergent",
        EventKind::ExitBeforeBarrier { .. } => "exit",
        EventKind::WarpMask { .. } => "mask",
        EventKind::UninitializedRead { .. } => "unwritten",
        EventKind::ConstantWritten { .. } => "constant",
        EventKind::NegativeIndex { .. } => "negative",
        EventKind::GridSyncWithoutCooperation { .. } => "grid-sync",
        EventKind::CrowdedUpdate { .. } => "crowd",
    }
}

/// All that an event says but where it stands in the text.
fn fact(event: &EventKind) -> String {
    let rest = match event {
        EventKind::OutOfBounds { object: o, access: a, wrapped, plain_index } => {
            format!("{} {} wrapped {} plain {plain_index}", object(o), access(a), wrapped.is_some())
        }
        EventKind::Misaligned { object: o, access: a, align } => format!("{} {} to {align}", object(o), access(a)),
        EventKind::Race { object: o, first, second, scope, values, across, barrier_between } => format!(
            "{} {} / {} {scope:?} {values:?} across {} between {barrier_between}",
            object(o),
            access(first),
            access(second),
            across.is_some()
        ),
        EventKind::DivergentBarrier { calls, waits, absent, goes_on, same_warp, .. } => format!(
            "calls {} waits {waits:?} absent {absent:?} goes on {} same warp {same_warp}",
            calls.len(),
            goes_on.is_some()
        ),
        EventKind::ExitBeforeBarrier { leaves, waits, unwritten, .. } => {
            format!("leaves {leaves:?} waits {waits:?} unwritten {:?}", unwritten.as_ref().map(|a| access(a)))
        }
        EventKind::WarpMask { mask, by, fault, condition, .. } => {
            format!("{mask:x} by {by:?} {fault:?} condition {}", condition.is_some())
        }
        EventKind::UninitializedRead { object: o, access: a, partly } => {
            format!("{} {} partly {partly}", object(o), access(a))
        }
        EventKind::ConstantWritten { object: o, access: a } => format!("{} {}", object(o), access(a)),
        EventKind::NegativeIndex { array, axis, thread, index, extent, access, .. } => {
            format!("{array} axis {axis} {thread:?} {index} of {extent:?} {access:?}")
        }
        EventKind::CrowdedUpdate { object: o, access: a, threads, elements, sure, condition } => {
            format!("{} {} {threads} on {elements} sure {sure} condition {}", object(o), access(a), condition.is_some())
        }
        EventKind::GridSyncWithoutCooperation { .. } => String::new(),
    };
    format!("{}: {rest}", kind(event))
}

fn facts(report: &ExecutionReport) -> Vec<String> {
    let mut all: Vec<String> = report
        .events
        .iter()
        .map(|event| format!("{} x{} guards {}", fact(&event.kind), event.count, event.guards.len()))
        .collect();
    all.sort();
    let Coverage { blocks, of_blocks, accesses, known, complete, .. } = report.coverage;
    all.push(format!("{blocks} of {of_blocks} blocks, {known} of {accesses} accesses, complete {complete}"));
    all.push(format!("{:?}", report.buffers));
    all
}

fn kinds(report: &ExecutionReport) -> Vec<String> {
    let mut all: Vec<String> = report.events.iter().map(|event| kind(&event.kind).to_owned()).collect();
    all.sort();
    all.dedup();
    if all.is_empty() { vec!["nothing".to_owned()] } else { all }
}

#[test]
fn the_same_kernel_in_both_languages_gives_the_same_facts() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/twins/pairs");
    let mut names: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "py"))
        .collect();
    names.sort();
    let mut wrong = Vec::new();
    let mut equal = 0;
    for path in &names {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let python = std::fs::read_to_string(path).unwrap();
        let cuda = std::fs::read_to_string(path.with_extension("cu")).unwrap();
        let setup = setup(&python);
        let (left, right) = (setup.cuda_report(&cuda), setup.numba_report(&python));
        if setup.differs {
            if kinds(&left) != setup.cuda_shows || kinds(&right) != setup.numba_shows {
                wrong.push(format!("{name}: {:?} {:?}", kinds(&left), kinds(&right)));
            }
            continue;
        }
        equal += 1;
        if kinds(&left) != setup.shows {
            wrong.push(format!("{name}: {:?} instead of {:?}", kinds(&left), setup.shows));
        }
        let (left, right) = (facts(&left), facts(&right));
        if left != right {
            wrong.push(format!("{name}:\n  C++:\n    {}\n  Numba:\n    {}", left.join("\n    "), right.join("\n    ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(equal >= 40, "{equal} pairs");
}

#[test]
fn random_kernels_give_the_same_facts_in_both_languages() {
    let mut random = numbers::Random::new(20);
    let mut seen: Vec<(String, u32)> = Vec::new();
    for number in 0..120 {
        let twins = random::twins(&mut random);
        let blocks = 1 + random.below(3);
        let threads = 64 * blocks as i64;
        let n = threads + random.below(40) as i64 - 30;
        let extent =
            |random: &mut numbers::Random| [n - 1, n, threads, threads + 1, 2 * threads][random.below(5) as usize];
        let buffers = [("a", extent(&mut random)), ("b", extent(&mut random)), ("out", threads)];
        let setup = Setup {
            grid: [blocks as u32, 1, 1],
            block: [64, 1, 1],
            buffers: buffers.map(|(name, extent)| (name.to_owned(), Ty::LONG, vec![extent], true)).to_vec(),
            cuda: vec!["a".to_owned(), "b".to_owned(), "out".to_owned(), n.to_string()],
            numba: vec!["a".to_owned(), "b".to_owned(), "out".to_owned(), n.to_string()],
            ..Setup::default()
        };
        let (left, right) = (setup.cuda_report(&twins.cuda), setup.numba_report(&twins.numba));
        for kind in kinds(&left) {
            match seen.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, count)) => *count += 1,
                None => seen.push((kind, 1)),
            }
        }
        let (left, right) = (facts(&left), facts(&right));
        let apart = |ours: &[String], theirs: &[String]| {
            ours.iter().filter(|fact| !theirs.contains(fact)).cloned().collect::<Vec<_>>().join("\n    ")
        };
        assert!(
            left == right,
            "{number} with {n}:\n{}\n{}\n  C++:\n    {}\n  Numba:\n    {}",
            twins.cuda,
            twins.numba,
            apart(&left, &right),
            apart(&right, &left)
        );
    }
    for kind in ["nothing", "outside", "race", "divergent", "exit", "unwritten"] {
        assert!(seen.iter().any(|(known, _)| known == kind), "{kind}: {seen:?}");
    }
}

#[test]
fn races_of_every_scope_are_among_them() {
    // The comparison says nothing where no pair has anything to compare.
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/twins/pairs");
    let mut scopes = Vec::new();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ext| ext == "py") {
            let text = std::fs::read_to_string(&path).unwrap();
            for event in setup(&text).numba_report(&text).events {
                if let EventKind::Race { scope, .. } = event.kind {
                    scopes.push(scope);
                }
            }
        }
    }
    for scope in [RaceScope::Warp, RaceScope::Block, RaceScope::Grid] {
        assert!(scopes.contains(&scope), "{scope:?}");
    }
}
