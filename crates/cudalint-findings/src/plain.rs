//! Names, sources and messages are data: text that others chose, made so that it steers no terminal and gives no command to
//! a build server that reads the log.
//!
//! Build servers take lines that begin with `::`, and `##[…]`, `##vso[…]` and `##teamcity[…]` wherever they stand, for
//! commands.

use crate::names;
use serde::Serialize;
use std::borrow::Cow;
use std::fmt::Write as _;

/// Control characters, and those that turn the direction of writing or that break lines.
pub fn steers(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}')
}

/// Places of the second `#` of what a build server takes for a command within a line.
pub(crate) fn commands(text: &str) -> impl Iterator<Item = usize> {
    text.match_indices("##").filter_map(|(at, hashes)| {
        let behind = text.get(at + hashes.len()..)?;
        behind.trim_start_matches(|c: char| c.is_ascii_alphanumeric()).starts_with('[').then_some(at + 1)
    })
}

/// Text on one line that neither steers a terminal nor is a command in a log: such characters as blanks, the second
/// `#` of a command as `?`, and bytes of [names] that are no UTF-8 as U+FFFD.
pub fn one_line(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| steers(c) || names::byte(c).is_some()) && commands(text).next().is_none() {
        return text.into();
    }
    let found: Vec<usize> = commands(text).collect();
    let letter = |(at, c): (usize, char)| match c {
        _ if found.contains(&at) => '?',
        c if steers(c) => ' ',
        c if names::byte(c).is_some() => char::REPLACEMENT_CHARACTER,
        c => c,
    };
    text.char_indices().map(letter).collect::<String>().into()
}

/// A path as the beginning of a line: with `./` in front of a name that could be taken for anything but a path.
pub fn path(path: &str) -> Cow<'_, str> {
    let path = one_line(path);
    let first = path.split('/').next().unwrap_or("");
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '+' | '@' | '<' | '>');
    let drive = matches!(first.as_bytes(), [letter, b':'] if letter.is_ascii_alphabetic());
    if path.starts_with('/') || drive || (first.chars().all(plain) && !first.starts_with(['-', '+', '@'])) {
        path
    } else {
        format!("./{path}").into()
    }
}

/// JSON with characters that steer, and the `#` of commands, written as escapes: both stand in strings alone.
fn in_json(json: String) -> String {
    let breaks = |c: char| steers(c) && c != '\n';
    if !json.chars().any(|c| breaks(c) || names::byte(c).is_some()) && commands(&json).next().is_none() {
        return json;
    }
    let found: Vec<usize> = commands(&json).collect();
    let mut out = String::with_capacity(json.len() + 16);
    for (at, c) in json.char_indices() {
        if breaks(c) || found.binary_search(&at).is_ok() {
            // None of these is above the sixteen bits of one escape.
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        } else if names::byte(c).is_some() {
            out.push(char::REPLACEMENT_CHARACTER);
        } else {
            out.push(c);
        }
    }
    out
}

/// A value as JSON. The models hold nothing that JSON cannot (no maps with other keys than text, no writers that
/// fail), so the error case cannot come up; it would read as `null`.
pub(crate) fn to_json<T: Serialize>(value: &T, pretty: bool) -> String {
    let text = if pretty { serde_json::to_string_pretty(value) } else { serde_json::to_string(value) };
    in_json(text.unwrap_or_else(|_| "null".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_of_build_servers_are_broken_up() {
        assert_eq!(one_line("a\n::error::b\u{1b}[31m\u{202e}"), "a ::error::b [31m ");
        assert_eq!(one_line("##[error]x ##vso[task] ##teamcity[t]"), "#?[error]x #?vso[task] #?teamcity[t]");
        assert_eq!(one_line("#define JOIN(a, b) a##b"), "#define JOIN(a, b) a##b");
    }

    #[test]
    fn a_line_begins_with_no_word_that_a_name_chose() {
        for plain in ["src/a b.cu", "a.cu", "../a.cu", "./a.cu", "/tmp/::x.cu", "C:/a.cu", "größe.cu"] {
            assert_eq!(path(plain), plain);
        }
        for odd in ["::error::x.cu", "error: all is lost.cu", " ::notice::.cu", "-o.cu", "error[x]/a.cu"] {
            assert_eq!(path(odd), format!("./{odd}"));
        }
        assert_eq!(path("\u{1b}[2J.cu"), "./ [2J.cu");
    }

    #[test]
    fn json_says_the_same_with_escapes() {
        let text = "\u{9b}31m \u{202e} ##[error] \u{7f}";
        let json = in_json(serde_json::Value::from(text).to_string());
        assert!(json.is_ascii() && !json.contains("##["), "{json}");
        assert_eq!(serde_json::from_str::<String>(&json).ok().as_deref(), Some(text));
    }
}
