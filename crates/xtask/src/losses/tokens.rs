//! Tokens of C++ outside of comments and of branches of `#if 0`, by a few lines that share nothing with the parser.

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A name or a keyword.
    Word,
    /// A literal.
    Literal,
    /// One character.
    Mark,
    /// `#define` of the name that is the token's text.
    Define,
    /// `#if` and its like.
    If,
    /// `#else` and its like.
    Else,
    /// `#endif`.
    EndIf,
}

/// A token.
#[derive(Clone, Copy, Debug)]
pub struct Token<'t> {
    pub kind: Kind,
    pub text: &'t str,
    /// Bytes from the start of the file.
    pub at: usize,
}

/// All tokens of a text.
pub fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut scan = Scan { text, at: 0, found: Vec::new(), groups: Vec::new(), line_start: true };
    while scan.step() {}
    scan.found
}

struct Scan<'t> {
    text: &'t str,
    at: usize,
    found: Vec<Token<'t>>,
    /// Of each open group of `#if`: whether the branch is one of `#if 0`, or stands in one, and whether another may follow that is not.
    groups: Vec<(bool, bool)>,
    line_start: bool,
}

impl<'t> Scan<'t> {
    fn step(&mut self) -> bool {
        let Some(rest) = self.text.get(self.at..).filter(|rest| !rest.is_empty()) else { return false };
        let first = rest.as_bytes()[0];
        if first == b'\n' {
            (self.at, self.line_start) = (self.at + 1, true);
        } else if first.is_ascii_whitespace() {
            self.at += 1;
        } else if rest.starts_with("\\\n") {
            self.at += 2;
        } else if rest.starts_with("//") {
            self.at += end_of_line(rest);
        } else if rest.starts_with("/*") {
            self.at += rest.find("*/").map_or(rest.len(), |end| end + 2);
        } else if first == b'#' && self.line_start {
            self.directive(rest);
        } else {
            self.line_start = false;
            let (kind, length) = token(rest);
            if !self.is_dead() {
                self.found.push(Token { kind, text: &rest[..length], at: self.at });
            }
            self.at += length;
        }
        true
    }

    fn is_dead(&self) -> bool {
        self.groups.last().is_some_and(|(dead, _)| *dead)
    }

    fn directive(&mut self, rest: &'t str) {
        let length = end_of_line(rest);
        let line = &rest[1..length];
        let word = line.trim_start();
        let name_length = word.bytes().take_while(u8::is_ascii_alphanumeric).count();
        let (name, behind) = word.split_at(name_length);
        let mut push = |kind, text| self.found.push(Token { kind, text, at: self.at });
        let dead = self.groups.last().is_some_and(|(dead, _)| *dead);
        match name {
            "if" | "ifdef" | "ifndef" => {
                let never = name == "if" && behind.split_whitespace().next() == Some("0");
                if !dead {
                    push(Kind::If, behind);
                }
                self.groups.push((dead || never, !dead));
            }
            "else" | "elif" => {
                if let Some((dead, open)) = self.groups.last_mut().filter(|(_, open)| *open) {
                    (*dead, *open) = (false, true);
                    push(Kind::Else, behind);
                }
            }
            "endif" => {
                let open = self.groups.pop().is_some_and(|(_, open)| open);
                if open {
                    push(Kind::EndIf, "");
                }
            }
            "define" if !dead => {
                let start = behind.len() - behind.trim_start().len();
                let name = &behind[start..];
                let name = &name[..name.bytes().take_while(|byte| is_of_word(*byte)).count()];
                // Where the name stands, counted from the text that both are parts of.
                let at = self.at + (length - behind.len()) + start;
                self.found.push(Token { kind: Kind::Define, text: name, at });
            }
            _ => {}
        }
        self.at += length;
    }
}

const fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Bytes to the end of a line that may go on behind backslashes, and whose comments may be longer than it.
fn end_of_line(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if bytes.get(at + 1) == Some(&b'\n') => at += 2,
            b'\\' if bytes.get(at + 1) == Some(&b'\r') && bytes.get(at + 2) == Some(&b'\n') => at += 3,
            b'/' if bytes.get(at + 1) == Some(&b'*') && !rest.starts_with("//") => {
                at = rest.get(at..).and_then(|text| text.find("*/")).map_or(bytes.len(), |end| at + end + 2);
            }
            b'\n' => break,
            _ => at += 1,
        }
    }
    at.min(bytes.len())
}

/// Kind and length of the token that a text begins with.
fn token(rest: &str) -> (Kind, usize) {
    let bytes = rest.as_bytes();
    for prefix in ["R\"", "u8R\"", "LR\"", "uR\"", "UR\""] {
        if let Some(behind) = rest.strip_prefix(prefix)
            && let Some(open) = behind.find('(').filter(|open| *open <= 16)
        {
            let end = format!("){}\"", &behind[..open]);
            return (Kind::Literal, behind.find(&end).map_or(rest.len(), |at| prefix.len() + at + end.len()));
        }
    }
    match bytes[0] {
        quote @ (b'"' | b'\'') => {
            let mut at = 1;
            while at < bytes.len() && bytes[at] != quote && bytes[at] != b'\n' {
                at += if bytes[at] == b'\\' { 2 } else { 1 };
            }
            let mut end = (at + 1).min(bytes.len());
            while !rest.is_char_boundary(end) {
                end += 1;
            }
            (Kind::Literal, end)
        }
        first if first.is_ascii_digit() => {
            let of_number = |at: usize| {
                is_of_word(bytes[at])
                    || bytes[at] == b'.'
                    || bytes[at] == b'\'' && bytes.get(at + 1).is_some_and(u8::is_ascii_alphanumeric)
            };
            (Kind::Literal, (1..bytes.len()).find(|at| !of_number(*at)).unwrap_or(bytes.len()))
        }
        first if is_of_word(first) => {
            (Kind::Word, bytes.iter().position(|byte| !is_of_word(*byte)).unwrap_or(bytes.len()))
        }
        _ => (Kind::Mark, 1),
    }
}
