//! The one hand lexer: C++ bytes to tokens, comments and directives, without expanding anything.

use crate::span::Span;

/// Brackets nested deeper than this are not parsed, nor names with more qualifiers in one piece.
pub const MAX_NESTING: usize = 1_000;

/// Kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Identifier or keyword; bytes above ASCII count as letters.
    Word,
    /// Preprocessing number.
    Number,
    /// String literal, raw ones included.
    Text,
    /// Character literal.
    Char,
    /// A preprocessor directive with its continuation lines, without the final newline.
    Directive,
    /// One or more punctuation bytes; `Token::code` tells which.
    Punct,
}

/// Codes of punctuation of more than one byte; a single byte is its own code.
pub(crate) mod code {
    pub const SCOPE: u16 = 256; // ::
    pub const ARROW: u16 = 257; // ->
    pub const ARROW_STAR: u16 = 258; // ->*
    pub const SHL: u16 = 259; // <<
    pub const LAUNCH: u16 = 260; // <<<
    pub const LE: u16 = 261; // <=
    pub const GE: u16 = 262; // >=
    pub const EQ: u16 = 263; // ==
    pub const NE: u16 = 264; // !=
    pub const ANDAND: u16 = 265;
    pub const OROR: u16 = 266;
    pub const INC: u16 = 267;
    pub const DEC: u16 = 268;
    pub const COMPOUND: u16 = 269; // += and its like
    pub const ELLIPSIS: u16 = 270;
    pub const PASTE: u16 = 271; // ##
}

/// One token: byte range, kind and punctuation code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub start: u32,
    pub end: u32,
    pub code: u16,
    pub kind: Kind,
}

impl Token {
    pub fn span(&self) -> Span {
        Span { start: self.start, end: self.end }
    }
}

/// What the lexer found in a text.
#[derive(Debug, Default)]
pub(crate) struct Lexed {
    pub tokens: Vec<Token>,
    pub comments: Vec<Span>,
    /// Deepest nesting of brackets, or of the qualifiers of a name.
    pub depth: usize,
    /// Closing brackets that nothing of their kind was open for, and operators before one that lack an operand.
    pub stray: usize,
}

pub(crate) struct Lexer<'t> {
    pub bytes: &'t [u8],
    pub at: usize,
    /// Whether only blanks and comments stand before `at` on its line.
    pub line_start: bool,
}

/// One step of the lexer.
pub(crate) enum Step {
    Token(Token),
    Comment(Span),
}

const OTHER: u8 = 0;
const BLANK: u8 = 1;
const WORD: u8 = 2;
const DIGIT: u8 = 3;
const NEWLINE: u8 = 4;
/// A punctuation that no longer one begins with.
const SINGLE: u8 = 5;

const CLASS: [u8; 256] = {
    let mut table = [OTHER; 256];
    let mut i = 0;
    while i < 256 {
        let b = i as u8;
        table[i] = if b == b'\n' {
            NEWLINE
        } else if b == b' ' || b == b'\t' || b == b'\r' || b == 0x0b || b == 0x0c {
            BLANK
        } else if b.is_ascii_alphabetic() || b == b'_' || b == b'$' || b >= 0x80 {
            WORD
        } else if b.is_ascii_digit() {
            DIGIT
        } else if matches!(b, b'(' | b')' | b'[' | b']' | b'{' | b'}' | b';' | b',' | b'?' | b'~') {
            SINGLE
        } else {
            OTHER
        };
        i += 1;
    }
    table
};

/// Whether a byte can stand inside an identifier.
pub(crate) fn is_word_byte(b: u8) -> bool {
    matches!(CLASS[b as usize], WORD | DIGIT)
}

impl<'t> Lexer<'t> {
    pub fn new(bytes: &'t [u8], at: usize) -> Self {
        Self { bytes, at, line_start: true }
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    /// The next token or comment; `None` at the end.
    pub fn next(&mut self) -> Option<Step> {
        loop {
            let b = *self.bytes.get(self.at)?;
            match CLASS[b as usize] {
                BLANK => self.at += 1,
                NEWLINE => {
                    self.at += 1;
                    self.line_start = true;
                }
                WORD => return Some(Step::Token(self.word())),
                DIGIT => return Some(Step::Token(self.number())),
                SINGLE => {
                    let mut token = self.token(Kind::Punct, self.at, self.at + 1);
                    token.code = u16::from(b);
                    return Some(Step::Token(token));
                }
                _ => match b {
                    b'/' if self.peek(1) == b'/' => return Some(Step::Comment(self.line_comment())),
                    b'/' if self.peek(1) == b'*' => return Some(Step::Comment(self.block_comment())),
                    b'#' if self.line_start => return Some(Step::Token(self.directive())),
                    b'"' => return Some(Step::Token(self.string(self.at))),
                    b'\'' => return Some(Step::Token(self.char(self.at))),
                    b'.' if self.peek(1).is_ascii_digit() => return Some(Step::Token(self.number())),
                    b'\\' if matches!(self.peek(1), b'\n' | b'\r') => {
                        self.at += if self.peek(1) == b'\r' { 3 } else { 2 };
                    }
                    _ => return Some(Step::Token(self.punct(b))),
                },
            }
        }
    }

    fn token(&mut self, kind: Kind, start: usize, end: usize) -> Token {
        self.line_start = false;
        let end = end.min(self.bytes.len());
        self.at = end;
        Token { start: start as u32, end: end as u32, code: 0, kind }
    }

    fn word(&mut self) -> Token {
        let start = self.at;
        let mut end = start + 1;
        while self.bytes.get(end).is_some_and(|b| is_word_byte(*b)) {
            end += 1;
        }
        let next = self.bytes.get(end).copied().unwrap_or(0);
        if (next == b'"' || next == b'\'') && end - start <= 3 {
            let word = &self.bytes[start..end];
            if next == b'"' && matches!(word, b"R" | b"LR" | b"uR" | b"UR" | b"u8R") {
                return self.raw_string(start, end);
            }
            if matches!(word, b"L" | b"u" | b"U" | b"u8") {
                self.at = end;
                return if next == b'"' { self.string(start) } else { self.char(start) };
            }
        }
        let mut token = self.token(Kind::Word, start, end);
        token.code = crate::keywords::lookup(&self.bytes[start..end]) as u16;
        token
    }

    fn number(&mut self) -> Token {
        let start = self.at;
        let mut end = start + 1;
        while let Some(b) = self.bytes.get(end) {
            let before = self.bytes[end - 1];
            let sign = matches!(b, b'+' | b'-')
                && (matches!(before, b'p' | b'P')
                    || (matches!(before, b'e' | b'E') && !matches!(self.bytes.get(start + 1), Some(b'x' | b'X'))));
            let separator = *b == b'\'' && self.bytes.get(end + 1).is_some_and(u8::is_ascii_alphanumeric);
            if !(is_word_byte(*b) || *b == b'.' || sign || separator) {
                break;
            }
            end += 1;
        }
        self.token(Kind::Number, start, end)
    }

    /// A string from its first byte (prefix included); `self.at` is at the quote. Ends at the quote or, unterminated, at
    /// the end of the line.
    fn string(&mut self, start: usize) -> Token {
        let end = quoted_end(self.bytes, self.at, b'"');
        self.token(Kind::Text, start, end)
    }

    fn char(&mut self, start: usize) -> Token {
        let end = quoted_end(self.bytes, self.at, b'\'');
        self.token(Kind::Char, start, end)
    }

    fn raw_string(&mut self, start: usize, quote: usize) -> Token {
        let end = raw_string_end(self.bytes, quote);
        self.token(Kind::Text, start, end)
    }

    fn line_comment(&mut self) -> Span {
        let start = self.at;
        let mut end = start;
        loop {
            end = memchr::memchr(b'\n', &self.bytes[end..]).map_or(self.bytes.len(), |n| end + n);
            let before = if end > start && self.bytes[end - 1] == b'\r' { end - 1 } else { end };
            if end >= self.bytes.len() || before <= start || self.bytes[before - 1] != b'\\' {
                break;
            }
            end += 1;
        }
        self.at = end;
        Span::new(start, end)
    }

    fn block_comment(&mut self) -> Span {
        let start = self.at;
        let end = memchr::memmem::find(&self.bytes[start + 2..], b"*/").map_or(self.bytes.len(), |n| start + 2 + n + 2);
        self.at = end;
        Span::new(start, end)
    }

    fn directive(&mut self) -> Token {
        let start = self.at;
        let end = directive_end(self.bytes, start);
        let mut token = self.token(Kind::Directive, start, end);
        token.code = u16::from(b'#');
        self.line_start = true;
        token
    }

    fn punct(&mut self, b: u8) -> Token {
        let (length, code) = match (b, self.peek(1), self.peek(2)) {
            (b':', b':', _) => (2, code::SCOPE),
            (b'-', b'>', b'*') => (3, code::ARROW_STAR),
            (b'-', b'>', _) => (2, code::ARROW),
            (b'<', b'<', b'<') => (3, code::LAUNCH),
            (b'<', b'<', b'=') => (3, code::COMPOUND),
            (b'<', b'<', _) => (2, code::SHL),
            (b'<', b'=', _) => (2, code::LE),
            (b'>', b'=', _) => (2, code::GE),
            (b'=', b'=', _) => (2, code::EQ),
            (b'!', b'=', _) => (2, code::NE),
            (b'&', b'&', _) => (2, code::ANDAND),
            (b'|', b'|', _) => (2, code::OROR),
            (b'+', b'+', _) => (2, code::INC),
            (b'-', b'-', _) => (2, code::DEC),
            (b'+' | b'-' | b'*' | b'/' | b'%' | b'&' | b'|' | b'^', b'=', _) => (2, code::COMPOUND),
            (b'.', b'.', b'.') => (3, code::ELLIPSIS),
            (b'#', b'#', _) => (2, code::PASTE),
            _ => (1, u16::from(b)),
        };
        let start = self.at;
        let mut token = self.token(Kind::Punct, start, start + length);
        token.code = code;
        token
    }
}

/// End of a quoted literal whose quote is at `quote`.
pub(crate) fn quoted_end(bytes: &[u8], quote: usize, mark: u8) -> usize {
    let mut at = quote + 1;
    while let Some(b) = bytes.get(at) {
        match *b {
            b'\\' if bytes.get(at + 1) == Some(&b'\r') => at += 3,
            b'\\' => at += 2,
            b'\n' => return at,
            b if b == mark => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// End of a raw string whose quote is at `quote`.
pub(crate) fn raw_string_end(bytes: &[u8], quote: usize) -> usize {
    let head = &bytes[quote + 1..bytes.len().min(quote + 18)];
    let Some(open) = memchr::memchr(b'(', head) else {
        return quoted_end(bytes, quote, b'"');
    };
    let mut close = Vec::with_capacity(open + 2);
    close.push(b')');
    close.extend_from_slice(&head[..open]);
    close.push(b'"');
    let from = quote + 2 + open;
    memchr::memmem::find(&bytes[from..], &close).map_or(bytes.len(), |n| from + n + close.len())
}

/// End of a directive that starts at `start`: the newline that is neither continued nor inside a block comment.
pub(crate) fn directive_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    while let Some(b) = bytes.get(at) {
        match *b {
            b'\n' => return at,
            b'\\' if bytes.get(at + 1) == Some(&b'\n') => at += 2,
            b'\\' if bytes.get(at + 1) == Some(&b'\r') && bytes.get(at + 2) == Some(&b'\n') => at += 3,
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                at = memchr::memmem::find(&bytes[at + 2..], b"*/").map_or(bytes.len(), |n| at + 2 + n + 2);
            }
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                // The comment runs to the end of the line; continuation still counts.
                at += 2;
                while let Some(b) = bytes.get(at) {
                    if *b == b'\n' {
                        break;
                    }
                    at += if *b == b'\\' && bytes.get(at + 1) == Some(&b'\n') { 2 } else { 1 };
                }
            }
            b'"' => at = quoted_end(bytes, at, b'"'),
            _ => at += 1,
        }
    }
    bytes.len()
}

impl Lexed {
    /// Whether so much is without its match that the parser would try for minutes what could have been meant.
    pub fn is_hopeless(&self) -> bool {
        self.stray > 256 + self.tokens.len() / 200
    }
}

/// Lexes `bytes[from..]`.
pub(crate) fn lex(bytes: &[u8], from: usize) -> Lexed {
    let mut lexed = Lexed::default();
    lexed.tokens.reserve((bytes.len() - from.min(bytes.len())) / 5);
    let mut lexer = Lexer::new(bytes, from);
    let mut open: Vec<u8> = Vec::new();
    let mut braces = 0usize;
    let mut name = Name::default();
    while let Some(step) = lexer.next() {
        match step {
            Step::Comment(span) => lexed.comments.push(span),
            Step::Token(token) => {
                if token.kind == Kind::Punct {
                    lexed.depth = lexed.depth.max(name.qualifiers_with(token.code));
                    lexed.stray +=
                        usize::from(lacks_operand(&lexed.tokens, token) || ends_comment(&lexed.tokens, token));
                    match token.code as u8 {
                        byte @ (b'(' | b'[' | b'{') if token.code < 256 => {
                            open.push(byte);
                            braces += usize::from(byte == b'{');
                            lexed.depth = lexed.depth.max(open.len());
                        }
                        // A brace closes what was left open inside of it; other brackets only their own kind.
                        b'}' if token.code < 256 && braces > 0 => {
                            while open.pop().is_some_and(|byte| byte != b'{') {}
                            braces -= 1;
                        }
                        byte @ (b')' | b']' | b'}') if token.code < 256 => {
                            let own = match byte {
                                b')' => b'(',
                                b']' => b'[',
                                _ => b'{',
                            };
                            if open.pop_if(|last| *last == own).is_none() {
                                lexed.stray += 1;
                            }
                        }
                        _ => {}
                    }
                }
                lexed.tokens.push(token);
            }
        }
    }
    lexed
}

/// A name that is being read: `a<b>::c<d>::e` nests in the tree as deep as it has qualifiers, and the parser weighs what each of
/// them may be against all before.
#[derive(Default)]
struct Name {
    qualifiers: usize,
    angles: usize,
}

impl Name {
    /// How many qualifiers it has behind a next piece of punctuation; words change nothing.
    fn qualifiers_with(&mut self, next: u16) -> usize {
        const LESS: u16 = b'<' as u16;
        const GREATER: u16 = b'>' as u16;
        const COMMA: u16 = b',' as u16;
        match next {
            code::SCOPE => self.qualifiers += 1,
            LESS => self.angles += 1,
            GREATER => self.angles = self.angles.saturating_sub(1),
            // Arguments of a template; else one of a list of names.
            COMMA if self.angles > 0 => {}
            _ => *self = Self::default(),
        }
        self.qualifiers
    }
}

/// Whether `token` is the second half of a `*/` that ends no comment.
fn ends_comment(before: &[Token], token: Token) -> bool {
    let star = before.last().filter(|last| last.kind == Kind::Punct && last.code == u16::from(b'*'));
    token.code == u16::from(b'/') && star.is_some_and(|star| star.end == token.start)
}

/// Whether an operator that cannot end an expression or a type stands right before `token`, which ends one.
fn lacks_operand(before: &[Token], token: Token) -> bool {
    let ends = |code: u16| code < 256 && matches!(code as u8, b')' | b']' | b'}' | b';');
    let [.., first, last] = before else { return false };
    if !ends(token.code) || last.kind != Kind::Punct {
        return false;
    }
    match last.code {
        // Behind an operand they are postfix.
        code::INC | code::DEC => first.kind == Kind::Punct && !matches!(first.code as u8, b')' | b']'),
        code => code < 256 && matches!(code as u8, b'+' | b'-' | b'/' | b'%' | b'!' | b'~' | b'|' | b'^' | b'?'),
    }
}
