//! Writes programs of several files for the preprocessor: headers with and without guards, nested includes, macros that are
//! defined, taken away and defined anew, conditions on all of these, and types and constants that hang on them.

use crate::random::Random;

/// A program of several files.
#[derive(Default)]
pub struct Program {
    /// The source that is compiled.
    pub main: String,
    /// Headers by name.
    pub headers: Vec<(String, String)>,
    /// `-D` on the command line.
    pub defines: Vec<String>,
}

/// Macros that are defined or not.
const FLAGS: u64 = 5;
/// Macros that are numbers, and 0 where they are not defined.
const NUMBERS: u64 = 5;
/// Macros that hold conditions.
const CONDITIONS: u64 = 3;
/// Groups in groups.
const MAX_DEPTH: u32 = 2;

struct Writer<'a> {
    random: &'a mut Random,
    lines: Vec<String>,
    /// Types, constants and functions declared so far, and all names given.
    declared: Vec<String>,
    names: u32,
    /// What may be included, by name; whether it has no guard: then it is included once.
    headers: &'a [(String, bool)],
    included: &'a mut Vec<String>,
}

/// A program with some headers, whose names begin with `prefix`.
pub fn program(random: &mut Random, prefix: &str) -> Program {
    let count = 1 + random.below(4);
    let kinds: Vec<bool> = (0..count).map(|_| random.chance(40)).collect();
    let known: Vec<(String, bool)> =
        kinds.iter().enumerate().map(|(at, plain)| (format!("{prefix}_h{at}.h"), *plain)).collect();
    let mut program = Program::default();
    let mut declared = Vec::new();
    let mut names = 0;
    let mut included = Vec::new();
    // A header includes those behind it.
    for (at, (name, plain)) in known.iter().enumerate() {
        let mut writer = Writer {
            random,
            lines: Vec::new(),
            declared: Vec::new(),
            names,
            headers: known.get(at + 1..).unwrap_or(&[]),
            included: &mut included,
        };
        let guard = writer.random.below(3);
        match guard {
            _ if *plain => {}
            0 => writer.lines.push("#pragma once".into()),
            _ => writer.lines.extend([format!("#ifndef HOST_H{at}_H"), format!("#define HOST_H{at}_H")]),
        }
        let guarded = !*plain && guard > 0;
        for _ in 0..3 + writer.random.below(5) {
            writer.item(0, !*plain);
        }
        if guarded {
            writer.lines.push("#endif".into());
        }
        names = writer.names;
        declared.append(&mut writer.declared);
        program.headers.push((name.clone(), writer.lines.join("\n") + "\n"));
    }
    let mut writer = Writer { random, lines: Vec::new(), declared, names, headers: &known, included: &mut included };
    writer.lines.push("#include <cuda_runtime.h>".into());
    writer.lines.push("template <typename A, typename B> __global__ void probe(A a, B b) {}".into());
    for _ in 0..2 + writer.random.below(4) {
        writer.item(0, true);
    }
    // What is declared in a header is there at the end.
    for (name, plain) in &known {
        if !*plain {
            writer.lines.push(format!("#include \"{name}\""));
            writer.macros(0);
        }
    }
    let scenes = 1 + writer.random.below(2);
    for function in 0..scenes {
        writer.lines.push(format!("static void scene{function}() {{"));
        for _ in 0..2 + writer.random.below(4) {
            writer.probe(0);
        }
        writer.lines.push("}".into());
    }
    writer.lines.push("int main() {".into());
    writer.lines.extend((0..scenes).map(|function| format!("    scene{function}();")));
    for used in std::mem::take(&mut writer.declared) {
        writer.lines.push(format!("    probe<<<1, 1>>>((int)({used}), 0);"));
    }
    writer.lines.push("    return 0;\n}\n".into());
    program.main = writer.lines.join("\n");
    for flag in 0..FLAGS {
        if random.chance(12) {
            program.defines.push(format!("F{flag}"));
        }
    }
    for number in 0..NUMBERS {
        if random.chance(12) {
            program.defines.push(format!("N{number}={}", random.below(6)));
        }
    }
    program
}

impl Writer<'_> {
    fn item(&mut self, depth: u32, declares: bool) {
        match self.random.below(10) {
            0..=3 => self.macros(depth),
            4..=6 if declares && depth == 0 => self.declaration(),
            7..=8 if !self.headers.is_empty() => self.include(depth),
            _ => self.group(depth, &mut |writer, depth| writer.macros(depth)),
        }
    }

    /// Includes a header; one with declarations under no condition.
    fn include(&mut self, depth: u32) {
        let (name, plain) = self.headers[self.random.index(self.headers.len())].clone();
        if plain && self.included.contains(&name) {
            return self.macros(depth);
        }
        self.included.push(name.clone());
        let line = format!("#include \"{name}\"");
        if plain && self.random.chance(40) {
            self.group(depth, &mut |writer, _| writer.lines.push(line.clone()));
        } else {
            self.lines.push(line);
        }
    }

    /// Defines or takes away a macro.
    fn macros(&mut self, depth: u32) {
        let (flag, number, other) = (self.random.below(FLAGS), self.random.below(NUMBERS), self.random.below(NUMBERS));
        let line = match self.random.below(9) {
            0 | 1 => format!("#define F{flag}"),
            2 | 3 => format!("#define N{number} {}", self.random.below(6)),
            4 => format!("#undef F{flag}"),
            5 => format!("#undef N{number}"),
            6 => {
                let condition = self.condition(false);
                let at = self.random.below(CONDITIONS);
                self.lines.push(format!("#undef C{at}"));
                format!("#define C{at} ({condition})")
            }
            7 => {
                self.lines.push(format!("#ifndef N{other}"));
                self.lines.push(format!("#define N{other} {}", self.random.below(6)));
                "#endif".into()
            }
            _ if depth < MAX_DEPTH => return self.group(depth, &mut |writer, depth| writer.macros(depth)),
            _ => format!("#define F{flag}"),
        };
        self.lines.push(line);
    }

    /// A condition; `nested` where it may ask macros that hold conditions.
    fn condition(&mut self, nested: bool) -> String {
        let (flag, number, value) = (self.random.below(FLAGS), self.random.below(NUMBERS), self.random.below(6));
        match self.random.below(if nested { 9 } else { 7 }) {
            0 | 1 => format!("defined(F{flag})"),
            2 => format!("!defined F{flag}"),
            3 => format!("N{number} > {value}"),
            4 => format!("defined(N{number})"),
            5 => format!("N{number} * 2 == {value}"),
            6 => format!("N{number} < {value} && !defined(F{flag})"),
            7 => format!("C{}", self.random.below(CONDITIONS)),
            _ => format!("!C{} || N{number} == {value}", self.random.below(CONDITIONS)),
        }
    }

    /// A group with one, two or three branches, each of which `write` fills.
    fn group(&mut self, depth: u32, write: &mut dyn FnMut(&mut Self, u32)) {
        let flag = self.random.below(FLAGS);
        let line = match self.random.below(4) {
            0 => format!("#ifdef F{flag}"),
            1 => format!("#ifndef F{flag}"),
            _ => format!("#if {}", self.condition(true)),
        };
        self.lines.push(line);
        write(self, depth + 1);
        if self.random.chance(30) {
            let condition = self.condition(true);
            self.lines.push(format!("#elif {condition}"));
            write(self, depth + 1);
        }
        if self.random.chance(60) {
            self.lines.push("#else".into());
            write(self, depth + 1);
        }
        self.lines.push("#endif".into());
    }

    /// Declares one name in two ways.
    fn declaration(&mut self) {
        self.names += 1;
        let name = format!("d{}", self.names);
        let (number, value) = (self.random.below(NUMBERS), self.random.below(6));
        let flag = self.random.below(FLAGS);
        let condition = if self.random.chance(50) { format!("defined(F{flag})") } else { self.condition(true) };
        let (first, second, used) = match self.random.below(6) {
            0 => (format!("typedef double {name};"), format!("typedef float {name};"), format!("sizeof({name})")),
            1 => (format!("const int {name} = {value};"), format!("const int {name} = 7;"), name.clone()),
            2 => (format!("enum {{ {name} = 8 }};"), format!("enum {{ {name} = 9 }};"), name.clone()),
            3 => (
                format!("struct {name} {{ int a[3]; }};"),
                format!("struct {name} {{ char a; }};"),
                format!("sizeof({name})"),
            ),
            4 => (
                format!("static inline int {name}() {{ return 10; }}"),
                format!("static inline int {name}() {{ return 11; }}"),
                format!("{name}()"),
            ),
            // What the macro is where the function stands.
            _ => {
                self.lines.push(format!("#ifndef N{number}\n#define N{number} {value}\n#endif"));
                self.lines.push(format!("static inline int {name}() {{ return N{number}; }}"));
                self.declared.push(format!("{name}()"));
                return;
            }
        };
        self.lines.extend([format!("#if {condition}"), first, "#else".into(), second, "#endif".into()]);
        self.declared.push(used);
    }

    /// Statements of a function.
    fn probe(&mut self, depth: u32) {
        if self.random.chance(25) {
            return self.macros(depth);
        }
        let (number, value) = (self.random.below(NUMBERS), self.random.below(6));
        match self.random.below(3) {
            0 => {
                self.lines.push(format!("#ifdef N{number}"));
                self.lines.push(format!("    probe<<<N{number} + 1, 1>>>(0, 0);"));
                self.lines.push("#else".into());
                self.lines.push("    probe<<<1, 1>>>(100, 0);".into());
                self.lines.push("#endif".into());
            }
            // A condition in the middle of a statement.
            1 => {
                let condition = self.condition(true);
                self.lines.push("    probe<<<1, 1>>>(".into());
                self.lines.extend([
                    format!("#if {condition}"),
                    format!("    {value}"),
                    "#else".into(),
                    "    50".into(),
                    "#endif".into(),
                ]);
                self.lines.push("    , 0);".into());
            }
            _ => self.group(depth, &mut |writer, _| {
                let value = writer.random.below(100);
                writer.lines.push(format!("    probe<<<1, 1>>>({value}, 0);"));
            }),
        }
    }
}
