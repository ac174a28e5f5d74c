//! Inputs from inputs: tokens, statements and whole files of real sources spliced, repeated and renamed; bytes changed.

use crate::random::Random;

/// An input is not larger than that: what grows faster than its input shows on small ones.
const LONGEST: usize = 12_000;

/// A new input made of one or two old ones.
pub fn mutate(random: &mut Random, seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut text = window(random, seeds);
    // Mostly a few changes: an input that is nothing but noise is refused early.
    let changes = 1 + random.below(4) * random.below(4);
    for _ in 0..changes {
        let other = window(random, seeds);
        text = match random.below(17) {
            0 => bytes(random, text),
            16 => letters(random, &text),
            1 => numbers(random, &text),
            2 => rename(random, &text),
            3 | 4 => splice_pieces(random, &text, &other, lines),
            5 | 6 => splice_pieces(random, &text, &other, statements),
            7 => tail(random, &text, &other),
            8 => repeat(random, &text, statements),
            9 => repeat(random, &text, tokens),
            10 => nest(random, &text),
            11 => remove(random, &text, lines),
            12 => remove(random, &text, tokens),
            13 => swap(random, &text),
            _ => splice_pieces(random, &text, &other, tokens),
        };
        text.truncate(LONGEST);
    }
    text
}

/// A stretch of whole lines of some input.
fn window(random: &mut Random, seeds: &[Vec<u8>]) -> Vec<u8> {
    let Some(seed) = seeds.get(random.index(seeds.len())) else { return Vec::new() };
    if seed.len() <= LONGEST / 2 {
        return seed.clone();
    }
    let start = random.index(seed.len() - LONGEST / 2);
    let start = seed[..start].iter().rposition(|byte| *byte == b'\n').map_or(0, |line| line + 1);
    seed[start..(start + LONGEST / 2).min(seed.len())].to_vec()
}

/// Cuts a text into pieces that make it up.
type Cut = fn(&[u8]) -> Vec<&[u8]>;

fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

fn statements(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| matches!(byte, b';' | b'{' | b'}' | b',' | b'\n')).collect()
}

fn tokens(text: &[u8]) -> Vec<&[u8]> {
    let class = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | 0x80.. => 0,
        b' ' | b'\t' => 1,
        b'<' | b'>' | b'=' | b'+' | b'-' | b'&' | b'|' | b':' => 2,
        _ => 3,
    };
    text.chunk_by(|a, b| class(*a) == class(*b) && class(*a) != 3).collect()
}

fn joined(pieces: &[&[u8]]) -> Vec<u8> {
    pieces.concat()
}

/// A stretch of pieces: mostly short.
fn stretch(random: &mut Random, count: usize) -> std::ops::Range<usize> {
    let start = random.index(count);
    let most = if random.chance(80) { 4 } else { 40 };
    start..(start + 1 + random.index(most)).min(count)
}

/// Pieces of another text in the place of some, or between two.
fn splice_pieces(random: &mut Random, text: &[u8], other: &[u8], cut: Cut) -> Vec<u8> {
    let (mut own, other) = (cut(text), cut(other));
    let from = stretch(random, other.len());
    let to = if random.chance(50) { stretch(random, own.len()) } else { random.index(own.len()).into_range() };
    own.splice(to, other.get(from).unwrap_or(&[]).iter().copied());
    joined(&own)
}

/// The beginning of one text and the end of another.
fn tail(random: &mut Random, text: &[u8], other: &[u8]) -> Vec<u8> {
    let (own, other) = (lines(text), lines(other));
    let (to, from) = (random.index(own.len()), random.index(other.len()));
    [joined(&own[..to]), joined(&other[from..])].concat()
}

/// Some pieces many times: what doubles with each shows at fifty.
fn repeat(random: &mut Random, text: &[u8], cut: Cut) -> Vec<u8> {
    let own = cut(text);
    let range = stretch(random, own.len());
    let piece = joined(own.get(range.clone()).unwrap_or(&[]));
    let times = match random.below(10) {
        0 => 2_000 / piece.len().max(1),
        1..=4 => 40 + random.index(40),
        _ => 2 + random.index(6),
    };
    [joined(&own[..range.start]), piece.repeat(times.max(2)), joined(&own[range.end..])].concat()
}

/// A piece within itself: brackets and what stands around them, many times.
fn nest(random: &mut Random, text: &[u8]) -> Vec<u8> {
    let own = tokens(text);
    let range = stretch(random, own.len());
    let (before, after) = (random.index(range.len() + 1), range.end);
    let middle = range.start + before;
    let (open, close) = (joined(&own[range.start..middle]), joined(&own[middle..after]));
    let times = if random.chance(20) { 300 } else { 2 + random.index(30) };
    [joined(&own[..range.start]), open.repeat(times), close.repeat(times), joined(&own[after..])].concat()
}

fn remove(random: &mut Random, text: &[u8], cut: Cut) -> Vec<u8> {
    let mut own = cut(text);
    let range = stretch(random, own.len());
    own.drain(range);
    joined(&own)
}

fn swap(random: &mut Random, text: &[u8]) -> Vec<u8> {
    let mut own = if random.chance(50) { statements(text) } else { tokens(text) };
    if !own.is_empty() {
        let (a, b) = (random.index(own.len()), random.index(own.len()));
        own.swap(a, b);
    }
    joined(&own)
}

/// One name becomes another everywhere, or in one place: things that hold, call or derive from themselves.
fn rename(random: &mut Random, text: &[u8]) -> Vec<u8> {
    let mut own = tokens(text);
    let words: Vec<usize> = (0..own.len()).filter(|at| own[*at].first().is_some_and(u8::is_ascii_alphabetic)).collect();
    if words.is_empty() {
        return text.to_vec();
    }
    let (from, to) = (words[random.index(words.len())], words[random.index(words.len())]);
    let (name, other) = (own[from], own[to]);
    if random.chance(50) {
        own[from] = other;
    } else {
        own.iter_mut().filter(|token| **token == name).for_each(|token| *token = other);
    }
    joined(&own)
}

fn numbers(random: &mut Random, text: &[u8]) -> Vec<u8> {
    const NUMBERS: &[&str] = &[
        "0",
        "1",
        "-1",
        "2",
        "255",
        "256",
        "65536",
        "2147483647",
        "2147483648",
        "4294967295",
        "4294967296",
        "1000000000",
        "9223372036854775807",
        "18446744073709551615",
        "1e308",
        "0x7fffffffffffffff",
        "0.5",
        "1e-300",
    ];
    let mut own = tokens(text);
    let found: Vec<usize> = (0..own.len()).filter(|at| own[*at].first().is_some_and(u8::is_ascii_digit)).collect();
    if found.is_empty() {
        return text.to_vec();
    }
    let number = random.pick(NUMBERS);
    own[found[random.index(found.len())]] = number.as_bytes();
    joined(&own)
}

fn bytes(random: &mut Random, mut text: Vec<u8>) -> Vec<u8> {
    const BYTES: &[u8] = b"\0\r\n\t\x1b\xff\xc3\"'\\#/*(){}[]<>;:";
    for _ in 0..=random.index(8) {
        let at = random.index(text.len() + 1);
        let byte = if random.chance(50) { BYTES[random.index(BYTES.len())] } else { random.below(256) as u8 };
        match random.below(3) {
            0 => text.insert(at, byte),
            1 if at < text.len() => text[at] = byte,
            _ if at < text.len() => drop(text.remove(at)),
            _ => {}
        }
    }
    text
}

/// Letters of several bytes between two tokens or in the place of one: who counts bytes and takes them for letters, shows there.
fn letters(random: &mut Random, text: &[u8]) -> Vec<u8> {
    const LETTERS: &[&str] =
        &["é", "粒", "子", "（", "）", "；", "\u{2026}", "\u{a0}", "\u{feff}", "e\u{301}", "🚀", "ß", "İ", "µ"];
    let mut own = tokens(text);
    let letter = LETTERS[random.index(LETTERS.len())].as_bytes();
    for _ in 0..=random.index(6) {
        let at = random.index(own.len());
        let count = usize::from(random.chance(30)).min(own.len() - at);
        own.splice(at..at + count, [letter]);
    }
    joined(&own)
}

/// The empty range at a place.
trait IntoRange {
    fn into_range(self) -> std::ops::Range<usize>;
}

impl IntoRange for usize {
    fn into_range(self) -> std::ops::Range<usize> {
        self..self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_inputs_and_others_give_others() {
        let seeds =
            vec![b"int main() {\n  f(1);\n  g(x);\n}\n".to_vec(), b"struct S { int a; };\n".to_vec(), Vec::new()];
        let of = |seed| (0..200).map(|_| mutate(&mut Random::new(seed), &seeds)).collect::<Vec<_>>();
        assert_eq!(of(1), of(1));
        let mut random = Random::new(1);
        let all: std::collections::BTreeSet<_> = (0..200).map(|_| mutate(&mut random, &seeds)).collect();
        assert!(all.len() > 100, "{}", all.len());
    }
}
