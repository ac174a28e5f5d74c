//! Host programs in C++.

use crate::differential::writing::{Entry, Language, Scene, Writer};
use crate::random::Random;
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
    "initializer_list",
    "iterator",
    "limits",
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

/// C++.
pub struct Cpp;

impl Language for Cpp {
    fn mark(&self) -> Option<char> {
        Some('%')
    }

    /// Conditions of `#if` know neither variables nor types.
    fn is_plain(&self, entry: &Entry) -> bool {
        entry.global.iter().any(|line| line.starts_with("#if"))
    }

    fn constant(&self, random: &mut Random, names: &mut u32, number: u64) -> Option<(Option<String>, String)> {
        match random.below(8) {
            0 => {
                *names += 1;
                Some((Some(format!("constexpr int c{names} = {number};")), format!("c{names}")))
            }
            1 => {
                *names += 1;
                Some((Some(format!("#define C{names} {number}")), format!("C{names}")))
            }
            2 => Some((None, format!("(int)sizeof({})", random.pick(&["int", "char", "double", "short", "float"])))),
            _ => None,
        }
    }

    fn ty(&self, random: &mut Random) -> &'static str {
        TYPES[random.index(TYPES.len())]
    }

    fn variable(&self, ty: &str, name: &str, value: &str) -> String {
        format!("{ty} {name} = {value};")
    }

    fn probe(&self, value: &str) -> String {
        format!("probe<<<1, 1>>>({value}, 0);")
    }
}

/// The whole program: a function for each scene, called with each of the arguments.
pub fn program(writer: Writer<'_>, scenes: &[Scene]) -> String {
    let mut lines = vec![format!("// {}", writer.used.join(", ")), "#include <cuda_runtime.h>".to_owned()];
    lines.extend(HEADERS.iter().map(|header| format!("#include <{header}>")));
    lines.push("template <typename A, typename B> __global__ void probe(A a, B b) {}".into());
    lines.extend(writer.globals);
    for scene in scenes {
        let parameters: Vec<String> = scene.parameters.iter().map(|name| format!("int {name}")).collect();
        lines.push(format!("static void {}({}) {{", scene.name, parameters.join(", ")));
        lines.extend(scene.body.iter().map(|line| format!("    {line}")));
        lines.push("}".into());
    }
    lines.push("int main(int argc, char **argv) {".into());
    for scene in scenes {
        lines.extend(scene.calls.iter().map(|call| format!("    {}({call});", scene.name)));
    }
    lines.push("    return 0;".into());
    lines.push("}\n".into());
    lines.join("\n")
}

/// The program as a compiler for the host takes it, line by line: a launch is a call.
pub fn for_host(program: &str) -> String {
    let mut out = String::new();
    for line in program.lines() {
        match (line.find("<<<"), line.find(">>>(")) {
            (Some(open), Some(close)) if open < close => {
                // Of `kernel<int><<<`, too.
                let end = if line[..open].ends_with('>') { line[..open].rfind('<').unwrap_or(open) } else { open };
                let start = line[..end].rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_').map_or(0, |at| at + 1);
                out.push_str(&line[..start]);
                let _ = write!(out, "stand_in::launch(__LINE__, \"{}\", ", &line[start..end]);
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
