//! Edits that several rules propose, made of the text at a place. What is not written as expected there (a macro's call, code
//! over several statements) gets none: who applies fixes lints again and keeps only what helped.

use cudalint_engine::ModuleContext;
use cudalint_findings::{Applicability, Edit, Fix, Place};
use cudalint_syntax::{Language, Span};

/// A fix of one edit that needs review.
pub fn unsafe_fix(place: Place, text: String, message: String) -> Fix {
    Fix { applicability: Applicability::Unsafe, message, edits: vec![Edit { place, text }] }
}

/// A number of elements, as it stands at a place, times the size of one.
pub fn times_size(context: &ModuleContext<'_>, span: Span, count: &str, element: &str) -> Option<Fix> {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | ' ' | '*');
    let is_type = !element.is_empty() && element.chars().all(plain) && !element.ends_with([':', ' ']);
    if context.module.language == Language::Python || !is_type || context.text(span) != count {
        return None;
    }
    // A cast or a sum would be parted from what it belongs to.
    let tight = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '[' | ']' | ':' | '*' | ' ');
    let text = if count.chars().all(tight) && !count.starts_with('*') {
        format!("{count} * sizeof({element})")
    } else {
        format!("({count}) * sizeof({element})")
    };
    let message = format!("multiply by `sizeof({element})`");
    Some(unsafe_fix(context.place(span), text, message))
}

/// A barrier in front of the statement of a kernel's body in which the second of two accesses stands. The first has to stand
/// in one before it, and no thread may have left the kernel on the way.
pub fn barrier_between(context: &ModuleContext<'_>, first: Span, second: Span, barrier: &str) -> Option<Fix> {
    if first.end > second.start {
        return None;
    }
    let within = |span: Span, inner: Span| span.start <= inner.start && inner.end <= span.end;
    let function = context.module.functions.iter().filter(|function| within(function.span, second));
    let function = function.filter(|function| within(function.span, first) && !function.damaged);
    let function = function.min_by_key(|function| function.span.end - function.span.start)?;
    let text = context.text(function.span);
    let [first, second] = [first.end, second.start].map(|at| (at - function.span.start) as usize);
    let python = context.module.language == Language::Python;
    let at = if python { python_statement(text, second) } else { statement(text, second) }?;
    let before = text.get(..at)?;
    let between = text.get(first..at)?;
    let leaves = |text: &str| words(text).any(|word| ["return", "goto", "exit", "break", "continue"].contains(&word));
    if first > at || leaves(before) || between.contains("/*") {
        return None;
    }
    let line = before.rsplit('\n').next().unwrap_or("");
    if !line.trim().is_empty() || before.trim_end().ends_with('\\') {
        return None;
    }
    let at = function.span.start + at as u32;
    let place = context.place(Span { start: at, end: at });
    let end = if python { "" } else { ";" };
    let message = format!("put `{barrier}` in front of this statement");
    Some(unsafe_fix(place, format!("{barrier}{end}\n{line}"), message))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

/// Where the statement directly in a function's body begins that holds a byte, in C++.
fn statement(text: &str, inside: usize) -> Option<usize> {
    let mut depth = 0_i32;
    let mut parens = 0_i32;
    let mut begins: Option<usize> = None;
    let mut ended = false;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if at >= inside {
            break;
        }
        match c {
            '/' if text.get(at..)?.starts_with("//") => {
                while chars.peek().is_some_and(|(_, c)| *c != '\n') {
                    chars.next();
                }
                continue;
            }
            '/' if text.get(at..)?.starts_with("/*") => {
                let end = at + 2 + text.get(at + 2..)?.find("*/")? + 2;
                while chars.peek().is_some_and(|(next, _)| *next < end) {
                    chars.next();
                }
                continue;
            }
            // A directive or a string may hold anything.
            '#' | '"' => return None,
            _ => {}
        }
        if !c.is_whitespace() && depth == 1 && ended {
            let rest = text.get(at..)?;
            let goes_on = c == '}' || ["else", "while"].iter().any(|word| words(rest).next() == Some(word));
            if !goes_on {
                begins = Some(at);
            }
            ended = false;
        }
        match c {
            '(' | '[' => parens += 1,
            ')' | ']' => parens -= 1,
            '{' => {
                depth += 1;
                ended |= depth == 1;
            }
            '}' => {
                depth -= 1;
                ended |= depth == 1 && parens == 0;
            }
            ';' if depth == 1 && parens == 0 => ended = true,
            _ => {}
        }
    }
    // The byte itself may begin a statement.
    if ended && depth == 1 { Some(inside) } else { begins.filter(|_| depth >= 1) }
}

/// The same in Python: the last line before a byte that is indented as the body's first one is.
fn python_statement(text: &str, inside: usize) -> Option<usize> {
    let mut indent: Option<usize> = None;
    let mut begins = None;
    let mut start = 0;
    let mut brackets = 0_i32;
    let mut in_body = false;
    for line in text.split_inclusive('\n') {
        let depth = line.len() - line.trim_start().len();
        let blank = line.trim().is_empty() || line.trim_start().starts_with('#');
        if line.contains("\"\"\"") || line.contains("'''") {
            return None;
        }
        if !blank && brackets == 0 && in_body {
            let body = *indent.get_or_insert(depth);
            let word = words(line).next().unwrap_or("");
            if depth == body && start + depth <= inside && !["else", "elif", "except", "finally"].contains(&word) {
                begins = Some(start + depth);
            }
        }
        brackets += line.chars().map(|c| i32::from("([{".contains(c)) - i32::from(")]}".contains(c))).sum::<i32>();
        in_body |= brackets == 0 && line.trim_end().ends_with(':');
        start += line.len();
        if start > inside {
            break;
        }
    }
    begins
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::{python_statement, statement};

    #[test]
    fn the_statement_of_the_body_around_a_place() {
        let text = "void f(int n) {\n  a[i] = 1; // {\n  for (int k = 0; k < n; ++k) { b = 2; }\n  if (n) {\n    c = 3;\n  } else {\n    d = 4;\n  }\n  e = 5;\n}";
        let start = |inside: &str| text.get(statement(text, text.find(inside).unwrap()).unwrap()..).unwrap();
        assert!(start("a[i]").starts_with("a[i]"));
        assert!(start("b =").starts_with("for"));
        assert!(start("c =").starts_with("if"));
        assert!(start("d =").starts_with("if"));
        assert!(start("e =").starts_with("e = 5"));
    }

    #[test]
    fn the_statement_of_a_python_body() {
        let text = "def f(a,\n      b):\n    t[i] = 1\n    if i < 3:\n        x = t[i]\n    else:\n        y = t[2]\n    z = t[1]\n";
        let start = |inside: &str| text.get(python_statement(text, text.find(inside).unwrap()).unwrap()..).unwrap();
        assert!(start("t[i] = 1").starts_with("t[i] = 1"));
        assert!(start("x =").starts_with("if"));
        assert!(start("y =").starts_with("if"));
        assert!(start("t[1]").starts_with("z ="));
    }
}
