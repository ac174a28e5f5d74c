//! Writes host programs: functions in which features compute numbers and uses hand them to CUDA.

use super::entries::{Entry, Parts};
use crate::random::Random;
use std::collections::HashMap;

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

/// How deep features are nested in features.
const MAX_DEPTH: u32 = 3;

/// A program in writing.
struct Writer<'a> {
    random: &'a mut Random,
    parts: &'a Parts,
    /// The second file's name, without its ending, and its lines.
    library: &'a str,
    module: Vec<String>,
    /// Names given so far.
    names: u32,
    globals: Vec<String>,
    /// The function in writing.
    body: Vec<String>,
    /// Its variables with a number.
    variables: Vec<String>,
    /// How many features it may still have.
    left: u32,
    used: Vec<&'static str>,
}

/// The names and expressions of one instance of an entry.
#[derive(Default)]
struct Instance {
    names: HashMap<String, String>,
    /// By what they are written as: `$1`, `#2`, `%1`.
    parts: HashMap<String, String>,
    /// Whether its constants are numbers: those of another file.
    plain: bool,
}

/// A program in which one entry stands alone with small constants: `of` counts features first, uses then.
pub fn alone(random: &mut Random, parts: &Parts, of: usize, library: &str) -> Program {
    let mut writer = Writer::new(random, parts, library);
    match parts.features.get(of) {
        Some(feature) => {
            let value = writer.instance(feature, MAX_DEPTH);
            writer.body.push(format!("probe[1, 1]({value}, 0)"));
        }
        None => {
            if let Some(entry) = parts.uses.get(of - parts.features.len()) {
                writer.instance(entry, MAX_DEPTH);
            }
        }
    }
    let body = std::mem::take(&mut writer.body);
    writer.finish(&[("scene0".into(), body, Vec::new())])
}

/// A program of random parts.
pub fn mixed(random: &mut Random, parts: &Parts, library: &str) -> Program {
    let mut writer = Writer::new(random, parts, library);
    let mut scenes = Vec::new();
    for number in 0..=writer.random.below(3) {
        let parameters = writer.random.below(3);
        writer.variables = (0..parameters).map(|at| format!("given{at}")).collect();
        writer.left = 6;
        for _ in 0..=writer.random.below(2) {
            let entry = &parts.uses[writer.random.index(parts.uses.len())];
            writer.instance(entry, 0);
        }
        let calls = 1 + usize::from(parameters > 0 && writer.random.chance(30));
        let calls = (0..calls)
            .map(|_| (0..parameters).map(|_| writer.random.below(1001).to_string()).collect::<Vec<_>>().join(", "))
            .collect();
        scenes.push((format!("scene{number}"), std::mem::take(&mut writer.body), calls));
    }
    writer.finish(&scenes)
}

impl<'a> Writer<'a> {
    fn new(random: &'a mut Random, parts: &'a Parts, library: &'a str) -> Self {
        Self {
            random,
            parts,
            library,
            module: Vec::new(),
            names: 0,
            globals: Vec::new(),
            body: Vec::new(),
            variables: Vec::new(),
            left: 6,
            used: Vec::new(),
        }
    }

    /// Adds an entry to the function in writing; its value, an expression in parentheses.
    fn instance(&mut self, entry: &Entry, depth: u32) -> String {
        self.used.push(entry.name);
        let plain = !entry.module.is_empty();
        let mut instance = Instance { plain, ..Instance::default() };
        // What the lines need comes before the first of them.
        let module: Vec<String> =
            entry.module.iter().map(|line| self.substitute(line, &mut instance, MAX_DEPTH)).collect();
        self.module.extend(module);
        let globals: Vec<String> =
            entry.global.iter().map(|line| self.substitute(line, &mut instance, MAX_DEPTH)).collect();
        self.globals.extend(globals);
        let lines: Vec<String> = entry.local.iter().map(|line| self.substitute(line, &mut instance, depth)).collect();
        let value = entry.value.map(|value| self.substitute(value, &mut instance, depth)).unwrap_or_default();
        self.body.extend(lines);
        format!("({value})")
    }

    fn substitute(&mut self, text: &str, instance: &mut Instance, depth: u32) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['@', '$', '#']) {
            let (before, from) = rest.split_at(at);
            out.push_str(before);
            let mark = &from[..1];
            let behind = &from[1..];
            if let ("@", Some(after)) = (mark, behind.strip_prefix('@')) {
                out.push('@');
                rest = after;
                continue;
            }
            if mark == "@" {
                let braced = behind.starts_with('{');
                let name = behind.trim_start_matches('{');
                let end = name.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(name.len());
                let (name, after) = name.split_at(end);
                let names = &mut self.names;
                if name == "LIB" {
                    out.push_str(self.library);
                    rest = after;
                    continue;
                }
                let full = instance.names.entry(name.to_owned()).or_insert_with(|| {
                    *names += 1;
                    format!("{name}{names}")
                });
                out.push_str(full);
                rest = if braced { after.trim_start_matches('}') } else { after };
                continue;
            }
            let digit = behind.chars().next().filter(char::is_ascii_digit);
            let Some(digit) = digit else {
                out.push_str(mark);
                rest = behind;
                continue;
            };
            let key = format!("{mark}{digit}");
            let (known, plain) = (instance.parts.get(&key).cloned(), instance.plain);
            let part = known.unwrap_or_else(|| {
                let part = match mark {
                    "$" => self.number(depth),
                    // What a second file is made of knows nothing of the first.
                    _ if plain => (self.random.below(16) + 1).to_string(),
                    _ => self.constant(),
                };
                instance.parts.insert(key, part.clone());
                part
            });
            out.push_str(&part);
            rest = &behind[1..];
        }
        out.push_str(rest);
        out
    }

    /// A constant from 1 to 16.
    fn constant(&mut self) -> String {
        let number = self.random.below(16) + 1;
        if self.random.below(8) > 0 {
            return number.to_string();
        }
        self.names += 1;
        self.globals.push(format!("C{} = {number}", self.names));
        format!("C{}", self.names)
    }

    /// An expression from 0 to 1000.
    fn number(&mut self, depth: u32) -> String {
        let which = self.random.below(100);
        if depth >= MAX_DEPTH || self.left == 0 || which < 20 {
            return self.random.below(1001).to_string();
        }
        if which < 40 && !self.variables.is_empty() {
            return self.variables[self.random.index(self.variables.len())].clone();
        }
        self.left -= 1;
        let features = &self.parts.features;
        let feature = &features[self.random.index(features.len())];
        let value = self.instance(feature, depth + 1);
        if self.random.chance(60) {
            self.names += 1;
            let name = format!("n{}", self.names);
            self.body.push(format!("{name} = {value} % 1001"));
            self.variables.push(name.clone());
            return name;
        }
        format!("({value} % 1001)")
    }

    /// The whole program: a function for each scene, called with each of the arguments.
    fn finish(self, scenes: &[(String, Vec<String>, Vec<String>)]) -> Program {
        let mut lines = vec![format!("# {}", self.used.join(", "))];
        lines.extend(IMPORTS.iter().map(|line| (*line).to_owned()));
        lines.extend(self.globals);
        for (name, body, calls) in scenes {
            let parameters = calls.first().filter(|call| !call.is_empty()).map_or(0, |call| call.split(", ").count());
            let parameters: Vec<String> = (0..parameters).map(|at| format!("given{at}")).collect();
            lines.push(format!("def {name}({}):", parameters.join(", ")));
            lines.extend(body.iter().map(|line| format!("    {line}")));
        }
        lines.push("if __name__ == \"__main__\":".into());
        for (name, _, calls) in scenes {
            let once = [String::new()];
            for call in if calls.is_empty() { &once[..] } else { calls } {
                lines.push(format!("    {name}({call})"));
            }
        }
        lines.push(String::new());
        let second = (format!("{}.py", self.library), self.module.join("\n") + "\n");
        let others = if self.module.is_empty() { Vec::new() } else { vec![second] };
        Program { main: lines.join("\n"), others }
    }
}
