//! Host programs in Python.

use crate::differential::writing::{Entry, Language, Scene, Writer};
use crate::random::Random;

/// A program of one file or two.
#[derive(Default)]
pub struct Program {
    pub main: String,
    /// The second file, by its name.
    pub others: Vec<(String, String)>,
}

/// What programs in Python begin with.
const IMPORTS: &[&str] = &[
    "import math",
    "import numpy as np",
    "import cupy as cp",
    "from numba import cuda",
    "@cuda.jit",
    "def probe(*args):",
    "    pass",
    "@cuda.jit",
    "def other(a):",
    "    pass",
];

/// Python.
pub struct Python;

impl Language for Python {
    /// What a second file is made of knows nothing of the first.
    fn is_plain(&self, entry: &Entry) -> bool {
        !entry.module.is_empty()
    }

    fn constant(&self, random: &mut Random, names: &mut u32, number: u64) -> Option<(Option<String>, String)> {
        (random.below(8) == 0).then(|| {
            *names += 1;
            (Some(format!("C{names} = {number}")), format!("C{names}"))
        })
    }

    fn ty(&self, _: &mut Random) -> &'static str {
        ""
    }

    fn variable(&self, _: &str, name: &str, value: &str) -> String {
        format!("{name} = {value}")
    }

    fn probe(&self, value: &str) -> String {
        format!("probe[1, 1]({value}, 0)")
    }
}

/// The whole program: a function for each scene, called with each of the arguments.
pub fn program(writer: Writer<'_>, scenes: &[Scene], library: &str) -> Program {
    let mut lines = vec![format!("# {}", writer.used.join(", "))];
    lines.extend(IMPORTS.iter().map(|line| (*line).to_owned()));
    lines.extend(writer.globals);
    for scene in scenes {
        lines.push(format!("def {}({}):", scene.name, scene.parameters.join(", ")));
        lines.extend(scene.body.iter().map(|line| format!("    {line}")));
    }
    lines.push("if __name__ == \"__main__\":".into());
    for scene in scenes {
        lines.extend(scene.calls.iter().map(|call| format!("    {}({call})", scene.name)));
    }
    lines.push(String::new());
    let second = (format!("{library}.py"), writer.module.join("\n") + "\n");
    let others = if writer.module.is_empty() { Vec::new() } else { vec![second] };
    Program { main: lines.join("\n"), others }
}
