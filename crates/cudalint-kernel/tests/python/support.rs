//! One Python file as a project, its kernel `k` lowered and launched.

use crate::dump::Shown;
use cudalint_kernel::code::Ty;
use cudalint_kernel::python::{ArgumentType, Constant, Order, Specialization, guess_arguments};
use cudalint_kernel::report::{EventKind, RaceScope};
use cudalint_kernel::{Argument, Budget, Buffer, Code, Contents, ExecutionReport, LaunchInput, execute, lower_python};
use cudalint_program::ir::{Dialect, FunctionId, ModuleId};
use cudalint_program::{Name, Project, ProjectOptions, load_texts};

pub const F32: Ty = Ty::Float { bytes: 4 };
pub const F64: Ty = Ty::Float { bytes: 8 };

const IMPORTS: &str = "from numba import cuda, float32, float64, int16, int32, int64, uint32, uint64, types, void
from numba.cuda.random import xoroshiro128p_uniform_float32
from cupyx import jit
import numpy as np
import operator
import math
";

/// A kernel with what it is launched with.
pub struct Case {
    pub project: Project,
    pub module: ModuleId,
    pub kernel: FunctionId,
    pub specialization: Specialization,
    pub launch: LaunchInput,
}

/// The kernel `k` of a text, in one block of 64 threads.
pub fn kernel(text: &str) -> Case {
    in_files(&[("a.py", text)])
}

/// The kernel `k` of the first of several files.
pub fn in_files(files: &[(&str, &str)]) -> Case {
    let texts: Vec<(&str, String)> = files.iter().map(|(path, text)| (*path, format!("{IMPORTS}{text}"))).collect();
    let texts: Vec<(&str, &str)> = texts.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let project = load_texts(&texts, &ProjectOptions::default()).unwrap().project;
    let (module, kernel) = project
        .kernels()
        .find(|(module, kernel)| project.function_at(*module, *kernel).unwrap().name == "k")
        .expect("a kernel k");
    let decorator = project.function_at(module, kernel).unwrap().python.as_ref().unwrap().kernel.clone().unwrap();
    Case {
        project,
        module,
        kernel,
        specialization: Specialization { dialect: decorator.dialect, arguments: Vec::new(), captured: Vec::new() },
        launch: LaunchInput {
            grid: [1, 1, 1],
            block: [64, 1, 1],
            dynamic_shared: Some(0),
            cooperative: Some(false),
            constants: Vec::new(),
            reads: Vec::new(),
            arguments: Vec::new(),
            buffers: Vec::new(),
        },
    }
}

impl Case {
    pub fn block(mut self, threads: u32) -> Self {
        self.launch.block = [threads, 1, 1];
        self
    }

    /// A number.
    pub fn number(mut self, ty: Ty, value: i64) -> Self {
        self.specialization.arguments.push(ArgumentType::Scalar(ty));
        self.launch.arguments.push(Argument::Int(value));
        self
    }

    /// An array laid out in C's order, of which nothing is known.
    pub fn array(self, element: Ty, shape: &[i64]) -> Self {
        self.ordered(element, shape, Order::C)
    }

    pub fn ordered(mut self, element: Ty, shape: &[i64], order: Order) -> Self {
        let bytes = shape.iter().product::<i64>() as u64 * u64::from(element.bytes().unwrap());
        let rank = shape.len() as u8;
        let mut strides: Vec<i64> = shape.iter().map(|_| i64::from(element.bytes().unwrap())).collect();
        for axis in (0..shape.len().saturating_sub(1)).rev() {
            strides[axis] = strides[axis + 1] * shape[axis + 1];
        }
        self.specialization.arguments.push(ArgumentType::Array { element, rank, order });
        let buffer = self.launch.buffers.len();
        self.launch.arguments.push(Argument::Pointer { buffer, offset: 0 });
        self.launch.arguments.extend(shape.iter().map(|extent| Argument::Int(*extent)));
        if order == Order::Strided {
            self.launch.arguments.extend(strides.iter().map(|stride| Argument::Int(*stride)));
        }
        self.launch.buffers.push(Buffer {
            bytes: Some(bytes),
            contents: Contents::Unknown,
            align: 256,
            field: String::new(),
        });
        self
    }

    pub fn argument(mut self, ty: ArgumentType, values: &[Argument]) -> Self {
        self.specialization.arguments.push(ty);
        self.launch.arguments.extend(values.iter().cloned());
        self
    }

    pub fn capturing(mut self, name: &str, constant: Constant) -> Self {
        self.specialization.captured.push((Name::from(name), constant));
        self
    }

    pub fn code(&self) -> Code {
        let code = lower_python(&self.project, self.module, self.kernel, &self.specialization).expect("code");
        assert!(!code.damaged, "{}", Shown(&code));
        code
    }

    /// The code as text, and that all of it was understood.
    pub fn text(&self) -> String {
        let code = self.code();
        assert!(code.gaps.is_empty(), "{:?}\n{}", code.gaps, Shown(&code));
        Shown(&code).to_string()
    }

    pub fn guess(&self) -> Vec<ArgumentType> {
        guess_arguments(&self.project, self.module, self.kernel).unwrap()
    }

    pub fn run(&self) -> ExecutionReport {
        execute(&self.code(), &self.launch, &Budget::default())
    }

    /// What the events are, in short words.
    pub fn seen(&self) -> Vec<String> {
        let at = |site: cudalint_kernel::report::Site| {
            self.project.text(site.module, site.span).split_whitespace().collect::<String>()
        };
        self.run()
            .events
            .iter()
            .map(|event| match &event.kind {
                EventKind::OutOfBounds { access, .. } => {
                    format!("outside {} at {} by {}", at(access.site), access.offset, access.thread.thread[0])
                }
                EventKind::Race { first, second, scope, .. } => {
                    let scope = match scope {
                        RaceScope::Warp => "warp",
                        RaceScope::Block => "block",
                        RaceScope::Grid => "grid",
                    };
                    format!("race {scope} {} / {}", at(first.site), at(second.site))
                }
                EventKind::NegativeIndex { site, computed, array, axis, index, extent, .. } => {
                    format!("negative {} {} {array}.{axis} {index} of {extent:?}", at(*site), at(*computed))
                }
                EventKind::CrowdedUpdate { access, threads, elements, condition, .. } => format!(
                    "crowd {} {threads} on {elements}{}",
                    at(access.site),
                    condition.map(|c| format!(" past {}", at(c))).unwrap_or_default()
                ),
                EventKind::DivergentBarrier { waits, absent, .. } => {
                    format!("divergent {} not {}", waits.thread[0], absent.thread[0])
                }
                EventKind::UninitializedRead { access, .. } => format!("unwritten {}", at(access.site)),
                EventKind::WarpMask { name, mask, by, .. } => format!("mask {name} {mask:x} by {}", by.thread[0]),
                other => format!("{other:?}"),
            })
            .collect()
    }

    #[track_caller]
    pub fn sees(self, expected: &[&str]) {
        assert_eq!(self.seen(), expected, "{}", Shown(&self.code()));
    }

    /// No event, and nothing was given up.
    #[track_caller]
    pub fn clean_and_complete(self) {
        let report = self.run();
        let coverage = &report.coverage;
        assert!(
            coverage.complete && coverage.known == coverage.accesses && coverage.accesses > 0,
            "{coverage:?}\n{}",
            Shown(&self.code())
        );
        self.sees(&[]);
    }
}

/// The dialect of the kernel, for those that ask.
pub fn dialect(case: &Case) -> Dialect {
    case.specialization.dialect
}
