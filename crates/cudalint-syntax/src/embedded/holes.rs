//! Templates: what a file does with its strings, and names for what is put into them.

use super::strings::{is_word, literal, word_end};
use crate::python_mask::bracket_end;
use rustc_hash::FxHashMap;

/// What a stretch of Python does with strings, wherever that is.
pub(super) struct Templates<'t> {
    bytes: &'t [u8],
    from: usize,
    /// First arguments of `.replace(…)`, unquoted.
    pub replaced: Vec<&'t [u8]>,
    /// Whether a template engine with statements of its own (`{% if … %}`, `% for …`) is named.
    pub engine: bool,
}

impl<'t> Templates<'t> {
    pub fn of(bytes: &'t [u8], from: usize) -> Self {
        let text = bytes.get(from..).unwrap_or(&[]);
        let has = |word: &[u8]| memchr::memmem::find(text, word).is_some();
        let mut replaced = Vec::new();
        for at in memchr::memmem::find_iter(text, b".replace(") {
            let Some(piece) = literal(bytes, from + at + b".replace(".len()) else { continue };
            let Some(word) = bytes.get(piece.content) else { continue };
            let named = word.iter().any(u8::is_ascii_alphanumeric) || word.trim_ascii().len() > 1;
            if named && !word.contains(&b'\\') && !replaced.contains(&word) {
                replaced.push(word);
            }
        }
        Self { bytes, from, replaced, engine: has(b"jinja2") || has(b"mako") || has(b"Cheetah") }
    }

    /// Whether a variable of this name is given values somewhere: by `%`, by `.format(…)`.
    pub fn uses(&self, name: &[u8]) -> (bool, bool) {
        let (mut percent, mut format) = (false, false);
        let text = self.bytes.get(self.from..).unwrap_or(&[]);
        if name.is_empty() {
            return (false, false);
        }
        for at in memchr::memmem::find_iter(text, name) {
            let before = at.checked_sub(1).and_then(|at| text.get(at)).copied().unwrap_or(b' ');
            let mut end = at + name.len();
            if is_word(before) || text.get(end).copied().is_some_and(is_word) {
                continue;
            }
            // Methods may stand between: `code.strip().format(…)`.
            while text.get(end) == Some(&b'.') {
                let method = end + 1..word_end(text, end + 1);
                format |= matches!(text.get(method.clone()), Some(b"format" | b"format_map"));
                let Some(close) = bracket_end(text, method.end).filter(|_| text.get(method.end) == Some(&b'(')) else {
                    break;
                };
                end = close;
            }
            end +=
                text.get(end..).map_or(0, |rest| rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count());
            percent |= text.get(end) == Some(&b'%');
        }
        (percent, format)
    }
}

/// Names for holes, as long as the holes: one for each name that is put in, and one for each that has no name.
#[derive(Default)]
pub(super) struct Names {
    given: FxHashMap<Vec<u8>, Vec<u8>>,
    count: usize,
}

impl Names {
    /// The name of a hole; `expression` is what is put in, empty when that is told by position. No word of `text`.
    pub fn name(&mut self, length: usize, expression: &[u8], text: &[u8]) -> Vec<u8> {
        let key = [expression, &length.to_le_bytes()].concat();
        if !expression.is_empty()
            && let Some(name) = self.given.get(&key)
        {
            return name.clone();
        }
        let mut name = self.fresh(length, expression);
        let taken = |given: &FxHashMap<Vec<u8>, Vec<u8>>, name: &Vec<u8>| {
            memchr::memmem::find(text, name).is_some() || given.values().any(|other| other == name)
        };
        while taken(&self.given, &name) && self.count < 10_000 {
            name = self.fresh(length, b"");
        }
        // What is told by position is another thing each time.
        let key = if expression.is_empty() { name.clone() } else { key };
        self.given.insert(key, name.clone());
        name
    }

    /// What is put in, with underscores for all that is no letter; else `Q`, underscores and a number.
    fn fresh(&mut self, length: usize, expression: &[u8]) -> Vec<u8> {
        const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
        const FIRST: &[u8; 6] = b"QXZJWY";
        let mut name = vec![b'_'; length];
        if !expression.is_empty() && expression.len() < length {
            let shift = 1;
            for (slot, byte) in name.iter_mut().skip(shift).zip(expression) {
                if byte.is_ascii_alphanumeric() {
                    *slot = *byte;
                }
            }
            return name;
        }
        self.count += 1;
        let mut rest = self.count;
        for slot in name.iter_mut().skip(1).rev() {
            *slot = DIGITS[rest % DIGITS.len()];
            rest /= DIGITS.len();
            if rest == 0 {
                break;
            }
        }
        if let Some(slot) = name.first_mut() {
            *slot = FIRST[rest % FIRST.len()];
        }
        name
    }
}
