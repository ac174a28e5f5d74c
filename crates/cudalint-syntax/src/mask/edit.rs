//! What the passes of the mask share: the text being masked, its tokens, their brackets and their surroundings.

use super::{MaskKind, MaskNote};
use crate::defines::Define;
use crate::keywords::{Group, W, by_code};
use crate::lexer::{Kind, Token, code};
use crate::macros::{Class, MacroTable, Shapes};
use crate::span::Span;
use rustc_hash::{FxHashMap, FxHashSet};

/// No token.
pub(super) const NONE: usize = usize::MAX;

/// What a brace holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// A namespace, `extern "C"` or the file.
    Namespace,
    /// Members of a class.
    Class,
    /// Enumerators.
    Enum,
    /// Statements.
    Block,
    /// An initialiser.
    Init,
    /// A parenthesis or square bracket.
    Group,
}

/// The region while it is masked. Offsets are those of the region.
pub(super) struct Edit<'t> {
    pub raw: &'t [u8],
    pub out: Vec<u8>,
    pub tokens: Vec<Token>,
    /// The matching bracket of each bracket token, else `NONE32`.
    mates: Vec<u32>,
    /// The innermost open bracket around each token.
    parents: Vec<u32>,
    /// What each opening bracket holds.
    scopes: Vec<Scope>,
    pub notes: Vec<MaskNote>,
    /// Where the heads of macros end that have no body, and blanks behind.
    pub bare: Vec<usize>,
    macros: &'t MacroTable,
    local: FxHashMap<Box<[u8]>, Class>,
    local_shapes: Shapes,
    dead: bool,
    /// Offsets after which a `;` was written.
    ended: FxHashSet<u32>,
}

const NONE32: u32 = u32::MAX;

/// Code of the byte of a punctuation.
pub(super) const fn p(byte: u8) -> u16 {
    byte as u16
}

impl<'t> Edit<'t> {
    pub fn new(raw: &'t [u8], tokens: Vec<Token>, macros: &'t MacroTable, defines: &[Define]) -> Self {
        let local = macros.local(defines);
        let local_shapes = if local.is_empty() { Shapes::default() } else { Shapes::of(local.keys(), 1 << 10) };
        Self {
            raw,
            out: raw.to_vec(),
            tokens,
            mates: Vec::new(),
            parents: Vec::new(),
            scopes: Vec::new(),
            notes: Vec::new(),
            bare: Vec::new(),
            macros,
            local,
            local_shapes,
            dead: false,
            ended: FxHashSet::default(),
        }
    }

    /// Number of tokens.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    pub fn kind(&self, i: usize) -> Option<Kind> {
        self.tokens.get(i).map(|t| t.kind)
    }

    /// Code of a punctuation; 0 for anything else.
    pub fn punct(&self, i: usize) -> u16 {
        self.tokens.get(i).filter(|t| t.kind == Kind::Punct).map_or(0, |t| t.code)
    }

    pub fn is(&self, i: usize, byte: u8) -> bool {
        self.punct(i) == p(byte)
    }

    /// The known word at a token; `None` when it is no word.
    pub fn word(&self, i: usize) -> Option<W> {
        self.tokens.get(i).filter(|t| t.kind == Kind::Word).map(|t| by_code(t.code))
    }

    pub fn is_word(&self, i: usize, word: W) -> bool {
        self.tokens.get(i).is_some_and(|t| t.kind == Kind::Word && t.code == word as u16)
    }

    /// Whether the token is a name that is no keyword.
    pub fn is_name(&self, i: usize) -> bool {
        self.is_word(i, W::Plain)
    }

    pub fn group(&self, i: usize) -> Option<Group> {
        self.word(i).map(W::group)
    }

    pub fn text(&self, i: usize) -> &'t [u8] {
        self.tokens.get(i).map_or(&[], |t| self.raw.get(t.span().range()).unwrap_or(&[]))
    }

    pub fn span(&self, i: usize) -> Span {
        self.tokens.get(i).map_or(Span::new(self.raw.len(), self.raw.len()), Token::span)
    }

    /// From the first byte of token `a` to the last of token `b`.
    pub fn between(&self, a: usize, b: usize) -> Span {
        self.span(a).cover(self.span(b))
    }

    /// The matching bracket; `NONE` when there is none.
    pub fn mate(&self, i: usize) -> usize {
        self.mates.get(i).map_or(NONE, |m| if *m == NONE32 { NONE } else { *m as usize })
    }

    /// The innermost bracket that is open at a token; `NONE` at the outermost level.
    pub fn parent(&self, i: usize) -> usize {
        self.parents.get(i).map_or(NONE, |m| if *m == NONE32 { NONE } else { *m as usize })
    }

    /// What surrounds a token.
    pub fn scope(&self, i: usize) -> Scope {
        match self.parent(i) {
            NONE => Scope::Namespace,
            open => self.scopes.get(open).copied().unwrap_or(Scope::Group),
        }
    }

    /// What an opening bracket holds.
    pub fn scope_of(&self, open: usize) -> Scope {
        self.scopes.get(open).copied().unwrap_or(Scope::Group)
    }

    /// Whether the token before `i` ends a statement or declaration, so that `i` starts one.
    pub fn starts_statement(&self, i: usize) -> bool {
        let Some(before) = i.checked_sub(1) else { return true };
        if !self.ended.is_empty() && self.ended.contains(&self.span(before).end) {
            return true;
        }
        match self.kind(before) {
            Some(Kind::Directive) => true,
            Some(Kind::Punct) => match self.punct(before) {
                c if c == p(b';') || c == p(b'{') => self.scope_of_statement(i),
                c if c == p(b'}') => {
                    // After an initialiser's brace nothing starts.
                    self.scope_of_statement(i) && self.scope_of(self.mate(before)) != Scope::Init
                }
                c if c == p(b':') => self.is_label_colon(before),
                c if c == p(b')') => self.is_control_header(before),
                _ => false,
            },
            Some(Kind::Word) => matches!(self.word(before), Some(W::Else | W::Do)),
            _ => false,
        }
    }

    fn scope_of_statement(&self, i: usize) -> bool {
        matches!(self.scope(i), Scope::Namespace | Scope::Class | Scope::Block)
    }

    /// Whether a `:` ends `public`, `case x` or a label.
    pub fn is_label_colon(&self, colon: usize) -> bool {
        let Some(before) = colon.checked_sub(1) else { return false };
        match self.word(before) {
            Some(W::Public | W::Private | W::Protected | W::Default) => true,
            _ => {
                // `case` on the same statement, or a name that itself starts a statement.
                let mut i = before;
                for _ in 0..24 {
                    if self.is_word(i, W::Case) {
                        return true;
                    }
                    if matches!(self.punct(i), c if c == p(b';') || c == p(b'{') || c == p(b'}') || c == p(b'?')) {
                        return false;
                    }
                    let Some(next) = i.checked_sub(1) else { break };
                    if i == before && self.is_name(i) && self.starts_plainly(i) {
                        return true;
                    }
                    i = next;
                }
                false
            }
        }
    }

    fn starts_plainly(&self, i: usize) -> bool {
        let Some(before) = i.checked_sub(1) else { return false };
        let c = self.punct(before);
        self.scope(i) == Scope::Block && (c == p(b';') || c == p(b'{') || c == p(b'}'))
    }

    /// Whether a `)` closes the header of `if`, `for`, `while` or `switch`.
    pub fn is_control_header(&self, close: usize) -> bool {
        let open = self.mate(close);
        if open == NONE || open == 0 {
            return false;
        }
        match self.word(open - 1) {
            Some(W::If | W::For | W::While | W::Switch) => true,
            Some(W::Constexpr) => open >= 2 && self.is_word(open - 2, W::If),
            _ => false,
        }
    }

    /// Whether a newline lies between tokens `i` and `i + 1`.
    pub fn newline_after(&self, i: usize) -> bool {
        let from = self.span(i).end as usize;
        let to = self.span(i + 1).start as usize;
        self.raw.get(from..to).is_none_or(|gap| gap.contains(&b'\n'))
    }

    /// What a name's definitions say; the file's own come first.
    pub fn class(&self, i: usize) -> Option<Class> {
        let name = self.text(i);
        if self.local_shapes.may_have(name)
            && let Some(class) = self.local.get(name)
        {
            return Some(*class);
        }
        self.macros.class(name)
    }

    /// Blanks a span; newlines stay.
    pub fn blank(&mut self, span: Span) {
        if let Some(bytes) = self.out.get_mut(span.range()) {
            for b in bytes {
                if *b != b'\n' && *b != b'\r' {
                    *b = b' ';
                }
            }
        }
    }

    /// Writes bytes at the start of a span and blanks the rest. Nothing happens when they do not fit on one line.
    pub fn overlay(&mut self, span: Span, bytes: &[u8]) -> bool {
        let fits = self.out.get(span.range()).is_some_and(|old| {
            old.len() >= bytes.len() && !old.iter().take(bytes.len()).any(|b| *b == b'\n' || *b == b'\r')
        });
        if fits {
            self.blank(span);
            let start = span.start as usize;
            self.out[start..start + bytes.len()].copy_from_slice(bytes);
        }
        fits
    }

    /// Writes one byte.
    pub fn put(&mut self, at: usize, byte: u8) {
        if let Some(slot) = self.out.get_mut(at) {
            *slot = byte;
        }
    }

    pub fn note(&mut self, span: Span, kind: MaskKind) {
        self.notes.push(MaskNote { span, kind });
    }

    /// Removes tokens `from..=to` from the passes after this one (their bytes are left as they are).
    pub fn kill(&mut self, from: usize, to: usize) {
        for token in self.tokens.iter_mut().take(to + 1).skip(from) {
            token.end = token.start;
        }
        self.dead = true;
    }

    /// Blanks and kills tokens `from..=to`.
    pub fn drop_tokens(&mut self, from: usize, to: usize) {
        let span = self.between(from, to);
        self.blank(span);
        self.kill(from, to);
    }

    /// Blanks and kills tokens `from..=to`, and notes it.
    pub fn erase(&mut self, from: usize, to: usize) {
        let span = self.between(from, to);
        self.drop_tokens(from, to);
        self.note(span, MaskKind::Other);
    }

    /// Respells a token in place: same length, given word.
    pub fn respell(&mut self, i: usize, word: W) {
        if let Some(token) = self.tokens.get_mut(i) {
            token.kind = Kind::Word;
            token.code = word as u16;
        }
    }

    /// Records that a statement ends after a token.
    pub fn end_after(&mut self, i: usize) {
        let end = self.span(i).end;
        self.ended.insert(end);
    }

    /// Makes the next [`Self::refresh`] match brackets anew.
    pub fn refresh_soon(&mut self) {
        self.dead = true;
    }

    /// Joins tokens `from..=to` into the first.
    pub fn join(&mut self, from: usize, to: usize) {
        let end = self.span(to).end;
        if to > from {
            self.kill(from + 1, to);
        }
        if let Some(token) = self.tokens.get_mut(from) {
            token.end = end;
        }
    }

    /// Drops dead tokens and matches brackets anew.
    pub fn refresh(&mut self) {
        if self.dead {
            self.tokens.retain(|t| t.end > t.start);
            self.dead = false;
        } else if !self.mates.is_empty() {
            return;
        }
        self.match_brackets();
    }

    fn match_brackets(&mut self) {
        let count = self.tokens.len();
        self.mates.clear();
        self.mates.resize(count, NONE32);
        self.parents.clear();
        self.parents.resize(count, NONE32);
        self.scopes.clear();
        self.scopes.resize(count, Scope::Group);
        let mut stack: Vec<u32> = Vec::new();
        // Open braces on the stack: a `}` is looked for only where one is open, so that every search shortens the stack.
        let mut braces = 0usize;
        for i in 0..count {
            let t = self.tokens[i];
            if t.kind == Kind::Punct && t.code < 256 {
                match t.code as u8 {
                    b'(' | b'[' | b'{' => {
                        self.parents[i] = stack.last().copied().unwrap_or(NONE32);
                        if t.code == p(b'{') {
                            self.scopes[i] = self.brace_scope(i);
                            braces += 1;
                        }
                        stack.push(i as u32);
                        continue;
                    }
                    b')' | b']' | b'}' => {
                        let wanted = match t.code as u8 {
                            b')' => b'(',
                            b']' => b'[',
                            _ => b'{',
                        };
                        // A brace closes what was left open inside it; other brackets only their own kind.
                        let found = match stack.last() {
                            Some(top) if self.is(*top as usize, wanted) => Some(stack.len() - 1),
                            _ if wanted == b'{' && braces > 0 => {
                                stack.iter().rposition(|open| self.is(*open as usize, b'{'))
                            }
                            _ => None,
                        };
                        if let Some(at) = found {
                            let open = stack[at];
                            stack.truncate(at);
                            braces -= usize::from(wanted == b'{');
                            self.mates[i] = open;
                            self.mates[open as usize] = i as u32;
                        }
                    }
                    _ => {}
                }
            }
            self.parents[i] = stack.last().copied().unwrap_or(NONE32);
        }
    }

    /// What the brace at `open` holds, from the tokens before it.
    fn brace_scope(&self, open: usize) -> Scope {
        let outer = self.scope(open);
        let Some(before) = open.checked_sub(1) else { return Scope::Block };
        let c = self.punct(before);
        if c == p(b'=') || c == p(b'(') || c == p(b',') && outer != Scope::Enum || c == p(b'[') {
            return Scope::Init;
        }
        if outer == Scope::Init && (c == p(b'{') || c == p(b',')) {
            return Scope::Init;
        }
        match self.word(before) {
            Some(W::Return | W::CoReturn | W::New) => return Scope::Init,
            Some(W::Else | W::Do | W::Try) => return Scope::Block,
            Some(W::Namespace) => return Scope::Namespace,
            _ => {}
        }
        if matches!(self.kind(before), Some(Kind::Text)) {
            return Scope::Namespace;
        }
        let mut call = false;
        let mut equals = false;
        let mut colon = false;
        let mut i = before;
        for _ in 0..200 {
            match self.kind(i) {
                Some(Kind::Directive) | None => break,
                Some(Kind::Punct) => match self.punct(i) {
                    c if c == p(b';') || c == p(b'{') || c == p(b'(') || c == p(b'[') => break,
                    c if c == p(b'}') => {
                        // Only an initialiser `b{2}` of a constructor lies before its body.
                        let mate = self.mate(i);
                        if mate == NONE || self.scope_of(mate) != Scope::Init || i != before && !colon && !call {
                            break;
                        }
                        if mate == 0 {
                            break;
                        }
                        i = mate;
                    }
                    c if c == p(b')') || c == p(b']') => {
                        let mate = self.mate(i);
                        if mate == NONE {
                            break;
                        }
                        let attribute = mate > 0
                            && matches!(
                                self.word(mate - 1),
                                Some(
                                    W::Align
                                        | W::Alignas
                                        | W::Attribute
                                        | W::Attribute1
                                        | W::Declspec
                                        | W::LaunchBounds
                                        | W::Decltype
                                )
                            );
                        if c == p(b')') && !attribute {
                            call = true;
                        }
                        if c == p(b']') && i == before {
                            return if outer == Scope::Class || mate > 0 && self.is_name(mate - 1) {
                                Scope::Init
                            } else {
                                Scope::Block
                            };
                        }
                        if mate == 0 {
                            break;
                        }
                        i = mate;
                    }
                    c if c == p(b'=') => equals = true,
                    c if c == p(b':') => {
                        if self.is_label_colon(i) {
                            break;
                        }
                        colon = true;
                    }
                    _ => {}
                },
                Some(Kind::Word) => match self.word(i) {
                    Some(W::Namespace) => return Scope::Namespace,
                    Some(W::Enum) => return Scope::Enum,
                    Some(W::Struct | W::Class | W::Union) => {
                        let header = i > 0 && (self.is(i - 1, b'<') || self.is(i - 1, b','));
                        if !header && !equals && (!call || colon) {
                            return Scope::Class;
                        }
                    }
                    Some(W::Return | W::Else | W::Do) => break,
                    _ => {}
                },
                _ => {}
            }
            if i == 0 {
                break;
            }
            i -= 1;
        }
        if call && !equals || self.is(before, b')') {
            return Scope::Block;
        }
        if c == p(b';') || c == p(b'{') || c == p(b'}') || c == p(b':') {
            return if outer == Scope::Init { Scope::Init } else { Scope::Block };
        }
        if self.kind(before) == Some(Kind::Directive) {
            return Scope::Block;
        }
        if self.is_name(before) || c == p(b'>') || c == code::SCOPE || self.kind(before) == Some(Kind::Word) {
            // `T{..}`; a lambda with a trailing type or specifiers has `call` set.
            return if call { Scope::Block } else { Scope::Init };
        }
        Scope::Block
    }
}
