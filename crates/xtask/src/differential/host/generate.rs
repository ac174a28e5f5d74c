//! Writes host programs: functions in which features compute numbers and uses hand them to CUDA.

use super::entries::Entry;
use crate::random::Random;
use std::collections::HashMap;
use std::fmt::Write as _;

/// Headers that the programs include.
pub const HEADERS: &[&str] = &[
    "algorithm",
    "array",
    "chrono",
    "cmath",
    "climits",
    "cstddef",
    "cstdint",
    "cstdio",
    "cstdlib",
    "cstring",
    "deque",
    "functional",
    "map",
    "memory",
    "numeric",
    "optional",
    "set",
    "sstream",
    "stdexcept",
    "string",
    "string_view",
    "tuple",
    "type_traits",
    "unordered_map",
    "utility",
    "variant",
    "vector",
];

/// Types of at least 32 bits that a number is kept in.
const TYPES: &[&str] =
    &["int", "unsigned", "long", "size_t", "auto", "const int", "long long", "uint32_t", "const auto"];

/// How deep features are nested in features.
const MAX_DEPTH: u32 = 3;

/// A program in writing.
pub struct Writer<'a> {
    random: &'a mut Random,
    features: &'a [Entry],
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
    /// Whether the innermost numbers are variables where there are any, not constants.
    of_variables: bool,
}

/// The names and expressions of one instance of an entry.
#[derive(Default)]
struct Instance {
    names: HashMap<String, String>,
    /// By what they are written as: `$1`, `#2`, `%1`.
    parts: HashMap<String, String>,
    /// Whether the preprocessor computes with its constants.
    plain: bool,
}

/// A program in which one entry stands alone with small constants: `of` counts features first, uses then.
pub fn alone(random: &mut Random, features: &[Entry], uses: &[Entry], of: usize) -> String {
    let mut writer = Writer::new(random, features);
    match features.get(of) {
        Some(feature) => {
            let value = writer.instance(feature, MAX_DEPTH);
            writer.body.push(format!("probe<<<1, 1>>>({value}, 0);"));
        }
        None => {
            if let Some(entry) = uses.get(of - features.len()) {
                writer.instance(entry, MAX_DEPTH);
            }
        }
    }
    let body = std::mem::take(&mut writer.body);
    writer.finish(&[("scene0".into(), body, Vec::new())])
}

/// A program of random parts.
pub fn mixed(random: &mut Random, features: &[Entry], uses: &[Entry]) -> String {
    let mut writer = Writer::new(random, features);
    let mut scenes = Vec::new();
    for number in 0..=writer.random.below(3) {
        let parameters = writer.random.below(3);
        writer.variables = (0..parameters).map(|at| format!("given{at}")).collect();
        writer.left = 6;
        for _ in 0..=writer.random.below(2) {
            let entry = &uses[writer.random.index(uses.len())];
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
    /// Nothing is written yet.
    pub fn new(random: &'a mut Random, features: &'a [Entry]) -> Self {
        Self {
            random,
            features,
            names: 0,
            globals: Vec::new(),
            body: Vec::new(),
            variables: Vec::new(),
            left: 6,
            used: Vec::new(),
            of_variables: false,
        }
    }

    /// The sequence that everything is chosen by.
    pub const fn random(&mut self) -> &mut Random {
        self.random
    }

    /// A function's statements, the number that they compute, and the names of the features in them; the variables are there
    /// already and hold 0 to 1000. With `alone`, it is made of this one feature.
    pub fn part(&mut self, variables: &[&str], alone: Option<&Entry>) -> (Vec<String>, String, Vec<&'static str>) {
        self.variables = variables.iter().map(|name| (*name).to_owned()).collect();
        self.of_variables = true;
        self.left = 5;
        let features = self.features;
        let value = match alone {
            Some(feature) => self.instance(feature, MAX_DEPTH),
            None => {
                let which = self.random.index(features.len());
                self.instance(&features[which], 0)
            }
        };
        (std::mem::take(&mut self.body), value, std::mem::take(&mut self.used))
    }

    /// The declarations that all functions so far need.
    pub fn into_globals(self) -> Vec<String> {
        self.globals
    }

    /// Adds an entry to the function in writing; its value, an expression in parentheses.
    fn instance(&mut self, entry: &Entry, depth: u32) -> String {
        self.used.push(entry.name);
        let plain = entry.global.iter().any(|line| line.starts_with("#if"));
        let mut instance = Instance { plain, ..Instance::default() };
        // What the lines need comes before the first of them.
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
        while let Some(at) = rest.find(['@', '$', '#', '%']) {
            let (before, from) = rest.split_at(at);
            out.push_str(before);
            let mark = &from[..1];
            let behind = &from[1..];
            if mark == "@" {
                let braced = behind.starts_with('{');
                let name = behind.trim_start_matches('{');
                let end = name.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(name.len());
                let (name, after) = name.split_at(end);
                let names = &mut self.names;
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
                    // Conditions of `#if` know neither variables nor types.
                    "#" if plain => (self.random.below(16) + 1).to_string(),
                    "#" => self.constant(),
                    _ => (*self.random.pick(TYPES)).to_owned(),
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
        match self.random.below(8) {
            0 => {
                self.names += 1;
                self.globals.push(format!("constexpr int c{} = {number};", self.names));
                format!("c{}", self.names)
            }
            1 => {
                self.names += 1;
                self.globals.push(format!("#define C{} {number}", self.names));
                format!("C{}", self.names)
            }
            2 => format!("(int)sizeof({})", self.random.pick(&["int", "char", "double", "short", "float"])),
            _ => number.to_string(),
        }
    }

    /// An expression from 0 to 1000.
    fn number(&mut self, depth: u32) -> String {
        let which = self.random.below(100);
        let innermost = depth >= MAX_DEPTH || self.left == 0;
        if self.of_variables && innermost && which < 80 && !self.variables.is_empty() {
            return self.variables[self.random.index(self.variables.len())].clone();
        }
        if innermost || which < 20 {
            return self.random.below(1001).to_string();
        }
        if which < 40 && !self.variables.is_empty() {
            return self.variables[self.random.index(self.variables.len())].clone();
        }
        self.left -= 1;
        let features = self.features;
        let feature = &features[self.random.index(features.len())];
        let value = self.instance(feature, depth + 1);
        if self.random.chance(60) {
            self.names += 1;
            let name = format!("n{}", self.names);
            let ty = self.random.pick(TYPES);
            self.body.push(format!("{ty} {name} = {value} % 1001;"));
            self.variables.push(name.clone());
            return name;
        }
        format!("({value} % 1001)")
    }

    /// The whole program: a function for each scene, called with each of the arguments.
    fn finish(self, scenes: &[(String, Vec<String>, Vec<String>)]) -> String {
        let mut lines = vec![format!("// {}", self.used.join(", ")), "#include <cuda_runtime.h>".to_owned()];
        lines.extend(HEADERS.iter().map(|header| format!("#include <{header}>")));
        lines.push("template <typename A, typename B> __global__ void probe(A a, B b) {}".into());
        lines.extend(self.globals);
        for (name, body, calls) in scenes {
            let parameters = calls.first().filter(|call| !call.is_empty()).map_or(0, |call| call.split(", ").count());
            let parameters: Vec<String> = (0..parameters).map(|at| format!("int given{at}")).collect();
            lines.push(format!("static void {name}({}) {{", parameters.join(", ")));
            lines.extend(body.iter().map(|line| format!("    {line}")));
            lines.push("}".into());
        }
        lines.push("int main(int argc, char **argv) {".into());
        for (name, _, calls) in scenes {
            let once = [String::new()];
            for call in if calls.is_empty() { &once[..] } else { calls } {
                lines.push(format!("    {name}({call});"));
            }
        }
        lines.push("    return 0;".into());
        lines.push("}\n".into());
        lines.join("\n")
    }
}

/// The program as a compiler for the host takes it, line by line: a launch is a call.
pub fn for_host(program: &str) -> String {
    let mut out = String::new();
    for line in program.lines() {
        match (line.find("<<<"), line.find(">>>(")) {
            (Some(open), Some(close)) if open < close => {
                let start = line[..open].rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_').map_or(0, |at| at + 1);
                out.push_str(&line[..start]);
                let _ = write!(out, "stand_in::launch(__LINE__, \"{}\", ", &line[start..open]);
                out.push_str(&line[open + 3..close]);
                out.push_str(")(");
                out.push_str(&line[close + 4..]);
            }
            _ => out.push_str(line),
        }
        out.push('\n');
    }
    out
}
