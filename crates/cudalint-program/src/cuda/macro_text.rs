//! Macro bodies and arguments as text: splitting, putting in, pasting.

use super::source::{Argument, Src, children};
use cudalint_syntax::kinds::{CudaKind, cuda_kind};
use cudalint_syntax::{Define, Node, Span};

/// The name under which `#x` is parsed.
pub(super) const STRINGIZED: &str = "cudalint_text_of_";
/// The name under which the block after a loop macro is parsed.
pub(super) const ATTACHED: &str = "cudalint_attached_block";

/// The body with `#x` respelled, and with a place for an attached block.
pub(super) fn body_text(define: &Define, as_value: bool) -> String {
    let mut text = define.body.clone();
    if text.contains('#')
        && let Some(params) = &define.params
    {
        text = stringize(&text, params);
    }
    if !as_value {
        text.push(' ');
        text.push_str(ATTACHED);
        text.push(';');
    }
    text
}

pub(super) fn stringize(body: &str, params: &[String]) -> String {
    let mut out = String::with_capacity(body.len() + 32);
    let mut rest = body;
    while let Some(at) = rest.find('#') {
        out.push_str(&rest[..at]);
        let after = rest[at + 1..].trim_start();
        let end = after.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(after.len());
        let word = &after[..end];
        if params.iter().any(|param| param == word) || word == "__VA_ARGS__" {
            rest = &after[end..];
            if out.trim_end().ends_with('"') || rest.trim_start().starts_with('"') {
                // Joined to string literals it must be one itself; its text is known only at the call.
                out.push_str("\"\"");
            } else {
                out.push(' ');
                out.push_str(STRINGIZED);
                out.push_str(word);
                out.push(' ');
            }
        } else {
            rest = &rest[at + 1..];
        }
    }
    out.push_str(rest);
    out
}

pub(super) fn looks_like_statements(text: &str) -> bool {
    let trimmed = text.trim_start();
    let end = trimmed.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(trimmed.len());
    let word = &trimmed[..end];
    matches!(
        word,
        "do" | "if"
            | "for"
            | "while"
            | "switch"
            | "return"
            | "asm"
            | "goto"
            | "break"
            | "continue"
            | "static"
            | "const"
    ) || (trimmed.starts_with('{') && trimmed.contains(';'))
        || (trimmed.contains(';') && !trimmed.starts_with("({") && !trimmed.starts_with('['))
}

/// The arguments of a call: nodes where they are whole nodes, else text.
pub(super) fn arguments_of<'t>(s: Src<'t>, list: Node<'t>) -> Vec<Argument<'t>> {
    let nodes = children(list);
    let inner_start = list.start_byte() + 1;
    let inner_end = list.end_byte().saturating_sub(1).max(inner_start);
    let Some(text) = s.text.get(inner_start..inner_end) else { return Vec::new() };
    if text.trim().is_empty() {
        return Vec::new();
    }
    let mut out = Vec::new();
    for (start, end) in split(text) {
        let piece = &text[start..end];
        let lead = piece.len() - piece.trim_start().len();
        let from = inner_start + start + lead;
        let trimmed = piece.trim();
        let to = from + trimmed.len();
        let node = nodes.iter().find(|node| {
            node.start_byte() == from
                && s.text.get(from..node.end_byte()).map(str::trim_end) == Some(trimmed)
                && !node.is_error()
                && cuda_kind(**node) != CudaKind::ParameterDeclaration
        });
        let span = s.map(Span::new(from, to));
        match node {
            Some(node) if cuda_kind(*node) == CudaKind::Identifier && s.argument(trimmed).is_some() => {
                // The name of a parameter of the macro around: hand its argument on.
                match s.argument(trimmed) {
                    Some(Argument::Rest(rest)) => out.extend(rest.iter().cloned()),
                    Some(argument) => out.push(argument.clone()),
                    None => {}
                }
            }
            Some(node) => out.push(Argument::Node(*node, s)),
            None => out.push(Argument::Text(trimmed, span, s)),
        }
    }
    out
}

/// The arguments of a macro call from number `first` on, which `...` stands for: what the commas of a launch's
/// configuration part (`k<<<1, 128>>>(p)`) is whole again behind `__VA_ARGS__`. `arguments` are those that
/// [`arguments_of`] gives.
pub(super) fn rest_of<'t>(s: Src<'t>, list: Node<'t>, arguments: Vec<Argument<'t>>, first: usize) -> Vec<Argument<'t>> {
    let inner_start = list.start_byte() + 1;
    let inner_end = list.end_byte().saturating_sub(1).max(inner_start);
    let pieces = split(s.text.get(inner_start..inner_end).unwrap_or(""));
    // An argument that stands for several is no piece of this text.
    let launches: Vec<Node<'t>> = if pieces.len() == arguments.len() {
        children(list).into_iter().filter(|node| super::fields::configuration(*node).is_some()).collect()
    } else {
        Vec::new()
    };
    let mut rest = Vec::new();
    let mut within: Option<Node<'t>> = None;
    for (index, argument) in arguments.into_iter().enumerate().skip(first) {
        let (start, end) = pieces.get(index).map_or((0, 0), |(start, end)| (inner_start + start, inner_start + end));
        if within.is_some_and(|node| start < node.end_byte()) {
            continue;
        }
        within =
            launches.iter().copied().find(|node| (start..end).contains(&node.start_byte()) && node.end_byte() > end);
        rest.push(within.map_or(argument, |node| Argument::Node(node, s)));
    }
    rest
}

/// Ranges between top-level commas.
pub(super) fn split(text: &str) -> Vec<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut out = Vec::new();
    let mut depth = 0usize;
    let mut start = 0;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b'"' => {
                at += 1;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
            }
            b'\'' if !at.checked_sub(1).is_some_and(|before| bytes[before].is_ascii_alphanumeric()) => {
                at += 1;
                while at < bytes.len() && bytes[at] != b'\'' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                at += 2;
                while at + 1 < bytes.len() && !(bytes[at] == b'*' && bytes[at + 1] == b'/') {
                    at += 1;
                }
                at += 1;
            }
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                while at < bytes.len() && bytes[at] != b'\n' {
                    at += 1;
                }
            }
            b',' if depth == 0 => {
                out.push((start, at));
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    out.push((start, bytes.len()));
    out
}

/// The text of an argument as the preprocessor would put it in.
pub(super) fn argument_text(argument: &Argument<'_>) -> String {
    let within = |text: &str, s: &Src<'_>| match s.bindings {
        Some(bindings) => substitute(text, &|word| {
            bindings.arguments.iter().find(|(name, _)| *name == word).map(|(_, argument)| argument_text(argument))
        }),
        None => text.to_owned(),
    };
    match argument {
        Argument::Node(node, s) => within(s.text(*node), s),
        Argument::Text(text, _, s) => within(text, s),
        Argument::Rest(rest) => rest.iter().map(argument_text).collect::<Vec<_>>().join(", "),
    }
}

/// Replaces words outside literals; `#word` gives a string, `a ## b` joins.
pub(super) fn substitute(body: &str, value: &dyn Fn(&str) -> Option<String>) -> String {
    let bytes = body.as_bytes();
    let mut out = String::with_capacity(body.len() * 2);
    let mut at = 0;
    let mut stringize = false;
    while at < bytes.len() {
        let b = bytes[at];
        let start = at;
        if b.is_ascii_alphabetic() || b == b'_' {
            while at < bytes.len() && (bytes[at].is_ascii_alphanumeric() || bytes[at] == b'_') {
                at += 1;
            }
            let word = &body[start..at];
            match value(word) {
                Some(text) if stringize => {
                    out.push('"');
                    out.push_str(&text.replace('\\', "\\\\").replace('"', "\\\""));
                    out.push('"');
                }
                Some(text) => out.push_str(&text),
                None => out.push_str(word),
            }
            stringize = false;
        } else if b == b'"' || b == b'\'' {
            at += 1;
            while at < bytes.len() && bytes[at] != b {
                at += if bytes[at] == b'\\' { 2 } else { 1 };
            }
            at = (at + 1).min(bytes.len());
            out.push_str(body.get(start..at).unwrap_or(""));
        } else if b == b'#' && bytes.get(at + 1) == Some(&b'#') {
            at += 2;
            while out.ends_with(' ') {
                out.pop();
            }
            while bytes.get(at) == Some(&b' ') {
                at += 1;
            }
            // GNU's `, ##__VA_ARGS__`: the comma goes when there is nothing behind it.
            if out.ends_with(',')
                && body[at..].starts_with("__VA_ARGS__")
                && value("__VA_ARGS__").is_some_and(|rest| rest.is_empty())
            {
                out.pop();
            }
        } else if b == b'#' {
            stringize = true;
            at += 1;
        } else {
            at += 1;
            while at < bytes.len() && !body.is_char_boundary(at) {
                at += 1;
            }
            out.push_str(&body[start..at]);
        }
        if out.len() > 1_000_000 {
            break;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pasting_and_stringizing() {
        let value = |word: &str| match word {
            "T" => Some("int".to_owned()),
            "__VA_ARGS__" => Some(String::new()),
            _ => None,
        };
        assert_eq!(substitute("void k_##T(T* p)", &value), "void k_int(int* p)");
        assert_eq!(substitute("f(#T, \"T\")", &value), "f(\"int\", \"T\")");
        assert_eq!(substitute("printf(x, ##__VA_ARGS__)", &value), "printf(x)");
    }

    #[test]
    fn arguments_are_split_at_their_own_commas() {
        let text = "f(a, b), \"x,y\", {1, 2}, ','";
        let pieces: Vec<&str> = split(text).into_iter().map(|(a, b)| text[a..b].trim()).collect();
        assert_eq!(pieces, ["f(a, b)", "\"x,y\"", "{1, 2}", "','"]);
    }
}
