//! What stands in Python files and is not Python: launches in CUDA C++ spelling (`kernel<<<grid, block>>>(args)`) and
//! notebook magics (`!nvidia-smi`, `%timeit`). They are found by scanning tokens, since a file with them does not
//! parse, and masked in place so that everything around them does.

use crate::span::Span;

/// The longest launch configuration that is looked for, in bytes.
const MAX_CONFIGURATION: usize = 4_096;

/// `kernel<<<grid, block>>>(args)` in Python.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PythonChevron {
    /// The kernel's name, dotted or subscripted, template arguments left out.
    pub kernel: Span,
    /// From `<<<` to `>>>`, both included.
    pub chevrons: Span,
    /// What stands between them.
    pub configuration: Span,
    /// The parentheses and what they hold; the opening one alone when nothing closes it.
    pub arguments: Span,
}

impl PythonChevron {
    /// The whole launch.
    pub fn span(&self) -> Span {
        self.kernel.cover(self.arguments)
    }
}

/// Launches in CUDA C++ spelling in a stretch of Python, outside strings and comments, in order.
pub fn python_chevrons(text: &str, region: Span) -> Vec<PythonChevron> {
    let Some(bytes) = text.as_bytes().get(region.range()) else { return Vec::new() };
    if memchr::memmem::find(bytes, b"<<<").is_none() {
        return Vec::new();
    }
    scan(bytes, region.start as usize, false).chevrons
}

/// The bytes of a stretch of Python with launches respelled as subscripts (`kernel[  grid, block]  (args)`) and magics
/// blanked: as long as the raw ones. `None` when there is nothing to hide.
pub(crate) fn mask_python(raw: &[u8]) -> Option<Vec<u8>> {
    let candidate = memchr::memmem::find(raw, b"<<<").is_some()
        || memchr::memchr2_iter(b'!', b'%', raw).any(|at| opens_line(raw, at));
    if !candidate {
        return None;
    }
    let found = scan(raw, 0, true);
    if found.chevrons.is_empty() && found.magics.is_empty() {
        return None;
    }
    let mut masked = raw.to_vec();
    for magic in &found.magics {
        blank(&mut masked, *magic);
    }
    for chevron in &found.chevrons {
        let (open, close) = (chevron.chevrons.start as usize, chevron.chevrons.end as usize);
        // Template arguments and line breaks around the chevrons would end the expression.
        blank(&mut masked, Span::new(chevron.kernel.end as usize, open + 3));
        blank(&mut masked, Span::new(close - 3, chevron.arguments.start as usize));
        if let Some(byte) = masked.get_mut(open) {
            *byte = b'[';
        }
        if let Some(byte) = masked.get_mut(close - 3) {
            *byte = b']';
        }
    }
    Some(masked)
}

fn blank(bytes: &mut [u8], span: Span) {
    if let Some(part) = bytes.get_mut(span.range()) {
        part.fill(b' ');
    }
}

/// Whether only blanks stand before `at` on its line.
pub(crate) fn opens_line(bytes: &[u8], at: usize) -> bool {
    bytes[..at].iter().rev().find(|byte| !matches!(byte, b' ' | b'\t')).is_none_or(|byte| *byte == b'\n')
}

#[derive(Default)]
struct Found {
    chevrons: Vec<PythonChevron>,
    magics: Vec<Span>,
}

fn scan(bytes: &[u8], shift: usize, magics: bool) -> Found {
    let mut found = Found::default();
    let mut depth = 0usize;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'#' => at = line_end(bytes, at),
            b'"' | b'\'' => at = string_end(bytes, at),
            b'(' | b'[' | b'{' => {
                depth += 1;
                at += 1;
            }
            b')' | b']' | b'}' => {
                depth = depth.saturating_sub(1);
                at += 1;
            }
            b'!' | b'%' if magics && depth == 0 && opens_line(bytes, at) && !continued(bytes, at) => {
                let end = line_end(bytes, at);
                found.magics.push(Span::new(at, end));
                at = end;
            }
            b'<' if bytes.get(at..at + 3) == Some(b"<<<") => match chevron(bytes, at) {
                Some(chevron) => {
                    let next = chevron.arguments.start as usize;
                    let moved = |span: Span| Span::new(span.start as usize + shift, span.end as usize + shift);
                    found.chevrons.push(PythonChevron {
                        kernel: moved(chevron.kernel),
                        chevrons: moved(chevron.chevrons),
                        configuration: moved(chevron.configuration),
                        arguments: moved(chevron.arguments),
                    });
                    at = next;
                }
                None => at += bytes[at..].iter().take_while(|byte| **byte == b'<').count(),
            },
            _ => at += 1,
        }
    }
    found
}

/// Whether the line before ends in a backslash.
fn continued(bytes: &[u8], at: usize) -> bool {
    let mut before = bytes[..at].iter().rev().skip_while(|byte| matches!(byte, b' ' | b'\t'));
    before.find(|byte| !matches!(byte, b'\n' | b'\r')) == Some(&b'\\')
}

pub(crate) fn line_end(bytes: &[u8], at: usize) -> usize {
    bytes.get(at..).and_then(|rest| memchr::memchr(b'\n', rest)).map_or(bytes.len(), |offset| at + offset)
}

/// One past the end of the string that begins at `at`; a string in single quotes ends at its line's end at the latest.
pub(crate) fn string_end(bytes: &[u8], at: usize) -> usize {
    let quote = bytes[at];
    let triple = bytes.get(at..at + 3).is_some_and(|three| three.iter().all(|byte| *byte == quote));
    let mut next = at + if triple { 3 } else { 1 };
    while let Some(&byte) = bytes.get(next) {
        match byte {
            b'\\' => next += 2,
            b'\n' if !triple => return next,
            _ if byte == quote && !triple => return next + 1,
            _ if byte == quote && bytes.get(next..next + 3).is_some_and(|three| three.iter().all(|b| *b == quote)) => {
                return next + 3;
            }
            _ => next += 1,
        }
    }
    bytes.len()
}

/// The launch whose `<<<` stands at `at`.
fn chevron(bytes: &[u8], at: usize) -> Option<PythonChevron> {
    if bytes.get(at + 3) == Some(&b'<') || at == 0 {
        return None;
    }
    let kernel = kernel_before(bytes, at)?;
    let close = closing_chevrons(bytes, at + 3)?;
    let after = close + 3;
    let gap = bytes.get(after..)?.iter().take_while(|byte| byte.is_ascii_whitespace() || **byte == b'\\').count();
    let open = after + gap;
    if bytes.get(open) != Some(&b'(') {
        return None;
    }
    let end = bracket_end(bytes, open).unwrap_or(open + 1);
    Some(PythonChevron {
        kernel,
        chevrons: Span::new(at, after),
        configuration: Span::new(at + 3, close),
        arguments: Span::new(open, end),
    })
}

/// The name that ends where a launch begins.
fn kernel_before(bytes: &[u8], at: usize) -> Option<Span> {
    let trimmed = |mut end: usize| {
        while end > 0 && matches!(bytes.get(end - 1), Some(b' ' | b'\t')) {
            end -= 1;
        }
        end
    };
    let mut end = trimmed(at);
    if bytes.get(end.checked_sub(1)?) == Some(&b'>') {
        end = trimmed(opening_before(bytes, end - 1, b'<', b'>')?);
    }
    let mut start = end;
    while start > 0 {
        match bytes.get(start - 1)? {
            b']' => start = opening_before(bytes, start - 1, b'[', b']')?,
            b')' => start = opening_before(bytes, start - 1, b'(', b')')?,
            byte if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.') || !byte.is_ascii() => start -= 1,
            _ => break,
        }
    }
    let first = bytes.get(start)?;
    (start < end && (first.is_ascii_alphabetic() || *first == b'_' || !first.is_ascii())).then(|| Span::new(start, end))
}

/// The opening bracket on the same line for the closing one at `at`.
fn opening_before(bytes: &[u8], at: usize, open: u8, close: u8) -> Option<usize> {
    let mut depth = 0usize;
    for index in (0..=at).rev() {
        let byte = *bytes.get(index)?;
        if byte == b'\n' {
            return None;
        }
        if byte == close {
            depth += 1;
        } else if byte == open {
            depth = depth.checked_sub(1)?;
            if depth == 0 {
                return Some(index);
            }
        }
    }
    None
}

/// The `>>>` that closes a configuration which begins at `from`.
fn closing_chevrons(bytes: &[u8], from: usize) -> Option<usize> {
    let mut depth = 0usize;
    let mut at = from;
    while at < from + MAX_CONFIGURATION {
        match *bytes.get(at)? {
            b'#' => at = line_end(bytes, at),
            b'"' | b'\'' => at = string_end(bytes, at),
            b'(' | b'[' | b'{' => {
                depth += 1;
                at += 1;
            }
            b')' | b']' | b'}' => {
                depth = depth.checked_sub(1)?;
                at += 1;
            }
            b'<' if bytes.get(at..at + 3) == Some(b"<<<") => return None,
            b'>' if depth == 0 && bytes.get(at..at + 3) == Some(b">>>") => return (at > from).then_some(at),
            _ => at += 1,
        }
    }
    None
}

/// One past the bracket that closes the one at `open`.
pub(crate) fn bracket_end(bytes: &[u8], open: usize) -> Option<usize> {
    let mut depth = 0usize;
    let mut at = open;
    loop {
        match *bytes.get(at)? {
            b'#' => at = line_end(bytes, at),
            b'"' | b'\'' => at = string_end(bytes, at),
            b'(' | b'[' | b'{' => {
                depth += 1;
                at += 1;
            }
            b')' | b']' | b'}' => {
                depth = depth.checked_sub(1)?;
                at += 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn launches(text: &str) -> Vec<(&str, &str, &str)> {
        python_chevrons(text, Span::new(0, text.len()))
            .into_iter()
            .map(|c| (&text[c.kernel.range()], &text[c.configuration.range()], &text[c.arguments.range()]))
            .collect()
    }

    #[test]
    fn finds_launches_in_one_and_several_lines() {
        assert_eq!(launches("k<<<g, b>>>(x, y)\n"), [("k", "g, b", "(x, y)")]);
        assert_eq!(launches("mod.k[0] <<<(n+1)//2,\n  b>>> (\n x)\n"), [("mod.k[0]", "(n+1)//2,\n  b", "(\n x)")]);
        assert_eq!(launches("k<float><<<1, 2>>>(x)"), [("k", "1, 2", "(x)")]);
    }

    #[test]
    fn passes_over_strings_comments_prompts_shifts_and_conflict_marks() {
        for text in [
            "s = 'k<<<1, 2>>>(x)'",
            "s = r'''\nk<<<1, 2>>>(x);\n'''",
            "# k<<<1, 2>>>(x)",
            ">>> a << b\n>>> c >> d",
            "a << b << c >> (d)",
            "<<<<<<< HEAD\nx = 1\n>>>>>>> (other)",
            "k<<<1, 2>>>",
        ] {
            assert_eq!(launches(text), [], "{text}");
        }
    }

    #[test]
    fn the_mask_keeps_every_position() {
        let raw = "!pip list\nx = a % b\nk<f><<<g, b>>>\n (x)\n%timeit f()\n";
        let masked = mask_python(raw.as_bytes()).unwrap();
        let expected = "         \nx = a % b\nk   [  g, b]    (x)\n           \n";
        assert_eq!(String::from_utf8(masked).unwrap(), expected);
        assert_eq!(mask_python(b"x = a % b\ny = (a\n  % b)\nz = a \\\n  % b\n"), None);
    }
}
